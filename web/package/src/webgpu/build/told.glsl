// What all passes of the balanced build are told, and which ranks a node has: those of tree/layout.h.
layout(local_size_x = 64) in;

#define SAP_NOTHING 0u // no product is added here
#include "math/dialect.h"
layout(std140, binding = 2) uniform build {
    int threads; // that have work in this pass
    int across;  // threads in a row of workgroups
    int count;   // points
    int dims;
    int depth;    // of the nodes that this pass is about
    int cycles;   // axes take turns
    int width;    // of the runs that are merged
    int stride;   // slots of a leaf
    int split_at; // words of the tree: splits; -1: these nodes are leaves
    int box_at;   // boxes of nodes of this depth, smallest ids below them; -1: the tree has none
    int id_at;
    int axes_at;
    int blocks_at;
    int boxes; // that there is room for
    uint most; // bits of the largest magnitude of a coordinate
};

const uint infinite = 0x7f800000u;
const uint sign_bit = 0x80000000u;
const int block_bits = 11;
const int block = 1 << block_bits; // ranks whose sides are counted together

// The number of this thread; those from `threads` on have nothing to do.
int thread_number() { return int(gl_GlobalInvocationID.y) * across + int(gl_GlobalInvocationID.x); }

// The high word of a product.
uint product_high(uint a, uint b) {
    uint middle = (a >> 16) * (b & 0xffffu) + ((a & 0xffffu) * (b & 0xffffu) >> 16);
    uint other = (a & 0xffffu) * (b >> 16) + (middle & 0xffffu);
    return (a >> 16) * (b >> 16) + (middle >> 16) + (other >> 16);
}

// The first rank of node `index` of a depth: index * count >> depth.
int first_rank(int index, int of_depth) {
    if (of_depth == 0) return index * count;
    int share = count >> of_depth;
    uint rest = uint(count - (share << of_depth));
    uint low = uint(index) * rest;
    uint high = product_high(uint(index), rest);
    return index * share + int(high << (32 - of_depth) | low >> of_depth);
}

// A coordinate's bits in the order of the numbers, and back.
uint ordinal(uint bits) { return (bits & sign_bit) != 0u ? ~bits : bits | sign_bit; }
uint bits_of_ordinal(uint number) { return (number & sign_bit) != 0u ? number ^ sign_bit : ~number; }
