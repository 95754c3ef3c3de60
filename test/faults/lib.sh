# For tests that make calls fail: `. "$TOP/test/faults/lib.sh"` after test/cli/lib.sh.
inject=$(dirname "$BIN")/test/faults/inject.so
[ -f "$inject" ] || fail "run this by make test, which builds $inject"
[ -z "${ISOGLOT_TEST_SANITIZED:-}" ] ||
    { echo "a sanitizer has its own malloc: nothing is injected"; exit 0; }
# faulty CALL:N:KIND command...: with one fault (test/faults/inject.c)
faulty() { FAULT=$1 LD_PRELOAD=$inject "${@:2}"; }
# calls CALL command...: how often it makes that call
calls() {
    rm -f calls.n
    FAULT_COUNT=$PWD/calls.n LD_PRELOAD=$inject "${@:2}" > /dev/null
    awk -v call="$1" '$1 == call { print $2 }' calls.n
}
