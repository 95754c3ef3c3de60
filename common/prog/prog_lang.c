/* LANG=FILE and SRC-TGT=F,G of prog.h. */
#include <ctype.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/prog/prog.h"

static bool is_code(const char *s, size_t n)
{
    static const char lower[] = "abcdefghijklmnopqrstuvwxyz";
    /* Two small letters first: a path such as ./a=b, or A=B, is a file's name. */
    if (n < 2 || n > 31 || !strchr(lower, s[0]) || !strchr(lower, s[1])) return false;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && s[i] != '_' && s[i] != '-') return false;
    return true;
}

const char *prog_lang_file(const char *arg, char lang[32])
{
    lang[0] = '\0';
    size_t n = strcspn(arg, "=");
    /* "a=b" is a file's name as long as "a" is no code */
    if (!arg[n] || !is_code(arg, n)) return arg;
    memcpy(lang, arg, n);
    lang[n] = '\0';
    return arg + n + 1;
}

static bool is_known(const char *s, size_t n, const char (*known)[32], int n_known)
{
    for (int i = 0; i < n_known; i++)
        if (strlen(known[i]) == n && !memcmp(known[i], s, n)) return true;
    return false;
}

/* Cuts "SRC-TGT=..." into its languages; returns what follows '='. NULL with a message. */
static const char *split_pair(const char *arg, const char *form, const char (*known)[32],
                              int n_known, char lang[2][32])
{
    const char *files = strchr(arg, '='), *at[2] = { NULL, NULL };
    int found[2] = { 0, 0 };                 /* splits into codes; into known codes */
    for (const char *dash = arg; files && (dash = memchr(dash, '-', (size_t)(files - dash)));
         dash++) {
        size_t a = (size_t)(dash - arg), b = (size_t)(files - dash - 1);
        if (!is_code(arg, a) || !is_code(dash + 1, b)) continue;
        found[0]++;
        at[0] = dash;
        /* A hyphen may belong to a code (zh-Hant): of several ways to cut, the one into known
         * languages counts. */
        if (!is_known(arg, a, known, n_known) || !is_known(dash + 1, b, known, n_known)) continue;
        found[1]++;
        at[1] = dash;
    }
    if (!found[0] || !files[1]) {
        err_set("%s: expected %s", arg, form);
        return NULL;
    }
    /* one way into known languages decides; with none, there must be one way at all */
    bool use_known = found[1] == 1;
    if (!use_known && found[0] > 1) {
        err_set("%s: ambiguous language pair; write regions in capitals (en-US-de)",
                arg);
        return NULL;
    }
    const char *dash = at[use_known];
    memset(lang, 0, 2 * sizeof *lang);
    memcpy(lang[0], arg, (size_t)(dash - arg));
    memcpy(lang[1], dash + 1, (size_t)(files - dash - 1));
    return files + 1;
}

int prog_pair(const char *arg, const char (*known)[32], int n_known, struct pair_arg *p)
{
    static const char form[] = "SRC-TGT=FILE,FILE";
    memset(p, 0, sizeof *p);
    const char *files = split_pair(arg, form, known, n_known, p->lang);
    const char *comma = files ? strchr(files, ',') : NULL;
    if (!files) return -1;
    if (!comma || comma == files || !comma[1]) return err_set("%s: expected %s", arg, form);
    p->file[0] = mem_dup(files);
    p->file[1] = p->file[0] + (comma - files) + 1;
    /* the comma: one allocation for both names */
    p->file[1][-1] = '\0';
    return 0;
}

const char *prog_pair_file(const char *arg, const char (*known)[32], int n_known, char lang[2][32])
{
    return split_pair(arg, "SRC-TGT=FILE", known, n_known, lang);
}
