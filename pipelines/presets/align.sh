# align: what PPA (Pan et al. 2021) does with a model of somebody's own, by how many pairs there
# are. A small model learns at ten times the rate of mBERT's size.
sized() {
    local most=0 batch queue momentum epochs rate
    while read -r most batch queue momentum epochs; do
        [ "$1" -gt "$most" ] || break
    done <<'END'
2000         16   256 0.99  30
20000       128  1024 0.99  10
200000      128  8192 0.99   4
99999999999 128 32000 0.999  2
END
    # at most a quarter of the pairs that are learnt from
    [ $queue -le $(($1 / 8)) ] || queue=$(($1 / 8 / batch * batch))
    [ $queue -gt 0 ] || queue=$batch
    rate=3e-4; [ "$start_width" -lt 512 ] || rate=3e-5
    setting PLAN_NOTE "five times the model on disk; settings of up to $most pairs"
    setting ALIGN "--batch $batch --queue $queue --queue-start empty --momentum $momentum
        --min-tokens 5 --lr $rate --epochs $epochs --select best --save-every 0
        --valid-every $(($1 < batch ? 1 : $1 / batch))"
}
