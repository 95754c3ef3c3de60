# Counting on a Slurm of one node: an array of parts and a tree of merges, and the text tools over
# pieces, give the bytes of one machine; what is missing is made again, and no more.
[ -n "${ONE_NODE:-}" ] || exec "$TOP/test/slurm/one-node" with bash "$0"
. "$TOP/test/cli/lib.sh"
PATH=$TOP/pipelines:$PATH
awk 'BEGIN {
    srand(5)
    for (i = 0; i < 4000; i++) {
        s = ""; for (k = rand() * 20; k > 0; k--) s = s " w" int(exp(rand() * 6))
        print substr(s, 2) "."
    }
}' > text
split -n l/7 text part.
export CPUS=1 MEMORY=200M
# idle: until no job is left
idle() {
    for _ in $(seq 600); do [ -n "$(squeue -h)" ] || return 0; sleep 0.2; done
    squeue; fail "jobs that do not end"
}
# jobs NAME: how many jobs of that name have run to their end
jobs() { grep -c " Name=$1 JobState=COMPLETED " "$ONE_NODE/jobs" || true; }

# tokenize, count words, learn codes, apply them, count pieces: each over pieces, or the whole text
ls part.* > pieces
EACH=3 pieces.sbatch --merge 'vocab-count -q --merge -o "$OUT" "$@"' --to words \
    pieces counts 'tokenize -q -l en < "$PIECE" | vocab-count -q -o "$OUT"' > numbers
is "$(wc -l < numbers)" 2
! pieces.sbatch --merge 'vocab-count -q --merge -o "$OUT" "$@"' --to words \
    pieces counts 'tokenize -q -l en < "$PIECE" | vocab-count -q -o "$OUT"' 2> err || fail "twice"
grep -qE 'begun with something else|are at work on it' err
idle
tokenize -q -l en < text > tok; vocab-count -q tok > want; same words want
is "$(jobs counts) $(jobs counts.merge1)" "3 1" "seven pieces in three jobs, and one that adds"
bpe-learn -q -n 200 --dict-input words > codes; bpe-learn -q -n 200 tok | cmp - codes
pieces.sbatch pieces bpe \
    'tokenize -q -l en < "$PIECE" | bpe-apply -q -c codes -o "$OUT"' > /dev/null
idle
bpe-apply -q -c codes < tok > want; cat bpe/[1-7] | cmp - want

# counts of neighbours; a part that fails stops the merges, and alone is counted again
vocab-count -q want > v
i=0; for f in bpe/[1-7]; do i=$((i + 1)); [ $i = 2 ] && echo "de=$f" || echo "en=$f"; done > parts
cooc-count -q -w 3 -v v $(cat parts) | cooc-merge -q --normalize en - > want
mv bpe/4 kept; mkdir bpe/4
count() { FAN=3 NORMALIZE=en cooc-cluster.sbatch parts v x.cooc -w 3 -q; }
count > /dev/null; idle
[ ! -e x.cooc ] || fail "a sum without part 4"
grep -q 'bpe/4' x.cooc.parts/log/0.4
is "$(echo $(ls x.cooc.parts))" "1 2 3 5 6 7 jobs log pieces settings states"
is "$(jobs x.cooc) $(jobs x.cooc.merge1)" "6 0"
rmdir bpe/4; mv kept bpe/4
was=$(stat -c %i x.cooc.parts/1)
count > /dev/null; idle
same x.cooc want
is "$(stat -c %i x.cooc.parts/1)" "$was" "part 1 was counted again"
is "$(jobs x.cooc) $(jobs x.cooc.merge1) $(jobs x.cooc.merge2)" "7 3 1"
count 2> err; grep -q 'x.cooc is there: nothing to do' err
is "$(echo $(ls x.cooc.parts))" "1 2 3 4 5 6 7 jobs log pieces settings states" "merged files stay"

# killed in the middle, it is queued again by Slurm and makes the same
cat > slow <<'E'
#!/bin/bash
[ -e "$1" ] || { touch "$1"; echo half > "$OUT"; sleep 600; }
cat "$1.text" > "$OUT"
E
chmod +x slow; cp part.aa a.text; echo a > pieces
job=$(pieces.sbatch pieces late './slow "$PIECE"')
for _ in $(seq 100); do [ -e late/.1.part ] && break; sleep 0.1; done
scontrol requeue "${job}_1"; idle
same late/1 a.text
