// The files that verbs write: their formats, their names, and tables in them.
#include "output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

sap_format sap_cli_format_of(const sap_cli* cli, const char* path) {
    if (cli->options->format != SAP_FORMAT_AUTO) return cli->options->format;
    if (!path) return SAP_FORMAT_XYZ;
    return strcmp(path, "-") ? sap_format_of(path) : SAP_FORMAT_NPY;
}

// Whether two paths lead to one file. Devices such as /dev/null can be shared.
static bool same_file(const char* left, const char* right) {
    struct stat a, b;
    if (stat(left, &a) || stat(right, &b)) return !strcmp(left, right);
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino && !S_ISCHR(a.st_mode);
}

static const char* operand_name(const sap_cli* cli, int operand) {
    sap_cli_verb verb = cli->options->verb;
    if (operand == 1) return verb == SAP_VERB_TRACE ? "RAYS" : "QUERIES";
    if (verb == SAP_VERB_RENDER || verb == SAP_VERB_TRACE) return "MESH";
    if (verb == SAP_VERB_ISOSURFACE || verb == SAP_VERB_COMPACT) return "VOLUME";
    if (verb == SAP_VERB_VORONOI) return "SITES";
    if (verb == SAP_VERB_CONVERT) return "FILE";
    return verb == SAP_VERB_NEAREST || verb == SAP_VERB_RADIUS ? "REFERENCE" : "POINTS";
}

sap_cli_exit sap_cli_check_distinct(sap_cli* cli, const sap_cli_output* outputs, int count) {
    const char* const* inputs = cli->options->operands;
    int to_stdout = cli->options->json;
    for (const sap_cli_output* output = outputs; output < outputs + count; output++) {
        if (!output->path) continue;
        if (!strcmp(output->path, "-")) {
            if (to_stdout++)
                return sap_cli_usage(cli,
                                     "only one output can go to standard output; give a file's name instead of '-'");
            continue;
        }
        for (const sap_cli_output* other = outputs; other < output; other++)
            if (other->path && same_file(other->path, output->path))
                return sap_cli_usage(cli, "%s %s and %s %s are the same file; give each its own name", other->option,
                                     other->path, output->option, output->path);
        for (int i = 0; i < 2; i++)
            if (inputs[i] && strcmp(inputs[i], "-") && same_file(inputs[i], output->path))
                return sap_cli_usage(cli, "%s %s and %s %s are the same file; give another name", operand_name(cli, i),
                                     inputs[i], output->option, output->path);
    }
    return SAP_EXIT_OK;
}

sap_cli_exit sap_cli_check_outputs(sap_cli* cli, const sap_cli_output* outputs, int count) {
    bool meshes = cli->options->verb == SAP_VERB_CONVERT;
    sap_cli_exit result = sap_cli_check_distinct(cli, outputs, count);
    for (int i = 0; i < count && result == SAP_EXIT_OK; i++) {
        const char* path = outputs[i].path;
        sap_format format = path ? sap_cli_format_of(cli, path) : SAP_FORMAT_XYZ;
        if (format == SAP_FORMAT_PCD)
            result = sap_cli_usage(cli, "%s: PCD is read but not written; use .npy, .csv, .ply or .xyz", path);
        else if (sap_cli_holds_meshes_only(format) && !meshes)
            result = sap_cli_usage(cli, "%s: OBJ and STL hold meshes; use .npy, .csv, .ply or .xyz", path);
        else if (format == SAP_FORMAT_AUTO)
            result = sap_cli_usage(cli, "%s: unknown suffix; use .npy, .csv, .ply%s or .xyz, or --format", path,
                                   meshes ? ", .obj, .stl" : "");
    }
    return result;
}

// Fills `names` with the columns' names; their characters lie in `letters`.
static void name_columns(const char** names, char* letters, size_t room, int64_t columns, const char* prefix) {
    for (int64_t c = 0; c < columns; c++, letters += room) {
        names[c] = letters;
        if (columns == 1)
            snprintf(letters, room, "%s", prefix);
        else
            snprintf(letters, room, "%s%lld", prefix, (long long)c);
    }
}

sap_cli_exit sap_cli_write(sap_cli* cli, const char* path, const sap_table* table, const char* prefix) {
    enum { ROOM = 32 };
    sap_cli_exit result = SAP_EXIT_FAILED;
    sap_table named = *table;
    sap_format format = sap_cli_format_of(cli, path);
    int64_t columns = table->columns ? table->columns : 1;
    const char** names = NULL;
    char* letters = NULL;
    if (prefix && (format == SAP_FORMAT_CSV || format == SAP_FORMAT_PLY)) {
        names = sap_cli_allocate(cli, columns, sizeof *names);
        letters = sap_cli_allocate(cli, columns, ROOM);
        if (!names || !letters) goto done;
        name_columns(names, letters, ROOM, columns, prefix);
        named.names = names;
    }
    if (sap_cli_flush(cli) != SAP_EXIT_OK) goto done;
    sap_cli_stage_begin(cli, "writing");
    sap_status status = sap_table_write(cli->device, path ? path : "-", format, named);
    sap_cli_stage_end(cli);
    result = status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, path);
done:
    free(letters);
    free(names);
    return result;
}
