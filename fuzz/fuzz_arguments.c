// Any words, one a line, as the arguments of the command line: options, and the lists of numbers that some of them are.
#include "../cli/told.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static void demand(bool holds) {
    if (!holds) abort();
}

static void check_numbers(const sap_cli_options* o) {
    demand(o->verb > SAP_VERB_NONE && o->verb < SAP_VERB_COUNT && o->k >= 1);
    demand(o->lower.count >= 0 && o->lower.count <= SAP_MAX_DIMS && o->upper.count <= SAP_MAX_DIMS);
    demand(o->box.count >= 0 && o->box.count <= 2 * SAP_MAX_DIMS && o->box.count % 2 == 0);
    for (int32_t i = 0; i < o->box.count; i++) demand(!isnan(o->box.at[i]));
    for (int32_t i = 0; i < o->many_radii.count; i++)
        demand(o->many_radii.at[i] >= (i ? o->many_radii.at[i - 1] : 0) && !isinf(o->many_radii.at[i]));
}

// What verbs read of the options before they open a file.
static void check_told(sap_cli* cli) {
    sap_cli_told told = {0};
    if (sap_cli_told_check(cli, &told) == SAP_EXIT_OK) {
        demand(told.power >= 1 && told.weight_count >= 0 && told.weight_count <= SAP_MAX_DIMS);
        for (int32_t a = 0; a < told.weight_count; a++) demand(told.weights[a] >= 0 && !isinf(told.weights[a]));
    }
    sap_cli_told_free(&told);
    for (int32_t dims = 1; dims <= SAP_MAX_DIMS; dims += 5) {
        sap_tree_options tree = {0};
        if (sap_cli_period_read(cli, dims, &tree) != SAP_EXIT_OK) continue;
        for (int32_t a = 0; a < SAP_MAX_DIMS; a++)
            demand(tree.period[a] >= 0 && !isinf(tree.period[a]) && (a < dims || tree.period[a] == 0));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    char *words[MOST_WORDS + 2] = {(char[]){"sapwood"}}, *text = malloc(size + 1);
    int count = 1;
    sap_cli_options options;
    demand(text != NULL);
    if (size) memcpy(text, data, size);
    text[size] = 0;
    for (char* word = text; word && count <= MOST_WORDS; count++) {
        words[count] = word;
        word = strchr(word, '\n');
        if (word) *word++ = 0;
    }
#if defined(__GLIBC__) // elsewhere what is wrong with the words is printed
    static FILE* nowhere;
    FILE* const errors = stderr;
    if (!nowhere) nowhere = fopen("/dev/null", "w");
    if (nowhere) stderr = nowhere;
#endif
    const sap_cli_exit result = sap_cli_parse(count, words, &options);
    demand(result == SAP_EXIT_OK || result == SAP_EXIT_USAGE);
    if (result == SAP_EXIT_OK && !options.help && !options.version && !options.generate) {
        sap_cli cli = {.options = &options};
        check_numbers(&options);
        check_told(&cli);
    }
#if defined(__GLIBC__)
    stderr = errors;
#endif
    free(text);
    return 0;
}
