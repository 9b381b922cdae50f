// A host in C++: structs by `= {}` and by assignment, a lambda as callback, RAII around the frees.
#include <margin/margin.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

template <typename T> using owned = std::unique_ptr<T, void (*)(T *)>;

static int failed(const char *what, const margin_error &error) {
    std::printf("%s: %s\n", what, error.text);
    return 1;
}

int main() {
    std::vector<double> x{0, 0, 1, 0, 0, 1, 3, 3, 4, 3, 3, 4};
    std::vector<int32_t> y{-1, -1, -1, 1, 1, 1}, again(6);
    std::vector<int64_t> labels(6);
    std::string heard;
    margin_error error;
    margin_context_options options = {};
    options.size = sizeof options;
    options.threads = 2;
    options.user = &heard;
    options.log = [](margin_log_level, const char *text, void *user) {
        *static_cast<std::string *>(user) += text;
    };
    margin_context *context = nullptr;
    if (margin_context_create(&options, &context, &error) < 0) return failed("context", error);
    owned<margin_context> keeps(context, margin_context_free);

    margin_data data = {};
    data.x = margin_dense_f64(x.data(), 6, 2, 2);
    data.y = margin_labels_i32(y.data(), 6);
    margin_spec *spec = nullptr;
    if (margin_spec_parse(context, "standardize | perceptron", &spec, &error) < 0)
        return failed("spec", error);
    owned<margin_spec> keeps_spec(spec, margin_spec_free);
    margin_model *model = nullptr;
    margin_report report = {};
    if (margin_fit(context, spec, &data, &model, &report, &error) < 0) return failed("fit", error);
    owned<margin_model> keeps_model(model, margin_model_free);
    if (margin_predict(model, &data.x, labels.data(), &error) < 0) return failed("answers", error);
    for (int i = 0; i < 6; i++)
        again[i] = static_cast<int32_t>(margin_model_class_value(model, labels[i]));
    return again == y && report.status == MARGIN_OK && report.train_accuracy == 1 ? 0 : 1;
}
