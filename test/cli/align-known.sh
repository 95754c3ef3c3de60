# align-post: what it must learn on two invented languages whose sentence pairs are known. TLM
# looks the masked word up in the translation (D6); MoCo finds a sentence's translation among 500
# (D7), and nothing where the pairs it learns from are wrong.
. "$TOP/test/cli/lib.sh"
covered align-post, objectives
# one thread each: the same bytes, and none waits for another while other tests have the processors
export SLURM_CPUS_PER_TASK=1

synth-corpus -q --out s --sentences 4000 --dev 8000 --test 500 --lexicon 300 --topics 20 --seed 2
for l in xa xb; do
    for part in mono dev test; do tr A-Z a-z < s/$part.$l > $part.$l; done
done
cat {mono,dev}.{xa,xb} | vocab-count -q > vocab
for l in xa xb; do binarize -q -v vocab -l $l -o $l.shd < mono.$l; done
# the same sentences, none beside its translation
for part in dev test; do (tail -n +18 $part.xb; head -n 17 $part.xb) > wrong.$part.xb; done
pretrain -q -v vocab --train xa=xa.shd --train xb=xb.shd --no-encoder-langs --layers 2 --dim 64 \
    --heads 4 --ffn 128 --positions 64 --tokens 1500 --steps 200 --warmup 50 --lr 2e-3 --out base
pretrain -q -v vocab --train xa=xa.shd --no-encoder-langs --layers 2 --dim 64 --heads 4 --ffn 128 \
    --positions 64 --tokens 1500 --steps 1 --lr 1e-9 --out untrained

# run NAME TRAIN_B VALID_B [OPTION...]: from base, or what --model names
run() {
    align-post -q --model base --parallel xa-xb=dev.xa,$2 --valid xa-xb=test.xa,$3 --min-tokens 4 \
        --batch 64 --dropout 0 --save-every 0 --no-gradient-norms --seed 1 --out $1 "${@:4}"
}
# value NAME FIELD: of the last validation
value() { grep '"valid"' $1/log.jsonl | tail -n 1 | sed "s/.*\"$2\":\([^,}]*\).*/\1/"; }
holds() { awk "BEGIN { exit !($1) }" || fail "$2: $1"; }

# --- D6: nats that the translation beside it saves a masked word ---
tlm=(--objective tlm --tlm-form xlm --warmup 30)
run after dev.xb test.xb "${tlm[@]}" --lr 3e-3 --steps 300
for v in test wrong.test; do
    run before-$v dev.xb $v.xb "${tlm[@]}" --model untrained --lr 1e-9 --steps 1
    run after-$v dev.xb $v.xb "${tlm[@]}" --model after --lr 1e-9 --steps 1
done
# (what was learnt is what is looked at)
holds "log($(value after xa-xb.perplexity) / $(value after-test xa-xb.perplexity)) ^ 2 < 1e-6" \
    "a model that is loaded has another perplexity"
nats() { echo "log($(value $1-wrong.test $2)) - log($(value $1-test $2))"; }
holds "($(nats before xa-xb.perplexity)) ^ 2 < 0.02 ^ 2" "untrained, the translation helps"
holds "$(nats after xa-xb.perplexity) > 0.5" "TLM has not learnt to read the translation"

# --- D7: the translation among 500 sentences ---
moco=(--objective moco --queue 1024 --queue-start empty --momentum 0.99 --projection 64
    --warmup 60)
run begun dev.xb test.xb "${moco[@]}" --lr 1e-9 --steps 1
run found dev.xb test.xb "${moco[@]}" --lr 3e-3 --steps 700
# (300 steps find six of ten among right pairs)
run lost wrong.dev.xb test.xb "${moco[@]}" --lr 3e-3 --steps 300
for way in xa-xb xb-xa; do
    holds "$(value begun $way.retrieval) < 0.3" "$way: the base finds them already"
    holds "$(value found $way.retrieval) > 0.9" "$way: MoCo does not find the translations"
    holds "$(value lost $way.retrieval) < 0.05" "$way: translations found from wrong pairs"
done
