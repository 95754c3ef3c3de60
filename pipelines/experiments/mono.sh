# One language (MLM-GC's Table 7): ALBERT with sentence order and n-gram masking, and the same with
# GC; then questions of XQuAD's English articles, as its table has SQuAD's. English documents: EWT
# and the valid and test parts of WikiText-2 (SCALE=paper: ALBERT's own text, and SQuAD).
languages en
INIT= MODEL=$MONO_MODEL PRETRAIN=$MONO_PRETRAIN
part mono-$MONO_TEXT
part text
part cooc
part encoder
title[albert]=ALBERT title[albert-gc]=ALBERT-GC
setting SYSTEMS "albert albert-gc"
among SYSTEMS albert albert-gc
results=
# told SEED SYSTEM QUESTIONS: learnt from its training file, its test file answered and scored
told() {
    local s=$1 y=$2 t=$3 m=s$1/$2
    train s$s.$y.$t  $m/$t/ : $m/encoder task/$t/{train,valid}.json : \
        "exec finetune --task qa --model $m/encoder --train $A=task/$t/train.json
            --valid $A=task/$t/valid.json $MONO_TUNE --seed $s --device $DEVICE $RESUME
            --out $m/$t"
    train s$s.$y.$t.answers  $m/$t.answers : $m/$t task/$t/test.json : \
        "predict -q --model $m/$t -l $A --device $DEVICE < task/$t/test.json > $m/$t.answers"
    quick s$s.$y.$t.score  $m/$t.rows : $m/$t.answers task/$t/test.json : \
        "score -m squad --resamples 0 $A=task/$t/test.json < $m/$t.answers
            --row '$s,${title[$y]},$A' --as '*=$t *' > $m/$t.rows"
    results+=" $m/$t.rows"
}
for s in $SEEDS; do
    for y in $SYSTEMS; do
        case $y in
        albert) encoder s$s/$y $s "--objective mlm,sop";;
        albert-gc) encoder s$s/$y $s "--objective mlm,sop,gc --cooc cooc/all.cooc $GC" \
            cooc/all.cooc;;
        esac
        quick s$s.$y.log  s$s/$y/log.rows : s$s/$y/encoder : \
            "score --log s$s/$y/encoder/log.jsonl --row '$s,${title[$y]},$A' > s$s/$y/log.rows"
        results+=" s$s/$y/log.rows"
        for t in $QUESTIONS; do told $s $y $t; done
    done
done
results $results
paper A 7
