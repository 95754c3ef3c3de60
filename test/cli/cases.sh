# Small inputs that once went wrong: test/cases/NAME has cmd, its inputs, and expected, what cmd
# must print on standard output and standard error together (from the reference that README
# names). cmd runs in a copy of the folder, with the programs in PATH; its status stands in the
# last line of expected ("status N").
. "$TOP/test/cli/lib.sh"
failed=
for c in "$TOP"/test/cases/*/; do
    [ -d "$c" ] || fail "no cases in test/cases"
    name=$(basename "$c")
    cp -r "$c" "$name"; chmod -R u+w "$name"
    (cd "$name" && { status=0; bash ./cmd 2>&1 || status=$?; echo "status $status"; }) \
        < /dev/null > "$name.got"
    cmp -s "$name.got" "$c/expected" ||
        { failed="$failed $name"; echo "$name:"
            diff "$name.got" "$c/expected" | sed -n 1,10p || true; }
done
[ -z "$failed" ] || fail "not as expected:$failed"
