"""Run by predict.sh in an empty folder: a table of examples per second and peak memory; status 1
where predictions differ."""

import json, os, statistics, subprocess, sys, time

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
HERE = os.path.abspath(__file__)
BATCH, REPEATS = int(os.environ.get("BATCH", 32)), int(os.environ.get("REPEATS", 3))
DATA, BIN = os.environ["DATA"], os.environ["BIN"]
PRECISIONS = os.environ.get("PRECISIONS", "float32 int8").split()


def zst(name):
    return subprocess.run(
        ["zstd", "-dqc", f"{DATA}/{name}"], capture_output=True, check=True
    ).stdout.decode()


def batches(items, order):
    for i in range(0, len(items), BATCH):
        yield [(k, items[k]) for k in order[i : i + BATCH]]


def windows_of(tok, file):
    """A question's windows as rows of pieces: (rows, question's length, first token, tokens)."""
    out, data = [], json.load(open(file, encoding="utf-8"))["data"]
    for p in (p for a in data for p in a["paragraphs"]):
        c = tok(p["context"], add_special_tokens=False, return_offsets_mapping=True)
        ids, spans = c["input_ids"], c["offset_mapping"]
        for x in p["qas"]:
            q = tok(x["question"], add_special_tokens=False)["input_ids"][:64]
            room, at, w = 384 - len(q) - 3, 0, []
            while True:
                n = min(room, len(ids) - at)
                row = [tok.cls_token_id, *q, tok.sep_token_id, *ids[at : at + n], tok.sep_token_id]
                w.append((row, len(q), at, n))
                if at + room >= len(ids):
                    break
                at += 128
            out.append((x["id"], p["context"], spans, w))
    return out


def answer(context, spans, windows, logits):
    """20 best starts and ends of each window, at most 30 tokens, the start's window the one with
    most context."""
    best = None
    for (row, asked, first, n), (s, e) in zip(windows, logits):
        base, k = asked + 2, min(20, len(row))
        ends = e.topk(k).indices.tolist()
        for i in s.topk(k).indices.tolist():
            t = first + i - base
            around = lambda w: min(t - w[2], w[2] + w[3] - 1 - t) + 0.01 * w[3]
            holds = [w for w in windows if w[2] <= t < w[2] + w[3]]
            if not base <= i < base + n or max(holds, key=around)[2] != first:
                continue
            for j in ends:
                if i <= j < base + n and j - i < 30:
                    score = float(s[i] + e[j])
                    if best is None or score > best[0]:
                        best = (score, spans[t][0], spans[first + j - base][1])
    return context[best[1] : best[2]]


def answers(tok, m, file, sort):
    import torch

    asked = windows_of(tok, file)
    flat = [(q, k) for q in range(len(asked)) for k in range(len(asked[q][3]))]
    rows = [asked[q][3][k][0] for q, k in flat]
    split = [asked[q][3][k][1] + 2 for q, k in flat]
    order = sorted(range(len(rows)), key=lambda i: -len(rows[i])) if sort else range(len(rows))
    logits = [None] * len(rows)
    for part in batches(rows, order):
        most = max(len(r) for _, r in part)
        ids = torch.zeros(len(part), most, dtype=torch.long)
        mask, types = torch.zeros_like(ids), torch.zeros_like(ids)
        for b, (k, r) in enumerate(part):
            ids[b, : len(r)], mask[b, : len(r)] = torch.tensor(r), 1
            types[b, split[k] : len(r)] = 1
        y = m(input_ids=ids, attention_mask=mask, token_type_ids=types)
        for b, (k, r) in enumerate(part):
            logits[k] = (y.start_logits[b, : len(r)], y.end_logits[b, : len(r)])
    out, at = {}, 0
    for id, context, spans, w in asked:
        out[id] = answer(context, spans, w, logits[at : at + len(w)])
        at += len(w)
    return out


def theirs(task, dir, file, sort):
    """What a user's script does: rows of a batch padded to its longest. Prints predictions; seconds
    and bytes on standard error."""
    import torch, transformers as T

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    tok = T.AutoTokenizer.from_pretrained(dir)
    kind = {
        "nli": T.AutoModelForSequenceClassification,
        "tag": T.AutoModelForTokenClassification,
        "qa": T.AutoModelForQuestionAnswering,
    }[task]
    m = kind.from_pretrained(dir).eval()
    if task == "qa":
        began, cpu = time.time(), time.process_time()
        with torch.inference_mode():
            said = answers(tok, m, file, sort)
        # one answer per line, as predict writes them
        print("\n".join(f"{k}\t{json.dumps(v, ensure_ascii=False)}" for k, v in said.items()))
        print(time.time() - began, time.process_time() - cpu, file=sys.stderr)
        return
    if task == "nli":
        items = [line.split("\t") for line in open(file, encoding="utf-8").read().split("\n")[:-1]]
        size = lambda x: sum(map(len, x))
    else:
        items = [
            s.split("\n") for s in open(file, encoding="utf-8").read().rstrip("\n").split("\n\n")
        ]
        size = lambda x: sum(map(len, x))
    out, began, cpu = [None] * len(items), time.time(), time.process_time()
    order = sorted(range(len(items)), key=lambda i: -size(items[i])) if sort else range(len(items))
    with torch.inference_mode():
        for part in batches(items, order):
            if task == "nli":
                x = tok(
                    [a for _, (a, b) in part],
                    [b for _, (a, b) in part],
                    truncation="longest_first",
                    max_length=128,
                    padding=True,
                    return_tensors="pt",
                )
                for (k, _), c in zip(part, m(**x).logits.argmax(1).tolist()):
                    out[k] = m.config.id2label[c]
            else:
                x = tok(
                    [w for _, w in part],
                    is_split_into_words=True,
                    truncation=True,
                    max_length=512,
                    padding=True,
                    return_tensors="pt",
                )
                z = m(**x).logits.argmax(2).tolist()
                for r, (k, words) in enumerate(part):
                    first = {}
                    for i, w in enumerate(x.word_ids(r)):
                        first.setdefault(w, i)
                    out[k] = (
                        "\n".join(
                            f"{w}\t{m.config.id2label[z[r][first[i]]]}" for i, w in enumerate(words)
                        )
                        + "\n"
                    )
    print("\n".join(out))
    print(time.time() - began, time.process_time() - cpu, file=sys.stderr)


def timed(command, file, out):
    """Wall seconds, what standard error says, peak resident bytes, processor seconds."""
    began = time.time()
    with open(out, "w") as to, open("err", "w") as err, open(
        file
    ) as src:  # GNU time: this process's own memory is no part of it
        status = subprocess.run(
            ["/usr/bin/time", "-q", "-f", "%M %U %S", "-o", "peak", *command],
            stdin=src,
            stdout=to,
            stderr=err,
        ).returncode
    wall = time.time() - began
    said = open("err").read().split("\n")
    if status:
        print("\n".join(said))
        sys.exit(1)
    peak, user, system = open("peak").read().split()[-3:]
    return wall, said, int(peak) * 1024, float(user) + float(system)


def make(shape, task, labels, text):
    import torch, transformers as T
    from tokenizers import BertWordPieceTokenizer

    layers, width = map(int, shape.split("x"))
    dir = f"{shape}-{task}"
    os.makedirs(dir)
    t = BertWordPieceTokenizer(lowercase=False)
    t.train_from_iterator(text, vocab_size=16000, show_progress=False)
    t.save_model(dir)
    json.dump(
        {"tokenizer_class": "BertTokenizer", "do_lower_case": False, "model_max_length": 512},
        open(f"{dir}/tokenizer_config.json", "w"),
    )
    torch.manual_seed(1)
    c = T.BertConfig(
        vocab_size=t.get_vocab_size(),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=width // 64,
        intermediate_size=4 * width,
        **(
            {
                "id2label": dict(enumerate(labels)),
                "label2id": {x: i for i, x in enumerate(labels)},
            }
            if labels
            else {}
        ),
    )
    if task == "qa":
        m = T.BertForQuestionAnswering(c)
        m.qa_outputs.weight.data.normal_(std=0.5)
    else:
        m = {"nli": T.BertForSequenceClassification, "tag": T.BertForTokenClassification}[task](c)
        m.classifier.weight.data.normal_(std=0.5)  # labels that depend on the text
    m.save_pretrained(dir)
    subprocess.run([f"{BIN}/ckpt", "import", "-q", "-o", dir + ".ours", dir], check=True)
    return dir


def ours(dir, task, precision):
    command = [f"{BIN}/predict", "-q", "-m", dir + ".ours", "--batch", str(BATCH)]
    return timed(
        [*command, "--tokens", "100000", "--precision", precision],
        f"{task}.in",
        f"ours.{precision}",
    )


def lines_of(task, file):
    """Predictions as transformers' loop prints them: of questions one per line."""
    if task != "qa":
        return open(file).read().rstrip("\n").split("\n")
    said = json.load(open(file)).items()
    return [f"{k}\t{json.dumps(v, ensure_ascii=False)}" for k, v in said]


def compare(shape, task, dir, examples):
    """Rows of the table; True where float32 does not predict what transformers does."""
    runs, b, c, bad = {x: [] for x in PRECISIONS}, [], [], False
    peer = [sys.executable, HERE, task, dir, f"{task}.in"]
    for _ in range(REPEATS):  # one after the other, in turns
        for x in PRECISIONS:
            runs[x].append(ours(dir, task, x))
        b.append(timed([*peer, ""], "/dev/null", "theirs"))
        c.append(timed([*peer, "sort"], "/dev/null", "sorted"))
    med = lambda v: statistics.median(v)
    # without imports and loading
    inside = lambda r, i: float([x for x in r[1] if x][-1].split()[i])
    t, tc = med([inside(r, 0) for r in b]), med([inside(r, 1) for r in b])
    u, uc = med([inside(r, 0) for r in c]), med([inside(r, 1) for r in c])
    theirs_said = open("theirs").read().rstrip("\n").split("\n")
    for x in PRECISIONS:
        a, said = runs[x], lines_of(task, f"ours.{x}")
        s, cpu = med([r[0] for r in a]), med([r[3] for r in a])  # the whole process
        same = sum(p == q for p, q in zip(said, theirs_said))
        bad |= len(said) != len(theirs_said)
        bad |= x == "float32" and same < 0.999 * len(said)
        print(
            f"{shape}\t{task}\t{x}\t{examples}\t{s:.2f}\t{cpu:.2f}\t"
            f"{max(r[2] for r in a) / 2**20:.0f}\t{t:.2f}\t{tc:.2f}\t{u:.2f}\t{uc:.2f}\t"
            f"{max(r[2] for r in b) / 2**20:.0f}\t{t / s:.2f}\t{tc / cpu:.2f}\t{u / s:.2f}\t"
            f"{uc / cpu:.2f}\t{same}/{len(theirs_said)}",
            flush=True,
        )
    return bad


def main():
    import torch, transformers as T

    sick = [
        x.split("\t")
        for x in zst("nli/sick/SICK_test_annotated.txt.zst").replace("\r", "").split("\n")[1:]
        if x
    ]
    words = [
        [
            w.split("\t")[1]
            for w in s.split("\n")
            if w and w[0].isdigit() and w.split("\t")[0].isdigit()
        ]
        for s in zst("ud/en_ewt-test.conllu.zst").rstrip("\n").split("\n\n")
    ]
    most = int(os.environ.get("EXAMPLES", 0)) or None
    sick, words = sick[:most], words[:most]
    open("nli.in", "w").write("".join(f"{x[1]}\t{x[2]}\n" for x in sick))
    open("tag.in", "w").write("".join("\n".join(s) + "\n\n" for s in words))
    xquad = json.loads(zst("xquad/xquad.en.json.zst"))
    asked = 0
    for a in xquad["data"]:  # as many questions as examples
        for p in a["paragraphs"]:
            p["qas"] = p["qas"][: max(0, (most or 10**9) - asked)]
            asked += len(p["qas"])
    json.dump(xquad, open("qa.in", "w", encoding="utf-8"), ensure_ascii=False)
    text = [x[1] for x in sick] + [" ".join(s) for s in words]
    text += [p["context"] for a in xquad["data"] for p in a["paragraphs"]]
    examples = {"nli": len(sick), "tag": len(words), "qa": asked}
    print(
        f"torch {torch.__version__}, transformers {T.__version__},"
        f" {len(os.sched_getaffinity(0))} threads, batch {BATCH}, medians of {REPEATS}"
    )
    print(
        "model\ttask\tprecision\texamples\twall s\tCPU s\tMiB\tpeer wall\tCPU\tsorted wall\tCPU\tMiB"
        "\twall x\tCPU x\tsorted wall x\tCPU x\tsame"
    )
    bad = False
    for shape in os.environ.get("SHAPES", "6x512 12x768").split():
        for task, labels in (
            ("nli", ["contradiction", "entailment", "neutral"]),
            ("tag", [f"T{i}" for i in range(17)]),
            ("qa", []),
        ):
            if task not in os.environ.get("TASKS", "nli tag qa").split():
                continue
            dir = make(shape, task, labels, text)
            bad |= compare(shape, task, dir, examples[task])
    sys.exit(bad)


if len(sys.argv) > 1:
    theirs(*sys.argv[1:])
else:
    main()
