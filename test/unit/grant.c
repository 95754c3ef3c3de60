/* common/grant.h: what cgroups of both versions, /proc and limits grant, of files that this test
 * writes: fopen, getrlimit and sched_getaffinity below stand before the C library's. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include "common/files/file.h"
#include "common/grant.h"
#include "test/unit/scratch.h"

static rlim_t address_space = RLIM_INFINITY;
/* processors of this process, and bytes of the kernel's set of them (0: it has no such call) */
static size_t processors, set_bytes;

/* what the system tells is under `root` */
FILE *fopen(const char *path, const char *mode)
{
    FILE *(*real)(const char *, const char *) =
        (FILE *(*)(const char *, const char *))dlsym(RTLD_NEXT, "fopen");
    char here[4200];
    if (strncmp(path, "/sys/fs/", 8) != 0 && strncmp(path, "/proc/", 6) != 0)
        return real(path, mode);
    snprintf(here, sizeof here, "root%s", path);
    return real(here, mode);
}

int getrlimit(__rlimit_resource_t which, struct rlimit *to)
{
    /* the stack's, say, which a sanitizer asks for before main */
    if (which != RLIMIT_AS) return (int)syscall(SYS_prlimit64, 0, which, NULL, to);
    *to = (struct rlimit){ address_space, address_space };
    return 0;
}

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
    (void)pid;
    errno = set_bytes ? EINVAL : ENOSYS;
    if (!set_bytes || bytes < set_bytes) return -1;
    CPU_ZERO_S(bytes, set);
    for (size_t i = 0; i < processors; i++) CPU_SET_S(8 * bytes - 1 - i, bytes, set);
    return 0;
}

static void write_file(const char *path, const char *text)
{
    char at[4200];
    snprintf(at, sizeof at, "root%s", path);
    char *slash = strrchr(at, '/');
    *slash = '\0';
    assert_int_equal(dir_make(at), 0);
    *slash = '/';
    FILE *f = fopen(at, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int fresh(void **state)
{
    (void)state;
    address_space = RLIM_INFINITY;
    processors = 7;
    set_bytes = 128;
    unsetenv("SLURM_CPUS_PER_TASK");
    return dir_remove("root") < 0 && file_exists("root") ? -1 : 0;
}

static void without_a_word_of_the_system_it_is_what_the_machine_has(void **state)
{
    (void)state;
    double all = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    assert_true(granted_memory() == all);
    assert_true(granted_memory_left() == 0x1p62);
    assert_int_equal(granted_threads(), 7);
    set_bytes = 0;
    assert_int_equal(granted_threads(), sysconf(_SC_NPROCESSORS_ONLN));
    /* a machine of up to 8,192 and of up to 2^20 processors */
    set_bytes = 1024;
    assert_int_equal(granted_threads(), 7);
    set_bytes = 1 << 17;
    assert_int_equal(granted_threads(), 7);
    processors = 5000;
    assert_int_equal(granted_threads(), 4096);
}

static void of_nested_groups_the_narrowest_counts(void **state)
{
    (void)state;
    write_file("/proc/self/cgroup", "1:name=systemd:/other\n0::/a/b\n");
    write_file("/sys/fs/cgroup/a/b/memory.max", "max\n");
    write_file("/sys/fs/cgroup/a/memory.max", "1000000\n");
    assert_true(granted_memory() == 1000000);
    write_file("/sys/fs/cgroup/a/b/memory.max", "500000\n");
    assert_true(granted_memory() == 500000);
    /* the mount's own root, which alone is there in a container; above it nothing is a group */
    write_file("/sys/fs/cgroup/memory.max", "400000\n");
    write_file("/sys/fs/memory.max", "300000\n");
    assert_true(granted_memory() == 400000);
    write_file("/sys/fs/cgroup/other/memory.max", "200000\n");
    assert_true(granted_memory() == 400000);

    write_file("/sys/fs/cgroup/a/cpu.max", "max 100000\n");
    assert_int_equal(granted_threads(), 7);
    write_file("/sys/fs/cgroup/a/b/cpu.max", "150000 100000\n");
    assert_int_equal(granted_threads(), 2);
    write_file("/sys/fs/cgroup/a/cpu.max", "50000 100000\n");
    assert_int_equal(granted_threads(), 1);
}

static void the_first_version_has_a_hierarchy_for_each_controller(void **state)
{
    (void)state;
    write_file("/proc/self/cgroup", "4:cpu,cpuacct:/x\n3:cpuset:/y\n2:hugetlb,memory:/z\n");
    write_file("/sys/fs/cgroup/memory/z/memory.limit_in_bytes", "700000\n");
    write_file("/sys/fs/cgroup/memory.limit_in_bytes", "1000\n");
    assert_true(granted_memory() == 700000);
    write_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "600000\n");
    assert_true(granted_memory() == 600000);

    write_file("/sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n");
    write_file("/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "-1\n");
    assert_int_equal(granted_threads(), 7);
    write_file("/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "90000\n");
    assert_int_equal(granted_threads(), 1);
    write_file("/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "130000\n");
    assert_int_equal(granted_threads(), 2);
    /* a machine may have both versions; the narrower counts */
    write_file("/proc/self/cgroup", "4:cpu,cpuacct:/x\n2:hugetlb,memory:/z\n0::/w\n");
    write_file("/sys/fs/cgroup/w/memory.max", "650000\n");
    assert_true(granted_memory() == 600000);
    write_file("/sys/fs/cgroup/w/memory.max", "550000\n");
    assert_true(granted_memory() == 550000);
    write_file("/sys/fs/cgroup/w/cpu.max", "20000 100000\n");
    assert_int_equal(granted_threads(), 1);
}

static void a_job_of_slurm_has_its_share(void **state)
{
    (void)state;
    setenv("SLURM_CPUS_PER_TASK", "1", 1);
    assert_int_equal(granted_threads(), 1);
    setenv("SLURM_CPUS_PER_TASK", "100000", 1);
    assert_int_equal(granted_threads(), 7);
    setenv("SLURM_CPUS_PER_TASK", "", 1);
    assert_int_equal(granted_threads(), 7);
}

/* What is left: the free memory of the machine, a group's limit less what it uses, of which pages
 * of files do not count, and the room of addresses. */
static void what_is_left_is_the_least_of_machine_groups_and_addresses(void **state)
{
    (void)state;
    write_file("/proc/meminfo",
               "MemTotal:    9000 kB\nMemAvailableX: 1 kB\nMemAvailable: 1000 kB\n");
    assert_true(granted_memory_left() == 1024000);
    write_file("/proc/self/cgroup", "0::/a\n");
    write_file("/sys/fs/cgroup/a/memory.max", "900000\n");
    write_file("/sys/fs/cgroup/a/memory.current", "700000\n");
    assert_true(granted_memory_left() == 200000);
    write_file("/sys/fs/cgroup/a/memory.stat", "anon 5\ninactive_file 100000\nactive_file 50000\n");
    assert_true(granted_memory_left() == 350000);
    write_file("/sys/fs/cgroup/a/memory.current", "100000\n"); /* fewer than its pages of files */
    assert_true(granted_memory_left() == 900000);
    write_file("/sys/fs/cgroup/a/memory.current", "2000000\n"); /* full: a byte, since 0 is none */
    assert_true(granted_memory_left() == 1);

    write_file("/proc/self/cgroup", "2:memory:/z\n");
    write_file("/sys/fs/cgroup/memory/z/memory.limit_in_bytes", "9223372036854771712\n");
    write_file("/sys/fs/cgroup/memory/z/memory.usage_in_bytes", "300000\n");
    assert_true(granted_memory_left() == 1024000);
    write_file("/sys/fs/cgroup/memory/z/memory.limit_in_bytes", "800000\n");
    assert_true(granted_memory_left() == 500000);
    write_file("/sys/fs/cgroup/memory/z/memory.stat",
               "inactive_file 7\ntotal_inactive_file 20000\ntotal_active_file 3000\n");
    assert_true(granted_memory_left() == 523000);

    write_file("/proc/self/status", "VmPeak:  900 kB\nVmSize:\t  100 kB\n");
    address_space = 502400;
    assert_true(granted_memory_left() == 400000);
    address_space = 1000;
    assert_true(granted_memory_left() == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(without_a_word_of_the_system_it_is_what_the_machine_has, fresh),
        cmocka_unit_test_setup(of_nested_groups_the_narrowest_counts, fresh),
        cmocka_unit_test_setup(the_first_version_has_a_hierarchy_for_each_controller, fresh),
        cmocka_unit_test_setup(a_job_of_slurm_has_its_share, fresh),
        cmocka_unit_test_setup(what_is_left_is_the_least_of_machine_groups_and_addresses, fresh),
    };
    if (scratch_enter() != 0) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_leave();
    return failed;
}
