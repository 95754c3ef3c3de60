#!/bin/bash
# Compares cooc-count with GloVe's cooccur: the same pairs, values equal to the rounding of doubles;
# lets GloVe's shuffle and glove train from cooc-query --glove; and reads .cooc files with a reader
# written from their specification alone. A line a comparison.
#   BIN=folder of programs   GLOVE=folder of GloVe's cooccur, shuffle and glove (their parts are
#   left out if not set)
#   DATA=folder of real text (handbook/*.txt.zst, multi30k/train.*; without it, generated text)
set -u
here=$(cd "$(dirname "$0")" && pwd)
BIN=$(cd "${BIN:-$here/../../bin}" &&
    pwd); DATA=${DATA:-$here/../../../shared/data}; GLOVE=${GLOVE:+$(realpath "$GLOVE")}
[ ! -d "$DATA" ] || DATA=$(realpath "$DATA")
export LC_ALL=C.UTF-8
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work" || exit 1
if [ -f "$DATA/multi30k/train.en" ]; then { zstd -dcq "$DATA"/handbook/*.txt.zst
cat "$DATA"/multi30k/train.*; } | "$BIN/tokenize" -q -l en > text
else ${CC:-cc} -O2 -o zipf "$here/../bench/zipf.c" && ./zipf 1000000 100000 > text; fi
"$BIN/cooc-count" -q text | "$BIN/cooc-query" --vocab - > all.v
status=0
say() { if [ "$1" = 0 ]; then echo "same  $2"; else echo "DIFFER $2"; status=1; fi; }

head -n 5000 text > part; "$BIN/cooc-count" -q part | "$BIN/cooc-query" --vocab - > part.v
for how in "-w 2" "-w 15 --weights glove --oov collapse" "-w 7 --left --weights flat" \
    "-w 3 --right"; do
    "$BIN/cooc-count" -q $how -v part.v en=part > x.cooc
    python3 "$here/cooc_reader.py" x.cooc > read; r=$?
    "$BIN/cooc-query" --dump --counts x.cooc > dumped; cmp -s read dumped
    say $((r + $?)) "a reader from docs/formats/cooc.md, $how: $(wc -l < dumped) pairs"
done

if [ -z "$GLOVE" ]; then echo "left out: GloVe (set GLOVE)"; exit $status; fi
cat > compare.py <<'END'
import struct, sys
def records(path):
    return {(i, j): x for i, j, x in struct.iter_unpack("<iid", open(path, "rb").read())}
a, b = records(sys.argv[1]), records(sys.argv[2])
worst = max(abs(a[k] - b[k]) / b[k] for k in b) if a.keys() == b.keys() else 1
print(f"{len(b)} records, largest relative difference {worst:.1e}" if a.keys() == b.keys()
      else f"{len(a)} and {len(b)} records")
sys.exit(worst > 1e-12)
END
for n in 20000 1000000; do
    head -n $n all.v > v
    for w in 2 10; do
        [ $w$n != 101000000 ] || continue          # some 30 M records
        "$BIN/cooc-count" -q -w $w --weights glove --oov collapse -v v text |
            "$BIN/cooc-query" --glove - > ours
        "$GLOVE/cooccur" -memory 4 -vocab-file v -window-size $w -verbose 0 \
            -overflow-file overflow < text > theirs 2>/dev/null
        what=$(python3 compare.py ours theirs)
        say $? "cooccur -window-size $w, $(wc -l < v) words: $what"
        [ $w = 2 ] || continue
        "$BIN/cooc-count" -q -w $w --weights glove --oov collapse --right -v v text |
            "$BIN/cooc-query" --glove - > ours
        "$GLOVE/cooccur" -memory 4 -symmetric 0 -vocab-file v -window-size $w -verbose 0 \
            -overflow-file overflow < text > theirs 2>/dev/null
        what=$(python3 compare.py ours theirs)
        say $? "cooccur -symmetric 0 -window-size $w, $(wc -l < v) words: $what"
    done
done
head -n 5000 all.v > v
"$BIN/cooc-count" -q -w 5 --weights glove --oov collapse -v v text |
    "$BIN/cooc-query" --glove - > records
"$GLOVE/shuffle" -memory 1 -verbose 0 < records > shuffled 2>/dev/null &&
    [ "$(stat -c %s shuffled)" = "$(stat -c %s records)" ] &&
    "$GLOVE/glove" -save-file vectors -threads 2 -input-file shuffled -iter 3 -vector-size 20 \
        -vocab-file v -verbose 2 > log 2>&1
r=$?; costs=$(sed -n 's/.*cost: //p' log | tr '\n' ' ')
[ $r = 0 ] && [ "$(wc -l < vectors.txt)" = $(($(wc -l < v) + 1)) ] && echo "$costs" |
    awk '{ exit !($1 > $2 && $2 > $3) }'
say $? "glove trains from cooc-query --glove: cost ${costs% } in three rounds, $(wc \
    -l < vectors.txt) vectors"
exit $status
