#include "common/grant.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The first line of a file, false if there is none. */
static bool first_line(const char *path, char *s, int size)
{
    /* "e": closed in programs that are started. */
    FILE *f = fopen(path, "re");
    bool got = f && fgets(s, size, f);
    if (f) fclose(f);
    if (got) s[strcspn(s, "\n")] = '\0';
    return got;
}

/* This process's folder in the hierarchy that has the controller ("" for cgroup v2), under its
 * usual mount point. */
static bool cgroup_dir(const char *controller, char *dir, size_t size)
{
    FILE *f = fopen("/proc/self/cgroup", "re");
    if (!f) return false;
    char line[PATH_MAX];
    bool found = false;
    while (!found && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
        if (!path) continue;
        /* HIERARCHY:CONTROLLERS:PATH (cgroups(7)); v2 has no controllers there */
        *path++ = '\0';
        list++;
        if (!*controller) found = !*list;
        else
            for (char *save, *w = strtok_r(list, ",", &save); w && !found;
                 w = strtok_r(NULL, ",", &save))
                found = strcmp(w, controller) == 0;
        if (found)
            snprintf(dir, size, "/sys/fs/cgroup%s%s%s", *controller ? "/" : "", controller, path);
    }
    fclose(f);
    return found;
}

/* Calls get(dir) for the process's cgroup and its parents (inside a container the named folder may
 * not be there, the mount's own root is) and returns the least positive value, 0 for none. */
static double cgroup_least(const char *controller, double (*get)(const char *dir))
{
    char dir[PATH_MAX + 64];
    if (!cgroup_dir(controller, dir, sizeof dir)) return 0;
    /* where the hierarchy is mounted: nothing above it is a cgroup */
    size_t root = strlen("/sys/fs/cgroup") + (*controller ? 1 + strlen(controller) : 0);
    double least = 0;
    /* A group above may have the narrower limit. */
    for (;;) {
        double v = get(dir);
        if (v > 0 && (least <= 0 || v < least)) least = v;
        char *slash = strrchr(dir, '/');
        if (strlen(dir) <= root || !slash || (size_t)(slash - dir) < root) return least;
        *slash = '\0';
    }
}

static double read_number(const char *dir, const char *file)
{
    char path[PATH_MAX + 128], s[128];
    snprintf(path, sizeof path, "%s/%s", dir, file);
    return first_line(path, s, sizeof s) ? atof(s) : 0;      /* "max" reads as 0 */
}

static double cpus_v2(const char *dir)
{
    char path[PATH_MAX + 128], s[128];
    double quota, period;
    snprintf(path, sizeof path, "%s/cpu.max", dir);
    return first_line(path, s, sizeof s) && sscanf(s, "%lf %lf", &quota, &period) == 2 && period > 0
               ? quota / period
               : 0;
}

static double cpus_v1(const char *dir)
{
    double quota = read_number(dir, "cpu.cfs_quota_us"),
           period = read_number(dir, "cpu.cfs_period_us");
    return quota > 0 && period > 0 ? quota / period : 0;
}

static double memory_v2(const char *dir) { return read_number(dir, "memory.max"); }
static double memory_v1(const char *dir) { return read_number(dir, "memory.limit_in_bytes"); }

double granted_memory(void)
{
    double all = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    /* a machine may have both versions */
    double limit[] = { cgroup_least("", memory_v2), cgroup_least("memory", memory_v1) };
    for (int i = 0; i < 2; i++)
        if (limit[i] > 0 && limit[i] < all) all = limit[i];
    return all;
}

/* The number after "name" or "name:" in a file of such lines; 0 if it is not there. */
static double field(const char *path, const char *name)
{
    char line[256];
    size_t n = strlen(name);
    double v = 0;
    FILE *f = fopen(path, "re");
    while (f && v == 0 && fgets(line, sizeof line, f))
        if (!strncmp(line, name, n) && (line[n] == ' ' || line[n] == ':')) v = atof(line + n + 1);
    if (f) fclose(f);
    return v;
}

/* What is left below a limit, at least a byte: 0 would say that there is none. In a container that
 * has read and written much, nearly all that counts as used is pages of files. */
static double room(double limit, double used, const char *dir, const char *inactive,
                   const char *active)
{
    char path[PATH_MAX + 128];
    /* cgroup v1 writes "no limit" as a number near 2^63. */
    if (!(limit > 0) || limit > 0x1p60) return 0;
    snprintf(path, sizeof path, "%s/memory.stat", dir);
    used -= field(path, inactive) + field(path, active);
    return fmax(limit - fmax(used, 0), 1);
}

static double room_v2(const char *dir)
{
    return room(memory_v2(dir), read_number(dir, "memory.current"), dir, "inactive_file",
                "active_file");
}

static double room_v1(const char *dir)
{
    return room(memory_v1(dir), read_number(dir, "memory.usage_in_bytes"), dir,
                "total_inactive_file", "total_active_file");
}

double granted_memory_left(void)
{
    double left = 1024 * field("/proc/meminfo", "MemAvailable");
    double group[] = { cgroup_least("", room_v2), cgroup_least("memory", room_v1) };
    struct rlimit as;
    /* Without /proc nothing limits it. */
    if (!(left > 0)) left = 0x1p62;
    for (int i = 0; i < 2; i++)
        if (group[i] > 0 && group[i] < left) left = group[i];
    if (getrlimit(RLIMIT_AS, &as) == 0 && as.rlim_cur != RLIM_INFINITY)
        left = fmin(left, (double)as.rlim_cur - 1024 * field("/proc/self/status", "VmSize"));
    return fmax(left, 0);
}

int granted_threads(void)
{
    double n = (double)sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t *set = NULL;
    /* The kernel expects a set at least as large as its own. */
    for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
        /* EINVAL says that the set was too small */
        set = CPU_ALLOC((size_t)cpus);
        if (!set) break;
        if (sched_getaffinity(0, CPU_ALLOC_SIZE((size_t)cpus), set) == 0) {
            n = CPU_COUNT_S(CPU_ALLOC_SIZE((size_t)cpus), set);
            CPU_FREE(set);
            break;
        }
        CPU_FREE(set);
        if (errno != EINVAL) break;
    }
    const char *slurm = getenv("SLURM_CPUS_PER_TASK");
    double limit[] = { cgroup_least("", cpus_v2), cgroup_least("cpu", cpus_v1),
                       /* a job's share of a node that others use too */
                       slurm ? atof(slurm) : 0 };
    for (int i = 0; i < 3; i++)
        /* Rounded up: a quota of 1.5 processors keeps two threads busy most of the time. */
        if (limit[i] > 0 && ceil(limit[i]) < n) n = ceil(limit[i]);
    /* as --threads allows */
    return n < 1 ? 1 : n > 4096 ? 4096 : (int)n;
}
