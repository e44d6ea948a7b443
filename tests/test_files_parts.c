// Parts of files: put one behind the other they are the file, read and written.
#include "file_reading.h"
#include "folder.h"
#include <unistd.h>

enum { POINTS = 13, DIMS = 3 };

static const char* path_in(const folder* f, const char* name) {
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", f->path, name);
    return path;
}

static void make_points(float* coords) {
    for (int i = 0; i < POINTS * DIMS; i++) coords[i] = (float)((i * 7919) % 1000) / 8;
}

static const void* row_of(const sap_point_set* set, int64_t row) {
    const size_t bytes = (size_t)set->real_bits / 8 * (size_t)set->dims;
    const void* coords = set->real_bits == 64 ? (const void*)set->coords_f64 : (const void*)set->coords;
    return (const unsigned char*)coords + bytes * (size_t)row;
}

// All parts of a file, in turn, beside the whole.
static void check_parts(reading* r, const char* path, int32_t parts) {
    sap_point_set* whole = NULL;
    if (!CHECK_STATUS(sap_points_read(r->device, path, SAP_FORMAT_AUTO, 0, &whole), SAP_OK)) return;
    int64_t next = 0;
    for (int32_t p = 0; p < parts; p++) {
        sap_point_set* set = NULL;
        int64_t first = -1, all = -1;
        const sap_status status = sap_points_read_part(r->device, path, SAP_FORMAT_AUTO, whole->real_bits, NULL, p,
                                                       parts, &first, &all, &set);
        if (!CHECK_STATUS(status, SAP_OK)) {
            printf("  %s\n", r->w.sentence);
            break;
        }
        CHECK_EQUAL(first, next);
        CHECK_EQUAL(all, whole->count);
        CHECK_EQUAL(set->count, whole->count / parts + (p < whole->count % parts));
        CHECK_EQUAL(set->dims, whole->dims);
        for (int64_t row = 0; row < set->count; row++)
            CHECK(!memcmp(row_of(set, row), row_of(whole, first + row), (size_t)whole->real_bits / 8 * DIMS));
        next += set->count;
        sap_point_set_free(set);
    }
    CHECK_EQUAL(next, whole->count);
    sap_point_set_free(whole);
}

static void write_sample(const char* path, const sample* s) {
    FILE* file = fopen(path, "wb");
    CHECK(file != NULL);
    if (!file) return;
    CHECK_EQUAL(fwrite(s->bytes, 1, s->size, file), s->size);
    fclose(file);
}

TEST(parts_make_the_whole) {
    static const char* const names[] = {"a.npy", "a.ply", "a.pcd", "a.las"};
    static const int32_t many[] = {1, 2, 3, 5, 13, 20};
    float coords[POINTS * DIMS];
    folder f = {"", ""};
    reading r;
    begin(&r);
    make_points(coords);
    if (CHECK(folder_make(&f)))
        for (int i = 0; i < 4; i++)
            for (int64_t count = 0; count <= POINTS; count += POINTS) {
                const sap_point_set set = {.count = count, .dims = DIMS, .real_bits = 32, .coords = coords};
                CHECK_STATUS(sap_points_write(r.device, path_in(&f, names[i]), SAP_FORMAT_AUTO, &set, NULL), SAP_OK);
                for (size_t p = 0; p < sizeof many / sizeof *many; p++) check_parts(&r, path_in(&f, names[i]), many[p]);
            }
    folder_remove(&f);
    end(&r);
}

// Columns that lie one behind another; integers, which each part judges by itself.
TEST(parts_of_other_arrays) {
    folder f = {"", ""};
    reading r;
    begin(&r);
    if (CHECK(folder_make(&f))) {
        sample s = npy_sample("fortran", 1, "{'descr': '<f4', 'fortran_order': True, 'shape': (5, 3), }");
        for (int i = 0; i < 15; i++) put_float(&s, (float)i, false);
        write_sample(path_in(&f, "fortran.npy"), &s);
        check_parts(&r, path_in(&f, "fortran.npy"), 2);
        check_parts(&r, path_in(&f, "fortran.npy"), 7);
        s = npy_sample("integers", 1, "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 1), }");
        put_int(&s, 1, 4, false);
        put_int(&s, 16777217, 4, false);
        write_sample(path_in(&f, "integers.npy"), &s);
        for (int32_t p = 0; p < 2; p++) {
            sap_point_set* set = NULL;
            CHECK_STATUS(sap_points_read_part(r.device, path_in(&f, "integers.npy"), SAP_FORMAT_AUTO, 0, NULL, p, 2,
                                              NULL, NULL, &set),
                         SAP_OK);
            if (set) CHECK_EQUAL(set->real_bits, p ? 64 : 32);
            sap_point_set_free(set);
        }
    }
    folder_remove(&f);
    end(&r);
}

static sap_status read_one(reading* r, const char* path, const sap_points_read_options* options, int32_t part,
                           int32_t parts) {
    sap_point_set* set = NULL;
    r->w.log_calls = 0;
    const sap_status status =
        sap_points_read_part(r->device, path, SAP_FORMAT_AUTO, 0, options, part, parts, NULL, NULL, &set);
    CHECK(status == SAP_OK ? set != NULL : set == NULL);
    sap_point_set_free(set);
    return status;
}

// A text and its length.
#define BYTES(text) text, sizeof(text) - 1

TEST(what_has_no_parts) {
    static const struct {
        const char *name, *bytes;
        size_t size;
    } whole[] = {{"a.xyz", BYTES("1 2 3\n")},
                 {"a.csv", BYTES("x,y\n1,2\n")},
                 {"a.ply", BYTES("ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n")},
                 {"b.ply", BYTES("ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty char x\n"
                                 "property list uchar char y\nend_header\n\1\0")},
                 {"a.pcd", BYTES("FIELDS x\nSIZE 4\nTYPE F\nCOUNT 1\nWIDTH 1\nHEIGHT 1\nDATA ascii\n1\n")},
                 {"a.npy", BYTES("\x1f\x8b\x08")},
                 {"a.npz", BYTES("PK\3\4")}};
    folder f = {"", ""};
    reading r;
    begin(&r);
    if (CHECK(folder_make(&f)))
        for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
            sample s = {.size = 0};
            memcpy(s.bytes, whole[i].bytes, whole[i].size);
            s.size = whole[i].size;
            write_sample(path_in(&f, whole[i].name), &s);
            if (!CHECK_STATUS(read_one(&r, path_in(&f, whole[i].name), NULL, 0, 2), SAP_ERROR_UNSUPPORTED))
                printf("  %s: %s\n", whole[i].name, r.w.sentence);
            CHECK_EQUAL(r.w.log_calls, 1);
        }
    folder_remove(&f);
    end(&r);
}

TEST(parts_are_refused) {
    folder f = {"", ""};
    reading r;
    begin(&r);
    if (CHECK(folder_make(&f))) {
        sample s = npy_sample("rows", 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 1), }");
        for (int i = 0; i < 3; i++) put_float(&s, (float)i, false);
        write_sample(path_in(&f, "a.npy"), &s); // cut: no part of it is read
        for (int32_t p = 0; p < 4; p++) CHECK_STATUS(read_one(&r, path_in(&f, "a.npy"), NULL, p, 4), SAP_ERROR_FORMAT);
        put_float(&s, 3, false);
        write_sample(path_in(&f, "a.npy"), &s);
        CHECK_STATUS(read_one(&r, path_in(&f, "a.npy"), NULL, 0, 4), SAP_OK);
        CHECK_STATUS(read_one(&r, path_in(&f, "a.npy"), NULL, 4, 4), SAP_ERROR_ARGUMENT);
        CHECK_STATUS(read_one(&r, path_in(&f, "a.npy"), NULL, -1, 4), SAP_ERROR_ARGUMENT);
        CHECK_STATUS(read_one(&r, path_in(&f, "a.npy"), NULL, 0, 0), SAP_ERROR_ARGUMENT);
        const sap_points_read_options fields = {.with_fields = true};
        CHECK_STATUS(read_one(&r, path_in(&f, "a.npy"), &fields, 0, 2), SAP_ERROR_UNSUPPORTED);
        CHECK_STATUS(read_one(&r, path_in(&f, "absent.npy"), NULL, 0, 2), SAP_ERROR_IO);
        r.limit = 0;
        CHECK_STATUS(read_one(&r, path_in(&f, "a.npy"), NULL, 1, 2), SAP_ERROR_MEMORY);
    }
    folder_remove(&f);
    end(&r);
}

static size_t bytes_of(const char* path, unsigned char* bytes, size_t room) {
    FILE* file = fopen(path, "rb");
    CHECK(file != NULL);
    if (!file) return 0;
    const size_t size = fread(bytes, 1, room, file);
    fclose(file);
    return size;
}

TEST(parts_are_written) {
    static const sap_number numbers[] = {SAP_INT32, SAP_INT64, SAP_FLOAT32, SAP_FLOAT64};
    unsigned char values[POINTS * 3 * 8], expected[1024], made[1024];
    folder f = {"", ""};
    reading r;
    begin(&r);
    for (size_t i = 0; i < sizeof values; i++) values[i] = (unsigned char)(i * 31);
    for (int i = 0; CHECK(folder_make(&f)) && i < 16; i++) {
        const int64_t columns = i / 4 % 2 ? 3 : 0, rows = i / 8 ? POINTS : 0;
        const sap_table all = {.values = values, .rows = rows, .columns = columns, .number = numbers[i % 4]};
        const size_t row = (size_t)(columns ? columns : 1) * (i % 2 ? 8 : 4);
        CHECK_STATUS(sap_table_write(r.device, path_in(&f, "all.npy"), SAP_FORMAT_NPY, all), SAP_OK);
        const size_t size = bytes_of(path_in(&f, "all.npy"), expected, sizeof expected);
        for (int64_t p = 4; p >= 0; p--) { // the last part first
            const int64_t first = rows * p / 5, end = rows * (p + 1) / 5;
            sap_table part = all;
            part.values = values + (size_t)first * row;
            part.rows = end - first;
            CHECK_STATUS(sap_table_write_part(r.device, path_in(&f, "parts.npy"), part, first, rows), SAP_OK);
        }
        CHECK_EQUAL(bytes_of(path_in(&f, "parts.npy"), made, sizeof made), size);
        CHECK(!memcmp(made, expected, size));
        folder_remove(&f);
    }
    end(&r);
}

TEST(parts_are_not_written) {
    const int32_t values[4] = {1, 2, 3, 4};
    reading r;
    begin(&r);
    sap_table table = {.values = values, .rows = 4, .number = SAP_INT32};
    CHECK_STATUS(sap_table_write_part(NULL, "a", table, 0, 4), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_table_write_part(r.device, NULL, table, 0, 4), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_table_write_part(r.device, "/absent/a.npy", table, 1, 4), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_table_write_part(r.device, "/absent/a.npy", table, -1, 4), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_table_write_part(r.device, "/absent/a.npy", table, 0, 4), SAP_ERROR_IO);
    CHECK_STATUS(sap_table_write_part(r.device, "/absent/a.npy", table, 0, INT64_MAX / 2), SAP_ERROR_RANGE);
    if (!access("/dev/full", W_OK))
        CHECK_STATUS(sap_table_write_part(r.device, "/dev/full", table, 0, 4), SAP_ERROR_IO);
    table.values = NULL;
    CHECK_STATUS(sap_table_write_part(r.device, "/absent/a.npy", table, 0, 4), SAP_ERROR_ARGUMENT);
    end(&r);
}

TEST_MAIN()
