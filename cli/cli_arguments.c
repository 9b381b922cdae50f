/* The option table, from which parsing, help, man page and completion are made, and the parser. */
#include "cli.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define FIELD(name) (int64_t) offsetof(cli_arguments, name)
#define READS                                                                                      \
    " fit cv compare predict evaluate importance inspect separable gram path check convert plot "  \
    "report update split transform "
#define USES_ALL                                                                                   \
    " fit cv compare predict evaluate importance inspect separable gram path check convert plot "  \
    "report update split transform "

const cli_option cli_options[] = {
    {"--output", 'o', "FILE",
     " fit cv compare predict evaluate importance inspect separable gram path check plot "
     "report update split transform ",
     "write the result (of fit: the model; of cv: the best one) to FILE, which is replaced only "
     "when complete",
     NULL, KIND_OUTPUT, FIELD(output)},
    {"--trace", 0, "FILE", " fit ",
     "write every training step to FILE as CSV; a row of score 0 counts as misclassified", NULL,
     KIND_OUTPUT, FIELD(trace)},
    {"--target", 0, "COLUMNS", READS,
     "column to predict, by name or number (default: the last); several, separated by commas, "
     "where "
     "the learner takes them (least-squares, ridge, kernel-ridge); inspect, plot: one of the "
     "model's targets",
     NULL, KIND_TEXT, FIELD(target)},
    {"--class", 0, "NAME", " separable ",
     "the class to be separated from all others, where there are more than two", NULL, KIND_TEXT,
     FIELD(positive)},
    {"--no-target", 0, NULL, " check convert split ", "all columns are features", NULL, KIND_SWITCH,
     FIELD(no_target)},
    {"--classes", 0, "A,B,...", " fit ",
     "classes of the target, whether rows have them or not: for a first part of the data "
     "(naive-bayes, knn)",
     NULL, KIND_TEXT, FIELD(classes)},
    {"--weights", 0, "COLUMN", READS, "column of sample weights", NULL, KIND_TEXT, FIELD(weights)},
    {"--ignore", 0, "COLUMNS", READS,
     "columns to leave out: names or numbers (negative: from the end), separated by commas; a..b "
     "for all "
     "from a to b",
     NULL, KIND_TEXT, FIELD(ignore)},
    {"--categorical", 0, "COLUMNS", READS,
     "columns to read as categories though they look like numbers", NULL, KIND_TEXT,
     FIELD(categorical)},
    {"--missing", 0, "POLICY",
     " fit cv compare predict evaluate importance inspect separable gram path plot report update "
     "transform ",
     "missing values: error (the default unless the spec begins with impute), drop (leave the row "
     "out; predict: leave its prediction empty); fit only, and remembered by the model: mean "
     "(filled "
     "in, as by the stage impute), keep (in columns of categories, a category of its own)",
     "error|mean|drop|keep", KIND_TEXT, FIELD(missing)},
    {"--labels", 0, "FILE", READS, "file with the target, for npy and idx data", NULL, KIND_INPUT,
     FIELD(labels)},
    {"--labels-out", 0, "FILE", " convert transform ",
     "where the target goes when the table is written as npy or idx", NULL, KIND_OUTPUT,
     FIELD(labels_out)},
    {"--format", 0, "NAME", READS,
     "file format if the extension does not say: csv, tsv, svmlight (svm, libsvm), npy, idx, "
     "arrow",
     "csv|tsv|svmlight|svm|libsvm|npy|idx|arrow", KIND_TEXT, FIELD(format)},
    {"--header", 0, NULL, READS, "the first line holds column names (default: detected)", NULL,
     KIND_SWITCH, FIELD(header)},
    {"--no-header", 0, NULL, READS, "the first line holds data", NULL, KIND_SWITCH,
     FIELD(no_header)},
    {"--separator", 0, "CHAR", READS,
     "between cells: a character, 'tab', or 'blank' for runs of blanks (default: detected)", NULL,
     KIND_TEXT, FIELD(separator)},
    {"--zero-based", 0, NULL, READS,
     "svmlight indices count from 0 (default: as the model, or detected)", NULL, KIND_SWITCH,
     FIELD(zero_based)},
    {"--one-based", 0, NULL, READS, "svmlight indices count from 1", NULL, KIND_SWITCH,
     FIELD(one_based)},
    {"--float32", 0, NULL, READS, "keep features in single precision: half the memory", NULL,
     KIND_SWITCH, FIELD(float32)},
    {"--proba", 0, NULL, " predict ", "write the probability of each class too", NULL, KIND_SWITCH,
     FIELD(probabilities)},
    {"--scores", 0, NULL, " predict ", "write the scores too", NULL, KIND_SWITCH, FIELD(scores)},
    {"--keep", 0, "COLUMNS", " predict ",
     "columns of DATA to write in front of the predictions, separated by commas", NULL, KIND_TEXT,
     FIELD(keep)},
    {"--margins", 0, "FILE", " evaluate ",
     "write the functional and geometric margin of every row to FILE", NULL, KIND_OUTPUT,
     FIELD(margins)},
    {"--verify", 0, NULL, " evaluate ", "recompute the proof of the fit from the training data",
     NULL, KIND_SWITCH, FIELD(verify)},
    {"--holdout", 0, "SHARE", " fit evaluate split ",
     "share of the rows to judge by, which training does not see (0.2); evaluate: of a model that "
     "was fitted so, with --verify the others prove it",
     NULL, KIND_TEXT, FIELD(holdout)},
    {"--validation", 0, "SHARE", " split ", "share of the rows for a third part, to choose by",
     NULL, KIND_TEXT, FIELD(validation)},
    {"--calibrate", 0, "HOW", " fit ",
     "calibrate the probabilities by fits to folds: sigmoid, isotonic or temperature (which "
     "changes "
     "no prediction)",
     "sigmoid|isotonic|temperature", KIND_TEXT, FIELD(calibrate)},
    {"--threshold", 0, "P", " fit predict ",
     "of two classes, predict the second from this probability on; fit: or the metric to choose it "
     "by (f1, balanced_accuracy)",
     NULL, KIND_TEXT, FIELD(threshold)},
    {"--costs", 0, "ROWS", " fit ",
     "predict the class of least expected cost: a row for each true class, a number for each "
     "answer: '0,1;5,0'",
     NULL, KIND_TEXT, FIELD(costs)},
    {"--coverage", 0, "SHARE", " fit ",
     "keep what intervals (sets of classes) need that hold the truth in this share of cases (0.9)",
     NULL, KIND_TEXT, FIELD(coverage)},
    {"--bootstrap", 0, "N", " evaluate ",
     "intervals of the metrics from N resamples of the rows (1000 for most)", NULL, KIND_COUNT,
     FIELD(bootstrap)},
    {"--unknown-classes", 0, "POLICY", " evaluate ",
     "rows of classes that the model does not know: refuse (the default) or wrong (each is an "
     "error)",
     "refuse|wrong", KIND_TEXT, FIELD(unknown_classes)},
    {"--statistics", 0, NULL, " inspect ",
     "standard errors, p-values, R2 and likelihood of a linear model, from its training data", NULL,
     KIND_SWITCH, FIELD(statistics)},
    {"--confidence", 0, "P", " inspect plot evaluate ", "of the intervals (default 0.95)", NULL,
     KIND_TEXT, FIELD(confidence)},
    {"--columns", 0, "A,B", " plot ", "the two columns that span the picture", NULL, KIND_TEXT,
     FIELD(columns)},
    {"--size", 0, "WxH", " plot ", "size of the picture in pixels (default 800x600)", NULL,
     KIND_TEXT, FIELD(size)},
    {"--title", 0, "TEXT", " plot report ", "title of the picture or page", NULL, KIND_TEXT,
     FIELD(title)},
    {"--terminal", 0, NULL, " plot ", "draw in the terminal (the default without -o)", NULL,
     KIND_SWITCH, FIELD(terminal)},
    {"--folds", 'k', "K", " cv compare plot split ",
     "cut the rows into K folds and predict each by a fit to the others (default 5)", NULL,
     KIND_COUNT, FIELD(folds)},
    {"--leave-one-out", 0, NULL, " cv compare split ", "as many folds as rows", NULL, KIND_SWITCH,
     FIELD(leave_one_out)},
    {"--stratify", 0, NULL, " cv compare plot split ", "every class has its share in every part",
     NULL, KIND_SWITCH, FIELD(stratify)},
    {"--repeat", 0, "N", " cv compare plot split importance ",
     "the same again, drawn anew, N times (importance: 5)", NULL, KIND_COUNT, FIELD(repeat)},
    {"--groups", 0, "COLUMN", " fit cv compare plot evaluate split ",
     "rows of equal value in this column, which is then no feature, stay in one part", NULL,
     KIND_TEXT, FIELD(groups)},
    {"--time", 0, "COLUMN", " fit cv compare plot evaluate split ",
     "learn from rows that are earlier by this column, which is then no feature, than those that "
     "are predicted",
     NULL, KIND_TEXT, FIELD(time)},
    {"--in-order", 0, NULL, " fit cv compare plot evaluate split ",
     "rows are not shuffled: the last ones are held out, folds are runs of rows", NULL, KIND_SWITCH,
     FIELD(in_order)},
    {"--metric", 0, "NAME", " cv compare plot importance ",
     "what is judged by (default: accuracy, of numbers rmse)", NULL, KIND_TEXT, FIELD(metric)},
    {"--random", 0, "N", " cv compare ",
     "try N settings (of each spec) drawn by chance instead of all", NULL, KIND_COUNT,
     FIELD(random)},
    {"--halving", 0, NULL, " cv ",
     "try all settings on few rows, the better third on three times as many, and so on", NULL,
     KIND_SWITCH, FIELD(halving)},
    {"--cells", 0, "N", " cv compare ", "allow up to N settings (default 10000)", NULL, KIND_COUNT,
     FIELD(cells)},
    {"--one-se", 0, NULL, " cv ",
     "-o writes the simplest model within one standard error of the best", NULL, KIND_SWITCH,
     FIELD(one_se)},
    {"--training", 0, NULL, " cv ", "judge the training rows, too", NULL, KIND_SWITCH,
     FIELD(training)},
    {"--nested", 0, NULL, " cv ",
     "choose once more inside the training rows of each fold, so that the fold judges the choice, "
     "too",
     NULL, KIND_SWITCH, FIELD(nested)},
    {"--inner", 0, "K", " cv ", "--nested: folds to choose by inside a fold (default 5)", NULL,
     KIND_COUNT, FIELD(inner)},
    {"--allow", 0, "CODES", " fit cv compare report ",
     "findings not to mention, separated by commas (leak, identifier, duplicates, rare-class, "
     "scale, "
     "set-end, no-better, folds-disagree, overfit, stopped, failed)",
     "leak|identifier|duplicates|rare-class|scale|set-end|no-better|folds-disagree|overfit|stopped|"
     "failed",
     KIND_LIST, FIELD(allow)},
    {"--strict", 0, NULL, " fit cv compare report ", "exit code 2 where there is a finding", NULL,
     KIND_SWITCH, FIELD(strict)},
    {"--journal", 0, "FILE", " cv compare ",
     "add a line to FILE for each finished fit; those that it holds already are not made again",
     NULL, KIND_OUTPUT, FIELD(journal)},
    {"--table", 0, "FILE", " cv ", "write all settings to FILE as CSV", NULL, KIND_OUTPUT,
     FIELD(table)},
    {"--predictions", 0, "FILE", " cv ",
     "write the best setting's prediction for each row, by the fit that did not see it, to FILE",
     NULL, KIND_OUTPUT, FIELD(predictions)},
    {"--threads", 't', "N", USES_ALL,
     "threads to use (default: all cores allowed); never changes a result; each takes memory of "
     "its own",
     NULL, KIND_COUNT, FIELD(threads)},
    {"--seed", 0, "N", " fit cv compare plot evaluate importance split ",
     "seed of every random choice (default 0)", NULL, KIND_COUNT, FIELD(seed)},
    {"--memory", 0, "SIZE", USES_ALL, "refuse to hold more than SIZE (500M, 2G)", NULL, KIND_SIZE,
     FIELD(memory)},
    {"--time-limit", 0, "SEC", " fit cv compare separable gram path update ",
     "stop training after SEC seconds with what there is, or with exit code 4 if that is no model "
     "yet; reading may take as long, too; cv: each setting has SEC seconds for its folds; compare: "
     "all of them together",
     NULL, KIND_SECONDS, FIELD(time_limit)},
    {"--json", 0, NULL,
     " fit cv compare predict evaluate importance inspect separable gram path check convert "
     "learners split transform update ",
     "answer with one JSON object", NULL, KIND_SWITCH, FIELD(json)},
    {"--quiet", 'q', NULL, USES_ALL,
     "no notes, no progress, no report of a fit; warnings and other results stay", NULL,
     KIND_SWITCH, FIELD(quiet)},
    {"--bash", 0, NULL, " generate ", "completion for bash", NULL, KIND_SWITCH, FIELD(bash)},
    {"--zsh", 0, NULL, " generate ", "completion for zsh", NULL, KIND_SWITCH, FIELD(zsh)},
    {"--man", 0, NULL, " generate ", "the man page", NULL, KIND_SWITCH, FIELD(man)},
    {"--markdown", 0, NULL, " generate ", "option tables of all stages and learners", NULL,
     KIND_SWITCH, FIELD(markdown)},
};
const int cli_option_count = (int)(sizeof cli_options / sizeof cli_options[0]);

bool cli_option_applies(const cli_option *option, const cli_command *command) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, " %s ", command->name);
    return strstr(option->commands, wanted) != NULL;
}

int cli_usage_error(const cli_command *command, const char *format, ...) {
    va_list list;
    va_start(list, format);
    fputs("margin: ", stderr);
    vfprintf(stderr, format, list);
    va_end(list);
    if (command)
        fprintf(stderr, "\nusage: margin %s %s\n'margin help %s' tells more\n", command->name,
                command->usage, command->name);
    else
        fputs("\n'margin help' lists the commands\n", stderr);
    return EXIT_USAGE;
}

/* Number with an optional ending K, M, G, T (powers of 1024). */
static bool parse_size(const char *text, double *value) {
    size_t length = strlen(text);
    double factor = 1;
    if (length > 1 && (text[length - 1] == 'B' || text[length - 1] == 'b')) length--;
    const char *units = "KMGT", *unit = length > 1 ? strchr(units, text[length - 1] & ~0x20) : NULL;
    if (unit && *unit) {
        factor = ldexp(1, 10 * (int)(unit - units + 1));
        length--;
    }
    if (!margin_number_parse_f64(text, length, value)) return false;
    *value *= factor;
    return *value >= 1 && *value <= 9e18;
}

static bool has_choice(const char *choices, const char *word, size_t length) {
    for (const char *at = choices; at; at = strchr(at, '|')) {
        at += *at == '|';
        size_t end = strcspn(at, "|");
        if (end == length && !memcmp(at, word, length)) return true;
    }
    return false;
}

static int check_list(const cli_command *command, const cli_option *option, const char *list) {
    for (const char *at = list;; at++) {
        const size_t length = strcspn(at, ",");
        if (!has_choice(option->choices, at, length))
            return cli_usage_error(command, "%s takes some of %s, and '%.*s' is none of them",
                                   option->name, option->choices, (int)length, at);
        at += length;
        if (!*at) return EXIT_DONE;
    }
}

static int store_value(const cli_command *command, const cli_option *option, const char *value,
                       cli_arguments *arguments) {
    char *field = (char *)arguments + option->field;
    double number = 0;
    switch (option->kind) {
    case KIND_SWITCH:
        *(bool *)field = true;
        return EXIT_DONE;
    case KIND_TEXT:
    case KIND_INPUT:
    case KIND_OUTPUT:
        if (option->choices && !has_choice(option->choices, value, strlen(value)))
            return cli_usage_error(command, "%s takes one of %s, not '%s'", option->name,
                                   option->choices, value);
        *(const char **)field = value;
        return EXIT_DONE;
    case KIND_LIST:
        *(const char **)field = value;
        return check_list(command, option, value);
    case KIND_COUNT:
        if (!margin_number_parse_f64(value, strlen(value), &number) || number != floor(number) ||
            number < 0 || number > 9007199254740992.0)
            return cli_usage_error(
                command, "%s takes a whole number, not '%s'%s", option->name, value,
                strcmp(option->name, "--threads") != 0 ? "" : " (the target is --target)");
        if (!strcmp(option->name, "--threads") && (number < 1 || number > 1024))
            return cli_usage_error(command, "--threads takes a number from 1 to 1024, not '%s'",
                                   value);
        break;
    case KIND_SIZE:
        if (!parse_size(value, &number))
            return cli_usage_error(command, "%s takes a size such as 500M or 2G, not '%s'",
                                   option->name, value);
        break;
    default:
        if (!margin_number_parse_f64(value, strlen(value), &number) || !(number > 0) ||
            number > 1e9)
            return cli_usage_error(command, "%s takes seconds above 0, not '%s'", option->name,
                                   value);
    }
    *(double *)field = number;
    return EXIT_DONE;
}

static const cli_option *find_option(const char *word, size_t length) {
    for (int i = 0; i < cli_option_count; i++) {
        const cli_option *o = &cli_options[i];
        if (strlen(o->name) == length && !memcmp(o->name, word, length)) return o;
        if (o->letter && length == 2 && word[0] == '-' && word[1] == o->letter) return o;
    }
    return NULL;
}

/* Optimal string alignment: two letters exchanged are one slip. */
size_t cli_edit_distance(const char *a, size_t length, const char *b) {
    enum { LONGEST = 64 };
    size_t rows[3][LONGEST], width = strlen(b);
    if (width >= LONGEST) return LONGEST;
    for (size_t j = 0; j <= width; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= length; i++) {
        const size_t *above = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];
        size_t *row = rows[i % 3];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            if (above[j] + 1 < best) best = above[j] + 1;
            const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (exchanged && before[j - 2] + 1 < best) best = before[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[length % 3][width];
}

/* What other programs call an option, and what margin has for it. */
static const char *other_words(const char *word, size_t length) {
    static const char *const words[][2] = {
        {"--label", "; did you mean --target, the column to predict?"},
        {"--class", "; did you mean --target, the column to predict?"},
        {"--response", "; did you mean --target, the column to predict?"},
        {"--probabilities", "; did you mean --proba?"},
        {"--probability", "; did you mean --proba?"},
        {"--delimiter", "; did you mean --separator?"},
        {"--sep", "; did you mean --separator?"},
        {"--drop", "; did you mean --ignore, the columns to leave out?"},
        {"--test", "; did you mean --holdout, the share of the rows to judge by?"},
        {"--split", "; did you mean --holdout, the share of the rows to judge by?"}};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strlen(words[k][0]) == length && !memcmp(words[k][0], word, length)) return words[k][1];
    return NULL;
}

static int unknown_option(const cli_command *command, const char *word, size_t length) {
    const char *near = NULL, *other = other_words(word, length);
    size_t least = length > 7 ? 4 : length > 4 ? 3 : 2;
    if (other)
        return cli_usage_error(command, "there is no option %.*s%s", (int)length, word, other);
    for (int i = 0; i < cli_option_count; i++) {
        if (!cli_option_applies(&cli_options[i], command)) continue;
        size_t distance = cli_edit_distance(word, length, cli_options[i].name);
        if (distance < least) {
            least = distance;
            near = cli_options[i].name;
        }
    }
    return cli_usage_error(command, "there is no option %.*s%s%s%s", (int)length, word,
                           near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* One option at words[*i]: its value follows '=' or is the next word. `given`: of each option,
 * whether it was seen before: which of two values would hold is no guess of ours. */
static int parse_option(const cli_command *command, int count, char **words, int *i, bool *given,
                        cli_arguments *arguments) {
    const char *word = words[*i], *equals = strchr(word, '=');
    size_t length = equals && word[1] == '-' ? (size_t)(equals - word) : strlen(word);
    const cli_option *option = find_option(word, length);
    if (!option) return unknown_option(command, word, length);
    if (option->field == FIELD(output) && !strcmp(command->name, "convert"))
        return cli_usage_error(command,
                               "OUT is the second word: margin convert IN OUT, without -o");
    if (!cli_option_applies(option, command))
        return cli_usage_error(command, "%s does not go with 'margin %s', but with%.*s",
                               option->name, command->name, (int)strlen(option->commands) - 1,
                               option->commands);
    const char *value = word[length] == '=' ? word + length + 1 : NULL;
    if (!option->value && value) return cli_usage_error(command, "%s takes no value", option->name);
    if (option->value && !value) {
        if (*i + 1 >= count)
            return cli_usage_error(command, "%s needs a value: %s", option->name, option->value);
        value = words[++*i];
    }
    if (given[option - cli_options] && option->value)
        return cli_usage_error(
            command, "%s is given twice%s", option->name,
            strcmp(option->value, "COLUMNS") != 0 ? "" : ": name all columns in one list, a,b");
    given[option - cli_options] = true;
    return store_value(command, option, value, arguments);
}

static int check_combination(const cli_command *command, const cli_arguments *a) {
    if (a->header && a->no_header)
        return cli_usage_error(command, "--header and --no-header exclude each other");
    if (a->zero_based && a->one_based)
        return cli_usage_error(command, "--zero-based and --one-based exclude each other");
    if (a->target && a->no_target)
        return cli_usage_error(command, "--target and --no-target exclude each other");
    const bool remembered =
        a->missing && (!strcmp(a->missing, "mean") || !strcmp(a->missing, "keep"));
    if (remembered && strcmp(command->name, "fit") != 0)
        return cli_usage_error(command,
                               "--missing %s goes with 'margin fit': the model then "
                               "remembers what becomes of missing values",
                               a->missing);
    if (a->groups && a->time)
        return cli_usage_error(command, "--groups and --time exclude each other");
    if (a->random > 0 && a->halving)
        return cli_usage_error(command, "--random and --halving exclude each other");
    if (a->folds > 0 && a->leave_one_out)
        return cli_usage_error(command, "--folds and --leave-one-out exclude each other");
    if ((a->folds > 0 || a->leave_one_out) && (a->holdout || a->validation))
        return cli_usage_error(command, "-k gives folds, --holdout parts: choose one");
    const bool folds = a->coverage || a->calibrate || a->threshold;
    if (((a->groups && !folds) || a->time || a->in_order) && !a->holdout &&
        (!strcmp(command->name, "fit") || !strcmp(command->name, "evaluate")))
        return cli_usage_error(command, "%s says how to split: give --holdout, too",
                               a->groups ? "--groups"
                               : a->time ? "--time"
                                         : "--in-order");
    if (a->inner > 0 && !a->nested)
        return cli_usage_error(command,
                               "--inner says how to choose inside a fold: give --nested, too");
    if (a->probabilities && a->scores)
        return cli_usage_error(command, "--proba and --scores exclude each other");
    if (a->separator && strlen(a->separator) != 1 && strcmp(a->separator, "tab") != 0 &&
        strcmp(a->separator, "space") != 0 && strcmp(a->separator, "blank") != 0)
        return cli_usage_error(
            command, "--separator takes one character, 'tab' or 'blank', not '%s'", a->separator);
    return EXIT_DONE;
}

static bool is_given(const cli_option *option, const cli_arguments *arguments) {
    const char *field = (const char *)arguments + option->field;
    return option->kind == KIND_SWITCH ? *(const bool *)field : *(const char *const *)field != NULL;
}

/* Words and switches of the commands that read tables are about the table. */
static bool is_of_table(const cli_option *option) {
    if (option->field == FIELD(quiet) || option->kind > KIND_INPUT) return false;
    return option->field == FIELD(missing) || !strcmp(option->commands, READS);
}

const char *cli_table_option(const cli_arguments *arguments) {
    for (int i = 0; i < cli_option_count; i++)
        if (is_of_table(&cli_options[i]) && is_given(&cli_options[i], arguments))
            return cli_options[i].name;
    return NULL;
}

static bool is_file(const char *path) {
    struct stat file;
    return !stat(path, &file);
}

static int missing_picture(const cli_command *plot) {
    cli_text kinds = {0};
    for (const char *c = cli_plot_kinds; *c; c++)
        text_puts(&kinds, *c == ' ' ? ", " : (char[]){*c, '\0'});
    const int code = cli_usage_error(plot, "which picture: %s", kinds.data ? kinds.data : "");
    text_free(&kinds);
    return code;
}

/* The next word of the usage line is the one that is missing. */
static int missing_word(const cli_command *command, int given) {
    if (given == 0 && !strcmp(command->name, "plot")) return missing_picture(command);
    const char *word = command->usage;
    for (; given > 0; given--)
        word += strcspn(word, " ") + 1;
    return cli_usage_error(command, "%.*s is missing%s", (int)strcspn(word, " "), word,
                           !strncmp(word, "DATA", 4) ? ": a file, or - for standard input" : "");
}

int cli_parse(const cli_command *command, int count, char **words, cli_arguments *arguments) {
    bool options_over = false, given[sizeof cli_options / sizeof cli_options[0]] = {false};
    memset(arguments, 0, sizeof *arguments);
    for (int i = 0; i < count; i++) {
        const char *word = words[i];
        if (!options_over && !strcmp(word, "--")) {
            options_over = true;
        } else if (!options_over && word[0] == '-' && word[1]) {
            int code = parse_option(command, count, words, &i, given, arguments);
            if (code) return code;
        } else {
            if (arguments->word_count == CLI_MAX_WORDS ||
                arguments->word_count == command->most_words)
                return cli_usage_error(command, "'%s' is one word too many", word);
            arguments->words[arguments->word_count++] = word;
        }
    }
    if (arguments->word_count < command->least_words)
        return missing_word(command, arguments->word_count);
    if (!strncmp(command->usage, "SPEC DATA", 9) && is_file(arguments->words[0]) &&
        !is_file(arguments->words[1]))
        return cli_usage_error(command, "%s is a file: the spec comes first: margin %s '%s' %s",
                               arguments->words[0], command->name, arguments->words[1],
                               arguments->words[0]);
    if (!strcmp(command->name, "compare") && !is_file(arguments->words[0]) &&
        arguments->word_count > 1 && is_file(arguments->words[arguments->word_count - 1]))
        return cli_usage_error(command,
                               "%s is a file: the table comes first: margin compare %s '%s'",
                               arguments->words[arguments->word_count - 1],
                               arguments->words[arguments->word_count - 1], arguments->words[0]);
    const int code = check_combination(command, arguments);
    return code ? code : cli_check_files(command, arguments);
}
