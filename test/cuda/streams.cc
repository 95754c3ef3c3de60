#include "streams.h"
#include <time.h>

struct item { bool (*step)(void *ctx); void *ctx; struct item *next; };
struct emulate_stream {
    struct item *first, *last;
    uint64_t queued, done;
    struct emulate_stream *after;
};
static struct emulate_stream first;
static bool made, running;              /* running: what is called now belongs to a stream */

static struct emulate_stream *of(const struct emulate_stream *s)
{
    return s ? (struct emulate_stream *)s : &first;
}

struct emulate_stream *streams_new(void)
{
    if (!made) {
        made = true;
        return &first;
    }
    struct emulate_stream *s = (struct emulate_stream *)calloc(1, sizeof *s);
    if (!s) abort();
    s->after = first.after;
    first.after = s;
    return s;
}

uint64_t streams_queued(const struct emulate_stream *s) { return of(s)->queued; }

bool streams_waits(const struct emulate_stream *s)
{
    const char *how = getenv("ISOGLOT_EMULATE_STREAMS");
    if (running) return false;
    return of(s)->first || (how && strcmp(how, "late") == 0);
}

void streams_add(struct emulate_stream *s, bool (*step)(void *ctx), void *ctx)
{
    struct item *x = (struct item *)calloc(1, sizeof *x);
    s = of(s);
    if (!x) abort();
    *x = { step, ctx, NULL };
    if (s->last) s->last->next = x;
    else s->first = x;
    s->last = x;
    s->queued++;
}

bool streams_reach(struct emulate_stream *s, uint64_t until)
{
    bool outer = running;
    s = of(s);
    while (s->done < until && s->first) {
        struct item *x = s->first;
        running = true;
        bool done = x->step(x->ctx);
        running = outer;
        if (!done) return false;
        s->first = x->next;
        if (!s->first) s->last = NULL;
        s->done++;
        free(x->ctx);
        free(x);
    }
    return s->done >= until;
}

void streams_finish(struct emulate_stream *s, uint64_t until)
{
    const struct timespec nap = { 0, 50000 };
    while (!streams_reach(s, until)) nanosleep(&nap, NULL);
}

void streams_finish_all(void)
{
    for (struct emulate_stream *s = &first; s; s = s->after) streams_finish(s, s->queued);
}

struct other { struct emulate_stream *s; uint64_t until; };

void streams_wait(struct emulate_stream *s, struct emulate_stream *other, uint64_t until)
{
    struct other *o = (struct other *)malloc(sizeof *o);
    if (!o) abort();
    *o = { of(other), until };
    streams_add(s, [](void *p) {
        const struct other *x = (const struct other *)p;
        return streams_reach(x->s, x->until);
    }, o);
}
