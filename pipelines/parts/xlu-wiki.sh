# xlu on Wikipedia in English, German, Spanish and Chinese, with sentence pairs of English and each
# of the others for TLM: XTREME's tasks, learnt from English (parts/tasks-wiki.sh).
LANGS="$A $B"
for l in de es zh; do case " $LANGS " in *" $l "*) ;; *) LANGS+=" $l";; esac; done
part wiki
setting NGRAMS ""
part text
part encoder
part cooc
tlm= tlm_reads=
for l in ${LANGS#* }; do
    wiki_pairs $l raw/$A-$l
    for k in $A $l; do
        stage bpe.pairs.$l.$k  bpe/$A-$l.pairs.$k : raw/$A-$l/pairs.$k codes : \
            "tokenize -l $k $TOKENIZE < raw/$A-$l/pairs.$k | $cut_words > bpe/$A-$l.pairs.$k"
    done
    tlm+=" --parallel $A-$l=bpe/$A-$l.pairs.$A,bpe/$A-$l.pairs.$l"
    tlm_reads+=" bpe/$A-$l.pairs.$A bpe/$A-$l.pairs.$l"
done
tlm+=" --tlm-order toss"
part tasks-wiki
part xlu-systems
for t in $TASKS; do
    [ $t != qa ] || continue
    for l in $LANGS; do
        for h in majority lexical; do guessed $t $A $l $h "$h of $A"; done
    done
done
for s in $SEEDS; do
    for y in $XLU_SYSTEMS; do
        xlu_encoder s$s/$y $s $y
        zero_shot s$s/$y $s "${title[$y]}"
    done
done
results $scores
