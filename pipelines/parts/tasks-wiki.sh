# XTREME's tasks beside TEXT=wiki, learnt from English examples alone and judged in every language
# of LANGS: task/NAME/{train,valid,test}.LANG.SUFFIX, and zero_shot, which fine-tunes and judges.
#   TASKS      which of pos (Universal Dependencies), ner (WikiAnn), nli (XNLI), qa (XQuAD)
#   TASK_MOST  examples of each training set at most; TEST_MOST of the others
# Inference is learnt from parts of MultiNLI and SNLI (38,065 pairs), questions from TyDiQA's
# English; English development sets pick the model (of questions MLQA's).
setting TASKS "pos ner nli qa"
among TASKS pos ner nli qa
setting TASK_MOST 1000000
setting TEST_MOST 1000000
setting TUNE ""
part tasks-tuned
kind=([pos]=tag [ner]=ner [nli]=nli [qa]=qa)
suffix=([pos]=tsv [ner]=tsv [nli]=tsv [qa]=json)
name=([pos]=POS [ner]=WikiAnn [nli]=XNLI [qa]=XQuAD)
metric=([pos]="tag-accuracy chunk-f1" [ner]=chunk-f1 [nli]=accuracy [qa]=squad)
more=([pos]="" [ner]="" [nli]="" [qa]="")
# examples PART LANG NAME SOURCE [MORE...]: its file, cut to the MOST of its part
examples() {
    local out=task/$3/$1.$2.${suffix[$3]} n=$TEST_MOST s f=raw/$3.$1.$2 i=0 files= cut= of=
    [ $1 != train ] || n=$TASK_MOST
    for s in "${@:4}"; do
        i=$((i + 1))
        published task.$3.$1.$2.$i  $f.$i $s
        files+=" $f.$i"
    done
    case $3:$4 in
    qa:*) ;;
    nli:*) cut=" | awk 'BEGIN { print \"label\\tsentence1\\tsentence2\" } NR <= $n'";;
    # WikiAnn's test sets are published without labels: of its English development set 5,000
    # sentences choose, and the others are judged; its archive has the language before each word
    ner:*) case $1.$2 in
        valid.en) of="NR <= 5000 && ";;
        test.en) of="NR > 5000 && ";;
        esac
        cut=" | sed 's/^$2://' | awk -v RS= -v ORS='\\n\\n' '$of++k <= $n'";;
    *) cut=" | awk -v RS= -v ORS='\\n\\n' 'NR <= $n'";;
    esac
    case $4 in
    *.conllu) stage task.$3.$1.$2  $out : $files $P/conllu-words : \
        "awk -f $P/conllu-words$files$cut > $out";;
    *) stage task.$3.$1.$2  $out : $files : "cat$files$cut > $out";;
    esac
}
for t in $TASKS; do
    for l in $LANGS; do
        case $t:$l in
        pos:de) examples test de pos ud/de_gsd-test.conllu;;
        pos:*) examples test $l pos udpos/$l.test.tsv;;
        ner:*) examples test $l ner panx/$l.dev.tsv;;
        nli:*) examples test $l nli xnli/test.$l.tsv;;
        qa:*) examples test $l qa xquad/xquad.$l.json;;
        esac
    done
    case $t in
    pos) examples train en pos udpos/en.train.tsv; examples valid en pos udpos/en.dev.tsv;;
    ner) examples train en ner panx/en.train.tsv; examples valid en ner panx/en.dev.tsv;;
    nli) examples train en nli nli-train/{mnli-taxi,snli-devtest,snli-cad}.tsv
        examples valid en nli xnli/dev.en.tsv;;
    qa) examples train en qa tydiqa/en.train.json; examples valid en qa mlqa/dev.en.json;;
    esac
done
# zero_shot FOLDER SEED TITLE: the model that $tuned_from says in FOLDER, on every task
zero_shot() {
    local t l
    for t in $TASKS; do
        tuned $1 $2 $t en
        for l in $LANGS; do judged $1 $2 $t en $l "$3"; done
    done
}
