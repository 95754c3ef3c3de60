#!/bin/bash
# Times cooc-count beside GloVe's cooccur on the same text in one run; prints medians and ratios,
# and compares what they counted. Then how time and memory grow with the text, and what --memory
# costs.
#   BIN=folder of programs   GLOVE=folder of GloVe's vocab_count and cooccur (built by its Makefile)
#   DATA=folder of real text (handbook/*.txt.zst, multi30k/train.*), tokenised here; or TEXT=a file
#   of tokenised text, a sentence per line, without "<unk>"; without either, generated text is used
#   RUNS=5   WINDOWS="2 10 15"
#   COPIES=1 (the real text so many times over: what is left when starting no longer weighs)
#   KEEP=folder where generated text stays for the next time (default: it is removed)
#   PARTS="peer million scale memory query values"; big is not among them: BIG=1000000000 tokens
#   (5 GB of disk)
#     peer: real text, the 20,000 most frequent words; million: generated text, 1,000,000 words
#     scale: 4, 16 and 64 M tokens; PLOT=file.svg draws them (gnuplot)
#     memory: MEMORY_TOKENS=100000000 tokens, unbounded and in a twentieth
set -eu -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
BIN=$(cd "${BIN:-$here/../../bin}" &&
    pwd); RUNS=${RUNS:-5}; PARTS=${PARTS:-peer million scale memory query values}; G=${GLOVE:-}
WINDOWS=${WINDOWS:-2 10 15}; PLOT=${PLOT:+$(realpath "$PLOT")}; KEEP=${KEEP:+$(realpath "$KEEP")}
export LC_ALL=C
TEXT=${TEXT:+$(realpath "$TEXT")}; DATA=${DATA:+$(realpath "$DATA")}
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"
${CC:-cc} -O2 -o zipf "$here/zipf.c"; ${CC:-cc} -O2 -o timed "$here/timed.c"
if [ -n "$TEXT" ]; then ln -s "$TEXT" text
elif [ -n "$DATA" ]; then { zstd -dcq "$DATA"/handbook/*.txt.zst; cat "$DATA"/multi30k/train.*; } |
    "$BIN/tokenize" -q -l en > text
else ./zipf 3000000 200000 > text; fi
echo "cooc-count: $("$BIN/cooc-count" --version | sed -n 1p)"
echo "processor: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo |
    sed -n 1p), $(nproc) of them; load $(cut -d' ' -f1 /proc/loadavg)"
# generated NAME TOKENS TYPES [SEED]: NAME is a link to such text
generated() {
    local f=${KEEP:-.}/zipf.$2.$3.${4:-1}
    [ -e "$f" ] || { ./zipf "${@:2}" > "$f.new" && mv "$f.new" "$f"; }
    ln -sf "$f" "$1"
}
# z.v: the 60,000 types that generated text of this part has
vocabulary() { generated zv 10000000 60000; "$BIN/cooc-count" -q zv |
    "$BIN/cooc-query" --vocab - > z.v; }
# median of RUNS by wall time: "wall cpu MiB"
median() {
    for _ in $(seq "$RUNS"); do
        ./timed "$@" > out 2> err 3> t || { cat err >&2; exit 1; }
        cat t
    done | sort -n | awk \
        '{ w[NR] = $1; c[NR] = $2; m[NR] = $3 } END { i = int((NR + 1) / 2);
        cpu = c[1]; for (k in c) if (c[k] < cpu) cpu = c[k];
        printf "%.3f %.3f %.1f\n", w[i], cpu, m[i] / 1024 }'
}
show() { printf '%-58s %8.3f s wall %8.3f s CPU (least) %8.1f MiB\n' "$1" $2; }
ratio() { echo "$2 $3" | awk -v n="$1" \
    '{ printf "%-58s %8.1f times faster, %.1f times less CPU, 1/%.1f of the memory\n", n,
        $4 / $1, $5 / $2, $6 / $3 }'; }
# sorted text of a file of GloVe records
records() { od -An -v -td4 -w16 "$1" | awk '{ print $1, $2 }' > ids; od -An -v -tf8 -w16 "$1" |
    awk '{ printf "%.6g\n", $2 }' | paste -d' ' ids - | sort; }

# Both programs over a text, by vocabulary, at each window.
peer() {
    local name=$1 t=$2 v=$3 w ours peer
    echo "== $name: $(wc -w < $t) words, $(wc -c < $t) bytes; vocabulary $(wc -l < $v)"
    for w in $WINDOWS; do
        ours=$(median "$BIN/cooc-count" -q --threads 2 -w $w --weights glove --oov collapse -v $v \
            $t)
        show "cooc-count --threads 2 -w $w --weights glove --oov collapse" "$ours"
        [ -n "$G" ] || continue
        [ $w != 2 ] || "$BIN/cooc-query" --glove out > ours.bin
        peer=$(median sh \
            -c "'$G/cooccur' -memory 4 -vocab-file $v -window-size $w -verbose 0 \
                -overflow-file overflow < $t")
        show "cooccur -memory 4 -window-size $w" "$peer"
        ratio "" "$ours" "$peer"
        [ $w = 2 ] || continue
        records ours.bin > a; records out > b
        cmp -s a b && echo "same pairs, same values to 6 digits: $(wc -l < a) records" ||
            echo "COUNTS DIFFER"
    done
}
[ -n "$G" ] || echo "no peer: set GLOVE to the folder with vocab_count and cooccur"
if [[ $PARTS = *peer* ]]; then
    "$BIN/cooc-count" -q text | "$BIN/cooc-query" --vocab - | sed -n 1,20000p > 20k.v
    for _ in $(seq "${COPIES:-1}"); do cat text; done > copies
    peer "real text, ${COPIES:-1} times over" copies 20k.v
fi
if [[ $PARTS = *million* ]]; then
    generated million 20000000 4000000 5; "$BIN/cooc-count" -q million |
        "$BIN/cooc-query" --vocab - | sed -n 1,1000000p > 1m.v
    peer "generated" million 1m.v
fi
if [[ $PARTS = *scale* ]]; then
    echo "== growth: generated text, 60,000 types, window 2"
    vocabulary
    for k in 1 4 16; do
        generated z $((4000000 * k)) 60000
        for threads in 1 2; do
            m=$(median "$BIN/cooc-count" -q --threads $threads -v z.v z)
            show "$((4 * k)) M tokens, --threads $threads" "$m"
            echo "$((4 * k)) $m" >> growth.$threads
        done
    done
    [ -z "$PLOT" ] || gnuplot <<END
set terminal svg size 720,300 font "sans,11"; set output "$PLOT"; set multiplot layout 1,2
set key top left
set grid; set logscale xy; set xtics (4, 16, 64); set xrange [3:90]; set xlabel "million tokens"
name(t) = t == 1 ? "1 thread" : "2 threads"
set ylabel "seconds"
plot for [t=1:2] "growth.".t using 1:2 with linespoints pt 7 title name(t)
set ylabel "MiB"
plot for [t=1:2] "growth.".t using 1:4 with linespoints pt 7 title name(t)
END
fi
if [[ $PARTS = *memory* ]]; then
    generated z "${MEMORY_TOKENS:-100000000}" 60000
    echo "== --memory: generated text of ${MEMORY_TOKENS:-100000000} tokens, $(wc \
        -c < z) bytes, 60,000 types"
    vocabulary
    for w in $WINDOWS; do
        whole=$(median "$BIN/cooc-count" -q --threads 2 -w $w -v z.v --memory 64G z)
        show "window $w, unbounded" "$whole"; mv out whole
        m=$(echo "$whole" | awk '{ print int($3 / 20) }')
        part=$(median "$BIN/cooc-count" --threads 2 -w $w -v z.v --memory ${m}M z)
        show "window $w, --memory ${m}M" "$part"
        cmp -s out whole && echo "$whole $part" |
            awk '{ printf "same bytes; %.2f times the wall time, %.2f times the CPU time\n",
                $4 / $1, $5 / $2 }' ||
            echo "BYTES DIFFER"
        tail -n 1 err
    done
fi
if [[ $PARTS = *query* ]]; then
    [ -e whole ] || { vocabulary; generated z 4000000 60000; "$BIN/cooc-count" -q -v z.v z > whole
    }
    echo "== look-ups: a million pairs from standard input, file of $(wc -c < whole) bytes"
    ./zipf 2000000 60000 9 | tr ' ' '\n' | paste -d' ' - - | sed -n 1,1000000p > pairs
    show "cooc-query x.cooc < pairs" "$(median sh -c "'$BIN/cooc-query' whole < pairs")"
fi
if [[ $PARTS = *values* ]]; then
    [ -e whole ] || { vocabulary; generated z 4000000 60000; "$BIN/cooc-count" -q -v z.v z > whole
    }
    top=$here/../..
    ${CC:-cc} -O2 -std=gnu11 -D_GNU_SOURCE -DISOGLOT_VERSION='"bench"' -I"$top" -pthread -o values \
        "$here/cooc_values.c" "$top"/lib/cooc/*.c \
        "$top"/common{,/files,/text,/prog}/*.c -lzstd -lz -lxxhash -lm
    echo "== values for training"; ./values whole 10000000
fi
if [[ $PARTS = *big* ]]; then
    n=${BIG:-1000000000}
    echo "== $n tokens, 60,000 types, window 2, --memory 1400M"
    vocabulary; generated z "$n" 60000
    show "cooc-count --threads 2" "$(median "$BIN/cooc-count" --threads 2 -v z.v --memory 1400M z)"
    tail -n 1 err
fi
