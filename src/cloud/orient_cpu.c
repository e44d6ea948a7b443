// The directions of normals: towards views, or along a minimum spanning tree. Kruskal's algorithm joins points by edges
// that ascend by (1 - |cosine|, number of the edge), and the sets themselves keep which normals point alike: no tree is
// made, and nothing recurses.
#include "base/team.h"
#include "cloud/cloud.h"
#include "cloud/sort.h"
#include "cloud/union.h"
#include "tree/leaves.h"
#include "tree/queries.h"
#include <math.h>

enum { GRAIN = 256, WEIGHT_BITS = 30 }; // places of leaves that are worth a thread; floats of 0 to 1 are below 2^30

static void turn(float* normal) {
    for (int a = 0; a < 3; a++) normal[a] = normal[a] == 0 ? 0.0f : -normal[a];
}

// ---- Towards views

// Where the sensor was at a time.
static void on_path(const sap_normals_options* o, double time, double view[3]) {
    int64_t low = 0, high = o->view_count; // the first view after the time is among low … high
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (o->view_times[middle] > time)
            high = middle;
        else
            low = middle + 1;
    }
    const int64_t after = low < o->view_count ? low : o->view_count - 1, before = low > 0 ? low - 1 : 0;
    const double from = o->view_times[before], to = o->view_times[after];
    const double part = after > before ? (time - from) / (to - from) : 0;
    for (int a = 0; a < 3; a++) {
        const double x = o->views[3 * before + a], y = o->views[3 * after + a];
        view[a] = x + (y - x) * part;
    }
}

static void turn_to_views(void* context, int64_t from, int64_t to, int32_t worker) {
    const sap_orient_job* job = context;
    const sap_normals_options* o = &job->options;
    (void)worker;
    for (int64_t place = from; place < to; place++) {
        const sap_leaf_block leaf = sap_leaf_block_at(job->tree, place);
        for (int32_t i = 0; i < leaf.count; i++) {
            const int64_t id = leaf.ids[i];
            double narrow[3], point[3], view[3] = {o->view[0], o->view[1], o->view[2]}, along = 0;
            sap_leaf_point(job->tree, &leaf, i, narrow);
            for (int a = 0; a < 3; a++)
                point[a] =
                    job->tree->shape.real_bits == 64 ? narrow[a] : (double)((const float*)(const void*)narrow)[a];
            if (o->orient == SAP_ORIENT_VIEWS)
                for (int a = 0; a < 3; a++) view[a] = o->views[3 * id + a];
            if (o->orient == SAP_ORIENT_PATH) on_path(o, o->point_times[id], view);
            for (int a = 0; a < 3; a++) along += (double)job->normals[3 * id + a] * (view[a] - point[a]);
            if (along < 0) turn(job->normals + 3 * id);
        }
    }
}

// ---- As their neighbours

typedef struct graph {
    const sap_orient_job* job;
    int32_t k;
    int32_t* near; // [source_count][k]; -1: none
    sap_scratch memory;
} graph;

static void keep_row(void* context, const sap_cloud_rows* rows, int32_t worker) {
    const graph* g = context;
    (void)worker;
    for (int64_t i = 0; i < rows->count; i++) {
        int32_t* near = g->near + (int64_t)rows->ids[i] * g->k;
        for (int64_t j = 0; j < rows->found[i]; j++) near[j] = rows->neighbors[rows->starts[i] + j];
    }
}

// Whether `other` is among the nearest of a point.
static bool is_near(const graph* g, int64_t point, int32_t other) {
    const int32_t* near = g->near + point * g->k;
    for (int32_t j = 0; j < g->k; j++)
        if (near[j] == other) return true;
    return false;
}

static double cosine(const float* normals, int64_t a, int64_t b) {
    const float *x = normals + 3 * a, *y = normals + 3 * b;
    return (double)x[0] * (double)y[0] + (double)x[1] * (double)y[1] + (double)x[2] * (double)y[2];
}

// Edges by number: entries of the graph. One between two points that are both among the nearest of the other counts in
// the row of the smaller id. With `keys` NULL they are only counted.
static int64_t list_edges(const graph* g, uint32_t* keys, uint32_t* numbers) {
    const int64_t n = g->job->tree->shape.source_count;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < g->k; j++) {
            const int32_t other = g->near[i * g->k + j];
            if (other < 0 || (other < i && is_near(g, other, (int32_t)i))) continue;
            if (keys) {
                const double alike = fabs(cosine(g->job->normals, i, other));
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
        sap_union_join(links, a, b, cosine(g->job->normals, a, b) < 0);
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
        if ((tops[root >> 1].height != 0) != (root & 1)) turn(job->normals + 3 * i);
    }
}

static sap_status turn_alike(graph* g) {
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

static sap_status orient_alike(const sap_orient_job* job) {
    const sap_tree_shape* s = &job->tree->shape;
    sap_device* device = job->tree->device;
    graph g = {.job = job, .k = job->options.graph_k};
    if (g.k > s->count) g.k = (int32_t)s->count;
    const int64_t entries = s->source_count * g.k;
    if (entries > UINT32_MAX)
        return sap_fail(device, SAP_ERROR_RANGE, "options.graph_k: %lld neighbours are more than 2^32-1",
                        (long long)entries);
    if (!sap_scratch_take(device, (size_t)entries * 4 + 1, &g.memory))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a graph of %lld neighbours", (long long)entries);
    g.near = (int32_t*)(void*)g.memory.memory;
    memset(g.near, 0xff, (size_t)entries * 4);
    sap_progress_state progress = sap_progress_begin(device, s->count);
    const sap_cloud_search search = {.tree = job->tree,
                                     .k = g.k,
                                     .limit2 = sap_limit2(job->tree, (double)INFINITY),
                                     .consume = keep_row,
                                     .context = &g,
                                     .progress = &progress};
    sap_status status = sap_cloud_search_cpu(&search);
    if (status == SAP_OK) status = turn_alike(&g);
    sap_scratch_give(device, &g.memory);
    return status;
}

sap_status sap_cloud_orient_cpu(const sap_orient_job* job) {
    const sap_tree* tree = job->tree;
    if (tree->shape.count == 0 || job->options.orient == SAP_ORIENT_NONE) return SAP_OK;
    if (job->options.orient == SAP_ORIENT_CONSISTENT) return orient_alike(job);
    sap_orient_job copy = *job;
    sap_team_loop(tree->device->options.threads, sap_leaf_places(tree), GRAIN, turn_to_views, &copy);
    return SAP_OK;
}
