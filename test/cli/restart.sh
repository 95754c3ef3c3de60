# A run that is killed wherever it happens to be ends with the files of one that is not; checkpoints
# are written beside training, kept as asked, and a full disk leaves the ones before.
. "$TOP/test/cli/lib.sh"
killer=$(dirname "$BIN")/test/killed.so
[ -f "$killer" ] || fail "run this by make test, which builds $killer"
awk 'BEGIN { srand(7); for (i = 0; i < 300; i++) { n = 1 + int(rand() * 8); s = "";
    for (j = 0; j < n; j++) s = s (j ? " " : "") "w" int(rand() * 30); print s } }' > s
awk 'BEGIN { for (j = 0; j < 30; j++) print "w" j, 30 - j }' > vocab
binarize -q -v vocab -l aa -o aa.shd < s
run=(pretrain -q -v vocab --train aa=aa.shd --valid aa=aa.shd --valid-sentences 20 --layers 1 \
    --dim 32 --heads 2 --ffn 64 --positions 16 --tokens 60
    --lr 1e-3 --warmup 20 --log-every 5 --save-every 2 --keep 3 --valid-every 25 --seed 5 \
        --steps 300)

# killed after each change to the file system in turn: what has its final name is whole, and the
# same command goes on to the same end (steps ever longer: the best validation is the first)
short=("${run[@]}" --keep 1 --valid-every 3 --steps 6 --lr 100 --warmup 1000 --resume --out run)
until_change() { LD_PRELOAD=$killer KILL_AFTER=$1 \
    ASAN_OPTIONS=${ASAN_OPTIONS-}:verify_asan_link_order=0 exec "${@:2}"; }
after() { (cd at; until_change "$1" "${short[@]}") 2> err; }
ended() { diff -r --no-dereference -x log.jsonl -x .lock end/run at/run || fail "$1: another end"; }
mkdir all end at; for d in all end at; do ln -s ../vocab ../aa.shd $d; done
(cd all && "${short[@]}" --keep 9); (cd end && "${short[@]}")
is "$(echo $(ls all/run/checkpoints) end: $(ls end/run/checkpoints))" \
    "step-00000002 step-00000003 step-00000004 step-00000006 end: step-00000003 step-00000006"
for ((n = 1; ; n++)); do
    rm -rf at/run; status=0; after $n || status=$?
    [ $status != 0 ] || break
    [ $status = 137 ] || { cat err; fail "status $status when killed after change $n"; }
    for c in at/run/checkpoints/step-*[0-9]; do [ ! -e "$c" ] ||
        diff -r "$c" "all/run/checkpoints/${c##*/}" || fail "$c is not whole after change $n"; done
    for l in best last; do [ ! -L at/run/$l ] || [ -e at/run/$l/state.json ] ||
        fail "$l leads nowhere after change $n"; done
    after 0 || { cat err; fail "going on after change $n"; }
    ended "killed after change $n"
done
[ $n -gt 60 ] || fail "killed after $n changes only"
ended "not killed"
# one change further each time, so that what clears up after a kill is killed too
rm -r at/run
for ((k = 1; ; k++)); do status=0; after $k || status=$?; [ $status = 137 ] || break; done
is $status 0; ended "killed $k times"

files() { (cd "$1" && find checkpoints -type f | sort | xargs sha256sum; readlink best last); }
"${run[@]}" --out whole
is "$(ls whole/checkpoints | tail -n 3 |
    tr '\n' ' ')" "step-00000296 step-00000298 step-00000300 " "the last three"
files whole > a

# stopped politely at a step that is no multiple, it goes on; what that stop saved does not stay
"${run[@]}" --out polite & pid=$!
while [ "$(readlink polite/last 2>/dev/null || true)" = '' ] &&
    kill -0 $pid 2>/dev/null; do sleep 0.01; done
kill -TERM $pid 2>/dev/null || true
status=0; wait $pid || status=$?
case $status in 75 | 0) ;; *) fail "status $status" ;; esac
"${run[@]}" --out polite --resume
files polite > b; same a b
# every so many seconds, too
"${run[@]}" --save-every 0 --save-time 1s --valid-every 0 --steps 1000000000 --out clock & pid=$!
for _ in $(seq 3000); do [ -e clock/last ] && break; sleep 0.1; done
[ -e clock/last ] || fail "no checkpoint by the clock"
kill -9 $pid; wait $pid 2>/dev/null || true
ckpt info clock/last > /dev/null
# asked to stop, a run of any length ends with 75 and the step that it has come to
lines=$(wc -l < clock/log.jsonl)
"${run[@]}" --save-every 0 --valid-every 0 --steps 1000000000 --out clock --resume & pid=$!
while [ "$(wc -l < clock/log.jsonl)" -le "$lines" ] && kill -0 $pid 2>/dev/null; do sleep 0.1; done
kill -TERM $pid
for _ in $(seq 600); do kill -0 $pid 2>/dev/null || break; sleep 0.1; done
! kill -9 $pid 2>/dev/null || fail "a minute after SIGTERM it still trains"
status=0; wait $pid || status=$?; is $status 75

# the disk fills up while a later checkpoint is written: one line, and the ones before stay
cp -r whole full; rm -rf full/checkpoints/step-0000030* full/best full/last
(trap '' XFSZ; ulimit -f 30; fails 1 'too large|No space' "${run[@]}" --out full --resume)
is "$(ls full/checkpoints | tr '\n' ' ')" "$(ls whole/checkpoints | grep -v 300 |
    tr '\n' ' ')" "checkpoints after a full disk"
"${run[@]}" --out full --resume
files full > b; same a b

# what a program writes is the old file or the new one, and a folder is there or not
binarize -q -v vocab -l bb -o new.shd < s; cp aa.shd out.shd
for ((n = 1; ; n++)); do
    status=0; (until_change $n binarize -q -v vocab -l bb -o out.shd < s) || status=$?
    [ $status = 137 ] || break
    if cmp -s out.shd new.shd; then cp aa.shd out.shd; else same out.shd aa.shd; fi
done
# the file of the one that was killed before goes, is made, is given its name
is "$status $n" "0 4"; same out.shd new.shd
model=$TOP/test/golden/interchange/bert
ckpt import -q -o new --lang-code xx "$model"
for ((n = 1; ; n++)); do
    status=0; (until_change $n ckpt import -q -o out --lang-code xx "$model") || status=$?
    if [ -e out ]; then diff -r new out ||
        fail "half a folder after change $n"; rm -r out; else [ $status = 137 ] ||
            fail "status $status"; fi
    [ $status != 0 ] || break
done
[ $n -gt 5 ] || fail "killed after $n changes only"
# vectors and their words in two files: never rows under other words
for l in "w1 w2 w3" "w4 w5 w6"; do printf '%s 1\n' $l > list
embed -q --model whole --words list -o "${l%% *}.npy"; done
for f in npy npy.words; do cp w1.$f out.$f; done
for ((n = 1; ; n++)); do
    status=0; (until_change $n embed -q --model whole --words list -o out.npy) || status=$?
    [ $status = 137 ] || break
    [ ! -e out.npy ] || { cmp -s out.npy w1.npy && cmp -s out.npy.words w1.npy.words; } ||
        { same out.npy w4.npy && same out.npy.words w4.npy.words; }
done
[ $n -gt 5 ] || fail "killed after $n changes only"
is $status 0; same out.npy w4.npy; same out.npy.words w4.npy.words
