#!/bin/bash
# Times exact CSLS top-10 in both directions (dict-induce --map none) beside FAISS (IndexFlatIP) and
# beside MUSE's loop on PyTorch, on the same vectors in one run; prints wall, CPU and peak memory of
# each.
#   BIN=folder of programs   N=200000 vectors a side   D=300   THREADS=2
#   FAISS_PYTHON=a Python with numpy, faiss-cpu and torch
#   SAMPLE=8192     the peers search for so many rows only; a direction's time is extrapolated by
#   N / SAMPLE (0: all rows)
#   PARTS="ours faiss muse"   WORK=folder for the vectors (kept; parts can then be run one by one)
set -eu
BIN=$(cd "${BIN:-$(dirname "$0")/../../bin}" &&
    pwd); N=${N:-200000}; D=${D:-300}; THREADS=${THREADS:-2}; SAMPLE=${SAMPLE:-8192}
    PARTS=${PARTS-ours faiss muse}
FAISS_PYTHON=${FAISS_PYTHON:?"set FAISS_PYTHON to a Python with numpy, faiss-cpu and torch"}
"$FAISS_PYTHON" -c 'import faiss, numpy, torch' ||
    { echo "csls: $FAISS_PYTHON has not all of numpy, faiss-cpu, torch" >&2; exit 1; }
unset OPENBLAS_CORETYPE
if [ -n "${WORK:-}" ]; then work=$WORK; mkdir -p "$work"; else work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT; fi
[ -f "$work/z.$N.$D.npy" ] || "$FAISS_PYTHON" - "$work" "$N" "$D" <<'P'
import sys
import numpy as np
work, n, d = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(1)
z = rng.standard_normal((n, d), dtype=np.float32)
x = z + 2 * rng.standard_normal((n, d), dtype=np.float32)
for name, v in (("x", x), ("z", z)):
    np.save(f"{work}/{name}.{n}.{d}.npy", v / np.linalg.norm(v, axis=1, keepdims=True))
P
timed() { /usr/bin/env time -q -f '%e %U %S %M' -o "$work/t" "$@" > "$work/out" ||
    { echo "csls: failed: $1" >&2; kill $$; }
    awk '{ printf "%.1f s wall, %.1f s CPU, %.0f MiB", $1, $2 + $3, $4 / 1024 }' "$work/t"; }
echo "$N x $N x $D, K = 10, top 10 both ways, $THREADS threads; "\
"the vectors are $((N * D * 8 >> 20)) MiB; load $(cut -d' ' -f1 /proc/loadavg)"
case " $PARTS " in *' ours '*)
    echo "dict-induce, reading and writing included: $(timed "$BIN/dict-induce" \
        -q --threads "$THREADS" --normalize none --max-vocab 0 \
        --src "$work/x.$N.$D.npy" --tgt "$work/z.$N.$D.npy" --reverse "$work/back" \
            -o "$work/there")"
    awk '{ print $1 }' "$work/t" > "$work/ours"
    # the scores of some words' translations, from all of their cosines in double precision
    "$FAISS_PYTHON" - "$work" "$N" "$D" <<'P'
import sys
import numpy as np
work, n, d = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
x, z = (np.load(f"{work}/{s}.{n}.{d}.npy", mmap_mode="r") for s in "xz")
rows = range(0, n, max(1, n // 20))
mine = {i: [] for i in rows}
for line in open(f"{work}/there"):
    a, b, s = line.split("\t")
    if int(a) in mine:
        mine[int(a)].append((int(b), float(s)))


def mean(v, others):
    products = np.asarray(others, dtype=np.float64) @ np.asarray(v, dtype=np.float64)
    return np.sort(products)[-10:].mean()


def csls(i, j):
    return 2 * float(np.dot(x[i].astype(float), z[j].astype(float))) - mean(x[i], z) - mean(z[j], x)


worst = max(abs(s - csls(i, j)) for i in list(mine)[:5] for j, s in mine[i][:2])
print(f"  its scores are within {worst:.1g} of NumPy's in double precision, where looked at")
P
esac
cat > "$work/peer.py" <<'P'
# The peers' searches. Prints the seconds of each; queries are the first `sample` rows.
import sys
import time
import numpy as np
what, work, n, d, threads, sample = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:7])
x, z = (np.load(f"{work}/{s}.{n}.{d}.npy") for s in "xz")
q = min(sample or n, n)
seconds = {}


def timed(name, f):
    t = time.time()
    r = f()
    seconds[name] = (time.time() - t) * n / q
    print(f"  {name}: {seconds[name]:.1f} s" +
          (f" (extrapolated from {q} of {n} rows)" if q < n else ""), flush=True)
    return r


if what == "faiss":
    import faiss
    faiss.omp_set_num_threads(threads)

    def search(a, b, k):
        index = faiss.IndexFlatIP(a.shape[1])
        index.add(b)
        return index.search(a, k)
    rx = timed("means of x", lambda: search(x[:q], z, 10)[0].mean(1))
    rz = timed("means of z", lambda: search(z[:q], x, 10)[0].mean(1))
    # CSLS's order for a given x is that of 2 x.z - r(z): an inner product with one dimension more.
    # Where only a sample's means were made, the others are the sample's mean: the same work
    full = lambda r: np.concatenate([r, np.full(n - q, r.mean(), dtype=np.float32)])
    wide = lambda b, r: np.hstack([2 * b, -full(r)[:, None]]).astype(np.float32)
    one = lambda a: np.hstack([a[:q], np.ones((q, 1), dtype=np.float32)])
    timed("best z of x", lambda: search(one(x), wide(z, rz), 10))
    timed("best x of z", lambda: search(one(z), wide(x, rx), 10))
else:
    import torch
    torch.set_num_threads(threads)
    X, Z = torch.from_numpy(x), torch.from_numpy(z)

    def means(a, b):       # MUSE's get_nn_avg_dist without FAISS: 1,024 queries at once
        bt = b.t().contiguous()
        return torch.cat([
            a[i:min(i + 1024, q)].mm(bt).topk(10, 1)[0].mean(1)
            for i in range(0, q, 1024)])

    def best(a, b, ra, rb):    # its get_candidates: 128 at once; topk(10) where MUSE takes 2
        out = []
        for i in range(0, q, 128):
            s = b.mm(a[i:min(i + 128, q)].t()).t()
            s.mul_(2)
            s.sub_(ra[i:min(i + 128, q)][:, None])
            s.sub_(rb[None, :])
            out.append(s.topk(10, 1))
        return out
    rx = timed("means of x", lambda: means(X, Z))
    rz = timed("means of z", lambda: means(Z, X))
    full = lambda r: torch.cat([r, r.mean().expand(n - q)])
    timed("best z of x", lambda: best(X, Z, rx, full(rz)))
    timed("best x of z", lambda: best(Z, X, rz, full(rx)))
print(f"  together {sum(seconds.values()):.1f} s")
P
for peer in faiss muse; do
    case " $PARTS " in *" $peer "*) ;; *) continue;; esac
    name=$([ $peer = faiss ] && echo "FAISS IndexFlatIP" || echo "MUSE's loop on PyTorch")
    echo "$name, this process: $(timed "$FAISS_PYTHON" "$work/peer.py" $peer "$work" "$N" "$D" \
        "$THREADS" "$SAMPLE")"
    cat "$work/out"
    [ ! -f "$work/ours" ] || awk -v o="$(cat "$work/ours")" \
        '/together/ { printf "  ratio: dict-induce is %.2f times faster\n", $2 / o }' "$work/out"
done
