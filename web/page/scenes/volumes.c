#include "volumes.h"
#include <math.h>
#include <stdint.h>

static float place_of(int i, int side) { return -1 + 2 * (float)i / (float)(side - 1); }

// The smaller of two, but rounded where they are about equal: a sharp edge would be ragged in a mesh.
static float least_of(float a, float b) {
    const float width = 0.4f;
    float near = fmaxf(width - fabsf(a - b), 0) / width;
    return (a < b ? a : b) - near * near * width * 0.25f;
}

// How deep a place is inside a ball about the middle.
static float ball(const float at[3], float radius) {
    return radius - sqrtf(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]);
}

static float gyroid(const float at[3]) {
    const float waves = 7.6f;
    float s[3], c[3];
    for (int i = 0; i < 3; i++) {
        s[i] = sinf(waves * at[i]);
        c[i] = cosf(waves * at[i]);
    }
    float sheet = s[0] * c[1] + s[1] * c[2] + s[2] * c[0];
    return least_of(0.55f - fabsf(sheet), 2.5f * ball(at, 0.94f));
}

static float metaballs(const float at[3]) {
    static const float balls[9][4] = {
        {0.05f, 0.02f, 0.00f, 0.34f},   {0.42f, 0.22f, -0.10f, 0.24f},   {-0.38f, 0.30f, 0.18f, 0.26f},
        {0.12f, -0.46f, 0.20f, 0.25f},  {-0.30f, -0.34f, -0.32f, 0.22f}, {0.30f, -0.12f, 0.48f, 0.20f},
        {-0.08f, 0.52f, -0.36f, 0.19f}, {0.52f, -0.38f, -0.34f, 0.17f},  {-0.56f, -0.06f, 0.44f, 0.16f}};
    float sum = 0;
    for (int i = 0; i < 9; i++) {
        float d2 = 0;
        for (int a = 0; a < 3; a++) d2 += (at[a] - balls[i][a]) * (at[a] - balls[i][a]);
        sum += expf(-d2 / (balls[i][3] * balls[i][3]) * 1.05f);
    }
    return least_of(1.5f * sum - 0.8f, 8 * ball(at, 0.96f));
}

static float noise_at(int32_t x, int32_t y, int32_t z) {
    uint32_t h = (uint32_t)x * 0x8da6b343u ^ (uint32_t)y * 0xd8163841u ^ (uint32_t)z * 0xcb1ab31fu;
    h = (h ^ (h >> 15)) * 0x2c1b3c6du;
    h = (h ^ (h >> 12)) * 0x297a2d39u;
    return (float)((h ^ (h >> 15)) >> 8) * 0x1p-23f - 1;
}

// Values at lattice places, blended between them without a kink.
static float noise(const float at[3], float scale) {
    int32_t low[3];
    float t[3];
    for (int i = 0; i < 3; i++) {
        float place = at[i] * scale + 64;
        low[i] = (int32_t)floorf(place);
        t[i] = place - (float)low[i];
        t[i] = t[i] * t[i] * t[i] * (t[i] * (t[i] * 6 - 15) + 10);
    }
    float sum = 0;
    for (int corner = 0; corner < 8; corner++) {
        float weight = 1;
        for (int i = 0; i < 3; i++) weight *= corner >> i & 1 ? t[i] : 1 - t[i];
        sum += weight * noise_at(low[0] + (corner & 1), low[1] + (corner >> 1 & 1), low[2] + (corner >> 2));
    }
    return sum;
}

static float asteroid(const float at[3]) {
    float sum = 0, scale = 2.1f, height = 0.36f;
    for (int octave = 0; octave < 4; octave++, scale *= 2.03f, height *= 0.5f) sum += height * noise(at, scale);
    return least_of(1.5f * (ball(at, 0.62f) + sum), 8 * ball(at, 0.97f));
}

static float sextic(const float place[3]) {
    const float golden = 1.618034f, g2 = golden * golden, scale = 1.75f;
    float at[3] = {scale * place[0], scale * place[1], scale * place[2]}, q[3];
    for (int i = 0; i < 3; i++) q[i] = at[i] * at[i];
    float off = q[0] + q[1] + q[2] - 1;
    float value = 4 * (g2 * q[0] - q[1]) * (g2 * q[1] - q[2]) * (g2 * q[2] - q[0]) - (1 + 2 * golden) * off * off;
    // Squeezed, so that a level means as much far out as near the middle.
    value = value / (0.6f + fabsf(value));
    return least_of(value, 5 * ball(place, 0.95f));
}

void page_volume_fill(enum volume_shape shape, int side, float* values) {
    static float (*const shapes[VOLUME_SHAPE_DROPPED])(const float[3]) = {[VOLUME_SHAPE_GYROID] = gyroid,
                                                                          [VOLUME_SHAPE_METABALLS] = metaballs,
                                                                          [VOLUME_SHAPE_ASTEROID] = asteroid,
                                                                          [VOLUME_SHAPE_SEXTIC] = sextic};
    for (int z = 0; z < side; z++)
        for (int y = 0; y < side; y++)
            for (int x = 0; x < side; x++) {
                float at[3] = {place_of(x, side), place_of(y, side), place_of(z, side)};
                float value = shapes[shape](at);
                *values++ = value / sqrtf(1 + value * value);
            }
}
