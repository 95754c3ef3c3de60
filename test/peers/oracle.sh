#!/bin/bash
# What pieces can answer at best (test/bench/oracle.c) on XQuAD: SQuAD's exact match of the pieces
# that an answer touches, for sub-words learnt on the contexts themselves. XQUAD: a folder with
# xquad.LANG.json (or .json.zst); PYTHON: one with tokenizers and sentencepiece. Fails below an
# exact match of 97 or an F1 of 99 with any of ours, WordPiece and SentencePiece.
set -eu -o pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/../.."
make -s programs bench/oracle
oracle=$PWD/$(make -s print-O)/test/bench/oracle
PATH=$PWD/bin:$PATH
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
status=0
for l in en de es ar hi zh; do
    if [ -f "$XQUAD/xquad.$l.json" ]; then cp "$XQUAD/xquad.$l.json" "$work/$l.json"
    else zstd -dqc "$XQUAD/xquad.$l.json.zst" > "$work/$l.json"; fi
done
"${PYTHON:-python3}" - "$work" <<'END'
import json, sys
import sentencepiece as spm
from tokenizers import BertWordPieceTokenizer
where, text = sys.argv[1], []
for l in "en de es ar hi zh".split():
    rows = [p["context"].replace("\n", " ") for a in json.load(open(f"{where}/{l}.json"))["data"]
            for p in a["paragraphs"]]
    open(f"{where}/{l}.txt", "w").write("\n".join(rows) + "\n")
    text += rows
t = BertWordPieceTokenizer(lowercase=True)
t.train_from_iterator(text, vocab_size=16000, show_progress=False)
t.save_model(where, "wordpiece")
spm.SentencePieceTrainer.train(sentence_iterator=iter(text), model_prefix=f"{where}/spm",
    vocab_size=16000, minloglevel=2, max_sentence_length=100000,
                               normalization_rule_name="nmt_nfkc", character_coverage=0.9995)
END
mkdir "$work/ours"
tokenize --case-marker --settings > "$work/ours/tokenizer"
for l in en de es ar hi zh; do tokenize -q -l $l --case-marker < "$work/$l.txt"
done > "$work/all.tok"
bpe-learn -q -n 12000 "$work/all.tok" > "$work/ours/codes"
for l in en de es ar hi zh; do
    for t in ours wordpiece-vocab.txt spm.model; do
        "$oracle" $l "$work/$t" "$work/$l.json" |
            score -q -m squad --resamples 0 $l="$work/$l.json" > "$work/got"
        awk -F '\t' -v t="$t" -v l=$l \
            'NR > 1 { v[$2] = $3 }
            END {
                printf "%s %-20s exact match %6.2f  F1 %6.2f\n", l, t, v["exact_match"], v["f1"]
                exit v["exact_match"] < 97 || v["f1"] < 99
            }' "$work/got" || status=1
    done
done
exit $status
