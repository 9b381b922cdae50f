/* Sentences before the start. */
#include "learn/announce.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Multiply-adds that begin without a time limit: some hours. */
static const double most_work = 3e13;

enum { NOTE_MEGABYTES = 64, NOTE_SECONDS = 10 }; /* from here on it is told */

typedef struct announcement_text {
    char text[400];
} announcement_text;

static announcement_text describe(const margin_context *context, const mg_announcement *a) {
    const long long rows = (long long)a->rows;
    const int threads = a->threads > 0 ? a->threads : mg_threads(context);
    announcement_text to;
    char part[64] = "", all[64] = "", time[64] = "less than a second";
    if (a->problems > 1)
        snprintf(all, sizeof all, " for each of %lld problems", (long long)a->problems);
    if (a->seconds > 0.5)
        snprintf(time, sizeof time, "in the order of %s second%s", mg_about(ceil(a->seconds)).text,
                 a->seconds > 1.0 ? "s" : "");
    if (a->matrix < a->whole)
        snprintf(part, sizeof part, " (all: %s)", mg_bytes((uint64_t)a->whole).text);
    snprintf(
        to.text, sizeof to.text,
        "%s of %lld rows takes %s%s of memory beside the data, %s of it for its Gram matrix of "
        "%lld x %lld numbers%s, and %s on %d thread%s%s",
        a->learner, rows,
        a->most   ? "up to "
        : a->fits ? ""
                  : "at least ",
        mg_bytes((uint64_t)a->bytes).text,
        a->matrix > 0 ? mg_bytes((uint64_t)a->matrix).text : "none", rows, rows, part, time,
        threads, threads > 1 ? "s" : "", all);
    return to;
}

/* ridge has no classes; for numbers, and for one class, svm behind nystroem has a Gram matrix. */
const char *mg_linear_instead(const char *name, mg_problem_kind kind) {
    static const char prefix[] = "kernel-";
    if (kind == MG_CLUSTERING) return NULL;
    if (kind == MG_REGRESSION) return "ridge";
    if (strcmp(name, "kernel-ridge") == 0) return "logistic";
    return name + (strncmp(name, prefix, sizeof prefix - 1) ? 0 : sizeof prefix - 1);
}

/* Centres, or features, fewer than the rows, that the memory left has room for; 0: too few to be
 * worth it. What is in the way of a linear learner is at most so much, features made anew in each
 * pass. */
static int64_t most_centres(const margin_context *context, const mg_announcement *a) {
    enum { OF_A_ROW = 400, OF_A_PAIR = 100, LEAST = 50, STEP = 100, MOST = 2000 };
    enum { SCRATCH = 768 << 10, OF_A_THREAD = 128 << 10 };
    const double left = 2.0 * (double)mg_context_room(context, INT64_MAX / 2),
                 beside = SCRATCH + OF_A_THREAD * (double)mg_threads(context) +
                          OF_A_ROW * (double)a->rows;
    const double most = sqrt(fmax(left - beside, 0.0) / OF_A_PAIR);
    const int64_t centres = MG_MIN((int64_t)fmin(most, MOST), a->rows / 2);
    return centres < STEP ? centres / LEAST * LEAST : centres / STEP * STEP;
}

static announcement_text instead_of(const margin_context *context, const mg_announcement *a) {
    const int64_t centres = a->linear ? most_centres(context, a) : 0;
    announcement_text to = {"fewer rows"};
    char waves[160] = "";
    if (centres == 0) return to;
    if (a->waves)
        snprintf(waves, sizeof waves, ", or fourier(features=%d%s) | %s", (int)centres, a->words,
                 a->linear);
    snprintf(to.text, sizeof to.text, "some rows for all: nystroem(centres=%d%s) | %s%s%s",
             (int)centres, a->words, a->linear, waves,
             strcmp(a->linear, "svm") == 0
                 ? " (verifying the first tells how far it is from the whole kernel)"
                 : "");
    return to;
}

static margin_status refuse_memory(const margin_context *context, const mg_announcement *a,
                                   margin_error *error) {
    const bool limited = mg_heap_limit(context->heap) > 0;
    static const double spare = 17.0 / 16.0, rounded = 1.05; /* the first as the plan has it */
    const double missing =
        spare * (double)a->bytes - 2.0 * (double)mg_context_room(context, INT64_MAX);
    const double enough =
        rounded * ((double)mg_heap_limit(context->heap) + (double)context->shares.count * missing);
    char more[80] = "give more memory, ";
    if (!(missing > 0.0)) /* a matrix that is too large with any limit */
        snprintf(more, sizeof more, "which no limit raises%s",
                 a->strict ? ": " : ": leave rows out, ");
    else if (limited && enough < 1e18)
        snprintf(more, sizeof more, "give more memory (a limit of %s), ",
                 mg_bytes((uint64_t)enough).text);
    return mg_fail(error, limited ? MG_CAUSE(MARGIN_ERROR_LIMIT, MEMORY_LIMIT) : MARGIN_ERROR_LIMIT,
                   "%s; there is room for %s%s%s%sor take %s", describe(context, a).text,
                   mg_bytes((uint64_t)a->room).text, missing > 0.0 ? ": " : ", ", more,
                   a->strict ? "let solver=cg do without the matrix, " : "",
                   instead_of(context, a).text);
}

margin_status mg_announce(margin_context *context, const mg_announcement *a, margin_error *error) {
    const double left = mg_deadline(context) - mg_clock();
    const double seconds = a->seconds * (double)MG_MAX(a->problems, 1);
    const bool late = a->seconds > left;
    if (!a->fits) return refuse_memory(context, a, error);
    if (a->threads > 0) context->options.threads = a->threads;
    MG_REQUIRE(a->work <= most_work || left < (double)INFINITY, error, MARGIN_ERROR_LIMIT,
               "%s: set a time limit, at which it ends with the best until then, or take %s",
               describe(context, a).text, instead_of(context, a).text);
    const bool news = mg_heap_announce(context->heap, a->bytes);
    if (!news || (a->bytes < (int64_t)NOTE_MEGABYTES << 20 && seconds < NOTE_SECONDS && !late))
        return MARGIN_OK;
    mg_log(context, MARGIN_LOG_NOTE, "%s%s%s", describe(context, a).text,
           late ? ", which is more than the time limit leaves; for less take " : "",
           late ? instead_of(context, a).text : "");
    return MARGIN_OK;
}

void mg_announce_products(margin_context *context, int64_t columns) {
    const int64_t bytes = columns * columns * (int64_t)sizeof(double);
    if (bytes < (int64_t)NOTE_MEGABYTES << 20 || !mg_heap_announce(context->heap, bytes / 16))
        return;
    mg_log(context, MARGIN_LOG_NOTE, "the products of %lld columns take %s of memory",
           (long long)columns, mg_bytes((uint64_t)bytes).text);
}
