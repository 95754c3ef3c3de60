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
