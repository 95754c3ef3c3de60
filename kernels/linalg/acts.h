/* Acts on the CPU: float32 or, where products are by AMX's tiles, bfloat16 (the table's act_size
 * says which). Operations compute in float32, a row at a time. Of float32 acts the row itself is
 * what is read and written; of bfloat16 ones a copy of it, in memory of this thread. */
#ifndef LINALG_ACTS_H
#define LINALG_ACTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/linalg/work.h"
#include "kernels/ops.h"

/* Are acts bfloat16? Set by the table's `precision`, before anything is allocated. */
extern bool acts_half;

/* Memory for a copy of n numbers, that of `slot`, ROOMS of them: valid until the same thread asks
 * for the slot again. NULL where no copies are made. */
float *acts_room(int slot, size_t n);

/* Bytes of n numbers; where number i of p is. */
static inline size_t acts_bytes(size_t n)
{
    return n * (acts_half ? sizeof(uint16_t) : sizeof(float));
}
static inline const act *acts_at(const act *p, size_t i) { return (const char *)p + acts_bytes(i); }
static inline act *acts_to(act *p, size_t i) { return (char *)p + acts_bytes(i); }

/* Numbers i .. i + n of p, to be read; their copy is in room. */
const float *acts_read(const act *p, size_t i, size_t n, float *room);
/* Where they are to be written before acts_write: of p NULL, NULL. acts_open: with what they are
 * now. */
float *acts_place(act *p, size_t i, float *room);
float *acts_open(act *p, size_t i, size_t n, float *room);
/* x, what acts_place or acts_open gave for the same numbers, becomes them. */
void acts_write(act *p, size_t i, const float *x, size_t n);

/* Numbers i .. i + n of p = x; x is not memory of acts. */
void acts_put(act *p, size_t i, const float *x, size_t n);
/* x . p[0..n), and y += a p[0..n): rows that are read once, one of which is float32. */
float acts_dot(const float *x, const act *p, size_t n);
void acts_axpy(float *y, float a, const act *p, size_t n);

/* One number, for operations that touch some of them. */
float acts_one(const act *p, size_t i);

#endif
