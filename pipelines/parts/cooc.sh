# How often tokens keep company: the counts of MLM-GC (equation 1 and its normalisation).
# GC_SKIP names tokens that are passed over, in counting and so in training: "⇧,⇪" are the case
# markers.
setting GC_SKIP ""
for l in $LANGS; do
    stage cooc.$l  cooc/$l.cooc : vocab bpe/train.$l : \
        "cooc-count -w $GC_WINDOW$gc_weights${GC_SKIP:+ --skip $GC_SKIP} -v vocab
            $l=bpe/train.$l > cooc/$l.cooc"
done
coocs=
for l in $LANGS; do coocs+=" cooc/$l.cooc"; done
stage cooc  cooc/all.cooc : $coocs : "cooc-merge --normalize $A$coocs > cooc/all.cooc"
