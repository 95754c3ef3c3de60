"""Run by translate.sh: python translate.py BIN MODEL HF CT2 SOURCE LENGTH. Prints a table."""
import statistics, subprocess, sys, time, os
import torch, transformers, ctranslate2
os.environ["TRANSFORMERS_VERBOSITY"] = "error"
BIN, MODEL, HF, CT2, SOURCE, LENGTH = sys.argv[1:6] + [int(sys.argv[6])]
THREADS = int(os.environ.get("THREADS", "2"))
lines = open(SOURCE).read().split("\n")[:-1]
torch.set_num_threads(THREADS)
tok = transformers.AutoTokenizer.from_pretrained(HF)
model = transformers.AutoModelForSeq2SeqLM.from_pretrained(HF).eval()
ct2 = ctranslate2.Translator(CT2, compute_type="float32", intra_threads=THREADS, inter_threads=1)
ids = [tok.encode(x) for x in lines]
tokens = [tok.convert_ids_to_tokens(x) for x in ids]


def ours(n, batch, beam):
    """Whole processes: n sentences less none, so that loading the model does not count."""
    def wall(k):
        t = time.time()
        r = subprocess.run([f"{BIN}/translate", "-q", "--threads", str(THREADS), "-m", MODEL, "-s", "aa", "-t", "bb", "--no-mask-vocab", "--beam", str(beam),
                            "--max-ratio", "0", "--max-extra", str(LENGTH), "--sentences", str(batch), "--tokens", "100000"],
                           input="".join(x + "\n" for x in lines[:k]), capture_output=True, encoding="utf-8", check=True)
        return time.time() - t, r.stdout.split("\n")[:-1]
    whole, out = wall(n)
    return whole - wall(0)[0], sum(len(x.split()) + 1 for x in out)


def pytorch(n, batch, beam):
    t, made = time.time(), 0
    for i in range(0, n, batch):
        part = ids[i:min(i + batch, n)]
        width = max(map(len, part))
        x = torch.tensor([p + [tok.pad_token_id] * (width - len(p)) for p in part])
        with torch.inference_mode():
            y = model.generate(x, attention_mask=(x != tok.pad_token_id).long(), num_beams=beam, do_sample=False, max_new_tokens=LENGTH + 1, length_penalty=1.0)
        made += int((y != tok.pad_token_id).sum()) - len(part)
    return time.time() - t, made


def ctranslate(n, batch, beam):
    t = time.time()
    y = ct2.translate_batch(tokens[:n], beam_size=beam, max_batch_size=batch, max_decoding_length=LENGTH + 1, length_penalty=1)
    return time.time() - t, sum(len(h.hypotheses[0]) for h in y)


print(f"{THREADS} threads; PyTorch {torch.__version__}, transformers {transformers.__version__}, CTranslate2 {ctranslate2.__version__}, float32")
print("| beam | batch | ours tok/s | PyTorch tok/s | CTranslate2 tok/s | ours / PyTorch | ours / CTranslate2 |")
print("|---|---|---|---|---|---|---|")
for beam in (1, 5):
    for batch in (1, 32):
        n = len(lines) if batch > 1 else 8
        speed = []
        for f in (ours, pytorch, ctranslate):
            if f is not ours:
                f(min(n, batch), batch, beam)
            runs = [f(n, batch, beam) for _ in range(3)]
            speed.append(statistics.median(made / t for t, made in runs))
        a, b, c = speed
        print(f"| {beam} | {batch} | {a:.0f} | {b:.0f} | {c:.0f} | {a / b:.2f} | {a / c:.2f} |", flush=True)
