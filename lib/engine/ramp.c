#include "lib/engine/ramp.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"

/* A number from 0 at *s, which moves past it. */
static int number(const char **s, double *to)
{
    char *after;
    if (!isdigit((unsigned char)**s) && **s != '.') return -1;
    *to = strtod(*s, &after);
    if (after == *s || !isfinite(*to)) return -1;
    *s = after;
    return 0;
}

int ramp_parse(struct ramp *r, const char *s)
{
    const char *p = s;
    memset(r, 0, sizeof *r);
    if (!strchr(s, ':')) {
        if (number(&p, &r->at[0].value) < 0 || *p) goto bad;
        r->n = 1;
        return 0;
    }
    for (;; p++) {
        double step;
        if (r->n == RAMP_MAX || number(&p, &step) < 0 || step != floor(step) || step > 1e15
            || *p++ != ':' || number(&p, &r->at[r->n].value) < 0)
            goto bad;
        r->at[r->n].step = (int64_t)step;
        if (r->n && r->at[r->n].step <= r->at[r->n - 1].step) goto bad;
        r->n++;
        if (!*p) return 0;
        if (*p != ',') goto bad;
    }
bad:
    return err_set(
        "\"%s\": expected a weight, or STEP:WEIGHT,STEP:WEIGHT,... with growing steps (at most %d)",
        s, RAMP_MAX);
}

double ramp_value(const struct ramp *r, int64_t step)
{
    int i = 0;
    while (i < r->n && r->at[i].step <= step) i++;
    if (i == 0 || i == r->n) return r->at[i ? i - 1 : 0].value;
    double part = (double)(step - r->at[i - 1].step) / (double)(r->at[i].step - r->at[i - 1].step);
    return r->at[i - 1].value + (r->at[i].value - r->at[i - 1].value) * part;
}
