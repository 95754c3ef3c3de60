/* Reading transformers' tokeniser files. */
#include "lib/hf/tokens.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/json/json.h"
#include "common/mem.h"
#include "common/text/text.h"
#include "common/utf8.h"
#include "lib/subword/spm.h"
#include "lib/subword/tokjson.h"

enum { IDS_MOST = 1 << 24 };

/* Gives an id the token s [n]; -1: it already has another one. */
static int put(struct hf_tokens *t, int id, const char *s, size_t n, const char *where)
{
    /* a stranger's file must not decide how much memory is taken */
    if (id >= IDS_MOST) return err_set("%s: more than %d tokens", where, IDS_MOST);
    if (id >= t->n) {
        mem_room(&t->token, &t->cap, (size_t)id + 1, sizeof *t->token);
        memset(t->token + t->n, 0, (size_t)(id + 1 - t->n) * sizeof *t->token);
        t->n = id + 1;
    }
    /* the later one wins, as in transformers: added_tokens.json comes after the vocabulary */
    free(t->token[id]);
    t->token[id] = mem_zero(n + 1, 1);
    memcpy(t->token[id], s, n);
    return 0;
}

static cJSON *read_json(const char *dir, const char *name, char **path)
{
    size_t n;
    *path = path_join(dir, name);
    char *text = file_read(*path, &n);
    cJSON *root = text ? json_parse(text, n, *path) : NULL;
    if (root && !cJSON_IsObject(root)) {
        err_set("%s: not a JSON object", *path);
        cJSON_Delete(root);
        root = NULL;
    }
    free(text);
    return root;
}

static bool there(const char *dir, const char *name)
{
    char *path = path_join(dir, name);
    bool yes = file_exists(path);
    free(path);
    return yes;
}

/* The value of a flag; `otherwise` where it is null or missing. */
static bool flag(const cJSON *o, const char *key, bool otherwise)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    return cJSON_IsBool(v) ? cJSON_IsTrue(v) : otherwise;
}

static int read_lines(struct hf_tokens *t, const char *dir)
{
    char *path = path_join(dir, "vocab.txt");
    struct text *in = text_open(path, TEXT_UTF8);
    const char *line;
    size_t n;
    int rc = in ? 0 : -1;
    while (rc == 0 && (rc = text_line(in, &line, &n)) > 0) {
        if (n && line[n - 1] == '\r') n--;
        /* an id is a line's number: empty lines count */
        rc = put(t, t->n, line, n, path);
    }
    text_close(in);
    free(path);
    return rc;
}

/* The same with an id from JSON, which may be no integer. */
static int put_id(struct hf_tokens *t, const cJSON *id, const char *s, const char *where)
{
    int64_t i;
    if (!json_int(id, 0, IDS_MOST - 1, &i))
        return err_set("%s: the id of token \"%.40s\" is not a whole number from 0 to %d", where, s,
                       IDS_MOST - 1);
    return put(t, (int)i, s, strlen(s), where);
}

static bool is_id(const cJSON *v, int *id)
{
    int64_t i;
    if (!json_int(v, 0, IDS_MOST - 1, &i)) return false;
    *id = (int)i;
    return true;
}

/* {"token": id, ...} */
static int read_dictionary(struct hf_tokens *t, const cJSON *o, const char *where)
{
    const cJSON *v;
    cJSON_ArrayForEach(v, o) if (put_id(t, v, v->string, where) < 0) return -1;
    return 0;
}

static int read_dictionary_file(struct hf_tokens *t, const char *dir, const char *name)
{
    char *path;
    cJSON *root = read_json(dir, name, &path);
    int rc = root ? read_dictionary(t, root, path) : -1;
    cJSON_Delete(root);
    free(path);
    return rc;
}

static int read_vocab_json(struct hf_tokens *t, const char *dir)
{
    int rc = read_dictionary_file(t, dir, "vocab.json");
    if (rc < 0 || !there(dir, SUBWORD_ADDED)) return rc;
    return read_dictionary_file(t, dir, SUBWORD_ADDED);
}

/* Tokens beyond a SentencePiece model's or vocab.txt's. */
static int read_added(struct hf_tokens *t, const char *dir)
{
    if (!there(dir, SUBWORD_ADDED)) return 0;
    char *path = path_join(dir, SUBWORD_ADDED);
    t->added = file_read(path, NULL);
    free(path);
    return t->added ? read_dictionary_file(t, dir, SUBWORD_ADDED) : -1;
}

/* tokenizer.json of the tokenizers library: model.vocab is a dictionary, or for Unigram a list of
 * [piece, score]. */
static int read_tokenizer_json(struct hf_tokens *t, const char *dir)
{
    char *path;
    cJSON *root = read_json(dir, "tokenizer.json", &path);
    const cJSON *model = cJSON_GetObjectItemCaseSensitive(root, "model"), *v;
    const cJSON *vocab = cJSON_GetObjectItemCaseSensitive(model, "vocab"),
                *type = cJSON_GetObjectItemCaseSensitive(model, "type");
    int rc = !root ? -1 : 0, id = 0;
    if (rc == 0 && cJSON_IsArray(vocab)) {
        cJSON_ArrayForEach(v, vocab) {
            const cJSON *s = cJSON_IsArray(v) ? v->child : NULL;
            if (!cJSON_IsString(s)) {
                rc = err_set("%s: item %d of \"vocab\" is not a piece with its score", path, id);
                break;
            }
            if ((rc = put(t, id++, s->valuestring, strlen(s->valuestring), path)) < 0) break;
        }
    } else if (rc == 0 && cJSON_IsObject(vocab)) rc = read_dictionary(t, vocab, path);
    else if (rc == 0) rc = err_set("%s: has no vocabulary", path);
    cJSON_ArrayForEach(v, cJSON_GetObjectItemCaseSensitive(root, "added_tokens")) {
        const cJSON *i = cJSON_GetObjectItemCaseSensitive(v, "id"),
                    *s = cJSON_GetObjectItemCaseSensitive(v, "content");
        if (rc == 0 && cJSON_IsNumber(i) && cJSON_IsString(s))
            rc = put_id(t, i, s->valuestring, path);
    }
    /* what write_words makes of a model of ours, read back */
    t->spaced = rc == 0 && cJSON_IsString(type) && !strcmp(type->valuestring, "WordLevel");
    cJSON_Delete(root);
    free(path);
    return rc;
}

/* tokenizer.json, where it is the file that cuts text. */
static int read_tokenizer(struct hf_tokens *t, const char *dir)
{
    if (read_tokenizer_json(t, dir) < 0) return -1;
    /* its tokens are ours as they are: no tokenizer.json is kept */
    if (t->spaced) return 0;
    char *path = path_join(dir, SUBWORD_TOKENIZER);
    size_t n;
    t->json = file_read(path, &n);
    struct tokjson *j = t->json ? tokjson_read(t->json, n, path) : NULL;
    free(path);
    if (!j) return -1;
    t->s.kind = tokjson_kind(j);
    tokjson_settings(j, &t->s);
    tokjson_free(j);
    return 0;
}

/* Has tokenizer.json added tokens that the other files do not have? */
static int has_more(const struct hf_tokens *t, const char *dir)
{
    if (!there(dir, SUBWORD_TOKENIZER)) return 0;
    char *path;
    cJSON *root = read_json(dir, SUBWORD_TOKENIZER, &path);
    const cJSON *v;
    int more = root ? 0 : -1;
    cJSON_ArrayForEach(v, cJSON_GetObjectItemCaseSensitive(root, "added_tokens")) {
        const cJSON *s = cJSON_GetObjectItemCaseSensitive(v, "content");
        int id;
        /* damaged entries are read_tokenizer's to refuse, where the file is used */
        if (!is_id(cJSON_GetObjectItemCaseSensitive(v, "id"), &id) || !cJSON_IsString(s)) continue;
        /* equal ones are the specials, which tokenizer.json always lists */
        if (id >= t->n || !t->token[id] || strcmp(t->token[id], s->valuestring)) more = 1;
    }
    cJSON_Delete(root);
    free(path);
    return more;
}

/* Tokens that vocab.txt or a SentencePiece model does not have. */
static int read_more(struct hf_tokens *t, const char *dir)
{
    int more = has_more(t, dir);
    return more < 0 ? -1 : more ? read_tokenizer(t, dir) : read_added(t, dir);
}

/* --- byte-level BPE without a tokenizer.json -------------------------------------------------- */

static cJSON *byte_level(bool prefix_space)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "type", "ByteLevel");
    cJSON_AddBoolToObject(o, "add_prefix_space", prefix_space);
    cJSON_AddTrueToObject(o, "trim_offsets");
    cJSON_AddTrueToObject(o, "use_regex");
    return o;
}

static cJSON *added_token(const char *s, int id, bool special)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "id", id);
    cJSON_AddStringToObject(o, "content", s);
    cJSON_AddFalseToObject(o, "single_word");
    cJSON_AddFalseToObject(o, "lstrip");
    cJSON_AddFalseToObject(o, "rstrip");
    /* AddedToken's default in the library */
    cJSON_AddBoolToObject(o, "normalized", !special);
    cJSON_AddBoolToObject(o, "special", special);
    return o;
}

static int read_merges(cJSON *to, const char *dir)
{
    char *path = path_join(dir, "merges.txt");
    struct text *in = text_open(path, TEXT_UTF8);
    const char *line;
    size_t n;
    int rc = in ? 0 : -1;
    while (rc == 0 && (rc = text_line(in, &line, &n)) > 0) {
        /* text_line's 1 for a line */
        rc = 0;
        if (n && line[n - 1] == '\r') n--;
        if (!n || (n > 8 && !memcmp(line, "#version", 8))) continue;
        char *merge = mem_zero(n + 1, 1);
        memcpy(merge, line, n);
        cJSON_AddItemToArray(to, cJSON_CreateString(merge));
        free(merge);
    }
    text_close(in);
    free(path);
    return rc;
}

/* vocab.json, merges.txt and added_tokens.json as the tokenizer.json that transformers makes of
 * them for RoBERTa and BART. */
static int make_tokenizer(struct hf_tokens *t, enum hf_layout l, const char *dir)
{
    char *path, *config_path = NULL;
    cJSON *vocab = read_json(dir, "vocab.json", &path), *config = NULL, *extra = NULL;
    int rc = vocab ? 0 : -1, id;
    free(path);
    if (rc == 0 && there(dir, "tokenizer_config.json")
        && !(config = read_json(dir, "tokenizer_config.json", &config_path)))
        rc = -1;
    free(config_path);
    if (rc == 0 && there(dir, SUBWORD_ADDED)) {
        if (!(extra = read_json(dir, SUBWORD_ADDED, &path))) rc = -1;
        free(path);
    }
    cJSON *root = cJSON_CreateObject(), *added = cJSON_AddArrayToObject(root, "added_tokens"),
          *model = cJSON_CreateObject(), *merges, *v;
    for (int k = 0; k < 5; k++) {
        const char *s = hf_specials(l)[k];
        v = cJSON_GetObjectItemCaseSensitive(vocab, s);
        /* a special token must not be cut by the merges, where it stands in text */
        if (is_id(v, &id)) cJSON_AddItemToArray(added, added_token(s, id, true));
    }
    cJSON_ArrayForEach(v, extra)
        if (is_id(v, &id)) cJSON_AddItemToArray(added, added_token(v->string, id, false));
    /* RobertaTokenizer's default */
    bool prefix = flag(config, "add_prefix_space", false);
    /* as RobertaConverter has them (convert_slow_tokenizer.py) */
    cJSON_AddItemToObject(root, "pre_tokenizer", byte_level(prefix));
    cJSON_AddItemToObject(root, "decoder", byte_level(prefix));
    cJSON_AddItemToObject(root, "model", model);
    cJSON_AddStringToObject(model, "type", "BPE");
    /* taken over by root, which frees it */
    cJSON_AddItemToObject(model, "vocab", vocab ? vocab : cJSON_CreateObject());
    merges = cJSON_AddArrayToObject(model, "merges");
    if (rc == 0) rc = read_merges(merges, dir);
    path = path_join(dir, "vocab.json and merges.txt");
    t->json = rc == 0 ? cJSON_PrintUnformatted(root) : NULL;
    struct tokjson *j = t->json ? tokjson_read(t->json, strlen(t->json), path) : NULL;
    free(path);
    cJSON_Delete(root);
    cJSON_Delete(config);
    cJSON_Delete(extra);
    if (!j) return -1;
    t->s.kind = tokjson_kind(j);
    tokjson_free(j);
    return 0;
}

/* By the tokeniser's class where it is named; otherwise mBART-50's embeddings have room for 52
 * languages and <mask>. -1 with a message: the file that names it cannot be read. */
static int is_mbart50(const char *dir, int room)
{
    if (!there(dir, "tokenizer_config.json")) return room >= 53;
    char *path;
    cJSON *root = read_json(dir, "tokenizer_config.json", &path);
    free(path);
    if (!root) return -1;
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(root, "tokenizer_class");
    bool named = cJSON_IsString(v) && !strncmp(v->valuestring, "MBart", 5);
    int yes = named ? strstr(v->valuestring, "50") != NULL : room >= 53;
    cJSON_Delete(root);
    return yes;
}

/* XLM-R, mBART and XGLM number <s> <pad> </s> <unk>, then the model's pieces after its own three
 * specials, then what they add (transformers, convert_slow_tokenizer.py: XLMRobertaConverter,
 * MBartConverter, XGLMConverter). */
static int read_spm(struct hf_tokens *t, enum hf_layout l, int rows, const char *dir,
                    const char *name)
{
    static const char *const first[] = { "<s>", "<pad>", "</s>", "<unk>" };
    /* mBART's 25, followed by those that mBART-50 adds */
    static const char *const codes[] = {
        "ar_AR", "cs_CZ", "de_DE", "en_XX", "es_XX", "et_EE", "fi_FI", "fr_XX", "gu_IN",
        "hi_IN", "it_IT", "ja_XX", "kk_KZ", "ko_KR", "lt_LT", "lv_LV", "my_MM", "ne_NP",
        "nl_XX", "ro_RO", "ru_RU", "si_LK", "tr_TR", "vi_VN", "zh_CN", "af_ZA", "az_AZ",
        "bn_IN", "fa_IR", "he_IL", "hr_HR", "id_ID", "ka_GE", "km_KH", "mk_MK", "ml_IN",
        "mn_MN", "mr_IN", "pl_PL", "ps_AF", "pt_XX", "sv_SE", "sw_KE", "ta_IN", "te_IN",
        "th_TH", "tl_XX", "uk_UA", "ur_PK", "xh_ZA", "gl_ES", "sl_SI"
    };
    enum { MBART = 25, MBART50 = sizeof codes / sizeof *codes };
    t->model = path_join(dir, name);
    struct spm *m = spm_open(t->model);
    if (!m) return -1;
    int rc = 0;
    /* cannot fail: ids below IDS_MOST */
    for (int i = 0; i < 4; i++) put(t, i, first[i], strlen(first[i]), t->model);
    /* Its ids 0 to 2 are dropped for theirs: another order would shift all that follow. */
    if (spm_size(m) < 4 || spm_unk(m) > 2)
        rc = err_set("%s: its first three pieces are not <unk>, <s> and </s> as in XLM-R",
                     t->model);
    for (uint32_t i = 3; i < spm_size(m) && rc == 0; i++)
        rc = put(t, t->n, spm_piece(m, i)->text, spm_piece(m, i)->n, t->model);
    int fifty = l == HF_MBART && rc == 0 ? is_mbart50(dir, rows - t->n) : 0;
    int languages = l != HF_MBART ? 0 : fifty ? MBART50 : MBART;
    if (fifty < 0) rc = -1;
    for (int i = 0; i < languages && rc == 0; i++)
        rc = put(t, t->n, codes[i], strlen(codes[i]), t->model);
    char madeup[24];
    /* words that only fill up XGLM's vocabulary; transformers' tokeniser has these 7 */
    for (int i = 0; i < 7 && l == HF_XGLM && rc == 0; i++)
        rc = put(t, t->n, madeup, (size_t)sprintf(madeup, "<madeupword%d>", i), t->model);
    if (rc == 0 && l != HF_XGLM) rc = put(t, t->n, "<mask>", 6, t->model);
    spm_free(m);
    t->s.kind = SUBWORD_SENTENCEPIECE;
    return rc;
}

/* mT5's ids are those of its SentencePiece model. */
static int read_own_spm(struct hf_tokens *t, const char *dir)
{
    t->model = path_join(dir, "spiece.model");
    struct spm *m = spm_open(t->model);
    int rc = m ? 0 : -1;
    for (uint32_t i = 0; rc == 0 && i < spm_size(m); i++)
        rc = put(t, t->n, spm_piece(m, i)->text, spm_piece(m, i)->n, t->model);
    spm_free(m);
    t->s.kind = SUBWORD_SENTENCEPIECE;
    return rc;
}

/* --- settings of BERT's basic tokeniser ------------------------------------------------------- */

static int basic_tokeniser(struct hf_tokens *t, const char *dir)
{
    char *path;
    t->s.lower = t->s.strip_accents = t->s.chinese = true;      /* BertTokenizer's defaults */
    if (there(dir, "tokenizer_config.json")) {
        cJSON *root = read_json(dir, "tokenizer_config.json", &path);
        free(path);
        if (!root) return -1;
        t->s.lower = flag(root, "do_lower_case", true);
        /* null or missing: accents go where case does (BasicTokenizer) */
        t->s.strip_accents = flag(root, "strip_accents", t->s.lower);
        t->s.chinese = flag(root, "tokenize_chinese_chars", true);
        cJSON_Delete(root);
    }
    /* second, so that it wins: the fast tokeniser reads it and not tokenizer_config.json */
    if (there(dir, "tokenizer.json")) {
        cJSON *root = read_json(dir, "tokenizer.json", &path);
        free(path);
        if (!root) return -1;
        const cJSON *n = cJSON_GetObjectItemCaseSensitive(root, "normalizer");
        if (cJSON_IsObject(n)) {
            t->s.lower = flag(n, "lowercase", t->s.lower);
            t->s.strip_accents = flag(n, "strip_accents", t->s.lower);
            t->s.chinese = flag(n, "handle_chinese_chars", t->s.chinese);
        }
        cJSON_Delete(root);
    }
    return 0;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* XLM's "lo" and "low</w>" become "lo@@" and "low". */
static void to_fastbpe(struct hf_tokens *t)
{
    for (int i = 0; i < t->n; i++) {
        char *s = t->token[i];
        size_t n = s ? strlen(s) : 0;
        if (n >= 4 && !strcmp(s + n - 4, "</w>")) { s[n - 4] = 0; continue; }
        int number, end = 0;
        /* XLM's reserved tokens are whole, though nothing marks their end */
        if (!n || (sscanf(s, "<special%d>%n", &number, &end) == 1 && end == (int)n)) continue;
        t->token[i] = mem_grow(s, n + 3, 1);
        strcpy(t->token[i] + n, "@@");
    }
}

static int find_specials(struct hf_tokens *t, enum hf_layout l, const char *dir)
{
    const char *const *want = hf_specials(l);
    for (int k = 0; k < 5; k++) {
        t->s.ids[k] = -1;
        if (!want[k]) continue;
        for (int i = 0; i < t->n && t->s.ids[k] < 0; i++)
            if (t->token[i] && !strcmp(t->token[i], want[k])) t->s.ids[k] = i;
        /* <mask> may be missing: only masked language models need it, and import leaves it zeros */
        if (t->s.ids[k] < 0 && k < 4)
            return err_set("%s: the tokeniser has no %s, which %s needs", dir, want[k],
                           hf_layout_name(l));
    }
    return 0;
}

int hf_tokens_read(struct hf_tokens *t, enum hf_layout l, int rows, const char *dir)
{
    *t = (struct hf_tokens){ 0 };
    bool spm = l == HF_XLM_ROBERTA || l == HF_MBART || l == HF_XGLM,
         json = there(dir, SUBWORD_TOKENIZER);
    int rc;
    if (l == HF_BERT && there(dir, "vocab.txt")) {
        t->s.kind = SUBWORD_WORDPIECE;
        rc = read_lines(t, dir);
        if (rc == 0) rc = read_more(t, dir);
    } else if (spm && there(dir, "sentencepiece.bpe.model")) {
        rc = read_spm(t, l, rows, dir, "sentencepiece.bpe.model");
        if (rc == 0) rc = read_more(t, dir);
    } else if (spm && there(dir, "sentencepiece.model")) {
        rc = read_spm(t, l, rows, dir, "sentencepiece.model");
        if (rc == 0) rc = read_more(t, dir);
    } else if (l == HF_MT5 && there(dir, "spiece.model")) rc = read_own_spm(t, dir);
    /* XLM has no fast tokeniser: a tokenizer.json beside it is one of ours, of tokens (below) */
    else if (json && l != HF_XLM) rc = read_tokenizer(t, dir);
    else if (!spm && l != HF_BERT && l != HF_MT5 && there(dir, "vocab.json")) {
        rc = read_vocab_json(t, dir);
        if (rc == 0 && l != HF_XLM && there(dir, "merges.txt")) rc = make_tokenizer(t, l, dir);
        else if (l != HF_XLM) t->missing = "merges.txt";
    } else if (json) rc = read_tokenizer_json(t, dir);
    else
        rc = err_set("%s: has no tokeniser file (%s or tokenizer.json), so what its ids stand for "
                     "is unknown",
                     dir,
                     l == HF_BERT  ? "vocab.txt"
                     : l == HF_MT5 ? "spiece.model"
                     : spm         ? "sentencepiece.bpe.model"
                                   : "vocab.json");
    if (rc == 0) rc = find_specials(t, l, dir);
    /* tokenizer.json, where it cuts text, has these settings itself */
    if (rc == 0 && t->s.kind == SUBWORD_WORDPIECE && !t->json) rc = basic_tokeniser(t, dir);
    if (rc == 0 && l == HF_XLM && !t->spaced) {
        to_fastbpe(t);
        t->s.kind = SUBWORD_BPE;
        char *path;
        t->s.lower = true;                                      /* XLMTokenizer's default */
        if (there(dir, "tokenizer_config.json")) {
            cJSON *root = read_json(dir, "tokenizer_config.json", &path);
            free(path);
            if (!root) return -1;
            t->s.lower = flag(root, "do_lowercase_and_remove_accent", true);
            cJSON_Delete(root);
        }
        t->s.strip_accents = t->s.lower;
        if (there(dir, "merges.txt")) t->merges = path_join(dir, "merges.txt");
    }
    strcpy(t->s.layout, hf_layout_name(l));
    return rc;
}

void hf_tokens_free(struct hf_tokens *t)
{
    for (int i = 0; i < t->n; i++) free(t->token[i]);
    free(t->token); free(t->merges); free(t->model); free(t->json); free(t->added);
    *t = (struct hf_tokens){ 0 };
}

int *hf_ids(const struct subword_settings *s, int n)
{
    int *id = mem_alloc((size_t)n * sizeof *id), next = 0;
    for (int v = 0; v < VOCAB_SPECIALS; v++) id[v] = s->ids[v];
    for (int v = VOCAB_SPECIALS; v < n; v++) {
        bool taken = true;
        /* the next of their ids that is no special one */
        while (taken) {
            taken = false;
            for (int k = 0; k < VOCAB_SPECIALS && !taken; k++) taken = s->ids[k] == next;
            next += taken;
        }
        id[v] = next++;
    }
    return id;
}

void hf_usual_ids(enum hf_layout l, int n, int ids[5])
{
    /* <s> </s> <pad> <unk> <mask>, where the layout's published vocabularies have them */
    static const int bert[] = { 2, 3, 0, 1, 4 }, xlm[] = { 0, 1, 2, 3, 4 };
    const int roberta[] = { 0, 2, 1, 3, n - 1 };
    memcpy(ids, l == HF_BERT ? bert : l == HF_XLM ? xlm : roberta, 5 * sizeof *ids);
}

/* A token that a line of a vocabulary can hold. */
static bool can_stand(const char *s)
{
    return s && *s && !strpbrk(s, " \n") && utf8_check(s, strlen(s)) == strlen(s);
}

struct name { const char *s; uint32_t at; };
static int by_text(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    int c = strcmp(x->s, y->s);
    return c ? c : x->at < y->at ? -1 : x->at > y->at;
}

struct vocab *hf_tokens_vocab(const struct hf_tokens *t, int rows)
{
    uint32_t n = 0;
    char **name = mem_zero((size_t)rows, sizeof *name);
    struct name *sorted = mem_zero((size_t)rows, sizeof *sorted);
    for (int i = 0; i < rows; i++) {
        bool special = false;
        for (int k = 0; k < VOCAB_SPECIALS; k++) special |= t->s.ids[k] == i;
        if (special) continue;
        const char *s = i < t->n && can_stand(t->token[i]) ? t->token[i] : NULL;
        if (s) name[n] = mem_dup(s);
        else sprintf(name[n] = mem_alloc(24), "<id%d>", i);
        sorted[n] = (struct name){ name[n], n };
        n++;
    }
    /* a vocabulary holds a token once; SentencePiece models and paddings repeat some */
    qsort(sorted, n, sizeof *sorted, by_text);
    /* of two equal tokens the first keeps its name */
    for (uint32_t i = n; i-- > 1; )
        if (!strcmp(sorted[i].s, sorted[i - 1].s)) {
            uint32_t at = sorted[i].at;
            free(name[at]);
            sprintf(name[at] = mem_alloc(24), "<twice%u>", at);
        }
    struct vocab *v = vocab_make((const char *const *)name, NULL, n);
    for (uint32_t i = 0; i < n; i++) free(name[i]);
    free(name);
    free(sorted);
    return v;
}
