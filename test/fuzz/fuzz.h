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

/* The path of a file that holds these bytes, until the next call for the same slot. The files
 * outlive an input: to make and unmake one each time costs more than most readers do. */
enum { FUZZ_FILES = 3 };
static inline const char *fuzz_file(int slot, const void *p, size_t n)
{
    static struct { int fd; char path[32]; } file[FUZZ_FILES];
    if (!file[slot].fd) {
        file[slot].fd = memfd_create("fuzz", 0);
        snprintf(file[slot].path, sizeof file[slot].path, "/proc/self/fd/%d", file[slot].fd);
    }
    if (pwrite(file[slot].fd, p, n, 0) != (ssize_t)n || ftruncate(file[slot].fd, (off_t)n) < 0)
        abort();
    return file[slot].path;
}

/* Ends the target: what the reader promised does not hold. */
static inline void expect(int holds)
{
    if (!holds) abort();
}

#endif
