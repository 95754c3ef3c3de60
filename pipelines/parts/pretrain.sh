# Models of two languages A and B from monolingual text, and what they start from. The experiment
# has made, in raw/: train.L, valid.L, test.L for both and gold.tsv, a dictionary A -> B for
# measuring.
part text

# --- how often tokens keep company: the counts of MLM-GC (equation 1 and its normalisation) -------
for l in $LANGS; do
    stage cooc.$l  cooc/$l.cooc : vocab bpe/train.$l : \
        "cooc-count -w $GC_WINDOW -v vocab $l=bpe/train.$l > cooc/$l.cooc"
done
stage cooc  cooc/all.cooc : cooc/$A.cooc cooc/$B.cooc : \
    "cooc-merge --normalize $A cooc/$A.cooc cooc/$B.cooc > cooc/all.cooc"

# --- a dictionary from monolingual text alone: of words as they are without case ------------------
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
counts="--src-counts words/$A.vocab --tgt-counts words/$B.vocab"
# the gold dictionary measures what came out and plays no part in it
stage dict  words/$A-$B.dict words/$B-$A.dict words/$A.map.vec words/$B.map.vec words/dict.eval : \
    words/{$A,$B}.{vec,vocab,left.cooc,right.cooc} raw/gold.tsv : \
    "dict-induce $DICT --src words/$A.vec --tgt words/$B.vec $counts
        --src-cooc words/$A.left.cooc --src-cooc words/$A.right.cooc
        --tgt-cooc words/$B.left.cooc --tgt-cooc words/$B.right.cooc
        --map-src words/$A.map.vec --map-tgt words/$B.map.vec --reverse words/$B-$A.dict
        --eval raw/gold.tsv -o words/$A-$B.dict > words/dict.eval"
# rows of results, of SEED and a system's TITLE, from what dict-induce --eval says
dict_rows() { echo "awk -v SEED=$1 -v NAME='$2' -f $P/dict-rows.awk"; }
quick dict.score  base/score.dict : words/dict.eval $P/dict-rows.awk : \
    "$(dict_rows - 'word by word') words/dict.eval > base/score.dict"
# Token embeddings to start from (INIT): the vectors of both languages, mapped into one space.
quick init-vectors  words/init.vec : words/$A.map.vec words/$B.map.vec : \
    "awk 'NF > 2 && !seen[\$1]++' words/$A.map.vec words/$B.map.vec > words/init.vec"

# --- every system and seed: a model, and its word vectors against the dictionary ------------------
system mlm     MLM     "--objective mlm"
system mlm-gc  MLM-GC  "--objective mlm,gc --cooc cooc/all.cooc $GC"  cooc/all.cooc
setting SYSTEMS "$NAMED"
trained() {
    local s=$1 y=$2 l
    train s$s.$y.pretrain  s$s/$y/pretrain/ : \
        shd/{train,valid}.{$A,$B}.shd vocab codes tokenizer ${INIT:+words/init.vec} ${needs[$y]} : \
        "exec pretrain --train $A=shd/train.$A.shd --train $B=shd/train.$B.shd
            --valid $A=shd/valid.$A.shd --valid $B=shd/valid.$B.shd
            -v vocab --codes codes --tokenizer tokenizer ${options[$y]} $INIT $MODEL $PRETRAIN
            --seed $s --device $DEVICE $RESUME --out s$s/$y/pretrain"
    for l in $LANGS; do
        stage s$s.$y.vectors.$l  s$s/$y/$l.vec : s$s/$y/pretrain words/$l.vocab : \
            "embed --model s$s/$y/pretrain --layer 0 --words words/$l.vocab --device cpu
                > s$s/$y/$l.vec"
    done
    stage s$s.$y.dict  s$s/$y/score.dict : \
        words/$A.vocab words/$B.vocab s$s/$y/$A.vec s$s/$y/$B.vec raw/gold.tsv $P/dict-rows.awk : \
        "dict-induce --map none $counts --src s$s/$y/$A.vec --tgt s$s/$y/$B.vec
            --eval raw/gold.tsv | $(dict_rows $s "${title[$y]}") > s$s/$y/score.dict"
}
