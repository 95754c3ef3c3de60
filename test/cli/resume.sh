# --resume goes on with the options that the run began with: one that makes its numbers and has
# another value is refused by name, before anything in the folder changes; how far and how fast it
# goes on, what is written and what computes it may change, and files may have been moved.
. "$TOP/test/cli/lib.sh"
awk 'BEGIN { srand(7); for (i = 0; i < 60; i++) { s = "w" int(rand() * 30)
    for (j = int(rand() * 8); j > 0; j--) s = s " w" int(rand() * 30); print s } }' > s
awk 'BEGIN { for (j = 0; j < 30; j++) print "w" j, 30 - j }' > vocab
for l in aa bb cc; do binarize -q -v vocab -l $l -o $l.shd < s; done
small=(-q --tokens 60 --log-every 1 --save-every 1 --warmup 2 --lr 1e-3 --seed 3)
shape=(--layers 1 --dim 16 --heads 2 --ffn 16 --positions 16)
pre=(pretrain "${small[@]}" "${shape[@]}" -v vocab --train aa=aa.shd --train bb=bb.shd --out run
    --mlm-weight 1:1,3:0.5)
"${pre[@]}" --steps 2
cp -r run was

# of: OPTIONS|WHAT IS SAID
began="run/run.config: the run began with"
while IFS='|' read -r options said; do
    fails 1 "$said" "${pre[@]}" --steps 4 $options --resume
done <<END
--seed 4|$began --seed 3, not 4; continue with that, or begin another run
--alpha 1|$began --alpha 0.7, not 1;
--tokens 61|$began --tokens 60, not 61;
--batch 8|$began --batch 0, not 8;
--accumulate 2|$began --accumulate 1, not 2;
--mask-prob 0.2|$began --mask-prob 0.15, not 0.2;
--mlm-weight 1:1,3:0.25|$began --mlm-weight 1:1,3:0.5, not 1:1,3:0.25;
--weight-decay 0.1|$began --weight-decay 0, not 0.1;
--beta2 0.9|$began --beta2 0.999, not 0.9;
--optimizer lamb|$began --optimizer adam, not lamb;
--dropout 0|$began --dropout 0.1, not 0;
--layers 2|$began --layers 1, not 2;
--wire bf16|$began --wire float32, not bf16;
--mix mlm:1|run.config: the run began without --mix mlm:1; continue without it, or begin another run
--train cc=cc.shd|run.config: the run began without --train cc=cc.shd; continue without it
END
fails 1 "$began --train bb=bb.shd; continue with it, or begin another run" pretrain "${small[@]}" \
    "${shape[@]}" -v vocab --train aa=aa.shd --mlm-weight 1:1,3:0.5 --steps 4 --out run --resume
diff -r -x .lock was run || fail "a run that was refused changed its folder"
mkdir moved; mv aa.shd bb.shd moved; cp vocab moved
moved=("${pre[@]}"); moved=("${moved[@]/=aa.shd/=moved/aa.shd}")
moved=("${moved[@]/=bb.shd/=moved/bb.shd}")
"${moved[@]}" -v moved/vocab --steps 4 --lr 1e-4 --warmup 1 --schedule constant --clip 1 --keep 9 \
    --save-every 2 --log-every 2 --threads 2 --recompute --gradient-norms --resume
is "$(readlink run/last)" checkpoints/step-00000004 "what may change"
# a folder of which only checkpoints were copied has no record
rm run/run.config; "${moved[@]}" --seed 9 --steps 5 --resume
is "$(readlink run/last)" checkpoints/step-00000005 "a run without run.config"

# pretrain(1) lists what may change, and all of it is an option of one of the three programs
free=$(sed -n '/free_names\[\] = {/,/};/p' "$TOP/lib/trainer/run_folder.c" | grep -o '"[a-z-]*"' |
    tr -d '"' | grep -vx 'resume\|out\|vocab' | sort)
is "$(sed -n '/^These may change/,/^Files may/p' "$TOP/docs/man/pretrain.1.in" |
    grep -o ' -[a-z-]*' | cut -c 3- | grep -vx threads | sort)" "$free"
for p in pretrain finetune align-post; do $p --help; done > help
for o in $free; do grep -q -- "--$o " help || fail "no program has --$o"; done

# the other two programs; an option that a later version adds is no change while nobody gives it
mt=(finetune "${small[@]}" --task mt --model run --parallel aa-bb=s,s --out mt)
"${mt[@]}" --steps 1
fails 1 'mt/run.config: the run began with --label-smoothing 0.1, not 0;' "${mt[@]}" --steps 2 \
    --label-smoothing 0 --resume
fails 1 'mt/run.config: the run began with --select [a-z]*, not last;' "${mt[@]}" --steps 2 \
    --select last --resume
sed -i '/^label-smoothing /d' mt/run.config
"${mt[@]}" --steps 2 --resume
fails 1 'the run began without --label-smoothing 0.2;' "${mt[@]}" --label-smoothing 0.2 --resume
post=(align-post -q --model run --parallel aa-bb=s,s --min-tokens 1 --batch 4 --queue 12
    --projection 8 --out post)
"${post[@]}" --steps 1
fails 1 'post/run.config: the run began with --temperature 0.05, not 1;' "${post[@]}" --steps 2 \
    --temperature 1 --resume

# `tokens` goes on: the log of a run that was interrupted is that of one that was not, but for the
# clock
logged() { sed -E 's/"time":[^,]*,|,"tokens_per_second":[^,}]*//g' "$1/log.jsonl"; }
log=(pretrain "${small[@]}" "${shape[@]}" -v vocab --train aa=moved/aa.shd --steps 6 --keep 9)
"${log[@]}" --out whole
cp -r whole again; rm -r again/checkpoints/step-0000000[456] again/last
"${log[@]}" --out again --resume
logged whole > a; logged again > b; same a b
is "$(grep -o '"tokens":[0-9]*' a | sort -u | wc -l)" 6 "tokens grow"
is "$(grep -o '"tokens": "[0-9]*"' again/last/state.json | tr -dc 0-9)" \
    "$(tail -n 1 a | sed 's/.*"tokens":\([0-9]*\).*/\1/')" "of the last checkpoint and of the log"
# a checkpoint of a version that kept none
cp -r whole older; rm -r older/checkpoints/step-0000000[456] older/last
folder=older/checkpoints/step-00000003; rm $folder/state.sum
sed -i '/"tokens"/d; s/\("aa.next": "[0-9]*"\),/\1/' $folder/state.json
pretrain "${log[@]:2}" --out older --resume 2> err; grep -q 'kept no number of tokens' err
has 'pretrain: continuing from step 3' < err || fail "$(cat err)"

# what cuts the text stays with the model, whoever names it again: not the command that goes on
echo "w 1 1" > codes; tokenize --settings > tokenizer
pretrain "${log[@]:2}" -q --codes codes --tokenizer tokenizer --steps 2 --out kept
rm codes; mv tokenizer moved; pretrain "${log[@]:2}" -q --steps 3 --out kept --resume
is "$(readlink kept/last)" checkpoints/step-00000003 "a run with codes that goes on"
same kept/last/codes <(echo "w 1 1"); same kept/last/tokenizer moved/tokenizer

# A run that has diverged says so; a uniform guess costs ln 35 = 3.56 (30 words, 5 specials).
far=(pretrain --tokens 60 --seed 3 "${shape[@]}" -v vocab --train aa=moved/aa.shd --steps 6)
"${far[@]}" --lr 100 --warmup 1 --clip 0 --out far 2> err
said='^pretrain: far: the run has diverged: its mlm loss is [0-9.e+]* nats per token at the end,'
grep -E "$said" err |
    has ' and a uniform guess among 35 tokens costs 3.56' || { cat err; fail "diverged"; }
"${far[@]}" --lr 1e-3 --warmup 2 --out near 2> err; ! grep diverged err
