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

// What a vertex is made of.
SAP_STRUCT(sap_surface_edge)
struct sap_surface_edge {
    int axis;
    float place[3]; // of the sample from which it leads
    float from;     // the values of its ends: one is inside, the other is not
    float to;
    float here[3]; // slopes at its ends
    float there[3];
};

// The edge from the sample (x, y, z) along an axis.
SAP_FN sap_surface_edge sap_surface_edge_at(SAP_VOLUME_PARAM sap_lattice lattice, int x, int y, int z, int axis) {
    sap_surface_edge edge;
    int end_x = axis == 0 ? x + 1 : x;
    int end_y = axis == 1 ? y + 1 : y;
    int end_z = axis == 2 ? z + 1 : z;
    edge.axis = axis;
    edge.place[0] = sap_float_of_int(x);
    edge.place[1] = sap_float_of_int(y);
    edge.place[2] = sap_float_of_int(z);
    edge.from = sap_voxel_value(SAP_VOLUME x, y, z);
    edge.to = sap_voxel_value(SAP_VOLUME end_x, end_y, end_z);
    SAP_UNROLL
    for (int i = 0; i < 3; i++) {
        edge.here[i] = sap_lattice_slope(SAP_VOLUME lattice, x, y, z, i);
        edge.there[i] = sap_lattice_slope(SAP_VOLUME lattice, end_x, end_y, end_z, i);
    }
    return edge;
}

// The vertex on an edge: where a straight line between the values of its ends meets the level. The normal is the
// gradient's, mixed from both ends alike.
SAP_FN sap_surface_vertex sap_surface_vertex_of(sap_lattice lattice, sap_surface_edge edge) {
    sap_surface_vertex vertex;
    float part = (lattice.level - edge.from) / (edge.to - edge.from); // 0 ... 1
    float rest = 1.0f - part;
    float largest = 0.0f;
    SAP_UNROLL
    for (int i = 0; i < 3; i++) {
        float slope = (edge.here[i] * rest + edge.there[i] * part) * lattice.facing;
        float size = slope < 0.0f ? -slope : slope;
        float place = edge.place[i] + (i == edge.axis ? part : 0.0f);
        vertex.position[i] = lattice.origin[i] + lattice.spacing[i] * place;
        vertex.normal[i] = slope;
        largest = size > largest ? size : largest;
    }
    // By the largest component first: squares neither overflow nor vanish.
    float square = largest > 0.0f ? 0.0f : 1.0f;
    float divisor = largest > 0.0f ? largest : 1.0f;
    SAP_UNROLL
    for (int i = 0; i < 3; i++) {
        float slope = vertex.normal[i] / divisor;
        vertex.normal[i] = slope;
        square = square + slope * slope;
    }
    float length = sap_square_root(square);
    SAP_UNROLL
    for (int i = 0; i < 3; i++) vertex.normal[i] = vertex.normal[i] / length;
    return vertex;
}

SAP_FN sap_surface_vertex sap_surface_vertex_on(SAP_VOLUME_PARAM sap_lattice lattice, int x, int y, int z, int axis) {
    sap_surface_edge edge = sap_surface_edge_at(SAP_VOLUME lattice, x, y, z, axis);
    return sap_surface_vertex_of(lattice, edge);
}
