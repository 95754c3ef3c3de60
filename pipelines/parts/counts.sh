# Counts of each language's text: of tokens, for MLM-GC, and of words, for dictionaries.
part cooc

# --- vectors of words as they are without case, from what stands to their left and right ----------
# WORD_TYPES=N: only the N most frequent have counts and vectors, and are translated
setting WORD_TYPES ""
[[ $WORD_TYPES =~ ^([1-9][0-9]{0,8})?$ ]] || refuse "WORD_TYPES=$WORD_TYPES" "a number of words"
uncased="sed 's/⇧ //g; s/⇪ //g'"
for l in $LANGS; do
    stage words.$l  words/train.$l : tok/train.$l : "$uncased tok/train.$l > words/train.$l"
    stage words-vocab.$l  words/$l.vocab : words/train.$l : \
        "vocab-count ${WORD_TYPES:+--max-size $WORD_TYPES }words/train.$l > words/$l.vocab"
    for side in left right; do
        stage words-$side.$l  words/$l.$side.cooc : words/$l.vocab words/train.$l : \
            "cooc-count $WORD_COOC --$side -v words/$l.vocab $l=words/train.$l
                > words/$l.$side.cooc"
    done
    stage words-vec.$l  words/$l.vec : words/$l.left.cooc words/$l.right.cooc : \
        "embed --from-cooc words/$l.left.cooc --from-cooc words/$l.right.cooc $WORD_VECTORS
            > words/$l.vec"
done

# --- a gold dictionary of cased text, spelt as the text spells its words --------------------------
if [ -n "${WRITER[/raw/gold.any]+x}" ]; then
    lower="sed 's/.*/\L&/'"
    stage gold  raw/gold.tsv : raw/gold.any words/{$A,$B}.vocab $P/usual-case.awk : \
        "awk -f $P/usual-case.awk <($lower words/$A.vocab | paste -d ' ' words/$A.vocab -)
            <($lower words/$B.vocab | paste -d ' ' words/$B.vocab -)
            <($lower raw/gold.any | paste raw/gold.any -) > raw/gold.tsv"
fi

# --- what dictionaries are re-estimated on --------------------------------------------------------
# Company on either side; and, where lines that are a multiple of APART apart are about the same
# thing, all that is said about it. The latter twice, to weigh as much as both sides
# (docs/lab/results/translation.md).
setting APART ""
number APART
contexts="left right"
setting RE_ESTIMATE yes         # none: the dictionary stays as vectors have it
[ -n "$RE_ESTIMATE" ] || contexts=
if [ -n "$APART" ]; then
    contexts+=" about about"
    for l in $LANGS; do
        stage words-about.$l  words/$l.about.cooc : \
            words/$l.vocab words/train.$l $P/join-lines.awk : \
            "awk -v APART=$APART -f $P/join-lines.awk words/train.$l |
                cooc-count -w 500 --weights flat -v words/$l.vocab $l=- > words/$l.about.cooc"
    done
fi
contexts_of() { local c; for c in $contexts; do echo -n " $2 words/$1.$c.cooc"; done; }
