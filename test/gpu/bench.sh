#!/bin/bash
# Whole training steps against PyTorch, alternately in one run: tokens/s, the share of one large product's speed, memory; then the
# ratio. Sentences of one length, and real lengths: packed here, padded there. Then translation beside transformers and CTranslate2, those of
# the two that are there (test/bench/translate.sh): one model, trained first. test/gpu/bench.sh [ROUNDS]; PYTHON=python3,
# ONLY=steps or translation; what translate.sh takes, e.g. LAYERS, DIM, SENTENCES; DEVICE=cpu and a small model to see that it works.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-python3} rounds=${1:-2}
. "$top/test/gpu/where.sh"
device=${DEVICE:-cuda}
if [ "$device" = cuda ]; then
    LD_LIBRARY_PATH=$LIBRARIES_BEFORE "$python" -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' || { echo "bench.sh: PyTorch does not see a GPU here (PYTHON=$python)" >&2; exit 1; }
    "$UNIT/ops" cuda describe || exit 1
fi
best() { sed -n 's/.* \([0-9]*\) tokens\/s.*/\1/p' "$1" | sort -n | tail -n 1; }
status=0
steps() {
    local kind layers dim vocabulary sentences length name ours theirs i
    while read -r kind layers dim vocabulary sentences length; do
        name="$kind-$layers-$dim-$length"
        echo "== $kind, $layers layers, D $dim, vocabulary $vocabulary, $sentences sentences of $length"
        : > "ours.$name"; : > "theirs.$name"
        for ((i = 0; i < rounds; i++)); do
            "$BENCH/step" $device bf16 $kind $layers $dim $vocabulary $sentences $length 20 "$(nproc)" 2>&1 < /dev/null | tee -a "ours.$name" | grep 'tokens/s'
            LD_LIBRARY_PATH=$LIBRARIES_BEFORE "$python" "$top/test/gpu/peer.py" $kind $layers $dim $vocabulary $sentences $length < /dev/null 2>> "theirs.$name.log" | tee -a "theirs.$name" | grep 'tokens/s'
        done
        ours=$(best "ours.$name") theirs=$(best "theirs.$name")
        if [ -n "$ours" ] && [ -n "$theirs" ]; then awk -v a="$ours" -v b="$theirs" 'BEGIN { printf "%.2f times PyTorch (aim: 1.2)\n", a / b }'
        else echo "no numbers: see ours.$name, theirs.$name.log"; status=1; fi
    done <<'END'
mlm 12 1024 60000 64 256
mlm 12 1024 60000 256 real
mlm 12 768 60000 64 256
mt 6 1024 60000 128 real
bt 6 1024 60000 128 real
END
}

# Python's libraries are its own; peers that are not there are left out, and said.
translation() {
    local work peer peers=
    work=$(mktemp -d)
    printf '#!/bin/bash\nLD_LIBRARY_PATH=%q exec %q "$@"\n' "$LIBRARIES_BEFORE" "$(command -v "$python")" > "$work/python"
    chmod +x "$work/python"
    for peer in transformers ctranslate2; do
        if "$work/python" -c "import torch, transformers, $peer" 2> /dev/null; then peers="$peers $peer"; else echo "no $peer for $python: no row of it"; fi
    done
    echo "== translation, greedy and beam 5, batches of 32 and 1, by one model: output tokens/s"
    [ -n "$peers" ] || { echo "no peer to translate beside"; rm -r "$work"; return 1; }
    export LAYERS=${LAYERS:-6} DIM=${DIM:-1024} HEADS=${HEADS:-16} LR=${LR:-3e-4} BATCHES=${BATCHES:-32 1} SENTENCES=${SENTENCES:-1024 128} PRECISION=${PRECISION:-bf16}
    BIN=$(dirname "$(command -v translate)") TOP=$top DEVICE=$device PEERS=${peers# } PYTHON=$work/python bash "$top/test/bench/translate.sh" 2> translation.log | tee translation
    [ "${PIPESTATUS[0]}" = 0 ] && grep -q '^| .* | ours' translation && ! grep -q ': failed: ' translation || { tail -n 5 translation.log; echo "translation: see translation.log"; rm -r "$work"; return 1; }
    rm -r "$work"
}

case ${ONLY:-} in
'') steps; translation || status=1 ;;
steps) steps ;;
translation) translation || status=1 ;;
*) echo "bench.sh: ONLY is steps or translation, not $ONLY" >&2; exit 2 ;;
esac
exit $status
