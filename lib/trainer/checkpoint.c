#include "lib/trainer/checkpoint.h"
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/json/json.h"
#include "common/mem.h"
#include "common/msg.h"
#include "lib/model/sum.h"

static const char STATE_SUM[] = "state.sum";

static char *step_dir(const char *dir, int64_t step, const char *suffix)
{
    char name[64];
    snprintf(name, sizeof name, "checkpoints/step-%08" PRId64 "%s", step, suffix);
    return path_join(dir, name);
}

/* state.json: integers as strings, so that no reader rounds them to a double's 53 bits; the metric
 * with all its digits. Its checksum is written after it, and removed before it is written again: at
 * no moment is there a sum of another file than the one next to it. */
static int write_state(const char *folder, const struct checkpoint_state *st)
{
    const struct state *x = st->state;
    /* a name, and 32 for a number of 20 characters with its quotes and line */
    size_t cap = 512 + (size_t)x->n_ints * (STATE_NAME + 32), n = 0;
    char *s = mem_alloc(cap);
    n += (size_t)snprintf(s + n, cap - n,
                          "{\n  \"step\": \"%" PRId64 "\",\n  \"best_step\": \"%" PRId64
                          "\",\n  \"since_best\": \"%" PRId64 "\"",
                          st->step, st->best_step, st->since_best);
    /* JSON has no infinity: without a best metric the key is left out */
    if (isfinite(st->best)) n += (size_t)snprintf(s + n, cap - n, ",\n  \"best\": %.17g", st->best);
    for (int i = 0; i < x->n_ints; i++)
        n += (size_t)snprintf(s + n, cap - n, ",\n  \"%s\": \"%" PRId64 "\"", x->ints[i].name,
                              *x->ints[i].value);
    n += (size_t)snprintf(s + n, cap - n, ",\n  \"tokens\": \"%" PRId64 "\"", st->tokens);
    if (st->tree) n += (size_t)snprintf(s + n, cap - n, ",\n  \"gradient_tree\": true");
    n += (size_t)snprintf(s + n, cap - n, "\n}\n");
    char *path = path_join(folder, "state.json");
    int rc = sum_file_remove(folder, STATE_SUM);
    if (rc == 0) rc = file_write(path, s, n);
    if (rc == 0) rc = sum_file_write(folder, "state.json", STATE_SUM);
    free(path);
    free(s);
    return rc;
}

static int get_int(const cJSON *root, const char *name, const char *path, int64_t *to)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(root, name);
    if (!cJSON_IsString(v) || !*v->valuestring)
        return err_set("%s: \"%s\" is missing or not a number in quotes", path, name);
    /* strtoll also takes blanks and signs, which the check of the digits refuses. */
    errno = 0;
    *to = strtoll(v->valuestring, NULL, 10);
    bool digits = v->valuestring[strspn(v->valuestring, "0123456789")] == '\0';
    return !digits || errno ? err_set("%s: \"%s\" is not a whole number of 0 or more", path, name)
                            : 0;
}

/* What the folder's name and the data do not allow: such a state would train nothing, or on
 * nothing, unnoticed. */
static int check_state(const char *path, const struct checkpoint_state *st, int64_t step)
{
    if (step < 0) step = st->step;           /* a copy under another name */
    if (st->step != step)
        return err_set("%s: its step is %" PRId64 ", the folder's %" PRId64, path, st->step, step);
    if (st->best_step > step)
        return err_set("%s: its best step, %" PRId64 ", is after its step %" PRId64, path,
                       st->best_step, step);
    if (st->since_best > step)
        return err_set("%s: %" PRId64 " validations without a better one in %" PRId64 " steps",
                       path, st->since_best, step);
    for (int i = 0; i < st->state->n_ints; i++) {
        const struct state_int *x = &st->state->ints[i];
        if (x->most > 0 && *x->value > x->most)
            return err_set("%s: \"%s\" is %" PRId64 "; the data ends at %" PRId64, path, x->name,
                           *x->value, x->most);
    }
    return 0;
}

static int read_state(const char *folder, int64_t step, struct checkpoint_state *st)
{
    if (sum_file_check(folder, "state.json", STATE_SUM) < 0) return -1;
    char *path = path_join(folder, "state.json");
    size_t n;
    char *json = file_read(path, &n);
    cJSON *root = json ? json_parse(json, n, path) : NULL;
    int rc = !root ? -1 : !cJSON_IsObject(root) ? err_set("%s: not a JSON object", path) : 0;
    if (rc == 0) rc = get_int(root, "step", path, &st->step);
    if (rc == 0) rc = get_int(root, "best_step", path, &st->best_step);
    if (rc == 0) rc = get_int(root, "since_best", path, &st->since_best);
    /* earlier versions did not keep it */
    st->tokens = -1;
    if (rc == 0 && cJSON_HasObjectItem(root, "tokens")) rc = get_int(root, "tokens", path,
                                                                     &st->tokens);
    const cJSON *best = rc == 0 ? cJSON_GetObjectItemCaseSensitive(root, "best") : NULL;
    if (best && cJSON_IsNumber(best)) st->best = best->valuedouble;
    /* a missing key is false: checkpoints from before the tree */
    if (rc == 0) st->tree = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(root, "gradient_tree"));
    for (int i = 0; i < st->state->n_ints && rc == 0; i++)
        rc = get_int(root, st->state->ints[i].name, path, st->state->ints[i].value);
    if (rc == 0) rc = check_state(path, st, step);
    cJSON_Delete(root);
    free(json);
    free(path);
    return rc;
}

/* The optimiser's two arrays in one file, tensors named adam.m.NAME and adam.v.NAME. */
static int write_optimizer(const char *folder, const struct snapshot *s)
{
    const struct params *ps = &s->m->ps;
    int n = params_own(ps);
    char *path = path_join(folder, "optimizer.safetensors");
    struct st_tensor *t = mem_zero((size_t)n * 2, sizeof *t);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < n; i++) {
            char name[96];
            snprintf(name, sizeof name, "adam.%c.%s", k ? 'v' : 'm', ps->p[i].name);
            /* [n], without the tensor's shape: moments go by position alone */
            t[k * n + i] = (struct st_tensor){ .name = mem_dup(name),
                                                   .dtype = ST_F32,
                                                   .ndim = 1,
                                                   .shape = { (int64_t)ps->p[i].n },
                                                   .data = s->array[1 + k] + ps->p[i].at,
                                                   .bytes = ps->p[i].n * sizeof(float) };
        }
    /* float32 whatever the precision of training: a run that goes on must have the very same
     * moments */
    int rc = st_write(path, t, 2 * n, NULL, NULL, 0);
    for (int i = 0; i < 2 * n; i++) free(t[i].name);
    free(t);
    free(path);
    return rc;
}

/* to [total] each, zeros at first. */
static int read_optimizer(const char *folder, const struct model *m, float *const to[2])
{
    const struct params *ps = &m->ps;
    int n = params_own(ps);
    char *path = path_join(folder, "optimizer.safetensors");
    struct st_file *f = st_open(path);
    /* against its checksum: a moment with a flipped bit is a number like any other */
    int rc = f ? st_verify(f) : -1;
    for (int k = 0; k < 2 && rc == 0; k++)
        for (int i = 0; i < n && rc == 0; i++) {
            char name[96];
            snprintf(name, sizeof name, "adam.%c.%s", k ? 'v' : 'm', ps->p[i].name);
            const struct st_tensor *t = st_find(f, name);
            rc = t ? st_floats(t, to[k] + ps->p[i].at, ps->p[i].n)
                   : err_set("%s: tensor %s is missing", path, name);
        }
    /* a tensor too many is another model's file */
    if (rc == 0 && f->n != 2 * n)
        rc = err_set("%s: holds %d tensors, not %d", path, f->n, 2 * n);
    if (f) st_close(f);
    free(path);
    return rc;
}

static void moments_new(const struct model *m, float *moment[2])
{
    for (int k = 0; k < 2; k++) moment[k] = mem_zero(m->ps.total, sizeof *moment[k]);
}

static void moments_free(float *moment[2])
{
    for (int k = 0; k < 2; k++) {
        free(moment[k]);
        moment[k] = NULL;
    }
}

/* The arrays of the state, where there are any: state.safetensors, one tensor [rows, cols] each. */
static int write_arrays(const char *folder, const struct state *s)
{
    if (!s->n_arrays) return 0;
    char *path = path_join(folder, "state.safetensors");
    struct st_tensor *t = mem_zero((size_t)s->n_arrays, sizeof *t);
    for (int i = 0; i < s->n_arrays; i++) {
        struct state_array *a = &s->arrays[i];
        t[i] = (struct st_tensor){ .name = a->name,
                                   .dtype = a->whole ? ST_I64 : ST_F32,
                                   .ndim = 2,
                                   .shape = { a->rows, a->cols },
                                   .data = a->whole ? (void *)a->whole : a->value,
                                   .bytes = state_array_bytes(a) };
    }
    int rc = st_write(path, t, s->n_arrays, NULL, NULL, 0);
    free(t);
    free(path);
    return rc;
}

static int read_array(const struct st_file *f, const char *path, const struct kernels *k,
                      const struct state_array *a, float *const moment[2])
{
    const struct st_tensor *t = st_find(f, a->name);
    size_t n = (size_t)a->rows * (size_t)a->cols;
    if (!t)
        return err_set(
            "%s: tensor %s is missing; continue with the options the run was started with", path,
            a->name);
    if (t->ndim != 2 || t->shape[0] != a->rows || t->shape[1] != a->cols)
        return err_set("%s: tensor %s is not [%d, %d], which this run's options ask for", path,
                       a->name, a->rows, a->cols);
    if (a->whole) {
        if (t->dtype != ST_I64)
            return err_set("%s: tensor %s does not hold 64-bit integers", path, a->name);
        memcpy(a->whole, t->data, t->bytes);
        return 0;
    }
    /* of tensors besides the model's: their moments lie in the optimiser's arrays */
    if (a->moment) return st_floats(t, moment[a->moment - 1] + a->at, n);
    float *host = mem_alloc(n * sizeof *host);
    int rc = st_floats(t, host, n);
    if (rc == 0) k->upload(a->value, host, n * sizeof *host);
    free(host);
    return rc;
}

static int read_arrays(const char *folder, const struct kernels *k, const struct state *s,
                       float *const moment[2])
{
    char *path = path_join(folder, "state.safetensors");
    int rc = 0;
    struct st_file *f = NULL;
    /* Arrays that are not read would be lost at the next checkpoint. */
    if (!s->n_arrays && file_exists(path))
        rc = err_set("%s: holds arrays that this run does not have; continue with the options it "
                     "was started with",
                     path);
    if (rc == 0 && s->n_arrays) rc = (f = st_open(path)) ? st_verify(f) : -1;
    if (rc == 0 && f && f->n != s->n_arrays)
        rc = err_set(
            "%s: has %d tensors, this run %d; continue with the options it was started with", path,
            f->n, s->n_arrays);
    for (int i = 0; i < s->n_arrays && rc == 0; i++)
        rc = read_array(f, path, k, &s->arrays[i], moment);
    if (f) st_close(f);
    free(path);
    return rc;
}

/* Room for a copy: whole integers of 64 bits, so that each begins at one. */
static size_t array_room(const struct state_array *a)
{
    return (state_array_bytes(a) + 7) / 8 * 8;
}

/* Host copies of the state, in s, which has those of the optimiser. */
static void copy_state(struct snapshot *s, const struct state *from, const struct kernels *k)
{
    size_t bytes = 0;
    s->value = mem_zero((size_t)from->n_ints, sizeof *s->value);
    for (int i = 0; i < from->n_ints; i++) {
        s->value[i] = *from->ints[i].value;
        state_int(&s->state, &s->value[i], 0, "%s", from->ints[i].name);
    }
    for (int i = 0; i < from->n_arrays; i++) bytes += array_room(&from->arrays[i]);
    char *to = s->arrays = mem_alloc(bytes);
    for (int i = 0; i < from->n_arrays; i++) {
        const struct state_array *a = &from->arrays[i];
        if (a->whole) {
            memcpy(to, a->whole, state_array_bytes(a));
            state_whole(&s->state, (int64_t *)to, a->rows, a->cols, "%s", a->name);
        } else {
            /* of a sharded optimiser this rank has its own part alone, and the snapshot has all */
            if (a->moment) memcpy(to, s->array[a->moment] + a->at, state_array_bytes(a));
            else k->download(to, a->value, state_array_bytes(a));
            state_array(&s->state, (float *)to, a->rows, a->cols, "%s", a->name);
        }
        to += array_room(a);
    }
    s->st.state = &s->state;
}

struct snapshot *snapshot_take(const struct model *m, const struct checkpoint_state *st,
                               const struct sharded_optimizer *sharded)
{
    const struct params *ps = &m->ps;
    /* A copy in the host's memory, so that training goes on while a thread writes it: 12 bytes per
     * parameter, which the memory plan holds. */
    const float *from[3] = { ps->value, ps->m, ps->v };
    struct snapshot *s = mem_zero(1, sizeof *s);
    int rc = 0;
    s->m = m;
    for (int i = 0; i < 3; i++) {
        s->array[i] = mem_alloc(ps->total * sizeof(float));
        if (i == 0 || !sharded) ps->k->download(s->array[i], from[i], ps->total * sizeof(float));
        else if (rc == 0) rc = sharded_gather(sharded, from[i], s->array[i]);
    }
    s->st = *st;
    copy_state(s, st->state, ps->k);
    /* a device that was lost gave no numbers */
    if (rc < 0 || ps->k->sync() < 0) {
        snapshot_free(s);
        return NULL;
    }
    return s;
}

bool snapshot_finite(const struct snapshot *s)
{
    /* By bits and without a branch: inf and NaN are the numbers with all bits of the exponent
     * set. */
    const uint32_t exponent = 0x7F800000;
    uint32_t bad = 0;
    for (int i = 0; i < 3; i++)
        for (size_t j = 0; j < s->m->ps.total; j++) {
            uint32_t x;
            memcpy(&x, &s->array[i][j], sizeof x);
            bad |= (x & exponent) == exponent;
        }
    return !bad;
}

void snapshot_free(struct snapshot *s)
{
    if (!s) return;
    for (int i = 0; i < 3; i++) free(s->array[i]);
    state_free(&s->state);
    free(s->value);
    free(s->arrays);
    free(s);
}

static int fill(const char *folder, const struct snapshot *s, const struct vocab *vocab)
{
    char *path = path_join(folder, "vocab");
    int rc = vocab_write(vocab, path);
    free(path);
    if (rc == 0) rc = model_write(s->m, s->array[0], folder, NULL, NULL, 0);
    if (rc == 0) rc = write_optimizer(folder, s);
    if (rc == 0) rc = write_arrays(folder, s->st.state);
    /* the state last: a folder with one has everything else */
    if (rc == 0) rc = write_state(folder, &s->st);
    /* names of files are on the disk before the folder gets its own */
    return rc == 0 ? dir_sync(folder) : -1;
}

int checkpoint_save(const char *dir, const struct snapshot *s, const struct vocab *vocab)
{
    char *to = step_dir(dir, s->st.step, ""), *tmp = step_dir(dir, s->st.step, ".tmp");
    int rc = 0;
    if (!file_exists(to)) {
        tmp_register(tmp);          /* memory that ends here ends the process */
        if (file_exists(tmp)) rc = dir_remove(tmp);
        if (rc == 0) rc = dir_make_new(tmp);
        if (rc == 0) rc = fill(tmp, s, vocab);
        if (rc == 0) rc = file_rename(tmp, to);
        if (rc < 0) {
            char *why = err_keep();
            dir_remove(tmp);
            err_restore(why);
        }
        tmp_forget(tmp);
    /* a better validation at a step that was saved before: only what is said about it changes */
    } else rc = write_state(to, &s->st);
    free(to); free(tmp);
    return rc;
}

/* Steps of the checkpoints in dir, newest first; their number, -1 with a message. *steps is
 * malloc'd. */
static int list(const char *dir, int64_t **steps)
{
    char *path = path_join(dir, "checkpoints");
    DIR *d = opendir(path);
    size_t cap = 0;
    int n = 0;
    *steps = NULL;
    if (!d && errno != ENOENT) n = err_sys("%s: cannot be listed", path);
    for (struct dirent *e; d && (e = readdir(d)); ) {
        int64_t s;
        int used = 0;
        /* nothing after the number: step-N.tmp is no checkpoint */
        if (sscanf(e->d_name, "step-%" SCNd64 "%n", &s, &used) != 1 || e->d_name[used]) continue;
        mem_room(steps, &cap, (size_t)n + 1, sizeof **steps);
        int at = n++;
        /* insertion: there are a few of them, --keep says how many */
        for (; at > 0 && (*steps)[at - 1] < s; at--) (*steps)[at] = (*steps)[at - 1];
        (*steps)[at] = s;
    }
    if (d) closedir(d);
    free(path);
    return n;
}

static int renamed(const char *from, const char *to)
{
    tmp_changing();
    int r = rename(from, to);
    tmp_changed();
    return r;
}

/* Removes checkpoints: renamed first, so that a half-removed one never passes for whole. If this
 * process ends meanwhile, what is left of it vanishes, too. */
static int discard(const char *dir, const int64_t *steps, int n)
{
    int rc = 0;
    char *all = path_join(dir, "checkpoints");
    for (int i = 0; i < n && rc == 0; i++) {
        char *path = step_dir(dir, steps[i], ""), *tmp = step_dir(dir, steps[i], ".tmp");
        tmp_register(tmp);
        rc = renamed(path, tmp);
        if (rc < 0) err_sys("%s: cannot be removed", path);
        /* or a power failure could leave half of its files under its name: where the folder cannot
         * be synced it goes back under its name, whole */
        else if ((rc = dir_sync(all)) < 0) renamed(tmp, path);
        if (rc == 0) rc = dir_remove(tmp);
        tmp_forget(tmp);
        free(path);
        free(tmp);
    }
    free(all);
    return rc;
}

int checkpoint_prune(const char *dir, const struct checkpoint_keep *k)
{
    int64_t *steps;
    int n = list(dir, &steps), kept = 0, rc = n < 0 ? -1 : 0;
    for (int i = 0; i < n && rc == 0; i++) {
        bool due = steps[i] == k->last || (k->every > 0 && steps[i] % k->every == 0);
        /* newest first: kept are the newest of those due. One that --save-time made is not, and
         * goes as soon as there is a newer one. */
        if (due && kept++ < k->keep) continue;
        /* the newest is what --resume starts from, whatever --keep says */
        if (i == 0 || steps[i] == k->best) continue;
        rc = discard(dir, &steps[i], 1);
    }
    free(steps);
    return rc;
}

int checkpoint_sweep(const char *dir)
{
    char *path = path_join(dir, "checkpoints");
    DIR *d = opendir(path);
    int rc = d || errno == ENOENT ? 0 : err_sys("%s: cannot be listed", path);
    for (struct dirent *e; d && rc == 0 && (e = readdir(d)); ) {
        size_t n = strlen(e->d_name);
        if (strncmp(e->d_name, "step-", 5) || n < 4 || strcmp(e->d_name + n - 4, ".tmp")) continue;
        char *p = path_join(path, e->d_name);
        /* Safe: the run's folder is locked, so no other process is writing one. */
        rc = dir_remove(p);
        free(p);
    }
    if (d) closedir(d);
    free(path);
    /* state.json may have been written again in a whole checkpoint: its temporary files are swept,
     * too */
    int64_t *steps;
    int n = list(dir, &steps);
    if (n < 0) rc = -1;
    for (int i = 0; i < n && rc == 0; i++) {
        char *folder = step_dir(dir, steps[i], "");
        rc = file_sweep(folder);
        free(folder);
    }
    free(steps);
    return rc;
}

enum { OTHER_RUN = -2 };

/* 0, -1 damaged, OTHER_RUN: whole, but not of this configuration. */
static int load(const char *folder, int64_t step, struct model *m, struct checkpoint_state *st)
{
    struct model_config c;
    if (model_sum_check(folder) < 0 || model_read_config(&c, folder) < 0) return -1;
    char *have = model_config_json(&c), *want = model_config_json(&m->c);
    /* a checkpoint of another shape is not damaged: going back to an older one would lose it */
    bool same = !strcmp(have, want);
    free(have);
    free(want);
    if (!same) {
        err_set("%s: its configuration is not this run's; continue with the options the run was "
                "started with (run.config)",
                folder);
        return OTHER_RUN;
    }
    /* before model_keep, which takes what is missing: the text has been cut without it */
    if (st->cuts_text
        && model_keeps_same(m, folder, "--model, which cuts the text; continue with the model that "
                                       "the run was started with") < 0)
        return OTHER_RUN;
    char *path = path_join(folder, "weights.safetensors");
    int rc = params_load(&m->ps, m->ps.value, path);
    free(path);
    if (rc == 0) rc = model_keep(m, folder);
    moments_new(m, st->moment);
    if (rc == 0) rc = read_optimizer(folder, m, st->moment);
    if (rc == 0) rc = read_arrays(folder, m->ps.k, st->state, st->moment);
    if (rc == 0) rc = read_state(folder, step, st);
    /* of a sharded optimiser, broadcast_optimizer gives each rank its part */
    if (rc == 0 && !st->shared) {
        m->ps.k->upload(m->ps.m, st->moment[0], m->ps.total * sizeof(float));
        m->ps.k->upload(m->ps.v, st->moment[1], m->ps.total * sizeof(float));
    }
    if (rc < 0 || !st->shared) moments_free(st->moment);
    return rc;
}

int64_t checkpoint_newest(const char *dir)
{
    int64_t *steps;
    int n = list(dir, &steps);
    int64_t step = n > 0 ? steps[0] : -1;
    free(steps);
    return step;
}

char *checkpoint_whole(const char *dir)
{
    int64_t *steps;
    int n = list(dir, &steps);
    char *found = NULL;
    for (int i = 0; i < n && !found; i++) {
        char *folder = step_dir(dir, steps[i], ""), *weights = path_join(folder,
                                                                         "weights.safetensors");
        if (file_exists(weights) && model_sum_check(folder) == 0) found = folder;
        else free(folder);
        free(weights);
    }
    free(steps);
    return found;
}

int checkpoint_load_newest(const char *dir, struct model *m, struct checkpoint_state *st)
{
    int64_t *steps;
    int n = list(dir, &steps), found = n < 0 ? -1 : 0;
    double no_best = st->best;
    /* From the newest back: what a machine lost power over is the last one, and losing some steps
     * is better than losing the run. */
    for (int i = 0; i < n && !found; i++) {
        char *folder = step_dir(dir, steps[i], "");
        /* what a damaged one left in it must not count */
        st->best = no_best;
        int rc = load(folder, steps[i], m, st);
        if (rc == 0)
            /* The damaged ones go: this run makes them again, and would take them for saved. */
            found = discard(dir, steps, i) < 0 ? -1 : 1;
        else if (rc != OTHER_RUN && i + 1 < n)
            msg_warn("%s; going back to the checkpoint before it", err_msg());
        else found = -1;
        free(folder);
    }
    free(steps);
    return found;
}

int checkpoint_link(const char *dir, const char *name, int64_t step)
{
    char target[64], tmp_name[64];
    snprintf(target, sizeof target, "checkpoints/step-%08" PRId64, step);
    snprintf(tmp_name, sizeof tmp_name, ".%s.%d.tmp", name, (int)getpid());
    /* a link cannot be made over another one: it is made next to it and renamed, so that `last`
     * leads to a checkpoint at every moment */
    char *tmp = path_join(dir, tmp_name), *path = path_join(dir, name);
    int rc = 0;
    unlink(tmp);
    /* memory may run out in another thread between the two calls */
    tmp_register(tmp);
    tmp_changing();
    if (symlink(target, tmp) < 0 || rename(tmp, path) < 0) rc = -1;
    tmp_changed();
    if (rc < 0) {
        err_sys("%s: cannot be made", path);
        unlink(tmp);
    }
    tmp_forget(tmp);
    /* on the disk before the checkpoint that it led to is removed */
    if (rc == 0) rc = dir_sync(dir);
    free(tmp);
    free(path);
    return rc;
}

/* N of a path that ends in step-N, -1: it does not. */
static int64_t step_of(const char *folder)
{
    char *real = path_real(folder);
    const char *slash = real ? strrchr(real, '/') : NULL;
    int64_t step = -1;
    int used = 0;
    if (slash && (sscanf(slash + 1, "step-%" SCNd64 "%n", &step, &used) != 1 || slash[1 + used]))
        step = -1;
    free(real);
    return step;
}

int checkpoint_check(const char *folder, const struct model *m)
{
    static const char *const names[] = { "optimizer.safetensors", "state.safetensors",
                                         "state.json" };
    struct state none = { 0 };
    struct checkpoint_state st = { .state = &none };
    int rc = 0;
    for (int i = 0; i < 3 && rc == 0; i++) {
        char *path = path_join(folder, names[i]);
        struct st_file *f = NULL;
        if (!file_exists(path)) { free(path); continue; }
        /* into memory of its own: the model that is looked at has no moments */
        if (i == 0) {
            moments_new(m, st.moment);
            rc = read_optimizer(folder, m, st.moment);
            moments_free(st.moment);
        }
        if (i == 1) rc = (f = st_open(path)) ? st_verify(f) : -1;
        if (i == 2) rc = read_state(folder, step_of(folder), &st);
        if (f) st_close(f);
        free(path);
    }
    return rc;
}
