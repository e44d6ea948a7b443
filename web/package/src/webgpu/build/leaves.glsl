// Writes the leaves, whose points the list by id has in their order: a thread for each slot.
#include "webgpu/build/told.glsl"
#include "webgpu/build/order.glsl"
layout(std430, binding = 0) buffer tree { uint words[]; };
layout(std430, binding = 4) readonly buffer listed { uint lists[]; };

void main() {
    int i = thread_number();
    if (i >= threads) return;
    int leaf = i / stride;
    int slot = i - leaf * stride;
    int rank = first_rank(leaf, depth) + slot;
    bool is_point = rank < first_rank(leaf + 1, depth);
    uint id = 0xffffffffu;
    if (is_point) id = lists[dims * count + rank];
    int at = blocks_at + leaf * stride * (dims + 1) + slot;
    for (int a = 0; a < dims; ++a) {
        uint bits = infinite;
        if (is_point) bits = bits_of_ordinal(key_of(a, id));
        words[at + a * stride] = bits;
    }
    words[at + dims * stride] = id;
}
