# What a program has written outlasts a power failure: all bytes are on disk before the file gets
# its name, and the name is on disk before the program says that it is done.
. "$TOP/test/cli/lib.sh"
traced() {
    local out=$1; shift
    TRACE=$PWD/$out LD_PRELOAD=$(dirname "$BIN")/test/traced.so \
        ASAN_OPTIONS=${ASAN_OPTIONS-}:verify_asan_link_order=0 "$@"
}
# in_order TRACE NAME SIZE: of file NAME, all SIZE bytes are flushed, then it is renamed, then the
# folder is flushed; other files may be flushed before the name is given
in_order() {
    awk -v to="$2" -v n="$3" '$1 == "fsync" && $2 == "file" { flushed[$3] }
        $1 == "rename" && $3 == to {
            if (!(n in flushed)) { print "renamed before its bytes are there"; exit }
            renamed = 1; next
        }
        renamed && $1 == "rename" { next }      # FILE.sum, of the same folder
        renamed && $1 == "fsync" && $2 == "folder" { print "in order"; exit }
        renamed { print "the folder comes late"; exit }' "$1"
}
awk 'BEGIN { for (i = 0; i < 3000; i++) print "w" i % 40, "w" i % 7, "w" i % 11 }' > text
traced v.trace vocab-count -q -o vocab text
is "$(in_order v.trace vocab "$(stat -c %s vocab)")" "in order" "vocab-count -o"
is "$(grep -c '^rename .* vocab$' v.trace)" 1
is "$(in_order v.trace vocab.sum "$(stat -c %s vocab.sum)")" "in order" "its checksum"
traced c.trace cooc-count -q -o text.cooc text
is "$(in_order c.trace text.cooc "$(stat -c %s text.cooc)")" "in order" "cooc-count -o"
binarize -q -v vocab -o text.shd text
traced p.trace pretrain -q -v vocab --train aa=text.shd --layers 1 --dim 8 --heads 2 --ffn 8 \
    --positions 8 --tokens 20 \
    --steps 2 --out run
for f in weights.safetensors optimizer.safetensors; do
    is "$(in_order p.trace $f "$(stat -L -c %s run/last/$f)")" "in order" "a checkpoint's $f"
done
# state.json makes the checkpoint whole: its folder gets its name when all is on disk, and `last`
# points to it after that
awk '$1 == "fsync" { flushed = 1 } $1 == "rename" && $3 == "step-00000002" { if (!flushed) exit 1;
    there = 1 }
    $1 == "rename" && $3 == "last" { if (!there) exit 1; last = 1 } END { exit !last }' p.trace ||
        { cat p.trace; fail "checkpoint"; }
# an older checkpoint goes when the link that leads past it is on disk, and no file of it before its
# new name is
traced old.trace pretrain -q -v vocab --train aa=text.shd --layers 1 --dim 8 --heads 2 --ffn 8 \
    --positions 8 --tokens 20 --steps 3 --save-every 1 --keep 1 --out old
awk '$1 == "rename" && $3 == "last" { linked = 1; flushed = 0 }
    $1 == "fsync" && $3 == "old" { flushed = linked }
    $1 == "rename" && $2 ~ /^step-0*[0-9]+$/ { n++; if (!flushed) bad = 1; getline
        if ($0 != "fsync folder checkpoints") bad = 1 }
    END { exit bad || n != 2 }' old.trace || { cat old.trace; fail "an older checkpoint"; }

# A link that a power failure left behind leads nowhere: the newest whole checkpoint stands in, and
# that is said, whether the run or the link is named.
pretrain -q -v vocab --train aa=text.shd --layers 1 --dim 8 --heads 2 --ffn 8 --positions 8 \
    --tokens 20 --steps 4 --save-every 1 --keep 4 --out run4
want() { embed -q --threads 1 --model "$1" --words vocab; }
want run4/checkpoints/step-00000002 > two; want run4/last > four
! cmp -s two four || fail "two checkpoints that do not differ"
rm -r run4/checkpoints/step-00000004
truncate -s 100 run4/checkpoints/step-00000003/weights.safetensors
whole=run4/checkpoints/step-00000002
for named in run4 run4/ run4/last run4/last/; do
    want $named > got 2> err; same two got
    grep -qE "^embed: run4/?(/?last/?)?: leads to no model; $whole, the newest whole" err ||
        { cat err; fail "$named: not said"; }
    is "$(wc -l < err)" 1 "lines for $named"
done
(cd run4 && embed -q --threads 1 --model last --words ../vocab > ../got 2> ../err); same two got
grep -q '^embed: last: leads to no model; ./checkpoints/step-00000002' err
is "$(ckpt info run4 2> err | sed -n 1p)" $whole; ckpt check run4/last 2> err
ln -s checkpoints/step-00000009 run4/best; want run4 > got 2> err; same two got
grep -q 'run4/last: leads to no model' err
ln -sfn checkpoints/step-00000002 run4/last; want run4 > got 2> err; same two got
is "$(cat err)" "embed: run4/best: leads to no model; run4/last is taken"
rm -r run4/best run4/last run4/checkpoints/step-00000002
truncate -s 0 run4/checkpoints/step-00000001/weights.safetensors
fails 1 'run4: is not the folder of a model or a run' want run4

# A mapped file that is cut short while it is read: one line, and no half of an output.
mkfifo words; cp text.cooc cut.cooc; echo old > counts
# (What is left of its last page reads as zeros: the checksum sees that.)
for size in 0 5; do
    cp text.cooc cut.cooc; cooc-query -o counts cut.cooc < words 2> err & p=$!
    exec 5> words; echo w1 w2 >&5
    for _ in $(seq 200); do [ -e .counts.$p.tmp ] && break; sleep .02; done
    # the program may have seen it already, and be gone
    truncate -s $size cut.cooc; (trap '' PIPE; echo w3 w4 >&5) 2> /dev/null || true; exec 5>&-
    status=0; wait $p || status=$?
    if [ -z "${ISOGLOT_TEST_SANITIZED:-}" ]; then
        is $status 1 "$(cat err)"
        said='cannot be read at byte [0-9]+: it was cut short'; [ $size = 0 ] || said=.*cut.short
        grep -qE "^cooc-query: cut.cooc: $said" err ||
            { cat err; fail "not said"; }
        is "$(wc -l < err)" 1
        is "$(find . -maxdepth 1 -name '*.tmp')" ""
    fi
    # a sanitizer ends the program before it can tidy up
    rm -f .counts.*.tmp
    is "$(cat counts)" old
done
