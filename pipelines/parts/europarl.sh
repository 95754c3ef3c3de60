# Europarl's sentence pairs of English, A, and B, as OPUS has them.
for l in $LANGS; do published raw.pairs.$l  raw/pairs.$l europarl/en-$B.$l; done
