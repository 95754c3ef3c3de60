# Systems that differ in the options of MLM-GC alone, from random embeddings, compared by what the
# paper's Tables 1 and 2 measure: the cosine of translations in the embedding table, and what of it
# is more than words drawn at random have; perplexity beside that of single tokens' frequencies.
# Expects what pretrain.sh expects, and `system` lines.
setting GC_INIT ""
INIT=$GC_INIT
part pretrain
for n in $GC_WINDOWS; do       # counts of other windows; GC_WINDOW's are cooc/all.cooc
    coocs=
    for l in $LANGS; do
        stage cooc-$n.$l  cooc/$n.$l.cooc : vocab bpe/train.$l : \
            "cooc-count -w $n${GC_SKIP:+ --skip $GC_SKIP} -v vocab $l=bpe/train.$l
                > cooc/$n.$l.cooc"
        coocs+=" cooc/$n.$l.cooc"
    done
    stage cooc-$n  cooc/$n.cooc : $coocs : "cooc-merge --normalize $A$coocs > cooc/$n.cooc"
done
if [ "${GC_MORE-}" ]; then      # counts of text that is not trained on, raw/more.L
    coocs=
    for l in $LANGS; do
        stage bpe.more.$l  bpe/more.$l : raw/more.$l codes : \
            "tokenize -q -l $l $TOKENIZE < raw/more.$l | $cut_words > bpe/more.$l"
        stage cooc-more.$l  cooc/more.$l.cooc : vocab bpe/train.$l bpe/more.$l : \
            "cooc-count -w $GC_WINDOW${GC_SKIP:+ --skip $GC_SKIP} -v vocab
                $l=bpe/train.$l $l=bpe/more.$l > cooc/more.$l.cooc"
        coocs+=" cooc/more.$l.cooc"
    done
    stage cooc-more  cooc/more.cooc : $coocs : "cooc-merge --normalize $A$coocs > cooc/more.cooc"
fi
if [ "${GC_EXCHANGED-}" ]; then # the second language's counts, of other words as frequent
    o=cooc/exchanged
    quick exchanged.vocab  $o.vocab : bpe/train.$B : "vocab-count bpe/train.$B > $o.vocab"
    stage exchanged.$B  $o.$B : $o.vocab bpe/train.$B $P/permute-types.awk : \
        "awk -v BIN=$GC_BIN -v SEED=1 -f $P/permute-types.awk $o.vocab bpe/train.$B > $o.$B"
    stage cooc-exchanged.$B  $o.$B.cooc : vocab $o.$B : \
        "cooc-count -w $GC_WINDOW${GC_SKIP:+ --skip $GC_SKIP} -v vocab $B=$o.$B > $o.$B.cooc"
    stage cooc-exchanged  $o.cooc : cooc/$A.cooc $o.$B.cooc : \
        "cooc-merge --normalize $A cooc/$A.cooc $o.$B.cooc > $o.cooc"
fi
texts=
for l in $LANGS; do texts+=" bpe/train.$l bpe/valid.$l"; done
quick unigram  base/unigram : $texts $P/unigram.awk : \
    "awk -f $P/unigram.awk$texts > base/unigram"
results="base/unigram base/score.dict"
for s in $SEEDS; do
    for y in $SYSTEMS; do
        trained $s $y
        quick s$s.$y.log  s$s/$y/score.log : s$s/$y/pretrain base/unigram $P/log-rows.awk : \
            "awk -v SEED=$s -v NAME='${title[$y]}' -v DIRECTION=- -v UNIGRAM=base/unigram
                -f $P/log-rows.awk s$s/$y/pretrain/log.jsonl > s$s/$y/score.log"
        results+=" s$s/$y/score.log s$s/$y/score.dict"
    done
done
compared=
for y in $SYSTEMS; do
    [ $y = mlm ] || compared+="#compare\\t${title[$y]}\\tMLM\\n"
    [ $y != exchanged ] || compared+="#compare\\tMLM-GC\\t${title[$y]}\\n"
done
quick results  results.tsv : $results : \
    "{ printf '$compared' && cat $results; } > results.tsv"
