/* Shared by the files about SentencePiece. */
#ifndef SUBWORD_SPM_IN_H
#define SUBWORD_SPM_IN_H
#include "common/hashmap.h"
#include "lib/subword/spm.h"

/* Pieces that text can match, byte by byte. */
struct spm_trie {
    struct hashmap edge;             /* node << 8 | byte: the next node */
    int32_t *piece;              /* [nodes] the piece that ends there, -1: none */
    uint32_t nodes;
};
enum { SPM_ROOT = 0 };
/* Room for texts of so many bytes in all; zero it first. */
void spm_trie_init(struct spm_trie *t, size_t bytes);
void spm_trie_free(struct spm_trie *t);
/* The node of a text, made if it is not there. */
uint32_t spm_trie_node(struct spm_trie *t, const char *s, size_t n);
/* 0: there is none */
uint32_t spm_edge(const struct spm_trie *t, uint32_t node, unsigned char byte);
/* The piece that text is, -1: none. */
int32_t spm_trie_find(const struct spm_trie *t, const char *s, size_t n);

/* precompiled_charsmap: what text is replaced with, in a double-array trie. */
struct spm_map {
    uint32_t *unit; uint32_t n;
    char *text; uint32_t text_n;         /* what its values point into; NUL-terminated strings */
};
/* Its size in bytes, the trie, and the strings its values point into. What is wrong with it, or
 * NULL. */
const char *spm_map_read(struct spm_map *m, const unsigned char *p, size_t n);
void spm_map_free(struct spm_map *m);
/* The length of the longest key that s begins with (the first one found, if `first`), and its
 * replacement; 0: none. */
size_t spm_map_find(const struct spm_map *m, const char *s, size_t n, bool first, const char **to);

struct spm {
    struct spm_piece *piece; uint32_t n;
    char *bytes;                 /* of all pieces, NUL after each */
    /* user: the user-defined ones alone, for the longest match before anything else */
    struct spm_trie trie, user;
    bool has_user;
    uint32_t unk;
    /* scores of normal pieces; max as SentencePiece has it, at least FLT_MIN */
    double min, max;
    bool bpe, byte_fallback;
    bool word_by_word;           /* no piece has U+2581 but at its beginning */
    int32_t byte_id[256];
    /* add_dummy_prefix, remove_extra_whitespaces, escape_whitespaces, treat_whitespace_as_suffix */
    bool dummy_prefix, one_space, escape, suffix;
    struct spm_map map;
};

struct spm_unused { const char *text; size_t n, left; };

struct spm_scratch {
    char *norm; size_t n_norm, norm_cap;
    struct spm_cut *cut; size_t n_cut, cut_cap;
    void *work; size_t work_cap;
    void *heap; size_t heap_cap;
    void *back; size_t back_cap;
    struct spm_unused *unused; size_t n_unused, unused_cap;
};

/* Length of the longest user-defined piece at s, 0: none. */
size_t spm_user_match(const struct spm *m, const char *s, size_t n);

#endif
