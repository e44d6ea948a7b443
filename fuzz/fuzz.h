// What the fuzzers share: a device that lives as long as the process, with memory limited by the size of the input.
#ifndef SAPWOOD_FUZZ_FUZZ_H
#define SAPWOOD_FUZZ_FUZZ_H

#include "sapwood/files.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

// libFuzzer and replay.c call this; always 0.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// A block larger than any that an input of so many bytes may lead to stops the process.
static size_t fuzz_largest_block = SIZE_MAX;

static inline void* fuzz_allocate(void* user, size_t bytes, size_t alignment) {
    (void)user;
    if (bytes > fuzz_largest_block) abort();
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static inline void fuzz_release(void* user, void* memory, size_t bytes) {
    (void)user;
    (void)bytes;
    free(memory);
}

static inline sap_device* fuzz_device(void) {
    static sap_device* device;
    sap_device_options options = {.processor = SAP_CPU, .threads = 1};
    options.allocator = (sap_allocator){fuzz_allocate, fuzz_release, NULL};
    if (!device && sap_device_open(&options, &device) != SAP_OK) abort();
    return device;
}

// What gzip and archives have packed may become a thousand times as much, in memory that doubles; zlib has some of its own.
static inline void fuzz_expect_packed(const uint8_t* data, size_t size) {
    if (size < 2 || (data[0] != 0x1f && data[0] != 'P')) return;
    fuzz_largest_block = 2 * 1032 * fuzz_largest_block + (1 << 16);
}

// Parses the input as a file of this format and looks at every number of the answer.
static inline void fuzz_points_as(const uint8_t* data, size_t size, sap_format format, int32_t real_bits) {
    sap_device* device = fuzz_device();
    sap_point_set* set = NULL;
    fuzz_largest_block = 16 * size + 256;
    // Fields are of 8 bytes at most where a file has one or more; their names and the list of them have room beside.
    fuzz_largest_block += 8 * size + (1 << 18);
    // A compressed PCD stands for up to 88 times its bytes, of which integers of 8 bits become doubles.
    if (format == SAP_FORMAT_PCD || format == SAP_FORMAT_AUTO) fuzz_largest_block *= 88;
    fuzz_expect_packed(data, size);
    // Text of points that lie close together is read once more.
    const sap_points_read_options options = {.float_error = size % 2 ? 0x1p-20 : 0, .with_fields = size % 3 != 0};
    sap_status status = sap_points_parse_with(device, data, size, format, real_bits, &options, &set);
    if ((status == SAP_OK) != (set != NULL)) abort();
    if (!set) return;
    if (real_bits && set->real_bits != real_bits) abort();
    if (set->count < 0 || set->dims < 1 || set->dims > SAP_MAX_DIMS) abort();
    volatile double last = 0;
    for (int64_t i = 0; i < set->count * set->dims; i++)
        last = set->real_bits == 32 ? (double)set->coords[i] : set->coords_f64[i];
    for (int32_t f = 0; f < set->field_count; f++) {
        const sap_field* field = &set->fields[f];
        static const size_t bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
        if (!field->name[0] || field->type < SAP_FIELD_U8 || field->type > SAP_FIELD_F64) abort();
        for (size_t i = 0; i < (size_t)set->count * bytes[field->type]; i++)
            last = ((const unsigned char*)field->values)[i];
    }
    for (size_t i = 0; i < set->las_size; i++) last = ((const unsigned char*)set->las)[i];
    (void)last;
    sap_point_set_free(set);
}

#if defined(__linux__)
// Reads the second of three parts of a file that was read as a whole: it is there, or the file has no parts.
static inline void fuzz_part(const char* path, sap_format format, const sap_point_set* whole) {
    sap_point_set* set = NULL;
    int64_t first, all;
    const sap_status status = sap_points_read_part(fuzz_device(), path, format, 64, NULL, 1, 3, &first, &all, &set);
    if (status == SAP_ERROR_UNSUPPORTED && !set) return;
    if (status != SAP_OK || all != whole->count || set->dims != whole->dims || first + set->count > all) abort();
    const size_t row = (size_t)set->dims * sizeof(double);
    if (set->count && memcmp(set->coords_f64, whole->coords_f64 + first * set->dims, (size_t)set->count * row)) abort();
    sap_point_set_free(set);
}

// The input as a file without a name.
static inline void fuzz_parts(const uint8_t* data, size_t size, sap_format format) {
    const int file = memfd_create("input", 0);
    sap_point_set* whole = NULL;
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (file >= 0 && write(file, data, size) == (ssize_t)size &&
        sap_points_read(fuzz_device(), path, format, 64, &whole) == SAP_OK)
        fuzz_part(path, format, whole);
    sap_point_set_free(whole);
    if (file >= 0) close(file);
}
#endif

static inline void fuzz_points(const uint8_t* data, size_t size, sap_format format) {
    for (int32_t real_bits = 0; real_bits <= 64; real_bits += 32) fuzz_points_as(data, size, format, real_bits);
#if defined(__linux__)
    if (format != SAP_FORMAT_XYZ && format != SAP_FORMAT_CSV) fuzz_parts(data, size, format);
#endif
}

// Parses the input as a mesh and looks at everything that the answer names. `options` may be NULL.
static inline void fuzz_mesh(const uint8_t* data, size_t size, sap_format format,
                             const sap_mesh_read_options* options) {
    sap_device* device = fuzz_device();
    sap_mesh_file* file = NULL;
    // A corner of a face may be one byte; while its polygon is cut into triangles it is 48, in a block twice too large.
    fuzz_largest_block = 96 * (size + (options ? options->materials_size : 0)) + 1024;
    fuzz_expect_packed(data, size);
    sap_status status = sap_mesh_parse(device, data, size, format, options, &file);
    if ((status == SAP_OK) != (file != NULL)) abort();
    if (!file) return;
    const sap_mesh* mesh = &file->mesh;
    volatile double last = 0;
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++)
        last = (double)mesh->vertices[i] + (file->colors ? (double)file->colors[i] : 0);
    for (int64_t i = 0; i < 3 * mesh->triangle_count; i++)
        if (mesh->triangles[i] < 0 || mesh->triangles[i] >= mesh->vertex_count) abort();
    for (int64_t i = 0; file->material_ids && i < mesh->triangle_count; i++)
        if (file->material_ids[i] < -1 || file->material_ids[i] >= file->material_count) abort();
    for (int32_t i = 0; i < file->material_count; i++) last = (double)file->materials[i].name[0];
    (void)last;
    sap_mesh_file_free(file);
}

#endif
