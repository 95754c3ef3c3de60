# finetune's tasks with a head learn what labelled text says, and their models keep what prediction
# needs.
. "$TOP/test/cli/lib.sh"
. "$TOP/test/cli/data/invented.sh"
MERGES=400 invent --sentences 300 --lexicon 100 --topics 10 --tasks 400 --dev 10 --test 10
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

# predict and score, from text by the folder's own codes, give the last validation's numbers
# again(OUT FILE METRIC NAME): of the development sets in both languages
again() {
    local l got ext=tsv
    [ $1 = qa ] && ext=json
    for l in xa xb; do
        predict -q --model $1/last -l $l < s/$2.dev.$l.$ext > predicted
        got=$(score -m $3 --resamples 0 s/$2.dev.$l.$ext < predicted |
            awk -v n=$4 '$2 == n { print $3 }')
        awk -v a="$got" -v b="$(metric $1 $l.${5:-$4})" \
            'BEGIN { exit !(a != "" && (a - b) ^ 2 < 1e-8) }' ||
            fail "$1 $l: $4 of predictions is $got, of the log $(metric $1 $l.${5:-$4})"
    done
}
again tag pos tag-accuracy accuracy; again tag pos chunk-f1 f1; again ner ner chunk-f1 f1
again nli nli accuracy accuracy; again pairs paws accuracy accuracy
again qa qa squad f1; again qa qa squad exact_match em
fails 1 'language zz is not one of the model' predict --model tag/last -l zz < s/pos.dev.xa.tsv
fails 1 "the model has 2 languages; name the text's with --lang: xa, xb" \
    predict --model tag/last < s/pos.dev.xa.tsv

# A run gives the same bytes on one and two threads, and killed anywhere and resumed. The labels of
# a target language's development set change nothing: the source's alone picks the best model.
sums() { (cd $1 && find best/ last/ -type f | sort | xargs sha256sum); }
awk -F'\t' -v OFS='\t' '{ print $1, $2, last; last = $3 }' s/nli.dev.xb.tsv |
    sed '1s/$/neutral/' > other.dev
long=(--train-parallel xb=s/nli.train.xb.tsv --code-switch on --epochs 2 --batch 16 --valid-every 7
    --save-every 5)
tune nli nli one "${long[@]}" --threads 1
sums one > one.sums; [ $(wc -l < one.sums) -ge 16 ] || fail "not all files: $(cat one.sums)"
from=(finetune -q --task nli --model base --train xa=s/nli.train.xa.tsv --lr 3e-3 --seed 2)
"${from[@]}" --valid xa=s/nli.dev.xa.tsv --valid xb=other.dev "${long[@]}" --threads 2 --out two
sums two > two.sums; same one.sums two.sums
[ "$(metric one xb.accuracy)" != "$(metric two xb.accuracy)" ] || fail "other labels are not read"
best=$(grep '"valid"' one/log.jsonl |
    sed -E 's/.*"step":([0-9]+).*"xa.accuracy":([0-9.]+).*/\1 \2/' |
    awk '$2 > top + 0 { top = $2; at = $1 } END { print at }')
is "$(basename "$(readlink one/best)")" "$(printf step-%08d $best)" "the best model's step"
i=0
while :; do
    i=$((i + 1)); [ $i -lt 60 ] || fail "the broken run does not come to an end"
    "${from[@]}" --valid xa=s/nli.dev.xa.tsv --valid xb=s/nli.dev.xb.tsv "${long[@]}" \
        --threads 1 --out broken --resume & pid=$!
    # ever longer: a slow machine gets there, too, and a quick one is met before the end
    sleep "$(awk -v i=$i -v r=$RANDOM 'BEGIN { print 0.05 * i + 0.002 * i * i + r / 327680 }')"
    kill -9 $pid 2>/dev/null || true
    status=0; wait $pid || status=$?
    case $status in 0) break ;; 137) ;; *) fail "status $status" ;; esac
done
[ $i -gt 1 ] || fail "the run was over before it could be broken"
sums broken > broken.sums; same one.sums broken.sums

# --model may change where a run goes on, but not what cuts its text: the run would learn from other
# tokens, and its folder would have codes that half of it was not trained with
head -n 100 codes > fewer
pretrain -q -v vocab --codes fewer --tokenizer tokenizer --train xa=xa.shd --train xb=xb.shd \
    --layers 1 --dim 32 --heads 2 --positions 128 --steps 2 --tokens 200 --out cut
cp -rL base/last moved
half=(finetune -q --task nli --train xa=s/nli.train.xa.tsv --batch 8 --seed 2 --out half)
"${half[@]}" --model base --steps 2
fails 1 "half/checkpoints/step-00000002/codes: differs from that of --model, which cuts the text;" \
    "${half[@]}" --model cut --steps 4 --resume
is "$(readlink half/last)" checkpoints/step-00000002 "a run that was given other codes"
rm cut/last/codes
fails 1 "cut/" "${half[@]}" --model cut --steps 4 --resume
"${half[@]}" --model moved --steps 4 --resume
same half/last/codes codes

# the memory that was planned is used (sanitizers have memory of their own)
pretrain -q -v vocab --codes codes --tokenizer tokenizer --train xa=xa.shd --layers 2 --dim 128 \
    --heads 4 --positions 128 --steps 0 --out wide
for x in "nli nli tsv" "tag pos tsv" "qa qa json --longest 60 --stride 20 --question 12"; do
    set -- $x
    finetune --task $1 --model wide --train xa=s/$2.train.xa.$3 --valid xa=s/$2.dev.xa.$3 \
        --batch 400 --steps 2 --profile "${@:4}" \
        --out plan-$1 2> plan.text || fail "$(cat plan.text)"
    line=$(grep '^memory: [0-9.]* MiB at most, [0-9.]* predicted$' plan.text)
    echo "$1: $line"
    case "${BUILD_WITH-}" in *SAN=[!\ ]*) continue ;; esac
    echo "$line" | awk '{ r = $2 / $6; exit !(r > 0.85 && r < 1.15) }' || fail "off: $line"
done

# the recorded options make the run again
finetune -q --config tag/run.config --out tag-again
same tag/last/weights.safetensors tag-again/last/weights.safetensors

# defaults are XTREME's
for o in 'lr = 3e-05' 'schedule = linear' 'warmup = 10%' 'clip = 1' 'beta2 = 0.999' \
    'eps = 1e-08' 'valid-every = 100' 'weight-decay = 0' 'valid-sentences = 0'; do
    grep -qx "$o" plan-qa/run.config || fail "$o: $(grep "^${o%% *} " plan-qa/run.config)"
done

# a fine-tuned model goes on: its labels and their order stay, and no new ones come; another task
# leaves its head out; questions without an answer are noted
finetune --task tag --model tag --train xa=s/pos.dev.xa.tsv --steps 1 --out more 2> more.text
same <(grep task_heads tag/last/config.json) <(grep task_heads more/last/config.json)
fails 1 "ner.train.xa.tsv: label '[BO][-A-Z]*' is not a label of the model's head tag" finetune -q \
    --task tag --model tag --train xa=s/ner.train.xa.tsv --out no
sed '3s/"answers": .*\]}\]}/"answers": [], "is_impossible": true}]}/' s/qa.train.xa.json > v2.json
finetune --task qa --model tag --train xa=v2.json --stride 20 --steps 1 --out v2 2> v2.text
grep -q "the model's head tag is left out" v2.text || fail "$(cat v2.text)"
keeps v2 '"name": "qa".*"no_answer": true'

# What cannot be used is refused with one line, and nothing is left behind.
bad() { local pattern=$1; shift; fails 1 "$pattern" finetune -q --model base --out no "$@"; }
wrong() { local pattern=$1; shift; fails 2 "$pattern" finetune -q --out no "$@"; }
nli=(--task nli --train xa=s/nli.train.xa.tsv)
: > empty
bad 'empty: is empty' --task nli --train xa=empty
bad 'nli.train.xa.tsv: is in none of the formats' --task qa --train xa=s/nli.train.xa.tsv
# another task's labels, to learn from or to validate on
printf 'label\tsentence1\tsentence2\n1\ta\tb\n0\ta\tc\n' > same
bad 'nli.train.xa.tsv: has the labels of inference .*; --task nli learns these, --task class any' \
    --task pairs --train xa=s/nli.train.xa.tsv
bad '^finetune: same: has the labels of paraphrase \(0, 1\); --task pairs learns these' \
    "${nli[@]}" --valid xa=same
bad '^finetune: --train de=s/nli.train.xa.tsv: language de is not one of the model.s: xa, xb; it' \
    --task nli --train de=s/nli.train.xa.tsv
bad '^finetune: --train s/nli.train.xa.tsv: expected LANG=FILE' --task nli \
    --train s/nli.train.xa.tsv
bad '^finetune: --longest 129: the model has 128 positions' "${nli[@]}" --longest 129
bad 'language xa is given twice' "${nli[@]}" --valid xa=s/nli.dev.xa.tsv \
    --valid xa=s/nli.test.xa.tsv
bad '^finetune: s/qa.train.xa.json:2: windows of 60 rows' --task qa --longest 60 \
    --train xa=s/qa.train.xa.json
wrong 'code-switch needs --train-parallel' --model base "${nli[@]}" --code-switch on
wrong 'batch 0: batches are counted in examples' --model base "${nli[@]}" --batch 0
wrong 'head tanh is for nli, pairs and class' --model base --task tag --head tanh
wrong 'stride, .* are for qa and span' --model base "${nli[@]}" --stride 7
wrong 'words fused is for tag' --model base "${nli[@]}" --words fused
# an option that would change nothing is refused, and with it files that nobody would read
for o in --parallel --pseudo; do
    wrong 'parallel and --pseudo belong to translation; give --train LANG=FILE' --model base \
        "${nli[@]}" $o xa-xb=tok.xa,tok.xb
done
wrong 'csv is for files with columns, which qa and span have not' --model base --task qa --csv \
    --train xa=s/qa.train.xa.json
wrong 'skip is for nli, pairs and class' --model base --task tag --skip NS \
    --train xa=s/pos.train.xa.tsv
wrong 'text-memory is for the text of --task unmt' --model base "${nli[@]}" --text-memory 1M
wrong 'decoder-layers is for --task unmt and mt: nli has no decoder' --model base "${nli[@]}" \
    --decoder-layers 2
wrong 'decoder-langs is for --task unmt and mt: tag has no decoder' --model base --task tag \
    --train xa=s/pos.train.xa.tsv --no-decoder-langs
mt=(--model base --task mt --parallel xa-xb=tok.xa,tok.xb)
for o in "--train zz=no-such-file" "--pseudo xa-xb=no-such-file,tok.xb" "--text-memory 1M"; do
    wrong 'train, --pseudo and --text-memory are for --task unmt; mt learns from --parallel' \
        "${mt[@]}" $o
done
wrong 'pseudo-steps is for --task unmt' "${mt[@]}" --pseudo-steps 3
unmt=(--model base --train xa=xa.shd --train xb=xb.shd)
wrong 'parallel is for --task mt; unmt learns from --train and --pseudo' "${unmt[@]}" \
    --parallel xa-xb=tok.xa,tok.xb
wrong '^finetune: --pseudo needs --pseudo-steps N: without it no step learns from the pairs' \
    "${unmt[@]}" --pseudo xa-xb=tok.xa,tok.xb
fails 1 '^finetune: nli/[a-z]*: its head nli is tanh, and training goes on with it; start from a' \
    finetune -q --model nli --head linear "${nli[@]}" --out no
wrong 'pair-format and --train-parallel are for nli' --model base --task ner \
    --train-parallel xa=s/ner.dev.xa.tsv
bad 'epochs and --steps cannot both be given' "${nli[@]}" --epochs 1 --steps 3
wrong 'train LANG=FILE is needed' --model base --task tag
wrong 'nli reads plain text with the tokenizer and codes of --model' -v vocab "${nli[@]}"
wrong 'nli reads plain text with the tokenizer and codes of --model' --model base --codes codes \
    "${nli[@]}"
wrong 'stride belongs to task nli, not to --task mt' --model base --task mt --stride 3 \
    --parallel xa-xb=tok.xa,tok.xb
wrong 'label-smoothing belongs to task unmt, not to --task nli' --model base "${nli[@]}" \
    --label-smoothing 0.1
[ ! -e no ] || fail "a refused run left a folder"

# What is left out, cut or unknown is told with its file and first line, and the rest is learnt.
# told LINES PATTERN options...: so many lines on standard error, one of which matches
told() {
    local lines=$1 pattern=$2; shift 2
    rm -rf yes
    finetune -q --model base --steps 1 --out yes "$@" 2> told.text || fail "$(cat told.text)"
    is "$(wc -l < told.text)" $lines "lines of $(cat told.text)"
    grep -qE "$pattern" told.text || fail "no '$pattern' in: $(cat told.text)"
}
printf 'Tade\tPROPN\n\x01\tNOUN\n.\tPUNCT\n\n' > blank.tags
told 1 'blank.tags: words without a piece, read as <unk>: 1; the first on line 2' --task tag \
    --train xa=blank.tags
printf 'Tade\tPROPN\n.\tNONE\n\n' > new.tags
told 1 "new.tags: label 'NONE' is in no --train file: it cannot be predicted" --task tag \
    --train xa=s/pos.train.xa.tsv --valid xa=new.tags
sed '2s/.*/a\tb/' s/nli.train.xa.tsv > short.row
told 1 'short.row: rows with too few columns: 1; the first on line 2' --task nli \
    --train xa=short.row
told 1 'nli.train.xa.tsv: pairs cut to --longest rows: [0-9]+; the first on line [0-9]+' \
    "${nli[@]}" --longest 20
sed '3s/"answer_start": /&1/' s/qa.train.xa.json > moved.json
told 2 'moved.json: questions whose answer is not at its place, left out: 1; the first on line 3' \
    --task qa --stride 20 --train xa=moved.json
keeps yes '.*"no_answer": false'
head -n 370 s/nli.train.xb.tsv > fewer.xb
none='nli.train.xa.tsv: examples that --train-parallel does not have, left out: 30'
told 1 "$none; the first on line 371" \
    "${nli[@]}" --train-parallel xb=fewer.xb --code-switch on

# a context of 3,000 words is read in windows: 3,000 tokens and more, 20 from one to the next
awk 'NF == 2 { print $1; n++ } n == 3000 { exit }' FS='\t' s/pos.train.xa.tsv | paste -sd' ' > ctx
printf '{"data": [{"paragraphs": [{"context": "%s", "qas": [{"id": "1", "question": "%s", %s}' \
    "$(cat ctx)" "$(cut -d' ' -f2 ctx)" \
    "\"answers\": [{\"text\": \"$(cut -d' ' -f1 ctx)\", \"answer_start\": 0}]" > long.json
echo ']}]}]}' >> long.json
tokens=$(tokenize -q -l xa < ctx | bpe-apply -q -c codes | wc -w)
asked=$(cut -d' ' -f2 ctx | tokenize -q -l xa | bpe-apply -q -c codes | wc -w)
room=$((60 - 3 - asked))
finetune -q --task qa --model base --train xa=long.json --longest 60 --stride 20 --batch 8 \
    --epochs 1 --out windows
is "$(tail -n 1 windows/log.jsonl | sed -E 's/.*"step":([0-9]+).*/\1/')" \
    $((((tokens - room + 19) / 20 + 1 + 7) / 8)) "steps over all windows"
