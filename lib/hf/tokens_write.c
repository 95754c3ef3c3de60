/* Writing tokeniser files that transformers opens. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cjson/cJSON.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "lib/hf/tokens.h"

struct job {
    enum hf_layout layout;
    const char *to, *from;
    const struct vocab *v;
    const struct subword_settings *s;
    int rows, positions;
    /* [rows], spelt as in the file to be written */
    char **token;
};

static int write_text(const struct job *j, const char *name, const char *text)
{
    char *path = path_join(j->to, name);
    int rc = file_write(path, text, strlen(text));
    free(path);
    return rc;
}

static int write_json(const struct job *j, const char *name, cJSON *o)
{
    char *s = cJSON_Print(o);
    int rc = s ? write_text(j, name, s) : err_set("%s/%s: does not fit into memory", j->to, name);
    free(s);
    cJSON_Delete(o);
    return rc;
}

/* A piece as XLM spells it: "lo@@" is "lo", "low" is "low</w>". */
static char *xlm_spelling(const char *s)
{
    size_t n = strlen(s);
    int number, end = 0;
    char *t = mem_alloc(n + 5);
    strcpy(t, s);
    /* as to_fastbpe leaves them when it reads */
    if (sscanf(s, "<special%d>%n", &number, &end) == 1 && s[end] == 0 && end) return t;
    if (n > 2 && !strcmp(s + n - 2, "@@")) t[n - 2] = 0;
    else strcat(t, "</w>");
    return t;
}

/* Tokens by their ids. An ordinary token that is spelt like a special one is named by its id, lest
 * their tokeniser take it for the special one. */
static void spell(struct job *j, const int *id, bool xlm)
{
    const char *const *specials = hf_specials(j->layout);
    j->token = mem_zero((size_t)j->rows, sizeof *j->token);
    for (uint32_t v = 0; v < j->v->n; v++) {
        if (id[v] < 0) continue;
        char *s = v < VOCAB_SPECIALS ? mem_dup(specials[v])
                  : xlm              ? xlm_spelling(vocab_token(j->v, v))
                                     : mem_dup(vocab_token(j->v, v));
        /* 32: "<id" and a number, whatever length the token had */
        for (int k = 0; k < VOCAB_SPECIALS && v >= VOCAB_SPECIALS; k++)
            if (!strcmp(s, specials[k])) { s = mem_grow(s, 32, 1); sprintf(s, "<id%d>", id[v]); }
        j->token[id[v]] = s;
    }
}

static cJSON *dictionary(const struct job *j)
{
    cJSON *o = cJSON_CreateObject();
    /* no row is without a token: hf_ids numbers ours from 0 without gaps */
    for (int i = 0; i < j->rows; i++) cJSON_AddNumberToObject(o, j->token[i], i);
    return o;
}

/* Names of the specials and whatever `o` has already. */
static int write_config(const struct job *j, cJSON *o, const char *class)
{
    static const char *const names[] = { "bos_token", "eos_token", "pad_token", "unk_token",
                                         "mask_token" };
    const char *const *s = hf_specials(j->layout);
    cJSON_AddStringToObject(o, "tokenizer_class", class);
    for (int k = 0; k < 5; k++)
        if (j->s->ids[k] >= 0) cJSON_AddStringToObject(o, names[k], s[k]);
    /* XLMTokenizer's default for cls_token is </s> */
    cJSON_AddStringToObject(o, "cls_token", j->layout == HF_XLM ? s[1] : s[0]);
    cJSON_AddStringToObject(o, "sep_token", s[1]);
    cJSON_AddNumberToObject(o, "model_max_length", j->positions);
    return write_json(j, "tokenizer_config.json", o);
}

/* BERT's: vocab.txt. */
static int write_wordpiece(const struct job *j)
{
    char *path = path_join(j->to, "vocab.txt");
    struct out *out = out_open(path);
    free(path);
    if (!out) return -1;
    /* errors of writing are out_commit's */
    for (int i = 0; i < j->rows; i++) fprintf(out_stdio(out), "%s\n", j->token[i]);
    if (out_commit(out) < 0) return -1;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddBoolToObject(o, "do_lower_case", j->s->lower);
    cJSON_AddBoolToObject(o, "strip_accents", j->s->strip_accents);
    cJSON_AddBoolToObject(o, "tokenize_chinese_chars", j->s->chinese);
    return write_config(j, o, "BertTokenizer");
}

static int write_spm(const struct job *j)
{
    char *path = path_join(j->from, SUBWORD_MODEL);
    int rc = file_copy(path, j->to, "sentencepiece.bpe.model");
    free(path);
    return rc < 0 ? -1
                  : write_config(j, cJSON_CreateObject(),
                                 j->layout == HF_MBART ? "MBartTokenizer" : "XLMRobertaTokenizer");
}

/* tokenizer.json as it came, and the SentencePiece model it was made from. */
static int write_tokenizer(const struct job *j, const char *json)
{
    char *model = path_join(j->from, SUBWORD_MODEL);
    int rc = file_copy(json, j->to, SUBWORD_TOKENIZER);
    if (rc == 0 && file_exists(model)) rc = file_copy(model, j->to, "sentencepiece.bpe.model");
    free(model);
    return rc < 0 ? -1 : write_config(j, cJSON_CreateObject(), "PreTrainedTokenizerFast");
}

/* XLM's: vocab.json and merges.txt, whose lines are those of our codes without the header that
 * subword-nmt's format has. */
static int write_xlm(const struct job *j, const char *codes)
{
    size_t n;
    char *text = file_read(codes, &n), *p = text;
    if (!text) return -1;
    /* XLMTokenizer skips no header */
    if (!strncmp(p, "#version", 8) && strchr(p, '\n')) p = strchr(p, '\n') + 1;
    int rc = write_text(j, "merges.txt", p);
    free(text);
    if (rc == 0) rc = write_json(j, "vocab.json", dictionary(j));
    if (rc < 0) return -1;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddBoolToObject(o, "do_lowercase_and_remove_accent", j->s->lower);
    return write_config(j, o, "XLMTokenizer");
}

static cJSON *special(const char *text)
{
    cJSON *o = cJSON_CreateObject(), *s = cJSON_AddObjectToObject(o, "SpecialToken");
    cJSON_AddStringToObject(s, "id", text);
    cJSON_AddNumberToObject(s, "type_id", 0);
    return o;
}

static cJSON *sequence(const char *which, int type)
{
    cJSON *o = cJSON_CreateObject(), *s = cJSON_AddObjectToObject(o, "Sequence");
    cJSON_AddStringToObject(s, "id", which);
    cJSON_AddNumberToObject(s, "type_id", type);
    return o;
}

/* <s> A </s>, and <s> A </s> B </s> */
static cJSON *frame(const struct job *j)
{
    const char *const *s = hf_specials(j->layout);
    cJSON *o = cJSON_CreateObject(), *one, *two, *all;
    cJSON_AddStringToObject(o, "type", "TemplateProcessing");
    one = cJSON_AddArrayToObject(o, "single");
    two = cJSON_AddArrayToObject(o, "pair");
    for (int i = 0; i < 2; i++) {
        cJSON *to = i ? two : one;
        cJSON_AddItemToArray(to, special(s[0]));
        cJSON_AddItemToArray(to, sequence("A", 0));
        cJSON_AddItemToArray(to, special(s[1]));
    }
    /* token types are BERT's alone */
    cJSON_AddItemToArray(two, sequence("B", j->layout == HF_BERT));
    cJSON_AddItemToArray(two, special(s[1]));
    all = cJSON_AddObjectToObject(o, "special_tokens");
    for (int k = 0; k < 2; k++) {
        cJSON *t = cJSON_AddObjectToObject(all, s[k]), *ids;
        cJSON_AddStringToObject(t, "id", s[k]);
        ids = cJSON_AddArrayToObject(t, "ids");
        cJSON_AddItemToArray(ids, cJSON_CreateNumber(j->s->ids[k]));
        cJSON_AddItemToObject(t, "tokens", cJSON_CreateStringArray(&s[k], 1));
    }
    return o;
}

/* tokenizer.json for text that is already cut into pieces with one space between them, as bpe-apply
 * and tokenize --subwords write it. */
static int write_words(const struct job *j)
{
    const char *const *s = hf_specials(j->layout);
    cJSON *o = cJSON_CreateObject(), *added, *split, *model;
    cJSON_AddStringToObject(o, "version", "1.0");
    cJSON_AddNullToObject(o, "truncation");
    cJSON_AddNullToObject(o, "padding");
    /* in the order of their ids, as the library writes them */
    added = cJSON_AddArrayToObject(o, "added_tokens");
    for (int i = 0; i < j->rows; i++)
        for (int k = 0; k < 5; k++) {
            if (j->s->ids[k] != i) continue;
            cJSON *t = cJSON_CreateObject();
            cJSON_AddNumberToObject(t, "id", i);
            cJSON_AddStringToObject(t, "content", s[k]);
            cJSON_AddFalseToObject(t, "single_word");
            cJSON_AddFalseToObject(t, "lstrip");
            cJSON_AddFalseToObject(t, "rstrip");
            cJSON_AddFalseToObject(t, "normalized");
            cJSON_AddTrueToObject(t, "special");
            cJSON_AddItemToArray(added, t);
        }
    cJSON_AddNullToObject(o, "normalizer");
    split = cJSON_AddObjectToObject(o, "pre_tokenizer");
    cJSON_AddStringToObject(split, "type", "Split");
    cJSON_AddStringToObject(cJSON_AddObjectToObject(split, "pattern"), "String", " ");
    cJSON_AddStringToObject(split, "behavior", "Removed");
    cJSON_AddFalseToObject(split, "invert");
    cJSON_AddItemToObject(o, "post_processor", frame(j));
    cJSON_AddNullToObject(o, "decoder");
    model = cJSON_AddObjectToObject(o, "model");
    cJSON_AddStringToObject(model, "type", "WordLevel");
    cJSON_AddItemToObject(model, "vocab", dictionary(j));
    cJSON_AddStringToObject(model, "unk_token", s[3]);
    int rc = write_json(j, "tokenizer.json", o);
    return rc < 0 ? -1 : write_config(j, cJSON_CreateObject(), "PreTrainedTokenizerFast");
}

int hf_tokens_write(enum hf_layout l, const char *to, const char *from, const struct vocab *v,
                    const struct subword_settings *s, const int *id, int rows, int positions,
                    bool tokens_only)
{
    struct job j = {
        .layout = l, .to = to, .from = from, .v = v, .s = s, .rows = rows, .positions = positions
    };
    char *codes = path_join(from, "codes"), *json = path_join(from, SUBWORD_TOKENIZER),
         *added = path_join(from, SUBWORD_ADDED);
    /* another layout has other ids, which files of this one would not have */
    bool same = !strcmp(s->layout, hf_layout_name(l));
    bool spm = l == HF_XLM_ROBERTA || l == HF_MBART;
    bool xlm = l == HF_XLM && !tokens_only && file_exists(codes);
    spell(&j, id, xlm);
    int rc = same && file_exists(json) ? write_tokenizer(&j, json)
             : l == HF_BERT && s->kind == SUBWORD_WORDPIECE ? write_wordpiece(&j)
             : spm && s->kind == SUBWORD_SENTENCEPIECE && same
                 ? write_spm(&j)
             : xlm ? write_xlm(&j, codes)
                   : write_words(&j);
    /* beside the file that it adds to: both came with the model */
    if (rc == 0 && same && file_exists(added)) rc = file_copy(added, to, SUBWORD_ADDED);
    for (int i = 0; i < rows; i++) free(j.token[i]);
    free(j.token);
    free(codes);
    free(json);
    free(added);
    return rc;
}
