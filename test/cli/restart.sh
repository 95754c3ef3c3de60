# A run that is killed twenty times, wherever it happens to be, ends with the files of one that is not; checkpoints are written beside
# training, kept as asked, and a full disk leaves the ones before.
. "$TOP/test/cli/lib.sh"
awk 'BEGIN { srand(7); for (i = 0; i < 300; i++) { n = 1 + int(rand() * 8); s = ""; for (j = 0; j < n; j++) s = s (j ? " " : "") "w" int(rand() * 30); print s } }' > s
awk 'BEGIN { for (j = 0; j < 30; j++) print "w" j, 30 - j }' > vocab
binarize -q -v vocab -l aa -o aa.shd < s
run=(pretrain -q -v vocab --train aa=aa.shd --valid aa=aa.shd --valid-sentences 20 --layers 1 --dim 32 --heads 2 --ffn 64 --positions 16 --tokens 60
    --lr 1e-3 --warmup 20 --log-every 5 --save-every 2 --keep 3 --valid-every 25 --seed 5 --steps 300)
files() { (cd "$1" && find checkpoints -type f | sort | xargs sha256sum; readlink best last); }
newest() { local l; l=$(readlink broken/last 2>/dev/null) || l=step-0; echo $((10#${l##*step-})); }

"${run[@]}" --out whole
is "$(ls whole/checkpoints | tail -n 3 | tr '\n' ' ')" "step-00000296 step-00000298 step-00000300 " "the last three"
for i in $(seq 20); do
    "${run[@]}" --out broken --resume & pid=$!
    while [ "$(newest)" -lt $((i * 12)) ] && kill -0 $pid 2>/dev/null; do sleep 0.01; done
    sleep "0.0$((RANDOM % 5))$((RANDOM % 10))"
    kill -9 $pid 2>/dev/null || fail "the run was over before kill $i"
    wait $pid 2>/dev/null || true
    # what has its final name is whole
    for c in broken/checkpoints/step-*[0-9]; do ckpt info "$c" > /dev/null || fail "$c is not whole after kill $i"; done
done
"${run[@]}" --out broken --resume
files whole > a; files broken > b; same a b
[ -z "$(find broken -name '*.tmp*')" ] || fail "something temporary was left"

# stopped politely at a step that is no multiple, it goes on; what that stop saved does not stay
"${run[@]}" --out polite & pid=$!
while [ "$(readlink polite/last 2>/dev/null || true)" = '' ] && kill -0 $pid; do sleep 0.01; done
kill -TERM $pid; status=0; wait $pid || status=$?
case $status in 75 | 0) ;; *) fail "status $status" ;; esac
"${run[@]}" --out polite --resume
files polite > b; same a b
# every so many seconds, too
"${run[@]}" --save-every 0 --save-time 1s --steps 3000 --out clock & pid=$!
for _ in $(seq 600); do [ -e clock/last ] && break; sleep 0.1; done
[ -e clock/last ] || fail "no checkpoint by the clock"
kill -9 $pid; wait $pid 2>/dev/null || true
ckpt info clock/last > /dev/null

# the disk fills up while a later checkpoint is written: one line, and the ones before stay
cp -r whole full; rm -rf full/checkpoints/step-0000030* full/best full/last
(trap '' XFSZ; ulimit -f 30; fails 1 'too large|No space' "${run[@]}" --out full --resume)
is "$(ls full/checkpoints | tr '\n' ' ')" "$(ls whole/checkpoints | grep -v 300 | tr '\n' ' ')" "checkpoints after a full disk"
"${run[@]}" --out full --resume
files full > b; same a b
