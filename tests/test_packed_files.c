// Files that gzip has packed are read as those within, or refused with a sentence.
#include "file_reading.h"
#include "folder.h"
#include "packing.h"

#if defined(SAP_HAVE_ZLIB)
static const bool have_zlib = true;
#else
static const bool have_zlib = false;
#endif

static void expect_refused(reading* r, const packing* p, size_t size, sap_status status, const char* word) {
    sap_point_set* set = NULL;
    CHECK_STATUS(parse(r, p->at, size, SAP_FORMAT_AUTO, &set), status);
    if (!CHECK(strstr(r->w.sentence, word) != NULL)) printf("  %s\n", r->w.sentence);
    sap_point_set_free(set);
}

TEST(gzip_of_every_format) {
    static const double points[6] = {1, -2, 3.5, 4, 5, 6};
    reading r;
    begin(&r);
    for (int i = 0; i < SAMPLES; i++) {
        sample plain = sample_number(i), s = {.name = plain.name};
        packing p = {NULL, 0, 0};
        for (size_t half = 0; half < 2; half++) // two members
            put_gzip(&p, plain.bytes + half * (plain.size / 2), half ? plain.size - plain.size / 2 : plain.size / 2);
        put_number(&p, 0, 3);
        bool wide = strstr(s.name, "endian") || strstr(s.name, "2.0");
        if (have_zlib && CHECK(p.size <= sizeof s.bytes)) {
            memcpy(s.bytes, p.at, p.size);
            s.size = p.size;
            expect(&r, &s, SAP_FORMAT_AUTO, 2, 3, wide ? 64 : 32, points);
        } else {
            expect_refused(&r, &p, p.size, SAP_ERROR_UNSUPPORTED, "without zlib");
        }
        free(p.at);
    }
    end(&r);
}

TEST(gzip_that_is_damaged) {
    if (!have_zlib) return;
    reading r;
    begin(&r);
    packing p = {NULL, 0, 0};
    static const char rows[] = "1 2 3\n4 5 b\n";
    put_gzip(&p, rows, 6);
    for (size_t size = 3; size < p.size; size++) expect_refused(&r, &p, size, SAP_ERROR_FORMAT, "end too early");
    p.at[p.size - 5] ^= 1;
    expect_refused(&r, &p, p.size, SAP_ERROR_FORMAT, "damaged (incorrect data check)");
    p.at[p.size - 5] ^= 1;
    put_number(&p, 7, 1);
    expect_refused(&r, &p, p.size, SAP_ERROR_FORMAT, "what follows");
    p.size--;
    put_gzip(&p, rows + 6, 6);
    expect_refused(&r, &p, p.size, SAP_ERROR_FORMAT, "unpacked, line 2: ");
    for (size_t i = 0; i < p.size; i++) {
        sap_point_set* set = NULL;
        p.at[i] ^= 0x55;
        (void)parse(&r, p.at, p.size, SAP_FORMAT_AUTO, &set);
        sap_point_set_free(set);
        p.at[i] ^= 0x55;
    }
    p.size = 0;
    put_gzip(&p, "", 0);
    expect_refused(&r, &p, p.size, SAP_ERROR_FORMAT, "is empty");
    free(p.at);
    end(&r);
}

TEST(gzip_grows_within_limits) {
    if (!have_zlib) return;
    reading r;
    begin(&r);
    packing p = {NULL, 0, 0};
    put_gzip_of_zeros(&p, 270000); // 70 MB from 440 kB
    expect_refused(&r, &p, p.size, SAP_ERROR_RANGE, "allow as many bytes");
    CHECK(r.largest <= (size_t)1 << 27);
    for (int64_t n = 1; n < 6; n++) {
        r.w.requests = 0;
        r.w.fail_from = n;
        expect_refused(&r, &p, p.size, SAP_ERROR_MEMORY, "no memory");
        r.w.fail_from = 0;
    }
    p.size = 0;
    put_gzip_of_zeros(&p, 1000);
    static const int64_t limits[] = {-1, 1, 258000, 258001};
    static const sap_status expected[] = {SAP_ERROR_ARGUMENT, SAP_ERROR_RANGE, SAP_ERROR_RANGE, SAP_OK};
    for (int i = 0; i < 4; i++) {
        sap_volume_file* limited = NULL;
        sap_point_set* set = NULL;
        sap_mesh_file* mesh = NULL;
        const sap_volume_read_options as_volume = {
            .size = {258001, 1, 1}, .type = SAP_VOXEL_U8, .unpack_limit = limits[i]};
        CHECK_STATUS(sap_volume_parse(r.device, p.at, p.size, &as_volume, &limited), expected[i]);
        sap_volume_file_free(limited);
        const sap_points_read_options as_points = {.unpack_limit = limits[i]};
        const sap_mesh_read_options as_mesh = {.unpack_limit = limits[i]};
        CHECK_STATUS(sap_points_parse_with(r.device, p.at, p.size, SAP_FORMAT_XYZ, 0, &as_points, &set),
                     i < 3 ? expected[i] : SAP_ERROR_FORMAT);
        CHECK_STATUS(sap_mesh_parse(r.device, p.at, p.size, SAP_FORMAT_OBJ, &as_mesh, &mesh),
                     i < 3 ? expected[i] : SAP_ERROR_FORMAT);
    }
    sap_volume_file* file = NULL;
    const sap_volume_read_options options = {.size = {258001, 1, 1}, .type = SAP_VOXEL_U8};
    CHECK_STATUS(sap_volume_parse(r.device, p.at, p.size, &options, &file), SAP_OK);
    if (file) CHECK(((const uint8_t*)file->volume.values)[258000] == 0);
    sap_volume_file_free(file);
    // Raw samples may begin as gzip does.
    file = NULL;
    const sap_volume_read_options raw = {.size = {(int64_t)p.size, 1, 1}, .type = SAP_VOXEL_U8};
    CHECK_STATUS(sap_volume_parse(r.device, p.at, p.size, &raw, &file), SAP_OK);
    if (file) CHECK(((const uint8_t*)file->volume.values)[0] == 0x1f);
    sap_volume_file_free(file);
    free(p.at);
    end(&r);
}

// What was packed must be a file of its own: no saved tree, and not packed once more.
TEST(gzip_of_what_is_no_file) {
    if (!have_zlib) return;
    reading r;
    begin(&r);
    packing inner = {NULL, 0, 0}, outer = {NULL, 0, 0};
    put_gzip(&inner, "1 2 3\n", 6);
    put_gzip(&outer, inner.at, inner.size);
    expect_refused(&r, &outer, outer.size, SAP_ERROR_UNSUPPORTED, "is packed itself; unpack the file once");
    sap_mesh_file* mesh = NULL;
    CHECK_STATUS(sap_mesh_parse(r.device, outer.at, outer.size, SAP_FORMAT_AUTO, NULL, &mesh), SAP_ERROR_UNSUPPORTED);
    sap_volume_file* volume = NULL;
    CHECK_STATUS(sap_volume_parse(r.device, outer.at, outer.size, NULL, &volume), SAP_ERROR_UNSUPPORTED);
    CHECK(strstr(r.w.sentence, "is packed itself") != NULL);
    // Raw samples may be packed bytes.
    const sap_volume_read_options raw = {.size = {(int64_t)inner.size, 1, 1}, .type = SAP_VOXEL_U8};
    CHECK_STATUS(sap_volume_parse(r.device, outer.at, outer.size, &raw, &volume), SAP_OK);
    sap_volume_file_free(volume);
    outer.size = 0;
    put_gzip(&outer, "SAPTREE\n12345678", 16);
    expect_refused(&r, &outer, outer.size, SAP_ERROR_UNSUPPORTED, "it was saved; unpack it first");
    free(inner.at);
    free(outer.at);
    end(&r);
}

TEST(gzip_of_meshes_and_names) {
    static const char triangle[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", two_of_five[] = "1 2 3 4 5\n6 7 8 9 10\n";
    reading r;
    folder f;
    begin(&r);
    if (!CHECK(folder_make(&f))) return;
    packing p = {NULL, 0, 0};
    char path[100];
    put_gzip(&p, triangle, sizeof triangle - 1);
    sap_mesh_file* mesh = NULL;
    CHECK_STATUS(sap_mesh_parse(r.device, p.at, p.size, SAP_FORMAT_AUTO, NULL, &mesh),
                 have_zlib ? SAP_OK : SAP_ERROR_UNSUPPORTED);
    if (mesh) CHECK_EQUAL(mesh->mesh.triangle_count, 1);
    sap_mesh_file_free(mesh);
    p.size = 0;
    put_gzip(&p, two_of_five, sizeof two_of_five - 1);
    snprintf(path, sizeof path, "%s/two.pts.GZ", f.path);
    FILE* file = fopen(path, "wb");
    CHECK(file && fwrite(p.at, 1, p.size, file) == p.size);
    if (file) fclose(file);
    sap_point_set* set = NULL;
    CHECK_STATUS(sap_points_read(r.device, path, SAP_FORMAT_AUTO, 0, &set), have_zlib ? SAP_OK : SAP_ERROR_UNSUPPORTED);
    if (set) CHECK(set->count == 2 && set->dims == 3);
    sap_point_set_free(set);
    CHECK_EQUAL(sap_format_of("a.ply.gz"), SAP_FORMAT_PLY);
    CHECK_EQUAL(sap_format_of(".gz"), SAP_FORMAT_AUTO);
    CHECK_EQUAL(sap_format_of("ply.gz"), SAP_FORMAT_AUTO);
    snprintf(path, sizeof path, "%s/a.csv.gz", f.path);
    sap_table table = {.values = (float[]){1, 2}, .rows = 1, .columns = 2, .number = SAP_FLOAT32};
    CHECK_STATUS(sap_table_write(r.device, path, SAP_FORMAT_AUTO, table), SAP_ERROR_UNSUPPORTED);
    CHECK(strstr(r.w.sentence, "gzip is read but not written") != NULL);
    CHECK_STATUS(sap_mesh_write(r.device, path, SAP_FORMAT_OBJ, &(sap_mesh_file){.normals = NULL}, NULL),
                 SAP_ERROR_UNSUPPORTED);
    CHECK_EQUAL(folder_count(&f, false), 1);
    free(p.at);
    folder_remove(&f);
    end(&r);
}
// ---- NPZ

// An archive of a text and some arrays: one, or three, of which the second holds (1, 2) and (3, 4).
static packing make_archive(const char* const* names, int how) {
    archive a = {.count = 0};
    put_member(&a, "README", "text", 4, OF_32_BITS);
    for (int i = 0; names[i]; i++) {
        sample s = npy_sample("npz", 1, "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2), }");
        for (int value = 0; value < 4; value++) put_int(&s, (uint64_t)(10 * i + value - 9), 2, false);
        put_member(&a, names[i], s.bytes, s.size, how);
    }
    return end_archive(&a, how & OF_64_BITS);
}

static sap_status parse_member(reading* r, const packing* p, const char* member, sap_point_set** set) {
    void* copy = exact_copy(p->at, p->size);
    const sap_points_read_options options = {.member = member};
    r->w.sentence[0] = 0;
    sap_status status = sap_points_parse_with(r->device, copy, p->size, SAP_FORMAT_AUTO, 0, &options, set);
    free(copy);
    return status;
}

TEST(npz) {
    static const char* const three[] = {"a.npy", "folder/xyz.npy", "points.npy", NULL};
    static const struct {
        const char *names[4], *member;
        double first; // of the array that is taken; 0: none is
        const char* sentence;
    } cases[] = {{{"arr_0.npy"}, NULL, -9, ""},
                 {{"arr_0.npy"}, "arr_0", -9, ""},
                 {{"a.npy", "b.npy"}, "b.npy", 1, ""},
                 {{"a.npy", "b.npy"}, NULL, 0, "several members; choose one of a, b"},
                 {{"a.npy", "b.npy"}, "c", 0, "no member 'c'; the members are a, b"},
                 {{"a.npy", "b.npy"}, "README", 0, "no member 'README'"},
                 {{"a.npy", "xyz.npy", "points.npy"}, NULL, 11, ""},
                 {{"a.npy", "coords.npy", "b.npy"}, NULL, 1, ""},
                 {{"a.npy"}, "b", 0, "the members are a"},
                 {{"longer.npy"}, "long", 0, "the members are longer"},
                 {{NULL}, NULL, 0, "holds no arrays of NumPy"}};
    reading r;
    begin(&r);
    for (size_t i = 0; i < 8 * sizeof cases / sizeof *cases; i++) {
        const int how = (int)(i % 8), number = (int)(i / 8);
        packing p = make_archive(cases[number].names, how);
        sap_point_set* set = NULL;
        NOTE("case %d, how %d", number, how);
        sap_status status = parse_member(&r, &p, cases[number].member, &set);
        if (have_zlib || !(how & PACKED)) {
            CHECK((status == SAP_OK) == !*cases[number].sentence);
            if (!CHECK(strstr(r.w.sentence, cases[number].sentence))) printf("  %s\n", r.w.sentence);
            if (set) CHECK(set->count == 2 && set->dims == 2 && value_of(set, 0) == cases[number].first);
        } else {
            CHECK(status != SAP_OK);
        }
        sap_point_set_free(set);
        free(p.at);
    }
    packing p = make_archive(three, OF_32_BITS);
    sap_volume_file* file = NULL;
    const sap_volume_read_options options = {.member = "folder/xyz"};
    CHECK_STATUS(sap_volume_parse(r.device, p.at, p.size, &options, &file), SAP_OK);
    if (file) CHECK(file->volume.size[0] == 2 && ((const int16_t*)file->volume.values)[3] == 4);
    sap_volume_file_free(file);
    file = NULL;
    CHECK_STATUS(sap_volume_parse(r.device, p.at, p.size, NULL, &file), SAP_ERROR_ARGUMENT);
    free(p.at);
    sap_point_set* set = NULL;
    packing text = {NULL, 0, 0};
    put_bytes(&text, "1 2\n", 4);
    CHECK_STATUS(parse_member(&r, &text, "a", &set), SAP_ERROR_ARGUMENT);
    CHECK(strstr(r.w.sentence, "no archive") && !set);
    free(text.at);
    end(&r);
}

TEST(npz_that_is_damaged) {
    static const char* const names[] = {"a.npy", "points.npy", NULL};
    reading r;
    begin(&r);
    for (int how = 0; how < 8; how++) {
        packing p = make_archive(names, how);
        const size_t whole = p.size;
        for (size_t size = 0; size < whole; size++) { // the last 3 bytes are a comment
            sap_point_set* set = NULL;
            p.size = size;
            NOTE("how %d, %d bytes of %d", how, (int)size, (int)whole);
            sap_status status = parse_member(&r, &p, NULL, &set);
            if (size < whole - 3) CHECK(status != SAP_OK);
            sap_point_set_free(set);
        }
        p.size = whole;
        sap_point_set* good = NULL;
        parse_member(&r, &p, "points", &good); // a damaged name could make the other array the only one
        for (size_t i = 0; i < 3 * whole; i++) {
            static const unsigned char changes[] = {1, 0xff, 0x80};
            sap_point_set* set = NULL;
            NOTE("how %d, byte %d", how, (int)(i / 3));
            p.at[i / 3] ^= changes[i % 3];
            // What is read has its sum, so it is what was packed.
            if (parse_member(&r, &p, "points", &set) == SAP_OK && have_zlib)
                CHECK(good && set->count == good->count && set->dims == good->dims &&
                      !memcmp(set->coords, good->coords, sizeof(float) * (size_t)(set->count * set->dims)));
            p.at[i / 3] ^= changes[i % 3];
            sap_point_set_free(set);
        }
        sap_point_set_free(good);
        free(p.at);
    }
    CHECK(r.largest <= (size_t)1 << 16);
    end(&r);
}

TEST_MAIN()
