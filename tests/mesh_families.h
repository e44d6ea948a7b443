// Named families of meshes, the inputs that trees over triangles find hard. The same mesh comes out on every machine.
#ifndef SAPWOOD_TESTS_MESH_FAMILIES_H
#define SAPWOOD_TESTS_MESH_FAMILIES_H

#include "sapwood/mesh.h"

typedef enum mesh_family {
    MESH_SOUP = 0, // small triangles anywhere
    MESH_BIG_SOUP, // triangles as large as the scene
    MESH_BALL,     // a closed surface of about round shape
    MESH_GRID,     // a flat square: one axis without extent
    MESH_HILLS,    // a height field
    MESH_ROOMS,    // boxes along the axes, of many sizes: planar triangles
    MESH_NEEDLES,  // long and thin
    MESH_COPIES,   // one triangle many times
    MESH_COPLANAR, // overlapping triangles in one slanted plane
    MESH_NO_AREA,  // points and lines
    MESH_LINE,     // everything on one axis
    MESH_POINT,    // everything at one point
    MESH_TINY,     // 0.15 across
    MESH_FAR,      // 1e7 from the origin
    MESH_FAMILIES
} mesh_family;

const char* mesh_family_name(mesh_family kind);
// About so many triangles. To be freed.
sap_mesh mesh_of_family(mesh_family kind, int64_t triangles, uint64_t seed);
void mesh_free(sap_mesh* mesh);

#endif
