# tokenize --subwords gives the pieces that transformers and sentencepiece give
# (test/golden/subwords.py), from the files they read and from imported folders; detokenize
# --subwords joins them.
. "$TOP/test/cli/lib.sh"
G=$TOP/test/golden/subwords
tokenize -q --subwords "$G/cased.txt" "$G/text" > out; same out "$G/cased.out"
tokenize -q --subwords "$G/uncased.txt" --uncased "$G/text" > out; same out "$G/uncased.out"
for m in unigram bpe spaces; do
    tokenize -q --subwords "$G/$m.model" "$G/text" > out; same out "$G/$m.out"
    tokenize -q --threads 3 --line-buffered --subwords "$G/$m.model" < "$G/text" > out
    same out "$G/$m.out"
done
# letters that the model lacks are one piece where they follow each other (sentencepiece 0.2)
is "$(printf 'a 漢字漢 b\n漢 字\nx漢字y\n' |
    tokenize -q --subwords "$G/unigram.model")" "$(printf '▁a ▁ 漢字漢 ▁b\n▁ 漢 ▁ 字\n▁ x 漢字 y')"
# text without what normalisation changes comes back
sed -n 1p "$G/text" > one
tokenize -q --subwords "$G/unigram.model" one |
    detokenize -q --subwords "$G/unigram.model" > back; same back one
printf 'un ##der ##stand me\n' |
    detokenize -q --subwords "$G/cased.txt" > back; is "$(cat back)" "understand me"
# a folder that ckpt import made knows its own tokeniser
ckpt import -q -o m "$TOP/test/golden/interchange/xlmr"
is "$(echo 'ka le TIO' | tokenize -q --subwords m)" "$(echo 'ka le TIO' |
    tokenize -q --subwords m/sentencepiece.model)"
ckpt import -q -o b "$TOP/test/golden/interchange/bert"
is "$(echo 'kas lio, X' | tokenize -q --subwords b)" 'ka ##s lio [UNK] [UNK]'
# what cannot be read is refused
head -c 3000 "$G/unigram.model" > cut.model
fails 1 'cut.model: byte .*damaged' tokenize -q --subwords cut.model
: > empty.model; fails 1 'empty.model: holds no pieces' tokenize -q --subwords empty.model
mkdir plain; fails 1 'plain: has no file tokenizer, .*pieces.json' tokenize -q --subwords plain
fails 2 '--uncased needs --subwords' tokenize --uncased
