"""Writes test/golden/score: nasty gold files and predictions, and what the official scripts say of them.

usage: SQUAD=evaluate-v1.1.py SQUAD2=evaluate-v2.0.py MLQA=mlqa_evaluation_v1.py CONLLEVAL=conlleval.pl \
       python score_cases.py DIR
Needs seqeval 1.2.2 and scipy. expected.tsv has a row per number: case, metric, value as Python prints it.
"""
import json
import os
import random
import subprocess
import sys
import unicodedata

from scipy import special, stats
from seqeval.metrics import f1_score, precision_score, recall_score

where = sys.argv[1]
rng = random.Random(14)
expected = open(os.path.join(where, "expected.tsv"), "w")


def say(case, metric, value):
    expected.write(f"{case}\t{metric}\t{value!r}\n")


def save(name, what):
    with open(os.path.join(where, name), "w") as f:
        if isinstance(what, str):
            f.write(what)
        else:
            json.dump(what, f, ensure_ascii=False, separators=(",", ":"))
            f.write("\n")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


# --- answers ------------------------------------------------------------------------------------------------
# Unicode 14 and older, without surrogates: Python 3.11 knows no later one.
assigned = [chr(c) for c in range(0x20, 0x110000)
            if not 0xD800 <= c <= 0xDFFF and unicodedata.category(chr(c)) not in ("Cn", "Co", "Cc")]
symbols = [c for c in assigned if unicodedata.category(c)[0] in "PSZ"]
numbers = [c for c in assigned if c.isnumeric()]
marks = [c for c in assigned if unicodedata.category(c)[0] == "M"]
words = {
    "en": "a an the The THE A An than theatre cat Cat U.S. co-op it's 1,000 $5 $ a_the the_ _ \u0391\u03a3 \u039f\u0394\u039f\u03a3 \u0130 \u1e9e",
    "es": "un una unos unas el la los las El LA ella unAs ni\u00f1o Espa\u00f1a \u00bfqu\u00e9? \u00a1s\u00ed! 3\u00ba el\u0301 la-la",
    "de": "ein eine einen einem eines einer der die das den dem des Der DAS dessen Haus Stra\u00dfe \u00dcber \u201ezitiert\u201c 3,5 Di\u0308e",
    "vi": "c\u1ee7a l\u00e0 c\u00e1i chi\u1ebfc nh\u1eefng L\u00c0 C\u1ee7a cu\u0309a la\u0300 nh\u00e0 H\u00e0 N\u1ed9i vi\u1ec7t 5.000",
    "ar": "\u0627\u0644\u0643\u062a\u0627\u0628 \u0643\u062a\u0627\u0628 \u0627\u0644 \u0648\u0627\u0644\u0643\u062a\u0627\u0628 \u0627\u0644\u0644\u063a\u0629 \u0645\u0627\u0644 \u0661\u0662\u0663 \u060c \u061f \u0639\u0627\u0645 \u0627\u0644\u0640\u0643\u062a\u0627\u0628",
    "hi": "\u092d\u093e\u0930\u0924 \u0939\u093f\u0928\u094d\u0926\u0940 \u0967\u0968 \u0964 \u090f\u0915 a the \u0926\u093f\u0932\u094d\u0932\u0940",
    "zh": "\u5317\u4eac \u4e2d\u56fd 2008\u5e748\u6708 Beijing \u3002 \uff0c \u300a\u7ea2\u697c\u68a6\u300b the \u9fa5 \u9fa6 \u9fff \u3400 \u3007 \uff11\uff12 A\u00b7B",
}
words = {k: v.split(" ") for k, v in words.items()}
by_hand = ["", " ", ".", "the", "the a an", "The.", "a\u00a0b", "the\u0301", "a\u200bthe", "\u3000the\u3000cat\u3000",
           "x\u2028the", "$the$", "the\u00b2", "the-cat", "`the`", "x\u0001the", "\u0130\u0131", "\u03a3\u03a3", "\ufb01n"]


def text(lang):
    pieces = []
    for _ in range(rng.randrange(1, 7)):
        r = rng.random()
        if r < 0.72:
            pieces.append(rng.choice(words[lang]))
        elif r < 0.78:
            pieces.append(rng.choice(words["en"]))
        elif r < 0.84:
            pieces.append(rng.choice(words[lang]) + rng.choice(symbols))
        elif r < 0.88:
            pieces.append(rng.choice(symbols) + rng.choice(words[lang]))
        elif r < 0.92:
            pieces.append(rng.choice(words[lang]) + rng.choice(marks + numbers))
        else:
            pieces.append("".join(rng.choice(assigned) for _ in range(rng.randrange(1, 4))))
    return rng.choice([" ", " ", " ", "  ", "\u00a0", ""]).join(pieces)


def perturbed(s, lang):
    r = rng.random()
    if r < 0.3:
        return s
    if r < 0.5:
        return rng.choice(["the ", "", " ", "\u3002", "."]) + s.upper() + rng.choice(["", ".", " a", "\uff01"])
    if r < 0.8:
        parts = s.split(" ")
        rng.shuffle(parts)
        return " ".join(parts[: rng.randrange(1, len(parts) + 1)] + ([text(lang)] if rng.random() < 0.3 else []))
    return rng.choice(by_hand) if r < 0.85 else text(lang)


def questions(lang, n, unanswerable):
    paragraphs, predictions, odds = [], {}, {}
    for i in range(n):
        golds = [rng.choice(by_hand) if i < 40 else text(lang) for _ in range(rng.randrange(1, 4))]
        if unanswerable and rng.random() < 0.4:
            golds = []
        q = {"id": f"{lang}-{i}", "question": "", "answers": [{"text": g} for g in golds]}
        if unanswerable:
            q["is_impossible"] = not golds
        paragraphs.append({"context": "", "qas": [q]})
        if not unanswerable and rng.random() < 0.02:
            continue
        empty = unanswerable and rng.random() < (0.3 if golds else 0.6)
        predictions[q["id"]] = "" if empty else perturbed(rng.choice(golds), lang) if golds else text(lang)
        odds[q["id"]] = round(min(1, max(0, rng.gauss(0.3 if golds else 0.7, 0.25))), 2)
    return {"version": "1.1", "data": [{"title": "t", "paragraphs": paragraphs}]}, predictions, odds


def script(name, *args):
    return json.loads(run(sys.executable, os.environ[name], *[os.path.join(where, a) if i < 2 else a
                                                             for i, a in enumerate(args)]))


for lang in words:
    gold, predictions, _ = questions(lang, 400, False)
    gold["version"] = "1.0"
    save(f"{lang}.gold.json", gold)
    save(f"{lang}.pred.json", predictions)
    for metric, value in script("MLQA", f"{lang}.gold.json", f"{lang}.pred.json", lang).items():
        say(f"mlqa.{lang}", metric, value)
    for metric, value in script("SQUAD", f"{lang}.gold.json", f"{lang}.pred.json").items():
        say(f"squad.{lang}", metric, value)

gold, predictions, odds = questions("en", 600, True)
gold["version"] = "v2.0"
save("squad2.gold.json", gold)
save("squad2.pred.json", predictions)
save("squad2.odds.json", odds)
for case, extra in (("plain", []), ("odds", ["-n", os.path.join(where, "squad2.odds.json")]),
                    ("above", ["-n", os.path.join(where, "squad2.odds.json"), "-t", "0.45"])):
    for metric, value in script("SQUAD2", "squad2.gold.json", "squad2.pred.json", *extra).items():
        if not metric.endswith("total"):
            say(f"squad2.{case}", metric, value)

# --- tags -----------------------------------------------------------------------------------------------------
upos = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()
tags = {
    "bio": ["O", "O", "B-PER", "I-PER", "I-LOC", "B-LOC", "B-A-B", "I-A-B"],
    "iobes": ["O", "B-PER", "I-PER", "E-PER", "S-PER", "I-LOC", "E-LOC", "S-LOC", "O"],
    "upos": upos + ["NOUN", "VERB", "PUNCT", "SYM", "SCONJ"],
}
for case, choice in tags.items():
    golds, guesses = [], []
    for i in range(400):
        g = [rng.choice(choice) for _ in range(rng.randrange(1, 12))]
        if rng.random() < 0.5:
            g = sorted(g)
        golds.append(g)
        guesses.append([t if rng.random() < 0.75 else rng.choice(choice) for t in g])
    word = lambda i, k: f"w{i}.{k}"
    for name, rows in (("gold", golds), ("pred", guesses)):
        save(f"{case}.{name}", "\n".join("".join(f"{word(i, k)}\t{t}\n" for k, t in enumerate(s))
                                          for i, s in enumerate(rows)))
    for metric, fn in (("precision", precision_score), ("recall", recall_score), ("f1", f1_score)):
        say(f"chunk.{case}", metric, float(fn(golds, guesses)) * 100)
    right = sum(a == b for x, y in zip(golds, guesses) for a, b in zip(x, y))
    say(f"tag.{case}", "accuracy", right / sum(map(len, golds)) * 100)
    if case == "bio":            # conlleval prints two decimals
        lines = "\n".join("".join(f"w {a} {b}\n" for a, b in zip(x, y)) for x, y in zip(golds, guesses))
        got = subprocess.run(["perl", os.environ["CONLLEVAL"], "-d", " "], input=lines, capture_output=True, text=True).stdout
        line = got.splitlines()[1].replace("%", "").replace(";", "").split()
        for metric, at in (("precision", 3), ("recall", 5), ("f1", 7)):
            say("conlleval.bio", metric, float(line[at]))

# --- numbers --------------------------------------------------------------------------------------------------
for case, n, ties in (("few", 12, False), ("many", 500, False), ("ties", 300, True)):
    x = [rng.randrange(8) if ties else round(rng.gauss(0, 1), 6) for _ in range(n)]
    y = [rng.randrange(5) + (v > 4) if ties else round(v + rng.gauss(0, 2), 6) for v in x]
    save(f"{case}.x", "".join(f"{v}\n" for v in x))
    save(f"{case}.y", "".join(f"{v}\n" for v in y))
    for name, fn in (("spearman", stats.spearmanr), ("pearson", stats.pearsonr)):
        r = fn(x, y)
        say(f"{name}.{case}", name, float(r.statistic))
        say(f"{name}.{case}", "p", float(r.pvalue))

# Read by test/unit/score.c: what it is, its numbers, the value.
with open(os.path.join(where, "statistics.tsv"), "w") as f:
    row = lambda *v: f.write("\t".join(x if isinstance(x, str) else repr(float(x)) for x in v) + "\n")
    for _ in range(400):
        a, b, x = (rng.choice([0.5, 1, 2.5, 7, 40, 900, rng.uniform(0.1, 60)]) for _ in range(3))
        x = rng.random()
        row("beta", a, b, x, special.betainc(a, b, x))
    for _ in range(200):
        b, c = rng.randrange(60), rng.randrange(60)
        if rng.random() < 0.2:
            b, c = b * 97, c * 101
        if b + c:
            row("mcnemar", b, c, stats.binomtest(b, b + c).pvalue)
    for n in (2, 3, 4, 5, 10, 30):
        for _ in range(20):
            d = [round(rng.gauss(0.4, 1), 4) for _ in range(n)]
            row("t", *d, stats.ttest_rel(d, [0.0] * n).pvalue)
        row("t95", n - 1, stats.t.ppf(0.975, n - 1))
expected.close()
