# Downstream tasks on real text, English and German: an encoder that has read captions in both
# languages (MLM and TLM), fine-tuned on English, judged on English and, without a German example,
# on German; beside it the same fine-tuned on German, and two baselines without a model. So for
# parts of speech, names, inference, cloze questions, XQuAD; XNLI in English and Swahili proves the
# reader: nobody here has read Swahili. German SICK is our own translator's.
languages en de
part tasks-text
for s in $SEEDS; do encoder s$s $s "--objective mlm,tlm $tlm" $tlm_reads; done
part tasks-data

part tasks-tuned

for t in $TASKS; do
    b=${target[$t]}
    for h in majority lexical; do
        guessed $t $A $A $h "$h of $A"
        guessed $t $A $b $h "$h of $A"
        [ $t = xnli ] || [ ${kind[$t]} = qa ] || guessed $t $b $b $h "$h of $b"
    done
    for s in $SEEDS; do
        tuned s$s $s $t $A $b
        judged s$s $s $t $A $A "learnt $A"
        judged s$s $s $t $A $b "learnt $A"
        [ $t != xnli ] || continue
        tuned s$s $s $t $b
        judged s$s $s $t $b $b "learnt $b"
    done
done
results $scores
