/* What products and operations share: memory of a thread, work cut into chunks, the first failure.
 *
 * Chunks depend on the shapes only and run under par_for, so any number of threads gives the same
 * bytes. */
#ifndef LINALG_WORK_H
#define LINALG_WORK_H
#include <stddef.h>

/* Memory for tensors: aligned, in huge pages where it is large. free() releases it. NULL with a
 * message. */
void *work_alloc(size_t bytes);

enum { ROOMS = 6 };                         /* of acts_room */
/* Memory of this thread, kept and grown: one piece for the operation as a whole (the caller of
 * par_for), one for a chunk of it, those of acts_room, the others for products. A piece is valid
 * until the same thread asks for that piece again. */
enum {
    SCRATCH_OP,
    SCRATCH_CHUNK,
    SCRATCH_A,
    SCRATCH_B,
    SCRATCH_TILE,
    SCRATCH_DNNL,
    SCRATCH_STRIP,
    SCRATCH_WIDE,                           /* a whole matrix of acts, as float32 */
    SCRATCH_ROOM,
    SCRATCH_PIECES = SCRATCH_ROOM + ROOMS
};
void *work_scratch(int piece, size_t bytes);

/* Keeps err_msg(), if it is the first failure, for work_sync: 0, or -1 with that message. */
void work_failed(void);
int work_sync(void);

/* Calls fn(ctx, first, last) for chunks [first, last) of [0, n), `work` being the elements one
 * item touches. */
void work_rows(int n, size_t work, void (*fn)(void *ctx, int first, int last), void *ctx);
/* The same for the columns of a matrix with n columns: chunks of 64, for sums over rows. */
void work_columns(int n, void (*fn)(void *ctx, int first, int last), void *ctx);

#endif
