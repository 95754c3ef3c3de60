/* Language-specific vocabularies (Lu, Lu and Zhang 2023, section 2.1), counted on training text:
 *   V_l      the tokens that stand in text of language l more than F times, as whole words
 *   V^_l|m   those of V_l that are not in V_m */
#ifndef DATA_SPECIFIC_H
#define DATA_SPECIFIC_H
#include "lib/data/corpus.h"
#include "lib/masking/words.h"

struct specific;
/* above: F. words: where words begin; NULL: every token counts. langs: the model's languages.
 * NULL with a message: text that is read by blocks cannot be. */
struct specific *specific_new(const struct corpora *text, uint32_t vocab, int langs,
                              const struct word_starts *words, int64_t above);
void specific_free(struct specific *s);              /* NULL is fine */
/* How many words V^_l|m has; is the token one of them? */
int specific_size(const struct specific *s, int l, int m);
bool specific_has(const struct specific *s, int l, int m, uint32_t token);
/* V^_l|m in ascending order: list has room for specific_size(s, l, m). */
void specific_list(const struct specific *s, int l, int m, int32_t *list);
/* The same of all words that stand in text of language l, however often. */
int specific_seen(const struct specific *s, int l);
void specific_seen_list(const struct specific *s, int l, int32_t *list);
/* Tokens of language l can go to language m: both V^_l|m and V^_m|l have words. */
static inline bool specific_pair(const struct specific *s, int l, int m)
{
    return l != m && specific_size(s, l, m) > 0 && specific_size(s, m, l) > 0;
}

#endif
