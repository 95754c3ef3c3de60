/* Streams of the emulated device: what is queued into one is done in order, and streams wait for
 * each other by events. With ISOGLOT_EMULATE_STREAMS=late nothing is done before somebody has to
 * wait for it, so that what does not wait for another stream, and should, finds what was there
 * before; otherwise it is done at once, unless something before it in its stream is not done. */
#ifndef TEST_CUDA_STREAMS_H
#define TEST_CUDA_STREAMS_H
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct emulate_stream *streams_new(void);      /* the first one is NULL's */
uint64_t streams_queued(const struct emulate_stream *s);
/* step(ctx) is called until it gives true; ctx is then freed. */
void streams_add(struct emulate_stream *s, bool (*step)(void *ctx), void *ctx);
/* Does what it can of the first `until` that were queued; false: they are not done yet. */
bool streams_reach(struct emulate_stream *s, uint64_t until);
void streams_finish(struct emulate_stream *s, uint64_t until);
void streams_finish_all(void);
/* s goes on when `until` of those queued in `other` are done. */
void streams_wait(struct emulate_stream *s, struct emulate_stream *other, uint64_t until);
bool streams_waits(const struct emulate_stream *s);

/* True: f() will be called by s. False: the caller does it now. */
template <typename F> static bool streams_later(struct emulate_stream *s, const F &f)
{
    if (!streams_waits(s)) return false;
    void *kept = malloc(sizeof f);
    if (!kept) abort();
    memcpy(kept, (const void *)&f, sizeof f);
    streams_add(s, [](void *p) { (*(F *)p)(); return true; }, kept);
    return true;
}

#endif
