# Models of two languages A and B that go on from one base with sentence pairs (Pan et al. 2021):
# in full, with each objective alone, with MLM in place of TLM, without the toss of sides, on fewer
# pairs, and, as a control, on sentences and other sentences' translations.
# Expects what part pretrain does, and sentence pairs bpe/PPA_PAIRS.L to learn from, bpe/SET.L for
# PPA_SENTENCES to retrieve; labelled files synth/nli.{train,dev}.L where PPA_NLI is 1. Leaves
# sN/SYSTEM/, results.tsv.
setting SYSTEMS mlm
part pretrain
setting PPA_SYSTEMS "full tlm moco replaced noshuffle strangers $PPA_SIZES"
setting PPA_TRAINING "--batch 64 --epochs 8 --lr 3e-4 --min-tokens 5 --save-every 0"
setting PPA_MOCO "--queue 1024 --queue-start empty --momentum 0.99 --projection 64"
setting PPA_SMALL_MOCO "--queue 64 --queue-start empty --momentum 0.99 --projection 64"
setting PPA_TUNING "--batch 32 --lr 5e-4 --epochs 8 --schedule linear --warmup 10%"
title[mlm]=base title[full]=PPA title[tlm]="- MoCo" title[moco]="- TLM"
title[replaced]="MLM for TLM" title[noshuffle]="no shuffle" title[strangers]="wrong pairs"
for n in $PPA_SIZES; do title[$n]="PPA, $n pairs"; done
compared=
for y in base "- MoCo" "- TLM" "MLM for TLM" "no shuffle"; do
    compared+="#compare\\tPPA\\t$y\\n"
done
paper D 2 4 5
layers=$(sed -n 's/.*--layers \([0-9]*\).*/\1/p' <<< "$MODEL")

# sets that part text knows nothing of
for t in $PPA_PAIRS $PPA_SENTENCES; do
    [[ " train valid test " != *" $t "* ]] || continue
    for l in $LANGS; do
        stage tok.$t.$l  tok/$t.$l : raw/$t.$l : "tokenize -l $l $TOKENIZE < raw/$t.$l > tok/$t.$l"
        stage bpe.$t.$l  bpe/$t.$l : codes tok/$t.$l : "bpe-apply -c codes < tok/$t.$l > bpe/$t.$l"
    done
done
pairs=bpe/$PPA_PAIRS
quick ppa.strangers  ppa/strangers.$B : $pairs.$B $P/shuffle : \
    "$P/shuffle < $pairs.$B > ppa/strangers.$B"

aligned() {         # SEED SYSTEM: a model that goes on from the base
    local s=$1 y=$2 other=$pairs.$B how=
    case $y in
        full) how="--objective moco,tlm $PPA_MOCO";;
        tlm) how="--objective tlm";;
        moco) how="--objective moco $PPA_MOCO";;
        replaced) how="--objective moco,mlm $PPA_MOCO";;
        noshuffle) how="--objective moco,tlm $PPA_MOCO --no-shuffle";;
        strangers) how="--objective moco $PPA_MOCO" other=ppa/strangers.$B;;
        *) how="--objective moco,tlm $PPA_SMALL_MOCO --pairs $y";;
    esac
    train s$s.$y.pretrain  s$s/$y/pretrain/ : s$s/mlm/pretrain $pairs.$A $other bpe/test.{$A,$B} : \
        "exec align-post --model s$s/mlm/pretrain --parallel $A-$B=$pairs.$A,$other
            --valid $A-$B=bpe/test.$A,bpe/test.$B $PPA_TRAINING $how
            --seed $s --device $DEVICE $RESUME --out s$s/$y/pretrain"
}

retrieved() {       # SEED SYSTEM: rows of how many sentences find their translation
    local s=$1 y=$2 d=s$1/$2/ppa m=s$1/$2/pretrain k l t how rows= tables=
    for t in $PPA_SENTENCES; do
        for ((k = 0; k <= layers + 1; k++)); do     # means by layer; then <s>, last layer
            how="--layer $k --pool mean"
            [ $k -le $layers ] || how="--layer $layers --pool first"
            for l in $LANGS; do
                train s$s.$y.$t-$k.$l  $d/$t.$k.$l.safetensors : $m bpe/$t.$l : \
                    "embed -q --model $m $how --lang $l --text bpe/$t.$l --of sentences
                        --device $DEVICE -o $d/$t.$k.$l.safetensors"
            done
            stage s$s.$y.$t-$k  $d/$t.$k.tsv : $d/$t.$k.{$A,$B}.safetensors : \
                "retrieve -q --src $d/$t.$k.$A.safetensors --tgt $d/$t.$k.$B.safetensors
                    > $d/$t.$k.tsv"
            tables+=" $d/$t.$k.tsv"
            rows+=" && awk -v SEED=$s -v NAME='${title[$y]}' -v DIRECTIONS='$A-$B $B-$A'
                -v METRIC='$t $([ $k -le $layers ] && echo "mean, layer $k" || echo "<s>")'
                -f $P/retrieval-rows.awk $d/$t.$k.tsv"
        done
    done
    stage s$s.$y.rows  s$s/$y/ppa.rows : $tables $P/retrieval-rows.awk : \
        "{ true$rows; } > s$s/$y/ppa.rows"
    results+=" s$s/$y/ppa.rows"
}

# tuned SEED SYSTEM HOW TITLE: inference, learnt in A (zero-shot), in B alone (translated), or in
# both with premises and hypotheses of one pair in both languages (code-switched)
tuned() {
    local s=$1 y=$2 how=$3 m=s$1/$2/nli-$3 from to=$A langs="$A $B" reads
    from="--train $A=$(tasks_file synth nli train $A)" reads=$(tasks_file synth nli train $A)
    if [ $how != zero-shot ]; then
        to=$B langs="$B $A"
        from="--train $B=$(tasks_file synth nli train $B)" reads=$(tasks_file synth nli train $B)
    fi
    if [ $how = code-switched ]; then
        from+=" --with $A=$(tasks_file synth nli train $A) --code-switch on"
        reads+=" $(tasks_file synth nli train $A)"
    fi
    train s$s.$y.nli-$how  $m/ : s$s/$y/pretrain $reads $(tasks_file synth nli dev $A) \
        $(tasks_file synth nli dev $B) : \
        "exec finetune --task nli --model s$s/$y/pretrain $from
            --valid $to=$(tasks_file synth nli dev $to)
            --valid ${langs#* }=$(tasks_file synth nli dev ${langs#* }) $PPA_TUNING
            --seed $s --device $DEVICE $RESUME --out $m"
    quick s$s.$y.nli-$how.rows  s$s/$y/nli-$how.rows : $m $P/task-rows.awk : \
        "awk -v SEED=$s -v NAME='${title[$y]}' -v TASK='nli $how' -v LANGS='$langs'
            -f $P/task-rows.awk $m/log.jsonl > s$s/$y/nli-$how.rows"
    results+=" s$s/$y/nli-$how.rows"
}

results=
for s in $SEEDS; do
    trained $s mlm
    for y in mlm $PPA_SYSTEMS; do
        [ $y = mlm ] || aligned $s $y
        retrieved $s $y
        [ "$PPA_NLI" = 1 ] || continue
        for how in zero-shot translated code-switched; do tuned $s $y $how; done
    done
done
quick results  results.tsv : $results : "{ printf '$compared' && cat$results; } > results.tsv"
