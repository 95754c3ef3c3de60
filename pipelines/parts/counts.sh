# Counts of each language's text: of tokens, for MLM-GC, and of words, for dictionaries.
part cooc

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
