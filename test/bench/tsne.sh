#!/bin/bash
# Times t-SNE of plot beside openTSNE's two methods, on the same three principal components in one
# run, with the schedule of 1,000 steps, 250 of them early: wall, CPU and the divergence reached.
#   BIN=folder of programs   N=20000 points   D=50 dimensions   THREADS=2
#   TSNE_PYTHON=a Python with numpy, scikit-learn and openTSNE
set -eu
BIN=$(cd "${BIN:-$(dirname "$0")/../../bin}" && pwd); N=${N:-20000}; D=${D:-50}
THREADS=${THREADS:-2}
TSNE_PYTHON=${TSNE_PYTHON:?"set TSNE_PYTHON to a Python with numpy, scikit-learn and openTSNE"}
unset OPENBLAS_CORETYPE
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
"$TSNE_PYTHON" - "$work" "$N" "$D" <<'P'
import sys
import numpy as np
work, n, d = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(1)
centres = 2 * rng.normal(size=(200, d))
x = (centres[rng.integers(0, 200, n)] + rng.normal(size=(n, d))).astype("f4")
np.save(work + "/x.npy", x)
with open(work + "/x.vec", "w") as f:
    f.write(f"{n} {d}\n")
    for i, v in enumerate(x):
        f.write(f"w{i} " + " ".join("%.9g" % a for a in v) + "\n")
P
echo "$N points, $THREADS threads; load $(cut -d' ' -f1 /proc/loadavg)"
/usr/bin/env time -q -f '%e s wall, %U s CPU' -o "$work/t" "$BIN/plot" tsne xx="$work/x.vec" \
    --threads "$THREADS" -o "$work/x.svg" 2> "$work/note"
echo "plot tsne, reading and drawing included: $(cat "$work/t"), $(grep -o 'KL.*' "$work/note")"
for method in bh fft; do
    OMP_NUM_THREADS=$THREADS "$TSNE_PYTHON" - "$work" "$THREADS" $method <<'P'
import sys
import time
import numpy as np
import openTSNE
from sklearn.decomposition import PCA
work, threads, method = sys.argv[1], int(sys.argv[2]), sys.argv[3]
p = PCA(3).fit_transform(np.load(work + "/x.npy"))
wall, cpu = time.time(), time.process_time()
e = openTSNE.TSNE(perplexity=30, n_jobs=threads, random_state=1, early_exaggeration_iter=250,
                  n_iter=750, negative_gradient_method=method).fit(p)
print(f"openTSNE {openTSNE.__version__}, {method}: {time.time() - wall:.1f} s wall, "
      f"{time.process_time() - cpu:.1f} s CPU, KL divergence {e.kl_divergence:.4f}")
P
done
