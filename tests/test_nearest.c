/* "did you mean": distances between words, and which of them are near. */
#include "support/support.h"

#include "base/text/nearest.h"

#include <string.h>

static int distance(const char *a, const char *b) {
    return mg_edit_distance(a, (int64_t)strlen(a), b, (int64_t)strlen(b), 9);
}

static void test_edit_distance(void **state) {
    (void)state;
    assert_int_equal(distance("", ""), 0);
    assert_int_equal(distance("abc", ""), 3);
    assert_int_equal(distance("", "abc"), 3);
    assert_int_equal(distance("kitten", "sitting"), 3);
    assert_int_equal(distance("rate", "rate"), 0);
    assert_int_equal(distance("Rate", "rATE"), 0);
    assert_int_equal(distance("rtae", "rate"), 1); /* neighbours swapped */
    assert_int_equal(distance("ca", "abc"), 3);    /* no part is edited twice */
    assert_int_equal(distance("max_iter", "max-iter"), 1);
    assert_int_equal(distance("abcdefghijkl", ""), 10); /* the limit and one */
    char longer[80];
    memset(longer, 'x', sizeof longer);
    longer[79] = '\0';
    assert_int_equal(distance(longer, "x"), 10);
}

static void test_endings(void **state) {
    (void)state;
    assert_true(mg_ends_with("a.csv", 5, ".csv"));
    assert_true(mg_ends_with("A.CSV", 5, ".csv"));
    assert_true(mg_ends_with(".csv", 4, ".csv"));
    assert_true(mg_ends_with("a.csv.gz", 5, ".csv")); /* the first five bytes */
    assert_false(mg_ends_with("csv", 3, ".csv"));
    assert_false(mg_ends_with("a.csvx", 6, ".csv"));
    assert_false(mg_ends_with("a@csv", 5, "`csv")); /* not letters: 32 apart, and different */
}

static const char *nearest_of_three(const char *word) {
    mg_nearest nearest = mg_nearest_begin(word, (int64_t)strlen(word));
    mg_nearest_offer(&nearest, "k", 1);
    mg_nearest_offer(&nearest, "perceptron", 10);
    mg_nearest_offer(&nearest, "minmax", 6);
    return nearest.best ? nearest.best : "";
}

static void test_nearest(void **state) {
    (void)state;
    assert_string_equal(nearest_of_three("perzeptron"), "perceptron");
    assert_string_equal(nearest_of_three("percep"), "perceptron"); /* cut off */
    assert_string_equal(nearest_of_three("minamx"), "minmax");
    assert_string_equal(nearest_of_three("c"), ""); /* one letter changed is all of it */
    assert_string_equal(nearest_of_three("maximum"), "");
    assert_string_equal(nearest_of_three(""), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_edit_distance),
        cmocka_unit_test(test_endings),
        cmocka_unit_test(test_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
