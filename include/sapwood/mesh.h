/**
 * @file mesh.h
 * Triangle meshes.
 */
#ifndef SAPWOOD_MESH_H
#define SAPWOOD_MESH_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Triangles over shared vertices: triangle i joins the vertices triangles[3*i], triangles[3*i+1] and triangles[3*i+2],
 * which are below vertex_count; vertex j lies at vertices[3*j] … vertices[3*j+2]. Seen from where its corners run
 * counter-clockwise, a triangle shows its front. An array may be NULL when its count is 0.
 */
typedef struct sap_mesh {
    const float* vertices;    /**< [3*vertex_count] x, y, z of each */
    int64_t vertex_count;     /**< 0 … 2^31-1 */
    const int32_t* triangles; /**< [3*triangle_count] */
    int64_t triangle_count;   /**< 0 … 2^31-1 */
} sap_mesh;

#ifdef __cplusplus
}
#endif
#endif
