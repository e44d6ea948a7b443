// The shared texts of building over triangles: a plain builder made of nothing else gives the trees of the library, on
// every instruction set, and the library's clips are theirs to the last bit.
#include "device/cpu_kernels.h"
#include "mesh_families.h"
#include "ray/access.h"
#include "test.h"
#include <stdlib.h>

#define SAP_TO_FLOAT(x) ((float)(x))
#include "math/sah.h"
#include "mesh/clip.h"
#include "mesh/planes.h"

enum { DEPTH = 40, NODES_MOST = 1 << 19, REFERENCES_MOST = 1 << 20 };

typedef struct plain_part {
    sap_mesh_box box;
    int32_t triangle;
} plain_part;

typedef struct plain_node {
    int axis; // 3: a leaf
    float plane;
    int64_t first, count; // of a leaf's references
} plain_node;

// A tree in preorder.
typedef struct plain_tree {
    const sap_mesh* mesh;
    sap_mesh_tree_options options; // complete
    plain_node* nodes;
    int32_t* references;
    int64_t node_count, reference_count;
    bool gave_up; // a large node was not worth halving: that search is no shared text
} plain_tree;

static sap_triangle triangle_of(const sap_mesh* mesh, int32_t i) {
    sap_vector corners[3];
    for (int k = 0; k < 3; k++) {
        const float* v = mesh->vertices + 3 * (int64_t)mesh->triangles[3 * (int64_t)i + k];
        corners[k] = (sap_vector){v[0], v[1], v[2]};
    }
    return (sap_triangle){corners[0], corners[1], corners[2]};
}

static sap_mesh_box no_box(void) {
    sap_mesh_box box;
    for (int k = 0; k < 3; k++) {
        box.lower[k] = __builtin_inff();
        box.upper[k] = -__builtin_inff();
    }
    return box;
}

static sap_mesh_box box_of(sap_triangle triangle) {
    return sap_extent_within(sap_polygon_side(sap_polygon_of(triangle), 0, 1e30, 1.0),
                             (sap_mesh_box){{-1e30F, -1e30F, -1e30F}, {1e30F, 1e30F, 1e30F}});
}

static sap_mesh_box bounds_of(const plain_part* parts, int64_t count) {
    sap_mesh_box box = no_box();
    for (int64_t i = 0; i < count; i++) box = sap_box_join(box, parts[i].box);
    return box;
}

static sap_measure measure_of(const plain_tree* t, sap_mesh_box cell) {
    return sap_measure_of(cell.upper[0] - cell.lower[0], cell.upper[1] - cell.lower[1], cell.upper[2] - cell.lower[2],
                          t->options.cost == SAP_COST_VOXELS ? t->options.radius : -1.0F);
}

// What a plane costs that is a bound of triangles; counts those on either side.
static float cost_of(const plain_tree* t, const plain_part* parts, int64_t count, sap_mesh_box cell, sap_plane plane) {
    int64_t left = 0, right = 0;
    for (int64_t i = 0; i < count; i++) {
        const float lower = parts[i].box.lower[plane.axis], upper = parts[i].box.upper[plane.axis];
        left += sap_reaches_left(lower, upper, plane.at, plane.planar_left);
        right += sap_reaches_right(lower, upper, plane.at, plane.planar_left);
    }
    return sap_cell_cost(cell, measure_of(t, cell), plane.axis, plane.at, t->options.traversal_cost,
                         t->options.intersection_cost, (float)left, (float)right);
}

static int64_t put(plain_tree* t, plain_node node) {
    if (t->node_count >= NODES_MOST) abort();
    t->nodes[t->node_count] = node;
    return t->node_count++;
}

static void put_leaf(plain_tree* t, const plain_part* parts, int64_t count) {
    put(t, (plain_node){3, 0, t->reference_count, count});
    if (t->reference_count + count > REFERENCES_MOST) abort();
    for (int64_t i = 0; i < count; i++) t->references[t->reference_count++] = parts[i].triangle;
}

// The parts on one side of a plane; clipped, unless `clip` is NULL.
typedef sap_halves (*clipping)(sap_triangle triangle, sap_mesh_box part, int axis, float plane);

static int64_t side_of(const plain_tree* t, const plain_part* parts, int64_t count, sap_plane plane, bool left,
                       clipping clip, plain_part* side) {
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        const float lower = parts[i].box.lower[plane.axis], upper = parts[i].box.upper[plane.axis];
        const bool in_left = sap_reaches_left(lower, upper, plane.at, plane.planar_left);
        const bool in_right = sap_reaches_right(lower, upper, plane.at, plane.planar_left);
        if (!(left ? in_left : in_right)) continue;
        side[kept] = parts[i];
        if (in_left && in_right && clip) {
            sap_halves h = clip(triangle_of(t->mesh, parts[i].triangle), parts[i].box, plane.axis, plane.at);
            if (!(left ? h.has_left : h.has_right)) continue;
            side[kept].box = left ? h.left : h.right;
        }
        kept++;
    }
    return kept;
}

static sap_halves cheaply(sap_triangle triangle, sap_mesh_box part, int axis, float plane) {
    return sap_clip_cheaply(triangle, part, axis, plane);
}
static sap_halves exactly(sap_triangle triangle, sap_mesh_box part, int axis, float plane) {
    return sap_clip_exactly(triangle, part, axis, plane);
}

// FAST below 64 triangles: nothing is clipped any more.
static sap_plane best_candidate(const plain_tree* t, const plain_part* parts, int64_t count, sap_mesh_box cell,
                                float* best_cost) {
    sap_plane best = {.axis = -1};
    int best_bound = 0, best_triangle = 0;
    for (int i = 0; i < (int)count; i++)
        for (int bound = 0; bound < 6; bound++) {
            const int axis = bound % 3;
            const float at = bound < 3 ? parts[i].box.lower[axis] : parts[i].box.upper[axis];
            const sap_plane plane = {axis, at + 0.0F, bound >= 3};
            if (!sap_is_candidate(cell, measure_of(t, cell), axis, at)) continue;
            const float cost = cost_of(t, parts, count, cell, plane);
            if (best.axis >= 0 && !sap_candidate_precedes(cost, bound, i, *best_cost, best_bound, best_triangle))
                continue;
            best = plane;
            *best_cost = cost;
            best_bound = bound;
            best_triangle = i;
        }
    return best;
}

static sap_plane best_plane(const plain_tree* t, const plain_part* parts, int64_t count, sap_mesh_box cell,
                            float* best_cost) {
    sap_plane best = {.axis = -1};
    for (int i = 0; i < (int)count; i++)
        for (int n = 0; n < 12; n++) {
            const int axis = n % 3;
            const float at = n < 6 ? parts[i].box.lower[axis] : parts[i].box.upper[axis];
            const sap_plane plane = {axis, at + 0.0F, n / 3 % 2};
            if (!sap_is_candidate(cell, measure_of(t, cell), axis, at)) continue;
            const float cost = cost_of(t, parts, count, cell, plane);
            if (best.axis >= 0 && !sap_plane_precedes(cost, plane, *best_cost, best)) continue;
            best = plane;
            *best_cost = cost;
        }
    return best;
}

// Where a node is cut and how; the plane's axis is -1 if it is to be a leaf.
static sap_plane choose(plain_tree* t, const plain_part* parts, int64_t count, sap_mesh_box cell, bool* small,
                        clipping* clip) {
    const sap_mesh_tree_options* o = &t->options;
    const bool fast = o->quality == SAP_QUALITY_FAST;
    sap_plane plane = {.axis = -1};
    float cost = 0;
    *clip = fast ? cheaply : exactly;
    if (fast && !*small && count > 0) {
        plane = sap_cut_empty(cell, bounds_of(parts, count), o->empty_space);
        if (plane.axis >= 0) return plane;
        if (count > o->small_node) {
            plane = sap_cut_middle(cell, measure_of(t, cell));
            if (plane.axis >= 0)
                t->gave_up |= !sap_is_worth(cost_of(t, parts, count, cell, plane), o->intersection_cost, (float)count);
            t->gave_up |= plane.axis < 0;
            return plane;
        }
    }
    *small = fast;
    if (fast) *clip = NULL;
    if (fast && count < 2) return plane;
    plane = fast ? best_candidate(t, parts, count, cell, &cost) : best_plane(t, parts, count, cell, &cost);
    if (plane.axis >= 0 && !sap_is_worth(cost, o->intersection_cost, (float)count)) plane.axis = -1;
    return plane;
}

static void build(plain_tree* t, const plain_part* parts, int64_t count, sap_mesh_box cell, int depth, bool small) {
    sap_plane plane = {.axis = -1};
    clipping clip;
    if (t->gave_up) return;
    if (depth < DEPTH) plane = choose(t, parts, count, cell, &small, &clip);
    if (plane.axis < 0 || t->gave_up) {
        put_leaf(t, parts, count);
        return;
    }
    put(t, (plain_node){plane.axis, plane.at, 0, 0});
    plain_part* side = malloc((size_t)(count + 1) * sizeof *side);
    for (int left = 1; left >= 0; left--) {
        sap_mesh_box part_of_cell = cell;
        if (left)
            part_of_cell.upper[plane.axis] = plane.at;
        else
            part_of_cell.lower[plane.axis] = plane.at;
        build(t, side, side_of(t, parts, count, plane, left, clip, side), part_of_cell, depth + 1, small);
    }
    free(side);
}

static int by_number(const void* a, const void* b) {
    const int32_t x = *(const int32_t*)a, y = *(const int32_t*)b;
    return (x > y) - (x < y);
}

static bool same_leaf(const plain_tree* t, const plain_node* plain, const sap_mesh_tree* tree, sap_mesh_node node) {
    int32_t* ids = malloc((size_t)(plain->count + 1) * sizeof *ids);
    bool same = node.link >> 2 == (uint32_t)plain->count;
    for (int64_t i = 0; same && i < plain->count; i++)
        ids[i] = sap_mesh_ids(
            tree)[plain->count == 1 ? (int32_t)node.bits : sap_mesh_references(tree)[node.bits + (uint32_t)i]];
    if (same && plain->count) {
        qsort(ids, (size_t)plain->count, sizeof *ids, by_number);
        qsort(t->references + plain->first, (size_t)plain->count, sizeof *ids, by_number);
        same = !memcmp(ids, t->references + plain->first, (size_t)plain->count * sizeof *ids);
    }
    free(ids);
    return same;
}

static void expect_same(const plain_tree* t, const sap_mesh_tree* tree) {
    if (!CHECK_EQUAL(tree->shape.nodes, t->node_count)) return;
    for (int64_t i = 0; i < t->node_count; i++) {
        const sap_mesh_node node = sap_mesh_nodes(tree)[i];
        const plain_node* plain = &t->nodes[i];
        bool same = (int)(node.link & 3) == plain->axis;
        if (same && plain->axis < 3) same = node.bits == sap_bits_of_float(plain->plane);
        if (same && plain->axis == 3) same = same_leaf(t, plain, tree, node);
        if (!CHECK(same)) return;
    }
}

static plain_part* parts_of(const sap_mesh* mesh) {
    plain_part* parts = calloc((size_t)mesh->triangle_count + 1, sizeof *parts);
    for (int64_t i = 0; i < mesh->triangle_count; i++) {
        parts[i].triangle = (int32_t)i;
        parts[i].box = box_of(triangle_of(mesh, (int32_t)i));
    }
    return parts;
}

// Builds both ways and compares; whether the plain builder knew how.
static bool compare(const sap_mesh* mesh, const sap_mesh_tree_options* options) {
    plain_tree t = {.mesh = mesh,
                    .options = *options,
                    .nodes = malloc(NODES_MOST * sizeof *t.nodes),
                    .references = malloc(REFERENCES_MOST * sizeof *t.references)};
    plain_part* parts = parts_of(mesh);
    build(&t, parts, mesh->triangle_count, bounds_of(parts, mesh->triangle_count), 0, false);
    for (int simd = SAP_SIMD_PORTABLE; simd <= SAP_SIMD_AVX512 && !t.gave_up; simd++) {
        sap_device_options where = {.processor = SAP_CPU, .threads = 2, .simd = (sap_simd)simd};
        sap_device* device = NULL;
        sap_mesh_tree* tree = NULL;
        if (sap_device_open(&where, &device) != SAP_OK) continue; // this machine lacks the instructions
        if (CHECK_STATUS(sap_mesh_tree_build(device, *mesh, options, &tree), SAP_OK)) expect_same(&t, tree);
        sap_mesh_tree_free(tree);
        sap_device_close(device);
    }
    free(parts);
    free(t.references);
    free(t.nodes);
    return !t.gave_up;
}

static const sap_mesh_tree_options plain = {.traversal_cost = 5,
                                            .intersection_cost = 1,
                                            .empty_space = 0.25F,
                                            .small_node = 64,
                                            .depth = DEPTH,
                                            .radius = 0.01F};

TEST(fast_trees_are_of_shared_texts) {
    int compared = 0;
    for (int n = 0; n < 2 * MESH_FAMILIES; n++) {
        sap_mesh_tree_options options = plain;
        options.quality = SAP_QUALITY_FAST;
        options.cost = n % 2 ? SAP_COST_VOXELS : SAP_COST_SURFACE;
        NOTE("%s, cost %d", mesh_family_name((mesh_family)(n / 2)), n % 2);
        sap_mesh mesh = mesh_of_family((mesh_family)(n / 2), 6000, 11);
        compared += compare(&mesh, &options);
        mesh_free(&mesh);
    }
    CHECK(compared >= MESH_FAMILIES);
}

TEST(small_high_trees_are_of_shared_texts) {
    for (int n = 0; n < 20 * MESH_FAMILIES; n++) {
        sap_mesh_tree_options options = plain;
        options.quality = SAP_QUALITY_HIGH;
        options.cost = n % 2 ? SAP_COST_VOXELS : SAP_COST_SURFACE;
        options.traversal_cost = n % 3 ? 0.5F : 5;
        NOTE("%s, number %d", mesh_family_name((mesh_family)(n / 20)), n);
        sap_mesh mesh = mesh_of_family((mesh_family)(n / 20), 3 * (n % 20) + 1, (uint64_t)n);
        if (mesh.triangle_count <= 64) CHECK(compare(&mesh, &options));
        mesh_free(&mesh);
    }
}

TEST_MAIN()
