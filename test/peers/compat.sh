#!/bin/bash
# The command lines of test/users/engineer/commands by fastBPE, subword-nmt, Moses' scripts and
# GloVe themselves, and by the names that `make install COMPAT=1` gives ours: on the tests' text and
# on real text, byte for byte; a line each that differs.
#   FAST=fast  SUBWORD=subword-nmt  SUBWORD_PY=folder of learn_bpe.py  PYTHON=python3
#   MOSES=a checkout of mosesdecoder  GLOVE=folder of vocab_count and cooccur
#   COMPAT=folder of ours (installed)  DE=, EN= real text, of as many lines
#   --golden  writes test/users/engineer/sums, of what the peers print
# Moses' tokenizer reads our lists of abbreviations here: its own have more.
set -u
TOP=$(cd "$(dirname "$0")/../.." && pwd); export TOP LC_ALL=C.UTF-8
: "${FAST:?}" "${SUBWORD:?}" "${SUBWORD_PY:?}" "${MOSES:?}" "${GLOVE:?}" "${COMPAT:?}"
PYTHON=${PYTHON:-python3}
. "$TOP/test/users/engineer/run.sh"
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/moses" "$work/moses/share" "$work/moses/share/nonbreaking_prefixes"
for f in "$FAST" "$SUBWORD" "$GLOVE/vocab_count" "$GLOVE/cooccur"; do ln -s "$f" "$work/bin/"; done
for f in learn_bpe apply_bpe get_vocab; do
    printf '#!/bin/sh\nexec %s %s/%s.py "$@"\n' "$PYTHON" "$SUBWORD_PY" $f > "$work/bin/$f.py"
done
cp -r "$MOSES/scripts/tokenizer" "$MOSES/scripts/generic" "$work/moses/"
for f in "$TOP"/lib/text/nonbreaking/*; do
    cp "$f" "$work/moses/share/nonbreaking_prefixes/nonbreaking_prefix.${f##*/}"
done
for f in "$work"/moses/{tokenizer,generic}/*.perl; do
    printf '#!/bin/sh\nexec perl %s "$@"\n' "$f" > "$work/bin/${f##*/}"
done
chmod 755 "$work"/bin/*.p*
ours=$COMPAT:$TOP/bin:$PATH
status=0
both() {        # NAME: in a folder with the inputs
    local side name
    for side in theirs ours; do
        mkdir -p "$work/$1.$side/got"
        cd "$work/$1.$side" && PATH=$ours inputs
        if [ "$1" = real ]; then
            cp "$DE" de; cp "$EN" en; cp de de2; cat de en > text; awk 'NR <= 60' de > small
            PATH=$ours tokenize -q -l de < de > tokens
            PATH=$ours bpe-learn -q -n 3000 de > codes
            PATH=$ours vocab-count -q --max-size 3000 de > words
        fi
    done
    (cd "$work/$1.theirs" && PATH=$work/bin:$PATH && outputs got)
    (cd "$work/$1.ours" && PATH=$ours && outputs got)
    for name in $(cut -f 1 "$TOP/test/users/engineer/commands" | grep -v '^#'); do
        cmp -s "$work/$1."{theirs,ours}/got/"$name" && continue
        echo "DIFFERS $1: $name"; status=1
        diff "$work/$1."{theirs,ours}/got/"$name" | sed -n 1,4p
    done
}
both tests
if [ "${1-}" = --golden ]; then
    cd "$work/tests.theirs/got" && sha256sum * > "$TOP/test/users/engineer/sums"
fi
[ -z "${DE-}" ] || both real
[ $status = 0 ] && echo "all the same"
exit $status
