// Light becomes pixels.
#include "render/color.h"
#include "render/picture.h"

// A scale of steadily growing lightness from blue black by purple and orange to pale yellow.
static void heat_color(float value, uint8_t rgb[3]) {
    static const float scale[][3] = {{0.14f, 0.000f, -0.045f}, {0.30f, 0.030f, -0.120f}, {0.44f, 0.110f, -0.110f},
                                     {0.58f, 0.160f, -0.010f}, {0.70f, 0.130f, 0.090f},  {0.82f, 0.050f, 0.140f},
                                     {0.96f, -0.015f, 0.100f}};
    float linear[3];
    sap_scale_color(scale, sizeof scale / sizeof scale[0], value, linear);
    for (int i = 0; i < 3; i++) rgb[i] = sap_srgb(linear[i]);
}

void sap_develop(const sap_picture* picture, const float* light, uint8_t* pixels) {
    const sap_render_options* o = &picture->options;
    int64_t count = (int64_t)o->width * o->height;
    float factor = o->exposure / (float)o->samples;
#pragma omp parallel for schedule(static) num_threads(picture->threads)
    for (int64_t i = 0; i < 3 * count; i++) pixels[i] = sap_srgb(light[i] * factor);
}

float sap_develop_heat(const sap_picture* picture, const float* light, uint8_t* pixels) {
    const sap_render_options* o = &picture->options;
    int64_t count = (int64_t)o->width * o->height;
    float most = 0;
    for (int64_t i = 0; i < count; i++)
        if (light[3 * i] > most) most = light[3 * i];
    most /= (float)o->samples;
    float full = o->hottest > 0 ? o->hottest : most > 0 ? most : 1;
#pragma omp parallel for schedule(static) num_threads(picture->threads)
    for (int64_t i = 0; i < count; i++) heat_color(light[3 * i] / (float)o->samples / full, pixels + 3 * i);
    return most;
}
