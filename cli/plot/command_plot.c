/* margin plot: the kinds of pictures. The numbers are computed in plot_*.c, the drawing is
 * gnuplot's. */
#include "cli_gnuplot.h"

#include <string.h>

/* Whether a kind of picture takes a table. */
enum { NO_TABLE, MAY_HAVE_TABLE, NEEDS_TABLE };

typedef struct plot_kind {
    const char *name;
    picture_of_model *draw;
    int table;
    bool need_target;
    bool one_target; /* --target has to choose one of several */
} plot_kind;

static const plot_kind kinds[] = {
    {"boundary", plot_boundary, NEEDS_TABLE, false, false},
    {"clusters", plot_clusters, NEEDS_TABLE, false, false},
    {"coefficients", plot_coefficients, MAY_HAVE_TABLE, true, false},
    {"confusion", plot_confusion, NEEDS_TABLE, true, false},
    {"fit", plot_fit, NEEDS_TABLE, true, true},
    {"margins", plot_margins, NEEDS_TABLE, true, false},
    {"precision", plot_precision, NEEDS_TABLE, true, false},
    {"reliability", plot_reliability, NEEDS_TABLE, true, false},
    {"residuals", plot_residuals, NEEDS_TABLE, true, true},
    {"roc", plot_roc, NEEDS_TABLE, true, false},
};

const char cli_plot_kinds[] = "trace kdtree elbow settings bias learning boundary clusters "
                              "coefficients confusion fit margins "
                              "precision reliability residuals roc";

static int plot_model(picture *p, const plot_kind *plot) {
    cli_session *session = p->session;
    margin_model *model = NULL;
    margin_table *table = NULL;
    const cli_arguments *a = session->arguments;
    const bool with_table = a->word_count > 2;
    if (!with_table && plot->table == NEEDS_TABLE)
        return cli_usage_error(cli_find_command("plot"), "margin plot %s needs a model and a table",
                               a->words[0]);
    margin_status status = cli_load_model(session, a->words[1], &model);
    if (status >= 0) {
        const int code = cli_choose_target(session, model, "plot", a->words[2], plot->one_target);
        if (code) {
            margin_model_free(model);
            return code;
        }
    }
    if (status >= 0 && with_table)
        status =
            cli_read_for_model(session, model, a->words[2],
                               plot->need_target ? CLI_NEEDS_TARGET : CLI_MAY_HAVE_TARGET, &table);
    int code = status < 0 ? cli_failed(session, status) : plot->draw(p, model, table);
    margin_table_free(table);
    margin_model_free(model);
    return code;
}

static int plot(picture *p) {
    const cli_arguments *a = p->session->arguments;
    const char *what = a->words[0];
    const bool one_file = !strcmp(what, "trace") || !strcmp(what, "kdtree");
    if (one_file && a->word_count > 2)
        return cli_usage_error(cli_find_command("plot"), "'%s' is one word too many", a->words[2]);
    const bool searches =
        !strcmp(what, "settings") || !strcmp(what, "bias") || !strcmp(what, "learning");
    if (!searches && (a->folds > 0 || a->repeat > 0 || a->stratify || a->in_order || a->groups ||
                      a->time || a->metric))
        return cli_usage_error(
            cli_find_command("plot"),
            "folds and --metric are for margin plot settings, bias and learning");
    if (a->seed != 0 && !searches && strcmp(what, "elbow") != 0)
        return cli_usage_error(cli_find_command("plot"),
                               "--seed is for margin plot elbow, settings, bias and learning, "
                               "which train; margin plot %s "
                               "draws what there is",
                               what);
    if (a->columns && strcmp(what, "boundary") != 0 && strcmp(what, "clusters") != 0 &&
        strcmp(what, "fit") != 0 && strcmp(what, "kdtree") != 0)
        return cli_usage_error(cli_find_command("plot"),
                               "--columns is for margin plot boundary, clusters, fit and kdtree");
    if (!strcmp(what, "elbow")) return plot_elbow(p);
    if (searches) return plot_search(p);
    if (one_file) return what[0] == 't' ? plot_trace(p) : plot_kdtree(p);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (!strcmp(what, kinds[k].name)) return plot_model(p, &kinds[k]);
    return cli_usage_error(cli_find_command("plot"), "there is no picture '%s': choose one of %s",
                           what, cli_plot_kinds);
}

int run_plot(const cli_arguments *arguments) {
    cli_session session;
    picture p;
    int code = picture_choose(arguments, &p);
    if (!code) code = cli_session_open(&session, arguments);
    if (code) return code;
    p.session = &session;
    code = plot(&p);
    text_free(&p.script);
    text_free(&p.data);
    cli_session_close(&session);
    return code;
}
