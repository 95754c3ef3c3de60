#include "lib/derive/labels.h"
#include <string.h>
#include "common/err.h"

/* By number; UD 2's CCONJ is CONJ in UD 1. Only NOUN, PROPN, PRON and VERB head what is put in
 * order. */
static const char *const pos[LABEL_POS] = {
    "", "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON",
    "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X", "CONJ", "@NOUN", "@PRON", "@PROPN", "@VERB",
    [POS_BOS] = "BOS", [POS_EOS] = "EOS",
};
enum { AUX = 4, CCONJ = 5, CONJ = 18 };

static const char *const ud2[] = {
    "acl",      "advcl", "advmod",     "amod",       "appos",    "aux",        "case",
    "cc",       "ccomp", "clf",        "compound",   "conj",     "cop",        "csubj",
    "dep",      "det",   "discourse",  "dislocated", "expl",     "fixed",      "flat",
    "goeswith", "iobj",  "list",       "mark",       "nmod",     "nsubj",      "nummod",
    "obj",      "obl",   "orphan",     "parataxis",  "punct",    "reparandum", "root",
    "vocative", "xcomp", "nsubj:pass", "csubj:pass", "aux:pass",
};

/* UD 2 to 1.2 (Nivre et al. 2020, section 4): relations that changed their names. */
static const char *const older[][2] = {
    { "obj", "dobj" }, { "obl", "nmod" }, { "nsubj:pass", "nsubjpass" },
    { "csubj:pass", "csubjpass" }, { "aux:pass", "auxpass" }, { "fixed", "mwe" },
    { "flat", "name" }, { "orphan", "remnant" },
};

static bool same(const char *name, const char *s, size_t n)
{
    return strlen(name) == n && !memcmp(name, s, n);
}

int pos_find(enum label_set set, const char *s, size_t n)
{
    for (int i = 1; i < LABEL_POS; i++)
        if (pos[i] && same(pos[i], s, n) && i != (set == LABELS_UD2 ? CONJ : CCONJ)) return i;
    return POS_NONE;
}

const char *pos_name(int p) { return pos[p]; }

int pos_marked(int p)
{
    for (int i = CONJ + 1; i < POS_BOS && pos[i]; i++)
        if (!strcmp(pos[i] + 1, pos[p])) return i;
    return p;
}

int relations_find(const struct relations *r, const char *s, size_t n)
{
    for (int i = 1; i < r->n; i++)
        if (same(r->name[i], s, n)) return i;
    return REL_NONE;
}

int relations_add(struct relations *r, const char *s, size_t n)
{
    int i = relations_find(r, s, n);
    if (i) return i;
    if (!n || n >= LABEL_NAME)
        return err_set("relation \"%.*s\" does not have 1 to %d bytes", (int)n, s, LABEL_NAME - 1);
    for (size_t k = 0; k < n; k++)                /* what no line of a model could say */
        if ((unsigned char)s[k] <= ' ' || s[k] == 0x7F)
            return err_set("relation \"%.*s\" has a space or control character", (int)n, s);
    if (r->n == REL_OTHER) return err_set("more than %d relations", REL_OTHER - 2);
    memcpy(r->name[r->n], s, n);
    return r->n++;
}

void relations_begin(struct relations *r, enum label_set set)
{
    *r = (struct relations){ .name = { "", "@" }, .n = 2 };
    for (size_t i = 0; set == LABELS_UD2 && i < sizeof ud2 / sizeof *ud2; i++)
        relations_add(r, ud2[i], strlen(ud2[i]));
}

/* Is one of FEATS' "Name=Value" parts this? */
static bool feature(const struct word *feats, const char *want)
{
    size_t len = strlen(want);
    for (const char *s = feats->s, *end = s + feats->n; s < end; s++) {
        const char *bar = memchr(s, '|', (size_t)(end - s));
        if (!bar) bar = end;
        if ((size_t)(bar - s) == len && !memcmp(s, want, len)) return true;
        s = bar;
    }
    return false;
}

/* A relation with its subtype where the model knows it, else without. */
static int known(const struct relations *r, const char *s, size_t n)
{
    int i = relations_find(r, s, n);
    const char *colon = memchr(s, ':', n);
    return i || !colon ? i : relations_find(r, s, (size_t)(colon - s));
}

static int relation_1(const struct relations *r, const struct row *row)
{
    const struct word *rel = &row->cell[CONLLU_DEPREL];
    const char *colon = memchr(rel->s, ':', rel->n);
    size_t base = colon ? (size_t)(colon - rel->s) : rel->n;
    if (same("advmod", rel->s, base) && feature(&row->cell[CONLLU_FEATS], "Polarity=Neg")) {
        int neg = relations_find(r, "neg", 3);
        if (neg) return neg;
    }
    for (size_t i = 0; i < sizeof older / sizeof *older; i++)
        if (same(older[i][0], rel->s, strchr(older[i][0], ':') ? rel->n : base))
            return relations_find(r, older[i][1], strlen(older[i][1]));
    return known(r, rel->s, rel->n);
}

int labels_of(enum label_set set, const struct relations *r, const struct row *row,
              struct labels *l)
{
    const struct word *upos = &row->cell[CONLLU_UPOS], *rel = &row->cell[CONLLU_DEPREL];
    const char *colon = memchr(rel->s, ':', rel->n);
    size_t base = colon ? (size_t)(colon - rel->s) : rel->n, i = 0;
    l->pos = pos_find(LABELS_UD2, upos->s, upos->n);
    if (!l->pos || l->pos > CONJ)
        return err_set(
            "UPOS of \"%.*s\" is \"%.*s\", not one of UD 2's 17; order models need UD 2's labels",
            (int)row->cell[CONLLU_FORM].n, row->cell[CONLLU_FORM].s, (int)upos->n, upos->s);
    while (i < sizeof ud2 / sizeof *ud2 && !same(ud2[i], rel->s, base)) i++;
    if (i == sizeof ud2 / sizeof *ud2)
        return err_set(
            "DEPREL of \"%.*s\" is \"%.*s\", not one of UD 2's 37; order models need UD 2's labels",
            (int)row->cell[CONLLU_FORM].n, row->cell[CONLLU_FORM].s, (int)rel->n, rel->s);
    l->relation = set == LABELS_UD2 ? known(r, rel->s, rel->n) : relation_1(r, row);
    if (!l->relation) l->relation = REL_OTHER;
    if (set == LABELS_UD2) return 0;
    if (l->pos == CCONJ) l->pos = CONJ;
    if (l->pos == AUX && same("cop", rel->s, base)) l->pos = POS_VERB;
    return 0;
}
