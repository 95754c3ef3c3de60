# The stage runner, on a toy experiment with stand-ins for the programs: what is killed at random
# moments and run again ends with the bytes of an undisturbed run, after which make has nothing to
# do.
. "$TOP/test/cli/lib.sh"
covered pipeline-own, pipeline-rehearse
mkdir -p exp/presets bin
cat > exp/presets/tiny.sh <<'SH'
setting PLAN_NOTE "nothing at all"
setting N 30
SH
cat > exp/toy.sh <<'SH'
for l in en de; do
    stage raw.$l  raw/$l : : "seq 1 $N > raw/$l"
    stage double.$l  two/$l : raw/$l : "slowcat 2 < raw/$l > two/$l"
done
weights=
for s in $SEEDS; do
    train train.$s  s$s/model/ : two/en two/de : \
        "count --out s$s/model --to 60 --seed $s $RESUME --in en=two/en,two/de"
    weights+=" s$s/model/weights"
done
stage table  table.txt : $weights : "cat$weights > table.txt"
SH
cat > bin/slowcat <<'SH'
#!/bin/bash
[ "${1:-}" = --version ] && { cat "$0.version" 2>/dev/null || echo slowcat 1; exit; }
while read -r x; do
    for ((k = 0; k < $1; k++)); do echo "$x"; done
    [ -n "${QUICK-}" ] || sleep 0.004
done
SH
cat > bin/count <<'SH'
#!/bin/bash
# Stands in for training: each step depends on the last; saves every 5 steps and when told to stop.
[ "${1:-}" = --version ] && { echo count 1; exit; }
resume= n=0 stop=
while [ $# -gt 0 ]; do case $1 in
    --out) out=$2; shift 2;; --to) to=$2; shift 2;; --seed) seed=$2; shift 2;;
    --in) in=${2#*=}; shift 2;; --resume) resume=1; shift;; *) exit 2;; esac; done
mkdir -p "$out/checkpoints"
trap 'stop=1' TERM INT
x=$(($(cat ${in//,/ } | cksum | cut -d' ' -f1) + seed))
[ -n "$resume" ] && [ -f "$out/checkpoints/state" ] && read -r n x < "$out/checkpoints/state"
while [ $n -lt $to ]; do
    x=$(((x * 6364136223846793005 + 1442695040888963407) & 0x7fffffffffffffff)); n=$((n + 1))
    [ -n "${QUICK-}" ] || sleep 0.008
    echo "{\"step\":$n}" >> "$out/log.jsonl"
    if [ $((n % 5)) = 0 ] || [ -n "$stop" ]; then
        echo "$n $x" > "$out/checkpoints/t" && mv "$out/checkpoints/t" "$out/checkpoints/state"; fi
    [ -z "$stop" ] || exit 75
done
echo $x > "$out/weights"
SH
chmod +x bin/*
cat > go <<END
toy:
	+@MAKE="\$(MAKE)" BIN=$PWD/bin EXPERIMENTS=$PWD/exp RUNS=$PWD/runs SCALE=tiny SUMMARY=true \\
	    exec $TOP/pipelines/conduct \$(or \$(V),pipeline) toy
END
unset MAKEFLAGS MAKELEVEL MFLAGS CORPUS_CACHE RUN SEEDS SCALE LIFELINE
# everything that is promised to be the same: not logs and not what took how long
bytes() { (cd "$1"; find . -type f ! -name lock ! -path './log/*' ! -name 'log.jsonl' \
    ! -name '*.time' ! -path './.stage/hashes' ! -path './.stage/plan*' | sort | xargs sha256sum); }

make -f go > first.out
bytes runs/toy-tiny > want
[ "$(grep -c . want)" -ge 13 ] || fail "too few files: $(cat want)"
make -q -f go || fail "make -q after a complete run"
is "$(V=why make -f go)" "nothing to do"
# what is asked for again, and what that may change; a word that no stage is called is refused
is "$(V=why AGAIN='double.*' make -f go)" "double.en: AGAIN=double.*
double.de: AGAIN=double.*
train.1: after double.en, if that changes what it reads
table: after train.1, if that changes what it reads"
fails 2 'AGAIN=raw.en double: double is no stage of toy; make plan/toy' \
    env AGAIN="raw.en double" BIN="$PWD/bin" EXPERIMENTS="$PWD/exp" SCALE=tiny \
    "$TOP/pipelines/conduct" why toy
fails 2 'EXPERIMENTS=.*/expp: there is no such folder' \
    env BIN="$PWD/bin" EXPERIMENTS="$PWD/expp" SCALE=tiny "$TOP/pipelines/conduct" why toy

# Killed at random moments: make alone, make with all its children, one program.
set -m
kills=0 i=0 groups=
# gone: nothing is left of the makes so far, a minute at most; one that is still dying makes folders
gone() {
    local g n
    for g in $groups; do
        for ((n = 0; n < 600; n++)); do kill -0 -- -$g 2>/dev/null || break; sleep 0.1; done
    done
    groups=
}
while [ $kills -lt 6 ]; do
    i=$((i + 1)); [ $i -lt 100 ] || fail "only $kills killed"
    [ $((i % 4)) != 1 ] || { gone; rm -rf runs; }
    make -j2 -f go > out.$i 2>&1 & p=$! groups+=" $!"
    sleep 0.$(printf %02d $((RANDOM % 40 + 5)))
    case $((i % 3)) in
        0) kill -9 $p 2>/dev/null && kills=$((kills + 1));;
        1) kill -9 -- -$p 2>/dev/null && kills=$((kills + 1));;
        2) q=$(pgrep -f "$PWD/bin/(count|slowcat)" | sed -n 1p) && kill -9 "$q" 2>/dev/null &&
            kills=$((kills + 1));;
    esac || true
    wait $p 2>/dev/null || true
done
set +m
gone
make -f go > last.out 2>&1 || { cat last.out; fail "make after $kills kills"; }
bytes runs/toy-tiny | diff - want || fail "other bytes after $kills kills"
make -q -f go || fail "make -q after the kills"

# A program that is killed while it says its version: nothing is remembered of that.
rm -r runs; cp -p bin/slowcat slowcat.was
sed -i '2i [ ! -e die ] || { rm die; kill -9 $$; }' bin/slowcat
sed -i "s,die,$PWD/die,g" bin/slowcat
touch die; make -f go > out 2>&1 && fail "a program without a version"
grep -q 'bin/slowcat does not say its version' out || fail "$(cat out)"
cp -p slowcat.was bin/slowcat
make -f go > out 2>&1 || { cat out; fail "make after a killed --version"; }
bytes runs/toy-tiny | diff - want || fail "other bytes after a killed --version"

# Killed before each line of the stage runner in turn: a stage that begins afresh, and a training
# that goes on.
cat > killer <<'SH'
case "$0 $*" in */pipelines/stage" run "*)
    set -T
    trap '[ "${FUNCNAME[0]-}" != run_stage ] || [ $((--KILL_LINE)) != 0 ] || kill -9 $$' DEBUG;;
esac
SH
PATH=$PWD/bin:$PATH
lifeline=; ! setpriv --pdeathsig TERM true 2>/dev/null || lifeline='setpriv --pdeathsig TERM'
# as make asks what is stale and runs a stage, under the lock that it and its command hold
stages() { LIFELINE=$lifeline QUICK=1 BIN=$PWD/bin flock runs/toy-tiny/lock \
    "$TOP/pipelines/stage" $1 "$PWD/runs/toy-tiny/.stage/plan" "$PWD/runs/toy-tiny" "${@:2}"; }
running() { stages run "$@"; }
stale_run() { running $(stages why | sed 's/:.*//'); }
for stage in double.en train.1; do
    rm -rf before; cp -a runs/toy-tiny before
    case $stage in
        double.en) rm before/two/en;;
        train.1)
            rm before/s1/model/weights before/.stage/train.1.stamp
            sed '/^output:/d' runs/toy-tiny/.stage/train.1.stamp > before/.stage/train.1.part
            (cd before; QUICK=1 count --out ../stopped --to 30 --seed 1 --in two/en,two/de)
            cp stopped/checkpoints/state before/s1/model/checkpoints/state
            : > before/.stage/train.1.time;;
    esac
    for ((line = 1; ; line++)); do
        rm -r runs/toy-tiny; cp -a before runs/toy-tiny
        ! BASH_ENV=$PWD/killer KILL_LINE=$line running $stage > out 2>&1 || break
        stale_run >> out 2>&1 || { cat out; fail "after $stage was killed at line $line"; }
        bytes runs/toy-tiny | diff - want ||
            fail "other bytes after $stage was killed at line $line"
    done
    make -q -f go || fail "make -q after $stage was killed at $line lines"
    [ $line -gt 25 ] || { cat out; fail "$stage was killed at $line lines only"; }
    [ $stage != train.1 ] || grep -q '^train.1 (continues)' out ||
        { cat out; fail "what was interrupted began afresh"; }
done

# On a full disk a training does not go on; its state stays for the next time.
rm -r runs/toy-tiny; cp -a before runs/toy-tiny; part=runs/toy-tiny/.stage/train.1.part
ln -s /dev/full $part.tmp
! running train.1 > out 2>&1 || fail "a training without its part"
grep -q 'stage: cannot write .*/.stage/train.1.part$' out || fail "$(cat out)"
same before/.stage/train.1.part $part; rm $part.tmp
make -f go > out 2>&1; grep -q '^train.1 (continues)' out || fail "$(cat out)"
bytes runs/toy-tiny | diff - want || fail "other bytes after a full disk"

# What is stale, and only that.
make -q -f go SEEDS="1 2" && fail "a second seed is something to do"
is "$(V=why make -f go SEEDS='1 2' | sed -n 1p)" "train.2: has not run"
make -f go SEEDS="1 2" > out; grep -q '^train.1' out && fail "seed 1 was trained again"
V=why make -f go N=31 > out; grep -q '^raw.en: command changed' out || fail "$(cat out)"
touch runs/toy-tiny/raw/en; is "$(V=why make -f go SEEDS='1 2')" "nothing to do" "a new time alone"
echo 31 >> runs/toy-tiny/raw/en
is "$(V=why make -f go SEEDS='1 2' | sed -n 1,2p)" "raw.en: output raw/en was changed
double.en: input raw/en changed"
make -f go SEEDS="1 2" > out; grep -qE '^(double|train|table)' out &&
    fail "the same raw text again, yet more was run: $(cat out)"
echo '# the same version, other code' >> bin/slowcat
V=why make -f go SEEDS='1 2' > out; grep -q 'program slowcat changed: now slowcat 1, code' out ||
    fail "$(cat out)"
cp -p slowcat.was bin/slowcat
is "$(V=why make -f go SEEDS='1 2')" "nothing to do" "the old code again"
echo "slowcat 2" > bin/slowcat.version; touch -d '+1 second' bin/slowcat
V=why make -f go SEEDS='1 2' > out; grep -q 'program slowcat changed: now slowcat 2' out ||
    fail "$(cat out)"
rm -r runs/toy-tiny/s1
V=why make -f go SEEDS='1 2' > out; grep -q 'train.1: output s1/model/ is missing' out ||
    fail "$(cat out)"

# Two makes in one run folder: the second is refused with one line, and the first is not disturbed.
sed -i 's/--to 60/--to 20000/' exp/toy.sh
make -f go SEEDS=1 > one.out 2>&1 & p=$!
for i in $(seq 3000); do grep -q '^train.1' one.out && break; sleep 0.1; done
make -f go SEEDS=1 > two.out 2>&1 && fail "two makes in one run"
is "$(grep -c 'is in use by another make' two.out)" 1
kill -TERM $p; wait $p || true
for i in $(seq 3000); do grep -q 'the same make command continues it' one.out &&
    break; sleep 0.1; done
grep -q 'the same make command continues it' one.out || fail "$(cat one.out)"

# A stage that fails says which, where its log is, and leaves no stamp.
sed -i 's/--to 20000/--to 29/' exp/toy.sh
echo 'exit 3' >> bin/count
make -f go > out 2>&1 && fail "a failing stage"
grep -q 'train.1 failed (status 3)' out || fail "$(cat out)"
[ ! -e runs/toy-tiny/.stage/train.1.stamp ]
