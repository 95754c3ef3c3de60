# The runner of tests (test/run) and of drawn mistakes (test/mutants/run), in a tree of their own.
. "$TOP/test/cli/lib.sh"

mkdir -p tree/test/{cli,unit,users} tree/bin tree/build/gcc/test/unit
cp "$TOP/test/run" tree/test
# one at a time, so that their lines have an order
run() {
    tree/test/run --jobs 1 --bin tree/bin --unit tree/build/gcc/test/unit "$@" > out 2> err
}
echo 'echo ran >> "$TOP/ran"' > tree/test/cli/good.sh
echo 'echo why; exit 3' > tree/test/cli/bad.sh
echo 'echo "no such machine"; exit 77' > tree/test/users/elsewhere.sh

run cli/good elsewhere
is "$(sed 's/ (.*//' out)" "skip users/elsewhere: no such machine
ok   cli/good
1 skipped: not run here, and not counted as passed
1 passed, 0 failed"
if run good bad; then fail "a test fails"; fi
has -x 'FAIL cli/bad (status 3)' < out
has -x '     | why' < out
is "$(tail -n 1 out)" "1 passed, 1 failed"

# A name that no test has: one line, and none of the others runs.
rm tree/ran
fails 2 '^test/run: there is no test cli/nonsense unit/good$' \
    tree/test/run --bin tree/bin --unit tree/build/gcc/test/unit cli/good cli/nonsense unit/good
[ ! -e tree/ran ] || fail "a test ran"
# (those of `make quick` have tests)
sed -n '/^QUICK :=/,/[^\\]$/p' "$TOP/test/test.mk" | tr -c 'a-z-\n' ' ' |
    sed 's/.*cli *//' | xargs -n 1 > quick
[ "$(wc -l < quick)" -gt 20 ] || fail "$(cat quick)"
while read -r t; do [ -e "$TOP/test/cli/$t.sh" ] || fail "make quick names cli/$t"; done < quick

# A test at its limit is told from one that fails with the status that timeout has.
echo 'exit 124' > tree/test/cli/bad.sh
if run bad; then fail "a test fails"; fi
has -x 'FAIL cli/bad (status 124)' < out
echo 'sleep 600' > tree/test/cli/bad.sh
if ISOGLOT_TEST_LIMIT=1 run bad; then fail "a test fails"; fi
has -x 'FAIL cli/bad (at its limit of 1 s)' < out

# Of two statements that can be left out, one ends the loop and the other is what is tested.
mkdir -p tree/{cmd,common,kernels/cpu,lib/count,test/mutants}
cp "$TOP"/test/mutants/{draw,reach,reached.h,run} tree/test/mutants
rm tree/test/cli/bad.sh tree/test/users/*; rmdir tree/bin
: > tree/test/mutants/none.txt
echo 'int count(void);' > tree/lib/count/count.h
cat > tree/lib/count/count.c <<'EOF'
#include <unistd.h>
#include "lib/count/count.h"
static volatile int ended, sum;
static void end(void) { ended = 7; }
static void add(void) { sum = 5; }
int count(void)
{
    add();
    end();
    while (!ended) usleep(5);
    return sum;
}
EOF
cat > tree/test/unit/count.c <<'EOF'
#include "lib/count/count.h"
int main(void) { return count() != 5; }
EOF
cat > tree/Makefile <<'EOF'
cli-parts:
	mkdir -p build/gcc/bin
build/gcc/test/unit/count: test/unit/count.c build/gcc/lib/count/count.o
	gcc -D_GNU_SOURCE -I. -o $@ $^
build/gcc/lib/count/count.o: lib/count/count.c
	mkdir -p $(@D)
	gcc -D_GNU_SOURCE -I. -c -o $@ $<
EOF
drawn() {
    LEAST=1 TESTS=unit/count tree/test/mutants/run --drawn 2 1 --jobs 2 > out || fail "$(cat out)"
    sed 's/, 1 of 1, [0-9]* s)$/)/; s/, [0-9]* s)$/)/' out | LC_ALL=C sort
}
is "$(drawn)" "100% of the drawn mistakes were seen
2 passed, 0 failed
dead  lib/count/count.c:8: left out (unit/count)
dead  lib/count/count.c:9: left out (unit/count at its limit)"

# Of two that the test itself passes, the compiler sees one, and AddressSanitizer the other.
cat > tree/lib/count/count.c <<'EOF'
#include <stdlib.h>
#include "lib/count/count.h"
static void none(int *x) { *x = 0; }
int count(void)
{
    int *x = calloc(5, sizeof *x), sum = 0;
    none(x);
    for (int i = 0; i < 5; i++) x[i]++;
    for (int i = 0; i < 5; i++) sum += x[i];
    free(x);
    return sum;
}
EOF
cat > tree/Makefile <<'EOF'
# not what this test itself is built with
SAN :=
O := build/gcc$(if $(SAN),-address)
CC := gcc -Wall -g -I. $(if $(SAN),-fsanitize=address)
cli-parts:
	mkdir -p $(O)/bin
$(O)/test/unit/count: test/unit/count.c $(O)/lib/count/count.o
	mkdir -p $(@D)
	$(CC) -o $@ $^
$(O)/lib/count/count.o: lib/count/count.c
	mkdir -p $(@D)
	$(CC) -c -o $@ $<
EOF
cat > tree/test/mutants/draw <<'EOF'
printf '= lib/count/count.c:%s\nfile lib/count/count.c\n-%s\n+%s\ntest unit/count\n\n' \
    '7: left out' '    none(x);' '    ;' \
    '8: " < " is " <= "' '    for (int i = 0; i < 5; i++) x[i]++;' \
    '    for (int i = 0; i <= 5; i++) x[i]++;'
EOF
rm -r tree/build/gcc
is "$(drawn)" "100% of the drawn mistakes were seen
2 passed, 0 failed
dead  lib/count/count.c:7: left out (the compiler warns)
dead  lib/count/count.c:8: \" < \" is \" <= \" (unit/count, sanitized)"

# A mistake that asks for more addresses than there is memory does not get them.
cat > tree/lib/count/count.c <<'EOF2'
#include <sys/mman.h>
#include "lib/count/count.h"
int count(void)
{
    size_t size = 1ul << 20;
    return mmap(0, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) ==
        MAP_FAILED ? 0 : 5;
}
EOF2
cat > tree/test/mutants/draw <<'EOF2'
printf '= lib/count/count.c:5: %s\nfile lib/count/count.c\n-%s\n+%s\ntest unit/count\n\n' \
    '20 is 34' '    size_t size = 1ul << 20;' '    size_t size = 1ul << 34;'
EOF2
is "$(drawn)" "1 passed, 0 failed
100% of the drawn mistakes were seen
dead  lib/count/count.c:5: 20 is 34 (unit/count)"

# Tests that need a Slurm say so where there is none.
mkdir bare
for t in bash cat mktemp rm setpriv true; do ln -s "$(command -v $t)" bare/; done
status=0; PATH=$PWD/bare "$TOP/test/slurm/one-node" with true > out || status=$?
is $status 77
has '^no Slurm here (.* sbatch srun ): apt-get install slurm-wlm munge$' < out
