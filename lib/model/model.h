/* XLM's Transformer: an encoder, and a decoder with cross attention where the configuration has
 * one. Token embeddings are shared by encoder, decoder and output layer; positions, languages and
 * the norm after the embedding sum belong to each side.
 *
 * Tensor names (docs/formats/checkpoint.md): embed.tokens,
 * {encoder,decoder}.embed.{positions,languages,norm.weight,norm.bias},
 * {encoder,decoder}.I.{attn.qkv,attn.out,ffn.in,ffn.out}.{weight,bias},
 * .{attn_norm,ffn_norm}.{weight,bias}, encoder.embed.types,
 * {encoder,decoder}.embed.project.{weight,bias} (embed_dim), output.dense.{weight,bias} (embed_dim
 * or output_transform), output.norm.{weight,bias} (output_transform); of layers that share their
 * parameters only I = 0 is there; decoder.I.cross.{q,kv,out}.{weight,bias}, decoder.I.cross_norm.*,
 * head.NAME.{dense,out}.{weight,bias} (task heads), {encoder,decoder}.norm.* (pre-norm only),
 * output.bias. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H
#include "common/text/vocab.h"
#include "lib/model/batch.h"
#include "lib/model/config.h"

struct linear_i { int W, b; };
struct layer_i {
    struct linear_i qkv, out, cross_q, cross_kv, cross_out, in, ff;    /* indices into params */
    struct linear_i attn_norm, cross_norm, ffn_norm;                   /* W: gamma, b: beta */
};
struct stack_i {
    int positions, languages, types;
    struct linear_i embed_norm, project, norm;
    struct layer_i *layer;
    int n;
};

enum {
    MODEL_CODES, MODEL_TOKENIZER, MODEL_PIECES, MODEL_SENTENCEPIECE, MODEL_TOKENIZER_JSON,
    MODEL_ADDED_TOKENS, MODEL_KEPT
};

struct model {
    struct model_config c;
    struct params ps;
    int tokens, output_bias;
    struct linear_i output_dense, output_norm;   /* -1: logits come from the states as they are */
    struct stack_i enc, dec;
    struct { struct linear_i dense, out; } head[MODEL_HEADS];    /* of c.head; dense -1: none */
    /* files about its text that are saved along with it (model_keep) */
    struct { char *bytes; size_t n; } kept[MODEL_KEPT];
    /* [vocab] host: the words of a language, for target-vocabulary masking; NULL: not known */
    uint8_t *seen[MODEL_LANGS];
};

/* Allocates and draws initial weights: embeddings normal(0, dim^-1/2) with <pad> 0, matrices Xavier
 * uniform, biases 0, norms 1 and 0. with_grad: for training. -1 with a message. */
int model_new(struct model *m, const struct model_config *c, const struct kernels *k, uint64_t seed,
              bool with_grad);
/* Draws embeddings and matrices again: normal(0, std), <pad> 0 (BERT, RoBERTa: 0.02). */
void model_normal(struct model *m, uint64_t seed, float std);
/* The same with weights of 0. */
int model_alloc(struct model *m, const struct model_config *c, const struct kernels *k,
                bool with_grad);
/* Parameters' names and shapes alone: params_alloc, the next step, takes the memory. -1 with a
 * message. */
int model_shapes(struct model *m, const struct model_config *c, const struct kernels *k);
/* Between the two steps, on a back end that has matrices in 8 bits: the token table and all
 * matrices of the layers are held so (params_hold_int8); positions, languages, norms, biases and
 * heads, which are small, stay float32. */
void model_hold_int8(struct model *m);
/* A model that is learnt has copies of the same (params_copy_int8); the bytes that they take. */
int model_copy_int8(struct model *m);
size_t model_int8_bytes(const struct model *m);
/* First weights for all of them, tensors that were added between the two steps included
 * (params_add_extra). */
void model_draw(struct model *m, uint64_t seed);
void model_free(struct model *m);

/* Marks the n words ids as words of language lang. */
void model_see(struct model *m, int lang, const uint32_t *ids, size_t n);

/* Last-layer states [rows, dim] of the encoder. */
struct var *model_encode(struct model *m, struct tape *t, const struct dev_batch *b);
/* The same of rows row[0 .. n) (device) alone, [n, dim]: after the last layer's attention nothing
 * is computed for the others. A tape that trains drops by row, so for prediction only. */
struct var *model_encode_rows(struct model *m, struct tape *t, const struct dev_batch *b,
                              const int32_t *row, int n);
/* The input of the output layer, multiplied by embed.tokens to give logits: h itself, its
 * projection to embed_dim, or what BERT's prediction head makes of it. */
struct var *model_output(struct model *m, struct tape *t, struct var *h);
/* What is multiplied with head i's output layer, of rows of states [n, dim]: dropout, the dense
 * layer where it has one, dropout. */
struct var *model_head_input(struct model *m, struct tape *t, int i, struct var *rows);
/* Its outputs [n, outputs]. */
struct var *model_head_outputs(struct model *m, struct tape *t, int i, struct var *rows);
/* The number of the head of that name; -1 with a message that lists them. */
int model_head_find(const struct model *m, const char *name);
/* States after one layer: 0 the embedding output, `layers` the last. In a pre-norm stack the
 * running sum, as transformers' hidden_states have it; the last ones after the norm at the end. */
struct var *model_encode_layer(struct model *m, struct tape *t, const struct dev_batch *b,
                               int layer);
/* Last-layer states of the decoder reading b (inputs already shifted) over memory [src rows,
 * dim]. */
struct var *model_decode(struct model *m, struct tape *t, const struct dev_batch *b,
                         struct var *memory, const struct spans *src);

/* The folder of a model: config.json, weights.safetensors, words.safetensors (`seen`, if any), what
 * is kept; vocab is the caller's, who writes it before this: model.sum is written last, over all of
 * them. See docs/formats/checkpoint.md. */
int model_save(const struct model *m, const char *dir, const char *const *meta_key,
               const char *const *meta_value, int n_meta);
/* The same with the parameters from a host copy [ps.total]; touches nothing of the device. */
int model_write(const struct model *m, const float *host, const char *dir,
                const char *const *meta_key, const char *const *meta_value, int n_meta);
/* A model that is only used: no gradients, and its parameters, which may not be written to, are the
 * mapped file where that can be (params_use). Its files are held against its model.sum first.
 * vocab: NULL, or gets its vocabulary. Failed, it leaves nothing to free. */
int model_load(struct model *m, const char *dir, const struct kernels *k, struct vocab **vocab);
/* What describes a model's text is kept with it: `codes` (BPE merges), `tokenizer`
 * (tokenize's settings), and of imported models pieces.json, sentencepiece.model,
 * tokenizer.json and added_tokens.json. model_keep
 * takes those of a folder that are not there yet; model_load does, and model_init_from (where the
 * vocabulary is the same; where it is a part of the other, codes and tokenizer). model_keep_file
 * takes one from a file. -1 with a message. */
int model_keep_file(struct model *m, int which, const char *path);
int model_keep(struct model *m, const char *dir);
/* Is what m keeps what the folder dir has, file by file? 0, or -1 with a message, which calls m
 * `of`. */
int model_keeps_same(const struct model *m, const char *dir, const char *of);
/* Is v, read from path, the vocabulary of c? 0, or -1 with a message. */
int model_check_vocab(const struct model_config *c, const struct vocab *v, const char *path);
/* Reads a folder's config.json alone. */
int model_read_config(struct model_config *c, const char *dir);

/* --init: takes what fits from the model in dir. Tokens are matched by spelling (vocab is m's),
 * languages by code; a decoder without one in dir starts from its encoder's layers (cross attention
 * stays as drawn). Prints nothing; *taken and *new get the numbers of tokens found and not. */
int model_init_from(struct model *m, const struct vocab *vocab, const char *dir, int *taken,
                    int *fresh);
/* --init-embeddings: text vectors "word v1 .. vd" (word2vec's header line may be there); dimensions
 * fewer than dim are padded with the drawn values; rows are scaled to the mean norm of drawn ones;
 * of a word's vectors the first counts. Returns the number of tokens set, or -1 (also if it is
 * 0). */
int model_init_embeddings(struct model *m, const struct vocab *vocab, const char *path);

#endif
