#!/bin/bash
# Makes test/cli/data/tokenize again: generated text and what the scripts of Moses, XLM and
# wmt16-scripts print for it.
#   MOSES=DIR XLM=DIR WMT16=DIR tokenize_golden.sh
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd); to=$top/test/cli/data/tokenize
: "${MOSES:?a checkout of moses-smt/mosesdecoder}" "${XLM:?a checkout of facebookresearch/XLM}" \
    "${WMT16:?a checkout of rsennrich/wmt16-scripts}"
export LC_ALL=C.UTF-8
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tokenizer" "$work/share/nonbreaking_prefixes" "$to"
cp "$MOSES"/scripts/tokenizer/*.perl "$work/tokenizer"; tk=$work/tokenizer
printf '%s\n' '# a list for the tests' Dr Mr a 1 etc 'z.B' "b'" 0 'No #NUMERIC_ONLY#' \
    'Art  #NUMERIC_ONLY#' 'x #NUMERIC_ONLY# y' > "$to/prefixes"
for l in en de fr fi tdt ca so; do cp "$to/prefixes" \
    "$work/share/nonbreaking_prefixes/nonbreaking_prefix.$l"; done
printf '%s\n' '<[^>]+>' '[\w\-\_\.]+\@([\w\-\_]+\.)+[a-zA-Z]{2,}' '\d+' "\\b[a-c]+'" \
    '[^\W_]+:' > "$to/patterns"
python3 "$top/test/peers/nasty.py" 150 23 > "$to/text"
python3 "$top/test/peers/nasty.py" 150 5 tokens > "$to/tokens"
python3 "$top/test/peers/nasty.py" 300 2 sgm > "$to/sgm"
q() { "$@" 2>/dev/null; }
for l in en de fr fi tdt ca so; do q perl "$tk/tokenizer.perl" -q -l $l < "$to/text" > "$to/tok.$l"
done
q perl "$tk/tokenizer.perl" -q -l en -a -no-escape -x < "$to/text" > "$to/tok.en-a"
q perl "$tk/tokenizer.perl" -q -l de -protected "$to/patterns" < "$to/text" > "$to/tok.de-protected"
for l in en fr cs fi; do q perl "$tk/detokenizer.perl" -q -l $l < "$to/tokens" > "$to/detok.$l"
done
q perl "$tk/detokenizer.perl" -q -u -l it < "$to/tokens" > "$to/detok.it-u"
for l in en de ro; do q perl "$tk/normalize-punctuation.perl" -l $l < "$to/text" > "$to/punct.$l"
done
q perl "$tk/replace-unicode-punctuation.perl" < "$to/text" > "$to/unipunct"
q perl "$tk/remove-non-printing-char.perl" < "$to/text" > "$to/nonprint"
q perl "$MOSES/scripts/ems/support/input-from-sgm.perl" < "$to/sgm" > "$to/sgm.text"
python3 "$XLM/tools/lowercase_and_remove_accent.py" < "$to/text" > "$to/lower"
python3 "$WMT16/preprocess/normalise-romanian.py" < "$to/text" |
    python3 "$WMT16/preprocess/remove-diacritics.py" > "$to/romanian"
