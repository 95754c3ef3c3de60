# Code switching (TCS-MLM, SCS-MLM; Lu, Lu and Zhang 2023) on two invented languages, where every
# translation is known: does a model that goes on with words switched by its own dictionary line
# its languages up better than one that goes on for as many passes of plain MLM?
setting CS_TASKS "pos nli qa"
among CS_TASKS pos nli qa
setting CS_EXAMPLES 4000
SYNTH+=" --tasks $CS_EXAMPLES"
for t in $CS_TASKS; do
    for l in xa xb; do
        for p in train dev; do SYNTH_FILES+=" $(tasks_file synth $t $p $l)"; done
    done
done
part synth
setting CS_SENTENCES test
part code-switch
