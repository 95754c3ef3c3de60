# A setting on make's command line that a recipe does not read is refused, before anything runs:
# misspelt, or of another recipe. What the environment has is not looked at.
. "$TOP/test/cli/lib.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS CORPUS_CACHE RUN SEEDS SCALE LIFELINE A B DEVICE LAUNCH_CPU \
    LAUNCH_GPU LAUNCH_RANKS RANKS PRECISION START GPU_JOBS CPU_JOBS GPUS DISK REHEARSE SHRINK \
    SYSTEMS
export RUNS=$PWD/runs
# make writes the settings down itself
printf 'plan/%%:\n\t@"%s/pipelines/conduct" plan $*\n' "$TOP" > Makefile
export BIN
set_to() {
    local rc=0
    make -s plan/"$@" 2> said || rc=$?
    sed '/^make: \*\*\* /d' said >&2
    return $rc
}

set_to unmt-deen SCALE=smoke SEEDS='1 2' PRETRAIN_STEPS=9 RUN=x MERGES=99 A=en B=fr \
    OMP_NUM_THREADS=1 > out 2>&1 || { cat out; fail "settings that are read"; }
grep -q -e '--steps 9 ' out || fail "a setting has no effect"
fails 2 'make: PRETRAIN_STEP: nothing in unmt-deen reads a setting of this name; did you mean '\
'PRETRAIN_STEPS\?' set_to unmt-deen PRETRAIN_STEP=9
fails 2 'make: SEED: .*; did you mean SEEDS\?' set_to unmt-deen SEED=2
fails 2 'make: scale: .*; did you mean SCALE\?' set_to unmt-deen scale=smoke
# another recipe's: mini.sh gives it a value for all, mono alone reads that
fails 2 'make: MONO_TUNE: nothing in unmt-deen reads' \
    set_to unmt-deen SCALE=smoke MONO_TUNE='--epochs 1'
set_to mono SCALE=smoke MONO_TUNE='--epochs 1' > out || fail "mono's own"
# all of them, each in a line; a value is none, whatever it looks like
set_to unmt-deen SCALE=smoke ZZ=1 YY='a\ PRETRAIN_STEP=3 b' SYSTEMS='mlm mlm-gc' > out 2> err &&
    fail "two that nothing reads"
is "$(cut -d : -f 2 err)" "$(printf ' YY\n ZZ')"
PRETRAIN_STEP=9 set_to unmt-deen SCALE=smoke > out || fail "the environment is anybody's"
# a recipe of one's own, and its own part
mkdir -p exp/parts exp/presets; echo 'setting N 1' > exp/presets/tiny.sh
echo 'part mine; stage a  a : : "seq $N > a"' > exp/toy.sh
echo 'setting MINE 3; stage b  b : : "seq $MINE > b"' > exp/parts/mine.sh
export EXPERIMENTS=$PWD/exp
set_to toy SCALE=tiny N=2 MINE=4 > out || fail "its own settings"
fails 2 'make: MIND: .* did you mean MINE' set_to toy SCALE=tiny MIND=4
[ ! -e runs ] || fail "something ran"
