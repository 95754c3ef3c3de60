/* covers: lib/labelled/read_squad.c common/json/json.c */
/* Any text as a file of questions: answers are where they say, or known to be elsewhere. */
#include "lib/labelled/labelled.h"
#include "test/fuzz/fuzz.h"

static void check(const struct labelled_set *s)
{
    expect(s->n > 0);
    for (size_t i = 0; i < s->n; i++) {
        const struct labelled *e = &s->v[i];
        expect(e->id && e->text[0] && e->text[1] && e->answers >= 0);
        for (int k = 0; k < e->answers; k++) {
            const struct answer *a = &e->answer[k];
            if (a->from == ANSWER_ELSEWHERE) continue;
            expect(a->to <= strlen(e->text[1]) && a->to - a->from == strlen(a->text));
            expect(!memcmp(e->text[1] + a->from, a->text, strlen(a->text)));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    const char *path = fuzz_file(0, p, n);
    for (int strict = 0; strict < 2; strict++) {
        struct labelled_options o = { .kind = LABELLED_QUESTIONS, .format = "squad",
                                      .strict = strict };
        struct labelled_set s;
        if (labelled_read(&s, path, &o) == 0) check(&s);
        labelled_free(&s);
    }
    return 0;
}
