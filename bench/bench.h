/* What the benchmark programs share: a clock, memory held, complaints. Each program defines
 * _POSIX_C_SOURCE before it includes anything. */
#ifndef MARGIN_BENCH_H
#define MARGIN_BENCH_H

#include <margin/margin.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline int complain(const char *text) {
    fprintf(stderr, "%s\n", text);
    return 1;
}

/* A line of /proc/self/status in bytes: VmRSS is what is resident, VmHWM the most since the start
 * or the last forget_peak. Pages of mapped files count, too. */
static inline long long resident(const char *what) {
    char line[256];
    long long kilobytes = 0;
    const size_t length = strlen(what);
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, what, length) == 0 && sscanf(line + length, ": %lld", &kilobytes) == 1)
            break;
    if (file) fclose(file);
    return kilobytes * 1024;
}

static inline void forget_peak(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file) return;
    fputs("5", file);
    fclose(file);
}

static inline long long stored_values(const margin_matrix *x) {
    return x->row_starts ? (long long)((const int64_t *)x->row_starts)[x->rows]
                         : (long long)(x->rows * x->columns);
}

/* Numbers that are the same everywhere (splitmix64), in [0, 1). */
static inline double next_uniform(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Box and Muller. */
static inline double next_normal(uint64_t *state) {
    const double radius = sqrt(-2 * log(1 - next_uniform(state)));
    return radius * cos(6.283185307179586 * next_uniform(state));
}

#endif
