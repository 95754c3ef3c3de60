# finetune --task unmt --translate-ahead K: the pairs of K steps are what translate says with the
# weights of the first of them; each sentence comes once; the same bytes on any number of threads,
# and resumed; K is 1 unless said.
. "$TOP/test/cli/lib.sh"
tensor=$(dirname "$BIN")/test/tool/tensor
awk 'function draw(n) { x = (1103515245 * x + 12345) % 2147483648; return int(x / 65536) % n }
    BEGIN { x = 5; for (i = 0; i < 400; i++) { a = b = ""; n = 3 + draw(6)
        for (j = 0; j < n; j++) { k = draw(30); s = j ? " " : ""; a = a s "a" k; b = b s "b" k }
        print a > "text.aa"; print b > "text.bb" } }'
vocab-count -q text.aa text.bb > vocab
for l in aa bb; do binarize -q -v vocab -l $l -o $l.shd < text.$l; done
finetune -q --task mt -v vocab --parallel aa-bb=text.aa,text.bb --layers 1 --decoder-layers 1 \
    --dim 24 --heads 2 --ffn 48 --positions 24 --tokens 600 --lr 5e-3 --warmup 10 --steps 60 \
    --out mt
back=(finetune -q --task unmt --model mt --train aa=aa.shd --train bb=bb.shd --denoise 0 --lr 2e-3
    --warmup 1 --tokens 200 --accumulate 3 --keep 9 --seed 2 --steps 8 --valid-every 4)

"${back[@]}" --translate-ahead 4 --save-every 4 --out four --write-batches four.b
# side BATCH SIDE: its sentences; lang BATCH SIDE
side() {
    "$tensor" "$1" "$2.token" | awk 'NR == FNR { word[FNR + 4] = $1; next }
        $1 == 0 && FNR > 1 { print s } $1 == 0 { s = "" }
        $1 > 4 { s = s (s == "" ? "" : " ") word[$1] } END { print s }' vocab -
}
lang() { "$tensor" "$1" "$2.lang" | sed -n '1s/0/aa/p; 1s/1/bb/p'; }
for step in 1 2 3 4 5 6 7 8; do for a in 1 2 3; do
    f=four.b/step-$step.$a.back.safetensors
    side $f dec > real; side $f src > said
    model=mt; [ $step -le 4 ] || model=four/checkpoints/step-00000004
    translate -q --model $model --src "$(lang $f dec)" --tgt "$(lang $f src)" < real > expected
    same expected said
    cat real >> all.$(lang $f dec)
done; done
# a pass over the text has each sentence once
for l in aa bb; do
    [ "$(wc -l < all.$l)" -gt 100 ] || fail "only $(wc -l < all.$l) sentences of $l"
    awk 'NR == FNR { there[$0]++; next } ++came[$0] > there[$0] { exit 1 }' text.$l all.$l ||
        fail "a sentence of $l came twice in one pass"
done
sums() { (cd $1/last && sha256sum weights.safetensors optimizer.safetensors state.json); }
"${back[@]}" --translate-ahead 4 --save-every 4 --threads 2 --out two
is "$(sums two)" "$(sums four)" threads
"${back[@]}" --translate-ahead 4 --save-every 4 --out parts --steps 4
"${back[@]}" --translate-ahead 4 --save-every 4 --out parts --resume
is "$(sums parts)" "$(sums four)" resumed
"${back[@]}" --save-every 4 --out one; "${back[@]}" --save-every 4 --translate-ahead 1 --out same
is "$(sums same)" "$(sums one)" "one step ahead"
[ "$(sums one)" != "$(sums four)" ] || fail "four steps ahead are as one"

fails 1 '--save-every 6 is not a multiple of 4, the number of steps .*--translate-ahead' \
    "${back[@]}" --translate-ahead 4 --save-every 6 --out no
fails 1 "--valid-every 4 is not a multiple of 3" "${back[@]}" --translate-ahead 3 --save-every 3 \
    --out no
[ ! -e no ] || fail "a folder was left"
