#include "cli_gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *const colours[PICTURE_COLOURS] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                     "#E69F00", "#56B4E9", "#F0E442", "#000000"};

const char *picture_colour(int64_t k) {
    return colours[k % PICTURE_COLOURS];
}

static bool ends_with(const char *text, const char *ending) {
    size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && !strcmp(text + length - tail, ending);
}

int picture_choose(const cli_arguments *arguments, picture *p) {
    const cli_command *plot = cli_find_command("plot");
    const char *output = arguments->terminal ? NULL : arguments->output;
    char rest;
    *p = (picture){.kind = PICTURE_TERMINAL, .width = 800, .height = 600};
    if (output && ends_with(output, ".svg"))
        p->kind = PICTURE_SVG;
    else if (output && ends_with(output, ".png"))
        p->kind = PICTURE_PNG;
    else if (output && !ends_with(output, ".txt"))
        return cli_usage_error(
            plot, "-o %s: pictures end in .svg or .png, drawings in characters in .txt", output);
    p->image = p->kind != PICTURE_TERMINAL;
    if (arguments->size &&
        (sscanf(arguments->size, "%dx%d%c", &p->width, &p->height, &rest) != 2 || p->width < 50 ||
         p->height < 50 || p->width > 10000 || p->height > 10000))
        return cli_usage_error(
            plot, "--size takes WIDTHxHEIGHT from 50x50 to 10000x10000, not '%s'", arguments->size);
    return EXIT_DONE;
}

/* In single quotes nothing but the quote itself is special; in double quotes gnuplot would run
 * what stands between backquotes as a command, and names come from data. */
void picture_string(cli_text *script, const char *string) {
    text_puts(script, "'");
    for (const char *c = string; *c; c++) {
        if (*c == '\'') text_puts(script, "'");
        if ((unsigned char)*c >= 0x20) text_add(script, c, 1);
    }
    text_puts(script, "'");
}

/* Formats once for the length and once for the text. */
static char *format_text(const char *format, va_list given) {
    va_list again;
    va_copy(again, given);
    const int length = vsnprintf(NULL, 0, format, again);
    char *text = malloc((size_t)length + 1);
    if (text) vsnprintf(text, (size_t)length + 1, format, given);
    va_end(again);
    return text;
}

/* In lines that fit the width, broken at blanks. */
static void put_title(picture *p, char *title) {
    enum { LETTER = 9, OF_TERMINAL = 96 };
    const size_t most = p->image ? (size_t)(p->width / LETTER) : OF_TERMINAL;
    while (strlen(title) > most) {
        char *end = title + most;
        while (end > title && *end != ' ')
            end--;
        if (end == title) break;
        *end = '\0';
        picture_string(&p->script, title);
        text_puts(&p->script, ".\"\\n\".");
        title = end + 1;
    }
    picture_string(&p->script, title);
}

void picture_begin(picture *p, const char *title, ...) {
    cli_text *script = &p->script;
    va_list given;
    va_start(given, title);
    char *made = format_text(title, given);
    va_end(given);
    text_puts(script, "set encoding utf8\n");
    if (p->kind == PICTURE_SVG)
        text_printf(script, "set terminal svg size %d,%d noenhanced background rgb 'white'\n",
                    p->width, p->height);
    else if (p->kind == PICTURE_PNG)
        text_printf(script, "set terminal pngcairo size %d,%d noenhanced\n", p->width, p->height);
    else
        text_puts(script, "set terminal dumb size 100,36 noenhanced\n");
    text_puts(script, "set title ");
    if (made && !p->session->arguments->title)
        put_title(p, made);
    else
        picture_string(script, made ? p->session->arguments->title : "");
    text_puts(script, "\nset key outside center top horizontal Left reverse\n");
    free(made);
}

void picture_set(picture *p, const char *text) {
    text_puts(&p->script, text);
}

void picture_set_image(picture *p, const char *text) {
    if (p->image) picture_set(p, text);
}

void picture_axes(picture *p) {
    picture_set(p, "set border 3\nset tics nomirror\n");
    picture_set_image(p, "set grid lc rgb '#DDDDDD' lt 1 lw 0.5\n");
}

void picture_label(picture *p, char axis, const char *label) {
    text_printf(&p->script, "set %clabel ", axis);
    picture_string(&p->script, label);
    picture_set(p, "\n");
}

void picture_range(picture *p, char axis, double low, double high) {
    text_printf(&p->script, "set %crange [", axis);
    text_number(&p->script, low);
    picture_set(p, ":");
    text_number(&p->script, high);
    picture_set(p, "]\n");
}

void picture_room(double share, double *low, double *high) {
    const double room = *high > *low ? share * (*high - *low) : 0.5;
    *low -= room;
    *high += room;
}

/* ---- Curves ---------------------------------------------------------------------------------- */

void picture_function(picture *p, const char *text) {
    picture_set(p, p->curves++ ? ", " : "plot ");
    picture_set(p, text);
}

void picture_curve(picture *p, const char *title, const char *style, ...) {
    va_list given;
    va_start(given, style);
    char *made = format_text(style, given);
    va_end(given);
    picture_function(p, "'-' ");
    picture_set(p, made ? made : "");
    picture_set(p, title ? " title " : " notitle");
    if (title) picture_string(&p->script, title);
    p->script.failed = p->script.failed || !made;
    free(made);
}

void picture_numbers(picture *p, int count, ...) {
    va_list numbers;
    va_start(numbers, count);
    for (int k = 0; k < count; k++) {
        if (k) text_puts(&p->data, " ");
        text_number(&p->data, va_arg(numbers, double));
    }
    va_end(numbers);
    text_puts(&p->data, "\n");
}

void picture_end(picture *p) {
    text_puts(&p->data, "e\n");
}

void picture_plot(picture *p) {
    picture_set(p, "\n");
    if (p->data.data) text_add(&p->script, p->data.data, p->data.length);
    p->script.failed = p->script.failed || p->data.failed;
    text_free(&p->data);
    p->curves = 0;
}

/* ---- Drawing --------------------------------------------------------------------------------- */

int picture_out_of_memory(void) {
    cli_progress_end();
    fputs("margin: out of memory for the picture\n", stderr);
    return EXIT_NO_MEMORY;
}

int picture_failed(picture *p, margin_status status) {
    if (status == MARGIN_ERROR_MEMORY && !p->session->error.text[0]) return picture_out_of_memory();
    return cli_failed(p->session, status);
}

/* The script in a file without a name, so that nothing is left behind whatever happens. */
static int script_file(const cli_text *script) {
    FILE *file = tmpfile();
    if (!file) return -1;
    bool written = fwrite(script->data, 1, script->length, file) == script->length &&
                   !fflush(file) && lseek(fileno(file), 0, SEEK_SET) == 0;
    int descriptor = written ? dup(fileno(file)) : -1;
    fclose(file);
    return descriptor;
}

static bool read_all(int descriptor, cli_text *text) {
    char buffer[65536];
    ssize_t length;
    while ((length = read(descriptor, buffer, sizeof buffer)) > 0 || (length < 0 && errno == EINTR))
        if (length > 0) text_add(text, buffer, (size_t)length);
    return length == 0;
}

static int start_gnuplot(int script, int output, pid_t *process) {
    posix_spawn_file_actions_t actions;
    char *words[] = {(char *)"gnuplot", (char *)"-", NULL};
    int code = posix_spawn_file_actions_init(&actions);
    if (code) return code;
    code = posix_spawn_file_actions_adddup2(&actions, script, STDIN_FILENO);
    if (!code) code = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (!code) /* its own messages speak of a script that nobody has seen */
        code = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (!code) code = posix_spawnp(process, "gnuplot", &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

/* Runs gnuplot and collects what it prints. 0, or an errno value, or -1 if gnuplot itself failed.
 */
static int run_gnuplot(const cli_text *script, cli_text *drawn) {
    int ends[2], descriptor = script_file(script);
    if (descriptor < 0) return errno ? errno : EIO;
    if (pipe(ends)) {
        close(descriptor);
        return errno;
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    pid_t process = 0;
    int code = start_gnuplot(descriptor, ends[1], &process), state = 0;
    close(descriptor);
    close(ends[1]);
    if (!code) {
        cli_helped_by(process);
        bool complete = read_all(ends[0], drawn);
        cli_helped_by(0);
        while (waitpid(process, &state, 0) < 0 && errno == EINTR)
            continue;
        if (!complete || !WIFEXITED(state) || WEXITSTATUS(state) != 0) code = -1;
        if (WIFEXITED(state) && WEXITSTATUS(state) == 127) code = ENOENT;
    }
    close(ends[0]);
    return code;
}

int picture_finish(picture *p) {
    cli_text drawn = {0};
    int code = p->script.failed ? ENOMEM : run_gnuplot(&p->script, &drawn);
    text_free(&p->script);
    if (code == 0) {
        code = text_finish(p->session, &drawn, p->session->arguments->output);
        if (!code) cli_note_written(p->session, "picture");
        return code;
    }
    text_free(&drawn);
    cli_progress_end();
    const int interrupted = cli_writes_to(p->session->arguments->output);
    if (interrupted) return interrupted;
    if (code == ENOENT)
        fputs("margin: pictures are drawn by gnuplot, which is not installed; on Debian: apt-get "
              "install gnuplot-nox\n",
              stderr);
    else
        fprintf(stderr, "margin: gnuplot could not draw the picture%s%s\n", code > 0 ? ": " : "",
                code > 0 ? strerror(code) : "");
    return EXIT_SYSTEM;
}
