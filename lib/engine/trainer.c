#include "lib/engine/trainer.h"
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "common/clock.h"
#include "common/err.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/prog.h"
#include "common/progress.h"
#include "common/signals.h"
#include "lib/graph/profile.h"
#include "lib/engine/saver.h"

void trainer_options_init(struct trainer_options *o)
{
    *o = (struct trainer_options){ .steps = 100000,
                                   .lr = 1e-4,
                                   .warmup = 10000,
                                   .schedule = SCHEDULE_INVERSE_SQRT,
                                   .beta1 = 0.9,
                                   .beta2 = 0.999,
                                   .eps = 1e-8,
                                   .clip = 5,
                                   .accumulate = 1,
                                   .save_every = 1000,
                                   .valid_every = 1000,
                                   .log_every = 50,
                                   .keep = 2,
                                   .lower_is_better = true };
}

double trainer_lr(const struct trainer_options *o, int64_t step)
{
    double s = (double)step, w = (double)o->warmup;
    if (step < o->warmup) return o->lr * s / w;
    switch (o->schedule) {
    case SCHEDULE_LINEAR: {
        double left = (double)(o->steps - step)
                      / (double)(o->steps - o->warmup > 0 ? o->steps - o->warmup : 1);
        return o->lr * (left > 0 ? left : 0);
    }
    case SCHEDULE_INVERSE_SQRT: return o->lr * sqrt((w > 1 ? w : 1) / (s > 1 ? s : 1));
    default: return o->lr;
    }
}

struct rng_key trainer_key(const struct trainer *tr, uint64_t seed, enum rng_purpose purpose)
{
    return (struct rng_key){ seed, purpose, (uint32_t)(tr->step + 1) };
}

/* `best` follows what the state says: also after a kill between a checkpoint and its link. */
static int link_best(struct trainer *tr)
{
    return tr->best_step > 0 ? checkpoint_link(tr->o.dir, "best", tr->best_step) : 0;
}

/* Ends the run: `what` of the step are not finite. */
static int diverged(struct trainer *tr, const char *what, int64_t step)
{
    char kept[80] = "there is no checkpoint yet";
    if (tr->saved_step > 0)
        snprintf(kept, sizeof kept, "the newest checkpoint, of step %lld, is from before",
                 (long long)tr->saved_step);
    tr->ended = true;
    return err_set("%s: the %s of step %lld are not finite (learning rate %g); %s; lower --lr, "
                   "lengthen --warmup or tighten --clip",
                   tr->o.dir, what, (long long)step, trainer_lr(&tr->o, step), kept);
}

/* --- terms of the log, of which the device has some when the next step is already queued --- */

/* n numbers for a term (-1: there is no room for one): their sum, or the norm whose square they
 * are. step: of the gradient that is. */
struct unread { int term; bool norm; int64_t step; size_t n; };

/* Waits for the device and reads. -1: it failed, or a step's gradient was not finite: then that
 * step and those after it do not count. */
static int catch_up(struct trainer *tr)
{
    if (tr->m->ps.k->sync() < 0) return -1;
    const float *x = tr->fetched;
    for (size_t i = 0; i < tr->n_unread; i++) {
        const struct unread *u = &tr->unread[i];
        double sum = 0;
        for (size_t j = 0; j < u->n; j++) sum += x[j];
        x += u->n;
        if (u->norm) sum = sqrt(sum);
        if (u->step > 0 && !isfinite(sum)) {
            tr->step = u->step - 1;
            return diverged(tr, "gradients", u->step);
        }
        if (u->term < 0) continue;
        tr->term[u->term].sum += sum;
        tr->term[u->term].count += u->norm ? 1 : (double)u->n;
    }
    tr->n_unread = tr->n_fetched = 0;
    tr->read_at = clock_seconds();
    return 0;
}

/* Queues the fetching of u's numbers from the device's x. */
static int later(struct trainer *tr, const struct unread *u, const float *x)
{
    enum { AT_ONCE = 1 << 22 }; /* numbers on the way at most, unless a step has more */
    const struct kernels *k = tr->m->ps.k;
    if (tr->n_fetched + u->n > tr->fetched_cap) {
        if (tr->n_unread && catch_up(tr) < 0) return -1;
        if (u->n > tr->fetched_cap) {
            size_t cap = k->queues && u->n < AT_ONCE ? AT_ONCE : u->n;
            k->host_release(tr->fetched);
            tr->fetched_cap = 0;
            if (!(tr->fetched = k->host_alloc(cap * sizeof *tr->fetched))) return -1;
            tr->fetched_cap = cap;
        }
    }
    mem_room(&tr->unread, &tr->unread_cap, tr->n_unread + 1, sizeof *tr->unread);
    tr->unread[tr->n_unread++] = *u;
    if (u->n) k->fetch(tr->fetched + tr->n_fetched, x, u->n * sizeof *x);
    tr->n_fetched += u->n;
    return 0;
}

static int term_of(struct trainer *tr, const char *name)
{
    int i = 0;
    while (i < tr->n_terms && strcmp(tr->term[i].name, name)) i++;
    if (i < tr->n_terms) return i;
    if (i == (int)(sizeof tr->term / sizeof *tr->term)) return -1;
    tr->term[tr->n_terms++] = (struct term){ 0 };
    snprintf(tr->term[i].name, sizeof tr->term[i].name, "%s", name);
    return i;
}

void trainer_term(struct trainer *tr, const char *name, double sum, double count)
{
    int i = term_of(tr, name);
    if (i < 0) return;
    tr->term[i].sum += sum;
    tr->term[i].count += count;
}

int trainer_sum(struct trainer *tr, const char *name, const float *x, int n)
{
    return later(tr, &(struct unread){ .term = term_of(tr, name), .n = (size_t)n }, x);
}

static int norm(struct trainer *tr, const char *name, int64_t step)
{
    struct params *ps = &tr->m->ps;
    KERN(ps->k, norm2, .out = tr->norm2, .x = ps->grad, .n = ps->total);
    return later(tr,
                 &(struct unread){ .term = term_of(tr, name), .norm = true, .step = step, .n = 1 },
                 tr->norm2);
}

int trainer_norm(struct trainer *tr, const char *name) { return norm(tr, name, 0); }

/* --- checkpoints --- */

static struct checkpoint_keep to_keep(const struct trainer *tr)
{
    return (struct checkpoint_keep){ tr->o.keep, tr->o.save_every, tr->o.steps, tr->best_step };
}

/* The trainer's own numbers beside the caller's. The one before is written before the copy is
 * taken: at most one is held. */
static int save(struct trainer *tr)
{
    if (catch_up(tr) < 0) return -1;
    struct checkpoint_state st = { tr->step, tr->best_step, tr->since_best, tr->best, tr->state };
    struct checkpoint_keep keep = to_keep(tr);
    if (saver_done(tr->saver, true) < 0) return -1;
    struct snapshot *snap = snapshot_take(tr->m, &st);
    if (snap
        && !snapshot_finite(snap)) { /* a step that overflows shows in the next gradient only */
        snapshot_free(snap);
        return diverged(tr, "weights", tr->step);
    }
    if (!snap || saver_put(tr->saver, snap, &keep) < 0) return -1;
    tr->saved_step = tr->step;
    tr->saved_at = clock_seconds();
    return 0;
}

static int write_folder(struct trainer *tr)
{
    char *path = path_join(tr->o.dir, "run.config");
    int rc = tr->o.config ? file_write(path, tr->o.config, strlen(tr->o.config)) : 0;
    free(path);
    return rc;
}

/* A locked folder begins, or goes on where its newest checkpoint stands: with the links and without
 * the older checkpoints that a kill right after that one was written left undone. */
static int open_folder(struct trainer *tr)
{
    const struct trainer_options *o = &tr->o;
    int64_t newest = checkpoint_newest(o->dir);
    if (newest >= 0 && !o->resume)
        return err_set("%s: holds a run already (step %lld); pass --resume to continue it, or name "
                       "another folder",
                       o->dir, (long long)newest);
    if (file_sweep(o->dir) < 0 || checkpoint_sweep(o->dir) < 0) return -1;
    if (o->write_batches && dir_make(o->write_batches) < 0) return -1;
    struct checkpoint_state st = { .best = tr->best, .state = tr->state };
    int found = checkpoint_load_newest(o->dir, tr->m, &st);
    if (found < 0) return -1;
    if (found) {
        tr->step = tr->saved_step = st.step;
        tr->best_step = st.best_step; tr->since_best = st.since_best; tr->best = st.best;
        tr->resumed = true;
        tr->ended = tr->o.patience > 0 && tr->since_best >= tr->o.patience;
        struct checkpoint_keep keep = to_keep(tr);
        if (link_best(tr) < 0 || checkpoint_link(o->dir, "last", tr->step) < 0
            || checkpoint_prune(o->dir, &keep) < 0)
            return -1;
    } else if (write_folder(tr) < 0) return -1;
    char *path = path_join(o->dir, "log.jsonl");
    int rc = file_exists(path) ? log_truncate(path, tr->step) : 0;
    tr->log = rc < 0 ? NULL : log_open(path);
    free(path);
    if (!tr->log) return -1;
    if (o->tensorboard) {
        path = path_join(o->dir, "tensorboard");
        rc = log_tensorboard(tr->log, path, tr->step + 1);
        free(path);
    }
    return rc;
}

int trainer_open(struct trainer *tr, const struct trainer_options *o, struct model *m,
                 struct tape *t, const struct vocab *vocab, struct state *state)
{
    bool made = !file_exists(o->dir);
    memset(tr, 0, sizeof *tr);
    tr->o = *o;
    tr->m = m; tr->t = t; tr->vocab = vocab; tr->state = state;
    tr->best = o->lower_is_better ? INFINITY : -INFINITY;
    if (dir_make(o->dir) < 0) return -1;
    if (dir_lock(o->dir) < 0) {
        if (made) rmdir(o->dir);                 /* unless somebody has put something there */
        return -1;
    }
    if (open_folder(tr) < 0) {
        if (!made || checkpoint_newest(o->dir) >= 0)
            return -1; /* another run may have come and gone before the lock was ours */
        char *why = err_keep();
        dir_remove(o->dir);
        return err_restore(why);
    }
    if (!(tr->saver = saver_new(tr->o.dir, vocab))) return -1;
    tr->norm2 = m->ps.k->alloc(sizeof(float));
    if (!tr->norm2) return -1;
    m->ps.k->zero(m->ps.grad, m->ps.total * sizeof(float));
    tr->started = tr->saved_at = tr->logged_at = clock_seconds();
    tr->bar = progress_start("train", (uint64_t)o->steps, "steps");
    progress_from(tr->bar, (uint64_t)tr->step);
    return 0;
}

bool trainer_go(struct trainer *tr)
{
    if (tr->step >= tr->o.steps || tr->ended) return false;
    if (signals_stop()
        || (tr->o.stop_after > 0 && clock_seconds() - tr->started >= (double)tr->o.stop_after)) {
        tr->stopped = true;
        return false;
    }
    return true;
}

static void optimise(struct trainer *tr)
{
    struct params *ps = &tr->m->ps;
    struct kern_adam a = {
        .p = ps->value, .g = ps->grad, .m = ps->m, .v = ps->v, .part = ps->part, .parts = ps->n,
        .norm2 = tr->norm2, .lamb = tr->o.optimizer == OPTIMIZER_LAMB, .lr = (float)tr->lr,
        .beta1 = (float)tr->o.beta1, .beta2 = (float)tr->o.beta2, .eps = (float)tr->o.eps,
        .weight_decay = (float)tr->o.weight_decay, .step = tr->step + 1, .clip = (float)tr->o.clip,
        .grad_scale = 1,
    };
    ps->k->adam(&a);
}

/* Does this step end in a line of the log? */
static bool log_due(const struct trainer *tr)
{
    return (tr->o.log_every > 0 && tr->step % tr->o.log_every == 0) || tr->step == tr->o.steps;
}

int trainer_update(struct trainer *tr, int64_t tokens)
{
    struct params *ps = &tr->m->ps;
    tr->lr = trainer_lr(&tr->o, tr->step + 1);
    if (norm(tr, "grad_norm", tr->step + 1) < 0) return -1;
    optimise(tr);
    ps->k->zero(ps->grad, ps->total * sizeof(float));
    tr->step++;
    tr->tokens += tokens;
    bool wanted = !ps->k->queues || log_due(tr) || trainer_due(tr)
                  || (tr->bar && clock_seconds() - tr->read_at >= 1);
    return wanted ? catch_up(tr) : 0;
}

bool trainer_due(const struct trainer *tr)
{
    return (tr->o.valid_every > 0 && tr->step % tr->o.valid_every == 0) || tr->step == tr->o.steps;
}

int trainer_judge(struct trainer *tr, double metric)
{
    bool better = tr->o.lower_is_better ? metric < tr->best : metric > tr->best;
    if (!better) {
        if (tr->o.patience > 0 && ++tr->since_best >= tr->o.patience) tr->ended = true;
        return 0;
    }
    tr->best = metric;
    tr->best_step = tr->step;
    tr->since_best = 0;
    return save(tr);
}

/* What the bar shows: means since the last log line, learning rate, speed. */
static void show(struct trainer *tr, double speed)
{
    size_t n = 0, most = sizeof tr->shown;
    for (int i = 0; i < tr->n_terms && n < most; i++)
        if (tr->term[i].count > 0)
            n += (size_t)snprintf(tr->shown + n, most - n, "%s %.3f  ", tr->term[i].name,
                                  tr->term[i].sum / tr->term[i].count);
    if (n < most) snprintf(tr->shown + n, most - n, "lr %.2g  %.0f tokens/s", tr->lr, speed);
}

static int report(struct trainer *tr, double speed)
{
    log_begin(tr->log, "train", tr->step);
    for (int i = 0; i < tr->n_terms; i++) {
        if (tr->term[i].count <= 0) continue;                /* an objective that had no turn */
        log_real(tr->log, tr->term[i].name, tr->term[i].sum / tr->term[i].count);
        tr->term[i].sum = tr->term[i].count = 0;
    }
    log_real(tr->log, "lr", tr->lr);
    log_int(tr->log, "tokens", tr->tokens);
    log_real(tr->log, "tokens_per_second", speed);
    tr->logged_at = clock_seconds();
    tr->tokens_logged = tr->tokens;
    return log_end(tr->log);
}

int trainer_tick(struct trainer *tr)
{
    bool last = tr->step == tr->o.steps;
    double passed = clock_seconds() - tr->logged_at,
           speed = passed > 0 ? (double)(tr->tokens - tr->tokens_logged) / passed : 0;
    if (tr->bar && !tr->n_unread) show(tr, speed);
    if (log_due(tr) && report(tr, speed) < 0) return -1;
    progress_at(tr->bar, (uint64_t)tr->step, tr->shown);
    bool due = (tr->o.save_every > 0 && tr->step % tr->o.save_every == 0)
               || (tr->o.save_seconds > 0
                   && clock_seconds() - tr->saved_at >= (double)tr->o.save_seconds);
    if (due && !last && tr->saved_step != tr->step) return save(tr);
    return saver_done(
        tr->saver, false); /* a full disk ends the run when it is met, not at the next checkpoint */
}

int trainer_run(struct trainer *tr, int (*steps)(void *what, struct trainer *tr), void *what,
                bool profile, size_t predicted)
{
    if (tr->resumed) msg_note("continuing from step %lld", (long long)tr->step);
    profile_reset();
    int64_t first = tr->step;
    double began = clock_seconds(), mib = 1 << 20;
    if (steps(what, tr) < 0) return -1;
    double seconds = clock_seconds() - began;
    if ((tr->saved_step != tr->step || tr->step == 0) && save(tr) < 0) return -1;
    if (saver_done(tr->saver, true) < 0) return -1;
    if (profile) {
        double peak = (double)mem_peak() / mib;
        progress_clear();
        profile_print(stderr, seconds, tr->step - first);
        fprintf(stderr, "arena: %.1f MiB used of %.1f\nmemory: %.1f MiB at most, %.1f predicted\n",
                (double)tape_peak(tr->t) / mib, (double)tape_size(tr->t) / mib, peak,
                (double)predicted / mib);
    }
    return tr->stopped ? PROG_AGAIN : PROG_OK;
}

void trainer_free(struct trainer *tr)
{
    saver_free(tr->saver);
    progress_end(tr->bar);
    if (tr->log) log_close(tr->log);
    if (tr->norm2) tr->m->ps.k->release(tr->norm2);
    if (tr->fetched) tr->m->ps.k->host_release(tr->fetched);
    free(tr->unread);
    memset(tr, 0, sizeof *tr);
}

char *run_model_dir(const char *dir)
{
    static const char *const names[] = { "", "best", "last" };
    for (int i = 0; i < 3; i++) {
        char *folder = *names[i] ? path_join(dir, names[i]) : mem_dup(dir);
        char *weights = path_join(folder, "weights.safetensors");
        bool there = file_exists(weights);
        free(weights);
        if (there) return folder;
        free(folder);
    }
    err_set(
        "%s: is not the folder of a model or a run (no weights.safetensors, best or last in it)",
        dir);
    return NULL;
}
