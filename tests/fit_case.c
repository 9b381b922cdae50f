#include "fit_case.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 40, MOST_COLUMNS = 8, MOST_TARGETS = 3, MOST_VALUES = MOST_ROWS * MOST_COLUMNS };

typedef struct fit_case {
    const uint8_t *bytes;
    int64_t size;
    /* data, as they are laid out for the fit */
    int64_t rows, columns, selected, targets;
    bool sparse, single, missing, weighted, by_columns;
    double x[MOST_VALUES], y[MOST_ROWS * MOST_TARGETS], weights[MOST_ROWS];
    double f64[MOST_VALUES];
    float f32[MOST_VALUES];
    double turned_f64[MOST_VALUES];
    float turned_f32[MOST_VALUES];
    const double *columns_f64[MOST_COLUMNS];
    const float *columns_f32[MOST_COLUMNS];
    int32_t index[MOST_VALUES];
    int64_t start[MOST_ROWS + 1], selection[MOST_ROWS];
    margin_data data;
    const margin_component *learner;
    fit_outcome *out;
} fit_case;

/* ---- Choices --------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t z) { /* splitmix64 */
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void fit_case_bytes(uint64_t seed, uint8_t bytes[FIT_CASE_BYTES]) {
    for (int k = 0; k < FIT_CASE_BYTES; k++)
        bytes[k] = (uint8_t)mix(seed * FIT_CASE_BYTES + (uint64_t)k);
}

static uint64_t name_hash(const char *a, const char *b, const char *c) {
    const char *const parts[] = {a, b, c};
    uint64_t hash = 0xcbf29ce484222325u;
    for (int p = 0; p < 3; p++) {
        for (const char *at = parts[p]; *at; at++)
            hash = (hash ^ (uint8_t)*at) * 0x100000001b3u;
        hash = (hash ^ ' ') * 0x100000001b3u;
    }
    return mix(hash);
}

static uint64_t draw(const fit_case *c, const char *a, const char *b, const char *what) {
    uint64_t name = name_hash(a, b, what);
    int64_t at = (int64_t)(name % (uint64_t)(c->size - 1));
    return mix(name ^ (uint64_t)(c->bytes[at] | c->bytes[at + 1] << 8) << 20);
}

static double share_of(uint64_t number) {
    return (double)(number >> 11) * 0x1p-53;
}

static bool chance(const fit_case *c, const char *a, const char *b, double share) {
    return share_of(draw(c, a, b, "?")) < share;
}

static int64_t between(const fit_case *c, const char *a, const char *b, int64_t low, int64_t high) {
    return low + (int64_t)(draw(c, a, b, "") % (uint64_t)(high - low + 1));
}

/* ---- Data ------------------------------------------------------------------------------------ */

static double next_uniform(uint64_t *random) {
    return share_of(mix(++*random));
}

static double next_normal(uint64_t *random) {
    double sum = -6;
    for (int k = 0; k < 12; k++)
        sum += next_uniform(random);
    return sum;
}

/* One column: its size lies between 1e-3 and 1e6. */
static void fill_column(fit_case *c, int64_t j, uint64_t *random) {
    char name[2] = {(char)('a' + j), 0};
    int64_t style = between(c, "style", name, 0, 9), other = between(c, "other", name, 0, j);
    double size = pow(10, (double)between(c, "size", name, -3, 6));
    for (int64_t i = 0; i < c->rows; i++) {
        double value = next_normal(random), *x = c->x + i * c->columns;
        if (style == 0) value = size;                      /* constant */
        if (style == 1) value = j ? -2 * x[other % j] : 0; /* of another one */
        if (style == 2) value = size + rint(value);        /* far from 0 */
        if (style == 3) value *= size;
        if (style == 4 || style == 5) value = rint(2 * value); /* ties */
        if (style == 6) value = fabs(rint(2 * value));         /* counts */
        x[j] = value;
    }
}

static void fill_features(fit_case *c) {
    uint64_t random = draw(c, "values", "", "");
    double zeros = c->sparse ? 0.6 : chance(c, "zeros", "", 0.2) ? 0.3 : 0;
    for (int64_t j = 0; j < c->columns; j++)
        fill_column(c, j, &random);
    for (int64_t k = 0; k < c->rows * c->columns; k++) {
        if (next_uniform(&random) < zeros) c->x[k] = 0;
        if (c->missing && next_uniform(&random) < 0.1) c->x[k] = (double)NAN;
    }
    double equal = chance(c, "equal rows", "", 0.3) ? 0.3 : 0;
    for (int64_t i = 1; i < c->rows; i++)
        if (next_uniform(&random) < equal)
            memcpy(c->x + i * c->columns, c->x + (i - 1) * c->columns,
                   (size_t)c->columns * sizeof *c->x);
}

/* A hidden linear function of the columns, each brought to size 1, with noise. */
static double hidden(const fit_case *c, int64_t i, int t, double noise, uint64_t *random) {
    double sum = noise * next_normal(random);
    for (int64_t j = 0; j < c->columns; j++) {
        double value = c->x[i * c->columns + j], size = 1e-3;
        for (int64_t r = 0; r < c->rows; r++)
            size = fmax(size, fabs(c->x[r * c->columns + j]));
        sum += isnan(value) ? 0 : value / size * (share_of(mix((uint64_t)(17 * j + t))) - 0.5);
    }
    return sum;
}

static void fill_target(fit_case *c) {
    uint64_t random = draw(c, "targets", "", "");
    double noise = chance(c, "noise", "", 0.3) ? 0 : 0.3;
    bool numbers = c->learner->abilities & MARGIN_CAN_REGRESSION;
    int64_t classes = between(c, "classes", "", 2, 4), regress = chance(c, "regress", "", 0.5);
    if (numbers && (c->learner->abilities & (MARGIN_CAN_TWO_CLASS | MARGIN_CAN_MULTICLASS)))
        numbers = regress;
    if (chance(c, "two classes", "", 0.5)) classes = 2;
    double size = pow(10, (double)between(c, "size", "target", -3, 6));
    if (chance(c, "size 1", "target", 0.5)) size = 1;
    c->targets = 1;
    if ((c->learner->abilities & MARGIN_CAN_TARGETS) && chance(c, "several", "targets", 0.3))
        c->targets = MOST_TARGETS;
    for (int64_t i = 0; i < c->rows; i++) {
        for (int t = 0; t < c->targets; t++)
            c->y[i * c->targets + t] = size * hidden(c, i, t, noise, &random);
        double score = hidden(c, i, 0, noise, &random) + 0.5;
        if (!numbers && i < 2 && chance(c, "two classes", "at least", 0.95)) score = (double)i;
        if (!numbers) c->y[i] = fmax(0, fmin((double)classes - 1, floor(score * (double)classes)));
    }
}

static int64_t lay_out(fit_case *c) {
    int64_t count = 0;
    for (int64_t i = 0; i < c->rows; i++) {
        for (int64_t j = 0; j < c->columns; j++) {
            double value = c->x[i * c->columns + j];
            if (c->sparse && value == 0) continue;
            c->index[count] = (int32_t)j;
            c->f32[count] = (float)value;
            c->f64[count++] = value;
        }
        c->start[i + 1] = count;
    }
    return count;
}

/* The same values by columns. */
static margin_matrix turn(fit_case *c) {
    for (int64_t j = 0; j < c->columns; j++) {
        c->columns_f64[j] = c->turned_f64 + j * c->rows;
        c->columns_f32[j] = c->turned_f32 + j * c->rows;
        for (int64_t i = 0; i < c->rows; i++) {
            c->turned_f64[j * c->rows + i] = c->f64[i * c->columns + j];
            c->turned_f32[j * c->rows + i] = c->f32[i * c->columns + j];
        }
    }
    return c->single ? margin_columns_f32(c->columns_f32, c->rows, c->columns)
                     : margin_columns_f64(c->columns_f64, c->rows, c->columns);
}

static void make_data(fit_case *c) {
    static const double weights[] = {0, 1, 1, 2, 0.5, 3.75};
    c->rows = between(c, "rows", "", chance(c, "one row", "", 0.02) ? 1 : 2,
                      chance(c, "few rows", "", 0.4) ? 8 : MOST_ROWS);
    c->columns = between(c, "columns", "", 1, MOST_COLUMNS);
    c->sparse = chance(c, "sparse", "", 0.35);
    c->single = chance(c, "single", "", 0.35);
    c->missing = chance(c, "missing", "", 0.15);
    c->weighted = chance(c, "weighted", "", 0.3);
    c->by_columns = !c->sparse && chance(c, "by columns", "", 0.25);
    fill_features(c);
    fill_target(c);
    lay_out(c);
    margin_data *d = &c->data;
    int64_t m = c->rows, n = c->columns;
    if (c->sparse)
        d->x = c->single ? margin_csr_f32(c->f32, c->index, c->start, m, n)
                         : margin_csr_f64(c->f64, c->index, c->start, m, n);
    else
        d->x = c->single ? margin_dense_f32(c->f32, m, n, n) : margin_dense_f64(c->f64, m, n, n);
    d->y = margin_values_f64(c->y, m * c->targets);
    d->targets = c->targets;
    uint64_t random = draw(c, "weights", "", "");
    for (int64_t i = 0; i < m; i++) {
        c->weights[i] = weights[mix(++random) % 6];
        if (next_uniform(&random) < 0.8) c->selection[d->selected++] = i;
    }
    if (c->weighted) d->weights = margin_values_f64(c->weights, m);
    if (chance(c, "selection", "", 0.1)) d->selection = c->selection;
    if (!d->selection) d->selected = 0;
    snprintf(c->out->data, sizeof c->out->data, "%d x %d %s f%d%s%s%s%s, %d targets", (int)m,
             (int)n, c->sparse ? "csr" : "dense", c->single ? 32 : 64,
             c->by_columns ? ", by columns" : "", c->missing ? ", missing" : "",
             c->weighted ? ", weighted" : "", d->selection ? ", selected" : "", (int)c->targets);
}

/* ---- Specs ----------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void say(fit_case *c, const char *format, ...) {
    size_t length = strlen(c->out->spec);
    va_list list;
    va_start(list, format);
    vsnprintf(c->out->spec + length, sizeof c->out->spec - length, format, list);
    va_end(list);
}

/* The component of that kind that this case likes best. */
static const margin_component *favourite(const fit_case *c, margin_component_kind kind,
                                         const char *place) {
    const margin_component *best = NULL;
    for (int k = 0; k < margin_component_count(); k++) {
        const margin_component *component = margin_component_at(k);
        if (component->kind == (int32_t)kind &&
            (!best || draw(c, component->name, place, "") > draw(c, best->name, place, "")))
            best = component;
    }
    return best;
}

/* One word of "a|b|c" into text, by the same rule. */
static void favourite_word(const fit_case *c, const char *of, const char *words, char text[64]) {
    uint64_t best = 0;
    while (words) {
        char word[64] = "";
        const char *end = strchr(words, '|');
        snprintf(word, sizeof word, "%.*s", end ? (int)(end - words) : (int)strlen(words), words);
        uint64_t liking = draw(c, of, word, "word");
        if (liking >= best) memcpy(text, word, sizeof word);
        if (liking >= best) best = liking;
        words = end ? end + 1 : NULL;
    }
}

/* What is usual for an option: powers of ten from ... to, or whole numbers. */
typedef struct usual {
    const char *name;
    int low, high; /* exponents of ten, or whole numbers for an integer */
} usual;

static const usual usuals[] = {
    {"C", -4, 4},      {"alpha", -4, 4},    {"lambda", -4, 1},  {"tol", -9, -1},
    {"rate", -4, -1},  {"max_iter", 1, 50}, {"passes", 1, 50},  {"k", 1, 8},
    {"centres", 1, 3}, {"degree", 1, 3},    {"restarts", 1, 3}, {"batch", 1, 50},
    {"sigma", -1, 2},  {"gamma", -3, 1},    {"radius", -2, 2},  {"decay", -3, 0},
};

static void put_number(fit_case *c, const margin_option *o, const char *of) {
    int low = -2, high = 2;
    bool whole = o->type == MARGIN_OPTION_INTEGER;
    for (size_t k = 0; k < sizeof usuals / sizeof *usuals; k++)
        if (strcmp(usuals[k].name, o->name) == 0) low = usuals[k].low, high = usuals[k].high;
    double drawn = (double)between(c, of, o->name, low, high);
    double value = whole ? drawn : pow(10, drawn);
    if (!whole && o->high <= 1) value = fmin(value, o->high_open ? 0.5 : 1);
    if (o->low >= 1) value = fmax(value, o->low);
    if (!whole && chance(c, of, "at the end", 0.1)) {
        value = draw(c, of, o->name, "end") & 1 ? o->high : o->low;
        if (value == o->high ? o->high_open : o->low_open) value = 1;
    }
    char text[MARGIN_NUMBER_TEXT];
    margin_number_print_f64(value, text);
    say(c, "%s=%s", o->name, text);
}

/* What the spec says of the component that is being written. */
static const char *said_of(const fit_case *c, const margin_component *component) {
    const char *bar = strrchr(c->out->spec, '|');
    return strstr(bar ? bar : c->out->spec, component->name);
}

static bool has(const char *text, const char *format, const char *word) {
    char whole[80];
    snprintf(whole, sizeof whole, format, word);
    return strstr(text, whole) != NULL;
}

/* Options of a group exclude each other; some belong to some solvers, which their help names, or to
 * another option. One in fifty does not care. */
static bool goes(const fit_case *c, const margin_component *component, const margin_option *o) {
    static const char *const belongs[][2] = {{"decay", "schedule=inverse"},
                                             {"gamma", "kernel="},
                                             {"sigma", "kernel="},
                                             {"degree", "kernel=poly"},
                                             {"coef0", "kernel=poly"}};
    const char *text = said_of(c, component), *solver = strstr(text, "solver=");
    if (chance(c, "careless", o->name, 0.02)) return true;
    for (int k = 0; o->group && k < component->option_count; k++) {
        const char *other = component->options[k].group;
        if (other && strcmp(other, o->group) == 0 && has(text, "%s=", component->options[k].name))
            return false;
    }
    for (size_t k = 0; component->kind == MARGIN_LEARNER && k < 5; k++)
        if (strcmp(o->name, belongs[k][0]) == 0 && !strstr(text, belongs[k][1])) return false;
    if (!strstr(o->help, "solver=")) return true;
    char word[40] = "?";
    if (solver) snprintf(word, sizeof word, "%.*s", (int)strcspn(solver + 7, ",)"), solver + 7);
    return has(o->help, "=%s", word) || has(o->help, ", %s", word);
}

static bool put_option(fit_case *c, const margin_component *component, const margin_option *o,
                       const char *separator) {
    char of[80], word[64] = "";
    snprintf(of, sizeof of, "%s %s", component->name, o->name);
    bool words = o->choices && (o->type == MARGIN_OPTION_CHOICE || chance(c, of, "word", 0.5));
    bool free = o->type == MARGIN_OPTION_TEXT || o->type == MARGIN_OPTION_NUMBERS;
    if (!chance(c, of, "given", 0.25) || !goes(c, component, o)) return false;
    if (free && strcmp(o->name, "class_weight") != 0) return false; /* names of columns, starts */
    say(c, "%s", separator);
    if (free)
        say(c, "%s=balanced", o->name);
    else if (o->type == MARGIN_OPTION_SWITCH)
        say(c, "%s=%s", o->name, draw(c, of, "switch", "") & 1 ? "yes" : "no");
    else if (words) {
        favourite_word(c, of, o->choices, word);
        say(c, "%s=%s", o->name, word);
    } else
        put_number(c, o, of);
    return true;
}

/* An option that is not given. Textbook solvers and the perceptron may go on for ever where there
 * is no end, and the default numbers of clusters and centres are too many for small tables. */
static const char *needed(const fit_case *c, const margin_component *component,
                          const margin_option *o) {
    const char *text = said_of(c, component);
    bool textbook =
        strstr(text, "solver=gd") || strstr(text, "solver=sgd") || strstr(text, "solver=minibatch");
    if (strcmp(o->name, "passes") == 0) return "50";
    if (strcmp(o->name, "max_iter") == 0 && textbook) return "50";
    if (strcmp(o->name, "centres") == 0 && component->kind == MARGIN_STAGE) return "2";
    return strcmp(o->name, "k") == 0 ? "2" : NULL;
}

static void put_component(fit_case *c, const margin_component *component) {
    const char *separator = "";
    say(c, "%s(", component->name);
    for (int k = 0; k < component->option_count; k++)
        if (put_option(c, component, &component->options[k], separator)) separator = ", ";
    for (int k = 0; k < component->option_count; k++) {
        const margin_option *o = &component->options[k];
        const char *value = needed(c, component, o);
        if (!value || has(said_of(c, component), "%s=", o->name)) continue;
        say(c, "%s%s=%s", separator, o->name, value);
        separator = ", ";
    }
    say(c, ")");
}

static void make_spec(fit_case *c) {
    if (c->missing && chance(c, "impute", "", 0.9)) say(c, "impute | ");
    if (chance(c, "stage", "first", 0.3)) {
        put_component(c, favourite(c, MARGIN_STAGE, "first"));
        say(c, " | ");
    }
    if (chance(c, "standardize", "", 0.2)) say(c, "standardize | ");
    put_component(c, c->learner);
}

/* ---- What must hold -------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void complain(fit_case *c, const char *format, ...) {
    va_list list;
    va_start(list, format);
    if (!c->out->complaint[0]) vsnprintf(c->out->complaint, sizeof c->out->complaint, format, list);
    va_end(list);
}

typedef struct fitted {
    margin_status status;
    margin_model *model;
    margin_report report;
    margin_error error;
    void *bytes;
    int64_t length;
} fitted;

static fitted fit(margin_context *context, const fit_case *c) {
    fitted f = {0};
    margin_spec *spec = NULL;
    f.status = margin_spec_parse(context, c->out->spec, &spec, &f.error);
    if (f.status >= 0)
        f.status = margin_fit(context, spec, &c->data, &f.model, &f.report, &f.error);
    if (f.status >= 0 && margin_model_encode(f.model, &f.bytes, &f.length, &f.error) < 0)
        f.status = f.error.status;
    margin_spec_free(spec);
    return f;
}

static void release(fitted *f) {
    if (f->model) margin_bytes_free(f->model, f->bytes);
    margin_model_free(f->model);
}

/* The contexts may have a time limit: when it ends a fit is nobody's promise. */
static bool is_late(margin_status status, const margin_error *error) {
    return status == MARGIN_STOPPED_TIME ||
           (status == MARGIN_ERROR_LIMIT && strstr(error->text, "time limit"));
}

/* Classes in pairs share the time: one may have been stopped by the clock long before it ends, and
 * another by its iterations. */
static bool is_late_fit(const fitted *f) {
    enum { MOST_PAIRS = 6 };
    return is_late(f->status, &f->error) || f->report.seconds > 0.8 * FIT_CASE_SECONDS / MOST_PAIRS;
}

static void judge_refusal(fit_case *c, const fitted *f) {
    bool known = f->status == MARGIN_ERROR_SPEC || f->status == MARGIN_ERROR_DATA ||
                 f->status == MARGIN_ERROR_ARGUMENT || f->status == MARGIN_ERROR_LIMIT;
    if (!known || strlen(f->error.text) < 25)
        complain(c, "refused with %s: %s", margin_status_text(f->status), f->error.text);
}

static void judge_report(fit_case *c, const margin_report *r) {
    if (r->status == MARGIN_OK && !isnan(r->tolerance) && r->gap > r->tolerance)
        complain(c, "converged with gap %g above %g", r->gap, r->tolerance);
    if (r->status > 0 && strlen(r->reason) < 30) complain(c, "no reason: %s", r->reason);
}

static void judge_proof(fit_case *c, margin_context *context, const fitted *f) {
    margin_report found = {0};
    margin_error error = {0};
    margin_status status = margin_verify(context, f->model, &c->data, &found, &error);
    if (status == MARGIN_ERROR_ARGUMENT || is_late(status, &error)) return; /* makes no claim */
    if (status != MARGIN_OK)
        complain(c, "%s with gap %g does not verify: %s",
                 f->report.status ? "stopped" : "converged", f->report.gap,
                 status < 0 ? error.text : found.reason);
}

/* Scores and labels of all rows. */
static margin_status answers(margin_context *context, const fit_case *c, const margin_model *model,
                             double *scores, int64_t *labels, margin_error *error) {
    margin_status status = MARGIN_OK;
    if (margin_model_score_count(model) > 0)
        status = margin_predict_parallel(context, model, &c->data.x, MARGIN_OUTPUT_SCORES, scores,
                                         error);
    if (status >= 0 && margin_model_task(model) != MARGIN_REGRESS)
        status = margin_predict_parallel(context, model, &c->data.x, MARGIN_OUTPUT_LABELS, labels,
                                         error);
    return status;
}

static void judge_copy(fit_case *c, margin_context *context, const fitted *f) {
    margin_model *copy = NULL;
    margin_error error = {0}, other = {0};
    const margin_status loaded = margin_model_decode(context, f->bytes, f->length, &copy, &error);
    if (loaded < 0) {
        if (!is_late(loaded, &error)) complain(c, "its file does not load: %s", error.text);
        return;
    }
    size_t count = (size_t)(c->rows * margin_model_score_count(f->model)) + 1;
    double *scores[2] = {calloc(count, sizeof **scores), calloc(count, sizeof **scores)};
    int64_t labels[2][MOST_ROWS] = {{0}};
    margin_status first = answers(context, c, f->model, scores[0], labels[0], &error);
    margin_status second = answers(context, c, copy, scores[1], labels[1], &other);
    const bool late = is_late(first, &error) || is_late(second, &other);
    if (!late && (first != second || memcmp(scores[0], scores[1], count * sizeof **scores) != 0 ||
                  memcmp(labels[0], labels[1], sizeof labels[0]) != 0))
        complain(c, "predicts otherwise once it is loaded");
    free(scores[0]);
    free(scores[1]);
    margin_model_free(copy);
}

static void judge(fit_case *c, margin_context *one, margin_context *three) {
    fitted f = fit(one, c), again;
    if (c->by_columns) c->data.x = turn(c);
    again = fit(three, c);
    c->out->refused = f.status < 0;
    c->out->converged = f.status == MARGIN_OK;
    const bool late = is_late_fit(&f) || is_late_fit(&again);
    if (!late && (f.status != again.status || f.length != again.length ||
                  (f.status < 0 ? strcmp(f.error.text, again.error.text)
                                : memcmp(f.bytes, again.bytes, (size_t)f.length)) != 0))
        complain(c, "%s make another model",
                 c->by_columns ? "columns and three threads" : "three threads");
    if (f.status < 0) {
        judge_refusal(c, &f);
    } else {
        judge_report(c, &f.report);
        judge_proof(c, three, &f);
        judge_copy(c, three, &f);
    }
    release(&f);
    release(&again);
}

void fit_case_run(margin_context *one, margin_context *three, const uint8_t *bytes, int64_t size,
                  fit_outcome *outcome) {
    static const fit_outcome none;
    fit_case *c = calloc(1, sizeof *c);
    *outcome = none;
    c->bytes = bytes;
    c->size = size;
    c->out = outcome;
    c->learner = favourite(c, MARGIN_LEARNER, "last");
    make_data(c);
    make_spec(c);
    judge(c, one, three);
    free(c);
}
