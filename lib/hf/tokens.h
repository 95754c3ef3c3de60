/* The tokens of a Hugging Face folder by id, from whichever tokeniser file is there, and such files
 * for a model of ours. */
#ifndef HF_TOKENS_H
#define HF_TOKENS_H
#include "common/text/vocab.h"
#include "lib/hf/layout.h"
#include "lib/subword/settings.h"

struct hf_tokens {
    int n;                       /* ids 0 .. n - 1 */
    /* as our vocabularies spell them ("lo@@" for XLM's "lo", "low" for "low</w>"); NULL: an id
     * without one */
    char **token;
    struct subword_settings s;    /* ids of the specials among it */
    char *merges;                /* path of merges.txt where that is ours, too (XLM); NULL */
    char *model;                 /* path of the SentencePiece model; NULL */
    /* files of ours that say how text is cut: tokenizer.json, and the tokens beyond a SentencePiece
     * model's or vocab.txt's; NULL: none */
    char *json, *added;
    const char *missing;         /* what would be needed to cut text; NULL: nothing */
    bool spaced;                 /* tokens are what stands between spaces, in our own spelling */
    size_t cap;
};

/* Reads vocab.txt (BERT), vocab.json and merges.txt (RoBERTa, XLM, BART), sentencepiece.bpe.model
 * (XLM-R, mBART, XGLM) or spiece.model (mT5), with added_tokens.json, or tokenizer.json, for a
 * model with `rows` embeddings. -1 with a message: none is there, a special token is missing,
 * damaged, a tokenizer.json with something that is not supported. */
int hf_tokens_read(struct hf_tokens *t, enum hf_layout l, int rows, const char *dir);
void hf_tokens_free(struct hf_tokens *t);

/* Our vocabulary from them, for a model with `rows` embeddings: ids without a token, and tokens
 * that a line of a vocabulary cannot hold, are called "<id17>". NULL with a message. */
struct vocab *hf_tokens_vocab(const struct hf_tokens *t, int rows);

/* Their id of each of our ids [n]: specials where s->ids says, the others in order around them; -1:
 * they have none. malloc'd. */
int *hf_ids(const struct subword_settings *s, int n);
/* The ids of a layout for a model that did not come from there. */
void hf_usual_ids(enum hf_layout l, int n, int ids[5]);

/* Writes what transformers needs to cut text for this model into folder `to`: the layout's own
 * files where the model has them, and tokenizer.json. `from` is our folder; id are hf_ids' and give
 * them their order. tokens_only: the tokenizer reads tokens, whatever files there are. */
int hf_tokens_write(enum hf_layout l, const char *to, const char *from, const struct vocab *v,
                    const struct subword_settings *s, const int *id, int rows, int positions,
                    bool tokens_only);

#endif
