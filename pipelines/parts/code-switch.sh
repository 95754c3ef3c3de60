# Models of two languages A and B that go on from one base: with plain MLM for as many passes, with
# words switched by the base's own dictionary (TCS), with mixtures of words (SCS), and, as controls,
# with a dictionary of wrong translations and the gold one (Lu, Lu and Zhang 2023).
# Expects what part pretrain does, sentence pairs raw/SET.L for CS_SENTENCES, and labelled files
# synth/TASK.{train,dev}.L for CS_TASKS. Leaves sN/SYSTEM/, page/, cs/fig/, cs/results.tsv.
# A recipe's function `also SEED SYSTEM` looks at each model, too, and adds its rows to $results.
# With CS_UNMT=1 also translators from base+MLM and SCS, and MASS that goes on with itself and with
# SCS (the paper's Table 5).
setting CS_UNMT ""
setting SYSTEMS "mlm${CS_UNMT:+ mass}"
part pretrain
setting CS_SYSTEMS "more tcs scs random gold"
among CS_SENTENCES test tatoeba
among CS_SYSTEMS more tcs scs scs-N random gold
setting CS_SPECIFIC 5
setting CS_STEPS 500
setting CS_TOKENS 1500
setting CS_TRAINING "--tokens $CS_TOKENS --lr 3e-4 --warmup $((CS_STEPS / 10)) --schedule linear
    --valid-every $CS_STEPS --valid-sentences 300 --save-every $CS_STEPS --keep 1
    --steps $CS_STEPS"
# micro-batches of a step; of plain MLM, for as many passes, twice that
setting CS_ACCUMULATE 1
setting CS_SWITCH ""
setting CS_LINES 3000
setting CS_TUNING "--batch 32 --lr 5e-4 --schedule linear --warmup 10%"
setting CS_EPOCHS 2
setting CS_NLI_EPOCHS 8         # inference is learnt late
title[mlm]=base title[more]=base+MLM title[tcs]=TCS title[scs]=SCS
title[random]="TCS random" title[gold]="TCS gold"
# scs-4: SCS that mixes 4 words (Figure 9)
for y in $CS_SYSTEMS; do
    case $y in scs-[1-9]*) title[$y]="SCS k=${y#scs-}"; compare "${title[$y]}" SCS;; esac
done
# which differences are tested, and what was published
for y in TCS SCS "TCS random" "TCS gold"; do compare "$y" base+MLM; done
compare TCS "TCS random"
paper B 1 2 3 4 5 14
layers=$(sed -n 's/.*--layers \([0-9]*\).*/\1/p' <<< "$MODEL")

for l in $LANGS; do
    stage cs.counts.$l  cs/$l.vocab : bpe/train.$l : \
        "vocab-count --whole-words bpe/train.$l > cs/$l.vocab"
    quick cs.text.$l  cs/text.$l : bpe/train.$l : "head -n $CS_LINES bpe/train.$l > cs/text.$l"
    for t in $CS_SENTENCES; do
        [ $t != test ] || continue
        stage cs.$t.$l  bpe/$t.$l : raw/$t.$l codes : \
            "tokenize -l $l $TOKENIZE < raw/$t.$l | bpe-apply -c codes > bpe/$t.$l"
    done
done
specific="--specific $CS_SPECIFIC --src-counts cs/$A.vocab --tgt-counts cs/$B.vocab"

# --- the base's dictionary, and its controls ------------------------------------------------------
dictionaries() {    # SEED
    local s=$1 d=s$1/cs
    stage s$s.cs.table  $d/table.vec : s$s/mlm/pretrain : \
        "embed -q --model s$s/mlm/pretrain --device cpu > $d/table.vec"
    stage s$s.cs.self  $d/tcs.dict : $d/table.vec cs/{$A,$B}.vocab : \
        "dict-induce -q --map none $specific -k 1 --mutual --neighbours 10
            --src $d/table.vec --tgt $d/table.vec -o $d/tcs.dict"
    quick s$s.cs.random  $d/random.dict : $d/tcs.dict $P/rotate-dict.awk : \
        "awk -f $P/rotate-dict.awk $d/tcs.dict > $d/random.dict"
    quick s$s.cs.gold  $d/gold.dict : raw/gold.tsv : "cut -f 1,2 raw/gold.tsv > $d/gold.dict"
}

# --- a model --------------------------------------------------------------------------------------
goes_on() {         # SEED SYSTEM
    local s=$1 y=$2 l trains= valids= shards= how= reads= base=mlm k=1 last=
    case $y in
        more) how="--objective mlm" k=2;;
        mass-more) how="--objective mass" base=mass k=2;;
        mass-scs) how="--objective mass,scs --specific $CS_SPECIFIC $CS_SCS" base=mass;;
        scs) how="--objective mlm,scs --specific $CS_SPECIFIC $CS_SCS";;
        scs-[1-9]*)
            how="--objective mlm,scs --specific $CS_SPECIFIC $CS_SCS --scs-k ${y#scs-}";;
        *) how="--objective mlm,tcs --dict $A-$B=s$s/cs/$y.dict $CS_SWITCH" reads=s$s/cs/$y.dict;;
    esac
    [[ $y != mass-* || $CS_TRAINING != *--stream* ]] || last=" --stream 0"
    k=$((k * CS_ACCUMULATE))
    [ $k = 1 ] || how+=" --accumulate $k"
    for l in $LANGS; do
        trains+=" --train $l=shd/train.$l.shd" valids+=" --valid $l=shd/valid.$l.shd"
        shards+=" shd/train.$l.shd shd/valid.$l.shd"
    done
    train s$s.$y.pretrain  s$s/$y/pretrain/ : $shards vocab s$s/$base/pretrain $reads : \
        "exec pretrain$trains$valids --init s$s/$base/pretrain $how $CS_TRAINING$last
            --seed $s --device $DEVICE $RESUME --out s$s/$y/pretrain"
}
setting CS_SCS ""

# --- what it knows --------------------------------------------------------------------------------
# at_layers WHAT FILES...: $vectors of both languages at every layer, and $pairs, as options
at_layers() {
    local k; vectors= pairs=
    for ((k = 0; k <= layers; k++)); do
        vectors+=" $d/$1.$k.$A.safetensors $d/$1.$k.$B.safetensors"
        pairs+=" --src $d/$1.$k.$A.safetensors --tgt $d/$1.$k.$B.safetensors"
    done
}
looked_at() {       # SEED SYSTEM
    local s=$1 y=$2 d=s$1/$2/cs m=s$1/$2/pretrain k l t rows row="--row '$1,${title[$2]},-'"
    for l in $LANGS; do
        for ((k = 0; k <= layers; k++)); do
            train s$s.$y.words-$k.$l  $d/words.$k.$l.safetensors : $m cs/text.$l words/$l.vocab : \
                "embed -q --model $m --layer $k --lang $l --text cs/text.$l --of words
                    --words words/$l.vocab --device $DEVICE -o $d/words.$k.$l.safetensors"
            for t in $CS_SENTENCES; do
                train s$s.$y.$t-$k.$l  $d/$t.$k.$l.safetensors : $m bpe/$t.$l : \
                    "embed -q --model $m --layer $k --lang $l --text bpe/$t.$l --of sentences
                        --device $DEVICE -o $d/$t.$k.$l.safetensors"
            done
        done
    done
    stage s$s.$y.table  $d/table.vec : $m : "embed -q --model $m --device cpu > $d/table.vec"
    # the paper's Table 1: the table itself, words of one language only
    stage s$s.$y.table-rows  $d/table.rows : $d/table.vec cs/{$A,$B}.vocab raw/gold.tsv : \
        "dict-induce -q --map none $specific -k 1 --mutual --neighbours 10 --src $d/table.vec
            --tgt $d/table.vec --eval raw/gold.tsv --gold both $row --as 'hit@1=table Hit@1'
            --as 'hit@5=table Hit@5' --as exported --as precision > $d/table.rows"
    at_layers words
    stage s$s.$y.rsim  $d/rsim.tsv $d/rsim.rows : $vectors raw/gold.tsv : \
        "rsim$pairs --dict raw/gold.tsv --one-to-one $row --as rsim --as cosine
            --rows-to $d/rsim.rows > $d/rsim.tsv"
    stage s$s.$y.hits  $d/hits.tsv $d/hits.rows : $vectors raw/gold.tsv : \
        "dict-induce -q --map none$pairs --eval raw/gold.tsv $row --as hit@1
            --rows-to $d/hits.rows > $d/hits.tsv"
    rows=" $d/table.rows $d/rsim.rows $d/hits.rows"
    for t in $CS_SENTENCES; do
        at_layers $t
        stage s$s.$y.$t-retrieved  $d/$t.tsv $d/$t.rows : $vectors : \
            "retrieve -q$pairs --row '$s,${title[$y]},$A-$B' --as 'accuracy-to=retrieval $t'
                --as 'accuracy-back=retrieval $t' --rows-to $d/$t.rows > $d/$t.tsv"
        rows+=" $d/$t.rows"
    done
    quick s$s.$y.rows  s$s/$y/cs.rows : $m$rows : \
        "{ score --log $m/log.jsonl $row && cat$rows; } > s$s/$y/cs.rows"
    results+=" s$s/$y/cs.rows"
    for t in $CS_TASKS; do learnt $s $y $t; done
    ! declare -F also > /dev/null || also $s $y
}
learnt() {          # SEED SYSTEM TASK: learnt in A, measured in A and B
    local s=$1 y=$2 t=$3 m=s$1/$2/$3 task=$3 files= l epochs=$CS_EPOCHS
    [ $t != pos ] || task=tag
    [ $t != nli ] || epochs=$CS_NLI_EPOCHS
    for l in $LANGS; do files+=" $(tasks_file synth $t dev $l)"; done
    train s$s.$y.$t  $m/ : s$s/$y/pretrain $(tasks_file synth $t train $A)$files : \
        "exec finetune --task $task --model s$s/$y/pretrain
            --train $A=$(tasks_file synth $t train $A) --valid $A=$(tasks_file synth $t dev $A)
            --valid $B=$(tasks_file synth $t dev $B) $CS_TUNING --epochs $epochs --seed $s
            --device $DEVICE $RESUME --out $m"
    quick s$s.$y.$t.rows  s$s/$y/$t.rows : $m : "$(validated $m $A $B "$t") > s$s/$y/$t.rows"
    results+=" s$s/$y/$t.rows"
}

results=
for s in $SEEDS; do
    trained $s mlm
    dictionaries $s
    for y in mlm $CS_SYSTEMS; do
        [ $y = mlm ] || goes_on $s $y
        looked_at $s $y
    done
done

# --- translators ----------------------------------------------------------------------------------
if [ "$CS_UNMT" ]; then
    title[mass-more]=MASS+MASS title[mass-scs]=MASS+SCS-MASS
    compare MASS+SCS-MASS MASS+MASS
    part score
    part pseudo
    for s in $SEEDS; do
        model $s mass
        for y in more scs mass-more mass-scs; do
            case $y in mass-*) goes_on $s $y;; esac
            translator $s $y
            translations s$s/$y/unmt s$s/$y $s "${title[$y]}" s$s/$y/shuffled
            results+=" s$s/$y/score.$A-$B s$s/$y/score.$B-$A"
        done
    done
fi
RESULTS=cs/results.tsv
results $results

# --- pictures: every system by layer (the paper's Figures 3, 6 and 7) ----------------------------
drawn() {           # FILE KIND NAME TITLE
    local s y files= labelled=
    for y in mlm $CS_SYSTEMS; do
        for s in $SEEDS; do
            files+=" s$s/$y/cs/$1" labelled+=" s$s/$y/cs/$1 --label '${title[$y]}'"
        done
    done
    layered cs.fig.$3  page/$3.svg cs/fig/$3.tsv : $files : "plot $2$labelled --title '$4'"
}
drawn rsim.tsv rsim rsim "Translations by layer"
drawn hits.tsv hits hits "Dictionary by CSLS, by layer"
for t in $CS_SENTENCES; do drawn $t.tsv hits $t "Retrieval of $t sentences, by layer"; done
