/* Output files that appear whole or not at all.
 *
 * A regular file is written under a temporary name in the folder of its target and renamed over it
 * once every byte is on disk. A link keeps pointing where it did: the file behind it is replaced.
 * What cannot be renamed over (standard output, pipes, devices) is written directly. */
#include "data/source/file_output.h"
#include "base/text/nearest.h"

#include "margin/data.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    BUFFER_BYTES = 1 << 18, /* small writes are gathered to this size */
    LARGE_BYTES = 1 << 16,  /* from here on a copy into the buffer is not worth it */
    CHUNK_BYTES = 1 << 30,  /* most that one system call is given */
    SHOWN_PATH = 600,       /* of a long path, so that the reason fits behind it */
    MAX_LINKS = 40,         /* links followed before giving up, as the kernel does */
    MAX_NAME_TRIES = 100    /* for a temporary name that is not taken */
};

struct mg_output {
    mg_heap *heap;
    char *path;               /* as given, for messages */
    char target[PATH_MAX];    /* the file behind all links */
    char temporary[PATH_MAX]; /* what is being written; empty: written directly */
    int fd;
    bool borrowed;       /* standard output: not closed */
    bool failed;         /* a write failed; only abandoning is left */
    bool finished;       /* nothing is left to be written */
    bool packing;        /* gzip, by `piece` */
    mg_gzip_piece piece; /* what is compressed here */
    uint32_t crc;        /* of the raw bytes so far */
    int64_t raw_length;
    int64_t buffered;
    char buffer[BUFFER_BYTES];
};

/* ---- Failures ------------------------------------------------------------------------------- */

/* The folder part of a path, without its last slash; "." if there is none. */
static void folder_of(const char *path, char folder[PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    if (!slash) {
        memcpy(folder, ".", 2);
        return;
    }
    size_t length = slash == path ? 1 : (size_t)(slash - path);
    memcpy(folder, path, length);
    folder[length] = 0;
}

static margin_status fail_write(margin_error *error, const char *path, int code) {
    const char *shown = strcmp(path, "-") != 0 ? path : "standard output";
    return mg_fail_file(error, code, "cannot write %.*s: %s", SHOWN_PATH, shown, strerror(code));
}

/* Opening failed: most often it is the folder that is at fault, so say which. */
static margin_status fail_create(margin_error *error, const mg_output *output, int code) {
    char folder[PATH_MAX];
    folder_of(output->target, folder);
    if (code == ENOENT && access(folder, F_OK) != 0)
        return mg_fail_file(error, code,
                            "cannot write %.*s: the folder %.200s does not exist; make it first",
                            SHOWN_PATH, output->path, folder);
    if (code == EACCES || code == EROFS || code == EPERM)
        return mg_fail_file(error, code,
                            "cannot write %.*s: no file can be made in the folder %.200s: %s",
                            SHOWN_PATH, output->path, folder, strerror(code));
    return fail_write(error, output->path, code);
}

margin_status mg_output_check_name(const char *path, margin_error *error) {
    struct stat old;
    const int64_t length = (int64_t)strlen(path);
    const bool found = stat(path, &old) == 0;
    if (strcmp(path, "-") == 0) return MARGIN_OK;
    if (found && S_ISDIR(old.st_mode))
        return mg_fail_file(error, EISDIR,
                            "cannot write %.*s: it is a folder; give the name of a file",
                            SHOWN_PATH, path);
    if (!found && length > 0 && path[length - 1] == '/')
        return mg_fail_file(error, ENOENT,
                            "cannot write %.*s: the folder %.*s does not exist; make it first, and "
                            "give the name of a file in it",
                            SHOWN_PATH, path, (int)MG_MIN(length - 1, 200), path);
    return MARGIN_OK;
}

/* ---- Writing -------------------------------------------------------------------------------- */

static margin_status write_bytes(mg_output *output, const char *bytes, int64_t length,
                                 margin_error *error) {
    while (length > 0) {
        ssize_t written = write(output->fd, bytes, (size_t)MG_MIN(length, CHUNK_BYTES));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            output->failed = true;
            return fail_write(error, output->path, errno);
        }
        bytes += written;
        length -= written;
    }
    return MARGIN_OK;
}

static margin_status check_usable(const mg_output *output, margin_error *error) {
    MG_REQUIRE(!output->failed, error, MARGIN_ERROR_FILE,
               "cannot write %.*s: an earlier write failed", SHOWN_PATH, output->path);
    return MARGIN_OK;
}

static margin_status add_piece(mg_output *output, const mg_gzip_piece *piece, margin_error *error) {
    MG_TRY(write_bytes(output, piece->data, piece->length, error));
    output->crc = mg_gzip_crc_of(output->crc, piece);
    output->raw_length += piece->raw_length;
    return MARGIN_OK;
}

/* Sends bytes on their way, compressed in pieces of the buffer's size. */
static margin_status send_bytes(mg_output *output, const char *bytes, int64_t length,
                                margin_error *error) {
    if (!output->packing) return write_bytes(output, bytes, length, error);
    margin_status status = MARGIN_OK;
    for (int64_t done = 0; done < length && status == MARGIN_OK; done += BUFFER_BYTES) {
        const int64_t part = MG_MIN(length - done, BUFFER_BYTES);
        status = mg_gzip_pack(&output->piece, bytes + done, part, error);
        if (status == MARGIN_OK) status = add_piece(output, &output->piece, error);
    }
    output->failed |= status < 0;
    return status;
}

static margin_status flush(mg_output *output, margin_error *error) {
    const int64_t length = output->buffered;
    output->buffered = 0;
    return length > 0 ? send_bytes(output, output->buffer, length, error) : MARGIN_OK;
}

margin_status mg_output_write(mg_output *output, const void *bytes, int64_t length,
                              margin_error *error) {
    MG_TRY(check_usable(output, error));
    if (length <= 0) return MARGIN_OK;
    const bool large = length >= (output->packing ? BUFFER_BYTES : LARGE_BYTES);
    if (large || output->buffered + length > BUFFER_BYTES) MG_TRY(flush(output, error));
    if (large) return send_bytes(output, bytes, length, error);
    memcpy(output->buffer + output->buffered, bytes, (size_t)length);
    output->buffered += length;
    return MARGIN_OK;
}

bool mg_output_packs(const mg_output *output) {
    return output->packing;
}

margin_status mg_output_write_piece(mg_output *output, const mg_gzip_piece *piece,
                                    margin_error *error) {
    MG_TRY(check_usable(output, error));
    MG_TRY(flush(output, error));
    return add_piece(output, piece, error);
}

/* ---- Opening -------------------------------------------------------------------------------- */

/* Follows links at the end of the path, also one that points to nothing yet. 0 or an error code. */
static int resolve_links(const char *path, char target[PATH_MAX]) {
    size_t length = strlen(path);
    if (length >= PATH_MAX) return ENAMETOOLONG;
    memcpy(target, path, length + 1);
    for (int links = 0; links < MAX_LINKS; links++) {
        char link[PATH_MAX];
        ssize_t link_length = readlink(target, link, sizeof link);
        if (link_length < 0) return 0; /* not a link, or not there: opening will tell */
        size_t kept = 0;
        char *slash = strrchr(target, '/');
        if (link[0] != '/' && slash) kept = (size_t)(slash - target) + 1;
        if (kept + (size_t)link_length >= PATH_MAX) return ENAMETOOLONG;
        memcpy(target + kept, link, (size_t)link_length);
        target[kept + (size_t)link_length] = 0;
    }
    return ELOOP;
}

/* Makes <folder>/.margin-<process>-<time>.part; returns its descriptor or -1 with errno set. */
static int create_temporary(const char *target, char temporary[PATH_MAX]) {
    char folder[PATH_MAX];
    folder_of(target, folder);
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    for (int attempt = 0; attempt < MAX_NAME_TRIES; attempt++) {
        int length = snprintf(
            temporary, PATH_MAX, "%s/.margin-%lx-%llx%02x.part", folder, (unsigned long)getpid(),
            (unsigned long long)now.tv_sec << 30 | (unsigned long long)now.tv_nsec,
            (unsigned)attempt);
        if (length >= PATH_MAX) {
            errno = ENAMETOOLONG;
            break;
        }
        int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) {
            if (fd < 0) temporary[0] = 0;
            return fd;
        }
    }
    temporary[0] = 0;
    return -1;
}

/* The new file takes over owner and permissions of the one it replaces. */
static void copy_rights(int fd, const struct stat *old) {
    mode_t mode = old->st_mode & 07777;
    if (fchown(fd, old->st_uid, old->st_gid) != 0) mode &= 0777;
    if (fchmod(fd, mode) != 0) return; /* not ours to decide: some file systems have none */
}

static margin_status open_regular(mg_output *output, const struct stat *old, margin_error *error) {
    if (old && faccessat(AT_FDCWD, output->target, W_OK, AT_EACCESS) != 0)
        return fail_write(error, output->path, errno);
    output->fd = create_temporary(output->target, output->temporary);
    if (output->fd < 0) return fail_create(error, output, errno);
    if (old) copy_rights(output->fd, old);
    return MARGIN_OK;
}

static margin_status open_target(mg_output *output, margin_error *error) {
    if (strcmp(output->path, "-") == 0 || strcmp(output->path, "/dev/stdout") == 0) {
        output->fd = STDOUT_FILENO;
        output->borrowed = true;
        return MARGIN_OK;
    }
    MG_REQUIRE(output->path[0], error, MARGIN_ERROR_FILE, "the name of the output file is empty");
    int code = resolve_links(output->path, output->target);
    if (code != 0) return fail_write(error, output->path, code);
    MG_TRY(mg_output_check_name(output->path, error));
    MG_TRY(mg_output_check_name(output->target, error));
    struct stat old;
    if (stat(output->path, &old) != 0) return open_regular(output, NULL, error);
    if (S_ISREG(old.st_mode)) return open_regular(output, &old, error);
    do /* a named pipe waits here for its reader */
        output->fd = open(output->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    while (output->fd < 0 && errno == EINTR);
    return output->fd >= 0 ? MARGIN_OK : fail_write(error, output->path, errno);
}

margin_status mg_output_open(mg_heap *heap, const char *path, mg_output **output,
                             margin_error *error) {
    MG_REQUIRE(path, error, MARGIN_ERROR_ARGUMENT, "the path of the output is NULL");
    mg_output *opened = mg_new(heap, 1, sizeof *opened);
    if (!opened) return mg_no_memory(heap, 1, sizeof *opened, "the output buffer", error);
    memset(opened, 0, offsetof(mg_output, buffer));
    opened->heap = mg_heap_retain(heap);
    opened->fd = -1;
    margin_status status = MARGIN_OK;
    MG_GO(mg_take_text(heap, path, -1, "the name of the output", &opened->path, error));
    opened->packing = mg_ends_with(path, (int64_t)strlen(path), ".gz");
    opened->piece.heap = heap;
    MG_GO(open_target(opened, error));
    if (opened->packing) {
        char header[MG_GZIP_HEADER];
        mg_gzip_header(header);
        MG_GO(write_bytes(opened, header, sizeof header, error));
    }
    *output = opened;
    opened = NULL;
done:
    mg_output_abandon(opened);
    return status;
}

/* ---- Ending --------------------------------------------------------------------------------- */

/* Closes, removes what is unfinished, frees. */
void mg_output_abandon(mg_output *output) {
    if (!output) return;
    mg_gzip_piece_free(&output->piece);
    if (output->fd >= 0 && !output->borrowed) close(output->fd);
    if (output->temporary[0]) unlink(output->temporary);
    mg_heap *heap = output->heap;
    MG_FREE(heap, output->path, output);
    mg_heap_release(heap);
}

/* Makes the rename itself last; a file system that cannot do that loses only that guarantee. */
static void sync_folder(const char *target) {
    char folder[PATH_MAX];
    folder_of(target, folder);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    (void)fsync(fd);
    close(fd);
}

margin_status mg_output_finish(mg_output *output, margin_error *error) {
    MG_TRY(check_usable(output, error));
    MG_TRY(flush(output, error));
    if (output->packing) {
        char end[MG_GZIP_END];
        mg_gzip_end(output->crc, output->raw_length, end);
        MG_TRY(write_bytes(output, end, sizeof end, error));
    }
    output->finished = output->borrowed;
    if (output->borrowed) return MARGIN_OK;
    if (output->temporary[0] && fsync(output->fd) != 0)
        return fail_write(error, output->path, errno);
    int fd = output->fd;
    output->fd = -1;
    output->finished = close(fd) == 0 || errno == EINTR;
    return output->finished ? MARGIN_OK : fail_write(error, output->path, errno);
}

static margin_status appear(mg_output *output, margin_error *error) {
    if (!output->temporary[0]) return MARGIN_OK;
    if (rename(output->temporary, output->target) != 0)
        return fail_write(error, output->path, errno);
    output->temporary[0] = 0;
    sync_folder(output->target);
    return MARGIN_OK;
}

margin_status mg_output_commit(mg_output *output, margin_error *error) {
    margin_status status = output->finished ? MARGIN_OK : mg_output_finish(output, error);
    if (status >= 0) status = appear(output, error);
    mg_output_abandon(output);
    return status;
}

margin_status margin_file_write(const char *path, const void *bytes, int64_t length,
                                margin_error *error) {
    MG_REQUIRE(path && (bytes || length == 0) && length >= 0, error, MARGIN_ERROR_ARGUMENT,
               "margin_file_write: path or bytes is NULL, or length is negative");
    mg_heap *heap = NULL;
    mg_output *output = NULL;
    margin_status status;
    MG_GO(mg_heap_create(NULL, 0, &heap, error));
    MG_GO(mg_output_open(heap, path, &output, error));
    MG_GO(mg_output_write(output, bytes, length, error));
    status = mg_output_commit(output, error);
    output = NULL;
done:
    mg_output_abandon(output);
    if (heap) mg_heap_release(heap);
    return status;
}
