// How C and CUDA read a tree over triangles: the accessors that the shared texts of this room call. GLSL has its own,
// which read textures (mesh/texture.h). On a GPU `mesh` points to a copy of the host's struct whose arrays lie on the
// device.
#ifndef SAPWOOD_MESH_ACCESS_H
#define SAPWOOD_MESH_ACCESS_H

#include "math/vector.h"
#include "mesh/layout.h"

#define SAP_MESH_PARAM const sap_mesh_tree *mesh,
#define SAP_MESH       mesh,
#define SAP_RAY_PARAM  sap_prepared_ray ray,
#define SAP_RAY        ray,

SAP_STRUCT(sap_triangle)
struct sap_triangle {
    sap_vector a;
    sap_vector b;
    sap_vector c;
};

// A node as a walk sees it. Inner nodes have an axis, a split and a right child; leaves have a first reference and a
// count.
SAP_STRUCT(sap_mesh_step)
struct sap_mesh_step {
    bool is_leaf;
    int axis;
    float split;
    SAP_BITS right;
    SAP_BITS first;
    int count;
};

SAP_FN sap_mesh_step sap_mesh_step_at(SAP_MESH_PARAM SAP_BITS node) {
    SAP_ASSERT(node < mesh->shape.nodes);
    const sap_mesh_node at = ((const sap_mesh_node*)(const void*)(mesh->arrays + mesh->shape.node_at))[node];
    sap_mesh_step step;
    step.axis = (int)(at.link & 3u);
    step.is_leaf = step.axis == SAP_MESH_LEAF;
    step.split = sap_float_of_bits(at.bits);
    step.right = at.link >> 2;
    step.first = at.bits;
    step.count = (int)(at.link >> 2);
    return step;
}

// The place of a leaf's i-th triangle.
SAP_FN SAP_BITS sap_mesh_place_of(SAP_MESH_PARAM sap_mesh_step leaf, int i) {
    SAP_ASSERT(leaf.is_leaf && i >= 0 && i < leaf.count);
    if (leaf.count == 1) return leaf.first;
    SAP_ASSERT((int64_t)leaf.first + i < mesh->shape.listed);
    return ((const SAP_BITS*)(const void*)(mesh->arrays + mesh->shape.reference_at))[leaf.first + (SAP_BITS)i];
}

SAP_FN sap_triangle sap_mesh_triangle(SAP_MESH_PARAM SAP_BITS place) {
    SAP_ASSERT(place < mesh->shape.triangles);
    const float* v =
        (const float*)(const void*)(mesh->arrays + mesh->shape.corner_at) + (size_t)place * SAP_TRIANGLE_FLOATS;
    sap_triangle triangle;
    triangle.a = sap_vector_of(v);
    triangle.b = sap_vector_of(v + 3);
    triangle.c = sap_vector_of(v + 6);
    return triangle;
}

SAP_FN int sap_mesh_id(SAP_MESH_PARAM SAP_BITS place) {
    return ((const int*)(const void*)(mesh->arrays + mesh->shape.id_at))[place];
}

SAP_FN sap_vector sap_mesh_lower(const sap_mesh_tree* mesh) { return sap_vector_of(mesh->shape.lower); }
SAP_FN sap_vector sap_mesh_upper(const sap_mesh_tree* mesh) { return sap_vector_of(mesh->shape.upper); }

// C and CUDA round these correctly and do not fuse them with other operations. ray/rounding.h has their equivalents for
// GLSL.
SAP_FN float sap_product(float a, float b) { return a * b; }
SAP_FN float sap_quotient(float a, float b) { return a / b; }

SAP_FN float sap_without_sign_of_zero(float value) { return value + 0.0f; }

// a*b - c*d with exact products.
SAP_FN float sap_product_difference(float a, float b, float c, float d) {
    return (float)((double)a * b - (double)c * d);
}

#endif
