// Mesh files that are wrong, cut or lying are refused without harm, and the complaint tells the place.
#include "mesh_reading.h"

#define OBJ_START "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
#define PLY_START "ply\nformat ascii 1.0\n"
#define PLY_VERTICES                                                                                                   \
    "element vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face 1\n"                         \
    "property list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n"
#define STL_START "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"

static const struct {
    sap_format format;
    const char* text;
    sap_status status;
    const char* word;
} wrong[] = {
    {SAP_FORMAT_AUTO, "", SAP_ERROR_FORMAT, "byte 0: the file is empty"},
    {SAP_FORMAT_XYZ, "0 0 0\n", SAP_ERROR_UNSUPPORTED, "XYZ holds points"},
    {SAP_FORMAT_AUTO, "1 2 3\n", SAP_ERROR_FORMAT, "line 1, byte 0: '1' is not a statement of OBJ"},
    {SAP_FORMAT_OBJ, "v 1 2\n", SAP_ERROR_FORMAT, "line 1, byte 1: a vertex has 2 numbers"},
    {SAP_FORMAT_OBJ, "v 1 2 3 4 5\n", SAP_ERROR_FORMAT, "5 numbers"},
    {SAP_FORMAT_OBJ, "v 1 2 3 4 5 6 7 8\n", SAP_ERROR_FORMAT, "more than 7"},
    {SAP_FORMAT_OBJ, "v\n", SAP_ERROR_FORMAT, "a vertex has 0 numbers"},
    {SAP_FORMAT_OBJ, "\n\r\nv 1 2 x\n", SAP_ERROR_FORMAT, "line 3, byte 9: 'x' is not a number"},
    {SAP_FORMAT_OBJ, "v 1,5 2 3\n", SAP_ERROR_FORMAT, "decimal comma"},
    {SAP_FORMAT_OBJ, "v 1 2 1e39\n", SAP_ERROR_RANGE, "line 1, byte 6"},
    {SAP_FORMAT_OBJ, "f 1 2 3\n" OBJ_START, SAP_ERROR_RANGE, "line 1, byte 2: the face's corner '1'"},
    {SAP_FORMAT_OBJ, OBJ_START "f 1 2 4\n", SAP_ERROR_RANGE, "line 4, byte 30: the face's corner '4'"},
    {SAP_FORMAT_OBJ, OBJ_START "f 1/1 2/2 9/3\n", SAP_ERROR_RANGE, "'9/3' is none of the 3 vertices"},
    {SAP_FORMAT_OBJ, OBJ_START "f 0 1 2\n", SAP_ERROR_RANGE, "counted from 1"},
    {SAP_FORMAT_OBJ, OBJ_START "f -4 1 2\n", SAP_ERROR_RANGE, "'-4'"},
    {SAP_FORMAT_OBJ, OBJ_START "f 1 2 99999999999999999999\n", SAP_ERROR_RANGE, "byte 30"},
    {SAP_FORMAT_OBJ, OBJ_START "f 1 2\n", SAP_ERROR_FORMAT, "line 4, byte 25: a face has 2 corners"},
    {SAP_FORMAT_OBJ, OBJ_START "f\n", SAP_ERROR_FORMAT, "0 corners"},
    {SAP_FORMAT_OBJ, OBJ_START "f 1 2 three\n", SAP_ERROR_FORMAT, "'three' is not a corner"},
    {SAP_FORMAT_OBJ, OBJ_START "f 1 2 3.5\n", SAP_ERROR_FORMAT, "'3.5'"},
    {SAP_FORMAT_OBJ, OBJ_START "f 1 2 3///\n", SAP_ERROR_FORMAT, "'3///'"},
    {SAP_FORMAT_OBJ, OBJ_START "f 1 2 3\n\x1a\nv", SAP_ERROR_FORMAT, "'?' is not a statement"},
    {SAP_FORMAT_OBJ, OBJ_START "f 1 2 3/1/2/3\n", SAP_ERROR_FORMAT, "'3/1/2/3'"},
    {SAP_FORMAT_OBJ, OBJ_START "f 1 2 -\n", SAP_ERROR_FORMAT, "'-'"},
    {SAP_FORMAT_PLY, "plx\n", SAP_ERROR_FORMAT, "not a PLY"},
    {SAP_FORMAT_PLY, PLY_START "element vertex 0\nproperty float x\nproperty float y\nend_header\n", SAP_ERROR_FORMAT,
     "no 'z'"},
    {SAP_FORMAT_PLY, PLY_START "element face 0\nend_header\n", SAP_ERROR_FORMAT, "no vertices"},
    {SAP_FORMAT_PLY,
     PLY_START "element vertex 0\nproperty float x\nproperty float y\nproperty float z\nelement face 1\n"
               "property int vertex_indices\nend_header\n3\n",
     SAP_ERROR_FORMAT, "line 7: element face needs a list property"},
    {SAP_FORMAT_PLY, PLY_START PLY_VERTICES "3 0 1 3\n", SAP_ERROR_RANGE, "line 13, byte 178: a face names vertex 3"},
    {SAP_FORMAT_PLY, PLY_START PLY_VERTICES "3 0 1 -1\n", SAP_ERROR_RANGE, "vertex -1"},
    {SAP_FORMAT_PLY, PLY_START PLY_VERTICES "3 0 1 1.5\n", SAP_ERROR_FORMAT, "'1.5'; give whole numbers"},
    {SAP_FORMAT_PLY, PLY_START PLY_VERTICES "3 0 1 two\n", SAP_ERROR_FORMAT, "line 13: 'two' is not a number"},
    {SAP_FORMAT_PLY, PLY_START PLY_VERTICES "3 0 1\n", SAP_ERROR_FORMAT, "too few"},
    {SAP_FORMAT_PLY, PLY_START PLY_VERTICES "3 0 1 2 2\n", SAP_ERROR_FORMAT, "too many"},
    {SAP_FORMAT_PLY, PLY_START PLY_VERTICES "2 0 3\n", SAP_ERROR_RANGE, "a face names vertex 3"},
    {SAP_FORMAT_PLY,
     PLY_START "element vertex 0\nproperty float x\nproperty float y\nproperty float z\nelement face 0\n"
               "property list uchar int vertex_indices\nelement trifans 1\nproperty list int int vertex_indices\n"
               "end_header\n0\n",
     SAP_ERROR_UNSUPPORTED, "line 9: element 'trifans' names vertices"},
    {SAP_FORMAT_PLY, PLY_START PLY_VERTICES "999999999999 0 1 2\n", SAP_ERROR_FORMAT, "too few"},
    {SAP_FORMAT_PLY, PLY_START PLY_VERTICES, SAP_ERROR_FORMAT, "before face 1 of 1"},
    {SAP_FORMAT_PLY,
     PLY_START "element vertex 1\nproperty double x\nproperty double y\nproperty double z\nend_header\n0 0 1e39\n",
     SAP_ERROR_RANGE, "'1e39' is beyond the range of a float"},
    {SAP_FORMAT_STL, "solid", SAP_ERROR_FORMAT, "line 1, byte 5: the file ends before 'endsolid'"},
    {SAP_FORMAT_STL, "sol", SAP_ERROR_FORMAT, "byte 3: the file ends within its first 84 bytes"},
    {SAP_FORMAT_STL, STL_START "endloop\nendfacet\n", SAP_ERROR_FORMAT, "before 'endsolid'"},
    {SAP_FORMAT_STL, STL_START "endloop\nendfacet\nendsolid\nfacet", SAP_ERROR_FORMAT, "found 'facet' where 'solid'"},
    {SAP_FORMAT_STL, STL_START "vertex 1 1 0\n", SAP_ERROR_FORMAT, "line 7, byte 77: found 'vertex' where 'endloop'"},
    {SAP_FORMAT_STL, "solid s\nfacet normal 0 0 one\n", SAP_ERROR_FORMAT, "line 2, byte 25: 'one' is not a number"},
    {SAP_FORMAT_STL, "solid s\nfacet normal 0 0", SAP_ERROR_FORMAT, "the file ends where a number is expected"},
    {SAP_FORMAT_STL, "solid s\nfacet normal 0 0 1e99\n", SAP_ERROR_RANGE, "beyond"},
    {SAP_FORMAT_STL, "solid s\nfacet", SAP_ERROR_FORMAT, "the file ends where 'normal' is expected"},
    {SAP_FORMAT_STL, "solid s\nendsolid\nx", SAP_ERROR_FORMAT, "line 3, byte 17: found 'x' where 'solid'"}};

TEST(wrong_texts) {
    reading r;
    begin(&r);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sap_mesh_file* file = NULL;
        NOTE("%s", wrong[i].text);
        CHECK_STATUS(parse_mesh(&r, wrong[i].text, strlen(wrong[i].text), wrong[i].format, NULL, &file),
                     wrong[i].status);
        if (!CHECK(strstr(r.w.sentence, wrong[i].word) != NULL)) printf("  %s\n", r.w.sentence);
    }
    end(&r);
}

TEST(wrong_numbers) {
    reading r;
    begin(&r);
    sap_mesh_file* file = NULL;
    for (int big = 0; big < 2; big++) {
        // The vertex indices are the four shorts behind the flags and the length.
        sample s = ply_mesh_sample("index", big);
        const unsigned char* flags = memchr(s.bytes, 7, s.size);
        size_t first = (size_t)(flags - s.bytes) + 3;
        s.bytes[first + 2 + (size_t)big] = 4;
        char place[32];
        snprintf(place, sizeof place, "byte %zu: ", first + 2);
        CHECK_STATUS(parse_mesh(&r, s.bytes, s.size, SAP_FORMAT_AUTO, NULL, &file), SAP_ERROR_RANGE);
        if (!CHECK(strstr(r.w.sentence, place) && strstr(r.w.sentence, "vertex 4"))) printf("  %s\n", r.w.sentence);
        s = ply_mesh_sample("negative index", big);
        s.bytes[first] = s.bytes[first + 1] = 0xff;
        CHECK_STATUS(parse_mesh(&r, s.bytes, s.size, SAP_FORMAT_AUTO, NULL, &file), SAP_ERROR_RANGE);
        CHECK(strstr(r.w.sentence, "vertex -1") != NULL);
    }
    sample s = stl_sample("count", "solid");
    s.bytes[80] = 3;
    CHECK_STATUS(parse_mesh(&r, s.bytes, s.size, SAP_FORMAT_STL, NULL, &file), SAP_ERROR_FORMAT);
    CHECK(strstr(r.w.sentence, "before triangle 3 of 3") != NULL);
    s.bytes[83] = 0xff;
    r.largest = 0;
    CHECK_STATUS(parse_mesh(&r, s.bytes, s.size, SAP_FORMAT_STL, NULL, &file), SAP_ERROR_FORMAT);
    CHECK(r.largest < 1024);
    end(&r);
}

TEST(wrong_materials) {
    static const struct {
        const char* text;
        sap_status status;
        const char* word;
    } cases[] = {{"Kd 1 1 1\n", SAP_ERROR_FORMAT, "options.materials, line 1: kd before any newmtl"},
                 {"newmtl\n", SAP_ERROR_FORMAT, "without a name"},
                 {"newmtl a\nKd 1 x 1\n", SAP_ERROR_FORMAT, "line 2: 'x' is not a number"},
                 {"newmtl a\nKd 1 1\n", SAP_ERROR_FORMAT, "Kd lacks a value"},
                 {"newmtl a\nKs\n", SAP_ERROR_FORMAT, "Ks lacks a value"},
                 {"newmtl a\nNs\n", SAP_ERROR_FORMAT, "Ns lacks a value"},
                 {"newmtl a\nd -halo\n", SAP_ERROR_FORMAT, "d lacks a value"},
                 {"newmtl a\nNi 1e40\n", SAP_ERROR_RANGE, "'1e40'"},
                 {"newmtl a\nTr ?\n", SAP_ERROR_FORMAT, "'?'"},
                 {"newmtl a\nillum\n", SAP_ERROR_FORMAT, "illum lacks"},
                 {"newmtl a\nillum 1001\n", SAP_ERROR_FORMAT, "illumination"},
                 {"newmtl a\nillum two\n", SAP_ERROR_FORMAT, "'two'"}};
    reading r;
    begin(&r);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sap_mesh_read_options options = {.materials = cases[i].text, .materials_size = strlen(cases[i].text)};
        sap_mesh_file* file = NULL;
        NOTE("%s", cases[i].text);
        CHECK_STATUS(parse_mesh(&r, OBJ_START, strlen(OBJ_START), SAP_FORMAT_OBJ, &options, &file), cases[i].status);
        if (!CHECK(strstr(r.w.sentence, cases[i].word) != NULL)) printf("  %s\n", r.w.sentence);
    }
    end(&r);
}

TEST(cut_at_every_byte) {
    reading r;
    begin(&r);
    int64_t blocks = r.w.blocks;
    for (int i = 0; i < MESH_SAMPLES; i++) {
        sample s = mesh_sample_number(i);
        for (size_t size = 0; size < s.size; size++) {
            sap_mesh_file* file = NULL;
            NOTE("%s cut to %zu bytes", s.name, size);
            sap_status status = parse_mesh(&r, s.bytes, size, s.format, NULL, &file);
            // An OBJ does not tell its length; the last line of other texts does not need its end, and one solid is
            // an STL.
            bool text = strstr(s.name, "ascii") || s.format == SAP_FORMAT_OFF;
            const char* second = text ? strstr((const char*)s.bytes, "Solid") : NULL;
            bool one = second && size < (size_t)(second + strlen("Solid") - (const char*)s.bytes);
            if (s.format != SAP_FORMAT_OBJ && status == SAP_OK) CHECK(text && (one || size + 2 > s.size));
            CHECK(status == SAP_OK || status == SAP_ERROR_FORMAT ||
                  (s.format == SAP_FORMAT_OBJ && status == SAP_ERROR_RANGE));
            sap_mesh_file_free(file);
        }
        CHECK_EQUAL(r.w.blocks, blocks);
    }
    end(&r);
}

TEST(any_byte_changed) {
    static const unsigned char values[] = {0, 1, 10, ' ', '#', '-', '0', '9', '\\', 'e', 127, 128, 255};
    reading r;
    begin(&r);
    for (int i = 0; i < MESH_SAMPLES; i++) {
        sample s = mesh_sample_number(i);
        for (size_t at = 0; at < s.size; at++) {
            unsigned char kept = s.bytes[at];
            for (size_t j = 0; j < sizeof values; j++) {
                sap_mesh_file* file = NULL;
                NOTE("%s, byte %zu is %u", s.name, at, (unsigned)values[j]);
                s.bytes[at] = values[j];
                r.largest = 0;
                parse_mesh(&r, s.bytes, s.size, j % 2 ? s.format : SAP_FORMAT_AUTO, NULL, &file);
                CHECK(r.largest <= 32 * s.size + 512);
                sap_mesh_file_free(file);
            }
            s.bytes[at] = kept;
        }
    }
    end(&r);
}

TEST(failed_allocations) {
    static const char mtl[] = "newmtl blue\nKd 0 0 1\nnewmtl red\nKd 1 0 0\n";
    static const char concave[] = "v 0 0 0\nv 1 1 0\nv 3 0 0\nv 1 4 0 1 1 1\nf 1 2 3 4\nusemtl red\nf 1 2 3 4\n";
    static const char far[] = "v 481234.57 0 0\nv 481235.57 0 0\nv 481235.57 1 0\nf 1 2 3\n"; // is read three times
    reading r;
    begin(&r);
    for (int i = 0; i <= MESH_SAMPLES + 1; i++) {
        sample s = i < MESH_SAMPLES    ? mesh_sample_number(i)
                   : i == MESH_SAMPLES ? text_sample("concave", SAP_FORMAT_OBJ, concave)
                                       : text_sample("far", SAP_FORMAT_OBJ, far);
        sap_mesh_read_options options = {.materials = mtl, .materials_size = strlen(mtl), .find_origin = true};
        sap_status status = SAP_ERROR_MEMORY;
        int64_t n = 1;
        for (; status == SAP_ERROR_MEMORY && n < 40; n++) {
            sap_mesh_file* file = NULL;
            int64_t blocks = r.w.blocks;
            NOTE("%s, allocation %lld fails", s.name, (long long)n);
            r.w.requests = 0;
            r.w.fail_from = n;
            status = parse_mesh(&r, s.bytes, s.size, s.format, &options, &file);
            CHECK(status == SAP_ERROR_MEMORY || (status == SAP_OK && n > 3));
            sap_mesh_file_free(file);
            CHECK_EQUAL(r.w.blocks, blocks);
        }
        CHECK_EQUAL(status, SAP_OK);
        r.w.fail_from = 0;
    }
    end(&r);
}

TEST(arguments) {
    reading r;
    begin(&r);
    sap_mesh_file* file = NULL;
    CHECK_STATUS(sap_mesh_parse(NULL, "v", 1, SAP_FORMAT_OBJ, NULL, &file), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_parse(r.device, NULL, 1, SAP_FORMAT_OBJ, NULL, &file), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_parse(r.device, "v", 1, (sap_format)99, NULL, &file), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_parse(r.device, "v", 1, SAP_FORMAT_OBJ, NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_parse(r.device, "v", 1, SAP_FORMAT_OBJ, &(sap_mesh_read_options){.materials_size = 1}, &file),
                 SAP_ERROR_ARGUMENT);
    CHECK(strstr(r.w.sentence, "options.materials") != NULL);
    for (int i = 0; i < 2; i++) {
        const sap_mesh_read_options options = {.find_origin = i == 0, .origin = {i ? (double)NAN : 1}};
        CHECK_STATUS(sap_mesh_parse(r.device, "v", 1, SAP_FORMAT_OBJ, &options, &file), SAP_ERROR_ARGUMENT);
        CHECK(strstr(r.w.sentence, "options.origin") != NULL);
    }
    const sap_mesh_read_options beyond = {.origin = {-3e38}};
    static const char at_end[] = "v 3e38 0 0\n";
    CHECK_STATUS(sap_mesh_parse(r.device, at_end, strlen(at_end), SAP_FORMAT_OBJ, &beyond, &file), SAP_ERROR_RANGE);
    CHECK_STATUS(sap_mesh_read(NULL, "a.obj", SAP_FORMAT_OBJ, NULL, &file), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_read(r.device, NULL, SAP_FORMAT_OBJ, NULL, &file), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_read(r.device, "a.obj", (sap_format)-1, NULL, &file), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_read(r.device, "a.obj", SAP_FORMAT_OBJ, NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_mesh_read(r.device, "no/such/file.obj", SAP_FORMAT_AUTO, NULL, &file), SAP_ERROR_IO);
    sap_point_set* set = NULL;
    CHECK_STATUS(sap_points_parse(r.device, "v 0 0 0", 7, SAP_FORMAT_OBJ, 0, &set), SAP_ERROR_UNSUPPORTED);
    CHECK(strstr(r.w.sentence, "OBJ holds a mesh") != NULL);
    CHECK(file == NULL && set == NULL);
    end(&r);
}

TEST_MAIN()
