// The man page and the completions of bash, zsh and fish, made from the option table.
#include "options.h"

#include <stdio.h>
#include <string.h>

static const sap_cli_option* option_at(size_t i, int verb) {
    const sap_cli_option* option = &sap_cli_option_table[i];
    return sap_cli_option_shown(option, (sap_cli_verb)verb) ? option : NULL;
}

static bool takes_file(const sap_cli_option* option) { return option->kind == SAP_KIND_FILE; }

static void print_choices(const sap_cli_option* option, const char* between) {
    if (option->kind == SAP_KIND_DEVICE) printf("auto%scpu%scuda", between, between);
    if (option->kind == SAP_KIND_DEVICE && option->highest > 0) printf("%sgl", between);
    for (const sap_cli_choice* c = option->choices; c && c->name; c++)
        printf("%s%s", c == option->choices ? "" : between, c->name);
}

static bool has_choices(const sap_cli_option* option) { return option->choices || option->kind == SAP_KIND_DEVICE; }

// ---- The man page.

static void print_roff(const char* text) {
    for (; *text; text++) {
        if (*text == '-')
            fputs("\\-", stdout);
        else if (*text == '\\')
            fputs("\\e", stdout);
        else if (*text == '\'')
            fputs("\\(aq", stdout);
        else
            putchar(*text);
    }
}

static void print_man_options(int verb) {
    for (size_t i = 0; i < sap_cli_option_count; i++) {
        const sap_cli_option* option = option_at(i, verb);
        if (!option) continue;
        puts(".TP");
        fputs(".B ", stdout);
        if (option->letter) printf("\\-%c, ", option->letter);
        fputs("\\-\\-", stdout);
        print_roff(option->name);
        if (option->argument) {
            fputs(" \\fI", stdout);
            if (option->choices)
                print_choices(option, "|");
            else
                print_roff(option->argument);
            fputs("\\fR", stdout);
        }
        putchar('\n');
        print_roff(option->help);
        putchar('\n');
    }
}

static void print_man_json(void) {
    static const char* const keys[][2] = {
        {"verb", "the verb that ran"},
        {"file, input, reference", "what was read"},
        {"output", "what was written"},
        {"kind", "points, mesh or tree"},
        {"vertices, triangles, materials, colors", "of a mesh: how many, and whether its vertices have colours"},
        {"points, dims, precision", "how many points (of a tree: without dropped ones), their coordinates and type"},
        {"lower, upper", "bounds of the finite coordinates"},
        {"duplicates", "points that equal an earlier one; of a tree, those dropped"},
        {"not_finite, first_not_finite",
         "points with a coordinate that is NaN or infinite (of a tree, those left out; of "
         "a search, such queries, or without QUERIES points left out), and the row of "
         "the first, from 0, if there is any"},
        {"invalid, first_invalid", "rays that are not finite or have no direction, and the row of the first"},
        {"origin", "of a mesh, if --origin is given: what was subtracted from its coordinates"},
        {"bytes", "size of the coordinates or of the tree in memory"},
        {"split, axis, leaf_size", "how the tree was built"},
        {"period", "the period of each axis of a tree that has some, 0 for the others"},
        {"depth, nodes, leaves, largest_leaf", "shape of the tree"},
        {"queries, k, radius", "what was asked; radius is absent if none was given, null if infinite"},
        {"boxes", "of box: how many were asked for"},
        {"radii, pairs, weights", "of correlate: for each radius how many pairs there are, or what their weights are"},
        {"errors, blocks",
         "of --jackknife: the standard error of each count; the file of the counts without each block"},
        {"found", "neighbours of all queries, points in all boxes, or pairs, together; rays that hit something"},
        {"clusters, noise", "of cluster: how many there are, and how many points are in none"},
        {"counted, mean, root_mean_square, quantile, greatest, farthest",
         "of distance: how many points have one, what they say together, and the row of the greatest"},
        {"bias, back, hausdorff, chamfer, chamfer_square", "of distance: the mean with signs; what the distances back "
                                                           "from REFERENCE say; the greater of the greatest, the "
                                                           "sum of the means and of the means of squares of both"},
        {"added, steps, movement", "of relax: points that were added, steps that were done, and how far points moved "
                                   "in the last (root mean square)"},
        {"made, radius", "of project: points that were made, and the radius that they were projected with; steps and "
                         "movement as of relax"},
        {"start, converged, reason, iterations, fitness, rmse, overlap, transform",
         "of align: where --global began, with rivals, the other motions that fit as well; how it ended; the pairs "
         "over the points; how far they are apart; the part that counts; the motion"},
        {"undetermined, determined",
         "of align: in how many of 6 directions nothing tells how SOURCE lies; whether it is none, "
         "and --global found no motion that fits as well"},
        {"without", "of normals: points that have none"},
        {"outliers, mean, deviation, limit", "of outliers: how many there are; of the mean distances of all points the "
                                             "mean, the standard deviation (with n - 1), and "
                                             "the greatest that is no outlier's"},
        {"rays", "how many were traced"},
        {"width, height, frames", "of pictures"},
        {"extent, slice", "of voronoi: the part of the plane in the picture, x0, y0, x1, y1; the z of the slice"},
        {"size, type, level, picture", "of isosurface: the volume, its level, and the picture if there is one"},
        {"levels, creases", "of subdivide: how often triangles were divided, and how many edges stayed sharp"},
        {"samples, kept",
         "of compact: how many there are, and how many reach the level; of outliers and thin: points kept"},
        {"ids, distances, offsets, counts", "the files written, null for those not asked for"},
        {"verified", "how many queries --verify checked, and whether they are a sample"},
        {"sound, error", "whether the tree is sound, and if not, why"},
        {"seconds", "what each step took"},
        {"processor", "where the work ran: cpu, cuda or gl"},
        {"seed, simd, threads, repeats", "how bench measured; simd is null on a GPU"},
        {"works", "of bench: each task with its median and best seconds, and items per second by the median"},
    };
    puts(".SH JSON\nThe members that \\-\\-json prints, each where it applies:");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        printf(".TP\n.B %s\n", keys[i][0]);
        print_roff(keys[i][1]);
        putchar('\n');
    }
}

static void print_man(void) {
    printf(".TH SAPWOOD 1 \"\" \"Sapwood %s\" \"User Commands\"\n.SH NAME\nsapwood \\- %s\n.SH SYNOPSIS\n",
           sap_version(), sap_cli_verb_table[SAP_VERB_NONE].summary);
    for (int v = SAP_VERB_NONE + 1; v < SAP_VERB_COUNT; v++) {
        const sap_cli_verb_text* text = &sap_cli_verb_table[v];
        printf("%s.B sapwood %s\n.I %s\n.RI [ options ]\n", v > 1 ? ".br\n" : "", text->name, text->operands);
    }
    puts(".br\n.B sapwood help\n.RI [ VERB ]\n.br\n.B sapwood \\-\\-help\n.br\n.B sapwood \\-\\-version\n.SH "
         "DESCRIPTION\n"
         "Builds k\\-d trees over points of 1 to 16 dimensions, saves them, and finds nearest neighbours and points\n"
         "within a radius; builds them over meshes, traces rays and draws pictures; extracts surfaces of volumes. "
         "Answers\n"
         "are exact: neighbours are ordered by squared distance, then id, and are the same on every processor.\n.PP");
    print_roff(sap_cli_columns_text);
    puts("\n.PP\nA saved tree may be given as REFERENCE, but not through a pipe. Long options may be shortened to "
         "any\nstart that only one of them has.\n.SH VERBS");
    for (int v = SAP_VERB_NONE + 1; v < SAP_VERB_COUNT; v++) {
        const sap_cli_verb_text* text = &sap_cli_verb_table[v];
        printf(".SS sapwood %s \"\\fI%s\\fR\"\n", text->name, text->operands);
        print_roff(text->description);
        putchar('\n');
        print_man_options(v);
    }
    print_man_json();
    puts(".SH EXIT STATUS\n.TP\n.B 0\ndone\n.TP\n.B 1\nfailed; the reason is on standard error\n.TP\n.B 2\n"
         "wrong usage\n.TP\n.B 3\na verification failed\n.TP\n.B 4\nalign \\-\\-global: several motions fit as "
         "well\n.SH EXAMPLES\n.nf\n"
         "sapwood build scan.ply \\-o scan.sap\n"
         "sapwood nearest scan.sap queries.npy \\-k 8 \\-\\-radius 0.1 \\-o ids.npy \\-\\-distances d2.npy\n"
         "sapwood radius scan.ply \\-r 0.05 \\-\\-count \\-o neighbours.csv\n.fi");
}

// ---- bash.

// The values of options, by verb and option.
static void print_bash_values(void) {
    puts("    case $verb$previous in");
    for (int v = SAP_VERB_NONE + 1; v < SAP_VERB_COUNT; v++) {
        for (size_t i = 0; i < sap_cli_option_count; i++) {
            const sap_cli_option* option = option_at(i, v);
            const char* verb = sap_cli_verb_table[v].name;
            if (!option || !option->argument) continue;
            if (option->letter)
                printf("    %s-%c|%s--%s) ", verb, option->letter, verb, option->name);
            else
                printf("    %s--%s) ", verb, option->name);
            if (has_choices(option)) {
                fputs("COMPREPLY=($(compgen -P \"$before\" -W '", stdout);
                print_choices(option, " ");
                fputs("' -- \"$word\")); ", stdout);
            } else if (takes_file(option)) {
                fputs("_sapwood_files; ", stdout);
            }
            puts("return ;;");
        }
    }
    puts("    esac");
}

// The words that may stand where no value does.
static void print_bash_words(void) {
    puts("    case $verb in");
    for (int v = SAP_VERB_NONE; v < SAP_VERB_COUNT; v++) {
        printf("    %s) words='", v ? sap_cli_verb_table[v].name : "''");
        for (int w = SAP_VERB_NONE + 1; !v && w < SAP_VERB_COUNT; w++) printf("%s ", sap_cli_verb_table[w].name);
        if (!v) fputs("help ", stdout);
        for (size_t i = 0; i < sap_cli_option_count; i++)
            if (option_at(i, v)) printf("--%s ", sap_cli_option_table[i].name);
        puts("' ;;");
    }
    fputs("    help) words='", stdout);
    for (int v = SAP_VERB_NONE + 1; v < SAP_VERB_COUNT; v++) printf("%s ", sap_cli_verb_table[v].name);
    puts("' ;;\n    esac");
}

static void print_bash(void) {
    // A name a line, so that blanks in names stay; the shell quotes them when it knows that they are names.
    fputs("# bash completion of sapwood\n_sapwood_files() {\n    local IFS=$'\\n'\n"
          "    compopt -o filenames 2> /dev/null\n"
          "    mapfile -t COMPREPLY < <(compgen -P \"$before\" -f -- \"$word\")\n}\n"
          "_sapwood() {\n    local word=${COMP_WORDS[COMP_CWORD]} verb= before= words= i\n"
          "    local previous=${COMP_WORDS[COMP_CWORD-1]}\n"
          // --walk=st is one word or three, as COMP_WORDBREAKS has it
          "    if [[ $word == --*=* ]]; then previous=${word%%=*} before=$previous= word=${word#*=}\n"
          "    elif [[ $word == = ]]; then word=\n"
          "    elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n        case ${COMP_WORDS[i]} in\n        ",
          stdout);
    for (int v = SAP_VERB_NONE + 1; v < SAP_VERB_COUNT; v++) printf("%s|", sap_cli_verb_table[v].name);
    puts("help) verb=${COMP_WORDS[i]}; break ;;\n        esac\n    done");
    print_bash_values();
    print_bash_words();
    puts("    if [[ -n $verb && $verb != help && $word != -* ]]; then _sapwood_files\n"
         "    else COMPREPLY=($(compgen -W \"$words\" -- \"$word\")); fi\n}\ncomplete -F _sapwood sapwood");
}

// ---- zsh.

// Prints help inside a single-quoted string in which some characters have a meaning.
static void print_zsh_text(const char* text, const char* special) {
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (strchr(special, *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void print_zsh_option(const sap_cli_option* option) {
    if (option->letter)
        printf(" \\\n            '(-%c --%s)'{-%c,--%s}'", option->letter, option->name, option->letter, option->name);
    else
        printf(" \\\n            '--%s", option->name);
    putchar('[');
    print_zsh_text(option->help, "[]:\\");
    putchar(']');
    if (option->argument) {
        fputs(":", stdout);
        print_zsh_text(option->argument, ":\\");
        fputs(":", stdout);
        if (has_choices(option)) {
            putchar('(');
            print_choices(option, " ");
            putchar(')');
        } else if (takes_file(option)) {
            fputs("_files", stdout);
        }
    }
    putchar('\'');
}

static void print_zsh(void) {
    puts("#compdef sapwood\n_sapwood() {\n    local -a verbs\n    local state line\n    verbs=(");
    for (int v = SAP_VERB_NONE + 1; v < SAP_VERB_COUNT; v++) {
        printf("        '%s:", sap_cli_verb_table[v].name);
        print_zsh_text(sap_cli_verb_table[v].summary, "[]:\\");
        puts("'");
    }
    fputs("        'help:explain a verb'\n    )\n    _arguments -C", stdout);
    for (size_t i = 0; i < sap_cli_option_count; i++)
        if (option_at(i, SAP_VERB_NONE)) print_zsh_option(&sap_cli_option_table[i]);
    puts(" \\\n            '1:verb:->verb' '*::argument:->rest'\n    case $state in\n"
         "    verb) _describe verb verbs ;;\n    rest)\n        case $words[1] in");
    for (int v = SAP_VERB_NONE + 1; v < SAP_VERB_COUNT; v++) {
        printf("        %s)\n            _arguments", sap_cli_verb_table[v].name);
        for (size_t i = 0; i < sap_cli_option_count; i++)
            if (option_at(i, v)) print_zsh_option(&sap_cli_option_table[i]);
        puts(" \\\n            '*:file:_files' ;;");
    }
    puts("        help) _describe verb verbs ;;\n        esac ;;\n    esac\n}\n_sapwood \"$@\"");
}

// ---- fish.

static void print_fish_text(const char* text) {
    putchar('\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\') putchar('\\');
        putchar(*text);
    }
    putchar('\'');
}

static void print_fish(void) {
    puts("# fish completion of sapwood");
    for (int v = SAP_VERB_NONE + 1; v < SAP_VERB_COUNT; v++) {
        printf("complete -c sapwood -n __fish_use_subcommand -f -a %s -d ", sap_cli_verb_table[v].name);
        print_fish_text(sap_cli_verb_table[v].summary);
        putchar('\n');
        printf("complete -c sapwood -n '__fish_seen_subcommand_from help' -f -a %s\n", sap_cli_verb_table[v].name);
    }
    puts("complete -c sapwood -n __fish_use_subcommand -f -a help -d 'explain a verb'");
    for (int v = SAP_VERB_NONE; v < SAP_VERB_COUNT; v++) {
        for (size_t i = 0; i < sap_cli_option_count; i++) {
            const sap_cli_option* option = option_at(i, v);
            if (!option) continue;
            if (v)
                printf("complete -c sapwood -n '__fish_seen_subcommand_from %s'", sap_cli_verb_table[v].name);
            else
                fputs("complete -c sapwood -n __fish_use_subcommand -f", stdout);
            if (option->letter) printf(" -s %c", option->letter);
            printf(" -l %s", option->name);
            if (takes_file(option))
                fputs(" -r -F", stdout);
            else if (option->argument)
                fputs(" -x", stdout);
            if (has_choices(option)) {
                fputs(" -a '", stdout);
                print_choices(option, " ");
                putchar('\'');
            }
            fputs(" -d ", stdout);
            print_fish_text(option->help);
            putchar('\n');
        }
    }
}

void sap_cli_print_document(sap_cli_document document) {
    switch (document) {
    case SAP_MAN: print_man(); break;
    case SAP_BASH: print_bash(); break;
    case SAP_ZSH: print_zsh(); break;
    case SAP_FISH: print_fish(); break;
    case SAP_NO_DOCUMENT: break;
    }
}
