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

// rays_told: a pixel of the picture as it is from a yaw and with a zoom, whose ray is told.
enum rays_tell { RAYS_TELL_X, RAYS_TELL_Y, RAYS_TELL_YAW, RAYS_TELL_ZOOM };
// A camera: rays_lens of rays.h.
enum rays_camera {
    RAYS_CAMERA_EYE,
    RAYS_CAMERA_RIGHT = 3,
    RAYS_CAMERA_UP = 6,
    RAYS_CAMERA_FORWARD = 9,
    RAYS_CAMERA_FIELDS = 12
};
// The answer: the camera of the picture that is shown, the ray, the tree, and what the walk found and took.
enum rays_told {
    RAYS_TOLD_CAMERA,
    RAYS_TOLD_ORIGIN = RAYS_CAMERA_FIELDS,
    RAYS_TOLD_DIRECTION = 15,
    RAYS_TOLD_LOWER = 18, // of the tree's box
    RAYS_TOLD_UPPER = 21,
    RAYS_TOLD_NODES = 24, // inner ones
    RAYS_TOLD_LEAVES,
    RAYS_TOLD_TRIANGLES,
    RAYS_TOLD_TRIANGLE, // that is met; -1: none
    RAYS_TOLD_T,
    RAYS_TOLD_VISITS
};
// A step of the walk, and the fields that its kind has.
enum rays_note_kind {
    RAYS_NOTE_KIND_PLANE,   // an inner node: axis, split, cell, from, to
    RAYS_NOTE_KIND_LEAF,    // a leaf: count, cell, from, to
    RAYS_NOTE_KIND_TRIANGLE // a triangle of it is tested: triangle, hit, t, corners
};
enum rays_note {
    RAYS_NOTE_KIND,
    RAYS_NOTE_NODE,
    RAYS_NOTE_DEPTH,
    RAYS_NOTE_AXIS,
    RAYS_NOTE_SPLIT,
    RAYS_NOTE_COUNT, // triangles of the leaf
    RAYS_NOTE_FROM,  // where the ray enters the cell
    RAYS_NOTE_TO,
    RAYS_NOTE_TRIANGLE,
    RAYS_NOTE_HIT, // 1: the ray meets it
    RAYS_NOTE_T,
    RAYS_NOTE_X0, // the cell's corners, or the triangle's
    RAYS_NOTE_Y0,
    RAYS_NOTE_Z0,
    RAYS_NOTE_X1,
    RAYS_NOTE_Y1,
    RAYS_NOTE_Z1,
    RAYS_NOTE_X2,
    RAYS_NOTE_Y2,
    RAYS_NOTE_Z2,
    RAYS_NOTE_FIELDS
};

// rays_compare takes a rays_camera, and answers of the best tree and behind it of the quick one:
enum rays_compared {
    RAYS_COMPARED_MILLISECONDS, // that building took
    RAYS_COMPARED_COST,         // expected of a ray
    RAYS_COMPARED_NODES,
    RAYS_COMPARED_VISITS, // of nodes, by an average ray of the camera
    RAYS_COMPARED_HITS,   // of these rays
    RAYS_COMPARED_RAYS,
    RAYS_COMPARED_FIELDS
};

#endif
