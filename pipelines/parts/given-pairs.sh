# Sentence pairs that are given as A-B=F,G. The first pair says which languages there are.
given_pair=
# pairs_given WHAT VALUE: $A and $B, languages; $given_files and $given_read, files in turn of A
# and B, as words of a list and of a command; $given_lines, how many pairs.
pairs_given() {
    local item f g was
    given_files= given_read= given_lines=0
    items "$1" "$2"
    for item in "${items[@]}"; do
        given "$1" "$item"
        case $key in *-*-*|-*|*-) refuse "$1" "$key is no pair of languages";; *-*) ;;
            *) refuse "$1" "'$item' is not A-B=FILE,FILE";; esac
        two_files "$1" "$item"
        if [ -z "$given_pair" ]; then
            given_pair=$key
            languages ${key%-*} ${key#*-}
            FOLDER+=-$A-$B
        fi
        case $key in
        $A-$B) ;;
        $B-$A) was=$f f=$g g=$was;;
        *) refuse "$1" "$key: the pairs are $A-$B";;
        esac
        was=$bad
        looked_at "$1" $A "$f"; looked_at "$1" $B "$g"
        [ "$bad" = "$was" ] || continue
        pairs_seen "$1" $A $B "$f" "$g"
        given_lines=$((given_lines + seen_lines))
        for file in "$f" "$g"; do
            absolute "$file"
            given_files+=" $(listed "$file")" given_read+=" $(quoted "$file")"
        done
    done
}
# split_pairs: all that PARALLEL, VALID and TEST give; $n, how many pairs. split_stages, once
# nothing is wrong with them: raw/{train,valid,test}.{A,B} and the page about them.
split_pairs() {
    local p
    pairs_given PARALLEL "$PARALLEL"
    read_pairs=$given_read pairs_read=$given_files n=$given_lines
    held= held_read=
    for p in VALID TEST; do
        [ -n "${!p-}" ] || continue
        pairs_given $p "${!p}"
        set -- $given_files; [ $# -le 2 ] || refuse $p "one pair of files"
        held+=" --${p,,}$given_read" held_read+=$given_files
    done
}
split_stages() {
    stage raw  raw/{train,valid,test}.{$A,$B} raw/pairs.tsv : $P/split-pairs $P/clean-pairs.awk \
        $P/script.awk $P/languages.tsv $P/{as-lines,plain} $P/unescape.awk$pairs_read$held_read : \
        "$P/split-pairs $unescape$held $A $B $VALID_LINES $TEST_LINES $LONGEST
            $LENGTH_RATIO$read_pairs"
    quick page.pairs  page/1-pairs.tsv : raw/pairs.tsv : \
        "{ echo '# Pairs that were read, left out and kept; some lines $web' &&
           printf 'pairs\tnumber\tshare\n' && cat raw/pairs.tsv; } > page/1-pairs.tsv"
}
