#include "lib/engine/objective.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include "common/prog/log.h"

static struct pass_term *next_term(struct pass *p)
{
    /* a pass has the losses of a few objectives, each with one or two names */
    assert(p->terms < (int)(sizeof p->term / sizeof *p->term));
    return &p->term[p->terms++];
}

void pass_losses(struct pass *p, const char *name, const float *x, int n)
{
    /* kept by pointer: read when the tape still has it (passes, in step.c) */
    *next_term(p) = (struct pass_term){ .name = name, .x = x, .n = x ? n : 0 };
}

void pass_number(struct pass *p, const char *name, double sum, double count)
{
    *next_term(p) = (struct pass_term){ .name = name, .sum = sum, .count = count };
}

void pass_reads(struct pass *p, int rows, int longest)
{
    p->rows += rows;
    /* of one batch: what the operations' working memory depends on (kern_shape) */
    if (rows > p->most_rows) p->most_rows = rows;
    if (longest > p->longest) p->longest = longest;
}

void pass_predicts(struct pass *p, int n)
{
    if (n > p->predicted) p->predicted = n;
}

struct var *pass_states(const struct pass *p, enum batch_side side)
{
    /* h alone: a pass without a decoder has one kind of states */
    return side == BATCH_ENCODER && p->encoder ? p->encoder : p->h;
}

int objective_loss(const struct objective *o, void *self, void *batch, struct pass *p, float scale)
{
    if (o->loss) return o->loss(self, batch, p, scale);
    o->batch->loss(self, batch, p, o->name, scale);
    return 0;
}

void report_put(struct report *r, double value, const char *name, ...)
{
    char full[128];
    va_list args;
    va_start(args, name);
    vsnprintf(full, sizeof full, name, args);
    va_end(args);
    /* a validation with nothing to report writes no line */
    if (!r->begun) log_begin(r->log, "valid", r->step);
    r->begun = true;
    log_real(r->log, full, value);
}

void report_judge(struct report *r, double metric)
{
    /* the first objective's metric is the one that picks the best checkpoint */
    if (r->judged) return;
    r->metric = metric;
    r->judged = true;
}
