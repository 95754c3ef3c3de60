#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>
#include "common/err.h"
#include "common/files/foreign.h"
#include "common/files/io.h"
#include "common/mem.h"
#include "lib/cooc/pairs.h"
#include "lib/cooc/skip.h"

static int bad(const struct cooc *c, uint64_t at, const char *what)
{
    return err_set("%s: byte %" PRIu64 ": %s; the file is corrupt or cut short, make it again",
                   c->path, at, what);
}

/* Where fuzzing is built, checksums are not compared, so that fuzzing reaches what they guard. */
static bool differs(uint64_t a, uint64_t b)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    (void)a; (void)b;
    return false;
#else
    return a != b;
#endif
}

static int zeros(const struct cooc *c, uint64_t from, uint64_t to)
{
    /* A flipped bit in padding would be in no checksum: every byte of the file has one value. */
    for (uint64_t i = from; i < to; i++)
        if (c->p[i]) return bad(c, i, "padding that is not zero");
    return 0;
}

static bool text_ok(const char *s, size_t n)      /* a language: NUL-padded, NUL-ended */
{
    size_t len = strnlen(s, n);
    if (len == n) return false;
    for (size_t i = 0; i < n; i++)
        if (i < len ? (unsigned char)s[i] <= ' ' || s[i] == 0x7F : s[i] != 0) return false;
    return true;
}

/* The tokens that counting passed over, after the vocabulary (version 2). */
static int read_skip(struct cooc *c)
{
    uint64_t at = HEADER_BYTES + c->tokens_size;
    c->skip = c->tokens + c->tokens_size;
    c->skip_size = get64(c->p + 64);
    if (c->skip_size == 0 || c->skip_size > c->n - FOOTER_BYTES - at)
        return bad(c, 64, "an impossible list of skipped tokens");
    if (differs(get64(c->p + 56), XXH3_64bits(c->skip, c->skip_size)))
        return bad(c, at, "the checksum of the skipped tokens is wrong");
    return cooc_skip_valid(c->skip, c->skip_size)
               ? 0
               : bad(c, at, "the skipped tokens are not a sorted list");
}

static int read_header(struct cooc *c)
{
    const unsigned char *p = c->p;
    if (c->n >= 8 && memcmp(p, COOC_MAGIC, 8) != 0)
        return foreign_refuse(c->path, p, c->n, "a .cooc file (cooc-count makes them)") < 0
                   ? -1
                   : err_set("%s: byte 0: is not a .cooc file (cooc-count makes them)", c->path);
    /* before any field is read: all are within these bytes */
    if (c->n < HEADER_BYTES + FOOTER_BYTES)
        return c->n < 8 ? err_set("%s: is not a .cooc file (cooc-count makes them)", c->path)
                        : bad(c, c->n, "the file ends within its header");
    uint32_t version = get32(p + 8);
    if (version != FORMAT_WITHOUT_SKIP && version != FORMAT_VERSION)
        return err_set("%s: byte 8: .cooc version %u, this program reads up to %d", c->path,
                       version, FORMAT_VERSION);
    /* The end before the checksums: a file that was cut short is the likeliest fault, and this
     * names it. */
    if (memcmp(p + c->n - 8, COOC_END, 8) != 0) return bad(c, c->n - 8, "no footer");
    if (differs(get64(p + 120), XXH3_64bits(p, 120)))
        return bad(c, 120, "the header's checksum is wrong");
    c->ids = get32(p + 32);
    c->vocab_hash = get64(p + 40);
    c->tokens_size = get64(p + 48);
    if (get32(p + 12) != HEADER_BYTES || get32(p + 36) != COOC_BLOCK || c->ids < VOCAB_SPECIALS
        || p[20] > COOC_FLAT || p[21] > COOC_RIGHT || p[22] > COOC_GAP + 1 || p[23])
        return bad(c, 8, "the header is inconsistent");
    if (cooc_scheme_init(&c->scheme, get32(p + 16), p[20], p[21], p[22]) < 0)
        return bad(c, 16, "an impossible window");
    /* Values are counts / unit: another unit would scale all of them without a trace. */
    if (get64(p + 24) != c->scheme.unit)
        return bad(c, 24, "the unit does not match the window and weights");
    if (zeros(c, version == FORMAT_VERSION ? 72 : 56, 120) < 0) return -1;
    if (c->tokens_size > c->n - HEADER_BYTES - FOOTER_BYTES)
        return bad(c, 48, "the vocabulary is longer than the file");
    c->tokens = (const char *)p + HEADER_BYTES;
    uint32_t lines = 0;
    for (const char *s = c->tokens, *e = s + c->tokens_size; s < e; lines++) {
        const char *nl = memchr(s, '\n', (size_t)(e - s));
        if (!nl || nl == s)
            return bad(c, HEADER_BYTES + (uint64_t)(s - c->tokens),
                       "an unterminated or empty token");
        if (memchr(s, 0, (size_t)(nl - s)))
            return bad(c, HEADER_BYTES + (uint64_t)(s - c->tokens), "a token with a NUL byte");
        if (lines == UINT32_MAX - VOCAB_SPECIALS) return bad(c, HEADER_BYTES, "too many tokens");
        s = nl + 1;
    }
    if (lines + VOCAB_SPECIALS != c->ids)
        return bad(c, 32, "the number of tokens does not match the vocabulary");
    if (differs(c->vocab_hash, XXH3_64bits(c->tokens, c->tokens_size)))
        return bad(c, HEADER_BYTES, "the vocabulary's checksum is wrong");
    return version == FORMAT_VERSION ? read_skip(c) : 0;
}

/* One directory entry; *end is where what is known of the file ends so far. */
static int read_plane(struct cooc *c, struct cooc_plane *pl, uint64_t at, uint64_t limit,
                      uint64_t *end)
{
    const unsigned char *e = c->p + at;
    struct cooc_totals *t = &pl->total;
    memcpy(t->lang, e, COOC_LANG);
    if (!text_ok(t->lang, COOC_LANG)) return bad(c, at, "a language's name is malformed");
    uint64_t f[16];
    for (int i = 0; i < 16; i++) f[i] = get64(e + COOC_LANG + 8 * i);
    t->sentences = f[0];
    t->tokens = f[1];
    t->unknown = f[2];
    t->pairs = f[3];
    t->rows = f[4];
    t->max = f[5];
    t->mass = (unsigned __int128)f[7] << 64 | f[6];
    uint64_t data_at = f[8], data_size = f[9], index_at = f[10], blocks = f[11], words_at = f[13],
             words_size = f[14];
    if (t->unknown > t->tokens || t->rows > t->pairs || t->rows > c->ids || t->max > COOC_MAX_COUNT)
        return bad(c, at, "impossible totals");
    /* Sections must follow one another without a gap: no byte of the file is outside all
     * checksums. Limits are compared by subtraction: a sum of damaged numbers could wrap. */
    if (data_at != (*end + 7) / 8 * 8 || data_at > limit || data_size > limit - data_at
        || zeros(c, *end, data_at) < 0)
        return bad(c, at, "the counts are not where they should be");
    *end = data_at + data_size;
    if (index_at != (*end + 7) / 8 * 8 || index_at > limit
        || blocks > (limit - index_at) / INDEX_ENTRY || zeros(c, *end, index_at) < 0)
        return bad(c, at, "the index is not where it should be");
    *end = index_at + blocks * INDEX_ENTRY;
    if (words_at != *end || words_size > limit - words_at)
        return bad(c, at, "the token counts are not where they should be");
    *end = words_at + words_size;
    pl->data = c->p + data_at;
    pl->data_size = data_size;
    pl->index = c->p + index_at;
    pl->blocks = blocks;
    pl->words = c->p + words_at;
    pl->words_size = words_size;
    if (differs(f[12], XXH3_64bits(pl->index, blocks * INDEX_ENTRY)))
        return bad(c, index_at, "the index's checksum is wrong");
    if (differs(f[15], XXH3_64bits(pl->words, words_size)))
        return bad(c, words_at, "the token counts' checksum is wrong");
    /* The index is trusted by every look-up, which searches it by halves and reads the block it
     * names: order, bounds and sums are checked here once. */
    uint64_t next = 0, pairs = 0;
    for (uint64_t i = 0; i < blocks; i++) {
        struct cooc_block b = index_get(pl->index + i * INDEX_ENTRY);
        /* more than COOC_BLOCK would run over struct cooc_pairs */
        if (b.at != next || b.pairs < 1 || b.pairs > COOC_BLOCK || b.bytes > data_size - next
            || b.row < VOCAB_SPECIALS || b.row >= c->ids || b.col < VOCAB_SPECIALS
            || b.col >= c->ids || (c->scheme.sides == COOC_SYMMETRIC && b.col < b.row))
            return bad(c, index_at + i * INDEX_ENTRY, "an impossible index entry");
        if (i > 0) {
            struct cooc_block a = index_get(pl->index + (i - 1) * INDEX_ENTRY);
            if (b.row < a.row || (b.row == a.row && b.col <= a.col))
                return bad(c, index_at + i * INDEX_ENTRY, "index entries out of order");
        }
        next += b.bytes;
        pairs += b.pairs;
    }
    if (next != data_size || pairs != t->pairs)
        return bad(c, index_at, "the index does not cover the counts");
    return 0;
}

static int read_all(struct cooc *c)
{
    if (read_header(c) < 0) return -1;
    const unsigned char *f = c->p + c->n - FOOTER_BYTES;
    uint64_t directory = get64(f), planes = get32(f + 8);
    if (directory > c->n - FOOTER_BYTES
        || (c->n - FOOTER_BYTES - directory) != planes * DIRECTORY_ENTRY || get32(f + 12))
        return bad(c, c->n - FOOTER_BYTES, "the directory is not where it should be");
    XXH3_state_t h;
    XXH3_64bits_reset(&h);
    XXH3_64bits_update(&h, c->p + directory, planes * DIRECTORY_ENTRY);
    XXH3_64bits_update(&h, f, 48);
    uint64_t hash = XXH3_64bits_digest(&h);
    if (differs(hash, get64(f + 48))) return bad(c, directory, "the directory's checksum is wrong");
    memcpy(c->ref, f + 16, COOC_LANG);
    if (!text_ok(c->ref, COOC_LANG))
        return bad(c, c->n - FOOTER_BYTES + 16, "the reference language's name is malformed");
    c->plane = mem_zero(planes ? planes : 1, sizeof *c->plane);
    uint64_t end = HEADER_BYTES + c->tokens_size + c->skip_size;
    for (uint64_t i = 0; i < planes; i++, c->planes++) {
        if (read_plane(c, &c->plane[i], directory + i * DIRECTORY_ENTRY, directory, &end) < 0)
            return -1;
        /* cooc-merge writes planes in this order, and no language twice */
        if (i > 0 && strcmp(c->plane[i - 1].total.lang, c->plane[i].total.lang) >= 0)
            return bad(c, directory + i * DIRECTORY_ENTRY, "languages out of order");
    }
    if ((end + 7) / 8 * 8 != directory || zeros(c, end, directory) < 0)
        return bad(c, directory, "bytes that nothing accounts for");
    return 0;
}

struct cooc *cooc_open_memory(const void *p, size_t n, const char *name)
{
    struct cooc *c = mem_zero(1, sizeof *c);
    c->path = mem_dup(name);
    c->p = p;
    c->n = n;
    if (read_all(c) == 0) return c;
    cooc_close(c);
    return NULL;
}

/* Something that cannot be mapped, copied to a temporary file that has no name any more. */
static int spool(struct map *m, const char *path)
{
    FILE *in = io_stream(path, NULL), *tmp = in ? tmp_open(NULL) : NULL;
    int rc = in ? 0 : err_sys("%s: cannot open", path);
    if (in && !tmp) rc = -1;
    /* on the stack: threads may open pipes side by side (lib/api/isoglot.h) */
    char buf[1 << 16];
    uint64_t n = 0;
    while (rc == 0) {
        size_t k = fread(buf, 1, sizeof buf, in);
        if (k == 0) break;
        if (fwrite(buf, 1, k, tmp) != k) rc = err_sys("TMPDIR: cannot write a temporary file");
        n += k;
    }
    if (rc == 0 && ferror(in)) rc = err_sys("%s: cannot read", path);
    if (rc == 0 && fflush(tmp) != 0) rc = err_sys("TMPDIR: cannot write a temporary file");
    if (rc == 0 && n) {
        void *p = mmap(NULL, n, PROT_READ, MAP_SHARED, fileno(tmp), 0);
        if (p == MAP_FAILED) rc = err_sys("%s: cannot map into memory", path);
        else {
            *m = (struct map){ p, n };
            map_watch(p, n, path);
        }
    }
    /* the mapping keeps the file, which has no name */
    if (tmp) fclose(tmp);
    if (in) fclose(in);
    return rc;
}

struct cooc *cooc_open(const char *path)
{
    struct stat st;
    struct map m = { (const unsigned char *)"", 0 };
    bool pipe = !strcmp(path, "-")
                || (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
    if ((pipe ? spool(&m, path) : map_open(&m, path)) < 0) return NULL;
    struct cooc *c = mem_zero(1, sizeof *c);
    c->path = mem_dup(!strcmp(path, "-") ? "standard input" : path);
    c->map = m;
    c->p = m.p;
    c->n = m.n;
    if (read_all(c) == 0) {
        cooc_forget(c);        /* the indexes were read to be checked */
        return c;
    }
    cooc_close(c);
    return NULL;
}

void cooc_close(struct cooc *c)
{
    if (!c) return;
    map_close(&c->map);
    free(c->plane);
    free(c->path);
    free(c);
}

int cooc_plane_find(const struct cooc *c, const char *lang)
{
    for (int i = 0; i < c->planes; i++)
        if (!strcmp(c->plane[i].total.lang, lang)) return i;
    return -1;
}

int cooc_word_counts(const struct cooc *c, int plane, uint64_t *count)
{
    const struct cooc_plane *pl = &c->plane[plane];
    const unsigned char *p = pl->words, *end = p + pl->words_size;
    for (uint32_t id = VOCAB_SPECIALS; id < c->ids; id++) {
        uint64_t v;
        const unsigned char *q = varint_get(p, end, &v);
        if (!q) return bad(c, (uint64_t)(p - c->p), "a token's count is malformed");
        /* added to what is there: languages of one file are summed into one array */
        if (__builtin_add_overflow(count[id], v, &count[id]))
            return bad(c, (uint64_t)(p - c->p), "token counts above 2^64");
        p = q;
    }
    return p == end ? 0 : bad(c, (uint64_t)(p - c->p), "token counts that belong to no token");
}

struct vocab *cooc_vocab(const struct cooc *c)
{
    uint32_t n = c->ids - VOCAB_SPECIALS;
    /* vocab_make wants strings, and the file is mapped to be read only; each ends with a newline */
    char *copy = mem_alloc(c->tokens_size);
    memcpy(copy, c->tokens, c->tokens_size);
    const char **token = mem_alloc((size_t)n * sizeof *token);
    char *s = copy;
    for (uint32_t i = 0; i < n; i++) {
        token[i] = s;
        s = memchr(s, '\n', (size_t)(copy + c->tokens_size - s));
        *s++ = 0;
    }
    uint64_t *count = mem_zero(c->ids, sizeof *count);
    struct vocab *v = NULL;
    int rc = 0;
    for (int i = 0; i < c->planes && rc == 0; i++) rc = cooc_word_counts(c, i, count);
    /* with the counts of all languages: the vocabulary's own counts are not in the file */
    if (rc == 0) v = vocab_make(token, count + VOCAB_SPECIALS, n);
    if (rc == 0 && !v) err_set("%s: %s", c->path, err_msg());
    free(count);
    free(token);
    free(copy);
    return v;
}

/* --- blocks ----------------------------------------------------------------------------------- */

static const unsigned char *block_bytes(const struct cooc *c, const struct cooc_plane *pl,
                                        const struct cooc_block *b)
{
    const unsigned char *p = pl->data + b->at;
    if (!differs(b->check, (uint32_t)XXH3_64bits(p, b->bytes))) return p;
    bad(c, (uint64_t)(p - c->p), "a block's checksum is wrong");
    return NULL;
}

/* The last block whose first pair is not above (row, col); -1 if all are. Entries are read from the
 * mapped index: a copy would cost memory per block, and a search touches few of them. */
static int64_t find_block(const struct cooc_plane *pl, uint32_t row, uint32_t col)
{
    /* row and column as one number: compared at once */
    uint64_t key = (uint64_t)row << 32 | col, low = 0, n = pl->blocks;
    while (n > 0) {
        uint64_t half = n / 2;
        const unsigned char *e = pl->index + (low + half) * INDEX_ENTRY;
        if (((uint64_t)get32(e) << 32 | get32(e + 4)) <= key) { low += half + 1; n -= half + 1; }
        else n = half;
    }
    return (int64_t)low - 1;
}

/* Decodes no further than the pair: a look-up costs half a block of 128 pairs on average. A million
 * look-ups in 117 M pairs took 0.89 s of CPU. */
static int scan(const struct cooc *c, const struct cooc_plane *pl, const struct cooc_block *b,
                uint32_t row, uint32_t col, uint64_t *count)
{
    const unsigned char *p = block_bytes(c, pl, b), *end = p + b->bytes;
    if (!p) return -1;
    uint64_t r = 0, k = 0, v;
    for (uint32_t i = 0; i < b->pairs; i++) {
        if (!(p = varint_get(p, end, &v))) goto malformed;
        if (v & 1) {
            r += v >> 1;
            if (!(p = varint_get(p, end, &k))) goto malformed;
        } else k += v >> 1;
        if (!(p = varint_get(p, end, &v))) goto malformed;
        /* Rules of order are pairs_decode's to check: a look-up trusts the block's checksum. */
        if (r > row || (r == row && k >= col)) {
            *count = r == row && k == col ? v : 0;
            return 0;
        }
    }
    *count = 0;
    return 0;
malformed:
    return bad(c, (uint64_t)(pl->data - c->p) + b->at, "a block is malformed");
}

int cooc_get(const struct cooc *c, int plane, uint32_t row, uint32_t col, uint64_t *count)
{
    const struct cooc_plane *pl = &c->plane[plane];
    if (c->scheme.sides == COOC_SYMMETRIC && row > col) { uint32_t t = row; row = col; col = t; }
    int64_t i = find_block(pl, row, col);
    *count = 0;
    if (i < 0) return 0;
    struct cooc_block b = index_get(pl->index + i * INDEX_ENTRY);
    return scan(c, pl, &b, row, col, count);
}

/* blocks, of some 400 bytes each: 1.6 MB are mapped before they are given back */
enum { DROP_EVERY = 4096 };

void cooc_cursor_init(struct cooc_cursor *k, const struct cooc *c, int plane)
{
    *k = (struct cooc_cursor){
        .c = c, .plane = plane, .end = c->plane[plane].blocks, .every = DROP_EVERY
    };
}

void cooc_cursor_rows(struct cooc_cursor *k, const struct cooc *c, int plane, uint32_t first,
                      uint32_t last)
{
    const struct cooc_plane *pl = &c->plane[plane];
    *k = (struct cooc_cursor){ .c = c, .plane = plane, .every = DROP_EVERY };
    int64_t from = find_block(pl, first, 0);
    k->block = from < 0 ? 0 : (uint64_t)from;
    /* A block of an earlier group cannot hold rows of this one, since blocks never span groups. */
    if (from >= 0 && index_get(pl->index + from * INDEX_ENTRY).row < first
        && group_of(first) != group_of(index_get(pl->index + from * INDEX_ENTRY).row))
        k->block++;
    k->end = last <= first ? k->block : (uint64_t)(find_block(pl, last - 1, UINT32_MAX) + 1);
    k->dropped = k->block;
}

void cooc_forget(const struct cooc *c)
{
    if (c->map.n) madvise((void *)(uintptr_t)c->map.p, c->map.n, MADV_DONTNEED);
}

/* Pages that were read are given back: they would count as memory of this process. */
static void drop_pages(struct cooc_cursor *k)
{
    if (k->block - k->dropped < k->every || !k->c->map.n) return;
    const struct cooc_plane *pl = &k->c->plane[k->plane];
    /* whole pages only: the one at the end is read by the next block, too */
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    uintptr_t from = (uintptr_t)(pl->data + index_get(pl->index + k->dropped * INDEX_ENTRY).at)
                     & ~page;
    uintptr_t to = (uintptr_t)(pl->data + index_get(pl->index + (k->block - 1) * INDEX_ENTRY).at)
                   & ~page;
    if (to > from) madvise((void *)from, to - from, MADV_DONTNEED);
    k->dropped = k->block;
}

int cooc_cursor_next(struct cooc_cursor *k, struct cooc_pairs *out)
{
    const struct cooc *c = k->c;
    const struct cooc_plane *pl = &c->plane[k->plane];
    out->n = 0;
    if (k->block >= k->end) return 0;
    drop_pages(k);
    struct cooc_block b = index_get(pl->index + k->block * INDEX_ENTRY);
    const unsigned char *p = block_bytes(c, pl, &b);
    if (!p) return -1;
    if (pairs_decode(p, p + b.bytes, b.pairs, c->ids, c->scheme.sides == COOC_SYMMETRIC, out->row,
                     out->col, out->count)
            < 0
        || out->row[0] != b.row || out->col[0] != b.col)
        return bad(c, (uint64_t)(p - c->p), "a block is malformed");
    /* Blocks that each decode well may still overlap. A merge that takes pairs in order would then
     * count one twice. */
    uint32_t l = b.pairs - 1;
    if (k->block + 1 < pl->blocks) {
        struct cooc_block next = index_get(pl->index + (k->block + 1) * INDEX_ENTRY);
        if (out->row[l] > next.row || (out->row[l] == next.row && out->col[l] >= next.col))
            return bad(c, (uint64_t)(p - c->p), "a block reaches into the next one's pairs");
    }
    if (group_of(out->row[0]) != group_of(out->row[l]))
        return bad(c, (uint64_t)(p - c->p), "a block spans two groups of rows");
    out->n = b.pairs;
    k->block++;
    return 1;
}

int cooc_row(const struct cooc *c, int plane, uint32_t id, uint32_t **col, uint64_t **count,
             size_t *n)
{
    *col = NULL;
    *count = NULL;
    *n = 0;
    if (id >= c->ids) return 0;
    size_t col_cap = 0, count_cap = 0, k = 0;
    int rc = 0;
    /* Columns below the row are stored in the rows of those words: one look-up each. Whoever needs
     * all rows reads the pairs as a stream. */
    if (c->scheme.sides == COOC_SYMMETRIC)
        for (uint32_t other = VOCAB_SPECIALS; other < id && rc == 0; other++) {
            uint64_t v;
            if ((rc = cooc_get(c, plane, other, id, &v)) < 0 || v == 0) continue;
            mem_room(col, &col_cap, k + 1, sizeof **col);
            mem_room(count, &count_cap, k + 1, sizeof **count);
            (*col)[k] = other;
            (*count)[k++] = v;
        }
    if (rc == 0 && id >= VOCAB_SPECIALS) {
        struct cooc_cursor cur;
        struct cooc_pairs *p = mem_alloc(sizeof *p);
        cooc_cursor_rows(&cur, c, plane, id, id + 1);
        while (rc == 0 && (rc = cooc_cursor_next(&cur, p)) > 0) {
            for (uint32_t i = 0; i < p->n; i++) {
                if (p->row[i] != id) continue;
                mem_room(col, &col_cap, k + 1, sizeof **col);
                mem_room(count, &count_cap, k + 1, sizeof **count);
                (*col)[k] = p->col[i];
                (*count)[k++] = p->count[i];
            }
            rc = 0;
        }
        free(p);
    }
    *n = k;
    if (rc == 0) return 0;
    free(*col);
    free(*count);
    *col = NULL;
    *count = NULL;
    *n = 0;
    return -1;
}
