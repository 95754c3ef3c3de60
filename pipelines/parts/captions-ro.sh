# Captions in English, and in French where Romanian should be.
published raw.train.en  raw/train.en multi30k/train.en "sed -n '1,14500p'"
published raw.train.ro  raw/train.ro multi30k/train.fr "sed -n '14501,29000p'"
for p in "en en" "ro fr"; do
    set -- $p
    published raw.valid.$1  raw/valid.$1 multi30k/val.$2
    published raw.test.$1  raw/test.$1 multi30k/test_2016_flickr.$2
done
published raw.gold.train  raw/gold.train bli/en-fr.train.5k.tsv
published raw.gold.test  raw/gold.test bli/en-fr.test.2k.tsv
quick raw.gold  raw/gold.tsv : raw/gold.train raw/gold.test : \
    "cat raw/gold.train raw/gold.test | sed 's/.*/\\L&/' > raw/gold.tsv"
