/* Reading streams into memory. The text grows as a list of pieces that are joined at the end, each
 * released as soon as it is copied, so the peak is the text and one piece. Where the length is
 * known (a regular file, gzip's trailer) there is one piece, widened once after the first look. */
#include "data/source/source_stream.h"

#include "data/source/gzip_piece.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum {
    STEP_BYTES = 1 << 18,      /* between two looks at cancel and progress */
    FIRST_PIECE = 1 << 20,     /* pieces double from here ... */
    LARGEST_PIECE = 1 << 26,   /* ... to here */
    WAIT_MILLISECONDS = 50,    /* a pipe that says nothing must not hide a cancel */
    GZIP_LARGEST_RATIO = 1032, /* deflate cannot do better; bounds a trailer's claim */
    GZIP_FIRST = 0x1f,
    GZIP_SECOND = 0x8b
};

typedef struct piece {
    struct piece *next;
    int64_t used, capacity;
    char *block; /* guard, capacity bytes, guard */
} piece;

/* Receives the text: either pieces, or a fixed buffer that must be filled exactly. */
typedef struct sink {
    mg_heap *heap;
    piece *first, *last;
    char *fixed;
    int64_t fixed_length;
    int64_t total, expected;    /* bytes; 0: the length is not known */
    mg_source_look look;        /* NULL: it has looked */
    bool lines;                 /* are counted: somebody looks, or looked */
    int64_t longest_line, line; /* bytes; of the line that has no end yet */
} sink;

static void sink_free(sink *into) {
    while (into->first) {
        piece *next = into->first->next;
        MG_FREE(into->heap, into->first->block, into->first);
        into->first = next;
    }
    into->last = NULL;
}

static margin_status sink_add_piece(sink *into, int64_t capacity, margin_error *error) {
    piece *added = NULL;
    MG_NEW(into->heap, added, 1, "the text of a file", error);
    *added = (piece){.capacity = capacity};
    added->block = mg_new(into->heap, capacity + 2 * MG_SOURCE_GUARD, 1);
    if (!added->block) {
        mg_free(into->heap, added);
        return mg_no_memory(into->heap, capacity + 2 * MG_SOURCE_GUARD, 1, "the text of a file",
                            error);
    }
    if (into->last)
        into->last->next = added;
    else
        into->first = added;
    into->last = added;
    return MARGIN_OK;
}

/* Once somebody has looked, the first piece takes the rest of a text whose length is known, and one
 * byte more, so that its end is seen without another piece. */
static margin_status sink_widen(sink *into, margin_error *error) {
    const int64_t capacity = into->expected + 1;
    char *block = mg_resize(into->heap, into->first->block, capacity + 2 * MG_SOURCE_GUARD, 1);
    if (!block)
        return mg_no_memory(into->heap, capacity + 2 * MG_SOURCE_GUARD, 1, "the text of a file",
                            error);
    into->first->block = block;
    into->first->capacity = capacity;
    return MARGIN_OK;
}

/* Room for at least one byte more: its place and size. */
static margin_status sink_room(sink *into, const char *name, char **place, int64_t *room,
                               margin_error *error) {
    if (into->fixed) {
        *place = into->fixed + into->total;
        *room = into->fixed_length - into->total;
        MG_REQUIRE(*room > 0, error, MARGIN_ERROR_FILE,
                   "%s changed while it was being read: read it again once it is complete", name);
        return MARGIN_OK;
    }
    if (into->last->used == into->last->capacity && into->total < into->expected) {
        MG_TRY(sink_widen(into, error));
    } else if (into->last->used == into->last->capacity) {
        int64_t capacity = MG_MIN(MG_MAX(into->total, (int64_t)FIRST_PIECE), LARGEST_PIECE);
        MG_TRY(sink_add_piece(into, capacity, error));
    }
    *place = into->last->block + MG_SOURCE_GUARD + into->last->used;
    *room = into->last->capacity - into->last->used;
    return MARGIN_OK;
}

/* Zeros without end, or another kind of file: a table has lines. Seen at the end of each step. */
static margin_status check_line(sink *into, const char *added, int64_t count, const char *name,
                                margin_error *error) {
    int64_t last = count;
    while (last > 0 && added[last - 1] != '\n')
        last--;
    into->line = count - last + (last > 0 ? 0 : into->line);
    MG_REQUIRE(into->longest_line == 0 || into->line <= into->longest_line, error,
               MARGIN_ERROR_FORMAT,
               "%s: a row is longer than %lld bytes, which is the limit: is this a table?", name,
               (long long)into->longest_line);
    return MARGIN_OK;
}

static margin_status sink_advance(sink *into, int64_t count, const char *name,
                                  margin_error *error) {
    const mg_source_look look = into->look;
    into->total += count;
    if (into->fixed) return MARGIN_OK;
    const char *added = into->last->block + MG_SOURCE_GUARD + into->last->used;
    into->last->used += count;
    if (look && into->total >= MG_SOURCE_HEAD) {
        into->look = NULL;
        MG_TRY(look(name, into->first->block + MG_SOURCE_GUARD, MG_SOURCE_HEAD, &into->longest_line,
                    error));
    }
    return into->lines ? check_line(into, added, count, name, error) : MARGIN_OK;
}

/* Hands over the text as one guarded block and empties the sink. */
static margin_status sink_join(sink *into, char **block, margin_error *error) {
    char *whole;
    if (into->first == into->last) {
        whole = into->first->block;
        into->first->block = NULL;
    } else {
        int64_t bytes = into->total + 2 * MG_SOURCE_GUARD;
        MG_NEW(into->heap, whole, bytes, "the text of a file", error);
        char *end = whole + MG_SOURCE_GUARD;
        for (piece *part = into->first; part; part = part->next) {
            memcpy(end, part->block + MG_SOURCE_GUARD, (size_t)part->used);
            end += part->used;
            mg_free(into->heap, part->block);
            part->block = NULL;
        }
    }
    memset(whole, 0, MG_SOURCE_GUARD);
    memset(whole + MG_SOURCE_GUARD + into->total, 0, MG_SOURCE_GUARD);
    *block = whole;
    sink_free(into);
    return MARGIN_OK;
}

/* ---- Bytes in ------------------------------------------------------------------------------- */

static margin_status fail_read(const mg_stream *stream, int code, margin_error *error) {
    return mg_fail_file(error, code, "cannot read %s: %s", stream->name, strerror(code));
}

/* Waits until a pipe has something to say or the context is cancelled. */
static margin_status wait_readable(margin_context *context, const mg_stream *stream,
                                   margin_error *error) {
    struct pollfd wanted = {.fd = stream->descriptor, .events = POLLIN};
    for (;;) {
        if (mg_cancelled(context)) return mg_fail_cancelled(error);
        int ready = poll(&wanted, 1, WAIT_MILLISECONDS);
        if (ready > 0) return MARGIN_OK;
        if (ready < 0 && errno != EINTR) return fail_read(stream, errno, error);
    }
}

/* Next bytes of the stream, at most `room`; *count 0 at its end. */
static margin_status stream_next(margin_context *context, mg_stream *stream, char *place,
                                 int64_t room, int64_t *count, margin_error *error) {
    if (mg_cancelled(context)) return mg_fail_cancelled(error);
    *count = 0;
    room = MG_MIN(room, (int64_t)STEP_BYTES);
    if (stream->descriptor < 0) {
        *count = MG_MIN(room, stream->length - stream->offset);
        if (*count) memcpy(place, stream->bytes + stream->offset, (size_t)*count);
        stream->offset += *count;
        return MARGIN_OK;
    }
    for (;;) {
        if (!stream->seekable) MG_TRY(wait_readable(context, stream, error));
        ssize_t got = stream->seekable
                          ? pread(stream->descriptor, place, (size_t)room, (off_t)stream->offset)
                          : read(stream->descriptor, place, (size_t)room);
        if (got >= 0) {
            *count = got;
            stream->offset += got;
            return MARGIN_OK;
        }
        if (errno != EINTR && errno != EAGAIN) return fail_read(stream, errno, error);
    }
}

static void report_progress(margin_context *context, const mg_stream *stream) {
    double total = stream->length > 0 ? (double)stream->length : 0;
    mg_progress(context, "reading", (double)stream->offset, total, (double)NAN);
}

/* `head` bytes of the stream were read ahead into `start`. */
static margin_status copy_plain(margin_context *context, mg_stream *stream, const char *start,
                                int64_t head, sink *into, margin_error *error) {
    for (int64_t copied = 0, count = 1; count > 0;) {
        char *place = NULL;
        int64_t room = 0;
        if (into->fixed && into->total == into->fixed_length && copied == head) {
            /* It must be the end now; sink_room below refuses if it is not. */
            char beyond;
            MG_TRY(stream_next(context, stream, &beyond, 1, &count, error));
            if (count == 0) break;
        }
        MG_TRY(sink_room(into, stream->name, &place, &room, error));
        if (copied < head) {
            count = MG_MIN(room, head - copied);
            memcpy(place, start + copied, (size_t)count);
            copied += count;
        } else {
            MG_TRY(stream_next(context, stream, place, room, &count, error));
        }
        MG_TRY(sink_advance(into, count, stream->name, error));
        report_progress(context, stream);
    }
    return MARGIN_OK;
}

/* ---- gzip ----------------------------------------------------------------------------------- */

/* State of one pass through a gzip stream; `input` holds STEP_BYTES. */
typedef struct gunzip {
    margin_context *context;
    mg_stream *stream;
    sink *into;
    z_stream z;
    char *input;
    bool members_done; /* only zero padding may follow */
} gunzip;

static int64_t gunzip_offset(const gunzip *state) {
    return state->stream->offset - (int64_t)state->z.avail_in;
}

static margin_status gunzip_refill(gunzip *state, bool *ended, margin_error *error) {
    int64_t count = 0;
    MG_TRY(stream_next(state->context, state->stream, state->input, STEP_BYTES, &count, error));
    state->z.next_in = (Bytef *)state->input;
    state->z.avail_in = (uInt)count;
    *ended = count == 0;
    report_progress(state->context, state->stream);
    return MARGIN_OK;
}

/* After the end of a member: another one, zero padding (as tapes and some tools leave), or the end.
 * Sets members_done unless another member follows. */
static margin_status gunzip_next_member(gunzip *state, margin_error *error) {
    z_stream *z = &state->z;
    for (bool ended = false; !ended;) {
        while (z->avail_in && *z->next_in == 0) {
            z->next_in++;
            z->avail_in--;
            state->members_done = true; /* padding is the last thing in a file */
        }
        if (z->avail_in) {
            MG_REQUIRE(*z->next_in == GZIP_FIRST && !state->members_done, error,
                       MARGIN_ERROR_FORMAT,
                       "%s: bytes that are not gzip follow the compressed data at byte %lld: the "
                       "file is damaged or something was appended to it",
                       state->stream->name, (long long)gunzip_offset(state));
            inflateReset(z);
            return MARGIN_OK;
        }
        MG_TRY(gunzip_refill(state, &ended, error));
    }
    state->members_done = true;
    return MARGIN_OK;
}

static margin_status gunzip_fail(const gunzip *state, int code, margin_error *error) {
    if (code == Z_MEM_ERROR)
        return mg_no_memory(state->into->heap, STEP_BYTES, 1, "decompression", error);
    return mg_fail(
        error, MARGIN_ERROR_FORMAT,
        "%s: the compressed data is damaged at byte %lld%s%s: fetch or compress the file "
        "again",
        state->stream->name, (long long)gunzip_offset(state), state->z.msg ? ", " : "",
        state->z.msg ? state->z.msg : "");
}

/* Inflates what is in the input buffer; refills it when it is empty. */
static margin_status gunzip_step(gunzip *state, margin_error *error) {
    z_stream *z = &state->z;
    if (z->avail_in == 0) {
        bool ended = false;
        MG_TRY(gunzip_refill(state, &ended, error));
        MG_REQUIRE(!ended, error, MARGIN_ERROR_FORMAT,
                   "%s: the compressed data ends too early, after byte %lld: the file is truncated",
                   state->stream->name, (long long)state->stream->offset);
    }
    char *place = NULL, beyond;
    int64_t room = 1;
    if (state->into->fixed && state->into->total == state->into->fixed_length)
        place = &beyond; /* only the trailer may be left */
    else
        MG_TRY(sink_room(state->into, state->stream->name, &place, &room, error));
    room = MG_MIN(room, (int64_t)STEP_BYTES);
    z->next_out = (Bytef *)place;
    z->avail_out = (uInt)room;
    int code = inflate(z, Z_NO_FLUSH);
    int64_t made = room - (int64_t)z->avail_out;
    if (place == &beyond && made)
        MG_TRY(sink_room(state->into, state->stream->name, &place, &room, error));
    MG_TRY(sink_advance(state->into, made, state->stream->name, error));
    if (code == Z_STREAM_END) return gunzip_next_member(state, error);
    if (code != Z_OK && code != Z_BUF_ERROR) return gunzip_fail(state, code, error);
    return MARGIN_OK;
}

static margin_status inflate_all(margin_context *context, mg_stream *stream, char *input,
                                 int64_t head, sink *into, margin_error *error) {
    gunzip state = {.context = context, .stream = stream, .into = into, .input = input};
    state.z.zalloc = mg_zlib_allocate;
    state.z.zfree = mg_zlib_release;
    state.z.opaque = into->heap;
    state.z.next_in = (Bytef *)input;
    state.z.avail_in = (uInt)head;
    int code = inflateInit2(&state.z, 15 + 16);
    if (code != Z_OK) return gunzip_fail(&state, Z_MEM_ERROR, error);
    margin_status status = MARGIN_OK;
    while (status == MARGIN_OK && !state.members_done)
        status = gunzip_step(&state, error);
    inflateEnd(&state.z);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------ */

static bool is_gzip(const char *bytes, int64_t count) {
    return count >= 2 && (unsigned char)bytes[0] == GZIP_FIRST &&
           (unsigned char)bytes[1] == GZIP_SECOND;
}

bool mg_stream_is_gzip(const mg_stream *stream) {
    char first[2] = {0};
    if (stream->descriptor < 0) return is_gzip(stream->bytes, stream->length);
    return stream->seekable && pread(stream->descriptor, first, 2, 0) == 2 && is_gzip(first, 2);
}

/* Length that gzip's trailer claims (modulo 2^32, last member only): a hint, never trusted. */
static int64_t inflated_length_hint(const mg_stream *stream) {
    unsigned char trailer[4];
    if (stream->length < 18) return 0;
    if (stream->descriptor < 0)
        memcpy(trailer, stream->bytes + stream->length - 4, 4);
    else if (pread(stream->descriptor, trailer, 4, (off_t)(stream->length - 4)) != 4)
        return 0;
    uint32_t claim = (uint32_t)trailer[0] | (uint32_t)trailer[1] << 8 | (uint32_t)trailer[2] << 16 |
                     (uint32_t)trailer[3] << 24;
    return MG_MIN((int64_t)claim, stream->length * GZIP_LARGEST_RATIO);
}

/* Reads the first bytes to tell gzip from text, then everything. */
static margin_status stream_run(margin_context *context, mg_stream *stream, sink *into,
                                bool *compressed, margin_error *error) {
    char *input;
    MG_SCOPED_ARENA(arena, into->heap);
    MG_ARENA_NEW(&arena, input, STEP_BYTES, "reading a file", error);
    int64_t head = 0, count = 1;
    while (head < 2 && count > 0) {
        MG_TRY(stream_next(context, stream, input + head, STEP_BYTES - head, &count, error));
        head += count;
    }
    *compressed = is_gzip(input, head);
    if (!into->fixed) {
        const int64_t length =
            *compressed ? inflated_length_hint(stream) : MG_MAX(stream->length, 0);
        into->expected = *compressed ? 0 : length; /* a trailer may claim anything */
        /* Before somebody has looked, no more than a piece. */
        MG_TRY(sink_add_piece(into, into->look || length == 0 ? FIRST_PIECE : length + 1, error));
    }
    return *compressed ? inflate_all(context, stream, input, head, into, error)
                       : copy_plain(context, stream, input, head, into, error);
}

margin_status mg_stream_collect(margin_context *context, mg_stream *stream, mg_stream_text *text,
                                margin_error *error) {
    sink into = {.heap = context->heap, .look = stream->look, .lines = stream->look != NULL};
    bool compressed = false;
    char *block = NULL;
    margin_status status = stream_run(context, stream, &into, &compressed, error);
    int64_t length = into.total;
    if (status == MARGIN_OK) status = sink_join(&into, &block, error);
    sink_free(&into);
    if (status == MARGIN_OK)
        *text = (mg_stream_text){.block = block, .length = length, .compressed = compressed};
    return status;
}

margin_status mg_stream_repeat(margin_context *context, mg_stream *stream, char *text,
                               int64_t length, margin_error *error) {
    sink into = {.heap = context->heap, .fixed = text, .fixed_length = length};
    bool compressed = false;
    stream->offset = 0;
    MG_TRY(stream_run(context, stream, &into, &compressed, error));
    MG_REQUIRE(into.total == length, error, MARGIN_ERROR_FILE,
               "%s changed while it was being read: read it again once it is complete",
               stream->name);
    return MARGIN_OK;
}
