# plot curves draws fields of logs as SVG and PNG, and gives the numbers it draws; report.sh makes a
# page of them.
. "$TOP/test/cli/lib.sh"
mkdir -p runs/a runs/b
log() {   # k: a log of 60 steps with a loss, and every tenth a validation
    local s; for s in $(seq 60); do
        printf '{"event":"train","step":%s,"time":1.5,"loss":%s,"lr":0.001,"tokens":%s}\n' \
            $s $((1000 - $1 * s)) $((s * 100))
        [ $((s % 10)) != 0 ] || echo \
            "{\"event\":\"valid\",\"step\":$s,\"time\":1.5,\"bleu\":$((s / 2)).25,\"note\":\"x\"}"
    done
}
log 7 > runs/a/log.jsonl; log 9 > runs/b/log.jsonl

# SVG on standard output, with the runs in the legend by what tells them apart
plot curves runs/a/log.jsonl runs/b/log.jsonl > x.svg
head -n 1 x.svg | has '<?xml'; tail -n 3 x.svg | has '</svg>'
grep -q '>a</text>' x.svg && grep -q '>b</text>' x.svg && grep -q '>loss</text>' x.svg ||
    fail "labels"
plot curves runs/a runs/b > y.svg; same x.svg y.svg     # folders of runs
plot curves runs/a runs/b > y.svg; same x.svg y.svg     # same input, same bytes
plot curves runs/a --title "it's <new> & \$x_{1}" --label 'b"l' -o t.svg
grep -q "it.s &lt;new> &amp; \$x_{1}" t.svg || fail "the title is not as it was given"
# PNG
plot curves runs/a -y loss -y bleu --smooth 3 --against runs/b -o x.png
is "$(head -c 4 x.png | od -An -tx1)" " 89 50 4e 47"
# of several logs, what one has not is said
mkdir tagged; printf '{"event":"train","step":%d,"time":1,"tag":%d}\n' 1 3 2 2 > tagged/log.jsonl
plot curves -q runs/a tagged -o n.svg 2> err
is "$(cat err)" "plot: tagged: is not in the figure: it has none of the fields loss; its own are \
step, time, tag (--y)"
plot curves runs/a tagged -y loss -y tag -o n.svg 2> err
is "$(cat err)" "plot: runs/a: has no field tag, and no curve there
plot: tagged: has no field loss, and no curve there"
plot curves -q tagged runs/a -o n.svg 2> err       # whose it is, not those of the next as well
is "$(cat err)" "plot: tagged: is not in the figure: it has none of the fields loss; its own are \
step, time, tag (--y)"
plot curves runs/a runs/b -o n.svg 2> err; is "$(cat err)" ""
plot curves -q runs/a --against tagged -y loss -o n.svg 2> err      # of the reference, too
is "$(cat err)" "plot: tagged: is not in the figure: it has none of the fields loss; its own are \
step, time, tag (--y)"
plot curves runs/a --log-y --width 500 --height 300 -o l.svg
grep -q '> *900</text>' l.svg && grep -q 'viewBox="0 0 500 300"' l.svg ||
    fail "logarithmic axis, size"
# an axis says what its numbers are multiplied by
for unit in 1:2 1000:k 1000000:M 1000000000:G; do
    for s in 0 20 40; do echo \
        "{\"event\":\"train\",\"step\":$((s * ${unit%:*})),\"time\":1,\"loss\":$s}"
        done > unit.jsonl
    plot curves unit.jsonl > u.svg; tic=20; [ "$unit" = 1:2 ] || tic=20${unit#*:}
    grep -q "> *$tic</text>" u.svg || fail "no $tic on the axis of steps"
done
# what is drawn without --y: losses of any objective, and what validations have
drawn() {       # TRAIN-FIELDS VALID-FIELDS: the panels, in their order
    local kind f line
    for kind in train valid; do
        line="{\"event\":\"$kind\",\"step\":1,\"time\":1"
        for f in $1; do line+=",\"$f\":2"; done
        [ -z "$1" ] || echo "$line}"
        shift
    done > drawn.jsonl
    plot curves drawn.jsonl --tsv - -o x.svg | sed 1d | cut -f 1 | paste -sd ' '
}
is "$(drawn 'grad_norm align lr mlm' 'perplexity en.perplexity')" 'mlm align perplexity'
is "$(drawn 'dict moco scs tcs tlm' 'bleu en-de.bleu')" 'tlm moco tcs scs dict bleu'
is "$(drawn mass 'en.mass_perplexity mass_perplexity')" 'mass mass_perplexity'
is "$(drawn 'class lr' 'en.accuracy de.accuracy')" 'class en.accuracy de.accuracy'
is "$(drawn 'moco lr' '')" moco
is "$(drawn '' 'bleu chrf')" bleu
is "$(drawn 'speed lr' 'chrf')" 'speed lr chrf'
is "$(drawn 'mlm loss' 'bleu')" loss
# the losses are those of all objectives
all=$(sed -n '/^#define OBJECTIVES/,/^$/s/X(\([a-z]*\))/\n=\1\n/gp' \
    "$TOP/lib/objective/table.h" | sed -n 's/^=//p' | xargs)
[ "$(wc -w <<< "$all")" -ge 17 ] || fail "objectives: $all"
is "$(drawn "lr $all" '')" "$all"
# numbers
plot curves runs/a -y bleu --tsv t.tsv > x.svg
is "$(head -n 3 t.tsv)" "$(printf '%s\t%s\t%s\t%s\t%s\n' field run step value smoothed \
    bleu runs/a 10 5.25 5.25  bleu runs/a 20 10.25 10.25)"
plot curves runs/a --smooth 2 --x tokens --tsv t.tsv > x.svg
is "$(sed -n '2p;5p' t.tsv)" "$(printf 'loss\truns/a\t100\t993\t993\nloss\truns/a\t400\t972\t972')"
plot curves runs/a --smooth 2 -y lr --tsv - -o x.svg | has 'lr	runs/a	1	0.001	0.001'

# what the format asks of a reader: torn lines, null, repeated steps, unknown events, steps that go
# back
{
    echo '{"event":"train","step":2,"time":1,"loss":5}'
    echo '{"event":"train","step":1,"time":1,"loss":9}'
    echo '{"event":"train","step":2,"time":1,"loss":4}'
    echo '{"event":"train","step":3,"time":1,"loss":null}'
    echo '{"event":"surprise","step":3,"time":1,"deep":{"loss":7}}'
    echo 'no JSON'; echo '[1]'; echo
    printf '{"event":"train","step":4,"time":1,"lo'
} > odd.jsonl
plot curves odd.jsonl --tsv t.tsv > x.svg
is "$(cut -f 2- t.tsv | tail -n +2)" "$(printf 'odd\t1\t9\t9\nodd\t2\t4\t4')"
# numbers that a double just holds: their range was infinite, and gnuplot said so
for y in 1.7e308 7 -1.7e308; do
    step=$((${step:-0} + 1)); echo '{"event":"train","step":'$step',"loss":'$y'}'
done > far.jsonl
plot curves far.jsonl --tsv far.tsv > y.svg
is "$(cut -f 2- far.tsv | tail -n +2)" "$(printf 'far\t2\t7\t7')"
# runs of one label share an entry of the legend, and each has it in the table
plot curves odd.jsonl far.jsonl --label A --label A --tsv t2.tsv > x.svg
is "$(cut -f 2-4 t2.tsv | tail -n +2)" "$(printf 'A\t1\t9\nA\t2\t4\nA\t2\t7')"
is "$(grep -c '>A</text>' x.svg)" 1 "entries of the legend"
# a tab and a line's end in a name are no cell and no row: five columns, as the picture has them
plot curves odd.jsonl --label $'A\tB\nC' --tsv t2.tsv > x.svg
is "$(sed -n 2p t2.tsv)" "$(printf 'loss\tA\\x09B\\x0AC\t1\t9\t9')"
# a narrow picture has room below for the legend of its fullest panel: 2 * 294 + 2 * 18 + 12 pixels
echo '{"event":"train","step":1,"loss":5,"lr":1}' > lr.jsonl
plot curves odd.jsonl lr.jsonl -y lr -y loss --width 400 | has 'viewBox="0 0 400 636"'
zstd -q odd.jsonl -o z.zst; plot curves z.zst --label odd --tsv u.tsv > x.svg; same t.tsv u.tsv

fails 1 'not a|no line' plot curves "$TOP/LICENSE"
fails 1 '"speed"; fields are: step, time, loss, lr, tokens, bleu' plot curves runs/a -y speed
fails 1 'another field' plot curves runs/a --x speed
fails 1 'gnuplot is not installed' env PATH="$BIN" plot curves runs/a
fails 2 'curves' plot
fails 2 'no log' plot curves
fails 2 'labels' plot curves runs/a runs/b --label one
fails 2 'LOW:HIGH' plot curves runs/a --range 3
fails 2 'LOW:HIGH' plot curves runs/a --range 0:1e400   # infinite, which gnuplot would speak about

# rsim, hits: columns of tables by layer; tables with the same label are repeated runs: mean and
# Student's interval
printf '%s\t%s\t%s\t%s\t%s\n' layer pairs rsim cosine rsim-ci \
    0 9 0.5 0.1 0.05  1 9 0.75 0.2 0.04  2 9 nan 0.3 0.04 > one.tsv
printf 'layer\trsim\n0\t0.7\n1\t0.25\n' > two.tsv
printf 'layer\trsim\n0\t0.6\n1\t0.5\n' > three.tsv
plot rsim one.tsv two.tsv --tsv t.tsv > x.svg
r="RSIM (Pearson's r)"
is "$(cut -f 1-4,6 t.tsv | sed -n '1,4p')" "$(printf '%s\t%s\t%s\t%s\t%s\n' \
    field run layer value ci  "$r" one 0 0.5 0.05  "$r" one 1 0.75 0.04  "$r" two 0 0.7 '')"
grep -q '>layer</text>' x.svg && grep -q '>mean cosine of translations</text>' x.svg ||
    fail "names of axes"
# what gnuplot is told stands in `script`
gnuplot=$(command -v gnuplot); mkdir spy
printf '#!/bin/sh\ntee script | exec %s "$@"\n' "$gnuplot" > spy/gnuplot; chmod +x spy/gnuplot
PATH=$PWD/spy:$PATH plot rsim one.tsv two.tsv three.tsv --label A --label A --label A -y rsim \
    --tsv t.tsv -o x.png
# mean 0.6, s 0.1: half the interval is 4.3027 * 0.1 / sqrt 3
is "$(awk -F'\t' 'NR == 2 { printf "%.4f %.4f", $4, $6 } END { print " " NR }' t.tsv)" \
    "0.6000 0.2484 3"
# the bar of each mean ends half an interval below and above it
is "$(sed -n '/^$d0_0/,/^EOD/p' script | awk 'NF == 5 { printf "%.4f %.4f ", $4, $5 }')" \
    "$(awk -F'\t' 'NR > 1 { printf "%.4f %.4f ", $4 - $6, $4 + $6 }' t.tsv)" "bars of intervals"
# large numbers that hardly differ, s 1: 4.30265273 / sqrt 3
for i in 0 1 2; do printf 'layer\trsim\n0\t%d\n' $((1000000000 + i)) > large$i.tsv; done
plot rsim large{0,1,2}.tsv --label A --label A --label A --tsv large.tsv -o x.svg
is "$(cut -f 6 large.tsv | sed 1d)" 2.48413771 "an interval of large numbers"
# what a mean of runs has not is said: layers 2 (one.tsv: nan) and 3 are in two of three, layer 4 in
# none, and "cosine" is in one alone, whose interval is none; two runs of 0.5 and 0.7 are 0.6
printf 'layer\trsim\n0\t0.7\n1\t0.25\n2\t0.5\n3\t0.1\n4\tnan\n' > two.tsv
printf 'layer\trsim\n0\t0.6\n1\t0.5\n2\t0.5\n3\t0.2\n' > three.tsv
plot rsim one.tsv two.tsv three.tsv --label A --label A --label A --tsv t.tsv -o x.svg 2> note
is "$(cat note)" \
"plot: A: rsim: left out 2 values of layer at which not all of the 3 runs have a number
plot: A: 2 of its 3 runs have no column cosine; the mean is that of the others"
is "$(cut -f 1,3,4 t.tsv | tr '\t' ' ')" "field layer value
$r 0 0.6
$r 1 0.5
mean cosine of translations 0 0.1
mean cosine of translations 1 0.2
mean cosine of translations 2 0.3"
plot rsim one.tsv two.tsv three.tsv -y rsim --label A --label B --label C -o x.svg 2> note
is "$(cat note)" ""
# columns are found by their names: two of one name would both be drawn as the first
printf 'rank\ten\ten\n1\t0.2\t0.1\n' > bad.tsv
fails 1 'bad.tsv:1: two columns are called "en"' plot ranks bad.tsv
printf 'group\tbar\tvalue\tvalue\na\tb\t1\t2\n' > bad.tsv
fails 1 'bad.tsv:1: two columns are called "value"' plot bars bad.tsv
printf 'layer\thit@1\thit@5\n0\t0.5\t0.6\n1\t0.4\t0.5\n' > hits.tsv
plot hits hits.tsv --tsv t.tsv > x.svg; is "$(wc -l < t.tsv)" 5
plot hits hits.tsv > y.svg; same x.svg y.svg
fails 1 'nothing for plot bins|no bins' plot bins hits.tsv
fails 1 'its columns are: layer, hit@1, hit@5' plot rsim hits.tsv
fails 1 'no table has numbers in column "speed"; columns of hits.tsv: layer' plot hits hits.tsv \
    -y speed
fails 1 'no column "depth"' plot hits hits.tsv -x depth
printf 'layer\thit@1\n0\t0.5\t1\n' > bad.tsv; fails 1 'bad.tsv:2: more cells' plot hits bad.tsv
printf 'layer\thit@1\n0\n' > bad.tsv; fails 1 'bad.tsv:2: 1 cells' plot hits bad.tsv
# the mean of two such runs would be infinite
printf 'layer\thit@1\n0\t-1e308\n' > bad.tsv
fails 1 'bad.tsv:2: "-1e308" under hit@1 is too large to be drawn' plot hits bad.tsv bad.tsv
printf 'layer\thit@1\n0\t-1e150\n' > far.tsv; plot hits far.tsv far.tsv -o far.svg
printf 'layer\thit@1\n0\tmuch\n' > bad.tsv
fails 1 'bad.tsv:2: "much" under hit@1' plot hits bad.tsv
printf 'layer\thit@1\n1\t0\n1\t0\n' > bad.tsv; fails 1 'bad.tsv:3: layer is not' plot hits bad.tsv
printf 'layer\thit@1\n' > bad.tsv; fails 1 'bad.tsv: no row' plot hits bad.tsv
fails 1 'UTF-8' plot hits <(printf 'a\t\377\n1\t2\n')
fails 2 'no table' plot hits

# bins and ranks: what cooc-study prints
printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' \
    low high pairs difference difference-ci ratio ratio-ci share \
    0 2 5 1 0.1 0.5 0.1 0.4  2 4 6 2 0.1 0.4 0.1 0.6  0 4 11 9 0 9 0 1 > bins.tsv
plot bins bins.tsv --tsv t.tsv -o x.svg
is "$(cut -f 2-4,6 t.tsv | sed -n '2,4p')" "$(printf \
    'bins\t1\t1\t0.1\nbins\t3\t2\t0.1\nbins\t1\t0.5\t0.1')"
awk 'BEGIN { print "rank\ten\tde"
    for (i = 1; i <= 5000; i++) print i "\t" 0.1 / i "\t" (i < 4000 ? 0.2 / i : "") }' > ranks.tsv
plot ranks ranks.tsv --tsv t.tsv -o x.svg
grep -q '>10⁻³</text>' x.svg && grep -q '>de</text>' x.svg || fail "axes of ranks"
[ "$(wc -l < t.tsv)" -lt 900 ] && [ "$(wc -l < t.tsv)" -gt 300 ] ||
    fail "ranks are not thinned: $(wc -l < t.tsv)"

# what a logarithmic axis cannot show is said in our words, and not as gnuplot's undefined inf
printf 'layer\trsim\n0\t-0.5\n1\t0\n' > bad.tsv; plot rsim bad.tsv -o x.svg
fails 1 "^plot: RSIM .*: no number that a logarithmic axis can show; the least is 1e-150\$" \
    plot rsim bad.tsv --log-y
printf 'layer\trsim\n0\t-0.5\n1\t0\n2\t1e-150\n3\t0.5\n' > bad.tsv
plot rsim bad.tsv --log-y -o x.svg 2> note; is "$(cat note)" \
    "plot: $r: left out 2 points below 1e-150, which a logarithmic axis cannot show"
plot rsim bad.tsv -o x.svg 2> note; is "$(cat note)" ""
fails 1 'no number in --range that' plot curves runs/a --log-y --range=-3:-1
fails 1 '^plot: loss: --range begins at 0, and a logarithmic axis at 1e-150 at the least$' \
    plot curves runs/a -y loss --log-y --range 0:9
printf 'rank\ten\n0\t0.5\n1\t0.25\n' > bad.tsv
fails 1 '^plot: rank: 0 cannot be shown on a logarithmic axis' plot ranks bad.tsv
printf 'layer\trsim\n0\t1e-320\n1\t1e150\n' > far.tsv; plot rsim far.tsv --log-y -o x.svg
fails 2 'but --title, --output, --png, --width and --height' plot bars bad.tsv --tsv t.tsv

# options of another picture are refused
fails 2 '^plot: --smooth is for plot curves, not for plot hits$' plot hits hits.tsv --smooth 3
fails 2 '^plot: --dict is for plot tsne, not for plot curves$' plot curves runs/a --dict hits.tsv
fails 2 'and --range are not for plot tsne$' plot tsne en=hits.tsv --range 0:1
plot tsne -q en="$TOP/test/golden/vectors/tsne.a.vec" --label Z --iterations 9 -o x.svg
grep -q '>Z</text>' x.svg || fail "tsne has no label"

for f in o tsv; do
    fails 1 '^plot: none/o: cannot create' plot tsne en=missing -o out.svg --${f/#o/output} none/o
done
fails 1 '^plot: missing: cannot' plot tsne en=missing -o out.svg --tsv out.tsv
fails 1 '^plot: out: is already being written' plot hits hits.tsv --png -o out --tsv out
[ -z "$(find . -name '.out*.tmp')" ] && [ ! -e out.svg ] && [ ! -e out.tsv ] ||
    fail 'an output is left'

# tsne: the words of a dictionary, with scikit-learn's divergence at the same perplexity; the same
# bytes on any number of threads
g=$TOP/test/golden/vectors
for m in exact barnes-hut; do
    plot tsne en=$g/tsne.a.vec de=$g/tsne.b.vec --dict $g/tsne.dict --perplexity 20 --method $m \
        --names 3 --tsv t.tsv -o x.svg 2> note
    awk -v m=${m/-/_} \
        'FNR == NR { want[$1] = $2; next }
        match($0, /divergence [0-9.]+/) { kl = substr($0, RSTART + 11, RLENGTH - 11)
            ok = kl < 1.02 * want[m] }
        END { exit !ok }' $g/tsne.tsv note ||
        fail "$m: $(cat note) where scikit-learn has $(cat $g/tsne.tsv)"
done
grep -q '240 points; 3 components' note
is "$(wc -l < t.tsv) $(head -n 1 t.tsv | tr '\t' ' ')" "241 language word x y pc1 pc2 pc3"
for t in 1 2; do plot tsne -q --threads $t en=$g/tsne.a.vec de=$g/tsne.b.vec --perplexity 20 \
    --tsv t$t.tsv -o x$t.svg; done
same t1.tsv t2.tsv; same x1.svg x2.svg
plot tsne -q en=$g/tsne.a.vec de=$g/tsne.b.vec --perplexity 20 -o x.png; is "$(head -c 4 x.png |
    od -An -tx1)" " 89 50 4e 47"
printf 'a0\tb0\na0\tb0\na1 x\tb1\nnone\tb1\n' > d.tsv
plot tsne en=$g/tsne.a.vec de=$g/tsne.b.vec --dict d.tsv > x.svg 2> note &&
    fail "two points are too few"
left='left out 1 with several words, 1 with a word without a vector, 1 repeated'
grep -q "d.tsv: 1 pairs; $left" note
fails 1 'cannot take 3 principal' plot tsne -q en=$g/tsne.a.vec de=$g/tsne.b.vec --dict d.tsv
fails 1 '10 points are too few for a perplexity of 30' plot tsne -q en=$g/tsne.a.vec \
    de=$g/tsne.b.vec --dict $g/tsne.dict --pairs 5
printf 'x\ty\n' > d.tsv; fails 1 'd.tsv: no pair' plot tsne -q en=$g/tsne.a.vec de=$g/tsne.b.vec \
    --dict d.tsv
printf 'a 1 2\n' > small.vec; fails 1 'en has 8 dimensions, de has 2' plot tsne \
    -q en=$g/tsne.a.vec de=small.vec
fails 1 'No such' plot tsne en=none.vec
fails 2 '^plot: --pairs are those of --dict FILE$' plot tsne en=$g/tsne.a.vec --pairs 3
fails 2 'or two with --dict' plot tsne en=$g/tsne.a.vec --dict d.tsv

# words next to their points: as many pairs as were asked for, and those asked for by name
tsne="plot tsne -q en=$g/tsne.a.vec de=$g/tsne.b.vec --dict $g/tsne.dict --perplexity 20"
$tsne --names 25 -o names.svg; is "$(grep -o 'text>[ab][0-9]*<' names.svg | sort -u | wc -l)" 50
first=$(sed -n 100p $g/tsne.dict | cut -f 1) other=$(sed -n 100p $g/tsne.dict | cut -f 2)
$tsne --name $first -o one.svg
is "$(grep -o 'text>[ab][0-9]*<' one.svg | sort | tr -d '\n')" "text>$first<text>$other<"
fails 1 'plot: --name nobody: the picture has no such word' $tsne --name nobody -o no.svg
[ ! -e no.svg ] || fail "a picture without the word"
# a crowd: what has no room is counted
plot tsne en=$g/tsne.a.vec de=$g/tsne.b.vec --dict $g/tsne.dict --perplexity 20 --names 120 \
    --width 200 \
    --height 200 -o crowd.svg 2> note
n=$(grep -o 'text>[ab][0-9]*<' crowd.svg | sort -u | wc -l)
grep -q "$((240 - n)) labels did not fit next to their points" note || fail "$n drawn: $(cat note)"
# a word that is not next to its point has a line from there to its nearest edge
PATH=$PWD/spy:$PATH $tsne --names 60 --width 400 --height 400 -o lines.svg
grep -A 1 '^set arrow' script | sed -nE '/^set arrow/ { N
    s/.*from ([^,]*),([^ ]*) to ([^,]*),([^ ]*) .* at ([^,]*),([^ ]*) left.*/\1 \2 \3 \4 \5 \6/p
    }' > ends
[ "$(grep -c . ends)" -gt 3 ] || fail "no lines to words"
# the words are left-aligned at 5 and centred at 6; a letter is some 7 of the 400 pixels
awk -v range="$(sed -nE 's/^set xrange \[(.*):(.*)\]/\1 \2/p' script)" '
    BEGIN { split(range, r, " "); letter = 7 * (r[2] - r[1]) / 400 }
    { down = $4 - $6 }
    $3 < $5 - 1e-6 || $3 > $5 + 6 * letter || down > 2 * letter || -down > 2 * letter {
        print; bad = 1 }
    END { exit bad }' ends > off || fail "lines that end elsewhere than at their words: $(cat off)"
# of several translations of a word, the first listed
{ cat $g/tsne.dict; paste <(cut -f 1 $g/tsne.dict) <(cut -f 2 $g/tsne.dict | tac); } > many.dict
plot tsne en=$g/tsne.a.vec de=$g/tsne.b.vec --dict many.dict --perplexity 20 --names 25 \
    -o best.svg 2> note
same best.svg names.svg
grep -q '120 further translations of the same words are not drawn' note || fail "$(cat note)"

# in a browser, no word is cut off or on top of another
if command -v chromium > /dev/null; then
    cat > look.html <<'JS'
<body style="margin:0"><pre id="said"></pre><script>
addEventListener("load", () => {
    for (const svg of document.querySelectorAll("svg")) {
        const frame = svg.getBoundingClientRect(), wrong = [];
        const words = [...svg.querySelectorAll("text")]
            .filter(t => /^[ab][0-9]+$/.test(t.textContent.trim()))
            .map(t => [t.textContent, t.getBoundingClientRect()]);
        words.forEach(([w, r], i) => {
            if (r.left < frame.left || r.right > frame.right ||
                r.top < frame.top || r.bottom > frame.bottom)
                wrong.push(w + " is cut off");
            words.slice(0, i).forEach(([v, q]) => {
                if (r.left < q.right && q.left < r.right &&
                    r.top + 2 < q.bottom && q.top + 2 < r.bottom)
                    wrong.push(v + " and " + w);
            });
        });
        said.textContent +=
            `said ${words.length} ${wrong.length} ${wrong.slice(0, 3).join("; ")}\n`;
    }
});
</script>
JS
    for f in names crowd; do sed '/^<?xml/d; /^<!DOCTYPE/d' $f.svg; done >> look.html
    # a browser reserves more addresses than a mutant's test has (test/mutants/run)
    (ulimit -S -v "$(ulimit -H -v)"; HOME=$PWD exec timeout 120 chromium \
        --headless=new --no-sandbox --disable-gpu --window-size=900,1000 \
        --virtual-time-budget=5000 --dump-dom "file://$PWD/look.html") 2> /dev/null |
        sed -n 's/.*said \([0-9].*\)/\1/p' > said
    is "$(cut -d' ' -f 1,2 said)" "50 0
$n 0" "$(cat said)"
fi

# report.sh: one page, escaped, tables and pictures inside
report=$TOP/pipelines/report.sh
plot curves runs/a -o a.svg; plot curves runs/b -o b.svg
printf 'system\tBLEU\tnote\nA & B\t12.5 ±0.3\t<x>\nC\t-\t\n\nstage\tseconds\nx\t3\n' > t.tsv
"$report" 'R&D' t.tsv a.svg b.svg > r.html
grep -q '<title>R&amp;D</title>' r.html &&
    cells='<td>A &amp; B</td><td class="n" data-label="BLEU">12.5 ±0.3</td>'
    cells+='<td data-label="note">&lt;x&gt;</td>'
    grep -qF "$cells" r.html || fail "cells"
is "$(grep -c '<svg' r.html)" 2; is "$(grep -c '<table id=' r.html)" 2
is "$(grep -c '<?xml' r.html || true)" 0
is "$(grep -o 'https\?://[^"]*' r.html | grep -vc w3.org ||
    true)" 0 "the page asks for nothing from elsewhere"
fails 1 'nothere' "$report" T nothere
fails 1 'not an SVG' "$report" T t.tsv t.tsv
fails 2 'usage' "$report" T

echo "# bars: groups, a colour per bar, intervals, panels; numbers of the picture are the table's"
printf 'panel\tgroup\tbar\tvalue\tci\tmore\n' > b.tsv
printf '%s\t%s\t%s\t%s\t%s\t%s\n' POS trans MLM 10 '' x  POS inverted MLM 80 8 x \
    POS inverted ALIGN 40 4 x >> b.tsv
printf 'NER\ttrans\tXLM\t-5\t1\tx\n' >> b.tsv
plot bars b.tsv --title "Delta" -o b.svg
! grep -q "gpPt.*FFFFFF" b.svg || fail "a circle is cut out of the bars"
for word in Delta POS NER trans inverted MLM ALIGN XLM; do
    grep -q ">$word</text>" b.svg || fail "no $word in the picture"
done
# heights of the boxes, MLM's before ALIGN's; those of the legend have 9 pixels
boxes() {
    sed -n "/<polygon fill = 'rgb.*fill-opacity/s/.*points = '\([^']*\)'.*/\1/p" "$1" |
        awk '{ n = split($0, c, "[ ,]+"); low = high = c[2] + 0
            for (i = 2; i <= n; i += 2) {
                if (c[i] != "" && c[i] + 0 < low) low = c[i] + 0
                if (c[i] + 0 > high) high = c[i] + 0
            }
            if (high - low != 9) print high - low }'
}
boxes b.svg > heights; is "$(wc -l < heights)" 4 "a box for each value"
is "$(awk 'NR == 1 { a = $1 } NR == 2 { b = $1 } NR == 3 { c = $1 }
    END { printf "%.1f %.1f", b / a, c / a }' heights)" "8.0 4.0" "heights of the bars"
bad() { printf 'group\tbar\tvalue\tci\n'"$2" > bad.tsv; fails 1 "$1" plot bars bad.tsv; }
x60=$(printf 'x%.0s' {1..60}); bad "\"$x60\" is not a number" "a\\tb\\t${x60}x\\t\\n"
bad 'bad.tsv:2: 3 cells, not 4' 'a\tb\t1\n'
bad 'bad.tsv:2: "x" is not a number' 'a\tb\tx\t\n'
bad 'bad.tsv:2: "" is not a number' 'a\tb\t\t\n'
bad 'bad.tsv:2: "-1e308" is not a number that can be drawn' 'a\tb\t-1e308\t\na\tc\t1e308\t\n'
bad 'bad.tsv:2: "-1" is not half of an interval' 'a\tb\t1\t-1\n'
bad 'bad.tsv:3: a second value of "b" in "a"' 'a\tb\t1\t\na\tb\t2\t\n'
bad 'no row of values' ''
printf 'group\tvalue\na\t1\n' > bad.tsv; fails 1 'bad.tsv:1: no column "bar"' plot bars bad.tsv
fails 2 'one table, as it is' plot bars b.tsv b.tsv
