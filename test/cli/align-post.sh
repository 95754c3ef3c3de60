# align-post: what a run keeps and leaves behind, that a broken run goes on, what it begins from,
# bad input. That its numbers are right is test/cli/replay.sh's (runs moco, moco-mean), what the
# queue lets count test/unit/moco.c's.
. "$TOP/test/cli/lib.sh"
tensor=$(dirname "$BIN")/test/tool/tensor

# Pairs of a language and its disguise: 8 tokens drawn from 60, under other names.
awk 'BEGIN { srand(7); for (i = 0; i < 900; i++) { a = b = ""
    for (j = 0; j < 5 + int(rand() * 6); j++) {
        t = int(rand() * 60); s = j ? " " : ""; a = a s "a" t; b = b s "b" t }
    f = i < 600 ? "train" : "valid"; print a > f ".a"; print b > f ".b" } }'
cat train.a train.b | tr ' ' '\n' | sort | uniq -c | awk '{ print $2, $1 }' > vocab
for l in a b; do binarize -q -v vocab -l x$l -o $l.shd < train.$l; done
pretrain -q -v vocab --train xa=a.shd --train xb=b.shd --layers 2 --dim 32 --heads 2 --ffn 64 \
    --positions 30 --tokens 500 --steps 20 --warmup 5 --lr 1e-3 --seed 4 --out base
small=(align-post -q --model base --parallel xa-xb=train.a,train.b --min-tokens 5 --batch 16
    --projection 8 --lr 1e-3 --schedule constant --warmup 2 --log-every 1 --save-every 2 --seed 3
    --queue 64)

# --- broken off behind any step and resumed, with one thread or two: the same bytes ---
hashes() { cat $1/last/{weights,optimizer,state}.safetensors $1/last/state.json | sha256sum; }
for o in "moco,tlm" "moco --queue-start empty --accumulate 2" \
    "moco,mlm --pool mean --no-moco-unit"; do
    rm -rf whole
    "${small[@]}" --objective $o --steps 6 --threads 2 --out whole
    for stop in 1 2 3 4 5; do
        rm -rf broken
        "${small[@]}" --objective $o --steps $stop --threads 1 --out broken
        "${small[@]}" --objective $o --steps 6 --threads 1 --out broken --resume
        is "$(hashes broken)" "$(hashes whole)" "$o, broken off behind step $stop"
    done
done
# a bit of a key that has flipped is a number like any other, but for its checksum
cp -rL whole/last flipped; ckpt check flipped
size=$(stat -c %s flipped/state.safetensors)
printf '\001' | dd of=flipped/state.safetensors bs=1 seek=$((size - 3)) conv=notrunc status=none
fails 1 'flipped/state.safetensors: .*checksum' ckpt check flipped
# ... and a checkpoint whose queue is another one's is refused
"${small[@]}" --save-every 0 --steps 1 --out other
fails 1 'the run began with --queue 64, not 32' "${small[@]}" --queue 32 --steps 2 --resume \
    --out other
rm other/run.config
fails 1 'queue.keys is not \[32, 8\]' "${small[@]}" --queue 32 --steps 2 --resume --out other

# --- the preset's ten epochs are for whoever says nothing of steps: 10 x 19 pairs by 4 ---
sed 19q train.a > few.a; sed 19q train.b > few.b
few=("${small[@]/train.a,train.b/few.a,few.b}" --batch 4 --queue 4 --save-every 0)
steps() { sed -n 's/.*"event":"train","step":\([0-9]*\),.*/\1/p' "$1/log.jsonl" | tail -n 1; }
"${few[@]}" --steps 26 --out more; is "$(steps more)" 26
align-post -q --config more/run.config --resume; is "$(steps more)" 26 "as its run.config says"
"${few[@]}" --out epochs; is "$(steps epochs)" 48
fails 2 'mask-token' "${few[@]}" --mask-token 0.9 --mask-random 0.2 --out no

# --- help says what the weights weigh here, and not what they do in pretrain ---
is "$(align-post --help | tr -s ' \n' ' ' | grep -o 'Objective mlm: [^:]*:')" \
    "Objective mlm: predict masked tokens of each side of sentence pairs by itself:"
is "$(pretrain --help | grep 'Objective mlm:')" "Objective mlm: predict masked tokens of text:"

# --- the key encoder: with m = 1 it stays where it began, with m = 0 it is the encoder ---
"${small[@]}" --steps 3 --momentum 1 --out still
"${small[@]}" --steps 3 --momentum 0 --out follows
for name in embed.tokens encoder.1.attn.qkv.weight encoder.0.ffn_norm.bias; do
    for run in still:base follows:follows; do
        "$tensor" ${run%:*}/last/state.safetensors key.$name | tr '\t' '\n' > key
        "$tensor" ${run#*:}/last/weights.safetensors $name | tr '\t' '\n' > value
        same key value
    done
done

# --- what is left: a model of the same tensors, without the head, which other programs read ---
ckpt info base > was
ckpt info whole > is
sed -n '/embed\|encoder\|output/p' was > a; sed -n '/embed\|encoder\|output/p' is > b; same a b
! grep -q moco is || fail "the head is in the model"
! grep -q moco whole/last/config.json || fail "the head is in config.json"
ckpt check -q whole/last
embed -q --model whole --layer -1 --text valid.a --lang xa --of sentences --pool first > v
is "$(awk '{ n += NF - 1 } END { print NR, n }' v)" "300 9600" "sentence vectors"
finetune -q --model whole --task mt --parallel xa-xb=train.a,train.b --steps 1 --out tuned

# --- starts from models of transformers, which the result can be exported to again ---
for kind in bert xlmr; do
    ckpt import -q -o $kind "$TOP/test/golden/interchange/$kind"
    cut -d ' ' -f 1 $kind/vocab | sed -n '3,14p' > words
    awk '{ w[NR - 1] = $1 } END { for (i = 0; i < 40; i++) for (j = 0; j < 4; j++)
        printf "%s%s", w[(i * 7 + j * j * 3 + i * j) % NR], j < 3 ? " " : "\n" }' words > text
    align-post -q --model $kind --parallel en-de=text,text --min-tokens 4 --batch 4 \
        --queue 8 --steps 2 --projection 6 --out $kind.aligned
    ckpt export -q -o $kind.hf $kind.aligned
    ckpt import -q -o $kind.back $kind.hf
    same $kind.back/weights.safetensors $kind.aligned/last/weights.safetensors
    embed -q --model $kind.aligned --layer -1 --text text --lang de --of sentences --pool first > v
done

# --- the log: retrieval both ways, by h and by z, where pairs to validate on are given ---
"${small[@]}" --steps 2 --valid xa-xb=valid.a,valid.b --valid-every 2 --out valid
for f in xa-xb.retrieval xb-xa.retrieval xa-xb.retrieval_z xb-xa.retrieval_z xa-xb.perplexity; do
    grep -q "\"$f\":" valid/log.jsonl || fail "no $f in the log"
done
[ ! -e valid/best ] || fail "a validation picked a model without --select best"
"${small[@]}" --steps 2 --valid xa-xb=valid.a,valid.b --valid-every 1 --select best --out best
[ -e best/best ] || fail "--select best picked none"
# strangers find each other by chance: a note says that lines may not belong together
tac valid.b > reversed.b
align-post --model base --parallel xa-xb=train.a,train.b --valid xa-xb=valid.a,reversed.b \
    --min-tokens 5 --batch 16 --queue 64 --projection 8 --steps 1 --out chance 2> notes
grep -q 'no better than by chance' notes || fail "no note on strangers: $(cat notes)"

# --- fewer pairs than were asked for are told: of 19 all have 5 tokens or more ---
for n in 19 20; do
    align-post --model base --parallel xa-xb=few.a,few.b --min-tokens 5 --objective tlm --batch 4 \
        --pairs $n --steps 0 --out few.$n 2> said
    grep 'are taken' said
done > notes
is "$(cut -d '(' -f 1 notes)" "align-post: xa-xb: 19 of 19 pairs are taken 
align-post: xa-xb: 19 of 19 pairs are taken, fewer than --pairs 20 "

# --- bad input ---
head -n 599 train.b > short.b
fails 1 'has 600 sentences and short.b has 599' \
    "${small[@]}" --parallel xa-xb=train.a,short.b --out no
fails 1 '--queue 160 is more than a quarter of the 600 pairs.*use --queue 144' \
    "${small[@]}" --queue 160 --out no
fails 1 '--queue 72 is not a multiple of the 16 pairs per step; use --queue 64' \
    "${small[@]}" --queue 72 --out no
fails 1 '--queue 8 is not a multiple of the 16 pairs per step; use --queue 16' \
    "${small[@]}" --queue 8 --out no
fails 1 'none of its 600 pairs has 50 tokens or more on either side' \
    "${small[@]}" --min-tokens 50 --out no
fails 1 '20 pairs are left, fewer than a batch of 32' "${small[@]}" --pairs 20 --batch 32 --out no
fails 1 '20 pairs are too few for a queue' "${small[@]}" --pairs 20 --out no
fails 1 'language xc: the model has no embedding for it' \
    "${small[@]}" --parallel xa-xc=train.a,train.b --out no
fails 1 'xa-xa=train.a,train.b: a language with itself; align two' \
    "${small[@]}" --parallel xa-xa=train.a,train.b --out no
fails 1 'xb-xb=train.a,train.b: a language with itself' \
    "${small[@]}" --valid xb-xb=train.a,train.b --out no
fails 2 '--model, --parallel and --out are needed' align-post -q --model base --out no
fails 2 '--patience .*needs --select best' "${small[@]}" --patience 3 --out no
fails 2 '--select best needs --valid' "${small[@]}" --select best --out no
# what would not be validated on, or be measured twice under one name: both ways of a pair are
printf '\n\n' > empty; seq 29 | sed 's/.*/a1/' | paste -sd ' ' > 29
for f in empty 29; do
    fails 1 'xa-xb: none of its validation pairs can be read: .* more than 28 tokens' \
        "${small[@]}" --valid xa-xb=$f,$f --out no
done
fails 1 'validation pairs xa-xb and xb-xa: objective moco measures both ways' "${small[@]}" \
    --valid xa-xb=valid.a,valid.b --valid xb-xa=valid.b,valid.a --out no
fails 2 '--valid belongs to objectives that are validated on sentence pairs .moco, tlm.; none' \
    align-post -q --model base --parallel xa-xb=train.a,train.b --objective mlm --select best \
    --valid xa-xb=valid.a,valid.b --steps 1 --out no
fails 2 'queue belongs to objective moco, which is not in --objective tlm' \
    "${small[@]}" --objective tlm --out no
fails 2 'unknown objective .gc.; choose from mlm, tlm, moco' "${small[@]}" --objective gc --out no
fails 1 'no weights.safetensors, best or last' "${small[@]}" --model . --out no
[ ! -e no ] || fail "a run that could not start left a folder"
