// Draws a coloured point cloud as a PNG file.
#ifndef SAPWOOD_EXAMPLES_DEMO_PICTURE_H
#define SAPWOOD_EXAMPLES_DEMO_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct picture {
    const float* points; // [count * dims]
    int64_t count;
    int dims;               // 1 or more; the first three are drawn, the third one up
    const float* distances; // [count]: colours a point, from dark (near) to bright (far), and sizes its disc
    float scale[2];         // distances of the first and of the last colour
    const float* framed;    // [count * dims]: the points that fill the picture; NULL: those drawn
    double azimuth, tilt;   // degrees: around the third axis, and above the horizon
    int width;              // pixels
} picture;

// A view that suits the cloud's shape: low for tall ones, steep for flat ones.
void picture_choose_view(picture* p);
// Colours for nearly all of the distances. False when memory could not be had.
bool picture_choose_scale(picture* p);
// False when memory or the file could not be had.
bool picture_write(const picture* p, const char* path);

#endif
