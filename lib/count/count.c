/* From inputs to a .cooc file, language by language. Threads turn pieces of text into segments
 * until memory is full; then the rows of all segments are added up, group by group, into the file
 * if this was all of the text, else into a run on disk. Runs are added up like segments. Every sum
 * is of integers, so where pieces, segments and runs end does not show in the file. */
#include "lib/count/count.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "common/err.h"
#include "common/files/io.h"
#include "common/mem.h"
#include "common/prog/progress.h"
#include "common/thread.h"
#include "lib/count/intake.h"
#include "lib/count/plan.h"
#include "lib/count/stream.h"

struct counter {
    const struct cooc_count_opts *o;
    const struct vocab *vocab;
    const struct lookup *lookup;
    const bool *skip;                     /* ids passed over, below skip_from, or NULL; */
    uint32_t skip_from;                   /* all ids from here on are passed over, too (skipping) */
    struct plan plan;
    struct cooc_writer *w;
    struct row_sum *sum;                  /* [threads] */
    struct worker {
        struct cooc_segment *seg;
        uint64_t sentences, tokens, skipped, unknown;
    } *worker;                            /* [threads + 1] */
    /* the last worker, the reader's own, is within a line of several pieces */
    bool mid_line;
    uint64_t *word_count;

    pthread_mutex_t lock;                 /* of what follows */
    struct cooc_segment *spare;                /* free to be filled */
    struct cooc_segment **full; size_t fulls, fulls_cap;
    size_t in_use;
    struct piece *pieces;                 /* free to be filled */

    struct intake *in;
    bool ended;
    struct spill *spill;
    struct stream **stream;               /* [threads][batch] */
    size_t run_first, run_n;              /* runs that are being merged */
    struct spill *into;                   /* into a run of this, or NULL: into the file */
    struct progress *progress;
    struct cooc_count_report report;
};

/* --- text to segments ------------------------------------------------------------------------- */

static struct cooc_segment *take_segment(struct counter *c)
{
    pthread_mutex_lock(&c->lock);
    struct cooc_segment *s = c->spare;
    if (s) c->spare = s->next;
    /* counted before it is there: another thread must not take the last one meanwhile */
    c->in_use++;
    pthread_mutex_unlock(&c->lock);
    /* outside the lock: a mapping of megabytes takes a while */
    if (!s) return cooc_segment_new(c->plan.segment_tokens, c->vocab->n, c->o->scheme.window);
    cooc_segment_clear(s);
    return s;
}

static void give_segment(struct counter *c, struct cooc_segment *s)
{
    /* by the thread that filled it, outside the lock */
    cooc_segment_sort(s);
    pthread_mutex_lock(&c->lock);
    /* How often each word occurs falls out of sorting a segment: no count per token is needed. */
    for (uint32_t id = VOCAB_SPECIALS; id < s->ids; id++)
        c->word_count[id] += s->start[id + 1] - s->start[id];
    mem_room(&c->full, &c->fulls_cap, c->fulls + 1, sizeof *c->full);
    c->full[c->fulls++] = s;
    pthread_mutex_unlock(&c->lock);
}

/* The segment has no room: the next one goes on where it ends. */
static int next_segment(struct counter *c, struct worker *w)
{
    struct cooc_segment *s = take_segment(c);
    if (!s) return -1;
    if (w->seg) {
        cooc_segment_carry(w->seg, s);
        give_segment(c, w->seg);
    }
    w->seg = s;
    return 0;
}

static inline int put_id(struct counter *c, struct worker *w, uint32_t id)
{
    if (cooc_segment_room(w->seg) == 0 && next_segment(c, w) < 0) return -1;
    cooc_segment_put(w->seg, id);
    return 0;
}

static int end_sentence(struct counter *c, struct worker *w)
{
    w->sentences++;
    /* One mark between sentences is enough, also for empty lines and sentences that vanished. */
    return w->seg->id[w->seg->n - 1] == SEG_END ? 0 : put_id(c, w, SEG_END);
}

/* Ids as they come: words, unknown ones, ends of sentences. */
static int put_ids(struct counter *c, struct worker *w, const uint32_t *id, size_t n)
{
    bool gap = c->o->scheme.oov == COOC_GAP;
    for (size_t i = 0; i < n; i++) {
        if (id[i] == SEG_END) {
            if (end_sentence(c, w) < 0) return -1;
            continue;
        }
        /* Skipped tokens take no place and are in no total: counts are those of the text without
         * them. */
        if (c->skip && (id[i] >= c->skip_from || c->skip[id[i]])) {
            w->skipped++;
            continue;
        }
        w->tokens++;
        if (id[i] == SEG_GAP) {
            w->unknown++;
            /* collapse: the words on both sides of an unknown one come closer, as in GloVe's
             * cooccur; with gap it keeps its place */
            if (!gap) continue;
        }
        if (put_id(c, w, id[i]) < 0) return -1;
    }
    return 0;
}

static int work_text(struct counter *c, struct worker *w, const struct piece *p)
{
    const char *s = p->text, *end = s + p->n;
    uint32_t id[LOOKUP_BATCH];
    for (size_t n; (n = lookup_ids(c->lookup, &s, end, id)) > 0; )
        if (put_ids(c, w, id, n) < 0) return -1;
    /* a last line without a newline is a sentence, too */
    return !p->open && (p->begun || p->n) && !(p->n && end[-1] == '\n') ? end_sentence(c, w) : 0;
}

static int work_piece(struct counter *c, struct worker *w, const struct piece *p)
{
    if (piece_check(p) < 0 || (!w->seg && next_segment(c, w) < 0)) return -1;
    return p->is_ids ? put_ids(c, w, p->ids, p->ids_n) : work_text(c, w, p);
}

static int count_work(void *ctx, void *item, int thread)
{
    struct counter *c = ctx;
    return work_piece(c, &c->worker[thread], item);
}

/* Pieces of a line that is longer than one must be taken in order: the reader does so itself. */
static void *count_read(void *ctx, bool *failed)
{
    struct counter *c = ctx;
    pthread_mutex_lock(&c->lock);
    struct piece *p = c->pieces;
    if (p) c->pieces = p->next;
    pthread_mutex_unlock(&c->lock);
    if (!p) p = mem_zero(1, sizeof *p);
    int rc = 0;
    for (;;) {
        pthread_mutex_lock(&c->lock);
        /* A line that goes on holds the reader's own segment over to the next run: one more is
         * allowed, or no run could ever begin. */
        bool full = c->in_use >= c->plan.segments + c->mid_line;
        pthread_mutex_unlock(&c->lock);
        if (full) break;
        rc = intake_next(c->in, p);
        if (rc <= 0) c->ended = true;
        if (rc <= 0) break;
        progress_at(c->progress, intake_read(c->in), NULL);
        /* whole lines: any thread may take them */
        if (!p->begun && !p->open) return p;
        c->mid_line = p->open;
        if ((rc = work_piece(c, &c->worker[c->o->threads], p)) < 0) break;
    }
    *failed = rc < 0;
    piece_free(p);
    return NULL;
}

static int count_write(void *ctx, void *item)
{
    struct counter *c = ctx;
    struct piece *p = item;
    pthread_mutex_lock(&c->lock);
    p->next = c->pieces;
    c->pieces = p;
    pthread_mutex_unlock(&c->lock);
    return 0;
}

static void count_drop(void *ctx, void *item) { count_write(ctx, item); }

static int finish_worker(void *ctx, size_t i, int thread)
{
    struct counter *c = ctx;
    (void)thread;
    struct worker *w = &c->worker[i];
    /* its line goes on in the next run */
    if (i == (size_t)c->o->threads && c->mid_line) return 0;
    /* partly filled ones, too: a run holds everything that was read before it */
    if (w->seg) give_segment(c, w->seg);
    w->seg = NULL;
    return 0;
}

/* --- segments and runs to rows ---------------------------------------------------------------- */

static int make_segments(void *ctx, uint32_t group, int thread, struct groups *g, struct blocks *b)
{
    struct counter *c = ctx;
    return segments_make((const struct cooc_segment *const *)c->full, c->fulls, &c->o->scheme,
                         group, c->vocab->n, &c->sum[thread], g, b);
}

static int make_runs(void *ctx, uint32_t group, int thread, struct groups *g, struct blocks *b)
{
    struct counter *c = ctx;
    struct stream *s = c->stream[thread];
    for (size_t i = 0; i < c->run_n; i++)
        if (spill_stream(c->spill, c->run_first + i, group, thread, &s[i]) < 0) return -1;
    return streams_make(s, c->run_n, group, c->vocab->n, &c->sum[thread], g, b);
}

static int write_plane(void *ctx, uint32_t group, const struct blocks *b, const unsigned char *p,
                       size_t n)
{
    (void)group; (void)p; (void)n;
    return cooc_plane_blocks(((struct counter *)ctx)->w, b);
}

static ssize_t pack_run(void *ctx, int thread, const struct blocks *b, unsigned char **out,
                        size_t *cap)
{ return spill_pack(((struct counter *)ctx)->into, thread, b, out, cap); }

static int write_run(void *ctx, uint32_t group, const struct blocks *b, const unsigned char *p,
                     size_t n)
{
    (void)b;
    return spill_write(((struct counter *)ctx)->into, group, p, n);
}

/* Everything that make gives, into the run under way in c->into or into the plane. */
static int put_rows(struct counter *c,
                    int (*make)(void *, uint32_t, int, struct groups *, struct blocks *),
                    struct cooc_totals *t)
{
    struct groups g = { .groups = group_count(c->vocab->n),
                        .threads = c->o->threads,
                        .limit = c->plan.group_bytes,
                        .make = make,
                        .pack = c->into ? pack_run : NULL,
                        .write = c->into ? write_run : write_plane,
                        .ctx = c,
                        .total = t };
    if (c->into) spill_run_begin(c->into);
    if (groups_run(&g) < 0) return -1;
    return c->into ? spill_run_end(c->into) : 0;
}

static void release_segments(struct counter *c, bool all)
{
    for (size_t i = 0; i < c->fulls; i++) {
        c->full[i]->next = c->spare;
        c->spare = c->full[i];
    }
    c->in_use -= c->fulls;
    c->fulls = 0;
    while (all && c->spare) {
        struct cooc_segment *next = c->spare->next;
        cooc_segment_free(c->spare);
        c->spare = next;
    }
}

/* Adds runs until there are no more than one pass may take, then adds those into the file. */
static int merge_runs(struct counter *c, struct cooc_totals *t)
{
    struct cooc_totals scratch = { 0 };
    size_t batch = c->plan.batch;
    c->stream = mem_zero((size_t)c->o->threads, sizeof *c->stream);
    for (int i = 0; i < c->o->threads; i++) c->stream[i] = mem_zero(batch, sizeof **c->stream);
    int rc = 0;
    /* Each stream needs a frame's buffer: so many at once as memory has room for: up to 10,000 in
     * 1,400 MB, where 1 TB of text makes some 1,200. */
    while (rc == 0 && spill_runs(c->spill) > batch) {
        if (!(c->into = spill_open(c->o->tmp, c->vocab->n, c->o->threads, c->plan.frame))) {
            rc = -1;
            break;
        }
        for (c->run_first = 0; rc == 0 && c->run_first < spill_runs(c->spill);
             c->run_first += batch) {
            size_t left = spill_runs(c->spill) - c->run_first;
            c->run_n = left < batch ? left : batch;
            rc = put_rows(c, make_runs, &scratch);
        }
        c->report.spilled += spill_bytes(c->into);
        /* the runs that were merged are no longer needed: their disk space is free before the next
         * pass */
        spill_close(c->spill);
        c->spill = c->into;
        c->into = NULL;
    }
    c->run_first = 0;
    if (rc == 0) {
        c->run_n = spill_runs(c->spill);
        rc = put_rows(c, make_runs, t);
    }
    for (int i = 0; i < c->o->threads; i++) {
        /* kept until here: each group's streams are opened in the memory of those before */
        for (size_t k = 0; k < batch; k++) spill_stream_free(&c->stream[i][k]);
        free(c->stream[i]);
    }
    free(c->stream);
    c->stream = NULL;
    return rc;
}

/* --- a language ------------------------------------------------------------------------------- */

static int count_plane(struct counter *c, const struct cooc_input *in, int n)
{
    struct cooc_totals t = { 0 };
    c->ended = c->mid_line = false;
    for (int i = 0; i <= c->o->threads; i++) c->worker[i] = (struct worker){ 0 };
    memset(c->word_count, 0, c->vocab->n * sizeof *c->word_count);
    c->in = intake_open(in, n, c->o, c->plan.piece);
    if (cooc_plane_begin(c->w, in[0].lang) < 0) return -1;
    int rc = 0;
    /* One round reads until memory is full; a text that fits has one. */
    while (rc == 0 && !c->ended) {
        struct pipeline p = {
            count_read, count_work, count_write, count_drop, c, c->o->threads, 0
        };
        rc = pipeline_run(&p);
        if (rc == 0) rc = par_for((size_t)c->o->threads + 1, finish_worker, c);
        if (rc < 0) break;
        /* All of the text was in memory: it needs no run on disk. */
        if (c->ended && !c->spill) {
            rc = put_rows(c, make_segments, &t);
            break;
        }
        /* none: the text ended where the run before did */
        if (c->fulls) {
            struct cooc_totals scratch = { 0 };
            if (!c->spill
                && !(c->spill = spill_open(c->o->tmp, c->vocab->n, c->o->threads, c->plan.frame))) {
                rc = -1;
                break;
            }
            /* where pack_run and write_run write from here on */
            c->into = c->spill;
            rc = put_rows(c, make_segments, &scratch);
            c->into = NULL;
            c->report.runs++;
        }
        release_segments(c, false);
    }
    if (rc == 0 && c->spill) {
        /* merging needs the memory for streams */
        release_segments(c, true);
        c->report.spilled += spill_bytes(c->spill);
        rc = merge_runs(c, &t);
    }
    for (int i = 0; i <= c->o->threads; i++) {
        t.sentences += c->worker[i].sentences;
        t.tokens += c->worker[i].tokens;
        t.unknown += c->worker[i].unknown;
        c->report.skipped += c->worker[i].skipped;
        if (c->worker[i].seg) cooc_segment_free(c->worker[i].seg);
        c->worker[i].seg = NULL;
    }
    release_segments(c, true);
    spill_close(c->spill);
    c->spill = NULL;
    intake_close(c->in);
    c->in = NULL;
    c->report.tokens += t.tokens;
    c->report.unknown += t.unknown;
    c->report.pairs += t.pairs;
    return rc < 0 ? -1 : cooc_plane_end(c->w, &t, c->word_count);
}

/* Inputs that can be read only once, copied so that they can be read twice. */
static int spool(struct cooc_input *in, FILE **file, char *path, size_t path_size, const char *tmp)
{
    bool std_in = !strcmp(in->path, "-");
    struct stat st;
    FILE *from = io_stream(in->path, &st);
    in->name = std_in ? "standard input" : in->path;
    if (!from) return file_cannot_open(in->path);
    if (S_ISDIR(st.st_mode)) {
        fclose(from);
        return file_is_folder(in->name);
    }
    FILE *to = tmp_open(tmp);
    char buf[1 << 16];
    int rc = to ? 0 : -1;
    for (size_t k; rc == 0 && (k = fread(buf, 1, sizeof buf, from)) > 0; )
        if (fwrite(buf, 1, k, to) != k)
            rc = err_sys("%s: cannot write a copy of %s; name a folder with more room (--tmp)",
                         tmp ? tmp : "TMPDIR", in->name);
    if (rc == 0 && ferror(from)) rc = err_sys("%s: cannot be read", in->name);
    if (rc == 0 && fflush(to) != 0)
        rc = err_sys("%s: cannot write a copy of %s; name a folder with more room (--tmp)",
                     tmp ? tmp : "TMPDIR", in->name);
    fclose(from);
    *file = to;
    if (rc < 0) return -1;
    /* The file has no name any more; what reads by names finds it through its descriptor. */
    snprintf(path, path_size, "/proc/self/fd/%d", fileno(to));
    in->path = path;
    return 0;
}

static int by_lang(const void *a, const void *b)
{
    return strcmp(((const struct cooc_input *)a)->lang, ((const struct cooc_input *)b)->lang);
}

static int count_all(struct counter *c, struct cooc_input *in, int n, struct out *out)
{
    const struct cooc_count_opts *o = c->o;
    uint64_t size, total = 0, window = 0;
    bool known = true;
    for (int i = 0; i < n; i++) {
        uint64_t w = intake_window(in[i].path);
        if (w > window) window = w;
        if (intake_is_regular(in[i].path, &size)) total += size;
        else known = false;
    }
    if (plan_make(&c->plan, o, c->vocab->n, known ? total : 0, window) < 0) return -1;
    size_t tokens_size;
    char *tokens = cooc_tokens(c->vocab, &tokens_size);
    struct cooc_head h = { .scheme = o->scheme,
                           .ids = c->vocab->n,
                           .vocab_hash = c->vocab->hash,
                           .tokens = tokens,
                           .tokens_size = tokens_size,
                           .skip = o->skip.text,
                           .skip_size = o->skip.size,
                           .ref = "" };
    c->w = cooc_create(out, &h, o->tmp);
    free(tokens);
    if (!c->w) return -1;
    c->word_count = mem_zero(c->vocab->n, sizeof *c->word_count);
    c->worker = mem_zero((size_t)o->threads + 1, sizeof *c->worker);
    c->sum = mem_zero((size_t)o->threads, sizeof *c->sum);
    int rc = 0;
    for (int i = 0; i < o->threads && rc == 0; i++) rc = row_sum_init(&c->sum[i], c->vocab->n);
    c->progress = progress_start("counting", known ? total : 0, "B");
    for (int i = 0, k; i < n && rc == 0; i = k) {
        /* sorted by language: those of one are neighbours */
        for (k = i; k < n && !strcmp(in[k].lang, in[i].lang); k++) ;
        rc = count_plane(c, in + i, k - i);
    }
    progress_end(c->progress);
    if (rc == 0) {
        rc = cooc_finish(c->w);
        c->w = NULL;
    }
    return rc;
}

/* What finds ids, with c->skip set. Text is looked up in the vocabulary and, after its ids, the
 * skipped tokens that it lacks: they vanish, where other unknown words keep their place. Of a
 * shard such tokens are unknown like others. */
static struct lookup *skipping(struct counter *c, bool **skip, struct vocab **wider)
{
    const struct cooc_skip *s = &c->o->skip;
    const struct vocab *v = c->vocab;
    c->skip = *skip = cooc_skip_ids(s->text, s->size, v);
    c->skip_from = v->n;
    if (!c->skip) return lookup_new(v);
    char *copy = mem_alloc(s->size);
    memcpy(copy, s->text, s->size);
    uint32_t n = v->n - VOCAB_SPECIALS;
    const char **token = mem_alloc((n + s->size) * sizeof *token);
    for (uint32_t i = 0; i < n; i++) token[i] = vocab_token(v, i + VOCAB_SPECIALS);
    for (char *p = copy, *nl; p < copy + s->size; p = nl + 1) {
        nl = memchr(p, '\n', (size_t)(copy + s->size - p));
        *nl = 0;
        /* the others are marked in c->skip; a token twice would be no vocabulary */
        if (vocab_id(v, p, (size_t)(nl - p)) == VOCAB_UNK) token[n++] = p;
    }
    *wider = vocab_make(token, NULL, n);
    free(token);
    free(copy);
    return *wider ? lookup_new(*wider) : NULL;
}

int cooc_count(const struct cooc_input *input, int n, const struct cooc_count_opts *opts,
               struct out *out, struct cooc_count_report *report)
{
    struct cooc_count_opts o = *opts;
    struct counter c = { .o = &o, .vocab = o.vocab, .lock = PTHREAD_MUTEX_INITIALIZER };
    struct cooc_input *in = mem_alloc((size_t)n * sizeof *in);
    FILE **copy = mem_zero((size_t)n, sizeof *copy);
    char (*path)[32] = mem_zero((size_t)n, sizeof *path);
    struct vocab *own = NULL, *wider = NULL;
    struct lookup *lookup = NULL;
    bool *skip = NULL;
    memcpy(in, input, (size_t)n * sizeof *in);
    /* here, and not when memory is full, hours later */
    int rc = tmp_check(o.tmp);
    for (int i = 0; i < n && rc == 0; i++)
        /* a language that the command line names stands, whatever the shard says */
        if (!in[i].lang[0] && intake_is_shard(in[i].path))
            rc = intake_shard_lang(in[i].path, in[i].lang);
    /* planes stand in order of language, whatever the order of the inputs */
    qsort(in, (size_t)n, sizeof *in, by_lang);
    if (!c.vocab) {
        for (int i = 0; i < n && rc == 0; i++)
            /* Without a vocabulary the text is read twice, first to collect its words. */
            if (!intake_is_regular(in[i].path, NULL))
                rc = spool(&in[i], &copy[i], path[i], sizeof path[i], o.tmp);
        /* half: the tables of all threads are added into the first one, which grows */
        if (rc == 0 && !(own = cooc_collect(in, n, &o, o.memory / 2))) rc = -1;
        c.vocab = own;
    }
    if (rc == 0 && !(lookup = skipping(&c, &skip, &wider))) rc = -1;
    c.lookup = lookup;
    if (rc == 0) rc = count_all(&c, in, n, out);
    if (rc == 0 && report) *report = c.report;

    cooc_abandon(c.w);
    for (int i = 0; c.sum && i < o.threads; i++) row_sum_free(&c.sum[i]);
    free(c.sum);
    free(c.worker);
    free(c.word_count);
    free(c.full);
    for (struct piece *p = c.pieces, *next; p; p = next) {
        next = p->next;
        piece_free(p);
    }
    for (int i = 0; i < n; i++)
        if (copy[i]) fclose(copy[i]);
    lookup_free(lookup);
    free(skip);
    vocab_free(wider);
    vocab_free(own);
    pthread_mutex_destroy(&c.lock);
    free(path);
    free(copy);
    free(in);
    return rc;
}
