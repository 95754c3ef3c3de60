#!/bin/bash
# Builds every fuzz target as OSS-Fuzz asks: with $CC, $CXX, $CFLAGS, $LIB_FUZZING_ENGINE, into
# $OUT; beside each a corpus NAME_seed_corpus.zip, where there are seeds. On its own, with nothing
# set, clang's libFuzzer and build/oss-fuzz. Its libraries are those of test/setup.
set -eu -o pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
CC=${CC:-clang} CXX=${CXX:-clang++} OUT=${OUT:-$top/build/oss-fuzz}
LIB_FUZZING_ENGINE=${LIB_FUZZING_ENGINE:--fsanitize=fuzzer}
CFLAGS=${CFLAGS:--O1 -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined}
mkdir -p "$OUT"
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
jobs=-j$(nproc)
# what the readers need, by the Makefile's own rules; and plain programs, which make the seeds
flags=(CC="$CC" O="$work/build" FUZZING=1 SAN=
    "XCFLAGS=$CFLAGS -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION")
env -u CFLAGS make -s $jobs "${flags[@]}" fuzz-objects
[ -n "${BIN:-}" ] || {
    env -u CFLAGS -u CC make -s $jobs O="$work/plain" programs; BIN=$work/plain/bin; }
libs=$(env -u CFLAGS make -s "${flags[@]}" print-fuzz-libs)
for source in test/fuzz/*.c; do
    name=$(basename "$source" .c)
    # shellcheck disable=SC2086
    $CXX $CFLAGS -o "$OUT/$name" "$work/build/test/fuzz/$name.o" $LIB_FUZZING_ENGINE $libs
    mkdir "$work/$name"
    [ ! -f "test/fuzz/$name.seed" ] ||
        BIN=$(cd "$BIN" && pwd) PATH=$BIN:$PATH sh "test/fuzz/$name.seed" "$work/$name"
    [ -z "$(ls -A "$work/$name")" ] ||
        (cd "$work/$name" && python3 -m zipfile -c "$OUT/${name}_seed_corpus.zip" ./*)
done
echo "$(ls test/fuzz/*.c | wc -l) targets in $OUT"
