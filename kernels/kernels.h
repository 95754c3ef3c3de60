/* The one contract between the learning library and a device.
 *
 * A back end is a table of functions. Everything a pointer names here is device memory of that
 * back end, obtained from its alloc, unless it says "host". Calls are queued in order and may
 * return before they are done; only download, get and sync wait (and alloc and release may). The
 * first failure is kept and returned by sync (-1 and err_msg); the operations themselves return
 * nothing.
 *
 * Types. Parameters, their gradients, losses and statistics are float32. Activations and their
 * gradients are `act`: float32, or bfloat16 (on CUDA, and by AMX's products); `act_size` each.
 * Nothing outside a back end looks inside an act.
 *
 * An array of acts has no type in a struct of arguments: a back end whose acts are 2 bytes says
 * act_size 2 and reads them so, and no caller changes (both do in bf16). Matrices of weights
 * may also be had in 8 bits (int8_new): a field W8 or E8, where it is given, stands in the place of
 * W or E. Types to come would be further such fields: calls name theirs, so that those of today
 * keep their meaning.
 *
 * Shapes. Matrices are row-major and contiguous: X [N, I] has N rows of I. Weights are [out,
 * in]. A batch is packed: N rows are the tokens of all its sentences one after another, no
 * padding.
 *
 * Gradients. Parameter gradients (dW, db, dE, ...) are always added to. Gradients of activations
 * are written, or added to where the `add` argument says so. Any gradient pointer may be NULL:
 * not wanted.
 *
 * Same bytes. A result depends on the arguments only: not on the number of threads, not on what
 * ran before (CUDA: with the deterministic flag). N = 0 and M = 0 are legal everywhere and do
 * nothing.
 *
 * Every operation is in the lists of test/unit/ops.c, which checks it against finite differences,
 * against PyTorch's numbers and one back end against the other; those of the beam search are in
 * test/unit/search.c. */
#ifndef KERNELS_KERNELS_H
#define KERNELS_KERNELS_H
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include "kernels/ops.h"

#define KERNELS_ABI 17

enum kern_precision { KERN_FLOAT32, KERN_BF16, KERN_AUTO, KERN_INT8 };

/* The largest step of a model: the argument of `working`. */
struct kern_shape {
    int rows, longest;                  /* tokens of a micro-batch, the longest sentence */
    int predicted;                      /* rows of the output layer */
    int dim, ffn, heads, vocab;
    size_t params;                      /* floats of all parameters */
};

struct kernels {
    int abi;
    const char *name;                   /* "cpu", "cuda" */
    size_t act_size;
    bool queues;                        /* calls return before they are done, so a host that does
                                         * not wait gains time */

    /* --- memory; alloc returns NULL with a message, memory is aligned to 256 bytes */
    void *(*alloc)(size_t bytes);
    void (*release)(void *p);
    void (*upload)(void *to, const void *host, size_t bytes);       /* host may be reused at once */
    void (*download)(void *host, const void *from, size_t bytes);   /* waits */
    void (*copy)(void *to, const void *from, size_t bytes);         /* to == from: others wrote */
    void (*zero)(void *p, size_t bytes);
    void (*get)(float *host, const act *from, size_t n);          /* act -> float32; waits */
    int (*sync)(void);
    /* Steps that are the same calls again: what is called between record and recorded is kept
     * and not done, and each replay then queues it all, with the arguments it had, on what
     * memory holds by then. Only operations, no calls of this section; the same calls must have
     * been made before, unrecorded, since the last release. There is one recording at a time.
     * record NULL, or false from record or recorded: the device cannot record or would gain
     * nothing, and the calls are made as usual. */
    bool (*record)(void);
    bool (*recorded)(void);
    void (*replay)(void);
    /* A download that does not wait: the data are in `host`, memory of host_alloc, only after
     * the next successful sync. `from` may be written to by the calls that
     * follow. */
    void (*fetch)(void *host, const void *from, size_t bytes);
    void *(*host_alloc)(size_t bytes);              /* NULL with a message */
    void (*host_release)(void *host);
    /* Bytes besides those from alloc that steps of this shape take: scratch memory of threads and
     * libraries. NULL: not known. */
    size_t (*working)(const struct kern_shape *s);
    /* What of a model of this shape the device has no fast way for, in one line; NULL, or the
     * function NULL: nothing. */
    const char *(*slow)(const struct kern_shape *s);
    /* Bytes that alloc and working may still take, where the device has memory of its own; NULL:
     * it is the host's. */
    size_t (*room)(void);
    /* one line for people: device, memory, instruction set, library versions and kernels picked */
    const char *(*describe)(void);
    /* Of that what results depend on. NULL: all of it. */
    const char *(*build)(void);
    /* What calls are queued in, as the device's library has it (CUDA: cudaStream_t), for others
     * that work on this memory in order with them (lib/ranks/device.h). NULL: there is none. */
    void *(*stream)(void);

    /* Bytes that attention's forward pass leaves for its backward pass, besides lse (the bits of
     * dropout, which would be drawn again); 0, or the function NULL: nothing. */
    size_t (*attn_bits)(const struct kern_attn *g, const struct kern_drop *drop);
    /* norm_bwd adds up dU's columns on the way (du_sum). */
    bool norm_sums;
    /* linear_bwd and xent write the first gradient of a matrix of weights (first). */
    bool writes_first;

    /* Precision of matrix products, set by kernels_open before anything is allocated: KERN_BF16
     * multiplies in bfloat16 and adds in float32 (and a device may keep acts in bfloat16:
     * act_size). Parameters, their gradients and the optimiser stay float32. -1 with a message
     * where the device or a library lacks it. KERN_AUTO: that where it is faster than float32
     * (AMX, AMD's AVX-512 BF16, a GPU), else float32. KERN_INT8 (processors; models that are only
     * used) multiplies in 8 bits by matrices that are held so, and adds exactly. */
    int (*precision)(enum kern_precision p);

    /* Matrices of weights in 8 bits, of processors, whose memory is the host's; all NULL: there are
     * none. A row [I] is max |row| / 127 times whole numbers. Not queued: what they write is there
     * when they return. */
    struct kern_int8 *(*int8_new)(int O, int I);        /* [O, I], zeros; NULL with a message */
    /* Rows first .. first + n from the host's float32 [n, I], or to them. put: -1 with a message
     * where a number is not finite. */
    int (*int8_put)(struct kern_int8 *w, int first, int n, const float *host);
    void (*int8_get)(const struct kern_int8 *w, int first, int n, float *host);
    void (*int8_free)(struct kern_int8 *w);             /* NULL is fine */
    /* KERN_INT8: models, which are only used, hold their matrices so and in no other way. */
    bool holds_int8;

    /* --- the operations of ops.h */
#define KERN_ENTRY(op, name) void (*op)(const struct kern_##op *);
    KERN_OPS(KERN_ENTRY)
#undef KERN_ENTRY
};

/* The CPU side. Uses common/thread.h's pool; OpenBLAS runs single-threaded inside its chunks.
 * kernels_cpu_int8: the same, for models whose matrices are held in 8 bits. */
const struct kernels *kernels_cpu(void);
const struct kernels *kernels_cpu_int8(void);

/* The function that libisoglot-cuda.so exports as kernels_cuda. fail is the program's err_set,
 * so that messages are the program's own. NULL: *why says what is missing (no driver, no device, no
 * cuBLASLt). */
typedef const struct kernels *kernels_cuda_fn(int (*fail)(const char *fmt, ...), const char **why);

/* Opens "cpu", "cuda" or "auto" (cuda when its shared object and a device are there) at a
 * precision. *why gets one line that says what was chosen and why; with why NULL libraries are not
 * opened before the first product needs them. NULL with a message. */
const struct kernels *kernels_open(const char *device, enum kern_precision precision,
                                   const char **why);

#endif
