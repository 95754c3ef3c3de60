# The build: packagers' flags are added to ours, and bin/ leads to a whole build in the usual place
# only.
. "$TOP/test/cli/lib.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS CFLAGS CPPFLAGS LDFLAGS CXXFLAGS
would() { make -s -n -C "$TOP" "$@"; }
would O="$PWD/o" CFLAGS="-O3 -DP1" CPPFLAGS=-DP2 LDFLAGS=-Wl,-z,now "$PWD/o/bin/binarize" > out
grep -q -- '-std=gnu11.* -DP1 .*-c -o .*/cmd/binarize.o' out || fail "CFLAGS: $(head -n 3 out)"
grep -q -- '-D_GNU_SOURCE.* -DP2 .*-c -o .*/cmd/binarize.o' out || fail "CPPFLAGS: $(head -n 3 out)"
grep -q -- '--as-needed.* -Wl,-z,now .*-o .*/bin/binarize' out || fail "LDFLAGS: $(tail -n 3 out)"
CFLAGS=-DP3 would O="$PWD/o" "$PWD/o/bin/binarize" > environment
grep -q -- '-std=gnu11.* -DP3 ' environment || fail "CFLAGS of the environment"
# the last one counts: -O3 over -O2
grep -q -- '-O2.* -O3 ' out || fail "order: $(head -n 3 out)"

# (SAN=leak: make -n writes its flags to the build folder, which must not be that of other tests.)
# a link is made by a whole build, and by that of one program only where there is none
links() { grep -c 'ln -sfn' out || true; }
would programs > out;                         is "$(links)" 1 "a whole build"
grep -q 'ln -sfn build/' out || fail "$(grep ln out)"
would demo > out 2>&1 || true;                is "$(grep -c 'ln -sfn build/' out)" 1 \
    "make demo: $(tail -n 3 out)"
would O="$PWD/o" programs > out;              is "$(links)" 0 "O=elsewhere"
would SAN=leak programs > out;                is "$(links)" 0 "a checking build"
would -B O="$PWD/o" bin/binarize > out;          is "$(links)" 0 "O=elsewhere, one program"
would -B bin/binarize > out;                     grep -q '^\[ -e bin \] || { ln -sfn build/' out ||
    fail "$(tail -n 1 out)"

# hardened programs: at addresses that change, canaries on the stack, checked calls of libc, tables
# of functions that are read-only once the program runs; sanitizers have checks of their own
if [ -z "${ISOGLOT_TEST_SANITIZED:-}" ]; then
    for p in bleu pretrain; do
        readelf -hdlW "$BIN/$p" > elf
        for what in 'Type: *DYN' GNU_RELRO BIND_NOW; do
            grep -q "$what" elf || fail "$p: no $what"; done
        nm -D "$BIN/$p" > symbols
        for what in __stack_chk_fail __snprintf_chk __memcpy_chk; do
            grep -q " U $what\(@\|$\)" symbols || fail "$p: no $what"; done
    done
fi
would O="$PWD/o" CPPFLAGS=-D_FORTIFY_SOURCE=1 "$PWD/o/bin/binarize" > out
is "$(grep -o -- '-D_FORTIFY_SOURCE=.' out | sort -u)" -D_FORTIFY_SOURCE=1 "a packager's own level"
would O="$PWD/o" SAN=address "$PWD/o/bin/binarize" > out
! grep -qE -- 'FORTIFY|stack-protector|-pie' out || fail "hardening beside a sanitizer"
