// The shared texts of building over triangles: a plain builder made of nothing else, which tries every plane at every
// triangle, gives the trees of the library, on every instruction set.
#include "mesh/access.h"
#include "mesh/build.h"
#include "mesh_families.h"
#include "test.h"
#include <stdlib.h>

#define SAP_TO_FLOAT(x) ((float)(x))
#include "math/sah.h"
#include "mesh/clip/clip.h"
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
    bool was_short; // of references
} plain_tree;

// A node on its way.
typedef struct plain_job {
    sap_mesh_box cell;
    int64_t count, most; // parts; references
    int depth;
    bool small;     // part of a subtree of few triangles
    int64_t* spare; // of that subtree
} plain_job;

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

static void count_sides(const plain_part* parts, int64_t count, sap_plane plane, int64_t sides[2]) {
    sides[0] = sides[1] = 0;
    for (int64_t i = 0; i < count; i++) {
        const float lower = parts[i].box.lower[plane.axis], upper = parts[i].box.upper[plane.axis];
        sides[0] += sap_reaches_left(lower, upper, plane.at, plane.planar_left);
        sides[1] += sap_reaches_right(lower, upper, plane.at, plane.planar_left);
    }
}

static float cost_of_sides(const plain_tree* t, sap_mesh_box cell, sap_plane plane, const int64_t sides[2]) {
    return sap_cell_cost(cell, measure_of(t, cell), plane.axis, plane.at, t->options.traversal_cost,
                         t->options.intersection_cost, (float)sides[0], (float)sides[1]);
}

static float cost_of(const plain_tree* t, const plain_part* parts, int64_t count, sap_mesh_box cell, sap_plane plane) {
    int64_t sides[2];
    count_sides(parts, count, plane, sides);
    return cost_of_sides(t, cell, plane, sides);
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

static void keep_better(float cost, sap_plane plane, float* best_cost, sap_plane* best) {
    if (best->axis >= 0 && !sap_plane_precedes(cost, plane, *best_cost, *best)) return;
    *best = plane;
    *best_cost = cost;
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
            keep_better(cost_of(t, parts, count, cell, plane), plane, best_cost, &best);
        }
    return best;
}

// The parts that start (0) and end (1) in each bin of an axis; false: it cannot be cut.
static bool fill_bins(const plain_tree* t, const plain_part* parts, int64_t count, sap_mesh_box cell, int axis,
                      int64_t bins[2][64]) {
    const float scale = sap_bin_scale(cell, measure_of(t, cell), axis);
    memset(bins, 0, 2 * sizeof bins[0]);
    for (int64_t i = 0; i < count; i++) {
        bins[0][sap_bin_of(parts[i].box.lower[axis], cell.lower[axis], scale)]++;
        bins[1][sap_bin_of(parts[i].box.upper[axis], cell.lower[axis], scale)]++;
    }
    return scale > 0;
}

static sap_plane best_edge(const plain_tree* t, const plain_part* parts, int64_t count, sap_mesh_box cell,
                           float* best_cost) {
    sap_plane best = {.axis = -1};
    for (int axis = 0; axis < 3; axis++) {
        int64_t bins[2][64], sides[2] = {0, count};
        if (!fill_bins(t, parts, count, cell, axis, bins)) continue;
        for (int bin = 1; bin < 64; bin++) {
            const sap_plane plane = {axis, sap_bin_edge(cell, axis, bin) + 0.0F, false};
            sides[0] += bins[0][bin - 1];
            sides[1] -= bins[1][bin - 1];
            if (!sap_is_candidate(cell, measure_of(t, cell), axis, plane.at)) continue;
            keep_better(cost_of_sides(t, cell, plane, sides), plane, best_cost, &best);
        }
    }
    return best;
}

// The bins that are searched, in order.
static int choose_bins(const plain_tree* t, const plain_part* parts, int64_t count, sap_mesh_box cell, float edge_cost,
                       sap_bin chosen[SAP_MESH_CHOSEN]) {
    sap_bin all[3 * 64];
    int64_t room[3 * 64], used = 0;
    int have = 0, kept = 0;
    for (int axis = 0; axis < 3; axis++) {
        int64_t bins[2][64], before = 0, after = count;
        if (!fill_bins(t, parts, count, cell, axis, bins)) continue;
        for (int bin = 0; bin < 64; before += bins[0][bin++]) {
            after -= bins[1][bin];
            all[have] = sap_bin_with_bound(cell, measure_of(t, cell), axis, bin, t->options.traversal_cost,
                                           t->options.intersection_cost, (float)before, (float)after);
            room[have] = sap_room_for_bin(bins[0][bin], bins[1][bin]);
            have += bins[0][bin] + bins[1][bin] > 0 && all[have].bound < edge_cost;
        }
    }
    for (; kept < SAP_MESH_CHOSEN && kept < have; kept++) {
        int first = kept;
        for (int i = kept + 1; i < have; i++)
            if (sap_bin_precedes(all[i], all[first])) first = i;
        chosen[kept] = all[first];
        used += room[first];
        if (used > 3 * count) break;
        all[first] = all[kept];
        room[first] = room[kept];
    }
    return kept;
}

static sap_plane best_by_bins(const plain_tree* t, const plain_part* parts, int64_t count, sap_mesh_box cell,
                              float* best_cost) {
    sap_bin chosen[SAP_MESH_CHOSEN];
    sap_plane best = best_edge(t, parts, count, cell, best_cost);
    const int have = choose_bins(t, parts, count, cell, best.axis < 0 ? __builtin_inff() : *best_cost, chosen);
    for (int j = 0; j < have; j++) {
        const int axis = chosen[j].axis;
        const float scale = sap_bin_scale(cell, measure_of(t, cell), axis);
        for (int64_t i = 0; i < 2 * count; i++) {
            const float at = i < count ? parts[i].box.lower[axis] : parts[i - count].box.upper[axis];
            if (sap_bin_of(at, cell.lower[axis], scale) != chosen[j].number) continue;
            if (!sap_is_candidate(cell, measure_of(t, cell), axis, at)) continue;
            for (int left = 0; left < 2; left++) {
                const sap_plane plane = {axis, at + 0.0F, left};
                keep_better(cost_of(t, parts, count, cell, plane), plane, best_cost, &best);
            }
        }
    }
    return best;
}

static bool is_worth(const plain_tree* t, const plain_part* parts, const plain_job* job, sap_plane plane) {
    return plane.axis >= 0 && sap_is_worth(cost_of(t, parts, job->count, job->cell, plane),
                                           t->options.intersection_cost, (float)job->count);
}

// A node of more than 64 triangles, or that has not been looked at for empty space.
static sap_plane choose_large(const plain_tree* t, const plain_part* parts, const plain_job* job) {
    const bool fast = t->options.quality == SAP_QUALITY_FAST, large = job->count > t->options.small_node;
    sap_plane plane = {.axis = -1};
    float cost = 0;
    if (fast && job->count > 0) plane = sap_cut_empty(job->cell, bounds_of(parts, job->count), t->options.empty_space);
    if (plane.axis >= 0 || !large) return plane;
    if (fast) plane = sap_cut_middle(job->cell, measure_of(t, job->cell));
    if (is_worth(t, parts, job, plane)) return plane;
    plane =
        fast ? best_edge(t, parts, job->count, job->cell, &cost) : best_by_bins(t, parts, job->count, job->cell, &cost);
    if (!is_worth(t, parts, job, plane)) plane.axis = -1;
    return plane;
}

static sap_plane choose_small(const plain_tree* t, const plain_part* parts, const plain_job* job) {
    const bool fast = t->options.quality == SAP_QUALITY_FAST;
    sap_plane plane = {.axis = -1};
    float cost = 0;
    if (fast && job->count < 2) return plane;
    plane = fast ? best_candidate(t, parts, job->count, job->cell, &cost)
                 : best_plane(t, parts, job->count, job->cell, &cost);
    if (plane.axis >= 0 && !sap_is_worth(cost, t->options.intersection_cost, (float)job->count)) plane.axis = -1;
    return plane;
}

// Where a node is cut; the plane's axis is -1 if it is to be a leaf.
static sap_plane choose(plain_tree* t, const plain_part* parts, plain_job* job, int64_t sides[2]) {
    sap_plane plane = {.axis = -1};
    if (job->depth >= DEPTH) return plane;
    if (!job->small) {
        bool may = true;
        plane = choose_large(t, parts, job);
        if (plane.axis >= 0) {
            count_sides(parts, job->count, plane, sides);
            may = sap_may_cut(job->most, sides[0], sides[1]);
        }
        t->was_short |= !may;
        if (!may) plane.axis = -1;
        if (plane.axis >= 0 || job->count > t->options.small_node) return plane;
        *job->spare = sap_spare_at_first(job->most, job->count);
        job->small = true;
    }
    plane = choose_small(t, parts, job);
    t->was_short |= plane.axis >= 0 && !sap_may_cut_small(*job->spare, job->count);
    if (!sap_may_cut_small(*job->spare, job->count)) plane.axis = -1;
    return plane;
}

static void build(plain_tree* t, const plain_part* parts, plain_job job) {
    int64_t counts[2] = {0, 0}, spare = 0;
    if (!job.small) job.spare = &spare;
    const sap_plane plane = choose(t, parts, &job, counts);
    if (plane.axis < 0) {
        put_leaf(t, parts, job.count);
        return;
    }
    const bool fast = t->options.quality == SAP_QUALITY_FAST;
    const clipping clip = !fast ? exactly : job.small ? NULL : cheaply;
    put(t, (plain_node){plane.axis, plane.at, 0, 0});
    plain_job child[2] = {job, job};
    plain_part* side[2];
    for (int k = 0; k < 2; k++) { // the left one first
        side[k] = malloc((size_t)(job.count + 1) * sizeof *side[k]);
        child[k].count = side_of(t, parts, job.count, plane, k == 0, clip, side[k]);
        child[k].depth++;
        if (!job.small) child[k].most = sap_hand_down(job.most, counts[0], counts[1], counts[k], child[k].count);
        if (k)
            child[k].cell.lower[plane.axis] = plane.at;
        else
            child[k].cell.upper[plane.axis] = plane.at;
    }
    if (job.small) *job.spare = sap_spare_after(*job.spare, job.count, child[0].count, child[1].count);
    for (int k = 0; k < 2; k++) {
        build(t, side[k], child[k]);
        free(side[k]);
    }
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

// Builds both ways and compares; whether the tree was cut short for want of references.
static bool compare(const sap_mesh* mesh, const sap_mesh_tree_options* options) {
    plain_tree t = {.mesh = mesh,
                    .options = *options,
                    .nodes = malloc(NODES_MOST * sizeof *t.nodes),
                    .references = malloc(REFERENCES_MOST * sizeof *t.references)};
    plain_part* parts = parts_of(mesh);
    const int64_t most = sap_most_references(mesh->triangle_count);
    build(&t, parts,
          (plain_job){.cell = bounds_of(parts, mesh->triangle_count), .count = mesh->triangle_count, .most = most});
    CHECK(t.node_count <= 2 * most && t.reference_count <= most);
    for (int simd = SAP_SIMD_PORTABLE; simd <= SAP_SIMD_AVX512; simd++) {
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
    return t.was_short;
}

static const sap_mesh_tree_options plain = {.traversal_cost = 5,
                                            .intersection_cost = 1,
                                            .empty_space = 0.25F,
                                            .small_node = 64,
                                            .depth = DEPTH,
                                            .radius = 0.01F};

static sap_mesh_tree_options options_of(sap_quality quality, sap_cost cost) {
    sap_mesh_tree_options options = plain;
    options.quality = quality;
    options.cost = cost;
    return options;
}

// Meshes of every family, of so many triangles for each cost.
static void compare_families(sap_quality quality, const int64_t triangles[2], uint64_t seed) {
    int cut_short = 0;
    for (int kind = 0; kind < MESH_FAMILIES; kind++)
        for (int cost = 0; cost < 2; cost++) {
            const sap_mesh_tree_options options = options_of(quality, (sap_cost)cost);
            NOTE("%s, cost %d", mesh_family_name((mesh_family)kind), cost);
            sap_mesh mesh = mesh_of_family((mesh_family)kind, triangles[cost], seed);
            cut_short += compare(&mesh, &options);
            mesh_free(&mesh);
        }
    CHECK(cut_short > 0 && cut_short < MESH_FAMILIES);
}

TEST(fast_trees_are_of_shared_texts) {
    compare_families(SAP_QUALITY_FAST, (const int64_t[]){6000, TEST_SANITIZED ? 300 : 6000}, 11);
}

TEST(high_trees_are_of_shared_texts) { compare_families(SAP_QUALITY_HIGH, (const int64_t[]){1500, 500}, 12); }

TEST(small_high_trees_are_of_shared_texts) {
    for (int n = 0; n < 20 * MESH_FAMILIES; n++) {
        sap_mesh_tree_options options = options_of(SAP_QUALITY_HIGH, n % 2 ? SAP_COST_VOXELS : SAP_COST_SURFACE);
        options.traversal_cost = n % 3 ? 0.5F : 5;
        NOTE("%s, number %d", mesh_family_name((mesh_family)(n / 20)), n);
        sap_mesh mesh = mesh_of_family((mesh_family)(n / 20), 3 * (n % 20) + 1, (uint64_t)n);
        if (mesh.triangle_count <= 64) compare(&mesh, &options);
        mesh_free(&mesh);
    }
}

// Triangles one behind the other, each at half the way to a crowd at the end: cut after cut splits off one, and the
// parts of all nodes above would not fit into a thread's workshop at once.
TEST(a_crowd_at_the_end_of_a_row) {
    enum { ROW = 36, CROWD = 4000, ALL = ROW + CROWD };
    float* vertices = malloc(ALL * 9 * sizeof *vertices);
    int32_t* triangles = malloc(ALL * 3 * sizeof *triangles);
    const float end = 1.0F / (float)(INT64_C(1) << ROW);
    for (int i = 0; i < ALL; i++)
        for (int k = 0; k < 9; k++) {
            const float unit = (float)((i * 9 + k) * 7919 % 10007) / 10007;
            const bool on_row = i < ROW && k % 3 == 0;
            vertices[9 * i + k] = on_row ? (1 - 0.1F * unit) / (float)(INT64_C(1) << i) : end * unit;
            if (k < 3) triangles[3 * i + k] = 3 * i + k;
        }
    const sap_mesh mesh = {vertices, 3 * ALL, triangles, ALL};
    for (int n = 0; n < 2; n++) {
        sap_mesh_tree_options options = options_of(n ? SAP_QUALITY_FAST : SAP_QUALITY_HIGH, SAP_COST_SURFACE);
        options.empty_space = 0.95F;
        NOTE("quality %d", n);
        compare(&mesh, &options);
    }
    free(vertices);
    free(triangles);
}

TEST_MAIN()
