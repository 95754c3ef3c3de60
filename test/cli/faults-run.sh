# test/faults/run, which make faults and make soak are: it reaches the programs, sees what is wrong
# with one, and what a soak writes adds up.
. "$TOP/test/cli/lib.sh"
[ -z "${ISOGLOT_TEST_SANITIZED:-}" ] ||
    { echo "a sanitizer has its own malloc: nothing is injected"; exit 0; }
o=$(dirname "$BIN")
run() { "$TOP/test/faults/run" "$@"; }
run --bin "$BIN" vocab-count-zst > out || { cat out; fail "vocab-count"; }
[[ $(cat out) =~ ,\ ([0-9]+)\ refused,\ 0\ wrong ]] || { cat out; fail "what it says"; }
[ "${BASH_REMATCH[1]}" -gt 20 ] || { cat out; fail "next to nothing was refused"; }

# a program that does not look at what fails
mkdir -p bad/test; cp -r "$BIN" bad/bin; ln -s "$o/test/faults" bad/test/faults
rm bad/bin/vocab-count
cat > mute.c <<'C'
#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char c;
    int fd = open(argv[argc - 1], O_RDONLY);
    while (read(fd, &c, 1) == 1)
        if (write(1, &c, 1) < 0) return 0;
    return fd < 0;
}
C
cc -o bad/bin/vocab-count mute.c
if run --bin bad/bin vocab-count-zst > out; then fail "a program that looks at no error"; fi
grep -q '^FAIL vocab-count-zst, read:1:fail: status 0, another output' out || { cat out; fail; }
grep -q '^FAIL vocab-count-zst, open:1:fail: status 1, and not one line' out || { cat out; fail; }

# a soak adds to its report; what is there stays
for i in 1 2; do
    JOBS=1 run --bin "$BIN" --soak 2 --report soak.tsv vocab-count-zst > out || { cat out; fail; }
    n[i]=$(wc -l < soak.tsv)
done
[ "${n[1]}" -gt 0 ] && [ "${n[2]}" -gt "${n[1]}" ] || fail "${n[*]} lines of a report"
row() { printf '%s\t' "${@:1:6}"; echo "$7"; }
{ row 100 a kill 137 2 50 0; row 104 b fault 0 1 7 0; row 1000 a kill 0 2 50 0; } > t.tsv
"$TOP/test/faults/tally" t.tsv > out
is "$(head -n 1 out)" "0.00 hours, 2 commands"
is "$(awk '$1 == "kill" || $1 == "all" { $1 = $1; print }' out)" "kill 2 1 4 100 0
all 3 1 5 107 0"
row 1010 b clock 0 1 7 1 >> t.tsv
if "$TOP/test/faults/tally" t.tsv > out; then fail "a fault that was found is no failure"; fi
