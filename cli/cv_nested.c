/* margin cv --nested: what the choice of a setting is worth, by rows that had no part in it. */
#include "cli_search.h"

#include <math.h>

enum { USUAL_FOLDS = 5 };

int cli_nested(cli_session *session, const margin_spec *spec, const margin_data *data,
               const margin_splits *outer, margin_nested_result **found) {
    const cli_arguments *a = session->arguments;
    margin_search_options options = cli_search_options(session);
    cli_split_request asked;
    if (!a->nested) return EXIT_DONE;
    if (a->journal) return cli_usage_error(NULL, "--nested is many searches; leave out --journal");
    options.predictions = 0;
    int code = cli_split_asked(session, data, false, &asked);
    asked.options.folds = a->inner > 0 ? (int64_t)a->inner : USUAL_FOLDS;
    asked.options.repeats = 1;
    if (!code) {
        const margin_status status =
            margin_search_nested(session->context, &spec, 1, data, outer, &asked.options, &options,
                                 a->one_se, found, &session->error);
        if (status < 0)
            code = cli_failed(session, status);
        else
            cli_end_interval((*found)->metric, &(*found)->low, &(*found)->high);
    }
    cli_split_asked_free(&asked);
    return code;
}

void json_nested(cli_text *text, const margin_nested_result *found) {
    if (!found) return;
    json_open(text, "nested", '{');
    json_number(text, "mean", found->mean);
    json_number(text, "std", found->deviation);
    json_number(text, "low", found->low);
    json_number(text, "high", found->high);
    json_open(text, "over_baseline", '{');
    json_number(text, "mean", found->gain);
    json_number(text, "low", found->gain_low);
    json_number(text, "high", found->gain_high);
    json_close(text, '}');
    json_open(text, "folds", '[');
    for (int64_t k = 0; k < found->splits; k++) {
        const margin_nested_fold *fold = margin_nested_fold_at(found, k);
        json_open(text, NULL, '{');
        json_string(text, "spec", fold->spec);
        json_number(text, "value", fold->value);
        json_number(text, "inside", fold->inside);
        json_string(text, "reason", cli_in_flags(fold->reason).text);
        json_close(text, '}');
    }
    json_close(text, ']');
    json_number(text, "seconds", found->seconds);
    json_close(text, '}');
}

enum { FOLDS_SHOWN = 40 };

static void print_fold(cli_text *text, const margin_nested_fold *fold, int64_t number) {
    text_printf(text, "  %4lld", (long long)number + 1);
    if (isnan(fold->value))
        text_printf(text, " %12s", "-");
    else
        text_printf(text, " %12.6g", fold->value);
    if (isnan(fold->inside))
        text_printf(text, " %12s", "-");
    else
        text_printf(text, " %12.6g", fold->inside);
    text_printf(text, "  %s\n", fold->spec[0] ? fold->spec : "none");
    if (fold->reason[0]) text_printf(text, "%34s%s\n", "", cli_in_flags(fold->reason).text);
}

void text_nested(cli_text *text, const margin_nested_result *found) {
    if (!found) return;
    text_printf(text, "\n  fold %12s %12s  chosen inside the fold's training rows\n", found->metric,
                "inside");
    for (int64_t k = 0; k < found->splits && k < FOLDS_SHOWN; k++)
        print_fold(text, margin_nested_fold_at(found, k), k);
    if (found->splits > FOLDS_SHOWN)
        text_printf(text, "  the first %d of %lld; --json has all\n", (int)FOLDS_SHOWN,
                    (long long)found->splits);
    text_printf(text, "\nnested      %s ", found->metric);
    if (isnan(found->mean)) {
        text_puts(text, "is not known: a fold chose nothing, or its choice failed\n");
        return;
    }
    text_short(text, found->mean);
    if (!isnan(found->low))
        text_printf(text, ", 95 %% interval %.4g .. %.4g", found->low, found->high);
    text_puts(text, ": of rows that had no part in the choice\n");
}
