#!/usr/bin/env python3
"""Translations by transformers or CTranslate2 of a model that `ckpt export --to bart` wrote, timed:
the peers of test/bench/translate.sh.

    translate.py transformers|ctranslate2 VOCAB EXPORTED OUT BEAM BATCH THREADS LONGEST
        [TIMES [cpu|cuda [float32|bf16|int8]]] < source

VOCAB is the model's vocabulary, EXPORTED the folder of transformers' layout, OUT gets the
translations, source and OUT are BPE tokens. At most LONGEST tokens a translation. Prints: seconds
of the fastest of TIMES runs without loading, tokens written, sentences, MiB at the peak, versions;
loading, importing and making ids of the words are not timed. Batches are BATCH sentences:
transformers gets them in the order of the text, padded; CTranslate2 gets the whole text and sorts
it by length."""

import os, resource, subprocess, sys, tempfile, time, warnings

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
warnings.filterwarnings("ignore")
what, vocab, exported, out = sys.argv[1:5]
beam, batch, threads, longest = map(int, sys.argv[5:9])
times = int(sys.argv[9]) if len(sys.argv) > 9 else 1
device = sys.argv[10] if len(sys.argv) > 10 else "cpu"
precision = {"float32": "float32", "bf16": "bfloat16", "int8": "int8"}[
    (sys.argv[11:] or ["float32"])[0]
]
CONVERT = """import sys, ctranslate2
ctranslate2.converters.TransformersConverter(sys.argv[1]).convert(
    sys.argv[2], quantization="int8" if sys.argv[3] == "int8" else None, force=True)"""
source = [line.split() for line in sys.stdin.read().split("\n")[:-1]]


def timed(run):
    best, y = float("inf"), None
    for _ in range(times):
        t = time.perf_counter()
        y = run()
        best = min(best, time.perf_counter() - t)
    return best, y


with open(vocab, encoding="utf-8") as f:
    known = {line.rpartition(" ")[0] for line in f}
source = [["<s>", *(w if w in known else "<unk>" for w in x), "</s>"] for x in source]
if what == "transformers":
    import torch
    import transformers as T

    T.utils.logging.disable_progress_bar()
    known = T.AutoTokenizer.from_pretrained(exported).get_vocab()
    torch.set_num_threads(threads)
    model = (
        T.AutoModelForSeq2SeqLM.from_pretrained(exported)
        .eval()
        .to(device=device, dtype=getattr(torch, precision))
    )
    batches = []
    for i in range(0, len(source), batch):
        x = [torch.tensor([known[w] for w in s]) for s in source[i : i + batch]]
        ids = torch.nn.utils.rnn.pad_sequence(x, batch_first=True, padding_value=known["<pad>"])
        mask = torch.nn.utils.rnn.pad_sequence([torch.ones_like(s) for s in x], batch_first=True)
        batches.append((ids.to(device), mask.to(device)))

    def run():
        y = []
        with torch.inference_mode():
            for ids, mask in batches:
                y += model.generate(
                    ids,
                    attention_mask=mask,
                    num_beams=beam,
                    do_sample=False,
                    early_stopping=beam > 1,
                    max_new_tokens=longest,
                    length_penalty=1.0,
                ).tolist()
        return y

    run_words = {i: w for w, i in known.items()}
    seconds, y = timed(run)
    y = [[run_words[i] for i in s] for s in y]
    version = f"torch {torch.__version__}, transformers {T.__version__}, {precision}"
else:
    import ctranslate2

    with tempfile.TemporaryDirectory() as d:
        # in a process of its own: its memory, PyTorch's and transformers', is not CTranslate2's
        subprocess.run(
            [sys.executable, "-c", CONVERT, exported, d, precision],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        interpreter = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        seconds = float("inf")
        for inter, intra in {
            (1, threads),
            (threads, 1),
        }:  # one batch on all threads, or a batch a thread: what is faster here
            model = ctranslate2.Translator(
                d,
                device=device,
                compute_type=precision,
                inter_threads=1 if device == "cuda" else inter,
                intra_threads=intra,
            )
            took, out_words = timed(
                lambda: [
                    h.hypotheses[0]
                    for h in model.translate_batch(
                        source,
                        beam_size=beam,
                        max_batch_size=batch,
                        batch_type="examples",
                        max_decoding_length=longest,
                        length_penalty=1,
                    )
                ]
            )
            if took < seconds:
                seconds, y, ways = took, out_words, f"{inter} x {intra} threads"
    version = f"CTranslate2 {ctranslate2.__version__}, {precision}, {ways}"
    version += f"; {interpreter:.0f} MiB are Python's"
y = [[w for w in s if w not in ("<s>", "</s>", "<pad>")] for s in y]
open(out, "w", encoding="utf-8").writelines(" ".join(s) + "\n" for s in y)
print(
    seconds,
    sum(map(len, y)),
    len(y),
    resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    version,
    sep="\t",
)
