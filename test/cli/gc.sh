# MLM-GC: states come to have the products that the counts ask for; the log's gc_constant; tokens
# that counting passed over are passed over in training, and nobody can forget it.
. "$TOP/test/cli/lib.sh"
value() { sed -nE "s/.*\"$1\":([0-9.e-]+).*/\1/p" "$2/log.jsonl" | tail -n 1; }

# G0: four tokens, always in the same order, and counts that somebody chose:
# X = 20, 3, 6, 10, 1, 30.
# With f = 1 everywhere the loss is the mean over 4 targets of 1/6 of 3 squared errors. A pair that
# is 0.05 away from log X makes it 0.05^2 / 24 or more.
printf 'a 4\nb 3\nc 2\nd 1\n' > vocab
while read -r n pair; do
    for ((i = 0; i < n; i++)); do echo "${pair/-/ }"; done
done > counted <<< \
'40 a-b
6 a-c
12 a-d
20 b-c
2 b-d
60 c-d'
cooc-count -q -w 3 -v vocab en=counted > four.cooc
is "$(cooc-query four.cooc b c)" 10 "the chosen count"
for ((i = 0; i < 50; i++)); do echo 'a b c d'; done | binarize -q -v vocab -l en > four.shd
small="--layers 2 --heads 2 --positions 8 --dropout 0 --attention-dropout 0 --mask-token 1
    --mask-random 0"
pretrain -q -v vocab --train en=four.shd --objective gc --cooc four.cooc --gc-window 3 \
    --gc-xmax 0.001 $small --dim 8 --ffn 32 --mask-prob 0.25 --tokens 200 --lr 2e-2 --warmup 100 \
    --schedule linear --steps 2000 --log-every 200 --seed 1 --out four
awk -v gc="$(value gc four)" 'BEGIN { exit !(gc < 0.05 ^ 2 / 24) }' ||
    fail "four tokens do not come to their counts: $(tail -n 1 four/log.jsonl)"

# gc_constant by hand: X(a, b) = 4 and X(b, c) = 1, f = 1/2 and 1/4 (xmax 16, power 1/2). Of
# "a b c", all masked, each pair is met from both sides; the best constant is 2/3 ln 4, which leaves
# 2 (1/2 (ln 4 / 3)^2 + 1/4 (2/3 ln 4)^2) = (ln 4)^2 / 3 for three targets, times 1/(2n) = 1/2.
printf 'a b\na b\na b\na b\na b\na b\na b c\na b c\n' > counted
cooc-count -q -w 1 -v vocab en=counted > three.cooc
for ((i = 0; i < 50; i++)); do echo 'a b c'; done | binarize -q -v vocab -l en > three.shd
three="pretrain -q -v vocab --train en=three.shd --objective mlm,gc --gc-window 1 --gc-xmax 16
    --gc-alpha 0.5 $small --dim 8 --ffn 8 --mask-prob 1 --tokens 100 --log-every 1 --seed 2"
$three --cooc three.cooc --steps 1 --out three
is "$(awk -v x="$(value gc_constant three)" 'BEGIN { printf "%.5f", x }')" \
    "$(awk 'BEGIN { printf "%.5f", log(4) ^ 2 / 18 }')" "gc_constant"

# --gc-skip: the counts' own list counts, asked for or not; another one is refused
printf 'm 9\na 4\nb 3\nc 2\nd 1\n' > vocab
sed 's/\([abc]\)/m \1/g' counted > marked
for ((i = 0; i < 50; i++)); do echo 'm a m b m c'; done | binarize -q -v vocab -l en > three.shd
cooc-count -q -w 1 -v vocab --skip m en=marked > marked.cooc
cooc-count -q -w 1 -v vocab en=marked > plain.cooc
$three --cooc marked.cooc --gc-skip m --steps 2 --out asked
${three/-q/} --cooc marked.cooc --steps 2 --out silent 2> said
grep -q '^pretrain: marked.cooc: gc skips m, as counting did$' said || fail "$(cat said)"
same asked/last/weights.safetensors silent/last/weights.safetensors
# what is left is "a b c": 3 targets of 6 tokens, with 4 pairs
is "$(value gc_pairs asked | cut -c1-6)" 1.3333 "pairs, a target"
is "$(awk -v x="$(value gc_constant asked)" 'BEGIN { printf "%.5f", x }')" \
    "$(awk 'BEGIN { printf "%.5f", log(4) ^ 2 / 18 }')" "gc_constant without markers"
fails 1 'marked.cooc: was counted skipping m, but training is to skip m,x' $three \
    --cooc marked.cooc --gc-skip m,x --steps 1 --out no
fails 1 'plain.cooc: was counted skipping nothing, but training is to skip m;' $three \
    --cooc plain.cooc --gc-skip m --steps 1 --out no
fails 2 '--gc-skip: an empty token in "a,,b"' $three --cooc marked.cooc --gc-skip a,,b \
    --steps 1 --out no
fails 2 '--gc-dot and --no-gc-sqrt-d' $three --cooc marked.cooc --gc-dot 0.1 --no-gc-sqrt-d \
    --steps 1 --out no
# the factor of products may be given: at sqrt(dim)^-1 it is the same run
$three --cooc marked.cooc --gc-dot 0.353553390593 --steps 2 --out dot
same asked/last/weights.safetensors dot/last/weights.safetensors
[ ! -e no ] || fail "a run that could not start left a folder"

# As the authors' code has it. X(a, b) = 8 and X(b, c) = 2 with 1/d, f = 1/sqrt(2) and half of that;
# the best constant for ln 9 and ln 3 leaves sqrt(2) / 3 (ln 3)^2, over 4 pairs, times 1/(2n).
printf 'a 4\nb 3\nc 2\nd 1\n' > vocab
cooc-count -q -w 1 --weights glove -v vocab en=counted > glove.cooc
for ((i = 0; i < 50; i++)); do echo 'a b c'; done | binarize -q -v vocab -l en > three.shd
${three/-q/} --cooc glove.cooc --gc-mean pairs --gc-log 1+x --steps 1 --out code 2> said
is "$(awk -v x="$(value gc_constant code)" 'BEGIN { printf "%.5f", x }')" \
    "$(awk 'BEGIN { printf "%.5f", sqrt(2) * log(3) ^ 2 / 24 }')" "gc_constant by the code"
if grep 'glove.cooc:' said; then fail "a note where nothing is amiss"; fi
# counts of the other form are not an error, but said
${three/-q/} --cooc glove.cooc --steps 1 --out other 2> said
grep -q '^pretrain: glove.cooc: counts of 1/d go with log(X + 1).*--gc-log 1+x.*mlm-gc' said ||
    fail "$(cat said)"
${three/-q/} --cooc three.cooc --gc-log 1+x --steps 1 --out another 2> said
grep -q '^pretrain: three.cooc: counts of 1/(d+1) go with log X.*--weights glove' said ||
    fail "$(cat said)"
# words on the left alone: of "a b", a target's b would have the count of b before a
cooc-count -q -w 1 --left -v vocab en=counted > left.cooc
fails 1 'left.cooc: counts one side only; objective gc needs symmetric counts' \
    $three --cooc left.cooc --steps 1 --out no
# where all is masked no neighbour is visible; where nothing is, all are
$three --cooc three.cooc --gc-neighbours visible --steps 1 --out none
is "$(value gc none) $(value gc_visible none) $(value gc_pairs none | cut -c1-6)" "0 0 1.3333" \
    "nothing is visible"
read="--mask-token 0 --mask-random 0 --gc-targets selected --cooc three.cooc --steps 2"
$three $read --out all
$three $read --gc-neighbours visible --out visible
is "$(value gc_visible visible)" 1 "everything is visible"
same all/last/weights.safetensors visible/last/weights.safetensors

# GC on MASS. Of ten equal words with all of a span masked, 6 of the 12 rows are the span; each word
# of the language stands beside itself, so that every neighbour in reach counts. A decoder has rows
# of the span only, w words long (6, or 5 where it ends in </s>): 2n(1 - (n + 1) / (2w)) pairs a
# target, n = 2; an encoder has all ten, of which those near an end have fewer.
printf 'a 4\nb 3\n' > vocab
for ((i = 0; i < 50; i++)); do echo 'a a a a a a a a a a'; done > tens
binarize -q -v vocab -l en < tens > tens.shd
cooc-count -q -w 9 -v vocab en=tens > tens.cooc
mass="pretrain -q -v vocab --train en=tens.shd --objective mass,gc --cooc tens.cooc
    --decoder-layers 1 --layers 1
    --dim 8 --heads 2 --ffn 8 --positions 16 --dropout 0 --attention-dropout 0
    --mask-token 1 --mask-random 0 --tokens 600 --log-every 1 --steps 4 --seed 3 --save-every 2"
$mass --out dec
awk -v p="$(value gc_pairs dec)" \
    'BEGIN { exit !(p >= 4 * (1 - 3 / 10) && p <= 4 * (1 - 3 / 12)) }' ||
    fail "pairs within spans: $(tail -n 1 dec/log.jsonl)"
$mass --gc-side enc --out enc
awk -v p="$(value gc_pairs enc)" 'BEGIN { exit !(p > 4 * (1 - 3 / 12) && p < 4) }' ||
    fail "pairs of the encoder: $(tail -n 1 enc/log.jsonl)"
grep -q '"mass":' enc/log.jsonl || fail "no loss of mass"
$mass --gc-side enc --steps 2 --out broken; $mass --gc-side enc --out broken --resume
same enc/last/weights.safetensors broken/last/weights.safetensors
fails 2 "--gc-neighbours visible: neighbours of MASS's decoder .*; add --gc-side enc" $mass \
    --gc-neighbours visible --out no
[ ! -e no ] || fail "a run that could not start left a folder"
# a span of one word has no neighbour in a decoder: the loss is 0, and a number
$mass --mass-span 0.09 --gc-window 9 --out one
is "$(value gc one) $(value gc_pairs one)" "0 0" "a span of one word"
if grep -qi nan one/log.jsonl; then fail "not a number"; fi
