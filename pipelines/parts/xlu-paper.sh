# xlu as published: the 15 languages of XNLI, text of Wikipedia and pairs as XLM's scripts make them
# (CORPUS_CACHE has wikipedia-extracted/L/, or wiki15/{train,valid,test}.L, one sentence per line,
# and wiki15/para.en-L.{en,L}); inference learnt from MultiNLI's English, questions from SQuAD's.
setting START ""
LANGS="en fr es de el bg ru tr ar vi th zh hi sw ur"
MODEL=$XLU_MODEL MERGES=$XLU_MERGES TUNE=
setting NGRAMS "--top 800000"
part extracted
for l in $LANGS; do wikipedia_text $l; done
part text
part cooc
part encoder
tlm= tlm_reads=
for l in ${LANGS#en }; do
    for k in en $l; do
        published raw.para.$l.$k  raw/para.en-$l.$k wiki15/para.en-$l.$k
        stage bpe.para.$l.$k  bpe/para.en-$l.$k : raw/para.en-$l.$k codes : \
            "tokenize -l $k $TOKENIZE < raw/para.en-$l.$k | $cut_words > bpe/para.en-$l.$k"
    done
    tlm+=" --parallel en-$l=bpe/para.en-$l.en,bpe/para.en-$l.$l"
    tlm_reads+=" bpe/para.en-$l.en bpe/para.en-$l.$l"
done
part tasks-tuned
kind[xnli]=nli kind[mlqa]=qa suffix[xnli]=tsv suffix[mlqa]=json name[xnli]=XNLI name[mlqa]=MLQA
metric[xnli]=accuracy metric[mlqa]=mlqa more[xnli]=$XNLI_TUNE more[mlqa]=$MLQA_TUNE
published raw.mnli  task/xnli/train.en.tsv xnli/multinli.train.en.tsv
part xnli
xnli dev en valid
for l in $LANGS; do xnli test $l test; done
published raw.squad  task/mlqa/train.en.json squad/train-v1.json
published raw.mlqa.dev  task/mlqa/valid.en.json mlqa/dev.en.json
asked="en de es ar hi vi zh"
for l in $asked; do published raw.mlqa.$l  task/mlqa/test.$l.json mlqa/test.$l.json; done
part xlu-systems
# examined FOLDER SEED TITLE: FOLDER/encoder's answers in every language
examined() {
    tuned $1 $2 xnli en
    for l in $LANGS; do judged $1 $2 xnli en $l "$3"; done
    tuned $1 $2 mlqa en
    for l in $asked; do judged $1 $2 mlqa en $l "$3"; done
}
if [ -n "$START" ]; then        # mBERT's row
    part given
    part start
    start_is START bert
    start_from START
    for s in $SEEDS; do
        stage s$s.mbert.encoder  s$s/mbert/encoder/ : $start_reads : \
            "mkdir -p s$s/mbert/encoder && cp -R $start/. s$s/mbert/encoder"
        examined s$s/mbert $s mBERT
    done
fi
for s in $SEEDS; do
    for y in $XLU_SYSTEMS; do
        xlu_encoder s$s/$y $s $y
        examined s$s/$y $s "${title[$y]}"
    done
done
results $scores
