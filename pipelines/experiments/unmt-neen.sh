# Unsupervised translation, English and Nepali, as unmt-deen (MLM-GC's Table 4), scored by FLoRes'
# test set. Nepali's letters are normalised and its words cut as the Indic NLP library does; BLEU of
# Nepali is printed as sacreBLEU cuts words and (BLEU-indic) over the library's, as FLoRes has it.
# Without Nepali text at hand, below SCALE=paper, FLoRes' own development sentences are trained on,
# English ones of the first half, Nepali ones of the other: plumbing, BLEU stays near 0.
languages en ne
tokenizing[ne]=--normalize-indic
alike[ne]="tokenize -l ne --normalize-indic --no-escape" alike_name[ne]=BLEU-indic
alike_bleu[ne]="--tokenize none --force"
published raw.flores  raw/flores.tgz flores1/flores_test_sets.tgz
# member PART FILE LANG OUTPUT [FILTER]
member() {
    stage raw.$1.$3  raw/$4.$3 : raw/flores.tgz : \
        "tar -xOf raw/flores.tgz flores_test_sets/wikipedia.$2.ne-en.$3 ${5-}> raw/$4.$3"
}
for l in $LANGS; do
    half="| sed -n '1,1279p' "
    [ $l = en ] || half="| sed -n '1280,\$p' "
    if [ $SCALE = paper ]; then published raw.train.$l  raw/train.$l flores1/mono.$l
    else member train dev $l train "$half"; fi
    member valid dev $l valid
    member test devtest $l test
done
part same-words
part translation
paper A 4
