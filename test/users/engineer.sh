# An engineer's way: scripts written for fastBPE, subword-nmt, Moses and GloVe run unchanged with
# the names that `make install COMPAT=1` puts beside ours. test/users/engineer/sums has what the
# programs themselves print (test/peers/compat.sh).
. "$TOP/test/cli/lib.sh"
covered "the tests of programs"
. "$TOP/test/users/engineer/run.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS
[ -n "${BUILD_WITH-}" ] || fail "run this by make test, which says how the programs were built"
make_() { make -s -C "$TOP" $BUILD_WITH PREFIX="$PWD/usr" "$@"; }
make_ install COMPAT=1 > out
mkdir work work/got; ( cd work && inputs )
PATH=$PWD/usr/bin:$PATH
( cd work && outputs got ) 2> said
[ ! -s said ] || fail "$(cat said)"
is "$(ls work/got | wc -l)" "$(wc -l < "$TOP/test/users/engineer/sums")"
(cd work/got && sha256sum -c --quiet "$TOP/test/users/engineer/sums") || fail "not as the peers"

# what a name does not do, it says in one line before anything is written
fails 2 '^tokenizer.perl: -penn: ' tokenizer.perl -penn
fails 2 '^detokenizer.perl: -penn: ' detokenizer.perl -l en -penn
fails 2 '^fast: one of: getvocab' fast learnbpe
fails 2 '^fast: one of: ' fast applybpe out
fails 2 '^subword-nmt: one of: ' subword-nmt
fails 2 '^subword-nmt: -m 0: ' subword-nmt apply-bpe -c codes -m 0
fails 2 '^subword-nmt: learn-joint' subword-nmt learn-joint-bpe-and-vocab -i a b
fails 2 '^vocab_count: -min-count takes a number' vocab_count -min-count
fails 2 '^vocab_count: no option -mincount' vocab_count -mincount 3
fails 2 '^cooccur: -memory takes a number' cooccur -memory 4G
fails 1 'vocab.txt: cannot be opened' cooccur < work/de
[ ! -s fails.out ] || fail "cooccur printed something"
is "$(find "$TMPDIR" -name 'cooccur.*')" ""
# sacrebleu is bleu: the same line
is "$(sacrebleu work/de -i work/en -b)" "$(bleu work/de -i work/en -b)"

ln -s /elsewhere usr/bin/mine; rm usr/bin/fast; ln -s /elsewhere usr/bin/fast
make_ uninstall
is "$(find usr | LC_ALL=C sort | paste -sd ' ')" "usr usr/bin usr/bin/fast usr/bin/mine"
