# A model of anyone's own text in any number of languages, with what it learnt of how they line up:
#   make pipeline/own TEXT="en=news/*.gz de=web/ fr=f.zst" \
#       [PARALLEL="en-de=F,G"] [GOLD="en-de=dict.tsv"]
# TEXT: files, globs and folders of raw text, one sentence per line. PARALLEL: sentence pairs, for
# retrieval; GOLD: dictionaries (source, target), for measuring. Nothing of them is learnt from.
FOLDER=own
setting VALID_LINES 500
setting TEST_LINES 500
setting LONGEST 250
[ -n "${TEXT-}" ] || refuse TEXT 'not given; say for example TEXT="en=news/*.gz de=web/ fr=f.zst"'

# --- what is given, looked at before anything runs ------------------------------------------------
part given
declare -A texts read_texts gold parallel
named=
items TEXT "$TEXT"
for item in "${items[@]}"; do
    given TEXT "$item"
    [ -z "${texts[$key]+x}" ] || refuse TEXT \
        "language $key is named twice; a glob or a folder takes many files"
    named+=" $key"
    all_files TEXT "$item"
    was=$bad; looked_at TEXT "$key" "${files[@]}"
    [ "$bad" != "$was" ] || language_seen TEXT "$key" 100 "${files[@]}"
    texts[$key]= read_texts[$key]= size=0
    for f in "${files[@]}"; do
        size=$((size + $(size_of "$f")))
        texts[$key]+=" $(listed "$f")" read_texts[$key]+=" $(quoted "$f")"
    done
    [ -n "${smallest-}" ] && [ "$smallest" -lt $size ] || smallest=$size
done
languages $named
! declare -F sized > /dev/null || sized $((smallest / 1000000))
setting RE_ESTIMATE yes

# each language with the first; where there are three, these two as well
pairs=
for l in ${LANGS#* }; do pairs+=" $A-$l"; done
set -- $LANGS
[ $# != 3 ] || pairs+=" $2-$3"
pair_given() {  # WHAT ITEM: $key is a pair of languages, which is looked at, too
    given "$1" "$2"
    case " $LANGS " in *" ${key%-*} "*) ;; *) refuse "$1" "language ${key%-*} has no TEXT";; esac
    case " $LANGS " in *" ${key#*-} "*) ;; *) refuse "$1" "language ${key#*-} has no TEXT";; esac
    [ "${key%-*}" != "${key#*-}" ] || refuse "$1" "$key is no pair of languages"
    case " $pairs " in *" ${key#*-}-${key%-*} "*) refuse "$1" "$key: say ${key#*-}-${key%-*}";;
        *" $key "*) ;; *) pairs+=" $key";; esac
}
items PARALLEL "${PARALLEL-}"
for item in "${items[@]}"; do
    pair_given PARALLEL "$item"
    was=$bad; two_files PARALLEL "$item"
    looked_at PARALLEL "${key%-*}" "$f"; looked_at PARALLEL "${key#*-}" "$g"
    [ "$bad" = "$was" ] || continue
    pairs_seen PARALLEL "${key%-*}" "${key#*-}" "$f" "$g"
    absolute "$f"; parallel[$key.${key%-*}]=$file
    absolute "$g"; parallel[$key.${key#*-}]=$file
done
items GOLD "${GOLD-}"
for item in "${items[@]}"; do
    pair_given GOLD "$item"
    was=$bad; looked_at GOLD "" "$value"
    [ "$bad" = "$was" ] || continue
    n=$("$own/plain" "$value" | awk 'NF == 1 && !n { n = NR } END { print n }')
    [ -z "$n" ] || bad+="make: GOLD: $value: line $n has only one word; a dictionary has source and\
 target"$'\n'
    "$own/plain" "$value" | awk 'NF > 4 { n++ } END { exit n > NR / 2 }' ||
        bad+="make: GOLD: $value: most lines have more than four words; a dictionary has a word and\
 its translation on a line"$'\n'
    absolute "$value"; gold[$key]=$file
done
none_bad

# --- text, counts, a dictionary of each pair, models ----------------------------------------------
counted=
for l in $LANGS; do
    stage raw.$l  raw/train.$l raw/valid.$l raw/test.$l raw/$l.counts : \
        $P/split-text $P/{as-lines,plain} $P/unescape.awk${texts[$l]} : \
        "$P/split-text $unescape$l $VALID_LINES $TEST_LINES $LONGEST${read_texts[$l]}"
    counted+=" raw/$l.counts"
done
quick page.text  page/1-text.tsv : $counted : \
    "{ echo '# Lines that were read, left out and kept; some $web' &&
       printf 'language\tread\tentities\ttags\tempty\ttoo long\trepeated\ttrain\tvalid\ttest\n' &&
       cat$counted; } > page/1-text.tsv"
part text
part counts
INIT=
part models

for d in $pairs; do
    x=${d%-*} y=${d#*-} kept= read_kept=
    [ -z "$RE_ESTIMATE" ] || for side in left right; do
        kept+=" words/$x.$side.cooc words/$y.$side.cooc"
        read_kept+=" --src-cooc words/$x.$side.cooc --tgt-cooc words/$y.$side.cooc"
    done
    stage dict.$d  words/$d.dict words/$d.back : words/{$x,$y}.{vec,vocab}$kept : \
        "dict-induce $DICT -k 5 --src words/$x.vec --tgt words/$y.vec
            --src-counts words/$x.vocab --tgt-counts words/$y.vocab$read_kept
            -o words/$d.dict --reverse words/$d.back"
    stage best.$d  dictionary.$d.tsv words/$d.best words/$d.neighbours : \
        words/$d.dict words/$d.back words/{$x,$y}.vocab $P/best-pairs.awk $P/unescape.awk : \
        "awk -v NEIGHBOURS=words/$d.neighbours -f $P/best-pairs.awk words/$x.vocab words/$y.vocab
            words/$d.back words/$d.dict | sort -t \"\$(printf '\t')\" -k 3,3gr -k 1,1
            > words/$d.best &&
            { printf '$x\t$y\tscore\tcount $x\tcount $y\tspelt\n' && cat words/$d.best; } |
            LC_ALL=C awk -v COUNTS=/dev/null -v MEND=1 -f $P/unescape.awk > dictionary.$d.tsv"
    quick page.dict.$d  page/2-dictionary.$d.tsv page/3-neighbours.$d.tsv : \
        dictionary.$d.tsv words/$d.neighbours $P/best-page.awk $P/unescape.awk : \
        "awk -v PAIR=$d -f $P/best-page.awk dictionary.$d.tsv > page/2-dictionary.$d.tsv &&
            LC_ALL=C awk -v COUNTS=/dev/null -v MEND=1 -f $P/unescape.awk words/$d.neighbours
                > page/3-neighbours.$d.tsv"
    # what is measured with: the dictionary that was given, else this one
    if [ -n "${gold[$d]-}" ]; then
        quick pairs.$d  words/$d.pairs : $(listed "${gold[$d]}") $P/plain : \
            "$P/plain $(quoted "${gold[$d]}") | awk 'NF { print \$1 \"\\t\" \$2 }' | sed 's/.*/\L&/'
                > words/$d.pairs"
    else
        quick pairs.$d  words/$d.pairs : words/$d.best : "cut -f 1,2 words/$d.best > words/$d.pairs"
    fi
    quick apart.$d  words/$d.apart : words/$d.pairs : \
        "awk '\$1 \"\" != \$2' words/$d.pairs > words/$d.apart"      # 10. is not spelt like 10
    [ -z "${parallel[$d.$x]-}" ] || for l in $x $y; do
        f=${parallel[$d.$l]}
        stage pairs.$d.$l  bpe/$d.$l : $(listed "$f") codes : \
            "tokenize -l $l $TOKENIZE $(quoted "$f") | bpe-apply -c codes > bpe/$d.$l"
    done
done
for l in $LANGS; do
    quick lines.$l  words/lines.$l : bpe/train.$l : "awk 'NR <= 3000' bpe/train.$l > words/lines.$l"
done

# --- every model: layer by layer, how alike words and sentences of two languages are --------------
layers=$(sed -n 's/.*--layers \([0-9]*\).*/\1/p' <<< "$MODEL")
embedded() {    # SEED SYSTEM NAME TEXT LANG OPTIONS: vectors of every layer
    local k
    for ((k = 0; k <= layers; k++)); do
        train s$1.$2.$3-$k.$5  s$1/$2/layers/$3.$k.$5.safetensors : s$1/$2/pretrain $4 \
            words/$5.vocab : \
            "embed --model s$1/$2/pretrain --layer $k --lang $5 --text $4 $6 --device $DEVICE
                -o s$1/$2/layers/$3.$k.$5.safetensors"
    done
}
by_layer() {    # FOLDER NAME PAIR: $files, and $options, --src and --tgt of every layer
    local k f; files= options=
    for ((k = 0; k <= layers; k++)); do
        f=$1/layers/$2.$k
        files+=" $f.${3%-*}.safetensors $f.${3#*-}.safetensors"
        options+=" --src $f.${3%-*}.safetensors --tgt $f.${3#*-}.safetensors"
    done
}
rows=
for s in $SEEDS; do
    for y in $SYSTEMS; do
        m=s$s/$y t=${title[$y]}
        model $s $y
        for l in $LANGS; do
            embedded $s $y words words/lines.$l $l "--of words --words words/$l.vocab"
        done
        for d in $pairs; do
            by_layer $m words $d
            # of fewer pairs than 30 that are spelt differently nothing is said
            r=$m/layers/rsim.$d n=$m/layers/apart.$d
            stage s$s.$y.rsim.$d  $r.tsv $r.rows : $files words/$d.pairs : \
                "rsim$options --dict words/$d.pairs --row '$s,$t,$d' --as rsim --as cosine
                    --rows-to $r.rows > $r.tsv"
            stage s$s.$y.apart.$d  $n.tsv $n.rows : $files words/$d.apart : \
                "rsim$options --dict words/$d.apart --fewest 30 --row '$s,$t,$d'
                    --as 'rsim=RSIM, spelt differently' --rows-to $n.rows > $n.tsv"
            quick s$s.$y.similar.$d  $m/layers/similar.$d.rows : $r.rows $n.rows : \
                "{ sed /cosine/d $r.rows && cat $n.rows && sed -n /cosine/p $r.rows; }
                    > $m/layers/similar.$d.rows"
            rows+=" $m/layers/similar.$d.rows"
            [ -n "${parallel[$d.${d%-*}]-}" ] || continue
            for l in ${d%-*} ${d#*-}; do
                embedded $s $y $d bpe/$d.$l $l "--of sentences"
            done
            by_layer $m $d $d
            stage s$s.$y.retrieve.$d  $m/layers/retrieve.$d.tsv $m/layers/retrieve.$d.rows : \
                $files : \
                "retrieve --score ratio$options --row '$s,$t,$d'
                    --rows-to $m/layers/retrieve.$d.rows > $m/layers/retrieve.$d.tsv"
            rows+=" $m/layers/retrieve.$d.rows"
        done
    done
done
for d in $pairs; do
    drawn= files=
    for s in $SEEDS; do
        for y in $SYSTEMS; do
            for k in rsim apart; do
                of=; [ $k = rsim ] || of=", spelt differently"
                files+=" s$s/$y/layers/$k.$d.tsv"
                drawn+=" s$s/$y/layers/$k.$d.tsv --label '${title[$y]}$of'"
            done
        done
    done
    layered page.rsim.$d  page/rsim.$d.svg : $files : \
        "plot rsim$drawn --title \"Translations by layer, $d\""
    # frequent pairs in the plane: those spelt differently come first
    x=${d%-*} y=${d#*-}
    quick plane.$d  words/$d.plane : words/$d.best : \
        "sort -t \"\$(printf '\t')\" -k 6,6 -k 4,4nr words/$d.best | cut -f 1,2 | awk 'NR <= 60'
            > words/$d.plane"
    set -- $SYSTEMS; m=s${SEEDS%% *}/$1
    layered page.plane.$d  page/plane.$d.svg : $m/$x.vec $m/$y.vec words/$d.plane : \
        "plot tsne $x=$m/$x.vec $y=$m/$y.vec --dict words/$d.plane --names 12
            --perplexity 8 --title \"Frequent words of the dictionary, $d\""
done
results $rows
