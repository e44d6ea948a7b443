// The files that verbs write: their formats, their names, and tables in them.
#include "file.h"
#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sap_format sap_cli_format_of(const sap_cli* cli, const char* path) {
    if (cli->options->format != SAP_FORMAT_AUTO) return cli->options->format;
    if (!path) return SAP_FORMAT_XYZ;
    return strcmp(path, "-") ? sap_format_of(path) : SAP_FORMAT_NPY;
}

bool sap_cli_writes_points(const sap_cli* cli) {
    static const sap_cli_verb verbs[] = {SAP_VERB_NORMALS,  SAP_VERB_DENSITY,  SAP_VERB_OUTLIERS, SAP_VERB_THIN,
                                         SAP_VERB_CLUSTER,  SAP_VERB_DISTANCE, SAP_VERB_RELAX,    SAP_VERB_ALIGN,
                                         SAP_VERB_ASSEMBLE, SAP_VERB_PROJECT,  SAP_VERB_CONVERT};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (cli->options->verb == verbs[i]) return true;
    return false;
}

sap_cli_exit sap_cli_check_table(sap_cli* cli, const char* path) {
    bool meshes = cli->options->verb == SAP_VERB_CONVERT;
    sap_format format = path ? sap_cli_format_of(cli, path) : SAP_FORMAT_XYZ;
    const bool points = sap_cli_writes_points(cli);
    if (!points && (format == SAP_FORMAT_PCD || format == SAP_FORMAT_LAS || format == SAP_FORMAT_LAZ))
        return sap_cli_usage(cli, "%s: PCD and LAS hold points; use .npy, .csv, .ply or .xyz", path);
    if (sap_cli_holds_meshes_only(format) && !meshes)
        return sap_cli_usage(cli, "%s: OBJ, STL and OFF hold meshes; use .npy, .csv, .ply%s or .xyz", path,
                             points ? ", .pcd, .las" : "");
    if (format == SAP_FORMAT_AUTO)
        return sap_cli_usage(cli, "%s: unknown suffix; use .npy, .csv, .ply%s%s or .xyz%s", path,
                             points ? ", .pcd, .las" : "", meshes ? ", .obj, .stl, .off" : "",
                             cli->options->verb == SAP_VERB_VORONOI ? "" : ", or --format");
    return SAP_EXIT_OK;
}

sap_cli_exit sap_cli_check_outputs(sap_cli* cli, const sap_cli_output* outputs, int count) {
    sap_cli_exit result = sap_cli_check_distinct(cli, outputs, count);
    for (int i = 0; i < count && result == SAP_EXIT_OK; i++) result = sap_cli_check_table(cli, outputs[i].path);
    if (result != SAP_EXIT_OK || !sap_cli_is_first(cli)) return result; // which writes them
    return sap_cli_check_writable(cli, outputs, count);
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
    const char *place, **names = NULL;
    char* letters = NULL;
    if (prefix && (format == SAP_FORMAT_CSV || format == SAP_FORMAT_PLY)) {
        names = sap_cli_allocate(cli, columns, sizeof *names);
        letters = sap_cli_allocate(cli, columns, ROOM);
        if (!names || !letters) goto done;
        name_columns(names, letters, ROOM, columns, prefix);
        named.names = names;
    }
    if (sap_cli_flush(cli) != SAP_EXIT_OK || sap_cli_together_add(cli, path, &place) != SAP_EXIT_OK) goto done;
    sap_cli_stage_begin(cli, "writing");
    sap_status status = sap_table_write(cli->device, place ? place : "-", format, named);
    sap_cli_stage_end(cli);
    result = status == SAP_OK ? SAP_EXIT_OK : sap_cli_together_failed(cli, status, path, place);
done:
    free(letters);
    free(names);
    return result;
}
