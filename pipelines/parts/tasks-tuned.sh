# Encoders fine-tuned on the tasks of tasks-data.sh, scored, and baselines; $scores gets the names
# of the files with rows of results.
declare -gA kind suffix target name metric more
scores=
# what is fine-tuned in FOLDER
: ${tuned_from=encoder}
# tuned FOLDER SEED TASK LANG [OTHER]: FOLDER/TASK.LANG, FOLDER/encoder that learns from LANG's
# examples; its development set picks the model, OTHER's is reported
tuned() {
    local f=task/$3 e=${suffix[$3]} other=
    [ -z "${5-}" ] || other=" --valid $5=$f/valid.$5.$e"
    train ${1//\//.}.$3.$4  $1/$3.$4/ : $1/$tuned_from $f/train.$4.$e $f/valid.$4.$e \
        ${5:+$f/valid.$5.$e} : \
        "exec finetune --task ${kind[$3]} --model $1/$tuned_from
            --train $4=$f/train.$4.$e --valid $4=$f/valid.$4.$e$other $TUNE ${more[$3]}
            --seed $2 --device $DEVICE $RESUME
            --out $1/$3.$4"
}
# judged FOLDER SEED TASK MODEL-LANG LANG TITLE: predictions for LANG's test set, and their scores
# as rows
judged() {
    local out=$1/$3.$4-$5 gold=task/$3/test.$5.${suffix[$3]}
    train ${1//\//.}.$3.$4-$5  $out : $1/$3.$4 $gold : \
        "predict -q --model $1/$3.$4 -l $5 --device $DEVICE < $gold > $out"
    scored $out $gold $2 $3 $5 "$6"
}
# scored PREDICTIONS GOLD SEED TASK LANG TITLE
scored() {
    local m each= as
    for m in ${metric[$4]}; do
        as=*; [ $m != chunk-f1 ] || as=f1
        each+=" && score -m $m --resamples 0 $5=$2 --row '$3,$6,$5' --as '$as=${name[$4]} *' < $1"
    done
    scores+=" $1.score"
    quick ${1////.}.score  $1.score : $1 $2 : "{ ${each# && }; } > $1.score"
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
