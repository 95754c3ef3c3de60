# --write-batches: one file for each micro-batch and objective, the same bytes when a run is
# resumed.
. "$TOP/test/cli/lib.sh"
awk 'BEGIN { srand(5); for (i = 0; i < 300; i++) { n = 1 + int(rand() * 8); s = ""
    for (j = 0; j < n; j++) s = s (j ? " " : "") "w" int(rand() * 12); print s } }' > s
awk 'BEGIN { for (j = 0; j < 12; j++) print "w" j, 12 - j }' > vocab
for l in aa bb; do binarize -q -v vocab -l $l -o $l.shd < s; done
cooc-count -q -w 2 -v vocab aa=aa.shd > counts
small=(--quiet -v vocab --layers 1 --dim 16 --heads 2 --ffn 16 --positions 12 --tokens 50 --lr 1e-3
    --warmup 5 --log-every 1 --save-every 2 --seed 3 --accumulate 2)
pre=(pretrain "${small[@]}" --train aa=aa.shd --objective mlm,gc --cooc counts --steps 3)
"${pre[@]}" --out pre --write-batches pre.b
is "$(ls pre.b | paste -sd ' ')" "$(for s in 1 2 3; do for a in 1 2; do for o in gc mlm; do
    echo step-$s.$a.$o.safetensors; done; done; done | paste -sd ' ')" "files of pretrain"
cp -r pre.b whole.b
"${pre[@]}" --out pre2 --steps 2
rm -rf pre.b/step-3.*; cp -r pre2 again
"${pre[@]}" --out again --resume --write-batches pre.b
for f in whole.b/*; do same $f pre.b/${f##*/}; done

un=(finetune "${small[@]}" --task unmt --train aa=aa.shd --train bb=bb.shd --pseudo aa-bb=s,s
    --pseudo-steps 1 --denoise 0:1,2:0 --steps 3)
"${un[@]}" --out un --write-batches un.b
is "$(ls un.b | sed 's/.safetensors//' |
    paste -sd ' ')" "step-1.1.denoise step-1.1.pseudo step-1.2.denoise \
step-1.2.pseudo step-2.1.back step-2.1.denoise step-2.2.back step-2.2.denoise step-3.1.back "\
"step-3.2.back" "files of unmt"
finetune "${small[@]}" --task mt --parallel aa-bb=s,s --steps 1 --out mt --write-batches mt.b
is "$(ls mt.b | paste -sd ' ')" "step-1.1.mt.safetensors step-1.2.mt.safetensors" "files of mt"

# a folder that cannot be made: nothing is begun
: > file
fails 1 'file' "${pre[@]}" --out no --write-batches file
[ ! -e no ] || fail "a run that could not start left a folder"

# --- what the batches hold, by its definition -----------------------------------------------------

tensor=$(dirname "$BIN")/test/tool/tensor
# share COUNT OF P WHAT: COUNT of OF draws, each with probability P, within three standard
# deviations
share() {
    awk -v k="$1" -v n="$2" -v p="$3" 'BEGIN { d = k - n * p; s = 3 * sqrt(n * p * (1 - p)) + 1e-9
        exit !(n > 0 && d <= s && d >= -s) }' || fail "$4: $1 of $2, not a share of $3"
}
# Two languages of 21 words each, w0 to w20 and w20 to w40; words of a sentence differ, so that a
# word tells its place.
awk 'function draw(n) { x = (1103515245 * x + 12345) % 2147483648; return int(x / 65536) % n }
    BEGIN { x = 11; for (l = 0; l < 2; l++) for (i = 0; i < (l ? 300 : 900); i++) {
        n = 9 + draw(9); for (j = 0; j < 21; j++) w[j] = j + 20 * l
        s = ""
        for (j = 0; j < n; j++) {
            k = j + draw(21 - j); t = w[j]; w[j] = w[k]; w[k] = t
            s = s (j ? " " : "") "w" w[j]
        }
        print s > (l ? "text.bb" : "text.aa")
    } }'
awk 'BEGIN { for (j = 0; j < 41; j++) print "w" j, 50 - j }' > vocab
for l in aa bb; do binarize -q -v vocab -l $l -o $l.shd < text.$l; done
tiny=(-q -v vocab --layers 1 --dim 8 --heads 2 --ffn 8 --positions 24 --lr 0 --seed 7 \
    --save-every 0)
# lines BATCHES SUFFIX PREFIX: rows of all files as step, a, sentence, token, lang, pos
rows() {
    local f n=0
    for f in "$1"/*."$2".safetensors; do
        n=$((n + 1))
        "$tensor" "$f" "$3token" "$3lang" "$3pos" "$3original" |
            awk -v f=$n '$3 == 0 { s++ } { print f, s, $0 }'
    done
}

# pretrain: languages by sentences^0.5; each sentence of a language once before any comes again;
# positions count from 0
pretrain "${tiny[@]}" --train aa=aa.shd --train bb=bb.shd --alpha 0.5 --tokens 20000 --steps 2 \
    --accumulate 2 \
    --mask-prob 0.2 --mask-token 0.7 --mask-random 0.2 --out mlm --write-batches mlm.b
rows mlm.b mlm '' > all
awk '$5 != p { if ($5 != 0) exit 1; p = 0 } { p++ }' all ||
    fail "a position is not its token's place"
awk '{ if ($5 == 0) { if (s != "") print lang, s; s = "";
    lang = $4 } else if ($6 > 4) s = s (s == "" ? "" : " ") "w" $6 - 5 }
    END { print lang, s }' all > drawn
share "$(grep -c '^0' drawn)" "$(wc -l < drawn)" "$(awk 'BEGIN { print 30 / (30 + sqrt(300)) }')" \
    "sentences of aa"
sed -n 's/^0 //p' drawn | sed -n 1,900p | sort > a; sort text.aa > b; same a b
sed -n 's/^1 //p' drawn | sed -n 1,300p | sort > a; sort text.bb > b; same a b
sed -n 's/^0 //p' drawn | sed -n 1,900p > a
if cmp -s a text.aa; then fail "sentences come in the order of the text"; fi

# An objective that knows what its pass reads when it has watched another's: it was read so.
"$(dirname "$BIN")/test/tool/auxiliary" "${tiny[@]}" --train aa=aa.shd --train bb=bb.shd \
    --tokens 300 --steps 2 --accumulate 2 --out late --write-batches late.b > read.late
for f in late.b/step-{1.1,1.2,2.1,2.2}.late.safetensors; do
    "$tensor" $f token | tr '\n' ' ' | sed 's/ $//'; echo
done > written.late
same written.late read.late
is "$(wc -l < read.late)" 4 "passes"
if grep -qw 4 read.late; then fail "a pass of late reads <mask>"; fi

# BERT's, XLM's and fairseq's word for it means the opposite
fails 2 '--mask-keep: .*--mask-token for the share .* replaced by <mask>' \
    pretrain "${tiny[@]}" --train aa=aa.shd --mask-keep 0.1 --out no

# masks: shares of predicted rows, of what they read, and of random words, which are all of the
# vocabulary's; rows not predicted read themselves
for f in mlm.b/*; do
    "$tensor" $f token original | awk '{ print NR - 1, $0 }' > of
    "$tensor" $f row target masked | awk 'NR == FNR { row[$1] = $2 " " $3; next }
        { print row[$1], $2, $3; delete row[$1] }
        END { for (r in row) { split(row[r], x); if (x[1] != x[2]) {
            print "changed" } else if (x[2] > 4) print "left" } }' of -
done > read
grep -q changed read && fail "a row that is not predicted was changed"
grep -v left read > predicted
n=$(wc -l < predicted)
awk '$2 != $3 || $4 != ($1 == 4) { exit 1 }' predicted ||
    fail "a target is not what stood there, or <mask> is not told"
share $n "$(wc -l < read)" 0.2 "predicted rows"
share "$(awk '$1 == 4' predicted | wc -l)" $n 0.7 "rows that read <mask>"
share "$(awk '$1 == $2' predicted |
    wc -l)" $n "$(awk 'BEGIN { print 0.1 + 0.2 / 41 }')" "rows that read themselves"
awk '$1 != 4 && $1 != $2 { print $1 }' predicted | sort -n | uniq -c > words
is "$(wc -l < words)" 41 "random words"
awk '{ n += $1; x[NR] = $1 } END { for (i = 1; i <= NR; i++) q += (x[i] - n / NR) ^ 2 / (n / NR)
    exit !(q < 40 + 3 * sqrt(80)) }' words || fail "random words are not evenly spread"

# unmt: noise, languages of the sides
finetune "${tiny[@]}" --task unmt --train aa=aa.shd --train bb=bb.shd --steps 6 --tokens 1500 \
    --denoise 1 \
    --denoise-tokens 8000 --drop 0.15 --blank 0.25 --shuffle 3 --out noise --write-batches noise.b
# sentences SUFFIX: of the sources and of the targets: language, words
sentences() {
    rows noise.b $1 $2 | awk \
        '$5 == 0 { if (NR > 1) print s; s = $4 } $3 > 1 { s = s " " $3 } END { print s }'
}
for o in denoise back; do for side in src dec; do sentences $o $side. > $o.$side; done; done
paste -d '|' denoise.src denoise.dec | awk -F '|' '
    { n = split($1, x, " "); m = split($2, y, " "); if (x[1] != y[1]) bad = "languages differ"
      for (k in at) delete at[k]
      for (j = 2; j <= m; j++) at[y[j]] = j
      words += m - 1; kept += n - 1
      for (i = 2; i <= n; i++) blank += x[i] == 4
      for (i = 2; i <= n; i++) for (j = i + 1; j <= n; j++) if (x[i] != 4 && x[j] != 4) {
          if (!(x[i] in at) || !(x[j] in at)) bad = "a word that is not the sentence'\''s"
          d = at[x[i]] - at[x[j]]
          if (d >= 3) bad = "a word moved 3 places or more"
          if (d == 1 || d == -1) { next_to++; swapped += d == 1 }
      } }
    END { if (bad) print bad; else print words, kept, blank, next_to, swapped }' > told
[[ $(cat told) =~ ^[0-9] ]] || fail "noise: $(cat told)"
read -r words kept blank next_to swapped < told
share $((words - kept)) $words 0.15 "words dropped"
share $blank $kept 0.25 "words blanked"
share $swapped $next_to "$(awk 'BEGIN { print 2 / 9 }')" "neighbours that changed places"
is "$(awk '{ print $1 }' denoise.dec | sort -u | paste -sd ' ')" "0 1" "languages denoised"
# back-translation: the real sentence is written, its language the other one; only words of the
# language are read
paste -d '|' back.src back.dec | awk -F '|' '{ n = split($1, x, " "); split($2, y, " ")
    if (x[1] == y[1]) { print "both sides are in language " x[1]; exit 1 }
    for (i = 2; i <= n; i++) if (x[1] == 0 && x[i] > 25 || x[1] == 1 && x[i] < 25) {
        print "a word of the other language"; exit 1 }
}' || fail "back-translation"
for l in 0 1; do
    awk -v l=$l \
        '$1 == l { s = ""
            for (i = 2; i <= NF; i++) s = s (i > 2 ? " " : "") "w" $i - 5
            print s }' back.dec | sort -u > a
    [ -s a ] || fail "nothing was translated back from language $l"
    [ -z "$(comm -23 a <(sort -u text.$([ $l = 0 ] && echo aa || echo bb)))" ] ||
        fail "a sentence that is not in the text of language $l"
done

# a loss's weight, for each of two micro-batches: the ramp 0:1,2:0 that was given; by default
# denoising goes from 1 down and ALIGN-MLM has 10, the others 1
weight() { "$tensor" $1.safetensors weight; }
is "$(for f in un.b/step-{1.1,2.2}.denoise un.b/step-3.1.back pre.b/step-2.1.{mlm,gc}; do weight $f
    done | paste -sd ' ')" "0.5 0.25 0.5 0.5 0.5" "weights of losses"
printf 'w1\tw31\n' > words
finetune "${tiny[@]}" --task unmt --train aa=aa.shd --train bb=bb.shd --steps 1 --tokens 100 \
    --out usual --write-batches usual.b
pretrain "${tiny[@]}" --train aa=aa.shd --train bb=bb.shd --objective mlm,align --dict aa-bb=words \
    --no-encoder-langs --steps 1 --tokens 100 --out aligned --write-batches aligned.b
is "$(weight usual.b/step-1.1.denoise) $(weight aligned.b/step-1.1.align)" "1 10" "usual weights"

# A batch is closed by the sentence that reaches its tokens: one that is just full takes no more.
# Sentences of 3 tokens, and of 4 on the other side, have 5 rows and 6 with <s> and </s>; an epoch
# is as many steps as fill its rows.
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "w$i w20 w21"; done > three
sed 's/$/ w22/' three > four
for l in aa bb; do binarize -q -v vocab -l $l -o $l.three.shd < three; done
# filled NAME ARRAY OPTIONS...: "rows in each file | steps"
filled() {
    local name=$1 array=$2 f; shift 2
    rm -rf full full.b
    "$@" --out full --write-batches full.b
    for f in full.b/*.$name.safetensors; do "$tensor" $f $array | wc -l; done | sort -u |
        paste -sd ' '
    sed -nE 's/.*"step": "([0-9]+)".*/\1/p' full/last/state.json
}
# counted ARRAY...: the log's tokens are the rows of these arrays of all batches
counted() {
    is "$(for f in full.b/*; do "$tensor" $f "$@"; done |
        awk '{ for (i = 1; i <= NF; i++) n += $i != "-" } END { print n }')" \
        "$(sed -nE 's/.*"tokens":([0-9]+),.*/\1/p' full/log.jsonl)" "tokens of the log"
}
full() { is "$(filled "${@:2}" | paste -sd ' ')" "$1" "rows and steps of ${*:2}"; }
text=(pretrain "${tiny[@]}" --train aa=aa.three.shd)
pairs=(pretrain "${tiny[@]}" --parallel aa-bb=three,four --objective tlm)
# 12 sentences: 60 rows, 3 batches of 20; 2.4 of 25; 4 of 3 sentences
full "20 3" mlm token "${text[@]}" --tokens 20 --epochs 1
full "20 4" mlm token "${text[@]}" --tokens 16 --epochs 1
full "25 3" mlm token "${text[@]}" --tokens 21 --epochs 1
full "25 2" mlm token "${text[@]}" --tokens 21 --epochs 1 --accumulate 2
full "15 4" mlm token "${text[@]}" --batch 3 --epochs 1
counted token
# 48 tokens with their </s> in pieces of 8; 12 pairs of 11 rows, of 10 in PPA's form; two joined
full "16 3" mlm token "${text[@]}" --stream 8 --tokens 16 --epochs 1
full "22 6" tlm token "${pairs[@]}" --tokens 22 --epochs 1
full "33 6" tlm token "${pairs[@]}" --tokens 23 --epochs 1
full "20 2" tlm token "${pairs[@]}" --tlm-form ppa --tokens 20 --steps 2
full "22 6" tlm token "${pairs[@]}" --segment 12 --tokens 22 --epochs 1
full "33 4" tlm token "${pairs[@]}" --batch 3 --epochs 1
# Two objectives that read the same text in each step take a pass of it together: of 60 rows, 20 by
# mlm and 20 by mass, a step has 40. Of text and pairs read side by side, 60 rows and 132, the pass
# ends after the pairs' 6 steps of 22; taking turns, after 60 / 22 + 6. What MASS leaves out is no
# part of its pass.
full "20 2" mlm token "${text[@]}" --objective mlm,mass --mass-min-len 3 --tokens 20 --epochs 1
both=(pretrain "${tiny[@]}" --train aa=aa.three.shd --parallel aa-bb=three,four --tokens 22
    --objective mlm,tlm --epochs 1)
full "25 6" mlm token "${both[@]}"
full "25 9" mlm token "${both[@]}" --mix by-data
{ cat three; for i in 1 2 3 4 5 6 7 8; do echo w20; done; } > uneven
binarize -q -v vocab -l aa -o aa.uneven.shd < uneven
full "20 3" mass src.token "${text[@]:0:${#text[@]}-1}" aa=aa.uneven.shd --objective mass \
    --mass-min-len 3 --tokens 20 --epochs 1
# the encoder's rows of MASS; both sides' of translation, 5 and 5, and of denoising, 5 and 4,
# against twice --tokens; of back the real sentences', of which a decoder reads <s> and words
full "20 2" mass src.token "${text[@]}" --objective mass --mass-min-len 3 --tokens 20 --steps 2
full "15 2" mass src.token "${text[@]}" --objective mass --mass-min-len 3 --batch 3 --steps 2
counted src.token dec.token
tune=(finetune "${tiny[@]}" --parallel aa-bb=three,four --task mt --steps 2)
full "10 2" mt src.token "${tune[@]}" --tokens 10
full "15 2" mt src.token "${tune[@]}" --tokens 11
full "15 2" mt dec.token "${tune[@]}" --batch 3
tune=(finetune "${tiny[@]}" --train aa=aa.three.shd --train bb=bb.three.shd --task unmt --steps 2
    --drop 0)
full "10 2" denoise src.token "${tune[@]}" --tokens 18
full "15 2" denoise src.token "${tune[@]}" --tokens 20
full "10 2" denoise src.token "${tune[@]}" --tokens 40 --denoise-tokens 9
full "15 2" denoise src.token "${tune[@]}" --batch 3
fails 1 '--denoise-tokens is of batches by --tokens; with --batch 3 those' "${tune[@]}" --batch 3 \
    --denoise-tokens 9 --out none
full "16 2" back dec.token "${tune[@]}" --tokens 20
full "20 2" back dec.token "${tune[@]}" --tokens 21
full "12 2" back dec.token "${tune[@]}" --batch 3
counted src.token dec.token
