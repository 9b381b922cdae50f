/* How many cores this process may use: affinity, then the cgroup quota (a container with two of 64
 * cores must not start 64 threads). Reads files with open/read alone: nothing is allocated. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "base/machine/cores.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 4096, PATH_BYTES = 4200 };

static const int unlimited = INT_MAX;

static int least_of(int a, int b) {
    return a < b ? a : b;
}

/* The first TEXT_BYTES - 1 bytes of a file as a string; false if it cannot be read. */
static bool read_text(const char *path, char text[TEXT_BYTES]) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t length = 0, got;
    do {
        got = read(file, text + length, (size_t)(TEXT_BYTES - 1 - length));
        if (got > 0) length += got;
    } while (got > 0 && length < TEXT_BYTES - 1);
    close(file);
    text[length] = '\0';
    return got >= 0;
}

/* A decimal number at the start of text; -1 if there is none ("max", "-1") or it is absurd. */
static long long read_count(const char *text) {
    long long value = 0;
    if (*text < '0' || *text > '9') return -1;
    for (; *text >= '0' && *text <= '9'; text++) {
        if (value > LLONG_MAX / 100) return -1;
        value = value * 10 + (*text - '0');
    }
    return value;
}

/* 1.5 cores of quota can keep two threads busy. */
static int cores_of(long long quota, long long period) {
    if (quota <= 0 || period <= 0) return unlimited;
    long long cores = (quota - 1) / period + 1;
    return cores < unlimited ? (int)cores : unlimited;
}

/* cgroup v2: cpu.max is "quota period" or "max period". */
static int quota_v2(const char *directory) {
    char path[PATH_BYTES + 32], text[TEXT_BYTES];
    snprintf(path, sizeof path, "%s/cpu.max", directory);
    if (!read_text(path, text)) return unlimited;
    const char *period = strchr(text, ' ');
    return period ? cores_of(read_count(text), read_count(period + 1)) : unlimited;
}

static int quota_v1(const char *directory) {
    char path[PATH_BYTES + 32], quota[TEXT_BYTES], period[TEXT_BYTES];
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", directory);
    if (!read_text(path, quota)) return unlimited;
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", directory);
    if (!read_text(path, period)) return unlimited;
    return cores_of(read_count(quota), read_count(period));
}

/* The tightest quota on the way from mount/group up to the mount: each level binds. Inside a
 * container `group` may name directories of the host that are not mounted; they just do not open.
 */
static int quota_upwards(const char *mount, const char *group, int (*quota)(const char *)) {
    char directory[PATH_BYTES];
    size_t mount_length = strlen(mount);
    int length = snprintf(directory, sizeof directory, "%s%s", mount, group);
    if (length < 0 || length >= (int)sizeof directory) return quota(mount);
    int least = unlimited;
    for (;;) {
        least = least_of(least, quota(directory));
        char *slash = strrchr(directory, '/');
        if (!slash || (size_t)(slash - directory) < mount_length) return least;
        *slash = '\0';
    }
}

/* True if the comma-separated list [list, end) has the entry "cpu". */
static bool lists_cpu(const char *list, const char *end) {
    while (list < end) {
        const char *comma = memchr(list, ',', (size_t)(end - list));
        const char *stop = comma ? comma : end;
        if (stop - list == 3 && memcmp(list, "cpu", 3) == 0) return true;
        list = stop + 1;
    }
    return false;
}

int mg_cores_in_quota(const char *membership, const char *mount) {
    char text[TEXT_BYTES], cpu_mount[PATH_BYTES];
    int least = unlimited;
    if (!read_text(membership, text)) return unlimited;
    /* lines are "0::/group" (v2) or "number:controller,controller:/group" (v1) */
    for (char *line = text, *next; *line; line = next) {
        size_t length = strcspn(line, "\n");
        next = line + length + (line[length] == '\n');
        line[length] = '\0';
        char *list = strchr(line, ':');
        char *group = list ? strchr(list + 1, ':') : NULL;
        if (!group) continue;
        if (group == list + 1) {
            least = least_of(least, quota_upwards(mount, group + 1, quota_v2));
        } else if (lists_cpu(list + 1, group)) {
            snprintf(cpu_mount, sizeof cpu_mount, "%s/cpu", mount);
            least = least_of(least, quota_upwards(cpu_mount, group + 1, quota_v1));
        }
    }
    return least;
}

/* Cores in the affinity mask; that of a large machine does not fit into one cpu_set_t. */
static int cores_by_affinity(void) {
    cpu_set_t mask[8];
    if (sched_getaffinity(0, sizeof mask, mask) == 0) return CPU_COUNT_S(sizeof mask, mask);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < INT_MAX ? (int)online : 1;
}

int mg_cores_allowed(void) {
    int quota = mg_cores_in_quota("/proc/self/cgroup", "/sys/fs/cgroup");
    int cores = least_of(cores_by_affinity(), quota);
    return cores > 1 ? cores : 1;
}
