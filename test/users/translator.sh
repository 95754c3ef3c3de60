# A translator's way: a few thousand sentence pairs in files with odd names become a translator of
# raw text; the line on its page, pasted, translates. The languages are invented: word for word by a
# dictionary, adjectives behind their nouns, so that every translation is known.
. "$TOP/test/cli/lib.sh"
covered "the tests of programs"
unset MAKEFLAGS MAKELEVEL MFLAGS CORPUS_CACHE RUN SEEDS LIFELINE A B SCALE VALID TEST START TEXT \
    GOLD LAUNCH_CPU LAUNCH_GPU GPU_JOBS CPU_JOBS
cat > invent.awk <<'END'
# some 4,000 different sentences of language xa in a, xb in b
function word(i, set, n,    w) {      # the i-th word of consonants and vowels
    w = ""
    while (n-- > 0) { w = w substr(set, 1 + i % 12, 1) substr("aeiou", 1 + int(i / 12) % 5, 1)
        i = int(i * 7 / 3) + 11 }
    return w
}
function pick(n) { return int(rand() * n) }
BEGIN {
    srand(5)
    for (i = 0; i < 60; i++) {
        xa[i] = word(i, "bdfgklmnprst", 2); xb[i] = word(i, "mnrstvzhjklp", 3) "x"
    }
    for (n = 0; n < 4000; n++) {
        a = ""; b = ""
        for (k = 0; k < 2; k++) {
            noun = pick(20); adjective = 20 + pick(15)
            a = a (k ? " ka " : "Le ") xa[adjective] " " xa[noun]
            b = b (k ? " ep " : "Om ") xb[noun] " " xb[adjective]
            if (!k) { verb = 35 + pick(25); a = a " " xa[verb]; b = b " " xb[verb] }
        }
        if (a in seen) { n--; continue }
        seen[a]; end = n % 3 ? "." : "?"
        print a end > "a"; print b end > "b"
    }
}
END
awk -f invent.awk
mkdir 'my pairs'
# the first 40 will be translated below; two files of pairs, one packed, one as Windows writes it
sed -n 41,2040p a > "my pairs/it's a,1"
sed -n 41,2040p b | sed 's/$/\r/' > 'my pairs/b 1'
{ sed -n 2041,3040p a; echo 'Le same line here.'; echo; sed -n 2041,2050p a; echo 'Le b.'
} | gzip > 'my pairs/a.2'
{ sed -n 2041,3040p b; echo 'Le same line here.'; echo 'Om rest.'; sed -n 2041,2050p b
  for i in 1 2 3 4 5; do echo -n 'om mixa nisax repox talax '; done; echo
} | zstd -q > './-b'
sed -n 3041,3500p b > mono
export PARALLEL="xa-xb=my pairs/it's a,1,my pairs/b 1 xb-xa=-b,my pairs/a.2" MONO=xb=mono \
    BIN RUNS="$PWD/all runs" MAKE=make MAKEFLAGS= DEVICE=cpu MERGES=150 VALID_LINES=100 \
    TEST_LINES=150 DECODE="--beam 2" \
    MODEL="--no-encoder-langs --layers 1 --dim 64 --heads 2 --ffn 128 --dropout 0" \
    MT="--tokens 1000 --lr 4e-3 --warmup 60 --schedule linear --valid-every 100 --patience 3
        --valid-sentences 50 --save-every 0 --steps 300"
mt() { "$TOP/pipelines/conduct" "$1" mt; }
mt pipeline > out 2>&1 || { tail -n 5 out; fail "pipeline/mt"; }
is "$(mt why)" "nothing to do"
cd 'all runs/mt-xa-xb-mt'
# what was left out, and why, as it was put in above
is "$(cut -f 1,2 raw/pairs.tsv)" "$(printf '%s\t%s\n' read 3013 'an empty side' 1 \
    'one side more than 3 times as long as the other, for its language' 1 \
    'not translated: both sides the same' 1 'the same pair again' 10 train 2750 valid 100 test 150)"
! grep -qxFf raw/train.xa raw/{valid,test}.xa || fail "sentences of test in train"
is "$(cut -f 2,5,6,7,8 raw/mono.xb.tsv)" "$(printf '460\t0\t0\t0\t460')"
# the dictionary is learnt: nearly all of the test's words, in order, by BLEU's own arithmetic
awk -F'\t' '$4 == "BLEU" && $2 != "copying" { n++; if ($5 < 90) bad = 1 }
    END { exit bad || n != 4 }' results.tsv || { cat results.tsv; fail "little was learnt"; }
awk -F'\t' '$4 == "BLEU" && $2 == "copying" && $5 > 5 { exit 1 }' results.tsv
for d in xa-xb xb-xa; do for y in supervised back-translation; do
    is "$(bleu -b -w 2 "raw/test.${d#*-}" < s1/$y/$d)" "$(awk -F'\t' -v y=$y -v d=$d '
        $2 ~ y "$" && $3 == d && $4 == "BLEU" { print $5 }' results.tsv)" "$y $d"
done; done
# the line that it ends with, on text that it has not seen, pasted from any folder
line=$(sed -n '/translate xa to xb$/{n;s/^ *//p}' ../../out)
head -n 40 ../../a > "../../new text"; cd /
bash -c "${line% < *} < $(printf %q "$OLDPWD/../../new text")" > "$OLDPWD/got"; cd "$OLDPWD"
right=$(paste -d '\n' got <(head -n 40 ../../b) | uniq -d | wc -l)
[ "$right" -ge 30 ] || fail "$right of 40 sentences are right: $(head -n 3 got)"
bash -c "$line" | cmp - s1/back-translation/xa-xb
grep -qF "$(sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g' <<< "${line##* --raw}")" report.html ||
    fail "the page lacks $line"
is "$(sed -n '/Sample translations, xa to xb/,/<\/table>/p' report.html | grep -c '<tr>')" 10
grep -q 'Supervised translation: validation BLEU' report.html || fail "no curves"
. "$TOP/test/tool/browser.sh"
! can_look || is "$(looked report.html 390 1280 | cut -d' ' -f 1-4)" "390 dark cards 0
390 light cards 0
1280 dark table 0
1280 light table 0" "$(looked report.html 390 1280)"
