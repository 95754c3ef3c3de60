# One flipped bit in any byte of a shard, a count file, text with its checksum beside it (codes, a
# vocabulary, a dictionary with scores, an order model) or a model's folder (a run's checkpoint,
# with codes, settings, words, optimiser and state): refused, or without effect on what is read.
# Every third byte; FLIPS=all (make flips): all bits of all bytes.
. "$TOP/test/cli/lib.sh"
part=${FLIPS:-1/3}
flips=$(dirname "$BIN")/test/tool/flips
printf 'a b c\nb a a\n\nc c a b\na b a c b\n' > t
printf 'a 6\nb 5\nc 4\n' > v
binarize -q -v v -l en --note 'by hand' -o en.shd t
binarize -q -v v -l de -o de.shd t
$flips shard en.shd $part | tee out
grep -qE '[1-9][0-9]* flips, [0-9]+ refused, 0 without effect' out
cooc-count -q -v v -w 2 --skip x -o x.cooc en=t de=t
$flips cooc x.cooc $part | tee out
grep -q ' 0 without effect' out
printf 'low lower lowest newer\n' | bpe-learn -q -n 8 -o learned.codes -
vocab-count -q -o counted.vocab t
printf 'a 1 0\nb 0 1\nc 1 1\n' > x.vec
printf 'd 1 0\ne 0 1\nf 1 0.5\n' > y.vec
dict-induce -q --src x.vec --tgt y.vec -o induced.dict
printf '# c\n1\ta\t_\tADJ\t_\t_\t2\tamod\t_\t_\n2\tb\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n' > ud
derive-lang -q --learn-order N ud -o learned.order
[ "$(cut -f 3 induced.dict | grep -c '^[-0-9.]*$')" -gt 2 ]
for f in learned.codes counted.vocab induced.dict learned.order; do
    $flips ${f#*.} $f $part | tee out
    head -n 1 out | has -E '[1-9][0-9]* flips, [1-9][0-9]* refused, 0 without effect'
    tail -n 1 out | has -E "$f.sum: [1-9]"
    rm $f.sum
    ! $flips ${f#*.} $f all > out 2> err || fail "flips sees nothing in $f"
done

printf '#version: 0.2\na b\nb c</w>\n' > codes
tokenize --settings --case-marker -l en > tokenizer < /dev/null
model=(-q --threads 1 --layers 1 --dim 4 --heads 1 --ffn 4 --positions 8 --tokens 20 --seed 5)
pretrain "${model[@]}" -v v --train en=en.shd --train de=de.shd --steps 1 --out run \
    --codes codes --tokenizer tokenizer
finetune "${model[@]}" --task mt --model run --parallel en-de=t,t --steps 1 --out mt
cp -rL mt/last model
is "$(ls model | tr '\n' ' ')" "codes config.json model.sum optimizer.safetensors state.json \
state.sum tokenizer vocab weights.safetensors words.safetensors "
$flips model model $part | tee out
is "$(wc -l < out)" 10 "files of the folder"
# the optimiser's header alone has bytes that mean nothing
! grep -v optimizer out | grep -v ' 0 without effect' || fail 'a flip passes unseen'
# the test sees a reader that does not look: without the checksums a bit may pass
rm model/model.sum model/state.sum
! $flips model model $part > out 2> err || fail "flips sees nothing"
grep -q 'changes what is read' err
