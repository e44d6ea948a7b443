// Which format a mesh file has, and the mesh that its reader makes.
#include "base/assert.h"
#include "device/reserved.h"
#include "files/gzip.h"
#include "files/mesh/mesh_draft.h"
#include <string.h>

enum { VERTICES, COLORS, TRIANGLES, MATERIAL_IDS, MATERIALS, NAMES, ARRAYS };

// A mesh as it is owned.
typedef struct owned_mesh {
    sap_mesh_file file;
    const sap_device* device;
    sap_array arrays[ARRAYS];
} owned_mesh;

// A page has no use for glTF (packaging/web.cmake).
#ifdef __EMSCRIPTEN__
static bool begins_as_gltf(const sap_source* source) {
    (void)source;
    return false;
}

static sap_status read_gltf(const sap_source* source, const sap_mesh_job* job, sap_mesh_draft* draft) {
    (void)job;
    (void)draft;
    return sap_bad_byte(source, SAP_ERROR_UNSUPPORTED, -1, "this Sapwood reads no glTF");
}
#else
static bool begins_as_gltf(const sap_source* source) { return sap_gltf_begins(source); }

static sap_status read_gltf(const sap_source* source, const sap_mesh_job* job, sap_mesh_draft* draft) {
    return sap_read_gltf(source, job, draft);
}
#endif

static sap_format detect(const sap_source* source, sap_format suffix) {
    if (sap_ply_begins(source)) return SAP_FORMAT_PLY;
    if (suffix == SAP_FORMAT_PLY) return suffix;
    if (sap_off_begins(source)) return SAP_FORMAT_OFF;
    if (sap_stl_begins(source)) return SAP_FORMAT_STL;
    if (begins_as_gltf(source)) return SAP_FORMAT_GLTF;
    return suffix == SAP_FORMAT_AUTO ? SAP_FORMAT_OBJ : suffix;
}

static void release(sap_mesh_draft* draft) {
    const sap_device* device = draft->source->device;
    sap_array_release(device, &draft->vertices);
    sap_array_release(device, &draft->colors);
    sap_array_release(device, &draft->triangles);
    sap_array_release(device, &draft->material_ids);
    sap_array_release(device, &draft->polygon);
    sap_materials_release(device, &draft->table);
}

// Moves the arrays from the draft to a mesh of its own.
static sap_status finish(sap_mesh_draft* draft, sap_mesh_file** file) {
    sap_material_table* table = &draft->table;
    owned_mesh* owned = sap_memory_allocate(draft->source->device, sizeof *owned);
    if (!owned) return sap_draft_no_memory(draft);
    SAP_ASSERT(draft->vertices.used == (size_t)draft->vertex_count * 3 * sizeof(float));
    SAP_ASSERT(draft->triangles.used == (size_t)draft->triangle_count * 3 * sizeof(int32_t));
    sap_materials_finish(table);
    *owned = (owned_mesh){.device = draft->source->device};
    sap_array* const from[ARRAYS] = {&draft->vertices,     &draft->colors,    &draft->triangles,
                                     &draft->material_ids, &table->materials, &table->names};
    for (int i = 0; i < ARRAYS; i++) {
        owned->arrays[i] = *from[i];
        *from[i] = (sap_array){NULL, 0, 0};
    }
    owned->file = (sap_mesh_file){.mesh = {owned->arrays[VERTICES].memory, draft->vertex_count,
                                           owned->arrays[TRIANGLES].memory, draft->triangle_count},
                                  .colors = owned->arrays[COLORS].memory,
                                  .material_ids = owned->arrays[MATERIAL_IDS].memory,
                                  .materials = owned->arrays[MATERIALS].memory,
                                  .material_count = table->count};
    memcpy(owned->file.origin, draft->origin, sizeof draft->origin);
    *file = &owned->file;
    return SAP_OK;
}

static sap_status read_format(const sap_source* source, const sap_mesh_job* job, sap_format format,
                              sap_mesh_draft* draft) {
    if (format == SAP_FORMAT_PLY) return sap_read_ply_mesh(source, job, draft);
    if (format == SAP_FORMAT_OBJ) return sap_read_obj(source, job, draft);
    if (format == SAP_FORMAT_STL) return sap_read_stl(source, job, draft);
    if (format == SAP_FORMAT_OFF) return sap_read_off(source, draft);
    if (format == SAP_FORMAT_GLTF) return read_gltf(source, job, draft);
    return sap_bad_byte(source, SAP_ERROR_UNSUPPORTED, -1,
                        "%s holds points, not a mesh; meshes come as PLY, OBJ, STL, OFF or glTF",
                        sap_format_name(format));
}

// Reads the file again, to see how far the vertices of the draft are from what it says.
static sap_status measure(const sap_mesh_job* job, sap_format format, const sap_mesh_draft* draft, double* moved) {
    sap_source source = *draft->source;
    source.again = true;
    sap_mesh_draft again = {.source = &source, .material = -1, .shifted = draft->shifted, .measures = true};
    memcpy(again.origin, draft->origin, sizeof again.origin);
    sap_status status = read_format(&source, job, format, &again);
    *moved = again.moved;
    release(&again);
    return status;
}

// Reads all of the file again, relative to an origin in the middle of the draft's vertices. `source` is memory for one
// that tells nothing twice.
static sap_status read_from_middle(const sap_mesh_job* job, sap_format format, sap_source* source,
                                   sap_mesh_draft* draft) {
    sap_mesh_draft near = {.source = source, .material = -1, .shifted = true};
    sap_draft_origin_choose(draft, near.origin);
    *source = *draft->source;
    source->again = true;
    release(draft);
    *draft = near;
    return read_format(source, job, format, draft);
}

// Vertices that floats move too far for their bounds are read relative to an origin, or the log tells of them.
static sap_status look_for_movement(const sap_mesh_job* job, sap_format format, sap_source* source,
                                    sap_mesh_draft* draft) {
    double moved = 0;
    if (!sap_draft_may_be_moved(draft)) return SAP_OK;
    sap_status status = measure(job, format, draft, &moved);
    if (status != SAP_OK || !sap_draft_is_moved(draft, moved)) return status;
    if (job->options && job->options->find_origin) return read_from_middle(job, format, source, draft);
    sap_draft_tell_moved(draft, moved);
    return SAP_OK;
}

static sap_status parse(const sap_source* source, const sap_mesh_job* job, sap_mesh_file** file) {
    sap_format format = job->format == SAP_FORMAT_AUTO ? detect(source, job->suffix) : job->format;
    const sap_mesh_read_options* options = job->options;
    sap_mesh_draft draft = {.source = source, .material = -1};
    sap_source again;
    sap_status status = options ? sap_reserved_check(source->device, options->reserved, "options") : SAP_OK;
    if (status == SAP_OK) status = sap_draft_origin_take(options, &draft);
    if (status != SAP_OK) return status;
    if (options && !options->materials && options->materials_size)
        return sap_fail(source->device, SAP_ERROR_ARGUMENT, "options.materials: is NULL, but its size is %zu",
                        options->materials_size);
    if (source->size == 0) return sap_bad_byte(source, SAP_ERROR_FORMAT, 0, "the file is empty; give one with a mesh");
    status = sap_foreign_check(source);
    if (status != SAP_OK) return status;
    status = read_format(source, job, format, &draft);
    if (status == SAP_OK) status = sap_draft_check_counts(&draft);
    if (status == SAP_OK) status = look_for_movement(job, format, &again, &draft);
    if (status == SAP_OK) status = finish(&draft, file);
    release(&draft);
    return status;
}

sap_status sap_mesh_source_parse(const sap_source* source, const sap_mesh_job* job, sap_mesh_file** file) {
    sap_source plain = *source;
    sap_file_bytes unpacked;
    plain.unpack_limit = job->options ? job->options->unpack_limit : 0;
    sap_status status = sap_unpack_limit_check(source->device, plain.unpack_limit);
    if (status != SAP_OK) return status;
    status = sap_gzip_unpack(&plain, &unpacked);
    if (status == SAP_OK) status = parse(&plain, job, file);
    sap_file_release(source->device, &unpacked);
    return status;
}

sap_status sap_mesh_parse(sap_device* device, const void* bytes, size_t size, sap_format format,
                          const sap_mesh_read_options* options, sap_mesh_file** file) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!bytes && size) return sap_fail(device, SAP_ERROR_ARGUMENT, "bytes: is NULL, but size is %zu", size);
    sap_status status = sap_format_check(device, format);
    if (status != SAP_OK) return status;
    if (!file) return sap_fail(device, SAP_ERROR_ARGUMENT, "file: is NULL");
    sap_source source = {.device = device, .bytes = bytes, .size = size, .real_bits = 32};
    return sap_mesh_source_parse(&source, &(sap_mesh_job){.format = format, .options = options}, file);
}

void sap_mesh_file_free(sap_mesh_file* file) {
    if (!file) return;
    owned_mesh* owned = (owned_mesh*)file;
    const sap_device* device = owned->device;
    for (int i = 0; i < ARRAYS; i++) sap_array_release(device, &owned->arrays[i]);
    sap_memory_release(device, owned, sizeof *owned);
}

sap_status sap_draft_no_memory(const sap_mesh_draft* draft) {
    return sap_bad_byte(draft->source, SAP_ERROR_MEMORY, -1, "no memory for a mesh of %lld vertices, %lld triangles",
                        (long long)draft->vertex_count, (long long)draft->triangle_count);
}

sap_status sap_draft_check_counts(const sap_mesh_draft* draft) {
    bool vertices = draft->vertex_count > INT32_MAX;
    if (!vertices && draft->triangle_count <= INT32_MAX) return SAP_OK;
    return sap_bad_byte(draft->source, SAP_ERROR_RANGE, -1, "%lld %s are more than the 2147483647 that ids can number",
                        (long long)(vertices ? draft->vertex_count : draft->triangle_count),
                        vertices ? "vertices" : "triangles");
}
