/* timed CMD...: runs CMD; then, on file descriptor 3, "wall-seconds cpu-seconds peak-KiB". To the
 * microsecond, which time(1) does not give. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static double seconds(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    double from = now();
    pid_t pid = vfork();
    if (pid == 0) { execvp(argv[1], argv + 1); _exit(127); }
    struct rusage u;
    int status;
    if (pid < 0 || wait4(pid, &status, 0, &u) < 0) return 126;
    dprintf(3, "%.6f %.6f %ld\n", now() - from, seconds(u.ru_utime) + seconds(u.ru_stime),
            u.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
