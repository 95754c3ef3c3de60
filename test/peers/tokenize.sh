#!/bin/bash
# Compares tokenize and detokenize with the scripts they stand for, whole files to the byte; one
# line per comparison.
#   MOSES=DIR    a checkout of moses-smt/mosesdecoder (scripts/tokenizer, scripts/share,
#                scripts/ems/support); without it, or without Perl, sacremoses on real text
#                (VENV: a Python environment, made if it does not exist), which leaves a full stop
#                on the last word where Moses cuts it: a final " ." counts as "."
#   XLM=DIR      a checkout of facebookresearch/XLM (tools/lowercase_and_remove_accent.py); optional
#   WMT16=DIR    a checkout of rsennrich/wmt16-scripts (preprocess/); optional
#   DATA=DIR     real text: handbook/*.txt.zst and multi30k/ (default: ../shared/data beside the
#                checkout)
#   LINES=N      lines of generated nasty text (default 5000), SEED=N
# BIN is the folder with our programs. Perl 5.36 (Unicode 14) is what the output is compared under.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
BIN=${BIN:-$top/bin}; DATA=${DATA:-$top/../shared/data}; LINES=${LINES:-5000}; SEED=${SEED:-1}
export LC_ALL=C.UTF-8
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
same=0 different=0
# compare NAME THEIRS OURS: two shell commands
compare() {
    eval "$2" > "$work/theirs" 2> "$work/theirs.err"
    eval "$3" > "$work/ours" 2> "$work/ours.err"
    if cmp -s "$work/theirs" "$work/ours"; then echo "same       $1"; same=$((same + 1))
    else echo "DIFFERENT  $1: $(cmp "$work/theirs" "$work/ours" 2>&1)$(head -1 "$work/ours.err")"
    different=$((different + 1)); fi
}
finish() { echo "$same same, $different different"; [ $different = 0 ]; }
moses=${MOSES:-}
if [ ! -f "$moses/scripts/tokenizer/tokenizer.perl" ] || ! command -v perl >/dev/null; then
    echo "note: no Perl, or MOSES=DIR names no checkout of moses-smt/mosesdecoder: comparing with" \
        "sacremoses instead"
    VENV=${VENV:-${TMPDIR:-/tmp}/isoglot-peers-tokenize}
    [ -x "$VENV/bin/sacremoses" ] || { python3 -m venv "$VENV" &&
        "$VENV/bin/pip" install -q sacremoses==0.1.1; } ||
            { echo "cannot install sacremoses"; exit 1; }
    lists=$("$VENV/bin/python" -c \
        'import os, sacremoses; print(os.path.dirname(sacremoses.__file__))')
    lists+=/data/nonbreaking_prefixes
    for l in en de fr; do
        f=$DATA/multi30k/train.$l
        [ -f "$f" ] || { echo "note: no $f"; continue; }
        head -n 3000 "$f" > "$work/$l"
        compare "sacremoses tokenize -l $l" \
            "$VENV/bin/sacremoses -q -l $l tokenize < $work/$l | sed 's/ \.\$/./'" \
            "$BIN/tokenize -q -l $l --nonbreaking $lists/nonbreaking_prefix.$l < $work/$l |
                sed 's/ \.\$/./'"
        "$BIN/tokenize" -q -l $l < "$work/$l" > "$work/$l.tok"
        compare "sacremoses detokenize -l $l" \
            "$VENV/bin/sacremoses -q -l $l detokenize < $work/$l.tok" \
                "$BIN/detokenize -l $l < $work/$l.tok"
    done
    finish; exit
fi
tk=$moses/scripts/tokenizer; lists=$moses/scripts/share/nonbreaking_prefixes
perl -MUnicode::UCD -e 'exit(Unicode::UCD::UnicodeVersion() !~ /^14\./)' ||
    echo "note: this perl's Unicode is not 14; newer or older characters will differ"
list() { if [ -f "$lists/nonbreaking_prefix.$1" ]; then echo "$lists/nonbreaking_prefix.$1"
else echo "$lists/nonbreaking_prefix.en"; fi; }
tokens() {   # FILE LANG [Moses' options]: compares tokenizer.perl
    local f=$1 l=$2; shift 2
    compare "tokenize -l $l $* ${f##*/}" "perl $tk/tokenizer.perl -q -l $l $* < $f" \
        "$BIN/tokenize -q --segment moses -l $l --nonbreaking $(list "$l") $* < $f"
}
text() { local f=$1 l=$2; shift 2
compare "detokenize -l $l $* ${f##*/}" "perl $tk/detokenizer.perl -q -l $l $* < $f" \
    "$BIN/detokenize -l $l $* < $f"; }

nasty=$work/nasty; python3 "$top/test/peers/nasty.py" "$LINES" "$SEED" > "$nasty"
for f in "$lists"/nonbreaking_prefix.* ; do tokens "$nasty" "${f##*.}"; done
for l in so xx; do tokens "$nasty" $l; done
for l in en de fr fi tdt; do tokens "$nasty" $l -a; tokens "$nasty" $l -no-escape
tokens "$nasty" $l -x; done
printf '%s\n' '<[^>]+>' '[\w\-\_\.]+\@([\w\-\_]+\.)+[a-zA-Z]{2,}' '(?i)https?://[^ ]+' '\d+' \
    "\\b[a-c]+'" '&\w+;' 'ä' > "$work/patterns"
for l in en de fi; do tokens "$nasty" $l -protected "$work/patterns"; done
[ -f "$tk/basic-protected-patterns" ] &&
    tokens "$nasty" en -protected "$tk/basic-protected-patterns"

"$BIN/tokenize" -q -l en --nonbreaking "$(list en)" < "$nasty" > "$work/nasty.tok"
python3 "$top/test/peers/nasty.py" "$LINES" "$SEED" tokens > "$work/nasty.words"
for l in en de fr it cs fi ko; do for f in nasty nasty.tok nasty.words; do text "$work/$f" $l
text "$work/$f" $l -u; done; done

for l in en de cs cz fr es zh; do
    compare "normalize-punctuation $l" "perl $tk/normalize-punctuation.perl -l $l < $nasty" \
        "$BIN/tokenize --no-tokenize --normalize-punctuation -l $l < $nasty"
    compare "normalize-punctuation -penn $l" \
        "perl $tk/normalize-punctuation.perl -penn -l $l < $nasty" \
            "$BIN/tokenize --no-tokenize --normalize-punctuation --penn -l $l < $nasty"
done
compare "replace-unicode-punctuation" "perl $tk/replace-unicode-punctuation.perl < $nasty" \
    "$BIN/tokenize --no-tokenize --replace-unicode-punctuation < $nasty"
compare "remove-non-printing-char" "perl $tk/remove-non-printing-char.perl < $nasty" \
    "$BIN/tokenize --no-tokenize --remove-non-printing < $nasty"
for l in de en ro; do
    compare "XLM's tokenize.sh $l" \
        "perl $tk/replace-unicode-punctuation.perl < $nasty |
            perl $tk/normalize-punctuation.perl -l $l | perl $tk/remove-non-printing-char.perl |
            perl $tk/tokenizer.perl -q -no-escape -l $l" \
        "$BIN/tokenize --xlm -l $l --nonbreaking $(list $l) < $nasty"
done
sgm=$moses/scripts/ems/support/input-from-sgm.perl
if [ -f "$sgm" ]; then
    for s in 1 2 3 4 5 6 7 8; do
        python3 "$top/test/peers/nasty.py" 400 $s sgm > "$work/sgm"
        compare "input-from-sgm $s" "perl $sgm < $work/sgm" \
            "$BIN/tokenize --no-tokenize --input-from-sgm < $work/sgm"
    done
fi
if [ -f "${XLM:-}/tools/lowercase_and_remove_accent.py" ]; then
    for f in nasty nasty.tok; do
        compare "lowercase_and_remove_accent $f" \
            "python3 $XLM/tools/lowercase_and_remove_accent.py < $work/$f" \
            "$BIN/tokenize --no-tokenize --lowercase-and-remove-accent < $work/$f"
    done
else echo "note: XLM=DIR not given: lowercase_and_remove_accent not compared"; fi
if [ -f "${WMT16:-}/preprocess/normalise-romanian.py" ]; then
    compare "normalise-romanian" "python3 $WMT16/preprocess/normalise-romanian.py < $nasty" \
        "$BIN/tokenize --no-tokenize --normalise-romanian < $nasty"
    compare "remove-diacritics" "python3 $WMT16/preprocess/remove-diacritics.py < $nasty" \
        "$BIN/tokenize --no-tokenize --remove-diacritics < $nasty"
else echo "note: WMT16=DIR not given: Romanian not compared"; fi

for f in "$DATA"/handbook/*.txt.zst; do
    [ -f "$f" ] || continue
    l=$(basename "$f"); l=${l%%-*}
    zstd -dcq "$f" > "$work/$l"
    tokens "$work/$l" "$l"
    "$BIN/tokenize" -q --segment moses -l "$l" --nonbreaking "$(list \
        "$l")" < "$work/$l" > "$work/$l.tok"
    text "$work/$l.tok" "$l"
done
# all of XLM's steps on real text, as its 15 languages had them
lower=${XLM:-}/tools/lowercase_and_remove_accent.py
for f in "$DATA"/ntrex/newstest2019.*.zst "$DATA"/handbook/*.txt.zst; do
    [ -f "$f" ] && [ -f "$lower" ] || continue
    l=$(basename "$f" .zst); l=${l#newstest2019.}; l=${l%%-*}
    zstd -dcq "$f" > "$work/$l"
    compare "XLM's tokenize.sh, lower-cased, $l $(basename "$f")" \
        "perl $tk/replace-unicode-punctuation.perl < $work/$l |
            perl $tk/normalize-punctuation.perl -l $l | perl $tk/remove-non-printing-char.perl |
            perl $tk/tokenizer.perl -q -no-escape -l $l | python3 $lower" \
        "$BIN/tokenize -q --xlm --lowercase-and-remove-accent --segment moses -l $l \
            --nonbreaking $(list "$l") < $work/$l"
done
for l in en de fr; do
    f=$DATA/multi30k/train.$l
    [ -f "$f" ] || continue
    tokens "$f" $l
    "$BIN/tokenize" -q -l $l --nonbreaking "$(list $l)" < "$f" > "$work/train.$l.tok"
    text "$work/train.$l.tok" $l
done
finish
