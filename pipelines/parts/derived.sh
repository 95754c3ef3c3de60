# ALIGN-MLM's experiment (Tang et al. 2022): a language A and its disguise B, made by derive-lang;
# one model for each objective and transformation; tasks trained on A and on B, both tested on B.
#   SUP   trained on B     ZS   trained on A     Delta = SUP - ZS     EN   trained, tested on A
# Expects raw/{train,valid}.A, words with spaces between, and raw/TASK.{train,dev,test} of each of
# TASKS: pos and ner as word<TAB>tag, nli as label<TAB>premise<TAB>hypothesis (raw); for trans-syn
# raw/{train,valid}.conllu, raw/pos.{train,dev,test}.conllu and raw/order.
# Values: parts/derived-values.sh.
among TRANSFORMS trans trans-inv trans-syn
among TASKS pos ner nli
among SYSTEMS mlm xlm xlm-N dict dict-N dict-freq align align-N align-freq align-aN
declare -A disguise=([trans]="--trans" [trans-inv]="--inv --trans" [trans-syn]="--trans")

# --- text, cut before it is disguised: pieces of the copy are copies of the pieces ----------------
quick tokenizer  tokenizer : : "tokenize --no-tokenize --settings > tokenizer"
stage bpe-learn  codes : raw/train.$A : "bpe-learn -n $MERGES raw/train.$A > codes"
for p in train valid; do
    stage bpe.$p  bpe/$p.$A : raw/$p.$A codes : "bpe-apply -c codes < raw/$p.$A > bpe/$p.$A"
done
quick vocab.$A  vocab/$A : bpe/train.$A : "vocab-count bpe/train.$A > vocab/$A"
quick vocab.all  vocab/all : vocab/$A : \
    "derive-lang --trans --vocab --overlap $OVERLAP --seed $SPLIT_SEED vocab/$A > vocab/all"
# the copies alone: what stands behind A's own in vocab/all; shared types are of both
quick vocab.$B  vocab/$B : vocab/$A vocab/all : \
    "awk 'NR == FNR { n++; next } FNR > n' vocab/$A vocab/all > vocab/$B"
quick gold  gold.tsv : vocab/$A : "derive-lang --dict-share 1 --vocab vocab/$A > gold.tsv"
share=" --overlap $OVERLAP --types vocab/$A --seed $SPLIT_SEED"
[ "$OVERLAP" != 0 ] || share=

# what makes the words of trees lower-case where the text is
syn_lower=${syn_lower-} syn_lower_words=${syn_lower_words-}
# text of a transformation: bpe/PART.A-T and bpe/PART.T; the same lines, of trees for trans-syn
side() { [ $1 = trans-syn ] && echo "$A-syn" || echo $A; }
for p in train valid; do
    case " $TRANSFORMS " in *" trans-syn "*)
        stage bpe.$p.$A-syn  bpe/$p.$A-syn : raw/$p.conllu codes $P/conllu-words : \
            "awk -v WORDS=1 -f $P/conllu-words raw/$p.conllu$syn_lower | bpe-apply -c codes
                > bpe/$p.$A-syn"
        stage bpe.$p.trans-syn  bpe/$p.trans-syn : raw/$p.conllu raw/order codes vocab/$A : \
            "derive-lang --syn raw/order --format conllu raw/$p.conllu | sed 's/.*/\\L&/' |
                bpe-apply -c codes | derive-lang --trans$share > bpe/$p.trans-syn";;
    esac
    for t in $TRANSFORMS; do
        [ $t = trans-syn ] || stage bpe.$p.$t  bpe/$p.$t : bpe/$p.$A vocab/$A : \
            "derive-lang ${disguise[$t]/--inv/--inv --split}$share bpe/$p.$A > bpe/$p.$t"
        stage shard.$p.$t  shd/$p.$t.shd : vocab/all bpe/$p.$t : \
            "binarize -v vocab/all -l $B < bpe/$p.$t > shd/$p.$t.shd"
        from=$(side $t)
        [ -n "${WRITER[/shd/$p.$from.shd]+x}" ] ||
            stage shard.$p.$from  shd/$p.$from.shd : vocab/all bpe/$p.$from : \
                "binarize -v vocab/all -l $A < bpe/$p.$from > shd/$p.$from.shd"
    done
done

# --- tasks: words as their pieces, labels beside them ---------------------------------------------
declare -A form=([pos]=conll [ner]=conll)
cut_tags="| bpe-apply -c codes | paste -"
glue="awk -F'\\t' '{ print (\$2 == \"\" ? \"\" : \$1 \"\\t\" \$3) }'"
tagged() {      # NAME FILE OUT: word<TAB>tag with the word as its pieces
    stage $1  $3 : $2 codes : "cut -f 1 $2 $cut_tags $2 | $glue > $3"
}
for k in $TASKS; do
    for p in train dev test; do
        f=task/$k.$p
        if [ $k = nli ]; then
            stage $k.$p.$A  $f.$A : raw/$k.$p codes : \
                "paste <(cut -f 2 raw/$k.$p | bpe-apply -c codes)
                    <(cut -f 3 raw/$k.$p | bpe-apply -c codes) <(cut -f 1 raw/$k.$p) > $f.$A"
        else tagged $k.$p.$A raw/$k.$p $f.$A; fi
        for t in $TRANSFORMS; do
            if [ $t != trans-syn ] && [ $k = nli ]; then
                # derive-lang has the label first, finetune last
                quick $k.$p.$t  $f.$t : $f.$A vocab/$A : \
                    "awk -F'\\t' -v OFS='\\t' '{ print \$3, \$1, \$2 }' $f.$A |
                        derive-lang --format nli ${disguise[$t]}$share |
                        awk -F'\\t' -v OFS='\\t' '{ print \$2, \$3, \$1 }' > $f.$t"
            elif [ $t != trans-syn ]; then
                quick $k.$p.$t  $f.$t : $f.$A vocab/$A : \
                    "derive-lang --format ${form[$k]} ${disguise[$t]}$share $f.$A > $f.$t"
            elif [ $k = pos ]; then
                stage $k.$p.syn  $f.syn : raw/$k.$p.conllu raw/order $P/conllu-words : \
                    "derive-lang --syn raw/order --format conllu --conllu-out raw/$k.$p.conllu |
                        awk -f $P/conllu-words$syn_lower_words > $f.syn"
                tagged $k.$p.syn-bpe $f.syn $f.syn-bpe
                quick $k.$p.$t  $f.$t : $f.syn-bpe vocab/$A : \
                    "derive-lang --format conll --trans$share $f.syn-bpe > $f.$t"
            elif [ -n "${WRITER[/raw/$k.$p.conllu]-}" ] && [ $k = ner ]; then
                stage $k.$p.syn  $f.syn : raw/$k.$p.conllu raw/order $P/tree-tags.awk : \
                    "derive-lang --syn raw/order --format conllu --conllu-out raw/$k.$p.conllu |
                        awk -v OUT=1 -f $P/tree-tags.awk$syn_lower_words > $f.syn"
                tagged $k.$p.syn-bpe $f.syn $f.syn-bpe
                quick $k.$p.$t  $f.$t : $f.syn-bpe vocab/$A : \
                    "derive-lang --format conll --trans$share $f.syn-bpe > $f.$t"
            elif [ -n "${WRITER[/raw/$k.$p.conllu]-}" ]; then
                # both sentences of a pair, then its label
                stage $k.$p.$t  $f.$t : raw/$k.$p.conllu raw/$k.$p raw/order codes vocab/$A : \
                    "derive-lang --syn raw/order --format conllu raw/$k.$p.conllu$syn_lower |
                        bpe-apply -c codes | derive-lang --trans$share |
                        paste - - <(cut -f 1 raw/$k.$p) > $f.$t"
            fi
        done
    done
done

# --- objectives -----------------------------------------------------------------------------------
# A word of SYSTEMS may name a variant: dict-50 and align-50 have a dictionary of 50% of the types,
# align-freq one of the most frequent types, xlm-1 1% of the sentence pairs, align-a1 weight 1.
described() {   # SYSTEM: sets $about, $options, $reads, $langs
    local y=$1 s=$2 t=$3 q by=random
    local -A names=([mlm]=MLM [xlm]=XLM [dict]=DICT [align]=ALIGN)
    about=${names[${y%%-*}]} reads= langs=--no-encoder-langs q=$DICT_SHARE
    case $y in *-freq) by=frequency about+=" freq";; *-a*) about+=" alpha ${y#*-a}";;
        dict-*|align-*) q=$(awk -v q=${y#*-} 'BEGIN { print q / 100 }') about+=" ${y#*-}%";;
        xlm-*) about+=" ${y#*-}%";; esac
    case $y in dict*|align*)
        reads=s$s/dict-$q-$by.tsv
        [ -n "${WRITER[/$reads]+x}" ] || quick s$s.dict-$q-$by  $reads : vocab/$A vocab/all : \
            "derive-lang --dict-share $q --dict-by $by --seed $s --vocab vocab/$A > $reads.all &&
                awk 'NR == FNR { of[\$1]; next } \$2 in of' vocab/all $reads.all > $reads &&
                rm $reads.all";;
    esac
    case $y in
        mlm) options="--objective mlm";;
        xlm*) q=$PARALLEL_SHARE langs=--encoder-langs reads="bpe/train.$(side $t) bpe/train.$t"
            [ $y = xlm ] || q=$(awk -v q=${y#*-} 'BEGIN { print q / 100 }')
            options="--objective mlm,tlm --mix by-data --parallel-fraction $q $XLM
                --parallel $A-$B=${reads/ /,}";;
        dict*) options="--objective dict --dict $A-$B=$reads" langs=--encoder-langs;;
        align*) options="--objective mlm,align --dict $A-$B=$reads"
            case $y in *-a[0-9]*) options+=" --align-alpha ${y#*-a}";; esac;;
    esac
}

# --- a model, its alignment, its tasks ------------------------------------------------------------
rows= has=
experiment() {  # SEED SYSTEM TRANSFORMATION
    local s=$1 y=$2 t=$3 k l from about options reads langs add= as m=s$1/$2.$3
    from=$(side $t)
    described $y $s $t
    train s$s.$y.$t.pretrain  $m/pretrain/ : vocab/all tokenizer $reads \
        shd/{train,valid}.$from.shd shd/{train,valid}.$t.shd : \
        "exec pretrain -v vocab/all --tokenizer tokenizer $options $langs $DERIVED_MODEL
            $DERIVED_PRETRAIN --train $A=shd/train.$from.shd --train $B=shd/train.$t.shd
            --valid $A=shd/valid.$from.shd --valid $B=shd/valid.$t.shd --seed $s
            --device $DEVICE $RESUME --out $m/pretrain"
    for l in $A $B; do
        [ $langs = --no-encoder-langs ] || add="--add-language $l"
        stage s$s.$y.$t.vectors.$l  $m/$l.vec : $m/pretrain vocab/$l : \
            "embed --model $m/pretrain/last --words vocab/$l $add --device cpu > $m/$l.vec"
    done
    local row="--row '$s,$about $t,-'" scored=$m/alignment.rows
    stage s$s.$y.$t.alignment  $m/alignment $scored : $m/$A.vec $m/$B.vec gold.tsv : \
        "dict-induce --map none --normalize unit --method nn --gold both
            --src $m/$A.vec --tgt $m/$B.vec --eval gold.tsv $row --as hit@1%=alignment
            --as 'random-hit@1%=random alignment' --rows-to $scored > $m/alignment"
    for k in $TASKS; do
        [ -n "${WRITER[/task/$k.test.$t]+x}" ] || continue
        local how=$TAG metrics="tag-accuracy chunk-f1" task=tag
        [ $k != ner ] || metrics=chunk-f1
        [ $k != nli ] || how=$NLI metrics=accuracy task=nli
        for l in $A $B; do
            local of=$t; [ $l = $B ] || of=$A
            train s$s.$y.$t.$k.$l  $m/$k.$l/ : $m/pretrain task/$k.train.$of task/$k.dev.$of : \
                "exec finetune --task $task --model $m/pretrain/last --train $l=task/$k.train.$of
                    --valid $l=task/$k.dev.$of $how --seed $s --device $DEVICE $RESUME
                    --out $m/$k.$l"
        done
        tested() {      # NAME TRAINED LANGUAGE TEXT
            stage s$s.$y.$t.$k.$1  $m/$k.$1.out : $m/$k.$2 task/$k.test.$4 : \
                "predict --model $m/$k.$2/last -l $3 --device cpu task/$k.test.$4 > $m/$k.$1.out"
        }
        tested EN $A $A $A; tested ZS $A $B $t; tested SUP $B $B $t
        # POS has F1 of chunks of equal tags, as the paper, and accuracy
        local c n each= f=task/$k.test
        for c in $metrics; do
            n=f1 as=${k^^}
            [ $c = chunk-f1 ] || n=accuracy
            [ $c != tag-accuracy ] || as="tag accuracy"
            each+=" && score --metric $c --resamples 0 $row --as '$n=$as EN' $f.$A < $m/$k.EN.out
                && score --metric $c --resamples 0 --trials 0 $row --as '$n=$as SUP'
                    --as 'against-$n=$as ZS' --as 'difference-$n=$as Delta' $f.$t
                    --pred $m/$k.SUP.out --against $m/$k.ZS.out"
        done
        stage s$s.$y.$t.$k.rows  $m/$k.rows : $m/$k.{EN,ZS,SUP}.out $f.$A $f.$t : \
            "{ ${each# && }; } > $m/$k.rows"
        scored+=" $m/$k.rows"
    done
    quick s$s.$y.$t.rows  $m/rows : $scored : "cat $scored > $m/rows"
    rows+=" $m/rows" has+="|$about $t|"
}
for s in $SEEDS; do
    for t in $TRANSFORMS; do
        for y in $(systems_of $t); do experiment $s $y $t; done
    done
done
results $rows

# --- the page: what was claimed, the paper's numbers beside ours, alignment against Delta, Figure 2
pairs=
for t in $TRANSFORMS; do
    for w in MLM DICT XLM; do
        case $has in *"|ALIGN $t|"*)
            case $has in *"|$w $t|"*) pairs+=" --pair 'ALIGN $t=$w $t'";; esac;;
        esac
    done
done
quick compared  compared.tsv : results.tsv : \
    "score --compare --tsv$pairs results.tsv > compared.tsv"
stage page.claims  page/1-claims.tsv page/2-paper.tsv page/3-rank.tsv page/bars-1 page/bars-2 : \
    results.tsv compared.tsv $P/derived-page $P/reference/paper/align-mlm.tsv : \
    "mkdir -p page/bars.new && awk -v SHARE=$DICT_SHARE -v OUT=page/bars.new -f $P/derived-page
        compared.tsv $P/reference/paper/align-mlm.tsv results.tsv &&
        { echo '# Spearman of alignment and Delta (the paper: -0.727, -0.781, -0.734)' &&
          printf 'task\\tspearman\\tp\\tsystems\\n' &&
          for k in POS NER NLI; do
              [ ! -f page/bars.new/rank.\$k.x ] || score --metric spearman --digits 3
                  --resamples 0
                  page/bars.new/rank.\$k.x < page/bars.new/rank.\$k.y | awk -v K=\$k -F'\\t'
                  'NR > 1 { v[\$2] = \$3; n = \$NF }
                   END { print K \"\\t\" v[\"spearman\"] \"\\t\" v[\"p\"] \"\\t\" n }'; done; }
            > page/3-rank.tsv &&
        mv page/bars.new/1-claims.tsv page/bars.new/2-paper.tsv page/ &&
        mv page/bars.new/bars-1.tsv page/bars-1 &&
        mv page/bars.new/bars-2.tsv page/bars-2 && rm -r page/bars.new"
stage page.figure1 page/figure-1.svg : page/bars-1 : \
    "plot bars page/bars-1 --title 'Delta: what transfer loses (lower is better)'
        -o page/figure-1.svg"
stage page.figure  page/figure-2.svg : page/bars-2 : \
    "plot bars page/bars-2 --title 'Delta by objective and transformation, and alignment (per cent)'
        -o page/figure-2.svg"
