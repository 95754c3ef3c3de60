/* SentencePiece models: the .model file (a protocol buffer, sentencepiece_model.proto) and how it
 * cuts text.
 *
 * Normalisation: the model's compiled character map (the longest prefix in a double-array trie is
 * replaced), white space made one "\u2581" between words, one before the first if the model asks
 * for it. Then either unigram (the segmentation of highest score; Kudo 2018) or BPE (the adjacent
 * pair of highest score is merged, again and again; Sennrich et al. 2016). */
#ifndef SUBWORD_SPM_H
#define SUBWORD_SPM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum spm_type { SPM_NORMAL = 1, SPM_UNKNOWN, SPM_CONTROL, SPM_USER, SPM_UNUSED, SPM_BYTE };
struct spm_piece { const char *text; uint32_t n; double score; enum spm_type type; };

struct spm;

/* NULL with a message. Unigram and BPE models; word and char models are refused. */
struct spm *spm_open(const char *path);
struct spm *spm_read(const void *p, size_t n, const char *name);       /* copies what it needs */
/* A unigram model of the tokenizers library: the pieces' texts and scores (copied), the one for
 * unknown text, and whether unknown text falls apart into bytes. It cuts text, and normalises
 * none. */
struct spm *spm_unigram(const struct spm_piece *pieces, uint32_t n, uint32_t unk,
                        bool byte_fallback, const char *name);
void spm_free(struct spm *m);

uint32_t spm_size(const struct spm *m);
const struct spm_piece *spm_piece(const struct spm *m, uint32_t id);
uint32_t spm_unk(const struct spm *m);

/* Memory of one thread. */
struct spm_scratch;
struct spm_scratch *spm_scratch_new(void);
void spm_scratch_free(struct spm_scratch *s);

/* A piece of a line: its text (in the scratch or the model, until the next call) and its id;
 * adjacent unknown characters are one piece, as SentencePiece gives them. */
struct spm_cut { const char *text; size_t n; uint32_t id; };
/* Cuts a line of valid UTF-8. Returns the number of pieces; *cuts is the scratch's. */
size_t spm_encode(const struct spm *m, struct spm_scratch *s, const char *line, size_t n,
                  const struct spm_cut **cuts);
/* The same for text that is normalised already. */
size_t spm_cut_text(const struct spm *m, struct spm_scratch *s, const char *text, size_t n,
                    const struct spm_cut **cuts);
/* The normalised line, with "\u2581" for spaces. */
size_t spm_normalize(const struct spm *m, struct spm_scratch *s, const char *line, size_t n,
                     const char **out);

#endif
