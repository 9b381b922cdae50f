/* Lines longer than any table's are refused, not searched again and again. */
#include "support/support.h"

#include "base/context.h"
#include "margin/data.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* A file of zeros that takes no room on the disk. */
static void refuse_zeros(const char *dir, const char *name, int64_t bytes) {
    char path[SUPPORT_PATH + 20];
    margin_context *context = support_context(NULL, 1);
    margin_table *table = NULL;
    margin_error error;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    const int file = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, bytes), 0);
    close(file);
    assert_int_equal(margin_table_read(context, path, NULL, &table, &error), MARGIN_ERROR_FORMAT);
    assert_contains(error.text, "longer than 1073741824 bytes, which is the limit");
    margin_context_free(context);
}

static void test_zeros(void **state) {
    (void)state;
    char dir[SUPPORT_PATH];
    support_temp_dir(dir);
    refuse_zeros(dir, "z.svm", INT64_C(5) << 30);
    refuse_zeros(dir, "z.csv", INT64_C(5) << 30);
    support_temp_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_zeros)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
