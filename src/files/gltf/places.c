// Meshes and where they stand: a glTF whose nodes share meshes, or any other file as one piece in one place.
#include "device/device.h"
#include "files/gltf/model.h"
#include <math.h>
#include <string.h>

typedef struct owned_places {
    sap_mesh_places places;
    sap_device* device;
    sap_mesh_piece* pieces;
    sap_piece_place* placed;
    size_t piece_room, place_room;
} owned_places;

void sap_mesh_places_free(sap_mesh_places* places) {
    if (!places) return;
    owned_places* owned = (owned_places*)places;
    sap_mesh_file_free((sap_mesh_file*)(uintptr_t)places->file);
    sap_memory_release(owned->device, owned->pieces, owned->piece_room * sizeof *owned->pieces);
    sap_memory_release(owned->device, owned->placed, owned->place_room * sizeof *owned->placed);
    sap_memory_release(owned->device, owned, sizeof *owned);
}

// Memory for so many pieces and places.
static bool reserve(owned_places* owned, size_t pieces, size_t places) {
    owned->piece_room = pieces;
    owned->place_room = places;
    owned->pieces = sap_memory_allocate_zero(owned->device, pieces * sizeof *owned->pieces);
    owned->placed = sap_memory_allocate_zero(owned->device, places * sizeof *owned->placed);
    owned->places.pieces = owned->pieces;
    owned->places.places = owned->placed;
    return owned->pieces && owned->placed;
}

static void widen(const float at[3], float lower[3], float upper[3]) {
    for (int a = 0; a < 3; a++) {
        lower[a] = at[a] < lower[a] ? at[a] : lower[a];
        upper[a] = at[a] > upper[a] ? at[a] : upper[a];
    }
}

static void empty(float lower[3], float upper[3]) {
    for (int a = 0; a < 3; a++) {
        lower[a] = INFINITY;
        upper[a] = -INFINITY;
    }
}

static void add_piece(owned_places* owned, int64_t first, int64_t end) {
    const sap_mesh* mesh = &owned->places.file->mesh;
    sap_mesh_piece* piece = &owned->pieces[owned->places.piece_count++];
    *piece = (sap_mesh_piece){.first_triangle = first, .triangle_count = end - first};
    empty(piece->lower, piece->upper);
    for (int64_t i = 3 * first; i < 3 * end; i++)
        widen(mesh->vertices + 3 * (int64_t)mesh->triangles[i], piece->lower, piece->upper);
}

// world NULL: as it is.
static void add_place(owned_places* owned, int32_t piece, const double* world) {
    sap_piece_place* place = &owned->placed[owned->places.place_count++];
    place->piece = piece;
    for (int i = 0; i < SAP_GLTF_NUMBERS; i++) place->transform[i] = world ? (float)world[i] : i % 5 == 0 ? 1 : 0;
}

// What nodes do not share is left out if it is nothing, unless there is nothing else.
static bool is_kept(const sap_gltf_model* model, int64_t end_of_first) {
    return end_of_first > 0 || model->groups.used == sizeof(sap_gltf_group);
}

static bool fill(owned_places* owned, const sap_gltf_model* model, double* worlds) {
    const sap_gltf_group* groups = model->groups.memory;
    const sap_gltf_place* places = model->places.memory;
    const size_t group_count = model->groups.used / sizeof *groups, place_count = model->places.used / sizeof *places;
    const int64_t triangles = owned->places.file->mesh.triangle_count;
    if (!reserve(owned, group_count, place_count)) return false;
    sap_gltf_place_nodes(model->nodes.memory, model->nodes.used / sizeof(sap_gltf_node), worlds);
    const bool first = is_kept(model, group_count > 1 ? groups[1].first_triangle : triangles);
    for (size_t i = first ? 0 : 1; i < group_count; i++)
        add_piece(owned, groups[i].first_triangle, i + 1 < group_count ? groups[i + 1].first_triangle : triangles);
    for (size_t i = first ? 0 : 1; i < place_count; i++)
        add_place(owned, places[i].group - !first,
                  places[i].node < 0 ? NULL : worlds + SAP_GLTF_NUMBERS * (size_t)places[i].node);
    return true;
}

static bool fill_whole(owned_places* owned) {
    if (!reserve(owned, 1, 1)) return false;
    add_piece(owned, 0, owned->places.file->mesh.triangle_count);
    add_place(owned, 0, NULL);
    return true;
}

// A place's corner in the world.
static void move(const float m[12], const float* v, float to[3]) {
    for (int r = 0; r < 3; r++, m += 4)
        to[r] = (float)((double)m[0] * (double)v[0] + (double)m[1] * (double)v[1] + (double)m[2] * (double)v[2] +
                        (double)m[3]);
}

sap_mesh sap_mesh_piece_of(const sap_mesh_places* places, int32_t piece) {
    if (!places || piece < 0 || piece >= places->piece_count) return (sap_mesh){0};
    const sap_mesh_piece* of = &places->pieces[piece];
    const sap_mesh* mesh = &places->file->mesh;
    return (sap_mesh){mesh->vertices, mesh->vertex_count, mesh->triangles + 3 * of->first_triangle, of->triangle_count};
}

// The box around a piece's box, moved.
static void move_box(const sap_mesh_piece* piece, const float m[12], float lower[3], float upper[3]) {
    empty(lower, upper);
    for (int corner = 0; corner < 8; corner++) {
        float v[3], at[3];
        for (int a = 0; a < 3; a++) v[a] = corner >> a & 1 ? piece->upper[a] : piece->lower[a];
        move(m, v, at);
        widen(at, lower, upper);
    }
}

static bool is_within(const float lower[3], const float upper[3], const float outer[3], const float most[3]) {
    bool within = true;
    for (int a = 0; a < 3; a++) within = within && lower[a] >= outer[a] && upper[a] <= most[a];
    return within;
}

sap_status sap_mesh_places_bounds(const sap_mesh_places* places, float lower[3], float upper[3]) {
    if (!places || !lower || !upper) return SAP_ERROR_ARGUMENT;
    for (int64_t i = 0; i < places->place_count; i++)
        if (places->places[i].piece < 0 || places->places[i].piece >= places->piece_count) return SAP_ERROR_ARGUMENT;
    empty(lower, upper);
    const sap_mesh* mesh = &places->file->mesh;
    for (int64_t i = 0; i < places->place_count; i++) {
        const sap_piece_place* place = &places->places[i];
        const sap_mesh_piece* piece = &places->pieces[place->piece];
        float low[3], high[3], at[3];
        if (piece->triangle_count == 0) continue;
        move_box(piece, place->transform, low, high);
        if (is_within(low, high, lower, upper)) continue;
        const int32_t* corner = mesh->triangles + 3 * piece->first_triangle;
        for (int64_t k = 0; k < 3 * piece->triangle_count; k++) {
            move(place->transform, mesh->vertices + 3 * (int64_t)corner[k], at);
            widen(at, lower, upper);
        }
    }
    return SAP_OK;
}

// Whether floats are too coarse for where the places lie: by 2^-20 of the largest side.
static bool are_far(const sap_mesh_places* places) {
    float lower[3], upper[3], low[3], high[3];
    double side = 0, far = 0;
    empty(lower, upper);
    for (int64_t i = 0; i < places->place_count; i++) {
        const sap_mesh_piece* piece = &places->pieces[places->places[i].piece];
        if (piece->triangle_count == 0) continue;
        move_box(piece, places->places[i].transform, low, high);
        widen(low, lower, upper);
        widen(high, lower, upper);
    }
    if (!(lower[0] <= upper[0])) return false;
    for (int a = 0; a < 3; a++) {
        side = fmax(side, (double)upper[a] - (double)lower[a]);
        far = fmax(far, fmax(fabs((double)lower[a]), fabs((double)upper[a])));
    }
    return !(far * 0x1p-24 <= side * 0x1p-20);
}

static sap_status keep(owned_places* owned, const sap_gltf_model* model) {
    const size_t world_bytes = model->nodes.used / sizeof(sap_gltf_node) * SAP_GLTF_NUMBERS * sizeof(double);
    double* worlds = sap_memory_allocate(owned->device, world_bytes);
    const bool room = worlds && (model->groups.used ? fill(owned, model, worlds) : fill_whole(owned));
    sap_memory_release(owned->device, worlds, world_bytes);
    return room ? SAP_OK : sap_fail(owned->device, SAP_ERROR_MEMORY, "no memory for the places of meshes");
}

// Reads once, sharing or not.
static sap_status read_once(const sap_source* source, const sap_mesh_job* how, bool shares, sap_mesh_places** places) {
    sap_device* device = (sap_device*)(uintptr_t)source->device;
    sap_gltf_model model = {.device = device, .shares = shares};
    sap_mesh_job job = *how;
    sap_mesh_file* file = NULL;
    owned_places* owned = sap_memory_allocate_zero(device, sizeof *owned);
    if (!owned) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for the places of meshes");
    job.model = &model;
    owned->device = device;
    sap_status status = sap_mesh_source_parse(source, &job, &file);
    owned->places.file = file;
    if (status == SAP_OK) status = keep(owned, &model);
    sap_gltf_model_free(&model);
    if (status == SAP_OK)
        *places = &owned->places;
    else
        sap_mesh_places_free(&owned->places);
    return status;
}

static bool is_nowhere(const double origin[3]) { return origin[0] == 0 && origin[1] == 0 && origin[2] == 0; }

static sap_status read_places(const sap_source* source, const sap_mesh_job* job, sap_mesh_places** places) {
    sap_source again = *source;
    if ((!job->options || is_nowhere(job->options->origin)) && sap_gltf_begins(source)) {
        sap_mesh_places* found = NULL;
        const sap_status status = read_once(source, job, true, &found);
        if (status != SAP_OK) return status;
        SAP_ASSERT(found);
        if (is_nowhere(found->file->origin) && !are_far(found)) {
            *places = found;
            return SAP_OK;
        }
        again.again = true;
        sap_mesh_places_free(found);
    }
    return read_once(&again, job, false, places);
}

sap_status sap_mesh_places_parse(sap_device* device, const void* bytes, size_t size, sap_format format,
                                 const sap_mesh_read_options* options, sap_mesh_places** places) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!bytes && size) return sap_fail(device, SAP_ERROR_ARGUMENT, "bytes: is NULL, but size is %zu", size);
    const sap_status status = sap_format_check(device, format);
    if (status != SAP_OK) return status;
    if (!places) return sap_fail(device, SAP_ERROR_ARGUMENT, "places: is NULL");
    const sap_source source = {.device = device, .bytes = bytes, .size = size, .real_bits = 32};
    return read_places(&source, &(sap_mesh_job){.format = format, .options = options}, places);
}

sap_status sap_mesh_places_read(sap_device* device, const char* path, sap_format format,
                                const sap_mesh_read_options* options, sap_mesh_places** places) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!path) return sap_fail(device, SAP_ERROR_ARGUMENT, "path: is NULL");
    sap_status status = sap_format_check(device, format);
    if (status != SAP_OK) return status;
    if (!places) return sap_fail(device, SAP_ERROR_ARGUMENT, "places: is NULL");
    sap_file_bytes bytes;
    sap_source source = {.device = device, .real_bits = 32};
    status = sap_file_load(device, path, &source.name, &bytes);
    source.bytes = bytes.memory;
    source.size = bytes.size;
    const sap_mesh_job job = {.format = format, .suffix = sap_format_of(path), .options = options, .path = path};
    if (status == SAP_OK) status = read_places(&source, &job, places);
    sap_file_release(device, &bytes);
    return status;
}
