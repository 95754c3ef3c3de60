# Systems that differ in the options of MLM-GC alone, from random embeddings, compared by what the
# paper's Tables 1 and 2 measure: the cosine of translations in the embedding table, and what of it
# is more than words drawn at random have; perplexity beside that of single tokens' frequencies.
# Expects what pretrain.sh expects, and `system` lines. A recipe's function `also SEED SYSTEM` looks
# at each model, too, and adds its rows to $results.
setting GC_INIT ""
INIT=$GC_INIT
part pretrain
# counted NAME "OPTIONS" [TEXT...]: counts of all languages, cooc/NAME.cooc; TEXT with L for the
# language
counted() {
    local name=$1 options=$2 coocs= l t texts
    for l in $LANGS; do
        texts=
        for t in "${@:3}"; do texts+=" ${t//L/$l}"; done
        stage cooc-$name.$l  cooc/$name.$l.cooc : vocab$texts : \
            "cooc-count $options${GC_SKIP:+ --skip $GC_SKIP} -v vocab${texts// / $l=}
                > cooc/$name.$l.cooc"
        coocs+=" cooc/$name.$l.cooc"
    done
    stage cooc-$name  cooc/$name.cooc : $coocs : \
        "cooc-merge --normalize $A$coocs > cooc/$name.cooc"
}
# exchanged_counts NAME "OPTIONS" COUNTS-OF-A: those of the second language are of other words as
# frequent
exchanged_counts() {
    stage cooc-$1.$B  cooc/$1.$B.cooc : vocab cooc/exchanged.$B : \
        "cooc-count $2${GC_SKIP:+ --skip $GC_SKIP} -v vocab $B=cooc/exchanged.$B > cooc/$1.$B.cooc"
    stage cooc-$1  cooc/$1.cooc : $3 cooc/$1.$B.cooc : \
        "cooc-merge --normalize $A $3 cooc/$1.$B.cooc > cooc/$1.cooc"
}
for n in $GC_WINDOWS; do       # counts of other windows; GC_WINDOW's are cooc/all.cooc
    counted $n "-w $n$gc_weights" bpe/train.L
done
if [ "${GC_MORE-}" ]; then      # counts of text that is not trained on, raw/more.L
    for l in $LANGS; do
        stage bpe.more.$l  bpe/more.$l : raw/more.$l codes : \
            "tokenize -q -l $l $TOKENIZE < raw/more.$l | $cut_words > bpe/more.$l"
    done
    counted more "-w $GC_WINDOW$gc_weights" bpe/train.L bpe/more.L
fi
if [ "${GC_FORMS-}" ]; then     # those of the paper and of its authors' code
    counted paper "-w $GC_WINDOW" bpe/train.L
    counted code "-w $GC_WINDOW --weights glove" bpe/train.L
fi
if [ "${GC_EXCHANGED-}" ]; then
    o=cooc/exchanged
    quick exchanged.vocab  $o.vocab : bpe/train.$B : "vocab-count bpe/train.$B > $o.vocab"
    stage exchanged.$B  $o.$B : $o.vocab bpe/train.$B $P/permute-types.awk : \
        "awk -v BIN=$GC_BIN -v SEED=1 -f $P/permute-types.awk $o.vocab bpe/train.$B > $o.$B"
    exchanged_counts exchanged "-w $GC_WINDOW$gc_weights" cooc/$A.cooc
    [ -z "${GC_FORMS-}" ] ||
        exchanged_counts exchanged-code "-w $GC_WINDOW --weights glove" cooc/code.$A.cooc
fi
texts=
for l in $LANGS; do texts+=" bpe/train.$l bpe/valid.$l"; done
quick unigram  base/unigram : $texts $P/unigram.awk : \
    "awk -f $P/unigram.awk$texts > base/unigram"
results="base/unigram base/score.dict"
# Tables' first row: the vectors that MUSE publishes, of both languages in one space
if [ $SCALE = paper ]; then
    for l in $A $B; do published raw.muse-vectors.$l  raw/muse.$l.vec muse/wiki.multi.$l.vec; done
    stage muse.score  base/score.muse : raw/muse.$A.vec raw/muse.$B.vec raw/gold.any : \
        "dict-induce -q --map none --src raw/muse.$A.vec --tgt raw/muse.$B.vec --gold both
            --eval raw/gold.any --row -,MUSE,- > base/score.muse"
    results+=" base/score.muse"
fi
for s in $SEEDS; do
    for y in $SYSTEMS; do
        trained $s $y
        quick s$s.$y.log  s$s/$y/score.log : s$s/$y/pretrain base/unigram : \
            "score --log s$s/$y/pretrain/log.jsonl --unigram base/unigram
                --row '$s,${title[$y]},-' > s$s/$y/score.log"
        results+=" s$s/$y/score.log s$s/$y/score.dict"
        ! declare -F also > /dev/null || also $s $y
    done
done
compare_with() { compare "${title[$1]}" "${title[$2]}"; }
for y in $SYSTEMS; do
    [ $y = mlm ] || compare_with $y mlm
    if [[ " $SYSTEMS " == *" paper "* && $y != mlm && $y != paper ]]; then compare_with $y paper; fi
    case $y in
    exchanged) compare_with mlm-gc exchanged;;
    exchanged-code) compare_with code exchanged-code;;
    esac
done
results $results
