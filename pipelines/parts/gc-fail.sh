# The three rows of MLM-GC's Table 1 that fail, shown failing: a system is "collapsed" when its
# perplexity is that of single tokens' frequencies (within 0.05 nats). Clipping gradients hides it,
# so each runs with it and without.
gc="--objective mlm,gc --cooc cooc/all.cooc $GC"
row() {
    system $1 "MLM-GC $2" "$gc $3" cooc/all.cooc
    system $1-free "MLM-GC $2, no clipping" "$gc $3 --clip 0" cooc/all.cooc
}
system free  "MLM-GC no clipping" "$gc --clip 0" cooc/all.cooc
row no-warmup "no warm-up" "--warmup 0"
row no-sqrt-d "no sqrt(d)" "--no-gc-sqrt-d"
row no-half-n "no 1/(2n)" "--no-gc-half-n"
GC_WINDOWS=
setting SYSTEMS "mlm mlm-gc$NAMED"
part gc-runs
paper A 1
