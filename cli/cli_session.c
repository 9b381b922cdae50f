/* Context, signals, progress and messages of one run. */
#include "cli.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The signal handler can reach its context no other way. */
static margin_context *volatile signalled_context;
static volatile sig_atomic_t interrupted, writing_directly;
static volatile pid_t helper; /* a program that works for this one; 0: none */
static bool progress_shown, file_begun, notes_held;

/* Writing to a pipe or terminal may wait for ever and leaves no file to tidy up: there an interrupt
 * ends the program at once. Everything else is asked to end. */
static void on_signal(int number) {
    (void)number;
    if (writing_directly) _exit(EXIT_INTERRUPTED);
    interrupted = 1;
    if (helper > 0) kill(helper, SIGKILL);
    if (signalled_context) margin_context_cancel(signalled_context);
}

int cli_writes_to(const char *path) {
    struct stat file;
    bool standard = !path || !strcmp(path, "-");
    writing_directly = standard || (!stat(path, &file) && !S_ISREG(file.st_mode));
    if (!interrupted || file_begun) { /* a file that could be written is not undone */
        file_begun = file_begun || !writing_directly;
        return EXIT_DONE;
    }
    cli_progress_end();
    fputs("margin: interrupted\n", stderr);
    return EXIT_INTERRUPTED;
}

void cli_helped_by(int process) {
    helper = process;
    if (interrupted && process > 0) kill(process, SIGKILL);
}

double cli_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double cli_elapsed(const cli_session *session) {
    return cli_clock() - session->started;
}

void cli_progress_end(void) {
    if (progress_shown) fputs("\r\033[K", stderr);
    progress_shown = false;
}

static int show_progress(const margin_progress *progress, void *user) {
    (void)user;
    fprintf(stderr, "\r\033[K%s", progress->activity);
    if (progress->total > 0)
        fprintf(stderr, " %.0f%%", 100 * progress->done / progress->total);
    else
        fprintf(stderr, " %.0f", progress->done);
    if (!isnan(progress->measure)) fprintf(stderr, " (%.4g)", progress->measure);
    fflush(stderr);
    progress_shown = true;
    return 0;
}

/* The library names its options as in C; a person at a shell has flags, which are shorter. */
cli_sentence cli_in_flags(const char *text) {
    static const char *const names[][2] = {
        {"MARGIN_MISSING_DROP", "--missing drop"},
        {"give it (margin_data.y), ", ""},
        {"margin_context_options.kernel", "in C or Python"},
        {"margin_data.classes", "--classes"},
        {"margin_read_options.categorical", "--categorical"},
        {"margin_read_options.ignore", "--ignore"},
        {"margin_read_options.labels", "--labels"},
        {"margin_read_options.target", "--target"},
        {"margin_search_options.count", "--random"},
        {"margin_search_options.most_cells", "--cells"},
        {"margin_separable_options.positive", "--class"},
        {"margin_split_options.stratify", "--stratify"},
        {"margin_write_options.labels", "--labels-out"},
    };
    cli_sentence sentence;
    snprintf(sentence.text, sizeof sentence.text, "%s", text);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const size_t name = strlen(names[k][0]), flag = strlen(names[k][1]);
        char *found;
        while ((found = strstr(sentence.text, names[k][0])) != NULL) {
            memcpy(found, names[k][1], flag);
            memmove(found + flag, found + name, strlen(found + name) + 1);
        }
    }
    return sentence;
}

void cli_hold_notes(bool hold) {
    notes_held = hold;
}

static void show_log(margin_log_level level, const char *text, void *user) {
    const cli_arguments *arguments = user;
    if ((arguments->quiet || notes_held) && level == MARGIN_LOG_NOTE) return;
    cli_progress_end();
    fprintf(stderr, "margin: %s%s\n", level == MARGIN_LOG_WARNING ? "warning: " : "",
            cli_in_flags(text).text);
}

int cli_session_open(cli_session *session, const cli_arguments *arguments) {
    memset(session, 0, sizeof *session);
    session->arguments = arguments;
    session->started = cli_clock();
    const char *term = getenv("TERM");
    bool animate = !arguments->quiet && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    margin_context_options options = {
        .size = sizeof options,
        .threads = (int)arguments->threads,
        .memory_limit = (int64_t)arguments->memory,
        .seed = (uint64_t)arguments->seed,
        .log = show_log,
        .progress = animate ? show_progress : NULL,
        .user = (void *)arguments,
    };
    const margin_context_options limited = {.size = sizeof limited,
                                            .time_limit = arguments->time_limit};
    margin_status status = margin_context_create(&options, &session->whole, &session->error);
    if (status >= 0)
        status = margin_context_with(session->whole, &limited, &session->context, &session->error);
    if (status < 0) margin_context_free(session->whole);
    if (status < 0) return cli_failed(session, status);
    signalled_context = session->whole;
    interrupted = writing_directly = 0;
    file_begun = false;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    /* too large a file is then an error of write(), and what was begun is tidied up */
    action.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &action, NULL);
    return EXIT_DONE;
}

void cli_session_close(cli_session *session) {
    cli_progress_end();
    signalled_context = NULL;
    writing_directly = 0;
    margin_context_free(session->context);
    margin_context_free(session->whole);
    session->context = session->whole = NULL;
}

int cli_exit_code(margin_status status) {
    switch (status) {
    case MARGIN_OK:
        return EXIT_DONE;
    case MARGIN_STOPPED_ITERATIONS:
    case MARGIN_STOPPED_TIME:
    case MARGIN_STOPPED_STALLED:
        return EXIT_STOPPED_EARLY;
    case MARGIN_ERROR_ARGUMENT:
    case MARGIN_ERROR_SPEC:
        return EXIT_USAGE;
    case MARGIN_ERROR_DATA:
    case MARGIN_ERROR_FORMAT:
    case MARGIN_ERROR_MODEL:
        return EXIT_BAD_INPUT;
    case MARGIN_ERROR_MEMORY:
    case MARGIN_ERROR_LIMIT:
        return EXIT_NO_MEMORY;
    case MARGIN_ERROR_FILE:
    case MARGIN_ERROR_SYSTEM:
    case MARGIN_ERROR_INTERNAL:
        return EXIT_SYSTEM;
    case MARGIN_ERROR_CANCELLED:
        return EXIT_INTERRUPTED;
    }
    return EXIT_SYSTEM;
}

int cli_failed(cli_session *session, margin_status status) {
    cli_progress_end();
    fprintf(stderr, "margin: %s\n",
            status == MARGIN_ERROR_CANCELLED ? "interrupted"
                                             : cli_in_flags(session->error.text).text);
    return cli_exit_code(status);
}

void cli_note(const cli_session *session, const char *format, ...) {
    if (session->arguments->quiet) return;
    va_list list;
    va_start(list, format);
    cli_progress_end();
    fputs("margin: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
}

void cli_warn(const char *format, ...) {
    va_list list;
    va_start(list, format);
    cli_progress_end();
    fputs("margin: warning: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
}

void json_memory(cli_text *text, const cli_session *session) {
    const int64_t announced = margin_context_announced_memory(session->context);
    json_integer(text, "peak_memory", margin_context_peak_memory(session->context));
    if (announced > 0) json_integer(text, "announced_memory", announced);
}
