/* The best that a model of pieces can answer: for each question of SQuAD's form, the pieces that
 * its first answer touches, as text, in the form of predictions. test/peers/oracle.sh scores them.
 *
 *     oracle LANG TOKENISER FILE.json     TOKENISER: a vocabulary of WordPiece, X.model, or a
 * folder */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/json/json.h"
#include "common/mem.h"
#include "lib/labelled/labelled.h"
#include "lib/raw/raw.h"
#include "lib/subword/offsets.h"
#include "lib/subword/subword.h"

static struct offsets_how how;
static struct raw_text *raw;
static struct subword_model *subword;
static void *work;

static int open_tokeniser(const char *path, const char *lang)
{
    size_t n = strlen(path);
    if (n > 6 && !strcmp(path + n - 6, ".model")) how.kind = SUBWORD_SENTENCEPIECE;
    else if (n > 4 && !strcmp(path + n - 4, ".txt")) how.kind = SUBWORD_WORDPIECE;
    else {
        how = (struct offsets_how){ SUBWORD_BPE, true, true };
        raw = raw_open(path, lang, false);
        work = raw ? raw_work_new(raw) : NULL;
        return raw ? 0 : -1;
    }
    subword = subword_open(path, true);
    if (!subword) return -1;
    work = subword_work_new(subword);
    return 0;
}

static int cut(const char *line, size_t n, struct tbuf *out)
{ return raw ? raw_encode(raw, work, line, n, out) : subword_line(subword, work, line, n, out); }

int main(int argc, char **argv)
{
    struct labelled_set set;
    struct labelled_options o = { .kind = LABELLED_QUESTIONS };
    struct offsets *offsets = offsets_new();
    struct tbuf out = { 0 };
    const struct piece_span *span = NULL;
    const char *context = NULL;
    size_t n = 0, first, last;
    if (argc != 4 || open_tokeniser(argv[2], argv[1]) < 0 || labelled_read(&set, argv[3], &o) < 0) {
        fprintf(stderr, "oracle: %s\n", argc == 4 ? err_msg() : "want LANG TOKENISER FILE");
        return 1;
    }
    cJSON *answers = cJSON_CreateObject();
    for (size_t i = 0; i < set.n; i++) {
        const struct labelled *q = &set.v[i];
        if (q->text[1] != context) {
            context = q->text[1];
            char *line = mem_dup(context);
            for (char *p = line; *p; p++)
                if (*p == '\n' || *p == '\r') *p = ' ';
            out.n = 0;
            if (cut(line, strlen(line), &out) < 0) return 1;
            n = offsets_align(offsets, &how, line, strlen(line), out.p, out.n, &span);
            free(line);
        }
        uint32_t from = 0, to = 0;
        const struct answer *a = &q->answer[0];
        if (offsets_pieces(span, n, (uint32_t)a->from, (uint32_t)a->to, &first, &last))
            offsets_text(span, first, last, &from, &to);
        char *text = mem_alloc(to - from + 1);
        memcpy(text, context + from, to - from);
        text[to - from] = '\0';
        cJSON_AddStringToObject(answers, q->id, text);
        free(text);
    }
    char *json = cJSON_PrintUnformatted(answers);
    puts(json);
    return 0;
}
