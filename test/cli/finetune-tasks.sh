# finetune's tasks with a head learn what labelled text says, and their models keep what prediction
# needs.
. "$TOP/test/cli/lib.sh"
synth-corpus -q --out s --sentences 300 --lexicon 100 --topics 10 --tasks 400 --dev 10 --test 10
tokenize --settings > tokenizer
for l in xa xb; do tokenize -q -l $l < s/mono.$l > tok.$l; done
bpe-learn -q -n 400 tok.xa tok.xb > codes
for l in xa xb; do bpe-apply -q -c codes < tok.$l > bpe.$l; done
vocab-count -q bpe.xa bpe.xb > vocab
for l in xa xb; do binarize -q -v vocab -l $l -o $l.shd < bpe.$l; done
pretrain -q -v vocab --codes codes --tokenizer tokenizer --train xa=xa.shd --train xb=xb.shd \
    --layers 1 --dim 32 --heads 2 --positions 128 --steps 2 --tokens 200 --out base
# tune TASK FILE OUT options...: trains on the xa files of that name, validates on both languages
tune() {
    local task=$1 f=$2 out=$3 ext=tsv; shift 3
    [ $task = qa ] && ext=json
    finetune -q --task $task --model base --train xa=s/$f.train.xa.$ext \
        --valid xa=s/$f.dev.xa.$ext --valid xb=s/$f.dev.xb.$ext --lr 3e-3 --seed 2 --out $out "$@"
}
# metric OUT NAME: the last validation's number of that name
metric() { grep '"valid"' $1/log.jsonl | tail -n 1 | sed -E "s/.*\"$2\":([0-9.e-]+).*/\1/"; }
above() {
    awk -v a="$(metric $1 $2)" -v b=$3 'BEGIN { exit !(a > b) }' \
        || fail "$1: $2 is $(metric $1 $2), not above $3"
}
# keeps OUT PATTERN: the head in the model's folder
keeps() {
    grep -q "\"task_heads\": \[{$2}\]" $1/last/config.json \
        || fail "$1: $(grep task_heads $1/last/config.json)"
}

# parts of speech follow from the words; the folder keeps the head, and what it reads
tune tag pos tag --epochs 20
above tag xa.accuracy 90; above tag xa.f1 85
keeps tag '"name": "tag", "hidden": "none", "outputs": [0-9]*, "labels": \["[A-Z]*", .*\], '\
'"task": "tag", "longest": 128'
tune ner ner ner --epochs 1
keeps ner '.*"outputs": 3, "labels": \["[BO].*", ".*", ".*"\].*'
tune nli nli nli --steps 3 --head tanh
keeps nli '"name": "nli", "hidden": "tanh", "outputs": 3, "labels": \["entailment", "neutral", '\
'"contradiction"\], "task": "class", "pair": "one", "longest": 128'
tune pairs paws pairs --steps 2
keeps pairs '"name": "pairs", "hidden": "none", "outputs": 2, "labels": \["0", "1"\], .*'
tune qa qa qa --steps 3 --longest 60 --stride 20 --question 12
keeps qa '"name": "qa", "hidden": "none", "outputs": 2, "task": "span", "pair": "one", '\
'"longest": 60, "question": 12, "stride": 20, "no_answer": false'
