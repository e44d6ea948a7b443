// Colours as pixels hold them.
#include "render/picture.h"

// The cube root of x in 0.1 … 1, by Newton's method.
static double cube_root(double x) {
    double root = 0.4 + 0.6 * x;
    for (int i = 0; i < 5; i++) root -= (root - x / (root * root)) / 3;
    return root;
}

uint8_t sap_srgb(float linear) {
    double x = (double)linear, y;
    if (!(x > 0)) return 0;
    if (x >= 1) return 255;
    if (x <= 0.0031308) {
        y = 12.92 * x;
    } else {
        double twelfth = cube_root(sqrt(sqrt(x))), square = twelfth * twelfth;
        y = 1.055 * (square * square * twelfth) - 0.055; // x to the power of 5/12, which is 1/2.4
    }
    return (uint8_t)(255 * y + 0.5);
}

// A scale of steadily growing lightness from blue black by purple and orange to pale yellow, in Oklab (Ottosson 2020).
void sap_heat_color(float value, uint8_t rgb[3]) {
    static const float scale[][3] = {{0.14f, 0.000f, -0.045f}, {0.30f, 0.030f, -0.120f}, {0.44f, 0.110f, -0.110f},
                                     {0.58f, 0.160f, -0.010f}, {0.70f, 0.130f, 0.090f},  {0.82f, 0.050f, 0.140f},
                                     {0.96f, -0.015f, 0.100f}};
    enum { LAST = sizeof scale / sizeof scale[0] - 1 };
    float place = value > 0 ? (value < 1 ? value : 1) * LAST : 0, lab[3], linear[3];
    int below = (int)place < LAST ? (int)place : LAST - 1;
    float part = place - (float)below;
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
    for (int i = 0; i < 3; i++) rgb[i] = sap_srgb(linear[i]);
}
