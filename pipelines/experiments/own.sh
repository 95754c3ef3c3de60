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
# items WHAT VALUE: its NAME=VALUE into $items, one by one; a value may have spaces
items() {
    mapfile -t items < <(
        sed -zE 's/^\s+|\s+$//g; s/\s+([[:alnum:]_-]+=)/\n\1/g' <<< "$2" | tr -d '\0')
}
# given WHAT ITEM: $key and $value of KEY=VALUE
given() {
    case $2 in ?*=?*) ;; *) refuse "$1" "'$2' is not NAME=FILE";; esac
    key=${2%%=*} value=${2#*=}
}
# absolute PATH: $file, which no program can take for an option, and which is found from anywhere
absolute() { file=$(realpath -smz -- "$1" | tr '\0' x) file=${file%x}; }
# looked_at WHAT LANG FILE...: what is wrong with files is said of all of them together, below
bad=
looked_at() {
    local what=$1 l=$2 said; shift 2
    said=$(LANGUAGE_OF_TEXT=$l "$own/look-at-text" "$@") || bad+=$(sed "s/^/make: $what: /" \
        <<< "$said")$'\n'
}
declare -A texts read_texts gold parallel
named=
items TEXT "$TEXT"
for item in "${items[@]}"; do
    given TEXT "$item"
    [ -z "${texts[$key]+x}" ] || refuse TEXT \
        "language $key is named twice; a glob or a folder takes many files"
    named+=" $key"
    case $value in /*) ;; *) value=./$value;; esac
    set +f; shopt -s nullglob; IFS=
    files=($value)
    unset IFS; shopt -u nullglob; set -f
    [ ${#files[@]} -gt 0 ] && [ -e "${files[0]}" ] || refuse TEXT "$item matches no file"
    mapfile -d '' -t files < <(find -L "${files[@]}" -type f ! -name '.*' -print0 | sort -z)
    [ ${#files[@]} -gt 0 ] || refuse TEXT "$item: no file is in it"
    mapfile -d '' -t files < <(realpath -sz -- "${files[@]}")
    looked_at TEXT "$key" "${files[@]}"
    texts[$key]= read_texts[$key]=
    for f in "${files[@]}"; do
        texts[$key]+=" $(listed "$f")" read_texts[$key]+=" $(quoted "$f")"
    done
done
languages $named

pairs=
for l in ${LANGS#* }; do pairs+=" $A-$l"; done
pair_given() {  # WHAT ITEM: $key is a pair of languages, which is looked at, too
    given "$1" "$2"
    case " $LANGS " in *" ${key%-*} "*) ;; *) refuse "$1" "language ${key%-*} has no TEXT";; esac
    case " $LANGS " in *" ${key#*-} "*) ;; *) refuse "$1" "language ${key#*-} has no TEXT";; esac
    [ "${key%-*}" != "${key#*-}" ] || refuse "$1" "$key is no pair of languages"
    case " $pairs " in *" ${key#*-}-${key%-*} "*) refuse "$1" "$key: say ${key#*-}-${key%-*}";;
        *" $key "*) ;; *) pairs+=" $key";; esac
}
lines() { "$own/plain" "$1" | awk 'END { print NR }'; }      # the last without newline, too
items PARALLEL "${PARALLEL-}"
for item in "${items[@]}"; do
    pair_given PARALLEL "$item"
    case $value in *,*) ;; *) refuse PARALLEL "'$item' is not A-B=FILE,FILE";; esac
    f=${value%,*} g=${value#*,} was=$bad
    looked_at PARALLEL "${key%-*}" "$f"; looked_at PARALLEL "${key#*-}" "$g"
    [ "$bad" = "$was" ] || continue
    n=$(lines "$f") m=$(lines "$g")
    [ "$n" = "$m" ] ||
        bad+="make: PARALLEL: $f has $n lines and $g $m: they are not aligned"$'\n'
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
    absolute "$value"; gold[$key]=$file
done
[ -z "$bad" ] || { printf %s "$bad" >&2; exit 2; }

# what web pages leave in text is counted, and with UNESCAPE=1 made text of
setting UNESCAPE ""
case $UNESCAPE in
'') unescape= web="have entities (&amp;) or tags (<p>): UNESCAPE=1 makes text of them";;
1) unescape="--unescape " web="had entities (&amp;) or tags (<p>), of which UNESCAPE=1 made text";;
*) refuse "UNESCAPE=$UNESCAPE" "1, or not given";;
esac

# --- text, counts, a dictionary of each pair, models ----------------------------------------------
counted=
for l in $LANGS; do
    stage raw.$l  raw/train.$l raw/valid.$l raw/test.$l raw/$l.counts : \
        $P/split-text $P/plain $P/unescape.awk${texts[$l]} : \
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
    x=${d%-*} y=${d#*-}
    stage dict.$d  words/$d.dict : words/{$x,$y}.{vec,vocab,left.cooc,right.cooc} : \
        "dict-induce $DICT --src words/$x.vec --tgt words/$y.vec
            --src-counts words/$x.vocab --tgt-counts words/$y.vocab
            --src-cooc words/$x.left.cooc --src-cooc words/$x.right.cooc
            --tgt-cooc words/$y.left.cooc --tgt-cooc words/$y.right.cooc -o words/$d.dict"
    quick page.dict.$d  page/2-dictionary.$d.tsv : words/$d.dict : \
        "{ echo '# The most certain entries of a dictionary found in the texts alone, $d' &&
           printf 'source\ttarget\tCSLS\n' && sort -k 3,3gr words/$d.dict | awk 'NR <= 15'; }
            > page/2-dictionary.$d.tsv"
    # what is measured with: the dictionary that was given, else this one
    if [ -n "${gold[$d]-}" ]; then
        quick pairs.$d  words/$d.pairs : $(listed "${gold[$d]}") $P/plain : \
            "$P/plain $(quoted "${gold[$d]}") | awk 'NF { print \$1 \"\\t\" \$2 }' | sed 's/.*/\L&/'
                > words/$d.pairs"
    else
        quick pairs.$d  words/$d.pairs : words/$d.dict : "cut -f 1,2 words/$d.dict > words/$d.pairs"
    fi
    [ -z "${parallel[$d.$x]-}" ] || for l in $x $y; do
        f=${parallel[$d.$l]}
        stage pairs.$d.$l  bpe/$d.$l : $(listed "$f") codes : \
            "tokenize -l $l $TOKENIZE $(quoted "$f") | bpe-apply -c codes > bpe/$d.$l"
    done
done
for l in $LANGS; do
    quick lines.$l  words/lines.$l : bpe/train.$l : "awk 'NR <= 5000' bpe/train.$l > words/lines.$l"
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
measured() {    # SEED TITLE PAIR METRIC COLUMN TABLE ROWS: a column of a table by layer
    quick ${7//\//.}  $7 : $6 $P/layer-rows.awk : \
        "awk -v SEED=$1 -v NAME='$2' -v DIRECTION=$3 -v METRIC='$4' -v COLUMN=$5
            -f $P/layer-rows.awk $6 > $7"
    rows+=" $7"
}
for s in $SEEDS; do
    for y in $SYSTEMS; do
        m=s$s/$y t=${title[$y]}
        model $s $y
        for l in $LANGS; do
            embedded $s $y words words/lines.$l $l "--of words --words words/$l.vocab"
        done
        for d in $pairs; do
            by_layer $m words $d
            stage s$s.$y.rsim.$d  $m/layers/rsim.$d.tsv : $files words/$d.pairs : \
                "rsim$options --dict words/$d.pairs > $m/layers/rsim.$d.tsv"
            measured $s "$t" $d RSIM rsim $m/layers/rsim.$d.tsv $m/layers/rsim.$d.rows
            measured $s "$t" $d cosine cosine $m/layers/rsim.$d.tsv $m/layers/cosine.$d.rows
            [ -n "${parallel[$d.${d%-*}]-}" ] || continue
            for l in ${d%-*} ${d#*-}; do
                embedded $s $y $d bpe/$d.$l $l "--of sentences"
            done
            by_layer $m $d $d
            stage s$s.$y.retrieve.$d  $m/layers/retrieve.$d.tsv : $files : \
                "retrieve --score ratio$options > $m/layers/retrieve.$d.tsv"
            measured $s "$t" $d accuracy accuracy-to $m/layers/retrieve.$d.tsv $m/layers/to.$d.rows
            measured $s "$t" ${d#*-}-${d%-*} accuracy accuracy-back \
                $m/layers/retrieve.$d.tsv $m/layers/back.$d.rows
        done
    done
done
for d in $pairs; do
    drawn= files=
    for s in $SEEDS; do
        for y in $SYSTEMS; do
            files+=" s$s/$y/layers/rsim.$d.tsv" \
                drawn+=" s$s/$y/layers/rsim.$d.tsv --label ${title[$y]}"
        done
    done
    layered page.rsim.$d  page/rsim.$d.svg : $files : \
        "plot rsim$drawn --title \"Translations by layer, $d\""
done
quick results  results.tsv : $rows : "cat$rows > results.tsv"
