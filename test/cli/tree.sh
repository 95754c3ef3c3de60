# What is kept in the tree: sources and small samples. No file passes 400 kB, and none but those
# named here lies at the root, where a program that is tried by hand leaves what it writes. No
# script hangs on who is faster, and no source on there being memory.
. "$TOP/test/cli/lib.sh"

# kept TREE: its files, by git where it is there
kept() {
    git -C "$1" ls-files 2> error ||
        (cd "$1" && find . \( -path ./build -o -path ./shared -o -path ./runs -o -path ./bin \) \
            -prune -o -type f -print | sed 's|^\./||')
}

# early FILE...: lines that read a pipe and end before it does. Under pipefail their writer fails if
# it has more to say by then: now and then, on another machine.
early() {
    awk 'FNR == 1 { last = "" }
        /^ *#/ { next }
        { line = last $0; last = /[^|][|]$/ ? "| " : "" }
        line ~ /(^|[^|])[|] *(head|grep -[A-Za-z]*[qm]|sed [^|]*[0-9\/]q)/ {
            print FILENAME ":" FNR ": ends before its input (has, in test/cli/lib.sh)" }' "$@"
}

# check TREE: a line for each file that does not belong there
check() {
    local pages='CHANGELOG\.md|CITATION\.cff|CONTRIBUTING\.md|LICENSE|README\.md|SECURITY\.md'
    local root="^($pages|Makefile|programs\.mk|\.[a-z-]+|report\.html)\$"
    kept "$1" > files
    grep -v / files | grep -vE "$root" | sed 's/$/: no file of the root/' || true
    (cd "$1" && find . -name .git -prune -o -type f -size +400k -printf '%P\n') | sort > large
    # (look-at-text looks at beginnings, and at no status)
    (cd "$1" && grep -v 'look-at-text$' "$OLDPWD/files" | xargs grep -slE 'pipefail|cli/lib\.sh' |
        while read -r f; do early "$f"; done)
    # without memory these say what they say of a file, a name or an end that is not there
    (cd "$1" && grep -E '^(cmd|common|kernels|lib)/.*\.[ch]$' "$OLDPWD/files" |
        grep -v '^common/\(err\|files/file\|mem\)\.c$' | xargs grep -nHE \
            '\b(realpath|v?asprintf|strn?dup|open_memstream|getline|getcwd)\(' |
        sed -E 's/^([^:]*:[0-9]+):.*/\1: mem_dup, mem_format, mem_text_open, path_real/') || true
    sort files | comm -12 - large | sed 's/$/: more than 400 kB/'
}

check "$TOP" > problems
[ -s problems ] && { cat problems; fail "files that do not belong into the tree"; }

# What the above would say of some.
mkdir -p tree/lib/text
: > tree/Makefile
: > tree/notes
printf '%s\n' 'char *a = strdup(b), *c = mem_dup(b);' '/* not strdup: */' > tree/lib/text/a.c
head -c 500000 /dev/zero > tree/lib/text/words.tsv
printf '%s\n' 'set -eu -o pipefail' 'a ! grep -q x' 'a !! grep -q x b' 'a !' '    head -n 1' \
    '# ! head' 'a ! tail -n 1 ! sed 3q' 'a ! grep -c q' | tr ! '|' > tree/lib/script
is "$(check tree)" "notes: no file of the root
lib/script:2: ends before its input (has, in test/cli/lib.sh)
lib/script:5: ends before its input (has, in test/cli/lib.sh)
lib/script:7: ends before its input (has, in test/cli/lib.sh)
lib/text/a.c:1: mem_dup, mem_format, mem_text_open, path_real
lib/text/words.tsv: more than 400 kB"
