#include "lib/plot/gnuplot.h"
#include "common/err.h"
#include "common/file.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/shown.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
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
    char *text = mem_alloc(4 * n + 5);
    shown(text, 4 * n + 5, s ? s : "", n);
    put_string(to, text);
    free(text);
}

void gnuplot_terminal(FILE *to, bool png, int width, int height, const char *output)
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
    fputs("set output ", to);
    put_string(to, output);
    fputs("\nset encoding utf8\n", to);
}

static char *temporary(void)
{
    const char *dir = getenv("TMPDIR");
    char *name = path_join(dir && *dir ? dir : "/tmp", "isoglot-plot.XXXXXX");
    /* its place in the list first: memory that ends there would leave the file */
    tmp_register(name);
    tmp_forget(name);
    int fd = mkstemp(name);
    if (fd < 0) { err_sys("%s", name); free(name); return NULL; }
    close(fd);
    tmp_register(name);
    return name;
}

static void forget(char *name)
{
    if (!name) return;
    tmp_remove(name);
    if (file_exists(name))
        msg_warn("%s: cannot be removed: %s; tried again at the end", name, strerror(errno));
    free(name);
}

/* The first line that says something of what gnuplot wrote to its standard error. */
static int gnuplot_error(const char *messages)
{
    size_t n;
    char *s = file_read(messages, &n), *line, *rest = s, *best = NULL;
    while (rest && (line = strsep(&rest, "\n"))) {
        char *colon = strstr(line, "line ");
        if (colon && (colon = strchr(colon, ':')) && colon[1]) { best = colon + 1; break; }
    }
    err_set("gnuplot: %s; is it gnuplot 5 with its svg and pngcairo terminals?",
            best ? best + strspn(best, " ") : "failed");
    free(s);
    return -1;
}

static int run_gnuplot(const char *script_path, const char *messages)
{
    /* -d: without the user's settings */
    char *const argv[] = { "gnuplot", "-d", (char *)script_path, NULL };
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, messages, O_WRONLY | O_TRUNC, 0600);
    int failed = posix_spawnp(&pid, "gnuplot", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed == ENOENT)
        return err_set("gnuplot is not installed; apt-get install gnuplot-nox, or take the numbers "
                       "with --tsv FILE");
    if (failed) { errno = failed; return err_sys("gnuplot cannot be started"); }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) ;
    if (!WIFEXITED(status) || WEXITSTATUS(status)) return gnuplot_error(messages);
    return 0;
}

int gnuplot_draw(gnuplot_script script, const void *what, bool png, char **bytes, size_t *n)
{
    int status = -1;
    char *commands = temporary(), *picture = temporary(), *messages = temporary();
    FILE *to = commands && picture && messages ? fopen(commands, "w") : NULL;
    if (to) {
        script(to, what, png, picture);
        status = fclose(to) == 0 ? 0 : err_sys("%s: cannot write", commands);
        if (status == 0) status = run_gnuplot(commands, messages);
        if (status == 0) {
            *bytes = file_read(picture, n);
            if (!*bytes) status = -1;
            else if (*n == 0) { free(*bytes); status = gnuplot_error(messages); }
        }
    }
    forget(commands); forget(picture); forget(messages);
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
