// The search radius of the voxel volume heuristic. Shared text of C and CUDA; needs sap_mesh_box (mesh/build.h).
#ifndef SAPWOOD_MESH_SEARCH_RADIUS_H
#define SAPWOOD_MESH_SEARCH_RADIUS_H

#include "math/dialect.h"
#include <math.h>

// radius: below 0 for the surface area heuristic, which has none; 0 stands for an eighth of a percent of the diagonal.
SAP_FN float sap_mesh_search_radius(float radius, sap_mesh_box bounds) {
    double squared = 0.0;
    if (radius != 0.0f) return radius;
    for (int a = 0; a < 3; ++a) {
        double side = (double)bounds.upper[a] - (double)bounds.lower[a];
        squared += side > 0.0 ? side * side : 0.0;
    }
    return (float)(sqrt(squared) / 800.0);
}

#endif
