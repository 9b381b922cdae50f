/* Least squares and ridge without each training row in turn, in closed form.
 *
 * With X centred (where there is an intercept), A = X'X + alpha I, v_i = A^-1 x_i, leverage h_i =
 * 1/m + x_i.v_i and error e_i, the solution without row i is w - v_i e_i / (1 - h_i), its intercept
 * b
 * - (1/m - mean.v_i) e_i / (1 - h_i), and its error at row i is e_i / (1 - h_i) (Cook,
 * Technometrics 19, 1977). Whether it applies is asked of the numbers: A w must be X'y for the
 * model's own w; of the spec only whether there is an intercept, which may be exactly 0.
 * m n^2 + n^3/3 operations; kept are m (n + 1) numbers. */
#include "math/products/cholesky.h"
#include "math/products/symmetric_product.h"
#include "model/predict/predict.h"
#include "select/promise/cross_fit.h"

#include <math.h>
#include <string.h>

/* Beyond so many numbers, kept or of A, the fits of the folds are kept instead. */
static const int64_t most_kept = INT64_C(8000000);

typedef struct {
    int64_t rows, columns;
    double *x;      /* rows x columns, centred */
    double *mean;   /* columns; 0 without intercept */
    double *factor; /* columns x columns */
    double *errors;
    double alpha;
    bool intercept;
} left_out;

static void centre(left_out *l) {
    const int64_t n = l->columns;
    memset(l->mean, 0, (size_t)n * sizeof *l->mean);
    for (int64_t i = 0; l->intercept && i < l->rows; i++)
        for (int64_t j = 0; j < n; j++)
            l->mean[j] += l->x[i * n + j] / (double)l->rows;
    for (int64_t i = 0; l->intercept && i < l->rows; i++)
        for (int64_t j = 0; j < n; j++)
            l->x[i * n + j] -= l->mean[j];
}

/* Whether w is where the objective is least: X'e = alpha w, and errors sum to 0, to 1e-6 of what
 * the sums are made of. sums: 2 * columns numbers. */
static bool is_solution(const left_out *l, const double *w, double *sums) {
    const int64_t n = l->columns;
    double sum = 0, size = 0, *slope = sums, *terms = sums + n;
    for (int64_t j = 0; j < n; j++) {
        slope[j] = -l->alpha * w[j];
        terms[j] = fabs(slope[j]);
    }
    for (int64_t i = 0; i < l->rows; i++) {
        sum += l->errors[i];
        size += fabs(l->errors[i]);
        for (int64_t j = 0; j < n; j++) {
            const double term = l->x[i * n + j] * l->errors[i];
            slope[j] += term;
            terms[j] += fabs(term);
        }
    }
    if (l->intercept && fabs(sum) > 1e-6 * size) return false;
    for (int64_t j = 0; j < n; j++)
        if (fabs(slope[j]) > 1e-6 * terms[j]) return false;
    return true;
}

typedef struct {
    const left_out *l;
    const double *w;
    double b, *kept, *residuals;
    const margin_context *context;
} leaving;

/* DATA: a row that the rest leaves undetermined. Solved in the place where the answer goes. */
static margin_status leave_rows(const mg_block *block, void *argument) {
    const leaving *at = argument;
    const left_out *l = at->l;
    const int64_t n = l->columns, width = n + 1;
    const double share = l->intercept ? 1 / (double)l->rows : 0;
    for (int64_t i = block->first; i < block->first + block->count; i++) {
        double *row = at->kept + i * width, leverage = share, shift = share;
        if (mg_cancelled(at->context)) return MARGIN_ERROR_CANCELLED;
        memcpy(row, l->x + i * n, (size_t)n * sizeof *row);
        mg_cholesky_solve(mg_isa_level(), n, l->factor, n, row);
        for (int64_t j = 0; j < n; j++) {
            leverage += l->x[i * n + j] * row[j];
            shift -= l->mean[j] * row[j];
        }
        if (!(leverage < 1 - 1e-8)) return MARGIN_ERROR_DATA;
        const double error = l->errors[i] / (1 - leverage);
        for (int64_t j = 0; j < n; j++)
            row[j] = at->w[j] - row[j] * error;
        row[n] = at->b - shift * error;
        at->residuals[i] = fabs(error);
    }
    return MARGIN_OK;
}

static margin_status ask_intercept(margin_context *context, const margin_model *model,
                                   bool *intercept, margin_error *error) {
    margin_spec *spec;
    margin_setting setting = {.size = sizeof setting};
    MG_TRY(margin_spec_parse(context, model->spec, &spec, error));
    margin_spec_setting(spec, margin_spec_steps(spec) - 1, "intercept", &setting);
    *intercept = setting.number > 0;
    margin_spec_free(spec);
    return MARGIN_OK;
}

/* A stage that does more than to scale columns looks at all rows; a penalty sees even scaling. */
static bool applies(const margin_model *model, const mg_crossed *c, double alpha) {
    const mg_hypothesis *h = model->hypothesis;
    const char *name = model->learner->info.name;
    const bool plain = !strcmp(name, "least-squares");
    return (plain || !strcmp(name, "ridge")) && h->kind == &mg_hypothesis_linear &&
           h->functions == 1 && model->task == MARGIN_REGRESS && model->active == 0 &&
           (plain || (model->stage_count == 0 && alpha >= 0)) &&
           h->columns + 1 <= most_kept / MG_MAX(c->samples.count, h->columns);
}

/* Whether rounding of A leaves its factor digits: the part of each column that those before it do
 * not make up is not too small. diagonal: that of A. */
static bool is_determined(const left_out *l, const double *diagonal) {
    static const double least = 1e-10;
    for (int64_t j = 0; j < l->columns; j++) {
        const double pivot = l->factor[j * l->columns + j];
        if (!(pivot * pivot >= least * diagonal[j])) return false;
    }
    return true;
}

static margin_status keep(margin_model *model, const left_out *l, const double *kept,
                          const double *residuals, margin_error *error) {
    double *rows, *values;
    MG_TRY(mg_add_numbers(model, "left_out", l->rows, l->columns + 1, &rows, error));
    MG_TRY(mg_add_numbers(model, "residuals", l->rows, 0, &values, error));
    memcpy(rows, kept, (size_t)(l->rows * (l->columns + 1)) * sizeof *rows);
    memcpy(values, residuals, (size_t)l->rows * sizeof *values);
    return MARGIN_OK;
}

margin_status mg_cover_left_out(margin_context *context, margin_model *model,
                                const margin_data *data, const mg_crossed *c, bool *done,
                                margin_error *error) {
    const mg_hypothesis *h = model->hypothesis;
    const double given = margin_report_item_value(&model->report, "alpha");
    const bool plain = !strcmp(model->learner->info.name, "least-squares");
    left_out l = {.rows = c->samples.count, .columns = h->columns, .alpha = plain ? 0 : given};
    const int64_t m = l.rows, n = l.columns;
    int64_t failed = 0;
    double *kept;
    *done = false;
    if (!applies(model, c, l.alpha)) return MARGIN_OK;
    MG_TRY(ask_intercept(context, model, &l.intercept, error));
    if (!l.intercept && model->stage_count > 0) return MARGIN_OK; /* where 0 is depends on rows */
    MG_SCOPED_ARENA(arena, context->heap);
    const int64_t numbers = m * (2 * n + 3) + 3 * n + n * n;
    MG_ARENA_NEW(&arena, kept, numbers, "fits without each row", error);
    double *residuals = kept + m * (n + 1), *sums = residuals + m;
    l.mean = sums + 2 * n;
    l.errors = l.mean + n;
    l.x = l.errors + m;
    l.factor = l.x + m * n;
    MG_TRY(mg_model_features(context, model, &data->x, c->samples.rows, m, l.x, error));
    const double *w = h->view.linear.weights, b = h->view.linear.intercept[0];
    for (int64_t i = 0; i < m; i++) {
        double f = b;
        for (int64_t j = 0; j < n; j++)
            f += l.x[i * n + j] * w[j];
        l.errors[i] = c->targets[i] - f;
    }
    centre(&l);
    if (!is_solution(&l, w, sums)) return MARGIN_OK;
    MG_TRY(mg_symmetric_of_rows(context, l.x, m, n, n, l.factor, error));
    for (int64_t j = 0; j < n; j++)
        sums[j] = l.factor[j * n + j] += l.alpha;
    MG_TRY(mg_cholesky_factor(context, n, l.factor, n, &failed, error));
    if (failed || !is_determined(&l, sums)) return MARGIN_OK;
    leaving at = {&l, w, b, kept, residuals, context};
    const margin_status status = mg_sweep_each(context, m, 16, leave_rows, &at, error);
    *done = status >= 0;
    if (!*done) return status == MARGIN_ERROR_DATA ? MARGIN_OK : status;
    return keep(model, &l, kept, residuals, error);
}
