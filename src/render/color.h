// Colours: 8-bit sRGB of light, and scales of colours. C and CUDA share this text, and so does the demo.
#ifndef SAPWOOD_RENDER_COLOR_H
#define SAPWOOD_RENDER_COLOR_H

#include "math/dialect.h"
#include "sapwood/render.h"
#include <math.h>

// The cube root of x in 0.1 … 1, by Newton's method.
SAP_FN double sap_cube_root(double x) {
    SAP_ASSERT(x >= 0.1 && x <= 1);
    double root = 0.4 + 0.6 * x;
    for (int i = 0; i < 5; i++) root -= (root - x / (root * root)) / 3;
    return root;
}

// 8-bit sRGB of linear light.
SAP_FN uint8_t sap_srgb(float linear) {
    double x = (double)linear, y;
    if (!(x > 0)) return 0;
    if (x >= 1) return 255;
    if (x <= 0.0031308) {
        y = 12.92 * x;
    } else {
        double twelfth = sap_cube_root(sqrt(sqrt(x))), square = twelfth * twelfth;
        y = 1.055 * (square * square * twelfth) - 0.055; // x to the power of 5/12, which is 1/2.4
    }
    return (uint8_t)(255 * y + 0.5);
}

// Brings light into 0 … 1: `tone` is a sap_tone.
SAP_FN void sap_tone_map(int32_t tone, float linear[3]) {
    if (tone == SAP_TONE_REINHARD) {
        const float luminance = 0.2126f * linear[0] + 0.7152f * linear[1] + 0.0722f * linear[2];
        for (int a = 0; a < 3; a++) linear[a] /= 1 + luminance;
    } else if (tone == SAP_TONE_FILMIC) {
        for (int a = 0; a < 3; a++) {
            const float x = linear[a] < 1e6f ? linear[a] : 1e6f; // squares stay finite
            linear[a] = x * (2.51f * x + 0.03f) / (x * (2.43f * x + 0.59f) + 0.14f);
        }
    }
}

// Linear light of a value 0 … 1 on a scale: `count` colours in Oklab (Ottosson 2020) at even distances, and between
// them what the eye takes for the way from one to the next.
SAP_FN void sap_scale_color(const float (*scale)[3], int count, float value, float linear[3]) {
    SAP_ASSERT(count >= 2);
    const int last = count - 1;
    const float place = value > 0 ? (value < 1 ? value : 1) * (float)last : 0;
    const int below = (int)place < last ? (int)place : last - 1;
    const float part = place - (float)below;
    float lab[3];
    for (int i = 0; i < 3; i++) lab[i] = scale[below][i] + part * (scale[below + 1][i] - scale[below][i]);
    float l = lab[0] + 0.3963377774f * lab[1] + 0.2158037573f * lab[2];
    float m = lab[0] - 0.1055613458f * lab[1] - 0.0638541728f * lab[2];
    float s = lab[0] - 0.0894841775f * lab[1] - 1.2914855480f * lab[2];
    l = l * l * l;
    m = m * m * m;
    s = s * s * s;
    linear[0] = 4.0767416621f * l - 3.3077115913f * m + 0.2309699292f * s;
    linear[1] = -1.2684380046f * l + 2.6097574011f * m - 0.3413193965f * s;
    linear[2] = -0.0041960863f * l - 0.7034186147f * m + 1.7076147010f * s;
}

#endif
