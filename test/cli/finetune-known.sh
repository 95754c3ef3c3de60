# What can be learnt is learnt, and nothing else: inference and parts of speech of the invented
# languages, the word that follows another one in a context; with shuffled labels, or without the
# premise, inference stays where guessing is.
. "$TOP/test/cli/lib.sh"
covered finetune, finetune-tasks
# one thread each: the same bytes, and none waits for another while other tests have the processors
export SLURM_CPUS_PER_TASK=1
. "$TOP/test/cli/data/invented.sh"
percent() { grep '"valid"' $1/log.jsonl | tail -n 1 | sed -E "s/.*\"$2\":([0-9.e-]+).*/\1/"; }
within() {
    awk -v a="$(percent $1 $2)" -v low=$3 -v high=$4 'BEGIN { exit !(a >= low && a <= high) }' \
        || fail "$1: $2 is $(percent $1 $2), not from $3 to $4"
}
MERGES=3000 invent --sentences 3000 --lexicon 100 --topics 8 --tasks 4000 --seed 1
pretrain -q -v vocab --codes codes --tokenizer tokenizer --train xa=xa.shd --train xb=xb.shd \
    --layers 2 --dim 64 --heads 4 --positions 128 --steps 300 --tokens 1500 --lr 3e-3 \
    --warmup 50 --schedule linear --out base
tune() {
    local out=$1 task=$2; shift 2
    finetune -q --task $task --model base --lr 2e-3 --dropout 0 --valid-every 10000 --out $out "$@"
}
tune nli nli --train xa=s/nli.train.xa.tsv --valid xa=s/nli.dev.xa.tsv --epochs 5
within nli xa.accuracy 95 100
awk -F'\t' -v OFS='\t' 'BEGIN { srand(4) } { a[NR] = $1 OFS $2; l[NR] = $3 } END {
    for (i = NR; i > 1; i--) { j = 1 + int(rand() * i); t = l[i]; l[i] = l[j]; l[j] = t }
    for (i = 1; i <= NR; i++) print a[i], l[i] }' s/nli.train.xa.tsv > shuffled.train
# (two epochs are enough to be far above what guessing is, had they anything to learn from)
tune shuffled nli --train xa=shuffled.train --valid xa=s/nli.dev.xa.tsv --epochs 2
for f in train dev; do cut -f2,3 s/nli.$f.xa.tsv | sed 's/^/\t/' > alone.$f; done
tune alone nli --train xa=alone.train --valid xa=alone.dev --epochs 2
# of 500 with three labels: a third, and 4 standard deviations
for x in shuffled alone; do within $x xa.accuracy 24.9 43.6; done
tune pos tag --train xa=s/pos.train.xa.tsv --valid xa=s/pos.dev.xa.tsv --epochs 1
within pos xa.accuracy 95 100

# the question is a word, the answer the word that follows it among ten
awk 'BEGIN { srand(5); for (l = 0; l < 2; l++) {
    out = l ? "dev.json" : "train.json"
    printf "{\"data\": [{\"paragraphs\": [" > out
    for (i = 0; i < (l ? 200 : 6000); i++) {
        c = ""; delete seen; q = int(rand() * 9) + 1
        for (k = 1; k <= 10; k++) {
            do w = "w" int(rand() * 30); while (w in seen)
            seen[w] = 1
            if (k == q) ask = w
            if (k == q + 1) { answer = w; at = length(c) + 1 }
            c = c (k > 1 ? " " : "") w
        }
        printf "%s{\"context\": \"%s\", \"qas\": [{\"id\": \"%d\", \"question\": \"%s\", ",
            i ? ",\n" : "", c, i, ask > out
        printf "\"answers\": [{\"text\": \"%s\", \"answer_start\": %d}]}]}", answer, at > out
    }
    print "]}]}" > out } }'
awk 'BEGIN { for (i = 0; i < 30; i++) print "w" i, 40 - i }' > words.vocab
cut -d' ' -f1 words.vocab > words
cat words words words | bpe-learn -q -n 100 > words.codes
binarize -q -v words.vocab -l xa -o words.shd < words
pretrain -q -v words.vocab --codes words.codes --tokenizer tokenizer --train xa=words.shd \
    --layers 2 --dim 64 --heads 4 --positions 32 --steps 0 --out words.base
tune follows qa --model words.base --train xa=train.json --valid xa=dev.json --longest 20 \
    --stride 10 --question 2 --batch 64 --epochs 10 --attention-dropout 0
within follows xa.em 95 100
