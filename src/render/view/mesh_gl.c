// The textures by which shaders light a mesh: computed once on the host, in doubles, which shaders lack.
#include "base/assert.h"
#include "render/surface.h"
#include "render/view/passes_gl.h"
#include <string.h>

enum { TEXELS = 4 }; // of a triangle, and of a material

static uint32_t pack_color(const float* color) {
    uint32_t bits = 0;
    for (int a = 0; a < 3; a++) {
        float part = color[a] > 0 ? (color[a] < 1 ? color[a] : 1) : 0;
        bits |= (uint32_t)(sqrtf(part) * 1023 + 0.5f) << (10 * a);
    }
    return bits;
}

// A triangle's normal and material, then its corners' normals, over blunt edges, and colours.
static void pack_facet(const sap_mesh_file* file, const float* normals, int64_t number, uint32_t to[TEXELS][4]) {
    const float blunt = 0.8f; // as in sap_meet
    const sap_facet facet = sap_facet_of(file->mesh.vertices, file->mesh.triangles, (int32_t)number);
    double area[3];
    sap_area_normal(&facet, area);
    const sap_vector face = sap_unit_of(area);
    const int32_t material = file->material_ids ? file->material_ids[number] : -1;
    SAP_ASSERT(material >= -1 && (material < 0 || material < file->material_count));
    memcpy(to[0], &face, sizeof face);
    to[0][3] = (uint32_t)material;
    for (int i = 0; i < 3; i++) {
        const int64_t vertex = facet.vertices[i];
        sap_vector normal = sap_vector_of(normals + 3 * vertex);
        if (!(sap_dot(normal, face) > blunt)) normal = face;
        memcpy(to[1 + i], &normal, sizeof normal);
        to[1 + i][3] = file->colors ? pack_color(file->colors + 3 * vertex) : 0;
    }
}

static void pack_material(const sap_material* material, float to[TEXELS][4]) {
    memcpy(to[0], material->diffuse, sizeof material->diffuse);
    memcpy(to[1], material->specular, sizeof material->specular);
    memcpy(to[2], material->emission, sizeof material->emission);
    to[0][3] = material->shininess;
    to[1][3] = material->opacity;
    to[2][3] = material->refraction;
    to[3][0] = (float)material->illum;
    to[3][1] = to[3][2] = to[3][3] = 0;
}

// Memory for so many texels that fit into a texture; NULL, and the call fails, if there is none.
static void* take_texels(sap_gl_call* call, int64_t texels, const char* what, int32_t* shift, sap_scratch* scratch) {
    int32_t width = 1, height = 1;
    size_t bytes = 0;
    if (!sap_gl_array_size(call, texels, what, &width, &height)) return NULL;
    *shift = sap_gl_shift_of(width);
    if (sap_size_multiply((uint64_t)texels + 1, 16, &bytes) && sap_scratch_take(call->device, bytes, scratch))
        return scratch->memory;
    sap_gl_fail(call, SAP_ERROR_MEMORY, "no memory for %s", what);
    return NULL;
}

static void make_facets(sap_gl_call* call, const sap_mesh_file* file, int32_t threads, sap_gl_view_surface* surface) {
    static const char what[] = "the normals of triangles";
    const int64_t texels = TEXELS * file->mesh.triangle_count;
    sap_scratch normals = {NULL, 0}, scratch = {NULL, 0};
    uint32_t* to = take_texels(call, texels, what, &surface->shifts[0], &scratch);
    size_t bytes = 0;
    if (to && (!sap_size_multiply((uint64_t)file->mesh.vertex_count + 1, 3 * sizeof(float), &bytes) ||
               !sap_scratch_take(call->device, bytes, &normals)))
        sap_gl_fail(call, SAP_ERROR_MEMORY, "no memory for the normals of %lld vertices",
                    (long long)file->mesh.vertex_count);
    if (to && normals.memory) {
        float* filled = (float*)(void*)normals.memory;
        sap_normals_fill(&file->mesh, threads, filled);
        for (int64_t i = 0; i < file->mesh.triangle_count; i++)
            pack_facet(file, filled, i, (uint32_t(*)[4])(void*)(to + 4 * TEXELS * i));
        surface->facets = sap_gl_array(call, GL_RGBA32UI, texels, to, what);
    }
    sap_scratch_give(call->device, &normals);
    sap_scratch_give(call->device, &scratch);
}

static void make_materials(sap_gl_call* call, const sap_mesh_file* file, sap_gl_view_surface* surface) {
    static const char what[] = "materials";
    const int32_t count = file->material_ids && file->materials ? file->material_count : 0;
    sap_scratch scratch = {NULL, 0};
    float* to = take_texels(call, TEXELS * (int64_t)count, what, &surface->shifts[1], &scratch);
    for (int32_t i = 0; i < count && to; i++)
        pack_material(&file->materials[i], (float(*)[4])(void*)(to + 4 * TEXELS * (int64_t)i));
    if (to) surface->materials = sap_gl_array(call, GL_RGBA32F, TEXELS * (int64_t)count, to, what);
    sap_scratch_give(call->device, &scratch);
}

void sap_gl_view_surface_make(sap_gl_call* call, const sap_mesh_file* file, int32_t threads,
                              sap_gl_view_surface* surface) {
    *surface = (sap_gl_view_surface){.has_colors = file->colors != NULL};
    make_facets(call, file, threads, surface);
    make_materials(call, file, surface);
}

void sap_gl_view_surface_free(sap_gl_call* call, sap_gl_view_surface* surface) {
    sap_gl_texture_free(call, surface->facets);
    sap_gl_texture_free(call, surface->materials);
    *surface = (sap_gl_view_surface){0};
}
