// Reading the command line, by the table.
#include "options.h"
#include "output.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

bool sap_cli_given(const sap_cli_options* options, const char* name) {
    for (size_t i = 0; i < sap_cli_option_count; i++)
        if ((options->given[i / 64] >> i % 64 & 1u) && !strcmp(sap_cli_option_table[i].name, name)) return true;
    return false;
}

bool sap_cli_option_shown(const sap_cli_option* option, sap_cli_verb verb) {
    return option->help && (option->verbs >> verb & 1u);
}

static sap_cli_exit usage_error(sap_cli_verb verb) {
    const char* name = sap_cli_verb_table[verb].name;
    fprintf(stderr, "Try 'sapwood %s%s--help'.\n", name, *name ? " " : "");
    return SAP_EXIT_USAGE;
}

// The start of an error line: "sapwood nearest: ".
static void begin_error(sap_cli_verb verb) {
    const char* name = sap_cli_verb_table[verb].name;
    fprintf(stderr, "sapwood%s%s: ", *name ? " " : "", name);
}

static void show_word(const char* before, const char* word, const char* after) {
    fputs(before, stderr);
    sap_cli_show(stderr, word);
    fputs(after, stderr);
}

static sap_cli_exit bad_value(const sap_cli_option* option, const char* text, sap_cli_verb verb) {
    begin_error(verb);
    show_word("'", text, "' is not a value for");
    fprintf(stderr, " --%s; it takes ", option->name);
    sap_cli_show_wanted(stderr, option);
    fputs("\n", stderr);
    return usage_error(verb);
}

enum { MOST_OPTIONS = 64 * SAP_CLI_GIVEN_WORDS };
enum { LONG_CODE = 256 }; // getopt's code of table entry i is LONG_CODE + i

static const sap_cli_option* option_of_code(int code, sap_cli_verb verb) {
    if (code >= LONG_CODE) return &sap_cli_option_table[code - LONG_CODE];
    for (size_t i = 0; i < sap_cli_option_count; i++) {
        const sap_cli_option* option = &sap_cli_option_table[i];
        if (code && option->letter == code && (option->verbs >> verb & 1u)) return option;
    }
    return NULL;
}

// Whether "--text" is short for more than one option.
static bool starts_several(const char* text, sap_cli_verb verb) {
    int found = 0;
    if (strncmp(text, "--", 2)) return false;
    for (size_t i = 0; i < sap_cli_option_count; i++) {
        const sap_cli_option* option = &sap_cli_option_table[i];
        found += (option->verbs >> verb & 1u) && !strncmp(option->name, text + 2, strcspn(text + 2, "="));
    }
    return found > 1;
}

static sap_cli_exit bad_option(int code, const char* text, sap_cli_verb verb) {
    const sap_cli_option* option = option_of_code(optopt, verb);
    begin_error(verb);
    if (code == ':' && option)
        fprintf(stderr, "option --%s needs a value\n", option->name);
    else if (option)
        fprintf(stderr, "option --%s takes no value\n", option->name);
    else if (optopt)
        show_word("unknown option -", (char[]){(char)optopt, 0}, "\n");
    else
        show_word(starts_several(text, verb) ? "more than one option begins with " : "unknown option ", text, "\n");
    return usage_error(verb);
}

static void mark_given(sap_cli_options* options, size_t entry) {
    options->given[entry / 64] |= UINT64_C(1) << entry % 64;
}

// Reads the options of one verb (or those before any verb). What is left begins at argv[optind].
static sap_cli_exit parse_options(int argc, char** argv, sap_cli_verb verb, sap_cli_options* options) {
    struct option names[MOST_OPTIONS + 1];
    char letters[2 * MOST_OPTIONS + 3];
    size_t count = 0, length = 0;
    if (verb == SAP_VERB_NONE) letters[length++] = '+'; // stop at the verb
    letters[length++] = ':';
    for (size_t i = 0; i < sap_cli_option_count; i++) {
        const sap_cli_option* option = &sap_cli_option_table[i];
        int argument = option->kind == SAP_KIND_FLAG ? no_argument : required_argument;
        if (!(option->verbs >> verb & 1u)) continue;
        names[count++] = (struct option){option->name, argument, NULL, LONG_CODE + (int)i};
        if (!option->letter) continue;
        letters[length++] = option->letter;
        if (argument == required_argument) letters[length++] = ':';
    }
    names[count] = (struct option){0};
    letters[length] = 0;
    opterr = 0;
    optind = 0;
    for (int code; (code = getopt_long(argc, argv, letters, names, NULL)) != -1;) {
        if (code == ':' || code == '?') return bad_option(code, argv[optind - 1], verb);
        const sap_cli_option* option = option_of_code(code, verb);
        if (!sap_cli_take_value(option, optarg, options)) return bad_value(option, optarg, verb);
        mark_given(options, (size_t)(option - sap_cli_option_table));
    }
    return SAP_EXIT_OK;
}

static sap_cli_exit parse_operands(int argc, char** argv, sap_cli_options* options) {
    const sap_cli_verb_text* verb = &sap_cli_verb_table[options->verb];
    int given = argc - optind;
    if (given < verb->fewest || given > verb->most) {
        begin_error(options->verb);
        fprintf(stderr, "%s operands; expected %s\n", given < verb->fewest ? "too few" : "too many", verb->operands);
        return usage_error(options->verb);
    }
    options->operand_count = given;
    for (int i = 0; i < given; i++) options->operands[i] = argv[optind + i];
    for (size_t i = 0; i < sap_cli_option_count; i++) {
        const sap_cli_option* option = &sap_cli_option_table[i];
        if (!option->required || !(option->verbs >> options->verb & 1u)) continue;
        if (options->given[i / 64] >> i % 64 & 1u) continue;
        begin_error(options->verb);
        fprintf(stderr, "option --%s %s is required\n", option->name, option->argument);
        return usage_error(options->verb);
    }
    return SAP_EXIT_OK;
}

// Options that only go with others, or not with others.
static sap_cli_exit check_rules(const sap_cli_options* options) {
    const char* sentence = NULL;
    if (sap_cli_given(options, "query-radius") && options->tree.split != SAP_SPLIT_VVH)
        sentence = "--query-radius needs --split vvh";
    if (options->devices.count && sap_cli_given(options, "device"))
        sentence = "--devices and --device cannot be combined";
    if (options->devices.count && options->mpi == SAP_MPI_ALWAYS)
        sentence = "--devices is for one process; --mpi always is for many";
    if (sap_cli_given(options, "spread") && !options->devices.count) sentence = "--spread needs --devices";
    if (sap_cli_given(options, "reach") && options->cost != SAP_COST_VOXELS) sentence = "--reach needs --cost voxels";
    if (!sentence) return SAP_EXIT_OK;
    begin_error(options->verb);
    fprintf(stderr, "%s\n", sentence);
    return usage_error(options->verb);
}

static sap_cli_verb verb_named(const char* name) {
    for (int v = SAP_VERB_NONE + 1; v < SAP_VERB_COUNT; v++)
        if (!strcmp(name, sap_cli_verb_table[v].name)) return (sap_cli_verb)v;
    return SAP_VERB_NONE;
}

static sap_cli_exit unknown_verb(const char* name) {
    begin_error(SAP_VERB_NONE);
    show_word("unknown verb '", name, "'\n");
    return usage_error(SAP_VERB_NONE);
}

// "sapwood help" and "sapwood help VERB", with argv[0] the "help".
static sap_cli_exit parse_help(int argc, char** argv, sap_cli_options* options) {
    options->help = true;
    if (argc > 2) {
        begin_error(SAP_VERB_NONE);
        fputs("too many operands; expected help [VERB]\n", stderr);
        return usage_error(SAP_VERB_NONE);
    }
    if (argc < 2 || !strcmp(argv[1], "help") || !strcmp(argv[1], "--help")) return SAP_EXIT_OK;
    options->verb = verb_named(argv[1]);
    return options->verb == SAP_VERB_NONE ? unknown_verb(argv[1]) : SAP_EXIT_OK;
}

sap_cli_exit sap_cli_parse(int argc, char** argv, sap_cli_options* options) {
    *options = (sap_cli_options){.k = 1,
                                 .radius = -1,
                                 .cell_size = -1,
                                 .disks = -1,
                                 .point_size = -1,
                                 .limit = -1,
                                 .seed = 1,
                                 .points = -1,
                                 .queries = -1,
                                 .repeat = 7,
                                 .size = {800, 500},
                                 .bounces = 5,
                                 .ambient = 1,
                                 .exposure = 1,
                                 .filter = SAP_PHOTON_EPANECHNIKOV};
    sap_cli_exit result = parse_options(argc, argv, SAP_VERB_NONE, options);
    if (result != SAP_EXIT_OK || options->help || options->version || options->generate) return result;
    if (optind >= argc) {
        begin_error(SAP_VERB_NONE);
        fputs("no verb given\n", stderr);
        return usage_error(SAP_VERB_NONE);
    }
    const char* name = argv[optind];
    if (!strcmp(name, "help")) return parse_help(argc - optind, argv + optind, options);
    options->verb = verb_named(name);
    if (options->verb == SAP_VERB_NONE) return unknown_verb(name);
    int first = optind;
    argc -= first;
    argv += first;
    result = parse_options(argc, argv, options->verb, options);
    if (result != SAP_EXIT_OK || options->help) return result;
    result = parse_operands(argc, argv, options);
    return result == SAP_EXIT_OK ? check_rules(options) : result;
}
