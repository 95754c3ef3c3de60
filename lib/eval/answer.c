#include "lib/eval/answer.h"
#include <stdlib.h>
#include <string.h>
#include <unicode/uchar.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/utf8.h"

static const char *const english[] = { "a", "an", "the", NULL };
static const char *const spanish[] = {
    "un", "una", "unos", "unas", "el", "la", "los", "las", NULL
};
static const char *const german[] = { "ein", "eine", "einen", "einem", "eines", "einer", "der",
                                      "die", "das",  "den",   "dem",   "des",   NULL };
static const char *const vietnamese[] = { "của", "là", "cái", "chiếc", "những", NULL };

int answer_judge(struct answer_judge *j, enum answer_rules rules, const char *lang)
{
    static const struct { const char *lang; const char *const *articles;
    } mlqa[] = {
        { "ar", NULL }, { "de", german },     { "en", english }, { "es", spanish },
        { "hi", NULL }, { "vi", vietnamese }, { "zh", NULL },
    };
    *j = (struct answer_judge){ .rules = rules, .articles = english };
    if (rules != ANSWER_MLQA) return 0;
    for (size_t i = 0; i < sizeof mlqa / sizeof *mlqa; i++)
        if (lang && !strcmp(lang, mlqa[i].lang)) {
            j->articles = mlqa[i].articles;
            j->al = !strcmp(lang, "ar");
            j->chinese = !strcmp(lang, "zh");
            return 0;
        }
    return err_set("MLQA's script has no rules for the language '%s': give the contexts' language "
                   "as LANG=FILE, one of "
                   "ar de en es hi vi zh",
                   lang ? lang : "");
}

/* Python's string.punctuation is all of ASCII's: categories P* and S*. */
static bool is_punctuation(const struct answer_judge *j, uint32_t c)
{
    if (c < 128)
        return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96)
               || (c >= 123 && c <= 126);
    return j->rules == ANSWER_MLQA && (U_GET_GC_MASK((UChar32)c) & U_GC_P_MASK);
}

/* Python's \w: a letter, a number of any kind, or "_"; marks are none. Text is in lower case. */
static bool is_word(uint32_t c)
{
    if (c < 128) return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    return (U_GET_GC_MASK((UChar32)c) & U_GC_L_MASK)
        || u_getIntPropertyValue((UChar32)c, UCHAR_NUMERIC_TYPE) != U_NT_NONE;
}

static void remove_punctuation(const struct answer_judge *j, struct bytes *b)
{
    size_t to = 0;
    int len;
    for (size_t i = 0; i < b->n; i += (size_t)len) {
        uint32_t c = utf8_get(b->v + i, b->n - i, &len);
        if (is_punctuation(j, c)) continue;
        memmove(b->v + to, b->v + i, (size_t)len);
        to += (size_t)len;
    }
    b->n = to;
}

static bool is_article(const struct answer_judge *j, const char *s, size_t n)
{
    for (const char *const *a = j->articles; a && *a; a++)
        if (strlen(*a) == n && !memcmp(*a, s, n)) return true;
    return false;
}

/* \b(a|an|the)\b: an article between characters that are no word characters is a whole run of word
 * characters. */
static void remove_articles(const struct answer_judge *j, struct bytes *b)
{
    size_t to = 0;
    int len;
    for (size_t i = 0, end; i < b->n; i = end) {
        bool word = is_word(utf8_get(b->v + i, b->n - i, &len));
        for (end = i + (size_t)len; end < b->n; end += (size_t)len)
            if (is_word(utf8_get(b->v + end, b->n - end, &len)) != word) break;
        /* re.sub(..., ' '), which splitting then drops */
        if (word && is_article(j, b->v + i, end - i)) { b->v[to++] = ' '; continue; }
        memmove(b->v + to, b->v + i, end - i);
        to += end - i;
    }
    b->n = to;
}

/* Spaces around every Chinese character, as MLQA's script has them: U+4E00 to U+9FA5. */
static void set_apart(struct answer_tokens *t)
{
    struct bytes *out = &t->room;
    int len;
    mem_room(&out->v, &out->cap, 2 * t->text.n + 1, 1); /* 3 bytes of a character become 5 */
    out->n = 0;
    for (size_t i = 0; i < t->text.n; i += (size_t)len) {
        uint32_t c = utf8_get(t->text.v + i, t->text.n - i, &len);
        bool spaced = c >= 0x4E00 && c <= 0x9FA5;
        if (spaced) out->v[out->n++] = ' ';
        memcpy(out->v + out->n, t->text.v + i, (size_t)len);
        out->n += (size_t)len;
        if (spaced) out->v[out->n++] = ' ';
    }
    split_unicode(&t->token, out->v, out->n);
}

void answer_tokenise(const struct answer_judge *j, const char *text, struct answer_tokens *t)
{
    /* the script's order: articles are looked for when punctuation is gone, so "the." is one */
    score_lower(text, strlen(text), &t->text);
    remove_punctuation(j, &t->text);
    if (j->al) t->text.n = bytes_replace(t->text.v, t->text.n, "\u0627\u0644", " ");
    else remove_articles(j, &t->text);
    if (j->chinese) set_apart(t);
    else split_unicode(&t->token, t->text.n ? t->text.v : "", t->text.n);
}

void answer_free(struct answer_tokens *t)
{
    free(t->token.v);
    free(t->text.v);
    free(t->room.v);
}

bool answer_exact(const struct answer_tokens *a, const struct answer_tokens *b)
{
    if (a->token.n != b->token.n) return false;
    for (size_t i = 0; i < a->token.n; i++)
        if (a->token.v[i].n != b->token.v[i].n
            || memcmp(a->token.v[i].p, b->token.v[i].p, a->token.v[i].n))
            return false;
    return true;
}

static int by_bytes(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    size_t n = x->n < y->n ? x->n : y->n;
    int c = n ? memcmp(x->p, y->p, n) : 0;
    return c ? c : (x->n > y->n) - (x->n < y->n);
}

double answer_f1(const struct answer_judge *j, struct answer_tokens *predicted,
                 struct answer_tokens *gold)
{
    struct token_spans *p = &predicted->token, *g = &gold->token;
    /* SQuAD 2.0's script: no answer where there is none is right, and any other is wrong */
    if (j->rules == ANSWER_SQUAD2 && (!p->n || !g->n)) return !p->n && !g->n;
    /* sorted in place, so that one walk counts what they share; answer_exact, which minds the
     * order, has been asked before */
    if (p->n) qsort(p->v, p->n, sizeof *p->v, by_bytes);
    if (g->n) qsort(g->v, g->n, sizeof *g->v, by_bytes);
    /* as multisets (Python's Counter): a word counts as often as both have it */
    size_t same = 0;
    for (size_t i = 0, k = 0; i < p->n && k < g->n; ) {
        int c = by_bytes(&p->v[i], &g->v[k]);
        if (c == 0) { same++; i++; k++; }
        else if (c < 0) i++;
        else k++;
    }
    if (!same) return 0;
    double precision = (double)same / (double)p->n, recall = (double)same / (double)g->n;
    return 2 * precision * recall / (precision + recall);
}
