# No line passes 100 columns, but a table's row in Markdown, which cannot go on in another line.
# test/columns.txt lists the files that still have longer ones: it only shrinks. Looked at are
# sources, scripts (whatever begins with #!, without Python and the fuzzers' seeds), makefiles,
# documents and man pages.
. "$TOP/test/cli/lib.sh"

# long TREE FILE...: those of the files that have a longer line
long() {
    local top=$1; shift
    (cd "$top" || exit
        printf '%s\0' "$@" | grep -zv '\.md$' |
            LC_ALL=C.UTF-8 xargs -0r grep -lE '^.{101,}' -- || true
        printf '%s\0' "$@" | grep -z '\.md$' |
            LC_ALL=C.UTF-8 xargs -0r grep -lE '^[^|].{100,}' -- || true) | LC_ALL=C sort
}

# files TREE: what the rule is for, what was built and fetched left out
files() {
    (cd "$1" || exit
        find . \( -name .git -o -path ./build -o -path ./shared -o -path ./runs \) -prune -o \
            -type f -print0 > "$OLDPWD/all"
        { grep -zE '\.(c|h|cu|cc|inc|sh|mk|make|sbatch|awk|md|1)$|/Makefile$' "$OLDPWD/all" || true
          grep -zvE '\.(py|seed)$' "$OLDPWD/all" |
              xargs -0 awk 'FNR == 1 { if (/^#!/) printf "%s%c", FILENAME, 0; nextfile }'
        } | tr '\0' '\n') | sed 's|^\./||' | LC_ALL=C sort -u
}

# check TREE: new files with long lines, and files of the list that have none any more
check() {
    local list
    mapfile -t list < <(files "$1")
    long "$1" "${list[@]}" > now
    sed '/^#/d' "$1/test/columns.txt" | LC_ALL=C sort > known
    LC_ALL=C comm -23 now known | sed 's/$/: a line has more than 100 columns/'
    LC_ALL=C comm -13 now known |
        sed 's/$/: no long line (or no such file) any more; take it from test\/columns.txt/'
}

check "$TOP" > problems
for p in "$BIN"/*; do
    case $p in *.so) continue;; esac
    "$p" --help | LC_ALL=C.UTF-8 grep -E '^.{101,}' | sed "s/^/${p##*\/} --help: /" || true
done >> problems
[ -s problems ] && { cat problems; fail "columns"; }

# What the above would say of a long line, and of a file that needs no place in the list any more.
mkdir -p copy/test copy/lib
printf '%0100d\n' 0 > copy/lib/fits.c
printf '%0101d\n' 0 > copy/lib/long.c
printf '# files\nlib/fits.c\n' > copy/test/columns.txt
check copy > problems
is "$(cat problems)" "lib/long.c: a line has more than 100 columns
lib/fits.c: no long line (or no such file) any more; take it from test/columns.txt"
# a script is one by its first line, not by its name
printf '%0101d\n' 0 > copy/lib/plain; printf '#!/bin/sh\n%0101d\n' 0 > copy/lib/script
printf '# files\nlib/long.c\n' > copy/test/columns.txt
is "$(check copy)" "lib/script: a line has more than 100 columns"
rm copy/lib/script
# rows of tables, in Markdown alone
printf '|%0100d|\n' 0 | tee copy/lib/rows.md copy/lib/rows.c > copy/lib/long.c
printf '%0101d\n' 0 > copy/lib/text.md
printf '# files\nlib/long.c\nlib/rows.c\n' > copy/test/columns.txt
is "$(check copy)" "lib/text.md: a line has more than 100 columns"
rm copy/lib/rows.c copy/lib/text.md
# columns, not bytes
printf '%0.s\xC3\xA9' {1..100} > copy/lib/long.c
printf '# files\n' > copy/test/columns.txt
is "$(check copy)" ""
