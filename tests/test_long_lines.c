/* Lines longer than any table's are refused, not searched again and again, nor read to their end.
 */
#include "support/support.h"

#include "base/context.h"
#include "margin/data.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Seconds of the processor for the gigabyte that a line may have: many times what it takes. */
static const double enough = 30;

static const char *const names[] = {"z.svm", "z.csv"};
static const int64_t bytes = INT64_C(5) << 30;
static double read_so_far;

static int note_progress(const margin_progress *progress, void *user) {
    (void)user;
    if (strcmp(progress->activity, "reading") == 0) read_so_far = fmax(read_so_far, progress->done);
    return 0;
}

static void refuse_zeros(const char *dir, const char *name) {
    char path[SUPPORT_PATH + 20];
    const margin_context_options options = {
        .size = sizeof options, .threads = 1, .progress = note_progress};
    margin_context *context;
    margin_table *table = NULL;
    margin_error error;
    assert_int_equal(margin_context_create(&options, &context, NULL), MARGIN_OK);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    const clock_t start = clock();
    assert_int_equal(margin_table_read(context, path, NULL, &table, &error), MARGIN_ERROR_FORMAT);
    assert_contains(error.text, "longer than 1073741824 bytes, which is the limit");
    assert_true((double)(clock() - start) < enough * CLOCKS_PER_SEC);
    margin_context_free(context);
}

/* Files of zeros that take no room on the disk; a new one is read into memory, an older one where
 * it lies. */
static void test_zeros(void **state) {
    (void)state;
    const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    char dir[SUPPORT_PATH], path[SUPPORT_PATH + 20];
    support_temp_dir(dir);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[k]);
        const int file = open(path, O_CREAT | O_WRONLY, 0600);
        assert_true(file >= 0);
        assert_int_equal(ftruncate(file, bytes), 0);
        close(file);
        read_so_far = 0;
        refuse_zeros(dir, names[k]);
        assert_true(read_so_far < 1.1 * (double)MARGIN_MAX_LINE_BYTES);
        assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
        refuse_zeros(dir, names[k]);
    }
    support_temp_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_zeros)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
