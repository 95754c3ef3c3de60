# From raw/{train,valid,test}.L to tokens, BPE, a vocabulary and shards, for every language L.
for l in $LANGS; do
    for p in train valid test; do
        stage tok.$p.$l  tok/$p.$l : raw/$p.$l : \
            "tokenize -l $l $TOKENIZE < raw/$p.$l > tok/$p.$l"
    done
done
# how that was done goes along with the models, so that `translate --raw` takes plain text
quick tokenizer  tokenizer : : "tokenize $TOKENIZE --settings > tokenizer"
learn= texts=
for l in $LANGS; do learn+=" $l=tok/train.$l"; texts+=" bpe/train.$l"; done
stage bpe-learn  codes : ${learn//*([a-z0-9])=/} : "bpe-learn -n $MERGES$learn > codes"
for l in $LANGS; do
    for p in train valid test; do
        stage bpe.$p.$l  bpe/$p.$l : codes tok/$p.$l : \
            "bpe-apply -c codes < tok/$p.$l > bpe/$p.$l"
    done
done
stage vocab  vocab : $texts : "vocab-count$texts > vocab"
for l in $LANGS; do
    for p in train valid; do
        stage shard.$p.$l  shd/$p.$l.shd : vocab bpe/$p.$l : \
            "binarize -v vocab -l $l < bpe/$p.$l > shd/$p.$l.shd"
    done
done
