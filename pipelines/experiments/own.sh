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
# given WHAT ITEM: $key and $value of KEY=VALUE
given() {
    case $2 in ?*=?*) ;; *) refuse "$1" "'$2' is not NAME=FILE";; esac
    key=${2%%=*} value=${2#*=}
}
looked_at() {   # WHAT FILE...
    local what=$1 f said; shift
    while read -r f; do
        # stages have lists of names, and shells read their commands
        case $f in *[[:space:]\\\'\"\`\$\&\|\;\(\)\<\>\*\?\[\]{}]*)
            refuse "$what" "$f: a name with a space, a quote, a bracket or another sign that" \
                "shells read; rename or link it";; esac
    done < <(realpath -sm -- "$@")
    said=$("$own/look-at-text" "$@") || refuse "$what" "$said"
}
declare -A texts gold parallel
named=
for item in $TEXT; do
    given TEXT "$item"
    [ -z "${texts[$key]+x}" ] || refuse TEXT \
        "language $key is named twice; a glob or a folder takes many files"
    named+=" $key"
    set +f; shopt -s nullglob
    files=($value)
    shopt -u nullglob; set -f
    [ ${#files[@]} -gt 0 ] && [ -e "${files[0]}" ] || refuse TEXT "$item matches no file"
    mapfile -t files < <(find -L "${files[@]}" -type f ! -name '.*' | sort)
    [ ${#files[@]} -gt 0 ] || refuse TEXT "$item: no file is in it"
    mapfile -t files < <(realpath -s -- "${files[@]}")
    looked_at TEXT "${files[@]}"
    texts[$key]=${files[*]}
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
for item in ${PARALLEL-}; do
    pair_given PARALLEL "$item"
    case $value in *,*) ;; *) refuse PARALLEL "'$item' is not A-B=FILE,FILE";; esac
    looked_at PARALLEL "${value%,*}" "${value#*,}"
    n=$(lines "${value%,*}") m=$(lines "${value#*,}")
    [ "$n" = "$m" ] ||
        refuse PARALLEL "${value%,*} has $n lines and ${value#*,} $m: they are not aligned"
    parallel[$key]="$(realpath -s -- "${value%,*}") $(realpath -s -- "${value#*,}")"
done
for item in ${GOLD-}; do
    pair_given GOLD "$item"
    looked_at GOLD "$value"
    n=$("$own/plain" "$value" | awk 'NF == 1 && !n { n = NR } END { print n }')
    [ -z "$n" ] ||
        refuse GOLD "$value: line $n has only one word; a dictionary has source and target"
    gold[$key]=$(realpath -s -- "$value")
done

# --- text, counts, a dictionary of each pair, models ----------------------------------------------
counted=
for l in $LANGS; do
    stage raw.$l  raw/train.$l raw/valid.$l raw/test.$l raw/$l.counts : \
        $P/split-text $P/plain ${texts[$l]} : \
        "$P/split-text $l $VALID_LINES $TEST_LINES $LONGEST ${texts[$l]}"
    counted+=" raw/$l.counts"
done
quick page.text  page/1-text.tsv : $counted : \
    "{ echo '# Lines that were read, left out and kept' &&
       printf 'language\tread\tempty\ttoo long\trepeated\ttrain\tvalid\ttest\n' &&
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
        quick pairs.$d  words/$d.pairs : ${gold[$d]} $P/plain : \
            "$P/plain ${gold[$d]} | awk 'NF { print \$1 \"\\t\" \$2 }' | sed 's/.*/\L&/'
                > words/$d.pairs"
    else
        quick pairs.$d  words/$d.pairs : words/$d.dict : "cut -f 1,2 words/$d.dict > words/$d.pairs"
    fi
    [ -z "${parallel[$d]-}" ] || for l in $x $y; do
        f=${parallel[$d]% *}; [ $l = $x ] || f=${parallel[$d]#* }
        stage pairs.$d.$l  bpe/$d.$l : $f codes : \
            "tokenize -l $l $TOKENIZE $f | bpe-apply -c codes > bpe/$d.$l"
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
            [ -n "${parallel[$d]-}" ] || continue
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
