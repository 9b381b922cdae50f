/* Whether a command would write over a file that it reads, or one file twice. Paths are compared by
 * the files they lead to, so links, hard links and other ways to the same folder are seen through
 * (but not a link to a file that is not there yet). Devices, pipes and sockets hold nothing to
 * lose. */
#include "cli.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A regular file, or one that is not there yet: its name in a folder. */
typedef struct place {
    dev_t device;
    ino_t node;
    char name[NAME_MAX + 1]; /* empty: the file itself */
} place;

/* A file of the command line. */
typedef struct named_file {
    const char *path, *role; /* "DATA", "--trace" */
    bool written;
} named_file;

/* ---- Places ---------------------------------------------------------------------------------- */

/* Where a file will be made. */
static bool find_new_place(const char *path, place *p) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    char folder[PATH_MAX] = ".";
    struct stat found;
    if (!*name || strlen(name) > NAME_MAX || strlen(path) >= PATH_MAX) return false;
    strcpy(p->name, name);
    if (slash) snprintf(folder, sizeof folder, "%.*s/", (int)(slash - path), path);
    if (stat(folder, &found) != 0) return false;
    p->device = found.st_dev;
    p->node = found.st_ino;
    return true;
}

/* False: no regular file, or none that could be written; whoever opens it will say so. */
static bool find_place(const named_file *file, place *p) {
    struct stat found;
    const bool standard = strcmp(file->path, "-") == 0;
    const int failed = standard ? fstat(file->written ? STDOUT_FILENO : STDIN_FILENO, &found)
                                : stat(file->path, &found);
    if (failed) return !standard && file->written && find_new_place(file->path, p);
    p->device = found.st_dev;
    p->node = found.st_ino;
    p->name[0] = 0;
    return S_ISREG(found.st_mode);
}

static bool same_place(const named_file *a, const named_file *b) {
    place p, q;
    if (!strcmp(a->path, "-") && !strcmp(b->path, "-") && a->written && b->written) return true;
    return find_place(a, &p) && find_place(b, &q) && p.device == q.device && p.node == q.node &&
           strcmp(p.name, q.name) == 0;
}

/* ---- Files of a command ---------------------------------------------------------------------- */

/* What a word of the command line is, if it names a file; NULL: something else. */
static named_file file_word(const cli_command *command, const cli_arguments *a, int k) {
    named_file file = {a->words[k], NULL, false};
    if (!strcmp(command->name, "convert")) {
        file.written = k == 1;
        file.role = file.written ? "OUT" : "IN";
    } else if (!strncmp(command->usage, "MODEL ", 6)) {
        file.role = k == 0 ? "MODEL" : "DATA";
    } else if (!strcmp(command->name, "compare")) {
        if (k == 0) file.role = "DATA";
    } else if (!strcmp(command->name, "plot")) { /* the first word is the kind of picture */
        const bool trace = !strcmp(a->words[0], "trace"), tree = !strcmp(a->words[0], "kdtree");
        const bool spec = !strcmp(a->words[0], "elbow") || !strcmp(a->words[0], "settings") ||
                          !strcmp(a->words[0], "bias") || !strcmp(a->words[0], "learning");
        if (k == 1 && !spec) file.role = trace ? "FILE" : tree ? "DATA" : "MODEL";
        if (k == 2) file.role = "DATA";
    } else if (k == a->word_count - 1) { /* behind a spec or alone */
        file.role = "DATA";
    }
    return file;
}

/* The result of an update may take the place of the model. */
static bool may_replace(const cli_command *command, const named_file *file,
                        const named_file *other) {
    return !strcmp(command->name, "update") && !strcmp(file->role, "-o") &&
           !strcmp(other->role, "MODEL");
}

static int check_pair(const cli_command *command, const named_file *file, const named_file *other) {
    if (!other->role || !other->path || strcmp(file->role, other->role) == 0) return EXIT_DONE;
    if (may_replace(command, file, other) || !same_place(file, other)) return EXIT_DONE;
    if (other->written)
        fprintf(stderr,
                "margin: %s %s and %s %s are the same file, which would be written twice: they "
                "need two "
                "files; nothing is written\n",
                file->role, file->path, other->role, other->path);
    else
        fprintf(
            stderr,
            "margin: %s %s is the file that is read as %s %s, which would be lost: give another "
            "name; nothing is written\n",
            file->role, file->path, other->role, other->path);
    return EXIT_USAGE;
}

static named_file file_option(const cli_option *option, const cli_arguments *arguments) {
    const char *path = *(const char *const *)((const char *)arguments + option->field);
    const char *name = option->letter == 'o' ? "-o" : option->name;
    return (named_file){path, name, option->kind == KIND_OUTPUT};
}

/* A file that is written against all others. */
static int check_written(const cli_command *command, const cli_arguments *arguments,
                         const named_file *file) {
    int code = EXIT_DONE;
    for (int k = 0; k < arguments->word_count && !code; k++) {
        const named_file other = file_word(command, arguments, k);
        code = check_pair(command, file, &other);
    }
    for (int k = 0; k < cli_option_count && !code; k++) {
        if (cli_options[k].kind != KIND_INPUT && cli_options[k].kind != KIND_OUTPUT) continue;
        const named_file other = file_option(&cli_options[k], arguments);
        code = check_pair(command, file, &other);
    }
    return code;
}

int cli_check_made_file(const cli_command *command, const cli_arguments *arguments,
                        const char *option, const char *path) {
    const named_file file = {path, option, true};
    return check_written(command, arguments, &file);
}

int cli_check_files(const cli_command *command, const cli_arguments *arguments) {
    int code = EXIT_DONE;
    for (int k = 0; k < arguments->word_count && !code; k++) {
        const named_file file = file_word(command, arguments, k);
        if (file.role && file.written) code = check_written(command, arguments, &file);
    }
    for (int k = 0; k < cli_option_count && !code; k++) {
        if (cli_options[k].kind != KIND_OUTPUT) continue;
        const named_file file = file_option(&cli_options[k], arguments);
        /* of split, -o is but the pattern of the names */
        if (file.path && strcmp(command->name, "split") != 0)
            code = check_written(command, arguments, &file);
    }
    return code;
}
