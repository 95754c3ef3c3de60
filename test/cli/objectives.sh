# pretrain --objective, --mix, --mask-scheme, --epochs: what is learnt, what is refused, and
# that a broken run goes on.
. "$TOP/test/cli/lib.sh"

# TLM of a language and its disguise: 8 tokens drawn from 500, the other side the same ones
# under other names. What is masked on one
# side alone can be copied from the other; of a token masked on both (15%) nothing is known: ln
# 500 * 0.15 = 0.93 nats, so
# perplexity cannot fall below 2.5 and is 500 where the sides do not belong together.
awk 'BEGIN { srand(5); for (i = 0; i < 2300; i++) { a = b = ""
    for (j = 0; j < 8; j++) { t = int(rand() * 500); s = j ? " " : ""; a = a s "a" t; b = b s "b" \
        t }
    f = i < 2000 ? "train" : "valid"; print a > f ".a"; print b > f ".b" } }'
sed -n '1001,2000p' train.b > other.b; sed -n '1,1000p' train.b >> other.b
cat train.a train.b | tr ' ' '\n' | sort | uniq -c | awk '{ print $2, $1 }' > vocab
tlm() {
    pretrain -q -v vocab --parallel xa-xb=train.a,$1 --valid-parallel xa-xb=valid.a,valid.b \
        --objective tlm --mask-token 1 \
        --mask-random 0 --layers 2 --dim 64 --heads 4 --ffn 128 --positions 12 --tokens 1000 \
            --steps $2 --warmup 20% --lr 4e-3 \
        --schedule linear --dropout 0 --attention-dropout 0 --valid-every $2 --log-every $2 \
            --seed 2 --out $3
    sed -nE 's/.*"xa-xb.perplexity":([0-9.]+).*/\1/p' $3/log.jsonl | tail -n 1
}
awk -v p="$(tlm train.b 1000 pairs)" 'BEGIN { exit !(p > 2.2 && p < 4.5) }' ||
    fail "TLM of pairs: $(grep perplexity pairs/log.jsonl)"
awk -v p="$(tlm other.b 100 strangers)" 'BEGIN { exit !(p > 400) }' ||
    fail "TLM of strangers: $(grep perplexity strangers/log.jsonl)"

for l in a b; do binarize -q -v vocab -l x$l -o $l.shd < train.$l; done
cooc-count -q -w 2 -v vocab xa=a.shd xb=b.shd > counts
small=(pretrain --quiet -v vocab --train xa=a.shd --train xb=b.shd --layers 1 --dim 16 --heads 2
    --ffn 16 --positions 24 --tokens 100 --lr 1e-3 --warmup 3 --log-every 1 --save-every 2 --seed 3)
# hashes DIR: of its weights, optimiser and state
hashes() { cat $1/last/weights.safetensors $1/last/optimizer.safetensors $1/last/state.json |
    sha256sum; }

# n-grams that belong together, from ngrams to pretrain: "a1 a2" and "b1 b2" in every tenth line
for l in a b; do
    awk -v l=$l '{ print NR % 10 ? $0 : l "1 " l "2 " $0 }' train.$l > pairs.$l
    ngrams -q -n 2 --top 1 x$l=pairs.$l | cut -f 3- > list.$l
    is "$(cat list.$l)" "${l}1 ${l}2" "the n-gram that belongs together"
done

# interrupted or not, every mixture ends with the same bytes; one thread or two, too
i=0
pairs="--parallel xa-xb=train.a,train.b"
for o in "mlm,tlm $pairs" "mlm,tlm --mix mlm:2,tlm:1 $pairs" \
    "tlm --tlm-form ppa --tlm-order toss $pairs" "gc --cooc counts" \
    "mlm,gc,tlm --cooc counts $pairs" \
    "mlm --mask-scheme pmi --mask-ngrams xa=list.a --mask-ngrams xb=list.b" \
    "mlm --mask-scheme span" "mlm --mask-scheme ngram --batch 7" \
        "mlm --mask-scheme word --accumulate 2"; do
    i=$((i + 1))
    "${small[@]}" --objective $o --steps 6 --threads 2 --out whole$i
    "${small[@]}" --objective $o --steps 4 --threads 1 --out broken$i
    "${small[@]}" --objective $o --steps 6 --threads 1 --out broken$i --resume
    is "$(hashes broken$i)" "$(hashes whole$i)" "$o"
done
# gc alone learns from MLM's batches and leaves the output bias of MLM where it was drawn
is "$(sed -nE '1s/.*"(mlm)".*/\1/p' whole4/log.jsonl)" "" "gc alone logs no loss of mlm"
# a mixture logs what it drew: in six steps both
grep -q '"tlm":' whole2/log.jsonl && grep -q '"mlm":' whole2/log.jsonl ||
    fail "a mixture drew one objective only"

# epochs: 4,000 sentences, 100 per batch, 2 batches per step: half an epoch is 10 steps
pretrain -q -v vocab --train xa=a.shd --train xb=b.shd --layers 1 --dim 16 --heads 2 --ffn 16 \
    --positions 24 --batch 100 \
    --accumulate 2 --epochs 0.5 --warmup 50% --lr 1e-3 --schedule constant --log-every 1 --out \
        epochs
is "$(sed -nE 's/.*"step": "([0-9]+)".*/\1/p' epochs/last/state.json)" 10 "steps of half an epoch"
sed -nE 's/.*"lr":([0-9.e-]+),.*/\1/p' epochs/log.jsonl > rates
is "$(sed -n '1p;5p;6p' rates | paste -sd ' ')" "0.0002 0.001 0.001" "warm-up of half the steps"
# a warm-up that training does not outlast: 2 steps of 8, a quarter of the rate; 2 of 2 is the peak
for w in 8 2; do
    "${small[@]/--quiet/--gradient-norms}" --lr 2e-3 --warmup $w --steps 2 --out warm.$w 2> said.$w
done
is "$(grep warm-up said.8)" "pretrain: the warm-up of 8 steps is longer than the 2 steps of \
training: the learning rate ends at 0.0005 of 0.002; --warmup 10% is a share of them"
! grep warm-up said.2 || fail "a warm-up of all steps"

fails 2 'gc-window belongs to objective gc, which is not in --objective mlm$' "${small[@]}" \
    --gc-window 1 --out no
fails 2 'unknown objective .mln.; choose from mlm, gc, tlm' "${small[@]}" --objective mln --out no
fails 2 'objective mlm is named twice' "${small[@]}" --objective mlm,mlm --out no
fails 2 '--mix leaves out mlm' "${small[@]}" --objective mlm,tlm --mix tlm:1 --out no
fails 2 '--mix names gc, which is not in --objective mlm' "${small[@]}" --mix gc:1 --out no
fails 2 'expected NAME:N,NAME:N with N from 1' "${small[@]}" --mix mlm:0 --out no
fails 2 'gc needs --cooc' "${small[@]}" --objective mlm,gc --out no
fails 1 'counted with windows of 2; --gc-window 3' "${small[@]}" --objective mlm,gc --cooc counts \
    --gc-window 3 --out no
fails 1 'tlm needs sentence pairs' pretrain -q -v vocab --train xa=a.shd --objective tlm --out no
fails 1 '--warmup 10x: expected' "${small[@]}" --warmup 10x --out no
fails 1 '--epochs and --steps' "${small[@]}" --epochs 1 --steps 3 --out no
fails 2 '--mask-ngrams is used only by --mask-scheme pmi' "${small[@]}" --mask-ngrams xa=list.a \
    --out no
fails 1 'needs a list for each language: --mask-ngrams xb=FILE' "${small[@]}" --mask-scheme pmi \
    --mask-ngrams xa=list.a --out no
fails 1 'language xa is given twice' "${small[@]}" --mask-scheme pmi --mask-ngrams xa=list.a \
    --mask-ngrams xa=list.a --out no
fails 1 'language zz' "${small[@]}" --mask-scheme pmi --mask-ngrams zz=list.a --out no
echo 'some other words' > words
fails 1 "words: no n-gram's tokens are all in the vocabulary" pretrain -q -v vocab \
    --train xa=a.shd --mask-scheme pmi --mask-ngrams xa=words --out no
fails 2 'mlm-weight' "${small[@]}" --mlm-weight 1:x --out no
[ ! -e no ] || fail "a run that could not start left a folder"
