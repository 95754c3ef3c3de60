/* XXH3-64 (seed 0) of much memory at once, with the widest instructions that the processor has:
 * libxxhash's plain functions are compiled for the oldest processor that Debian runs on, those of
 * xxh_x86dispatch.h choose when they are first called. */
#ifndef COMMON_FILES_XXH3_H
#define COMMON_FILES_XXH3_H
#include <stddef.h>
#include <stdint.h>
#if defined __x86_64__ && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
static inline uint64_t xxh3_of(const void *p, size_t n) { return XXH3_64bits_dispatch(p, n); }
#else
#include <xxhash.h>
static inline uint64_t xxh3_of(const void *p, size_t n) { return XXH3_64bits(p, n); }
#endif
#endif
