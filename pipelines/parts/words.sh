# What a recipe can say beside stage, train and quick (pipelines/plan).

# setting NAME VALUE [none]: a value, unless make's command line or the environment gives another.
# Where ours is a number, so must that one be (*_SIZES are lists), or, with "none", empty; and none
# has what shells read, lest a command become two.
setting() {
    [ -n "${!1+x}" ] || { printf -v "$1" %s "${2//$'\n'*( )/ }"; OURS[$1]=1; }
    [ -z "${OURS[$1]-}" ] || return 0
    printf -v "$1" %s "${!1//$'\n'*( )/ }"
    local given=${!1} number='^[0-9]{1,15}$' real='^[0-9]*\.?[0-9]+(e-?[0-9]+)?$'
    case $1:$given in *_SIZES:*) ;; *:)
        [[ ! $2 =~ $real ]] || [ "${3-}" = none ] || refuse "$1=" "a number, such as $2";; *)
        [[ ! $2 =~ $number ]] || [[ $given =~ $number ]] ||
            refuse "$1=$given" "a whole number, such as $2"
        [[ ! $2 =~ $real ]] || [[ $given =~ $real ]] || refuse "$1=$given" "a number, such as $2";;
    esac
    case $given in *[\;\&\|\<\>\`\$\(\)\\\'\"$'\n'$'\t']*)
        refuse "$1" "'$given' has a sign that shells read";; esac
}
# number NAME: refuses a value that is neither empty nor a number of lines
number() {
    [[ ${!1} =~ ^([1-9][0-9]{0,8})?$ ]] || refuse "$1=${!1}" "a number of lines, 1 or more"
}
# among NAME WORD...: refuses a list that has another word than these, or one of them twice; a
# capital N at the end of one stands for a number, as in scs-N
among() {
    local w p ok words= seen=' '
    for p in "${@:2}"; do
        [ "$p" != N ] || p=numbers
        words+=", $p"
    done
    for w in ${!1}; do
        ok=
        for p in "${@:2}"; do [[ $w != ${p/%N/[0-9]*([0-9.])} ]] || ok=1; done
        [ "$ok" ] || refuse "$1=${!1}" "there is no $w; there are ${words#, }"
        [[ $seen != *" $w "* ]] || refuse "$1=${!1}" "$w is named twice"
        seen+="$w "
    done
}
# languages A B...: the experiment's languages. A= and B= give others, in a run folder of their own.
languages() {
    setting A "$1"; setting B "${2-}"
    LANGS="$A $B ${*:3}"
    [ "$A $B" = "$1 ${2-}" ] || FOLDER+=-$A-$B
    local l
    for l in $LANGS; do
        [[ $l =~ ^[a-z][a-z0-9]{1,7}$ ]] ||
            refuse "language $l" "two to eight small letters and digits"
        case " ${LANGS/"$l"/} " in *" $l "*) refuse "language $l" "named twice";; esac
    done
}
# system NAME TITLE "OPTIONS" [INPUT...]: a model to train: its folder's name, what the table calls
# it, pretrain's options, and what those read beside the text
system() { NAMED+=" $1"; title[$1]=$2 options[$1]=$3 needs[$1]=${*:4}; }
# metric COMMAND...: one more metric of every translation (part score): a command that gets
# translations as its standard input and, behind what is said here, --row SEED,SYSTEM,DIRECTION and
# the file of references, and prints rows of results (docs/formats/results.md)
metric() { METRICS+=("$*"); }
# compare SYSTEM BASE: titles of two systems; tables test their difference, seed by seed
compare() { COMPARED+="#compare\\t$1\\t$2\\n"; }
# results FILE...: the stage that puts all rows together, as $RESULTS
results() {
    local name=${RESULTS%.tsv} said=
    [ -z "$COMPARED" ] || said="printf %b '$COMPARED' && "
    add quick "${name//\//.}" "$RESULTS" : "$@" : "{ ${said}cat $*; } > $RESULTS"
}
# paper LETTER TABLE...: published tables (reference/paper/), which `make table/X` prints under ours
paper() { local t; for t in "${@:2}"; do PAPER+=" $1:$t"; done; }
# tasks_file FOLDER TASK PART LANG: a labelled file of synth-corpus --tasks
tasks_file() { local e=tsv; [ $2 != qa ] || e=json; echo $1/$2.$3.$4.$e; }
# published NAME OUTPUT SOURCE [FILTER]: a text of sources.tsv, got by `make fetch/X` or when it is
# due
available() {
    grep -q "^$1"$'\t' "$own/sources.tsv" || refuse "$1" "no such text in pipelines/sources.tsv"
}
published() {
    available "$3"
    add cpu "$1" "$2" : "$P/fetch" "$P/sources.tsv" : "$P/fetch $P/sources.tsv $3${4:+ | $4} > $2"
}
# validated FOLDER LEARNT OTHER METRIC: a command that prints, as rows for the seed $s and the
# system $y, how often the model in FOLDER was right at its last validation, in the language that it
# learnt from and, without having learnt from it, in the other (`qa`: F1 of answers)
validated() {
    local of=accuracy log="score --log $1/log.jsonl --row"
    [ "$4" != qa ] || of=f1
    echo "{ $log '$s,${title[$y]},$2' --as '$2.$of=$4' &&
        $log '$s,${title[$y]},$2-$3' --as '$3.$of=$4'; }"
}
# note WORDS: what somebody should know before it runs; it is said then, and on the page
note() { REMARKS+="#remark"$'\t'"$*"$'\n'; }
# use WHAT "COMMAND": how to use what was made, said at the end and on the page; @RUN@ is the run
# folder, @BIN@ where the programs are
use() { USES+="#use"$'\t'"$1"$'\t'"${2//$'\n'*( )/ }"$'\n'; }
# decoding: DECODE, which is due behind all training, is looked at before it
decoding() {
    [ -x "$BIN/translate" ] || return 0
    local said
    # a model that is none: options are looked at before it
    said=$("$BIN/translate" --model /dev/null --src a --tgt b $DECODE 2>&1 < /dev/null) ||
        [ $? != 2 ] || refuse DECODE "${said#translate: }"
}
# layered NAME X.svg [X.tsv] : INPUT... : "PLOT": a picture with panels, X.narrow.svg for phones,
# and its numbers
layered() {
    local tsv=; [ "$3" = : ] || tsv=" --tsv $3"
    add cpu "$1" "$2" "${2%.svg}.narrow.svg" "${@:3:$#-3}" \
        "${!#} -o $2$tsv && ${!#} --width 340 -o ${2%.svg}.narrow.svg"
}
