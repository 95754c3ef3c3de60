/* What the system grants this process. */
#ifndef COMMON_GRANT_H
#define COMMON_GRANT_H

/* bytes: the machine's memory, or its cgroup's if that is less */
double granted_memory(void);
/* processors, by affinity, the cgroup's quota and SLURM_CPUS_PER_TASK: 1 to 4096 */
int granted_threads(void);

#endif
