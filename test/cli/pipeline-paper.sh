# SCALE=paper: words of cased text are compared as the text spells them; what cannot be run is
# refused; PRECISION and RANKS are heard by every training. That the values are the papers' is
# paper-values.sh.
. "$TOP/test/cli/lib.sh"
covered pipeline-own, pipeline-rehearse
unset MAKEFLAGS MAKELEVEL MFLAGS CORPUS_CACHE RUN SEEDS SCALE LIFELINE A B DEVICE LAUNCH_CPU \
    LAUNCH_GPU LAUNCH_RANKS RANKS PRECISION START GPU_JOBS CPU_JOBS
P=$TOP/pipelines
plan() { EXPERIMENTS=$P/experiments TOP=$TOP BIN=$BIN SCALE=${2-paper} SEEDS=1 DEVICE=auto \
    "$P/plan" "$1"; }

# a folder in mBERT's layout, as far as a plan looks
mkdir mbert
printf '{\n "model_type": "bert",\n "num_hidden_layers": 12\n}\n' > mbert/config.json

mkdir xlmr
printf '{\n "model_type": "xlm-roberta",\n "num_hidden_layers": 12\n}\n' > xlmr/config.json
for x in unmt-deen analysis-deen xlu mono cs-deen derived; do plan $x > $x.plan; done
START=$PWD/mbert plan ppa-deen > ppa-deen.plan

# layers of a published model are its own: 13 outputs and one of <s>
is "$(grep -c '^s1.mlm.tatoeba-[0-9]*.en' ppa-deen.plan)" 14
grep -q '^s1.full.pretrain.*align-post --precision auto --raw --model start ' ppa-deen.plan ||
    fail "$(grep '^s1.full.pretrain' ppa-deen.plan)"

# cased text: words in the dictionary and kings as it spells them, no marker, and nothing that grows
# with the text for translators to begin with
grep -q '^s1.mlm.kings.*echo King\|echo König Mann Frau' analysis-deen.plan || fail "kings"
! grep -q 'könig\|/case.awk' analysis-deen.plan unmt-deen.plan || fail "lower case"
! grep '^pseudo' unmt-deen.plan || fail "pairs that nothing reads"
is "$(grep -c '^words-vocab.*--max-size 200000 ' unmt-deen.plan)" 2
plan unmt-deen smoke > smoke.plan
grep -q '^raw.gold.*\\L&' smoke.plan && grep -q '^word-by-word.*case.awk' smoke.plan ||
    fail "text without case"
# MASS reads sentences where XLM reads streams
SYSTEMS="mass mass-gc" plan unmt-deen > mass.plan
is "$(grep -c '^s1.mass[^ ]*.pretrain.* --stream 256 .*--stream 0 ' mass.plan)" 2
is "$(grep -c '^s1.mass[^ ]*.pretrain.* --stream 256 .*--stream 0 ' cs-deen.plan)" 3
# a word is spelt as the dictionary has it, or as the text mostly does where it hardly ever does so
printf 'King 4 king\nking 90 king\nThe 5 the\nthe 50 the\nGerman 30 german\n' > a
printf '%s\n' 'König 50 könig' 'könig 4 könig' 'essen 60 essen' 'Essen 6 essen' 'den 9 den' \
    'Deutsch 8 deutsch' > b
printf 'king\tkönig\tking\tkönig\nKing\tEssen\tking\tessen\nthe\tDEN\tthe\tden\nx\ty\tx\ty
german\tdeutsch\tgerman\tdeutsch\n' > gold
is "$(awk -f "$P/usual-case.awk" a b gold)" \
    "$(printf 'king\tKönig\nking\tEssen\nthe\tden\nx\ty\nGerman\tDeutsch')"

# pairs whose texts have addresses: English and French, and Romanian, of B's Table 5
for l in fr ro; do
    B=$l plan cs-deen > cs-$l.plan
    grep -q "^s1.mass-scs.unmt.*shd/train.$l.shd" cs-$l.plan || fail "en-$l"
done
grep -q '^raw.test.fr.*newstest2014-fren.fr' cs-fr.plan || fail "$(grep '^raw.test' cs-fr.plan)"
B=fr plan analysis-deen smoke > fr.plan
grep -q '^raw.tatoeba.fr.*tatoeba/fra-eng.fra' fr.plan || fail "Tatoeba's French"

# what no paper has, or what SCALE=paper lacks, is refused and says so
for x in tasks-deen mt-deen; do fails 2 "no paper has $x, which learns" plan $x; done
for x in demo cs-demo ppa-demo derived-demo derived-gc-demo gc-anchors gc-sweep-demo; do
    fails 2 "SCALE=paper: invented languages have smoke and demo: no paper has $x" plan $x
done
fails 2 'PPA goes on from mBERT: say START=' plan ppa-deen
START=$PWD/none fails 2 'START: .*none: there is no such folder' plan ppa-deen
mkdir gpt; START=$PWD/gpt fails 2 'gpt is no folder of a model' plan ppa-deen
printf '{"model_type": "gpt2", "num_hidden_layers": 12}' > gpt/config.json
START=$PWD/gpt fails 2 'START: .*gpt: .*gpt2.* is not supported' plan ppa-deen
START=$PWD/mbert fails 2 'BASE and LARGE, .* are cs-xlmr' plan cs-deen
fails 2 'BASE and LARGE go on from XLM-R: say START=' plan cs-xlmr
fails 2 'SCALE=mini: XLM-R and CC-100 are SCALE=paper' plan cs-xlmr mini
fails 2 'PPA goes on from mBERT: say START=' plan ppa-mbert
START=$PWD/mbert fails 2 'no model .* of the type xlm-roberta, from which cs-xlmr .*, but of bert' \
    plan cs-xlmr
START=$PWD/none fails 2 'none is no model of transformers of the type mbart, from which' \
    plan unmt-mbart
fails 2 'this goes on from mBART: say START=' plan unmt-mbart
# languages without texts
B=xx fails 2 'newscrawl/xx.2007: no such text in pipelines/sources.tsv' plan unmt-deen
CS_LANGS="en xx" START=$PWD/xlmr fails 2 'language xx: Table 6 has none' plan cs-xlmr
fails 2 'SCALE=smoke: mBERT and its pairs are SCALE=paper' plan ppa-mbert smoke

# PRECISION is heard by every training of every recipe
for x in unmt-deen:smoke xlu:smoke mono:smoke cs-deen:smoke ppa-deen:smoke derived:mini; do
    PRECISION=bf16 plan ${x%:*} ${x#*:} | cut -f 6 | grep -E '(pretrain|finetune|align-post) ' |
        grep -v -e '--precision bf16' | grep exec && fail "$x: PRECISION is not heard"
done
! grep 'exec ' ./*-deen.plan xlu.plan mono.plan derived.plan | grep -v -e '--precision auto' ||
    fail "SCALE=paper in float32"

# RANKS share a step: as many tokens, or pairs, in as many more micro-batches
RANKS=16 plan unmt-deen > ranks.plan
is "$(grep -c 'exec.*--accumulate 16 .*--tokens 512 ' ranks.plan)" 4
RANKS=4 plan cs-deen > ranks.plan
is "$(grep '^s1.tcs.pretrain' ranks.plan |
    grep -o -e '--accumulate [0-9]*\|--batch [0-9]*' | xargs)" \
    "--accumulate 16 --batch 32"
START=$PWD/mbert RANKS=2 plan ppa-deen > ranks.plan
grep -q '^s1.full.pretrain.*align-post --accumulate 2 .*--batch 64 ' ranks.plan || fail "pairs"
grep '^s1.full.nli' ranks.plan | grep accumulate && fail "a task is shared"
RANKS=3 fails 2 'RANKS=3: a step of --tokens 8192 cannot be divided' plan unmt-deen

# and only they are started by LAUNCH_RANKS
mkdir exp bin runs; echo 'setting N 1' > tiny.sh; mkdir exp/presets; mv tiny.sh exp/presets
cat > exp/toy.sh <<'SH'
train t  t : : "pretrain --tokens 64 --x > t"
train e  e : t : "cat t > e"
SH
printf '#!/bin/bash\n[ "$1" = --version ] && echo 1 || echo "$*"\n' > bin/pretrain
printf '#!/bin/bash\necho "$1 $SLURM_JOB_NAME" >> "$JOBS"; shift; exec "$@"\n' > bin/launch
chmod +x bin/*; PATH=$PWD/bin:$PATH
toy() { EXPERIMENTS=$PWD/exp RUNS=$PWD/runs SCALE=tiny SUMMARY=true MAKE=make BIN=$PWD/bin \
    JOBS=$PWD/jobs "$P/conduct" "$@"; }
RANKS=2 LAUNCH_GPU="launch one" LAUNCH_RANKS="launch ranks" toy pipeline toy > out 2>&1 ||
    { cat out; fail "ranks"; }
is "$(cat jobs)" "$(printf 'ranks t\none e')"
is "$(cat runs/toy-tiny/e)" "--accumulate 2 --tokens 32 --x"
RANKS=two fails 2 'RANKS=two: a number of processes' toy why toy
RANKS=2 LAUNCH_GPU=launch fails 2 'RANKS=2: say what starts them: LAUNCH_RANKS=' toy pipeline toy
