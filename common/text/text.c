/* Text input. Three sources (plain, gzip, zstd) behind one function that fills a buffer; lines and
 * blocks of lines are cut from that buffer. */
#include "common/text/text.h"
#include "common/utf8.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>
#include "common/err.h"
#include "common/files/file.h"
#include "common/files/foreign.h"
#include "common/files/io.h"
#include "common/files/sum.h"
#include "common/mem.h"
#include "common/msg.h"

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { READ = 1 << 12 };   /* as for blocks' borders in small inputs; 256 KiB each would be slow */
#else
enum { READ = 1 << 18 };
#endif
enum kind { PLAIN, GZIP, ZSTD };

struct text {
    char *name;
    int fd, flags;
    enum kind kind;
    unsigned char *raw; size_t raw_at, raw_n;        /* bytes as read */
    bool raw_end;
    /* member: inside a gzip member or zstd frame */
    z_stream gz; bool gz_open, member;
    ZSTD_DStream *zs;
    /* decoded bytes not handed out yet: buf[at..n) */
    char *buf; size_t at, n, cap;
    bool end;                                        /* no more decoded bytes will come */
    uint64_t lineno, next_line;                      /* of what was returned; of what comes next */
    uint64_t read, total;
    bool newline, within;                            /* within: a block ended inside a line */
    bool begun, replaced;                            /* first bytes looked at; last line repaired */
    char *fixed; size_t fixed_cap;                   /* a line with replacements */
};

static struct text_limits limits = { .line = (size_t)64 << 20, .window = 27 };   /* the default */

void text_limits_set(const struct text_limits *l) { limits = *l; }

static int always;

void text_replace_all(void) { always = TEXT_REPLACE; }

static int too_long(const struct text *t, uint64_t line)
{
    return err_set("%s:%" PRIu64
                   ": a line of more than %zu bytes; if this is text, raise --max-line",
                   t->name, line, limits.line);
}

static int fill_raw(struct text *t)
{
    /* all of what was read is decoded first: members may end anywhere in it */
    if (t->raw_at < t->raw_n || t->raw_end) return 0;
    ssize_t k = io_some(t->fd, t->raw, READ);
    if (k < 0) return err_sys("%s: cannot be read", t->name);
    t->raw_at = 0;
    t->raw_n = (size_t)k;
    t->read += (uint64_t)k;
    if (k == 0) t->raw_end = true;
    return 0;
}

static int too_early(const struct text *t, const char *what)
{
    return err_set("%s: the %s data ends too early, at byte %llu; the file is truncated", t->name,
                   what, (unsigned long long)t->read);
}

static int decode_gzip(struct text *t, size_t room)
{
    /* a file may end between members only */
    if (!t->member && t->raw_end) { t->end = true; return 0; }
    /* Members follow one another until the input ends; an end inside of one is damage. */
    if (t->raw_end) return too_early(t, "gzip");
    t->gz.next_in = t->raw + t->raw_at;
    t->gz.avail_in = (uInt)(t->raw_n - t->raw_at);
    t->gz.next_out = (unsigned char *)t->buf + t->n;
    t->gz.avail_out = (uInt)room;
    t->member = true;
    int rc = inflate(&t->gz, Z_NO_FLUSH);
    t->raw_at = t->raw_n - t->gz.avail_in;
    t->n += room - t->gz.avail_out;
    if (rc == Z_STREAM_END) {                        /* another member may follow */
        t->member = false;
        /* concatenated .gz files are one file (RFC 1952, 2.2) */
        inflateReset(&t->gz);
    /* no output for this input: more is to come */
    } else if (rc != Z_OK && rc != Z_BUF_ERROR)
        return err_set("%s: corrupt gzip data (%s) near byte %llu", t->name,
                       t->gz.msg ? t->gz.msg : "no reason given",
                       (unsigned long long)(t->read - t->gz.avail_in));
    return 0;
}

static int decode_zstd(struct text *t, size_t room)
{
    if (!t->member && t->raw_end) { t->end = true; return 0; }
    if (t->raw_end) return too_early(t, "zstd");
    ZSTD_inBuffer in = { t->raw, t->raw_n, t->raw_at };
    ZSTD_outBuffer out = { t->buf + t->n, room, 0 };
    size_t rc = ZSTD_decompressStream(t->zs, &out, &in);
    /* Its memory is what the window says: the limit keeps a few bytes of input from taking 2
     * GiB. */
    if (ZSTD_getErrorCode(rc) == ZSTD_error_frameParameter_windowTooLarge)
        return err_set("%s: zstd data with a window of more than 2^%d bytes of memory; pass "
                       "--zstd-long 31 to accept it",
                       t->name, limits.window);
    if (ZSTD_isError(rc))
        return err_set("%s: corrupt zstd data (%s) near byte %llu", t->name, ZSTD_getErrorName(rc),
                       (unsigned long long)(t->read - (t->raw_n - in.pos)));
    t->raw_at = in.pos;
    t->n += out.pos;
    /* 0: the frame has ended; a file may have several (RFC 8878, 3) */
    t->member = rc != 0;
    return 0;
}

/* What start() looked at, then straight from the file. */
static int read_plain(struct text *t, size_t room)
{
    size_t k = t->raw_n - t->raw_at;
    if (k) {
        if (k > room) k = room;
        memcpy(t->buf + t->n, t->raw + t->raw_at, k);
        t->raw_at += k;
    } else {
        /* without a copy: most text is plain */
        ssize_t r = io_some(t->fd, t->buf + t->n, room);
        if (r < 0) return err_sys("%s: cannot be read", t->name);
        k = (size_t)r;
        t->read += k;
        t->end = k == 0;
    }
    t->n += k;
    return 0;
}

/* Text has none of these; a first character may be cut off at the end. */
static bool is_text(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        /* those that text files have: bell, backspace, tab, ends of lines and pages, escape */
        if ((unsigned char)s[i] < ' ' && !strchr("\a\b\t\n\v\f\r\033", s[i])) return false;
    /* The last character may be cut: up to three bytes of it are no fault. */
    return !memchr(s, 0, n) && utf8_check(s, n) + 3 >= n;
}

/* What is no text is called what it is, not "byte 7 is not UTF-8". */
static int refuse_foreign(struct text *t)
{
    size_t n = t->n < FOREIGN_BYTES ? t->n : FOREIGN_BYTES;
    t->begun = true;
    if (foreign_refuse_pointer(t->name, t->buf, n) < 0) return -1;
    return is_text(t->buf, n) ? 0 : foreign_refuse(t->name, t->buf, n, "text");
}

/* Appends decoded bytes to buf, at least one unless the end is reached (then t->end). */
static int fill(struct text *t)
{
    size_t before = t->n;
    while (t->n == before && !t->end) {
        /* + 1: room for text_line's NUL where the last line has no newline */
        mem_room(&t->buf, &t->cap, t->n + READ + 1, 1);
        size_t room = t->cap - t->n - 1;
        if (room > READ) room = READ;
        if (t->kind == PLAIN) {
            if (read_plain(t, room) < 0) return -1;
        } else if (fill_raw(t) < 0
                   || (t->kind == GZIP ? decode_gzip(t, room) : decode_zstd(t, room)) < 0)
            return -1;
    }
    /* once, at the first bytes */
    return t->begun ? 0 : refuse_foreign(t);
}

static const char GZIP_MAGIC[] = "\x1F\x8B", ZSTD_MAGIC[] = "\x28\xB5\x2F\xFD";

/* Do the first n bytes leave open whether the magic word stands there? */
static bool may_be(const unsigned char *p, size_t n, const char *magic, size_t magic_n)
{
    return n < magic_n && !memcmp(p, magic, n);
}

static int start(struct text *t)
{
    /* A pipe may give its first bytes one by one; and a person's first line may be short: no more
     * than needed. */
    /* otherwise what has come so far would be taken for plain text */
    while (may_be(t->raw, t->raw_n, GZIP_MAGIC, 2) || may_be(t->raw, t->raw_n, ZSTD_MAGIC, 4)) {
        ssize_t k = io_some(t->fd, t->raw + t->raw_n, READ - t->raw_n);
        if (k < 0) return err_sys("%s: cannot be read", t->name);
        if (k == 0) break;
        t->raw_n += (size_t)k;
        t->read += (uint64_t)k;
    }
    if (t->raw_n >= 2 && !memcmp(t->raw, GZIP_MAGIC, 2)) {
        t->kind = GZIP;
        /* 15: the largest window; + 16: gzip's header, not zlib's. */
        if (inflateInit2(&t->gz, 15 + 16) != Z_OK) return err_set("%s: zlib cannot start", t->name);
        t->gz_open = true;
    } else if (t->raw_n >= 4 && !memcmp(t->raw, ZSTD_MAGIC, 4)) {
        t->kind = ZSTD;
        if (!(t->zs = ZSTD_createDStream())) return err_set("%s: zstd cannot start", t->name);
        ZSTD_initDStream(t->zs);
        if (ZSTD_isError(ZSTD_DCtx_setParameter(t->zs, ZSTD_d_windowLogMax, limits.window)))
            return err_set("%s: this libzstd has no windows of 2^%d bytes", t->name, limits.window);
    }
    return 0;
}

struct text *text_open(const char *path, int flags)
{
    return text_open_as(path, !path || !strcmp(path, "-") ? "standard input" : path, flags);
}

struct text *text_open_as(const char *path, const char *name, int flags)
{
    bool std_in = !path || !strcmp(path, "-");
    int fd = std_in ? STDIN_FILENO : io_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) { file_cannot_open(name); return NULL; }
    struct stat st;
    struct text *t = mem_zero(1, sizeof *t);
    t->name = mem_dup(name);
    t->fd = fd;
    /* text_replace_all(): --replace-invalid holds for every text of a program, whoever opens it */
    t->flags = flags | always;
    t->next_line = 1;
    /* One buffer for what is read; compressed text is decoded from it. */
    t->raw = mem_alloc(READ);
    bool dir = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
    /* For the progress bar: of a pipe there is no telling how much will come. */
    if (!dir && S_ISREG(st.st_mode)) t->total = (uint64_t)st.st_size;
    if (dir) file_is_folder(t->name);
    /* before the first byte is handed out */
    if (dir || (flags & TEXT_SUM && sum_check(path) < 0) || start(t) < 0) {
        text_close(t);
        return NULL;
    }
    return t;
}

/* --- UTF-8 --- */

/* The error for the bad byte at offset `bad` of s, a part of the buffer whose first byte begins
 * line `line`. */
static int not_utf8(const struct text *t, const char *s, size_t bad, uint64_t line)
{
    size_t begin = 0;
    /* the block's first line has the number `line` */
    for (const char *p; (p = memchr(s + begin, '\n', bad - begin)); begin = (size_t)(p - s) + 1)
        line++;
    return err_set("%s:%llu: byte %zu is not UTF-8; %s%s", t->name, (unsigned long long)line,
                   bad - begin + 1,
                   encoding_advice(s + begin, (size_t)(t->buf + t->n - s) - begin, line == 1),
                   msg_has_option("replace-invalid") ? " or pass --replace-invalid" : "");
}

/* --- lines and blocks --- */

/* Moves what is left to the front when much before it is used up. */
static void compact(struct text *t)
{
    /* moved once for READ bytes that were used: linear in all */
    if (!t->at || (t->at < READ && t->at < t->n)) return;
    memmove(t->buf, t->buf + t->at, t->n - t->at);
    t->n -= t->at;
    t->at = 0;
}

int text_line(struct text *t, const char **line, size_t *n)
{
    size_t looked = 0;
    char *nl = NULL;
    for (;;) {
        if (t->n > t->at + looked)
            nl = memchr(t->buf + t->at + looked, '\n', t->n - t->at - looked);
        if (nl || t->end) break;
        /* Not searched again: a long line that comes in pieces takes linear time. */
        looked = t->n - t->at;
        /* before more is read, so that memory has a bound */
        if (looked > limits.line) return too_long(t, t->next_line);
        compact(t);
        if (fill(t) < 0) return -1;
    }
    if (!nl && t->at == t->n) return 0;
    char *s = t->buf + t->at;
    size_t len = nl ? (size_t)(nl - s) : t->n - t->at;
    /* a line may be too long and yet be in the buffer as a whole */
    if (len > limits.line) return too_long(t, t->next_line);
    /* The last line of a file may lack its newline; who writes lines again keeps it so. */
    t->newline = nl != NULL;
    t->at += len + t->newline;
    /* the newline's place, or the spare byte at the end */
    s[len] = 0;
    t->lineno = t->next_line++;
    size_t good = t->flags & TEXT_UTF8 ? utf8_check(s, len) : len;
    t->replaced = good < len;
    if (t->replaced) {
        if (!(t->flags & TEXT_REPLACE)) {
            /* not_utf8() counts lines in the buffer. */
            /* text_line has put a NUL there */
            if (nl) *nl = '\n';
            return not_utf8(t, s, good, t->lineno);
        }
        len = utf8_replace(&t->fixed, &t->fixed_cap, s, len);
        s = t->fixed;
    }
    *line = s;
    *n = len;
    return 1;
}

/* Is more there without waiting, as far as one can tell before it is decoded? */
static bool input_ready(struct text *t)
{
    if (t->raw_at < t->raw_n || t->end) return true;
    struct pollfd p = { t->fd, POLLIN, 0 };
    /* errors and hang-ups count as ready: fill() meets them */
    return poll(&p, 1, 0) != 0;
}

static uint64_t count_lines(const char *s, size_t n)
{
    /* A constant below 256: a byte holds the count, and compilers compare 16 bytes and more at
     * once. */
    enum { STEP = 240 };
    uint64_t k = 0;
    size_t i = 0;
    for (; i + STEP <= n; i += STEP) {
        unsigned char some = 0;
        for (size_t j = 0; j < STEP; j++) some = (unsigned char)(some + (s[i + j] == '\n'));
        k += some;
    }
    for (; i < n; i++) k += s[i] == '\n';
    return k;
}

/* Hands out the first len bytes of buf: the buffer itself, while the rest moves into the
 * caller's. */
static void hand_out(struct text *t, size_t len, char **buf, size_t *cap)
{
    size_t rest = t->n - len;
    mem_room(buf, cap, rest + 1, 1);
    memcpy(*buf, t->buf + len, rest);
    char *p = t->buf;
    size_t c = t->cap;
    t->buf = *buf; t->cap = *cap;
    *buf = p; *cap = c;
    p[len] = 0;
    t->at = 0;
    t->n = rest;
}

/* The last byte of s[0..n) after which a block may end; NULL if there is none. */
static char *last_cut(char *s, size_t n, bool parts)
{
    char *nl = memrchr(s, '\n', n);
    if (nl || !parts) return nl;
    char *space = memrchr(s, ' ', n), *tab = memrchr(s, '\t', n);
    return space > tab ? space : tab;
}

/* The length of the first line above the limit, else of the last; *number, of the first line,
 * becomes its. */
static size_t longest_line(const char *s, size_t n, uint64_t *number)
{
    for (size_t at = 0; ; ++*number) {
        const char *nl = memchr(s + at, '\n', n - at);
        size_t len = nl ? (size_t)(nl - s) - at : n - at;
        if (len > limits.line || !nl || at + len + 1 == n) return len;
        at += len + 1;
    }
}

static int block(struct text *t, size_t want, bool parts, size_t longest, char **buf, size_t *cap,
                 size_t *n)
{
    char *nl = NULL;
    size_t looked = 0;
    if (t->at) {
        memmove(t->buf, t->buf + t->at, t->n - t->at);
        t->n -= t->at;
        t->at = 0;
    }
    while (!t->end) {
        /* TEXT_LIVE: what a person has typed must not wait for a full block */
        bool enough = t->n >= want || (t->flags & TEXT_LIVE && t->n > looked && !input_ready(t));
        if (enough && (nl = last_cut(t->buf + looked, t->n - looked, parts))) break;
        /* one long line, searched once: linear in it */
        if (enough) looked = t->n;
        if (!parts && looked > limits.line) return too_long(t, t->next_line);
        if (t->n > longest)
            return err_set(
                "%s:%" PRIu64
                ": a word of more than %zu bytes; if this is text, give more memory (--memory)",
                t->name, t->next_line, longest);
        if (fill(t) < 0) return -1;
    }
    if (!t->n) return 0;
    size_t len = nl ? (size_t)(nl + 1 - t->buf) : t->n;
    /* the last fill may have brought much more than a block: cut it too */
    if (len > want + READ) {
        char *p = last_cut(t->buf, want, parts);
        if (!p) p = memchr(t->buf + want, '\n', len - want);
        if (p) len = (size_t)(p + 1 - t->buf);
    }
    uint64_t line = t->next_line;
    if (!parts && len > limits.line && longest_line(t->buf, len, &line) > limits.line)
        return too_long(t, line);
    t->newline = t->buf[len - 1] == '\n';
    t->within = !t->newline;
    t->lineno = t->next_line;
    t->next_line += count_lines(t->buf, len);
    size_t good = t->flags & TEXT_UTF8 ? utf8_check(t->buf, len) : len;
    if (good == len) {
        hand_out(t, len, buf, cap);
        *n = len;
        return 1;
    }
    if (!(t->flags & TEXT_REPLACE)) return not_utf8(t, t->buf, good, t->lineno);
    /* t->buf stays ours, since the repaired copy is what is handed out */
    *n = utf8_replace(buf, cap, t->buf, len);
    t->at = len;
    return 1;
}

int text_block(struct text *t, size_t want, char **buf, size_t *cap, size_t *n)
{
    return block(t, want, false, SIZE_MAX, buf, cap, n);
}
int text_part(struct text *t, size_t want, size_t longest, char **buf, size_t *cap, size_t *n)
{ return block(t, want, true, longest, buf, cap, n); }

bool text_had_newline(const struct text *t) { return t->newline; }
bool text_was_replaced(const struct text *t) { return t->replaced; }
const char *text_name(const struct text *t) { return t->name; }
uint64_t text_lineno(const struct text *t) { return t->lineno; }
void text_skip_mark(const struct text *t, const char **line, size_t *n)
{
    if (text_lineno(t) != 1 || *n < 3 || memcmp(*line, "\xEF\xBB\xBF", 3)) return;
    *line += 3;
    *n -= 3;
}
int text_fail(const struct text *t)
{
    return err_set("%s:%llu: %s", text_name(t), (unsigned long long)text_lineno(t), err_msg());
}
uint64_t text_lines(const struct text *t) { return t->next_line - 1 + t->within; }

void text_where(const struct text *t, uint64_t *read, uint64_t *total)
{
    *read = t->read;
    *total = t->total;
}

void text_close(struct text *t)
{
    if (!t) return;
    /* Standard input is not ours to close. */
    if (t->fd > STDIN_FILENO) close(t->fd);
    if (t->gz_open) inflateEnd(&t->gz);
    ZSTD_freeDStream(t->zs);
    free(t->raw);
    free(t->buf);
    free(t->fixed);
    free(t->name);
    free(t);
}
