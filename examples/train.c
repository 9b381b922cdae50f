/* Trains a perceptron on three points, prints the report, predicts and saves the model if a file is
 * named.
 *
 *   cc train.c $(pkg-config --cflags --libs margin) && ./a.out points.margin
 *
 * Installed where the loader does not look (make install PREFIX=dir), it needs the folder in the
 * program: cc ... -Wl,-rpath,$(pkg-config --variable=libdir margin).
 */
#include <margin/margin.h>

#include <stdio.h>

static int complain(const margin_error *error) {
    fprintf(stderr, "%s\n", error->text);
    return 1;
}

static int use(margin_context *context, margin_spec *spec, margin_model **model) {
    const double values[] = {3, 3, 4, 3, 1, 1};
    const int32_t labels[] = {1, 1, -1};
    margin_data data = {.x = margin_dense_f64(values, 3, 2, 2), .y = margin_labels_i32(labels, 3)};
    margin_report report = {0};
    margin_error error;
    margin_status status = margin_fit(context, spec, &data, model, &report, &error);
    if (status < 0) return complain(&error);
    printf("%s after %lld %s, %g updates, margin %.6f, bound %g\n",
           status == MARGIN_OK ? "converged" : "stopped", (long long)report.iterations,
           report.iteration_name, margin_report_item_value(&report, "mistakes"),
           margin_report_item_value(&report, "margin"), margin_report_item_value(&report, "bound"));
    const double *weights = margin_model_weights(*model, 0);
    printf("f(x) = %g x1 + %g x2 + %g\n", weights[0], weights[1],
           margin_model_intercept(*model, 0));

    const double query[] = {2, 4, 0, 1};
    margin_matrix x = margin_dense_f64(query, 2, 2, 2);
    int64_t predicted[2];
    if (margin_predict(*model, &x, predicted, &error) < 0) return complain(&error);
    for (int i = 0; i < 2; i++)
        printf("(%g, %g) is %s\n", query[2 * i], query[2 * i + 1],
               margin_model_class_name(*model, predicted[i]));
    return 0;
}

int main(int argc, char **argv) {
    margin_context *context = NULL;
    margin_spec *spec = NULL;
    margin_model *model = NULL;
    margin_error error;
    int code;
    if (margin_context_create(NULL, &context, &error) < 0 ||
        margin_spec_parse(context, "perceptron(order=first)", &spec, &error) < 0)
        code = complain(&error);
    else
        code = use(context, spec, &model);
    if (!code && argc > 1 && margin_model_save(model, argv[1], &error) < 0) code = complain(&error);
    margin_model_free(model);
    margin_spec_free(spec);
    margin_context_free(context);
    return code;
}
