/* Models to and from Hugging Face's folders (transformers): BERT, RoBERTa, XLM-R, XLM, BART, mBART.
 * The mapping is in docs/formats/checkpoint.md, "Interchange". */
#ifndef HF_HF_H
#define HF_HF_H
#include <stdbool.h>

struct hf_import {
    /* codes of the model's languages, in order (--lang-code) */
    const char *const *langs; int n_langs;
    /* what the task head is called (nli, pairs, class, tag, ner, qa, span), "none": left out; NULL:
     * by its labels */
    const char *head;
};
/* Makes the model folder `out` from the Hugging Face folder `dir`. *notes (malloc'd, NULL if there
 * are none): lines about what was left out. -1 with a message; `out` then does not exist. */
int hf_import(const char *dir, const char *out, const struct hf_import *o, char **notes);

/* The token embeddings of a folder of those layouts, of mT5 or XGLM, as the vectors file `out`
 * (vectors.h: its ending says which form): a row for each token, specials and rows without a token
 * left out; what `embed` gives of an imported model. -1 with a message; `out` is then as it was. */
int hf_embeddings(const char *dir, const char *out, char **notes);

struct hf_export {
    const char *layout;                          /* NULL: where it came from, else what fits best */
    /* languages folded into the positions; src alone for an encoder */
    const char *src, *tgt;
    /* encoder-decoders: words that tgt never says get a bias of -10000 */
    bool mask_vocab;
    /* task head to write, "none": the language model; NULL: the only head there is */
    const char *head;
    /* "first" or "mean": how a sentence's vector is taken from its states, for
     * sentence-transformers; NULL: as align-post trained it, else nothing is said */
    const char *pool;
    /* write a tokeniser that reads the model's tokens where theirs cannot read plain text as the
     * model's own does, which is an error otherwise */
    bool tokens_only;
};
int hf_export(const char *dir, const char *out, const struct hf_export *o, char **notes);

#endif
