/* Examples of whole sentences: sentences joined up to a length, each with its own <s> and </s>
 * (ALIGN-MLM, appendix G.3: XLM's text in examples of 512 tokens, its pairs in 256 and 256). */
#ifndef DATA_JOIN_H
#define DATA_JOIN_H
#include "common/text/shard.h"

/* Replaces the sentences of b by pieces of `length` tokens of all of them joined, each with </s>
 * after it (XLM's streams); the last piece is what is left. */
void join_stream(struct shard_block *b, int length);
/* Replaces the sentences of b[0..k-1], which have as many each and are parallel by number, by
 * examples "<s> x </s> <s> y </s> ..." of at most `length` tokens on every side. An example takes
 * the next sentence while all its sides hold it. Sentences that are empty or too long on a side
 * are left out on all sides; returns how many were. */
uint32_t join_whole(struct shard_block *const b[], int k, int length);
/* Keeps the sentences with keep[i], in their order. keep [sentences] */
void join_select(struct shard_block *b, const bool *keep);

#endif
