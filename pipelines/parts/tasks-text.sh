# Text of encoders that are fine-tuned for tasks: all of Multi30k's captions in both languages, line
# by line; raw/ tok/ bpe/ shd/ codes vocab tokenizer.
for l in $LANGS; do
    published raw.train.$l raw/train.$l multi30k/train.$l
    published raw.valid.$l raw/valid.$l multi30k/val.$l
    published raw.test.$l raw/test.$l multi30k/test_2016_flickr.$l
done
part text

part encoder
