// Embree 3: single-ray calls, as most programs make them.
#include "rays.h"

#if defined(BENCH_EMBREE)
#include <embree3/rtcore.h>

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
    if (!corners || !indices) bench_check(SAP_ERROR_MEMORY, "Embree's buffers");
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

static const rays_rival embree = {embree_open,     embree_build,     embree_trace,
                                  embree_occluded, embree_trace_all, embree_release};
const rays_rival* const rays_embree = &embree;
#else
const rays_rival* const rays_embree = NULL;
#endif
