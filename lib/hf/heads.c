#include "lib/hf/layout.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "common/err.h"
#include "common/json/json.h"
#include "common/mem.h"

/* Tasks of heads: one class per text, one per word, or where an answer begins and ends. */
enum head_kind { HEAD_CLASS, HEAD_TAG, HEAD_SPAN, KINDS };

/* classes of enum head_kind */
static const char *const classes[HF_LAYOUTS][KINDS] = {
    { "BertForSequenceClassification", "BertForTokenClassification", "BertForQuestionAnswering" },
    { "RobertaForSequenceClassification", "RobertaForTokenClassification",
      "RobertaForQuestionAnswering" },
    { "XLMRobertaForSequenceClassification", "XLMRobertaForTokenClassification",
      "XLMRobertaForQuestionAnswering" },
    { "XLMForSequenceClassification", "XLMForTokenClassification",
      "XLMForQuestionAnsweringSimple" },
};

static const struct {
    const char *name;
    enum head_kind kind;
} tasks[] = {
    { "nli", HEAD_CLASS }, { "pairs", HEAD_CLASS }, { "class", HEAD_CLASS }, { "tag", HEAD_TAG },
    { "ner", HEAD_TAG },   { "qa", HEAD_SPAN },     { "span", HEAD_SPAN },
};

/* By the head's name, which is its task's; -1 with a message. */
static int head_kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        if (!strcmp(tasks[i].name, name)) return (int)tasks[i].kind;
    return err_set("head %.40s: no task has this name; these have heads: nli, pairs, class, tag, "
                   "ner, qa, span",
                   name);
}

static int kind_of(const struct model_head *h)
{
    switch (h->reads.task) {
    case MODEL_TASK_CLASS: return HEAD_CLASS;
    case MODEL_TASK_TAG: return HEAD_TAG;
    case MODEL_TASK_SPAN: return HEAD_SPAN;
    case MODEL_TASK_NONE: break;
    }
    /* heads of older checkpoints do not say what they read */
    return head_kind_of(h->name);
}

/* --- names ------------------------------------------------------------------------------------ */

bool hf_head_name(enum hf_layout l, const struct model_head *h, const char *ours,
                  char theirs[HF_NAME])
{
    static const char *const dense[] = { "bert.pooler.dense", "classifier.dense",
                                         "classifier.dense", NULL };
    static const char *const out[] = { "classifier", "classifier.out_proj", "classifier.out_proj",
                                       "sequence_summary.summary" };
    char layer[8], end[8];
    int used = 0;
    /* %n: nothing may follow, or a longer name would match by its beginning */
    if (sscanf(ours, "head.%*[^.].%7[^.].%7[a-z]%n", layer, end, &used) != 2 || ours[used]
        || l > HF_XLM)
        return false;
    int kind = kind_of(h);
    bool below = !strcmp(layer, "dense");
    const char *to = kind == HEAD_SPAN  ? "qa_outputs"
                     : kind == HEAD_TAG ? "classifier"
                     : below            ? dense[l]
                                        : out[l];
    /* XLM's classifier has no layer below, nor have taggers and answers anywhere */
    if (kind < 0 || !to || (below && kind != HEAD_CLASS)) return false;
    snprintf(theirs, HF_NAME, "%s.%s", to, end);
    return true;
}

/* --- reading ---------------------------------------------------------------------------------- */

static int find_class(enum hf_layout l, const cJSON *architectures)
{
    const cJSON *a;
    cJSON_ArrayForEach(a, architectures)
        /* the first architecture that has a head here; a file may list several */
        for (int k = 0; k < KINDS && cJSON_IsString(a); k++)
            if (classes[l][k] && !strcmp(a->valuestring, classes[l][k])) return k;
    return -1;
}

/* Labels by id: id2label, or transformers' default names where it is missing. Their number, or -1
 * with a message. */
static int read_labels(const cJSON *root, const char *label[MODEL_LABELS], const char *where)
{
    static const char *const usual[] = { "LABEL_0", "LABEL_1" };
    const cJSON *map = cJSON_GetObjectItemCaseSensitive(root, "id2label"), *v;
    /* PretrainedConfig's default, which its files leave out */
    if (!cJSON_IsObject(map)) { memcpy(label, usual, sizeof usual); return 2; }
    int n = cJSON_GetArraySize(map);
    if (n < 1 || n > MODEL_LABELS)
        return err_set("%s: \"id2label\" has %d labels, not from 1 to %d; --head none imports the "
                       "encoder alone",
                       where, n, MODEL_LABELS);
    memset(label, 0, MODEL_LABELS * sizeof *label);
    cJSON_ArrayForEach(v, map) {
        char *end;
        long id = strtol(v->string, &end, 10);
        /* keys are strings in any order, and each number has to occur once */
        if (*end || end == v->string || id < 0 || id >= n || label[id] || !cJSON_IsString(v))
            return err_set("%s: \"id2label\" is not a label for each number from 0 to %d", where,
                           n - 1);
        label[id] = v->valuestring;
    }
    return n;
}

static const char *name_by_labels(int kind, const char *const *label, int n)
{
    if (kind == HEAD_SPAN) return "qa";
    for (int i = 0; i < n; i++)
        /* three classes of inference and tags of chunks are recognised; the others' names say
         * nothing */
        if (kind == HEAD_CLASS ? !strcasecmp(label[i], "entailment")
                               : !strncmp(label[i], "B-", 2) || !strncmp(label[i], "I-", 2))
            return kind == HEAD_CLASS ? "nli" : "ner";
    return kind == HEAD_CLASS ? "class" : "tag";
}

/* Refuses settings of a classifier's configuration that this head does not compute. */
static int check_summary(enum hf_layout l, const cJSON *root, const char *where)
{
    const cJSON *problem = cJSON_GetObjectItemCaseSensitive(root, "problem_type"),
                *type = cJSON_GetObjectItemCaseSensitive(root, "summary_type"),
                *act = cJSON_GetObjectItemCaseSensitive(root, "summary_activation"),
                *proj = cJSON_GetObjectItemCaseSensitive(root, "summary_use_proj"),
                *to = cJSON_GetObjectItemCaseSensitive(root, "summary_proj_to_labels");
    if (cJSON_IsString(problem) && !strcmp(problem->valuestring, "multi_label_classification"))
        return err_set("%s: \"problem_type\": several labels at once are not supported; --head "
                       "none imports the encoder alone",
                       where);
    if (l == HF_XLM
        && ((cJSON_IsString(type) && strcmp(type->valuestring, "first")) || cJSON_IsString(act)
            || cJSON_IsFalse(proj) || cJSON_IsFalse(to)))
        return err_set("%s: a classifier that is not linear on the first state (\"summary_type\", "
                       "\"summary_activation\", ...) is not supported; --head none imports the "
                       "encoder alone",
                       where);
    return 0;
}

/* Their configuration does not say how texts are read; their scripts do: as many rows as there are
 * positions, and questions in the windows of run_qa.py and XTREME. */
static struct model_reads how_it_reads(enum hf_layout l, int kind, int positions)
{
    struct model_reads r = { .longest = positions };
    r.task = kind == HEAD_CLASS ? MODEL_TASK_CLASS
             : kind == HEAD_TAG ? MODEL_TASK_TAG
                                : MODEL_TASK_SPAN;
    r.pair_two = kind != HEAD_TAG && (l == HF_ROBERTA || l == HF_XLM_ROBERTA);
    if (kind != HEAD_SPAN) return r;
    /* run_qa.py's max_seq_length and doc_stride, XTREME's max_query_length */
    if (r.longest > 384) r.longest = 384;
    r.question = 64;
    r.stride = 128;
    return r;
}

static int add_head(enum hf_layout l, struct model_config *c, const cJSON *root, const char *where,
                    const char *name)
{
    const char *label[MODEL_LABELS];
    int kind = find_class(l, cJSON_GetObjectItemCaseSensitive(root, "architectures")), at;
    if (kind < 0) return 0;
    int n = kind == HEAD_SPAN ? 2 : read_labels(root, label, where);
    if (n < 0 || (kind == HEAD_CLASS && check_summary(l, root, where) < 0)) return -1;
    if (!name) name = name_by_labels(kind, label, n);
    int of_name = head_kind_of(name);
    if (of_name < 0) return -1;
    if (of_name != kind)
        return err_set("--head %s does not match what %s computes", name, classes[l][kind]);
    if (model_config_head(c, name, kind == HEAD_CLASS && l != HF_XLM ? KERN_TANH : KERN_NONE, n,
                          label, kind == HEAD_SPAN ? 0 : n, &at) < 0)
        return err_set("%s: \"id2label\": %s", where, err_msg());
    c->head[at].reads = how_it_reads(l, kind, c->positions);
    return 0;
}

int hf_head_parse(enum hf_layout l, struct model_config *c, const char *json, const char *where,
                  const char *name)
{
    if (name && !strcmp(name, "none")) return 0;
    cJSON *root = l > HF_XLM ? NULL : json_parse(json, strlen(json), where);
    int rc = l > HF_XLM ? 0 : root ? add_head(l, c, root, where, name) : -1;
    cJSON_Delete(root);
    if (rc == 0 && name && !c->n_heads)
        rc = err_set("%s: --head %s names a task head, and the model has none that can be imported",
                     where, name);
    return rc;
}

/* --- writing ---------------------------------------------------------------------------------- */

int hf_head_fits(enum hf_layout l, const struct model_head *h)
{
    int kind = kind_of(h);
    if (kind < 0) return -1;
    if (l > HF_XLM)
        return err_set("%s has no class for head %s; --head none leaves it out", hf_layout_name(l),
                       h->name);
    /* their classes are fixed: a head of another form would be read as something else */
    bool pooled = kind == HEAD_CLASS && l != HF_XLM;
    if (pooled == (h->hidden == KERN_TANH) && (pooled || h->hidden == KERN_NONE)) return 0;
    return err_set("%s has %s; head %s is another one%s", classes[l][kind],
                   pooled ? "a dense layer with tanh below its output layer"
                          : "no layer below its output layer",
                   h->name,
                   kind != HEAD_CLASS || h->hidden == KERN_GELU || h->hidden == KERN_RELU ? ""
                   : pooled ? " (finetune --head tanh makes one, --to xlm writes this one)"
                            : " (--to bert, roberta and xlm-roberta have it)");
}

const char *hf_head_json(cJSON *o, enum hf_layout l, const struct model_head *h)
{
    int kind = kind_of(h);
    if (kind != HEAD_SPAN) {
        cJSON *to = cJSON_AddObjectToObject(o, "id2label"),
              *from = cJSON_AddObjectToObject(o, "label2id");
        for (int i = 0; i < h->outputs; i++) {
            char id[16], label[MODEL_NAME];
            snprintf(id, sizeof id, "%d", i);
            snprintf(label, sizeof label, "LABEL_%d", i);
            const char *name = h->n_labels ? h->label[i] : label;
            cJSON_AddStringToObject(to, id, name);
            cJSON_AddNumberToObject(from, name, i);
        }
    }
    if (kind == HEAD_CLASS && l == HF_XLM) {
        cJSON_AddStringToObject(o, "summary_type", "first");
        cJSON_AddTrueToObject(o, "summary_use_proj");
        cJSON_AddNullToObject(o, "summary_activation");
        cJSON_AddTrueToObject(o, "summary_proj_to_labels");
    }
    return classes[l][kind < 0 ? 0 : kind];
}
