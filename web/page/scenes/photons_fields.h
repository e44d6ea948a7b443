// Fields of the jobs of the scene Photons (../fields.h).
#ifndef SAPWOOD_PAGE_PHOTONS_FIELDS_H
#define SAPWOOD_PAGE_PHOTONS_FIELDS_H

// What photons_make and photons_read take. The latter's buffers are a page_file.
enum photons_make {
    PHOTONS_MAKE_THING,       // photons_thing
    PHOTONS_MAKE_MATTER,      // photons_matter
    PHOTONS_MAKE_LAMP_TURN,   // degrees about the middle
    PHOTONS_MAKE_LAMP_HEIGHT, // part of the room's height
    PHOTONS_MAKE_LAMP_SIZE,   // side
    PHOTONS_MAKE_Y_UP         // y of the file points up; else z
};
enum photons_thing { PHOTONS_THING_RING, PHOTONS_THING_BALL, PHOTONS_THING_KNOT, PHOTONS_THING_FILE };
enum photons_matter { PHOTONS_MATTER_METAL, PHOTONS_MATTER_GLASS, PHOTONS_MATTER_TINTED, PHOTONS_MATTER_CHALK };
// The answer. Its buffers: places of vertices, and triangles, those of the room first.
enum photons_made {
    PHOTONS_MADE_TRIANGLES, // of the thing
    PHOTONS_MADE_LAMP_X,    // the lamp's middle
    PHOTONS_MADE_LAMP_Y,
    PHOTONS_MADE_LAMP_Z,
    PHOTONS_MADE_LAMP_SIZE
};
enum photons_mesh { PHOTONS_MESH_VERTICES, PHOTONS_MESH_TRIANGLES };

// What photons_send takes: a part of all photons of a pass, from number * part / parts on. Those of pass 0 are kept and
// shown; those of later ones light a picture's later passes.
enum photons_send {
    PHOTONS_SEND_PART,
    PHOTONS_SEND_PARTS,
    PHOTONS_SEND_PASS,
    PHOTONS_SEND_GLOBAL,   // photons that all parts send for the global map
    PHOTONS_SEND_CAUSTICS, // and for the map of caustics
    PHOTONS_SEND_BOUNCES
};
// The answer, of pass 0 also that of photons_again. Buffers of pass 0: a photons_dot for each photon that landed in this
// part, or in all, those of the global map first; and for some of them two dots, the ends of their last flight.
enum photons_sent {
    PHOTONS_SENT_GLOBAL,   // landed in all
    PHOTONS_SENT_CAUSTICS, // the same
    PHOTONS_SENT_MORE,     // dots of the global map that the answer holds
    PHOTONS_SENT_RAYS,     // traced in all
    PHOTONS_SENT_SHARE     // of all photons, sent so far
};
enum photons_buffer { PHOTONS_BUFFER_DOTS, PHOTONS_BUFFER_FLIGHTS };
// Words of a dot: where it is; a normal, three signed bytes, and of a flight 127 at its end; colours, three bytes, and a
// photons_way.
enum photons_dot { PHOTONS_DOT_X, PHOTONS_DOT_NORMAL = 3, PHOTONS_DOT_COLOR, PHOTONS_DOT_FIELDS };
enum photons_way { PHOTONS_WAY_LAMP, PHOTONS_WAY_CAUSTIC, PHOTONS_WAY_INDIRECT };

// What photons_light and photons_check take: how photons are looked up, and the view.
enum photons_light {
    PHOTONS_LIGHT_K,
    PHOTONS_LIGHT_RADIUS,
    PHOTONS_LIGHT_FILTER, // sap_photon_filter
    PHOTONS_LIGHT_MAPS,   // bits of photons_map
    PHOTONS_LIGHT_RAYS,   // what comes straight from the lamp is found by rays, not by photons of the global map
    PHOTONS_LIGHT_WIDTH,  // pixels of the picture
    PHOTONS_LIGHT_HEIGHT,
    PHOTONS_LIGHT_YAW,
    PHOTONS_LIGHT_PITCH,
    PHOTONS_LIGHT_ZOOM,
    PHOTONS_LIGHT_SHIFT_X,
    PHOTONS_LIGHT_SHIFT_Y,
    PHOTONS_LIGHT_STEP,   // pixels of the picture along a side of a cell that gets one light
    PHOTONS_LIGHT_ROW,    // the first row of cells
    PHOTONS_LIGHT_TIME,   // milliseconds after which no further row is begun
    PHOTONS_LIGHT_PASS,   // from 1 on: other places of the pixels, for the mean of all passes
    PHOTONS_LIGHT_RENEWED // by the photons that were sent for this pass
};
enum photons_map { PHOTONS_MAP_GLOBAL = 1, PHOTONS_MAP_CAUSTICS = 2 };
// The answer: rows of cells from PHOTONS_LIGHT_ROW on. Its buffer: of each cell red, green, blue, and 1 if there is
// something.
enum photons_lit {
    PHOTONS_LIT_ROWS,
    PHOTONS_LIT_WIDE,  // cells of a row
    PHOTONS_LIT_HIGH,  // rows of the picture
    PHOTONS_LIT_PLACES // at which photons were looked up
};
// What photons_put_light takes besides the answer, behind it.
enum photons_put { PHOTONS_PUT_ROW = 4, PHOTONS_PUT_STEP };

// photons_check: how many of the places brute force finds the same light at; its input is a buffer of pixels, x and y
// of each.
enum photons_checked { PHOTONS_CHECKED_PLACES, PHOTONS_CHECKED_RIGHT, PHOTONS_CHECKED_PHOTONS };

// photons_told takes a photons_light, and behind it a pixel.
enum photons_tell { PHOTONS_TELL_X = 17, PHOTONS_TELL_Y };
// The answer, of photons and the tree of the global map. PHOTONS 0: there are none yet, and nothing else is told.
enum photons_told {
    PHOTONS_TOLD_PHOTONS,
    PHOTONS_TOLD_DEPTH,
    PHOTONS_TOLD_LEAVES,
    PHOTONS_TOLD_X, // the place that the pixel shows
    PHOTONS_TOLD_Y,
    PHOTONS_TOLD_Z,
    PHOTONS_TOLD_NORMAL_X,
    PHOTONS_TOLD_NORMAL_Y,
    PHOTONS_TOLD_NORMAL_Z,
    PHOTONS_TOLD_RADIUS, // within which photons count there; 0: there is no place
    PHOTONS_TOLD_RED,    // the light there
    PHOTONS_TOLD_GREEN,
    PHOTONS_TOLD_BLUE,
    PHOTONS_TOLD_SEEN_NODES, // that the search looked at
    PHOTONS_TOLD_SEEN_LEAVES,
    PHOTONS_TOLD_SEEN_PHOTONS,
    PHOTONS_TOLD_PASS,   // of the picture
    PHOTONS_TOLD_PART,   // radii in it, of those of the first
    PHOTONS_TOLD_CHANGED // part of the picture's light that the pass has changed
};
// Its buffers: where a photon was, a photons_stop each; how many landed after so many surfaces; the tree's upper planes
// in the order of their numbers, a photons_plane each; places of the photons that count at the pixel's.
enum photons_told_buffer {
    PHOTONS_TOLD_BUFFER_STOPS,
    PHOTONS_TOLD_BUFFER_LANDED,
    PHOTONS_TOLD_BUFFER_PLANES,
    PHOTONS_TOLD_BUFFER_FOUND
};
enum photons_stop {
    PHOTONS_STOP_X,
    PHOTONS_STOP_Y,
    PHOTONS_STOP_Z,
    PHOTONS_STOP_RED, // power with which it arrived
    PHOTONS_STOP_GREEN,
    PHOTONS_STOP_BLUE,
    PHOTONS_STOP_FIELDS
};
enum photons_plane {
    PHOTONS_PLANE_AXIS,
    PHOTONS_PLANE_SPLIT,
    PHOTONS_PLANE_LOWER, // its cell
    PHOTONS_PLANE_LOWER_Y,
    PHOTONS_PLANE_LOWER_Z,
    PHOTONS_PLANE_UPPER,
    PHOTONS_PLANE_UPPER_Y,
    PHOTONS_PLANE_UPPER_Z,
    PHOTONS_PLANE_FIELDS
};

// What photons_show takes.
enum photons_tint { PHOTONS_TINT_POWER, PHOTONS_TINT_MAP };
enum photons_show { PHOTONS_SHOW_DOTS, PHOTONS_SHOW_LIGHT, PHOTONS_SHOW_BOTH };

#endif
