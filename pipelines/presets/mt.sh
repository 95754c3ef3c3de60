# mt: a translator of one's own sentence pairs; the more there are, the larger and the longer.
setting PRECISION auto
# sized PAIRS: what follows the number of pairs: up to which, merges, layers of encoder and decoder,
# width, heads, dropout, tokens a step, steps at most, steps between validations
sized() {
    local most=0 merges layers width heads dropout tokens steps every
    while read -r most merges layers width heads dropout tokens steps every; do
        [ "$1" -gt "$most" ] || break
    done <<'END'
10000         3000 2  192  4 0.2  2000  1200   150
80000         6000 3  256  4 0.1  2500  1600   200
400000       10000 3  256  4 0.1  3000  8000   500
3000000      20000 6  512  8 0.1  8000 40000  1000
99999999999  32000 6 1024 16 0.1 16000 100000 2000
END
    setting PLAN_NOTE "20 times the text on disk, $([ $most -le 400000 ] && echo 2 || echo 8) GB of
        memory; settings of up to $most pairs"
    setting TOKENIZE --case-marker
    setting MERGES $merges
    setting MODEL "--no-encoder-langs --layers $layers --dim $width --heads $heads
        --ffn $((4 * width)) --dropout $dropout"
    setting MT_STEPS $steps
    setting MT "--precision $PRECISION --tokens $tokens --lr 1e-3 --warmup $((MT_STEPS / 5))
        --schedule linear --beta2 0.98 --label-smoothing 0.1 --valid-every $every --patience 4
        --save-every $every --keep 1 --steps $MT_STEPS"
    setting DECODE "--beam 5"
    preset mini
}
