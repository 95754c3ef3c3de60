# TCS, SCS and refreshing go on with a published layout: a tiny XLM-R as ckpt import gives it, whose
# words are told by SentencePiece's marker.
. "$TOP/test/cli/lib.sh"
tensor=$(dirname "$BIN")/test/tool/tensor
ckpt import -q -o xlmr "$TOP/test/golden/interchange/xlmr"

# "▁m e" and "▁ka n" are words of two pieces, ▁ka alone and the others words of one
awk 'BEGIN { srand(2); split("▁ka ▁tio ▁te ▁m_e ▁ka_n", a, " ")
    split("▁nio ▁le ▁n ▁kiotu ▁m_e", b, " ")
    for (i = 0; i < 600; i++) for (l = 0; l < 2; l++) { s = ""
        for (j = 0; j < 4; j++) { k = 1 + int(rand() * 5); s = s " " (l ? b[k] : a[k]) }
        gsub(/_/, " ", s); print substr(s, 2) > (l ? "bb" : "aa") } }'
for l in aa bb; do binarize -q -v xlmr/vocab -l $l -o $l.shd < $l; done
printf '▁ka\t▁nio\n▁tio\t▁le\n▁te\t▁n\n▁m\t▁kiotu\nn\t▁le\ne\t▁n\n' > dict
go=(pretrain -q --init xlmr --train aa=aa.shd --train bb=bb.shd --lr 1e-3 --warmup 0 --tokens 400
    --log-every 1)
"${go[@]}" --objective mlm,tcs,scs --dict aa-bb=dict --specific 50 --scs-k 2 --dict-refresh 2 \
    --steps 5 --save-every 5 --out run --write-batches b

echo "# whole words alone are switched: no piece, and no first piece of a longer word"
for o in tcs scs; do
    for f in b/step-[12].1.$o.safetensors; do "$tensor" $f original lang original_lang; done > rows
    # a row whose language is the other one; the row behind it begins a word, or is </s>
    awk 'NR == FNR { name[FNR + 4] = $1; next }
        switched && $1 > 4 && name[$1] !~ /^▁/ { exit 2 }
        { switched = $2 != $3; all += switched }
        switched && name[$1] !~ /^▁/ { exit 3 }
        END { if (!all) exit 4 }' xlmr/vocab rows || fail "$o: status $?"
done
grep -q '"tcs_pairs":[1-9]' run/log.jsonl || fail "no dictionary of its own"
grep -q '"scs":' run/log.jsonl || fail "no scs"

echo "# and what comes out is an XLM-R again"
ckpt export -q -o back --to xlm-roberta run
grep -q '"model_type":[[:space:]]*"xlm-roberta"' back/config.json || fail "$(cat back/config.json)"
[ -s back/sentencepiece.bpe.model ] || fail "no SentencePiece model"
same back/sentencepiece.bpe.model "$TOP/test/golden/interchange/xlmr/sentencepiece.bpe.model"
