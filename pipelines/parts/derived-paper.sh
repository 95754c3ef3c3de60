# English for parts/derived.sh as ALIGN-MLM has it: WikiText-103, parts of speech of EWT, names of
# WikiAnn, inference of XNLI (MultiNLI's English to learn from), and for trans-syn the order of
# French, learnt from GSD's trees. Trees of WikiText-103 are a parser's (Stanza, UDPipe):
# CORPUS_CACHE has wikitext103/{train,valid}.conllu where TRANSFORMS has trans-syn. Lower-cased, as
# below.
lower="sed 's/.*/\\L&/'"
for p in train valid; do
    published wikitext.$p  wikitext/$p wikitext103/$p.txt
    stage raw.$p  raw/$p.$A : wikitext/$p : \
        "grep -v '^ *= ' wikitext/$p | sed 's/ \\([.!?]\\) / \\1\\n/g' | $lower |
            awk 'NF >= 2 && n++ < $DERIVED_LINES' > raw/$p.$A"
    [[ " $TRANSFORMS " != *" trans-syn "* ]] ||
        published raw.$p.conllu  raw/$p.conllu wikitext103/$p.conllu
done
case " $TRANSFORMS " in *" trans-syn "*)
    published gsd  ud/gsd ud/fr_gsd-train.conllu
    stage raw.order  raw/order : ud/gsd : "derive-lang --learn-order N,V ud/gsd > raw/order";;
esac
for p in train dev test; do
    published raw.pos.$p.conllu  raw/pos.$p.conllu ud/en_ewt-$p.conllu
    stage raw.pos.$p  raw/pos.$p : raw/pos.$p.conllu $P/conllu-words : \
        "awk -f $P/conllu-words raw/pos.$p.conllu | sed 's/^[^\\t]*/\\L&/' |
            awk -v N=$TAG_SENTENCES 'n < N; !NF { n++ }' > raw/pos.$p"
    published panx.$p  panx/$p panx/en.$p.tsv
    quick raw.ner.$p  raw/ner.$p : panx/$p : "sed 's/^[^\\t]*/\\L&/' panx/$p > raw/ner.$p"
done
# label, premise, hypothesis
part xnli
published raw.mnli  raw/mnli xnli/multinli.train.en.tsv
judged_pairs() {        # PART INPUT "AWK": its rows as three columns
    stage raw.nli.$1  raw/nli.$1 : $2 : \
        "awk -F '\\t' -v OFS='\\t' '$3' $2 > raw/nli.$1.columns &&
            paste <(cut -f 1 raw/nli.$1.columns)
                <(cut -f 2 raw/nli.$1.columns | tokenize -q -l en --no-escape | $lower)
                <(cut -f 3 raw/nli.$1.columns | tokenize -q -l en --no-escape | $lower)
                > raw/nli.$1 && rm raw/nli.$1.columns"
}
judged_pairs train raw/mnli \
    'NR > 1 { print ($3 == "contradictory" ? "contradiction" : $3), $1, $2 }'
for p in dev test; do judged_pairs $p raw/xnli.$p '$1 == "en" { print $2, $7, $8 }'; done
