#include "lib/engine/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/err.h"
#include "common/grant.h"
#include "common/msg.h"

static size_t tensors(const struct memory_need *n) { return n->params + n->arena + n->working; }
/* Of a device with memory of its own the host still has the program, text and what checkpoints
 * copy. */
size_t memory_total(const struct memory_need *n)
{
    return n->now + n->host + n->ranks + (n->room ? 0 : tensors(n));
}
size_t memory_device(const struct memory_need *n)
{
    return n->room ? tensors(n) + n->on_device : 0;
}

static bool fits(const struct memory_need *n, size_t limit)
{
    return memory_total(n) <= limit && memory_device(n) <= n->room;
}

size_t memory_now(void)
{
    unsigned long long pages = 0;
    /* the second number: resident pages, not addresses */
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%*u %llu", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

size_t memory_share(size_t here) { return memory_now() + (size_t)granted_memory_left() / here; }

int memory_plan_open(struct model *m, struct tape *t)
{
    /* addresses alone (arena_plan_kernels): nothing is resident. Of four arrays some may have been
     * had before ulimit -v refused one. */
    if (params_alloc(&m->ps, true) < 0) {
        model_free(m);
        return -1;
    }
    tape_init(t, m->ps.k, &m->ps);
    /* refused, so the arena grows as it is used, and the answer is a little too high */
    tape_reserve(t, (size_t)1 << 40);
    return 0;
}

void memory_plan_close(struct model *m, struct tape *t, const struct kernels *like,
                       const struct kern_shape *s, struct memory_need *need)
{
    struct kern_shape shape = *s;
    shape.params = m->ps.total;
    *need = (struct memory_need){ .floats = m->ps.total,
                                  /* before the model is made: what is here now stays */
                                  .now = memory_now(),
                                  /* values and gradients, and Adam's two moments */
                                  .params = 2 * (m->ps.total + m->ps.moments) * sizeof(float),
                                  .arena = tape_peak(t),
                                  .working = like->working ? like->working(&shape) : 0,
                                  .slow = like->slow ? like->slow(&shape) : NULL,
                                  /* a checkpoint's snapshot: values and both moments */
                                  .host = 3 * m->ps.total * sizeof(float),
                                  .room = like->room ? like->room() : 0 };
    /* after tape_peak and total have been read */
    tape_free(t);
    model_free(m);
}

static const char *human(size_t n, char s[32])
{
    /* three digits that count, whatever the size */
    if (n >= (size_t)10 << 30) snprintf(s, 32, "%.1f GiB", (double)n / (1 << 30));
    else if (n >= (size_t)1 << 30) snprintf(s, 32, "%.2f GiB", (double)n / (1 << 30));
    else snprintf(s, 32, "%.0f MiB", (double)n / (1 << 20));
    return s;
}

/* The first options with which it would fit: half the micro-batch and twice as many of them, step
 * by step, each without --recompute first, since recomputing costs time. */
static void advice(const struct memory_ask *a, size_t limit, char *to, size_t size)
{
    struct memory_need n;
    char s[32];
    /* below 16 tokens a micro-batch is less than a sentence */
    for (int parts = 1; parts <= 1024 && a->tokens / parts >= 16; parts *= 2)
        for (int again = a->recompute; again <= 1; again++) {
            int tokens = (a->tokens + parts - 1) / parts;
            if ((parts == 1 && again == (int)a->recompute) || a->plan(a->ctx, tokens, again, &n) < 0
                || !fits(&n, limit))
                continue;
            char batch[64] = "";
            if (parts > 1 && a->batch)
                /* as many examples per step as before: only the size of the micro-batches
                 * changes */
                snprintf(batch, sizeof batch, " --batch %d --accumulate %d",
                         (a->batch + parts - 1) / parts, a->accumulate * parts);
            else if (parts > 1)
                snprintf(batch, sizeof batch, " --tokens %d --accumulate %d", tokens,
                         a->accumulate * parts);
            snprintf(to, size, "%s%s would need %s", again && !a->recompute ? " --recompute" : "",
                     batch, human(n.room ? memory_device(&n) : memory_total(&n), s));
            return;
        }
    snprintf(to, size,
             " no size of micro-batch fits; use a smaller --dim, fewer --layers or a smaller "
             "vocabulary");
}

int memory_check(const struct memory_ask *a, struct memory_need *need)
{
    size_t here = a->here > 1 ? (size_t)a->here : 1;
    size_t limit = a->limit ? a->limit : memory_share(here);
    char all[32], there[32], device[32], room[32], s[5][32], what[256], each[96] = "";
    char on_device[64] = "";
    if (a->plan(a->ctx, a->tokens, a->recompute, need) < 0) return -1;
    human(memory_total(need), all);
    human(limit, there);
    human(memory_device(need), device);
    human(need->room, room);
    if (here > 1) {
        human(need->ranks, s[0]);
        snprintf(each, sizeof each, ", ranks %s; so for each of %zu ranks here", s[0], here);
    } else if (need->ranks) snprintf(each, sizeof each, ", tree of gradients %s",
                                     human(need->ranks, s[0]));
    /* the device first: what fits there decides the size of the micro-batch */
    if (memory_device(need) > need->room) {
        advice(a, limit, what, sizeof what);
        return err_set("this run needs %s of the GPU's memory and %s are free;%s", device, room,
                       what);
    }
    if (memory_total(need) > limit) {
        advice(a, limit, what, sizeof what);
        return err_set("this run needs %s of memory%s and may have %s;%s", all,
                       here > 1 ? " for each rank here" : "", there, what);
    }
    if (need->slow) msg_note("%s", need->slow);
    if (need->on_device)
        snprintf(on_device, sizeof on_device, ", ranks %s", human(need->on_device, s[0]));
    if (need->room)
        msg_note("GPU memory: at most %s of %s: parameters and optimiser %s, activations %s, "
                 "operations %s%s; the host's: at most %s of %s%s",
                 device, room, human(need->params, s[0]), human(need->arena, s[1]),
                 human(need->working, s[2]), on_device, all, there, each);
    else
        msg_note("memory: at most %s of %s: parameters and optimiser %s, activations %s, "
                 "operations %s, checkpoints %s, the rest %s%s",
                 all, there, human(need->params, s[0]), human(need->arena, s[1]),
                 human(need->working, s[2]), human(need->host, s[3]), human(need->now, s[4]), each);
    return 0;
}
