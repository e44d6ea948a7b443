// Files that are wrong, cut or lying are refused without harm, and the complaint tells the place.
#include "file_reading.h"

#define PLY_START "ply\nformat ascii 1.0\n"

static const struct {
    sap_format format;
    const char* text;
    sap_status status;
    const char* word;
} wrong_texts[] = {
    {SAP_FORMAT_AUTO, "", SAP_ERROR_FORMAT, "empty"},
    {SAP_FORMAT_XYZ, "# nothing\n\n", SAP_ERROR_FORMAT, "one point per line"},
    {SAP_FORMAT_XYZ, "1 2\n3\n", SAP_ERROR_FORMAT, "line 2"},
    {SAP_FORMAT_XYZ, "1 2\n3 4 5\n", SAP_ERROR_FORMAT, "line 2"},
    {SAP_FORMAT_XYZ, "1 2\n\n3 4x\n", SAP_ERROR_FORMAT, "line 3: value 2, '4x'"},
    {SAP_FORMAT_XYZ, "3\n1 2\n3 4\n", SAP_ERROR_FORMAT, "the first line says 3 points, but 2 follow"},
    {SAP_FORMAT_CSV, "1\t2\n3\n", SAP_ERROR_FORMAT, "line 2: 1 fields"},
    {SAP_FORMAT_XYZ, "1,2\n", SAP_ERROR_FORMAT, "CSV"},
    {SAP_FORMAT_XYZ, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n", SAP_ERROR_UNSUPPORTED, "16"},
    {SAP_FORMAT_XYZ, "\x01\x02\xff\n", SAP_ERROR_FORMAT, "'?"},
    {SAP_FORMAT_CSV, "\n", SAP_ERROR_FORMAT, "one point per line"},
    {SAP_FORMAT_CSV, "1,2\n1\n", SAP_ERROR_FORMAT, "line 2: 1 fields"},
    {SAP_FORMAT_CSV, "1,2\n1,2,3\n", SAP_ERROR_FORMAT, "line 2: more"},
    {SAP_FORMAT_CSV, "x,y\n1,two\n", SAP_ERROR_FORMAT, "field 2, 'two'"},
    {SAP_FORMAT_CSV, "1,,3\n", SAP_ERROR_FORMAT, "field 2, ''"},
    {SAP_FORMAT_CSV, "1,NA,3\n", SAP_ERROR_FORMAT, "field 2, 'NA'"},
    {SAP_FORMAT_AUTO, "SAPTREE\n1234", SAP_ERROR_UNSUPPORTED, "this is a saved tree over points, which"},
    {SAP_FORMAT_XYZ, "SAPMESH\n1234", SAP_ERROR_UNSUPPORTED, "this is a saved tree over triangles, which"},
    {SAP_FORMAT_CSV, "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17\n", SAP_ERROR_UNSUPPORTED, "16"},
    {SAP_FORMAT_PLY, "plx\n", SAP_ERROR_FORMAT, "not a PLY"},
    {SAP_FORMAT_PLY, PLY_START "element vertex 1\n", SAP_ERROR_FORMAT, "within its header"},
    {SAP_FORMAT_PLY, "ply\nelement vertex 1\nend_header\n", SAP_ERROR_FORMAT, "format"},
    {SAP_FORMAT_PLY, "ply\nformat utf8 1.0\nend_header\n", SAP_ERROR_FORMAT, "line 2: unknown format 'utf8'"},
    {SAP_FORMAT_PLY, "ply\nelement vertex 1\nformat ascii 1.0\nend_header\n", SAP_ERROR_FORMAT, "line 3"},
    {SAP_FORMAT_PLY, PLY_START "element vertex -1\nend_header\n", SAP_ERROR_FORMAT, "'-1'"},
    {SAP_FORMAT_PLY, PLY_START "element vertex 99999999999999999999\nend_header\n", SAP_ERROR_FORMAT, "count"},
    {SAP_FORMAT_PLY, PLY_START "element\nend_header\n", SAP_ERROR_FORMAT, "without a name"},
    {SAP_FORMAT_PLY, PLY_START "property float x\nend_header\n", SAP_ERROR_FORMAT, "before any element"},
    {SAP_FORMAT_PLY, PLY_START "element vertex 1\nproperty real x\nend_header\n", SAP_ERROR_FORMAT, "'real'"},
    {SAP_FORMAT_PLY, PLY_START "element vertex 1\nproperty float\nend_header\n", SAP_ERROR_FORMAT, "name"},
    {SAP_FORMAT_PLY, PLY_START "element vertex 1\nproperty list float int x\nend_header\n", SAP_ERROR_FORMAT,
     "list length"},
    {SAP_FORMAT_PLY, PLY_START "vertex 1\nend_header\n", SAP_ERROR_FORMAT, "unknown word 'vertex'"},
    {SAP_FORMAT_PLY, PLY_START "element point 0\nend_header\n", SAP_ERROR_FORMAT, "vertex"},
    {SAP_FORMAT_PLY, PLY_START "element vertex 0\nproperty float y\nend_header\n", SAP_ERROR_FORMAT, "'x'"},
    {SAP_FORMAT_PLY, PLY_START "element vertex 0\nproperty float x\nproperty int x\nend_header\n", SAP_ERROR_FORMAT,
     "it has 2"},
    {SAP_FORMAT_PLY, PLY_START "element vertex 0\nproperty float x\nproperty float z\nend_header\n", SAP_ERROR_FORMAT,
     "'y'"},
    {SAP_FORMAT_PLY, PLY_START "element vertex 2\nproperty float x\nend_header\n1\n", SAP_ERROR_FORMAT, "truncated"},
    {SAP_FORMAT_PLY, PLY_START "element vertex 1\nproperty float x\nend_header\n1 2\n", SAP_ERROR_FORMAT,
     "line 6: the line has too many"},
    {SAP_FORMAT_PLY, PLY_START "element vertex 1\nproperty float x\nend_header\none\n", SAP_ERROR_FORMAT, "'one'"},
    {SAP_FORMAT_PLY, PLY_START "element vertex 1\nproperty float x\nproperty list int int n\nend_header\n1 2 3\n",
     SAP_ERROR_FORMAT, "too few"},
    {SAP_FORMAT_PLY, PLY_START "element vertex 1\nproperty float x\nproperty list int int n\nend_header\n1 -2 3\n",
     SAP_ERROR_FORMAT, "negative length -2"},
    {SAP_FORMAT_PLY, PLY_START "element vertex 1\nproperty float x\nproperty list int int n\nend_header\n1 1.5 3\n",
     SAP_ERROR_FORMAT, "the length '1.5'"},
    {SAP_FORMAT_PLY, PLY_START "element vertex 3\nproperty float x\nend_header\n1\n", SAP_ERROR_FORMAT,
     "the file ends before vertex 2 of 3; it is truncated"},
    {SAP_FORMAT_PLY, PLY_START "element vertex 1\nproperty float x\nend_header\n1,5\n", SAP_ERROR_FORMAT,
     "write decimals with a point"},
    {SAP_FORMAT_PLY,
     "ply\nformat binary_little_endian 1.0\nelement face 2\nproperty list char char i\nelement vertex 0\n"
     "property float x\nend_header\n\x01\x01\xff",
     SAP_ERROR_FORMAT, "byte 124: a list of face 2 has a negative length"},
    {SAP_FORMAT_PLY, "ply\nformat binary_little_endian 1.0\nelement vertex 9\nproperty ushort x\nend_header\n12345",
     SAP_ERROR_FORMAT, "before vertex 3 of 9"},
    {SAP_FORMAT_PLY,
     PLY_START "element vertex 0\nproperty float x\nproperty float y\nproperty float z\nproperty float c3\n"
               "property float c3\nend_header\n",
     SAP_ERROR_FORMAT, "'c3'; it has 2"},
    {SAP_FORMAT_XYZ, "x y z\n1 2 3\n", SAP_ERROR_FORMAT, "line 1: value 1, 'x', is not a number; if this is a line"},
    {SAP_FORMAT_XYZ, "1 2 3\nx y z\n", SAP_ERROR_FORMAT, "line 2: value 1, 'x', is not a number"},
    {SAP_FORMAT_XYZ, "1,5 2\n", SAP_ERROR_FORMAT, "write decimals with a point"},
    {SAP_FORMAT_XYZ,
     "\xff\xfe"
     "1",
     SAP_ERROR_FORMAT, "UTF-8"},
    {SAP_FORMAT_XYZ, "# x z y\n", SAP_ERROR_FORMAT, "no line holds numbers"},
    {SAP_FORMAT_XYZ, "#x y\n", SAP_ERROR_FORMAT, "no line holds numbers"},
    {SAP_FORMAT_XYZ, "1 2\r3 4 x\r", SAP_ERROR_FORMAT, "line 2: value 3"},
    {SAP_FORMAT_AUTO, "hello", SAP_ERROR_FORMAT, "'hello', is not a number"},
    {SAP_FORMAT_CSV, "hello", SAP_ERROR_FORMAT, "no line holds numbers"},
    {SAP_FORMAT_CSV, "hello,world\n\n", SAP_ERROR_FORMAT, "no line holds numbers"},
    {SAP_FORMAT_CSV, "<html>\n<body>\n", SAP_ERROR_FORMAT, "line 2: field 1, '<body>'"},
    {SAP_FORMAT_CSV, "\x80\x81\x82;\xff", SAP_ERROR_FORMAT, "no line holds numbers"},
    {SAP_FORMAT_CSV, "x,1\n2,3\n", SAP_ERROR_FORMAT, "line 1: field 1, 'x', is not a number"},
    {SAP_FORMAT_CSV, "1,2,red\n", SAP_ERROR_FORMAT, "line 1: field 3, 'red', is not a number; a line of names"},
    {SAP_FORMAT_CSV, "1,5;2,5;3,5", SAP_ERROR_FORMAT,
     "line 1: field 1, '1,5', is not a number; write decimals with a point"},
    {SAP_FORMAT_CSV, "x;y\n1,5;2,5\n", SAP_ERROR_FORMAT, "decimal comma"},
    {SAP_FORMAT_CSV, "1,2\n1\t2,3\n", SAP_ERROR_FORMAT, "'1 2', is not a number; separate by commas"},
    {SAP_FORMAT_CSV, "1,5 2,5\n", SAP_ERROR_FORMAT, "separate by commas alone"},
    {SAP_FORMAT_CSV, "x,y,z,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13,c14,c15,c16\n", SAP_ERROR_UNSUPPORTED, "16"},
    {SAP_FORMAT_NPY, "\x93", SAP_ERROR_FORMAT, "truncated"},
    {SAP_FORMAT_AUTO, "\x93NUMP", SAP_ERROR_FORMAT, "byte 5: the file ends within its first 10 bytes; it is truncated"},
    {SAP_FORMAT_NPY, "\x93NUMPY\x01", SAP_ERROR_FORMAT, "truncated"},
    {SAP_FORMAT_NPY, "\x93NUMBY\x01", SAP_ERROR_FORMAT, "not an NPY"},
    {SAP_FORMAT_PCD, "FIELDS x\nSIZE 4\nTYPE F\nPOINTS 2\nDATA ascii\n1\n2\n\n3\n", SAP_ERROR_FORMAT,
     "line 9: the header says 2 points, but more rows follow"},
    {SAP_FORMAT_PCD, "FIELDS x\nSIZE 1\nTYPE U\nPOINTS 5\nDATA binary\n1234", SAP_ERROR_FORMAT, "point 5 of 5"},
    {SAP_FORMAT_NPY, "1 2 3", SAP_ERROR_FORMAT, "not an NPY"},
    {SAP_FORMAT_PCD, "1 2 3\n", SAP_ERROR_FORMAT, "not a PCD"},
    {SAP_FORMAT_PCD, "VERSION 0.7\n", SAP_ERROR_FORMAT, "within its header"},
    {SAP_FORMAT_PCD, "FIELDS x\nSIZE 4\nTYPE F\nPOINTS one\nDATA ascii\n", SAP_ERROR_FORMAT, "'one'"},
    {SAP_FORMAT_PCD, "FIELDS x\nSIZE 4\nTYPE F\nPOINTS 1\nDATA text\n", SAP_ERROR_FORMAT, "'text'"},
    {SAP_FORMAT_PCD, "FIELDS x\nSIZE 4\nTYPE F\nPOINTS 1\nDATA binary_compressed\n", SAP_ERROR_FORMAT,
     "before point 1 of 1"},
    {SAP_FORMAT_PCD, "FIELDS x\nSIZE 1\nTYPE U\nPOINTS 538976288\nDATA binary_compressed\n\x01\x01\x01\x01    .",
     SAP_ERROR_FORMAT, "the file ends after 1 of 16843009 compressed bytes"},
    {SAP_FORMAT_PCD, "FIELDS x y\nSIZE 4\nTYPE F F\nPOINTS 1\nDATA ascii\n1 2\n", SAP_ERROR_FORMAT, "'y'"},
    {SAP_FORMAT_PCD, "FIELDS x\nSIZE 2\nTYPE F\nPOINTS 1\nDATA ascii\n1\n", SAP_ERROR_FORMAT, "SIZE and TYPE"},
    {SAP_FORMAT_PCD, "FIELDS x\nSIZE 4\nTYPE F\nCOUNT x\nPOINTS 1\nDATA ascii\n1\n", SAP_ERROR_FORMAT, "COUNT"},
    {SAP_FORMAT_PCD, "FIELDS x\nSIZE 8\nTYPE F\nCOUNT 3000000000\nPOINTS 1\nDATA binary\n", SAP_ERROR_FORMAT,
     "that no memory"},
    {SAP_FORMAT_PCD, "FIELDS x x\nSIZE 4 4\nTYPE F F\nPOINTS 1\nDATA ascii\n1 1\n", SAP_ERROR_FORMAT, "second"},
    {SAP_FORMAT_PCD, "FIELDS y\nSIZE 4\nTYPE F\nPOINTS 1\nDATA ascii\n1\n", SAP_ERROR_FORMAT, "'x'"},
    {SAP_FORMAT_PCD, "FIELDS x\nSIZE 4\nTYPE F\nDATA ascii\n1\n", SAP_ERROR_FORMAT, "POINTS"},
    {SAP_FORMAT_PCD, "FIELDS x\nSIZE 4\nTYPE F\nWIDTH 2\nHEIGHT 2\nPOINTS 3\nDATA ascii\n1\n", SAP_ERROR_FORMAT,
     "WIDTH"},
    {SAP_FORMAT_PCD, "FIELDS x\nSIZE 4\nTYPE F\nWIDTH 9000000000000000000\nHEIGHT 9\nDATA ascii\n", SAP_ERROR_RANGE,
     "overflows"},
    {SAP_FORMAT_PCD, "FIELDS x\nSIZE 4\nTYPE F\nPOINTS 2\nDATA ascii\n1\n", SAP_ERROR_FORMAT, "truncated"},
    {SAP_FORMAT_PCD, "FIELDS x\nSIZE 4\nTYPE F\nPOINTS 2\nDATA binary\n1234567", SAP_ERROR_FORMAT, "truncated"},
    {SAP_FORMAT_PCD, "FIELDS x\nSIZE 4\nTYPE F\nPOINTS 1\nDATA ascii\none\n", SAP_ERROR_FORMAT, "line 6: 'one'"},
    {SAP_FORMAT_PCD, "FIELDS x\nSIZE 4\nTYPE F\nPOINTS 1\nDATA ascii\n1 2\n", SAP_ERROR_FORMAT, "2 numbers"}};

TEST(errors_name_the_place) {
    reading r;
    begin(&r);
    for (size_t i = 0; i < sizeof wrong_texts / sizeof *wrong_texts; i++) {
        sap_point_set* set = NULL;
        NOTE("%s", wrong_texts[i].text);
        CHECK_STATUS(parse(&r, wrong_texts[i].text, strlen(wrong_texts[i].text), wrong_texts[i].format, &set),
                     wrong_texts[i].status);
        if (!CHECK(strstr(r.w.sentence, wrong_texts[i].word) != NULL)) printf("  %s\n", r.w.sentence);
        sap_point_set_free(set);
    }
    end(&r);
}

TEST(numbers_beyond_float) {
    static const struct {
        sap_format format;
        const char *text, *word;
    } cases[] = {
        {SAP_FORMAT_XYZ, "1 2\n3 -3.5e38\n", "line 2: '-3.5e38' is beyond the range of a float"},
        {SAP_FORMAT_CSV, "x,y\n1,1e39\n", "line 2: '1e39'"},
        {SAP_FORMAT_PLY, PLY_START "element vertex 1\nproperty double x\nend_header\n1e39\n", "line 6: '1e39'"},
        {SAP_FORMAT_PCD, "FIELDS x\nSIZE 8\nTYPE F\nPOINTS 1\nDATA ascii\n1e39\n", "line 6: '1e39'"},
        // The bytes ^^^^^^^^ are a double of about 3e146.
        {SAP_FORMAT_PCD, "FIELDS x\nSIZE 8\nTYPE F\nPOINTS 1\nDATA binary\n^^^^^^^^", "byte 44: "},
        {SAP_FORMAT_PLY,
         "ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty double x\nend_header\n^^^^^^^^",
         "byte 82: "},
        {SAP_FORMAT_PLY,
         "ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty list char char i\nproperty double x\n"
         "end_header\n\x01^^^^^^^^^",
         "byte 110: "}};
    reading r;
    begin(&r);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sap_point_set* set = NULL;
        NOTE("%s", cases[i].text);
        size_t size = strlen(cases[i].text);
        CHECK_STATUS(parse_as(&r, cases[i].text, size, cases[i].format, 32, &set), SAP_ERROR_RANGE);
        if (!CHECK(strstr(r.w.sentence, cases[i].word) != NULL)) printf("  %s\n", r.w.sentence);
        CHECK_STATUS(parse_as(&r, cases[i].text, size, cases[i].format, 64, &set), SAP_OK);
        sap_point_set_free(set);
    }
    // The largest float, and infinity, are within it.
    sample s = text_sample("largest", SAP_FORMAT_XYZ, "3.4028235e38 inf nan\n");
    sap_point_set* set = NULL;
    CHECK_STATUS(parse_as(&r, s.bytes, s.size, s.format, 32, &set), SAP_OK);
    sap_point_set_free(set);
    end(&r);
}

// Text of two bytes a character is called so, with its mark and without.
TEST(wide_characters) {
    static const char wide[] = "1\0 \0002\0\n";
    static const sap_format formats[] = {SAP_FORMAT_XYZ, SAP_FORMAT_CSV};
    reading r;
    begin(&r);
    for (int i = 0; i < 2; i++) {
        sap_point_set* set = NULL;
        CHECK_STATUS(parse(&r, wide, sizeof wide, formats[i], &set), SAP_ERROR_FORMAT);
        CHECK(strstr(r.w.sentence, "UTF-8") != NULL);
    }
    end(&r);
}

TEST(npy_errors) {
    static const struct {
        const char* header;
        sap_status status;
        const char* word;
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", SAP_ERROR_FORMAT, "truncated"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", SAP_ERROR_FORMAT,
         "truncated"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 4), }", SAP_ERROR_FORMAT, "shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (), }", SAP_ERROR_UNSUPPORTED, "single number"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 0), }", SAP_ERROR_UNSUPPORTED, "0 columns"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 17), }", SAP_ERROR_UNSUPPORTED, "17 columns"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1), }", SAP_ERROR_UNSUPPORTED, "two axes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 1), }", SAP_ERROR_FORMAT, "does not end"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 3, }", SAP_ERROR_FORMAT, "tuple"},
        {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,), }", SAP_ERROR_FORMAT, "True nor False"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", SAP_ERROR_UNSUPPORTED, "plain"},
        {"{'descr': '<f16', 'fortran_order': False, 'shape': (1,), }", SAP_ERROR_UNSUPPORTED, "plain"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", SAP_ERROR_UNSUPPORTED, "plain"},
        {"{'descr': '', 'fortran_order': False, 'shape': (1,), }", SAP_ERROR_UNSUPPORTED, "plain"},
        {"{'descr': [('w', '<f4')], 'fortran_order': False, 'shape': (1,), }", SAP_ERROR_UNSUPPORTED,
         "the fields w, but"},
        {"{'descr': [('x', '<f4', (3,))], 'fortran_order': False, 'shape': (1,), }", SAP_ERROR_UNSUPPORTED,
         "a field of the array is more"},
        {"{'descr': [('x', '|O')], 'fortran_order': False, 'shape': (1,), }", SAP_ERROR_UNSUPPORTED,
         "more than a name"},
        {"{'descr': [('x', '<c8')], 'fortran_order': False, 'shape': (1,), }", SAP_ERROR_UNSUPPORTED, "plain"},
        {"{'descr': [], 'fortran_order': False, 'shape': (1,), }", SAP_ERROR_UNSUPPORTED, "no fields"},
        {"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1, 2), }", SAP_ERROR_UNSUPPORTED, "two axes"},
        {"{'descr': [('x', '<f4')", SAP_ERROR_FORMAT, "truncated"},
        {"{'descr': '<f4', 'shape': (1,), }", SAP_ERROR_FORMAT, "lacks"},
        {"{'descr': '<f4', 'descr': '<f4', }", SAP_ERROR_FORMAT, "too many"},
        {"{'other': 1}", SAP_ERROR_FORMAT, "too many"},
        {"{'descr': '<f4' 'shape': (1,), }", SAP_ERROR_FORMAT, "damaged"},
        {"{'descr", SAP_ERROR_FORMAT, "damaged"},
        {"[]", SAP_ERROR_FORMAT, "not a dictionary"},
        {"", SAP_ERROR_FORMAT, "not a dictionary"}};
    reading r;
    sap_point_set* set = NULL;
    begin(&r);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample s = npy_sample(cases[i].header, 1, cases[i].header);
        NOTE("%s", s.name);
        CHECK_STATUS(parse(&r, s.bytes, s.size, SAP_FORMAT_AUTO, &set), cases[i].status);
        if (!CHECK(strstr(r.w.sentence, cases[i].word) != NULL)) printf("  %s\n", r.w.sentence);
    }
    sample s = npy_sample("version", 4, "{}");
    CHECK_STATUS(parse(&r, s.bytes, s.size, SAP_FORMAT_NPY, &set), SAP_ERROR_UNSUPPORTED);
    s = npy_sample("length", 2, "{}");
    s.bytes[11] = 0xff;
    CHECK_STATUS(parse(&r, s.bytes, s.size, SAP_FORMAT_NPY, &set), SAP_ERROR_FORMAT);
    CHECK(strstr(r.w.sentence, "longer than the file") != NULL);
    end(&r);
}

TEST(huge_counts_allocate_little) {
    static const char* const counts[] = {"1000000", "2147483647", "2147483648", "4611686018427387904",
                                         "9223372036854775807"};
    static const char* const frames[] = {
        PLY_START "element vertex %s\nproperty float x\nend_header\n1\n",
        PLY_START "element face %s\nproperty list uchar int i\nelement vertex 1\nproperty float x\nend_header\n1\n",
        "ply\nformat binary_little_endian 1.0\nelement vertex %s\nproperty uchar x\nend_header\n1",
        "ply\nformat binary_little_endian 1.0\nelement vertex %s\nproperty uchar x\nproperty list int int i\n"
        "end_header\n12345",
        "ply\nformat binary_big_endian 1.0\nelement f %s\nproperty double a\nelement vertex 0\nproperty float x\n"
        "end_header\n12345678",
        "FIELDS x\nSIZE 1\nTYPE U\nPOINTS %s\nDATA binary\n1",
        "FIELDS x\nSIZE 1\nTYPE U\nPOINTS %s\nDATA ascii\n1\n"};
    reading r;
    begin(&r);
    for (size_t i = 0; i < 35; i++) {
        char text[256];
        snprintf(text, sizeof text, frames[i / 5], counts[i % 5]);
        r.largest = 0;
        sap_point_set* set = NULL;
        NOTE("%s", text);
        CHECK_STATUS(parse(&r, text, strlen(text), SAP_FORMAT_AUTO, &set), SAP_ERROR_FORMAT);
        CHECK(r.largest <= 16 * strlen(text) + 256);
    }
    // Elements without properties have no bytes, so that any count of them is there.
    sample s = text_sample("empty elements", SAP_FORMAT_PLY,
                           "ply\nformat binary_little_endian 1.0\nelement none 9223372036854775807\nelement vertex 1\n"
                           "property uchar x\nend_header\n1");
    expect(&r, &s, SAP_FORMAT_PLY, 1, 1, 32, (double[]){'1'});
    end(&r);
}

TEST(cut_at_every_byte) {
    reading r;
    begin(&r);
    int64_t blocks = r.w.blocks;
    for (int i = 0; i < SAMPLES; i++) {
        sample s = sample_number(i);
        for (size_t size = 0; size < s.size; size++) {
            sap_point_set* set = NULL;
            NOTE("%s cut to %zu bytes", s.name, size);
            sap_status status = parse(&r, s.bytes, size, i % 2 ? s.format : SAP_FORMAT_AUTO, &set);
            bool text = s.format == SAP_FORMAT_XYZ || s.format == SAP_FORMAT_CSV;
            // Text has no count that tells of a cut. Nor are the faces of an ascii PLY looked into: a part of their
            // last line is a line.
            if (!text && status == SAP_OK) CHECK(set->count == 2 && strstr(s.name, "ascii") && size + 9 > s.size);
            CHECK(status == SAP_OK || status == SAP_ERROR_FORMAT);
            sap_point_set_free(set);
        }
        CHECK_EQUAL(r.w.blocks, blocks);
    }
    end(&r);
}

TEST(any_byte_changed) {
    static const unsigned char values[] = {0, 1, 10, ' ', '"', '#', '-', '0', '9', ',', 'e', 127, 128, 255};
    reading r;
    begin(&r);
    for (int i = 0; i < SAMPLES; i++) {
        sample s = sample_number(i);
        for (size_t at = 0; at < s.size; at++) {
            unsigned char kept = s.bytes[at];
            for (size_t j = 0; j < sizeof values; j++) {
                sap_point_set* set = NULL;
                NOTE("%s, byte %zu is %u", s.name, at, (unsigned)values[j]);
                s.bytes[at] = values[j];
                r.largest = 0;
                parse(&r, s.bytes, s.size, j % 2 ? s.format : SAP_FORMAT_AUTO, &set);
                CHECK(r.largest <= 16 * s.size + 256);
                sap_point_set_free(set);
            }
            s.bytes[at] = kept;
        }
    }
    end(&r);
}

TEST(failed_allocations) {
    reading r;
    begin(&r);
    for (int i = 0; i < SAMPLES; i++) {
        sample s = sample_number(i);
        sap_status status = SAP_ERROR_MEMORY;
        for (int64_t n = 1; status == SAP_ERROR_MEMORY && n < 10; n++) {
            sap_point_set* set = NULL;
            NOTE("%s, allocation %lld fails", s.name, (long long)n);
            r.w.requests = 0;
            r.w.fail_from = n;
            status = parse(&r, s.bytes, s.size, s.format, &set);
            CHECK(status == SAP_ERROR_MEMORY || (status == SAP_OK && n > 1));
            sap_point_set_free(set);
        }
        r.w.fail_from = 0;
    }
    end(&r);
}

TEST_MAIN()
