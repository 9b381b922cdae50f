/* Bytes to model. The file may be hostile: the header is checked by store_header.c, every part is
 * checked here or by the `attach` of its kind before anything uses it, and mg_model_check that
 * the parts fit together. */
#include "data/source/source.h"
#include "model/spec/spec_parser.h"
#include "model/store/store.h"
#include "neighbors/learner/index.h"

#include <string.h>

/* Keeps sums and products with small numbers in range; no data is as wide. */
#define MOST_COLUMNS (INT64_C(1) << 48)

/* ---- Tensors --------------------------------------------------------------------------------- */

/* Copies tensor t into fresh memory of the model. */
static margin_status copy_tensor(const mg_store_reader *r, const mg_stored_tensor *t, void *to) {
    unsigned char *bytes = to;
    for (int64_t at = t->first; at < t->last; at += MG_STORE_STEP, bytes += MG_STORE_STEP) {
        const int64_t length = MG_MIN(MG_STORE_STEP, t->last - at);
        if (mg_cancelled(r->context)) return mg_fail_cancelled(r->error);
        if (MG_STORE_SWAPS)
            mg_store_swap(bytes, r->data + at, length, mg_type_size(t->type));
        else
            memcpy(bytes, r->data + at, (size_t)length);
    }
    return MARGIN_OK;
}

/* Leaves a large tensor where it is, if the bytes stay and are as numbers are. */
static bool borrow_tensor(const mg_store_reader *r, const mg_stored_tensor *t, const char *name,
                          mg_bag *bag) {
    enum { LARGE = 4096 };
    const unsigned char *bytes = r->data + t->first;
    return r->keeps && !MG_STORE_SWAPS && t->last - t->first >= LARGE &&
           (uintptr_t)bytes % (uintptr_t)mg_type_size(t->type) == 0 &&
           mg_bag_borrow(bag, name, t->type, t->shape[0], t->dimensions == 2 ? t->shape[1] : 0,
                         bytes);
}

/* Hands all tensors called `prefix`name to their owner, who checks them and forgets the reader. */
static margin_status take_tensors(mg_store_reader *r, const char *prefix, bool borrow,
                                  mg_bag *bag) {
    const size_t length = strlen(prefix);
    bag->reader = r->context;
    for (int64_t k = 0; k < r->tensor_count; k++) {
        mg_stored_tensor *t = &r->tensors[k];
        const char *name = t->name + length;
        void *to;
        if (strncmp(t->name, prefix, length) != 0) continue;
        if (strlen(name) >= sizeof bag->tensors[0].name || bag->count == MG_MAX_TENSORS)
            return mg_fail_stored(r, "its part %s has more, or longer named, tensors than a model",
                                  prefix);
        t->taken = true;
        if (borrow && borrow_tensor(r, t, name, bag)) continue;
        MG_TRY(mg_bag_add(bag, name, t->type, t->shape[0], t->dimensions == 2 ? t->shape[1] : 0,
                          &to, r->error));
        MG_TRY(copy_tensor(r, t, to));
    }
    return MARGIN_OK;
}

static margin_status check_all_taken(const mg_store_reader *r) {
    for (int64_t k = 0; k < r->tensor_count; k++)
        if (!r->tensors[k].taken)
            return mg_fail_stored(r, "no part of the model has a tensor %s", r->tensors[k].name);
    return MARGIN_OK;
}

/* ---- Spec and stages ------------------------------------------------------------------------- */

/* Runs the parser; what it says is about the file. */
static margin_status parse_spec(const mg_store_reader *r, const char *text, margin_spec **spec) {
    const char *writer = mg_store_metadata(r, "margin_version");
    margin_error found = {.text = ""};
    const margin_status status = mg_spec_parse(r->heap, text, spec, &found);
    if (status == MARGIN_ERROR_SPEC && strcmp(writer, margin_version()) != 0)
        return mg_fail_stored(
            r,
            "margin %s wrote it, and this is margin %s, which does not know its "
            "spec: %s; a margin of that version reads it, or train again with this one",
            mg_excerpt(writer, (int64_t)strlen(writer)).text, margin_version(), found.text);
    if (status == MARGIN_ERROR_SPEC)
        return mg_fail_stored(r, "its spec is not valid: %s", found.text);
    if (status < 0 && r->error) *r->error = found;
    return status;
}

static margin_status read_spec(const mg_store_reader *r, margin_model *model, margin_spec **spec) {
    const char *text = mg_store_metadata(r, "spec");
    if (!text) return mg_fail_stored(r, "it does not say what the model was trained as");
    MG_TRY(parse_spec(r, text, spec));
    if (margin_spec_variants(*spec) != 1 || strcmp(margin_spec_text(*spec), text) != 0)
        return mg_fail_stored(r, "its spec is not in canonical form");
    model->learner = mg_spec_learner(*spec)->learner;
    return mg_take_text(r->heap, text, -1, "the spec of a model", &model->spec, r->error);
}

static margin_status parse_stage(const mg_store_reader *r, const json_t *entry,
                                 const mg_stage *expected, margin_spec **spec) {
    const char *stage;
    MG_TRY(mg_json_text(r, entry, "spec", &stage));
    MG_TRY(parse_spec(r, stage, spec));
    if (mg_spec_written(*spec) != 1 || (*spec)->variants != 1 ||
        (*spec)->components[0].stage != expected)
        return mg_fail_stored(r, "its stage %s is not the one of its spec",
                              mg_excerpt(stage, (int64_t)strlen(stage)).text);
    return MARGIN_OK;
}

/* What the spec of the model says of a stage, defaults included, is what the stage was fitted
 * with. */
static margin_status check_options(const mg_store_reader *r, const mg_spec_component *component,
                                   const mg_option_value *fitted) {
    for (int k = 0; k < component->info->option_count; k++)
        if (!mg_option_equal(&component->options[k], &fitted[k]))
            return mg_fail_stored(r, "its stage %s has another %s than its spec says",
                                  component->info->name, component->info->options[k].name);
    return MARGIN_OK;
}

static margin_status read_stage(mg_store_reader *r, const json_t *entry,
                                const mg_spec_component *component, const char *prefix,
                                mg_fitted_stage *fitted) {
    MG_OWNED(margin_spec, spec);
    int64_t columns_in;
    MG_TRY(parse_stage(r, entry, component->stage, &spec));
    MG_TRY(check_options(r, component, spec->components[0].options));
    MG_TRY(mg_json_integer(r, entry, "columns_in", 1, MOST_COLUMNS, &columns_in));
    MG_TRY(mg_fitted_stage_init(fitted, r->heap, component->stage, spec->components[0].options,
                                columns_in, r->error));
    MG_TRY(mg_json_integer(r, entry, "columns_out", 1, MOST_COLUMNS, &fitted->columns_out));
    if (json_object_get(entry, "columns"))
        MG_TRY(mg_store_read_columns(r, entry, "columns", &fitted->columns));
    MG_TRY(take_tensors(r, prefix, false, &fitted->bag));
    MG_TRY(component->stage->attach ? component->stage->attach(fitted, r->error) : MARGIN_OK);
    fitted->bag.reader = NULL;
    return MARGIN_OK;
}

static margin_status read_stages(mg_store_reader *r, const margin_spec *spec, margin_model *model) {
    const json_t *list;
    const int count = spec->component_count - 1;
    int64_t active;
    MG_TRY(mg_json_array(r, r->details, "stages", &list));
    if (json_array_size(list) != (size_t)count)
        return mg_fail_stored(r, "it has %lld stages and its spec %d",
                              (long long)json_array_size(list), count);
    MG_TRY(mg_json_integer(r, r->details, "active", 0, count, &active));
    MG_TRY(mg_model_set_stages(model, count, r->error));
    model->active = (int)active;
    for (int s = 0; s < count; s++) {
        char prefix[32];
        snprintf(prefix, sizeof prefix, "stage.%d.", s);
        MG_TRY(read_stage(r, json_array_get(list, (size_t)s), &spec->components[s], prefix,
                          &model->stages[s]));
    }
    return MARGIN_OK;
}

/* ---- Classes --------------------------------------------------------------------------------- */

static margin_status read_class_names(const mg_store_reader *r, const json_t *list, bool numeric,
                                      margin_model *model) {
    const int64_t count = (int64_t)json_array_size(list);
    MG_TRY(mg_model_set_classes(model, count, numeric, r->error));
    for (int64_t c = 0; c < count; c++) {
        const char *name = json_string_value(json_array_get(list, (size_t)c));
        if (!name) return mg_fail_stored(r, "class %lld has no name", (long long)c + 1);
        MG_TRY(mg_model_name_class(model, c, name, -1, r->error));
    }
    return MARGIN_OK;
}

static mg_stored_tensor *find_tensor(const mg_store_reader *r, const char *name) {
    for (int64_t k = 0; k < r->tensor_count; k++)
        if (strcmp(r->tensors[k].name, name) == 0) return &r->tensors[k];
    return NULL;
}

static margin_status read_classes(mg_store_reader *r, margin_model *model) {
    const json_t *names = json_object_get(r->details, "classes");
    mg_stored_tensor *values = find_tensor(r, "class_values");
    if (!json_is_array(names)) {
        MG_TRY(mg_json_integer(r, r->details, "classes", 0, INT32_MAX, &model->classes));
        return MARGIN_OK;
    }
    MG_TRY(read_class_names(r, names, values != NULL, model));
    if (!values) return MARGIN_OK;
    if (values->type != MARGIN_F64 || values->dimensions != 1 || values->shape[0] != model->classes)
        return mg_fail_stored(r, "its class values do not fit its classes");
    values->taken = true;
    return copy_tensor(r, values, model->class_values);
}

/* ---- The model ------------------------------------------------------------------------------- */

static margin_status read_hypothesis(mg_store_reader *r, margin_model *model) {
    const json_t *entry;
    const char *name;
    int64_t columns, functions;
    MG_TRY(mg_json_object(r, r->details, "hypothesis", &entry));
    MG_TRY(mg_json_text(r, entry, "kind", &name));
    const mg_hypothesis_kind *kind = mg_hypothesis_kind_find(name);
    if (!kind)
        return mg_fail_stored(r, "this version knows no model of the kind %s",
                              mg_excerpt(name, (int64_t)strlen(name)).text);
    MG_TRY(mg_json_integer(r, entry, "columns", 1, MOST_COLUMNS, &columns));
    MG_TRY(mg_json_integer(r, entry, "functions", 1, INT32_MAX, &functions));
    MG_TRY(mg_hypothesis_new(r->heap, kind, columns, functions, &model->hypothesis, r->error));
    MG_TRY(take_tensors(r, "hypothesis.", true, &model->hypothesis->bag));
    if (kind == &mg_hypothesis_expansion)
        mg_expansion_function(model->hypothesis, r->context->options.kernel,
                              r->context->options.kernel_user);
    MG_TRY(mg_hypothesis_attach(model->hypothesis, r->error));
    model->hypothesis->bag.reader = NULL;
    return MARGIN_OK;
}

/* A bare index is stored as a model, but has nothing to answer with. */
static margin_status hand_out(margin_model *made, const char *name, margin_model **model,
                              margin_error *error) {
    const mg_hypothesis *h = made->hypothesis;
    if (h->kind == &mg_hypothesis_neighbors && !mg_bag_find(&h->bag, "class") &&
        !mg_bag_find(&h->bag, "value")) {
        margin_model_free(made);
        return mg_fail(error, MARGIN_ERROR_MODEL,
                       "%s holds an index of neighbours without targets and is no model that "
                       "predicts; margin_neighbors_load reads it, and a fit of knn has targets",
                       name);
    }
    *model = made;
    return MARGIN_OK;
}

static margin_status decode(margin_context *context, const char *name, const void *bytes,
                            int64_t length, bool keeps, bool nested, margin_model **model,
                            margin_error *error);

/* The fits to the folds are models within the model, and hold no others. */
static margin_status read_folds(const mg_store_reader *r, margin_model *model) {
    mg_additions *a = model->additions;
    if (!a->fold) return MARGIN_OK;
    MG_NEW_ZERO(r->heap, a->models, a->fold_count, "the folds", r->error);
    for (int64_t k = 0; k < a->fold_count; k++) {
        margin_model *fold = NULL;
        MG_TRY(decode(r->context, "a fold of the model", a->model_bytes + a->model_starts[k],
                      a->model_starts[k + 1] - a->model_starts[k], false, true, &fold, r->error));
        MG_TRY(hand_out(fold, "a fold of the model", &a->models[k], r->error));
        MG_TRY(mg_additions_check_fold(model, a->models[k], r->error));
    }
    return MARGIN_OK;
}

static margin_status read_additions(mg_store_reader *r, margin_model *model) {
    bool any = false;
    for (int64_t k = 0; k < r->tensor_count && !r->nested; k++)
        any |= strncmp(r->tensors[k].name, "addition.", 9) == 0;
    if (!any) return MARGIN_OK;
    MG_TRY(mg_additions_new(r->heap, &model->additions, r->error));
    MG_TRY(take_tensors(r, "addition.", false, &model->additions->bag));
    MG_TRY(mg_additions_attach(model, r->error));
    model->additions->bag.reader = NULL;
    return read_folds(r, model);
}

static margin_status read_kind(const mg_store_reader *r, margin_model *model) {
    int task, decision;
    MG_TRY(mg_json_word(r, r->details, "task", mg_store_tasks, MG_LENGTH(mg_store_tasks), &task));
    MG_TRY(mg_json_word(r, r->details, "decision", mg_store_decisions,
                        MG_LENGTH(mg_store_decisions), &decision));
    model->task = model->report.task = (margin_task)(task + 1);
    model->decision = (mg_decision)(decision + 1);
    return MARGIN_OK;
}

/* Of an svmlight file also what its indices counted from. */
static margin_status read_inputs(const mg_store_reader *r, margin_model *model) {
    int64_t base;
    MG_TRY(mg_store_read_columns(r, r->details, "inputs", &model->inputs));
    if (!json_object_get(r->details, "index_base")) return MARGIN_OK;
    MG_TRY(mg_json_integer(r, r->details, "index_base", 0, 1, &base));
    for (int64_t j = 0; j < model->inputs.count; j++)
        model->inputs.items[j].index_base = base ? 1 : -1;
    return MARGIN_OK;
}

static margin_status read_parts(mg_store_reader *r, const margin_spec *spec, margin_model *model) {
    MG_TRY(read_kind(r, model));
    MG_TRY(read_classes(r, model));
    MG_TRY(mg_store_read_columns(r, r->details, "target", &model->target));
    MG_TRY(read_inputs(r, model));
    MG_TRY(read_stages(r, spec, model));
    MG_TRY(read_hypothesis(r, model));
    MG_TRY(mg_store_read_report(r, r->details, &model->report));
    MG_TRY(read_additions(r, model));
    MG_TRY(check_all_taken(r));
    MG_TRY(mg_model_check(model, mg_spec_learner(spec), r->error));
    return mg_model_make_inner(model, r->error);
}

/* Errors of parts that know nothing of files get the file's name before them. */
static margin_status name_file(const mg_store_reader *r, margin_status status) {
    static const char said[] = " is not a usable model file: ";
    const size_t length = strlen(r->name);
    if (status != MARGIN_ERROR_MODEL || !r->error) return status;
    const bool named = strncmp(r->error->text, r->name, length) == 0 &&
                       strncmp(r->error->text + length, said, strlen(said)) == 0;
    return named ? status : mg_fail_stored(r, "%s", r->error->text);
}

static margin_status decode(margin_context *context, const char *name, const void *bytes,
                            int64_t length, bool keeps, bool nested, margin_model **model,
                            margin_error *error) {
    mg_store_reader r = {.context = context,
                         .heap = context->heap,
                         .nested = nested,
                         .name = name,
                         .bytes = bytes,
                         .length = length,
                         .keeps = keeps,
                         .error = error};
    margin_model *made = NULL;
    margin_spec *spec = NULL;
    margin_status status;
    MG_GO(mg_store_read_header(&r));
    MG_GO(mg_model_new(context->heap, &made, error));
    MG_GO(read_spec(&r, made, &spec));
    MG_GO(read_parts(&r, spec, made));
    *model = made;
    made = NULL;
done:
    margin_spec_free(spec);
    margin_model_free(made);
    mg_store_reader_free(&r);
    return status < 0 ? name_file(&r, status) : MARGIN_OK;
}

margin_status mg_store_decode(margin_context *context, const void *bytes, int64_t length,
                              margin_model **model, margin_error *error) {
    MG_REQUIRE((bytes || length == 0) && length >= 0, error, MARGIN_ERROR_ARGUMENT,
               "the bytes of the model are NULL or have a negative length");
    return decode(context, "the model", bytes, length, false, false, model, error);
}

margin_status margin_model_decode(margin_context *context, const void *bytes, int64_t length,
                                  margin_model **model, margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {model, "place for the model"});
    margin_model *made = NULL;
    MG_TRY(mg_store_decode(context, bytes, length, &made, error));
    return hand_out(made, "the model", model, error);
}

margin_status mg_store_load(margin_context *context, const char *path, bool mapped,
                            margin_model **model, margin_error *error) {
    mg_source *source = NULL;
    margin_model *made = NULL;
    MG_NEW(context->heap, source, 1, "reading a model", error);
    margin_status status = mg_source_open(context, path, mg_store_look, source, error);
    if (status < 0) {
        mg_free(context->heap, source);
        return status;
    }
    status =
        decode(context, source->name, source->text, source->length, mapped, false, &made, error);
    if (status >= 0) status = mg_source_unchanged(source, error);
    if (made && mapped) {
        made->mapped = source;
    } else {
        mg_source_close(source);
        mg_free(context->heap, source);
    }
    if (status < 0)
        margin_model_free(made);
    else
        *model = made;
    return status < 0 ? status : MARGIN_OK;
}

static margin_status load_model(margin_context *context, const char *path, bool mapped,
                                margin_model **model, margin_error *error) {
    MG_GIVEN(error, {context, "context"}, {path, "path"}, {model, "place for the model"});
    margin_model *made = NULL;
    MG_TRY(mg_store_load(context, path, mapped, &made, error));
    return hand_out(made, path, model, error);
}

margin_status margin_model_load(margin_context *context, const char *path, margin_model **model,
                                margin_error *error) {
    return load_model(context, path, false, model, error);
}

margin_status margin_model_map(margin_context *context, const char *path, margin_model **model,
                               margin_error *error) {
    return load_model(context, path, true, model, error);
}
