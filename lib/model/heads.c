/* Task heads in a model's configuration: what they are, and the "task_heads" of config.json. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "common/err.h"
#include "lib/model/config_in.h"

const char *const model_act_names[5] = { "none", "gelu", "relu", "gelu-tanh", "tanh" };
static const char *const task_names[] = { "", "class", "tag", "span" };
static const char *const pair_names[] = { "one", "two" };

static bool is_code(const char *s)
{
    size_t n = strlen(s);
    return n > 0 && n < MODEL_NAME && strspn(s, MODEL_CODE) == n;
}

static int check_label(const struct model_head *h, int i)
{
    const char *s = h->label[i];
    size_t n = strlen(s);
    if (!n || n >= MODEL_NAME)
        return err_set("head %s: label %d is empty or longer than %d bytes", h->name, i + 1,
                       MODEL_NAME - 1);
    for (size_t k = 0; k < n; k++)
        /* model_heads_json writes labels as they are, and predict one per line */
        if ((unsigned char)s[k] < 0x20 || s[k] == 0x7f || s[k] == '"' || s[k] == '\\')
            return err_set("head %s: label %d holds a control character, a quote or a backslash",
                           h->name, i + 1);
    for (int j = 0; j < i; j++)
        if (!strcmp(h->label[j], s))
            return err_set("head %s: label \"%s\" appears twice", h->name, s);
    return 0;
}

/* Does what it reads fit together, and to its outputs? */
static int check_reads(const struct model_head *h)
{
    const struct model_reads *r = &h->reads;
    /* <s> w </s>; <s> a </s> </s> b </s>; <s> a </s> b </s> */
    int least = r->task == MODEL_TASK_TAG ? 3 : r->pair_two ? 6 : 5;
    if (r->task == MODEL_TASK_NONE) return 0;
    if (r->longest < least)
        return err_set("head %s: longest is %d; it must be %d or more", h->name, r->longest,
                       least);
    if (r->task != MODEL_TASK_SPAN)
        return h->n_labels ? 0 : err_set("head %s: its task needs labels", h->name);
    if (h->outputs != 2 || h->n_labels)
        return err_set("head %s: spans have two outputs, start and end, and no labels", h->name);
    if (r->question < 1 || r->stride < 1)
        return err_set("head %s: question and stride must be at least 1", h->name);
    return 0;
}

int model_head_check(const struct model_config *c, int i)
{
    const struct model_head *h = &c->head[i];
    if (!is_code(h->name))
        return err_set("head %d: a name is up to %d letters, digits, - and _", i + 1,
                       MODEL_NAME - 1);
    for (int j = 0; j < i; j++)
        /* tensors are named by it */
        if (!strcmp(c->head[j].name, h->name)) return err_set("head %s appears twice", h->name);
    if (h->outputs < 1 || h->outputs > 65536)
        return err_set("head %s: outputs is %d, not from 1 to 65536", h->name, h->outputs);
    /* none: spans, or a head of which no task is said */
    if (h->n_labels && h->n_labels != h->outputs)
        return err_set("head %s: %d labels for %d outputs", h->name, h->n_labels, h->outputs);
    for (int k = 0; k < h->n_labels; k++)
        if (check_label(h, k) < 0) return -1;
    return check_reads(h);
}

int model_config_head(struct model_config *c, const char *name, enum kern_act hidden, int outputs,
                      const char *const *labels, int n, int *index)
{
    if (c->n_heads == MODEL_HEADS)
        return err_set("head %s: a model has at most %d", name, MODEL_HEADS);
    /* here and not in model_head_check: h->label has no room for them */
    if (n > MODEL_LABELS)
        return err_set("head %s: %d labels; at most %d are possible", name, n, MODEL_LABELS);
    struct model_head *h = &c->head[c->n_heads];
    *h = (struct model_head){ .hidden = hidden, .outputs = outputs, .n_labels = n };
    /* empty stands for too long: model_head_check refuses it, where a cut one might pass */
    snprintf(h->name, sizeof h->name, "%s", strlen(name) < MODEL_NAME ? name : "");
    for (int i = 0; i < n; i++)
        snprintf(h->label[i], MODEL_NAME, "%s", strlen(labels[i]) < MODEL_NAME ? labels[i] : "");
    if (model_head_check(c, c->n_heads) < 0) return -1;
    *index = c->n_heads++;
    return 0;
}

/* --- JSON ------------------------------------------------------------------------------------ */

static size_t reads_json(const struct model_reads *r, char *s, size_t cap)
{
    size_t n = 0;
    if (r->task == MODEL_TASK_NONE) return 0;
    n += (size_t)snprintf(s + n, cap - n, ", \"task\": \"%s\"", task_names[r->task]);
    /* keys that mean nothing to a task are not written: the same bytes for the same head */
    if (r->task != MODEL_TASK_TAG)
        n += (size_t)snprintf(s + n, cap - n, ", \"pair\": \"%s\"", pair_names[r->pair_two]);
    n += (size_t)snprintf(s + n, cap - n, ", \"longest\": %d", r->longest);
    if (r->task == MODEL_TASK_SPAN)
        n += (size_t)snprintf(s + n, cap - n,
                              ", \"question\": %d, \"stride\": %d, \"no_answer\": %s", r->question,
                              r->stride, r->no_answer ? "true" : "false");
    return n;
}

size_t model_heads_json(const struct model_config *c, char *s, size_t cap)
{
    /* cap is model_config_json's bound, which these cannot pass: nothing is cut */
    size_t n = (size_t)snprintf(s, cap, "  \"task_heads\": [");
    for (int i = 0; i < c->n_heads; i++) {
        const struct model_head *h = &c->head[i];
        n += (size_t)snprintf(s + n, cap - n,
                              "%s{\"name\": \"%s\", \"hidden\": \"%s\", \"outputs\": %d",
                              i ? ", " : "", h->name, model_act_names[h->hidden], h->outputs);
        for (int k = 0; k < h->n_labels; k++)
            n += (size_t)snprintf(s + n, cap - n, "%s\"%s\"", k ? ", " : ", \"labels\": [",
                                  h->label[k]);
        if (h->n_labels) n += (size_t)snprintf(s + n, cap - n, "]");
        n += reads_json(&h->reads, s + n, cap - n);
        n += (size_t)snprintf(s + n, cap - n, "}");
    }
    return n + (size_t)snprintf(s + n, cap - n, "],\n");
}

/* The place of v's string in names[from .. n - 1]; -1: missing. */
static int which(const cJSON *v, const char *const *names, int from, int n)
{
    for (int i = from; i < n && cJSON_IsString(v); i++)
        if (!strcmp(v->valuestring, names[i])) return i;
    return -1;
}

static int whole(const cJSON *v, int *to)
{
    int64_t n;
    if (!json_int(v, -1000000000, 1000000000, &n)) return -1;
    *to = (int)n;
    return 0;
}

static int parse_labels(const cJSON *v, const char *label[MODEL_LABELS], int *n)
{
    const cJSON *l;
    if (!cJSON_IsArray(v)) return -1;
    cJSON_ArrayForEach(l, v) {
        if (!cJSON_IsString(l) || *n == MODEL_LABELS) return -1;
        label[(*n)++] = l->valuestring;
    }
    return 0;
}

/* What one object of the array says; name NULL, outputs 0 and hidden -1: nothing. */
struct said {
    const char *name, *label[MODEL_LABELS];
    int hidden, outputs, labels, task, pair;
    struct model_reads reads;
};

/* -1 without a message: a key that is not known, or a value not of its kind. */
static int parse_key(struct said *x, const cJSON *k)
{
    const char *key = k->string;
    if (!strcmp(key, "name")) {
        x->name = cJSON_IsString(k) ? k->valuestring : NULL;
        return x->name ? 0 : -1;
    }
    if (!strcmp(key, "hidden")) return (x->hidden = which(k, model_act_names, 0, 5)) < 0 ? -1 : 0;
    if (!strcmp(key, "outputs")) return whole(k, &x->outputs);
    if (!strcmp(key, "labels")) return parse_labels(k, x->label, &x->labels);
    if (!strcmp(key, "task")) return (x->task = which(k, task_names, 1, 4)) < 0 ? -1 : 0;
    if (!strcmp(key, "pair")) return (x->pair = which(k, pair_names, 0, 2)) < 0 ? -1 : 0;
    if (!strcmp(key, "longest")) return whole(k, &x->reads.longest);
    if (!strcmp(key, "question")) return whole(k, &x->reads.question);
    if (!strcmp(key, "stride")) return whole(k, &x->reads.stride);
    /* the last key there is: others are refused, as they may change what the head computes */
    if (strcmp(key, "no_answer") || !cJSON_IsBool(k)) return -1;
    x->reads.no_answer = cJSON_IsTrue(k);
    return 0;
}

static int parse_head(struct model_config *c, const cJSON *v)
{
    struct said x = { .hidden = -1 };
    /* a value of 0 is model_head_check's to refuse; a key that is missing is not */
    bool outputs = cJSON_GetObjectItemCaseSensitive(v, "outputs") != NULL;
    const cJSON *k;
    int index;
    if (!cJSON_IsObject(v)) return -1;
    cJSON_ArrayForEach(k, v)
        if (parse_key(&x, k) < 0) return -1;
    if (!x.name || x.hidden < 0 || !outputs) return -1;
    /* more than name, hidden, outputs and labels: what was read, which only a task explains */
    bool reads = cJSON_GetArraySize(v) - 3 - (cJSON_HasObjectItem(v, "labels") != 0) > 0;
    if (reads && !x.task) return -1;
    if (model_config_head(c, x.name, (enum kern_act)x.hidden, x.outputs, x.label, x.labels, &index)
        < 0)
        return -1;
    x.reads.task = (enum model_task)x.task;
    x.reads.pair_two = x.pair == 1;
    c->head[index].reads = x.reads;
    return model_head_check(c, index);
}

int model_heads_parse(struct model_config *c, const cJSON *v)
{
    const cJSON *h;
    c->n_heads = 0;
    /* the message of every -1 in parse_head that sets none */
    err_set("a head has \"name\", \"hidden\" (none, gelu, relu, gelu-tanh, tanh), \"outputs\" and "
            "at most \"labels\", \"task\" (class, tag, span), \"pair\" (one, two), \"longest\", "
            "\"question\", \"stride\" and \"no_answer\"");
    cJSON_ArrayForEach(h, v)
        if (parse_head(c, h) < 0) return -1;
    return 0;
}
