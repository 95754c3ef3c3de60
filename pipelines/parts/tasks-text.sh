# Text of encoders that are fine-tuned for tasks, line by line the same in both languages: raw/ tok/
# bpe/ shd/ codes vocab tokenizer; ${captions}PART.LANG are the captions among it.
#   TASKS_TEXT captions: all of Multi30k; mixed: besides, Europarl, news and the web (10,000
#              sentences, published as tokens, which are joined here), but never more of them than
#              captions
setting TASKS_TEXT captions
case $TASKS_TEXT in captions|mixed) ;; *) refuse "TASKS_TEXT=$TASKS_TEXT" "captions or mixed";; esac
declare -A captions_part=([train]=train [valid]=val [test]=test_2016_flickr)
declare -A mixed_part=([train]=train [valid]=val [test]=test)
captions=raw/
[ $TASKS_TEXT = captions ] || captions=raw/captions.
for p in train valid test; do
    for l in $LANGS; do
        published ${captions////.}$p.$l  $captions$p.$l multi30k/${captions_part[$p]}.$l
        [ $TASKS_TEXT != captions ] || continue
        published raw.tokens.$p.$l  raw/tokens.$p.$l europarl-mix/${mixed_part[$p]}.$l
        stage raw.$p.$l  raw/$p.$l : raw/captions.$p.$l raw/tokens.$p.$l : \
            "{ cat raw/captions.$p.$l &&
               head -n \$(wc -l < raw/captions.$p.$l) raw/tokens.$p.$l | detokenize -q -l $l; }
                > raw/$p.$l"
    done
done
part text

part encoder
