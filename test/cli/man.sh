# Man pages, made of docs/man/X.1.in and the programs' option rows: every option that --help lists
# stands in the page, every long option that the page names is one that the program takes, or one of
# a program that the page refers to with .Xr. Where both say a default, it is the same. No option
# has two items, the programs know the options of the examples, and mandoc and groff find nothing to
# say.
. "$TOP/test/cli/lib.sh"

# page PROGRAM [PROSE]: its man page
page() {
    "$1" --help=rows > rows
    awk -f "$TOP/docs/man/page.awk" rows "${2-$TOP/docs/man/$1.1.in}"
}

# helped PROGRAM: long names in its --help, and letters as "o output"
helped() { "$1" --help | sed \
    -nE 's/^  -(.), --([a-z0-9-]+).*/\1 \2\n\2/p; s/^      --([a-z0-9-]+).*/\1/p' | sort -u; }

# paged PAGE: the same, of what stands after Fl in its macro lines, up to the examples
paged() {
    awk '/^\.Sh EXAMPLES/ { exit }
        /^\./ { fl = 0; letter = ""; sub(/^\./, "")
            for (i = 1; i <= NF; i++)
                if ($i == "Fl") fl = 1
                else if ($i ~ /^[A-Z][a-z]$/) { fl = 0; letter = "" }
                else if (fl && $i ~ /^-[a-z0-9]/) { $i = substr($i, 2); print $i
                    if (letter) print letter, $i
                    letter = "" }
                else if (fl && $i ~ /^[A-Za-z0-9]$/) letter = $i
        }' "$1" | sort -u
}

# defaults: "NAME VALUE" where --help, or a page's item for one option, says "(default: VALUE)", one
# word
helped_defaults() {
    "$1" --help | awk '
        function tell() { if (name && match(text, /\(default: [^ ;)]+[;)]/))
            print name, substr(text, RSTART + 10, RLENGTH - 11) }
        /^  (-.,|   ) --/ { tell(); text = $0; sub(/^  (-.,|   ) --/, ""); name = $1; next }
        /^ / { sub(/^ +/, ""); text = text " " $0; next }
        { tell(); name = "" } END { tell() }' | sort
}
paged_defaults() {
    awk 'function tell() { if (name && match(text, /\(default: [^ ;)]+[;)]/))
            print name, substr(text, RSTART + 10, RLENGTH - 11); name = text = "" }
        /^\.Sh EXAMPLES/ { exit }
        /^\.(It|El)/ { tell(); n = 0; for (i = 1; i <= NF; i++) if ($i ~ /^-[a-z0-9]/) { n++;
            name = substr($i, 2) }; if (n > 1) name = ""; next }
        { gsub(/\\-/, "-"); text = text $0 " " }' "$1" | sort
}

# without_no: "no-mask-vocab" stands for mask-vocab too
without_no() { sed 'p; s/^no-//' "$@" | sort -u; }

# check PROGRAM PAGE: a line for each option that is in one and not in the other
check() {
    local p=$1 page=$2 also n
    helped "$p" > help; paged "$page" > page
    without_no page > known
    also=$(sed -nE 's/^\.Xr ([a-z-]+) 1.*/\1/p' "$page" | grep -vxF "$p" | sort -u || true)
    comm -23 help known | sed "s/^/$p --help has, $p(1) has not: /"
    for n in $(comm -23 page help | sed '/ /d'); do
        # "x" is its value, or a file that nobody reads
        "$p" --"$n" x --help > told 2>&1 && continue
        for q in $also; do [ -x "$BIN/$q" ] && "$q" --"$n" x --help > told 2>&1 && continue 2; done
        echo "$p(1) has, $p --help has not: $n"
    done
    helped_defaults "$p" > help; paged_defaults "$page" > page
    join help page | awk -v p="$p" \
        '$2 != $3 { print p "(1) has a default that is not that of --help: " $0 }'
}

# examples PAGE: the commands of its examples, one per line, without what they read and write
examples() {
    awk '/^\.Sh/ { on = $2 == "EXAMPLES"; next }
        /^\.Bd/ { literal = on; next } /^\.Ed/ { literal = 0 }
        on && sub(/^\.Dl /, "") || literal { printf "%s%s", $0, /\\e$/ ? " " : "\n" }' "$1" |
        sed -E 's/\\e / /g; s/(\||;|&&|\$\(|\bdo\b)/\n/g' |
        sed -E 's/( [<>]|\)).*//; s/ --\$[a-z]+//; s/^ +//'
}

# check_examples PAGE: a line for each program that is given an option there that it does not know
check_examples() {
    local p words
    set -f
    while read -r p words; do
        [ -n "$p" ] && [ -x "$BIN/$p" ] || continue
        "$BIN/$p" $words --help > told 2>&1 || echo "${1##*/}: $(tail -n 1 told)"
    done < <(examples "$1")
    set +f
}

# twice PAGE: options with two items, or with one and a place among those of every program
twice() {
    awk '/^\.Sh EXAMPLES/ { exit }
        /^Every program takes/ { every = 1; next }
        every && /^(and|see)$/ { next }
        every { if (/^\.(Xr|Sh)/) every = 0
            for (i = 2; i <= NF; i++) if ($i ~ /^-[a-z0-9]/) print substr($i, 2) }
        /^\.It Fl/ { for (i = 3; i <= NF; i++) if ($i ~ /^-[a-z0-9]/) print substr($i, 2) }' "$1" |
        sort | uniq -d | sed "s/^/${1##*\/} has two items of /"
}

# lint PAGE: what mandoc and groff say of it, where they are
lint() {
    ! command -v mandoc > /dev/null || mandoc -Tlint -W warning "$1" | grep -v 'mandoc.db' || true
    ! command -v preconv > /dev/null || preconv -e utf8 "$1" | groff -mandoc -Tutf8 -ww -z 2>&1
}

for p in "$BIN"/*; do
    p=${p##*/}
    case $p in *.so) continue;; esac
    [ -f "$TOP/docs/man/$p.1.in" ] || fail "$p has no man page"
    grep -q "\`$p\`" "$TOP/README.md" || fail "README.md does not name $p"
    page "$p" > "$p.1"
    check "$p" "$p.1"
    check_examples "$p.1"
    twice "$p.1"
    lint "$p.1"
done > problems
tokenize --help=rows | sed -n 's/^\t/Options&/p' > rows
awk -f "$TOP/docs/man/page.awk" rows "$TOP/docs/man/isoglot.1.in" > isoglot.1
lint isoglot.1 >> problems
lint "$TOP/docs/man/isoglot-formats.5" >> problems
for f in "$TOP"/docs/formats/*.md; do
    grep -q "^\.Pq Pa ${f##*/}$" "$TOP/docs/man/isoglot-formats.5" ||
        echo "isoglot-formats(5) does not name ${f##*/}"
done >> problems
[ -s problems ] && { cat problems; fail "man pages"; }
for o in threads config quiet help version max-line zstd-long; do
    grep -q "^\.It Fl .*-$o\b" isoglot.1 || fail "isoglot(1) has no --$o"
done

# What the above would say of a page with an option too few, and one too many.
sed 's/^\.It Fl -n-best Ar N$/.It Other/' translate.1 > page.1
is "$(check translate page.1)" "translate --help has, translate(1) has not: n-best"
sed 's/^\.It Fl -n-best Ar N$/&\n.It Fl -m-best Ar N/' translate.1 > page.1
is "$(check translate page.1)" "translate(1) has, translate --help has not: m-best"
sed -z 's/(default:[ \n]10000)/(default: 1000)/' pretrain.1 > page.1
is "$(check pretrain page.1)" \
    "pretrain(1) has a default that is not that of --help: warmup 10000 1000"
sed 's/--beam/--beams/' translate.1 > page.1
case $(check_examples page.1) in
    "page.1: translate: no option is called '--beams'; did you mean --beam?"*) ;;
    *) fail "examples: $(check_examples page.1)";; esac
sed 's/^\.It Fl -n-best Ar N$/&\nx\n&/' translate.1 > page.1
is "$(twice page.1)" "page.1 has two items of n-best"
sed 's/^\.It Fl -n-best Ar N$/.It Fl -threads Ar N\nx\n&/' translate.1 > page.1
is "$(twice page.1)" "page.1 has two items of threads"
# and of prose about an option, or a heading, that the program does not have
sed 's/^@more n-best$/@more m-best/' "$TOP/docs/man/translate.1.in" > t.1.in
fails 1 'no option is called m-best' page translate t.1.in
sed 's/^@under Before/@under Long before/' "$TOP/docs/man/tokenize.1.in" > t.1.in
fails 1 'no heading is called Long before' page tokenize t.1.in
# an item as a reader sees it: what --help says, then what the page says besides
awk 'BEGIN { print "Data\tcount|size\tn\tchoice\ta|b\ttake --quiet (default: a)"
    print "\tquiet\tq\tflag\t\tsay nothing" }' > rows
printf '@options\n@more count\nOr none.\n@end\nBehind.\n' > t.1.in
is "$(awk -f "$TOP/docs/man/page.awk" rows t.1.in)" '.Bl -tag -width Ds
.It Fl n , -count Cm a | b
take
.Fl -quiet
(default: a).
Or none.
.El
.Pp
Every program takes
and
.Fl q , -quiet :
see
.Xr isoglot 1 .
Behind.'
