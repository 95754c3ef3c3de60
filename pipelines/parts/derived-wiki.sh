# English Wikipedia for parts/derived.sh: sentences of 2 to 60 words, without case; every 50th of
# the first 50,000 is for validation. Parts of speech of Universal Dependencies, names of WikiAnn,
# inference learnt from parts of MultiNLI and SNLI and judged on XNLI's English, as XTREME has them.
# It has no trees, so no trans-syn.
lower="sed 's/.*/\\L&/'"
FOLDER+=-wiki
case " $TRANSFORMS " in *" trans-syn "*)
    refuse "TEXT=wiki TRANSFORMS" "Wikipedia has no trees, which trans-syn orders";; esac
published raw.wiki  raw/wiki wikipedia/en.txt "sed -n '1,${WIKI_LINES}p'"
stage raw.text  raw/train.$A raw/valid.$A : raw/wiki : \
    "tokenize -q -l en --no-escape < raw/wiki | $lower | awk 'NF >= 2 && NF <= 60' |
        awk -v A=raw/train.$A -v B=raw/valid.$A
            '{ print > (NR % 50 || NR > 50000 ? A : B) }'"
for p in train dev test; do
    tagged="sed 's/^[^\\t]*/\\L&/' | awk -v N=$TAG_SENTENCES 'n < N; !NF { n++ }'"
    published raw.pos.$p  raw/pos.$p udpos/en.$p.tsv "$tagged"
    # WikiAnn's test labels are not published: its development set is cut in two
    case $p in
    train) half=1;;
    dev) half="n < 5000";;
    test) half="n >= 5000";;
    esac
    published raw.ner.$p  raw/ner.$p panx/en.${p/test/dev}.tsv \
        "sed 's/^en://' | awk '$half; !NF { n++ }' | $tagged"
    case $p in
    train) inference="nli-train/mnli-taxi.tsv nli-train/snli-devtest.tsv nli-train/snli-cad.tsv";;
    *) inference=xnli/$p.en.tsv;;
    esac
    parts=
    for f in $inference; do
        g=raw/nli/${f##*/}
        published raw.nli.$p.${f##*/}  $g $f
        parts+=" $g"
    done
    stage raw.nli.$p  raw/nli.$p : $parts : \
        "paste <(cut -f 1$parts) <(cut -f 2$parts | tokenize -q -l en --no-escape | $lower)
            <(cut -f 3$parts | tokenize -q -l en --no-escape | $lower) > raw/nli.$p"
done
