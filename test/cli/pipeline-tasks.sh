# tasks-deen: its stages, and what makes its data: splits that share nothing, cloze questions, and
# baselines, by hand.
. "$TOP/test/cli/lib.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS CORPUS_CACHE RUN SEEDS SCALE LIFELINE A B DEVICE
P=$TOP/pipelines
planned() {
    TOP=$TOP BIN=$BIN EXPERIMENTS=$P/experiments SCALE=$1 SEEDS="$2" DEVICE=auto \
        "$P/plan" tasks-deen | grep -v '^#' > plan
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
    grep -q -- '--valid en=task/pos/valid.en.conllu --valid de=task/pos/valid.de.conllu'
planned smoke "1 2"; is "$(grep -c '^s2\.' plan)" "$(grep -c '^s1\.' plan)"
grep -oE '/sources.tsv [a-z0-9]+/[A-Za-z0-9_./-]+' plan | cut -d' ' -f2 | sort -u > named
is "$(wc -l < named)" 21
for n in $(cat named); do
    awk -F'\t' -v n="$n" '$1 == n && length($2) == 64 && NF >= 3 { ok = 1 } END { exit !ok }' \
        "$P/sources.tsv" || fail "$n in sources.tsv"
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
awk -v what=was -f "$P/cloze-qa.awk" captions > cloze.json
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
awk -v how=lexical -f "$P/qa-baseline.awk" cloze.json > got
is "$(cat got)" "$(printf '{"0": "über",\n "1": "green"}')"
awk -v how=majority -f "$P/qa-baseline.awk" cloze.json > got
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
tags() { awk -v how=$1 -f "$P/tag-baseline.awk" "$2" "$3" | tr '\t\n' '/ '; }
is "$(tags lexical train test.tags)" 'b/Y z/X  a/X  '
is "$(tags majority train test.tags)" 'b/X z/X  a/X  '
printf '# text\n1-2\tim\t_\t_\t_\t_\t_\t_\t_\t_\n1\tin\t_\tADP\t_\t_\t_\t_\t_\t_\n\n' > u; cp u v
is "$(tags majority u v)" 'in/ADP  '
# pairs: by common words and negation
{ echo "label	sentence1	sentence2"; printf 'e\ta b c\ta b c\ne\ta b c\ta b c\nn\ta b\tc d\n'
  printf 'c\ta b c\tno a b c\nn\tx y\tz\nn\tx\ty\n'; } > train
{ echo "label	sentence1	sentence2"
  printf '?\tp q\tp q\n?\tp q r\tno p q r\n?\tp\tq\n'; } > test.tsv
pairs() { awk -v how=$1 -v a=sentence1 -v b=sentence2 -f "$P/pair-baseline.awk" train test.tsv; }
is "$(pairs lexical | tr '\n' ' ')" 'e c n '; is "$(pairs majority | tr '\n' ' ')" 'n n n '
