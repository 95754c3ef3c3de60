#include "lib/cooc/skip.h"
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/text/vocab.h"
#include "common/utf8.h"

struct token { const char *s; size_t n; };

static int by_bytes(const void *a, const void *b)
{
    const struct token *x = a, *y = b;
    int c = memcmp(x->s, y->s, x->n < y->n ? x->n : y->n);
    return c ? c : (x->n > y->n) - (x->n < y->n);
}

static int check(const char *option, const char *s, size_t n, const char *value)
{
    if (!n)
        return err_set("%s: an empty token in \"%s\"; separate tokens with single commas", option,
                       value);
    for (size_t i = 0; i < n; i++)
        if (s[i] == ' ' || s[i] == '\t' || s[i] == '\n')
            return err_set(
                "%s: a token of \"%s\" has white space in it; separate tokens with single commas",
                option, value);
    return utf8_check(s, n) == n ? 0 : err_set("%s: a token that is not UTF-8; run iconv", option);
}

int cooc_skip_make(struct cooc_skip *s, const char *const *value, int n, const char *option)
{
    struct token *t = NULL;
    size_t tokens = 0, cap = 0, size = 0;
    int rc = 0;
    *s = (struct cooc_skip){ 0 };
    for (int i = 0; i < n && rc == 0; i++) {
        /* a comma alone is the token "," */
        bool comma = !strcmp(value[i], ",");
        for (const char *p = value[i]; p && rc == 0; ) {
            size_t len = comma ? 1 : strcspn(p, ",");
            if ((rc = check(option, p, len, value[i])) < 0) break;
            mem_room(&t, &cap, tokens + 1, sizeof *t);
            t[tokens++] = (struct token){ p, len };
            size += len + 1;
            p = comma || !p[len] ? NULL : p + len + 1;
        }
    }
    if (rc == 0) {
        /* Sorted and without repetitions: equal lists are equal bytes, so files compare them as
         * such. */
        if (tokens) qsort(t, tokens, sizeof *t, by_bytes);
        s->text = mem_alloc(size + 1);
        for (size_t i = 0; i < tokens; i++) {
            if (i && !by_bytes(&t[i - 1], &t[i])) continue;
            memcpy(s->text + s->size, t[i].s, t[i].n);
            s->size += t[i].n;
            s->text[s->size++] = '\n';
        }
        s->text[s->size] = 0;
    }
    free(t);
    return rc;
}

void cooc_skip_free(struct cooc_skip *s)
{
    free(s->text);
    *s = (struct cooc_skip){ 0 };
}

/* The token at *at, which moves past it; false at the end or where no "\n" follows. */
static bool next(const char *text, size_t size, size_t *at, struct token *t)
{
    const char *nl = *at < size ? memchr(text + *at, '\n', size - *at) : NULL;
    if (!nl) return false;
    *t = (struct token){ text + *at, (size_t)(nl - text) - *at };
    *at += t->n + 1;
    return true;
}

bool cooc_skip_valid(const char *text, size_t size)
{
    struct token last = { 0 }, t;
    size_t at = 0;
    for (bool first = true; next(text, size, &at, &t); last = t, first = false) {
        if (!t.n || memchr(t.s, 0, t.n) || memchr(t.s, ' ', t.n) || memchr(t.s, '\t', t.n))
            return false;
        if (utf8_check(t.s, t.n) < t.n || (!first && by_bytes(&last, &t) >= 0)) return false;
    }
    return at == size;
}

bool cooc_skip_has(const char *text, size_t size, const char *token, size_t n)
{
    struct token t;
    for (size_t at = 0; next(text, size, &at, &t); )
        if (t.n == n && !memcmp(t.s, token, n)) return true;
    return false;
}

bool *cooc_skip_ids(const char *text, size_t size, const struct vocab *v)
{
    if (!size) return NULL;
    bool *skipped = mem_zero(v->n, sizeof *skipped);
    struct token t;
    for (size_t at = 0; next(text, size, &at, &t); ) {
        uint32_t id = vocab_id(v, t.s, t.n);
        /* of a token that the vocabulary lacks there is no id; lib/count/count.c has it apart */
        if (id >= VOCAB_SPECIALS) skipped[id] = true;
    }
    return skipped;
}

const char *cooc_skip_show(const char *text, size_t size, char *to, size_t cap)
{
    size_t n = size ? size - 1 : 0;
    if (!n) text = "nothing";
    n = n ? n : strlen(text);
    if (n > cap - 1) n = cap - 1;
    while (n && ((unsigned char)text[n] & 0xC0) == 0x80) n--;       /* no half of a character */
    for (size_t i = 0; i < n; i++) to[i] = text[i] == '\n' ? ',' : text[i];
    to[n] = 0;
    return to;
}
