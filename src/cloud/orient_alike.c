// Normals that point as those of their neighbours, along a minimum spanning tree. Kruskal's algorithm joins points by
// edges that ascend by (1 - |cosine|, number of the edge), and the sets themselves keep which normals point alike: no
// tree is made, and nothing recurses. On the host, whatever the processor.
#include "cloud/orient.h"
#include "cloud/sort.h"
#include "cloud/union.h"
#include "sapwood/points.h"
#include "tree/host_view.h"
#include "tree/leaves.h"
#include <math.h>

enum { WEIGHT_BITS = 30 }; // floats of 0 to 1 are below 2^30

typedef struct graph {
    const sap_orient_job* job;
    int32_t k;
    const int32_t* near;
} graph;

// Whether `other` is among the nearest of a point.
static bool is_near(const graph* g, int64_t point, int32_t other) {
    const int32_t* near = g->near + point * g->k;
    for (int32_t j = 0; j < g->k; j++)
        if (near[j] == other) return true;
    return false;
}

static double dot(const float* normals, int64_t a, int64_t b) {
    const float *x = normals + 3 * a, *y = normals + 3 * b;
    return (double)x[0] * (double)y[0] + (double)x[1] * (double)y[1] + (double)x[2] * (double)y[2];
}

// Normals may be of any length.
static double alikeness(const float* normals, int64_t a, int64_t b) {
    const double lengths2 = dot(normals, a, a) * dot(normals, b, b);
    return lengths2 > 0 ? fabs(dot(normals, a, b)) / sqrt(lengths2) : 0;
}

// Edges by number: entries of the graph. One between two points that are both among the nearest of the other counts in
// the row of the smaller id, or, where it takes long to see that, in both: the second then joins what is joined already.
// With `keys` NULL they are only counted.
static int64_t list_edges(const graph* g, uint32_t* keys, uint32_t* numbers) {
    enum { LONG_ROW = 64 };
    const int64_t n = g->job->tree->shape.source_count;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < g->k; j++) {
            const int32_t other = g->near[i * g->k + j];
            if (other < 0 || (other < i && g->k <= LONG_ROW && is_near(g, other, (int32_t)i))) continue;
            if (keys) {
                const double alike = alikeness(g->job->normals, i, other);
                const float weight = alike < 1 ? (float)(1 - alike) : 0.0f;
                memcpy(keys + count, &weight, 4);
                numbers[count] = (uint32_t)(i * g->k + j);
            }
            count++;
        }
    }
    return count;
}

static void join_along(const graph* g, const uint32_t* edges, int64_t count, uint32_t* links) {
    for (int64_t e = 0; e < count; e++) {
        const uint32_t a = edges[e] / (uint32_t)g->k, b = (uint32_t)g->near[edges[e]];
        sap_union_join(links, a, b, dot(g->job->normals, a, b) < 0);
    }
}

static bool points_up(const float* normal) {
    return normal[2] != 0 ? normal[2] > 0 : normal[1] != 0 ? normal[1] > 0 : normal[0] >= 0;
}

// What is known of a part of the graph, at its root: the highest point that has a normal, and its height.
typedef struct top {
    double height;
    int32_t id; // -1: none yet
} top;

static void find_tops(const sap_orient_job* job, uint32_t* links, top* tops) {
    const sap_tree* tree = job->tree;
    for (int64_t i = 0; i < tree->shape.source_count; i++) tops[i] = (top){0, -1};
    for (int64_t place = 0; place < sap_leaf_places(tree); place++) {
        const sap_leaf_block leaf = sap_leaf_block_at(tree, place);
        for (int32_t i = 0; i < leaf.count; i++) {
            const int32_t id = leaf.ids[i];
            const float* normal = job->normals + 3 * (int64_t)id;
            double point[3];
            if (normal[0] == 0 && normal[1] == 0 && normal[2] == 0) continue;
            sap_leaf_point(tree, &leaf, i, point);
            const double height =
                tree->shape.real_bits == 64 ? point[2] : (double)((const float*)(const void*)point)[2];
            top* highest = &tops[sap_union_find(links, (uint32_t)id) >> 1];
            if (highest->id < 0 || height > highest->height || (height == highest->height && id < highest->id))
                *highest = (top){height, id};
        }
    }
}

static void turn_parts(const sap_orient_job* job, uint32_t* links, top* tops) {
    find_tops(job, links, tops);
    // Of each part: whether normals of the root's sign are to be turned. Found before any normal is.
    for (int64_t i = 0; i < job->tree->shape.source_count; i++) {
        const int32_t id = tops[i].id;
        if (id < 0) continue;
        const bool is_other = sap_union_find(links, (uint32_t)id) & 1;
        tops[i].height = points_up(job->normals + 3 * (int64_t)id) == is_other ? 1 : 0;
    }
    for (int64_t i = 0; i < job->tree->shape.source_count; i++) {
        const uint32_t root = sap_union_find(links, (uint32_t)i);
        if ((tops[root >> 1].height != 0) != (root & 1)) sap_orient_turn(job->normals + 3 * i);
    }
}

static sap_status turn_alike(const graph* g) {
    const sap_orient_job* job = g->job;
    sap_device* device = job->tree->device;
    const size_t n = (size_t)job->tree->shape.source_count;
    const int64_t edges = list_edges(g, NULL, NULL);
    const size_t list = sap_align((size_t)edges * 4);
    sap_scratch memory = {NULL, 0};
    const size_t sorting = 4 * list, turning = sap_align(n * sizeof(top)); // which are not needed together
    if (!sap_scratch_take(device, sap_align(n * 4) + (sorting > turning ? sorting : turning) + 1, &memory))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for %lld edges between neighbours", (long long)edges);
    uint32_t* links = (uint32_t*)(void*)memory.memory;
    unsigned char* at = memory.memory + sap_align(n * 4);
    uint32_t *keys = (uint32_t*)(void*)at, *numbers = (uint32_t*)(void*)(at + list);
    uint32_t *spare_keys = (uint32_t*)(void*)(at + 2 * list), *spare_numbers = (uint32_t*)(void*)(at + 3 * list);
    list_edges(g, keys, numbers);
    const bool is_spare = sap_cloud_sort_32(keys, numbers, spare_keys, spare_numbers, edges, WEIGHT_BITS);
    for (size_t i = 0; i < n; i++) links[i] = sap_union_alone((uint32_t)i);
    join_along(g, is_spare ? spare_numbers : numbers, edges, links);
    turn_parts(job, links, (top*)(void*)at);
    sap_scratch_give(device, &memory);
    return SAP_OK;
}

sap_status sap_orient_take_graph(const sap_orient_job* job, int32_t* k, sap_scratch* memory) {
    const sap_tree_shape* s = &job->tree->shape;
    sap_device* device = job->tree->device;
    *k = job->options.graph_k < s->count ? job->options.graph_k : (int32_t)s->count;
    const int64_t entries = s->source_count * *k;
    if (entries > UINT32_MAX)
        return sap_fail(device, SAP_ERROR_RANGE, "options.graph_k: %lld neighbours are more than 2^32-1",
                        (long long)entries);
    if (!sap_scratch_take(device, (size_t)entries * 4 + 1, memory))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a graph of %lld neighbours", (long long)entries);
    memset(memory->memory, 0xff, (size_t)entries * 4);
    return SAP_OK;
}

sap_status sap_orient_alike(const sap_orient_job* job, int32_t k, const int32_t* near) {
    const graph g = {job, k, near};
    return turn_alike(&g);
}

sap_status sap_orient_alike_apart(const sap_orient_job* job) {
    sap_device* device = job->tree->device;
    sap_scratch memory;
    sap_host_view view;
    int32_t k;
    sap_status status = sap_orient_take_graph(job, &k, &memory);
    if (status != SAP_OK) return status;
    int32_t* near = (int32_t*)(void*)memory.memory;
    const sap_search search = {.k = k};
    status = job->tree->shape.real_bits == 64 ? sap_nearest_self_f64(job->tree, &search, near, NULL)
                                              : sap_nearest_self(job->tree, &search, near, NULL);
    if (status == SAP_OK) status = sap_host_view_open(job->tree, &view);
    if (status == SAP_OK) {
        sap_orient_job there = *job;
        there.tree = &view.tree;
        status = sap_orient_alike(&there, k, near);
        sap_host_view_close(&view);
    }
    sap_scratch_give(device, &memory);
    return status;
}
