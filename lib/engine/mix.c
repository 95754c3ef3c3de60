#include "lib/engine/mix.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/prog/prog.h"

/* --- weights that change ---------------------------------------------------------------------- */

/* A number from 0 at *s, which moves past it. */
static int number(const char **s, double *to)
{
    char *after;
    /* strtod also reads signs, "inf", "nan" and hexadecimal numbers */
    if ((!isdigit((unsigned char)**s) && **s != '.') || (**s == '0' && ((*s)[1] | 32) == 'x'))
        return -1;
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
        /* 1e15 is exact in a double, and far beyond any run */
        if (r->n == RAMP_MAX || number(&p, &step) < 0 || step != floor(step) || step > 1e15
            || *p++ != ':' || number(&p, &r->at[r->n].value) < 0)
            goto bad;
        r->at[r->n].step = (int64_t)step;
        /* ramp_value divides by the distance */
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
    /* constant before the first point and after the last */
    if (i == 0 || i == r->n) return r->at[i ? i - 1 : 0].value;
    double part = (double)(step - r->at[i - 1].step) / (double)(r->at[i].step - r->at[i - 1].step);
    return r->at[i - 1].value + (r->at[i].value - r->at[i - 1].value) * part;
}

/* --- the mixture ------------------------------------------------------------------------------ */

void mix_init(struct mix *x, const struct objective *const *table, unsigned used_by)
{
    memset(x, 0, sizeof *x);
    /* the table's order is that of --help and of messages */
    for (; *table && x->n_known < MIX_KNOWN; table++) {
        const struct objective *o = *table;
        if (!(o->used_by & used_by)) continue;
        struct mix_known *k = &x->known[x->n_known++];
        k->o = o;
        /* made before parsing: options write into it */
        k->self = mem_zero(1, o->self ? o->self : 1);
        if (o->defaults) o->defaults(k->self);
        if (o->presets) o->presets(k->self, used_by);
        k->weight.ramp = o->weight_value ? o->weight_value : "1";
        snprintf(k->weight_name, sizeof k->weight_name, "%s%s", o->weight ? o->weight : o->name,
                 o->weight ? "" : "-weight");
        const char *about = used_by & OBJECTIVE_ALIGN && o->about_align ? o->about_align : o->about;
        snprintf(k->heading, sizeof k->heading, "Objective %s: %s", o->name, about);
        const char *first = x->known[0].weight_name;      /* what a ramp is, is said once */
        snprintf(k->weight_help, sizeof k->weight_help, "weight of its loss, as --%.*s",
                 (int)strcspn(first, "|"), first);
        k->weight_row[0] = (struct opt){ k->weight_name, 0, OPT_STR(mix_weight, ramp), "RAMP",
                                         k == x->known
                                             ? "weight of this objective's loss: a number, or "
                                               "STEP:WEIGHT,STEP:WEIGHT,... to interpolate between"
                                             : k->weight_help };
    }
}

int mix_groups(struct mix *x, struct opt_group *g, int n)
{
    for (int i = 0; i < x->n_known; i++) {
        struct mix_known *k = &x->known[i];
        g[n++] = (struct opt_group){ k->heading, k->weight_row, &k->weight };
        if (k->o->options) g[n++] = (struct opt_group){ NULL, k->o->options, k->self };
    }
    /* the parser reads on to an empty group */
    g[n] = (struct opt_group){ 0 };
    return n;
}

static struct mix_known *known(const struct mix *x, const char *name, size_t len)
{
    for (int i = 0; i < x->n_known; i++) {
        const char *have = x->known[i].o->name;
        if (strlen(have) == len && !memcmp(have, name, len))
            return (struct mix_known *)&x->known[i];
    }
    return NULL;
}

void *mix_self(const struct mix *x, const char *name)
{
    const struct mix_known *k = known(x, name, strlen(name));
    return k ? k->self : NULL;
}

static int unknown(const struct mix *x, const char *name, int len)
{
    char there[512] = "";
    size_t n = 0;
    for (int i = 0; i < x->n_known && n < sizeof there; i++)
        n += (size_t)snprintf(there + n, sizeof there - n, "%s%s", i ? ", " : "",
                              x->known[i].o->name);
    return err_set("unknown objective '%.*s'; choose from %s", len, name, there);
}

static int find(const struct mix *x, const struct objective *o)
{
    for (int i = 0; i < x->n; i++)
        if (x->m[i].o == o) return i;
    return -1;
}

static int append(struct mix *x, struct mix_known *k, bool silent)
{
    int at = find(x, k->o);
    if (at >= 0) return silent ? 0 : err_set("objective %s is named twice", k->o->name);
    if (x->n == MIX_MOST) return err_set("at most %d objectives at once", MIX_MOST);
    struct member *m = &x->m[x->n++];
    /* only of those that were chosen: a weight of another one is refused by check_rows */
    *m = (struct member){ .o = k->o, .self = k->self, .host = -1, .silent = silent };
    if (ramp_parse(&m->weight, k->weight.ramp) < 0)
        return err_set("--%.*s %s", (int)strcspn(k->weight_name, "|"), k->weight_name, err_msg());
    return 0;
}

/* The first of `hosts` that was named in `list`; where none was, the first that is known. */
static struct mix_known *host_of(const struct mix *x, const char *hosts, const char *list)
{
    /* hosts are listed with the best first, but one that is run anyway costs no pass more */
    struct mix_known *first = NULL;
    for (const char *p = hosts; *p; ) {
        size_t len = strcspn(p, " ");
        struct mix_known *k = known(x, p, len);
        for (const char *q = list; k && *q; ) {
            size_t n = strcspn(q, ",");
            if (n == len && !memcmp(p, q, n)) return k;
            q += n + (q[n] == ',');
        }
        if (!first) first = k;
        p += len + (p[len] == ' ');
    }
    return first;
}

static int choose(struct mix *x, const char *list, bool auxiliary)
{
    for (const char *p = list; ; p++) {
        size_t len = strcspn(p, ",");
        struct mix_known *k = known(x, p, len);
        if (!k) return unknown(x, p, (int)len);
        /* Hosts first, whatever the order in --objective: an auxiliary objective needs its host's
         * index. */
        if (!auxiliary == !k->o->hosts) {
            struct mix_known *host = k->o->hosts ? host_of(x, k->o->hosts, list) : NULL;
            if (k->o->hosts && !host)
                return err_set("objective %s cannot be used here: it needs the batches of %s",
                               k->o->name, k->o->hosts);
            /* silent: it is run for its batches, and its loss was not asked for */
            if ((host && append(x, host, true) < 0) || append(x, k, false) < 0) return -1;
            if (host) x->m[x->n - 1].host = find(x, host->o);
            if (host && k->o->attach) k->o->attach(k->self, host->o);
        }
        p += len;
        if (!*p) return 0;
    }
}

/* "mlm:4,tlm:1" */
static int read_ratio(struct mix *x, const char *ratio)
{
    for (const char *p = ratio; ; p++) {
        size_t len = strcspn(p, ":,");
        struct mix_known *k = known(x, p, len);
        int i = k ? find(x, k->o) : -1;
        char *end;
        if (i < 0) return err_set("--mix names %.*s, which is not in %s", (int)len, p, x->asked);
        /* what rides on a host takes part when that does (mix_turn) */
        if (!mix_passes(x, i) || x->m[i].host >= 0)
            return err_set("--mix: %s uses another objective's batches and is drawn with it",
                           k->o->name);
        unsigned long share = p[len] == ':' ? strtoul(p + len + 1, &end, 10) : 0;
        if (share < 1 || share > 1000000 || (*end && *end != ','))
            return err_set("--mix %s: expected NAME:N,NAME:N with N from 1 to 1000000", ratio);
        if (x->m[i].share) return err_set("--mix names %s twice", k->o->name);
        /* 16 of at most 10^6: the sum fits 32 bits */
        x->shares += x->m[i].share = (uint32_t)share;
        if (!*end) break;
        p = end;
    }
    for (int i = 0; i < x->n; i++)
        if (x->m[i].host < 0 && !x->m[i].share)
            return err_set("--mix leaves out %s", x->m[i].o->name);
    return 0;
}

static int check_rows(const struct opt *rows, const struct mix_known *k, const struct mix *x)
{
    char asked[64];
    if (!rows || !prog_asked(rows, asked)) return 0;
    return err_set("--%s belongs to objective %s, which is not in %s", asked, k->o->name, x->asked);
}

static int check_by_data(const struct mix *x)
{
    for (int i = 0; i < x->n; i++)
        if (x->m[i].host < 0 && !x->m[i].o->epoch)
            return err_set("--mix by-data: objective %s has no data of its own to count",
                           x->m[i].o->name);
    return 0;
}

/* A run whose losses all have weight 0 would end as it began, in silence. */
static int check_weights(const struct mix *x)
{
    for (int i = 0; i < x->n; i++)
        /* straight lines between its points: nowhere more than at one of them */
        for (int k = 0; k < x->m[i].weight.n; k++)
            if (!x->m[i].silent && x->m[i].weight.at[k].value > 0) return 0;
    return err_set("the weight of each loss of %s is 0: nothing would be learnt", x->asked);
}

int mix_choose(struct mix *x, const char *list, const char *ratio, const char *option,
               const char *value)
{
    snprintf(x->asked, sizeof x->asked, "%s %s", option, value);
    /* twice: those with streams of their own, then those that need a host */
    if (choose(x, list, false) < 0 || choose(x, list, true) < 0) return -1;
    /* Places follow the order of passes alone: adding an auxiliary loss such as gc leaves the
     * dropout of the others as it was, so that the two runs can be compared. */
    for (int i = 0, place = 0; i < x->n; i++)
        if (mix_passes(x, i)) x->m[i].place = place++;
    for (int i = 0; i < x->n_known; i++) {
        const struct mix_known *k = &x->known[i];
        if (find(x, k->o) >= 0) {
            if (k->o->check && k->o->check(k->self) < 0) return -1;
        /* An option of an objective that was not chosen would be ignored silently. */
        } else if (check_rows(k->weight_row, k, x) < 0 || check_rows(k->o->options, k, x) < 0)
            return -1;
    }
    if (check_weights(x) < 0) return -1;
    x->by_data = ratio && !strcmp(ratio, "by-data");
    return x->by_data ? check_by_data(x) : ratio ? read_ratio(x, ratio) : 0;
}

int mix_dict(const struct mix *x, int files)
{
    const char *reader = NULL;
    for (int i = 0; i < x->n && !reader; i++)
        if (x->m[i].o->dict) reader = x->m[i].o->name;
    if (files && !reader)
        return err_set("--dict belongs to objectives that learn from a dictionary; none is in %s",
                       x->asked);
    /* both ways: a dictionary that nobody reads is as wrong as one that is missing */
    if (reader && !files)
        return err_set("objective %s needs a dictionary of the model's tokens: --dict "
                       "SRC-TGT=FILE", reader);
    return 0;
}

int mix_pairs(const struct mix *x, const char *option)
{
    for (int i = 0; i < x->n; i++)
        if (x->m[i].o->pairs) return 0;
    return option ? err_set("--%s belongs to objectives that learn from sentence pairs (tlm); none "
                            "is in %s", option, x->asked)
                  : 0;
}

int mix_valid(const struct mix *x, bool pairs, const char *option)
{
    for (int i = 0; i < x->n; i++)
        if (x->m[i].o->validate && x->m[i].o->valid_pairs == pairs) return 0;
    return option ? err_set("--%s belongs to objectives that are validated on %s (%s); none is in "
                            "%s", option, pairs ? "sentence pairs" : "text",
                            pairs ? "moco, tlm" : "mlm, mass; on pairs: --valid-parallel",
                            x->asked)
                  : 0;
}

bool mix_has(const struct mix *x, const char *name)
{
    for (int i = 0; i < x->n; i++)
        if (!strcmp(x->m[i].o->name, name)) return true;
    return false;
}

bool mix_text(const struct mix *x)
{
    for (int i = 0; i < x->n; i++)
        if (!x->m[i].o->pairs) return true;
    return false;
}

bool mix_decoder(const struct mix *x)
{
    for (int i = 0; i < x->n; i++)
        if (x->m[i].o->decoder) return true;
    return false;
}

int mix_fits(const struct mix *x, const struct model_config *c)
{
    for (int i = 0; i < x->n; i++)
        if (x->m[i].o->fits && x->m[i].o->fits(x->m[i].self, c) < 0) return -1;
    return 0;
}

/* Millionths, at least one each: integers, so that what is drawn is the same on every machine. */
static void share_by_data(struct mix *x)
{
    double all = 0;
    for (int i = 0; i < x->n; i++)
        if (x->m[i].host < 0) all += x->m[i].o->epoch(x->m[i].self);
    for (int i = 0; i < x->n; i++) {
        struct member *m = &x->m[i];
        /* those with a host are drawn with it */
        if (m->host >= 0) continue;
        m->share = (uint32_t)fmax(1, round(1e6 * m->o->epoch(m->self) / all));
        x->shares += m->share;
    }
}

int mix_open(struct mix *x, struct setup *s)
{
    for (int i = 0; i < x->n; i++)
        if (x->m[i].o->open && x->m[i].o->open(x->m[i].self, s) < 0) return -1;
    /* after all are open: only then do they know their data */
    if (x->by_data) share_by_data(x);
    return 0;
}

double mix_batches(const struct mix *x)
{
    /* shares of text and of pairs that one micro-batch takes */
    double all = 0, share[2] = { 0, 0 };
    for (int i = 0; i < x->n; i++) {
        const struct objective *o = x->m[i].o;
        /* what has a host reads the host's batches */
        if (x->m[i].host >= 0 || !o->epoch) continue;
        double own = o->epoch(x->m[i].self);
        all += own;
        if (own > 0) share[o->pairs] += 1 / own;
    }
    if (x->shares || all == 0) return all;
    return fmax(share[0] > 0 ? 1 / share[0] : 0, share[1] > 0 ? 1 / share[1] : 0);
}

int mix_period(const struct mix *x)
{
    int most = 1;
    for (int i = 0; i < x->n; i++) {
        int period = x->m[i].o->period ? x->m[i].o->period(x->m[i].self) : 1;
        /* the others have 1: there is one objective with a longer period, --translate-ahead's */
        if (period > most) most = period;
    }
    return most;
}

void mix_parameters(const struct mix *x, struct model *m)
{
    for (int i = 0; i < x->n; i++)
        if (x->m[i].o->parameters) x->m[i].o->parameters(x->m[i].self, m);
}

/* Tensors besides the model's (MoCo's head), each with Adam's moments: the model's file has none of
 * them, so they are part of the run's state. */
static void keep_beside(const struct params *ps, struct state *s)
{
    for (int i = params_own(ps); i < ps->n; i++) {
        const struct param *p = &ps->p[i];
        state_array(s, ps->value + p->at, p->rows, p->cols, "%s", p->name);
        state_moment(s, 1, p->at, p->rows, p->cols, "adam.m.%s", p->name);
        state_moment(s, 2, p->at, p->rows, p->cols, "adam.v.%s", p->name);
    }
}

int mix_start(struct mix *x, struct pass *p, struct state *s)
{
    keep_beside(&p->m->ps, s);
    for (int i = 0; i < x->n; i++)
        if (x->m[i].o->start && x->m[i].o->start(x->m[i].self, p, s) < 0) return -1;
    return 0;
}

double mix_weight(const struct mix *x, int i, int64_t step)
{
    return ramp_value(&x->m[i].weight, step);
}

/* The member that a step draws, in integers: share / shares of the 2^32 values of a counter's word.
 * Keyed by the step, so that a run that goes on, and every rank, draws the same. */
static int drawn(const struct mix *x, int64_t step, uint64_t seed)
{
    /* step + 1: as turn_key has it */
    struct rng_key key = { seed, RNG_MIX, (uint32_t)(step + 1) };
    uint64_t u = (uint64_t)rng_u32(key, 0, 0) * x->shares >> 32;
    int i = 0;
    /* members with a host have a share of 0, and are never drawn */
    for (; i + 1 < x->n; i++) {
        if (u < x->m[i].share) break;
        u -= x->m[i].share;
    }
    return i;
}

void mix_turn(const struct mix *x, int64_t step, uint64_t seed, bool part[MIX_MOST])
{
    int chosen = x->shares ? drawn(x, step, seed) : -1;
    for (int i = 0; i < x->n; i++) {
        const struct member *m = &x->m[i];
        /* An auxiliary loss at weight 0 still takes part: it costs no pass of its own, and is
         * logged. One with a pass of its own saves that. Hosts stand before them, so part[m->host]
         * is known. */
        if (m->host >= 0)
            part[i] = part[m->host] && (!mix_passes(x, i) || ramp_value(&m->weight, step) > 0);
        /* a silent host is run for the others, whatever its own weight is */
        else
            part[i] = (chosen < 0 || chosen == i) && (m->silent || ramp_value(&m->weight, step) > 0)
                      && (!m->o->turn || m->o->turn(m->self, step));
    }
}

void mix_free(struct mix *x)
{
    for (int i = 0; i < x->n; i++)
        if (x->m[i].o->close) x->m[i].o->close(x->m[i].self);
    for (int i = 0; i < x->n_known; i++) free(x->known[i].self);
    memset(x, 0, sizeof *x);
}
