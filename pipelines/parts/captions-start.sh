# What models of captions start from, in every experiment that shares unmt-deen's: a dictionary that
# also knows which words stand in one sentence (APART: every line is about something of its own),
# and vectors for the pieces of words (docs/lab/results/translation.md).
if [ "$CORPUS" = multi30k ]; then
    setting APART 14500 none
    setting INIT_PIECES 1 none
fi
