# docs/formats/samples: each file is read as list.tsv says, by every program that reads its kind.
# The files and what the good ones give (NAME.out) were written by test/peers/samples.py and
# formats.py, from docs/formats alone.
. "$TOP/test/cli/lib.sh"
S=$TOP/docs/formats/samples
printf 'th\nthe\nlow\nlothe\nx\n' > words
printf 'a b c d\n</s> \303\251\n' > text
printf 'a 1 0.5 0\nb 0 1 0\n' > src.vec
printf 'd 1 0.5 0\ne 0 1 0\n' > tgt.vec
printf '# c\n1\ta\t_\tADJ\t_\t_\t2\tamod\t_\t_\n2\tb\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n' > ud
printf '%s\n' a b c d e f > af
for l in en de; do echo a b c d e f | binarize -q -v af -l $l -o $l.shd; done
switched=(pretrain -q --threads 1 --layers 1 --dim 4 --heads 1 --ffn 4 --positions 8 -v af
    --train en=en.shd --train de=de.shd --objective mlm,tcs --steps 0 --out run)
phrases=(pretrain -q --threads 1 --layers 1 --dim 4 --heads 1 --ffn 4 --positions 8 -v af
    --train en=en.shd --mask-scheme pmi --steps 0 --out run)
tool=$(dirname "$BIN")/test/tool
good=0 bad=0
# refused FILE command...: status 1 and one line that names the file
refused() { fails 1 "${1##*/}" "${@:2}"; }
# with NAME SAMPLE: the folder `model`, but for that file; without a model.sum that knows better
with() {
    rm -rf model; cp -r "$S/model/post-norm" model; chmod -R u+w model
    [ "$1" = model.sum ] || rm model/model.sum
    cp "$S/$2" "model/$1"
}
model_file() {   # NAME SAMPLE VERDICT: as one of a model's folder
    with "$1" "$2"
    if [ "$3" = good ]; then
        ckpt check -q model; ckpt info -q model > info; return
    fi
    fails 1 "model/" ckpt check -q model
    fails 1 "model/" ckpt info -q model; [ ! -s fails.out ] || fail "$2: ckpt info prints"
    fails 1 "model/" embed -q --model model -o x.vec; [ ! -e x.vec ]
}
# Gold of a task: as its reader has it, and as score judges it by predictions made from FILE.out.
gold() {   # FILE FORMAT VERDICT
    local f=$1 of=$2 metric=accuracy files=$1 option=() status=0
    case $2 in
        parallel) metric= files=$1,${1%.de}.en ;;
        csv) of=pairs option=(--csv) ;;
        fused) of=tagged option=(--fused) ;;
    esac
    "$tool/examples" "${option[@]}" $of "$files" > got 2> err || status=$?
    [ $3 = bad ] || { [ $status = 0 ] && same got "$f.out"; }
    [ $3 = good ] || { is $status 1; is "$(wc -l < err)" 1; grep -q "${f##*/}" err; }
    [ $2 != fused ] || option=(--words fused)
    case $2 in
        tagged | fused) metric=tag-accuracy; [ $3 = bad ] || cp "$f.out" pred ;;
        questions) metric=squad
            [ $3 = bad ] || awk -F'\t' 'BEGIN { printf "{" }
                !seen[$1]++ { printf "%s\"%s\": \"%s\"", s, $1, $4; s = ", " }
                END { print "}" }' "$f.out" > pred ;;
        *) [ $3 = bad ] || cut -f 1 "$f.out" > pred ;;
    esac
    # (SQuAD 2.0's question without an answer is another metric's)
    case $metric-$f in -* | *squad2) return ;; esac
    local judge=(score -q --resamples 0 -m $metric "${option[@]}" "de=$f")
    if [ $3 = good ]; then
        "${judge[@]}" < pred > judged
        awk -F'\t' 'NR > 1 && $3 != 100 { bad = 1 } END { exit bad || NR < 2 }' judged
    else
        sed 's/^examples: /score: /' err > want
        fails 1 . "${judge[@]}" < /dev/null; same fails.err want
    fi
}
one() {   # SAMPLE FORMAT VERDICT
    local f=$S/$1
    case $2-$3 in
        shard-good)
            shard check "$f"; shard check - < "$f"
            shard cat --ids "$f" > got; same got "$f.out"
            shard cat --ids - < "$f" > got; same got "$f.out" ;;
        shard-bad)
            refused "$f" shard check "$f"
            case $1 in *index-hash*) refused "$f" shard info "$f" ;; esac
            fails 1 'standard input' eval "shard check - < '$f'"
            fails 1 'standard input' eval "shard cat --ids - < '$f'" ;;
        cooc-good)
            cooc-merge -q -o merged "$f"; [ "$1" = cooc/unknown-reference.cooc ] || same merged "$f"
            : > got
            for lang in $(cut -f 1 "$f.out" | uniq); do
                [ "$lang" != - ] && l="-l $lang" || l=
                cooc-query --dump --counts $l "$f" | sed "s/^/$lang\t/" >> got
            done
            same got "$f.out" ;;
        cooc-bad)
            refused "$f" cooc-query --dump --counts -l en "$f"
            refused "$f" cooc-merge -q -o merged "$f" ;;
        codes-good) bpe-apply -q -c "$f" words > got; same got "$f.out" ;;
        codes-bad) refused "$f" bpe-apply -q -c "$f" words ;;
        vocab-good)
            binarize -q --max-unknown 1 -v "$f" -l en text | shard cat --ids - > got
            same got "$f.out" ;;
        vectors-good)
            "$tool/rows" "$f" > got; same got "$f.out"
            retrieve -q --threads 1 --src "$f" --tgt "$f" > got ;;
        vectors-bad)
            refused "$f" retrieve -q --threads 1 --src "$f" --tgt "$f"
            refused "$f" dict-induce -q --threads 1 --src "$f" --tgt "$f" ;;
        dict-good) dict-induce -q --threads 1 --src src.vec --tgt tgt.vec --eval "$f" > got ;;
        dict-bad) refused "$f" dict-induce -q --threads 1 --src src.vec --tgt tgt.vec --eval "$f" ;;
        scored-good) "${switched[@]}" --dict "en-de=$f"; rm -r run ;;
        scored-bad) refused "$f" "${switched[@]}" --dict "en-de=$f" ;;
        order-good) derive-lang -q --syn "$f" --format conllu ud > got; [ -s got ] ;;
        order-bad) refused "$f" derive-lang -q --syn "$f" --format conllu ud ;;
        summed-good) bpe-apply -q -c "$f" words > got; [ -s got ] ;;
        log-good)
            "$tool/points" "$f" | LC_ALL=C sort > got; same got "$f.out"
            plot curves -q "$f" > svg ;;
        log-bad) refused "$f" plot curves -q "$f" ;;
        pairs-* | csv-* | lines-* | parallel-* | tagged-* | fused-* | questions-*)
            gold "$f" $2 $3 ;;
        answers-good) score -q --resamples 0 -m squad "$S/tasks/squad" -p "$f" > got ;;
        answers-bad) refused "$f" score -q --resamples 0 -m squad "$S/tasks/squad" -p "$f" ;;
        ngrams-good) cut -f 3- "$f" > list; "${phrases[@]}" --mask-ngrams en=list; rm -r run ;;
        pieces-good) "${phrases[@]}" --mask-ngrams "en=$f"; rm -r run ;;
        pieces-bad) refused "$f" "${phrases[@]}" --mask-ngrams "en=$f" ;;
        batch-good)
            for name in $(sed -n 's/^= //p' "$f.out"); do
                echo "= $name"; "$tool/tensor" "$f" $name
            done > got
            same got "$f.out" ;;
        summed-bad) refused "$f" bpe-apply -q -c "$f" words ;;
        vocab-bad) refused "$f" binarize -q -v "$f" -l en -o t.shd text ;;
        model-good)
            ckpt check "$f" > out 2>&1; [ ! -s out ] || fail "$1: ckpt check says something"
            for lang in $(cut -d' ' -f 2 "$f.out" | sort -u); do states "$1" $lang; done ;;
        config-*) model_file config.json "$1" $3 ;;
        weights-*) model_file weights.safetensors "$1" $3 ;;
        words-*) model_file words.safetensors "$1" $3 ;;
        sum-*) model_file model.sum "$1" $3 ;;
        *) fail "$1: no program is known for $2" ;;
    esac
    if [ $3 = good ]; then good=$((good + 1)); else bad=$((bad + 1)); fi
}
# The mean of each sentence's states at each layer, within 1e-5 of FILE.out's:
#   LAYER LANGUAGE SENTENCE value...
states() {
    local f=$S/$1 layer lang=(--lang $2)
    [ $2 != - ] || lang=()
    while read -r layer; do
        embed -q --threads 1 --model "$f" --layer $layer --text "$S/model/text" \
            "${lang[@]}" --of sentences --format text | cut -d' ' -f 2- > got
        awk -v l=$layer -v k=$2 '$1 == l && $2 == k { $1 = $2 = $3 = ""; print }' "$f.out" > want
        [ -s want ] || continue
        paste -d' ' got want | awk '{ for (i = 1; i <= NF / 2; i++) {
                d = $i - $(i + NF / 2); if (d * d > 1e-10) bad = 1 } }
            NF < 2 || NF % 2 { bad = 1 } END { exit bad || NR != 3 }' || {
            head got want; fail "$1: layer $layer, $2"; }
    done < <(awk -v k=$2 '$2 == k { print $1 }' "$f.out" | sort -u)
}
while IFS=$'\t' read -r file form verdict why; do
    one "$file" "$form" "$verdict"
done < <(tail -n +2 "$S/list.tsv")
echo "$good good and $bad bad files"
[ $good -gt 80 ] && [ $bad -gt 300 ] && is $((good + bad)) $(($(wc -l < "$S/list.tsv") - 1))
