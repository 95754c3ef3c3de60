# Counting by parts, on a cluster or with make, gives the bytes of counting everything at once.
. "$TOP/test/cli/lib.sh"
awk 'BEGIN { srand(5); for (i = 0; i < 3000; i++) { s = ""; for (k = rand() * 20; k > 0; k--) s = s " w" int(exp(rand() * 6)); print substr(s, 2) } }' > text
split -n l/4 text part.; cooc-count -q text | cooc-query --vocab - > v
printf 'en=part.aa\nde=part.ab\nen=part.ac\nen=part.ad\n' > parts
cooc-count -q -w 3 -v v en=part.aa de=part.ab en=part.ac en=part.ad | cooc-merge --normalize en - > want
# a stand-in for sbatch: runs what it is given, arrays one after the other
mkdir fake; cat > fake/sbatch <<'E'
#!/bin/bash
set -e
first=1 last=1; while [ "${1#-}" != "$1" ]; do case $1 in --array=*) first=${1#--array=}; last=${first#*-}; first=${first%-*};; --dependency=*) is=$1;; esac; shift; done
echo "$* ${is:-}" >> calls
for i in $(seq "$first" "$last"); do SLURM_JOB_ID=7 SLURM_MEM_PER_NODE=100 SLURM_ARRAY_TASK_ID=$i "$@" > /dev/null; done
echo "7;cluster"
E
chmod +x fake/sbatch
NORMALIZE=en PATH=$PWD/fake:$PATH "$TOP/pipelines/cooc-cluster.sbatch" parts v got -w 3 -q > /dev/null
same got want
grep -q 'merge parts v got --dependency=afterok:7$' calls
rm got; echo rubbish > got.parts/1.cooc       # what is there is not counted again
! NORMALIZE=en PATH=$PWD/fake:$PATH "$TOP/pipelines/cooc-cluster.sbatch" parts v got -w 3 -q > /dev/null 2> err || fail "merged rubbish"
grep -q 'got.parts/1.cooc: byte 0: is not a .cooc file' err; [ ! -e got ]
make -s -j2 -f "$TOP/pipelines/cooc-cluster.make" PARTS=parts VOCAB=v OUT=made NORMALIZE=en COUNT="-q -w 3" > /dev/null
same made want
fails 2 'usage' "$TOP/pipelines/cooc-cluster.sbatch" parts
