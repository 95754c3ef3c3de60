# A Python user's way: docs/howto/python.md from top to bottom, every line as it stands there, and
# docs/formats/read.py on the samples of its formats. What needs Python runs where ISOGLOT_PYTHON
# (python3) has the packages that a block imports, and says which blocks those were.
. "$TOP/test/cli/lib.sh"
covered "the tests of programs"
python=${ISOGLOT_PYTHON:-python3}
export PYTHONPATH=$TOP/docs/formats${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
export HF_HUB_OFFLINE=1 HF_HOME=$PWD/hf-home TRANSFORMERS_VERBOSITY=error PYTHONWARNINGS=ignore
"$python" -c 'import numpy' 2> /dev/null || numpy=no

# block N: N.sh or N.python, and N.out, what the page says it prints
awk '/^```(sh|python)$/ { kind = substr($0, 4); file = sprintf("%02d.", ++n) kind; next }
    /^```$/ { out = kind == "python" ? sprintf("%02d.out", n) : ""; file = ""; next }
    file { print > file; next }
    out && /^    / { print substr($0, 5) > out; next }
    out && NF { out = "" }' "$TOP/docs/howto/python.md"
ran=0 left=
for f in [0-9]*.sh [0-9]*.python; do echo "$f"; done | sort > blocks
[ "$(wc -l < blocks)" -ge 17 ] || fail "docs/howto/python.md: its blocks are not found"
while read -r f; do
    case $f in
    *.sh) bash -e "$f" > sh.out 2>&1 ||
        { cat "$f" sh.out; fail "docs/howto/python.md, block ${f%.*}"; };;
    *)  awk 'NF && !/^ / { n++ } END { exit n > 5 }' "$f" || fail "block $f has more than 5 lines"
        [ -s "${f%.*}.out" ] || fail "docs/howto/python.md does not say what block $f prints"
        if "$python" "$f" > got 2> err; then same got "${f%.*}.out"; ran=$((ran + 1))
        elif grep -qE '(ModuleNotFoundError: No module|ImportError:.*(PyTorch|torch))' err; then
            left+=" $(grep -m 1 -oE '^(import|from) [a-z]+' "$f" | cut -d ' ' -f 2)"
        else cat "$f" err; fail "docs/howto/python.md, block $f"; fi;;
    esac
done < blocks

# what Python packages open is there without them, too
is "$(cut -f 1 -d ' ' vocab | paste -sd ,)" "$(paste -sd , en.npz.words)"
is "$(cooc-query en.cooc old man)" 1.5
for f in en.vec en.bin en.npy en.safetensors ids.npy.offsets hf/config.json; do [ -s $f ]; done

if [ -z "${numpy-}" ]; then
    awk -F'\t' '($2 == "cooc" || $2 == "shard" || $2 == "log") && $3 == "good" { print $1 }' \
        "$TOP/docs/formats/samples/list.tsv" > samples
    f=$(awk -F'\t' '$2 == "shard" && $3 == "good" { print $1; exit }' \
        "$TOP/docs/formats/samples/list.tsv")
    head -c 100 "$TOP/docs/formats/samples/$f" > torn
    fails 1 '^read.py: torn: cannot be read, is it whole' "$python" "$TOP/docs/formats/read.py" torn
    while read -r f; do
        "$python" "$TOP/docs/formats/read.py" "$TOP/docs/formats/samples/$f" > got ||
            fail "read.py: $f"
        # a log's numbers are in the order of the lines' bytes
        case $f in log/*) LC_ALL=C sort -o got got;; esac
        same got "$TOP/docs/formats/samples/$f.out"
    done < samples
    [ "$(wc -l < samples)" -ge 20 ]
else
    echo "[  SKIPPED ] docs/formats/read.py: $python has no NumPy"
fi
[ -z "$left" ] ||
    echo "[  SKIPPED ] python.md: $ran blocks ran; $python lacks what others import:$left"
