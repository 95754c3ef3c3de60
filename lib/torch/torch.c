/* The pickle machine. Opcodes as in CPython's pickletools.py, protocols 2 to 5; what they must
 * build is described in torch/_utils.py (_rebuild_tensor_v2) and torch/serialization.py
 * (persistent_load). */
#include "lib/torch/torch.h"
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/foreign.h"
#include "common/mem.h"
#include "lib/torch/zip.h"

enum kind { NOTHING, MARK, BOOL, INT, REAL, TEXT, LIST, TUPLE, DICT, NAME, STORAGE, TENSOR };
static const char *const kind_names[] = { "None",         "a mark",   "a boolean", "an integer",
                                          "a number",     "a string", "a list",    "a tuple",
                                          "a dictionary", "a class",  "a storage", "a tensor" };

/* What a pickle may name. */
enum name { ORDERED_DICT, REBUILD_TENSOR, REBUILD_PARAMETER, STORAGE_TYPE };
static const struct { const char *module, *name; enum name what; enum st_dtype type;
} known[] = {
    { "collections", "OrderedDict", ORDERED_DICT, 0 },
    { "torch._utils", "_rebuild_tensor_v2", REBUILD_TENSOR, 0 },
    { "torch._utils", "_rebuild_parameter", REBUILD_PARAMETER, 0 },
    { "torch", "FloatStorage", STORAGE_TYPE, ST_F32 },
    { "torch", "HalfStorage", STORAGE_TYPE, ST_F16 },
    { "torch", "BFloat16Storage", STORAGE_TYPE, ST_BF16 },
    { "torch", "DoubleStorage", STORAGE_TYPE, ST_F64 },
    { "torch", "LongStorage", STORAGE_TYPE, ST_I64 },
    { "torch", "IntStorage", STORAGE_TYPE, ST_I32 },
    { "torch", "ShortStorage", STORAGE_TYPE, ST_I16 },
    { "torch", "CharStorage", STORAGE_TYPE, ST_I8 },
    { "torch", "ByteStorage", STORAGE_TYPE, ST_U8 },
    { "torch", "BoolStorage", STORAGE_TYPE, ST_BOOL },
};
enum { KNOWN = sizeof known / sizeof *known };

/* Values are numbered; containers hold numbers. */
struct value {
    enum kind kind;
    union {
        /* INT, BOOL; NAME: index into known; TENSOR: index into tensors */
        int64_t i;
        double real;
        struct { const unsigned char *p; size_t n; } text;
        /* LIST, TUPLE; DICT: key, value, key, value ... */
        struct { uint32_t *v; size_t n, cap; } list;
        struct { enum st_dtype type; int64_t elements; const unsigned char *p; } storage;
    };
};

struct torch_file {
    struct map map;
    bool mapped;
    char *path;
    struct zip zip;
    char *prefix;                                        /* "archive/" */
    struct value *value; size_t n_value, value_cap;
    uint32_t *stack; size_t n_stack, stack_cap;
    uint32_t *memo; size_t n_memo, memo_cap;             /* 0: not set (value 0 is never pushed) */
    struct st_tensor *tensor; size_t n_tensor, tensor_cap;
    /* of tensors that were not contiguous */
    void **copy; size_t n_copy, copy_cap, copied;
    struct st_tensor *named; int n_named;
    const unsigned char *p, *end, *begin;                /* the pickle */
};

/* A value takes 32 bytes, so that one-byte opcodes would take 36 times the pickle. A state dict has
 * one for four bytes or more, and 25 for each tensor. */
enum { VALUES_MOST = 4000000, VALUES_FREE = 1000 };

static int bad(const struct torch_file *f, const char *what)
{
    return err_set("%s: byte %zu of its pickle: %s", f->path, (size_t)(f->p - f->begin), what);
}

static uint32_t make(struct torch_file *f, enum kind kind)
{
    mem_room(&f->value, &f->value_cap, f->n_value + 1, sizeof *f->value);
    f->value[f->n_value] = (struct value){ .kind = kind };
    return (uint32_t)f->n_value++;
}

static void push(struct torch_file *f, uint32_t v)
{
    mem_room(&f->stack, &f->stack_cap, f->n_stack + 1, sizeof *f->stack);
    f->stack[f->n_stack++] = v;
}

static struct value *push_new(struct torch_file *f, enum kind kind)
{
    uint32_t v = make(f, kind);
    /* the pointer holds until the next value is made */
    push(f, v);
    return &f->value[v];
}

/* The value on top, taken off; NULL with a message. */
static struct value *pop(struct torch_file *f)
{
    if (!f->n_stack) { bad(f, "takes a value from an empty stack"); return NULL; }
    return &f->value[f->stack[--f->n_stack]];
}

static struct value *top(struct torch_file *f, enum kind kind)
{
    struct value *v = f->n_stack ? &f->value[f->stack[f->n_stack - 1]] : NULL;
    if (v && v->kind == kind) return v;
    bad(f, "a value is not of the expected kind");
    return NULL;
}

static int add(struct torch_file *f, struct value *to, const uint32_t *v, size_t n)
{
    mem_room(&to->list.v, &to->list.cap, to->list.n + n, sizeof *v);
    for (size_t i = 0; i < n; i++) {
        /* a mark belongs to the stack: MARK in a container would be found by nothing */
        if (f->value[v[i]].kind == MARK) return bad(f, "a mark inside a container");
        to->list.v[to->list.n++] = v[i];
    }
    return 0;
}

/* The n values above position `at` go into a new container. */
static int gather(struct torch_file *f, enum kind kind, size_t at, size_t drop)
{
    uint32_t c = make(f, kind);
    if (add(f, &f->value[c], f->stack + at, f->n_stack - at) < 0) return -1;
    /* the values go, and of TUPLE the mark below them (drop) */
    f->n_stack = at - drop;
    push(f, c);
    return 0;
}

/* Where the values above the newest mark begin; -1 with a message. */
static int64_t marked(struct torch_file *f)
{
    for (size_t i = f->n_stack; i-- > 0; )
        if (f->value[f->stack[i]].kind == MARK) return (int64_t)i + 1;
    return bad(f, "a mark is missing");
}

static int tuple_of(struct torch_file *f, size_t n)
{
    return f->n_stack < n ? bad(f, "takes a value from an empty stack")
                          : gather(f, TUPLE, f->n_stack - n, 0);
}

/* The values above the mark are added to the list or dictionary below it. */
static int add_marked(struct torch_file *f, enum kind kind)
{
    int64_t at = marked(f);
    if (at < 0) return -1;
    size_t n = f->n_stack - (size_t)at;
    uint32_t *from = f->stack + at;
    f->n_stack = (size_t)at - 1;
    struct value *to = top(f, kind);
    if (!to) return -1;
    if (kind == DICT && n % 2) return bad(f, "a key without a value");
    return add(f, to, from, n);
}

static int add_one(struct torch_file *f, enum kind kind, size_t n)
{
    if (f->n_stack < n + 1) return bad(f, "takes a value from an empty stack");
    f->n_stack -= n;
    struct value *to = top(f, kind);
    return to ? add(f, to, f->stack + f->n_stack, n) : -1;
}

static int remember(struct torch_file *f, uint64_t at)
{
    if (!f->n_stack) return bad(f, "stores a value from an empty stack");
    /* a pickle of n bytes cannot store more than n values: else 5 bytes could ask for 16 GiB of
     * memo */
    if (at > (uint64_t)(f->end - f->begin))
        return bad(f, "stores under a number that is too large");
    size_t had = f->n_memo;
    if (at >= had) {
        mem_room(&f->memo, &f->memo_cap, (size_t)at + 1, sizeof *f->memo);
        /* 0: nothing is stored there (torch_file) */
        memset(f->memo + had, 0, ((size_t)at + 1 - had) * sizeof *f->memo);
        f->n_memo = (size_t)at + 1;
    }
    f->memo[at] = f->stack[f->n_stack - 1];
    return 0;
}

static int recall(struct torch_file *f, uint64_t at)
{
    if (at >= f->n_memo || !f->memo[at]) return bad(f, "fetches a value that was never stored");
    push(f, f->memo[at]);
    return 0;
}

static bool is_text(const struct value *v, const char *s)
{
    return v->kind == TEXT && v->text.n == strlen(s) && !memcmp(v->text.p, s, v->text.n);
}

static int push_name(struct torch_file *f, const unsigned char *module, size_t nm,
                     const unsigned char *name, size_t nn)
{
    for (int i = 0; i < KNOWN; i++)
        /* both names whole: "torch._utils_x" is another module */
        if (nm == strlen(known[i].module) && !memcmp(module, known[i].module, nm)
            && nn == strlen(known[i].name) && !memcmp(name, known[i].name, nn)) {
            push_new(f, NAME)->i = i;
            return 0;
        }
    /* what it asked for is shown, but not a control character of it: the name may be an attack on a
     * terminal */
    char s[100];
    size_t n = 0;
    for (size_t i = 0; i < nm && n < 45; i++)
        s[n++] = module[i] > 32 && module[i] < 127 ? (char)module[i] : '?';
    s[n++] = '.';
    for (size_t i = 0; i < nn && n < 90; i++)
        s[n++] = name[i] > 32 && name[i] < 127 ? (char)name[i] : '?';
    s[n] = 0;
    return err_set("%s: asks for %s, which a state dict does not need; nothing was executed. Save "
                   "the state dict alone, as safetensors if possible",
                   f->path, s);
}

/* --- tensors ---------------------------------------------------------------------------------- */

/* ('storage', torch.FloatStorage, KEY, DEVICE, ELEMENTS) */
static int storage(struct torch_file *f)
{
    struct value *t = pop(f);
    if (!t) return -1;
    if (t->kind != TUPLE || t->list.n != 5)
        return bad(f, "a persistent id that is not a storage's");
    struct value *v[5];
    for (int i = 0; i < 5; i++) v[i] = &f->value[t->list.v[i]];
    /* v[3], the device, is passed over: all tensors are read to the host */
    if (!is_text(v[0], "storage") || v[1]->kind != NAME || known[v[1]->i].what != STORAGE_TYPE
        || v[2]->kind != TEXT || v[4]->kind != INT)
        return bad(f, "a persistent id that is not a storage's");
    enum st_dtype type = known[v[1]->i].type;
    int64_t elements = v[4]->i;
    /* text() refuses a NUL, so the key's bytes are a C string here; 8: "data/" and the end */
    char *name = mem_zero(strlen(f->prefix) + v[2]->text.n + 8, 1);
    strcat(strcpy(name, f->prefix), "data/");
    memcpy(name + strlen(name), v[2]->text.p, v[2]->text.n);
    const struct zip_member *m = zip_find(&f->zip, name);
    free(name);
    if (!m) return bad(f, "a storage that is not in the archive");
    /* by division: elements x size could overflow */
    if (elements < 0 || (uint64_t)elements > m->n / st_dtype_size(type))
        return bad(f, "a storage shorter than it says");
    struct value *s = push_new(f, STORAGE);
    s->storage.type = type;
    s->storage.elements = elements;
    s->storage.p = m->p;
    return 0;
}

/* Copies a strided tensor of which every element is inside its storage. */
static void copy_strided(char *to, const unsigned char *from, size_t size, int ndim,
                         const int64_t *shape, const int64_t *stride)
{
    int64_t at[8] = { 0 }, offset = 0;
    if (ndim == 0) { memcpy(to, from, size); return; }
    for (;;) {
        memcpy(to, from + (size_t)offset * size, size);
        to += size;
        int d = ndim - 1;
        for (; d >= 0; d--) {
            offset += stride[d];
            if (++at[d] < shape[d]) break;
            offset -= at[d] * stride[d];
            at[d] = 0;
        }
        if (d < 0) return;
    }
}

/* _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks[, metadata]) */
static int rebuild_tensor(struct torch_file *f, const struct value *args)
{
    struct value *s, *o, *size, *stride;
    /* a seventh, metadata, may follow in newer files, and changes no number */
    if (args->list.n < 6) return bad(f, "a tensor with too few arguments");
    s = &f->value[args->list.v[0]]; o = &f->value[args->list.v[1]];
    size = &f->value[args->list.v[2]]; stride = &f->value[args->list.v[3]];
    if (s->kind != STORAGE || o->kind != INT || size->kind != TUPLE || stride->kind != TUPLE
        || size->list.n != stride->list.n || size->list.n > 8)
        return bad(f, "a tensor whose arguments are not a tensor's");
    struct st_tensor t = { .dtype = s->storage.type, .ndim = (int)size->list.n };
    int64_t step[8], n = 1, packed = 1;
    bool contiguous = true;
    for (int d = 0; d < t.ndim; d++) {
        struct value *a = &f->value[size->list.v[d]], *b = &f->value[stride->list.v[d]];
        if (a->kind != INT || b->kind != INT || a->i < 0 || b->i < 0)
            return bad(f, "a tensor whose shape is not of whole numbers");
        t.shape[d] = a->i;
        /* the stride of a dimension of 1 may be any number, which copy_strided must not add */
        step[d] = a->i > 1 ? b->i : 0;
        if (__builtin_mul_overflow(n, a->i, &n)) return bad(f, "a tensor that is too large");
    }
    if (o->i < 0 || o->i > s->storage.elements || n > s->storage.elements)
        return bad(f, "a tensor larger than its storage");
    /* How far the last element reaches, by dimension and without a product that could overflow. */
    int64_t left = s->storage.elements - o->i - 1;
    for (int d = t.ndim - 1; d >= 0 && n; d--) {
        if (t.shape[d] > 1 && step[d] != packed) contiguous = false;
        packed *= t.shape[d];
        int64_t reach;
        if (__builtin_mul_overflow(t.shape[d] - 1, step[d], &reach) || reach > left)
            return bad(f, "a tensor that reaches beyond its storage");
        left -= reach;
    }
    if (n && left < 0) return bad(f, "a tensor that reaches beyond its storage");
    size_t bytes = st_dtype_size(t.dtype);
    t.bytes = (size_t)n * bytes;
    /* an offset at the storage's end is no address of a number */
    t.data = n ? s->storage.p + (size_t)o->i * bytes : s->storage.p;
    if (!contiguous) {
        f->copied += t.bytes;
        /* strides of 0 make a large tensor of one number: a small file could ask for all memory */
        if (f->copied / 4 > f->map.n)
            return bad(f, "more transposed tensors than the file has room for");
        char *copy = mem_alloc(t.bytes);
        copy_strided(copy, t.data, bytes, t.ndim, t.shape, step);
        mem_room(&f->copy, &f->copy_cap, f->n_copy + 1, sizeof *f->copy);
        t.data = f->copy[f->n_copy++] = copy;
    }
    mem_room(&f->tensor, &f->tensor_cap, f->n_tensor + 1, sizeof *f->tensor);
    f->tensor[f->n_tensor] = t;
    push_new(f, TENSOR)->i = (int64_t)f->n_tensor++;
    return 0;
}

static int reduce(struct torch_file *f)
{
    struct value *args = pop(f), *fn = args ? pop(f) : NULL;
    if (!fn) return -1;
    /* Functions are rows of a table: nothing is looked up by name, so nothing else can be
     * called. */
    if (fn->kind != NAME || args->kind != TUPLE)
        return bad(f, "a call of something that is not a function");
    switch (known[fn->i].what) {
    case ORDERED_DICT:
        if (args->list.n) return bad(f, "an OrderedDict with arguments");
        push_new(f, DICT);
        return 0;
    case REBUILD_TENSOR: return rebuild_tensor(f, args);
    case REBUILD_PARAMETER:
        if (!args->list.n || f->value[args->list.v[0]].kind != TENSOR)
            return bad(f, "a parameter that is not a tensor");
        /* a parameter is its tensor; requires_grad and hooks are of no use here */
        push(f, args->list.v[0]);
        return 0;
    case STORAGE_TYPE: break;
    }
    return bad(f, "a call of something that is not a function");
}

/* --- the machine ------------------------------------------------------------------------------ */

/* n bytes of operand; NULL with a message. */
static const unsigned char *operand(struct torch_file *f, uint64_t n)
{
    if (n > (uint64_t)(f->end - f->p)) { bad(f, "ends inside an operand"); return NULL; }
    const unsigned char *p = f->p;
    f->p += n;
    return p;
}

/* A little-endian number of `bytes` bytes; false with a message. */
static bool count(struct torch_file *f, int bytes, uint64_t *v)
{
    const unsigned char *p = operand(f, (uint64_t)bytes);
    *v = 0;
    for (int i = bytes; p && i-- > 0; ) *v = *v << 8 | p[i];
    return p != NULL;
}

static int text(struct torch_file *f, int bytes)
{
    uint64_t n;
    const unsigned char *p = count(f, bytes, &n) ? operand(f, n) : NULL;
    if (!p) return -1;
    if (memchr(p, 0, n)) return bad(f, "a string with a NUL byte");
    struct value *v = push_new(f, TEXT);
    v->text.p = p;
    v->text.n = n;
    return 0;
}

/* LONG1: two's complement of up to 8 bytes. */
static int big_integer(struct torch_file *f)
{
    uint64_t n, v = 0;
    const unsigned char *p = count(f, 1, &n) ? operand(f, n) : NULL;
    if (!p) return -1;
    if (n > 8) return bad(f, "an integer of more than 64 bits");
    for (uint64_t i = n; i-- > 0; ) v = v << 8 | p[i];
    if (n && n < 8 && p[n - 1] & 0x80) v |= ~UINT64_C(0) << 8 * n;
    push_new(f, INT)->i = (int64_t)v;
    return 0;
}

/* GLOBAL: two lines. */
static int global(struct torch_file *f)
{
    const unsigned char *m = f->p, *a = memchr(m, '\n', (size_t)(f->end - m));
    const unsigned char *b = a ? memchr(a + 1, '\n', (size_t)(f->end - a - 1)) : NULL;
    if (!b) return bad(f, "ends inside a name");
    f->p = b + 1;
    return push_name(f, m, (size_t)(a - m), a + 1, (size_t)(b - a - 1));
}

static int stack_global(struct torch_file *f)
{
    struct value *name = pop(f), *module = name ? pop(f) : NULL;
    if (!module) return -1;
    if (name->kind != TEXT || module->kind != TEXT) return bad(f, "a name that is not a string");
    return push_name(f, module->text.p, module->text.n, name->text.p, name->text.n);
}

static int real(struct torch_file *f)
{
    uint64_t v;
    const unsigned char *p = operand(f, 8);
    if (!p) return -1;
    v = 0;
    for (int i = 0; i < 8; i++) v = v << 8 | p[i];      /* big-endian, alone among them */
    memcpy(&push_new(f, REAL)->real, &v, 8);
    return 0;
}

static int integer(struct torch_file *f, int bytes)
{
    uint64_t v;
    if (!count(f, bytes, &v)) return -1;
    /* BININT alone is signed */
    push_new(f, INT)->i = bytes == 4 ? (int64_t)(int32_t)(uint32_t)v : (int64_t)v;
    return 0;
}

/* One opcode. 1: STOP; 0; -1. */
static int step(struct torch_file *f)
{
    uint64_t v;
    int64_t at;
    switch (*f->p++) {
    /* the protocol's number and frames' lengths tell nothing that the opcodes do not */
    case 0x80: return operand(f, 1) ? 0 : -1;                            /* PROTO */
    case 0x95: return operand(f, 8) ? 0 : -1;                            /* FRAME */
    case '.': return 1;
    case '(': push_new(f, MARK); return 0;
    case 'N': push_new(f, NOTHING); return 0;
    case 0x88: push_new(f, BOOL)->i = 1; return 0;
    case 0x89: push_new(f, BOOL)->i = 0; return 0;
    case 'J': return integer(f, 4);
    case 'K': return integer(f, 1);
    case 'M': return integer(f, 2);
    case 0x8A: return big_integer(f);
    case 'G': return real(f);
    case 'X': return text(f, 4);
    case 0x8C: return text(f, 1);
    case 0x8D: return text(f, 8);
    case '}': push_new(f, DICT); return 0;
    case ']': push_new(f, LIST); return 0;
    case ')': push_new(f, TUPLE); return 0;
    case 0x85: return tuple_of(f, 1);
    case 0x86: return tuple_of(f, 2);
    case 0x87: return tuple_of(f, 3);
    case 't': return (at = marked(f)) < 0 ? -1 : gather(f, TUPLE, (size_t)at, 1);
    case 'u': return add_marked(f, DICT);
    case 's': return add_one(f, DICT, 2);
    case 'e': return add_marked(f, LIST);
    case 'a': return add_one(f, LIST, 1);
    case 'q': return count(f, 1, &v) ? remember(f, v) : -1;
    case 'r': return count(f, 4, &v) ? remember(f, v) : -1;
    case 0x94: return remember(f, f->n_memo);
    case 'h': return count(f, 1, &v) ? recall(f, v) : -1;
    case 'j': return count(f, 4, &v) ? recall(f, v) : -1;
    case 'c': return global(f);
    case 0x93: return stack_global(f);
    case 'Q': return storage(f);
    case 'R': return reduce(f);
    case 'b': /* BUILD: attributes of the dictionary (_metadata) */
        return pop(f) && top(f, DICT) ? 0 : -1;
    /* back on the opcode, for the byte's number in the message */
    default: f->p--; return bad(f, "an instruction that a state dict does not need");
    }
}

/* The dictionary on top of the stack becomes f->named. */
static int collect(struct torch_file *f)
{
    struct value *d = f->n_stack == 1 ? &f->value[f->stack[0]] : NULL;
    if (!d || d->kind != DICT)
        return err_set("%s: holds %s, not a dictionary of tensors", f->path,
                       d ? kind_names[d->kind] : "nothing");
    f->named = mem_zero(d->list.n / 2, sizeof *f->named);
    for (size_t i = 0; i + 1 < d->list.n; i += 2) {
        const struct value *key = &f->value[d->list.v[i]], *v = &f->value[d->list.v[i + 1]];
        if (key->kind != TEXT)
            return err_set("%s: a key of its dictionary is %s, not a string", f->path,
                           kind_names[key->kind]);
        int n = key->text.n < 80 ? (int)key->text.n : 80;
        /* a training checkpoint holds the optimiser, too: which dictionary is meant is not
         * guessed */
        if (v->kind != TENSOR)
            return err_set("%s: \"%.*s\" is %s, not a tensor; save the state dict alone", f->path,
                           n, (const char *)key->text.p, kind_names[v->kind]);
        struct st_tensor *t = &f->named[f->n_named++];
        /* a copy: tied weights are one tensor under two names */
        *t = f->tensor[v->i];
        t->name = mem_zero(key->text.n + 1, 1);
        memcpy(t->name, key->text.p, key->text.n);
    }
    return 0;
}

static int load(struct torch_file *f)
{
    if (f->map.n > 1 && f->map.p[0] == 0x80)
        return err_set(
            "%s: written before PyTorch 1.6 (not a zip archive); load and save it with a newer one",
            f->path);
    if (f->map.n > 1 && memcmp(f->map.p, "PK", 2)
        && foreign_refuse(f->path, f->map.p, f->map.n, "a file of torch.save") < 0)
        return -1;
    if (zip_read(&f->zip, &f->map, f->path) < 0) return -1;
    const struct zip_member *pickle = NULL, *order;
    for (int i = 0; i < f->zip.n && !pickle; i++) {
        size_t n = strlen(f->zip.m[i].name);
        /* torch.save puts all members into a folder named after the file */
        if (n > 8 && !strcmp(f->zip.m[i].name + n - 9, "/data.pkl")) pickle = &f->zip.m[i];
    }
    if (!pickle)
        return err_set("%s: a zip archive without data.pkl; not a file of torch.save", f->path);
    f->prefix = mem_dup(pickle->name);
    f->prefix[strlen(f->prefix) - 8] = 0;
    char *name = mem_alloc(strlen(f->prefix) + 10);
    strcat(strcpy(name, f->prefix), "byteorder");
    order = zip_find(&f->zip, name);
    free(name);
    /* older files have no such member, and are little-endian */
    if (order && (order->n != 6 || memcmp(order->p, "little", 6)))
        return err_set("%s: its numbers are not little-endian", f->path);
    /* number 0 means "not remembered" */
    make(f, NOTHING);
    f->begin = f->p = pickle->p;
    f->end = f->p + pickle->n;
    int rc = 0;
    size_t most = pickle->n / 2 < VALUES_MOST ? pickle->n / 2 + VALUES_FREE : VALUES_MOST;
    while (rc == 0) {
        rc = f->p < f->end ? step(f) : bad(f, "ends without STOP");
        if (rc >= 0 && (f->n_value > most || f->n_stack > most))
            rc = bad(f, "more values than the state dict of any model needs");
    }
    return rc < 0 ? -1 : collect(f);
}

static struct torch_file *loaded(struct torch_file *f)
{
    if (load(f) == 0) return f;
    torch_close(f);
    return NULL;
}

struct torch_file *torch_open(const char *path)
{
    struct torch_file *f = mem_zero(1, sizeof *f);
    f->path = mem_dup(path);
    if (map_open(&f->map, path) < 0) { torch_close(f); return NULL; }
    f->mapped = true;
    return loaded(f);
}

struct torch_file *torch_read(const void *p, size_t n, const char *name)
{
    struct torch_file *f = mem_zero(1, sizeof *f);
    f->map = (struct map){ p, n };
    f->path = mem_dup(name);
    return loaded(f);
}

const struct st_tensor *torch_tensors(const struct torch_file *f, int *n)
{
    *n = f->n_named;
    return f->named;
}

void torch_close(struct torch_file *f)
{
    if (!f) return;
    for (size_t i = 0; i < f->n_value; i++)
        if (f->value[i].kind == LIST || f->value[i].kind == TUPLE || f->value[i].kind == DICT)
            free(f->value[i].list.v);
    for (size_t i = 0; i < f->n_copy; i++) free(f->copy[i]);
    for (int i = 0; i < f->n_named; i++) free(f->named[i].name);
    free(f->value); free(f->stack); free(f->memo); free(f->tensor); free(f->copy); free(f->named);
    zip_free(&f->zip);
    if (f->mapped) map_close(&f->map);
    free(f->prefix);
    free(f->path);
    free(f);
}
