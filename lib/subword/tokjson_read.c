/* tokenizer.json, as the tokenizers library writes it (its serde names). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/json/json.h"
#include "common/utf8.h"
#include "lib/subword/tokjson_in.h"

/* far above any vocabulary: a damaged id must not become an array of gigabytes */
enum { IDS_MOST = 1 << 24 };

struct in { struct tokjson *t; const char *where; };

static const cJSON *item(const cJSON *o, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    return v && !cJSON_IsNull(v) ? v : NULL;
}

static bool flag(const cJSON *o, const char *key, bool otherwise)
{
    const cJSON *v = item(o, key);
    return cJSON_IsBool(v) ? cJSON_IsTrue(v) : otherwise;
}

/* NULL: missing, or not a string */
static const char *string(const cJSON *o, const char *key)
{
    const cJSON *v = item(o, key);
    return cJSON_IsString(v) ? v->valuestring : NULL;
}

/* The index of a word in a list that ends with NULL; -1. */
static int which(const char *s, const char *const *list)
{
    for (int i = 0; s && list[i]; i++)
        if (!strcmp(s, list[i])) return i;
    return -1;
}

static int unsupported(const struct in *in, const char *stage, const char *what)
{
    return err_set("%s: the %s %.60s is not supported", in->where, stage,
                   what ? what : "(unnamed)");
}

/* An id: a whole number from 0 to 2^24. */
static bool is_id(const cJSON *v, uint32_t *id)
{
    if (!cJSON_IsNumber(v) || !(v->valuedouble >= 0 && v->valuedouble < IDS_MOST)) return false;
    *id = (uint32_t)v->valuedouble;
    return (double)*id == v->valuedouble;
}

/* --- patterns --------------------------------------------------------------------------------- */

/* What Oniguruma has for \w: Alphabetic, marks, digits, what connects; beside a class a few of
 * ISO 8859-1's numbers, too. (PCRE2's is letters, numbers and "_".) */
#define CIRCLED "\\x{24B6}-\\x{24E9}\\x{1F130}-\\x{1F149}\\x{1F150}-\\x{1F169}\\x{1F170}-\\x{1F189}"
#define LETTERS "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}" CIRCLED
#define WORD LETTERS "\\xB2\\xB3\\xB9\\xBC-\\xBE"
/* White_Space: with U+0085, which PCRE2's \s lacks, and without U+180E. */
#define SPACE "\\p{Z}\\t-\\r\\x{85}"
#define NO_SPACE                                                                                   \
    "\\x00-\\x08\\x0E-\\x1F!-\\x{84}\\x{86}-\\x{9F}\\x{A1}-\\x{167F}\\x{1681}-\\x{1FFF}"           \
    "\\x{200B}-\\x{2027}\\x{202A}-\\x{202E}\\x{2030}-\\x{205E}\\x{2060}-\\x{2FFF}"                 \
    "\\x{3001}-\\x{10FFFF}"
/* \h is a hexadecimal digit there. */
#define HEX "0-9a-fA-F"

/* An escape where it means something else to PCRE2; NULL: it does not. */
static const char *escape(char c, bool in_class)
{
    switch (c) {
    case 's': return in_class ? SPACE : "[" SPACE "]";
    case 'S': return in_class ? NO_SPACE : "[^" SPACE "]";
    case 'w': return in_class ? LETTERS : "[" WORD "]";
    case 'W': return in_class ? NULL : "[^" WORD "]";
    case 'h': return in_class ? HEX : "[" HEX "]";
    case 'H': return in_class ? NULL : "[^" HEX "]";
    case 'b':
        return in_class ? NULL
                        : "(?:(?<=[" WORD "])(?![" WORD "])|(?<![" WORD "])(?=[" WORD "]))";
    case 'B':
        return in_class ? NULL
                        : "(?:(?<=[" WORD "])(?=[" WORD "])|(?<![" WORD "])(?![" WORD "]))";
    default: return NULL;
    }
}

/* \p{Han} is a script there, and to PCRE2 whatever is used with it. s is after \p or \P; adds what
 * is in braces and returns its length, 0: it is no script. */
static size_t script(struct tbuf *b, const char *s)
{
    size_t not = s[0] == '{' && s[1] == '^', n = s[0] == '{' ? strcspn(s, "}") : 0;
    char re[64];
    int code;
    PCRE2_SIZE at;
    /* a name; one of a category ("Lu") is no script's and does not compile */
    if (n < 2 + not || n > 40) return 0;
    snprintf(re, sizeof re, "\\p{sc:%.*s}", (int)(n - 1 - not), s + 1 + not);
    /* PCRE2 knows which names are scripts: one that compiles is one */
    pcre2_code *c = pcre2_compile((PCRE2_SPTR)re, PCRE2_ZERO_TERMINATED, PCRE2_UTF, &code, &at,
                                  NULL);
    pcre2_code_free(c);
    if (!c) return 0;
    tbuf_add(b, not ? "{^" : "{", 1 + not);
    tbuf_add(b, re + 3, strlen(re) - 3);
    return n + 1;
}

/* A pattern of Oniguruma's for PCRE2; NULL: what it has cannot be said there (classes in classes
 * and their intersections, named classes that differ, (?m), \R and the like). */
static char *to_pcre(const char *s)
{
    struct tbuf b = { 0 };
    bool in_class = false, good = true;
    for (size_t i = 0; s[i] && good; i++) {
        const char *at = s + i;
        if (*at == '\\' && at[1]) {
            const char *as = escape(at[1], in_class);
            good = !strchr(in_class ? "WH" : "RXKGgkONy", at[1]);
            if (as) tbuf_add(&b, as, strlen(as));
            else tbuf_add(&b, at, 2);
            i++;
            if (at[1] == 'p' || at[1] == 'P') i += script(&b, at + 2);
            continue;
        }
        if (in_class) {
            const char *as = !strncmp(at, "[:space:]", 9)   ? SPACE
                             : !strncmp(at, "[:digit:]", 9) ? "\\p{Nd}"
                                                            : NULL;
            good = (*at != '[' || as) && strncmp(at, "&&", 2);
            if (as) { tbuf_add(&b, as, strlen(as)); i += 8; continue; }
            if (*at == ']') in_class = false;
        } else if (*at == '[') {
            in_class = true;
            /* "]" may come first */
            size_t k = 1 + (at[1] == '^');
            k += at[k] == ']';
            tbuf_add(&b, at, k);
            i += k - 1;
            continue;
        } else if (!strncmp(at, "(?", 2)) good = !memchr(at, 'm', 2 + strspn(at + 2, "imx-"));
        tbuf_byte(&b, *at);
    }
    tbuf_byte(&b, 0);
    if (!good) tbuf_free(&b);
    return b.p;
}

static int read_pattern(const struct in *in, const cJSON *o, struct pattern *p)
{
    const cJSON *v = item(o, "pattern");
    const char *s = string(v, "String"), *re = string(v, "Regex");
    if (!s && !re)
        return err_set("%s: a %.40s without a \"pattern\" of String or Regex", in->where,
                       string(o, "type"));
    p->text = mem_dup(s ? s : re);
    p->n = strlen(p->text);
    if (s) return 0;
    int code;
    PCRE2_SIZE at;
    char *pcre = to_pcre(re);
    if (!pcre) return unsupported(in, "pattern", re);
    /* UCP: \d and the like are Unicode's, as in Oniguruma, where escape() leaves them */
    p->re = pcre2_compile((PCRE2_SPTR)pcre, PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_UCP, &code,
                          &at, NULL);
    free(pcre);
    if (p->re) return 0;
    char why[128];
    pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
    return err_set("%s: the pattern \"%.60s\" is not supported: %s", in->where, p->text, why);
}

static void free_pattern(struct pattern *p)
{
    pcre2_code_free(p->re);
    free(p->text);
}

/* --- normalizers ------------------------------------------------------------------------------ */

/* Bytes of base64, NULL: it is none. */
static unsigned char *base64(const char *s, size_t *n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t len = strlen(s), out = 0;
    signed char value[256];
    memset(value, -1, sizeof value);
    for (int i = 0; i < 64; i++) value[(unsigned char)digits[i]] = (signed char)i;
    /* the padding says nothing that the number of digits does not */
    while (len && s[len - 1] == '=') len--;
    unsigned char *p = mem_alloc(len * 3 / 4 + 4);
    uint32_t bits = 0;
    for (size_t i = 0; i < len; i++) {
        int v = value[(unsigned char)s[i]];
        if (v < 0) { free(p); return NULL; }
        bits = bits << 6 | (uint32_t)v;
        /* 0, 2, 4 or 6 bits wait for their byte */
        if (i & 3) p[out++] = (unsigned char)(bits >> (6 - 2 * (i & 3)));
    }
    *n = out;
    return p;
}

static int read_map(const struct in *in, const cJSON *o, struct spm_map *m)
{
    const char *s = string(o, "precompiled_charsmap"), *wrong = NULL;
    size_t n = 0;
    unsigned char *p = s ? base64(s, &n) : NULL;
    if (s && !p) wrong = "a character map that is not base64";
    if (p) wrong = spm_map_read(m, p, n);
    free(p);
    return wrong ? err_set("%s: %s; damaged", in->where, wrong) : 0;
}

static int read_normalizer(const struct in *in, const cJSON *o);

/* Every member of a list through `read`. */
static int read_all(const struct in *in, const cJSON *list, const char *what,
                    int (*read)(const struct in *, const cJSON *))
{
    const cJSON *v;
    if (!cJSON_IsArray(list)) return err_set("%s: a Sequence without \"%s\"", in->where, what);
    cJSON_ArrayForEach(v, list) if (read(in, v) < 0) return -1;
    return 0;
}

static int read_normalizer(const struct in *in, const cJSON *o)
{
    static const char *const names[] = {
        "BertNormalizer", "Strip",     "StripAccents", "NFC",     "NFD",     "NFKC", "NFKD",
        "Lowercase",      "Nmt",       "Precompiled",  "Replace", "Prepend", "ByteLevel", NULL
    };
    struct tokjson *t = in->t;
    const char *type = string(o, "type");
    if (type && !strcmp(type, "Sequence"))
        return read_all(in, item(o, "normalizers"), "normalizers", read_normalizer);
    int k = which(type, names);
    if (k < 0) return unsupported(in, "normalizer", type);
    mem_room(&t->normalizer, &t->normalizers_cap, t->n_normalizers + 1, sizeof *t->normalizer);
    struct normalizer *z = &t->normalizer[t->n_normalizers++];
    *z = (struct normalizer){ .type = (enum normalizer_type)k };
    z->clean = flag(o, "clean_text", true);
    z->chinese = flag(o, "handle_chinese_chars", true);
    z->lower = flag(o, "lowercase", true);
    /* null: as case is treated (BertNormalizer) */
    z->accents = flag(o, "strip_accents", z->lower);
    z->left = flag(o, "strip_left", true);
    z->right = flag(o, "strip_right", true);
    const char *content = string(o, z->type == NORMALIZER_PREPEND ? "prepend" : "content");
    z->content = mem_dup(content ? content : "");
    if (z->type == NORMALIZER_REPLACE) return read_pattern(in, o, &z->pattern);
    return z->type == NORMALIZER_PRECOMPILED ? read_map(in, o, &z->map) : 0;
}

/* --- pre-tokenizers --------------------------------------------------------------------------- */

static int one_character(const struct in *in, const cJSON *o, const char *key, uint32_t *c)
{
    const char *s = string(o, key);
    size_t n = s ? strlen(s) : 0;
    int len = 0;
    if (n) *c = utf8_get(s, n, &len);
    return n && (size_t)len == n ? 0
                                 : err_set("%s: \"%s\" of %.40s is not one character", in->where,
                                           key, string(o, "type"));
}

static int read_metaspace(const struct in *in, const cJSON *o, struct pre_tokenizer *p)
{
    static const char *const schemes[] = { "first", "never", "always", NULL };
    const char *scheme = string(o, "prepend_scheme");
    /* files from before prepend_scheme */
    int k = scheme ? which(scheme, schemes) : SCHEME_ALWAYS;
    if (k < 0) return unsupported(in, "prepend_scheme", scheme);
    p->scheme = flag(o, "add_prefix_space", true) ? (enum scheme)k : SCHEME_NEVER;
    p->split = flag(o, "split", true);
    return one_character(in, o, "replacement", &p->character);
}

static int read_behavior(const struct in *in, const cJSON *o, enum behavior *b)
{
    static const char *const names[] = { "Removed", "Isolated", "MergedWithPrevious",
                                         "MergedWithNext", "Contiguous", NULL };
    const char *s = string(o, "behavior");
    int k = s ? which(s, names) : (int)*b;
    if (k < 0) return unsupported(in, "behavior", s);
    *b = (enum behavior)k;
    return 0;
}

static int read_pre(const struct in *in, const cJSON *o)
{
    static const char *const names[] = { "BertPreTokenizer", "ByteLevel", "CharDelimiterSplit",
                                         "Metaspace", "Whitespace", "WhitespaceSplit", "Split",
                                         "Punctuation", "Digits", NULL };
    struct tokjson *t = in->t;
    const char *type = string(o, "type");
    if (type && !strcmp(type, "Sequence"))
        return read_all(in, item(o, "pretokenizers"), "pretokenizers", read_pre);
    int k = which(type, names);
    if (k < 0) return unsupported(in, "pre-tokenizer", type);
    mem_room(&t->pre, &t->pre_cap, t->n_pre + 1, sizeof *t->pre);
    struct pre_tokenizer *p = &t->pre[t->n_pre++];
    *p = (struct pre_tokenizer){ .type = (enum pre_type)k };
    switch (p->type) {
    case PRE_BYTE_LEVEL:
        p->prefix_space = flag(o, "add_prefix_space", true);
        p->regex = flag(o, "use_regex", true);
        return 0;
    case PRE_DELIMITER: return one_character(in, o, "delimiter", &p->character);
    case PRE_METASPACE: return read_metaspace(in, o, p);
    case PRE_SPLIT:
        p->invert = flag(o, "invert", false);
        return read_behavior(in, o, &p->behavior) < 0 ? -1 : read_pattern(in, o, &p->pattern);
    case PRE_PUNCTUATION:
        p->behavior = BEHAVIOR_ISOLATED;
        return read_behavior(in, o, &p->behavior);
    case PRE_DIGITS:
        p->behavior = flag(o, "individual_digits", false) ? BEHAVIOR_ISOLATED
                                                          : BEHAVIOR_CONTIGUOUS;
        return 0;
    default: return 0;
    }
}

/* --- tokens ----------------------------------------------------------------------------------- */

/* Can a line of tokens, separated by spaces, hold it? */
static bool can_stand(const char *s) { return *s && !strpbrk(s, " \n"); }

static void put_token(struct tokjson *t, uint32_t id, const char *s)
{
    if (id >= t->n) {
        mem_room(&t->token, &t->cap, (size_t)id + 1, sizeof *t->token);
        mem_room(&t->spelling, &t->spelling_cap, (size_t)id + 1, sizeof *t->spelling);
        memset(t->token + t->n, 0, (id + 1 - t->n) * sizeof *t->token);
        memset(t->spelling + t->n, 0, (id + 1 - t->n) * sizeof *t->spelling);
        t->n = id + 1;
    }
    free(t->token[id]);
    free(t->spelling[id]);
    /* an added token may take the place of one of the vocabulary's */
    t->token[id] = mem_dup(s);
    if (can_stand(s)) t->spelling[id] = mem_dup(s);
    else sprintf(t->spelling[id] = mem_alloc(24), "<id%u>", id);
}

void tokjson_spell(struct tokjson *t, uint32_t id, const char *as)
{
    if (id >= t->n || !t->token[id]) return;
    free(t->spelling[id]);
    t->spelling[id] = mem_dup(as);
}

/* {"token": id, ...} */
static int read_dictionary(const struct in *in, const cJSON *vocab)
{
    struct tokjson *t = in->t;
    const cJSON *v;
    size_t bytes = 0;
    if (!cJSON_IsObject(vocab)) return err_set("%s: has no vocabulary", in->where);
    cJSON_ArrayForEach(v, vocab) bytes += strlen(v->string);
    /* room for all texts first: spm_trie_node does not grow the trie */
    spm_trie_init(&t->trie, bytes);
    cJSON_ArrayForEach(v, vocab) {
        uint32_t id;
        if (!is_id(v, &id))
            return err_set("%s: token \"%.40s\" has no id", in->where, v->string);
        if (id < t->n && t->token[id])
            return err_set("%s: tokens \"%.40s\" and \"%.40s\" have the id %u", in->where,
                           t->token[id], v->string, id);
        put_token(t, id, v->string);
        /* an empty token has an id, and no text is it */
        if (*v->string)
            t->trie.piece[spm_trie_node(&t->trie, v->string, strlen(v->string))] = (int32_t)id;
    }
    return 0;
}

static int read_unk(const struct in *in, const cJSON *model, bool needed)
{
    struct tokjson *t = in->t;
    const char *unk = string(model, "unk_token");
    t->unk = unk ? spm_trie_find(&t->trie, unk, strlen(unk)) : -1;
    if (unk && t->unk < 0)
        return err_set("%s: \"unk_token\" \"%.40s\" is not in the vocabulary", in->where, unk);
    return !unk && needed ? err_set("%s: has no \"unk_token\"", in->where) : 0;
}

/* --- models ----------------------------------------------------------------------------------- */

/* A score as the library reads it: its digits as an integer, rounded to a double, divided by a
 * power of ten and rounded again. Of more than 15 digits that can be the double next to the right
 * one, and of segmentations that are the same pieces in another order such a difference chooses. */
static double as_serde(double v)
{
    char s[40];
    int digits = 15;
    while (snprintf(s, sizeof s, "%.*e", digits - 1, v), digits < 17 && strtod(s, NULL) != v)
        digits++;
    const char *e = strchr(s, 'e');
    if (!e) return v;
    int exponent = atoi(e + 1) - (digits - 1);
    uint64_t whole = 0;
    for (const char *p = s; p < e; p++)
        if (*p >= '0' && *p <= '9') whole = 10 * whole + (uint64_t)(*p - '0');
    /* the trailing zeros that the file does not have */
    while (whole && whole % 10 == 0) whole /= 10, exponent++;
    /* powers of ten up to 10^22 are exact in a double; beyond, the nearest double is kept */
    if (exponent > 22 || exponent < -22) return v;
    double f = exponent >= 0 ? (double)whole * pow(10, exponent)
                             : (double)whole / pow(10, -exponent);
    return *s == '-' ? -f : f;
}

static int read_unigram(const struct in *in, const cJSON *model)
{
    struct tokjson *t = in->t;
    const cJSON *vocab = item(model, "vocab"), *v;
    uint32_t unk, n = 0;
    if (!cJSON_IsArray(vocab)) return err_set("%s: has no vocabulary", in->where);
    int count = cJSON_GetArraySize(vocab);
    if (!is_id(item(model, "unk_id"), &unk) || unk >= (uint32_t)count)
        return err_set("%s: \"unk_id\" is not one of its pieces", in->where);
    struct spm_piece *pieces = mem_alloc((size_t)count * sizeof *pieces);
    int rc = 0;
    cJSON_ArrayForEach(v, vocab) {
        const cJSON *s = cJSON_IsArray(v) ? v->child : NULL, *score = s ? s->next : NULL;
        if (n >= IDS_MOST || !cJSON_IsString(s) || !cJSON_IsNumber(score)
            || !isfinite(score->valuedouble)) {
            rc = err_set("%s: item %u of \"vocab\" is not a piece with its score", in->where, n);
            break;
        }
        pieces[n] = (struct spm_piece){ .text = s->valuestring,
                                        .n = (uint32_t)strlen(s->valuestring),
                                        .score = as_serde(score->valuedouble) };
        put_token(t, n++, s->valuestring);
    }
    t->unk = (int32_t)unk;
    if (rc == 0
        && !(t->unigram = spm_unigram(pieces, n, unk, flag(model, "byte_fallback", false),
                                      in->where)))
        rc = -1;
    free(pieces);
    return rc;
}

/* ["left", "right"], or "left right" */
static int read_merge(const struct in *in, const cJSON *v, uint32_t rank)
{
    struct tokjson *t = in->t;
    const cJSON *a = cJSON_IsArray(v) ? v->child : NULL, *b = a ? a->next : NULL;
    const char *left = cJSON_IsString(a) ? a->valuestring : NULL,
               *right = cJSON_IsString(b) ? b->valuestring : NULL;
    size_t n = left ? strlen(left) : 0;
    if (cJSON_IsString(v)) {
        left = v->valuestring;
        const char *space = strchr(left, ' ');
        n = space ? (size_t)(space - left) : 0;
        /* old files: a token with a space cannot be in a merge */
        right = space && !strchr(space + 1, ' ') ? space + 1 : NULL;
    }
    if (!left || !right) return err_set("%s: merge %u is not of two tokens", in->where, rank);
    int32_t l = spm_trie_find(&t->trie, left, n),
            r = spm_trie_find(&t->trie, right, strlen(right));
    struct tbuf both = { 0 };
    tbuf_add(&both, left, n);
    /* "##b" after "a" merges into "ab", not "a##b" */
    size_t skip = r >= 0 && t->prefix_n && !strncmp(right, t->prefix, t->prefix_n) ? t->prefix_n
                                                                                    : 0;
    tbuf_add(&both, right + skip, strlen(right + skip));
    int32_t id = l >= 0 && r >= 0 ? spm_trie_find(&t->trie, both.p, both.n) : -1;
    tbuf_free(&both);
    if (id < 0)
        return err_set("%s: merge %u, \"%.40s\", is of or into tokens that the vocabulary lacks",
                       in->where, rank, left);
    mem_room(&t->merge, &t->merges_cap, t->n_merges + 1, sizeof *t->merge);
    t->merge[t->n_merges++] = (struct merge){ rank, (uint32_t)id };
    /* of two equal ones the last counts */
    uint32_t at = hashmap_add(&t->pair, (uint64_t)(uint32_t)l << 32 | (uint32_t)r,
                              (uint32_t)t->n_merges);
    if (at != t->n_merges) t->merge[at - 1] = (struct merge){ rank, (uint32_t)id };
    return 0;
}

static int read_bpe(const struct in *in, const cJSON *model)
{
    struct tokjson *t = in->t;
    const cJSON *merges = item(model, "merges"), *v, *dropout = item(model, "dropout");
    const char *prefix = string(model, "continuing_subword_prefix"),
               *suffix = string(model, "end_of_word_suffix");
    if (suffix && *suffix) return unsupported(in, "end_of_word_suffix", suffix);
    /* merges left out at random would give another text at each run */
    if (dropout && !(cJSON_IsNumber(dropout) && dropout->valuedouble == 0))
        return err_set("%s: a dropout of merges is not supported: set it to null", in->where);
    t->prefix = mem_dup(prefix ? prefix : "");
    t->prefix_n = strlen(t->prefix);
    t->fuse_unk = flag(model, "fuse_unk", false);
    t->byte_fallback = flag(model, "byte_fallback", false);
    t->ignore_merges = flag(model, "ignore_merges", false);
    if (read_dictionary(in, item(model, "vocab")) < 0 || read_unk(in, model, false) < 0) return -1;
    for (int i = 0; i < 256; i++) {
        char byte[8];
        snprintf(byte, sizeof byte, "<0x%02X>", i);
        t->byte_id[i] = spm_trie_find(&t->trie, byte, 6);
    }
    uint32_t rank = 0;
    if (!cJSON_IsArray(merges)) return err_set("%s: has no merges", in->where);
    cJSON_ArrayForEach(v, merges) if (read_merge(in, v, rank++) < 0) return -1;
    return 0;
}

static int read_wordpiece(const struct in *in, const cJSON *model)
{
    struct tokjson *t = in->t;
    const char *prefix = string(model, "continuing_subword_prefix");
    const cJSON *most = item(model, "max_input_chars_per_word");
    /* the library's default */
    uint32_t chars = 100;
    if (most && !is_id(most, &chars))
        return err_set("%s: \"max_input_chars_per_word\" is not a number", in->where);
    t->prefix = mem_dup(prefix ? prefix : "##");
    t->prefix_n = strlen(t->prefix);
    t->chars_most = chars;
    return read_dictionary(in, item(model, "vocab")) < 0 ? -1 : read_unk(in, model, true);
}

static int read_model(const struct in *in, const cJSON *model)
{
    static const char *const names[] = { "Unigram", "BPE", "WordPiece", "WordLevel", NULL };
    const char *type = string(model, "type");
    /* files of old versions do not name it */
    if (!type && item(model, "merges")) type = "BPE";
    if (!type && item(model, "unk_id")) type = "Unigram";
    int k = which(type, names);
    if (k < 0) return unsupported(in, "model", type);
    in->t->model = (enum model_type)k;
    switch (in->t->model) {
    case MODEL_UNIGRAM: return read_unigram(in, model);
    case MODEL_BPE: return read_bpe(in, model);
    case MODEL_WORDPIECE: return read_wordpiece(in, model);
    case MODEL_WORD_LEVEL: break;
    }
    return read_dictionary(in, item(model, "vocab")) < 0 ? -1 : read_unk(in, model, true);
}

/* --- added tokens ----------------------------------------------------------------------------- */

static int read_added(const struct in *in, const cJSON *o)
{
    struct tokjson *t = in->t;
    const char *s = string(o, "content");
    uint32_t id;
    if (!s || !is_id(item(o, "id"), &id))
        return err_set("%s: an added token without content or id", in->where);
    if (!*s) return 0;
    put_token(t, id, s);
    struct added *a = matcher_add(flag(o, "normalized", true) ? &t->normalized : &t->plain, s, id);
    a->single_word = flag(o, "single_word", false);
    a->lstrip = flag(o, "lstrip", false);
    a->rstrip = flag(o, "rstrip", false);
    return 0;
}

/* What is looked for after the normalizers is what they make of it. */
static int normalize_added(struct tokjson *t)
{
    struct tokjson_work *w = tokjson_work_new(t);
    int rc = 0;
    for (size_t i = 0; i < t->normalized.n && rc == 0; i++) {
        struct added *a = &t->normalized.v[i];
        const char *s;
        bool start = true;
        size_t n;
        if ((rc = tokjson_normalize_text(t, w, a->text, a->n, &start, &s, &n)) < 0) break;
        char *text = mem_zero(n + 1, 1);
        memcpy(text, s, n);
        free(a->text);
        a->text = text;
        a->n = n;
    }
    tokjson_work_free(w);
    return rc;
}

/* --- the whole -------------------------------------------------------------------------------- */

static bool has_pre(const struct tokjson *t, enum pre_type type)
{
    for (size_t i = 0; i < t->n_pre; i++)
        if (t->pre[i].type == type) return true;
    return false;
}

/* How words and spaces can be recognised in the tokens. */
static enum subword_kind kind_of(const struct tokjson *t)
{
    for (size_t i = 0; i < t->n_normalizers; i++) {
        const struct normalizer *z = &t->normalizer[i];
        if (z->type == NORMALIZER_BYTE_LEVEL) return SUBWORD_BYTE_LEVEL;
        if ((z->type == NORMALIZER_PREPEND || z->type == NORMALIZER_REPLACE)
            && !strcmp(z->content, "\u2581"))
            return SUBWORD_SENTENCEPIECE;
    }
    if (has_pre(t, PRE_BYTE_LEVEL)) return SUBWORD_BYTE_LEVEL;
    if (has_pre(t, PRE_METASPACE) || t->model == MODEL_UNIGRAM) return SUBWORD_SENTENCEPIECE;
    return t->model != MODEL_WORD_LEVEL && t->prefix_n ? SUBWORD_WORDPIECE : SUBWORD_WORDS;
}

static int read_root(const struct in *in, const cJSON *root)
{
    struct tokjson *t = in->t;
    const cJSON *v;
    if (!cJSON_IsObject(root) || !item(root, "model"))
        return err_set("%s: has no \"model\"; not a file of the tokenizers library", in->where);
    if (read_model(in, item(root, "model")) < 0) return -1;
    if ((v = item(root, "normalizer")) && read_normalizer(in, v) < 0) return -1;
    if ((v = item(root, "pre_tokenizer")) && read_pre(in, v) < 0) return -1;
    cJSON_ArrayForEach(v, item(root, "added_tokens")) if (read_added(in, v) < 0) return -1;
    /* after the normalizers have been read, before the tries of what they give */
    if (normalize_added(t) < 0) return -1;
    matcher_index(&t->plain);
    matcher_index(&t->normalized);
    t->kind = kind_of(t);
    /* wordpiece_join and offsets.c know "##" alone */
    if (t->prefix_n && t->kind == SUBWORD_WORDPIECE && strcmp(t->prefix, "##"))
        return unsupported(in, "continuing_subword_prefix", t->prefix);
    return 0;
}

struct tokjson *tokjson_read(const char *json, size_t n, const char *name)
{
    cJSON *root = json_parse(json, n, name);
    if (!root) return NULL;
    struct tokjson *t = mem_zero(1, sizeof *t);
    struct in in = { t, name };
    t->unk = -1;
    int rc = read_root(&in, root);
    cJSON_Delete(root);
    if (rc == 0) return t;
    tokjson_free(t);
    return NULL;
}

struct tokjson *tokjson_open(const char *path)
{
    size_t n;
    char *json = file_read(path, &n);
    struct tokjson *t = json ? tokjson_read(json, n, path) : NULL;
    free(json);
    return t;
}

void tokjson_free(struct tokjson *t)
{
    if (!t) return;
    for (size_t i = 0; i < t->n_normalizers; i++) {
        free_pattern(&t->normalizer[i].pattern);
        free(t->normalizer[i].content);
        spm_map_free(&t->normalizer[i].map);
    }
    for (size_t i = 0; i < t->n_pre; i++) free_pattern(&t->pre[i].pattern);
    for (uint32_t i = 0; i < t->n; i++) { free(t->token[i]); free(t->spelling[i]); }
    matcher_free(&t->plain);
    matcher_free(&t->normalized);
    spm_free(t->unigram);
    spm_trie_free(&t->trie);
    hashmap_free(&t->pair);
    free(t->normalizer); free(t->pre); free(t->token); free(t->spelling); free(t->prefix);
    free(t->merge);
    free(t);
}

uint32_t tokjson_size(const struct tokjson *t) { return t->n; }
const char *tokjson_token(const struct tokjson *t, uint32_t id) { return t->token[id]; }
enum subword_kind tokjson_kind(const struct tokjson *t) { return t->kind; }

void tokjson_settings(const struct tokjson *t, struct subword_settings *s)
{
    for (size_t i = 0; i < t->n_normalizers; i++) {
        const struct normalizer *z = &t->normalizer[i];
        bool bert = z->type == NORMALIZER_BERT;
        if (z->type == NORMALIZER_LOWERCASE || (bert && z->lower)) s->lower = true;
        if (z->type == NORMALIZER_STRIP_ACCENTS || (bert && z->accents)) s->strip_accents = true;
        if (bert && z->chinese) s->chinese = true;
    }
}
