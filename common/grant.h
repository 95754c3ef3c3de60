/* What the system grants this process. */
#ifndef COMMON_GRANT_H
#define COMMON_GRANT_H

double granted_memory(void);         /* bytes: the machine's memory, or its cgroup's if that is less */
int granted_threads(void);           /* processors, by affinity, the cgroup's quota and SLURM_CPUS_PER_TASK: 1 to 4096 */

#endif
