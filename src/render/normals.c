// Normals of the vertices of a mesh.
#include "base/assert.h"
#include "render/picture.h"
#include "render/surface.h"

#include <string.h>

enum { PART_LEAST = 4096 }; // vertices that are worth a thread

typedef struct part { // of the vertices
    int32_t first, last;
} part;

static bool is_in(part p, int32_t vertex) { return vertex >= p.first && vertex < p.last; }

// The triangles one after the other, since sums of floats depend on their order.
static void fill_part(const sap_mesh* mesh, double scale, part p, float* normals) {
    SAP_ASSERT(p.first <= p.last && p.last <= mesh->vertex_count && mesh->triangle_count <= INT32_MAX);
    memset(normals + 3 * (int64_t)p.first, 0, (size_t)(p.last - p.first) * 3 * sizeof *normals);
    for (int32_t i = 0; i < mesh->triangle_count; i++) {
        const int32_t* corners = mesh->triangles + 3 * (int64_t)i;
        if (!is_in(p, corners[0]) && !is_in(p, corners[1]) && !is_in(p, corners[2])) continue;
        sap_facet facet = sap_facet_of(mesh->vertices, mesh->triangles, i);
        double normal[3];
        sap_area_normal(&facet, normal);
        for (int corner = 0; corner < 3; corner++)
            for (int a = 0; a < 3 && is_in(p, corners[corner]); a++)
                normals[3 * (int64_t)corners[corner] + a] += (float)(normal[a] * scale);
    }
    for (int64_t i = p.first; i < p.last; i++) {
        sap_vector n = sap_unit(sap_vector_of(normals + 3 * i));
        memcpy(normals + 3 * i, &n, sizeof n);
    }
}

void sap_normals_fill(const sap_mesh* mesh, int32_t threads, float* normals) {
    const int64_t vertices = mesh->vertex_count, worth = (vertices + PART_LEAST - 1) / PART_LEAST;
    const int32_t parts = worth < threads ? (int32_t)worth : threads;
    float largest = 0;
#pragma omp parallel for schedule(static) num_threads(parts > 0 ? parts : 1) reduction(max : largest)
    for (int64_t i = 0; i < 3 * vertices; i++) {
        float size = sap_magnitude(mesh->vertices[i]);
        if (size > largest) largest = size;
    }
    const double scale = largest > 0 ? 1 / ((double)largest * (double)largest) : 1;
#pragma omp parallel for schedule(static) num_threads(parts > 0 ? parts : 1)
    for (int32_t i = 0; i < parts; i++)
        fill_part(mesh, scale, (part){(int32_t)(vertices * i / parts), (int32_t)(vertices * (i + 1) / parts)}, normals);
}
