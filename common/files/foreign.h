/* Files of other programs' formats, known by their first bytes: so that whoever gave the wrong
 * file, or one that is still packed, reads what it is and what to do, not what is wrong with
 * byte 7. */
#ifndef COMMON_FILES_FOREIGN_H
#define COMMON_FILES_FOREIGN_H
#include <stdbool.h>
#include <stddef.h>

struct foreign {
    const char *what;            /* "a zip archive" */
    const char *advice;          /* "unpack it first" */
    bool text;                   /* it is text, and may be meant as such: HTML, RTF */
};

/* As many bytes as are looked at; fewer are fine. */
enum { FOREIGN_BYTES = 512 };

/* What does a file begin with that has p [n] for its first bytes? NULL: nothing that is known here.
 * gzip, Zstandard, .npy, safetensors and PyTorch's zip archives are named too: ask where a file is
 * not, or no longer, expected to be one. */
const struct foreign *foreign_find(const void *p, size_t n);

/* Sets the message "PATH: a zip archive, not EXPECTED; unpack it first" and returns -1 if the bytes
 * are those of something known; else 0. */
int foreign_refuse(const char *path, const void *p, size_t n, const char *expected);

/* The same for pointers of Git LFS alone, which stand in for files of any format. */
int foreign_refuse_pointer(const char *path, const void *p, size_t n);

#endif
