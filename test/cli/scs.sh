# pretrain --objective mlm,scs, and mass,scs: what is switched and to what, that an embedding read
# as a mixture of one is the embedding, resuming, bad input. That the numbers of a training are
# right is
# test/cli/replay.sh's (runs scs, scs-clean, scs-step, mass-scs, mass-scs-any), those of the search
# test/unit/scs.c's.
. "$TOP/test/cli/lib.sh"
tensor=$(dirname "$BIN")/test/tool/tensor

# Words of one piece (a0 a1 ..), of two (x@@ a3), and commas that both languages have; cc is too
# small for words of its own.
awk 'BEGIN { srand(5); for (i = 0; i < 6000; i++) { n = 4 + int(rand() * 20); s = ""
    for (j = 0; j < n; j++) { u = rand(); s = s (j ? " " : "") (u < 0.2 ? "x@@ " : u < 0.3 ? ", " \
        : "") "a" int(rand() * 40) }
    print s } }' > aa
sed 's/a\([0-9]\)/b\1/g; s/x@@/y@@/g' aa > bb
sed 's/a\([0-9]\)/c\1/g; s/x@@/z@@/g; 60q' aa > cc
cat aa bb cc | vocab-count > vocab
for l in aa bb cc; do binarize -q -v vocab -l $l -o $l.shd < $l; done
small=(pretrain -v vocab --layers 1 --dim 16 --heads 2 --ffn 16 --positions 72 --lr 1e-3 --warmup \
    0 --log-every 1)
two=(--train aa=aa.shd --train bb=bb.shd) all=("${two[@]}" --train cc=cc.shd)
scs=(--objective mlm,scs --specific 900)

echo "# over 10^5 tokens: no predicted row, special, piece of a word or comma is switched"
"${small[@]}" "${all[@]}" "${scs[@]}" --tokens 4000 --steps 40 --save-every 40 --out run \
    --write-batches b 2> note
grep -q 'scs: cc has no words of its own (--specific 900): its sentences are not switched' note ||
    fail "$(cat note)"
for f in b/step-*.scs.safetensors; do
    "$tensor" $f original token lang original_lang row scs.row scs.lang | tr '\t' ' '
    echo end
done > rows
awk 'NR == FNR { name[FNR + 4] = $1; next }
    function check(i) { for (i = 0; i < n; i++) {
        w = name[original[i]]
        if (original[i] < 5) { if (token[i] != original[i] || i in to) exit 2; continue }
        tokens++
        if (w ~ /^c/) exit 3
        if (!(i in to)) { if (token[i] < 0 || lang[i] != own[i]) exit 4; continue }
        switched++
        b = i > 0 ? name[original[i - 1]] : ""
        if (i in row || token[i] != -1) exit 5
        if (w ~ /@@$/ || b ~ /@@$/ || w == ",") exit 6
        if (to[i] != 1 - own[i] || lang[i] != to[i]) exit 7 } }
    $1 == "end" { check(); n = 0; delete row; delete to; next }
    { original[n] = $1; token[n] = $2; lang[n] = $3; own[n] = $4; if ($5 != "-") row[$5]
      if ($6 != "-") to[$6] = $7; n++ }
    END { print tokens, switched / tokens }' vocab rows > told ||
        fail "status $? of a switched row ($(tail -n 1 told))"
read -r tokens share < told
awk -v n="$tokens" -v s="$share" 'BEGIN { exit !(n > 1e5 && s > 0.115 && s < 0.135) }' ||
    fail "$share of $tokens tokens"
awk -F'"scs_switched":' '/"train"/ { split($2, x, ","); s += x[1]; n++ } END { exit !(n == 40 &&
    s / n > 0.115 && s / n < 0.135) }' run/log.jsonl || fail "scs_switched"
# <pad>, which no row reads, is still a row of zeros (trap: gradients of rows without a token)
embed -q --model run | awk '$1 == "<pad>" { for (i = 2; i <= NF; i++) s += $i ^ 2; n++ }
    END { exit s > 0 }' || fail "<pad> has learnt"

echo "# one word each, and every token may go: what is read is an embedding as TCS reads it"
# aa has one word, bb has one; whatever is expected, the nearest word of bb is that one
awk 'BEGIN { for (i = 0; i < 300; i++) { s = ","; for (j = 0; j < 3 + i % 9; j++) s = s " a0 , ,"
    print s } }' > one.aa
sed 's/a0/b0/g' one.aa > one.bb
cat one.aa one.bb | vocab-count > one.vocab
for l in aa bb; do binarize -q -v one.vocab -l $l -o one.$l.shd < one.$l; done
printf 'a0\tb0\n' > one.dict
one=(pretrain -q -v one.vocab --layers 1 --dim 16 --heads 2 --ffn 16 --positions 72 --steps 1
    --seed 3 --train aa=one.aa.shd --train bb=one.bb.shd --tokens 900 --log-every 1)
"${one[@]}" --objective mlm,scs --specific 100 --scs-k 1 --scs-rate 0.3 --scs-units token --out s
"${one[@]}" --objective mlm,tcs --dict aa-bb=one.dict --switch-rate 0.3 --switch-units token --out t
field() { sed 's/.*"'"$1"'":\([^,}]*\).*/\1/' $2/log.jsonl; }
awk -v a="$(field scs_switched s)" -v b="$(field tcs_switched t)" -v c="$(field scs s)" \
    -v d="$(field tcs t)" 'BEGIN { exit !(a > 0.1 && a == b && (c - d) ^ 2 < 1e-12 * d * d) }' ||
    fail "scs $(field scs s), tcs $(field tcs t)"
awk -v e="$(field scs_entropy s)" -v n="$(field scs_norm s)" 'BEGIN {
    exit !(e == 0 && n > 0.99999 && n < 1.00001) }' ||
    fail "one word: entropy $(field scs_entropy s), length $(field scs_norm s)"

echo "# stopped and resumed, on one thread or two: the same bytes"
# of the run "${go[@]}", which saves after three steps
goes_on() {
    rm -rf whole one
    "${go[@]}" --steps 6 --out whole --threads 2
    "${go[@]}" --steps 6 --threads 1 --out one
    same whole/last/weights.safetensors one/last/weights.safetensors
    rm -rf one/checkpoints/step-00000006 && ln -sfn checkpoints/step-00000003 one/last
    "${go[@]}" --steps 6 --out one --resume
    same whole/last/weights.safetensors one/last/weights.safetensors
}
for from in pass clean table; do
    go=("${small[@]}" "${all[@]}" -q "${scs[@]}" --tokens 300 --save-every 3 --scs-from $from)
    goes_on
done
echo "# on MASS: the encoder reads mixtures outside the span only; resumed to the same bytes"
mass=("${small[@]}" "${all[@]}" -q --objective mass,scs --specific 900 --decoder-layers 1)
"${mass[@]}" --tokens 4000 --steps 40 --save-every 0 --out run.mass --write-batches m
for f in m/step-*.scs.safetensors; do
    "$tensor" $f src.original src.token src.lang row scs.row scs.lang | tr '\t' ' '
    echo end
done > rows
awk 'NR == FNR { name[FNR + 4] = $1; next }
    function check(i) { for (i = 0; i < n; i++) {
        w = name[original[i]]
        if (i in to && (i in span || token[i] != -1 || lang[i] != to[i])) exit 2
        if (i in to && (w ~ /@@$/ || w == "," || w ~ (to[i] ? "^b" : "^a"))) exit 3
        if (i in to && i > 0 && name[original[i - 1]] ~ /@@$/) exit 4
        if (!(i in to) && !(i in span) && token[i] != original[i]) exit 5
        if (original[i] > 4 && !(i in span)) { seen++; switched += i in to } } }
    $1 == "end" { check(); n = 0; delete span; delete to; next }
    { original[n] = $1; token[n] = $2; lang[n] = $3; if ($4 != "-") span[$4]
      if ($5 != "-") to[$5] = $6; n++ }
    END { print seen, switched / seen }' vocab rows > told ||
        fail "status $? of a row switched on MASS ($(tail -n 1 told))"
read -r tokens share < told
awk -v n="$tokens" -v s="$share" 'BEGIN { exit !(n > 5e4 && s > 0.115 && s < 0.135) }' ||
    fail "$share of $tokens visible tokens"
go=("${mass[@]}" --tokens 300 --save-every 3)
goes_on
# nothing is switched: MASS alone, to the byte, but for what the log says
"${small[@]}" "${all[@]}" -q --objective mass --decoder-layers 1 --tokens 300 --steps 3 \
    --out rate.mass
"${mass[@]}" --scs-rate 0 --tokens 300 --steps 3 --out rate.scs
same rate.mass/last/weights.safetensors rate.scs/last/weights.safetensors
# memory: MASS's decoder, the second pass and the words of the other language are in the plan
printf 'a%s\tb%s\n' 0 0 1 1 2 2 > plan.dict
for objective in mass,scs mlm,scs mlm,tcs; do
    about=$([ $objective = mlm,tcs ] && echo "--dict aa-bb=plan.dict" || echo "--specific 900")
    pretrain "${all[@]}" -v vocab --objective $objective $about --layers 3 --dim 160 --heads 4 \
        --positions 72 --tokens 2500 --steps 3 --profile --out plan.$objective 2> note ||
        fail "$(cat note)"
    line=$(grep '^memory: [0-9.]* MiB at most, [0-9.]* predicted$' note) || fail "$(cat note)"
    case "${BUILD_WITH-}" in
    *SAN=[!\ ]*) ;;
    *) echo "$line" | awk '{ r = $2 / $6; exit !(r > 0.85 && r < 1.15) }' ||
        fail "$objective, plan: $line" ;;
    esac
done

# alone, and with gradient norms beside another objective: MLM's pass is looked at all the same
"${small[@]}" "${two[@]}" -q --objective scs --specific 900 --tokens 300 --steps 2 --out alone
grep -q '"scs":' alone/log.jsonl || fail "scs alone has no loss"
if grep -q '"mlm":' alone/log.jsonl; then fail "mlm was not asked for"; fi

echo "# bad input"
try=("${small[@]}" "${two[@]}" --steps 1 --out no --objective mlm,scs)
fails 2 '--specific is of objective scs and of --dict-refresh; neither is in --objective mlm$' \
    "${small[@]}" "${two[@]}" --objective mlm --specific 900 --steps 1 --out no
fails 1 'no two languages have words of their own.*lower --specific' "${try[@]}" -q \
    --specific 100000
fails 2 '--scs-from clean needs a model that predicts what its encoder reads: objective mlm' \
    "${try[@]/mlm,scs/mass,scs}" --scs-from clean
fails 2 'scs-rate 0.2:0.1: expected two shares' "${try[@]}" --scs-rate 0.2:0.1
fails 2 'belongs to objective scs' "${small[@]}" "${two[@]}" --scs-k 3 --out no --objective mlm
[ ! -e no ] || fail "a run that could not start left a folder"
# pieces of longer words are no words, however often they stand there
for i in $(seq 60); do echo "q@@ p , q@@ p"; done > p.aa; sed 's/p/r/g; s/q/s/g' p.aa > p.bb
cat p.aa p.bb | vocab-count > p.vocab
for l in aa bb; do binarize -q -v p.vocab -l $l -o p.$l.shd < p.$l; done
fails 1 'no two languages have words of their own' pretrain -q -v p.vocab --train aa=p.aa.shd \
    --train bb=p.bb.shd --objective mlm,scs --specific 50 --layers 1 --dim 8 --heads 1 --out no
"${try[@]}" --specific 900 --scs-k 60 --tokens 300 --out few 2> note
grep -q 'scs: only 40 words of aa are not also words of bb; --scs-k 60 mixes all of them' note ||
    fail "$(cat note)"
# at step 100, by what the log has of these
"${small[@]}" "${two[@]}" --objective mlm,scs --specific 900 --scs-rate 0.9 --tokens 200 \
    --steps 100 --save-every 0 --log-every 100 --out many 2> note
is "$(grep -c 'scs: .*% of the tokens were switched, --scs-rate asks for 90.0% or more' note)" 1
is "$(sed -nE 's/.*scs: ([0-9.]+)% of the tokens.*/\1/p' note)" "$(sed -nE \
    '1s/.*"scs_switched":([-+.e0-9]+).*/\1/p' many/log.jsonl | awk '{ printf "%.1f", 100 * $1 }')"
