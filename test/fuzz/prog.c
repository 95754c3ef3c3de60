/* Any bytes as a configuration file: what is accepted prints as a configuration that reads back as
 * the same. */
#include "common/prog/prog.h"
#include "test/fuzz/fuzz.h"

static struct options {
    int i, choice;
    int64_t n, time;
    double x;
    size_t size;
    const char *s;
    bool flag;
    struct strs list;
} o;
static const struct opt rows[] = {
    { "int|i-two", 'i', OPT_INT(options, i), "N", "a number", .min = -5, .max = 5 },
    { "n", 0, OPT_I64(options, n), "N", "a number" },
    { "time", 0, OPT_TIME(options, time), "T", "a time" },
    { "x", 'x', OPT_REAL(options, x), "X", "a number" },
    { "size", 0, OPT_SIZE(options, size), "S", "a size" },
    { "s", 's', OPT_STR(options, s), "S", "a string" },
    { "flag", 'f', OPT_FLAG(options, flag), 0, "a flag" },
    { "choice", 0, OPT_CHOICE(options, choice), "one|two", "a choice" },
    { "list", 0, OPT_LIST(options, list), "S", "strings" },
    { 0 } };
static const struct opt_group groups[] = { { "Options", rows, &o }, { 0 } };
static const struct prog prog = { "fuzz", "", "" };

static int start(const char *config, size_t n)
{
    char *argv[] = { "fuzz", "--config", (char *)fuzz_file(0, config, n), NULL };
    struct args args;
    memset(&o, 0, sizeof o);
    return prog_start(&prog, groups, 3, argv, &args);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static FILE *nowhere;
    if (!nowhere)
        nowhere = stderr = fopen("/dev/null",
                                 "w"); /* its complaints would drown the fuzzer's own words */
    if (start((const char *)p, n) != -1) return 0;
    char *first = prog_config();
    if (start(first, strlen(first)) != -1) abort();
    char *second = prog_config();
    if (strcmp(first, second)) abort();
    free(first);
    free(second);
    return 0;
}
