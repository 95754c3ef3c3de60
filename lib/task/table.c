#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/prog.h"
#include "lib/task/task.h"

#define DECLARE(name) extern const struct task task_##name;
#define ROW(name) &task_##name,
#define NAME(name) " " #name
TASKS(DECLARE)

static const struct task *const table[] = { TASKS(ROW) 0 };

void tasks_init(struct tasks *x)
{
    memset(x, 0, sizeof *x);
    for (const struct task *const *t = table; *t; t++) {
        int i = x->n++;
        x->known[i].t = *t;
        snprintf(x->known[i].heading, sizeof x->known[i].heading, "Task %s: %s", (*t)->name,
                 (*t)->about);
        for (int j = 0; j < i && (*t)->like; j++)
            if (!strcmp(x->known[j].t->name, (*t)->like)) x->known[i].self = x->known[j].self;
        if (x->known[i].self) continue;
        x->known[i].self = mem_zero(1, (*t)->self ? (*t)->self : 1);
        if ((*t)->defaults) (*t)->defaults(x->known[i].self);
    }
}

void task_defaults(struct inputs *in, struct run *r)
{
    *in = inputs_defaults;
    in->longest = 100; in->valid_sentences = 300; in->alpha = 1;
    r->train.lr = 3e-4; r->train.beta2 = 0.98; r->train.eps = 1e-9; r->train.valid_every = 500;
    r->warmup = "500";
    r->engine.gradient_norms = false;
}

int tasks_groups(struct tasks *x, struct opt_group *g, int n)
{
    for (int i = 0; i < x->n; i++)
        if (x->known[i].t->options && !x->known[i].t->like)
            g[n++] = (struct opt_group){ x->known[i].heading, x->known[i].t->options,
                                         x->known[i].self };
    g[n] = (struct opt_group){ 0 };
    return n;
}

const struct task *tasks_choose(struct tasks *x, const char *name, void **self)
{
    int at = 0;
    while (at < x->n && strcmp(x->known[at].t->name, name)) at++;
    if (at == x->n) {
        err_set("unknown task '%s'; choose from:" TASKS(NAME), name);
        return NULL;
    }
    *self = x->known[at].self;
    for (int i = 0; i < x->n; i++) {
        const struct task *t = x->known[i].t;
        char asked[64];
        if (t->like || !t->options || x->known[i].self == *self || !prog_asked(t->options, asked))
            continue;
        err_set("--%s belongs to task %s, not to --task %s", asked, t->name, name);
        return NULL;
    }
    return x->known[at].t;
}

void tasks_free(struct tasks *x)
{
    for (int i = 0; i < x->n; i++) {
        if (x->known[i].t->like) continue;
        if (x->known[i].t->close) x->known[i].t->close(x->known[i].self);
        free(x->known[i].self);
    }
    memset(x, 0, sizeof *x);
}
