# Ranks that die, hang, disagree or are told to stop: all end, one line of ours names the one, what
# is in the folder is whole, and --resume goes on to the same bytes.
. "$TOP/test/cli/lib.sh"
. "$TOP/test/cli/data/ranks.sh"
killer=$(dirname "$BIN")/test/killed.so
[ -f "$killer" ] || fail "run this by make test, which builds $killer"

awk 'BEGIN { srand(7); for (i = 0; i < 300; i++) { n = 1 + int(rand() * 8); s = ""
    for (j = 0; j < n; j++) s = s (j ? " " : "") "w" int(rand() * 30); print s } }' > s
awk 'BEGIN { for (j = 0; j < 30; j++) print "w" j, 30 - j }' > vocab
awk 'BEGIN { for (j = 0; j < 30; j++) print "w" 29 - j, 30 - j }' > vocab2
binarize -q -v vocab -l aa -o aa.shd < s
binarize -q -v vocab2 -l aa -o bb.shd < s
sed '7s/$/ w1/' s | binarize -q -v vocab -l aa -o other.shd
run=(pretrain -q --threads 1 --valid-sentences 20 --layers 1 --dim 32 --heads 2 --ffn 64
    --positions 16 --tokens 60 --lr 1e-3 --warmup 20
    --log-every 5 --valid-every 3 --seed 5 --accumulate 2)
valid=(-v vocab --valid aa=aa.shd)
aa=(--train aa=aa.shd "${valid[@]}")
# ours: what the programs said, without what mpirun adds
ours() { grep '^pretrain: ' err > own || true; }
# says PATTERN: exactly one line, and that
says() {
    ours
    [ "$(wc -l < own)" = 1 ] || { cat err; fail "not one line of ours: $1"; }
    grep -qE -- "$1" own || { cat own; fail "no '$1'"; }
}

# --- disagreement: before the first step, nothing is written but the log's file ---
differ() {
    local pattern=$1 status=0; shift
    rm -rf no
    pair "${run[@]}" "${aa[@]}" --steps 3 --out no -- "${run[@]}" "$@" --out no > err 2>&1 ||
        status=$?
    is $status 1 "status, other $pattern"
    says "rank 1 of 2 .*$pattern is not rank 0's"
    [ ! -e no/checkpoints ] || fail "a step was made with other $pattern"
}
differ "its training data" --train aa=other.shd "${valid[@]}" --steps 3
# ... which includes counts: another file for rank 1
cooc-count -q -w 2 -v vocab aa=aa.shd > counts
cooc-count -q -w 2 -v vocab aa=other.shd > counts2
plain=("${run[@]}")
run+=(--objective mlm,gc --cooc counts)
differ "its training data" "${aa[@]}" --cooc counts2 --steps 3
run=("${plain[@]}")
differ "its vocabulary" --train aa=bb.shd --valid aa=bb.shd -v vocab2 --steps 3
differ "its command line" "${aa[@]}" --steps 4
# ... and of questions the place of an answer whose words stand twice
asked() { printf '{"data":[{"paragraphs":[{"context":"w1 w2 w1 w3","qas":[{"id":"1",
    "question":"w3","answers":[{"text":"w1","answer_start":%d}]}]}]}]}' $1 > at.$1.json; }
asked 0; asked 6
tokenize --settings --no-tokenize > words
"${run[@]}" "${aa[@]}" --tokenizer words --steps 1 --warmup 1 --out base
tune=(finetune -q --threads 1 --task qa --model base --steps 2 --warmup 1 --accumulate 2 --batch 1
    --question 2 --stride 1 --longest 16)
status=0
pair "${tune[@]}" --train aa=at.0.json --valid aa=at.0.json --out qa -- \
    "${tune[@]}" --train aa=at.6.json --valid aa=at.0.json --out qa > err 2>&1 || status=$?
is $status 1; grep -q "^finetune: rank 1 of 2 .*its training data is not rank 0's" err ||
    { cat err; fail "answers at another place"; }
status=0; ranks 4 "${run[@]}" "${aa[@]}" --steps 3 --out no > err 2>&1 || status=$?
is $status 1; says '4 ranks need as many micro-batches'
status=0
ranks 2 "${run[@]}" --train aa=missing "${valid[@]}" --steps 3 --out no > err 2>&1 || status=$?
is $status 1; says 'missing'
status=0; ranks 2 "${run[@]}" "${aa[@]}" --steps > err 2>&1 || status=$?
is $status 2; says 'steps'

# --- told to stop: any rank; one checkpoint, 75, and on to the same end ---
long=("${run[@]}" "${aa[@]}" --save-every 0 --valid-every 0)
for who in 0 1; do
    rm -rf stop whole pid.*
    ranks 2 bash -c 'echo $$ > pid.'"$which_rank"'; exec "$@"' - \
        "${long[@]}" --steps 10000 --out stop > err 2>&1 &
    job=$!
    for _ in $(seq 6000); do
        grep -qs '"step":10,' stop/log.jsonl && break
        kill -0 $job 2>/dev/null || break
        sleep 0.02
    done
    kill -USR1 "$(cat pid.$who)"
    # a signal that does not reach all would be waited for until the last step
    for _ in $(seq 600); do kill -0 $job 2> /dev/null || break; sleep 0.1; done
    if kill -0 $job 2> /dev/null; then
        kill -KILL $(cat pid.*); wait $job || true
        fail "a minute after rank $who was told to stop the ranks still run"
    fi
    status=0; wait $job || status=$?
    is $status 75 "status when rank $who is told to stop"
    is "$(ls stop/checkpoints | wc -l)" 1 "copies"
    at=$(sed -n 's/.*"step": "\([0-9]*\)".*/\1/p' stop/last/state.json)
    ranks 2 "${long[@]}" --steps $((at + 20)) --out stop --resume
    "${long[@]}" --steps $((at + 20)) --gradient-tree --out whole
    is "$(hashes stop)" "$(hashes whole)" "stopped by a signal to rank $who"
done

# --- not finite: whose gradient it is is said, and nothing is saved ---
status=0
ranks 2 "${run[@]}" "${aa[@]}" --steps 5 --mlm-weight 1e39 --out bad > err 2>&1 || status=$?
is $status 1; says 'gradients of rank [01] of 2 .* of step 1 are not finite'
[ ! -e bad/checkpoints ] || fail "a checkpoint of a run that never made a step"

# --- killed behind each of 40 changes to the file system, by turns of either rank (both write
# their micro-batches): what is there is whole, and one process goes on to the same bytes ---
short=("${run[@]}" "${aa[@]}" --steps 6 --save-every 2 --keep 3 --write-batches batches --out at)
mkdir end all
ln -s ../vocab ../aa.shd end; ln -s ../vocab ../aa.shd all
(cd end && "${short[@]}" --gradient-tree)
(cd all && "${short[@]}" --gradient-tree --save-every 1 --keep 9)
died=0 tried=0
every=1; [ -z "${ISOGLOT_TEST_SANITIZED-}" ] || every=7          # slow programs: fewer of them
for n in $(seq 1 $every 40); do
    tried=$((tried + 1))
    rm -rf at batches pid.*
    status=0
    ranks 2 bash -c 'echo $$ > pid.'"$which_rank"'
        if [ '$which_rank' = $(($1 % 2)) ]; then
            export LD_PRELOAD=$0 KILL_AFTER=$((1 + $1 / 2)); fi; shift; exec "$@"' \
        "$killer" $n "${short[@]}" > err 2>&1 || status=$?
    [ $status = 0 ] || died=$((died + 1))
    # mpirun does not wait for those that it kills
    for pid in $(cat pid.*); do
        for _ in $(seq 1500); do
            # of a zombie nobody may ever ask
            grep -qs '^State:.[^ZX]' /proc/$pid/status || break
            sleep 0.02
        done
    done
    for c in at/checkpoints/step-*[0-9]; do
        [ ! -e "$c" ] || diff -r "$c" "all/at/checkpoints/${c##*/}" > diff.out ||
            fail "$c is not whole after change $n"
    done
    "${short[@]}" --gradient-tree --resume
    is "$(hashes at)" "$(hashes end/at)" "killed behind change $n"
done
[ $died -ge $((tried * 3 / 4)) ] || fail "of $tried kills $died ended the run"

# --- a rank that hangs is named within 30 seconds; so is the first one ---
for who in 0 1; do
    rm -rf hang pid
    t0=$SECONDS
    ranks 2 bash -c '[ '$which_rank' != '$who' ] || echo $$ > pid; exec "$@"' - \
        "${run[@]}" "${aa[@]}" --steps 1000000 --rank-timeout 5 --save-every 10 --out hang \
        > err 2>&1 &
    job=$!
    for _ in $(seq 3000); do
        [ -s pid ] && [ -e hang/last ] && break
        sleep 0.02
    done
    stopped=$(cat pid)      # the next rank's is in the file before this one is told to go on
    kill -STOP "$stopped"
    t0=$SECONDS
    # without a launcher that ends it, it ends when it hears of it
    (for _ in $(seq 300); do grep -qs 'has not answered' err && break; sleep 0.1; done
        sleep 1; kill -CONT "$stopped" 2> /dev/null || true) &
    status=0; wait $job || status=$?
    [ $status != 0 ] || fail "a hung rank and status 0"
    [ $((SECONDS - t0)) -le 30 ] || fail "$((SECONDS - t0)) seconds until a hung rank was named"
    says "rank $who of 2 .*has not answered"
    ckpt info hang/last > /dev/null
done
