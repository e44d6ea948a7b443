// Trees over points. Every function serves float and double trees: `bits` says which, 32 or 64.
#include "module.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static sap_points floats(const void* coords, int32_t count, int32_t dims) {
    return (sap_points){coords, count, dims, 0};
}
static sap_points_f64 doubles(const void* coords, int32_t count, int32_t dims) {
    return (sap_points_f64){coords, count, dims, 0};
}

/** Builds a tree with the periods numbers[0 … dims - 1]; its address is then integers[0]. */
SAP_EXPORT sap_status web_tree_build(const void* coords, int32_t count, int32_t dims, int32_t bits, int32_t split,
                                     int32_t axis, int32_t leaf_size, int32_t drop_duplicates) {
    sap_tree_options options = {.split = (sap_split)split,
                                .axis = (sap_axis)axis,
                                .leaf_size = leaf_size,
                                .drop_duplicates = drop_duplicates != 0};
    memcpy(options.period, web_shared.numbers, (size_t)dims * sizeof *options.period);
    sap_tree* tree = NULL;
    const sap_status status = bits == 32
                                  ? sap_tree_build(web_device, floats(coords, count, dims), &options, &tree)
                                  : sap_tree_build_f64(web_device, doubles(coords, count, dims), &options, &tree);
    web_shared.integers[0] = web_address(tree);
    return status;
}

SAP_EXPORT sap_status web_tree_rebuild(sap_tree* tree, const void* coords, int32_t count, int32_t dims, int32_t bits) {
    return bits == 32 ? sap_tree_rebuild(tree, floats(coords, count, dims))
                      : sap_tree_rebuild_f64(tree, doubles(coords, count, dims));
}

SAP_EXPORT void web_tree_free(sap_tree* tree) { sap_tree_free(tree); }

/** integers: points, points given, dims, bits, depth, leaves; numbers: bytes, then lower, upper and periods, SAP_MAX_DIMS
 * each. */
SAP_EXPORT sap_status web_tree_describe(const sap_tree* tree) {
    sap_tree_info info;
    const sap_status status = sap_tree_describe(tree, &info);
    if (status != SAP_OK) return status;
    const int32_t integers[] = {(int32_t)info.count, (int32_t)info.source_count, info.dims, info.real_bits,
                                info.depth,          (int32_t)info.leaves};
    for (int i = 0; i < 6; i++) web_shared.integers[i] = integers[i];
    web_shared.numbers[0] = (double)info.bytes;
    for (int a = 0; a < SAP_MAX_DIMS; a++) {
        web_shared.numbers[1 + a] = info.lower[a];
        web_shared.numbers[1 + SAP_MAX_DIMS + a] = info.upper[a];
        web_shared.numbers[1 + 2 * SAP_MAX_DIMS + a] = info.options.period[a];
    }
    return SAP_OK;
}

// ---- Saved trees.

/** How many bytes a saved tree has: numbers[0]. */
SAP_EXPORT sap_status web_tree_saved_size(const sap_tree* tree) {
    int64_t size = 0;
    const sap_status status = sap_tree_saved_size(tree, &size);
    web_shared.numbers[0] = (double)size;
    return status;
}

/** Saves to memory of web_allocate_saved. */
SAP_EXPORT sap_status web_tree_save(const sap_tree* tree, void* bytes, size_t size) {
    return sap_tree_save_memory(tree, bytes, (int64_t)size);
}

/** Takes a saved tree where it lies, in memory of web_allocate_saved that stays; its address is then integers[0]. trusted: the
 * package saved it itself. */
SAP_EXPORT sap_status web_tree_load(const void* bytes, size_t size, int32_t trusted) {
    const sap_load_options options = {.trust = trusted != 0};
    sap_tree* tree = NULL;
    const sap_status status = sap_tree_load_memory(web_device, bytes, (int64_t)size, &options, &tree);
    web_shared.integers[0] = web_address(tree);
    return status;
}

// ---- One query, which stands in numbers[0] … numbers[dims - 1]. Nothing is allocated but room for longer answers
// than ever before.

// Answers of the last query: ids, and distances in the tree's precision, then as doubles.
static struct answers {
    int32_t capacity;
    int32_t* ids;
    void* distance2;
    double* distances;
} answers;

static sap_status make_room(int32_t count) {
    if (count <= answers.capacity) return SAP_OK;
    if (count > INT32_MAX / 16) return web_fail(SAP_ERROR_MEMORY, "no memory for so many answers");
    const int32_t capacity = count < 512 ? 512 : count + count / 2;
    int32_t* ids = malloc((size_t)capacity * sizeof *ids);
    double *raw = malloc((size_t)capacity * sizeof *raw), *distances = malloc((size_t)capacity * sizeof *distances);
    if (!ids || !raw || !distances) {
        free(ids), free(raw), free(distances);
        return web_fail(SAP_ERROR_MEMORY, "no memory for the answers");
    }
    free(answers.ids), free(answers.distance2), free(answers.distances);
    answers = (struct answers){capacity, ids, raw, distances};
    return SAP_OK;
}

/** Gives back the memory that calls have left for the next ones. */
SAP_EXPORT void web_trim(void) {
    free(answers.ids), free(answers.distance2), free(answers.distances);
    answers = (struct answers){0};
    sap_device_trim(web_device);
}

static sap_points one_float(float* query, int32_t dims) {
    for (int a = 0; a < dims; a++) query[a] = (float)web_shared.numbers[a];
    return floats(query, 1, dims);
}

/** The nearest point within a radius (0: any): integers[0] its id, numbers[0] its distance. */
SAP_EXPORT sap_status web_tree_nearest(const sap_tree* tree, int32_t dims, int32_t bits, double radius) {
    const sap_search search = {.k = 1, .radius = radius};
    sap_status status;
    if (bits == 32) {
        float query[SAP_MAX_DIMS], distance2 = 0;
        status = sap_nearest(tree, one_float(query, dims), &search, web_shared.integers, &distance2);
        web_shared.numbers[0] = (double)sqrtf(distance2);
    } else {
        double distance2 = 0;
        status = sap_nearest_f64(tree, doubles(web_shared.numbers, 1, dims), &search, web_shared.integers, &distance2);
        web_shared.numbers[0] = sqrt(distance2);
    }
    return status;
}

/** The k nearest points within a radius (0: any): integers[0] how many, [1] where their ids, [2] their distances. */
SAP_EXPORT sap_status web_tree_knn(const sap_tree* tree, int32_t dims, int32_t bits, int32_t k, double radius) {
    const sap_search search = {.k = k, .radius = radius};
    sap_status status = make_room(k);
    if (status != SAP_OK) return status;
    if (bits == 32) {
        float query[SAP_MAX_DIMS];
        status = sap_nearest(tree, one_float(query, dims), &search, answers.ids, answers.distance2);
    } else {
        status = sap_nearest_f64(tree, doubles(web_shared.numbers, 1, dims), &search, answers.ids, answers.distance2);
    }
    if (status != SAP_OK) return status;
    const float* single = answers.distance2;
    const double* twice = answers.distance2;
    int32_t found = 0;
    for (; found < k && answers.ids[found] >= 0; found++)
        answers.distances[found] = bits == 32 ? (double)sqrtf(single[found]) : sqrt(twice[found]);
    web_shared.integers[0] = found;
    web_shared.integers[1] = web_address(answers.ids);
    web_shared.integers[2] = web_address(answers.distances);
    return SAP_OK;
}

/** The points within a radius, in no order: integers[0] how many, [1] where their ids stand. */
SAP_EXPORT sap_status web_tree_within(const sap_tree* tree, int32_t dims, int32_t bits, double radius) {
    float query[SAP_MAX_DIMS];
    int64_t offsets[2] = {0, 0};
    if (bits == 32) one_float(query, dims);
    sap_status status = make_room(1);
    for (int attempt = 0; status == SAP_OK && attempt < 2; attempt++) {
        status = bits == 32 ? sap_radius_into(tree, floats(query, 1, dims), radius, answers.capacity, offsets,
                                              answers.ids, NULL)
                            : sap_radius_into_f64(tree, doubles(web_shared.numbers, 1, dims), radius, answers.capacity,
                                                  offsets, answers.ids, NULL);
        if (status != SAP_OK || offsets[1] <= answers.capacity) break;
        status = make_room((int32_t)offsets[1]);
    }
    web_shared.integers[0] = (int32_t)offsets[1];
    web_shared.integers[1] = web_address(answers.ids);
    return status;
}

/** The points in the box from numbers[0 … dims - 1] to numbers[dims … 2 * dims - 1], in no order: integers[0] how many,
 * [1] where their ids stand. */
SAP_EXPORT sap_status web_tree_range(const sap_tree* tree, int32_t dims, int32_t bits) {
    float corners[2 * SAP_MAX_DIMS];
    const double* wide = web_shared.numbers;
    int64_t offsets[2] = {0, 0};
    for (int i = 0; i < 2 * dims; i++) corners[i] = (float)wide[i];
    sap_status status = make_room(1);
    for (int attempt = 0; status == SAP_OK && attempt < 2; attempt++) {
        status = bits == 32 ? sap_box_search_into(tree, floats(corners, 1, dims), floats(corners + dims, 1, dims),
                                                  answers.capacity, offsets, answers.ids)
                            : sap_box_search_into_f64(tree, doubles(wide, 1, dims), doubles(wide + dims, 1, dims),
                                                      answers.capacity, offsets, answers.ids);
        if (status != SAP_OK || offsets[1] <= answers.capacity) break;
        status = make_room((int32_t)offsets[1]);
    }
    web_shared.integers[0] = (int32_t)offsets[1];
    web_shared.integers[1] = web_address(answers.ids);
    return status;
}

/** How many points lie within a radius: integers[0]. */
SAP_EXPORT sap_status web_tree_within_count(const sap_tree* tree, int32_t dims, int32_t bits, double radius) {
    float query[SAP_MAX_DIMS];
    int64_t count = 0;
    const sap_status status = bits == 32
                                  ? sap_radius_count(tree, one_float(query, dims), radius, &count)
                                  : sap_radius_count_f64(tree, doubles(web_shared.numbers, 1, dims), radius, &count);
    web_shared.integers[0] = (int32_t)count;
    return status;
}

// ---- Many queries at once.

// Squared distances become distances, in place and in their own precision.
static void take_roots(void* distances, size_t count, int32_t bits) {
    float* single = distances;
    double* twice = distances;
    if (bits == 32)
        for (size_t i = 0; i < count; i++) single[i] = sqrtf(single[i]);
    else
        for (size_t i = 0; i < count; i++) twice[i] = sqrt(twice[i]);
}

/** ids[count*k] and distances[count*k] (squared if asked; NULL: none) as sap_nearest. keep: of what may be found by id,
 * or NULL, here and in other calls for many queries. */
SAP_EXPORT sap_status web_tree_knn_all(const sap_tree* tree, const void* queries, int32_t count, int32_t dims,
                                       int32_t bits, int32_t k, double radius, int32_t* ids, void* distances,
                                       int32_t squared, const uint8_t* keep) {
    const sap_search search = {.k = k, .radius = radius, .keep = keep};
    const sap_status status = bits == 32
                                  ? sap_nearest(tree, floats(queries, count, dims), &search, ids, distances)
                                  : sap_nearest_f64(tree, doubles(queries, count, dims), &search, ids, distances);
    if (status == SAP_OK && distances && !squared) take_roots(distances, (size_t)count * (size_t)k, bits);
    return status;
}

/** The same for every point of the tree, `count` of which were given to its build. */
SAP_EXPORT sap_status web_tree_knn_self(const sap_tree* tree, int32_t count, int32_t bits, int32_t k, double radius,
                                        int32_t* ids, void* distances, int32_t squared, const uint8_t* keep) {
    const sap_search search = {.k = k, .radius = radius, .keep = keep};
    const sap_status status = bits == 32 ? sap_nearest_self(tree, &search, ids, distances)
                                         : sap_nearest_self_f64(tree, &search, ids, distances);
    if (status == SAP_OK && distances && !squared) take_roots(distances, (size_t)count * (size_t)k, bits);
    return status;
}

/** counts[count]: how many points lie within a radius of each query. */
SAP_EXPORT sap_status web_tree_within_count_all(const sap_tree* tree, const void* queries, int32_t count, int32_t dims,
                                                int32_t bits, double radius, int32_t* counts, const uint8_t* keep) {
    const sap_search search = {.radius = radius, .keep = keep};
    int64_t* wide = malloc(((size_t)count + 1) * sizeof *wide);
    if (!wide) return web_fail(SAP_ERROR_MEMORY, "no memory for the counts");
    const sap_status status = bits == 32
                                  ? sap_radius_search_count(tree, floats(queries, count, dims), &search, wide)
                                  : sap_radius_search_count_f64(tree, doubles(queries, count, dims), &search, wide);
    for (int32_t i = 0; status == SAP_OK && i < count; i++) counts[i] = (int32_t)wide[i];
    free(wide);
    return status;
}

/** Rows of the points within a radius of each query: integers[0] is the rows' owner, for web_rows_free, [1] how many
 * points all rows have together, [2] where their ids, [3] where their distances (squared if asked) stand. offsets[count
 * + 1] says where rows begin. */
SAP_EXPORT sap_status web_tree_within_all(const sap_tree* tree, const void* queries, int32_t count, int32_t dims,
                                          int32_t bits, double radius, int32_t* offsets, int32_t sorted,
                                          int32_t squared, const uint8_t* keep) {
    const sap_search search = {.radius = radius, .sorted = sorted != 0, .keep = keep};
    sap_neighbors* rows = NULL;
    const sap_status status = bits == 32 ? sap_radius_search(tree, floats(queries, count, dims), &search, &rows)
                                         : sap_radius_search_f64(tree, doubles(queries, count, dims), &search, &rows);
    if (status != SAP_OK) return status;
    for (int32_t i = 0; i <= count; i++) offsets[i] = (int32_t)rows->offsets[i];
    // The rows are ours alone: roots may take the place of squares in them.
    void* distances = bits == 32 ? (void*)(uintptr_t)rows->distance2 : (void*)(uintptr_t)rows->distance2_f64;
    if (!squared) take_roots(distances, (size_t)rows->offsets[count], bits);
    web_shared.integers[0] = web_address(rows);
    web_shared.integers[1] = offsets[count];
    web_shared.integers[2] = web_address(rows->ids);
    web_shared.integers[3] = web_address(distances);
    return SAP_OK;
}

/** Rows of the points in each box: integers and offsets as of web_tree_within_all, without distances. */
SAP_EXPORT sap_status web_tree_range_all(const sap_tree* tree, const void* lower, const void* upper, int32_t count,
                                         int32_t dims, int32_t bits, int32_t* offsets, int32_t sorted) {
    sap_neighbors* rows = NULL;
    sap_status status = bits == 32
                            ? sap_box_search(tree, floats(lower, count, dims), floats(upper, count, dims), &rows)
                            : sap_box_search_f64(tree, doubles(lower, count, dims), doubles(upper, count, dims), &rows);
    if (status == SAP_OK && sorted) status = sap_neighbors_sort(rows);
    if (status != SAP_OK) {
        sap_neighbors_free(rows);
        return status;
    }
    for (int32_t i = 0; i <= count; i++) offsets[i] = (int32_t)rows->offsets[i];
    web_shared.integers[0] = web_address(rows);
    web_shared.integers[1] = offsets[count];
    web_shared.integers[2] = web_address(rows->ids);
    return SAP_OK;
}

SAP_EXPORT void web_rows_free(sap_neighbors* rows) { sap_neighbors_free(rows); }
