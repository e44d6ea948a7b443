// On which side of its node's median each point lies. A thread for each rank.
#include "webgpu/build/told.glsl"
layout(std430, binding = 4) readonly buffer listed { uint lists[]; };
layout(std430, binding = 6) buffer held { uint nodes[]; };              // by rank, numbered in their depth
layout(std430, binding = 7) buffer beside { uint sides[]; };            // by id: 1 for the upper half
layout(std430, binding = 8) readonly buffer divided { uint axes[]; };

void main() {
    int rank = thread_number();
    if (rank >= threads) return;
    uint node = nodes[rank];
    int axis = int(axes[(1 << depth) + int(node)]);
    uint side = rank < first_rank(2 * int(node) + 1, depth + 1) ? 0u : 1u;
    sides[lists[axis * count + rank]] = side;
    nodes[rank] = 2u * node + side; // that of the half
}
