# Training at the edges: sentences too long, empty or useless, damaged folders, a full disk, runs
# that ended early.
. "$TOP/test/cli/lib.sh"
awk 'BEGIN { srand(5); for (i = 0; i < 200; i++) { n = 1 + int(rand() * 6); s = "";
    for (j = 0; j < n; j++) s = s (j ? " " : "") "w" int(rand() * 12); print s } }' > s
awk 'BEGIN { for (j = 0; j < 12; j++) print "w" j, 12 - j }' > vocab
{ cat s; seq 40 | sed 's, *[0-9]*,w1 w2 w3,' | paste -sd ' '; echo; } > long
binarize -q -v vocab -l aa -o aa.shd < long; binarize -q -v vocab -l bb -o bb.shd < long
small=(--quiet -v vocab --layers 1 --dim 16 --heads 2 --ffn 16 --positions 12 --tokens 50 \
    --lr 1e-3 --warmup 5 --log-every 1 --save-every 3 --seed 3)

# sentences longer than the model's positions are passed over, whatever --longest says; accumulating
# works
finetune "${small[@]}" --task mt --parallel aa-bb=long,long --valid aa-bb=long,long --steps 6 \
    --valid-every 3 --accumulate 3 --out mt
# translation's defaults are XLM's
for o in 'beta2 = 0.98' 'eps = 1e-09' 'schedule = inverse-sqrt' 'clip = 5' 'label-smoothing = 0.1' \
    'longest = 100' 'valid-sentences = 300' 'gradient-norms = false' 'keep = 2'; do
    grep -qx -e "$o" mt/run.config || fail "$o: $(grep "^${o%% *} " mt/run.config)"
done
finetune "${small[@]}" --task unmt --train aa=aa.shd --train bb=bb.shd --valid aa-bb=long,long \
    --steps 6 --accumulate 2 --out unmt
pretrain "${small[@]}" --train aa=aa.shd --valid aa=aa.shd --steps 6 --accumulate 2 --longest 4000 \
    --out pre

# ... which is said, with their share, and they are no part of a pass: all but one of the lines are
# read in 20 batches of 10
of() { awk -v all="$(tr ' ' '\n' < long | grep -c .)" -v unit="$1" -v why="$2" \
    'BEGIN { printf "left out 1 of 201 %s, %.1f%% of the tokens: %s", unit, 12000 / all, why }'; }
pretrain "${small[@]:1}" --train aa=aa.shd --valid aa=aa.shd --epochs 1 --batch 10 --out said 2> err
has -x "pretrain: --train aa: $(of sentences 'of more than 10 tokens')" < err
has -x "pretrain: --valid aa: $(of sentences 'of more than 10 tokens')" < err
is "$(grep '"train"' said/log.jsonl | tail -n 1 | grep -o '"step":[0-9]*')" '"step":20'
pretrain "${small[@]:1}" --train aa=aa.shd --train bb=bb.shd --objective tlm \
    --parallel aa-bb=long,long --valid-parallel aa-bb=s,s --epochs 1 --batch 10 --out said2 2> err
has "^pretrain: --parallel aa-bb: $(of pairs 'empty on a side, or of more than 10 tokens')$" < err
! grep valid-parallel err || fail "validation pairs all of which fit"
# (200 pairs, and no text: tlm reads none, which is said)
is "$(grep '"train"' said2/log.jsonl | tail -n 1 | grep -o '"step":[0-9]*')" '"step":20'
has -x "pretrain: --train: --objective tlm learns from sentence pairs alone; .*" < err
# (a step has 10 of both texts' 400 sentences and 10 pairs: they are passed in 40, the pairs twice)
pretrain "${small[@]:1}" --train aa=aa.shd --train bb=bb.shd --objective mlm,tlm \
    --parallel aa-bb=long,long --epochs 1 --batch 10 --out both 2> err
is "$(grep '"train"' both/log.jsonl | tail -n 1 | grep -o '"step":[0-9]*')" '"step":40'
! grep 'pairs alone' err || fail "mlm reads text"
# one run of 12 positions for both sides and three specials holds 9 tokens
pretrain "${small[@]:1}" --train aa=aa.shd --train bb=bb.shd --objective tlm --tlm-form ppa \
    --parallel aa-bb=s,s --steps 0 --out said5 2> err
has -x "pretrain: tlm: aa-bb: left out $(awk '2 * NF > 9 { n++ } END { printf "%d of %d pairs "\
    "(%.1f%%)", n, NR, 100 * n / NR }' s), of more than 9 tokens together (--positions)" < err
# MASS leaves out short ones, too (fewer than 5 tokens), and a translator's validation text is cut
pretrain "${small[@]:1}" --train aa=aa.shd --objective mass --decoder-layers 1 --steps 0 \
    --out said6 2> err
has -x "pretrain: mass: aa: left out $(awk '{ all += NF } NF { lines++ } NF && NF < 5 {
    n++; t += NF } END { printf "%d of %d sentences, %.1f%% of the tokens: of fewer than 5 tokens",
        n, lines, 100 * t / all }' long) (--mass-min-len)" < err
finetune "${small[@]:1}" --task mt --parallel aa-bb=s,s --valid aa-bb=long,long --steps 0 \
    --out said7 2> err
has -x 'finetune: --valid aa-bb: 1 of 202 sentences (0.5%) have more than 10 tokens, the rest of '\
'which is not translated (--positions)' < err
! grep 'left out' err || fail "all pairs are learnt from"
finetune "${small[@]:1}" --task unmt --train aa=aa.shd --train bb=bb.shd --pseudo aa-bb=long,long \
    --pseudo-steps 1 --valid aa-bb=s,s --steps 0 --out said8 2> err
has "^finetune: --pseudo aa-bb: $(of pairs 'empty on a side, or of more than 10 tokens')$" < err
# joined, with <s> and </s> of their own
pretrain "${small[@]:1}" --train aa=aa.shd --train bb=bb.shd --objective tlm --stream 12 \
    --stream-sentences --segment 12 --parallel aa-bb=long,long --steps 0 --out said3 2> err
has -x "pretrain: --train aa: $(of sentences 'of more than 10 tokens')" < err
has "^pretrain: --parallel aa-bb: $(of pairs 'empty on a side, or of more than 10 tokens')$" < err
printf 'w1\tw2\nw1\tno\nno\tw2\n' > words
pretrain "${small[@]:1}" --no-encoder-langs --train aa=aa.shd --train bb=bb.shd --objective align \
    --dict aa-bb=words --dict-skip --steps 0 --out said4 2> err
has -x 'pretrain: words: left out 2 of 3 lines (66.7%), with a token that the vocabulary '\
'lacks' < err
rm -r said*

# a micro-batch with more rows than an int counts is refused by what they are, before memory is
# taken for it: pairs as TLM reads them, both sides of translation, MASS's encoder and decoder, and
# what is translated ahead
seq 4094 | sed 's/.*/w1/' | paste -sd ' ' > huge
for l in aa bb; do binarize -q -v vocab -l $l -o $l.huge.shd < huge; done
wide=("${small[@]}" --positions 4096 --longest 4094 --steps 1)
rows() {
    [ -n "${ISOGLOT_TEST_SANITIZED-}" ] || ulimit -v 4000000
    fails 1 "a micro-batch may have $1 rows; more than 2\^31 - 1 cannot be" "${@:2}" --out no
}
(rows $((500000 * (2 * 4094 + 4))) pretrain "${wide[@]}" --train aa=aa.shd --train bb=bb.shd \
    --objective tlm --parallel aa-bb=s,s --batch 500000)
(rows $((500000 * (4094 + 2 + 4094 + 1))) finetune "${wide[@]}" --task mt \
    --parallel aa-bb=huge,huge --batch 500000)
(rows $((500000 * 2 * (4094 + 2))) pretrain "${wide[@]}" --train aa=aa.huge.shd --objective mass \
    --decoder-layers 1 --batch 500000)
(rows $((1000 * 600 * (4094 + 2))) finetune "${wide[@]}" --task unmt --train aa=aa.huge.shd \
    --train bb=bb.huge.shd --batch 600 --translate-ahead 1000 --save-every 1000 --valid-every 1000)

# validation text of which nothing would be predicted, and shards of the wrong language, are refused
# before anything is written
echo w1 | binarize -q -v vocab -l aa -o tiny.shd
fails 1 'tiny.shd: no token of it would be predicted' pretrain "${small[@]}" --train aa=aa.shd \
    --valid aa=tiny.shd --mask-prob 0.01 --steps 3 --out no
# ... a single sentence may be all of it
pretrain "${small[@]}" --train aa=aa.shd --valid aa=tiny.shd --mask-prob 1 --steps 1 --out lone
# vectors as wide as the model's, not wider: each gets the mean norm of a token's row
for d in 16 17; do
    awk -v d=$d 'NR < 4 { printf "%s", $1; for (i = 1; i <= d; i++) printf " %d", i == NR
        print "" }' vocab > vectors.$d
done
pretrain "${small[@]}" --train aa=aa.shd --init-embeddings vectors.16 --steps 0 --out sixteen
"$(dirname "$BIN")/test/tool/tensor" sixteen/last/weights.safetensors embed.tokens |
    awk 'NR > 5 && NR < 9 { r = NR - 5; for (i = 1; i <= 16; i++) if (i != r && $i != 0) bad = 1
            if (!($r > 0) || (r > 1 && $r != last)) bad = 1; last = $r }
        END { exit bad || NR < 9 }' || fail "vectors of the model's width"
fails 1 'vectors.17: vectors of 17 dimensions; the model has 16' pretrain "${small[@]}" \
    --train aa=aa.shd --init-embeddings vectors.17 --steps 0 --out seventeen
# a language's code may have parts of its own
finetune "${small[@]}" --task mt --parallel zh-TW-bb=s,s --valid zh-TW-bb=s,s --steps 3 --out parts
grep -q '"languages": \["zh-TW", "bb"\]' parts/last/config.json
is "$(head -n 3 s | translate -q --model parts --src zh-TW --tgt bb | wc -l)" 3
fails 1 'ambiguous language pair' finetune "${small[@]}" --task mt \
    --parallel aa-bb-cc=s,s --steps 3 \
    --out no
[ ! -e no/last ] || fail "a run that could not start left a model"

# a run of finetune repeated from its own configuration gives the same model
finetune -q --config mt/run.config --out mt2
for f in config.json weights.safetensors optimizer.safetensors state.json words.safetensors; \
    do same mt/last/$f mt2/last/$f; done

# one usable pair, or sentence, among many is enough however often it is drawn; none is an error
# that says so
{ seq 9 | sed 's,.*,,'; echo 'w1 w2'; } > one
seq 10 | sed 's,.*,,' > none
binarize -q -v vocab -l aa -o one.shd < one
finetune "${small[@]}" --task mt --parallel aa-bb=one,one --tokens 400 --steps 3 --out one-pair
pretrain "${small[@]}" --train aa=one.shd --steps 20 --out one-sentence
fails 1 'no pair of sentences has 1 to 10 tokens' finetune "${small[@]}" --task mt \
    --parallel aa-bb=one,none --steps 3 --out no
# a step that predicts nothing is a step all the same
pretrain "${small[@]}" --train aa=one.shd --tokens 1 --mask-prob 0.05 --steps 20 --out nothing

# a damaged checkpoint is passed over, and made again: the folder ends as an unbroken run's
run=(pretrain "${small[@]}" --train aa=aa.shd --steps 9)
"${run[@]}" --out whole
"${run[@]}" --steps 6 --keep 1 --out hurt
printf X | dd of=hurt/last/weights.safetensors bs=1 seek=3000 conv=notrunc status=none
is "$(ls hurt/checkpoints)" step-00000006 "checkpoints kept"
fails 1 'checksum|weights.safetensors' "${run[@]}" --resume --out hurt
"${run[@]}" --keep 3 --stop-after 1h --steps 6 --out hurt2 & wait $!
rm -rf hurt3; mkdir hurt3; mkdir hurt3/checkpoints; cp -r hurt2/checkpoints/. hurt3/checkpoints/
"${run[@]}" --out early --steps 3; cp -r early/checkpoints/step-00000003 hurt3/checkpoints/
printf X | dd of=hurt3/checkpoints/step-00000006/weights.safetensors bs=1 seek=3000 conv=notrunc \
    status=none
"${run[@]}" --resume --keep 9 --stop-after 1h --out hurt3 2> warned
grep -q 'going back to the checkpoint before it' warned ||
    fail "nothing is said of the damaged checkpoint"
same whole/last/weights.safetensors hurt3/last/weights.safetensors
# whichever of its files is damaged, and wherever
for file in weights optimizer; do for at in 40 2000 -3; do
    rm -rf hurt4; mkdir -p hurt4/checkpoints
    cp -r hurt2/checkpoints/. early/checkpoints/step-00000003 hurt4/checkpoints/
    f=hurt4/checkpoints/step-00000006/$file.safetensors
    [ $at -gt 0 ] || at=$(($(stat -c %s $f) + at))
    printf "\\$(printf %o $((255 - $(od -An -tu1 -j $at -N 1 $f))))" |
        dd of=$f bs=1 seek=$at conv=notrunc status=none
    "${run[@]}" --resume --keep 9 --out hurt4 2> warned
    grep -q 'going back to the checkpoint before it' warned ||
        fail "nothing is said of the damage to $file at byte $at"
    same whole/last/weights.safetensors hurt4/last/weights.safetensors
    same whole/last/optimizer.safetensors hurt4/last/optimizer.safetensors
done; done
# a state that no run writes
cp -r early negative; sed -i 's/"aa.next": "[0-9]*"/"aa.next": "-5"/' \
    negative/checkpoints/step-00000003/state.json
rm negative/checkpoints/step-00000003/state.sum
fails 1 'state.json: "aa.next" is not a whole number' "${run[@]}" --resume --out negative

# what patience ended stays ended
finetune "${small[@]}" --task mt --parallel aa-bb=s,s --valid aa-bb=s,s --steps 500 --lr 0 \
    --valid-every 1 --patience 3 --out patient
find patient/checkpoints -name '*.safetensors' | sort | xargs sha256sum > a
finetune "${small[@]}" --task mt --parallel aa-bb=s,s --valid aa-bb=s,s --steps 500 --lr 0 \
    --valid-every 1 --patience 3 --out patient --resume
find patient/checkpoints -name '*.safetensors' | sort | xargs sha256sum > b
same a b

# a full disk: the run ends with a message and the checkpoint before is whole
(trap '' XFSZ; ulimit -f 16; fails 1 'too large|No space' "${run[@]}" --dim 64 --out full)
[ -z "$(ls full/checkpoints 2>/dev/null)" ] || fail "half a checkpoint was left"

# told to stop during a validation: saved and, resumed, the same
"${run[@]}" --valid aa=aa.shd --valid-every 1 --steps 200 --save-every 500 --out quiet
"${run[@]}" --valid aa=aa.shd --valid-every 1 --steps 200 --save-every 500 --out stopped & pid=$!
while ! grep -q '"valid"' stopped/log.jsonl 2>/dev/null &&
    kill -0 $pid 2>/dev/null; do sleep 0.01; done
kill -TERM $pid 2>/dev/null || true
status=0; wait $pid || status=$?
case $status in 0 | 75) ;; *) fail "status $status" ;; esac
"${run[@]}" --valid aa=aa.shd --valid-every 1 --steps 200 --save-every 500 --out stopped --resume
for d in best last; do
    (cd quiet/$d && find . -type f | sort | xargs sha256sum) > a; (cd stopped/$d && find . -type f |
        sort | xargs sha256sum) > b
    same a b
done

# a model to start from whose tensors are smaller than its configuration says
cp -rL whole/last short; sed -i 's/"positions": 12/"positions": 13/' short/config.json
rm short/model.sum
fails 1 'embed.positions' translate -q --model short --src aa --tgt aa < s
head -n 9 vocab > fewer; cp -rL whole/last cut
binarize -q -v fewer -l aa --max-unknown 1 -o fewer.shd < s
pretrain "${small[@]}" -v fewer --train aa=fewer.shd --max-unknown 1 --steps 1 --out few2
cp few2/last/weights.safetensors cut/weights.safetensors; rm cut/model.sum
fails 1 'has a different number of rows' pretrain "${small[@]}" --train aa=aa.shd --init cut \
    --steps 1 --out no2

# wrong usage
fails 2 'round-trip' finetune "${small[@]}" --task mt --parallel aa-bb=s,s --select round-trip \
    --out no
fails 1 'twice' finetune "${small[@]}" --task unmt --train aa=aa.shd --train aa=aa.shd --steps 1 \
    --out no3
# what would do nothing: judging without a text to validate on, lengths that are not looked at
mt=(finetune "${small[@]}" --task mt --parallel aa-bb=s,s --steps 1 --out no)
fails 2 'patience and --select best need --valid' "${mt[@]}" --patience 2
fails 2 'patience and --select best need --valid' "${mt[@]}" --select best
fails 2 'patience and --select round-trip need --valid' finetune "${small[@]}" --task unmt \
    --train aa=aa.shd --train bb=bb.shd --select round-trip --steps 1 --out no
one=(pretrain "${small[@]}" --train aa=aa.shd --steps 1 --out no)
fails 2 'patience needs --valid' "${one[@]}" --patience 2
fails 2 'dict-skip needs --dict SRC-TGT=FILE' "${one[@]}" --dict-skip
fails 2 'ngram-max is used only by --mask-scheme ngram' "${one[@]}" --mask-scheme span \
    --ngram-max 2
fails 2 'span-max is used only by --mask-scheme span' "${one[@]}" --mask-scheme ngram --span-max 2
fails 2 '--parallel belongs to objectives that learn from sentence pairs' "${one[@]}" \
    --parallel aa-bb=s,s
fails 2 '--valid-parallel belongs to objectives that learn' "${one[@]}" --valid-parallel aa-bb=s,s
fails 2 'longest does not go with --stream' "${one[@]}" --stream 8 --longest 9
fails 2 'longest does not go with --documents' "${one[@]}" --documents 8 --longest 9
fails 2 'text-memory does not go with --documents' "${one[@]}" --documents 8 --text-memory 16K
# the log tells measures apart by languages: of two texts of one, the second wrote over the first
fails 1 'valid: language aa is given twice' "${one[@]}" --valid aa=aa.shd --valid aa=aa.shd
fails 1 'validation pairs aa-bb are given twice' "${mt[@]}" --valid aa-bb=s,s --valid aa-bb=s,s
fails 1 'validation pairs aa-bb are given twice' "${one[@]}" --parallel aa-bb=s,s \
    --objective tlm --valid-parallel aa-bb=s,s --valid-parallel aa-bb=s,s
# nothing is validated on that would say nothing: no sentence of 5 tokens among the first two, of
# which MASS's perplexity was 1; pairs without a token to predict, whose perplexity was none
printf '%s\n' 'w1 w2' 'w3 w4 w5 w6' 'w1 w2 w3 w4 w5 w6' | tee three |
    binarize -q -v vocab -l aa -o three.shd
fails 1 'three.shd: no sentence of those that --valid-sentences takes has 5 to 10 tokens' \
    "${one[@]}" --objective mass --valid aa=three.shd --valid-sentences 2
pretrain "${small[@]}" --train aa=aa.shd --steps 1 --objective mass --valid aa=three.shd \
    --valid-sentences 3 --out third
seq 20 | sed 's/.*/w3/' | paste -sd ' ' > twenty; printf '\n\n' > empty
for f in twenty empty; do
    fails 1 'aa-bb: no token of its validation pairs would be predicted .0.15 of the' \
        "${one[@]}" --objective tlm --parallel aa-bb=s,s --valid-parallel aa-bb=$f,$f
done
# pairs that are too long together, though neither side is
tail -n 1 three > third.txt
fails 1 'aa-bb: no token of its validation pairs would' "${one[@]}" --objective tlm --tlm-form ppa \
    --parallel aa-bb=s,s --valid-parallel aa-bb=third.txt,third.txt --mask-prob 1
pretrain "${small[@]}" --train aa=aa.shd --steps 1 --objective tlm --mask-prob 1 --out xlm \
    --parallel aa-bb=s,s --valid-parallel aa-bb=third.txt,third.txt
# text beside pairs that alone are learnt from: there was no validation, and --patience had no end
fails 2 '--valid belongs to objectives that are validated on text .*; none is in --objective tlm' \
    "${one[@]}" --objective tlm --parallel aa-bb=s,s --valid aa=aa.shd --patience 1
# a warm-up of whole steps, or of a share of all, rounded up: half of 3 are 2, and all of 2 are 2
fails 1 'warmup 2.5: expected a number of steps, or a share' "${one[@]}" --warmup 2.5
fails 1 'warmup 101%: expected' "${one[@]}" --warmup 101%
for w in '50% 3' '100% 2'; do
    pretrain "${small[@]}" --train aa=aa.shd --steps ${w#* } --warmup ${w% *} --schedule constant \
        --out warm${w#* }
    is "$(grep -o '"lr":[^,]*' warm${w#* }/log.jsonl | sed -n '1,2p' | paste -sd ' ')" \
        '"lr":0.0005 "lr":0.001'
done
# DICT-MLM is validated as MLM is: beside MLM once, or a line of the log would have names twice
printf 'w1\tw2\n' > words.tsv
pretrain "${small[@]}" --train aa=aa.shd --train bb=bb.shd --objective mlm,dict \
    --dict aa-bb=words.tsv --valid aa=aa.shd --steps 1 --out mlm-dict
is "$(grep '"valid"' mlm-dict/log.jsonl | grep -o '"[^"]*":' | sort | uniq -d)" ""
is "$(score --log mlm-dict/log.jsonl | sed -n 's/^step\t//p')" 1
pretrain "${small[@]}" --train aa=aa.shd --dropout 0.99 --steps 1 --out dropped

# averages: of one it is itself, three times over too (a third of a float32 is not exact)
ckpt average -q -o mean whole hurt3; same mean/weights.safetensors whole/last/weights.safetensors
ckpt average -q -o thrice whole whole whole
same thrice/weights.safetensors whole/last/weights.safetensors
