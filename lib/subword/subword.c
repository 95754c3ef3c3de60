#include "lib/subword/subword.h"
#include <stdio.h>
#include <sys/stat.h>
#include "common/err.h"
#include "common/file.h"
#include "lib/subword/spm.h"
#include "lib/subword/wordpiece.h"

struct subword_model { struct spm *spm; struct vocab *vocab; struct wordpiece w; };
struct work { struct spm_scratch *spm; struct wordpiece_scratch w; };

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int open_folder(struct subword_model *p, const char *dir)
{
    int got = subword_settings_read(&p->w.s, dir);
    if (got < 0) return -1;
    if (!got)
        return err_set("%s: has no " SUBWORD_FILE ": its text is cut by bpe-apply, if it has codes",
                       dir);
    bool spm = p->w.s.kind == SUBWORD_SENTENCEPIECE;
    if (!spm && p->w.s.kind != SUBWORD_WORDPIECE)
        return err_set("%s: %s", dir,
                       p->w.s.kind == SUBWORD_BPE ? "its text is cut by bpe-apply -c codes"
                                                 : "its tokeniser did not come with it");
    char *path = path_join(dir, spm ? SUBWORD_MODEL : "vocab");
    if (spm) p->spm = spm_open(path);
    else p->vocab = vocab_read(path);
    free(path);
    return p->spm || p->vocab ? 0 : -1;
}

struct subword_model *subword_open(const char *path, bool uncased)
{
    struct subword_model *p = mem_zero(1, sizeof *p);
    size_t n = strlen(path);
    int rc = 0;
    if (is_folder(path)) rc = open_folder(p, path);
    else if (n > 6 && !strcmp(path + n - 6, ".model")) rc = (p->spm = spm_open(path)) ? 0 : -1;
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
    vocab_free(p->vocab);
    free(p);
}

void *subword_work_new(struct subword_model *p)
{
    struct work *w = mem_zero(1, sizeof *w);
    if (p->spm) w->spm = spm_scratch_new();
    return w;
}

void subword_work_free(void *work)
{
    struct work *w = work;
    if (!w) return;
    spm_scratch_free(w->spm);
    wordpiece_scratch_free(&w->w);
    free(w);
}

int subword_line(const struct subword_model *p, void *work, const char *line, size_t n,
                 struct tbuf *out)
{
    struct work *w = work;
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
    if (p->spm) join_spm(line, n, out);
    else wordpiece_join(line, n, out);
}
