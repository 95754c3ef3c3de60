#include "lib/trainer/trainer.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/clock.h"
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/prog/prog.h"
#include "common/prog/progress.h"
#include "lib/graph/profile.h"
#include "lib/trainer/checkpoint.h"
#include "lib/trainer/run_folder.h"

/* --- checkpoints written by a thread ---------------------------------------------------------- */

/* Writes checkpoints while training goes on: from snapshots, on a thread of its own, one at a time
 * and in order. Killed at any moment, the folder holds the previous checkpoint, whole. */

struct saver {
    const char *dir;
    const struct vocab *vocab;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct snapshot *job;            /* to be written or being written; NULL: idle */
    struct checkpoint_keep keep;     /* of that job */
    /* the message, until it has been asked for */
    char *failed;
    bool over;
};

static int write_all(const struct saver *s, const struct snapshot *snap,
                     const struct checkpoint_keep *k)
{
    if (checkpoint_save(s->dir, snap, s->vocab) < 0) return -1;
    if (snap->st.best_step > 0 && checkpoint_link(s->dir, "best", snap->st.best_step) < 0)
        return -1;
    if (checkpoint_link(s->dir, "last", snap->st.step) < 0) return -1;
    /* last of all: what the links lead to is there, and no older checkpoint goes before */
    return checkpoint_prune(s->dir, k);
}

static void *work(void *p)
{
    struct saver *s = p;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (!s->job && !s->over) pthread_cond_wait(&s->changed, &s->lock);
        if (!s->job) break;
        struct snapshot *snap = s->job;
        /* Written without the lock: that takes seconds, and training asks for the outcome
         * meanwhile. */
        struct checkpoint_keep k = s->keep;
        pthread_mutex_unlock(&s->lock);
        int rc = write_all(s, snap, &k);
        snapshot_free(snap);
        pthread_mutex_lock(&s->lock);
        s->job = NULL;
        if (rc < 0) { free(s->failed); s->failed = err_keep(); }
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* dir and vocab must outlive it. NULL with a message if no thread can be started. */
static struct saver *saver_new(const char *dir, const struct vocab *vocab)
{
    struct saver *s = mem_zero(1, sizeof *s);
    s->dir = dir; s->vocab = vocab;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    if (pthread_create(&s->thread, NULL, work, s) == 0) return s;
    err_set("no thread can be started to write checkpoints");
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
    return NULL;
}

/* With the lock held. */
static int outcome(struct saver *s)
{
    if (!s->failed) return 0;
    err_restore(s->failed);
    s->failed = NULL;
    return -1;
}

/* The outcome of the last one: 0, also while it is being written, or -1 with its message,
 * once. wait: waits until it is written. */
static int saver_done(struct saver *s, bool wait)
{
    pthread_mutex_lock(&s->lock);
    while (wait && s->job) pthread_cond_wait(&s->changed, &s->lock);
    int rc = outcome(s);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

/* Hands a snapshot over, which becomes the saver's: writes it, updates the links `last` and, if
 * there is one, `best`, and removes the checkpoints that k does not keep. Waits while the previous
 * one is being written; -1 with that one's message if it failed. */
static int saver_put(struct saver *s, struct snapshot *snap, const struct checkpoint_keep *k)
{
    int rc = saver_done(s, true);
    if (rc < 0) { snapshot_free(snap); return -1; }
    pthread_mutex_lock(&s->lock);
    s->job = snap;
    s->keep = *k;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return 0;
}

/* Waits for what is under way; NULL is fine. */
static void saver_free(struct saver *s)
{
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    s->over = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s->failed);
    free(s);
}

/* --- the optimiser's step --------------------------------------------------------------------- */

/* The optimiser's step: on all parameters, or, with a sharded optimiser (ZeRO-1), on this rank's,
 * whose new values then go to the others. */

/* Parameters at .. end, their moments from `held` on. */
struct range { size_t at, end, held; };

/* What lies in the range of parameters from .. to - 1 takes a step at the rate lr: one call of the
 * kernel, with the tensors as parts, since weight decay (and LAMB's norm) goes by tensor. */
static void optimise(struct trainer *tr, const struct range *x, int from, int to, double lr)
{
    struct params *ps = &tr->m->ps;
    struct kern_part *part = mem_alloc((size_t)(to - from) * sizeof *part);
    int parts = 0;
    for (int i = from; i < to; i++) {
        const struct kern_part *p = &ps->part[i];
        /* a tensor may lie in several ranks' ranges: each takes the part that is its own */
        size_t at = p->at > x->at ? p->at : x->at, end = p->at + p->n < x->end ? p->at + p->n
                                                                                : x->end;
        if (at < end) part[parts++] = (struct kern_part){ at - x->at, end - at, p->decay };
    }
    struct kern_adam a = {
        .p = ps->value + x->at, .g = ps->grad + x->at, .m = ps->m + x->held, .v = ps->v + x->held,
        .part = part, .parts = parts, .norm2 = tr->read.norm2,
        .lamb = tr->o.optimizer == OPTIMIZER_LAMB, .lr = (float)lr,
        .beta1 = (float)tr->o.beta1, .beta2 = (float)tr->o.beta2, .eps = (float)tr->o.eps,
        .weight_decay = (float)tr->o.weight_decay, .step = tr->step + 1, .clip = (float)tr->o.clip,
        .grad_scale = 1,
    };
    if (parts) ps->k->adam(&a);
    free(part);
}

static bool is_head(const struct param *p) { return !strncmp(p->name, "head.", 5); }

/* Task heads may have a rate of their own (XLM's fine-tuning sweeps the two separately). */
static void optimise_range(struct trainer *tr, const struct range *x)
{
    const struct params *ps = &tr->m->ps;
    double head = trainer_rate(&tr->o, tr->o.head_lr, tr->step + 1);
    if (tr->o.head_lr < 0) { optimise(tr, x, 0, ps->n, tr->lr); return; }
    /* Runs of tensors of one rate: one call of the kernel for each run, not for each tensor. */
    for (int i = 0, j; i < ps->n; i = j) {
        for (j = i + 1; j < ps->n && is_head(&ps->p[j]) == is_head(&ps->p[i]); j++) { }
        optimise(tr, x, i, j, is_head(&ps->p[i]) ? head : tr->lr);
    }
}

/* tr->lr, tr->step and *tr->read.norm2 are of the step to be taken. -1 with a message. */
static int optimizer_step(struct trainer *tr)
{
    const struct sharded_optimizer *s = &tr->sharded;
    const struct params *ps = &tr->m->ps;
    const struct kernels *k = ps->k;
    int me = ranks_rank(s->ranks), bad;
    size_t bytes = ps->total * sizeof(float);
    if (!s->ranks) {
        optimise_range(tr, &(struct range){ 0, ps->total, 0 });
        return 0;
    }
    /* A GPU's parameters go through the host's memory where ranks have no messages between GPUs. */
    bool far = k->room && !ranks_on_device(s->ranks);
    float *value = far ? mem_alloc(bytes) : ps->value;
    struct range x = { 0 };
    for (int i = 0; i < s->pieces; i++, x.held += x.end - x.at) {
        x.at = sharded_of(s, i)[me];
        x.end = sharded_of(s, i)[me + 1];
        optimise_range(tr, &x);
        if (far) k->download(value + x.at, ps->value + x.at, (x.end - x.at) * sizeof *value);
        /* A piece travels while the next one is optimised. */
        ranks_all_gather_begin(s->ranks, value, sharded_of(s, i));
    }
    int rc = ranks_reduce_end(s->ranks, &bad);
    if (far && rc == 0) k->upload(ps->value, value, bytes);
    if (far) free(value);
    else if (k->room) k->copy(ps->value, value, bytes);  /* says that they were written to */
    return rc;
}

/* --- the trainer ------------------------------------------------------------------------------ */

struct rng_key trainer_key(const struct trainer *tr, uint64_t seed, enum rng_purpose purpose)
{
    return (struct rng_key){ seed, purpose, (uint32_t)(tr->step + 1) };
}

/* Ends the run: `what` of the step are not finite, and no later step could mend that. */
static int diverged(struct trainer *tr, const char *what, int64_t step)
{
    char kept[80] = "there is no checkpoint yet", of[160] = "", name[128];
    if (tr->bad_rank >= 0)
        snprintf(of, sizeof of, " of %s", ranks_name(tr->o.ranks, tr->bad_rank, name));
    if (tr->saved_step > 0)
        snprintf(kept, sizeof kept, "the newest checkpoint, of step %lld, is from before",
                 (long long)tr->saved_step);
    /* and no checkpoint of it is written: resuming would go on from numbers that are not finite */
    tr->ended = true;
    return err_set("%s: the %s%s of step %lld are not finite (learning rate %g); %s; lower --lr, "
                   "lengthen --warmup or tighten --clip",
                   tr->o.dir, what, of, (long long)step, trainer_lr(&tr->o, step), kept);
}

/* rc, what reading gave; with a message where it is a step whose gradient was not finite: that step
 * and those after it do not count. */
static int checked(struct trainer *tr, int rc)
{
    if (rc < 0 && tr->read.bad) {
        tr->step = tr->read.bad - 1;
        return diverged(tr, "gradients", tr->read.bad);
    }
    return rc;
}

void trainer_term(struct trainer *tr, const char *name, double sum, double count)
{ metrics_term(&tr->read, name, sum, count); }

int trainer_sum(struct trainer *tr, const char *name, const float *x, int n)
{ return checked(tr, metrics_sum(&tr->read, name, x, n)); }

int trainer_norm(struct trainer *tr, const char *name)
{ return checked(tr, metrics_norm(&tr->read, name, 0, false)); }

/* The trainer's own numbers with the caller's. The previous one is written before the copy is
 * taken: at most one is in memory. */
static int save(struct trainer *tr)
{
    if (checked(tr, metrics_all(&tr->read)) < 0) return -1;
    /* Rank 0 writes; of a sharded optimiser it needs the others' moments. */
    if (!dist_first(tr)) {
        tr->saved_step = tr->step;
        return sharded_give(&tr->sharded);
    }
    struct checkpoint_state st = { tr->step, tr->best_step, tr->since_best, tr->best, tr->state,
                                   tr->tokens, tr->grad.tree };
    struct checkpoint_keep keep = run_folder_keep(tr);
    if (saver_done(tr->saver, true) < 0) return -1;
    struct snapshot *snap = snapshot_take(tr->m, &st, tr->sharded.ranks ? &tr->sharded : NULL);
    if (snap
        /* A step that overflows shows only in the next gradient: without this its weights would be
         * saved. */
        && !snapshot_finite(snap)) {
        snapshot_free(snap);
        return diverged(tr, "weights", tr->step);
    }
    if (!snap || saver_put(tr->saver, snap, &keep) < 0) return -1;
    tr->saved_step = tr->step;
    tr->saved_at = clock_seconds();
    return 0;
}

/* The folder is this run's: locked, made or resumed in. */
static int open_folder(struct trainer *tr)
{
    bool made = !file_exists(tr->o.dir);
    if (run_folder_check(tr->o.dir) < 0) return -1;
    if (dir_make(tr->o.dir) < 0) return -1;
    if (dir_lock(tr->o.dir) < 0) {
        /* fails, as it should, if there is something in it */
        if (made) rmdir(tr->o.dir);
        return -1;
    }
    if (run_folder_open(tr) < 0) {
        if (!made || checkpoint_newest(tr->o.dir) >= 0)
            /* another run may have come and gone before we had the lock */
            return -1;
        /* A folder that this run has made and that holds no checkpoint goes again: the next try
         * would find it there and take it for a run. */
        char *why = err_keep();
        dir_remove(tr->o.dir);
        return err_restore(why);
    }
    return (tr->saver = saver_new(tr->o.dir, tr->vocab)) ? 0 : -1;
}

int trainer_open(struct trainer *tr, const struct trainer_options *o, struct model *m,
                 struct tape *t, const struct vocab *vocab, struct state *state)
{
    memset(tr, 0, sizeof *tr);
    tr->o = *o;
    if (tr->o.period < 1) tr->o.period = 1;
    tr->m = m; tr->t = t; tr->vocab = vocab; tr->state = state;
    /* any first metric is better */
    tr->best = o->lower_is_better ? INFINITY : -INFINITY;
    tr->bad_rank = -1;
    tr->started = clock_seconds();
    if (o->shard_optimizer && ranks_size(o->ranks) > 1)
        sharded_open(&tr->sharded, &m->ps, o->ranks, ranks_size(o->ranks),
                    o->optimizer == OPTIMIZER_LAMB);
    if ((dist_first(tr) && open_folder(tr) < 0) || dist_start(tr) < 0) return -1;
    if (metrics_open(&tr->read, &m->ps) < 0) return -1;
    m->ps.k->zero(m->ps.grad, m->ps.total * sizeof(float));
    tr->read.ranks = o->ranks;
    if (gradients_open(&tr->grad, &m->ps, o->ranks, tr->sharded.ranks ? &tr->sharded : NULL,
                       o->accumulate, tr->o.tree, o->wire == WIRE_BF16) < 0)
        return -1;
    /* again: opening may have waited for ranks, and --stop-after counts training */
    tr->started = tr->saved_at = tr->logged_at = clock_seconds();
    tr->bar = progress_start("train", (uint64_t)o->steps, "steps");
    progress_from(tr->bar, (uint64_t)tr->step);
    return 0;
}

bool trainer_go(struct trainer *tr)
{
    if (tr->step >= tr->o.steps || tr->ended) return false;
    /* Back-translation makes K steps' sentences at once: a stop within K would have to translate
     * again. */
    if (tr->step % tr->o.period == 0 && (tr->stop_asked || (!tr->o.ranks && dist_stop_asked(tr)))) {
        tr->stopped = true;
        return false;
    }
    return true;
}

/* Does this step end in a line of the log? */
static bool log_due(const struct trainer *tr)
{
    return (tr->o.log_every > 0 && tr->step % tr->o.log_every == 0) || tr->step == tr->o.steps;
}

void trainer_at(struct trainer *tr, int a)
{
    /* even numbers, so that what belongs to the update has the odd one after its last micro-
     * batch */
    tr->read.place = 2 * (tr->step * tr->o.accumulate + a);
}

int trainer_update(struct trainer *tr, int64_t tokens)
{
    struct params *ps = &tr->m->ps;
    int bad;
    if (gradients_sum(&tr->grad, &bad) < 0) return -1;
    tr->lr = trainer_lr(&tr->o, tr->step + 1);
    trainer_at(tr, tr->o.accumulate - 1);
    /* after the step's last micro-batch */
    tr->read.place++;
    /* after a reduce-scatter a rank holds the sum of its own part only */
    if (tr->grad.sharded && sharded_norm2(&tr->sharded, tr->read.norm2) < 0) return -1;
    if (checked(tr, metrics_norm(&tr->read, "grad_norm", tr->step + 1, tr->grad.sharded)) < 0)
        return -1;
    if (optimizer_step(tr) < 0) return -1;
    params_grad_clear(ps, !tr->grad.tree);
    tr->step++;
    if (dist_step(tr, &tokens, bad) < 0) return -1;
    tr->tokens += tokens;
    /* A device that queues is asked for numbers only when they are to be shown: asking waits
     * for it. */
    bool wanted = !ps->k->queues || log_due(tr) || trainer_due(tr)
                  || (tr->bar && clock_seconds() - tr->read.read_at >= 1);
    return wanted ? checked(tr, metrics_all(&tr->read)) : 0;
}

bool trainer_due(const struct trainer *tr)
{
    return (tr->o.valid_every > 0 && tr->step % tr->o.valid_every == 0) || tr->step == tr->o.steps;
}

int trainer_judge(struct trainer *tr, double metric)
{
    /* NaN is better by neither comparison: it counts as no improvement */
    bool better = tr->o.lower_is_better ? metric < tr->best : metric > tr->best;
    if (!better) {
        if (tr->o.patience > 0 && ++tr->since_best >= tr->o.patience) tr->ended = true;
        return 0;
    }
    tr->best = metric;
    tr->best_step = tr->step;
    tr->since_best = 0;
    /* a best model is saved at once, whatever --save-every says: its weights are gone one step
     * later */
    return save(tr);
}

/* What the progress bar shows: means since the last log line, learning rate, speed. */
static void show(struct trainer *tr, double speed)
{
    size_t n = 0, most = sizeof tr->shown;
    for (int i = 0; i < tr->read.n && n < most; i++) {
        const struct term *t = &tr->read.term[i];
        if (t->count > 0)
            n += (size_t)snprintf(tr->shown + n, most - n, "%s %.3f  ", t->name,
                                  t->sum / t->count);
    }
    if (n < most) snprintf(tr->shown + n, most - n, "lr %.2g  %.0f tokens/s", tr->lr, speed);
}

/* The last line of the log: a mean cross-entropy per token far above that of a uniform guess is no
 * model, though all its numbers are finite. */
static void tell_diverged(const struct trainer *tr, const struct term *t)
{
    static const char *const losses[] = { "mlm", "tlm", "tcs", "scs", "dict", "mass", "mt",
                                          "pseudo", "denoise", "back" };
    double guess = log((double)tr->vocab->n), mean = t->sum / t->count;
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (!strcmp(t->name, losses[i]) && mean > 3 * guess)
            msg_warn("%s: the run has diverged: its %s loss is %.6g nats per token at the end, and "
                     "a uniform guess among %u tokens costs %.3g; lower --lr, lengthen --warmup or "
                     "tighten --clip, and begin another run", tr->o.dir, t->name, mean,
                     tr->vocab->n, guess);
}

static int report(struct trainer *tr, double speed)
{
    if (metrics_join(&tr->read) < 0) return -1;
    log_begin(tr->log, "train", tr->step);
    for (int i = 0; i < tr->read.n; i++) {
        struct term *t = &tr->read.term[i];
        if (t->count <= 0) continue;                         /* an objective that had no turn */
        if (tr->step == tr->o.steps && dist_first(tr)) tell_diverged(tr, t);
        log_real(tr->log, t->name, t->sum / t->count);
        /* the term stays, and with it the order of the log's columns */
        t->sum = t->count = 0;
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
    if (tr->bar && !tr->read.n_unread) show(tr, speed);
    if (log_due(tr) && report(tr, speed) < 0) return -1;
    progress_at(tr->bar, (uint64_t)tr->step, tr->shown);
    /* with ranks, by rank 0's clock (dist_step): they must save at the same step */
    bool due = (tr->o.save_every > 0 && tr->step % tr->o.save_every == 0)
               || (tr->o.ranks ? tr->late : dist_late(tr));
    /* within a period sentences are translated ahead, and no checkpoint keeps those */
    due &= tr->step % tr->o.period == 0;
    if (due && !last && tr->saved_step != tr->step) return save(tr);
    /* A full disk ends the run when it is met, not at the next checkpoint. */
    return tr->saver ? saver_done(tr->saver, false) : 0;
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
    /* also after no step at all: --steps 0 makes a model of its initial weights */
    if ((tr->saved_step != tr->step || tr->step == 0) && save(tr) < 0) return -1;
    if (tr->saver && saver_done(tr->saver, true) < 0) return -1;
    if (profile && dist_first(tr)) {
        double peak = (double)mem_peak() / mib;
        progress_clear();
        profile_print(stderr, seconds, tr->step - first);
        fprintf(stderr, "arena: %.1f MiB used of %.1f\nmemory: %.1f MiB at most, %.1f predicted\n",
                (double)tape_peak(tr->t) / mib, (double)tape_size(tr->t) / mib, peak,
                (double)predicted / mib);
        struct ranks_times t = ranks_times(tr->o.ranks);
        if (ranks_size(tr->o.ranks) > 1)
            fprintf(stderr, "ranks: gradients under way for %.2f s, waited for %.2f s, %.1f MiB "
                    "sent by rank 0\n", t.travelled, t.waited, t.sent / mib);
    }
    return tr->stopped ? PROG_AGAIN : PROG_OK;
}

void trainer_free(struct trainer *tr)
{
    saver_free(tr->saver);
    progress_end(tr->bar);
    if (tr->log) log_close(tr->log);
    metrics_free(&tr->read);
    gradients_free(&tr->grad);
    sharded_free(&tr->sharded);
    for (int i = 0; i < 2; i++) free(tr->moment[i]);
    memset(tr, 0, sizeof *tr);
}
