// What the worker's parts of the scene Photons share: a room with a thing in it (photons_room.c), photons that are sent
// there (photons_send.c), what is seen of it and the light there (photons_light.c), compared with brute force
// (photons_check.c).
#ifndef SAPWOOD_PAGE_PHOTONS_H
#define SAPWOOD_PAGE_PHOTONS_H

#include "../page.h"
#include "photons_fields.h"
#include "space.h"

enum {
    PHOTONS_MATERIALS = 5, // the last one is the thing's
    PHOTONS_ROOM = 12,     // triangles of the room, which come first
    PHOTONS_MOST = 1000000 // triangles of a file that the page takes
};

// A box with the thing on its floor, z up, and a lamp within. Arrays are malloc's.
typedef struct photons_room {
    float* vertices;
    float* normals; // of the vertices
    int64_t vertex_count;
    int32_t* triangles;
    int32_t* material_ids;
    int64_t triangle_count;
    sap_material materials[PHOTONS_MATERIALS];
    sap_light lamp;
    float lamp_size;
    sap_mesh_tree* tree;
} photons_room;

extern photons_room photons_here;
extern const float photons_room_upper[3]; // its lower corner is that with x and y turned round, on the floor
// Sets the box about which the camera of a picture goes.
void photons_frame_room(page_space* space);

// Photons of a pass: of the global map, of that of caustics, and those of the global map that did not come straight.
typedef struct photons_swarm {
    sap_photon* photons; // [count] malloc's, in the order in which they were sent
    int64_t count, room, rays;
    sap_photons* map;
    bool changed; // since the map was made
} photons_swarm;

typedef struct photons_pass {
    photons_swarm swarms[3]; // PHOTONS_GLOBAL, PHOTONS_CAUSTICS, PHOTONS_INDIRECT
    double share;            // of all photons, sent so far
    int32_t number;
} photons_pass;
enum { PHOTONS_GLOBAL, PHOTONS_CAUSTICS, PHOTONS_INDIRECT };

extern photons_pass photons_kept, photons_renewed;

// Says so; inline, so that static analysis of one file sees that it never returns SAP_OK.
static inline sap_status photons_no_memory(void) {
    page_fail(SAP_ERROR_MEMORY, "There is no memory here for this.");
    return SAP_ERROR_MEMORY;
}

// The mean of a picture's passes so far.
typedef struct photons_mean {
    float* cells; // sums
    int64_t count;
    int32_t pass;
    double light,
        changed; // sums over what the last pass has reached: of the mean, and of how far it was from the one before
} photons_mean;
extern photons_mean photons_sum;
// Another picture is to come: nothing is said of the passes of the last.
void photons_begin_mean(void);

void photons_forget(photons_pass* pass);
sap_status photons_there_is_none(void);
// Makes the maps that are asked for (photons_light), where there is more than when they were made.
sap_status photons_plant(const double* asked, photons_pass* pass);

// A place of a dull surface that is seen in a picture, and what of its irradiance the eye gets.
typedef struct photons_place {
    float weight[3];
    int32_t cell;
} photons_place;
typedef struct photons_places {
    float *points, *normals; // [3*count]
    photons_place* seen;     // [count]
    int64_t count, room;
} photons_places;

// What one sees through `count` points of a picture, x and y in pixels from its upper left corner.
sap_status photons_look(const double* asked, const float* at, int32_t count, photons_places* places);
void photons_places_free(photons_places* places);
// How photons are looked up, and in which swarms (photons_light).
sap_photon_search photons_search(const double* asked);
bool photons_asks(const double* asked, int swarm);

#endif
