// The edges of a mesh that is to be subdivided: sides of triangles sorted by their two vertices; and what no such mesh
// may have.
#include "base/assert.h"
#include "move/subdivision.h"

bool sap_loop_mesh_reserve(const sap_device* device, const sap_loop_counts* counts, sap_loop_mesh* mesh) {
    const size_t corners = sap_align((size_t)counts->triangles * 3 * sizeof(int32_t)),
                 edges = sap_align((size_t)counts->edges * sizeof(sap_loop_edge)),
                 bytes = 2 * corners + edges + (size_t)counts->edges;
    unsigned char* memory = sap_memory_allocate(device, bytes);
    if (!memory) return false;
    mesh->counts = *counts;
    mesh->memory = memory;
    mesh->bytes = bytes;
    mesh->corners = (int32_t*)(void*)memory;
    mesh->sides = (int32_t*)(void*)(memory + corners);
    mesh->edge = (sap_loop_edge*)(void*)(memory + 2 * corners);
    mesh->sharp = memory + 2 * corners + edges;
    return true;
}

bool sap_loop_list_reserve(const sap_device* device, sap_loop_mesh* mesh) {
    mesh->list_bytes = (size_t)mesh->counts.entries * sizeof(int32_t);
    mesh->list = sap_memory_allocate(device, mesh->list_bytes);
    return mesh->list != NULL;
}

void sap_loop_mesh_free(const sap_device* device, sap_loop_mesh* mesh) {
    sap_memory_release(device, mesh->memory, mesh->bytes);
    sap_memory_release(device, mesh->list, mesh->list_bytes);
    *mesh = (sap_loop_mesh){.memory = NULL};
}

// ---- Sides, sorted

static int32_t lower_of(const int32_t* corners, int32_t side) {
    const int32_t a = corners[side], b = corners[sap_loop_next(side)];
    return a < b ? a : b;
}

static int32_t higher_of(const int32_t* corners, int32_t side) {
    const int32_t a = corners[side], b = corners[sap_loop_next(side)];
    return a > b ? a : b;
}

// One pass of a radix sort, by the lower or the higher vertex of each side. from NULL: all sides, in their order.
static void sort_pass(const int32_t* corners, int64_t sides, int64_t vertices, bool by_lower, const int32_t* from,
                      int32_t* before, int32_t* to) {
    for (int64_t v = 0; v <= vertices; v++) before[v] = 0;
    for (int32_t s = 0; s < sides; s++) before[(by_lower ? lower_of : higher_of)(corners, s) + 1]++;
    for (int64_t v = 0; v < vertices; v++) before[v + 1] += before[v];
    for (int64_t i = 0; i < sides; i++) {
        const int32_t s = from ? from[i] : (int32_t)i;
        to[before[(by_lower ? lower_of : higher_of)(corners, s)]++] = s;
    }
}

static bool same_edge(const int32_t* corners, int32_t a, int32_t b) {
    return lower_of(corners, a) == lower_of(corners, b) && higher_of(corners, a) == higher_of(corners, b);
}

// ---- What is refused

static sap_status check_triangles(const sap_device* device, const int32_t* corners, int64_t triangles,
                                  int64_t vertices) {
    for (int64_t t = 0; t < triangles; t++) {
        const int32_t* c = corners + 3 * t;
        for (int j = 0; j < 3; j++)
            if (c[j] < 0 || c[j] >= vertices)
                return sap_fail(device, SAP_ERROR_RANGE, "triangles: triangle %lld has corner %d, not one of 0 to %lld",
                                (long long)t, (int)c[j], (long long)vertices - 1);
        if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0])
            return sap_fail(device, SAP_ERROR_ARGUMENT, "triangles: triangle %lld has two equal corners (%d, %d, %d)",
                            (long long)t, (int)c[0], (int)c[1], (int)c[2]);
    }
    return SAP_OK;
}

// Counts edges among sorted sides.
static sap_status count_edges(const sap_device* device, const int32_t* corners, const int32_t* sorted, int64_t sides,
                              sap_loop_counts* counts) {
    for (int64_t i = 0; i < sides; counts->edges++) {
        int64_t end = i + 1;
        while (end < sides && same_edge(corners, sorted[i], sorted[end])) end++;
        const int32_t *s = sorted + i, low = lower_of(corners, *s), high = higher_of(corners, *s);
        if (end - i > 2)
            return sap_fail(device, SAP_ERROR_ARGUMENT,
                            "triangles: the edge from vertex %d to %d has %lld triangles (%d, %d, %d ...); at most two",
                            (int)low, (int)high, (long long)(end - i), (int)(s[0] / 3), (int)(s[1] / 3),
                            (int)(s[2] / 3));
        if (end - i == 2 && corners[s[0]] == corners[s[1]])
            return sap_fail(device, SAP_ERROR_ARGUMENT,
                            "triangles: %d and %d, which share the edge from vertex %d to %d, do not face alike: both "
                            "have its ends in the same order",
                            (int)(s[0] / 3), (int)(s[1] / 3), (int)low, (int)high);
        counts->borders += end - i == 1;
        i = end;
    }
    return SAP_OK;
}

static void fill_edges(const int32_t* sorted, sap_loop_mesh* mesh) {
    const int64_t sides = 3 * mesh->counts.triangles;
    for (int64_t i = 0, e = 0; i < sides; e++) {
        const int32_t left = sorted[i++], start = mesh->corners[left], end = mesh->corners[sap_loop_next(left)];
        const bool two = i < sides && same_edge(mesh->corners, left, sorted[i]);
        mesh->edge[e] = (sap_loop_edge){start, end, left, two ? sorted[i] : -1};
        mesh->sides[left] = (int32_t)e;
        if (two) mesh->sides[sorted[i++]] = (int32_t)e;
        mesh->sharp[e] = !two;
    }
}

// ---- Creases

// Compares an edge with the one from `low` to `high`.
static int compare(sap_loop_edge edge, int32_t low, int32_t high) {
    const int32_t l = edge.from < edge.to ? edge.from : edge.to, h = edge.from < edge.to ? edge.to : edge.from;
    if (l != low) return l < low ? -1 : 1;
    return h == high ? 0 : h < high ? -1 : 1;
}

static sap_status add_creases(const sap_device* device, const sap_subdivision_options* options, sap_loop_mesh* mesh) {
    for (int64_t i = 0; i < options->crease_count; i++) {
        const int32_t *pair = options->creases + 2 * i, low = pair[0] < pair[1] ? pair[0] : pair[1],
                      high = pair[0] < pair[1] ? pair[1] : pair[0];
        int64_t from = 0, to = mesh->counts.edges;
        while (from < to) {
            const int64_t half = from + (to - from) / 2;
            if (compare(mesh->edge[half], low, high) < 0)
                from = half + 1;
            else
                to = half;
        }
        if (from == mesh->counts.edges || compare(mesh->edge[from], low, high) != 0)
            return sap_fail(device, SAP_ERROR_ARGUMENT, "options.creases: %lld, from vertex %d to %d, is no edge",
                            (long long)i, (int)pair[0], (int)pair[1]);
        mesh->counts.creases += !mesh->sharp[from];
        mesh->sharp[from] = 1;
    }
    return SAP_OK;
}

sap_status sap_loop_edges(const sap_device* device, const int32_t* corners, int64_t triangles, int64_t vertices,
                          const sap_subdivision_options* options, sap_loop_mesh* mesh) {
    const size_t sides = 3 * (size_t)triangles, each = sap_align(sides * sizeof(int32_t)),
                 bytes = 2 * each + ((size_t)vertices + 1) * sizeof(int32_t);
    sap_status status = check_triangles(device, corners, triangles, vertices);
    if (status != SAP_OK) return status;
    unsigned char* memory = sap_memory_allocate(device, bytes);
    if (!memory)
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for the edges of %lld triangles", (long long)triangles);
    int32_t *by_higher = (int32_t*)(void*)memory, *sorted = (int32_t*)(void*)(memory + each),
            *before = (int32_t*)(void*)(memory + 2 * each);
    sort_pass(corners, (int64_t)sides, vertices, false, NULL, before, by_higher);
    sort_pass(corners, (int64_t)sides, vertices, true, by_higher, before, sorted);
    sap_loop_counts counts = {.vertices = vertices, .triangles = triangles};
    status = count_edges(device, corners, sorted, (int64_t)sides, &counts);
    if (status == SAP_OK && !sap_loop_mesh_reserve(device, &counts, mesh))
        status = sap_fail(device, SAP_ERROR_MEMORY, "no memory for %lld edges", (long long)counts.edges);
    if (status == SAP_OK) {
        if (sides) memcpy(mesh->corners, corners, sides * sizeof *corners);
        fill_edges(sorted, mesh);
        status = add_creases(device, options, mesh);
    }
    sap_memory_release(device, memory, bytes);
    return status;
}
