// LAS of every version and point format, read and written byte for byte, and what is refused.
#include "file_reading.h"
#include "folder.h"
#include "las_samples.h"

static sap_point_set* read_fields(reading* r, const void* bytes, size_t size, int32_t real_bits) {
    sap_point_set* set = NULL;
    void* copy = exact_copy(bytes, size);
    const sap_points_read_options options = {.with_fields = true};
    if (!CHECK_STATUS(sap_points_parse_with(r->device, copy, size, SAP_FORMAT_AUTO, real_bits, &options, &set), SAP_OK))
        printf("  %s\n", r->w.sentence);
    free(copy);
    return set;
}

static const sap_field* field_of(const sap_point_set* set, const char* name) {
    for (int32_t i = 0; i < set->field_count; i++)
        if (!strcmp(set->fields[i].name, name)) return &set->fields[i];
    return NULL;
}

static double number_of(const sap_point_set* set, const char* name, int64_t row) {
    const sap_field* field = field_of(set, name);
    if (!field) return NAN;
    switch (field->type) {
    case SAP_FIELD_U8: return ((const uint8_t*)field->values)[row];
    case SAP_FIELD_I8: return ((const int8_t*)field->values)[row];
    case SAP_FIELD_U16: return ((const uint16_t*)field->values)[row];
    case SAP_FIELD_I16: return ((const int16_t*)field->values)[row];
    case SAP_FIELD_U32: return ((const uint32_t*)field->values)[row];
    case SAP_FIELD_I32: return ((const int32_t*)field->values)[row];
    case SAP_FIELD_U64: return (double)((const uint64_t*)field->values)[row];
    case SAP_FIELD_I64: return (double)((const int64_t*)field->values)[row];
    case SAP_FIELD_F32: return (double)((const float*)field->values)[row];
    default: return ((const double*)field->values)[row];
    }
}

// The bytes that a set is written as.
static size_t written(reading* r, const sap_point_set* set, const char* name, const sap_points_write_options* options,
                      unsigned char* bytes, size_t room) {
    folder f = {"", ""};
    char path[200];
    size_t size = 0;
    if (!CHECK(folder_make(&f))) return 0;
    snprintf(path, sizeof path, "%s/%s", f.path, name);
    if (!CHECK_STATUS(sap_points_write(r->device, path, SAP_FORMAT_AUTO, set, options), SAP_OK))
        printf("  %s\n", r->w.sentence);
    FILE* file = fopen(path, "rb");
    if (file) {
        size = fread(bytes, 1, room, file);
        fclose(file);
    }
    folder_remove(&f);
    return size;
}

static void check_fields(const sap_point_set* set, const las_sample* s) {
    const bool late = s->format >= 6;
    for (int i = 0; i < LAS_POINTS; i++) {
        for (int a = 0; a < 3; a++) CHECK(value_of(set, 3 * i + a) == las_place(i, a));
        CHECK(number_of(set, "intensity", i) == 1000 + i);
        CHECK(number_of(set, "return_number", i) == 1 + i % 2);
        CHECK(number_of(set, "number_of_returns", i) == 2);
        CHECK(number_of(set, "scan_direction", i) == (late ? 0 : i & 1));
        CHECK(number_of(set, "edge_of_flight_line", i) == (late ? 1 : 0));
        CHECK(number_of(set, "classification", i) == (late ? 40 + i : 5));
        CHECK(number_of(set, "key_point", i) == 1);
        CHECK(number_of(set, "withheld", i) == 0);
        CHECK(number_of(set, late ? "scan_angle" : "scan_angle_rank", i) == (late ? -1200 : -12) + i);
        CHECK(number_of(set, "user_data", i) == 7 + i);
        CHECK(number_of(set, "point_source_id", i) == 300 + i);
        if (late) CHECK(number_of(set, "scanner_channel", i) == 2 && number_of(set, "overlap", i) == 1);
        if (las_has_time(s->format)) CHECK(number_of(set, "gps_time", i) == 1e8 + i / 3.0);
        if (las_has_colors(s->format)) CHECK(number_of(set, "red", i) == 65535 - i && number_of(set, "blue", i) == 7);
        if (s->format == 8 || s->format == 10) CHECK(number_of(set, "nir", i) == 999);
        if (las_has_wave(s->format))
            CHECK(number_of(set, "wave_offset", i) == 0x1p40 + i && number_of(set, "wave_dz", i) == 4.5);
        if (s->extras) CHECK(number_of(set, "height_cm", i) == (-100 + i) * 0.01 + 5);
        if (s->extras) CHECK(number_of(set, "amplitude", i) == (double)((float)i / 7));
    }
}

TEST(every_format_reads_and_writes_back) {
    reading r;
    static las_sample s;
    static unsigned char bytes[LAS_BYTES];
    begin(&r);
    for (int format = 0; format <= 10; format++)
        for (int minor = 0; minor <= 4; minor++)
            for (int extras = 0; extras < 2 && las_exists(format, minor); extras++) {
                NOTE("format %d of LAS 1.%d, extras %d", format, minor, extras);
                las_make(&s, format, minor, extras);
                sap_point_set* set = read_fields(&r, s.bytes, s.size, 0);
                if (!set) continue;
                CHECK_EQUAL(set->count, LAS_POINTS);
                CHECK(set->dims == 3 && set->real_bits == 64);
                check_fields(set, &s);
                const size_t size = written(&r, set, "a.las", NULL, bytes, sizeof bytes);
                CHECK_EQUAL(size, s.size);
                CHECK(size == s.size && !memcmp(bytes, s.bytes, size));
                sap_point_set_free(set);
            }
    end(&r);
}

TEST(points_alone) {
    reading r;
    static las_sample s;
    begin(&r);
    las_make(&s, 3, 2, true);
    sap_point_set* set = NULL;
    CHECK_STATUS(parse_as(&r, s.bytes, s.size, SAP_FORMAT_LAS, 32, &set), SAP_OK);
    if (set) {
        CHECK(set->real_bits == 32 && !set->field_count && !set->fields && !set->las);
        for (int i = 0; i < 3 * LAS_POINTS; i++) CHECK(set->coords[i] == (float)las_place(i / 3, i % 3));
    }
    sap_point_set_free(set);
    set = NULL;
    const sap_points_read_options options = {.columns = "intensity,z", .with_fields = true};
    CHECK_STATUS(sap_points_parse_with(r.device, s.bytes, s.size, SAP_FORMAT_AUTO, 0, &options, &set), SAP_OK);
    if (set) {
        CHECK(set->dims == 2 && value_of(set, 2) == 1001 && value_of(set, 3) == las_place(1, 2));
        CHECK(field_of(set, "x") && !field_of(set, "z") && !set->las);
    }
    sap_point_set_free(set);
    end(&r);
}

// What stands where in the header, and must not be so.
typedef struct lie {
    int format, minor;
    size_t at;
    int bytes;
    uint64_t value;
    sap_status status;
    const char* word;
} lie;

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

TEST(headers_that_lie) {
    const lie lies[] = {{0, 2, 0, 1, 'X', SAP_ERROR_FORMAT, "LASF"},
                        {0, 2, 24, 1, 2, SAP_ERROR_UNSUPPORTED, "2.2"},
                        {0, 2, 25, 1, 5, SAP_ERROR_UNSUPPORTED, "1.5"},
                        {0, 2, 94, 2, 226, SAP_ERROR_FORMAT, "226"},
                        {6, 4, 94, 2, 235, SAP_ERROR_FORMAT, "235"},
                        {0, 2, 94, 2, 65535, SAP_ERROR_FORMAT, "header ends"},
                        {0, 2, 96, 4, 100, SAP_ERROR_FORMAT, "begin at byte 100"},
                        {0, 2, 96, 4, UINT32_MAX, SAP_ERROR_FORMAT, "4294967295"},
                        {0, 2, 100, 4, 4, SAP_ERROR_FORMAT, "record 4 of 4"},
                        {0, 2, 100, 4, UINT32_MAX, SAP_ERROR_FORMAT, "record 4 of"},
                        {0, 2, 227 + 20, 2, 65535, SAP_ERROR_FORMAT, "record 1 of 3"},
                        {0, 2, 104, 1, 11, SAP_ERROR_UNSUPPORTED, "format 11"},
                        {0, 2, 105, 2, 19, SAP_ERROR_FORMAT, "20 bytes"},
                        {0, 2, 105, 2, 0, SAP_ERROR_FORMAT, "0; the file"},
                        {0, 2, 105, 2, 65535, SAP_ERROR_FORMAT, "point 1 of 3"},
                        {0, 2, 107, 4, 4, SAP_ERROR_FORMAT, "point 4 of 4"},
                        {0, 2, 107, 4, UINT32_MAX, SAP_ERROR_FORMAT, "4294967295"},
                        {6, 4, 247, 8, UINT64_MAX, SAP_ERROR_FORMAT, "18446744073709551615"},
                        {0, 2, 131, 8, 0, SAP_ERROR_FORMAT, "scale of x is 0"},
                        {0, 2, 139, 8, bits_of((double)NAN), SAP_ERROR_FORMAT, "scale of y"},
                        {0, 2, 147, 8, bits_of((double)INFINITY), SAP_ERROR_FORMAT, "scale of z"},
                        {0, 2, 155, 8, bits_of((double)NAN), SAP_ERROR_FORMAT, "offset of x"},
                        {6, 4, 235, 8, UINT64_MAX, SAP_ERROR_FORMAT, "18446744073709551615"},
                        {6, 4, 235, 8, 10, SAP_ERROR_FORMAT, "begin at byte 10"},
                        {6, 4, 243, 4, 2, SAP_ERROR_FORMAT, "record 2 of 2 behind"}};
    reading r;
    static las_sample s;
    begin(&r);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        const lie* l = &lies[i];
        sap_point_set* set = NULL;
        NOTE("case %zu", i);
        las_make(&s, l->format, l->minor, true);
        for (int b = 0; b < l->bytes; b++) s.bytes[l->at + (size_t)b] = (unsigned char)(l->value >> 8 * b);
        CHECK_STATUS(parse(&r, s.bytes, s.size, SAP_FORMAT_LAS, &set), l->status);
        if (!CHECK(strstr(r.w.sentence, l->word) != NULL)) printf("  %s\n", r.w.sentence);
        sap_point_set_free(set);
    }
    end(&r);
}

TEST(truncated_at_every_byte) {
    reading r;
    static las_sample s;
    begin(&r);
    las_make(&s, 7, 4, true);
    for (size_t size = 1; size < s.size; size++) {
        sap_point_set* set = NULL;
        NOTE("%zu bytes", size);
        r.largest = 0;
        CHECK(parse(&r, s.bytes, size, SAP_FORMAT_LAS, &set) != SAP_OK);
        CHECK(r.largest < 16 * size + 65536);
    }
    end(&r);
}

TEST(memory_fails) {
    reading r;
    static las_sample s;
    begin(&r);
    las_make(&s, 7, 4, true);
    const sap_points_read_options options = {.with_fields = true};
    for (int64_t request = 1;; request++) {
        sap_point_set* set = NULL;
        r.w.requests = 0;
        r.w.fail_from = request;
        const sap_status status = sap_points_parse_with(r.device, s.bytes, s.size, SAP_FORMAT_AUTO, 0, &options, &set);
        r.w.fail_from = 0;
        sap_point_set_free(set);
        if (status == SAP_OK) break;
        CHECK_STATUS(status, SAP_ERROR_MEMORY);
    }
    sap_point_set* set = read_fields(&r, s.bytes, s.size, 0);
    folder f = {"", ""};
    char path[200];
    if (!set || !CHECK(folder_make(&f))) return;
    snprintf(path, sizeof path, "%s/a.las", f.path);
    for (int64_t request = 1;; request++) {
        r.w.requests = 0;
        r.w.fail_from = request;
        const sap_status status = sap_points_write(r.device, path, SAP_FORMAT_AUTO, set, NULL);
        r.w.fail_from = 0;
        if (status == SAP_OK) break;
        CHECK_STATUS(status, SAP_ERROR_MEMORY);
        CHECK_EQUAL(folder_count(&f, false), 0);
    }
    sap_point_set_free(set);
    folder_remove(&f);
    end(&r);
}

// ---- Points that come from no LAS.

static const double places[6] = {481234.57, 5431234.12, 12.5, 481299.01, 5431200.5, -3.25};

// The first `beside` fields are what LAS has a place for, but cannot hold there: fields beside, of which the log is told.
static void check_fresh(reading* r, const sap_field* fields, int32_t count, int32_t beside, int format, int minor) {
    static unsigned char bytes[LAS_BYTES];
    const sap_point_set set = {
        .count = 2, .dims = 3, .real_bits = 64, .coords_f64 = places, .fields = fields, .field_count = count};
    r->w.log_calls = 0;
    const size_t size = written(r, &set, "a.las", NULL, bytes, sizeof bytes);
    CHECK_EQUAL(r->w.log_calls, beside);
    if (!CHECK(size > 227)) return;
    CHECK_EQUAL(bytes[25], minor);
    CHECK_EQUAL(bytes[104], format);
    sap_point_set* back = read_fields(r, bytes, size, 0);
    if (!back) return;
    for (int i = 0; i < 6; i++) CHECK(fabs(value_of(back, i) - places[i]) < 1e-6);
    for (int32_t f = 0; f < count; f++) {
        const sap_point_set one = {.count = 2, .fields = &fields[f], .field_count = 1};
        const bool color = format == 2 && fields[f].type == SAP_FIELD_U8;
        char name[32];
        snprintf(name, sizeof name, "%s%s", fields[f].name, f < beside ? "_2" : "");
        for (int i = 0; i < 2; i++)
            CHECK(number_of(back, name, i) == number_of(&one, fields[f].name, i) * (color ? 257 : 1));
    }
    sap_point_set_free(back);
}

TEST(points_from_elsewhere) {
    static const uint8_t bytes[2] = {0, 200}, classes[2] = {31, 32};
    static const double times[2] = {0.1, 1e9};
    static const float halves[2] = {0.5f, -0.25f};
    static const int64_t wide[2] = {INT64_MAX / 4, -5};
    static const uint16_t shorts[2] = {5, 65535};
    const sap_field colors[] = {
        {"red", SAP_FIELD_U8, bytes}, {"green", SAP_FIELD_U8, bytes}, {"blue", SAP_FIELD_U8, bytes}};
    const sap_field timed[] = {{"gps_time", SAP_FIELD_F64, times}, {"intensity", SAP_FIELD_U16, shorts}};
    const sap_field odd[] = {
        {"intensity", SAP_FIELD_F32, halves}, {"nx", SAP_FIELD_F32, halves}, {"id", SAP_FIELD_I64, wide}};
    const sap_field mixed[] = {
        {"red", SAP_FIELD_U8, bytes}, {"green", SAP_FIELD_F32, halves}, {"blue", SAP_FIELD_U8, bytes}};
    const sap_field latest[] = {{"classification", SAP_FIELD_U8, classes}};
    const sap_field infrared[] = {{"nir", SAP_FIELD_U16, shorts}};
    reading r;
    begin(&r);
    check_fresh(&r, NULL, 0, 0, 0, 2);
    check_fresh(&r, colors, 3, 0, 2, 2);
    check_fresh(&r, timed, 2, 0, 1, 2);
    check_fresh(&r, odd, 3, 1, 0, 2);
    check_fresh(&r, mixed, 3, 0, 0, 2);
    check_fresh(&r, latest, 1, 0, 6, 4);
    check_fresh(&r, infrared, 1, 0, 8, 4);
    end(&r);
}

// What a scan was measured with goes where its colours are not all of a kind, and points without returns are single ones.
TEST(fields_of_a_scan_that_no_longer_fit) {
    static unsigned char bytes[LAS_BYTES];
    static const float halves[LAS_POINTS] = {0.5f, 0.25f};
    static const uint8_t whole[LAS_POINTS] = {1, 200};
    const sap_field mixed[] = {
        {"red", SAP_FIELD_U8, whole}, {"green", SAP_FIELD_F32, halves}, {"blue", SAP_FIELD_U8, whole}};
    static las_sample s;
    reading r;
    begin(&r);
    las_make(&s, 2, 2, false);
    sap_point_set* set = read_fields(&r, s.bytes, s.size, 0);
    if (!set) return;
    sap_point_set changed = *set;
    changed.fields = mixed;
    changed.field_count = 3;
    r.w.log_calls = 0;
    const size_t size = written(&r, &changed, "a.las", NULL, bytes, sizeof bytes);
    CHECK_EQUAL(r.w.log_calls, 3);
    CHECK_EQUAL(bytes[104], 2);
    CHECK_EQUAL(bytes[111] | bytes[112] << 8, LAS_POINTS); // first returns
    sap_point_set* back = size ? read_fields(&r, bytes, size, 0) : NULL;
    for (int i = 0; back && i < LAS_POINTS; i++) {
        CHECK(number_of(back, "return_number", i) == 1 && number_of(back, "number_of_returns", i) == 1);
        CHECK(number_of(back, "red", i) == 0 && number_of(back, "red_2", i) == whole[i]);
        CHECK(number_of(back, "green_2", i) == (double)halves[i]);
    }
    sap_point_set_free(back);
    sap_point_set_free(set);
    end(&r);
}

TEST(coordinates_of_any_size) {
    static unsigned char bytes[LAS_BYTES];
    static const double sizes[] = {0, 1e-280, 1e-9, 1, 1e18, 1e308};
    reading r;
    begin(&r);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const double ends[6] = {-sizes[i], 0, 0, sizes[i], 0, 0};
        const sap_point_set set = {.count = 2, .dims = 3, .real_bits = 64, .coords_f64 = ends};
        NOTE("size %g", sizes[i]);
        const size_t size = written(&r, &set, "a.las", NULL, bytes, sizeof bytes);
        sap_point_set* back = size ? read_fields(&r, bytes, size, 0) : NULL;
        for (int c = 0; back && c < 6; c++) CHECK(fabs(value_of(back, c) - ends[c]) <= 1e-8 * sizes[i]);
        sap_point_set_free(back);
    }
    end(&r);
}

TEST(the_scale_that_is_asked_for) {
    static unsigned char bytes[LAS_BYTES];
    const sap_points_write_options options = {.scale = 0.25};
    const sap_point_set set = {.count = 2, .dims = 3, .real_bits = 64, .coords_f64 = places};
    reading r;
    begin(&r);
    const size_t size = written(&r, &set, "a.las", &options, bytes, sizeof bytes);
    sap_point_set* back = size ? read_fields(&r, bytes, size, 0) : NULL;
    for (int i = 0; back && i < 6; i++) CHECK(fabs(value_of(back, i) - places[i]) <= 0.125);
    for (int a = 0; a < 3 && back; a++) CHECK(!memcmp(bytes + 131 + 8 * a, &options.scale, 8));
    sap_point_set_free(back);
    end(&r);
}

TEST(writing_is_refused) {
    static const double bad[3] = {1, NAN, 2}, endless[6] = {0, 0, 0, 0, -INFINITY, 0}, far[3] = {1e12, 0, 0};
    const sap_point_set good = {.count = 1, .dims = 3, .real_bits = 64, .coords_f64 = places};
    const sap_point_set nan = {.count = 1, .dims = 3, .real_bits = 64, .coords_f64 = bad};
    const sap_point_set infinite = {.count = 2, .dims = 3, .real_bits = 64, .coords_f64 = endless};
    const sap_point_set five = {.count = 1, .dims = 5, .real_bits = 64, .coords_f64 = places};
    const sap_point_set noise = {
        .count = 1, .dims = 3, .real_bits = 64, .coords_f64 = places, .las = "LASF", .las_size = 4};
    const sap_points_write_options fine = {.scale = 1e-9}, negative = {.scale = -1}, newer = {.reserved = {1}};
    reading r;
    static las_sample s;
    begin(&r);
    las_make(&s, 0, 2, false);
    sap_point_set* moved = read_fields(&r, s.bytes, s.size, 0);
    if (!moved) return;
    sap_point_set beyond = *moved;
    beyond.count = 1;
    beyond.field_count = 0;
    beyond.coords_f64 = far;
    const struct {
        const sap_point_set* set;
        const sap_points_write_options* options;
        sap_status status;
        const char* word;
    } cases[] = {{NULL, NULL, SAP_ERROR_ARGUMENT, "points: is NULL"},
                 {&nan, NULL, SAP_ERROR_NOT_FINITE, "point 0"},
                 {&infinite, NULL, SAP_ERROR_NOT_FINITE, "point 1"},
                 {&five, NULL, SAP_ERROR_UNSUPPORTED, "three coordinates"},
                 {&noise, NULL, SAP_ERROR_FORMAT, "truncated"},
                 {&beyond, NULL, SAP_ERROR_RANGE, "point 0: x = 1e+12"},
                 {&beyond, &fine, SAP_ERROR_RANGE, "1e-09"},
                 {&good, &negative, SAP_ERROR_ARGUMENT, "options.scale"},
                 {&good, &newer, SAP_ERROR_ARGUMENT, "options.reserved"}};
    folder f = {"", ""};
    char path[200];
    if (!CHECK(folder_make(&f))) return;
    snprintf(path, sizeof path, "%s/a.las", f.path);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        NOTE("case %zu", i);
        r.w.log_calls = 0;
        CHECK_STATUS(sap_points_write(r.device, path, SAP_FORMAT_AUTO, cases[i].set, cases[i].options),
                     cases[i].status);
        CHECK_EQUAL(r.w.log_calls, 1);
        if (!CHECK(strstr(r.w.sentence, cases[i].word) != NULL)) printf("  %s\n", r.w.sentence);
        CHECK_EQUAL(folder_count(&f, false), 0);
    }
    sap_point_set_free(moved);
    folder_remove(&f);
    end(&r);
}

// With LASzip the points come back; without it a sentence says what to install.
TEST(packed_by_laszip) {
    reading r;
    static las_sample s;
    static unsigned char bytes[LAS_BYTES], again[LAS_BYTES];
    folder f = {"", ""};
    char path[200];
    begin(&r);
    las_make(&s, 7, 4, true);
    sap_point_set *set = read_fields(&r, s.bytes, s.size, 0), *back = NULL;
    if (!set || !CHECK(folder_make(&f))) return;
    snprintf(path, sizeof path, "%s/a.laz", f.path);
    const sap_status status = sap_points_write(r.device, path, SAP_FORMAT_AUTO, set, NULL);
    if (status == SAP_ERROR_UNSUPPORTED) {
        CHECK(strstr(r.w.sentence, "LASzip") && strstr(r.w.sentence, "install"));
        s.bytes[104] |= 0x80;
        CHECK_STATUS(parse(&r, s.bytes, s.size, SAP_FORMAT_LAZ, &back), SAP_ERROR_UNSUPPORTED);
        CHECK(strstr(r.w.sentence, "LASzip") && strstr(r.w.sentence, "install"));
    } else if (CHECK_STATUS(status, SAP_OK)) {
        FILE* file = fopen(path, "rb");
        const size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
        if (file) fclose(file);
        back = read_fields(&r, bytes, size, 0);
        if (back) CHECK_EQUAL(written(&r, back, "b.las", NULL, again, sizeof again), s.size);
        CHECK(!memcmp(again, s.bytes, s.size));
    }
    sap_point_set_free(back);
    sap_point_set_free(set);
    folder_remove(&f);
    end(&r);
}

TEST_MAIN()
