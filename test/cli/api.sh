# `make install-lib`: docs/example.c built against the installed copy says what bpe-apply and
# cooc-query say; shards, vectors and BLEU are those of the programs; the archive has no other name
# than isoglot_*, and a program may have one of its own that the library has inside.
. "$TOP/test/cli/lib.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS
[ -n "${BUILD_WITH-}" ] || fail "run this by make test, which says how the programs were built"
case " $BUILD_WITH " in *" SAN= "*) ;; *) echo "a sanitizer has names of its own"; exit 77;; esac
make -s -C "$TOP" $BUILD_WITH PREFIX="$PWD/usr" install-lib
is "$(cd usr && find . -type f | LC_ALL=C sort | paste -sd ' ')" \
    "./include/isoglot.h ./lib/libisoglot.a ./lib/pkgconfig/isoglot.pc"
nm -g --defined-only usr/lib/libisoglot.a | awk 'NF == 3 { print $3 }' | LC_ALL=C sort > archive
sed -nE 's/^[a-z].*[ *](isoglot_[a-z_]+)\(.*/\1/p' usr/include/isoglot.h | LC_ALL=C sort > header
same header archive
export PKG_CONFIG_PATH=$PWD/usr/lib/pkgconfig
if command -v pkg-config > /dev/null; then flags=$(pkg-config --cflags --libs isoglot)
else flags="-Iusr/include -Lusr/lib $(sed -n 's/^Libs: [^ ]* //p' usr/lib/pkgconfig/isoglot.pc)"; fi
cc=$(echo "$BUILD_WITH" | sed -n 's/.* CC=\([^ ]*\).*/\1/p')
"$cc" -Wall -Wextra -Werror "$TOP/docs/example.c" $flags -o example
# the header is one of C99 and of C++, too
echo '#include <isoglot.h>' > h.c
"$cc" -std=c99 -pedantic -Wall -Wextra -Werror -Iusr/include -fsyntax-only h.c
! command -v g++ > /dev/null || g++ -x c++ -Wall -Wextra -Werror -Iusr/include -fsyntax-only h.c

synth-corpus -q --out synth --sentences 400 --seed 3
bpe-learn -q -n 100 synth/mono.xa > codes
bpe-apply -q -c codes < synth/mono.xa > pieces
cooc-count -q -w 2 xa=synth/mono.xa > counts
word=$(tail -n 1 synth/mono.xa | awk '{ print $NF }')
{ cat pieces; cooc-query -q --lang xa --top 3 counts "$word"; } > expected
./example codes counts xa < synth/mono.xa > got
same expected got
fails 1 'no counts of xx' ./example codes counts xx < synth/mono.xa
fails 1 'example: .*counts2' ./example codes counts2 xa < synth/mono.xa
printf 'a\377\n' > bad
fails 1 'standard input:1: byte 2 is not UTF-8' ./example codes counts xa < bad

"$cc" -Wall -Wextra -Werror "$TOP/test/cli/data/api/all.c" $flags -o all
vocab-count -q pieces > vocab
binarize -q -v vocab -l xa -o xa.shd < pieces
printf '%s\n' 'a 1 2' 'b 3 4.5' 'c 5 6' > x.vec
paste -d ' ' synth/mono.xa synth/mono.xa | cut -d ' ' -f 3- > hyp
echo a b c > abc
printf 'b a\nb a\n' > ba
cooc-count -q -w 2 xa=abc xb=ba > two
./all vocab xa.shd new.shd x.vec hyp synth/mono.xa two > got
cmp xa.shd new.shd
[ ! -e none.shd ] || fail "a shard that was given up is there"
is "$(sed -n 2p got)" "2 2 a 4.5 -1" "vectors"
is "$(sed -n 3p got)" \
    "$(bleu -q --tokenize none --force -b -w 4 synth/mono.xa < hyp) $(wc -l < hyp)" "BLEU"
# 1/2 for neighbours and 1/3 for those next but one; in xb two pairs of neighbours
version=$(cooc-count --version | sed -n '1s/.* //p')
is "$(sed -n 4p got)" "$version 2 xa 0.5 0.333333 xb 1 0" "counts"
is "$(sed -n '1p;5p' got | grep -c 'none.shd\|vocab')" 2 "messages: $(cat got)"
