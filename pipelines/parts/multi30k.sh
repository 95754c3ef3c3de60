# Captions of Multi30k in two of its languages, the standard split: A takes training lines 1 to
# 14,500, B 14,501 to 29,000, so that no sentence has its translation in the training data; val
# picks the model, test_2016_flickr scores it.
published raw.train.$A  raw/train.$A multi30k/train.$A "sed -n '1,14500p'"
published raw.train.$B  raw/train.$B multi30k/train.$B "sed -n '14501,29000p'"
for l in $LANGS; do
    published raw.valid.$l  raw/valid.$l multi30k/val.$l
    published raw.test.$l   raw/test.$l multi30k/test_2016_flickr.$l
done
part gold
