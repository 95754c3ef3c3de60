# tasks-deen, xlu, mono, unmt-roen, unmt-neen, cs-demo: their stages, and what makes their data:
# splits that share nothing, cloze questions, documents, and baselines, by hand.
. "$TOP/test/cli/lib.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS CORPUS_CACHE RUN SEEDS SCALE LIFELINE A B DEVICE
P=$TOP/pipelines
planned() {     # SCALE SEEDS [EXPERIMENT]
    TOP=$TOP BIN=$BIN EXPERIMENTS=$P/experiments SCALE=$1 SEEDS="$2" DEVICE=auto \
        "$P/plan" ${3:-tasks-deen} | grep -v '^#' > plan
}
planned mini 1; cut -f 1 plan > names
for t in pos ner nli cloze xquad; do
    for n in $t.en $t.de $t.en-en $t.en-de $t.de-de $t.en-de.score; do
        grep -qx "s1.$n" names || fail "no stage s1.$n"
    done
done
for n in s1.xnli.en s1.xnli.en-sw base.xnli.en-sw.lexical.score mt nli.test.translated results; do
    grep -qx "$n" names || fail "no stage $n"
done
grep -qx s1.xnli.sw names && fail 'nothing is learnt in Swahili'
# the development set that picks the model is the source language's: it comes first
awk -F '\t' '$1 == "s1.pos.en"' plan |
    has -- '--valid en=task/pos/valid.en.conllu --valid de=task/pos/valid.de.conllu'
planned smoke "1 2"; is "$(grep -c '^s2\.' plan)" "$(grep -c '^s1\.' plan)"
grep -oE '/sources.tsv [a-z0-9]+/[A-Za-z0-9_./-]+' plan | cut -d' ' -f2 | sort -u > named
is "$(wc -l < named)" 21
for n in $(cat named); do
    awk -F'\t' -v n="$n" '$1 == n && length($2) == 64 && NF >= 3 { ok = 1 } END { exit !ok }' \
        "$P/sources.tsv" || fail "$n in sources.tsv"
done

# xlu: five systems, judged in both languages, each against XLM; TLM has pairs, GC counts
planned smoke 1 xlu; cut -f 1 plan > names
for y in xlm pmi gc tlm tlm-gc; do
    for n in s1.$y.encoder s1.$y.log s1.$y.{pos,ner}.en s1.$y.{pos,ner}.en-{en,de}; do
        grep -qx "$n" names || fail "no stage $n"
    done
    awk -F'\t' -v n=s1.$y.encoder '$1 == n' plan > encoder.$y
done
for y in tlm tlm-gc; do grep -q -- '--parallel en-de=bpe/train.en,bpe/train.de' encoder.$y; done
for y in gc tlm-gc; do grep -q -- '--cooc cooc/all.cooc' encoder.$y; done
grep -q -- '--mask-scheme pmi --mask-ngrams en=bpe/ngrams.en --mask-ngrams de' encoder.pmi
grep -qE -- '--objective mlm +--train' encoder.xlm
grep -qx mt names && fail "a translator, though nli is not among the tasks"
is "$(tail -n 1 plan | grep -o '#compare' | wc -l)" 5
# its text: captions, then no more sentences of the other half, whose tokens are joined to text
mkdir -p xlu/raw; cd xlu
printf 'A dog .\nTwo .\n' > raw/captions.valid.en
printf "Peter &apos;s cat , too .\n&quot; No , &quot; he says .\nToo many .\n" > raw/tokens.valid.en
awk -F'\t' '$1 == "raw.valid.en" { print $6 }' ../plan | bash -e
is "$(cat raw/valid.en)" 'A dog .
Two .
Peter'"'"'s cat, too.
"No," he says.'
cd ..
# as published: 15 languages of XNLI, 7 of MLQA, learnt in English only, pairs of English with 14
planned paper 1 xlu; cut -f 1 plan > names
is "$(grep -cE '^s1[.]xlm[.]xnli[.]en-..$' names)" 15
is "$(grep -cE '^s1[.]xlm[.]mlqa[.]en-..$' names)" 7
is "$(grep -cE '^s1[.]xlm[.](xnli|mlqa)[.]..$' names)" 2
is "$(awk -F'\t' '$1 == "s1.tlm.encoder"' plan | grep -o -- '--parallel' | wc -l)" 14
# mono: documents of EWT and WikiText, an empty line between them, none in two parts
planned smoke 1 mono
awk -F'\t' '$1 == "s1.albert-gc.encoder"' plan > encoder
grep -q -- '--objective mlm,sop,gc --cooc' encoder && grep -q -- '--mask-scheme ngram' encoder
mkdir -p mono/raw; cd mono
printf '# newdoc id = a\n# text = One "two".\n1\tx\n\n# text = Three.\n\n' > raw/ewt
printf '# newdoc\n# text = Four.\n' >> raw/ewt
{ printf '= Homarus = Homarus is a &lt; unk &gt; .\nIt has 3 @,@ 000 legs .\n'
  printf '= = Home = = It lives in &quot; water &quot; .\n'; } > raw/wikitext.valid
: > raw/wikitext.test
run_stage() { awk -F'\t' -v n="$1" '$1 == n { print $6 }' ../plan | bash -e; }
run_stage raw.documents
is "$(cat -s raw/documents)" "
One \"two\".
Three.

Four.

Homarus is a unk .
It has 3,000 legs .

It lives in \" water \" ."
for i in $(seq 200); do printf 'line %d a\nline %d b\n\n' $i $i; done > raw/documents
run_stage raw.parts
is "$(grep -c a raw/train.en) $(grep -c a raw/valid.en) $(grep -c a raw/test.en)" "192 4 4"
is "$(sort -u raw/*.en | grep -c a) $(tail -n 1 raw/train.en)" "200 "
cd ..

# unmt-roen, unmt-neen: how one language's text is cut, and a score for it alone
stage_of() { awk -F'\t' -v n="$1" '$1 == n' plan; }
for p in "roen ro --remove-diacritics en-ro BLEU-plain" \
    "neen ne --normalize-indic en-ne BLEU-indic"; do
    set -- $p
    planned smoke 1 unmt-$1
    stage_of tok.train.$2 | has -e "$3 < raw/train.$2" || fail "$1: $2 is cut as English"
    stage_of tok.train.en | has -e "$3" && fail "$1: English is cut as $2"
    stage_of alike.reference.$2 | has -e "$3" || fail "$1: references as they are"
    stage_of s1.mlm.score.$4 > score
    grep -qe "$3.*$5.*eval/test.$2.alike" score || fail "$1: $(cat score)"
    stage_of s1.mlm.score.$2-en | has alike && fail "$1: English has it, too"
    planned paper 1 unmt-$1; stage_of results > score; [ -s score ] || fail "$1: no plan of paper"
done
# cs-demo's translators (CS_UNMT=1): MASS goes on from MASS, in as many passes
CS_UNMT=1 planned demo 1 cs-demo
for y in more scs mass-more mass-scs; do
    [ -n "$(stage_of s1.$y.unmt)" ] || fail "no translator from $y"
    stage_of cs.results | has "s1/$y/score.xa-xb" || fail "results lack $y"
done
CS_SYSTEMS="scs scs-4" planned demo 1 cs-demo
stage_of s1.scs-4.pretrain | has -e "mlm,scs .* --scs-k 4 " || fail "scs-4 does not mix 4 words"
stage_of s1.scs.pretrain | has -e "--scs-k" && fail "scs alone has the program's own k"
stage_of s1.scs-4.hits | has "1,SCS k=4,-" || fail "no row of scs-4's own"
CS_UNMT=1 planned demo 1 cs-demo
for y in "more --accumulate.2" "scs mass,scs"; do
    set -- $y
    stage_of s1.mass-$1.pretrain | has -e "--init s1/mass/pretrain.*mass.*${2/mass,/}" ||
        fail "mass-$1: $(stage_of s1.mass-$1.pretrain)"
done
planned demo 1 cs-demo; grep -q unmt plan && fail "translators though nobody asked"
# similarity by layer of every system is on the page
stage_of cs.fig.rsim | has 'page/rsim.svg' || fail "no figure of RSIM"
for y in base base+MLM TCS SCS "TCS random" "TCS gold"; do
    stage_of cs.fig.rsim | has -F -- "--label '$y'" || fail "no $y in the figure"
done

# cloze questions: context 0 asks of its first caption, context 1 of its second
cat > captions <<'X'
Ein Hund läuft über die Straße.
Zwei Männer lachen laut.
Eine Frau läuft.
Kinder im Gras.
Ein Hund schläft.
a b c d e.
one green tree.
one tree, two.
a, b.
c.
X
LC_ALL=C awk -v what=was -f "$P/cloze-qa.awk" captions > cloze.json
is "$(grep -c '"question"' cloze.json)" 2
grep -q '"question": "Ein Hund läuft was die Straße."' cloze.json || fail "$(cat cloze.json)"
# characters, not bytes, in front of über
is "$(sed -n 's/.*"answer_start": \(.*\),/\1/p' cloze.json | tr '\n' ' ')" '15 15 '
grep -q '"question": "one was tree."' cloze.json
# the answers stand where the file says: gold as prediction is right
sed -n 's/.*"text": "\(.*\)"$/\1/p' cloze.json > words
paste <(sed -n 's/.*"id": "\(.*\)",/\1/p' cloze.json) words |
    awk -F '\t' '{ printf "%s\"%s\": \"%s\"", (n++ ? ", " : "{"), $1, $2 } END { print "}" }' > gold
both() { score -m squad --resamples 0 "$1" 2> /dev/null < gold | cut -f 3 | tr '\n' ' '; }
is "$(both cloze.json)" 'value 100.0 100.0 '
# without a model: what of the sentence most like the question is not asked; the first three words
LC_ALL=C awk -v how=lexical -f "$P/qa-baseline.awk" cloze.json > got
is "$(cat got)" "$(printf '{"0": "über",\n "1": "green"}')"
LC_ALL=C awk -v how=majority -f "$P/qa-baseline.awk" cloze.json > got
is "$(sed -n 1p got)" '{"0": "Ein Hund läuft",'

# parts of XQuAD by articles: each is in one, all questions are there
awk -v from=1 -v to=1 -f "$P/qa-part.awk" cloze.json > one
awk -v from=2 -v to=9 -f "$P/qa-part.awk" cloze.json > two
is "$(grep -c '"id"' one) $(grep -c '"id"' two)" '1 1'
grep -q '"id": "0"' one; grep -q '"id": "1"' two
is "$(both two)" 'value 100.0 100.0 '

# tags: a word's usual one, else the most frequent; a range of CoNLL-U is no word
printf 'a\tX\nb\tZ\n\nb\tY\nb\tY\nb\tZ\nc\tX\nd\tX\n\n' > train
printf 'b\tQ\nz\tQ\n\na\tQ\n\n' > test.tags
tags() { LC_ALL=C awk -v how=$1 -f "$P/tag-baseline.awk" "$2" "$3" | tr '\t\n' '/ '; }
is "$(tags lexical train test.tags)" 'b/Y z/X  a/X  '
is "$(tags majority train test.tags)" 'b/X z/X  a/X  '
printf '# text\n1-2\tim\t_\t_\t_\t_\t_\t_\t_\t_\n1\tin\t_\tADP\t_\t_\t_\t_\t_\t_\n\n' > u; cp u v
is "$(tags majority u v)" 'in/ADP  '
# and a season is a word, where a range of CoNLL-U is none
printf 'in\tO\n2000-01\tO\n\n' > u; cp u v
is "$(tags majority u v)" 'in/O 2000-01/O  '
# pairs: by common words and negation
{ echo "label	sentence1	sentence2"; printf 'e\ta b c\ta b c\ne\ta b c\ta b c\nn\ta b\tc d\n'
  printf 'c\ta b c\tno a b c\nn\tx y\tz\nn\tx\ty\n'; } > train
{ echo "label	sentence1	sentence2"
  printf '?\tp q\tp q\n?\tp q r\tno p q r\n?\tp\tq\n'; } > test.tsv
pairs() {
    LC_ALL=C awk -v how=$1 -v a=sentence1 -v b=sentence2 -f "$P/pair-baseline.awk" train test.tsv
}
is "$(pairs lexical | tr '\n' ' ')" 'e c n '; is "$(pairs majority | tr '\n' ' ')" 'n n n '
