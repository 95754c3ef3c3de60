# pretrain --objective mlm,tcs: what is switched, gradients of a rate of 0, resuming, bad input.
# That the switched rows and the
# numbers of a training are right is test/cli/replay.sh's (runs tcs, tcs-oneway).
. "$TOP/test/cli/lib.sh"
tensor=$(dirname "$BIN")/test/tool/tensor
tab=$(printf '\t')

# Words of one piece (a0 a1 ..), of two (x@@ a3), and marks that no dictionary has; the same in
# the other language.
awk 'BEGIN { srand(5); for (i = 0; i < 9000; i++) { n = 4 + int(rand() * 20); s = ""
    for (j = 0; j < n; j++) { u = rand(); s = s (j ? " " : "") (u < 0.2 ? "x@@ " : u < 0.3 ? ", " \
        : "") "a" int(rand() * 40) }
    print s } }' > aa
sed 's/a\([0-9]\)/b\1/g; s/x@@/y@@/g' aa > bb
sed 's/a\([0-9]\)/c\1/g; s/x@@/z@@/g; 3000q' aa > cc
cat aa bb cc | vocab-count > vocab
for l in aa bb cc; do binarize -q -v vocab -l $l -o $l.shd < $l; done
awk 'BEGIN { for (i = 0; i < 40; i++) print "a" i "\tb" i "\t" 1 / (i + 1) }' > dict
small=(pretrain -v vocab --layers 1 --dim 16 --heads 2 --ffn 16 --positions 72 --lr 1e-3 --warmup \
    0 --log-every 1)
two=(--train aa=aa.shd --train bb=bb.shd) all=("${two[@]}" --train cc=cc.shd)
tcs=(-q --objective mlm,tcs --dict aa-bb=dict)

echo "# by hand: whatever the dictionary knows is switched, but for pieces and predicted rows"
mkdir hand; cd hand
for i in 1 2 3; do echo "a0 a1 x@@ a2 , a3"; done > aa
sed 's/a/b/g; s/x/y/' aa > bb
cat aa bb | vocab-count > vocab          # , a0 to a3 b0 to b3 x@@ y@@: 5, 6 to 9, 10 to 13, 14, 15
for l in aa bb; do binarize -q -v vocab -l $l -o $l.shd < $l; done
for i in 0 1 2 3; do printf 'a%s\tb%s\n' $i $i; done > dict
pretrain -q -v vocab --layers 1 --dim 16 --heads 2 --ffn 16 --positions 72 --train aa=aa.shd \
    --train bb=bb.shd --objective mlm,tcs --dict aa-bb=dict --switch-rate 1:1 --tokens 60 \
    --steps 1 --out run --write-batches b
batch() { "$tensor" b/step-1.1.$1.safetensors "${@:2}"; }
batch tcs original token lang row | awk '
    { was[NR] = $1; is[NR] = $2; lang[NR] = $3; if ($4 != "-") predicted[$4 + 1] }
    END { for (r = 1; r <= NR; r += 8) {
        split(was[r + 1] == 6 ? "0 10 11 14 8 5 13 1" : "0 6 7 15 12 5 9 1", t, " ")
        split(was[r + 1] == 6 ? "0 1 1 0 0 0 1 0" : "1 0 0 1 1 1 0 1", l, " ")
        own = was[r + 1] != 6; n++
        for (i = 0; i < 8; i++) {
            if (r + i in predicted) { kept++; if (lang[r + i] != own) exit 2 }
            else if (is[r + i] != t[i + 1] || lang[r + i] != l[i + 1]) { print r + i; exit 3 } } }
        exit n < 6 || !kept }' || fail "status $? of the sentences by hand"
for what in row target sample original; do
    same <(batch tcs $what) <(batch mlm $what)
done
# predicted rows read what they read in the plain pass
for o in mlm tcs; do
    batch $o token row | awk '{ t[NR - 1] = $1; if ($2 != "-") at[k++] = $2 }
        END { for (i = 0; i < k; i++) print t[at[i]] }' > $o.read
done
same mlm.read tcs.read
cd ..

echo "# over 10^5 tokens: no predicted row, special, piece of a word or word of cc is switched"
"${small[@]}" "${all[@]}" "${tcs[@]}" --tokens 4000 --steps 40 --save-every 40 --out run \
    --write-batches b
for f in b/step-*.tcs.safetensors; do
    "$tensor" $f original token lang original_lang row | tr '\t' ' '
    echo end
done > rows
awk 'NR == FNR { name[FNR + 4] = $1; next }
    function check(i, j) { for (i = 0; i < n; i++) {
        w = name[original[i]]; r = name[token[i]]
        if (original[i] == 0 || original[i] == 1) { if (token[i] != original[i]) exit 2; continue }
        tokens++
        if (substr(w, 1, 1) ~ /c/) exit 3
        if (i in row || token[i] == original[i]) { if (lang[i] != own[i]) exit 4; continue }
        switched++
        b = i > 0 ? name[original[i - 1]] : ""
        if (w ~ /@@$/ || b ~ /@@$/ || w == ",") exit 5
        t = w; if (t ~ /^a/) sub(/^a/, "b", t); else sub(/^b/, "a", t)
        if (r != t || lang[i] != 1 - own[i]) exit 6 } }
    $1 == "end" { check(); n = 0; delete row; next }
    { original[n] = $1; token[n] = $2; lang[n] = $3; own[n] = $4; if ($5 != "-") row[$5]; n++ }
    END { print tokens, switched / tokens }' vocab rows > told ||
        fail "status $? of a switched row ($(tail -n 1 told))"
read -r tokens share < told
awk -v n="$tokens" -v s="$share" 'BEGIN { exit !(n > 1e5 && s > 0.115 && s < 0.135) }' ||
    fail "$share of $tokens tokens"
# the same share in the log; sentences of cc are in MLM's batches only
awk -F'"tcs_switched":' '/"train"/ { split($2, x, ","); s += x[1]; n++ } END { exit !(n == 40 &&
    s / n > 0.115 && s / n < 0.135) }' run/log.jsonl ||
    fail "tcs_switched"
awk -F'"tcs_known":' '/"train"/ { split($2, x, ","); s += x[1]; n++ } END { exit !(s / n > 0.7 &&
    s / n < 0.85) }' run/log.jsonl || fail "tcs_known"
[ "$("$tensor" b/step-1.1.mlm.safetensors sample | wc -l)" -gt \
    "$("$tensor" b/step-1.1.tcs.safetensors sample | wc -l)" ] || fail "cc"
# --switch-units token switches pieces, too
"${small[@]}" "${all[@]}" "${tcs[@]}" --tokens 4000 --steps 1 --out any --switch-units token \
    --write-batches any.b
"$tensor" any.b/step-1.1.tcs.safetensors original token | awk 'NR == FNR { name[FNR + 4] = $1;
    next }
    name[last] ~ /@@$/ && $1 > 4 && $2 > 4 && $1 != $2 && name[$2] ~ /^[ab]/ { n++ } { last = $1 \
        } END { exit !n }' vocab - || fail "token"

echo "# a rate of 0 without dropout: the gradient is twice that of MLM, by Adam's first moments"
# aa and bb alone: cc would have MLM only
dry=(--tokens 600 --steps 1 --save-every 1 --dropout 0 --attention-dropout 0 --clip 0)
"${small[@]}" "${two[@]}" "${tcs[@]}" "${dry[@]}" --switch-rate 0:0 --out zero
"${small[@]}" "${two[@]}" -q --objective mlm --mlm-weight 2 "${dry[@]}" --out double
for d in zero double; do find $d/ -name optimizer.safetensors -exec cp {} $d.st \; ; done
# both passes count as tokens: base+MLM with the same passes is what TCS is compared with
seen() { sed 's/.*"tokens":\([0-9]*\).*/\1/' $1/log.jsonl; }
is "$(seen zero)" $((2 * $(seen double))) "tokens of two passes"
header=$(od -A n -t u8 -N 8 zero.st | tr -d ' ')
dd if=zero.st bs=1 skip=8 count=$header 2> /dev/null | grep -o '"[^"]*":{"dtype":"F32"[^}]*}' |
    sed 's/^"\([^"]*\)".*offsets":\[\([0-9]*\),\([0-9]*\)\].*/\1 \2 \3/' > tensors
[ "$(wc -l < tensors)" -gt 10 ] || fail "no moments in the checkpoint"
while read -r name from to; do
    for d in zero double; do od -v -A n -t f4 -w4 -j $((8 + header + from)) -N $((to - from)) \
        $d.st > $d.f; done
    paste zero.f double.f | awk '{ d += ($1 - $2) ^ 2; s += $2 ^ 2 } END {
        exit !(sqrt(d) <= 1e-6 * sqrt(s) + 1e-12) }' || fail "$name"
done < tensors

echo "# stopped and resumed: the same bytes"
go=("${small[@]}" "${all[@]}" "${tcs[@]}" --tokens 300 --save-every 3)
"${go[@]}" --steps 6 --out whole --write-batches whole.b
"${go[@]}" --steps 6 --threads 1 --out one
same whole/last/weights.safetensors one/last/weights.safetensors
rm -rf one/checkpoints/step-00000006 && ln -sfn checkpoints/step-00000003 one/last
"${go[@]}" --steps 6 --out one --resume --write-batches one.b
same whole/last/weights.safetensors one/last/weights.safetensors
same whole.b/step-5.1.tcs.safetensors one.b/step-5.1.tcs.safetensors

echo "# a dictionary of its own, every 3 steps: what dict-induce finds in the table of that step"
own=("${small[@]/1e-3/5e-2}" "${two[@]}" "${tcs[@]}" --tokens 300 --save-every 3 --keep 9
    --dict-refresh 3 --specific 900)
"${own[@]}" --steps 9 --out fresh --write-batches fresh.b
for l in aa bb; do vocab-count --whole-words $l > $l.counts; done
for step in 3 6; do
    embed -q --model fresh/checkpoints/step-0000000$step > table.vec
    dict-induce -q --map none --specific 900 --src-counts aa.counts --tgt-counts bb.counts -k 1 \
        --mutual --neighbours 10 --src table.vec --tgt table.vec | cut -f 1,2 | sort > found.$step
    [ "$(wc -l < found.$step)" -gt 3 ] || fail "dict-induce finds $(wc -l < found.$step) pairs"
    # words of either language in the order of the vocabulary; of each of aa the number of bb's
    "$tensor" fresh/checkpoints/step-0000000$step/state.safetensors dict.aa-bb > to
    grep -o '^a[0-9]*' vocab > words.aa; grep -o '^b[0-9]*' vocab > words.bb
    paste words.aa to | awk 'NR == FNR { b[FNR - 1] = $1; next }
        $2 >= 0 { print $1 "\t" b[int($2)] }' words.bb - | sort > kept.$step
    same found.$step kept.$step
    # and that is what is read from the next step on, but where a random word reads <mask>'s place
    "$tensor" fresh.b/step-$((step + 1)).1.tcs.safetensors original token |
        awk -F'\t' 'FILENAME == "vocab" { split($1, x, " "); name[FNR + 4] = x[1]; next }
        FILENAME != "-" { pair[$1, $2]; pair[$2, $1]; next }
        name[$1] name[$2] ~ /^(a[0-9]*b|b[0-9]*a)/ { n++; known += (name[$1], name[$2]) in pair }
        END { exit !(n > 5 && known / n > 0.8) }' vocab found.$step - || fail "step $((step + 1))"
done
cmp -s found.3 found.6 && fail "the dictionary did not change"
grep -q '"tcs_pairs":'"$(wc -l < found.6)"'[,}]' fresh/log.jsonl || fail "tcs_pairs"
# stopped between two dictionaries, and resumed: the same bytes, under load or not
cp -r fresh again; rm -rf again/checkpoints/step-00000009 again/checkpoints/step-00000006
ln -sfn checkpoints/step-00000003 again/last
"${own[@]}" --steps 9 --out again --resume --threads 1
same fresh/last/weights.safetensors again/last/weights.safetensors
same fresh/last/state.safetensors again/last/state.safetensors
# a machine that does much else: steps and what reads the data come to other turns
for i in 1 2 3 4; do timeout 60 sh -c 'while :; do :; done' & busy[i]=$!; done
"${own[@]}" --steps 9 --out loaded --threads 3
kill "${busy[@]}"
same fresh/last/weights.safetensors loaded/last/weights.safetensors
same fresh/last/state.safetensors loaded/last/state.safetensors
# a dictionary that was changed by hand meanwhile
cp dict dict.kept; sed -i 's/^a1\tb1\t/a1\tb2\t/' dict
fails 1 'dict is not the dictionary that this run began with' "${own[@]}" --steps 12 --out again \
    --resume
cp dict.kept dict
fails 1 'dict-refresh: aa and bb have no words of their own.*lower --specific' "${own[@]}" \
    --steps 1 --specific 100000 --out none

echo "# what is left out is counted; a dictionary that is too small for the rate is told, once"
printf 'a0\tb0\na0\tb0\t2\na1\ta1\na2\tnowhere\na3\tb3\t1\n' > few
"${small[@]}" "${all[@]}" --objective mlm,tcs --dict aa-bb=few --tokens 200 --steps 130 \
    --save-every 0 --log-every 100 --out few.run 2> note
left='left out 1 with a token that the vocabulary lacks, 1 of a token with itself'
grep -q "few: 5 lines; $left, 1 that was there before" note || fail "$(cat note)"
grep -q 'no dictionary has words of cc: its sentences are not switched' note || fail "$(cat note)"
is "$(grep -c 'of the tokens were switched, --switch-rate asks for 10.0% or more' note)" 1
# by what it has seen in 100 steps, which the log has as well
share() {   # OBJECTIVE LOG: percent
    sed -nE '1s/.*"'$1'_switched":([-+.e0-9]+).*/\1/p' $2 | awk '{ printf "%.1f", 100 * $1 }'
}
is "$(sed -nE 's/.*tcs: ([0-9.]+)% of the tokens.*/\1/p' note)" "$(share tcs few.run/log.jsonl)"

echo "# bad input"
try=("${small[@]}" -q "${two[@]}" --steps 1 --out no --objective mlm,tcs)
fails 2 'objective tcs needs a dictionary' "${try[@]}"
fails 1 'expected SRC-TGT=FILE' "${try[@]}" --dict dict
fails 1 'language dd is not trained' "${try[@]}" --dict aa-dd=dict
fails 1 'has one language only' "${try[@]}" --dict aa-aa=dict
fails 1 'none' "${try[@]}" --dict aa-bb=none
printf 'q\tb0\n' > unknown; fails 1 'no line has two different tokens' "${try[@]}" --dict \
    aa-bb=unknown
printf 'a0\tb0\na1\n' > single; fails 1 'single:2: expected "source<TAB>target"' "${try[@]}" \
    --dict aa-bb=single
printf 'a0\tb0\na1\t\n' > single; fails 1 'single:2: expected "source<TAB>target"' "${try[@]}" \
    --dict aa-bb=single
printf '\tb0\n' > single; fails 1 'single:1: expected "source<TAB>target"' "${try[@]}" \
    --dict aa-bb=single
printf 'a0\tb0\tx\n' > score; fails 1 'score:1: the score is not a number' "${try[@]}" --dict \
    aa-bb=score
# 0.5 and what does not belong to it, behind more zeros than a number has
printf 'a0\tb0\t0.5%080dx\n' 0 > score
fails 1 'score:1: the score is not a number' "${try[@]}" --dict aa-bb=score
for r in 0.2:0.1 x 0.1:1.1 -0.1:0.1 0.1:; do fails 2 'expected two shares' "${try[@]}" --dict \
    aa-bb=dict --switch-rate "$r"; done
fails 2 'belongs to objectives that learn from a dictionary; none is in --objective mlm' \
    "${small[@]}" "${two[@]}" --objective mlm --dict aa-bb=dict --out no
[ ! -e no ] || fail "a run that could not start left a folder"
