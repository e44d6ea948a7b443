// The end of a build over triangles on CUDA devices: computes each top's place in preorder from the tops above it,
// moves nodes and references there, and orders triangles by their first reference in preorder.
#include "mesh/join/join_cuda.cuh"
#include "mesh/mesh_cuda.h"

namespace {

enum {
    JOIN_THREADS = 256,
    JOIN_WARPS = JOIN_THREADS / SAP_WARP,
    TILES = 1024,          // of the list of references, each for a block
    SORTED_BY_LANE = 8,    // most references of a leaf that a lane sorts; a warp sorts up to SAP_MESH_SMALL
    SORTED_AT_ONCE = 4096, // most references that a block sorts in shared memory
    WINDOW = 12288         // words of bits in shared memory, to sort longer leaves
};

typedef sap_mesh_cuda_join join;

// ---- Places of tops

__device__ __forceinline__ sap_mesh_node node_of(uint32_t bits, int64_t above, uint32_t below) {
    sap_mesh_node node;
    node.bits = bits;
    node.link = (uint32_t)above << 2 | below;
    return node;
}

// A side as in mesh/mesh_cuda.h.
__device__ __forceinline__ uint32_t side_of(bool is_inner, bool is_some, int64_t inner, int64_t position) {
    return is_inner ? (uint32_t)inner : is_some ? SAP_MESH_SIDE_LEAF | (uint32_t)position : SAP_MESH_SIDE_EMPTY;
}

// One thread per top. The first block also zeroes the bytes between the arrays.
__global__ void __launch_bounds__(JOIN_THREADS) place_tops(const sap_mesh_cuda_build b, const join j) {
    const int64_t i = (int64_t)blockIdx.x * JOIN_THREADS + threadIdx.x;
    if (blockIdx.x == 0)
        for (int gap = 0; gap < SAP_MESH_GAPS; gap++)
            for (size_t k = j.gap[gap].from + threadIdx.x; k < j.gap[gap].to; k += JOIN_THREADS) j.arrays[k] = 0;
    if (i >= j.tops) return;
    sap_mesh_cuda_top* top = &b.tops[i];
    int64_t node_at = 0, inner_at = 0, position_at = 0, listed_at = 0;
    for (int32_t at = (int32_t)i, above; (above = b.tops[at].parent) >= 0; at = above) {
        const int32_t left = b.tops[above].children;
        node_at++;
        inner_at++;
        if (at == left) continue;
        node_at += b.tops[left].nodes;
        inner_at += (b.tops[left].nodes - 1) / 2;
        position_at += b.tops[left].positions;
        listed_at += b.tops[left].listed;
    }
    top->node_at = node_at;
    top->inner_at = inner_at;
    top->position_at = position_at;
    top->listed_at = listed_at;
    if (top->axis < 0) return;
    SAP_ASSERT(top->arrived == 2);
    const sap_mesh_cuda_top *left = &b.tops[top->children], *right = left + 1;
    const uint32_t plane = __float_as_uint(top->plane), axis = (uint32_t)top->axis;
    j.nodes[node_at] = node_of(plane, node_at + 1 + left->nodes, axis);
    j.inner[inner_at] = make_uint4(plane, side_of(left->nodes > 1, left->positions > 0, inner_at + 1, position_at),
                                   side_of(right->nodes > 1, right->positions > 0, inner_at + 1 + (left->nodes - 1) / 2,
                                           position_at + left->positions),
                                   axis);
}

// ---- The order of triangles

// One warp per piece: moves its references to their positions in preorder and finds each triangle's first position.
__global__ void __launch_bounds__(JOIN_THREADS) meet_triangles(const sap_mesh_cuda_build b, const join j) {
    for (int64_t i = ((int64_t)blockIdx.x * JOIN_THREADS + threadIdx.x) / SAP_WARP; i < j.tops;
         i += (int64_t)gridDim.x * JOIN_WARPS) {
        const sap_mesh_cuda_top* top = &b.tops[i];
        if (top->axis >= 0) continue;
        const int32_t* from = b.staged + top->staged_position;
        const int64_t at = top->position_at, count = top->positions;
        SAP_ASSERT(at >= 0 && at + count <= j.positions && count <= b.staged_capacity - top->staged_position);
        for (int64_t k = sap_lane(); k < count; k += SAP_WARP) {
            const int32_t triangle = from[k];
            j.met[at + k] = triangle;
            if (triangle != SAP_MESH_HOLE) atomicMin(&j.first[triangle], (uint32_t)(at + k));
        }
    }
}

// The triangle whose first position this is, or -1. Behind all positions come the triangles in no leaf.
__device__ __forceinline__ int32_t triangle_met(const join& j, int64_t position) {
    if (position >= j.positions) {
        const int64_t triangle = position - j.positions;
        return triangle < j.triangles && j.first[triangle] == UINT32_MAX ? (int32_t)triangle : -1;
    }
    const int32_t triangle = j.met[position];
    return triangle != SAP_MESH_HOLE && j.first[triangle] == (uint32_t)position ? triangle : -1;
}

// The sum of the first `warps` of a block's sums, one per warp.
__device__ __forceinline__ uint32_t sum_below(const uint32_t* sums, int warps) {
    uint32_t sum = 0;
    for (int i = 0; i < warps; i++) sum += sums[i];
    return sum;
}

// One block per tile: counts the triangles whose first position is in it.
__global__ void __launch_bounds__(JOIN_THREADS) count_met(const join j) {
    SAP_CUDA_SHARED(uint32_t, sums);
    const int64_t from = blockIdx.x * j.tile, to = from + j.tile;
    uint32_t count = 0;
    for (int64_t i = from + threadIdx.x; i < to; i += JOIN_THREADS) count += triangle_met(j, i) >= 0;
    count = sap_warp_sum(count);
    if (sap_lane() == 0) sums[threadIdx.x / SAP_WARP] = count;
    __syncthreads();
    if (threadIdx.x == 0) j.sums[blockIdx.x] = sum_below(sums, JOIN_WARPS);
}

// One block per tile: numbers the triangles whose first position is in it.
__global__ void __launch_bounds__(JOIN_THREADS) rank_met(const join j) {
    SAP_CUDA_SHARED(uint32_t, sums);
    const int warp = (int)threadIdx.x / SAP_WARP;
    const int64_t from = blockIdx.x * j.tile, to = from + j.tile;
    uint32_t before = 0;
    for (unsigned i = threadIdx.x; i < blockIdx.x; i += JOIN_THREADS) before += j.sums[i];
    before = sap_warp_sum(before);
    if (sap_lane() == 0) sums[warp] = before;
    __syncthreads();
    before = sum_below(sums, JOIN_WARPS);
    for (int64_t i = from + threadIdx.x; i - threadIdx.x < to; i += JOIN_THREADS) {
        const int32_t triangle = i < to ? triangle_met(j, i) : -1;
        const unsigned int met = __ballot_sync(SAP_ALL_LANES, triangle >= 0);
        __syncthreads();
        if (sap_lane() == 0) sums[warp] = (uint32_t)__popc(met);
        __syncthreads();
        if (triangle >= 0) {
            const uint32_t place = before + sum_below(sums, warp) + (uint32_t)__popc(met & sap_lanes_below());
            SAP_ASSERT(place < j.triangles);
            j.place[triangle] = (int32_t)place;
            j.ids[place] = triangle;
        }
        before += sum_below(sums, JOIN_WARPS);
    }
}

// ---- Leaves

// Writes a triangle to its position in the leaf's order.
__device__ __forceinline__ void put_met(const join& j, int64_t position, int32_t triangle, bool is_last) {
    j.met[position] = (int32_t)((uint32_t)triangle | (is_last ? SAP_MESH_LAST : 0));
}

__device__ __forceinline__ void sort_by_lane(const join& j, int64_t position, int count, int32_t* to) {
    SAP_ASSERT(count > 0 && count <= SORTED_BY_LANE);
    int32_t* met = j.met + position;
    for (int i = 0; i < count; i++) {
        const int32_t triangle = met[i], place = j.place[triangle];
        int k = i;
        for (; k > 0 && to[k - 1] > place; k--) {
            to[k] = to[k - 1];
            met[k] = met[k - 1];
        }
        to[k] = place;
        met[k] = triangle;
    }
    put_met(j, position + count - 1, met[count - 1], true);
}

// Sorts up to 64 places by counting the smaller ones for each; holes go last. A single place is not written to `to`,
// but returned.
__device__ __forceinline__ int32_t sort_by_warp(const join& j, int64_t position, int room, int count, int32_t* to) {
    SAP_ASSERT(count <= room && room <= 2 * SAP_WARP);
    int32_t triangle[2], own[2], single = 0;
    int rank[2] = {0, 0};
    for (int t = 0; t < 2; t++) {
        const int i = sap_lane() + SAP_WARP * t;
        triangle[t] = i < room ? j.met[position + i] : SAP_MESH_HOLE;
        own[t] = triangle[t] == SAP_MESH_HOLE ? INT32_MAX : j.place[triangle[t]];
    }
    for (int i = 0; i < room; i++) {
        const int32_t other = __shfl_sync(SAP_ALL_LANES, i < SAP_WARP ? own[0] : own[1], i & (SAP_WARP - 1));
        rank[0] += other < own[0];
        rank[1] += other < own[1];
    }
    __syncwarp();
    for (int t = 0; t < 2; t++) {
        const int i = sap_lane() + SAP_WARP * t;
        if (i >= count && i < room) j.met[position + i] = SAP_MESH_HOLE;
        if (own[t] == INT32_MAX) continue;
        if (count > 1) to[rank[t]] = own[t];
        put_met(j, position + rank[t], triangle[t], rank[t] + 1 == count);
        single = own[t];
    }
    return (int32_t)sap_warp_max((uint32_t)single);
}

// Writes a piece that is a leaf. sort_large_leaves sorts large ones.
__device__ void write_leaf(const join& j, const sap_mesh_cuda_top* top) {
    const int room = (int)top->positions;
    uint32_t bits = top->count ? (uint32_t)top->listed_at : 0;
    if (room > 0 && room <= SAP_MESH_SMALL) {
        const int32_t place = sort_by_warp(j, top->position_at, room, top->count, j.references + top->listed_at);
        if (top->count == 1) bits = (uint32_t)place;
    }
    if (sap_lane() == 0) j.nodes[top->node_at] = node_of(bits, top->count, SAP_MESH_LEAF);
}

// The second child of a staged inner node, with so many nodes between them, as a side.
__device__ __forceinline__ uint32_t right_side(const sap_mesh_node* from, int64_t number, int64_t between,
                                               int64_t inner, int64_t position_at) {
    const sap_mesh_node node = from[number];
    const bool is_inner = (node.link & 3) != SAP_MESH_LEAF;
    return side_of(is_inner, node.link >> 2, inner + 1 + (between - 1) / 2, position_at + node.bits);
}

// Writes a staged subtree.
__device__ void write_subtree(const sap_mesh_cuda_build& b, const join& j, const sap_mesh_cuda_top* top) {
    const sap_mesh_node* from = b.staged_nodes + top->staged_node;
    const int64_t nodes = top->nodes, node_at = top->node_at, position_at = top->position_at;
    int64_t listed = top->listed_at, inner_at = top->inner_at;
    for (int64_t k = sap_lane(); k - sap_lane() < nodes; k += SAP_WARP) {
        sap_mesh_node node = node_of(0, 0, SAP_MESH_LEAF);
        if (k < nodes) node = from[k];
        const bool is_leaf = (node.link & 3) == SAP_MESH_LEAF;
        const unsigned int inner = __ballot_sync(SAP_ALL_LANES, !is_leaf);
        const int count = is_leaf ? (int)(node.link >> 2) : 0;
        const int64_t position = position_at + node.bits;
        int sum = count > 1 ? count : 0;
        for (int step = 1; step < SAP_WARP; step *= 2) {
            const int other = __shfl_up_sync(SAP_ALL_LANES, sum, (unsigned)step);
            if (sap_lane() >= step) sum += other;
        }
        const int64_t at = listed + sum - count; // of a leaf with listed references
        listed += __shfl_sync(SAP_ALL_LANES, sum, SAP_WARP - 1);
        if (!is_leaf) {
            const int64_t number = inner_at + __popc(inner & sap_lanes_below()), right = node.link >> 2;
            j.inner[number] = make_uint4(node.bits, right_side(from, k + 1, 1, number, position_at),
                                         right_side(from, right, right - k - 1, number, position_at), node.link & 3);
            node.link += (uint32_t)node_at << 2;
        }
        inner_at += __popc(inner);
        if (is_leaf) node.bits = count > 1 ? (uint32_t)at : count == 1 ? (uint32_t)j.place[j.met[position]] : 0;
        if (count == 1) put_met(j, position, j.met[position], true);
        if (count > 1 && count <= SORTED_BY_LANE) sort_by_lane(j, position, count, j.references + at);
        if (k < nodes) j.nodes[node_at + k] = node;
        for (unsigned int longer = __ballot_sync(SAP_ALL_LANES, count > SORTED_BY_LANE); longer; longer &= longer - 1) {
            const int lane = __ffs((int)longer) - 1, its_count = __shfl_sync(SAP_ALL_LANES, count, lane);
            const int64_t its_position = __shfl_sync(SAP_ALL_LANES, (long long)position, lane);
            const int64_t its_place = __shfl_sync(SAP_ALL_LANES, (long long)at, lane);
            (void)sort_by_warp(j, its_position, its_count, its_count, j.references + its_place);
        }
    }
}

// One warp per piece.
__global__ void __launch_bounds__(JOIN_THREADS) write_pieces(const sap_mesh_cuda_build b, const join j) {
    for (int64_t i = ((int64_t)blockIdx.x * JOIN_THREADS + threadIdx.x) / SAP_WARP; i < j.tops;
         i += (int64_t)gridDim.x * JOIN_WARPS) {
        const sap_mesh_cuda_top* top = &b.tops[i];
        if (top->axis >= 0) continue;
        if (top->count < 0)
            write_subtree(b, j, top);
        else
            write_leaf(j, top);
    }
}

// A block sorts up to SORTED_AT_ONCE places by a bitonic network (Batcher 1968).
__device__ void sort_by_block(const join& j, const sap_mesh_cuda_top* top, int32_t* held, int32_t* to) {
    const int room = (int)top->positions;
    int size = 2;
    SAP_ASSERT(room <= SORTED_AT_ONCE && top->count <= room);
    while (size < room) size *= 2;
    for (int i = (int)threadIdx.x; i < size; i += JOIN_THREADS) {
        const int32_t triangle = i < room ? j.met[top->position_at + i] : SAP_MESH_HOLE;
        held[i] = triangle == SAP_MESH_HOLE ? INT32_MAX : j.place[triangle];
    }
    for (int run = 2; run <= size; run *= 2)
        for (int apart = run / 2; apart > 0; apart /= 2) {
            __syncthreads();
            for (int i = (int)threadIdx.x; i < size / 2; i += JOIN_THREADS) {
                const int low = 2 * i - (i & (apart - 1)), high = low + apart;
                const int32_t a = held[low], c = held[high];
                if ((a > c) == ((low & run) != 0)) continue;
                held[low] = c;
                held[high] = a;
            }
        }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < top->count; i += JOIN_THREADS) to[i] = held[i];
    __syncthreads();
}

// A block sorts more places by setting a bit for each, one window of places at a time.
__device__ void sort_by_bits(const join& j, const sap_mesh_cuda_top* top, uint32_t* words, uint32_t* sums,
                             int32_t* to) {
    const int warp = (int)threadIdx.x / SAP_WARP;
    int64_t written = 0;
    for (int64_t window = 0; window < j.triangles; window += (int64_t)WINDOW * 32) {
        for (int i = (int)threadIdx.x; i < WINDOW; i += JOIN_THREADS) words[i] = 0;
        __syncthreads();
        for (int64_t i = threadIdx.x; i < top->positions; i += JOIN_THREADS) {
            const int32_t triangle = j.met[top->position_at + i];
            const int64_t place = triangle == SAP_MESH_HOLE ? -1 : j.place[triangle] - window;
            if (place >= 0 && place < (int64_t)WINDOW * 32) atomicOr(&words[place / 32], 1u << place % 32);
        }
        __syncthreads();
        for (int i = (int)threadIdx.x; i < WINDOW; i += JOIN_THREADS) {
            uint32_t word = words[i];
            uint32_t before = (uint32_t)__popc(word);
            for (int step = 1; step < SAP_WARP; step *= 2) {
                const uint32_t other = __shfl_up_sync(SAP_ALL_LANES, before, (unsigned)step);
                if (sap_lane() >= step) before += other;
            }
            if (sap_lane() == SAP_WARP - 1) sums[warp] = before;
            __syncthreads();
            int64_t at = written + sum_below(sums, warp) + before - (uint32_t)__popc(word);
            for (; word; word &= word - 1) to[at++] = (int32_t)(window + 32 * (int64_t)i + __ffs((int)word) - 1);
            written += sum_below(sums, JOIN_WARPS);
            __syncthreads();
        }
    }
    SAP_ASSERT(written == top->count);
}

struct large_shared {
    uint32_t sums[JOIN_WARPS];
    uint32_t words[WINDOW];
};
static_assert(sizeof(large_shared) <= SAP_CUDA_SHARED_EVERYWHERE, "any GPU can sort large leaves");

// One block per large leaf.
__global__ void __launch_bounds__(JOIN_THREADS) sort_large_leaves(const sap_mesh_cuda_build b, const join j) {
    SAP_CUDA_SHARED(large_shared, s);
    for (int64_t i = blockIdx.x; i < j.tops; i += gridDim.x) {
        const sap_mesh_cuda_top* top = &b.tops[i];
        if (top->axis >= 0 || top->count < 2 || top->positions <= SAP_MESH_SMALL) continue;
        int32_t* to = j.references + top->listed_at;
        if (top->positions <= SORTED_AT_ONCE)
            sort_by_block(j, top, (int32_t*)s->words, to);
        else
            sort_by_bits(j, top, s->words, s->sums, to);
        __syncthreads();
        for (int64_t k = threadIdx.x; k < top->positions; k += JOIN_THREADS) {
            if (k < top->count)
                put_met(j, top->position_at + k, j.ids[to[k]], k + 1 == top->count);
            else
                j.met[top->position_at + k] = SAP_MESH_HOLE;
        }
    }
}

// ---- Triangles

// One thread per place.
__global__ void __launch_bounds__(JOIN_THREADS) write_triangles(const sap_mesh_cuda_build b, const join j) {
    const int64_t i = (int64_t)blockIdx.x * JOIN_THREADS + threadIdx.x;
    if (i >= j.triangles) return;
    const float4* from = b.corners + 3 * (int64_t)j.ids[i];
    float* to = j.corners + i * SAP_TRIANGLE_FLOATS;
    for (int k = 0; k < 3; k++) {
        const float4 corner = from[k];
        to[3 * k] = corner.x;
        to[3 * k + 1] = corner.y;
        to[3 * k + 2] = corner.z;
    }
}

// One thread per reference.
__global__ void __launch_bounds__(JOIN_THREADS) pack_triangles(const sap_mesh_cuda_build b, const join j) {
    const int64_t i = (int64_t)blockIdx.x * JOIN_THREADS + threadIdx.x;
    if (i >= j.positions || j.met[i] == SAP_MESH_HOLE) return;
    const uint32_t id = (uint32_t)j.met[i];
    const float4* from = b.corners + 3 * (int64_t)(id & ~SAP_MESH_LAST);
    const float4 u = from[0], v = from[1], w = from[2];
    j.packed[3 * i] = make_float4(u.x, v.x, w.x, __uint_as_float(id));
    j.packed[3 * i + 1] = make_float4(u.y, v.y, w.y, __uint_as_float(id));
    j.packed[3 * i + 2] = make_float4(u.z, v.z, w.z, __uint_as_float(id));
}

sap_cuda_grid filling(sap_cuda_call* call, const void* kernel, size_t shared, int64_t work) {
    int64_t blocks = sap_cuda_resident(call, kernel, JOIN_THREADS, shared);
    const sap_cuda_grid grid = {blocks < work ? blocks : work, JOIN_THREADS, shared, false};
    return grid;
}

} // namespace

size_t sap_mesh_join_bytes(int64_t triangles, int64_t positions) {
    return ((size_t)(2 * triangles + positions) + TILES) * sizeof(uint32_t);
}

void sap_mesh_cuda_join_all(sap_cuda_call* call, const sap_mesh_cuda_build* b, sap_mesh_cuda_join* j, void* memory,
                            bool large_leaves) {
    const size_t sums = JOIN_WARPS * sizeof(uint32_t);
    const int64_t entries = j->positions + j->triangles,
                  tiles = entries / TILES + 1 < TILES ? entries / TILES + 1 : TILES;
    j->tile = (entries + tiles - 1) / tiles;
    j->sums = (uint32_t*)memory;
    j->first = j->sums + TILES;
    j->place = (int32_t*)(j->first + j->triangles);
    j->met = j->place + j->triangles;
    sap_cuda_fill(call, j->first, 0xff, (size_t)j->triangles * sizeof *j->first);
    sap_cuda_launch(call, place_tops, sap_cuda_grid_for(j->tops, JOIN_THREADS), *b, *j);
    const int64_t warps = (j->tops + JOIN_WARPS - 1) / JOIN_WARPS;
    sap_cuda_launch(call, meet_triangles, filling(call, (const void*)meet_triangles, 0, warps), *b, *j);
    const sap_cuda_grid tiled = {tiles, JOIN_THREADS, sums, false};
    sap_cuda_launch(call, count_met, tiled, *j);
    sap_cuda_launch(call, rank_met, tiled, *j);
    sap_cuda_launch(call, write_pieces, filling(call, (const void*)write_pieces, 0, warps), *b, *j);
    if (large_leaves)
        sap_cuda_launch(call, sort_large_leaves,
                        filling(call, (const void*)sort_large_leaves, sizeof(large_shared), j->tops), *b, *j);
    sap_cuda_launch(call, write_triangles, sap_cuda_grid_for(j->triangles, JOIN_THREADS), *b, *j);
    sap_cuda_launch(call, pack_triangles, sap_cuda_grid_for(j->positions, JOIN_THREADS), *b, *j);
}
