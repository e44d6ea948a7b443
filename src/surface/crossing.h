// Where the surface crosses an edge of the lattice, and which way it faces there. Shared text; needs the dialect and
// surface/lattice.h's accessor: float sap_voxel_value(SAP_VOLUME x, y, z), the value of a sample.
//
// Values are at most 2^126 in magnitude, so that no difference of two overflows.

SAP_STRUCT(sap_lattice)
struct sap_lattice {
    int sides[3]; // samples along each axis, 2 at least
    float origin[3];
    float spacing[3];
    float slopes[3]; // the least spacing by the spacing of each axis: what a difference along it counts for
    float level;
    float facing; // of normals: -1 towards lower values, 1 towards higher ones
};

SAP_STRUCT(sap_surface_vertex)
struct sap_surface_vertex {
    float position[3];
    float normal[3]; // of length 1; all 0 where the values do not change
};

// How fast values rise along an axis at a sample: half the difference of its two neighbours, or, at an end of the
// lattice, its difference from the one that is there; per least spacing.
SAP_FN float sap_lattice_slope(SAP_VOLUME_PARAM sap_lattice lattice, int x, int y, int z, int axis) {
    int place = axis == 0 ? x : axis == 1 ? y : z;
    int before = place > 0 ? 1 : 0;
    int behind = place + 1 < lattice.sides[axis] ? 1 : 0;
    int to_x = axis == 0 ? 1 : 0;
    int to_y = axis == 1 ? 1 : 0;
    int to_z = axis == 2 ? 1 : 0;
    float low = sap_voxel_value(SAP_VOLUME x - before * to_x, y - before * to_y, z - before * to_z);
    float high = sap_voxel_value(SAP_VOLUME x + behind * to_x, y + behind * to_y, z + behind * to_z);
    float slope = (high - low) * lattice.slopes[axis];
    return before + behind == 2 ? 0.5f * slope : slope;
}

// The vertex on the edge from the sample (x, y, z) along an axis: one of its ends is inside, the other is not. The
// level is met where a straight line between their values would; the normal is the gradient's, mixed from both ends
// alike.
SAP_FN sap_surface_vertex sap_surface_vertex_on(SAP_VOLUME_PARAM sap_lattice lattice, int x, int y, int z, int axis) {
    sap_surface_vertex vertex;
    int end_x = axis == 0 ? x + 1 : x;
    int end_y = axis == 1 ? y + 1 : y;
    int end_z = axis == 2 ? z + 1 : z;
    float from = sap_voxel_value(SAP_VOLUME x, y, z);
    float to = sap_voxel_value(SAP_VOLUME end_x, end_y, end_z);
    float part = (lattice.level - from) / (to - from); // 0 ... 1
    float rest = 1.0f - part;
    float largest = 0.0f;
    float place[3];
    place[0] = sap_float_of_int(x);
    place[1] = sap_float_of_int(y);
    place[2] = sap_float_of_int(z);
    place[axis] = place[axis] + part;
    SAP_UNROLL
    for (int i = 0; i < 3; i++) {
        float here = sap_lattice_slope(SAP_VOLUME lattice, x, y, z, i);
        float there = sap_lattice_slope(SAP_VOLUME lattice, end_x, end_y, end_z, i);
        float slope = (here * rest + there * part) * lattice.facing;
        float size = slope < 0.0f ? -slope : slope;
        vertex.position[i] = lattice.origin[i] + lattice.spacing[i] * place[i];
        vertex.normal[i] = slope;
        largest = size > largest ? size : largest;
    }
    // By the largest component first: squares neither overflow nor vanish.
    float square = 0.0f;
    SAP_UNROLL
    for (int i = 0; i < 3; i++) {
        float slope = largest > 0.0f ? vertex.normal[i] / largest : 0.0f;
        vertex.normal[i] = slope;
        square = square + slope * slope;
    }
    float length = largest > 0.0f ? sap_square_root(square) : 1.0f;
    SAP_UNROLL
    for (int i = 0; i < 3; i++) vertex.normal[i] = vertex.normal[i] / length;
    return vertex;
}
