# For command-line tests: `. "$TOP/test/cli/lib.sh"`. They run in an empty folder of their own, with
# $BIN (programs) and $TOP (the checkout). The first thing that does not hold ends the test.
set -eEu -o pipefail
trap 'if [ ${#BASH_SOURCE[@]} -gt 1 ]
    then echo "failed at ${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: $BASH_COMMAND"
    else echo "failed at ${0##*/}:$LINENO: $BASH_COMMAND"; fi' ERR
PATH=$BIN:$PATH
fail() { echo "failed: $*"; exit 1; }
# is GOT WANT [what]
is() { [ "$1" = "$2" ] || { echo "got:  $1"; echo "want: $2"; fail "${3:-values differ}"; }; }
# same FILE FILE
same() { cmp "$1" "$2" || { diff "$1" "$2" | sed -n 1,20p; fail "$1 and $2 differ"; }; }
# has GREP-ARGUMENTS...: is it in the standard input, which is read to its end? (Behind a pipe stand
# neither `grep -q` nor `head`: they end early, and what writes to them then fails, if it is slow.)
has() { grep "$@" > /dev/null; }
# covered WHY: skips a test under a sanitizer, where it takes minutes and shows nothing: WHY is what
# runs the same programs with the same options
covered() { [ -z "${ISOGLOT_TEST_SANITIZED:-}" ] || { echo "under a sanitizer: $*"; exit 77; }; }
# fails STATUS PATTERN command...: must exit with STATUS and say one line matching PATTERN on
# standard error
fails() {
    local want=$1 pattern=$2 got=0; shift 2
    "$@" >fails.out 2>fails.err || got=$?
    [ "$got" = "$want" ] || { cat fails.err; fail "status $got, not $want: $*"; }
    [ "$(wc -l < fails.err)" = 1 ] || { cat fails.err; fail "not one line on standard error: $*"; }
    grep -qE -- "$pattern" fails.err ||
        { cat fails.err; fail "message does not match '$pattern': $*"; }
}
