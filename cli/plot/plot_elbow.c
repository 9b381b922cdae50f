/* plot elbow: inertia and silhouette of k-means for several numbers of clusters. */
#include "cli_gnuplot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FITS = 1000 };

typedef struct {
    int64_t k, iterations;
    double inertia, silhouette, simple;
} elbow_point;

typedef struct {
    int64_t count;
    elbow_point *points; /* by k */
    bool exact;          /* silhouettes are exact ones; they are where there are few rows */
} elbow;

static double judged(const elbow *e, int64_t i) {
    return e->exact ? e->points[i].silhouette : e->points[i].simple;
}

/* Number of the point with the greatest silhouette, -1: there is none. */
static int64_t best_of(const elbow *e) {
    int64_t best = -1;
    for (int64_t i = 0; i < e->count; i++)
        if (isfinite(judged(e, i)) && (best < 0 || judged(e, i) > judged(e, best))) best = i;
    return best;
}

static void print_cell(cli_text *text, double value) {
    if (isfinite(value))
        text_printf(text, " %18.4f", value);
    else
        text_printf(text, " %18s", "-");
}

static void print_table(cli_text *text, const elbow *e) {
    const int64_t best = best_of(e);
    text_printf(text, "  %6s %14s %8s %18s %18s\n", "k", "inertia", "falls by", "silhouette",
                "simple silhouette");
    for (int64_t i = 0; i < e->count; i++) {
        const elbow_point *p = &e->points[i];
        text_printf(text, "%c %6lld %14.6g ", i == best ? '*' : ' ', (long long)p->k, p->inertia);
        if (i > 0 && e->points[i - 1].inertia > 0)
            text_printf(text, "%6.1f %%", 100 * (1 - p->inertia / e->points[i - 1].inertia));
        else
            text_printf(text, "%8s", "-");
        print_cell(text, p->silhouette);
        print_cell(text, p->simple);
        text_puts(text, "\n");
    }
    if (best >= 0)
        text_printf(text, "\n* k = %lld has the greatest %ssilhouette\n",
                    (long long)e->points[best].k, e->exact ? "" : "simple ");
}

static void put_inertia(picture *p, const elbow *e, bool two) {
    picture_curve(p, two ? "inertia (left)" : "inertia", "with linespoints %s",
                  p->image ? "lw 2 pt 7 ps 1 lc rgb '#0072B2'" : "pt '*'");
    for (int64_t i = 0; i < e->count; i++)
        picture_numbers(p, 2, (double)e->points[i].k, e->points[i].inertia);
    picture_end(p);
}

static void put_silhouettes(picture *p, const elbow *e, const char *name) {
    char title[64];
    snprintf(title, sizeof title, "%s%s", name, p->image ? " (right)" : "");
    picture_curve(p, title, "axes x1y2 with linespoints %s",
                  p->image ? "lw 2 pt 5 ps 1 lc rgb '#D55E00'" : "pt 'o'");
    for (int64_t i = 0; i < e->count; i++)
        if (isfinite(judged(e, i))) picture_numbers(p, 2, (double)e->points[i].k, judged(e, i));
    picture_end(p);
}

static void elbow_script(picture *p, const elbow *e) {
    const bool silhouettes = best_of(e) >= 0;
    const char *name = e->exact ? "silhouette" : "simple silhouette";
    double low = (double)e->points[0].k, high = (double)e->points[e->count - 1].k;
    const bool few = high - low <= 20;
    picture_set(p, "set border 11\nset xlabel 'k, number of clusters'\nset ylabel 'inertia'\n"
                   "set yrange [0:*]\nset xtics out nomirror\nset ytics out nomirror\n");
    picture_room(0.05, &low, &high);
    picture_range(p, 'x', low, high);
    if (few) picture_set(p, "set xtics 1\n");
    picture_set_image(p, "set grid xtics ytics lc rgb '#DDDDDD' lt 1 lw 0.5\n");
    if (silhouettes)
        text_printf(&p->script, "set y2label '%s'\nset y2tics out\nset y2range [*<0:1]\n", name);
    put_inertia(p, e, silhouettes && p->image);
    if (silhouettes) put_silhouettes(p, e, name);
    picture_plot(p);
}

static int by_k(const void *a, const void *b) {
    const elbow_point *x = a, *y = b;
    return (x->k > y->k) - (x->k < y->k);
}

/* A fit asks some rows where its steps were few. */
static margin_status silhouette_of_all(cli_session *session, const margin_model *model,
                                       const margin_data *data, margin_status status,
                                       elbow_point *point) {
    margin_metrics metrics = {.size = sizeof metrics};
    const margin_status done =
        margin_evaluate(session->context, model, data, &metrics, &session->error);
    if (done >= 0) point->silhouette = metrics.silhouette;
    margin_metrics_free(&metrics);
    return done < 0 ? done : status;
}

/* One of the specs. */
static margin_status fit_one(cli_session *session, const margin_spec *set, int64_t index,
                             const margin_data *data, elbow_point *point) {
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_report report = {0};
    margin_status status = margin_spec_variant(set, index, &spec, &session->error);
    if (status >= 0)
        status = margin_fit(session->context, spec, data, &model, &report, &session->error);
    if (status >= 0) {
        point->k = margin_model_class_count(model);
        point->iterations = report.iterations;
        point->inertia = report.objective;
        point->silhouette = margin_report_item_value(&report, "silhouette");
        point->simple = margin_report_item_value(&report, "simple_silhouette");
        if (!isnan(margin_report_item_value(&report, "silhouette_rows")))
            status = silhouette_of_all(session, model, data, status, point);
        if (status > 0) cli_warn("k = %lld stopped early: %s", (long long)point->k, report.reason);
    }
    if (status == MARGIN_ERROR_DATA) cli_advise_data(session, data, NULL);
    margin_model_free(model);
    margin_spec_free(spec);
    return status;
}

/* Sorts the points and looks at them. */
static int check_points(elbow *e) {
    qsort(e->points, (size_t)e->count, sizeof *e->points, by_k);
    e->exact = true;
    for (int64_t i = 0; i < e->count; i++) {
        const elbow_point *p = &e->points[i];
        e->exact = e->exact && (p->k < 2 || isfinite(p->silhouette));
        if (i == 0) continue;
        if (p->k == p[-1].k)
            return cli_usage_error(cli_find_command("plot"),
                                   "an elbow is over k alone, and the spec has k = %lld several "
                                   "times: leave other sets out",
                                   (long long)p->k);
        if (p->inertia > p[-1].inertia)
            cli_warn("the inertia rises from k = %lld to %lld, so a better clustering exists; "
                     "raise restarts",
                     (long long)p[-1].k, (long long)p->k);
    }
    return EXIT_DONE;
}

static int draw(picture *p, const char *spec, const elbow *e) {
    cli_text table = {0};
    print_table(&table, e);
    const int code = text_finish(p->session, &table, NULL);
    if (code) return code;
    picture_begin(p, "%s", spec);
    elbow_script(p, e);
    return picture_finish(p);
}

static int elbow_of_table(picture *p, const margin_spec *set, const margin_data *data) {
    elbow e = {.count = margin_spec_variants(set)};
    margin_status status = MARGIN_OK;
    e.points = calloc((size_t)e.count, sizeof *e.points);
    if (!e.points) return picture_out_of_memory();
    for (int64_t i = 0; status >= 0 && i < e.count; i++)
        status = fit_one(p->session, set, i, data, &e.points[i]);
    cli_progress_end();
    int code = status < 0 ? cli_failed(p->session, status) : check_points(&e);
    if (!code) code = draw(p, margin_spec_text(set), &e);
    free(e.points);
    return code;
}

static int check_spec(const margin_spec *set) {
    const int64_t variants = margin_spec_variants(set);
    if (!(margin_spec_learner(set)->abilities & MARGIN_CAN_CLUSTER))
        return cli_usage_error(cli_find_command("plot"),
                               "an elbow is drawn for kmeans, as in 'kmeans(k={1..10})'");
    if (variants < 2)
        return cli_usage_error(cli_find_command("plot"),
                               "an elbow takes a set of numbers of clusters, as in "
                               "'kmeans(k={1..10})'");
    if (variants > MOST_FITS)
        return cli_usage_error(cli_find_command("plot"),
                               "the spec stands for %lld clusterings, and at most %d are drawn",
                               (long long)variants, (int)MOST_FITS);
    return EXIT_DONE;
}

int plot_elbow(picture *p) {
    cli_session *session = p->session;
    const cli_arguments *a = session->arguments;
    margin_spec *set = NULL;
    margin_table *table = NULL;
    int code;
    if (a->word_count < 3)
        return cli_usage_error(cli_find_command("plot"),
                               "margin plot elbow needs a spec and a table, as in margin plot "
                               "elbow 'kmeans(k={1..10})' DATA");
    margin_status status = margin_spec_parse(session->context, a->words[1], &set, &session->error);
    if (status < 0) return cli_failed(session, status);
    code = check_spec(set);
    if (!code) {
        status = cli_read_table(session, a->words[2], false, cli_missing(a, margin_spec_text(set)),
                                &table);
        const margin_data data = status < 0 ? (margin_data){0} : margin_table_data(table);
        code = status < 0 ? cli_failed(session, status) : elbow_of_table(p, set, &data);
    }
    margin_table_free(table);
    margin_spec_free(set);
    return code;
}
