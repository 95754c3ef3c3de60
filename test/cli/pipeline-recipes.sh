# Recipes: what is not sound is refused with the line it is on; launchers, and short stages that
# share their jobs; trainings at once; folders with a space in their names; only the data; hours of
# a plan.
. "$TOP/test/cli/lib.sh"
covered pipeline-own, pipeline-rehearse
unset MAKEFLAGS MAKELEVEL MFLAGS CORPUS_CACHE RUN SEEDS SCALE LIFELINE A B DEVICE LAUNCH_CPU \
    LAUNCH_GPU GPU_JOBS CPU_JOBS SLURM_CPUS_PER_TASK
mkdir -p "a b/exp/presets" "a b/bin" bin
cp -R "$TOP/pipelines" "a b"
echo 'setting N 3' > "a b/exp/presets/tiny.sh"
cd "a b"
export EXPERIMENTS=$PWD/exp RUNS=$PWD/runs SCALE=tiny SUMMARY=true MAKE=make MAKEFLAGS= \
    PIPE=$PWD/pipelines
BIN=$PWD/bin
conduct() { BIN=$BIN "$PIPE/conduct" "$@"; }
cat > exp/toy.sh <<'SH'
languages en de
for l in $LANGS; do
    stage raw.$l  raw/$l : : "seq 1 $N > raw/$l"
    quick half.$l  half/$l : raw/$l : "head -n 1 raw/$l > half/$l"
    quick back.$l  back/$l : half/$l : "tac half/$l > back/$l"
done
for s in $SEEDS; do
    train train.$s  s$s/model/ : back/$A back/$B : \
        "sleep 0.3; mkdir s$s/model; cat back/* > s$s/model/w"
done
quick table  table.txt : s1/model : "cat s1/model/w > table.txt"
SH

# a checkout and run folders whose path has a space
conduct pipeline toy > out 2>&1 || { cat out; fail "a path with a space"; }
is "$(cat runs/toy-tiny/table.txt)" "$(printf '1\n1')"
is "$(conduct why toy)" "nothing to do"
MAKEFLAGS=q conduct pipeline toy || fail "make -q"

# texts that this machine cannot have are told before anything runs
printf 'toy/none\t-\ntoy/nor\t-\n' >> "$PIPE/sources.tsv"
cat > exp/lacks.sh <<'SH'
stage first  first : : "echo 1 > first"
published raw.none  none toy/none
published raw.nor  nor toy/nor
SH
mkdir -p cache/toy; echo here > cache/toy/none
fails 2 'not here: toy/none toy/nor; say CORPUS_CACHE' env BIN="$BIN" "$PIPE/conduct" pipeline lacks
fails 2 'not here: toy/nor;' env BIN="$BIN" CORPUS_CACHE="$PWD/cache" "$PIPE/conduct" \
    pipeline lacks
[ ! -e runs/lacks-tiny/first ] || fail "a stage ran"
gzip -c cache/toy/none > cache/toy/nor.gz
RUNS=runs CORPUS_CACHE=cache conduct pipeline lacks > out 2>&1 ||       # from here, not from there
    { cat out; fail "all texts are there"; }
is "$(cat runs/lacks-tiny/nor)" here
conduct pipeline lacks || fail "what is done needs no text"

# with captions of the same images, the dictionary knows which belong together, and translators
# train on those that the test's are like
plan_of() { EXPERIMENTS=$PIPE/experiments TOP=$TOP BIN=$BIN SCALE=${SCALE_OF-smoke} SEEDS=1 \
    DEVICE=auto "$TOP/pipelines/plan" "${1-unmt-deen}"; }
TEXT=task1 plan_of > plan.task1
TEXT=task2 plan_of > plan.task2
about="words/en.about.cooc"
for n in 1 2; do
    is "$(grep -c "^dict.* --src-cooc $about --src-cooc $about --tgt-cooc" plan.task$n)" 1
    is "$(grep -c '^init-vectors.*piece-vectors.awk' plan.task$n)" 1
done
is "$(sed -n '/first/p' plan.task1)" ""
plan_of gc-sweep > plan.sweep
is "$(sed -n '/about\|pieces/p' plan.sweep)" ""
APART= INIT_PIECES= plan_of > plan.neither
is "$(sed -n '/about\|pieces/p' plan.neither)" ""
# what more text bears: a larger vocabulary and more steps, on a GPU as well
steps_of() { sed -n 's/^s1.mlm.pretrain\t.* --steps \([0-9]*\) .*/\1/p
    s/^s1.mlm.unmt\t.* --steps \([0-9]*\) .*/\1/p; s/^bpe-learn\t.* -n \([0-9]*\) .*/\1/p'; }
is "$(SCALE_OF=mini plan_of | steps_of | xargs)" "6000 3000 1500"
is "$(TEXT=task2 SCALE_OF=mini plan_of | steps_of | xargs)" "12000 6000 1500"
is "$(SCALE_OF=gpu plan_of | steps_of | xargs)" "6000 5000 1500"
is "$(TEXT=task2 SCALE_OF=gpu plan_of | steps_of | xargs)" "12000 10000 2500"
is "$(TEXT=task2 MERGES=9 PRETRAIN_STEPS=8 SCALE_OF=gpu plan_of | steps_of | xargs)" "9 8 2500"
is "$(grep -c '^s1.mlm.unmt.*en=shd/first.en.shd.*,bpe/first.de ' plan.task2)" 1
is "$(grep -c '^s1.mlm.pretrain.*en=shd/train.en.shd' plan.task2)" 1
SCALE_OF=paper fails 2 'SCALE=paper: invented languages have smoke and demo' plan_of demo
SCALE_OF=paper fails 2 "SCALE=paper: no paper has gc-wiki: .* smoke, mini and gpu" plan_of gc-wiki
for x in demo gc-counts-demo; do
    SCALE_OF=mini fails 2 'SCALE=mini: invented languages have smoke and demo' plan_of $x
done
# GC_AS=code says it all, in counting and in training, whatever GC has; a system that is by the text
# stays so
code='--gc-mean pairs --gc-log 1+x --gc-neighbours visible --gc-targets selected'
plan_of > plan.paper
GC_AS=code GC="--gc-lambda 2" plan_of > plan.code
counts() { sed -n 's/^cooc.en\t.*\t//p' $1; }
is "$(counts plan.paper)$(sed -n '/--gc-mean/p' plan.paper)" \
    "cooc-count -w 2 -v vocab en=bpe/train.en > cooc/en.cooc"
is "$(counts plan.code)" \
    "cooc-count -w 2 --weights glove -v vocab en=bpe/train.en > cooc/en.cooc"
is "$(grep -c "^s1.mlm-gc.pretrain.*--cooc cooc/all.cooc $code --gc-lambda 2 --seed" plan.code)" 1
GC_AS=code SYSTEMS="gc paper code paper-0.25" plan_of derived-gc-demo > plan.copy
sed -n 's/^same.s1.\([^\t]*\).pretrain\t.*\(--cooc [^ ]*\) \(.*\)--no-enc.*/\1 \2 \3/p' \
    plan.copy > forms
is "$(sed 's/ *$//' forms)" \
"gc --cooc same/gc.cooc $code
paper --cooc same/paper.cooc
code --cooc same/code.cooc $code
paper-0.25 --cooc same/paper.cooc  --gc-lambda 0.25"
# a copy that shares types is measured on those that it does not share, and only they are exchanged
GC_OVERLAP="0 0.25" plan_of gc-anchors > plan.anchors
sed -n '/^same.*\.s1\.gc\.rows/p' plan.anchors | grep -o -e '--eval [^ ]*' | sort -u > evals
is "$(xargs < evals)" \
    "--eval gold.all --eval gold.frequent --eval same-0.25/gold.all --eval same-0.25/gold.frequent"
grep -q '^same-0.25.exch.*permute-types.awk same-0.25/own.xb same-0.25/train.xb' plan.anchors ||
    fail "all types are exchanged"
GC_OVERLAP="0 0.1 0" fails 2 'GC_OVERLAP=.*: 0 is named twice' plan_of gc-anchors
GC_OVERLAP="0 1.5" fails 2 'order same-1.5: same or inverted' plan_of gc-anchors
GC_AS=code SYSTEMS="mass mass-gc" fails 2 'SYSTEMS=mass-gc: .*; add --gc-side enc to GC' plan_of
GC_AS=code SYSTEMS=mass-gc GC="--gc-side enc" plan_of > enc.plan
grep -q ' --gc-side enc --seed' enc.plan
GC_AS=code SYSTEMS=mass plan_of > plan.mass
GC_AS=both fails 2 'GC_AS=both: there are paper and code' plan_of
# lists: what there is none of, what is named twice; numbers that are not given
SYSTEMS="mlm papers" fails 2 'SYSTEMS=mlm papers: there is no papers; there are mlm, gc, ' \
    plan_of derived-gc-demo
SYSTEMS="mlm paper-" fails 2 'there is no paper-; .*, paper-N, ' plan_of derived-gc-demo
SYSTEMS="mlm mlmx" fails 2 'there is no mlmx; there are mlm, mlm-gc, pmi, ' plan_of
SYSTEMS="mlm mlm" fails 2 'SYSTEMS=mlm mlm: mlm is named twice' plan_of
TRANSFORMS="trans transs" fails 2 'TRANSFORMS=.*: there is no transs; .* trans, trans-inv, ' \
    plan_of derived
SYSTEMS=alignn fails 2 'there is no alignn; there are mlm, xlm, ' plan_of derived
TASKS=nlii fails 2 'TASKS=nlii: there is no nlii; there are pos, ner, nli$' plan_of derived
CS_SYSTEMS="more scsx" fails 2 'there is no scsx; there are more, tcs, scs, scs-N, ' plan_of cs-demo
CS_TASKS=ner fails 2 'CS_TASKS=ner: there is no ner; there are pos, nli, qa$' plan_of cs-demo
CS_SENTENCES="test test" fails 2 'CS_SENTENCES=test test: test is named twice' plan_of cs-demo
SCORES=cosin fails 2 'there is no cosin; there are cosine, distance, ratio$' plan_of analysis-demo
WINDOWS=x fails 2 'WINDOWS=x: there is no x; there are numbers$' plan_of analysis-demo
PPA_SYSTEMS="full ful" fails 2 'there is no ful; there are full, tlm, moco, ' plan_of ppa-demo
PPA_SIZES="70 70" fails 2 'PPA_SIZES=70 70: 70 is named twice' plan_of ppa-demo
PPA_SYSTEMS="full 70" PPA_SIZES= plan_of ppa-demo > plan.70
grep -q "^s1.70.pretrain.* --pairs 70 " plan.70 && grep -q "'1,PPA, 70 pairs," plan.70 ||
    fail "$(grep 's1.70' plan.70)"
for y in xlu:XLU_SYSTEMS tasks-deen:TASKS mono:SYSTEMS; do
    (export ${y#*:}=pso; fails 2 "${y#*:}=pso: there is no pso; there are " plan_of ${y%:*})
done
for y in PRETRAIN_STEPS MERGES UNMT_STEPS; do
    (export $y=; fails 2 "$y=: a number, such as [0-9]" plan_of)
done
APART= WORD_TYPES= plan_of > plan.empty
APART=0 fails 2 'APART=0: a number of lines, 1 or more' plan_of
FIRST=ten TEXT=task2 fails 2 'FIRST=ten: a whole number, such as 14500' plan_of

# every table of MLM-GC's paper stands under one of ours
for x in unmt-deen analysis-deen gc-sweep xlu mono; do
    EXPERIMENTS=$PIPE/experiments TOP=$TOP BIN=$BIN SCALE=smoke SEEDS=1 DEVICE=auto \
        "$TOP/pipelines/plan" $x
done | sed -n 's/^#paper\t//p' | tr ' ' '\n' | sed -n 's/^A://p' | sort -nu > tables
is "$(echo $(cat tables))" "1 2 3 4 5 6 7 8 9 10 11"
# a recipe, or a part of one, cannot give one of the words another meaning
printf 'mkdir() { :; }\nlayered() { :; }\nquick a  a : : "echo > a"\n' > exp/again.sh
fails 1 'again.sh: line 2: layered: readonly function' env BIN="$BIN" "$PIPE/conduct" why again

# another pair of languages has a run folder of its own; one named twice is refused
B=fr conduct pipeline toy > /dev/null; [ -f runs/toy-en-fr-tiny/back/fr ] || fail "$(ls runs)"
fails 2 'language en: named twice' env B=en BIN="$BIN" "$PIPE/conduct" why toy

# under a launcher, stages of less than a second share a job, and a job has its stage's name
cat > bin/launch <<'SH'
#!/bin/bash
echo "$1 $SLURM_JOB_NAME" >> "$JOBS"; shift; exec "$@"
SH
chmod +x bin/launch; mv bin/launch ../bin; PATH=$PWD/../bin:$PATH
export JOBS=$PWD/jobs
rm -r runs; LAUNCH_CPU="launch {}" LAUNCH_GPU="launch gpu-{}" conduct pipeline toy > out 2>&1 ||
    { cat out; fail launcher; }
is "$(sort jobs)" "gpu-train.1 train.1
half.en half.en+3
raw.de raw.de
raw.en raw.en
table table"
is "$(conduct why toy)" "nothing to do"
# what took less than a second the last time is short, too
rm jobs; rm -r runs/toy-tiny/raw runs/toy-tiny/half
LAUNCH_CPU=launch\ {} conduct pipeline toy > out 2>&1
is "$(cat jobs)" "raw.en raw.en+5" "$(cat out)"

# trainings at once: at most GPU_JOBS
cat > exp/gpu.sh <<'SH'
for s in 1 2 3 4 5; do
    train t.$s  $s : : "n=\$(mktemp busy/XXXXXX); ls busy | wc -l > $s; sleep 0.4; rm \$n"
done
SH
mkdir -p runs/gpu-tiny/busy
GPU_JOBS=2 MAKEFLAGS=-j5 conduct pipeline gpu > out 2>&1 || { cat out; fail "GPU_JOBS"; }
is "$(cat runs/gpu-tiny/[1-5] | sort -n | tail -n 1)" 2
rm -r runs/gpu-tiny/[1-5]
GPU_JOBS=0 MAKEFLAGS=-j5 conduct pipeline gpu > out 2>&1 || fail "no limit"
[ "$(cat runs/gpu-tiny/[1-5] | sort -n | tail -n 1)" -gt 2 ] ||
    fail "one after the other: $(cat runs/gpu-tiny/[1-5])"
# on processors without make -j, too: CPU_JOBS of them, each with its share of the threads
rm -r runs/gpu-tiny/[1-5]
sed -i 's/sleep 0.4/sleep 0.4; echo \\$SLURM_CPUS_PER_TASK > threads/' exp/gpu.sh
OMP_NUM_THREADS=6 CPU_JOBS=2 MAKEFLAGS= conduct pipeline gpu > out 2>&1 ||
    { cat out; fail "CPU_JOBS"; }
is "$(cat runs/gpu-tiny/[1-5] | sort -n | tail -n 1)" 2 "trainings at once with CPU_JOBS=2"
is "$(cat runs/gpu-tiny/threads)" "$(($(OMP_NUM_THREADS=6 nproc) / 2))"
fails 2 "CPU_JOBS=x: a whole number" env CPU_JOBS=x "$PIPE/conduct" why gpu

# what is wrong with a recipe, and where
wrong() { printf '%s\n' "$2" > exp/bad.sh; fails 2 "$1" env BIN="$BIN" "$PIPE/conduct" why bad; }
wrong '^make: bad.sh:2: stage b: its command reads a: add that to its inputs$' \
    $'stage a  a : : "seq 3 > a"\nstage b  b : : "cat a > b"'
wrong 'bad.sh:2: stage b: its command reads d/x: add' \
    $'stage a  d/ : : "mkdir d"\nstage b  b : : "cat d/x > b"'
wrong 'bad.sh:1: stage b: no stage before this one writes its input raw/x' \
    'stage b  b : raw/x : "cat raw/x > b"'
wrong 'bad.sh:2: stage b: a writes a, too' $'stage a  a : : "seq 3 > a"\nstage b  a : : "seq 4 > a"'
wrong 'bad.sh:2: stage a: there is another of this name' \
    $'stage a  a : : "seq 3 > a"\nstage a  b : : "seq 4 > b"'
wrong 'bad.sh:1: stage a: /tmp/x is outside the run folder' 'stage a  /tmp/x : : "seq 3 > /tmp/x"'
wrong 'bad.sh:1: stage a: no file \$TOP/pipelines/none' 'stage a  a : $P/none : "cat $P/none > a"'
wrong 'bad.sh:1: stage a: expected NAME OUTPUT... : INPUT... : "COMMAND"' 'stage a  a : : seq 3'
wrong 'its command reads \$TOP/pipelines/shuffle: add' 'stage a  a : : "$P/shuffle < /dev/null > a"'
fails 2 'no experiment none; there are: .*demo.* toy' env BIN="$BIN" "$PIPE/conduct" why none
fails 2 'no SCALE=none; there are: align demo gpu mini mt own paper smoke tiny' env SCALE=none \
    BIN="$BIN" \
    "$PIPE/conduct" why toy

# a run without results has no table, and takes nothing from the curves that were kept
echo kept > "$PIPE/reference/toy-tiny.tsv"
for v in table reference; do
    fails 2 'runs/none has not begun' env RUN=none BIN="$BIN" "$PIPE/conduct" $v toy
done
mkdir -p runs/none
fails 2 'runs/none has no results.tsv' env RUN=none BIN="$BIN" "$PIPE/conduct" table toy
fails 2 'runs/none has no curves of seed 1' env RUN=none BIN="$BIN" "$PIPE/conduct" reference toy
is "$(cat "$PIPE/reference/toy-tiny.tsv")" kept; rmdir runs/none
# seed 1 of a part of a run is kept, seed 2 is not
for s in s1 s2 same/s1 same/s2; do
    mkdir -p runs/parts/$s/mlm
    echo '{"event":"valid","step":5,"perplexity":7}' > runs/parts/$s/mlm/log.jsonl
done
RUN=parts conduct reference toy > out
is "$(cat "$PIPE/reference/toy-tiny.tsv")" \
    "$(printf '%s/mlm\t5\tperplexity\t7\n' s1 same/s1)"
# an experiment that works in another's folder: what that one trained there has curves, too
{ echo FOLDER=toy; cat exp/toy.sh; } > exp/beside.sh
is "$(RUN=parts conduct check beside | grep -c 'on track')" 4
rm "$PIPE"/reference/toy-tiny.* exp/beside.sh; rm -r runs/parts

# texts that are not to be had are refused before anything runs
unset EXPERIMENTS SUMMARY; SCALE=smoke
fails 2 'multi30k/train.es: no such text' env A=en B=es BIN="$BIN" "$PIPE/conduct" pipeline \
    unmt-deen
[ ! -e runs/unmt-deen-en-es-smoke ] || fail "something was begun"
# fetch gets the data and does no more
mkdir -p cache/multi30k cache/bli; echo wrong > cache/multi30k/train.en
CORPUS_CACHE=$PWD/cache conduct fetch unmt-deen > out 2>&1 && fail "a wrong text was taken"
grep -q 'is not the file this needs' out || fail "$(cat out)"
! ls runs/unmt-deen-smoke/.stage/*.part | grep -v /raw || fail "more than data"

# hours: a stage that ran takes as long as then, a training as its work beside a kept one's
cat > exp/hours.sh <<'SH'
stage a  a : : "seq 3 > a"
train s1.x.pretrain  m/ : a : "pretrain --layers 2 --dim 8 --ffn 32 --tokens 100 --steps $STEPS a"
[ -z "$MORE" ] || stage b  b : : "seq 4 > b"
[ -z "$MORE" ] || train s1.y.pretrain  n/ : a : \
    "pretrain --layers 2 --dim 8 --ffn 32 --tokens 100 --steps $MORE a"
SH
export MORE=
export EXPERIMENTS=$PWD/exp SCALE=tiny
printf 'a\t5\t0\ns1.x.pretrain\t60\t%d\n' \
    $((10 * 100 * (2 * 8 * (4 * 8 + 2 * 32) + 500000))) > "$PIPE/reference/hours-tiny.seconds"
STEPS=10 conduct plan hours > out
grep -q '^2 of 2 stages to do: about 65 s, one after the other' out || fail "$(cat out)"
STEPS=1000 conduct plan hours > out; grep -q '^2 of 2 stages to do: about 1.7 hours' out ||
    fail "$(cat out)"
# what ran with fewer steps takes as much longer
mkdir -p runs/hours-tiny/.stage; echo 30 > runs/hours-tiny/.stage/s1.x.pretrain.time
echo 5 > runs/hours-tiny/.stage/a.time
echo 'command: pretrain --layers 2 --dim 8 --ffn 32 --tokens 100 --steps 10 a' \
    > runs/hours-tiny/.stage/s1.x.pretrain.stamp
STEPS=20 conduct plan hours > out; grep -q '^2 of 2 stages to do: about 65 s' out ||
    fail "$(cat out)"
# what has not run, as much longer or shorter than the reference's as what ran here: x took 30 s of
# 60, so y's 180 are 90; a took 8 s of 5, so b's 40 are 64
printf 'b\t40\t0\n' >> "$PIPE/reference/hours-tiny.seconds"
echo 8 > runs/hours-tiny/.stage/a.time; echo 'command: seq 3' > runs/hours-tiny/.stage/a.stamp
MORE=30 STEPS=10 conduct plan hours > out
is "$(sed -n 's/^to do  *\([^ ]*\) s  \([^ ]*\) .*/\2 \1/p' out)" "a 8
s1.x.pretrain 30.0
b ~64.0
s1.y.pretrain ~90.0"
# the same where a comma is the decimal sign (a locale of glibc's, made here of that and of ASCII)
{ printf '<code_set_name> COMMA\n<mb_cur_min> 1\n<mb_cur_max> 1\n<escape_char> /\nCHARMAP\n'
for ((i = 0; i < 128; i++)); do printf '<U%04X> /x%02x a\n' $i $i; done
echo END CHARMAP; } > ascii
printf 'LC_NUMERIC\ndecimal_point ","\nthousands_sep ""\ngrouping -1\nEND LC_NUMERIC\n' > numbers
localedef -c --no-archive -f ./ascii -i ./numbers ./comma > said 2>&1 || true
there() { (unset LC_ALL; export LOCPATH=$PWD LC_NUMERIC=comma; "$@"); }
[ "$(there awk 'BEGIN { printf "%.1f", 1.5 }')" != 1,5 ] ||
    MORE=30 STEPS=10 there conduct plan hours | cmp - out
rm runs/hours-tiny/.stage/a.stamp
# what was cut off says nothing of how long the whole takes, neither here nor as a reference
rm runs/hours-tiny/.stage/s1.x.pretrain.stamp
STEPS=20 conduct plan hours > out; grep -q '^2 of 2 stages to do: about 2 minutes' out ||
    fail "$(cat out)"
mkdir -p runs/hours-tiny/s1/x
echo '{"event":"valid","step":5,"perplexity":7}' > runs/hours-tiny/s1/x/log.jsonl
cp "$PIPE/reference/hours-tiny.seconds" kept; STEPS=20 conduct reference hours > out
is "$(cat "$PIPE/reference/hours-tiny.seconds")" ""
mv kept "$PIPE/reference/hours-tiny.seconds"; rm "$PIPE/reference/hours-tiny.tsv"
rm -r runs/hours-tiny
rm "$PIPE"/reference/*.seconds; STEPS=10 conduct plan hours > out
grep -q 'no times are known for them' out || fail "$(cat out)"
printf 'a\t5\t0\n' > "$PIPE/reference/hours-tiny.seconds"; STEPS=10 conduct plan hours > out
grep -qx '2 of 2 stages to do: about 5 s for 1 of them; no times are known for the others' out ||
    fail "$(cat out)"

# every column of a table is explained on its page: what stages call their rows begins with a name
# of columns.tsv
export RUNS=$PWD/explained
for x in cs-demo gc-wiki ppa-demo tasks-deen; do
    plan_of $x > plan.rows || fail "no plan of $x"
    grep -oE -- "--as ('[^']*'|[^ ;]+)" plan.rows
done > as
sed -n "s/'//g; s/ *[*]$//; s/^--as [^=]*=\([^*].*\)/\1/p" as | sort -u > titles
printf '%s\n' exported precision mass_perplexity sop_accuracy >> titles     # their own titles
[ "$(wc -l < titles)" -gt 15 ] || { cat titles; fail "few titles"; }
is "$(awk -F '\t' 'FNR == NR { if (!/^#/) is[$1]; next }
    { for (m in is) if (index($0, m) == 1) next; print }' "$TOP/pipelines/columns.tsv" titles)" ''
