// Fields of the jobs of the scene Cloud (../fields.h).
#ifndef SAPWOOD_PAGE_CLOUD_FIELDS_H
#define SAPWOOD_PAGE_CLOUD_FIELDS_H

// What cloud_make and cloud_read take. The latter's buffers are a page_file, and perhaps a second one behind it.
enum cloud_make {
    CLOUD_MAKE_ALIGNS,  // two scans are to be aligned; else one relaxes
    CLOUD_MAKE_OF_FILE, // of what was read last, not of the built-in surface
    CLOUD_MAKE_POINTS,  // at most, of each scan
    CLOUD_MAKE_NOISE,   // part of the scan's size
    CLOUD_MAKE_APART,   // degrees by which the scan that moves is turned
    CLOUD_MAKE_Y_UP     // y of the file points up; else z
};

// What cloud_relax and cloud_align take: how to make a step.
enum cloud_force { CLOUD_FORCE_K, CLOUD_FORCE_RADIUS, CLOUD_FORCE_STRENGTH }; // radius in spacings; 0: the k nearest
enum cloud_fit { CLOUD_FIT_METHOD, CLOUD_FIT_FINDS_OVERLAP };                 // method: sap_align_method

// The answer of all of these, which cloud_put takes.
enum cloud_state {
    CLOUD_STATE_POINTS,  // of both scans, those that stand still first
    CLOUD_STATE_STILL,   // points that do
    CLOUD_STATE_STEPS,   // made
    CLOUD_STATE_END,     // cloud_end
    CLOUD_STATE_ERROR,   // aligning: root of the mean square of pairs; relaxing: deviation of densities over their mean
    CLOUD_STATE_PAIRS,   // that count, over the points that move
    CLOUD_STATE_LEFT,    // degrees that the scan is still turned out of its place; negative: nobody knows
    CLOUD_STATE_SPACING, // of points, in the mean
    CLOUD_STATE_UNIT,    // of the file, of which the page's lengths are so many
    CLOUD_STATE_GIVEN,   // points of the file or files
    CLOUD_STATE_NOT_FINITE, // of these, left out
    CLOUD_STATE_LOWER_X,    // a box that does not change with the steps
    CLOUD_STATE_LOWER_Y,
    CLOUD_STATE_LOWER_Z,
    CLOUD_STATE_UPPER_X,
    CLOUD_STATE_UPPER_Y,
    CLOUD_STATE_UPPER_Z
};
// Why no step follows: nothing would move, or so many were made that nothing ever will come to rest.
enum cloud_end { CLOUD_END_NONE, CLOUD_END_REST, CLOUD_END_STOPPED };
// Its buffers: of each point a cloud_vertex; of each pair that is drawn two ends of three numbers.
enum cloud_buffer { CLOUD_BUFFER_VERTICES, CLOUD_BUFFER_PAIRS };
// Floats of a point. The value is its density over the mean one, or the length of its pair in spacings.
enum cloud_vertex { CLOUD_VERTEX_X, CLOUD_VERTEX_NORMAL_X = 3, CLOUD_VERTEX_VALUE = 6, CLOUD_VERTEX_FIELDS };

// What cloud_begin takes for the colours.
enum cloud_color {
    CLOUD_COLOR_DENSITY,
    CLOUD_COLOR_NORMALS,
    CLOUD_COLOR_PLAIN,
    CLOUD_COLOR_SCANS,
    CLOUD_COLOR_DISTANCE
};

// The answer of cloud_check: how many of the sampled points' numbers brute force finds.
enum cloud_checked { CLOUD_CHECKED_SAMPLES, CLOUD_CHECKED_RIGHT, CLOUD_CHECKED_NORMALS };

// cloud_point takes a space_ray, which chooses a point, and behind it the force of a step (cloud_force).
enum cloud_ask { CLOUD_ASK_FORCE = 6 };
// Its answer; the buffer holds the places of the neighbours, three numbers each, the nearest first.
enum cloud_point {
    CLOUD_POINT_ID, // -1: there is no scan that relaxes
    CLOUD_POINT_X,
    CLOUD_POINT_Y,
    CLOUD_POINT_Z,
    CLOUD_POINT_NORMAL_X,
    CLOUD_POINT_NORMAL_Y,
    CLOUD_POINT_NORMAL_Z,
    CLOUD_POINT_MOVE_X, // where the next step takes it, from where it is
    CLOUD_POINT_MOVE_Y,
    CLOUD_POINT_MOVE_Z,
    CLOUD_POINT_DENSITY, // over the mean one
    CLOUD_POINT_OFF,     // of the neighbours from the plane through their middle: root of the mean square
    CLOUD_POINT_FARTHEST,
    CLOUD_POINT_POINTS,
    CLOUD_POINT_SPACING,
    CLOUD_POINT_STEPS, // made
    CLOUD_POINT_ERROR
};

#endif
