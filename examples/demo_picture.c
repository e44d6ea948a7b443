#include "demo_picture.h"
#include "render/color.h"

#include <float.h>
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUPERSAMPLE = 2, MARGIN = 40 };

static const double DEGREE = 0.017453292519943295;
static const float BACKGROUND[3] = {0.0022f, 0.0030f, 0.0052f}; // linear light

// What lies in front at each fine pixel.
typedef struct canvas {
    int width, height;
    float* nearness; // fine pixels before the farthest point, from 1 on; 0: nothing is there
    float* value;    // 0 … 1, to be coloured
} canvas;

typedef struct camera {
    double right[3], up[3], towards[3]; // unit vectors; towards points away from the viewer
    double low[2], high[2], farthest;   // of the cloud as seen, in its own units
    double pixels;                      // a unit
} camera;

static double coordinate(const picture* p, const float* points, int64_t point, int axis) {
    return axis < p->dims ? (double)points[point * p->dims + axis] : 0;
}

static double along(const picture* p, const float* points, int64_t point, const double direction[3]) {
    double sum = 0;
    for (int a = 0; a < 3; a++) sum += coordinate(p, points, point, a) * direction[a];
    return sum;
}

static int ascending(const void* a, const void* b) {
    float x = *(const float*)a, y = *(const float*)b;
    return (x > y) - (x < y);
}

// The values below which the given shares of `values` lie, from a sample.
static bool quantiles(const float* values, int64_t count, const double shares[2], float found[2]) {
    enum { SAMPLE = 100000 };
    int64_t step = count / SAMPLE + 1, taken = 0;
    float* sample = malloc((size_t)(count / step + 1) * sizeof *sample);
    if (!sample) return false;
    for (int64_t i = 0; i < count; i += step) sample[taken++] = values[i];
    qsort(sample, (size_t)taken, sizeof *sample, ascending);
    for (int i = 0; i < 2; i++) found[i] = taken > 0 ? sample[(int64_t)((double)(taken - 1) * shares[i])] : 0;
    free(sample);
    return true;
}

bool picture_choose_scale(picture* p) { return quantiles(p->distances, p->count, (double[]){0.02, 0.98}, p->scale); }

void picture_choose_view(picture* p) {
    double low[3] = {DBL_MAX, DBL_MAX, DBL_MAX}, high[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX};
    for (int64_t i = 0; i < p->count; i++) {
        for (int a = 0; a < 3; a++) {
            low[a] = fmin(low[a], coordinate(p, p->points, i, a));
            high[a] = fmax(high[a], coordinate(p, p->points, i, a));
        }
    }
    double floor = fmax(high[0] - low[0], high[1] - low[1]), height = high[2] - low[2];
    p->azimuth = 35;
    p->tilt = p->dims < 3 ? 90 : height < 0.5 * floor ? 50 : 12;
    if (p->dims < 3) p->azimuth = 0;
}

static void aim(const picture* p, camera* c) {
    const float* framed = p->framed ? p->framed : p->points;
    double sa = sin(p->azimuth * DEGREE), ca = cos(p->azimuth * DEGREE);
    double st = sin(p->tilt * DEGREE), ct = cos(p->tilt * DEGREE);
    *c = (camera){.right = {ca, sa, 0},
                  .up = {-sa * st, ca * st, ct},
                  .towards = {-sa * ct, ca * ct, -st},
                  .low = {DBL_MAX, DBL_MAX},
                  .high = {-DBL_MAX, -DBL_MAX},
                  .farthest = -DBL_MAX};
    for (int64_t i = 0; i < p->count; i++) {
        const double at[2] = {along(p, framed, i, c->right), along(p, framed, i, c->up)};
        c->farthest = fmax(c->farthest, along(p, framed, i, c->towards));
        for (int a = 0; a < 2; a++) {
            c->low[a] = fmin(c->low[a], at[a]);
            c->high[a] = fmax(c->high[a], at[a]);
        }
    }
    if (p->count == 0) c->low[0] = c->low[1] = c->high[0] = c->high[1] = 0;
    double width = c->high[0] - c->low[0], height = c->high[1] - c->low[1];
    // The picture is as high as the cloud asks for, within limits.
    width = fmax(width, fmax(height / 1.25, FLT_MIN));
    double centre = 0.5 * (c->low[0] + c->high[0]);
    c->low[0] = centre - 0.5 * width;
    c->high[0] = centre + 0.5 * width;
    c->pixels = SUPERSAMPLE * (p->width - 2 * MARGIN) / width;
}

// A disc that faces the viewer; nearer ones hide farther ones.
static void draw_disc(canvas* c, double x, double y, double radius, float nearness, float value) {
    int x0 = (int)ceil(x - radius), x1 = (int)floor(x + radius);
    int y0 = (int)ceil(y - radius), y1 = (int)floor(y + radius);
    x0 = x0 < 0 ? 0 : x0;
    y0 = y0 < 0 ? 0 : y0;
    x1 = x1 >= c->width ? c->width - 1 : x1;
    y1 = y1 >= c->height ? c->height - 1 : y1;
    for (int row = y0; row <= y1; row++) {
        for (int column = x0; column <= x1; column++) {
            double dx = column - x, dy = row - y;
            size_t at = (size_t)row * (size_t)c->width + (size_t)column;
            if (dx * dx + dy * dy > radius * radius || nearness <= c->nearness[at]) continue;
            c->nearness[at] = nearness;
            c->value[at] = value;
        }
    }
}

static void draw_points(const picture* p, const camera* view, canvas* c) {
    const double least = FLT_MIN, most = p->scale[1], low = log(fmax((double)p->scale[0], least)),
                 high = log(fmax(most, least));
    for (int64_t i = 0; i < p->count; i++) {
        double distance = fmin((double)p->distances[i], most);
        double value = high > low ? (log(fmax(distance, least)) - low) / (high - low) : 0.5;
        // Sixteen neighbours on a surface leave gaps of less than half their distance; discs close them.
        double radius = fmin(fmax(0.36 * distance * view->pixels, 0.9), 7 * SUPERSAMPLE);
        double x = MARGIN * SUPERSAMPLE + (along(p, p->points, i, view->right) - view->low[0]) * view->pixels;
        double y = MARGIN * SUPERSAMPLE + (view->high[1] - along(p, p->points, i, view->up)) * view->pixels;
        const double before = (view->farthest - along(p, p->points, i, view->towards)) * view->pixels;
        draw_disc(c, x, y, radius, (float)(1 + fmax(before, 0)), (float)fmin(fmax(value, 0), 1));
    }
}

// Light that reaches a pixel: less where its surroundings stand before it (eye-dome lighting, Boucheny 2009).
static float light_at(const canvas* c, int column, int row) {
    static const int steps[8][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
    float here = c->nearness[(size_t)row * (size_t)c->width + (size_t)column], hidden = 0;
    for (int reach = 3; reach <= 12; reach *= 2) {
        for (int i = 0; i < 8; i++) {
            int x = column + reach * steps[i][0], y = row + reach * steps[i][1];
            if (x < 0 || y < 0 || x >= c->width || y >= c->height) continue;
            float there = c->nearness[(size_t)y * (size_t)c->width + (size_t)x];
            if (there > here) hidden += fminf((there - here) / (float)(4 * reach), 2);
        }
    }
    return expf(-0.11f * hidden);
}

// A scale of even steps to the eye: lightness rises steadily in Oklab from deep blue over red to straw.
static void colour_of(float value, float linear[3]) {
    static const float scale[][3] = {{0.30f, 0.005f, -0.115f},
                                     {0.46f, 0.105f, -0.085f},
                                     {0.60f, 0.165f, 0.045f},
                                     {0.76f, 0.075f, 0.135f},
                                     {0.95f, -0.015f, 0.100f}};
    sap_scale_color(scale, sizeof scale / sizeof scale[0], value, linear);
}

static void shade_row(const canvas* c, int row, int width, png_byte* pixels) {
    for (int column = 0; column < width; column++) {
        float sum[3] = {0, 0, 0};
        for (int i = 0; i < SUPERSAMPLE * SUPERSAMPLE; i++) {
            int x = column * SUPERSAMPLE + i % SUPERSAMPLE, y = row * SUPERSAMPLE + i / SUPERSAMPLE;
            size_t at = (size_t)y * (size_t)c->width + (size_t)x;
            float colour[3], light = 1;
            memcpy(colour, BACKGROUND, sizeof colour);
            if (c->nearness[at] > 0) {
                colour_of(c->value[at], colour);
                light = light_at(c, x, y);
            }
            for (int a = 0; a < 3; a++) sum[a] += light * fmaxf(colour[a], 0);
        }
        for (int a = 0; a < 3; a++) pixels[3 * column + a] = sap_srgb(sum[a] / (SUPERSAMPLE * SUPERSAMPLE));
    }
}

static bool write_png(const canvas* c, const char* path) {
    int width = c->width / SUPERSAMPLE, height = c->height / SUPERSAMPLE;
    png_image image = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_RGB};
    image.width = (png_uint_32)width;
    image.height = (png_uint_32)height;
    png_byte* pixels = malloc((size_t)width * (size_t)height * 3);
    if (!pixels) return false;
    for (int row = 0; row < height; row++) shade_row(c, row, width, pixels + (size_t)row * (size_t)width * 3);
    bool written = png_image_write_to_file(&image, path, 0, pixels, 0, NULL) != 0;
    free(pixels);
    return written;
}

bool picture_write(const picture* p, const char* path) {
    camera view;
    aim(p, &view);
    canvas c = {.width = p->width * SUPERSAMPLE};
    c.height = SUPERSAMPLE * (2 * MARGIN + (int)ceil((view.high[1] - view.low[1]) * view.pixels / SUPERSAMPLE));
    size_t pixels = (size_t)c.width * (size_t)c.height;
    c.nearness = calloc(pixels, sizeof(float));
    c.value = calloc(pixels, sizeof(float));
    const bool has_memory = c.nearness && c.value;
    if (has_memory) draw_points(p, &view, &c);
    const bool written = has_memory && write_png(&c, path);
    free(c.nearness);
    free(c.value);
    return written;
}
