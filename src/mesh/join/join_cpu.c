// The end of a build: concatenates the pieces in preorder and orders triangles by their first reference in preorder, so
// that a leaf's triangles lie close together.
#include "base/team.h"
#include "mesh/build.h"
#include <string.h>

enum { PREORDER_STACK = 2 * SAP_MESH_DEPTH_MAX, SORT_BY_INSERTION = 64, COPY_CHUNK = 4096 };

static const int64_t most_nodes = (int64_t)1 << 30; // a link has 30 bits for an offset or a count

// Computes each record's places; the shape receives the totals. False if these are too large.
static bool place_records(sap_mesh_record* records, sap_mesh_tree_shape* shape) {
    int64_t stack[PREORDER_STACK];
    int waiting = 0;
    stack[waiting++] = 0;
    while (waiting > 0) {
        sap_mesh_record* r = &records[stack[--waiting]];
        r->node_at = shape->nodes;
        r->reference_at = shape->references;
        shape->nodes += r->axis < 0 ? r->node_count : 1;
        shape->references += r->axis < 0 ? r->reference_count : 0;
        if (shape->nodes >= most_nodes || shape->references > INT32_MAX) return false;
        if (r->axis < 0) continue;
        SAP_ASSERT(r->left > 0 && r->right == r->left + 1 && waiting + 2 <= PREORDER_STACK);
        stack[waiting++] = r->right;
        stack[waiting++] = r->left;
    }
    return true;
}

// Adds up the shape's totals of leaves. A single reference is stored in its node and is not listed.
static void count_leaves(const sap_mesh_record* records, int64_t count, sap_mesh_tree_shape* shape) {
    for (int64_t i = 0; i < count; i++) {
        const sap_mesh_leaves* leaves = &records[i].leaves;
        if (records[i].axis >= 0) continue;
        shape->leaves += leaves->count;
        shape->empty_leaves += leaves->empty;
        shape->listed += leaves->listed;
        if (leaves->largest > shape->largest_leaf) shape->largest_leaf = (int32_t)leaves->largest;
        if (leaves->depth > shape->depth) shape->depth = leaves->depth;
    }
}

static void sift(int32_t* x, int64_t root, int64_t count) {
    for (int64_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && x[child + 1] > x[child]) child++;
        if (x[root] >= x[child]) return;
        int32_t swapped = x[root];
        x[root] = x[child];
        x[child] = swapped;
    }
}

// Copies places in ascending order.
static void sort_places(const int32_t* from, int64_t count, int32_t* to) {
    if (count > SORT_BY_INSERTION) {
        memcpy(to, from, (size_t)count * sizeof *to);
        for (int64_t i = count / 2; i-- > 0;) sift(to, i, count);
        for (int64_t last = count - 1; last > 0; last--) {
            int32_t swapped = to[0];
            to[0] = to[last];
            to[last] = swapped;
            sift(to, 0, last);
        }
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        int32_t place = from[i];
        int64_t k = i;
        for (; k > 0 && to[k - 1] > place; k--) to[k] = to[k - 1];
        to[k] = place;
    }
}

// Turns the references of a piece into places; triangles that occur for the first time get the next places.
static int32_t meet_triangles(const sap_mesh_record* r, int32_t* place_of, int32_t* ids, int32_t met) {
    for (int64_t k = 0; k < r->reference_count; k++) {
        int32_t id = r->references[k];
        if (place_of[id] < 0) {
            ids[met] = id;
            place_of[id] = met++;
        }
        SAP_ASSERT(place_of[id] < met);
        r->references[k] = place_of[id];
    }
    return met;
}

// The join's parameters.
typedef struct joint {
    sap_mesh_tree* tree;
    const sap_mesh_record* records;
    int64_t record_count;
    const float* corners;
    int64_t* listed_before; // of each record: listed references of the pieces before it
} joint;

static void write_inner(const joint* j, const sap_mesh_record* r) {
    sap_mesh_node* node = (sap_mesh_node*)(void*)(j->tree->arrays + j->tree->shape.node_at) + r->node_at;
    SAP_ASSERT(j->records[r->left].node_at == r->node_at + 1 && j->records[r->right].node_at > r->node_at + 1);
    memcpy(&node->bits, &r->plane, sizeof r->plane);
    node->link = (uint32_t)j->records[r->right].node_at << 2 | (uint32_t)r->axis;
}

static void write_piece(const joint* j, const sap_mesh_record* r, int64_t listed) {
    const sap_mesh_tree_shape* s = &j->tree->shape;
    sap_mesh_node* nodes = (sap_mesh_node*)(void*)(j->tree->arrays + s->node_at) + r->node_at;
    int32_t* references = (int32_t*)(void*)(j->tree->arrays + s->reference_at);
    for (int64_t k = 0; k < r->node_count; k++) {
        sap_mesh_node node = r->nodes[k];
        int64_t count = node.link >> 2;
        if ((node.link & 3) != SAP_MESH_LEAF) {
            node.link += (uint32_t)r->node_at << 2;
        } else if (count < 2) {
            node.bits = count ? (uint32_t)r->references[node.bits] : 0;
        } else {
            sort_places(r->references + node.bits, count, references + listed);
            node.bits = (uint32_t)listed;
            listed += count;
        }
        nodes[k] = node;
    }
    SAP_ASSERT(listed <= s->listed && r->node_at + r->node_count <= s->nodes);
}

static void write_record(void* context, int64_t i, int32_t worker) {
    const joint* j = context;
    (void)worker;
    if (j->records[i].axis < 0)
        write_piece(j, &j->records[i], j->listed_before[i]);
    else
        write_inner(j, &j->records[i]);
}

static void copy_corners(void* context, int64_t from, int64_t to, int32_t worker) {
    const joint* j = context;
    const sap_mesh_tree* t = j->tree;
    const int32_t* ids = (const int32_t*)(const void*)(t->arrays + t->shape.id_at);
    float* corners = (float*)(void*)(t->arrays + t->shape.corner_at);
    (void)worker;
    for (int64_t i = from; i < to; i++)
        memcpy(corners + SAP_TRIANGLE_FLOATS * i, j->corners + (int64_t)SAP_TRIANGLE_FLOATS * ids[i],
               SAP_TRIANGLE_FLOATS * sizeof *corners);
}

static void write_tree(joint* j, const int32_t* ids) {
    sap_mesh_tree* t = j->tree;
    const int64_t triangles = t->shape.triangles;
    memcpy(t->arrays + t->shape.id_at, ids, (size_t)triangles * sizeof *ids);
    sap_team_run(t->device->options.threads, j->record_count, write_record, j);
    sap_team_loop(t->device->options.threads, triangles, COPY_CHUNK, copy_corners, j);
}

// Visits records in preorder, which orders triangles and listed references.
static int32_t walk_records(joint* j, int32_t* place_of, int32_t* ids) {
    int64_t stack[PREORDER_STACK], listed = 0;
    int32_t met = 0;
    int waiting = 0;
    stack[waiting++] = 0;
    while (waiting > 0) {
        int64_t number = stack[--waiting];
        SAP_ASSERT(number < j->record_count);
        const sap_mesh_record* r = &j->records[number];
        j->listed_before[number] = listed;
        if (r->axis >= 0) {
            SAP_ASSERT(r->right < j->record_count && waiting + 2 <= PREORDER_STACK);
            stack[waiting++] = r->right;
            stack[waiting++] = r->left;
            continue;
        }
        met = meet_triangles(r, place_of, ids, met);
        listed += r->leaves.listed;
    }
    return met;
}

sap_status sap_mesh_join(sap_mesh_tree* tree, sap_mesh_record* records, int64_t record_count, const float* corners,
                         int64_t triangles, const sap_mesh_box* bounds, const sap_scratch* room) {
    sap_device* device = tree->device;
    sap_mesh_tree_shape shape = {.triangles = triangles};
    memcpy(shape.lower, bounds->lower, sizeof shape.lower);
    memcpy(shape.upper, bounds->upper, sizeof shape.upper);
    if (!place_records(records, &shape))
        return sap_fail(device, SAP_ERROR_RANGE, "mesh: the tree has more than 2^30 nodes or 2^31 references");
    count_leaves(records, record_count, &shape);
    if (!sap_mesh_shape_places(&shape))
        return sap_fail(device, SAP_ERROR_RANGE, "mesh: the tree needs more memory than can be addressed");
    const size_t places = sap_align((size_t)triangles * sizeof(int32_t));
    const size_t bytes = 2 * places + (size_t)record_count * sizeof(int64_t);
    sap_scratch scratch = {NULL, 0};
    if (room->bytes < bytes && !sap_scratch_take(device, bytes, &scratch))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory to order %lld triangles", (long long)triangles);
    unsigned char* memory = scratch.memory ? scratch.memory : room->memory;
    int32_t *place_of = (int32_t*)(void*)memory, *ids = (int32_t*)(void*)(memory + places);
    joint j = {tree, records, record_count, corners, (int64_t*)(void*)(memory + 2 * places)};
    memset(place_of, 0xff, (size_t)triangles * sizeof *place_of);
    int32_t met = walk_records(&j, place_of, ids);
    SAP_ASSERT(met <= triangles && shape.nodes == 2 * shape.leaves - 1);
    for (int32_t id = 0; met < triangles; id++)
        if (place_of[id] < 0) ids[met++] = id;
    sap_status status = sap_mesh_tree_reserve(tree, &shape);
    if (status == SAP_OK) write_tree(&j, ids);
    sap_scratch_give(device, &scratch);
    return status;
}
