"""Run by interchange.sh in an empty folder. A line a comparison; status 1 if one of them does not hold."""
import glob, json, os, random, shutil, subprocess, sys, warnings
os.environ["TRANSFORMERS_VERBOSITY"] = "error"
warnings.filterwarnings("ignore")
import torch
import transformers as T
from safetensors.torch import load_file, save_file
import ctranslate2
import sentencepiece as spm
from tokenizers import BertWordPieceTokenizer

T.utils.logging.disable_progress_bar()
BIN, UNIT, TOP, DATA = (os.environ[k] for k in ("BIN", "UNIT", "TOP", "DATA"))
failed = 0


def say(good, what):
    global failed
    failed += not good
    print(("ok   " if good else "FAIL ") + what, flush=True)


def run(program, *args, text=None):
    r = subprocess.run([f"{BIN}/{program}", "-q", *args], input=text, capture_output=True, encoding="utf-8")
    if r.returncode:
        print(f"FAIL {program} {' '.join(args)}: {r.stderr}")
        sys.exit(1)
    return r.stdout


def relative(got, want):
    return float((got.double() - want.double()).norm() / want.double().norm())


# --- tokenisers ---------------------------------------------------------------------------------------------------

def corpus():
    files = sorted(glob.glob(f"{DATA}/handbook/*.zst"))
    lines = open(f"{TOP}/test/golden/subwords/text", encoding="utf-8").read().split("\n")[:-1]
    train = []
    for f in files:
        text = subprocess.run(["zstd", "-dc", f], capture_output=True).stdout.decode().split("\n")[:-1]
        train += text[:1200]
        lines += text[:1200]
    return lines, train or lines * 3, len(files)


def tokenisers():
    lines, train, languages = corpus()
    text = "".join(x + "\n" for x in lines)
    of = f"{len(lines)} lines, {languages} languages"

    def compare(what, want, *args):
        got = run("tokenize", *args, text=text).split("\n")[:-1]
        bad = [i for i in range(len(lines)) if got[i] != want[i]]
        say(len(got) == len(lines) and not bad, f"{what}: {len(bad)} of {of} differ" + (f", first {bad[0] + 1}" if bad else ""))

    for lower in (False, True):
        t = BertWordPieceTokenizer(lowercase=lower)
        t.train_from_iterator(train, vocab_size=8000, show_progress=False)
        d = "wordpiece"
        os.makedirs(d, exist_ok=True)
        t.save_model(d)
        json.dump({"tokenizer_class": "BertTokenizer", "do_lower_case": lower}, open(f"{d}/tokenizer_config.json", "w"))
        t = T.AutoTokenizer.from_pretrained(d)
        compare(f"WordPiece, {'un' * lower}cased, transformers", [" ".join(t.tokenize(x)) for x in lines],
                "--subwords", f"{d}/vocab.txt", *["--uncased"] * lower)
    for kind in ("unigram", "bpe"):
        spm.SentencePieceTrainer.train(sentence_iterator=iter(train), model_prefix=kind, vocab_size=8000 if languages else 200, model_type=kind, character_coverage=0.9995, hard_vocab_limit=False,
                                       max_sentence_length=100000, minloglevel=2)
        s = spm.SentencePieceProcessor(model_file=f"{kind}.model")
        want = [" ".join(s.encode(x, out_type=str)) for x in lines]
        if kind == "bpe":
            compare("SentencePiece BPE, sentencepiece", want, "--subwords", "bpe.model")
            continue
        os.makedirs("xlmr", exist_ok=True)
        shutil.copy("unigram.model", "xlmr/sentencepiece.bpe.model")
        json.dump({"tokenizer_class": "XLMRobertaTokenizer"}, open("xlmr/tokenizer_config.json", "w"))
        t = T.AutoTokenizer.from_pretrained("xlmr")
        theirs = [" ".join(t.tokenize(x)) for x in lines]
        compare("SentencePiece unigram, transformers", theirs, "--subwords", "unigram.model")
        print(f"     (transformers and the sentencepiece library differ in {sum(a != b for a, b in zip(want, theirs))} lines: ties)")


# --- models of ours -----------------------------------------------------------------------------------------------

def words(path):
    return ["<s>", "</s>", "<pad>", "<unk>", "<mask>"] + [x.split()[0] for x in open(f"{path}/vocab", encoding="utf-8")]


def ours(model, runs):
    save_file({f"{i}.{k}": torch.tensor(v, dtype=torch.int32) for i, r in enumerate(runs) for k, v in r.items()}, "in.safetensors")
    subprocess.run([UNIT, "states", model, "in.safetensors", "out.safetensors"], check=True)
    return load_file("out.safetensors")


SPECIALS = {"bert": ["[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]"], "xlm": ["<s>", "</s>", "<pad>", "<unk>", "<special1>"]}


def ids_of(model, layout, tok):
    names = SPECIALS.get(layout, ["<s>", "</s>", "<pad>", "<unk>", "<mask>"]) + words(model)[5:]
    return [tok.convert_tokens_to_ids(n) for n in names]


def make_text():
    random.seed(3)
    lines = [[f"w{random.randrange(12)}" for _ in range(random.randint(2, 6))] for _ in range(1500)]
    for name, f in (("s", lambda x: x), ("r", lambda x: x[::-1])):
        open(f"train.{name}", "w").writelines(" ".join(f(x)) + "\n" for x in lines[:1300])
        open(f"test.{name}", "w").writelines(" ".join(f(x)) + "\n" for x in lines[1300:])
    open("vocab", "w").writelines(f"w{i} {100 - i}\n" for i in range(12))
    return lines[1300:]


def encoders():
    for l in ("s", "r"):
        open(f"{l}.shd", "wb").write(subprocess.run([f"{BIN}/binarize", "-q", "-v", "vocab", "-l", "aa" if l == "s" else "bb", f"train.{l}"], capture_output=True).stdout)
    run("pretrain", "--train", "aa=s.shd", "--train", "bb=r.shd", "-v", "vocab", "--layers", "2", "--dim", "32", "--heads", "4", "--positions", "16",
        "--tokens", "300", "--steps", "60", "--lr", "2e-3", "--out", "mlm")
    model = os.path.realpath("mlm/last")
    g = torch.Generator().manual_seed(1)
    runs = [{"ids": [0] + torch.randint(5, 17, (n,), generator=g).tolist() + [1], "langs": [n % 2, 0]} for n in (5, 2, 9)]
    got = ours(model, runs)
    for layout in ("xlm", "bert", "roberta", "xlm-roberta"):
        for lang in ([None] if layout == "xlm" else ["aa", "bb"]):
            out = f"hf-{layout}-{lang}"
            run("ckpt", "export", "-o", out, "--to", layout, *(["--src", lang] if lang else []), model)
            tok = T.AutoTokenizer.from_pretrained(out)
            id = ids_of(model, layout, tok)
            m = (T.AutoModelForMaskedLM if layout == "xlm" else T.AutoModel).from_pretrained(out).eval()
            worst = 0
            for i, r in enumerate(runs):
                if lang and r["langs"][0] != (lang == "bb"):
                    continue
                x = torch.tensor([[id[v] for v in r["ids"]]])
                extra = {"langs": torch.full_like(x, r["langs"][0])} if layout == "xlm" else {}
                with torch.no_grad():
                    y = m(input_ids=x, output_hidden_states=True, **extra)
                worst = max(worst, relative(got[f"{i}.encoder"], y.hidden_states[-1][0]))
                if layout == "xlm":
                    worst = max(worst, relative(got[f"{i}.logits"], y.logits[0][:, torch.tensor(id)]))
            say(worst < 1e-5, f"ours as {layout}{', ' + lang if lang else ''} in transformers: {worst:.1e}")


def golden():
    """Imported and exported again, golden models are what they were for transformers."""
    for name, lead in (("bert", T.AutoModelForMaskedLM), ("xlmr", T.AutoModelForMaskedLM), ("xlm", T.AutoModelForMaskedLM),
                       ("xlm_plain", T.AutoModelForMaskedLM), ("bart", T.AutoModelForSeq2SeqLM), ("mbart", T.AutoModelForSeq2SeqLM)):
        d = f"{TOP}/test/golden/interchange/{name}"
        run("ckpt", "import", "-o", f"i-{name}", d)
        run("ckpt", "export", "--no-mask-vocab", "-o", f"e-{name}", f"i-{name}")
        m, want, worst, i = lead.from_pretrained(f"e-{name}").eval(), load_file(f"{d}/expected.safetensors"), 0, 0
        while f"{i}.ids" in want:
            args = {k: want[f"{i}.{f}"].long()[None] for k, f in (("input_ids", "ids"), ("token_type_ids", "token_type_ids"), ("langs", "langs"),
                                                               ("decoder_input_ids", "decoder_ids")) if f"{i}.{f}" in want}
            with torch.no_grad():
                worst = max(worst, relative(m(**args).logits[0], want[f"{i}.logits"]))
            i += 1
        say(worst < 1e-5, f"transformers -> ours -> transformers, {name}: {worst:.1e}")


def heads():
    """The same of classifiers, taggers and readers."""
    for name in ("bert_nli", "bert_qa", "roberta_class", "roberta_ner", "xlm_pairs", "xlm_tag", "xlm_qa"):
        d = f"{TOP}/test/golden/interchange/{name}"
        run("ckpt", "import", "-o", f"i-{name}", d)
        run("ckpt", "export", "-o", f"e-{name}", f"i-{name}")
        theirs, c = (json.load(open(f"{x}/config.json")) for x in (d, f"e-{name}"))
        m, want, worst, i = getattr(T, c["architectures"][0]).from_pretrained(f"e-{name}").eval(), load_file(f"{d}/expected.safetensors"), 0, 0
        while f"{i}.ids" in want:
            args = {k: want[f"{i}.{f}"].long()[None] for k, f in (("input_ids", "ids"), ("token_type_ids", "token_type_ids"), ("langs", "langs"))
                    if f"{i}.{f}" in want}
            with torch.no_grad():
                y = m(**args)
            z = torch.stack([y.start_logits[0], y.end_logits[0]], 1) if "start_logits" in y else y.logits[0] if y.logits.dim() == 3 else y.logits
            worst = max(worst, relative(z, want[f"{i}.head"]))
            i += 1
        same = c["architectures"] == theirs["architectures"] and ("id2label" not in theirs or c["id2label"] == theirs["id2label"])
        say(worst < 1e-5 and same, f"transformers -> ours -> transformers, {c['architectures'][0]}: {worst:.1e}, labels {'the same' if same else 'differ'}")


def translators(test):
    test = [" ".join(x) for x in test]
    text = "".join(x + "\n" for x in test)
    for layout, extra in (("bart", []), ("mbart", ["--pre-norm"])):
        run("finetune", "--task", "mt", "-v", "vocab", "--parallel", "aa-bb=train.s,train.r", "--parallel", "bb-cc=train.s,train.s", "--layers", "1",
            "--dim", "64", "--heads", "4", "--ffn", "128", "--positions", "16", "--tokens", "300", "--steps", "400", "--lr", "4e-3", "--warmup", "50",
            "--seed", "3", "--dropout", "0", "--out", f"mt-{layout}", *extra)
        model = os.path.realpath(f"mt-{layout}/last")
        out = f"hf-{layout}"
        run("ckpt", "export", "-o", out, "--src", "aa", "--tgt", "bb", model)
        tok = T.AutoTokenizer.from_pretrained(out)
        id = ids_of(model, layout, tok)
        m = T.AutoModelForSeq2SeqLM.from_pretrained(out).eval()
        run("ckpt", "export", "-o", out + "-any", "--src", "aa", "--tgt", "bb", "--no-mask-vocab", model)
        plain = T.AutoModelForSeq2SeqLM.from_pretrained(out + "-any").eval()
        runs = [{"ids": [0, 5, 9, 7, 1], "decoder_ids": [0, 7, 9], "langs": [0, 1]}, {"ids": [0, 6, 1], "decoder_ids": [0, 6], "langs": [0, 1]}]
        got, worst = ours(model, runs), 0
        for i, r in enumerate(runs):
            with torch.no_grad():
                y = plain(input_ids=torch.tensor([[id[v] for v in r["ids"]]]), decoder_input_ids=torch.tensor([[id[v] for v in r["decoder_ids"]]]),
                          output_hidden_states=True)
            worst = max(worst, relative(got[f"{i}.encoder"], y.encoder_last_hidden_state[0]), relative(got[f"{i}.decoder"], y.decoder_hidden_states[-1][0]),
                        relative(got[f"{i}.logits"], y.logits[0][:, torch.tensor(id)]))
        say(worst < 1e-5, f"ours as {layout} in transformers: {worst:.1e}")
        ctranslate2.converters.TransformersConverter(out).convert("ct2", force=True)
        ct2 = ctranslate2.Translator("ct2", compute_type="float32")
        source = [tok.convert_ids_to_tokens(tok.encode(x)) for x in test]
        for beam in (1, 5):
            mine = run("translate", "-m", model, "-s", "aa", "-t", "bb", "--beam", str(beam), "--max-ratio", "0", "--max-extra", "14", text=text).split("\n")[:-1]
            theirs = []
            for x in test:
                with torch.no_grad():
                    y = m.generate(torch.tensor([tok.encode(x)]), num_beams=beam, do_sample=False, max_new_tokens=15, length_penalty=1.0)
                theirs.append(" ".join(tok.convert_ids_to_tokens(t) for t in y[0].tolist() if t not in (id[0], id[1], id[2])))
            same = sum(a == b for a, b in zip(mine, theirs))
            say(same == len(test), f"ours as {layout}, beam {beam}, transformers: {same} of {len(test)} translations are the same")
            y = ct2.translate_batch(source, beam_size=beam, max_decoding_length=15, length_penalty=1,
                                    target_prefix=[["<s>"]] * len(source) if layout == "mbart" else None)
            theirs = [" ".join(t for t in h.hypotheses[0] if t not in ("<s>", "</s>")) for h in y]
            same = sum(a == b for a, b in zip(mine, theirs))
            say(same == len(test), f"ours as {layout}, beam {beam}, CTranslate2: {same} of {len(test)} translations are the same")


print(f"torch {torch.__version__}, transformers {T.__version__}, ctranslate2 {ctranslate2.__version__}, sentencepiece {spm.__version__}")
golden()
heads()
test = make_text()
encoders()
translators(test)
tokenisers()
sys.exit(failed > 0)
