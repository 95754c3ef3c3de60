# The systems of xlu: xlu_encoder FOLDER SEED SYSTEM; Eq. 6 is what -output has. Expects
# parts/encoder.sh and counts.sh, $tlm.
part ngrams
xlu_encoder() {
    local gc="--cooc cooc/all.cooc $GC"
    case $3 in
    xlm) encoder $1 $2 "--objective mlm";;
    pmi) encoder $1 $2 "--objective mlm --mask-scheme pmi$named" $lists;;
    gc) encoder $1 $2 "--objective mlm,gc $gc" cooc/all.cooc;;
    tlm) encoder $1 $2 "--objective mlm,tlm $tlm" $tlm_reads;;
    tlm-gc) encoder $1 $2 "--objective mlm,tlm,gc $tlm $gc" $tlm_reads cooc/all.cooc;;
    gc-output) encoder $1 $2 "--objective mlm,gc $gc --gc-form output" cooc/all.cooc;;
    tlm-gc-output) encoder $1 $2 "--objective mlm,tlm,gc $tlm $gc --gc-form output" $tlm_reads \
        cooc/all.cooc;;
    esac
    quick ${1//\//.}.log  $1/log.rows : $1/encoder : \
        "score --log $1/encoder/log.jsonl --row '$2,${title[$3]},-' > $1/log.rows"
    scores+=" $1/log.rows"
}
for y in $XLU_SYSTEMS; do
    [ $y = xlm ] || compare "${title[$y]}" XLM
    [[ $y != tlm-gc* ]] || compare "${title[$y]}" XLM+TLM
done
