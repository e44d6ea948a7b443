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
    CHECK_STATUS(sap_points_parse(r.device, "1", 1, (sap_format)8, 0, &set), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_points_parse(r.device, "1", 1, (sap_format)-1, 0, &set), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_points_parse(r.device, "1", 1, SAP_FORMAT_XYZ, 0, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_points_read(NULL, "a.xyz", SAP_FORMAT_AUTO, 0, &set), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_points_read(r.device, NULL, SAP_FORMAT_AUTO, 0, &set), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_points_read(r.device, "a.xyz", (sap_format)9, 0, &set), SAP_ERROR_ARGUMENT);
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
