/* Where text comes from.
 *
 * A regular file on a local disk is mapped: no copy, and pages that were parsed are given back, so
 * the file adds next to nothing to peak memory. The map lies inside a larger reservation of zero
 * pages, which gives the guards before and after. What a map cannot survive is a file that becomes
 * shorter while it is read (the system kills the process). That is likely on network and user-space
 * file systems and while another program is still writing, so files there, and files changed within
 * the last seconds, are read into memory instead. A change that happens later all the same is found
 * at the end (mg_source_unchanged), unless it cuts the file off under the parser; nothing short of
 * a signal handler, which a library must not install, helps then.
 *
 * Texts in memory that come from a regular file (.gz, network) can be read once more. Their pages
 * are given back behind the parser too, so the peak is about the larger of text and result; the
 * rare second pass (a column whose type changes, the line number of an error) restores them. Pipes
 * and bytes of the caller stay in memory as a whole. */
#include "data/source/source.h"

#include "base/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/vfs.h>
#endif

enum {
    SETTLE_SECONDS = 2,       /* a file older than this is not being written any more */
    FAULT_WINDOW = 64 * 1024, /* the system maps this much around a touched page */
    POSITION_BYTES = 1024     /* longest sentence of mg_fail_source */
};

typedef struct source_inner {
    margin_context *context;
    int descriptor;        /* of a regular file, else -1 */
    bool close_descriptor; /* not for standard input */
    mg_source_look look;
    struct stat stamp;    /* of the regular file when it was opened */
    char *map;            /* reservation with the mapped file in it, or NULL */
    size_t map_bytes;     /* of the reservation */
    char *block;          /* heap: guard, text, guard; or NULL */
    bool restorable;      /* the text in `block` can be read once more */
    atomic_bool released; /* some of it was given back */
    int64_t page;
} source_inner;

static const struct timespec *change_time(const struct stat *stamp) {
    return &stamp->st_mtim;
}

/* ---- Opening -------------------------------------------------------------------------------- */

static margin_status source_new(margin_context *context, const char *name, mg_source *source,
                                margin_error *error) {
    source_inner *inner = NULL;
    MG_NEW(context->heap, inner, 1, "reading a file", error);
    *inner = (source_inner){.context = context, .descriptor = -1, .page = sysconf(_SC_PAGESIZE)};
    atomic_init(&inner->released, false);
    *source = (mg_source){.name = name, .inner = inner, .heap = context->heap};
    return MARGIN_OK;
}

void mg_source_close(mg_source *source) {
    source_inner *inner = source->inner;
    if (!inner) return;
    if (inner->map) munmap(inner->map, inner->map_bytes);
    if (inner->close_descriptor) close(inner->descriptor);
    MG_FREE(source->heap, inner->block, inner);
    *source = (mg_source){0};
}

/* Maps the file between two guard pages of zeros; false where the system refuses. */
static bool map_file(source_inner *inner, mg_source *source) {
    size_t page = (size_t)inner->page, length = (size_t)inner->stamp.st_size;
    size_t bytes = (length + page - 1) / page * page + 2 * page;
    char *map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) return false;
    if (mmap(map + page, length, PROT_READ, MAP_PRIVATE | MAP_FIXED, inner->descriptor, 0) ==
        MAP_FAILED) {
        munmap(map, bytes);
        return false;
    }
    inner->map = map;
    inner->map_bytes = bytes;
    source->text = map + page;
    source->length = (int64_t)length;
    return true;
}

/* File systems where another machine or process may cut a file off without our kernel knowing. */
static bool is_remote(int descriptor) {
#if defined(__linux__)
    static const uint32_t kinds[] = {
        0x6969 /* NFS */,      0x517b /* SMB */,    0xff534d42 /* CIFS */, 0xfe534d42 /* SMB2 */,
        0x65735546 /* FUSE */, 0x01021997 /* 9P */, 0x5346414f /* AFS */,  0x00c36400 /* Ceph */};
    struct statfs about;
    if (fstatfs(descriptor, &about) != 0) return true;
    for (int k = 0; k < MG_LENGTH(kinds); k++)
        if ((uint32_t)about.f_type == kinds[k]) return true;
    return false;
#else
    (void)descriptor;
    return false;
#endif
}

static bool is_settled(const struct stat *stamp) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec - change_time(stamp)->tv_sec > SETTLE_SECONDS;
}

static mg_stream file_stream(const source_inner *inner, const char *name) {
    return (mg_stream){.name = name,
                       .descriptor = inner->descriptor,
                       .seekable = true,
                       .length = (int64_t)inner->stamp.st_size,
                       .look = inner->look};
}

/* Makes the collected text the source's. */
static void adopt(source_inner *inner, mg_source *source, const mg_stream_text *text) {
    inner->block = text->block;
    source->text = text->block + MG_SOURCE_GUARD;
    source->length = text->length;
    source->compressed = text->compressed;
}

static margin_status open_regular(mg_source *source, margin_error *error) {
    source_inner *inner = source->inner;
    mg_stream stream = file_stream(inner, source->name);
    bool may_map = stream.length > 0 && !mg_stream_is_gzip(&stream) && is_settled(&inner->stamp) &&
                   !is_remote(inner->descriptor);
    if (may_map && map_file(inner, source)) return MARGIN_OK;
    mg_stream_text text;
    MG_TRY(mg_stream_collect(inner->context, &stream, &text, error));
    adopt(inner, source, &text);
    inner->restorable = true;
    return MARGIN_OK;
}

static margin_status open_stream(mg_source *source, int descriptor, margin_error *error) {
    source_inner *inner = source->inner;
    mg_stream stream = {
        .name = source->name, .descriptor = descriptor, .length = -1, .look = inner->look};
    mg_stream_text text;
    MG_TRY(mg_stream_collect(inner->context, &stream, &text, error));
    adopt(inner, source, &text);
    return MARGIN_OK;
}

static margin_status open_descriptor(mg_source *source, int descriptor, bool standard_input,
                                     margin_error *error) {
    source_inner *inner = source->inner;
    if (fstat(descriptor, &inner->stamp) != 0)
        return mg_fail_file(error, errno, "cannot read %s: %s", source->name, strerror(errno));
    if (S_ISDIR(inner->stamp.st_mode))
        return mg_fail_file(error, EISDIR, "cannot read %s: it is a folder, not a file",
                            source->name);
    bool from_start = !standard_input || lseek(descriptor, 0, SEEK_CUR) == 0;
    if (!S_ISREG(inner->stamp.st_mode) || !from_start)
        return open_stream(source, descriptor, error);
    inner->descriptor = descriptor;
    return open_regular(source, error);
}

/* A named pipe waits here for its writer. -1 with EINTR: the context was cancelled. */
static int open_file(margin_context *context, const char *path) {
    int descriptor;
    do
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (descriptor < 0 && errno == EINTR && !mg_cancelled(context));
    return descriptor;
}

margin_status mg_source_open(margin_context *context, const char *path, mg_source_look look,
                             mg_source *source, margin_error *error) {
    bool standard_input = strcmp(path, "-") == 0;
    int descriptor = standard_input ? STDIN_FILENO : open_file(context, path);
    if (descriptor < 0 && errno == EINTR) return mg_fail_cancelled(error);
    if (descriptor < 0)
        return mg_fail_file(error, errno, "cannot open %s: %s", path, strerror(errno));
    mg_source opened = {0};
    margin_status status =
        source_new(context, standard_input ? "standard input" : path, &opened, error);
    source_inner *inner = opened.inner;
    if (status == MARGIN_OK) {
        inner->look = look;
        status = open_descriptor(&opened, descriptor, standard_input, error);
    }
    bool keep = status == MARGIN_OK && inner->descriptor >= 0;
    if (keep)
        inner->close_descriptor = !standard_input;
    else if (!standard_input)
        close(descriptor);
    if (status == MARGIN_OK)
        *source = opened;
    else
        mg_source_close(&opened);
    return status;
}

margin_status mg_source_memory(margin_context *context, const void *bytes, int64_t length,
                               const char *name, mg_source *source, margin_error *error) {
    MG_REQUIRE(length >= 0 && (bytes || length == 0), error, MARGIN_ERROR_ARGUMENT,
               "the text to read is NULL or has a negative length");
    mg_source opened = {0};
    mg_stream stream = {
        .name = name ? name : "text", .descriptor = -1, .bytes = bytes, .length = length};
    mg_stream_text text;
    MG_TRY(source_new(context, stream.name, &opened, error));
    margin_status status = mg_stream_collect(context, &stream, &text, error);
    if (status == MARGIN_OK) {
        adopt(opened.inner, &opened, &text);
        *source = opened;
    } else {
        mg_source_close(&opened);
    }
    return status;
}

/* ---- Giving back and restoring -------------------------------------------------------------- */

void mg_source_done(const mg_source *source, int64_t first, int64_t last) {
    source_inner *inner = source->inner;
    if (!inner->map && !inner->restorable) return;
    uintptr_t page = (uintptr_t)inner->page, text = (uintptr_t)source->text;
    uintptr_t low = text + (uintptr_t)first, high = (text + (uintptr_t)last) / page * page;
    if (inner->map) {
        /* What the system mapped around the first touch lies before it and was parsed as well. */
        uintptr_t window = MG_MIN((uintptr_t)first, (uintptr_t)FAULT_WINDOW);
        low = (low - window) / page * page;
    } else {
        low = (low + page - 1) / page * page;
    }
    if (low >= high) return;
    if (!inner->map) atomic_store_explicit(&inner->released, true, memory_order_relaxed);
    madvise((void *)low, high - low, MADV_DONTNEED);
}

void mg_source_set_aside(const mg_source *source, int64_t first, int64_t last) {
    const source_inner *inner = source->inner;
    if (inner->map) mg_source_done(source, first, last);
}

margin_status mg_source_restore(const mg_source *source, margin_error *error) {
    source_inner *inner = source->inner;
    if (!atomic_load_explicit(&inner->released, memory_order_relaxed)) return MARGIN_OK;
    mg_stream stream = file_stream(inner, source->name);
    MG_TRY(mg_stream_repeat(inner->context, &stream, inner->block + MG_SOURCE_GUARD, source->length,
                            error));
    atomic_store_explicit(&inner->released, false, memory_order_relaxed);
    return MARGIN_OK;
}

margin_status mg_source_unchanged(const mg_source *source, margin_error *error) {
    const source_inner *inner = source->inner;
    struct stat now;
    if (inner->descriptor < 0 || fstat(inner->descriptor, &now) != 0) return MARGIN_OK;
    const struct timespec *before = change_time(&inner->stamp), *after = change_time(&now);
    bool same = now.st_size == inner->stamp.st_size && before->tv_sec == after->tv_sec &&
                before->tv_nsec == after->tv_nsec;
    MG_REQUIRE(same, error, MARGIN_ERROR_FILE,
               "%s changed while it was being read: read it again once it is complete",
               source->name);
    return MARGIN_OK;
}

/* ---- Positions ------------------------------------------------------------------------------ */

void mg_source_position(const mg_source *source, int64_t offset, int64_t *line, int64_t *column) {
    *line = *column = 0;
    if (mg_source_restore(source, NULL) != MARGIN_OK) return;
    const char *at = source->text, *end = source->text + MG_MIN(offset, source->length);
    for (int64_t count = 1;; count++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (!newline) {
            *line = count;
            *column = end - at + 1;
            return;
        }
        at = newline + 1;
    }
}

margin_status mg_fail_source(margin_error *error, const mg_source *source, int64_t offset,
                             const char *format, ...) {
    if (!error) return MARGIN_ERROR_FORMAT;
    char sentence[POSITION_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    mg_place place = {.position = -1};
    mg_source_position(source, offset, &place.line, &place.column);
    return mg_fail_at(error, MARGIN_ERROR_FORMAT, place, "%s:%lld:%lld: %s", source->name,
                      (long long)place.line, (long long)place.column, sentence);
}
