// Moves the points of every list to their halves, in the order that they have. A thread for each rank.
#include "webgpu/build/told.glsl"
layout(std430, binding = 4) readonly buffer listed { uint lists[]; };
layout(std430, binding = 5) buffer moved_to { uint moved[]; };
layout(std430, binding = 6) readonly buffer held { uint nodes[]; }; // the halves
layout(std430, binding = 9) readonly buffer kept { uvec2 lower[]; };
layout(std430, binding = 10) readonly buffer totals { uint total[]; };

// Points of lower halves before a rank of a list that begins at this block.
int lower_before(uint first_block, uvec2 word, uint rank) {
    uint before = word.x & ((1u << (rank & 31u)) - 1u);
    return int(total[first_block + (rank >> block_bits)] + word.y + uint(bitCount(before)));
}

void main() {
    int rank = thread_number();
    if (rank >= threads) return;
    int node = int(nodes[rank] >> 1);
    int low = first_rank(node, depth);
    int middle = first_rank(2 * node + 1, depth + 1);
    uint blocks = uint(count + block - 1) >> block_bits;
    for (int list = 0; list <= dims; ++list) {
        uint first_block = uint(list) * blocks;
        uvec2 word = lower[first_block * 64u + (uint(rank) >> 5)];
        uvec2 word_of_low = lower[first_block * 64u + (uint(low) >> 5)];
        int less = lower_before(first_block, word, uint(rank)) - lower_before(first_block, word_of_low, uint(low));
        int to = (word.x >> (rank & 31) & 1u) != 0u ? low + less : middle + rank - low - less;
        moved[list * count + to] = lists[list * count + rank];
    }
}
