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
typedef enum margin_status {
    MARGIN_OK = 0,
    MARGIN_STOPPED_ITERATIONS = 1,
    MARGIN_STOPPED_TIME = 2,
    MARGIN_STOPPED_STALLED = 3,
    MARGIN_ERROR_ARGUMENT = -1,
    MARGIN_ERROR_SPEC = -2,
    MARGIN_ERROR_DATA = -3,
    MARGIN_ERROR_FORMAT = -4,
    MARGIN_ERROR_MODEL = -5,
    MARGIN_ERROR_MEMORY = -6,
    MARGIN_ERROR_LIMIT = -7,
    MARGIN_ERROR_FILE = -8,
    MARGIN_ERROR_SYSTEM = -9,
    MARGIN_ERROR_CANCELLED = -10,
    MARGIN_ERROR_INTERNAL = -11
} margin_status;
MARGIN_API const char *margin_status_text(margin_status status);
typedef enum margin_cause {
    MARGIN_CAUSE_NONE = 0,
    MARGIN_CAUSE_MISSING_VALUE = 1,
    MARGIN_CAUSE_INFINITE_VALUE = 2,
    MARGIN_CAUSE_NO_ROWS = 3,
    MARGIN_CAUSE_FEW_ROWS = 4,
    MARGIN_CAUSE_ONE_CLASS = 5,
    MARGIN_CAUSE_UNKNOWN_CLASS = 6,
    MARGIN_CAUSE_COLUMNS = 7,
    MARGIN_CAUSE_WEIGHTS = 8,
    MARGIN_CAUSE_CATEGORIES = 9,
    MARGIN_CAUSE_UNKNOWN_CATEGORY = 10,
    MARGIN_CAUSE_TARGET = 11,
    MARGIN_CAUSE_NEGATIVE_VALUE = 12,
    MARGIN_CAUSE_OVERFLOW = 13,
    MARGIN_CAUSE_TIME_LIMIT = 14,
    MARGIN_CAUSE_MEMORY_LIMIT = 15
} margin_cause;
typedef struct margin_error {
    int32_t status;
    int32_t cause;
    int64_t line;
    int64_t column;
    int64_t row;
    int64_t position;
    int64_t feature;
    int32_t system_error;
    int32_t reserved_word;
    int64_t reserved[4];
    char text[1000];
} margin_error;
typedef struct margin_context margin_context;
typedef struct margin_allocator {
    void *(*allocate)(size_t bytes, void *user);
    void (*release)(void *memory, size_t bytes, void *user);
    void *user;
} margin_allocator;
typedef enum margin_log_level { MARGIN_LOG_NOTE = 0, MARGIN_LOG_WARNING = 1 } margin_log_level;
typedef int (*margin_kernel_function)(const double *x, int64_t x_rows, const double *z,
                                      int64_t z_rows, int64_t columns, double *values, void *user);
typedef struct margin_progress {
    const char *activity;
    double done, total;
    double measure;
} margin_progress;
typedef struct margin_context_options {
    size_t size;
    int32_t threads;
    int64_t memory_limit;
    uint64_t seed;
    double time_limit;
    margin_allocator allocator;
    void (*log)(margin_log_level level, const char *text, void *user);
    int (*progress)(const margin_progress *progress, void *user);
    void *user;
    int (*poll)(void *user);
    margin_kernel_function kernel;
    void *kernel_user;
    int32_t kernel_threads;
    int32_t seed_given;
} margin_context_options;
MARGIN_API MARGIN_CHECKED margin_status margin_context_create(const margin_context_options *options,
                                                              margin_context **context,
                                                              margin_error *error);
MARGIN_API MARGIN_CHECKED margin_status margin_context_with(margin_context *context,
                                                            const margin_context_options *options,
                                                            margin_context **made,
                                                            margin_error *error);
MARGIN_API void margin_context_free(margin_context *context);
MARGIN_API void margin_context_cancel(margin_context *context);
MARGIN_API void margin_context_resume(margin_context *context);
MARGIN_API int margin_context_threads(const margin_context *context);
MARGIN_API int64_t margin_context_memory(const margin_context *context);
MARGIN_API int64_t margin_context_peak_memory(const margin_context *context);
MARGIN_API int64_t margin_context_announced_memory(const margin_context *context);
MARGIN_API const char *margin_version(void);
typedef struct margin_capabilities_info {
    size_t size;
    const char *instruction_set;
    const char *lapack;
    int32_t cores;
} margin_capabilities_info;
MARGIN_API void margin_capabilities(margin_capabilities_info *info);
enum { MARGIN_NUMBER_TEXT = 32 };
MARGIN_API int margin_number_print_f64(double value, char text[MARGIN_NUMBER_TEXT]);
MARGIN_API int margin_number_print_f32(float value, char text[MARGIN_NUMBER_TEXT]);
MARGIN_API int margin_number_parse_f64(const char *text, size_t length, double *value);
MARGIN_API int margin_number_parse_f32(const char *text, size_t length, float *value);
#ifdef __cplusplus
}
#endif
#endif
