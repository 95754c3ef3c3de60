#!/usr/bin/env python3
"""Makes test/golden/subwords/{stages,spm}: models by hand, as small as can be, each followed by
lines "<text" and ">what the library makes of it", for test/unit/subwords.c. stages has a
tokenizer.json in a line for each normalizer, pre-tokenizer and model (the tokenizers library,
0.23); spm has SentencePiece models in hexadecimal (sentencepiece, 0.2).

    test/golden/subword_stages.py OUT_DIR        (tokenizers, sentencepiece from PyPI)

The texts stand at the borders of what a stage looks for: the first and last ideograph of each
block, each kind of white space, punctuation, invisible characters."""
import base64, json, struct, sys, tempfile
import sentencepiece as spm
from tokenizers import Tokenizer

out = sys.argv[1]
META = "\u2581"


def write(name, lines):
    with open(f"{out}/{name}", "w", encoding="utf-8", newline="\n") as f:
        f.write("".join(x + "\n" for x in lines))


# A map is compiled by the library; its bytes stand behind their length in the model.
def charsmap(rules):
    with tempfile.TemporaryDirectory() as d:
        with open(f"{d}/rules", "w") as f:
            for pair in rules:
                f.write("\t".join(" ".join("%X" % ord(c) for c in s) for s in pair) + "\n")
        spm.SentencePieceTrainer.train(
            sentence_iterator=iter(["abc abd xy"] * 9), model_prefix=f"{d}/m", vocab_size=20,
            hard_vocab_limit=False, minloglevel=2, normalization_rule_tsv=f"{d}/rules")
        return message(message(open(f"{d}/m.model", "rb").read(), 3), 2)


def message(b, field):
    def varint_at(i):
        v = shift = 0
        while True:
            v |= (b[i] & 127) << shift
            shift, i = shift + 7, i + 1
            if b[i - 1] < 128:
                return v, i
    i = 0
    while i < len(b):
        key, i = varint_at(i)
        n, i = (4, i) if key & 7 == 5 else (0, varint_at(i)[1]) if key & 7 == 0 else varint_at(i)
        if key == field << 3 | 2:
            return b[i:i + n]
        i += n


some_map = charsmap([("\u00e9", "e"), ("x", ""), ("e\u0301", "E"), ("\u3000", " "),
                     ("\u00a0", "  "), ("q", " q "), ("ab", "c"), ("abcd", "\u00e9"),
                     ("abca", "a b"), ("\u00a9", "C")])
# keys that begin alike, as many as the library makes
many_map = charsmap([("k" * i, chr(0x4E00 + i)) for i in range(1, 32)])


# --- tokenizer.json: stages. The model knows nothing, and shows each word as it is.
def part(t, **k):
    return {"type": t, **k}


def seq(key, *v):
    return part("Sequence", **{key: list(v)})


def bert(**k):
    return part("BertNormalizer", **{**dict(
        clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True), **k})


def split(pattern, behavior, invert=False):
    return part("Split", pattern=pattern, behavior=behavior, invert=invert)


def meta(scheme, cut):
    return part("Metaspace", replacement=META, prepend_scheme=scheme, split=cut)


def file(normalizer, pre, model, added=()):
    return json.dumps({"version": "1.0", "added_tokens": list(added), "normalizer": normalizer,
                       "pre_tokenizer": pre, "model": model},
                      ensure_ascii=False, separators=(",", ":"))


NOTHING = part("Unigram", unk_id=0, vocab=[["<unk>", 0.0]])
WORDS = part("WhitespaceSplit")
SHOWN = meta("never", False)            # spaces as U+2581
BLOCKS = [(0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
          (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)]
cjk = " ".join(f"x{chr(a - 1)}x{chr(a)}x{chr(b)}x{chr(b + 1)}x" for a, b in BLOCKS)
controls = " ".join(f"a{chr(c)}b" for c in (
    1, 8, 9, 0xB, 0xC, 0xD, 0xE, 0x1F, 0x7F, 0x85, 0x8F, 0x9F, 0xA0, 0xAD, 0x1680, 0x200A, 0x200B,
    0x200D, 0x200F, 0x2010, 0x2028, 0x2029, 0x202F, 0x2060, 0x2581, 0x3000, 0xE000, 0xFEFF,
    0xFFFD))
accents = ("\u00c5ngstr\u00f6m \u0130I\u0131 \u1e9e\u00df \u0915\u093e\u0902 a\u20dd x\u0301 "
           "\uff21 \ufb01 \u00bd \u1e9b\u0323 \ud55c")
punctuation = "".join("a" + chr(c) for c in [*range(33, 127), 0xA1, 0xA7, 0xB6, 0xB7, 0xBF, 0x20AC,
                                             0x2013, 0x2018, 0x3001, 0xFF0C])
spaces = "  two  words \u00a0and\u3000 more  "
files = []


def stage(normalizer, pre, *texts):
    files.append((file(normalizer, pre, NOTHING), texts))


for k in ({}, dict(clean_text=False), dict(handle_chinese_chars=False), dict(strip_accents=False),
          dict(lowercase=False), dict(lowercase=False, strip_accents=True)):
    stage(bert(**k), WORDS, cjk, controls, accents)
for left in (True, False):
    for right in (True, False):
        stage(part("Strip", strip_left=left, strip_right=right), meta("first", True),
              spaces, "   ", "\u3000x\u3000")
for t in ("StripAccents", "NFC", "NFD", "NFKC", "NFKD", "Lowercase"):
    stage(part(t), WORDS, accents, "plain ASCII")
stage(part("Nmt"), SHOWN, controls)
# clusters of 2 to 8 bytes, and what joins: marks, Hangul, flags, emoji, CR LF, a prefix
stage(part("Precompiled", precompiled_charsmap=base64.b64encode(some_map).decode()), SHOWN,
      "".join("\u00e9" + "\u0301" * i + "_e" + "\u0301" * i + "_" for i in range(5)),
      "\u1112\u1161\u11ab \U0001f1e9\U0001f1ea \u00a9\u200d\u00ae \u00e9\u200d\u00ae "
      "x\u0600\u00e9\u0600x \u00e9\r\u0301 abc abcda ab\u0301 \u0915\u093e\u0301")
stage(part("Prepend", prepend=META), WORDS, "a b", "")
for pattern, content, *texts in (
        ({"String": "ab"}, "c", "abab aab b ab", "b"),
        ({"Regex": "a*"}, "-", "baac", "aa", "b\u00e9"),
        ({"Regex": "(?<=a)b|^c"}, "", "ab cab c")):
    stage(part("Replace", pattern=pattern, content=content), WORDS, *texts)
stage(seq("normalizers", part("NFD"), part("StripAccents"), part("Lowercase"),
          part("Replace", pattern={"String": "x"}, content="yy")), WORDS, accents)
for pre in (part("BertPreTokenizer"), part("Whitespace"), WORDS,
            seq("pretokenizers", part("Punctuation"), SHOWN),
            seq("pretokenizers", WORDS, part("Punctuation", behavior="Contiguous"))):
    stage(None, pre, punctuation, controls, spaces)
for b in ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"):
    stage(None, part("Punctuation", behavior=b), "..a.b..c..", "a", "..", "a!b")
    for invert in (False, True):
        stage(None, split({"Regex": "[0-9]"}, b, invert), "12ab3c45", "a", "1")
    stage(None, split({"String": "ab"}, b), "abcabab", "xabx", "ab")
for regex in (r"\p{Alphabetic}+", r"\p{Latin}", r"\p{^Latin}", r"\P{Greek}+", r"\p{Lu}",
              r"[]a]+", r"[^]a]+", r"[^]\w]+", r"[\s\w]+", r"\W+", r"[[:space:][:digit:]]",
              r"\bb\B"):
    stage(None, seq("pretokenizers", split({"Regex": regex}, "Isolated"), SHOWN),
          "Ab1 \u03b1\u0391]a\u00e9 ab b1\u0663\u0085]", "\u24b6\u00b2_b bb",
          # a mark that is of no script itself, and in use with Greek
          "\u03b1\u0342a\u0342")
for alone in (False, True):
    stage(None, part("Digits", individual_digits=alone),
          "a12b3_\u0663\u0664c_\u00bd\u00be_\u2167_4\u00b2_\u4e8c", "12", "x")
stage(None, part("CharDelimiterSplit", delimiter="-"), "a--b-", "-", "ab")
for scheme in ("first", "always", "never"):
    for cut in (True, False):
        stage(None, meta(scheme, cut), "a  b ", " a", META + "a b", "a")
for scheme in ("first", "always"):
    stage(None, seq("pretokenizers", part("Digits", individual_digits=False), meta(scheme, True)),
          "a1 b", "1a")
# what is the first of a line, and so gets Metaspace's mark, after others have cut it
for pre in (part("BertPreTokenizer"), part("Whitespace"), WORDS, part("Punctuation"),
            part("CharDelimiterSplit", delimiter="-"),
            *(split({"Regex": ",|-"}, b, invert) for b in (
                "Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
              for invert in (False, True)),
            *(part("ByteLevel", add_prefix_space=space, use_regex=regex, trim_offsets=True)
              for space in (True, False) for regex in (True, False))):
    stage(None, seq("pretokenizers", pre, meta("first", True)),
          "a,b-c", ",a", "-,a", " a b", "\u00e9-\u00e9 x", "-", "a")
for space in (True, False):
    for regex in (True, False):
        stage(None, part("ByteLevel", add_prefix_space=space, use_regex=regex, trim_offsets=True),
              "it's I'll we've they're I'm he'd can't 'x'y ''",
              " a  b12c  \u0663\u00bd \u00e9t\u00e9--?!  ", "a\tb \t c", "x ", "  ", " ",
          "it's", "we'll", "'d", "'", "x'", "a 's", "a  's", "a \u00e9\U0001f600\u20ac1",
              "".join(map(chr, (*range(0xA0, 0xC0), 0x7F, 0x80, 1, 0x1F))))


# --- tokenizer.json: models
def model(t, texts, **k):
    files.append((file(None, WORDS, part(t, **k)), texts))


def ids(*v):
    return {x: i for i, x in enumerate(v)}


def bpe(texts, vocab, merges, **k):
    model("BPE", texts, **{**dict(
        dropout=None, unk_token=None, continuing_subword_prefix=None, end_of_word_suffix=None,
        fuse_unk=False, byte_fallback=False, ignore_merges=False), **k}, vocab=vocab, merges=merges)


letters = ids("a", "b", "c", "ab", "bc", "abc", "<u>", "aa", "aaaa", "bca", "ca")
pairs = [["b", "c"], ["a", "b"], ["a", "a"], ["aa", "aa"], ["ab", "c"], ["bc", "a"], ["a", "bc"]]
text = ["abc aabc bcabc aaaaaaa axxb xx\u00e9y cab abab x"]
bpe(text, letters, pairs, unk_token="<u>")
bpe(text, letters, [" ".join(x) for x in pairs], unk_token="<u>", fuse_unk=True)
bpe(text, letters, pairs)
bpe(text, letters, pairs[::-1], unk_token="<u>", ignore_merges=True)
bpe(["abc bca ca ab cc b"], letters, [["c", "a"]], ignore_merges=True)
bpe(["ab a b abc"], ids("ab", "a", "b", "abc"), [], ignore_merges=True)
# of two equal merges the last counts
bpe(text, letters, pairs + [["b", "c"]], unk_token="<u>")
some_bytes = {**letters, **{"<0x%02X>" % b: 20 + i for i, b in enumerate((0xC3, 0xA9, 0x78, 0xE2))}}
first_byte = {"<0xC3>": 0, "<0xA9>": 1, "a": 2, "<u>": 3}
bpe(["a\u00e9a \u00e8a"], first_byte, [], unk_token="<u>", byte_fallback=True)
for fuse in (False, True):
    bpe(["a\u00e9b x\u00e8 \u20aca \u00e9\u00e9z"], some_bytes, pairs, unk_token="<u>",
        byte_fallback=True, fuse_unk=fuse)
bpe(["abc abca aaa aa baa b cab", "axb"],
    ids("a", "##b", "##c", "ab", "##bc", "abc", "<u>", "##a", "##aa"),
    [["##b", "##c"], ["a", "##b"], ["##a", "##a"], ["a", "##bc"]], unk_token="<u>",
    continuing_subword_prefix="##")
for texts, k in (
        (["undo undoing un und undod undoo undox a aa \u00e9 \u00e9\u00e9 und\u00e9 und\u00ea",
          "##do"],
         {}),
        (["un und undo undod \u00e9\u00e9\u00e9\u00e9 \u00e9\u00e9\u00e9\u00e9\u00e9 a"],
         dict(max_input_chars_per_word=4)),
        (["undo un##do doun"], dict(continuing_subword_prefix="")),
        (["a" + "\u00e9" * 99, "a" + "\u00e9" * 100], {})):
    model("WordPiece", texts, **{**dict(
        unk_token="[UNK]", continuing_subword_prefix="##", max_input_chars_per_word=100,
        vocab=ids("[UNK]", "un", "##do", "##d", "##o", "a", "\u00e9", "##\u00e9", "und", "##ing",
                  "und\u00e9")), **k})
model("WordLevel", ["a b c a,b <u> "], vocab=ids("a", "b", "<u>", "a,b"), unk_token="<u>")
model("WordLevel", ["a b c a,b a"], vocab=ids("<u>", "b", "a"), unk_token="<u>")
scores = [["<unk>", 0.0], ["a", -1.0], ["b", -1.5], ["ab", -2.0], ["abc", -4.25], ["c", -2.5],
          ["bc", -3.75], ["aaa", -2.9], ["aa", -2.1], ["\u00e9", -3], ["ca", -1e-3], ["b", -1.4]]
text = ["abc aabc bcabc aaaaaaa axxb xx\u00e9y cab abab caca \u00e8\u00e9\u00e8 cc"]
for texts, vocab, fallback in (
        (text, scores, False), (text, scores[:3], False),
        # an unknown letter costs 10 more than the worst piece, whatever the sign of its score
        (["xyz xzz"], [["<unk>", 0.0], ["xy", -8.0], ["z", -8.0], ["yz", -1.0]], False),
        (["xb b xbb xxb"], [["<unk>", 20.0], ["xb", 11.0], ["b", 20.5]], False),
        (["ab xa\u00e9", "\u20ac\u00ff"], scores + [["<0x%02X>" % i, -9.0] for i in range(256)],
         True),
        (["ab\u20ac"], [["<0x%02X>" % i, -9.0] for i in range(256)] + scores[1:], True),
        (["\u2581a\u2581ab \u2581\u2581b", "a\u2581b\u2581a"],
         scores + [["\u2581", -3.0], ["\u2581a", -2.0], ["a\u2581b", -2.5]], False)):
    model("Unigram", texts, unk_id=0, vocab=vocab, byte_fallback=fallback)


# --- tokenizer.json: added tokens
def added(i, content, **k):
    return {"id": i, "content": content, **{**dict(
        single_word=False, lstrip=False, rstrip=False, normalized=False, special=False), **k}}


some = [added(1, "<m>", lstrip=True), added(2, "<mm>", rstrip=True),
        added(3, "[e]", single_word=True), added(4, "Two Words"), added(5, "NeW", normalized=True),
        added(6, "<b>", lstrip=True, rstrip=True), added(7, "<"),
        added(8, "n\u00e9", normalized=True, single_word=True)]
text = ["x <m> y", "x  <m><mm>  y <mm>",
        "[e] a[e] [e]b ([e]) [e][e] \u00e9[e] [e]\u00e9 _[e] .[e]. 1[e]",
        "Two Words two words Two  Words", "new NEW aNew", " <b> <b>  x <b>", "<<m>< <mm",
        "n\u00e9 N\u00c9 an\u00e9 n\u00e9a n\u00e9, ", "<m>", " <m> ",
        "\u3000<m>\u3000<mm>\u3000x"]
for normalizer, pre in (
        (part("Lowercase"), WORDS), (None, meta("first", True)),
        (seq("normalizers", part("Strip", strip_left=True, strip_right=True), part("Lowercase")),
         meta("first", True)),
        (None, meta("always", False)),
        (None, part("ByteLevel", add_prefix_space=True, use_regex=True, trim_offsets=True))):
    files.append((file(normalizer, pre, NOTHING, some), text))

lines = []
for j, texts in files:
    t = Tokenizer.from_str(j)
    is_added = t.get_added_tokens_decoder()
    lines.append(j)
    for x in texts:
        e = t.encode(x, add_special_tokens=False)
        names = [is_added[i].content if i in is_added else w for i, w in zip(e.ids, e.tokens)]
        # a token that a line cannot hold is written by its id; unknown text, as what it is
        lines += ["<" + x, ">" + " ".join(
            w if " " not in w else f"<id{i}>" if i in is_added else "<unk>"
            for i, w in zip(e.ids, names))]
write("stages", lines)


# --- SentencePiece's models
def varint(v):
    return bytes([v]) if v < 128 else bytes([v & 127 | 128]) + varint(v >> 7)


def number(field, v):
    return varint(field << 3) + varint(int(v))


def inside(field, b):
    return varint(field << 3 | 2) + varint(len(b)) + b


NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = range(1, 7)


def spm_model(pieces, bpe, charsmap=None, suffix=None, fallback=None, dummy=None, one=None,
              escape=None):
    b, trainer, normalizer = b"", number(3, 1 + bpe), b""
    for text, score, type in pieces:
        b += inside(1, inside(1, text.encode()) + varint(2 << 3 | 5) + struct.pack("<f", score)
                    + number(3, type))
    for field, v in (24, suffix), (35, fallback):
        trainer += number(field, v) if v is not None else b""
    if charsmap is not None:
        normalizer = inside(2, charsmap)
    for field, v in (3, dummy), (4, one), (5, escape):
        normalizer += number(field, v) if v is not None else b""
    return b + inside(2, trainer) + inside(3, normalizer)


pieces = [("<s>", 0, CONTROL), ("</s>", 0, CONTROL), ("<unk>", 0, UNKNOWN)] + [
    (text, score, NORMAL) for text, score in (
        (META, -3), (META + "a", -2), ("a", -2.5), ("b", -2.25), ("c", -4.5), ("ab", -3.5),
        (META + "ab", -2.5), ("bc", -4), ("abc", -5), ("ca", -6), ("<s>b", -9), ("e", -3),
        ("E", -3))]
spaced = [(x.replace("_", META), -2, NORMAL) for x in ("a_", "b_")]
texts = ["abc  ab a", " a b ", "", "   ", META + "a " + META, "xya\u00e9\u00e8 <s> b\u3000c",
         "abcabcabc aab bca cab"]
mapped = texts + ["\u00e9e\u0301e x xx", "ab abc abcd abca abcab", "a\u3000\u00a0b q\u00a0",
                  "qq aq x", "x ", " x", "x\u3000x", "a x b"]
models = []
for bpe in (False, True):
    for more, texts_, k in (
            # (letters of 2, 3 and 4 bytes: the first and last of each)
            ([], texts + ["\u0080b\u07ff\u0800b\uffee\U00010000 \U0010fffd \u0915x"], {}),
            ([], texts, dict(dummy=False)), ([], texts, dict(one=False)),
            ([(x, -1.5, NORMAL) for x in (" ", " a", " ab")], texts, dict(escape=False)),
            (spaced, texts, dict(suffix=True)),
            (spaced[:1], texts, dict(suffix=True, dummy=False, one=False)),
            (spaced[:1], texts, dict(suffix=True, escape=False)),
            # user-defined pieces, and such that are there for others alone
            ([(x, 0, USER) for x in ("bca", "b c", "bcab", "\u00e9")],
             texts + ["ab ca b c abcab", "bcabcab b  c", "x\u00e9y"], {}),
            ([("abca", -3, UNUSED), ("bcab", -3.25, UNUSED), ("abcab", -3.5, NORMAL)],
             texts + ["abca abcab bcab xabcax"], {}),
            ([], texts, dict(charsmap=b"")),
            ([], mapped, dict(charsmap=some_map)), ([], mapped, dict(charsmap=some_map, one=False)),
            ([("xa", 0, USER)], mapped + ["xa xxa"], dict(charsmap=some_map, suffix=True))):
        models.append((spm_model(pieces + more, bpe, **k), texts_))
    models.append((spm_model([(x, s, UNUSED if x in ("ab", "bc") else t) for x, s, t in pieces],
                             bpe), texts))
    # the highest score is that of user-defined pieces
    models.append((spm_model([(x, s + 10 * (t == NORMAL), t) for x, s, t in pieces]
                             + [("xx", 0, USER)], bpe), texts + ["xxx abxxxx"]))
    # which is a little less than as many letters of that score have
    models.append((spm_model([(x, 8 if x == "b" else s, t) for x, s, t in pieces]
                             + [("bb", 0, USER)], bpe), ["bb abb b", "abbb", "bbab bbb"]))
    # the first id is a piece as any other, whatever its type
    models.append((spm_model(pieces[::-1], bpe), texts + ["E eE xEx"]))
    for t in (USER, UNUSED):
        models.append((spm_model([("bca", -3, t)] + pieces + [("bcab", -3.1, NORMAL)], bpe),
                       ["abca bcab abcabca", "b ca bca"]))
    models.append((spm_model(pieces, bpe, charsmap=many_map),
                   ["k" * i + "a" for i in (1, 30, 31, 32, 62)]))
# an unknown letter costs 10 more than the worst piece, if all of them are above 0
models.append((spm_model([("<unk>", 0, UNKNOWN), ("xb", 1, NORMAL), ("b", 10.5, NORMAL),
                          (META, 2, NORMAL)], False), ["xb b xbb xxb"]))
models.append((spm_model([("<0x%02X>" % i, 0, BYTE) for i in range(256)] + pieces, False,
                         fallback=True), ["x\u00e9 ab\u20ac\U0001f600c", "\x01\x7f~"]))
lines = []
for m, texts in models:
    p = spm.SentencePieceProcessor(model_proto=m)
    lines.append(m.hex())
    for x in texts:
        lines += ["<" + x, ">" + " ".join(p.encode(x, out_type=str))]
write("spm", lines)
