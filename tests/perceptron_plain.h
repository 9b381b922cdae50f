/* The perceptron written down as plainly as it can be: every sample in turn, every score a sum made
 * afresh. Copies of a sample are rows of their own here; `origin` leads back. */
#ifndef PERCEPTRON_PLAIN_H
#define PERCEPTRON_PLAIN_H

#include "perceptron_fit.h"

#include "base/random.h"

enum { MOST = 700, WIDE = 12, CLASSES = 4 };

typedef struct plain {
    /* data */
    int64_t m, n;
    double x[MOST][WIDE];
    int sign[MOST], code[MOST];
    int64_t origin[MOST];
    int classes; /* 0: two classes by sign */
    /* how */
    const mg_kernel *kernel; /* NULL: primal */
    double rate, start[WIDE], start_intercept;
    char order;   /* s, r(andom), f(irst) */
    char variant; /* p, k (pocket), a */
    int64_t passes;
    uint64_t seed;
    bool through_origin; /* intercept=no */
    /* what came out */
    double w[CLASSES][WIDE], b[CLASSES], alpha[MOST];
    int64_t updates, picks[MOST_STEPS], passes_done;
    bool clean;
} plain;

static double plain_kernel(const plain *p, int64_t i, int64_t j) {
    double dot = 0.0, square = 0.0;
    for (int64_t c = 0; c < p->n; c++) {
        dot += p->x[i][c] * p->x[j][c];
        square += (p->x[i][c] - p->x[j][c]) * (p->x[i][c] - p->x[j][c]);
    }
    if (p->kernel->kind == MG_KERNEL_RBF) return exp(-p->kernel->gamma * square);
    return mg_kernel_from_dot(p->kernel, dot, 0.0, 0.0);
}

static double plain_score(const plain *p, int64_t i, int f) {
    double sum = p->b[f];
    if (p->kernel) {
        for (int64_t j = 0; j < p->m; j++)
            if (p->alpha[j] != 0.0) sum += p->alpha[j] * p->sign[j] * plain_kernel(p, j, i);
        for (int64_t c = 0; c < p->n; c++)
            sum += p->start[c] * p->x[i][c];
    } else {
        for (int64_t c = 0; c < p->n; c++)
            sum += p->w[f][c] * p->x[i][c];
    }
    return sum;
}

/* Margin, and for several classes the best other one. */
static double plain_margin(const plain *p, int64_t i, int *other) {
    if (p->classes == 0) return p->sign[i] * plain_score(p, i, 0);
    double best = -HUGE_VAL;
    for (int f = 0; f < p->classes; f++)
        if (f != p->code[i] && plain_score(p, i, f) > best) best = plain_score(p, i, *other = f);
    return plain_score(p, i, p->code[i]) - best;
}

static void plain_move(plain *p, int f, int64_t i, double c) {
    for (int64_t k = 0; k < p->n; k++)
        p->w[f][k] += c * p->x[i][k];
    if (!p->through_origin) p->b[f] += c;
}

static void plain_update(plain *p, int64_t i, int other) {
    assert_true(p->updates < MOST_STEPS);
    p->picks[p->updates++] = p->origin[i];
    if (p->classes > 0) {
        plain_move(p, p->code[i], i, p->rate);
        plain_move(p, other, i, -p->rate);
    } else {
        p->alpha[i] += p->rate;
        plain_move(p, 0, i, p->rate * p->sign[i]);
    }
}

static int64_t plain_errors(const plain *p) {
    int64_t errors = 0;
    for (int64_t i = 0; i < p->m; i++) {
        int other = 0;
        errors += !(plain_margin(p, i, &other) > 0.0);
    }
    return errors;
}

typedef struct kept { /* pocket and average */
    double w[CLASSES][WIDE], b[CLASSES], alpha[MOST];
    double errors, streak, visits;
} kept;

static void keep(const plain *p, kept *to) {
    memcpy(to->w, p->w, sizeof to->w);
    memcpy(to->b, p->b, sizeof to->b);
    memcpy(to->alpha, p->alpha, sizeof to->alpha);
}

static void give_back_kept(const kept *from, plain *p) {
    memcpy(p->w, from->w, sizeof from->w);
    memcpy(p->b, from->b, sizeof from->b);
    memcpy(p->alpha, from->alpha, sizeof from->alpha);
}

static void add_iterate(const plain *p, kept *sum) {
    for (int f = 0; f < CLASSES; f++) {
        for (int c = 0; c < WIDE; c++)
            sum->w[f][c] += p->w[f][c];
        sum->b[f] += p->b[f];
    }
    for (int64_t i = 0; i < p->m; i++)
        sum->alpha[i] += p->alpha[i];
    sum->visits += 1.0;
}

static void take_average(const kept *sum, plain *p) {
    for (int f = 0; f < CLASSES; f++) {
        for (int c = 0; c < WIDE; c++)
            p->w[f][c] = sum->w[f][c] / sum->visits;
        p->b[f] = sum->b[f] / sum->visits;
    }
    for (int64_t i = 0; i < p->m; i++)
        p->alpha[i] = sum->alpha[i] / sum->visits;
}

/* Before the update that ends a run of right answers. */
static void look_into_pocket(const plain *p, kept *pocket, double streak, int *regardless) {
    if (streak == 0.0 && pocket->streak == 0.0) {
        if ((*regardless)++ >= 16) return;
    } else if (streak <= pocket->streak) {
        return;
    }
    const double errors = (double)plain_errors(p);
    if (errors >= pocket->errors) return;
    keep(p, pocket);
    pocket->errors = errors;
    pocket->streak = streak;
}

static void permute(const plain *p, int64_t *order) {
    /* copies of a sample stay together: the permutation is one of the samples */
    const int64_t samples = p->origin[p->m - 1] + 1;
    int64_t shuffled[MOST], at = 0;
    for (int64_t i = 0; i < samples; i++)
        shuffled[i] = i;
    if (p->order == 'r')
        mg_random_shuffle(p->seed, MG_RANDOM_SHUFFLE, (uint64_t)p->passes_done, shuffled, samples);
    for (int64_t k = 0; k < samples; k++)
        for (int64_t i = 0; i < p->m; i++)
            if (p->origin[i] == shuffled[k]) order[at++] = i;
}

static bool average_is_clean(const plain *p, const kept *sum) {
    static plain average;
    average = *p;
    take_average(sum, &average);
    return plain_errors(&average) == 0;
}

static void plain_run(plain *p) {
    static kept pocket, sum;
    int64_t order[MOST];
    double streak = 0.0;
    memset(p->alpha, 0, sizeof p->alpha);
    p->updates = p->passes_done = 0;
    p->clean = false;
    memset(&pocket, 0, sizeof pocket);
    memset(&sum, 0, sizeof sum);
    for (int f = 0; f < CLASSES; f++) {
        memcpy(p->w[f], p->start, sizeof p->start);
        p->b[f] = p->start_intercept;
    }
    keep(p, &pocket);
    pocket.errors = (double)plain_errors(p);
    while (p->passes_done < p->passes && !p->clean) {
        const int64_t before = p->updates;
        int regardless = 0;
        permute(p, order);
        for (int64_t k = 0; k < p->m; k++) {
            int other = 0;
            if (plain_margin(p, order[k], &other) > 0.0) {
                streak += 1.0;
            } else {
                if (p->variant == 'k') look_into_pocket(p, &pocket, streak, &regardless);
                plain_update(p, order[k], other);
                streak = 0.0;
                if (p->order == 'f') k = -1;
            }
            if (p->order != 'f' || streak == 0.0) add_iterate(p, &sum);
            if (p->order == 'f' && p->updates - before == p->m) break;
        }
        p->passes_done++;
        p->clean = p->order == 'f' ? p->updates - before < p->m : p->updates == before;
        for (int64_t k = 0; p->order == 'f' && p->updates == before && k < p->m; k++)
            add_iterate(p, &sum);
        if (p->variant == 'k' && pocket.errors == 0.0) break;
        if (p->variant == 'a' && p->clean) p->clean = average_is_clean(p, &sum);
    }
    if (p->variant == 'k') {
        if ((double)plain_errors(p) >= pocket.errors) give_back_kept(&pocket, p);
    } else if (p->variant == 'a') {
        take_average(&sum, p);
    }
}

#endif
