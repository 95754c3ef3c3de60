/* Shared objects that are opened at run time, so that programs run without them: the CUDA side, the
 * MPI side. */
#ifndef COMMON_OBJECT_H
#define COMMON_OBJECT_H
#include <stddef.h>

/* Opens the object `name` ("libisoglot-cuda.so"): the file that the environment's `variable` names;
 * else the one next to the program, or in ../lib/isoglot of it; else where the dynamic linker
 * looks. flags: dlopen's. NULL: `why` [size] says what is missing. It is never closed. */
void *object_open(const char *name, const char *variable, int flags, char *why, size_t size);

#endif
