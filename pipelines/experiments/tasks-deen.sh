# Downstream tasks on real text, English and German: an encoder that has read captions in both
# languages (MLM and TLM), fine-tuned on English, judged on English and, without a German example,
# on German; beside it the same fine-tuned on German, and two baselines without a model. So for
# parts of speech, names, inference, cloze questions, XQuAD; XNLI in English and Swahili proves the
# reader: nobody here has read Swahili. German SICK is our own translator's.
languages en de
part tasks-text
part tasks-data

# tuned SEED TASK LANG [OTHER]: s*/TASK.LANG learns from LANG's examples; its development set picks
# the model, OTHER's is reported
tuned() {
    local f=task/$2 e=${suffix[$2]} other=
    [ -z "${4-}" ] || other=" --valid $4=$f/valid.$4.$e"
    train s$1.$2.$3  s$1/$2.$3/ : s$1/encoder $f/train.$3.$e $f/valid.$3.$e \
        ${4:+$f/valid.$4.$e} : \
        "exec finetune --task ${kind[$2]} --model s$1/encoder --train $3=$f/train.$3.$e
            --valid $3=$f/valid.$3.$e$other $TUNE ${more[$2]} --seed $1 --device $DEVICE $RESUME
            --out s$1/$2.$3"
}
# judged SEED TASK MODEL-LANG LANG TITLE: predictions for LANG's test set, and their scores as rows
judged() {
    local out=s$1/$2.$3-$4 gold=task/$2/test.$4.${suffix[$2]}
    train s$1.$2.$3-$4  $out : s$1/$2.$3 $gold : \
        "predict -q --model s$1/$2.$3 -l $4 --device $DEVICE < $gold > $out"
    scored $out $gold $1 $2 $4 "$5"
}
# scored PREDICTIONS GOLD SEED TASK LANG TITLE
scored() {
    local m each='{ '
    for m in ${metric[$4]}; do
        each+="score -m $m --resamples 0 $5=$2 < $1 && "
    done
    scores+=" $1.score"
    quick ${1////.}.score  $1.score : $1 $2 : \
        "${each% && }; } | awk -F '\\t' -v OFS='\\t' '\$2 ~ /^(accuracy|f1|exact_match)$/ {
            print \"$3\", \"$6\", \"$5\", \"${name[$4]} \" \$2, \$3 }' > $1.score"
}
# guessed TASK TRAIN-LANG LANG HOW TITLE: a baseline
guessed() {
    local e=${suffix[$1]} out=base/$1.$2-$3.$4 f=task/$1
    case ${kind[$1]} in
        qa) stage guess.$1.$2-$3.$4  $out : $P/qa-baseline.awk $f/test.$3.$e : \
            "LC_ALL=C awk -v how=$4 -f $P/qa-baseline.awk $f/test.$3.$e > $out";;
        nli) stage guess.$1.$2-$3.$4  $out : $P/pair-baseline.awk $f/train.$2.$e $f/test.$3.$e : \
            "LC_ALL=C awk -v how=$4 -v a=sentence1 -v b=sentence2 -f $P/pair-baseline.awk
                $f/train.$2.$e $f/test.$3.$e > $out";;
        *) stage guess.$1.$2-$3.$4  $out : $P/tag-baseline.awk $f/train.$2.$e $f/test.$3.$e : \
            "LC_ALL=C awk -v how=$4 -f $P/tag-baseline.awk $f/train.$2.$e $f/test.$3.$e > $out";;
    esac
    scored $out $f/test.$3.$e - $1 $3 "$5"
}

scores=
for t in $TASKS; do
    b=${target[$t]}
    for h in majority lexical; do
        guessed $t $A $A $h "$h of $A"
        guessed $t $A $b $h "$h of $A"
        [ $t = xnli ] || [ ${kind[$t]} = qa ] || guessed $t $b $b $h "$h of $b"
    done
    for s in $SEEDS; do
        tuned $s $t $A $b
        judged $s $t $A $A "learnt $A"
        judged $s $t $A $b "learnt $A"
        [ $t != xnli ] || continue
        tuned $s $t $b
        judged $s $t $b $b "learnt $b"
    done
done
stage results  results.tsv : $scores : "cat$scores > results.tsv"
