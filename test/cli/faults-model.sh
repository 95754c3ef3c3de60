# A model or checkpoint is whole whenever a program that writes one ends with status 0: no
# allocation or system call that fails on the way is overlooked.
. "$TOP/test/cli/lib.sh"
. "$TOP/test/faults/lib.sh"

awk 'BEGIN { srand(7)
    for (i = 0; i < 40; i++) {
        s = ""
        for (j = rand() * 8; j >= 0; j--) s = s " w" int(rand() * 30)
        print substr(s, 2)
    } }' > s
awk 'BEGIN { for (j = 0; j < 30; j++) print "w" j, 30 - j }' > vocab
binarize -q -v vocab -l aa -o aa.shd < s
run=(pretrain -q -v vocab --train aa=aa.shd --layers 1 --dim 32 --heads 2 --ffn 64 --positions 16
    --tokens 60 --threads 1 --save-every 2 --keep 1 --seed 5 --steps 4)
"${run[@]}" --out whole

# The mean of a model: what is written can be read, or the status says that it cannot. The header of
# weights.safetensors is made in memory, which grows by realloc.
average=(ckpt average -q --threads 1 -o mean whole/last)
"${average[@]}"; sum=$(sha256sum < mean/weights.safetensors); rm -r mean
tried=0
for call in malloc realloc; do
    n=$(calls $call "${average[@]}"); rm -r mean
    for ((k = n; k > 0 && k > n - 150; k--)); do
        tried=$((tried + 1))
        if faulty $call:$k:fail "${average[@]}" 2> err; then
            is "$(sha256sum < mean/weights.safetensors)" "$sum" "$call $k of $n failed, status 0"
        fi
        rm -rf mean
    done
done
[ $tried -gt 20 ] || fail "only $tried allocations failed"

# A run of training that ends with status 0 can be continued, whichever allocation of its last step
# failed.
n=$(calls realloc "${run[@]}" --out run); rm -r run
for ((k = n; k > 0 && k > n - 40; k--)); do
    if faulty realloc:$k:fail "${run[@]}" --out run 2> err; then
        ckpt info run/last > info || fail \
            "realloc $k of $n failed, status 0, and its model is unreadable"
    fi
    rm -rf run
done

# A run that cannot open something on its way leaves no half of a checkpoint: not of the one that it
# writes, and not of the one that it removes.
n=$(calls open "${run[@]}" --out run); rm -r run
tried=0
for ((k = n; k > 0 && k > n - 60; k--)); do
    if ! faulty open:$k:fail "${run[@]}" --out run 2> err; then
        tried=$((tried + 1))
        is "$(find . -path './run*.tmp')" "" "left behind when open $k of $n failed ($(cat err))"
    fi
    rm -rf run
done
[ $tried -gt 20 ] || fail "only $tried runs could not open something"

# A state that cannot be is refused, by name: the folder says another step, the corpus has fewer
# sentences.
"${run[@]}" --out run
sed 's/"step": "4"/"step": "1003"/' run/last/state.json > state; grep -q 1003 state
cp state run/last/state.json; rm run/last/state.sum
fails 1 'step-00000004/state.json: its step is 1003, the folder.s 4' "${run[@]}" --out run \
    --resume --steps 6
sed 's/"aa.next": "[0-9]*"/"aa.next": "999999999"/; s/"1003"/"4"/' state > run/last/state.json
fails 1 'state.json: "aa.next" is 999999999; the data ends at 40' "${run[@]}" --out run \
    --resume --steps 6
sed 's/"best_step": "0"/"best_step": "5"/; s/"1003"/"4"/' state > run/last/state.json
fails 1 'best step, 5, is after its step 4' "${run[@]}" --out run --resume --steps 6
sed 's/"1003"/"4"/; s/}/x}/' state > run/last/state.json
fails 1 'state.json:[0-9]+: not valid JSON' "${run[@]}" --out run --resume --steps 6

# config.json: nothing after the object, no key twice, and the line is told.
for change in 's/^}/}x/' 's/  "layers": 1,/&\n  "layers": 1,/' 's/"norm_eps"/"norm_epz"/' \
    's/"dim": 32/"dim": "32"/'; do
    cp -rL whole/last model; rm model/model.sum
    sed -i "$change" model/config.json
    fails 1 'model/config.json:[0-9]+: .*(follows|twice|unknown key|wrong type)' ckpt info \
        -q model
    rm -r model
done

# ckpt export: a tokenizer.json without some tokens, or a README.md without the run that made the
# model, never passes for one that is whole.
export=(ckpt export -q --threads 1 -o out --to bert whole/last)
"${export[@]}"; (cd out && sha256sum *) > sums; rm -r out
for call in malloc realloc; do
    n=$(calls $call "${export[@]}"); rm -r out
    for ((k = n; k > 0 && k > n - 1200; k--)); do
        if faulty $call:$k:fail "${export[@]}" 2> err; then
            (cd out && sha256sum *) | cmp - sums || fail "$call $k of $n failed, status 0"
        fi
        rm -rf out
    done
done

# model.sum: a bit of any byte of a model's files is seen by ckpt check and by what uses the model;
# so is a file that is missing. (bits(FILE): every byte of small files, every 97th of weights.) A
# folder without model.sum is read, with a note.
printf 'w1 w2\nw3 w4 w5\n' > text
tokenize --settings --case-marker -l en > tokenizer < /dev/null
printf '#version: 0.2\nw 1\nw 2\n' > codes
"${run[@]}" --out kept --codes codes --tokenizer tokenizer
cp -rL kept/last model; rm model/optimizer.safetensors model/state.*
is "$(sed 's/.* //' model/model.sum |
    tr '\n' ' ')" "codes config.json tokenizer vocab weights.safetensors "
if xxhsum --help 2>&1 | has XXH3; then (cd model; xxhsum -q -c model.sum) ||
    fail "xxhsum does not agree"; fi
# its text's rules go into no file of transformers': an export says so, with what it leaves out
fails 1 'model: no tokenizer of transformers cuts text by its tokenizer and codes: raw text' \
    ckpt export -o hf --to bert model
[ ! -e hf ] || fail "an export that is refused"
ckpt export -q --tokens-only -o hf --to bert model; rm -r hf
ckpt export -q -o hf --to bert whole/last; rm -r hf
ckpt check model > out 2>&1; [ ! -s out ] || fail "ckpt check has something to say"
flip() {   # FILE BYTE BIT
    local b; b=$(od -An -tu1 -j "$2" -N 1 "$1")
    printf "\\$(printf %o $((b ^ 1 << $3)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
for f in model/*; do
    size=$(stat -c %s "$f"); step=$((size / 60 + 1))
    cp "$f" whole.f
    for ((at = 0; at < size; at += step)); do
        flip "$f" $at $((at % 8))
        if ckpt check model 2> err; then fail "$f: a flipped bit of byte $at is not seen"; fi
        [ "$(wc -l < err)" = 1 ] || { cat err; fail "$f: not one line"; }
        cp whole.f "$f"
    done
    flip "$f" $((size / 2)) 0
    fails 1 "$f|model.sum" embed -q --model model -o x.vec
    cp whole.f "$f"
    [ "$f" = model/model.sum ] || { rm "$f"; fails 1 "$f|model" ckpt check model; cp whole.f "$f"; }
done
rm model/model.sum
embed --model model -o x.vec 2> err
grep -q 'model: has no model.sum, so damage to its files may go unnoticed' err
rm -r model

# ckpt info and ckpt check refuse what any program refuses
bad() {   # message, command that damages the folder `model`
    cp -rL kept/last model; rm -f model/model.sum model/state.sum; "${@:2}"
    fails 1 "$1" ckpt info -q model; [ ! -s fails.out ] || fail "$1: printed all the same"
    fails 1 "$1" ckpt check -q model
    rm -r model
}
bad 'not valid JSON' eval 'echo "[" > model/state.json'
bad 'state.json: "step" is missing' eval 'echo "{}" > model/state.json'
bad 'words.safetensors' eval ': > model/words.safetensors'
bad 'weights.safetensors' eval \
    'head -c 5000 whole/last/weights.safetensors > model/weights.safetensors'
bad 'tensor .* is missing' sed -i 's/encoder.0.attn.out.bias/encoder.0.attn.oup.bias/' \
    model/weights.safetensors
bad 'ffn.in.weight does not have the shape \[65, 32\]' \
    sed -i 's/"ffn": 64/"ffn": 65/' model/config.json
bad 'optimizer.safetensors: tensor' sed -i 's/adam.m.output.bias/adam.m.output.bia_/' \
    model/optimizer.safetensors
bad 'model/codes' eval 'echo x > model/codes'
bad 'model/tokenizer' eval 'echo case-marker = perhaps > model/tokenizer'
bad 'vocab' eval 'echo w >> model/vocab'

# A configuration of 16 TiB with weights of some KiB is refused before memory is taken for it.
(cp -rL kept/last huge; rm huge/model.sum
    sed -i 's/"layers": 1,/"layers": 1000,/;
            s/"dim": 32/"dim": 65536/; s/"ffn": 64/"ffn": 1048576/' \
        huge/config.json
    [ -n "${ISOGLOT_TEST_SANITIZED:-}" ] || ulimit -v 600000
    fails 1 'tensor embed.tokens does not have the shape \[35, 65536\]' ckpt info -q huge
    fails 1 'tensor embed.tokens does not have the shape' embed -q --model huge -o x.vec)
