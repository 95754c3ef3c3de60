# score prints what the official scripts print, to the last digit, and says in one line what is
# wrong with its input.
. "$TOP/test/cli/lib.sh"
g=$TOP/test/golden/score

# ours: case<TAB>metric<TAB>value, as expected.tsv has it
ours() { local case=$1; shift; score --quiet --resamples 0 "$@" |
    awk -v c="$case" -F '\t' 'NR > 1 { print c "\t" $2 "\t" $3 }'; }
{
    for l in en es de vi ar hi zh; do
        ours mlqa.$l -m mlqa $l="$g/$l.gold.json" < "$g/$l.pred.json"
        ours squad.$l -m squad "$g/$l.gold.json" < "$g/$l.pred.json"
    done
    ours squad2.plain -m squad2 "$g/squad2.gold.json" < "$g/squad2.pred.json"
    ours squad2.odds -m squad2 "$g/squad2.gold.json" \
        --na-prob "$g/squad2.odds.json" < "$g/squad2.pred.json"
    ours squad2.above -m squad2 "$g/squad2.gold.json" --na-prob "$g/squad2.odds.json" \
        --na-threshold 0.45 < "$g/squad2.pred.json"
    for c in bio iobes upos; do
        ours chunk.$c -m chunk-f1 "$g/$c.gold" < "$g/$c.pred"
        ours tag.$c -m tag-accuracy "$g/$c.gold" < "$g/$c.pred"
    done
} > got
grep -vE '^(conlleval|spearman|pearson)' "$g/expected.tsv" > want
same got want
is "$(wc -l < want)" 66 "numbers of the official scripts"
# conlleval prints two decimals
score -q -m chunk-f1 --digits 2 --resamples 0 "$g/bio.gold" < "$g/bio.pred" |
    awk -F '\t' 'NR > 1 { print $2, $3 }' > got
same got <(awk -F '\t' '/^conlleval/ { printf "%s %.2f\n", $2, $3 }' "$g/expected.tsv")
# scipy adds in another order: twelve digits
for c in few many ties; do
    for m in spearman pearson; do
        score -m $m --resamples 0 "$g/$c.x" < "$g/$c.y" |
            awk -F '\t' -v c="$m.$c" 'NR > 1 { print c "\t" $2 "\t" $3 }'
    done
done > got
grep -E '^(spearman|pearson)' "$g/expected.tsv" | paste got - |
    awk -F '\t' \
        '$1 != $4 || $2 != $5 || ($3 - $6) ^ 2 > 1e-24 * $6 ^ 2 + 1e-60 { print; bad = 1 }
        END { if (NR != 12 || bad) exit 1 }'

# Intervals and paired tests. Gold 1 (100 times), a system that is right 80 times, one that is right
# 60 times and never alone: 95% of a mean of 100 draws at 0.8 is about 80 +- 7.8; McNemar's p is 2 *
# 0.5^20; randomization cannot find 20 of 20 signs.
for i in $(seq 100); do echo A; done > gold
awk '{ print NR <= 80 ? "A" : "B" }' gold > a; awk '{ print NR <= 60 ? "A" : "B" }' gold > b
score -q -m accuracy --pred a --against b gold > got
awk -F '\t' \
    'NR == 2 && $3 == 80 && $4 > 70 && $4 < 74 && $5 > 86 && $5 < 89 &&
    $7 == 60 && $8 == 20 && $9 < 0.00011 && $9 > 0.00009 &&
    ($10 * 2 ^ 19 - 1) ^ 2 < 1e-18 { ok = 1 } END { exit !ok }' got ||
        { cat got; fail "intervals and tests"; }
is "$(head -1 got | tr '\t' ' ')" \
    "language metric value low high examples against difference randomization-p mcnemar-p"
score -q -m accuracy --pred a --against a gold |
    awk -F '\t' 'NR == 2 && $8 == 0 && $9 == 1 && $10 == 1 { ok = 1 } END { exit !ok }' ||
    fail "a system differs from itself"
# 30 that only one got right, 28 that only the other: 1 - P(29 of 58 heads) = 1 - 0.1042
awk '{ print (NR > 30 && NR <= 58 ? "B" : "A") }' gold > c
awk '{ print NR <= 30 ? "B" : "A" }' gold > d
score -q -m accuracy --pred c --against d gold |
    awk -F '\t' 'NR == 2 && $8 == 2 && $9 > 0.885 && $9 < 0.907 { ok = 1 } END { exit !ok }' ||
    fail "the randomization test of 30 against 28"
score -q -m accuracy --pred a --against b gold --threads 2 > again; same got again
score -q -m accuracy --pred a --against b gold --seed 2 > other; cmp -s got other &&
    fail "another seed, the same resamples"
# the mean over languages, and JSON
score -q -m accuracy en=gold de=gold --pred de=b --pred en=a --resamples 0 | cut -f1-3,6 |
    tr '\t\n' ' /' > got
is "$(cat got)" \
    "language metric value examples/en accuracy 80.0 100/"\
"de accuracy 60.0 100/mean accuracy 70.0 200/"
is "$(score -q -m accuracy en=gold --pred a --json --resamples 0 | tr -d '\n')" \
   '[  {"language": "en", "metric": "accuracy", "examples": 100, '\
'"value": 80.0, "low": null, "high": null}]'
is "$(score -q -m accuracy en=gold de=gold --pred de=b --pred en=a --json --resamples 0 |
    tr -d '\n ' | sed 's/,"examples":[0-9]*,/,/g; s/,"low":null,"high":null//g')" \
   '[{"language":"en","metric":"accuracy","value":80.0},{"language":"de","metric":"accuracy",'\
'"value":60.0},{"language":"mean","metric":"accuracy","value":70.0}]'
# its interval is of both languages' resamples: 1.96 sqrt(0.8 0.2 / 100 + 0.6 0.4 / 100) / 2 is 6.2
# points; where one gains what the other loses there is no difference
score -q -m accuracy en=gold de=gold --pred de=b --pred en=a > got
awk -F '\t' '$1 == "mean" && $4 > 63.2 && $4 < 64.4 && $5 > 75.6 && $5 < 76.8 { ok = 1 }
    END { exit !ok }' got || { cat got; fail "the interval of a mean"; }
score -q -m accuracy en=gold de=gold --pred en=a --pred de=b --against en=b --against de=a > got
is "$(awk -F '\t' 'NR > 1 { print $1, $7, $8, $9 == 1 }' got | tr '\n' ,)" \
    "en 60.0 20.0 0,de 80.0 -20.0 0,mean 70.0 0.0 1,"
# chunks on bare tags, by hand: NOUN NOUN is one chunk, SCONJ SCONJ two
printf 'NOUN\nNOUN\nVERB\n\nSCONJ\nSCONJ\n' > gold.tags
printf 'NOUN\nVERB\nVERB\n\nSCONJ\nSCONJ\n' > pred.tags
is "$(score -m chunk-f1 --resamples 0 gold.tags < pred.tags |
    awk -F '\t' '{ printf "%s ", $3 }')" "value 50.0 50.0 50.0 "
is "$(score -m tag-accuracy --resamples 0 gold.tags < pred.tags |
    awk -F '\t' 'END { print $3 }')" 80.0

# one sentence of bare tags, with no blank line
printf 'NOUN\nVERB\n' > one.tags
is "$(printf 'NOUN\nNOUN\n' | score -m tag-accuracy --resamples 0 one.tags |
    awk -F '\t' 'END { print $3 }')" 50.0

# NLI's labels have one spelling, whatever the file's
printf 'premise\thypo\tlabel\na\tb\tcontradictory\nc\td\tneutral\n' > mt.tsv
is "$(printf 'CONTRADICTION\nneutral\n' | score -q -m accuracy mt.tsv --resamples 0 |
    awk -F '\t' 'END { print $3 }')" 100.0

# a multi-word token is two words, or one; quotes of a csv file
printf '1-2\tim\t_\t_\t_\t_\t_\t_\t_\t_\n1\tin\t_\tADP\t_\t_\t3\t_\t_\t_\n'\
'2\tdem\t_\tDET\t_\t_\t3\t_\t_\t_\n3\tHaus\t_\tNOUN'\
'\t_\t_\t0\t_\t_\t_\n\n' > u
is "$(printf 'ADP\nDET\nX\n' | score -m tag-accuracy --resamples 0 --digits 2 u |
    awk -F '\t' 'END { print $3 }')" 66.67
# no digit is as many as are asked for, too: 2 of 3
for to in '' '--row 1,a,b'; do
    is "$(printf 'ADP\nDET\nX\n' | score -m tag-accuracy --resamples 0 --digits 0 $to u |
        awk -F '\t' 'END { print $(NF == 5 ? 5 : 3) }')" 67
done
is "$(printf 'im\tADP\nHaus\tX\n' | score -m tag-accuracy --resamples 0 --words fused u |
    awk -F '\t' 'END { print $3 }')" 50.0
printf 'a\tb\t"neutral"\n' > c.tsv
is "$(echo neutral | score -m accuracy --resamples 0 --csv --format xtreme-pairs c.tsv |
    awk -F '\t' 'END { print $3 }')" 100.0
fails 1 'unknown label' score -m accuracy --format xtreme-pairs c.tsv

# equal numbers have no correlation, and no row; r of 1 2 3 and 1 3 2 is 1 - 6 * 2 / 24
printf '%s\n' 1 2 3 > n
printf '%s\n' 1 3 2 > p; printf '%s\n' 1 1 1 > flat
is "$(score -m pearson -p flat --row 1,a,b n 2>&1)" \
    'score: --row: there is no row: no measure has a value'
is "$(score -m pearson -p p --against flat --row 1,a,b n |
    awk '{ printf "%s %.3f,", $4, $5 }')" 'pearson 0.500,p 0.667,'
is "$(score -qm pearson -p p --against flat n | awk -F '\t' 'NR == 2 { print $7, $8, $9 }')" '- - -'

# what is wrong with predictions and gold: one line each
fails 1 'standard input: has 99 predictions, but gold has 100 examples' bash \
    -c "head -99 a | score -m accuracy gold"
fails 1 "standard input:2: 'neutrl' is none of the labels entailment, neutral, contradiction" bash \
    -c "printf 'neutral\nneutrl\n' | score -m accuracy mt.tsv"
fails 1 'standard input:2: one of the blank lines' bash \
    -c "printf 'A\n\nA\n' | score -m accuracy gold"
fails 1 'standard input: is empty' score -m accuracy gold
fails 1 'has 1 sentences, but gold.tags has 2' bash \
    -c "printf 'NOUN\nVERB\nVERB\n' | score -m chunk-f1 gold.tags"
fails 1 'standard input:5: sentence 2 has 1 words, but 2 in gold.tags, line 5' bash \
    -c "printf 'X\nX\nX\n\nX\n' | score -m chunk-f1 gold.tags"
printf 'The\tDET\ncat\tNOUN\n' > w
fails 1 "standard input:2: the word is 'dog', but 'cat' in w, sentence 1" bash \
    -c "printf 'The\tX\ndog\tX\n' | score -m tag-accuracy w"
fails 1 "gold:1: a correlation needs a finite number per example" bash \
    -c "cat a | score -m spearman gold"
echo 1 > n
fails 1 "standard input:1: 'x' is not a finite number" score -m pearson n < <(echo x)
fails 1 "standard input:1: '' is not a finite number" score -m pearson n < <(printf '\t7\n')
# (with these Pearson's would be none, and its interval 1 to 1)
printf '4\n2\n1\n' > n
fails 1 "standard input:2: 'inf' is not a finite number" bash \
    -c "printf '4\ninf\n2\n' | score -m pearson n"
fails 1 "n:2: a correlation needs a finite number per example" bash \
    -c "printf '4\n1e999\n1\n' > n; printf '4\n2\n1\n' | score -m spearman n"
fails 1 'gold.json:1: not valid JSON' bash \
    -c "echo '{\"data\": ' > gold.json; echo {} | score -m squad gold.json"
printf '{"data": [{"paragraphs": [{"context": "a b", '\
'"qas": [{"id": "1", "question": "?", "answers": [{"text": "b", "answer_start": 2}]},
{"id": "2", "question": "?", "answers": [{"text": "b", "answer_start": 1}]}]}]}]}\n' > q.json
fails 1 'standard input: has a prediction for none of the questions of q.json' bash \
    -c "echo {} | score -qm squad2 q.json"
# a paired test is of the same questions, which as many need not be
fails 1 'the two systems answer 1 and 1 of the questions: a paired test needs the same ones$' \
    score -qm squad2 q.json --pred <(echo '{"1": "b"}') --against <(echo '{"2": "b"}')
is "$(score -qm squad2 q.json --pred <(echo '{"1": "b"}') --against <(echo '{"1": "a"}') |
    awk -F '\t' 'NR == 2 { print $3, $8, $9, $10 }')" "100.0 100.0 1.0 1.0"
fails 1 "the prediction for question '1' is not a string" bash \
    -c "echo '{\"1\": 3}' | score -qm squad q.json"
fails 1 'standard input:1: the key "1" is given twice' bash \
    -c "echo '{\"1\": \"\", \"1\": \"\"}' | score -qm squad q.json"
fails 1 "MLQA's script has no rules for the language 'fr'" score -qm mlqa fr=q.json
echo '{"1": "the B!", "x": ""}' | score -m squad q.json --resamples 0 > got 2> err
is "$(cut -f3 got | tr '\n' ' ')" "value 50.0 50.0 "
same err <(printf '%s\n' \
    "score: q.json: answers whose text is not at answer_start: 1; "\
"the first on line 2: question '2'" \
    "score: standard input: no prediction for 1 of the 2 questions of q.json, "\
"the first '2': they score 0" \
    "score: standard input: predictions for questions that q.json does not ask: 1")
echo '{"1": "b", "2": "b"}' | score -m squad q.json --resamples 0 2> err > got
same err <(printf '%s\n' "score: q.json: answers whose text is not at answer_start: 1; "\
"the first on line 2: question '2'")
# what gold has nowhere is wrong, and told
{ head -n 97 gold; printf 'Z\nQ\nZ\n'; } | score -m accuracy --resamples 0 gold 2> err > got
same err <(echo "score: standard input: 3 predictions are labels that gold does not have;" \
    "the first on line 98: 'Z'")
score -m accuracy --resamples 0 gold < gold 2> err > got; [ ! -s err ] || fail "$(cat err)"
sed 's/^.*[^[:space:]].*$/X/' gold.tags | score -m tag-accuracy --resamples 0 gold.tags 2> err > got
same err <(echo "score: standard input: 'X' is a tag that gold.tags does not have")
score -m tag-accuracy --resamples 0 gold.tags < gold.tags 2> err > got
[ ! -s err ] || fail "$(cat err)"
fails 1 "none of the labels" bash \
    -c "printf 'language\tgold_label\tsentence1\tsentence2\nde\tneutral\ta\tb\n' > xnli
        echo x | score -m accuracy de=xnli"
fails 1 "xnli: has no row of language 'fr'" score -m accuracy fr=xnli
fails 1 "x.tsv:3: has rows of several languages" bash \
    -c "(cat xnli; printf 'fr\tneutral\ta\tb\n') > x.tsv; echo x | score -m accuracy x.tsv"
fails 1 "x.tsv:3: one of the rows with an unknown label: 'maybe'" bash \
    -c "(cat xnli; printf 'de\tmaybe\ta\tb\n') > x.tsv; echo x | score -m accuracy de=x.tsv"
fails 1 "unknown format 'nli'; choose one of: squad" score -m accuracy gold --format nli
fails 1 "two gold files of language 'en'" score -m accuracy en=gold en=gold --pred en=a
fails 1 "^score: gold and b: gold files without a language; write LANG=FILE, such as de=b\$" \
    score -m accuracy gold b --pred a
fails 1 "no --pred for the gold file of 'de'" score -m accuracy en=gold de=gold --pred en=a
fails 2 '.--pred is given 2 times, more often than gold files .1.' score -m accuracy gold -p a -p b
fails 2 'against is given 3 times, more .*2' score -m accuracy en=gold de=gold -p en=a \
    -p de=a --against en=a --against de=a --against fr=a
fails 2 'metric NAME is needed' score gold
# what would be passed over
fails 2 '^score: --json is not for --compare$' score --compare --json rows
fails 2 '^score: --metric is not for --log$' score --log x -m accuracy
fails 2 '^score: --seed is not for --compare$' score --compare --seed 2 rows
fails 2 '^score: --na-prob is not for --log$' score --log x --na-prob p
fails 2 '^score: --pair is for --compare$' score -m accuracy --pair a=b gold
fails 2 '^score: --tsv is for --compare$' score -m accuracy --tsv gold
fails 2 '^score: --unigram is for --log$' score -m accuracy --unigram u gold
fails 2 '^score: --log and --compare exclude each other$' score --compare --log x rows
fails 2 '^score: --na-threshold is of the probabilities' score -m squad2 --na-threshold 0 gold
fails 2 'a gold file is needed' score -m accuracy
fails 2 'with several gold files' score -m accuracy en=gold de=gold

# Results over seeds: means, intervals and p by scipy.stats.ttest_rel and t.interval.
printf '%s\n' '# comment' '1 X de-en BLEU 30.1' '1 X-GC de-en BLEU 31.0' '2 X de-en BLEU 29.5' \
    '2 X-GC de-en BLEU 31.2' '3 X de-en BLEU 30.9' \
    '3 X-GC de-en BLEU 31.1' '1 X - words 0.5' '2 X - words 0.25' '- Y - words 0.75' \
        '1 Y de-en BLEU 2' | sed '1!s/ /\t/g' > r.tsv
score --compare r.tsv > got
cat > want <<'END'
                       de-en
                        BLEU         words
X                30.17 ±1.74  0.375 ±1.588
X-GC             31.10 ±0.25
Y                       2.00         0.750
X-GC - X         +0.93 ±1.86
  paired t-test      p=0.164
3 seeds: mean, half-width of the 95% interval; fewer: X (2), Y (1)
END
same got want
# a run that diverged has a mean, but no interval and no test
for k in 1 2 3; do printf '%s\t%s\taa\tppl\t%s\n' $k A 1$k $k B ${k/2/inf} $k C ${k/3/nan}; done |
    score --compare --tsv --pair A=B --pair B=A --pair A=C > got
same got <(printf '%s\t%s\n' system 'aa ppl' A '12.000 ±2.484' B inf C nan 'A - B' -inf \
    '  paired t-test' p=- 'B - A' +inf '  paired t-test' p=- 'A - C' nan '  paired t-test' p=-)
# the fewest seeds of any column
is "$(printf '%s\tA\t-\t%s\t1\n' 1 m 1 n 2 n 3 n 2 m | score --compare | tail -n 1)" \
    "3 seeds: mean, half-width of the 95% interval; fewer: A (2)"
score --compare --tsv --pair Y=X < r.tsv | tail -2 > got
same got <(printf 'Y - X\t-28.10\t\n  paired t-test\t\t\n')
fails 1 "r.tsv:12: 'x' is not a number" bash \
    -c "printf '1\tZ\t-\twords\tx\n' >> r.tsv; score --compare r.tsv"
fails 1 "b.tsv:2: system 'A', seed 1 has 'm' twice" bash \
    -c "printf '1\tA\t-\tm\t1\n1\tA\t-\tm\t1\n' > b.tsv; score --compare b.tsv"
fails 1 'e.tsv:1: column 2 is empty' bash \
    -c "printf '1\t\t-\tm\t1\n' > e.tsv; score --compare e.tsv"
# one value without a seed beside some with: the table showed that alone
for rows in '-1' '1-'; do
    sed 's/./&\tA\t-\tm\t5\n/g' <<< $rows | grep . > b.tsv
    fails 1 "b.tsv:2: system 'A' has 'm' with and without a seed" score --compare b.tsv
done
# what does not fit into 100 columns goes on below; no variance, no test; "#compare" asks for a pair
x39=$(printf 'x%.0s' {1..39})
{
    printf '#compare\tB\tA\n#compare\tB\tnone\n'
    for k in 1 2 3; do
        printf '%s\t%s\t-\t%s\t%s\n' $k A ${x39}1 $k  $k B ${x39}1 $((k + 1)) \
            $k A ${x39}2 ${k}0  $k B ${x39}2 $((k))1.0$((k - 1))
    done
    printf '1\tB\t-\t%s\t5\n' ${x39}3
} > wide.tsv
pad() { printf '%*s%s' $(($1 - ${#2})) '' "$2"; }
row() { printf '%-15s%s%s\n' "$1" "$(pad 42 "$2")" "$(pad 42 "$3")"; }
# half an interval is 4.3027 s / sqrt 3; s is 1 and 10, and 10.01 of B's; of 1, 1.01 and 1.02 it is
# 0.01
{
    row '' ${x39}1 ${x39}2
    row A '2.000 ±2.484' '20.000 ±24.841'
    row B '3.000 ±2.484' '21.010 ±24.866'
    row 'B - A' '+1.000 ±0.000' '+1.010 ±0.025'
    row '  paired t-test' p=- 'p<0.001'
    printf '\n%57s\nA\n%-15s%42s\nB - A\n  paired t-test\n' ${x39}3 B 5.000
    echo '3 seeds: mean, half-width of the 95% interval; fewer: B (1)'
} > want
score --compare wide.tsv > got; same got want
# names of any length stay whole: columns that differ late are told apart
long=$(printf 'x%.0s' {1..80})
printf '1\tA\t-\t%s\t1.5\n1\tA\t-\t%s\t2\n' "$long-one" "$long-two" > long.tsv
is "$(score --compare --tsv long.tsv)" "$(printf 'system\t%s\t%s\nA\t1.500\t2.000' \
    "$long-one" "$long-two")"
printf '1\tA\t-\tm\t1\n1\tA-gc\t-\tn\t2\n' > apart.tsv
# one seed; a pair that has nothing in common has no lines, and a pair twice is one
score --compare apart.tsv --pair A-gc=A --pair A-gc=A > got
{ printf '%-4s%10s%10s\n' '' m n A 1.000 '' A-gc '' 2.000 | sed 's/ *$//'; echo 'one seed'; } > want
same got want
printf '1\tA-GC\t-\tm\t1.25\n' >> apart.tsv
score --compare apart.tsv --pair A-GC=A --pair A-GC=A > got
is "$(sed -n 's/^A-GC - A *//p' got)" +0.250; ! grep -q t-test got || fail "a test of one seed"
printf '1\tA\t-\t3\n' > thin.tsv
fails 1 'thin.tsv:1: has fewer than the five columns' score --compare thin.tsv
fails 1 "no system 'B'" bash -c "printf '1\tA\t-\tm\t1\n' | score --compare --pair A=B"

# a byte order mark is no part of the first seed: both systems have seeds 1 and 2, and differ by 1
printf '%s\t-\tF1\t%d\n' $'1\tA' 5 $'2\tA' 7 $'1\tB' 4 $'2\tB' 6 > plain.tsv
{ printf '\357\273\277'; cat plain.tsv; } > marked.tsv
same <(score --compare --pair A=B plain.tsv) <(score --compare --pair A=B marked.tsv)
printf '1\tA\t-\tF1\t5\0009\n' > nul.tsv
fails 1 '^score: nul.tsv:1: a NUL byte' score --compare nul.tsv
