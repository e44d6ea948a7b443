// Embree 3: instances of a scene of one mesh, of the highest quality; single-ray calls, as most programs make them.
#include "instances.h"

#if defined(BENCH_EMBREE)
#include <embree3/rtcore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct embree_world {
    RTCDevice device;
    RTCScene mesh, world;
    RTCGeometry shape;
    RTCGeometry* instances; // [count]
    int count;
} embree_world;

static void fail(void) {
    fputs("bench: Embree has no memory\n", stderr);
    exit(1);
}

static void rebuild(void* scene, const sap_instance* instances) {
    const embree_world* w = scene;
    for (int i = 0; i < w->count; i++) {
        rtcSetGeometryTransform(w->instances[i], 0, RTC_FORMAT_FLOAT3X4_ROW_MAJOR, instances[i].transform);
        rtcCommitGeometry(w->instances[i]);
    }
    rtcCommitScene(w->world);
}

static void* open_world(const sap_mesh* mesh, const sap_instance* instances, int count) {
    embree_world* w = calloc(1, sizeof *w);
    if (!w || !(w->instances = calloc((size_t)count, sizeof(RTCGeometry)))) fail();
    const size_t vertices = (size_t)mesh->vertex_count, triangles = (size_t)mesh->triangle_count;
    w->count = count;
    w->device = rtcNewDevice("threads=1");
    w->mesh = rtcNewScene(w->device);
    w->world = rtcNewScene(w->device);
    w->shape = rtcNewGeometry(w->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    void* corners = rtcSetNewGeometryBuffer(w->shape, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12, vertices);
    void* indices = rtcSetNewGeometryBuffer(w->shape, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, triangles);
    if (!corners || !indices) fail();
    memcpy(corners, mesh->vertices, 12 * vertices);
    memcpy(indices, mesh->triangles, 12 * triangles);
    rtcSetSceneBuildQuality(w->mesh, RTC_BUILD_QUALITY_HIGH);
    rtcSetGeometryBuildQuality(w->shape, RTC_BUILD_QUALITY_HIGH);
    rtcCommitGeometry(w->shape);
    rtcAttachGeometry(w->mesh, w->shape);
    rtcCommitScene(w->mesh);
    rtcSetSceneBuildQuality(w->world, RTC_BUILD_QUALITY_HIGH);
    for (int i = 0; i < count; i++) {
        w->instances[i] = rtcNewGeometry(w->device, RTC_GEOMETRY_TYPE_INSTANCE);
        rtcSetGeometryInstancedScene(w->instances[i], w->mesh);
        rtcAttachGeometryByID(w->world, w->instances[i], (unsigned)i);
    }
    rebuild(w, instances);
    return w;
}

static void trace(void* scene, const sap_ray* rays, int64_t count, sap_instance_hit* hits) {
    const embree_world* w = scene;
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    for (int64_t i = 0; i < count; i++) {
        const sap_ray* r = &rays[i];
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
        rtcIntersect1(w->world, &context, &h);
        hits[i] = (sap_instance_hit){h.ray.tfar, h.hit.u, h.hit.v, (int32_t)h.hit.primID, (int32_t)h.hit.instID[0]};
    }
}

static void release(void* scene) {
    embree_world* w = scene;
    for (int i = 0; i < w->count; i++) rtcReleaseGeometry(w->instances[i]);
    rtcReleaseGeometry(w->shape);
    rtcReleaseScene(w->world);
    rtcReleaseScene(w->mesh);
    rtcReleaseDevice(w->device);
    free(w->instances);
    free(w);
}

static const instances_rival embree = {open_world, rebuild, trace, release};
const instances_rival* const instances_embree = &embree;
#else
const instances_rival* const instances_embree = NULL;
#endif
