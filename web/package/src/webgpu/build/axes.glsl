// Writes the nodes' axes, which are bytes: a thread for each word of the tree that has some.
#include "webgpu/build/told.glsl"
layout(std430, binding = 0) buffer tree { uint words[]; };
layout(std430, binding = 8) readonly buffer divided { uint axes[]; };

void main() {
    int i = thread_number();
    if (i >= threads) return;
    uint bytes = 0u;
    for (int j = 0; j < 4; ++j)
        if (4 * i + j < 1 << depth) bytes |= axes[4 * i + j] << (8 * j);
    words[axes_at + i] = bytes;
}
