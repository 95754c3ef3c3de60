/* Whether the gradients of ranks travel from GPU to GPU, and what is needed to. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/object.h"
#include "lib/ranks/inside.h"

static const double GONE = 5;            /* seconds that notes have to say who is gone */

/* What a rank has; its GPU has no name: why. */
struct offer { char gpu[RANKS_DEVICE_NAME], why[192]; };

static const struct ranks_device *open_object(char *why, size_t size)
{
    static const char object[] = "libisoglot-nccl.so", variable[] = "ISOGLOT_NCCL";
    const char *named = getenv(variable);
    if (named && !strcmp(named, "none")) {
        snprintf(why, size, "%s=none", variable);
        return NULL;
    }
    void *so = object_open(object, variable, RTLD_NOW, why, size);
    union { void *p; ranks_device_fn *fn; } open = { so ? dlsym(so, "ranks_device") : NULL };
    const struct ranks_device *d = open.p ? open.fn(err_set) : NULL;
    if (d && d->abi == RANKS_DEVICE_ABI) return d;
    if (so) snprintf(why, size, "%s is of another build", object);
    return NULL;
}

static const struct ranks_device *make_offer(void *stream, struct offer *mine)
{
    const struct ranks_device *d;
    *mine = (struct offer){ .why = "it computes on a processor" };
    if (!stream || !(d = open_object(mine->why, sizeof mine->why))) return NULL;
    if (d->which(mine->gpu) == 0) return d;
    snprintf(mine->why, sizeof mine->why, "%s", err_msg());
    return NULL;
}

/* Why not all of them can? "": they can. By all ranks alike. */
static void judge(const struct ranks *r, const struct offer *all, char *why, size_t size)
{
    char name[128], other[128];
    *why = '\0';
    for (int i = 0; i < r->place.size; i++) {
        if (!*all[i].gpu) {
            snprintf(why, size, "%s: %s", ranks_name(r, i, name), all[i].why);
            return;
        }
        for (int k = 0; k < i; k++)
            if (!strcmp(all[i].gpu, all[k].gpu)) {
                snprintf(why, size, "%s and %s have the same GPU", ranks_name(r, k, name),
                         ranks_name(r, i, other));
                return;
            }
    }
}

int device_failed(struct ranks *r)
{
    char *why = err_keep(), name[128];
    double until = clock_seconds() + GONE;
    int rc = 0;
    while (rc == 0 && clock_seconds() < until) {
        rc = ranks_hold(r);
        nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
    }
    if (rc == 0 && r->place.rank == 0)
        err_set("%s: %s", ranks_name(r, 0, name), why);
    else if (rc == 0) err_set("%s", why);
    free(why);
    return -1;
}

static int meet(struct ranks *r, const struct ranks_device *d, void *stream)
{
    unsigned char key[RANKS_DEVICE_KEY];
    double limit = 4 * r->patience, until;
    if (r->place.rank == 0 && d->invite(key) < 0) return -1;
    if (ranks_broadcast(r, key, sizeof key) < 0) return -1;
    if (d->start(key, r->place.rank, r->place.size, stream) < 0) return device_failed(r);
    until = clock_seconds() + limit;
    for (int there; (there = d->ready()) <= 0;) {
        if (there < 0) return device_failed(r);
        if (ranks_hold(r) < 0) return -1;
        if (clock_seconds() > until)
            return err_set("%s: the GPUs have not met within %.0f seconds; NCCL_SOCKET_IFNAME "
                           "names the network, NCCL_DEBUG=INFO says more, ISOGLOT_NCCL=none does "
                           "without", d->name, limit);
        nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    }
    return 0;
}

int ranks_device_open(struct ranks *r, void *stream, char *how, size_t size)
{
    *how = '\0';
    if (ranks_size(r) < 2) return 0;
    struct offer mine, *all = mem_zero((size_t)r->place.size, sizeof *all);
    const struct ranks_device *d = make_offer(stream, &mine);
    char why[600];
    int gpus = stream != NULL, rc = 0;
    int *on = mem_zero((size_t)r->place.size, sizeof *on);
    if (ranks_gather(r, &mine, all, sizeof mine) < 0 || ranks_gather(r, &gpus, on, sizeof gpus) < 0)
        rc = -1;
    for (int i = 0; i < r->place.size; i++) {
        gpus |= on[i];
        all[i].gpu[sizeof all[i].gpu - 1] = all[i].why[sizeof all[i].why - 1] = '\0';
    }
    judge(r, all, why, sizeof why);
    if (rc == 0 && gpus && *why)
        snprintf(how, size, "gradients travel through the hosts' memory, not by NCCL: %s", why);
    else if (rc == 0 && gpus) {
        rc = meet(r, d, stream);
        r->device = d;
        snprintf(how, size, "%s: gradients travel from GPU to GPU", d->name);
    }
    free(on);
    free(all);
    return rc;
}

bool ranks_near(const struct ranks *r) { return r && r->device; }

void ranks_near_add(struct ranks *r, float *x, const float *y, size_t n, bool bf16)
{
    (void)r->device->add(RANKS_MODEL, x, y, n, bf16);
}

void device_close(struct ranks *r)
{
    if (!r->device) return;
    r->device->end();                    /* before any memory, which waits for what is under way */
    r->device->release(r->near_stage);
    r->device = NULL;
}
