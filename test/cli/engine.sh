# The training engine: recomputed layers give the same bytes in less memory, peak memory is what was
# predicted, what cannot fit is refused with what would, --profile says where time went, and every
# architecture and optimiser trains and resumes.
. "$TOP/test/cli/lib.sh"
cat "$TOP"/README.md "$TOP"/pipelines/README.md "$TOP"/docs/*.md "$TOP"/docs/formats/*.md \
    "$TOP"/common{,/*}/*.h "$TOP"/kernels/kernels.h |
    grep -v '[{};#|]' | tr -d '*/`' | tokenize -q -l en |
        awk 'NF >= 4 && NF <= 40 && !seen[$0]++' > all
vocab-count -q all > vocab
for l in xx yy; do binarize -q -v vocab -l $l -o $l.shd < all; done
base=(--train xx=xx.shd -v vocab --positions 64 --lr 1e-3 --warmup 10 --seed 3)
wide=("${base[@]}" --valid xx=xx.shd --layers 4 --dim 192 --heads 4 --tokens 2500 --steps 3 \
    --log-every 1)

# the peak is within 15% of the prediction (sanitizers have memory of their own), recomputed or not
for how in keep recompute; do
    pretrain "${wide[@]}" $([ $how = keep ] ||
        echo --recompute) --profile --out $how 2> $how.text || fail "$(cat $how.text)"
    line=$(grep '^memory: [0-9.]* MiB at most, [0-9.]* predicted$' $how.text) ||
        fail "no line of memory: $(cat $how.text)"
    echo "$how: $line"
    case "${BUILD_WITH-}" in *SAN=[!\ ]*) continue ;; esac
    echo "$line" | awk '{ r = $2 / $6; exit !(r > 0.85 && r < 1.15) }' ||
        fail "the prediction is off: $line"
done
same keep/last/weights.safetensors recompute/last/weights.safetensors
number() { awk \
    '/^memory: at most|memory: at most/ {
        for (i = 1; i < NF; i++) if ($i == "activations") print $(i + 1) }' "$1"; }
[ "$(number recompute.text)" -lt "$(number keep.text)" ] ||
    fail "--recompute does not save activations"
for what in 'linear +192-768' 'attention backward' 'output, cross entropy' 'adam' \
    'outside operations' 'arena: '; do
    grep -qE "^$what" keep.text || fail "--profile has no line of $what"
done

# copies of the weights in 8 bits, for back-translation, are part of the prediction: of eight
# million numbers, 7.8 MiB
for how in same int8; do
    finetune "${base[@]}" --train yy=yy.shd --task unmt --layers 4 --dim 256 --heads 4 \
        --tokens 300 --steps 1 --denoise 0 --back-precision $how --profile --out un.$how \
        2> un.$how.text ||
        fail "$(cat un.$how.text)"
    line=$(grep '^memory: [0-9.]* MiB at most, [0-9.]* predicted$' un.$how.text)
    echo "unmt, $how: $line"
    case "${BUILD_WITH-}" in *SAN=[!\ ]*) continue ;; esac
    echo "$line" | awk '{ r = $2 / $6; exit !(r > 0.85 && r < 1.15) }' ||
        fail "the prediction is off: $line"
done
cat un.same.text un.int8.text | awk '/predicted$/ { x[++n] = $6 }
    END { exit !(x[2] - x[1] > 7.5 && x[2] - x[1] < 9) }' || fail "copies in 8 bits are not planned"

# what does not fit is refused, with what would
need=$(awk '/predicted/ { print int($6) }' keep.text)
fails 1 '--recompute would need [0-9]+ MiB' pretrain -q "${wide[@]}" --memory $((need * 9 / 10))M \
    --out no
fails 1 '--tokens [0-9]+ --accumulate [0-9]+ would need [0-9]+ MiB' pretrain -q "${wide[@]}" \
    --memory $((need * 6 / 10))M --out no
fails 1 'no size of micro-batch fits' pretrain -q "${wide[@]}" --memory 10M --out no
[ ! -e no ] || fail "a run that was refused left a folder"

# accumulated micro-batches: as many tokens in a step, with the same loss within rounding and
# dropout
pretrain -q "${wide[@]}" --tokens 1250 --accumulate 2 --out accumulate
awk '/"event":"train"/ { match($0, /"mlm":[0-9.]+/);
    x[FILENAME] = substr($0, RSTART + 6, RLENGTH - 6) } END { d = x[ARGV[1]] / x[ARGV[2]];
        exit !(d > 0.98 && d < 1.02) }' \
    accumulate/log.jsonl keep/log.jsonl || fail "accumulation changes the loss"

# architectures and optimisers: interrupted or not, on one thread or two, recomputed or not, the
# same bytes
small=("${base[@]}" -q --layers 3 --dim 64 --heads 4 --tokens 500 --steps 12 --log-every 6 \
    --save-every 6)
while read -r name options; do
    pretrain "${small[@]}" $options --threads 1 --out $name
    pretrain "${small[@]}" $options --threads 2 --steps 6 --recompute --schedule inverse-sqrt \
        --out $name.again
    pretrain "${small[@]}" $options --threads 2 --resume --schedule inverse-sqrt --out $name.again
    same $name/last/weights.safetensors $name.again/last/weights.safetensors
    same $name/last/optimizer.safetensors $name.again/last/optimizer.safetensors
done <<'END'
lamb --optimizer lamb --weight-decay 0.01
adamw --weight-decay 0.1
albert --embed-dim 16 --share-layers --optimizer lamb
relu --activation relu --pre-norm --sinusoidal
shared --share-layers --pre-norm
END

[ "$(stat -c %s albert/last/weights.safetensors)" -lt "$(stat -c %s \
    lamb/last/weights.safetensors)" ] || fail "sharing saves nothing"
fails 2 'embed-dim' pretrain "${base[@]}" --objective mlm,gc --cooc x --gc-form output \
    --embed-dim 16 --out no

# an encoder-decoder with factorised, shared layers learns to translate and is read by translate
head -n 40 all > few
finetune -q -v vocab --task mt --parallel xx-yy=few,few --valid xx-yy=few,few --layers 2 --dim 64 \
    --heads 4 --positions 64 --embed-dim 32 --share-layers \
    --recompute --tokens 600 --lr 3e-3 --warmup 20 --steps 40 --valid-every 40 --out mt
translate -q --model mt --src xx --tgt yy < few > said
[ "$(wc -l < said)" = 40 ] || fail "translate of a shared model"
