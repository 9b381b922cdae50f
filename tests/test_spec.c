/* Specs: grammar, checks, messages, canonical text, sets. */
#include "support/support.h"

#include "model/spec/spec_components.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static margin_spec *parse(const char *text) {
    margin_spec *spec = NULL;
    margin_error error = {0};
    if (margin_spec_parse(NULL, text, &spec, &error) != MARGIN_OK) fail_msg("%s", error.text);
    assert_non_null(spec);
    return spec;
}

static void assert_canonical(const char *text, const char *canonical) {
    margin_spec *spec = parse(text);
    assert_string_equal(margin_spec_text(spec), canonical);
    margin_spec_free(spec);
}

/* ---- What is accepted ------------------------------------------------------------------------ */

/* One word, two families: what the options mean, in specs of sets as well. */
static void test_learner_variants(void **state) {
    (void)state;
    const mg_learner *plain = mg_learner_find("perceptron");
    margin_spec *spec = parse("minmax | perceptron(kernel={linear,rbf})"), *one = NULL;
    const mg_learner *found[2];
    for (int64_t k = 0; k < 2; k++) {
        assert_int_equal(margin_spec_variant(spec, k, &one, NULL), MARGIN_OK);
        const mg_spec_component *learner = mg_spec_learner(one);
        found[k] = learner->learner;
        assert_ptr_equal(learner->learner, mg_learner_of(plain, learner->options));
        assert_ptr_equal(learner->info, &learner->learner->info);
        assert_ptr_equal(margin_spec_learner(one), learner->info);
        margin_spec_free(one);
    }
    margin_spec_free(spec);
    assert_ptr_equal(found[0], plain);
    assert_ptr_not_equal(found[1], plain);
    assert_string_equal(found[1]->info.name, plain->info.name);
    assert_ptr_equal(found[1]->info.options, plain->info.options);
    assert_null(found[1]->variant);
}

static void test_canonical_text(void **state) {
    (void)state;
    assert_canonical("perceptron", "perceptron");
    assert_canonical(" \t\r\n perceptron ( ) ", "perceptron");
    assert_canonical("minmax|perceptron", "minmax | perceptron");
    assert_canonical("minmax | perceptron( rate = 0.50 ,form=dual )",
                     "minmax | perceptron(form=dual, rate=0.5)");
    assert_canonical("perceptron(passes=1e3)", "perceptron(passes=1000)");
    assert_canonical("standardize(scale=0,center=true)|perceptron",
                     "standardize(center=yes, scale=no) | perceptron");
    assert_canonical("perceptron(start_weights='1, 0.5;-2')",
                     "perceptron(start_weights=\"1 0.5 -2\")");
    assert_canonical("perceptron(start_weights=3)", "perceptron(start_weights=3)");
    assert_canonical("minmax(columns='a')|perceptron", "minmax(columns=a) | perceptron");
    assert_canonical("minmax(columns='a, b')|perceptron", "minmax(columns=\"a, b\") | perceptron");
    assert_canonical("minmax(columns='a..b')|perceptron", "minmax(columns=\"a..b\") | perceptron");
    assert_canonical("minmax(columns=\"\")|perceptron", "minmax(columns=\"\") | perceptron");
    assert_canonical("minmax(columns='say \"so\" \\\\ \\'x\\'')|perceptron",
                     "minmax(columns=\"say \\\"so\\\" \\\\ 'x'\") | perceptron");
    assert_canonical("minmax(columns=gr\xc3\xb6\xc3\x9f"
                     "e)|perceptron",
                     "minmax(columns=gr\xc3\xb6\xc3\x9f"
                     "e) | perceptron");
    assert_canonical("impute(with=most-frequent)|perceptron",
                     "impute(with=most-frequent) | perceptron");
    assert_canonical("impute(with=-0)|perceptron", "impute(with=-0) | perceptron");
    assert_canonical("perceptron(sigma={0.5..2 log 3})", "perceptron(sigma={0.5..2 log 3})");
    assert_canonical("perceptron(rate={ 1 , .5 })", "perceptron(rate={1,0.5})");
    assert_canonical("perceptron(rate={1})", "perceptron(rate=1)");
    assert_canonical("minmax | minmax(low=-1) | perceptron",
                     "minmax | minmax(low=-1) | perceptron");
}

static void test_values(void **state) {
    (void)state;
    margin_spec *spec = parse("impute(with=median) | standardize(center=no, columns='a,b') | "
                              "perceptron(form=dual, rate=1e-3, passes=7, gamma=scale, "
                              "start_weights='1 -2.5')");
    assert_int_equal(spec->component_count, 3);
    assert_int_equal(spec->set_count, 0);
    assert_int_equal(margin_spec_variants(spec), 1);
    assert_ptr_equal(spec->components[0].stage, mg_stage_find("impute"));
    assert_null(spec->components[0].learner);
    const mg_spec_component *learner = mg_spec_learner(spec);
    assert_ptr_equal(learner->learner, mg_learner_find("perceptron"));
    assert_null(learner->stage);
    assert_ptr_equal(margin_spec_learner(spec), learner->info);

    const mg_option_value *with = mg_spec_option(&spec->components[0], "with");
    assert_true(with->given);
    assert_string_equal(with->text, "median");
    assert_int_equal(with->integer, 1);
    assert_true(isnan(with->number));
    assert_int_equal(mg_spec_option(&spec->components[1], "center")->integer, 0);
    assert_true(mg_spec_option(&spec->components[1], "center")->given);
    assert_int_equal(mg_spec_option(&spec->components[1], "scale")->integer, 1); /* default */
    assert_false(mg_spec_option(&spec->components[1], "scale")->given);
    assert_string_equal(mg_spec_option(&spec->components[1], "columns")->text, "a,b");
    assert_null(mg_spec_option(&spec->components[1], "no-such-option"));

    assert_int_equal(mg_spec_option(learner, "form")->integer, 1);
    assert_string_equal(mg_spec_option(learner, "form")->text, "dual");
    assert_true(mg_spec_option(learner, "rate")->number == 0.001);
    assert_int_equal(mg_spec_option(learner, "passes")->integer, 7);
    assert_true(mg_spec_option(learner, "passes")->number == 7);
    assert_string_equal(mg_spec_option(learner, "gamma")->text, "scale");
    assert_int_equal(mg_spec_option(learner, "start_weights")->count, 2);
    assert_true(mg_spec_option(learner, "start_weights")->numbers[1] == -2.5);
    const mg_option_value *sigma = mg_spec_option(learner, "sigma"); /* not given, no default */
    assert_false(sigma->given || mg_option_has_value(sigma));
    assert_true(isnan(sigma->number) && sigma->integer == -1 && !sigma->text && sigma->count == 0);
    margin_spec_free(spec);
}

/* ---- What is refused ------------------------------------------------------------------------- */

typedef struct bad_spec {
    const char *text;
    int64_t position;
    const char *part; /* of the message */
} bad_spec;

static void assert_refused(const bad_spec *bad) {
    margin_spec *spec = (margin_spec *)(uintptr_t)1;
    margin_error error = {.position = -7};
    const margin_status status = margin_spec_parse(NULL, bad->text, &spec, &error);
    if (status != MARGIN_ERROR_SPEC) fail_msg("%s: status %d", bad->text, (int)status);
    assert_ptr_equal(spec, (margin_spec *)(uintptr_t)1); /* untouched */
    assert_contains(error.text, bad->part);
    if (error.position != bad->position || error.column != bad->position + 1 || error.line != 1)
        fail_msg("%s: position %lld, column %lld: %s", bad->text, (long long)error.position,
                 (long long)error.column, error.text);
    char column[40];
    snprintf(column, sizeof column, "spec, column %lld: ", (long long)bad->position + 1);
    assert_contains(error.text, column);
}

static void test_grammar_errors(void **state) {
    (void)state;
    const bad_spec cases[] = {
        {"", 0, "the spec is empty"},
        {"   ", 3, "the spec is empty"},
        {"minmax |", 8, "a learner is missing after the last |"},
        {"| perceptron", 0, "name of a stage or learner is missing; found \"|\""},
        {"minmax || perceptron", 8, "name of a stage or learner is missing"},
        {"\"perceptron\"", 0, "name of a stage or learner is missing"},
        {"perceptron | minmax", 0, "perceptron is a learner and must come last"},
        {"perceptron | perceptron", 0, "must come last"},
        {"perceptron(rate=1", 10, "the bracket ( after perceptron is never closed"},
        {"perceptron(", 11, "the name of an option of perceptron is missing"},
        {"perceptron(rate=1,)", 18, "the name of an option of perceptron is missing"},
        {"perceptron(=1)", 11, "the name of an option of perceptron is missing"},
        {"perceptron(,)", 11, "the name of an option of perceptron is missing"},
        {"perceptron(rate=1 passes=2)", 18, "a comma or ) is missing before \"passes\""},
        {"perceptron(rate)", 15, "rate needs a value, written rate=..."},
        {"perceptron(rate=)", 16, "a value for rate of perceptron is missing"},
        {"perceptron(rate==1)", 16, "a value for rate of perceptron is missing"},
        {"perceptron)", 10, "only | and another component may follow"},
        {"perceptron rate=1", 11, "options go in brackets: perceptron(name=value)"},
        {"perceptron()()", 12, "only | and another component may follow"},
        {"logistic(C=2, class_weight=1:1,2:5, tol=1e-3)", 28,
         "put the text in quotes: logistic(C=2, class_weight=\"1:1,2:5\", tol=1e-3)"},
        {"logistic(class_weight=a:2) ", 23, "quotes: logistic(class_weight=\"a:2\") "},
        {"poly(columns=a;b", 14, "quotes: poly(columns=\"a;b\""},
        {"perceptron(rate:1)", 15, "put texts with such characters in quotes"},
        {"perceptron; minmax", 10, "the character ';' has no meaning here"},
        {"perceptron(form=\"dual)", 16, "the quote \" is never closed"},
        {"minmax(columns='a\\n')", 17, "after a backslash"},
        {"minmax(columns='a\\", 17, "after a backslash"},
        {"perc\xff"
         "eptron",
         4, "not UTF-8"},
        {"perceptron(rate=\xe2\x82)", 16, "not UTF-8"},
        {"perceptron(rate=1..2)", 17, "a comma or ) is missing before \"..\""},
        {"perceptron\x01", 10, "has no meaning"},
    };
    for (int k = 0; k < MG_LENGTH(cases); k++)
        assert_refused(&cases[k]);
}

static void test_unknown_names(void **state) {
    (void)state;
    const bad_spec cases[] = {
        {"perceptrn", 0, "no stage or learner perceptrn; did you mean perceptron?"},
        {"PERCEPTRON", 0, "did you mean perceptron?"},
        {"normalise | perceptron", 0, "did you mean normalize?"},
        {"RandomForest", 0, "RandomForest is not part of margin; learners: "},
        {"pca | svm", 0, "pca is not part of margin; learners: "},
        {"rf", 0, "rf is not part of margin; learners: "},
        {"std | perceptron", 0, "no stage or learner std; learners: "},
        {"stand | perceptron", 0, "did you mean standardize?"},
        {"minmax | quux", 9, "no stage or learner quux; learners: "},
        {"gr\xc3\xb6\xc3\x9f"
         "e",
         0,
         "gr\xc3\xb6\xc3\x9f"
         "e; learners: "},
        {"perceptron(rat=1)", 11,
         "perceptron has no option rat; did you mean rate? it takes form, "},
        {"perceptron(rate=1, krenel=rbf)", 19, "no option krenel; did you mean kernel?"},
        {"perceptron(zzz=1)", 11, "perceptron has no option zzz; it takes form, variant, order"},
        {"perceptron(form=daul)", 16,
         "form of perceptron takes primal or dual, not daul; did you "
         "mean dual?"},
        {"perceptron(form=7)", 16, "form of perceptron takes primal or dual, not 7"},
        {"perceptron(multiclass=all)", 22, "takes ovr, ovo or argmax, not all"},
    };
    for (int k = 0; k < MG_LENGTH(cases); k++)
        assert_refused(&cases[k]);
}

static void test_value_errors(void **state) {
    (void)state;
    const bad_spec cases[] = {
        {"perceptron(rate=2)", 16,
         "rate of perceptron takes a number above 0 and at most 1, not 2"},
        {"perceptron(rate=0)", 16, "above 0 and at most 1, not 0"},
        {"perceptron(rate=-0)", 16, "above 0 and at most 1, not -0"},
        {"perceptron(rate=nan)", 16, "above 0 and at most 1, not nan"},
        {"perceptron(rate=inf)", 16, "above 0 and at most 1, not inf"},
        {"perceptron(rate=abc)", 16, "above 0 and at most 1, not abc"},
        {"perceptron(rate=1x)", 16, "not 1x"},
        {"perceptron(rate='')", 16, "not \"\""},
        {"perceptron(rate=1e400)", 16, "not 1e400 (larger than any double)"},
        {"perceptron(rate=1e-400)", 16, "not 1e-400 (smaller than any double)"},
        {"perceptron(rate=0.000000000000000000000001e-400)", 16, "(smaller than any double)"},
        {"perceptron(gamma=inf)", 17, "a number above 0, or scale or median, not inf"},
        {"perceptron(gamma=scales)", 17, "did you mean scale?"},
        {"perceptron(passes=1.5)", 18, "takes a whole number from 1 to 10000000, not 1.5"},
        {"perceptron(passes=0)", 18, "from 1 to 10000000, not 0"},
        {"perceptron(passes=1e300)", 18, "from 1 to 10000000, not 1e300"},
        {"standardize(center=maybe) | perceptron", 19, "takes yes or no, not maybe"},
        {"standardize(center=2) | perceptron", 19, "takes yes or no, not 2"},
        {"perceptron(start_weights='1 x 2')", 25, "not \"x\""},
        {"perceptron(start_weights=' ,')", 25, "not \" ,\""},
        {"perceptron(start_weights='1 1e999')", 25, "(larger than any double)"},
        {"perceptron(rate=1, rate=0.5)", 19, "rate of perceptron is given twice"},
        {"perceptron(gamma=1, sigma=2)", 20, "gamma and sigma of perceptron exclude each other"},
        {"perceptron(sigma={1,2}, gamma=1)", 24,
         "sigma and gamma of perceptron exclude each other"},
    };
    for (int k = 0; k < MG_LENGTH(cases); k++)
        assert_refused(&cases[k]);
}

static void test_set_errors(void **state) {
    (void)state;
    const bad_spec cases[] = {
        {"perceptron(rate={})", 16, "the set of rate is empty"},
        {"perceptron(rate={0.1,0.2,0.10})", 25, "0.10 is in the set of rate twice"},
        {"perceptron(form={dual,primal,dual})", 29, "dual is in the set of form twice"},
        {"perceptron(rate={{1},2})", 17, "a set cannot hold another set"},
        {"perceptron(rate={1,{2}})", 19, "a value for rate of perceptron is missing"},
        {"perceptron(rate={1,})", 19, "a value for rate of perceptron is missing"},
        {"perceptron(rate={,1})", 17, "a value for rate of perceptron is missing"},
        {"perceptron(rate={1,5})", 19, "above 0 and at most 1, not 5"},
        {"perceptron(rate={1,0.5", 16, "the brace { after rate= is never closed"},
        {"perceptron(rate={1 0.5})", 19, "a comma or } is missing before \"0.5\""},
        {"perceptron(rate={0.1..1})", 23, "a range needs log or lin and a count"},
        {"perceptron(rate={0.1..1 cubic 3})", 24, "a range needs log or lin and a count"},
        {"perceptron(rate={0.1..1 lin})", 27, "ends with how many values it gives, 2 or more"},
        {"perceptron(rate={0.1..1 lin 1})", 28, "2 or more"},
        {"perceptron(rate={0.1..1 lin 2.5})", 28, "2 or more"},
        {"perceptron(rate={0.1..1 lin nan})", 28, "2 or more"},
        {"perceptron(rate={0.1..1 lin inf})", 16, "a set has at most 10000 values"},
        {"perceptron(sigma={1..2 log 1000000000})", 17, "a set has at most 10000 values"},
        {"perceptron(passes={5..2})", 18, "from a lower to a higher number; 5..2 does not"},
        {"perceptron(passes={1..20000})", 18, "a set has at most 10000 values"},
        {"perceptron(passes={0..5})", 19, "0"},
        {"perceptron(rate={1..0.1 lin 3})", 16, "from a lower to a higher number; 1..0.1 does not"},
        {"perceptron(rate={0.5..0.5 lin 3})", 16, "from a lower to a higher number"},
        {"perceptron(rate={0.1..2 lin 3})", 22, "above 0 and at most 1, not 2"},
        {"perceptron(coef0={-1..1 log 3})", 17, "a log range starts above 0"},
        {"perceptron(coef0={-1..inf lin 3})", 22, "not inf"},
        {"perceptron(form={primal..dual lin 3})", 23, "a range is made of numbers"},
        {"perceptron(gamma={scale..2 lin 3})", 23, "a range is made of numbers"},
        {"perceptron(passes={1..10 lin 20})", 18, "this range gives 1 twice"},
        {"perceptron(passes={1..9 log 20})", 18, "gives 1 twice"},
        {"perceptron(rate={0.1..1 lin 10000}, sigma={1..2 lin 10000}, passes={1..11 lin 11})", 67,
         "the sets stand for more than 1000000000 specs"},
    };
    for (int k = 0; k < MG_LENGTH(cases); k++)
        assert_refused(&cases[k]);
}

static void test_limits(void **state) {
    (void)state;
    margin_spec *spec = NULL;
    margin_error error;
    /* bytes */
    char *text = malloc((size_t)MG_SPEC_MAX_BYTES + 2);
    assert_non_null(text);
    memset(text, ' ', (size_t)MG_SPEC_MAX_BYTES + 1);
    memcpy(text, "perceptron", 10);
    text[MG_SPEC_MAX_BYTES + 1] = '\0';
    assert_int_equal(margin_spec_parse(NULL, text, &spec, &error), MARGIN_ERROR_SPEC);
    assert_contains(error.text, "longer than 1048576 bytes");
    assert_int_equal(error.position, -1);
    text[MG_SPEC_MAX_BYTES] = '\0';
    assert_int_equal(margin_spec_parse(NULL, text, &spec, &error), MARGIN_OK);
    margin_spec_free(spec);
    /* components */
    text[0] = '\0';
    for (int k = 0; k < MG_SPEC_MAX_COMPONENTS - 1; k++)
        strcat(text, "minmax|");
    strcat(text, "perceptron");
    margin_spec_free(parse(text));
    const size_t end = strlen("minmax|") * (MG_SPEC_MAX_COMPONENTS - 1);
    strcpy(text + end, "minmax|perceptron");
    assert_refused(&(bad_spec){text, (int64_t)end + 7, "at most 64 components"});
    /* one word that fills the text: messages show a part of it */
    memset(text, 'x', MG_SPEC_MAX_BYTES);
    assert_refused(&(bad_spec){text, 0, "xxx...; learners: "});
    /* values of a list: one too many */
    char *at = text + sprintf(text, "perceptron(coef0={0");
    for (int k = 1; k <= MG_SPEC_MAX_SET; k++)
        at += sprintf(at, ",%d", k);
    strcpy(at, "})");
    assert_refused(&(bad_spec){text, 17, "a set has at most 10000 values"});
    at = strrchr(text, ',');
    strcpy(at, "})");
    spec = parse(text);
    assert_int_equal(margin_spec_variants(spec), MG_SPEC_MAX_SET);
    margin_spec_free(spec);
    free(text);
}

static void test_arguments(void **state) {
    (void)state;
    margin_spec *spec = NULL;
    margin_error error;
    assert_int_equal(margin_spec_parse(NULL, NULL, &spec, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_spec_parse(NULL, "perceptron", NULL, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_spec_parse(NULL, "quux", &spec, NULL), MARGIN_ERROR_SPEC);
    assert_null(spec);
    margin_spec_free(NULL);
}

/* ---- Sets ------------------------------------------------------------------------------------ */

static void assert_variant(const margin_spec *spec, int64_t index, const char *text) {
    margin_spec *variant = NULL;
    margin_error error;
    assert_int_equal(mg_spec_variant(spec, index, &variant, &error), MARGIN_OK);
    assert_string_equal(margin_spec_text(variant), text);
    assert_int_equal(margin_spec_variants(variant), 1);
    margin_spec_free(variant);
}

static void test_variants(void **state) {
    (void)state;
    margin_spec *spec =
        parse("minmax(low={-1,0}) | perceptron(rate={0.1..1 lin 10}, form={primal,dual})");
    assert_int_equal(margin_spec_variants(spec), 40);
    assert_variant(spec, 0, "minmax(low=-1) | perceptron(form=primal, rate=0.1)");
    assert_variant(spec, 1, "minmax(low=-1) | perceptron(form=primal, rate=0.2)");
    assert_variant(spec, 10, "minmax(low=-1) | perceptron(form=dual, rate=0.1)");
    assert_variant(spec, 39, "minmax(low=0) | perceptron(form=dual, rate=1)");
    /* while a set stands for an option, its entry holds the first value */
    assert_true(mg_spec_option(&spec->components[0], "low")->number == -1);
    assert_true(mg_spec_option(mg_spec_learner(spec), "rate")->number == 0.1);
    margin_spec_free(spec);
    spec = parse("perceptron(start_weights={'1 2','3 4'}, start_intercept={0, -0})");
    assert_int_equal(margin_spec_variants(spec), 4);
    assert_variant(spec, 3, "perceptron(start_weights=\"3 4\", start_intercept=-0)");
    margin_spec_free(spec);
}

static void test_whole_range(void **state) {
    (void)state;
    margin_spec *spec = parse("perceptron(passes={3..6})"), *variant = NULL;
    margin_error error;
    assert_int_equal(margin_spec_variants(spec), 4);
    assert_string_equal(margin_spec_text(spec), "perceptron(passes={3..6})");
    for (int64_t k = 0; k < 4; k++) {
        char expected[64];
        snprintf(expected, sizeof expected, "perceptron(passes=%lld)", (long long)k + 3);
        assert_variant(spec, k, expected);
        assert_int_equal(margin_spec_variant(spec, k, &variant, &error), MARGIN_OK);
        assert_string_equal(margin_spec_text(variant), expected);
        margin_spec_free(variant);
    }
    variant = NULL;
    assert_int_equal(margin_spec_variant(spec, 4, &variant, &error), MARGIN_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "4 specs"));
    assert_int_equal(margin_spec_variant(spec, -1, &variant, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_spec_variant(NULL, 0, &variant, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_spec_variant(spec, 0, NULL, &error), MARGIN_ERROR_ARGUMENT);
    assert_null(variant);
    margin_spec_free(spec);
}

static double range_at(const char *set, int64_t k) {
    char text[200];
    snprintf(text, sizeof text, "perceptron(coef0=%s)", set);
    margin_spec *spec = parse(text);
    const double value = mg_spec_set_value(spec, &spec->sets[0], k).number;
    margin_spec_free(spec);
    return value;
}

/* Ranges hold the numbers that a person would write down, bit for bit. */
static void test_ranges(void **state) {
    (void)state;
    const double decades[] = {0.001, 0.01, 0.1, 1, 10, 100, 1000};
    for (int k = 0; k < 7; k++)
        assert_true(range_at("{1e-3..1e3 log 7}", k) == decades[k]);
    const double tenths[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1};
    for (int k = 0; k < 10; k++)
        assert_true(range_at("{0.1..1 lin 10}", k) == tenths[k]);
    const double around[] = {-0.1, 0, 0.1, 0.2};
    for (int k = 0; k < 4; k++)
        assert_true(range_at("{-0.1..0.2 lin 4}", k) == around[k]);
    for (int k = 0; k <= 10; k++)
        assert_true(range_at("{1..1024 log 11}", k) == ldexp(1, k));
    assert_true(range_at("{1e-300..1e300 log 3}", 1) == 1);
    assert_true(range_at("{1..2 log 3}", 1) == 1.414213562373); /* 13 digits */
    assert_true(range_at("{-1e308..1e308 lin 3}", 1) == 0);
    assert_true(range_at("{5e-324..1e-323 lin 2}", 1) == 1e-323);
    assert_true(range_at("{0.123456789012345678..7 lin 3}", 0) == 0.123456789012345678);

    margin_spec *spec = parse("perceptron(passes={1..100 log 5})");
    const int64_t whole[] = {1, 3, 10, 32, 100};
    for (int k = 0; k < 5; k++) {
        const mg_option_value value = mg_spec_set_value(spec, &spec->sets[0], k);
        assert_int_equal(value.integer, whole[k]);
        assert_true(value.number == (double)whole[k] && value.given);
    }
    margin_spec_free(spec);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static margin_status parse_body(margin_context *context, void *user, margin_error *error) {
    margin_spec *spec = NULL, *variant = NULL;
    margin_status status = margin_spec_parse(context, user, &spec, error);
    if (status < 0) {
        assert_null(spec);
        return status;
    }
    status = mg_spec_variant(spec, 1, &variant, error);
    margin_spec_free(variant);
    margin_spec_free(spec);
    return status;
}

static void test_failing_allocations(void **state) {
    (void)state;
    char text[] =
        "impute(with=median) | minmax(columns='a\\\"b') | perceptron(start_weights='1 2', "
        "rate={0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1}, passes={1..10 lin 3})";
    assert_true(support_fail_each_allocation(1, parse_body, text) >= 6);
}

/* A spec keeps its heap alive: the context may go first. */
static void test_outlives_context(void **state) {
    (void)state;
    support_heap heap;
    support_heap_init(&heap);
    margin_context *context = support_context(&heap, 1);
    margin_spec *spec = NULL;
    assert_int_equal(margin_spec_parse(context, "minmax | perceptron", &spec, NULL), MARGIN_OK);
    margin_context_free(context);
    assert_string_equal(margin_spec_text(spec), "minmax | perceptron");
    margin_spec_free(spec);
    support_assert_nothing_live(&heap);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canonical_text),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_grammar_errors),
        cmocka_unit_test(test_unknown_names),
        cmocka_unit_test(test_value_errors),
        cmocka_unit_test(test_set_errors),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_learner_variants),
        cmocka_unit_test(test_whole_range),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_failing_allocations),
        cmocka_unit_test(test_outlives_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
