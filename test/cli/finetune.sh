# An encoder-decoder learns to reverse and to copy; an interrupted run ends with the bytes of an
# unbroken one.
. "$TOP/test/cli/lib.sh"
awk 'BEGIN { srand(3); for (i = 0; i < 1500; i++) { n = 2 + int(rand() * 5); s = r = "";
    for (j = 0; j < n; j++) { w = "w" int(rand() * 12); s = s (j ? " " : "") w;
        r = w (j ? " " : "") r }
    print s > "s"; print r > "r" } }'
for f in s r; do head -n 1300 $f > train.$f; tail -n 200 $f > test.$f; done
tr ' ' '\n' < s | sort | uniq -c | awk '{ print $2, $1 }' > vocab
args=(--quiet --task mt -v vocab --parallel aa-bb=train.s,train.r --parallel bb-cc=train.s,train.s \
    --seed 3
    --layers 1 --dim 64 --heads 4 --ffn 128 --positions 16 --tokens 300 --steps 700 --lr 4e-3 \
        --warmup 50 --schedule linear
    --dropout 0 --attention-dropout 0 --label-smoothing 0 --save-every 20 \
        --valid aa-bb=test.s,test.r --valid-every 300)
finetune "${args[@]}" --out whole
translate --quiet --model whole/last --src aa --tgt bb < test.s > reversed
translate --quiet --model whole/last --src bb --tgt cc < test.s > copied
for pair in "reversed test.r" "copied test.s"; do
    set -- $pair
    score=$(bleu --quiet --multi $2 < $1 | sed 's/BLEU = \([0-9.]*\),.*/\1/')
    awk -v s="$score" 'BEGIN { exit !(s > 99) }' || fail "$1: BLEU $score, not above 99"
done
# beam search agrees where the model is sure; an empty line stays empty
translate --quiet --model whole/last --src aa --tgt bb --beam 4 < test.s > beam
[ "$(diff reversed beam | grep -c '^<')" -le 2 ] ||
    fail "beam search differs from greedy on more than 2 of 200 sentences"
is "$(printf '\nw1 w2\n\n' | translate --quiet --model whole/last --src aa --tgt bb | wc -l)" 3

# killed again and again, and stopped politely, the run ends with the same files
i=0
while :; do
    i=$((i + 1)); [ $i -lt 60 ] || fail "the broken run does not come to an end"
    finetune "${args[@]}" --out broken --resume & pid=$!
    # ever longer: a slow machine gets there too
    sleep "$(awk -v i=$i -v r=$RANDOM 'BEGIN { print 0.3 + 0.15 * i + r / 65536 }')"
    if [ $((i % 3)) = 0 ]; then kill -TERM $pid 2>/dev/null ||
        true; else kill -9 $pid 2>/dev/null || true; fi
    status=0; wait $pid || status=$?
    # (a signal that comes before the program listens to it ends it)
    case $status in 0) break ;; 75 | 137 | 143) ;; *) fail "status $status" ;; esac
done
[ $i -gt 1 ] || fail "the run was over before it could be broken"
for d in best last; do
    (cd whole/$d && find . -type f | sort | xargs sha256sum) > a; (cd broken/$d && find . -type f |
        sort | xargs sha256sum) > b
    same a b
done
is "$(ls broken/checkpoints)" "$(ls whole/checkpoints)" checkpoints
