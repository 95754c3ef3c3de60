# finetune's heads: rates of their own, what picks the model, other development sets; runs of each
# kind of head that are killed, and on one and two threads, give the same bytes.
. "$TOP/test/cli/lib.sh"
. "$TOP/test/cli/data/invented.sh"
tensor=$(dirname "$BIN")/test/tool/tensor
MERGES=400 invent --sentences 200 --lexicon 100 --topics 10 --tasks 160 --dev 10 --test 10
pretrain -q -v vocab --codes codes --tokenizer tokenizer --train xa=xa.shd --train xb=xb.shd \
    --layers 1 --dim 32 --heads 2 --positions 128 --steps 2 --tokens 200 --out base
# from TASK FILE ENDING: what is common to a task's runs
from() {
    run=(finetune -q --task $1 --model base --train xa=s/$2.train.xa.$3 --seed 2
        --valid xa=s/$2.dev.xa.$3)
}

# The head's rate is its own. Adam's first step moves each weight by the rate, where its gradient
# is not next to nothing: a rate of 0.25 and one of 2^-10 after one step, told by the largest step
# of each tensor; and at the same rate nothing changes.
from nli nli tsv
once=(--steps 1 --warmup 0 --schedule constant --dropout 0 --attention-dropout 0)
"${run[@]}" "${once[@]}" --lr 0 --head-lr 0 --out still
"${run[@]}" "${once[@]}" --lr 0.0009765625 --head-lr 0.25 --out apart
# moved RUN NAME RATE: the largest step of a tensor
moved() {
    paste <($tensor still/last/weights.safetensors $2 | tr '\t' '\n') \
        <($tensor $1/last/weights.safetensors $2 | tr '\t' '\n') |
        awk -v r=$3 '{ d = ($1 - $2) ^ 2; if (d > most) most = d; n++ }
            END { x = sqrt(most); exit !(n > 2 && x > 0.99 * r && x < 1.01 * r) }' \
        || fail "$1: $2 did not move by $3"
}
moved apart head.nli.out.weight 0.25; moved apart encoder.0.ffn.in.weight 0.0009765625
moved apart embed.tokens 0.0009765625
few=(--steps 3 --lr 3e-3)
"${run[@]}" "${few[@]}" --out one-rate; "${run[@]}" "${few[@]}" --head-lr 3e-3 --out same-rate
same one-rate/last/weights.safetensors same-rate/last/weights.safetensors
fails 2 'head-lr is for tasks with a head' finetune -q --task mt --model base --head-lr 1 \
    --parallel xa-xb=bpe.xa,bpe.xb --out no

# nothing is picked with --select last: predict takes the last; else the best
[ -e one-rate/best ] || fail "nothing was picked"
"${run[@]}" --steps 6 --lr 3e-3 --valid-every 2 --select last --out unpicked
[ ! -e unpicked/best ] || fail "--select last picked a model"
is "$(grep -c '"valid"' unpicked/log.jsonl)" 3 "validations without a choice"
same <(predict -q --model unpicked -l xa < s/nli.dev.xa.tsv) \
    <(predict -q --model unpicked/last -l xa < s/nli.dev.xa.tsv)
fails 2 'patience stops at the best validation' "${run[@]}" --select last --patience 2 --out no
fails 2 'select round-trip is for --task unmt' "${run[@]}" --select round-trip --out no

# G-XLT: contexts of xb, questions of xa are a development set of their own, and the log's numbers
# those of predict's answers
from qa qa json
windows=(--longest 90 --stride 30 --question 50)
# the question of the same id takes the other's place
sed -nE 's/.*"id": "([^"]*)", "question": "([^"]*)".*/\1\t\2/p' s/qa.dev.xa.json > asked
awk -F '\t' 'NR == FNR { q[$1] = $2; next }
    match($0, /"id": "[^"]*"/) {
        id = substr($0, RSTART + 7, RLENGTH - 8)
        sub(/"question": "[^"]*"/, "\"question\": \"" q[id] "\"") }
    { print }' asked s/qa.dev.xb.json > mixed.json
is "$(grep -c question mixed.json)" 20
"${run[@]}" "${windows[@]}" --valid xb-xa=mixed.json --steps 3 --lr 3e-3 --out crossed
predict -q --model crossed/last -l xb --question-lang xa < mixed.json > answers
got=$(score -m squad --resamples 0 mixed.json < answers | awk '$2 == "f1" { print $3 }')
log=$(grep '"valid"' crossed/log.jsonl | tail -n 1 | sed -E 's/.*"xb-xa.f1":([0-9.e-]+).*/\1/')
awk -v a="$got" -v b="$log" 'BEGIN { exit !(a != "" && (a - b) ^ 2 < 1e-8) }' \
    || fail "F1 of the answers is $got, of the log $log"
predict -q --model crossed/last -l xb < mixed.json | cmp -s - answers \
    && fail "the question's language makes no difference"
fails 1 'language xb-xc is not one of the model' "${run[@]}" "${windows[@]}" \
    --valid xb-xc=mixed.json --out no
fails 1 'language xa-xb is not one of the model' finetune -q --task qa --model base \
    "${windows[@]}" --train xa-xb=s/qa.train.xa.json --out no

# Each side is cut as its own language is: English has "it's" as "it" and "'s", French as "it'" and
# "s", and of these the model has no piece.
mkdir cut; (cd cut
    cp ../tokenizer .
    printf '%s\n' "it's where ?" "the word is here ." | tokenize -q -l en > text
    bpe-learn -q -n 100 text text text > codes
    bpe-apply -q -c codes < text > bpe
    vocab-count -q bpe > vocab
    for l in en fr; do binarize -q -v vocab -l $l -o $l.shd < bpe; done
    pretrain -q -v vocab --codes codes --tokenizer tokenizer --train en=en.shd --train fr=fr.shd \
        --layers 1 --dim 16 --heads 2 --positions 32 --steps 0 --out base
    asks() {
        printf '{"data": [{"paragraphs": [{"context": "the word is here .", "qas": [{"id": "1", '
        printf '"question": "%s", "answers": [{"text": "here", "answer_start": 12}]}]}]}]}\n' "$1"
    }
    asks "where ?" > train.json; asks "it's where ?" > dev.json
    ask=(finetune -q --task qa --model base --train fr=train.json --longest 20 --stride 5
        --question 12 --steps 1 --max-unknown 0)
    "${ask[@]}" --valid fr-en=dev.json --out asked-in-en
    fails 1 'dev.json: .* unknown' "${ask[@]}" --valid en-fr=dev.json --out asked-in-fr
    fails 1 'dev.json: .* unknown' "${ask[@]}" --valid fr=dev.json --out asked-in-fr)

# A run of tags and of answers gives the same bytes on one and two threads, and killed anywhere.
sums() { (cd $1 && find best/ last/ -type f | sort | xargs sha256sum); }
for x in "tag pos tsv" "qa qa json ${windows[*]}" "nli nli tsv --head tanh --head-lr 1e-2"; do
    set -- $x
    from $1 $2 $3; shift 3
    run+=("$@" --lr 3e-3 --epochs 2 --batch 16 --valid-every 7 --save-every 5)
    rm -rf one two broken
    "${run[@]}" --threads 1 --out one; sums one > one.sums
    [ $(wc -l < one.sums) -ge 16 ] || fail "not all files: $(cat one.sums)"
    "${run[@]}" --threads 2 --out two; sums two > two.sums; same one.sums two.sums
    i=0 killed=0
    while :; do
        i=$((i + 1)); [ $i -lt 60 ] || fail "the broken run does not come to an end"
        "${run[@]}" --threads 1 --out broken --resume & pid=$!
        sleep "$(awk -v i=$i -v r=$RANDOM 'BEGIN { print 0.01 * i + 0.002 * i * i + r / 3276800 }')"
        kill -9 $pid 2> /dev/null || true
        status=0; wait $pid || status=$?
        case $status in 0) break ;; 137) killed=$((killed + 1)) ;; *) fail "status $status" ;; esac
    done
    [ $killed -gt 0 ] || fail "the run was over before it could be broken"
    sums broken > broken.sums; same one.sums broken.sums
done
