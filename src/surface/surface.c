// The public functions for surfaces: they check arguments, then call the processor's; and the memory of surfaces.
#include "surface/surface.h"
#include "base/assert.h"
#include "device/reserved.h"
#include <math.h>

// ---- Surfaces in memory

// The user's pointer is to the first member.
typedef struct owned_surface {
    sap_isosurface surface;
    sap_device* device;
    sap_scratch memory;          // of all arrays: lent by the device, so that the next result finds it touched
    sap_surface_release release; // or, on_device, a processor's own
} owned_surface;

enum { ARRAY_ALIGNMENT = 256 };

size_t sap_surface_array_bytes(int64_t rows) {
    SAP_ASSERT(rows >= 0);
    size_t bytes = (size_t)rows * 3 * sizeof(float);
    return (bytes + ARRAY_ALIGNMENT - 1) / ARRAY_ALIGNMENT * ARRAY_ALIGNMENT;
}

sap_status sap_surface_bytes(const sap_device* device, int64_t vertices, int64_t triangles, size_t* bytes) {
    bool many = vertices > INT32_MAX;
    if (many || triangles > INT32_MAX)
        return sap_fail(device, SAP_ERROR_RANGE, "the surface has %lld %s, more than the 2147483647 that a mesh can",
                        (long long)(many ? vertices : triangles), many ? "vertices" : "triangles");
    size_t of_vertices, of_triangles, sum;
    if (!sap_size_multiply((uint64_t)vertices, 6 * sizeof(float), &of_vertices) ||
        !sap_size_multiply((uint64_t)triangles, 3 * sizeof(int32_t), &of_triangles) ||
        !sap_size_add(of_vertices, of_triangles, &sum) || sum > PTRDIFF_MAX - 4 * ARRAY_ALIGNMENT)
        return sap_fail(device, SAP_ERROR_RANGE,
                        "a surface of %lld vertices and %lld triangles is more than memory can hold",
                        (long long)vertices, (long long)triangles);
    *bytes = 2 * sap_surface_array_bytes(vertices) + sap_surface_array_bytes(triangles);
    return SAP_OK;
}

static owned_surface* make(sap_device* device, int64_t vertices, int64_t triangles) {
    owned_surface* made = sap_memory_allocate_zero(device, sizeof *made);
    if (!made) return NULL;
    made->device = device;
    made->surface.mesh.vertex_count = vertices;
    made->surface.mesh.triangle_count = triangles;
    return made;
}

static void place(owned_surface* made, sap_scratch memory) {
    size_t each = sap_surface_array_bytes(made->surface.mesh.vertex_count);
    SAP_ASSERT(2 * each + sap_surface_array_bytes(made->surface.mesh.triangle_count) <= memory.bytes);
    made->memory = memory;
    made->surface.mesh.vertices = (const float*)(const void*)memory.memory;
    made->surface.normals = (const float*)(const void*)(memory.memory + each);
    made->surface.mesh.triangles = (const int32_t*)(const void*)(memory.memory + 2 * each);
}

sap_status sap_surface_reserve(sap_device* device, int64_t vertices, int64_t triangles, sap_isosurface** surface) {
    size_t bytes = 0;
    sap_status status = sap_surface_bytes(device, vertices, triangles, &bytes);
    if (status != SAP_OK) return status;
    owned_surface* made = make(device, vertices, triangles);
    sap_scratch memory;
    if (!made || !sap_scratch_take(device, bytes + 1, &memory)) {
        sap_memory_release(device, made, sizeof *made);
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a surface of %lld vertices and %lld triangles",
                        (long long)vertices, (long long)triangles);
    }
    place(made, memory);
    *surface = &made->surface;
    return SAP_OK;
}

sap_status sap_surface_adopt(sap_device* device, int64_t vertices, int64_t triangles, sap_scratch memory,
                             sap_surface_release release, sap_isosurface** surface) {
    owned_surface* made = make(device, vertices, triangles);
    if (!made) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a surface");
    place(made, memory);
    made->release = release;
    made->surface.on_device = true;
    *surface = &made->surface;
    return SAP_OK;
}

void sap_isosurface_free(sap_isosurface* surface) {
    if (!surface) return;
    owned_surface* owned = (owned_surface*)(void*)surface;
    if (surface->on_device)
        owned->release(owned->device, owned->memory.memory, owned->memory.bytes);
    else
        sap_scratch_give(owned->device, &owned->memory);
    sap_memory_release(owned->device, owned, sizeof *owned);
}

// ---- The call

sap_status sap_surface_not_finite(const sap_device* device, const sap_surface_job* job, int64_t sample) {
    int64_t x = sample % job->voxels.row, y = sample / job->voxels.row % job->lattice.sides[1];
    return sap_fail(device, SAP_ERROR_NOT_FINITE,
                    "volume.values: sample %lld (x %lld, y %lld, z %lld) is not finite, or above 2^126 in magnitude",
                    (long long)sample, (long long)x, (long long)y, (long long)(sample / job->voxels.slice));
}

// Bytes of a sample.
static size_t voxel_bytes(sap_voxel type) {
    static const size_t bytes[] = {4, 1, 2, 2};
    return bytes[type];
}

static sap_status check_size(const sap_device* device, const sap_volume* volume) {
    size_t bytes = voxel_bytes(volume->type);
    bool fits = true;
    for (int i = 0; i < 3; i++) {
        if (volume->size[i] < 0)
            return sap_fail(device, SAP_ERROR_ARGUMENT, "volume.size[%d]: %lld is negative", i,
                            (long long)volume->size[i]);
        if (volume->size[i] > INT32_MAX)
            return sap_fail(device, SAP_ERROR_RANGE, "volume.size[%d]: %lld is more than 2147483647", i,
                            (long long)volume->size[i]);
    }
    bool empty = !volume->size[0] || !volume->size[1] || !volume->size[2];
    for (int i = 0; i < 3 && !empty; i++) fits = fits && sap_size_multiply(bytes, (uint64_t)volume->size[i], &bytes);
    if (!empty && (!fits || bytes > PTRDIFF_MAX))
        return sap_fail(device, SAP_ERROR_RANGE,
                        "volume.size: %lld x %lld x %lld samples are more than memory can hold",
                        (long long)volume->size[0], (long long)volume->size[1], (long long)volume->size[2]);
    if (!empty && !volume->values) return sap_fail(device, SAP_ERROR_ARGUMENT, "volume.values: is NULL");
    if (!empty && (uintptr_t)volume->values % voxel_bytes(volume->type))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "volume.values: is not aligned to %zu bytes, which its type needs",
                        voxel_bytes(volume->type));
    return SAP_OK;
}

sap_status sap_surface_place(const sap_device* device, const sap_volume* volume, const char* name,
                             sap_lattice* lattice) {
    const double most = 0x1p126;
    float least = INFINITY;
    for (int i = 0; i < 3; i++) {
        float spacing = volume->spacing[i] == 0 ? 1 : volume->spacing[i], origin = volume->origin[i];
        if (!(spacing > 0) || !((double)spacing * (double)volume->size[i] <= most))
            return sap_fail(device, SAP_ERROR_ARGUMENT,
                            "%s.spacing[%d]: %g is not above 0, or puts samples beyond 2^126", name, i,
                            (double)spacing);
        if (!(fabsf(origin) <= (float)most))
            return sap_fail(device, SAP_ERROR_ARGUMENT, "%s.origin[%d]: %g is not finite, or beyond 2^126", name, i,
                            (double)origin);
        lattice->sides[i] = (int)volume->size[i];
        lattice->spacing[i] = spacing;
        lattice->origin[i] = origin;
        least = spacing < least ? spacing : least;
    }
    for (int i = 0; i < 3; i++) lattice->slopes[i] = least / lattice->spacing[i];
    return SAP_OK;
}

sap_status sap_isosurface_extract(sap_device* device, sap_volume volume, const sap_isosurface_options* options,
                                  sap_isosurface** surface) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!surface) return sap_fail(device, SAP_ERROR_ARGUMENT, "surface: is NULL");
    sap_isosurface_options o = options ? *options : (sap_isosurface_options){0};
    if (volume.type < SAP_VOXEL_F32 || volume.type > SAP_VOXEL_U16)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "volume.type: unknown type %d", (int)volume.type);
    if (!isfinite(o.level))
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.level: %g is not finite", (double)o.level);
    sap_status status = sap_reserved_check(device, o.reserved, "options");
    if (status != SAP_OK) return status;
    sap_surface_job job = {.low_inside = o.low_inside, .surface = surface};
    status = check_size(device, &volume);
    if (status == SAP_OK) status = sap_surface_place(device, &volume, "volume", &job.lattice);
    if (status != SAP_OK) return status;
    if (!SAP_CAN(device, surface, extract)) return sap_unsupported(device, "extract surfaces");
    if (volume.size[0] < 2 || volume.size[1] < 2 || volume.size[2] < 2)
        return sap_surface_reserve(device, 0, 0, surface);
    job.voxels = (sap_voxels){volume.values, volume.size[0], volume.size[0] * volume.size[1], volume.type};
    job.lattice.level = o.level;
    job.lattice.facing = o.low_inside ? 1 : -1;
    return device->rooms.surface->extract(device, &job);
}
