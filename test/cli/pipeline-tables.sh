# What the experiments' small scripts compute: means, intervals and paired tests; case; shuffling;
# being on track.
. "$TOP/test/cli/lib.sh"
P=$TOP/pipelines
rows() { tr ' ' '\t' | sed 's/_/ /g'; }
rows > results.tsv <<'R'
- copying en-de BLEU 1.234
1 MLM en-de BLEU 10.1
2 MLM en-de BLEU 11.1
3 MLM en-de BLEU 10.5
1 MLM-GC en-de BLEU 12.1
2 MLM-GC en-de BLEU 12.0
3 MLM-GC en-de BLEU 12.9
1 MLM - Hit@1 0.3
1 MLM-GC - Hit@1 0.35
R
# t(0.975, 2) = 4.302653; differences 2.0 0.9 2.4: mean 1.7667, standard error 0.4485, t = 3.939, p
# = 0.0588 (R: t.test)
score --compare --tsv results.tsv > got
printf '%s\t%s\t%s\n' system 'en-de BLEU' Hit@1  copying 1.23 ''  MLM '10.57 ±1.25' 0.300 \
    MLM-GC '12.33 ±1.23' 0.350  'MLM-GC - MLM' '+1.77 ±1.93' +0.050 \
    '  paired t-test' p=0.059 '' > want
same got want
score --compare results.tsv > got
grep -q 'MLM-GC - MLM *+1.77 ±1.93 *+0.050' got || fail "$(cat got)"
for k in 1 2 3; do printf '%s\tMLM\ten-de\tBLEU\t1%s\n%s\tMLM-GC\ten-de\tBLEU\t2%s.00%s\n' $k $k \
    $k $k $k; done > clear.tsv
score --compare clear.tsv | has 'p<0.001' || fail "$(score --compare clear.tsv)"
# systems by the names of their folders, too: mlm, mlm-gc
sed 's/MLM-GC/mlm-gc/; s/MLM/mlm/' results.tsv > small.tsv
score --compare --tsv small.tsv | sed 's/mlm/MLM/g; s/gc/GC/' | grep -e - > got
grep -e - want > want.rows; same got want.rows
# wrong translations: as many lines, every word once on either side, none where it was
for i in 1 2 3 4 5; do printf 'a%s\tb%s\t0.5\n' $i $i; done | awk -f "$P/rotate-dict.awk" > got
awk -F'\t' 'substr($1, 2) == substr($2, 2) { exit 1 } { n[$2]++ } END {
    exit !(NR == 5 && length(n) == 5) }' got ||
    fail "rotate-dict: $(cat got)"
grep -v '^[23]' results.tsv > one.tsv
score --compare one.tsv | has 'MLM-GC  *12.10' || fail "one seed has no interval"
score --compare one.tsv | has 't-test' && fail "a test of one pair"
# 12 columns of 10 beside names of 6: nine fit into 100, the others stand below, systems named again
for s in MLM MLM-GC; do for c in {1..12}; do printf '1\t%s\t-\tm%d\t%d\n' $s $c $((10 * c))
    done; done | sed 's/MLM-GC/MLMxGC/' > many.tsv
score --compare many.tsv > got
part() {    # the columns FIRST to LAST of the two systems
    local c s
    printf '%6s' ''; for ((c = $1; c <= $2; c++)); do printf '%10s' m$c; done; echo
    for s in MLM MLMxGC; do
        printf '%-6s' $s; for ((c = $1; c <= $2; c++)); do printf '%10s' $((10 * c)).000; done; echo
    done
}
same got <(part 1 9; echo; part 10 12; echo one seed)
# a cell that is empty keeps its place; no blanks behind a line's last cell
printf '1\tA\ten-de\tx\t1\n1\tA\t-\ty\t2\n1\tB\t-\ty\t3\n' | score --compare > got
same got <(printf '%11s\n%11s%10s\nA%10s%10s\nB%20s\none seed\n' en-de x y 1.000 2.000 3.000)
# names that fill the line by themselves: one column at a time, not none
sed 's/MLMxGC/MLMxGC'"$(printf '%0120d' 0)"'/' many.tsv | score --compare > got
is "$(grep -c '^MLM ' got)" 12 "a column each where names fill the line"

# case: the marker a word usually has inside sentences; a sentence's first word
printf '⇧ ein ⇧ hund bellt .\n⇧ der ⇧ hund und die ⇪ eu\n⇧ bellt er ?\n' > corpus
is "$(printf 'hund der hund bellt .\n( die eu\n' |
    awk -f "$P/case.awk" corpus -)" "⇧ hund der ⇧ hund bellt .
( ⇧ die ⇪ eu"

# shuffling keeps the lines, and nearly none where it was, the same each time
seq 1000 > lines; "$P/shuffle" < lines > a; "$P/shuffle" < lines > b; same a b
sort -n a | cmp - lines
[ "$(paste a lines | awk '$1 == $2' | wc -l)" -lt 20 ] || fail "lines stayed in place"

# on track: curves from logs; another seed is held against seed 1; 15% of perplexity are allowed
for s in 1 2; do mkdir -p run/s$s/mlm/pretrain; for k in 50 100 250 500 1000; do
    echo "{\"event\":\"train\",\"step\":$k,\"perplexity\":1}"
    printf '{"event":"valid","step":%s,"time":1.5,"en.perplexity":3,"perplexity":%s.25}\n' \
        $k $((10000 / k)); done > run/s$s/mlm/pretrain/log.jsonl; done
"$P/curves" run | grep s1 > reference.tsv
is "$(head -n 1 reference.tsv)" "$(printf 's1/mlm/pretrain\t50\tperplexity\t200.25')"
"$P/check" run reference.tsv > out; is "$(grep -c 'on track' out)" 8
sed -i 's/"step":100,\(.*\)100.25/"step":100,\1116.25/' run/s2/mlm/pretrain/log.jsonl
got=0; "$P/check" run reference.tsv > out || got=$?
is "$got" 1; is "$(grep 'OFF' out |
    sed 's/  */ /g')" "s2/mlm/pretrain step 100 perplexity 116.25, reference 100.25: OFF"
# of several references the first that has a step counts, and one that is not there is none
sed 's|s1/mlm|s1/gc|; s/.25$/.5/' reference.tsv > other.tsv; cp -R run/s1/mlm run/s1/gc
sed 's/.25$/.75/' reference.tsv >> other.tsv
{ "$P/check" run none.tsv reference.tsv other.tsv || true; } | awk '$3 == 1000 {
    print $1, $5, $6, $7, $8, $9 }' > out
is "$(cat out)" "s1/gc/pretrain 10.25, reference 10.50: on track
s1/mlm/pretrain 10.25, reference 10.25: on track
s2/mlm/pretrain 10.25, reference 10.25: on track"
rm -r run/s1/gc
# seeds of a part of a run, too
mkdir -p parts/same; cp -R run/s2 parts/same; sed 's|^|same/|' reference.tsv > parts.tsv
got=0; "$P/check" parts parts.tsv > out || got=$?
is "$got $(grep -c 'on track' out) $(grep OFF out | cut -c 1-16)" "1 3 same/s2/mlm/pret"
sed -i '/"step":[25]00*/d' run/s1/mlm/pretrain/log.jsonl
mkdir ref; cp "$P/reference/unmt-deen-mini.tsv" ref
"$P/check" run ref/toy-mini.tsv > out
is "$(cat out)" "check: nothing to compare: toy-mini has no reference curves,\
 which make reference/toy SCALE=mini makes of a run that went well; there are: unmt-deen-mini"

# word by word: the best translation, and what the dictionary lacks as it is
printf 'ein\ta\t0.9\nhund\tcat\t0.2\nhund\tdog\t0.8\n' > dict
is "$(printf 'ein hund 7 .\n\nhund\n' | awk -f "$P/word-by-word.awk" dict -)" "a dog 7 .

dog"
# vectors of pieces: means over the words of both languages, by counts; words keep theirs
printf '3 2\nab 1 0\nc 0 1\nb 4 4\n' > a.vec; printf 'ab 3\ta@@ b\nc 1\tc\nb 1\tb\n' > a.pieces
printf '2 2\nad 0 2\nc 5 5\n' > b.vec; printf 'ad 1\ta@@ d\nc 2\tc\nab 9\ta@@ b\n' > b.pieces
is "$(awk -f "$P/piece-vectors.awk" a.vec a.pieces b.vec b.pieces)" "ab 1 0
c 0 1
b 4 4
ad 0 2
a@@ 0.75 0.5
d 0 2"

# lines about the same thing, joined
is "$(printf '%s\n' a b c '' e 'f g' h | awk -v APART=3 -f "$P/join-lines.awk")" "a  h
b e
c f g"
is "$(printf '%s\n' a b | awk -v APART=3 -f "$P/join-lines.awk")" "a
b"

# analyses: questions made of a dictionary; a page with tables and pictures
printf 'one 3\ntwo 2\nsix 1\n' > a.vocab; printf 'eins 3\nzwei 2\nsechs 1\n' > b.vocab
printf 'one\teins\none\tein\ntwo\tzwei\nten\tzehn\nsix\tsechs\n' > gold
is "$(awk -f "$P/pair-analogies.awk" a.vocab b.vocab gold)" "$(printf \
    ': translation\none eins zwei two\ntwo zwei sechs six\nsix sechs eins one')"
# a word and its copy are none, but 10 and 10. are two words
printf '10 3\n2 2\n' > a.vocab; printf '10. 3\n2 2\n2.0 1\n' > b.vocab
printf '10\t10.\n2\t2\n2\t2.0\n' > gold
is "$(awk -f "$P/pair-analogies.awk" a.vocab b.vocab gold)" \
    "$(printf ': translation\n10 10. 2.0 2\n2 2.0 10. 10')"
printf 'one 3\ntwo 2\nsix 1\n' > a.vocab
mkdir -p r/analysis/tables r/analysis/fig r/s1/mlm/analysis
{ echo '# Measures'; grep Hit results.tsv; } > r/analysis/tables/1.rows
printf '<?xml version="1.0"?>\n<svg viewBox="0 0 10 10"></svg>\n' > r/analysis/fig/1.svg
printf 'ein\tone\t0.5\nzwei\ttwo\t0.9\n' > r/s1/mlm/analysis/dictionary.tsv
BIN=$BIN "$P/analysis-page" r plan 'A & B' > got
grep -q 'MLM-GC - MLM *+0.050' got || fail "$(cat got)"
grep -q '<td data-label="target">two</td><td class="n" data-label="CSLS">0.9</td>' \
    r/analysis.html && grep -q '<svg' r/analysis.html && grep -q 'A &amp; B' r/analysis.html ||
        fail "the page"

# perplexity of single tokens; by hand: two types of 3 tokens, one added to each count and one
# unknown type: (3/6) of a, (2/6) of b, (1/6) of what is new
printf 'a a b\n' > train; printf 'a b\nz\n' > valid
awk -f "$P/unigram.awk" train valid > unigram
is "$(cut -f5 unigram)" "$(awk 'BEGIN { printf "%.4f", exp(-log(3 / 6 * 2 / 6 * 1 / 6) / 3) }')"
awk -f "$P/unigram.awk" train valid train train | cut -f5 > both
is "$(cat both)" "$(awk 'BEGIN {
    printf "%.4f", exp((-log(3 / 6 * 2 / 6 * 1 / 6) / 3 - log(3 / 6 * 3 / 6 * 2 / 6) / 3) / 2) }')"

# words of like frequency exchanged: a permutation of each BIN ranks, what is unknown stays
for ((i = 0; i < 20; i++)); do echo "w$i $((40 - i))"; done > types
awk '{ print $1 }' types | paste -sd ' ' > words; echo unknown >> words
awk -v BIN=8 -v SEED=1 -f "$P/permute-types.awk" types words > exchanged
for r in 1-8 9-16 17-20; do
    is "$(head -n 1 exchanged | cut -d' ' -f$r | tr ' ' '\n' | sort | paste -sd ' ')" \
        "$(head -n 1 words | cut -d' ' -f$r | tr ' ' '\n' | sort | paste -sd ' ')" "words of a bin"
done
is "$(tail -n 1 exchanged)" unknown
# none stands for itself, also where the last bin would have one word: those counts would be true
for n in 2 17 20; do
    head -n $n types > some; cut -d' ' -f1-$n words > line
    for seed in 1 2 3 4 5; do
        awk -v BIN=8 -v SEED=$seed -f "$P/permute-types.awk" some line | sed -n 1p | tr ' ' '\n' |
            paste - <(head -n 1 line | tr ' ' '\n') | awk '$1 == $2' > stay
        [ ! -s stay ] || fail "$n types, seed $seed: $(cat stay)"
    done
done
awk -v BIN=8 -v SEED=2 -f "$P/permute-types.awk" types words | cmp -s - exchanged &&
    fail "the seed is ignored"

# "#compare": any two systems, seed by seed; published tables as they were printed
{ printf '#compare\tMLM-GC\tother\n'; sed 's/MLM\t/other\t/' results.tsv; } > compare.tsv
score --compare compare.tsv > got
grep -q 'MLM-GC - other *+1.77 ±1.93 *+0.050' got || fail "$(cat got)"
# one that is asked for twice, or of a system that has no results yet, is no line of its own;
# differences that are all the same have no t
{ printf '#compare\tMLM-GC\tMLM\n#compare\tMLM-GC\tnone\n'; cat results.tsv; } |
    score --compare > got
is "$(grep -c ' - ' got)" 1 "$(cat got)"
printf '%s\tX%s\t-\tm\t%s\n' 1 '' 1 2 '' 2 1 -GC 2 2 -GC 3 | score --compare --tsv | tail -n 2 > got
same got <(printf 'X-GC - X\t+1.000 ±0.000\n  paired t-test\tp=-\n')
# also where they differ by the rounding of decimals: 0.85 - 0.8 is not 0.9 - 0.85
for s in 1:0.8:0.85 2:0.85:0.9 3:0.9:0.95; do
    IFS=: read -r seed x gc <<< "$s"
    printf '%s\t%s\t-\tm\t%s\n' $seed X $x $seed X-GC $gc
done | score --compare --tsv | tail -n 2 > got
same got <(printf 'X-GC - X\t+0.050 ±0.000\n  paired t-test\tp=-\n')
"$P/published" -v paper=A -v table=1 "$P"/reference/paper/*.tsv > got
grep -q '^published: MLM-GC, table 1$' got || fail "$(cat got)"
grep -q '^XLM+GC no 1/(2n)  *fail$' got || fail "$(cat got)"
is "$("$P/published" -v paper=A -v table=4 "$P"/reference/paper/*.tsv | sed -n 's/^mBART *//p')" \
    "34.0       29.8       30.5       35.0       10.0        4.4"
fails 1 'paper A has no table 99' "$P/published" -v paper=A -v table=99 \
    "$P"/reference/paper/mlm-gc.tsv
