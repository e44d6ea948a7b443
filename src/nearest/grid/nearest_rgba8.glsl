// The nearest site of every pixel, over a tree in bytes: the search of nearest/grid/walk_rgba8.h, which says what can be
// defined.
//
// SAP_OUTPUT   0: the id's four bytes, the highest first; 1: the distance in units of the form, 16.16 bits
#include "nearest/grid/walk_rgba8.h"
#if SAP_GLSL == 100
#define PUT gl_FragColor
#else
#define PUT put
out vec4 put;
#endif

uniform PLACE origin; // the place of the pixel (0, 0), its corner, in units of the form
uniform PLACE right;
uniform PLACE down;

void main() {
    found at = nearest(origin + gl_FragCoord.x * right + gl_FragCoord.y * down);
#if SAP_OUTPUT == 0
    // No id: the search was cut short.
    PUT = at.going || at.best == NODE(0) ? vec4(1.0) : bytes_at(ids, at.best) / 255.0;
#else
    float length = min(sqrt(at.best2), 65535.0);
    float whole = floor(length);
    float rest = floor((length - whole) * 65536.0);
    PUT = vec4(floor(whole / 256.0), mod(whole, 256.0), floor(rest / 256.0), mod(rest, 256.0)) / 255.0;
#endif
}
