# English for parts/derived.sh as ALIGN-MLM has it: WikiText-103, parts of speech of EWT, names of
# WikiAnn, inference of XNLI (MultiNLI's English to learn from), and for trans-syn the order of
# French, learnt from GSD's trees. Where TRANSFORMS has trans-syn the text and all tasks have trees.
# PARSER is a command that makes them: it reads sentences, a line each, words with spaces between,
# and writes CoNLL-U, as `udpipe --input=horizontal --tag --parse english.udpipe` does. Without it
# CORPUS_CACHE has them, made of the same words. Lower-cased, as below.
setting PARSER ""
parser_reads=
if [ -n "${REHEARSE-}" ] && [ -z "$PARSER" ]; then
    parser_reads=$P/stand-in.awk PARSER="awk -v TREES=1 -f $P/stand-in.awk"
fi
syn=; [[ " $TRANSFORMS " != *" trans-syn "* ]] || syn=1
syn_lower=" | sed 's/.*/\\L&/'" syn_lower_words=" | sed 's/^[^\\t]*/\\L&/'"
# trees NAME WORDS OUTPUT SOURCE
trees() {
    if [ -n "$PARSER" ]; then
        stage $1  $3 : $2 $P/tree-tags.awk $parser_reads : \
            "$PARSER < $2 > $3 && awk -v SENTENCES=\$(wc -l < $2) -f $P/tree-tags.awk $3"
    else published $1  $3 $4; fi
}
lower="sed 's/.*/\\L&/'"
for p in train valid; do
    published wikitext.$p  wikitext/$p wikitext103/$p.txt
    stage raw.$p.cased  raw/$p.cased : wikitext/$p : \
        "grep -v '^ *= ' wikitext/$p | sed 's/ \\([.!?]\\) / \\1\\n/g' |
            awk 'NF >= 2 && n++ < $DERIVED_LINES' > raw/$p.cased"
    stage raw.$p  raw/$p.$A : raw/$p.cased : "$lower raw/$p.cased > raw/$p.$A"
    [ -z "$syn" ] || trees raw.$p.conllu raw/$p.cased raw/$p.conllu wikitext103/$p.conllu
done
if [ -n "$syn" ]; then
    published gsd  ud/gsd ud/fr_gsd-train.conllu
    stage raw.order  raw/order : ud/gsd : "derive-lang --learn-order N,V ud/gsd > raw/order"
fi
for p in train dev test; do
    published raw.pos.$p.conllu  raw/pos.$p.conllu ud/en_ewt-$p.conllu
    stage raw.pos.$p  raw/pos.$p : raw/pos.$p.conllu $P/conllu-words : \
        "awk -f $P/conllu-words raw/pos.$p.conllu | sed 's/^[^\\t]*/\\L&/' |
            awk -v N=$TAG_SENTENCES 'n < N; !NF { n++ }' > raw/pos.$p"
    published panx.$p  panx/$p panx/en.$p.tsv "sed 's/^en://'"
    quick raw.ner.$p  raw/ner.$p : panx/$p : "sed 's/^[^\\t]*/\\L&/' panx/$p > raw/ner.$p"
    if [ -n "$syn" ] && [[ " $TASKS " == *" ner "* ]]; then
        quick raw.ner.$p.words  raw/ner.$p.words : panx/$p : \
            "awk -F '\\t' 'NF < 2 { if (n) print s; s = n = \"\"; next }
                { s = s (n++ ? \" \" : \"\") \$1 } END { if (n) print s }' panx/$p
                > raw/ner.$p.words"
        trees raw.ner.$p.trees raw/ner.$p.words raw/ner.$p.trees panx/en.$p.conllu
        stage raw.ner.$p.conllu  raw/ner.$p.conllu : panx/$p raw/ner.$p.trees $P/tree-tags.awk : \
            "awk -f $P/tree-tags.awk panx/$p raw/ner.$p.trees > raw/ner.$p.conllu"
    fi
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
    [ -n "$syn" ] && [[ " $TASKS " == *" nli "* ]] || return 0
    # premise, hypothesis, premise, ...
    stage raw.nli.$1.words  raw/nli.$1.words : $2 : \
        "awk -F '\\t' -v OFS='\\n' '$3' $2 | awk 'NR % 3 != 1' |
            tokenize -q -l en --no-escape > raw/nli.$1.words"
    trees raw.nli.$1.conllu raw/nli.$1.words raw/nli.$1.conllu xnli/en.$1.conllu
}
judged_pairs train raw/mnli \
    'NR > 1 { print ($3 == "contradictory" ? "contradiction" : $3), $1, $2 }'
for p in dev test; do judged_pairs $p raw/xnli.$p '$1 == "en" { print $2, $7, $8 }'; done
