/* margin path: one learner under many penalties, judged by leaving out each row. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Fits the best penalty, writes the model if one is wanted. */
static int write_best(cli_session *session, const margin_path_point *best,
                      const margin_data *data) {
    const char *path = session->arguments->output;
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    int code = cli_writes_to(path);
    if (code) return code;
    margin_status status = margin_spec_parse(session->context, best->spec, &spec, &session->error);
    if (status >= 0)
        status = margin_fit(session->context, spec, data, &model, NULL, &session->error);
    if (status >= 0 && margin_model_save(model, path, &session->error) < 0)
        status = session->error.status;
    margin_model_free(model);
    margin_spec_free(spec);
    return status < 0 ? cli_failed(session, status) : EXIT_DONE;
}

static void json_point(cli_text *text, const margin_path_point *point, int64_t features) {
    json_open(text, NULL, '{');
    json_string(text, "spec", point->spec);
    json_number(text, "C", point->C);
    json_number(text, "alpha", point->alpha);
    json_number(text, "lambda", point->lambda);
    json_number(text, "objective", point->objective);
    json_number(text, "gap", point->gap);
    json_number(text, "freedom", point->freedom);
    json_number(text, "train_rmse", point->train_rmse);
    json_number(text, "leave_one_out_rmse", point->leave_one_out_rmse);
    json_number(text, "gcv_rmse", point->gcv_rmse);
    if (point->weights) json_numbers(text, "weights", point->weights, features);
    json_number(text, "intercept", point->intercept);
    json_close(text, '}');
}

static void json_path(cli_text *text, const cli_session *session, const char *spec,
                      const margin_path_result *path) {
    json_open(text, NULL, '{');
    json_string(text, "spec", spec);
    json_integer(text, "rows", path->rows);
    json_integer(text, "features", path->features);
    json_open(text, "points", '[');
    for (int64_t k = 0; k < path->count; k++)
        json_point(text, margin_path_point_at(path, k), path->features);
    json_close(text, ']');
    json_integer(text, "best", path->best);
    json_string(text, "best_spec", margin_path_point_at(path, path->best)->spec);
    json_open(text, "seconds", '{');
    json_number(text, "read", session->read_seconds);
    json_number(text, "path", path->seconds);
    json_number(text, "total", cli_elapsed(session));
    json_close(text, '}');
    json_integer(text, "threads", path->threads);
    if (session->arguments->output) json_string(text, "model", session->arguments->output);
    json_close(text, '}');
    text_puts(text, "\n");
}

static void print_path(cli_text *text, const cli_session *session, const margin_path_result *path) {
    text_count(text, path->rows, "rows");
    text_puts(text, ", ");
    text_count(text, path->features, "columns");
    text_printf(text, ", %lld penalt%s in ", (long long)path->count,
                path->count == 1 ? "y" : "ies");
    text_seconds(text, path->seconds);
    text_puts(text, " on ");
    text_count(text, path->threads, "threads");
    text_puts(text, "\n\n");
    text_printf(text, "  %12s %12s %10s %10s %14s %11s %9s\n", "alpha", "lambda", "freedom",
                "train rmse", "leave-one-out", "GCV", "gap");
    for (int64_t k = 0; k < path->count; k++) {
        const margin_path_point *p = margin_path_point_at(path, k);
        text_printf(text, "%s %12.6g %12.4g %10.4g %10.5g %14.6g %11.6g %9.2g\n",
                    k == path->best ? "*" : " ", p->alpha, p->lambda, p->freedom, p->train_rmse,
                    p->leave_one_out_rmse, p->gcv_rmse, p->gap);
    }
    text_printf(text, "\nbest        %s: rmse ", margin_path_point_at(path, path->best)->spec);
    text_short(text, margin_path_point_at(path, path->best)->leave_one_out_rmse);
    text_puts(text, " at rows left out\n");
    if (path->count > 1 && margin_path_point_at(path, path->best)->alpha > 0 &&
        (path->best == 0 || path->best == path->count - 1))
        text_puts(text, "            it stands at an end of the set: a wider set may hold a "
                        "better one\n");
    if (session->arguments->output)
        text_printf(text, "model       %s\n", session->arguments->output);
}

static int path_of_table(cli_session *session, const margin_spec *spec, const margin_table *table) {
    const margin_data data = margin_table_data(table);
    margin_path_result path = {0};
    cli_text text = {0};
    margin_status status = margin_path(session->context, spec, &data, &path, &session->error);
    if (status < 0) return cli_failed(session, status);
    int code = session->arguments->output
                   ? write_best(session, margin_path_point_at(&path, path.best), &data)
                   : EXIT_DONE;
    if (!code) {
        if (session->arguments->json)
            json_path(&text, session, margin_spec_text(spec), &path);
        else
            print_path(&text, session, &path);
        code = text_finish(session, &text, NULL);
    }
    margin_path_free(&path);
    return code;
}

int run_path(const cli_arguments *arguments) {
    cli_session session;
    margin_spec *spec = NULL;
    margin_table *table = NULL;
    int code = cli_session_open(&session, arguments);
    if (code) return code;
    margin_status status =
        margin_spec_parse(session.context, arguments->words[0], &spec, &session.error);
    session.spec = arguments->words[0];
    if (status >= 0)
        status = cli_read_table(&session, arguments->words[1], true,
                                cli_missing(arguments, margin_spec_text(spec)), &table);
    code = status < 0 ? cli_failed(&session, status) : path_of_table(&session, spec, table);
    margin_table_free(table);
    margin_spec_free(spec);
    cli_session_close(&session);
    return code;
}
