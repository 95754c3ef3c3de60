# Examples of tasks-deen: task/NAME/{train,valid,test}.LANG.SUFFIX. No sentence, premise or article
# is on two sides. Our own translator makes German of SICK (tasks-sick.sh).
#   TASKS      which of pos ner nli cloze xquad xnli
#   XQUAD_MOST articles of XQuAD to learn from, of the first 36
#   TASK_MOST  examples of each training set at most; TEST_MOST of the others
setting TASKS "pos ner nli cloze xquad xnli"
among TASKS pos ner nli cloze xquad xnli
setting TASK_MOST 1000000
setting TEST_MOST 1000000
setting XQUAD_MOST 36
setting TUNE ""
declare -gA kind=([pos]=tag [ner]=ner [nli]=nli [cloze]=qa [xquad]=qa [xnli]=nli)
declare -gA suffix=([pos]=conllu [ner]=tsv [nli]=tsv [cloze]=json [xquad]=json [xnli]=tsv)
declare -gA target=([pos]=$B [ner]=$B [nli]=$B [cloze]=$B [xquad]=$B [xnli]=sw)
declare -gA name=([pos]=POS [ner]=NER [nli]="SICK ($B by our translator)" [cloze]=cloze
    [xquad]=XQuAD [xnli]=XNLI)
declare -gA metric=([pos]="tag-accuracy chunk-f1" [ner]=chunk-f1 [nli]=accuracy [cloze]=squad
    [xquad]=squad [xnli]=accuracy)
declare -gA more=([pos]="" [ner]="" [nli]="" [cloze]="" [xquad]="" [xnli]="")
if [[ " $TASKS " == *" xnli "* ]]; then xnli=1; else xnli=; fi

# sentences FROM TO FILE: those numbers of a file with blank lines between them
sentences() { echo "awk -v RS= -v ORS='\\n\\n' 'NR >= $1 && NR <= $2' $3"; }
# cut MOST FROM TO: FROM .. TO, but no more than MOST
upto() { echo $(($1 + $2 - 1 < $3 ? $1 + $2 - 1 : $3)); }

part_of() { # NAME OUTPUT INPUT FROM TO MOST
    stage $1  $2 : $3 : "$(sentences $4 $(upto $4 $6 $5) $3) > $2"
}

for p in train dev test; do published raw.pos.$p.$A raw/pos.$p.$A ud/en_ewt-$p.conllu; done
for p in dev test; do published raw.pos.$p.$B raw/pos.$p.$B ud/de_gsd-$p.conllu; done
part_of pos.train.$A  task/pos/train.$A.conllu raw/pos.train.$A 1 1000000 $TASK_MOST
part_of pos.valid.$A  task/pos/valid.$A.conllu raw/pos.dev.$A 1 1000000 $TEST_MOST
part_of pos.test.$A  task/pos/test.$A.conllu raw/pos.test.$A 1 1000000 $TEST_MOST
# GSD's training set is not among the sources: three quarters of its development set
part_of pos.train.$B  task/pos/train.$B.conllu raw/pos.dev.$B 1 600 $TASK_MOST
part_of pos.valid.$B  task/pos/valid.$B.conllu raw/pos.dev.$B 601 1000000 $TEST_MOST
part_of pos.test.$B  task/pos/test.$B.conllu raw/pos.test.$B 1 1000000 $TEST_MOST

for l in $A $B; do
    for p in val test; do published raw.ner.$p.$l raw/ner.$p.$l ner/wikineural.$l.$p.conllu; done
    part_of ner.train.$l  task/ner/train.$l.tsv raw/ner.val.$l 1 1000000 $TASK_MOST
    part_of ner.valid.$l  task/ner/valid.$l.tsv raw/ner.test.$l 1 1500 $TEST_MOST
    part_of ner.test.$l  task/ner/test.$l.tsv raw/ner.test.$l 1501 1000000 $TEST_MOST
done

# questions about captions, and XQuAD by articles
for l in $A $B; do
    for p in train valid test; do
        most=$TEST_MOST
        [ $p != train ] || most=$TASK_MOST
        [ $l = $B ] && what=was || what=what
        stage cloze.$p.$l  task/cloze/$p.$l.json : $captions$p.$l $P/cloze-qa.awk : \
            "head -n $((5 * most)) $captions$p.$l | LC_ALL=C awk -v what=$what -f $P/cloze-qa.awk
                > task/cloze/$p.$l.json"
    done
    published raw.xquad.$l raw/xquad.$l xquad/xquad.$l.json
    for p in "train 1 $XQUAD_MOST" "valid 37 40" "test 41 48"; do
        set -- $p
        stage xquad.$1.$l  task/xquad/$1.$l.json : raw/xquad.$l $P/qa-part.awk : \
            "awk -v from=$2 -v to=$3 -f $P/qa-part.awk raw/xquad.$l > task/xquad/$1.$l.json"
    done
done

if [[ " $TASKS " == *" nli "* ]]; then part tasks-sick; fi

# XNLI, English beside Swahili: 1,170 of its premises for training, the last 100 of them put aside
if [ -n "$xnli" ]; then
    published raw.xnli raw/xnli nli/xnli/en-sw.test.tsv
    for l in $A sw; do
        for p in "train 1 1070" "valid 1071 1170" "test 1171 100000"; do
            set -- $p
            most=$TEST_MOST
            [ $1 != train ] || most=$TASK_MOST
            stage xnli.$1.$l  task/xnli/$1.$l.tsv : raw/xnli : \
                "awk -F '\\t' -v OFS='\\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[\$i] = i;
                        print \"label\", \"sentence1\", \"sentence2\"; next }
                    { a = \$at[\"sentence1_$A\"]; if (!(a in seen)) seen[a] = ++n }
                    seen[a] >= $2 && seen[a] <= $3 && ++kept <= $most {
                        print \$at[\"label\"], \$at[\"sentence1_$l\"], \$at[\"sentence2_$l\"] }'
                    raw/xnli > task/xnli/$1.$l.tsv"
        done
    done
fi
