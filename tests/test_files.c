// Point files are read right, from memory, from disks and from pipes.
#include "file_reading.h"
#include "folder.h"
#include <locale.h>

static const double two_points[6] = {1, -2, 3.5, 4, 5, 6};

TEST(samples_are_read) {
    reading r;
    begin(&r);
    for (int i = 0; i < SAMPLES; i++) {
        sample s = sample_number(i);
        bool wide = strstr(s.name, "endian") || strstr(s.name, "2.0");
        expect(&r, &s, s.format, 2, 3, wide ? 64 : 32, two_points);
        expect(&r, &s, SAP_FORMAT_AUTO, 2, 3, wide ? 64 : 32, two_points);
    }
    end(&r);
}

TEST(ply_types) {
    // Each type, by both names, as x; the value fits all of them.
    static const struct {
        const char* names[2];
        int bytes;
        char kind;
    } types[] = {{{"char", "int8"}, 1, 'i'},     {{"uchar", "uint8"}, 1, 'u'},   {{"short", "int16"}, 2, 'i'},
                 {{"ushort", "uint16"}, 2, 'u'}, {{"int", "int32"}, 4, 'i'},     {{"uint", "uint32"}, 4, 'u'},
                 {{"float", "float32"}, 4, 'f'}, {{"double", "float64"}, 8, 'f'}};
    reading r;
    begin(&r);
    for (int i = 0; i < 32; i++) {
        int type = i / 4;
        bool big = i & 1, wide = types[type].bytes == 8;
        sample s = text_sample(types[type].names[i / 2 % 2], SAP_FORMAT_PLY, "ply\nformat binary_");
        put_text(&s, big ? "big_endian 1.0\nelement vertex 1\nproperty "
                         : "little_endian 1.0\nelement vertex 1\nproperty ");
        put_text(&s, types[type].names[i / 2 % 2]);
        put_text(&s, " x\nend_header\n");
        int value = types[type].kind == 'u' ? 100 : -100;
        if (types[type].kind != 'f')
            put_int(&s, (uint64_t)value, types[type].bytes, big);
        else if (wide)
            put_double(&s, value, big);
        else
            put_float(&s, (float)value, big);
        expect(&r, &s, SAP_FORMAT_PLY, 1, 1, wide ? 64 : 32, (double[]){value});
    }
    end(&r);
}

TEST(npy_types) {
    static const struct {
        const char* name;
        int bytes;
    } types[] = {{"|i1", 1}, {"|u1", 1}, {"|b1", 1}, {"<i2", 2}, {">i2", 2}, {"<u2", 2}, {">u2", 2}, {"<i4", 4},
                 {">i4", 4}, {"<u4", 4}, {">u4", 4}, {"<i8", 8}, {">i8", 8}, {"<u8", 8}, {">u8", 8}};
    reading r;
    begin(&r);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char header[96];
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (2,), }", types[i].name);
        sample s = npy_sample(types[i].name, 1, header);
        put_int(&s, 1, types[i].bytes, types[i].name[0] == '>');
        put_int(&s, 0, types[i].bytes, types[i].name[0] == '>');
        expect(&r, &s, SAP_FORMAT_NPY, 2, 1, 32, (double[]){1, 0});
    }
    // Integers become floats only if floats hold them all.
    static const struct {
        const char* name;
        int64_t value;
        int real_bits;
    } integers[] = {{"<i4", -16777216, 32}, {"<i4", 16777217, 64},   {"<i8", (int64_t)1 << 62, 32},
                    {"<i8", -16777217, 64}, {"<u4", 4294967295, 64}, {"<i8", INT64_MIN, 32}};
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        char header[96];
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (1, 1), }", integers[i].name);
        sample s = npy_sample(integers[i].name, 1, header);
        put_int(&s, (uint64_t)integers[i].value, integers[i].name[2] - '0', false);
        expect(&r, &s, SAP_FORMAT_NPY, 1, 1, integers[i].real_bits, (double[]){(double)integers[i].value});
    }
    // Half floats: the smallest, the largest, infinity.
    sample s = npy_sample("halves", 1, "{'descr': '>f2', 'fortran_order': False, 'shape': (4,), }");
    for (int i = 0; i < 4; i++) put_int(&s, (uint64_t[]){0x0001, 0x7bff, 0xfc00, 0x3555}[i], 2, true);
    expect(&r, &s, SAP_FORMAT_NPY, 4, 1, 32, (double[]){0x1p-24, 65504, -INFINITY, 1365 * 0x1p-12});
    end(&r);
}

// Text becomes double if floats would move its points too far for what they are compared with.
TEST(points_that_lie_close_together) {
    static const struct {
        const char* text;
        double float_error, extent;
        int32_t real_bits;
    } cases[] = {{"481234.6 0\n481235.6 1\n", 0, 0, 32},
                 {"481234.6 0\n481235.6 1\n", 0x1p-20, 0, 64},
                 {"481234.6 0\n481235.6 1\n", 0x1p-20, 1e6, 32},
                 {"481234.5 0\n481235.5 1\n", 0x1p-20, 0, 32}, // floats, just so
                 {"0.1 0.2\n0.3 0.4\n", 0x1p-20, 0, 32},
                 {"0.1 0.2\n0.3 0.4\n", 0x1p-20, 1e-3, 64},
                 {"0.1 0.2\n", 0x1p-20, 0, 64}, // no movement is small beside a single place
                 {"0.5 0.25\n", 0x1p-20, 0, 32},
                 {"nan 481234.6\ninf 481235.6\n", 0x1p-20, 0, 64},
                 {"a,b\n0.1,3\n0.1,3\n", 0x1p-20, 0, 64}};
    reading r;
    begin(&r);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sap_point_set* set = NULL;
        sap_points_read_options options = {.float_error = cases[i].float_error, .extent = cases[i].extent};
        NOTE("%s of %g", cases[i].text, cases[i].extent);
        r.w.log_calls = 0;
        CHECK_STATUS(
            sap_points_parse_with(r.device, cases[i].text, strlen(cases[i].text), SAP_FORMAT_AUTO, 0, &options, &set),
            SAP_OK);
        if (set) CHECK_EQUAL(set->real_bits, cases[i].real_bits);
        CHECK_EQUAL(r.w.log_calls, *cases[i].text == 'a');
        sap_point_set_free(set);
    }
    sap_status status = SAP_ERROR_MEMORY;
    for (int64_t n = 1; status == SAP_ERROR_MEMORY && n < 9; n++) {
        sap_point_set* set = NULL;
        sap_points_read_options options = {.float_error = 0x1p-20};
        NOTE("allocation %lld fails", (long long)n);
        r.w.requests = 0;
        r.w.fail_from = n;
        status = sap_points_parse_with(r.device, "481234.6\n481235.6\n", 18, SAP_FORMAT_AUTO, 0, &options, &set);
        CHECK(n == 3 ? status == SAP_OK && set : status == SAP_ERROR_MEMORY && !set);
        sap_point_set_free(set);
    }
    r.w.fail_from = 0;
    for (int i = 0; i < 4; i++) {
        sap_point_set* set = NULL;
        const double wrong[] = {-1, NAN, INFINITY};
        sap_points_read_options options = {.float_error = i < 3 ? wrong[i] : 1, .extent = i < 3 ? 0 : -1};
        CHECK_STATUS(sap_points_parse_with(r.device, "1 2", 3, SAP_FORMAT_AUTO, 0, &options, &set), SAP_ERROR_ARGUMENT);
        CHECK_STATUS(sap_points_read_with(r.device, "/", SAP_FORMAT_AUTO, 0, &options, &set), SAP_ERROR_ARGUMENT);
        CHECK(set == NULL);
    }
    end(&r);
}

// Reads with chosen columns; "" is success.
static void expect_chosen(reading* r, sap_format format, const char* text, const char* columns, int32_t dims,
                          const double* values, const char* sentence) {
    sap_point_set* set = NULL;
    sap_points_read_options options = {.columns = columns};
    NOTE("%s of %s", columns, text);
    r->w.sentence[0] = 0;
    sap_status status = sap_points_parse_with(r->device, text, strlen(text), format, 0, &options, &set);
    CHECK_STATUS(status, *sentence ? SAP_ERROR_ARGUMENT : SAP_OK);
    if (*sentence && !CHECK(strstr(r->w.sentence, sentence) != NULL)) printf("  %s\n", r->w.sentence);
    if (!set) return;
    CHECK_EQUAL(set->dims, dims);
    for (int64_t i = 0; i < set->count * set->dims && set->dims == dims; i++) CHECK(value_of(set, i) == values[i]);
    sap_point_set_free(set);
}

TEST(chosen_columns) {
#define PLACES "id,lat,lon\n7,1,2\n8,3,4\n"
    reading r;
    begin(&r);
    expect_chosen(&r, SAP_FORMAT_CSV, PLACES, "lon,lat", 2, (double[]){2, 1, 4, 3}, "");
    expect_chosen(&r, SAP_FORMAT_CSV, PLACES, " 3 , 2", 2, (double[]){2, 1, 4, 3}, "");
    expect_chosen(&r, SAP_FORMAT_CSV, PLACES, "lon,height", 0, NULL, "there is no column 'height'; the columns");
    expect_chosen(&r, SAP_FORMAT_CSV, PLACES, "lon,3", 0, NULL,
                  "no column '3', or is chosen by its name and by its number");
    expect_chosen(&r, SAP_FORMAT_CSV, PLACES, "lon,id,lon", 0, NULL, "column 'lon' is chosen twice");
    expect_chosen(&r, SAP_FORMAT_XYZ, "7 1 2\n", "1,01", 0, NULL, "column '01' is chosen twice");
    expect_chosen(&r, SAP_FORMAT_CSV, "a,1,2\nb,3,4\n", "2,3", 2, (double[]){1, 2, 3, 4}, "");
    expect_chosen(&r, SAP_FORMAT_CSV, "Frankfurt, Oder\t1\t2\nBonn\t3\t4\n", "2,3", 2, (double[]){1, 2, 3, 4}, "");
    expect_chosen(&r, SAP_FORMAT_CSV, "a,\t1,\t2\t\nb,3,4\n", "2,3", 2, (double[]){1, 2, 3, 4}, "");
    expect_chosen(&r, SAP_FORMAT_XYZ, "7 1 2\n8 3 4\n", "3,2", 2, (double[]){2, 1, 4, 3}, "");
    expect_chosen(&r, SAP_FORMAT_XYZ, "7 1 2\n", "4", 0, NULL, "choose by numbers");
    expect_chosen(&r, SAP_FORMAT_PLY,
                  "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float nx\nproperty float q\n"
                  "end_header\n1 2 3\n",
                  "q,nx", 2, (double[]){3, 2}, "");
    expect_chosen(&r, SAP_FORMAT_PLY, "ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nend_header\n", "y", 0,
                  NULL, "'y'");
    expect_chosen(&r, SAP_FORMAT_PCD, "FIELDS a b c\nSIZE 4 4 4\nTYPE F F F\nPOINTS 1\nDATA ascii\n1 2 3\n", "c,1", 2,
                  (double[]){3, 1}, "");
    expect_chosen(&r, SAP_FORMAT_PCD, "FIELDS a\nSIZE 4\nTYPE F\nPOINTS 0\nDATA ascii\n", "b", 0, NULL,
                  "the columns are a");
    expect_chosen(&r, SAP_FORMAT_CSV, PLACES, "", 0, NULL, "is empty");
    expect_chosen(&r, SAP_FORMAT_CSV, PLACES, "lon,", 0, NULL, "ends with a comma");
    expect_chosen(&r, SAP_FORMAT_CSV, PLACES, ",lon", 0, NULL, "',lon' has nothing where a column");
    expect_chosen(&r, SAP_FORMAT_CSV, PLACES, "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", 0, NULL, "more than 16");
    sample s = npy_sample("npy", 1, "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }");
    for (int i = 0; i < 6; i++) put_int(&s, (uint64_t)i, 2, false);
    sap_point_set* set = NULL;
    sap_points_read_options options = {.columns = "3,1"};
    CHECK_STATUS(sap_points_parse_with(r.device, s.bytes, s.size, SAP_FORMAT_NPY, 0, &options, &set), SAP_OK);
    if (set) CHECK(set->dims == 2 && value_of(set, 0) == 4 && value_of(set, 1) == 0 && value_of(set, 3) == 1);
    sap_point_set_free(set);
    set = NULL;
    options.columns = "x";
    CHECK_STATUS(sap_points_parse_with(r.device, s.bytes, s.size, SAP_FORMAT_NPY, 0, &options, &set),
                 SAP_ERROR_ARGUMENT);
    options.reserved[1] = 1;
    CHECK_STATUS(sap_points_parse_with(r.device, s.bytes, s.size, SAP_FORMAT_NPY, 0, &options, &set),
                 SAP_ERROR_ARGUMENT);
    end(&r);
}

TEST(npy_fields) {
    reading r;
    begin(&r);
    sample s = npy_sample("fields", 1,
                          "{'descr': [('id', '|S3'), ('Y', '>i2'), ('x', '<f4')], 'fortran_order': False, "
                          "'shape': (2,), }");
    for (int i = 0; i < 2; i++) {
        put_int(&s, 0, 3, false);
        put_int(&s, i ? 4 : 2, 2, true);
        put_float(&s, i ? 3 : 1, false);
    }
    expect(&r, &s, SAP_FORMAT_NPY, 2, 2, 32, (double[]){1, 2, 3, 4});
    for (size_t size = 0; size < s.size; size++) {
        sap_point_set* set = NULL;
        CHECK_STATUS(parse(&r, s.bytes, size, SAP_FORMAT_NPY, &set), SAP_ERROR_FORMAT);
    }
    s = npy_sample("hits", 1, "{'descr': [('t', '<f4'), ('u', '<f4')], 'fortran_order': False, 'shape': (1,), }");
    put_float(&s, 7, false);
    put_float(&s, 8, false);
    sap_point_set* set = NULL;
    CHECK_STATUS(parse(&r, s.bytes, s.size, SAP_FORMAT_NPY, &set), SAP_ERROR_UNSUPPORTED);
    CHECK(strstr(r.w.sentence, "the fields t, u, but none is 'x'") != NULL);
    sap_points_read_options options = {.columns = "u,1"};
    CHECK_STATUS(sap_points_parse_with(r.device, s.bytes, s.size, SAP_FORMAT_NPY, 0, &options, &set), SAP_OK);
    if (set) CHECK(value_of(set, 0) == 8 && value_of(set, 1) == 7);
    sap_point_set_free(set);
    end(&r);
}

TEST(columns_that_names_do_not_tell) {
    reading r;
    begin(&r);
    sap_point_set* set = NULL;
    CHECK_STATUS(parse(&r, PLACES, strlen(PLACES), SAP_FORMAT_CSV, &set), SAP_OK);
    CHECK(strstr(r.w.sentence, "all 3 (id,lat,lon) are taken as coordinates") != NULL);
    if (set) CHECK_EQUAL(set->dims, 3);
    sap_point_set_free(set);
    static const char empty[] = "id,y,x,name\n1,2,,a\n2,3,4,\n";
    set = NULL;
    CHECK_STATUS(parse(&r, empty, strlen(empty), SAP_FORMAT_CSV, &set), SAP_OK);
    CHECK_EQUAL(r.w.log_calls, 0);
    if (set && CHECK_EQUAL(set->count, 2))
        CHECK(isnan(value_of(set, 0)) && value_of(set, 1) == 2 && value_of(set, 2) == 4);
    sap_point_set_free(set);
    static const char missing[] = "x,y\nNA,1\nnull,n/a\n\"NULL\",2\n";
    set = NULL;
    CHECK_STATUS(parse(&r, missing, strlen(missing), SAP_FORMAT_CSV, &set), SAP_OK);
    if (set && CHECK_EQUAL(set->count, 3))
        for (int i = 0; i < 6; i++) CHECK(i % 2 && i != 3 ? !isnan(value_of(set, i)) : isnan(value_of(set, i)));
    sap_point_set_free(set);
    end(&r);
}

// Characters within quotes separate nothing.
TEST(separators_in_quotes) {
    reading r;
    begin(&r);
    expect_chosen(&r, SAP_FORMAT_CSV, "id,\"size; in m\",x\n7,1,2\n", "size; in m,3", 2, (double[]){1, 2}, "");
    expect_chosen(&r, SAP_FORMAT_CSV, "\"a\tb\",\"c\"\"\td\",x\n7,1,2\n", "2,x", 2, (double[]){1, 2}, "");
    expect_chosen(&r, SAP_FORMAT_CSV, "\"a;b\"\t\"c,d\"\tx\n7\t1\t2\n", "2,x", 2, (double[]){1, 2}, "");
    expect_chosen(&r, SAP_FORMAT_CSV, "\"a,b\";\"c\td\";x\n7;1;2\n", "2,x", 2, (double[]){1, 2}, "");
    expect_chosen(&r, SAP_FORMAT_CSV, "5\" pipe;x;y\n7;1;2\n", "x,y", 2, (double[]){1, 2}, "");
    end(&r);
}

// Text of more columns than three may hold other things than coordinates, where no suffix says that it does not.
TEST(columns_that_nothing_tells) {
    static const char counted[] = "2\n1 2 3 255\n4 5 6 128\n", plain[] = "1 2 3 255\n";
    reading r;
    begin(&r);
    for (int i = 0; i < 3; i++) {
        sap_point_set* set = NULL;
        const char* text = i == 0 ? counted : plain;
        const sap_points_read_options options = {.columns = i == 1 ? "1,2,3,4" : NULL};
        r.w.log_calls = 0;
        CHECK_STATUS(sap_points_parse_with(r.device, text, strlen(text), SAP_FORMAT_XYZ, 0, &options, &set), SAP_OK);
        CHECK_EQUAL(r.w.log_calls, i == 0);
        if (i == 0) CHECK(strstr(r.w.sentence, "all 4 columns are taken as coordinates; choose columns") != NULL);
        if (set) CHECK_EQUAL(set->dims, 4);
        sap_point_set_free(set);
    }
    end(&r);
}

TEST(text_precision_and_names) {
    static const struct {
        sap_format format;
        const char* text;
        int count, dims, real_bits;
        double values[4];
    } cases[] = {
        {SAP_FORMAT_XYZ, "0.5 0.25", 1, 2, 32, {0.5, 0.25}},
        {SAP_FORMAT_XYZ, "481234.57 1", 1, 2, 64, {481234.57, 1}},
        {SAP_FORMAT_XYZ, "16777217\n1\n", 2, 1, 64, {16777217, 1}},
        {SAP_FORMAT_XYZ,
         "\xef\xbb\xbf"
         "1 2\r\n3 4",
         2,
         2,
         32,
         {1, 2, 3, 4}},
        {SAP_FORMAT_XYZ, "1 2 3 # and\n", 1, 3, 32, {1, 2, 3}},
        {SAP_FORMAT_CSV, "x,y\n", 0, 2, 32, {0}},
        {SAP_FORMAT_CSV, "x,w\n1,2\n", 1, 2, 32, {1, 2}},
        {SAP_FORMAT_CSV, "//X,Y,R\n1,2,red\n", 1, 2, 32, {1, 2}},
        {SAP_FORMAT_CSV, "y;x;n;z\n2;1;;3\n", 1, 3, 32, {1, 2, 3}},
        {SAP_FORMAT_CSV, "1.5\n-2\n", 2, 1, 32, {1.5, -2}},
        {SAP_FORMAT_CSV, "# 1\n\n1;2", 1, 2, 32, {1, 2}},
        {SAP_FORMAT_AUTO, "1;2", 1, 2, 32, {1, 2}},
        {SAP_FORMAT_AUTO, "1 2", 1, 2, 32, {1, 2}},
        {SAP_FORMAT_PLY,
         "ply\nformat ascii 1.0\nelement vertex 1\nproperty int y\nproperty float x\nend_header\n"
         "16777217 0.1\n",
         1,
         2,
         64,
         {0.1, 16777217}},
        {SAP_FORMAT_PLY, "ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nend_header\n", 0, 1, 32, {0}},
        {SAP_FORMAT_PLY,
         "ply\nformat ascii 1.0\nelement vertex 1\nproperty float Y\nproperty float X\nend_header\n2 1\n",
         1,
         2,
         32,
         {1, 2}},
        {SAP_FORMAT_PLY,
         "ply\nformat ascii 1.0\nelement vertex 1\nproperty float X\nproperty float x\nend_header\n2 1\n",
         1,
         1,
         32,
         {1}},
        {SAP_FORMAT_PCD, "FIELDS x y\nSIZE 8 4\nTYPE F I\nPOINTS 1\nDATA ascii\n0.1 7\n", 1, 2, 64, {0.1, 7}},
        {SAP_FORMAT_PCD,
         "FIELDS x c y\nSIZE 4 1 4\nTYPE F U F\nCOUNT 1 2 1\nPOINTS 1\nDATA ascii\n1 8 9 2\n",
         1,
         2,
         32,
         {1, 2}}};
    reading r;
    begin(&r);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample s = text_sample(cases[i].text, cases[i].format, cases[i].text);
        expect(&r, &s, cases[i].format, cases[i].count, cases[i].dims, cases[i].real_bits, cases[i].values);
    }
    sample s = text_sample("nan", SAP_FORMAT_XYZ, "nan -inf Infinity\n");
    sap_point_set* set = NULL;
    CHECK_STATUS(parse(&r, s.bytes, s.size, s.format, &set), SAP_OK);
    if (set) CHECK(isnan(value_of(set, 0)) && value_of(set, 1) == -INFINITY && value_of(set, 2) == INFINITY);
    sap_point_set_free(set);
    sap_point_set_free(NULL);
    end(&r);
}

TEST(names_and_line_ends) {
    static const struct {
        sap_format format;
        const char* text;
        int count, dims;
        double values[6];
    } cases[] = {
        {SAP_FORMAT_XYZ, "1 2\r3 4\r", 2, 2, {1, 2, 3, 4}},
        {SAP_FORMAT_XYZ, "\r\r1 2\n3 4\r\n\n5 6\r", 3, 2, {1, 2, 3, 4, 5, 6}},
        {SAP_FORMAT_CSV, "x,y\r1,2\r3,4", 2, 2, {1, 2, 3, 4}},
        {SAP_FORMAT_PLY, "ply\rformat ascii 1.0\relement vertex 2\rproperty float x\rend_header\r1\r2\r", 2, 1, {1, 2}},
        {SAP_FORMAT_PCD, "FIELDS x\rSIZE 4\rTYPE F\rPOINTS 2\rDATA ascii\r1\r2\r", 2, 1, {1, 2}},
        // Lines that end with CR alone leave an LF behind the last one to the data.
        {SAP_FORMAT_PLY,
         "ply\rformat binary_little_endian 1.0\relement vertex 2\rproperty uchar x\rend_header\r\n1",
         2,
         1,
         {10, 49}},
        {SAP_FORMAT_PLY,
         "ply\r\nformat binary_little_endian 1.0\r\nelement vertex 2\r\nproperty uchar x\r\nend_header\r\n\n1",
         2,
         1,
         {10, 49}},
        {SAP_FORMAT_PCD, "FIELDS x\rSIZE 1\rTYPE U\rPOINTS 2\rDATA binary\r\n1", 2, 1, {10, 49}},
        {SAP_FORMAT_CSV, "c4,x,y,z,c3\n5,1,2,3,4\n", 1, 5, {1, 2, 3, 4, 5}},
        {SAP_FORMAT_CSV, "x,y,z,c4,c03\n1,2,3,5,4\n", 1, 3, {1, 2, 3}},
        {SAP_FORMAT_CSV, "X,Y,C3\n1,2,3\n", 1, 2, {1, 2}},
        {SAP_FORMAT_CSV, "id, X \n", 0, 2, {0}},
        {SAP_FORMAT_CSV, "a,,b\n1,2,3\n", 1, 3, {1, 2, 3}},
        {SAP_FORMAT_PLY,
         "ply\nformat ascii 1.0\nelement vertex 1\nproperty float c3\nproperty float x\nproperty float y\n"
         "property float z\nproperty float c5\nend_header\n4 1 2 3 9\n",
         1,
         4,
         {1, 2, 3, 4}},
        {SAP_FORMAT_XYZ, "# x y z c3\n", 0, 4, {0}},
        {SAP_FORMAT_XYZ, "# x\r\n\r\n", 0, 1, {0}},
        {SAP_FORMAT_XYZ, "# x y z\n1 2\n", 1, 2, {1, 2}}};
    reading r;
    begin(&r);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample s = text_sample(cases[i].text, cases[i].format, cases[i].text);
        expect(&r, &s, cases[i].format, cases[i].count, cases[i].dims, 32, cases[i].values);
    }
    end(&r);
}

// Reads one number (or two) as floats or doubles, whatever the file holds.
static void check_real(reading* r, const sample* s, int32_t real_bits, double expected) {
    sap_point_set* set = NULL;
    NOTE("%s as %d bits", s->name, (int)real_bits);
    CHECK_STATUS(parse_as(r, s->bytes, s->size, s->format, real_bits, &set), SAP_OK);
    if (!CHECK(set != NULL)) return;
    CHECK_EQUAL(set->real_bits, real_bits);
    CHECK(value_of(set, 0) == expected);
    sap_point_set_free(set);
}

TEST(real_bits_as_wanted) {
    static const char* const ascii[] = {"0.1",
                                        "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n0.1\n",
                                        "FIELDS x\nSIZE 4\nTYPE F\nPOINTS 1\nDATA ascii\n0.1\n"};
    static const sap_format formats[] = {SAP_FORMAT_XYZ, SAP_FORMAT_PLY, SAP_FORMAT_PCD};
    reading r;
    begin(&r);
    for (int i = 0; i < 3; i++) {
        sample s = text_sample(ascii[i], formats[i], ascii[i]);
        check_real(&r, &s, 64, 0.1);
        check_real(&r, &s, 32, (double)0.1f);
    }
    sample csv = text_sample("481234.57", SAP_FORMAT_CSV, "x,y\n481234.57,1\n");
    check_real(&r, &csv, 32, (double)481234.57f);
    csv = text_sample("nan and inf", SAP_FORMAT_CSV, "inf,nan\n");
    check_real(&r, &csv, 32, INFINITY);
    sample npy = npy_sample("double", 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }");
    put_double(&npy, 0.1, false);
    put_double(&npy, -INFINITY, false);
    check_real(&r, &npy, 32, (double)0.1f);
    check_real(&r, &npy, 64, 0.1);
    npy = npy_sample("float", 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }");
    put_float(&npy, 0.1f, false);
    check_real(&r, &npy, 64, (double)0.1f);
    npy = npy_sample("integer", 1, "{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }");
    put_int(&npy, 16777217, 4, false);
    check_real(&r, &npy, 32, 16777216);
    for (int i = 0; i < SAMPLES; i++)
        for (int32_t real_bits = 32; real_bits <= 64; real_bits += 32) {
            sample s = sample_number(i);
            check_real(&r, &s, real_bits, 1);
        }
    end(&r);
}

TEST(arguments) {
    reading r;
    begin(&r);
    sap_point_set* set = NULL;
    CHECK_STATUS(sap_points_parse(NULL, "1", 1, SAP_FORMAT_XYZ, 0, &set), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_points_parse(r.device, NULL, 1, SAP_FORMAT_XYZ, 0, &set), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_points_parse(r.device, NULL, 0, SAP_FORMAT_XYZ, 0, &set), SAP_ERROR_FORMAT);
    CHECK_STATUS(sap_points_parse(r.device, "1", 1, (sap_format)99, 0, &set), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_points_parse(r.device, "1", 1, (sap_format)-1, 0, &set), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_points_parse(r.device, "1", 1, SAP_FORMAT_XYZ, 0, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_points_read(NULL, "a.xyz", SAP_FORMAT_AUTO, 0, &set), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_points_read(r.device, NULL, SAP_FORMAT_AUTO, 0, &set), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_points_read(r.device, "a.xyz", (sap_format)99, 0, &set), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_points_read(r.device, "a.xyz", SAP_FORMAT_AUTO, 0, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_points_parse(r.device, "1", 1, SAP_FORMAT_XYZ, 16, &set), SAP_ERROR_ARGUMENT);
    CHECK(strstr(r.w.sentence, "real_bits") != NULL);
    CHECK_STATUS(sap_points_read(r.device, "a.xyz", SAP_FORMAT_AUTO, -64, &set), SAP_ERROR_ARGUMENT);
    CHECK(strstr(r.w.sentence, "real_bits") != NULL);
    CHECK(set == NULL);
    static const struct {
        const char* path;
        sap_format format;
    } paths[] = {{"a.ply", SAP_FORMAT_PLY},   {"b/c.XYZ", SAP_FORMAT_XYZ}, {"a.txt", SAP_FORMAT_XYZ},
                 {"a.Csv", SAP_FORMAT_CSV},   {"x.y.npy", SAP_FORMAT_NPY}, {"a.pcd", SAP_FORMAT_PCD},
                 {"a", SAP_FORMAT_AUTO},      {"a.plyx", SAP_FORMAT_AUTO}, {"a.pl", SAP_FORMAT_AUTO},
                 {".", SAP_FORMAT_AUTO},      {"", SAP_FORMAT_AUTO},       {"-", SAP_FORMAT_AUTO},
                 {"a.ply/b", SAP_FORMAT_AUTO}};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        NOTE("%s", paths[i].path);
        CHECK_EQUAL(sap_format_of(paths[i].path), paths[i].format);
    }
    CHECK_EQUAL(sap_format_of(NULL), SAP_FORMAT_AUTO);
    end(&r);
}

TEST(files_on_disk) {
    reading r;
    folder f = {"", ""};
    begin(&r);
    if (!CHECK(folder_make(&f))) return;
    for (int i = 0; i < SAMPLES; i++) {
        sample s = sample_number(i);
        sap_point_set* set = NULL;
        FILE* file = fopen(f.file, "wb");
        CHECK(file && fwrite(s.bytes, 1, s.size, file) == s.size);
        if (file) fclose(file);
        NOTE("%s", s.name);
        CHECK_STATUS(sap_points_read(r.device, f.file, SAP_FORMAT_AUTO, 0, &set), SAP_OK);
        for (int64_t j = 0; set && j < 6; j++) CHECK(value_of(set, j) == two_points[j]);
        sap_point_set_free(set);
    }
    sap_point_set* set = NULL;
    NOTE("%s", "no such file");
    CHECK_STATUS(sap_points_read(r.device, "/nonexistent/a.ply", SAP_FORMAT_AUTO, 0, &set), SAP_ERROR_IO);
    CHECK(strstr(r.w.sentence, "/nonexistent/a.ply") != NULL);
    NOTE("%s", "a folder");
    CHECK_STATUS(sap_points_read(r.device, f.path, SAP_FORMAT_XYZ, 0, &set), SAP_ERROR_IO);
    NOTE("%s", "an endless-looking file that is empty");
    CHECK_STATUS(sap_points_read(r.device, "/dev/null", SAP_FORMAT_AUTO, 0, &set), SAP_ERROR_FORMAT);
    CHECK(set == NULL);
    folder_remove(&f);
    end(&r);
}

TEST(options_of_files) {
    reading r;
    folder f = {"", ""};
    begin(&r);
    if (!CHECK(folder_make(&f))) return;
    FILE* file = fopen(f.file, "wb");
    CHECK(file && fputs(PLACES, file) >= 0);
    if (file) fclose(file);
    sap_point_set* set = NULL;
    sap_points_read_options options = {.columns = "lon,lat"};
    CHECK_STATUS(sap_points_read_with(r.device, f.file, SAP_FORMAT_CSV, 64, &options, &set), SAP_OK);
    if (set && CHECK_EQUAL(set->count, 2) && CHECK_EQUAL(set->dims, 2))
        CHECK(value_of(set, 0) == 2 && value_of(set, 1) == 1 && value_of(set, 3) == 3);
    sap_point_set_free(set);
    set = NULL;
    options.columns = "lon,height";
    CHECK_STATUS(sap_points_read_with(r.device, f.file, SAP_FORMAT_CSV, 64, &options, &set), SAP_ERROR_ARGUMENT);
    CHECK(strstr(r.w.sentence, f.file) && strstr(r.w.sentence, "'height'"));
    options = (sap_points_read_options){.reserved = {1}};
    CHECK_STATUS(sap_points_read_with(r.device, f.file, SAP_FORMAT_CSV, 64, &options, &set), SAP_ERROR_ARGUMENT);
    CHECK(set == NULL);
    folder_remove(&f);
    end(&r);
}

TEST(pipes) {
    reading r;
    begin(&r);
    int ends[2];
    if (!CHECK(pipe(ends) == 0)) return;
    // Through /dev/fd a pipe is opened by name: it cannot be mapped, and its size is not known.
    char path[32], row[] = "1 2 3\n";
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    for (int i = 0; i < 10000; i++) CHECK(write(ends[1], row, strlen(row)) == (ssize_t)strlen(row));
    close(ends[1]);
    sap_point_set* set = NULL;
    CHECK_STATUS(sap_points_read(r.device, path, SAP_FORMAT_AUTO, 0, &set), SAP_OK);
    if (set) CHECK_EQUAL(set->count, 10000);
    sap_point_set_free(set);
    close(ends[0]);
    end(&r);
}

TEST(comma_locale) {
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "de_DE.utf8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
        SKIP("no locale with a decimal comma on this machine");
    reading r;
    begin(&r);
    for (int i = 0; i < SAMPLES; i++) {
        sample s = sample_number(i);
        bool wide = strstr(s.name, "endian") || strstr(s.name, "2.0");
        expect(&r, &s, SAP_FORMAT_AUTO, 2, 3, wide ? 64 : 32, two_points);
    }
    end(&r);
    setlocale(LC_ALL, "C");
}

// More bytes than 32 bits can count, all but a few of them a hole in the file.
TEST(beyond_4_gigabytes) {
    if (sizeof(size_t) < 8) SKIP("no such files on this machine");
    static const char header[] = "ply\nformat binary_little_endian 1.0\nelement hole 5000000000\nproperty uchar a\n"
                                 "element vertex 2\nproperty uchar x\nproperty uchar y\nend_header\n";
    const int64_t hole = 5000000000, length = (int64_t)sizeof header - 1;
    reading r;
    folder f = {"", ""};
    begin(&r);
    if (!CHECK(folder_make(&f))) return;
    FILE* file = fopen(f.file, "wb");
    CHECK(file && fwrite(header, 1, sizeof header - 1, file) == sizeof header - 1);
    bool written = file && fseeko(file, hole, SEEK_CUR) == 0 && fwrite("abcd", 1, 4, file) == 4;
    if (file && fclose(file)) written = false;
    sap_point_set* set = NULL;
    if (written && CHECK_STATUS(sap_points_read(r.device, f.file, SAP_FORMAT_AUTO, 0, &set), SAP_OK) && set) {
        CHECK_EQUAL(set->count, 2);
        for (int i = 0; i < 4; i++) CHECK(value_of(set, i) == 'a' + i);
    }
    sap_point_set_free(set);
    set = NULL;
    if (written && CHECK(truncate(f.file, length + hole + 3) == 0)) {
        CHECK_STATUS(sap_points_read(r.device, f.file, SAP_FORMAT_AUTO, 0, &set), SAP_ERROR_FORMAT);
        CHECK(strstr(r.w.sentence, "5000000") != NULL);
    }
    folder_remove(&f);
    end(&r);
    if (!written) SKIP("no files of this size in the folder for temporary ones");
}

TEST_MAIN()
