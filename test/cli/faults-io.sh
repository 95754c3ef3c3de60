# An interrupted or partial system call is nothing that a user sees; a failed one ends with one
# line, status 1, and the older output in its place.
. "$TOP/test/cli/lib.sh"
. "$TOP/test/faults/lib.sh"
printf 'a b c\nb a a\nc c a b\n' > t
for w in a b c; do echo $w; done > v
binarize -q -v v -l en < t > t.shd
cooc-count -q -v v -w 2 en=t > t.cooc
printf 'a 1 0\nb 0 1\nc 1 1\n' > x.vec
gzip -k t; zstd -q t

# interrupted and short calls, each in turn: the same bytes, no word
stdin=/dev/null result=
# name, command; it reads $stdin and writes standard output, and the file $result if that is set
transparent() {
    local name=$1; shift
    "$@" > want < $stdin; [ -z "$result" ] || cp $result want
    for call in open read pread write pwrite fsync ftruncate; do
        local n k kind; n=$(calls $call "$@" < $stdin)
        for ((k = 1; k <= n; k++)); do
            for kind in eintr short; do
                case $call-$kind in open-short | fsync-short | ftruncate-short) continue ;; esac
                faulty $call:$k:$kind "$@" < $stdin > got 2> err ||
                    { cat err; fail "$name: $call $k $kind"; }
                [ -z "$result" ] || cp $result got
                [ ! -s err ] || { cat err; fail "$name: $call $k $kind said something"; }
                cmp want got || fail "$name: $call $k $kind changed the output"
            done
        done
    done
}
transparent tokenize tokenize -q -l en t
transparent gzip vocab-count -q t.gz
transparent zstd vocab-count -q t.zst
transparent binarize binarize -q -v v -l en t
transparent shard shard cat --ids t.shd
stdin=t.shd transparent stdin shard cat --ids -
transparent cooc cooc-count -q -v v -w 2 en=t
transparent ngrams ngrams -q --min-count 1 --top 0 en=t
stdin=t transparent collect cooc-count -q -w 2 en=-
transparent merge cooc-merge -q t.cooc t.cooc
transparent query cooc-query --dump t.cooc
result=o transparent output binarize -q -v v -l en -o o t

# a run of training: its log, its lock and its checkpoints, too
run=(pretrain -q -v v --train en=t.shd --layers 1 --dim 8 --heads 1 --ffn 8 --positions 8 \
    --tokens 20 --threads 1
    --log-every 1 --save-every 2 --seed 5 --steps 2 --out run)
files() { (cd run && find checkpoints -type f | sort | xargs sha256sum; wc -l < log.jsonl); }
"${run[@]}"; files > want; rm -r run
for call in open read pread write pwrite fsync ftruncate; do
    n=$(calls $call "${run[@]}"); rm -r run
    for ((k = 1; k <= n; k++)); do
        for kind in eintr short; do
            case $call-$kind in open-short | fsync-short | ftruncate-short) continue ;; esac
            faulty $call:$k:$kind "${run[@]}" 2> err ||
                { cat err; fail "pretrain: $call $k $kind"; }
            files | cmp - want || fail "pretrain: $call $k $kind"
            rm -r run
        done
    done
done

# who holds a run's folder is read whole, too
mkdir held; echo 1234567 > held/.lock; exec 9<> held/.lock; flock 9
for kind in eintr short; do
    faulty pread:1:$kind "${run[@]}" --out held 2> err && fail "two write one folder"
    is "$(cat err)" "pretrain: another process (1234567) is writing held; wait for it or name \
another folder"
done
exec 9<&-; rm -r held

# a call that fails: one line, status 1, and what stood there before; or status 0, and what is new
kept() {   # old NAME..., then -- command: the names hold the word "old" before
    local names=() call n k; while [ "$1" != -- ]; do names+=("$1"); shift; done; shift
    "$@" 2> /dev/null; for name in "${names[@]}"; do cp "$name" "$name.new"; done
    for call in open read write fsync rename unlink close ftruncate mmap; do
        n=$(calls $call "$@")
        for ((k = 1; k <= n; k++)); do
            for name in "${names[@]}"; do echo old > "$name"; done
            status=0; faulty $call:$k:fail "$@" > out 2> err || status=$?
            case $status in 0 | 1) ;; *) cat err; fail "$1: status $status, $call $k" ;; esac
            [ "$(wc -l < err)" -le 1 ] || { cat err; fail "$1: more than a line, $call $k"; }
            [ $status = 0 ] || [ -s err ] || fail "$1: not a word, $call $k"
            for name in "${names[@]}"; do
                [ -e "$name" ] || fail "$1: $name is gone after $call $k"
                if [ $status = 0 ]; then cmp "$name" "$name.new" ||
                    fail "$1: $call $k failed, status 0"
                else is "$(head -c 10 "$name" |
                    tr '\0' '?')" old "$1: $call $k failed, status $status"; fi
            done
            [ -z "$(find . -name '*.tmp')" ] || fail "$1: $(find . -name '*.tmp') after $call $k"
        done
    done
}
kept o -- binarize -q -v v -l en -o o t
kept o -- cooc-merge -q -o o t.cooc
kept o.npy o.npy.words -- embed -q --threads 1 --from-cooc t.cooc --min-count 1 --dim 2 -o o.npy
# the folder cannot be flushed after the rename: the output is whole, and a line says what may
# happen to it
n=$(calls fsync binarize -q -v v -l en -o o t)
faulty fsync:$n:fail binarize -q -v v -l en -o o t 2> err
grep -q 'o: written, but not synced to disk' err; same o t.shd

# What a killed process left beside an output goes with the next one that writes it: its file, its
# folder; not that of a process that lives, nor one whose writer, on another machine, holds its
# lock, nor what belongs to another name.
sh -c 'echo $$' > dead; dead=$(cat dead)
! kill -0 $dead 2> /dev/null
for name in o p oo; do echo half > .$name.$dead.tmp; done
echo live > .o.$$.tmp; echo held > .o.99999999.tmp
exec 8< .o.99999999.tmp; flock 8
left() { is "$(printf '%s\n' .*.tmp | sort)" "$(printf '%s\n' "$@" | sort)" "what is left"; }
mkdir .f.$dead.tmp .f.$$.tmp; echo half > .f.$dead.tmp/weights
binarize -q -v v -l en -o o t
left .f.$dead.tmp .f.$$.tmp .o.$$.tmp .o.99999999.tmp .oo.$dead.tmp .p.$dead.tmp
exec 8<&-
binarize -q -v v -l en -o ./o t; same o t.shd
# what a killed writer of a pair had set aside goes, too
for name in o.npy o.npy.words; do echo half > .$name.old.$dead.tmp; done
embed -q --threads 1 --from-cooc t.cooc --min-count 1 --dim 2 -o o.npy
same o.npy o.npy.new; same o.npy.words o.npy.words.new
# and what one set aside that had this process's own number: the old file is kept all the same
for ((k = 1; k <= $(calls rename vocab-count -q -o c t); k++)); do
    echo old > c; rm -f c.sum
    (echo half > .c.old.$BASHPID.tmp
    FAULT=rename:$k:fail LD_PRELOAD=$inject exec vocab-count -q -o c t 2> err) ||
        is "$(cat c)" old "rename $k failed"
    rm -f .c.*
done
"${run[@]}"; ckpt average -q -o f/ run
left .f.$$.tmp .o.$$.tmp .oo.$dead.tmp .p.$dead.tmp
rm -r .*.tmp
# a run of training clears its own folder
rm -rf run; "${run[@]}"
ln -s nowhere run/.last.$dead.tmp; echo half > run/.log.jsonl.$dead.tmp
mkdir run/checkpoints/step-00000009.tmp
"${run[@]}" --resume --steps 3
is "$(find run -name '*.tmp')" ''
