/* How the GPUs of ranks exchange messages and add what came: what libisoglot-nccl.so exports, and
 * nothing else about them. Which rank adds what in which order is in device.c, for every GPU
 * as for processors.
 *
 * Two streams of the GPU are meant below: the model's, which everything that the program computes
 * goes into, and one of its own, whose work goes on in parallel. What is put into a stream is done
 * in order; streams wait for each other by marks. All pointers are the GPU's memory but where it
 * says "host". All functions are called by one thread; where one fails it leaves a message (`fail`
 * of ranks_device_fn), and so do all that follow.
 *
 * The model's stream, events and memory come from another copy of CUDA's run time, of
 * libisoglot-cuda.so: they are the driver's objects in the device's primary context, which the
 * calling thread has current since that copy's cudaSetDevice. */
#ifndef RANKS_DEVICE_H
#define RANKS_DEVICE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANKS_DEVICE_ABI 2

enum { RANKS_DEVICE_KEY = 128, RANKS_DEVICE_NAME = 64 };
enum ranks_stream { RANKS_MODEL, RANKS_OWN };

struct ranks_message { bool send; int rank; void *data; size_t bytes; };         /* bytes > 0 */

/* An addend of sum: float32, or in 2 bytes each (half). With it, from left to right, so many sums
 * of the two newest are made (joins). One that is not finite is noted under a number, as by
 * check. */
struct ranks_node { const void *x; short number; unsigned char joins; bool half; };
enum { RANKS_NODES = 64, RANKS_DEPTH = 12 };      /* of sum, at most: nodes; sums that wait */

struct ranks_device {
    int abi;
    const char *name;                    /* "NCCL 2.28.3" */
    /* This process's GPU, by what no other GPU is called: [RANKS_DEVICE_NAME]. -1 with a message */
    int (*which)(char *name);
    /* By one rank: key [RANKS_DEVICE_KEY], with which all ranks start. -1 with a message */
    int (*invite)(unsigned char *key);
    /* Begins to meet the others. model: the model's stream, as struct kernels has it. -1 with a
     * message */
    int (*start)(const unsigned char *key, int rank, int size, void *model);
    /* Is what was begun last, the meeting or a group, in its stream? 1: yes; 0: not yet, and
     * nothing but alloc, mark and add may be called before; -1 with a message. Does not wait. */
    int (*ready)(void);
    void *(*alloc)(size_t bytes);        /* NULL with a message */
    void (*release)(void *p);            /* NULL is fine */

    /* A place in a stream, after what is in it: NULL with a message. */
    void *(*mark)(enum ranks_stream s);
    /* s goes on when the mark was reached. -1 with a message */
    int (*wait)(enum ranks_stream s, void *mark);
    int (*reached)(void *mark);          /* 1, 0: not yet, -1 with a message; does not wait */
    void (*forget)(void *mark);

    /* Begins n messages at once, in this rank's own stream; those between two ranks match in their
     * order. All ranks begin their groups in the same order. -1 with a message */
    int (*group)(const struct ranks_message *m, size_t n);
    /* x[i] += y[i], in float32; y NULL: nothing is added. bf16: then rounded as tree_round does.
     * -1 with a message, as the rest, which go into this rank's own stream. */
    int (*add)(enum ranks_stream s, float *x, const float *y, size_t n, bool bf16);
    int (*copy)(float *to, const float *from, size_t n);
    /* to = the one sum that is left of the nodes, in one pass; bf16: each sum is rounded. It is
     * checked under `number`. to may be one of them. */
    int (*sum)(const struct ranks_node *node, int nodes, float *to, size_t n, bool bf16,
               int number);
    /* Numbers of bfloat16, in 4 bytes each, into 2 bytes each, and back. */
    int (*pack)(uint16_t *to, const float *from, size_t n);
    int (*unpack)(float *to, const uint16_t *from, size_t n);
    /* Is one of x not finite? Noted under a number, 0 to size of start. */
    int (*check)(const float *x, size_t n, int number);
    /* Host: was it, for each number, [size + 1]? Waits; then all are no again. */
    int (*checked)(int *bad);
    /* Leaves the others: where nothing has failed when all is sent that others wait for, else at
     * once, whatever is under way. */
    void (*end)(bool failed);
};

/* What the shared object exports as ranks_device: fail is the program's err_set. */
typedef const struct ranks_device *ranks_device_fn(int (*fail)(const char *fmt, ...));

#endif
