# own: a first model of one's own text: 200 CPU seconds for three languages of 29,000 captions;
# more steps make a better one.
setting PRECISION auto
setting SYSTEMS mlm-gc
# sized MEGABYTES: what follows the size of the smallest language's text. What little text teaches
# in few dimensions, re-estimation on all contexts completes; much text wants neither
# (docs/lab/results/dictionary.md).
sized() {
    local most=0 merges types dim again layers width heads tokens steps
    while read -r most merges types dim again layers width heads tokens steps; do
        [ "$1" -gt "$most" ] || break
    done <<'END'
20        8000  20000  50 yes 3 192 4 2000   600
200      16000  50000 200 no  4 256 4 2500  4000
2000     32000 100000 300 no  4 256 4 4000 10000
99999999 60000 200000 300 no  6 512 8 8000 60000
END
    setting PLAN_NOTE "20 times the text on disk, $([ $most -le 200 ] && echo 2 || echo 8) GB of
        memory; settings of texts of up to $most MB"
    setting MERGES $merges
    setting WORD_TYPES "$types" none
    setting WORD_VECTORS "--dim $dim"
    setting RE_ESTIMATE "${again#no}"
    setting DICT "--map vecmap --spelling 0.3 --frequency 0.05 --restarts 1"
    setting MODEL "--no-encoder-langs --layers $layers --dim $width --heads $heads
        --ffn $((4 * width)) --dropout 0.1"
    setting PRETRAIN_STEPS $steps
    setting PRETRAIN "--tokens $tokens --lr 1e-3 --schedule linear
        --warmup $((steps < 1200 ? steps / 6 : 200)) --precision $PRECISION
        --valid-every $((steps / 6)) --valid-sentences 300
        --save-every $((steps / 6)) --keep 1 --steps $PRETRAIN_STEPS"
    preset mini
}
