#include "lib/subword/subword.h"
#include <stdio.h>
#include <sys/stat.h>
#include "common/err.h"
#include "common/file.h"
#include "lib/subword/spm.h"
#include "lib/subword/tokjson.h"
#include "lib/subword/wordpiece.h"

struct subword_model {
    struct spm *spm;
    struct tokjson *tokenizer;
    struct vocab *vocab;
    struct wordpiece w;
};
struct work {
    struct spm_scratch *spm;
    struct tokjson_work *tokenizer;
    struct wordpiece_scratch w;
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
    bool tokenizer = (kind != SUBWORD_WORDPIECE && kind != SUBWORD_SENTENCEPIECE)
                     || file_exists(json);
    char *path = path_join(dir, kind == SUBWORD_SENTENCEPIECE ? SUBWORD_MODEL : "vocab");
    if (tokenizer) p->tokenizer = open_tokenizer(json, &p->w.s);
    else if (kind == SUBWORD_SENTENCEPIECE) p->spm = spm_open(path);
    else p->vocab = vocab_read(path);
    free(json);
    free(path);
    return p->tokenizer || p->spm || p->vocab ? 0 : -1;
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);
    return n > k && !strcmp(s + n - k, end);
}

struct subword_model *subword_open(const char *path, bool uncased)
{
    struct subword_model *p = mem_zero(1, sizeof *p);
    int rc = 0;
    if (is_folder(path)) rc = open_folder(p, path);
    else if (ends_with(path, ".model")) rc = (p->spm = spm_open(path)) ? 0 : -1;
    else if (ends_with(path, ".json")) rc = (p->tokenizer = tokjson_open(path)) ? 0 : -1;
    else {
        p->w.s = (struct subword_settings){
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
    wordpiece_scratch_free(&w->w);
    free(w);
}

int subword_line(const struct subword_model *p, void *work, const char *line, size_t n,
                 struct tbuf *out)
{
    struct work *w = work;
    if (p->tokenizer) return tokjson_line(p->tokenizer, w->tokenizer, line, n, out);
    if (!p->spm) return wordpiece_line(&p->w, &w->w, line, n, out);
    const struct spm_cut *cut;
    size_t k = spm_encode(p->spm, w->spm, line, n, &cut);
    for (size_t i = 0; i < k; i++) {
        if (i) tbuf_byte(out, ' ');
        tbuf_add(out, cut[i].text, cut[i].n);
    }
    return 0;
}

/* "\u2581" is a space; the first one stands before the first word. */
static void join_spm(const char *s, size_t n, struct tbuf *out)
{
    size_t begin = out->n;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == ' ') continue;
        if (n - i >= 3 && !memcmp(s + i, "\xE2\x96\x81", 3)) {
            if (out->n > begin) tbuf_byte(out, ' ');
            i += 2;
            continue;
        }
        unsigned byte;
        if (n - i >= 6 && s[i] == '<' && s[i + 5] == '>' && sscanf(s + i, "<0x%2X>", &byte) == 1) {
            tbuf_byte(out, (char)byte);
            i += 5;
            continue;
        }
        tbuf_byte(out, s[i]);
    }
}

void subword_join(const struct subword_model *p, const char *line, size_t n, struct tbuf *out)
{
    bool json = p->tokenizer && tokjson_kind(p->tokenizer) != SUBWORD_SENTENCEPIECE;
    if (json) tokjson_join(p->tokenizer, line, n, out);
    else if (p->spm || p->tokenizer) join_spm(line, n, out);
    else wordpiece_join(line, n, out);
}
