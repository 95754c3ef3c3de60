# Where the papers start: folders as published models have them (test/tool/standin.c makes small
# ones) are read by ckpt import, or their embeddings alone. Which row is which token's is by the
# tokenisers' own numbering, as transformers has it.
. "$TOP/test/cli/lib.sh"
tool=$(dirname "$BIN")/test/tool
# words of two languages and Chinese characters, the more frequent ones first
awk 'BEGIN { split("the house a dog sees red garden children play street", a, " ")
    split("das Haus ein Hund sieht roten Garten Kinder spielen Straße", b, " ")
    for (i = 0; i < 400; i++) for (l = 0; l < 2; l++) { s = ""
        for (j = 0; j < 6; j++) { k = 1 + int(10 * ((i * 7 + j * 13) % 101 / 101) ^ 2)
            s = s (j ? " " : "") (l ? b[k] : a[k]) }
        print s (i % 3 ? "." : "!") }
    print "狗看见红色的房子。" }' > text
for l in mbert xlmr xlm mbart mt5 xglm; do "$tool/standin" $l $l < text; done
# rows FILE TENSOR: a table's rows, numbers between spaces
rows() { "$tool/tensor" "$1/model.safetensors" "$2" | tr '\t' ' '; }
# vectors FILE: those of a text file
vectors() { sed 1d "$1" | cut -d ' ' -f 2-; }
word() { grep -n "^$2 " "$1" | cut -d : -f 1; }

echo "# mT5: a token's id is its piece's; XGLM: one more, seven made-up words behind"
ckpt import --embeddings-only -o mt5.vec mt5 2> notes
pieces=$(($(rows mt5 shared.weight | wc -l) - 12))
is "$(cat notes)" \
    "ckpt: 12 of $((pieces + 12)) embeddings have no token (padding); they are left out"
is "$(head -n 1 mt5.vec)" "$((pieces - 3)) 32"
vectors mt5.vec > got; rows mt5 shared.weight | sed "1,3d;$((pieces + 1)),\$d" > want; same got want
is "$(sed -n '2,4s/ .*//p' mt5.vec | tr '\n' ' ')" '▁ ▁das ▁the '
ckpt import -q --embeddings-only -o xglm.vec xglm
vectors xglm.vec > got; rows xglm model.embed_tokens.weight | sed 1,4d > want; same got want
is "$(sed -n '2,4s/ .*//p' xglm.vec | tr '\n' ' ')" '▁ ▁das ▁the '
is "$(tail -n 7 xglm.vec | cut -d ' ' -f 1 | tr '\n' ' ')" \
    "$(printf '<madeupword%d> ' 0 1 2 3 4 5 6)"

echo "# the others: what embed says of the imported model, and each token's row of the file"
of() { # LAYOUT TENSOR FIRST WORDS: the row after the specials, counted from 1
    ckpt import -q -o $1.ours $1
    ckpt import -q --embeddings-only -o $1.vec $1; embed -q --model $1.ours > got; same got $1.vec
    is "$(sed -n '2s/[^ ]* //p' $1.vec)" "$(rows $1 $2 | sed -n "$3p")" "$1: first row"
    is "$(tail -n 1 $1.vec | cut -d ' ' -f 2-)" "$(rows $1 $2 | sed -n "$4p")" "$1: last row"
}
of mbert bert.embeddings.word_embeddings.weight 2 \$
of xlmr roberta.embeddings.word_embeddings.weight 5 "$(($(rows xlmr lm_head.bias | wc -l) - 1))"
of xlm transformer.embeddings.weight 5 \$
of mbart model.shared.weight 5 "$(($(rows mbart model.shared.weight | wc -l) - 1))"
ckpt import -q --embeddings-only -o mt5.npy mt5
is "$(head -n 1 mt5.npy.words)" ▁ 'a form by its ending'

echo "# text is cut as the layout does, and training goes on from each"
is "$(echo 'das Haus sieht.' | tokenize -q --subwords mbert.ours)" 'das Haus sieht .'
is "$(echo 'das Haus sieht.' | tokenize -q --subwords xlmr.ours)" '▁das ▁Haus ▁sieht .'
is "$(echo 'das Haus sieht.' | tokenize -q --subwords mt5/spiece.model)" '▁das ▁Haus ▁sieht .'
is "$(echo 'Das ‘Haus’ läßt…' | tokenize -q -l de --subwords xlm.ours | sed 's/@@ //g')" \
    "das ' haus ' laßt ..."
for m in mbert xlmr xlm; do
    sed -n 1,80p text | tokenize -q --subwords $m.ours |
        binarize -q -v $m.ours/vocab -l de -o $m.shd
    pretrain -q --init $m.ours --train de=$m.shd --lr 1e-4 --warmup 0 --tokens 200 --steps 1 \
        --log-every 1 --out $m.run
    # of weights that know nothing, the loss is that of chance: log of the vocabulary
    awk -v V="$(wc -l < $m.ours/vocab)" 'match($0, /"mlm":[0-9.]+/) {
        x = substr($0, RSTART + 6, RLENGTH - 6) - log(V + 5); exit !(x > -0.3 && x < 0.3) }' \
        $m.run/log.jsonl || fail "$m: $(tail -n 1 $m.run/log.jsonl)"
done
sed -n 1,40p text | tokenize -q --subwords mbart.ours > pairs
finetune -q --task mt --model mbart.ours --parallel xx-yy=pairs,pairs --tokens 200 --steps 1 \
    --out mbart.run
[ -s mbart.run/last/weights.safetensors ] || fail 'no model'

echo "# refused in a line"
cp -r mt5 bad; chmod -R u+w bad
fails 1 'bad/config.json: "model_type": "mt5" is not supported; bert, roberta, xlm-roberta, xlm, '\
'bart and mbart are \(ckpt import --embeddings-only reads this one'\''s embeddings\)' \
    ckpt import -o no bad
sed -i 's/"mt5"/"gpt2"/' bad/config.json
fails 1 'bad/config.json: "model_type": "gpt2" is not supported; embeddings of bert, roberta, '\
'xlm-roberta, xlm, bart, mbart, mt5 and xglm are read' ckpt import --embeddings-only -o no bad
sed -i 's/"gpt2"/"xglm"/' bad/config.json
mv bad/spiece.model bad/sentencepiece.bpe.model
fails 1 'bad/model.safetensors: has no tensor model.embed_tokens.weight' \
    ckpt import --embeddings-only -o no bad
cp xglm/model.safetensors bad; rm bad/*.model
fails 1 'bad: has no tokeniser file \(sentencepiece.bpe.model or tokenizer.json\), so what its '\
'ids stand for is unknown' ckpt import --embeddings-only -o no bad
{ cat text; seq 100 200 | tr '\n' ' '; } | "$tool/standin" xlmr more
cp more/sentencepiece.bpe.model bad
n=$(rows xglm model.embed_tokens.weight | wc -l)
fails 1 "bad/model.safetensors: tensor model.embed_tokens.weight has $n rows, but the tokeniser "\
"has ids up to $(($(rows more lm_head.bias | wc -l) + 5))" ckpt import --embeddings-only -o no bad
[ ! -e no ] || fail 'a file in spite of it'
fails 2 ' --embeddings-only reads no languages and no head: leave out --head' \
    ckpt import --embeddings-only --head nli -o no bad
fails 2 ' --embeddings-only is for ckpt import, not for ckpt info' ckpt info --embeddings-only mbert
