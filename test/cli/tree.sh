# What is kept in the tree: sources and small samples. No file passes 400 kB, and none but those
# named here lies at the root, where a program that is tried by hand leaves what it writes.
. "$TOP/test/cli/lib.sh"

# kept TREE: its files, by git where it is there
kept() {
    git -C "$1" ls-files 2> error ||
        (cd "$1" && find . \( -path ./build -o -path ./shared -o -path ./runs -o -path ./bin \) \
            -prune -o -type f -print | sed 's|^\./||')
}

# check TREE: a line for each file that does not belong there
check() {
    local pages='CITATION\.cff|CONTRIBUTING\.md|LICENSE|README\.md|SECURITY\.md'
    local root="^($pages|Makefile|programs\.mk|\.[a-z-]+|report\.html)\$"
    kept "$1" > files
    grep -v / files | grep -vE "$root" | sed 's/$/: no file of the root/' || true
    (cd "$1" && find . -name .git -prune -o -type f -size +400k -printf '%P\n') | sort > large
    sort files | comm -12 - large | sed 's/$/: more than 400 kB/'
}

check "$TOP" > problems
[ -s problems ] && { cat problems; fail "files that do not belong into the tree"; }

# What the above would say of some.
mkdir -p tree/lib/text
: > tree/Makefile
: > tree/notes
head -c 500000 /dev/zero > tree/lib/text/words.tsv
is "$(check tree)" "notes: no file of the root
lib/text/words.tsv: more than 400 kB"
