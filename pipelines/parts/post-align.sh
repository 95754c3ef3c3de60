# Models of two languages A and B that go on from one base with sentence pairs (Pan et al. 2021):
# in full, with each objective alone, with MLM in place of TLM, without the toss of sides, on fewer
# pairs, and, as a control, on sentences and other sentences' translations.
# Expects what part pretrain does, and sentence pairs bpe/PPA_PAIRS.L to learn from, bpe/SET.L for
# PPA_SENTENCES to retrieve; labelled files synth/nli.{train,dev}.L where PPA_NLI is 1. Leaves
# sN/SYSTEM/, results.tsv. A recipe's function `also SEED SYSTEM` looks at each model, too, and adds
# its rows to $results.
setting SYSTEMS mlm
# START=FOLDER: a published model in place of our own, which reads plain text
setting START ""
text=bpe raw=
if [ -n "$START" ]; then
    part given
    part start
    start_from START
    text=raw raw="--raw "
    if [ -f "$START/config.json" ]; then
        layers=$(sed -n 's/.*"num_hidden_layers": *\([0-9]*\).*/\1/p' "$START/config.json")
    else
        layers=$("$BIN/ckpt" info "$START" | sed -n 's/^ *"layers": *\([0-9]*\).*/\1/p')
    fi
    [[ $layers =~ ^[1-9][0-9]*$ ]] || refuse "START=$START" "does not say how many layers it has"
else
    part pretrain
    layers=$(sed -n 's/.*--layers \([0-9]*\).*/\1/p' <<< "$MODEL")
fi
# base_of SEED: $base, the model's folder, and $base_reads, what of it is an input
base_of() {
    base=s$1/mlm/pretrain base_reads=s$1/mlm/pretrain
    [ -z "$START" ] || base=$start base_reads=$start_reads
}
# PPA_MOST: pairs of all but PPA_SIZES (all of them); sizes of PPA_LARGE and more train otherwise
setting PPA_MOST ""
setting PPA_LARGE 1000000000
setting PPA_LARGE_TRAINING ""
among PPA_SIZES N
setting PPA_SYSTEMS "full tlm moco replaced noshuffle strangers $PPA_SIZES"
among PPA_SYSTEMS full tlm moco replaced noshuffle strangers N
setting PPA_TRAINING "--batch 64 --epochs 8 --lr 3e-4 --min-tokens 5 --save-every 0"
setting PPA_MOCO "--queue 1024 --queue-start empty --momentum 0.99 --projection 64"
setting PPA_SMALL_MOCO "--queue 64 --queue-start empty --momentum 0.99 --projection 64"
setting PPA_TUNING "--batch 32 --lr 5e-4 --epochs 8 --schedule linear --warmup 10%"
title[mlm]=base title[full]=PPA title[tlm]="- MoCo" title[moco]="- TLM"
title[replaced]="MLM for TLM" title[noshuffle]="no shuffle" title[strangers]="wrong pairs"
for n in $PPA_SIZES $PPA_SYSTEMS; do
    case $n in [0-9]*) title[$n]="PPA, $n pairs";; esac
done
for y in base "- MoCo" "- TLM" "MLM for TLM" "no shuffle"; do
    compare PPA "$y"
done
paper D 2 4 5

# sets that part text knows nothing of
for t in $PPA_PAIRS $PPA_SENTENCES; do
    [[ " train valid test " != *" $t "* && -z $START ]] || continue
    for l in $LANGS; do
        stage tok.$t.$l  tok/$t.$l : raw/$t.$l : "tokenize -l $l $TOKENIZE < raw/$t.$l > tok/$t.$l"
        stage bpe.$t.$l  bpe/$t.$l : codes tok/$t.$l : "bpe-apply -c codes < tok/$t.$l > bpe/$t.$l"
    done
done
pairs=$text/$PPA_PAIRS
quick ppa.strangers  ppa/strangers.$B : $pairs.$B $P/shuffle : \
    "$P/shuffle < $pairs.$B > ppa/strangers.$B"

aligned() {         # SEED SYSTEM: a model that goes on from the base
    local s=$1 y=$2 other=$pairs.$B how= base base_reads
    base_of $s
    case $y in
        full) how="--objective moco,tlm $PPA_MOCO";;
        tlm) how="--objective tlm";;
        moco) how="--objective moco $PPA_MOCO";;
        replaced) how="--objective moco,mlm $PPA_MOCO";;
        noshuffle) how="--objective moco,tlm $PPA_MOCO --no-shuffle";;
        strangers) how="--objective moco $PPA_MOCO" other=ppa/strangers.$B;;
        *) how="--objective moco,tlm $PPA_SMALL_MOCO --pairs $y"
            [ $y -lt $PPA_LARGE ] || how+=" $PPA_LARGE_TRAINING";;
    esac
    [[ -z $PPA_MOST || $y =~ ^[0-9] ]] || how+=" --pairs $PPA_MOST"
    train s$s.$y.pretrain  s$s/$y/pretrain/ : $base_reads $pairs.$A $other $text/test.{$A,$B} : \
        "exec align-post ${raw}--model $base --parallel $A-$B=$pairs.$A,$other
            --valid $A-$B=$text/test.$A,$text/test.$B $PPA_TRAINING $how
            --seed $s --device $DEVICE $RESUME --out s$s/$y/pretrain"
}

retrieved() {       # SEED SYSTEM: rows of how many sentences find their translation
    local s=$1 y=$2 d=s$1/$2/ppa m=s$1/$2/pretrain k l t how rows= by
    local base base_reads reads=$m
    [ $y != mlm ] || { base_of $s; m=$base reads=$base_reads; }
    for t in $PPA_SENTENCES; do
        for ((k = 0; k <= layers + 1; k++)); do     # means by layer; then <s>, last layer
            how="--layer $k --pool mean" by="mean, layer $k"
            [ $k -le $layers ] || how="--layer $layers --pool first" by="<s>"
            for l in $LANGS; do
                train s$s.$y.$t-$k.$l  $d/$t.$k.$l.safetensors : $reads $text/$t.$l : \
                    "embed -q $raw--model $m $how --lang $l --text $text/$t.$l --of sentences
                        --device $DEVICE -o $d/$t.$k.$l.safetensors"
            done
            stage s$s.$y.$t-$k  $d/$t.$k.rows : $d/$t.$k.{$A,$B}.safetensors : \
                "retrieve -q --src $d/$t.$k.$A.safetensors --tgt $d/$t.$k.$B.safetensors
                    --row '$s,${title[$y]},$A-$B' --as '*=$t $by' > $d/$t.$k.rows"
            results+=" $d/$t.$k.rows"
        done
    done
}

nli_file() { [ -n "$START" ] && echo task/xnli/$1.$2.tsv || tasks_file synth nli $1 $2; }
if [ -n "$START" ] && [ "$PPA_NLI" = 1 ]; then
    part xnli
    for l in $LANGS; do
        published mnli.$l  task/xnli/train.$l.tsv xnli/multinli.train.$l.tsv
        xnli dev $l dev
        xnli test $l test
    done
fi
# tested SEED SYSTEM HOW: XNLI's test sets, by a model that `learnt` made
tested() {
    local s=$1 y=$2 how=$3 m=s$1/$2/nli-$3 l
    for l in $LANGS; do
        train s$s.$y.nli-$how.$l  $m.$l : $m task/xnli/test.$l.tsv : \
            "predict -q $raw--model $m -l $l --device $DEVICE < task/xnli/test.$l.tsv > $m.$l"
        quick s$s.$y.nli-$how.$l.score  $m.$l.rows : $m.$l task/xnli/test.$l.tsv : \
            "score -m accuracy --resamples 0 $l=task/xnli/test.$l.tsv < $m.$l
                --row '$s,${title[$y]},$l' --as 'accuracy=XNLI test $how' > $m.$l.rows"
        results+=" $m.$l.rows"
    done
}

# learnt SEED SYSTEM HOW: inference, learnt in A (zero-shot), in B alone (translated), or in
# both with premises and hypotheses of one pair in both languages (code-switched)
learnt() {
    local s=$1 y=$2 how=$3 m=s$1/$2/nli-$3 from to=$A langs="$A $B" reads
    local model=s$1/$2/pretrain model_reads=s$1/$2/pretrain base base_reads
    [ $y != mlm ] || { base_of $s; model=$base model_reads=$base_reads; }
    from="--train $A=$(nli_file train $A)" reads=$(nli_file train $A)
    if [ $how != zero-shot ]; then
        to=$B langs="$B $A"
        from="--train $B=$(nli_file train $B)" reads=$(nli_file train $B)
    fi
    if [ $how = code-switched ]; then
        from+=" --train-parallel $A=$(nli_file train $A) --code-switch on"
        reads+=" $(nli_file train $A)"
    fi
    train s$s.$y.nli-$how  $m/ : $model_reads $reads $(nli_file dev $A) \
        $(nli_file dev $B) : \
        "exec finetune $raw--task nli --model $model $from
            --valid $to=$(nli_file dev $to)
            --valid ${langs#* }=$(nli_file dev ${langs#* }) $PPA_TUNING
            --seed $s --device $DEVICE $RESUME --out $m"
    quick s$s.$y.nli-$how.rows  s$s/$y/nli-$how.rows : $m : \
        "$(validated $m $langs "nli $how") > s$s/$y/nli-$how.rows"
    results+=" s$s/$y/nli-$how.rows"
}

results=
for s in $SEEDS; do
    [ -n "$START" ] || trained $s mlm
    for y in mlm $PPA_SYSTEMS; do
        [ $y = mlm ] || aligned $s $y
        retrieved $s $y
        ! declare -F also > /dev/null || also $s $y
        [ "$PPA_NLI" = 1 ] || continue
        for how in zero-shot translated code-switched; do
            learnt $s $y $how
            [ -z "$START" ] || tested $s $y $how
        done
    done
done
results $results
