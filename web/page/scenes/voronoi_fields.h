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

// Output of voronoi_answers, input of voronoi_check: places that were looked up, and the ids that were found there.
enum voronoi_sample { VORONOI_SAMPLE_PLACES, VORONOI_SAMPLE_IDS };

#endif
