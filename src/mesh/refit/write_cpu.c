// Writing a tree that is refitted: where leaves' references and triangles go, and the tree's arrays.
#include "mesh/refit/refit.h"
#include <string.h>

// Adds up the shape, and finds where each leaf's references and the triangles met first there go. False if there is a
// leaf of too many triangles.
bool sap_refit_place_leaves(sap_refit* r) {
    sap_mesh_tree_shape* s = &r->shape;
    int32_t met = 0;
    s->triangles = r->plan->triangles;
    s->nodes = r->node_count;
    memcpy(s->lower, r->bounds.lower, sizeof s->lower);
    memcpy(s->upper, r->bounds.upper, sizeof s->upper);
    for (int64_t i = 0; i < r->node_count; i++) {
        const int32_t count = r->counts[i], first = r->firsts[i];
        if ((r->nodes[i].link & 3) != SAP_MESH_LEAF) continue;
        s->leaves++;
        s->empty_leaves += count == 0;
        s->references += count;
        r->firsts[i] = met;
        r->cursors[i] = (int32_t)s->listed;
        met += first;
        s->listed += count > 1 ? count : 0;
        if (count > s->largest_leaf) s->largest_leaf = count;
    }
    SAP_ASSERT(met == s->triangles && s->nodes == 2 * s->leaves - 1);
    return s->largest_leaf <= SAP_REFIT_LEAF;
}

// Triangles are stored in the order of the leaves that they are met in first, those of a leaf in the plan's order.
static void place_triangles(sap_refit* r) {
    for (int64_t i = 0; i < sap_refit_stretches(r->plan->triangles); i++) {
        const sap_refit_triangle_stretch* s = &r->stretches[i];
        const sap_refit_visit* visit = s->visits;
        for (int k = 0; k < SAP_REFIT_TRIANGLES / SAP_REFIT_BLOCK; k++) {
            int32_t* place = r->place + i * SAP_REFIT_TRIANGLES + (int64_t)SAP_REFIT_BLOCK * k;
            uint64_t met = 0;
            for (const sap_refit_visit* end = visit + s->blocks[k]; visit < end; visit++) {
                int32_t* next = &r->firsts[visit->leaf];
                for (uint64_t first = visit->members & ~met; first; first &= first - 1)
                    place[__builtin_ctzll(first)] = (*next)++;
                met |= visit->members;
            }
        }
    }
}

static void write_references(void* context, int64_t i, int32_t worker) {
    const sap_refit* r = context;
    const sap_refit_triangle_stretch* s = &r->stretches[i];
    int32_t* references = (int32_t*)(void*)(r->tree->arrays + r->shape.reference_at);
    const sap_refit_visit* visit = s->visits;
    (void)worker;
    for (int k = 0; k < SAP_REFIT_TRIANGLES / SAP_REFIT_BLOCK; k++) {
        const int32_t* place = r->place + i * SAP_REFIT_TRIANGLES + (int64_t)SAP_REFIT_BLOCK * k;
        for (const sap_refit_visit* end = visit + s->blocks[k]; visit < end; visit++) {
            if (r->counts[visit->leaf] == 1) {
                r->nodes[visit->leaf].bits = (uint32_t)place[__builtin_ctzll(visit->members)];
                continue;
            }
            int32_t* to = references + __atomic_fetch_add(&r->cursors[visit->leaf],
                                                          __builtin_popcountll(visit->members), __ATOMIC_RELAXED);
            for (uint64_t members = visit->members; members; members &= members - 1)
                *to++ = place[__builtin_ctzll(members)];
        }
    }
}

static void write_triangles(void* context, int64_t from, int64_t to, int32_t worker) {
    const sap_refit* r = context;
    int32_t* ids = (int32_t*)(void*)(r->tree->arrays + r->shape.id_at);
    float* corners = (float*)(void*)(r->tree->arrays + r->shape.corner_at);
    (void)worker;
    for (int64_t t = from; t < to; t++) {
        const int64_t place = r->place[t], id = r->order[t];
        ids[place] = (int32_t)id;
        memcpy(corners + SAP_TRIANGLE_FLOATS * place, r->corners + SAP_TRIANGLE_FLOATS * id,
               SAP_TRIANGLE_FLOATS * sizeof *corners);
    }
}

// By Shell's method (1959), with gaps of Ciura's (2001): most lists are short, and nearly in order.
static void sort_places(int32_t* places, int32_t count) {
    static const int32_t gaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (int32_t i = gaps[g]; i < count; i++) {
            const int32_t place = places[i];
            int32_t k = i;
            for (; k >= gaps[g] && places[k - gaps[g]] > place; k -= gaps[g]) places[k] = places[k - gaps[g]];
            places[k] = place;
        }
}

static void write_leaves(void* context, int64_t from, int64_t to, int32_t worker) {
    const sap_refit* r = context;
    sap_mesh_node* nodes = (sap_mesh_node*)(void*)(r->tree->arrays + r->shape.node_at);
    int32_t* references = (int32_t*)(void*)(r->tree->arrays + r->shape.reference_at);
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        const int32_t count = r->counts[i];
        nodes[i] = r->nodes[i];
        if ((nodes[i].link & 3) != SAP_MESH_LEAF) continue;
        nodes[i].link = (uint32_t)count << 2 | SAP_MESH_LEAF;
        if (count < 2) continue;
        nodes[i].bits = (uint32_t)(r->cursors[i] - count);
        sort_places(references + nodes[i].bits, count);
    }
}

void sap_refit_write(sap_refit* r) {
    place_triangles(r);
    sap_team_run(r->threads, sap_refit_stretches(r->plan->triangles), write_references, r);
    sap_team_loop(r->threads, r->plan->triangles, SAP_REFIT_NODES, write_triangles, r);
    sap_team_loop(r->threads, r->node_count, SAP_REFIT_NODES, write_leaves, r);
}
