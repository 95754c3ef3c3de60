/* What the system grants this process. */
#ifndef COMMON_GRANT_H
#define COMMON_GRANT_H

/* bytes: the machine's memory, or its cgroup's if that is less */
double granted_memory(void);
/* Bytes that this process may still take: the least of what is free on the machine, what its
 * cgroups have left (pages of files that they could give back count as left) and RLIMIT_AS. */
double granted_memory_left(void);
/* processors, by affinity, the cgroup's quota and SLURM_CPUS_PER_TASK: 1 to 4096 */
int granted_threads(void);

#endif
