// Where points that have moved are put back on the surface that others sample: one text for all processors.
#ifndef SAPWOOD_CLOUD_SURFACE_H
#define SAPWOOD_CLOUD_SURFACE_H

#include "math/dialect.h"

// The least cosine of two normals that still belong to one smooth surface: between them lie 60 degrees, and across an edge
// of a cube more.
#define SAP_SURFACE_ALIKE 0.5

// Puts a point on the surface through the point `on`, whose normal is `surface`. `own` is a normal of the surface near `at`.
// The chord between two points of a sphere, and of a parabola, is at right angles to the sum of their normals: so the point
// goes along that sum, onto the plane through `on` at right angles to it, which a curved surface leaves by the third power of
// the chord; its plane of tangents at `on` by the second. Either direction of a normal will do. Where a normal is 0, or
// they differ by more than a curved surface explains, the plane is that of `surface`. No farther from `on` than `reach`.
SAP_FN void sap_surface_return(const float on[3], const float surface[3], const float own[3], double reach,
                               float at[3]) {
    double normal[3], from[3], along = 0, off = 0, square = 0;
    for (int a = 0; a < 3; a++) along += (double)surface[a] * (double)own[a];
    const double side = along >= SAP_SURFACE_ALIKE ? 1 : along <= -SAP_SURFACE_ALIKE ? -1 : 0;
    for (int a = 0; a < 3; a++) {
        from[a] = (double)at[a] - (double)on[a];
        normal[a] = (double)surface[a] + side * (double)own[a];
        off += from[a] * normal[a];
        square += normal[a] * normal[a];
    }
    const double steps = square > 0 ? off / square : 0;
    for (int a = 0; a < 3; a++) from[a] -= steps * normal[a];
    const double distance = sqrt(from[0] * from[0] + from[1] * from[1] + from[2] * from[2]);
    const double part = distance > reach ? reach / distance : 1;
    for (int a = 0; a < 3; a++) at[a] = (float)((double)on[a] + part * from[a]);
}

#endif
