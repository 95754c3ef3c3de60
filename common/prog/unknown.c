#include "common/prog/unknown.h"
#include <inttypes.h>
#include "common/err.h"
#include "common/msg.h"
#include "common/text/vocab.h"

const struct opt unknown_rows[] = {
    { "max-unknown", 0, OPT_REAL(unknown_options, most), "SHARE",
      "refuse an input of which more than this share of the tokens is unknown; 1: take any",
      .min = 0, .max = 1 },
    { 0 }
};

void unknown_count(struct unknown *u, const uint32_t *ids, size_t n)
{
    u->tokens += n;
    for (size_t i = 0; i < n; i++) u->unknown += ids[i] == VOCAB_UNK;
}

double unknown_share(const struct unknown *u)
{
    return u->tokens ? (double)u->unknown / (double)u->tokens : 0;
}

static int refuse(const struct unknown *u, const struct unknown_options *o, const char *name,
                  const char *part, const char *advice)
{
    return err_set("%s: %s%" PRIu64 " tokens, %" PRIu64 " unknown (%.2f%%), more than %g%%; %s; "
                   "--max-unknown 1 takes it as it is",
                   name, part, u->tokens, u->unknown, 100 * unknown_share(u), 100 * o->most,
                   advice);
}

int unknown_look(struct unknown *u, const struct unknown_options *o, const char *name,
                 const char *advice, uint64_t enough)
{
    /* Judged once, at the first `enough` tokens: text of the wrong kind ends a run at its
     * start. */
    if (u->looked || u->tokens < enough) return 0;
    u->looked = true;
    return unknown_share(u) > o->most ? refuse(u, o, name, "of its first ", advice) : 0;
}

int unknown_judge(const struct unknown *u, const struct unknown_options *o, const char *name,
                  const char *advice)
{
    /* the input's whole share, which unknown_look could not know */
    if (unknown_share(u) > o->most) return refuse(u, o, name, "", advice);
    if (u->unknown)
        msg_note("%s: %" PRIu64 " tokens, %" PRIu64 " unknown (%.2f%%)", name, u->tokens,
                 u->unknown, 100 * unknown_share(u));
    return 0;
}
