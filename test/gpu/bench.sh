#!/bin/bash
# Whole training steps against PyTorch, alternately in one run: tokens/s, the share of one large product's speed, memory; then the
# ratio. Sentences of one length, and real lengths: packed here, padded there. test/gpu/bench.sh [ROUNDS]; PYTHON=python3
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-python3} rounds=${1:-2}
. "$top/test/gpu/where.sh"
LD_LIBRARY_PATH=$LIBRARIES_BEFORE "$python" -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' || { echo "bench.sh: PyTorch does not see a GPU here (PYTHON=$python)" >&2; exit 1; }
"$UNIT/ops" cuda describe || exit 1
best() { sed -n 's/.* \([0-9]*\) tokens\/s.*/\1/p' "$1" | sort -n | tail -n 1; }
status=0
while read -r kind layers dim vocabulary sentences length; do
    name="$kind-$layers-$dim-$length"
    echo "== $kind, $layers layers, D $dim, vocabulary $vocabulary, $sentences sentences of $length"
    : > "ours.$name"; : > "theirs.$name"
    for ((i = 0; i < rounds; i++)); do
        "$BENCH/step" cuda bf16 $kind $layers $dim $vocabulary $sentences $length 20 "$(nproc)" 2>&1 < /dev/null | tee -a "ours.$name" | grep 'tokens/s'
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
exit $status
