#include "jackknife.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A division of space in preorder: of `blocks` blocks those of the lower part follow, then those of the upper.
typedef struct divider {
    int32_t axis;
    double split; // the largest coordinate of the lower part
} divider;

typedef struct division {
    divider* dividers; // [blocks - 1]
    int64_t* rows;     // [points], those of a part side by side
    double* values;    // [points]
    const sap_cli_points* points;
} division;

static double coordinate(const sap_cli_points* points, int64_t row, int32_t axis) {
    const int64_t at = row * points->dims + axis;
    return points->real_bits == 64 ? ((const double*)points->coords)[at] : (double)((const float*)points->coords)[at];
}

static int ascending(const void* left, const void* right) {
    const double a = *(const double*)left, b = *(const double*)right;
    return (a > b) - (a < b);
}

static int32_t longest_side(const division* d, int64_t from, int64_t to) {
    int32_t longest = 0;
    double most = -1;
    for (int32_t a = 0; a < d->points->dims; a++) {
        double lower = INFINITY, upper = -INFINITY;
        for (int64_t i = from; i < to; i++) {
            const double x = coordinate(d->points, d->rows[i], a);
            lower = fmin(lower, x);
            upper = fmax(upper, x);
        }
        if (upper - lower > most) {
            most = upper - lower;
            longest = a;
        }
    }
    return longest;
}

// Divides the rows [from, to) into blocks; `first` is their first divider.
static void divide(division* d, int64_t from, int64_t to, int32_t blocks, int32_t first) {
    if (blocks < 2) return;
    const int32_t lower = blocks / 2, axis = longest_side(d, from, to);
    for (int64_t i = from; i < to; i++) d->values[i] = coordinate(d->points, d->rows[i], axis);
    qsort(d->values + from, (size_t)(to - from), sizeof *d->values, ascending);
    const int64_t last = from + (to - from) * lower / blocks;
    const double split = last > from ? d->values[last - 1] : -INFINITY;
    d->dividers[first] = (divider){axis, split};
    int64_t middle = from;
    for (int64_t i = from; i < to; i++) {
        const int64_t row = d->rows[i];
        if (!(coordinate(d->points, row, axis) <= split)) continue;
        d->rows[i] = d->rows[middle];
        d->rows[middle++] = row;
    }
    divide(d, from, middle, lower, first + 1);
    divide(d, middle, to, blocks - lower, first + lower);
}

static int32_t block_of(const division* d, const sap_cli_points* points, int64_t row, int32_t blocks) {
    int32_t first = 0, block = 0;
    while (blocks > 1) {
        const int32_t lower = blocks / 2;
        const bool is_upper = !(coordinate(points, row, d->dividers[first].axis) <= d->dividers[first].split);
        first += is_upper ? lower : 1;
        block += is_upper ? lower : 0;
        blocks = is_upper ? blocks - lower : lower;
    }
    return block;
}

// ---- Points of one block

typedef struct part {
    void* coords;
    double* weights; // NULL: 1 each
    int64_t count;
    sap_tree* tree;
} part;

static void part_free(part* p) {
    sap_tree_free(p->tree);
    free(p->coords);
    free(p->weights);
}

static sap_cli_exit part_make(sap_cli* cli, const sap_tree* whole, const sap_cli_points* points, const double* weights,
                              const int32_t* block_of_row, int32_t block, part* p) {
    const size_t bytes = (size_t)points->dims * (size_t)points->real_bits / 8;
    p->coords = sap_cli_allocate(cli, points->count + 1, bytes);
    if (p->coords && weights) p->weights = sap_cli_allocate(cli, points->count + 1, sizeof *p->weights);
    if (!p->coords || (weights && !p->weights)) return SAP_EXIT_FAILED;
    for (int64_t i = 0; i < points->count; i++) {
        if (block_of_row[i] != block) continue;
        memcpy((char*)p->coords + (size_t)p->count * bytes, (const char*)points->coords + (size_t)i * bytes, bytes);
        if (weights) p->weights[p->count] = weights[i];
        p->count++;
    }
    sap_tree_options options = cli->options->tree;
    sap_tree_info info;
    sap_tree_describe(whole, &info);
    memcpy(options.period, info.options.period, sizeof options.period);
    const sap_status status =
        points->real_bits == 64
            ? sap_tree_build_f64(cli->device, (sap_points_f64){p->coords, p->count, points->dims, 0}, &options,
                                 &p->tree)
            : sap_tree_build(cli->device, (sap_points){p->coords, p->count, points->dims, 0}, &options, &p->tree);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, NULL);
}

// ---- Counting

// Adds `times` the counts of one tree's points about another's.
static sap_cli_exit add_counts(sap_cli* cli, const sap_tree* asking, const double* asking_weights, const sap_tree* tree,
                               const double* weights, double times, double* counts, double* sums) {
    const sap_cli_numbers* radii = &cli->options->many_radii;
    const sap_status status = sap_tree_count_pairs(asking, tree, radii->at, radii->count, asking_weights, weights,
                                                   !cli->options->bins, counts);
    if (status != SAP_OK) return sap_cli_failed(cli, status, NULL);
    for (int32_t r = 0; r < radii->count; r++) sums[r] += times * counts[r];
    return SAP_EXIT_OK;
}

// All pairs, less those of a point of the block with any, but those of two of its points only once.
static sap_cli_exit count_without(sap_cli* cli, const sap_cli_counted* pairs, const part* mine, const part* asking,
                                  double* counts, double* without) {
    memcpy(without, pairs->counts, (size_t)cli->options->many_radii.count * sizeof *without);
    const double both = pairs->queries ? -1 : -2; // of points with themselves, (i, j) and (j, i) are as many
    sap_cli_exit result =
        add_counts(cli, asking->tree, asking->weights, pairs->tree, pairs->weights, both, counts, without);
    if (result == SAP_EXIT_OK && pairs->queries)
        result = add_counts(cli, pairs->asking, pairs->asking_weights, mine->tree, mine->weights, -1, counts, without);
    return result == SAP_EXIT_OK
               ? add_counts(cli, asking->tree, asking->weights, mine->tree, mine->weights, 1, counts, without)
               : result;
}

static sap_cli_exit count_block(sap_cli* cli, const sap_cli_counted* pairs, int32_t* const blocks_of[2], int32_t block,
                                double* counts, double* without) {
    part parts[2] = {{NULL, NULL, 0, NULL}, {NULL, NULL, 0, NULL}};
    sap_cli_exit result = part_make(cli, pairs->tree, pairs->points, pairs->weights, blocks_of[0], block, &parts[0]);
    if (result == SAP_EXIT_OK && pairs->queries)
        result = part_make(cli, pairs->tree, pairs->queries, pairs->asking_weights, blocks_of[1], block, &parts[1]);
    if (result == SAP_EXIT_OK)
        result = count_without(cli, pairs, &parts[0], &parts[pairs->queries ? 1 : 0], counts, without);
    part_free(&parts[0]);
    part_free(&parts[1]);
    return result;
}

static void find_errors(int32_t blocks, int32_t radii, const double* without, double* errors) {
    for (int32_t r = 0; r < radii; r++) {
        double mean = 0, sum = 0;
        for (int32_t b = 0; b < blocks; b++) mean += without[(int64_t)b * radii + r] / blocks;
        for (int32_t b = 0; b < blocks; b++) sum += pow(without[(int64_t)b * radii + r] - mean, 2);
        errors[r] = sqrt(sum * (blocks - 1) / blocks);
    }
}

static int32_t* find_blocks(sap_cli* cli, const division* d, const sap_cli_points* points) {
    int32_t* blocks = sap_cli_allocate(cli, points->count + 1, sizeof *blocks);
    for (int64_t i = 0; blocks && i < points->count; i++) blocks[i] = block_of(d, points, i, cli->options->jackknife);
    return blocks;
}

sap_cli_exit sap_cli_jackknife(sap_cli* cli, const sap_cli_counted* pairs, const sap_cli_points* cells, double* without,
                               double* errors) {
    const int32_t blocks = cli->options->jackknife, radii = cli->options->many_radii.count;
    division d = {.points = cells};
    int32_t* blocks_of[2] = {NULL, NULL};
    sap_cli_exit result = SAP_EXIT_FAILED;
    d.dividers = sap_cli_allocate(cli, blocks, sizeof *d.dividers);
    d.rows = sap_cli_allocate(cli, cells->count + 1, sizeof *d.rows);
    d.values = sap_cli_allocate(cli, cells->count + 1, sizeof *d.values);
    double* counts = sap_cli_allocate(cli, radii, sizeof *counts);
    if (!d.dividers || !d.rows || !d.values || !counts) goto done;
    for (int64_t i = 0; i < cells->count; i++) d.rows[i] = i;
    divide(&d, 0, cells->count, blocks, 0);
    blocks_of[0] = find_blocks(cli, &d, pairs->points);
    if (blocks_of[0] && pairs->queries) blocks_of[1] = find_blocks(cli, &d, pairs->queries);
    if (!blocks_of[0] || (pairs->queries && !blocks_of[1])) goto done;
    result = SAP_EXIT_OK;
    for (int32_t b = 0; b < blocks && result == SAP_EXIT_OK; b++)
        result = count_block(cli, pairs, blocks_of, b, counts, without + (int64_t)b * radii);
    if (result == SAP_EXIT_OK) find_errors(blocks, radii, without, errors);
done:
    free(d.dividers);
    free(d.rows);
    free(d.values);
    free(counts);
    free(blocks_of[0]);
    free(blocks_of[1]);
    return result;
}
