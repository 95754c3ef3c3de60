# Supervised translation between English and German on Multi30k's 29,000 caption pairs: what the
# same engine and model reach when they see translations. Both directions in one model, no
# pre-training.
languages en de
for l in $LANGS; do
    published raw.train.$l raw/train.$l multi30k/train.$l
    published raw.valid.$l raw/valid.$l multi30k/val.$l
    published raw.test.$l raw/test.$l multi30k/test_2016_flickr.$l
done
part text
part score

for s in $SEEDS; do
    train s$s.mt  s$s/mt/ : vocab codes tokenizer bpe/{train,valid}.{$A,$B} : \
        "exec finetune --task mt --vocab vocab --codes codes --tokenizer tokenizer $MODEL
            --parallel $A-$B=bpe/train.$A,bpe/train.$B --parallel $B-$A=bpe/train.$B,bpe/train.$A
            --valid $A-$B=bpe/valid.$A,bpe/valid.$B --valid $B-$A=bpe/valid.$B,bpe/valid.$A
            $MT --seed $s --device $DEVICE $RESUME --out s$s/mt"
    translations s$s/mt s$s/hyp $s supervised s$s/shuffled
done

scores=
for d in $A-$B $B-$A; do scores+=" base/copy/score.$d"; done
for s in $SEEDS; do
    for d in $A-$B $B-$A; do scores+=" s$s/hyp/score.$d s$s/shuffled/score.$d"; done
done
results $scores
