# What translators of captions start from: a dictionary that also knows which words stand in one
# sentence (APART: every line is about something of its own), and vectors for the pieces of words
# (docs/results/translation.md). The analyses of these captions were made without either.
if [ "$CORPUS" = multi30k ]; then
    setting APART 14500
    setting INIT_PIECES 1
fi
