#include "lib/eval/judged.h"
#include <stdbool.h>
#include <string.h>

struct part { char prefix; const char *type; };

static struct part part_of(const char *tag)
{
    /* a missing tag is O */
    if (!*tag) return (struct part){ 'O', "" };
    const char *dash = strchr(tag + 1, '-');
    return (struct part){ *tag, dash ? dash + 1 : tag + 1 };
}

static bool outside(char prefix) { return prefix == 'O' || prefix == '.'; }
static bool closing(char prefix) { return prefix == 'E' || prefix == 'S'; }

/* Does a chunk end between a and the word after it, b? */
static bool ends(struct part a, struct part b)
{
    if (closing(a.prefix)) return true;
    if ((a.prefix == 'B' || a.prefix == 'I')
        && (b.prefix == 'B' || b.prefix == 'S' || b.prefix == 'O'))
        return true;
    return !outside(a.prefix) && strcmp(a.type, b.type) != 0;
}

/* Does one begin at b? */
static bool starts(struct part a, struct part b)
{
    if (b.prefix == 'B' || b.prefix == 'S') return true;
    if ((closing(a.prefix) || a.prefix == 'O') && (b.prefix == 'E' || b.prefix == 'I')) return true;
    return !outside(b.prefix) && strcmp(a.type, b.type) != 0;
}

/* What one tagging is at: the part before, where its chunk began, that chunk's type. */
struct run { struct part last; int begin; };

void chunks_add(struct chunk_counts *c, const char *const *predicted, const char *const *gold,
                int n)
{
    const struct part o = { 'O', "" };
    struct run p = { o, 0 }, g = { o, 0 };
    /* one step beyond, so that a chunk at the end of the sentence ends */
    for (int i = 0; i <= n; i++) {
        struct part a = i < n ? part_of(predicted[i]) : o, b = i < n ? part_of(gold[i]) : o;
        bool p_ends = ends(p.last, a), g_ends = ends(g.last, b);
        c->predicted += p_ends;
        c->gold += g_ends;
        /* both end here: with one beginning they are the same words */
        c->correct += p_ends && g_ends && p.begin == g.begin && !strcmp(p.last.type, g.last.type);
        if (starts(p.last, a)) p.begin = i;
        if (starts(g.last, b)) g.begin = i;
        p.last = a;
        g.last = b;
    }
}
