# Code switching of XLM-R (TCS-MLM, SCS-MLM; Lu, Lu and Zhang 2023): its BASE and LARGE models. The
# folder that START names, XLM-R base or large, goes on with CC-100 in 50 languages, by TCS and by
# SCS; both and XLM-R itself are measured by dictionary and similarity (Table 1, Figures 2, 3, 7,
# 11), retrieval (Table 14) and tasks learnt in English (Tables 2 to 4, 10 to 13) or in all
# languages' translations (translate-train-all, Tables 10 and 11), by language.
#   CS_SYSTEMS  tcs, scs; scs-4: mixtures of 4 words (Figure 9); more: plain MLM for as many
#               passes
#   CS_BESIDE   "name=folder ..." of models of XLM-R's vocabulary to measure in the same way
#               (InfoXLM, VECO; Figure 4)
#   CS_TABLES   "name=folder ..." whose embeddings alone are measured (mT5, XGLM; Table 9)
#   CS_PLANE    languages whose tokens are drawn in the plane
#   CS_TASKS    xnli pawsx pos ner mlqa tatoeba; CS_ALL: those with translated training sets
[ $SCALE = paper ] || refuse "SCALE=$SCALE" "XLM-R and CC-100 are SCALE=paper's; cs-demo and" \
    "cs-deen do the same on two languages, and make rehearse/cs-xlmr proves the plan"
[ -n "$START" ] || refuse "SCALE=paper" "BASE and LARGE go on from XLM-R: say START=<its folder>" \
    "(the files of huggingface.co/FacebookAI/xlm-roberta-base or -large)"
A=en B=de
setting CS_LANGS "af ar bg bn cs de el en es et eu fa fi fr fy gd gu he hi hu id it ja jv ka kk ko
    lt lv ml mr ms my ne nl pl pt ro ru si sw ta te th tl tr ur vi yo zh"
LANGS=$CS_LANGS
setting CS_SYSTEMS "tcs scs"
among CS_SYSTEMS tcs scs scs-N more
setting CS_BESIDE ""
setting CS_TABLES ""
setting CS_TASKS "xnli pawsx pos ner mlqa tatoeba"
setting CS_ALL "xnli pawsx"
# the languages of Table 1
setting CS_TO_EN "ar bg de el fr hi id ja ko ru"
part given
part start
start_is START xlm-roberta
start_from START
layers=$(sed -n 's/.*"num_hidden_layers": *\([0-9]*\).*/\1/p' "$START/config.json")
[[ $layers =~ ^[1-9][0-9]*$ ]] || refuse "START=$START" "does not say how many layers it has"
# XLM-R in the way that `named` reads the others, name=folder
named_folder() {        # WHAT NAME=FOLDER: $name, $file
    case $2 in ?*=?*) ;; *) refuse "$1" "'$2' is not NAME=FOLDER";; esac
    name=${2%%=*}; absolute "${2#*=}"
    [[ $name =~ ^[A-Za-z0-9.-]+$ ]] || refuse "$1" "$name: letters, digits, '.' and '-'"
    [ -f "$file/config.json" ] || refuse "$1" "${2#*=} is no folder of a model of transformers"
}

# --- text: as many gigabytes of each language as Table 6 has --------------------------------------
trains= valids= shards=
for l in $LANGS; do
    size=$(awk -F '\t' -v n=cc100/$l '$1 == "size" && $2 == n { print $3 }' "$own/rates.tsv")
    [ -n "$size" ] || refuse "language $l" "Table 6 has none, nor has rates.tsv"
    published raw.$l  raw/$l cc100/$l \
        "LC_ALL=C awk -v GB=$size 'n < GB * 1e9 && NF { n += length(\$0) + 1; print }'"
    # every 200th line is kept for validation, 2,000 of them
    stage bpe.$l  bpe/train.$l bpe/valid.$l : raw/$l $start_reads : \
        "awk -v OUT=bpe/valid.$l.raw 'NR % 200 == 100 && n < 2000 { n++; print > OUT; next }
                { print }' raw/$l | tokenize -q --subwords $start > bpe/train.$l &&
            tokenize -q --subwords $start < bpe/valid.$l.raw > bpe/valid.$l &&
            rm bpe/valid.$l.raw"
    stage shards.$l  shd/train.$l.shd shd/valid.$l.shd : bpe/train.$l bpe/valid.$l $start_reads : \
        "for p in train valid; do binarize -q -v $start/vocab -l $l < bpe/\$p.$l
            > shd/\$p.$l.shd || exit; done"
    stage counts.$l  cs/$l.vocab : bpe/train.$l : "vocab-count bpe/train.$l > cs/$l.vocab"
    trains+=" --train $l=shd/train.$l.shd" valids+=" --valid $l=shd/valid.$l.shd"
    shards+=" shd/train.$l.shd shd/valid.$l.shd"
done

# --- dictionaries of the table: tokens of one language only, nearest to each other (2.1, 2.2) -----
# where words are written without spaces a piece need not begin with the mark for a word's beginning
initial() { case $1 in ja|zh|th) ;; *) echo " --initial ▁";; esac; }
specific() {            # LANG FOLDER-OF-COUNTS
    echo "--map none --specific $CS_SPECIFIC --neighbours $CS_NEIGHBOURS --src-counts $2/$1.vocab
        --tgt-counts $2/en.vocab$(initial $1)"
}
# gold pairs of words as the pieces that they are, with and without the mark for a word's beginning
for l in $CS_TO_EN; do
    published raw.gold.$l  raw/gold.$l muse/$l-en.txt
    stage gold.$l  cs/gold.$l.tsv : raw/gold.$l : \
        "awk 'NF == 2 { print \"▁\" \$1 \"\\t▁\" \$2; print \$1 \"\\t▁\" \$2 }' raw/gold.$l
            > cs/gold.$l.tsv"
done
stage table  cs/table.vec : $start_reads : "embed -q --model $start --device cpu > cs/table.vec"
dicts= dict_reads=
for l in $LANGS; do
    [ $l != en ] || continue
    stage dict.$l  cs/$l-en.dict : cs/table.vec cs/$l.vocab cs/en.vocab : \
        "dict-induce -q $(specific $l cs) -k 1 --mutual --src cs/table.vec --tgt cs/table.vec
            -o cs/$l-en.dict"
    dicts+=" --dict $l-en=cs/$l-en.dict" dict_reads+=" cs/$l-en.dict"
done

# --- models ---------------------------------------------------------------------------------------
goes_on() {             # SEED SYSTEM
    local how reads= k=1
    case $2 in
        tcs) how="--objective mlm,tcs$dicts $CS_SWITCH" reads=$dict_reads;;
        scs) how="--objective mlm,scs --specific $CS_SPECIFIC $CS_SCS";;
        scs-[1-9]*)
            how="--objective mlm,scs --specific $CS_SPECIFIC $CS_SCS --scs-k ${2#scs-}";;
        more) how="--objective mlm" k=2;;
    esac
    train s$1.$2.pretrain  s$1/$2/pretrain/ : $shards $start_reads $reads : \
        "exec pretrain$trains$valids --init $start $how $CS_TRAINING
            --accumulate $((CS_ACCUMULATE * k)) --seed $1 --device $DEVICE $RESUME
            --out s$1/$2/pretrain"
}

# --- what the table knows: rows of results by language, "de-en Hit@1" -----------------------------
# table_of SEED NAME TITLE VECTORS COUNTS: s$SEED/NAME/table.rows
table_of() {
    local d=s$1/$2 l each= golds= row
    for l in $CS_TO_EN; do
        row="--row '$1,$3,$l-en'"
        each+=" && dict-induce -q $(specific $l $5) -k 1 --mutual --src $4 --tgt $4
            --eval cs/gold.$l.tsv --gold both -o $d/$l-en.dict $row --as 'hit@1=table Hit@1'
            --as 'hit@5=table Hit@5' --as exported --as precision &&
            rsim --src $4 --tgt $4 --dict $d/$l-en.dict --one-to-one $row --as 'rsim=table *'"
        golds+=" cs/gold.$l.tsv $5/$l.vocab"
    done
    stage s$1.$2.table  $d/table.rows : $4 $5/en.vocab $golds : \
        "mkdir -p $d && { true$each; } > $d/table.rows"
    results+=" $d/table.rows"
}
# --- by layer: states of the dictionary's tokens, each alone (Figures 3, 4, 7 and 10) -------------
layers_of() {           # SEED NAME TITLE MODEL MODEL-READS LAYERS
    local d=s$1/$2 k l vectors= pairs= each= tables= rows= dicts=
    for ((k = 0; k <= $6; k++)); do
        train s$1.$2.alone-$k  $d/alone.$k.safetensors : $5 : \
            "embed -q --model $4 --alone --layer $k --device $DEVICE -o $d/alone.$k.safetensors"
        vectors+=" $d/alone.$k.safetensors"
        pairs+=" --src $d/alone.$k.safetensors --tgt $d/alone.$k.safetensors"
    done
    for l in $CS_TO_EN; do
        each+=" && rsim$pairs --dict cs/$l-en.dict --one-to-one --row '$1,$3,$l-en' --as rsim
            --as cosine --as align-to=nearest --rows-to $d/rsim.$l.rows > $d/rsim.$l.tsv"
        tables+=" $d/rsim.$l.tsv" rows+=" $d/rsim.$l.rows" dicts+=" cs/$l-en.dict"
    done
    stage s$1.$2.layers  $tables $rows : $vectors $dicts : "true$each"
    results+=$rows
}

# --- words in the plane: tokens of five languages' dictionaries, their embeddings and their states
# at the top, each alone (Figure 2, whose languages are not named) ---------------------------------
setting CS_PLANE "en ar de ja ru"
setting CS_PLANE_PAIRS 400
plane=
for l in ${CS_PLANE#en }; do [[ " $CS_TO_EN " != *" $l "* ]] || plane+=" $l"; done
in_plane() {            # SEED NAME TITLE MODEL MODEL-READS
    local d=s$1/$2 l sets dicts what title from pick
    [ -n "$plane" ] || return 0
    dicts=$(printf 'cs/%s-en.dict ' $plane)
    train s$1.$2.top  $d/top.vec : $5 : \
        "embed -q --model $4 --alone --layer $layers --device $DEVICE > $d/top.vec"
    pick="awk -v MOST=$CS_PLANE_PAIRS -f $P/pick-vectors.awk -v COLUMN"
    for what in table top; do
        from=$d/$what.vec title="embeddings"; [ $what = table ] || title="states of layer $layers"
        sets="en=$d/$what.en.vec"
        for l in $plane; do sets+=" $l=$d/$what.$l.vec"; done
        stage s$1.$2.plane-$what  page/plane-$what-$1-$2.svg : $from $dicts $P/pick-vectors.awk : \
            "$pick=2 $dicts $from > $d/$what.en.vec && for l in$plane; do
                $pick=1 cs/\$l-en.dict $from > $d/$what.\$l.vec || exit; done &&
            plot tsne $sets --title \"$3, $title\" -o page/plane-$what-$1-$2.svg &&
            rm ${sets//[a-z][a-z]=/}"
    done
}

# --- tasks: which languages each has, and its files -----------------------------------------------
declare -A asked=(
    [xnli]="ar bg de el en es fr hi ru sw th tr ur vi zh" [pawsx]="de en es fr ja ko zh"
    [pos]="af ar bg de el en es et eu fa fi fr he hi hu id it ja kk ko mr nl pt ru ta te th tl tr
        ur vi yo zh"
    [ner]="af ar bg bn de el en es et eu fa fi fr he hi hu id it ja jv ka kk ko ml mr ms my nl pt ru
        sw ta te th tl tr ur vi yo zh"
    [mlqa]="ar de en es hi vi zh"
    [tatoeba]="af ar bg bn de el es et eu fa fi fr he hi hu id it ja jv ka kk ko ml mr nl pt ru sw
        ta te th tl tr ur vi zh")
declare -A kind=([xnli]=nli [pawsx]=pairs [pos]=tag [ner]=ner [mlqa]=qa)
declare -A metric=([xnli]=accuracy [pawsx]=accuracy [pos]=chunk-f1 [ner]=chunk-f1 [mlqa]=mlqa)
declare -A suffix=([xnli]=tsv [pawsx]=tsv [pos]=conllu [ner]=tsv [mlqa]=json)
# XTREME's code: words of UD as they are written, whatever their parts
declare -A words=([pos]=" --words fused")
# higher rates for LARGE, as XTREME's code has them
rate=2e-5; [ $layers -le 12 ] || rate=3e-5
among CS_TASKS xnli pawsx pos ner mlqa tatoeba
for t in $CS_TASKS; do
    # fewer languages are asked where fewer have been read
    some=
    for l in ${asked[$t]}; do [[ " ${LANGS//$'\n'/ } " != *" $l "* ]] || some+=" $l"; done
    asked[$t]=${some# }
done
part tatoeba-codes
for t in $CS_TASKS; do
    for l in ${asked[$t]}; do
        f=task/$t
        case $t in
        xnli)
            [ -n "${WRITER[/raw/xnli.test]+x}" ] || part xnli
            xnli test $l test
            published mnli.$l  $f/train.$l.tsv xnli/multinli.train.$l.tsv;;
        pawsx)
            for p in train test; do published pawsx.$p.$l  $f/$p.$l.tsv pawsx/$l.$p.tsv; done;;
        pos) published pos.test.$l  $f/test.$l.conllu udpos/$l.test.conllu;;
        ner) published ner.test.$l  $f/test.$l.tsv panx/$l.test.tsv "sed 's/^$l://'";;
        mlqa) published mlqa.test.$l  $f/test.$l.json mlqa/test.$l.json;;
        tatoeba) tatoeba_pair $l;;
        esac
    done
    case $t in
    xnli) xnli dev en dev;;
    pawsx) published pawsx.dev  $f/dev.en.tsv pawsx/en.dev.tsv;;
    pos) for p in train dev; do
            published pos.$p.en  $f/$p.en.conllu udpos/en.$p.conllu; done;;
    ner) for p in train dev; do
            published ner.$p.en  $f/$p.en.tsv panx/en.$p.tsv "sed 's/^en://'"; done;;
    mlqa) published squad.en  $f/train.en.json squad/train-v1.json
        published mlqa.dev.en  $f/dev.en.json mlqa/dev.en.json;;
    esac
done
# learnt SEED NAME TITLE MODEL MODEL-READS TASK ALL: fine-tuned on English, or (ALL=all) on all
# languages together; the English development set picks the model; then every test set, and rows
learnt() {
    local t=$6 e=${suffix[$6]} m=s$1/$2/$6${7:+-$7} l trains= reads= each= rows= outs= golds= f
    local tune=CS_${6^^}_TUNE from=en name=$6 as=*
    [ ${metric[$6]} != chunk-f1 ] || as=f1
    name=${name^^}; [ -z "$7" ] || { from=${asked[$t]} name+=" translate-train-all"; }
    for l in $from; do
        trains+=" --train $l=task/$t/train.$l.$e" reads+=" task/$t/train.$l.$e"
    done
    train ${m//\//.}  $m/ : $5 $reads task/$t/dev.en.$e : \
        "exec finetune --raw --task ${kind[$t]} --model $4$trains --valid en=task/$t/dev.en.$e
            ${!tune/RATE/$rate}${words[$t]-} --seed $1 --device $DEVICE $RESUME --out $m"
    for l in ${asked[$t]}; do
        f=task/$t/test.$l.$e
        each+=" && predict -q --raw --model $m -l $l${words[$t]-} --device $DEVICE < $f > $m-$l"
        outs+=" $m-$l" golds+=" $f"
        rows+=" && score -m ${metric[$t]}${words[$t]-} --resamples 0 --row '$1,$3,$l'
            --as '$as=$name *' $l=$f < $m-$l"
    done
    train ${m//\//.}.tests  $outs : $m $golds : "true$each"
    stage ${m//\//.}.rows  $m.rows : $outs $golds : "{ true$rows; } > $m.rows"
    results+=" $m.rows"
}
# found_pairs SEED NAME TITLE MODEL MODEL-READS: Tatoeba's translations of English sentences, by the
# means of the middle layer's states (XTREME's code: the 8th of 12), both directions
found_pairs() {
    local d=s$1/$2 l k each= reads= rows
    rows=$(printf "$d/tatoeba.%s.rows " ${asked[tatoeba]})
    for l in ${asked[tatoeba]}; do
        for k in en $l; do
            each+=" && embed -q --raw --model $4 --layer $((layers * 2 / 3)) --lang $k
                --of sentences --text raw/tatoeba.$l.$k --device $DEVICE
                -o $d/tatoeba.$k.safetensors"
            reads+=" raw/tatoeba.$l.$k"
        done
        each+=" && retrieve -q --src $d/tatoeba.en.safetensors --tgt $d/tatoeba.$l.safetensors
            --row '$1,$3,en-$l' --as '*=Tatoeba' > $d/tatoeba.$l.rows &&
            rm $d/tatoeba.{en,$l}.safetensors"
    done
    train s$1.$2.tatoeba  $rows : $5 $reads : "mkdir -p $d && true$each"
    results+=" $rows"
}
measured() {            # SEED NAME TITLE MODEL MODEL-READS
    local t
    train s$1.$2.vectors  s$1/$2/table.vec : $5 : \
        "embed -q --model $4 --device cpu > s$1/$2/table.vec"
    table_of $1 $2 "$3" s$1/$2/table.vec cs
    layers_of $1 $2 "$3" $4 "$5" $layers
    [ $1 != ${SEEDS%% *} ] || in_plane $1 $2 "$3" $4 "$5"
    for t in $CS_TASKS; do
        if [ $t = tatoeba ]; then found_pairs $1 $2 "$3" $4 "$5"; continue; fi
        learnt $1 $2 "$3" $4 "$5" $t ""
        [[ " $CS_ALL " != *" $t "* ]] || learnt $1 $2 "$3" $4 "$5" $t all
    done
}

# --- everything -----------------------------------------------------------------------------------
results=
size=BASE; [ $layers -le 12 ] || size=LARGE
FOLDER+=-${size,,}
declare -A title=([tcs]="+ TCS-MLM" [scs]="+ SCS-MLM" [more]="+ MLM")
for y in $CS_SYSTEMS; do
    case $y in scs-[1-9]*) title[$y]="+ SCS-MLM k=${y#scs-}";; esac
done
for s in $SEEDS; do
    measured $s xlm-r "XLM-R $size" $start "$start_reads"
    for y in $CS_SYSTEMS; do
        goes_on $s $y
        measured $s $y "XLM-R $size ${title[$y]}" s$s/$y/pretrain s$s/$y/pretrain
        compare "XLM-R $size ${title[$y]}" "XLM-R $size"
    done
done
for x in $CS_BESIDE; do
    named_folder CS_BESIDE "$x"
    stage beside.$name  beside/$name/ : $(listed "$file/") : \
        "ckpt import --head none $(printf -- '--lang-code %s ' $LANGS)-o beside/$name
            $(quoted "$file")"
    for s in $SEEDS; do measured $s $name $name beside/$name beside/$name; done
done
for x in $CS_TABLES; do
    named_folder CS_TABLES "$x"
    pieces=$(quoted "$file"); pieces=${pieces%\'}
    for f in spiece.model sentencepiece.bpe.model; do
        [ ! -f "$file/$f" ] || { pieces+=/$f\'; break; }
    done
    stage beside.$name  beside/$name.vec : $(listed "$file/") : \
        "ckpt import --embeddings-only -o beside/$name.vec $(quoted "$file")"
    for l in en $CS_TO_EN; do
        stage counts.$name.$l  beside/$name.counts/$l.vocab : raw/$l $(listed "$file/") : \
            "tokenize -q --subwords $pieces < raw/$l | vocab-count > beside/$name.counts/$l.vocab"
    done
    table_of ${SEEDS%% *} $name $name beside/$name.vec beside/$name.counts
done
# Table 7's shape
quick size  size : $start_reads : "ckpt info $start > size"
results $results
paper B 1 2 3 4 9 10 11 12 13 14
