# Code-switched fine-tuning (PPA, section 2.3) by what the model reads: each example that exists in
# two languages becomes two neighbours whose sides are of different languages, and the original
# pair is absent; an answer is that of its context's language.
. "$TOP/test/cli/lib.sh"
tensor=$(dirname "$BIN")/test/tool/tensor

# Sides of example i are the words LpI and LhI: a token says its language, side and example.
for i in 1 2 3 4; do
    for l in a b; do
        printf '%sp%s\t%sh%s\t%s\n' $l $i $l $i "$(sed -n "$((i % 3 + 1))p" <<X
entailment
neutral
contradiction
X
        )" >> nli.$l
    done
done
for l in a b; do
    seq 4 | sed "s/.*/${l}p& ${l}h& ${l}q& ${l}y& ${l}z&/" > text.$l
    { printf '{"data": [{"paragraphs": ['
      for i in 1 2 3 4; do
          [ $i = 1 ] || printf ', '
          # the answer is another word of the context in each language
          c="${l}h$i ${l}y$i ${l}z$i"; [ $l = a ] && w="${l}y$i" || w="${l}z$i"
          printf '{"context": "%s", "qas": [{"id": "%s", "question": "%s", ' "$c" $i "${l}q$i"
          printf '"answers": [{"text": "%s", "answer_start": %s}]}]}' "$w" \
              $([ $l = a ] && echo 4 || echo 8)
      done; printf ']}]}\n'; } > qa.$l
done
tokenize --settings > tokenizer
cat text.a text.b text.a text.b | bpe-learn -q -n 200 > codes
cat text.a text.b | bpe-apply -q -c codes | vocab-count -q > vocab
is "$(wc -l < vocab)" 40 "a token is a word"
for l in a b; do bpe-apply -q -c codes < text.$l | binarize -q -v vocab -l $l$l -o $l.shd; done
pretrain -q -v vocab --codes codes --tokenizer tokenizer --train aa=a.shd --train bb=b.shd \
    --layers 1 --dim 8 --heads 2 --ffn 8 --positions 32 --tokens 100 --steps 0 --out base

# inputs FILE OBJECTIVE: of a batch, a line per example: its tokens, without specials, languages
# of its rows and what is to be learnt (a label, or the answer's token)
inputs() {
    "$tensor" "$1" token lang at label start end | awk -v tag="$2" '
        BEGIN { rows = k = m = 0 }
        NR == FNR { name[FNR + 4] = $1; next }
        { n = split($0, c, "\t"); if (c[1] != "-") { t[rows] = c[1]; l[rows++] = c[2] }
          if (c[3] != "-") at[k++] = c[3]
          if (tag == "class" && c[4] != "-") learn[m++] = c[4]
          if (tag == "span" && c[5] != "-") { from[m] = c[5]; to[m++] = c[6] } }
        END { for (s = 0; s < m; s++) {
            w = ""; g = ""
            for (r = at[s]; r < at[s + 1]; r++) if (t[r] > 4) { w = w " " name[t[r]]; g = g l[r] }
            if (tag == "span") learn[s] = name[t[at[s] + from[s]]] (from[s] == to[s] ? "" : "+")
            print substr(w, 2), g, learn[s] } }' <(cut -d' ' -f1 base/last/vocab) -
}
# couples: do lines 2 i - 1 and 2 i hold the same example?
couples() {
    awk '{ match($1, /[0-9]/); x = substr($1, RSTART, 1) } NR % 2 { first = x; next }
        x != first { bad = 1 } END { exit bad || NR != 8 }' "$1"
}
tune() {
    finetune -q --task $1 --model base --train aa=$1.a --train-parallel bb=$1.b --batch 8 \
        --epochs 1 --out $1.$2 --code-switch $2 --write-batches $1.$2.b "${@:3}"
}
tune nli on
is "$(ls nli.on.b)" step-1.1.class.safetensors "one batch of 4 examples, twice each"
inputs nli.on.b/step-1.1.class.safetensors class > got
couples got || fail "twins are apart: $(cat got)"
for i in 1 2 3 4; do
    y=$((i % 3))
    printf '%s\n' "ap$i bh$i 01 $y" "bp$i ah$i 10 $y"
done > want
same <(sort got) <(sort want)

tune qa on --longest 16 --question 4 --stride 4
inputs qa.on.b/step-1.1.span.safetensors span > got
couples got || fail "twins are apart: $(cat got)"
for i in 1 2 3 4; do
    printf '%s\n' "aq$i bh$i by$i bz$i 0111 bz$i" "bq$i ah$i ay$i az$i 1000 ay$i"
done > want
same <(sort got) <(sort want)

# Contexts of nine and of five words, in windows of four: those of one number stand together, and
# what one language has more of stands alone; an answer is in its window, elsewhere it is <s>.
one() {
    printf '{"data": [{"paragraphs": [{"context": "%s", "qas": [{"id": "1", "question": "%s", ' \
        "$1" $2
    printf '"answers": [{"text": "%s", "answer_start": 16}]}]}]}]}\n' $3
}
one "ah1 ah2 ah3 ah4 ay1 ay2 ay3 ay4 az1" aq1 ay1 > long.a
one "bh1 bh2 bh3 bh4 by1" bq1 by1 > long.b
finetune -q --task qa --model base --train aa=long.a --train-parallel bb=long.b --batch 2 \
    --epochs 1 --longest 8 --question 1 --stride 4 --out long --code-switch on \
    --write-batches long.batches
for f in long.batches/*; do inputs $f span | sort | tr '\n' '|'; echo; done | sort > got
printf '%s\n' 'aq1 bh1 bh2 bh3 bh4 01111 |bq1 ah1 ah2 ah3 ah4 10000 |' \
    'aq1 by1 01 by1|bq1 ay1 ay2 ay3 ay4 10000 ay1|' 'bq1 az1 10 |' > want
same got want

# with-original: the pair as it is, too; off: nothing but it
tune nli with-original
is "$(cat nli.with-original.b/* | wc -c | awk '{ print ($1 > 0) }')" 1
for f in nli.with-original.b/*; do inputs $f class; done > got
is "$(wc -l < got) $(grep -c '^ap\(.\) ah\1 00' got)" "12 4" "with-original"
is "$(grep -c 'bp. bh' got || true)" 0 "the other language's own pair is absent"
finetune -q --task nli --model base --train aa=nli.a --batch 8 --epochs 1 --out plain \
    --write-batches plain.b
inputs plain.b/step-1.1.class.safetensors class > got
is "$(wc -l < got) $(grep -c '^ap\(.\) ah\1 00' got)" "4 4" off
# a model of one language needs no name of it
pretrain -q -v vocab --codes codes --tokenizer tokenizer --train aa=a.shd --layers 1 --dim 8 \
    --heads 2 --ffn 8 --positions 32 --tokens 100 --steps 0 --out alone
finetune -q --task nli --model alone --train aa=nli.a --batch 8 --epochs 1 --out tuned
cut -f 1,2 nli.a > pairs
predict -q --scores -m tuned/last < pairs > got; is "$(grep -c . got)" 4
same got <(predict -q --scores -m tuned/last --lang aa < pairs)
fails 1 "language cc is not one of the model's: aa" predict -m tuned/last --lang cc < pairs
