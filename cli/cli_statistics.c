/* inspect --statistics: how certain the coefficients of a linear model are. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_coefficient(cli_text *text, const margin_coefficient *c) {
    json_open(text, NULL, '{');
    json_string(text, "name", c->name);
    json_number(text, "estimate", c->estimate);
    json_number(text, "error", c->error);
    json_number(text, "statistic", c->statistic);
    json_number(text, "p_value", c->p_value);
    json_number(text, "low", c->low);
    json_number(text, "high", c->high);
    json_number(text, "inflation", c->inflation);
    json_close(text, '}');
}

static void json_dependences(cli_text *text, const margin_statistics_result *r) {
    json_open(text, "dependences", '[');
    for (int64_t k = 0; k < r->dependence_count; k++) {
        const margin_dependence *d = margin_statistics_dependence(r, k);
        json_open(text, NULL, '{');
        json_string(text, "column", margin_statistics_coefficient(r, d->feature)->name);
        json_number(text, "constant", d->constant);
        json_open(text, "terms", '[');
        for (int64_t i = 0; i < d->term_count; i++)
            json_string(text, NULL, margin_statistics_coefficient(r, d->terms[i])->name);
        json_close(text, ']');
        json_numbers(text, "factors", d->factors, d->term_count);
        json_close(text, '}');
    }
    json_close(text, ']');
}

static void json_if(cli_text *text, const char *key, double value) {
    if (!isnan(value)) json_number(text, key, value);
}

static void json_statistics(cli_text *text, const margin_model *model, int64_t target,
                            const margin_statistics_result *r) {
    json_open(text, NULL, '{');
    json_string(text, "spec", margin_model_spec(model));
    json_string(text, "task", task_name(r->task));
    json_classes(text, "classes", model);
    if (cli_several_targets(model))
        json_string(text, "target", margin_model_target(model)[target].name);
    json_integer(text, "rows", r->rows);
    json_number(text, "weight", r->weight);
    json_string(text, "distribution", r->task == MARGIN_REGRESS ? "t" : "z");
    json_number(text, "confidence", r->confidence);
    json_open(text, "coefficients", '[');
    for (int64_t j = 0; j < r->coefficient_count; j++)
        json_coefficient(text, margin_statistics_coefficient(r, j));
    json_close(text, ']');
    json_integer(text, "rank", r->rank);
    json_number(text, "condition", r->condition);
    json_dependences(text, r);
    json_number(text, "distance", r->distance);
    json_number(text, "freedom", r->freedom);
    json_number(text, "log_likelihood", r->log_likelihood);
    json_number(text, "aic", r->aic);
    json_number(text, "bic", r->bic);
    json_if(text, "residual_error", r->residual_error);
    json_if(text, "r2", r->r2);
    json_if(text, "adjusted_r2", r->adjusted_r2);
    json_if(text, "f", r->f);
    json_if(text, "f_freedom", r->f_freedom);
    json_if(text, "f_p_value", r->f_p_value);
    json_if(text, "null_log_likelihood", r->null_log_likelihood);
    json_if(text, "pseudo_r2", r->pseudo_r2);
    json_if(text, "ratio", r->ratio);
    json_if(text, "ratio_p_value", r->ratio_p_value);
    json_close(text, '}');
}

/* ---- For people ------------------------------------------------------------------------------ */

/* A number right-aligned in `width` characters, behind a blank. */
static void put(cli_text *text, double value, int width) {
    char number[64];
    const bool whole = fabs(value) < 1e6 && value == floor(value);
    if (isnan(value))
        snprintf(number, sizeof number, "-");
    else
        snprintf(number, sizeof number, whole ? "%.0f" : "%.4g", value);
    text_printf(text, " %*s", width, number);
}

static void put_p(cli_text *text, double p, int width) {
    char number[64];
    snprintf(number, sizeof number, isnan(p) ? "-" : p < 1e-300 ? "<1e-300" : "%.3g", p);
    text_printf(text, " %*s", width, number);
}

static void print_table(cli_text *text, const margin_statistics_result *r) {
    int width = 11;
    char interval[40];
    for (int64_t j = 0; j < r->coefficient_count; j++) {
        int length = (int)strlen(margin_statistics_coefficient(r, j)->name);
        width = length > width ? length : width;
    }
    width = width > 28 ? 28 : width;
    snprintf(interval, sizeof interval, "%.4g %% interval", 100 * r->confidence);
    text_printf(text, "\n  %-*s %11s %10s %9s %9s %23s%s\n", width, "", "estimate", "std. error",
                r->task == MARGIN_REGRESS ? "t" : "z", "p", interval,
                r->has_intercept ? "  inflation" : "");
    for (int64_t j = 0; j < r->coefficient_count; j++) {
        const margin_coefficient *c = margin_statistics_coefficient(r, j);
        text_puts(text, "  ");
        text_name(text, c->name, width, width);
        put(text, c->estimate, 11);
        put(text, c->error, 10);
        put(text, c->statistic, 9);
        put_p(text, c->p_value, 9);
        put(text, c->low, 11);
        put(text, c->high, 11);
        if (r->has_intercept && j + 1 < r->coefficient_count) put(text, c->inflation, 10);
        text_puts(text, "\n");
    }
}

static void print_short(cli_text *text, const char *before, double value) {
    text_puts(text, before);
    text_short(text, value);
}

static void print_squares(cli_text *text, const margin_statistics_result *r) {
    print_short(text, "\nnoise       ", r->residual_error);
    print_short(text, " (residual standard error) on ", r->freedom);
    text_puts(text, " degrees of freedom\n");
    print_short(text, "fit         R2 ", r->r2);
    print_short(text, ", adjusted ", r->adjusted_r2);
    if (!isnan(r->f)) {
        print_short(text, "; F ", r->f);
        print_short(text, " on ", r->f_freedom);
        print_short(text, " and ", r->freedom);
        text_puts(text, " degrees of freedom, p");
        put_p(text, r->f_p_value, 0);
    }
    text_puts(text, "\n");
}

static void print_likelihood(cli_text *text, const margin_statistics_result *r) {
    print_short(text, "\nfit         log-likelihood ", r->log_likelihood);
    print_short(text, r->has_intercept ? ", of the intercept alone " : ", of probabilities 1/2 ",
                r->null_log_likelihood);
    print_short(text, "; pseudo R2 ", r->pseudo_r2);
    text_puts(text, "\n");
    if (isnan(r->ratio)) return;
    print_short(text, "test        likelihood ratio ", r->ratio);
    print_short(text, " on ", (double)r->rank);
    text_puts(text, " degrees of freedom, p");
    put_p(text, r->ratio_p_value, 0);
    text_puts(text, "\n");
}

/* "total = north + 2 south - 3": factors to four digits. */
static void print_sum(cli_text *text, const margin_statistics_result *r,
                      const margin_dependence *d) {
    text_puts(text, "            ");
    text_name(text, margin_statistics_coefficient(r, d->feature)->name, 0, 0);
    text_puts(text, " =");
    for (int64_t k = 0; k < d->term_count; k++) {
        const double factor = d->factors[k];
        text_puts(text, factor < 0 ? " - " : k ? " + " : " ");
        if (fabs(fabs(factor) - 1) > 5e-5) {
            text_short(text, fabs(factor));
            text_puts(text, " ");
        }
        text_name(text, margin_statistics_coefficient(r, d->terms[k])->name, 0, 0);
    }
    if (d->constant != 0 || d->term_count == 0) {
        text_puts(text, d->constant < 0 ? " - " : d->term_count ? " + " : " ");
        text_short(text, fabs(d->constant));
    }
    text_puts(text, "\n");
}

static void print_columns(cli_text *text, const margin_statistics_result *r) {
    print_short(text, "columns     condition ", r->condition);
    text_printf(text, ", rank %lld of %lld\n", (long long)r->rank,
                (long long)(r->coefficient_count - r->has_intercept));
    if (!r->dependence_count) return;
    text_puts(text, "dependent   the data say nothing about the single coefficients marked '-':\n");
    for (int64_t k = 0; k < r->dependence_count; k++)
        print_sum(text, r, margin_statistics_dependence(r, k));
    text_puts(text, "            leave such a column out to test the others\n");
}

static void print_statistics(cli_text *text, const margin_model *model, int64_t target,
                             const margin_statistics_result *r) {
    text_printf(text, "spec        %s\n", margin_model_spec(model));
    if (r->task == MARGIN_CLASSIFY) {
        text_puts(text, "log-odds    of ");
        text_name(text, margin_model_class_name(model, 1), 0, 0);
        text_puts(text, " against ");
        text_name(text, margin_model_class_name(model, 0), 0, 0);
        text_puts(text, "\n");
    } else if (margin_model_target(model)) {
        text_puts(text, "target      ");
        text_name(text, margin_model_target(model)[target].name, 0, 0);
        text_puts(text, "\n");
    }
    text_printf(text, "rows        %lld", (long long)r->rows);
    if (r->weight != (double)r->rows) print_short(text, ", which count as ", r->weight);
    text_puts(text, "\n");
    text_units(text, model);
    print_table(text, r);
    if (r->task == MARGIN_REGRESS)
        print_squares(text, r);
    else
        print_likelihood(text, r);
    if (r->task == MARGIN_REGRESS) print_short(text, "likelihood  log ", r->log_likelihood);
    print_short(text, r->task == MARGIN_REGRESS ? ", AIC " : "criteria    AIC ", r->aic);
    print_short(text, ", BIC ", r->bic);
    text_puts(text, "\n");
    print_columns(text, r);
}

/* ---- Entry ----------------------------------------------------------------------------------- */

int cli_confidence(const cli_arguments *arguments, double *confidence) {
    const char *word = arguments->confidence;
    *confidence = 0.95;
    if (!word) return EXIT_DONE;
    if (margin_number_parse_f64(word, strlen(word), confidence) && *confidence > 0 &&
        *confidence < 1)
        return EXIT_DONE;
    return cli_usage_error(NULL, "--confidence takes a number between 0 and 1, not '%s'", word);
}

static margin_status describe_target(cli_session *session, const margin_model *model,
                                     const margin_data *data,
                                     const margin_statistics_options *options, cli_text *text) {
    margin_statistics_result result = {0};
    const margin_status status =
        margin_statistics(session->context, model, data, options, &result, &session->error);
    if (status < 0) return status;
    if (session->arguments->json)
        json_statistics(text, model, options->target, &result);
    else
        print_statistics(text, model, options->target, &result);
    margin_statistics_free(&result);
    return MARGIN_OK;
}

/* All targets in turn, or the chosen one. */
static margin_status describe_targets(cli_session *session, const margin_model *model,
                                      const margin_data *data, margin_statistics_options *options,
                                      cli_text *text) {
    const bool json = session->arguments->json;
    margin_status status = MARGIN_OK;
    if (json) {
        json_open(text, NULL, '{');
        json_open(text, "targets", '[');
    }
    for (int64_t t = 0; t < margin_model_target_count(model) && status >= 0; t++) {
        options->target = t;
        if (t > 0 && !json) text_puts(text, "\n");
        status = describe_target(session, model, data, options, text);
    }
    if (json) {
        json_close(text, ']');
        json_close(text, '}');
    }
    return status;
}

int cli_statistics(cli_session *session, const margin_model *model, cli_text *text) {
    const cli_arguments *arguments = session->arguments;
    margin_statistics_options options = {.size = sizeof options};
    margin_table *table = NULL;
    int code = cli_confidence(arguments, &options.confidence);
    if (code) return code;
    margin_status status =
        cli_read_for_model(session, model, arguments->words[1], CLI_NEEDS_TARGET, &table);
    if (status >= 0) {
        const margin_data data = margin_table_data(table);
        options.target = session->target;
        status = session->target < 0 ? describe_targets(session, model, &data, &options, text)
                                     : describe_target(session, model, &data, &options, text);
    }
    margin_table_free(table);
    if (status < 0) return cli_failed(session, status);
    if (arguments->json) text_puts(text, "\n");
    return EXIT_DONE;
}
