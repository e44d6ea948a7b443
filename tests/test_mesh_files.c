// Mesh files are read right: vertices, triangles, colours, materials, and polygons of any shape.
#include "mesh_reading.h"

TEST(samples_are_read) {
    static const float vertices[12] = {0, 0, 0.5f, 1, 0, 0.5f, 1, 1, 0.5f, 0, 1, 0.5f};
    static const int32_t triangles[6] = {0, 1, 2, 0, 2, 3};
    reading r;
    begin(&r);
    for (int i = 0; i < 2 * MESH_SAMPLES; i++) {
        sample s = mesh_sample_number(i / 2);
        sap_mesh_file* file = NULL;
        NOTE("%s", s.name);
        CHECK_STATUS(parse_mesh(&r, s.bytes, s.size, i % 2 ? s.format : SAP_FORMAT_AUTO, NULL, &file), SAP_OK);
        if (!CHECK(file != NULL)) continue;
        if (CHECK_EQUAL(file->mesh.vertex_count, 4))
            for (int j = 0; j < 12; j++) CHECK(file->mesh.vertices[j] == vertices[j]);
        if (CHECK_EQUAL(file->mesh.triangle_count, 2))
            CHECK(!memcmp(file->mesh.triangles, triangles, sizeof triangles));
        CHECK((file->colors != NULL) == (strstr(s.name, "colours") != NULL));
        CHECK_EQUAL(file->material_count, i < 2);
        sap_mesh_file_free(file);
    }
    sap_mesh_file_free(NULL);
    end(&r);
}

TEST(obj_forms) {
#define FOUR "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
    static const char* const cases[][2] = {
        {FOUR "f 1 2 3\n", "0 1 2"},
        {FOUR "f 1 2 3", "0 1 2"},
        {FOUR "f 1/5 2/6 3/7\n", "0 1 2"},
        {FOUR "f 1//5 2//6 3//7\n", "0 1 2"},
        {FOUR "f 1/-1/-1 2/9/9 3/1/1\n", "0 1 2"},
        {FOUR "f -1 -2 -3\nf 1 -4 1\n", "3 2 1  0 0 0"},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nv 2 2 2\nf -3 -2 -1\n", "0 1 2  1 2 3"},
        {"\tv  0\t0 0 1\n v 1 0 0 # right\n\n#\nv 0 1 0\\\n\nf 1 \\\n 2 \\\r\n3 # done\n", "0 1 2"},
        {"v 0 0 0\rv 1 0 0\rv 0 1 0\rf 1 2 \\\r3\rf 3 2 1", "0 1 2  2 1 0"},
        {"\xef\xbb\xbfv 0 0 0\nv 0 0 0 1 1 1 1\nv 0 0 0\nf 1 2 3 \\", "0 1 2"},
        {"# C:\\folder\\\nv 0 0 0\nv 0 0 0\nv 0 0 0\nl 1 2\np 1\ncurv 0 1 \\\n1 2 3\nfo 9 9 9\nf 1 2 3\n", "0 1 2"},
        {"# nothing\n", ""},
        {"\n", ""},
        {"v 1 2 3\n", ""}};
    reading r;
    begin(&r);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_triangles(&r, SAP_FORMAT_OBJ, cases[i][0], cases[i][1]);
    end(&r);
}

TEST(colors) {
    reading r;
    begin(&r);
    sap_mesh_file* file = parse_text(&r, SAP_FORMAT_OBJ, "v 0 0 0\nv 0 0 0 .25 .5 1\nv 0 0 0 1\n");
    static const float of_obj[9] = {1, 1, 1, 0.25f, 0.5f, 1, 1, 1, 1};
    if (file && CHECK(file->colors != NULL)) CHECK(same_floats(file->colors, of_obj, 9));
    sap_mesh_file_free(file);
    file =
        parse_text(&r, SAP_FORMAT_PLY,
                   "ply\nformat ascii 1.0\nelement vertex 1\nproperty uchar red\nproperty float x\nproperty float y\n"
                   "property ushort blue\nproperty float green\nproperty uchar alpha\nproperty float z\n"
                   "property float c3\nend_header\n51 1 2 65535 .5 0 3 9\n");
    if (file && CHECK(file->colors != NULL)) {
        CHECK(file->colors[0] == 0.2f && file->colors[1] == 0.5f && file->colors[2] == 1);
        CHECK(file->mesh.vertices[0] == 1 && file->mesh.vertices[2] == 3);
    }
    sap_mesh_file_free(file);
    file =
        parse_text(&r, SAP_FORMAT_PLY,
                   "ply\nformat ascii 1.0\nelement vertex 1\nproperty uchar red\nproperty float x\nproperty float y\n"
                   "property uchar blue\nproperty float z\nend_header\n51 1 2 255 3\n");
    if (file) CHECK(file->colors == NULL);
    sap_mesh_file_free(file);
    end(&r);
}

TEST(ply_strips) {
#define STRIPS                                                                                                         \
    "element vertex 5\nproperty float x\nproperty float y\nproperty float z\nelement tristrips 2\n"                    \
    "property list int int vertex_indices\nend_header\n"
    reading r;
    begin(&r);
    expect_triangles(&r, SAP_FORMAT_PLY,
                     "ply\nformat ascii 1.0\n" STRIPS
                     "0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 2 0\n10 0 1 2 3 -1 4 3 2 2 1\n1 0\n",
                     "0 1 2  2 1 3  4 3 2");
    sample s = text_sample("strips", SAP_FORMAT_PLY, "ply\nformat binary_little_endian 1.0\n" STRIPS);
    for (int i = 0; i < 15; i++) put_float(&s, 0, false);
    put_int(&s, 0, 4, false);
    put_int(&s, 9, 4, false);
    for (int i = 0; i < 9; i++) put_int(&s, (uint64_t)(int64_t[]){-1, 0, 1, 2, -1, -1, 2, 3, 4}[i], 4, false);
    static const int32_t triangles[6] = {0, 1, 2, 2, 3, 4};
    sap_mesh_file* file = NULL;
    CHECK_STATUS(parse_mesh(&r, s.bytes, s.size, SAP_FORMAT_AUTO, NULL, &file), SAP_OK);
    if (file && CHECK_EQUAL(file->mesh.triangle_count, 2))
        CHECK(!memcmp(file->mesh.triangles, triangles, sizeof triangles));
    sap_mesh_file_free(file);
    s.bytes[s.size - 1] = 0xff; // -2^24 + 4
    file = NULL;
    CHECK_STATUS(parse_mesh(&r, s.bytes, s.size, SAP_FORMAT_AUTO, NULL, &file), SAP_ERROR_RANGE);
    end(&r);
}

TEST(ply_lists_of_every_type) {
    static const char* const types[] = {"char", "uchar", "short", "ushort", "int", "uint", "float", "double"};
    static const int sizes[] = {1, 1, 2, 2, 4, 4, 4, 8};
    reading r;
    begin(&r);
    for (int i = 0; i < 96; i++) {
        int of_length = i / 16, of_index = i / 2 % 8;
        bool big = i % 2;
        char header[256];
        snprintf(header, sizeof header,
                 "ply\nformat binary_%s_endian 1.0\nelement vertex 3\nproperty char x\nproperty char y\nproperty char z"
                 "\nelement face 2\nproperty list %s %s vertex_indices\nend_header\n",
                 big ? "big" : "little", types[of_length], types[of_index]);
        sample s = text_sample(header, SAP_FORMAT_PLY, header);
        for (int j = 0; j < 9; j++) put_int(&s, (uint64_t)j, 1, big);
        for (int j = 0; j < 6; j++) {
            if (j % 3 == 0) put_int(&s, 3, sizes[of_length], big);
            if (of_index == 6) put_float(&s, (float)(j % 3), big);
            if (of_index == 7) put_double(&s, j % 3, big);
            if (of_index < 6) put_int(&s, (uint64_t)(j % 3), sizes[of_index], big);
        }
        sap_mesh_file* file = NULL;
        NOTE("%s", header);
        CHECK_STATUS(parse_mesh(&r, s.bytes, s.size, SAP_FORMAT_AUTO, NULL, &file), SAP_OK);
        static const int32_t triangles[6] = {0, 1, 2, 0, 1, 2};
        if (file && CHECK_EQUAL(file->mesh.triangle_count, 2))
            CHECK(!memcmp(file->mesh.triangles, triangles, sizeof triangles));
        sap_mesh_file_free(file);
    }
    end(&r);
}

TEST(stl_vertices) {
    reading r;
    begin(&r);
    sample s = mesh_sample_number(5);
    sap_mesh_file* file = NULL;
    CHECK_STATUS(parse_mesh(&r, s.bytes, s.size, s.format, &(sap_mesh_read_options){.keep_apart = true}, &file),
                 SAP_OK);
    if (file && CHECK_EQUAL(file->mesh.vertex_count, 6))
        for (int32_t i = 0; i < 6; i++) CHECK_EQUAL(file->mesh.triangles[i], i);
    sap_mesh_file_free(file);
    // A lattice of triangles: each corner once, however often the table of corners grows.
    enum { SIDE = 40 };
    unsigned char* bytes = calloc(1, 84 + (size_t)SIDE * SIDE * 50);
    if (!bytes) return;
    for (int i = 0; i < SIDE * SIDE; i++) {
        unsigned char* at = bytes + 84 + (ptrdiff_t)50 * i + 12;
        for (int corner = 0; corner < 3; corner++) {
            int column = i % SIDE + (corner == 1), row = i / SIDE + (corner == 2);
            float place[3] = {(float)column, (float)row, -0.0f};
            memcpy(at + (ptrdiff_t)12 * corner, place, sizeof place);
        }
    }
    uint32_t count = SIDE * SIDE;
    memcpy(bytes + 80, &count, sizeof count);
    file = NULL;
    CHECK_STATUS(parse_mesh(&r, bytes, 84 + (size_t)SIDE * SIDE * 50, SAP_FORMAT_AUTO, NULL, &file), SAP_OK);
    if (file) CHECK_EQUAL(file->mesh.vertex_count, (SIDE + 1) * (SIDE + 1) - 1);
    sap_mesh_file_free(file);
    free(bytes);
    file = parse_text(&r, SAP_FORMAT_AUTO, "solid nothing\nendsolid nothing\n");
    if (file) CHECK(file->mesh.vertex_count == 0 && file->mesh.triangle_count == 0);
    sap_mesh_file_free(file);
    end(&r);
}

TEST_MAIN()
