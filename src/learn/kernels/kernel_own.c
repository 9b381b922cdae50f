/* kernel=user: the function of the caller, what it must give, and for which rows it does not. */
#include "base/context.h"
#include "learn/kernels/kernel_options.h"

#include <math.h>

enum { ASKED = 64 }; /* points of a block */

/* Every step-th point from `first` on: at most ASKED, of each side. */
typedef struct asked_block {
    const mg_kernel *kernel;
    const mg_kernel_points *points;
    int64_t step, first[2], count[2];
    double *rows[2], *values; /* ASKED x columns of each side, ASKED x ASKED */
} asked_block;

static int64_t asked_point(const asked_block *b, int side, int64_t i) {
    return (b->first[side] + i) * b->step;
}

static margin_status fail_pair(const asked_block *b, int64_t i, int64_t j, const char *wrong,
                               margin_error *error) {
    const int64_t row = mg_point_place(b->points, asked_point(b, 0, i)) + 1;
    return mg_fail_at(error, MARGIN_ERROR_DATA, (mg_place){.row = row},
                      "kernel=user: the function gives %s for row %lld with row %lld, %s",
                      mg_number(b->values[i * b->count[1] + j]).text, (long long)row,
                      (long long)mg_point_place(b->points, asked_point(b, 1, j)) + 1, wrong);
}

static margin_status ask(margin_context *context, const asked_block *b, margin_error *error) {
    const margin_matrix *x = &b->points->x;
    for (int side = 0; side < 2; side++)
        for (int64_t i = 0; i < b->count[side]; i++)
            mg_row_expand(x, mg_point_row(b->points, asked_point(b, side, i)),
                          b->rows[side] + i * x->columns);
    if (b->kernel->function(b->rows[0], b->count[0], b->rows[1], b->count[1], x->columns, b->values,
                            b->kernel->user) != 0)
        margin_context_cancel(context);
    if (mg_cancelled(context)) return mg_fail_cancelled(error);
    for (int64_t k = 0; k < b->count[0] * b->count[1]; k++)
        if (!isfinite(b->values[k]))
            return fail_pair(b, k / b->count[1], k % b->count[1], "which is no finite number",
                             error);
    return MARGIN_OK;
}

/* The block of some points with themselves, or all blocks one after the other. */
static margin_status ask_blocks(margin_context *context, asked_block *b, int64_t points,
                                margin_error *error) {
    for (b->first[0] = 0; b->first[0] < points; b->first[0] += ASKED)
        for (b->first[1] = 0; b->first[1] < points; b->first[1] += ASKED) {
            for (int side = 0; side < 2; side++)
                b->count[side] = MG_MIN(ASKED, points - b->first[side]);
            MG_TRY(ask(context, b, error));
        }
    return MARGIN_OK;
}

static margin_status ask_points(margin_context *context, const mg_kernel *kernel,
                                const mg_kernel_points *points, int64_t step, margin_error *error) {
    const int64_t columns = points->x.columns, count = (points->count + step - 1) / step;
    asked_block b = {.kernel = kernel, .points = points, .step = step};
    double largest = 0.0;
    MG_NEW(context->heap, b.values, ASKED * (2 * columns + ASKED), "values of a kernel", error);
    b.rows[0] = b.values + ASKED * ASKED;
    b.rows[1] = b.rows[0] + ASKED * columns;
    margin_status status = ask_blocks(context, &b, count, error);
    for (int64_t i = 0; status >= 0 && count <= ASKED && i < count; i++)
        largest = fmax(largest, fabs(b.values[i * (count + 1)]));
    b.first[0] = b.first[1] = 0;
    for (int64_t k = 0; status >= 0 && count <= ASKED && k < count * count; k++)
        if (mg_kernel_differs(b.values[k], b.values[k % count * count + k / count], largest))
            status = fail_pair(&b, k / count, k % count, "and another number the other way round",
                               error);
    mg_free(context->heap, b.values);
    return status;
}

margin_status mg_kernel_own(margin_context *context, const char *learner, const mg_problem *p,
                            mg_kernel *kernel, margin_error *error) {
    const mg_kernel_points points = mg_kernel_points_of(p);
    MG_REQUIRE(context->options.kernel, error, MARGIN_ERROR_SPEC,
               "%s: kernel=user is a function that a program hands over as it trains "
               "(margin_context_options.kernel), and this one has none; choose another kernel",
               learner);
    MG_REQUIRE(p->x.columns <= MG_OWN_COLUMNS, error, MG_CAUSE(MARGIN_ERROR_DATA, COLUMNS),
               "%s: kernel=user takes rows of at most %d columns, and these have %lld", learner,
               (int)MG_OWN_COLUMNS, (long long)p->x.columns);
    kernel->function = context->options.kernel;
    kernel->user = context->options.kernel_user;
    return ask_points(context, kernel, &points, (points.count + ASKED - 1) / ASKED, error);
}

margin_status mg_kernel_explain(margin_context *context, const margin_component *info,
                                const mg_option_value *values, const mg_problem *problem,
                                margin_status status, margin_error *error) {
    if (status != MARGIN_ERROR_DATA || mg_option_index(info, "kernel") < 0 ||
        !mg_option_is(info, values, "kernel", "user"))
        return status;
    const mg_kernel kernel = {.kind = MG_KERNEL_FUNCTION,
                              .function = context->options.kernel,
                              .user = context->options.kernel_user};
    const mg_kernel_points points = mg_kernel_points_of(problem);
    if (!kernel.function || problem->x.columns > MG_OWN_COLUMNS) return status;
    const margin_status found = ask_points(context, &kernel, &points, 1, error);
    return found < 0 ? found : status;
}
