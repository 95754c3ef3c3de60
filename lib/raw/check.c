#include <stdlib.h>
#include "common/files/file.h"
#include "lib/bpe/codes.h"
#include "lib/raw/raw.h"

int raw_check(const char *codes, const char *settings)
{
    struct codes c;
    if (codes) {
        if (codes_read(&c, codes, 0) < 0) return -1;
        codes_free(&c);
    }
    if (!settings) return 0;
    struct tokenize_options o = { 0 };
    char *text = file_read(settings, NULL);
    int rc = text ? raw_settings_parse(&o, text, settings) : -1;
    free(text);
    return rc;
}
