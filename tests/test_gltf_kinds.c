// glTF: every kind of key, sparse accessors, colours, materials, and the same bytes for any number of threads.
#include "gltf_making.h"
#include "mesh_reading.h"

static const float corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};

static sap_animation* parse_making(reading* r, gltf_making* m, const char* rest) {
    size_t size;
    sap_animation* a = NULL;
    unsigned char* glb = gltf_finish(m, rest, &size);
    if (!CHECK_STATUS(sap_animation_parse(r->device, glb, size, NULL, &a), SAP_OK)) printf("  %s\n", r->w.sentence);
    free(glb);
    if (a) CHECK(mesh_is_sound(a->file));
    return a;
}

// Parses what is to be refused.
static void refuse_making(reading* r, gltf_making* m, const char* rest, sap_status status) {
    size_t size;
    sap_animation* a = NULL;
    unsigned char* glb = gltf_finish(m, rest, &size);
    r->w.log_calls = 0;
    CHECK_STATUS(sap_animation_parse(r->device, glb, size, NULL, &a), status);
    CHECK(a == NULL && r->w.log_calls == 1);
    free(glb);
}

// ---- Keys.

enum { KEYS = 3 };
static const float times[KEYS] = {0, 1, 3};

// A triangle whose node moves by keys of so many numbers each; they are the accessor 2, their times the accessor 1.
static sap_animation* parse_moving(reading* r, const float* values, int width, const char* type, const char* path,
                                   const char* interpolation) {
    gltf_making m = {.used = 0};
    char rest[1024];
    const int each = strcmp(interpolation, "CUBICSPLINE") ? 1 : 3, count = KEYS * each;
    const bool weights = !strcmp(path, "weights");
    gltf_put_floats(&m, corners, 9, "VEC3", 3);
    gltf_put_floats(&m, times, KEYS, "SCALAR", KEYS);
    gltf_put_floats(&m, values, (size_t)count * (size_t)width, type, weights ? count * width : count);
    snprintf(rest, sizeof rest,
             "\"nodes\":[{\"mesh\":0}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}%s}]}],"
             "\"animations\":[{\"samplers\":[{\"input\":1,\"output\":2,\"interpolation\":\"%s\"}],"
             "\"channels\":[{\"sampler\":0,\"target\":{\"node\":0,\"path\":\"%s\"}}]}]",
             weights ? ",\"targets\":[{\"POSITION\":0},{}]" : "", interpolation, path);
    return parse_making(r, &m, rest);
}

// Where the first vertices of the scene are; none of it may be wrong.
static void pose_at(const sap_animation* a, double seconds, float at[9]) {
    for (int i = 0; i < 9; i++) at[i] = NAN;
    if (a) CHECK_STATUS(sap_animation_pose(a, 0, seconds, at), SAP_OK);
}

static const double moments[] = {-1, 0, 0.25, 0.75, 1, 1.5, 2, 2.999, 3, 7};
enum { MOMENTS = sizeof moments / sizeof *moments };

static double held_moment(int i) { return moments[i] < 0 ? 0 : moments[i] > 3 ? 3 : moments[i]; }

// Numbers stay as they are at a key until the next one.
TEST(steps) {
    static const float places[3 * KEYS] = {1, 2, 3, 4, 5, 6, 7, 8, 9},
                                  turns[4 * KEYS] = {0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0.70710678f, 0.70710678f};
    reading r;
    float at[9];
    begin(&r);
    sap_animation* a = parse_moving(&r, places, 3, "VEC3", "translation", "STEP");
    sap_animation* b = parse_moving(&r, turns, 4, "VEC4", "rotation", "STEP");
    for (int i = 0; i < MOMENTS; i++) {
        const int key = moments[i] < 1 ? 0 : moments[i] < 3 ? 1 : 2;
        NOTE("%g s", moments[i]);
        pose_at(a, moments[i], at);
        for (int c = 0; c < 9; c++) CHECK(at[c] == corners[c] + places[3 * key + c % 3]);
        pose_at(b, moments[i], at); // of the corner at x = 1
        const double x = key == 0 ? 1 : key == 1 ? -1 : 0;
        CHECK(fabs((double)at[3] - x) < 1e-6 && fabs((double)at[4] - (key == 2)) < 1e-6);
    }
    sap_animation_free(b);
    sap_animation_free(a);
    end(&r);
}

// A cubic polynomial of time: a spline through its values with its slopes is the polynomial itself.
static double cubic(int i, double t) { return (i + 1) * t * t * t - (2 + i) * t * t + t - i; }
static double slope(int i, double t) { return 3 * (i + 1) * t * t - 2 * (2 + i) * t + 1; }

// Keys of polynomials; slopes before the first key and behind the last one do not count.
static void fill_cubic(float* values, int width) {
    for (int k = 0; k < KEYS; k++)
        for (int i = 0; i < width; i++) {
            float* key = values + 3 * width * k + i;
            const double t = (double)times[k];
            key[0] = k == 0 ? 1e30f : (float)slope(i, t);
            key[width] = (float)cubic(i, t);
            key[2 * width] = k == KEYS - 1 ? -1e30f : (float)slope(i, t);
        }
}

TEST(cubic_splines) {
    float places[9 * KEYS], weights[6 * KEYS], turns[12 * KEYS] = {0}, at[9];
    reading r;
    begin(&r);
    fill_cubic(places, 3);
    fill_cubic(weights, 2);
    for (int k = 0; k < KEYS; k++) { // the rotation (0, 0, t, 1), which is not of unit length: by twice the arc tangent
        turns[12 * k + 2] = turns[12 * k + 10] = 1;
        turns[12 * k + 6] = times[k];
        turns[12 * k + 7] = 1;
    }
    sap_animation* a = parse_moving(&r, places, 3, "VEC3", "translation", "CUBICSPLINE");
    sap_animation* b = parse_moving(&r, turns, 4, "VEC4", "rotation", "CUBICSPLINE");
    sap_animation* c = parse_moving(&r, weights, 2, "SCALAR", "weights", "CUBICSPLINE");
    sap_animation* d = parse_moving(&r, places, 3, "VEC3", "scale", "CUBICSPLINE");
    for (int i = 0; i < MOMENTS; i++) {
        const double t = held_moment(i), angle = 2 * atan(t);
        NOTE("%g s", moments[i]);
        pose_at(a, moments[i], at);
        for (int n = 0; n < 9; n++)
            CHECK(fabs((double)at[n] - ((double)corners[n] + cubic(n % 3, t))) < 1e-6 * (1 + fabs((double)at[n])));
        pose_at(b, moments[i], at);
        CHECK(fabs((double)at[3] - cos(angle)) < 1e-6 && fabs((double)at[4] - sin(angle)) < 1e-6 && at[5] == 0);
        pose_at(c, moments[i], at); // the first target moves each corner by itself, the second one none
        for (int n = 0; n < 9; n++)
            CHECK(fabs((double)at[n] - (double)corners[n] * (1 + cubic(0, t))) < 1e-5 * (1 + fabs(cubic(0, t))));
        pose_at(d, moments[i], at);
        for (int n = 0; n < 9; n++)
            CHECK(fabs((double)at[n] - (double)corners[n] * cubic(n % 3, t)) < 1e-6 * (1 + fabs((double)at[n])));
    }
    sap_animation_free(d);
    sap_animation_free(c);
    sap_animation_free(b);
    sap_animation_free(a);
    end(&r);
}

// Keys that are fractions, between which lines go; and keys whose numbers do not match.
TEST(normalized_keys) {
    static const int16_t turns[4 * KEYS] = {0, 0, 0, 32767, 0, 0, 32767, 0, 0, 0, -32768, 0};
    static const float repeated[KEYS] = {0, 0, 1}, falling[KEYS] = {0, 1, 0.5f};
    static const char rest[] =
        "\"nodes\":[{\"mesh\":0}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"
        "\"animations\":[{\"samplers\":[{\"input\":1,\"output\":2}],"
        "\"channels\":[{\"sampler\":0,\"target\":{\"node\":0,\"path\":\"rotation\"}}]}]";
    reading r;
    float at[9];
    begin(&r);
    for (int which = 0; which < 5; which++) {
        gltf_making m = {.used = 0};
        NOTE("case %d", which);
        gltf_put_floats(&m, corners, 9, "VEC3", 3);
        gltf_put_floats(&m, which == 1 ? falling : which == 2 ? repeated : times, KEYS, "SCALAR", KEYS);
        gltf_put(&m, turns, sizeof turns, GLTF_I16, "VEC4", which == 3 ? KEYS - 1 : KEYS,
                 which == 4 ? "" : ",\"normalized\":true");
        if (which == 1 || which == 3) {
            refuse_making(&r, &m, rest, SAP_ERROR_FORMAT);
            continue;
        }
        sap_animation* a = parse_making(&r, &m, rest);
        pose_at(a, which == 2 ? 0.5 : 2, at); // between the last two keys, which are the same rotation
        CHECK(fabs((double)at[3] + 1) < 1e-4);
        pose_at(a, 0.5, at);
        if (which == 0) CHECK(fabs((double)at[4] - 1) < 1e-6); // a quarter of a turn
        pose_at(a, 0, at);                                     // of two keys at one time the last one counts
        if (which != 2) CHECK(at[3] == 1);
        sap_animation_free(a);
    }
    end(&r);
}

// ---- Sparse accessors.

// Values for some elements: those numbered by `indices`.
static void put_sparse(gltf_making* m, char* text, size_t room, int count, const void* indices, size_t index_size,
                       int index_component, const float* values) {
    const int first = gltf_put_view(m, indices, (size_t)count * index_size);
    const int second = gltf_put_view(m, values, (size_t)count * 3 * sizeof *values);
    snprintf(text, room,
             ",\"sparse\":{\"count\":%d,\"indices\":{\"bufferView\":%d,\"componentType\":%d},"
             "\"values\":{\"bufferView\":%d}}",
             count, first, index_component, second);
}

#define MESH(of_mesh, more)                                                                                            \
    "\"nodes\":[{\"mesh\":0}],\"meshes\":[{" of_mesh "\"primitives\":[{\"attributes\":{\"POSITION\":0}" more "}]}]"

// Over bytes and over nothing, which is zeros; with indices of each size; of places and of morph targets.
TEST(sparse_floats) {
    static const float values[6] = {5, 6, 7, 8, 9, 10};
    static const uint8_t small[2] = {0, 2};
    static const uint16_t middle[2] = {0, 2};
    static const uint32_t large[2] = {0, 2};
    static const void* const indices[3] = {small, middle, large};
    static const int components[3] = {GLTF_U8, GLTF_U16, GLTF_U32};
    reading r;
    begin(&r);
    for (int which = 0; which < 9; which++) {
        const int size = which % 3, kind = which / 3;
        gltf_making m = {.used = 0};
        char sparse[256];
        NOTE("case %d", which);
        if (kind == 2) gltf_put_floats(&m, corners, 9, "VEC3", 3);
        put_sparse(&m, sparse, sizeof sparse, 2, indices[size], (size_t)1 << size, components[size], values);
        const int view = kind == 0 ? gltf_put_view(&m, corners, sizeof corners) : -1;
        const int number = gltf_put_accessor(&m, view, GLTF_FLOAT, "VEC3", 3, sparse);
        CHECK(number == (kind == 2));
        sap_animation* a = parse_making(
            &r, &m, kind == 2 ? MESH("\"weights\":[1],", ",\"targets\":[{\"POSITION\":1}]") : MESH("", ""));
        if (!a || !CHECK_EQUAL(a->file->mesh.vertex_count, 3)) continue;
        for (int i = 0; i < 9; i++) {
            const float under = kind == 1 ? 0 : corners[i], over = i < 3 ? values[i] : values[i - 3];
            CHECK(a->file->mesh.vertices[i] == (i / 3 == 1 ? under : kind == 2 ? under + over : over));
        }
        sap_animation_free(a);
    }
    end(&r);
}

// Indices of triangles may be sparse, too; and what is not there is refused.
TEST(sparse_indices) {
    static const uint16_t order[3] = {0, 1, 1}, last = 2;
    static const uint8_t place = 2, beyond = 3;
    static const uint16_t bad = 3;
    reading r;
    begin(&r);
    for (int which = 0; which < 5; which++) {
        gltf_making m = {.used = 0};
        char sparse[256];
        NOTE("case %d", which);
        gltf_put_floats(&m, corners, 9, "VEC3", 3);
        const int view = gltf_put_view(&m, order, sizeof order);
        const int first = gltf_put_view(&m, which == 1 ? &beyond : &place, 1);
        const int second = gltf_put_view(&m, which == 2 ? &bad : &last, sizeof last);
        snprintf(sparse, sizeof sparse,
                 ",\"sparse\":{\"count\":%d,\"indices\":{\"bufferView\":%d,\"componentType\":%d},"
                 "\"values\":{\"bufferView\":%d}}",
                 which == 3 ? 2 : 1, first, which == 4 ? GLTF_FLOAT : GLTF_U8, second);
        gltf_put_accessor(&m, view, GLTF_U16, "SCALAR", 3, sparse);
        if (which) {
            refuse_making(&r, &m, MESH("", ",\"indices\":1"), which < 3 ? SAP_ERROR_RANGE : SAP_ERROR_FORMAT);
            continue;
        }
        sap_animation* a = parse_making(&r, &m, MESH("", ",\"indices\":1"));
        if (a && CHECK_EQUAL(a->file->mesh.triangle_count, 1))
            for (int i = 0; i < 3; i++) CHECK_EQUAL(a->file->mesh.triangles[i], i);
        sap_animation_free(a);
    }
    end(&r);
}

// ---- Colours and materials.

// Of floats and of fractions, with alpha and without; times the material's; and where another primitive has none.
TEST(vertex_colors) {
    static const float reals[9] = {1, 0, 0, 0, 0.5f, 0, 0, 0, 0.25f};
    static const uint8_t bytes[12] = {255, 0, 0, 7, 0, 51, 0, 7, 0, 0, 102, 7};
    static const uint16_t words[12] = {65535, 0, 0, 0, 0, 13107, 0, 0, 0, 0, 26214, 0}; // three and a pad
    static const float expected[3][9] = {
        {1, 0, 0, 0, 0.5f, 0, 0, 0, 0.25f}, {1, 0, 0, 0, 0.2f, 0, 0, 0, 0.4f}, {1, 0, 0, 0, 0.2f, 0, 0, 0, 0.4f}};
    static const char parts[] =
        "\"nodes\":[{\"mesh\":0}],\"materials\":["
        "{\"pbrMetallicRoughness\":{\"baseColorFactor\":[0.5,1,0.25,1],\"metallicFactor\":0}},"
        "{\"emissiveFactor\":[0,0,1],\"pbrMetallicRoughness\":{\"metallicFactor\":0}}],\"meshes\":[{\"primitives\":["
        "{\"attributes\":{\"POSITION\":0,\"COLOR_0\":1}},"
        "{\"attributes\":{\"POSITION\":0,\"COLOR_0\":1},\"material\":0},"
        "{\"attributes\":{\"POSITION\":0,\"COLOR_0\":1},\"material\":1},"
        "{\"attributes\":{\"POSITION\":0},\"material\":0}]}]";
    static const float base[3] = {0.5f, 1, 0.25f};
    static const int32_t ids[4] = {-1, -1, 1, 0};
    reading r;
    begin(&r);
    for (int which = 0; which < 3; which++) {
        gltf_making m = {.used = 0};
        NOTE("case %d", which);
        gltf_put_floats(&m, corners, 9, "VEC3", 3);
        const char* normalized = ",\"normalized\":true";
        if (which == 0) gltf_put_floats(&m, reals, 9, "VEC3", 3);
        if (which == 1) gltf_put(&m, bytes, sizeof bytes, GLTF_U8, "VEC4", 3, normalized);
        if (which == 2) gltf_put(&m, words, sizeof words, GLTF_U16, "VEC4", 3, normalized);
        sap_animation* a = parse_making(&r, &m, parts);
        if (!a || !CHECK_EQUAL(a->file->mesh.vertex_count, 12) || !CHECK(a->file->colors != NULL)) continue;
        for (int i = 0; i < 36; i++) {
            const float color = expected[which][i % 9];
            CHECK(a->file->colors[i] == (i >= 27 ? 0.8f : i >= 9 && i < 18 ? color * base[i % 3] : color));
        }
        for (int i = 0; i < 4; i++) CHECK_EQUAL(a->file->material_ids[i], ids[i]);
        sap_animation_free(a);
    }
    gltf_making m = {.used = 0};
    gltf_put_floats(&m, corners, 9, "VEC3", 3);
    gltf_put_floats(&m, corners, 6, "VEC2", 3);
    refuse_making(&r, &m, parts, SAP_ERROR_FORMAT);
    end(&r);
}

// What becomes of a material: written as glTF, and as an MTL would say it.
TEST(materials) {
    static const struct {
        const char* text;
        float diffuse, specular, emission, opacity, refraction;
        int illum;
    } cases[] = {
        {"\"pbrMetallicRoughness\":{\"baseColorFactor\":[0.5,0.5,0.5,0.25],\"metallicFactor\":0}", 0.5f, 0, 0, 1, 1, 2},
        {"\"alphaMode\":\"BLEND\",\"pbrMetallicRoughness\":{\"baseColorFactor\":[0.5,0.5,0.5,0.25],"
         "\"metallicFactor\":0}",
         0.5f, 0, 0, 0.25f, 1, 2},
        {"\"alphaMode\":\"MASK\",\"pbrMetallicRoughness\":{\"baseColorFactor\":[0.5,0.5,0.5,0.25],"
         "\"metallicFactor\":0}",
         0.5f, 0, 0, 0, 1, 2}, // cut at a half
        {"\"alphaMode\":\"MASK\",\"alphaCutoff\":0.25,\"pbrMetallicRoughness\":{\"baseColorFactor\":"
         "[0.5,0.5,0.5,0.25],\"metallicFactor\":0}",
         0.5f, 0, 0, 1, 1, 2},
        {"\"pbrMetallicRoughness\":{\"metallicFactor\":0},\"extensions\":{\"KHR_materials_transmission\":"
         "{\"transmissionFactor\":0.75}}",
         1, 0, 0, 0.25f, 1.5f, 2},
        {"\"pbrMetallicRoughness\":{\"metallicFactor\":0},\"extensions\":{\"KHR_materials_ior\":{\"ior\":1.33},"
         "\"KHR_materials_transmission\":{\"transmissionFactor\":1}}",
         1, 0, 0, 0, 1.33f, 2},
        {"\"pbrMetallicRoughness\":{\"metallicFactor\":0},\"extensions\":{\"KHR_materials_ior\":{\"ior\":1.33}}", 1, 0,
         0, 1, 1, 2}, // opaque
        {"\"alphaMode\":\"BLEND\",\"pbrMetallicRoughness\":{\"baseColorFactor\":[1,1,1,0.5],\"metallicFactor\":0},"
         "\"extensions\":{\"KHR_materials_transmission\":{\"transmissionFactor\":0.5}}",
         1, 0, 0, 0.25f, 1.5f, 2},
        {"\"emissiveFactor\":[0.5,0.5,0.5],\"pbrMetallicRoughness\":{\"metallicFactor\":0}", 1, 0, 0.5f, 1, 1, 2},
        {"\"emissiveFactor\":[0.5,0.5,0.5],\"pbrMetallicRoughness\":{\"metallicFactor\":0},\"extensions\":"
         "{\"KHR_materials_emissive_strength\":{\"emissiveStrength\":8}}",
         1, 0, 4, 1, 1, 2},
        {"\"pbrMetallicRoughness\":{\"roughnessFactor\":0.5,\"baseColorFactor\":[0.5,0.5,0.5,1]}", 0.25f, 0.25f, 0, 1,
         1, 3},
        {"\"name\":\"rough by default\"", 1, 0, 0, 1, 1, 2},
        {"\"pbrMetallicRoughness\":{\"roughnessFactor\":0},\"extensions\":{\"KHR_materials_unlit\":{}}", 1, 0, 0, 1, 1,
         2},
        {"\"extensions\":{\"KHR_materials_pbrSpecularGlossiness\":{\"diffuseFactor\":[0.5,0.5,0.5,1]}}", 0.5f, 0, 0, 1,
         1, 2}};
    enum { COUNT = sizeof cases / sizeof *cases };
    char text[8192] = "{\"asset\":{\"version\":\"2.0\"},\"materials\":[";
    reading r;
    begin(&r);
    for (int i = 0; i < COUNT; i++) {
        const size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s{%s}", i ? "," : "", cases[i].text);
    }
    strcat(text, "]}");
    sap_mesh_file* file = parse_text(&r, SAP_FORMAT_GLTF, text);
    if (file && CHECK_EQUAL(file->material_count, COUNT))
        for (int i = 0; i < COUNT; i++) {
            const sap_material* m = &file->materials[i];
            NOTE("%s", cases[i].text);
            for (int c = 0; c < 3; c++)
                CHECK(m->diffuse[c] == cases[i].diffuse && m->specular[c] == cases[i].specular &&
                      m->emission[c] == cases[i].emission && m->absorption[c] == 0);
            CHECK(m->opacity == cases[i].opacity && m->refraction == cases[i].refraction);
            CHECK_EQUAL(m->illum, cases[i].illum);
        }
    sap_mesh_file_free(file);
    end(&r);
}

// ---- Precision.

// A triangle far from 0, between whose floats lies 1: it follows its node, or one or three joints, which stand there.
static unsigned char* far_triangle(int joints, size_t* size) {
    static const uint8_t bones[12] = {0, 1, 2, 0, 0, 1, 2, 0, 0, 1, 2, 0};
    const float shares[2][4] = {{1, 0, 0, 0}, {0.1f, 0.2f, 0.7f, 0}};
    float weights[12];
    gltf_making m = {.used = 0};
    gltf_put_floats(&m, corners, 9, "VEC3", 3);
    if (joints == 0)
        return gltf_finish(&m,
                           "\"nodes\":[{\"mesh\":0,\"translation\":[16777216,0,-16777216]}],"
                           "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}]",
                           size);
    for (int i = 0; i < 12; i++) weights[i] = shares[joints == 3][i % 4];
    gltf_put(&m, bones, sizeof bones, GLTF_U8, "VEC4", 3, "");
    gltf_put_floats(&m, weights, 12, "VEC4", 3);
    return gltf_finish(&m,
                       "\"nodes\":[{\"mesh\":0,\"skin\":0},{\"translation\":[16777216,0,-16777216],\"children\":[2,3]},"
                       "{},{}],\"skins\":[{\"joints\":[1,2,3]}],\"meshes\":[{\"primitives\":[{\"attributes\":"
                       "{\"POSITION\":0,\"JOINTS_0\":1,\"WEIGHTS_0\":2}}]}]",
                       size);
}

// What floats lose of a triangle that follows joints is told as of one that follows its node, and an origin keeps it.
TEST(skins_far_from_zero) {
    static const char said[] = "vertices are floats, which moves coordinates by up to 1; read it with the origin "
                               "16777216, 1, -16777216, to keep them";
    const sap_mesh_read_options find = {.find_origin = true};
    reading r;
    begin(&r);
    for (int joints = 0; joints <= 3; joints += joints ? 2 : 1) {
        size_t size;
        unsigned char* glb = far_triangle(joints, &size);
        sap_mesh_file* file = NULL;
        NOTE("%d joints", joints);
        CHECK_STATUS(parse_mesh(&r, glb, size, SAP_FORMAT_GLTF, NULL, &file), SAP_OK);
        CHECK_EQUAL(r.w.log_calls, 1);
        if (joints < 3) // where weights do not sum to 1 quite, more is lost
            CHECK_TEXT(r.w.sentence, said);
        else
            CHECK(strstr(r.w.sentence, "to keep them") != NULL);
        sap_mesh_file_free(file);
        file = NULL;
        CHECK_STATUS(parse_mesh(&r, glb, size, SAP_FORMAT_GLTF, &find, &file), SAP_OK);
        CHECK_EQUAL(r.w.log_calls, 0);
        if (file && CHECK(file->origin[0] == 16777216 || joints == 3))
            for (int i = 0; i < 9; i++) {
                const double far = i % 3 == 0 ? 16777216 : i % 3 == 2 ? -16777216 : 0;
                const double off = file->origin[i % 3] + (double)file->mesh.vertices[i] - (far + (double)corners[i]);
                CHECK(fabs(off) <= (joints == 3 ? 1e-6 : 0));
            }
        sap_mesh_file_free(file);
        free(glb);
    }
    end(&r);
}

// ---- Threads.

enum { MANY = 5000, TURNS = 7 };

// A cloud of triangles that follow two joints, one of which moves, after a morph.
static unsigned char* many_vertices(size_t* size) {
    static float places[3 * MANY], weights[4 * MANY];
    static uint8_t joints[4 * MANY];
    static const float ends[6] = {0, 0, 0, 1, 2, 3}, shares[2] = {0, 1};
    gltf_making m = {.used = 0};
    for (int i = 0; i < MANY; i++) {
        for (int a = 0; a < 3; a++) places[3 * i + a] = (float)((i * 31 + a * 17) % 997) / 7;
        joints[4 * i + 1] = 1;
        weights[4 * i] = (float)(i % 10);
        weights[4 * i + 1] = 3;
    }
    gltf_put_floats(&m, places, (size_t)3 * MANY, "VEC3", MANY);
    gltf_put(&m, joints, sizeof joints, GLTF_U8, "VEC4", MANY, "");
    gltf_put_floats(&m, weights, (size_t)4 * MANY, "VEC4", MANY);
    gltf_put_floats(&m, shares, 2, "SCALAR", 2);
    gltf_put_floats(&m, ends, 6, "VEC3", 2);
    gltf_put_accessor(&m, 3, GLTF_FLOAT, "SCALAR", 2, "");
    return gltf_finish(
        &m,
        "\"nodes\":[{\"mesh\":0,\"skin\":0},{\"children\":[2],\"rotation\":[0.6,0,0,0.8]},{}],"
        "\"skins\":[{\"joints\":[1,2]}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"JOINTS_0\":1,"
        "\"WEIGHTS_0\":2},\"targets\":[{\"POSITION\":0}],\"mode\":5}]}],"
        "\"animations\":[{\"samplers\":[{\"input\":3,\"output\":4},{\"input\":3,\"output\":5}],\"channels\":["
        "{\"sampler\":0,\"target\":{\"node\":2,\"path\":\"translation\"}},"
        "{\"sampler\":1,\"target\":{\"node\":0,\"path\":\"weights\"}}]}]",
        size);
}

TEST(same_bytes_for_any_threads) {
    static float first[3 * MANY * TURNS], at[3 * MANY];
    size_t size;
    unsigned char* glb = many_vertices(&size);
    for (int32_t threads = 1; threads <= 5; threads += 2) {
        const sap_device_options options = {.processor = SAP_CPU, .threads = threads};
        sap_device* device = NULL;
        sap_animation* a = NULL;
        NOTE("%d threads", (int)threads);
        CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
        CHECK_STATUS(sap_animation_parse(device, glb, size, NULL, &a), SAP_OK);
        if (a && CHECK_EQUAL(a->file->mesh.vertex_count, MANY)) {
            CHECK_EQUAL(a->file->mesh.triangle_count, MANY - 2);
            for (int turn = 0; turn < TURNS; turn++) {
                float* kept = first + (size_t)turn * 3 * MANY;
                CHECK_STATUS(sap_animation_pose(a, turn ? 0 : -1, turn / 6.0, at), SAP_OK);
                if (threads == 1) memcpy(kept, at, sizeof at);
                CHECK(!memcmp(kept, at, sizeof at));
            }
            CHECK(!memcmp(first, a->file->mesh.vertices, sizeof at));
            CHECK(memcmp(first, at, sizeof at) != 0);
        }
        sap_animation_free(a);
        sap_device_close(device);
    }
    free(glb);
}

TEST_MAIN()
