// Volumes: NPY arrays of three axes, and raw samples.
#include "base/assert.h"
#include "device/memory.h"
#include "device/reserved.h"
#include "files/gzip.h"
#include "files/npy.h"
#include "files/npz.h"
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
    bool z_fastest; // in the source; else x
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
        s->size[i] = i >= h.axes ? 1 : h.sides[o->order == SAP_ORDER_XYZ ? i : h.axes - 1 - i];
        asked = asked || o->size[i];
        same = same && o->size[i] == s->size[i];
    }
    if (asked && !same)
        return sap_bad_byte(source, SAP_ERROR_FORMAT, -1,
                            "the array has %lld x %lld x %lld samples, not %lld x %lld x %lld", (long long)s->size[0],
                            (long long)s->size[1], (long long)s->size[2], (long long)o->size[0], (long long)o->size[1],
                            (long long)o->size[2]);
    s->z_fastest = h.fortran_order != (o->order == SAP_ORDER_XYZ);
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
    s->z_fastest = o->order == SAP_ORDER_XYZ;
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
    return same_type && !s->z_fastest && (s->cell.bytes == 1 || s->cell.big_endian == host_big_endian);
}

enum { SQUARE = 32 }; // samples that are turned together, along x and along z

// Samples that lie in the source at equal distances.
typedef struct run {
    const unsigned char* first;
    int64_t count;
    size_t step; // bytes
} run;

// Numbers that stay what they are, whose bytes may stand the other way round.
static void copy_run(const samples* s, run from, unsigned char* to) {
    const size_t each = s->cell.bytes;
    const bool swap = s->cell.big_endian != host_big_endian;
    for (int64_t i = 0; i < from.count; i++, to += each)
        for (size_t b = 0; b < each; b++) to[b] = from.first[(size_t)i * from.step + (swap ? each - 1 - b : b)];
}

static sap_status make_floats(const sap_source* source, const samples* s, run from, float* to) {
    for (int64_t i = 0; i < from.count; i++) {
        const unsigned char* at = from.first + (size_t)i * from.step;
        double value = sap_cell_double(at, s->cell);
        to[i] = (float)value;
        if (isfinite(value) && !isfinite(to[i]))
            return sap_bad_byte(source, SAP_ERROR_RANGE, at - source->bytes, "%.15g is beyond the range of a float",
                                value);
    }
    return SAP_OK;
}

static sap_status fill_run(const sap_source* source, const samples* s, run from, void* to) {
    if (s->cell.bytes != voxel_bytes(s->type) || (s->type == SAP_VOXEL_F32 && s->cell.kind != 'f'))
        return make_floats(source, s, from, to);
    copy_run(s, from, to);
    return SAP_OK;
}

// Turns the square that begins at a sample and extends along x and z.
static sap_status turn_square(const sap_source* source, const samples* s, const int64_t at[3], unsigned char* to) {
    const int64_t *size = s->size, columns = size[0] - at[0], rows = size[2] - at[2];
    const size_t each = s->cell.bytes, step = (size_t)(size[1] * size[2]) * each;
    sap_status status = SAP_OK;
    for (int64_t z = at[2]; z < at[2] + (rows < SQUARE ? rows : SQUARE) && status == SAP_OK; z++) {
        const unsigned char* first = s->first + (size_t)(z + size[2] * (at[1] + size[1] * at[0])) * each;
        unsigned char* row = to + (size_t)(at[0] + size[0] * (at[1] + size[1] * z)) * voxel_bytes(s->type);
        status = fill_run(source, s, (run){first, columns < SQUARE ? columns : SQUARE, step}, row);
    }
    return status;
}

// Samples of which those along z are neighbours in the source: by squares, so that all that is fetched is used soon.
static sap_status turn(const sap_source* source, const samples* s, unsigned char* to) {
    sap_status status = SAP_OK;
    for (int64_t y = 0; y < s->size[1]; y++)
        for (int64_t z = 0; z < s->size[2]; z += SQUARE)
            for (int64_t x = 0; x < s->size[0] && status == SAP_OK; x += SQUARE)
                status = turn_square(source, s, (int64_t[]){x, y, z}, to);
    return status;
}

static sap_status fill(const sap_source* source, const samples* s, void* to) {
    if (s->z_fastest && s->count) return turn(source, s, to);
    if (!are_plain(s)) return fill_run(source, s, (run){s->first, s->count, s->cell.bytes}, to);
    memcpy(to, s->first, (size_t)s->count * s->cell.bytes);
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
    if (o->order != SAP_ORDER_ZYX && o->order != SAP_ORDER_XYZ)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.order: unknown order %d", (int)o->order);
    for (int i = 0; i < 3; i++)
        if (o->size[i] < 0)
            return sap_fail(device, SAP_ERROR_ARGUMENT, "options.size[%d]: %lld is negative", i, (long long)o->size[i]);
    const sap_status status = sap_unpack_limit_check(device, o->unpack_limit);
    if (status != SAP_OK) return status;
    if (o->skip < 0) return sap_fail(device, SAP_ERROR_ARGUMENT, "options.skip: %lld is negative", (long long)o->skip);
    return sap_reserved_check(device, o->reserved, "options");
}

static const samples no_samples = {NULL, 0, {0, 0, 0}, {0, 0, false}, SAP_VOXEL_F32, false};

// Whether the source is just as long as raw samples of the size that is given: these may begin as gzip or archives do.
static bool is_raw(const sap_source* source, const sap_volume_read_options* o) {
    sap_source quiet = *source;
    samples s = no_samples;
    quiet.device = NULL;
    return find_raw(&quiet, o, &s) == SAP_OK;
}

// Tells of options that say how raw samples lie, where an array of NumPy says that itself.
static void tell_unused(const sap_source* source, const sap_volume_read_options* o) {
    if (o->type == SAP_VOXEL_F32 && !o->big_endian && !o->skip) return;
    (void)sap_bad_byte(
        source, SAP_OK, -1,
        "this is an array of NumPy, so what is said of raw samples (type, big-endian, skip) is not used");
}

static sap_status parse(const sap_source* source, const sap_volume_read_options* o, sap_file_bytes* mapped,
                        sap_volume_file** file) {
    sap_source plain = *source;
    sap_file_bytes unpacked = {NULL, 0, 0};
    samples s = no_samples;
    static const char* const usual[] = {"volume", NULL};
    const bool raw = !sap_npy_begins(source) && is_raw(source, o), archive = !raw && sap_npz_begins(source);
    sap_status status = SAP_OK;
    if (archive)
        status = sap_npz_take(&plain, source->member, usual, &unpacked);
    else if (!raw)
        status = sap_gzip_unpack(&plain, &unpacked);
    if (status == SAP_OK && source->member && !archive) status = sap_member_refuse(source);
    const bool array = archive || sap_npy_begins(&plain);
    if (status == SAP_OK && !array && !is_raw(&plain, o)) status = sap_foreign_check(&plain);
    if (status == SAP_OK) status = array ? find_npy(&plain, o, &s) : find_raw(&plain, o, &s);
    if (status == SAP_OK && array) tell_unused(&plain, o);
    if (status == SAP_OK) status = make(&plain, o, &s, unpacked.memory ? &unpacked : mapped, file);
    sap_file_release(source->device, &unpacked);
    return status;
}

sap_status sap_volume_parse(sap_device* device, const void* bytes, size_t size, const sap_volume_read_options* options,
                            sap_volume_file** file) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!bytes && size) return sap_fail(device, SAP_ERROR_ARGUMENT, "bytes: is NULL");
    const sap_volume_read_options none = {.skip = 0}, *o = options ? options : &none;
    sap_source source = {.device = device,
                         .bytes = bytes ? bytes : "",
                         .size = size,
                         .real_bits = 32,
                         .member = o->member,
                         .unpack_limit = o->unpack_limit};
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
    sap_source source = {.device = device, .real_bits = 32, .member = o->member, .unpack_limit = o->unpack_limit};
    status = sap_file_load(device, path, &source.name, &bytes);
    source.bytes = bytes.size ? bytes.memory : (const void*)"";
    source.size = bytes.size;
    if (status == SAP_OK) status = parse(&source, o, &bytes, file);
    sap_file_release(device, &bytes);
    return status;
}
