// --help of the program and of each verb.
#include "options.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 80, HELP_COLUMN = 27 };

// Prints text with its lines broken at blanks; the cursor stands at `column`, further lines begin at `indent`.
static void print_wrapped(const char* text, int column, int indent) {
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column > indent && column + 1 + length > WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            putchar(' ');
            column++;
        }
        printf("%.*s", length, text);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void print_option(const sap_cli_option* option) {
    char left[256];
    size_t used = 0;
    used += (size_t)snprintf(left, sizeof left, option->letter ? "  -%c, " : "      ", option->letter);
    used += (size_t)snprintf(left + used, sizeof left - used, "--%s", option->name);
    for (const sap_cli_choice* c = option->choices; c && c->name; c++)
        used += (size_t)snprintf(left + used, sizeof left - used, "%s%s", c == option->choices ? " " : "|", c->name);
    if (option->argument && !option->choices)
        used += (size_t)snprintf(left + used, sizeof left - used, " %s", option->argument);
    if (used + 2 > HELP_COLUMN)
        printf("%s\n%*s", left, HELP_COLUMN, "");
    else
        printf("%-*s", HELP_COLUMN, left);
    print_wrapped(option->help, HELP_COLUMN, HELP_COLUMN);
}

static void print_options(sap_cli_verb verb) {
    puts("\nOptions:");
    for (size_t i = 0; i < sap_cli_option_count; i++)
        if (sap_cli_option_shown(&sap_cli_option_table[i], verb)) print_option(&sap_cli_option_table[i]);
}

void sap_cli_print_help(sap_cli_verb verb) {
    const sap_cli_verb_text* text = &sap_cli_verb_table[verb];
    if (verb == SAP_VERB_NONE) {
        printf("Usage: sapwood %s [options]\n\nsapwood: %s.\n\nVerbs:\n", text->operands, text->summary);
        for (int v = SAP_VERB_NONE + 1; v < SAP_VERB_COUNT; v++)
            printf("  %-10s %s\n", sap_cli_verb_table[v].name, sap_cli_verb_table[v].summary);
    } else {
        printf("Usage: sapwood %s %s [options]\n\n", text->name, text->operands);
        print_wrapped(text->description, 0, 0);
    }
    print_options(verb);
    putchar('\n');
    bool points = verb != SAP_VERB_VERIFY && verb != SAP_VERB_RENDER && verb != SAP_VERB_TRACE &&
                  verb != SAP_VERB_ISOSURFACE && verb != SAP_VERB_COMPACT && verb != SAP_VERB_SUBDIVIDE;
    if (points) print_wrapped(sap_cli_columns_text, 0, 0);
    puts("Long options may be shortened to any unambiguous prefix.\n"
         "Exit status: 0 done, 1 failed, 2 wrong usage, 3 verification failed.");
    if (verb == SAP_VERB_NONE) puts("'sapwood help VERB' or 'sapwood VERB --help' explains a verb.");
}
