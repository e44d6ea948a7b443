// The public functions for surfaces that stay on a GPU: they check arguments, in every build, then call the processor's.
#include "surface/resident.h"
#include "device/reserved.h"
#include "surface/surface.h"
#include <math.h>

enum { MOST_SAMPLES = 858993459 }; // five triangles each are numbered in 32 bits

static sap_status check(const sap_device* device, const sap_gl_surface_options* o, sap_lattice* lattice) {
    sap_volume volume = {0};
    double samples = 1;
    if (o->type < SAP_VOXEL_F32 || o->type > SAP_VOXEL_U16)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.type: unknown type %d", (int)o->type);
    sap_status status = sap_reserved_check(device, o->reserved, "options");
    if (status != SAP_OK) return status;
    for (int i = 0; i < 3; i++) {
        if (o->size[i] < 2)
            return sap_fail(device, SAP_ERROR_ARGUMENT, "options.size[%d]: %d samples; at least 2 are needed", i,
                            (int)o->size[i]);
        volume.size[i] = o->size[i];
        volume.spacing[i] = o->spacing[i];
        volume.origin[i] = o->origin[i];
        samples *= o->size[i];
    }
    if (o->vertices < 0 || o->triangles < 0)
        return sap_fail(device, SAP_ERROR_ARGUMENT,
                        "options.vertices and .triangles: %lld and %lld; neither may be negative",
                        (long long)o->vertices, (long long)o->triangles);
    if (o->vertices > INT32_MAX || o->triangles > INT32_MAX)
        return sap_fail(device, SAP_ERROR_RANGE,
                        "options.vertices and .triangles: %lld and %lld; a mesh has 2147483647 of each at most",
                        (long long)o->vertices, (long long)o->triangles);
    status = sap_surface_place(device, &volume, "options", lattice);
    if (status == SAP_OK && samples > MOST_SAMPLES)
        status = sap_fail(device, SAP_ERROR_RANGE, "options.size: %d x %d x %d samples; in OpenGL %d at most",
                          (int)o->size[0], (int)o->size[1], (int)o->size[2], (int)MOST_SAMPLES);
    return status;
}

sap_status sap_gl_surface_create(sap_device* device, const sap_gl_surface_options* options, sap_gl_surface** surface) {
    sap_lattice lattice = {0};
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!options) return sap_fail(device, SAP_ERROR_ARGUMENT, "options: is NULL");
    if (!surface) return sap_fail(device, SAP_ERROR_ARGUMENT, "surface: is NULL");
    if (!SAP_CAN(device, resident, create)) return sap_unsupported(device, "keep surfaces in OpenGL");
    sap_status status = check(device, options, &lattice);
    if (status != SAP_OK) return status;
    sap_gl_surface* made = sap_memory_allocate_zero(device, sizeof *made);
    if (!made) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a surface");
    lattice.facing = options->low_inside ? 1 : -1;
    made->device = device;
    made->options = *options;
    made->lattice = lattice;
    status = device->rooms.resident->create(made);
    if (status == SAP_OK)
        *surface = made;
    else
        sap_memory_release(device, made, sizeof *made);
    return status;
}

void sap_gl_surface_free(sap_gl_surface* surface) {
    if (!surface) return;
    surface->device->rooms.resident->free(surface);
    sap_memory_release(surface->device, surface, sizeof *surface);
}

sap_status sap_gl_surface_load(sap_gl_surface* surface, const void* values) {
    if (!surface) return SAP_ERROR_ARGUMENT;
    if (!values) return sap_fail(surface->device, SAP_ERROR_ARGUMENT, "values: is NULL");
    return surface->device->rooms.resident->load(surface, values);
}

sap_status sap_gl_surface_extract(sap_gl_surface* surface, uint32_t volume, float level) {
    if (!surface) return SAP_ERROR_ARGUMENT;
    const sap_device* device = surface->device;
    if (!isfinite(level)) return sap_fail(device, SAP_ERROR_ARGUMENT, "level: %g is not finite", (double)level);
    if (!volume && !surface->loaded)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "volume: is 0, and no volume has been loaded");
    return device->rooms.resident->extract(surface, volume ? volume : surface->loaded, level);
}

static sap_status check_filled(const sap_gl_surface* surface) {
    return surface->filled ? SAP_OK
                           : sap_fail(surface->device, SAP_ERROR_ARGUMENT, "surface: nothing has been extracted yet");
}

sap_status sap_gl_surface_describe(sap_gl_surface* surface, sap_gl_surface_info* info) {
    if (!surface) return SAP_ERROR_ARGUMENT;
    if (!info) return sap_fail(surface->device, SAP_ERROR_ARGUMENT, "info: is NULL");
    sap_status status = check_filled(surface);
    if (status == SAP_OK) status = surface->device->rooms.resident->count(surface);
    if (status != SAP_OK) return status;
    *info = (sap_gl_surface_info){
        .vertex_count = surface->total[SAP_SURFACE_VERTICES],
        .triangle_count = surface->total[SAP_SURFACE_TRIANGLES],
        .vertices = surface->made[SAP_SURFACE_VERTICES],
        .triangles = surface->made[SAP_SURFACE_TRIANGLES],
        .command = surface->command,
        .positions = surface->texture[0],
        .normals = surface->texture[1],
        .corners = surface->texture[2],
        .width = {surface->list[SAP_SURFACE_VERTICES].width, surface->list[SAP_SURFACE_TRIANGLES].width}};
    return SAP_OK;
}

static sap_status check_look(const sap_device* device, const sap_gl_surface_look* look) {
    bool finite = isfinite(look->ambient);
    for (int i = 0; i < 16; i++) finite = finite && isfinite(look->matrix[i]);
    for (int i = 0; i < 3; i++) finite = finite && isfinite(look->light[i]) && isfinite(look->color[i]);
    if (!finite) return sap_fail(device, SAP_ERROR_ARGUMENT, "look: has numbers that are not finite");
    return sap_reserved_check(device, look->reserved, "look");
}

sap_status sap_gl_surface_draw(const sap_gl_surface* surface, const sap_gl_surface_look* look, uint32_t framebuffer,
                               const int32_t rectangle[4]) {
    if (!surface) return SAP_ERROR_ARGUMENT;
    const sap_device* device = surface->device;
    if (!look) return sap_fail(device, SAP_ERROR_ARGUMENT, "look: is NULL");
    if (!rectangle) return sap_fail(device, SAP_ERROR_ARGUMENT, "rectangle: is NULL");
    if (rectangle[2] < 1 || rectangle[3] < 1)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "rectangle: %d x %d pixels; both numbers must be at least 1",
                        (int)rectangle[2], (int)rectangle[3]);
    sap_status status = check_filled(surface);
    if (status == SAP_OK) status = check_look(device, look);
    return status == SAP_OK ? device->rooms.resident->draw(surface, look, framebuffer, rectangle) : status;
}

sap_status sap_gl_surface_read(sap_gl_surface* surface, sap_isosurface** read) {
    if (!surface) return SAP_ERROR_ARGUMENT;
    if (!read) return sap_fail(surface->device, SAP_ERROR_ARGUMENT, "read: is NULL");
    sap_status status = check_filled(surface);
    return status == SAP_OK ? surface->device->rooms.resident->read(surface, read) : status;
}
