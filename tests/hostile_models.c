#include "hostile_models.h"

#include "model/store/store.h"

#include <stdlib.h>
#include <string.h>

/* ---- Honest models --------------------------------------------------------------------------- */

static bool clusters(const margin_component *learner) {
    return (learner->abilities &
            (MARGIN_CAN_TWO_CLASS | MARGIN_CAN_MULTICLASS | MARGIN_CAN_REGRESSION)) == 0;
}

static hostile_target target_of(const margin_component *learner, int number) {
    if (clusters(learner)) return NO_TARGET;
    if (learner->abilities & (MARGIN_CAN_TWO_CLASS | MARGIN_CAN_MULTICLASS))
        return number % 2 ? THREE_NAMES : TWO_CLASSES;
    return number % 3 == 0 && (learner->abilities & MARGIN_CAN_TARGETS) ? TWO_VALUES : VALUES;
}

/* Options that keep small what would be large. */
static const char *small_options(const char *name) {
    static const char *const known[][2] = {{"fourier", "(features=8)"},
                                           {"kmeans", "(k=3)"},
                                           {"knn", "(k=3)"},
                                           {"perceptron", "(passes=9)"},
                                           {"rbf", "(centres=3)"}};
    for (int k = 0; k < MG_LENGTH(known); k++)
        if (strcmp(known[k][0], name) == 0) return known[k][1];
    return "";
}

static const hostile_case special[] = {
    {"naive-bayes", THREE_NAMES, true, 0},
    {"impute | naive-bayes(unseen=error)", TWO_CLASSES, true, 0},
    {"onehot | logistic", THREE_NAMES, true, 0},
    {"poly(degree=3) | naive-bayes(distribution=bernoulli)", TWO_CLASSES, false, 0},
    {"onehot(columns=\"3\") | onehot | naive-bayes(bernoulli=\"x1\")", TWO_CLASSES, false, 0},
    {"naive-bayes(categorical=\"x3\", priors=\"0.5 0.2 0.3\")", THREE_NAMES, false, 0},
    {"minmax | naive-bayes(distribution=multinomial, smoothing=0.5)", THREE_NAMES, false, 0},
    {"knn(radius=2, empty=prior, weights=distance)", THREE_NAMES, false, 0},
    {"knn(k=4, task=regress, method=tree)", VALUES, false, 0},
    {"knn(k=2, p=1, method=brute)", TWO_CLASSES, false, 0},
    {"least-squares", TWO_VALUES, false, 0},
    {"ridge", TWO_VALUES, false, 0},
    {"standardize(target=yes) | ridge", VALUES, false, 0},
    {"minmax | standardize | lasso", VALUES, false, 0},
    {"logistic(C=inf)", TWO_CLASSES, false, 0},
    {"logistic(multiclass=ovo)", THREE_NAMES, false, 0},
    {"logistic(multiclass=ovr)", THREE_NAMES, false, 0},
    {"svm(multiclass=argmax)", THREE_NAMES, false, 0},
    {"standardize | svm(multiclass=ovo, loss=squared-hinge)", THREE_NAMES, false, 0},
    {"softmax", THREE_NAMES, false, 0},
    {"perceptron(kernel=rbf, passes=9)", TWO_CLASSES, false, 0},
    {"minmax | perceptron(kernel=poly, passes=9)", THREE_NAMES, false, 0},
    {"perceptron(form=dual, multiclass=ovo, passes=9)", THREE_NAMES, false, 0},
    {"normalize | perceptron(multiclass=argmax, passes=9)", THREE_NAMES, false, 0},
    {"impute | onehot | standardize", NO_TARGET, true, 0},
    {"poly(degree=2) | normalize", NO_TARGET, false, 0},
    {"svm", TWO_CLASSES, false, MARGIN_CALIBRATE_SIGMOID},
    {"softmax", THREE_NAMES, false, MARGIN_CALIBRATE_ISOTONIC},
    {"logistic", THREE_NAMES, false, MARGIN_CALIBRATE_TEMPERATURE},
    {"ridge", VALUES, false, MARGIN_CALIBRATE_SIGMOID},
    {"standardize | knn(k=2, task=regress)", VALUES, false, MARGIN_CALIBRATE_SIGMOID},
};

int hostile_cases(hostile_case cases[HOSTILE_MOST]) {
    int count = 0;
    for (int s = -1; s < margin_component_count(); s++) {
        const margin_component *stage = s < 0 ? NULL : margin_component_at(s);
        if (stage && stage->kind != MARGIN_STAGE) continue;
        for (int l = 0; l < margin_component_count(); l++) {
            const margin_component *learner = margin_component_at(l);
            if (learner->kind != MARGIN_LEARNER || count == HOSTILE_MOST) continue;
            hostile_case *c = &cases[count];
            *c = (hostile_case){.target = target_of(learner, count)};
            snprintf(c->spec, sizeof c->spec, "%s%s%s%s%s", stage ? stage->name : "",
                     stage ? small_options(stage->name) : "", stage ? " | " : "", learner->name,
                     small_options(learner->name));
            count++;
        }
    }
    for (int k = 0; k < MG_LENGTH(special) && count < HOSTILE_MOST; k++)
        cases[count++] = special[k];
    return count;
}

/* ---- Data ------------------------------------------------------------------------------------ */

/* Rows for columns, and targets. */
void hostile_data_free(hostile_data *set) {
    free(set->x);
    free(set->y);
    free((void *)set->names);
}

static double value_at(const margin_column *column, int64_t i, int64_t j) {
    if (column && column->kind == MARGIN_CATEGORICAL)
        return column->category_count > 0 ? (double)((i * 5 + j) % column->category_count) : 0.0;
    return (double)((i * (2 * j + 3) + i * i % 5 + j) % 7) + 0.125 * (double)(i % 3);
}

/* False: the columns are too many, or there is no memory. */
static bool make_data(const margin_column *columns, int64_t n, int64_t targets, hostile_data *set) {
    enum { MOST = 1 << 16 };
    memset(set, 0, sizeof *set);
    if (n > MOST / HOSTILE_ROWS || targets > MOST / HOSTILE_ROWS) return false;
    set->x = malloc(sizeof *set->x * (size_t)n * HOSTILE_ROWS);
    set->y = calloc((size_t)targets * HOSTILE_ROWS + 1, sizeof *set->y);
    if (!set->x || !set->y) return false;
    for (int64_t i = 0; i < HOSTILE_ROWS; i++)
        for (int64_t j = 0; j < n; j++)
            set->x[i * n + j] = value_at(columns ? &columns[j] : NULL, i, j);
    for (int64_t k = 0; k < targets * HOSTILE_ROWS; k++)
        set->y[k] = (double)(k * 3 % 11) - 0.5 * (double)(k % 4);
    set->data =
        (margin_data){.x = margin_dense_f64(set->x, HOSTILE_ROWS, n, n), .columns = columns};
    if (targets == 0) return true;
    set->data.y = margin_values_f64(set->y, targets * HOSTILE_ROWS);
    if (targets > 1) set->data.targets = targets;
    return true;
}

/* Turns the targets into `count` classes: names where they are given, else numbers. */
static void make_classes(hostile_data *set, const char *const *names, int64_t count,
                         const double *numbers) {
    for (int64_t i = 0; i < HOSTILE_ROWS && count > 0; i++) {
        const int64_t c = (i + i / 3 + (i == 7)) % count;
        set->y[i] = numbers ? numbers[c] : (double)c;
    }
    if (numbers) return;
    set->target = (margin_column){
        .name = "y", .kind = MARGIN_CATEGORICAL, .categories = names, .category_count = count};
    set->data.target = &set->target;
}

static const char *const colours[] = {"blue", "green", "red"};
static const margin_column plain_columns[] = {{.name = "x1"}, {.name = "x2"}, {.name = "x3"}};
static const margin_column named_columns[] = {
    {.name = "x1"},
    {.name = "x2"},
    {.name = "x3", .kind = MARGIN_CATEGORICAL, .categories = colours, .category_count = 3}};

/* Everything that can be added to a model of that kind. */
static margin_status promise(margin_context *context, const hostile_case *c,
                             const margin_data *data, margin_model **model, margin_error *error) {
    static const double costs[9] = {0, 1, 2, 3, 0, 1, 2, 3, 0};
    const bool numbers = c->target == VALUES;
    margin_promise_options o = {.size = sizeof o,
                                .calibrate = numbers ? MARGIN_CALIBRATE_NONE : c->promise,
                                .coverage = 0.5,
                                .threshold = c->target == TWO_CLASSES ? 0.25 : 0,
                                .costs = c->target == THREE_NAMES ? costs : NULL,
                                .cost_count = 9,
                                .folds = 3};
    margin_model *promised;
    const margin_status status = margin_promise(context, *model, data, &o, &promised, error);
    margin_model_free(*model);
    *model = status < 0 ? NULL : promised;
    return status;
}

margin_status hostile_train(margin_context *context, const hostile_case *c, margin_model **model,
                            margin_error *error) {
    static const char *const animals[] = {"ant", "bee", "cat"};
    static const double labels[] = {-1, 5};
    const int64_t targets = c->target == NO_TARGET ? 0 : c->target == TWO_VALUES ? 2 : 1;
    hostile_data set;
    margin_spec *spec = NULL;
    if (!make_data(c->named ? named_columns : plain_columns, 3, targets, &set)) {
        hostile_data_free(&set);
        return MARGIN_ERROR_MEMORY;
    }
    if (c->target == TWO_CLASSES) make_classes(&set, NULL, 2, labels);
    if (c->target == THREE_NAMES) make_classes(&set, animals, 3, NULL);
    margin_status status = margin_spec_parse(context, c->spec, &spec, error);
    if (status >= 0) status = margin_fit(context, spec, &set.data, model, NULL, error);
    if (status >= 0 && c->promise) status = promise(context, c, &set.data, model, error);
    margin_spec_free(spec);
    hostile_data_free(&set);
    return status;
}

bool hostile_data_of(const margin_model *model, hostile_data *set) {
    int64_t n;
    const margin_column *columns = margin_model_columns(model, &n);
    const int64_t classes = margin_model_class_count(model);
    const int64_t targets = margin_model_task(model) == MARGIN_CLUSTER
                                ? 0
                                : MG_MAX(margin_model_target_count(model), 1);
    double numbers[64];
    bool numeric = classes <= MG_LENGTH(numbers);
    if (!make_data(columns, n, targets, set)) return false;
    if (margin_model_task(model) != MARGIN_CLASSIFY) return true;
    set->names = calloc((size_t)classes, sizeof *set->names);
    if (!set->names) return false;
    for (int64_t c = 0; c < classes; c++) {
        const char *name = set->names[c] = margin_model_class_name(model, c);
        numeric = numeric && margin_number_parse_f64(name, strlen(name), &numbers[c]);
    }
    make_classes(set, set->names, classes, numeric ? numbers : NULL);
    return true;
}

/* ---- Changing files -------------------------------------------------------------------------- */

static uint32_t choose(hostile_choices *choices, uint32_t count) {
    uint32_t value = 0;
    for (int k = 0; k < 2 && choices->count > 0; k++, choices->count--)
        value = value << 8 | *choices->bytes++;
    return count > 0 ? value % count : 0;
}

static size_t header_length(const hostile_file *file) {
    uint64_t length = 0;
    for (int k = 7; k >= 0; k--)
        length = length << 8 | file->bytes[k];
    return (size_t)length;
}

/* A file of this header and the data of `file`, with room for `more` bytes behind, sealed. */
static hostile_file with_room(const hostile_file *file, const char *text, size_t length,
                              size_t more) {
    const size_t old = header_length(file), data = (size_t)file->length - 8 - old;
    hostile_file made = {calloc(8 + length + data + more + 1, 1),
                         (int64_t)(8 + length + data + more)};
    if (!made.bytes) return (hostile_file){0};
    for (int k = 0; k < 8; k++)
        made.bytes[k] = (unsigned char)(length >> (8 * k) & 255);
    memcpy(made.bytes + 8, text, length);
    memcpy(made.bytes + 8 + length, file->bytes + 8 + old, data);
    mg_store_seal(made.bytes, made.length);
    return made;
}

static hostile_file with_header(const hostile_file *file, const char *text, size_t length) {
    return with_room(file, text, length, 0);
}

hostile_file hostile_replace(const hostile_file *file, const char *from, const char *to) {
    const size_t length = header_length(file);
    char *text = calloc(length + 1, 1), *made = malloc(length + strlen(to) + 1);
    hostile_file out = {0};
    if (text && made) {
        memcpy(text, file->bytes + 8, length);
        const char *found = strstr(text, from);
        if (found) {
            const size_t before = (size_t)(found - text);
            memcpy(made, text, before);
            strcpy(made + before, to);
            strcat(made, found + strlen(from));
            out = with_header(file, made, strlen(made));
        }
    }
    free(made);
    free(text);
    return out;
}

/* Entries of the description, all levels. */
typedef struct entries {
    json_t *parents[512];
    const char *keys[512]; /* NULL: an item of a list */
    size_t indices[512];
    uint32_t count;
} entries;

static void add_entry(entries *e, json_t *parent, const char *key, size_t index) {
    if (e->count == MG_LENGTH(e->parents)) return;
    e->parents[e->count] = parent;
    e->keys[e->count] = key;
    e->indices[e->count++] = index;
}

static void list_entries(json_t *value, entries *e) {
    const char *key;
    json_t *item;
    size_t index;
    json_object_foreach(value, key, item) {
        add_entry(e, value, key, 0);
        list_entries(item, e);
    }
    json_array_foreach(value, index, item) {
        add_entry(e, value, NULL, index);
        list_entries(item, e);
    }
}

static json_t *changed_integer(json_int_t old, hostile_choices *choices) {
    static const json_int_t others[] = {0, 1, 2, 3, 4, 6, -1, 1000000000, INT64_MAX};
    const uint32_t way = choose(choices, MG_LENGTH(others) + 2);
    if (way < MG_LENGTH(others)) return json_integer(others[way]);
    return json_integer(way % 2 ? old - 1 : old == INT64_MAX ? 0 : old + 1);
}

static json_t *changed_text(hostile_choices *choices) {
    static const char *const words[] = {
        "classify", "regress", "cluster",   "sign",      "argmax",    "votes",  "value",
        "linear",   "bayes",   "expansion", "neighbors", "centres",   "0",      "1",
        "-1",       "2",       "nan",       "inf",       "1e300",     "-1e-30", "x1",
        "poly",     "onehot",  "minmax",    "impute",    "normalize", "rbf",    "standardize"};
    return json_string(words[choose(choices, MG_LENGTH(words))]);
}

/* An entry gets another value of its type, goes, or comes twice. */
static void change_entry(json_t *details, hostile_choices *choices) {
    entries e = {.count = 0};
    list_entries(details, &e);
    if (e.count == 0) return;
    const uint32_t at = choose(choices, e.count);
    json_t *parent = e.parents[at], *made = NULL;
    json_t *old =
        e.keys[at] ? json_object_get(parent, e.keys[at]) : json_array_get(parent, e.indices[at]);
    if (json_is_integer(old)) made = changed_integer(json_integer_value(old), choices);
    if (json_is_string(old)) made = changed_text(choices);
    if (json_is_array(old) && json_array_size(old) > 0 && choose(choices, 2)) {
        made = json_deep_copy(old);
        json_array_append_new(made, json_deep_copy(json_array_get(
                                        old, choose(choices, (uint32_t)json_array_size(old)))));
    }
    if (made && e.keys[at])
        json_object_set_new(parent, e.keys[at], made);
    else if (made)
        json_array_set_new(parent, e.indices[at], made);
    else if (e.keys[at])
        json_object_del(parent, e.keys[at]);
    else
        json_array_remove(parent, e.indices[at]);
}

static void change_spec(json_t *metadata, hostile_choices *choices) {
    static const char *const tails[] = {
        "",        "(k=3)",          "(multiclass=argmax)", "(multiclass=ovo)", "(kernel=rbf)",
        "(C=inf)", "(task=regress)", "(form=dual)",         "(smoothing=2)",    "(radius=1)"};
    char text[HOSTILE_SPEC];
    const char *spec = json_string_value(json_object_get(metadata, "spec"));
    const char *last = spec ? strrchr(spec, '|') : NULL;
    const int kept = last && choose(choices, 4) ? (int)(last - spec) + 2 : 0;
    const margin_component *component;
    do
        component = margin_component_at((int)choose(choices, (uint32_t)margin_component_count()));
    while (component->kind != MARGIN_LEARNER && choices->count > 0);
    snprintf(text, sizeof text, "%.*s%s%s", kept, spec ? spec : "", component->name,
             tails[choose(choices, 3) ? 0 : choose(choices, MG_LENGTH(tails))]);
    json_object_set_new(metadata, "spec", json_string(text));
}

static json_t *tensor_at(json_t *header, uint32_t number, const char **name) {
    json_t *item;
    json_object_foreach(header, *name, item) {
        if (strcmp(*name, "__metadata__") != 0 && number-- == 0) return item;
    }
    return NULL;
}

/* Two tensors change places, or one its shape or type. */
static void change_tensor(json_t *header, hostile_choices *choices) {
    const uint32_t count = (uint32_t)json_object_size(header) - 1;
    static const char *const types[] = {"F64", "I64", "F32", "I32", "U8"};
    const char *a, *b;
    json_t *first = tensor_at(header, choose(choices, count), &a);
    json_t *second = tensor_at(header, choose(choices, count), &b);
    if (!first || !second) return;
    json_t *shape = json_object_get(first, "shape");
    switch (choose(choices, 4)) {
    case 0:
        json_incref(first);
        json_incref(second);
        json_object_set_new(header, a, second);
        json_object_set_new(header, b, first);
        return;
    case 1:
        json_object_set_new(first, "dtype", json_string(types[choose(choices, 5)]));
        return;
    case 2:
        json_array_append_new(shape, json_integer(1));
        return;
    default:
        if (json_array_size(shape) == 2) {
            json_t *rows = json_incref(json_array_get(shape, 0));
            json_array_set(shape, 0, json_array_get(shape, 1));
            json_array_set_new(shape, 1, rows);
        }
    }
}

static hostile_file change_number(const hostile_file *file, hostile_choices *choices) {
    static const uint64_t strange[] = {0,
                                       0x3ff0000000000000,
                                       0xbff0000000000000,
                                       0x7ff8000000000000,
                                       0x7ff0000000000000,
                                       0x7fe1ccf385ebc8a0,
                                       3,
                                       UINT64_MAX,
                                       0x7fffffffffffffff};
    hostile_file made = with_header(file, (const char *)file->bytes + 8, header_length(file));
    if (!made.bytes) return made;
    const int64_t first = 8 + (int64_t)header_length(file), numbers = (made.length - first) / 8;
    if (numbers > 0)
        memcpy(made.bytes + first + 8 * (int64_t)choose(choices, (uint32_t)numbers),
               &strange[choose(choices, MG_LENGTH(strange))], 8);
    mg_store_seal(made.bytes, made.length);
    return made;
}

hostile_file hostile_change(const hostile_file *file, hostile_choices *choices) {
    const uint32_t way = choose(choices, 8);
    hostile_file made = {0};
    if (way == 0) return change_number(file, choices);
    json_t *header = json_loadb((const char *)file->bytes + 8, header_length(file), 0, NULL);
    json_t *metadata = json_object_get(header, "__metadata__");
    json_t *details = json_loads(json_string_value(json_object_get(metadata, "model")), 0, NULL);
    if (way == 1) change_tensor(header, choices);
    if (way == 2 || way == 3) change_spec(metadata, choices);
    if (way > 3) change_entry(details, choices);
    char *inner = json_dumps(details, JSON_COMPACT);
    json_object_set_new(metadata, "model", json_string(inner));
    char *outer = json_dumps(header, JSON_COMPACT);
    if (outer) made = with_header(file, outer, strlen(outer));
    free(outer);
    free(inner);
    json_decref(details);
    json_decref(header);
    return made;
}

/* ---- Adding to files ------------------------------------------------------------------------- */

hostile_file hostile_add(const hostile_file *file, const char *name, const char *type, int64_t rows,
                         int64_t columns, const void *numbers, int64_t count) {
    const int64_t size = strcmp(type, "U8") == 0 ? 1 : strchr(type, '3') ? 4 : 8;
    const int64_t bytes = rows * MG_MAX(columns, 1) * size;
    const int64_t first = file->length - 8 - (int64_t)header_length(file);
    json_t *header = json_loadb((const char *)file->bytes + 8, header_length(file), 0, NULL);
    json_t *shape = columns ? json_pack("[II]", (json_int_t)rows, (json_int_t)columns)
                            : json_pack("[I]", (json_int_t)rows);
    json_object_set_new(header, name,
                        json_pack("{s:s,s:o,s:[II]}", "dtype", type, "shape", shape, "data_offsets",
                                  (json_int_t)first, (json_int_t)(first + bytes)));
    char *text = json_dumps(header, JSON_COMPACT);
    hostile_file made = {0};
    if (text) made = with_room(file, text, strlen(text), (size_t)bytes);
    for (int64_t k = 0; made.bytes && k < bytes; k++)
        made.bytes[made.length - bytes + k] = ((const unsigned char *)numbers)[k % (count * size)];
    if (made.bytes) mg_store_seal(made.bytes, made.length);
    free(text);
    json_decref(header);
    return made;
}

/* Puts it in the place of `file`. */
static void add(hostile_file *file, const char *name, const char *type, int64_t rows,
                int64_t columns, const void *numbers, int64_t count) {
    const hostile_file made = hostile_add(file, name, type, rows, columns, numbers, count);
    free(file->bytes);
    *file = made;
}

static void add_calibration(hostile_file *file, int64_t curves, hostile_choices *choices) {
    static const double lines[] = {1, -0.5, 0, 3}, factors[] = {0.5, 0, 1e300, -1},
                        knots[] = {-1, 0.25, 1, 0.75};
    int64_t starts[16] = {0};
    for (int k = 1; k < MG_LENGTH(starts); k++)
        starts[k] = 2 * k;
    switch (choose(choices, 3)) {
    case 0:
        add(file, "addition.sigmoid", "F64", curves, 2, lines, 4);
        return;
    case 1:
        add(file, "addition.inverse_temperature", "F64", 1, 0, &factors[choose(choices, 4)], 1);
        return;
    default:
        add(file, "addition.knots", "F64", 2 * curves, 2, knots, 4);
        add(file, "addition.knot_starts", "I64", curves + 1, 0, starts, MG_LENGTH(starts));
    }
}

static void add_decision(hostile_file *file, int64_t classes, hostile_choices *choices) {
    static const double thresholds[] = {0.25, 1, 0, 7}, costs[] = {0, 1, -3};
    if (choose(choices, 2))
        add(file, "addition.threshold", "F64", 1, 0, &thresholds[choose(choices, 4)], 1);
    else
        add(file, "addition.costs", "F64", classes, classes, costs, 3);
}

/* width: of a row that is left out, as the model's columns have it, or as its inputs have it. */
static void add_coverage(hostile_file *file, const hostile_file *other, int64_t width,
                         hostile_choices *choices) {
    static const double levels[] = {0.5, 0.75, 0.25, 0.999999, 1e-12}, residuals[] = {0.5, 2, 0, 1},
                        weights[] = {1, -1, 3};
    const int64_t rows = 3 + 4 * (int64_t)choose(choices, 2), length = other->length;
    const int64_t starts[] = {0, length, 2 * length};
    static const int32_t fold[] = {0, 1};
    const bool folds = choose(choices, 2);
    add(file, "addition.coverage", "F64", 1, 0, &levels[choose(choices, 5)], 1);
    add(file, "addition.residuals", "F64", rows, 0, residuals, 4);
    if (!folds) {
        add(file, "addition.left_out", "F64", rows, width, weights, 3);
        return;
    }
    add(file, "addition.fold", "I32", rows, 0, fold, 2);
    add(file, "addition.model_starts", "I64", 3, 0, starts, 3);
    add(file, "addition.models", "U8", 2 * length, 0, other->bytes, length);
}

hostile_file hostile_promise(const hostile_file *file, const hostile_file *other,
                             hostile_choices *choices) {
    hostile_file made = with_header(file, (const char *)file->bytes + 8, header_length(file));
    json_t *header = json_loadb((const char *)file->bytes + 8, header_length(file), 0, NULL);
    const char *text =
        json_string_value(json_object_get(json_object_get(header, "__metadata__"), "model"));
    json_t *details = json_loads(text ? text : "{}", 0, NULL);
    const json_t *classes = json_object_get(details, "classes");
    const int64_t inputs = (int64_t)json_integer_value(json_object_get(details, "inputs"));
    const int64_t columns = (int64_t)json_integer_value(
        json_object_get(json_object_get(details, "hypothesis"), "columns"));
    const int64_t count =
        MG_MAX(json_is_array(classes) ? (int64_t)json_array_size(classes) : 0, (int64_t)1);
    const uint32_t what = 1 + choose(choices, 7);
    if (what & 1)
        add_coverage(&made, choose(choices, 4) ? file : other,
                     (choose(choices, 4) ? columns : inputs) + 1, choices);
    if (what & 2) add_calibration(&made, count == 2 ? 1 : count, choices);
    if (what & 4) add_decision(&made, count, choices);
    json_decref(details);
    json_decref(header);
    return made;
}
