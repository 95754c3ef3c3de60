/* The .model file. Field numbers: sentencepiece_model.proto; the wire format:
 * protobuf.dev/programming-guides/encoding. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/files/foreign.h"
#include "common/mem.h"
#include "common/text/text.h"
#include "common/utf8.h"
#include "lib/subword/spm_in.h"

struct in { const unsigned char *begin, *p, *end; const char *name; };
/* One field: its number, and either an integer (wire types 0, 1, 5) or bytes (2). */
struct field { uint64_t number; int wire; uint64_t v; const unsigned char *p; size_t n; };

static int bad(const struct in *in, const char *what)
{
    return err_set("%s: byte %zu: %s; not a SentencePiece model, or damaged", in->name,
                   (size_t)(in->p - in->begin), what);
}

static int varint(struct in *in, uint64_t *v)
{
    *v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (in->p == in->end) return bad(in, "ends inside a number");
        *v |= (uint64_t)(*in->p & 0x7F) << shift;
        if (!(*in->p++ & 0x80)) return 0;
    }
    return bad(in, "a number of more than 64 bits");
}

/* 1: a field, 0: the end, -1. */
static int next(struct in *in, struct field *f)
{
    uint64_t key;
    if (in->p == in->end) return 0;
    if (varint(in, &key) < 0) return -1;
    *f = (struct field){ .number = key >> 3, .wire = key & 7 };
    if (f->wire == 0) return varint(in, &f->v) < 0 ? -1 : 1;
    uint64_t n = f->wire == 1 ? 8 : f->wire == 5 ? 4 : 0;
    if (f->wire == 2) { if (varint(in, &n) < 0) return -1; }
    else if (!n) return bad(in, "a field of an unused wire type");
    if (n > (uint64_t)(in->end - in->p)) return bad(in, "a field longer than its container");
    f->p = in->p;
    f->n = n;
    in->p += n;
    /* a float's bits, which read_piece takes */
    if (f->wire == 5) { uint32_t v; memcpy(&v, f->p, 4); f->v = v; }
    return 1;
}

static struct in inside(const struct in *in, const struct field *f)
{
    return (struct in){ in->begin, f->p, f->p + f->n, in->name };
}

/* --- tries ------------------------------------------------------------------------------------ */

static uint64_t edge(uint32_t node, unsigned char byte) { return (uint64_t)node << 8 | byte; }

uint32_t spm_edge(const struct spm_trie *t, uint32_t node, unsigned char byte)
{
    return hashmap_find(&t->edge, edge(node, byte));
}

void spm_trie_init(struct spm_trie *t, size_t bytes)
{
    /* a text adds a node per byte at most */
    t->piece = mem_alloc((bytes + 1) * sizeof *t->piece);
    t->piece[0] = -1;
    t->nodes = 1;
}

uint32_t spm_trie_node(struct spm_trie *t, const char *s, size_t n)
{
    uint32_t node = SPM_ROOT;
    for (size_t i = 0; i < n; i++) {
        /* hashmap_find's 0 is the root, which no edge leads to: 0 says that there is none */
        node = hashmap_add(&t->edge, edge(node, (unsigned char)s[i]), t->nodes);
        if (node == t->nodes) t->piece[t->nodes++] = -1;
    }
    return node;
}

/* false: the piece is already there. */
static bool trie_add(struct spm_trie *t, const char *s, size_t n, uint32_t id)
{
    uint32_t node = spm_trie_node(t, s, n);
    if (t->piece[node] >= 0) return false;
    t->piece[node] = (int32_t)id;
    return true;
}

int32_t spm_trie_find(const struct spm_trie *t, const char *s, size_t n)
{
    uint32_t node = SPM_ROOT;
    for (size_t i = 0; i < n; i++)
        if (!(node = spm_edge(t, node, (unsigned char)s[i]))) return -1;
    return t->piece[node];
}

void spm_trie_free(struct spm_trie *t)
{
    hashmap_free(&t->edge);
    free(t->piece);
}

/* --- messages --------------------------------------------------------------------------------- */

struct building { struct spm *m; size_t piece_cap, bytes_cap, n_bytes; };

static int read_piece(struct building *b, struct in in)
{
    struct spm *m = b->m;
    struct field f;
    struct spm_piece p = { .type = SPM_NORMAL };
    const unsigned char *text = NULL;
    int rc;
    while ((rc = next(&in, &f)) > 0) {
        /* copied below, when all fields have been checked */
        if (f.number == 1 && f.wire == 2) { text = f.p; p.n = (uint32_t)f.n;
        } else if (f.number == 2 && f.wire == 5) {
            uint32_t v = (uint32_t)f.v;
            float score;
            memcpy(&score, &v, 4);
            p.score = (double)score;
        } else if (f.number == 3 && f.wire == 0) {
            if (f.v < SPM_NORMAL || f.v > SPM_BYTE)
                return bad(&in, "a piece of unknown type");
            p.type = (enum spm_type)f.v;
        }
    }
    if (rc < 0) return -1;
    if (!text || !p.n || p.n > 65536) return bad(&in, "a piece without text");
    /* texts are used as C strings (strstr, messages) */
    if (memchr(text, 0, p.n) || utf8_check((const char *)text, p.n) < p.n)
        return bad(&in, "a piece that is not UTF-8");
    if (!isfinite(p.score)) return bad(&in, "a piece whose score is not a number");
    /* ids are int32 in the trie */
    if (b->n_bytes > UINT32_MAX / 2 || m->n >= INT32_MAX / 2) return bad(&in, "too many pieces");
    mem_room(&m->bytes, &b->bytes_cap, b->n_bytes + p.n + 1, 1);
    memcpy(m->bytes + b->n_bytes, text, p.n);
    m->bytes[b->n_bytes + p.n] = 0;
    /* an offset until all are read: the text still moves */
    p.text = (const char *)(uintptr_t)b->n_bytes;
    b->n_bytes += p.n + 1;
    mem_room(&m->piece, &b->piece_cap, (size_t)m->n + 1, sizeof *m->piece);
    m->piece[m->n++] = p;
    return 0;
}

static int read_trainer(struct spm *m, struct in in)
{
    struct field f;
    int rc;
    while ((rc = next(&in, &f)) > 0) {
        if (f.wire != 0) continue;
        if (f.number == 3) {
            if (f.v != 1 && f.v != 2)
                return bad(&in, f.v == 3 || f.v == 4
                                    ? "a word or character model; unigram and BPE ones are read"
                                    : "an unknown kind of model");
            m->bpe = f.v == 2;
        } else if (f.number == 24) m->suffix = f.v != 0;
        else if (f.number == 35) m->byte_fallback = f.v != 0;
    }
    return rc;
}

const char *spm_map_read(struct spm_map *m, const unsigned char *p, size_t n)
{
    uint32_t size;
    /* a model that normalises nothing has no map */
    if (n == 0) return NULL;
    if (n < 4) return "a character map without its length";
    memcpy(&size, p, 4);
    if (size > n - 4 || size % 4 || !size) return "a character map that is cut short";
    m->n = size / 4;
    m->unit = mem_alloc(size);
    memcpy(m->unit, p + 4, size);
    m->text_n = (uint32_t)(n - 4 - size);
    m->text = mem_alloc((size_t)m->text_n + 1);
    memcpy(m->text, p + 4 + size, m->text_n);
    m->text[m->text_n] = 0;
    if (utf8_check(m->text, m->text_n) < m->text_n)
        return "a character map whose strings are not UTF-8";
    return NULL;
}

void spm_map_free(struct spm_map *m)
{
    free(m->unit);
    free(m->text);
}

static int read_map(struct spm *m, const struct in *in, const unsigned char *p, size_t n)
{
    const char *wrong = m->map.unit ? "two character maps" : spm_map_read(&m->map, p, n);
    return wrong ? bad(in, wrong) : 0;
}

static int read_normalizer(struct spm *m, struct in in)
{
    struct field f;
    int rc;
    while ((rc = next(&in, &f)) > 0) {
        if (f.number == 2 && f.wire == 2 && read_map(m, &in, f.p, f.n) < 0) return -1;
        if (f.wire != 0) continue;
        if (f.number == 3) m->dummy_prefix = f.v != 0;
        else if (f.number == 4) m->one_space = f.v != 0;
        else if (f.number == 5) m->escape = f.v != 0;
    }
    return rc;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int index_pieces(struct building *b, const char *name)
{
    struct spm *m = b->m;
    size_t unknown = 0, user = 0;
    if (!m->n) return err_set("%s: holds no pieces; not a SentencePiece model, or damaged", name);
    for (uint32_t i = 0; i < m->n; i++) {
        m->piece[i].text = m->bytes + (uintptr_t)m->piece[i].text;
        if (m->piece[i].type == SPM_USER) user += m->piece[i].n;
    }
    spm_trie_init(&m->trie, b->n_bytes);
    spm_trie_init(&m->user, user);
    m->has_user = user > 0;
    m->min = (double)FLT_MAX;
    m->max = (double)FLT_MIN;
    for (int i = 0; i < 256; i++) m->byte_id[i] = -1;
    m->word_by_word = true;
    for (uint32_t i = 0; i < m->n; i++) {
        const struct spm_piece *p = &m->piece[i];
        if (p->type == SPM_UNKNOWN) { unknown++; m->unk = i; }
        if (p->type == SPM_BYTE) {
            /* "<0xE2>": the number ends at ">" */
            unsigned byte = strtoul(p->n == 6 ? p->text + 3 : "", NULL, 16) & 0xFF;
            m->byte_id[byte] = (int32_t)i;
        }
        /* control symbols, <unk> and bytes are never found in text */
        if (p->type != SPM_NORMAL && p->type != SPM_USER && p->type != SPM_UNUSED) continue;
        if (p->type == SPM_NORMAL) {
            if (p->score < m->min) m->min = p->score;
            if (p->score > m->max) m->max = p->score;
        }
        /* unigram() may then begin its sums anew at each U+2581 */
        if (strstr(p->text + 1, "\xE2\x96\x81")) m->word_by_word = false;
        if (p->type == SPM_USER) trie_add(&m->user, p->text, p->n, i);
        if (!trie_add(&m->trie, p->text, p->n, i))
            return err_set("%s: piece %u \"%.40s\" occurs twice", name, i, p->text);
    }
    if (unknown != 1) return err_set("%s: has %zu pieces for unknown text, not one", name, unknown);
    for (int i = 0; i < 256 && m->byte_fallback; i++)
        if (m->byte_id[i] < 0)
            return err_set("%s: falls back to bytes but has no piece <0x%02X>", name, i);
    return 0;
}

struct spm *spm_read(const void *p, size_t n, const char *name)
{
    struct spm *m = mem_zero(1, sizeof *m);
    struct building b = { m };
    struct in in = { p, p, (const unsigned char *)p + n, name };
    struct field f;
    int rc = 0;
    /* proto2 leaves out what has its default: these three are true */
    m->dummy_prefix = m->one_space = m->escape = true;
    while (rc >= 0 && (rc = next(&in, &f)) > 0) {
        /* other fields of the model (self-test data, denormalizer) do not change how text is cut */
        if (f.wire != 2) continue;
        if (f.number == 1) rc = read_piece(&b, inside(&in, &f));
        else if (f.number == 2) rc = read_trainer(m, inside(&in, &f));
        else if (f.number == 3) rc = read_normalizer(m, inside(&in, &f));
    }
    if (rc == 0) rc = index_pieces(&b, name);
    if (rc == 0) return m;
    spm_free(m);
    return NULL;
}

struct spm *spm_unigram(const struct spm_piece *pieces, uint32_t n, uint32_t unk,
                        bool byte_fallback, const char *name)
{
    struct spm *m = mem_zero(1, sizeof *m);
    size_t bytes = 0, at = 0;
    bool whole = true;
    for (uint32_t i = 0; i < n; i++) bytes += (size_t)pieces[i].n + 1;
    m->bytes = mem_alloc(bytes);
    m->piece = mem_alloc((size_t)(n ? n : 1) * sizeof *m->piece);
    m->n = n;
    m->unk = unk;
    m->min = DBL_MAX;
    spm_trie_init(&m->trie, bytes);
    spm_trie_init(&m->user, 0);
    for (uint32_t i = 0; i < n; i++) {
        struct spm_piece *p = &m->piece[i];
        *p = pieces[i];
        p->type = SPM_NORMAL;
        p->text = memcpy(m->bytes + at, pieces[i].text, (size_t)p->n + 1);
        at += (size_t)p->n + 1;
        if (p->score < m->min) m->min = p->score;
        /* of two equal ones the last counts; nothing matches an empty one */
        if (p->n) m->trie.piece[spm_trie_node(&m->trie, p->text, p->n)] = (int32_t)i;
    }
    for (int i = 0; i < 256 && byte_fallback; i++) {
        char byte[8];
        snprintf(byte, sizeof byte, "<0x%02X>", i);
        whole &= (m->byte_id[i] = spm_trie_find(&m->trie, byte, 6)) >= 0;
    }
    m->byte_fallback = byte_fallback;
    if (whole) return m;
    err_set("%s: falls back to bytes but has not all pieces <0x00> to <0xFF>", name);
    spm_free(m);
    return NULL;
}

struct spm *spm_open(const char *path)
{
    struct map map;
    if (map_open(&map, path) < 0) return NULL;
    /* every model begins with a piece */
    /* 0x0A is the key of field 1, wire type 2 */
    bool other = map.n && map.p[0] != 0x0A
                 && foreign_refuse(path, map.p, map.n, "a SentencePiece model") < 0;
    struct spm *m = other ? NULL : spm_read(map.p, map.n, path);
    map_close(&map);
    return m;
}

void spm_free(struct spm *m)
{
    if (!m) return;
    spm_trie_free(&m->trie);
    spm_trie_free(&m->user);
    spm_map_free(&m->map);
    free(m->piece); free(m->bytes);
    free(m);
}

uint32_t spm_size(const struct spm *m) { return m->n; }
const struct spm_piece *spm_piece(const struct spm *m, uint32_t id) { return &m->piece[id]; }
uint32_t spm_unk(const struct spm *m) { return m->unk; }
