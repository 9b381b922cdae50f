/* margin: the program. Finds the command and runs it; see cli.h for what the commands share. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const cli_command cli_commands[] = {
    {"fit", "SPEC DATA [-o MODEL] [--holdout SHARE]",
     "train a model and say how good it provably is",
     "SPEC names stages and a learner: 'perceptron', 'standardize | perceptron(form=dual)'; "
     "'margin learners' lists them. The "
     "report names what was minimised, how training ended and the proof. With --holdout 0.2 a "
     "fifth "
     "of the rows takes no part in training, and the report says how well the model, which is that "
     "of the others, predicts them. Exit code 3: a usable model that stopped early.",
     2, 2, run_fit},
    {"cv", "SPEC DATA [-k 5] [--stratify] [--repeat N] [-o MODEL]",
     "choose settings by cross-validation",
     "Sets in SPEC stand for settings: 'standardize | svm(C={0.1,1,10}, gamma={0.01..1 log 5})'. "
     "Each is fitted, stages included, to all folds but one and judged on that one, in turn. Shows "
     "the mean and standard deviation of every setting, the best and the simplest within one "
     "standard error of it; one that failed or stopped early is never best. Exit code 3: all "
     "stopped early.",
     2, 2, run_cv},
    {"compare", "DATA [SPEC...]", "compare learners, and a baseline, under the same folds",
     "Without SPEC every learner that suits the data with a small grid of settings, behind the "
     "stages that the data ask for; each stands at the best of its settings, with the interval of "
     "its mean and of its difference from the best one, the time a fit and the answers for a fold "
     "take, and the size of the model. The baseline looks at no column. With --time-limit, what is "
     "not tried by then is said. -o writes the best one, fitted to all rows.",
     1, 16, run_compare},
    {"predict", "MODEL DATA [-o FILE] [--proba|--scores]", "predict rows of a table",
     "Writes a CSV table whose last column is the prediction, or last columns, one for each "
     "target. "
     "Columns are matched by name where DATA has a header.",
     2, 2, run_predict},
    {"transform", "MODEL DATA [-o FILE]", "write rows as the stages of a model make them",
     "The columns that the learner of a model was trained on. A model of stages alone comes from "
     "margin fit 'impute | onehot | standardize' DATA -o stages.margin. The target of DATA, if it "
     "has one, comes last. "
     "Formats by the name of FILE, as of convert; without -o a CSV table.",
     2, 2, run_transform},
    {"evaluate", "MODEL DATA [--holdout SHARE] [--bootstrap N] [--verify]",
     "compare predictions with a known target",
     "Reports accuracy, log loss, precision, recall, F1 and AUC of each class and the confusion "
     "matrix, or the errors of a regression (of each "
     "target, if there are several), or inertia, "
     "sizes and silhouette of clusters, which need no target.",
     2, 2, run_evaluate},
    {"report", "MODEL [DATA] -o PAGE", "write all that is known of a model as one page of HTML",
     "The page needs nothing else: no network, no other file. It tells of the data, the model and "
     "what was minimised, the proof, the metrics on DATA, curves, weights, the worst rows, and the "
     "commands that make it again. Dark where the reader's screen is, and it can be printed. "
     "Without DATA, of the model alone.",
     1, 2, run_report},
    {"importance", "MODEL DATA [--metric NAME] [--repeat N]",
     "show which columns a model's answers depend on",
     "Shuffles each column in turn and says by how much the metric (accuracy, of numbers rmse) "
     "gets "
     "worse, on rows that the model should not have been trained on; of linear models also the "
     "weight times the standard deviation of the column. Columns that tell the same share their "
     "importance.",
     2, 2, run_importance},
    {"inspect", "MODEL [--statistics DATA]", "show what a model holds",
     "Prints the spec, classes, weights in original units or the coefficients of a dual form, and "
     "the report. With --statistics and the training data also standard errors, p-values, "
     "confidence intervals and R2 of least squares, or the likelihood of a logistic regression "
     "without penalty.",
     1, 2, run_inspect},
    {"split", "DATA [--holdout SHARE | -k K] [-o FILE]",
     "choose rows to learn from and rows to judge by",
     "Without -o a list: the part of each row (train, test, validation), or the fold that tests it "
     "(0: it is only learnt from). With -o parts.csv the files parts.train.csv, parts.test.csv, of "
     "several splits parts.1.train.csv and so on. By --seed; the same for any number of threads.",
     1, 1, run_split},
    {"separable", "DATA [--class NAME]",
     "decide whether a hyperplane separates two classes, with proof",
     "Answers with the widest hyperplane and its margin, or with convex weights on the rows of "
     "each class whose weighted means "
     "coincide to 1e-9 of every column's range. --class NAME asks about one class against all "
     "others.",
     1, 1, run_separable},
    {"check", "DATA", "describe the columns of a table",
     "Reads the whole table and lists type, range, mean, missing and distinct values of every "
     "column. Missing are empty cells, ? NA N/A n/a #N/A null NULL and nan; a column with other "
     "texts holds categories, and is refused where they are fewer than a tenth. Header and "
     "separator are found: docs/tables.md.",
     1, 1, run_check},
    {"convert", "IN OUT", "rewrite a table in another format",
     "Formats by name: .csv .tsv .svm .npy and idx, each also .gz for text. Numbers keep every "
     "bit.",
     2, 2, run_convert},
    {"learners", "[NAME]", "list stages and learners, or all options of one",
     "Without NAME a line for each; with NAME its formula, options, ranges and defaults.", 0, 1,
     run_learners},
    {"gram", "SPEC DATA [-o FILE]",
     "the Gram matrix of a table, as a learner with a kernel sees it",
     "k(x_i, x_j) of all pairs of rows, behind the stages of SPEC: 'standardize | "
     "kernel-ridge(sigma=2)'. Up to 100 rows are shown; -o FILE.csv or FILE.npy takes up to 20000.",
     2, 2, run_gram},
    {"path", "SPEC DATA [-o MODEL]",
     "ridge under many penalties at once, the best by leave-one-out",
     "SPEC holds a set of penalties: 'standardize | ridge(alpha={1e-3..1e3 log 20})'. For each "
     "one: "
     "effective degrees of freedom, training error, the exact error at rows left out one at a "
     "time, "
     "generalised cross-validation, and the gap that proves it. With -o the best is trained and "
     "saved.",
     2, 2, run_path},
    {"plot",
     "trace FILE | kdtree DATA | elbow|settings|bias|learning SPEC DATA | KIND MODEL DATA [-o "
     "FILE.svg]",
     "draw a trace, or what a model does",
     "trace: loss and misclassified rows over the steps. kdtree: the cells of a tree over two "
     "columns. elbow: inertia and silhouette over the numbers of clusters, as a table too: "
     "'kmeans(k={1..10})'. settings: the metric over one set of numbers, on the rows of each fold "
     "and on those that were learned from, or a map over two sets. bias: the error over one "
     "set of numbers, taken apart: what fits to other rows agree on in the mean, and their "
     "variance. learning: the metric over the number of rows. "
     "KIND: boundary (regions of two columns), clusters (their rows over two columns, with "
     "centres), fit "
     "(the curve of a regression over one column, and the weighted functions it is the sum of), "
     "margins (histogram), coefficients (with intervals, where DATA are given and there are "
     "standard errors), residuals (over the fitted values, and against normal quantiles), roc, "
     "precision (over recall), confusion, "
     "reliability (calibration: observed frequency against predicted probability). Pictures are "
     "drawn by "
     "gnuplot: to an SVG or PNG file with -o, in the terminal without.",
     2, 3, run_plot},
    {"update", "MODEL DATA -o MODEL", "bring a model up to date with more rows",
     "The result is the model of all rows, those it was trained on and those of DATA, without "
     "reading the old ones again: counts are added. DATA has the columns of the training data; new "
     "classes and categories are fine. Learners whose models are counts can do this: naive-bayes.",
     2, 2, run_update},
    {"generate", "--bash | --zsh | --man | --markdown",
     "print completion scripts, man page, option tables",
     "Made from the same tables as this help; used by the installation.", 0, 0, run_generate},
};
const int cli_command_count = (int)(sizeof cli_commands / sizeof cli_commands[0]);

const cli_command *cli_find_command(const char *name) {
    for (int i = 0; i < cli_command_count; i++)
        if (!strcmp(cli_commands[i].name, name)) return &cli_commands[i];
    return NULL;
}

/* What other programs call a command. */
static const char *other_name(const char *word) {
    static const char *const names[][2] = {
        {"train", "fit"},        {"learn", "fit"},         {"eval", "evaluate"},
        {"search", "cv"},        {"tune", "cv"},           {"grid", "cv"},
        {"crossval", "cv"},      {"cross-validate", "cv"}, {"score", "evaluate"},
        {"test", "evaluate"},    {"validate", "evaluate"}, {"show", "inspect"},
        {"info", "inspect"},     {"print", "inspect"},     {"describe", "check"},
        {"summary", "check"},    {"apply", "predict"},     {"classify", "predict"},
        {"version", "--version"}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (!strcmp(word, names[k][0])) return names[k][1];
    return NULL;
}

static int unknown_command(const char *word) {
    const char *near = other_name(word);
    const char *learner = strncmp(word, "neighb", 6) != 0 ? word : "knn";
    if (margin_component_find(learner))
        return cli_usage_error(NULL, "there is no command '%s'; a model of it: margin fit %s DATA",
                               word, learner);
    size_t least = 3;
    for (int i = 0; !near && i < cli_command_count; i++) {
        size_t distance = cli_edit_distance(word, strlen(word), cli_commands[i].name);
        if (distance >= least) continue;
        least = distance;
        near = cli_commands[i].name;
    }
    return cli_usage_error(NULL, "there is no command '%s'%s%s%s", word,
                           near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* Whether all that was printed arrived. */
static int printed(void) {
    if (!fflush(stdout) && !ferror(stdout)) return EXIT_DONE;
    fprintf(stderr, "margin: cannot write standard output: %s\n", strerror(errno));
    return EXIT_SYSTEM;
}

/* The number of a closed standard stream would go to the next file that is opened, and messages
 * into that file. The stand-ins refuse what the stream is for, so using it still fails. */
static void occupy_standard_streams(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

static int print_version(void) {
    margin_capabilities_info info = {0};
    margin_capabilities(&info);
    printf("margin %s\ninstruction set  %s\ncores            %d\nlapack           %s\n",
           margin_version(), info.instruction_set, info.cores, info.lapack);
    return printed();
}

static int run_help(int count, char **words) {
    if (count == 0) {
        cli_print_help(NULL);
        return printed();
    }
    const cli_command *command = cli_find_command(words[0]);
    if (!command && margin_component_find(words[0]))
        return run_learners(&(cli_arguments){.words = {words[0]}, .word_count = 1});
    if (!command) return unknown_command(words[0]);
    cli_print_help(command);
    return printed();
}

static bool asks_for_help(int count, char **words) {
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++)
        if (!strcmp(words[i], "--help") || !strcmp(words[i], "-h")) return true;
    return false;
}

int main(int count, char **words) {
    occupy_standard_streams();
    if (count < 2) return cli_usage_error(NULL, "a command is missing");
    const char *first = words[1];
    if (!strcmp(first, "--version")) return print_version();
    if (!strcmp(first, "help") || !strcmp(first, "--help") || !strcmp(first, "-h"))
        return run_help(count - 2, words + 2);
    const cli_command *command = cli_find_command(first);
    if (!command) return unknown_command(first);
    if (asks_for_help(count - 2, words + 2)) {
        cli_print_help(command);
        return printed();
    }
    cli_arguments arguments;
    int code = cli_parse(command, count - 2, words + 2, &arguments);
    return code ? code : command->run(&arguments);
}
