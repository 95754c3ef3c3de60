/* A communicator of one rank: libisoglot-cuda.so and libisoglot-nccl.so, each with a CUDA run time
 * of its own, in one process and on one GPU. Messages to itself, streams that wait for each other's
 * marks, sums in the tree's order, and an end. On the emulated GPU here, and on a real one from
 * test/gpu/run.sh (ISOGLOT_CUDA, ISOGLOT_NCCL), where it answers without a second GPU whether
 * streams and events of one run time work in the other. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "common/err.h"
#include "common/object.h"
#include "kernels/kernels.h"
#include "lib/ranks/device.h"
#include "lib/ranks/tree.h"

static const struct kernels *k;
static const struct ranks_device *d;

enum { N = 100003, MESSAGES = 3, NODES = 7 };

/* Asks until it is so; a minute is too long. */
#define UNTIL(asked) \
    do { \
        int rc_ = 0; \
        for (int i_ = 0; rc_ == 0 && i_ < 60000; i_++) { \
            rc_ = (asked); \
            if (rc_ == 0) nanosleep(&(struct timespec){ 0, 1000000 }, NULL); \
        } \
        if (rc_ < 0) fail_msg("%s", err_msg()); \
        if (rc_ == 0) fail_msg(#asked ": not within a minute"); \
    } while (0)

static void meets_itself(void **state)
{
    (void)state;
    char name[RANKS_DEVICE_NAME] = "";
    unsigned char key[RANKS_DEVICE_KEY];
    assert_int_equal(d->which(name), 0);
    assert_int_equal(strspn(name, "0123456789abcdef"), 32);
    assert_int_equal(d->invite(key), 0);
    assert_int_equal(d->start(key, 0, 1, k->stream()), 0);
    UNTIL(d->ready());
}

/* What the model's stream writes goes out only then; what came is read by that stream only then. */
static void messages_wait_for_the_models_stream_and_it_for_them(void **state)
{
    (void)state;
    float *host = malloc(N * sizeof *host), *got = malloc(N * sizeof *got);
    float *from = k->alloc(MESSAGES * N * sizeof *from), *to = k->alloc(MESSAGES * N * sizeof *to),
          *copy = k->alloc(N * sizeof *copy);
    struct ranks_message m[2 * MESSAGES];
    for (int round = 0; round < 3; round++) {
        for (int j = 0; j < MESSAGES; j++) {
            for (int i = 0; i < N; i++) host[i] = (float)(i % 1000 + 1000 * j + 10000 * round);
            k->upload(from + j * N, host, N * sizeof *host);
            m[2 * j] = (struct ranks_message){ true, 0, from + j * N, (size_t)(N - j) * 4 };
            m[2 * j + 1] = (struct ranks_message){ false, 0, to + j * N, (size_t)(N - j) * 4 };
        }
        void *written = d->mark(RANKS_MODEL);
        assert_non_null(written);
        assert_int_equal(d->wait(RANKS_OWN, written), 0);
        assert_int_equal(d->group(m, 2 * MESSAGES), 0);
        UNTIL(d->ready());
        void *came = d->mark(RANKS_OWN);
        assert_non_null(came);
        assert_int_equal(d->wait(RANKS_MODEL, came), 0);
        for (int j = 0; j < MESSAGES; j++) {
            k->copy(copy, to + j * N, N * sizeof *copy);
            k->download(got, copy, N * sizeof *got);
            for (int i = 0; i < N - j; i++)
                if (got[i] != (float)(i % 1000 + 1000 * j + 10000 * round))
                    fail_msg("round %d, message %d, number %d: %g", round, j, i, (double)got[i]);
        }
        UNTIL(d->reached(came));
        d->forget(written);
        d->forget(came);
    }
    k->release(from); k->release(to); k->release(copy);
    free(host); free(got);
}

static uint16_t half_of(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return (uint16_t)(u >> 16);
}

/* ((0+1)+(2+3)) + ((4+5)+6), as lib/ranks/tree.h has it and tree_sum of processors adds it; odd
 * nodes in 2 bytes; the sum where node 0 was. */
static void sums_are_those_of_the_tree(void **state)
{
    (void)state;
    static const unsigned char joins[NODES] = { 0, 1, 0, 2, 0, 1, 2 };
    float *host[NODES], *want = malloc(N * sizeof *want), *got = malloc(N * sizeof *got);
    struct tree_block b[TREE_BLOCKS];
    for (int bf16 = 0; bf16 < 2; bf16++) {
        struct ranks_node node[NODES];
        void *dev[NODES];
        for (int j = 0; j < NODES; j++) {
            host[j] = malloc(N * sizeof **host);
            for (int i = 0; i < N; i++) host[j][i] = (float)((i * 31 + j * 7) % 1009 - 500) / 3;
            bool half = j % 2;
            if (half || bf16) tree_round(host[j], N);
            dev[j] = k->alloc(N * sizeof(float));
            if (half) {
                uint16_t *h = malloc(N * sizeof *h);
                for (int i = 0; i < N; i++) h[i] = half_of(host[j][i]);
                k->upload(dev[j], h, N * sizeof *h);
                free(h);
            } else k->upload(dev[j], host[j], N * sizeof **host);
            b[j] = (struct tree_block){ j, 0 };
            node[j] = (struct ranks_node){ dev[j], 0, joins[j], half };
        }
        float *work = malloc(tree_work(NODES) * sizeof *work);
        tree_sum(b, (const float *const *)host, NODES, want, N, work, bf16);
        void *written = d->mark(RANKS_MODEL);
        assert_int_equal(d->wait(RANKS_OWN, written), 0);
        assert_int_equal(d->sum(node, NODES, dev[0], N, bf16, 1), 0);
        int bad[2];
        assert_int_equal(d->checked(bad), 0);
        assert_int_equal(bad[0], 0);
        assert_int_equal(bad[1], 0);
        k->download(got, dev[0], N * sizeof *got);
        for (int i = 0; i < N; i++)
            if (memcmp(got + i, want + i, 4) != 0)
                fail_msg("bf16 %d, number %d: %.9g and not %.9g", bf16, i, (double)got[i],
                         (double)want[i]);
        /* an addend that is not finite is noted under its number, and so is the sum */
        host[6][N - 1] = INFINITY;
        k->upload(dev[6], host[6], N * sizeof **host);
        d->forget(written);
        written = d->mark(RANKS_MODEL);
        assert_int_equal(d->wait(RANKS_OWN, written), 0);
        assert_int_equal(d->sum(node + 6, 1, dev[0], N, bf16, 1), 0);
        assert_int_equal(d->checked(bad), 0);
        assert_int_equal(bad[0], 1);
        assert_int_equal(bad[1], 1);
        d->forget(written);
        for (int j = 0; j < NODES; j++) { free(host[j]); k->release(dev[j]); }
        free(work);
    }
    free(want); free(got);
}

static void ends(void **state)
{
    (void)state;
    d->end(false);
    assert_int_equal(k->sync(), 0);
}

/* Beside the tests, unless the environment says where. */
static void emulated(const char *variable, const char *name)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 64);
    if (n < 0 || getenv(variable)) return;
    path[n] = '\0';
    snprintf(strrchr(path, '/'), 64, "/../cuda/%s", name);
    if (access(path, R_OK) == 0) setenv(variable, path, 1);
}

int main(void)
{
    char why[600];
    emulated("ISOGLOT_CUDA", "libisoglot-cuda.so");
    emulated("ISOGLOT_CUBLASLT", "libisoglot-cuda.so");
    emulated("ISOGLOT_NCCL", "libisoglot-nccl.so");
    if (!getenv("ISOGLOT_CUDA") || !getenv("ISOGLOT_NCCL")) {
        printf("not run: neither a GPU's objects nor the emulated ones\n");
        return 0;
    }
    k = kernels_open("cuda", KERN_FLOAT32, NULL);
    if (!k) { fprintf(stderr, "ranks_self: %s\n", err_msg()); return 1; }
    void *so = object_open("libisoglot-nccl.so", "ISOGLOT_NCCL", RTLD_NOW | RTLD_LOCAL, why,
                           sizeof why);
    union { void *p; ranks_device_fn *fn; } open = { so ? dlsym(so, "ranks_device") : NULL };
    if (!open.p) { fprintf(stderr, "ranks_self: %s\n", so ? "no ranks_device" : why); return 1; }
    d = open.fn(err_set);
    if (d->abi != RANKS_DEVICE_ABI) { fprintf(stderr, "ranks_self: another ABI\n"); return 1; }
    printf("%s, %s\n", k->describe(), d->name);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meets_itself),
        cmocka_unit_test(messages_wait_for_the_models_stream_and_it_for_them),
        cmocka_unit_test(sums_are_those_of_the_tree),
        cmocka_unit_test(ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
