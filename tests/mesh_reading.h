// Small mesh files of every kind, and parsing that checks what every parsing must keep. For test programs only.
#ifndef SAPWOOD_TESTS_MESH_READING_H
#define SAPWOOD_TESTS_MESH_READING_H

#include "file_reading.h"

// Whether everything that a mesh names is there.
static inline bool mesh_is_sound(const sap_mesh_file* file) {
    const sap_mesh* mesh = &file->mesh;
    bool sound = mesh->vertex_count >= 0 && mesh->triangle_count >= 0 && file->material_count >= 0;
    sound &= (mesh->vertices || !mesh->vertex_count) && (mesh->triangles || !mesh->triangle_count);
    for (int64_t i = 0; sound && i < 3 * mesh->triangle_count; i++)
        sound = mesh->triangles[i] >= 0 && mesh->triangles[i] < mesh->vertex_count;
    for (int64_t i = 0; sound && file->material_ids && i < mesh->triangle_count; i++)
        sound = file->material_ids[i] >= -1 && file->material_ids[i] < file->material_count;
    for (int32_t i = 0; sound && i < file->material_count; i++) sound = file->materials[i].name != NULL;
    return sound;
}

static inline bool same_floats(const float* a, const float* b, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (a[i] != b[i] || signbit(a[i]) != signbit(b[i])) return false;
    return true;
}

static inline sap_status parse_mesh(reading* r, const void* bytes, size_t size, sap_format format,
                                    const sap_mesh_read_options* options, sap_mesh_file** file) {
    void* copy = exact_copy(bytes, size);
    sap_mesh_file* const untouched = *file;
    r->w.log_calls = 0;
    sap_status status = sap_mesh_parse(r->device, copy, size, format, options, file);
    free(copy);
    if (status == SAP_OK) {
        CHECK(mesh_is_sound(*file));
    } else {
        CHECK(*file == untouched);
        CHECK(r->w.log_calls > 0);
        CHECK_EQUAL(r->w.logged, status);
    }
    return status;
}

static inline sap_mesh_file* parse_text(reading* r, sap_format format, const char* text) {
    sap_mesh_file* file = NULL;
    if (!CHECK_STATUS(parse_mesh(r, text, strlen(text), format, NULL, &file), SAP_OK)) printf("  %s\n", r->w.sentence);
    return file;
}

// Checks the triangles of a text: "0 1 2  0 2 3".
static inline void expect_triangles(reading* r, sap_format format, const char* text, const char* expected) {
    NOTE("%s", text);
    sap_mesh_file* file = parse_text(r, format, text);
    if (!file) return;
    char found[512] = "";
    for (int64_t i = 0, length = 0; i < 3 * file->mesh.triangle_count; i++)
        length += snprintf(found + length, sizeof found - (size_t)length, "%s%d",
                           i == 0  ? ""
                           : i % 3 ? " "
                                   : "  ",
                           (int)file->mesh.triangles[i]);
    CHECK_TEXT(found, expected);
    sap_mesh_file_free(file);
}

#define SQUARE_PLY_ELEMENTS                                                                                            \
    "element vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 1\n"                         \
    "property list uchar int vertex_indices\nend_header\n"

// The square below as a PLY with faces of odd types, between other elements, with more properties than are needed.
static inline sample ply_mesh_sample(const char* name, bool big) {
    sample s = text_sample(name, SAP_FORMAT_PLY, "ply\nformat binary_");
    put_text(&s, big ? "big" : "little");
    put_text(&s, "_endian 1.0\nelement face 1\nproperty uchar flags\nproperty list ushort short vertex_index\n"
                 "property list uchar float texcoord\nelement vertex 4\nproperty double z\nproperty float x\n"
                 "property short y\nproperty float nx\nelement tristrips 1\nproperty list int int vertex_indices\n"
                 "end_header\n");
    put_int(&s, 7, 1, big);
    put_int(&s, 4, 2, big);
    for (int i = 0; i < 4; i++) put_int(&s, (uint64_t)i, 2, big);
    put_int(&s, 1, 1, big);
    put_float(&s, 0.5f, big);
    for (int i = 0; i < 4; i++) {
        put_double(&s, 0.5, big);
        put_float(&s, i == 1 || i == 2 ? 1 : 0, big);
        put_int(&s, i >= 2, 2, big);
        put_float(&s, 1, big);
    }
    put_int(&s, 2, 4, big);
    put_int(&s, 0, 4, big);
    put_int(&s, 1, 4, big);
    return s;
}

static inline sample stl_sample(const char* name, const char* header) {
    sample s = text_sample(name, SAP_FORMAT_STL, header);
    static const int corners[6][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 1}, {0, 1}};
    while (s.size < 80) s.bytes[s.size++] = ' ';
    put_int(&s, 2, 4, false);
    for (int i = 0; i < 6; i++) {
        for (int a = 0; a < 3 && i % 3 == 0; a++) put_float(&s, a == 2 ? 1 : 0, false);
        put_float(&s, (float)corners[i][0], false);
        put_float(&s, (float)corners[i][1], false);
        put_float(&s, 0.5f, false);
        if (i % 3 == 2) put_int(&s, 0xffff, 2, false);
    }
    return s;
}

enum { MESH_SAMPLES = 10 };

// One sample of each kind of file: a square of two triangles, (0, 1, 2) and (0, 2, 3), at a height of 0.5.
static inline sample mesh_sample_number(int number) {
    switch (number) {
    case 0:
        return text_sample("obj", SAP_FORMAT_OBJ,
                           "# a square\nmtllib none.mtl\no square\nv 0 0 0.5\nv 1 0 0.5\nv 1 1 0.5\nv 0 1 0.5\n"
                           "vt 0 0\nvn 0 0 1\ng side\nusemtl red\ns off\nf 1/1/1 2/1/1 3/1/1 4/1/1\n");
    case 1:
        return text_sample("obj with colours", SAP_FORMAT_OBJ,
                           "v 0 0 .5 1 0 0\r\nv 1 0 .5\r\nv 1 1 .5 0 1 0\r\nv 0 1 5e-1\r\nf -4 -3 -2\r\n"
                           "f 1//1 \\\r\n 3//1 4//1\r\n");
    case 2:
        return text_sample("ply ascii", SAP_FORMAT_PLY,
                           "ply\nformat ascii 1.0\n" SQUARE_PLY_ELEMENTS "0 0 .5\n1 0 .5\n1 1 .5\n0 1 .5\n4 0 1 2 3\n");
    case 3: return ply_mesh_sample("ply little endian", false);
    case 4: return ply_mesh_sample("ply big endian", true);
    case 8:
        return text_sample("off", SAP_FORMAT_OFF,
                           "# by hand\nOFF # text\n4 1 0\n0 0 .5\n\n1 0 .5 9\n1 1 .5\n0 1 .5 # last\n4 0 1 2 3\n");
    case 9:
        return text_sample("off with colours and more", SAP_FORMAT_OFF,
                           "STCN4OFF4 3\r\n0 0 .5 1 0 0 1 0 0 255 255 0 0\r\n1 0 .5 1 0 0 1 0.5 1.0 0.0 1 0 0\r\n"
                           "1 1 .5 1 0 0 1 0 0 255\r\n0 1 .5 1 0 0 1 0 0 255\r\n3 0 1 2 9 9 9\r\n2 0 1\r\n3 0 2 3\n");
    case 5: return stl_sample("stl binary", "made by hand");
    case 6: return stl_sample("stl binary that begins like text", "solid square");
    default:
        return text_sample(
            "stl ascii", SAP_FORMAT_STL,
            "solid a square\n facet normal 0 0 1\n  outer loop\n   vertex 0 0 .5\n   vertex 1 -0 .5\n"
            "   vertex 1 1 .5\n  endloop\n endfacet\nendsolid a square\nSolid\n FACET NORMAL 0 0 1 OUTER "
            "LOOP\n VERTEX -0 0 .5 VERTEX 1 1 .5 VERTEX 0 1 .5 ENDLOOP ENDFACET\nendsolid\n");
    }
}

#endif
