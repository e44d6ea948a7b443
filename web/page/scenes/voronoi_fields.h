// Fields of the jobs of the scene Voronoi (../fields.h).
#ifndef SAPWOOD_PAGE_VORONOI_FIELDS_H
#define SAPWOOD_PAGE_VORONOI_FIELDS_H

// ---- In the worker

// What voronoi_move takes, and the other jobs that build a tree before numbers of their own: the time of the animation,
// and whether the compact form is wanted.
enum voronoi_ask { VORONOI_ASK_SECONDS, VORONOI_ASK_COMPACT, VORONOI_ASK_FIELDS };
enum voronoi_make {
    VORONOI_MAKE_FAMILY = VORONOI_ASK_FIELDS, // of voronoi_family
    VORONOI_MAKE_SITES,
    VORONOI_MAKE_ASPECT, // width of the field, whose height is 1
    VORONOI_MAKE_SEED
};
enum voronoi_family {
    VORONOI_FAMILY_UNIFORM,
    VORONOI_FAMILY_CLUSTERS,
    VORONOI_FAMILY_CIRCLE,
    VORONOI_FAMILY_GRID,
    VORONOI_FAMILY_DUPLICATES
};
enum voronoi_edit {
    VORONOI_EDIT_CHANGE = VORONOI_ASK_FIELDS, // of voronoi_change
    VORONOI_EDIT_SITE,                        // its id; not read when one is added
    VORONOI_EDIT_X,
    VORONOI_EDIT_Y
};
enum voronoi_change { VORONOI_CHANGE_ADD, VORONOI_CHANGE_DELETE, VORONOI_CHANGE_MOVE };
enum voronoi_read { VORONOI_READ_ASPECT = VORONOI_ASK_FIELDS };

// The answer of these jobs; the form's numbers where it was wanted and there are sites. voronoi_form takes them.
enum voronoi_built {
    VORONOI_BUILT_MILLISECONDS,
    VORONOI_BUILT_SITES,
    VORONOI_BUILT_FORM_WIDTH,
    VORONOI_BUILT_FORM_HEIGHT,
    VORONOI_BUILT_FORM_LOWER_X,
    VORONOI_BUILT_FORM_LOWER_Y,
    VORONOI_BUILT_FORM_SCALE
};
// Its buffers, which voronoi_tree and voronoi_form take.
enum voronoi_tree_buffer { VORONOI_TREE_BUFFER_SITES, VORONOI_TREE_BUFFER_TREE };
enum voronoi_form_buffer { VORONOI_FORM_BUFFER_SITES, VORONOI_FORM_BUFFER_NODES, VORONOI_FORM_BUFFER_IDS };

// voronoi_check: how much farther than the nearest site a place's site may be and not count as wrong.
enum voronoi_check { VORONOI_CHECK_ALLOWED };
enum voronoi_checked {
    VORONOI_CHECKED_RIGHT,
    VORONOI_CHECKED_NEAR, // not the nearest, but no farther than allowed
    VORONOI_CHECKED_PLACES,
    VORONOI_CHECKED_WORST // by how much the worst is farther away
};

// ---- On the page's thread

// What voronoi_show is to show; voronoi_paint.glsl knows the numbers.
enum voronoi_view { VORONOI_VIEW_CELLS, VORONOI_VIEW_DISTANCE, VORONOI_VIEW_EDGES, VORONOI_VIEW_WORK };

// voronoi_choose: the sites nearest to a place, how many (0: none).
enum voronoi_choose { VORONOI_CHOOSE_X, VORONOI_CHOOSE_Y, VORONOI_CHOOSE_COUNT };
// Its answer: how many there are, and from FIRST on the fields of each.
enum voronoi_choice { VORONOI_CHOICE_COUNT, VORONOI_CHOICE_FIRST };
enum voronoi_chosen {
    VORONOI_CHOSEN_ID,
    VORONOI_CHOSEN_AWAY,
    VORONOI_CHOSEN_X,
    VORONOI_CHOSEN_Y,
    VORONOI_CHOSEN_FIELDS
};

// voronoi_told: the pixel whose search is told.
enum voronoi_tell { VORONOI_TELL_X, VORONOI_TELL_Y };
// Its answer: the place that the pixel asks about; the picture's corner, and from pixel to pixel; the tree; what the
// told walk found and took; what the library's own call and the picture have found.
enum voronoi_told {
    VORONOI_TOLD_X,
    VORONOI_TOLD_Y,
    VORONOI_TOLD_LEFT,
    VORONOI_TOLD_TOP,
    VORONOI_TOLD_STEP,
    VORONOI_TOLD_VERSION, // of the sites
    VORONOI_TOLD_SITES,
    VORONOI_TOLD_DEPTH,
    VORONOI_TOLD_ID,
    VORONOI_TOLD_DISTANCE2,
    VORONOI_TOLD_NODES, // whose bounds were computed
    VORONOI_TOLD_LEAVES,
    VORONOI_TOLD_POINTS,
    VORONOI_TOLD_CALL_ID,
    VORONOI_TOLD_PICTURE_ID,   // what the shader has found for the pixel
    VORONOI_TOLD_PICTURE_NODES // and how many nodes it looked at, where the picture shows that
};
enum voronoi_told_buffer { VORONOI_TOLD_BUFFER_PLANES, VORONOI_TOLD_BUFFER_NOTES };
// Of each of the tree's upper planes, from node 1 on: it, and how many sites lie below it on either side.
enum voronoi_plane {
    VORONOI_PLANE_AXIS,
    VORONOI_PLANE_SPLIT,
    VORONOI_PLANE_LOWER,
    VORONOI_PLANE_UPPER,
    VORONOI_PLANE_FIELDS
};
// A step of the walk, and the fields that its kind has.
enum voronoi_note_kind {
    VORONOI_NOTE_KIND_DOWN, // past a plane: axis, split, aside, pending
    VORONOI_NOTE_KIND_LEAF, // scanned: points, limit2, id, x, y, pending
    VORONOI_NOTE_KIND_BACK  // to a sibling of the path: bound2, limit2, enters, pending
};
enum voronoi_note {
    VORONOI_NOTE_KIND,
    VORONOI_NOTE_NODE,
    VORONOI_NOTE_AXIS,
    VORONOI_NOTE_SPLIT,
    VORONOI_NOTE_ASIDE,   // from the plane to the place, along the axis
    VORONOI_NOTE_PENDING, // bits after the step: which siblings of the path are still to be looked at
    VORONOI_NOTE_POINTS,  // sites of the leaf
    VORONOI_NOTE_BOUND2,  // no site below the node is nearer
    VORONOI_NOTE_LIMIT2,  // of the nearest site so far
    VORONOI_NOTE_ENTERS,  // 1: the node may hold a nearer one
    VORONOI_NOTE_ID,      // of the nearest site so far
    VORONOI_NOTE_X,
    VORONOI_NOTE_Y,
    VORONOI_NOTE_FIELDS
};
// voronoi_mean: an average search without a stack, and behind it one with a stack.
enum voronoi_mean { VORONOI_MEAN_NODES, VORONOI_MEAN_LEAVES, VORONOI_MEAN_POINTS, VORONOI_MEAN_FIELDS };

// Output of voronoi_answers, input of voronoi_check: places that were looked up, and the ids that were found there.
enum voronoi_sample { VORONOI_SAMPLE_PLACES, VORONOI_SAMPLE_IDS };

#endif
