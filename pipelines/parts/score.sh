# Translating the test text with a model, and scoring translations. Rows of results: seed, system,
# direction, metric, value. alike[L], a command that makes translations into L and references alike,
# is one more metric: alike_name[L], by bleu with the options alike_bleu[L]; so are those that
# `metric` was told.
directions="$A-$B $B-$A"
# multi-bleu counts tokens, which XLM's preparation makes otherwise
moses=tokenize
[[ " $TOKENIZE " != *" --xlm "* ]] || moses="tokenize --xlm"
decoding
# scored FOLDER SEED TITLE DIRECTION: BLEU of FOLDER/DIRECTION cased, lower-cased, and as
# multi-bleu.perl counts over Moses' tokens
scored() {
    local name=${1////.} f=$1/$4 t=${4#*-} row="--row '$2,$3,$4'" also= reads= more
    [ -z "${alike[$t]-}" ] || reads=eval/test.$t.alike also=" &&
           ${alike[$t]} < $f |
               bleu -w 2 $row --as 'BLEU=${alike_name[$t]}' ${alike_bleu[$t]-} eval/test.$t.alike"
    for more in "${METRICS[@]+"${METRICS[@]}"}"; do
        also+=" && $more $row raw/test.$t < $f"
    done
    stage $name.score.$4  $1/score.$4 : $f raw/test.$t eval/test.$t.tok $reads : \
        "{ bleu -w 2 $row raw/test.$t < $f &&
           bleu -w 2 $row --as BLEU=BLEU-lc --lowercase raw/test.$t < $f &&
           $moses -l $t < $f | bleu --multi $row eval/test.$t.tok$also; } > $1/score.$4"
}
# translations MODEL FOLDER SEED TITLE SHUFFLED: the test text in both directions, and as a control
# the same sentences in another order, in the folder SHUFFLED
translations() {
    local d x y
    for d in $directions; do
        x=${d%-*} y=${d#*-}
        train ${2////.}.$d  $2/$d : $1 codes bpe/test.$x : \
            "translate --model $1 --src $x --tgt $y $DECODE --device $DEVICE < bpe/test.$x |
                bpe-apply --restore | detokenize -l $y $DETOKENIZE > $2/$d"
        scored $2 $3 "$4" $d
        quick ${5////.}.$d  $5/$d : $2/$d $P/shuffle : "$P/shuffle < $2/$d > $5/$d"
        scored $5 $3 "$4 shuffled" $d
    done
}
for l in $LANGS; do
    stage tok.reference.$l  eval/test.$l.tok : raw/test.$l : \
        "$moses -l $l < raw/test.$l > eval/test.$l.tok"
    [ -z "${alike[$l]-}" ] || stage alike.reference.$l  eval/test.$l.alike : raw/test.$l : \
        "${alike[$l]} < raw/test.$l > eval/test.$l.alike"
done
# the source as it is
for d in $directions; do
    quick copy.$d  base/copy/$d : raw/test.${d%-*} : "cp raw/test.${d%-*} base/copy/$d"
    scored base/copy - copying $d
done
