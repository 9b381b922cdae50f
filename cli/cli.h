/* What the commands of the program share. The program sees the public headers only. */
#ifndef CLI_H
#define CLI_H

#include "margin/margin.h"

#include <stdbool.h>

/* Exit codes of the contract. */
enum {
    EXIT_DONE = 0,
    EXIT_USAGE = 1,
    EXIT_BAD_INPUT = 2,
    EXIT_STOPPED_EARLY = 3,
    EXIT_NO_MEMORY = 4,
    EXIT_SYSTEM = 5,
    EXIT_INTERRUPTED = 130
};

enum { CLI_MAX_WORDS = 16, CLI_WIDTH = 92 };

/* The command line after parsing: NULL, 0 or false where an option was not given. */
typedef struct cli_arguments {
    const char *words[CLI_MAX_WORDS]; /* after the command */
    int word_count;
    const char *output, *trace, *target, *weights, *ignore, *categorical, *missing, *labels,
        *format, *separator, *margins, *keep, *columns, *size, *title, *labels_out, *confidence,
        *unknown_classes, *positive, *classes;
    const char *groups, *time, *holdout, *validation, *calibrate, *coverage, *threshold,
        *costs;                                                 /* of splits */
    const char *metric, *journal, *allow, *predictions, *table; /* of cv */
    bool no_target;
    double threads, seed, memory, time_limit, folds, inner, repeat, random, cells, bootstrap;
    bool stratify, in_order, leave_one_out, halving, training, one_se, nested,
        strict; /* of splits and cv */
    bool json, quiet, header, no_header, probabilities, scores, verify, float32, zero_based,
        one_based, terminal, bash, zsh, man, markdown, statistics;
} cli_arguments;

typedef struct cli_command {
    const char *name;
    const char *usage;   /* words and the options that matter most */
    const char *summary; /* one line */
    const char *text;    /* paragraph of the help */
    int least_words, most_words;
    int (*run)(const cli_arguments *arguments);
} cli_command;

/* Texts that name a file which is read, or written, are kinds of their own: see cli_files.c. */
enum {
    KIND_SWITCH,
    KIND_TEXT,
    KIND_LIST, /* of choices, separated by commas */
    KIND_INPUT,
    KIND_OUTPUT,
    KIND_COUNT,
    KIND_SIZE,
    KIND_SECONDS
};

typedef struct cli_option {
    const char *name;     /* "--threads" */
    char letter;          /* 'o', or 0 */
    const char *value;    /* name of its value in the help, NULL: a switch */
    const char *commands; /* " fit predict " with spaces around each */
    const char *help;
    const char *choices; /* "error|mean|drop" or NULL: for checks and completion */
    int kind;            /* how it is stored */
    int64_t field;       /* offset in cli_arguments */
} cli_option;

extern const cli_command cli_commands[];
extern const int cli_command_count;
extern const cli_option cli_options[];
extern const int cli_option_count;

const cli_command *cli_find_command(const char *name);
bool cli_option_applies(const cli_option *option, const cli_command *command);

/* Fills `arguments`; on a mistake prints a sentence and the usage line and returns EXIT_USAGE. */
int cli_parse(const cli_command *command, int count, char **words, cli_arguments *arguments);
/* No file is written that the command reads, or that it writes otherwise, by whatever path: prints
 * a sentence and returns EXIT_USAGE. cli_check_made_file is the same for a file whose name is made
 * from that of `option`. */
int cli_check_files(const cli_command *command, const cli_arguments *arguments);
int cli_check_made_file(const cli_command *command, const cli_arguments *arguments,
                        const char *option, const char *path);
void cli_print_help(const cli_command *command); /* NULL: of the program */
/* How many single-character edits lead from the first `length` characters of a to b. */
size_t cli_edit_distance(const char *a, size_t length, const char *b);
/* The first option given that says how a table is read; NULL: there is none. */
const char *cli_table_option(const cli_arguments *arguments);
int cli_usage_error(const cli_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- Session: context, clock, messages ------------------------------------------------------- */

typedef struct cli_session {
    const cli_arguments *arguments;
    margin_context *context; /* with the time limit that was asked for */
    margin_context *whole;   /* without, for what follows a fit */
    margin_error error;
    double started, read_seconds, work_seconds;
    const char *spec;       /* that the table is read for; NULL: none */
    const char *path;       /* of the table that was read last */
    const char *target_why; /* that table's target is that column */
    bool fits;              /* the command is fit */
    bool chooses_target;    /* --target names one of the model's several targets, not columns */
    int64_t target;         /* its number; -1: all of several */
} cli_session;

/* Makes the context with callbacks and lets Ctrl-C and SIGTERM cancel it. Returns an exit code,
 * EXIT_DONE if all is well. */
int cli_session_open(cli_session *session, const cli_arguments *arguments);
void cli_session_close(cli_session *session);
/* To be called before a result is written (NULL or "-": standard output). EXIT_INTERRUPTED, with a
 * message, if an interrupt came already; one that comes from here on still ends the program where
 * writing waits for a reader. */
int cli_writes_to(const char *path);
/* A process that an interrupt is to end; 0: none any more. */
void cli_helped_by(int process);
/* Prints the session's error as "margin: ..." and returns the exit code for a status below 0. */
int cli_failed(cli_session *session, margin_status status);
int cli_exit_code(margin_status status);
/* A sentence of the library with the program's flags in place of the options of C that it names. */
typedef struct cli_sentence {
    char text[1000];
} cli_sentence;
cli_sentence cli_in_flags(const char *text);
double cli_clock(void);
double cli_elapsed(const cli_session *session);
void cli_note(const cli_session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* What the library notes is held back, as where a file is read again. */
void cli_hold_notes(bool hold);
void cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_progress_end(void); /* clears the progress line before anything else is printed */

/* ---- Data and models as the options say ------------------------------------------------------ */

/* What --missing asks of a reader. `spec`: of what the table is for; one that begins with `impute`
 * takes missing values unless they were to be refused. NULL: there is none. */
margin_missing cli_missing(const cli_arguments *arguments, const char *spec);

/* Reads a table to train on or to look at. `path` may be "-". */
margin_status cli_read_table(cli_session *session, const char *path, bool with_target,
                             margin_missing missing, margin_table **table);
/* Reads all columns of a CSV table, those of the list `as_text`, which an option named, as
 * categories, whatever they hold. */
margin_status cli_read_texts(cli_session *session, const char *path, const char *option,
                             const char *as_text, margin_table **table);
/* Reads a table whose target is the column that an option named, for its values. */
margin_status cli_read_column(cli_session *session, const char *path, const char *option,
                              const char *column, margin_table **table);
/* Adds to a refusal of data which row of a file (NULL: leave it) it is about, and to that of a
 * column of categories the option that leaves it out, and how many of them are numbers. */
void cli_advise_data(cli_session *session, const margin_data *data, const char *file);
/* For qsort, of numbers. */
int cli_ascending(const void *a, const void *b);
/* Columns of a table that look like identifiers, or like numbers with texts among them: a note for
 * each, and as JSON "notes". */
void cli_note_columns(const cli_session *session, const margin_data *data);
/* The first column from `from` on that looks like an identifier; the count of columns: none. */
int64_t cli_next_identifier(const margin_data *data, int64_t from);
/* A note where naive Bayes takes sparse counts for measurements. */
void cli_note_counts(const cli_session *session, const margin_model *model,
                     const margin_data *data);
/* Reads a table in the columns that `model` was trained on, with codes behind the model's for
 * categories that it does not know, unless its spec refuses those. Classes that it does not know
 * are refused where the target is needed, but with --missing drop: see cli_drop_unknown_classes.
 * Without a target no row is left out: --missing drop keeps them, and the caller leaves their
 * answers empty. */
typedef enum cli_target { CLI_NO_TARGET, CLI_MAY_HAVE_TARGET, CLI_NEEDS_TARGET } cli_target;
margin_status cli_read_for_model(cli_session *session, const margin_model *model, const char *path,
                                 cli_target need, margin_table **table);
/* The same for more training rows: categories and classes may be new, and come behind the model's.
 */
margin_status cli_read_more_for_model(cli_session *session, const margin_model *model,
                                      const char *path, margin_table **table);
/* With --missing drop: selects the rows of `data` whose class the model knows. *rows holds the
 * selection; the caller frees it. Returns an exit code, and prints what is wrong. */
int cli_drop_unknown_classes(cli_session *session, const margin_model *model, margin_data *data,
                             int64_t **rows);
/* Of a model with several targets, --target names one, by name or number; without it all are meant
 * (-1 in session->target), or if `must` be so, one has to be named. Before a table (NULL: there is
 * none, so that no option names its columns) is read for the model. On a mistake prints the
 * sentence and returns its exit code. */
int cli_choose_target(cli_session *session, const margin_model *model, const char *command,
                      const char *table, bool must);
bool cli_several_targets(const margin_model *model);
/* More than two classes, each score of two of them. */
bool cli_scores_pairs(const margin_model *model);
/* By name, else by number from 1, negative from the end; -1: there is none. */
int64_t cli_column_find(const margin_column *columns, int64_t count, const char *word,
                        size_t length);
/* The columns of `of`, a file, in a list that an option gives: names or numbers (negative: from the
 * end), a..b for all from a to b. *chosen, to be freed in any case, holds their numbers from 0.
 * Returns an exit code, and prints what is wrong. */
int cli_columns(const char *option, const char *of, const margin_column *columns, int64_t count,
                const char *list, int64_t **chosen, int64_t *chosen_count);
/* Of a row of a table; 1 without --weights. */
double cli_weight_of(const margin_data *data, int64_t row);
margin_status cli_load_model(cli_session *session, const char *path, margin_model **model);
/* MODEL and, where it is given, DATA, which needs the target unless the model has none. */
margin_status cli_load_to_judge(cli_session *session, margin_model **model, margin_table **table);
/* How a table was read. */
margin_table_details cli_table_details(const margin_table *table);
margin_format cli_format(const cli_arguments *arguments);

/* ---- Splits ---------------------------------------------------------------------------------- */

/* The splits of `data` that the options ask for, 5 folds if they ask for none; `stratify`: with
 * shares of classes where nothing stands against it. One part as a selection of data; the caller
 * frees rows. Return an exit code, and print what is wrong. */
int cli_split(cli_session *session, const margin_data *data, margin_splits **splits);
/* The options themselves, and the tables of which they hold columns; to be freed in any case. */
typedef struct cli_split_request {
    margin_split_options options;
    margin_table *groups, *time;
} cli_split_request;
int cli_split_asked(cli_session *session, const margin_data *data, bool stratify,
                    cli_split_request *asked);
void cli_split_asked_free(cli_split_request *asked);
int cli_split_shares(cli_session *session, const margin_data *data, bool stratify,
                     margin_splits **splits);
/* The column of --groups, if there is one. */
int cli_groups(cli_session *session, int64_t rows, margin_table **table, margin_vector *groups);
int cli_split_part(const margin_splits *splits, int64_t split, margin_part part, margin_data *data,
                   int64_t **rows);
/* Whether a learner (NULL: any) will take the target for classes. */
bool cli_is_classes(const margin_data *data, const margin_spec *spec);

/* What --calibrate, --coverage, --threshold and --costs ask for, put into *model, which was trained
 * on `data`. */
int cli_promise(cli_session *session, const margin_data *data, margin_model **model);
/* A probability given as an option. */
int cli_probability(const char *option, const char *word, double *value);

/* ---- Text and JSON --------------------------------------------------------------------------- */

/* Growing text. A failed allocation is remembered and reported once, by text_finish. */
typedef struct cli_text {
    char *data;
    size_t length, capacity;
    bool failed;
    bool comma; /* JSON: the next value needs a comma */
} cli_text;

void text_add(cli_text *text, const char *bytes, size_t length);
void text_puts(cli_text *text, const char *string);
/* The ending of a noun: "" for 1, "s" for any other count. */
const char *text_plural(int64_t count);
void text_printf(cli_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_number(cli_text *text, double value); /* shortest round trip */
void text_short(cli_text *text, double value);  /* six digits or a whole number, for people */
/* Words in lines of CLI_WIDTH characters behind `indent` blanks, and a line's end; the first line
 * starts at `column`. */
void text_wrapped(cli_text *text, const char *words, int indent, int column);
void text_cell(cli_text *text, const char *string); /* CSV cell, quoted where needed */
/* A name from the data for people: control characters, which could steer a terminal, become '?'; at
 * most `most` characters (0: all), with spaces behind to `width`, or in front to -width. */
void text_name(cli_text *text, const char *name, int width, int most);
void text_free(cli_text *text);

/* JSON: key NULL inside an array. NaN and infinities become null. */
void json_open(cli_text *text, const char *key, char bracket);
void json_close(cli_text *text, char bracket);
void json_string(cli_text *text, const char *key, const char *value);
void json_number(cli_text *text, const char *key, double value);
void json_integer(cli_text *text, const char *key, int64_t value);
void json_bool(cli_text *text, const char *key, bool value);
void json_null(cli_text *text, const char *key);
void json_numbers(cli_text *text, const char *key, const double *values, int64_t count);

/* Writes the text to a file whole or not at all (NULL or "-": standard output), frees it, returns
 * an exit code. */
int text_finish(cli_session *session, cli_text *text, const char *path);
/* A note of the file that -o names, if it names one. */
void cli_note_written(const cli_session *session, const char *what);

/* --confidence, 0.95 without. */
int cli_confidence(const cli_arguments *arguments, double *confidence);
/* How certain a linear model's coefficients are on its training data: a table, or a JSON object
 * "statistics". On failure prints the sentence and returns its exit code. */
int cli_statistics(cli_session *session, const margin_model *model, cli_text *text);

/* The units of a model's features (margin_model_scale): a value of one in those of the table; how
 * many are scaled; the line that says how columns with weights are scaled, or which columns of
 * clusters and of naive Bayes a stage made of scaled ones, and "units": {"shift": [...], "scale":
 * [...]} of all features where one is scaled. */
double cli_in_units(const margin_model *model, int64_t feature, double value);
int64_t cli_scaled_features(const margin_model *model);
void text_units(cli_text *text, const margin_model *model);
void json_units(cli_text *text, const margin_model *model);

/* Probabilities of a naive Bayes model and what tells its classes apart; nothing for others. */
void json_bayes(cli_text *text, const margin_model *model);
void text_bayes(cli_text *text, const margin_model *model);

/* The lines of a report. "target      NAME" and what is to be said behind it; nothing without a
 * target. What was minimised, or the rule of a learner that minimises nothing; the word for how it
 * ended; whether it claims a bound of its distance from the optimum. */
void text_target(cli_text *text, const margin_model *model, const char *why);
/* The same of a table; why its target is that column, where nobody named it. */
void text_table_target(cli_text *text, const margin_data *data, const char *why);
const char *cli_target_why(const cli_arguments *arguments, const margin_table *table);
void text_formula(cli_text *text, const margin_model *model, const margin_report *report);
const char *cli_ending(const margin_model *model, const margin_report *report);
bool cli_has_gap(const margin_model *model, const margin_report *report);
void text_penalty(cli_text *text, const margin_report *report);
void text_details(cli_text *text, const margin_report *report);
/* "1 pass", "2 passes" */
void text_count(cli_text *text, int64_t count, const char *plural);

/* The shared parts of answers. */
void json_report(cli_text *text, const margin_report *report);
void json_classes(cli_text *text, const char *key, const margin_model *model);
/* "target", or "targets" where there are several and none is chosen (-1). */
void json_target(cli_text *text, const margin_model *model, int64_t chosen);
/* Several targets: "a, b, ..."; rmse, mae and r2 of each. Nothing for one. */
void text_targets(cli_text *text, const margin_model *model);
/* Of column j (the count of columns: the target) with numbers and texts how many; else nothing. */
void text_numbers_among_texts(cli_text *text, const margin_data *data, int64_t j);
/* The most bytes held, and what fits with a kernel announced. */
void json_memory(cli_text *text, const cli_session *session);
void json_column_notes(cli_text *text, const cli_session *session, const margin_data *data);
/* What a model promises (--calibrate and its like), as lines of a report and as JSON; how often its
 * intervals or sets hold the truth of held-out rows (NULL, or rows 0: there are none). */
void text_promises(cli_text *text, const margin_model *model,
                   const margin_coverage_found *held_out);
void json_coverage(cli_text *text, const margin_coverage_found *found);
void json_promises(cli_text *text, const margin_model *model);
/* The word of --calibrate, NULL: it is not calibrated. */
const char *cli_calibration(const margin_model *model);
/* What margin evaluate found; whether it counts rows of unknown classes as errors. */
void json_metrics(cli_text *text, const margin_model *model, const margin_metrics *m);
void text_metrics(cli_text *text, const margin_model *model, const margin_metrics *m);
/* What an answer costs in the mean by the model's costs, and the cheapest of those that answer the
 * same for all rows; NaN: it has none. */
double cli_mean_cost(const margin_model *model, const margin_metrics *m, double *least);
bool cli_unknown_wrong(const cli_arguments *arguments);
void json_target_metrics(cli_text *text, const margin_model *model, const margin_metrics *m);
void text_target_metrics(cli_text *text, const margin_model *model, const margin_metrics *m);
const char *task_name(margin_task task);
void text_bytes(cli_text *text, double bytes);     /* "2.1 KB" */
void text_seconds(cli_text *text, double seconds); /* "4 ms" */

extern const char cli_plot_kinds[]; /* separated by blanks */

/* ---- Commands -------------------------------------------------------------------------------- */
int run_fit(const cli_arguments *arguments);
int run_cv(const cli_arguments *arguments);
int run_compare(const cli_arguments *arguments);
int run_predict(const cli_arguments *arguments);
int run_evaluate(const cli_arguments *arguments);
int run_report(const cli_arguments *arguments);
int run_importance(const cli_arguments *arguments);
int run_inspect(const cli_arguments *arguments);
int run_separable(const cli_arguments *arguments);
int run_split(const cli_arguments *arguments);
int run_check(const cli_arguments *arguments);
int run_convert(const cli_arguments *arguments);
int run_transform(const cli_arguments *arguments);
int run_learners(const cli_arguments *arguments);
int run_gram(const cli_arguments *arguments);
int run_path(const cli_arguments *arguments);
int run_plot(const cli_arguments *arguments);
int run_update(const cli_arguments *arguments);
int run_generate(const cli_arguments *arguments);

#endif
