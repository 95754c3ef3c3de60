#!/usr/bin/env python3
"""Fine-tuning beside transformers: a small BERT, made and pre-trained here by transformers on
captions, imported by ckpt, learns SICK's entailment by finetune and by transformers, with the
same optimiser and schedule and the same batches in the same order (those that finetune wrote),
three seeds each; new heads and dropout are drawn by each side. Prints accuracies on the test set,
their means, and seconds.

    PATH=bin:$PATH PYTHON=... python finetune.py DATA        (multi30k/, nli/sick/ of DATA)

LAYERS, DIM, STEPS (of pre-training), EPOCHS, LR, SEEDS, THREADS in the environment change it."""

import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
import torch
from safetensors.torch import load_file
from tokenizers import BertWordPieceTokenizer
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertTokenizer,
    get_linear_schedule_with_warmup,
)


def env(name, default):
    return type(default)(os.environ.get(name, default))


LAYERS, DIM, STEPS, EPOCHS = env("LAYERS", 2), env("DIM", 128), env("STEPS", 1000), env("EPOCHS", 4)
LR, SEEDS, THREADS = env("LR", 3e-4), env("SEEDS", 3), env("THREADS", 2)
torch.set_num_threads(THREADS)


def lines(path):
    cat = "zstdcat" if path.endswith(".zst") else "zcat -f"
    return subprocess.run(
        f"{cat} '{path}'", shell=True, check=True, capture_output=True, text=True
    ).stdout.splitlines()


def find(folder, stem):
    return next(os.path.join(folder, f) for f in sorted(os.listdir(folder)) if f.startswith(stem))


def schedule(model, lr, steps):
    """AdamW without decay, warm-up over 10%, linear decay: finetune's defaults."""
    opt = torch.optim.AdamW(model.parameters(), lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0)
    return opt, get_linear_schedule_with_warmup(opt, math.ceil(0.1 * steps), steps)


def step(model, loss, opt, lr):
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    lr.step()
    opt.zero_grad()


def pretrain(captions, folder):
    with open("captions", "w") as f:
        f.write("\n".join(captions))
    made = BertWordPieceTokenizer(lowercase=True)
    made.train(["captions"], vocab_size=4000, show_progress=False)
    made.save_model(folder)
    tokenizer = BertTokenizer(folder + "/vocab.txt", do_lower_case=True)
    torch.manual_seed(1)
    model = BertForMaskedLM(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=DIM,
            num_hidden_layers=LAYERS,
            num_attention_heads=DIM // 32,
            intermediate_size=4 * DIM,
            max_position_embeddings=128,
        )
    )
    opt, lr = schedule(model, 1e-3, STEPS)
    rng = random.Random(1)
    for _ in range(STEPS):
        x = tokenizer(
            rng.sample(captions, 64),
            return_tensors="pt",
            padding=True,
            truncation=True,
            max_length=64,
        )
        y = x["input_ids"].clone()
        chosen = (torch.rand(y.shape) < 0.15) & (y > 4)
        x["input_ids"][chosen & (torch.rand(y.shape) < 0.8)] = tokenizer.mask_token_id
        loss = model(**x, labels=y.masked_fill(~chosen, -100)).loss
        step(model, loss, opt, lr)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    print(f"pre-trained: {STEPS} steps, last loss {loss.item():.2f}", flush=True)
    return tokenizer


def batches_of(folder, tokenizer, train):
    """The numbers of the training examples in each batch that finetune wrote, in its order."""
    specials = ["[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]"]
    with open("base/vocab") as f:
        pieces = specials + [line.split(" ")[0].rstrip("\n") for line in f]
    rows = tokenizer(
        [a for a, _, _ in train],
        [b for _, b, _ in train],
        truncation="longest_first",
        max_length=128,
    )["input_ids"]
    known = {}
    for i, r in enumerate(rows):
        known.setdefault(tuple(tokenizer.convert_ids_to_tokens(r)), []).append(i)
    out = []
    for step in range(1, len(os.listdir(folder)) + 1):
        b = load_file(f"{folder}/step-{step}.1.class.safetensors")
        at, token = b["at"].tolist(), [pieces[t] for t in b["token"].tolist()]
        out.append([])
        for i, j in zip(at, at[1:]):
            same = known[tuple(token[i:j])]
            out[-1].append(same[0])
            same.append(same.pop(0))  # equal pairs take turns
    return out


def theirs(tokenizer, folder, train, test, seed):
    torch.manual_seed(seed)
    model = BertForSequenceClassification.from_pretrained(folder, num_labels=3)
    order = batches_of(f"batches{seed}", tokenizer, train)
    assert len(order) == EPOCHS * math.ceil(len(train) / 32)
    opt, lr = schedule(model, LR, len(order))
    names = sorted({e[2] for e in train})

    def batch(of):
        x = tokenizer(
            [a for a, _, _ in of],
            [b for _, b, _ in of],
            return_tensors="pt",
            padding=True,
            truncation="longest_first",
            max_length=128,
        )
        return x, torch.tensor([names.index(c) for _, _, c in of])

    started = time.time()
    model.train()
    for numbers in order:
        x, y = batch([train[i] for i in numbers])
        step(model, model(**x, labels=y).loss, opt, lr)
    seconds, hits = time.time() - started, 0
    model.eval()
    with torch.no_grad():
        for i in range(0, len(test), 64):
            x, y = batch(test[i : i + 64])
            hits += int((model(**x).logits.argmax(-1) == y).sum())
    return 100 * hits / len(test), seconds


def ours(train, test, seed):
    started = time.time()
    subprocess.run(
        [
            "finetune",
            "-q",
            "--task",
            "nli",
            "--model",
            "base",
            "--head",
            "tanh",
            "--train",
            "en=" + train,
            "--valid",
            "en=" + test,
            "--valid-every",
            "0",
            "--epochs",
            str(EPOCHS),
            "--lr",
            str(LR),
            "--seed",
            str(seed),
            "--threads",
            str(THREADS),
            "--write-batches",
            f"batches{seed}",
            "--out",
            f"run{seed}",
        ],
        check=True,
    )
    said = [json.loads(line) for line in open(f"run{seed}/log.jsonl") if '"valid"' in line]
    return said[-1]["en.accuracy"], time.time() - started


def told(name, runs):
    values = [v for v, _ in runs]
    mean = sum(values) / len(values)
    sd = math.sqrt(sum((v - mean) ** 2 for v in values) / max(len(values) - 1, 1))
    print(
        f"{name}\t{' '.join(f'{v:.2f}' for v in values)}\tmean {mean:.2f}\tsd {sd:.2f}\t"
        f"{sum(s for _, s in runs) / len(runs):.1f} s",
        flush=True,
    )


def main(data):
    sick, captions = os.path.join(data, "nli/sick"), os.path.join(data, "multi30k")
    files = {k: find(sick, "SICK_" + k) for k in ("train", "test")}
    sets = {}
    for k, path in files.items():
        rows = [line.split("\t") for line in lines(path)]
        at = [rows[0].index(n) for n in ("sentence_A", "sentence_B", "entailment_judgment")]
        sets[k] = [tuple(r[i] for i in at) for r in rows[1:] if len(r) > max(at)]
    files = {k: os.path.abspath(p) for k, p in files.items()}
    text = lines(find(captions, "train.en"))
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        os.mkdir("bert")
        tokenizer = pretrain(text, "bert")
        subprocess.run(
            ["ckpt", "import", "-q", "--lang-code", "en", "-o", "base", "bert"], check=True
        )
        classes = [e[2] for e in sets["test"]]
        majority = max(classes.count(c) for c in set(classes)) / len(classes)
        print(f"majority\t{100 * majority:.2f}")
        told("ours", [ours(files["train"], files["test"], s) for s in range(1, SEEDS + 1)])
        told(
            "transformers",
            [
                theirs(tokenizer, "bert", sets["train"], sets["test"], s)
                for s in range(1, SEEDS + 1)
            ],
        )
        os.chdir("/")


main(os.path.abspath(sys.argv[1]))
