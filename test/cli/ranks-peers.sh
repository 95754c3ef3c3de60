# Ranks by plain TCP: 128 of them meet; one that has joined and then sends garbage, what nobody
# asked for, the end of the run, or nothing, ends the run with one line and status 1, and what was
# saved stays whole; rank 0 listens where the others call, and says to whom it is open.
. "$TOP/test/cli/lib.sh"
RANKS_BY=tcp
. "$TOP/test/cli/data/ranks.sh"
. "$TOP/test/cli/data/sentences.sh"
peer=$(dirname "$BIN")/test/tool/peer

# --- 128 ranks, each with a connection to every other: 1 + 2 + ... + 128 ---
export WORLD_SIZE=128 MASTER_ADDR=127.0.0.1 MASTER_PORT; MASTER_PORT=$(free_port)
all=()
for ((r = 127; r >= 0; r--)); do RANK=$r "$peer" sum > sum.$r 2> err.$r & all+=($!); done
for r in "${all[@]}"; do wait $r || { cat err.*; fail "a rank of 128"; }; done
is "$(cat sum.* | sort | uniq -c | sed 's/^ *//')" "128 8256" "the sum of 128 ranks"

# --- an address of loopback's, from which no call comes: the kernel calls from 127.0.0.1 ---
(export WORLD_SIZE=3 MASTER_ADDR=127.0.1.1; for r in 2 1 0; do RANK=$r "$peer" sum & done; wait) \
    > sum.127 2>&1
is "$(cat sum.127)" $'6\n6\n6' "three ranks at 127.0.1.1"

# --- who can join: MASTER_ADDR's address is the one at which rank 0 listens ---
here=$(hostname -I 2> /dev/null | tr ' ' '\n' | sed -nE '/^[0-9.]+$/p' | sed -n 1p || true)
open='^isoglot: until all 2 ranks are here, port [0-9]+ of ADDR is open to whoever reaches it'
# two_of ADDR: two ranks that meet there
two_of() {
    export WORLD_SIZE=2 MASTER_ADDR=$1
    RANK=0 "$peer" sum > sum.0 2> err & local first=$!
    for _ in $(seq 500); do (: > "/dev/tcp/$1/$MASTER_PORT") 2> /dev/null && break; sleep 0.02; done
    ! (: > "/dev/tcp/$2/$MASTER_PORT") 2> /dev/null || fail "rank 0 of $1 listens at $2, too"
    RANK=1 "$peer" sum > sum.1
    wait $first || { cat err; fail "two ranks at $1"; }
    is "$(cat sum.0 sum.1)" $'3\n3' "two ranks at $1"
}
if [ -n "$here" ]; then
    two_of $here 127.0.0.1
    is "$(wc -l < err)" 1 "one line on who can join"
    grep -qE "${open/ADDR/$here}.*: for a run of your own, .* ISOGLOT_SECRET" err ||
        { cat err; fail "no line on who can join"; }
    ISOGLOT_SECRET=word two_of $here 127.0.0.1
    is "$(cat err)" "" "a run of its own"
    two_of 127.0.0.1 $here
    is "$(cat err)" "" "a run on one machine"
fi

# --- a peer that has the key and means harm ---
export MASTER_ADDR=127.0.0.1
run=(pretrain -q -v vocab --train aa=aa.shd --layers 1 --dim 32 --heads 2 --ffn 64 --positions 16
    --tokens 60 --lr 1e-3 --warmup 20 --seed 5 --threads 1 --accumulate 4 --gradient-tree --out run)
"${run[@]}" --steps 2
saved=$(hashes run)
# harm ACT PATTERN [RANK]: the other of two ranks, which is rank 1 (or RANK)
harm() {
    local act=$1 pattern=$2 bad=${3:-1} status=0 other
    export WORLD_SIZE=2 MASTER_PORT; MASTER_PORT=$(free_port)
    RANK=$bad "$peer" $act $((1 - bad)) 2> peer & other=$!
    RANK=$((1 - bad)) "${run[@]}" --resume --steps 100 --rank-timeout $limit 2> err || status=$?
    wait $other || { cat peer; fail "$act: the peer"; }
    is $status 1 "$act: status"
    is "$(wc -l < err)" 1 "$act: one line, not $(cat err)"
    grep -qE -- "^pretrain: $pattern" err || { cat err; fail "$act: no '$pattern'"; }
    is "$(hashes run)" "$saved" "$act: the checkpoint"
    ckpt check run/last > /dev/null
}
limit=20
strange='rank 1 of 2 sends what no rank sends'
harm garbage "$strange"
harm early "$strange \(bytes that nobody asked for: 16[0-9]{6}\)"
harm empty "$strange \(bytes that nobody asked for: 16[0-9]{6}\)"
harm notes "$strange \(bytes that nobody asked for: 16[0-9]{6}\)"
harm asks "$strange \(messages announced: 65537\)"
harm large "$strange \(bytes at once: 4194305\)"
harm endless "$strange \(bytes at once: 18446744073709551615\)"
harm announce "$strange \(announced bytes: 2147483648\)"
harm tag "$strange \(a tag of 32768\)"
harm grant "$strange \(leave nobody asked for, of tag 7\)"
harm bulk "$strange \(data nobody gave leave to, of tag 7\)"
harm used "$strange \(used bytes nobody sent: 1099511627776\)"
harm note "$strange \(a note of kind 77\)"
harm brief 'rank 1 of 2 sends 12 bytes where this one expects 512'
harm failed 'rank 1 of 2: (\\x1B){490,}$'
for n in 0 7 256; do harm abort$n 'rank 1 of 2 has ended the run of all ranks'; done
# rank 0 is the one
harm garbage 'rank 0 of 2 sends what no rank sends' 0
harm abort0 'rank 0 of 2 has ended the run of all ranks' 0
# rank 2 ends rank 1, which says nothing: rank 0 does
export WORLD_SIZE=3 MASTER_PORT; MASTER_PORT=$(free_port)
RANK=2 "$peer" abort0 1 & other=$!
RANK=1 "${run[@]}" --resume --steps 100 2> err & second=$!
status=0; RANK=0 "${run[@]}" --resume --steps 100 2>> err || status=$?
is $status 1 "rank 0 of three"
status=0; wait $second || status=$?
is $status 1 "rank 1 of three"
wait $other
is "$(wc -l < err)" 1 "one line of three ranks, not $(cat err)"
grep -q 'rank 1 of 3 is gone' err || { cat err; fail "rank 1 of three is gone"; }
is "$(hashes run)" "$saved" "the checkpoint of three"
limit=1
harm silent 'rank 1 of 2 has not answered for [0-9]+ seconds'
harm half 'rank 1 of 2 has not answered for [0-9]+ seconds'
harm leave 'rank 1 of 2 has left before the end'
harm silent 'rank 0 of 2 has not answered for [0-9]+ seconds' 0
