"""What replay.py needs for tasks with a head: the units that finetune should read of labelled text,
worked out from the files, and the heads' losses."""

import json
import math

import numpy as np
import torch
import torch.nn.functional as F

TASKS = ("nli", "pairs", "class", "tag", "ner", "qa", "span")
BOS, EOS, UNK = 0, 1, 3


def pieces(word):
    """Of the codes of replay.runs: the one merge is w and 1 within a word; the rest is letters."""
    cut = ["w1", *word[2:]] if len(word) > 2 and word[:2] == "w1" else list(word)
    return [x + "@@" for x in cut[:-1]] + cut[-1:]


class Units:
    """Of a run's training data, in the order of the files: token, language, and what is to be
    learnt."""

    def __init__(self, o, config):
        self.o, self.config, self.all, self.groups = o, config, [], []
        words = [line.split()[0] for line in open("head.vocab")]
        self.number = {w: i + 5 for i, w in enumerate(words)}
        self.head = next(h for h in config["task_heads"] if h["name"] == o["task"])
        kind = self.head["task"]
        other = dict(self.examples(o["train-parallel"])) if "train-parallel" in o else None
        for spec in o["train"]:
            for key, e in self.examples(spec):
                variants = [(e, e)]
                if other is not None:
                    b = other.get(key)
                    if b is None or b["label"] != e["label"]:
                        continue
                    variants = [(e, e), (e, b), (b, e)][0 if "orig" in o["code-switch"] else 1 :]
                made = [getattr(self, kind)(*v) for v in variants]
                first = len(self.all)
                starts = np.cumsum([0] + [len(m) for m in made])
                # the k-th windows of all variants stay together
                for k in range(max(map(len, made))):
                    self.groups.append(
                        [int(first + starts[v] + k) for v, m in enumerate(made) if k < len(m)]
                    )
                for m in made:
                    self.all += m

    def ids(self, text):
        return [self.number.get(p, UNK) for w in text.split() for p in pieces(w)]

    def examples(self, spec):
        """(what joins it to another file, example) of LANG=FILE."""
        lang, path = spec.split("=")
        lang = self.config["languages"].index(lang)
        if self.head["task"] == "class":
            for n, line in enumerate(open(path)):
                a, b, label = line.rstrip("\n").split("\t")
                yield n, {"lang": lang, "a": a, "b": b, "label": self.head["labels"].index(label)}
        elif self.head["task"] == "tag":
            for n, block in enumerate(open(path).read().strip("\n").split("\n\n")):
                rows = [line.split("\t") for line in block.split("\n")]
                yield n, {"lang": lang, "words": rows, "label": 0}
        else:
            for p in json.load(open(path))["data"][0]["paragraphs"]:
                for q in p["qas"]:
                    a = q["answers"][0]
                    span = (a["answer_start"], a["answer_start"] + len(a["text"]))
                    yield q["id"], {
                        "lang": lang,
                        "a": q["question"],
                        "b": p["context"],
                        "answer": span,
                        "label": 0,
                    }

    def joined(self, a, b, langs):
        two = self.head["pair"] == "two"
        first = [BOS, *a, EOS]
        second = [*([EOS] if two else []), *b, EOS]
        return {
            "token": first + second,
            "lang": [langs[0]] * len(first) + [langs[1]] * len(second),
            "context": len(first) + two,
        }

    def class_(self, x, y):
        a, b = self.ids(x["a"]), self.ids(y["b"])
        while len(a) + len(b) + 3 + (self.head["pair"] == "two") > self.head["longest"]:
            (a if len(a) > len(b) else b).pop()
        return [{**self.joined(a, b, (x["lang"], y["lang"])), "label": [(0, x["label"])]}]

    def tag(self, x, _):
        parts, longest = [], self.head["longest"]
        for word, tag in x["words"]:
            own = self.ids(word)
            if not parts or len(parts[-1]["token"]) + len(own) + 1 > longest:
                parts.append({"token": [BOS], "label": []})
            p = parts[-1]
            p["label"].append((len(p["token"]), self.head["labels"].index(tag)))
            p["token"] += own
        for p in parts:
            p["token"].append(EOS)
            p["lang"] = [x["lang"]] * len(p["token"])
        return parts

    def span(self, x, y):
        q = self.ids(x["a"])[: self.head["question"]]
        c, at, pos = [], [], 0
        for word in y["b"].split():
            for p in pieces(word):
                c.append(self.number.get(p, UNK))
                at.append((pos, pos + len(p.replace("@@", ""))))
                pos = at[-1][1]
            pos += 1
        inside = [i for i, (f, t) in enumerate(at) if f < y["answer"][1] and t > y["answer"][0]]
        room, made, first = self.head["longest"] - len(q) - 3, [], 0
        while True:
            u = self.joined(q, c[first : first + room], (x["lang"], y["lang"]))
            n = min(room, len(c) - first)
            whole = inside[0] >= first and inside[-1] < first + n
            u["start"], u["end"] = (
                (u["context"] + inside[0] - first, u["context"] + inside[-1] - first)
                if whole
                else (0, 0)
            )
            rows = range(len(u["token"]))
            all_rows = self.o["span-softmax"] == "all"
            u["allowed"] = [
                int(all_rows or r == 0 or u["context"] <= r < u["context"] + n) for r in rows
            ]
            if whole or self.o["drop-empty-windows"] != "true":
                made.append(u)
            if first + n >= len(c):
                return made
            first += self.head["stride"]


setattr(Units, "class", Units.class_)


def check(units, x, seen):
    """Every sentence of the batch is the unit that its number says, and members of a group come
    together; seen counts them."""
    labels, batch = [], x["sample"].tolist()
    for s, (first, end) in zip(batch, zip(x["at"][:-1], x["at"][1:])):
        u, n = units.all[s], int(end - first)
        for k, want in (("token", u["token"]), ("lang", u["lang"]), ("pos", list(range(n)))):
            assert x[k][first:end].tolist() == want, (s, k)
        if "start" in u:
            i = batch.index(s)
            assert (x["start"][i], x["end"][i]) == (u["start"], u["end"]), s
            assert x["allowed"][first:end].tolist() == u["allowed"], s
        else:
            labels += [(int(first) + r, t) for r, t in u["label"]]
        seen[s] = seen.get(s, 0) + 1
    if "row" in x:
        assert list(zip(x["row"].tolist(), x["label"].tolist())) == labels
    of = {s: g for g, members in enumerate(units.groups) for s in members}
    groups = list(dict.fromkeys(of[s] for s in batch))
    assert batch == [s for g in groups for s in units.groups[g]]
    assert len(batch) <= int(units.o["batch"])


def outputs(m, o, h, b, rows, drop):
    """The head's outputs of `rows` of the states h."""
    name = "head." + o["task"] + "."
    if o["task"] in ("qa", "span"):
        return m.linear(h, name + "out")
    x = h[rows]

    def dropped(x):
        if not drop:
            return x
        place = b.place[rows].astype(np.int64) << 20
        return x * drop.mask(drop.p, b.sample[rows], place, x.shape[1], "head")

    x = dropped(x)
    if name + "dense.weight" in m.p:
        x = dropped(torch.tanh(m.linear(x, name + "dense")))
    return m.linear(x, name + "out")


def losses(m, o, x, h, b, drop):
    """Of each example, tagged word, or end of a window's answer."""
    if "row" in x:
        z = outputs(m, o, h, b, x["row"], drop)
        return F.cross_entropy(z, torch.tensor(x["label"].astype(np.int64)), reduction="none")
    z, out = outputs(m, o, h, b, None, drop), []
    for column, name in enumerate(("start", "end")):
        for s, (first, end) in enumerate(b.spans):
            may = torch.tensor(x["allowed"][first:end]).bool()
            row = z[first:end, column].masked_fill(~may, -math.inf)
            out.append(-row.log_softmax(0)[int(x[name][s])])
    return torch.stack(out)


def validate(o, m, units, Batch):
    """Accuracy, and chunk F1 as seqeval has it, of each language, in percent."""
    out, dev = {}, Units({**o, "train": [], "code-switch": "off"}, units.config)
    for spec in o["valid"]:
        lang = spec.split("=")[0]
        if dev.head["task"] == "tag":  # a label that was never learnt is no output
            dev.head = {**dev.head, "labels": [*units.head["labels"], "Y-P"]}
        gold, found = [], []
        for _, e in dev.examples(spec):
            gold.append([])
            found.append([])
            for u in getattr(dev, units.head["task"])(e, e):
                n = len(u["token"])
                b = Batch(
                    {
                        "token": np.array(u["token"]),
                        "lang": np.array(u["lang"]),
                        "pos": np.arange(n),
                        "at": np.array([0, n]),
                        "sample": np.array([0]),
                    }
                )
                rows = np.array([r for r, _ in u["label"]])
                z = outputs(m, o, m.run("encoder", b), b, rows, None)
                gold[-1] += [dev.head["labels"][t] for _, t in u["label"]]
                found[-1] += [dev.head["labels"][int(i)] for i in z.argmax(-1)]
        flat = [(g, f) for gs, fs in zip(gold, found) for g, f in zip(gs, fs)]
        out[lang + ".accuracy"] = 100 * np.mean([g == f for g, f in flat])
        if dev.head["task"] == "tag":
            from seqeval.metrics import f1_score

            out[lang + ".f1"] = 100 * f1_score(gold, found)
    return out
