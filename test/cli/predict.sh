# predict: equal to transformers on its own models and text (test/golden/predict.py), streams, bad
# input. What a model of finetune says is test/cli/finetune-tasks.sh.
. "$TOP/test/cli/lib.sh"
G=$TOP/test/golden/predict
for m in bert_nli xlmr_pairs bert_ner bert_qa; do ckpt import -q -o $m "$G/$m"; done

# alike GOT WANT N: fields equal, but numbers within 2 * 10^-N of each other
alike() {
    awk -F '\t' -v by="1e-$3" 'function number(x) { return x ~ /^-?[0-9.]+$/ }
        NR == FNR { want[FNR] = $0; n = FNR; next }
        { k = split(want[FNR], w, "\t"); if (k != NF) bad = bad FNR " "
          for (i = 1; i <= NF; i++)
              if (number($i) && number(w[i]) ? ($i - w[i]) ^ 2 > 4 * by ^ 2 : $i != w[i])
                  bad = bad FNR ":" $i " not " w[i] "; " }
        END { if (bad || FNR != n) { print bad, FNR, n; exit 1 } }' "$2" "$1" || fail "$1 and $2"
}

# a class per pair or text, cut as transformers cuts; a tag per word; answers by windows
predict -m bert_nli --scores "$G/pairs.in" > pairs 2> notes; alike pairs "$G/pairs.out" 5
grep -q 'pairs cut to --longest rows: 3; the first on line 3' notes
predict -q -m bert_nli --scores < "$G/lines.in" > lines; alike lines "$G/lines.out" 5
predict -q -m xlmr_pairs --scores < "$G/spm.in" > spm; alike spm "$G/spm.out" 5
predict -q -m bert_ner --scores < "$G/ner.in" > ner; alike ner "$G/ner.out" 5
predict -q -m bert_qa --question 9 --stride 7 --scores < "$G/qa.in" > qa
sed 's/^[{ ]"\([^"]*\)": {"answer": "/\1\t/; s/", "score": /\t/; s/, "null_score": /\t/
    s/[},]*$//' qa > rows
alike rows "$G/qa.out" 4

# without scores: what score reads; every batch, thread and way to cut the stream says the same
cut -f 1 "$G/pairs.out" > labels
predict -q -m bert_nli < "$G/pairs.in" > got; same got labels
for how in "--batch 1" "--tokens 1 --threads 1" "--batch 3 --threads 3" --line-buffered; do
    predict -q -m bert_nli --scores $how < "$G/pairs.in" > got; alike got pairs 5
    predict -q -m bert_ner $how < "$G/ner.in" > got; cut -f 2- "$G/ner.out" > want; same got want
done
paste <(cut -f 1,2 "$G/pairs.in") labels > gold
is "$(score --metric accuracy --resamples 0 gold < labels | cut -f 3 | tail -1)" 100.0
cut -f 2- "$G/ner.out" > gold.tags
is "$(predict -q -m bert_ner gold.tags | score -m tag-accuracy --resamples 0 gold.tags | cut -f 3 |
    tail -1)" 100.0
# a long stream: more than one piece of it, below a header, in order
awk 'BEGIN { print "premise\thypo\tlabel" } { line[NR] = $0 "\tneutral" }
    END { for (i = 0; i < 14999; i++) print line[i % NR + 1] }' "$G/pairs.in" > long
[ "$(stat -c %s long)" -gt 1200000 ]
predict -m bert_nli --longest 12 < long 2> notes > got; is "$(wc -l < got)" 14999
cut=$(predict -m bert_nli --longest 12 < "$G/pairs.in" 2>&1 > seven |
    sed -n 's/.*rows: \([0-9]*\);.*/\1/p')
five=$(predict -m bert_nli --longest 12 2>&1 > x < <(head -n 5 "$G/pairs.in") |
    sed -n 's/.*rows: \([0-9]*\);.*/\1/p')
grep -q "pairs cut to --longest rows: $((cut * 2142 + five)); the first on line 3" notes
rm x
# so too where a blank line comes before the header
predict -q -m bert_nli --longest 12 < <(echo; cat long) > again; same again got
awk '{ line[NR] = $0 } END { for (i = 0; i < 14999; i++) print line[i % NR + 1] }' seven > want
same got want
# a pipe that stays open gets its answers at once
mkfifo in out; predict -q -m bert_nli --line-buffered < in > out & exec 3> in 4< out
head -n 1 "$G/pairs.in" >&3; IFS= read -r -t 60 line <&4; is "$line" "$(head -n 1 labels)"
exec 3>&-; wait; exec 4<&-

# answers: none where the null score wins by the threshold; odds that score takes; two languages
predict -q -m bert_qa --question 9 --stride 7 --null-threshold 0 --null-odds odds < "$G/qa.in" > got
is "$(sed 's/^[{ ]//; s/[,}]$//' got | sed -n 's/^"\(.*\)": "\(.*\)"/\1\t\2/p')" \
    "$(awk -F '\t' '{ print $1 "\t" ($4 > $3 ? "" : $2) }' "$G/qa.out")"
grep -c '""' got > none; [ "$(cat none)" -gt 0 ]; [ "$(cat none)" -lt 15 ]
sed 's/^[{ ]"\(.*\)": \([^,}]*\).*/\1\t\2/' odds > rows
awk -F '\t' -v OFS='\t' '{ print $1, sprintf("%.4f", $4 - $3) }' "$G/qa.out" > want
alike rows want 3
predict -q -m bert_qa -l de --question-lang en --question 9 --stride 7 < "$G/qa.in" > got
is "$(grep -c . got)" 15

# a context of 3,000 tokens: 427 windows, one answer, out of the context
awk 'BEGIN { for (i = 0; i < 3000; i++) c = c (i ? " " : "") "ka"
    print "{\"data\": [{\"paragraphs\": [{\"context\": \"" c "\"," \
        "\"qas\": [{\"id\": \"a\", \"question\": \"ka\"}]}]}]}" }' > huge
predict -q -m bert_qa --stride 7 huge > got
grep -qE '^\{"a": "ka( ka){0,29}"\}$' got || fail "$(cat got)"

# bad input: one line each, no file
: > nothing
fails 1 'standard input: is empty' predict -m bert_nli < nothing
fails 1 'nothing: is empty' predict -m bert_nli -o x nothing
[ ! -e x ] || fail 'a file of no predictions'
fails 2 '--model is needed' predict
ckpt import -q --head none -o bare "$G/bert_nli"
fails 1 'bare: the model has no task head; finetune --task nli, pairs' predict -m bare < gold
fails 1 'no head ner; it has nli' predict -m bert_nli --head ner < gold
fails 1 "this task does not read files of format 'conllu'" \
    predict -m bert_nli --format conllu < gold
fails 1 'standard input:2: one of the rows with too few columns' \
    predict -m bert_nli < <(printf 'a\tb\nc\n')
fails 1 'standard input:3: byte 1 is not UTF-8' \
    predict -m bert_nli < <(printf 'a\tb\na\tb\n\377\tb\n')
sed '14000s/.*/ka/' long > broken
fails 1 'broken:14000: one of the rows with too few columns' \
    predict -q -m bert_nli --longest 12 -o x broken
[ ! -e x ] || fail 'predictions of half a file'
fails 1 'standard input:2: one of the lines without a tag' predict -m bert_ner \
    < <(printf 'ka\tO\nle\t\n')
for w in '--question-lang en' '--stride 7' '--null-odds x' '--null-threshold 0'; do
    fails 1 "are for questions, which the head 'nli' does not read" predict -m bert_nli $w < gold
done
fails 1 "fused is for words, which the head 'nli' does not tag" predict -m bert_nli \
    --words fused < gold
fails 1 "skip is for pairs, which the head 'ner' does not read" predict -m bert_ner --skip NS \
    < gold.tags
[ ! -e x ] || fail 'null odds of no question'
fails 1 "csv is for files with columns, which the head 'qa' does not read" predict -m bert_qa \
    --csv < huge
# a text that has a tab is not cut short at it, and neither is a pair
fails 1 'standard input:2: one of the lines with a tab, where the first has none' \
    predict -m bert_nli < <(printf 'ka\nka\tle\n')
fails 1 'standard input:2: one of the rows with more columns than the first' \
    predict -m bert_nli < <(printf 'ka\tle\nka\tle\tle\n')
fails 1 'standard input: --skip is for pairs, and this is a text or a label per line' \
    predict -m bert_nli --skip NS < <(printf 'ka\nle\n')
fails 1 '--longest 60: the model reads at most 40 rows' predict -m bert_nli --longest 60 < gold
fails 1 'standard input:.*windows of 40 rows hold 29 tokens of the context' predict -m bert_qa \
    < <(echo '{"data": [{"paragraphs": [{"context": "ka", "qas": [{"id": "a", "question":
        "ka ka ka ka ka ka ka ka"}]}]}]}')
fails 1 'is not SQuAD' predict -m bert_qa < <(echo '{"data": [{"paragraphs": [{}]}]}')
# one sentence of bare words, with no blank line behind it; sentences are not words
printf 'ka\nle\n' > words
# a model that names no languages says nothing of the one that it is told
is "$(predict -m bert_ner -l de words 2>&1 > /dev/null)" ""
same <(predict -q -m bert_ner words) <(printf 'ka\tO\nle\tO\n\n' | predict -q -m bert_ner)
fails 1 'none of the formats expected here .one word per line.*: conllu wikineural panx germeval' \
    predict -m bert_ner < <(echo 'ka le')
fails 1 'none of the formats expected here; name it with --format, one of: squad$' \
    predict -m bert_qa < <(echo 'ka le')
# a multi-word token is its two words, or one; the tags are those of bare words
{ printf '1-2\tkale\t_\t_\t_\t_\t_\t_\t_\t_\n'
  printf '1\tka\t_\tX\t_\t_\t0\t_\t_\t_\n2\tle\t_\tX\t_\t_\t1\t_\t_\t_\n\n'; } > two.conllu
same <(predict -q -m bert_ner two.conllu) <(predict -q -m bert_ner words)
same <(predict -q -m bert_ner --words fused --max-unknown 1 two.conllu) \
    <(echo kale | predict -q -m bert_ner --max-unknown 1)
# the shortest that a head reads: <s> a </s> b </s>, and <s> w </s>
predict -q -m bert_nli --longest 5 < gold > got; is "$(grep -c . got)" 7
fails 1 '--longest 4: this head reads at least 5 rows' predict -m bert_nli --longest 4 < gold
predict -q -m bert_ner --longest 3 < words > got; is "$(grep -c . got)" 2
fails 1 '--longest 2: this head reads at least 3 rows' predict -m bert_ner --longest 2 < words
# at --longest 3 a word of one piece fits, and nothing is told; one of two is read as <unk>
is "$(predict -m bert_ner --longest 3 words 2>&1 > got)" ''
printf 'ka\nkas\n' | predict -m bert_ner --longest 3 2>&1 > got |
    has 'words of more pieces than --longest, read as <unk>: 1; the first on line 2'
# a single text of 5 pieces has 7 rows: cut at 6, and whole at 7, where a pair would have 8
echo 'ka le ka le ka' > five
is "$(predict -m bert_nli --longest 7 five 2>&1 > got)" ''
predict -m bert_nli --longest 6 five 2>&1 > got |
    has 'texts cut to --longest rows: 1; the first on line 1: 7 rows'
printf 'ka le ka le ka\t\n' | predict -m bert_nli --longest 7 2>&1 > got |
    has 'pairs cut to --longest rows: 1; the first on line 1: 8 rows'
# nothing is left out silently: words that no piece makes are read as <unk> and told
predict -m bert_ner "$G/ner.in" 2>&1 > got | has 'words without a piece, read as <unk>: 1; the'
is "$(grep -c . got)" "$(grep -c . "$G/ner.in")"
# a predictions file one line short is named where it is scored
head -n 6 labels > short
fails 1 'short: has 6 predictions, but gold has 7 examples' score -m accuracy --pred short gold
# pairs one of whose sentences is PAWS-X's "NS" (none) go out of predictions and gold alike, and
# are told
{ head -n 3 gold; printf 'NS\tka\tneutral\n'; tail -n 4 gold; } > holes
predict -m bert_nli --skip NS < holes 2> notes > got; same got labels
grep -q 'rows with the sentence to skip: 1; the first on line 4' notes
is "$(score --metric accuracy --skip NS --resamples 0 holes < got | cut -f 3 | tail -1)" 100.0
# of questions with one id the last one's answer is written, as a Python dictionary has it: a key
# that an object has twice is no JSON that score reads
asked() {
    printf '{"data": [{"paragraphs": [{"context": "ku ka liot tun", "qas": [%s]}]}]}\n' "$1"
}
one='{"id": "a", "question": "ku"}' two='{"id": "a", "question": "ka ka ka liot"}'
reading=(predict -q -m bert_qa --stride 3 --max-unknown 1 --null-odds)
asked "$two" > last.json; "${reading[@]}" want.odds last.json > want
asked "$one" > first.json; "${reading[@]}" other.odds first.json > other
! cmp -s want.odds other.odds || fail "the two questions have the same odds"
asked "$one, $two" > both.json; "${reading[@]}" got.odds both.json > got
same got want; same got.odds want.odds
