#include "lib/subword/subword.h"
#include <stdio.h>
#include <sys/stat.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/json/json.h"
#include "common/text/affix.h"
#include "common/utf8.h"
#include "lib/subword/spm.h"
#include "lib/subword/tokjson_in.h"
#include "lib/subword/wordpiece.h"

struct subword_model {
    struct spm *spm;
    struct tokjson *tokenizer;
    struct vocab *vocab;
    struct wordpiece w;
    /* of spm and vocab: added tokens */
    struct matcher added;
};
struct work {
    struct spm_scratch *spm;
    struct tokjson_work *tokenizer;
    struct wordpiece_scratch w;
    struct cuts cuts;
};

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Special tokens as our vocabulary spells them; what is unknown stays as it is. */
static struct tokjson *open_tokenizer(const char *path, const struct subword_settings *s)
{
    struct tokjson *t = tokjson_open(path);
    static const char *const ours[] = { "<s>", "</s>", "<pad>", NULL, "<mask>" };
    for (int i = 0; t && i < 5; i++)
        if (ours[i] && s->ids[i] >= 0) tokjson_spell(t, (uint32_t)s->ids[i], ours[i]);
    return t;
}

static int read_added(struct matcher *m, const char *dir)
{
    char *path = path_join(dir, SUBWORD_ADDED);
    size_t n;
    char *text = file_exists(path) ? file_read(path, &n) : NULL;
    int rc = !text && file_exists(path) ? -1 : 0;
    cJSON *root = text ? json_parse(text, n, path) : NULL;
    const cJSON *v;
    if (text && !root) rc = -1;
    cJSON_ArrayForEach(v, root) {
        if (rc == 0 && !(cJSON_IsNumber(v) && v->valuedouble >= 0 && v->valuedouble < 1e9
                         && v->string && *v->string))
            rc = err_set("%s: token \"%.40s\" has no id", path, v->string ? v->string : "");
        if (rc == 0) (void)matcher_add(m, v->string, (uint32_t)v->valuedouble);
    }
    if (rc == 0) matcher_index(m);
    cJSON_Delete(root);
    free(text);
    free(path);
    return rc;
}

static int open_folder(struct subword_model *p, const char *dir)
{
    int got = subword_settings_read(&p->w.s, dir);
    if (got < 0) return -1;
    if (!got)
        return err_set("%s: has no " SUBWORD_FILE ": its text is cut by bpe-apply, if it has codes",
                       dir);
    enum subword_kind kind = p->w.s.kind;
    if (kind == SUBWORD_NONE || kind == SUBWORD_BPE)
        return err_set("%s: %s", dir,
                       kind == SUBWORD_BPE ? "its text is cut by bpe-apply -c codes"
                                           : "its tokeniser did not come with it");
    char *json = path_join(dir, SUBWORD_TOKENIZER);
    /* these two kinds may also come with a tokenizer.json, which then decides */
    bool tokenizer = (kind != SUBWORD_WORDPIECE && kind != SUBWORD_SENTENCEPIECE)
                     || file_exists(json);
    char *path = path_join(dir, kind == SUBWORD_SENTENCEPIECE ? SUBWORD_MODEL : "vocab");
    if (tokenizer) p->tokenizer = open_tokenizer(json, &p->w.s);
    else if (kind == SUBWORD_SENTENCEPIECE) p->spm = spm_open(path);
    else p->vocab = vocab_read(path);
    free(json);
    free(path);
    /* a tokenizer.json names its added tokens itself */
    if (p->tokenizer) return 0;
    return p->spm || p->vocab ? read_added(&p->added, dir) : -1;
}

struct subword_model *subword_open(const char *path, bool uncased)
{
    struct subword_model *p = mem_zero(1, sizeof *p);
    int rc = 0;
    if (is_folder(path)) rc = open_folder(p, path);
    else if (str_ends(path, ".model")) rc = (p->spm = spm_open(path)) ? 0 : -1;
    else if (str_ends(path, ".json")) rc = (p->tokenizer = tokjson_open(path)) ? 0 : -1;
    else {
        p->w.s = (struct subword_settings){
            /* BERT's defaults: uncased models strip accents, all models set ideographs apart */
            .kind = SUBWORD_WORDPIECE, .lower = uncased, .strip_accents = uncased, .chinese = true
        };
        rc = (p->vocab = vocab_read(path)) ? 0 : -1;
    }
    p->w.v = p->vocab;
    if (rc == 0) return p;
    subword_free(p);
    return NULL;
}

void subword_free(struct subword_model *p)
{
    if (!p) return;
    spm_free(p->spm);
    tokjson_free(p->tokenizer);
    matcher_free(&p->added);
    vocab_free(p->vocab);
    free(p);
}

void *subword_work_new(struct subword_model *p)
{
    struct work *w = mem_zero(1, sizeof *w);
    if (p->spm) w->spm = spm_scratch_new();
    if (p->tokenizer) w->tokenizer = tokjson_work_new(p->tokenizer);
    return w;
}

void subword_work_free(void *work)
{
    struct work *w = work;
    if (!w) return;
    spm_scratch_free(w->spm);
    tokjson_work_free(w->tokenizer);
    tbuf_free(&w->cuts.text);
    free(w->cuts.v);
    wordpiece_scratch_free(&w->w);
    free(w);
}

/* Text without added tokens. */
static int plain_line(const struct subword_model *p, struct work *w, const char *line, size_t n,
                      struct tbuf *out)
{
    if (!p->spm) return wordpiece_line(&p->w, &w->w, line, n, out);
    const struct spm_cut *cut;
    size_t k = spm_encode(p->spm, w->spm, line, n, &cut);
    for (size_t i = 0; i < k; i++) {
        if (i) tbuf_byte(out, ' ');
        tbuf_add(out, cut[i].text, cut[i].n);
    }
    return 0;
}

int subword_line(const struct subword_model *p, void *work, const char *line, size_t n,
                 struct tbuf *out)
{
    struct work *w = work;
    struct cuts *c = &w->cuts;
    size_t begin = out->n;
    if (p->tokenizer) return tokjson_line(p->tokenizer, w->tokenizer, line, n, out);
    if (!p->added.n) return plain_line(p, w, line, n, out);
    c->n = c->text.n = 0;
    matcher_cut(&p->added, line, n, true, c);
    for (size_t i = 0; i < c->n; i++) {
        const char *s = c->text.p + c->v[i].at;
        size_t len = c->v[i].n, before = out->n, from;
        if (out->n > begin) tbuf_byte(out, ' ');
        from = out->n;
        if (c->v[i].id < 0) {
            if (plain_line(p, w, s, len, out) < 0) return -1;
        /* as tokjson_line writes tokens that a line of tokens cannot hold */
        } else if (memchr(s, ' ', len))
            out->n += (size_t)sprintf(tbuf_room(out, 24), "<id%d>", (int)c->v[i].id);
        else tbuf_add(out, s, len);
        /* a stretch of white space gave no piece: take back its separator */
        if (out->n == from) out->n = before;
    }
    return 0;
}

/* Bytes from `begin` on that make no character become U+FFFD each, as in both libraries; and a line
 * stays one line, whatever bytes its tokens stand for. */
static void mend(struct tbuf *out, size_t begin)
{
    for (size_t i = begin; i < out->n; i++)
        if (out->p[i] == '\n' || out->p[i] == '\r') out->p[i] = ' ';
    for (size_t at = begin; (at += utf8_check(out->p + at, out->n - at)) < out->n; at += 3) {
        tbuf_room(out, 2);
        memmove(out->p + at + 3, out->p + at + 1, out->n - at - 1);
        memcpy(out->p + at, "\uFFFD", 3);
        out->n += 2;
    }
}

/* The byte that "<0x41>" stands for, -1: none. All of it is one piece, without the spaces that
 * sscanf would skip. */
static int byte_piece(const char *s)
{
    static const char hex[] = "0123456789ABCDEF";
    const char *high = memchr(hex, s[3], 16), *low = memchr(hex, s[4], 16);
    if (memcmp(s, "<0x", 3) || s[5] != '>' || !high || !low) return -1;
    return (int)((high - hex) * 16 + (low - hex));
}

/* "\u2581" is a space; the first one is the dummy prefix before the first word. bytes: pieces like
 * "<0x41>" stand for a byte. */
static void join_spm(const char *s, size_t n, bool bytes, struct tbuf *out)
{
    size_t begin = out->n;
    for (size_t i = 0; i < n; i++) {
        /* the line's own separators */
        if (s[i] == ' ') continue;
        if (n - i >= 3 && !memcmp(s + i, "\xE2\x96\x81", 3)) {
            if (out->n > begin) tbuf_byte(out, ' ');
            i += 2;
            continue;
        }
        int byte = bytes && n - i >= 6 ? byte_piece(s + i) : -1;
        if (byte >= 0) {
            tbuf_byte(out, (char)byte);
            i += 5;
            continue;
        }
        tbuf_byte(out, s[i]);
    }
    if (bytes && out->n > begin) mend(out, begin);
}

/* Has it pieces for bytes? To others "<0x41>" is text. */
static bool has_bytes(const struct subword_model *p)
{
    const struct spm *m = p->spm ? p->spm : p->tokenizer->unigram;
    return m ? m->byte_fallback : p->tokenizer->byte_fallback;
}

void subword_join(const struct subword_model *p, const char *line, size_t n, struct tbuf *out)
{
    /* a tokenizer.json of SentencePiece's kind marks spaces as a model of it does */
    bool json = p->tokenizer && tokjson_kind(p->tokenizer) != SUBWORD_SENTENCEPIECE;
    if (json) tokjson_join(p->tokenizer, line, n, out);
    else if (p->spm || p->tokenizer) join_spm(line, n, has_bytes(p), out);
    else wordpiece_join(line, n, out);
}
