# Text made by an enemy costs no more memory than was allowed: lines have a limit, and so have the
# windows of zstd.
. "$TOP/test/cli/lib.sh"
printf 'a\nb\n' > v
# 1.5 GB of one line in 50 KB of zstd: refused at 64 MiB, within little more memory than that
head -c 1500000000 /dev/zero | tr '\0' a | zstd -q > bomb.zst
[ "$(stat -c %s bomb.zst)" -lt 300000 ]
unset limit; [ -n "${ISOGLOT_TEST_SANITIZED:-}" ] || limit=600000
for p in "vocab-count" "binarize -v v -l en" "tokenize -l en" "bpe-learn -n 5" \
    "detokenize -l en"; do
    (ulimit -v ${limit:-unlimited}
        fails 1 'bomb.zst:1: a line of more than 67108864 bytes; .* raise --max-line' $p bomb.zst)
done
(ulimit -v ${limit:-unlimited}; fails 1 'bomb.zst:1: a line of more' vocab-count -q - bomb.zst < v)
# to the byte, in lines and in blocks, with the line's number; what is as long as allowed is read
printf 'a b\n%s\nb\n' "$(printf 'a%.0s' $(seq 1000))" > t
for p in "vocab-count" "binarize -v v -l en --max-unknown 1" "tokenize -l en" "shard cat --ids"; do
    case $p in
        # no text: the option is no use, and no harm
        shard*) fails 1 't: byte 0' $p t ;;
        *) $p -q --max-line 1000 t > out
        fails 1 't:2: a line of more than 999 bytes' $p --max-line 999 t ;;
    esac
done
# cooc-count reads parts of lines
cooc-count -q -v v -w 1 --max-line 3 t > out
# a window of 2 GiB: what zstd --long=31 makes is no damage
{ cat t; head -c 1000000 /dev/zero | tr '\0' '\n'; } > big
zstd -q --long=31 --ultra -20 --stream-size=4000000000 < big > long.zst 2> /dev/null ||
    zstd -q --long=31 < big > long.zst
if [ -z "${ISOGLOT_TEST_SANITIZED:-}" ]; then
    fails 1 'long.zst: zstd data with a window of more than 2\^27 bytes .*--zstd-long 31' \
        vocab-count long.zst
    vocab-count -q --zstd-long 31 long.zst > got; vocab-count -q big > want; same got want
fi
fails 2 'zstd-long' vocab-count --zstd-long 32 t
fails 2 'max-line' vocab-count --max-line 0 t
