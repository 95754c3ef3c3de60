#include "lib/hf/card.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/files/sum.h"
#include "common/mem.h"

/* --- the run ---------------------------------------------------------------------------------- */

/* The value of a line "name = value", into to [cap]; "" if there is none. */
static void value_of(const char *config, const char *name, char *to, size_t cap)
{
    size_t n = strlen(name);
    *to = '\0';
    /* the first line of that name: what is looked for is given once */
    for (const char *s = config; s; s = strchr(s, '\n') ? strchr(s, '\n') + 1 : NULL)
        if (!strncmp(s, name, n) && !strncmp(s + n, " = ", 3)) {
            snprintf(to, cap, "%.*s", (int)strcspn(s + n + 3, "\n"), s + n + 3);
            return;
        }
}

int hf_run_read(struct hf_run *r, const char *dir)
{
    static const char begin[] = "# options of this run: ";
    *r = (struct hf_run){ 0 };
    /* `best` and `last` are links into checkpoints; a model that was copied elsewhere has no run to
     * tell of */
    char *real = path_real(dir), *end = real ? strstr(real, "/checkpoints/step-") : NULL;
    if (end) *end = '\0';
    char *path = end ? path_join(real, "run.config") : NULL;
    bool there = path && file_exists(path);
    if (there) r->config = file_read(path, NULL);
    free(path);
    free(real);
    /* no run.config is no error: models are also made by import */
    if (!r->config) return there ? -1 : 0;
    if (!strncmp(r->config, begin, sizeof begin - 1))
        snprintf(r->program, sizeof r->program, "%.*s",
                 (int)strcspn(r->config + sizeof begin - 1, "\n"), r->config + sizeof begin - 1);
    /* finetune's objectives follow from its task, and run.config records the task */
    value_of(r->config, strcmp(r->program, "finetune") ? "objective" : "task", r->objective,
             sizeof r->objective);
    if (!strcmp(r->program, "align-post")) value_of(r->config, "pool", r->pool, sizeof r->pool);
    return 0;
}

void hf_run_free(struct hf_run *r)
{
    free(r->config);
    *r = (struct hf_run){ 0 };
}

/* --- the card --------------------------------------------------------------------------------- */

static bool is_kind(const struct hf_card *card, enum model_task task)
{
    return card->head && card->head->reads.task == task;
}

static const char *pipeline(const struct hf_card *card)
{
    /* sentences first: align-post's model has no head, and its encoder alone would be "fill-
     * mask" */
    return card->pool                          ? "sentence-similarity"
           : is_kind(card, MODEL_TASK_CLASS)   ? "text-classification"
           : is_kind(card, MODEL_TASK_TAG)     ? "token-classification"
           : is_kind(card, MODEL_TASK_SPAN)    ? "question-answering"
           : hf_is_seq2seq(card->layout)       ? "translation"
           /* BERT's and RoBERTa's language model is written only with its transformation
            * (put_param) */
           : card->c->output_transform || card->layout == HF_XLM ? "fill-mask"
                                                                 : "feature-extraction";
}

static const char *auto_class(const struct hf_card *card)
{
    return is_kind(card, MODEL_TASK_CLASS)  ? "AutoModelForSequenceClassification"
           : is_kind(card, MODEL_TASK_TAG)  ? "AutoModelForTokenClassification"
           : is_kind(card, MODEL_TASK_SPAN) ? "AutoModelForQuestionAnswering"
           : hf_is_seq2seq(card->layout)    ? "AutoModelForSeq2SeqLM"
                                            : "AutoModel";
}

static void put_usage(FILE *f, const struct hf_card *card)
{
    fputs("## Use\n\n```python\n", f);
    if (card->pool)
        fputs("from sentence_transformers import SentenceTransformer\n"
              "model = SentenceTransformer(\"path/to/this/folder\")\n"
              "print(model.encode([\"a sentence\", \"another one\"]).shape)\n",
              f);
    else
        fprintf(f,
                "from transformers import AutoTokenizer, %s\n"
                "tokenizer = AutoTokenizer.from_pretrained(\"path/to/this/folder\")\n"
                "model = %s.from_pretrained(\"path/to/this/folder\")\n"
                "batch = tokenizer([\"a sentence\"], return_tensors=\"pt\")\n"
                "print(model%s(**batch)%s)\n",
                auto_class(card), auto_class(card), hf_is_seq2seq(card->layout) ? ".generate" : "",
                hf_is_seq2seq(card->layout) ? "" : "[0].shape");
    fputs("```\n", f);
    if (card->tokens_only)
        fputs("\nThe tokenizer reads the model's tokens, one space between them, and not plain "
              "text, which becomes other tokens and unknown ones: cut it first with isoglot's "
              "`tokenize --subwords`, by the folder that this one was exported from.\n",
              f);
}

/* Files that the run read and that are still there, with their checksums. */
static int put_data(FILE *f, const char *config)
{
    static const char *const names[] = { "train", "valid", "parallel", "valid-parallel", "pseudo",
                                         "dict", "cooc", "train-parallel" };
    bool begun = false;
    int rc = 0;
    for (const char *s = config, *end; rc == 0 && s && *s; s = end ? end + 1 : NULL) {
        end = strchr(s, '\n');
        size_t n = end ? (size_t)(end - s) : strlen(s), k = 0;
        const char *is = memmem(s, n, " = ", 3);
        if (!is) continue;
        for (; k < sizeof names / sizeof *names; k++)
            if ((size_t)(is - s) == strlen(names[k]) && !strncmp(s, names[k], strlen(names[k])))
                break;
        if (k == sizeof names / sizeof *names) continue;
        if (!begun) fputs("\n## Data\n\n| option | file | XXH3-64 |\n|---|---|---|\n", f);
        begun = true;
        char *value = mem_alloc(n + 1), *more = NULL, hex[SUM_HEX + 1];
        snprintf(value, n + 1, "%.*s", (int)(n - (size_t)(is + 3 - s)), is + 3);
        /* "en=F" or "de-en=F,G"; counts have no language before them. A file's own name may have
         * either sign. */
        char *eq = strcmp(names[k], "cooc") ? strchr(value, '=') : NULL,
             *files = eq ? eq + 1 : value;
        const char *comma = file_exists(files) ? "" : ",";
        for (char *p = strtok_r(files, comma, &more); p && rc == 0;
             p = strtok_r(NULL, comma, &more)) {
            struct stat st;
            /* a card is written for a model that outlived its data, too: a file that is gone is no
             * error */
            const char *sum = stat(p, &st) < 0 || !S_ISREG(st.st_mode) ? "not there any more"
                              : access(p, R_OK) < 0                    ? "cannot be read"
                                                                       : hex;
            if (sum == hex && sum_hex(p, hex) < 0) rc = -1;
            else fprintf(f, "| `%s` | `%s` | %s |\n", names[k], p, sum);
        }
        free(value);
    }
    return rc;
}

int hf_card_write(const struct hf_card *card, const char *to)
{
    const struct model_config *c = card->c;
    struct mem_text t;
    mem_text_open(&t);
    fputs("---\n", t.f);
    if (c->n_langs) fputs("language:\n", t.f);
    for (int i = 0; i < c->n_langs; i++) fprintf(t.f, "- \"%s\"\n", c->lang[i]);
    fprintf(t.f,
            "library_name: %s\npipeline_tag: %s\ntags:\n- isoglot\n"
            "# yours to say: it depends on the data, too\nlicense: unknown\n---\n\n",
            card->pool ? "sentence-transformers" : "transformers", pipeline(card));
    fprintf(t.f, "# A %s model%s\n\n", hf_layout_name(card->layout),
            card->pool                   ? " for sentences"
            : card->head                 ? " with a task head"
            : hf_is_seq2seq(card->layout) ? " that translates"
                                         : "");
    fprintf(t.f, "%d layers of %d, %d heads, %d tokens, sequences of at most %d.\n", c->layers,
            c->dim, c->heads, c->vocab, c->positions);
    if (card->pool)
        fprintf(t.f, "A sentence's vector is %s.\n",
                strcmp(card->pool, "first") ? "the mean of its states"
                                            : "the state of its first token");
    if (*card->run->program)
        fprintf(t.f, "Trained by isoglot's `%s`%s%s.\n", card->run->program,
                *card->run->objective ? ": " : "", card->run->objective);
    fputc('\n', t.f);
    put_usage(t.f, card);
    int rc = 0;
    if (card->run->config) {
        rc = put_data(t.f, card->run->config);
        fprintf(t.f, "\n## Options of the training\n\n```\n%s```\n", card->run->config);
    }
    size_t n;
    /* the memory stream is closed on failure as well */
    char *text = mem_text_take(&t, &n), *path = path_join(to, "README.md");
    if (rc == 0) rc = file_write(path, text, n);
    free(path);
    free(text);
    return rc;
}

/* --- sentence-transformers' files ------------------------------------------------------------- */

static int write_text(const char *folder, const char *name, const char *text)
{
    char *path = path_join(folder, name);
    int rc = file_write(path, text, strlen(text));
    free(path);
    return rc;
}

int hf_pooling_write(const struct hf_card *card, const char *to)
{
    static const char modules[] =
        "[\n"
        "  { \"idx\": 0, \"name\": \"0\", \"path\": \"\",\n"
        "    \"type\": \"sentence_transformers.models.Transformer\" },\n"
        "  { \"idx\": 1, \"name\": \"1\", \"path\": \"1_Pooling\",\n"
        "    \"type\": \"sentence_transformers.models.Pooling\" }\n"
        "]\n";
    bool first = !strcmp(card->pool, "first");
    char text[512], *folder = path_join(to, "1_Pooling");
    int rc = mkdir(folder, 0777) < 0 ? err_sys("%s: cannot be made", folder) : 0;
    snprintf(text, sizeof text,
             "{\n"
             "  \"word_embedding_dimension\": %d,\n"
             "  \"pooling_mode_cls_token\": %s,\n"
             "  \"pooling_mode_mean_tokens\": %s,\n"
             "  \"pooling_mode_max_tokens\": false,\n"
             "  \"pooling_mode_mean_sqrt_len_tokens\": false\n"
             "}\n",
             card->c->dim, first ? "true" : "false", first ? "false" : "true");
    if (rc == 0) rc = write_text(folder, "config.json", text);
    if (rc == 0) rc = write_text(to, "modules.json", modules);
    snprintf(text, sizeof text, "{\n  \"max_seq_length\": %d,\n  \"do_lower_case\": false\n}\n",
             card->c->positions);
    if (rc == 0) rc = write_text(to, "sentence_bert_config.json", text);
    free(folder);
    return rc;
}
