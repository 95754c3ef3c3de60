#include "lib/engine/optimizer.h"
#include <stdlib.h>
#include <string.h>
#include "common/mem.h"

/* Parameters at .. end, their moments from `held` on. */
struct range { size_t at, end, held; };

/* Of parameters from .. to - 1 what lies in the range takes a step at the rate lr. */
static void optimise(struct trainer *tr, const struct range *x, int from, int to, double lr)
{
    struct params *ps = &tr->m->ps;
    struct kern_part *part = mem_alloc((size_t)(to - from) * sizeof *part);
    int parts = 0;
    for (int i = from; i < to; i++) {
        const struct kern_part *p = &ps->part[i];
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

/* Task heads may have a rate of their own (XLM's fine-tuning sweeps the two apart). */
static void optimise_range(struct trainer *tr, const struct range *x)
{
    const struct params *ps = &tr->m->ps;
    double head = trainer_rate(&tr->o, tr->o.head_lr, tr->step + 1);
    if (tr->o.head_lr < 0) { optimise(tr, x, 0, ps->n, tr->lr); return; }
    for (int i = 0, j; i < ps->n; i = j) {
        for (j = i + 1; j < ps->n && is_head(&ps->p[j]) == is_head(&ps->p[i]); j++) { }
        optimise(tr, x, i, j, is_head(&ps->p[i]) ? head : tr->lr);
    }
}

int optimizer_step(struct trainer *tr)
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
    bool far = k->room && !ranks_on_device(s->ranks);
    float *value = far ? mem_alloc(bytes) : ps->value;
    struct range x = { 0 };
    for (int i = 0; i < s->pieces; i++, x.held += x.end - x.at) {
        x.at = sharded_of(s, i)[me];
        x.end = sharded_of(s, i)[me + 1];
        optimise_range(tr, &x);
        if (far) k->download(value + x.at, ps->value + x.at, (x.end - x.at) * sizeof *value);
        ranks_all_gather_begin(s->ranks, value, sharded_of(s, i));
    }
    int rc = ranks_reduce_end(s->ranks, &bad);
    if (far && rc == 0) k->upload(ps->value, value, bytes);
    if (far) free(value);
    else if (k->room) k->copy(ps->value, value, bytes);  /* says that they were written to */
    return rc;
}
