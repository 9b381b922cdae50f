#include "design_cases.h"

#include <math.h>
#include <stdlib.h>

static void *zeroed(int64_t count, size_t size) {
    void *memory = calloc((size_t)(count > 0 ? count : 1), size);
    assert_non_null(memory);
    return memory;
}

double *some_numbers(int64_t count, uint64_t *seed) {
    double *numbers = zeroed(count, sizeof *numbers);
    for (int64_t i = 0; i < count; i++)
        numbers[i] = 2 * support_uniform(seed) - 1;
    return numbers;
}

double design_case_weight(const design_case *c, int64_t i) {
    return c->weight ? c->weight[i] : 1;
}

/* Every third row is left out and the rest go backwards. */
static void choose_rows(design_case *c, int64_t rows) {
    c->index = zeroed(rows, sizeof *c->index);
    c->problem.count = 0;
    for (int64_t i = rows - 1; i >= 0; i--)
        if (i % 3 != 1) c->index[c->problem.count++] = i;
    c->problem.index = c->index;
}

static void make_targets(design_case *c, uint64_t *seed) {
    const int64_t n = c->problem.count;
    c->sign = zeroed(n, 1);
    c->target = some_numbers(n, seed);
    for (int64_t i = 0; i < n; i++) {
        c->sign[i] = c->data->labels[mg_sample_row(&c->problem, i)] > 0 ? 1 : -1;
        c->target[i] = 3 + c->sign[i] + c->target[i];
    }
    c->problem.sign = c->sign;
    c->problem.target = c->target;
}

static void make_affine(design_case *c, int parts, uint64_t *seed) {
    const int64_t p = c->problem.x.columns;
    if (parts & WITH_SCALE) {
        c->problem.scale = c->scale = some_numbers(p, seed);
        for (int64_t j = 0; j < p; j++)
            c->scale[j] = j % 5 == 4 ? 0 : 1.5 + c->scale[j];
    }
    if (parts & WITH_SHIFT) c->problem.shift = c->shift = some_numbers(p, seed);
}

static void expand(design_case *c) {
    const int64_t p = c->problem.x.columns;
    c->a = zeroed(c->problem.count * p, sizeof *c->a);
    for (int64_t i = 0; i < c->problem.count; i++)
        for (int64_t j = 0; j < p; j++) {
            const double x = c->data->f64[mg_sample_row(&c->problem, i) * p + j];
            c->a[i * p + j] = (c->scale ? c->scale[j] : 1) * x + (c->shift ? c->shift[j] : 0);
        }
}

design_case *design_case_make(int64_t rows, int64_t columns, int layout, int parts, uint64_t seed) {
    design_case *c = zeroed(1, sizeof *c);
    c->data = sample_make(rows, columns, 2, 0.2, seed);
    c->problem.x = sample_view(c->data, layout);
    c->problem.classes = 2;
    c->problem.count = rows;
    if (parts & WITH_INDEX) choose_rows(c, rows);
    if (parts & WITH_WEIGHT) {
        c->problem.weight = c->weight = some_numbers(c->problem.count, &seed);
        for (int64_t i = 0; i < c->problem.count; i++)
            c->weight[i] = 1.25 + c->weight[i];
    }
    make_targets(c, &seed);
    make_affine(c, parts, &seed);
    expand(c);
    return c;
}

void design_case_free(design_case *c) {
    sample_free(c->data);
    free(c->a);
    free(c->index);
    free(c->sign);
    free(c->target);
    free(c->weight);
    free(c->scale);
    free(c->shift);
    free(c);
}

void assert_sum(double found, double expected, double size) {
    if (fabs(found - expected) <= 1e-13 * size) return;
    fail_msg("%.17g instead of %.17g (terms %g)", found, expected, size);
}

void *space(int64_t count) {
    void *memory = malloc((size_t)(count + 1) * sizeof(double));
    assert_non_null(memory);
    return memory;
}

/* ---- Every kind of case ---------------------------------------------------------------------- */

const char *const isa_names[3] = {"ref", "avx2", "avx512"};

static void check_case(const design_case *c, case_check check) {
    margin_context *context = support_context(NULL, 2);
    for (int isa = 0; isa <= (int)mg_isa_level(); isa++) {
        mg_design d;
        margin_error error = {0};
        setenv("MARGIN_ISA", isa_names[isa], 1);
        if (mg_design_create(context, &c->problem, &d, &error) < 0) fail_msg("%s", error.text);
        check(c, &d);
        mg_design_free(&d);
        unsetenv("MARGIN_ISA");
    }
    margin_context_free(context);
}

void check_cases(case_check check) {
    static const int64_t shapes[][2] = {{1, 1}, {4, 3}, {7, 130}, {150, 5}, {80, 64}, {700, 37}};
    uint64_t seed = 11;
    for (int layout = 0; layout < LAYOUTS; layout++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            const int parts[] = {0, ALL_PARTS, WITH_SHIFT | WITH_INDEX, WITH_SCALE | WITH_WEIGHT};
            for (int k = 0; k < 4; k++) {
                if (shapes[s][0] == 1 && (parts[k] & WITH_INDEX)) continue;
                if (shapes[s][0] == 700 && (layout + k) % 4 != 0) continue; /* several blocks */
                design_case *c =
                    design_case_make(shapes[s][0], shapes[s][1], layout, parts[k], ++seed);
                check_case(c, check);
                design_case_free(c);
            }
        }
}
