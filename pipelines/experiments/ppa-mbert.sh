# Post-pretraining alignment as published (PPA, Pan et al. 2021, Tables 1, 2, 4 and 5): mBERT, whose
# folder START names, goes on with English and seven languages' sentence pairs in one model, up to
# 250,000, 600,000 and 2 million pairs of each; then inference (XNLI) and questions (MLQA), learnt
# in English alone, or translated, each language's examples switched with the English ones.
# PPA_QA_LANGS are asked questions in; PPA_SYSTEMS may have `mean`, too, which aligns the mean of
# states (footnote 1).
[ $SCALE = paper ] || refuse "SCALE=$SCALE" "mBERT and its pairs are SCALE=paper's; ppa-demo and" \
    "ppa-deen do the same on two languages, and make rehearse/ppa-mbert proves the plan"
[ -n "$START" ] || refuse "SCALE=paper" "PPA goes on from mBERT: say START=<its folder> (the" \
    "files of huggingface.co/google-bert/bert-base-multilingual-cased)"
languages en fr es de bg ar zh hi
others=${LANGS#"$A "}
setting PPA_SIZES "250000 600000 2000000"
among PPA_SIZES N
setting PPA_SYSTEMS "full tlm moco replaced"
among PPA_SYSTEMS full tlm moco replaced mean
setting PPA_QA_LANGS "ar de es hi zh"
part given
part start
start_is START bert
start_from START
# --- pairs: the corpora of Table 1, in the order in which OPUS has them ---------------------------
corpora_of() {
    case $1 in
        fr|es|de) echo europarl;; bg) echo europarl eubookshop;; ar|zh) echo multiun;;
        hi) echo iitb;;
        *) refuse "language $1" "the paper has no pairs of it, nor has sources.tsv";;
    esac
}
parallel= valid= pairs=
for l in $others; do
    for k in $A $l; do
        files=
        for c in $(corpora_of $l); do
            published raw.$c.$l.$k  raw/$c.$l.$k $c/$A-$l.$k
            files+=" raw/$c.$l.$k"
        done
        quick raw.pairs.$l.$k  raw/pairs.$l.$k : $files : "cat$files > raw/pairs.$l.$k"
    done
    parallel+=" --parallel $A-$l=raw/pairs.$l.$A,raw/pairs.$l.$l"
    pairs+=" raw/pairs.$l.$A raw/pairs.$l.$l"
done
# what validation looks for translations among
part tatoeba-codes
for l in $others; do
    tatoeba_pair $l
    valid+=" --valid $A-$l=raw/tatoeba.$l.$A,raw/tatoeba.$l.$l"
    pairs+=" raw/tatoeba.$l.$A raw/tatoeba.$l.$l"
done

# --- inference and questions ----------------------------------------------------------------------
part xnli
for l in $LANGS; do
    published mnli.$l  task/xnli/train.$l.tsv xnli/multinli.train.$l.tsv
    xnli dev $l dev
    xnli test $l test
done
published squad.$A  task/mlqa/train.$A.json squad/train-v1.json
for l in $A $PPA_QA_LANGS; do
    [ $l = $A ] || published squad.$l  task/mlqa/train.$l.json squad/translate.train.$l.json
    published mlqa.dev.$l  task/mlqa/dev.$l.json mlqa/dev.$l.json
    published mlqa.test.$l  task/mlqa/test.$l.json mlqa/test.$l.json
done

# --- models ---------------------------------------------------------------------------------------
results=
size_name() { echo $1 | sed 's/000000$/M/; s/000$/k/'; }
aligned() {         # SEED SYSTEM SIZE: $model, and what the tables call it, $called
    local s=$1 y=$2 n=$3 how
    model=s$s/$y-$n called="PPA $(size_name $n)"
    case $y in
        full) how="--objective moco,tlm $PPA_MOCO";;
        mean) how="--objective moco,tlm $PPA_MOCO --pool mean"; called+=" mean";;
        tlm) how="--objective tlm"; called+=" - MoCo";;
        moco) how="--objective moco $PPA_MOCO"; called+=" - TLM";;
        replaced) how="--objective moco,mlm $PPA_MOCO"; called+=" repl TLM w/ MLM";;
    esac
    [ $n -lt $PPA_LARGE ] || how+=" $PPA_LARGE_TRAINING"
    train ${model/\//.}.pretrain  $model/pretrain/ : $start_reads $pairs : \
        "exec align-post --raw --model $start$parallel$valid $PPA_TRAINING --pairs $n $how
            --seed $s --device $DEVICE $RESUME --out $model/pretrain"
    [ $y = full ] || compare "PPA $(size_name $n)" "$called"
}
# learnt FOLDER SEED MODEL MODEL-READS TASK HOW LANG NAME: LANG's training set, or with HOW
# code-switched each example with its English in two that have a side of either; dev sets pick
# nothing (the last model is judged, 3.3 tells no other). Then the test sets of the languages that
# the way is for.
learnt() {
    local f=$1 s=$2 t=$5 how=$6 l=$7 name=$8 e=tsv task=nli tune=$PPA_TUNING from reads x out m
    local gold metric way=translate-train
    [ $how != zero-shot ] || way=$how
    [ $t = xnli ] || e=json task=qa tune=$PPA_QA_TUNING
    from="--train $l=task/$t/train.$l.$e" reads=task/$t/train.$l.$e
    if [ $how = code-switched ]; then
        from+=" --train-parallel $A=task/$t/train.$A.$e --code-switch on"
        reads+=" task/$t/train.$A.$e"
    fi
    m=$f/$t-$how.$l
    [ $how != zero-shot ] || m=$f/$t-$how
    train ${m//\//.}  $m/ : $4 $reads task/$t/dev.$l.$e : \
        "exec finetune --raw --task $task --model $3 $from --valid $l=task/$t/dev.$l.$e
            --select last $tune --seed $s --device $DEVICE $RESUME --out $m"
    x=$l
    if [ $how = zero-shot ]; then x=$LANGS; [ $t = xnli ] || x="$A $PPA_QA_LANGS"; fi
    for x in $x; do
        out=$m-$x gold=task/$t/test.$x.$e metric=accuracy
        [ $t = xnli ] || metric=mlqa
        train ${m//\//.}-$x  $out : $m $gold : \
            "predict -q --raw --model $m -l $x --device $DEVICE < $gold > $out"
        quick ${m//\//.}-$x.score  $out.rows : $out $gold : \
            "score -m $metric --resamples 0 --row '$s,$name,$x' --as '*=${t^^} $way *'
                $x=$gold < $out > $out.rows"
        results+=" $out.rows"
    done
}
for s in $SEEDS; do
    for y in mbert $PPA_SYSTEMS; do
        for n in $PPA_SIZES; do
            if [ $y = mbert ]; then
                [ $n = ${PPA_SIZES%% *} ] || continue
                model=s$s/mbert called=mBERT
                set -- $start "$start_reads"
            else
                aligned $s $y $n
                set -- $model/pretrain $model/pretrain
            fi
            learnt $model $s $1 "$2" xnli zero-shot $A "$called"
            for l in $others; do
                [ $y = mbert ] || learnt $model $s $1 "$2" xnli code-switched $l "$called"
                case $y in mbert) learnt $model $s $1 "$2" xnli translated $l "$called";;
                    full) learnt $model $s $1 "$2" xnli translated $l "$called - CS";; esac
            done
            case $y in mbert|full|mean) ;; *) continue;; esac
            learnt $model $s $1 "$2" mlqa zero-shot $A "$called"
            how=code-switched
            [ $y != mbert ] || how=translated
            for l in $PPA_QA_LANGS; do learnt $model $s $1 "$2" mlqa $how $l "$called"; done
        done
    done
    # Table 3's row: layers, widths, heads, vocabulary and parameters
    quick s$s.size  s$s/size : $start_reads : "ckpt info $start > s$s/size"
done
results $results
paper D 2 4 5
