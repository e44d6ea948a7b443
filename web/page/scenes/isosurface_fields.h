// Fields of the jobs of the scene Isosurface (../fields.h); volume_fields.h has those that it shares.
#ifndef SAPWOOD_PAGE_ISOSURFACE_FIELDS_H
#define SAPWOOD_PAGE_ISOSURFACE_FIELDS_H

// The answer of isosurface_make and isosurface_read; of isosurface_samples as far as the type.
enum isosurface_facts {
    ISOSURFACE_FACTS_WIDTH, // samples along x, y, z
    ISOSURFACE_FACTS_HEIGHT,
    ISOSURFACE_FACTS_DEPTH,
    ISOSURFACE_FACTS_TYPE,  // sap_voxel
    ISOSURFACE_FACTS_LEAST, // of the values
    ISOSURFACE_FACTS_MOST,
    ISOSURFACE_FACTS_PARTING // a level to begin with
};

// What isosurface and isosurface_check take.
enum isosurface_ask { ISOSURFACE_ASK_LEVEL, ISOSURFACE_ASK_LOW_INSIDE };
// Output of isosurface.
enum isosurface_buffer { ISOSURFACE_BUFFER_POSITIONS, ISOSURFACE_BUFFER_NORMALS, ISOSURFACE_BUFFER_TRIANGLES };

// The surface that isosurface_on_gpu makes: addresses, and how many.
enum isosurface_made {
    ISOSURFACE_MADE_POSITIONS,
    ISOSURFACE_MADE_NORMALS,
    ISOSURFACE_MADE_TRIANGLES,
    ISOSURFACE_MADE_VERTEX_COUNT,
    ISOSURFACE_MADE_TRIANGLE_COUNT,
    ISOSURFACE_MADE_FIELDS
};

// Input of isosurface_check: another mesh, if there is one.
enum isosurface_other { ISOSURFACE_OTHER_POSITIONS, ISOSURFACE_OTHER_TRIANGLES };
enum isosurface_checked {
    ISOSURFACE_CHECKED_CLOSED, // edges
    ISOSURFACE_CHECKED_OUTER,
    ISOSURFACE_CHECKED_OPEN,
    ISOSURFACE_CHECKED_VERTICES, // of the CPU's mesh
    ISOSURFACE_CHECKED_TRIANGLES,
    ISOSURFACE_CHECKED_WRONG, // triangles that differ
    ISOSURFACE_CHECKED_APART  // the largest difference of positions
};

// isosurface_cube takes a space_ray, looks for the first cube that the surface runs through, and behind the ray:
enum isosurface_look { ISOSURFACE_LOOK_WHOLE = 6 }; // 1: makes and measures the whole surface, too
// Its answer.
enum isosurface_cube {
    ISOSURFACE_CUBE_X, // of its lowest corner; -1: the ray meets none
    ISOSURFACE_CUBE_Y,
    ISOSURFACE_CUBE_Z,
    ISOSURFACE_CUBE_CORNERS, // bit c: corner c, at (c & 1, c >> 1 & 1, c >> 2), is inside
    ISOSURFACE_CUBE_LEVEL,
    ISOSURFACE_CUBE_SAMPLES,
    ISOSURFACE_CUBE_INSIDE, // of them
    ISOSURFACE_CUBE_CUBES,
    ISOSURFACE_CUBE_CROSSED,  // of them by the surface
    ISOSURFACE_CUBE_CELL,     // the cube's place among all samples, x fastest
    ISOSURFACE_CUBE_VERTICES, // of the whole surface
    ISOSURFACE_CUBE_TRIANGLES,
    ISOSURFACE_CUBE_MILLISECONDS, // that making it took
    ISOSURFACE_CUBE_VALUE_0       // of the eight corners
};
// Its buffers: the cube's own vertices, in it from 0 to 1; its triangles; and its way through the pyramid of triangles
// that the GPU lists them by: of each level from the top to 1 the sums of the four below the node over the cube.
enum isosurface_cube_buffer {
    ISOSURFACE_CUBE_BUFFER_VERTICES,
    ISOSURFACE_CUBE_BUFFER_TRIANGLES,
    ISOSURFACE_CUBE_BUFFER_SUMS
};
enum isosurface_sums {
    ISOSURFACE_SUMS_CHILD_0,
    ISOSURFACE_SUMS_CHILD_1,
    ISOSURFACE_SUMS_CHILD_2,
    ISOSURFACE_SUMS_CHILD_3,
    ISOSURFACE_SUMS_FIELDS
};

#endif
