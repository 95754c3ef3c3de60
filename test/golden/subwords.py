#!/usr/bin/env python3
"""Makes test/golden/subwords: small models and what transformers (WordPiece, unigram), sentencepiece (BPE) and tokenizers
(tokenizer.json) make of a text, which test/cli/subwords.sh compares tokenize --subwords with.

    test/golden/subwords.py OUT_DIR        (transformers, tokenizers, sentencepiece from PyPI)
"""
import json, os, sys, tempfile
import sentencepiece as spm
from tokenizers import AddedToken, BertWordPieceTokenizer, Regex, Tokenizer
from tokenizers import models as M, normalizers as N, pre_tokenizers as P, trainers as T
from transformers import AutoTokenizer

out = sys.argv[1]
os.makedirs(out, exist_ok=True)
TEXT = """The quick brown foxes were running, and the slower ones walked behind them.
Ein kleiner Hund l\u00e4uft \u00fcber die gr\u00fcne Wiese; \u00dcbung macht den Meister!
Le gar\u00e7on a mang\u00e9 une p\u00eache \u00e0 No\u00ebl \u2013 \u00ab d\u00e9j\u00e0 \u00bb.
\u0130stanbul'da \u0131\u015f\u0131k g\u00fczel.
\u042d\u0442\u043e \u043f\u0440\u043e\u0441\u0442\u043e\u0435 \u043f\u0440\u0435\u0434\u043b\u043e\u0436\u0435\u043d\u0438\u0435 \u043d\u0430 \u0440\u0443\u0441\u0441\u043a\u043e\u043c \u044f\u0437\u044b\u043a\u0435, \u0451\u0436\u0438\u043a.
\u03a4\u03bf \u03a3\u03a0\u0399\u03a4\u0399 \u03b5\u03af\u03bd\u03b1\u03b9 \u03bc\u03b9\u03ba\u03c1\u03cc\u03c2.
\u0647\u0630\u0647 \u062c\u0645\u0644\u0629 \u0642\u0635\u064a\u0631\u0629\u064b \u062c\u062f\u0627\u064b.
\u092f\u0939 \u090f\u0915 \u091b\u094b\u091f\u093e \u0935\u093e\u0915\u094d\u092f \u0939\u0948\u0964
\u4eca\u5929\u5929\u6c14\u5f88\u597d\uff0c\u6211\u4eec\u53bb\u516c\u56ed\u3002
\u0e27\u0e31\u0e19\u0e19\u0e35\u0e49\u0e2d\u0e32\u0e01\u0e32\u0e28\u0e14\u0e35
\ud55c\uad6d\uc5b4 \ubb38\uc7a5\uc785\ub2c8\ub2e4.
\ufb01ne \u00ad so\u00adft zero\u200bwidth a\u00a0b\u3000c\u2028d
don't (a-b) \u201cq\u201d \u00a7 \u20ac $5 ^ ` ~ 12345 1.5e-3
xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx y zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz
\U0001f600 \U00020000 \ue000private \u0300x e\u0301

   two   spaces 
\u2581already \u2581
## a##b [X]
AAaaa aAaA aaaaaaa ababab bababa""".split("\n")


def write(name, lines):
    with open(f"{out}/{name}", "w", encoding="utf-8") as f:
        f.write("".join(x + "\n" for x in lines))


write("text", TEXT)
for name, lower in (("cased", False), ("uncased", True)):
    t = BertWordPieceTokenizer(lowercase=lower)
    t.train_from_iterator(TEXT * 3, vocab_size=300, show_progress=False)
    with tempfile.TemporaryDirectory() as d:
        t.save_model(d)
        json.dump({"tokenizer_class": "BertTokenizer", "do_lower_case": lower}, open(f"{d}/tokenizer_config.json", "w"))
        write(f"{name}.out", [" ".join(AutoTokenizer.from_pretrained(d).tokenize(x)) for x in TEXT])
        os.replace(f"{d}/vocab.txt", f"{out}/{name}.txt")

rules = f"{out}/rules"
open(rules, "w").write("C4\t61 65\nE4\t61 65\nFB01\t66 69\nA0\t20\n3000\t20\nAD\t\n31 32\t33\n")
train = dict(sentence_iterator=None, minloglevel=2, hard_vocab_limit=False, normalization_rule_tsv=rules)
spm.SentencePieceTrainer.train(**{**train, "sentence_iterator": iter(TEXT * 3)}, model_prefix=f"{out}/unigram", vocab_size=260, model_type="unigram")
spm.SentencePieceTrainer.train(**{**train, "sentence_iterator": iter(TEXT * 3)}, model_prefix=f"{out}/bpe", vocab_size=520, model_type="bpe",
                               byte_fallback=True, character_coverage=0.98, user_defined_symbols=["quick br", "##"])
spm.SentencePieceTrainer.train(**{**train, "sentence_iterator": iter(TEXT * 3)}, model_prefix=f"{out}/spaces", vocab_size=300, model_type="unigram",
                               remove_extra_whitespaces=False, treat_whitespace_as_suffix=True, user_defined_symbols=["running,"])
for name in ("unigram", "bpe", "spaces"):
    os.remove(f"{out}/{name}.vocab")
    s = spm.SentencePieceProcessor(model_file=f"{out}/{name}.model")
    write(f"{name}.out", [" ".join(s.encode(x, out_type=str)) for x in TEXT])
os.remove(rules)

# tokenizer.json: as XLM-R has it (unigram behind a precompiled map), byte-level BPE as RoBERTa and as newer models have it,
# BERT with added tokens, and the other components. Lines with added tokens are added to the text.
ADDED = ["x <mask> y", "<mask>a NewWord b newword [ent] a[ent] [ent]b two words   Two Words   z  <s></s>",
         "  NewWordTwo Words<mask>  <mask>", " a", "it's I'll  we've 'tis '' 's  's", "\uff11\uff12 \uff41 \ufb01 \u338f \u00bd \u2167 \u0663",
         "a\u0301e\u0301 \u0600\u0661 n\u0303o \u00a9\u200d\u00ae e\u0301\u0301\u0301",
         "x\u00bdy \u00b2z \u24d0b a\u180ec d\u0085e \u3005\u3001\u3006 7a \u0663b f_g-h"]
write("text-added", TEXT + ADDED)


def save(name, t, specials=("<s>", "</s>", "<pad>", "<unk>"), whole=()):
    if whole:  # tokens that no merges make
        j = json.loads(t.to_str())
        j["model"]["vocab"].update({x: len(j["model"]["vocab"]) + i for i, x in enumerate(whole)})
        t = Tokenizer.from_str(json.dumps(j))
    t.add_special_tokens([AddedToken(x, special=True, normalized=False) for x in specials])
    t.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True, normalized=False)])
    t.add_tokens([AddedToken("NewWord", normalized=True), AddedToken("[ent]", single_word=True, normalized=False),
                  AddedToken("Two\u2581Words", normalized=True, rstrip=True)])
    t.save(f"{out}/{name}.json", pretty=False)
    t = Tokenizer.from_file(f"{out}/{name}.json")
    unigram = isinstance(t.model, M.Unigram)
    added = t.get_added_tokens_decoder()
    lines = []
    for e in t.encode_batch(TEXT + ADDED, add_special_tokens=False):
        names = [added[i].content if i in added else t.id_to_token(i) for i in e.ids]
        # transformers shows text that a unigram model does not know as it is
        lines.append(" ".join(s if unigram and x == "<unk>" else x for x, s in zip(names, e.tokens)))
    write(f"{name}.out", lines)


from transformers.convert_slow_tokenizer import import_protobuf
proto = import_protobuf().ModelProto()
proto.ParseFromString(open(f"{out}/unigram.model", "rb").read())
pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)] + [(p.piece, p.score) for p in proto.pieces[3:]]


def unigram(name, normalizer, pre):
    t = Tokenizer(M.Unigram(pieces, 3, False))
    t.normalizer, t.pre_tokenizer = normalizer, pre
    save(name, t)


# a map with a key of two characters, which text has as one grapheme cluster
with tempfile.TemporaryDirectory() as d:
    open(f"{d}/rules", "w").write("C4\t61 65\nFB01\t66 69\nA0\t20\n65 301\t45\n6E 303\t4E\n")
    spm.SentencePieceTrainer.train(**{**train, "sentence_iterator": iter(TEXT * 3), "normalization_rule_tsv": f"{d}/rules"},
                                   model_prefix=f"{d}/m", vocab_size=260)
    proto.ParseFromString(open(f"{d}/m.model", "rb").read())
unigram("xlmr", N.Precompiled(proto.normalizer_spec.precompiled_charsmap), P.Sequence([P.WhitespaceSplit(), P.Metaspace()]))
unigram("first", N.Sequence([N.Nmt(), N.NFKC(), N.Strip(False, True), N.Replace(Regex(" {2,}"), "\u2581")]),
        P.Metaspace(prepend_scheme="first", split=False))
unigram("mixed", N.Sequence([N.NFKD(), N.Lowercase(), N.StripAccents()]),
        P.Sequence([P.Split(Regex(r"\w+"), "contiguous"), P.Digits(True), P.Punctuation("merged_with_previous"), P.Metaspace()]))


def bpe(name, model, trainer, whole=(), **stages):
    t = Tokenizer(model)
    for stage, value in stages.items():
        setattr(t, stage, value)
    t.train_from_iterator(TEXT * 3, T.BpeTrainer(show_progress=False, **trainer))
    save(name, t, whole=whole)


bytes_ = dict(vocab_size=420, initial_alphabet=P.ByteLevel.alphabet())
bpe("roberta", M.BPE(), {**bytes_, "special_tokens": ["<s>", "<pad>", "</s>", "<unk>"]}, pre_tokenizer=P.ByteLevel(add_prefix_space=False))
bpe("llama", M.BPE(ignore_merges=True), bytes_, whole=("\u0120walked", "\u0120Hund"), normalizer=N.NFC(), pre_tokenizer=P.Sequence([
    P.Split(Regex(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"),
            "isolated"), P.ByteLevel(add_prefix_space=False, use_regex=False)]))
bpe("prefix", M.BPE(unk_token="<unk>", fuse_unk=True, continuing_subword_prefix="##"),
    dict(vocab_size=300, limit_alphabet=60, continuing_subword_prefix="##", special_tokens=["<unk>"]),
    normalizer=N.NFD(), pre_tokenizer=P.Whitespace())
t = Tokenizer(M.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20))
t.normalizer, t.pre_tokenizer = N.BertNormalizer(), P.BertPreTokenizer()
t.train_from_iterator(TEXT * 3, T.WordPieceTrainer(vocab_size=300, show_progress=False, special_tokens=["[UNK]", "[CLS]"]))
save("bert", t, ())

# Oniguruma's patterns, where they are not PCRE2's
t = Tokenizer(M.WordLevel(unk_token="<unk>"))
t.pre_tokenizer = P.Sequence([P.Split(Regex(r), "isolated") for r in
                              (r"\w+|\W", r"\s", r"[^\S\n]+", r"(?<=\d)(?=\D)", r"[\w]+", r"\b", r"\h")]
                             + [P.Split(Regex(r"\p{Han}"), "removed")])
t.train_from_iterator(TEXT + ADDED, T.WordLevelTrainer(vocab_size=400, show_progress=False, special_tokens=["<unk>"]))
j = json.loads(t.to_str())
# a token that a line cannot hold is written by its id; here they are left out
j["model"]["vocab"] = {x: i for i, x in enumerate(x for x in j["model"]["vocab"] if not set(x) & set(" \n"))}
save("patterns", Tokenizer.from_str(json.dumps(j)))
