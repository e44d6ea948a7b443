// Normals of the vertices of a mesh.
#include "render/picture.h"
#include "render/surface.h"

#include <string.h>

// One after the other: sums of floats depend on their order.
void sap_normals_fill(const sap_mesh* mesh, float* normals) {
    memset(normals, 0, (size_t)mesh->vertex_count * 3 * sizeof *normals);
    double largest = 0;
    for (int64_t i = 0; i < mesh->vertex_count * 3; i++)
        if ((double)sap_magnitude(mesh->vertices[i]) > largest) largest = (double)sap_magnitude(mesh->vertices[i]);
    double scale = largest > 0 ? 1 / (largest * largest) : 1;
    for (int32_t i = 0; i < mesh->triangle_count; i++) {
        sap_facet facet = sap_facet_of(mesh->vertices, mesh->triangles, i);
        double normal[3];
        sap_area_normal(&facet, normal);
        for (int corner = 0; corner < 3; corner++)
            for (int a = 0; a < 3; a++) normals[3 * (int64_t)facet.vertices[corner] + a] += (float)(normal[a] * scale);
    }
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        sap_vector n = sap_unit(sap_vector_of(normals + 3 * i));
        memcpy(normals + 3 * i, &n, sizeof n);
    }
}
