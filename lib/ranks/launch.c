#include "lib/ranks/ranks.h"
#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/object.h"
#include "lib/ranks/tcp.h"

static const char *value(const char *name)
{
    const char *v = getenv(name);
    /* set to nothing is not set */
    return v && *v ? v : NULL;
}

/* -1: it is not set, or no number. */
static int number(const char *name)
{
    const char *v = value(name);
    char *end;
    long n = v ? strtol(v, &end, 10) : -1;
    return v && end != v && !*end && n >= 0 && n < 1 << 30 ? (int)n : -1;
}

/* The first of a list of hosts as Slurm writes it: "rack[2-3]n[01-04,07],login" is rack2n01. */
static void first_host(const char *list, char *to, size_t size)
{
    size_t n = 0;
    for (; *list && *list != ',' && n + 1 < size; list++) {
        if (*list != '[') {
            to[n++] = *list;
            continue;
        }
        /* the first of the range, with its leading zeros */
        for (list++; isalnum((unsigned char)*list) && n + 1 < size; list++) to[n++] = *list;
        list += strcspn(list, "]");
        if (!*list) break;
    }
    to[n] = '\0';
}

static int master(struct ranks_launch *l)
{
    if (value("MASTER_ADDR")) snprintf(l->host, sizeof l->host, "%s", value("MASTER_ADDR"));
    /* the launcher's own default stays */
    if (!value("MASTER_PORT")) return 0;
    l->port = number("MASTER_PORT");
    if (l->port < 1 || l->port > 65535)
        return err_set("MASTER_PORT=%s: expected a port, 1 to 65535", value("MASTER_PORT"));
    return 0;
}

static int by_torch(struct ranks_launch *l)
{
    l->by = RANKS_TCP;
    l->variables = "RANK, WORLD_SIZE and MASTER_ADDR";
    l->rank = number("RANK");
    l->size = number("WORLD_SIZE");
    if (l->rank < 0 || l->rank >= l->size)
        return err_set("RANK=%s, and WORLD_SIZE=%d and MASTER_ADDR are set: expected a rank from 0 "
                       "to %d; unset them (or ISOGLOT_RANKS=none) to run alone",
                       value("RANK") ? value("RANK") : "", l->size, l->size - 1);
    l->port = 29500;                     /* torchrun's own */
    if (master(l) < 0) return -1;
    /* all on this machine: the port need not be open to others */
    if (number("LOCAL_WORLD_SIZE") == l->size) strcpy(l->host, "127.0.0.1");
    /* torchrun itself listens at the port that it names */
    if (value("TORCHELASTIC_USE_AGENT_STORE")
        && !strcmp(value("TORCHELASTIC_USE_AGENT_STORE"), "True"))
        l->port = l->port < 65535 ? l->port + 1 : l->port - 1;
    /* with the restart's number: a rank of the try before must not meet those of this one */
    snprintf(l->run, sizeof l->run, "torch %s %d",
             value("TORCHELASTIC_RUN_ID") ? value("TORCHELASTIC_RUN_ID") : "",
             number("TORCHELASTIC_RESTART_COUNT"));
    return 0;
}

static int by_slurm(struct ranks_launch *l)
{
    int job = number("SLURM_JOB_ID"), step = number("SLURM_STEP_ID");
    const char *nodes = value("SLURM_STEP_NODELIST"), *ports = value("SLURM_STEP_RESV_PORTS");
    l->by = RANKS_TCP;
    l->variables = "SLURM_PROCID and SLURM_STEP_NUM_TASKS";
    l->rank = number("SLURM_PROCID");
    l->size = number("SLURM_STEP_NUM_TASKS");
    if (l->rank < 0 || l->rank >= l->size)
        return err_set("SLURM_PROCID=%s of %d tasks: is this started by srun?",
                       value("SLURM_PROCID") ? value("SLURM_PROCID") : "", l->size);
    if (!nodes) nodes = value("SLURM_JOB_NODELIST");
    if (number("SLURM_STEP_NUM_NODES") == 1) strcpy(l->host, "127.0.0.1");
    else if (nodes) first_host(nodes, l->host, sizeof l->host);
    if (value("SLURM_LAUNCH_NODE_IPADDR"))
        snprintf(l->address, sizeof l->address, "%s", value("SLURM_LAUNCH_NODE_IPADDR"));
    /* better an address than no name; master, which a user sets, goes before both */
    if (!*l->host) snprintf(l->host, sizeof l->host, "%s", l->address);
    if (!*l->host) return err_set("Slurm names no node of this step: set MASTER_ADDR");
    /* of its own for each step, below 32768, from which Linux gives ports away */
    l->port = 15000 + (job % 5000 + step % 5000 * 101 + 5000) % 5000;
    /* "12000-12003", reserved for this step (srun --resv-ports) */
    if (ports && atoi(ports) > 0 && atoi(ports) < 65536) l->port = atoi(ports);
    snprintf(l->run, sizeof l->run, "slurm %d.%d %d", job, step, number("SLURM_RESTART_COUNT"));
    return master(l);
}

static int by_mpi(struct ranks_launch *l)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                         "SLURM_PROCID" };
    l->by = RANKS_MPI;
    l->variables = "those of MPI";
    l->rank = -1;
    /* for what is said before MPI has started, which then tells the rank itself */
    for (int i = 0; i < 4 && l->rank < 0; i++) l->rank = number(names[i]);
    if (l->rank < 0) l->rank = 0;
    return 0;
}

int ranks_launch(struct ranks_launch *l)
{
    const char *how = value("ISOGLOT_RANKS");
    bool torch = number("WORLD_SIZE") > 0 && value("MASTER_ADDR") && value("RANK");
    bool slurm = number("SLURM_STEP_NUM_TASKS") > 1;
    bool pmix = number("OMPI_COMM_WORLD_SIZE") > 0 || number("PMIX_RANK") >= 0;
    /* looked at last: a step of Slurm's may have a PMI as well, and plain TCP does for it */
    bool pmi = number("PMI_SIZE") > 0 || number("PMI_RANK") >= 0;
    *l = (struct ranks_launch){ .by = RANKS_ALONE };
    if (how && !strcmp(how, "none")) return 0;
    if (how && !strcmp(how, "mpi")) return by_mpi(l);
    if (how && strcmp(how, "tcp") && strcmp(how, "auto"))
        return err_set("ISOGLOT_RANKS=%s: expected auto, mpi, tcp or none", how);
    bool tcp = how && !strcmp(how, "tcp");
    /* mpirun within a Slurm job leaves both kinds of variables: MPI's come first */
    if (pmix && !tcp) return by_mpi(l);
    if (torch) return by_torch(l);
    if (slurm) return by_slurm(l);
    if (tcp)
        return err_set("ISOGLOT_RANKS=tcp: set RANK, WORLD_SIZE and MASTER_ADDR, or start it "
                       "by srun with 2 tasks or more");
    return pmi ? by_mpi(l) : 0;
}

bool ranks_launch_slurm(struct ranks_launch *l)
{
    if (value("ISOGLOT_RANKS") || number("OMPI_COMM_WORLD_SIZE") > 0) return false;
    *l = (struct ranks_launch){ 0 };
    return number("SLURM_STEP_NUM_TASKS") > 1 && by_slurm(l) == 0;
}

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
    /* RTLD_GLOBAL: Open MPI opens components of its own that look for its symbols */
    void *so = object_open(object, "ISOGLOT_MPI", RTLD_NOW | RTLD_GLOBAL, why, sizeof why);
    union { void *p; ranks_mpi_fn *fn; } open = { so ? dlsym(so, "ranks_mpi") : NULL };
    const struct ranks_transport *t = open.p ? open.fn(err_set) : NULL;
    if (t && t->abi == RANKS_ABI) return t;
    /* only where the object is missing: one that is broken is an error */
    if (!so && ranks_launch_slurm(&slurm)) {
        *l = slurm;
        return ranks_tcp(l);
    }
    if (!so)
        err_set("MPI started this as one of several ranks, and %s; build it where mpicc is (make "
                "mpi), or start ranks by plain TCP (docs/howto/cluster.md)", why);
    else if (!open.p) err_set("%s has no ranks_mpi", object);
    else err_set("%s is of another build (ABI %d, not %d)", object, t ? t->abi : 0, RANKS_ABI);
    return NULL;
}
