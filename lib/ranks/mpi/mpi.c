/* libisoglot-mpi.so: messages between ranks by MPI. Opened by lib/ranks/launch.c at run time. */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/ranks/transport.h"

static int (*err_set)(const char *fmt, ...);
static MPI_Comm world;
static char name[MPI_MAX_LIBRARY_VERSION_STRING];

/* Errors come back as codes, since start has set MPI_ERRORS_RETURN. */
static int failed(const char *what, int rc)
{
    char why[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    MPI_Error_string(rc, why, &n);
    return err_set("MPI: %s: %s", what, why);
}

static int local_size(int *n)
{
    MPI_Comm here;
    int rc = MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    if (rc == MPI_SUCCESS) rc = MPI_Comm_size(here, n);
    /* only its size was wanted */
    if (rc == MPI_SUCCESS) rc = MPI_Comm_free(&here);
    return rc;
}

static int start(void **ctx, struct ranks_place *p, double patience)
{
    int have, n;
    *ctx = NULL;
    /* MPI waits as long as it likes (transport.h) */
    (void)patience;
    int rc = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &have);
    if (rc != MPI_SUCCESS) return failed("it does not start", rc);
    MPI_Get_library_version(name, &n);
    /* Open MPI adds its build and date */
    name[strcspn(name, ",\n")] = 0;
    if (have < MPI_THREAD_FUNNELED) return err_set("%s was built without threads", name);
    /* a communicator of our own: tags cannot meet those of a library that uses MPI, too */
    rc = MPI_Comm_dup(MPI_COMM_WORLD, &world);
    if (rc == MPI_SUCCESS) rc = MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    if (rc == MPI_SUCCESS) rc = MPI_Comm_rank(world, &p->rank);
    if (rc == MPI_SUCCESS) rc = MPI_Comm_size(world, &p->size);
    if (rc == MPI_SUCCESS) rc = local_size(&p->local_size);
    return rc == MPI_SUCCESS ? 0 : failed("the ranks do not meet", rc);
}

static void *begun(MPI_Request *r, int rc)
{
    if (rc == MPI_SUCCESS) return r;
    free(r);
    failed("a message", rc);
    return NULL;
}

static MPI_Request *request(size_t bytes)
{
    /* collective.c cuts what is longer */
    MPI_Request *r = bytes <= INT_MAX ? malloc(sizeof *r) : NULL;
    if (!r) err_set("MPI: no memory for a message");
    return r;
}

static void *send(void *ctx, int to, int tag, const void *data, size_t bytes)
{
    MPI_Request *r = request(bytes);
    (void)ctx;
    return r ? begun(r, MPI_Isend(data, (int)bytes, MPI_BYTE, to, tag, world, r)) : NULL;
}

static void *receive(void *ctx, int from, int tag, void *data, size_t bytes)
{
    MPI_Request *r = request(bytes);
    (void)ctx;
    return r ? begun(r, MPI_Irecv(data, (int)bytes, MPI_BYTE, from, tag, world, r)) : NULL;
}

static int done(void *ctx, void *which)
{
    int flag = 0, rc = MPI_Test(which, &flag, MPI_STATUS_IGNORE);
    (void)ctx;
    if (rc != MPI_SUCCESS) return failed("a message", rc);
    /* MPI_Test has freed what MPI keeps of it */
    if (flag) free(which);
    return flag != 0;
}

static int end(void *ctx)
{
    (void)ctx;
    MPI_Comm_free(&world);
    int rc = MPI_Finalize();
    return rc == MPI_SUCCESS ? 0 : failed("it does not end", rc);
}

static void abort_all(void *ctx, int status)
{
    (void)ctx;
    MPI_Abort(MPI_COMM_WORLD, status);
}

const struct ranks_transport *ranks_mpi(int (*fail)(const char *fmt, ...));

__attribute__((visibility("default"))) const struct ranks_transport *
ranks_mpi(int (*fail)(const char *fmt, ...))
{
    static const struct ranks_transport mpi = { .abi = RANKS_ABI, .name = name, .start = start,
                                                .send = send, .receive = receive, .done = done,
                                                .end = end, .abort = abort_all };
    err_set = fail;
    return &mpi;
}
