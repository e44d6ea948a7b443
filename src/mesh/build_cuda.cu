// Building trees over triangles on CUDA devices: memory, and the order of the stages.
//
// The number of triangles determines the size of all scratch memory. If that is too little, which is rare, a stage
// stops and the host makes room and continues, or begins again. The tree remembers how much memory was needed.
#include "mesh/join/join_cuda.cuh"
#include "mesh/mesh_cuda.h"
extern "C" {
#include "device/progress.h"
#include "mesh/load.h"
}

namespace {

enum {
    STEPS = 2,        // steps of progress: the pieces, the tree
    SHARE_STEPS = 32, // steps of the search for the largest share
    PAGE = 4096,      // memory is taken in multiples of so many bytes
    LISTS = 16        // most lists
};

// The capacity of each list.
typedef struct capacities {
    int64_t parts, small, roots, jobs, units, tops, nodes, positions;
} capacities;

typedef struct build {
    sap_cuda_call call;
    sap_mesh_tree* tree;
    const sap_mesh* mesh;
    const float* vertices; // on the GPU
    const int32_t* triangles;
    size_t limit, in_use; // bytes of scratch memory: the bound (0: none), and those in use
    capacities room;
    sap_mesh_cuda_build on_gpu;
    sap_mesh_cuda_state state; // as of the last fetch
} build;

// ---- Memory

// Sets the capacities that follow from the number of parts.
void follow_parts(capacities* r, int32_t small_node) {
    r->jobs = r->parts / (small_node + 1) + 2;
    // A job that has units has more than SAP_MESH_ONE_WARP places.
    r->units = r->parts / (SAP_MESH_ONE_WARP / 3) + SAP_MESH_UNITS + 2;
}

// share: 0 for the least memory that any mesh can be built in, 1 for as much as builds without a bound get.
capacities capacities_for(int64_t triangles, double share, int32_t small_node) {
    capacities r;
    const double t = (double)triangles;
    r.parts = 3 * triangles + (int64_t)(2 * t * share) + 64;
    r.small = 64 * SAP_MESH_SMALL + (int64_t)(4 * t * share);
    r.roots = 64 + r.small / 16;
    r.tops = 256 + triangles / 16 + (int64_t)(0.25 * t * share);
    r.nodes = 256 + triangles / 2 + (int64_t)(3.5 * t * share);
    r.positions = 256 + 2 * triangles + (int64_t)(4 * t * share);
    follow_parts(&r, small_node);
    return r;
}

size_t bins_bytes(const capacities* r) { return (size_t)(r->units / 2 + 1) * 6 * SAP_MESH_BINS * sizeof(uint32_t); }

size_t capacities_bytes(const capacities* r, int64_t triangles) {
    return (size_t)triangles * 3 * sizeof(float4) + (size_t)(r->parts + r->small) * sizeof(sap_mesh_cuda_part) +
           (size_t)r->roots * sizeof(sap_mesh_cuda_root) + (size_t)r->jobs * sizeof(sap_mesh_cuda_job) +
           (size_t)r->units * (2 * sizeof(int2) + sizeof(sap_mesh_cuda_unit)) + bins_bytes(r) +
           (size_t)r->tops * sizeof(sap_mesh_cuda_top) + (size_t)r->nodes * sizeof(sap_mesh_node) +
           (size_t)r->positions * sizeof(int32_t) + sizeof(sap_mesh_cuda_state);
}

void too_little(build* w) {
    if (w->call.status == SAP_OK)
        w->call.status = sap_fail(w->tree->device, SAP_ERROR_RANGE,
                                  "options.memory: %zu bytes are too little for this mesh", w->limit);
}

size_t whole_pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

// Takes scratch memory within the bound.
void* take(build* w, size_t bytes) {
    bytes = whole_pages(bytes);
    if (w->limit && (bytes > w->limit || w->in_use > w->limit - bytes)) {
        too_little(w);
        return NULL;
    }
    w->in_use += bytes;
    return sap_cuda_take(&w->call, bytes);
}

void give_back(build* w, void* memory, size_t bytes) {
    if (!memory) return;
    SAP_ASSERT(w->in_use >= whole_pages(bytes));
    w->in_use -= whole_pages(bytes);
    sap_cuda_give(&w->call, memory);
}

// Replaces a list, whose contents are no longer used, if there is one.
template <typename type> void take_list(build* w, type** list, int64_t old_count, int64_t count) {
    give_back(w, *list, (size_t)old_count * sizeof(type));
    *list = (type*)take(w, (size_t)count * sizeof(type));
}

int64_t at_least(int64_t a, int64_t b) { return a > b ? a : b; }

// Chooses capacities by the largest share that the bound allows; without a bound, at least what the last build needed.
void choose_capacities(build* w) {
    const int64_t triangles = w->mesh->triangle_count;
    const int32_t small_node = w->on_gpu.rules.small_node;
    const sap_mesh_cuda_capacities none = {0, 0, 0, 0};
    const sap_mesh_cuda_capacities known = w->tree->beside ? sap_mesh_cuda_of(w->tree)->capacities : none;
    double low = 0, high = 1;
    w->room = capacities_for(triangles, 1, small_node);
    if (w->limit && capacities_bytes(&w->room, triangles) + LISTS * PAGE > w->limit - w->in_use) {
        for (int i = 0; i < SHARE_STEPS; i++) {
            const double share = 0.5 * (low + high);
            const capacities r = capacities_for(triangles, share, small_node);
            (capacities_bytes(&r, triangles) + LISTS * PAGE > w->limit - w->in_use ? high : low) = share;
        }
        w->room = capacities_for(triangles, low, small_node);
    } else if (!w->limit) {
        w->room.parts = at_least(w->room.parts, known.parts);
        w->room.tops = at_least(w->room.tops, known.tops);
        w->room.nodes = at_least(w->room.nodes, known.nodes);
        w->room.positions = at_least(w->room.positions, known.positions);
    }
    follow_parts(&w->room, small_node);
}

// old: the capacities before, or zeros.
void take_parts(build* w, const capacities* old) {
    sap_mesh_cuda_build* g = &w->on_gpu;
    const capacities* r = &w->room;
    take_list(w, &g->parts, old->parts, r->parts);
    take_list(w, &g->jobs, old->jobs, r->jobs);
    take_list(w, &g->units[0], old->units, r->units);
    take_list(w, &g->units[1], old->units, r->units);
    take_list(w, &g->results, old->units, r->units);
    give_back(w, g->bins, bins_bytes(old));
    g->bins = (uint32_t*)take(w, bins_bytes(r));
    g->capacity = r->parts;
    g->job_capacity = r->jobs;
}

void take_tops(build* w) {
    take_list(w, &w->on_gpu.tops, w->on_gpu.top_capacity, w->room.tops);
    w->on_gpu.top_capacity = w->room.tops;
}

void take_all(build* w) {
    sap_mesh_cuda_build* g = &w->on_gpu;
    const capacities* r = &w->room;
    const capacities none = {};
    float4* corners = NULL;
    choose_capacities(w);
    take_list(w, &g->state, 0, 1);
    take_list(w, &corners, 0, 3 * w->mesh->triangle_count);
    take_parts(w, &none);
    take_tops(w);
    take_list(w, &g->small, 0, r->small);
    take_list(w, &g->roots, 0, r->roots);
    take_list(w, &g->staged_nodes, 0, r->nodes);
    take_list(w, &g->staged, 0, r->positions);
    g->corners = corners;
    g->small_capacity = r->small;
    g->root_capacity = r->roots;
    g->staged_node_capacity = r->nodes;
    g->staged_capacity = r->positions;
}

// Lengthens a list to `count` entries and keeps the `taken` first ones. It becomes half as long again as necessary, so
// that this happens rarely; under a bound, the extra must leave half of the remaining memory to other lists.
template <typename type>
void lengthen(build* w, type** list, int64_t* capacity, int64_t* room, uint64_t taken, int64_t count) {
    const int64_t used = (int64_t)taken < *capacity ? (int64_t)taken : *capacity;
    type* longer = NULL;
    int64_t most = count + count / 2;
    if (w->limit) {
        const int64_t half = (int64_t)((w->limit - w->in_use) / 2 / sizeof(type));
        if (most > half) most = half;
    }
    count = at_least(count, most);
    SAP_ASSERT(count >= used);
    take_list(w, &longer, 0, count);
    sap_cuda_copy(&w->call, longer, *list, (size_t)used * sizeof(type));
    give_back(w, *list, (size_t)*capacity * sizeof(type));
    *list = longer;
    *capacity = *room = count;
}

// ---- Stages

// Begins the build, or begins it again.
void begin(build* w) {
    sap_mesh_cuda_state state = {};
    sap_cuda_call* call = &w->call;
    state.bad = ~0ull;
    for (int k = 0; k < 3; k++) {
        state.bounds[k] = 0xff800000u;     // sap_ordinal_of(INFINITY)
        state.bounds[3 + k] = 0x007fffffu; // sap_ordinal_of(-INFINITY)
    }
    sap_cuda_copy(call, w->on_gpu.state, &state, sizeof state);
    sap_cuda_fill(call, w->on_gpu.bins, 0, bins_bytes(&w->room));
    sap_mesh_cuda_load(call, &w->on_gpu, w->vertices, w->mesh->vertex_count, w->triangles);
}

void fetch_state(build* w) { sap_cuda_fetch(&w->call, &w->state, w->on_gpu.state, sizeof w->state); }

// Fetches the first bad triangle and fails with what is wrong with it.
void refuse(build* w) {
    int32_t corners[3] = {-1, -1, -1};
    float vertices[3][3] = {};
    const int64_t triangle = (int64_t)w->state.bad;
    sap_cuda_fetch(&w->call, corners, w->triangles + 3 * triangle, sizeof corners);
    for (int k = 0; k < 3; k++)
        if (sap_mesh_has_vertex(w->mesh, corners[k]))
            sap_cuda_fetch(&w->call, vertices[k], w->vertices + 3 * (int64_t)corners[k], sizeof vertices[k]);
    if (w->call.status == SAP_OK)
        w->call.status = sap_mesh_refuse(w->tree->device, w->mesh, corners, vertices, triangle);
}

// Builds the small roots. Makes room and repeats while roots are refused staging memory.
void build_small(build* w) {
    sap_mesh_cuda_build* g = &w->on_gpu;
    for (;;) {
        if (g->rules.fast)
            sap_mesh_cuda_small_fast(&w->call, g);
        else
            sap_mesh_cuda_small_high(&w->call, g);
        fetch_state(w);
        const sap_mesh_cuda_state* s = &w->state;
        if (w->call.status != SAP_OK || !(s->refused_nodes || s->refused_positions)) return;
        const int64_t nodes = (int64_t)(s->staged_nodes + s->refused_nodes);
        const int64_t positions = (int64_t)(s->staged_positions + s->refused_positions);
        if (nodes > g->staged_node_capacity)
            lengthen(w, &g->staged_nodes, &g->staged_node_capacity, &w->room.nodes, s->staged_nodes, nodes);
        if (positions > g->staged_capacity)
            lengthen(w, &g->staged, &g->staged_capacity, &w->room.positions, s->staged_positions, positions);
        sap_cuda_fill(&w->call, &g->state->refused_nodes, 0, 2 * sizeof s->refused_nodes);
    }
}

// Not even one job fits: too little staging memory for a large leaf, or too little for the parts of a job's sides.
void make_room(build* w) {
    sap_mesh_cuda_build* g = &w->on_gpu;
    const int64_t positions = (int64_t)w->state.staged_positions + w->mesh->triangle_count;
    if (positions > g->staged_capacity) {
        lengthen(w, &g->staged, &g->staged_capacity, &w->room.positions, w->state.staged_positions, positions);
        return;
    }
    const capacities old = w->room;
    w->room.parts *= 2;
    follow_parts(&w->room, g->rules.small_node);
    take_parts(w, &old);
    begin(w);
}

// Prepares the kernel that has stopped to continue, or begins again.
void resume(build* w) {
    sap_mesh_cuda_state* there = w->on_gpu.state;
    switch (w->state.batch.stop) {
    case SAP_MESH_STOP_ROOTS:
        sap_cuda_fill(&w->call, &there->roots, 0, sizeof there->roots);
        sap_cuda_fill(&w->call, &there->small_parts, 0, sizeof there->small_parts);
        break;
    case SAP_MESH_STOP_ROOM: make_room(w); break;
    case SAP_MESH_STOP_TOPS:
        w->room.tops *= 2;
        take_tops(w);
        begin(w);
        break;
    default:
        w->call.status = sap_fail(w->tree->device, SAP_ERROR_DEVICE_LOST, "GPU %d has not finished its work correctly",
                                  w->call.cuda->ordinal);
    }
}

// Builds all pieces of the tree.
void divide(build* w) {
    sap_mesh_cuda_build* g = &w->on_gpu;
    begin(w);
    while (w->call.status == SAP_OK) {
        if (g->rules.fast)
            sap_mesh_cuda_large_fast(&w->call, g);
        else
            sap_mesh_cuda_large_high(&w->call, g);
        build_small(w);
        if (w->call.status != SAP_OK) return;
        if (w->state.bad != ~0ull) return refuse(w);
        if (w->state.batch.stop == SAP_MESH_STOP_DONE) return;
        resume(w);
    }
}

// ---- The end

bool make_shape(build* w, const sap_mesh_cuda_top* root, sap_mesh_tree_shape* shape) {
    const sap_mesh_cuda_state* s = &w->state;
    memset(shape, 0, sizeof *shape);
    shape->triangles = w->mesh->triangle_count;
    shape->nodes = root->nodes;
    shape->listed = root->listed;
    shape->leaves = (int64_t)s->leaves;
    shape->empty_leaves = (int64_t)s->empty;
    shape->references = (int64_t)s->references;
    shape->depth = s->deepest;
    shape->largest_leaf = s->largest;
    memcpy(shape->lower, s->box.lower, sizeof shape->lower);
    memcpy(shape->upper, s->box.upper, sizeof shape->upper);
    SAP_ASSERT(shape->nodes == 2 * shape->leaves - 1 && shape->listed <= shape->references);
    SAP_ASSERT(shape->references <= root->positions);
    if (shape->nodes >= (int64_t)1 << 30 || root->positions > INT32_MAX)
        w->call.status =
            sap_fail(w->tree->device, SAP_ERROR_RANGE,
                     "mesh: the tree has more than 2^30 nodes, or its references need more than 2^31 places");
    else if (!sap_mesh_shape_places(shape))
        w->call.status =
            sap_fail(w->tree->device, SAP_ERROR_RANGE, "mesh: the tree needs more memory than can be addressed");
    return w->call.status == SAP_OK;
}

sap_mesh_cuda_join join_of(const build* w, int64_t positions) {
    const sap_mesh_tree* tree = w->tree;
    const sap_mesh_tree_shape* s = &tree->shape;
    sap_mesh_cuda_join j = {};
    j.triangles = s->triangles;
    j.tops = w->state.tops;
    j.positions = positions;
    j.arrays = tree->arrays;
    j.nodes = (sap_mesh_node*)(tree->arrays + s->node_at);
    j.references = (int32_t*)(tree->arrays + s->reference_at);
    j.corners = (float*)(tree->arrays + s->corner_at);
    j.ids = (int32_t*)(tree->arrays + s->id_at);
    j.inner = sap_mesh_cuda_of(tree)->nodes;
    j.packed = sap_mesh_cuda_of(tree)->triangles;
    j.gap[0] = {s->node_at + (size_t)s->nodes * sizeof(sap_mesh_node), s->reference_at};
    j.gap[1] = {s->reference_at + (size_t)s->listed * sizeof(int32_t), s->corner_at};
    j.gap[2] = {s->corner_at + (size_t)s->triangles * SAP_TRIANGLE_FLOATS * sizeof(float), s->id_at};
    j.gap[3] = {s->id_at + (size_t)s->triangles * sizeof(int32_t), s->bytes + SAP_ALIGNMENT};
    return j;
}

void join(build* w) {
    sap_mesh_cuda_top root;
    sap_mesh_tree_shape shape;
    sap_cuda_fetch(&w->call, &root, w->on_gpu.tops, sizeof root);
    if (w->call.status != SAP_OK || !make_shape(w, &root, &shape)) return;
    // The parts are no longer needed.
    const size_t bytes = sap_mesh_join_bytes(shape.triangles, root.positions);
    const size_t part_bytes = (size_t)w->room.parts * sizeof(sap_mesh_cuda_part);
    void* memory = w->on_gpu.parts;
    if (bytes > part_bytes) {
        if (w->limit) give_back(w, memory, part_bytes); // without a bound it is kept for the next build
        memory = take(w, bytes);
    }
    sap_mesh_cuda_reserve(&w->call, w->tree, &shape, root.positions);
    if (w->call.status != SAP_OK) return;
    sap_mesh_cuda_join j = join_of(w, root.positions);
    sap_mesh_cuda_join_all(&w->call, &w->on_gpu, &j, memory, shape.largest_leaf > w->on_gpu.rules.small_node);
    sap_mesh_cuda_of(w->tree)->capacities = {w->room.parts, w->room.tops, w->room.nodes, w->room.positions};
}

// An array of the mesh on the GPU: the array itself or a copy, which counts as scratch memory.
const void* on_gpu_or_copied(build* w, const void* array, size_t bytes) {
    if (!bytes || sap_cuda_on_device(&w->call, array)) return array;
    w->in_use += whole_pages(bytes);
    if (w->limit && w->in_use > w->limit) too_little(w);
    return sap_cuda_in(&w->call, array, bytes);
}

void build_tree(build* w) {
    const sap_mesh* mesh = w->mesh;
    sap_progress_state progress = sap_progress_begin(w->tree->device, STEPS);
    w->limit = w->tree->options.memory;
    w->on_gpu.rules = sap_mesh_rules_of(&w->tree->options, mesh->triangle_count);
    w->on_gpu.triangles = mesh->triangle_count;
    w->vertices = (const float*)on_gpu_or_copied(w, mesh->vertices, (size_t)mesh->vertex_count * 3 * sizeof(float));
    w->triangles =
        (const int32_t*)on_gpu_or_copied(w, mesh->triangles, (size_t)mesh->triangle_count * 3 * sizeof(int32_t));
    take_all(w);
    divide(w);
    if (w->call.status != SAP_OK) return;
    if (!sap_progress_add(&progress, 1) || !sap_progress_finish(&progress)) {
        w->call.status = sap_fail(w->tree->device, SAP_ERROR_CANCELLED, "the build was cancelled");
        return;
    }
    join(w);
}

// After a failure in the middle of a rebuild the arrays hold parts of the old and of the new tree: an empty tree
// replaces them. If the GPU cannot be written to either, the empty shape alone keeps callers from reading the arrays.
void make_empty(sap_mesh_tree* tree) {
    const sap_mesh_node leaf = {0, SAP_MESH_LEAF};
    sap_mesh_tree_shape* s = &tree->shape;
    sap_cuda_call call;
    memset(s, 0, sizeof *s);
    s->nodes = s->leaves = s->empty_leaves = 1;
    for (int k = 0; k < 3; k++) s->lower[k] = INFINITY, s->upper[k] = -INFINITY;
    (void)sap_mesh_shape_places(s);
    sap_mesh_cuda_of(tree)->root = SAP_MESH_SIDE_EMPTY;
    if (sap_cuda_of(tree->device)->lost) return;
    sap_cuda_begin(&call, tree->device);
    call.quiet = call.waits = true; // the failure has been logged already
    sap_cuda_fill(&call, tree->arrays, 0, s->bytes + SAP_ALIGNMENT);
    sap_cuda_copy(&call, tree->arrays, &leaf, sizeof leaf);
    (void)sap_cuda_end(&call, SAP_OK);
}

} // namespace

sap_status sap_mesh_build_cuda(sap_mesh_tree* tree, const sap_mesh* mesh) {
    build w = {};
    const bool had = tree->arrays != NULL;
    sap_cuda_begin(&w.call, tree->device);
    w.tree = tree;
    w.mesh = mesh;
    build_tree(&w);
    const sap_status status = sap_cuda_end(&w.call, SAP_OK);
    if (status != SAP_OK && had && w.call.reserved) make_empty(tree);
    return status;
}
