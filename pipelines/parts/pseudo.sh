# Word-by-word translation with the dictionary of pretrain.sh, and pseudo-pairs for translators to
# begin with: $pseudo, options of finetune, which read $pseudo_inputs; none where PSEUDO_STEPS is 0.
# Tokens of language SRC in, of TGT out, where text has markers of case with the case that TGT's
# words usually have. $word_inputs are its inputs beside FILE.
word_by_word() {    # SRC TGT FILE
    word_inputs="words/$1-$2.dict $P/word-by-word.awk"
    word_by_word="awk -f $P/word-by-word.awk words/$1-$2.dict $3"
    [[ " $TOKENIZE" == *" --case-marker"* ]] || return 0
    word_inputs="words/$1-$2.dict tok/train.$2 $P/word-by-word.awk $P/case.awk"
    word_by_word+=" |
        awk -f $P/case.awk tok/train.$2 -"
}
# what translators train on: the training text, or its FIRST lines, where it is known that those are
# most like what will be translated
setting FIRST ""
number FIRST
text=train
if [ -n "$FIRST" ]; then
    text=first
    for l in $A $B; do
        for f in words bpe; do
            stage $f.first.$l  $f/first.$l : $f/train.$l : \
                "head -n $FIRST $f/train.$l > $f/first.$l"
        done
        stage shard.first.$l  shd/first.$l.shd : vocab bpe/first.$l : \
            "binarize -v vocab -l $l < bpe/first.$l > shd/first.$l.shd"
    done
fi
# pseudo-pairs: a real sentence, which is what is to be produced, beside its word-by-word
# translation
for d in $directions; do
    [ "$PSEUDO_STEPS" != 0 ] || break
    x=${d%-*} y=${d#*-}
    word_by_word $y $x words/$text.$y
    stage pseudo.$d  pseudo/$d.$x : $word_inputs words/$text.$y codes : \
        "$word_by_word | $cut_words > pseudo/$d.$x"
done

pseudo= pseudo_inputs=
if [ "$PSEUDO_STEPS" != 0 ]; then
    pseudo="--pseudo $A-$B=pseudo/$A-$B.$A,bpe/$text.$B --pseudo $B-$A=pseudo/$B-$A.$B,bpe/$text.$A"
    pseudo_inputs="pseudo/$A-$B.$A pseudo/$B-$A.$B bpe/$text.$A bpe/$text.$B"
fi
# translator SEED SYSTEM: sN/SYSTEM/unmt, from sN/SYSTEM/pretrain; MASS_UNMT: what is otherwise in
# MASS's, whose authors fine-tune without denoising
setting MASS_UNMT ""
translator() {
    local s=$1 y=$2 unmt=$UNMT
    case $y in mass*) unmt+=${MASS_UNMT:+ $MASS_UNMT};; esac
    train s$s.$y.unmt  s$s/$y/unmt/ : \
        s$s/$y/pretrain shd/$text.{$A,$B}.shd bpe/valid.{$A,$B} $pseudo_inputs : \
        "exec finetune --task unmt --model s$s/$y/pretrain
            --train $A=shd/$text.$A.shd --train $B=shd/$text.$B.shd $pseudo
            --valid $A-$B=bpe/valid.$A,bpe/valid.$B --valid $B-$A=bpe/valid.$B,bpe/valid.$A
            $unmt --seed $s --device $DEVICE $RESUME --out s$s/$y/unmt"
}
