// sapwood picture: points drawn as discs.
#include "discs.h"
#include "file.h"
#include "shades.h"
#include "verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct picture_run {
    sap_cli_points points;
    double origin[3];
    float* places; // less the origin
    float lower[3], upper[3], up[3];
    sap_cli_shades shades;
    sap_cli_discs discs;
    uint8_t* pixels;
    double read_seconds, build_seconds, draw_seconds;
} picture_run;

static sap_cli_exit check_usage(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    const sap_cli_output output = {"-o", o->output};
    if (o->point_size == 0) return sap_cli_usage(cli, "--point-size must be above 0");
    for (int c = 0; c < 3; c++)
        if (sap_cli_given(o, "background") && !(o->background[c] >= 0 && o->background[c] <= 1))
            return sap_cli_usage(cli, "--background takes numbers from 0 to 1");
    sap_cli_exit result = sap_cli_picture_check(cli, o->output);
    if (result == SAP_EXIT_OK) result = sap_cli_check_distinct(cli, &output, 1);
    return result == SAP_EXIT_OK ? sap_cli_check_writable(cli, &output, 1) : result;
}

// Places are relative to the middle of the bounds, so that floats keep what lies far from 0.
static sap_cli_exit read_points(sap_cli* cli, picture_run* run) {
    const sap_cli_options* o = cli->options;
    sap_cli_points* points = &run->points;
    const double start = sap_cli_seconds();
    double lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
    if (sap_cli_points_read(cli, o->operands[0], 0, points) != SAP_EXIT_OK) return SAP_EXIT_FAILED;
    run->read_seconds = sap_cli_seconds() - start;
    if (points->dims != 3)
        return sap_cli_error(cli, "%s: points have %d coordinates, but a picture needs three%s", o->operands[0],
                             (int)points->dims, points->dims > 3 ? " (--columns 1,2,3)" : "");
    sap_cli_points_bounds(points, lower, upper);
    run->places = sap_cli_allocate(cli, points->count, 3 * sizeof(float));
    if (!run->places) return SAP_EXIT_FAILED;
    for (int a = 0; a < 3; a++) {
        const bool any = lower[a] <= upper[a];
        run->origin[a] = any ? lower[a] / 2 + upper[a] / 2 : 0;
        run->lower[a] = (float)(lower[a] - run->origin[a]);
        run->upper[a] = (float)(upper[a] - run->origin[a]);
        run->up[a] = sap_cli_given(o, "up") ? o->up[a] : a == 2 ? 1.0f : 0.0f;
    }
    for (int64_t i = 0; i < 3 * points->count; i++)
        run->places[i] = (float)(sap_cli_number_at(points, i) - run->origin[i % 3]);
    return SAP_EXIT_OK;
}

static int ascending(const void* a, const void* b) {
    const float left = *(const float*)a, right = *(const float*)b;
    return (left > right) - (left < right);
}

// The middle one of the distances from a sample of the points to the fourth other point.
static sap_cli_exit find_spacing(sap_cli* cli, const picture_run* run, const sap_tree* tree, double* spacing) {
    enum { OTHERS = 4, SAMPLE = 1 << 15 };
    const int64_t n = run->points.count, step = n / SAMPLE + 1, count = (n + step - 1) / step;
    const size_t row = OTHERS + 1;
    float* queries = sap_cli_allocate(cli, count, 3 * sizeof(float));
    int32_t* ids = sap_cli_allocate(cli, count, row * sizeof *ids);
    float* distances = sap_cli_allocate(cli, count, row * sizeof *distances);
    sap_cli_exit result = queries && ids && distances ? SAP_EXIT_OK : SAP_EXIT_FAILED;
    if (result == SAP_EXIT_OK) {
        for (int64_t i = 0; i < count; i++) memcpy(queries + 3 * i, run->places + 3 * i * step, 3 * sizeof(float));
        const sap_search search = {.k = OTHERS + 1};
        const sap_status status = sap_nearest(tree, (sap_points){queries, count, 3, 0}, &search, ids, distances);
        result = status == SAP_OK ? SAP_EXIT_OK : sap_cli_failed(cli, status, NULL);
    }
    int64_t found = 0;
    for (int64_t i = 0; result == SAP_EXIT_OK && i < count; i++) {
        const float distance2 = distances[i * OTHERS + i + OTHERS];
        if (isfinite(distance2)) distances[found++] = distance2;
    }
    if (found) qsort(distances, (size_t)found, sizeof *distances, ascending);
    *spacing = found ? sqrt((double)distances[found / 2]) : 0;
    free(queries);
    free(ids);
    free(distances);
    return result;
}

// How wide discs have to be for those of neighbours to overlap.
static sap_cli_exit choose_radius(sap_cli* cli, picture_run* run) {
    const double part = 0.75, of_few = 0.01;
    const double start = sap_cli_seconds();
    double extent2 = 0, spacing = 0;
    for (int a = 0; a < 3 && run->lower[a] <= run->upper[a]; a++) {
        const double side = (double)run->upper[a] - (double)run->lower[a];
        extent2 += side * side;
    }
    run->discs.extent = extent2 > 0 ? sqrt(extent2) : 1;
    run->discs.radius = fmax(cli->options->point_size, 0) / 2;
    if (run->discs.radius > 0) return SAP_EXIT_OK;
    sap_tree* tree = NULL;
    const sap_tree_options options = {.drop_nonfinite = true};
    sap_cli_stage_begin(cli, "building");
    const sap_status status =
        sap_tree_build(cli->device, (sap_points){run->places, run->points.count, 3, 0}, &options, &tree);
    sap_cli_stage_end(cli);
    if (status != SAP_OK) return sap_cli_failed(cli, status, NULL);
    const sap_cli_exit result = find_spacing(cli, run, tree, &spacing);
    sap_tree_free(tree);
    run->discs.radius = spacing > 0 ? part * spacing : of_few * run->discs.extent;
    run->build_seconds = sap_cli_seconds() - start;
    return result;
}

// A pixel is the mean of four.
static void mix_pixel(const picture_run* run, const double background[3], int64_t x, int64_t y, uint8_t pixel[3]) {
    const sap_cli_discs* d = &run->discs;
    double sums[3] = {0};
    for (int quarter = 0; quarter < 4; quarter++) {
        const int64_t column = 2 * x + (quarter & 1), row = 2 * y + (quarter >> 1);
        const int32_t id = d->ids[row * 2 * d->width + column];
        double color[3] = {background[0], background[1], background[2]}, light = 1;
        if (id >= 0) {
            sap_cli_shade(&run->shades, id, color);
            light = sap_cli_discs_light(d, column, row);
        }
        for (int c = 0; c < 3; c++) sums[c] += color[c] * light;
    }
    for (int c = 0; c < 3; c++) pixel[c] = (uint8_t)floor(sums[c] / 4 + 0.5);
}

static sap_cli_exit draw(sap_cli* cli, picture_run* run) {
    const sap_cli_options* o = cli->options;
    double background[3];
    float middle[3];
    sap_camera camera = {.fov = 0};
    for (int c = 0; c < 3; c++) background[c] = sap_cli_given(o, "background") ? (double)o->background[c] * 255 : 255;
    sap_cli_exit result = sap_cli_camera_place(cli, run->lower, run->upper, run->origin, run->up, &camera, middle);
    if (result != SAP_EXIT_OK) return result;
    const double start = sap_cli_seconds();
    run->discs.places = run->places;
    run->discs.count = run->points.count;
    run->discs.width = o->size[0];
    run->discs.height = o->size[1];
    run->pixels = sap_cli_allocate(cli, (int64_t)o->size[0] * o->size[1], 3);
    if (!run->pixels) return SAP_EXIT_FAILED;
    sap_cli_stage_begin(cli, "drawing");
    result = sap_cli_discs_draw(cli, &camera, &run->discs);
    for (int64_t y = 0; result == SAP_EXIT_OK && y < o->size[1]; y++)
        for (int64_t x = 0; x < o->size[0]; x++)
            mix_pixel(run, background, x, y, run->pixels + 3 * (y * o->size[0] + x));
    sap_cli_stage_end(cli);
    run->draw_seconds = sap_cli_seconds() - start;
    return result;
}

static void report(sap_cli* cli, const picture_run* run) {
    sap_json json = {0};
    sap_json_open(&json, NULL, '{');
    sap_json_text(&json, "verb", "picture");
    sap_json_text(&json, "input", cli->options->operands[0]);
    sap_json_text(&json, "output", cli->options->output);
    sap_json_int(&json, "points", run->points.count);
    sap_json_text(&json, "color", run->shades.name);
    sap_json_real(&json, "point_size", 2 * run->discs.radius, 32);
    sap_json_int(&json, "width", cli->options->size[0]);
    sap_json_int(&json, "height", cli->options->size[1]);
    sap_json_effort(&json, cli, run->read_seconds, run->build_seconds, "render", run->draw_seconds);
    sap_json_close(&json, '}');
}

sap_cli_exit sap_cli_portray(sap_cli* cli) {
    const sap_cli_options* o = cli->options;
    picture_run run = {.read_seconds = 0};
    sap_cli_exit result = check_usage(cli);
    if (result == SAP_EXIT_OK) result = read_points(cli, &run);
    if (result == SAP_EXIT_OK) result = sap_cli_shades_choose(cli, &run.points, run.places, run.up, &run.shades);
    if (result == SAP_EXIT_OK) result = choose_radius(cli, &run);
    if (result == SAP_EXIT_OK) result = draw(cli, &run);
    if (result == SAP_EXIT_OK) result = sap_cli_picture_write(cli, o->output, run.pixels, o->size[0], o->size[1]);
    if (result == SAP_EXIT_OK && o->json) report(cli, &run);
    if (result == SAP_EXIT_OK && strcmp(o->output, "-") != 0)
        sap_cli_note(cli, "%lld points, coloured by %s, drawn in %.3g s: %s", (long long)run.points.count,
                     run.shades.name, run.draw_seconds, o->output);
    sap_cli_discs_free(&run.discs);
    free(run.shades.values);
    free(run.pixels);
    free(run.places);
    sap_cli_points_free(&run.points);
    return result;
}
