/* Notes by which ranks know of each other: every second "alive", once "failed" with the reason, at
 * last "leaving", and "end" when all are. All go to and from rank 0, which passes a failure on: N
 * connections carry them, not N^2. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "lib/ranks/inside.h"

static const double EVERY = 1,           /* seconds between two notes */
                    /* since this thread ran last: it was stopped, not they */
                    PAUSE = 2,
                    GRACE = 10,          /* that the caller has to say why the run failed */
                    LEFT = 5,            /* that messages of a rank that leaves may take */
                    LEAVE = 30;          /* that the others of a run that failed have to leave */

const char *ranks_name(const struct ranks *r, int rank, char to[128])
{
    /* before the ranks have met, and of a number that came over the network, by its number alone */
    if (r->who && rank >= 0 && rank < r->place.size)
        snprintf(to, 128, "rank %d of %d (%.60s, process %lld)", rank, r->place.size,
                 r->who[rank].host, (long long)r->who[rank].pid);
    else snprintf(to, 128, "rank %d of %d", rank, r->place.size);
    return to;
}

void ranks_break(struct ranks *r, const char *why, bool reports, int lost)
{
    /* the first reason counts: those after it follow from it */
    if (r->broken) return;
    r->broken = true;
    r->reports = reports;
    r->lost = lost;
    r->broken_at = clock_seconds();
    snprintf(r->why, sizeof r->why, "%s", why);
    /* their callers wake, and get `why` from job_wait */
    for (struct job *j = r->queue; j; j = j->after) j->status = -1;
    for (int i = 0; i < ACTIVE; i++)
        if (r->active[i]) r->active[i]->status = -1;
    /* buffers of theirs stay: the network may still write to them */
    memset(r->active, 0, sizeof r->active);
    r->n_active = 0;
    r->queue = NULL;
    r->queue_end = &r->queue;
    pthread_cond_broadcast(&r->changed);
}

void watchdog_open(struct ranks *r)
{
    r->peers = r->place.rank ? 1 : r->place.size - 1;
    r->peer = mem_zero((size_t)r->peers, sizeof *r->peer);
    r->looked = clock_seconds();
    for (int i = 0; i < r->peers; i++) {
        r->peer[i].rank = r->place.rank ? 0 : i + 1;
        /* patience counts from here, not from 0 */
        r->peer[i].heard = r->looked;
    }
}

/* -1 with a message: no rank writes such a note. */
static int hear(struct ranks *r, struct peer *p, double now)
{
    char why[700], name[128];
    /* whatever it says is a sign of life */
    p->heard = now;
    p->heard_any = true;
    /* it came over the network */
    p->got.text[sizeof p->got.text - 1] = '\0';
    if (p->got.kind < NOTE_ALIVE || p->got.kind > NOTE_END)
        return err_set("%s sends what no rank sends (a note of kind %d); start all ranks from one "
                       "build", ranks_name(r, p->rank, name), p->got.kind);
    if (p->got.kind == NOTE_END) p->ended = true;
    if (p->got.kind >= NOTE_LEAVING && p->leaving == 0) p->leaving = now;
    if (p->got.kind != NOTE_FAILED) return 0;
    p->notified = true;
    snprintf(why, sizeof why, "%s: %s", ranks_name(r, p->rank, name), p->got.text);
    /* rank 0 adds the name, and passes both on */
    ranks_break(r, r->place.rank ? p->got.text : why, !r->place.rank, -1);
    return 0;
}

/* May this rank send END? It is leaving, and, of rank 0, all others are. */
static bool may_end(const struct ranks *r)
{
    if (!r->leaving) return false;
    for (int i = 0; i < r->peers && !r->place.rank; i++)
        if (!r->peer[i].ended) return false;
    return true;
}

static int say(struct ranks *r, struct peer *p, double now)
{
    int kind = NOTE_ALIVE;
    /* rank 0 lost: nobody is there to pass the note on */
    if (r->broken && !p->notified && r->lost != 0) {
        kind = NOTE_FAILED;
        p->notified = true;
        snprintf(p->put.text, sizeof p->put.text, "%.500s", r->why);
    } else if (may_end(r)) {
        kind = NOTE_END;
        p->ending = true;
    } else if (r->leaving && !p->left) {
        kind = NOTE_LEAVING;
        p->left = true;
    } else if (now - p->sent < EVERY) return 0;
    /* p->out is NULL here (exchange): the last note has gone, and its room is free */
    p->put.kind = kind;
    p->sent = now;
    return (p->out = r->t->send(r->ctx, p->rank, 0, &p->put, sizeof p->put)) ? 0 : -1;
}

/* Another rank has ended the run of all: p, or somebody else. Who does so has said why: in a note,
 * or, where this process was stopped and seemed gone, to its user. Whoever has not is named, by
 * rank 0, or by the others where it is rank 0. A caller that has the message is left to say it. */
static void ended(struct ranks *r, struct peer *p, bool by_peer, double now)
{
    bool stopped = r->stopped > 0 && now - r->stopped < GRACE;
    ranks_break(r, err_msg(), !stopped && (by_peer || !r->place.rank), -1);
    p->ended = p->ending = true;
    p->out = NULL;
    /* the caller has the message, and ends the program with it */
    if (r->reports && r->known) return;
    if (r->reports && r->on_failure) r->on_failure(r->why);
    _exit(1);
}

/* With one peer: what came, what goes. -1 with a message. */
static int exchange(struct ranks *r, struct peer *p, double now)
{
    int in = p->in ? r->t->done(r->ctx, p->in) : 0, out = 0;
    if (in > 0) {
        p->in = NULL;
        if (hear(r, p, now) < 0) return -1;
    }
    /* a failure of `in` is handled first; `done` of the other would replace its message */
    if (in >= 0 && p->out) out = r->t->done(r->ctx, p->out);
    if (out > 0) p->out = NULL;
    bool by_peer = in == RANKS_ENDED || out == RANKS_ENDED;
    if (by_peer || in == RANKS_NOTIFIED || out == RANKS_NOTIFIED) {
        ended(r, p, by_peer, now);
        return 0;
    }
    if (in == RANKS_GONE || out == RANKS_GONE) {
        if (!p->ended) {
            p->gone = true;
            p->gone_at = now;
        }
        p->ended = p->ending = true;
        p->out = NULL;                   /* p->in stays: what others send moves when it is asked */
        return 0;
    }
    if (in < 0 || out < 0) return -1;
    /* always one that is ready for the next note */
    if (!p->in && !p->ended
        && !(p->in = r->t->receive(r->ctx, p->rank, 0, &p->got, sizeof p->got)))
        return -1;
    /* one note at a time */
    return p->out || p->ending ? 0 : say(r, p, now);
}

/* Is it gone, has it been silent for too long, or left while this rank waits for it? Where it is
 * rank 0, ranks speak in turn: the first ends all. */
static void listen(struct ranks *r, const struct peer *p, double now)
{
    char why[320], name[128];
    /* bounded: of very many ranks the last would notice a loss too late */
    double late = r->place.rank > 1 ? 0.2 * (r->place.rank - 1) : 0;
    if (late > 4) late = 4;
    /* that reason stays */
    if (r->broken) return;
    if (p->gone && now - p->gone_at >= late) {
        snprintf(why, sizeof why,
                 "%s is gone: its process was killed or its connection broke; all ranks end; start "
                 "them again with --resume", ranks_name(r, p->rank, name));
        ranks_break(r, why, true, p->rank);
        return;
    }
    if (p->leaving > 0 && now - p->leaving > LEFT && (r->n_active || r->queue)) {
        snprintf(why, sizeof why, "%s has left before the end; all ranks end",
                 ranks_name(r, p->rank, name));
        ranks_break(r, why, true, -1);
        return;
    }
    /* the others may still be connecting */
    double patience = p->heard_any || r->place.size < 3 ? r->patience : 4 * r->patience;
    if (p->ended || now - p->heard < patience + late) return;
    snprintf(why, sizeof why,
             "%s has not answered for %.0f seconds: its process hangs, is stopped or gone; all "
             "ranks end; start them again with --resume",
             ranks_name(r, p->rank, name), now - p->heard);
    ranks_break(r, why, true, p->rank);
}

/* Of a run that has failed: who does not come, does not keep the others. Where rank 0 is lost, the
 * first that notices says so at once, before others do. */
static void hurry(struct ranks *r, double now)
{
    if (!r->broken) return;
    bool first = r->place.rank && r->lost == 0;
    bool silent = !r->known && (first || now - r->broken_at > GRACE);
    bool gone = r->lost >= 0 && r->leaving;
    /* else the others are given time to leave by themselves */
    if (!silent && !gone && now - r->broken_at < LEAVE) return;
    if (!r->known && r->reports && r->on_failure) {
        r->on_failure(r->why);
        r->reports = false;
    }
    /* in a place of its own: p->put may be on its way */
    r->last.kind = NOTE_FAILED;
    snprintf(r->last.text, sizeof r->last.text, "%.500s", r->why);
    /* nobody is ended without the reason */
    for (int i = 0; i < r->peers; i++) {
        const struct peer *p = &r->peer[i];
        if (!p->notified && !p->gone && r->lost != 0)
            (void)r->t->send(r->ctx, p->rank, 0, &r->last, sizeof r->last);
    }
    r->known = r->aborted = true;
    /* abort may take seconds, or not return */
    pthread_mutex_unlock(&r->lock);
    r->t->abort(r->ctx, 1);
    /* its caller hangs */
    if (silent && r->on_failure) _exit(1);
    pthread_mutex_lock(&r->lock);
    r->over = true;
}

bool watchdog_advance(struct ranks *r)
{
    double now = clock_seconds(), pause = now - r->looked;
    bool all = true;
    pthread_mutex_lock(&r->lock);
    /* how long this thread did not run: a laptop that slept, a debugger, SIGSTOP */
    r->looked = now;
    if (pause > PAUSE) r->stopped = now;
    for (int i = 0; i < r->peers; i++) {
        struct peer *p = &r->peer[i];
        if (pause > PAUSE) p->heard += pause;
        if (exchange(r, p, now) < 0) {
            ranks_break(r, err_msg(), true, p->rank);
            /* also where another reason came first: it is not waited for */
            r->lost = p->rank;
        }
        listen(r, p, now);
        /* END has come and gone, and is not only on its way */
        all &= p->ended && p->ending && !p->out;
    }
    hurry(r, now);
    if (all && r->leaving) r->over = true;
    bool over = r->over;
    pthread_mutex_unlock(&r->lock);
    return !over;
}
