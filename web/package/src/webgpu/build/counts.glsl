// For each list, of whose ranks the points stay in the lower halves, as bits: a thread for each word of them.
#include "webgpu/build/told.glsl"
layout(std430, binding = 4) readonly buffer listed { uint lists[]; };
layout(std430, binding = 7) readonly buffer beside { uint sides[]; };
layout(std430, binding = 9) buffer kept { uvec2 lower[]; }; // [dims + 1][blocks][64]: bits; ones before them in the block

void main() {
    int i = thread_number();
    if (i >= threads) return;
    int words = (count + block - 1) / block * 64; // of a list
    int list = i / words;
    int first = (i - list * words) * 32;
    int points = clamp(count - first, 0, 32);
    uint bits = 0u;
    for (int j = 0; j < points; ++j) bits |= (1u - sides[lists[list * count + first + j]]) << j;
    lower[i].x = bits;
}
