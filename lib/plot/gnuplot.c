#include "lib/plot/gnuplot.h"
#include "common/err.h"
#include "common/files/file.h"
#include "common/mem.h"
#include "common/shown.h"
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *const palette[] = { "#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                       "#E69F00", "#56B4E9", "#1A1A1A" };

const char *gnuplot_colour(int i) { return i < 0 ? "#777777" : palette[i % GNUPLOT_COLOURS]; }

/* In double quotes, where an octal number can stand for what gnuplot would take as its own: a
 * quote (single ones cannot hold a string that begins with one), a backslash, a command to run, a
 * macro, a line's end. */
static void put_string(FILE *to, const char *s)
{
    putc('"', to);
    for (; *s; s++) {
        if ((unsigned char)*s < 0x20 || strchr("\"'\\`@", *s))
            fprintf(to, "\\%03o", (unsigned char)*s);
        else putc(*s, to);
    }
    putc('"', to);
}

void gnuplot_quoted(FILE *to, const char *s)
{
    size_t n = s ? strlen(s) : 0;
    /* \xNN takes four characters for one byte at most */
    char *text = mem_alloc(4 * n + 5);
    shown(text, 4 * n + 5, s ? s : "", n);
    put_string(to, text);
    free(text);
}

void gnuplot_terminal(FILE *to, bool png, int width, int height)
{
    if (png)
        fprintf(to,
                "set terminal pngcairo noenhanced size %d,%d font 'Helvetica,12' fontscale 2 "
                "linewidth 2 pointscale 2 background '#ffffff'\n",
                2 * width, 2 * height);
    else
        fprintf(to,
                "set terminal svg noenhanced size %d,%d dynamic font "
                "'Helvetica,Arial,sans-serif,12' background '#ffffff'\n",
                width, height);
    /* whatever the user's locale */
    fputs("set encoding utf8\n", to);
}

/* All bytes of one of our temporary files, NUL-terminated. */
static char *read_all(FILE *f, size_t *n)
{
    struct stat st;
    char *s = NULL;
    if (fstat(fileno(f), &st) == 0 && fseeko(f, 0, SEEK_SET) == 0) {
        *n = (size_t)st.st_size;
        s = mem_alloc(*n + 1);
        s[*n] = '\0';
        if (fread(s, 1, *n, f) == *n) return s;
    }
    err_sys("gnuplot: what it wrote cannot be read");
    free(s);
    return NULL;
}

/* The first line of gnuplot's standard error that says something. */
static int gnuplot_error(FILE *messages)
{
    size_t n;
    char *s = read_all(messages, &n), *line, *rest = s, *best = NULL;
    while (rest && (line = strsep(&rest, "\n"))) {
        /* gnuplot repeats the command with a caret below it; its words follow "line N:" */
        char *colon = strstr(line, "line ");
        if (colon && (colon = strchr(colon, ':')) && colon[1]) { best = colon + 1; break; }
    }
    err_set("gnuplot: %s; is it gnuplot 5 with its svg and pngcairo terminals?",
            best ? best + strspn(best, " ") : "failed");
    free(s);
    return -1;
}

static int run_gnuplot(FILE *commands, FILE *picture, FILE *messages)
{
    /* -d: without the user's settings, which could change the picture; -: commands from standard
     * input */
    char *const argv[] = { "gnuplot", "-d", "-", NULL };
    FILE *const given[] = { commands, picture, messages };
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status;
    posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < 3; i++) posix_spawn_file_actions_adddup2(&actions, fileno(given[i]), i);
    int failed = posix_spawnp(&pid, "gnuplot", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed == ENOENT)
        return err_set("gnuplot is not installed; apt-get install gnuplot-nox, or take the numbers "
                       "with --tsv FILE");
    if (failed) { errno = failed; return err_sys("gnuplot cannot be started"); }
    /* a signal handler of ours may run meanwhile; gnuplot's end is still to be awaited */
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) ;
    if (!WIFEXITED(status) || WEXITSTATUS(status)) return gnuplot_error(messages);
    return 0;
}

static int draw(FILE *commands, FILE *picture, FILE *messages, char **bytes, size_t *n)
{
    if (ferror(commands) || fflush(commands) != 0 || fseeko(commands, 0, SEEK_SET) < 0)
        return err_sys("gnuplot: its commands cannot be written; set TMPDIR to a folder with more "
                       "room");
    if (run_gnuplot(commands, picture, messages) < 0) return -1;
    *bytes = read_all(picture, n);
    if (!*bytes) return -1;
    /* without a picture status 0 is a failure, too */
    if (*n > 0) return 0;
    free(*bytes);
    return gnuplot_error(messages);
}

/* gnuplot's input, output and messages are temporary files without names, so that nothing is left
 * however the program ends; unlike pipes they cannot block one process on the other. */
int gnuplot_draw(gnuplot_script script, const void *what, bool png, char **bytes, size_t *n)
{
    int status = -1, k = 0;
    FILE *f[3] = { 0 };
    while (k < 3 && (f[k] = tmp_open(NULL))) k++;
    if (k == 3) {
        script(f[0], what, png);
        status = draw(f[0], f[1], f[2], bytes, n);
    }
    while (k > 0) fclose(f[--k]);
    return status;
}

void gnuplot_title(FILE *to, const char *title, int width, int height)
{
    if (!title) return;
    fputs("set label 1 ", to);
    gnuplot_quoted(to, title);
    fprintf(to, " at screen %.4f,%.4f left font ',15' textcolor '#111111'\n", 18.0 / width,
            1 - 18.0 / height);
}
