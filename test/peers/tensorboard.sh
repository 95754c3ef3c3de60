#!/bin/bash
# TensorBoard's own reader on a run's event files, one that was killed and resumed: every number of
# the log, once.
#   VENV=folder of a Python environment with tensorboard (made here if it is not there)
set -eu -o pipefail
export LC_ALL=C.UTF-8
VENV=${VENV:-${TMPDIR:-/tmp}/isoglot-peers-tensorboard}
[ -x "$VENV/bin/python" ] || { python3 -m venv "$VENV" &&
    "$VENV/bin/pip" install -q tensorboard 'setuptools<81'; }
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"; PATH=$BIN:$PATH
awk 'BEGIN { srand(7); for (i = 0; i < 300; i++) { s = "w1";
    for (j = 0; j < 5; j++) s = s " w" int(rand() * 30); print s } }' > s
awk 'BEGIN { for (j = 0; j < 30; j++) print "w" j, 30 - j }' > vocab
binarize -q -v vocab -l aa -o aa.shd < s
run=(pretrain -q -v vocab --train aa=aa.shd --valid aa=aa.shd --layers 1 --dim 16 --heads 2 \
    --ffn 16 --positions 16 --tokens 60 --log-every 5
    --save-every 10 --valid-every 20 --steps 400 --tensorboard --resume --out run)
"${run[@]}" & pid=$!
while ! grep -q '"step":55' run/log.jsonl 2>/dev/null; do sleep 0.01; done
kill -9 $pid; wait $pid 2>/dev/null || true
sleep 1
"${run[@]}"
"$VENV/bin/python" - <<'P'
import json, numpy as np
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
acc = EventAccumulator("run/tensorboard", size_guidance={"scalars": 0}).Reload()
want = {}
for line in open("run/log.jsonl"):
    e = json.loads(line)
    for k, v in e.items():
        if k not in ("event", "step", "time") and v is not None:
            want.setdefault(f"{e['event']}/{k}", []).append((e["step"], np.float32(v)))
got = {t: [(s.step, np.float32(s.value)) for s in acc.Scalars(t)] for t in acc.Tags()["scalars"]}
assert sorted(got) == sorted(want), (sorted(got), sorted(want))
for t in want:
    assert [s for s, _ in got[t]] == [s for s, _ in want[t]], t
    assert np.allclose([v for _, v in got[t]], [v for _, v in want[t]], rtol=1e-6,
                       equal_nan=True), t
print(f"TensorBoard reads the same {sum(map(len, got.values()))} numbers of {len(got)} curves")
P
