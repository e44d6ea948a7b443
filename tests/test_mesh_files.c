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
        {FOUR "f 1// 2/ 3/1/\n", "0 1 2"},
        {FOUR "f 1 2 3\x1a", "0 1 2"},
        {FOUR "f 1 2 3\r\n\x1a", "0 1 2"},
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
    sap_mesh_file* file = parse_text(&r, SAP_FORMAT_OBJ, "v 0 0 0\nv 0 0 0 .25 .5 1\nv 0 0 0 1\nv 1 2 3 1 .25 .5 1\n");
    static const float of_obj[12] = {1, 1, 1, 0.25f, 0.5f, 1, 1, 1, 1, 0.25f, 0.5f, 1};
    if (file && CHECK(file->colors != NULL)) CHECK(same_floats(file->colors, of_obj, 12));
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

TEST(alpha_of_colors) {
    static const struct {
        const char* text;
        int told;
    } cases[] = {{"COFF 1 0 0\n1 2 3 51 0 255 255\n", 0},      {"COFF 1 0 0\n1 2 3 0.2 0 1 1.0\n", 0},
                 {"COFF 1 0 0\n1 2 3 0.2 0 1 1\n", 0},         {"COFF 1 0 0\n1 2 3 51 0 255\n", 0},
                 {"COFF 1 0 0\n1 2 3 51 0 255 128\n", 1},      {"CNOFF 1 0 0\n1 2 3 0 0 1 0.2 0 1 0.5\n", 1},
                 {"STCOFF 1 0 0\n1 2 3 51 0 255 0.5 0.5\n", 0}};
    reading r;
    begin(&r);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        NOTE("%s", cases[i].text);
        sap_mesh_file* file = parse_text(&r, SAP_FORMAT_OFF, cases[i].text);
        CHECK_EQUAL(r.w.log_calls, cases[i].told);
        if (cases[i].told) CHECK(strstr(r.w.sentence, "alpha, which is left out") != NULL);
        if (file && CHECK(file->colors != NULL)) CHECK(file->colors[0] == 0.2f && file->colors[2] == 1);
        sap_mesh_file_free(file);
    }
    // Whole numbers are 255ths if all of the file are, unless none is above 1 and an alpha is 1.
    static const struct {
        const char* text;
        float red[2];
    } wholes[] = {{"COFF 2 0 0\n1 2 3 1 0 0\n1 2 3 0 0 1\n", {1.0f / 255, 0}},
                  {"COFF 2 0 0\n1 2 3 1 0 0 1\n1 2 3 0 0 1 1\n", {1, 0}},
                  {"COFF 2 0 0\n1 2 3 1 0 0\n1 2 3 0.5 0 1\n", {1, 0.5f}}};
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
        NOTE("%s", wholes[i].text);
        sap_mesh_file* file = parse_text(&r, SAP_FORMAT_OFF, wholes[i].text);
        CHECK_EQUAL(r.w.log_calls, 0);
        if (file) CHECK(file->colors[0] == wholes[i].red[0] && file->colors[3] == wholes[i].red[1]);
        sap_mesh_file_free(file);
    }
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

TEST(ply_other_elements) {
#define THREE "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
#define LIST  "property list int int vertex_indices\n"
    reading r;
    begin(&r);
    expect_triangles(&r, SAP_FORMAT_PLY,
                     THREE "element face 0\n" LIST "element tristrips 1\n" LIST
                           "end_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
                     "0 1 2");
    CHECK_EQUAL(r.w.log_calls, 0);
    expect_triangles(&r, SAP_FORMAT_PLY,
                     THREE "element face 1\n" LIST "element tristrips 1\n" LIST
                           "end_header\n0 0 0\n1 0 0\n0 1 0\n3 2 1 0\n3 0 1 2\n",
                     "2 1 0");
    CHECK(r.w.log_calls == 1 && strstr(r.w.sentence, "line 9: the 1 rows of element 'tristrips' are left out"));
    end(&r);
}

TEST(ply_faces_of_few_corners) {
    reading r;
    begin(&r);
    expect_triangles(&r, SAP_FORMAT_PLY,
                     THREE "element face 5\n" LIST
                           "end_header\n0 0 0\n1 0 0\n0 1 0\n0\n1 2\n3 0 1 2\n2 0 1\n3 2 1 0\n\x1a",
                     "0 1 2  2 1 0");
    CHECK(r.w.log_calls == 1 && strstr(r.w.sentence, "faces of fewer than 3 corners are left out: 3"));
    sample s = text_sample("few", SAP_FORMAT_PLY,
                           "ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty float x\n"
                           "property float y\nproperty float z\nelement face 2\n" LIST "end_header\n");
    for (int i = 0; i < 3; i++) put_float(&s, 0, false);
    for (int i = 0; i < 3; i++) put_int(&s, (uint64_t[]){1, 0, 0}[i], 4, false);
    sap_mesh_file* file = NULL;
    CHECK_STATUS(parse_mesh(&r, s.bytes, s.size, SAP_FORMAT_AUTO, NULL, &file), SAP_OK);
    if (file) CHECK_EQUAL(file->mesh.triangle_count, 0);
    CHECK(strstr(r.w.sentence, "left out: 2") != NULL);
    sap_mesh_file_free(file);
    end(&r);
}

// With an origin, given or found, vertices are the differences as doubles give them, and stand where the text says.
static void check_origins(reading* r, sap_format format, const char* text, bool is_far) {
    for (int i = 0; i < 2; i++) {
        sap_mesh_file* file = NULL;
        sap_mesh_read_options options = {.find_origin = i == 0};
        if (i == 1) memcpy(options.origin, (double[]){481230, 5431230, 0}, sizeof options.origin);
        if (i == 1 && !is_far) break;
        r->w.sentence[0] = 0;
        if (!CHECK_STATUS(parse_mesh(r, text, strlen(text), format, &options, &file), SAP_OK)) return;
        CHECK(r->w.log_calls <= 1 && !strstr(r->w.sentence, "with the origin"));
        CHECK((file->origin[0] == 0) == !is_far && (i == 0 || file->origin[0] == 481230));
        CHECK(!is_far || i == 1 || file->origin[0] == 481240);
        double place[3];
        if (is_far) {
            CHECK(file->mesh.vertices[1] == (float)(5431234.12 - file->origin[1]));
            sap_mesh_file_place(file, 2, place);
            CHECK(place[0] == 481235.57 && place[1] == 5431235.31 && place[2] == 0);
        }
        sap_mesh_file_free(file);
    }
}

// Vertices that floats move too far are told of, once, with an origin that keeps them; of each format.
TEST(vertices_between_floats) {
#define FAR_FACE(before)                                                                                               \
    before "481234.57 5431234.12 0\n" before "481235.57 5431234.12 0\n" before "481235.57 5431235.31 0\n"
#define FAR_PLY(type)                                                                                                  \
    "ply\nformat ascii 1.0\nelement vertex 3\nproperty " type " x\nproperty " type " y\nproperty " type                \
    " z\nelement face 2\n" LIST "end_header\n" FAR_FACE("") "3 0 1 2\n1 0\n"
    static const struct {
        sap_format format;
        const char* text;
        int told;
    } cases[] = {
        {SAP_FORMAT_OBJ, FAR_FACE("v ") "f 1 2 3\n", 1},
        {SAP_FORMAT_OFF, "OFF 3 1 0\n" FAR_FACE("") "3 0 1 2\n", 1},
        {SAP_FORMAT_STL, "solid\nfacet normal 0.1 0 1\nouter loop\n" FAR_FACE("vertex ") "endloop\nendfacet\nendsolid",
         1},
        {SAP_FORMAT_PLY, FAR_PLY("double"), 2}, // and of the face that has one corner, once
        {SAP_FORMAT_PLY, FAR_PLY("float"), 2},
        {SAP_FORMAT_OBJ, "v 481234.5 5431234 0\nv 481235.5 5431234 0\nv 481235.5 5431235.5 0\nf 1 2 3\n", 0},
        {SAP_FORMAT_OBJ, "v 0.1 0.2 0.3\nv 0.4 0.5 0.6\nv 0.7 0.8 0.9\nf 1 2 3\n", 0},
        {SAP_FORMAT_OBJ, "v 481234.57 5431234.12 0\nv 0 0 0\nv 0.1 0 0\nf 1 2 3\n", 0},
        {SAP_FORMAT_OBJ, "v nan inf -inf\nv 0 nan 0\nv 0.5 0 0\nf 1 2 3\n", 0},
    };
    reading r;
    begin(&r);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        NOTE("case %d", (int)i);
        sap_mesh_file* file = parse_text(&r, cases[i].format, cases[i].text);
        if (file && CHECK_EQUAL(file->mesh.triangle_count, 1) && cases[i].told)
            CHECK(file->mesh.vertices[1] == 5431234.0f);
        CHECK_EQUAL(r.w.log_calls, cases[i].told);
        if (cases[i].told)
            CHECK(strstr(r.w.sentence, "by up to 0.19; read it with the origin 481240, 5431230, 0") != NULL);
        sap_mesh_file_free(file);
        check_origins(&r, cases[i].format, cases[i].text, cases[i].told > 0);
    }
    // Doubles that lie in the file as such.
    sample s = text_sample("doubles", SAP_FORMAT_PLY,
                           "ply\nformat binary_big_endian 1.0\nelement vertex 2\nproperty double x\n"
                           "property double y\nproperty double z\nend_header\n");
    for (int i = 0; i < 6; i++) put_double(&s, (double[]){481234.57, 0, 0, 481235.57, 0, 0}[i], true);
    sap_mesh_file* file = NULL;
    CHECK_STATUS(parse_mesh(&r, s.bytes, s.size, SAP_FORMAT_AUTO, NULL, &file), SAP_OK);
    CHECK(r.w.log_calls == 1 && strstr(r.w.sentence, "by up to 0.0075; read it with the origin 481235, 0, 0"));
    sap_mesh_file_free(file);
    file = NULL;
    const sap_mesh_read_options found = {.find_origin = true};
    CHECK_STATUS(parse_mesh(&r, s.bytes, s.size, SAP_FORMAT_AUTO, &found, &file), SAP_OK);
    CHECK_EQUAL(r.w.log_calls, 0);
    if (file) CHECK(file->origin[0] == 481235 && file->mesh.vertices[0] == (float)(481234.57 - 481235));
    sap_mesh_file_free(file);
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
