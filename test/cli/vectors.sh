. "$TOP/test/cli/lib.sh"
g=$TOP/test/golden/vectors
# near FILE FILE TOLERANCE: the same words, numbers apart by no more than that
near() {
    awk -F'\t' -v T="$3" 'FNR == NR { want[FNR] = $0; n = FNR; next }
        { k = split(want[FNR], w); if (k != NF) { print "line " FNR ": " $0 " | " want[FNR];
            bad = 1; next }
          for (i = 1; i <= NF; i++) {
              num = $i ~ /^-?[0-9.]+$/ && w[i] ~ /^-?[0-9.]+$/; e = num ? $i - w[i] : ($i != w[i])
              if (e > T || e < -T) { print "line " FNR ": " $0 " | " want[FNR]; bad = 1 } } }
        END { if (FNR != n) { print "lines: " FNR " not " n; bad = 1 } exit bad }' "$2" "$1" ||
            fail "$1 is not near $2"
}

echo "# CSLS over a Procrustes map is NumPy's; Hit@k, MAP, mean cosine MUSE's and xling-eval's"
induce=(dict-induce -q --src "$g/a.vec" --tgt "$g/b.vec" --map procrustes --rounds 0 \
    --seed-dict "$g/seed.tsv")
"${induce[@]}" -k 3 > got.tsv
near got.tsv "$g/csls.tsv" 2e-6
word=$(sed -n 7p "$g/csls.tsv" | cut -f 1) last=$(tail -n 1 "$g/csls.tsv" | cut -f 1)
"${induce[@]}" -k 3 --of "$last" --of "$word" > of.tsv
awk -F'\t' -v a="$word" -v b="$last" '$1 == a || $1 == b' "$g/csls.tsv" > want.tsv
is "$(wc -l < of.tsv)" 6; near of.tsv want.tsv 2e-6
fails 2 'give it again for "dog"' "${induce[@]}" --of "$word" dog -o out
fails 1 'a.vec: has no word "none-such"' "${induce[@]}" --of none-such -o out
"${induce[@]}" --src-counts "$g/a.counts" --eval "$g/gold.tsv" > eval.tsv
near eval.tsv "$g/eval.tsv" 1.01e-4
# a pair that stands there twice is one pair, for chance and for the cosines as well
(cat "$g/gold.tsv"; sed -n '1~3p' "$g/gold.tsv") > twice.tsv
"${induce[@]}" --src-counts "$g/a.counts" --eval twice.tsv > got.tsv; same got.tsv eval.tsv

echo "# --gold both is MUSE's rule; exported and precision are those of the mutual list"
"${induce[@]}" -k 1 --mutual --gold both --eval "$g/gold.tsv" > got.tsv
is "$(sed -n 's/^asked\t//p' got.tsv)" "$(sed -n 's/^answerable\t//p' eval.tsv)"
grep -E '^(hit@|exported|judged|precision)' got.tsv > some.tsv
near some.tsv "$g/both.tsv" 1.01e-4
is "$("${induce[@]}" -k 1 --mutual | wc -l)" "$(sed -n 's/^exported\t//p' got.tsv)"

echo "# --initial: like is paired with like, among likes"
like=(dict-induce -q --src "$g/initial.src.vec" --tgt "$g/initial.tgt.vec" --initial ▁)
"${like[@]}" -k 2 > got.tsv
near got.tsv "$g/initial.tsv" 2e-6
"${like[@]}" --eval "$g/initial.gold" > got.tsv
grep -E '^(hit@|map|mean-cosine)' got.tsv > some.tsv
near some.tsv "$g/initial.eval" 1.01e-4
"${like[@]}" -k 1 --mutual --reverse back.tsv > there.tsv
awk -F'\t' '{ print $2 "\t" $1 "\t" $3 }' there.tsv | sort > a; sort back.tsv > b; same a b
# a kind smaller than k: what it has, and no more
(echo '▁x 1 0'; echo 'y 0 1'; echo 'z 1 1') > few.vec
is "$(dict-induce -q --src few.vec --tgt few.vec --initial ▁ -k 3 --method nn | cut -f 1-2 |
    tr '\t\n' ' ,')" "▁x ▁x,y y,y z,z z,z y,"
# --min-score: of these cosines 1, 0.7071 (with z) and 0, those that are at least so large
is "$(dict-induce -q --src few.vec --tgt few.vec -k 3 --method nn --min-score 0.7 | cut -f 1-2 |
    sort | tr '\t\n' ' ,')" "y y,y z,z y,z z,z ▁x,▁x z,▁x ▁x,"
fails 1 'no source word begins with "_"' dict-induce -q --src few.vec --tgt few.vec --initial _
fails 2 'seed-dict needs a map to learn' dict-induce -q --src few.vec --tgt few.vec --seed-dict d
fails 2 'identical needs a map to learn' dict-induce -q --src few.vec --tgt few.vec --identical
# what another map, or no --eval, would pass over
for other in '--restarts 2' '--keep 0.5' '--patience 3' '--reweight 1'; do
    fails 2 "^dict-induce: ${other% *} is for --map vecmap\$" dict-induce -q --src few.vec \
        --tgt few.vec --map procrustes $other
done
fails 2 '^dict-induce: --rounds is for --map procrustes$' dict-induce -q --src few.vec \
    --tgt few.vec --rounds 2
one_space() { dict-induce -q --src few.vec --tgt few.vec "$@"; }
for w in --min-length --ratio; do
    fails 2 "^dict-induce: $w is of the seeds of --identical\$" one_space $w 3
    fails 2 "^dict-induce: $w is of the seeds of --identical\$" one_space $w 3 --map vecmap \
        --seed-dict d
done
fails 2 '^dict-induce: --cutoff is for --map procrustes or vecmap$' one_space --cutoff 3
fails 2 '^dict-induce: --refinements needs --src-cooc and --tgt-cooc$' one_space --refinements 3
fails 2 '^dict-induce: --neighbours is of CSLS: without --method nn$' one_space --neighbours 3 \
    --method nn
fails 2 '^dict-induce: --gold is of --eval GOLD$' dict-induce -q --src few.vec --tgt few.vec \
    --gold both
fails 2 '^dict-induce: --of is of the dictionary, which' dict-induce -q --src few.vec \
    --tgt few.vec --of a --eval d
fails 2 'needs --map none' dict-induce -q --src few.vec --tgt few.vec --initial ▁ --map vecmap

echo "# RSIM is SciPy's; mean cosine and alignment NumPy's"
rsim -q --src "$g/a.vec" --tgt "$g/b.vec" --dict "$g/seed.tsv" > got.tsv
near got.tsv "$g/rsim.tsv" 2e-6
# a third column, as MUSE's evaluators and scores write it, is not part of the word
for tab in '\t' ' '; do
    sed "s/\$/${tab}0.5/; s/\t/$tab/" "$g/seed.tsv" > scored.tsv
    rsim -q --src "$g/a.vec" --tgt "$g/b.vec" --dict scored.tsv > got.tsv
    near got.tsv "$g/rsim.tsv" 2e-6
done
# a vector that all words get in common raises the cosine, and not the difference to random pairs
seq 0 59 | awk '{ print $1 "\t" $1 }' > own.tsv
for f in p q; do awk 'NR > 1 { for (i = 2; i <= NF; i++) $i += 3 } { print }' \
    "$g/$f.vec" > ${f}3.vec; done
paste <(rsim -q --src "$g/p.vec" --tgt "$g/q.vec" --dict own.tsv) <(rsim -q --src p3.vec \
    --tgt q3.vec --dict own.tsv) |
    awk -F'\t' 'NR == 2 && !($12 > 0.5 && $17 > $4 && $25 < $12) { exit 1 }' ||
        fail "a vector in common"
# --one-to-one: the first pair of each word, of which the other word is new
printf 'a0\tb0\na0\tb1\na1\tb0\na1\tb1\na2\tb2\na2\tb2\na3\tb3\n' > many.tsv
printf 'a0\tb0\na1\tb1\na2\tb2\na3\tb3\n' > one.tsv
rsim --src "$g/a.vec" --tgt "$g/b.vec" --dict many.tsv --one-to-one > got.tsv 2> note
grep -q '1 repeated, 2 with a word of an earlier pair' note || fail "$(cat note)"
rsim -q --src "$g/a.vec" --tgt "$g/b.vec" --dict one.tsv > want.tsv; same got.tsv want.tsv
is "$(rsim -q --src "$g/a.vec" --tgt "$g/b.vec" --dict many.tsv | cut -f 2 | tail -n 1)" 6

echo "# retrieval accuracy and mining, by cosine and both margins, are NumPy's"
for s in cosine distance ratio; do
    retrieve --src "$g/p.vec" --tgt "$g/q.vec" --score $s --table | sed 1d | cut -f 3-8 |
        sed "s/^/$s\t/"
    retrieve --src "$g/p.vec" --tgt "$g/q.vec" --score $s |
        awk -F'\t' -v s=$s \
            '{ v[NR] = $2 } END { printf "%s\t%s\t%s\n", s, v[2], v[3] }' >> short.tsv
done > got.tsv
near got.tsv "$g/retrieve.tsv" 1e-9
cut -f 1-3 got.tsv > first.tsv; same first.tsv short.tsv
retrieve --src "$g/p.vec" --tgt "$g/q.vec" --src "$g/q.vec" --tgt "$g/q.vec" > layers.tsv
is "$(cut -f 1-4,9 layers.tsv | tail -n 2 | sed -n 1p)" "$(printf '0\t60\t')$(sed -n 1p got.tsv |
    cut -f 2-3)$(printf '\t')$(awk \
        -F'\t' 'NR == 1 { printf "%.4f", 1.96 * sqrt($2 * (1 - $2) / 60) }' got.tsv)"
is "$(tail -n 1 layers.tsv | cut -f 1-4)" "$(printf '1\t60\t1.0000\t1.0000')"
retrieve --src "$g/p.vec" --tgt "$g/q.vec" --score ratio --mine 1.1 > got.tsv
near got.tsv "$g/mine.tsv" 1e-5

echo "# analogies over two languages in one space are NumPy's; word2vec's order is an option"
analogy --vec "$g/a.vec" --vec "$g/b.vec" "$g/questions.txt" > got.tsv
near got.tsv "$g/analogy.tsv" 1.01e-4
awk '{ print $2, $1, $3, $4 }' "$g/questions.txt" |
    analogy --word2vec --vec "$g/a.vec" --vec "$g/b.vec" > swapped.tsv
same got.tsv swapped.tsv
# more questions than one product has; categories; each answer, as awk finds it
{
    echo ': one'; for i in {1..15}; do cat "$g/questions.txt"; done
    echo ':  last two '; tail -n 2 "$g/questions.txt"; echo; echo ': none'
} > many.txt
analogy --vec "$g/a.vec" --vec "$g/b.vec" --answers answers many.txt > got
awk 'FILENAME != "many.txt" {
        if (FNR == 1 && NF == 2) next
        w[++n] = $1; s = 0; for (k = 2; k <= NF; k++) s += $k * $k
        for (k = 2; k <= NF; k++) x[n, k] = $k / sqrt(s)
        if (!($1 in row)) row[$1] = n
        d = NF; next
    }
    /^:/ { next }
    !NF || !($1 in row && $2 in row && $3 in row && $4 in row) { next }
    {
        s = 0
        for (k = 2; k <= d; k++) { y[k] = x[row[$1], k] - x[row[$2], k] + x[row[$3], k]
            s += y[k] * y[k] }
        best = -2
        for (i = 1; i <= n; i++) {
            c = 0; for (k = 2; k <= d; k++) c += y[k] * x[i, k] / sqrt(s)
            if (i == row[$4]) right = c
            if (c > best && i != row[$1] && i != row[$2] && i != row[$3]) { best = c; at = i }
        }
        printf "%s\t%s\t%s\t%s\t%s\t%.6f\t%.6f\n", $1, $2, $3, $4, w[at], best, right
    }' "$g/a.vec" "$g/b.vec" many.txt > want
near answers want 2e-6
is "$(wc -l < answers)" 451     # one of the last has a word without a vector
awk -F'\t' -v OFS='\t' '
    { m = NR <= 450 ? "one" : "last two"; r[m] += $4 == $5; c[m] += $7; n[m]++
      r["all"] += $4 == $5; c["all"] += $7; n["all"]++ }
    END { print "category", "questions", "asked", "accuracy", "cosine"
        q["one"] = 465; q["last two"] = 2; q["all"] = 467
        split("one/last two/none/all", name, "/")
        for (i = 1; i <= 4; i++)
            if (!n[m = name[i]]) print m, 0, 0, "nan", "nan"
            else printf "%s\t%d\t%d\t%.4f\t%.4f\n", m, q[m], n[m], r[m] / n[m], c[m] / n[m] }' \
    want > table
near got table 1.01e-4
(head -n 5 "$g/questions.txt" |
    cut -d ' ' -f 1-3; printf ': category\na1 a2 nowhere b2\n') > three.txt
for unit in '' --unit; do
    analogy $unit --targets b7,a9 --vec "$g/a.vec" --vec "$g/b.vec" three.txt > got.tsv 2> note
    near got.tsv "$g/targets${unit#-}.tsv" 1.01e-4
    grep -q '1 questions have a word without a vector' note
done
awk '$1 != ":" { print $2, $1, $3 }' three.txt |
    analogy --word2vec --targets b7,a9 --vec "$g/a.vec" --vec "$g/b.vec" 2> note |
        cut -f 4- > swapped.tsv
analogy -q --targets b7,a9 --vec "$g/a.vec" --vec "$g/b.vec" three.txt | cut -f 4- |
    cmp - swapped.tsv
fails 1 'target "none" has no vector' analogy --targets b7,none --vec "$g/a.vec" --vec "$g/b.vec" \
    three.txt

echo "# text, binary, .npy and .safetensors give the same vectors back, and the same dictionary"
for f in x.bin x.npy x.safetensors x.vec; do
    dict-induce -q --src "$g/a.vec" --tgt "$g/b.vec" --normalize none --out-src $f > first.tsv
    dict-induce -q --src $f --tgt "$g/b.vec" --normalize none --out-src again.vec > second.tsv
    same first.tsv second.tsv
    [ -f one.vec ] || cp again.vec one.vec
    same again.vec one.vec
done

echo "# any number of threads gives the same bytes, and so does the same seed"
for t in 1 2 3; do
    dict-induce -q --threads $t --src "$g/a.vec" --tgt "$g/b.vec" --map vecmap \
        --seed-dict "$g/seed.tsv" --spelling 0.1 --seed 5 --out-src m$t.vec > d$t.tsv
done
same d1.tsv d2.tsv; same d1.tsv d3.tsv; same m1.vec m3.vec
dict-induce -q --src "$g/a.vec" --tgt "$g/b.vec" --map vecmap --seed-dict "$g/seed.tsv" \
    --spelling 0.1 --seed 5 > again.tsv
same d1.tsv again.tsv

echo "# a dictionary has the same bytes with any instruction set, product and number of threads"
dict-induce -q --threads 1 --src x.npy --tgt "$g/b.vec" --normalize none \
    --reverse back.tsv > plain.tsv
for simd in base avx2 avx512 amx; do for way in float32 int8; do
    ISOGLOT_SIMD=$simd ISOGLOT_CSLS=$way dict-induce -q --threads 2 --src x.npy --tgt "$g/b.vec" \
        --normalize none --reverse back2.tsv > plain2.tsv
    same plain.tsv plain2.tsv; same back.tsv back2.tsv
done; done

echo "# --mutual lists only pairs that are each other's best; --reverse is the other direction"
dict-induce -q --src "$g/a.vec" --tgt "$g/b.vec" -k 1 --mutual --reverse back.tsv > there.tsv
awk -F'\t' '{ print $2 "\t" $1 "\t" $3 }' there.tsv | sort > a; sort back.tsv > b; same a b

echo "# an unsupervised dictionary of a language and its copy, from counts alone, finds the copies"
# a word is followed by one of five that it alone is followed by
awk 'BEGIN { srand(3); for (i = 0; i < 4000; i++) { line = ""; w = int(rand() * rand() * 144);
    for (k = 0; k < 8; k++) { line = line " w" w;
        w = (w * 7 + 11 + int(rand() * rand() * 5) * 29) % 144 } print line } }' > en.txt
# odd numbers are spelt differently: half of the words are seeds
sed 's/w\([0-9]*[13579]\)\b/v\1/g' en.txt > de.txt
for l in en de; do for s in left right; do cooc-count -q -w 3 --weights glove \
    --$s $l=$l.txt > $l.$s.cooc; done
    embed --from-cooc $l.left.cooc --from-cooc $l.right.cooc --dim 20 > $l.vec; done
refined=(dict-induce -q --src en.vec --tgt de.vec --map vecmap --min-length 2 -k 1 \
    --src-cooc en.left.cooc --src-cooc en.right.cooc
         --tgt-cooc de.left.cooc --tgt-cooc de.right.cooc --refinements 3)
"${refined[@]}" --threads 1 > dict.tsv
right=$(awk -F'\t' '{ a = $1; b = $2; sub(/./, "", a); sub(/./, "", b); n++; ok += a == b } END {
    print (n > 100 && ok / n > 0.9) ? "most" : ok "/" n }' dict.tsv)
is "$right" most
"${refined[@]}" --threads 2 > dict2.tsv; same dict.tsv dict2.tsv
embed --threads 1 --from-cooc en.left.cooc --from-cooc en.right.cooc --dim 20 > t1.vec
same t1.vec en.vec

echo "# embed --from-cooc: in all dimensions products of rows are those of the PPMI that awk makes,"
echo "# and --power is that of the singular values"
awk 'BEGIN { srand(5); for (i = 0; i < 60; i++) { line = ""; w = int(rand() * 6);
    for (k = 0; k < 6; k++) { line = line " w" w; w = (w + 1 + int(rand() * rand() * 5)) % 6 }
    print line } }' > small
for s in left right; do
    cooc-count -q -w 2 --$s en=small > s.$s.cooc; cooc-query --dump s.$s.cooc > s.$s; done
for power in 0 0.5 1; do
    embed --from-cooc s.left.cooc --from-cooc s.right.cooc --dim 6 --min-count 1 --smooth 0.6 \
        --shift 1.1 --power $power > power.$power
done
# ppmi DUMP...: products of rows; given VECTORS: of vectors; apart: which of both differ
ppmi() {
    awk -F'\t' 'BEGIN { for (i = 1; i < ARGC; i++) files[ARGV[i]] }
        { b = FILENAME; n[b, $1, $2] = $3; row[b, $1] += $3; col[b, $2] += $3; word[$1] }
        END {
            for (c in word) for (b in files) t[b] += col[b, c] ^ 0.6
            for (r in word) for (c in word) for (b in files) {
                if (!n[b, r, c]) continue
                v = log(n[b, r, c] * t[b] / (row[b, r] * col[b, c] ^ 0.6)) - log(1.1)
                if (v > 0) m[b, r, c] = v
            }
            for (r in word) for (q in word) {
                s = 0
                for (c in word) for (b in files) s += m[b, r, c] * m[b, q, c]
                printf "%s-%s %.5f\n", r, q, s + 1e-9
            }
        }' "$@" | sort
}
given() {
    awk 'FNR > 1 { w[++n] = $1; for (i = 2; i <= NF; i++) x[n, i] = $i; m = NF }
        END {
            for (a = 1; a <= n; a++) for (b = 1; b <= n; b++) {
                s = 0
                for (i = 2; i <= m; i++) s += x[a, i] * x[b, i]
                printf "%s-%s %.5f\n", w[a], w[b], s + 1e-9
            }
        }' "$1" | sort
}
apart() {
    is "$(grep -c . want)" 36
    join want got | awk '{ d = $2 - $3; if (d > 2e-5 || d < -2e-5) { print; bad = 1 } n++ }
        END { exit bad || n != 36 }' > off ||
        fail "rows whose product is not PPMI's: $(paste -sd ' ' off)"
}
ppmi s.left s.right > want; given power.1 > got; apart
# counts of both sides: the file has each pair once, and a word with itself once
cooc-count -q -w 2 en=small > s.both.cooc
cooc-query --dump s.both.cooc |
    awk -F'\t' 'BEGIN { OFS = FS } { print } $1 != $2 { print $2, $1, $3 }' > s.both
embed --from-cooc s.both.cooc --dim 6 --min-count 1 --smooth 0.6 --shift 1.1 --power 1 > both.vec
ppmi s.both > want; given both.vec > got; apart
# the most frequent words, or those that are frequent enough
vocab-count small > small.vocab
for n in 2 4; do
    head -n $n small.vocab | cut -d ' ' -f 1 > want
    embed --from-cooc s.both.cooc --dim 2 --max-vocab $n --min-count 1 > some.vec
    is "$(head -n 1 some.vec)" "$n 2"; sed 1d some.vec | cut -d ' ' -f 1 > got; same got want
    embed --from-cooc s.both.cooc --dim 2 --min-count "$(sed -n "${n}s/.* //p" small.vocab)" |
        sed 1d | cut -d ' ' -f 1 > got; same got want
done
fails 1 's.both.cooc: 1 words are counted 72 times or more; 2 are needed' embed \
    --from-cooc s.both.cooc --dim 1 --min-count "$(sed -n '1s/.* //p' small.vocab)"
fails 1 'en.left.cooc: counted over another vocabulary than s.left.cooc' embed \
    --from-cooc s.left.cooc --from-cooc en.left.cooc --dim 2 --min-count 1
squares() { awk 'FNR > 1 { for (i = 2; i <= NF; i++) s[i] += $i * $i; m = NF }
    END { for (i = 2; i <= m; i++) print s[i] }' power.$1; }
paste <(squares 0) <(squares 0.5) <(squares 1) |
    awk '{ one = $1 - 1; two = $2 * $2 / $3 - 1
        if (one * one > 1e-8 || two * two > 1e-8 || $2 > 0.99 && $2 < 1.01) { print; bad = 1 } }
        END { exit bad }' > off || fail "columns as long as another power: $(paste -sd ' ' off)"

echo "# language-specific words: counted more than N times, and not so in the other language"
vocab-count en.txt > en.vocab; vocab-count de.txt > de.vocab
dict-induce -q --src en.vec --tgt de.vec --src-counts en.vocab --tgt-counts de.vocab --specific 10 \
    -k 1 > spec.tsv
[ -s spec.tsv ] || fail "no specific word"
! grep -qP '^w\d*[02468]\t|\tw' spec.tsv || fail "a shared word"
# one language alone has words of its own
printf '1 2\nx 1 0\n' > x.vec; printf '2 2\nx 1 0\ny 0 1\n' > xy.vec
printf 'x 50\n' > x.vocab; printf 'x 50\ny 50\n' > xy.vocab
for sides in "x xy" "xy x"; do
    a=${sides% *} b=${sides#* }
    fails 1 'no language-specific word is counted more than 10 times' dict-induce -q --src $a.vec \
        --tgt $b.vec --src-counts $a.vocab --tgt-counts $b.vocab --specific 10
done

echo "# cooc-study: no difference from oneself; normalisation by c_lang; small counts apart"
printf 'w1 w18\tw1 w18\nw18 w137\tw18 w137\nw1 nowhere\tw1 w2\n' > pairs.tsv
cooc-count -q -w 2 en=en.txt > en.cooc
cooc-study --pairs pairs.tsv en.cooc en.cooc > study.tsv 2> note
grep -q 'left out 1 with an unknown word and 0 with several' note
is "$(awk -F'\t' 'NR > 1 { s += $4 + $6 } END { print (NR > 1), s + 0 }' study.tsv)" "1 0"
cat en.txt en.txt | sed 's/^/ /' > twice.txt; cooc-count -q -w 2 en=twice.txt > twice.cooc
cooc-study -q --pairs pairs.tsv en.cooc twice.cooc |
    awk -F'\t' 'NR > 1 && $4 > 1e-6 { bad = 1 } END { exit bad || NR < 3 }' || fail "c_lang"
awk '{ print $1 "\t" $1 }' en.vocab > self.tsv
cooc-study -q --dict self.tsv en.cooc en.cooc | awk -F'\t' 'END { exit !($3 > 500 && $4 == 0) }' ||
    fail "dictionary"
# a phrase table is the same pairs; what is not two words a side is left out
sed 's/\t/ ||| /; s/$/ ||| 0.5 0.1/' pairs.tsv > phrases
printf 'w1 ||| w1 ||| 1\nw1 w2 w3 ||| w1 w2 w3 ||| 1\n' >> phrases
cooc-study --phrase-table phrases en.cooc en.cooc > got.tsv 2> note; same got.tsv study.tsv
grep -q '5 lines, left out 1 with an unknown word and 2 with several' note || fail "$(cat note)"
printf 'a b c\tA B\n' > more.tsv
fails 1 'more.tsv:1: expected two words on either side of the tab' cooc-study -q --pairs more.tsv \
    en.cooc en.cooc
fails 1 'pairs.tsv:1: expected "source ||| target' cooc-study -q --phrase-table pairs.tsv en.cooc \
    en.cooc
# X of two windows, or of other weights, is not compared; ranks are of tokens
for how in '-w 3:window 3, but 2 in' '--weights flat:flat weights, but mlm-gc in' \
    '--left:counted left, but en.cooc is symmetric' '--oov collapse:--oov collapse, but gap in'; do
    cooc-count -q ${how%%:*} en=en.txt > how.cooc
    fails 1 "how.cooc: ${how#*:}" cooc-study -q --pairs pairs.tsv en.cooc how.cooc
done
cooc-study --ranks en.cooc how.cooc > got
# correlation by hand: X(a b), X(a c), X(b c) are 4, 2, 1 in one language and 2, 2, 0 in the other,
# which has half as many tokens
printf 'a b\na b\na b\na b\na c\na c\nb c\nd d\n' > one.txt; printf 'A B\nA C\nD D D D\n' > two.txt
for f in one two; do cooc-count -q -w 1 --weights flat $f.txt > $f.cooc; done
printf 'a b\tA B\na c\tA C\nb c\tB C\n' > three.tsv
# log a = ln 4, ln 2; log b = ln 2, ln 2: no variance of b; both are in 2 of 3 pairs, 6 of 7 by
# mass; mean difference ln 2 / 2
is "$(cooc-study -q --correlation --pairs three.tsv one.cooc two.cooc |
    tail -n 1)" "$(printf '2.000000\t3\t0.666667\t0.857143\tnan\tnan\t0.346574\t-0.346574')"
# the same in bins: a and b are 4 2 and 2 2, and 1 0, which is left out; log a + log b is 3 ln 2 and
# 2 ln 2, the difference ln 2 and 0, the ratio 1/3 and 0; 1.96 s / sqrt 2 is 0.98 ln 2 and 0.98 / 3,
# and of one pair there is no s
cooc-study --pairs three.tsv one.cooc two.cooc 2> note > got
is "$(cat note)" "cooc-study: 3 lines, left out 0 with an unknown word and 0 with several words on \
a side; of 3 pairs, 1 (33.3%) left out: a count of 1 or less"
is "$(sed 1d got)" "$(printf '%s\t%s\t%d\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\n' 0 2 1 0 nan 0 nan 0.4 \
    2 4 1 0.693147 nan 0.333333 nan 0.6 0 4 2 0.346574 0.679284 0.166667 0.326667 1)"
# a pair that is listed again counts once; the same words as another pair's are no repetition
{ cat three.tsv; printf 'a b\tA B\t0.5\na c\tA C\n'; } > again.tsv
cooc-study --pairs again.tsv one.cooc two.cooc 2> note > got.again; same got got.again
is "$(head -n 1 note)" "cooc-study: left out 2 lines that repeat an earlier one"
is "$(printf 'a b\tA B\na b\tA C\na c\tA B\na c\tA C\n' |
    cooc-study --correlation --pairs - one.cooc two.cooc 2>&1 | cut -f 2 | tail -n 1)" 4
printf '\xEF\xBB\xBFa b ||| A B ||| 1\n' > phrases
is "$(cooc-study -q --phrase-table phrases one.cooc two.cooc | cut -f 3 | tail -n 1)" 1
fails 2 '^cooc-study: --bin is not for --ranks$' cooc-study --ranks --bin 3 one.cooc two.cooc
fails 2 '^cooc-study: --bin is not for --correlation$' cooc-study --correlation --bin 3 \
    --pairs three.tsv one.cooc two.cooc
printf 'b c\tB C\na x\tA B\n' > rare.tsv
fails 1 'rare.tsv: no pair is counted more than once in both languages \(2 lines, 1 with an '\
'unknown word, 0 of other than two words\)' cooc-study --pairs rare.tsv one.cooc two.cooc
fails 1 '^cooc-study: 0 pairs are counted on both sides \(2 lines, 1 with an unknown word\); a' \
    cooc-study --correlation --pairs rare.tsv one.cooc two.cooc
# one language has more ranks than the other; two languages name the columns
echo 'a b c c' > x; echo 'c c' > y
cooc-count -q -w 1 en=x > x.cooc; cooc-count -q -w 1 de=y > y.cooc
is "$(cooc-study --ranks x.cooc y.cooc)" "$(printf '%s\t%s\t%s\n' rank en de \
    1 5.000000e-01 1.000000e+00 2 2.500000e-01 '' 3 2.500000e-01 '')"
is "$(cooc-study --ranks y.cooc x.cooc)" "$(printf '%s\t%s\t%s\n' rank de en \
    1 1.000000e+00 5.000000e-01 2 '' 2.500000e-01 3 '' 2.500000e-01)"
printf 'A B\nA C\nB C\nB C\nB C\nB C\n' > two.txt; printf 'D D D D\n' >> two.txt
cooc-count -q -w 1 --weights flat two.txt > two.cooc
# tokens 16 and 16: log b = 0, 0, ln 4 for log a = ln 4, ln 2, 0; r = -sqrt(3)/2; by mass 4 2 1:
# SciPy's weighted r
is "$(cooc-study -q --correlation --pairs three.tsv one.cooc two.cooc |
    tail -n 1)" "$(printf \
        '1.000000\t3\t1.000000\t1.000000\t-0.866025\t-0.800641\t1.155245\t-0.231049')"
# shares of the tokens of each file, falling: 6, 5, 3, 2 of 16 and 5, 5, 4, 2 of 16
is "$(cooc-study --ranks one.cooc two.cooc)" "$(printf '%s\t%s\t%s\n' rank a b \
    1 3.750000e-01 3.125000e-01 2 3.125000e-01 3.125000e-01 3 1.875000e-01 2.500000e-01 \
    4 1.250000e-01 1.250000e-01)"
# (also of a vocabulary in another order)
printf '%s 1\n' d c b a > turned.vocab
cooc-count -q -w 1 --weights flat -v turned.vocab one.txt > turned.cooc
is "$(cooc-study --ranks turned.cooc two.cooc)" "$(cooc-study --ranks one.cooc two.cooc)"
# a dictionary asks for all pairs of words that it has, by the first translation of each
printf 'a\tA\t0.5\nb\tB\r\na\tD\nc\tC\n' > abc.dict
is "$(cooc-study -q --correlation --dict abc.dict one.cooc two.cooc)" \
    "$(cooc-study -q --correlation --pairs three.tsv one.cooc two.cooc)"
fails 2 'needs --pairs' cooc-study --ranks --correlation en.cooc en.cooc
cooc-study --ranks en.cooc de.left.cooc |
    awk -F'\t' 'NR > 2 && $2 > last { bad = 1 } NR > 1 { last = $2 } END {
        exit bad || NR < 100 }' || fail "ranks"

echo "# bad input: one line that says where and what; nothing is written"
# where an output cannot go is known before the vectors are read
for o in output reverse out-src out-tgt; do
    fails 1 '^dict-induce: none/o: cannot create' dict-induce --src missing --tgt missing -o out \
        --$o none/o
    fails 1 '^dict-induce: missing: cannot' dict-induce --src missing --tgt missing -o out --$o o
    [ -z "$(find . -name '.o*.tmp')" ] && [ ! -e out ] && [ ! -e o ] || fail "an output is left"
    [ $o = output ] || fails 1 'out: is already being written .*; give each output its own name' \
        dict-induce --src missing --tgt missing -o out --$o out
done
fails 1 '^embed: none/o.npy: cannot create' embed --from-cooc missing -o none/o.npy
fails 1 '^embed: safetensors are written to a named file' embed --from-cooc missing \
    --format safetensors
printf 'a 1 2\nb 1\n' > short.vec
fails 1 'short.vec:2: fewer than 2 numbers' dict-induce --src short.vec --tgt "$g/b.vec" -o out
printf 'a 1 2\nb 1 2 3\n' > long.vec
fails 1 'long.vec:2: more than 2 numbers' dict-induce --src long.vec --tgt "$g/b.vec" -o out
printf 'a 1 nan\n' > nan.vec; fails 1 'nan.vec:1: "nan" is not a finite number' dict-induce \
    --src nan.vec --tgt "$g/b.vec" -o out
printf 'a 1 %070d_\n' 0 > wide.vec
fails 1 "wide.vec:1: \"$(printf %064d 0)\" is not a finite" dict-induce --src wide.vec \
    --tgt "$g/b.vec" -o out
printf 'a 1 2x\n' > x.vec; fails 1 'x.vec:1: "2x" is not a finite' dict-induce --src x.vec \
    --tgt "$g/b.vec" -o out
printf '3 2\na 1 2\nb 1 2\n' > lies.vec
fails 1 'lies.vec: the first line says 3 vectors, the file has 2' dict-induce --src lies.vec \
    --tgt "$g/b.vec" -o out
head -c 700 x.bin > cut.bin; fails 1 'cut.bin: ends in vector' dict-induce --src cut.bin \
    --tgt "$g/b.vec" -o out
head -c 700 x.npy > cut.npy; fails 1 'cut.npy: .* bytes of data' dict-induce --src cut.npy \
    --tgt "$g/b.vec" -o out
fails 1 '8 dimensions, target vectors 20' dict-induce --src "$g/a.vec" --tgt de.vec -o out
fails 1 'no seed' dict-induce -q --src "$g/a.vec" --tgt "$g/b.vec" --map vecmap -o out
printf 'a1\n' > one.tsv; fails 1 'one.tsv:1: expected' dict-induce -q --src "$g/a.vec" \
    --tgt "$g/b.vec" --map procrustes --seed-dict one.tsv -o out
printf 'a1 b1\na2 b2\n' > two.tsv
printf 'a 1 0\nb 1 0\nc 2 0\n' > alike.vec; printf 'a\ta\nb\tb\nc\tc\n' > abc.tsv
printf 'a 1 0\nb 1 1\nc 2 0\n' > other.vec
fails 1 'similarities of the source words do not vary' rsim -q --src alike.vec --tgt other.vec \
    --dict abc.tsv
fails 1 'similarities of the target words do not vary' rsim -q --src other.vec --tgt alike.vec \
    --dict abc.tsv
fails 1 'expected three or four words' analogy --targets a1 --vec "$g/a.vec" <(echo a1 a2)
fails 1 'vectors of 8 and of 2 dimensions' analogy --targets a1 --vec "$g/a.vec" --vec alike.vec \
    three.txt
fails 1 '2 pairs have vectors' rsim -q --src "$g/a.vec" --tgt "$g/b.vec" --dict two.tsv
fails 2 'needs the counts' dict-induce -q --src "$g/a.vec" --tgt "$g/b.vec" --frequency 0.1 \
    --src-counts x -o out
# the advice is only what the program has
fails 1 'standard input:1: byte 5 is not UTF-8; run iconv or pass --replace-invalid$' sh \
    -c "printf 'a b \377 d\\n' | analogy --vec $g/a.vec > /dev/null"
fails 1 'expected four words' sh -c "echo a b c | analogy --vec $g/a.vec > /dev/null"
fails 1 '8 dimensions, .* has 20' retrieve --src "$g/a.vec" --tgt de.vec -o out
fails 2 'no cosine is above 1; for a margin' retrieve --src "$g/p.vec" --tgt "$g/q.vec" --mine 1.05
# by hand, of vectors of length 1 and s = sqrt 1/2: a - b + c is (1 + s, s - 1), whose cosine with e
# and f, one vector, is (1 + s) / sqrt 3; the earlier is the answer. A category's name ends before
# the line's \r
printf '%s\n' 'a 1 0' 'b 0 1' 'c 1 1' 'e 2 0' 'f 2 0' > abc.vec
printf '%s\r\n' ': one two' 'a b c f' 'a b c e' 'a b c e' > questions
is "$(analogy --vec abc.vec questions | tail -n 2)" \
    "$(printf '%s\t3\t3\t0.6667\t0.9856\n' 'one two' all)"
# a category that is named again goes on: of its three questions two are right; before any name
# stands one more
printf '%s\n' 'a b c e' ': one' 'a b c f' ':two ' 'a b c e' $':\tone' 'a b c e' 'a b c e' |
    analogy --vec abc.vec | cut -f 1-4 | tail -n 4 > got
printf '%s\t%s\t%s\t%s\n' '' 1 1 1.0000 one 3 3 0.6667 two 1 1 1.0000 all 5 5 0.8000 > want
same got want
for c in '\t' '\0'; do
    fails 1 "questions:2: a tab or NUL in a category's name" sh -c \
        "printf 'a b c e\n: x${c}y\n' > questions; analogy --vec abc.vec questions"
done
# what is read for each layer cannot be a pipe, whose second layer would have no pair
layers() { "$@" -q --src abc.vec --tgt abc.vec --src abc.vec --tgt abc.vec; }
printf 'a\ta\nb\tb\nc\tc\n' > pairs.dict
once='is read for each of 2 layers, and standard input or a pipe only once; write'
fails 1 "^rsim: --dict -: $once " layers rsim --fewest 3 --dict - < pairs.dict
for w in --eval --seed-dict --src-counts --tgt-counts; do
    fails 1 "^dict-induce: $w /dev/fd/[0-9]*: $once " layers dict-induce --eval pairs.dict \
        --map procrustes $w <(cat pairs.dict)
done
is "$(layers rsim --dict pairs.dict | cut -f 1-2 | tail -n 2 | tr '\t\n' ' ,')" "0 3,1 3,"
is "$(rsim -q --src abc.vec --tgt abc.vec --dict - < pairs.dict | cut -f 2 | tail -n 1)" 3
# of two words that always stand together the mutual information is log 2: above log 1.99, and not
# above log 2
printf 'a b\na b\n' | cooc-count -q > together.cooc
together() { embed -q --from-cooc together.cooc --dim 1 --smooth 1 --shift "$1"; }
is "$(together 1.99 | wc -l)" 3
fails 1 'together.cooc: no pair of words has a mutual .* above log 2: .*; give a lower --shift$' \
    together 2
printf '1 0\na\n' > none.vec
fails 1 'none.vec:1: 1 vectors of 0 dimensions: at most' analogy --vec none.vec abc.vec
# as many pairs as --fewest asks for are not too few
printf 'a\ta\nb\tb\nc\tc\ne\te\n' > abce.dict
is "$(rsim -q --src abc.vec --tgt abc.vec --dict abce.dict --fewest 4 | cut -f 1-3 | tail -n 1)" \
    "$(printf '0\t4\t1.000000')"
is "$(rsim -q --src abc.vec --tgt abc.vec --dict abce.dict --fewest 5 | cut -f 1-3 | tail -n 1)" \
    "$(printf '0\t4\tnan')"
# the margin as a distance, over the two nearest: of (1, 0) and (0, 1) cosines are 1 and 0 both
# ways, means 1/2, and 1 - 1/2 is left
printf 'a 1 0\nb 0 1\n' > two.vec
is "$(retrieve -q --src two.vec --tgt two.vec --score distance -k 2 --mine 0.4)" \
    "$(printf '0.500000\t%s\t%s\n' a a b b)"
fails 2 '^retrieve: --neighbours is of the margin' retrieve --src "$g/p.vec" --tgt "$g/q.vec" -k 3
fails 2 'takes one' retrieve --src "$g/p.vec" --tgt "$g/q.vec" --table --mine 1
fails 2 'the same number of times' retrieve --src "$g/p.vec" --tgt "$g/q.vec" --src "$g/p.vec"
fails 1 'nan.vec:1: "nan"' retrieve --src nan.vec --tgt nan.vec -o out
fails 1 'dim.*, .* 20|20 dimensions' analogy --vec "$g/a.vec" --vec de.vec "$g/questions.txt"
fails 1 '60 rows, .* 70' retrieve --src "$g/a.vec" --tgt "$g/b.vec"
fails 2 'src' dict-induce
[ ! -e out ] || fail "something was written"

echo "# repeated words, vectors of zeros and unusable entries are counted and left out"
printf 'a0 1 2\na0 3 4\nz 0 0\na1 2 1\n' > dup.vec
dict-induce --src dup.vec --tgt dup.vec -k 1 > got.tsv 2> note
grep -q 'left out 1 repeated words and 1 vectors of zeros' note
is "$(wc -l < got.tsv)" 2
printf 'a0\ta0\na0\ta0\na1\tnone\na1 b\ta1\na1\ta1\n' > pairs.tsv
for i in 2 3 4 5; do echo "a$i $i.5 $((i * i)) $((7 - i))"; done |
    cat - <(printf 'a0 1 2 9\na1 2 1 4\na1 3 3 3\nz 0 0 0\n') > r.vec
for i in 2 3 4; do printf "a$i\ta$i\n"; done >> pairs.tsv
rsim --src r.vec --tgt r.vec --dict pairs.tsv > got.tsv 2> note
is "$(sed -n 2p got.tsv | cut -f 1-6)" "$(printf '0\t5\t1.000000\t1.000000\t1.000000\t1.000000')"
is "$(grep -c 'r.vec: left out 1 repeated words and 1 vectors of zeros' note)" 2
grep -q 'left out 1 with several words, 1 with a word without a vector, 1 repeated' \
    note
printf 'a0 a1 a2 a3\n' | analogy --vec r.vec 2> note > got.tsv; grep -q 'left out 1 repeated' note
printf 'w1 x\tw2\nw1\tw18\nnone\tw2\nw18\tw137\n' > d.tsv
cooc-study --dict d.tsv en.cooc en.cooc > got.tsv 2> note || true
grep -q '4 lines, left out 1 with an unknown word and 1 with several words on a side' note ||
    fail "$(cat note)"
# a byte order mark (Windows) is no part of the first word: each of these has a word, and not none
mark=$'\357\273\277'
printf '%sa1\ta1\na3\ta3\nnone\ta4\na4\ta4\n' "$mark" > d.tsv
rsim --src r.vec --tgt r.vec --dict d.tsv 2> note | sed -n 2p | cut -f 2 > got.tsv
is "$(cat got.tsv)" 3; grep -q '1 with a word without a vector' note || fail "$(cat note)"
is "$(dict-induce -q --src r.vec --tgt r.vec -k 1 --eval d.tsv | sed -n 1,3p)" \
    "$(printf 'words\t4\nasked\t3\nanswerable\t3')"
is "$(printf '%sa1 a2 a3 a4\n' "$mark" | analogy -q --vec r.vec | sed -n 2p | cut -f 2,3)" "1	1"
is "$(printf '%s: name\na1 a2 a3 a4\n' "$mark" | analogy -q --vec r.vec | sed -n 2p |
    cut -f 1)" name
is "$(printf '%sa1 a2 a3\n' "$mark" | analogy -q --targets a1 --vec r.vec | sed -n 2p |
    cut -f 1)" a1
printf '%sw1\tw18\nnone\tw2\n' "$mark" > d.tsv
fails 1 'd.tsv: no pair is counted more than once .*\(2 lines, 1 with an unknown word, 0 of other' \
    cooc-study --dict d.tsv en.cooc en.cooc
printf 'w1\n' > d.tsv; fails 1 'd.tsv:1: expected' cooc-study -q --dict d.tsv en.cooc en.cooc
head -c 200 en.cooc > cut.cooc; fails 1 'cut.cooc' cooc-study -q --dict self.tsv en.cooc cut.cooc
