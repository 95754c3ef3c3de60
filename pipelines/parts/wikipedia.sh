# Wikipedia in languages A and B, as MLM-GC's Tables 1 to 3 and Figures 1 to 3 have it: sentences
# that XLM's scripts make with WikiExtractor, which CORPUS_CACHE must have.
for l in $LANGS; do
    for p in train valid test; do published raw.$p.$l  raw/$p.$l wiki15/$p.$l; done
done
part gold
