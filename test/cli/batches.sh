# --write-batches: one file for each micro-batch and objective, the same bytes when a run is resumed.
. "$TOP/test/cli/lib.sh"
awk 'BEGIN { srand(5); for (i = 0; i < 300; i++) { n = 1 + int(rand() * 8); s = ""
    for (j = 0; j < n; j++) s = s (j ? " " : "") "w" int(rand() * 12); print s } }' > s
awk 'BEGIN { for (j = 0; j < 12; j++) print "w" j, 12 - j }' > vocab
for l in aa bb; do binarize -q -v vocab -l $l -o $l.shd < s; done
cooc-count -q -w 2 -v vocab aa=aa.shd > counts
small=(--quiet -v vocab --layers 1 --dim 16 --heads 2 --ffn 16 --positions 12 --tokens 50 --lr 1e-3
    --warmup 5 --log-every 1 --save-every 2 --seed 3 --accumulate 2)
pre=(pretrain "${small[@]}" --train aa=aa.shd --objective mlm,gc --cooc counts --steps 3)
"${pre[@]}" --out pre --write-batches pre.b
is "$(ls pre.b | paste -sd ' ')" "$(for s in 1 2 3; do for a in 1 2; do for o in gc mlm; do
    echo step-$s.$a.$o.safetensors; done; done; done | paste -sd ' ')" "files of pretrain"
cp -r pre.b whole.b
"${pre[@]}" --out pre2 --steps 2
rm -rf pre.b/step-3.*; cp -r pre2 again
"${pre[@]}" --out again --resume --write-batches pre.b
for f in whole.b/*; do same $f pre.b/${f##*/}; done

un=(finetune "${small[@]}" --task unmt --train aa=aa.shd --train bb=bb.shd --pseudo aa-bb=s,s
    --pseudo-steps 1 --denoise 0:1,2:0 --steps 3)
"${un[@]}" --out un --write-batches un.b
is "$(ls un.b | sed 's/.safetensors//' | paste -sd ' ')" "step-1.1.denoise step-1.1.pseudo step-1.2.denoise \
step-1.2.pseudo step-2.1.back step-2.1.denoise step-2.2.back step-2.2.denoise step-3.1.back step-3.2.back" "files of unmt"
finetune "${small[@]}" --task mt --parallel aa-bb=s,s --steps 1 --out mt --write-batches mt.b
is "$(ls mt.b | paste -sd ' ')" "step-1.1.mt.safetensors step-1.2.mt.safetensors" "files of mt"

# a folder that cannot be made: nothing is begun
: > file
fails 1 'file' "${pre[@]}" --out no --write-batches file
[ ! -e no ] || fail "a run that could not start left a folder"
