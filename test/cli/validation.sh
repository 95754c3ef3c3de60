# Validations: what they are of a model whose outputs are all alike, and of texts that are each
# other's translation by their letters; languages count alike; neither --tokens nor lines that are
# left out change them, and --valid-sentences N is the first N lines.
. "$TOP/test/cli/lib.sh"
awk 'function draw(n) { x = (1103515245 * x + 12345) % 2147483648; return int(x / 65536) % n }
    BEGIN { x = 3; for (l = 0; l < 2; l++) for (i = 0; i < 40; i++) {
        n = 2 + draw(6 + 3 * l); s = ""
        for (j = 0; j < n; j++) s = s (j ? " " : "") "w" l draw(9 + l)
        print s > (l ? "bb" : "aa") } }'
for l in aa bb; do
    awk 'NR % 5 == 4 { print "" } { print }' $l > doc.$l
    # as they are; with lines that are left out at the end; the first seven
    head -n 25 $l > v.$l
    { cat v.$l; echo; seq 30 | sed 's/.*/w00/' | paste -sd ' '; } > more.$l
    head -n 7 v.$l > few.$l
done
vocab-count -q aa bb > vocab
V=$(($(wc -l < vocab) + 5))
for f in aa bb doc.aa doc.bb {v,more,few}.{aa,bb}; do
    binarize -q -v vocab -l ${f#*.} -o $f.shd < $f
done
small=(-q -v vocab --layers 1 --dim 8 --heads 2 --ffn 8 --positions 20 --steps 1 --lr 0
    --valid-every 1 --save-every 0 --dropout 0.3 --attention-dropout 0 --seed 4 --init-std 0.5)
# valid DIR FIELD: of its validation
valid() { sed -n "/\"valid\"/s/.*\"$2\":\([^,}]*\).*/\1/p" $1/log.jsonl; }
# near A B: within 10^-5 of each other
near() { awk "BEGIN { d = ($1) / ($2) - 1; exit !($1 > 0 && d < 1e-5 && d > -1e-5) }" ||
    fail "$3: $1, not $2"; }
# mean NAME A B: the field NAME is the geometric mean of A and B
mean() { near "$(valid $1 $2)" "sqrt($(valid $1 $3) * $(valid $1 $4))" "$1: mean of $2"; }

pre() { pretrain "${small[@]}" --train aa=aa.shd --train bb=bb.shd "$@"; }
tlm=(--objective mlm,tlm --parallel aa-bb=aa,bb --tlm-form ppa)
text() { echo "--valid aa=$1.aa.shd --valid bb=$1.bb.shd"; }
pairs() { echo "--valid-parallel aa-bb=$1.aa,$1.bb"; }
# shellcheck disable=SC2046
compare() {   # NAME FIELDS OPTIONS...: FIELDS are the same however they are made
    local name=$1 fields=$2 f; shift 2
    "$@" $(text v) --tokens 4000 --out $name
    "$@" $(text more) --tokens 30 --out $name.parts
    "$@" $(text v) --tokens 100 --valid-sentences 7 --out $name.seven
    "$@" $(text few) --tokens 100 --out $name.few
    for f in $fields; do
        near "$(valid $name.parts $f)" "$(valid $name $f)" "$f by small batches"
        near "$(valid $name.seven $f)" "$(valid $name.few $f)" "$f of seven lines"
        [ "$(valid $name $f)" != "$(valid $name.few $f)" ] || fail "$f of 25 lines is that of 7"
    done
}
learn_pairs() {   # OPTIONS of text, which say which pairs are meant
    local v=${2#aa=}; pre "${tlm[@]}" $(pairs ${v%%.*}) "$@"
}
compare mlm "aa.perplexity bb.perplexity perplexity aa-bb.perplexity" learn_pairs
mean mlm perplexity aa.perplexity bb.perplexity
compare mass "aa.mass_perplexity bb.mass_perplexity mass_perplexity" \
    pre --objective mass --mass-min-len 2
mean mass mass_perplexity aa.mass_perplexity bb.mass_perplexity

# outputs that are all alike: each word is one of the vocabulary's
learn_pairs $(text v) --init-std 1e-6 --tokens 100 --out even
for f in aa.perplexity bb.perplexity perplexity aa-bb.perplexity; do
    near "$(valid even $f)" $V "$f of even outputs"
done
pre --objective mass $(text v) --init-std 1e-6 --tokens 100 --out even.mass
near "$(valid even.mass mass_perplexity)" $V "MASS of even outputs"

# sentence order: hits are counted in whole documents' runs
sop() {
    pretrain "${small[@]}" --train aa=doc.aa.shd --train bb=doc.bb.shd --objective mlm,sop \
        --documents 20 --no-encoder-langs --valid aa=doc.aa.shd --valid bb=doc.bb.shd "$@"
}
sop --tokens 4000 --out sop
sop --tokens 25 --out sop.parts
for f in aa.sop_accuracy bb.sop_accuracy aa.perplexity; do
    near "$(valid sop.parts $f)" "$(valid sop $f)" "$f by small batches"
done

# retrieval: a text beside itself is found, but for the lines that stand elsewhere; in another order
# none. Pairs with a side that is empty or too long are no pairs
pretrain "${small[@]}" --train aa=aa.shd --train bb=bb.shd --no-encoder-langs --tokens 100 \
    --out base
sort -u aa | sed -n 1,13p > thirteen; sed -n 1,10p thirteen > once
{ cat once; sed -n 13p thirteen; sed -n 11,12p thirteen; } > three-off
# of 20 positions 18 are the words'; 19 are too many, on either side
words() { seq $1 | awk '{ print "w0" $1 % 9 }' | paste -sd ' '; }
{ cat thirteen; echo w00; echo; words 19; echo w00; words 18; } > longer
{ cat three-off; echo; echo w00; echo w00; words 19; words 18; } > other
tac once > turned
moco() {
    align-post -q --model base --parallel aa-bb=aa,bb --valid aa-bb=$1,$2 --min-tokens 1 --batch 5 \
        --queue 10 --projection 8 --steps 1 --lr 0 --valid-every 1 --objective moco --out "${@:3}"
}
moco once once once.run
is "$(for f in aa-bb bb-aa; do valid once.run $f.retrieval; valid once.run $f.retrieval_z; done |
    paste -sd ' ')" "1 1 1 1"
moco thirteen three-off three-off.run
moco longer other longer.run
moco once turned turned.run
moco thirteen three-off seven.run --valid-sentences 11
# more rows than one pass encodes, no two alike: copies that stand elsewhere in a matrix may differ
# in their last bits
seq 0 699 | awk '{ print "w0" int($1 / 81) % 9, "w0" int($1 / 9) % 9, "w0" $1 % 9, "w01 w02" }' \
    > many
moco many many many.run
for f in aa-bb bb-aa; do
    near "$(valid three-off.run $f.retrieval)" 10/13 "$f of lines of which three are elsewhere"
    near "$(valid many.run $f.retrieval)" 1 "$f of seven hundred lines"
    near "$(valid longer.run $f.retrieval)" 11/14 "$f of pairs that are none"
    near "$(valid seven.run $f.retrieval)" 10/11 "$f of the first eleven"
    is "$(valid turned.run $f.retrieval)" 0 "$f of ten lines turned"
done

# who finds no more than chance would of 100 sentences or more, both ways together, is told: here as
# many as stand at their places are found either way, the others being one line further on
told() {   # K LINES
    sed -n "1,$2p" many > chance
    { sed -n "1,$1p" chance; sed -n "$2p" chance; sed -n "$(($1 + 1)),$(($2 - 1))p" chance; } > off
    align-post --model base --parallel aa-bb=aa,bb --valid aa-bb=chance,off --min-tokens 1 \
        --batch 5 --queue 10 --projection 8 --steps 1 --lr 0 --valid-every 1 --objective moco \
        --out told.$1.$2 2>&1 | sed -nE 's/.*no better than by chance \((.*), both ways.*/\1/p'
}
is "$(told 5 100)" "10 of 200" "as many as by chance"
is "$(told 5 99)" "" "a note of 99 sentences"
is "$(told 6 102)" "" "a note of 12 that were found"
