# embed --model: the table, words, tokens and sentences are what awk makes of the same numbers.
. "$TOP/test/cli/lib.sh"
printf 'lo@@ 9\nw 8\nne@@ 7\nst 6\nlow 5\nin 4\nto 3\n' > vocab
printf 'low in to\nlo@@ w ne@@ st\n\nne@@ w\n' > text
printf 'n e 9\nl o 8\ns t</w> 7\nlo w</w> 6\ni n</w> 4\nt o</w> 3\n' > codes
binarize -q -v vocab -l aa -o aa.shd < text
pretrain -q --train aa=aa.shd -v vocab --codes codes --layers 2 --dim 8 --heads 2 --ffn 16 \
    --positions 16 --tokens 20 \
    --steps 3 --lr 1e-2 --warmup 0 --out run

# the table: a header, then every token of the vocabulary in its order
embed -q --model run > table
is "$(head -n 1 table)" "7 8"
is "$(sed 1d table | cut -d ' ' -f 1 | tr '\n' ' ')" "$(cut -d ' ' -f 1 vocab | tr '\n' ' ')"

# close FILE FILE: the same words and numbers, to 1e-5
close() {
    paste -d ' ' "$1" "$2" | awk '{ n = NF / 2; if (n != int(n) || $1 != $(n + 1)) exit 1
        for (i = 2; i <= n; i++) { d = $i - $(n + i); if (d > 1e-5 || d < -1e-5) exit 1 } }' ||
            { head -n 3 "$1" "$2"; fail "$1 and $2 differ"; }
}
# means of rows of the table: MEAN name token...
means() { awk 'NR == FNR { if (FNR > 1) for (i = 2; i <= NF; i++) v[$1, i] = $i; next }
    { printf "%s", $1; for (i = 2; i <= 9; i++) { s = 0; for (j = 2; j <= NF; j++) s += v[$j, i];
        printf " %.9g", s / (NF - 1) } print "" }' table -; }

# words: means of their pieces by the folder's merges; what has an unknown piece is left out, and
# counted
# (of the last word the first piece alone)
printf 'low 3\nnest 2\nxyz 1\nto 1\nxlow 1\n' > words
embed --model run --words words > got 2> note
printf 'low\nnest\nxyz\nto\nxlow\n' | bpe-apply -q -c codes |
    paste -d ' ' <(printf 'low\nnest\nxyz\nto\nxlow\n') - |
    awk 'NR == FNR { known[$1] = 1; next } { for (i = 2; i <= NF; i++) if (!($i in known)) next;
        print }' vocab - > pieces
means < pieces > want
[ -s want ] || fail "no word is known"
close got want
grep -qE "$((5 - $(wc -l < pieces))) of 5 words" note ||
    fail "left-out words are not counted: $(cat note)"

# --layer N: sentences are means over all positions, tokens means over occurrences; 4 lines make
# 4 vectors, an empty one zeros
for layer in 0 1 -1; do
    embed -q --model run --layer $layer --lang aa --text text --of sentences > s
    is "$(cut -d ' ' -f 1 s | tr '\n' ' ')" "1 2 3 4 "
    is "$(sed -n 3p s)" "3 0 0 0 0 0 0 0 0"
    # what else is in the batch does not matter
    embed -q --model run --layer $layer --lang aa --text text --of sentences --tokens 1 > s1
    close s s1
    embed -q --model run --layer $layer --lang aa --text - --of tokens < text > t
    is "$(head -n 1 t)" "7 8"
    for line in 1 2 4; do sed -n ${line}p text |
        embed -q --model run --layer $layer --lang aa --text - --of tokens | sed 1d; done |
        awk '{ n[$1]++; for (i = 2; i <= NF; i++) v[$1, i] += $i } END { for (w in n) {
            printf "%s", w; for (i = 2; i <= 9; i++) printf " %.9g", v[w, i] / n[w]; print "" } }' |
        LC_ALL=C sort > want
    sed 1d t | LC_ALL=C sort > got
    close got want
done
# layer 0 of a sentence's first state is <s> at position 0: the same for every sentence
embed -q --model run --layer 0 --lang aa --text text --of sentences --pool first | grep -v '^3 ' |
    cut -d ' ' -f 2- | sort -u | wc -l > n
is "$(cat n)" 1

# --alone: each token in a sentence of its own, whatever else is in the batch
cut -d ' ' -f 1 vocab > lines
for layer in 0 1 -1; do
    embed -q --model run --layer $layer --lang aa --alone > alone
    embed -q --model run --layer $layer --lang aa --alone --tokens 1 > one
    embed -q --model run --layer $layer --lang aa --text lines --of tokens > want
    is "$(cut -d ' ' -f 1 alone | tr '\n' ' ')" "7 lo@@ w ne@@ st low in to "
    close <(sed 1d alone) <(sed 1d want); close <(sed 1d one) <(sed 1d want)
done

# words: BPE undone, means of their tokens' states, then over occurrences; an unknown token makes no
# word
printf 'lo@@ w ne@@ st\nlow ne@@ st zz lo@@ zz\nne@@ st\n' > t3
for layer in 0 2; do
    embed -q --model run --layer $layer --lang aa --text t3 --of words > w
    is "$(head -n 1 w; cut -d ' ' -f 1 w | sed 1d | tr '\n' ' ')" "2 8
nest low "
    for line in 1 3; do sed -n ${line}p t3 |
        embed -q --model run --layer $layer --lang aa --text - --of tokens > tok
        sed -n ${line}p t3 | embed -q --model run --layer $layer --lang aa --text - --of words |
            sed 1d | LC_ALL=C sort > got
        awk 'FNR > 1 { for (i = 2; i <= 9; i++) v[$1, i] = $i; seen[$1] = 1 } END {
            if ("lo@@" in seen) { printf "low";
                for (i = 2; i <= 9; i++) printf " %.9g", (v["lo@@", i] + v["w", i]) / 2; print "" }
            printf "nest"
            for (i = 2; i <= 9; i++) printf " %.9g", (v["ne@@", i] + v["st", i]) / 2
            print "" }' tok > want
        close got want
    done
    for line in 1 3; do sed -n ${line}p t3; done > t2
    embed -q --model run --layer $layer --lang aa --text t2 --of words | sed -n 's/^nest //p' > got
    for line in 1 3; do sed -n ${line}p t3 |
        embed -q --model run --layer $layer --lang aa --text - --of words |
            sed -n 's/^nest //p'; done |
        awk '{ for (i = 1; i <= 8; i++) s[i] += $i / 2 } END {
            for (i = 1; i <= 8; i++) printf "%s%.9g", (i > 1 ? " " : ""), s[i]; print "" }' > want
    close <(sed 's/^/x /' got) <(sed 's/^/x /' want)
done
# by frequency, and where two are as frequent, by which came first
printf 'in low to\nto w low\n' | embed -q --model run --lang aa --text - --of words |
    cut -d ' ' -f 1 | tr '\n' ' ' > got
is "$(cat got)" "4 low to in w "
printf 'nest 3\nin 2\nlow 1\n' > some
embed --model run --lang aa --text t3 --of words --words some > w 2> note
is "$(cut -d ' ' -f 1 w | tr '\n' ' ')" "2 nest low "
grep -q '1 of 3 words are not in the text' note

# every form, also of a stream whose length is not known: the same vectors come back
embed -q --model run --lang aa --layer 1 --text text --of sentences > s.vec
for f in s.bin s.npy s.safetensors; do
    embed -q --model run --lang aa --layer 1 --text text --of sentences -o $f
    is "$(retrieve --src $f --tgt s.vec)" "$(retrieve --src s.vec --tgt s.vec)" "$f"
    embed -q --model run -o t$f
    for t in t$f table; do dict-induce -q --src $t --tgt table --normalize none \
        --out-src back.${t%%.*} > /dev/null; done
    same back.ts back.table
done
embed -q --model run --lang aa --layer 1 --text text --of sentences --format npy | cmp - s.npy
is "$(tr '\n' ' ' < s.npy.words)" "1 2 3 4 "
fails 1 '0 vectors' embed -q --model run --layer 1 --lang aa --text /dev/null --of sentences \
    -o none.npy
[ ! -e none.npy ] || fail "a file without vectors"
fails 1 '^embed: none/o.npy: cannot create' embed -q --model run --layer 1 --lang aa \
    --text missing -o none/o.npy        # known before the text is read

# no line, no vector; threads do not change the bytes
is "$(embed -q --model run --layer 1 --lang aa --text - --of sentences < /dev/null)" ""
is "$(embed -q --model run --layer 1 --lang aa --text - --of tokens < /dev/null)" "0 8"
embed -q --model run --threads 1 --layer -1 --lang aa --text text > t1
embed -q --model run --threads 2 --layer -1 --lang aa --text text > t2
same t1 t2
embed -q --model run --layer 2 --lang aa --text text > last; same t1 last

fails 1 'language zz is not one of' embed -q --model run --text text --lang zz
fails 1 'has 2 layers; --layer 3' embed -q --model run --text text --lang aa --layer 3
lows() { for ((i = 0; i < $1; i++)); do printf 'low '; done; echo; }
fails 1 ':1: 15 tokens; the model reads at most 14' embed -q --model run --text <(lows 15) \
    --lang aa -o no
is "$(lows 14 | embed -q --model run --text - --lang aa | cut -d ' ' -f 1 | paste -sd ' ')" "1 low"
[ ! -e no ] || fail "half a file was left"
fails 2 'only with --of words' embed --model run --text text --words words --lang aa
fails 2 'pool first is for' embed --model run --text text --lang aa --of words --pool first
fails 2 'pool first is for' embed --model run --pool first
# what would be passed over: options of counts for a model's vectors, a text's for its table
fails 2 '^embed: --dim is for --from-cooc, not for --model$' embed --model run --dim 5
fails 2 '^embed: --words is for --model, not for --from-cooc$' embed --from-cooc x --words words
for w in '--precision bf16' --raw '--max-unknown 1'; do
    fails 2 "^embed: ${w% *} is for --model, not for --from-cooc\$" embed --from-cooc x $w
done
fails 2 '^embed: --max-unknown is of --text FILE$' embed --model run --max-unknown 1
fails 2 '^embed: --replace-invalid is of --text FILE$' embed --model run --alone --replace-invalid
fails 2 '^embed: --tokens is of the batches of --text or --alone$' embed --model run --tokens 3
fails 2 '^embed: --lang needs --text or --alone' embed --model run --lang aa
fails 2 '^embed: --of is of --text FILE$' embed --model run --of sentences
fails 2 'needs --text or --alone' embed --model run --layer 1
fails 2 'works on tokens' embed --model run --alone --lang aa --of words

# a table narrower than the layers (ALBERT's factorisation): table and words are as wide as the
# table, and hold the numbers that stand in the file; states are as wide as the layers
for E in 2 4; do
    pretrain -q --train aa=aa.shd -v vocab --codes codes --layers 1 --dim 8 --embed-dim $E \
        --heads 2 --ffn 16 --positions 16 \
        --tokens 20 --steps 2 --lr 1e-2 --warmup 0 --out narrow$E
    file=$(find narrow$E/ -name weights.safetensors)
    header=$(od -A n -t u8 -N 8 "$file" | tr -d ' ')
    from=$(head -c $((8 + header)) "$file" | tail -c +9 | grep -o '"embed.tokens":{[^}]*}' |
        sed 's/.*"data_offsets":\[\([0-9]*\),.*/\1/')
    tail -c +$((9 + header + from + 5 * E * 4)) "$file" |
        od -v -A n -t f4 -w$((4 * E)) -N $((7 * E * 4)) > rows
    { echo 7 $E; cut -d ' ' -f 1 vocab | paste -d ' ' - rows | tr -s ' '; } > want
    embed -q --model narrow$E > table$E
    is "$(awk '{ print NF }' table$E | sort -n | uniq -c | tr -s ' ' |
        paste -sd ,)" " 1 2, 7 $((E + 1))"
    close table$E want
    printf 'lo@@\nto\n' > some
    embed -q --model narrow$E --words some > got
    is "$(awk '{ print $1, NF }' got | paste -sd ,)" "to $((E + 1))"
    close got <(grep '^to ' want)
    embed -q --model narrow$E --layer 1 --lang aa --text text --of tokens > t
    is "$(head -n 1 t; awk 'FNR > 1 { print NF }' t | sort -u)" "$(printf '7 8\n9')"
done

# a model that has diverged, whose numbers are finite (here 3e38) and whose states are not, makes no
# vectors: no reader would take them
cp -rL run/last far
rm far/model.sum
w=far/weights.safetensors
LC_ALL=C sed -i 's/"xxh3"/"none"/' $w
n=$(od -An -tu8 -N8 $w)
at=$(head -c $((n + 8)) $w | grep -aoE '"encoder.embed.norm.weight":[^}]*' |
    sed 's/.*offsets":\[\([0-9]*\),.*/\1/')
printf '\xe6\xb1\x61\x7f%.0s' {1..8} |
    dd of=$w bs=1 seek=$((8 + n + at)) conv=notrunc status=none
embed -q --model far > far.vec
same far.vec table
states="embed -q --model far --lang aa --layer -1"
for of in tokens words sentences; do
    fails 1 'the vector of ".*" is not finite' $states --text text --of $of
    fails 1 'not finite' $states --precision int8 --text text --of $of
done
fails 1 'the vector of "lo@@" is not finite' $states --alone

# as many parameters as the file has numbers of four bytes behind its header
weights=run/last/weights.safetensors
is "$(ckpt info run | sed -n 's/.* \([0-9]* parameters\)$/\1/p')" \
    "$((($(stat -c %s $weights) - 8 - $(od -An -tu8 -N8 $weights)) / 4)) parameters"

# ... and of each tensor the mean of their squares
"$(dirname "$BIN")/test/tool/tensor" $weights embed.tokens | tr '\t' '\n' |
    awk '{ sum += $1 * $1 } END { printf "%.5g\n", sum / NR }' > want
ckpt info --tensors run | awk -F '\t' '$1 == "embed.tokens" { sub(/.* /, "", $3)
    printf "%.5g\n", $3 }' > got; same got want
fails 1 "its configuration differs from that of run" ckpt average -o none run narrow4
fails 1 "its configuration differs from that of narrow4" ckpt average -o none narrow4 run

# what multiplies nothing, or only a line's few rows, does not wait for OpenBLAS; many lines need it
head -n 1 text > line; for i in $(seq 30); do cat text; done > many
layer="--layer 1 --lang aa --text"
for p in "embed -q --device cpu --model run" "ckpt info run" \
    "embed -q --device cpu --model run $layer line"; do
    LD_DEBUG=files $p 2> loaded > numbers
    grep -q libcjson loaded || fail "$p: nothing is known of what it loads: $(head -n 3 loaded)"
    ! grep -q openblas loaded || fail "$p loads OpenBLAS"
done
LD_DEBUG=files embed -q --device cpu --model run ${layer} many 2>&1 > numbers | has openblas
