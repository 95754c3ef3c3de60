#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "lib/raw/raw.h"

static const struct flag { const char *name; size_t at;
} flags[] = {
#define F(name, field) { name, offsetof(struct tokenize_options, field) }
    F("replace-unicode-punctuation", prepare.unicode_punctuation),
    F("normalize-punctuation", prepare.punctuation),
    F("penn", prepare.penn),
    F("remove-non-printing", prepare.non_printing),
    F("normalise-romanian", prepare.romanian),
    F("remove-diacritics", prepare.diacritics),
    F("normalize-indic", prepare.indic),
    F("no-tokenize", no_tokenize),
    F("aggressive", aggressive),
    F("no-escape", no_escape),
    F("skip-xml", skip_xml),
    F("lowercase-and-remove-accent", lower_accents),
    F("case-marker", case_marker),
#undef F
};
enum { N_FLAGS = sizeof flags / sizeof *flags };
static const char *const segments[] = { "auto", "moses", "icu", "indic" };

char *raw_settings(const struct tokenize_options *o)
{
    struct mem_text t;
    mem_text_open(&t);
    /* only what is on: a file of an older version means what it meant when options are added */
    fputs("# how tokenize made the tokens\n", t.f);
    for (int i = 0; i < N_FLAGS; i++)
        if (*((const bool *)((const char *)o + flags[i].at)))
            fprintf(t.f, "%s = true\n", flags[i].name);
    if (o->segment) fprintf(t.f, "segment = %s\n", segments[o->segment]);
    return mem_text_take(&t, NULL);
}

/* Sets `name` to `value`; -1: not a setting, or not a value of it. */
static int set(struct tokenize_options *o, const char *name, const char *value)
{
    if (!strcmp(name, "segment")) {
        for (int i = 0; i < 4; i++)
            if (!strcmp(value, segments[i])) { o->segment = i; return 0; }
        return -1;
    }
    bool yes = !strcmp(value, "true");
    for (int i = 0; i < N_FLAGS; i++)
        if (!strcmp(name, flags[i].name) && (yes || !strcmp(value, "false"))) {
            *((bool *)((char *)o + flags[i].at)) = yes;
            return 0;
        }
    return -1;
}

/* Two passes: what holds for every language, then what holds for o->lang. */
int raw_settings_parse(struct tokenize_options *o, const char *text, const char *where)
{
    for (int pass = 0; pass < 2; pass++) {
        int line = 0;
        for (const char *s = text; *s; ) {
            char name[96] = "", value[96] = "", tail;
            size_t n = strcspn(s, "\n");
            char one[256];
            line++;
            snprintf(one, sizeof one, "%.*s", n < sizeof one ? (int)n : (int)sizeof one - 1, s);
            s += n + (s[n] == '\n');
            const char *p = one + strspn(one, " \t\r");
            if (!*p || *p == '#') continue;
            /* %c: something after the value makes three; a line too long is no setting either */
            if (n >= sizeof one || sscanf(p, "%95[^ \t=] = %95s %c", name, value, &tail) != 2)
                return err_set("%s:%d: not \"name = value\"", where, line);
            char *dot = strchr(name, '.');
            if (dot) *dot = '\0';
            /* set on a copy: lines of other languages are checked as well, and have no effect */
            struct tokenize_options checked = *o;
            if (set(&checked, dot ? dot + 1 : name, value) < 0)
                return err_set(
                    "%s:%d: \"%.80s\" is not a setting of tokenize, or does not take that value",
                    where, line, p);
            if ((dot != NULL) == (pass == 1) && (!dot || (o->lang && !strcmp(name, o->lang))))
                *o = checked;
        }
    }
    return 0;
}
