# Pre-training on real sentences (this project's own prose): overfits, resumes, gives the same bytes
# on any number of threads, and refuses what it cannot train on.
. "$TOP/test/cli/lib.sh"
cat "$TOP"/README.md "$TOP"/pipelines/README.md "$TOP"/docs/*.md "$TOP"/docs/formats/*.md \
    "$TOP"/common{,/*}/*.h "$TOP"/kernels/kernels.h |
    grep -v '[{};#|]' | tr -d '*/`' | tokenize -q -l en |
        awk 'NF >= 6 && NF <= 30 && !seen[$0]++ && n++ < 128' > all
[ "$(wc -l < all)" = 128 ] || fail "too little prose to train on"
head -n 64 all > xx; tail -n 64 all > yy
vocab-count -q xx yy > vocab
for l in xx yy; do binarize -q -v vocab -l $l -o $l.shd < $l
cooc-count -q -w 2 -v vocab $l=$l.shd > $l.cooc; done
cooc-merge -q --normalize xx xx.cooc yy.cooc > both.cooc
base=(-q --train xx=xx.shd -v vocab --layers 2 --dim 64 --heads 4 --ffn 256 --positions 64 \
    --tokens 600 --schedule linear
    --dropout 0 --attention-dropout 0 --seed 2)

# 64 real sentences: the loss falls below 0.05 (on one thread, which waits for no other)
pretrain "${base[@]}" --valid xx=xx.shd --lr 4e-3 --warmup 50 --steps 1500 --valid-every 1500 \
    --threads 1 --out overfit
loss=$(tail -n 1 overfit/log.jsonl | sed 's/.*"mlm":\([0-9.e-]*\).*/\1/')
awk -v l="$loss" 'BEGIN { exit !(l != "" && l + 0 > 0 && l < 0.05) }' ||
    fail "overfitting stops at a loss of $loss"
# a line's tokens per second are those since the line before: together they took the lines' time
sed -nE 's/.*"time":([0-9.]+),.*"tokens":([0-9]+),"tokens_per_second":([0-9.]+).*/\1 \2 \3/p' \
    overfit/log.jsonl > speeds
is "$(grep -c . speeds)" 30
awk 'NR == 1 { from = $1 } NR > 1 { took += ($2 - was) / $3; to = $1 } { was = $2 }
    END { exit !(took > 0.5 * (to - from) && took < 1.2 * (to - from) + 0.2) }' speeds ||
    fail "tokens per second are of another time: $(cat speeds)"

# validation is without dropout: weights that do not change are judged the same with any
for drop in 0 0.5; do
    pretrain "${base[@]}" --valid xx=xx.shd --lr 0 --steps 1 --dropout $drop \
        --attention-dropout $drop --out drop$drop
    grep -o '"xx.perplexity":[^,]*,"xx.accuracy":[^,]*' drop$drop/log.jsonl > judged$drop
done
[ -s judged0 ]; same judged0 judged0.5

# MLM-GC, killed and stopped, on one thread and two: the same files
gc=("${base[@]}" --train yy=yy.shd --valid yy=yy.shd --objective mlm,gc --cooc both.cooc \
    --dropout 0.1 --attention-dropout 0.1
    --lr 1e-3 --warmup 20 --steps 120 --save-every 10 --valid-every 40 --log-every 20)
pretrain "${gc[@]}" --threads 1 --out whole
for t in mlm gc mlm_grad_norm gc_grad_norm; do grep -q "\"$t\":[0-9]" whole/log.jsonl ||
    fail "the log has no $t"; done
i=0
while :; do
    i=$((i + 1)); [ $i -lt 60 ] || fail "the broken run does not come to an end"
    pretrain "${gc[@]}" --threads 2 --out broken --resume & pid=$!
    # ever longer: a slow machine gets there too
    sleep "$(awk -v i=$i -v r=$RANDOM 'BEGIN { print 0.3 + 0.15 * i + r / 65536 }')"
    if [ $((i % 2)) = 0 ]; then kill -USR1 $pid 2>/dev/null ||
        true; else kill -9 $pid 2>/dev/null || true; fi
    status=0; wait $pid || status=$?
    # (a signal that comes before the program listens to it ends it)
    case $status in 0) break ;; 75 | 137 | 138) ;; *) fail "status $status" ;; esac
done
for d in best last; do
    (cd whole/$d && find . -type f | sort | xargs sha256sum) > a; (cd broken/$d && find . -type f |
        sort | xargs sha256sum) > b
    same a b
done

# a run repeated from its own configuration gives the same model
pretrain -q --config whole/run.config --out again
same whole/last/weights.safetensors again/last/weights.safetensors

# wrong usage
fails 2 '--train' pretrain -v vocab --out no
# rows of a micro-batch are counted in int: 500,000 sentences of 4,096
fails 2 '--batch: 500001 is not between 0 and 500000' pretrain "${base[@]}" --batch 500001 --out no
fails 2 'needs --cooc' pretrain "${base[@]}" --objective mlm,gc --out no
fails 2 '--gc-lambda belongs to objective gc, which is not in --objective mlm' pretrain \
    "${base[@]}" --gc-lambda 5 --out no
fails 2 '--gc-xmax belongs to objective gc' pretrain "${base[@]}" --gc-xmax 10 --out no
[ ! -e no/last ] || fail "a run that could not start left a model"
# a model started from another one, with one language
pretrain "${base[@]}" --init whole --steps 1 --lr 0 --out started
for t in embed.tokens encoder.1.attn.qkv.weight encoder.0.ffn.out.bias; do
    for d in started/last whole/best; do
        "$(dirname "$BIN")/test/tool/tensor" $d/weights.safetensors $t > ${d%/*}.$t
    done
    same started.$t whole.$t
done
# of another shape: what begins as it was drawn, and what is left out, is said
pretrain "${base[@]:1}" --init whole --layers 3 --steps 0 --out more 2> said
has 'pretrain: encoder layers: whole/best has 2, this model 3; the last ones begin as' \
    < said || fail "$(cat said)"
pretrain "${base[@]:1}" --init whole --layers 1 --positions 40 --steps 0 --out fewer 2> said
has 'pretrain: encoder layers: whole/best has 2, this model 1; the last ones are left out' < said &&
    has "pretrain: positions: whole/best has 64, this model 40; the last ones are left" < said ||
    fail "$(cat said)"
# and from one of which it has 100 words and another one (with the specials 105 tokens of 106), with
# vectors for three of the 101
{ head -n 100 vocab; echo nowhere-else 1; } > few
binarize -q --max-unknown 1 -v few -l xx -o few.shd < xx
awk 'NR % 33 == 1 && NR < 99 { print $1, 1, 2, 3 } END { print "unheard-of 1 2 3" }' few > vectors
pretrain "${base[@]:5}" --train xx=few.shd -v few --init whole --init-embeddings vectors --steps 0 \
    --max-unknown 1 --out few.run 2> said || fail "$(cat said)"
has 'pretrain: started from whole/best: 105 tokens found there, 1 new' < said || fail "$(cat said)"
has 'pretrain: vectors: vectors for 3 of 101 tokens' < said || fail "$(cat said)"
