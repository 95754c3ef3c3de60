# XLM as ALIGN-MLM has it (appendix G.3): examples of whole sentences, pairs joined up to a length,
# a share of the pairs, objectives drawn by the size of their data; alignment with language
# embeddings and its random baseline.
. "$TOP/test/cli/lib.sh"
tensor=$(dirname "$BIN")/test/tool/tensor
# 900 sentences of 1 to 12 words of 60, and their copies; the 7th and its copy are empty.
awk 'function draw(n) { x = (1103515245 * x + 12345) % 2147483648; return int(x / 65536) % n }
    BEGIN { x = 5
        for (i = 1; i <= 900; i++) { s = ""; n = i == 7 ? 0 : 1 + draw(12)
            for (j = 0; j < n; j++) s = s (j ? " " : "") "w" draw(60)
            print s } }' > en
derive-lang -q --trans en > xx
vocab-count en > words; derive-lang -q --trans --vocab words > vocab
for l in en xx; do binarize -q -v vocab -l $l -o $l.shd < $l; done
base=(pretrain -q -v vocab --layers 1 --dim 8 --heads 2 --ffn 8 --positions 20 --lr 1e-3 --warmup 1
    --dropout 0.1 --save-every 0 --log-every 1 --seed 3)
text=(--train en=en.shd --train xx=xx.shd) pairs=(--parallel en-xx=en,xx)
# ids FILE: each line as numbers of the vocabulary, specials first
ids() {
    awk 'NR == FNR { id[$1] = FNR + 4; next }
        { for (i = 1; i <= NF; i++) printf "%s%d", (i > 1 ? " " : ""), id[$i]
          print "" }' vocab "$1"
}
ids en > en.ids; ids xx > xx.ids

echo "# joined pairs: sides of at most N tokens, whole sentences, positions, languages by side"
"${base[@]}" "${pairs[@]}" --objective tlm --segment 16 --tokens 8000 --steps 4 --out joined \
    --write-batches joined.b
for f in joined.b/*.tlm.safetensors; do
    $tensor $f original pos lang > rows
    $tensor $f at > at
    # one line per example and side: example, language, positions, sentences
    awk 'BEGIN { side = "-" }
        NR == FNR { at[n++] = $1; next }
        { while (FNR - 1 >= at[e + 1]) { e++; side = "-" }
          if ($3 != side) { side = $3; printf "%s%d\t%d\t", (line++ ? "\n" : ""), e, $3; k = 0 }
          if ($2 != k++) { print "POSITION"; exit 1 }
          if (k > 16) { print "LONG"; exit 1 }
          printf "%s ", $1 }
        END { print "" }' at rows
done > sides || { tail -n 1 sides; fail "positions"; }
is "$(awk -F'\t' '$2 != (NR - 1) % 2' sides | wc -l)" 0 "a side of each language, the first first"
# <s> is 0, </s> 1: each sentence in its own
sentences() { awk -F'\t' -v l=$1 '$2 == l { gsub(/ 1 0 /, "\n", $3); sub(/^0 /, "", $3)
    sub(/ 1 $/, "", $3); print $3 }' sides; }
sentences 0 > got.en; sentences 1 > got.xx
paste got.en got.xx | sort -u > got.pairs
paste en.ids xx.ids | awk -F'\t' 'split($1, w, " ") && split($1, w, " ") <= 14' |
    sort -u > true.pairs
same got.pairs true.pairs
# no example ends where the next sentence would have fitted: examples are in the text's order
awk -F'\t' '$2 == 0 { print split($3, x, " ") }' sides | sort -n | tail -n 1 > longest
is "$(cat longest)" 16

# a pair one of whose sides is too long is left out, whichever side that is
awk 'BEGIN { for (i = 0; i < 15; i++) s = s " w" i
    print "w1 w2"; print "w3"; print substr(s, 2) }' > a
awk 'BEGIN { for (i = 0; i < 15; i++) s = s " ˣw" i
    print "ˣw1"; print substr(s, 2); print "ˣw4" }' > b
"${base[@]}" --parallel en-xx=a,b --objective tlm --segment 16 --tokens 30 --steps 1 --out few \
    --write-batches few.b
is "$($tensor few.b/step-1.1.tlm.safetensors original | awk '$1 > 1' | sort -u | wc -l)" 3
sed -n 2p a > a2; sed -n 2p b > b2
for sides in a2,b2 b2,a2; do
    fails 1 'no pair of sentences has 1 to 14 tokens on both sides' "${base[@]}" \
        --parallel en-xx=$sides --objective tlm --segment 16 --tokens 30 --steps 1 --out none
done

echo "# a share of the pairs: drawn once, the same pairs in every epoch, another seed draws others"
seen() { for f in $1/*.tlm.safetensors; do
    $tensor $f original lang | awk '$2 == 0 && $1 > 1 { printf "%s ", $1 }
        $1 == 1 { print "" }'; done | sed '/^$/d' | sort -u; }
for s in 3 4; do
    "${base[@]}" "${pairs[@]}" --objective tlm --parallel-fraction 0.01 --tokens 2000 --steps 5 \
        --seed $s --out share$s --write-batches share$s.b
    seen share$s.b > seen$s
    n=$(wc -l < seen$s); [ $n -ge 5 ] && [ $n -le 9 ] ||
        fail "$n of 900 pairs, not 9 or the few alike"
done
if cmp -s seen3 seen4; then fail "two seeds, the same pairs"; fi

echo "# text as whole sentences"
"${base[@]}" --train en=en.shd --objective mlm --stream 18 --stream-sentences \
    --tokens 9000 --steps 1 --out whole --write-batches whole.b
$tensor whole.b/step-1.1.mlm.safetensors at > at
$tensor whole.b/step-1.1.mlm.safetensors original pos | awk 'NR == FNR { at[n++] = $1; next }
    { if (FNR - 1 >= at[e + 1]) { e++; k = 0 }
      if ($2 != k++ || k > 18 || (k == 1 && $1 != 0)) { print "bad"; exit }
      if ($1 == 1) { print substr(s, 2); s = "" } else if ($1) s = s " " $1 }' at - | sort -u > got
sed '/^$/d' en.ids | sort -u > want
same got want

echo "# by data: tlm takes q / (1 + q) of the steps (0.2 of 400: within three standard deviations)"
"${base[@]}" "${text[@]}" "${pairs[@]}" --objective mlm,tlm --parallel-fraction 0.25 \
    --mix by-data --tokens 60 --steps 400 --out mixed
n=$(grep -c '"tlm":' mixed/log.jsonl)
[ $n -ge 56 ] && [ $n -le 104 ] || fail "$n of 400 steps are of pairs"
"${base[@]}" "${text[@]}" "${pairs[@]}" --objective mlm,tlm --mix by-data --tokens 60 --steps 400 \
    --out even
n=$(grep -c '"tlm":' even/log.jsonl)
[ $n -ge 170 ] && [ $n -le 230 ] || fail "$n of 400 steps are of pairs, of which all are used"

echo "# the same bytes resumed and on two threads"
all=("${base[@]}" "${text[@]}" "${pairs[@]}" --objective mlm,tlm --parallel-fraction 0.5
    --segment 16
    --stream 18 --stream-sentences --mix by-data --tokens 100 --schedule constant)
"${all[@]}" --steps 12 --out one --threads 1
"${all[@]}" --steps 5 --out cut --threads 2; "${all[@]}" --steps 12 --out cut --resume --threads 2
same one/last/weights.safetensors cut/last/weights.safetensors

echo "# embed --add-language: the row of the table and the language's"
vec() { embed -q --model one "$@" | tail -n +2 | sort; }
vec --add-language xx | cut -d' ' -f2 > got
{ $tensor one/last/weights.safetensors encoder.embed.languages | sed -n 2p
  $tensor one/last/weights.safetensors embed.tokens | tail -n +6; } |
    awk 'NR == 1 { x = $1; next } { print $1 + x }' > sum
paste -d' ' vocab sum | awk '{ print $1, $NF }' | sort | cut -d' ' -f2 > want
paste got want | awk '{ d = $1 - $2; if (d * d > 1e-10) exit 1 }' || fail "not the sum of both rows"
embed -q --model one --add-language xx --words words > got
embed -q --model one --words words > plain
is "$(wc -l < got)" 60
paste -d' ' got plain | awk '{ printf "%.4f\n", $2 - $11 }' | sort -u > shift
is "$(wc -l < shift)" 1 "one vector is added to all"

echo "# dict-induce --eval: what chance would reach, beside what was reached"
sed 's/ .*//' words > types; derive-lang -q --dict-share 1 --vocab words > gold
derive-lang -q --trans types > copies
{ echo "60 2"; awk '{ a = 6.283 * NR / 60; print $1, cos(a), sin(a) }' types; } > a.vec
{ echo "60 2"; awk '{ a = 6.283 * NR / 60 + 0.01; print $1, cos(a), sin(a) }' copies; } > b.vec
dict-induce -q --src a.vec --tgt b.vec --map none --method nn --eval gold > score
is "$(awk -F'\t' '$1 == "hit@1" || $1 == "random-hit@1" { printf "%s ", $2 }' score)" \
    "1.0000 0.016667 "

echo "# memory: the peak is within 15% of the prediction (sanitizers have memory of their own)"
derive-lang -q --dict-share 0.5 --vocab words > some
wide=(pretrain -v vocab --layers 4 --dim 192 --heads 4 --ffn 768 --positions 64 --tokens 2500
    --steps 3 --profile)
planned() { # OPTION...
    "${wide[@]}" "$@" --out wide 2> said || { cat said; fail "$*"; }
    local line; line=$(grep '^memory: [0-9.]* MiB at most, [0-9.]* predicted$' said) || fail "$*"
    rm -r wide
    case ${BUILD_WITH-} in *SAN=?*) return ;; esac
    echo "$line" | awk '{ r = $2 / $6; exit !(r > 0.85 && r < 1.15) }' || fail "$*: $line"
}
planned "${text[@]}" --no-encoder-langs --objective mlm,align --dict en-xx=some
planned "${text[@]}" --objective dict --dict en-xx=some
planned "${pairs[@]}" --objective tlm --segment 48
planned "${text[@]}" "${pairs[@]}" --objective mlm,tlm --mix by-data --stream 64 \
    --stream-sentences --segment 32

echo "# what is refused"
no=("${base[@]}" --steps 1 --out no)
fails 2 'segment 40 is longer than --positions 20' "${no[@]}" "${pairs[@]}" --objective tlm \
    --segment 40
fails 2 '--stream-sentences needs --stream' "${no[@]}" "${text[@]}" --stream-sentences
fails 2 'segment applies to sentence pairs' "${no[@]}" "${text[@]}" --segment 16
fails 2 'parallel-fraction applies to sentence pairs' \
    "${no[@]}" "${text[@]}" --parallel-fraction 0.5
fails 2 'parallel-fraction' "${no[@]}" "${pairs[@]}" --objective tlm --parallel-fraction 0
fails 1 'as --tlm-form xlm has them' "${no[@]}" "${pairs[@]}" --objective tlm --segment 16 \
    --tlm-form ppa
fails 1 'no pair of sentences has 1 to 0 tokens' "${no[@]}" "${pairs[@]}" --objective tlm \
    --segment 2
fails 2 'by-data: objective align has no data of its own' "${no[@]}" "${text[@]}" \
    --no-encoder-langs --objective mlm,align --dict en-xx=gold --mix by-data
"${base[@]}" "${text[@]}" --no-encoder-langs --steps 0 --out plainmodel
fails 1 'no language embeddings' embed -q --model plainmodel --add-language en
fails 2 'add-language applies to the embedding table' \
    embed -q --model one --add-language en --alone -l en
[ ! -e no ] || fail "a run that could not start left a folder"
