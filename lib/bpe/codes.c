#include "lib/bpe/codes.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/text/text.h"
#include "common/utf8.h"

void codes_init(struct codes *c, enum codes_format format)
{
    *c = (struct codes){ .format = format, .version = 2 };
}

void codes_add(struct codes *c, const char *left, size_t left_n, const char *right, size_t right_n,
               uint64_t count)
{
    mem_room(&c->v, &c->cap, c->n + 1, sizeof *c->v);
    mem_room(&c->bytes, &c->bytes_cap, c->bytes_n + left_n + right_n, 1);
    memcpy(c->bytes + c->bytes_n, left, left_n);
    memcpy(c->bytes + c->bytes_n + left_n, right, right_n);
    c->v[c->n++] = (struct code){ c->bytes_n, count, (uint32_t)left_n, (uint32_t)right_n };
    c->bytes_n += left_n + right_n;
}

struct field { const char *s; size_t n; };

/* Splits at runs of spaces; returns the number of fields, of which the first `most` are stored. */
static int fields(const char *s, size_t n, struct field *f, int most)
{
    int k = 0;
    for (size_t i = 0; i < n; ) {
        while (i < n && s[i] == ' ') i++;
        size_t from = i;
        while (i < n && s[i] != ' ') i++;
        if (i == from) break;
        if (k < most) f[k] = (struct field){ s + from, i - from };
        k++;
    }
    return k;
}

static int number(struct field f, uint64_t *to)
{
    uint64_t v = 0;
    for (size_t i = 0; i < f.n; i++) {
        if (f.s[i] < '0' || f.s[i] > '9' || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(f.s[i] - '0'), &v)) return -1;
    }
    *to = v;
    return 0;
}

/* "#version: 0.2": 0.1 or 0.2, then ".0" any number of times, as subword-nmt compares versions. */
static int version(struct codes *c, const char *name, const char *s, size_t n)
{
    struct field f[2];
    int k = fields(s, n, f, 2);
    if (k == 2) {
        while (f[1].n > 3 && f[1].n % 2 == 1 && !memcmp(f[1].s + f[1].n - 2, ".0", 2)) f[1].n -= 2;
        if (f[1].n == 3 && !memcmp(f[1].s, "0.", 2) && (f[1].s[2] == '1' || f[1].s[2] == '2')) {
            c->version = f[1].s[2] - '0';
            return 0;
        }
    }
    return err_set("%s:1: \"%.*s\": expected version 0.1 or 0.2 of subword-nmt's codes", name,
                   (int)(n < 60 ? n : 60), s);
}

static bool is_version(const char *s, size_t n)
{
    return n >= 9 && !memcmp(s, "#version:", 9);
}

/* A byte order mark would hide the version line: 0.2 would be read as 0.1. Before a merge it is a
 * part of the merge's left side, a text's first word. */
static bool marked_version(const char *s, size_t n)
{
    return n >= 3 && !memcmp(s, "\xEF\xBB\xBF", 3) && is_version(s + 3, n - 3);
}

int codes_parse(struct codes *c, const char *name, const char *text, size_t n, size_t merges)
{
    unsigned long long line = 0;
    /* 3: fastBPE, 2: subword-nmt; by the first line of merges */
    int per_line = 0;
    codes_init(c, CODES_SUBWORD_NMT);
    /* subword-nmt's rule: what has no version line is 0.1; fields may say fastBPE below */
    c->version = 1;
    for (size_t at = marked_version(text, n) ? 3 : 0; at < n; ) {
        const char *s = text + at, *nl = memchr(s, '\n', n - at);
        size_t len = nl ? (size_t)(nl - s) : n - at;
        at += len + 1;
        line++;
        /* mixed in any order, as subword-nmt strips them */
        while (len && (s[len - 1] == '\r' || s[len - 1] == ' ')) len--;
        size_t good = utf8_check(s, len);
        if (good < len) {
            err_set("%s:%llu: byte %zu is not UTF-8; merge operations must be", name, line,
                    good + 1);
            goto fail;
        }
        if (line == 1 && is_version(s, len)) {
            if (version(c, name, s, len) < 0) goto fail;
            per_line = 2;
            continue;
        }
        struct field f[3];
        int k = fields(s, len, f, 3);
        uint64_t count = 0;
        /* an empty last line */
        if (k == 0 && at >= n) break;
        if (!per_line && k == 3) { c->format = CODES_FASTBPE; c->version = 2; }
        if (!per_line) per_line = k == 3 ? 3 : 2;
        if (k != per_line) {
            err_set("%s:%llu: %d fields, expected %s; is this a codes file?", name, line, k,
                    per_line == 3 ? "3 (\"left right count\")" : "2 (\"left right\")");
            goto fail;
        }
        if (k == 3 && number(f[2], &count) < 0) {
            err_set("%s:%llu: \"%.*s\" is not a count; expected \"left right count\"", name, line,
                    (int)(f[2].n < 40 ? f[2].n : 40), f[2].s);
            goto fail;
        }
        if (memchr(s, 0, len)) {
            err_set("%s:%llu: a NUL byte; is this a codes file?", name, line);
            goto fail;
        }
        /* no symbol of a text is as long: this is another kind of file */
        if (f[0].n + f[1].n > UINT16_MAX) {
            err_set("%s:%llu: a symbol of %zu bytes; is this a codes file?", name, line,
                    f[0].n + f[1].n);
            goto fail;
        }
        /* the rest is still checked */
        if (merges && c->n == merges) continue;
        if (c->n == CODES_MAX) {
            err_set("%s:%llu: more than %d merge operations; use --merges", name, line, CODES_MAX);
            goto fail;
        }
        codes_add(c, f[0].s, f[0].n, f[1].s, f[1].n, count);
    }
    if (c->n) return 0;
    err_set("%s: holds no merge operation; make codes with bpe-learn", name);
fail:
    codes_free(c);
    return -1;
}

int codes_read(struct codes *c, const char *path, size_t merges)
{
    /* raw: codes_parse looks at the bytes itself, and names the line */
    struct text *in = text_open(path, TEXT_RAW | TEXT_SUM);
    if (!in) return -1;
    char *text = NULL, *part = NULL;
    size_t cap = 0, part_cap = 0, n = 0, k;
    int rc;
    while ((rc = text_block(in, 1 << 20, &part, &part_cap, &k)) > 0) {
        if (n + k > (size_t)1 << 30) {
            rc = err_set("%s: more than 1 GiB of merge operations; is this a codes file?",
                         text_name(in));
            break;
        }
        mem_room(&text, &cap, n + k, 1);
        memcpy(text + n, part, k);
        n += k;
    }
    if (rc == 0) rc = codes_parse(c, text_name(in), text ? text : "", n, merges);
    free(text);
    free(part);
    text_close(in);
    return rc;
}

void codes_write(const struct codes *c, enum codes_format format, FILE *f)
{
    bool header = format == CODES_SUBWORD_NMT && c->version == 2;
    if (header) fputs("#version: 0.2\n", f);
    for (size_t i = 0; i < c->n; i++) {
        const struct code *m = &c->v[i];
        const char *left = c->bytes + m->at;
        /* A first merge that looks like the version line begins with a space, so that it reads back
         * as a merge. */
        if (i == 0 && !header && (is_version(left, m->left) || marked_version(left, m->left)))
            putc(' ', f);
        fwrite(c->bytes + m->at, 1, m->left, f);
        putc(' ', f);
        fwrite(c->bytes + m->at + m->left, 1, m->right, f);
        if (format == CODES_FASTBPE) fprintf(f, " %" PRIu64, m->count);
        putc('\n', f);
    }
}

void codes_free(struct codes *c)
{
    free(c->v);
    free(c->bytes);
    memset(c, 0, sizeof *c);
}
