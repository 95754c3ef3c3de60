# All libraries linked whole: a symbol that two of them define is an error, whichever of the two a
# program happens to get today.
. "$TOP/test/cli/lib.sh"
archives=("$BIN"/../libcommon{,-files,-json,-prog,-text}.a "$BIN/../libkernels-cpu.a")
for d in "$TOP"/lib/*/; do d=${d%/}; archives+=("$BIN/../liblib-${d##*/}.a"); done
[ ${#archives[@]} -gt 15 ] || fail "only ${#archives[@]} archives beside $BIN"
ld -r -o all.o --whole-archive "${archives[@]}" 2> twice ||
    { grep -o "multiple definition of .*" twice; fail "symbols with two definitions"; }

# What the above would say of one.
printf 'int corpus_free(void);\nint corpus_free(void) { return 0; }\n' > again.c
cc -c -o again.o again.c; ar rc again.a again.o
if ld -r -o all.o --whole-archive "${archives[@]}" again.a 2> twice; then fail \
    "a second corpus_free passes"; fi
grep -q 'multiple definition of .corpus_free' twice || fail "what is said of it: $(cat twice)"
