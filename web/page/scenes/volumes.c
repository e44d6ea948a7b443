#include "volumes.h"
#include <math.h>
#include <stddef.h>
#include <stdint.h>

static float place_of(int i, int side) { return -1 + 2 * (float)i / (float)(side - 1); }

// The smaller of two, but rounded where they are about equal: a sharp edge would be ragged in a mesh.
static float least_of(float a, float b, float width) {
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
    return least_of(0.55f - fabsf(sheet), 2.5f * ball(at, 0.94f), 0.4f);
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
    return least_of(1.5f * sum - 0.8f, 8 * ball(at, 0.96f), 0.4f);
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
    return least_of(1.5f * (ball(at, 0.62f) + sum), 8 * ball(at, 0.97f), 0.4f);
}

static float sextic(const float place[3]) {
    const float golden = 1.618034f, g2 = golden * golden, scale = 1.75f;
    float at[3] = {scale * place[0], scale * place[1], scale * place[2]}, q[3];
    for (int i = 0; i < 3; i++) q[i] = at[i] * at[i];
    float off = q[0] + q[1] + q[2] - 1;
    float value = 4 * (g2 * q[0] - q[1]) * (g2 * q[1] - q[2]) * (g2 * q[2] - q[0]) - (1 + 2 * golden) * off * off;
    // Squeezed, so that a level means as much far out as near the middle.
    value = value / (0.6f + fabsf(value));
    return least_of(value, 5 * ball(place, 0.95f), 0.4f);
}

// An ellipsoid: its middle across, ahead and up, and its radii.
typedef struct body {
    float at[3], radius[3];
} body;

// About how deep a place is inside.
static float inside_body(const body* b, const float at[3]) {
    float sum = 0;
    for (int a = 0; a < 3; a++) sum += (at[a] - b->at[a]) / b->radius[a] * ((at[a] - b->at[a]) / b->radius[a]);
    return (1 - sqrtf(sum)) * fminf(b->radius[0], fminf(b->radius[1], b->radius[2]));
}

// The right half of a skull that looks along x; the left one is its mirror image.
static float skull(const float place[3]) {
    static const body bones[] = {{{0, -0.12f, 0.26f}, {0.55f, 0.70f, 0.56f}},         // cranium
                                 {{0, 0.32f, -0.22f}, {0.36f, 0.34f, 0.40f}},         // face
                                 {{0.19f, 0.47f, 0.10f}, {0.22f, 0.14f, 0.08f}},      // brow
                                 {{0.31f, 0.42f, -0.19f}, {0.14f, 0.15f, 0.09f}},     // cheekbone
                                 {{0.39f, 0.12f, -0.20f}, {0.07f, 0.34f, 0.055f}},    // its arch
                                 {{0, 0.40f, -0.52f}, {0.235f, 0.25f, 0.20f}},        // teeth
                                 {{0, 0.46f, -0.72f}, {0.26f, 0.24f, 0.13f}},         // chin
                                 {{0.30f, 0.22f, -0.62f}, {0.08f, 0.24f, 0.13f}},     // lower jaw
                                 {{0.34f, 0.04f, -0.44f}, {0.07f, 0.13f, 0.28f}}};    // its branch
    static const body hollows[] = {{{0, -0.14f, 0.28f}, {0.46f, 0.60f, 0.47f}},       // the brain's
                                   {{0.20f, 0.66f, -0.05f}, {0.145f, 0.26f, 0.125f}}, // eye
                                   {{0.05f, 0.68f, -0.30f}, {0.065f, 0.2f, 0.13f}},   // nose
                                   {{0, -0.05f, -0.45f}, {0.24f, 0.40f, 0.26f}},      // throat
                                   {{0, 0.30f, -0.72f}, {0.17f, 0.26f, 0.16f}},       // tongue
                                   {{0.46f, 0.28f, -0.02f}, {0.10f, 0.16f, 0.16f}}};  // temple
    const float larger = 1.08f, at[3] = {larger * fabsf(place[1]), larger * place[0], larger * place[2]};
    float value = -1;
    for (size_t i = 0; i < sizeof bones / sizeof *bones; i++)
        value = -least_of(-value, -inside_body(&bones[i], at), 0.10f);
    for (size_t i = 0; i < sizeof hollows / sizeof *hollows; i++)
        value = least_of(value, -inside_body(&hollows[i], at), 0.05f);
    // Between the rows of teeth, and between one tooth and the next.
    const float off = fabsf(at[2] + 0.565f), row = fmaxf(0, fminf((0.13f - off) * 12, 1)),
                front = fmaxf(0, fminf((at[1] - 0.36f) * 10, 1)), wave = sinf(14 * atan2f(at[0], at[1] - 0.16f)) / 0.3f;
    value = least_of(value, fmaxf(off - 0.016f, 0.2f - at[1]), 0.02f) - 0.035f * row * front * expf(-wave * wave);
    return least_of(4 * value, 8 * ball(place, 0.97f), 0.4f);
}

void page_volume_fill(enum volume_shape shape, int side, float* values) {
    static float (*const shapes[VOLUME_SHAPE_DROPPED])(const float[3]) = {[VOLUME_SHAPE_GYROID] = gyroid,
                                                                          [VOLUME_SHAPE_METABALLS] = metaballs,
                                                                          [VOLUME_SHAPE_ASTEROID] = asteroid,
                                                                          [VOLUME_SHAPE_SEXTIC] = sextic,
                                                                          [VOLUME_SHAPE_SKULL] = skull};
    for (int z = 0; z < side; z++)
        for (int y = 0; y < side; y++)
            for (int x = 0; x < side; x++) {
                float at[3] = {place_of(x, side), place_of(y, side), place_of(z, side)};
                float value = shapes[shape](at);
                *values++ = value / sqrtf(1 + value * value);
            }
}
