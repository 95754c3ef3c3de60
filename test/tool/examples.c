/* examples [--csv | --fused] KIND FILE: labelled text as its reader has it when it is gold
 * (lib/labelled/labelled.h), where a file has several languages the rows of de:
 *   pairs, parallel   label, two sentences and relatedness (where there is one), tabs between
 *   lines             the label
 *   tagged            word and tag, a blank line after each sentence
 *   questions         id, question, context, then an answer and the code point where it stands
 *                     (-: elsewhere) for each */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "common/err.h"
#include "lib/labelled/labelled.h"

static const char *label(const struct labelled_set *s, int i)
{
    return i < 0 ? "-" : s->labels.v[i];
}

static size_t code_points(const char *s, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++) n += ((unsigned char)s[i] & 0xC0) != 0x80;
    return n;
}

static void print_words(const struct labelled_set *s, const struct labelled *e)
{
    for (int i = 0; i < e->words; i++) printf("%s\t%s\n", e->word[i], label(s, e->tag[i]));
    putchar('\n');
}

static void print_question(const struct labelled *e)
{
    printf("%s\t%s\t%s", e->id, e->text[0], e->text[1]);
    for (int i = 0; i < e->answers; i++) {
        const struct answer *a = &e->answer[i];
        if (a->from == ANSWER_ELSEWHERE) printf("\t%s\t-", a->text);
        else printf("\t%s\t%zu", a->text, code_points(e->text[1], a->from));
    }
    putchar('\n');
}

static void print_pair(const struct labelled_set *s, const struct labelled *e)
{
    if (s->kind == LABELLED_PAIRS) printf("%s\t", label(s, e->label));
    printf("%s\t%s", e->text[0], e->text[1]);
    if (!isnan(e->score)) printf("\t%.9g", e->score);
    putchar('\n');
}

int main(int argc, char **argv)
{
    struct labelled_options o = { .lang = "de", .strict = true };
    struct labelled_set s;
    int at = 1;
    if (argc > at && !strcmp(argv[at], "--csv")) o.csv = true, at++;
    if (argc > at && !strcmp(argv[at], "--fused")) o.fused = true, at++;
    if (argc != at + 2)
        return fputs("usage: examples [--csv | --fused] KIND FILE\n", stderr), 2;
    o.kind = !strcmp(argv[at], "tagged")      ? LABELLED_TAGS
             : !strcmp(argv[at], "questions") ? LABELLED_QUESTIONS
             : !strcmp(argv[at], "parallel")  ? LABELLED_PARALLEL
                                              : LABELLED_ANY;
    if (labelled_read(&s, argv[at + 1], &o) < 0)
        return fprintf(stderr, "examples: %s\n", err_msg()), labelled_free(&s), 1;
    for (size_t i = 0; i < s.n; i++) {
        if (s.kind == LABELLED_TAGS) print_words(&s, &s.v[i]);
        else if (s.kind == LABELLED_QUESTIONS) print_question(&s.v[i]);
        else if (s.kind == LABELLED_LINES) puts(label(&s, s.v[i].label));
        else print_pair(&s, &s.v[i]);
    }
    labelled_free(&s);
    return 0;
}
