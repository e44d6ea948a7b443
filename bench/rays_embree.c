// Embree 3: single-ray calls, as most programs make them.
#include "rays.h"

#if defined(BENCH_EMBREE)
#include <embree3/rtcore.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct embree_scene {
    RTCDevice device;
    RTCScene scene;
    RTCGeometry shape;
} embree_scene;

// The hits of a ray so far, behind the context that Embree hands to its filter functions.
typedef struct gathered {
    struct RTCIntersectContext context;
    int32_t count;
    sap_hit* hits; // [RAYS_LIMIT]
} gathered;

// Keeps the first hits in order and rejects each, so that the walk goes on; once the list is full, the ray may end at
// its last.
static void gather(const struct RTCFilterFunctionNArguments* arguments) {
    gathered* g = (gathered*)(void*)arguments->context;
    const struct RTCHit* hit = (const struct RTCHit*)(const void*)arguments->hit;
    float t = ((const struct RTCRay*)(const void*)arguments->ray)->tfar;
    int32_t id = (int32_t)hit->primID, at = g->count;
    while (at > 0 && (g->hits[at - 1].t > t || (g->hits[at - 1].t == t && g->hits[at - 1].triangle > id))) at--;
    arguments->valid[0] = 0;
    if (at == RAYS_LIMIT) return;
    if (g->count < RAYS_LIMIT) g->count++;
    for (int32_t i = g->count - 1; i > at; i--) g->hits[i] = g->hits[i - 1];
    g->hits[at] = (sap_hit){t, hit->u, hit->v, id};
    if (at == RAYS_LIMIT - 1) arguments->valid[0] = -1;
}

static void* embree_open(const sap_mesh* mesh, bool high, int threads, bool gathers) {
    char words[32];
    embree_scene* s = bench_memory(1, sizeof *s);
    enum RTCBuildQuality quality = high ? RTC_BUILD_QUALITY_HIGH : RTC_BUILD_QUALITY_MEDIUM;
    size_t vertices = (size_t)mesh->vertex_count, triangles = (size_t)mesh->triangle_count;
    snprintf(words, sizeof words, "threads=%d", threads);
    s->device = rtcNewDevice(words);
    s->scene = rtcNewScene(s->device);
    s->shape = rtcNewGeometry(s->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    void* corners = rtcSetNewGeometryBuffer(s->shape, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12, vertices);
    void* indices = rtcSetNewGeometryBuffer(s->shape, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, triangles);
    if (!corners || !indices) {
        bench_check(SAP_ERROR_MEMORY, "Embree's buffers"); // ends the program
        return NULL;
    }
    memcpy(corners, mesh->vertices, 12 * vertices);
    memcpy(indices, mesh->triangles, 12 * triangles);
    rtcSetSceneBuildQuality(s->scene, quality);
    rtcSetGeometryBuildQuality(s->shape, quality);
    if (gathers) rtcSetGeometryIntersectFilterFunction(s->shape, gather);
    rtcAttachGeometry(s->scene, s->shape);
    return s;
}

static void embree_build(void* scene) {
    embree_scene* s = scene;
    rtcUpdateGeometryBuffer(s->shape, RTC_BUFFER_TYPE_VERTEX, 0);
    rtcUpdateGeometryBuffer(s->shape, RTC_BUFFER_TYPE_INDEX, 0);
    rtcCommitGeometry(s->shape);
    rtcCommitScene(s->scene);
}

static void embree_release(void* scene) {
    embree_scene* s = scene;
    rtcReleaseGeometry(s->shape);
    rtcReleaseScene(s->scene);
    rtcReleaseDevice(s->device);
    free(s);
}

static inline struct RTCRayHit embree_ray(const sap_ray* r) {
    struct RTCRayHit h = {.ray = {.org_x = r->origin[0],
                                  .org_y = r->origin[1],
                                  .org_z = r->origin[2],
                                  .tnear = r->t_min,
                                  .dir_x = r->direction[0],
                                  .dir_y = r->direction[1],
                                  .dir_z = r->direction[2],
                                  .tfar = r->t_max,
                                  .mask = ~0u},
                          .hit = {.primID = RTC_INVALID_GEOMETRY_ID, .geomID = RTC_INVALID_GEOMETRY_ID}};
    h.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
    return h;
}

static void embree_trace(void* scene, const sap_ray* rays, int64_t count, sap_hit* hits) {
    RTCScene s = ((embree_scene*)scene)->scene;
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    for (int64_t i = 0; i < count; i++) {
        struct RTCRayHit h = embree_ray(rays + i);
        rtcIntersect1(s, &context, &h);
        hits[i] = (sap_hit){h.ray.tfar, h.hit.u, h.hit.v, (int32_t)h.hit.primID};
    }
}

static void embree_occluded(void* scene, const sap_ray* rays, int64_t count, uint8_t* occluded) {
    RTCScene s = ((embree_scene*)scene)->scene;
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    for (int64_t i = 0; i < count; i++) {
        struct RTCRayHit h = embree_ray(rays + i);
        rtcOccluded1(s, &context, &h.ray);
        occluded[i] = h.ray.tfar < 0;
    }
}

static void embree_trace_all(void* scene, const sap_ray* rays, int64_t count, sap_hit* hits, int32_t* counts) {
    RTCScene s = ((embree_scene*)scene)->scene;
    gathered g;
    rtcInitIntersectContext(&g.context);
    for (int64_t i = 0; i < count; i++) {
        struct RTCRayHit h = embree_ray(rays + i);
        g.count = 0;
        g.hits = hits + i * RAYS_LIMIT;
        rtcIntersect1(s, &g.context, &h);
        counts[i] = g.count;
    }
}

// The nearest point of a triangle, by the regions around it (Ericson 2005), as Embree's own example has it.
static void nearest_on(const float* a, const float* b, const float* c, const float* p, float* to) {
    float ab[3], ac[3], ap[3], bp[3], cp[3], d1 = 0, d2 = 0, d3 = 0, d4 = 0, d5 = 0, d6 = 0;
    for (int k = 0; k < 3; k++) {
        ab[k] = b[k] - a[k], ac[k] = c[k] - a[k];
        ap[k] = p[k] - a[k], bp[k] = p[k] - b[k], cp[k] = p[k] - c[k];
        d1 += ab[k] * ap[k], d2 += ac[k] * ap[k], d3 += ab[k] * bp[k];
        d4 += ac[k] * bp[k], d5 += ab[k] * cp[k], d6 += ac[k] * cp[k];
    }
    const float of_a = d3 * d6 - d5 * d4, of_b = d5 * d2 - d1 * d6, of_c = d1 * d4 - d3 * d2;
    float v = 0, w = 0;
    if (d1 <= 0 && d2 <= 0)
        v = w = 0;
    else if (d3 >= 0 && d4 <= d3)
        v = 1;
    else if (d6 >= 0 && d5 <= d6)
        w = 1;
    else if (of_c <= 0 && d1 >= 0 && d3 <= 0)
        v = d1 / (d1 - d3);
    else if (of_b <= 0 && d2 >= 0 && d6 <= 0)
        w = d2 / (d2 - d6);
    else if (of_a <= 0 && d4 >= d3 && d5 >= d6)
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6)), v = 1 - w;
    else
        v = of_b / (of_a + of_b + of_c), w = of_c / (of_a + of_b + of_c);
    for (int k = 0; k < 3; k++) to[k] = a[k] + v * ab[k] + w * ac[k];
}

typedef struct embree_nearest {
    const sap_mesh* mesh;
    const float* point;
    sap_closest best;
} embree_nearest;

static bool look_at(struct RTCPointQueryFunctionArguments* arguments) {
    embree_nearest* n = arguments->userPtr;
    const int32_t* t = n->mesh->triangles + 3 * (size_t)arguments->primID;
    const float* v = n->mesh->vertices;
    float at[3], distance2 = 0;
    nearest_on(v + 3 * (size_t)t[0], v + 3 * (size_t)t[1], v + 3 * (size_t)t[2], n->point, at);
    for (int k = 0; k < 3; k++) distance2 += (at[k] - n->point[k]) * (at[k] - n->point[k]);
    if (!(distance2 < n->best.distance2)) return false;
    n->best = (sap_closest){{at[0], at[1], at[2]}, distance2, 0, 0, (int32_t)arguments->primID};
    arguments->query->radius = sqrtf(distance2);
    return true;
}

static void embree_closest(void* scene, const sap_mesh* mesh, const float* points, int64_t count,
                           sap_closest* closest) {
    RTCScene s = ((embree_scene*)scene)->scene;
    for (int64_t i = 0; i < count; i++) {
        const float* p = points + 3 * i;
        embree_nearest n = {mesh, p, {{0, 0, 0}, INFINITY, 0, 0, -1}};
        struct RTCPointQuery query = {.x = p[0], .y = p[1], .z = p[2], .time = 0, .radius = INFINITY};
        struct RTCPointQueryContext context;
        rtcInitPointQueryContext(&context);
        rtcPointQuery(s, &query, &context, look_at, &n);
        closest[i] = n.best;
    }
}

static const rays_rival embree = {embree_open,      embree_build,   embree_trace,  embree_occluded,
                                  embree_trace_all, embree_closest, embree_release};
const rays_rival* const rays_embree = &embree;
#else
const rays_rival* const rays_embree = NULL;
#endif
