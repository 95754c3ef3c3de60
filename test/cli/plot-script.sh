# What plot tells gnuplot, number by number: frames and legend in pixels, ranges, tics, what is
# drawn over what. A gnuplot that keeps its commands takes the real one's place.
. "$TOP/test/cli/lib.sh"
mkdir fake
printf '#!/bin/sh\ncat > script; echo "<svg/>"\n' > fake/gnuplot; chmod +x fake/gnuplot
PATH=$PWD/fake:$PATH

# log NAME FIELD... < "step value..." lines: a training log
log() {
    local name=$1; shift
    awk -v names="$*" 'BEGIN { split(names, f, " ") }
        { printf "{\"event\":\"train\",\"step\":%s", $1
          for (i = 2; i <= NF; i++) if ($i != "-") printf ",\"%s\":%s", f[i - 1], $i
          print "}" }' > "$name.jsonl"
}
# size: of the picture; frames: left, right, bottom and top of each panel in pixels, from the
# bottom left
size() { sed -nE 's/.* size ([0-9]+),([0-9]+) .*/\1 \2/p' script; }
frames() {
    awk -v size="$(size)" 'BEGIN { split(size, s, " ") }
        /^set [lrbt]margin at screen / { m[$2] = $5 }
        /^set bmargin/ { printf "%s%.0f %.0f %.0f %.0f", comma, m["lmargin"] * s[1],
            m["rmargin"] * s[1], m["bmargin"] * s[2], m["tmargin"] * s[2]; comma = ", " }' script
}
# key: the legend's corner in pixels, of the last of the lines that set it; titled: which of the
# panels has it
key() {
    sed -nE 's/^set key at screen ([0-9.]+),([0-9.]+).*/\1 \2/p' script | tail -n 1 |
        awk -v size="$(size)" '{ split(size, s, " "); printf "%.0f %.0f", $1 * s[1], $2 * s[2] }'
}
titled() { awk '/^(un)?set key$/ { if (/^set/) printf "%d ", n; n++ }' script; }
range() { sed -n "s/^set $1range //p" script | tr '\n' ' '; }
tics() { sed -n "/autofreq/d; s/^set $1tics //p" script | tr '\n' ' '; }

echo "# one panel: 640 pixels by 384, 58 and 18 beside its frame, 32 above and 52 below"
printf '1 5\n2 7\n' | log one loss
plot curves one.jsonl > svg; is "$(cat svg)" '<svg/>'
is "$(range x)" "[1:2] "
# one point alone has 1 on either side, and where 1 is less than its digits a 10^9th of it; 1e60 had
# no end of tics
for at in 5:4:6 1e12:999999999000:1000000001000 1e20:9.99999999e+19:1.000000001e+20 \
    1e60:9.99999999e+59:1.000000001e+60; do
    IFS=: read -r step low high <<< "$at"
    echo "$step 3" | log far loss
    plot curves far.jsonl > svg; is "$(range x)" "[$low:$high] "
    [ "$(tics x | tr -cd , | wc -c)" -lt 9 ] || fail "tics at $step"
done
printf '1 5\n2 7\n' | log one loss; plot curves one.jsonl > svg
is "$(size); $(frames)" "640 384; 58 622 52 352"
is "$(titled)" "" "a legend of one curve"
is "$(sed -n '/^plot/,$p' script)" "plot \$d0_0 using 1:2 with linespoints lw 2 lc rgb '#0072B2' \
dt solid pt 7 ps 0.45 title \"one\"
unset multiplot
unset output"
# a title takes 30 pixels more, and stands there once
plot curves one.jsonl --title T > svg
is "$(size); $(frames)" "640 414; 58 622 52 352"
is "$(sed -nE 's/^set label 1 "T" at screen ([^ ]*) .*/\1/p' script)" "$(awk 'BEGIN {
    printf "%.4f,%.4f", 18 / 640, 1 - 18 / 414 }')"
is "$(grep -c '^unset label 1$' script)" 1
# twice as many pixels of a PNG, of lines, points and letters twice as large
plot curves one.jsonl --png > png
twice="size 1280,768 font 'Helvetica,12' fontscale 2 linewidth 2 pointscale 2"
has -F "pngcairo noenhanced $twice" < script
plot curves one.jsonl --width 800 --height 200 > svg
is "$(size); $(frames)" "800 200; 58 782 52 168"

echo "# panels of 420 pixels in two columns up to four, three up to nine, four beyond; a legend"
echo "# beside them, 70 pixels and 8.5 per character of its longest name"
printf '1 1 2 3 4 5 6 7 8 9 10\n' | log a a b c d e f g h i j
printf '1 1 - 3 4 5 6 7 8 9 10\n' | log bcd a b c d e f g h i j
# draw N FILE...: panels of the first N fields
draw() {
    local n=$1; shift
    plot curves -q "$@" $(printf -- '-y %s ' a b c d e f g h i j | cut -d ' ' -f 1-$((2 * n))) > svg
}
draw 2 a.jsonl; is "$(size); $(frames)" "840 294; 58 402 52 262, 478 822 52 262"
# three letters are 25 pixels
draw 3 a.jsonl bcd.jsonl
is "$(size); $(frames)" \
    "935 588; 58 402 346 556, 478 822 346 556, 58 402 52 262"
is "$(key); $(titled)" "850 560; 0 "
# where the first panel has fewer curves than another, that one has the legend
printf '1 - 2\n' | log x a b; plot curves -q x.jsonl a.jsonl -y a -y b > svg; is "$(titled)" "1 "
for n in 4:"840 588":2 5:"1260 588":3 9:"1260 882":3 10:"1680 882":4; do
    IFS=: read -r n want columns <<< "$n"; draw "$n" a.jsonl
    is "$(size); $(frames)" "$want; $(awk -v n="$n" -v c="$columns" -v size="$want" 'BEGIN {
        split(size, s, " ")
        for (i = 0; i < n; i++) { left = i % c * 420; top = s[2] - int(i / c) * 294
            printf "%s%d %d %d %d", i ? ", " : "", left + 58, left + 402, top - 242, top - 32 } }')"
done
long=$(printf '%060d' 0)
plot curves -q a.jsonl bcd.jsonl -y a --label A --label "$long" > svg
is "$(size); $(frames); $(key)" "1060 384; 58 622 52 352; 650 356"
plot curves -q a.jsonl bcd.jsonl -y a --label A --label "$long" --width 600 > svg
is "$(size); $(frames); $(key)" "600 384; 58 382 52 352; 410 356"
# a narrow one has panels below each other, and its legend, of 18 pixels per row, below them
plot curves -q a.jsonl bcd.jsonl -y a -y b --width 499 --title T > svg
is "$(size); $(frames); $(key); $(titled)" \
    "499 666; 58 481 394 604, 58 481 100 310; 58 46; 0 "
plot curves -q a.jsonl bcd.jsonl -y a -y b --width 500 --label A --label B > svg
is "$(size); $(frames)" "500 294; 58 193 52 262, 269 404 52 262"

echo "# tics of x: round numbers, and whole ones where all x are; a range from near 0 begins there"
# xs LOW HIGH: the axis of x from LOW to HIGH
xs() { printf '%s 1\n%s 1\n' "$1" "$2" | log x loss; plot curves x.jsonl > svg; }
for row in "0 7:0 1 2 3 4 5 6 7" "0 8:0 2 4 6 8" "0 9:0 2 4 6 8" "0 10:0 2 4 6 8 10" \
    "0 12:0 2 4 6 8 10 12" "0 17:0 2 4 6 8 10 12 14 16" "0 18:0 5 10 15" \
    "0 35:0 5 10 15 20 25 30 35" "0 36:0 10 20 30" "0 100:0 25 50 75 100" \
    "1.5 4.5:1.5 2 2.5 3 3.5 4 4.5" "0 2:0 1 2" \
    "0 1.5:0 0.25 0.5 0.75 1 1.25 1.5" "-1.5 1.5:-1.5 -1 -0.5 0 0.5 1 1.5" \
    "19 100:0 25 50 75 100" "20 100:20 40 60 80 100" "30 100:30 40 50 60 70 80 90 100" \
    "21 23:21 22 23" "5 5:4 5 6" "99 9000:0 2000 4000 6000 8000" "0 9999:0 2500 5000 7500"; do
    xs ${row%%:*}
    is "$(tics x)" "($(for v in ${row#*:}; do printf "'%s' %s, " "$v" "$v"; done |
        sed 's/, $//')) " "tics of $row"
done
is "$(range x)" "[0:9999] "
xs 5 5; is "$(range x)" "[4:6] "
xs 20 100; is "$(range x)" "[20:100] "
for unit in 10000:k:10 1000000:M:1 1000000000:G:1; do
    IFS=: read -r most name n <<< "$unit"
    xs 0 "$most"; is "$(tics x | sed "s/.*, //")" "'$n$name' $most) "
    xs $((most - 1000)) "$most"; is "$(tics x | sed "s/.*, //")" "'$n$name' $most) "
done
xs -10000 0; has -F "('-10k' -10000, '-7.5k' -7500, '-5k' -5000, '-2.5k' -2500, '0' 0)" < script

echo "# the range of y: 4% of room; down to zero from near it; what is asked for"
# ys VALUES [OPTION...]: a curve of them
ys() { local v=$1; shift; tr ' ' '\n' <<< "$v" | awk '{ print NR, $1 }' | log y loss
    plot curves y.jsonl "$@" > svg; }
for row in "100 200:96:204" "10 100:0:103.6" "15 100:11.6:103.4" "0 50:0:52" "-100 100:-108:108" \
    "5 5:4.74:5.26" "-2 -2:-2.11:-1.89"; do
    ys "${row%%:*}"; is "$(range y)" "[${row#*:}] " "range of $row"
done
is "$(tics y)" ""
ys "1 2" --range=-0.5:7.25; is "$(range y)" "[-0.5:7.25] "

echo "# a logarithmic axis: 4% as a factor; its tics"
# logs VALUES TICS: the range of positive numbers by awk, and tics
logs() {
    ys "$1" --log-y
    range y | tr -d '[]' | awk -F: -v v="$1" '
        BEGIN { n = split(v, x, " "); f = x[n] > x[1] ? (x[n] / x[1]) ^ 0.04 : 1.1 }
        { low = $1 * f / x[1] - 1; high = $2 / f / x[n] - 1
          exit !(low ^ 2 < 1e-20 && high ^ 2 < 1e-20) }' || fail "range of $1: $(range y)"
    is "$(tics y)" "($2) "
    has '^set logscale y$' < script
}
logs "1 1000" "'1' 1, '10' 10, '100' 100, '1000' 1000"
logs "1 10" "1, 2, 5, 10"
logs "2 4" "2, 3, 4"
logs "2 10" "2, 3, 4, 5, 6, 7, 8, 9, 10"
logs "1 500" "1, 2, 5, 10, 20, 50, 100, 200, 500"
logs "0.0001 0.1" "'10⁻⁴' 0.0001, '10⁻³' 0.001, '0.01' 0.01, '0.1' 0.1"
logs "1e-20 1e20" "'10⁻²¹' 1e-21, '10⁻¹⁵' 1e-15, '10⁻⁹' 1e-09, '10⁻³' 0.001, '1000' 1000, \
'10⁹' 1000000000, '10¹⁵' 1e+15, '10²¹' 1e+21"
logs "1e4 1e11" "'10⁴' 10000, '10⁵' 100000, '10⁶' 1000000, '10⁷' 10000000, '10⁸' 100000000, \
'10⁹' 1000000000, '10¹⁰' 10000000000, '10¹¹' 100000000000"
logs "5 5" "5"
# no multiple of a power lies between 1.227 and 1.485
ys "1.35 1.35" --log-y; is "$(grep -A 1 '^set ytics ()' script | tail -n 1)" "set ytics autofreq"
# numbers that it cannot show do not count
ys "8 0 -3 16" --log-y; is "$(tics y)" "(8, 9, 10) "

# drawn: the curves of each panel, as gnuplot is told of them, a line each; data N: the block of $dN
drawn() { sed -nE '/^plot /,/^(set|unset)/ { /^(set|unset)/d; s/^(plot|    ) //; s/, \\$//; p }' \
    script; }
data() { sed -n "/^\\\$$1 << EOD/,/^EOD/ { /EOD/d; p }" script; }

echo "# what was measured lies below its mean, and the reference below all; a moving mean takes as"
echo "# many points ahead as back, or fewer"
for name in a b r; do seq 41 | awk '{ print $1, $1 * $1 }' | log $name loss; done
plot curves a.jsonl b.jsonl --against r.jsonl --smooth 2 --tsv t.tsv > svg
drawn > got
cat > want <<'EOF'
$d0_0 using 1:3 with lines lw 1 lc rgb '#A0777777' notitle
$d0_1 using 1:3 with lines lw 1 lc rgb '#A00072B2' notitle
$d0_2 using 1:3 with lines lw 1 lc rgb '#A0D55E00' notitle
$d0_0 using 1:2 with lines lw 1.5 lc rgb '#777777' dt (7,5) title "reference"
$d0_1 using 1:2 with lines lw 2 lc rgb '#0072B2' dt solid title "a"
$d0_2 using 1:2 with lines lw 2 lc rgb '#D55E00' dt solid title "b"
EOF
same got want
# the mean of the squares of s and of its two neighbours is s^2 + 2/3, of all four s^2 + 2; at the
# end it takes what there is, 38 to 41 and 39 to 41
seq 41 | awk '{ s = $1; m = s * s + (s == 1 ? 0 : s == 2 ? 2 / 3 : 2)
    if (s == 40) m = (38 ^ 2 + 39 ^ 2 + 40 ^ 2 + 41 ^ 2) / 4
    if (s == 41) m = (39 ^ 2 + 40 ^ 2 + 41 ^ 2) / 3
    printf "%d %.9g %d %.9g %.9g\n", s, m, s * s, m, m }' > want
for k in 0 1 2; do data d0_$k > got; same got want; done
awk '{ printf "loss\ta\t%d\t%d\t%s\n", $1, $3, $2 }' want > want.tsv
sed -n 43,83p t.tsv > got; same got want.tsv
# 40 points are measurements, each marked and none smoothed
for name in a r; do seq 40 | awk '{ print $1, $1 * $1 }' | log $name loss; done
plot curves a.jsonl --against r.jsonl --smooth 2 > svg
is "$(drawn)" "\$d0_0 using 1:2 with lines lw 1.5 lc rgb '#777777' dt (7,5) title \"reference\"
\$d0_1 using 1:2 with linespoints lw 2 lc rgb '#0072B2' dt solid pt 7 ps 0.45 title \"a\""

echo "# a label has a colour and one row of the legend; its further runs have other lines"
for i in 1 2 3 4 5 6 7 8; do printf '1 1\n2 2\n' | log $i loss; done
labels() { printf -- '--label %s ' "$@"; }
plot curves {1,2,3,4,5,6,7}.jsonl $(labels A A B A A A A) > svg
drawn | sed -E "s/.* lc rgb '(.*)' dt (.*) pt .* (title.*|notitle)/\1 \2 \3/" > got
cat > want <<'EOF'
#0072B2 solid title "A"
#0072B2 (8,4) notitle
#D55E00 solid title "B"
#0072B2 (2,3) notitle
#0072B2 (9,3,2,3) notitle
#0072B2 (4,2,1,2) notitle
#0072B2 solid notitle
EOF
same got want
# 7 colours; then they are dotted
plot curves {1,2,3,4,5,6,7,8}.jsonl > svg
is "$(drawn | sed -nE "7,8s/.* lc rgb '(.*)' dt (.*) pt .*/\1 \2/p" | tr '\n' ' ')" \
    "#1A1A1A solid #0072B2 (2,3) "
# in a narrow picture those that have a row take 18 pixels, and 12 are around them
plot curves {1,2,3,4,5,6,7}.jsonl $(labels A A B A A A A) --width 300 > svg
is "$(size); $(frames)" "300 342; 58 282 100 310"
# an event's curve is its own where a field is several events'
printf '{"event":"%s","step":%d,"loss":%d}\n' train 1 5 valid 1 6 train 2 3 valid 2 4 > e.jsonl
plot curves e.jsonl > svg
is "$(drawn | sed -E 's/.* dt (.*) pt .* title/\1/')" 'solid "e (train)"
(7,5) "e (valid)"'
is "$(data d0_1 | cut -d ' ' -f 1-2)" '1 6
2 4'

echo "# which fields: the loss; else those of the objectives; else all but steps and time"
fields() { sed -nE 's/^set label 2 "(.*)" at.*/\1/p' script | tr '\n' ' '; }
printf '1 2 3 4 5 6 7 8 9\n' | log u bleu perplexity mt back denoise gc mlm other
printf '1 2 3\n' | log v loss mlm; printf '1 2 3 4\n' | log w this time that
usual="mlm gc mt denoise back perplexity bleu "
plot curves u.jsonl > svg; is "$(fields)" "$usual"
plot curves -q u.jsonl v.jsonl > svg 2> note; is "$(fields)" "loss "
plot curves w.jsonl > svg; is "$(fields)" "this that "
printf '1 2 3\n' | log w2 this other
plot curves -q w.jsonl w2.jsonl > svg; is "$(fields)" "this that other "
plot curves -q w.jsonl u.jsonl > svg 2> note; is "$(fields)" "$usual"

echo "# names in the legend: what tells the paths apart"
# named PATH... -- NAME...
named() {
    local p files=()
    while [ "$1" != -- ]; do
        mkdir -p "$(dirname "$1")"; cp 1.jsonl "$1"; files+=("$1"); shift
    done
    shift
    plot curves "${files[@]}" > svg
    is "$(drawn | sed -E 's/.* title//' | tr -d '\n')" "$(printf ' "%s"' "$@")"
}
named n/a/log.jsonl n/b/log.jsonl -- a b
named o/model/log.jsonl run/log.jsonl -- o/model run
named n/ab/x.jsonl n/ac/y.jsonl -- ab/x ac/y
named n/one.jsonl -- n/one
named n/a/x/log.jsonl n/b/x/log.jsonl -- a b
named n/log.jsonl n/n2/log.jsonl -- n n2

echo "# tables: bars of intervals side by side, or a band of long curves; Student's t"
printf 'layer\trsim\trsim-ci\n3\t0.5\t0.05\n4\t0.75\t0.04\n5\t-\t0.01\n' > p.tsv
printf 'layer\trsim\trsim-ci\n3\t0.6\t0.1\n4\t0.7\t\n' > q.tsv
plot rsim p.tsv q.tsv > svg
cat > want <<'EOF'
$d0_0 using 1:4:(0):($5-$4) with vectors nohead lw 1.2 lc rgb '#0072B2' notitle
$d0_1 using 1:4:(0):($5-$4) with vectors nohead lw 1.2 lc rgb '#D55E00' notitle
$d0_0 using 1:2 with linespoints lw 2 lc rgb '#0072B2' dt solid pt 7 ps 0.45 title "p"
$d0_1 using 1:2 with linespoints lw 2 lc rgb '#D55E00' dt solid pt 7 ps 0.45 title "q"
EOF
drawn > got; same got want
# 1.2% of the range, 1, apart; the range has 4% of room
is "$(data d0_0)" "2.994 0.5 0.5 0.45 0.55
3.994 0.75 0.75 0.71 0.79"
is "$(data d0_1)" "3.006 0.6 0.6 0.5 0.7
4.006 0.7 0.7 0.7 0.7"
# from 0.45 to 0.79
is "$(range x) $(range y)" "[2.96:4.04]  [0.4364:0.8036] "
for n in 40:linespoints 41:lines; do
    seq "${n%:*}" | awk 'BEGIN { OFS = "\t"; print "layer", "rsim", "rsim-ci" }
        { print $1, 1 / $1, 0.5 }' > p.tsv
    plot rsim p.tsv > svg; is "$(drawn | tail -n 1 | cut -d ' ' -f 5)" "${n#*:}"
done
is "$(drawn | sed -n 1p)" \
    "\$d0_0 using 1:4:5 with filledcurves lc rgb '#C80072B2' fs solid noborder notitle"
is "$(data d0_0 | sed -n 2p)" "2 0.5 0.5 0 1"
# runs: half of the interval is t * s / sqrt(n); of two, 0 and 2, it is R's qt(0.975, 1); where they
# agree it is 0; what one has not is none's
printf 'layer\trsim\n0\t0\n1\t0.1\n2\t5\n' > p.tsv
printf 'layer\trsim\n0\t2\n1\t0.1\n3\t5\n' > q.tsv
plot rsim p.tsv q.tsv $(labels A A) --tsv t.tsv > svg
is "$(tail -n +2 t.tsv | cut -f 3,4,6 | tr '\t\n' ' ,')" "0 1 12.7062047,1 0.1 0,"
# t of 29, 30 and 120 degrees of freedom: 2.0452, 2.0423, 1.9799; s^2 of n numbers of which one is n
# and the others 0 is n, so that half of the interval is t
for row in 30:2.0452 31:2.0423 121:1.9799; do
    n=${row%:*} runs=() same=()
    printf 'layer\trsim\n0\t0\n' > zero.tsv; printf 'layer\trsim\n0\t%d\n' "$n" > most.tsv
    for ((i = 1; i < n; i++)); do runs+=(zero.tsv) same+=(--label A); done
    plot rsim most.tsv --label A "${runs[@]}" "${same[@]}" --tsv t.tsv > svg
    is "$(awk -F '\t' 'NR == 2 { printf "%d %.4f", $4, $6 }' t.tsv)" "1 ${row#*:}"
done
# a label has one colour in all panels, also where its column is missing
printf 'layer\trsim\n0\t1\n' > p.tsv; printf 'layer\tcosine\n0\t1\n' > q.tsv
plot rsim p.tsv q.tsv > svg 2> note
is "$(cat note)" "plot: q: has no column rsim, and no curve there
plot: p: has no column cosine, and no curve there"
is "$(drawn | sed -E "s/(\\\$[^ ]*) .* lc rgb '(.*)' dt.*title/\1 \2/")" '$d0_0 #0072B2 "p"
$d1_0 #D55E00 "q"'

echo "# ranks: one row of each 400th of the logarithm, the first and the last; no marks"
awk 'BEGIN { print "rank\ten\tde"
    for (i = 1; i <= 5000; i++) print i "\t" 1 / i "\t" 2 / i }' > r.tsv
plot ranks r.tsv r.tsv $(labels one two) > svg
drawn | sed -E "s/ lw 2 lc rgb| dt solid//g" > got
cat > want <<'EOF'
$d0_0 using 1:2 with lines '#0072B2' title "one, en"
$d0_1 using 1:2 with lines '#D55E00' title "one, de"
$d0_2 using 1:2 with lines '#009E73' title "two, en"
$d0_3 using 1:2 with lines '#CC79A7' title "two, de"
EOF
same got want
awk 'BEGIN { step = log(5000) / 400; last = -1
    for (i = 1; i <= 5000; i++) { place = int(log(i) / step)
        if (place == last && i < 5000) continue
        last = place; printf "%d %.6g\n", i, 1 / i } }' > want
data d0_0 | cut -d ' ' -f 1-2 > got; same got want
has '^set logscale x$' < script
is "$(tics x)" "('1' 1, '10' 10, '100' 100, '1000' 1000) "
plot ranks r.tsv > svg; is "$(drawn | sed 's/.* title//' | tr -d '\n')" ' "en" "de"'
# the columns of --y alone
plot ranks r.tsv -y de > svg; is "$(drawn | sed 's/.* title//')" ' "de"'
is "$(data d0_0 | sed -n 1p)" "1 2 2 2 2"
fails 1 '^plot: no table has a column "fr"; columns of r.tsv: rank, en, de$' \
    plot ranks r.tsv -y en -y fr
# a rank out of order is found before rows are left out, on its line of the file
sed '4001s/.*/17\t1\t1/' r.tsv > bad.tsv
fails 1 "^plot: bad.tsv:4001: rank is not a number above the last line's\$" plot ranks bad.tsv

echo "# bins: the middle of each, without the last line, over all pairs"
printf '%s\t%s\t%s\t%s\n' low high pairs share 0 2 5 0.4  2 6 600 0.6  0 6 11 1 > b.tsv
plot bins b.tsv > svg
is "$(fields)" "pairs in the bin share of all co-occurrences "
is "$(data d0_0)" "1 5 5 5 5
4 600 600 600 600"
# a table of that last line alone has no bin
sed 2,3d b.tsv > no.tsv; fails 1 '^plot: no.tsv: no bins; expected what cooc-study prints' \
    plot bins no.tsv
plot bins b.tsv > svg
# pairs are on a logarithmic axis, shares are not
is "$(grep -E '^(un)?set logscale y' script | tr '\n' ' ')" "set logscale y unset logscale y "

echo "# bars: groups at 0, 1, ..., which 0.8 is filled of; a colour per bar; zero is on the axis"
{
    printf 'panel\tgroup\tbar\tvalue\tci\n'
    printf '%s\t%s\t%s\t%s\t%s\n' POS trans MLM 10 '' POS inverted MLM 80 8 \
        POS inverted ALIGN 40 4 NER trans XLM -5 1 NER trans MLM 0 ''
} > b.tsv
plot bars b.tsv > svg
# a panel has at least 300 pixels: 110, 24 per group and 22 per bar make 290; the legend has 70 and
# 8.5 per letter
is "$(size); $(frames); $(key)" "712 294; 58 282 40 262, 358 582 40 262; 610 266"
is "$(range x) $(range y) $(sed -n 's/^set boxwidth //p' script) $(tics x)" \
    "[-0.6:1.6]  [0:92.4] [-6.3:0.3]  0.245333333 (\"trans\" 0, \"inverted\" 1) "
is "$(for k in d0_0 d0_1 d0_2 d1_0 d1_1 d1_2; do data $k; done)" "-0.266666667 10 10 10
0.733333333 80 72 88
1 40 36 44
-0.266666667 0 0 0
0.266666667 -5 -6 -4"
drawn > got
cat > want <<'EOF'
$d0_0 using 1:2 with boxes lc rgb '#0072B2' title "MLM"
$d0_1 using 1:2 with boxes lc rgb '#D55E00' title "ALIGN"
NaN with boxes lc rgb '#009E73' title "XLM"
$d0_0 using 1:3:(0):($4-$3) with vectors nohead lw 1.2 lc rgb '#222222' notitle
$d0_1 using 1:3:(0):($4-$3) with vectors nohead lw 1.2 lc rgb '#222222' notitle
$d1_0 using 1:2 with boxes lc rgb '#0072B2' title "MLM"
$d1_2 using 1:2 with boxes lc rgb '#009E73' title "XLM"
$d1_2 using 1:3:(0):($4-$3) with vectors nohead lw 1.2 lc rgb '#222222' notitle
EOF
same got want
is "$(titled)" "0 "
# up to three panels in a row, more in two rows; three groups of three bars need 380 pixels
for row in "1:450 294:1" "3:1210 294:3" "4:830 588:2" "5:1210 588:3"; do
    IFS=: read -r n want across <<< "$row"
    for ((p = 0; p < n; p++)); do for g in x y z; do for b in A B C; do
        printf '%s\t%s\t%s\t0\n' $p $g $b; done; done; done |
        cat <(printf 'panel\tgroup\tbar\tvalue\n') - > b.tsv
    plot bars b.tsv > svg
    # (a letter of the legend is 8 pixels)
    is "$(size); $(frames)" "$((${want%% *} + 8)) ${want#* }; $(awk -v n=$n -v c=$across \
        -v high="${want#* }" 'BEGIN { for (i = 0; i < n; i++) { left = i % c * 380
            top = high - int(i / c) * 294
            printf "%s%d %d %d %d", i ? ", " : "", left + 58, left + 362, top - 254, top - 32 } }')"
done
is "$(range y)" "$(printf '[0:1] %.0s' 1 2 3 4 5)"
plot bars b.tsv --title T --width 700 --height 630 > svg
is "$(size); $(frames | cut -d , -f 1,6); $(key)" "700 630; 58 189 340 568; 632 572"
is "$(grep -c '^unset label 1$' script)" 1

printf 'layer\thit@1\n0\t0.5\n' > h.tsv
# tables from Windows are those from elsewhere; a number has 63 characters at most
sed 's/$/\r/' b.tsv > windows.tsv; plot bars b.tsv > svg; cp script want
plot bars windows.tsv > svg; same script want
sed 's/$/\r/' h.tsv > windows.tsv; plot hits windows.tsv --tsv t.tsv > svg
is "$(sed 1d t.tsv | cut -f 1,3,4 | tr '\t' ' ')" "Hit@1 0 0.5"
zeros=$(printf '0%.0s' {1..61})
printf 'group\tbar\tvalue\na\tb\t1.%s\n' "$zeros" > long.tsv; plot bars long.tsv > svg
is "$(data d0_0)" "0 1 1 1"
printf 'group\tbar\tvalue\na\tb\t1.0%s\n' "$zeros" > long.tsv
fails 1 'is not a number that can be drawn' plot bars long.tsv
# a name that is nothing but an ending stays; a legend has a third of the picture at most
cp h.tsv .tsv; plot hits .tsv > svg; is "$(drawn | sed 's/.* title//')" ' ".tsv"'
printf 'group\tbar\tvalue\na\t%s\t1\n' "$zeros" > long.tsv
plot bars long.tsv --width 300 > svg
is "$(frames)" "58 182 40 262"

echo "# words in the plane: one scale, 8% of room, frame, key, what is written below"
# every word is 5.69 times the font's size: 0.42 0.99 0.99 0.79 0.65 0.8 1.05 and 0 of a mark above
words='iW%Aaé一'$(printf '\u0300')
# vec LANGUAGE N: so many vectors of 3 dimensions, of words without numbers where the font tells
vec() {
    awk -v lang="$1" -v n="$2" 'BEGIN { srand(7); print n, 3
        for (i = 1; i <= n; i++) print lang i, rand(), rand(), rand() }'
}
for l in a b; do vec $l 12 | sed "s/^\([ab]\)\([0-9]*\) \(.*\..*\)/\1\2$words \3/" > $l.vec; done
for i in 1 2 3 4 5; do printf '%s\t%s\n' "a$i$words" "b$((i + 1))$words"; done > d.tsv
# of two components of two dimensions nothing of the variance is left out
awk 'NR == 1 { $2 = 2 } { NF = NR == 1 ? 2 : 3; print }' a.vec > flat.vec
plot tsne --perplexity 2 --iterations 1 --components 2 en=flat.vec 2> note > svg
grep -q '^plot: 12 points; 2 components have 100.0% of the variance; exact' note ||
    fail "$(cat note)"
tsne() { plot tsne -q --perplexity 2 --iterations 20 "$@" > svg; }
tsne en=a.vec de=b.vec --dict d.tsv --tsv t.tsv --title T
# view: the ranges and the pixels within the frame
view() {
    is "$(frames)" "14 $(($(size | cut -d ' ' -f 1) - 14)) 30 $(($(size | cut -d ' ' -f 2) - $1))"
    awk -F '\t' -v x="$(range x)" -v y="$(range y)" -v size="$(size)" -v top="$1" '
        function off(a, b) { a = a / b - 1; return a > 1e-6 || a < -1e-6 }
        NR == 2 { x0 = x1 = $3; y0 = y1 = $4 }
        NR > 1 { if ($3 < x0) x0 = $3; if ($3 > x1) x1 = $3
            if ($4 < y0) y0 = $4; if ($4 > y1) y1 = $4 }
        END {
            split(size, s, " "); gsub(/[][]/, "", x); gsub(/[][]/, "", y)
            split(x, a, ":"); split(y, b, ":")
            wide = s[1] - 28; high = s[2] - top - 30
            unit = (x1 - x0) / wide
            if (unit < (y1 - y0) / high) unit = (y1 - y0) / high
            unit *= 1.08
            print unit, a[1], b[2]
            exit off(a[2] - a[1], unit * wide) || off(b[2] - b[1], unit * high) ||
                off(10 + a[2] + a[1], 10 + x1 + x0) || off(10 + b[2] + b[1], 10 + y1 + y0)
        }' t.tsv > seen || fail "ranges: $(range x) $(range y)"
}
is "$(size)" "640 640"; view 66; is "$(key)" "8 606"
is "$(sed -nE 's/^set label 1 "T" at screen ([^ ]*) .*/\1/p' script)" 0.0219,0.9719
is "$(sed -nE "s/^set label 2 'KL [^,]*, (.*)' at screen ([^ ]*) .*/\1 \2/p" script)" \
    "10 words, lines join translations 0.9781,0.0219"
awk -F '\t' 'NR > 1 { printf "%.6g %.6g\n", $3, $4 }' t.tsv > want
{ data points0; data points1; } > got; same got want
# (first the words of the first language, then their translations)
awk 'NR <= 5 { x[NR] = $1; y[NR] = $2; next } { d = NR - 5
    printf "%.4f %.4f %.4f %.4f\n", x[d], y[d], $1 - x[d], $2 - y[d] }' want > links
data links | awk '{ printf "%.4f %.4f %.4f %.4f\n", $1, $2, $3, $4 }' |
    awk -v f=links '{ getline s < f; split(s, w, " ")
        for (i = 1; i <= 4; i++) { e = $i - w[i]; if (e > 2e-3 || e < -2e-3) bad = 1 } }
        END { exit bad || NR != 5 }' || fail "lines between translations"
drawn > got
cat > want <<'EOF'
$links using 1:2:3:4 with vectors nohead lw 0.6 lc rgb '#90808080' notitle
$points0 using 1:2 with points pt 7 ps 0.40 lc rgb '#300072B2' notitle
NaN with points pt 7 ps 0.9 lc rgb '#0072B2' title "en"
$points1 using 1:2 with points pt 7 ps 0.40 lc rgb '#30D55E00' notitle
NaN with points pt 7 ps 0.9 lc rgb '#D55E00' title "de"
EOF
same got want

echo "# a word stands 5 pixels right of its point, or left of it where the frame ends"
# placed WORD: of its label, how many pixels the point is left of its middle's left end, and above
placed() {
    read -r unit left top < seen
    awk -F '\t' -v word="$1" -v unit="$unit" -v at="$(sed -nE \
        "s/^set label \"$1\" at ([^ ]*) left font ',10' .*/\1/p" script)" '
        $2 == word { split(at, p, ","); printf "%.2f %.2f", (p[1] - $3) / unit,
            (p[2] - $4) / unit }' t.tsv
}
tsne en=a.vec --tsv t.tsv --width 500
view 36; is "$(size); $(key)" "500 640; 8 636"
first=$(tail -n +2 t.tsv | sort -t "$(printf '\t')" -k 3g | sed -n 1p | cut -f 2)
last=$(tail -n +2 t.tsv | sort -t "$(printf '\t')" -k 3g | tail -n 1 | cut -f 2)
# (a letter and a number are 0.65 each)
wide=$(awk -v w="$last" 'BEGIN { printf "%.2f", 56.9 + 6.5 * (w ~ /^a1[0-9]/ ? 3 : 2) }')
for w in "$first" "$last"; do
    tsne en=a.vec --tsv t.tsv --width 500 --name "$w"; is "$(grep -c '^set label ".*10' script)" 1
    want=5.00
    [ "$w" = "$first" ] || want=-$(awk -v w="$wide" 'BEGIN { printf "%.2f", 5 + w }')
    is "$(placed "$w")" "$want 0.00"
done
tsne en=a.vec --names 4
is "$(sed -nE 's/^set label "(a[0-9]*).* left.*/\1/p' script | tr '\n' ' ')" "a1 a2 a3 a4 "
has "12 words'" < script; ! grep -q links script || fail "lines without a dictionary"
# a crowd: lines lead to what has no room beside its point, from that point
tsne en=a.vec --tsv t.tsv --names 12 --width 200 --height 200
sed -nE '/^set arrow/ { N; s/.* from ([^,]*),([^ ]*) to .*set label "([^"]*)".*/\3 \1 \2/p }' \
    script | sort > got
[ "$(wc -l < got)" -gt 2 ] || fail "no lines to words"
awk -F '\t' 'NR > 1 { print $2, $3, $4 }' t.tsv | sort | join - got |
    awk '$2 == $4 && $3 == $5 { n++ } END { print n }' > lines
is "$(cat lines)" "$(wc -l < got)" "lines that begin at their words' points"
# no word covers a point that has one, or comes within 3 pixels of it; it is 13 pixels high
view 36; read -r unit left top < seen
sed -nE "s/^set label \"(a.*)\" at ([^,]*),([^ ]*) left font ',10' .*/\1 \2 \3/p" script > labels
[ "$(wc -l < labels)" -gt 6 ] || fail "few words"
awk -v unit="$unit" -v left="$left" -v top="$top" '
    FNR == NR { split($0, f, "\t"); if (FNR > 1) { x[++n] = (f[3] - left) / unit
        y[n] = (top - f[4]) / unit } next }
    { l = ($2 - left) / unit; mid = (top - $3) / unit
      wide = 56.9 + 6.5 * ($1 ~ /^a1[0-2]/ ? 3 : 2)
      for (i = 1; i <= n; i++) {
          down = y[i] - mid; if (down < 0) down = -down
          if (x[i] > l - 2.99 && x[i] < l + wide + 2.99 && down < 9.49) { print $1, i; bad = 1 }
      } }
    END { exit bad }' t.tsv labels > off || fail "words on points: $(paste -sd , off)"

echo "# many lines are fainter, and many points smaller"
for row in 301:C0:0.40 501:C0:0.25 1001:D8:0.25; do
    IFS=: read -r n ink size <<< "$row"
    vec a "$n" > many.vec
    seq "$n" | sed 's/.*/a&\ta&/' > d.tsv
    plot tsne -q en=many.vec de=many.vec --dict d.tsv --perplexity 2 --iterations 1 --components 0 \
        --method barnes-hut > svg
    is "$(drawn | sed -nE "1s/.*#(..)808080.*/\1/p; 2s/.* ps ([^ ]*) .*/\1/p" | tr '\n' ' ')" \
        "$ink $size "
done

printf 'layer\thit@1\n0\t0\0\n' > nul.tsv; fails 1 'nul.tsv:2: a NUL byte' plot hits nul.tsv
printf 'group\tbar\tvalue\na\tb\t1\0009\n' > nul.tsv
fails 1 'nul.tsv:2: a NUL byte' plot bars nul.tsv
# a label without any number: of one table, of two without a layer in common
printf 'layer\thit@1\n0\tnan\n' > none.tsv
plot hits h.tsv none.tsv > svg 2> note
is "$(cat note)" "plot: none: has no number in column hit@1, and no curve there"
printf 'layer\thit@1\n1\t0.5\n' > other.tsv
plot hits h.tsv h.tsv other.tsv --label A --label B --label B > svg 2> note
is "$(cat note)" "plot: B: hit@1: left out 2 values of layer at which not all of the 2 runs have a \
number
plot: B: has no mean of column hit@1, and no curve there"
printf 'rank\ten\n1\t-\n' > nan.tsv
fails 1 'nan.tsv: no number in column "en"' plot ranks nan.tsv
{ printf 'layer'; printf '\tc%d' {1..1000}; echo; } > wide.tsv
fails 1 'wide.tsv:1: more than 1000 columns' plot hits wide.tsv
fails 1 '"none"; fields are: step, this, time, that, other$' plot curves w.jsonl w2.jsonl -y none
echo "# what gnuplot says goes on: the line that says it, or that nothing came"
cat > fake/gnuplot <<'END'
#!/bin/sh
cat > script
printf 'plot x\n     ^\n"-" line 7: undefined variable: x\n' >&2
exit 1
END
fails 1 '^plot: gnuplot: undefined variable: x; is it gnuplot 5 with its svg' plot hits h.tsv
printf '#!/bin/sh\ncat > script\n' > fake/gnuplot
fails 1 '^plot: gnuplot: failed; is it gnuplot 5' plot hits h.tsv -o x.svg
[ ! -e x.svg ] || fail "a picture of nothing"
