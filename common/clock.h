#ifndef COMMON_CLOCK_H
#define COMMON_CLOCK_H
#include <time.h>

/* Seconds of a monotonic clock with an arbitrary start: for durations. */
static inline double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds since 1970 by the system clock, which may be set back: for dates. */
static inline double clock_date(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
