#include "common/prog/log.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/files/file.h"
#include "common/files/io.h"
#include "common/mem.h"
#include "common/utf8.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- JSON lines ------------------------------------------------------------------------------- */

struct log {
    int fd;
    char *path, *line, *text;    /* text: for put_string */
    size_t n, cap, text_cap;
    struct tfevents *board;
    char event[64];
};

static void put(struct log *l, const char *s, size_t n)
{
    mem_room(&l->line, &l->cap, l->n + n, 1);
    memcpy(l->line + l->n, s, n);
    l->n += n;
}

/* What is not UTF-8 becomes U+FFFD: a log must stay readable whatever a message quotes, and JSON
 * allows no other bytes. */
static void put_string(struct log *l, const char *text)
{
    size_t n = utf8_replace(&l->text, &l->text_cap, text, strlen(text));
    put(l, "\"", 1);
    for (const char *s = l->text; s < l->text + n; s++) {
        char esc[8];
        if (*s == '"' || *s == '\\') { esc[0] = '\\'; esc[1] = *s; put(l, esc, 2); }
        else if (*s == '\n') put(l, "\\n", 2);
        else if (*s == '\t') put(l, "\\t", 2);
        else if (*s == '\r') put(l, "\\r", 2);
        else if ((unsigned char)*s < 0x20 || *s == 0x7F) {
            snprintf(esc, sizeof esc, "\\u%04x", *s);
            put(l, esc, 6);
        } else put(l, s, 1);
    }
    put(l, "\"", 1);
}

static void put_key(struct log *l, const char *key)
{
    if (l->n > 1) put(l, ",", 1);
    put_string(l, key);
    put(l, ":", 1);
}

struct log *log_open(const char *path)
{
    /* appended to, so never under another name first; O_RDWR for the last byte below */
    int fd = file_open_in_place(path, O_RDWR | O_CREAT | O_APPEND);
    if (fd < 0) return NULL;
    /* A line that a killed process left half-written must not swallow the next one. */
    char last;
    off_t end = lseek(fd, 0, SEEK_END);
    bool cut = end > 0 && io_read_at(fd, &last, 1, end - 1) == 1 && last != '\n';
    if (cut && io_write(fd, "\n", 1) < 0) {
        err_sys("%s: cannot write", path);
        close(fd);
        return NULL;
    }
    struct log *l = mem_zero(1, sizeof *l);
    l->fd = fd;
    l->path = mem_dup(path);
    return l;
}

void log_begin(struct log *l, const char *event, int64_t step)
{
    if (!l) return;
    /* One buffer per log, and one write per line: lines of several processes never mix. */
    l->n = 0;
    put(l, "{", 1);
    log_str(l, "event", event);
    log_int(l, "step", step);
    char s[40];
    double time = clock_date();
    /* written by hand: log_real's nine digits would round seconds since 1970 */
    put_key(l, "time");
    put(l, s, (size_t)snprintf(s, sizeof s, "%.3f", time));
    snprintf(l->event, sizeof l->event, "%s", event);
    if (l->board) tfevents_begin(l->board, step, time);
}

static void to_board(struct log *l, const char *key, double v)
{
    char tag[192];
    /* what log_begin itself writes has a place of its own: tfevents_begin drops it here */
    if (!l->board) return;
    snprintf(tag, sizeof tag, "%s/%s", l->event, key);
    tfevents_scalar(l->board, tag, v);
}

void log_int(struct log *l, const char *key, int64_t v)
{
    char s[24];
    if (!l) return;
    put_key(l, key);
    put(l, s, (size_t)snprintf(s, sizeof s, "%lld", (long long)v));
    /* event files hold float32 all the same */
    to_board(l, key, (double)v);
}

void log_real(struct log *l, const char *key, double v)
{
    char s[40];
    if (!l) return;
    put_key(l, key);
    /* JSON has no infinities and NaNs. */
    if (!isfinite(v)) { put(l, "null", 4); return; }
    put(l, s, (size_t)snprintf(s, sizeof s, "%.9g", v));       /* a float32 reads back as itself */
    to_board(l, key, v);
}

void log_str(struct log *l, const char *key, const char *v)
{
    if (!l) return;
    put_key(l, key);
    if (v) put_string(l, v);
    else put(l, "null", 4);
}

int log_end(struct log *l)
{
    if (!l) return 0;
    put(l, "}\n", 2);
    /* the line stands in the log even if TensorBoard's file cannot be written */
    if (io_write(l->fd, l->line, l->n) < 0) return err_sys("%s: cannot write", l->path);
    return l->board ? tfevents_end(l->board) : 0;
}

int log_tensorboard(struct log *l, const char *dir, int64_t step)
{
    tfevents_close(l->board);
    l->board = tfevents_open(dir, step);
    return l->board ? 0 : -1;
}

void log_close(struct log *l)
{
    if (!l) return;
    close(l->fd);
    tfevents_close(l->board);
    free(l->path);
    free(l->line);
    free(l->text);
    free(l);
}

/* The value of "step" at the top level of one line of ours, which log_begin writes second; false if
 * it has none. */
static bool line_step(const char *s, size_t n, int64_t *step)
{
    bool in_string = false;
    static const char key[] = "\"step\":";
    size_t k = sizeof key - 1;
    for (size_t i = 0; i < n; i++) {
        /* Outside strings only: a value may hold the text of a key. */
        if (!in_string && n - i > k && memcmp(s + i, key, k) == 0) {
            char *end;
            *step = strtoll(s + i + k, &end, 10);
            return end != s + i + k;
        }
        /* skips what is escaped, so that \" does not end the string */
        if (in_string && s[i] == '\\') i++;
        else if (s[i] == '"') in_string = !in_string;
    }
    return false;
}

int log_truncate(const char *path, int64_t step)
{
    /* a run that is resumed with another --log has none yet */
    if (!file_exists(path)) return 0;
    size_t n, kept = 0;
    char *text = file_read(path, &n);
    if (!text) return -1;
    for (size_t at = 0; at < n; ) {
        char *newline = memchr(text + at, '\n', n - at);
        if (!newline) break;                                    /* torn */
        size_t len = (size_t)(newline - (text + at)) + 1;
        int64_t its;
        /* a log is only ours where every line is an object; anything else would stop readers */
        bool whole = len > 2 && text[at] == '{' && newline[-1] == '}';
        /* Lines of steps after the checkpoint are written again by the run that goes on from
         * it. */
        if (whole && !(line_step(text + at, len, &its) && its > step)) {
            memmove(text + kept, text + at, len);
            kept += len;
        }
        at += len;
    }
    /* Nothing to drop: the file keeps its bytes and its time. */
    int r = kept == n ? 0 : file_write(path, text, kept);
    free(text);
    return r;
}
