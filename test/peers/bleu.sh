#!/bin/bash
# Compares bin/bleu with sacreBLEU and multi-bleu.perl, output against output; a line a comparison.
#   BIN=folder of programs   VENV=Python environment (made, with sacrebleu, if it does not exist)
#   MULTI_BLEU=path of Moses' scripts/generic/multi-bleu.perl (left out if not set)
#   DATA=folder of real text (left out if not there)
# What differs on purpose: the signature's version says isoglot, too; several systems in text form
# carry another explanation; JSON of paired chrF and TER tests, where sacreBLEU 2.6.0 ends in an
# error.
set -u
here=$(cd "$(dirname "$0")" && pwd)
BIN=$(cd "${BIN:-$here/../../bin}" && pwd)
VENV=${VENV:-${TMPDIR:-/tmp}/isoglot-peers-bleu}
DATA=${DATA:-$here/../../../shared/data}
want=2.6.0
export LC_ALL=C.UTF-8 NO_COLOR=1
if [ ! -x "$VENV/bin/sacrebleu" ]; then
    python3 -m venv "$VENV" && "$VENV/bin/pip" install -q "sacrebleu==$want" ||
        { echo "cannot install sacrebleu $want"; exit 1; }
fi
got=$("$VENV/bin/sacrebleu" --version | sed 's/.* //')
[ "$got" = "$want" ] || echo "note: comparing with sacreBLEU $got, not $want"
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work" || exit 1
same=0 differ=0
check() {   # name ours theirs
    if [ ! -s "$3" ]; then differ=$((differ + 1)); echo "NO OUTPUT of the peer: $1"
    head -3 theirs.err
    elif cmp -s "$2" "$3"; then same=$((same + 1)); echo "same    $1"
    else differ=$((differ + 1)); echo "DIFFERS $1"; diff "$2" "$3" | head -6; fi
}
plain() { sed "s/-isoglot-[0-9.]*//" "$1"; }
# sb NAME HYP ARGS...: the same arguments to both, HYP on standard input
sb() {
    local name=$1 hyp=$2; shift 2
    "$BIN/bleu" "$@" < "$hyp" > ours.raw 2> ours.err; plain ours.raw > ours
    "$VENV/bin/sacrebleu" "$@" < "$hyp" > theirs 2> theirs.err
    # Below the table of a paired test stands an explanation, ours and theirs.
    case " $* " in *" --paired"*)
        for f in ours theirs; do
            sed -e '/^Paired test/,/^Metric signatures$/d' -e '/^-----*$/,/^Metric signatures$/d' \
                $f > $f.t; mv $f.t $f
        done;; esac
    check "$name: $*" ours theirs
}
for kind in words punct unicode; do
    mkdir $kind; "$VENV/bin/python" "$here/bleu_cases.py" $kind 1500 7 $kind
    for tok in 13a intl zh char none; do
        sb $kind $kind/hyp1 $kind/ref1 $kind/ref2 -tok $tok -sl -w 10
        sb $kind $kind/hyp1 $kind/ref1 -tok $tok -lc -sl -w 4
    done
    sb $kind $kind/hyp1 $kind/ref1
    sb $kind $kind/hyp1 $kind/ref1 $kind/ref2 -f text
    sb $kind $kind/hyp1 $kind/ref1 $kind/ref2 -m bleu chrf ter
    sb $kind $kind/hyp1 $kind/ref1 $kind/ref2 -m ter chrf bleu -f text -w 6
    for smooth in exp floor add-k none; do sb $kind $kind/hyp1 $kind/ref1 -s $smooth -f text -w 8 \
        -sl; done
    sb $kind $kind/hyp1 $kind/ref1 -s floor -sv 0.25 -f text --short
    sb $kind $kind/hyp1 $kind/ref1 -s add-k -sv 2.5 -f text
    sb $kind $kind/hyp1 $kind/ref1 -m chrf --chrf-word-order 2 -sl -w 10
    sb $kind $kind/hyp1 $kind/ref1 $kind/ref2 -m chrf --chrf-word-order 2 \
        --chrf-lowercase --chrf-whitespace -sl -w 10
    sb $kind $kind/hyp1 $kind/ref1 -m chrf --chrf-eps-smoothing --chrf-beta 3 --chrf-char-order 4 \
        -sl -w 10
    sb $kind $kind/hyp1 $kind/ref1 -m ter -sl -w 10
    sb $kind $kind/hyp1 $kind/ref1 $kind/ref2 -m ter -sl -w 10 --ter-normalized
    sb $kind $kind/hyp1 $kind/ref1 -m ter -sl -w 10 \
        --ter-normalized --ter-asian-support --ter-no-punct
    sb $kind $kind/hyp1 $kind/ref1 -m ter -sl -w 10 \
        --ter-asian-support --ter-no-punct --ter-case-sensitive
    sb $kind $kind/hyp1 $kind/ref1 $kind/ref2 --confidence -w 12
    sb $kind $kind/hyp1 $kind/ref1 $kind/ref2 --confidence --confidence-n 333 -m bleu chrf ter \
        -f text -w 10 --short
    sb $kind $kind/hyp1 $kind/ref1 -i $kind/hyp1 $kind/hyp2
    sb $kind $kind/hyp1 $kind/ref1 -m ter bleu chrf -f text -i $kind/hyp1 $kind/hyp2 $kind/ref2
    sb $kind $kind/hyp1 $kind/ref1 $kind/ref2 --paired-bs -i $kind/hyp1 $kind/hyp2 $kind/ref1
    sb $kind $kind/hyp1 $kind/ref1 --paired-bs --paired-bs-n 77 -s add-k -i $kind/hyp1 $kind/hyp2
    sb $kind $kind/hyp1 $kind/ref1 --paired-bs -m ter chrf bleu -w 5 -f text -i $kind/hyp1 \
        $kind/hyp2
    sb $kind $kind/hyp1 $kind/ref1 --paired-bs -m bleu chrf -f latex -i $kind/hyp1 $kind/hyp2
    sb $kind $kind/hyp1 $kind/ref1 --paired-ar --paired-ar-n 300 -m bleu chrf ter -i $kind/hyp1 \
        $kind/hyp2 $kind/ref2
    sb $kind $kind/hyp1 $kind/ref1 --paired-ar --paired-ar-n 300 -s add-k -sv 1.5 -i $kind/hyp1 \
        $kind/hyp2
done
paste words/ref1 words/ref2 words/hyp1 words/hyp2 | grep -v -e '^	' -e '		' -e '	$' > full
cut -f 1,2 full > tsv.ref; cut -f 3,4 full > tsv.hyp; cut -f 1 full > tsv.ref1
cut -f 3 full > tsv.hyp1
sb tsv tsv.hyp tsv.ref1
sb tsv tsv.hyp tsv.ref1 -f text --paired-ar --paired-ar-n 50
sb tsv tsv.hyp1 tsv.ref --num-refs 2
sed 's/$/\r/' words/hyp1 > crlf; sb crlf crlf words/ref1
printf 'a b c d\ra b c d e' > cr; printf 'a b c d\na b c d' > cr.ref; sb cr cr cr.ref -w 5
printf '\n\n' > blank; sb blank blank blank; sb blank blank blank -m ter chrf -f text
head -n 1 words/hyp1 > one; head -n 1 words/ref1 > one.ref
sb one one one.ref --confidence -f text -w 3
export SACREBLEU_SEED=98765432101; sb seed words/hyp1 words/ref1 --confidence -w 12
unset SACREBLEU_SEED

# Real text: a sentence's neighbour or a cut-up copy stands for a translation.
if [ -d "$DATA/handbook" ]; then
    for f in "$DATA"/handbook/*.zst; do
        l=$(basename "$f" .txt.zst)
        zstd -dcq "$f" | head -n 1000 > $l.ref
        awk 'BEGIN { srand(3) } { n = split($0, w, " "); s = ""; for (i = 1; i <= n; i++) {
            r = rand(); if (r < .1) continue;
             if (r < .2) w[i] = w[1]; if (r > .9 && i < n) { t = w[i]; w[i] = w[i+1]; w[i+1] = t }
             s = s (s == "" ? "" : " ") w[i] } print s }' $l.ref > $l.hyp
        for tok in 13a intl zh; do sb $l $l.hyp $l.ref -tok $tok -sl -w 10; done
        sb $l $l.hyp $l.ref -lc -m bleu chrf -f text -w 8
        sb $l $l.hyp $l.ref -m chrf --chrf-word-order 2 -w 8
        head -n 200 $l.hyp > s.hyp; head -n 200 $l.ref > s.ref; sb $l s.hyp s.ref -m ter -sl -w 8
    done
else echo "left out: no real text in $DATA"; fi

if [ -n "${MULTI_BLEU:-}" ]; then
    mb() {   # NAME HYP REF ARGS: one reference stem for the script
        local name=$1 hyp=$2 ref=$3; shift 3
        "$BIN/bleu" --multi "$@" $ref < "$hyp" > ours 2> ours.err
        perl "$MULTI_BLEU" "$@" $ref < "$hyp" > theirs 2> theirs.err
        check "multi-bleu $name: $* $ref" ours theirs
    }
    for kind in words punct unicode; do
        mb $kind $kind/hyp1 $kind/ref1; mb $kind $kind/hyp1 $kind/ref1 -lc
        cp $kind/ref1 stem0; cp $kind/ref2 stem1; mb $kind $kind/hyp2 stem
        mb $kind $kind/hyp2 stem -lc
        cp $kind/hyp1 stem; mb "$kind three" $kind/hyp2 stem; rm stem
        mv stem0 s2.ref0; mv stem1 s2.ref1; mb $kind $kind/hyp2 s2
    done
    [ -d "$DATA/handbook" ] && for l in *-*.hyp; do l=${l%.hyp}; mb $l $l.hyp $l.ref
    mb $l $l.hyp $l.ref -lc; done
    head -n 700 words/hyp1 > short; mb short short words/ref1
    printf 'a b c d\nx y z' > nonl; printf 'a b c d\nx y z' > nonl.r
    mb "no final newline" nonl nonl.r
    printf 'q r s\n' > h; printf 'a b c d\n' > r; mb "no match" h r
    printf 'a b\n' > h; mb "no match at some order" h r
    printf '\n' > h; printf '\n' > r; mb "empty references" h r
else echo "left out: multi-bleu.perl (set MULTI_BLEU)"; fi
echo "$same same, $differ differ"
[ "$differ" = 0 ]
