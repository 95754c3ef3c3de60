# The defaults that are a paper's or a well-known program's are still theirs, as --help has them.
. "$TOP/test/cli/lib.sh"
grep -v '^#' "$TOP/test/golden/defaults.tsv" > want
for p in $(cut -f 1 want | sort -u); do
    "$p" --help=rows | awk -F '\t' -v OFS='\t' -v p="$p" '
        match($6, /\(default: [^()]*\)/) {
            sub(/\|.*/, "", $2); print p, $2, substr($6, RSTART + 10, RLENGTH - 11) }'
done > have
# "0.1, or that of the model it starts from"
awk -F '\t' 'NR == FNR { have[$1, $2] = $3; next }
    { v = have[$1, $2]; if (v != $3 && index(v, $3 ", or ") != 1) {
        print $1 " --" $2 ": " v ", not " $3 " as " $4; bad = 1 } }
    END { exit bad }' have want || fail "defaults"

# The tasks' own are those of XTREME's scripts (Hu et al. 2020: train_xnli.sh, train_udpos.sh,
# train_qa.sh), whose AdamW is BERT's.
printf '%s 9\n' a b c > v; echo 'a b c' > t
for l in en de; do binarize -q -v v -l $l -o $l.shd t; done
tokenize -l en --settings > tokenizer; printf 'a b</w> 1\n' > codes
pretrain -q -v v --codes codes --tokenizer tokenizer --train en=en.shd --train de=de.shd \
    --layers 1 --dim 4 --heads 1 --ffn 4 --positions 512 --tokens 20 --steps 0 --out base
printf 'a b\tc\tentailment\nb\tc\tneutral\nb b\tc\tcontradiction\n' > nli
printf 'a\tX\nb\tY\n\nc\tX\n\n' > tag
printf '{"data": [{"title": "t", "paragraphs": [{"context": "a b c",
    "qas": [{"id": "1", "question": "b",
        "answers": [{"text": "b", "answer_start": 2}]}]}]}]}\n' > qa
while read -r task lr longest epochs; do
    finetune -q --task $task --model base --train en=$task --valid en=$task --out $task.run
    printf '%s\n' "batch = 32" "beta2 = 0.999" "clip = 1" "epochs = $epochs" "eps = 1e-08" \
        "longest = $longest" "lr = $lr" "schedule = linear" "valid-sentences = 0" \
        "warmup = 10%" > want
    grep -E '^(batch|beta2|clip|epochs|eps|longest|lr|schedule|valid-sentences|warmup) = ' \
        $task.run/run.config | sort > got
    same got want
done <<'END'
nli 2e-05 128 5
tag 2e-05 128 10
qa 3e-05 384 3
END
