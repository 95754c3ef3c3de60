"""Run by predict.sh in an empty folder: a table of examples per second and peak memory; status 1 where predictions differ."""

import json, os, statistics, subprocess, sys, time

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
HERE = os.path.abspath(__file__)
BATCH, REPEATS = int(os.environ.get("BATCH", 32)), int(os.environ.get("REPEATS", 3))
DATA, BIN = os.environ["DATA"], os.environ["BIN"]


def zst(name):
    return subprocess.run(
        ["zstd", "-dqc", f"{DATA}/{name}"], capture_output=True, check=True
    ).stdout.decode()


def batches(items, order):
    for i in range(0, len(items), BATCH):
        yield [(k, items[k]) for k in order[i : i + BATCH]]


def theirs(task, dir, file, sort):
    """What a user's script does: rows of a batch padded to its longest. Prints predictions; seconds and bytes on standard error."""
    import torch, transformers as T

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    tok = T.AutoTokenizer.from_pretrained(dir)
    kind = {"nli": T.AutoModelForSequenceClassification, "tag": T.AutoModelForTokenClassification}[
        task
    ]
    m = kind.from_pretrained(dir).eval()
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
        id2label=dict(enumerate(labels)),
        label2id={x: i for i, x in enumerate(labels)},
    )
    m = {"nli": T.BertForSequenceClassification, "tag": T.BertForTokenClassification}[task](c)
    m.classifier.weight.data.normal_(std=0.5)  # labels that depend on the text
    m.save_pretrained(dir)
    subprocess.run([f"{BIN}/ckpt", "import", "-q", "-o", dir + ".ours", dir], check=True)
    return dir


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
    text = [x[1] for x in sick] + [" ".join(s) for s in words]
    examples = {"nli": len(sick), "tag": len(words)}
    print(
        f"torch {torch.__version__}, transformers {T.__version__}, {len(os.sched_getaffinity(0))} threads, batch {BATCH}, medians of {REPEATS}"
    )
    print(
        "model\ttask\texamples\twall s\tCPU s\tMiB\tpeer wall\tCPU\tsorted wall\tCPU\tMiB\twall x\tCPU x\tsorted wall x\tCPU x\tsame"
    )
    bad = False
    for shape in os.environ.get("SHAPES", "6x512 12x768").split():
        for task, labels in (
            ("nli", ["contradiction", "entailment", "neutral"]),
            ("tag", [f"T{i}" for i in range(17)]),
        ):
            if task not in os.environ.get("TASKS", "nli tag").split():
                continue
            dir = make(shape, task, labels, text)
            a, b, c = [], [], []
            for _ in range(REPEATS):  # one after the other, in turns
                a.append(
                    timed(
                        [
                            f"{BIN}/predict",
                            "-q",
                            "-m",
                            dir + ".ours",
                            "--batch",
                            str(BATCH),
                            "--tokens",
                            "100000",
                        ],
                        f"{task}.in",
                        "ours",
                    )
                )
                b.append(
                    timed(
                        [sys.executable, HERE, task, dir, f"{task}.in", ""], "/dev/null", "theirs"
                    )
                )
                c.append(
                    timed(
                        [sys.executable, HERE, task, dir, f"{task}.in", "sort"],
                        "/dev/null",
                        "sorted",
                    )
                )
            med = lambda v: statistics.median(v)
            inside = lambda r, i: float(
                [x for x in r[1] if x][-1].split()[i]
            )  # without imports and loading
            s, cpu = med([r[0] for r in a]), med([r[3] for r in a])  # the whole process
            t, tc = med([inside(r, 0) for r in b]), med([inside(r, 1) for r in b])
            u, uc = med([inside(r, 0) for r in c]), med([inside(r, 1) for r in c])
            ours, them = open("ours").read().rstrip("\n").split("\n"), open("theirs").read().rstrip(
                "\n"
            ).split("\n")
            same = sum(x == y for x, y in zip(ours, them))
            bad |= len(ours) != len(them) or same < 0.999 * len(ours)
            print(
                f"{shape}\t{task}\t{examples[task]}\t{s:.2f}\t{cpu:.2f}\t{max(r[2] for r in a) / 2**20:.0f}\t{t:.2f}\t{tc:.2f}\t{u:.2f}\t{uc:.2f}\t"
                f"{max(r[2] for r in b) / 2**20:.0f}\t{t / s:.2f}\t{tc / cpu:.2f}\t{u / s:.2f}\t{uc / cpu:.2f}\t{same}/{len(them)}",
                flush=True,
            )
    sys.exit(bad)


if len(sys.argv) > 1:
    theirs(*sys.argv[1:])
else:
    main()
