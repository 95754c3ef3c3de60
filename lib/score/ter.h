/* Translation edit rate (Snover et al. 2006) with the search of Tercom as sacreBLEU does it: edits
 * are insertions, deletions, substitutions and shifts of a run of words; shifts are found greedily,
 * under Tercom's limits. */
#ifndef SCORE_TER_H
#define SCORE_TER_H
#include "lib/score/tokenise.h"

struct ter_work;                        /* one a thread */
struct ter_work *ter_work_new(void);
void ter_work_free(struct ter_work *w);

/* Statistics of one segment: [fewest edits over the references, average reference length]. Valid
 * UTF-8. -1 with a message if a table of hypothesis by reference words would have more than 2^27
 * cells. */
int ter_segment(const struct ter_options *o, struct ter_work *w, struct span hyp,
                const struct span *refs, int n_refs, double stats[2]);

/* Edits that turn hyp into ref, both as word ids; (hyp_n + 1) * (ref_n + 1) <= 2^27. */
int64_t ter_edits(struct ter_work *w, const uint32_t *hyp, size_t hyp_n, const uint32_t *ref,
                  size_t ref_n);

/* 100 * edits / words, from added-up statistics; _f32 in single precision, as NumPy does it. */
double ter_score(const double stats[2]);
float ter_score_f32(const float stats[2]);

#endif
