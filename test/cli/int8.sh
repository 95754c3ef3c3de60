# --precision int8: translations are float32's, nearly; what a sentence gets depends on nothing
# else; what cannot be is refused.
. "$TOP/test/cli/lib.sh"
synth-corpus -q -o d -n 100 --dev 60 --test 10 --seed 3
for l in xa xb; do tokenize -q -l en d/dev.$l > tok.$l; done
bpe-learn -q -n 300 tok.xa tok.xb > codes
for l in xa xb; do bpe-apply -q -c codes tok.$l > bpe.$l; done
vocab-count -q bpe.xa bpe.xb > vocab
for l in xa xb; do cat bpe.$l bpe.$l bpe.$l bpe.$l > many.$l; done
finetune -q --task mt -v vocab --parallel xa-xb=many.xa,many.xb --layers 1 --dim 72 --heads 2 \
    --ffn 200 --positions 128 --tokens 400 --lr 4e-3 --warmup 20 --steps 150 --dropout 0 \
    --attention-dropout 0 --seed 1 --out run
t() { translate -q --model run --src xa --tgt xb --scores "$@"; }
# Lines of A and B, pairs of (translation, score), whose translations are the same.
same_words() { paste "$1" "$2" | awk -F '\t' '$1 == $3 { n++ } END { print n + 0 }'; }

echo "# nearly what float32 says, and not by being it"
for beam in 1 4; do
    t --beam $beam < bpe.xa > f$beam; t --beam $beam --precision int8 < bpe.xa > q$beam
    same=$(same_words f$beam q$beam)
    echo "beam $beam: $same of 60 are the same"
    [ "$same" -ge 54 ] || fail "only $same translations of 60 are float32's"
    ! cmp -s f$beam q$beam || fail "float32's scores to the last digit: nothing was rounded"
    paste f$beam q$beam | awk -F '\t' '$1 == $3 && ($2 - $4 > 0.1 || $4 - $2 > 0.1) { exit 1 }' ||
        fail "scores are far apart"
done

echo "# threads, batches and what else is translated do not matter"
for way in "--threads 1" "--threads 3" "--sentences 1" "--sentences 7 --threads 2" \
    "--tokens 60" "--line-buffered --threads 2"; do
    # shellcheck disable=SC2086
    t --beam 4 --precision int8 $way < bpe.xa > again; same q4 again
done
sed -n 41p bpe.xa | t --beam 4 --precision int8 > one; same one <(sed -n 41p q4)
t --precision int8 --device auto < bpe.xa > again; same q1 again

echo "# lesser instruction sets say the same words"
for simd in base avx2 avx512; do
    ISOGLOT_SIMD=$simd t --beam 4 --precision int8 < bpe.xa > again
    [ "$(same_words q4 again)" -ge 57 ] || fail "$simd: other translations"
done

# pairs A.vec B.vec: the lines side by side, without their first.
pairs() { paste -d ' ' <(tail -n +2 "$1") <(tail -n +2 "$2"); }
echo "# the table as it is held: within half a step of what it was, a step being largest / 127"
embed -q --model run > e.vec; embed -q --model run --precision int8 > q.vec
pairs e.vec q.vec > both
awk '{  n = NF / 2; most = 0
        if ($1 != $(n + 1)) exit 1
        for (i = 2; i <= n; i++) { a = $i < 0 ? -$i : $i; if (a > most) most = a }
        for (i = 2; i <= n; i++) {
            d = $i - $(i + n); if (d < 0) d = -d
            if (d > most / 254 * 1.001 + 1e-5) { print $1, $i, $(i + n); exit 1 }
            if (d > 1e-5) moved++
        } }
    END { if (NR < 150 || moved < NR * 30) exit 1 }' both || fail "rows are not rounded to 8 bits"

echo "# states of sentences are float32's, nearly"
e() { embed -q --model run --layer 1 --lang xa --of sentences --text bpe.xa "$@"; }
e > e.vec; e --precision int8 > q.vec
e --precision int8 --tokens 50 --threads 3 > again; same q.vec again
pairs e.vec q.vec > both
awk '{  n = NF / 2; x = y = z = 0
        for (i = 2; i <= n; i++) { x += $i * $(i + n); y += $i * $i; z += $(i + n) * $(i + n) }
        c = x / sqrt(y * z); if (c < 0.99 || c == 1) { print NR, c; exit 1 } }' both ||
    fail "states differ too much, or not at all"

echo "# on-the-fly back-translation: what translate says with the weights of that step"
tensor=$(dirname "$BIN")/test/tool/tensor
for l in xa xb; do binarize -q -v vocab -l $l -o $l.shd < bpe.$l; done
back=(finetune -q --task unmt --model run --train xa=xa.shd --train xb=xb.shd --denoise 0 --lr 2e-3
    --warmup 1 --tokens 400 --accumulate 2 --save-every 1 --keep 9 --seed 2 --steps 4)
"${back[@]}" --threads 1 --back-precision int8 --out back --write-batches back.b
# side BATCH SIDE: its sentences
side() {
    "$tensor" "$1" "$2.token" | awk 'NR == FNR { word[FNR + 4] = $1; next }
        $1 == 0 && FNR > 1 { print s } $1 == 0 { s = "" }
        $1 > 4 { s = s (s == "" ? "" : " ") word[$1] } END { print s }' vocab -
}
lang() { "$tensor" "$1" "$2.lang" | sed -n '1s/0/xa/p; 1s/1/xb/p'; }
for f in back.b/*; do
    step=${f#*step-}; step=${step%%.*}
    [ "$step" -gt 1 ] || continue
    side $f dec > real; side $f src > said
    [ "$(sort -u real | wc -l)" -gt 5 ] || fail "$f: no sentences"
    translate -q --model back/checkpoints/step-0000000$((step - 1)) --precision int8 \
        --src "$(lang $f dec)" --tgt "$(lang $f src)" < real > expected
    same expected said
done
is "$(for f in back.b/*; do lang $f dec; done | sort | uniq -c | xargs)" "4 xa 4 xb" directions
sums() { (cd $1/last && sha256sum weights.safetensors optimizer.safetensors state.json); }
"${back[@]}" --out plain
[ "$(sums plain)" != "$(sums back)" ] || fail "the translations were not in 8 bits"
echo "# training itself is as it was: from the same translations the same weights"
alike=0
for seed in 1 2 3 4 5 6; do
    one=("${back[@]}" --tokens 40 --accumulate 1 --steps 1 --seed $seed)
    "${one[@]}" --out float.$seed --write-batches float.$seed.b
    "${one[@]}" --out int8.$seed --write-batches int8.$seed.b --back-precision int8
    cmp -s {float,int8}.$seed.b/step-1.1.back.safetensors || continue
    alike=$((alike + 1))
    is "$(sums int8.$seed)" "$(sums float.$seed)" "training"
done
[ $alike -gt 0 ] || fail "no translations in 8 bits are float32's"
echo "# the same on two threads, and resumed in the middle"
"${back[@]}" --threads 2 --back-precision int8 --out two; is "$(sums two)" "$(sums back)" threads
"${back[@]}" --back-precision int8 --out parts --steps 2
"${back[@]}" --back-precision int8 --out parts --resume; is "$(sums parts)" "$(sums back)" resumed
fails 1 'began with --back-precision int8, not same' "${back[@]}" --steps 5 --out parts --resume

echo "# refused"
fails 1 'precision int8 is for the processor; use --device cpu' t --device cuda --precision int8
none="precision: 'int8' is not one of float32.bf16.auto"
fails 2 "$none" finetune --parallel xa-xb=bpe.xa,bpe.xb --precision int8 --out no
fails 2 "$none" pretrain -v vocab --precision int8 --out no
fails 2 "back-precision: 'bf16' is not one of same.int8" "${back[@]}" --back-precision bf16 --out no
[ ! -e no ] || fail "something was made"
translate --version | has '^kernels: .*8 bits by' || fail "--version does not say how"
