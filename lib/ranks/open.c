/* What speaks with the other ranks: MPI's shared object, or plain TCP. */
#include <dlfcn.h>
#include <stdlib.h>
#include "common/err.h"
#include "common/object.h"
#include "lib/ranks/ranks.h"
#include "lib/ranks/tcp.h"

int ranks_launched_rank(void)
{
    struct ranks_launch l;
    return ranks_launch(&l) < 0 || l.by == RANKS_ALONE ? 0 : l.rank;
}

const struct ranks_transport *ranks_transport(struct ranks_launch *l)
{
    static const char object[] = "libisoglot-mpi.so";
    char why[512] = "";
    struct ranks_launch slurm;
    if (l->by == RANKS_TCP) return ranks_tcp(l);
    /* global: Open MPI opens parts of its own that look for its names */
    void *so = object_open(object, "ISOGLOT_MPI", RTLD_NOW | RTLD_GLOBAL, why, sizeof why);
    union { void *p; ranks_mpi_fn *fn; } open = { so ? dlsym(so, "ranks_mpi") : NULL };
    const struct ranks_transport *t = open.p ? open.fn(err_set) : NULL;
    if (t && t->abi == RANKS_ABI) return t;
    if (!so && ranks_launch_slurm(&slurm)) {
        *l = slurm;
        return ranks_tcp(l);
    }
    if (!so)
        err_set("MPI started this as one of several ranks, and %s; build it where mpicc is (make "
                "mpi), or start ranks by plain TCP (docs/cluster.md)", why);
    else if (!open.p) err_set("%s has no ranks_mpi", object);
    else err_set("%s is of another build (ABI %d, not %d)", object, t ? t->abi : 0, RANKS_ABI);
    return NULL;
}
