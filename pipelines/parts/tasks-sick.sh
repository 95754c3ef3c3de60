# SICK for tasks-data.sh: columns 2, 3 and 5; its sentences go through a translator once each, made
# of SICK_FROM (the first seed's encoder).
first=${SEEDS%% *}
: ${SICK_FROM:=s$first/encoder}
train mt  mt/ : $SICK_FROM bpe/{train,valid}.{$A,$B} : \
    "exec finetune --task mt --model $SICK_FROM
        --parallel $A-$B=bpe/train.$A,bpe/train.$B --valid $A-$B=bpe/valid.$A,bpe/valid.$B
        $MT --seed $first --device $DEVICE $RESUME --out mt"
set -- train train valid trial test test_annotated
while [ $# -gt 0 ]; do
    most=$TEST_MOST
    [ $1 != train ] || most=$TASK_MOST
    published raw.nli.$1 raw/nli.$1 nli/sick/SICK_$2.txt
    stage nli.$1.$A  task/nli/$1.$A.tsv : raw/nli.$1 : \
        "tr -d '\\r' < raw/nli.$1 | awk -F '\\t' -v OFS='\\t' 'NR == 1 {
            print \"label\", \"sentence1\", \"sentence2\"; next }
            NR <= $((most + 1)) { print tolower(\$5), \$2, \$3 }' > task/nli/$1.$A.tsv"
    stage nli.$1.text  task/nli/$1.text : task/nli/$1.$A.tsv : \
        "tail -n +2 task/nli/$1.$A.tsv | cut -f 2,3 | tr '\\t' '\\n' | sort -u > task/nli/$1.text"
    train nli.$1.translated  task/nli/$1.translated : mt task/nli/$1.text : \
        "translate --raw --model mt --src $A --tgt $B $DECODE --device $DEVICE < task/nli/$1.text
            > task/nli/$1.translated"
    stage nli.$1.$B  task/nli/$1.$B.tsv : task/nli/$1.{$A.tsv,text,translated} : \
        "paste task/nli/$1.text task/nli/$1.translated |
            awk -F '\\t' -v OFS='\\t' 'NR == FNR { to[\$1] = \$2; next } FNR == 1 { print; next }
                { print \$1, to[\$2], to[\$3] }' - task/nli/$1.$A.tsv > task/nli/$1.$B.tsv"
    shift 2
done
