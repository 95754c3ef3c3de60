/* Races between the threads of an emulated launch (races.cc). Calls of kernels' own accesses are
 * put in by the compiler
 * (-fsanitize=thread, whose run time races.cc stands in for); emulate.cc adds those of its
 * instructions, and says what orders them. */
#ifndef TEST_CUDA_RACES_H
#define TEST_CUDA_RACES_H
#include <stddef.h>

extern bool races_on;
void races_begin(const unsigned char *shared,
                 const unsigned char *end); /* from here on; where static shared memory is */
void races_memory(const void *p, size_t n);                                   /* device memory */
void races_forget(const void *p, size_t n); /* is none any more: the pages that it fills */
void races_launch(const char *kernel, const unsigned char *shared,
                  size_t n); /* dynamic shared memory; NULL: the launch is over */
void races_block(size_t block);
void races_barrier(void); /* all threads of the block have met */
void races_warp(int warp);                                                    /* __syncwarp */
void races_access(const void *p, size_t n, bool write); /* by the thread that runs */
void races_under_way(
    const void *p, size_t n,
    bool begins); /* cp.async: from its start until it is waited for nobody may look */
unsigned races_thread(void); /* emulate.cc's: which thread runs */
#endif
