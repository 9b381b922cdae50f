#include "cli_gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

const char *const picture_colours[PICTURE_COLOURS] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                      "#E69F00", "#56B4E9", "#F0E442", "#000000"};

const char *const picture_pale_colours[PICTURE_COLOURS] = {
    "#B3D5E8", "#F3CFB3", "#B3E2D5", "#F0D7E5", "#F8E2B3", "#CDE8F7", "#FBF8C6", "#B3B3B3"};

static bool ends_with(const char *text, const char *ending) {
    size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && !strcmp(text + length - tail, ending);
}

int picture_choose(const cli_arguments *arguments, picture_kind *kind) {
    *kind = PICTURE_TERMINAL;
    if (arguments->terminal || !arguments->output) return EXIT_DONE;
    if (ends_with(arguments->output, ".svg"))
        *kind = PICTURE_SVG;
    else if (ends_with(arguments->output, ".png"))
        *kind = PICTURE_PNG;
    else if (!ends_with(arguments->output, ".txt"))
        return cli_usage_error(
            cli_find_command("plot"),
            "-o %s: pictures end in .svg or .png, drawings in characters in .txt",
            arguments->output);
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

int picture_begin(const cli_arguments *arguments, picture_kind kind, const char *title,
                  cli_text *script) {
    int width = 800, height = 600;
    char rest;
    if (arguments->size && (sscanf(arguments->size, "%dx%d%c", &width, &height, &rest) != 2 ||
                            width < 50 || height < 50 || width > 10000 || height > 10000))
        return cli_usage_error(cli_find_command("plot"),
                               "--size takes WIDTHxHEIGHT from 50x50 to 10000x10000, not '%s'",
                               arguments->size);
    text_puts(script, "set encoding utf8\n");
    if (kind == PICTURE_SVG)
        text_printf(script, "set terminal svg size %d,%d noenhanced background rgb 'white'\n",
                    width, height);
    else if (kind == PICTURE_PNG)
        text_printf(script, "set terminal pngcairo size %d,%d noenhanced\n", width, height);
    else
        text_puts(script, "set terminal dumb size 100,36 noenhanced\n");
    text_puts(script, "set title ");
    picture_string(script, arguments->title ? arguments->title : title);
    text_puts(script, "\nset key outside center top horizontal Left reverse\n");
    return EXIT_DONE;
}

void picture_axes(cli_text *script, picture_kind kind) {
    text_puts(script, "set border 3\nset tics nomirror\n");
    if (kind != PICTURE_TERMINAL) text_puts(script, "set grid lc rgb '#DDDDDD' lt 1 lw 0.5\n");
}

void picture_point(cli_text *script, double x, double y) {
    text_number(script, x);
    text_puts(script, " ");
    text_number(script, y);
    text_puts(script, "\n");
}

int picture_out_of_memory(void) {
    cli_progress_end();
    fputs("margin: out of memory for the picture\n", stderr);
    return EXIT_NO_MEMORY;
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
static int run_gnuplot(const cli_text *script, cli_text *picture) {
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
        bool complete = read_all(ends[0], picture);
        while (waitpid(process, &state, 0) < 0 && errno == EINTR)
            continue;
        if (!complete || !WIFEXITED(state) || WEXITSTATUS(state) != 0) code = -1;
        if (WIFEXITED(state) && WEXITSTATUS(state) == 127) code = ENOENT;
    }
    close(ends[0]);
    return code;
}

int picture_finish(cli_session *session, cli_text *script) {
    cli_text picture = {0};
    int code = script->failed ? ENOMEM : run_gnuplot(script, &picture);
    text_free(script);
    if (code == 0) return text_finish(session, &picture, session->arguments->output);
    text_free(&picture);
    cli_progress_end();
    if (code == ENOENT)
        fputs("margin: pictures are drawn by gnuplot, which is not installed; on Debian: apt-get "
              "install gnuplot-nox\n",
              stderr);
    else
        fprintf(stderr, "margin: gnuplot could not draw the picture%s%s\n", code > 0 ? ": " : "",
                code > 0 ? strerror(code) : "");
    return EXIT_SYSTEM;
}
