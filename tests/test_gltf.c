// glTF: scenes made here are read right, move as they should, and broken ones are refused.
#include "folder.h"
#include "gltf_making.h"
#include "mesh_reading.h"
#include <locale.h>

#include <float.h>

// A strip of two squares up the y axis: its lower end follows one bone, its upper end another, its middle both. The
// upper bone stands at y = 1, and turns a quarter around z within a second.
typedef struct strip {
    float places[18], weights[24], inverse[32], times[2], turns[8];
    uint16_t joints[24], corners[12];
} strip;

static strip make_strip(void) {
    strip s = {
        .inverse = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1, 0, 1},
        .times = {0, 1},
        .turns = {0, 0, 0, 1, 0, 0, 0.70710678f, 0.70710678f},
        .corners = {0, 1, 2, 2, 1, 3, 2, 3, 4, 4, 3, 5}};
    for (int i = 0; i < 6; i++) {
        s.places[3 * i] = (float)(i % 2);
        s.places[3 * i + 1] = (float)(i / 2);
        s.joints[4 * i + 1] = 1;
        s.weights[4 * i] = 1 - 0.5f * (float)(i / 2);
        s.weights[4 * i + 1] = 0.5f * (float)(i / 2);
    }
    return s;
}

#define VIEW(offset, size) "{\"buffer\":0,\"byteOffset\":" #offset ",\"byteLength\":" #size "}"
static const char strip_json[] =
    "{\"asset\":{\"version\":\"2.0\"},\"scenes\":[{\"nodes\":[0,1]}],\"nodes\":[{\"mesh\":0,\"skin\":0},"
    "{\"children\":[2]},{\"translation\":[0,1,0]}],\"skins\":[{\"joints\":[1,2],\"inverseBindMatrices\":3}],"
    "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"JOINTS_0\":2,\"WEIGHTS_0\":1},\"indices\":6,"
    "\"material\":0}]}],\"materials\":[{\"name\":\"gold\",\"pbrMetallicRoughness\":{\"baseColorFactor\":[1,0.5,0.25,1],"
    "\"metallicFactor\":1,\"roughnessFactor\":0}}],\"animations\":[{\"name\":\"bend\",\"samplers\":[{\"input\":4,"
    "\"output\":5}],\"channels\":[{\"sampler\":0,\"target\":{\"node\":2,\"path\":\"rotation\"}}]}],"
    "\"buffers\":[{\"byteLength\":408}],\"bufferViews\":[" VIEW(0, 72) "," VIEW(72, 96) "," VIEW(336, 48) "," VIEW(
        168, 128) "," VIEW(296, 8) "," VIEW(304,
                                            32) "," VIEW(384,
                                                         24) "],\"accessors\":[{\"bufferView\":0,\"componentType\":"
                                                             "5126,\"type\":\"VEC3\",\"count\":6},"
                                                             "{\"bufferView\":1,\"componentType\":5126,\"type\":"
                                                             "\"VEC4\",\"count\":6},"
                                                             "{\"bufferView\":2,\"componentType\":5123,\"type\":"
                                                             "\"VEC4\",\"count\":6},"
                                                             "{\"bufferView\":3,\"componentType\":5126,\"type\":"
                                                             "\"MAT4\",\"count\":2},"
                                                             "{\"bufferView\":4,\"componentType\":5126,\"type\":"
                                                             "\"SCALAR\",\"count\":2},"
                                                             "{\"bufferView\":5,\"componentType\":5126,\"type\":"
                                                             "\"VEC4\",\"count\":2},"
                                                             "{\"bufferView\":6,\"componentType\":5123,\"type\":"
                                                             "\"SCALAR\",\"count\":12}]}";

TEST(a_skinned_strip_bends) {
    reading r;
    unsigned char glb[4096];
    const strip s = make_strip();
    sap_animation* a = NULL;
    begin(&r);
    const size_t size = make_glb(strip_json, &s, sizeof s, glb);
    if (!CHECK_STATUS(sap_animation_parse(r.device, glb, size, NULL, &a), SAP_OK)) printf("  %s\n", r.w.sentence);
    if (a) {
        CHECK(mesh_is_sound(a->file));
        CHECK_EQUAL(a->file->mesh.triangle_count, 4);
        if (CHECK_EQUAL(a->file->mesh.vertex_count, 6)) CHECK(same_floats(a->file->mesh.vertices, s.places, 18));
        if (CHECK_EQUAL(a->clip_count, 1)) CHECK_TEXT(a->clips[0].name, "bend");
        CHECK(a->clips[0].seconds == 1);
        CHECK_TEXT(a->file->materials[0].name, "gold");
        CHECK(a->file->materials[0].specular[1] == 0.5f && a->file->materials[0].illum == 3);
        for (int step = -1; step <= 5; step++) { // before the first key and behind the last one nothing moves
            float at[18];
            const double seconds = step / 4.0, angle = fmin(fmax(seconds, 0), 1) * 1.5707963267948966;
            NOTE("%g s", seconds);
            CHECK_STATUS(sap_animation_pose(a, 0, seconds, at), SAP_OK);
            for (int i = 0; i < 6; i++) {
                const double x = i % 2, y = i / 2, w = 0.5 * y; // turned around (0, 1), by its weight
                const double tx = x * cos(angle) - (y - 1) * sin(angle), ty = 1 + x * sin(angle) + (y - 1) * cos(angle);
                CHECK(fabs((double)at[3 * i] - (x + w * (tx - x))) < 1e-6);
                CHECK(fabs((double)at[3 * i + 1] - (y + w * (ty - y))) < 1e-6);
                CHECK(at[3 * i + 2] == 0);
            }
        }
        float at[18];
        CHECK_STATUS(sap_animation_pose(a, -1, 7, at), SAP_OK);
        CHECK(same_floats(at, s.places, 18));
        CHECK_STATUS(sap_animation_pose(a, 1, 0, at), SAP_ERROR_ARGUMENT);
        CHECK_STATUS(sap_animation_pose(a, 0, (double)NAN, at), SAP_ERROR_ARGUMENT);
    }
    sap_animation_free(a);
    end(&r);
}

// A triangle of a data: URI; %s is more of the nodes, the meshes, or the file.
#define TRIANGLE(nodes, target, uri)                                                                                   \
    "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[" nodes "],\"meshes\":[{\"primitives\":[{\"attributes\":"             \
    "{\"POSITION\":0}" target "}]}],\"buffers\":[{\"byteLength\":36,\"uri\":\"" uri                                    \
    "\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],"                                                         \
    "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"type\":\"VEC3\",\"count\":3}]}"
// 0 0 0, 1 0 0, 0 1 0
#define BYTES "data:;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"

TEST(instances_morphs_and_mirrors) {
    static const float expected[9] = {10, 0, 0, 12, 0, 0, 10, 2, 0};
    reading r;
    begin(&r);
    expect_triangles(&r, SAP_FORMAT_AUTO, TRIANGLE("{\"mesh\":0},{\"mesh\":0,\"scale\":[-1,1,1]}", "", BYTES),
                     "0 1 2  3 5 4");
    sap_mesh_file* file =
        parse_text(&r, SAP_FORMAT_GLTF,
                   TRIANGLE("{\"translation\":[10,0,0],\"children\":[1]},{\"mesh\":0,\"weights\":[1]}",
                            ",\"targets\":[{\"POSITION\":0}]", BYTES));
    if (file && CHECK_EQUAL(file->mesh.vertex_count, 3)) CHECK(same_floats(file->mesh.vertices, expected, 9));
    sap_mesh_file_free(file);
    end(&r);
}

// Volumes absorb, unless they are as thin as paper.
TEST(volumes_absorb) {
#define VOLUME "{\"extensions\":{\"KHR_materials_transmission\":{\"transmissionFactor\":1},\"KHR_materials_volume\":{"
    static const char text[] =
        "{\"asset\":{\"version\":\"2.0\"},\"extensionsRequired\":[\"KHR_materials_volume\"],\"materials\":[" VOLUME
        "\"thicknessFactor\":1,\"attenuationDistance\":2,\"attenuationColor\":[0.5,1,0]}}}," VOLUME
        "\"thicknessFactor\":0,\"attenuationDistance\":2,\"attenuationColor\":[0.5,1,0]}}}," VOLUME
        "\"thicknessFactor\":1,\"attenuationColor\":[0.5,1,0]}}}]}";
    reading r;
    begin(&r);
    sap_mesh_file* file = parse_text(&r, SAP_FORMAT_GLTF, text);
    if (file && CHECK_EQUAL(file->material_count, 3)) {
        const sap_material* m = file->materials;
        CHECK(m[0].opacity == 0 && m[0].absorption[0] == (float)(log(2) / 2) && m[0].absorption[1] == 0 &&
              m[0].absorption[2] == FLT_MAX);
        for (int i = 1; i < 3; i++) CHECK(m[i].absorption[0] == 0 && m[i].absorption[2] == 0);
    }
    sap_mesh_file_free(file);
    end(&r);
}

TEST(bad_files_are_refused) {
    static const struct {
        const char* text;
        sap_status status;
    } cases[] = {{"{", SAP_ERROR_FORMAT},
                 {"{}", SAP_ERROR_FORMAT},
                 {"glTF", SAP_ERROR_FORMAT},
                 {"{\"asset\":{\"version\":\"2.0\"},\"extensionsRequired\":[\"KHR_draco_mesh_compression\"]}",
                  SAP_ERROR_UNSUPPORTED},
                 {TRIANGLE("{\"mesh\":1}", "", BYTES), SAP_ERROR_FORMAT},
                 {TRIANGLE("{\"mesh\":0,\"children\":[1]},{\"children\":[0]}", "", BYTES), SAP_ERROR_FORMAT},
                 {TRIANGLE("{\"mesh\":0,\"children\":[0]}", "", BYTES), SAP_ERROR_FORMAT},
                 {TRIANGLE("{\"mesh\":0}", ",\"indices\":0", BYTES), SAP_ERROR_FORMAT},
                 {TRIANGLE("{\"mesh\":0}", "", "data:;base64,AAAA"), SAP_ERROR_FORMAT},
                 {TRIANGLE("{\"mesh\":0}", "", "data:,AAAA"), SAP_ERROR_UNSUPPORTED},
                 {TRIANGLE("{\"mesh\":0}", "", "../a.bin"), SAP_ERROR_UNSUPPORTED},
                 {TRIANGLE("{\"mesh\":0}", "", "a/%2e%2e/../a.bin"), SAP_ERROR_UNSUPPORTED},
                 {TRIANGLE("{\"mesh\":0}", "", "/dev/zero"), SAP_ERROR_UNSUPPORTED},
                 {TRIANGLE("{\"mesh\":0}", "", "http://a/b.bin"), SAP_ERROR_UNSUPPORTED},
                 {TRIANGLE("{\"mesh\":0}", "", "a.bin"), SAP_ERROR_UNSUPPORTED}};
    reading r;
    begin(&r);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sap_mesh_file* file = NULL;
        NOTE("%zu: %.60s", i, cases[i].text);
        CHECK_STATUS(parse_mesh(&r, cases[i].text, strlen(cases[i].text), SAP_FORMAT_GLTF, NULL, &file),
                     cases[i].status);
        sap_mesh_file_free(file);
    }
    const sap_mesh_read_options little = {.unpack_limit = 300};
    sap_mesh_file* file = NULL;
    const char* text = TRIANGLE("{\"mesh\":0},{\"mesh\":0}", "", BYTES);
    CHECK_STATUS(parse_mesh(&r, text, strlen(text), SAP_FORMAT_GLTF, &little, &file), SAP_ERROR_RANGE);
    end(&r);
}

TEST(a_byte_order_mark_is_passed) {
    const char* text = "\xef\xbb\xbf\r\n" TRIANGLE("{\"mesh\":0}", "", BYTES);
    reading r;
    begin(&r);
    for (int i = 0; i < 2; i++) {
        sap_mesh_file* file = NULL;
        const sap_format format = i ? SAP_FORMAT_GLTF : SAP_FORMAT_AUTO;
        CHECK_STATUS(parse_mesh(&r, text, strlen(text), format, NULL, &file), SAP_OK);
        CHECK(file && file->mesh.triangle_count == 1);
        sap_mesh_file_free(file);
    }
    end(&r);
}

static void write_bytes(const char* path, const void* bytes, size_t size) {
    FILE* file = fopen(path, "wb");
    if (CHECK(file != NULL)) CHECK(fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

// A file whose buffer lies beside it, and in which nothing moves.
TEST(files_beside_each_other) {
    folder f;
    reading r;
    char path[256], beside[256];
    const float places[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    float at[9] = {9};
    sap_animation* a = NULL;
    begin(&r);
    CHECK(folder_make(&f));
    snprintf(path, sizeof path, "%s/scene.gltf", f.path);
    snprintf(beside, sizeof beside, "%s/a.bin", f.path);
    const char* text = TRIANGLE("{\"mesh\":0}", "", "a.bin");
    write_bytes(path, text, strlen(text));
    CHECK_STATUS(sap_animation_read(r.device, path, NULL, &a), SAP_ERROR_IO);
    write_bytes(beside, places, sizeof places);
    CHECK_STATUS(sap_animation_read(r.device, path, NULL, &a), SAP_OK);
    if (a && CHECK_EQUAL(a->file->mesh.vertex_count, 3)) {
        CHECK_EQUAL(a->clip_count, 0);
        CHECK_STATUS(sap_animation_pose(a, -1, 0, at), SAP_OK);
        CHECK(same_floats(at, places, 9));
        CHECK_STATUS(sap_animation_pose(a, 0, 0, at), SAP_ERROR_ARGUMENT);
    }
    sap_animation_free(a);
    CHECK_STATUS(sap_animation_read(r.device, NULL, NULL, &a), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_animation_read(NULL, path, NULL, &a), SAP_ERROR_ARGUMENT);
    folder_remove(&f);
    end(&r);
}

// Bytes changed anywhere, and files cut off anywhere: refused, or read to something sound.
TEST(changed_bytes) {
    reading r;
    unsigned char glb[4096];
    const strip s = make_strip();
    uint32_t random = 1;
    begin(&r);
    const size_t size = make_glb(strip_json, &s, sizeof s, glb);
    for (int i = 0; i < 6000; i++) {
        unsigned char* copy = exact_copy(glb, size);
        const size_t cut = i % 3 ? size : (size_t)i * size / 6000;
        for (int k = 0; k <= i % 4; k++) {
            random = random * 1664525 + 1013904223;
            copy[random % size] = (unsigned char)(random >> 24);
        }
        unsigned char* last = exact_copy(copy, cut);
        sap_animation* a = NULL;
        float at[18];
        if (sap_animation_parse(r.device, last, cut, NULL, &a) == SAP_OK) {
            CHECK(mesh_is_sound(a->file));
            for (int32_t clip = -1; clip < a->clip_count && a->file->mesh.vertex_count <= 6; clip++)
                CHECK_STATUS(sap_animation_pose(a, clip, 0.3, at), SAP_OK);
        }
        sap_animation_free(a);
        free(copy);
        free(last);
    }
    end(&r);
}

// ---- Meshes that nodes share

enum { FAN = 18 }; // triangles of a fan of as many corners and two more

// A fan of FAN triangles, in a buffer of a GLB; `nodes` are those of the file, whose mesh 0 is the fan, and mesh 1 its
// first triangle.
static size_t make_fans(const char* nodes, unsigned char* glb) {
    char json[4096];
    float places[3 * (FAN + 2)] = {0};
    for (int i = 1; i < FAN + 2; i++) {
        places[3 * i] = (float)i;
        places[3 * i + 1] = (float)(i * i % 7);
        places[3 * i + 2] = 1;
    }
    snprintf(json, sizeof json,
             "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[%s],\"meshes\":[{\"primitives\":[{\"attributes\":"
             "{\"POSITION\":0},\"mode\":6,\"material\":0}]},{\"primitives\":[{\"attributes\":{\"POSITION\":1},"
             "\"material\":1}]},{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"mode\":6,\"targets\":["
             "{\"POSITION\":0}]}]}],\"materials\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"buffers\":[{\"byteLength\":"
             "%d}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":%d}],\"accessors\":[{\"bufferView\":0,"
             "\"componentType\":5126,\"type\":\"VEC3\",\"count\":%d},{\"bufferView\":0,\"componentType\":5126,"
             "\"type\":\"VEC3\",\"count\":3}]}",
             nodes, (int)sizeof places, (int)sizeof places, FAN + 2);
    return make_glb(json, places, sizeof places, glb);
}

// A shared mesh, mirrored twice too, within another node; one that only one node has; small, morphed and flat ones.
static const char fans[] =
    "{\"mesh\":0,\"translation\":[5,0,0]},{\"mesh\":1,\"translation\":[1,0,0]},{\"mesh\":1},{\"children\":[4,5],"
    "\"rotation\":[0,0,0.70710678,0.70710678],\"translation\":[0,0,7]},{\"mesh\":0,\"scale\":[2,3,-1]},"
    "{\"mesh\":0,\"scale\":[-1,1,1]},{\"mesh\":0,\"scale\":[0.5,2,2]},{\"mesh\":0,\"scale\":[1,0,1]},"
    "{\"mesh\":2,\"translation\":[0,9,0]},{\"mesh\":2},{\"mesh\":0}";

static sap_mesh_places* parse_places(reading* r, const void* bytes, size_t size, const sap_mesh_read_options* options) {
    sap_mesh_places* places = NULL;
    if (!CHECK_STATUS(sap_mesh_places_parse(r->device, bytes, size, SAP_FORMAT_AUTO, options, &places), SAP_OK))
        printf("  %s\n", r->w.sentence);
    return places;
}

static bool places_are_sound(const sap_mesh_places* places) {
    bool sound = mesh_is_sound(places->file) && places->piece_count > 0 && places->place_count > 0;
    int64_t next = 0;
    for (int32_t i = 0; sound && i < places->piece_count; i++) {
        sound = places->pieces[i].first_triangle == next && places->pieces[i].triangle_count >= 0;
        next += places->pieces[i].triangle_count;
    }
    for (int64_t i = 0; sound && i < places->place_count; i++)
        sound = places->places[i].piece >= 0 && places->places[i].piece < places->piece_count;
    return sound && next == places->file->mesh.triangle_count;
}

// The corners of a triangle as a number that does not depend on where its numbering begins.
static double sum_of(const float* a, const float* b, const float* c, const char* name) {
    const double u[3] = {(double)b[0] - (double)a[0], (double)b[1] - (double)a[1], (double)b[2] - (double)a[2]};
    const double v[3] = {(double)c[0] - (double)a[0], (double)c[1] - (double)a[1], (double)c[2] - (double)a[2]};
    const double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += n[k] * (k + 1) + ((double)a[k] + (double)b[k] + (double)c[k]) * (k + 4);
    return sum * (name[0] == 'b' ? 3 : 1);
}

static const char* material_of(const sap_mesh_file* file, int64_t triangle) {
    const int32_t id = file->material_ids ? file->material_ids[triangle] : -1;
    return id < 0 ? "none" : file->materials[id].name;
}

static int compare_doubles(const void* a, const void* b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// All triangles in the world, in an order of their own: which they are, their sides and materials.
static int64_t list_triangles(const sap_mesh_places* places, const sap_mesh_file* file, double* sums) {
    int64_t count = 0;
    const int64_t place_count = places ? places->place_count : 1;
    for (int64_t i = 0; i < place_count; i++) {
        const sap_piece_place* place = places ? &places->places[i] : NULL;
        const int64_t first = places ? places->pieces[place->piece].first_triangle : 0;
        const int64_t end = places ? first + places->pieces[place->piece].triangle_count : file->mesh.triangle_count;
        for (int64_t t = first; t < end; t++) {
            float at[3][3];
            for (int c = 0; c < 3; c++)
                for (int a = 0; a < 3; a++) {
                    const float* v = file->mesh.vertices + 3 * (int64_t)file->mesh.triangles[3 * t + c];
                    const float* m = place ? place->transform + 4 * a : NULL;
                    at[c][a] = m ? m[0] * v[0] + m[1] * v[1] + m[2] * v[2] + m[3] : v[a];
                }
            sums[count++] = sum_of(at[0], at[1], at[2], material_of(file, t));
        }
    }
    qsort(sums, (size_t)count, sizeof *sums, compare_doubles);
    return count;
}

TEST(meshes_that_nodes_share) {
    enum { MOST = 1000 };
    static double here[MOST], there[MOST];
    unsigned char glb[8192];
    reading r;
    float lower[3], upper[3], low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    sap_mesh_file* flat = NULL;
    begin(&r);
    const size_t size = make_fans(fans, glb);
    CHECK_STATUS(parse_mesh(&r, glb, size, SAP_FORMAT_AUTO, NULL, &flat), SAP_OK);
    sap_mesh_places* places = parse_places(&r, glb, size, NULL);
    if (flat && places) {
        CHECK(places_are_sound(places));
        // The rest, the fan, and the fan that nodes mirror.
        CHECK_EQUAL(places->piece_count, 3);
        CHECK_EQUAL(places->place_count, 6);
        CHECK_EQUAL(places->pieces[0].triangle_count, 2 + FAN * 3);
        CHECK_EQUAL(places->pieces[1].triangle_count, FAN);
        CHECK_EQUAL(places->pieces[2].triangle_count, FAN);
        CHECK(places->places[0].transform[0] == 1 && places->places[0].transform[3] == 0);
        CHECK(places->file->mesh.vertex_count < flat->mesh.vertex_count);
        const int64_t count = list_triangles(places, places->file, here);
        if (CHECK_EQUAL(count, list_triangles(NULL, flat, there)))
            for (int64_t i = 0; i < count; i++) CHECK(fabs(here[i] - there[i]) < 1e-2);
        CHECK_STATUS(sap_mesh_places_bounds(places, lower, upper), SAP_OK);
        for (int64_t i = 0; i < 3 * flat->mesh.triangle_count; i++)
            for (int a = 0; a < 3; a++) {
                const float x = flat->mesh.vertices[3 * (int64_t)flat->mesh.triangles[i] + a];
                low[a] = fminf(low[a], x);
                high[a] = fmaxf(high[a], x);
            }
        for (int a = 0; a < 3; a++) CHECK(fabsf(low[a] - lower[a]) < 1e-5f && fabsf(high[a] - upper[a]) < 1e-5f);
    }
    sap_mesh_places_free(places);
    sap_mesh_file_free(flat);
    end(&r);
}

// What is one piece in one place: other formats, scenes with an origin or far away, and those that share nothing.
TEST(files_without_shared_meshes) {
    static const char* const nodes[] = {
        "{\"mesh\":0}", "{\"mesh\":0},{\"mesh\":0,\"scale\":[-1,1,1]}", "{\"mesh\":1},{\"mesh\":1}", "{}",
        "{\"mesh\":0,\"translation\":[1e8,0,0]},{\"mesh\":0,\"translation\":[1e8,9,0]}"};
    unsigned char glb[8192];
    reading r;
    begin(&r);
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes + 3; i++) {
        const char* obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
        sap_mesh_read_options options = {.origin = {i == 6 ? 1 : 0, 0, 0}, .find_origin = i == 7 || i == 4};
        const size_t size = make_fans(i < 5 ? nodes[i] : i == 7 ? nodes[4] : fans, glb);
        sap_mesh_file* flat = NULL;
        NOTE("file %d", (int)i);
        const void* bytes = i == 5 ? (const void*)obj : glb;
        const size_t length = i == 5 ? strlen(obj) : size;
        sap_mesh_places* places = parse_places(&r, bytes, length, &options);
        CHECK_STATUS(parse_mesh(&r, bytes, length, SAP_FORMAT_AUTO, &options, &flat), SAP_OK);
        if (places && flat) {
            CHECK(places_are_sound(places) && places->piece_count == 1 && places->place_count == 1);
            CHECK(places->places[0].transform[0] == 1 && places->places[0].transform[3] == 0);
            CHECK_EQUAL(places->file->mesh.vertex_count, flat->mesh.vertex_count);
            CHECK(same_floats(places->file->mesh.vertices, flat->mesh.vertices, 3 * flat->mesh.vertex_count));
            CHECK(!memcmp(places->file->origin, flat->origin, sizeof flat->origin));
        }
        sap_mesh_places_free(places);
        sap_mesh_file_free(flat);
    }
    // A scene in which everything is shared has no rest.
    const size_t size = make_fans("{\"mesh\":0},{\"mesh\":0,\"translation\":[0,0,3]}", glb);
    sap_mesh_places* places = parse_places(&r, glb, size, NULL);
    if (places) CHECK(places_are_sound(places) && places->piece_count == 1 && places->place_count == 2);
    if (places) CHECK_EQUAL(sap_mesh_piece_of(places, 0).triangle_count, FAN);
    CHECK(sap_mesh_piece_of(places, 1).triangle_count == 0 && sap_mesh_piece_of(places, -1).triangle_count == 0);
    float lower[3], upper[3];
    CHECK_STATUS(sap_mesh_places_bounds(NULL, lower, upper), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_places_bounds(places, NULL, upper), SAP_ERROR_ARGUMENT);
    sap_mesh_places_free(places);
    places = NULL;
    CHECK_STATUS(sap_mesh_places_parse(NULL, glb, size, SAP_FORMAT_AUTO, NULL, &places), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_places_parse(r.device, NULL, size, SAP_FORMAT_AUTO, NULL, &places), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_places_parse(r.device, glb, size, SAP_FORMAT_AUTO, NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_places_parse(r.device, glb, size, (sap_format)99, NULL, &places), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_places_parse(r.device, glb, size / 2, SAP_FORMAT_AUTO, NULL, &places), SAP_ERROR_FORMAT);
    CHECK_STATUS(sap_mesh_places_read(r.device, "/nowhere.glb", SAP_FORMAT_AUTO, NULL, &places), SAP_ERROR_IO);
    CHECK_STATUS(sap_mesh_places_read(r.device, NULL, SAP_FORMAT_AUTO, NULL, &places), SAP_ERROR_ARGUMENT);
    CHECK(!places);
    sap_mesh_places_free(NULL);
    end(&r);
}

// Shared meshes whose bytes are changed anywhere, or for which memory runs out.
TEST(shared_meshes_that_are_broken) {
    unsigned char glb[8192];
    uint32_t random = 1;
    reading r;
    begin(&r);
    const size_t size = make_fans(fans, glb);
    for (int i = 0; i < 3000; i++) {
        unsigned char* copy = exact_copy(glb, size);
        for (int k = 0; k <= i % 3; k++) {
            random = random * 1664525 + 1013904223;
            copy[random % size] = (unsigned char)(random >> 24);
        }
        sap_mesh_places* places = NULL;
        if (sap_mesh_places_parse(r.device, copy, size, SAP_FORMAT_AUTO, NULL, &places) == SAP_OK)
            CHECK(places_are_sound(places));
        sap_mesh_places_free(places);
        free(copy);
    }
    end(&r);
    sap_status status = SAP_ERROR_MEMORY;
    int64_t refused = 0;
    for (; status == SAP_ERROR_MEMORY && refused < 1000; refused++) {
        sap_mesh_places* places = NULL;
        begin(&r);
        r.w.requests = 0;
        r.w.fail_from = refused + 1;
        status = sap_mesh_places_parse(r.device, glb, size, SAP_FORMAT_AUTO, NULL, &places);
        CHECK((status == SAP_OK) == (places != NULL));
        sap_mesh_places_free(places);
        r.w.fail_from = 0;
        end(&r);
    }
    CHECK_STATUS(status, SAP_OK);
    CHECK(refused > 30);
}

// Memory that runs out anywhere leaks nothing.
TEST(memory_runs_out) {
    unsigned char glb[4096];
    const strip s = make_strip();
    const size_t size = make_glb(strip_json, &s, sizeof s, glb);
    const char* text = TRIANGLE("{\"mesh\":0,\"extras\":[1],\"name\":\"a\"}", ",\"targets\":[{\"POSITION\":0}]", BYTES);
    for (int which = 0; which < 2; which++) {
        sap_status status = SAP_ERROR_MEMORY;
        int64_t refused = 0;
        for (; status == SAP_ERROR_MEMORY && refused < 1000; refused++) {
            reading r;
            sap_animation* a = NULL;
            float at[18];
            begin(&r);
            r.w.requests = 0;
            r.w.fail_from = refused + 1;
            status =
                sap_animation_parse(r.device, which ? (const void*)text : glb, which ? strlen(text) : size, NULL, &a);
            CHECK((status == SAP_OK) == (a != NULL));
            if (a) status = sap_animation_pose(a, -1, 0, at);
            sap_animation_free(a);
            r.w.fail_from = 0;
            end(&r);
        }
        CHECK_STATUS(status, SAP_OK);
        CHECK(refused > 30);
    }
}

static char* text_of(size_t size) { return calloc(size + 1, 1); }
static char* put(char* at, const char* what, int64_t times) {
    for (int64_t i = 0; i < times; i++) at += sprintf(at, "%s", what);
    return at;
}

// Files that would take minutes if work grew with the square of what is in them.
TEST(deep_and_wide) {
    enum { MANY = 30000, SIZE = 4 << 20 };
    static const char *const head = "{\"asset\":{\"version\":\"2.0\"},",
                             *const mesh = "{\"attributes\":{\"POSITION\":0},\"mode\":0},";
    reading r;
    sap_mesh_file* file = NULL;
    begin(&r);
    char *text = text_of(SIZE), *at = put(put(text, head, 1), "\"extras\":", 1);
    put(put(put(at, "[", MANY * 4), "]", MANY * 4), "}", 1);
    CHECK_STATUS(parse_mesh(&r, text, strlen(text), SAP_FORMAT_GLTF, NULL, &file), SAP_ERROR_FORMAT);
    at = put(put(text, head, 1), "\"nodes\":[", 1);
    for (int i = 1; i < MANY; i++) at += sprintf(at, "{\"children\":[%d]},", i);
    put(at, "{}]}", 1);
    CHECK_STATUS(parse_mesh(&r, text, strlen(text), SAP_FORMAT_GLTF, NULL, &file), SAP_ERROR_FORMAT);
    at = put(put(put(text, head, 1), "\"nodes\":[", 1), "{\"mesh\":0},", MANY);
    at = put(put(at, "{}],\"meshes\":[{\"primitives\":[", 1), mesh, MANY);
    at[-1] = 0;
    put(at - 1, "]}],\"accessors\":[{\"componentType\":5126,\"type\":\"VEC3\",\"count\":3}]}", 1);
    CHECK_STATUS(parse_mesh(&r, text, strlen(text), SAP_FORMAT_GLTF, NULL, &file), SAP_ERROR_RANGE);
    free(text);
    end(&r);
}

TEST(any_locale) {
    static const float expected[9] = {0.5f, 0, 0, 1.5f, 0, 0, 0.5f, 1, 0};
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "de_DE.utf8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
        SKIP("no locale with a decimal comma on this machine");
    reading r;
    begin(&r);
    sap_mesh_file* file =
        parse_text(&r, SAP_FORMAT_GLTF, TRIANGLE("{\"mesh\":0,\"translation\":[0.5,0,0]}", "", BYTES));
    if (file) CHECK(same_floats(file->mesh.vertices, expected, 9));
    sap_mesh_file_free(file);
    setlocale(LC_ALL, "C");
    end(&r);
}

TEST_MAIN()
