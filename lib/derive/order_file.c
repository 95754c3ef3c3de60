#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/text/text.h"
#include "lib/derive/order.h"

static const char *const kinds[] = { "", "BI", "PRE", "BFR", "AFT", "BTW", "HI" };
static const char *const classes[] = { "N", "V" };
static const char *const sets[] = { "ud2", "ud1" };
static const char header[] = "# isoglot order 1";

static bool is(const char *want, const char *s, size_t n)
{
    return strlen(want) == n && !memcmp(want, s, n);
}

/* Without "&", is it a relation? Else a part of speech. */
static bool is_relation(const char *s, size_t n)
{ return n && !(s[0] >= 'A' && s[0] <= 'Z') && !(n > 1 && s[0] == '@'); }

/* Is it read as a relation without "&" before it? */
static bool stands_alone(const char *relation)
{ return is_relation(relation, strlen(relation)) && !strchr(relation, '&'); }

/* One of a feature's labels: a part of speech in capitals, a relation in small letters, or both
 * with "&" between. */
static int symbol(struct order_model *m, const char *s, size_t n, uint32_t *to)
{
    const char *amp = memchr(s, '&', n);
    bool relation = !amp && is_relation(s, n);
    size_t pos_n = amp ? (size_t)(amp - s) : relation ? 0 : n;
    const char *rel = amp ? amp + 1 : s;
    size_t rel_n = amp ? n - pos_n - 1 : relation ? n : 0;
    int p = 0, r = 0;
    /* -1: there is a label, and it is unknown; 0: there is none */
    if (pos_n && !(p = order_pos_find(m->labels, s, pos_n))) p = -1;
    if (rel_n) {
        r = relations_find(&m->relations, rel, rel_n);
        /* published models of UD 1 have the subtypes of their treebanks, so their relations are
         * learnt from the file; UD 2's are a closed list */
        if (!r && m->labels == LABELS_UD1 && (r = relations_add(&m->relations, rel, rel_n)) < 0)
            return -1;
        if (!r) r = -1;
    }
    if (p < 0 || r < 0 || (!p && !r))
        return err_set(
            "\"%.*s\" is not a label of %s, the label set that the second line names",
            (int)n, s, sets[m->labels]);
    *to = (uint32_t)p | (uint32_t)r << 5;
    return 0;
}

static int parse_feature(struct order_model *m, const char *s, size_t n, order_feature *f)
{
    uint32_t part[ORDER_GRAM];
    const char *end = s + n, *bar = memchr(s, '_', n);
    int kind = 0, parts = 0;
    for (int k = ORDER_BI; bar && k <= ORDER_HI; k++)
        if (is(kinds[k], s, (size_t)(bar - s))) kind = k;
    for (; kind && bar; parts++) {
        const char *from = bar + 1;
        bar = memchr(from, '_', (size_t)(end - from));
        /* a sixth label: the message below says how many there may be */
        if (parts == ORDER_GRAM) { parts = 0; break; }
        if (symbol(m, from, (size_t)((bar ? bar : end) - from), &part[parts]) < 0) return -1;
    }
    if (kind == ORDER_HI ? parts < 3 : parts != 2)
        return err_set("\"%.*s\" is not a feature, which is BI, PRE, BFR, AFT or BTW with two "
                       "labels, or HI with 3 to 5, \"_\" between",
                       (int)(n < 60 ? n : 60), s);
    *f = kind == ORDER_HI ? order_gram(part, parts) : order_pair(kind, part[0], part[1]);
    return 0;
}

static int add(struct order_model *m, enum order_class c, const char *name, size_t n,
               const char *value)
{
    order_feature f = 0;
    char *end;
    double weight = strtod(value, &end);
    if (end == value || *end || !isfinite(weight))
        return err_set("\"%.40s\" is not a weight", value);
    if (parse_feature(m, name, n, &f) < 0) return -1;
    struct order_weights *w = &m->w[c];
    size_t before = w->n, at = order_index(w, f);
    /* which of the two weights counts would hang on the order of the lines */
    if (w->n == before) return err_set("\"%.*s\" appears twice", (int)n, name);
    w->weight[at] = weight;
    w->grams |= (f & 15) == ORDER_HI;
    return 0;
}

/* "class<TAB>feature<TAB>weight" */
static int add_line(struct order_model *m, const char *s, size_t n)
{
    const char *first = memchr(s, '\t', n),
               *second = first ? memchr(first + 1, '\t', n - (size_t)(first + 1 - s)) : NULL;
    if (!second || memchr(s, 0, n))
        return err_set("expected a class, a feature and a weight, separated by tabs");
    for (int c = 0; c < ORDER_CLASSES; c++)
        if (is(classes[c], s, (size_t)(first - s)))
            /* the weight ends where the line does: text_line puts a NUL there */
            return add(m, c, first + 1, (size_t)(second - first - 1), second + 1);
    return err_set("\"%.*s\" is not a class; classes are N and V", (int)(first - s), s);
}

static struct order_model *begin(struct text *t)
{
    const char *s;
    size_t n;
    int got = text_line(t, &s, &n);
    if (got > 0 && is(header, s, n)) {
        got = text_line(t, &s, &n);
        for (int set = LABELS_UD2; got > 0 && set <= LABELS_UD1; set++)
            /* 12: "# labels " and the three letters of a set */
            if (n == 12 && !memcmp(s, "# labels ", 9) && is(sets[set], s + 9, n - 9))
                return order_new(set);
        if (got >= 0)
            err_set(
                "%s:2: \"# labels ud2\" or \"# labels ud1\" expected; other label sets are unknown",
                text_name(t));
    } else if (got >= 0)
        err_set("%s: not an order model, whose first line is \"%s\"; --learn-order and "
                "--import-orm write them",
                text_name(t), header);
    return NULL;
}

struct order_model *order_read(const char *path)
{
    struct text *t = text_open(path, TEXT_UTF8 | TEXT_SUM);
    struct order_model *m = t ? begin(t) : NULL;
    const char *s;
    size_t n;
    int got = m ? 0 : -1;
    while (m && (got = text_line(t, &s, &n)) > 0)
        if (add_line(m, s, n) < 0) { got = text_fail(t); break; }
    text_close(t);
    if (got == 0) return m;
    order_free(m);
    return NULL;
}

int order_import(struct order_model *m, enum order_class c, const char *path)
{
    /* foreign files have no FILE.sum to be checked against */
    struct text *t = text_open(path, TEXT_UTF8);
    const char *s;
    size_t n;
    int got = -1;
    while (t && (got = text_line(t, &s, &n)) > 0) {
        const char *space = memchr(s, ' ', n);
        if (memchr(s, 0, n) || !space)
            got = err_set("expected a feature, a space and a weight");
        else got = add(m, c, s, (size_t)(space - s), space + 1);
        if (got < 0) { text_fail(t); break; }
    }
    /* an empty file is no model that says nothing, which would leave every order as it is */
    if (got == 0 && !m->w[c].n) got = err_set("%s: holds no feature", text_name(t));
    text_close(t);
    return got;
}

static void put_symbol(const struct order_model *m, uint32_t s, char **to, char *end)
{
    const char *p = order_pos_name(s & 31), *r = m->relations.name[s >> 5];
    /* a relation that begins like a part of speech, or has "&" in it, needs its own "&" to be read
     * back as one */
    *to += snprintf(*to, (size_t)(end - *to), "_%s%s%s", p,
                    *r && (*p || !stands_alone(r)) ? "&" : "", r);
}

/* "_@PROPN&" and a relation's 23 bytes are 31 for a symbol */
struct named { char name[8 + ORDER_GRAM * 36]; double weight; };

static int by_name(const void *a, const void *b)
{ return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name); }

void order_write(const struct order_model *m, FILE *f)
{
    fprintf(f, "%s\n# labels %s\n", header, sets[m->labels]);
    for (int c = 0; c < ORDER_CLASSES; c++) {
        const struct order_weights *w = &m->w[c];
        struct named *v = mem_alloc(w->n * sizeof *v);
        for (size_t i = 0; i < w->n; i++) {
            char *to = v[i].name, *end = to + sizeof v[i].name;
            order_feature feature = w->feature[i];
            to += snprintf(to, sizeof v[i].name, "%s", kinds[feature & 15]);
            for (feature >>= 4; feature; feature >>= 12) put_symbol(m, feature & 4095, &to, end);
            v[i].weight = w->weight[i];
        }
        /* features come in the order they were met in; sorted, equal models are equal files */
        qsort(v, w->n, sizeof *v, by_name);
        for (size_t i = 0; i < w->n; i++)
            fprintf(f, "%s\t%s\t%.9g\n", classes[c], v[i].name, v[i].weight);
        free(v);
    }
}
