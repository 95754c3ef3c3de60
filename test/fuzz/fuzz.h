/* For fuzz targets whose reader takes a path: bytes as a file in memory. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

struct fuzz_file { int fd; char path[40]; };

static inline struct fuzz_file fuzz_file(const void *p, size_t n)
{
    struct fuzz_file f = { memfd_create("fuzz", 0), "" };
    if (f.fd < 0 || write(f.fd, p, n) != (ssize_t)n) abort();
    snprintf(f.path, sizeof f.path, "/proc/self/fd/%d", f.fd);
    return f;
}

/* Ends the target: what the reader promised does not hold. */
static inline void expect(int holds)
{
    if (!holds) abort();
}

#endif
