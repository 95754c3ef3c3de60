# --row: programs print rows of results.tsv (docs/formats/results.md). Values by hand, from three
# vectors: x a e1, b e2, c -e1; z p e1, q (2, 1), r -e1.
. "$TOP/test/cli/lib.sh"
printf '3 2\na 1 0\nb 0 1\nc -1 0\n' > x.vec; printf '3 2\np 1 0\nq 2 1\nr -1 0\n' > z.vec
printf 'a\tp\nb\tq\nc\tr\n' > xz; printf 'p\ta\nq\tb\nr\tc\n' > zx
tab() { tr '\t' '|'; }

# rsim: cosines of x among one another 0 -1 0, of z 2/sqrt5 -1 -2/sqrt5: correlation 1 / sqrt(3.4);
# q is nearest to b, and a nearest to q. A system's name may have commas.
is "$(rsim -q --src x.vec --tgt z.vec --dict xz --row "7,A, B,en-de" | tab)" \
"7|A, B|en-de|RSIM|$(awk 'BEGIN { printf "%.6f", 1 / sqrt(3.4) }')
7|A, B|en-de|cosine|$(awk 'BEGIN { printf "%.6f", (2 + 1 / sqrt(5)) / 3 }')
7|A, B|en-de|aligned|1.000000
7|A, B|de-en|aligned|0.666667
7|A, B|en-de|above random|$(awk 'BEGIN { printf "%.6f", (2 + 1 / sqrt(5)) / 3 + 1 / 3 }')"
# of several layers, one measure after the other; in the order of --as; in per cent; beside the
# table
{ cat xz; printf 'a\ta\nb\tb\nc\tc\n'; } > all
rsim -q --src x.vec --tgt z.vec --src x.vec --tgt x.vec --dict all --row 1,M,same \
    --as align-back%=back --as 'cosine=the *' --rows-to rows > table
is "$(tab < rows)" "1|M|same|back layer 0|66.6667
1|M|same|back layer 1|100
1|M|same|the cosine layer 0|0.815738
1|M|same|the cosine layer 1|1.000000"
is "$(cut -f 1-2 table | tab)" "layer|pairs
0|3
1|3"
# what fewer pairs than --fewest say is nan, and no row
rsim -q --src x.vec --tgt z.vec --dict xz --fewest 4 --row 1,M,- --rows-to rows > table
is "$(cut -f 1-6 table | tab)" "layer|pairs|rsim|cosine|align-to|align-back
0|3|nan|nan|nan|nan"
is "$(wc -c < rows)" 0
rsim -q --src x.vec --tgt z.vec --dict xz --fewest 3 | cut -f 4 | tail -n 1 > cosine
is "$(cat cosine)" "$(awk 'BEGIN { printf "%.6f", (2 + 1 / sqrt(5)) / 3 }')"

# retrieve: accuracy both ways; a mined pair is right if its rows have one number: of 3, a-p and c-r
is "$(retrieve -q --src x.vec --tgt z.vec --row 1,M,en-de --as '*=test *' | tab)" \
"1|M|en-de|test accuracy|1.0000
1|M|de-en|test accuracy|0.6667"
is "$(retrieve -q --src x.vec --tgt z.vec --mine 0.5 --row 1,M,- --rows-to rows | cut -f 1)" \
"1.000000
1.000000"
is "$(cut -f 4- rows | tab)" "pairs mined|2
precision|1
recall|0.666667
F1|0.8"
# (1, 0) and (0, 1) are 1/2 apart from what else they are near: above that nothing is mined, and of
# nothing nothing is right
printf 'a 1 0\nb 0 1\n' > two.vec
is "$(retrieve -q --src two.vec --tgt two.vec --score distance -k 2 --mine 0.6 --row 1,M,- |
    cut -f 4- | tab)" "pairs mined|0
precision|0
recall|0
F1|0"

# dict-induce: of q the nearest is a
is "$(dict-induce -q --src z.vec --tgt x.vec --method nn --normalize none --eval zx \
    --row -,W,- --as hit@1=Hit --as 'hit@1%=own copy of 3' --as hit@5 | tab)" "-|W|-|Hit|0.6667
-|W|-|own copy of 3|66.67
-|W|-|hit@5|1.0000"
# layers as a table: 1.96 sqrt(2/3 1/3 / 3)
{ cat zx; printf 'p\tp\nq\tq\nr\tr\n'; } > all
dict-induce -q --src z.vec --tgt x.vec --src z.vec --tgt z.vec --method nn --eval all \
    --row 1,M,- --as hit@1 --rows-to rows > table
is "$(sed -n 2p table | cut -f 1-3,7 | tab)" \
    "0|3|0.6667|$(awk 'BEGIN { printf "%.4f", 1.96 * sqrt(2 / 27) }')"
is "$(tab < rows)" "1|M|-|Hit@1 layer 0|0.6667
1|M|-|Hit@1 layer 1|1.0000"
fails 2 'several layers are only measured' dict-induce --src x.vec --tgt z.vec --src x.vec \
    --tgt z.vec
fails 2 '--row needs --eval' dict-induce --src x.vec --tgt z.vec --row 1,M,-

# analogy: categories by name; with --targets a row is a question, and none without vectors
printf '4 2\nking 1 1\nman 1 0\nwoman 2 0\nqueen 2 1\n' > w.vec
printf ': royal\nking man woman queen\nking man woman duchess\n: none\nx y z w\n' > questions
is "$(analogy -q --vec w.vec --row 1,M,- questions | tab)" "1|M|-|analogy royal|1.0000"
# what stands before the first name is in "all" alone; king - man + woman is king's direction
is "$(sed 1d questions | analogy -q --vec w.vec --row 1,M,- --rows-to rows | tab)" \
"category|questions|asked|accuracy|cosine
|2|1|1.0000|$(awk 'BEGIN { printf "%.4f", 3 / sqrt(10) }')
none|1|0|nan|nan
all|3|1|1.0000|$(awk 'BEGIN { printf "%.4f", 3 / sqrt(10) }')"
is "$(wc -c < rows)" 0
# without a row there is a word, and not silence: none has a name, none has a value
printf 'king man woman queen\n' | analogy -q --vec w.vec --row 1,M,- > rows 2> note
is "$(cat rows note)" "analogy: --row: there is no row: nothing that has a name was measured"
printf 'x man woman\n' | analogy -q --vec w.vec --targets queen --row 1,M,- > rows 2> note
is "$(cat rows note)" "analogy: --row: there is no row: no measure has a value"
is "$(printf 'king man woman\nx man woman\n' | analogy -q --vec w.vec --targets queen,man \
    --row 2,M,- | tab)" "2|M|king-man+woman|queen|1.0000
2|M|king-man+woman|man|$(awk 'BEGIN { printf "%.4f", 2 / sqrt(5) }')"

# bleu: the metric is called as sacreBLEU calls it; half of an interval is a sixth column
printf 'The cat sat on the mat .\nA dog ran by .\n' > ref; tr A-Z a-z < ref > hyp
is "$(bleu -w 2 --force --lowercase -m bleu chrf --row 1,M,en-de ref < hyp | cut -f 1-4 | tab)" \
"1|M|en-de|BLEU
1|M|en-de|chrF2"
is "$(bleu -w 2 --force --lowercase --row 1,M,en-de --as BLEU=BLEU-lc ref < hyp | tab)" \
    "1|M|en-de|BLEU-lc|100.00"
is "$(bleu --multi --row -,copying,en-de ref < ref | tab)" "-|copying|en-de|multi-bleu|100.00"
is "$(bleu -w 1 --force --confidence --row 1,M,- ref < ref | tab)" "1|M|-|BLEU|100.0|0.0"
# ... in the unit of the value. Resamples of two lines, one right and one wrong, are 0 to 100%
# right: the middle 95% are all of them, and half of their width is 50
printf 'a b c d\na b c d\n' > two.ref; printf 'a b c d\nx\n' > two.hyp
bleu -w 4 -m chrf --confidence --row 1,M,- two.ref < two.hyp | cut -f 5- > plain
bleu -w 4 -m chrf --confidence --row 1,M,- --as 'chrF2%' two.ref < two.hyp | cut -f 5- > percent
is "$(cat percent)" "$(awk '{ printf "%.6g\t%.6g", 100 * $1, 100 * $2 }' plain)"
is "$(cut -f 2 plain)" 50.0000
fails 2 "--row is for the scores of one system" bleu --sentence-level --row 1,M,- ref

# score: 2 of 4 are right, 3 of the other system
{ printf 'label\tsentence1\tsentence2\n'
  printf '%s\ta\tb\n' neutral entailment neutral entailment; } > gold
printf 'neutral\n%.0s' 1 2 3 4 > one; sed '2s/.*/entailment/' one > two
is "$(score -m accuracy --resamples 0 --row 3,M,de --as '*=NLI *' de=gold < one | tab)" \
    "3|M|de|NLI accuracy|50.0"
is "$(score -m accuracy --resamples 0 --trials 0 --row 3,M,- --as accuracy=SUP \
    --as against-accuracy=ZS --as difference-accuracy=Delta gold --pred two --against one | tab)" \
"3|M|-|SUP|75.0
3|M|-|ZS|50.0
3|M|-|Delta|25"

# the end of a log: 36 ^ (1 / 3) = 3.302 is single tokens' perplexity, times exp(-0.05) 3.141
# half of an interval may follow
printf -- '-\tsingle tokens\t-\tperplexity\t3.302\t0.001\n' > unigram
for x in 3.2 3.1; do
    { echo '{"event":"train","step":1,"gc":0.2,"gc_constant":0.8,"perplexity":7}'
      echo '{"event":"valid","step":1,"en.perplexity":8,"perplexity":99}'
      echo '{"event":"valid","step":2,"en.perplexity":9,"en.accuracy":0.25,"perplexity":'$x'}'
      printf '{"event":"valid","step":3,"perpl'; } > log
    score --log log --unigram unigram --row 2,Y,-
done | cut -f 4- | tab > got
is "$(cat got)" "perplexity|3.2
collapsed|1
explained|0.75
perplexity|3.1
collapsed|0
explained|0.75"
is "$(score --log log --row 1,M,en --as en.accuracy=NLI | tab)" "1|M|en|NLI|0.25"
echo '{"event":"valid","step":4,"perplexity":5,"en.sop_accuracy":0.75,"de.sop_accuracy":0.5}' \
    > sop
is "$(score --log sop --row 1,M,- | cut -f 4- | tab)" "perplexity|5
sop_accuracy|0.75"
echo '{"event":"valid","step":4,"de.mass_perplexity":5,"mass_perplexity":6}' > mass
is "$(score --log mass --row 1,M,- | cut -f 4- | tab)" "mass_perplexity|6"
# what has no usual title is rows only by its name
echo '{"event":"valid","step":4,"de-en.bleu":5,"bleu":6,"en-de.bleu":null}' > bleu
is "$(score --log bleu --row 1,M,- 2>&1)" "score: --row: there is no row: none of the usual \
measures was measured; name others with --as, there are step de-en.bleu bleu"
# null is a number that was not finite, and not that of a line before
printf '%s\n' '{"event":"valid","step":2,"perplexity":3.1}' \
    '{"event":"train","step":3,"gc":0.2,"gc_constant":0.8}' \
    '{"event":"train","step":4,"gc":null,"gc_constant":0.8}' \
    '{"event":"valid","step":4,"perplexity":null}' > diverged
is "$(score --log diverged --unigram unigram | tab)" "perplexity|nan
collapsed|1
explained|nan
step|4"
sed 1q log > begun; fails 1 'begun: has no validation' score --log begun
fails 1 'first line is no row' score --log log --unigram xz
: > empty; fails 1 'empty: the first line is no row' score --log log --unigram empty
printf -- '-\tsingle tokens\tperplexity\t3.302\n' > four
fails 1 'four: the first line is no row' score --log log --unigram four

# what is wrong is said at once, and nothing is written
r() { rsim -q --src x.vec --tgt z.vec --dict xz "$@"; }
fails 2 '--row "1,MLM": expected SEED,SYSTEM,DIRECTION' r --row 1,MLM
fails 2 'the seed "one" is neither' r --row one,MLM,-
fails 2 '--as needs --row' r --as rsim
fails 2 '--as speed: there is no such measure; there are rsim cosine ' r --row 1,M,- --as speed
fails 1 '--as LANG: was not measured; there are accuracy' score -m accuracy --row 1,M,- \
    --as LANG=x gold --pred one
fails 2 'nowhere/rows' r --row 1,M,- --rows-to nowhere/rows
