# Translation between two languages A and B from monolingual text: what pretrain.sh makes, then a
# translator from each model.
part pretrain
part score

# --- word-by-word translation --------------------------------------------------------------------
# Tokens of language SRC in, of TGT out, with the case that TGT's words usually have. $word_inputs
# are its inputs beside FILE.
word_by_word() {    # SRC TGT FILE
    word_inputs="words/$1-$2.dict tok/train.$2 $P/word-by-word.awk $P/case.awk"
    word_by_word="awk -f $P/word-by-word.awk words/$1-$2.dict $3 |
        awk -f $P/case.awk tok/train.$2 -"
}
# pseudo-pairs: a real sentence, which is what is to be produced, beside its word-by-word
# translation
for d in $directions; do
    x=${d%-*} y=${d#*-}
    word_by_word $y $x words/train.$y
    stage pseudo.$d  pseudo/$d.$x : $word_inputs words/train.$y codes : \
        "$word_by_word | $cut_words > pseudo/$d.$x"
done

# --- what no training is needed for: every word replaced by the dictionary's ----------------------
for d in $directions; do
    x=${d%-*} y=${d#*-}
    word_by_word $x $y -
    stage word-by-word.$d  base/word/$d : tok/test.$x $word_inputs : \
        "$uncased tok/test.$x | $word_by_word | detokenize -l $y $DETOKENIZE > base/word/$d"
    scored base/word - "word by word" $d
done

# --- translation: pseudo-pairs, then denoising and back-translation; valid picks the model --------
pseudo= pseudo_inputs=
if [ "$PSEUDO_STEPS" != 0 ]; then
    pseudo="--pseudo $A-$B=pseudo/$A-$B.$A,bpe/train.$B --pseudo $B-$A=pseudo/$B-$A.$B,bpe/train.$A"
    pseudo_inputs="pseudo/$A-$B.$A pseudo/$B-$A.$B bpe/train.$A bpe/train.$B"
fi
for s in $SEEDS; do
    for y in $SYSTEMS; do
        trained $s $y
        train s$s.$y.unmt  s$s/$y/unmt/ : \
            s$s/$y/pretrain shd/train.{$A,$B}.shd bpe/valid.{$A,$B} $pseudo_inputs : \
            "exec finetune --task unmt --model s$s/$y/pretrain
                --train $A=shd/train.$A.shd --train $B=shd/train.$B.shd $pseudo
                --valid $A-$B=bpe/valid.$A,bpe/valid.$B --valid $B-$A=bpe/valid.$B,bpe/valid.$A
                $UNMT --seed $s --device $DEVICE $RESUME --out s$s/$y/unmt"
        translations s$s/$y/unmt s$s/$y $s "${title[$y]}" s$s/$y/shuffled
    done
done

# --- the table ------------------------------------------------------------------------------------
scores= shuffled=
for f in base/copy base/word; do scores+=" $f/score.$A-$B $f/score.$B-$A"; done
scores+=" base/score.dict"
for y in $SYSTEMS; do
    for s in $SEEDS; do
        scores+=" s$s/$y/score.$A-$B s$s/$y/score.$B-$A s$s/$y/score.dict"
        shuffled+=" s$s/$y/shuffled/score.$A-$B s$s/$y/shuffled/score.$B-$A"
    done
done
quick results  results.tsv : $scores $shuffled : "cat$scores$shuffled > results.tsv"
