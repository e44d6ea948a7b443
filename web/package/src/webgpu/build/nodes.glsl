// The nodes of one depth: boxes and smallest ids, where the tree keeps them, axes and splits. The lists are in order within each
// node, so a node's box is what they begin and end with, and its median lies in the middle. A thread for each node.
#include "webgpu/build/told.glsl"
#include "webgpu/build/order.glsl"
layout(std430, binding = 0) buffer tree { uint words[]; };
layout(std430, binding = 4) readonly buffer listed { uint lists[]; };
layout(std430, binding = 8) buffer divided { uint axes[]; }; // by node

// Bits of a coordinate, as those of the same times 2^64.
uint enlarged(uint bits) {
    uint magnitude = bits & ~sign_bit;
    uint small = sap_bits_of_float(float(magnitude) * 2.5849394142282115e-26); // below the smallest normal number: of 2^-149
    return (bits & sign_bit) | (magnitude < 0x00800000u ? small : magnitude + 0x20000000u);
}

// How wide a box is, in the order of the numbers and to the last bit, also where shaders take small numbers for 0.
uint width_of(uint lower, uint upper) {
    const uint smallest = 0x21800000u; // bits of 2^-60
    bool is_small = (lower & ~sign_bit) < smallest && (upper & ~sign_bit) < smallest;
    uint from = is_small ? enlarged(lower) : lower;
    uint to = is_small ? enlarged(upper) : upper;
    uint apart = sap_bits_of_float(sap_float_of_bits(to) - sap_float_of_bits(from));
    return is_small || apart == 0u ? apart : apart + 0x20000000u;
}

void main() {
    int i = thread_number();
    if (i >= threads) return;
    bool is_node = i < 1 << depth;
    int low = is_node ? first_rank(i, depth) : 0;
    int high = is_node ? first_rank(i + 1, depth) : 0;
    int axis = 0;
    uint widest = 0u;
    for (int a = 0; a < dims; ++a) {
        uint lower = infinite;
        uint upper = infinite | sign_bit;
        if (low < high) {
            lower = bits_of_ordinal(key_of(a, lists[a * count + low]));
            upper = bits_of_ordinal(key_of(a, lists[a * count + high - 1]));
        }
        if (box_at >= 0 && i < boxes) {
            int box = box_at + ((i >> 4) * dims + a) * 32 + (i & 15);
            words[box] = lower;
            words[box + 16] = upper;
        }
        if (high - low >= 2) {
            uint wide = width_of(lower, upper);
            if (wide > widest) {
                widest = wide;
                axis = a;
            }
        }
    }
    if (box_at >= 0 && i < boxes) {
        uint least = 0x7fffffffu;
        if (low < high) least = lists[dims * count + low];
        words[id_at + i] = least;
    }
    if (!is_node || split_at < 0) return;
    if (cycles != 0 && high - low >= 2) axis = depth % dims;
    axes[(1 << depth) + i] = uint(axis);
    if (low == high) return;
    int middle = clamp(first_rank(2 * i + 1, depth + 1), low, high - 1);
    words[split_at + (1 << depth) + i] = bits_of_ordinal(key_of(axis, lists[axis * count + middle]));
}
