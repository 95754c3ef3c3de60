# What finetune says of its validation is what its model does: translations by translate, of the
# same sentences by the same weights, scored by bleu and counted by awk.
. "$TOP/test/cli/lib.sh"
awk 'function draw(n) { x = (1103515245 * x + 12345) % 2147483648; return int(x / 65536) % n }
    BEGIN { x = 5; for (i = 0; i < 240; i++) {
        n = 2 + draw(7); s = r = ""
        for (j = 0; j < n; j++) { w = draw(14); s = s (j ? " " : "") "w" w;
            r = r (j ? " " : "") (w % 3 ? "v" : "w") w }
        print s > "text.aa"; print r > "text.bb" } }'
cat text.aa text.bb | tr ' ' '\n' | sort | uniq -c | sort -k1,1nr -k2 |
    awk '{ print $2, $1 }' > vocab
for l in aa bb; do binarize -q -v vocab -l $l -o $l.shd < text.$l; tail -n 40 text.$l > valid.$l
done
run=(finetune -q --task unmt -v vocab --train aa=aa.shd --train bb=bb.shd
    --pseudo aa-bb=text.aa,text.bb --pseudo bb-aa=text.bb,text.aa --pseudo-steps 150
    --valid aa-bb=valid.aa,valid.bb --valid bb-aa=valid.bb,valid.aa
    --layers 1 --dim 32 --heads 4 --ffn 64 --positions 40 --tokens 150 --seed 3 --lr 4e-3
    --warmup 20 --dropout 0)
# Half learnt, so that no number is 0, 1 or that of its neighbour: cross-check at two stages
for steps in 100 180; do
    "${run[@]}" --steps $steps --valid-every 1000 --out run$steps
    for pair in "aa bb" "bb aa"; do
        set -- $pair
        translate -q --model run$steps/last --src $1 --tgt $2 < valid.$1 > out
        translate -q --model run$steps/last --src $2 --tgt $1 < out > again
        said() { sed -n "s/.*\"valid\".*\"$pair_name\.$1\":\([0-9.e+-]*\).*/\1/p" \
            run$steps/log.jsonl; }
        pair_name=$1-$2
        near() { awk -v a="$1" -v b="$2" -v t="$3" \
            'BEGIN { d = a - b; exit !(a != "" && b != "" && d <= t && d >= -t) }' ||
            fail "$pair_name, step $steps: $4 is $1, not $2"; }
        score() { bleu -q --force --tokenize none --score-only --width 4 "$1"; }
        near "$(said bleu)" "$(score valid.$2 < out)" 1e-4 bleu
        near "$(said round_trip)" "$(score valid.$1 < again)" 1e-4 round_trip
        near "$(said copied)" "$(paste -d '|' out valid.$1 |
            awk -F '|' '{ n = split($1, h, " "); split($2, s, " ")
            for (k in in_s) delete in_s[k]
            for (k in s) in_s[s[k]]
            for (i = 1; i <= n; i++) same += h[i] in in_s
            all += n } END { printf "%.6f", same / all }')" 1e-5 copied
        near "$(said length_ratio)" "$(awk -v r="$(wc -w < valid.$2)" -v h="$(wc -w < out)" \
            'BEGIN { printf "%.6f", h / r }')" 1e-5 length_ratio
        near "$(said distinct)" "$(awk -v d="$(sort -u out |
            wc -l)" 'BEGIN { print d / 40 }')" 1e-5 distinct
        near "$(said vocabulary)" "$(awk -v h="$(tr ' ' '\n' < out | sort -u |
            wc -l)" -v r="$(tr ' ' '\n' < valid.$2 | sort -u | wc -l)" \
            'BEGIN { printf "%.6f", h / r }')" 1e-5 vocabulary
    done
done

# Of the first 7 pairs alone; the best model is the one whose mean of both round trips is the
# highest (not that of BLEU, which another step has here); `bleu` is the mean of both directions.
"${run[@]}" --steps 180 --valid-every 20 --valid-sentences 7 --select round-trip --out picked
same picked/last/weights.safetensors run180/last/weights.safetensors
near() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(a != "" && d < 1e-4 && d > -1e-4) }' ||
    fail "$3 is $1, not $2"; }
said() { sed -n "s/.*\"step\":180,.*\"$1\":\([0-9.e+-]*\).*/\1/p" valid.jsonl; }
grep '"valid"' picked/log.jsonl > valid.jsonl
near "$(said bb-aa.bleu)" "$(bleu -q --force --tokenize none --score-only --width 6 \
    <(sed 7q valid.aa) < <(sed 7q out))" "BLEU of the first 7"
near "$(said bleu)" "$(awk -v a="$(said aa-bb.bleu)" -v b="$(said bb-aa.bleu)" \
    'BEGIN { printf "%.6f", (a + b) / 2 }')" "the mean of both"
is "$(readlink picked/best)" "checkpoints/step-$(sed -E \
    's/.*"step":([0-9]*),.*ab.round_trip":([^,]*),.*ba.round_trip":([^,}]*).*/\1 \2 \3/' \
    <(sed 's/aa-bb/ab/g; s/bb-aa/ba/g' valid.jsonl) |
    awk '$2 + $3 > most { most = $2 + $3; at = $1 } END { printf "%08d", at }')" \
    "the model of the best round trips"

# --n-best: N hypotheses of each sentence, the best first, which is the one that is printed without
translate -q --model run180/last --src aa --tgt bb --beam 4 < valid.aa > best
translate -q --model run180/last --src aa --tgt bb --beam 4 --n-best 3 < valid.aa > many
is "$(sed 's/ |||.*//' many | sort -n | uniq -c | awk '{ print $1 }' |
    sort -u)" 3 "hypotheses of a sentence"
awk -F ' [|][|][|] ' 'NR == 1 || $1 != last { print $2 } { last = $1 }' many > first
same first best
awk -F ' [|][|][|] ' \
    'NR > 1 && $1 == last && $3 > score { bad = 1 } { last = $1; score = $3 } END { exit bad }' \
        many ||
    fail "hypotheses are not in the order of their scores"
