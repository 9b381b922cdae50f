/* What a search shows that its user should know, each with a code. */
#include "cli_search.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_allowed(const char *list, const char *code) {
    const size_t length = strlen(code);
    for (const char *at = list; at && *at; at += strcspn(at, ",") + (strchr(at, ',') != NULL))
        if (strcspn(at, ",") == length && !strncmp(at, code, length)) return true;
    return false;
}

cli_finding *cli_find(const cli_session *session, cli_findings *found, const char *code,
                      const char *remedy) {
    if (is_allowed(session->arguments->allow, code) || found->count == CLI_MOST_FINDINGS)
        return NULL;
    cli_finding *made = &found->list[found->count++];
    made->code = code;
    made->remedy = remedy;
    return made;
}

void cli_end_interval(const char *metric, double *low, double *high) {
    static const char *const losses[] = {"log_loss", "brier", "mse", "rmse", "mae", "inertia"};
    bool loss = false;
    for (size_t k = 0; k < sizeof losses / sizeof *losses; k++)
        loss = loss || strcmp(metric, losses[k]) == 0;
    const double least = strcmp(metric, "silhouette") == 0 ? -1 : 0;
    if (strcmp(metric, "r2") != 0 && *low < least) *low = least;
    if (!loss && *high > 1) *high = 1;
}

double cli_mean_of(const double *values, int64_t count) {
    double sum = 0;
    for (int64_t k = 0; k < count; k++)
        sum += values[k];
    return sum / (double)count;
}

static void look_at_gain(const cli_session *session, const margin_search_result *table,
                         const margin_search_cell *best, cli_findings *found) {
    margin_search_difference d = {.size = sizeof d};
    const double sign = table->greater ? 1 : -1;
    if (!margin_search_interval(table, best->values, table->baseline, 0.95, &d)) return;
    const double gain = sign * d.mean, least = table->greater ? d.low : -d.high;
    cli_finding *made = NULL;
    if (!(least > 0))
        made = cli_find(session, found, "no-better",
                        "other columns, another learner, or more rows; with few rows --repeat 10 "
                        "narrows the interval");
    if (made)
        snprintf(made->words, sizeof made->words,
                 "the gain over an answer that looks at no column is %.4g, with the 95 %% interval "
                 "%.4g .. %.4g",
                 gain, table->greater ? d.low : -d.high, table->greater ? d.high : -d.low);
    made = NULL;
    if (least > 0 && best->deviation > gain / 2)
        made =
            cli_find(session, found, "folds-disagree",
                     "look whether rows belong together (--groups) or follow a time (--time), and "
                     "--repeat the folds");
    if (made)
        snprintf(made->words, sizeof made->words,
                 "the folds differ by %.4g (std), more than half of the gain of %.4g over an "
                 "answer that looks at no column",
                 best->deviation, gain);
    made = NULL;
    const double training =
        best->training ? cli_mean_of(best->training, table->splits) : (double)NAN;
    const double lost = sign * (training - best->mean);
    if (lost > 2 * best->deviation && lost > gain / 10)
        made = cli_find(session, found, "overfit",
                        "a stronger penalty, more neighbours, a lower degree, or more rows");
    if (made)
        snprintf(made->words, sizeof made->words,
                 "%s is %.4g on the rows that were learned from and %.4g on others", table->metric,
                 training, best->mean);
}

/* Nothing is above 1, or below 0 where less is better. */
static bool is_perfect(const margin_search_result *table, const margin_search_cell *cell) {
    return table->greater ? cell->mean >= 1 : cell->mean <= 0;
}

static bool is_failed(const margin_search_cell *cell) {
    return cell->status < 0;
}

static bool is_stopped(const margin_search_cell *cell) {
    return cell->status > 0;
}

/* The first of the settings that the answer does not show. */
static void add_first(const margin_search_result *table, bool is(const margin_search_cell *cell),
                      cli_finding *made) {
    const size_t length = strlen(made->words);
    int64_t k = 0;
    while (!is(margin_search_cell_at(table, k)))
        k++;
    const margin_search_cell *cell = margin_search_cell_at(table, k);
    snprintf(made->words + length, sizeof made->words - length, "; the first: %.90s: %.180s",
             cell->spec, cli_in_flags(cell->reason).text);
}

static void look_at_endings(const cli_session *session, const margin_search_result *table,
                            bool shown, cli_findings *found) {
    cli_finding *made = NULL;
    if (table->stopped > 0)
        made = cli_find(
            session, found, "stopped",
            "a higher max_iter or --time-limit, or columns of one scale: standardize | ...");
    if (made) {
        snprintf(made->words, sizeof made->words,
                 "%lld of %lld settings stopped before their tolerance and cannot be the best",
                 (long long)table->stopped, (long long)table->count);
        if (!shown) add_first(table, is_stopped, made);
    }
    made = NULL;
    if (table->failed > 0)
        made = cli_find(session, found, "failed",
                        shown ? "what the table says beside them; against a time limit a longer "
                                "--time-limit or fewer folds (-k)"
                              : "what that says; against a time limit a longer --time-limit or "
                                "fewer folds (-k)");
    if (made) {
        snprintf(made->words, sizeof made->words, "%lld of %lld settings failed or were not tried",
                 (long long)table->failed, (long long)table->count);
        if (!shown) add_first(table, is_failed, made);
    }
}

void cli_find_in_table(const cli_session *session, const margin_search_result *table, bool shown,
                       cli_findings *found) {
    const margin_search_cell *best = margin_search_cell_at(table, table->best);
    cli_finding *made = NULL;
    if (best && table->set_end && !is_perfect(table, best))
        made = cli_find(session, found, "set-end", "a wider set of it");
    if (made)
        snprintf(made->words, sizeof made->words,
                 "the best setting has a number at an end of the set of %s: a better one may lie "
                 "beyond",
                 table->set_end);
    if (best && table->baseline) look_at_gain(session, table, best, found);
    look_at_endings(session, table, shown, found);
}

void json_findings(cli_text *text, const cli_findings *found) {
    json_open(text, "findings", '[');
    for (int k = 0; k < found->count; k++) {
        json_open(text, NULL, '{');
        json_string(text, "code", found->list[k].code);
        json_string(text, "finding", found->list[k].words);
        json_string(text, "remedy", found->list[k].remedy);
        json_close(text, '}');
    }
    json_close(text, ']');
}

void text_findings(cli_text *text, const cli_findings *found) {
    for (int k = 0; k < found->count; k++) {
        const cli_finding *f = &found->list[k];
        text_printf(text, "\n%s: ", f->code);
        text_name(text, f->words, 0, 0);
        text_printf(text, "\n    helps: %s\n", f->remedy);
    }
}

int cli_findings_code(const cli_session *session, const cli_findings *found) {
    return session->arguments->strict && found->count > 0 ? EXIT_BAD_INPUT : EXIT_DONE;
}
