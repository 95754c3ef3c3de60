#include "lib/trainer/run_folder.h"
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/prog/prog.h"

/* --- settings that are recorded --------------------------------------------------------------- */

/* The options that a run began with, as its run.config has them, next to those that it is to go on
 * with. */

/* What may change (pretrain.1, "Stopping and resuming"): how far and at what rate it goes on, what
 * is saved and said, how a machine computes it, what is refused, and what matters at the first step
 * only. */
static const char *const free_names[] = {
    "steps", "epochs", "lr", "head-lr", "warmup", "schedule", "clip", "patience", "save-every",
    "save-time", "keep", "valid-every", "log-every", "tensorboard", "write-batches", "stop-after",
    "resume", "gradient-norms", "gradient-tree", "shard-optimizer", "rank-timeout", "recompute",
    "memory", "profile", "device", "precision", "vocab", "out", "init", "model", "init-std",
    "init-embeddings", "replace-invalid", "codes", "tokenizer", "max-unknown"
};

/* Options whose value is a file, after LANG= or SRC-TGT= where there are several. Files may have
 * been moved; what is in them is not compared (pretrain.1). */
static const char *const file_names[] = { "train", "valid", "parallel", "valid-parallel", "pseudo",
                                          "dict", "mask-ngrams", "train-parallel", "cooc" };

/* A line "name = value". */
struct line { const char *name, *value; int name_n, value_n; };

static bool among(const char *const *names, size_t n, const struct line *l)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(names[i]) == (size_t)l->name_n && !memcmp(names[i], l->name, strlen(names[i])))
            return true;
    return false;
}

/* The next line at *at whose option may not change; false: there is none. */
static bool next(const char **at, struct line *l)
{
    while (**at) {
        const char *s = *at, *end = s + strcspn(s, "\n"), *eq = strstr(s, " = ");
        *at = *end ? end + 1 : end;
        /* strstr may have found the next line's: then this one has none */
        if (*s == '#' || !eq || eq >= end) continue;
        *l = (struct line){ s, eq + 3, (int)(eq - s), (int)(end - eq - 3) };
        if (!among(free_names, sizeof free_names / sizeof *free_names, l)) return true;
    }
    return false;
}

/* How much of the value has to be the same: of files, what is before their name. */
static int fixed(const struct line *l)
{
    if (!among(file_names, sizeof file_names / sizeof *file_names, l)) return l->value_n;
    const char *eq = memchr(l->value, '=', (size_t)l->value_n);
    return eq ? (int)(eq - l->value) : 0;
}

static bool same_name(const struct line *a, const struct line *b)
{
    return a->name_n == b->name_n && !memcmp(a->name, b->name, (size_t)a->name_n);
}

static bool same_value(const struct line *a, const struct line *b)
{
    return fixed(a) == fixed(b) && !memcmp(a->value, b->value, (size_t)fixed(a));
}

/* The n-th line of text, from 0, with this option. */
static bool nth(const char *text, const struct line *of, int n, struct line *l)
{
    while (next(&text, l))
        if (same_name(l, of) && n-- == 0) return true;
    return false;
}

/* Which line of its option, from 0, l is in text. */
static int number(const char *text, const struct line *l)
{
    struct line other;
    int n = 0;
    /* by address: l points into this text */
    while (next(&text, &other) && other.name != l->name) n += same_name(&other, l);
    return n;
}

/* An option that the file does not have may be one that came after it: then a default is no
 * change. */
static bool given(const struct line *l)
{
    char name[64];
    if (l->name_n >= (int)sizeof name) return true;
    memcpy(name, l->name, (size_t)l->name_n);
    name[l->name_n] = '\0';
    return prog_given(name);
}

static int compare(const char *path, const char *then, const char *now)
{
    struct line l, other;
    for (const char *at = now; next(&at, &l); ) {
        /* an option that was given several times is compared line by line, in its order */
        bool there = nth(then, &l, number(now, &l), &other);
        if (there && !same_value(&l, &other))
            return err_set("%s: the run began with --%.*s %.*s, not %.*s; continue with that, or "
                           "begin another run",
                           path, l.name_n, l.name, other.value_n, other.value, l.value_n, l.value);
        if (!there && given(&l))
            return err_set("%s: the run began without --%.*s %.*s; continue without it, or begin "
                           "another run",
                           path, l.name_n, l.name, l.value_n, l.value);
    }
    /* the other way round: options that the run began with and that are not given now */
    for (const char *at = then; next(&at, &l); )
        if (!nth(now, &l, number(then, &l), &other))
            return err_set("%s: the run began with --%.*s %.*s; continue with it, or begin another "
                           "run",
                           path, l.name_n, l.name, l.value_n, l.value);
    return 0;
}

/* config: the effective options now (prog_config). -1 with a message if one that makes the numbers
 * of the run has another value in dir's run.config; without such a file all are taken. Files may
 * have other names (they may have been moved), languages not. */
static int recorded_check(const char *dir, const char *config)
{
    char *path = path_join(dir, "run.config");
    size_t n;
    int rc = 0;
    if (config && file_exists(path)) {
        char *then = file_read(path, &n);
        rc = then ? compare(path, then, config) : -1;
        free(then);
    }
    free(path);
    return rc;
}

/* --- the folder ------------------------------------------------------------------------------- */

/* `best` follows what the state says: also after a kill between a checkpoint and its link. */
static int link_best(struct trainer *tr)
{
    return tr->best_step > 0 ? checkpoint_link(tr->o.dir, "best", tr->best_step) : 0;
}

struct checkpoint_keep run_folder_keep(const struct trainer *tr)
{
    return (struct checkpoint_keep){ tr->o.keep, tr->o.save_every, tr->o.steps, tr->best_step };
}

static int write_folder(struct trainer *tr)
{
    char *path = path_join(tr->o.dir, "run.config");
    int rc = tr->o.config ? file_write(path, tr->o.config, strlen(tr->o.config)) : 0;
    free(path);
    return rc;
}

int run_folder_check(const char *dir)
{
    char *weights = path_join(dir, "weights.safetensors");
    bool model = checkpoint_newest(dir) < 0 && file_exists(weights);
    free(weights);
    return !model ? 0
                  : err_set("%s: is the folder of a model; name another folder for the run", dir);
}

/* None of what is opened in a folder may lead out of it by another user's link. The log's kind is
 * looked at before it is read: a pipe would never end. */
static int check_links(const char *dir)
{
    char *path = path_join(dir, "checkpoints"), *log = path_join(dir, "log.jsonl");
    int rc = link_check(path), fd = -1;
    if (rc == 0 && file_exists(log)) rc = (fd = file_open_in_place(log, O_RDWR)) < 0 ? -1 : 0;
    if (fd >= 0) close(fd);
    free(path);
    free(log);
    return rc;
}

int run_folder_open(struct trainer *tr)
{
    const struct trainer_options *o = &tr->o;
    if (check_links(o->dir) < 0) return -1;
    int64_t newest = checkpoint_newest(o->dir);
    if (newest >= 0 && !o->resume)
        return err_set("%s: holds a run already (step %lld); pass --resume to continue it, or name "
                       "another folder",
                       o->dir, (long long)newest);
    /* Other options would make another run, which the log and the recipe would not tell. */
    if (newest >= 0 && recorded_check(o->dir, o->config) < 0) return -1;
    /* what a process that was killed has left */
    /* safe: the caller holds the folder's lock */
    if (file_sweep(o->dir) < 0 || checkpoint_sweep(o->dir) < 0) return -1;
    if (o->write_batches && dir_make(o->write_batches) < 0) return -1;
    struct checkpoint_state st = { .best = tr->best, .state = tr->state,
                                   .shared = tr->sharded.ranks != NULL,
                                   .cuts_text = o->cuts_text };
    int found = checkpoint_load_newest(o->dir, tr->m, &st);
    if (found < 0) return -1;
    if (found) {
        tr->step = tr->saved_step = st.step;
        tr->best_step = st.best_step; tr->since_best = st.since_best; tr->best = st.best;
        for (int i = 0; i < 2; i++) tr->moment[i] = st.moment[i];
        if (st.tokens < 0)
            msg_note("%s: its checkpoint is of a version that kept no number of tokens: `tokens` "
                     "in the log begins again", o->dir);
        tr->tokens = tr->tokens_logged = st.tokens < 0 ? 0 : st.tokens;
        tr->resumed = true;
        /* a run that added by the tree goes on so, or its bytes would change in the middle */
        tr->o.tree |= st.tree;
        /* A run that patience had ended stays ended, unless it is resumed with more of it. */
        tr->ended = tr->o.patience > 0 && tr->since_best >= tr->o.patience;
        struct checkpoint_keep keep = run_folder_keep(tr);
        /* What a kill between a checkpoint and its links has left undone is done now. */
        if (link_best(tr) < 0 || checkpoint_link(o->dir, "last", tr->step) < 0
            || checkpoint_prune(o->dir, &keep) < 0)
            return -1;
    } else if (write_folder(tr) < 0) return -1;
    char *path = path_join(o->dir, "log.jsonl");
    /* lines after the checkpoint will be written again */
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

static bool is_link(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/* The run's folder of which dir may be the link best or last, if that leads nowhere; else dir. */
static char *run_of(const char *dir)
{
    char *run = mem_dup(dir), *slash;
    size_t n = strlen(run);
    while (n > 1 && run[n - 1] == '/') run[--n] = '\0';
    if (!is_link(run) || file_exists(run)) return run;
    if ((slash = strrchr(run, '/'))) slash[slash == run] = '\0';
    else strcpy(run, ".");
    return run;
}

char *run_model_dir(const char *dir)
{
    static const char *const names[] = { "", "best", "last" };
    const char *broken = NULL;
    for (int i = 0; i < 3; i++) {
        char *folder = *names[i] ? path_join(dir, names[i]) : mem_dup(dir);
        char *weights = path_join(folder, "weights.safetensors");
        bool there = file_exists(weights);
        free(weights);
        if (there) {
            if (broken)
                msg_warn("%s/%s: leads to no model; %s is taken", dir, broken, folder);
            return folder;
        }
        if (i && is_link(folder)) broken = names[i];
        free(folder);
    }
    char *run = run_of(dir), *whole = checkpoint_whole(run);
    if (whole)
        msg_warn("%s%s%s: leads to no model; %s, the newest whole checkpoint, is taken", dir,
                 broken ? "/" : "", broken ? broken : "", whole);
    else
        err_set("%s: is not the folder of a model or a run (no weights.safetensors, best or last "
                "in it)", dir);
    free(run);
    return whole;
}
