# Scripts of recipes whose numbers a sheet of paper has: MLM-GC's pairs of words side by side
# (company.awk, as analysis-deen runs it), and vectors of a dictionary's words (pick-vectors.awk).
. "$TOP/test/cli/lib.sh"
unset CORPUS_CACHE REHEARSE START RANKS PRECISION
P=$TOP/pipelines
mkdir -p cooc analysis/tables
# X(ist die) = 1, C_de = 6; X(is the) = 2, X(is a) = X(locally known) = 1/2, C_en = 17, and the mean
# of the five pairs 5.5 / 5: log(17 / 6) = 1.041454 less log 2, log 1/2 and log 1.1
printf '%s\n' 'ist die Katze' 'ist die Katze' > de
printf '%s\n' 'is the '{cat,cat,cat,cat} 'is a cat' 'locally known' > en
cat de en | vocab-count > vocab 2> /dev/null
for l in de en; do cooc-count -q -w 1 -v vocab $l=$l > cooc/$l.cooc; done
EXPERIMENTS=$P/experiments TOP=$TOP BIN=$BIN SCALE=paper SEEDS=1 DEVICE=auto \
    "$P/plan" analysis-deen > plan
run() { TOP=$TOP bash -euc "$(awk -F'\t' -v n=analysis.company '$1 == n { print $6 }' plan)"; }
run
row() { printf '\n-\tcounts\tde-en\tist die, %s\t%s' "$1" "$2"; }
is "$(cat analysis/tables/8-company.rows)" "# How far apart counts are: |log(c X) - log(Y)|$(
    row 'is the' 0.348307; row 'is a' 1.734601; row 'locally known' 1.734601
    row 'mean of all' 0.946144)"
grep -v locally en > less; cooc-count -q -w 1 -v vocab en=less > cooc/en.cooc
run
is "$(cut -f 4 analysis/tables/8-company.rows | sed 1d | tr '\n' ';')" \
    'ist die, is the;ist die, is a;ist die, mean of all;' "a pair that does not occur"

printf 'a\tx\nb\ty\nc\tx\n' > 1; printf 'd\tz\n' > 2
printf '5 2\nx 1 2\nb 3 4\nz 5 6\ny 7 8\nx 9 9\n' > vec
pick() { awk -v COLUMN=$1 -v MOST=$2 -f "$P/pick-vectors.awk" "${@:3}" vec; }
is "$(pick 2 9 1 2)" "$(printf '3 2\nx 1 2\nz 5 6\ny 7 8')"
is "$(pick 2 1 1 2)" "$(printf '2 2\nx 1 2\nz 5 6')"
is "$(pick 1 9 1)" "$(printf '1 2\nb 3 4')"

# text of any of three packings: no byte order mark, a last line that ends; what is not UTF-8 is
# found by its line: surrogates, more than U+10FFFF, a longer form than needed, half a character
as_lines() { "$TOP/pipelines/as-lines" "$1"; }
printf '\xef\xbb\xbfzwölf\n\0\xf4\x8f\xbf\xbf\n\xed\x9f\xbf' > good
printf 'zwölf\n\0\xf4\x8f\xbf\xbf\n\xed\x9f\xbf\n' > want
for f in good good.gz good.zst; do
    case $f in *.gz) gzip -k good;; *.zst) zstd -q good;; esac
    as_lines $f > got; same want got
done
for bad in '\xed\xa0\x80' '\xf4\x90\x80\x80' '\xc0\x80' '\xc3' '\xff'; do
    printf "a\n\nb $bad c\n$bad\n" > bad
    fails 1 '^line 3$' as_lines bad
done
for b in good.gz good.zst; do   # gzip's and zstd's own words
    head -c 20 $b > bad
    ! as_lines bad > got 2> err || fail "half of $b"
    grep -q 'unexpected end\|premature end' err || { cat err; fail "half of $b"; }
done
