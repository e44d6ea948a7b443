// The option that answers an error: the library's sentences do not know the program's options.
#include "output.h"

#include <stdio.h>
#include <string.h>

// What a sentence holds, the option that helps, and what it takes if that is known.
typedef struct hint {
    const char *words, *option, *value;
} hint;

static const hint hints[] = {
    {"choose columns", "columns", NULL},
    {"there is no column", "columns", NULL},
    {"is chosen twice", "columns", NULL},
    {"name the wanted ones x, y, z", "columns", NULL},
    {"there are several members", "member", NULL},
    {"there is no member", "member", NULL},
    {"so it has no member", "member", NULL},
    {"allow as many bytes", "unpack-limit", NULL},
    {"points can be read as double", "precision", "float64"},
    {"leave such points out", "drop-nonfinite", NULL},
    {"read it with the origin", "origin", "auto"},
    {"a raw volume does not say its size", "size", NULL},
    {"trees of float points", "precision", "float32"},
    {"read the file as CSV", "input-format", "csv"},
};

static const sap_cli_option* option_named(sap_cli_verb verb, const char* name) {
    for (size_t i = 0; i < sap_cli_option_count; i++)
        if (sap_cli_option_shown(&sap_cli_option_table[i], verb) && !strcmp(sap_cli_option_table[i].name, name))
            return &sap_cli_option_table[i];
    return NULL;
}

// Of the second operand, the option that is for it alone, if there is one.
static const sap_cli_option* option_of_queries(sap_cli_verb verb, const char* name) {
    static const char* const pairs[][2] = {
        {"columns", "query-columns"}, {"member", "query-member"}, {"input-format", "query-format"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (!strcmp(name, pairs[i][0])) return option_named(verb, pairs[i][1]);
    return NULL;
}

sap_cli_hint sap_cli_hint_of(const sap_cli* cli, const char* sentence, const char* path) {
    const sap_cli_verb verb = cli->options->verb;
    const char* second = cli->options->operands[1];
    sap_cli_hint found = {{0}};
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        if (!strstr(sentence, hints[i].words)) continue;
        const sap_cli_option* option = second && path == second ? option_of_queries(verb, hints[i].option) : NULL;
        if (!option) option = option_named(verb, hints[i].option);
        if (!option) continue;
        const char* value = hints[i].value ? hints[i].value : option->argument;
        snprintf(found.text, sizeof found.text, " (--%s%s%s)", option->name, value ? " " : "", value ? value : "");
        break;
    }
    return found;
}
