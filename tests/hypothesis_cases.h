/* What tests of hypotheses share. */
#ifndef HYPOTHESIS_CASES_H
#define HYPOTHESIS_CASES_H

#include "model_cases.h"

#include "learn/hypothesis/dual.h"

#include <stdlib.h>
#include <string.h>

static margin_error error;

#define OK(call)                                                                                   \
    do {                                                                                           \
        memset(&error, 0, sizeof error);                                                           \
        if ((call) < 0) fail_msg("%s", error.text);                                                \
    } while (0)

#define REFUSED(call, code, part)                                                                  \
    do {                                                                                           \
        memset(&error, 0, sizeof error);                                                           \
        assert_int_equal((call), (code));                                                          \
        assert_contains(error.text, (part));                                                       \
    } while (0)

#define VIEW(s, layout) ((margin_matrix[]){sample_view((s), (layout))})

/* Scores of all rows at once and one by one must be the same bits. */
static inline double *hypothesis_scores(const mg_hypothesis *h, const margin_matrix *x) {
    size_t bytes = (size_t)(x->rows * h->functions) * sizeof(double);
    double *all = malloc(bytes + 1), *one = malloc(bytes + 1);
    h->kind->scores(h, x, 0, x->rows, all);
    for (int64_t i = 0; i < x->rows; i++)
        h->kind->scores(h, x, i, 1, one + i * h->functions);
    assert_memory_equal(all, one, bytes);
    if (x->rows > 7) { /* and a batch that begins elsewhere */
        h->kind->scores(h, x, 3, x->rows - 4, one);
        assert_memory_equal(all + 3 * h->functions, one,
                            (size_t)((x->rows - 4) * h->functions) * sizeof(double));
    }
    free(one);
    return all;
}

static inline mg_hypothesis *bare(mg_heap *heap, const mg_hypothesis_kind *kind, int64_t columns,
                                  int64_t functions) {
    mg_hypothesis *h = NULL;
    OK(mg_hypothesis_new(heap, kind, columns, functions, &h, &error));
    return h;
}

static inline void *tensor(mg_hypothesis *h, const char *name, margin_type type, int64_t rows,
                           int64_t columns) {
    void *data;
    assert_int_equal(mg_bag_add(&h->bag, name, type, rows, columns, &data, NULL), MARGIN_OK);
    return data;
}

static inline void *data_of(mg_hypothesis *h, const char *name) {
    return mg_bag_find(&h->bag, name)->data;
}

#endif
