# translate --raw gives what the pipe of tokenize, bpe-apply, translate, bpe-apply --restore and detokenize gives.
. "$TOP/test/cli/lib.sh"
printf '%s\n' 'Die Katze schläft.' 'Ein Hund läuft, "schnell" & weit!' 'EU-Recht (neu): 3,5 Prozent.' '' 'Zwei Hunde.' > de
printf '%s\n' 'The cat sleeps.' "A dog's running \"fast\" & far!" 'EU law (new): 3.5 percent.' '' 'Two dogs.' > en
for k in 1 2 3 4; do cat de; done > many.de; for k in 1 2 3 4; do cat en; done > many.en
tokenize --case-marker --settings > tokenizer
is "$(grep -v '^#' tokenizer)" "case-marker = true"
for l in de en; do tokenize -q -l $l --case-marker < many.$l > tok.$l; done
bpe-learn -q -n 60 tok.de tok.en > codes
for l in de en; do bpe-apply -q -c codes < tok.$l > bpe.$l; done
vocab-count -q bpe.de bpe.en > vocab
finetune -q --task mt -v vocab --codes codes --tokenizer tokenizer --parallel de-en=bpe.de,bpe.en --layers 1 --dim 32 --heads 2 --ffn 64 --positions 64 \
    --tokens 200 --lr 4e-3 --warmup 20 --steps 120 --dropout 0 --attention-dropout 0 --out run
same tokenizer run/last/tokenizer; same codes run/last/codes
tokenize -q -l de --case-marker < de | bpe-apply -q -c codes | translate -q --model run --src de --tgt en --beam 2 | bpe-apply -q --restore | detokenize -q -l en --case-marker > piped
translate -q --raw --model run --src de --tgt en --beam 2 < de > raw
same piped raw
grep -q '[A-Z]' raw || fail "nothing was learnt: $(cat raw)"
# a model that starts from this one keeps both
finetune -q --task mt --model run --parallel en-de=bpe.en,bpe.de --steps 2 --tokens 100 --out next
same tokenizer next/last/tokenizer
# a setting of one language
{ cat tokenizer; echo 'en.case-marker = false'; } > run/last/tokenizer
translate -q --raw --model run/last --src de --tgt en --beam 2 < de > marked
grep -q '⇧' marked || fail "en.case-marker = false had no effect"
echo 'case-marker = perhaps' > run/last/tokenizer
fails 1 'run/last/tokenizer:1: "case-marker = perhaps" is no setting' translate -q --raw --model run/last --src de --tgt en < de
rm run/last/tokenizer
fails 1 'does not say how its text was tokenised' translate -q --raw --model run/last --src de --tgt en < de
rm next/last/codes
fails 1 'has no codes' translate -q --raw --model next/last --src en --tgt de < en
fails 1 'cannot be kept' tokenize --protected x --settings
