#include "watchdog.h"

#include "base/context.h"
#include "base/status.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* The aim is 0.05, and mostly it is some thousandths: an end beyond 0.1 and a poll beyond 0.05 are
 * printed. What fails is above what margin/base.h says is held, 0.5: passes over all rows are
 * ended, and a busy machine's memory is slow. */
static const double late_from = 0.1, silent_from = 0.05, most = SUPPORT_SLOWER > 1 ? 10.0 : 0.5;
enum { PLACES = SUPPORT_SLOWER > 1 ? 3 : 10 };

/* Of the program itself: a virtual machine whose memory is lent page by page takes milliseconds for
 * a megabyte of fresh pages. */
static double processor(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec;
}

typedef struct watchdog {
    margin_context *context;
    double wakes; /* by the processor's time; of a time limit: by the clock */
    bool cancels;
    double at; /* the processor's time then; INFINITY: not yet */
    atomic_bool done;
} watchdog;

static void *watch(void *argument) {
    watchdog *w = argument;
    const struct timespec tick = {.tv_nsec = 1000000};
    while ((w->cancels ? processor() : mg_clock()) < w->wakes)
        if (atomic_load(&w->done))
            return NULL;
        else
            nanosleep(&tick, NULL);
    if (w->cancels) margin_context_cancel(w->context);
    w->at = processor(); /* now: what a busy machine does between the two is not counted */
    return NULL;
}

/* The longest time of the processor that the host's poll was not called. */
typedef struct listener {
    double last, longest;
} listener;

static int listen(void *user) {
    listener *l = user;
    const double now = processor();
    l->longest = fmax(l->longest, now - l->last);
    l->last = now;
    return 0;
}

typedef struct ending {
    margin_status status;
    double beyond;  /* seconds of the processor after the end; < 0: it was done before */
    double silence; /* between two polls */
    double took;    /* by the clock */
    margin_error error;
} ending;

static ending call_watched(watchdog_call call, const void *argument, double after, bool cancels,
                           int threads) {
    listener l = {.last = processor()};
    const margin_context_options options = {.size = sizeof options,
                                            .threads = threads,
                                            .time_limit = cancels ? 0 : after,
                                            .poll = listen,
                                            .user = &l};
    margin_context *context = NULL;
    ending e = {.beyond = -1};
    pthread_t thread;
    assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
    l.last = processor();
    watchdog w = {.context = context, .cancels = cancels, .at = (double)INFINITY};
    w.wakes = after + (cancels ? processor() : mg_clock());
    const double start = mg_clock();
    assert_int_equal(pthread_create(&thread, NULL, watch, &w), 0);
    e.status = call(context, argument, &e.error);
    const double end = processor();
    e.took = mg_clock() - start;
    (void)listen(&l);
    e.silence = l.longest;
    atomic_store(&w.done, true);
    pthread_join(thread, NULL);
    if (w.at < end) e.beyond = end - w.at;
    margin_context_free(context);
    return e;
}

static double worst, longest;
static int calls, ended, late, over, silent, early;
static int words_given;
static char **words;

void watchdog_words(int count, char **given) {
    words_given = count;
    words = given;
}

int watchdog_wants(const char *text, const char *data) {
    for (int k = 0; k < words_given; k++)
        if (strstr(text, words[k]) || strstr(data, words[k])) return true;
    return words_given == 0;
}

static void judge(const char *text, const char *data, double after, bool cancels, const ending *e) {
    /* LIMIT or MEMORY of one that is cancelled: too large a problem, which was said at once */
    if (e->status < 0 && e->status != MARGIN_ERROR_LIMIT && e->status != MARGIN_ERROR_MEMORY &&
        !(cancels && e->status == MARGIN_ERROR_CANCELLED))
        fail_msg("%s on %s: %s", text, data, e->error.text);
    calls++;
    ended += e->beyond >= 0;
    late += e->beyond > late_from;
    silent += e->silence > silent_from;
    worst = fmax(worst, e->beyond);
    longest = fmax(longest, e->silence);
    if (e->beyond > late_from || e->silence > silent_from || words_given)
        print_message("%s on %s, %s after %.3f: %.3f seconds beyond, polled within %.3f\n", text,
                      data, cancels ? "cancelled" : "limited", after, e->beyond, e->silence);
    over += e->beyond > most || e->silence > most;
    /* what is left for the proof may be estimated too long, but not as most of the limit */
    if (e->status != MARGIN_STOPPED_TIME || e->took > after / 3) return;
    print_message("%s on %s, limited to %.3f, ended after %.3f\n", text, data, after, e->took);
    early++;
}

static void watch_places(const char *text, const char *data, watchdog_call call,
                         const void *argument, bool cancels, int threads) {
    double after = 0.02 * sqrt(SUPPORT_SLOWER);
    for (int place = 0; place < PLACES; place++, after *= 1.7) {
        const ending e = call_watched(call, argument, after, cancels, threads);
        judge(text, data, after, cancels, &e);
        if (e.beyond < 0) break;
    }
}

void watchdog_cancel(const char *text, const char *data, watchdog_call call, const void *argument) {
    for (int threads = 1; threads <= 2; threads++)
        watch_places(text, data, call, argument, true, threads);
}

void watchdog_watch(const char *text, const char *data, watchdog_call call, const void *argument) {
    watch_places(text, data, call, argument, false, 1);
    watchdog_cancel(text, data, call, argument);
}

void watchdog_report(void) {
    print_message("%d of %d calls were ended, %d of them later than %g, at most %.3f seconds\n",
                  ended, calls, late, late_from, worst);
    print_message("%d were not polled for more than %g, at most %.3f seconds\n", silent,
                  silent_from, longest);
    assert_int_equal(over, 0);
    assert_int_equal(early, 0);
    if (!words_given) assert_true(ended > calls / 2);
}
