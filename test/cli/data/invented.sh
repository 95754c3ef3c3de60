# MERGES=N invent OPTION...: text and tasks of two invented languages (synth-corpus) in s, its
# tokenizer and codes, and what a model is pre-trained on: bpe.xa, bpe.xb, vocab, xa.shd, xb.shd.
invent() {
    local l
    synth-corpus -q --out s "$@"
    tokenize --settings > tokenizer
    for l in xa xb; do tokenize -q -l $l < s/mono.$l > tok.$l; done
    bpe-learn -q -n "$MERGES" tok.xa tok.xb > codes
    for l in xa xb; do bpe-apply -q -c codes < tok.$l > bpe.$l; done
    vocab-count -q bpe.xa bpe.xb > vocab
    for l in xa xb; do binarize -q -v vocab -l $l -o $l.shd < bpe.$l; done
}
