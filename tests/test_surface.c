// Surfaces of volumes: every device against loops over cells, and the meshes against what is known of the bodies.
#include "allocator.h"
#include "cases.h"
#include "surface_oracle.h"
#include "test.h"

// ---- Volumes

static size_t voxel_size(sap_voxel type) { return type == SAP_VOXEL_F32 ? 4 : type == SAP_VOXEL_U8 ? 1 : 2; }

// A volume that ends where its memory ends, so that sanitizers see who reads beyond it.
static sap_volume volume_of(sap_voxel type, int64_t x, int64_t y, int64_t z) {
    return (sap_volume){
        .values = malloc((size_t)(x * y * z) * voxel_size(type) + (x * y * z == 0)), .type = type, .size = {x, y, z}};
}

static void volume_free(const sap_volume* v) { free((void*)(uintptr_t)v->values); }

static void put(const sap_volume* v, int64_t i, double value) {
    void* values = (void*)(uintptr_t)v->values;
    switch (v->type) {
    case SAP_VOXEL_U8: ((uint8_t*)values)[i] = (uint8_t)value; break;
    case SAP_VOXEL_I16: ((int16_t*)values)[i] = (int16_t)value; break;
    case SAP_VOXEL_U16: ((uint16_t*)values)[i] = (uint16_t)value; break;
    case SAP_VOXEL_F32: ((float*)values)[i] = (float)value; break;
    }
}

// Values of 0 to 7 make all cases, and many values that are the level; `some` in 256 are not 0.
static void put_noise(const sap_volume* v, uint64_t* state, unsigned some) {
    for (int64_t i = 0; i < v->size[0] * v->size[1] * v->size[2]; i++) {
        uint64_t chance = random_next(state);
        put(v, i, chance % 256 < some ? (double)(chance >> 8 & 7) : 0);
    }
}

// ---- Against the oracle

static void expect_same(const sap_isosurface* got, const oracle_surface* expected) {
    size_t vertices = (size_t)expected->vertex_count * 12, triangles = (size_t)expected->triangle_count * 12;
    CHECK_EQUAL(got->mesh.vertex_count, expected->vertex_count);
    CHECK_EQUAL(got->mesh.triangle_count, expected->triangle_count);
    CHECK(!got->on_device);
    if (got->mesh.vertex_count != expected->vertex_count || got->mesh.triangle_count != expected->triangle_count)
        return;
    CHECK(!memcmp(got->mesh.vertices, expected->vertices, vertices));
    CHECK(!memcmp(got->normals, expected->normals, vertices));
    CHECK(!memcmp(got->mesh.triangles, expected->triangles, triangles));
}

static void try_everywhere(const devices* all, sap_volume v, sap_isosurface_options options) {
    oracle_surface expected = oracle_extract(&v, &options);
    for (int d = 0; d < all->count; d++) {
        sap_isosurface* got = NULL;
        CHECK_STATUS(sap_isosurface_extract(all->open[d], v, &options, &got), SAP_OK);
        if (got) expect_same(got, &expected);
        sap_isosurface_free(got);
    }
    oracle_surface_free(&expected);
}

static const int64_t sides[][3] = {{2, 2, 2},   {3, 2, 5},   {1, 9, 9},    {9, 1, 9},   {9, 9, 1},   {0, 4, 4},
                                   {4, 4, 0},   {1, 1, 1},   {2, 30, 2},   {31, 3, 4},  {32, 4, 3},  {33, 5, 7},
                                   {63, 3, 3},  {64, 7, 2},  {65, 2, 9},   {66, 5, 5},  {127, 4, 3}, {128, 3, 4},
                                   {129, 3, 3}, {200, 9, 8}, {17, 19, 23}, {1100, 3, 3}};
enum { SIDES = sizeof sides / sizeof *sides };

TEST(noise) {
    static const unsigned some[] = {256, 128, 20, 2};
    devices all = devices_open(0);
    uint64_t state = 7;
    for (int i = 0; i < SIDES; i++) {
        for (int type = 0; type < 4; type++) {
            if ((i + type) % (CASE_STEP > 5 ? 4 : 1)) continue;
            sap_volume v = volume_of((sap_voxel)type, sides[i][0], sides[i][1], sides[i][2]);
            NOTE("%d x %d x %d of type %d", (int)sides[i][0], (int)sides[i][1], (int)sides[i][2], type);
            v.spacing[1] = 0.5f + (float)i;
            v.spacing[2] = 0.25f;
            v.origin[0] = -3.75f;
            put_noise(&v, &state, some[(i + type) % 4]);
            try_everywhere(&all, v, (sap_isosurface_options){.level = type % 2 ? 3 : 2.5f, .low_inside = i % 2});
            volume_free(&v);
        }
    }
    devices_close(&all);
}

// Every case in a cell of its own, all about it outside: closed meshes that hold a volume.
TEST(single_cells) {
    devices all = devices_open(1);
    for (int inside = 1; inside<256; inside += CASE_STEP> 5 ? 7 : 1) {
        sap_volume v = volume_of(SAP_VOXEL_F32, 4, 4, 4);
        for (int64_t i = 0; i < 64; i++) put(&v, i, 0);
        for (int c = 0; c < 8; c++)
            if (inside >> c & 1) put(&v, 1 + (c & 1) + 4 * (1 + (c >> 1 & 1)) + 16 * (1 + (c >> 2)), 1 + c);
        NOTE("case %d", inside);
        try_everywhere(&all, v, (sap_isosurface_options){.level = 0.25f});
        sap_isosurface* s = NULL;
        CHECK_STATUS(sap_isosurface_extract(all.open[0], v, &(sap_isosurface_options){.level = 0.25f}, &s), SAP_OK);
        if (s) {
            mesh_shape shape = shape_of(s);
            CHECK_EQUAL(shape.open, 0);
            CHECK(shape.volume > 0);
        }
        sap_isosurface_free(s);
        volume_free(&v);
    }
    devices_close(&all);
}

// ---- Known bodies

typedef double (*body)(const double p[3]); // how deep inside a point lies

static double sphere(const double p[3]) { return 9.3 - sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]); }

static double torus(const double p[3]) {
    double ring = sqrt(p[0] * p[0] + p[1] * p[1]) - 8;
    return 3.1 - sqrt(ring * ring + p[2] * p[2]);
}

static double two_spheres(const double p[3]) {
    double left[3] = {p[0] + 5.5, p[1], p[2]}, right[3] = {p[0] - 5.5, p[1], p[2]};
    return fmax(sphere(left), sphere(right)) - 4.5;
}

// The body's mesh, in samples of so many units.
static sap_isosurface* mesh_of_body(sap_device* device, body of, float unit, bool low_inside) {
    enum { SIDE = 61 };
    float spacing = unit * 26 / (SIDE - 1);
    sap_volume v = volume_of(SAP_VOXEL_F32, SIDE, SIDE, SIDE);
    sap_isosurface* s = NULL;
    for (int a = 0; a < 3; a++) {
        v.spacing[a] = spacing;
        v.origin[a] = -13 * unit;
    }
    for (int64_t i = 0; i < SIDE * SIDE * SIDE; i++) {
        int64_t at[3] = {i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE};
        double p[3];
        for (int a = 0; a < 3; a++) p[a] = -13 + (double)at[a] * 26 / (SIDE - 1);
        put(&v, i, low_inside ? -of(p) : of(p));
    }
    CHECK_STATUS(sap_isosurface_extract(device, v, &(sap_isosurface_options){.low_inside = low_inside}, &s), SAP_OK);
    volume_free(&v);
    return s;
}

TEST(bodies) {
    static const double pi = 3.14159265358979;
    const struct {
        body of;
        int64_t euler;
        double volume, area;
    } bodies[] = {{sphere, 2, 4.0 / 3 * pi * 9.3 * 9.3 * 9.3, 4 * pi * 9.3 * 9.3},
                  {torus, 0, 2 * pi * pi * 8 * 3.1 * 3.1, 4 * pi * pi * 8 * 3.1},
                  {two_spheres, 4, 8.0 / 3 * pi * 4.8 * 4.8 * 4.8, 8 * pi * 4.8 * 4.8}};
    devices all = devices_open(1);
    const int tried = CASE_STEP > 5 ? 2 : 6;
    for (int i = 0; i < tried; i++) {
        double unit = i % 2 ? 1e-3 : 1;
        NOTE("body %d", i);
        sap_isosurface* s = mesh_of_body(all.open[0], bodies[i / 2].of, (float)unit, i % 2);
        if (!CHECK(s && s->mesh.triangle_count > 1000)) continue;
        mesh_shape shape = shape_of(s);
        CHECK_EQUAL(shape.open, 0);
        CHECK_EQUAL(shape.euler, bodies[i / 2].euler);
        CHECK(fabs(shape.volume / (unit * unit * unit * bodies[i / 2].volume) - 1) < 0.01);
        CHECK(fabs(shape.area / (unit * unit * bodies[i / 2].area) - 1) < 0.01);
        CHECK(shape.worst_agreement > 0.8);
        for (int64_t v = 0; v < s->mesh.vertex_count; v++) {
            const float* n = s->normals + 3 * v;
            CHECK(fabsf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] - 1) < 1e-6f);
        }
        sap_isosurface_free(s);
    }
    devices_close(&all);
}

// Noise with nothing of it on the outside, at a level that many samples have: closed all the same, on every device.
TEST(closed) {
    devices all = devices_open(0);
    uint64_t state = 3;
    sap_volume v = volume_of(SAP_VOXEL_U8, 40, 13, 17);
    put_noise(&v, &state, 200);
    for (int64_t i = 0; i < 40 * 13 * 17; i++) {
        int64_t x = i % 40, y = i / 40 % 13, z = i / 40 / 13;
        if (x == 0 || y == 0 || z == 0 || x == 39 || y == 12 || z == 16) put(&v, i, 0);
    }
    for (int level = 1; level < 8; level++) {
        for (int d = 0; d < all.count; d++) {
            sap_isosurface* s = NULL;
            NOTE("level %d, device %d", level, d);
            CHECK_STATUS(sap_isosurface_extract(all.open[d], v, &(sap_isosurface_options){.level = (float)level}, &s),
                         SAP_OK);
            if (s) CHECK_EQUAL(shape_of(s).open, 0);
            if (s) CHECK(s->mesh.triangle_count > 1000);
            sap_isosurface_free(s);
        }
    }
    volume_free(&v);
    devices_close(&all);
}

// ---- Threads

TEST(any_number_of_threads) {
    enum { X = 130, Y = 70, Z = 45 };
    uint64_t state = 11;
    sap_volume v = volume_of(SAP_VOXEL_I16, X, Y, Z);
    put_noise(&v, &state, 8);
    sap_isosurface_options options = {.level = 1};
    oracle_surface expected = oracle_extract(&v, &options);
    for (int threads = 1; threads <= 5; threads++) {
        sap_device* device = NULL;
        sap_isosurface* got = NULL;
        NOTE("%d threads", threads);
        CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU, .threads = threads}, &device), SAP_OK);
        CHECK_STATUS(sap_isosurface_extract(device, v, &options, &got), SAP_OK);
        if (got) expect_same(got, &expected);
        sap_isosurface_free(got);
        sap_device_close(device);
    }
    oracle_surface_free(&expected);
    volume_free(&v);
}

// ---- Bad input

TEST(values_that_are_no_numbers) {
    static const float bad[] = {NAN, INFINITY, -INFINITY, 1e38f, -1e38f};
    static const int64_t places[] = {0, 69, 70, 133, 2000, 70 * 9 * 11 - 1};
    devices all = devices_open(0);
    for (int i = 0; i < 30; i++) {
        watch w = {0};
        sap_device_options options = watched(&w);
        sap_device* device = NULL;
        sap_isosurface* s = NULL;
        sap_volume v = volume_of(SAP_VOXEL_F32, 70, 9, 11);
        for (int64_t k = 0; k < 70 * 9 * 11; k++) put(&v, k, 0x1p126 * (k % 2 ? 1 : -1));
        NOTE("%g at %d", (double)bad[i % 5], (int)places[i / 5]);
        for (int d = 0; d < all.count; d++) {
            CHECK_STATUS(sap_isosurface_extract(all.open[d], v, NULL, &s), SAP_OK);
            for (int64_t k = 0; s && k < 3 * s->mesh.vertex_count; k++)
                CHECK(isfinite(s->mesh.vertices[k]) && fabsf(s->normals[k]) <= 1);
            sap_isosurface_free(s);
            s = NULL;
        }
        put(&v, 70 * 9 * 11 - 1, NAN); // the first counts
        put(&v, places[i / 5], (double)bad[i % 5]);
        for (int d = 0; d < all.count; d++)
            CHECK_STATUS(sap_isosurface_extract(all.open[d], v, NULL, &s), SAP_ERROR_NOT_FINITE);
        CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
        CHECK_STATUS(sap_isosurface_extract(device, v, NULL, &s), SAP_ERROR_NOT_FINITE);
        char named[64];
        snprintf(named, sizeof named, "volume.values: sample %d (", (int)places[i / 5]);
        CHECK(!strncmp(w.sentence, named, strlen(named)));
        CHECK(!s);
        sap_device_close(device);
        CHECK_EQUAL(w.blocks, 0);
        volume_free(&v);
    }
    devices_close(&all);
}

TEST(arguments) {
    static const float one[8];
    const sap_volume good = {.values = one, .size = {2, 2, 2}};
    const int64_t huge = INT64_C(1) << 31;
    sap_volume v[16];
    for (int i = 0; i < 16; i++) v[i] = good;
    v[0].values = NULL;
    v[1].type = (sap_voxel)4;
    v[2].size[1] = -1;
    v[3].spacing[2] = -1;
    v[4].spacing[0] = NAN;
    v[5].spacing[1] = INFINITY;
    v[6].spacing[1] = 8e37f;
    v[7].origin[2] = NAN;
    v[8].origin[0] = -INFINITY;
    v[9].origin[1] = 1e38f;
    v[10].values = (const char*)one + 1;
    v[11].size[0] = huge;
    v[12] = (sap_volume){.values = one, .size = {huge - 1, huge - 1, huge - 1}};
    v[13].size[2] = -1;
    v[13].size[0] = 0;
    const char* names[] = {"volume.values: is NULL",
                           "volume.type",
                           "volume.size[1]",
                           "volume.spacing[2]",
                           "volume.spacing[0]",
                           "volume.spacing[1]",
                           "volume.spacing[1]",
                           "volume.origin[2]",
                           "volume.origin[0]",
                           "volume.origin[1]",
                           "volume.values: is not aligned",
                           "volume.size[0]",
                           "volume.size",
                           "volume.size[2]"};
    watch w = {0};
    sap_device_options options = watched(&w);
    sap_device* device = NULL;
    sap_isosurface* s = NULL;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    for (int i = 0; i < 14; i++) {
        NOTE("%s", names[i]);
        w.log_calls = 0;
        CHECK_STATUS(sap_isosurface_extract(device, v[i], NULL, &s),
                     i == 11 || i == 12 ? SAP_ERROR_RANGE : SAP_ERROR_ARGUMENT);
        CHECK_EQUAL(w.log_calls, 1);
        CHECK(!strncmp(w.sentence, names[i], strlen(names[i])));
        CHECK(!s);
    }
    NOTE("%s", "the rest");
    CHECK_STATUS(sap_isosurface_extract(device, good, &(sap_isosurface_options){.level = NAN}, &s), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_isosurface_extract(device, good, &(sap_isosurface_options){.level = INFINITY}, &s),
                 SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_isosurface_extract(NULL, good, NULL, &s), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_isosurface_extract(device, good, NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_isosurface_extract(device, (sap_volume){.size = {0, huge - 1, huge - 1}}, NULL, &s), SAP_OK);
    CHECK(s && s->mesh.vertex_count == 0 && s->mesh.triangle_count == 0);
    sap_isosurface_free(s);
    sap_isosurface_free(NULL);
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
}

// ---- Refused memory, and a host that asks to stop

static sap_volume some_volume(void) {
    uint64_t state = 5;
    sap_volume v = volume_of(SAP_VOXEL_U8, 100, 60, 50);
    put_noise(&v, &state, 30);
    return v;
}

TEST(refused_memory) {
    watch w = {0};
    sap_device_options options = watched(&w);
    options.threads = 2;
    sap_device* device = NULL;
    sap_volume v = some_volume();
    sap_isosurface_options level = {.level = 1};
    oracle_surface expected = oracle_extract(&v, &level);
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    for (int64_t n = 1; n < 100; n++) {
        sap_isosurface* s = NULL;
        int64_t blocks = w.blocks;
        NOTE("request %d refused", (int)n);
        w.requests = 0;
        w.fail_from = n;
        sap_status status = sap_isosurface_extract(device, v, &level, &s);
        w.fail_from = 0;
        if (s) {
            CHECK(n > 3 && w.requests < n);
            expect_same(s, &expected);
            sap_isosurface_free(s);
            break;
        }
        CHECK_STATUS(status, SAP_ERROR_MEMORY);
        sap_device_trim(device);
        CHECK_EQUAL(w.blocks, blocks);
    }
    w.requests = 0; // what one result has left serves the next
    for (int i = 0; i < 3; i++) {
        sap_isosurface* s = NULL;
        CHECK_STATUS(sap_isosurface_extract(device, v, &level, &s), SAP_OK);
        sap_isosurface_free(s);
    }
    CHECK_EQUAL(w.requests, 3); // a result's owner each
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(w.wrong, 0);
    oracle_surface_free(&expected);
    volume_free(&v);
}

typedef struct stopper {
    int calls, stop_at;
    double last;
    bool is_wrong;
} stopper;

static bool stop(void* user, double done) {
    stopper* s = user;
    s->is_wrong = s->is_wrong || done < s->last || done > 1;
    s->last = done;
    return ++s->calls != s->stop_at;
}

TEST(progress) {
    sap_volume v = some_volume();
    stopper all = {0};
    for (int stop_at = 0; stop_at < 1 || stop_at <= all.calls; stop_at++) {
        watch w = {0};
        stopper user = {.stop_at = stop_at};
        sap_device_options options = watched(&w);
        options.threads = 1 + stop_at % 2;
        options.progress = stop;
        options.progress_user = &user;
        sap_device* device = NULL;
        sap_isosurface* s = NULL;
        NOTE("stopped at %d", stop_at);
        CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
        sap_status status = sap_isosurface_extract(device, v, &(sap_isosurface_options){.level = 1}, &s);
        CHECK(!user.is_wrong);
        if (stop_at == 0) {
            all = user;
            CHECK(all.calls >= 3 && all.calls <= 600 && all.last == 1);
        }
        if (stop_at == 0 || user.calls < stop_at) {
            CHECK_STATUS(status, SAP_OK);
            CHECK(s != NULL);
        } else {
            CHECK_STATUS(status, SAP_ERROR_CANCELLED);
            CHECK(!s);
        }
        sap_isosurface_free(s);
        sap_device_close(device);
        CHECK_EQUAL(w.blocks, 0);
    }
    volume_free(&v);
}

TEST_MAIN()
