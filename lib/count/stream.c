#include "lib/count/stream.h"

static int file_next(struct stream *s) { return cooc_cursor_next(&s->file, &s->pairs); }

void stream_of_file(struct stream *s, const struct cooc *c, int plane, uint32_t first,
                    uint32_t last)
{
    s->i = s->pairs.n = 0;
    s->next = file_next;
    cooc_cursor_rows(&s->file, c, plane, first, last);
}

/* Adds what the stream has of this row. The stream's next row (UINT32_MAX at its end) or -1. */
static int64_t take(struct stream *s, uint32_t row, struct row_sum *r)
{
    for (;;) {
        while (s->i < s->pairs.n && s->pairs.row[s->i] == row) {
            row_add(r, s->pairs.col[s->i], s->pairs.count[s->i]);
            s->i++;
        }
        if (s->i < s->pairs.n) return s->pairs.row[s->i];
        s->i = 0;
        int rc = s->next(s);
        if (rc < 0) return -1;
        /* an id is below it: no row */
        if (rc == 0) { s->pairs.n = 0; return UINT32_MAX; }
    }
}

int streams_make(struct stream *s, size_t n, uint32_t group, uint32_t ids, struct row_sum *r,
                 struct groups *g, struct blocks *b)
{
    /* row 0 has no pair: the first turn fills every stream */
    uint64_t last = group_first(group + 1), row = 0;
    if (last > ids) last = ids;
    do {
        int64_t least = UINT32_MAX;
        for (size_t k = 0; k < n; k++) {
            int64_t next = s[k].pairs.n && s[k].pairs.row[s[k].i] != row
                               ? s[k].pairs.row[s[k].i]
                               : take(&s[k], (uint32_t)row, r);
            if (next < 0) return -1;
            if (next < least) least = next;
        }
        if (row && (row_sum_put(r, (uint32_t)row, b, g) < 0 || groups_room(g, b) < 0)) return -1;
        row = (uint64_t)least;
    } while (row < last);
    return 0;
}
