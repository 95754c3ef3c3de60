# No status is overlooked: clang-tidy's bugprone-unused-return-value over the tree, for every
# function of our headers that returns an int, a size or a pointer, and for those of the libraries
# that can fail; test/unused.txt has the ones whose result may be left alone, and why. `(void)` says
# that a single call's may.
. "$TOP/test/cli/lib.sh"
covered "it reads the source alone"
command -v clang-tidy > /dev/null || { echo "clang-tidy is not installed"; exit 77; }
libraries="fdatasync fseeko fsync ftruncate lseek mmap dup dup2 pipe read pread write pwrite \
fread rename fflush fclose fwrite open_memstream fopencookie asprintf vasprintf realpath strdup \
posix_memalign pthread_create ZSTD_compress2 ZSTD_compressCCtx ZSTD_compressStream2 \
ZSTD_decompress ZSTD_decompressDCtx ZSTD_decompressStream ZSTD_CCtx_setParameter \
ZSTD_DCtx_setParameter ZSTD_DCtx_reset ZSTD_createCCtx ZSTD_createDCtx inflate inflateInit2_ \
inflateReset XXH3_createState XXH3_64bits_reset cJSON_Parse cJSON_ParseWithLengthOpts \
cJSON_Print cJSON_PrintUnformatted"
# config TREE: clang-tidy's configuration for its functions
config() {
    {
        cat "$1"/common{,/*}/*.h "$1"/lib/*/*.h | perl -0777 -ne '
            s{/\*.*?\*/}{}gs;
            my $type = qr/(?!static|typedef|return)(?:const |unsigned |struct |enum )*(\w+) (\**)/;
            while (/^$type(\w+)\(/gm) {
                my ($t, $p, $f) = ($1, $2, $3);
                print "$f\n" if $p || $t =~ /^(int|bool|u?int\d+_t|s?size_t)$/ }'
        printf '%s\n' $libraries
    } | LC_ALL=C sort -u > names
    sed '/^#/d; s/ .*//' "$1/test/unused.txt" | LC_ALL=C sort > may
    LC_ALL=C comm -13 names may > gone
    [ ! -s gone ] || {
        cat gone; fail "test/unused.txt names functions that there are not"; } >&2
    printf "Checks: '-*,bugprone-unused-return-value'\nCheckOptions:\n"
    printf "  - { key: %s, value: '%s' }\n" \
        bugprone-unused-return-value.CheckedFunctions \
        "$(LC_ALL=C comm -23 names may | sed 's/^/::/' | paste -sd ';')"
}
# unused TREE FILE...: what the check says, a line each
unused() {
    local top=$1 openblas tidy=$PWD/tidy.yml; shift
    openblas=$(echo /usr/include/*-linux-gnu/openblas-openmp)
    (cd "$top" && printf '%s\0' "$@" | xargs -0 -n 8 -P "$(nproc)" sh -c 'clang-tidy --quiet \
        --config-file="$0" "$@" -- -I. -I'"$openblas"' -D_GNU_SOURCE -std=gnu11 -w \
        -DISOGLOT_VERSION=\"0\"' "$tidy") > out 2> err || true
    ! grep -E 'error:' out || fail "clang-tidy cannot read the tree"
    sed -n "s,$top/\(.*\): warning: the value.*,\1,p" out
}
config "$TOP" > tidy.yml
[ "$(wc -l < names)" -gt 600 ] || fail "$(wc -l < names) functions"
# the check sees a planted one, of ours and of a library
printf '#include "common/files/file.h"\nvoid f(void) { %s; (void)%s; }\n' \
    'file_write("x", "", 0)' 'file_write("x", "", 0)' > planted.c
printf '#include <stdio.h>\nvoid g(void) { rename("x", "y"); }\n' >> planted.c
mkdir -p tree; ln -s "$TOP/common" tree/common; cp planted.c tree/
is "$(unused "$PWD/tree" planted.c | wc -l)" 2 "planted ones"
mapfile -t sources < <(cd "$TOP" && ls common{,/*}/*.c lib/*/*.c cmd/*.c kernels/*/*.c |
    grep -vE "simd_|dot8_|int8_(avx|vnni)")
unused "$TOP" "${sources[@]}" > found
[ ! -s found ] || { cat found; fail "statuses that nobody looks at; use them, or say (void)"; }
