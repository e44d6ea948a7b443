// Subdivisions: their making from triangles, level by level in host memory, and the public functions about them.
#include "move/subdivision.h"
#include "base/assert.h"
#include "device/reserved.h"
#include "move/ops.h"

// ---- What is asked

static sap_status check_list(const sap_device* device, const char* name, const int32_t* list, int64_t count) {
    if (count < 0)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.%s_count: %lld is negative", name, (long long)count);
    if (count && !list) return sap_fail(device, SAP_ERROR_ARGUMENT, "options.%ss: is NULL", name);
    return SAP_OK;
}

static sap_status check(const sap_device* device, const int32_t* triangles, int64_t triangle_count,
                        int64_t vertex_count, int32_t levels, const sap_subdivision_options* o) {
    sap_status status = sap_reserved_check(device, o->reserved, "options");
    if (status == SAP_OK) status = check_list(device, "crease", o->creases, o->crease_count);
    if (status == SAP_OK) status = check_list(device, "corner", o->corners, o->corner_count);
    if (status != SAP_OK) return status;
    if (o->border != SAP_BORDER_SMOOTH && o->border != SAP_BORDER_CORNERS)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.border: unknown choice %d", (int)o->border);
    if (levels < 0 || levels > SAP_SUBDIVISION_MOST)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "levels: %d is not 0 to %d", (int)levels, SAP_SUBDIVISION_MOST);
    if (triangle_count < 0 || vertex_count < 0)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "%s: %lld is negative",
                        triangle_count < 0 ? "triangle_count" : "vertex_count",
                        (long long)(triangle_count < 0 ? triangle_count : vertex_count));
    if (triangle_count && !triangles) return sap_fail(device, SAP_ERROR_ARGUMENT, "triangles: is NULL");
    if (vertex_count > INT32_MAX)
        return sap_fail(device, SAP_ERROR_RANGE, "vertex_count: %lld vertices; at most 2^31-1",
                        (long long)vertex_count);
    if (triangle_count > INT32_MAX / 3 || (triangle_count << 2 * levels) > INT32_MAX / 3)
        return sap_fail(device, SAP_ERROR_RANGE,
                        "triangle_count: %lld triangles and %d levels give corners of triangles beyond 2^31-1",
                        (long long)triangle_count, (int)levels);
    return SAP_OK;
}

// ---- Making

typedef struct making {
    const sap_device* device;
    sap_subdivision_owned* made;
    sap_loop_mesh mesh[2]; // this level, and the next
    sap_loop_rings rings;
    sap_loop_weights weights;
} making;

// Counts what all levels have, and says where each array is to lie.
static sap_status plan(making* m) {
    sap_subdivision_owned* s = m->made;
    const int32_t levels = s->shown.levels;
    size_t bytes = 0;
    s->counts[0] = m->mesh[0].counts;
    for (int32_t l = 0; l < levels; l++) s->counts[l + 1] = sap_loop_counts_next(&s->counts[l]);
    const sap_loop_counts* last = &s->counts[levels];
    if (last->vertices > INT32_MAX || last->entries > INT32_MAX)
        return sap_fail(m->device, SAP_ERROR_RANGE,
                        "levels: %d give %lld vertices with %lld neighbours; at most 2^31-1 of either", (int)levels,
                        (long long)last->vertices, (long long)last->entries);
    s->record_at = bytes;
    bytes += sap_align((size_t)last->vertices * 2 * sizeof(uint32_t));
    s->table_at = bytes;
    bytes += sap_align((size_t)m->weights.floats * sizeof(float));
    for (int32_t l = 0; l <= levels; l++) {
        s->list_at[l] = bytes;
        bytes += sap_align((size_t)s->counts[l].entries * sizeof(int32_t));
        if (l == levels) break;
        s->quad_at[l] = bytes;
        bytes += sap_align((size_t)s->counts[l].edges * 4 * sizeof(int32_t));
    }
    s->triangle_at = bytes;
    bytes += sap_align((size_t)last->triangles * 3 * sizeof(int32_t));
    s->arrays = sap_memory_allocate(m->device, bytes);
    if (!s->arrays)
        return sap_fail(m->device, SAP_ERROR_MEMORY, "no memory for a subdivision into %lld triangles",
                        (long long)last->triangles);
    s->shown.bytes = bytes;
    s->shown.vertex_count = last->vertices;
    s->shown.triangle_count = last->triangles;
    return SAP_OK;
}

static sap_status make_level(making* m, int32_t level) {
    sap_subdivision_owned* s = m->made;
    const bool last = level + 1 == s->shown.levels;
    sap_loop_mesh *mesh = &m->mesh[level % 2], *next = &m->mesh[(level + 1) % 2];
    sap_loop_step step = {.mesh = mesh,
                          .weights = &m->weights,
                          .records = (uint32_t*)(void*)(s->arrays + s->record_at),
                          .quads = (int32_t*)(void*)(s->arrays + s->quad_at[level]),
                          .corners = (int32_t*)(void*)(s->arrays + s->triangle_at),
                          .list = (int32_t*)(void*)(s->arrays + s->list_at[level + 1]),
                          .threads = m->device->options.threads};
    if (!last) {
        if (!sap_loop_mesh_reserve(m->device, &s->counts[level + 1], next) || !sap_loop_list_reserve(m->device, next))
            return sap_fail(m->device, SAP_ERROR_MEMORY, "no memory for %lld triangles",
                            (long long)s->counts[level + 1].triangles);
        step.corners = next->corners;
        step.next = next;
    }
    sap_loop_step_make(&step);
    sap_loop_mesh_free(m->device, mesh);
    return SAP_OK;
}

static sap_status make(making* m, const int32_t* triangles, int64_t triangle_count, int64_t vertex_count,
                       const sap_subdivision_options* options) {
    sap_subdivision_owned* s = m->made;
    sap_loop_mesh* mesh = &m->mesh[0];
    sap_status status = sap_loop_edges(m->device, triangles, triangle_count, vertex_count, options, mesh);
    if (status == SAP_OK) status = sap_loop_rings_open(m->device, mesh, options, &m->rings, &m->weights);
    if (status == SAP_OK) status = plan(m);
    if (status == SAP_OK && !sap_loop_list_reserve(m->device, mesh))
        status = sap_fail(m->device, SAP_ERROR_MEMORY, "no memory for the neighbours of %lld vertices",
                          (long long)vertex_count);
    if (status != SAP_OK) return status;
    sap_loop_weights_fill(&m->weights, (float*)(void*)(s->arrays + s->table_at));
    sap_loop_rings_fill(&m->rings, &m->weights, (uint32_t*)(void*)(s->arrays + s->record_at),
                        (int32_t*)(void*)(s->arrays + s->list_at[0]));
    if (s->shown.levels == 0 && triangle_count)
        memcpy(s->arrays + s->triangle_at, triangles, (size_t)triangle_count * 3 * sizeof *triangles);
    for (int32_t l = 0; l < s->shown.levels && status == SAP_OK; l++) status = make_level(m, l);
    return status;
}

static void finish(making* m) {
    for (int i = 0; i < 2; i++) sap_loop_mesh_free(m->device, &m->mesh[i]);
    sap_loop_rings_close(m->device, &m->rings);
    sap_memory_release(m->device, m->weights.memory, m->weights.bytes);
}

static sap_status create(sap_device* device, const int32_t* triangles, int64_t triangle_count, int64_t vertex_count,
                         const sap_subdivision_options* options, sap_subdivision_owned* made) {
    const struct sap_move_ops* can = device->rooms.move;
    const size_t bytes = (size_t)triangle_count * 3 * sizeof *triangles;
    const bool elsewhere = can->fetch && bytes; // triangles may lie there
    int32_t* copy = elsewhere ? sap_memory_allocate(device, bytes) : NULL;
    if (elsewhere && !copy) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a copy of the triangles");
    making m = {.device = device, .made = made};
    sap_status status = elsewhere ? can->fetch(device, triangles, bytes, copy) : SAP_OK;
    if (status == SAP_OK) status = make(&m, elsewhere ? copy : triangles, triangle_count, vertex_count, options);
    finish(&m);
    sap_memory_release(device, copy, bytes);
    return status == SAP_OK && can->place ? can->place(made) : status;
}

sap_status sap_subdivision_create(sap_device* device, const int32_t* triangles, int64_t triangle_count,
                                  int64_t vertex_count, int32_t levels, const sap_subdivision_options* options,
                                  sap_subdivision** subdivision) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!subdivision) return sap_fail(device, SAP_ERROR_ARGUMENT, "subdivision: is NULL");
    const sap_subdivision_options o = options ? *options : (sap_subdivision_options){0};
    sap_status status = check(device, triangles, triangle_count, vertex_count, levels, &o);
    if (status != SAP_OK) return status;
    if (!SAP_CAN(device, move, subdivide)) return sap_unsupported(device, "subdivide meshes");
    sap_subdivision_owned* made = sap_memory_allocate_zero(device, sizeof *made);
    if (!made) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a subdivision");
    made->device = device;
    made->limit = o.limit;
    made->shown.levels = levels;
    made->shown.coarse_count = vertex_count;
    status = create(device, triangles, triangle_count, vertex_count, &o, made);
    if (status != SAP_OK) {
        sap_subdivision_free(&made->shown);
        return status;
    }
    made->shown.triangles = (const int32_t*)(const void*)(made->arrays + made->triangle_at);
    *subdivision = &made->shown;
    return SAP_OK;
}

void sap_subdivision_free(sap_subdivision* subdivision) {
    if (!subdivision) return;
    sap_subdivision_owned* owned = (sap_subdivision_owned*)(void*)subdivision;
    if (subdivision->on_device)
        owned->device->rooms.move->remove(owned);
    else
        sap_memory_release(owned->device, owned->arrays, subdivision->bytes);
    sap_memory_release(owned->device, owned, sizeof *owned);
}

sap_status sap_mesh_subdivide(const sap_subdivision* subdivision, const float* vertices, float* refined,
                              float* normals) {
    if (!subdivision) return SAP_ERROR_ARGUMENT;
    const sap_subdivision_owned* owned = (const sap_subdivision_owned*)(const void*)subdivision;
    if (subdivision->vertex_count == 0) return SAP_OK;
    if (!vertices || !refined)
        return sap_fail(owned->device, SAP_ERROR_ARGUMENT, "%s: is NULL", vertices ? "refined" : "vertices");
    if (refined == vertices || normals == vertices || normals == refined)
        return sap_fail(owned->device, SAP_ERROR_ARGUMENT, "vertices, refined, normals: two of them are one array");
    return owned->device->rooms.move->subdivide(owned, vertices, refined, normals);
}
