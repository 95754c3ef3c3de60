/* The pool of common/thread.c beside OpenMP's (libgomp), alternating in one run: what handing out
 * chunks costs, back to back and with some serial work in between, as in a training step.
 *   gcc -O3 -std=gnu11 -D_GNU_SOURCE -fopenmp -pthread -I. test/peers/pool.c common/thread.c \
 *       common/err.c common/shown.c common/mem.c common/msg.c -o pool
 *   ./pool THREADS ROUNDS; OMP_WAIT_POLICY=passive ./pool THREADS ROUNDS
 * Prints, of each, the best of ROUNDS: microseconds per call by the clock and of all processors. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "common/thread.h"

enum { MOST_ROUNDS = 64, FLOATS = 1 << 20 };
static float x[FLOATS];
static size_t part;

static int work(void *ctx, size_t i, int thread)
{
    (void)ctx; (void)thread;
    float s = 0, *p = x + i * part;
    for (size_t k = 0; k < part; k++) s = s * 0.999f + p[k];
    p[0] = s;
    return 0;
}

static void own(size_t n) { par_for(n, work, NULL); }

static void openmp(size_t n)
{
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < n; i++) work(NULL, i, omp_get_thread_num());
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void serial(void) { for (volatile int i = 0; i < 20000; i++); }

static void compare(const char *what, size_t n, size_t floats, int times, bool gap, int rounds)
{
    static void (*const run[])(size_t) = { own, openmp };
    static const char *const name[] = { "own", "OpenMP" };
    double wall[2] = { 1e9, 1e9 }, cpu[2] = { 1e9, 1e9 };
    part = floats;
    for (int r = 0; r < rounds; r++)
        for (int k = 0; k < 2; k++) {
            double w = seconds(CLOCK_MONOTONIC), c = seconds(CLOCK_PROCESS_CPUTIME_ID);
            for (int i = 0; i < times; i++) {
                run[k](n);
                if (gap) serial();
            }
            w = seconds(CLOCK_MONOTONIC) - w;
            c = seconds(CLOCK_PROCESS_CPUTIME_ID) - c;
            if (w < wall[k]) wall[k] = w;
            if (c < cpu[k]) cpu[k] = c;
        }
    for (int k = 0; k < 2; k++)
        printf("%-26s %-14s %-6s %10.2f us %10.2f us CPU\n", what,
               gap ? "serial between" : "back to back", name[k], 1e6 * wall[k] / times,
               1e6 * cpu[k] / times);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc != 3) { fputs("pool THREADS ROUNDS\n", stderr); return 2; }
    int threads = atoi(argv[1]), rounds = atoi(argv[2]);
    par_threads_set(threads);
    omp_set_num_threads(threads);
    for (int gap = 0; gap < 2; gap++) {
        compare("64 chunks, nothing to do", 64, 1, 500, gap, rounds);
        compare("64 chunks of 0.3 us", 64, 256, 200, gap, rounds);
        compare("64 chunks of 20 us", 64, 16384, 20, gap, rounds);
    }
}
