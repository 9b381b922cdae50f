/* Texts from maps, gzip, pipes and memory: guards, second readings, positions, bad input. */
#include "support/support.h"

#include "data/source/source.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { GUARD = 64 };

typedef struct fixture {
    char dir[SUPPORT_PATH];
    margin_context *context;
} fixture;

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    support_temp_dir(f->dir);
    f->context = support_context(NULL, 2);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    margin_context_free(f->context);
    support_temp_remove(f->dir);
    free(f);
    return 0;
}

/* `length` bytes of lines of several lengths. */
static char *make_text(size_t length) {
    char *text = malloc(length + 1);
    for (size_t k = 0; k < length; k++)
        text[k] = k % 23 == 22 ? '\n' : (char)('a' + k % 7);
    text[length] = '\0';
    return text;
}

/* Makes a file look as if it had been there for long, so that it is mapped. */
static void make_old(const char *path) {
    struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void assert_holds(const mg_source *source, const char *text, size_t length) {
    assert_int_equal(source->length, length);
    for (int k = 1; k <= GUARD; k++)
        assert_int_equal(source->text[-k], 0);
    for (int k = 0; k < GUARD; k++)
        assert_int_equal(source->text[length + (size_t)k], 0);
    assert_memory_equal(source->text, text, length);
}

/* gzip of `text`, appended to `to` (which has room); returns the new length. */
static size_t add_member(unsigned char *to, size_t used, const char *text, size_t length) {
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (uInt)length;
    z.next_out = to + used;
    z.avail_out = (uInt)(deflateBound(&z, length) + 64);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t written = z.total_out;
    deflateEnd(&z);
    return used + written;
}

static void files_of_all_lengths(void **state) {
    fixture *f = *state;
    const size_t lengths[] = {0, 1, 63, 64, 65, 4095, 4096, 4097, 8192, 300000, 3000001};
    for (int k = 0; k < MG_LENGTH(lengths); k++) {
        for (int old = 0; old < 2; old++) {
            char path[SUPPORT_PATH];
            char *text = make_text(lengths[k]);
            support_write_bytes(path, f->dir, "file.txt", text, lengths[k]);
            if (old) make_old(path);
            mg_source source;
            assert_int_equal(mg_source_open(f->context, path, NULL, &source, NULL), MARGIN_OK);
            assert_holds(&source, text, lengths[k]);
            assert_false(source.compressed);
            assert_string_equal(source.name, path);
            mg_source_done(&source, 0, source.length);
            assert_int_equal(mg_source_restore(&source, NULL), MARGIN_OK);
            assert_holds(&source, text, lengths[k]);
            assert_int_equal(mg_source_unchanged(&source, NULL), MARGIN_OK);
            mg_source_close(&source);
            free(text);
        }
    }
}

enum { LONGEST = 400000 };

static margin_status look_lines(const char *name, const char *head, int64_t length,
                                int64_t *longest_line, margin_error *error) {
    (void)name, (void)head, (void)length, (void)error;
    *longest_line = LONGEST;
    return MARGIN_OK;
}

/* What is read into memory ends where a line is too long, however much is behind it. */
static void lines_too_long_end_the_reading(void **state) {
    fixture *f = *state;
    enum { LENGTH = 3000001, STEP = 1 << 18 };
    char *text = make_text(LENGTH), path[SUPPORT_PATH];
    margin_error error;
    mg_source source;
    for (int k = 0; k < 3; k++) {
        if (k == 1) memset(text + 1000000, 'z', LONGEST - 30);
        if (k == 2) memset(text + 1000000, 'z', LONGEST + 2 * STEP);
        support_write_bytes(path, f->dir, "file.txt", text, LENGTH);
        const margin_status status = mg_source_open(f->context, path, look_lines, &source, &error);
        assert_int_equal(status, k == 2 ? MARGIN_ERROR_FORMAT : MARGIN_OK);
        if (status == MARGIN_OK) mg_source_close(&source);
    }
    assert_contains(error.text, "file.txt: a row is longer than 400000 bytes, which is the limit");
    free(text);
}

/* A file written just now is looked at first and then read into one block: nothing but the first
 * piece is there twice. */
static void a_new_file_is_held_once(void **state) {
    fixture *f = *state;
    enum { LENGTH = 5000000, BESIDE = 1500000 };
    char *text = make_text(LENGTH), path[SUPPORT_PATH];
    mg_source source;
    margin_context *context = support_context(NULL, 1);
    support_write_bytes(path, f->dir, "file.txt", text, LENGTH);
    assert_int_equal(mg_source_open(context, path, look_lines, &source, NULL), MARGIN_OK);
    assert_holds(&source, text, LENGTH);
    assert_true(margin_context_peak_memory(context) <= LENGTH + BESIDE);
    mg_source_close(&source);
    margin_context_free(context);
    free(text);
}

static void memory_is_copied_between_guards(void **state) {
    fixture *f = *state;
    char *text = make_text(1000);
    mg_source source;
    assert_int_equal(mg_source_memory(f->context, text, 1000, "some text", &source, NULL),
                     MARGIN_OK);
    assert_holds(&source, text, 1000);
    assert_string_equal(source.name, "some text");
    mg_source_done(&source, 0, 1000);
    assert_holds(&source, text, 1000);
    mg_source_close(&source);
    assert_int_equal(mg_source_memory(f->context, NULL, 0, NULL, &source, NULL), MARGIN_OK);
    assert_int_equal(source.length, 0);
    mg_source_close(&source);
    margin_error error;
    assert_int_equal(mg_source_memory(f->context, NULL, 5, NULL, &source, &error),
                     MARGIN_ERROR_ARGUMENT);
    free(text);
}

/* Bytes of the mapping around `text` that are in memory, as Linux tells; -1 elsewhere. */
static long resident_bytes(const char *text) {
    char line[512];
    long kilobytes = -1;
    bool inside = false;
    FILE *maps = fopen("/proc/self/smaps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long first, last;
        if (sscanf(line, "%lx-%lx ", &first, &last) == 2)
            inside = (uintptr_t)text >= first && (uintptr_t)text < last;
        if (inside && sscanf(line, "Rss: %ld kB", &kilobytes) == 1) break;
    }
    if (maps) fclose(maps);
    return kilobytes < 0 ? -1 : kilobytes * 1024;
}

static void pages_behind_the_parser_are_given_back(void **state) {
    fixture *f = *state;
    enum { LENGTH = 8 << 20, PART = 1 << 20 };
    char *text = make_text(LENGTH), path[SUPPORT_PATH];
    support_write_bytes(path, f->dir, "file.txt", text, LENGTH);
    make_old(path);
    mg_source source;
    assert_int_equal(mg_source_open(f->context, path, NULL, &source, NULL), MARGIN_OK);
    for (int64_t first = 0; first < LENGTH; first += PART) {
        assert_memory_equal(source.text + first, text + first, PART);
        mg_source_set_aside(&source, first, first + PART);
    }
    long resident = resident_bytes(source.text);
    assert_true(resident < 256 * 1024); /* a page or two of each part at most */
    assert_holds(&source, text, LENGTH);
    mg_source_close(&source);
    free(text);
}

/* ---- gzip ----------------------------------------------------------------------------------- */

static void gzip_of_all_shapes(void **state) {
    fixture *f = *state;
    const size_t lengths[] = {0, 1, 1000, 70000, 2500000};
    for (int k = 0; k < MG_LENGTH(lengths); k++) {
        size_t length = lengths[k], used = 0;
        char *text = make_text(length), path[SUPPORT_PATH];
        unsigned char *file = calloc(1, 2 * length + 4096);
        /* One member, then three (whose trailer tells the length of the last only), then zeros. */
        for (int members = 1; members <= 3; members += 2) {
            used = 0;
            for (int m = 0; m < members; m++) {
                size_t first = length * (size_t)m / (size_t)members;
                size_t last = length * (size_t)(m + 1) / (size_t)members;
                used = add_member(file, used, text + first, last - first);
            }
            for (size_t padding = 0; padding <= 600; padding += 300) {
                memset(file + used, 0, padding);
                support_write_bytes(path, f->dir, "file.gz", file, used + padding);
                mg_source source;
                assert_int_equal(mg_source_open(f->context, path, NULL, &source, NULL), MARGIN_OK);
                assert_true(source.compressed);
                assert_holds(&source, text, length);
                mg_source_done(&source, 0, source.length);
                assert_int_equal(mg_source_restore(&source, NULL), MARGIN_OK);
                assert_holds(&source, text, length);
                mg_source_close(&source);
                assert_int_equal(mg_source_memory(f->context, file, (int64_t)(used + padding), "m",
                                                  &source, NULL),
                                 MARGIN_OK);
                assert_holds(&source, text, length);
                mg_source_close(&source);
            }
        }
        free(file);
        free(text);
    }
}

static void assert_refused(margin_context *context, const unsigned char *file, size_t length,
                           const char *sentence) {
    mg_source source;
    margin_error error;
    assert_int_equal(
        mg_source_memory(context, file, (int64_t)length, "damaged.gz", &source, &error),
        MARGIN_ERROR_FORMAT);
    assert_contains(error.text, "damaged.gz");
    assert_contains(error.text, sentence);
}

static void damaged_gzip_is_refused(void **state) {
    fixture *f = *state;
    char *text = make_text(50000);
    unsigned char file[60000];
    size_t used = add_member(file, 0, text, 50000);
    assert_refused(f->context, file, used - 1, "truncated");
    assert_refused(f->context, file, used / 2, "truncated");
    assert_refused(f->context, file, 5, "truncated");
    memcpy(file + used, "rest", 4);
    assert_refused(f->context, file, used + 4, "not gzip follow");
    memset(file + used, 0, 100);
    file[used + 50] = 0x1f; /* a member behind padding */
    assert_refused(f->context, file, used + 100, "not gzip follow");
    file[used - 6] ^= 1; /* the checksum */
    assert_refused(f->context, file, used, "damaged at byte");
    file[used - 6] ^= 1;
    file[10] = 7; /* a block type that does not exist */
    assert_refused(f->context, file, used, "damaged at byte");
    file[2] = 99; /* compression method */
    assert_refused(f->context, file, used, "damaged at byte");
    free(text);
}

static void text_that_was_given_back_is_read_again_for_positions(void **state) {
    fixture *f = *state;
    char *text = make_text(200000), path[SUPPORT_PATH];
    unsigned char *file = malloc(300000);
    size_t used = add_member(file, 0, text, 200000);
    support_write_bytes(path, f->dir, "file.gz", file, used);
    mg_source source;
    int64_t line, column;
    assert_int_equal(mg_source_open(f->context, path, NULL, &source, NULL), MARGIN_OK);
    mg_source_done(&source, 0, 200000);
    mg_source_position(&source, 23 * 1000 + 4, &line, &column);
    assert_int_equal(line, 1001);
    assert_int_equal(column, 5);
    mg_source_done(&source, 0, 200000);
    assert_int_equal(unlink(path), 0); /* the open file is still there */
    mg_source_position(&source, 0, &line, &column);
    assert_int_equal(line, 1);
    assert_int_equal(column, 1);
    mg_source_close(&source);
    free(file);
    free(text);
}

static void a_file_that_changes_is_noticed(void **state) {
    fixture *f = *state;
    char path[SUPPORT_PATH];
    margin_error error;
    for (int old = 0; old < 2; old++) {
        support_write_text(path, f->dir, "file.txt", "1,2\n3,4\n");
        if (old) make_old(path);
        mg_source source;
        assert_int_equal(mg_source_open(f->context, path, NULL, &source, NULL), MARGIN_OK);
        support_write_text(path, f->dir, "file.txt", "1,2\n3,4\n5,6\n");
        assert_int_equal(mg_source_unchanged(&source, &error), MARGIN_ERROR_FILE);
        assert_contains(error.text, "changed while it was being read");
        mg_source_close(&source);
    }
    /* A second reading of another length. */
    char *text = make_text(100000);
    support_write_bytes(path, f->dir, "file.txt", text, 100000);
    mg_source source;
    assert_int_equal(mg_source_open(f->context, path, NULL, &source, NULL), MARGIN_OK);
    mg_source_done(&source, 0, 100000);
    support_write_bytes(path, f->dir, "file.txt", text, 99999);
    assert_int_equal(mg_source_restore(&source, &error), MARGIN_ERROR_FILE);
    support_write_bytes(path, f->dir, "file.txt", text, 100000);
    assert_int_equal(mg_source_restore(&source, &error), MARGIN_OK);
    assert_holds(&source, text, 100000);
    mg_source_close(&source);
    free(text);
}

/* ---- Standard input ------------------------------------------------------------------------- */

typedef struct feeder {
    int descriptor;
    const char *bytes;
    size_t length;
} feeder;

static void *feed(void *argument) {
    feeder *f = argument;
    for (size_t done = 0; done < f->length;) {
        ssize_t wrote = write(f->descriptor, f->bytes + done, MG_MIN(f->length - done, 50000));
        if (wrote <= 0) break;
        done += (size_t)wrote;
    }
    close(f->descriptor);
    return NULL;
}

/* Opens "-" while `bytes` come through a pipe. */
static margin_status open_piped(margin_context *context, const char *bytes, size_t length,
                                mg_source *source, margin_error *error) {
    int ends[2], saved = dup(STDIN_FILENO);
    pthread_t thread;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);
    feeder f = {ends[1], bytes, length};
    assert_int_equal(pthread_create(&thread, NULL, feed, &f), 0);
    margin_status status = mg_source_open(context, "-", NULL, source, error);
    close(STDIN_FILENO);
    pthread_join(thread, NULL);
    if (saved >= 0) {
        dup2(saved, STDIN_FILENO);
        close(saved);
    }
    return status;
}

static void pipes_of_all_lengths(void **state) {
    fixture *f = *state;
    const size_t lengths[] = {0, 1, 2, 1000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 9000000};
    for (int k = 0; k < MG_LENGTH(lengths); k++) {
        char *text = make_text(lengths[k]);
        mg_source source;
        assert_int_equal(open_piped(f->context, text, lengths[k], &source, NULL), MARGIN_OK);
        assert_holds(&source, text, lengths[k]);
        assert_string_equal(source.name, "standard input");
        mg_source_done(&source, 0, source.length);
        assert_holds(&source, text, lengths[k]);
        assert_int_equal(mg_source_unchanged(&source, NULL), MARGIN_OK);
        mg_source_close(&source);
        unsigned char *file = malloc(lengths[k] + 4096);
        size_t used = add_member(file, 0, text, lengths[k]);
        assert_int_equal(open_piped(f->context, (char *)file, used, &source, NULL), MARGIN_OK);
        assert_true(source.compressed);
        assert_holds(&source, text, lengths[k]);
        mg_source_close(&source);
        free(file);
        free(text);
    }
}

static void a_file_as_standard_input_is_read_from_where_it_stands(void **state) {
    fixture *f = *state;
    char path[SUPPORT_PATH];
    support_write_text(path, f->dir, "file.txt", "first\nsecond\n");
    int saved = dup(STDIN_FILENO);
    for (int offset = 0; offset <= 6; offset += 6) {
        int descriptor = open(path, O_RDONLY);
        assert_int_equal(dup2(descriptor, STDIN_FILENO), STDIN_FILENO);
        if (descriptor != STDIN_FILENO) close(descriptor);
        assert_int_equal(lseek(STDIN_FILENO, offset, SEEK_SET), offset);
        mg_source source;
        assert_int_equal(mg_source_open(f->context, "-", NULL, &source, NULL), MARGIN_OK);
        const char *text = &"first\nsecond\n"[offset];
        assert_holds(&source, text, strlen(text));
        mg_source_close(&source);
        assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), 0); /* still open: not ours to close */
        close(STDIN_FILENO);
    }
    if (saved >= 0) {
        dup2(saved, STDIN_FILENO);
        close(saved);
    }
}

static void *cancel_later(void *context) {
    usleep(20000);
    margin_context_cancel(context);
    return NULL;
}

static void a_silent_pipe_can_be_cancelled(void **state) {
    fixture *f = *state;
    int ends[2], saved = dup(STDIN_FILENO);
    pthread_t thread;
    mg_source source;
    margin_error error;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    assert_int_equal(pthread_create(&thread, NULL, cancel_later, f->context), 0);
    assert_int_equal(mg_source_open(f->context, "-", NULL, &source, &error),
                     MARGIN_ERROR_CANCELLED);
    pthread_join(thread, NULL);
    margin_context_resume(f->context);
    close(ends[0]);
    close(ends[1]);
    close(STDIN_FILENO);
    if (saved >= 0) {
        dup2(saved, STDIN_FILENO);
        close(saved);
    }
}

/* ---- Errors --------------------------------------------------------------------------------- */

static void what_cannot_be_opened_is_told(void **state) {
    fixture *f = *state;
    mg_source source;
    margin_error error;
    char path[SUPPORT_PATH + 16];
    snprintf(path, sizeof path, "%s/absent.csv", f->dir);
    assert_int_equal(mg_source_open(f->context, path, NULL, &source, &error), MARGIN_ERROR_FILE);
    assert_contains(error.text, path);
    assert_contains(error.text, "No such file");
    assert_int_equal(mg_source_open(f->context, f->dir, NULL, &source, &error), MARGIN_ERROR_FILE);
    assert_contains(error.text, "folder");
}

static void positions_count_lines_and_bytes(void **state) {
    fixture *f = *state;
    static const char text[] = "ab\n\ncd";
    mg_source source;
    margin_error error;
    assert_int_equal(mg_source_memory(f->context, text, 6, "t.csv", &source, NULL), MARGIN_OK);
    const int64_t expected[][3] = {{0, 1, 1}, {1, 1, 2}, {2, 1, 3}, {3, 2, 1},
                                   {4, 3, 1}, {5, 3, 2}, {6, 3, 3}};
    for (int k = 0; k < MG_LENGTH(expected); k++) {
        int64_t line, column;
        mg_source_position(&source, expected[k][0], &line, &column);
        assert_int_equal(line, expected[k][1]);
        assert_int_equal(column, expected[k][2]);
    }
    assert_int_equal(mg_fail_source(&error, &source, 5, "no %s", "d"), MARGIN_ERROR_FORMAT);
    assert_string_equal(error.text, "t.csv:3:2: no d");
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 2);
    assert_int_equal(mg_fail_source(NULL, &source, 5, "no"), MARGIN_ERROR_FORMAT);
    mg_source_close(&source);
}

static margin_status open_and_close(margin_context *context, void *path, margin_error *error) {
    mg_source source;
    margin_status status = mg_source_open(context, path, NULL, &source, error);
    if (status == MARGIN_OK) mg_source_close(&source);
    return status;
}

static margin_status open_and_look(margin_context *context, void *path, margin_error *error) {
    mg_source source;
    margin_status status = mg_source_open(context, path, look_lines, &source, error);
    if (status == MARGIN_OK) mg_source_close(&source);
    return status;
}

static void every_allocation_may_fail(void **state) {
    fixture *f = *state;
    char *text = make_text(1500000), path[SUPPORT_PATH];
    unsigned char *file = malloc(1600000);
    size_t used = add_member(file, 0, text, 1500000);
    used = add_member(file, used, text, 10); /* a trailer that promises too little */
    support_write_bytes(path, f->dir, "file.gz", file, used);
    assert_true(support_fail_each_allocation(1, open_and_close, path) >= 4);
    support_write_bytes(path, f->dir, "file.txt", text, 1000);
    assert_true(support_fail_each_allocation(1, open_and_close, path) >= 2);
    support_write_bytes(path, f->dir, "file.txt", text, 1500000);
    assert_true(support_fail_each_allocation(1, open_and_look, path) >= 4);
    make_old(path);
    assert_true(support_fail_each_allocation(1, open_and_close, path) >= 1);
    free(file);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_of_all_lengths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lines_too_long_end_the_reading, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_new_file_is_held_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_is_copied_between_guards, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pages_behind_the_parser_are_given_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gzip_of_all_shapes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_gzip_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(text_that_was_given_back_is_read_again_for_positions,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_changes_is_noticed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pipes_of_all_lengths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_as_standard_input_is_read_from_where_it_stands,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_silent_pipe_can_be_cancelled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_opened_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(positions_count_lines_and_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
