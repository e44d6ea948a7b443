// What all mesh readers share: a mesh that grows as its file is read.
#ifndef SAPWOOD_FILES_MESH_MESH_DRAFT_H
#define SAPWOOD_FILES_MESH_MESH_DRAFT_H

#include "files/array.h"
#include "files/source.h"

// How a mesh is to be read.
typedef struct sap_mesh_job {
    sap_format format, suffix;            // as asked for; the one that the path names
    const sap_mesh_read_options* options; // NULL: all defaults
    const char* path;                     // other files are searched for beside it; NULL: nowhere
    struct sap_gltf_model* model;         // glTF: how it moves is kept there; NULL: nowhere
} sap_mesh_job;

// Materials by name.
typedef struct sap_material_table {
    sap_array materials; // sap_material, without their names
    sap_array entries;   // of each material, where its name lies; private to materials.c
    sap_array names;     // terminated
    int32_t* slots;      // hash table of materials, -1: free
    int64_t slot_count;  // a power of two, or 0
    int32_t count;
} sap_material_table;

// All zero but source is an empty mesh.
typedef struct sap_mesh_draft {
    const sap_source* source;
    sap_array vertices;     // float[3]
    sap_array colors;       // float[3], or nothing as long as no vertex has a colour
    sap_array triangles;    // int32_t[3]
    sap_array material_ids; // int32_t, or nothing as long as no triangle has a material
    int64_t vertex_count, triangle_count;
    int32_t material; // of the triangles to come, or -1; looked at only if has_materials
    bool has_materials;
    sap_material_table table;
    sap_array polygon; // scratch of sap_draft_polygon
    double origin[3];  // what the vertices are relative to
    bool shifted;      // it is not 0
    bool measures;     // the file is read only to see how far floats are from what it says, and nothing is kept:
    double moved;      // the furthest of them
} sap_mesh_draft;

// Parses a source of any format into a new mesh.
sap_status sap_mesh_source_parse(const sap_source* source, const sap_mesh_job* job, sap_mesh_file** file);

// Readers of one format; a failed one leaves the draft to be released.
sap_status sap_read_ply_mesh(const sap_source* source, const sap_mesh_job* job, sap_mesh_draft* draft);
sap_status sap_read_obj(const sap_source* source, const sap_mesh_job* job, sap_mesh_draft* draft);
sap_status sap_read_stl(const sap_source* source, const sap_mesh_job* job, sap_mesh_draft* draft);
sap_status sap_read_off(const sap_source* source, sap_mesh_draft* draft);
sap_status sap_read_gltf(const sap_source* source, const sap_mesh_job* job, sap_mesh_draft* draft);
// Whether the bytes are a GLB's, or begin like JSON.
bool sap_gltf_begins(const sap_source* source);
// Whether the first word is an OFF's.
bool sap_off_begins(const sap_source* source);
// Whether the bytes are an STL's, however they begin.
bool sap_stl_begins(const sap_source* source);

// The error that the mesh does not fit into memory.
sap_status sap_draft_no_memory(const sap_mesh_draft* draft);
// Refuses more vertices or triangles than ids can number.
sap_status sap_draft_check_counts(const sap_mesh_draft* draft);

// Adds the n - 2 triangles of a polygon of n >= 3 corners, whose vertices are all there.
sap_status sap_draft_polygon(sap_mesh_draft* draft, const int32_t* vertices, int64_t n);

// Takes `count` new triangles, to be filled; NULL when memory is exhausted.
static inline int32_t* sap_draft_triangles(sap_mesh_draft* draft, int64_t count) {
    const sap_device* device = draft->source->device;
    SAP_ASSERT(count > 0 && (!draft->has_materials || draft->material < draft->table.count));
    if (draft->has_materials) {
        int32_t* ids = sap_array_add(device, &draft->material_ids, (size_t)count * sizeof *ids);
        if (!ids) return NULL;
        for (int64_t i = 0; i < count; i++) ids[i] = draft->material;
    }
    draft->triangle_count += count;
    return sap_array_add(device, &draft->triangles, (size_t)count * 3 * sizeof(int32_t));
}

// ---- moved.c

// Makes the coordinate that stands at `at`, and was read as the float `value`, relative to the origin, in double, and
// measures it if the draft does. False if it is beyond the range of a float.
bool sap_draft_place(sap_mesh_draft* draft, int axis, const char* at, const char* end, float* value);
// The same of a number; false too if it is finite and what it becomes is not.
bool sap_draft_place_number(sap_mesh_draft* draft, int axis, double number, float* value);
// Takes the origin that the options ask for. Errors: SAP_ERROR_ARGUMENT.
sap_status sap_draft_origin_take(const sap_mesh_read_options* options, sap_mesh_draft* draft);
// Chooses an origin: a round number near the middle of the vertices.
void sap_draft_origin_choose(const sap_mesh_draft* draft, double origin[3]);
// Whether the vertices lie so far from 0, and so close together, that floats may not tell them apart well.
bool sap_draft_may_be_moved(const sap_mesh_draft* draft);
// Whether floats that moved vertices this far moved them too far for their bounds.
bool sap_draft_is_moved(const sap_mesh_draft* draft, double moved);
// Tells how far that is, and which origin keeps them.
void sap_draft_tell_moved(const sap_mesh_draft* draft, double moved);

// ---- materials.c
// What a unit of length absorbs if the part `left` of the light is left after `distance`.
float sap_absorption(float left, float distance);

// The material of this name, made with default values if there is none yet; -1 when memory is exhausted.
int32_t sap_material_named(const sap_device* device, sap_material_table* table, sap_span name);
// Reads an MTL. Materials that a library has defined already stay as they are.
sap_status sap_read_mtl(const sap_source* source, sap_material_table* table);
sap_material* sap_material_at(const sap_material_table* table, int32_t material);
// Marks a material as defined by a library; false if it was so already.
bool sap_material_define(const sap_material_table* table, int32_t material);
// Gives the materials their names, when no name is to come.
void sap_materials_finish(sap_material_table* table);
void sap_materials_release(const sap_device* device, sap_material_table* table);

#endif
