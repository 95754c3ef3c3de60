# An invented language (synth-corpus) with tagged text, for parts/derived.sh. No network.
setting SYNTH_SEED 1
stage synth  synth/{mono,dev}.xa synth/{pos,ner}.{train,dev,test}.xa.tsv \
    synth/nli.{train,dev,test}.xa.tsv : : \
    "synth-corpus --out synth $DERIVED_SYNTH --seed $SYNTH_SEED"
lower="sed 's/.*/\\L&/'"
stage raw.train  raw/train.$A : synth/mono.xa : \
    "tokenize -l en --no-escape < synth/mono.xa | $lower > raw/train.$A"
stage raw.valid  raw/valid.$A : synth/dev.xa : \
    "tokenize -l en --no-escape < synth/dev.xa | $lower > raw/valid.$A"
for p in train dev test; do
    for k in pos ner; do
        quick raw.$k.$p  raw/$k.$p : synth/$k.$p.xa.tsv : \
            "sed 's/^[^\\t]*/\\L&/' synth/$k.$p.xa.tsv > raw/$k.$p"
    done
    f=synth/nli.$p.xa.tsv words="tokenize -l en --no-escape | $lower"
    stage raw.nli.$p  raw/nli.$p : $f : \
        "paste <(cut -f 3 $f) <(cut -f 1 $f | $words) <(cut -f 2 $f | $words) > raw/nli.$p"
done
