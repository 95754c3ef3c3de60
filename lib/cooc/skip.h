/* Tokens that are not neighbours: markers such as a case marker, which accompany words without
 * being words. They are treated as absent: no count, no distance, no part of C_lang. The list is in
 * the .cooc file (docs/formats/cooc.md), so that counting and training cannot disagree. */
#ifndef COOC_SKIP_H
#define COOC_SKIP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vocab;

/* Each token followed by "\n", ascending by bytes, none twice; "" and 0 for none. */
struct cooc_skip { char *text; size_t size; };

/* From values of an option, which messages call `option`: each is a list of tokens with commas
 * between, or a single "," for the comma itself. -1 with a message: an empty token, one with a
 * space, tab, line end or NUL, not UTF-8. */
int cooc_skip_make(struct cooc_skip *s, const char *const *value, int n, const char *option);
void cooc_skip_free(struct cooc_skip *s);

/* Is text[0..size) a valid list? */
bool cooc_skip_valid(const char *text, size_t size);
bool cooc_skip_has(const char *text, size_t size, const char *token, size_t n);
/* [v->n] whether an id is skipped; malloc'd. NULL: the list is empty. */
bool *cooc_skip_ids(const char *text, size_t size, const struct vocab *v);
/* The list for messages: commas between, at most cap - 1 bytes into to; "nothing" if it is empty.
 * Returns to. */
const char *cooc_skip_show(const char *text, size_t size, char *to, size_t cap);

#endif
