// What is not finite: queries find nothing, so they are counted; with --drop-nonfinite points are left out, by the tree
// where one is built, else here.
#include "ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_finite(const sap_cli_points* points, int64_t row) {
    for (int64_t i = row * points->dims; i < (row + 1) * points->dims; i++)
        if (!(points->real_bits == 64 ? isfinite(((const double*)points->coords)[i])
                                      : isfinite(((const float*)points->coords)[i])))
            return false;
    return true;
}

void sap_cli_not_finite_look(sap_cli_points* points) {
    points->not_finite = 0;
    for (int64_t i = 0; i < points->count; i++) {
        if (is_finite(points, i)) continue;
        if (!points->not_finite++) points->first_not_finite = i;
    }
}

void sap_cli_queries_look(sap_cli* cli, const char* path, sap_cli_points* queries) {
    if (cli->options->verb == SAP_VERB_ALIGN) { // its SOURCE asks nothing: it is refused, or points are left out
        if (cli->options->tree.drop_nonfinite) sap_cli_left_out_look(cli, path, queries);
        return;
    }
    sap_cli_not_finite_look(queries);
    sap_cli_share_not_finite(cli, queries);
    if (queries->not_finite)
        sap_cli_note(cli,
                     "%s: %lld of %lld queries are not finite and find nothing; the first is row %lld, counted from 0",
                     strcmp(path, "-") ? path : "standard input", (long long)queries->not_finite,
                     (long long)(cli->ranks ? queries->all : queries->count), (long long)queries->first_not_finite);
}

void sap_cli_not_finite_json(sap_json* json, const sap_cli_points* points) {
    sap_json_int(json, "not_finite", points->not_finite);
    if (points->not_finite && points->first_not_finite >= 0)
        sap_json_int(json, "first_not_finite", points->first_not_finite);
}

void sap_cli_left_out_look(sap_cli* cli, const char* path, sap_cli_points* points) {
    sap_cli_not_finite_look(points);
    sap_cli_share_not_finite(cli, points);
    if (points->not_finite)
        sap_cli_note(cli, "%s: %lld of %lld points are not finite and are left out",
                     strcmp(path, "-") ? path : "standard input", (long long)points->not_finite,
                     (long long)(cli->ranks ? points->all : points->count));
}

sap_cli_exit sap_cli_points_drop(sap_cli* cli, const char* path, sap_cli_points* points) {
    if (!cli->options->drop_nonfinite) return SAP_EXIT_OK;
    sap_cli_left_out_look(cli, path, points);
    const int64_t finite = points->count - points->not_finite;
    if (finite == points->count) return SAP_EXIT_OK;
    const size_t bytes = (size_t)points->dims * (size_t)points->real_bits / 8;
    unsigned char* coords = sap_cli_allocate(cli, finite, bytes);
    int32_t* kept = coords ? sap_cli_allocate(cli, finite, sizeof *kept) : NULL;
    if (!kept) {
        free(coords);
        return SAP_EXIT_FAILED;
    }
    int64_t at = 0;
    for (int64_t i = 0; i < points->count; i++) {
        if (!is_finite(points, i)) continue;
        memcpy(coords + (size_t)at * bytes, (const unsigned char*)points->coords + (size_t)i * bytes, bytes);
        kept[at++] = (int32_t)i;
    }
    // Fields stay where they are, in the set; `kept` says which rows are meant.
    const sap_cli_points dropped = {.coords = coords,
                                    .count = finite,
                                    .dims = points->dims,
                                    .real_bits = points->real_bits,
                                    .owned = coords,
                                    .fields = points->fields,
                                    .field_count = points->field_count,
                                    .set = points->field_count ? points->set : NULL,
                                    .kept = kept};
    if (dropped.set) points->set = NULL;
    sap_cli_points_free(points);
    *points = dropped;
    return SAP_EXIT_OK;
}

void sap_cli_renumber(const sap_cli_points* points, int32_t* ids, int64_t count) {
    for (int64_t i = 0; points->kept && i < count; i++)
        if (ids[i] >= 0) ids[i] = points->kept[ids[i]];
}
