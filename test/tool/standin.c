/* standin LAYOUT OUT < TEXT: a folder as a published model has it, a few hundred KB of random
 * weights in place of what was trained, to rehearse what begins with one. LAYOUT is mbert, xlmr,
 * xlm, mbart, mt5 or xglm. The vocabulary is that of the text: its most frequent characters and
 * words, in the form of the layout's own tokeniser. The names of tensors and the keys of
 * config.json are those of the published files, written down here apart from lib/hf; 2 layers of
 * width 32. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "common/err.h"
#include "common/json/safetensors.h"
#include "common/mem.h"
#include "common/rng.h"
#include "common/text/symbols.h"
#include "common/text/text.h"
#include "lib/bpe/words.h"
#include "lib/text/tbuf.h"

enum { D = 32, FFN = 4 * D, HEADS = 2, LAYERS = 2, WORDS = 1500, CHARACTERS = 800 };
enum { TENSORS = 256 };

static const char *dir;

static void die(const char *what)
{
    fprintf(stderr, "standin: %s\n", what);
    exit(1);
}

static FILE *begin(const char *name)
{
    char *path = path_join(dir, name);
    FILE *f = fopen(path, "w");
    if (!f) die(path);
    free(path);
    return f;
}

static void end(FILE *f) { if (fclose(f)) die("cannot write"); }

/* --- the text's characters and words ---------------------------------------------------------- */

struct list { struct counted_word *v; size_t n; };
static struct list characters, words;

static bool is_mark(unsigned char c)
{
    return c < 0x80 && !((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z'));
}

static struct list sorted(struct word_counts *w, size_t most)
{
    struct list l;
    if (!(l.v = word_counts_list(w, &l.n))) die(err_msg());
    word_counts_sort(l.v, l.n);
    if (l.n > most) l.n = most;
    return l;
}

/* Words end at ASCII's punctuation, which stands alone. */
static void read_text(void)
{
    /* the lists are of their memory, to the end */
    static struct word_counts *c, *w;
    c = word_counts_new(1);
    w = word_counts_new(1);
    struct text *in = text_open("-", TEXT_UTF8);
    const char *line;
    size_t n;
    int rc = in ? 1 : -1;
    while (rc > 0 && (rc = text_line(in, &line, &n)) > 0)
        for (size_t i = 0, from = 0; i <= n; ) {
            bool out = i == n || is_mark((unsigned char)line[i]);
            if (out && i > from) word_counts_add(w, line + from, i - from, 1);
            if (i == n) break;
            size_t len = 1;
            while (i + len < n && ((unsigned char)line[i + len] & 0xC0) == 0x80) len++;
            if ((unsigned char)line[i] > ' ') word_counts_add(c, line + i, len, 1);
            i += len;
            if (out) from = i;
        }
    if (rc < 0) die(err_msg());
    text_close(in);
    characters = sorted(c, CHARACTERS);
    words = sorted(w, WORDS);
    if (!characters.n) die("there is no text on standard input");
}

static bool one_character(const struct counted_word *w)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n; i++) n += ((unsigned char)w->s[i] & 0xC0) != 0x80;
    return n < 2;
}

/* --- tokenisers: each returns the number of ids ----------------------------------------------- */

/* multilingual BERT's vocab.txt */
static int vocab_txt(void)
{
    FILE *f = begin("vocab.txt");
    int n = 104 + 2 * (int)characters.n;
    fprintf(f, "[PAD]\n");
    for (int i = 1; i < 100; i++) fprintf(f, "[unused%d]\n", i);
    fprintf(f, "[UNK]\n[CLS]\n[SEP]\n[MASK]\n");
    for (size_t i = 0; i < characters.n; i++)
        fprintf(f, "%.*s\n##%.*s\n", (int)characters.v[i].n, characters.v[i].s,
                (int)characters.v[i].n, characters.v[i].s);
    for (size_t i = 0; i < words.n; i++)
        if (!one_character(&words.v[i]))
            n++, fprintf(f, "%.*s\n", (int)words.v[i].n, words.v[i].s);
    end(f);
    f = begin("tokenizer_config.json");
    fprintf(f, "{\"do_lower_case\": false, \"model_max_length\": 512}\n");
    end(f);
    return n;
}

static void varint(struct tbuf *b, uint64_t v)
{
    for (; v > 127; v >>= 7) tbuf_byte(b, (char)(v | 128));
    tbuf_byte(b, (char)v);
}

/* sentencepiece_model.proto: ModelProto.pieces, type 1 a normal one, 2 unknown text, 3 control */
static void piece(struct tbuf *b, const char *before, const char *s, size_t n, float score,
                  int type)
{
    size_t all = strlen(before) + n;
    struct tbuf p = { 0 };
    tbuf_byte(&p, 0x0A);
    varint(&p, all);
    tbuf_add(&p, before, strlen(before));
    tbuf_add(&p, s, n);
    tbuf_byte(&p, 0x15);
    tbuf_add(&p, (const char *)&score, 4);
    tbuf_byte(&p, 0x18);
    tbuf_byte(&p, (char)type);
    tbuf_byte(b, 0x0A);
    varint(b, p.n);
    tbuf_add(b, p.p, p.n);
    tbuf_free(&p);
}

/* A unigram model: a word costs less than its characters. */
static int sentencepiece(const char *name, const char *const first[3], const int type[3])
{
    static const char start[] = "\xE2\x96\x81";
    struct tbuf b = { 0 };
    int n = 4 + (int)characters.n;
    for (int i = 0; i < 3; i++) piece(&b, "", first[i], strlen(first[i]), 0, type[i]);
    piece(&b, start, "", 0, -4, 1);
    for (size_t i = 0; i < words.n; i++)
        n++, piece(&b, start, words.v[i].s, words.v[i].n, -5 - logf((float)i + 1), 1);
    for (size_t i = 0; i < characters.n; i++)
        piece(&b, "", characters.v[i].s, characters.v[i].n, -20 - (float)i / 1000, 1);
    /* trainer_spec.model_type 1: unigram */
    tbuf_add(&b, "\x12\x02\x18\x01", 4);
    FILE *f = begin(name);
    if (fwrite(b.p, 1, b.n, f) != b.n) die("cannot write");
    end(f);
    tbuf_free(&b);
    return n;
}

/* XLM's vocab.json and merges.txt: each word is merged from the left. */
static bool symbol(FILE *vocab, struct symbols *seen, const char *text)
{
    uint32_t before = seen->n, at = symbols_add(seen, text, strlen(text));
    if (seen->n == before) return false;
    fprintf(vocab, ",\n\"%s%s\": %u", strchr("\"\\", *text) ? "\\" : "", text, 13 + at);
    return true;
}

static size_t length_at(const struct counted_word *w, uint32_t i)
{
    uint32_t n = 1;
    while (i + n < w->n && ((unsigned char)w->s[i + n] & 0xC0) == 0x80) n++;
    return n;
}

static int fastbpe(void)
{
    struct symbols seen;
    FILE *vocab = begin("vocab.json"), *merges = begin("merges.txt");
    symbols_init(&seen);
    fprintf(vocab, "{\"<s>\": 0, \"</s>\": 1, \"<pad>\": 2, \"<unk>\": 3");
    for (int i = 0; i < 10; i++) fprintf(vocab, ", \"<special%d>\": %d", i, 4 + i);
    char text[256], left[256];
    for (size_t i = 0; i < characters.n; i++)
        for (int last = 0; last < 2; last++) {
            snprintf(text, sizeof text, "%.*s%s", (int)characters.v[i].n, characters.v[i].s,
                     last ? "</w>" : "");
            symbol(vocab, &seen, text);
        }
    for (size_t i = 0; i < words.n; i++) {
        const struct counted_word *w = &words.v[i];
        if (w->n > 60 || one_character(w)) continue;
        for (uint32_t at = (uint32_t)length_at(w, 0); at < w->n; ) {
            uint32_t len = (uint32_t)length_at(w, at);
            const char *last = at + len == w->n ? "</w>" : "";
            snprintf(left, sizeof left, "%.*s", (int)at, w->s);
            snprintf(text, sizeof text, "%.*s%s", (int)(at + len), w->s, last);
            if (symbol(vocab, &seen, text))
                fprintf(merges, "%s %.*s%s %d\n", left, (int)len, w->s + at, last,
                        (int)(words.n - i));
            at += len;
        }
    }
    int n = 14 + (int)seen.n - 1;
    fprintf(vocab, "}\n");
    end(vocab);
    end(merges);
    symbols_free(&seen);
    return n;
}

/* --- weights ---------------------------------------------------------------------------------- */

static struct st_tensor tensor[TENSORS];
static int tensors;
static struct rng r = { { 1, RNG_TEST, 0 }, 0, 0 };

/* A tensor of random numbers about `mean`; cols 0: a vector. */
static void put(float mean, int rows, int cols, const char *fmt, ...)
{
    struct st_tensor *t = &tensor[tensors++];
    va_list ap;
    if (tensors > TENSORS) die("too many tensors");
    size_t n = (size_t)rows * (size_t)(cols ? cols : 1);
    float *x = mem_alloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++) x[i] = mean + ((float)rng_next_below(&r, 2001) - 1000) * 5e-5f;
    *t = (struct st_tensor){ .name = mem_alloc(128), .dtype = ST_F32, .ndim = cols ? 2 : 1,
                             .shape = { rows, cols }, .data = x, .bytes = n * sizeof *x };
    va_start(ap, fmt);
    vsnprintf(t->name, 128, fmt, ap);
    va_end(ap);
}

static void dense(int out, int in, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void dense(int out, int in, const char *fmt, ...)
{
    char name[112];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    put(0, out, in, "%s.weight", name);
    put(0, out, 0, "%s.bias", name);
}

static void norm(const char *weight, const char *bias, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void norm(const char *weight, const char *bias, const char *fmt, ...)
{
    char name[112];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    put(1, D, 0, "%s.%s", name, weight);
    put(0, D, 0, "%s.%s", name, bias);
}

static void bert_body(const char *p, int vocab, int positions, int types, const char *w,
                      const char *b)
{
    put(0, vocab, D, "%s.embeddings.word_embeddings.weight", p);
    put(0, positions, D, "%s.embeddings.position_embeddings.weight", p);
    put(0, types, D, "%s.embeddings.token_type_embeddings.weight", p);
    norm(w, b, "%s.embeddings.LayerNorm", p);
    static const char *const side[] = { "query", "key", "value" };
    for (int l = 0; l < LAYERS; l++) {
        for (int k = 0; k < 3; k++)
            dense(D, D, "%s.encoder.layer.%d.attention.self.%s", p, l, side[k]);
        dense(D, D, "%s.encoder.layer.%d.attention.output.dense", p, l);
        norm(w, b, "%s.encoder.layer.%d.attention.output.LayerNorm", p, l);
        dense(FFN, D, "%s.encoder.layer.%d.intermediate.dense", p, l);
        dense(D, FFN, "%s.encoder.layer.%d.output.dense", p, l);
        norm(w, b, "%s.encoder.layer.%d.output.LayerNorm", p, l);
    }
    dense(D, D, "%s.pooler.dense", p);
}

/* bert-base-multilingual-cased, layer norms as TensorFlow calls them */
static void mbert(FILE *config)
{
    int vocab = vocab_txt();
    bert_body("bert", vocab, 512, 2, "gamma", "beta");
    put(0, vocab, 0, "cls.predictions.bias");
    dense(D, D, "cls.predictions.transform.dense");
    norm("gamma", "beta", "cls.predictions.transform.LayerNorm");
    dense(2, D, "cls.seq_relationship");
    fprintf(config, "{\"architectures\": [\"BertForMaskedLM\"], \"attention_probs_dropout_prob\": "
                    "0.1, \"directionality\": \"bidi\", \"hidden_act\": \"gelu\", "
                    "\"hidden_dropout_prob\": 0.1, \"hidden_size\": %d, \"initializer_range\": "
                    "0.02, \"intermediate_size\": %d, \"layer_norm_eps\": 1e-12, "
                    "\"max_position_embeddings\": 512, \"model_type\": \"bert\", "
                    "\"num_attention_heads\": %d, \"num_hidden_layers\": %d, \"pad_token_id\": 0, "
                    "\"pooler_type\": \"first_token_transform\", \"type_vocab_size\": 2, "
                    "\"vocab_size\": %d}\n", D, FFN, HEADS, LAYERS, vocab);
}

static const char *const fairseq[] = { "<unk>", "<s>", "</s>" };
static const int fairseq_type[] = { 2, 3, 3 };

/* xlm-roberta-base and -large */
static void xlmr(FILE *config)
{
    int vocab = sentencepiece("sentencepiece.bpe.model", fairseq, fairseq_type) + 2;
    bert_body("roberta", vocab, 514, 1, "weight", "bias");
    put(0, vocab, 0, "lm_head.bias");
    dense(D, D, "lm_head.dense");
    norm("weight", "bias", "lm_head.layer_norm");
    fprintf(config, "{\"architectures\": [\"XLMRobertaForMaskedLM\"], "
                    "\"attention_probs_dropout_prob\": 0.1, \"bos_token_id\": 0, "
                    "\"eos_token_id\": 2, \"hidden_act\": \"gelu\", \"hidden_dropout_prob\": 0.1, "
                    "\"hidden_size\": %d, \"initializer_range\": 0.02, \"intermediate_size\": %d, "
                    "\"layer_norm_eps\": 1e-05, \"max_position_embeddings\": 514, "
                    "\"model_type\": \"xlm-roberta\", \"num_attention_heads\": %d, "
                    "\"num_hidden_layers\": %d, \"output_past\": true, \"pad_token_id\": 1, "
                    "\"type_vocab_size\": 1, \"vocab_size\": %d}\n", D, FFN, HEADS, LAYERS, vocab);
}

/* xlm-mlm-tlm-xnli15-1024 */
static void xlm(FILE *config)
{
    static const char *const langs[] = { "ar", "bg", "de", "el", "en", "es", "fr", "hi",
                                         "ru", "sw", "th", "tr", "ur", "vi", "zh" };
    enum { LANGS = sizeof langs / sizeof *langs };
    int vocab = fastbpe();
    put(0, 514, D, "transformer.position_embeddings.weight");
    put(0, LANGS, D, "transformer.lang_embeddings.weight");
    put(0, vocab, D, "transformer.embeddings.weight");
    norm("weight", "bias", "transformer.layer_norm_emb");
    static const char *const lin[] = { "q", "k", "v", "out" };
    for (int l = 0; l < LAYERS; l++) {
        for (int k = 0; k < 4; k++) dense(D, D, "transformer.attentions.%d.%s_lin", l, lin[k]);
        norm("weight", "bias", "transformer.layer_norm1.%d", l);
        dense(FFN, D, "transformer.ffns.%d.lin1", l);
        dense(D, FFN, "transformer.ffns.%d.lin2", l);
        norm("weight", "bias", "transformer.layer_norm2.%d", l);
    }
    put(0, vocab, 0, "pred_layer.proj.bias");
    fprintf(config, "{\"architectures\": [\"XLMWithLMHeadModel\"], \"asm\": false, "
                    "\"attention_dropout\": 0.1, \"bos_index\": 0, \"causal\": false, "
                    "\"dropout\": 0.1, \"emb_dim\": %d, \"eos_index\": 1, \"gelu_activation\": "
                    "true, \"is_encoder\": true, \"layer_norm_eps\": 1e-12, \"mask_index\": 5, "
                    "\"max_position_embeddings\": 514, \"model_type\": \"xlm\", \"n_heads\": %d, "
                    "\"n_langs\": %d, \"n_layers\": %d, \"n_words\": %d, \"pad_index\": 2, "
                    "\"sinusoidal_embeddings\": false, \"unk_index\": 3, \"use_lang_emb\": true, "
                    "\"vocab_size\": %d, \"lang2id\": {",
            D, HEADS, (int)LANGS, LAYERS, vocab, vocab);
    for (int i = 0; i < LANGS; i++) fprintf(config, "%s\"%s\": %d", i ? ", " : "", langs[i], i);
    fprintf(config, "}}\n");
}

static void bart_side(const char *side, int vocab)
{
    bool decoder = !strcmp(side, "decoder");
    static const char *const proj[] = { "k", "v", "q", "out" };
    put(0, vocab, D, "model.%s.embed_tokens.weight", side);
    /* tied: one table under three names */
    free((void *)tensor[tensors - 1].data);
    tensor[tensors - 1].data = tensor[0].data;
    put(0, 1026, D, "model.%s.embed_positions.weight", side);
    norm("weight", "bias", "model.%s.layernorm_embedding", side);
    norm("weight", "bias", "model.%s.layer_norm", side);
    for (int l = 0; l < LAYERS; l++) {
        for (int k = 0; k < 4; k++)
            dense(D, D, "model.%s.layers.%d.self_attn.%s_proj", side, l, proj[k]);
        norm("weight", "bias", "model.%s.layers.%d.self_attn_layer_norm", side, l);
        for (int k = 0; k < 4 && decoder; k++)
            dense(D, D, "model.%s.layers.%d.encoder_attn.%s_proj", side, l, proj[k]);
        if (decoder) norm("weight", "bias", "model.%s.layers.%d.encoder_attn_layer_norm", side, l);
        dense(FFN, D, "model.%s.layers.%d.fc1", side, l);
        dense(D, FFN, "model.%s.layers.%d.fc2", side, l);
        norm("weight", "bias", "model.%s.layers.%d.final_layer_norm", side, l);
    }
}

/* mbart-large-cc25: 25 languages' codes and <mask> come after the pieces */
static void mbart(FILE *config)
{
    int vocab = sentencepiece("sentencepiece.bpe.model", fairseq, fairseq_type) + 1 + 25 + 1;
    put(0, vocab, D, "model.shared.weight");
    bart_side("encoder", vocab);
    bart_side("decoder", vocab);
    put(0, 1, vocab, "final_logits_bias");
    fprintf(config, "{\"activation_dropout\": 0.0, \"activation_function\": \"gelu\", "
                    "\"add_bias_logits\": false, \"add_final_layer_norm\": true, "
                    "\"architectures\": [\"MBartForConditionalGeneration\"], "
                    "\"attention_dropout\": 0.0, \"bos_token_id\": 0, \"d_model\": %d, "
                    "\"decoder_attention_heads\": %d, \"decoder_ffn_dim\": %d, "
                    "\"decoder_layerdrop\": 0.0, \"decoder_layers\": %d, \"dropout\": 0.1, "
                    "\"encoder_attention_heads\": %d, \"encoder_ffn_dim\": %d, "
                    "\"encoder_layerdrop\": 0.0, \"encoder_layers\": %d, \"eos_token_id\": 2, "
                    "\"forced_eos_token_id\": 2, \"init_std\": 0.02, \"is_encoder_decoder\": true, "
                    "\"max_position_embeddings\": 1024, \"model_type\": \"mbart\", "
                    "\"normalize_before\": true, \"normalize_embedding\": true, \"num_beams\": 5, "
                    "\"num_hidden_layers\": %d, \"output_past\": true, \"pad_token_id\": 1, "
                    "\"scale_embedding\": true, \"static_position_embeddings\": false, "
                    "\"vocab_size\": %d}\n",
            D, HEADS, FFN, LAYERS, HEADS, FFN, LAYERS, LAYERS, vocab);
}

/* mt5-small to -xxl, whose table has more rows than the tokeniser has pieces */
static void mt5(FILE *config)
{
    static const char *const first[] = { "<pad>", "</s>", "<unk>" };
    static const int type[] = { 3, 3, 2 };
    int vocab = sentencepiece("spiece.model", first, type) + 12;
    put(0, vocab, D, "shared.weight");
    for (int s = 0; s < 2; s++) {
        const char *side = s ? "decoder" : "encoder";
        put(0, 32, HEADS, "%s.block.0.layer.0.SelfAttention.relative_attention_bias.weight", side);
        for (int l = 0; l < LAYERS; l++) {
            for (int k = 0; k < 4; k++)
                put(0, D, D, "%s.block.%d.layer.0.SelfAttention.%c.weight", side, l, "qkvo"[k]);
            put(1, D, 0, "%s.block.%d.layer.0.layer_norm.weight", side, l);
            for (int k = 0; k < 4 && s; k++)
                put(0, D, D, "%s.block.%d.layer.1.EncDecAttention.%c.weight", side, l, "qkvo"[k]);
            if (s) put(1, D, 0, "%s.block.%d.layer.1.layer_norm.weight", side, l);
            put(0, FFN, D, "%s.block.%d.layer.%d.DenseReluDense.wi_0.weight", side, l, 1 + s);
            put(0, FFN, D, "%s.block.%d.layer.%d.DenseReluDense.wi_1.weight", side, l, 1 + s);
            put(0, D, FFN, "%s.block.%d.layer.%d.DenseReluDense.wo.weight", side, l, 1 + s);
            put(1, D, 0, "%s.block.%d.layer.%d.layer_norm.weight", side, l, 1 + s);
        }
        put(1, D, 0, "%s.final_layer_norm.weight", side);
    }
    put(0, vocab, D, "lm_head.weight");
    fprintf(config, "{\"architectures\": [\"MT5ForConditionalGeneration\"], \"d_ff\": %d, "
                    "\"d_kv\": %d, \"d_model\": %d, \"decoder_start_token_id\": 0, "
                    "\"dropout_rate\": 0.1, \"eos_token_id\": 1, \"feed_forward_proj\": "
                    "\"gated-gelu\", \"initializer_factor\": 1.0, \"is_encoder_decoder\": true, "
                    "\"layer_norm_epsilon\": 1e-06, \"model_type\": \"mt5\", "
                    "\"num_decoder_layers\": %d, \"num_heads\": %d, \"num_layers\": %d, "
                    "\"pad_token_id\": 0, \"relative_attention_num_buckets\": 32, "
                    "\"tie_word_embeddings\": false, \"tokenizer_class\": \"T5Tokenizer\", "
                    "\"vocab_size\": %d}\n",
            FFN, D / HEADS, D, LAYERS, HEADS, LAYERS, vocab);
}

/* xglm-564M to -7.5B: after the pieces come seven made-up words */
static void xglm(FILE *config)
{
    int vocab = sentencepiece("sentencepiece.bpe.model", fairseq, fairseq_type) + 1 + 7;
    static const char *const proj[] = { "k", "v", "q", "out" };
    put(0, vocab, D, "model.embed_tokens.weight");
    for (int l = 0; l < LAYERS; l++) {
        for (int k = 0; k < 4; k++) dense(D, D, "model.layers.%d.self_attn.%s_proj", l, proj[k]);
        norm("weight", "bias", "model.layers.%d.self_attn_layer_norm", l);
        dense(FFN, D, "model.layers.%d.fc1", l);
        dense(D, FFN, "model.layers.%d.fc2", l);
        norm("weight", "bias", "model.layers.%d.final_layer_norm", l);
    }
    norm("weight", "bias", "model.layer_norm");
    fprintf(config, "{\"activation_dropout\": 0, \"activation_function\": \"gelu\", "
                    "\"architectures\": [\"XGLMForCausalLM\"], \"attention_dropout\": 0.1, "
                    "\"attention_heads\": %d, \"bos_token_id\": 0, \"d_model\": %d, "
                    "\"decoder_start_token_id\": 2, \"dropout\": 0.1, \"eos_token_id\": 2, "
                    "\"ffn_dim\": %d, \"init_std\": 0.02, \"layerdrop\": 0.0, "
                    "\"max_position_embeddings\": 2048, \"model_type\": \"xglm\", \"num_layers\": "
                    "%d, \"pad_token_id\": 1, \"scale_embedding\": true, \"use_cache\": true, "
                    "\"vocab_size\": %d}\n", HEADS, D, FFN, LAYERS, vocab);
}

int main(int argc, char **argv)
{
    static const struct { const char *name; void (*make)(FILE *); } layouts[] = {
        { "mbert", mbert }, { "xlmr", xlmr }, { "xlm", xlm },
        { "mbart", mbart }, { "mt5", mt5 },   { "xglm", xglm }
    };
    enum { N = sizeof layouts / sizeof *layouts };
    int l = 0;
    while (argc == 3 && l < N && strcmp(argv[1], layouts[l].name)) l++;
    if (argc != 3 || l == N)
        return fprintf(stderr, "usage: standin mbert|xlmr|xlm|mbart|mt5|xglm OUT < TEXT\n"), 2;
    dir = argv[2];
    if (mkdir(dir, 0777)) die("cannot make the folder OUT; is it there already?");
    read_text();
    FILE *config = begin("config.json");
    layouts[l].make(config);
    end(config);
    char *path = path_join(dir, "model.safetensors");
    if (st_write(path, tensor, tensors, NULL, NULL, 0) < 0) die(err_msg());
    free(path);
    return 0;
}
