#include "lib/raw/reader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/files/file.h"
#include "common/msg.h"
#include "lib/subword/settings.h"

const struct opt reader_rows[] = {
    { "raw", 0, OPT_FLAG(reader_options, raw), NULL,
      "read and write plain text, cut into the model's tokens and joined again by whatever "
      "tokeniser the model's folder has" },
    { "max-unknown", 0, OPT_REAL(reader_options, unknown.most), "SHARE",
      "refuse an input of which more than this share of the tokens is unknown to the model; 1: "
      "take any",
      .min = 0, .max = 1 },
    { 0 }
};

/* Does the folder have a tokeniser or codes that cut plain text? */
static bool cuts(const char *dir)
{
    struct subword_settings s;
    if (!dir) return false;
    /* a folder that cannot be read has no tokeniser: this is for advice, and others say what is
     * wrong */
    if (subword_settings_read(&s, dir) > 0 && s.kind != SUBWORD_BPE) return s.kind != SUBWORD_NONE;
    char *path = path_join(dir, RAW_SETTINGS);
    bool there = file_exists(path);
    free(path);
    return there;
}

char *reader_advice(const char *dir, bool raw)
{
    struct mem_text t;
    /* plain text that the model's own tokeniser has cut */
    if (raw) return mem_dup("its language or script may be new to the model");
    if (!cuts(dir)) return mem_dup("cut it into tokens as the model's own text was (bpe-apply)");
    mem_text_open(&t);
    fprintf(t.f, "if it is plain text, %scut it with tokenize --subwords %s",
            msg_has_option("raw") ? "pass --raw or " : "", dir);
    return mem_text_take(&t, NULL);
}

struct raw_reader *reader_open(const struct reader_options *o, const char *dir, const char *lang,
                               const struct vocab *v, const char *name)
{
    struct raw_reader *r = mem_zero(1, sizeof *r);
    r->o = o;
    r->v = v;
    r->name = mem_dup(name);
    r->advice = reader_advice(dir, o->raw);
    if (!o->raw
        || ((r->raw = raw_open(dir, lang, false)) && (r->work = raw_work_new(r->raw))))
        return r;
    reader_close(r);
    return NULL;
}

void reader_close(struct raw_reader *r)
{
    if (!r) return;
    raw_work_free(r->work);
    raw_close(r->raw);
    tbuf_free(&r->cut);
    free(r->id);
    free(r->name);
    free(r->advice);
    free(r);
}

int reader_line(struct raw_reader *r, const char *line, size_t n)
{
    if (r->raw) {
        r->cut.n = 0;
        if (raw_encode(r->raw, r->work, line, n, &r->cut) < 0) return -1;
        /* an empty buffer has no memory yet */
        line = r->cut.n ? r->cut.p : "";
        n = r->cut.n;
    }
    r->n = vocab_encode(r->v, line, n, &r->id, &r->cap);
    unknown_count(&r->unknown, r->id, r->n);
    return 0;
}

void reader_wrap(struct raw_reader *r)
{
    mem_room(&r->id, &r->cap, r->n + 2, sizeof *r->id);
    /* in place: the next line writes over it anyway */
    memmove(r->id + 1, r->id, r->n * sizeof *r->id);
    r->id[0] = VOCAB_BOS;
    r->id[r->n + 1] = VOCAB_EOS;
    r->n += 2;
}

int reader_look(struct raw_reader *r)
{
    return unknown_look(&r->unknown, &r->o->unknown, r->name, r->advice,
                        UNKNOWN_ENOUGH);
}

int reader_end(struct raw_reader *r)
{
    if (r->ended) return 0;
    r->ended = true;
    return unknown_judge(&r->unknown, &r->o->unknown, r->name, r->advice);
}
