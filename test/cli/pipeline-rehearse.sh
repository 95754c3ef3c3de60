# make rehearse/X: the plan of SCALE=paper with its sizes divided and nothing else changed, on
# invented texts; what a plan costs on GPUs by measured rates; one that does not fit the disk.
. "$TOP/test/cli/lib.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS CORPUS_CACHE RUN SEEDS SCALE LIFELINE A B DEVICE LAUNCH_CPU \
    LAUNCH_GPU LAUNCH_RANKS RANKS PRECISION START GPU_JOBS CPU_JOBS GPUS DISK REHEARSE SHRINK \
    SYSTEMS
P=$TOP/pipelines
export RUNS=$PWD/runs MAKE=make SEEDS=1
conduct() { "$P/conduct" "$@"; }

# numbers alone are others, in every stage; a step of 8,192 tokens becomes one of 512, 12 of them
# stand for 400,000, and 10,000 of those for one; but validated and saved is every third at most
for x in unmt-deen mono derived cs-deen; do
    EXPERIMENTS=$P/experiments TOP=$TOP BIN=$BIN SCALE=paper DEVICE=auto \
        "$P/plan" $x > plan
    LC_ALL=C awk -v SHRINK=16 -f "$P/shrink.awk" plan > small
    for f in plan small; do sed 's/[0-9][0-9]*/N/g; s/  */ /g' $f > $f.bare; done
    cmp plan.bare small.bare || fail "$x: more than numbers"
    ! grep -o 'exec pretrain .*' small | grep -v -e '--steps 12 ' || fail "$x: long trainings"
done
printf 'a\tgpu\to\ti\tp\texec finetune --dim 1024 --steps 400000 --warmup 10000 %s %s\n' \
    '--valid-every 1000 --save-every 200000 --tokens 8192' \
    '--denoise 0:1,100000:0.1,300000:0 --lr 1e-4 --positions 512' |
    LC_ALL=C awk -v SHRINK=16 -f "$P/shrink.awk" > small
is "$(cut -f 6 small)" "exec finetune --dim 64 --steps 12 --warmup 1 --valid-every 3 \
--save-every 6 --tokens 512 \
--denoise 0:1,4:0.1,11:0 --lr 1e-4 --positions 512"

# invented texts: sentence N of one language is that of the other, word by word
for l in en ne; do LC_ALL=C awk -v NAME=flores1/mono.$l -f "$P/stand-in.awk" > $l; done
is "$(sed 's/ne\([a-z]\)/en\1/g; s/^Ne/En/; 1q' ne)" "$(sed 1q en)"
LC_ALL=C awk -v NAME=bli/en-ne.train.5k.tsv -f "$P/stand-in.awk" > dictionary
awk 'NR == FNR { to[$1] = $2; next }
    FNR > 20 { exit }
    { for (i = 2; i < NF; i++) if (!($i in to)) { print "no translation of " $i; bad = 1 } }
    END { exit bad }' dictionary en

# a whole rehearsal: 70 stages, to the table
SYSTEMS=mlm-gc conduct rehearse unmt-neen > out 2>&1 || { tail -n 20 out; fail "unmt-neen"; }
cut -f 2-4 runs/unmt-neen-rehearsal-paper/results.tsv | has "^MLM-GC.ne-en.BLEU$" ||
    fail "no results"
fails 2 'SHRINK=0: what sizes are divided by' env SHRINK=0 "$P/conduct" rehearse unmt-neen

# what it costs: 12 layers of 1,024 have 355,000 tokens a second (docs/lab/bench/gpu.md)
mkdir -p exp/presets; echo 'setting N 1' > exp/presets/tiny.sh
cat > exp/toy.sh <<'SH'
published raw  raw newscrawl/en.2007
for o in mlm mlm,tlm; do
    train t.${#o}  out-${#o}/ : raw : \
        "pretrain --objective $o --layers 12 --dim 1024 --ffn 4096 --tokens 3550 --steps 1080000"
done
SH
export EXPERIMENTS=$PWD/exp SCALE=tiny
DEVICE=cuda GPUS=3 conduct plan toy > out
grep -q '^2 trainings: 9 hours of one GPU in bf16, 3 hours of 3$' out || fail "$(cat out)"
grep -q '; disk: 20 GB, 7.5 bytes a raw byte$' out || fail "$(cat out)"
fails 2 'GPUS=8: of what. say DEVICE=cuda' env GPUS=8 "$P/conduct" plan toy
fails 2 'DISK=much: free GB' env DISK=much "$P/conduct" plan toy
# 2.7 GB of text, 7.5 times
DISK=19 fails 2 'runs/toy-tiny needs about 20 GB of disk, and 19 are free' "$P/conduct" pipeline toy
[ ! -e runs/toy-tiny/raw ] || fail "a stage ran"
