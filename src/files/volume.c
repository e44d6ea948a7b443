// Volumes: NPY arrays of three axes, and raw samples.
#include "base/assert.h"
#include "device/memory.h"
#include "device/reserved.h"
#include "files/npy.h"
#include "files/read.h"
#include <string.h>

// What a user holds is the first member.
typedef struct owned_volume {
    sap_volume_file file;
    const sap_device* device;
    void* samples; // copied or converted; NULL: they lie in `mapped`
    size_t bytes;
    sap_file_bytes mapped;
} owned_volume;

// Where samples lie in a source, and what they are.
typedef struct samples {
    const unsigned char* first;
    int64_t count, size[3];
    sap_cell cell;
    sap_voxel type; // that they become
} samples;

static size_t voxel_bytes(sap_voxel type) { return type == SAP_VOXEL_F32 ? 4 : type == SAP_VOXEL_U8 ? 1 : 2; }

static const bool host_big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

// ---- What the source holds

// The number of samples of a size; SAP_ERROR_RANGE if memory cannot be so large.
static sap_status count_samples(const sap_source* source, samples* s) {
    size_t count = 1, bytes;
    bool empty = !s->size[0] || !s->size[1] || !s->size[2], fits = true;
    for (int i = 0; i < 3; i++) {
        if (s->size[i] > INT32_MAX)
            return sap_bad_byte(source, SAP_ERROR_RANGE, -1, "a side of %lld samples is more than 2147483647",
                                (long long)s->size[i]);
        fits = fits && (empty || sap_size_multiply(count, (uint64_t)s->size[i], &count));
    }
    if (!fits || !sap_size_multiply(count, 8, &bytes) || bytes > PTRDIFF_MAX)
        return sap_bad_byte(source, SAP_ERROR_RANGE, -1, "%lld x %lld x %lld samples are more than memory can hold",
                            (long long)s->size[0], (long long)s->size[1], (long long)s->size[2]);
    s->count = empty ? 0 : (int64_t)count;
    return SAP_OK;
}

// Whether the samples, from a byte of the source on, are there; and, if `all`, nothing else is.
static sap_status find_samples(const sap_source* source, size_t at, bool all, samples* s) {
    sap_status status = count_samples(source, s);
    if (status != SAP_OK) return status;
    size_t left = at <= source->size ? source->size - at : 0, bytes = (size_t)s->count * s->cell.bytes;
    if (at > source->size || left < bytes || (all && left > bytes))
        return sap_bad_byte(source, SAP_ERROR_FORMAT, -1,
                            "%lld x %lld x %lld samples of %d bytes are %zu bytes, but the file has %zu after the "
                            "first %zu",
                            (long long)s->size[0], (long long)s->size[1], (long long)s->size[2], (int)s->cell.bytes,
                            bytes, left, at);
    SAP_ASSERT(at <= source->size && (size_t)s->count <= (source->size - at) / s->cell.bytes);
    s->first = source->bytes + at;
    return SAP_OK;
}

static sap_status find_npy(const sap_source* source, const sap_volume_read_options* o, samples* s) {
    sap_npy_header h = {.axes = 0};
    sap_status status = sap_npy_header_read(source, SAP_NPY_AXES, &h);
    if (status != SAP_OK) return status;
    bool asked = false, same = true;
    for (int i = 0; i < 3; i++) {
        s->size[i] = i >= h.axes ? 1 : h.sides[h.fortran_order ? i : h.axes - 1 - i];
        asked = asked || o->size[i];
        same = same && o->size[i] == s->size[i];
    }
    if (asked && !same)
        return sap_bad_byte(source, SAP_ERROR_FORMAT, -1,
                            "the array has %lld x %lld x %lld samples, not %lld x %lld x %lld", (long long)s->size[0],
                            (long long)s->size[1], (long long)s->size[2], (long long)o->size[0], (long long)o->size[1],
                            (long long)o->size[2]);
    s->cell = h.cell;
    s->type = SAP_VOXEL_F32;
    if (h.cell.kind == 'u' && h.cell.bytes == 1) s->type = SAP_VOXEL_U8;
    if (h.cell.kind == 'u' && h.cell.bytes == 2) s->type = SAP_VOXEL_U16;
    if (h.cell.kind == 'i' && h.cell.bytes == 2) s->type = SAP_VOXEL_I16;
    return find_samples(source, h.data, false, s);
}

static sap_status find_raw(const sap_source* source, const sap_volume_read_options* o, samples* s) {
    static const sap_cell cells[] = {{'f', 4, false}, {'u', 1, false}, {'i', 2, false}, {'u', 2, false}};
    if (!o->size[0] && !o->size[1] && !o->size[2])
        return sap_fail(source->device, SAP_ERROR_ARGUMENT,
                        "options.size: a raw volume does not say its size; give its samples along x, y and z");
    memcpy(s->size, o->size, sizeof s->size);
    s->cell = cells[o->type];
    s->cell.big_endian = o->big_endian;
    s->type = o->type;
    return find_samples(source, (size_t)o->skip, true, s);
}

// ---- Samples in memory

// Whether samples are of use as they lie in the source.
static bool are_plain(const samples* s) {
    bool is_float = s->type == SAP_VOXEL_F32 && s->cell.kind == 'f' && s->cell.bytes == 4;
    bool same_type = is_float || s->type != SAP_VOXEL_F32;
    return same_type && (s->cell.bytes == 1 || s->cell.big_endian == host_big_endian);
}

// Integers of 16 bits, or floats of 32, whose bytes stand the other way round.
static void swap_bytes(const samples* s, unsigned char* to) {
    size_t each = s->cell.bytes;
    for (size_t i = 0; i < (size_t)s->count * each; i += each)
        for (size_t b = 0; b < each; b++) to[i + b] = s->first[i + each - 1 - b];
}

static sap_status make_floats(const sap_source* source, const samples* s, float* to) {
    for (int64_t i = 0; i < s->count; i++) {
        const unsigned char* at = s->first + i * s->cell.bytes;
        double value = sap_cell_double(at, s->cell);
        to[i] = (float)value;
        if (isfinite(value) && !isfinite(to[i]))
            return sap_bad_byte(source, SAP_ERROR_RANGE, at - source->bytes, "%.17g is beyond the range of a float",
                                value);
    }
    return SAP_OK;
}

static sap_status fill(const sap_source* source, const samples* s, void* to) {
    if (are_plain(s))
        memcpy(to, s->first, (size_t)s->count * s->cell.bytes);
    else if (s->cell.bytes == voxel_bytes(s->type) && (s->type != SAP_VOXEL_F32 || s->cell.kind == 'f'))
        swap_bytes(s, to);
    else
        return make_floats(source, s, to);
    return SAP_OK;
}

// Makes the volume; `mapped`, if there is any, is what the source's bytes lie in, and goes to the volume if these are
// of use as they are.
static sap_status make(const sap_source* source, const sap_volume_read_options* o, const samples* s,
                       sap_file_bytes* mapped, sap_volume_file** file) {
    owned_volume* made = sap_memory_allocate_zero(source->device, sizeof *made);
    if (!made) return sap_bad_byte(source, SAP_ERROR_MEMORY, -1, "no memory for a volume");
    made->device = source->device;
    SAP_ASSERT(s->count >= 0 && s->type >= SAP_VOXEL_F32 && s->type <= SAP_VOXEL_U16);
    made->bytes = (size_t)s->count * voxel_bytes(s->type);
    made->file.volume = (sap_volume){.values = s->first, .type = s->type};
    memcpy(made->file.volume.size, s->size, sizeof s->size);
    memcpy(made->file.volume.spacing, o->spacing, sizeof o->spacing);
    sap_status status = SAP_OK;
    if (mapped && are_plain(s) && (uintptr_t)s->first % voxel_bytes(s->type) == 0) {
        made->mapped = *mapped;
        *mapped = (sap_file_bytes){NULL, 0, 0};
    } else {
        made->file.volume.values = made->samples = sap_memory_allocate(source->device, made->bytes);
        status = made->samples
                     ? fill(source, s, made->samples)
                     : sap_bad_byte(source, SAP_ERROR_MEMORY, -1, "no memory for %lld samples", (long long)s->count);
    }
    if (status == SAP_OK)
        *file = &made->file;
    else
        sap_volume_file_free(&made->file);
    return status;
}

void sap_volume_file_free(sap_volume_file* file) {
    if (!file) return;
    owned_volume* owned = (owned_volume*)(void*)file;
    const sap_device* device = owned->device;
    sap_memory_release(device, owned->samples, owned->bytes);
    sap_file_release(device, &owned->mapped);
    sap_memory_release(device, owned, sizeof *owned);
}

// ---- The calls

static sap_status check(const sap_device* device, const sap_volume_read_options* o, sap_volume_file* const* file) {
    if (!file) return sap_fail(device, SAP_ERROR_ARGUMENT, "file: is NULL");
    if (o->type < SAP_VOXEL_F32 || o->type > SAP_VOXEL_U16)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.type: unknown type %d", (int)o->type);
    for (int i = 0; i < 3; i++)
        if (o->size[i] < 0)
            return sap_fail(device, SAP_ERROR_ARGUMENT, "options.size[%d]: %lld is negative", i, (long long)o->size[i]);
    if (o->skip < 0) return sap_fail(device, SAP_ERROR_ARGUMENT, "options.skip: %lld is negative", (long long)o->skip);
    return sap_reserved_check(device, o->reserved, "options");
}

static sap_status parse(const sap_source* source, const sap_volume_read_options* o, sap_file_bytes* mapped,
                        sap_volume_file** file) {
    samples s = {NULL, 0, {0, 0, 0}, {0, 0, false}, SAP_VOXEL_F32};
    sap_status status = sap_npy_begins(source) ? find_npy(source, o, &s) : find_raw(source, o, &s);
    return status == SAP_OK ? make(source, o, &s, mapped, file) : status;
}

sap_status sap_volume_parse(sap_device* device, const void* bytes, size_t size, const sap_volume_read_options* options,
                            sap_volume_file** file) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!bytes && size) return sap_fail(device, SAP_ERROR_ARGUMENT, "bytes: is NULL");
    const sap_volume_read_options none = {.skip = 0}, *o = options ? options : &none;
    sap_source source = {.device = device, .bytes = bytes ? bytes : "", .size = size, .real_bits = 32};
    sap_status status = check(device, o, file);
    return status == SAP_OK ? parse(&source, o, NULL, file) : status;
}

sap_status sap_volume_read(sap_device* device, const char* path, const sap_volume_read_options* options,
                           sap_volume_file** file) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!path) return sap_fail(device, SAP_ERROR_ARGUMENT, "path: is NULL");
    const sap_volume_read_options none = {.skip = 0}, *o = options ? options : &none;
    sap_status status = check(device, o, file);
    if (status != SAP_OK) return status;
    sap_file_bytes bytes;
    sap_source source = {.device = device, .real_bits = 32};
    status = sap_file_load(device, path, &source.name, &bytes);
    source.bytes = bytes.size ? bytes.memory : (const void*)"";
    source.size = bytes.size;
    if (status == SAP_OK) status = parse(&source, o, &bytes, file);
    sap_file_release(device, &bytes);
    return status;
}
