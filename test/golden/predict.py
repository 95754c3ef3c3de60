#!/usr/bin/env python3
"""Makes test/golden/predict: tiny models with random weights as transformers saves them, text, and what transformers makes of
the text by its own tokenisers, one example at a time without padding: labels with probabilities, tags with log p, answers with
scores by the windows of Devlin et al.'s run_squad.py, written here from its description. test/cli/predict.sh compares.

    test/golden/predict.py test/golden/predict        (torch, transformers, sentencepiece from PyPI)
"""

import json, os, random, shutil, sys

sys.argv.append("")
out = sys.argv[1]
here = os.path.dirname(os.path.abspath(__file__))
sys.argv = ["interchange.py", "/tmp", "nothing"]
exec(open(f"{here}/interchange.py", encoding="utf-8").read())
shutil.rmtree(out, ignore_errors=True)
os.makedirs(out)
POS = 40
random.seed(4)
STEMS = [w for w in WORDS if not w.startswith("##")]
ENDS = [w[2:] for w in WORDS if w.startswith("##")] + [""] * 4
MARKS = [",", ".", "?", "\u00fc", "42"]


def word():
    return (
        random.choice(STEMS) + random.choice(ENDS)
        if random.random() < 0.85
        else random.choice(MARKS)
    )


def text(n):
    return " ".join(word() for _ in range(n))


TOKENS = ["[PAD]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ",", ".", "?"] + WORDS


def bert_model(kind, dir, **more):
    os.makedirs(dir)
    c = T.BertConfig(
        vocab_size=len(TOKENS),
        hidden_size=D,
        num_hidden_layers=2,
        num_attention_heads=HEADS,
        intermediate_size=FF,
        max_position_embeddings=POS,
        type_vocab_size=2,
        pad_token_id=0,
        **more,
    )
    m = shake(kind(c))
    weights(m, dir, "safetensors")
    write(f"{dir}/vocab.txt", "".join(t + "\n" for t in TOKENS))
    write(
        f"{dir}/tokenizer_config.json",
        json.dumps(
            {"tokenizer_class": "BertTokenizer", "do_lower_case": False, "model_max_length": POS}
        ),
    )
    return m, T.AutoTokenizer.from_pretrained(dir)


def spm_model(dir):
    os.makedirs(dir)
    source = f"{here}/interchange/xlmr/sentencepiece.bpe.model"
    shutil.copy(source, dir)
    import sentencepiece as spm

    n = spm.SentencePieceProcessor(model_file=source).get_piece_size() + 2
    c = T.XLMRobertaConfig(
        vocab_size=n,
        hidden_size=D,
        num_hidden_layers=2,
        num_attention_heads=HEADS,
        intermediate_size=FF,
        max_position_embeddings=POS + 2,
        type_vocab_size=1,
        layer_norm_eps=1e-5,
        **labels("0", "1"),
    )
    m = shake(T.XLMRobertaForSequenceClassification(c))
    weights(m, dir, "safetensors")
    write(
        f"{dir}/tokenizer_config.json",
        json.dumps({"tokenizer_class": "XLMRobertaTokenizer", "model_max_length": POS}),
    )
    return m, T.AutoTokenizer.from_pretrained(dir)


def framed(tok, sides):
    """Cut one token at a time from the longer side, of equals from the second (BERT's and transformers' slow tokenisers; the
    fast ones give the side that was longer the last token)."""
    ids = [tok(s, add_special_tokens=False)["input_ids"] for s in sides]
    two = tok.sep_token == "</s>"
    while sum(map(len, ids)) > POS - 1 - len(ids) - (two and len(ids) == 2):
        ids[0 if len(ids) == 1 or len(ids[0]) > len(ids[1]) else 1].pop()
    row, types = [tok.cls_token_id] + ids[0] + [tok.sep_token_id], [0] * (len(ids[0]) + 2)
    if len(ids) == 2:
        row += [tok.sep_token_id] * two + ids[1] + [tok.sep_token_id]
        types += [0 if two else 1] * (len(row) - len(types))
    return {"input_ids": torch.tensor([row]), "token_type_ids": torch.tensor([types])}


def classify(m, tok, rows, file):
    with open(f"{out}/{file}.in", "w", encoding="utf-8") as a, open(
        f"{out}/{file}.out", "w", encoding="utf-8"
    ) as b:
        for r in rows:
            a.write("\t".join(r) + "\n")
            with torch.no_grad():
                p = m(**framed(tok, r)).logits[0].softmax(0)
            b.write(
                "\t".join([m.config.id2label[int(p.argmax())]] + [f"{v:.6f}" for v in p.tolist()])
                + "\n"
            )


def tags(m, tok):
    with open(f"{out}/ner.in", "w", encoding="utf-8") as a, open(
        f"{out}/ner.out", "w", encoding="utf-8"
    ) as b:
        for n in [3, 1, 12, 7, 2, 9]:
            words = [word() for _ in range(n)]
            if n == 7:
                words[2], words[4] = "\u200d", "W\u00f6rter"  # no piece at all; none that is known
            x = tok(
                [w if w != "\u200d" else "[UNK]" for w in words],
                is_split_into_words=True,
                return_tensors="pt",
            )
            with torch.no_grad():
                z = m(**x).logits[0].log_softmax(1)
            for i, w in enumerate(words):
                row = x.word_ids(0).index(i)
                k = int(z[row].argmax())
                a.write(w + "\n")
                b.write(f"{z[row][k]:.6f}\t{w}\t{m.config.id2label[k]}\n")
            a.write("\n")
            b.write("\n")


def answer(m, tok, question, context, longest, stride, asked):
    """20 best starts and ends of each window, at most 30 tokens, the start's window the one with most context."""
    q = tok(question, add_special_tokens=False)["input_ids"][:asked]
    c = tok(context, add_special_tokens=False, return_offsets_mapping=True)
    ids, spans = c["input_ids"], c["offset_mapping"]
    room, windows, at = longest - len(q) - 3, [], 0
    while True:
        windows.append((at, min(room, len(ids) - at)))
        if at + room >= len(ids):
            break
        at += stride
    best, null = None, None
    for first, n in windows:
        row = (
            [tok.cls_token_id]
            + q
            + [tok.sep_token_id]
            + ids[first : first + n]
            + [tok.sep_token_id]
        )
        types = [0] * (len(q) + 2) + [1] * (n + 1)
        with torch.no_grad():
            y = m(input_ids=torch.tensor([row]), token_type_ids=torch.tensor([types]))
        s, e, base = y.start_logits[0], y.end_logits[0], len(q) + 2
        null = min(null, float(s[0] + e[0])) if null is not None else float(s[0] + e[0])
        top = lambda z: sorted(range(len(row)), key=lambda i: -float(z[i]))[:20]
        for i in top(s):
            for j in top(e):
                t = first + i - base
                if not (base <= i <= j < base + n) or j - i >= 30:
                    continue
                around = lambda w: min(t - w[0], w[0] + w[1] - 1 - t) + 0.01 * w[1]
                holds = [w for w in windows if w[0] <= t < w[0] + w[1]]
                if max(holds, key=around) != (first, n):
                    continue
                score = float(s[i] + e[j])
                if best is None or score > best[0]:
                    best = (score, spans[t][0], spans[first + j - base][1])
    return context[best[1] : best[2]], best[0], null, len(windows)


def questions(m, tok):
    data, gold, most = [], {}, 0
    for i, n in enumerate([3, 30, 90, 11, 200]):
        context, qas = text(n), []
        for k in range(3):
            qas.append({"id": f"{i}.{k}", "question": text(2 + 5 * k)})
            a, score, null, windows = answer(m, tok, qas[-1]["question"], context, POS, 7, 9)
            gold[f"{i}.{k}"] = {"answer": a, "score": round(score, 4), "null_score": round(null, 4)}
            most = max(most, windows)
        data.append({"paragraphs": [{"context": context, "qas": qas}]})
    write(
        f"{out}/qa.in", json.dumps({"version": "1.1", "data": data}, ensure_ascii=False, indent=1)
    )
    write(
        f"{out}/qa.out",
        "".join(
            f"{k}\t{v['answer']}\t{v['score']:.4f}\t{v['null_score']:.4f}\n"
            for k, v in gold.items()
        ),
    )
    assert most > 20


m, tok = bert_model(
    T.BertForSequenceClassification,
    f"{out}/bert_nli",
    **labels("entailment", "neutral", "contradiction"),
)
classify(
    m,
    tok,
    [(text(a), text(b)) for a, b in [(3, 2), (9, 7), (1, 40), (33, 38), (60, 4), (5, 5), (12, 9)]],
    "pairs",
)
classify(m, tok, [(text(n),) for n in (4, 9, 1, 80)], "lines")
m, tok = spm_model(f"{out}/xlmr_pairs")
classify(
    m,
    tok,
    [
        ("ka le tio", "nu ma"),
        ("la te nio mu ka lale", "teti nion " * 12),
        ("nata \ufb01 \u00c4", "kae"),
        ("melu kiotu", "x y"),
    ],
    "spm",
)
tags(*bert_model(T.BertForTokenClassification, f"{out}/bert_ner", **labels("O", "B-PER", "I-PER")))
questions(*bert_model(T.BertForQuestionAnswering, f"{out}/bert_qa"))
