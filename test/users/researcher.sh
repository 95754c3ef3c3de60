# A researcher's way: a folder as transformers has it (a stand-in for multilingual BERT) and raw
# sentence pairs become an aligned model: before and after, how many held-out sentences find their
# translation, and a folder that sentence-transformers opens.
. "$TOP/test/cli/lib.sh"
covered "the tests of programs"
unset MAKEFLAGS MAKELEVEL MFLAGS CORPUS_CACHE RUN SEEDS LIFELINE A B SCALE VALID TEST MONO START \
    TEXT GOLD LAUNCH_CPU LAUNCH_GPU GPU_JOBS CPU_JOBS
# word for word, 60 words of each language, in the same order
awk 'BEGIN { srand(7); for (i = 0; i < 1500; i++) { a = b = ""
    for (j = 0; j < 5 + int(rand() * 6); j++) {
        t = 10 + int(rand() * 60); s = j ? " " : ""; a = a s "ka" t "na"; b = b s "mo" t "ti" }
    print a "." > "pairs.xa"; print b "." > "pairs.xb" } }'
cat pairs.xa pairs.xb | "$(dirname "$BIN")/test/tool/standin" mbert 'm BERT'
export MODEL="m BERT" PARALLEL="xa-xb=pairs.xa,pairs.xb" BIN RUNS=$PWD/runs MAKE=make MAKEFLAGS= \
    DEVICE=cpu VALID_LINES=100 TEST_LINES=150 ALIGN="--objective moco --pool mean --batch 16
        --queue 256 --queue-start empty --momentum 0.99 --projection 32 --min-tokens 3 --lr 5e-3
        --dropout 0 --steps 200 --warmup 20 --valid-every 50 --save-every 0 --select best"
align() { "$TOP/pipelines/conduct" "$1" align; }
align pipeline > out 2>&1 || { tail -n 5 out; fail "pipeline/align"; }
is "$(align why)" "nothing to do"
cd runs/align-xa-xb-align
# random weights find next to none; means of states, which it was trained on, nearly all
is "$(cut -f 2,3,4 results.tsv)" "$(for y in before aligned; do for of in '' ', mean of states'; do
    printf '%s\t%s\taccuracy%s\n' $y xa-xb "$of" $y xb-xa "$of"; done; done)"
awk -F'\t' '$2 == "before" && $5 > .1 || $2 == "aligned" && $4 ~ /mean/ && $5 < .9 { bad = 1 }
    END { exit bad }' results.tsv || { cat results.tsv; fail "not aligned"; }
# what sentence-transformers reads: the tokeniser that it came with, and the pooling
same export/vocab.txt '../../m BERT/vocab.txt'
for want in '"pooling_mode_mean_tokens": true' '"pooling_mode_cls_token": false' \
    '"word_embedding_dimension": 32'; do
    grep -qF "$want" export/1_Pooling/config.json || fail "$(cat export/1_Pooling/config.json)"
done
is "$(grep -o '"path": "[^"]*"' export/modules.json)" "$(printf '"path": "%s"\n' '' 1_Pooling)"
grep -q '"model_type":\s*"bert"' export/config.json || fail "$(cat export/config.json)"
# the lines that it ends with, pasted: line n of one is found beside line n of the other
sed -n '/^how to use it/,$p' ../../out | grep -A1 -E '^  (vectors|the same|translations)' |
    grep -E '^  [^ ]*/' > lines
is "$(wc -l < lines)" 3
bash lines > mined
awk '{ n++; right += $2 == $3 } END { exit n < 70 || right < .9 * n }' mined ||
    fail "$(wc -l < mined) mined: $(head -n 5 mined)"
. "$TOP/test/tool/browser.sh"
! can_look || is "$(looked report.html 390 1280 | cut -d' ' -f 1-4)" "390 dark cards 0
390 light cards 0
1280 dark table 0
1280 light table 0" "$(looked report.html 390 1280)"
