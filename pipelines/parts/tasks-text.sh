# Text of tasks-deen's encoder and translator: all of Multi30k's captions in both languages, line by
# line; raw/ tok/ bpe/ shd/ codes vocab tokenizer sN/encoder/.
for l in $LANGS; do
    published raw.train.$l raw/train.$l multi30k/train.$l
    published raw.valid.$l raw/valid.$l multi30k/val.$l
    published raw.test.$l raw/test.$l multi30k/test_2016_flickr.$l
done
part text

# The encoder: masked words of both languages, and of captions beside their translations.
for s in $SEEDS; do
    train s$s.encoder  s$s/encoder/ : vocab codes tokenizer shd/{train,valid}.{$A,$B}.shd \
        bpe/train.{$A,$B} : \
        "exec pretrain --vocab vocab --codes codes --tokenizer tokenizer $MODEL
            --objective mlm,tlm --parallel $A-$B=bpe/train.$A,bpe/train.$B --tlm-order toss
            --train $A=shd/train.$A.shd --train $B=shd/train.$B.shd
            --valid $A=shd/valid.$A.shd --valid $B=shd/valid.$B.shd
            $PRETRAIN --seed $s --device $DEVICE $RESUME --out s$s/encoder"
done
