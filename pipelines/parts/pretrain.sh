# Models of two languages A and B from monolingual text, and what they start from. The experiment
# has made, in raw/: train.L, valid.L, test.L for both and gold.tsv, a dictionary A -> B for
# measuring.
part text

part counts

# --- a dictionary from monolingual text alone -----------------------------------------------------
counts="--src-counts words/$A.vocab --tgt-counts words/$B.vocab"
# the gold dictionary measures what came out and plays no part in it
stage dict  words/$A-$B.dict words/$B-$A.dict words/$A.map.vec words/$B.map.vec base/score.dict : \
    words/{$A,$B}.{vec,vocab,left.cooc,right.cooc} ${APART:+words/$A.about.cooc} \
    ${APART:+words/$B.about.cooc} raw/gold.tsv : \
    "dict-induce $DICT --src words/$A.vec --tgt words/$B.vec $counts
       $(contexts_of $A --src-cooc)$(contexts_of $B --tgt-cooc)
        --map-src words/$A.map.vec --map-tgt words/$B.map.vec --reverse words/$B-$A.dict
        --eval raw/gold.tsv --row '-,word by word,-' -o words/$A-$B.dict > base/score.dict"
# Token embeddings to start from (INIT): the vectors of both languages, mapped into one space.
# INIT_PIECES=1: BPE's pieces of words have some, too.
setting INIT_PIECES ""
if [ -n "$INIT_PIECES" ]; then
    for l in $A $B; do
        stage pieces.$l  words/$l.pieces : words/$l.vocab codes : \
            "cut -d ' ' -f 1 words/$l.vocab | $cut_words | paste words/$l.vocab -
                > words/$l.pieces"
    done
    stage init-vectors  words/init.vec : words/{$A,$B}.{map.vec,pieces} $P/piece-vectors.awk : \
        "awk -f $P/piece-vectors.awk words/$A.map.vec words/$A.pieces words/$B.map.vec
            words/$B.pieces > words/init.vec"
else
    quick init-vectors  words/init.vec : words/$A.map.vec words/$B.map.vec : \
        "awk 'NF > 2 && !seen[\$1]++' words/$A.map.vec words/$B.map.vec > words/init.vec"
fi

# --- every system and seed: a model, and its word vectors against the dictionary ------------------
part models
trained() {
    local s=$1 y=$2
    model $s $y
    stage s$s.$y.dict  s$s/$y/score.dict : \
        words/$A.vocab words/$B.vocab s$s/$y/$A.vec s$s/$y/$B.vec raw/gold.tsv : \
        "dict-induce --map none $counts --src s$s/$y/$A.vec --tgt s$s/$y/$B.vec
            --eval raw/gold.tsv --row '$s,${title[$y]},-' > s$s/$y/score.dict"
}
