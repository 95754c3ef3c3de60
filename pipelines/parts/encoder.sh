# encoder FOLDER SEED "OPTIONS" [INPUT...]: FOLDER/encoder, pretrained on the text of all languages
# (parts/text.sh) by pretrain's OPTIONS, which read INPUTs.
encoder() {
    local l trains= valids= shards=
    for l in $LANGS; do
        trains+=" --train $l=shd/train.$l.shd" valids+=" --valid $l=shd/valid.$l.shd"
        shards+=" shd/train.$l.shd shd/valid.$l.shd"
    done
    train ${1//\//.}.encoder  $1/encoder/ : vocab codes tokenizer $shards ${*:4} : \
        "exec pretrain --vocab vocab --codes codes --tokenizer tokenizer $MODEL $3$trains$valids
            $PRETRAIN --seed $2 --device $DEVICE $RESUME --out $1/encoder"
}
# The objective of captions beside their translations, and what it reads.
tlm="--parallel $A-$B=bpe/train.$A,bpe/train.$B --tlm-order toss"
tlm_reads="bpe/train.$A bpe/train.$B"
