/* covers: lib/labelled/labelled.c lib/labelled/read_pairs.c lib/labelled/read_tags.c
 * lib/labelled/read_squad.c */
/* Any bytes at all as a file of a task, of every kind: what is accepted holds together, and what
 * strict reading accepts, reading that leaves lines out accepts too, with nothing left out but
 * answers. */
#include "lib/labelled/labelled.h"
#include "test/fuzz/fuzz.h"

static void check(const struct labelled_set *s)
{
    if (!s->n) abort();
    for (size_t i = 0; i < s->n; i++) {
        const struct labelled *e = &s->v[i];
        if (!e->id || !e->text[0] || !e->text[1] || e->label >= s->labels.n || !e->line) abort();
        for (int k = 0; k < e->words; k++)
            if (!e->word[k] || e->tag[k] >= s->labels.n) abort();
        for (int k = 0; k < e->answers; k++) {
            const struct answer *a = &e->answer[k];
            if (a->from == ANSWER_ELSEWHERE) continue;
            if (a->to - a->from != strlen(a->text)) abort();
            if (memcmp(e->text[1] + a->from, a->text, strlen(a->text))) abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static const char *const formats[] = { NULL, "conll", "xtreme-pairs", "xtreme-tags" };
    const char *path = fuzz_file(0, p, n);
    for (int way = 0; way < 10; way++) {
        struct labelled_options o = { .kind = way > 7 ? LABELLED_TAGS : LABELLED_ANY,
                                      .format = way > 7 ? NULL : formats[way % 4],
                                      .csv = way > 3, .fused = way > 3, .unlabelled = way == 9,
                                      .lang = way > 5 ? "de" : NULL };
        struct labelled_set loose, strict;
        int rc = labelled_read(&loose, path, &o);
        if (rc == 0) check(&loose);
        o.strict = true;
        if (labelled_read(&strict, path, &o) == 0) {
            check(&strict);
            if (rc < 0 || strict.n != loose.n) abort();
        }
        labelled_free(&loose);
        labelled_free(&strict);
    }
    return 0;
}
