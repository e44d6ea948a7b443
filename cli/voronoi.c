// sapwood voronoi: the site nearest to each pixel.
#include "cells.h"
#include "file.h"
#include "input.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The run of the verb. All zero can be freed.
typedef struct voronoi_run {
    sap_cli_points sites;
    sap_tree* tree;
    sap_tree_info info;
    sap_grid grid;
    double origin[3]; // of the coordinates that are searched: those of the file are further away by this
    double extent[4]; // of the plane that the picture shows, in the file's coordinates: x0, y0, x1, y1
    int32_t* ids;
    float* distance2;
    int32_t* leaves; // looked at, for --style depth
    uint8_t* pixels;
    double read_seconds, build_seconds, search_seconds;
} voronoi_run;

static int64_t pixel_count(const voronoi_run* run) { return (int64_t)run->grid.width * run->grid.height; }

static sap_cli_exit check_usage(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    const sap_cli_output outputs[] = {{"-o", o->output}, {"--ids", o->ids}, {"--distances", o->distances}};
    sap_cli_exit result = sap_cli_picture_check(cli, o->output);
    if (result == SAP_EXIT_OK) result = sap_cli_check_distinct(cli, outputs, 3);
    if (result == SAP_EXIT_OK) result = sap_cli_check_table(cli, o->ids);
    if (result == SAP_EXIT_OK) result = sap_cli_check_table(cli, o->distances);
    return result == SAP_EXIT_OK ? sap_cli_check_writable(cli, outputs, 3) : result;
}

// Grids are searched in floats. Sites that these would move too far are searched where floats are finer: around 0.
static sap_cli_exit make_floats(sap_cli* cli, voronoi_run* run) {
    sap_cli_points* sites = &run->sites;
    double lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
    double extent = sap_cli_points_bounds(sites, lower, upper), moved = sap_cli_points_moved(sites);
    if (isinf(moved))
        return sap_cli_error(cli, "%s: a coordinate is beyond the range of a float", cli->options->operands[0]);
    if (moved <= SAP_CLI_FLOAT_ERROR * extent) return sap_cli_points_convert(cli, sites, 32);
    const double* coords = sites->coords;
    float* near = sap_cli_allocate(cli, sites->count * sites->dims, sizeof *near);
    if (!near) return SAP_EXIT_FAILED;
    for (int32_t a = 0; a < sites->dims; a++) {
        run->origin[a] = 0.5 * lower[a] + 0.5 * upper[a];
        for (int64_t i = a; i < sites->count * sites->dims; i += sites->dims)
            near[i] = (float)(coords[i] - run->origin[a]);
    }
    sap_point_set_free(sites->set);
    free(sites->owned);
    sites->coords = sites->owned = near;
    sites->set = NULL;
    sites->real_bits = 32;
    return SAP_EXIT_OK;
}

static sap_cli_exit read_sites(sap_cli* cli, voronoi_run* run) {
    const sap_cli_options* o = cli->options;
    double start = sap_cli_seconds();
    sap_cli_exit result = sap_cli_points_read(cli, o->operands[0], 0, &run->sites);
    if (result != SAP_EXIT_OK) return result;
    run->read_seconds = sap_cli_seconds() - start;
    if (run->sites.dims != 2 && run->sites.dims != 3)
        return sap_cli_usage(cli, "%s has %d columns; sites have two or three", o->operands[0], (int)run->sites.dims);
    if (sap_cli_given(o, "slice") && run->sites.dims == 2)
        return sap_cli_usage(cli, "--slice is for sites with three coordinates");
    result = sap_cli_points_drop(cli, o->operands[0], &run->sites);
    if (result == SAP_EXIT_OK) result = make_floats(cli, run);
    if (result != SAP_EXIT_OK) return result;
    // Shaders scan leaves a texel at a time: there small ones are faster. --style depth shows one tree on all devices.
    sap_tree_options options = {.leaf_size = o->tree.leaf_size};
    bool small = cli->info.processor == SAP_GL || o->style == SAP_STYLE_DEPTH;
    if (!options.leaf_size && small) options.leaf_size = 8;
    start = sap_cli_seconds();
    sap_cli_stage_begin(cli, "building");
    sap_status status = sap_tree_build(cli->device, sap_cli_f32(&run->sites), &options, &run->tree);
    sap_cli_stage_end(cli);
    if (status != SAP_OK) return sap_cli_failed(cli, status, o->operands[0]);
    run->build_seconds = sap_cli_seconds() - start;
    sap_tree_describe(run->tree, &run->info);
    return SAP_EXIT_OK;
}

// All sites with a margin, in square pixels; gives the middle of the sites.
static void fit_extent(const sap_cli_options* o, voronoi_run* run, double middle[3]) {
    const sap_tree_info* info = &run->info;
    double size[2] = {1, 1};
    for (int a = 0; a < info->dims && info->count; a++) {
        middle[a] = 0.5 * (info->lower[a] + info->upper[a]);
        if (a < 2) size[a] = info->upper[a] - info->lower[a];
    }
    double step = fmax(size[0] / o->size[0], size[1] / o->size[1]) * 1.04;
    if (!(step > 0)) step = 1.0 / o->size[0];
    for (int i = 0; i < 4; i++)
        run->extent[i] = run->origin[i % 2] + middle[i % 2] + (i < 2 ? -0.5 : 0.5) * step * o->size[i % 2];
}

// x to the right and y up.
static void place_view(const sap_cli_options* o, voronoi_run* run) {
    double middle[3] = {0.5, 0.5, 0};
    fit_extent(o, run, middle);
    if (sap_cli_given(o, "extent")) memcpy(run->extent, o->extent, sizeof run->extent);
    const double* extent = run->extent;
    run->grid = (sap_grid){.width = o->size[0], .height = o->size[1]};
    run->grid.origin[0] = extent[0] - run->origin[0];
    run->grid.origin[1] = extent[3] - run->origin[1];
    run->grid.origin[2] = sap_cli_given(o, "slice") ? o->slice - run->origin[2] : middle[2];
    run->grid.right[0] = (extent[2] - extent[0]) / o->size[0];
    run->grid.down[1] = (extent[1] - extent[3]) / o->size[1];
}

static sap_cli_exit search(sap_cli* cli, voronoi_run* run) {
    int64_t pixels = pixel_count(run);
    run->ids = sap_cli_allocate(cli, pixels, sizeof *run->ids);
    run->distance2 = run->ids ? sap_cli_allocate(cli, pixels, sizeof *run->distance2) : NULL;
    run->pixels = run->distance2 ? sap_cli_allocate(cli, pixels, 3) : NULL;
    if (!run->pixels) return SAP_EXIT_FAILED;
    sap_cli_stage_begin(cli, "searching");
    sap_status status = sap_nearest_grid(run->tree, run->grid, &(sap_search){.k = 1}, run->ids, run->distance2);
    run->search_seconds = sap_cli_stage_end(cli);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, NULL);
}

// Says that pixels are white because they are so far from all sites that no float holds the distance.
static void look_for_far_pixels(sap_cli* cli, const voronoi_run* run) {
    int64_t far = 0;
    for (int64_t i = 0; i < pixel_count(run); i++) far += run->ids[i] < 0;
    if (far && run->info.count)
        sap_cli_note(cli,
                     "%lld of %lld pixels are too far from all sites for floats, and white; take a smaller --extent",
                     (long long)far, (long long)pixel_count(run));
}

// The leaves that the walk without a stack looks at from each pixel, asked one by one on a CPU.
static sap_cli_exit count_leaves(sap_cli* cli, voronoi_run* run) {
    const sap_grid* grid = &run->grid;
    sap_device* cpu = NULL;
    sap_tree* tree = NULL;
    run->leaves = sap_cli_allocate(cli, pixel_count(run), sizeof *run->leaves);
    if (!run->leaves) return SAP_EXIT_FAILED;
    sap_status status = sap_device_open(&(sap_device_options){.processor = SAP_CPU}, &cpu);
    if (status == SAP_OK) status = sap_tree_copy(run->tree, cpu, &tree);
    for (int64_t i = 0; status == SAP_OK && i < pixel_count(run); i++) {
        sap_search_stats stats = {0};
        int32_t id;
        int64_t x = i % grid->width, y = i / grid->width;
        float query[3] = {(float)(grid->origin[0] + ((double)x + 0.5) * grid->right[0]),
                          (float)(grid->origin[1] + ((double)y + 0.5) * grid->down[1]), (float)grid->origin[2]};
        status = sap_nearest(tree, (sap_points){query, 1, run->info.dims, 0},
                             &(sap_search){.k = 1, .walk = SAP_WALK_STACKLESS, .stats = &stats}, &id, NULL);
        run->leaves[i] = (int32_t)stats.leaves;
    }
    sap_tree_free(tree);
    sap_device_close(cpu);
    return status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, NULL);
}

static void paint(const sap_cli_options* o, voronoi_run* run) {
    const sap_cli_cells cells = {.width = run->grid.width,
                                 .height = run->grid.height,
                                 .dims = run->info.dims,
                                 .pixel_size = fmax(run->grid.right[0], -run->grid.down[1]),
                                 .ids = run->ids,
                                 .distance2 = run->distance2,
                                 .leaves = run->leaves,
                                 .style = (sap_cli_style)o->style};
    sap_cli_cells_paint(&cells, run->pixels);
}

static sap_cli_exit write_arrays(sap_cli* cli, const voronoi_run* run) {
    const sap_cli_options* o = cli->options;
    sap_table ids = {.values = run->ids, .rows = run->grid.height, .columns = run->grid.width, .number = SAP_INT32};
    sap_table distances = ids;
    distances.values = run->distance2;
    distances.number = SAP_FLOAT32;
    sap_cli_exit result = o->ids ? sap_cli_write(cli, o->ids, &ids, "id") : SAP_EXIT_OK;
    if (result == SAP_EXIT_OK && o->distances) result = sap_cli_write(cli, o->distances, &distances, "distance2_");
    return result;
}

static void report(sap_cli* cli, const voronoi_run* run) {
    const sap_cli_options* o = cli->options;
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "voronoi");
    sap_json_text(&json, "input", o->operands[0]);
    sap_json_text(&json, "output", o->output);
    sap_json_int(&json, "sites", run->info.count);
    sap_json_int(&json, "width", run->grid.width);
    sap_json_int(&json, "height", run->grid.height);
    sap_json_open(&json, "extent", '[');
    for (int i = 0; i < 4; i++) sap_json_real(&json, NULL, run->extent[i], 64);
    sap_json_close(&json, ']');
    if (run->info.dims == 3) sap_json_real(&json, "slice", run->origin[2] + run->grid.origin[2], 64);
    sap_json_effort(&json, cli, run->read_seconds, run->build_seconds, "search", run->search_seconds);
    sap_json_close(&json, '}');
}

static void free_run(voronoi_run* run) {
    free(run->ids);
    free(run->distance2);
    free(run->leaves);
    free(run->pixels);
    sap_tree_free(run->tree);
    sap_cli_points_free(&run->sites);
}

sap_cli_exit sap_cli_voronoi(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    voronoi_run run = {0};
    sap_cli_exit result = check_usage(cli);
    if (result == SAP_EXIT_OK) result = read_sites(cli, &run);
    if (result == SAP_EXIT_OK) place_view(o, &run);
    if (result == SAP_EXIT_OK) result = search(cli, &run);
    if (result == SAP_EXIT_OK) look_for_far_pixels(cli, &run);
    if (result == SAP_EXIT_OK && o->style == SAP_STYLE_DEPTH) result = count_leaves(cli, &run);
    if (result == SAP_EXIT_OK) {
        sap_cli_renumber(&run.sites, run.ids, pixel_count(&run));
        paint(o, &run);
        result = sap_cli_picture_write(cli, o->output, run.pixels, run.grid.width, run.grid.height);
    }
    if (result == SAP_EXIT_OK) result = write_arrays(cli, &run);
    result = sap_cli_together_end(cli, result);
    if (result == SAP_EXIT_OK && o->json) report(cli, &run);
    if (result == SAP_EXIT_OK && strcmp(o->output, "-"))
        sap_cli_note(cli, "%lld sites, %d x %d pixels: %s, searched in %.3g s", (long long)run.info.count,
                     (int)run.grid.width, (int)run.grid.height, o->output, run.search_seconds);
    free_run(&run);
    return result;
}
