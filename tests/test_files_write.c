// What is written reads back as the same values, and a file that cannot be completed leaves the older one alone.
#include "allocator.h"
#include "folder.h"
#include "sapwood/files.h"
#include "test.h"
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

typedef struct writing_test {
    watch w;
    sap_device* device;
    folder f;
    char path[160];
} writing_test;

static bool begin(writing_test* t) {
    memset(t, 0, sizeof *t);
    sap_device_options options = watched(&t->w);
    return CHECK_STATUS(sap_device_open(&options, &t->device), SAP_OK) && CHECK(folder_make(&t->f));
}

static void end(writing_test* t) {
    sap_device_close(t->device);
    CHECK_EQUAL(folder_count(&t->f, false), 0);
    folder_remove(&t->f);
    CHECK_EQUAL(t->w.blocks, 0);
    CHECK_EQUAL(t->w.wrong, 0);
}

static const char* path_of(writing_test* t, const char* name) {
    snprintf(t->path, sizeof t->path, "%s/%s", t->f.path, name);
    return t->path;
}

// The bytes of a file as a text; the number of them.
static size_t content(const char* path, char* text, size_t room) {
    FILE* file = fopen(path, "rb");
    size_t size = file ? fread(text, 1, room - 1, file) : 0;
    text[size] = 0;
    if (file) fclose(file);
    return size;
}

static const float floats[12] = {0,     -0.0f,    0.1f,       1e-45f, 3.4028235e38f, -123456792.0f,
                                 1e10f, 16777216, 0.3333333f, -2.5f,  1e-20f,        7};
static const double doubles[12] = {0,    -0.0, 0.1,     5e-324, 1.7976931348623157e308, -1.0 / 3, 1e22, 123456789.125,
                                   1e-7, -2.5, 6.02e23, 7};
static const int32_t ints[12] = {0, -1, INT32_MAX, INT32_MIN, 5, 6, 16777217, 8, 9, 10, 11, 12};
static const int64_t longs[12] = {0, -1, INT32_MAX, INT32_MIN, 5, 6, 16777217, 8, 9, 10, 11, 12};
static const void* const values[4] = {ints, longs, floats, doubles};

static double value_at(sap_number number, int i) {
    switch (number) {
    case SAP_INT32: return ints[i];
    case SAP_INT64: return (double)longs[i];
    case SAP_FLOAT32: return (double)floats[i];
    default: return doubles[i];
    }
}

static void round_trip(writing_test* t, const char* name, sap_number number, int64_t rows, int64_t columns) {
    sap_table table = {values[number], rows, columns, number, NULL};
    sap_point_set* set = NULL;
    int64_t dims = columns ? columns : 1;
    NOTE("%s, number type %d, %lld x %lld", name, (int)number, (long long)rows, (long long)columns);
    const char* path = path_of(t, name);
    CHECK_STATUS(sap_table_write(t->device, path, SAP_FORMAT_AUTO, table), SAP_OK);
    CHECK_EQUAL(folder_count(&t->f, false), 1);
    CHECK_STATUS(sap_points_read(t->device, path, SAP_FORMAT_AUTO, 0, &set), SAP_OK);
    unlink(path);
    if (!set) return;
    CHECK_EQUAL(set->count, rows);
    CHECK_EQUAL(set->dims, dims);
    bool single = number == SAP_FLOAT32 || rows == 0;
    if (number == SAP_FLOAT64 && rows) CHECK_EQUAL(set->real_bits, 64);
    if (single && number == SAP_FLOAT32) CHECK_EQUAL(set->real_bits, 32);
    for (int64_t i = 0; i < rows * dims; i++) {
        double value = set->coords ? (double)set->coords[i] : set->coords_f64[i];
        double expected = value_at(number, (int)i);
        CHECK(value == expected && signbit(value) == signbit(expected));
    }
    sap_point_set_free(set);
}

static void round_trips(writing_test* t) {
    static const char* const names[] = {"a.npy", "a.ply", "a.csv", "a.xyz", "a.txt"};
    for (int i = 0; i < 5; i++) {
        for (int number = SAP_INT32; number <= SAP_FLOAT64; number++) {
            round_trip(t, names[i], (sap_number)number, 4, 3);
            round_trip(t, names[i], (sap_number)number, 12, 0);
            round_trip(t, names[i], (sap_number)number, 6, 2);
            round_trip(t, names[i], (sap_number)number, 3, 4);
            round_trip(t, names[i], (sap_number)number, 1, 12);
            round_trip(t, names[i], (sap_number)number, 0, 3);
            round_trip(t, names[i], (sap_number)number, 0, 0);
            round_trip(t, names[i], (sap_number)number, 0, 16);
        }
    }
}

TEST(written_reads_back) {
    writing_test t;
    if (!begin(&t)) return;
    round_trips(&t);
    end(&t);
}

TEST(written_reads_back_in_a_comma_locale) {
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "de_DE.utf8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
        SKIP("no locale with a decimal comma on this machine");
    writing_test t;
    if (!begin(&t)) return;
    round_trips(&t);
    end(&t);
    setlocale(LC_ALL, "C");
}

TEST(exact_bytes) {
    static const char* const names[] = {"id", "a,\"b\""};
    static const struct {
        const char *name, *text;
        sap_table table;
    } cases[] = {
        {"a.csv", "x,y,z,c3\n0,-1,2147483647,-2147483648\n", {ints, 1, 4, SAP_INT32, NULL}},
        {"a.csv", "id,\"a,\"\"b\"\"\"\n0,-1\n", {longs, 1, 2, SAP_INT64, names}},
        {"a.csv", "x\n0\n-0\n0.1\n1e-45\n", {floats, 4, 0, SAP_FLOAT32, NULL}},
        {"a.xyz", "# x y z c3\n", {floats, 0, 4, SAP_FLOAT32, NULL}},
        {"a.xyz", "0 -0 0.1\n", {doubles, 1, 3, SAP_FLOAT64, NULL}},
        {"a.ply",
         "ply\nformat binary_little_endian 1.0\nelement vertex 0\nproperty float x\nproperty float y\nend_header\n",
         {floats, 0, 2, SAP_FLOAT32, NULL}},
        {"a.npy", "\x93NUMPY\x01", {floats, 0, 2, SAP_FLOAT32, NULL}}};
    writing_test t;
    char text[512] = "";
    if (!begin(&t)) return;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char* path = path_of(&t, cases[i].name);
        NOTE("case %zu", i);
        CHECK_STATUS(sap_table_write(t.device, path, SAP_FORMAT_AUTO, cases[i].table), SAP_OK);
        size_t size = content(path, text, sizeof text);
        CHECK_TEXT(text, cases[i].text);
        if (strstr(path, "npy")) {
            CHECK_EQUAL(size, 128);
            static const char header[] = "v\0{'descr': '<f4', 'fortran_order': False, 'shape': (0, 2), }  ";
            CHECK(!memcmp(text + 8, header, sizeof header - 1));
            CHECK_EQUAL(text[127], '\n');
        }
        unlink(path);
    }
    end(&t);
}

TEST(large_tables) {
    // More than the buffer holds, in one piece and in many.
    enum { ROWS = 40000 };
    writing_test t;
    static float coords[ROWS * 3];
    if (!begin(&t)) return;
    for (int i = 0; i < ROWS * 3; i++) coords[i] = (float)i / 7;
    static const char* const names[] = {"a.npy", "a.ply", "a.csv", "a.xyz"};
    for (int i = 0; i < 4; i++) {
        sap_table table = {coords, ROWS, 3, SAP_FLOAT32, NULL};
        sap_point_set* set = NULL;
        NOTE("%s", names[i]);
        CHECK_STATUS(sap_table_write(t.device, path_of(&t, names[i]), SAP_FORMAT_AUTO, table), SAP_OK);
        CHECK_STATUS(sap_points_read(t.device, t.path, SAP_FORMAT_AUTO, 0, &set), SAP_OK);
        if (set && CHECK_EQUAL(set->count, ROWS) && CHECK_EQUAL(set->real_bits, 32))
            for (int64_t j = 0; set->coords && j < (int64_t)ROWS * 3; j++) CHECK(set->coords[j] == coords[j]);
        sap_point_set_free(set);
        unlink(t.path);
    }
    end(&t);
}

TEST(write_refuses) {
    writing_test t;
    if (!begin(&t)) return;
    const char* blank[] = {"a b", "c", "d"};
    const char* repeated[] = {"a", "b", "a"};
    const char* missing[] = {"a", NULL, "d"};
    const int64_t wide[] = {(int64_t)INT32_MAX + 1, 0, 0};
    sap_table good = {floats, 1, 3, SAP_FLOAT32, NULL};
    const struct {
        const char* path;
        sap_format format;
        sap_table table;
        sap_status status;
        const char* word;
    } cases[] = {{NULL, SAP_FORMAT_NPY, good, SAP_ERROR_ARGUMENT, "path"},
                 {"a.npy", (sap_format)99, good, SAP_ERROR_ARGUMENT, "format"},
                 {"a.npy", (sap_format)-1, good, SAP_ERROR_ARGUMENT, "format"},
                 {"a.npy", SAP_FORMAT_PCD, good, SAP_ERROR_UNSUPPORTED, "PCD"},
                 {"a.pcd", SAP_FORMAT_AUTO, good, SAP_ERROR_UNSUPPORTED, "PCD"},
                 {"a.bin", SAP_FORMAT_AUTO, good, SAP_ERROR_UNSUPPORTED, "a.bin"},
                 {"-", SAP_FORMAT_AUTO, good, SAP_ERROR_UNSUPPORTED, "format"},
                 {"a.npy", SAP_FORMAT_AUTO, {NULL, 1, 3, SAP_FLOAT32, NULL}, SAP_ERROR_ARGUMENT, "values"},
                 {"a.npy", SAP_FORMAT_AUTO, {floats, -1, 3, SAP_FLOAT32, NULL}, SAP_ERROR_ARGUMENT, "rows"},
                 {"a.npy", SAP_FORMAT_AUTO, {floats, 1, -3, SAP_FLOAT32, NULL}, SAP_ERROR_ARGUMENT, "columns"},
                 {"a.npy", SAP_FORMAT_AUTO, {floats, INT64_MAX, 2, SAP_FLOAT32, NULL}, SAP_ERROR_ARGUMENT, "rows"},
                 {"a.npy", SAP_FORMAT_AUTO, {floats, INT64_MAX, 1, SAP_FLOAT64, NULL}, SAP_ERROR_ARGUMENT, "rows"},
                 {"a.npy", SAP_FORMAT_AUTO, {floats, 1, 3, (sap_number)4, NULL}, SAP_ERROR_ARGUMENT, "number"},
                 {"a.ply", SAP_FORMAT_AUTO, {floats, 1, 3, SAP_FLOAT32, blank}, SAP_ERROR_ARGUMENT, "'a b'"},
                 {"a.ply", SAP_FORMAT_AUTO, {floats, 1, 3, SAP_FLOAT32, repeated}, SAP_ERROR_ARGUMENT, "names: 'a'"},
                 {"a.csv", SAP_FORMAT_AUTO, {floats, 1, 3, SAP_FLOAT32, repeated}, SAP_ERROR_ARGUMENT, "names: 'a'"},
                 {"a.csv", SAP_FORMAT_AUTO, {floats, 1, 3, SAP_FLOAT32, missing}, SAP_ERROR_ARGUMENT, "column 1"},
                 {"a.ply", SAP_FORMAT_AUTO, {wide, 1, 3, SAP_INT64, NULL}, SAP_ERROR_UNSUPPORTED, "2147483648"},
                 {"no/such/folder/a.npy", SAP_FORMAT_AUTO, good, SAP_ERROR_IO, "no/such/folder/a.npy"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        NOTE("case %zu", i);
        t.w.log_calls = 0;
        bool file = cases[i].path && strcmp(cases[i].path, "-") != 0;
        const char* path = file ? path_of(&t, cases[i].path) : cases[i].path;
        CHECK_STATUS(sap_table_write(t.device, path, cases[i].format, cases[i].table), cases[i].status);
        CHECK_EQUAL(t.w.log_calls, 1);
        if (!CHECK(strstr(t.w.sentence, cases[i].word) != NULL)) printf("  %s\n", t.w.sentence);
    }
    NOTE("%s", "NULLs");
    CHECK_STATUS(sap_table_write(NULL, "a.npy", SAP_FORMAT_AUTO, good), SAP_ERROR_ARGUMENT);
    NOTE("%s", "no memory");
    t.w.requests = 0;
    t.w.fail_from = 1;
    CHECK_STATUS(sap_table_write(t.device, path_of(&t, "a.npy"), SAP_FORMAT_AUTO, good), SAP_ERROR_MEMORY);
    t.w.fail_from = 0;
    end(&t);
}

TEST(full_disk) {
    writing_test t;
    if (access("/dev/full", W_OK)) SKIP("no /dev/full on this machine");
    if (!begin(&t)) return;
    sap_table table = {floats, 4, 3, SAP_FLOAT32, NULL};
    for (int format = SAP_FORMAT_PLY; format <= SAP_FORMAT_NPY; format++) {
        CHECK_STATUS(sap_table_write(t.device, "/dev/full", (sap_format)format, table), SAP_ERROR_IO);
        CHECK(strstr(t.w.sentence, "/dev/full") != NULL);
    }
    CHECK_STATUS(sap_table_write(t.device, "/dev/null", SAP_FORMAT_CSV, table), SAP_OK);
    end(&t);
}

// A limit on the size of files stands for a disk that fills up on the way.
TEST(older_file_survives) {
    enum { ROWS = 100000 };
    writing_test t;
    char text[64] = "";
    static const int32_t many[ROWS];
    if (!begin(&t)) return;
    const char* path = path_of(&t, "a.xyz");
    sap_table small = {ints, 1, 1, SAP_INT32, NULL}, large = {many, ROWS, 1, SAP_INT32, NULL};
    CHECK_STATUS(sap_table_write(t.device, path, SAP_FORMAT_AUTO, small), SAP_OK);
    struct rlimit before, limited;
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    limited = before;
    limited.rlim_cur = 1 << 16;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &limited) == 0);
    CHECK_STATUS(sap_table_write(t.device, path, SAP_FORMAT_AUTO, large), SAP_ERROR_IO);
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    signal(SIGXFSZ, handler);
    CHECK_EQUAL(folder_count(&t.f, false), 1);
    content(path, text, sizeof text);
    CHECK_TEXT(text, "0\n");
    CHECK_STATUS(sap_table_write(t.device, path, SAP_FORMAT_AUTO, large), SAP_OK);
    CHECK_EQUAL(folder_count(&t.f, false), 1);
    struct stat about;
    CHECK(stat(path, &about) == 0 && about.st_size == (off_t)2 * ROWS);
    unlink(path);
    end(&t);
}

TEST(links_and_permissions_stay) {
    writing_test t;
    if (!begin(&t)) return;
    char link_path[160], text[64];
    sap_table table = {ints, 1, 1, SAP_INT32, NULL};
    snprintf(link_path, sizeof link_path, "%s", path_of(&t, "link.xyz"));
    const char* path = path_of(&t, "a.xyz");
    CHECK_STATUS(sap_table_write(t.device, path, SAP_FORMAT_AUTO, table), SAP_OK);
    CHECK(chmod(path, 0640) == 0 && symlink(path, link_path) == 0);
    table.rows = 2;
    CHECK_STATUS(sap_table_write(t.device, link_path, SAP_FORMAT_AUTO, table), SAP_OK);
    struct stat about;
    CHECK(lstat(link_path, &about) == 0 && S_ISLNK(about.st_mode));
    CHECK(stat(path, &about) == 0 && (about.st_mode & 0777) == 0640);
    content(path, text, sizeof text);
    CHECK_TEXT(text, "0\n-1\n");
    unlink(link_path);
    unlink(path);
    end(&t);
}

TEST_MAIN()
