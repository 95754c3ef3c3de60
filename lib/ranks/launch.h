/* What a launcher left in the environment of a process that it started as one of several ranks. */
#ifndef RANKS_LAUNCH_H
#define RANKS_LAUNCH_H
#include <stdbool.h>

struct ranks_launch {
    enum { RANKS_ALONE, RANKS_MPI, RANKS_TCP } by;
    int rank, size;              /* of RANKS_MPI: size 0, rank as far as the environment says */
    /* of RANKS_TCP: where rank 0 listens; an address of its machine where `host` has none, or "" */
    char host[256], address[64];
    int port;
    /* what the run is called, so that ranks of two runs do not meet; the variables that said all
     * this */
    char run[256];
    const char *variables;
};

/* By the environment: MPI where Open MPI, PMIx or another PMI than Slurm's started it; else plain
 * TCP where RANK, WORLD_SIZE and MASTER_ADDR are set (torchrun, scripts of sbatch), or it is a task
 * of a step of Slurm with several. ISOGLOT_RANKS=mpi, tcp or none says so itself. 0, or
 * -1 with a message: variables that contradict one another. */
int ranks_launch(struct ranks_launch *l);
/* Of srun --mpi=pmix where libisoglot-mpi.so is not: Slurm's own variables say what plain TCP
 * needs. false: they do not, or something else was asked for. */
bool ranks_launch_slurm(struct ranks_launch *l);

#endif
