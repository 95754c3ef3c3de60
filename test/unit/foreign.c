/* Other people's formats: what a file is by its first bytes; and damaged files, written by hand
 * from their specifications: each is refused for the one thing that is wrong with it.
 * SentencePiece's .model (protocol buffers), PyTorch's zip of a pickle (opcodes as pickletools
 * names them; nothing of it is executed), and pieces.json. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdbool.h>
#include <string.h>
#include "common/err.h"
#include "common/files/foreign.h"
#include "lib/subword/settings.h"
#include "lib/subword/spm.h"
#include "lib/torch/torch.h"
#include "test/unit/near.h"
#include "test/unit/scratch.h"

struct bytes { const char *p; size_t n; const char *why; };
#define BYTES(s, why) { s, sizeof(s) - 1, why }
enum { MOST = 4096 };

static void refused_for(const char *why)
{
    if (!strstr(err_msg(), why)) fail_msg("not \"%s\": %s", why, err_msg());
}

/* --- SentencePiece ---------------------------------------------------------------------------- */

/* pieces (field 1): text (1), score (2), type (3) */
#define UNK "\x0a\x09" "\x0a\5" "<unk>" "\x18\2"
#define A "\x0a\x08" "\x0a\1" "a" "\x15" "\0\0\x80\xbf"                  /* -1 */
/* normalizer (3): a character map (2) is the trie's size, the trie, the strings */
#define MAP "\x12\x08" "\4\0\0\0" "\0\0\0\0"

static void a_model_of_two_pieces(void **state)
{
    (void)state;
    struct spm *m = spm_read(UNK A, sizeof UNK A - 1, "m");
    if (!m) fail_msg("%s", err_msg());
    assert_int_equal(spm_size(m), 2);
    assert_int_equal(spm_unk(m), 0);
    assert_string_equal(spm_piece(m, 1)->text, "a");
    assert_near(spm_piece(m, 1)->score, -1, 0);
    spm_free(m);
}

static void damaged_models_are_refused(void **state)
{
    (void)state;
    static const struct bytes t[] = {
        BYTES("", "holds no pieces"),
        BYTES(UNK A "\x80", "ends inside a number"),
        BYTES(UNK A "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", "more than 64 bits"),
        BYTES(UNK A "\x0b", "unused wire type"),
        BYTES(UNK A "\x0f", "unused wire type"),
        BYTES(UNK A "\x0a\x09" "\x0a", "longer than its container"),
        BYTES(UNK A "\x0a\4" "\x0a\3" "bc", "longer than its container"),
        BYTES(UNK A "\x0a\5" "\x0a\1" "b" "\x18\7", "unknown type"),
        BYTES(UNK A "\x0a\5" "\x0a\1" "b" "\x18\0", "unknown type"),
        BYTES(UNK A "\x0a\2" "\x18\1", "without text"),
        BYTES(UNK A "\x0a\2" "\x0a\0", "without text"),
        BYTES(UNK A "\x0a\3" "\x0a\1" "\xff", "not UTF-8"),
        BYTES(UNK A "\x0a\3" "\x0a\1" "\0", "not UTF-8"),
        BYTES(UNK A "\x0a\x08" "\x0a\1" "b" "\x15" "\0\0\xc0\x7f", "score is not a number"),
        BYTES(UNK A "\x0a\x08" "\x0a\1" "b" "\x15" "\0\0\x80\x7f", "score is not a number"),
        BYTES(UNK A "\x12\2" "\x18\3", "a word or character model"),
        BYTES(UNK A "\x12\2" "\x18\4", "a word or character model"),
        BYTES(UNK A "\x12\2" "\x18\0", "an unknown kind of model"),
        BYTES(UNK A "\x12\2" "\x18\5", "an unknown kind of model"),
        BYTES(UNK A "\x1a\x14" MAP MAP, "two character maps"),
        BYTES(UNK A "\x1a\4" "\x12\2" "ab", "without its length"),
        BYTES(UNK A "\x1a\6" "\x12\4" "\4\0\0\0", "cut short"),
        BYTES(UNK A "\x1a\x09" "\x12\7" "\3\0\0\0" "abc", "cut short"),
        BYTES(UNK A "\x1a\6" "\x12\4" "\0\0\0\0", "cut short"),
        BYTES(UNK A "\x1a\x0b" "\x12\x09" "\4\0\0\0" "\0\0\0\0" "\xff", "strings are not UTF-8"),
        BYTES(UNK A A, "piece 2 \"a\" occurs twice"),
        BYTES(A A UNK, "piece 1 \"a\" occurs twice"),
        BYTES(A, "has 0 pieces for unknown text"),
        BYTES(UNK UNK, "has 2 pieces for unknown text"),
        BYTES(UNK A "\x12\3" "\x98\2\1", "no piece <0x00>"),
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct spm *m = spm_read(t[i].p, t[i].n, "m");
        if (m) fail_msg("accepted: %s", t[i].why);
        refused_for(t[i].why);
    }
}

/* --- a zip archive, stored -------------------------------------------------------------------- */

struct member { const char *name; const char *data; size_t n; };
struct archive {
    unsigned char b[MOST]; size_t n;
    size_t local[4], central[4], end;        /* where the records begin */
};

static void put(struct archive *z, const void *p, size_t n)
{
    assert_true(z->n + n <= MOST);
    memcpy(z->b + z->n, p, n);
    z->n += n;
}
static void number(struct archive *z, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++, v >>= 8) put(z, &(unsigned char){ (unsigned char)v }, 1);
}
static void at(struct archive *z, size_t where, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++, v >>= 8) z->b[where + (size_t)i] = (unsigned char)v;
}

static void zip(struct archive *z, const struct member *m, int n)
{
    z->n = 0;
    for (int i = 0; i < n; i++) {
        z->local[i] = z->n;
        put(z, "PK\3\4", 4);
        number(z, 0, 14);
        number(z, m[i].n, 4), number(z, m[i].n, 4);
        number(z, strlen(m[i].name), 2), number(z, 0, 2);
        put(z, m[i].name, strlen(m[i].name));
        put(z, m[i].data, m[i].n);
    }
    size_t first = z->n;
    for (int i = 0; i < n; i++) {
        z->central[i] = z->n;
        put(z, "PK\1\2", 4);
        number(z, 0, 16);
        number(z, m[i].n, 4), number(z, m[i].n, 4);
        number(z, strlen(m[i].name), 2), number(z, 0, 12);
        number(z, z->local[i], 4);
        put(z, m[i].name, strlen(m[i].name));
    }
    z->end = z->n;
    put(z, "PK\5\6", 4);
    number(z, 0, 4);
    number(z, (uint64_t)n, 2), number(z, (uint64_t)n, 2);
    number(z, z->end - first, 4), number(z, first, 4);
    number(z, 0, 2);
}

/* --- PyTorch's pickles ------------------------------------------------------------------------ */

#define STR(n, s) "X" n "\0\0\0" s
#define STORAGE(key, elements) \
    "(" STR("\7", "storage") "ctorch\nFloatStorage\n" STR("\1", key) STR("\3", "cpu") elements "tQ"
/* the same of any parts */
#define ID(word, type, key, elements) "(" word type key STR("\3", "cpu") elements "tQ"
#define FLOATS "ctorch\nFloatStorage\n"
#define NO_ID "a persistent id that is not a storage's"
#define TEN "0123456789"
#define SIX STORAGE("0", "K\6")
#define CALL "ctorch._utils\n_rebuild_tensor_v2\n"
#define TENSOR(storage, offset, size, stride) \
    CALL "(" storage offset size stride "\x89" "ccollections\nOrderedDict\n" ")R" "tR"
#define DICT(value) "\x80\2" "}" "(" STR("\1", "a") value "u."
#define SIZE "K\2" "K\3" "\x86"
#define STRIDE "K\3" "K\1" "\x86"
#define BIG "\x8a\6" "\0\0\0\0\0\1"                                        /* 2^40 */

static const float six[6] = { 1, 2, 3, 4, 5, 6 };

static struct torch_file *open_pickle(const char *pickle, size_t n)
{
    static struct archive z;
    zip(&z, (struct member[]){ { "x/data.pkl", pickle, n },
                               { "x/data/0", (const char *)six, sizeof six } }, 2);
    return torch_read(z.b, z.n, "t");
}

/* A dictionary of one item is written with SETITEMS ("u") or, alone, with SETITEM ("s"). */
static void one_tensor(void **state)
{
    (void)state;
    static const char many[] = DICT(TENSOR(SIX, "K\0", SIZE, STRIDE)),
                      one[] = "\x80\2" "}" STR("\1", "a") TENSOR(SIX, "K\0", SIZE, STRIDE) "s.";
    for (int alone = 0; alone < 2; alone++) {
        int n;
        struct torch_file *f = alone ? open_pickle(one, sizeof one - 1)
                                     : open_pickle(many, sizeof many - 1);
        if (!f) fail_msg("%s", err_msg());
        const struct st_tensor *t = torch_tensors(f, &n);
        assert_int_equal(n, 1);
        assert_string_equal(t->name, "a");
        assert_int_equal(t->ndim, 2);
        assert_memory_equal(t->data, six, sizeof six);
        torch_close(f);
    }
}

/* A stride that is never walked, 2^63 - 1: added to an offset it left the numbers of C. */
static void the_stride_of_a_dimension_of_one_is_any_number(void **state)
{
    (void)state;
    static const char view[] =
        DICT(TENSOR(SIX, "K\0", "K\3K\1K\2\x87",
                    "K\1" "\x8a\x08" "\xff\xff\xff\xff\xff\xff\xff\x7f" "K\3\x87"));
    static const float transposed[6] = { 1, 4, 2, 5, 3, 6 };
    int n;
    struct torch_file *f = open_pickle(view, sizeof view - 1);
    if (!f) fail_msg("%s", err_msg());
    assert_memory_equal(torch_tensors(f, &n)->data, transposed, sizeof transposed);
    torch_close(f);
}

static void damaged_pickles_are_refused(void **state)
{
    (void)state;
    static const struct bytes t[] = {
        BYTES("", "ends without STOP"),
        BYTES("\x80\2" "}", "ends without STOP"),
        BYTES("R.", "byte 1 of its pickle: takes a value from an empty stack"),
        BYTES("\x85.", "takes a value from an empty stack"),
        BYTES("}s.", "takes a value from an empty stack"),
        BYTES("](" STR("\1", "a") STR("\1", "b") "u.", "not of the expected kind"),
        BYTES("(\x85.", "a mark inside a container"),
        BYTES("]e.", "a mark is missing"),
        BYTES("}(" STR("\1", "a") "u.", "a key without a value"),
        BYTES("q\0.", "stores a value from an empty stack"),
        BYTES("]r\xff\xff\xff\x7f.", "stores under a number that is too large"),
        BYTES("h\1.", "fetches a value that was never stored"),
        BYTES("]q\2" "h\1.", "fetches a value that was never stored"),
        BYTES("NQ.", "a persistent id that is not a storage's"),
        BYTES("(NNNNNtQ.", "a persistent id that is not a storage's"),
        BYTES("(" STR("\7", "storage") FLOATS STR("\1", "0") STR("\3", "cpu") "tQ.", NO_ID),
        BYTES("(" STR("\7", "storage") FLOATS STR("\1", "0") STR("\3", "cpu") "K\6Nt" "Q.", NO_ID),
        BYTES(DICT(ID(STR("\7", "storagE"), FLOATS, STR("\1", "0"), "K\6")), NO_ID),
        BYTES(DICT(ID(STR("\6", "storag"), FLOATS, STR("\1", "0"), "K\6")), NO_ID),
        BYTES(DICT(ID("K\0", FLOATS, STR("\1", "0"), "K\6")), NO_ID),
        BYTES(DICT(ID(STR("\7", "storage"), "ccollections\nOrderedDict\n", STR("\1", "0"), "K\6")),
              NO_ID),
        BYTES(DICT(ID(STR("\7", "storage"), STR("\1", "0"), STR("\1", "0"), "K\6")), NO_ID),
        BYTES(DICT(ID(STR("\7", "storage"), FLOATS, "K\0", "K\6")), NO_ID),
        BYTES(DICT(ID(STR("\7", "storage"), FLOATS, STR("\1", "0"), "N")), NO_ID),
        BYTES(DICT(ID(STR("\7", "storage"), FLOATS, STR("\1", "0"), "J\xff\xff\xff\xff")),
              "a storage shorter than it says"),
        BYTES(DICT(TENSOR(STORAGE("9", "K\6"), "K\0", SIZE, STRIDE)), "not in the archive"),
        BYTES(DICT(TENSOR(STORAGE("0", "K\7"), "K\0", SIZE, STRIDE)), "shorter than it says"),
        BYTES(DICT(CALL ")R"), "a tensor with too few arguments"),
        BYTES(DICT(TENSOR("N", "K\0", SIZE, STRIDE)), "arguments are not a tensor's"),
        BYTES(DICT(TENSOR(SIX, "N", SIZE, STRIDE)), "arguments are not a tensor's"),
        BYTES(DICT(TENSOR(SIX, "K\0", SIZE, "K\1\x85")), "arguments are not a tensor's"),
        BYTES(DICT(TENSOR(SIX, "K\0", "NK\3\x86", STRIDE)), "shape is not of whole numbers"),
        BYTES(DICT(TENSOR(SIX, "K\0", "J\xff\xff\xff\xff" "K\3\x86", STRIDE)),
              "shape is not of whole numbers"),
        BYTES(DICT(TENSOR(SIX, "K\0", BIG BIG "\x86", STRIDE)), "a tensor that is too large"),
        BYTES(DICT(TENSOR(SIX, "K\0", "K\3K\3\x86", STRIDE)), "larger than its storage"),
        BYTES(DICT(TENSOR(SIX, "K\7", SIZE, STRIDE)), "larger than its storage"),
        BYTES(DICT(TENSOR(SIX, "K\1", SIZE, STRIDE)), "reaches beyond its storage"),
        BYTES(DICT(TENSOR(SIX, "K\0", SIZE, "K\4K\1\x86")), "reaches beyond its storage"),
        BYTES(DICT(TENSOR(SIX, "K\6", ")", ")")), "reaches beyond its storage"),
        BYTES(DICT(TENSOR(SIX, "K\0", "K\3K\2\x86", "\x8a\x08\0\0\0\0\0\0\0\x40" "K\1\x86")),
              "reaches beyond its storage"),                   /* twice 2^62 is no 64-bit number */
        BYTES("NNR.", "a call of something that is not a function"),
        BYTES("ccollections\nOrderedDict\nNR.", "a call of something that is not a function"),
        BYTES("))R.", "a call of something that is not a function"),
        BYTES("ctorch\nFloatStorage\n)R.", "a call of something that is not a function"),
        BYTES("ccollections\nOrderedDict\nN\x85R.", "an OrderedDict with arguments"),
        BYTES("ctorch._utils\n_rebuild_parameter\n)R.", "a parameter that is not a tensor"),
        BYTES("X\5\0\0\0" "ab", "ends inside an operand"),
        BYTES("X\2\0\0\0" "a\0.", "a string with a NUL byte"),
        BYTES("\x8a\x09" "\1\1\1\1\1\1\1\1\1.", "an integer of more than 64 bits"),
        BYTES("ctorch\nFloat", "ends inside a name"),
        BYTES("NN\x93.", "a name that is not a string"),
        BYTES("cos\nsystem\n.", "t: asks for os.system, which a state dict does not need; nothing"),
        /* no control character; of either name 45 and 44 characters, 90 with the dot */
        BYTES("co\x1bs\nsys tem\x7f\n.", "t: asks for o?s.sys?tem?, which"),
        BYTES("c" TEN "a" TEN "b" TEN "c" TEN "d" TEN "e\n" TEN "f" TEN "g" TEN "h" TEN "i" TEN
              "\n.",
              "t: asks for " TEN "a" TEN "b" TEN "c" TEN "d0." TEN "f" TEN "g" TEN "h" TEN "i,"),
        BYTES("o.", "byte 0 of its pickle: an instruction that a state dict does not need"),
        BYTES(".", "holds nothing, not a dictionary"),
        BYTES("].", "not a dictionary of tensors"),
        BYTES("}}.", "not a dictionary of tensors"),
        BYTES("}(NNu.", "a key of its dictionary is"),
        BYTES(DICT("N"), "not a tensor; save the state dict alone"),
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct torch_file *f = open_pickle(t[i].p, t[i].n);
        if (f) fail_msg("accepted: %s", t[i].why);
        refused_for(t[i].why);
    }
}

/* 2,500 values in as many bytes: 36 bytes of memory each. */
static void more_values_than_a_state_dict_needs_are_refused(void **state)
{
    (void)state;
    static char pickle[2500];
    for (const char *s = "N)](J"; *s; s++) {
        memset(pickle, *s == 'J' ? 0 : *s, sizeof pickle);
        /* an integer has five bytes */
        for (size_t i = 0; i < sizeof pickle && *s == 'J'; i += 5) pickle[i] = 'J';
        assert_null(open_pickle(pickle, sizeof pickle));
        refused_for(*s == 'J' ? "ends without STOP"
                              : "byte 2250 of its pickle: more values than the state dict of any");
    }
}

/* Twelve transposed views of 300 numbers: each is a copy, together more than a file of that size
 * has room for. */
static void views_without_end_are_refused(void **state)
{
    (void)state;
    static const char view[] = STR("\1", "a") TENSOR(STORAGE("0", "M\x2c\1"), "K\0",
                                                    "K\x0aK\x1e\x86", "K\1K\x0a\x86");
    static float numbers[300];
    static char pickle[MOST];
    static struct archive z;
    size_t n = 0;
    for (int views = 1; views <= 12; views += 11) {
        n = 0;
        memcpy(pickle, "}(", 2), n += 2;
        for (int i = 0; i < views; i++, n += sizeof view - 1)
            memcpy(pickle + n, view, sizeof view - 1);
        memcpy(pickle + n, "u.", 2), n += 2;
        zip(&z, (struct member[]){ { "x/data.pkl", pickle, n },
                                   { "x/data/0", (const char *)numbers, sizeof numbers } }, 2);
        struct torch_file *f = torch_read(z.b, z.n, "t");
        if (views == 1 && !f) fail_msg("%s", err_msg());
        if (views > 1 && f) fail_msg("accepted: twelve views");
        if (views > 1) refused_for("more transposed tensors than the file has room for");
        torch_close(f);
    }
}

static void archive_refused(const struct archive *z, size_t n, const char *why)
{
    struct torch_file *f = torch_read(z->b, n, "t");
    if (f) fail_msg("accepted: %s", why);
    refused_for(why);
}

static void damaged_archives_are_refused(void **state)
{
    (void)state;
    static struct archive whole, z;
    static const char good[] = DICT(TENSOR(SIX, "K\0", SIZE, STRIDE));
    struct member m[] = { { "x/data.pkl", good, sizeof good - 1 },
                          { "x/data/0", (const char *)six, sizeof six },
                          { "x/byteorder", "little", 6 } };
    zip(&whole, m, 3);
    struct torch_file *f = torch_read(whole.b, whole.n, "t");
    if (!f) fail_msg("%s", err_msg());
    torch_close(f);
    archive_refused(&whole, 21, "too few for a zip archive");
    archive_refused(&whole, whole.n - 1, "no end record");
    /* at byte 10 of the end record: entries; 12: the directory's bytes; 16: its place */
    z = whole, at(&z, z.end + 10, 99, 2);
    archive_refused(&z, z.n, "reaches beyond the file");
    z = whole, at(&z, z.end + 12, 9999, 4);
    archive_refused(&z, z.n, "reaches beyond the file");
    z = whole, at(&z, z.end + 16, 99999, 4);
    archive_refused(&z, z.n, "reaches beyond the file");
    z = whole, at(&z, z.end + 16, z.central[0] + 1, 4), at(&z, z.end + 12, 200, 4);
    archive_refused(&z, z.n, "reaches beyond the file");
    z = whole, at(&z, z.end + 16, z.central[0] - 1, 4);
    archive_refused(&z, z.n, "its zip directory is damaged");
    /* of an entry: 8 flags, 10 method, 20 and 24 sizes, 28 the name's length, 30 the extra
     * field's, 42 where the member is */
    z = whole, at(&z, z.central[1] + 28, 9999, 2);
    archive_refused(&z, z.n, "entry 1 of its zip directory is damaged");
    z = whole, z.b[z.central[1] + 46] = 0;
    archive_refused(&z, z.n, "entry 1 of its zip directory is damaged");
    z = whole, at(&z, z.central[1] + 8, 1, 2);
    archive_refused(&z, z.n, "member 1 is compressed or encrypted");
    z = whole, at(&z, z.central[1] + 10, 8, 2);
    archive_refused(&z, z.n, "member 1 is compressed or encrypted");
    z = whole, at(&z, z.central[1] + 24, 25, 4);
    archive_refused(&z, z.n, "member 1 is compressed or encrypted");
    z = whole, at(&z, z.central[1] + 42, z.local[1] + 1, 4);
    archive_refused(&z, z.n, "member 1 is not where the directory says");
    z = whole, at(&z, z.central[1] + 42, z.n - 4, 4);
    archive_refused(&z, z.n, "member 1 is not where the directory says");
    z = whole, at(&z, z.central[1] + 20, 9999, 4), at(&z, z.central[1] + 24, 9999, 4);
    archive_refused(&z, z.n, "member 1 ends beyond the file");
    /* to the last byte of the file, and one further; its data follow 30 bytes and its name's 8 */
    for (uint64_t more = 0; more < 2; more++) {
        uint64_t rest = whole.n - (whole.local[1] + 30 + 8) + more;
        z = whole, at(&z, z.central[1] + 20, rest, 4), at(&z, z.central[1] + 24, rest, 4);
        if (more) archive_refused(&z, z.n, "member 1 ends beyond the file");
        else if (!(f = torch_read(z.b, z.n, "t"))) fail_msg("%s", err_msg());
        else torch_close(f);
    }
    /* the directory ends within its last entry's name */
    z = whole, at(&z, z.end + 12, z.end - z.central[0] - 1, 4);
    archive_refused(&z, z.n, "entry 2 of its zip directory is damaged");
    m[2].data = "bigger";
    zip(&z, m, 3);
    archive_refused(&z, z.n, "not little-endian");
    m[2].name = "x/data/0";
    zip(&z, m, 3);
    archive_refused(&z, z.n, "two members of one name");
    m[0].name = "x/data.txt";
    zip(&z, m, 2);
    archive_refused(&z, z.n, "without data.pkl");
    /* zip64: the locator names an end record of 56 bytes that is none */
    m[0].name = "x/data.pkl";
    char locator[20] = "PK\6\7";
    locator[8] = 5;
    struct member last[] = { m[0], { "l", locator, sizeof locator } };
    zip(&z, last, 2);
    size_t end = z.end;
    memmove(z.b + end + 20, z.b + end, 22), memcpy(z.b + end, locator, 20), z.n += 20;
    at(&z, end + 20 + 16, UINT32_MAX, 4);
    archive_refused(&z, z.n, "zip64 end record is not where it should be");
    z.b[0] = 0x80;
    archive_refused(&z, z.n, "before PyTorch 1.6");
}

/* --- what is read ----------------------------------------------------------------------------- */

static void append(char *to, size_t *n, const char *s, size_t len)
{
    memcpy(to + *n, s, len);
    *n += len;
}
#define APPEND(s) append(pickle, &n, s, sizeof(s) - 1)

static void storages_have_their_types(void **state)
{
    (void)state;
    static const struct { const char *name; enum st_dtype type; size_t size; } t[] = {
        { "FloatStorage", ST_F32, 4 }, { "HalfStorage", ST_F16, 2 },
        { "BFloat16Storage", ST_BF16, 2 }, { "DoubleStorage", ST_F64, 8 },
        { "LongStorage", ST_I64, 8 }, { "IntStorage", ST_I32, 4 }, { "ShortStorage", ST_I16, 2 },
        { "CharStorage", ST_I8, 1 }, { "ByteStorage", ST_U8, 1 }, { "BoolStorage", ST_BOOL, 1 },
    };
    static const char data[16] = "0123456789abcdef";
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        for (char more = 0; more < 2; more++) {
            char pickle[400], elements[2] = { 'K', (char)(16 / t[i].size) + more };
            static struct archive z;
            size_t n = 0;
            int tensors;
            APPEND("}" STR("\1", "a") CALL "((" STR("\7", "storage") "ctorch\n");
            append(pickle, &n, t[i].name, strlen(t[i].name));
            APPEND("\n" STR("\1", "0") STR("\3", "cpu"));
            append(pickle, &n, elements, 2);
            APPEND("tQ" "K\1" "K\1\x85" "K\1\x85" "\x89" "ccollections\nOrderedDict\n)RtRs.");
            zip(&z, (struct member[]){ { "x/data.pkl", pickle, n }, { "x/data/0", data, 16 } }, 2);
            struct torch_file *f = torch_read(z.b, z.n, "t");
            if (more && f) fail_msg("%s of one number too many", t[i].name);
            if (more) refused_for("a storage shorter than it says");
            if (more) continue;
            if (!f) fail_msg("%s: %s", t[i].name, err_msg());
            const struct st_tensor *x = torch_tensors(f, &tensors);
            assert_int_equal(x->dtype, t[i].type);
            assert_int_equal(x->bytes, t[i].size);
            assert_memory_equal(x->data, data + t[i].size, t[i].size);
            torch_close(f);
        }
}

/* `expected` are the numbers of tensor i of a pickle's. */
static void has(const struct st_tensor *t, const char *name, int ndim, const float *expected, int n)
{
    assert_string_equal(t->name, name);
    assert_int_equal(t->ndim, ndim);
    assert_int_equal(t->bytes, (size_t)n * sizeof *expected);
    assert_memory_equal(t->data, expected, t->bytes);
}

/* Protocol 4 has short strings, frames, memos without numbers; each way to write a number, to keep
 * a value and to fetch it. */
static void newer_protocols_say_the_same(void **state)
{
    (void)state;
    static const char pickle[] =
        "\x80\4" "\x95\1\0\0\0\0\0\0\0" "}" "\x94" "(" "\x8c\1" "a" "\x94"
        "\x8c\x0c" "torch._utils" "\x8c\x12" "_rebuild_tensor_v2" "\x93"
        "(" "(" "\x8c\7" "storage" "\x8c\5" "torch" "\x8c\x0c" "FloatStorage" "\x93"
        "\x8c\1" "0" "\x8c\3" "cpu" "M\6\0" "tQ" "q\x50" "J\0\0\0\0" "\x8a\1\2" "K\3" "\x86"
        "r\x51\0\0\0" STRIDE "\x89" "ccollections\nOrderedDict\n" ")R" "}" "t" "R" "q\x52"
        /* the same tensor, and a parameter of it, under other names */
        "\x8d\2\0\0\0\0\0\0\0" "b!" "h\x52"
        STR("\1", "c") "ctorch._utils\n_rebuild_parameter\n" "h\x52" "\x88" "N" "\x87" "R"
        /* the same storage and size, from number 0 on */
        "\x8c\1" "d" "\x94" CALL "(" "j\x50\0\0\0" "\x8a\0" "h\x51" "\x8a\2\1\0" "K\2" "\x86"
        "\x89" "N" "tR" "u" "}" "b.";
    int n;
    struct torch_file *f = open_pickle(pickle, sizeof pickle - 1);
    if (!f) fail_msg("%s", err_msg());
    const struct st_tensor *t = torch_tensors(f, &n);
    static const float other[6] = { 1, 3, 5, 2, 4, 6 };
    assert_int_equal(n, 4);
    has(&t[0], "a", 2, six, 6);
    has(&t[1], "b!", 2, six, 6);
    has(&t[2], "c", 2, six, 6);
    has(&t[3], "d", 2, other, 6);
    torch_close(f);
}

static void tensors_are_views_of_their_storage(void **state)
{
    (void)state;
#define ONES "K\1K\1K\1K\1K\1K\1"
    static const struct { struct bytes pickle; int ndim; float x[4]; int n; } t[] = {
        { BYTES(DICT(TENSOR(SIX, "K\5", ")", ")")), ""), 0, { 6 }, 1 },
        { BYTES(DICT(TENSOR(SIX, "K\1", "K\3\x85", "K\1\x85")), ""), 1, { 2, 3, 4 }, 3 },
        { BYTES(DICT(TENSOR(SIX, "K\1", "K\3\x85", "K\2\x85")), ""), 1, { 2, 4, 6 }, 3 },
        { BYTES(DICT(TENSOR(SIX, "K\2", "K\2K\2\x86", "K\1K\1\x86")), ""), 2, { 3, 4, 4, 5 }, 4 },
        { BYTES(DICT(TENSOR(SIX, "K\3", "K\3\x85", "K\0\x85")), ""), 1, { 4, 4, 4 }, 3 },
        { BYTES(DICT(TENSOR(SIX, "K\6", "K\0K\3\x86", STRIDE)), ""), 2, { 0 }, 0 },
        { BYTES(DICT(TENSOR(SIX, "K\4", "(" ONES "K\2K\1t", "(" ONES "K\1K\1t")), ""), 8,
          { 5, 6 }, 2 },
        /* torch.empty(0) */
        { BYTES(DICT(TENSOR(STORAGE("0", "K\0"), "K\0", "K\0\x85", "K\1\x85")), ""), 1,
          { 0 }, 0 },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        int n;
        struct torch_file *f = open_pickle(t[i].pickle.p, t[i].pickle.n);
        if (!f) fail_msg("%zu: %s", i, err_msg());
        has(torch_tensors(f, &n), "a", t[i].ndim, t[i].x, t[i].n);
        torch_close(f);
    }
    static const struct bytes bad[] = {
        BYTES(DICT(TENSOR(SIX, "K\0", "(" ONES "K\1K\1K\1t", "(" ONES "K\1K\1K\1t")),
              "arguments are not a tensor's"),
        BYTES(DICT(TENSOR(SIX, "K\0", SIZE, "\x8a\1\xff" "K\1\x86")), "not of whole numbers"),
        BYTES(DICT(TENSOR(SIX, "\x8a\1\xff", SIZE, STRIDE)), "larger than its storage"),
        BYTES(DICT("\x88"), "\"a\" is a boolean, not a tensor"),
        BYTES(DICT("K\1"), "\"a\" is an integer, not a tensor"),
        BYTES(DICT("G\x40\x09\x21\xfb\x54\x44\x2d\x18"), "\"a\" is a number, not a tensor"),
        BYTES(DICT("\x8c\1" "b"), "\"a\" is a string, not a tensor"),
        BYTES(DICT("](NNe"), "\"a\" is a list, not a tensor"),
        BYTES(DICT("]Na"), "\"a\" is a list, not a tensor"),
        BYTES(DICT(")"), "\"a\" is a tuple, not a tensor"),
        BYTES(DICT("}"), "\"a\" is a dictionary, not a tensor"),
        BYTES(DICT("ctorch\nIntStorage\n"), "\"a\" is a class, not a tensor"),
        BYTES(DICT(SIX), "\"a\" is a storage, not a tensor"),
        BYTES("}(K\1Nu.", "a key of its dictionary is an integer, not a string"),
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct torch_file *f = open_pickle(bad[i].p, bad[i].n);
        if (f) fail_msg("accepted: %s", bad[i].why);
        refused_for(bad[i].why);
    }
}

/* A file is named as it was asked for. */
static void a_file_s_faults_have_its_name(void **state)
{
    (void)state;
    static const char pickle[] = DICT("\x88");
    static struct archive z;
    zip(&z, (struct member[]){ { "x/data.pkl", pickle, sizeof pickle - 1 } }, 1);
    assert_int_equal(file_write("model.bin", z.b, z.n), 0);
    assert_null(torch_open("./model.bin"));
    refused_for("./model.bin: \"a\" is a boolean, not a tensor");
    assert_null(torch_open("no.bin"));
    refused_for("no.bin: ");
}

/* Puts n bytes (zeros) into an archive at `where`. */
static void insert(struct archive *z, size_t where, size_t n)
{
    assert_true(z->n + n <= MOST);
    memmove(z->b + where + n, z->b + where, z->n - where);
    memset(z->b + where, 0, n);
    z->n += n;
}

static void archives_are_read_as_zip_has_them(void **state)
{
    (void)state;
    static const char good[] = DICT(TENSOR(SIX, "K\0", SIZE, STRIDE));
    static struct archive z[4];
    size_t first;
    for (int i = 0; i < 4; i++)
        zip(&z[i], (struct member[]){ { "x/data.pkl", good, sizeof good - 1 },
                                      { "x/data/0", (const char *)six, sizeof six } }, 2);
    first = z[0].central[0];
    /* a local header's own extra field, which aligns the numbers */
    insert(&z[0], z[0].local[1] + 30 + 8, 5);
    at(&z[0], z[0].local[1] + 28, 5, 2);
    at(&z[0], z[0].end + 5 + 16, first + 5, 4);
    /* a comment, with what looks like an end record within */
    insert(&z[1], z[1].n, 40);
    at(&z[1], z[1].end + 20, 40, 2);
    memcpy(z[1].b + z[1].end + 22 + 10, "PK\5\6", 4);
    /* sizes and place in a zip64 field, behind another field */
    insert(&z[2], z[2].end, 6 + 4 + 24);
    size_t e = z[2].central[1], x = z[2].end;
    at(&z[2], e + 20, UINT32_MAX, 4), at(&z[2], e + 24, UINT32_MAX, 4);
    at(&z[2], e + 42, UINT32_MAX, 4), at(&z[2], e + 30, 6 + 4 + 24, 2);
    at(&z[2], x, 7, 2), at(&z[2], x + 2, 2, 2);
    at(&z[2], x + 6, 1, 2), at(&z[2], x + 8, 24, 2);
    at(&z[2], x + 10, sizeof six, 8), at(&z[2], x + 18, sizeof six, 8);
    at(&z[2], x + 26, z[2].local[1], 8);
    at(&z[2], x + 34 + 12, z[2].end + 34 - first, 4);
    /* the directory's place, size and entries in a zip64 end record */
    insert(&z[3], z[3].end, 56 + 20);
    x = z[3].end;
    memcpy(z[3].b + x, "PK\6\6", 4);
    at(&z[3], x + 32, 2, 8), at(&z[3], x + 40, z[3].end - first, 8), at(&z[3], x + 48, first, 8);
    memcpy(z[3].b + x + 56, "PK\6\7", 4);
    at(&z[3], x + 56 + 8, x, 8);
    at(&z[3], x + 76 + 10, UINT16_MAX, 2), at(&z[3], x + 76 + 16, UINT32_MAX, 4);
    for (int i = 0; i < 4; i++) {
        int n;
        struct torch_file *f = torch_read(z[i].b, z[i].n, "t");
        if (!f) fail_msg("archive %d: %s", i, err_msg());
        has(torch_tensors(f, &n), "a", 2, six, 6);
        torch_close(f);
    }
    /* a zip64 field without room for what it is to say, or longer than its entry has it */
    z[2].b[z[2].end + 8] = 23;
    archive_refused(&z[2], z[2].n, "entry 1 of its zip directory is damaged");
    z[2].b[z[2].end + 8] = 25;
    archive_refused(&z[2], z[2].n, "entry 1 of its zip directory is damaged");
}

/* --- pieces.json ------------------------------------------------------------------------------ */

#define IDS(x) "\"ids\":{\"bos\":0,\"eos\":2,\"pad\":1,\"unk\":3,\"mask\":" x "}"
#define SETTINGS(kind, lower, layout, ids) \
    "{\"kind\":" kind ",\"lower\":" lower ",\"layout\":" layout "," ids "}"

static void settings_of_pieces(void **state)
{
    (void)state;
    struct subword_settings s;
    static const struct bytes t[] = {
        BYTES("[]", "not a JSON object"),
        BYTES("{", "not valid JSON"),
        BYTES(SETTINGS("\"word\"", "true", "\"bert\"", IDS("4")), "\"kind\" is not one of"),
        BYTES(SETTINGS("1", "true", "\"bert\"", IDS("4")), "\"kind\" is not one of"),
        BYTES(SETTINGS("\"bpe\"", "1", "\"bert\"", IDS("4")), "\"lower\" is neither"),
        BYTES(SETTINGS("\"bpe\"", "true", "\"Bert\"", IDS("4")), "\"layout\" is not the name"),
        BYTES(SETTINGS("\"bpe\"", "true", "1", IDS("4")), "\"layout\" is not the name"),
        BYTES(SETTINGS("\"bpe\"", "true", "\"bert\"", IDS("-2")), "\"mask\" is not an id"),
        BYTES(SETTINGS("\"bpe\"", "true", "\"bert\"", IDS("1e9")), "\"mask\" is not an id"),
        BYTES(SETTINGS("\"bpe\"", "true", "\"bert\"", IDS("4.5")), "\"mask\" is not an id"),
        BYTES(SETTINGS("\"bpe\"", "true", "\"bert\"", "\"ids\":{}"), "\"bos\" is not an id"),
        BYTES(SETTINGS("\"bpe\"", "true", "\"bert\"", IDS("2")), "eos and mask are the same"),
    };
    assert_int_equal(subword_settings_parse(
                         &s, SETTINGS("\"bpe\"", "true", "\"bert\"", IDS("-1")), "p"), 0);
    assert_int_equal(s.kind, SUBWORD_BPE);
    assert_true(s.lower && !s.chinese);
    assert_int_equal(s.ids[1], 2);
    assert_int_equal(s.ids[4], -1);
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        if (subword_settings_parse(&s, t[i].p, "p") == 0) fail_msg("accepted: %s", t[i].p);
        refused_for(t[i].why);
    }
}

static void a_nul_in_pieces_json(void **state)
{
    (void)state;
    struct subword_settings s;
    static const char json[] = SETTINGS("\"bpe\"", "true", "\"bert\"", IDS("4")) "\0}";
    assert_int_equal(file_write(SUBWORD_FILE, json, sizeof json - 1), 0);
    assert_int_equal(subword_settings_read(&s, "."), -1);
    refused_for("a NUL byte; not a JSON file");
    assert_int_equal(file_write(SUBWORD_FILE, json, sizeof json - 3), 0);
    assert_int_equal(subword_settings_read(&s, "."), 1);
}

/* --- first bytes ------------------------------------------------------------------------------ */

/* As the programs themselves wrote them: xz, bzip2, lz4, gzip, zstd, Python's zipfile and pickle,
 * numpy.savez (which has a zip64 field before its sizes), git lfs. */
static void first_bytes_name_the_format(void **state)
{
    (void)state;
    static const struct bytes t[] = {
        BYTES("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\n", "Git LFS"),
        BYTES("\xfd" "7zXZ\0\0\4\xe6\xd6\xb4\x46", "xz"),
        BYTES("]\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff\0\x34\x19", "lzma"),
        BYTES("BZh91AY&SY\xc1\xc0\x80\xe2", "bzip2"),
        BYTES("\4\x22\x4d\x18\x64\x40\xa7\6", "lz4"),
        BYTES("\x1f\x8b\x08\x08\xb2\xd6\x07\x6b", "gzip"),
        BYTES("\x28\xb5\x2f\xfd\x24\6\x31\0", "Zstandard"),
        BYTES("PK\3\4\x14\0\0\0\0\0M6z]\x83\x16\xdc\x8c\1\0\0\0\1\0\0\0\1\0\0\0tx",
              "a zip archive"),
        BYTES("PK\3\4-\0\0\0\0\0\0\0!\0O6\1:\xff\xff\xff\xff\xff\xff\xff\xff\5\0\x14\0a.npy",
              ".npz"),
        BYTES("PK\3\4\0\0\x08\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10\0\x12\0model/data.pkl",
              "torch.save"),
        BYTES("\x80\4\x95\n\0\0", "pickle"),
        BYTES("\x80\2}q\0X", "pickle"),
        BYTES("\xba\x16\x4f\x2f\x0c\0\0\0", "fastText"),
        BYTES("\x93NUMPY\1\0v\0", ".npy"),
        BYTES("\x58\0\0\0\0\0\0\0{\"__metadata__\"", "safetensors"),
        BYTES("%PDF-1.7\n", "PDF"),
        BYTES("\n<!DOCTYPE html><html lang=en>", "HTML"),
        /* and what is none of them */
        BYTES("version https://example.org/\n", NULL),
        BYTES("the first line of a text", NULL),
        BYTES("\x80\4 is no beginning of a pickle", NULL),
        BYTES("a, b, c, {\"key\": 1}", NULL),
        BYTES("P", NULL),
        BYTES("", NULL),
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const struct foreign *f = foreign_find(t[i].p, t[i].n);
        if (!f != !t[i].why || (f && !strstr(f->what, t[i].why)))
            fail_msg("%zu: %s", i, f ? f->what : "unknown");
        assert_int_equal(foreign_refuse("p", t[i].p, t[i].n, "text"), t[i].why ? -1 : 0);
        if (t[i].why) refused_for(", not text; ");
    }
}

int main(void)
{
    if (scratch_enter() < 0) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_bytes_name_the_format),
        cmocka_unit_test(a_model_of_two_pieces),
        cmocka_unit_test(damaged_models_are_refused),
        cmocka_unit_test(one_tensor),
        cmocka_unit_test(the_stride_of_a_dimension_of_one_is_any_number),
        cmocka_unit_test(damaged_pickles_are_refused),
        cmocka_unit_test(more_values_than_a_state_dict_needs_are_refused),
        cmocka_unit_test(views_without_end_are_refused),
        cmocka_unit_test(damaged_archives_are_refused),
        cmocka_unit_test(storages_have_their_types),
        cmocka_unit_test(newer_protocols_say_the_same),
        cmocka_unit_test(tensors_are_views_of_their_storage),
        cmocka_unit_test(a_file_s_faults_have_its_name),
        cmocka_unit_test(archives_are_read_as_zip_has_them),
        cmocka_unit_test(settings_of_pieces),
        cmocka_unit_test(a_nul_in_pieces_json),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
