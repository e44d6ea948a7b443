// What points have beside their coordinates, read from and written to every format.
#include "file_reading.h"
#include "folder.h"

// Reads with fields, as a file of this name.
static sap_point_set* read_named(reading* r, const char* name, const void* bytes, size_t size) {
    folder f = {"", ""};
    char path[200];
    sap_point_set* set = NULL;
    if (!CHECK(folder_make(&f))) return NULL;
    snprintf(path, sizeof path, "%s/%s", f.path, name);
    FILE* file = fopen(path, "wb");
    if (file) {
        fwrite(bytes, 1, size, file);
        fclose(file);
    }
    const sap_points_read_options options = {.with_fields = true};
    if (!CHECK_STATUS(sap_points_read_with(r->device, path, SAP_FORMAT_AUTO, 0, &options, &set), SAP_OK))
        printf("  %s\n", r->w.sentence);
    folder_remove(&f);
    return set;
}

static sap_point_set* read_text(reading* r, const char* name, const char* text) {
    return read_named(r, name, text, strlen(text));
}

static bool has_type(const sap_point_set* set, const char* name, sap_field_type type) {
    for (int32_t i = 0; i < set->field_count; i++)
        if (!strcmp(set->fields[i].name, name)) return set->fields[i].type == type;
    return false;
}

static const void* values_of(const sap_point_set* set, const char* name) {
    for (int32_t i = 0; i < set->field_count; i++)
        if (!strcmp(set->fields[i].name, name)) return set->fields[i].values;
    return NULL;
}

TEST(types_of_text) {
    reading r;
    begin(&r);
    sap_point_set* set = read_text(&r, "a.csv",
                                   "x,y,z,count,big,half,exact,red,green,blue,word,gap\n"
                                   "1,2,3,7,5000000000,0.5,0.1234567890123,255,0,1,yes,\n"
                                   "4,5,6,-8,1,2,3,0,9,8,no,4\n");
    if (set) {
        CHECK_EQUAL(set->field_count, 8);
        CHECK(has_type(set, "count", SAP_FIELD_I32) && has_type(set, "big", SAP_FIELD_I64));
        CHECK(has_type(set, "half", SAP_FIELD_F32) && has_type(set, "exact", SAP_FIELD_F64));
        CHECK(has_type(set, "red", SAP_FIELD_U8) && has_type(set, "blue", SAP_FIELD_U8));
        CHECK(has_type(set, "gap", SAP_FIELD_F32) && !values_of(set, "word"));
        CHECK(strstr(r.w.sentence, "text") != NULL);
        const float* gap = values_of(set, "gap");
        const int64_t* big = values_of(set, "big");
        CHECK(gap && isnan(gap[0]) && gap[1] == 4);
        CHECK(big && big[0] == 5000000000 && big[1] == 1);
    }
    sap_point_set_free(set);
    end(&r);
}

TEST(columns_without_names) {
    static const struct {
        const char *file, *text, *names;
    } cases[] = {{"a.xyzrgb", "1 2 3 4 5 6\n", "red green blue"},
                 {"a.xyzn", "1 2 3 0 0 1\n", "nx ny nz"},
                 {"a.pts", "1\n1 2 3 -7 4 5 6\n", "intensity red green blue"},
                 {"a.asc", "1 2 3 4 5 # more\n", "column4 column5"},
                 {"a.xyz", "1 2 3 4\n", ""}};
    reading r;
    begin(&r);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char names[200] = "";
        sap_point_set* set = read_text(&r, cases[i].file, cases[i].text);
        NOTE("%s", cases[i].file);
        for (int32_t f = 0; set && f < set->field_count; f++) {
            if (f) strcat(names, " ");
            strcat(names, set->fields[f].name);
        }
        CHECK_TEXT(names, cases[i].names);
        sap_point_set_free(set);
    }
    end(&r);
}

TEST(names_that_repeat) {
    reading r;
    begin(&r);
    sap_point_set* set = read_text(&r, "a.csv", "x,y,z,a,a,a\n1,2,3,4,5,6\n");
    if (set) {
        CHECK_EQUAL(set->field_count, 3);
        CHECK(values_of(set, "a") && values_of(set, "a_2") && values_of(set, "a_3"));
    }
    sap_point_set_free(set);
    end(&r);
}

// PCL's colours, normals and fields of several numbers, in lines, in rows, and field by field.
TEST(pcd) {
    static const char ascii[] = "VERSION .7\nFIELDS x rgb y z normal_x h _\nSIZE 4 4 4 4 4 2 1\nTYPE F U F F F I U\n"
                                "COUNT 1 1 1 1 1 2 1\nWIDTH 1\nHEIGHT 1\nPOINTS 1\nDATA ascii\n"
                                "1 66051 2 3 0.5 -1 70000 9\n";
    reading r;
    begin(&r);
    sample s =
        text_sample("pcd", SAP_FORMAT_PCD,
                    "VERSION .7\nFIELDS x rgba y z\nSIZE 4 4 4 4\nTYPE F U F F\nWIDTH 1\nPOINTS 1\nDATA binary\n");
    put_float(&s, 1, false);
    put_int(&s, 0x04010203, 4, false);
    put_float(&s, 2, false);
    put_float(&s, 3, false);
    for (int i = 0; i < 2; i++) {
        sap_point_set* set = i ? read_named(&r, "a.pcd", s.bytes, s.size) : read_text(&r, "a.pcd", ascii);
        if (!set) continue;
        NOTE("case %d", i);
        const uint8_t *red = values_of(set, "red"), *green = values_of(set, "green"), *blue = values_of(set, "blue");
        CHECK(red && green && blue && red[0] == 1 && green[0] == 2 && blue[0] == 3);
        CHECK_EQUAL(set->field_count, i ? 4 : 6);
        const uint8_t* alpha = values_of(set, "alpha");
        CHECK(i ? alpha && alpha[0] == 4 : !alpha);
        const int16_t* second = values_of(set, "h_1");
        CHECK(i || (second && second[0] == INT16_MAX && values_of(set, "nx")));
        sap_point_set_free(set);
    }
    end(&r);
}

// Every type, in every format that can be read again, comes back.
TEST(written_reads_back) {
    static const char* const files[] = {"a.ply", "a.npy", "a.pcd", "a.csv", "a.las", "a.tsv"};
    static const float coords[6] = {0.5f, 1, -2, 1e6f, 3, 0.25f};
    static const uint8_t u8[2] = {0, 255};
    static const int8_t i8[2] = {-128, 127};
    static const uint16_t u16[2] = {0, 65535};
    static const int16_t i16[2] = {-32768, 1};
    static const uint32_t u32[2] = {4294967295u, 0};
    static const int32_t i32[2] = {INT32_MIN, 7};
    static const uint64_t u64[2] = {9007199254740992, 1};
    static const int64_t i64[2] = {-9007199254740992, 1};
    static const float f32[2] = {0.1f, -0.0f};
    static const double f64[2] = {0.1, 1e300};
    const sap_field fields[] = {{"a", SAP_FIELD_U8, u8},        {"b", SAP_FIELD_I8, i8},    {"c", SAP_FIELD_U16, u16},
                                {"d", SAP_FIELD_I16, i16},      {"e", SAP_FIELD_U32, u32},  {"f", SAP_FIELD_I32, i32},
                                {"g", SAP_FIELD_U64, u64},      {"h", SAP_FIELD_I64, i64},  {"i", SAP_FIELD_F32, f32},
                                {"a name", SAP_FIELD_F64, f64}, {"red", SAP_FIELD_U16, u16}};
    static const double numbers[][2] = {{0, 255},          {-128, 127},    {0, 65535},  {-32768, 1},
                                        {4294967295.0, 0}, {INT32_MIN, 7}, {0x1p53, 1}, {-0x1p53, 1},
                                        {(double)0.1f, 0}, {0.1, 1e300},   {0, 65535}};
    enum { FIELDS = sizeof fields / sizeof *fields };
    reading r;
    begin(&r);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        folder f = {"", ""};
        char path[200];
        const sap_point_set set = {
            .count = 2, .dims = 3, .real_bits = 32, .coords = coords, .fields = fields, .field_count = FIELDS};
        sap_point_set* back = NULL;
        NOTE("%s", files[i]);
        if (!CHECK(folder_make(&f))) break;
        snprintf(path, sizeof path, "%s/%s", f.path, files[i]);
        CHECK_STATUS(sap_points_write(r.device, path, SAP_FORMAT_AUTO, &set, NULL), SAP_OK);
        const sap_points_read_options options = {.with_fields = true, .columns = NULL};
        CHECK_STATUS(sap_points_read_with(r.device, path, SAP_FORMAT_AUTO, 64, &options, &back), SAP_OK);
        for (int p = 0; back && p < 6; p++) CHECK(fabs(back->coords_f64[p] - (double)coords[p]) <= 0.0005);
        for (int n = 0; back && n < FIELDS; n++) {
            const bool underscored =
                n == 9 && !strstr(files[i], "sv") && !strstr(files[i], "las") && !strstr(files[i], "npy");
            const char* name = underscored ? "a_name" : fields[n].name;
            NOTE("%s, field %s", files[i], name);
            const void* values = values_of(back, name);
            if (!CHECK(values != NULL)) continue;
            double got[2] = {NAN, NAN};
            for (int t = SAP_FIELD_U8; t <= SAP_FIELD_F64; t++) {
                if (!has_type(back, name, (sap_field_type)t)) continue;
                for (int p = 0; p < 2; p++) {
                    const sap_field one = {"v", (sap_field_type)t, values};
                    got[p] = one.type == SAP_FIELD_U8    ? ((const uint8_t*)values)[p]
                             : one.type == SAP_FIELD_I8  ? ((const int8_t*)values)[p]
                             : one.type == SAP_FIELD_U16 ? ((const uint16_t*)values)[p]
                             : one.type == SAP_FIELD_I16 ? ((const int16_t*)values)[p]
                             : one.type == SAP_FIELD_U32 ? ((const uint32_t*)values)[p]
                             : one.type == SAP_FIELD_I32 ? ((const int32_t*)values)[p]
                             : one.type == SAP_FIELD_U64 ? (double)((const uint64_t*)values)[p]
                             : one.type == SAP_FIELD_I64 ? (double)((const int64_t*)values)[p]
                             : one.type == SAP_FIELD_F32 ? (double)((const float*)values)[p]
                                                         : ((const double*)values)[p];
                }
            }
            for (int p = 0; p < 2; p++) CHECK(got[p] == numbers[n][p]);
        }
        sap_point_set_free(back);
        folder_remove(&f);
    }
    end(&r);
}

TEST(an_xyz_without_points_reads_back) {
    const sap_field field = {"intensity", SAP_FIELD_U16, NULL};
    const sap_point_set set = {.dims = 3, .real_bits = 32, .fields = &field, .field_count = 1};
    static const char* const names[] = {"a.xyz", "a.pts", "a.asc"};
    for (int i = 0; i < 3; i++) {
        reading r;
        folder f = {"", ""};
        char path[200];
        sap_point_set* back = NULL;
        NOTE("%s", names[i]);
        begin(&r);
        if (!CHECK(folder_make(&f))) return;
        snprintf(path, sizeof path, "%s/%s", f.path, names[i]);
        CHECK_STATUS(sap_points_write(r.device, path, SAP_FORMAT_XYZ, &set, NULL), SAP_OK);
        const sap_points_read_options options = {.with_fields = true};
        CHECK_STATUS(sap_points_read_with(r.device, path, SAP_FORMAT_AUTO, 0, &options, &back), SAP_OK);
        // As with points: all columns of an XYZ are coordinates unless its suffix says something else.
        CHECK(back && back->count == 0 && back->dims == (i ? 3 : 4) && back->field_count == (i ? 1 : 0));
        if (back && i == 1) CHECK(!strcmp(back->fields[0].name, "intensity"));
        sap_point_set_free(back);
        back = NULL;
        const sap_points_read_options chosen = {.columns = "3,4"};
        CHECK_STATUS(sap_points_read_with(r.device, path, SAP_FORMAT_AUTO, 0, &chosen, &back), SAP_OK);
        CHECK(back && back->count == 0 && back->dims == 2);
        sap_point_set_free(back);
        back = NULL;
        const sap_points_read_options missing = {.columns = "3,5"};
        CHECK_STATUS(sap_points_read_with(r.device, path, SAP_FORMAT_AUTO, 0, &missing, &back), SAP_ERROR_ARGUMENT);
        folder_remove(&f);
        end(&r);
    }
}

TEST(memory_fails) {
    static const char* const texts[][2] = {
        {"a.csv", "x,y,z,a,b\n1,2,3,4,5\n"},
        {"a.asc", "1 2 3 4 5\n"},
        {"a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty int a\nend_header\n1 2\n"},
        {"a.pcd", "FIELDS x a\nSIZE 4 4\nTYPE F F\nWIDTH 1\nDATA ascii\n1 2\n"}};
    reading r;
    begin(&r);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int64_t request = 1;; request++) {
            const sap_points_read_options options = {.with_fields = true};
            sap_point_set* set = NULL;
            NOTE("%s, request %d", texts[i][0], (int)request);
            r.w.requests = 0;
            r.w.fail_from = request;
            const sap_status status = sap_points_parse_with(r.device, texts[i][1], strlen(texts[i][1]),
                                                            sap_format_of(texts[i][0]), 0, &options, &set);
            r.w.fail_from = 0;
            sap_point_set_free(set);
            if (status == SAP_OK) break;
            if (!CHECK_STATUS(status, SAP_ERROR_MEMORY)) break;
        }
    end(&r);
}

TEST(writing_is_refused) {
    static const float coords[3] = {1, 2, 3};
    static const int64_t wide[1] = {INT64_MAX};
    const sap_field unnamed = {"", SAP_FIELD_I64, wide}, strange = {"a", (sap_field_type)10, wide};
    const sap_field empty = {"a", SAP_FIELD_I64, NULL}, big = {"a", SAP_FIELD_I64, wide},
                    axis = {"x", SAP_FIELD_I64, wide};
    const struct {
        const char* file;
        const sap_field* field;
        sap_status status;
        const char* word;
    } cases[] = {
        {"a.npy", &unnamed, SAP_ERROR_ARGUMENT, "no name"}, {"a.npy", &strange, SAP_ERROR_ARGUMENT, "unknown type 10"},
        {"a.npy", &empty, SAP_ERROR_ARGUMENT, "no values"}, {"a.npy", &axis, SAP_ERROR_ARGUMENT, "'x' repeats"},
        {"a.ply", &big, SAP_ERROR_UNSUPPORTED, "64 bits"},  {"a.obj", &big, SAP_ERROR_UNSUPPORTED, "meshes"},
        {"a.bin", &big, SAP_ERROR_UNSUPPORTED, "a.bin"},    {"a.csv.gz", &big, SAP_ERROR_UNSUPPORTED, "gzip"}};
    reading r;
    begin(&r);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sap_point_set set = {
            .count = 1, .dims = 3, .real_bits = 32, .coords = coords, .fields = cases[i].field, .field_count = 1};
        NOTE("case %zu", i);
        r.w.log_calls = 0;
        CHECK_STATUS(sap_points_write(r.device, cases[i].file, SAP_FORMAT_AUTO, &set, NULL), cases[i].status);
        CHECK_EQUAL(r.w.log_calls, 1);
        if (!CHECK(strstr(r.w.sentence, cases[i].word) != NULL)) printf("  %s\n", r.w.sentence);
    }
    const sap_point_set negative = {.count = -1, .dims = 3, .real_bits = 32}, flat = {.count = 1, .dims = 0};
    const sap_point_set half = {.count = 1, .dims = 3, .real_bits = 16},
                        none = {.count = 1, .dims = 3, .real_bits = 32};
    const sap_point_set* const sets[] = {NULL, &negative, &flat, &half, &none};
    for (size_t i = 0; i < 5; i++)
        CHECK_STATUS(sap_points_write(r.device, "a.npy", SAP_FORMAT_AUTO, sets[i], NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_points_write(NULL, "a.npy", SAP_FORMAT_AUTO, &none, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_points_write(r.device, NULL, SAP_FORMAT_AUTO, &none, NULL), SAP_ERROR_ARGUMENT);
    end(&r);
}

TEST_MAIN()
