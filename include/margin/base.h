/* margin/base.h - status codes, error text, context (threads, memory, seed, callbacks), version.
 *
 * Conventions of every public header:
 *  - A function that can fail returns margin_status. Below 0: it failed and wrote none of its
 *    outputs, unless it says otherwise (answers for many rows are written as they are found). 0:
 *    done. Above 0: the result is usable but the work stopped early; the report says why.
 *  - `margin_error *error` is optional (NULL is fine), owned by the caller, and written only on
 *    failure. Its text is a full sentence: what is wrong, where, how to mend it.
 *  - Inputs are borrowed for the duration of the call unless the function says otherwise.
 *  - What a function makes (specs, models, tables, splits, results) outlives its context; only
 *    contexts of margin_context_with are freed before theirs.
 *  - `margin_*_free(NULL)` does nothing.
 *  - A callback returns: no C++ exception and no longjmp may pass through the library.
 *  - Sizes and counts are int64_t. Rows and columns count from 0 in C, from 1 in texts for people.
 *  - The library never prints, exits, aborts, changes the locale, installs signal handlers, uses
 *    libc's random numbers or starts a thread before a context asks for one. It has no global
 *    state.
 */
#ifndef MARGIN_BASE_H
#define MARGIN_BASE_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define MARGIN_API
#elif defined(__GNUC__)
#define MARGIN_API __attribute__((visibility("default")))
#else
#define MARGIN_API
#endif

#if defined(__GNUC__)
#define MARGIN_CHECKED __attribute__((warn_unused_result))
#else
#define MARGIN_CHECKED
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define MARGIN_VERSION_MAJOR 0
#define MARGIN_VERSION_MINOR 1
#define MARGIN_VERSION_PATCH 0

/* Outcome of a call. The numbers are part of the ABI and never change. */
typedef enum margin_status {
    MARGIN_OK = 0,
    /* Usable results that stopped before what was asked. */
    MARGIN_STOPPED_ITERATIONS = 1, /* the limit on passes or iterations was reached */
    MARGIN_STOPPED_TIME = 2,       /* the time limit was reached */
    MARGIN_STOPPED_STALLED = 3,    /* no further progress: round-off, data not separable */
    /* Failures. */
    MARGIN_ERROR_ARGUMENT = -1, /* the call itself is wrong: a NULL, a size, a mismatched shape */
    MARGIN_ERROR_SPEC = -2,     /* spec text: syntax, unknown name or option, value out of range */
    MARGIN_ERROR_DATA = -3,   /* the data cannot be used: NaN, one class, no rows, wrong columns */
    MARGIN_ERROR_FORMAT = -4, /* a data file does not follow its format */
    MARGIN_ERROR_MODEL = -5,  /* a model file is damaged, hostile or from a newer version */
    MARGIN_ERROR_MEMORY = -6, /* the allocator returned NULL */
    MARGIN_ERROR_LIMIT = -7,  /* the context's memory limit, its time limit before there was a
                                 result, or a stated limit would be exceeded */
    MARGIN_ERROR_FILE = -8,   /* opening, reading, writing or renaming a file failed */
    MARGIN_ERROR_SYSTEM = -9, /* the operating system refused something else (a thread, a map) */
    MARGIN_ERROR_CANCELLED = -10, /* the context was cancelled */
    MARGIN_ERROR_INTERNAL = -11   /* a defect in margin itself: please report it */
} margin_status;

/* Short English name of a status, for example "out of memory". Never NULL, static storage. */
MARGIN_API const char *margin_status_text(margin_status status);

/* What it is about the data that a call cannot use, or which limit was met, for programs that put
 * it in words of their own. The numbers are part of the ABI and never change; later versions add
 * some. */
typedef enum margin_cause {
    MARGIN_CAUSE_NONE = 0,              /* nothing of the below, or the status says it all */
    MARGIN_CAUSE_MISSING_VALUE = 1,     /* NaN or an empty cell, in a feature or the target */
    MARGIN_CAUSE_INFINITE_VALUE = 2,    /* the same, infinite */
    MARGIN_CAUSE_NO_ROWS = 3,           /* none, none selected, or all of weight 0 */
    MARGIN_CAUSE_FEW_ROWS = 4,          /* fewer than folds, neighbours, clusters or coefficients */
    MARGIN_CAUSE_ONE_CLASS = 5,         /* a classifier, and every row has the same label */
    MARGIN_CAUSE_UNKNOWN_CLASS = 6,     /* a label that the model (or the target) does not have */
    MARGIN_CAUSE_COLUMNS = 7,           /* none, another number than the model's, or other names */
    MARGIN_CAUSE_WEIGHTS = 8,           /* negative, NaN or infinite sample weights */
    MARGIN_CAUSE_CATEGORIES = 9,        /* where numbers are needed, or too many; or numbers where
                                           the model has categories */
    MARGIN_CAUSE_UNKNOWN_CATEGORY = 10, /* of a feature, and the spec refuses it */
    MARGIN_CAUSE_TARGET = 11, /* there is none, or not the kind that this learner learns from */
    MARGIN_CAUSE_NEGATIVE_VALUE = 12, /* where counts are needed */
    MARGIN_CAUSE_OVERFLOW = 13,       /* values too large, or too far apart, for double precision */
    /* Of LIMIT. */
    MARGIN_CAUSE_TIME_LIMIT = 14,  /* the context's time limit */
    MARGIN_CAUSE_MEMORY_LIMIT = 15 /* the context's memory limit; NONE: another limit */
} margin_cause;

/* Where and why a call failed. `text` is the whole sentence, zero-terminated UTF-8; the numbers
 * repeat what it says for programs, 0 where they do not apply. A failing call writes all fields;
 * they need no initial values. */
typedef struct margin_error {
    int32_t status;       /* margin_status */
    int32_t cause;        /* margin_cause */
    int64_t line;         /* of a text file or spec, from 1 */
    int64_t column;       /* character column in that line, from 1 (bytes) */
    int64_t row;          /* data row, from 1 */
    int64_t position;     /* byte offset in a spec, from 0; -1 where it does not apply */
    int64_t feature;      /* column of the data that was given, from 1 */
    int32_t system_error; /* errno of a FILE or SYSTEM failure, such as ENOENT */
    int32_t reserved_word;
    int64_t reserved[4]; /* 0 */
    char text[1000];
} margin_error;

/* ---- Context --------------------------------------------------------------------------------
 * A context owns a thread pool, memory accounting and the callbacks. It is meant for one thread at
 * a time: when two use it at once both get right results, but their parallel parts take turns (each
 * waits until the pool is free), they share memory limit and cancellation, and the callbacks come
 * from both. For independent work make several contexts, or contexts of one thread from one
 * (margin_context_with): those do not wait for each other. Threads start at the first parallel call
 * and are restarted in the child after fork(), which may happen at any time but from a callback.
 * Threads of the pool take no signals. */
typedef struct margin_context margin_context;

/* Allocator hook. `allocate(n)` returns n bytes aligned to at least 16, or NULL; `release` gets the
 * size that was asked for. Called from any thread. */
typedef struct margin_allocator {
    void *(*allocate)(size_t bytes, void *user);
    void (*release)(void *memory, size_t bytes, void *user);
    void *user;
} margin_allocator;

typedef enum margin_log_level { MARGIN_LOG_NOTE = 0, MARGIN_LOG_WARNING = 1 } margin_log_level;

/* A kernel of the caller's own, which specs call user: svm(kernel=user). Writes values[i * z_rows +
 * j] = k(x_i, z_j) for two blocks of rows of `columns` numbers each, row-major without gaps, as the
 * learner sees them: behind the stages, sparse ones and those in f32 as dense f64. k(x, z) = k(z,
 * x), whatever else is in the block. Returns 0; anything else ends the call with CANCELLED (sticky:
 * see margin_context_resume). A value that is not finite is DATA in training, with the two rows;
 * in prediction its row has no answer, as one with an infinite value. Rows of a prediction may hold
 * NaN: they have no answer, whatever the values. */
typedef int (*margin_kernel_function)(const double *x, int64_t x_rows, const double *z,
                                      int64_t z_rows, int64_t columns, double *values, void *user);

/* What a long call is doing. `done`/`total` count rows, bytes, passes or sub-problems as `activity`
 * says, or under "working" the parts of one walk over the data; total is 0 where the end is not
 * known. */
typedef struct margin_progress {
    const char *activity; /* "reading", "training", "working"; valid during the callback */
    double done, total;
    double measure; /* learner's own number (misclassified, gap); NaN where there is none */
} margin_progress;

/* All fields may be zero: every core this process may use, no limits, seed 0, malloc, silence.
 * Set `size` to sizeof(margin_context_options): later versions append fields. A program compiled
 * against an older header keeps working; one compiled against a newer header works too, as long as
 * the fields that this library does not know are zero. */
typedef struct margin_context_options {
    size_t size;          /* 0 counts as the size in this header's version 0.1 */
    int32_t threads;      /* 0: all cores allowed by affinity and cgroup; else 1..1024 */
    int64_t memory_limit; /* bytes that the context, its tables and models may hold at once,
                             thread stacks and mapped files aside; 0: no limit */
    uint64_t seed;        /* every random choice derives from it */
    /* Seconds that each call may take; 0: no limit. A fit that has a model by then stops with
     * MARGIN_STOPPED_TIME, everything else fails with MARGIN_ERROR_LIMIT (cause TIME_LIMIT), both
     * mostly within 100 ms; but a solver ends its pass over all rows first, kernel learners copy
     * the rows that their model keeps, and where the system's LAPACK is linked that ends its
     * factorisation. What is done near the limit follows the clock: the bytes of such a fit may
     * differ from run to run. Not for what runs on the calling thread alone and takes a row or a
     * model (margin_predict and its like, saving, loading). */
    double time_limit;
    margin_allocator allocator;
    /* Messages for people, one sentence without newline. Called from the calling thread only. */
    void (*log)(margin_log_level level, const char *text, void *user);
    /* Called at most about ten times a second, from the calling thread only and between two pieces
     * of work of some milliseconds; not while a matrix is factored. Return nonzero to cancel
     * (sticky: see margin_context_resume). */
    int (*progress)(const margin_progress *progress, void *user);
    void *user; /* passed to log, progress and poll */
    /* Called every 50 ms (tests fail beyond 0.5 s of the processor's time) from the calling thread
     * only, also while it waits for the pool's, for a host that has to look at its own signals,
     * messages or windows; where the system's LAPACK is linked, not during its factorisations.
     * Return nonzero to cancel (sticky). It may call margin, in this context too. NULL: none. */
    int (*poll)(void *user);
    /* What kernel=user stands for in calls with this context, and in models that it trains or
     * loads: they keep function and kernel_user and call them until they are freed, but files do
     * not hold them. Loading a model with kernel=user takes a context that has its function.
     * NULL: none. Rows of at most 4096 columns. */
    margin_kernel_function kernel;
    void *kernel_user;
    /* 1: the function may be called from several threads at the same time. 0: it is only called
     * from the thread that called margin, as the context then has no other (`threads` is 1). */
    int32_t kernel_threads;
    int32_t seed_given; /* 1: `seed` is asked for even if it is 0 (margin_context_with) */
} margin_context_options;

/* Creates a context. `options` may be NULL (all defaults). Fails with ARGUMENT (a thread count or a
 * limit out of range, half an allocator, options of a later version), LIMIT (memory_limit below the
 * few KB the context itself takes) or MEMORY. Starts no thread. */
MARGIN_API MARGIN_CHECKED margin_status margin_context_create(const margin_context_options *options,
                                                              margin_context **context,
                                                              margin_error *error);

/* For one call, or as many as are wanted: a context with the threads, callbacks and accounts of
 * `context`, and what `options` say in its place; what is zero there is as in `context`.
 *   threads: at most so many of those that `context` has; with 1 it does not use the pool.
 *   memory_limit: of what these calls hold, models and tables that they make too; that of `context`
 *     holds as well. INT64_MAX: no other limit, but accounts of their own, for what these calls
 *     alone hold, have held and announce.
 *   seed, time_limit: in place of the context's; seed 0 with seed_given 1, no limit by INFINITY.
 *   log, progress, poll, user: all four are taken from `options` if one of the callbacks is given.
 *   kernel, kernel_user, kernel_threads: if there is a kernel.
 *   allocator: ARGUMENT if there is one; it is that of `context`.
 * Cancelling it leaves `context` alone; cancelling `context` ends calls of both. No threads are
 * started and nothing else of size is made: cost about a microsecond. To be freed before `context`
 * is; models and tables outlive both. Several threads may make contexts of one at the same time. */
MARGIN_API MARGIN_CHECKED margin_status margin_context_with(margin_context *context,
                                                            const margin_context_options *options,
                                                            margin_context **made,
                                                            margin_error *error);

/* Joins the threads and releases the context; no call may be running in it. Models and tables
 * outlive their context: each keeps its own copy of the allocator, which stays in use until the
 * last of them is freed. */
MARGIN_API void margin_context_free(margin_context *context);

/* Asks the running call to end with MARGIN_ERROR_CANCELLED, mostly within 50 ms (where the system's
 * LAPACK is linked, after its factorisation); tests fail beyond 0.5 s of the processor's time.
 * Stays set until margin_context_resume. Safe from any thread and from a signal handler. */
MARGIN_API void margin_context_cancel(margin_context *context);
/* Forgets a cancellation, that of a callback too. Safe from any thread; of a call that is
 * still running it is not certain whether it ends. */
MARGIN_API void margin_context_resume(margin_context *context);

/* Threads that parallel work uses (1 or more); bytes held now; the most ever held at once. From any
 * thread, while a call is running too. */
MARGIN_API int margin_context_threads(const margin_context *context);
MARGIN_API int64_t margin_context_memory(const margin_context *context);
MARGIN_API int64_t margin_context_peak_memory(const margin_context *context);
/* The most that a fit said before it began that would be held at once, what was held then included;
 * 0: none did. Fits with a kernel do, and where it is much the log has it, too; linear learners
 * when they make the products of their columns, from 64 MiB on. */
MARGIN_API int64_t margin_context_announced_memory(const margin_context *context);

/* ---- Version and capabilities --------------------------------------------------------------- */

/* "0.1.0"; compare with the MARGIN_VERSION_ macros of the header that was compiled against. */
MARGIN_API const char *margin_version(void);

typedef struct margin_capabilities_info {
    size_t size;                 /* sizeof(margin_capabilities_info), set by the caller */
    const char *instruction_set; /* the kernels in use: "ref", "avx2", "avx512" */
    const char *lapack;          /* which BLAS/LAPACK was linked, and how */
    int32_t cores;               /* cores this process may use */
} margin_capabilities_info;

/* Fills `info` (nothing, if its size is less than that of version 0.1); the strings have static
 * storage. MARGIN_ISA=ref|avx2|avx512 in the environment
 * lowers the instruction set (for tests); it never raises it above what the processor has. Where it
 * is not set and the processor has matrix registers (AMX), the first brute-force search for
 * neighbours asks Linux for their use; from then on signal stacks of this process need about 11 KB
 * (sysconf(_SC_MINSIGSTKSZ) tells). MARGIN_ISA=avx512 does without. */
MARGIN_API void margin_capabilities(margin_capabilities_info *info);

/* ---- Number text -----------------------------------------------------------------------------
 * Exact and independent of the locale. */

enum { MARGIN_NUMBER_TEXT = 32 }; /* bytes that always suffice for one number and its zero */

/* Shortest text that reads back to the same value ("0.1", "3", "1e-05", "nan", "-inf"); whole
 * numbers below 1e16 print without ".0". Writes it with a final zero and returns its length. */
MARGIN_API int margin_number_print_f64(double value, char text[MARGIN_NUMBER_TEXT]);
MARGIN_API int margin_number_print_f32(float value, char text[MARGIN_NUMBER_TEXT]);

/* Reads one number that fills text[0..length): optional sign, digits with optional point, optional
 * exponent, or inf/infinity/nan in any case; correctly rounded (ties to even), overflow gives
 * infinity. Returns 1 if it was a number, else 0 and leaves *value as it was. */
MARGIN_API int margin_number_parse_f64(const char *text, size_t length, double *value);
MARGIN_API int margin_number_parse_f32(const char *text, size_t length, float *value);

#ifdef __cplusplus
}
#endif
#endif
