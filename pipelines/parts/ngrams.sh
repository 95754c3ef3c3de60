# Word n-grams of each language for PMI-Masking, cut into tokens: $named are pretrain's options,
# $lists the files. Expects tok/train.*, codes, $cut_words and the setting NGRAMS.
lists= named=
for l in $LANGS; do
    stage ngrams.$l  bpe/ngrams.$l : tok/train.$l codes : \
        "ngrams $NGRAMS $l=tok/train.$l | cut -f 3- | $cut_words > bpe/ngrams.$l"
    named+=" --mask-ngrams $l=bpe/ngrams.$l" lists+=" bpe/ngrams.$l"
done
