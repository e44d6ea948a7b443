// Volumes from files: every type and order, what is there against what should be, and PLY files with normals.
#include "file_reading.h"
#include "folder.h"
#include "sapwood/files.h"

// A file in memory: an NPY header, or nothing, then bytes.
typedef struct bytes {
    unsigned char at[4096];
    size_t size;
} bytes;

static bytes npy_of(const char* type, const char* order, const char* shape, const void* values, size_t size) {
    bytes b = {.size = 10};
    memcpy(b.at, "\x93NUMPY\x01\x00", 8);
    int length =
        snprintf((char*)b.at + 10, 200, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", type, order, shape);
    int padded = length + 1 + (64 - (10 + length + 1) % 64) % 64;
    memset(b.at + 10 + length, ' ', (size_t)(padded - length - 1));
    b.at[10 + padded - 1] = '\n';
    b.at[8] = (unsigned char)padded;
    b.size += (size_t)padded;
    if (size) memcpy(b.at + b.size, values, size);
    b.size += size;
    return b;
}

// Parses a copy of exactly these bytes, so that a sanitizer sees every step beyond them.
static sap_status parse_volume(reading* r, const bytes* b, const sap_volume_read_options* options,
                               sap_volume_file** file) {
    void* copy = malloc(b->size + (b->size == 0));
    sap_volume_file* const untouched = *file;
    memcpy(copy, b->at, b->size);
    r->w.log_calls = 0;
    sap_status status = sap_volume_parse(r->device, copy, b->size, options, file);
    CHECK_EQUAL(r->w.log_calls, status != SAP_OK);
    if (status != SAP_OK) CHECK(*file == untouched);
    CHECK(r->largest <= 16 * b->size + 256);
    free(copy);
    return status;
}

static void expect_values(const sap_volume* v, sap_voxel type, int64_t x, int64_t y, int64_t z, const double* values) {
    CHECK_EQUAL(v->type, type);
    CHECK(v->size[0] == x && v->size[1] == y && v->size[2] == z);
    if (v->type != type || v->size[0] != x || v->size[1] != y || v->size[2] != z) return;
    for (int64_t i = 0; i < x * y * z; i++) {
        double value = 0;
        switch (type) {
        case SAP_VOXEL_U8: value = ((const uint8_t*)v->values)[i]; break;
        case SAP_VOXEL_I16: value = ((const int16_t*)v->values)[i]; break;
        case SAP_VOXEL_U16: value = ((const uint16_t*)v->values)[i]; break;
        case SAP_VOXEL_F32: value = (double)((const float*)v->values)[i]; break;
        }
        CHECK(value == values[i]);
    }
}

// Numbers of a type and order as bytes.
static size_t encode(const char* type, const double* values, int count, unsigned char* to) {
    size_t each = (size_t)(type[2] - '0');
    for (int i = 0; i < count; i++) {
        float single = (float)values[i];
        uint64_t bits = (uint64_t)(int64_t)values[i];
        if (type[1] == 'f') memcpy(&bits, each == 4 ? (const void*)&single : &values[i], each);
        for (size_t b = 0; b < each; b++)
            to[(size_t)i * each + (type[0] == '>' ? each - 1 - b : b)] = (unsigned char)(bits >> 8 * b);
    }
    return each * (size_t)count;
}

TEST(arrays) {
    static const struct {
        const char* type;
        sap_voxel becomes;
    } types[] = {{"|u1", SAP_VOXEL_U8},  {"|b1", SAP_VOXEL_U8},  {"<i2", SAP_VOXEL_I16}, {">i2", SAP_VOXEL_I16},
                 {"<u2", SAP_VOXEL_U16}, {">u2", SAP_VOXEL_U16}, {"<f4", SAP_VOXEL_F32}, {">f4", SAP_VOXEL_F32},
                 {"|i1", SAP_VOXEL_F32}, {"<i4", SAP_VOXEL_F32}, {">u4", SAP_VOXEL_F32}, {"<f8", SAP_VOXEL_F32},
                 {">i8", SAP_VOXEL_F32}};
    static const double values[12] = {0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 127};
    reading r;
    begin(&r);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        unsigned char encoded[96];
        size_t size = encode(types[i].type, values, 12, encoded);
        for (int order = 0; order < 2; order++) {
            const sap_volume_read_options options = {.spacing = {1, 2, 3}, .order = (sap_axis_order)order};
            bytes b = npy_of(types[i].type, order ? "True" : "False", "(2, 3, 2)", encoded, size);
            sap_volume_file* file = NULL;
            NOTE("%s, order %d", types[i].type, order);
            CHECK_STATUS(parse_volume(&r, &b, &options, &file), SAP_OK);
            if (file) expect_values(&file->volume, types[i].becomes, 2, 3, 2, values);
            if (file) CHECK(file->volume.spacing[1] == 2 && file->volume.origin[1] == 0);
            sap_volume_file_free(file);
        }
    }
    bytes flat = npy_of("|u1", "False", "(2, 6)", "\0\1\2\3\5\10\15\25\42\67\131\177", 12);
    sap_volume_file* file = NULL;
    NOTE("%s", "two axes");
    CHECK_STATUS(parse_volume(&r, &flat, &(sap_volume_read_options){.size = {6, 2, 1}}, &file), SAP_OK);
    if (file) expect_values(&file->volume, SAP_VOXEL_U8, 6, 2, 1, values);
    sap_volume_file_free(file);
    // As long as 64 floats: an array all the same.
    double many[64];
    unsigned char encoded[128];
    for (int i = 0; i < 64; i++) many[i] = i;
    bytes cube = npy_of("<u2", "False", "(4, 4, 4)", encoded, encode("<u2", many, 64, encoded));
    CHECK_EQUAL(cube.size, 256);
    file = NULL;
    NOTE("%s", "as long as raw samples");
    CHECK_STATUS(parse_volume(&r, &cube, &(sap_volume_read_options){.size = {4, 4, 4}}, &file), SAP_OK);
    if (file) expect_values(&file->volume, SAP_VOXEL_U16, 4, 4, 4, many);
    sap_volume_file_free(file);
    end(&r);
}

// The sample at x, y, z of array[z][y][x] or array[x][y][z], be its first or its last axis the fastest in the file.
TEST(axes_are_those_of_the_array) {
    enum { X = 40, Y = 3, Z = 35, COUNT = X * Y * Z };
    static const char* const types[] = {"|u1", "<i2", ">i2", "|i1"};
    static double expected[COUNT], in_file[COUNT];
    static unsigned char encoded[2 * COUNT], whole[2 * COUNT + 256];
    reading r;
    begin(&r);
    for (int i = 0; i < 32; i++) {
        const bool xyz = i & 1, fortran = i & 2, raw = i & 4;
        const char* type = types[i / 8];
        if (raw && (fortran || i / 8 == 3)) continue; // not of raw samples
        for (int x = 0; x < X; x++)
            for (int y = 0; y < Y; y++)
                for (int z = 0; z < Z; z++) {
                    const int x_fastest = x + X * (y + Y * z), z_fastest = z + Z * (y + Y * x);
                    expected[x_fastest] = (7 * x + 31 * y + 3 * z) % 128;
                    in_file[fortran == xyz ? x_fastest : z_fastest] = expected[x_fastest];
                }
        size_t size = encode(type, in_file, COUNT, encoded);
        bytes header = npy_of(type, fortran ? "True" : "False", xyz ? "(40, 3, 35)" : "(35, 3, 40)", NULL, 0);
        if (raw) header.size = 0;
        memcpy(whole, header.at, header.size);
        memcpy(whole + header.size, encoded, size);
        sap_volume_read_options options = {.size = {X, Y, Z}, .order = xyz ? SAP_ORDER_XYZ : SAP_ORDER_ZYX};
        options.type = type[1] == 'u' ? SAP_VOXEL_U8 : SAP_VOXEL_I16;
        options.big_endian = type[0] == '>';
        sap_volume_file* file = NULL;
        NOTE("%s %s, xyz %d, fortran %d", raw ? "raw" : "array", type, xyz, fortran);
        CHECK_STATUS(sap_volume_parse(r.device, whole, header.size + size, &options, &file), SAP_OK);
        if (file) expect_values(&file->volume, i / 8 == 3 ? SAP_VOXEL_F32 : options.type, X, Y, Z, expected);
        sap_volume_file_free(file);
    }
    r.largest = 0;
    bytes flat = npy_of("|u1", "False", "(2, 3)", "\0\1\2\3\4\5", 6);
    static const double turned[6] = {0, 3, 1, 4, 2, 5};
    sap_volume_file* file = NULL;
    CHECK_STATUS(parse_volume(&r, &flat, &(sap_volume_read_options){.order = SAP_ORDER_XYZ}, &file), SAP_OK);
    if (file) expect_values(&file->volume, SAP_VOXEL_U8, 2, 3, 1, turned);
    sap_volume_file_free(file);
    end(&r);
}

TEST(raw) {
    static const double values[12] = {0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 127};
    static const char* const types[4][2] = {{"<f4", ">f4"}, {"<u1", ">u1"}, {"<i2", ">i2"}, {"<u2", ">u2"}};
    reading r;
    begin(&r);
    for (int i = 0; i < 16; i++) {
        bool big = i & 4;
        bytes b = {.size = i & 8 ? 7 : 0};
        b.size += encode(types[i % 4][big], values, 12, b.at + b.size);
        sap_volume_read_options options = {.size = {3, 2, 2}, .type = (sap_voxel)(i % 4), .big_endian = big};
        options.skip = i & 8 ? 7 : 0;
        sap_volume_file* file = NULL;
        NOTE("case %d", i);
        CHECK_STATUS(parse_volume(&r, &b, &options, &file), SAP_OK);
        if (file) expect_values(&file->volume, options.type, 3, 2, 2, values);
        sap_volume_file_free(file);
    }
    end(&r);
}

TEST(refused) {
    const int64_t huge = INT64_C(1) << 31;
    const bytes raw = {.size = 24}, nothing = {.size = 0};
    const double beyond = 1e300;
    const struct {
        bytes b;
        sap_volume_read_options options;
        sap_status status;
        const char* word;
    } cases[] = {
        {raw, {.size = {0}}, SAP_ERROR_ARGUMENT, "options.size: a raw volume"},
        {nothing, {.size = {0}}, SAP_ERROR_ARGUMENT, "options.size: a raw volume"},
        {raw, {.size = {2, -3, 4}}, SAP_ERROR_ARGUMENT, "options.size[1]"},
        {raw, {.size = {2, 3, 4}, .type = (sap_voxel)9}, SAP_ERROR_ARGUMENT, "options.type"},
        {raw, {.size = {2, 3, 1}, .order = (sap_axis_order)2}, SAP_ERROR_ARGUMENT, "options.order"},
        {raw, {.size = {2, 3, 1}, .skip = -1}, SAP_ERROR_ARGUMENT, "options.skip"},
        {raw, {.size = {2, 3, 4}}, SAP_ERROR_FORMAT, "2 x 3 x 4 samples of 4 bytes are 96 bytes, but the file has 24"},
        {raw, {.size = {2, 3, 1}, .skip = 25}, SAP_ERROR_FORMAT, "the file has 0 after the first 25"},
        {raw, {.size = {2, 3, 1}, .type = SAP_VOXEL_I16}, SAP_ERROR_FORMAT, "are 12 bytes, but the file has 24"},
        {raw, {.size = {0, 3, 1}}, SAP_ERROR_FORMAT, "are 0 bytes, but the file has 24"},
        {nothing, {.size = {1, 1, 1}}, SAP_ERROR_FORMAT, "but the file has 0"},
        {raw, {.size = {huge, 1, 1}}, SAP_ERROR_RANGE, "2147483648"},
        {raw, {.size = {huge - 1, huge - 1, huge - 1}}, SAP_ERROR_RANGE, "more than memory"},
        {npy_of("<f4", "False", "(2, 3, 2)", raw.at, 40), {.skip = 0}, SAP_ERROR_FORMAT, "are 48 bytes"},
        {npy_of("<f4", "False", "(2, 3, 1)", raw.at, 24),
         {.size = {2, 3, 1}},
         SAP_ERROR_FORMAT,
         "the array has 1 x 3 x 2"},
        {npy_of("<f4", "False", "(1, 2, 3, 1)", raw.at, 24), {.skip = 0}, SAP_ERROR_UNSUPPORTED, "three axes"},
        {npy_of("<c8", "False", "(1, 2, 3)", raw.at, 24), {.skip = 0}, SAP_ERROR_UNSUPPORTED, "plain"},
        {npy_of("<f8", "False", "(1,)", &beyond, 8), {.skip = 0}, SAP_ERROR_RANGE, "1e+300"},
        {npy_of("<f4", "False", "(9223372036854775807, 4, 4)", raw.at, 24), {.skip = 0}, SAP_ERROR_RANGE, "2147483647"},
    };
    reading r;
    begin(&r);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sap_volume_file* file = NULL;
        NOTE("case %d: %s", (int)i, cases[i].word);
        CHECK_STATUS(parse_volume(&r, &cases[i].b, &cases[i].options, &file), cases[i].status);
        if (!CHECK(strstr(r.w.sentence, cases[i].word))) printf("%s\n", r.w.sentence);
    }
    // What is said of raw samples does not matter to an array, which is told.
    for (int i = 0; i < 4; i++) {
        sap_volume_file* array = NULL;
        const bytes b = npy_of("<f4", "False", "(2, 3, 1)", raw.at, 24);
        const sap_volume_read_options options = {
            .type = i == 1 ? SAP_VOXEL_U8 : SAP_VOXEL_F32, .skip = i == 2 ? 352 : 0, .big_endian = i == 3};
        r.w.log_calls = 0;
        CHECK_STATUS(sap_volume_parse(r.device, b.at, b.size, &options, &array), SAP_OK);
        CHECK_EQUAL(r.w.log_calls, i > 0);
        if (i) CHECK(strstr(r.w.sentence, "(type, big-endian, skip) is not used") != NULL);
        sap_volume_file_free(array);
    }
    NOTE("%s", "the rest");
    sap_volume_file* file = NULL;
    CHECK_STATUS(sap_volume_parse(NULL, raw.at, 24, NULL, &file), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_volume_parse(r.device, NULL, 24, NULL, &file), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_volume_parse(r.device, raw.at, 24, NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_volume_read(NULL, "x", NULL, &file), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_volume_read(r.device, NULL, NULL, &file), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_volume_read(r.device, "x", NULL, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_volume_read(r.device, "/no/such/file", NULL, &file), SAP_ERROR_IO);
    CHECK(!file);
    sap_volume_file_free(NULL);
    end(&r);
}

static bool put_file(const char* path, const void* at, size_t size) {
    FILE* file = fopen(path, "wb");
    bool written = file && fwrite(at, 1, size, file) == size;
    return file && !fclose(file) && written;
}

// From files: mapped where that can be done, and with every allocation refused in turn.
TEST(files) {
    static const double values[4] = {0, 1, 2, 3};
    static const unsigned char samples[8] = {0, 0, 1, 0, 2, 0, 3, 0};
    folder f;
    if (!CHECK(folder_make(&f))) return;
    for (int skip = 0; skip < 3; skip++) {
        unsigned char raw[16] = {0};
        memcpy(raw + skip, samples, 8);
        CHECK(put_file(f.file, raw, (size_t)skip + 8));
        sap_volume_read_options options = {.size = {2, 2, 1}, .type = SAP_VOXEL_U16, .skip = skip};
        options.big_endian = false;
        for (int64_t n = 1; n < 10; n++) {
            watch w = {0};
            sap_device_options device_options = watched(&w);
            sap_device* device = NULL;
            sap_volume_file* file = NULL;
            NOTE("skip %d, request %d refused", skip, (int)n);
            CHECK_STATUS(sap_device_open(&device_options, &device), SAP_OK);
            w.requests = 0;
            w.fail_from = n;
            sap_status status = sap_volume_read(device, f.file, &options, &file);
            w.fail_from = 0;
            CHECK_STATUS(status, w.requests < n ? SAP_OK : SAP_ERROR_MEMORY);
            CHECK((file != NULL) == (w.requests < n));
            if (file) {
                CHECK_EQUAL(w.requests, skip % 2 ? 2 : 1); // what is aligned is not copied
                expect_values(&file->volume, SAP_VOXEL_U16, 2, 2, 1, values);
                sap_volume_file_free(file);
                n = 10;
            }
            sap_device_close(device);
            CHECK_EQUAL(w.blocks, 0);
        }
    }
    folder_count(&f, true);
    rmdir(f.path);
}

// ---- Normals

TEST(normals_in_ply) {
    static const float vertices[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, normals[9] = {0, 0, 1, 0, 0.5f, 0, -1, 0, 0};
    static const int32_t triangle[3] = {0, 1, 2};
    const sap_mesh_file mesh = {.mesh = {vertices, 3, triangle, 1}, .normals = normals, .colors = normals};
    reading r;
    folder f;
    begin(&r);
    if (!CHECK(folder_make(&f))) return;
    for (int text = 0; text < 2; text++) {
        char content[1024];
        sap_mesh_file* back = NULL;
        NOTE("text %d", text);
        CHECK_STATUS(sap_mesh_write(r.device, f.file, SAP_FORMAT_PLY, &mesh, &(sap_mesh_write_options){.text = text}),
                     SAP_OK);
        FILE* file = fopen(f.file, "rb");
        size_t size = file ? fread(content, 1, sizeof content - 1, file) : 0;
        if (file) fclose(file);
        content[size] = 0;
        CHECK(strstr(content,
                     "property float z\nproperty float nx\nproperty float ny\nproperty float nz\nproperty uchar"));
        if (text) CHECK(strstr(content, "\n1 0 0 0 0.5 0 0 128 0\n"));
        CHECK_STATUS(sap_mesh_read(r.device, f.file, SAP_FORMAT_AUTO, NULL, &back), SAP_OK);
        if (back) {
            CHECK(!memcmp(back->mesh.vertices, vertices, sizeof vertices));
            CHECK(!memcmp(back->mesh.triangles, triangle, sizeof triangle));
            CHECK(back->colors && back->colors[2] == 1 && !back->normals);
        }
        sap_mesh_file_free(back);
    }
    folder_count(&f, true);
    rmdir(f.path);
    end(&r);
}

TEST_MAIN()
