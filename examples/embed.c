/* margin inside a host: the host's allocator, a memory limit, a log, a time limit, and a table from
 * memory. Nothing is printed, installed or left running by the library. */
#include <margin/margin.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct {
    long long blocks, bytes;
} host;

static void *host_allocate(size_t bytes, void *user) {
    host *h = user;
    void *memory = malloc(bytes);
    if (memory) {
        h->blocks++;
        h->bytes += (long long)bytes;
    }
    return memory;
}

static void host_release(void *memory, size_t bytes, void *user) {
    host *h = user;
    if (!memory) return;
    h->blocks--;
    h->bytes -= (long long)bytes;
    free(memory);
}

static void host_log(margin_log_level level, const char *text, void *user) {
    (void)user;
    printf("[%s] %s\n", level == MARGIN_LOG_WARNING ? "warning" : "note", text);
}

static const char csv[] = "height,width,kind\n"
                          "1.0,2.0,a\n1.5,2.5,a\n1.2,1.9,a\n"
                          "4.0,1.0,b\n4.2,0.5,b\n3.9,1.5,b\n";

static margin_status train(margin_context *context, margin_model **model, margin_error *error) {
    margin_table *table = NULL;
    margin_spec *spec = NULL;
    margin_report report = {0};
    margin_status status =
        margin_table_parse(context, csv, sizeof csv - 1, "in memory", NULL, &table, error);
    if (status >= 0) status = margin_spec_parse(context, "minmax | perceptron", &spec, error);
    if (status >= 0) {
        margin_data data = margin_table_data(table);
        status = margin_fit(context, spec, &data, model, &report, error);
    }
    if (status >= 0) printf("training accuracy %g\n", report.train_accuracy);
    margin_spec_free(spec);
    margin_table_free(table);
    return status;
}

int main(void) {
    host memory = {0, 0};
    margin_context_options options = {
        .size = sizeof options,
        .threads = 1, /* the counters above are not atomic */
        .memory_limit = 64 << 20,
        .time_limit = 10,
        .allocator = {host_allocate, host_release, &memory},
        .log = host_log,
    };
    margin_context *context = NULL;
    margin_model *model = NULL;
    margin_error error;
    margin_status status = margin_context_create(&options, &context, &error);
    if (status >= 0) status = train(context, &model, &error);
    if (status < 0) fprintf(stderr, "%s\n", error.text);
    margin_context_free(context); /* the model lives on */
    if (status >= 0) {
        const double query[] = {4.1, 1.1};
        margin_matrix x = margin_dense_f64(query, 1, 2, 2);
        int64_t label;
        if (margin_predict(model, &x, &label, &error) >= 0)
            printf("(4.1, 1.1) is %s\n", margin_model_class_name(model, label));
    }
    margin_model_free(model);
    printf("%lld blocks of the host's memory left\n", memory.blocks);
    return status < 0 || memory.blocks != 0;
}
