# The page of a run: what it says; that no byte of a file means anything to a browser; and, in
# headless Chromium, that nothing is cut off at three widths in both colour schemes.
. "$TOP/test/cli/lib.sh"
export BIN
evil='</td><script>document.title="x"</script>&"'\''<b onload=x>'
mkdir -p run/.stage run/raw run/s{1,2}/{mlm,mlm-gc}/{pretrain,unmt}
cd run
for s in 1 2 3; do
    for y in MLM MLM-GC; do
        for m in BLEU BLEU-lc multi-bleu; do
            for d in en-de de-en; do printf '%s\t%s\t%s\t%s\t%s\n' $s $y $d $m $s.5; done
        done
        for m in Hit@1 'weighted Hit@1' 'mean cosine'; do printf '%s\t%s\t-\t%s\t0.%s\n' $s $y \
            "$m" $s; done
    done
done > results.tsv
printf -- '-\t%s\ten-de\tBLEU\t1\n' "$evil" >> results.tsv
{ printf '#languages\ten de\n#systems\tmlm mlm-gc\n#results\tresults.tsv\n'
printf '#title\tmlm\tPlain MLM\n'
for y in mlm mlm-gc; do printf "s1.$y.p\tgpu\ts1/$y/pretrain/\t-\t-\tx\n"; done
printf 'results\tquick\tresults.tsv\t-\t-\tcat x > results.tsv\n'; } > plan
touch .stage/{results,s1.mlm.p,s1.mlm-gc.p}.stamp; echo 3.5 > .stage/results.time
printf 'output: raw/train.en %064d\n' 7 > .stage/raw.train.en.stamp
printf 'commit\tabc1234\nmachine\t2 cores\nseeds\t1 2\n' > .stage/plan.run
for i in $(seq 40); do echo \
    "Sentence $i has a somewhat longer text than would fit into a cell of one line. $evil"
    done > raw/test.en
sed 's/Sentence/Satz/' raw/test.en > raw/test.de
for y in mlm mlm-gc; do
    sed "s/Sentence/$y/" raw/test.en > s1/$y/en-de
    for s in 1 2; do for k in pretrain unmt; do for i in 10 20 30; do
        echo "{\"event\":\"valid\",\"step\":$i,\"perplexity\":$((300 / i + s)),"\
"\"mlm\":$((9 - i / 10)).$s,\"bleu\":$((i / 10)).$s}"
    done > s$s/$y/$k/log.jsonl; done; done
done
cd ..
"$TOP/pipelines/summary" run "$PWD/run/plan" "a <run> & \"more\"" > out
page=run/report.html

# what it says
for want in abc1234 '2 cores' "$(printf %064d 7)" 'sacreBLEU counts it' 'one colour per system' \
    'paired t-test' \
    'Sample translations, en to de' 'Satz 3 has' 'mlm-gc 3 has'; do
    grep -qF "$want" $page || fail "the page lacks: $want"
done
is "$(sed -n '/Sample translations, en to de/,/<\/table>/p' $page |
    grep -c '<tr>')" 10 "ten sample translations"
# two kinds of training, and each for phones
is "$(grep -c '<svg' $page)" 4
# three systems' worth of ink, one per system: both seeds of a system share a colour, and differ in
# dashes
plot curves run/s1/mlm/unmt run/s2/mlm/unmt run/s1/mlm-gc/unmt --label "$evil" --label "$evil" \
    --label gc -y bleu -o two.svg
is "$(grep -o 'LT[0-9]*\|rgb( *0, *114, *178)' two.svg |
    grep -c rgb)" "$(grep -o 'rgb( *0, *114, *178)' two.svg | wc -l)"
[ "$(grep -c "stroke='rgb(  0, 114, 178)'" two.svg)" -ge 2 ] || fail "two curves of one colour"
[ "$(grep -c 'stroke-dasharray' two.svg)" -ge 1 ] || fail "no dashes"

# curves have the names of tables, in the order of the plan (s1/mlm-gc sorts before s1/mlm)
is "$(grep -o '>Plain MLM<\|>mlm-gc<' $page | sed -n 1,2p | tr -d '<>' | tr '\n' ,)" \
    "Plain MLM,mlm-gc,"

# of more columns than a page bears systems stand side by side: what was a column is a row
{ printf '# wide\nsystem'; printf '\ten-de retrieval %d' {1..16}; echo
  for y in A B; do printf $y; printf '\t0.%d' {1..16}; echo; done; } > wide.tsv
"$TOP/pipelines/report.sh" wide wide.tsv > wide.html
is "$(grep -c '<tr' wide.html)" 17
grep -q '<tr class="h"><th>system</th><th class="n">A</th><th class="n">B</th></tr>' wide.html &&
    grep -q '<td>en-de retrieval 7</td><td.*>0.7</td><td.*>0.7</td>' wide.html || fail "turned"
cut -f 1-4 wide.tsv > few.tsv
"$TOP/pipelines/report.sh" few few.tsv > few.html
is "$(grep -c '<tr' few.html)" 3 "a table that fits stays as it is"

# no byte of a file is markup
! grep -qi '<script\|<b onload' $page two.svg ||
    fail "markup of a file: $(grep -i '<script\|<b onload' $page | sed -n 1,2p)"
grep -q 'a &lt;run&gt; &amp; &quot;more&quot;' $page || fail "the title"
ids=$(grep -o '<table id="[^"]*"' $page); [ "$(wc -l <<< "$ids")" -gt 3 ] || fail "tables: $ids"
is "$(sort <<< "$ids" | uniq -d)" "" "two tables of one name: one turns into cards with the other"
printf '<svg viewBox="0 0 9 9"><script>x</script></svg>\n' > bad.svg; printf 'a\tb\n' > t.tsv
fails 1 'bad.svg: has more than a picture in it' "$TOP/pipelines/report.sh" T t.tsv bad.svg
printf '<svg viewBox="0 0 9 9" onload="x()"></svg>\n' > bad.svg
fails 1 'bad.svg: has more than a picture in it' "$TOP/pipelines/report.sh" T t.tsv bad.svg
printf 'a\tb\n\xff\x01\x1b[1mx\ty\n' > t.tsv; "$TOP/pipelines/report.sh" T t.tsv > odd.html
grep -q '<td>\[1mx</td>' odd.html || fail "bytes that are no text: $(grep -a '<td' odd.html |
    od -c | sed -n 1,10p)"
# nor has a picture anything but what gnuplot draws with, whatever browsers would make of it
while IFS= read -r svg; do
    printf '%s\n' "$svg" > bad.svg
    fails 1 'bad.svg: has more than a picture in it' "$TOP/pipelines/report.sh" T t.tsv bad.svg
done <<'END'
<svg/onload=x()></svg>
<svg viewBox="0 0 9 9"><image/onerror=x() href=x></svg>
<svg viewBox="0 0 9 9"><a	href="javascript:x()">x</a></svg>
<svg viewBox="0 0 9 9"><rect x="1"onload="x()"/></svg>
<svg viewBox="0 0 9 9"><rect ONLOAD="x()"/></svg>
<svg viewBox="0 0 9 9"><rect onload="location=1"/></svg>
<script>x()</script><svg viewBox="0 0 9 9"></svg>
<svg viewBox="0 0 9 9"></svg><p>x</p>
<svg viewBox="0 0 9 9"><!-- --!><img src=x onerror=x()> --></svg>
<svg viewBox="0 0 9 9"><use href="http://x.example/y.svg#a"/></svg>
<svg viewBox="0 0 9 9"><use xlink:href="data:image/svg+xml,x"/></svg>
<svg viewBox="0 0 9 9"><rect fill="url(http://x.example)"/></svg>
<svg viewBox="0 0 9 9"><rect style="background: url(x)"/></svg>
<svg viewBox="0 0 9 9"><set attributeName="href" to="javascript:x()"/></svg>
END
printf '<svg viewBox="0 0 9 9"><text>a &lt;script> &gt; b</text></svg>\n' > ./-e.svg
cp t.tsv ./-n; "$TOP/pipelines/report.sh" T -n -e.svg > odd.html ||
    fail "a picture with words in it"

# a recipe need not have results: then the page has what its stages left
mkdir -p bare/.stage bare/page
printf '#languages\ten de\n#results\tresults.tsv\nlen\tquick\tpage/a.tsv\t-\t-\ttrue\n' > bare/plan
touch bare/.stage/len.stamp; printf '# Length of words\nletters\twords\n3\t41\n' > bare/page/a.tsv
"$TOP/pipelines/summary" bare "$PWD/bare/plan" bare > out
grep -qx 'there is no results.tsv' out || fail "$(cat out)"
grep -q '<caption>Length of words' bare/report.html || fail "the page lacks the stage's own table"
grep -q '<caption>Results' bare/report.html && fail "an empty table"

# in a browser
. "$TOP/test/tool/browser.sh"
can_look || exit 0
looked $page 360 768 1280 > said
is "$(cut -d' ' -f1-4 said)" "360 dark cards 0
360 light cards 0
768 dark cards 0
768 light cards 0
1280 dark table 0
1280 light table 0" "$(cat said; tail -n 2 chromium.err)"

# it does see what is cut off
sed 's/<h1>/<div style="width:2000px">wide<\/div><h1>/' $page > wide.html
looked wide.html 360 768 1280 > said; is "$(grep -c 'beyond the side' said)" 6 "$(cat said)"
