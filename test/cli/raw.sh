# translate --raw gives what the pipe of tokenize, bpe-apply, translate, bpe-apply --restore and
# detokenize gives.
. "$TOP/test/cli/lib.sh"
printf '%s\n' 'Die Katze schläft.' 'Ein Hund läuft, "schnell" & weit!' \
    'EU-Recht (neu): 3,5 Prozent.' '' 'Zwei Hunde.' > de
printf '%s\n' 'The cat sleeps.' "A dog's running \"fast\" & far!" 'EU law (new): 3.5 percent.' '' \
    'Two dogs.' > en
for k in 1 2 3 4; do cat de; done > many.de; for k in 1 2 3 4; do cat en; done > many.en
tokenize --case-marker --settings > tokenizer
is "$(grep -v '^#' tokenizer)" "case-marker = true"
tokenize --case-marker --settings -o settings; same settings tokenizer
tokenize -l th --describe -o described; is "$(cat described)" "$(tokenize -l th --describe)"
for l in de en; do tokenize -q -l $l --case-marker < many.$l > tok.$l; done
bpe-learn -q -n 60 tok.de tok.en > codes
for l in de en; do bpe-apply -q -c codes < tok.$l > bpe.$l; done
vocab-count -q bpe.de bpe.en > vocab
finetune -q --task mt -v vocab --codes codes --tokenizer tokenizer --parallel de-en=bpe.de,bpe.en \
    --layers 1 --dim 32 --heads 2 --ffn 64 --positions 64 \
    --tokens 200 --lr 4e-3 --warmup 20 --steps 120 --dropout 0 --attention-dropout 0 --out run
same tokenizer run/last/tokenizer; same codes run/last/codes
tokenize -q -l de --case-marker < de | bpe-apply -q -c codes |
    translate -q --model run --src de --tgt en --beam 2 | bpe-apply -q --restore |
        detokenize -q -l en --case-marker > piped
translate -q --raw --model run --src de --tgt en --beam 2 < de > raw
same piped raw
grep -q '[A-Z]' raw || fail "nothing was learnt: $(cat raw)"
# a model that starts from this one keeps both
finetune -q --task mt --model run --parallel en-de=bpe.en,bpe.de --steps 2 --tokens 100 --out next
same tokenizer next/last/tokenizer
[ ! -e next/last/pieces.json ] || fail "pieces of no imported model"
# so does an average, a model of fewer words, and one that a program starts from without a word
# about its shape
ckpt average -q -o mean run run/last; same tokenizer mean/tokenizer; same codes mean/codes
head -n 30 vocab > fewer; binarize -q -v fewer -l de -o fewer.shd < bpe.de
pretrain -q --init run -v fewer --train de=fewer.shd --steps 1 --tokens 100 --out small
same tokenizer small/last/tokenizer; same codes small/last/codes
binarize -q -v vocab -l de -o de.shd < bpe.de
pretrain -q --init run --train de=de.shd --steps 1 --tokens 100 --out same-shape
same run/last/vocab same-shape/last/vocab
for what in '"dim": 32' '"heads": 2' '"ffn": 64' '"positions": 64'; do grep -q "$what" \
    same-shape/last/config.json next/last/config.json || fail "$what is not taken"; done
finetune -q --task mt --init run --layers 2 --decoder-layers 1 --parallel en-de=bpe.en,bpe.de \
    --steps 1 --tokens 100 --out deeper
grep -q '"layers": 2' deeper/last/config.json; grep -q '"decoder_layers": 1' deeper/last/config.json
finetune -q --config deeper/run.config --out deeper2
same deeper/last/weights.safetensors deeper2/last/weights.safetensors
# words of another language: the codes would cut them wrongly
printf 'zz 1\n' | cat fewer - > other; echo zz | binarize -q -v other -l de -o other.shd
pretrain -q --init run -v other --train de=other.shd --steps 1 --tokens 100 --out other-words
[ ! -e other-words/last/codes ] || fail "codes of another vocabulary were kept"
# embed --raw likewise
for of in sentences tokens words; do
    tokenize -q -l de --case-marker < de | bpe-apply -q -c codes |
        embed -q --model run --layer 1 --lang de --of $of --text - > piped
    embed -q --raw --model run --layer 1 --lang de --of $of --text de > raw; same piped raw
done
fails 2 '--raw needs --text' embed --raw --model run
# a setting of one language
{ cat tokenizer; echo 'en.case-marker = false'; } > run/last/tokenizer; rm run/last/model.sum
translate -q --raw --model run/last --src de --tgt en --beam 2 < de > marked
grep -q '⇧' marked || fail "en.case-marker = false had no effect"
echo 'case-marker = perhaps' > run/last/tokenizer
fails 1 'run/last/tokenizer:1: "case-marker = perhaps" is not a setting' translate \
    -q --raw --model run/last --src de --tgt en < de
rm run/last/tokenizer
fails 1 'run/last: has no file tokenizer, which says how its text was tokenised' translate -q \
    --raw --model run/last --src de --tgt en < de
rm next/last/codes next/last/model.sum
fails 1 'has no codes' translate -q --raw --model next/last --src en --tgt de < en
fails 1 'cannot be kept' tokenize --protected x --settings
fails 2 'subwords' tokenize --subwords x.model --settings
fails 2 'subwords' tokenize --subwords x.model --describe
