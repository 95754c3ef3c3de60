# Translation between two languages A and B from monolingual text: what pretrain.sh makes, then a
# translator from each model.
part pretrain
part score
part pseudo

# --- what no training is needed for: every word replaced by the dictionary's ----------------------
for d in $directions; do
    x=${d%-*} y=${d#*-}
    word_by_word $x $y -
    stage word-by-word.$d  base/word/$d : tok/test.$x $word_inputs : \
        "$uncased tok/test.$x | $word_by_word | detokenize -l $y $DETOKENIZE > base/word/$d"
    scored base/word - "word by word" $d
done

# --- translation: pseudo-pairs, then denoising and back-translation; valid picks the model --------
for s in $SEEDS; do
    for y in $SYSTEMS; do
        trained $s $y
        translator $s $y
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
results $scores $shuffled
