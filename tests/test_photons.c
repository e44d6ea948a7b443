// Photon maps: energy, the same bytes however calls are split, estimates against brute force, known light.
#include "allocator.h"
#include "ray_meshes.h"
#include "render/photons/photon.h"
#include "sapwood/photons.h"
#include "test.h"

#include <float.h>
#include <stdlib.h>

typedef struct stage_set {
    watch w;
    sap_device* device;
    scene_mesh mesh;
    int32_t material_ids[64];
    sap_material material;
    sap_mesh_file file;
    sap_mesh_tree* tree;
    sap_light lamp;
    sap_scene scene;
} stage_set;

// A cube around the origin with sides of 2, seen from within by a lamp in the middle; or only its floor.
static void open_set(stage_set* s, int32_t threads, bool closed, float albedo) {
    static const int8_t faces[6][4] = {{0, 1, 5, 4}, {0, 2, 3, 1}, {4, 5, 7, 6},
                                       {0, 4, 6, 2}, {1, 3, 7, 5}, {2, 6, 7, 3}};
    memset(s, 0, sizeof *s);
    const int count = closed ? 6 : 1;
    s->mesh = scene_mesh_make(8, 2 * count);
    for (int i = 0; i < 8; i++) set_vertex(&s->mesh, i, i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
    for (int f = 0; f < count; f++) {
        set_triangle(&s->mesh, 2 * f, faces[f][0], faces[f][1], faces[f][2]);
        set_triangle(&s->mesh, 2 * f + 1, faces[f][0], faces[f][2], faces[f][3]);
    }
    s->material = (sap_material){"grey", {albedo, albedo, albedo}, {0, 0, 0}, {0, 0, 0}, 1, 1, 1, 2, {0, 0, 0}};
    s->file = (sap_mesh_file){
        .mesh = s->mesh.mesh, .material_ids = s->material_ids, .materials = &s->material, .material_count = 1};
    sap_device_options options = watched(&s->w);
    options.threads = threads;
    CHECK_STATUS(sap_device_open(&options, &s->device), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_build(s->device, s->mesh.mesh, NULL, &s->tree), SAP_OK);
    s->lamp = (sap_light){.color = {1, 0.5f, 0.25f}};
    s->scene = (sap_scene){.tree = s->tree, .file = &s->file, .lights = &s->lamp, .light_count = 1};
}

static void close_set(stage_set* s) {
    sap_mesh_tree_free(s->tree);
    sap_device_close(s->device);
    scene_mesh_free(&s->mesh);
    CHECK_EQUAL(s->w.blocks, 0);
    CHECK_EQUAL(s->w.wrong, 0);
}

static sap_photons* send(stage_set* s, sap_photon_options o, sap_photons_info* info) {
    sap_photons* map = NULL;
    CHECK_STATUS(sap_photons_trace(&s->scene, &o, &map), SAP_OK);
    CHECK_STATUS(sap_photons_describe(map, info), SAP_OK);
    return map;
}

// In a closed grey box every photon is met, and each bounce leaves as many as the albedo says, of the same power.
TEST(energy) {
    stage_set s;
    open_set(&s, 2, true, 0.5f);
    enum { N = 100000 };
    sap_photons_info info;
    sap_photons* map = send(&s, (sap_photon_options){.count = N, .ambient = -1, .bounces = 3}, &info);
    const double lamp =
        4 * SAP_PI * SAP_PI * 3; // the middle of the box is the lamp's own place: half the diagonal counts
    int64_t met[4] = {0};
    double stored = 0;
    for (int64_t i = 0; i < info.count; i++) {
        const sap_photon* p = &info.photons[i];
        CHECK(p->bounce <= 3 && p->kind == (p->bounce ? SAP_PHOTON_INDIRECT : SAP_PHOTON_LAMP));
        CHECK(p->power[0] == info.photons[0].power[0]);
        met[p->bounce]++;
        stored += (double)p->power[0];
    }
    CHECK_EQUAL(met[0], N);
    for (int b = 1; b < 4; b++) CHECK(fabs((double)met[b] / (double)met[b - 1] - 0.5) < 0.01);
    CHECK(fabs(info.power[0] / lamp - 1) < 1e-6 && fabs(info.power[2] / lamp - 0.25) < 1e-6);
    CHECK(fabs(info.emitted[0] / lamp - 1) < 1e-5 && fabs(info.emitted[1] / lamp - 0.5) < 1e-5);
    CHECK(fabs(stored / (info.emitted[0] * (double)info.count / N) - 1) < 1e-9);
    sap_photons_free(map);
    close_set(&s);
}

// Faces that shine by e and reflect half: the light in a closed box is 2 e everywhere, so pi times that falls on each place.
TEST(white_furnace) {
    stage_set s;
    open_set(&s, 2, true, 0.5f);
    s.scene.light_count = 0;
    for (int a = 0; a < 3; a++) s.material.emission[a] = 1;
    sap_photons_info info;
    sap_photons* map = send(&s, (sap_photon_options){.count = 400000, .ambient = -1, .bounces = 40}, &info);
    CHECK(fabs(info.power[0] / (2 * SAP_PI * 24) - 1) < 1e-6); // both sides of an area of 24
    double inside = 0;                                         // half of the light, met 1 + 1/2 + 1/4 … times
    for (int64_t i = 0; i < info.count; i++) inside += (double)info.photons[i].power[0];
    CHECK(fabs(inside / info.emitted[0] - 1) < 0.01);
    const float point[3] = {0.1f, -1, 0.2f}, up[3] = {0, 1, 0};
    float light[3];
    CHECK_STATUS(sap_photons_estimate(map, (sap_points){point, 1, 3, 0}, up, &(sap_photon_search){.k = 20000}, light),
                 SAP_OK);
    CHECK(fabs((double)light[0] / (2 * SAP_PI) - 1) < 0.03);
    sap_photons_free(map);
    close_set(&s);
}

// The mean over many places of a plane below a lamp is the light that falls there.
TEST(lit_plane) {
    stage_set s;
    open_set(&s, 2, false, 0.5f);
    s.lamp = (sap_light){{0, 1, 0}, {1, 1, 1}, {{0}}};
    sap_photons_info info;
    sap_photons* map = send(&s, (sap_photon_options){.count = 1000000, .ambient = -1}, &info);
    enum { SIDE = 40, COUNT = SIDE * SIDE };
    static float points[COUNT][3], normals[COUNT][3], light[COUNT][3];
    double expected = 0;
    for (int i = 0; i < COUNT; i++) {
        points[i][0] = (float)(i % SIDE) / SIDE - 0.5f;
        points[i][1] = -1;
        points[i][2] = (float)(i / SIDE) / SIDE - 0.5f;
        normals[i][1] = 1;
        const double d2 = 4 + (double)(points[i][0] * points[i][0] + points[i][2] * points[i][2]);
        expected +=
            SAP_PI * 4 * 2 / (d2 * sqrt(d2)) / COUNT; // 4: the squared distance of the lamp from the box's middle
    }
    for (int filter = 0; filter < 3; filter++) {
        const sap_photon_search search = {.k = 200, .filter = (sap_photon_filter)filter};
        CHECK_STATUS(sap_photons_estimate(map, (sap_points){points[0], COUNT, 3, 0}, normals[0], &search, light[0]),
                     SAP_OK);
        double mean = 0;
        for (int i = 0; i < COUNT; i++) mean += (double)light[i][1] / COUNT;
        NOTE("filter %d: %g of %g", filter, mean, expected);
        CHECK(fabs(mean / expected - 1) < 0.01);
    }
    sap_photons_free(map);
    close_set(&s);
}

TEST(split_calls_and_threads) {
    enum { N = 80000 };
    stage_set s;
    sap_photons_info whole, part;
    open_set(&s, 1, true, 0.7f);
    sap_photons* map = send(&s, (sap_photon_options){.count = N, .seed = 7}, &whole);
    for (int32_t threads = 1; threads <= 4; threads += 3) {
        stage_set other;
        open_set(&other, threads, true, 0.7f);
        for (int parts = 1; parts <= 8; parts *= 2) {
            int64_t at = 0;
            for (int i = 0; i < parts; i++) {
                const sap_photon_options o = {
                    .first = (int64_t)N * i / parts, .count = N / parts, .total = N, .seed = 7};
                sap_photons* piece = send(&other, o, &part);
                CHECK(at + part.count <= whole.count &&
                      !memcmp(whole.photons + at, part.photons, (size_t)part.count * sizeof *part.photons));
                at += part.count;
                sap_photons_free(piece);
            }
            CHECK_EQUAL(at, whole.count);
        }
        close_set(&other);
    }
    sap_photons_free(map);
    close_set(&s);
}

typedef struct seen {
    float distance2;
    int32_t id;
} seen;

static int by_distance(const void* a, const void* b) {
    const seen *x = a, *y = b;
    if (x->distance2 != y->distance2) return x->distance2 < y->distance2 ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static void brute(const sap_photons_info* info, const float* q, const float* n, const sap_photon_search* o,
                  float* light) {
    seen* list = malloc((size_t)info->count * sizeof *list);
    int64_t count = 0;
    for (int64_t i = 0; i < info->count; i++) {
        const sap_photon* p = &info->photons[i];
        float d2 = 0;
        for (int a = 0; a < 3; a++) d2 += (q[a] - p->position[a]) * (q[a] - p->position[a]);
        float flew = p->direction[0] * n[0] + p->direction[1] * n[1] + p->direction[2] * n[2];
        float side = p->normal[0] * n[0] + p->normal[1] * n[1] + p->normal[2] * n[2];
        if (flew < 0 && side > 0 && (o->radius == 0 || d2 <= o->radius * o->radius))
            list[count++] = (seen){d2, (int32_t)i};
    }
    qsort(list, (size_t)count, sizeof *list, by_distance);
    int64_t used = o->k && count > o->k ? o->k : count;
    double r2 = (double)(o->radius * o->radius), sum[3] = {0};
    if (used < count)
        r2 = (double)list[used].distance2;
    else if (o->radius == 0)
        r2 = count ? (double)list[count - 1].distance2 : 0;
    for (int64_t i = 0; i < used && r2 > 0; i++) {
        double x = (double)list[i].distance2 / r2, w = o->filter == SAP_PHOTON_CONE           ? 3 * (1 - sqrt(x))
                                                       : o->filter == SAP_PHOTON_EPANECHNIKOV ? 2 * (1 - x)
                                                                                              : 1;
        for (int a = 0; a < 3; a++) sum[a] += w * (double)info->photons[list[i].id].power[a];
    }
    for (int a = 0; a < 3; a++) light[a] = r2 > 0 ? (float)(sum[a] / (SAP_PI * r2)) : 0;
    free(list);
}

// Where few of many photons count, boxes are passed over by what the photons below them share: also of numbers that are
// not finite, or overflow on the way, nothing that counts is lost.
TEST(few_of_many_count) {
    enum { PHOTONS = 12000, POINTS = 28 };
    static const sap_photon_search ways[] = {{.k = 50}, {.k = 1000, .filter = SAP_PHOTON_CONE}, {.radius = 60}};
    static const float odd[6] = {NAN, INFINITY, -INFINITY, FLT_MAX, -FLT_MAX, -0.0f};
    static sap_photon given[PHOTONS];
    float points[POINTS][3], normals[POINTS][3], light[POINTS][3], expected[3];
    uint32_t random = 5;
    stage_set s;
    open_set(&s, 2, true, 0.5f);
    for (int i = 0; i < PHOTONS; i++) {
        sap_photon* p = &given[i];
        *p = (sap_photon){.position = {(float)(i % 120), 0, (float)(i / 120)},
                          .normal = {0, 1, 0},
                          .direction = {0, -1, 0},
                          .power = {1, 0.3f, (float)(i % 7)}};
        for (int a = 0; a < 3; a++) {
            random = random * 1664525 + 1013904223;
            const float x = (float)(random >> 8) * 0x1p-23f - 1;
            if (i % 300 == 1) p->normal[a] = x;
            if (i % 300 == 1 || a != 1) p->direction[a] = i % 2 ? x : -x;
        }
        if (i % 900 == 7) p->direction[i % 3] = odd[i / 900 % 6];
        if (i % 900 == 8) p->normal[i % 3] = odd[i / 900 % 6];
    }
    for (int i = 0; i < POINTS; i++)
        for (int a = 0; a < 3; a++) {
            static const float sizes[4] = {1, 1e-30f, 3e38f, -1};
            points[i][a] = given[i * 431].position[a];
            normals[i][a] = i < 12 ? (i % 3 == a ? sizes[i / 3] : 0) : given[300 * i + 1].normal[a] * sizes[i % 4];
        }
    sap_photons* map = NULL;
    sap_photons_info info;
    CHECK_STATUS(sap_photons_make(s.device, given, PHOTONS, &map), SAP_OK);
    CHECK_STATUS(sap_photons_describe(map, &info), SAP_OK);
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        CHECK_STATUS(sap_photons_estimate(map, (sap_points){points[0], POINTS, 3, 0}, normals[0], &ways[way], light[0]),
                     SAP_OK);
        for (int i = 0; i < POINTS; i++) {
            NOTE("way %d, point %d", (int)way, i);
            brute(&info, points[i], normals[i], &ways[way], expected);
            CHECK(!memcmp(light[i], expected, sizeof expected));
        }
    }
    sap_photons_free(map);
    close_set(&s);
}

// Photons of both sides of the box's walls: those of the wrong side are many.
TEST(estimates_equal_brute_force) {
    stage_set s;
    open_set(&s, 3, true, 0.6f);
    sap_photons_info info;
    sap_photons* map = send(&s, (sap_photon_options){.count = 4000}, &info);
    static const sap_photon_search ways[] = {{.k = 1},
                                             {.k = 50},
                                             {.k = 50, .radius = 0.2f, .filter = SAP_PHOTON_CONE},
                                             {.radius = 0.3f, .filter = SAP_PHOTON_EPANECHNIKOV},
                                             {.k = 100000},
                                             {.k = 8, .filter = SAP_PHOTON_EPANECHNIKOV},
                                             {.k = 3, .radius = INFINITY},
                                             {.k = 1024},
                                             {.k = 1025},
                                             {.k = 1024, .filter = SAP_PHOTON_CONE},
                                             {.radius = 1.5f}};
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        float points[60][3], normals[60][3], light[60][3], expected[3];
        for (int i = 0; i < 60; i++)
            for (int a = 0; a < 3; a++) {
                const sap_photon* p = &info.photons[(i * 131) % info.count];
                points[i][a] = p->position[a];
                normals[i][a] = i % 2 ? p->normal[a] : -p->normal[a];
            }
        points[58][1] = NAN;
        normals[59][0] = NAN;
        CHECK_STATUS(sap_photons_estimate(map, (sap_points){points[0], 60, 3, 0}, normals[0], &ways[way], light[0]),
                     SAP_OK);
        for (int i = 0; i < 60; i++) {
            NOTE("way %d, point %d", (int)way, i);
            if (i < 58)
                brute(&info, points[i], normals[i], &ways[way], expected);
            else
                memset(expected, 0, sizeof expected);
            CHECK(!memcmp(light[i], expected, sizeof expected));
        }
    }
    sap_photons* copy = NULL;
    CHECK_STATUS(sap_photons_make(s.device, info.photons, info.count, &copy), SAP_OK);
    sap_photons_free(copy);
    sap_photons_free(map);
    close_set(&s);
}

// A round wall of metal lit along one direction: light is mirrored into a cusp at half the radius (a nephroid's).
TEST(caustic_of_a_ring) {
    enum { AROUND = 720 };
    stage_set s;
    open_set(&s, 2, false, 0.5f);
    sap_mesh_tree_free(s.tree);
    scene_mesh_free(&s.mesh);
    s.mesh = scene_mesh_make(2 * AROUND + 4, 2 * AROUND + 2);
    int32_t* ids = calloc(2 * AROUND + 2, sizeof *ids);
    for (int i = 0; i < AROUND; i++) { // half a ring, open towards -x
        double turn = ((double)i / (AROUND - 1) - 0.5) * SAP_PI;
        set_vertex(&s.mesh, 2 * i, cos(turn), 0, sin(turn));
        set_vertex(&s.mesh, 2 * i + 1, cos(turn), 0.5, sin(turn));
        if (i == 0) continue;
        set_triangle(&s.mesh, 2 * i - 2, 2 * i - 2, 2 * i - 1, 2 * i + 1);
        set_triangle(&s.mesh, 2 * i - 1, 2 * i - 2, 2 * i + 1, 2 * i);
    }
    for (int i = 0; i < 4; i++) set_vertex(&s.mesh, 2 * AROUND + i, i & 1 ? 1.5 : -1.5, 0, i & 2 ? 1.5 : -1.5);
    const int t = 2 * AROUND - 2, v = 2 * AROUND;
    set_triangle(&s.mesh, t, v, v + 1, v + 3);
    set_triangle(&s.mesh, t + 1, v, v + 3, v + 2);
    set_triangle(&s.mesh, t + 2, v, v, v);
    set_triangle(&s.mesh, t + 3, v, v, v);
    sap_material both[2] = {s.material, {"metal", {0, 0, 0}, {1, 1, 1}, {0, 0, 0}, 1, 1, 1, 3, {0, 0, 0}}};
    for (int i = 0; i < t; i++) ids[i] = 1;
    s.file = (sap_mesh_file){.mesh = s.mesh.mesh, .material_ids = ids, .materials = both, .material_count = 2};
    CHECK_STATUS(sap_mesh_tree_build(s.device, s.mesh.mesh, NULL, &s.tree), SAP_OK);
    s.scene.tree = s.tree;
    s.lamp = (sap_light){{-40, 12, 0}, {1, 1, 1}, {{0}}};
    sap_photons_info info;
    sap_photons* map =
        send(&s, (sap_photon_options){.count = 200000, .kinds = SAP_PHOTON_CAUSTIC, .ambient = -1}, &info);
    // Along the axis of the ring the light rises to its peak at the cusp and ends behind it.
    enum { PLACES = 81 };
    float points[PLACES][3], normals[PLACES][3], light[PLACES][3];
    for (int i = 0; i < PLACES; i++) {
        points[i][0] = 0.2f + 0.0075f * (float)i;
        points[i][1] = points[i][2] = normals[i][0] = normals[i][2] = 0;
        normals[i][1] = 1;
    }
    const sap_photon_search search = {.radius = 0.02f};
    CHECK_STATUS(sap_photons_estimate(map, (sap_points){points[0], PLACES, 3, 0}, normals[0], &search, light[0]),
                 SAP_OK);
    int best = 0;
    for (int i = 0; i < PLACES; i++)
        if (light[i][0] > light[best][0]) best = i;
    NOTE("%lld photons, cusp at %g", (long long)info.count, (double)points[best][0]);
    CHECK(fabs((double)points[best][0] - 0.5) < 0.04);
    sap_photons_free(map);
    free(ids);
    close_set(&s);
}

typedef enum light_kind { POINT_LAMP, AREA_LAMP, FACE, SKY, LIGHT_KINDS } light_kind;

// A floor, a mirror of a hundredth of its size that stands on it, and one light.
static void light_plate(stage_set* s, light_kind kind, int32_t* ids, sap_material* materials) {
    static const float corners[11][3] = {{-1, -1, -1},         {1, -1, -1},          {-1, -1, 1},
                                         {1, -1, 1},           {0.3f, -0.9f, -0.1f}, {0.3f, -0.9f, 0.1f},
                                         {0.3f, -0.7f, -0.1f}, {0.3f, -0.7f, 0.1f},  {-0.9f, -0.2f, -0.2f},
                                         {-0.9f, -0.2f, 0.2f}, {-0.8f, 0.2f, 0}};
    open_set(s, 2, false, 0.5f);
    sap_mesh_tree_free(s->tree);
    scene_mesh_free(&s->mesh);
    s->mesh = scene_mesh_make(11, 5);
    for (int i = 0; i < 11; i++)
        set_vertex(&s->mesh, i, (double)corners[i][0], (double)corners[i][1], (double)corners[i][2]);
    set_triangle(&s->mesh, 0, 0, 1, 3);
    set_triangle(&s->mesh, 1, 0, 3, 2);
    set_triangle(&s->mesh, 2, 4, 5, 7);
    set_triangle(&s->mesh, 3, 4, 7, 6);
    set_triangle(&s->mesh, 4, 8, 9, 10);
    materials[0] = s->material;
    materials[1] = (sap_material){"metal", {0, 0, 0}, {1, 1, 1}, {0, 0, 0}, 1, 1, 1, 3, {0, 0, 0}};
    materials[2] = (sap_material){"black", {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 1, 1, 1, 2, {0, 0, 0}};
    if (kind == FACE) materials[2].emission[0] = 3;
    for (int i = 0; i < 5; i++) ids[i] = i / 2;
    s->file = (sap_mesh_file){.mesh = s->mesh.mesh, .material_ids = ids, .materials = materials, .material_count = 3};
    CHECK_STATUS(sap_mesh_tree_build(s->device, s->mesh.mesh, NULL, &s->tree), SAP_OK);
    s->scene.tree = s->tree;
    s->lamp = (sap_light){{-3, 2, 0.3f}, {1, 1, 1}, {{0}}};
    if (kind == AREA_LAMP) s->lamp = (sap_light){{-2, 1, 0}, {1, 1, 1}, {{0, 0, 2}, {1.5f, 1, 0}}};
    s->scene.light_count = kind <= AREA_LAMP;
}

static double power_of_caustics(const sap_photons_info* info, int64_t* count) {
    double sum = 0;
    *count = 0;
    for (int64_t i = 0; i < info->count; i++) {
        if (info->photons[i].kind != SAP_PHOTON_CAUSTIC) continue;
        sum += (double)info->photons[i].power[0];
        ++*count;
    }
    return sum;
}

// Caustics alone are aimed at the mirror: many more photons arrive there, with the same power in all.
TEST(aimed_photons_have_the_same_power) {
    for (light_kind kind = POINT_LAMP; kind < LIGHT_KINDS; kind++) {
        enum { N = 300000, AIMED = 30000 };
        int32_t ids[5];
        sap_material materials[3];
        stage_set s;
        light_plate(&s, kind, ids, materials);
        const float ambient = kind == SKY ? 1.0f : -1.0f;
        sap_photons_info info[2];
        int64_t counts[2];
        sap_photons* all = send(&s, (sap_photon_options){.count = N, .ambient = ambient}, &info[0]);
        sap_photons* aimed =
            send(&s, (sap_photon_options){.count = AIMED, .kinds = SAP_PHOTON_CAUSTIC, .ambient = ambient}, &info[1]);
        const double expected = power_of_caustics(&info[0], &counts[0]),
                     power = power_of_caustics(&info[1], &counts[1]);
        NOTE("light %d: %lld photons of power %g, aimed %lld of %g", (int)kind, (long long)counts[0], expected,
             (long long)counts[1], power);
        CHECK(info[1].count == counts[1] && fabs(power / expected - 1) < 0.06);
        CHECK((double)counts[1] / AIMED > 10 * (double)counts[0] / N);
        CHECK(info[0].power[0] == info[1].power[0] && info[1].emitted[0] < info[1].power[0] / 20);
        sap_photons_free(aimed);
        sap_photons_free(all);
        close_set(&s);
    }
}

// Without mirrors and glass there is nothing to aim at.
TEST(no_caustics) {
    stage_set s;
    open_set(&s, 1, true, 0.5f);
    sap_photons_info info;
    sap_photons* map = send(&s, (sap_photon_options){.count = 1000, .kinds = SAP_PHOTON_CAUSTIC}, &info);
    CHECK(info.count == 0 && info.rays == 0 && info.emitted[0] == 0 && info.power[0] > 0);
    sap_photons_free(map);
    close_set(&s);
}

// A lamp far away sends all its photons towards the scene, each with as much less power.
TEST(far_lamp) {
    stage_set s;
    open_set(&s, 2, true, 0.5f);
    s.lamp = (sap_light){{100, 0, 0}, {1, 1, 1}, {{0}}};
    sap_photons_info info;
    enum { N = 20000 };
    sap_photons* map = send(&s, (sap_photon_options){.count = N, .ambient = -1, .bounces = -1}, &info);
    double met = 0;
    for (int64_t i = 0; i < info.count; i++) met += (double)info.photons[i].power[0];
    // The side of 2 x 2 that it sees, 99 away, under a light of 1 at a distance of 100.
    const double expected = SAP_PI * 4 * (100.0 / 99) * (100.0 / 99);
    NOTE("%lld met, power %g of %g", (long long)info.count, met, expected);
    CHECK(info.count > N / 4 && fabs(met / expected - 1) < 0.02);
    sap_photons_free(map);
    close_set(&s);
}

// Two faces, the upper and the lower one of a slab of glass that does not bend light, above a floor.
static void open_slab(stage_set* s, int32_t* ids, sap_material* materials) {
    open_set(s, 2, false, 0.5f);
    sap_mesh_tree_free(s->tree);
    scene_mesh_free(&s->mesh);
    s->mesh = scene_mesh_make(12, 6);
    for (int i = 0; i < 12; i++) {
        const double y = i < 4 ? -1 : i < 8 ? -0.5 : 0, size = i < 4 ? 1 : 3;
        set_vertex(&s->mesh, i, i & 1 ? size : -size, y, i & 2 ? size : -size);
    }
    for (int f = 0; f < 3; f++) { // the lower face looks down
        const int v = 4 * f, down = f == 1;
        set_triangle(&s->mesh, 2 * f, v, down ? v + 1 : v + 3, down ? v + 3 : v + 1);
        set_triangle(&s->mesh, 2 * f + 1, v, down ? v + 3 : v + 2, down ? v + 2 : v + 3);
        ids[2 * f] = ids[2 * f + 1] = f > 0;
    }
    materials[0] = s->material;
    materials[1] = (sap_material){"glass", {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 1, 0, 1, 7, {0, 1, 4}};
    s->file = (sap_mesh_file){.mesh = s->mesh.mesh, .material_ids = ids, .materials = materials, .material_count = 2};
    CHECK_STATUS(sap_mesh_tree_build(s->device, s->mesh.mesh, NULL, &s->tree), SAP_OK);
    s->scene.tree = s->tree;
    s->lamp = (sap_light){{0, 3, 0}, {1, 1, 1}, {{0}}};
}

// exp(-a d) of the light is left after a way of d through glass, of each photon and of what a camera sees.
TEST(glass_absorbs) {
    static const double absorbed[3] = {0, 1, 4};
    int32_t ids[6];
    sap_material materials[2];
    stage_set s;
    open_slab(&s, ids, materials);
    enum { N = 20000 };
    sap_photons_info info;
    sap_photons* map = send(&s, (sap_photon_options){.count = N, .ambient = -1, .bounces = 2}, &info);
    CHECK(info.count > 100);
    for (int64_t i = 0; i < info.count; i++) {
        const sap_photon* p = &info.photons[i];
        const double way = 0.5 / fabs((double)p->direction[1]);
        for (int a = 0; a < 3; a++) {
            const double left = (double)p->power[a] / (info.emitted[a] / N);
            NOTE("photon %d: %g of colour %d is left", (int)i, left, a);
            CHECK(p->kind == SAP_PHOTON_CAUSTIC && fabs(left / exp(-absorbed[a] * way) - 1) < 1e-4);
        }
    }
    sap_photons_free(map);
    for (int a = 0; a < 3; a++) materials[0].emission[a] = 1;
    materials[0].diffuse[0] = materials[0].diffuse[1] = materials[0].diffuse[2] = 0;
    s.scene.light_count = 0;
    s.scene.camera = (sap_camera){.eye = {0, 3, 0}, .at = {0, -1, 0}, .up = {0, 0, 1}, .fov = 1};
    float light[3];
    const sap_render_options o = {.width = 1, .height = 1, .samples = 4, .ambient = -1};
    CHECK_STATUS(sap_render_light(&s.scene, &o, light, NULL), SAP_OK);
    for (int a = 0; a < 3; a++) CHECK(fabs((double)light[a] / exp(-absorbed[a] * 0.5) - 1) < 1e-3);
    close_set(&s);
}

// Glass that takes all light ends its way.
TEST(black_glass) {
    int32_t ids[6];
    sap_material materials[2];
    stage_set s;
    open_slab(&s, ids, materials);
    for (int a = 0; a < 3; a++) materials[1].absorption[a] = a ? INFINITY : 1e30f;
    sap_photons_info info;
    sap_photons* map = send(&s, (sap_photon_options){.count = 1000, .ambient = -1}, &info);
    CHECK(info.count == 0 && info.rays > 1000 && info.rays <= 2000);
    sap_photons_free(map);
    close_set(&s);
}

TEST(decay_is_that_of_the_c_library) {
    for (double x = 1e-9; x < 80; x = x * 1.01 + 1e-4) CHECK(fabs((double)sap_decay(x) / exp(-x) - 1) < 1e-7);
    CHECK(sap_decay(0) == 1 && sap_decay(-1) == 1 && sap_decay(INFINITY) == 0 && sap_decay((double)NAN) == 1);
}

// Points without a normal get no light; radii whose squares no float holds are no limit.
TEST(odd_normals_and_radii) {
    stage_set s;
    open_set(&s, 2, true, 0.6f);
    sap_photons_info info;
    sap_photons* map = send(&s, (sap_photon_options){.count = 3000}, &info);
    const float at[4][3] = {{0.1f, -1, 0.2f}, {0.1f, -1, 0.2f}, {0.1f, -1, 0.2f}, {0.1f, -1, 0.2f}};
    const float normals[4][3] = {{0, INFINITY, 0}, {INFINITY, 1, -INFINITY}, {0, 0, 0}, {0, 1e30f, 0}};
    float light[4][3], same[4][3], all[4][3];
    for (int32_t k = 5; k < 5000; k *= 400) {
        const sap_photon_search search = {.k = k}, wide = {.k = k, .radius = 1e30f}, endless = {.radius = 1e30f};
        const sap_points points = {at[0], 4, 3, 0};
        CHECK_STATUS(sap_photons_estimate(map, points, normals[0], &search, light[0]), SAP_OK);
        CHECK_STATUS(sap_photons_estimate(map, points, normals[0], &wide, same[0]), SAP_OK);
        for (int i = 0; i < 3; i++) CHECK(light[i][0] == 0 && light[i][1] == 0 && light[i][2] == 0);
        CHECK(light[3][0] > 0 && !memcmp(light, same, sizeof same));
        CHECK_STATUS(sap_photons_estimate(map, points, normals[0], &endless, all[0]), SAP_OK);
        CHECK(all[3][0] > 0 && all[0][0] == 0);
    }
    sap_photons_free(map);
    close_set(&s);
}

typedef enum act { SEND, LOOK, LOOK_WITHIN, LOOK_FAR, ACTS } act;

static sap_status do_act(stage_set* s, act what, const sap_photons* map, sap_photons** made) {
    enum { COUNT = 300 };
    static float points[COUNT][3], normals[COUNT][3], light[COUNT][3];
    for (int i = 0; i < COUNT; i++) {
        points[i][0] = (float)i / COUNT;
        points[i][1] = -1;
        normals[i][1] = 1;
    }
    if (what == SEND) return sap_photons_trace(&s->scene, &(sap_photon_options){.count = 40000}, made);
    const sap_photon_search search = {.k = what == LOOK       ? 20
                                           : what == LOOK_FAR ? 1025 // more than a run keeps
                                                              : 0,
                                      .radius = what == LOOK_WITHIN ? 1.0f : 0};
    return sap_photons_estimate(map, (sap_points){points[0], COUNT, 3, 0}, normals[0], &search, light[0]);
}

// Whatever request is refused, the call says so and keeps nothing.
TEST(refused_memory) {
    stage_set s;
    open_set(&s, 2, true, 0.5f);
    sap_photons_info info;
    sap_photons* map = send(&s, (sap_photon_options){.count = 8000}, &info);
    for (act what = SEND; what < ACTS; what++) {
        sap_status status = SAP_ERROR_MEMORY;
        sap_photons* made = NULL;
        sap_device_trim(s.device);
        const int64_t blocks = s.w.blocks;
        int64_t fail = 0;
        while (status == SAP_ERROR_MEMORY && fail < 1000) {
            s.w.requests = 0;
            s.w.fail_from = ++fail;
            status = do_act(&s, what, map, &made);
            sap_device_trim(s.device);
            CHECK(status == SAP_OK || (!made && s.w.blocks == blocks));
        }
        s.w.fail_from = 0;
        NOTE("act %d: %d refused", (int)what, (int)fail);
        CHECK_STATUS(status, SAP_OK);
        CHECK(fail > (what == SEND ? 5 : 1));
        sap_photons_free(made);
    }
    sap_photons_free(map);
    close_set(&s);
}

// Where very many photons are within the radius, rows of few points are in memory at a time.
TEST(many_within_the_radius) {
    enum { PHOTONS = 2000, COUNT = 2000 };
    static float points[COUNT][3], normals[COUNT][3], light[COUNT][3];
    stage_set s;
    open_set(&s, 2, true, 0.5f);
    sap_photon* given = calloc(PHOTONS, sizeof *given);
    for (int i = 0; i < PHOTONS; i++)
        given[i] = (sap_photon){.position = {(float)(i % 64), 0, (float)(i / 64)},
                                .normal = {0, 1, 0},
                                .direction = {0, -1, 0},
                                .power = {1, 2, 0.5f}};
    for (int i = 0; i < COUNT; i++) {
        points[i][0] = (float)(i % 60);
        normals[i][1] = 1;
    }
    sap_photons* map = NULL;
    CHECK_STATUS(sap_photons_make(s.device, given, PHOTONS, &map), SAP_OK);
    const sap_photon_search search = {.radius = 1000};
    s.w.most = 0;
    CHECK_STATUS(sap_photons_estimate(map, (sap_points){points[0], COUNT, 3, 0}, normals[0], &search, light[0]),
                 SAP_OK);
    const float all = (float)(PHOTONS / (SAP_PI * 1e6));
    for (int i = 0; i < COUNT; i++) CHECK(light[i][0] == all && light[i][1] == 2 * all && light[i][2] == all / 2);
    NOTE("%lld bytes", (long long)s.w.most);
    CHECK(s.w.most < 30 << 20); // all rows have 48 MB
    sap_photons_free(map);
    free(given);
    close_set(&s);
}

typedef struct stopper {
    int calls, stop_at;
    double last;
} stopper;

static bool stop(void* user, double done) {
    stopper* p = user;
    CHECK(done >= p->last && done <= 1);
    p->last = done;
    return ++p->calls != p->stop_at;
}

// Each call may stop at any report, leaves nothing behind, and can be made again.
TEST(cancelled) {
    stopper p = {.calls = 0};
    stage_set s;
    open_set(&s, 1, true, 0.5f);
    sap_device_options options = watched(&s.w);
    options.threads = 2;
    options.progress = stop;
    options.progress_user = &p;
    sap_mesh_tree_free(s.tree);
    sap_device_close(s.device);
    CHECK_STATUS(sap_device_open(&options, &s.device), SAP_OK);
    CHECK_STATUS(sap_mesh_tree_build(s.device, s.mesh.mesh, NULL, &s.tree), SAP_OK);
    s.scene.tree = s.tree;
    p = (stopper){.calls = 0};
    sap_photons_info info;
    sap_photons* map = send(&s, (sap_photon_options){.count = 8000}, &info);
    for (act what = SEND; what < ACTS; what++)
        for (int at = 1;; at++) {
            sap_photons* made = NULL;
            p = (stopper){.stop_at = at};
            const sap_status status = do_act(&s, what, map, &made);
            NOTE("act %d, report %d", (int)what, at);
            if (p.calls < at) {
                CHECK(status == SAP_OK && at > 1);
                sap_photons_free(made);
                break;
            }
            CHECK(status == SAP_ERROR_CANCELLED && !made);
        }
    sap_photons_free(map);
    close_set(&s);
}

TEST(radius_shrinks) {
    CHECK(sap_photon_radius(2, 0) == 2 && isnan(sap_photon_radius(2, -1)));
    CHECK(fabs(sap_photon_radius(1, 1) - sqrt(5.0 / 6)) < 1e-15);
    CHECK(fabs(sap_photon_radius(3, 2) - 3 * sqrt(5.0 / 6 * 8 / 9)) < 1e-15);
}

TEST(bad_input) {
    stage_set s;
    open_set(&s, 1, true, 0);
    sap_photons_info info;
    sap_photons* map = send(&s, (sap_photon_options){.count = 1000, .ambient = -1}, &info);
    CHECK_EQUAL(info.count, 0); // black: nothing to light
    sap_photons_free(map);
    map = send(&s, (sap_photon_options){.count = 0}, &info);
    CHECK_EQUAL(info.count, 0);
    float one[3] = {0}, light[3] = {1, 1, 1};
    const sap_photon_search search = {.k = 5};
    CHECK_STATUS(sap_photons_estimate(map, (sap_points){one, 1, 3, 0}, one, &search, light), SAP_OK);
    CHECK(light[0] == 0);
    CHECK_STATUS(sap_photons_estimate(map, (sap_points){one, 1, 2, 0}, one, &search, light), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_photons_estimate(map, (sap_points){one, 1, 3, 0}, NULL, &search, light), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_photons_estimate(map, (sap_points){one, 1, 3, 0}, one, &(sap_photon_search){.k = 0}, light),
                 SAP_ERROR_ARGUMENT);
    CHECK_STATUS(
        sap_photons_estimate(map, (sap_points){one, 1, 3, 0}, one, &(sap_photon_search){.k = 1, .radius = NAN}, light),
        SAP_ERROR_ARGUMENT);
    sap_photons_free(map);
    s.scene.light_count = 0;
    map = send(&s, (sap_photon_options){.count = 1000, .ambient = -1}, &info); // no light
    CHECK(info.count == 0 && info.power[0] == 0 && info.emitted[0] == 0);
    sap_photons_free(map);
    map = NULL;
    sap_photon_options o = {.count = (int64_t)1 << 31};
    CHECK_STATUS(sap_photons_trace(&s.scene, &o, &map), SAP_ERROR_RANGE);
    o.count = -1;
    CHECK_STATUS(sap_photons_trace(&s.scene, &o, &map), SAP_ERROR_ARGUMENT);
    o = (sap_photon_options){.count = 1, .kinds = 16};
    CHECK_STATUS(sap_photons_trace(&s.scene, &o, &map), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_photons_trace(NULL, &o, &map), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_photons_trace(&s.scene, NULL, &map), SAP_ERROR_ARGUMENT);
    const sap_photon lost = {.position = {NAN, 0, 0}};
    CHECK_STATUS(sap_photons_make(s.device, &lost, 1, &map), SAP_ERROR_NOT_FINITE);
    CHECK(!map);
    CHECK_STATUS(sap_photons_describe(NULL, &info), SAP_ERROR_ARGUMENT);
    sap_mesh_tree* none = NULL;
    sap_mesh_file empty = {.material_count = 0};
    CHECK_STATUS(sap_mesh_tree_build(s.device, empty.mesh, NULL, &none), SAP_OK);
    s.scene = (sap_scene){.tree = none, .file = &empty};
    map = send(&s, (sap_photon_options){.count = 1000}, &info);
    CHECK_EQUAL(info.count, 0);
    sap_photons_free(map);
    sap_mesh_tree_free(none);
    close_set(&s);
}

TEST_MAIN()
