/* Lines for a model, in its tokens or (--raw) as plain text, as ids of its vocabulary. One door for
 * every program that reads them, so that each takes whatever tokeniser the folder has, and says
 * what share of the tokens the model does not know (common/prog/unknown.h).
 *
 *   struct raw_reader *r = reader_open(&how, dir, lang, vocab, name);
 *   ... reader_line(r, line, n) per line: r->id [r->n] ...
 *   reader_look(r) between parts of a stream, before a part is used
 *   reader_end(r) at its end, before the last part is used */
#ifndef RAW_READER_H
#define RAW_READER_H
#include "common/prog/unknown.h"
#include "common/text/vocab.h"
#include "lib/raw/raw.h"

struct reader_options { bool raw; struct unknown_options unknown; };
static const struct reader_options reader_defaults = { .unknown = { .most = 0.2 } };
/* --raw, --max-unknown */
extern const struct opt reader_rows[];

struct raw_reader {
    uint32_t *id;                    /* [n] of the line read last */
    size_t n, cap;
    struct raw_text *raw;            /* NULL: lines are tokens */
    struct raw_work *work;
    struct tbuf cut;
    const struct vocab *v;
    struct unknown unknown;
    bool ended;
    const struct reader_options *o;
    char *name, *advice;
};

/* dir: the model's folder, or NULL where there is none: lines are tokens then. name: the input, for
 * messages. NULL with a message. */
struct raw_reader *reader_open(const struct reader_options *o, const char *dir, const char *lang,
                               const struct vocab *v, const char *name);
void reader_close(struct raw_reader *r);                                  /* NULL is fine */
/* The ids of one line, without specials. 0, or -1 with a message. */
int reader_line(struct raw_reader *r, const char *line, size_t n);
/* Puts <s> and </s> around them. */
void reader_wrap(struct raw_reader *r);
/* unknown_look, and unknown_judge (once) of what was read. */
int reader_look(struct raw_reader *r);
int reader_end(struct raw_reader *r);

/* What to do where many tokens of an input are unknown; dir as above; raw: it was read as plain
 * text. malloc'd. */
char *reader_advice(const char *dir, bool raw);

#endif
