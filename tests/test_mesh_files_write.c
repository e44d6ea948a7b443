// Meshes that are written read back the same, materials lie beside their OBJ, and what is wrong is not written.
#include "folder.h"
#include "mesh_reading.h"
#include <float.h>
#include <math.h>
#include <sys/stat.h>

typedef struct writing_test {
    reading r;
    folder f;
    char path[160];
} writing_test;

static bool start(writing_test* t) {
    begin(&t->r);
    return CHECK(folder_make(&t->f));
}

static void finish(writing_test* t) {
    CHECK_EQUAL(folder_count(&t->f, false), 0);
    folder_remove(&t->f);
    end(&t->r);
}

static const char* path_of(writing_test* t, const char* name) {
    snprintf(t->path, sizeof t->path, "%s/%s", t->f.path, name);
    return t->path;
}

static void put_file(writing_test* t, const char* name, const char* text) {
    FILE* file = fopen(path_of(t, name), "wb");
    CHECK(file != NULL);
    if (file) fputs(text, file);
    if (file) fclose(file);
}

static void check_content(writing_test* t, const char* name, const char* expected) {
    char text[2048];
    FILE* file = fopen(path_of(t, name), "rb");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[size] = 0;
    if (file) fclose(file);
    CHECK_TEXT(text, expected);
}

static sap_mesh_file* read_back(writing_test* t, const char* name) {
    sap_mesh_file* file = NULL;
    t->r.w.log_calls = 0;
    if (!CHECK_STATUS(sap_mesh_read(t->r.device, path_of(t, name), SAP_FORMAT_AUTO, NULL, &file), SAP_OK))
        printf("  %s\n", t->r.w.sentence);
    return file;
}

static const float vertices[15] = {
    0, -0.0f, 0.1f, 1e-45f, 3.4028235e38f, -123456792.0f, 1e10f, 16777216, 0.3333333f, -2.5f, 1e-20f, 7, 5, 5, 5};
static const float colors[15] = {0, 0.2f, 1, 1, 1, 1, 0.4f, 0.6f, 0.8f, 0, 0, 0, 0, 1, 0};
static const int32_t triangles[9] = {0, 1, 2, 2, 1, 3, 3, 3, 0};
static const int32_t material_ids[3] = {1, -1, 0};
static const sap_material materials[2] = {
    {"dull red", {1, 0.25f, 0}, {0, 0, 0}, {0, 0, 0}, 1, 1, 1, 2, {0, 0, 0}},
    {"glass", {0, 0, 0}, {1, 1, 1}, {0.5f, 0, 2}, 96.5f, 0.125f, 1.5f, 7, {0, 0, 0}}};
static const sap_mesh_file full = {.mesh = {vertices, 5, triangles, 3},
                                   .colors = colors,
                                   .material_ids = material_ids,
                                   .materials = materials,
                                   .material_count = 2};

static void check_same_mesh(const sap_mesh_file* file, bool with_colors) {
    if (!file) return;
    if (CHECK_EQUAL(file->mesh.vertex_count, 5)) CHECK(same_floats(file->mesh.vertices, vertices, 15));
    if (CHECK_EQUAL(file->mesh.triangle_count, 3)) CHECK(!memcmp(file->mesh.triangles, triangles, sizeof triangles));
    if (!CHECK((file->colors != NULL) == with_colors) || !with_colors) return;
    for (int i = 0; i < 15; i++) CHECK(file->colors[i] == colors[i]);
}

TEST(round_trips) {
    writing_test t;
    if (!start(&t)) return;
    for (int i = 0; i < 3; i++) {
        const char* name = i ? "a.ply" : "a.OBJ";
        sap_mesh_write_options options = {.text = i == 2};
        NOTE("%s, text %d", name, i == 2);
        CHECK_STATUS(sap_mesh_write(t.r.device, path_of(&t, name), SAP_FORMAT_AUTO, &full, &options), SAP_OK);
        CHECK_EQUAL(folder_count(&t.f, false), i ? 1 : 2);
        sap_mesh_file* file = read_back(&t, name);
        check_same_mesh(file, true);
        CHECK_EQUAL(t.r.w.log_calls, 0);
        if (file && !i && CHECK_EQUAL(file->material_count, 2)) {
            CHECK(!memcmp(file->material_ids, material_ids, sizeof material_ids));
            for (int j = 0; j < 2; j++) {
                sap_material a = file->materials[j], b = materials[j];
                CHECK_TEXT(a.name, b.name);
                CHECK(same_floats(a.diffuse, b.diffuse, 3) && same_floats(a.specular, b.specular, 3) &&
                      same_floats(a.emission, b.emission, 3) && a.shininess == b.shininess && a.opacity == b.opacity &&
                      a.refraction == b.refraction && a.illum == b.illum);
            }
        }
        sap_mesh_file_free(file);
        // The vertices of any mesh that is a PLY are points.
        sap_point_set* set = NULL;
        if (i) CHECK_STATUS(sap_points_read(t.r.device, t.path, SAP_FORMAT_AUTO, 0, &set), SAP_OK);
        if (set) CHECK(set->count == 5 && set->dims == 3);
        sap_point_set_free(set);
        folder_count(&t.f, true);
    }
    for (int text = 0; text < 2; text++) {
        sap_mesh_write_options options = {.text = text};
        NOTE("stl, text %d", text);
        CHECK_STATUS(sap_mesh_write(t.r.device, path_of(&t, "a.stl"), SAP_FORMAT_AUTO, &full, &options), SAP_OK);
        sap_mesh_file* file = read_back(&t, "a.stl");
        for (int i = 0; file && i < 27; i++)
            CHECK(file->mesh.vertices[3 * file->mesh.triangles[i / 3] + i % 3] ==
                  vertices[3 * triangles[i / 3] + i % 3]);
        if (file) CHECK_EQUAL(file->mesh.vertex_count, 4);
        sap_mesh_file_free(file);
        folder_count(&t.f, true);
    }
    finish(&t);
}

// Vertices with an origin are written where they stand, and are the same again when they are read with it.
TEST(origins) {
    static const char text[] = "v 481234.57 5431234.12 0.1\nv 481235.57 5431234 -7\nv 481235 5431235.311 12.25\n";
    static const char* const names[] = {"a.obj", "a.off", "a.ply", "b.ply", "a.stl"};
    writing_test t;
    sap_mesh_file* far = NULL;
    if (!start(&t)) return;
    char source[200];
    snprintf(source, sizeof source, "%sf 1 2 3\n", text);
    sap_mesh_read_options found = {.find_origin = true};
    CHECK_STATUS(sap_mesh_parse(t.r.device, source, strlen(source), SAP_FORMAT_OBJ, &found, &far), SAP_OK);
    for (int i = 0; far && i < 5; i++) {
        NOTE("%s", names[i]);
        const sap_mesh_write_options options = {.text = i > 2};
        CHECK_STATUS(sap_mesh_write(t.r.device, path_of(&t, names[i]), SAP_FORMAT_AUTO, far, &options), SAP_OK);
        sap_mesh_file* file = NULL;
        CHECK_STATUS(sap_mesh_read(t.r.device, t.path, SAP_FORMAT_AUTO, &found, &file), SAP_OK);
        if (file) {
            CHECK(!memcmp(file->origin, far->origin, sizeof far->origin));
            CHECK(same_floats(file->mesh.vertices, far->mesh.vertices, 9));
        }
        sap_mesh_file_free(file);
    }
    CHECK_EQUAL(t.r.w.log_calls, 0);
    check_content(&t, "a.obj",
                  "# vertices 3, triangles 1\nv 481234.57 5431234.12 0.1\nv 481235.57 5431234 -7\n"
                  "v 481235 5431235.311 12.25\nf 1 2 3\n");
    check_content(&t, "a.off",
                  "OFF\n3 1 0\n481234.57 5431234.12 0.1\n481235.57 5431234 -7\n481235 5431235.311 12.25\n"
                  "3 0 1 2\n");
    // Doubles of other readers: no digit more than there was.
    sap_point_set* set = NULL;
    path_of(&t, "a.ply");
    CHECK_STATUS(sap_points_read(t.r.device, t.path, SAP_FORMAT_AUTO, 0, &set), SAP_OK);
    if (set && CHECK(set->real_bits == 64)) CHECK(set->coords_f64[0] == 481234.57 && set->coords_f64[7] == 5431235.311);
    sap_point_set_free(set);
    // Binary STL has no place for doubles.
    CHECK_STATUS(sap_mesh_write(t.r.device, path_of(&t, "c.stl"), SAP_FORMAT_AUTO, far, NULL), SAP_OK);
    CHECK(t.r.w.log_calls == 1 && strstr(t.r.w.sentence, "binary STL has floats") != NULL);
    sap_mesh_file* file = read_back(&t, "c.stl");
    if (file) CHECK(file->mesh.vertices[0] == 481234.57f && file->mesh.vertices[1] == 5431234.0f);
    sap_mesh_file_free(file);
    sap_mesh_file_free(far);
    folder_count(&t.f, true);
    finish(&t);
}

// A place is a double where no decimal number of so few digits is one that gives the vertex again.
TEST(places) {
    static const float odd[6] = {1e-30f, 3e38f, (float)INFINITY, 0.3f, -0.0f, (float)NAN};
    sap_mesh_file file = {.mesh = {odd, 2, NULL, 0}};
    double place[3];
    sap_mesh_file_place(&file, 0, place);
    CHECK(place[0] == (double)1e-30f && place[1] == (double)3e38f && isinf(place[2]));
    file.origin[1] = 1e300;
    sap_mesh_file_place(&file, 1, place);
    CHECK(place[0] == 0.3 && place[1] == 1e300 && isnan(place[2]));
}

TEST(empty_meshes) {
    static const char* const names[] = {"a.ply", "a.obj", "a.stl"};
    static const sap_mesh_file none = {.mesh = {NULL, 0, NULL, 0}};
    writing_test t;
    if (!start(&t)) return;
    for (int i = 0; i < 6; i++) {
        NOTE("%s", names[i / 2]);
        sap_mesh_write_options options = {.text = i % 2};
        CHECK_STATUS(sap_mesh_write(t.r.device, path_of(&t, names[i / 2]), SAP_FORMAT_AUTO, &none, &options), SAP_OK);
        sap_mesh_file* file = read_back(&t, names[i / 2]);
        if (file) CHECK(file->mesh.vertex_count == 0 && file->mesh.triangle_count == 0);
        sap_mesh_file_free(file);
        folder_count(&t.f, true);
    }
    finish(&t);
}

TEST(exact_bytes) {
    static const float corners[9] = {0, 0, 0, 2, 0, 0, 0, 0.5f, 0}, red[9] = {1, 0, 0, 1, 0, 0, 2, -1, 0.5f};
    static const int32_t triangle[3] = {0, 1, 2}, no_material[1] = {0};
    static const sap_mesh_file one = {.mesh = {corners, 3, triangle, 1},
                                      .colors = red,
                                      .material_ids = no_material,
                                      .materials = materials,
                                      .material_count = 1};
    writing_test t;
    if (!start(&t)) return;
    CHECK_STATUS(sap_mesh_write(t.r.device, path_of(&t, "b.obj"), SAP_FORMAT_AUTO, &one, NULL), SAP_OK);
    check_content(&t, "b.obj",
                  "# vertices 3, triangles 1\nmtllib b.mtl\nv 0 0 0 1 0 0\nv 2 0 0 1 0 0\nv 0 0.5 0 2 -1 0.5\n"
                  "usemtl dull red\nf 1 2 3\n");
    check_content(&t, "b.mtl", "newmtl dull red\nKd 1 0.25 0\nKs 0 0 0\nKe 0 0 0\nNs 1\nd 1\nNi 1\nillum 2\n");
    sap_material clear = materials[0]; // what it absorbs in a unit of length is written as what that leaves
    clear.absorption[0] = 0.25f;
    clear.absorption[2] = FLT_MAX;
    sap_mesh_file glass = one;
    glass.materials = &clear;
    CHECK_STATUS(sap_mesh_write(t.r.device, path_of(&t, "b.obj"), SAP_FORMAT_AUTO, &glass, NULL), SAP_OK);
    sap_mesh_file* back = read_back(&t, "b.obj");
    if (back) {
        const float* absorption = back->materials[0].absorption;
        CHECK(fabs((double)absorption[0] - 0.25) < 1e-6 && absorption[1] == 0 && absorption[2] == FLT_MAX);
    }
    sap_mesh_file_free(back);
    folder_count(&t.f, true);
    sap_mesh_write_options text = {.text = true};
    CHECK_STATUS(sap_mesh_write(t.r.device, path_of(&t, "b"), SAP_FORMAT_PLY, &one, &text), SAP_OK);
    check_content(&t, "b",
                  "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
                  "property uchar red\nproperty uchar green\nproperty uchar blue\nelement face 1\n"
                  "property list uchar int vertex_indices\nend_header\n0 0 0 255 0 0\n2 0 0 255 0 0\n"
                  "0 0.5 0 255 0 128\n3 0 1 2\n");
    CHECK_STATUS(sap_mesh_write(t.r.device, path_of(&t, "b"), SAP_FORMAT_STL, &one, &text), SAP_OK);
    check_content(&t, "b",
                  "solid mesh\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 2 0 0\nvertex 0 0.5 0\nendloop\n"
                  "endfacet\nendsolid mesh\n");
    // The cross product here is 0, -0, 1; zeros of the file itself keep their signs.
    static const float leaning[9] = {-0.0f, 0, 0, 2, 0, 0, -1, 0.5f, 0};
    const sap_mesh_file lean = {.mesh = {leaning, 3, triangle, 1}};
    CHECK_STATUS(sap_mesh_write(t.r.device, path_of(&t, "b"), SAP_FORMAT_STL, &lean, &text), SAP_OK);
    check_content(&t, "b",
                  "solid mesh\nfacet normal 0 0 1\nouter loop\nvertex -0 0 0\nvertex 2 0 0\nvertex -1 0.5 0\nendloop\n"
                  "endfacet\nendsolid mesh\n");
    CHECK_STATUS(sap_mesh_write(t.r.device, path_of(&t, "b"), SAP_FORMAT_STL, &one, NULL), SAP_OK);
    struct stat about;
    CHECK(!stat(t.path, &about) && about.st_size == 84 + 50);
    folder_count(&t.f, true);
    finish(&t);
}

TEST(libraries) {
    static const char* const obj =
        "mtllib one.mtl\nmtllib two.mtl missing.mtl\nmtllib one.mtl\nmtllib /elsewhere/my colours.mtl\n"
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nusemtl b\nf 1 2 3\nusemtl unknown\nf 1 2 3\nusemtl\nf 1 2 3\n"
        "usemtl a\nf 1 2 3\nusemtl c\nf 1 2 3\n";
    static const int32_t ids[6] = {-1, 1, 3, -1, 0, 2};
    writing_test t;
    if (!start(&t)) return;
    put_file(
        &t, "one.mtl",
        "# first\n newmtl a\n\tKd .5\nTf 0 0 0\nmap_Kd a.png\nnewmtl b\r\nKd 0 0 1\r\nTr 0.25\nillum 3\nkd xyz 1\n");
    put_file(&t, "two.mtl", "newmtl b\nKd 9 9 9\nnewmtl a\nNs 9\n");
    put_file(&t, "my colours.mtl", "newmtl c\nd -halo 0.5\nKs spectral file.rfl\nNi 1.33\nTf .5 1 0\n");
    put_file(&t, "a.obj", obj);
    sap_mesh_file* file = read_back(&t, "a.obj");
    CHECK_EQUAL(t.r.w.log_calls, 1);
    CHECK_EQUAL(t.r.w.logged, SAP_OK);
    if (!CHECK(strstr(t.r.w.sentence, "a.obj") && strstr(t.r.w.sentence, "'missing.mtl' is left out: No such file")))
        printf("  %s\n", t.r.w.sentence);
    if (file && CHECK_EQUAL(file->material_count, 4) && CHECK_EQUAL(file->mesh.triangle_count, 6)) {
        const sap_material* m = file->materials;
        CHECK(!memcmp(file->material_ids, ids, sizeof ids));
        CHECK(!strcmp(m[0].name, "a") && !strcmp(m[1].name, "b") && !strcmp(m[2].name, "c"));
        CHECK(m[0].diffuse[0] == 0.5f && m[0].diffuse[2] == 0.5f && m[0].shininess == 1);
        CHECK(m[1].diffuse[0] == 0 && m[1].diffuse[2] == 1 && m[1].opacity == 0.75f && m[1].illum == 3);
        CHECK(m[2].opacity == 0.5f && m[2].specular[0] == 0 && m[2].refraction == 1.33f);
        CHECK(m[2].absorption[0] == (float)log(2) && m[2].absorption[1] == 0 && m[2].absorption[2] == FLT_MAX);
        CHECK(m[0].absorption[0] == 0 && m[0].absorption[2] == 0); // no filter, rather than a black one
        CHECK_TEXT(m[3].name, "unknown");
        CHECK(m[3].diffuse[1] == 0.8f && m[3].opacity == 1 && m[3].illum == 2);
    }
    sap_mesh_file_free(file);
    // One that is there, but wrong, is an error; what is no file is left out.
    put_file(&t, "two.mtl", "newmtl b\nKd red\n");
    file = NULL;
    CHECK_STATUS(sap_mesh_read(t.r.device, path_of(&t, "a.obj"), SAP_FORMAT_AUTO, NULL, &file), SAP_ERROR_FORMAT);
    CHECK(strstr(t.r.w.sentence, "two.mtl, line 2: 'red'") != NULL);
    unlink(path_of(&t, "two.mtl"));
    CHECK(!mkfifo(t.path, 0600));
    file = read_back(&t, "a.obj");
    CHECK_EQUAL(t.r.w.log_calls, 2);
    sap_mesh_file_free(file);
    file = NULL;
    CHECK_STATUS(sap_mesh_parse(t.r.device, obj, strlen(obj), SAP_FORMAT_AUTO, NULL, &file), SAP_OK);
    if (file) CHECK_EQUAL(file->material_count, 4);
    sap_mesh_file_free(file);
    folder_count(&t.f, true);
    finish(&t);
}

TEST(write_refuses) {
    static const int32_t beyond[9] = {0, 1, 2, 0, 1, 5, 0, 0, 0}, bad_ids[3] = {0, 1, 2};
    static const sap_material named[3] = {{.name = ""}, {.name = " a"}, {.name = "a\nb"}};
    sap_mesh_file cases[12];
    for (int i = 0; i < 12; i++) cases[i] = full;
    cases[0].mesh.vertex_count = -1;
    cases[1].mesh.triangle_count = -1;
    cases[2].mesh.vertices = NULL;
    cases[3].mesh.triangles = NULL;
    cases[4].materials = NULL;
    cases[5].material_count = -1;
    for (int i = 0; i < 3; i++) cases[6 + i] = (sap_mesh_file){.materials = named + i, .material_count = 1};
    cases[9].mesh.vertex_count = (int64_t)1 << 31;
    cases[10].mesh.triangles = beyond;
    cases[11].material_ids = bad_ids;
    writing_test t;
    if (!start(&t)) return;
    const char* path = path_of(&t, "a.obj");
    for (int i = 0; i < 12; i++) {
        NOTE("case %d", i);
        t.r.w.log_calls = 0;
        CHECK_STATUS(sap_mesh_write(t.r.device, path, SAP_FORMAT_AUTO, &cases[i], NULL),
                     i < 9 ? SAP_ERROR_ARGUMENT : SAP_ERROR_RANGE);
        CHECK_EQUAL(t.r.w.log_calls, 1);
    }
    NOTE("%s", "arguments");
    CHECK_STATUS(sap_mesh_write(NULL, path, SAP_FORMAT_OBJ, &full, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_write(t.r.device, NULL, SAP_FORMAT_OBJ, &full, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_write(t.r.device, path, SAP_FORMAT_OBJ, NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_write(t.r.device, path, (sap_format)99, &full, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_write(t.r.device, path, SAP_FORMAT_XYZ, &full, NULL), SAP_ERROR_UNSUPPORTED);
    CHECK_STATUS(sap_mesh_write(t.r.device, "a.bin", SAP_FORMAT_AUTO, &full, NULL), SAP_ERROR_UNSUPPORTED);
    CHECK_STATUS(sap_mesh_write(t.r.device, "no/such/a.obj", SAP_FORMAT_AUTO, &full, NULL), SAP_ERROR_IO);
    sap_table table = {vertices, 5, 3, SAP_FLOAT32, NULL};
    CHECK_STATUS(sap_table_write(t.r.device, path, SAP_FORMAT_AUTO, table), SAP_ERROR_UNSUPPORTED);
    NOTE("%s", "no memory");
    for (int n = 1; n < 3; n++) {
        t.r.w.requests = 0;
        t.r.w.fail_from = n;
        CHECK_STATUS(sap_mesh_write(t.r.device, path, SAP_FORMAT_AUTO, &full, NULL), SAP_ERROR_MEMORY);
    }
    t.r.w.fail_from = 0;
    finish(&t);
}

// An OBJ that cannot be completed leaves the older one and its materials alone; a full pipe gets no MTL.
TEST(both_files_or_none) {
    writing_test t;
    if (!start(&t)) return;
    char folder_path[200];
    put_file(&t, "a.obj", "old");
    snprintf(folder_path, sizeof folder_path, "%s", path_of(&t, "a.mtl"));
    CHECK(!mkdir(folder_path, 0700)); // no file can come here
    CHECK_STATUS(sap_mesh_write(t.r.device, path_of(&t, "a.obj"), SAP_FORMAT_AUTO, &full, NULL), SAP_ERROR_IO);
    check_content(&t, "a.obj", "old");
    CHECK_EQUAL(folder_count(&t.f, false), 2);
    CHECK(!rmdir(folder_path));
    folder_count(&t.f, true);
    if (!access("/dev/full", W_OK)) {
        CHECK_STATUS(sap_mesh_write(t.r.device, "/dev/full", SAP_FORMAT_OBJ, &full, NULL), SAP_ERROR_IO);
        CHECK(access("/dev/full.mtl", F_OK) != 0);
    }
    finish(&t);
}

TEST_MAIN()
