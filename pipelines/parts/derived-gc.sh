# MLM-GC where its premise holds exactly (docs/lab/results.md): a language A and its copy B in other
# letters, in the same order or inverted. Windows look to both sides, so that a pair of words and
# its copy have equal counts. Three systems learn from the same text: MLM, MLM-GC, and MLM-GC with
# counts of the copy in which words of like frequency are exchanged. Others have to be asked for: by
# the paper's text and by its authors' code whatever GC_AS is, with another lambda (paper-0.25), and
# exchanged-code.
# An order may name a share of types that the copy has in common with A (same-0.25): alignment is
# measured on the others, and only those are exchanged.
# Expects tok/{train,valid}.A, and pieces/codes if GC_MERGES is not 0.
setting GC_ORDERS "same inverted"
setting GC_MERGES 0
setting GC_BIN 8
setting GC_LINES 5000
setting GC_OPTIONS ""
setting GC_MODEL "--no-encoder-langs --layers 2 --dim 64 --heads 2 --ffn 256 --dropout 0.1"
setting GC_STEPS 2000
setting GC_TRAINING "--tokens 1500 --lr 2e-3 --warmup $((GC_STEPS * 3 / 40)) --schedule linear
    --valid-every $((GC_STEPS / 4)) --valid-sentences 300 --save-every $GC_STEPS --keep 1
    --steps $GC_STEPS"
layers=$(sed -n 's/.*--layers \([0-9]*\).*/\1/p' <<< "$GC_MODEL")
title[mlm]=MLM title[gc]=MLM-GC title[exchanged]="exchanged counts"
title[paper]="GC by the text" title[code]="GC by the code"
title[exchanged-code]="by the code, exchanged counts"
setting SYSTEMS "mlm gc exchanged"
among SYSTEMS mlm gc exchanged paper code exchanged-code paper-N code-N
gc_forms=
for y in $SYSTEMS; do
    case $y in
    paper|code|exchanged-code) gc_forms=1;;
    paper-[0-9]*|code-[0-9]*) gc_forms=1 title[$y]="${y%%-*}, lambda ${y#*-}";;
    esac
done

for o in $GC_ORDERS; do
    [[ $o =~ ^(same|inverted)(-0?\.[0-9]+)?$ ]] ||
        refuse "order $o" "same or inverted, and perhaps a share of types: same-0.25"
done

for p in train valid; do
    if [ "$GC_MERGES" = 0 ]; then
        quick pieces.$p  pieces/$p.$A : tok/$p.$A : "cp tok/$p.$A pieces/$p.$A"
    else
        stage pieces.$p  pieces/$p.$A : codes tok/$p.$A : \
            "bpe-apply -c codes < tok/$p.$A > pieces/$p.$A"
    fi
done
quick types  pieces/vocab : pieces/train.$A : "vocab-count pieces/train.$A > pieces/vocab"
# every type with its copy; and the 200 most frequent ones
quick gold  gold.all gold.frequent : pieces/vocab : \
    "awk '{ print \$1 \"\\t\" \"ˣ\" \$1 }' pieces/vocab > gold.all &&
        head -n 200 gold.all > gold.frequent"

# counts ORDER NAME TEXT-OF-B [OPTIONS]
counts() {
    stage $1.cooc-$2  $1/$2.cooc : $1/vocab pieces/train.$A $3 : \
        "cooc-count -w 2${4-} -v $1/vocab $A=pieces/train.$A $B=$3 > $1/$2.cooc"
}
derived() {     # ORDER: text, counts and shards of both languages in the folder ORDER
    local o=$1 l p how= types= own=$1/vocab.$B b=$1/train.$B
    [[ $o = same* ]] || how=" --inv"
    case $o in *-*) types=" pieces/vocab" how+=" --overlap ${o#*-} --types pieces/vocab";; esac
    for p in train valid; do
        stage $o.$p  $o/$p.$B : pieces/$p.$A$types : \
            "derive-lang -q$how --trans < pieces/$p.$A > $o/$p.$B"
    done
    quick $o.vocab  $o/vocab : pieces/train.$A $b : "vocab-count pieces/train.$A $b > $o/vocab"
    quick $o.vocab-b  $o/vocab.$B : $b : "vocab-count $b > $o/vocab.$B"
    if [ "$types" ]; then
        own=$o/own.$B
        quick $o.own  $own : $o/vocab.$B : "grep ^ˣ $o/vocab.$B > $own"
        quick $o.gold  $o/gold.all $o/gold.frequent : $own gold.all : \
            "awk 'FNR == NR { own[\$1]; next } \$2 in own' $own gold.all > $o/gold.all &&
                head -n 200 $o/gold.all > $o/gold.frequent"
    fi
    quick $o.exchanged  $o/exchanged.$B : $own $b $P/permute-types.awk : \
        "awk -v BIN=$GC_BIN -v SEED=1 -f $P/permute-types.awk $own $b > $o/exchanged.$B"
    for p in train valid; do
        stage $o.shard.$p.$A  $o/$p.$A.shd : $o/vocab pieces/$p.$A : \
            "binarize -v $o/vocab -l $A < pieces/$p.$A > $o/$p.$A.shd"
        stage $o.shard.$p.$B  $o/$p.$B.shd : $o/vocab $o/$p.$B : \
            "binarize -v $o/vocab -l $B < $o/$p.$B > $o/$p.$B.shd"
    done
    counts $o gc $b "$gc_weights"
    counts $o exchanged $o/exchanged.$B "$gc_weights"
    if [ "$gc_forms" ]; then
        counts $o paper $b
        counts $o code $b " --weights glove"
        counts $o exchanged-code $o/exchanged.$B " --weights glove"
    fi
    quick $o.lines  $o/lines.$A $o/lines.$B : pieces/train.$A $b : \
        "head -n $GC_LINES pieces/train.$A > $o/lines.$A && head -n $GC_LINES $b > $o/lines.$B"
}

# alignment SOURCE TARGET DICT SUFFIX: rows of how many words find their own copy, by cosine
alignment() {
    echo "dict-induce -q --map none --method nn --src $1 --tgt $2 --eval $3
        --row '$s,${title[$y]},$o' --as 'hit@1%=own copy$4' --as 'gold-cosine=cosine$4'
        --as 'above-random=*$4'"
}
learnt() {      # ORDER SEED SYSTEM
    local o=$1 s=$2 y=$3 m=$1/s$2/$3 how="--objective mlm" reads= k l states rows gold=gold
    case $o in *-*) gold=$o/gold;; esac
    local form=$gc_form lambda=
    case $y in
    paper*) form=;;
    code*|exchanged-code) form="$gc_code ";;
    esac
    case $y in *-[0-9]*) lambda=" --gc-lambda ${y#*-}";; esac
    if [ $y != mlm ]; then
        reads=$o/${y%-[0-9]*}.cooc
        how="--objective mlm,gc --cooc $reads $form$GC_OPTIONS$lambda"
    fi
    train $o.s$s.$y.pretrain  $m/pretrain/ : $o/vocab $o/{train,valid}.{$A,$B}.shd $reads : \
        "exec pretrain --train $A=$o/train.$A.shd --train $B=$o/train.$B.shd
            --valid $A=$o/valid.$A.shd --valid $B=$o/valid.$B.shd -v $o/vocab $how
            $GC_MODEL $GC_TRAINING --seed $s --device $DEVICE $RESUME --out $m/pretrain"
    for l in $A $B; do
        stage $o.s$s.$y.table.$l  $m/0.$l.safetensors : $m/pretrain pieces/vocab $o/vocab.$B : \
            "embed -q --model $m/pretrain --layer 0 --device cpu
                --words $([ $l = $A ] && echo pieces/vocab || echo $o/vocab.$B)
                -o $m/0.$l.safetensors"
        for ((k = 1; k <= layers; k++)); do
            train $o.s$s.$y.states-$k.$l  $m/$k.$l.safetensors : $m/pretrain $o/lines.$l : \
                "embed -q --model $m/pretrain --layer $k --lang $l --text $o/lines.$l
                    --device $DEVICE -o $m/$k.$l.safetensors"
        done
    done
    states=" $m/0.$A.safetensors $m/0.$B.safetensors"
    rows="$(alignment $m/0.$A.safetensors $m/0.$B.safetensors $gold.all "") &&
        $(alignment $m/0.$A.safetensors $m/0.$B.safetensors $gold.frequent " of 200")"
    for ((k = 1; k <= layers; k++)); do
        states+=" $m/$k.$A.safetensors $m/$k.$B.safetensors"
        rows+=" && $(alignment $m/$k.$A.safetensors $m/$k.$B.safetensors $gold.all " layer $k")"
    done
    stage $o.s$s.$y.rows  $m/rows : $gold.all $gold.frequent$states $m/pretrain : \
        "{ score --log $m/pretrain/log.jsonl --row '$s,${title[$y]},$o' && $rows; } > $m/rows"
    results+=" $m/rows"
}
results=
for o in $GC_ORDERS; do derived $o; done
compare_with() {
    case " $SYSTEMS " in *" $1 "*) compare "${title[$1]}" "${title[$2]}";; esac
}
compare_with gc mlm
compare_with gc exchanged
for y in $SYSTEMS; do
    case $y in mlm|gc|exchanged) continue;; esac
    compare_with $y mlm
    [ $y = paper ] || compare_with paper $y
done
compare_with code exchanged-code
for s in $SEEDS; do
    for y in $SYSTEMS; do
        for o in $GC_ORDERS; do learnt $o $s $y; done
    done
done
results $results
