// Where paths begin and where they end: rays from the camera, and the light of pixels.
#ifndef SAPWOOD_RENDER_PIXEL_H
#define SAPWOOD_RENDER_PIXEL_H

#include "render/color.h"
#include "render/scene_data.h"

// The path of a slot of a tile, and its ray.
SAP_FN sap_path sap_path_begin(const sap_scene_data* scene, const sap_tile* tile, int32_t slot, sap_ray* ray) {
    const sap_lens* lens = &scene->lens;
    SAP_ASSERT(slot >= 0 && slot / tile->samples < tile->width * tile->height);
    int32_t pixel = slot / tile->samples, x = tile->x + pixel % tile->width, y = tile->y + pixel / tile->width;
    sap_path path;
    path.weight = sap_vector_make(1, 1, 1);
    path.slot = slot;
    path.pixel = sap_hash((uint32_t)x ^ sap_hash((uint32_t)y));
    path.sample = (uint32_t)(tile->first + slot % tile->samples);
    path.scattered = SAP_NOT_SCATTERED;
    path.density = 0;
    sap_pair at = sap_sample(path.pixel, path.sample, 0);
    double across = 2 * ((double)x + (double)at.x) / scene->width - 1;
    double up = 1 - 2 * ((double)y + (double)at.y) / scene->height;
    sap_vector d = sap_plus(sap_times(lens->right, (float)across), sap_times(lens->up, (float)up));
    *ray = sap_ray_make(lens->eye, sap_plus(d, lens->forward), INFINITY);
    return path;
}

// Adds the light of a pixel's samples to its light[3], in their order.
SAP_FN void sap_pixel_add(const sap_scene_data* scene, const sap_vector* found, int32_t samples, float* light) {
    const float brightest = 32; // no single sample may outshine its pixel for good
    for (int32_t s = 0; s < samples; s++) {
        float parts[3] = {found[s].x, found[s].y, found[s].z};
        for (int a = 0; a < 3; a++) {
            if (!scene->heat && parts[a] > brightest) parts[a] = brightest;
            if (parts[a] > 0) light[a] += parts[a];
        }
    }
}

// Where in the picture a pixel of a tile is.
SAP_FN int64_t sap_pixel_place(const sap_scene_data* scene, const sap_tile* tile, int32_t pixel) {
    SAP_ASSERT(pixel >= 0 && pixel < tile->width * tile->height);
    return (int64_t)(tile->y + pixel / tile->width) * scene->width + tile->x + pixel % tile->width;
}

// What the summed light of all samples is multiplied by.
SAP_FN float sap_pixel_factor(const sap_scene_data* scene) { return scene->exposure / (float)scene->samples; }

// The colour of the summed light of all samples.
SAP_FN void sap_pixel_develop(const sap_scene_data* scene, const float* light, uint8_t* rgb) {
    const float factor = sap_pixel_factor(scene);
    float seen[3];
    for (int a = 0; a < 3; a++) seen[a] = light[a] * factor;
    sap_tone_map(scene->tone, seen);
    for (int a = 0; a < 3; a++) rgb[a] = sap_srgb(seen[a]);
}

// The same of counts, which light[0] sums: a scale of steadily growing lightness from blue black by purple and orange
// to pale yellow. `full` is drawn brightest.
SAP_FN void sap_pixel_heat(const sap_scene_data* scene, const float* light, float full, uint8_t* rgb) {
    const float scale[][3] = {{0.14f, 0.000f, -0.045f}, {0.30f, 0.030f, -0.120f}, {0.44f, 0.110f, -0.110f},
                              {0.58f, 0.160f, -0.010f}, {0.70f, 0.130f, 0.090f},  {0.82f, 0.050f, 0.140f},
                              {0.96f, -0.015f, 0.100f}};
    float linear[3];
    sap_scale_color(scale, (int)(sizeof scale / sizeof scale[0]), light[0] / (float)scene->samples / full, linear);
    for (int a = 0; a < 3; a++) rgb[a] = sap_srgb(linear[a]);
}

#endif
