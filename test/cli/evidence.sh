# Experiments on Wikipedia (TEXT=wiki): which stages they have, where they make no sense, both sides
# of pairs in one order, examples of tasks; test/gpu/evidence.sh: what is prepared here and what is
# run there, within its minutes, on toy experiments.
. "$TOP/test/cli/lib.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS CORPUS_CACHE RUN SEEDS SCALE LIFELINE A B DEVICE TEXT
P=$TOP/pipelines
planned() {     # EXPERIMENT SCALE
    TEXT=${TEXT-wiki} TOP=$TOP BIN=$BIN EXPERIMENTS=$P/experiments SCALE=$2 SEEDS=1 DEVICE=auto \
        "$P/plan" $1 > plan
}
command_of() { awk -F'\t' -v n="$1" '$1 == n { print $6 }' plan; }

# the four paper's tasks in four languages, learnt in English alone, by each of five encoders
planned xlu mini
is "$(grep -cE '^s1[.]tlm[.](pos|ner|nli|qa)[.]en-(en|de|es|zh)'$'\t' plan)" 16
is "$(grep -cE '^s1[.]tlm[.](pos|ner|nli|qa)[.]..'$'\t' plan)" 4
is "$(grep -o -- '--parallel en-..' <(command_of s1.tlm.encoder) | xargs -n 2 | cut -d ' ' -f 2 |
    xargs)" "en-de en-es en-zh"
grep -q -- '--alpha 0.5 .*--layers 4\|--layers 4 .*--alpha 0.5' <(command_of s1.xlm.encoder)
is "$(command_of bpe-learn)" \
    "bpe-learn -n 30000 --alpha 0.5 en=tok/train.en de=tok/train.de es=tok/train.es \
zh=tok/train.zh > codes"
# every text has a hash
grep -oE '/sources.tsv [a-z0-9-]+/[A-Za-z0-9_./-]+' plan | cut -d ' ' -f 2 | sort -u > named
for n in $(cat named); do
    awk -F'\t' -v n="$n" '$1 == n { ok = 1 } END { exit !ok }' "$P/sources.tsv" || fail "$n"
done
# pairs stay pairs: both sides in one order; PPA takes the first of them
planned ppa-deen mini
mkdir -p raw
seq -f 'e%g' 1 9 > raw/tatoeba-pairs.en; seq -f 'd%g' 1 9 > raw/tatoeba-pairs.de
seq -f 'e%g' 10 19 > raw/lohelp.en; seq -f 'd%g' 10 19 > raw/lohelp.de
seq -f 'e%g' 20 24 > raw/debian-descriptions.en; seq -f 'd%g' 20 24 > raw/debian-descriptions.de
for l in en de; do
    command_of raw.pairs.$l | sed "s|\$TOP|$TOP|g" > run
    P=$P bash run
done
is "$(paste raw/pairs.en raw/pairs.de | awk 'substr($1, 2) == substr($2, 2)' | sort -u | wc -l)" 24
is "$(sed -n 1,3p raw/pairs.en | sort -u | wc -l)" 3
[ "$(sed -n 1,3p raw/pairs.en | xargs)" != "e1 e2 e3" ] || fail "in their own order"
for y in mlm full 10000; do
    grep -q "^s1[.]$y[.]qa[.]en-de"$'\t' plan || fail "$y does not answer questions"
done
# examples: a heading for pairs, at most so many, whole sentences of tags
planned cs-deen smoke
printf 'neutral\ta b\tc\nentailment\td\te\n' > raw/nli.train.en.1
printf 'neutral\tf\tg\n' > raw/nli.train.en.2; : > raw/nli.train.en.3
mkdir -p task/nli task/ner
command_of task.nli.train.en | sed 's/NR <= [0-9]*/NR <= 2/' | bash
is "$(cat task/nli/train.en.tsv)" "$(printf 'label\tsentence1\tsentence2\nneutral\ta b\tc
entailment\td\te')"
printf 'de:a\tO\nb\tO\n\nc\tB-LOC\n\nd\tO\n' > raw/ner.test.de.1
command_of task.ner.test.de | sed 's/k <= [0-9]*/k <= 2/' | bash
is "$(cat task/ner/test.de.tsv)" "$(printf 'a\tO\nb\tO\n\nc\tB-LOC')"
# of WikiAnn's English development set one part chooses, the other is judged
for p in valid test; do
    cp raw/ner.test.de.1 raw/ner.$p.en.1
    command_of task.ner.$p.en | sed 's/5000/1/; s/s.^en:/s\/^de:/' | bash
done
is "$(cat task/ner/valid.en.tsv)" "$(printf 'a\tO\nb\tO')"
is "$(cat task/ner/test.en.tsv)" "$(printf 'c\tB-LOC\n\nd\tO')"
# MLM-GC alone: four systems, each by RSIM and two retrievals beside what gc-counts-demo has
TEXT= planned gc-wiki mini
is "$(command_of results | grep -o 's1/code/[a-z.]*' | sort | xargs)" \
    "s1/code/rsim.rows s1/code/score.dict s1/code/score.log s1/code/tatoeba.rows s1/code/test.rows"
is "$(grep -c '^s1[.][a-z]*[.]pretrain' plan)" 4
# one of the authors' code beside the text's, with counts of its own
SYSTEMS="mlm-gc mlm-gc-code" planned unmt-deen mini
command_of cooc.code.de | has -- '-w 2 --weights glove --skip ⇧,⇪ -v vocab de=bpe/train.de'
command_of s1.mlm-gc-code.pretrain |
    has -- '--cooc cooc/code.cooc --gc-mean pairs --gc-log 1+x --gc-neighbours visible'
command_of s1.mlm-gc.pretrain | has -v -- --gc-mean
# derived: no trees; a tenth of B's steps is for the models that go on
TRANSFORMS="trans trans-syn" fails 2 'TEXT=wiki TRANSFORMS: .*no trees' planned derived mini
planned cs-deen gpu
command_of s1.tcs.pretrain | has -- '--steps 2500 '
# no sense, one line each
fails 2 'TEXT=wiki: mono has a text of its own; unmt-deen, .* can have' planned mono mini
fails 2 'TEXT=wiki: unmt-roen has a text of its own' planned unmt-roen mini
fails 2 'TEXT=wiki: there is no fr; it has en de es zh' planned unmt-enfr mini
fails 2 "TEXT=wiki SCALE=demo: Wikipedia's 50 MB are for smoke, mini and gpu" planned unmt-deen demo
TEXT=wikipedia fails 2 'TEXT=wikipedia: task1 or task2' planned unmt-deen mini
TEXT= fails 2 'SCALE=gpu: of derived experiments for TEXT=wiki' planned derived gpu
B=fr fails 2 'TEXT=wiki: there is no fr' planned xlu mini
CS_UNMT=1 fails 2 'CS_UNMT TEXT=wiki' planned cs-deen mini

# --- minutes of a GPU, as a list of toy experiments -----------------------------------------------
mkdir -p exp/presets folder/bin folder/test
cp -R "$P" folder/pipelines; cp -R "$TOP/test/gpu" folder/test; touch folder/packed
: > exp/presets/smoke.sh
cat > exp/toy.sh <<'SH'
setting N 9
languages en de
for l in $LANGS; do
    stage raw.$l  raw/$l : : "seq 1 $N > raw/$l"
    stage tok.$l  tok/$l : raw/$l : "tac raw/$l > tok/$l"
    quick shard.$l  shd/$l : tok/$l : "cp tok/$l shd/$l"
    quick unused.$l  unused/$l : : "false > unused/$l"      # nobody wants it made
done
for s in $SEEDS; do
    train t.$s  s$s/m/ : shd/$A shd/$B : "mkdir s$s/m && cat shd/* > s$s/m/w && echo
        '{\"event\":\"valid\",\"step\":5,\"perplexity\":7.5}' > s$s/m/log.jsonl"
    quick t.$s.rows  s$s/a.rows : s$s/m : "echo row $s > s$s/a.rows"
done
SH
cat > exp/slow.sh <<'SH'
train t.1  s1/m/ : : "mkdir s1/m && echo '{\"event\":\"valid\",\"step\":1,\"bleu\":0.5}'
    > s1/m/log.jsonl && sleep 100"
SH
printf "experiment %s\n" "toy 1 2 toy '^t' N=4 small N=2" "slow 0.02 1 slow '^t'" > toys
export EXPERIMENTS=$PWD/exp SCALE=smoke
evidence=$TOP/test/gpu/evidence.sh
EVIDENCE=$PWD/toys SMALL=1 SEEDS="1 2" "$evidence" pack --again "$PWD/folder" > out 2>&1 ||
    { cat out; fail pack; }
# what is read there is there, what is made there is not, and nothing that nobody wants
is "$(cd folder/runs/toy && find . -type f ! -path './.stage/*' | sort | xargs)" \
    "./tok/de ./tok/en"
is "$(cat folder/runs/toy/tok/en)" "$(printf '2\n1')"
unset EXPERIMENTS SCALE
folder/test/gpu/evidence.sh run > out 2> err || { cat out err; fail run; }
folder/test/gpu/evidence.sh table | sed '1,/^$/d' > table
sed 's/, [0-9]* s$//' table > got
printf '%s\n' "toy: done" $'s1/m\tstep 5\tperplexity:7.5' $'s2/m\tstep 5\tperplexity:7.5' "row 1" \
    "row 2" "" "slow: broken off" $'s1/m\tstep 1\tbleu:0.5' > want
same got want
# broken off or not, the same command goes on with what is left
folder/test/gpu/evidence.sh run toy > out 2> err || { cat out err; fail again; }
grep -q '^toy: done' out
echo "experiment a b" > bad
fails 1 'expected experiment NAME MINUTES TRAININGS RECIPE PATTERN' env EVIDENCE="$PWD/bad" \
    SMALL=1 "$evidence" pack --again "$PWD/folder"
fails 1 'is for a folder that evidence.sh pack made' "$evidence" run
