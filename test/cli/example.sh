# test/tool/example.c trains as `pretrain` does: the same losses, step by step.
. "$TOP/test/cli/lib.sh"
synth-corpus -q --out synth --sentences 300 --seed 2
vocab-count -q synth/mono.xa > vocab
binarize -q -v vocab -l xa -o xa.shd < synth/mono.xa
"$(dirname "$BIN")/test/tool/example" vocab xa=xa.shd 12 > losses
pretrain -q -v vocab --train xa=xa.shd --layers 2 --dim 64 --heads 4 --ffn 256 --steps 12 \
    --lr 1e-3 --warmup 0 --schedule constant --dropout 0 --attention-dropout 0 --device cpu \
        --log-every 1 --out run
sed -nE 's/.*"step":([0-9]+),.*"mlm":([0-9.]+),.*/\1 \2/p' run/log.jsonl |
    awk '{ printf "step %d  loss %.3f\n", $1, $2 }' > expected
is "$(wc -l < expected)" 12 "steps"
same expected losses
awk 'NR == 1 { first = $4 } END { exit !($4 < first - 0.3) }' losses ||
    fail "nothing was learnt: $(tail -n 1 losses)"
