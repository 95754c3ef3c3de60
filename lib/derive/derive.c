#include "lib/derive/derive.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"
#include "common/rng.h"
#include "lib/derive/rows.h"
#include "lib/derive/tree.h"
#include "lib/text/lines.h"

const struct opt derive_rows[] = {
    { "trans", 0, OPT_FLAG(derive_options, trans), NULL,
      "transliterate: put U+02E3 before each token" },
    { "untrans", 0, OPT_FLAG(derive_options, untrans), NULL,
      "undo --trans: remove U+02E3 from each token that has it" },
    { "inv", 0, OPT_FLAG(derive_options, invert), NULL,
      "invert the order of the words; a last word that is . or ! or ? stays last" },
    { "inv-tokens", 0, OPT_FLAG(derive_options, inv_tokens), NULL,
      "let --inv and --permute move pieces (of bpe-apply) instead of words" },
    { "permute", 0, OPT_FLAG(derive_options, permute), NULL,
      "put the words of each sentence in a random order" },
    { "split", 0, OPT_FLAG(derive_options, split), NULL,
      "let --inv and --permute work within sentences, which end after each word . or ! or ?" },
    { "format", 'f', OPT_CHOICE(derive_options, format), "text|conll|nli|conllu",
      "text: one sentence per line; conll: word<TAB>tag lines; nli: "
      "label<TAB>sentence<TAB>sentence lines; "
      "conllu: dependency trees, written as text without --conllu-out" },
    { "header", 0, OPT_FLAG(derive_options, header), NULL,
      "copy the first line, which names the columns, unchanged (one file at most)" },
    { "lang-prefix", 0, OPT_FLAG(derive_options, lang_prefix), NULL,
      "conll: words have a prefix up to the first colon, which stays (\"en:word\", as in PAN-X)" },
    { "conllu-out", 0, OPT_FLAG(derive_options, conllu_out), NULL,
      "conllu: write CoNLL-U in place of text" },
    { "strict", 0, OPT_FLAG(derive_options, strict), NULL,
      "with --syn: leave out sentences that have a node whose order is kept, because it has more "
      "than 6 dependents or crossing arcs" },
    { 0 }
};

/* What a thread has of its own. */
struct work {
    struct derive *d;
    struct wordlist words;
    struct tagged_rows rows;
    struct tree tree;
    struct ud_labels *labels;       /* by word of the sentence, from 1 */
    uint32_t *order;
    size_t order_cap, labels_cap;
    struct derive_counts counts;
    struct rng_key key;
    uint64_t sentence;
    double score[ORDER_MOST];
};

static enum script script(const struct derive *d)
{ return d->o.trans ? SCRIPT_COPY : d->o.untrans ? SCRIPT_BACK : SCRIPT_KEEP; }

static bool reorders(const struct derive *d) { return d->o.permute || d->o.invert; }

static struct reorder how(const struct derive *d)
{ return (struct reorder){ d->o.permute, d->o.invert, d->o.split, d->o.seed }; }

int derive_check(const struct derive_options *o, bool syntax)
{
    const bool reorder = o->permute || o->invert;
    if (o->trans && o->untrans)
        return err_set("--trans and --untrans undo each other; give one of them");
    if (syntax && o->format != DERIVE_CONLLU)
        return err_set("--syn needs dependency trees; give --format conllu");
    if (o->conllu_out && o->format != DERIVE_CONLLU)
        return err_set("--conllu-out needs --format conllu");
    if (o->strict && !syntax) return err_set("--strict needs --syn MODEL");
    if (o->lang_prefix && o->format != DERIVE_CONLL)
        return err_set("--lang-prefix needs --format conll");
    if (o->header && (o->format == DERIVE_TEXT || o->format == DERIVE_CONLLU))
        return err_set("--header needs --format nli or conll");
    if (o->inv_tokens && (o->format == DERIVE_CONLL || o->format == DERIVE_CONLLU))
        return err_set("--inv-tokens needs --format text or nli: where words have rows, rows move");
    if ((o->split || o->inv_tokens) && !reorder)
        return err_set("--split and --inv-tokens need --inv or --permute");
    if (!o->trans && !o->untrans && !reorder && !syntax)
        return err_set("nothing to do; give --trans, --untrans, --inv, --permute or --syn MODEL");
    return 0;
}

static uint32_t *order_begin(struct work *w, size_t n)
{
    mem_room(&w->order, &w->order_cap, n + 1, sizeof *w->order);
    for (size_t i = 0; i < n; i++) w->order[i] = (uint32_t)i;
    return w->order;
}

/* One line of tokens. */
static int sentence(struct work *w, const char *s, size_t n, uint32_t side, struct tbuf *out)
{
    const struct derive *d = w->d;
    /* without moving, the line is not cut into words: its own spaces stay as they are */
    if (!reorders(d)) return script_line(script(d), d->shared, s, n, out);
    w->words.n = 0;
    if (wordlist_split(&w->words, s, n, d->o.inv_tokens) < 0) return -1;
    const struct reorder r = how(d);
    uint32_t *order = order_begin(w, w->words.n);
    reorder_words(&r, w->words.v, order, w->words.n, w->sentence, side);
    for (size_t i = 0; i < w->words.n; i++) {
        const struct word *x = &w->words.v[order[i]];
        /* a word keeps the spaces between its pieces; those between words become one */
        if (i) tbuf_byte(out, ' ');
        if (script_line(script(d), d->shared, x->s, x->n, out) < 0) return -1;
    }
    return 0;
}

static int nli(struct work *w, const char *s, size_t n, struct tbuf *out)
{
    const char *end = s + n, *first = memchr(s, '\t', n);
    const char *second = first ? memchr(first + 1, '\t', (size_t)(end - first - 1)) : NULL;
    if (!second || first == s)
        return err_set("expected a label, a tab, a sentence, a tab and a sentence");
    const char *rest = memchr(second + 1, '\t', (size_t)(end - second - 1));
    if (!rest) rest = end;
    tbuf_add(out, s, (size_t)(first + 1 - s));
    /* The two sentences draw with different numbers: shuffled alike, they would keep their
     * overlap. */
    if (sentence(w, first + 1, (size_t)(second - first - 1), DRAW_FIRST, out) < 0) return -1;
    tbuf_byte(out, '\t');
    if (sentence(w, second + 1, (size_t)(rest - second - 1), DRAW_SECOND, out) < 0) return -1;
    tbuf_add(out, rest, (size_t)(end - rest));
    return 0;
}

static int lines(void *ctx, void *work, const char *s, size_t n, struct lines_at *at,
                 struct tbuf *out)
{
    struct derive *d = ctx;
    struct work *w = work;
    for (const char *end = s + n; s < end; at->line++, at->unit++) {
        const char *nl = memchr(s, '\n', (size_t)(end - s)), *stop = nl ? nl : end,
                   *next = nl ? nl + 1 : end;
        /* kept as it is: a line of a Windows file ends as it did */
        bool cr = stop > s && stop[-1] == '\r';
        size_t len = (size_t)(stop - s) - cr;
        int status = 0;
        /* counted over all files, so that neither blocks nor threads change what is drawn */
        w->sentence = at->unit;
        /* cmd/derive-lang allows one file with --header, so unit 0 is its first line */
        if (d->o.header && at->unit == 0) tbuf_add(out, s, len);
        else if (d->o.format == DERIVE_NLI) status = nli(w, s, len, out);
        else status = sentence(w, s, len, DRAW_FIRST, out);
        if (status < 0) return -1;
        tbuf_add(out, stop - cr, (size_t)(next - stop) + cr);
        s = next;
    }
    return 0;
}

/* What tagged_rows_write makes of a word. */
static int row_word(const void *ctx, const char *s, size_t n, struct tbuf *out)
{
    const struct derive *d = ctx;
    if (d->o.lang_prefix) {
        const char *colon = memchr(s, ':', n);
        if (!colon || colon + 1 == s + n)
            return err_set("word \"%.*s\" has no prefix and colon", (int)n, s);
        size_t prefix = (size_t)(colon + 1 - s);
        tbuf_add(out, s, prefix);
        s += prefix;
        n -= prefix;
    }
    return script_line(script(d), d->shared, s, n, out);
}

/* Draws one node's order. */
static void choose(void *ctx, const struct tree *t, int node, int *item, int n)
{
    struct work *w = ctx;
    (void)t;
    int class = order_class(&w->rows.v[node - 1]), head = 0, to[TREE_ITEMS], from[TREE_ITEMS];
    if (class < 0 || !w->d->order->w[class].n) return;         /* the model says nothing of it */
    struct order_item items[TREE_ITEMS];
    for (int i = 0; i < n; i++) {
        from[i] = item[i];
        items[i] = order_item(&w->labels[item[i]], item[i] == node);
        if (item[i] == node) head = i;
    }
    int orders = order_scores(&w->d->order->w[class], items, n, head, w->score), o = 0;
    /* less the largest: exp of a score of some hundreds is infinite */
    double most = w->score[0], sum = 0;
    for (int i = 1; i < orders; i++) if (w->score[i] > most) most = w->score[i];
    for (int i = 0; i < orders; i++) sum += w->score[i] = exp(w->score[i] - most);
    /* 53 bits, those of a double: each u in [0, sum) has the same chance */
    /* keyed by sentence and node: neither threads nor the rest of the text change it */
    double u = (double)(rng_u64(w->key, w->sentence, (uint32_t)node) >> 11) * 0x1p-53 * sum;
    /* the last order takes what rounding leaves over */
    while (o < orders - 1 && (u -= w->score[o]) >= 0) o++;
    order_unrank(o, n, to);
    for (int i = 0; i < n; i++) item[i] = from[to[i]];
    w->counts.nodes++;
    /* order 0 is that of the text: tree_items gives the items in it */
    w->counts.moved += o != 0;
}

/* 1: the sentence is to be left out. */
static int syntax(struct work *w, uint32_t *order, struct lines_at *at)
{
    const struct derive *d = w->d;
    const struct tagged_rows *r = &w->rows;
    bool wide = false, crossed = false;      /* of any node, as Galactic Dependencies drops trees */
    if (tree_build(&w->tree, r, &at->line) < 0) return -1;
    mem_room(&w->labels, &w->labels_cap, r->n + 1, sizeof *w->labels);
    for (size_t i = 0; i < r->n; i++) {
        /* for messages: which row it is about */
        at->line = r->v[i].line;
        if (ud_labels_of(d->order->labels, &d->order->relations, &r->v[i], &w->labels[i + 1]) < 0)
            return -1;
    }
    /* all nodes, also those whose class the model does not order */
    for (int i = 1; i <= w->tree.n; i++) {
        crossed |= w->tree.crossed[i];
        wide |= w->tree.first[i + 1] - w->tree.first[i] >= TREE_ITEMS;
    }
    w->counts.wide += wide;
    w->counts.crossed += crossed;
    if (d->o.strict && (wide || crossed)) { w->counts.dropped++; return 1; }
    tree_order(&w->tree, choose, w, order);
    return 0;
}

static int write_text(const struct tagged_rows *r, const uint32_t *order, const struct derive *d,
                      struct tbuf *out, uint64_t *line)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct row *row = &r->v[order[i]];
        const struct word *form = &row->cell[CONLLU_FORM];
        *line = row->line;
        if (i) tbuf_byte(out, ' ');
        if (script_line(script(d), d->shared, form->s, form->n, out) < 0) return -1;
    }
    tbuf_byte(out, '\n');
    return 0;
}

/* The words of the rows, for what ends a sentence. */
static void row_words(struct work *w)
{
    const struct tagged_rows *r = &w->rows;
    int column = r->conllu ? CONLLU_FORM : r->word;
    w->words.n = 0;
    mem_room(&w->words.v, &w->words.cap, r->n + 1, sizeof *w->words.v);
    for (size_t i = 0; i < r->n; i++) {
        struct word x = r->v[i].cell[column];
        const char *colon = w->d->o.lang_prefix ? memchr(x.s, ':', x.n) : NULL;
        if (colon) x = (struct word){ colon + 1, x.n - (size_t)(colon + 1 - x.s) };
        w->words.v[w->words.n++] = x;
    }
}

static int paragraph(struct work *w, const char *s, size_t n, struct lines_at *at, struct tbuf *out)
{
    struct derive *d = w->d;
    bool conllu = d->o.format == DERIVE_CONLLU;
    w->sentence = at->unit;
    w->counts.sentences++;
    if (tagged_rows_read(&w->rows, conllu, s, n, &at->line) < 0) return -1;
    /* syntax and writing set at->line to the row that they complain about */
    uint64_t after = at->line;
    uint32_t *order = order_begin(w, w->rows.n);
    int status = d->order ? syntax(w, order, at) : 0;
    if (status == 0) {
        const struct reorder r = how(d);
        /* after syntax: reorder_words permutes the order that it finds, or leaves it */
        row_words(w);
        reorder_words(&r, w->words.v, order, w->rows.n, w->sentence, DRAW_FIRST);
        status = conllu && !d->o.conllu_out
                     ? write_text(&w->rows, order, d, out, &at->line)
                     : tagged_rows_write(&w->rows, order, row_word, d, out, &at->line);
    }
    if (status < 0) return -1;
    at->line = after;
    return 0;
}

/* Runs of lines that are not empty. */
static int paragraphs(void *ctx, void *work, const char *s, size_t n, struct lines_at *at,
                      struct tbuf *out)
{
    struct derive *d = ctx;
    const char *end = s + n;
    /* A byte order mark is no part of the first word, which may move. Alone on its line it would
     * make that line one of those that end a sentence, which lib/text does not count so. */
    if (at->line == 1 && !d->o.header && n > 4 && !memcmp(s, "\xEF\xBB\xBF", 3)
        && s[3] != '\n' && s[3] != '\r')
        s += 3;
    for (const char *from = s; s < end;) {
        const char *nl = memchr(s, '\n', (size_t)(end - s)), *next = nl ? nl + 1 : end;
        bool empty = nl == s || (nl == s + 1 && *s == '\r');
        /* the header may stand directly above the first sentence and is no row of it */
        if (d->o.header && at->unit == 0 && at->line == 1 && !empty) {
            tbuf_add(out, s, (size_t)(next - s));
            at->line++;
            s = from = next;
            continue;
        }
        /* goes on within the sentence; a block never ends in one (lines.paragraphs) */
        if (!empty && next < end) { s = next; continue; }
        const char *stop = empty ? s : next;
        if (stop > from) {
            if (paragraph(work, from, (size_t)(stop - from), at, out) < 0) return -1;
            at->unit++;
        }
        /* tagged_rows_read has counted the sentence's own lines */
        at->line += empty;
        s = from = next;
    }
    return 0;
}

static void *work_new(void *ctx)
{
    struct work *w = mem_zero(1, sizeof *w);
    w->d = ctx;
    w->key = (struct rng_key){ w->d->o.seed, RNG_DERIVE, DRAW_ORDER };
    return w;
}

/* One after another, when all threads are done. */
static void work_free(void *work)
{
    struct work *w = work;
    struct derive_counts *sum = &w->d->counts, *c = &w->counts;
    sum->sentences += c->sentences;
    sum->dropped += c->dropped;
    sum->nodes += c->nodes;
    sum->moved += c->moved;
    sum->wide += c->wide;
    sum->crossed += c->crossed;
    wordlist_free(&w->words);
    tagged_rows_free(&w->rows);
    tree_free(&w->tree);
    free(w->labels);
    free(w->order);
    free(w);
}

int derive_run(struct derive *d, char *const *paths, int n, const char *out, bool line_buffered)
{
    bool rows = d->o.format == DERIVE_CONLL || d->o.format == DERIVE_CONLLU;
    const struct lines l = { .ctx = d,
                             .block = rows ? paragraphs : lines,
                             .paragraphs = rows,
                             .header = d->o.header,
                             .work_new = work_new,
                             .work_free = work_free,
                             .line_buffered = line_buffered };
    return lines_run(&l, paths, n, out);
}
