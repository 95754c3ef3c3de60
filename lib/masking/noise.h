/* The noise that denoising undoes (Lample et al. 2018, section 2.3): tokens move less than
 * `shuffle` places, vanish with probability drop, become <mask> with probability blank. */
#ifndef MASKING_NOISE_H
#define MASKING_NOISE_H
#include <stdint.h>
#include "common/rng.h"

struct noise_options { int shuffle; double drop, blank; };
static const struct noise_options noise_defaults = { 3, 0.1, 0.1 };

/* out [n]; returns the number of tokens left, at least 1 for n >= 1. Draws depend on key
 * (RNG_NOISE) and number only. */
int noise_add(const uint32_t *ids, int n, uint32_t *out, const struct noise_options *o,
              struct rng_key key, uint64_t number);

#endif
