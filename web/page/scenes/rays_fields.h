// Fields of the jobs of the scene Rays (../fields.h).
#ifndef SAPWOOD_PAGE_RAYS_FIELDS_H
#define SAPWOOD_PAGE_RAYS_FIELDS_H

// What rays_again and rays_read take, and rays_make and rays_move before numbers of their own: whether the tree is to be
// built quickly.
enum rays_ask { RAYS_ASK_FAST, RAYS_ASK_FIELDS };
enum rays_make { RAYS_MAKE_TRIANGLES = RAYS_ASK_FIELDS };
enum rays_move { RAYS_MOVE_SECONDS = RAYS_ASK_FIELDS, RAYS_MOVE_UP };

// The answer of these jobs, which rays_take takes.
enum rays_built {
    RAYS_BUILT_MILLISECONDS,
    RAYS_BUILT_MOVING, // milliseconds that moving the vertices took
    RAYS_BUILT_TRIANGLES,
    RAYS_BUILT_VERTICES,
    RAYS_BUILT_NODES, // inner ones
    RAYS_BUILT_DEPTH,
    RAYS_BUILT_LOWER_X, // the box of the mesh at rest
    RAYS_BUILT_LOWER_Y,
    RAYS_BUILT_LOWER_Z,
    RAYS_BUILT_UPPER_X,
    RAYS_BUILT_UPPER_Y,
    RAYS_BUILT_UPPER_Z
};
// Its buffers; of length 0 what the mesh does not have.
enum rays_buffer {
    RAYS_BUFFER_TREE, // saved
    RAYS_BUFFER_VERTICES,
    RAYS_BUFFER_TRIANGLES,
    RAYS_BUFFER_COLORS,
    RAYS_BUFFER_MATERIAL_IDS, // of triangles
    RAYS_BUFFER_MATERIALS
};

// Output of rays_sample, input of rays_check: rays and what a picture says they meet; shadow rays and whether it says
// that something stops them.
enum rays_sample { RAYS_SAMPLE_RAYS, RAYS_SAMPLE_HITS, RAYS_SAMPLE_SHADOWS, RAYS_SAMPLE_DARK };
enum rays_checked {
    RAYS_CHECKED_SAME, // rays that meet what brute force finds
    RAYS_CHECKED_NEAR, // that do if they pass an edge on its other side
    RAYS_CHECKED_RAYS,
    RAYS_CHECKED_SHADOWS_SAME,
    RAYS_CHECKED_SHADOWS
};

#endif
