/* The one pass against the rules one by one; the case marker back again; the other text steps over
 * anything. */
#include "common/files/file.h"
#include "common/utf8.h"
#include "lib/text/casemark.h"
#include "lib/text/moses.h"
#include "lib/text/prepare.h"
#include "lib/text/segment.h"
#include "test/fuzz/fuzz.h"

static const char *const LANG[] = { "en", "de", "fr", "it",  "ga", "ca",
                                    "fi", "sv", "so", "tdt", "cs", "ko" };
enum { LANGS = sizeof LANG / sizeof *LANG };

/* What bytes above ASCII stand for where the input is not UTF-8 of itself: characters that rules
 * look at. */
static const uint32_t WIDE[] = { 0xA0,   0x85,   0xB7,     0xC2,    0xE4,    0xC4,   0xDF,
                                 0x130,  0x131,  0x1C5,    0x3A3,   0x3C2,   0x301,  0x345,
                                 0x669,  0xB2,   0x2167,   0x2028,  0x200B,  0xFEFF, 0x3000,
                                 0x4E2D, 0xAC00, 0xFF66,   0x20000, 0x1F600, 0x201C, 0x201D,
                                 0x201E, 0x2019, 0x2013,   0x2026,  0xAB,    0xBB,   0xBA,
                                 0x15F,  0x163,  0x219,    0x21E7,  0x21EA,  0x238B, 0xE01,
                                 0xE40,  0xFFFD, 0x10FFFF, 0x1E9E,  0x212A,  0xFF0C, 0x3002 };

static void fail(const char *what, const struct tbuf *a, const struct tbuf *b)
{
    fprintf(stderr, "%s\n[%.*s]\n[%.*s]\n", what, (int)a->n, a->p, (int)b->n, b->p);
    abort();
}

static void check_same(const char *what, const struct tbuf *a, const struct tbuf *b)
{ if (a->n != b->n || (a->n && memcmp(a->p, b->p, a->n))) fail(what, a, b); }

static struct nonbreaking *prefixes(void)
{
    static const char list[] = "Dr\nNo #NUMERIC_ONLY#\na\nb'\n1\n";
    struct nonbreaking *nb = nonbreaking_read(fuzz_file(0, list, sizeof list - 1));
    if (!nb) abort();
    return nb;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct moses *moses[LANGS][2];
    static struct detok *detok[LANGS];
    static struct moses_work *mw;
    static struct detok_work *dw;
    static struct segment *segment;
    if (!mw) {
        struct nonbreaking *nb = prefixes();
        for (int i = 0; i < LANGS; i++) {
            for (int a = 0; a < 2; a++) {
                struct moses_options o = {
                    .lang = LANG[i], .aggressive = a, .no_escape = a, .nonbreaking = nb
                };
                moses[i][a] = moses_new(&o);
            }
            struct detok_options d = { LANG[i], i & 1 };
            detok[i] = detok_new(&d);
        }
        mw = moses_work_new();
        dw = detok_work_new();
        segment = segment_new("th");
        if (!segment) abort();
    }
    if (size < 2) return 0;
    int which = data[0] % LANGS, aggressive = data[1] & 1, penn = data[1] >> 1 & 1;
    data += 2;
    size -= 2;
    struct tbuf in = { 0 }, a = { 0 }, b = { 0 };
    bool valid = utf8_check((const char *)data, size) == size;
    for (size_t i = 0; i < size; i++) {
        uint8_t c = data[i] == '\n' ? ' ' : data[i];
        if (valid || c < 0x80) tbuf_byte(&in, (char)c);
        else in.n += (size_t)utf8_put(WIDE[c % (sizeof WIDE / sizeof *WIDE)], tbuf_room(&in, 4));
    }
    tbuf_room(&in, 1);
    const struct moses *m = moses[which][aggressive];
    if (moses_line(m, mw, in.p, in.n, &a) != moses_rules(m, mw, in.p, in.n, &b))
        fail("copied or not", &a, &b);
    check_same("one pass and rules differ", &a, &b);
    if (utf8_check(a.p, a.n) != a.n) fail("not UTF-8", &in, &a);
    b.n = 0;
    detok_line(detok[which], dw, a.p, a.n, &b);
    if (utf8_check(b.p, b.n) != b.n) fail("not UTF-8 from detokenize", &a, &b);
    b.n = a.n = 0;
    casemark_mark(in.p, in.n, &a);
    casemark_unmark(a.p, a.n, &b);
    check_same("the case marker does not come back", &in, &b);
    b.n = 0;
    casemark_unmark(in.p, in.n, &b);
    struct prepare_work pw = { 0 };
    struct prepare_options p = { true, true, penn, true, true, true, LANG[which] };
    a.n = b.n = 0;
    prepare_line(&p, &pw, in.p, in.n, aggressive, &a);
    if (utf8_check(a.p, a.n) != a.n) fail("not UTF-8 from the preparation", &in, &a);
    if (lower_accents(a.p, a.n, &b) < 0) abort();
    a.n = 0;
    if (segment_line(segment, in.p, in.n, &a) < 0) abort();
    a.n = 0;
    struct sgm *g = sgm_new();
    size_t half = size / 2;
    while (half < size && data[half] != '\n') half++;
    if (half < size) half++;
    sgm_feed(g, (const char *)data, half, false, &a);
    sgm_feed(g, (const char *)data + half, size - half, true, &a);
    sgm_free(g);
    prepare_work_free(&pw);
    tbuf_free(&in);
    tbuf_free(&a);
    tbuf_free(&b);
    return 0;
}
