#!/bin/bash
# Whole training steps against PyTorch, alternately in one run: tokens/s, the share of one large
# product's speed, memory; then the ratio. Sentences of one length, and real lengths: packed here,
# padded there. Then translation beside transformers and CTranslate2, those of the two that are
# there (test/bench/translate.sh): one model, trained first. test/gpu/bench.sh [ROUNDS];
# PYTHON=python3, BUDGET=540 seconds, building not counted: what there is no time for is missing,
# which is said and fails; ONLY=steps or translation, or rows of steps, e.g. ONLY="mlm-12-1024-256
# mt-6-1024-real"; what translate.sh takes, e.g. LAYERS, DIM, SENTENCES; DEVICE=cpu and a small
# model, or STEPS_OF='mlm 2 64 1000 8 32' (the columns below), to see that it works.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-python3} rounds=${1:-2}
. "$top/test/gpu/where.sh"
device=${DEVICE:-cuda} budget=${BUDGET:-540} began=$SECONDS torch=yes status=0
left() { echo $((budget - SECONDS + began)); }
peer() { LD_LIBRARY_PATH=$LIBRARIES_BEFORE timeout 120 "$python" "$@"; }
if [ "$device" = cuda ]; then
    timeout 60 "$UNIT/ops" cuda describe || exit 1
    peer -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2> torch.log || torch=
else peer -c 'import torch' 2> torch.log || torch=
fi
[ -n "$torch" ] || { echo "bench.sh: PyTorch is not there, or sees no GPU (PYTHON=$python; $(tail \
    -n 1 torch.log)): ours alone is measured, which fails"; status=1; }

best() { sed -n 's/.* \([0-9]*\) tokens\/s.*/\1/p' "$1" | sort -n | tail -n 1; }
# aim WHAT VALUE AIM: a line of the summary
aim() { awk -v w="$1" -v v="$2" -v a="$3" \
    'BEGIN { printf "%-60s %6.2f  aim %.2f: %s\n", w, v, a, (v >= a ? "reached" : "missed") }' |
        tee -a aims; }

# The rows: kind, layers, D, vocabulary, sentences, their length.
rows() {
    if [ -n "${STEPS_OF-}" ]; then echo "$STEPS_OF"; return; fi
    cat <<'END'
mlm 12 1024 60000 64 256
mt 6 1024 60000 128 real
mlm 12 1024 60000 256 real
bt 6 1024 60000 128 real
mlm 12 768 60000 64 256
END
}
# PyTorch in a process of its own, which compiles once, in four minutes at most, and then steps when
# it is told to. Sets to, from (file descriptors).
peer_open() {
    local said wait
    coproc PEER { exec env LD_LIBRARY_PATH="$LIBRARIES_BEFORE" "$python" "$top/test/gpu/peer.py" \
        "$@" 2> "$log"; }
    exec {from}<&"${PEER[0]}" {to}>&"${PEER[1]}"
    pid=$PEER_PID
    wait=$(left)
    [ "$wait" -le 240 ] || wait=240
    read -r -t "$((wait > 0 ? wait : 1))" said <&"$from" && [ "$said" = ready ]
}
peer_close() { exec {to}>&- {from}<&-; kill "$pid" 2> /dev/null; wait "$pid" 2> /dev/null; }
steps() {
    local kind layers dim vocabulary sentences length name ours theirs i log to from pid line with
    while read -r kind layers dim vocabulary sentences length; do
        name="$kind-$layers-$dim-$length"
        case " ${ONLY:-steps} " in *" steps "* | *" $name "*) ;; *) continue ;; esac
        echo "== $name: $kind, $layers layers, D $dim, vocabulary $vocabulary," \
            "$sentences sentences of $length; $(left) s left"
        : > "ours.$name"; : > "theirs.$name"
        log=theirs.$name.log with=
        if [ "$(left)" -lt 20 ]; then echo "$name: no time left (ONLY=$name runs it alone)"
        status=1; continue; fi
        if [ -n "$torch" ]; then
            if peer_open $kind $layers $dim $vocabulary $sentences $length "${STEPS:-20}"; \
                then with=yes; else peer_close
                echo "$name: PyTorch was not ready: $(tail -n 1 "$log")"; status=1; fi
        fi
        for ((i = 0; i < rounds; i++)); do
            timeout 120 "$BENCH/step" $device bf16 $kind $layers $dim $vocabulary $sentences \
                $length "${STEPS:-20}" "$(nproc)" 2>&1 < /dev/null | tee -a "ours.$name" |
                    grep 'tokens/s' | sed 's/^/ours: /'
            [ -z "$with" ] || { (echo >&"$to"); read -r -t 120 line <&"$from" && echo "$line" |
                tee -a "theirs.$name"; }
        done
        [ -z "$with" ] || peer_close
        ours=$(best "ours.$name") theirs=$(best "theirs.$name")
        if [ -n "$ours" ] && [ -n "$theirs" ]; then aim \
            "$name: tokens/s, times PyTorch's ($ours, $theirs)" "$(awk -v a="$ours" -v b="$theirs" \
                'BEGIN { print a / b }')" 1.2
        else echo "$name: numbers are missing: see ours.$name, $log"; status=1; fi
        if [ $kind = mlm ] && [ $dim = 1024 ] && [ -n "$ours" ]; then
            aim "$name: share of one product's speed" "$(sed \
                -n 's/.* \([0-9]*\)% of one product.*/\1/p' "ours.$name" | sort -n | tail -n 1 |
                    awk '{ print $1 / 100 }')" 0.65
        fi
    done < <(rows)
}

# Python's libraries are its own; peers that are not there are left out, and said.
translation() {
    local work peer peers= result
    if [ "$(left)" -lt 60 ]; then echo "translation: no time left (ONLY=translation runs it alone)"
    return 1; fi
    work=$(mktemp -d)
    printf '#!/bin/bash\nLD_LIBRARY_PATH=%q exec %q "$@"\n' "$LIBRARIES_BEFORE" "$(command \
        -v "$python")" > "$work/python"
    chmod +x "$work/python"
    for peer in transformers ctranslate2; do
        if "$work/python" -c "import torch, transformers, $peer" 2> /dev/null; \
            then peers="$peers $peer"; else echo "no $peer for $python: no row of it"; fi
    done
    echo "== translation, greedy and beam 5, batches of 32 and 1, by one model: output tokens/s;" \
        "$(left) s left"
    [ -n "$peers" ] || { echo "no peer to translate beside"; rm -r "$work"; return 1; }
    export LAYERS=${LAYERS:-6} DIM=${DIM:-1024} HEADS=${HEADS:-16} LR=${LR:-3e-4} \
        BATCHES=${BATCHES:-32 1} SENTENCES=${SENTENCES:-512 32} PRECISION=${PRECISION:-bf16}
    BIN=$(dirname "$(command -v translate)") TOP=$top DEVICE=$device PEERS=${peers# } \
        PYTHON=$work/python timeout "$(left)" bash "$top/test/bench/translate.sh" 2> \
            translation.log | tee translation
    result=${PIPESTATUS[0]}
    rm -r "$work"
    [ "$result" = 0 ] && grep -q '^| .* | ours' translation && ! grep -q ': failed: ' translation &&
        return 0
    [ "$result" != 124 ] || { echo \
        "translation: no time left; what there is (beam and batch, who, seconds, tokens, MiB):"
        grep -P '^\d+, \d+\t' translation.log; }
    tail -n 5 translation.log
    echo "translation: see translation.log"
    return 1
}

: > aims
case ${ONLY:-} in
'') steps; translation || status=1 ;;
translation) translation || status=1 ;;
*) for name in $ONLY; do [ "$name" = steps ] || rows |
    awk -v n="$name" '$1 "-" $2 "-" $3 "-" $6 == n { found = 1 } END { exit !found }' ||
        { echo "bench.sh: ONLY is steps, translation or rows of steps, not $name" >&2; exit 2; }
        done
   steps ;;
esac
if [ -s aims ]; then echo "== aims"; cat aims; fi
exit $status
