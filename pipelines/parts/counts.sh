# Counts of each language's text: of tokens, for MLM-GC, and of words, for dictionaries.

# --- how often tokens keep company: the counts of MLM-GC (equation 1 and its normalisation).
# GC_SKIP names tokens that are passed over, in counting and so in training: "⇧,⇪" are the case
# markers.
setting GC_SKIP ""
for l in $LANGS; do
    stage cooc.$l  cooc/$l.cooc : vocab bpe/train.$l : \
        "cooc-count -w $GC_WINDOW${GC_SKIP:+ --skip $GC_SKIP} -v vocab
            $l=bpe/train.$l > cooc/$l.cooc"
done
coocs=
for l in $LANGS; do coocs+=" cooc/$l.cooc"; done
stage cooc  cooc/all.cooc : $coocs : "cooc-merge --normalize $A$coocs > cooc/all.cooc"

# --- vectors of words as they are without case, from what stands to their left and right ----------
uncased="sed 's/⇧ //g; s/⇪ //g'"
for l in $LANGS; do
    stage words.$l  words/train.$l : tok/train.$l : "$uncased tok/train.$l > words/train.$l"
    stage words-vocab.$l  words/$l.vocab : words/train.$l : \
        "vocab-count words/train.$l > words/$l.vocab"
    for side in left right; do
        stage words-$side.$l  words/$l.$side.cooc : words/$l.vocab words/train.$l : \
            "cooc-count $WORD_COOC --$side -v words/$l.vocab $l=words/train.$l
                > words/$l.$side.cooc"
    done
    stage words-vec.$l  words/$l.vec : words/$l.left.cooc words/$l.right.cooc : \
        "embed --from-cooc words/$l.left.cooc --from-cooc words/$l.right.cooc $WORD_VECTORS
            > words/$l.vec"
done
