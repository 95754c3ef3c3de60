/* Ways of one thing beside each other in one process (kernels/cuda/tries.cu): each --try A before a
 * benchmark's arguments is a value of ISOGLOT_CUDA_TRY, "" the ways that have won. They take turns,
 * twice. */
#ifndef TEST_BENCH_TRIES_H
#define TEST_BENCH_TRIES_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "kernels/kernels.h"

enum { TRIES = 4, ROUNDS = 2 };
static const char *try_of[TRIES];
static int tries = 1;
static const char *try_device;
static enum kern_precision try_precision;
static double try_time[TRIES][ROUNDS];

/* Takes the --try of the arguments away. */
static void tries_from(int *argc, char ***argv)
{
    int n = 0;
    while (*argc > 2 && strcmp((*argv)[1], "--try") == 0 && n < TRIES) {
        try_of[n++] = (*argv)[2];
        (*argv)[2] = (*argv)[0];
        *argv += 2;
        *argc -= 2;
    }
    if (n) tries = n;
}

static int turns(void) { return try_of[0] ? tries * ROUNDS : 1; }

/* The way of a turn from here on; ends the program where it is none. */
static void use(int turn)
{
    if (!try_of[0]) return;
    setenv("ISOGLOT_CUDA_TRY", try_of[turn % tries], 1);
    if (!kernels_open(try_device, try_precision, NULL)) {
        fprintf(stderr, "%s\n", err_msg());
        exit(1);
    }
}

static void note(int turn, double s) { try_time[turn % tries][turn / tries] = s; }

static double best_of(int way)
{
    const double *t = try_time[way];
    return !try_of[0] || t[0] < t[1] ? t[0] : t[1];
}

/* How far the two rounds are apart, in hundredths of the better one. */
static double spread_of(int way)
{
    const double *t = try_time[way];
    return try_of[0] ? 100 * ((t[0] > t[1] ? t[0] : t[1]) / best_of(way) - 1) : 0;
}

/* "try WHAT: 0.123 ms (0.4%), 0.100 ms (0.2%)", in the order of the --try. */
static void tell_tries(const char *what)
{
    if (!try_of[0]) return;
    printf("try %s:", what);
    for (int i = 0; i < tries; i++)
        printf("%s %.4f ms (%.1f%%)", i ? "," : "", best_of(i) * 1e3, spread_of(i));
    printf("\n");
}

#endif
