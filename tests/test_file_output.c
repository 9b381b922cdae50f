/* Files appear whole or not at all: what was there before stays until the end, nothing is left
 * behind after a failure, links, modes, pipes and devices keep their nature, every refusal by the
 * system is a sentence with its reason. */
#include "support/support.h"

#include "base/context.h"
#include "data/source/file_output.h"
#include "margin/data.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

static char folder[SUPPORT_PATH];

static int make_folder(void **state) {
    (void)state;
    support_temp_dir(folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    chmod(folder, 0700);
    support_temp_remove(folder);
    return 0;
}

static char *in_folder(char path[SUPPORT_PATH], const char *name) {
    assert_true(snprintf(path, SUPPORT_PATH, "%s/%s", folder, name) < SUPPORT_PATH);
    return path;
}

static int entries_in(const char *path) {
    DIR *entries = opendir(path);
    assert_non_null(entries);
    int count = 0;
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) count++;
    closedir(entries);
    return count;
}

static void assert_file(const char *path, const char *text) {
    size_t length;
    char *bytes = support_read_file(path, &length);
    assert_int_equal(length, strlen(text));
    assert_string_equal(bytes, text);
    free(bytes);
}

static void assert_written(const char *path, const char *text) {
    margin_error error = {0};
    if (margin_file_write(path, text, (int64_t)strlen(text), &error) != MARGIN_OK)
        fail_msg("not written: %s", error.text);
}

static void assert_refused(const char *path, const char *part) {
    margin_error error = {0};
    assert_int_equal(margin_file_write(path, "new", 3, &error), MARGIN_ERROR_FILE);
    assert_contains(error.text, part);
    assert_int_equal(error.status, MARGIN_ERROR_FILE);
}

/* Runs `body` in a child process whose exit code says whether it went well. */
static void in_child(int (*body)(const char *path), const char *path) {
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(body(path));
    int result = 0;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
}

/* ---- Whole files ---------------------------------------------------------------------------- */

static void new_file_has_the_bytes_and_the_usual_mode(void **state) {
    (void)state;
    char path[SUPPORT_PATH];
    mode_t before = umask(027);
    assert_written(in_folder(path, "new.txt"), "hello\n");
    umask(before);
    assert_file(path, "hello\n");
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0640);
    assert_int_equal(entries_in(folder), 1);
    assert_written(path, "");
    assert_file(path, "");
    unlink(path);
}

static void replaced_file_keeps_its_mode(void **state) {
    (void)state;
    char path[SUPPORT_PATH];
    support_write_text(path, folder, "old.txt", "old");
    static const mode_t modes[] = {0600, 0644, 0755, 0606};
    for (int k = 0; k < (int)(sizeof modes / sizeof *modes); k++) {
        assert_int_equal(chmod(path, modes[k]), 0);
        assert_written(path, "new");
        struct stat about;
        assert_int_equal(stat(path, &about), 0);
        assert_int_equal(about.st_mode & 07777, modes[k]);
    }
    assert_file(path, "new");
    assert_int_equal(entries_in(folder), 1);
    unlink(path);
}

static void many_small_and_large_pieces_arrive_in_order(void **state) {
    (void)state;
    static const int sizes[] = {1, 65535, 1, 1, 65536, 7, 200000, 0, 65537, 3};
    char path[SUPPORT_PATH];
    margin_context *context = support_context(NULL, 1);
    mg_output *output = NULL;
    margin_error error;
    assert_int_equal(mg_output_open(context->heap, in_folder(path, "pieces"), &output, &error), 0);
    char *expected = malloc(1000000);
    int64_t length = 0;
    for (int k = 0; k < (int)(sizeof sizes / sizeof *sizes); k++) {
        for (int j = 0; j < sizes[k]; j++)
            expected[length + j] = (char)((length + j) * 31 >> 3);
        assert_int_equal(mg_output_write(output, expected + length, sizes[k], &error), 0);
        length += sizes[k];
    }
    assert_int_equal(access(path, F_OK), -1); /* not before it is complete */
    assert_int_equal(mg_output_commit(output, &error), 0);
    size_t read;
    char *bytes = support_read_file(path, &read);
    assert_int_equal(read, length);
    assert_memory_equal(bytes, expected, (size_t)length);
    free(bytes);
    free(expected);
    unlink(path);
    margin_context_free(context);
}

static void abandoned_output_leaves_the_old_file(void **state) {
    (void)state;
    char path[SUPPORT_PATH];
    support_write_text(path, folder, "kept.txt", "old");
    margin_context *context = support_context(NULL, 1);
    mg_output *output = NULL;
    assert_int_equal(mg_output_open(context->heap, path, &output, NULL), 0);
    assert_int_equal(entries_in(folder), 2);
    char *large = calloc(1, 300000);
    assert_int_equal(mg_output_write(output, large, 300000, NULL), 0);
    free(large);
    mg_output_abandon(output);
    assert_file(path, "old");
    assert_int_equal(entries_in(folder), 1);
    mg_output_abandon(NULL);
    unlink(path);
    margin_context_free(context);
}

/* ---- gzip ----------------------------------------------------------------------------------- */

/* Pieces made elsewhere, bytes before and after them: one stream that zlib reads back. */
static void gz_takes_pieces_and_bytes_mixed(void **state) {
    (void)state;
    char path[SUPPORT_PATH];
    margin_context *context = support_context(NULL, 1);
    mg_output *output = NULL;
    margin_error error;
    enum { LENGTH = 3000000 };
    char *text = malloc(LENGTH), *back = malloc(LENGTH + 1);
    uint64_t random = 9;
    for (int k = 0; k < LENGTH; k++) /* half noise, half easy */
        text[k] = (char)(k < LENGTH / 2 ? (int)(support_random(&random) & 127) : 'a' + k % 7);
    mg_gzip_piece piece = {.heap = context->heap};
    static const int parts[] = {5, 0, 1200000, 7, 700000, 262144, 1};
    assert_int_equal(mg_output_open(context->heap, in_folder(path, "p.gz"), &output, &error), 0);
    assert_true(mg_output_packs(output));
    int at = 0;
    for (int k = 0; at < LENGTH; k = (k + 1) % 7) {
        int length = parts[k] < LENGTH - at ? parts[k] : LENGTH - at;
        if (k % 2 == 0) {
            assert_int_equal(mg_gzip_pack(&piece, text + at, length, &error), MARGIN_OK);
            assert_int_equal(mg_output_write_piece(output, &piece, &error), MARGIN_OK);
        } else {
            assert_int_equal(mg_output_write(output, text + at, length, &error), MARGIN_OK);
        }
        at += length;
    }
    mg_gzip_piece_free(&piece);
    assert_int_equal(mg_output_commit(output, &error), MARGIN_OK);
    gzFile file = gzopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(gzread(file, back, LENGTH + 1), LENGTH);
    assert_memory_equal(back, text, LENGTH);
    assert_int_equal(gzclose(file), Z_OK);
    unlink(path);
    free(text);
    free(back);
    margin_context_free(context);
}

static void gz_names_compress_reproducibly(void **state) {
    (void)state;
    char first[SUPPORT_PATH], second[SUPPORT_PATH];
    enum { LENGTH = 500000 };
    char *text = malloc(LENGTH);
    uint64_t random = 7;
    for (int k = 0; k < LENGTH; k++)
        text[k] = (char)('0' + support_random(&random) % 10);
    assert_int_equal(margin_file_write(in_folder(first, "a.gz"), text, LENGTH, NULL), 0);
    assert_int_equal(margin_file_write(in_folder(second, "b.txt.gz"), text, LENGTH, NULL), 0);
    size_t a, b;
    char *bytes_a = support_read_file(first, &a), *bytes_b = support_read_file(second, &b);
    assert_int_equal(a, b);
    assert_memory_equal(bytes_a, bytes_b, a);
    assert_true(a < LENGTH * 6 / 10);
    static const unsigned char header[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
    assert_memory_equal(bytes_a, header, 10); /* no name, no time, no system */
    free(bytes_a);
    free(bytes_b);

    gzFile file = gzopen(first, "rb");
    assert_non_null(file);
    char *back = malloc(LENGTH + 1);
    assert_int_equal(gzread(file, back, LENGTH + 1), LENGTH);
    assert_memory_equal(back, text, LENGTH);
    assert_int_equal(gzclose(file), Z_OK);
    free(back);
    free(text);

    assert_written(first, "");
    file = gzopen(first, "rb");
    char byte;
    assert_int_equal(gzread(file, &byte, 1), 0);
    assert_int_equal(gzclose(file), Z_OK);
    unlink(first);
    unlink(second);
}

/* ---- Links, pipes, devices ------------------------------------------------------------------ */

static void links_stay_links(void **state) {
    (void)state;
    char real[SUPPORT_PATH], link_path[SUPPORT_PATH], below[SUPPORT_PATH], chain[SUPPORT_PATH];
    struct stat about;
    assert_int_equal(mkdir(in_folder(below, "below"), 0700), 0);
    support_write_text(real, folder, "below/real.txt", "old");
    assert_int_equal(symlink("below/real.txt", in_folder(link_path, "link")), 0);
    assert_int_equal(symlink("link", in_folder(chain, "chain")), 0);
    assert_written(chain, "new");
    assert_int_equal(lstat(chain, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(lstat(link_path, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_file(real, "new");
    assert_int_equal(entries_in(below), 1);

    /* a link to nothing yet, with an absolute target */
    unlink(real);
    unlink(link_path);
    assert_int_equal(symlink(real, link_path), 0);
    assert_written(link_path, "made");
    assert_file(real, "made");
    assert_int_equal(lstat(link_path, &about), 0);
    assert_true(S_ISLNK(about.st_mode));

    unlink(link_path);
    assert_int_equal(symlink("chain", link_path), 0);
    assert_refused(link_path, strerror(ELOOP));
    unlink(link_path);
    unlink(chain);
    unlink(real);
    rmdir(below);
}

static void *drain_pipe(void *argument) {
    FILE *pipe = fopen(argument, "rb");
    long *count = malloc(sizeof *count);
    *count = 0;
    while (pipe && getc(pipe) != EOF)
        (*count)++;
    if (pipe) fclose(pipe);
    return count;
}

static void named_pipe_is_written_not_replaced(void **state) {
    (void)state;
    char path[SUPPORT_PATH];
    assert_int_equal(mkfifo(in_folder(path, "pipe"), 0600), 0);
    pthread_t reader;
    assert_int_equal(pthread_create(&reader, NULL, drain_pipe, path), 0);
    char *bytes = calloc(1, 300000);
    assert_int_equal(margin_file_write(path, bytes, 300000, NULL), 0);
    void *count;
    pthread_join(reader, &count);
    assert_int_equal(*(long *)count, 300000);
    free(count);
    free(bytes);
    struct stat about;
    assert_int_equal(lstat(path, &about), 0);
    assert_true(S_ISFIFO(about.st_mode));
    assert_int_equal(entries_in(folder), 1);
    unlink(path);
}

static void devices_are_written_directly(void **state) {
    (void)state;
    assert_written("/dev/null", "gone");
    struct stat about;
    assert_int_equal(stat("/dev/null", &about), 0);
    assert_true(S_ISCHR(about.st_mode));
    if (access("/dev/full", W_OK) == 0) assert_refused("/dev/full", strerror(ENOSPC));
}

static int write_standard_output(const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0) return 1;
    if (margin_file_write("-", "one\n", 4, NULL) != MARGIN_OK) return 2;
    if (margin_file_write("/dev/stdout", "two\n", 4, NULL) != MARGIN_OK) return 3;
    if (write(STDOUT_FILENO, "three\n", 6) != 6) return 4; /* still open */
    return 0;
}

static void dash_is_standard_output(void **state) {
    (void)state;
    char path[SUPPORT_PATH];
    in_child(write_standard_output, in_folder(path, "stdout.txt"));
    assert_file(path, "one\ntwo\nthree\n");
    assert_int_equal(access("-", F_OK), -1);
    unlink(path);
}

static int write_closed_pipe(const char *path) {
    (void)path;
    int ends[2];
    signal(SIGPIPE, SIG_IGN);
    if (pipe(ends) != 0 || dup2(ends[1], STDOUT_FILENO) < 0) return 1;
    close(ends[0]);
    margin_error error = {0};
    if (margin_file_write("-", "text", 4, &error) != MARGIN_ERROR_FILE) return 2;
    return strstr(error.text, strerror(EPIPE)) ? 0 : 3;
}

static void closed_pipe_is_a_failure(void **state) {
    (void)state;
    in_child(write_closed_pipe, NULL);
}

/* ---- Refusals ------------------------------------------------------------------------------- */

static void wrong_places_are_refused_by_name(void **state) {
    (void)state;
    char path[SUPPORT_PATH];
    assert_refused(folder, "is a folder");
    assert_refused(in_folder(path, "missing/out.csv"), "missing does not exist");
    assert_refused(in_folder(path, "missing/"), "missing/");
    assert_refused("", "name of the output file is empty");
    char text[SUPPORT_PATH];
    support_write_text(text, folder, "file", "x");
    assert_refused(in_folder(path, "file/below"), strerror(ENOTDIR));
    unlink(text);
    char *longest = malloc(6000);
    memset(longest, 'x', 5999);
    longest[5999] = 0;
    assert_refused(longest, strerror(ENAMETOOLONG));
    free(longest);
    char name[300];
    memset(name, 'y', sizeof name);
    name[299] = 0;
    assert_refused(in_folder(path, name), strerror(ENAMETOOLONG));
    assert_int_equal(entries_in(folder), 0);
    margin_error error;
    assert_int_equal(margin_file_write(NULL, "x", 1, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_file_write("x", NULL, 1, &error), MARGIN_ERROR_ARGUMENT);
    assert_int_equal(margin_file_write("x", "x", -1, &error), MARGIN_ERROR_ARGUMENT);
}

/* Permissions do not bind the superuser: the checks run as somebody else. */
static int write_without_rights(const char *path) {
    if (geteuid() == 0 && (setegid(65534) != 0 || seteuid(65534) != 0)) return 1;
    margin_error error = {0};
    if (margin_file_write(path, "new", 3, &error) != MARGIN_ERROR_FILE) return 2;
    return strstr(error.text, strerror(EACCES)) ? 0 : 3;
}

static void missing_rights_are_refused(void **state) {
    (void)state;
    char path[SUPPORT_PATH];
    support_write_text(path, folder, "theirs.txt", "old");
    /* the folder may be written, the file in it may not */
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(chmod(path, 0444), 0);
    in_child(write_without_rights, path);
    assert_file(path, "old");
    /* the file may be written, the folder may not */
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    in_child(write_without_rights, path);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_file(path, "old");
    assert_int_equal(entries_in(folder), 1);
    unlink(path);
}

/* A full disk stands in as a limit on file size: the same system call fails in the same place. */
static int write_more_than_allowed(const char *path) {
    struct rlimit limit = {100000, 100000};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    size_t length = 300000;
    char *bytes = malloc(length);
    if (!bytes) return 2;
    uint64_t random = 1;
    for (size_t k = 0; k < length; k++)
        bytes[k] = (char)support_random(&random);
    margin_error error = {0};
    int code = 0;
    if (margin_file_write(path, bytes, (int64_t)length, &error) != MARGIN_ERROR_FILE) code = 3;
    if (!strstr(error.text, strerror(EFBIG)) || !strstr(error.text, path)) code = 4;
    free(bytes);
    return code;
}

static void full_disk_leaves_the_old_file_and_nothing_else(void **state) {
    (void)state;
    char plain[SUPPORT_PATH], packed[SUPPORT_PATH];
    support_write_text(plain, folder, "plain.bin", "old");
    support_write_text(packed, folder, "packed.gz", "old");
    in_child(write_more_than_allowed, plain);
    in_child(write_more_than_allowed, packed);
    assert_file(plain, "old");
    assert_file(packed, "old");
    assert_int_equal(entries_in(folder), 2);
    unlink(plain);
    unlink(packed);
}

static void nothing_follows_a_failed_write(void **state) {
    (void)state;
    if (access("/dev/full", W_OK) != 0) skip();
    margin_context *context = support_context(NULL, 1);
    mg_output *output = NULL;
    margin_error error;
    char *large = calloc(1, 100000);
    assert_int_equal(mg_output_open(context->heap, "/dev/full", &output, &error), 0);
    assert_int_equal(mg_output_write(output, large, 100000, &error), MARGIN_ERROR_FILE);
    assert_contains(error.text, strerror(ENOSPC));
    assert_int_equal(mg_output_write(output, large, 1, &error), MARGIN_ERROR_FILE);
    assert_contains(error.text, "earlier");
    assert_int_equal(mg_output_commit(output, &error), MARGIN_ERROR_FILE);
    free(large);
    margin_context_free(context);
}

static margin_status write_body(margin_context *context, void *user, margin_error *error) {
    mg_output *output = NULL;
    margin_status status = mg_output_open(context->heap, user, &output, error);
    if (status < 0) {
        assert_null(output);
        assert_int_equal(entries_in(folder), 0);
        return status;
    }
    char *bytes = calloc(1, 200000);
    status = mg_output_write(output, bytes, 200000, error);
    free(bytes);
    if (status == MARGIN_OK) status = mg_output_commit(output, error);
    unlink(user);
    return status;
}

static void failing_allocations_leave_nothing(void **state) {
    (void)state;
    char path[SUPPORT_PATH];
    assert_true(support_fail_each_allocation(1, write_body, in_folder(path, "plain")) >= 2);
    assert_true(support_fail_each_allocation(1, write_body, in_folder(path, "packed.gz")) >= 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_file_has_the_bytes_and_the_usual_mode),
        cmocka_unit_test(replaced_file_keeps_its_mode),
        cmocka_unit_test(many_small_and_large_pieces_arrive_in_order),
        cmocka_unit_test(abandoned_output_leaves_the_old_file),
        cmocka_unit_test(gz_takes_pieces_and_bytes_mixed),
        cmocka_unit_test(gz_names_compress_reproducibly),
        cmocka_unit_test(links_stay_links),
        cmocka_unit_test(named_pipe_is_written_not_replaced),
        cmocka_unit_test(devices_are_written_directly),
        cmocka_unit_test(dash_is_standard_output),
        cmocka_unit_test(closed_pipe_is_a_failure),
        cmocka_unit_test(wrong_places_are_refused_by_name),
        cmocka_unit_test(missing_rights_are_refused),
        cmocka_unit_test(full_disk_leaves_the_old_file_and_nothing_else),
        cmocka_unit_test(nothing_follows_a_failed_write),
        cmocka_unit_test(failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
