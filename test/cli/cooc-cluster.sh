# Counting by parts, on a cluster or with make, gives the bytes of counting everything at once.
# Here with a stand-in for Slurm; cli/slurm-pieces has a real one.
. "$TOP/test/cli/lib.sh"
awk 'BEGIN {
    srand(5)
    for (i = 0; i < 3000; i++) {
        s = ""; for (k = rand() * 20; k > 0; k--) s = s " w" int(exp(rand() * 6))
        print substr(s, 2)
    }
}' > text
split -n l/4 text part.; cooc-count -q text | cooc-query --vocab - > v
printf 'de=part.aa\nde=part.ab\nen=part.ac\nen=part.ad\n' > parts
cooc-count -q -w 3 -v v de=part.aa de=part.ab en=part.ac en=part.ad |
    cooc-merge -q --normalize en - > want
# runs what it is given, arrays one after the other
mkdir fake; cat > fake/sbatch <<'E'
#!/bin/bash
set -e
while [ "${1#-}" != "$1" ]; do
    case $1 in
    --array=*) tasks=${1#--array=};;
    --dependency=*) is=$1;;
    --mem=*) mem=$(numfmt --from=iec --to-unit=1048576 "${1#--mem=}");;
    esac
    shift
done
echo "$(cat calls 2> /dev/null | wc -l) ${tasks} ${is:-}" >> calls
for i in ${tasks//,/ }; do
    SLURM_JOB_ID=7 SLURM_MEM_PER_NODE=$mem SLURM_ARRAY_TASK_ID=$i "$@" > /dev/null
done
echo "7;cluster"
E
chmod +x fake/sbatch
# count OPTION...
count() {
    CPUS=2 NORMALIZE=en PATH=$PWD/fake:$PATH \
        "$TOP/pipelines/cooc-cluster.sbatch" parts v got -w 3 -q "$@" > /dev/null
}
# a job of M MiB adds as many files as fit, M * 1024 / (512 * 2); AddressSanitizer takes memory of
# its own
M=20; [ -z "${ISOGLOT_TEST_SANITIZED:-}" ] || M=40
MEMORY=${M}M count
same got want
is "$(cat calls)" "0 1,2,3,4 
1 1 --dependency=afterok:7"
grep -q "$M at once" got.parts/settings
# a tree of two; then only what is missing is made, and what is there is not counted again
rm -r got got.parts calls
FAN=2 count; same got want
is "$(cat calls)" "0 1,2,3,4 
1 1,2 --dependency=afterok:7
2 1 --dependency=afterok:7"
rm -r got got.parts/3 calls; printf 'en\n' > one; cooc-count -q -w 3 -v v de=one > got.parts/1
FAN=2 count
is "$(cat calls)" "0 3 
1 1,2 --dependency=afterok:7
2 1 --dependency=afterok:7"
! cmp -s got want || fail "part 1 was counted again"
FAN=2 count 2> err; grep -q 'got is there: nothing to do' err
# other parts, other settings: not gone on with
rm got
status=0; FAN=2 count --oov collapse 2> err || status=$?
is $status 1; grep -q '^pieces: got.parts: was begun with something else (command: cooc-count' err
# a part that changed since is counted again, once the sum of before is out of the way
FAN=2 count; echo w1 w2 >> part.ab
status=0; FAN=2 count 2> err || status=$?
is $status 1; grep -q '^pieces: got: was made when pieces 2 were others' err
rm got calls; FAN=2 count
is "$(head -n 1 calls)" "0 2 "
echo de=part.aa >> parts
! FAN=2 count 2> err || fail "another number of parts"
grep -q 'was begun with 4 pieces' err; sed -i '$d' parts
rm -r got.parts
! FAN=2 count 2> err || fail "another got was there"
grep -q 'got: already exists; remove it' err; rm got
# a piece that is no text stops the merge
printf '\377\n' > part.ac
! FAN=2 count 2> err || fail "merged without part 3"
grep -q 'part.ac:1: byte 1 is not UTF-8' err; [ ! -e got ] && [ ! -e got.parts/3 ]
sed -n 1p text > part.ac
printf %s "$(cat parts)" > open            # its last line lacks a newline, and is a part
make -s -j2 -f "$TOP/pipelines/cooc-cluster.make" PARTS=open VOCAB=v OUT=made NORMALIZE=en \
    COUNT="-q -w 3" > /dev/null
cooc-count -q -w 3 -v v de=part.aa de=part.ab en=part.ac en=part.ad |
    cooc-merge -q --normalize en - > want
same made want
rm -r got.parts; mv open parts; FAN=2 count; same got want
echo w1 w2 >> part.ad; cooc-count -q -w 3 -v v de=part.aa de=part.ab en=part.ac en=part.ad |
    cooc-merge -q --normalize en - > want
rm got; FAN=2 count; same got want
fails 2 'usage' "$TOP/pipelines/cooc-cluster.sbatch" parts
fails 2 'MEMORY=much: a size' env MEMORY=much "$TOP/pipelines/cooc-cluster.sbatch" parts v got
