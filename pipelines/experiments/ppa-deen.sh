# Post-pretraining alignment (PPA, Pan et al. 2021) of English and German: a model of 14,500
# captions in each language, no two of one image, goes on with caption pairs and looks for the test
# captions' and Tatoeba's translations.
[ "${CORPUS-}" != wiki ] || part wiki-looks
languages en de
setting PPA_SIZES "2000 8000"
if [ $SCALE = paper ]; then
    [ -n "$START" ] || refuse "SCALE=paper" "PPA goes on from mBERT: say START=<its folder> (the" \
        "files of huggingface.co/google-bert/bert-base-multilingual-cased)"
    part europarl
    part tatoeba
    for l in $LANGS; do published raw.test.$l  raw/test.$l multi30k/test_2016_flickr.$l; done
    setting PPA_NLI 1
elif [ $CORPUS = wiki ]; then
    part wiki
    part tasks-wiki
    part tatoeba
    wiki_pairs $B raw
else
    part $CORPUS
    part tatoeba
    for l in $LANGS; do published raw.pairs.$l  raw/pairs.$l multi30k/train.$l; done
fi
setting PPA_NLI 0
PPA_PAIRS=pairs PPA_SENTENCES="test tatoeba"
setting PPA_TRAINING "--batch 128 --epochs 6 --lr 5e-4 --min-tokens 5 --save-every 0"
setting PPA_MOCO "--queue 4096 --queue-start empty --momentum 0.99 --projection 128"
setting PPA_SMALL_MOCO "--queue 384 --queue-start empty --momentum 0.99 --projection 128"
part post-align
