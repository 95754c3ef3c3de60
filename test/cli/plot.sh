# plot curves draws fields of logs as SVG and PNG, and gives the numbers it draws; report.sh makes a page of them.
. "$TOP/test/cli/lib.sh"
mkdir -p runs/a runs/b
log() {   # k: a log of 60 steps with a loss, and every tenth a validation
    local s; for s in $(seq 60); do
        echo "{\"event\":\"train\",\"step\":$s,\"time\":1.5,\"loss\":$((1000 - $1 * s)),\"lr\":0.001,\"tokens\":$((s * 100))}"
        [ $((s % 10)) != 0 ] || echo "{\"event\":\"valid\",\"step\":$s,\"time\":1.5,\"bleu\":$((s / 2)).25,\"note\":\"x\"}"
    done
}
log 7 > runs/a/log.jsonl; log 9 > runs/b/log.jsonl

# SVG on standard output, with the runs in the legend by what tells them apart
plot curves runs/a/log.jsonl runs/b/log.jsonl > x.svg
head -n 1 x.svg | grep -q '<?xml'; tail -n 3 x.svg | grep -q '</svg>'
grep -q '>a</text>' x.svg && grep -q '>b</text>' x.svg && grep -q '>loss</text>' x.svg || fail "labels"
plot curves runs/a runs/b > y.svg; same x.svg y.svg     # folders of runs
plot curves runs/a runs/b > y.svg; same x.svg y.svg     # same input, same bytes
plot curves runs/a --title "it's <new> & \$x_{1}" --label 'b"l' -o t.svg
grep -q "it.s &lt;new> &amp; \$x_{1}" t.svg || fail "the title is not as it was given"
# PNG
plot curves runs/a -y loss -y bleu --smooth 3 --against runs/b -o x.png
is "$(head -c 4 x.png | od -An -tx1)" " 89 50 4e 47"
plot curves runs/a --log-y --width 500 --height 300 -o l.svg
grep -q '> *900</text>' l.svg && grep -q 'viewBox="0 0 500 300"' l.svg || fail "logarithmic axis, size"
# numbers
plot curves runs/a -y bleu --tsv t.tsv > x.svg
is "$(head -n 3 t.tsv)" "$(printf 'field\trun\tstep\tvalue\tsmoothed\nbleu\truns/a\t10\t5.25\t5.25\nbleu\truns/a\t20\t10.25\t10.25')"
plot curves runs/a --smooth 2 --x tokens --tsv t.tsv > x.svg
is "$(sed -n '2p;5p' t.tsv)" "$(printf 'loss\truns/a\t100\t993\t993\nloss\truns/a\t400\t972\t972')"
plot curves runs/a --smooth 2 -y lr --tsv - -o x.svg | grep -q 'lr	runs/a	1	0.001	0.001'

# what the format asks of a reader: torn lines, null, repeated steps, unknown events, steps that go back
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
zstd -q odd.jsonl -o z.zst; plot curves z.zst --label odd --tsv u.tsv > x.svg; same t.tsv u.tsv

fails 1 'missing.*No such' plot curves missing
fails 1 'not a|no line' plot curves "$TOP/LICENSE"
: > empty; fails 1 'no line' plot curves empty
fails 1 '"speed"; there are: step, time, loss, lr, tokens, bleu' plot curves runs/a -y speed
fails 1 'another field' plot curves runs/a --x speed
fails 1 'gnuplot is not installed' env PATH="$BIN" plot curves runs/a
fails 1 'No space' plot curves runs/a -o /dev/full
fails 2 'curves' plot
fails 2 'no log' plot curves
fails 2 'labels' plot curves runs/a runs/b --label one
fails 2 'LOW:HIGH' plot curves runs/a --range 3

# report.sh: one page, escaped, tables and pictures inside
report=$TOP/pipelines/report.sh
plot curves runs/a -o a.svg; plot curves runs/b -o b.svg
printf 'system\tBLEU\tnote\nA & B\t12.5 ±0.3\t<x>\nC\t-\t\n\nstage\tseconds\nx\t3\n' > t.tsv
"$report" 'R&D' t.tsv a.svg b.svg > r.html
grep -q '<title>R&amp;D</title>' r.html && grep -q '<td>A &amp; B</td><td class="n">12.5 ±0.3</td><td>&lt;x&gt;</td>' r.html || fail "cells"
is "$(grep -c '<svg' r.html)" 2; is "$(grep -c '<table>' r.html)" 2; is "$(grep -c '<?xml' r.html || true)" 0
is "$(grep -o 'https\?://[^"]*' r.html | grep -vc w3.org || true)" 0 "the page asks for nothing from elsewhere"
fails 1 'nothere' "$report" T nothere
fails 1 'not an SVG' "$report" T t.tsv t.tsv
fails 2 'usage' "$report" T
