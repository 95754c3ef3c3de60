#!/usr/bin/env python3
"""Makes test/golden/interchange/NAME: tiny models with random weights as transformers saves them, and expected.safetensors
with what it computes for them: every layer's states and the logits. test/unit/interchange.c replays them.

    test/golden/interchange.py OUT_DIR [NAME...]    (torch, transformers, sentencepiece from PyPI; default: all)
"""
import json, os, shutil, sys
import torch
from safetensors.torch import save_file
import transformers as T

D, FF, HEADS, POS = 16, 64, 2, 12
WORDS = [f"{a}{b}" for a in "kltmn" for b in ("a", "e", "io", "u")] + ["##" + b for b in ("s", "n", "t", "\u00e4")]


def shake(model):
    """Weights that are not 0 or 1 anywhere, biases and norms included."""
    torch.manual_seed(5)
    with torch.no_grad():
        for name, p in sorted(model.named_parameters()):
            p.copy_(torch.randn(p.shape) * (0.3 if p.dim() > 1 else 0.1) + (1 if "norm" in name.lower() and name.endswith("weight") else 0))
    return model.eval()


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def weights(model, dir, how, rename=lambda n: n):
    """One safetensors file, shards, or PyTorch's zip."""
    model.config.architectures = [type(model).__name__]       # as model.save_pretrained does
    model.config.save_pretrained(dir)
    state = {rename(k): v for k, v in model.state_dict().items()}
    seen, unique = {}, {}
    for k, v in state.items():                      # tied weights once, as transformers does
        if v.data_ptr() not in seen or v.numel() == 0:
            seen[v.data_ptr()] = k
            unique[k] = v.contiguous()
    if how == "safetensors":
        save_file(unique, f"{dir}/model.safetensors", {"format": "pt"})
    elif how == "shards":
        names, index = sorted(unique), {}
        for i in range(3):
            file = f"model-{i + 1:05}-of-00003.safetensors"
            part = {n: unique[n] for n in names[i::3]}
            save_file(part, f"{dir}/{file}", {"format": "pt"})
            index.update({n: file for n in part})
        write(f"{dir}/model.safetensors.index.json", json.dumps({"metadata": {}, "weight_map": index}, indent=1))
    elif how == "bin":
        torch.save(state, f"{dir}/pytorch_model.bin")
    else:
        names, index = sorted(state), {}
        for i in range(2):
            file = f"pytorch_model-{i + 1:05}-of-00002.bin"
            torch.save({n: state[n] for n in names[i::2]}, f"{dir}/{file}")
            index.update({n: file for n in names[i::2]})
        write(f"{dir}/pytorch_model.bin.index.json", json.dumps({"metadata": {}, "weight_map": index}, indent=1))


def sentences(bos, eos, vocab, low):
    g = torch.Generator().manual_seed(9)
    return [[bos] + torch.randint(low, vocab, (n,), generator=g).tolist() + [eos] for n in (4, 1, 8)]


def expect(dir, runs):
    out = {}
    for i, run in enumerate(runs):
        for k, v in run.items():
            out[f"{i}.{k}"] = v.detach().clone().contiguous()
    save_file(out, f"{dir}/expected.safetensors")


def ints(x):
    return torch.tensor(x, dtype=torch.int32)


def encoder(model, dir, inputs, more=lambda ids: {}):
    runs = []
    for ids in inputs:
        x = torch.tensor([ids])
        extra = more(ids)
        with torch.no_grad():
            y = model(input_ids=x, output_hidden_states=True, **{k: torch.tensor([v]) for k, v in extra.items()})
        run = {"ids": ints(ids), **{k: ints(v) for k, v in extra.items()}}
        run.update({f"h{i}": h[0] for i, h in enumerate(y.hidden_states)})
        if "start_logits" in y:                     # [rows, 2]; of classifiers [1, classes], of taggers [rows, classes]
            run["head"] = torch.stack([y.start_logits[0], y.end_logits[0]], 1)
        elif "logits" in y:
            run["logits" if y.logits.shape[-1] == model.config.vocab_size else "head"] = y.logits[0] if y.logits.dim() == 3 else y.logits
        runs.append(run)
    expect(dir, runs)


def bert(out):
    tokens = ["[PAD]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + WORDS
    c = T.BertConfig(vocab_size=len(tokens) + 2, hidden_size=D, num_hidden_layers=2, num_attention_heads=HEADS, intermediate_size=FF + 3,
                     max_position_embeddings=POS, type_vocab_size=2, pad_token_id=0)
    m = shake(T.BertForMaskedLM(c))
    weights(m, out, "safetensors")
    write(f"{out}/vocab.txt", "".join(t + "\n" for t in tokens))
    write(f"{out}/tokenizer_config.json", json.dumps({"tokenizer_class": "BertTokenizer", "do_lower_case": False}))
    encoder(m, out, sentences(3, 4, len(tokens), 6), lambda ids: {"token_type_ids": [int(i > len(ids) // 2) for i in range(len(ids))]})


def sides(ids):
    return {"token_type_ids": [int(i > len(ids) // 2) for i in range(len(ids))]}


def bert_of(kind, out, **more):
    tokens = ["[PAD]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + WORDS
    c = T.BertConfig(vocab_size=len(tokens), hidden_size=D, num_hidden_layers=1, num_attention_heads=HEADS, intermediate_size=FF,
                     max_position_embeddings=POS, type_vocab_size=2, pad_token_id=0, **more)
    m = shake(kind(c))
    weights(m, out, "safetensors")
    write(f"{out}/vocab.txt", "".join(t + "\n" for t in tokens))
    write(f"{out}/tokenizer_config.json", json.dumps({"tokenizer_class": "BertTokenizer", "do_lower_case": False}))
    encoder(m, out, sentences(3, 4, len(tokens), 6), sides)


def labels(*names):
    return {"id2label": dict(enumerate(names)), "label2id": {n: i for i, n in enumerate(names)}}


def bert_nli(out):
    """A pooler, and labels in another order than ours."""
    bert_of(T.BertForSequenceClassification, out, **labels("contradiction", "entailment", "neutral"))


def bert_qa(out):
    bert_of(T.BertForQuestionAnswering, out)


def bert_tanh(out):
    """GELU by tanh, in the layers and before the output layer."""
    bert_of(T.BertForMaskedLM, out, hidden_act="gelu_new")


def roberta_of(kind, out, how, **more):
    tokens = ["<s>", "<pad>", "</s>", "<unk>"] + WORDS + ["<mask>"]
    c = T.RobertaConfig(vocab_size=len(tokens), hidden_size=D, num_hidden_layers=1, num_attention_heads=HEADS, intermediate_size=FF,
                        max_position_embeddings=POS + 2, type_vocab_size=1, layer_norm_eps=1e-5, **more)
    m = shake(kind(c))
    weights(m, out, how)
    write(f"{out}/vocab.json", json.dumps({t: i for i, t in enumerate(tokens)}))
    encoder(m, out, sentences(0, 2, len(tokens) - 1, 4))


def roberta_class(out):
    """Dense and tanh below the output layer, one output: a number."""
    roberta_of(T.RobertaForSequenceClassification, out, "bin", num_labels=1, problem_type="regression")


def roberta_ner(out):
    roberta_of(T.RobertaForTokenClassification, out, "safetensors", **labels("O", "B-PER", "I-PER", "B-LOC", "I-LOC"))


def xlm_of(kind, out, **more):
    tokens = xlm_tokens()
    c = T.XLMConfig(vocab_size=len(tokens), emb_dim=D, n_layers=1, n_heads=HEADS, max_position_embeddings=POS, n_langs=2, use_lang_emb=True,
                    lang2id={"de": 0, "en": 1}, **more)
    m = shake(kind(c))
    weights(m, out, "safetensors")
    write(f"{out}/vocab.json", json.dumps({t: i for i, t in enumerate(tokens)}))
    write(f"{out}/merges.txt", "k a</w> 9\nl e 8\nl e</w> 7\nm u</w> 6\n")
    encoder(m, out, sentences(0, 1, len(tokens), 3), lambda ids: {"langs": [len(ids) % 2] * len(ids)})


def xlm_pairs(out):
    """Linear on the first state."""
    xlm_of(T.XLMForSequenceClassification, out)


def xlm_tag(out):
    xlm_of(T.XLMForTokenClassification, out, **labels("NOUN", "VERB", "X"))


def xlm_qa(out):
    xlm_of(T.XLMForQuestionAnsweringSimple, out)


def bert_bare(out):
    """No head, ReLU, one token type, layer norms called as TensorFlow did, PyTorch's zip."""
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + WORDS
    c = T.BertConfig(vocab_size=len(tokens), hidden_size=D, num_hidden_layers=1, num_attention_heads=HEADS, intermediate_size=FF,
                     max_position_embeddings=POS, type_vocab_size=1, hidden_act="relu", layer_norm_eps=1e-7)
    m = shake(T.BertModel(c))
    weights(m, out, "bin", lambda n: n.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"))
    write(f"{out}/vocab.txt", "".join(t + "\n" for t in tokens))
    encoder(m, out, sentences(2, 3, len(tokens), 5))


def xlmr(out):
    """Position offset, SentencePiece, shards."""
    import sentencepiece as spm
    text = ["ka le tio nu ma kae lea tion", "la te nio mu ka lale teti nion", "nata melu kiotu"] * 3
    rules = f"{out}/rules.tsv"
    write(rules, "C4\t61 65\nFB01\t66 69\n")                     # Ä -> ae, the ligature fi -> fi
    spm.SentencePieceTrainer.train(sentence_iterator=iter(text), model_prefix=f"{out}/m", vocab_size=30, model_type="unigram",
                                   normalization_rule_tsv=rules, hard_vocab_limit=False, minloglevel=2)
    os.rename(f"{out}/m.model", f"{out}/sentencepiece.bpe.model")
    os.remove(f"{out}/m.vocab")
    os.remove(rules)
    n = spm.SentencePieceProcessor(model_file=f"{out}/sentencepiece.bpe.model").get_piece_size() + 2
    c = T.XLMRobertaConfig(vocab_size=n, hidden_size=D, num_hidden_layers=2, num_attention_heads=HEADS, intermediate_size=FF,
                           max_position_embeddings=POS + 2, type_vocab_size=1, layer_norm_eps=1e-5)
    m = shake(T.XLMRobertaForMaskedLM(c))
    weights(m, out, "shards")
    write(f"{out}/tokenizer_config.json", json.dumps({"tokenizer_class": "XLMRobertaTokenizer"}))
    encoder(m, out, sentences(0, 2, n, 4))


def xlm_tokens():
    return ["<s>", "</s>", "<pad>", "<unk>"] + [f"<special{i}>" for i in range(10)] + \
        ["k", "a</w>", "ka</w>", "l", "e", "e</w>", "le", "le</w>", "m", "u</w>", "mu</w>"]


def xlm(out, languages=True):
    tokens = xlm_tokens()
    c = T.XLMConfig(vocab_size=len(tokens), emb_dim=D, n_layers=2, n_heads=HEADS, max_position_embeddings=POS, n_langs=3 if languages else 1,
                    use_lang_emb=languages, sinusoidal_embeddings=not languages, gelu_activation=languages, lang2id={"de": 0, "en": 1, "fr": 2} if languages else {})
    m = T.XLMWithLMHeadModel(c)
    positions = m.transformer.position_embeddings.weight.detach().clone()
    shake(m)
    if not languages:
        with torch.no_grad():
            m.transformer.position_embeddings.weight.copy_(positions)
    weights(m, out, "bin" if languages else "bin shards")
    write(f"{out}/vocab.json", json.dumps({t: i for i, t in enumerate(tokens)}))
    write(f"{out}/merges.txt", "k a</w> 9\nl e 8\nl e</w> 7\nm u</w> 6\n")
    encoder(m, out, sentences(0, 1, len(tokens), 3), (lambda ids: {"langs": [len(ids) % 3] * len(ids)}) if languages else lambda ids: {})


def xlm_plain(out):
    xlm(out, False)


def bart(out, mbart=False):
    tokens = ["<s>", "<pad>", "</s>", "<unk>"] + WORDS + (["de_DE"] if mbart else []) + ["<mask>"]
    c = (T.MBartConfig if mbart else T.BartConfig)(
        vocab_size=len(tokens), d_model=D, encoder_layers=2, decoder_layers=1, encoder_attention_heads=HEADS, decoder_attention_heads=HEADS,
        encoder_ffn_dim=FF, decoder_ffn_dim=FF, max_position_embeddings=POS, scale_embedding=mbart, decoder_start_token_id=0,
        activation_function="gelu" if mbart else "relu", forced_eos_token_id=None)
    m = shake((T.MBartForConditionalGeneration if mbart else T.BartForConditionalGeneration)(c))
    m.final_logits_bias.copy_(torch.randn(1, len(tokens), generator=torch.Generator().manual_seed(3)))
    weights(m, out, "safetensors")
    if mbart:
        write(f"{out}/tokenizer.json", json.dumps({"model": {"type": "WordLevel", "vocab": {t: i for i, t in enumerate(tokens)}}, "added_tokens": []}))
    else:
        write(f"{out}/vocab.json", json.dumps({t: i for i, t in enumerate(tokens)}))
    runs = []
    for i, ids in enumerate(sentences(0, 2, len(tokens) - 1, 4)):
        say = [0] + [4 + (5 * i + 3 * k) % 20 for k in range(2 + i)]
        with torch.no_grad():
            y = m(input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([say]), output_hidden_states=True)
        run = {"ids": ints(ids), "decoder_ids": ints(say), "logits": y.logits[0]}
        run.update({f"h{k}": h[0] for k, h in enumerate(y.encoder_hidden_states)})
        run["h2"] = y.encoder_last_hidden_state[0]
        run["states"] = y.decoder_hidden_states[-1][0]
        runs.append(run)
    expect(out, runs)


def mbart(out):
    bart(out, True)


def strided(out):
    """Views of one storage: a transpose, a column, every other number, a corner, axes in another order."""
    base = torch.arange(24, dtype=torch.float32) + 0.5
    m = base.reshape(4, 6)
    torch.save({"plain": m.clone(), "transposed": m.t(), "column": m[:, 2], "every_other": base[1::2],
                "corner": m[1:3, 2:5], "permuted": base.reshape(2, 3, 4).permute(2, 0, 1)}, out)


names = sys.argv[2:]
if not names:
    strided(f"{sys.argv[1]}/strided.pt")
for f in (bert, bert_bare, xlmr, xlm, xlm_plain, bart, mbart, bert_nli, bert_qa, bert_tanh, roberta_class, roberta_ner, xlm_pairs, xlm_tag, xlm_qa):
    if names and f.__name__ not in names:
        continue
    dir = f"{sys.argv[1]}/{f.__name__}"
    shutil.rmtree(dir, ignore_errors=True)
    os.makedirs(dir)
    f(dir)
