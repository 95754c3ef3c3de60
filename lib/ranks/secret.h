/* By which ranks that meet by plain TCP know each other: each shows that it has the run's key,
 * without sending it. */
#ifndef RANKS_SECRET_H
#define RANKS_SECRET_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct secret { uint64_t key[2]; };

/* Of ISOGLOT_SECRET, where it is set, and what the run is called. Without ISOGLOT_SECRET this keeps
 * runs apart, and whoever knows a job's number could take part in it. */
struct secret secret_of(const char *run);
bool secret_is_set(void);
/* SipHash-2-4 of n bytes (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012). */
uint64_t secret_proof(const struct secret *s, const void *data, size_t n);
/* A number that nobody can foresee. */
uint64_t secret_nonce(void);

#endif
