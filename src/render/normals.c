// Normals of the vertices of a mesh.
#include "base/assert.h"
#include "base/team.h"
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

typedef struct filling {
    const sap_mesh* mesh;
    int32_t parts;
    double scale;
    float* normals;
    float largest[SAP_TEAM_MOST]; // size of a coordinate, of each part
} filling;

static part part_of(const filling* f, int64_t i) {
    const int64_t vertices = f->mesh->vertex_count;
    return (part){(int32_t)(vertices * i / f->parts), (int32_t)(vertices * (i + 1) / f->parts)};
}

static void measure(void* context, int64_t i, int32_t worker) {
    filling* f = context;
    const part p = part_of(f, i);
    float largest = 0;
    (void)worker;
    for (int64_t k = 3 * (int64_t)p.first; k < 3 * (int64_t)p.last; k++) {
        const float size = sap_magnitude(f->mesh->vertices[k]);
        if (size > largest) largest = size;
    }
    f->largest[i] = largest;
}

static void fill(void* context, int64_t i, int32_t worker) {
    const filling* f = context;
    (void)worker;
    fill_part(f->mesh, f->scale, part_of(f, i), f->normals);
}

void sap_normals_fill(const sap_mesh* mesh, int32_t threads, float* normals) {
    const int64_t vertices = mesh->vertex_count, worth = (vertices + PART_LEAST - 1) / PART_LEAST;
    const int32_t parts = worth < threads ? (int32_t)worth : threads;
    float largest = 0;
    filling f;
    f.mesh = mesh;
    f.parts = parts;
    f.normals = normals;
    sap_team_run(parts, parts, measure, &f);
    for (int32_t i = 0; i < parts; i++)
        if (f.largest[i] > largest) largest = f.largest[i];
    f.scale = largest > 0 ? 1 / ((double)largest * (double)largest) : 1;
    sap_team_run(parts, parts, fill, &f);
}
