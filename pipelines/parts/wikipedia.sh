# Wikipedia in languages A and B, as MLM-GC's Tables 1 to 3 and Figures 1 to 3 have it: what
# WikiExtractor makes of its dumps, or XLM's scripts of that, which CORPUS_CACHE must have.
part extracted
for l in $LANGS; do wikipedia_text $l; done
if grep -q "^muse/$A-$B.5000-6500.txt" "$own/sources.tsv"; then part gold-muse; else part gold; fi
