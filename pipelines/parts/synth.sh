# Text of two invented languages, whose dictionary is known. No network.
languages xa xb
[ -n "${SYNTH-}" ] || refuse "SCALE=$SCALE" "invented languages have smoke and demo"
setting SYNTH_SEED 1
stage raw.synth  synth/{mono,dev,test}.{$A,$B} synth/dict.tsv ${SYNTH_FILES-} : : \
    "synth-corpus --out synth $SYNTH --seed $SYNTH_SEED"
for l in $LANGS; do
    quick raw.train.$l  raw/train.$l : synth/mono.$l : "cp synth/mono.$l raw/train.$l"
    quick raw.valid.$l  raw/valid.$l : synth/dev.$l  : "cp synth/dev.$l raw/valid.$l"
    quick raw.test.$l   raw/test.$l  : synth/test.$l : "cp synth/test.$l raw/test.$l"
done
quick raw.gold  raw/gold.tsv : synth/dict.tsv : 'sed "s/.*/\L&/" synth/dict.tsv > raw/gold.tsv'
