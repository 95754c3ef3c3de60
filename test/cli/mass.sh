# pretrain --objective mass: what it learns, resuming, a translator from its model by
# back-translation alone, bad input. That the numbers of a training are right is
# test/cli/replay.sh's (runs mass, mass-see), what a sentence becomes test/unit/mass.c's.
. "$TOP/test/cli/lib.sh"

# Sentences that count: after aN comes aN+1, so that a span follows from what is left of it.
awk 'BEGIN { srand(5); for (i = 0; i < 4000; i++) { n = 6 + int(rand() * 8); w = int(rand() * 12)
    s = ""; for (j = 0; j < n; j++) s = s (j ? " " : "") "a" (w + j) % 12; print s } }' > aa
sed 's/a/b/g' aa > bb
cat aa bb | vocab-count > vocab
for l in aa bb; do
    binarize -q -v vocab -l $l -o $l.shd < $l
    head -n 200 $l | binarize -q -v vocab -l $l -o valid.$l.shd
done
small=(pretrain -q -v vocab --objective mass --layers 1 --dim 32 --heads 2 --ffn 64 --positions 32 \
    --train aa=aa.shd --train bb=bb.shd --lr 3e-3 --warmup 50 --dropout 0 --attention-dropout 0)

echo "# what follows from the rest of the sentence is learnt: 24 words, perplexity near 1"
"${small[@]}" --tokens 600 --steps 400 --valid aa=valid.aa.shd --valid bb=valid.bb.shd \
    --valid-every 400 --out run
field() { sed -n 's/.*"'"$1"'":\([^,}]*\).*/\1/p' $2/log.jsonl | tail -n 1; }
awk -v p="$(field mass_perplexity run)" 'BEGIN { exit !(p > 1 && p < 1.5) }' ||
    fail "perplexity $(field mass_perplexity run)"
grep -q '"decoder_layers": 1' run/last/config.json || fail "no decoder"

echo "# what only the encoder sees reaches the decoder: the other half of a sentence"
# Four words drawn from 20, then the same ones in other letters (twins), or others (strangers). A
# span of 4 of 10 rows has no word beside its twin: a decoder alone would stay at strangers' 16.
awk 'BEGIN { srand(6); for (i = 0; i < 3000; i++) { s = t = u = ""; for (j = 0; j < 4; j++) {
    w = int(rand() * 20); s = s "a" w " "; t = t " b" w; u = u " b" int(rand() * 20) }
    sub(/ $/, "", s); print s t > "twins"; print s u > "strangers" } }'
vocab-count twins > halves
for f in twins strangers; do
    head -n 2800 $f | binarize -q -v halves -l en -o $f.shd
    tail -n 200 $f | binarize -q -v halves -l en -o valid.$f.shd
    pretrain -q -v halves --objective mass --mass-span 0.4 --mask-token 1 --mask-random 0 \
        --layers 1 --dim 64 --heads 4 --ffn 128 --positions 12 --dropout 0 --attention-dropout 0 \
        --train en=$f.shd --valid en=valid.$f.shd --tokens 800 --lr 5e-3 --warmup 50 --steps 200 \
        --valid-every 200 --out $f.run
done
awk -v p="$(field mass_perplexity twins.run)" -v q="$(field mass_perplexity strangers.run)" \
    'BEGIN { exit !(p > 1 && p < 1.05 && q > 12) }' ||
    fail "twins $(field mass_perplexity twins.run), $(field mass_perplexity strangers.run)"

echo "# stopped and resumed, on one thread or two: the same bytes"
go=("${small[@]}" --tokens 200 --save-every 3 --decoder-layers 2)
"${go[@]}" --steps 6 --out whole --threads 2
"${go[@]}" --steps 6 --out one --threads 1
same whole/last/weights.safetensors one/last/weights.safetensors
rm -rf one/checkpoints/step-00000006 && ln -sfn checkpoints/step-00000003 one/last
"${go[@]}" --steps 6 --out one --resume
same whole/last/weights.safetensors one/last/weights.safetensors

echo "# a translator by back-translation alone starts from encoder and decoder"
finetune -q --task unmt --model run --train aa=aa.shd --train bb=bb.shd --denoise 0 \
    --pseudo-steps 0 --steps 2 --tokens 200 --out unmt --log-every 1
grep -q '"back":' unmt/log.jsonl || fail "no back-translation"
if grep -q '"denoise":' unmt/log.jsonl; then fail "denoising takes part"; fi
finetune -q --task unmt --model run --train aa=aa.shd --train bb=bb.shd --denoise 0 --steps 0 \
    --tokens 200 --out begun
tensor=$(dirname "$BIN")/test/tool/tensor
for t in decoder.0.cross.q.weight decoder.0.attn.qkv.weight encoder.0.ffn.in.weight; do
    "$tensor" run/last/weights.safetensors $t > a; "$tensor" begun/last/weights.safetensors $t > b
    same a b
done

echo "# bad input"
try=("${small[@]}" --steps 1 --out no)
fails 1 'no sentence has 20 to 30 tokens.*lower --mass-min-len' "${try[@]}" --mass-min-len 20
fails 1 'mass reads sentences: leave out --stream' "${try[@]}" --stream 16
fails 2 'decoder-layers belongs to objectives with a decoder' "${small[@]/mass/mlm}" --steps 1 \
    --decoder-layers 2 --out no
fails 2 'mass-span belongs to objective mass' "${small[@]/mass/mlm}" --steps 1 \
    --mass-span 0.3 --out no
[ ! -e no ] || fail "a run that could not start left a folder"
