#include "lib/engine/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "common/err.h"
#include "common/msg.h"
#include "lib/graph/plan.h"

static size_t tensors(const struct memory_need *n) { return n->params + n->arena + n->working; }
size_t memory_total(const struct memory_need *n) { return n->now + n->host + (n->room ? 0 : tensors(n)); }
size_t memory_device(const struct memory_need *n) { return n->room ? tensors(n) : 0; }

static bool fits(const struct memory_need *n, size_t limit) { return memory_total(n) <= limit && memory_device(n) <= n->room; }

/* The number after "name" in a file of "name: N kB" lines, in bytes; 0 if it is not there. */
static size_t field(const char *path, const char *name)
{
    char line[256];
    unsigned long long kb = 0;
    FILE *f = fopen(path, "r");
    if (!f) return 0;
    while (fgets(line, sizeof line, f))
        if (!strncmp(line, name, strlen(name)) && sscanf(line + strlen(name), ": %llu", &kb) == 1) break;
    fclose(f);
    return (size_t)kb * 1024;
}

size_t memory_now(void) { return field("/proc/self/status", "VmRSS"); }

static size_t number_in(const char *path)
{
    unsigned long long n = 0;
    FILE *f = fopen(path, "r");
    if (!f) return 0;
    if (fscanf(f, "%llu", &n) != 1) n = 0;           /* "max" */
    fclose(f);
    return n > (1ull << 60) ? 0 : (size_t)n;
}

/* What a cgroup, version 2, may use yet, 0 where it has no limit. The pages of files in memory.current go when room is wanted; in a
 * container that has read and written much they are nearly all of it. */
static size_t cgroup_room(const char *dir)
{
    static const char *const cache[] = { "inactive_file", "active_file" };
    char path[600], line[256];
    snprintf(path, sizeof path, "%s/memory.max", dir);
    size_t max = number_in(path);
    if (!max) return 0;
    snprintf(path, sizeof path, "%s/memory.current", dir);
    size_t used = number_in(path), files = 0;
    snprintf(path, sizeof path, "%s/memory.stat", dir);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        for (int i = 0; i < 2; i++) {
            unsigned long long n;
            size_t k = strlen(cache[i]);
            if (!strncmp(line, cache[i], k) && sscanf(line + k, " %llu", &n) == 1) files += (size_t)n;
        }
    if (f) fclose(f);
    used = used > files ? used - files : 0;
    return max > used ? max - used : 1;
}

/* Of this process's cgroup, or the one that a container sees as its root. */
static size_t cgroup_left(void)
{
    char line[512], path[540];
    size_t room = 0;
    FILE *f = fopen("/proc/self/cgroup", "r");
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, "0::", 3)) continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(path, sizeof path, "/sys/fs/cgroup%s", line + 3);
        room = cgroup_room(path);
    }
    if (f) fclose(f);
    return room ? room : cgroup_room("/sys/fs/cgroup");
}

size_t memory_limit(void)
{
    size_t now = memory_now(), left = field("/proc/meminfo", "MemAvailable"), group = cgroup_left();
    struct rlimit as;
    if (!left) left = SIZE_MAX / 2;
    if (group && group < left) left = group;
    if (getrlimit(RLIMIT_AS, &as) == 0 && as.rlim_cur != RLIM_INFINITY) {
        size_t used = field("/proc/self/status", "VmSize"), room = as.rlim_cur > used ? (size_t)as.rlim_cur - used : 0;
        if (room < left) left = room;
    }
    return now + left;
}

int memory_plan_open(struct model *m, struct tape *t, const struct model_config *c, const struct kernels *like)
{
    const struct kernels *plan = plan_kernels(like);
    if (model_alloc(m, c, plan, true) < 0) return -1;
    tape_init(t, plan, &m->ps);
    tape_reserve(t, (size_t)1 << 40);                /* refused: the arena grows, and the answer is a little too high */
    return 0;
}

void memory_plan_close(struct model *m, struct tape *t, const struct kernels *like, const struct kern_shape *s, struct memory_need *need)
{
    struct kern_shape shape = *s;
    shape.params = m->ps.total;
    *need = (struct memory_need){ .now = memory_now(), .params = 4 * m->ps.total * sizeof(float), .arena = tape_peak(t),
        .working = like->working ? like->working(&shape) : 0, .host = 3 * m->ps.total * sizeof(float), .room = like->room ? like->room() : 0 };
    tape_free(t);
    model_free(m);
}

static const char *human(size_t n, char s[32])
{
    if (n >= (size_t)10 << 30) snprintf(s, 32, "%.1f GiB", (double)n / (1 << 30));
    else if (n >= (size_t)1 << 30) snprintf(s, 32, "%.2f GiB", (double)n / (1 << 30));
    else snprintf(s, 32, "%.0f MiB", (double)n / (1 << 20));
    return s;
}

/* Options with which it would fit. */
static void advice(const struct memory_ask *a, size_t limit, char *to, size_t size)
{
    struct memory_need n;
    char s[32];
    for (int parts = 1; parts <= 1024 && a->tokens / parts >= 16; parts *= 2)
        for (int again = a->recompute; again <= 1; again++) {
            int tokens = (a->tokens + parts - 1) / parts;
            if ((parts == 1 && again == (int)a->recompute) || a->plan(a->ctx, tokens, again, &n) < 0 || !fits(&n, limit)) continue;
            char batch[64] = "";
            if (parts > 1) snprintf(batch, sizeof batch, " --tokens %d --accumulate %d", tokens, a->accumulate * parts);
            snprintf(to, size, "%s%s would need %s", again && !a->recompute ? " --recompute" : "", batch, human(n.room ? memory_device(&n) : memory_total(&n), s));
            return;
        }
    snprintf(to, size, " no size of micro-batch fits; use a smaller --dim, fewer --layers or a smaller vocabulary");
}

int memory_check(const struct memory_ask *a, struct memory_need *need)
{
    size_t limit = a->limit ? a->limit : memory_limit();
    char all[32], there[32], device[32], room[32], s[5][32], what[256];
    if (a->plan(a->ctx, a->tokens, a->recompute, need) < 0) return -1;
    human(memory_total(need), all);
    human(limit, there);
    human(memory_device(need), device);
    human(need->room, room);
    if (memory_device(need) > need->room) {
        advice(a, limit, what, sizeof what);
        return err_set("this run needs %s of the GPU's memory and %s are free;%s", device, room, what);
    }
    if (memory_total(need) > limit) {
        advice(a, limit, what, sizeof what);
        return err_set("this run needs %s of memory and may have %s;%s", all, there, what);
    }
    if (need->room)
        msg_note("GPU memory: at most %s of %s: parameters and optimiser %s, activations %s, operations %s; the host's: at most %s of %s", device, room,
                  human(need->params, s[0]), human(need->arena, s[1]), human(need->working, s[2]), all, there);
    else msg_note("memory: at most %s of %s: parameters and optimiser %s, activations %s, operations %s, checkpoints %s, the rest %s", all, there,
              human(need->params, s[0]), human(need->arena, s[1]), human(need->working, s[2]), human(need->host, s[3]), human(need->now, s[4]));
    return 0;
}
