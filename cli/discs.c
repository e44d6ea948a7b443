#include "discs.h"

#include <math.h>
#include <stdlib.h>

enum { FINER = 2 };

// A camera as it draws: axes of length 1, and how many quarter pixels a slope of 1 is.
typedef struct view {
    double eye[3], forward[3], right[3], above[3], slope;
} view;

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void cross(const double a[3], const double b[3], double out[3]) {
    for (int i = 0; i < 3; i++) out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static bool make_unit(double v[3]) {
    const double length = sqrt(dot(v, v));
    for (int i = 0; i < 3 && length > 0; i++) v[i] /= length;
    return length > 0;
}

static void aim(const sap_camera* camera, int64_t height, view* v) {
    const double half_turn = 3.141592653589793, straight = 1e-6;
    double up[3];
    for (int a = 0; a < 3; a++) {
        v->eye[a] = (double)camera->eye[a];
        v->forward[a] = (double)camera->at[a] - v->eye[a];
        up[a] = (double)camera->up[a];
    }
    make_unit(v->forward);
    make_unit(up);
    cross(v->forward, up, v->right);
    if (sqrt(dot(v->right, v->right)) < straight) { // looking along the upward axis: any way will do
        const double other[3] = {fabs(up[0]) > 0.5 ? 0 : 1, fabs(up[0]) > 0.5 ? 1 : 0, 0};
        cross(v->forward, other, v->right);
    }
    make_unit(v->right);
    cross(v->right, v->forward, v->above);
    // Rounded to a float, in which mathematical libraries agree.
    v->slope = (double)height / 2 / (double)(float)tan((double)camera->fov * half_turn / 360);
}

// The quarter pixels of a row or a column that a disc may reach.
static void reach(double middle, double radius, int64_t size, int64_t* first, int64_t* last) {
    const double low = ceil(middle - radius - 0.5), high = floor(middle + radius - 0.5);
    *first = low > 0 ? (low < (double)size ? (int64_t)low : size) : 0;
    *last = high < (double)(size - 1) ? (high >= 0 ? (int64_t)high : -1) : size - 1;
}

// A disc bulges a little towards the camera, so that neighbours meet halfway.
static void draw_disc(sap_cli_discs* d, int32_t id, double x, double y, double depth, double radius) {
    const int64_t width = (int64_t)d->width * FINER, height = (int64_t)d->height * FINER;
    int64_t left, right, top, bottom;
    reach(x, radius, width, &left, &right);
    reach(y, radius, height, &top, &bottom);
    for (int64_t row = top; row <= bottom; row++)
        for (int64_t column = left; column <= right; column++) {
            const double across = (double)column + 0.5 - x, down = (double)row + 0.5 - y;
            const double part = (across * across + down * down) / (radius * radius);
            const int64_t at = row * width + column;
            const float there = (float)(depth + d->radius * part);
            if (part > 1 || there >= d->depths[at]) continue; // of equal ones the first point stays
            d->depths[at] = there;
            d->ids[at] = id;
        }
}

static void draw_point(sap_cli_discs* d, const view* v, int32_t id) {
    const double least = 0.75, most = (double)d->height * FINER / 8;
    double from[3];
    for (int a = 0; a < 3; a++) from[a] = (double)d->places[3 * (int64_t)id + a] - v->eye[a];
    const double depth = dot(from, v->forward);
    if (!(depth > 0) || !isfinite(depth)) return; // behind the camera, or no point
    const double scale = v->slope / depth, x = (double)d->width * FINER / 2 + dot(from, v->right) * scale;
    const double y = (double)d->height * FINER / 2 - dot(from, v->above) * scale;
    if (isfinite(x) && isfinite(y)) draw_disc(d, id, x, y, depth, fmin(fmax(d->radius * scale, least), most));
}

sap_cli_exit sap_cli_discs_draw(sap_cli* cli, const sap_camera* camera, sap_cli_discs* discs) {
    const int64_t steps = 1 << 16, pixels = (int64_t)discs->width * discs->height * FINER * FINER;
    view v;
    discs->depths = sap_cli_allocate(cli, pixels, sizeof *discs->depths);
    discs->ids = sap_cli_allocate(cli, pixels, sizeof *discs->ids);
    if (!discs->depths || !discs->ids) return SAP_EXIT_FAILED;
    for (int64_t i = 0; i < pixels; i++) {
        discs->depths[i] = INFINITY;
        discs->ids[i] = -1;
    }
    aim(camera, (int64_t)discs->height * FINER, &v);
    for (int64_t i = 0; i < discs->count; i++) {
        draw_point(discs, &v, (int32_t)i);
        if (i % steps == 0) sap_cli_stage_report(cli, (double)i / (double)discs->count);
    }
    return SAP_EXIT_OK;
}

void sap_cli_discs_free(sap_cli_discs* discs) {
    free(discs->depths);
    free(discs->ids);
}

// Depths around are compared: what lies behind its surroundings is darker, the further the darker, up to a step that a
// silhouette may be.
double sap_cli_discs_light(const sap_cli_discs* discs, int64_t x, int64_t y) {
    const double strength = 14, most = 0.02;
    const int64_t width = (int64_t)discs->width * FINER, height = (int64_t)discs->height * FINER;
    const int64_t step = height / 300 > 1 ? height / 300 : 1;
    const double depth = (double)discs->depths[y * width + x];
    double sum = 0;
    for (int64_t j = -step; j <= step; j += step)
        for (int64_t i = -step; i <= step; i += step) {
            if (x + i < 0 || x + i >= width || y + j < 0 || y + j >= height) continue;
            const double behind = (depth - (double)discs->depths[(y + j) * width + x + i]) / discs->extent;
            if (behind > 0) sum += behind < most ? behind : most;
        }
    return 1 / (1 + strength * sum);
}
