# Options that leave out a part of what is read or written: the result is what the program makes of
# that part alone, or what arithmetic says.
. "$TOP/test/cli/lib.sh"
v=$TOP/test/golden/vectors

echo "# --max-vocab N of each program is a file of its first N vectors"
for f in a b; do
    { echo "40 $(head -n 1 $v/$f.vec | cut -d ' ' -f 2)"; sed -n 2,41p $v/$f.vec; } > $f.vec
    sed '1d; s/ .*//' $v/$f.vec > $f.words; sed '1d; s/ .*//' $f.vec > $f.few
done
# words beyond the first 40 are in the dictionary and the questions, too
paste a.words b.words | grep -v "^$(printf '\t')" | sed -n 1,50p > dict
paste -d ' ' a.words <(sed 1,7d a.words) <(sed 1,3d a.words) <(sed 1,9d a.words) |
    sed -n 1,45p > questions
# cut_off NAME command...: with @ for the folder of the files, whole and then short
cut_off() {
    local name=$1; shift
    "${@//@/.}" > want.$name
    "${@//@/$v}" --max-vocab 40 > got.$name
    "${@//@/$v}" > all.$name
    same got.$name want.$name
    ! cmp -s all.$name want.$name || fail "$name: the words after the 40th change nothing"
}
cut_off rsim rsim -q --src @/a.vec --tgt @/b.vec --dict dict
cut_off analogy analogy -q --vec @/a.vec questions
cut_off induce dict-induce -q --src @/a.vec --tgt @/b.vec --map procrustes --seed-dict dict -k 2
cut_off tsne plot tsne -q --perplexity 3 --iterations 20 --tsv - aa=@/a.vec bb=@/b.vec
awk '{ for (i = 0; i < $2; i++) print $1, "a" int(i % 7), "b" int(i % 5) }' $v/a.counts > text
cooc-count -q -w 2 aa=text > a.cooc
vocab-count -q text | cut -d ' ' -f 1 > words
embed -q --from-cooc a.cooc --min-count 1 --dim 4 --max-vocab 10 > got
same <(sed '1d; s/ .*//' got) <(sed 10q words)

echo "# dict-induce: the target's vectors are normalised and not turned"
induce=(dict-induce -q --src $v/a.vec --tgt $v/b.vec --map procrustes --seed-dict $v/seed.tsv)
"${induce[@]}" --normalize unit --out-tgt got > pairs
sed 1d $v/b.vec | awk '{ s = 0; for (i = 2; i <= NF; i++) s += $i * $i
    printf "%s", $1; for (i = 2; i <= NF; i++) printf " %.7f", $i / sqrt(s); print "" }' > want
sed 1d got | paste -d ' ' - want | awk '{ for (i = 2; i <= 9; i++) {
        d = $i - $(i + 9); if ($1 != $10 || d > 2e-7 || d < -2e-7) exit 1; n++ } }
    END { exit n != 70 * 8 }' || fail "--out-tgt"

echo "# seeds that are spelt the same: by length where they have letters, and by frequency"
# in a thousand words each, long1 is 4 times as frequent on one side, long2 6 times; 12 has no
# letter
printf '4 2\nlong1 1 0\nlong2 0 1\nab 1 1\n12 1 -1\n' > s.vec
printf '%s\n' 'long1 400' 'long2 60' 'ab 50' '12 490' > s.counts
printf '%s\n' 'long1 100' 'long2 360' 'ab 50' '12 490' > t.counts
seeds() { dict-induce --src s.vec --tgt s.vec --map procrustes --rounds 0 --identical "$@" 2>&1 \
    > pairs | sed -n 's/.*: \([0-9]*\) words are spelt the same/\1/p'; }
counts=(--src-counts s.counts --tgt-counts t.counts)
is "$(seeds) $(seeds --min-length 2) $(seeds --min-length 6)" '3 4 1'
is "$(seeds "${counts[@]}") $(seeds "${counts[@]}" --ratio 3) $(seeds "${counts[@]}" --ratio 7)" \
    '2 1 3'
is "$(seeds "${counts[@]}" --min-length 2)" 3

echo "# bpe-apply: however small the memory for known words is"
seq 1 3000 | sed 's/.*/word& word&s/' > numbers
bpe-learn -q -s 100 numbers > codes
bpe-apply -q -c codes < numbers > want
bpe-apply -q -c codes --cache 1 < numbers > got; same got want

echo "# tokenize: lines of the form <...> as they are; what is for compatibility changes nothing"
printf '%s\n' '<seg id="1,2">' ' <a,b>' '<a,b> c' 'a,b' > text
tokenize -q -l en --no-escape --skip-xml < text > got
printf '%s\n' '<seg id="1,2">' '< a , b >' '< a , b > c' 'a , b' > want; same got want
tokenize -q -l en --no-escape --lines 3 --time text > got
sed '1s/.*/< seg id = " 1,2 " >/' want | same got -

echo "# translate: as long as --max-ratio and --max-extra allow, where </s> never comes"
printf 'a b c d e\nb c\nd e a\n' > s; printf '%s 5\n' a b c d e > v
train=(finetune -q --task mt -v v --parallel aa-bb=s,s --layers 1 --dim 16 --heads 2 --ffn 16
    --positions 64 --tokens 40 --lr 1e-9 --log-every 1 --threads 1)
"${train[@]}" --seed 4 --steps 1 --out model
said() { translate -q --model model --src aa --tgt bb "$@" < s; }
tokens() { said "$@" | awk '{ printf "%d ", NF }'; }
# of 5, 2 and 3 tokens: by default 1.3 times and 5 more
is "$(tokens --beam 1)" '11 7 8 '
is "$(tokens --beam 1 --max-ratio 2 --max-extra 3)" '13 7 9 '
is "$(tokens --beam 1 --max-ratio 0 --max-extra 4)" '4 4 4 '
is "$(tokens --max-ratio 100)" '63 63 63 '          # of 64 positions one is <s>'s
# how many end only for that is said; an empty line's translation is empty by itself, and a model
# that has learnt to copy ends where its sentence ends
{ cat s; echo; } > spaced
many="translations (75%) are as long as --max-ratio and --max-extra, or the model's positions, \
allow"
translate --model model --src aa --tgt bb < spaced 2> note > out
is "$(cat note)" "translate: 3 of 4 $many"; is "$(awk '{ printf "%d ", NF }' out)" '11 7 8 0 '
translate --model model --src aa --tgt bb --max-ratio 0 --max-extra 0 < spaced 2> note > out
is "$(cat note)" "translate: 3 of 4 $many"
"${train[@]/1e-9/2e-2}" --warmup 1 --seed 4 --steps 150 --out copies
translate --model copies --src aa --tgt bb < spaced 2> note > out; same out spaced
is "$(cat note)" ''
# 64 lines at once: numbers go on; <s> and </s> take two of the 64 positions
letters() { awk -v n="$1" -v s="$2" 'BEGIN { while (n-- > 0) printf "a%s", n ? s : "\n" }'; }
letters 70 '\n' > many
is "$(translate -q --model model --src aa --tgt bb --max-ratio 0 --max-extra 1 --sentences 1 \
    --n-best 1 < many | sed 's/ |||.*//' | tr '\n' ' ')" "$(seq -s ' ' 0 69) "
long() { letters "$1" ' ' |
    translate -q --model model --src aa --tgt bb --max-ratio 0 --max-extra 1; }
is "$(long 62 | wc -w)" 1
fails 1 'standard input:1: 63 tokens; the model reads at most 62' long 63
# enough that are complete end the search, though a longer one is better
said --beam 4 --scores --early-stopping > early
said --beam 4 --scores > best
paste early best | awk -F '\t' '{ better += $4 > $2 } $4 < $2 { exit 1 }
    END { exit better < 3 }' || fail "--early-stopping"
# words that bb's training text has, or any
tr cde a < s > t
"${train[@]/aa-bb=*/aa-bb=s,t}" --seed 4 --steps 1 --out narrow
words() { translate -q --model narrow --src aa --tgt bb --beam 1 "$@" < s | tr -d ' ab\n'; }
is "$(words)" ''
[[ "$(words --no-mask-vocab)" = *[cde]* ]] || fail "--no-mask-vocab"
# so too what generate() of transformers takes; in BART's order they are <s> <pad> </s> <unk>,
# a b c d e and <mask>
"${train[@]/aa-bb=*/bb-aa=t,s}" --seed 4 --steps 1 --out wide
biases() {      # RUN TGT...
    rm -rf bart; ckpt export -q --to bart --src aa --tgt "${@:2}" -o bart $1
    "$(dirname "$BIN")/test/tool/tensor" bart/model.safetensors final_logits_bias |
        awk '{ for (i = 1; i <= NF; i++) printf($i == -10000 ? "x" : $i > -1 ? "." : "?") }'
}
is "$(biases narrow bb)" 'xx.x..xxxx'
is "$(biases wide bb)" 'xx.x..xxxx' "a language that is the first of the model's"
is "$(biases wide aa)" 'xx.x.....x'
is "$(biases narrow bb --no-mask-vocab)" '..........'
# a decoder without languages: nothing has to be named, and without --tgt only specials are left out
"${train[@]/aa-bb=*/aa-bb=s,t}" --seed 4 --steps 1 --no-encoder-langs --no-decoder-langs --out bare
any='ckpt: without --tgt generate() may choose words of every language, which translate does not'
rm -r bart; is "$(ckpt export -o bart bare 2>&1)" "$any"
rm -r bart; is "$(ckpt export --no-mask-vocab -o bart bare 2>&1)" ''
is "$(biases bare bb)" 'xx.x..xxxx'

echo "# --tensorboard has the log's numbers"
"${train[@]}" --steps 3 --tensorboard --out run
perl -0777 -ne 'printf "%s %.6g\n", $1, unpack("f", $2)
    while /train\/(mt|grad_norm|lr)\x15(.{4})/gs' run/tensorboard/events.* > got
perl -ne 'for $k (qw(mt grad_norm lr)) { printf "%s %.6g\n", $k, $1 if /"$k":([-+.e0-9]+)/ }' \
    run/log.jsonl > want
is "$(wc -l < want)" 9; same got want

echo "# what no option says comes from the model that a run starts from"
printf 'one two\nthree four five\n\nseven eight\nnine\n\n' > lines
vocab-count -q lines > v
binarize -q -v v -l en -o en.shd < lines
tiny=(-q --layers 1 --dim 8 --heads 2 --ffn 8 --positions 40 --tokens 30 --seed 3)
pretrain "${tiny[@]}" -v v --train en=en.shd --objective mlm,sop --documents 40 \
    --no-encoder-langs --output-transform --steps 0 --out typed
cp -rL typed/last like; rm like/model.sum
sed -i -e 's/"embed_norm": true/"embed_norm": false/' -e 's/"scale_embed": 1,/"scale_embed": 4,/' \
    -e 's/"norm_eps": [^,]*/"norm_eps": 0.25/' like/config.json
pretrain -q --init like --train en=en.shd --steps 0 --tokens 30 --out taken
grep -E '"(token_types|embed_norm|output_transform|scale_embed|norm_eps)"' taken/last/config.json |
    tr -d ' ",\n' > got
printf '%s' token_types:2 embed_norm:false output_transform:true scale_embed:4 norm_eps:0.25 > want
same got want
pretrain -q --init like --no-output-transform --train en=en.shd --steps 0 --tokens 30 --out plain
grep -q '"output_transform": false' plain/last/config.json || fail "--no-output-transform"

echo "# --beta1, --beta2, --eps, --weight-decay, --clip: one step by hand, and the next moments"
tensor=$(dirname "$BIN")/test/tool/tensor
echo 'three four five' | binarize -q -v v -l en -o line.shd
adam() {   # NAME OPTIONS...: every batch is the same line, every word <mask>
    pretrain "${tiny[@]}" -v v --train en=line.shd --mask-prob 1 --mask-token 1 --mask-random 0 \
        --dropout 0 --attention-dropout 0 --warmup 0 --schedule constant --lr 0.01 --log-every 1 \
        --out "$@"
}
# numbers NAME TENSOR: first moments, second ones, weights
numbers() {
    local o=$1/last/optimizer.safetensors
    paste <("$tensor" $o adam.m.$2 | tr '\t' '\n') <("$tensor" $o adam.v.$2 | tr '\t' '\n') \
        <("$tensor" $1/last/weights.safetensors $2 | tr '\t' '\n')
}
by=(--beta1 0.75 --beta2 0.5 --eps 0.03 --weight-decay 0.2)
adam begun --steps 0
adam one --steps 1 --clip 0 "${by[@]}"
adam two --steps 1 --clip 0 --beta1 0.5 --beta2 0.75 --weight-decay 0.4
adam cut --steps 1 --clip 0.001 "${by[@]}"
adam far --steps 2 --clip 0 --lr 0 "${by[@]}"
norm=$(sed -nE 's/.*"grad_norm":([-+.e0-9]+).*/\1/p' one/log.jsonl)
for t in encoder.0.ffn.in.weight encoder.0.ffn.in.bias; do
    # m = (1 - beta1) g, v = (1 - beta2) g^2; unbiased g and g^2; what is no matrix does not decay
    paste <("$tensor" begun/last/weights.safetensors $t | tr '\t' '\n') <(numbers one $t) \
        <(numbers two $t) <(numbers cut $t) <(numbers far $t) |
        awk -v decay=$([ ${t##*.} = weight ] && echo 1 || echo 0) -v norm="$norm" '
        function same(x, y, what) {
            if ((x - y) ^ 2 > 1e-10 * (x ^ 2 + y ^ 2) + 1e-22) {
                print what, x, y; exit wrong = 1 }
        }
        function moved(w, g, eps, by) {
            return w - 0.01 * (g / (sqrt(g * g) + eps) + decay * by * w)
        }
        { g = $2 / 0.25
          same($3, 0.5 * g * g, "v"); same($4, moved($1, g, 0.03, 0.2), "weight")
          same($5, 0.5 * g, "m of another beta1"); same($6, 0.25 * g * g, "v of another beta2")
          same($7, moved($1, g, 1e-8, 0.4), "weight of another decay")
          same($8, 0.25 * g * 0.001 / norm, "m clipped")
          # the weights stand: the second gradient is the first one
          same($11, (0.75 * 0.25 + 0.25) * g, "m of two steps")
          same($12, (0.5 * 0.5 + 0.5) * g * g, "v of two steps"); n++ }
        END { exit wrong || n < 8 }' || fail "Adam by hand: $t"
done
