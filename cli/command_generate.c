/* margin generate: completion scripts, man page and option tables, made from the tables that the
 * program itself uses, so that they cannot go out of step with it. */
#include "cli.h"

#include <math.h>
#include <string.h>

/* Calls `each` with every choice of "a|b|c". */
static void for_choices(cli_text *text, const char *choices, const char *before,
                        const char *after) {
    for (const char *at = choices; at; at = strchr(at, '|')) {
        at += *at == '|';
        text_puts(text, before);
        text_add(text, at, strcspn(at, "|"));
        text_puts(text, after);
    }
}

/* Whether the option's value is a file name. */
static bool takes_file(const cli_option *option) {
    return option->value && !strcmp(option->value, "FILE");
}

/* ---- bash ------------------------------------------------------------------------------------ */

static void bash_options(cli_text *text) {
    for (int k = 0; k < cli_command_count; k++) {
        text_printf(text, "    %s) options=\"", cli_commands[k].name);
        for (int i = 0; i < cli_option_count; i++)
            if (cli_option_applies(&cli_options[i], &cli_commands[k]))
                text_printf(text, "%s ", cli_options[i].name);
        text_puts(text, "--help\" ;;\n");
    }
}

static void bash_values(cli_text *text) {
    for (int i = 0; i < cli_option_count; i++) {
        const cli_option *o = &cli_options[i];
        if (!o->value) continue;
        text_printf(text, "    %s) ", o->name);
        if (o->choices) {
            text_puts(text, "COMPREPLY=($(compgen -W \"");
            for_choices(text, o->choices, "", " ");
            text_puts(text, "\" -- \"$current\")) ;;\n");
        } else {
            text_puts(text, takes_file(o) ? "COMPREPLY=($(compgen -f -- \"$current\")) ;;\n"
                                          : "COMPREPLY=() ;;\n");
        }
    }
}

static void component_names(cli_text *text) {
    for (int i = 0; i < margin_component_count(); i++)
        text_printf(text, "%s ", margin_component_at(i)->name);
}

static void write_bash(cli_text *text) {
    text_puts(
        text,
        "# bash completion for margin; made by 'margin generate --bash'\n"
        "_margin() {\n  local current=\"${COMP_WORDS[COMP_CWORD]}\" "
        "previous=\"${COMP_WORDS[COMP_CWORD-1]}\" options\n"
        "  COMPREPLY=()\n  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W \"");
    for (int k = 0; k < cli_command_count; k++)
        text_printf(text, "%s ", cli_commands[k].name);
    text_puts(
        text,
        "help --version --help\" -- \"$current\"))\n    return\n  fi\n  case \"$previous\" in\n");
    bash_values(text);
    text_puts(text, "    *) previous= ;;\n  esac\n  [ -z \"$previous\" ] || return\n  case "
                    "\"${COMP_WORDS[1]}\" in\n");
    bash_options(text);
    text_puts(text,
              "    *) options= ;;\n  esac\n  case \"$current\" in\n"
              "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$current\")) ; return ;;\n  esac\n"
              "  if [ \"$COMP_CWORD\" -eq 2 ]; then\n    case \"${COMP_WORDS[1]}\" in\n"
              "      fit | learners | path) COMPREPLY=($(compgen -W \"");
    component_names(text);
    text_puts(text, "\" -- \"$current\")) ; return ;;\n      plot) COMPREPLY=($(compgen -W \"");
    text_puts(text, cli_plot_kinds);
    text_puts(text, "\" -- \"$current\")) ; return ;;\n      help) COMPREPLY=($(compgen -W \"");
    for (int k = 0; k < cli_command_count; k++)
        text_printf(text, "%s ", cli_commands[k].name);
    text_puts(text, "\" -- \"$current\")) ; return ;;\n    esac\n  fi\n"
                    "  COMPREPLY=($(compgen -f -- \"$current\"))\n}\ncomplete -o filenames -F "
                    "_margin margin\n");
}

/* ---- zsh ------------------------------------------------------------------------------------- */

/* Text inside '...[help]...': brackets, colons and quotes are special there. */
static void zsh_text(cli_text *text, const char *string) {
    for (const char *c = string; *c; c++) {
        if (strchr("[]:\\", *c)) text_puts(text, "\\");
        text_add(text, *c == '\'' ? "'\\''" : c, *c == '\'' ? 4 : 1);
    }
}

static void zsh_option(cli_text *text, const cli_option *o) {
    text_printf(text, "        '%s%s[", o->name, o->value ? "=" : "");
    zsh_text(text, o->help);
    text_puts(text, "]");
    if (o->choices) {
        text_puts(text, ":value:(");
        for_choices(text, o->choices, "", " ");
        text_puts(text, ")");
    } else if (o->value) {
        text_puts(text, takes_file(o) ? ":file:_files" : ":value:");
    }
    text_puts(text, "' \\\n");
}

static void write_zsh(cli_text *text) {
    text_puts(text, "#compdef margin\n# zsh completion for margin; made by 'margin generate "
                    "--zsh'\n_margin() {\n"
                    "  local -a commands components\n  commands=(\n");
    for (int k = 0; k < cli_command_count; k++) {
        text_printf(text, "    '%s:", cli_commands[k].name);
        zsh_text(text, cli_commands[k].summary);
        text_puts(text, "'\n");
    }
    text_puts(text, "    'help:explain a command'\n  )\n  components=(");
    component_names(text);
    text_puts(
        text,
        ")\n  if (( CURRENT == 2 )); then\n    _describe 'command' commands\n    return\n  fi\n"
        "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n");
    for (int k = 0; k < cli_command_count; k++) {
        const char *name = cli_commands[k].name;
        text_printf(text, "    %s)\n      _arguments \\\n", name);
        for (int i = 0; i < cli_option_count; i++)
            if (cli_option_applies(&cli_options[i], &cli_commands[k]))
                zsh_option(text, &cli_options[i]);
        if (!strcmp(name, "fit") || !strcmp(name, "learners") || !strcmp(name, "path") ||
            !strcmp(name, "gram"))
            text_puts(text, "        '1:spec:($components)' '*:data:_files' ;;\n");
        else if (!strcmp(name, "plot"))
            text_printf(text, "        '1:kind:(%s)' '*:file:_files' ;;\n", cli_plot_kinds);
        else
            text_puts(text, "        '*:file:_files' ;;\n");
    }
    text_puts(text, "  esac\n}\n_margin \"$@\"\n");
}

/* ---- man page -------------------------------------------------------------------------------- */

static void man_text(cli_text *text, const char *string) {
    bool line_start = true;
    for (const char *c = string; *c; c++) {
        if (line_start && (*c == '.' || *c == '\'')) text_puts(text, "\\&");
        if (*c == '\\')
            text_puts(text, "\\e");
        else if (*c == '-')
            text_puts(text, "\\-");
        else
            text_add(text, c, 1);
        line_start = *c == '\n';
    }
}

static void man_option(cli_text *text, const char *name, char letter, const char *value,
                       const char *help) {
    text_puts(text, ".TP\n");
    if (letter) text_printf(text, "\\fB\\-%c\\fR, ", letter);
    text_puts(text, "\\fB");
    man_text(text, name);
    text_puts(text, "\\fR");
    if (value) {
        text_puts(text, " \\fI");
        man_text(text, value);
        text_puts(text, "\\fR");
    }
    text_puts(text, "\n");
    man_text(text, help);
    text_puts(text, "\n");
}

static void man_commands(cli_text *text) {
    text_puts(text, ".SH COMMANDS\n");
    for (int k = 0; k < cli_command_count; k++) {
        const cli_command *c = &cli_commands[k];
        text_puts(text, ".SS margin ");
        man_text(text, c->name);
        text_puts(text, " ");
        man_text(text, c->usage);
        text_puts(text, "\n");
        man_text(text, c->summary);
        text_puts(text, ".\n");
        man_text(text, c->text);
        text_puts(text, "\n");
        for (int i = 0; i < cli_option_count; i++)
            if (cli_option_applies(&cli_options[i], c))
                man_option(text, cli_options[i].name, cli_options[i].letter, cli_options[i].value,
                           cli_options[i].help);
    }
}

static bool is_numeric(const margin_option *o) {
    return o->type == MARGIN_OPTION_NUMBER || o->type == MARGIN_OPTION_INTEGER;
}

static void option_range(cli_text *text, const margin_option *o) {
    if (o->choices) text_puts(text, o->choices);
    if (is_numeric(o)) {
        text_puts(text, o->choices ? " or " : "");
        text_puts(text, o->low_open || isinf(o->low) ? "(" : "[");
        text_number(text, o->low);
        text_puts(text, ", ");
        text_number(text, o->high);
        text_puts(text, o->high_open ? ")" : "]");
    } else if (!o->choices) {
        text_puts(text, o->type == MARGIN_OPTION_SWITCH    ? "yes|no"
                        : o->type == MARGIN_OPTION_NUMBERS ? "\"numbers\""
                                                           : "\"text\"");
    }
}

static void man_components(cli_text *text) {
    text_puts(text, ".SH STAGES AND LEARNERS\n");
    for (int i = 0; i < margin_component_count(); i++) {
        const margin_component *c = margin_component_at(i);
        text_puts(text, ".SS ");
        man_text(text, c->name);
        text_puts(text, "\n");
        man_text(text, c->summary);
        text_puts(text, ".\n.br\nFormula: ");
        man_text(text, c->formula);
        text_puts(text, "\n");
        for (int k = 0; k < c->option_count; k++) {
            cli_text range = {0};
            option_range(&range, &c->options[k]);
            if (c->options[k].default_text)
                text_printf(&range, " (default %s)", c->options[k].default_text);
            man_option(text, c->options[k].name, 0, range.data, c->options[k].help);
            text_free(&range);
        }
    }
}

static void write_man(cli_text *text) {
    text_printf(text, ".TH MARGIN 1 \"\" \"margin %s\" \"User Commands\"\n", margin_version());
    text_puts(text, ".SH NAME\nmargin \\- classical machine learning whose every model comes with "
                    "a proof\n.SH SYNOPSIS\n"
                    ".B margin\n.I command\n.RI [ words ]\n.RI [ options ]\n.SH DESCRIPTION\n"
                    "Trains, proves, applies and explains models on tables: .csv .tsv, .svm "
                    ".libsvm .svmlight, .npy, idx and .arrows "
                    "files, each also .gz; \\- is standard input.\nResults go to standard output, "
                    "everything else to standard "
                    "error.\nOutput files appear whole or not at all.\nThe same data, spec and "
                    "seed give the same model bytes "
                    "with any number of threads.\n");
    man_commands(text);
    text_puts(text, ".SH SPECS\nA spec is a chain of stages and a learner, separated by |, each "
                    "with options in brackets:\n"
                    ".PP\n.nf\n    perceptron\n    minmax | perceptron(form=dual, rate=0.5)\n"
                    "    standardize | perceptron(kernel=rbf, sigma=1)\n.fi\n");
    man_components(text);
    text_puts(text,
              ".SH EXIT STATUS\n0 done; 1 usage; 2 bad input; 3 a usable model that stopped "
              "early; 4 out of memory or over a "
              "limit given, of memory or, before there is a model, of time; 5 file or system "
              "error; 130 interrupted by Ctrl-C or SIGTERM, with no file written but those that "
              "were whole before: the parts of split, the lines of a journal.\n.SH "
              "ENVIRONMENT\n.TP\n.B MARGIN_ISA\nref, avx2 or "
              "avx512: use no more of the processor than that.\n");
}

/* ---- option tables --------------------------------------------------------------------------- */

static void markdown_cell(cli_text *text, const char *string) {
    for (const char *c = string; *c; c++)
        text_add(text, *c == '|' ? "\\|" : c, *c == '|' ? 2 : 1);
}

static void write_markdown(cli_text *text) {
    text_puts(text,
              "# Stages and learners\n\nMade by `margin generate --markdown`; do not edit.\n");
    for (int i = 0; i < margin_component_count(); i++) {
        const margin_component *c = margin_component_at(i);
        const char *page = strrchr(c->page, '/');
        text_printf(text, "\n## %s\n\n%s. See [%s](%s).\n\nFormula: `%s`\n", c->name, c->summary,
                    page ? page + 1 : c->page, page ? page + 1 : c->page, c->formula);
        if (!c->option_count) continue;
        text_puts(text, "\n| option | values | default | meaning |\n| --- | --- | --- | --- |\n");
        for (int k = 0; k < c->option_count; k++) {
            cli_text range = {0};
            option_range(&range, &c->options[k]);
            text_printf(text, "| `%s` | ", c->options[k].name);
            markdown_cell(text, range.data ? range.data : "");
            text_puts(text, " | ");
            markdown_cell(text, c->options[k].default_text ? c->options[k].default_text : "");
            text_puts(text, " | ");
            markdown_cell(text, c->options[k].help);
            text_puts(text, " |\n");
            text_free(&range);
        }
    }
}

int run_generate(const cli_arguments *arguments) {
    cli_session session = {.arguments = arguments};
    cli_text text = {0};
    int wanted = arguments->bash + arguments->zsh + arguments->man + arguments->markdown;
    if (wanted != 1)
        return cli_usage_error(cli_find_command("generate"),
                               "say one of --bash, --zsh, --man and --markdown");
    if (arguments->bash) write_bash(&text);
    if (arguments->zsh) write_zsh(&text);
    if (arguments->man) write_man(&text);
    if (arguments->markdown) write_markdown(&text);
    return text_finish(&session, &text, NULL);
}
