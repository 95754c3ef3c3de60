/* A processor that has everything, and a kernel that grants it. */
#ifndef EMULATED_CPUID_H
#define EMULATED_CPUID_H
#include_next <cpuid.h>
#include <unistd.h>
#define __builtin_cpu_supports(feature) 1
#define __get_cpuid_count(leaf, part, a, b, c, d) (*(a) = *(b) = *(c) = *(d) = ~0u, 1)
#define syscall(...) 0
#endif
