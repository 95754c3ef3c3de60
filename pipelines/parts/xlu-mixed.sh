# xlu on captions and mixed text: text, systems, tasks; parts of speech and names are the tasks with
# labels in both languages (TASKS="pos ner nli cloze xquad xnli" has all of tasks-deen's).
setting TASKS_TEXT mixed
setting TASKS "pos ner"
setting NGRAMS ""
part tasks-text
part cooc
part tasks-tuned
part xlu-systems
for s in $SEEDS; do
    for y in $XLU_SYSTEMS; do xlu_encoder s$s/$y $s $y; done
done
SICK_FROM=s${SEEDS%% *}/${XLU_SYSTEMS%% *}/encoder
part tasks-data
for t in $TASKS; do
    b=${target[$t]}
    guessed $t $A $A majority "majority of $A"
    guessed $t $A $b majority "majority of $A"
    for s in $SEEDS; do
        for y in $XLU_SYSTEMS; do
            tuned s$s/$y $s $t $A $b
            for l in $A $b; do judged s$s/$y $s $t $A $l "${title[$y]}"; done
        done
    done
done
results $scores
