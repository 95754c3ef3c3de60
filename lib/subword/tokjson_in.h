/* Shared by the files about tokenizer.json. Names are the tokenizers library's. */
#ifndef SUBWORD_TOKJSON_IN_H
#define SUBWORD_TOKJSON_IN_H
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include "lib/subword/spm_in.h"
#include "lib/subword/tokjson.h"

/* A string, or a regular expression. */
struct pattern { pcre2_code *re; char *text; size_t n; };

enum normalizer_type {
    NORMALIZER_BERT, NORMALIZER_STRIP, NORMALIZER_STRIP_ACCENTS, NORMALIZER_NFC, NORMALIZER_NFD,
    NORMALIZER_NFKC, NORMALIZER_NFKD, NORMALIZER_LOWERCASE, NORMALIZER_NMT, NORMALIZER_PRECOMPILED,
    NORMALIZER_REPLACE, NORMALIZER_PREPEND, NORMALIZER_BYTE_LEVEL
};
struct normalizer {
    enum normalizer_type type;
    bool clean, chinese, accents, lower;         /* Bert; accents: they are removed */
    bool left, right;                            /* Strip */
    struct pattern pattern;                      /* Replace */
    char *content;                               /* Replace, Prepend */
    struct spm_map map;                          /* Precompiled */
};

enum pre_type {
    PRE_BERT, PRE_BYTE_LEVEL, PRE_DELIMITER, PRE_METASPACE, PRE_WHITESPACE, PRE_WHITESPACE_SPLIT,
    PRE_SPLIT, PRE_PUNCTUATION, PRE_DIGITS
};
enum behavior {
    BEHAVIOR_REMOVED, BEHAVIOR_ISOLATED, BEHAVIOR_MERGED_WITH_PREVIOUS, BEHAVIOR_MERGED_WITH_NEXT,
    BEHAVIOR_CONTIGUOUS
};
enum scheme { SCHEME_FIRST, SCHEME_NEVER, SCHEME_ALWAYS };
struct pre_tokenizer {
    enum pre_type type;
    bool prefix_space, regex;                    /* ByteLevel */
    struct pattern pattern;                      /* Split */
    enum behavior behavior;                      /* Split, Punctuation, Digits */
    bool invert;                                 /* Split */
    uint32_t character;                          /* Delimiter, Metaspace */
    enum scheme scheme;                          /* Metaspace */
    bool split;                                  /* Metaspace */
};

/* A token that is split off before the model sees the text. text: what is looked for. */
struct added { char *text; size_t n; uint32_t id; bool single_word, lstrip, rstrip; };
/* Added tokens that are looked for together: the longest one that begins first is taken. */
struct matcher { struct added *v; size_t n, cap; struct spm_trie trie; bool first[256]; };

enum model_type { MODEL_UNIGRAM, MODEL_BPE, MODEL_WORDPIECE, MODEL_WORD_LEVEL };
struct merge { uint32_t rank, id; };

struct tokjson {
    struct normalizer *normalizer; size_t n_normalizers, normalizers_cap;
    struct pre_tokenizer *pre; size_t n_pre, pre_cap;
    struct matcher plain, normalized;            /* before and after the normalizers */
    enum model_type model;
    enum subword_kind kind;
    char **token, **spelling; uint32_t n; size_t cap, spelling_cap;
    int32_t unk;                                 /* -1: none */
    struct spm *unigram;
    struct spm_trie trie;                        /* of the other models: what is which id */
    char *prefix; size_t prefix_n;               /* of what continues a word */
    size_t chars_most;                           /* of a word of WordPiece */
    struct hashmap pair;                         /* left << 32 | right: 1 + index of its merge */
    struct merge *merge; size_t n_merges, merges_cap;
    bool fuse_unk, byte_fallback, ignore_merges;
    int32_t byte_id[256];
};

/* A stretch of text, or (id >= 0) an added token. start: the line begins with it. */
struct tokjson_cut { size_t at, n; int32_t id; bool start; };
struct cuts { struct tbuf text; struct tokjson_cut *v; size_t n, cap; };
struct stretch { size_t at, n; bool match; };
struct symbol { uint32_t id; int32_t prev, next; uint32_t n; };
struct candidate { uint32_t rank, id; int32_t at; };

struct tokjson_work {
    struct cuts cuts[2];
    struct tbuf norm[2];
    struct stretch *stretch; size_t n_stretches, stretches_cap;
    uint16_t *wide, *normalized; size_t wide_cap, normalized_cap;
    struct symbol *symbol; size_t n_symbols, symbols_cap;
    struct candidate *heap; size_t n_heap, heap_cap;
    struct tbuf word;
    struct spm_scratch *spm;
    pcre2_match_data *match;
};

void cuts_add(struct cuts *c, const char *s, size_t n, int32_t id, bool start);
/* For the text to be found; copied. */
struct added *matcher_add(struct matcher *m, const char *text, uint32_t id);
void matcher_index(struct matcher *m);                       /* when all are there */
void matcher_free(struct matcher *m);
/* Cuts s [n] at added tokens. */
void matcher_cut(const struct matcher *m, const char *s, size_t n, bool start, struct cuts *to);
/* Where the pattern matches in s [n], and what is between: w->stretch. 0, or -1 with a message. */
int pattern_find(const struct pattern *p, struct tokjson_work *w, const char *s, size_t n);

/* s [n] through all normalizers: *out and *out_n are w's, or s. *start falls where text is lost at
 * the beginning. */
int tokjson_normalize_text(const struct tokjson *t, struct tokjson_work *w, const char *s, size_t n,
                           bool *start, const char **out, size_t *out_n);
/* One pre-tokenizer. */
int tokjson_pre_tokenize(const struct pre_tokenizer *p, struct tokjson_work *w,
                         const struct cuts *from, struct cuts *to);

/* White_Space; punctuation as BERT has it; what \w matches. */
bool tokjson_is_space(uint32_t c);
bool tokjson_is_punctuation(uint32_t c);
bool tokjson_is_word(uint32_t c);
void tokjson_put_char(struct tbuf *b, uint32_t c);
/* Each byte as the character that stands for it. */
void tokjson_put_byte_level(struct tbuf *b, const char *s, size_t n);

#endif
