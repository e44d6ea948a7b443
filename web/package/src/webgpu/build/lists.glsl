// Makes the lists of points: one for each axis, in its order, and one by id. A thread for each place.
#include "webgpu/build/told.glsl"
layout(std430, binding = 4) readonly buffer sorted_runs { uvec2 pairs[]; };
layout(std430, binding = 5) buffer listed { uint lists[]; }; // [dims + 1][count]: ids

void main() {
    int i = thread_number();
    if (i >= threads) return;
    uint id = uint(i - dims * count);
    if (i < dims * count) id = pairs[i].y;
    lists[i] = id;
}
