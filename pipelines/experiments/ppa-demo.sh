# Post-pretraining alignment (PPA, Pan et al. 2021) on two invented languages, where every
# translation is known: does a model that goes on with a few thousand sentence pairs line its
# languages up, and does it then do better in a language it was not tuned in?
setting PPA_SIZES "500 2000"
setting PPA_EXAMPLES 4000
setting PPA_DEV 8000
SYNTH+=" --dev $PPA_DEV --tasks $PPA_EXAMPLES"
for l in xa xb; do
    for p in train dev; do SYNTH_FILES+=" $(tasks_file synth nli $p $l)"; done
done
part synth
PPA_NLI=1 PPA_PAIRS=valid PPA_SENTENCES=test
part post-align
