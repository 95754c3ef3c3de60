# outputs FOLDER: what each line of test/users/engineer/commands prints, into FOLDER/NAME, with the
# programs that $PATH has, in a folder with `text`, `de`, `en`, `tokens`.
cells() {   # GloVe's records by row and column, numbers to nine digits
    od -An -v -tx1 -w16 | LC_ALL=C awk '
        function hex(s,   i, n) { n = 0
            for (i = 1; i <= length(s); i++)
                n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
            return n }
        function real(e, high, low) { return (1 + (high + low / 4294967296) / 1048576) * 2 ^ e }
        { high = hex($16 $15 $14 $13)
          printf "%d %d %.9g\n", hex($4 $3 $2 $1), hex($8 $7 $6 $5),
              real(int(high / 1048576) - 1023, high % 1048576, hex($12 $11 $10 $9)) }' |
        sort -n -k 1,1 -k 2,2
}
outputs() {
    local name line
    while IFS=$'\t' read -r name line; do
        case $name in ''|'#'*) continue;; esac
        (set +e +E; trap - ERR; eval "$line") > "$1/$name" 2> err < /dev/null ||
            echo "$name: $(tail -n 1 err)" >&2
    done < "$TOP/test/users/engineer/commands"
}
# inputs: what the lines read, in this folder, made with our programs in $PATH
inputs() {
    local d=$TOP/test/cli/data
    cp "$d/tokenize/text" "$d/tokenize/tokens" "$d/tokenize/patterns" .
    sh "$d/bpe/text.sh" > de
    tac de > en; cp en de2; awk 'NR <= 60' de > small
    bpe-learn -q -n 300 de > codes
    vocab-count -q --max-size 300 de > words
}
