/* covers: lib/task/predictions.c */
/* Any bytes as predictions, judged by each metric against a small gold file: what is accepted has
 * values that are possible. The first byte says which metric. */
#include <math.h>
#include "lib/task/predictions.h"
#include "test/fuzz/fuzz.h"

static const char lines[] = "yes\nno\nyes\n", numbers[] = "1\n2.5\n-3\n";
static const char tags[] = "a\tB-X\nb\tI-X\n\nc\tO\n";
static const char questions[] =
    "{\"data\": [{\"paragraphs\": [{\"context\": \"a b c\", \"qas\": ["
    "{\"id\": \"1\", \"question\": \"?\", \"answers\": [{\"text\": \"b\", \"answer_start\": 2}]},"
    "{\"id\": \"2\", \"question\": \"?\", \"is_impossible\": true, \"answers\": []}]}]}]}";

static const char *gold_of(enum task_metric m)
{
    switch (m) {
    case TASK_TAG_ACCURACY: case TASK_CHUNK_F1: return tags;
    case TASK_SQUAD: case TASK_SQUAD2: case TASK_MLQA: return questions;
    case TASK_ACCURACY: return lines;
    default: return numbers;
    }
}

static void check(const struct judged *j)
{
    const char *name[JUDGED_VALUES];
    double value[JUDGED_VALUES];
    int n = judged_names(j, name);
    expect(n > 0 && n <= JUDGED_VALUES);
    judged_values(j, value);
    bool correlation = j->metric == TASK_SPEARMAN || j->metric == TASK_PEARSON;
    double most = correlation ? 1 : 100;
    for (int k = 0; k < n; k++)
        expect(isnan(value[k]) || (value[k] >= (correlation ? -1 : 0) - 1e-9 &&
                                   value[k] <= most + 1e-9));
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    if (!n) return 0;
    enum task_metric m = (enum task_metric)(p[0] % (TASK_PEARSON + 1));
    const char *text = gold_of(m);
    const char *gold_path = fuzz_file(1, text, strlen(text)), *path = fuzz_file(0, p + 1, n - 1);
    struct labelled_options from = predictions_gold(m, NULL, NULL);
    struct labelled_set gold;
    struct judged j = { 0 };
    struct predictions_best best;
    struct predictions_options o = { .metric = m, .lang = p[0] & 64 ? "zh" : NULL };
    if (m == TASK_SQUAD2 && p[0] & 128) o.no_answer = path, o.no_answer_above = 0.5;
    expect(labelled_read(&gold, gold_path, &from) == 0);
    if (predictions_judge(&o, &gold, path, &j, &best) == 0) check(&j);
    judged_free(&j);
    labelled_free(&gold);
    return 0;
}
