# From raw/{train,valid,test}.L to tokens, BPE, a vocabulary and shards, for every language L.
# TOKENS=word: no BPE; the vocabulary is the VOCABULARY most frequent words, others read <unk>,
# which is never predicted (MLM-GC's Table 8). BPE_ALPHA: languages weigh as n^BPE_ALPHA sentences
# in what BPE learns (as they are without it). tokenizing[L]: more of tokenize's options for L.
setting TOKENS bpe
setting VOCABULARY $MERGES
setting BPE_ALPHA ""
[[ $BPE_ALPHA =~ ^([01]?\.?[0-9]+)?$ ]] || refuse "BPE_ALPHA=$BPE_ALPHA" "a number, such as 0.5"
case $TOKENS in
bpe) cut_words="bpe-apply -c codes" text_files="--codes codes --tokenizer tokenizer" unknown=;;
word) cut_words=cat text_files= unknown=--no-predict-unk FOLDER+=-words;;
*) refuse "TOKENS=$TOKENS" "bpe or word";;
esac
for l in $LANGS; do
    for p in train valid test; do
        stage tok.$p.$l  tok/$p.$l : raw/$p.$l : \
            "tokenize -l $l $TOKENIZE${tokenizing[$l]:+ ${tokenizing[$l]}} < raw/$p.$l > tok/$p.$l"
    done
done
# how that was done goes along with the models, so that `translate --raw` takes plain text
quick tokenizer  tokenizer : : "tokenize $TOKENIZE --settings > tokenizer"
learn= texts=
for l in $LANGS; do learn+=" $l=tok/train.$l"; texts+=" bpe/train.$l"; done
if [ $TOKENS = bpe ]; then
    stage bpe-learn  codes : ${learn//*([a-z0-9])=/} : \
        "bpe-learn -n $MERGES${BPE_ALPHA:+ --alpha $BPE_ALPHA}$learn > codes"
else
    quick bpe-none  codes : : "echo '#version: 0.2' > codes"
fi
for l in $LANGS; do
    for p in train valid test; do
        stage bpe.$p.$l  bpe/$p.$l : codes tok/$p.$l : \
            "$cut_words < tok/$p.$l > bpe/$p.$l"
    done
done
most=
[ $TOKENS = bpe ] || most=" --max-size $VOCABULARY"
stage vocab  vocab : $texts : "vocab-count$most$texts > vocab"
for l in $LANGS; do
    for p in train valid; do
        stage shard.$p.$l  shd/$p.$l.shd : vocab bpe/$p.$l : \
            "binarize -v vocab -l $l < bpe/$p.$l > shd/$p.$l.shd"
    done
done
