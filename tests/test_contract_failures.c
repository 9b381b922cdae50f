/* How every learner and every stage of the catalogue fails: bad data is refused by name, and
 * running out of memory or being cancelled at any moment leaves nothing behind. */
#include "contract_specs.h"

#include "model/object/model_object.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool takes_missing(const entry *e) {
    if (!e->stage) return (e->learner->abilities & MARGIN_CAN_MISSING) != 0;
    return mg_stage_find(e->stage->name)->takes_missing;
}

/* ---- Bad data -------------------------------------------------------------------------------- */

static void test_not_finite(void **state) {
    contract *f = *state;
    const char *const names[5] = {"ash", "beech", "cedar", "date", "elm"};
    FOR_EACH_SPEC(f, e) {
        for (int layout = DENSE_F64; layout <= CSR_F32_I64_I64; layout++) {
            float bad = layout % 2 ? INFINITY : NAN;
            sample *s = sample_make(70, 5, many ? 3 : 2, 0.05, 55);
            margin_column columns[5] = {{0}};
            for (int j = 0; j < 5; j++)
                columns[j].name = names[j];
            int64_t k = s->start_i64[41]; /* the first stored value of row 42 */
            int64_t column = s->index_i64[k];
            s->stored_f64[k] = (double)(s->stored_f32[k] = bad);
            const int64_t wide = 41 * (5 + SAMPLE_PADDING) + column;
            s->f64[41 * 5 + column] = s->wide_f64[wide] = (double)bad;
            s->f32[41 * 5 + column] = s->wide_f32[wide] = bad;
            margin_data data = sample_data(s, layout);
            data.columns = columns;
            if (isnan((double)bad) && takes_missing(e)) {
                margin_spec *spec = parse_text(f->context, e->text);
                margin_model *model = NULL;
                margin_error error = {0};
                margin_status status = margin_fit(f->context, spec, &data, &model, NULL, &error);
                if (status < 0) { /* the stage leaves the gap for the learner to refuse */
                    assert_int_equal(status, MARGIN_ERROR_DATA);
                    assert_contains(error.text, "row 42");
                }
                margin_model_free(model);
                margin_spec_free(spec);
            } else {
                fit_refused(f->context, e->text, &data, MARGIN_ERROR_DATA, "row 42");
                fit_refused(f->context, e->text, &data, MARGIN_ERROR_DATA, names[column]);
            }
            sample_free(s);
        }
    }
}

static void test_nothing_to_learn(void **state) {
    contract *f = *state;
    const double zeros[70] = {0};
    for (const entry *e = f->entries; e < f->entries + f->count; e++) {
        margin_data data = sample_data(f->two, DENSE_F64);
        data.weights = margin_values_f64(zeros, 70);
        fit_refused(f->context, e->text, &data, MARGIN_ERROR_DATA, "weight 0");
        data = sample_data(f->two, DENSE_F64);
        data.x.rows = data.y.count = 0;
        fit_refused(f->context, e->text, &data, MARGIN_ERROR_DATA, "no rows");
        data = sample_data(f->two, DENSE_F64);
        data.x.columns = 0;
        fit_refused(f->context, e->text, &data, MARGIN_ERROR_DATA, "no feature columns");
        if (!(e->learner->abilities & (MARGIN_CAN_TWO_CLASS | MARGIN_CAN_MULTICLASS))) continue;
        if (strstr(e->text, "task=regress") || strstr(e->text, "task=one-class")) continue;
        data = sample_data(f->two, DENSE_F64);
        data.y.values = zeros;
        fit_refused(f->context, e->text, &data, MARGIN_ERROR_DATA, "the label '0'");
        data.x.rows = data.y.count = 1;
        fit_refused(f->context, e->text, &data, MARGIN_ERROR_DATA, "the label '0'");
        data = sample_data(f->two, DENSE_F64);
        data.y.values = NULL;
        fit_refused(f->context, e->text, &data, MARGIN_ERROR_DATA, "no target");
    }
}

/* Constant columns, among them one of zeros, and a column much larger than the rest. */
static void test_awkward_columns(void **state) {
    contract *f = *state;
    for (int many = 0; many < 2; many++) {
        sample *s = sample_make(70, 5, many ? 3 : 2, 0.05, 66);
        for (int64_t i = 0; i < 70; i++) {
            s->f64[i * 5] = 0;
            s->f64[i * 5 + 2] = -3.5;
            s->f64[i * 5 + 4] *= 1e6;
        }
        for (const entry *e = f->entries; e < f->entries + f->count; e++) {
            /* e^(x.z) of large numbers is not one; that must be said, not stored */
            bool large = strstr(e->text, "kernel=") && !strstr(e->text, "|");
            margin_data data = sample_data(s, DENSE_F64);
            margin_spec *spec = parse_text(f->context, e->text);
            margin_model *model = NULL;
            margin_error error = {0};
            margin_status status = margin_fit(f->context, spec, &data, &model, NULL, &error);
            margin_spec_free(spec);
            if (status < 0 && !large) fail_msg("%s: %s", e->text, error.text);
            if (status < 0) {
                assert_int_equal(status, MARGIN_ERROR_DATA);
                continue;
            }
            double *scores = scores_of(model, &data.x);
            for (int64_t k = 0; k < 70 * margin_model_score_count(model); k++)
                assert_true(!isnan(scores[k]));
            free(scores);
            margin_model_free(model);
        }
        sample_free(s);
    }
}

/* ---- Running out, breaking off --------------------------------------------------------------- */

typedef struct {
    const char *text;
    margin_data data;
    margin_model *const untouched;
} failing_case;

static margin_status fit_body(margin_context *context, void *user, margin_error *error) {
    const failing_case *c = user;
    margin_spec *spec = NULL;
    margin_model *model = c->untouched;
    margin_report report = {0}, before = {0};
    memset(&report, 0x5C, sizeof report);
    report.size = sizeof report;
    memcpy(&before, &report, sizeof report);
    margin_status status = margin_spec_parse(context, c->text, &spec, error);
    if (status < 0) return status;
    status = margin_fit(context, spec, &c->data, &model, &report, error);
    margin_spec_free(spec);
    if (status < 0) {
        assert_ptr_equal(model, c->untouched);
        assert_memory_equal(&report, &before, sizeof report);
        return status;
    }
    margin_model_free(model);
    return status;
}

static void test_allocations(void **state) {
    contract *f = *state;
    int64_t selection[30];
    for (int i = 0; i < 30; i++)
        selection[i] = 2 * i;
    FOR_EACH_SPEC(f, e) {
        failing_case c = {e->text,
                          sample_data(contract_sample(f, many), many ? CSR_F64_I32_I64 : DENSE_F64),
                          (margin_model *)(void *)&c};
        c.data.selection = selection;
        c.data.selected = 30;
        assert_true(support_fail_each_allocation(1, fit_body, &c) > 10);
    }
}

/* A failure in one of several threads. */
static void test_allocations_with_threads(void **state) {
    contract *f = *state;
    for (int n = 0; n < f->count; n += 11) {
        failing_case c = {f->entries[n].text, sample_data(f->three, DENSE_F64),
                          (margin_model *)(void *)&c};
        assert_true(support_fail_each_allocation(3, fit_body, &c) > 10);
    }
}

/* Cancels its context when a given allocation is made: a moment of the fit that can be repeated. */
typedef struct {
    margin_context *context;
    support_heap heap;
    margin_allocator inner;
    long long calls, cancel_at;
} canceller;

static void *cancelling_allocate(size_t bytes, void *user) {
    canceller *c = user;
    if (++c->calls == c->cancel_at) margin_context_cancel(c->context);
    return c->inner.allocate(bytes, c->inner.user);
}

static void cancelling_release(void *memory, size_t bytes, void *user) {
    canceller *c = user;
    c->inner.release(memory, bytes, c->inner.user);
}

static void test_cancel(void **state) {
    contract *f = *state;
    FOR_EACH_SPEC(f, e) {
        failing_case body = {e->text, sample_data(contract_sample(f, many), DENSE_F64),
                             (margin_model *)(void *)&body};
        int cancelled = 0;
        for (long long moment = 0;; moment++) {
            canceller c = {.cancel_at = 0};
            support_heap_init(&c.heap);
            c.inner = support_allocator(&c.heap);
            margin_context_options options = {.size = sizeof options, .threads = 1};
            options.allocator = (margin_allocator){cancelling_allocate, cancelling_release, &c};
            margin_error error = {0};
            assert_int_equal(margin_context_create(&options, &c.context, &error), MARGIN_OK);
            if (moment == 0) margin_context_cancel(c.context); /* before anything */
            c.cancel_at = moment == 0 ? 0 : c.calls + moment;
            margin_status status = fit_body(c.context, &body, &error);
            bool reached = moment == 0 || c.calls >= c.cancel_at;
            margin_context_free(c.context);
            support_assert_nothing_live(&c.heap);
            if (!reached) break;
            if (status != MARGIN_ERROR_CANCELLED)
                fail_msg("%s: cancelled at allocation %lld, status %d", e->text, moment,
                         (int)status);
            assert_contains(error.text, "cancelled");
            cancelled++;
        }
        assert_true(cancelled > 10);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_nothing_to_learn),
        cmocka_unit_test(test_awkward_columns),
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_allocations_with_threads),
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, contract_set_up, contract_tear_down);
}
