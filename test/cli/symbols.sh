# The tree's sizes, and who needs whom inside a folder, by the symbols of the object files: no file
# needs another one that needs it, but those that `circles` names; no public name is there twice, of
# a function or of a struct in headers, and each begins with its subject; files and large folders
# get no more.
. "$TOP/test/cli/lib.sh"
# FOLDER/FILE of circles that are there; whoever mends one takes it out
circles=""
# files of C; their median lines; folders of over 25, .cu among them, but for cmd, which has a file
# per program
most_files=562 least_median=107 most_large=0
# "FOLDER/FILE WORD" or "FOLDER WORD": with what names begin there besides
also='common/files/file dir
common/files/file link
common/files/file path
common/files/file tmp
common/grant granted
common/json/safetensors st
common/thread par
kernels/cpu kern
kernels/cpu kernels
lib/count cooc
lib/eval/statistics stat'

# names OBJECT...: "OBJECT T NAME" for what it has, "OBJECT U NAME" for what it needs
names() { nm -A -g "$@" | sed -E 's/:[0-9a-f ]* ([A-UX-Z]) / \1 /; s/\.o / /'; }
# circle: of such lines, the files that need each other, by way of others of their folder perhaps:
# those from which one comes, and to which one goes, again and again
circle() {
    awk '
        function folder(f) { sub("/[^/]*$", "", f); return f }
        $2 == "U" { needs[$1, ++n[$1]] = $3; file[$1]; next }
        { at[$3] = $1; file[$1] }
        END {
            for (f in file) for (i = 1; i <= n[f]; i++) {
                to = at[needs[f, i]]
                if (to == "" || to == f || folder(to) != folder(f) || (f, to) in arrow) continue
                arrow[f, to]; out[f]++; in_[to]++
            }
            do {
                gone = 0
                for (a in arrow) {
                    split(a, end, SUBSEP)
                    if (in_[end[1]] && out[end[2]]) continue
                    out[end[1]]--; in_[end[2]]--; delete arrow[a]; gone = 1
                }
            } while (gone)
            for (a in arrow) { split(a, end, SUBSEP); print end[1] }
        }' "$@" | sort -u
}
# doubles: of such lines, the names that two files have
doubles() { awk '$2 ~ /[TDBRC]/ { print $3 }' "$@" | sort | uniq -d; }
# structs HEADER...: names that two of them define
structs() { sed -nE 's/^struct ([a-z_0-9]+) \{.*/\1/p' "$@" | sort | uniq -d; }
# subjects TREE: "FOLDER NAME" for the structs and enums of its headers
subjects() {
    (cd "$1" && grep -HoE '^(struct|enum) [a-z_0-9]+( \{|;)' common{,/*}/*.h lib/*/*.h \
        kernels/{cpu,int8,linalg}/*.h) | sed -E 's,/[^/]*:[a-z]+ ([a-z_0-9]+).*, \1,' | sort -u
}
# strangers OBJECTS-NAMES: public names that begin neither with their file (or its first word), nor
# with their folder, nor with a struct of its headers, each perhaps without a plural s, nor with one
# of "FOLDER WORD" in the file `subjects`
strangers() {
    awk '
        function at(n, x, s) {
            s = x; sub(/s$/, "", s)
            return n == x || n == x "s" || index(n, x "_") == 1 || index(n, s "_") == 1 ||
                index(n, x "s_") == 1
        }
        FNR == NR { of[$1] = of[$1] " " $2; next }
        $2 ~ /[TDBRC]/ && $3 !~ /^_|[.]/ {       # (a sanitizer adds such)
            folder = file = $1; sub("/[^/]*$", "", folder); sub(".*/", "", file)
            last = folder; sub(".*/", "", last); first = file; sub("_.*", "", first)
            n = split(last " " file " " first of[folder] of[$1], word, " ")
            for (i = 1; i <= n; i++) if (at($3, word[i])) next
            print $1 ": " $3
        }' subjects "$@"
}

# they see a name without a subject, a circle of three, a name that is there twice, a struct of two
# headers
printf '%s\n' 'lib/x/a T fa' 'lib/x/a U fb' 'lib/x/b T fb' 'lib/x/b U fc' 'lib/x/c T fc' \
    'lib/x/c U fa' 'lib/x/d T fd' 'lib/x/d U fa' 'lib/y/e T fe' 'lib/y/e U fd' \
    'lib/y/f T fd' > three
is "$(circle three | paste -sd ' ')" "lib/x/a lib/x/b lib/x/c"
is "$(doubles three)" fd
printf '%s\n' 'lib/x thing' 'lib/y/e part' > subjects
printf '%s\n' 'lib/x/a_b T a_c' 'lib/x/b T x_d' 'lib/x/c T things_e' 'lib/x/d T e' 'lib/x/e T abc' \
    'lib/y/e T part_of' 'lib/y/f T part_of' 'lib/y/f U g' > some
is "$(strangers some | paste -sd ' ')" "lib/x/d: e lib/x/e: abc lib/y/f: part_of"
printf 'struct one { int x; };\n' > 1.h; printf '%s\n' 'lib/x thing' 'lib/y/e part' > subjects
printf '%s\n' 'lib/x/a_b T a_c' 'lib/x/b T x_d' 'lib/x/c T things_e' 'lib/x/d T e' 'lib/x/e T abc' \
    'lib/y/e T part_of' 'lib/y/f T part_of' 'lib/y/f U g' > some
is "$(strangers some | paste -sd ' ')" "lib/x/d: e lib/x/e: abc lib/y/f: part_of"
printf 'struct one { int y; };\nstruct two {\n' > 2.h
is "$(structs 1.h 2.h)" one

cd "$(dirname "$BIN")"
objects=()
for c in "$TOP"/{common{,/*},lib/*,kernels/{cpu,int8,linalg}}/*.c; do
    c=${c#"$TOP"/}
    [ ! -f "${c%.c}.o" ] || objects+=("${c%.c}.o")
done
[ ${#objects[@]} -gt 250 ] || fail "only ${#objects[@]} object files"
names "${objects[@]}" > "$OLDPWD/names"; cd "$OLDPWD"
circle names > found
printf '%s\n' $circles | sort > known
is "$(comm -23 found known)" "" "files that need each other"
is "$(doubles names)" "" "public names that are there twice"
is "$(structs "$TOP"/{common{,/*},lib/*,kernels,kernels/int8,kernels/linalg}/*.h)" "" \
    "structs of two headers"
{ subjects "$TOP"; printf '%s\n' "$also"; } > subjects
is "$(strangers names)" "" "public names that do not begin with their subject"

find "$TOP"/cmd "$TOP"/common "$TOP"/lib "$TOP"/kernels -name '*.[ch]' > files
files=$(wc -l < files)
median=$(xargs wc -l < files | awk '$2 != "total" { print $1 }' | sort -n |
    awk '{ n[NR] = $1 } END { print n[int((NR + 1) / 2)] }')
find "$TOP/kernels" "$TOP/lib" -name '*.cu' | cat files - | sed 's,/[^/]*$,,' | grep -v '/cmd$' |
    sort | uniq -c > folders
large=$(awk '$1 > 25' folders | wc -l)
echo "$files files of $median lines (median), $large folders of over 25, $(wc -l < found) in" \
    "circles"
[ "$files" -le $most_files ] || fail "$files files, of at most $most_files"
[ "$median" -ge $least_median ] || fail "a median file of $median lines, of at least $least_median"
[ "$large" -le $most_large ] || fail "$large folders of over 25 files, of at most $most_large"
