#include "lib/bpe/segment.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include "common/err.h"
#include "common/mem.h"

struct glossary { int n; pcre2_code **search, **whole; pcre2_code *any; char **text; };
struct glossary_scratch {
    pcre2_match_data *match;
    struct glossary_part *a, *b;
    size_t a_cap, b_cap;
};

static pcre2_code *compile(const char *before, const char *pattern, const char *after,
                           uint32_t flags)
{
    int code;
    PCRE2_SIZE at;
    char *text = mem_format("%s%s%s", before, pattern, after);
    pcre2_code *re = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
                                   PCRE2_UTF | PCRE2_UCP | flags, &code, &at, NULL);
    if (!re) {
        char why[128];
        pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
        size_t from = strlen(before), in = at > from ? at - from : 0;
        err_set("glossary \"%s\": character %zu: %s; it must be a regular expression", pattern,
                in + 1, why);
    } else
        /* where there is no JIT compiler, matching interprets */
        pcre2_jit_compile(re, PCRE2_JIT_COMPLETE);
    free(text);
    return re;
}

struct glossary *glossary_new(const char *const *patterns, int n)
{
    struct glossary *g = mem_zero(1, sizeof *g);
    size_t size = 1;
    g->n = n;
    g->search = mem_zero((size_t)n, sizeof *g->search);
    g->whole = mem_zero((size_t)n, sizeof *g->whole);
    g->text = mem_zero((size_t)n, sizeof *g->text);
    for (int i = 0; i < n; i++) {
        g->text[i] = mem_dup(patterns[i]);
        size += strlen(patterns[i]) + 1;
        /* subword-nmt asks re.match for "^A|B$": either alternative, at the word's first byte */
        if (!(g->search[i] = compile("", patterns[i], "", 0))
            || !(g->whole[i] = compile("^", patterns[i], "$", PCRE2_ANCHORED))) {
            glossary_free(g);
            return NULL;
        }
    }
    /* subword-nmt leaves a part whole that any of them matches, whichever it was cut by */
    char *all = mem_zero(size, 1), *at = all;
    for (int i = 0; i < n; i++) at += sprintf(at, "%s%s", i ? "|" : "", patterns[i]);
    g->any = compile("^(", all, ")$", PCRE2_ANCHORED);
    free(all);
    if (g->any) return g;
    glossary_free(g);
    return NULL;
}

void glossary_free(struct glossary *g)
{
    if (!g) return;
    for (int i = 0; i < g->n; i++) {
        pcre2_code_free(g->search[i]);
        pcre2_code_free(g->whole[i]);
        free(g->text[i]);
    }
    pcre2_code_free(g->any);
    free(g->search); free(g->whole); free(g->text);
    free(g);
}

struct glossary_scratch *glossary_scratch_new(const struct glossary *g)
{
    (void)g;
    struct glossary_scratch *s = mem_zero(1, sizeof *s);
    s->match = pcre2_match_data_create(1, NULL);
    if (!s->match) mem_none(sizeof *s);
    return s;
}

void glossary_scratch_free(struct glossary_scratch *s)
{
    if (!s) return;
    pcre2_match_data_free(s->match);
    free(s->a);
    free(s->b);
    free(s);
}

/* 1 and the match's place, 0 without one, -1 with a message. */
static int match(const pcre2_code *re, struct glossary_scratch *s, const char *text, size_t n,
                 size_t from, uint32_t flags, size_t *begin, size_t *end)
{
    int rc = pcre2_match(re, (PCRE2_SPTR)text, n, from, flags, s->match, NULL);
    if (rc == PCRE2_ERROR_NOMATCH) return 0;
    if (rc < 0) {
        char why[128];
        pcre2_get_error_message(rc, (PCRE2_UCHAR *)why, sizeof why);
        return err_set("glossary on the word \"%.*s\": %s; make the expression simpler",
                       (int)(n < 60 ? n : 60), text, why);
    }
    PCRE2_SIZE *at = pcre2_get_ovector_pointer(s->match);
    *begin = at[0];
    *end = at[1];
    return 1;
}

static void add(struct glossary_part **p, size_t *cap, size_t *n, const char *s, size_t len)
{
    if (!len) return;
    mem_room(p, cap, *n + 1, sizeof **p);
    (*p)[(*n)++] = (struct glossary_part){ s, len, false };
}

/* One part cut at the matches of expression i, as Python's re.split does since 3.7: an empty match
 * cuts too. Where the last match ended it cuts nothing, so none is looked for there. */
static int cut(const struct glossary *g, int i, struct glossary_scratch *s, const char *text,
               size_t n, size_t *count)
{
    size_t begin, end, from = 0;
    int found, whole = match(g->whole[i], s, text, n, 0, 0, &begin, &end);
    if (whole < 0) return -1;
    while (!whole) {
        found = match(g->search[i], s, text, n, from, PCRE2_NOTEMPTY_ATSTART, &begin, &end);
        if (found < 0) return -1;
        if (!found) break;
        /* \K may put a match's start after its end or before the last match */
        if (begin < from || end < begin)
            return err_set("glossary \"%s\": matches what it matched before; leave \\K out",
                           g->text[i]);
        add(&s->b, &s->b_cap, count, text + from, begin - from);
        /* as with a group around the whole in re.split: what matches is kept */
        add(&s->b, &s->b_cap, count, text + begin, end - begin);
        from = end;
    }
    add(&s->b, &s->b_cap, count, text + from, n - from);
    return 0;
}

int glossary_parts(const struct glossary *g, struct glossary_scratch *s, const char *word, size_t n,
                   const struct glossary_part **parts, size_t *count)
{
    size_t k = 0;
    add(&s->a, &s->a_cap, &k, word, n);
    for (int i = 0; i < g->n; i++) {
        size_t m = 0;
        for (size_t j = 0; j < k; j++)
            if (cut(g, i, s, s->a[j].s, s->a[j].n, &m) < 0) return -1;
        /* what one expression leaves is what the next one cuts: two lists take turns */
        struct glossary_part *p = s->a;
        size_t cap = s->a_cap;
        s->a = s->b; s->a_cap = s->b_cap;
        s->b = p; s->b_cap = cap;
        k = m;
    }
    for (size_t j = 0; j < k; j++) {
        size_t begin, end;
        int rc = match(g->any, s, s->a[j].s, s->a[j].n, 0, 0, &begin, &end);
        if (rc < 0) return -1;
        s->a[j].keep = rc > 0;
    }
    *parts = s->a;
    *count = k;
    return 0;
}
