// How many points of lower halves there are before each word of bits in its block, and in the block: a thread for each block.
#include "webgpu/build/told.glsl"
layout(std430, binding = 9) buffer kept { uvec2 lower[]; };
layout(std430, binding = 10) buffer totals { uint total[]; }; // [dims + 1][blocks]

void main() {
    int i = thread_number();
    if (i >= threads) return;
    uint sum = 0u;
    for (int j = 0; j < 64; ++j) {
        uint bits = lower[i * 64 + j].x;
        lower[i * 64 + j].y = sum;
        sum += uint(bitCount(bits));
    }
    total[i] = sum;
}
