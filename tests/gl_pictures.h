// Grids over clouds, and whether answers from a shader are those of brute force: the same bits, but for numbers below the
// smallest normal one, which GPUs may take for 0.
#ifndef SAPWOOD_TESTS_GL_PICTURES_H
#define SAPWOOD_TESTS_GL_PICTURES_H

#include "calls.h"
#include "oracle.h"
#include "sapwood/sapwood.h"
#include "test.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum { SUBNORMALS = 4 }; // so many of the smallest normal number may count as 0

// Whether an answer is the expected one; of squares that may count as 0, any may come first.
static inline bool same_answer(int32_t id, float found, int32_t expected_id, float expected) {
    return (id == expected_id && found == expected) || fmaxf(found, expected) <= SUBNORMALS * FLT_MIN;
}

// A grid over the cloud's box and a little beyond; in 3-D a slice askew through it.
static inline sap_grid grid_over(const cloud* points, int32_t width, int32_t height) {
    sap_grid grid = {width, height, {0}, {0}, {0}};
    for (int32_t a = 0; a < points->dims; a++) {
        double lower = INFINITY, upper = -INFINITY;
        for (int64_t i = 0; i < points->count; i++) {
            lower = fmin(lower, cloud_get(points, i, a));
            upper = fmax(upper, cloud_get(points, i, a));
        }
        if (!points->count) lower = 0;
        double size = upper > lower ? upper - lower : 1;
        grid.origin[a] = lower - 0.07 * size;
        if (a == 0) grid.right[a] = 1.13 * size / width;
        if (a == 1) grid.down[a] = 1.11 * size / height;
        if (a == 2) grid.down[a] = 0.7 * size / height;
        if (a == 2) grid.right[a] = 0.4 * size / width;
    }
    return grid;
}

// The places of a grid as queries, by the formula of its manual.
static inline cloud places_of(const sap_grid* grid, int32_t dims) {
    cloud queries = cloud_make((int64_t)grid->width * grid->height, dims, 32, 0);
    for (int32_t y = 0; y < grid->height; y++)
        for (int32_t x = 0; x < grid->width; x++)
            for (int32_t a = 0; a < dims; a++) {
                float column = (float)(grid->origin[a] + (x + 0.5) * grid->right[a]);
                float row = (float)((y + 0.5) * grid->down[a]);
                cloud_set(&queries, (int64_t)y * grid->width + x, a, (double)(column + row));
            }
    return queries;
}

// Checks rows of k answers against the oracle's.
static inline void check_rows(const cloud* points, const cloud* queries, int32_t k, double limit2, const int32_t* ids,
                              const float* distance2) {
    int32_t* expected_ids = malloc((size_t)k * sizeof *expected_ids);
    float* expected = malloc((size_t)k * sizeof *expected);
    oracle_rules rules = {.limit2 = limit2};
    for (int64_t q = 0; q < queries->count; q++) {
        CHECK(oracle_nearest(points, queries, q, k, &rules, expected_ids, expected));
        for (int32_t j = 0; j < k; j++) {
            int32_t id = ids[q * k + j];
            float found = distance2[q * k + j];
            bool same = id < points->count && same_answer(id, found, expected_ids[j], expected[j]);
            if (same && id != expected_ids[j])
                same = id >= 0 && same_answer(id, found, id, (float)oracle_distance2(queries, q, points, id));
            for (int32_t i = 0; i < j && id >= 0; i++) same = same && ids[q * k + i] != id;
            if (!CHECK(same)) {
                printf("  query %lld, neighbour %d: %d at %g, expected %d at %g\n", (long long)q, (int)j, (int)id,
                       (double)found, (int)expected_ids[j], (double)expected[j]);
                j = k;
                q = queries->count - 1;
            }
        }
    }
    free(expected_ids);
    free(expected);
}

// Checks counts of points within a limit.
static inline void check_counts(const cloud* points, const cloud* queries, double limit2, const int64_t* counts) {
    oracle_rules fewer = {.limit2 = limit2 - SUBNORMALS * (double)FLT_MIN};
    oracle_rules more = {.limit2 = limit2 + SUBNORMALS * (double)FLT_MIN};
    int32_t* ids = malloc((size_t)(points->count + 1) * sizeof *ids);
    float* distance2 = malloc((size_t)(points->count + 1) * sizeof *distance2);
    for (int64_t q = 0; q < queries->count; q++)
        CHECK(counts[q] >= oracle_radius(points, queries, q, &fewer, ids, distance2) &&
              counts[q] <= oracle_radius(points, queries, q, &more, ids, distance2));
    free(ids);
    free(distance2);
}

// Checks the picture of a tree in the form of four bytes a node: every pixel is right for the rounded sites, and a stack
// gives the same bits.
static inline void check_sites(sap_device* device, const sap_tree* tree, const cloud* points) {
    enum { WIDTH = 530, HEIGHT = 23 };
    static int32_t ids[WIDTH * HEIGHT], stack_ids[WIDTH * HEIGHT];
    static float distances[WIDTH * HEIGHT], stack_distances[WIDTH * HEIGHT];
    sap_grid grid = grid_over(points, WIDTH, HEIGHT);
    double side = fmax(grid.right[0] * WIDTH, grid.down[1] * HEIGHT), worst = 0;
    sap_rgba8_tree* form = NULL;
    if (!CHECK_STATUS(sap_rgba8_tree_build(tree, grid.origin, side, &form), SAP_OK)) return;
    CHECK_STATUS(sap_gl_nearest_rgba8(device, form, grid, NULL, ids, distances), SAP_OK);
    const sap_rgba8_search stack = {.walk = SAP_WALK_STACK};
    CHECK_STATUS(sap_gl_nearest_rgba8(device, form, grid, &stack, stack_ids, stack_distances), SAP_OK);
    CHECK(!memcmp(ids, stack_ids, sizeof ids) && !memcmp(distances, stack_distances, sizeof distances));
    for (int i = 0; i < WIDTH * HEIGHT; i += 7) {
        int column = i % WIDTH, row = i / WIDTH;
        double x = (column + 0.5) * grid.right[0] * form->scale;
        double y = (row + 0.5) * grid.down[1] * form->scale, least = INFINITY, found = INFINITY;
        for (int64_t p = 0; p < points->count; p++) {
            double u = floor((cloud_get(points, p, 0) - grid.origin[0]) * form->scale + 0.5) - x;
            double v = floor((cloud_get(points, p, 1) - grid.origin[1]) * form->scale + 0.5) - y;
            double distance = sqrt(u * u + v * v);
            least = fmin(least, distance);
            if (p == ids[i]) found = distance;
        }
        worst = fmax(worst, fmax(found - least, fabs((double)distances[i] * form->scale - least)));
    }
    if (!CHECK(worst < 0.05)) printf("  worst: %g units\n", worst);
    sap_rgba8_tree_free(form);
}

// How a tree in bytes may be searched.
static inline int rgba8_searches(bool integers, bool cycle, sap_rgba8_search searches[8]) {
    int count = 0;
    for (int i = 0; i < 8; i++)
        if ((integers || i % 4 < 2) && (cycle || i < 4))
            searches[count++] = (sap_rgba8_search){
                .walk = i % 2 ? SAP_WALK_STACK : SAP_WALK_STACKLESS, .integers = i / 2 % 2 != 0, .cycle = i / 4 != 0};
    return count;
}

// Checks all these searches where no operation rounds: sites on whole units of the form, pixels between them.
static inline void check_exact_sites(sap_device* device, const cloud* points, sap_axis axis, bool integers) {
    enum { SIDE = 64, STEP = 16 };
    static int32_t ids[2][SIDE * SIDE];
    static float distances[2][SIDE * SIDE];
    sap_grid grid = {SIDE, SIDE, {0, 0, 256}, {STEP, 0, 8}, {0, STEP, 0}};
    sap_tree* tree = NULL;
    sap_rgba8_tree* form = NULL;
    sap_device* cpu = NULL;
    sap_rgba8_search searches[8];
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &cpu), SAP_OK);
    const sap_points rows = {points->coords, points->count, points->dims, 0};
    CHECK_STATUS(sap_tree_build(cpu, rows, &(sap_tree_options){.leaf_size = 1, .axis = axis}, &tree), SAP_OK);
    CHECK_STATUS(sap_rgba8_tree_build(tree, (double[3]){0, 0, 0}, points->dims == 2 ? 32767 : 1023, &form), SAP_OK);
    CHECK(form->dims == points->dims && (form->cycles || axis != SAP_AXIS_CYCLE));
    const int count = rgba8_searches(integers, form->cycles, searches);
    for (int s = 0; s < count; s++) {
        const int into = s ? 1 : 0;
        CHECK_STATUS(sap_gl_nearest_rgba8(device, form, grid, &searches[s], ids[into], distances[into]), SAP_OK);
        CHECK(!s ||
              (!memcmp(ids[0], ids[1], sizeof ids[0]) && !memcmp(distances[0], distances[1], sizeof distances[0])));
    }
    int64_t wrong = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        const float place[3] = {((float)(i % SIDE) + 0.5f) * STEP, ((float)(i / SIDE) + 0.5f) * STEP, // NOLINT: whole
                                256 + ((float)(i % SIDE) + 0.5f) * 8};
        float least = INFINITY, found = INFINITY;
        for (int64_t p = 0; p < points->count; p++) {
            float distance2 = 0;
            for (int32_t a = 0; a < points->dims; a++) {
                const float apart = (float)cloud_get(points, p, a) - place[a];
                distance2 += apart * apart;
            }
            if (distance2 < least) least = distance2;
            if (p == ids[0][i]) found = distance2;
        }
        wrong += found != least;
    }
    CHECK_EQUAL(wrong, 0);
    if (!form->cycles)
        CHECK_STATUS(sap_gl_nearest_rgba8(device, form, grid, &(sap_rgba8_search){.cycle = true}, ids[0], NULL),
                     SAP_ERROR_UNSUPPORTED);
    sap_rgba8_tree_free(form);
    sap_tree_free(tree);
    sap_device_close(cpu);
}

// Sites on whole units below 1024.
static inline cloud whole_sites(int64_t count, int32_t dims) {
    cloud points = cloud_make(count, dims, 32, 0);
    uint32_t state = 99;
    for (int64_t i = 0; i < count * dims; i++) {
        state = state * 1664525u + 1013904223u;
        cloud_set(&points, i / dims, (int32_t)(i % dims), (double)(state >> 22));
    }
    return points;
}

#endif
