# pretrain --objective align and dict: what they do to embeddings and batches, by their definitions;
# the same bytes resumed and on any number of threads; first weights; dictionaries that are refused.
. "$TOP/test/cli/lib.sh"
tensor=$(dirname "$BIN")/test/tool/tensor
# Sentences of 8 random words of 40, and their copies in another script: the pair that derive-lang
# makes.
awk 'function draw(n) { x = (1103515245 * x + 12345) % 2147483648; return int(x / 65536) % n }
    BEGIN { x = 3; for (i = 0; i < 2000; i++) { s = "";
        for (j = 0; j < 8; j++) s = s (j ? " " : "") "w" draw(40); print s } }' > en
derive-lang -q --trans en > xx
vocab-count en > words; derive-lang -q --trans --vocab words > vocab
derive-lang -q --dict-share 0.25 --vocab words > quarter
derive-lang -q --dict-share 1 --vocab words > whole
is "$(wc -l < vocab) $(wc -l < quarter) $(wc -l < whole)" "80 10 40"
for l in en xx; do binarize -q -v vocab -l $l -o $l.shd < $l; done
base=(pretrain -q -v vocab --train en=en.shd --train xx=xx.shd --layers 1 --dim 16 --heads 2 \
    --ffn 32 --positions 12 --tokens 400
    --lr 1e-2 --warmup 5 --schedule constant --dropout 0 --attention-dropout 0 --save-every 0 \
        --log-every 1 --weight-decay 0 --seed 4)
last() { grep '"train"' $1/log.jsonl | tail -n 1 | grep -o "\"$2\":[-0-9.e]*" | cut -d : -f 2; }
rows_of() { $tensor $1/last/weights.safetensors embed.tokens; }
# tokens: "row token" of the vocabulary, specials first
ids() { awk '{ print NR + 4, $1 }' vocab; }

# ALIGN alone: translations come together, all other rows keep their bytes.
"${base[@]}" --no-encoder-langs --objective align --dict en-xx=quarter --steps 0 --out start
"${base[@]}" --no-encoder-langs --objective align --dict en-xx=quarter --steps 200 --out alone
is "$(awk -v c=$(last alone align) 'BEGIN { print (c < -0.999) }')" 1 \
    "mean cosine after 200 steps: $(last alone align)"
tr '\t' '\n' < quarter | sort > in.dict
ids | awk 'NR == FNR { d[$1] = 1; next } !($2 in d) { print $1 }' in.dict - > outside
is "$(wc -l < outside)" 60
kept() { rows_of $1 | awk 'NR == FNR { o[$1] = 1; next } (FNR - 1) in o || FNR <= 5' outside -; }
cmp <(kept start) <(kept alone) || fail "rows outside the dictionary moved"
if cmp -s <(rows_of start) <(rows_of alone); then fail "no row moved"; fi
# Where language embeddings are added to words it has to be asked for.
fails 2 '--no-encoder-langs, or --align-langs' "${base[@]}" --encoder-langs --objective align \
    --dict en-xx=quarter --steps 0 --out langs
"${base[@]}" --encoder-langs --objective align --align-langs --dict en-xx=quarter --steps 9 \
    --out langs
is "$(awk -v c=$(last langs align) 'BEGIN { print (c < -0.2) }')" 1 "$(last langs align)"
# The logged loss is minus the mean cosine of the weights it was computed on, by arithmetic.
mean_cosine() {
    awk 'FILENAME == "-" { for (i = 1; i <= NF; i++) e[FNR - 1, i] = $i; D = NF; next }
        FILENAME == "vocab" { id[$1] = FNR + 4; next }
        { a = id[$1]; b = id[$2]; ab = aa = bb = 0
          for (i = 1; i <= D; i++) { ab += e[a, i] * e[b, i]; aa += e[a, i] ^ 2; bb += e[b, i] ^ 2;
              dd[i] = e[a, i] - e[b, i] }
          d = 0; for (i = 1; i <= D; i++) d += dd[i] ^ 2
          sum += ab / sqrt(aa * bb); dist += sqrt(d); n++ }
        END { printf "%.5f %.5f\n", sum / n, dist / n }' - vocab "$1"
}
first() { grep -m 1 '"train"' $1/log.jsonl | grep -o "\"$2\":[-0-9.e]*" | cut -d : -f 2; }
rows_of start | mean_cosine quarter > truth
is "$(awk '{ print $1 }' truth)" "$(first alone align |
    awk '{ printf "%.5f\n", -$1 }')" "minus the mean cosine"
"${base[@]}" --no-encoder-langs --objective align --align-form l2 --align-alpha 1 \
    --dict en-xx=quarter --steps 200 --out far
is "$(awk '{ print $2 }' truth)" "$(first far align |
    awk '{ printf "%.5f\n", $1 }')" "the mean distance"
is "$(awk -v a=$(first far align) -v b=$(last far align) 'BEGIN { print (b < a / 10) }')" 1 \
    "distance: $(first far align) to $(last far align)"

# With MLM: both losses, alpha 10 by default, all pairs in every step whatever the batch holds.
"${base[@]}" --no-encoder-langs --objective mlm,align --dict en-xx=quarter --steps 3 \
    --accumulate 2 --out both --write-batches both.b
is "$(ls both.b | grep -c align)" 6
is "$($tensor both.b/step-2.1.align.safetensors weight)" 5 "alpha over two micro-batches"
same <($tensor both.b/step-3.2.align.safetensors pair.source pair.target) \
    <(awk 'NR == FNR { id[$1] = FNR + 4; next } { print id[$1] "\t" id[$2] }' vocab quarter)
# The same bytes on more threads, and when a run is resumed.
run=("${base[@]}" --no-encoder-langs --objective mlm,align --dict en-xx=quarter --dropout 0.1)
"${run[@]}" --steps 6 --out one --threads 1; "${run[@]}" --steps 6 --out two --threads 2
same one/last/weights.safetensors two/last/weights.safetensors
"${run[@]}" --steps 3 --schedule constant --out cut; "${run[@]}" --steps 6 --out cut --resume
same one/last/weights.safetensors cut/last/weights.safetensors

# DICT: never from the dictionary is MLM, to the byte.
"${base[@]}" --objective mlm --steps 8 --out mlm
"${base[@]}" --objective dict --dict-prob 0 --dict en-xx=quarter --steps 8 --out none
same mlm/last/weights.safetensors none/last/weights.safetensors
"${base[@]}" --objective dict --dict en-xx=quarter --steps 8 --out dict
"${base[@]}" --objective dict --dict en-xx=quarter --steps 4 --out dict2
"${base[@]}" --objective dict --dict en-xx=quarter --steps 8 --out dict2 --resume --threads 2
same dict/last/weights.safetensors dict2/last/weights.safetensors

# What predicted rows read, of 10^5 and more: shares within three standard deviations.
share() {
    awk -v k="$1" -v n="$2" -v p="$3" 'BEGIN { d = k - n * p; s = 3 * sqrt(n * p * (1 - p)) + 1e-9
        exit !(n > 0 && d <= s && d >= -s) }' || fail "$4: $1 of $2, not a share of $3"
}
# predicted DIR: read, its language, the token that stood there, its language, target, masked; of
# each predicted row
predicted() {
    local f
    for f in $1/*; do
        $tensor $f token lang original original_lang | awk '{ print NR - 1, $0 }' > of
        $tensor $f row target masked | awk 'NR == FNR { row[$1] = $2 " " $3 " " $4 " " $5; next }
            { print row[$1], $2, $3; delete row[$1] }
            END { for (r in row) { split(row[r], x);
                if (x[1] != x[3] || x[2] != x[4]) print "changed" } }' of -
    done
}
big=("${base[@]}" --lr 0 --tokens 60000 --steps 4 --mask-prob 0.5)
"${big[@]}" --objective dict --dict en-xx=quarter --out shares --write-batches shares.b
predicted shares.b > rows
grep -q changed rows && fail "a row that is not predicted was changed"
n=$(wc -l < rows); [ $n -gt 90000 ] || fail "only $n rows"
awk 'NR == FNR { id[$1] = FNR + 4; next } { print id[$1], id[$2] }' vocab quarter > pairs
# w: the word has a translation. How: mask, translation, itself, random (which may be either by
# chance: 1 of 80 words)
awk 'NR == FNR { other[$1] = $2; other[$2] = $1; next }
    { w = $3 in other; how = $1 == $3 ? "itself" : "random"
      if (w && $1 == other[$3] && $2 != $4) how = "switched"
      if ($1 == 4) how = "mask"
      if ($5 != $3) print "label"; if ($6 != ($1 == 4)) print "flag"
      if (how != "switched" && $2 != $4) print "lang"
      print how, w + 0 }' \
    pairs rows > how
for what in label flag lang; do grep -q "^$what" how && fail "DICT: $what"; done
known=$(grep -c ' 1$' how); unknown=$(grep -c ' 0$' how)
share "$(grep -c '^mask' how)" $n 0.4 "<mask>"
share "$(grep -c '^switched' how)" $known 0.5 "translations"
share "$(grep -c '^itself 1' how)" $known "$(awk 'BEGIN { print 0.05 + 0.05 / 80 }')" \
    "words with a translation that read themselves"
share "$(grep -c '^itself 0' how)" $unknown "$(awk 'BEGIN { print 0.55 + 0.05 / 80 }')" \
    "words without one that read themselves"
share "$(grep -c '^random 1' how)" $known "$(awk 'BEGIN { print 0.05 * 79 / 80 }')" "random words"
"${big[@]}" --objective dict --dict en-xx=quarter --dict-label --out labels --write-batches labels.b
predicted labels.b > rows
awk 'NR == FNR { other[$1] = $2; other[$2] = $1; next }
    { if ($2 != $4) print "lang"
      if ($5 != $3) print ($1 == 4 && other[$3] == $5 ? "translated" : "label")
      else print ($3 in other ? "known" : "unknown") }' \
    pairs rows > how
grep -qE '^(lang|label)' how && fail "DICT with labels: $(grep -E -m 1 '^(lang|label)' how)"
share "$(grep -c '^translated' how)" "$(grep -cE '^(translated|known)' how)" 0.5 \
    "translations to predict"

# All tokens from a whole dictionary: nothing is masked, and what is read determines what is
# predicted.
"${base[@]}" --objective dict --dict en-xx=whole --dict-prob 1 --steps 400 --out learnt \
    --write-batches learnt.b
is "$(last learnt masked) $(last learnt switched)" "0 1"
is "$(awk -v l=$(last learnt dict) 'BEGIN { print (l < 0.1) }')" 1 "loss after 400 steps: $(last \
    learnt dict)"
"${base[@]}" --objective mlm --steps 400 --out chance
is "$(awk -v l=$(last chance mlm) 'BEGIN { print (l > 2) }')" 1 \
    "random words cannot be predicted without it"

# First weights of a standard deviation of one's own; a layer before the output layer.
"${base[@]}" --objective mlm --init-std 0.02 --output-transform --steps 0 --out roberta
for t in embed.tokens encoder.0.attn.qkv.weight encoder.0.ffn.in.weight output.dense.weight \
    encoder.embed.positions; do
    $tensor roberta/last/weights.safetensors $t |
        awk -v t=$t \
            '{ for (i = 1; i <= NF; i++)
                if (NR != 3 || t != "embed.tokens") { n++; s += $i; q += $i * $i } }
        END { d = sqrt(q / n) / 0.02 - 1; m = s / n / 0.02 * sqrt(n);
            exit !(d ^ 2 < 16 / (2 * n) && m ^ 2 < 16) }' || fail "first weights of $t"
done
is "$($tensor roberta/last/weights.safetensors embed.tokens | sed -n 3p | tr '\t' '\n' |
    sort -u)" 0 "<pad>"
is "$($tensor roberta/last/weights.safetensors output.norm.weight output.norm.bias |
    sort -u)" "$(printf '1\t0')"

# --- what is refused ------------------------------------------------------------------------------
refused() { fails 1 "$1" "${base[@]}" --no-encoder-langs --objective mlm,align --steps 1 --out no \
    --dict en-xx="$2"; [ ! -e no ] || fail "a folder was left"; }
printf 'w1\tˣw1\nw2\tnone\n' > d
refused 'd:2: token "none" is not in the vocabulary; --dict-skip' d
"${base[@]}" --no-encoder-langs --objective align --steps 1 --out skipped --dict en-xx=d \
    --dict-skip --write-batches skip.b
is "$($tensor skip.b/step-1.1.align.safetensors pair.source | wc -l)" 1
printf 'a\tb\n' > d
fails 1 "no line's two tokens are in the vocabulary" "${base[@]}" \
    --no-encoder-langs --objective align --steps 1 --out no --dict en-xx=d --dict-skip
printf '<mask>\tw1\n' > d; refused 'd:1: "<mask>" is a special token' d
printf 'w1\tw1\n' > d; refused 'd:1: both sides are "w1"' d
printf 'w1\tˣw1\nˣw1\tw2\n' > d; refused 'd:2: "ˣw1" appears on the other side' d
printf 'w1\tˣw1\nw2\tˣw1\nw1\tˣw1\n' > d; refused 'd: the pair "w1", "ˣw1" appears twice' d
printf 'w1 w2\n' > d; refused 'd:1: expected a token, a tab and its translation' d
: > d; refused 'd: an empty dictionary' d
refused 'none/such' none/such
fails 2 'objective align needs a dictionary' "${base[@]}" --no-encoder-langs --objective align \
    --steps 1 --out no
fails 2 'objective dict needs a dictionary' "${base[@]}" --objective dict --steps 1 --out no
fails 2 'language embeddings undo what it aligns' "${base[@]}" --objective mlm,align \
    --dict en-xx=quarter --steps 1 --out no
fails 1 'objective dict needs two languages' pretrain -q -v vocab --train en=en.shd --layers 1 \
    --dim 8 --heads 2 --objective dict \
    --dict en-xx=quarter --steps 1 --out no
fails 1 'objective align reads one dictionary; --dict was given 2 times' "${base[@]}" \
    --no-encoder-langs --objective align \
    --dict en-xx=quarter --dict en-xx=whole --steps 1 --out no
fails 1 'expected SRC-TGT=FILE' "${base[@]}" --objective dict --dict quarter --steps 1 --out no
fails 1 'language yy' "${base[@]}" --objective dict --dict en-yy=quarter --steps 1 --out no
