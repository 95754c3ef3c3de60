# English for parts/derived.sh: EWT's training text and the valid and test parts of WikiText-2;
# parts of speech of EWT, names of WikiNEuRal (its en.val cut in two), inference of SICK; the order
# of trans-syn is German's, learnt from GSD (French, the paper's, has no trees at hand).
for p in train dev test; do published ewt.$p  ud/$p.conllu ud/en_ewt-$p.conllu; done
for p in dev test; do published gsd.$p  ud/gsd.$p ud/de_gsd-$p.conllu; done
for p in valid test; do published wikitext.$p  wikitext/$p wikitext2/$p.txt; done
for p in val test; do published wikineural.$p  ner/$p ner/wikineural.en.$p.conllu; done
published sick.train  sick/train nli/sick/SICK_train.txt
published sick.dev    sick/dev   nli/sick/SICK_trial.txt
published sick.test   sick/test  nli/sick/SICK_test_annotated.txt
lower="sed 's/.*/\\L&/'" words="awk -v WORDS=1 -f $P/conllu-words"
# sentences of 2 to 60 words, of WikiText cut behind . ! and ?; what is left over is for validation
stage raw.text  raw/train.$A raw/valid.$A : \
    ud/train.conllu wikitext/{valid,test} $P/conllu-words : \
    "{ $words ud/train.conllu &&
       cat wikitext/valid wikitext/test | grep -v '^ *= ' |
           sed 's/&lt; *unk *&gt;/unk/g; s/<unk>/unk/g' |
           sed 's/&quot;/\"/g; s/&apos;/'\\''/g; s/&amp;/\\&/g' |
           sed 's/ \\([.!?]\\) / \\1\\n/g'; } | $lower | awk 'NF >= 2 && NF <= 60' |
       awk -v A=raw/train.$A -v B=raw/valid.$A 
           -v N=$DERIVED_LINES 'NR <= N { print > (NR % 50 ? A : B) }'"
stage raw.order  raw/order : ud/gsd.dev ud/gsd.test : \
    "derive-lang --learn-order N,V ud/gsd.dev ud/gsd.test > raw/order"
quick raw.train.conllu  raw/train.conllu : ud/train.conllu : "cp ud/train.conllu raw/train.conllu"
quick raw.valid.conllu  raw/valid.conllu : ud/dev.conllu : "cp ud/dev.conllu raw/valid.conllu"
for p in train dev test; do
    quick raw.pos.$p.conllu  raw/pos.$p.conllu : ud/$p.conllu : "cp ud/$p.conllu raw/pos.$p.conllu"
    # the first sentences, TAG_SENTENCES of them
    stage raw.pos.$p  raw/pos.$p : ud/$p.conllu $P/conllu-words : \
        "awk -f $P/conllu-words ud/$p.conllu | sed 's/^[^\\t]*/\\L&/' |
            awk -v N=$TAG_SENTENCES 'n < N; !NF { n++ }' > raw/pos.$p"
    quick raw.nli.$p  raw/nli.$p : sick/$p : \
        "paste <(cut -f 5 sick/$p | tail -n +2 | $lower)
            <(cut -f 2 sick/$p | tail -n +2 | tokenize -l en --no-escape | $lower)
            <(cut -f 3 sick/$p | tail -n +2 | tokenize -l en --no-escape | $lower) > raw/nli.$p"
done
ner() {         # PART FILE FROM TO: its sentences of these numbers
    stage raw.ner.$1  raw/ner.$1 : ner/$2 : \
        "awk -F'\\t' -v A=$3 -v B=$4 
            'NF < 2 { if (old) { n++; if (n >= A && n <= B) print \"\" }; old = 0; next }
            { old = 1; if (n + 1 >= A && n + 1 <= B) print \$2 \"\\t\" \$3 }' ner/$2 |
            sed 's/^[^\\t]*/\\L&/' > raw/ner.$1"
}
ner train val 1 4000; ner dev val 4001 4500; ner test test 1 2000
