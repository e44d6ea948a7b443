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
