// Rows of the points within a radius of this rank's queries, or in its boxes.
#include "ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- What the library found becomes rows of this rank's own.

typedef struct entry {
    double distance2;
    int64_t id;
} entry;

static int by_id(const void* left, const void* right) {
    const entry *a = left, *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

static int by_distance(const void* left, const void* right) {
    const entry *a = left, *b = right;
    if (a->distance2 != b->distance2) return a->distance2 < b->distance2 ? -1 : 1;
    return by_id(left, right);
}

// What one of the two kinds of trees found. All zero can be freed.
typedef struct found_rows {
    int64_t count;
    const int64_t* offsets;
    const int64_t* ids;
    const int32_t* ids_of_copy; // in the place of ids
    const float* distance2;
    const double* distance2_f64;
    sap_cluster_neighbors* of_cluster;
    sap_neighbors* of_copy;
} found_rows;

static void take_found(found_rows* found) {
    const sap_cluster_neighbors* all = found->of_cluster;
    const sap_neighbors* copy = found->of_copy;
    found->count = all ? all->count : copy->count;
    found->offsets = all ? all->offsets : copy->offsets;
    found->ids = all ? all->ids : NULL;
    found->ids_of_copy = all ? NULL : copy->ids;
    found->distance2 = all ? all->distance2 : copy->distance2;
    found->distance2_f64 = all ? all->distance2_f64 : copy->distance2_f64;
}

static void free_found(found_rows* found) {
    sap_cluster_neighbors_free(found->of_cluster);
    sap_neighbors_free(found->of_copy);
}

static int64_t id_of(const found_rows* found, int64_t i) {
    return found->ids ? found->ids[i] : found->ids_of_copy ? found->ids_of_copy[i] : -1;
}

static double distance_of(const found_rows* found, int64_t i) {
    return found->distance2 ? (double)found->distance2[i] : found->distance2_f64 ? found->distance2_f64[i] : 0;
}

// Whether a point found by a row of the reference is told: not by itself, and by --pairs once.
static bool is_told(const sap_cli_options* o, int64_t row, int64_t id) {
    if (o->pairs) return id > row;
    return o->with_self || id != row;
}

// `asked`: by queries, whose rows stay as they are but for --sorted.
static sap_cli_exit take_rows(sap_cli* cli, const found_rows* found, bool asked, sap_cli_joined_rows* rows) {
    const sap_cli_options* o = cli->options;
    const bool wide = found->distance2_f64 != NULL, measured = wide || found->distance2;
    const int64_t most = found->offsets[found->count];
    int64_t longest = 0, at = 0;
    for (int64_t r = 0; r < found->count; r++)
        if (found->offsets[r + 1] - found->offsets[r] > longest) longest = found->offsets[r + 1] - found->offsets[r];
    rows->offsets = sap_cli_allocate(cli, found->count + 1, sizeof *rows->offsets);
    rows->ids = rows->offsets ? sap_cli_allocate(cli, most, sizeof *rows->ids) : NULL;
    if (rows->ids && measured) rows->distance2 = sap_cli_allocate(cli, most, wide ? sizeof(double) : sizeof(float));
    entry* entries = rows->ids ? sap_cli_allocate(cli, longest, sizeof *entries) : NULL;
    if (!entries || (measured && !rows->distance2)) {
        free(entries);
        return SAP_EXIT_FAILED;
    }
    int (*const order)(const void*, const void*) = o->sorted ? by_distance : asked || o->pairs ? NULL : by_id;
    for (int64_t r = 0; r < found->count; r++) {
        int64_t length = 0;
        rows->offsets[r] = at;
        for (int64_t i = found->offsets[r]; i < found->offsets[r + 1]; i++)
            if (asked || is_told(o, rows->first + r, id_of(found, i)))
                entries[length++] = (entry){distance_of(found, i), id_of(found, i)};
        if (order) qsort(entries, (size_t)length, sizeof *entries, order);
        for (int64_t i = 0; i < length; i++, at++) {
            rows->ids[at] = entries[i].id;
            if (wide) ((double*)rows->distance2)[at] = entries[i].distance2;
            if (measured && !wide) ((float*)rows->distance2)[at] = (float)entries[i].distance2;
        }
    }
    rows->offsets[found->count] = at;
    free(entries);
    return SAP_EXIT_OK;
}

// Where this rank's points are among those of all.
static void place_rows(sap_cli* cli, sap_cli_joined_rows* rows) {
    rows->here = rows->offsets ? rows->offsets[rows->rows] : 0;
    for (int64_t r = 0; !rows->offsets && r < rows->rows; r++) rows->here += rows->counts[r];
    rows->before = sap_cli_ranks_before(cli, rows->here, &rows->total);
    for (int64_t r = 0; rows->offsets && r <= rows->rows; r++) rows->offsets[r] += rows->before;
}

static sap_cli_exit check_limit(sap_cli* cli, int64_t total) {
    const int64_t limit = cli->options->limit;
    if (limit < 0 || total <= limit) return SAP_EXIT_OK;
    return sap_cli_error(cli,
                         "%lld points would be collected, and the limit is %lld; ask for fewer, or take a larger "
                         "--limit",
                         (long long)total, (long long)limit);
}

// ---- Radius.

static sap_status count_around(const sap_cli_reference* reference, const sap_cli_points* points, double radius,
                               const sap_search* told, int64_t* counts) {
    const bool wide = points->real_bits == 64;
    if (told)
        return wide ? sap_radius_search_count_f64(reference->tree, sap_cli_f64(points), told, counts)
                    : sap_radius_search_count(reference->tree, sap_cli_f32(points), told, counts);
    if (reference->tree)
        return wide ? sap_radius_count_f64(reference->tree, sap_cli_f64(points), radius, counts)
                    : sap_radius_count(reference->tree, sap_cli_f32(points), radius, counts);
    return wide ? sap_cluster_radius_count_f64(reference->cluster, sap_cli_f64(points), radius, counts)
                : sap_cluster_radius_count(reference->cluster, sap_cli_f32(points), radius, counts);
}

static sap_status find_around(const sap_cli_reference* reference, const sap_cli_points* points, double radius,
                              const sap_search* told, found_rows* found) {
    const bool wide = points->real_bits == 64;
    if (told)
        return wide ? sap_radius_search_f64(reference->tree, sap_cli_f64(points), told, &found->of_copy)
                    : sap_radius_search(reference->tree, sap_cli_f32(points), told, &found->of_copy);
    if (reference->tree)
        return wide ? sap_radius_f64(reference->tree, sap_cli_f64(points), radius, &found->of_copy)
                    : sap_radius(reference->tree, sap_cli_f32(points), radius, &found->of_copy);
    return wide ? sap_cluster_radius_f64(reference->cluster, sap_cli_f64(points), radius, &found->of_cluster)
                : sap_cluster_radius(reference->cluster, sap_cli_f32(points), radius, &found->of_cluster);
}

// How many points each row tells. A row of the reference that is not finite is in no tree, and has counted nothing.
static sap_cli_exit count_rows(sap_cli* cli, const sap_cli_reference* reference, const sap_cli_points* asking,
                               bool asked, const sap_search* told, sap_cli_joined_rows* rows) {
    rows->counts = sap_cli_allocate(cli, rows->rows, sizeof *rows->counts);
    sap_cli_exit result = sap_cli_agree(cli, rows->counts ? SAP_EXIT_OK : SAP_EXIT_FAILED);
    if (result != SAP_EXIT_OK) return result;
    const sap_status status = count_around(reference, asking, cli->options->radius, told, rows->counts);
    result = sap_cli_agree(cli, status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, NULL));
    if (asked || cli->options->with_self) return result;
    for (int64_t r = 0; result == SAP_EXIT_OK && r < rows->rows; r++) rows->counts[r] -= rows->counts[r] > 0;
    return result;
}

// Refuses what would be too much before it is collected.
static sap_cli_exit limit_rows(sap_cli* cli, const sap_cli_reference* reference, const sap_cli_points* asking,
                               bool asked, const sap_search* told, sap_cli_joined_rows* rows) {
    sap_cli_exit result = count_rows(cli, reference, asking, asked, told, rows);
    if (result != SAP_EXIT_OK) return result;
    place_rows(cli, rows);
    if (cli->options->pairs) rows->total /= 2;
    free(rows->counts);
    rows->counts = NULL;
    return sap_cli_agree(cli, check_limit(cli, rows->total));
}

sap_cli_exit sap_cli_joined_radius(sap_cli* cli, const sap_cli_reference* reference, const sap_cli_points* queries,
                                   const sap_search* told, sap_cli_joined_rows* rows) {
    const sap_cli_points* asking = queries ? queries : &reference->points;
    const bool asked = queries != NULL;
    found_rows found = {0};
    *rows = (sap_cli_joined_rows){.first = asking->first, .rows = asking->count, .all = asking->all};
    sap_cli_exit result = SAP_EXIT_OK;
    if (cli->options->count)
        result = count_rows(cli, reference, asking, asked, told, rows);
    else if (cli->options->limit >= 0)
        result = limit_rows(cli, reference, asking, asked, told, rows);
    if (result == SAP_EXIT_OK && !cli->options->count) {
        const sap_status status = find_around(reference, asking, cli->options->radius, told, &found);
        if (status != SAP_OK) result = sap_cli_failed(cli, status, NULL);
        if (status == SAP_OK) {
            take_found(&found);
            result = take_rows(cli, &found, asked, rows);
        }
        result = sap_cli_agree(cli, result);
        free_found(&found);
    }
    if (result == SAP_EXIT_OK) place_rows(cli, rows);
    return result;
}

// ---- Boxes.

// Corners of this rank's boxes, in the precision of the points.
typedef struct corners {
    sap_points lower, upper;
    sap_points_f64 lower_f64, upper_f64;
} corners;

static corners corners_of(const sap_cli_reference* reference, const sap_cli_points* boxes) {
    static const double none[SAP_MAX_DIMS]; // of no box
    const int32_t dims = reference->info.dims;
    const int64_t count = boxes->count, stride = 2 * (int64_t)dims;
    const float* narrow = count ? boxes->coords : (const float*)(const void*)none;
    const double* wide = count ? boxes->coords : none;
    return (corners){{narrow, count, dims, stride},
                     {narrow + dims, count, dims, stride},
                     {wide, count, dims, stride},
                     {wide + dims, count, dims, stride}};
}

static sap_status count_boxes(const sap_cli_reference* reference, const corners* c, int64_t* counts) {
    const bool wide = reference->info.real_bits == 64;
    if (reference->tree)
        return wide ? sap_box_count_f64(reference->tree, c->lower_f64, c->upper_f64, counts)
                    : sap_box_count(reference->tree, c->lower, c->upper, counts);
    return wide ? sap_cluster_box_count_f64(reference->cluster, c->lower_f64, c->upper_f64, counts)
                : sap_cluster_box_count(reference->cluster, c->lower, c->upper, counts);
}

static sap_status find_boxes(const sap_cli_reference* reference, const corners* c, found_rows* found) {
    const bool wide = reference->info.real_bits == 64;
    if (reference->tree)
        return wide ? sap_box_search_f64(reference->tree, c->lower_f64, c->upper_f64, &found->of_copy)
                    : sap_box_search(reference->tree, c->lower, c->upper, &found->of_copy);
    return wide ? sap_cluster_box_search_f64(reference->cluster, c->lower_f64, c->upper_f64, &found->of_cluster)
                : sap_cluster_box_search(reference->cluster, c->lower, c->upper, &found->of_cluster);
}

sap_cli_exit sap_cli_joined_boxes(sap_cli* cli, const sap_cli_reference* reference, const sap_cli_points* boxes,
                                  sap_cli_joined_rows* rows) {
    const corners at = corners_of(reference, boxes);
    *rows = (sap_cli_joined_rows){.first = boxes->first, .rows = boxes->count, .all = boxes->all};
    rows->counts = sap_cli_allocate(cli, rows->rows, sizeof *rows->counts);
    sap_cli_exit result = sap_cli_agree(cli, rows->counts ? SAP_EXIT_OK : SAP_EXIT_FAILED);
    if (result != SAP_EXIT_OK) return result;
    sap_status status = count_boxes(reference, &at, rows->counts);
    result = sap_cli_agree(cli, status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, NULL));
    if (result != SAP_EXIT_OK) return result;
    place_rows(cli, rows);
    if (!cli->options->ids) return result;
    result = sap_cli_agree(cli, check_limit(cli, rows->total));
    if (result != SAP_EXIT_OK) return result;
    found_rows found = {0};
    status = find_boxes(reference, &at, &found);
    if (status == SAP_OK) {
        take_found(&found);
        result = take_rows(cli, &found, true, rows);
    } else {
        result = sap_cli_failed(cli, status, NULL);
    }
    result = sap_cli_agree(cli, result);
    free_found(&found);
    for (int64_t r = 0; result == SAP_EXIT_OK && r <= rows->rows; r++) rows->offsets[r] += rows->before;
    return result;
}

// ---- Writing.

// The ids of each row on a line, by rank 0.
static sap_cli_exit print_rows(sap_cli* cli, const sap_cli_joined_rows* rows) {
    void *counts = NULL, *ids = NULL;
    int64_t* own = sap_cli_allocate(cli, rows->rows, sizeof *own);
    sap_cli_exit result = sap_cli_agree(cli, own ? SAP_EXIT_OK : SAP_EXIT_FAILED);
    for (int64_t r = 0; result == SAP_EXIT_OK && r < rows->rows; r++) own[r] = rows->offsets[r + 1] - rows->offsets[r];
    if (result == SAP_EXIT_OK) result = sap_cli_joined_bytes(cli, own, rows->rows * (int64_t)sizeof *own, &counts);
    if (result == SAP_EXIT_OK)
        result = sap_cli_joined_bytes(cli, rows->ids, rows->here * (int64_t)sizeof *rows->ids, &ids);
    if (result == SAP_EXIT_OK && sap_cli_is_first(cli)) {
        const int64_t* id = ids;
        for (int64_t r = 0; r < rows->all && !ferror(stdout); r++) {
            const int64_t count = ((const int64_t*)counts)[r];
            for (int64_t i = 0; i < count; i++) printf("%s%lld", i ? " " : "", (long long)*id++);
            putchar('\n');
        }
        result = sap_cli_flush(cli);
    }
    free(own);
    free(counts);
    free(ids);
    return sap_cli_agree(cli, result);
}

sap_cli_exit sap_cli_joined_rows_write(sap_cli* cli, const sap_cli_reference* reference, bool wide,
                                       sap_cli_joined_rows* rows) {
    const sap_cli_options* o = cli->options;
    const sap_table counts = {.values = rows->counts, .rows = rows->rows, .number = SAP_INT64};
    if (!rows->offsets)
        return o->output || !o->json ? sap_cli_joined_write(cli, o->output, &counts, rows->first, rows->all, "count")
                                     : SAP_EXIT_OK;
    if (!o->output && !o->ids && !o->distances) return o->json ? SAP_EXIT_OK : print_rows(cli, rows);
    const bool last = cli->ranks->rank == cli->ranks->size - 1; // which writes where all rows end
    const sap_table offsets = {.values = rows->offsets, .rows = rows->rows + last, .number = SAP_INT64};
    sap_table ids = {.values = rows->ids, .rows = rows->here, .number = SAP_INT64}, distances = ids;
    ids.number = sap_cli_joined_ids(reference, rows->ids, rows->here);
    distances.values = rows->distance2;
    distances.number = wide ? SAP_FLOAT64 : SAP_FLOAT32;
    sap_cli_exit result = SAP_EXIT_OK;
    if (o->output) result = sap_cli_joined_write(cli, o->output, &offsets, rows->first, rows->all + 1, "offset");
    if (result == SAP_EXIT_OK && o->ids)
        result = sap_cli_joined_write(cli, o->ids, &ids, rows->before, rows->total, "id");
    if (result == SAP_EXIT_OK && o->distances)
        result = sap_cli_joined_write(cli, o->distances, &distances, rows->before, rows->total, "distance2");
    return result;
}

void sap_cli_joined_rows_free(sap_cli_joined_rows* rows) {
    free(rows->counts);
    free(rows->offsets);
    free(rows->ids);
    free(rows->distance2);
    *rows = (sap_cli_joined_rows){.ids = NULL};
}
