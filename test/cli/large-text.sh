# Text that is larger than its share of memory: training reads it block by block, learns as much, is
# stopped and goes on to the same bytes, and needs no more memory; a text that fits is read as ever.
. "$TOP/test/cli/lib.sh"
synth-corpus -q --sentences 1500 --dev 60 --test 60 --lexicon 100 --topics 4 --out synth
cat synth/dev.xa synth/mono.xa > text
head -n 60 text > held; tail -n +61 text > train
vocab-count -q train held > vocab
binarize -q -v vocab -l xa --block-tokens 300 -o train.shd < train
binarize -q -v vocab -l xa -o held.shd < held
[ "$(shard info train.shd | awk '/blocks/ { print $2 }')" -gt 20 ] || fail "too few blocks"
base=(pretrain -q --train xa=train.shd --valid xa=held.shd -v vocab --layers 1 --dim 32 --heads 2
    --ffn 64 --positions 64 --tokens 300 --lr 3e-3 --warmup 20 --valid-every 50 --save-every 10
    --steps 150 --seed 3)
last() { cat $1/last/weights.safetensors $1/last/state.json | sha256sum; }
perplexity() {
    sed -n 's/.*"event":"valid".*[{,]"perplexity":\([0-9.]*\).*/\1/p' $1/log.jsonl | tail -n 1
}

"${base[@]}" --out whole
"${base[@]}" --text-memory 1G --out fits; is "$(last fits)" "$(last whole)" "a text that fits"
"${base[@]}" --text-memory 0 --out all; is "$(last all)" "$(last whole)" "all at once"
cat train.shd | "${base[@]/train.shd/-}" --out pipe; is "$(last pipe)" "$(last whole)" "a pipe"
"${base[@]}" --text-memory 16K --out blocks
[ "$(last blocks)" != "$(last whole)" ] || fail "blocks come in the order of the whole text"
awk -v a="$(perplexity blocks)" -v b="$(perplexity whole)" \
    'BEGIN { exit !(a > 1 && a < 1.15 * b && b < 1.15 * a) }' ||
    fail "perplexity $(perplexity blocks) by blocks, $(perplexity whole) with the whole text"

# stopped on the way and continued: the same bytes; so does a run on two threads
"${base[@]}" --text-memory 16K --out stopped --threads 2 & p=$!
for ((i = 0; i < 600; i++)); do
    [ ! -e stopped/checkpoints/step-00000020 ] || break; sleep 0.05
done
kill -TERM $p 2> /dev/null || true; wait $p || [ $? = 75 ] || fail "stopped with another status"
"${base[@]}" --text-memory 16K --out stopped --resume
is "$(last stopped)" "$(last blocks)" "stopped and continued"

# as streams, and with whole sentences joined
for how in "--stream 32" "--stream 32 --stream-sentences"; do
    rm -rf s; "${base[@]}" $how --steps 20 --text-memory 16K --out s
    grep -q '"mlm":[0-9]' s/log.jsonl || fail "$how"
done
# what cannot be read is said before training begins
fails 1 'pretrain: synth: is a folder, not a file; name the files in it' \
    pretrain -q --train xa=synth -v vocab --text-memory 16K --out no
cp train.shd bad.shd; printf damage | dd of=bad.shd bs=1 seek=9000 conv=notrunc 2> /dev/null
fails 1 'bad.shd:.* checksum' pretrain -q --train xa=bad.shd -v vocab --text-memory 16K --out no

# ranks: the same bytes; before the first step each reads its share of the blocks, no other's
. "$TOP/test/cli/data/ranks.sh"
tracer=$(dirname "$BIN")/test/traced.so
[ -f "$tracer" ] || fail "run this by make test, which builds $tracer"
# (two objectives, whose shares of the micro-batches follow from the lengths of all sentences)
by_ranks=("${base[@]}" --text-memory 16K --threads 1 --accumulate 4 --steps 12 --gradient-tree
    --objective mlm,tlm --mix by-data --parallel xa-xb=train,train)
"${by_ranks[@]}" --out one
for n in 2 3 4; do
    ranks $n "${by_ranks[@]}" --out ranks$n
    alike one ranks$n "$n ranks, text by blocks"
done
# seeks N: how often each of N ranks goes to another place in the text before training; every block
# is one
seeks() {
    rm -rf trace.* none
    ranks $1 bash -c 'export TRACE_SEEKS=1 TRACE=trace.'"$which_rank"' LD_PRELOAD=$0; exec "$@"' \
        "$tracer" "${by_ranks[@]}" --steps 0 --out none
    for ((r = 0; r < $1; r++)); do grep -c '^seek ' trace.$r; done
}
blocks=$(shard info train.shd | awk '/blocks/ { print $2 }')
alone=$(seeks 1)
for n in 2 4; do
    seeks $n > here
    awk -v n=$n -v blocks=$blocks -v alone=$alone '
        { spared = alone - $1; sum += spared; least = int(blocks * (n - 1) / n)
          if (spared < least || spared > least + 1) bad = 1 }
        END { exit bad || NR != n || sum != blocks * (n - 1) }' here ||
        fail "$n ranks of $blocks blocks: $(tr '\n' ' ' < here) places, one process $alone"
done
# what is too long to be joined is counted by the ranks together
short=(${base[@]/-q} --stream 8 --stream-sentences --steps 0)
"${short[@]}" --text-memory 0 --out joined 2> one.err
grep -q 'xa: left out [1-9][0-9]* of ' one.err || { cat one.err; fail "too long to be joined"; }
ranks 3 "${short[@]}" --text-memory 16K --threads 1 --accumulate 3 --gradient-tree --out joined3 \
    2> three.err
is "$(grep 'left out' three.err)" "$(grep 'left out' one.err)" "left out, by three ranks"
# whoever reads a damaged block names it; a text of another size is another text
status=0
ranks 2 "${by_ranks[@]/train.shd/bad.shd}" --out no > err 2>&1 || status=$?
is $status 1 "a damaged block"
grep '^pretrain: ' err > own; is "$(wc -l < own)" 1 "lines about a damaged block"
grep -q 'bad.shd: byte .* checksum' own || { cat own; fail "who found a damaged block"; }
head -n 900 train | binarize -q -v vocab -l xa --block-tokens 300 -o less.shd
status=0
pair "${by_ranks[@]}" --out no -- "${by_ranks[@]/train.shd/less.shd}" --out no > err 2>&1 ||
    status=$?
is $status 1 "another text at rank 1"
grep -q '^pretrain: rank 1 of 2 .*its training data is not rank 0' err ||
    { cat err; fail "another text at rank 1"; }
# the words of each language, which a translation model keeps, are those that any rank has read
binarize -q -v vocab -l xb --block-tokens 300 -o b.shd < train
texts=(--train xa=train.shd --train xb=b.shd --text-memory 16K --threads 1 --tokens 300)
pretrain -q "${texts[@]}" -v vocab --layers 1 --dim 32 --heads 2 --ffn 64 --positions 64 --steps 0 \
    --out both
unmt=(finetune -q --task unmt --model both "${texts[@]}" --accumulate 2 --steps 1 --gradient-tree)
"${unmt[@]}" --out unmt1
ranks 2 "${unmt[@]}" --out unmt2
alike unmt1 unmt2 "words of each language"
