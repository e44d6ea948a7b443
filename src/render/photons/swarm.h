// Photons on their way, a batch at a time, and what a processor does with photons.
#ifndef SAPWOOD_RENDER_PHOTONS_SWARM_H
#define SAPWOOD_RENDER_PHOTONS_SWARM_H

#include "device/progress.h"
#include "render/photons/estimate.h"
#include "render/photons/map.h"

#ifdef __cplusplus
extern "C" {
#endif

// What photons leave with is summed in blocks of this many numbers: those SAP_LEAVING_LANES apart in their order, then the
// sums of a block, then those of all blocks. So the sum is the same whoever makes a block.
enum { SAP_LEAVING_BLOCK = 1024, SAP_LEAVING_LANES = 32 };

typedef struct sap_swarm {
    sap_picture* picture;
    sap_scene_data scene;       // the picture's, its arrays where the processor wants them
    sap_source_table table;     // likewise
    sap_photon_options options; // defaults filled in
    int64_t batch;              // most photons that fly together: a multiple of SAP_LEAVING_BLOCK
    int64_t first, live;        // number of the batch's first photon; how many still fly
    int32_t bounce;
    sap_ray* rays;     // [batch], of the living
    sap_hit* hits;     // [batch]
    sap_photons* heap; // what the batch has kept so far, in any order
    sap_photons* map;
    double emitted[3];
    void* state; // from `begin` to `end`
} sap_swarm;

// Arrays of photons lie in memory of the processor.
typedef struct sap_photon_ops {
    // Moves photons to memory with room for so many.
    sap_status (*make_room)(sap_photons* map, int64_t room);
    void (*free_photons)(sap_photons* map);
    // (optional) Prepares a map that has its tree now.
    sap_status (*planted)(sap_photons* map);
    // Copies photons: into a map, which has room, from memory of the caller; or to there.
    sap_status (*copy)(const sap_photons* map, sap_photon* to, const sap_photon* from, int64_t count);
    // Chooses the size of a batch, at most so many, and takes memory for it. `end` always follows, even after a failure.
    sap_status (*begin)(sap_swarm* swarm, int64_t most);
    sap_status (*end)(sap_swarm* swarm);
    // Sends the `live` photons of a batch on their way, and adds what they leave with to `emitted`.
    sap_status (*leave)(sap_swarm* swarm);
    // After a trace: adds what is to be kept to the heap, which has room for all; the rays of those that go on follow.
    sap_status (*meet)(sap_swarm* swarm);
    // (optional) In place of all further traces and meetings, where the photons that still fly can meet no more than
    // follow_most surfaces, for which the heap has room. Adds the rays to the map's.
    sap_status (*follow)(sap_swarm* swarm);
    int64_t follow_most;
    // Adds the heap of a batch of so many photons to the map, which has room, by number, then bounce.
    sap_status (*sort)(sap_swarm* swarm, int64_t count);
    // sap_photons_estimate, its arguments checked; there are points.
    sap_status (*estimate)(const sap_photons* map, const sap_points* points, const float* normals,
                           const sap_photon_search* search, float* light);
    // Adds the light of a picture's maps to that of its paths.
    sap_status (*add_light)(sap_picture* picture);
} sap_photon_ops;

// ---- near_cpu.c: copies the ways and normals of photons to where the tree has them; frees them.
sap_status sap_sides_make(sap_photons* map);
void sap_sides_free(sap_photons* map);
// The light at points; *open, in `scratch`, becomes NULL, or says at which points other ways must find it. Stops early,
// and is SAP_OK, once the host has asked to stop.
sap_status sap_near_estimate(const sap_photons* map, const sap_points* points, const sap_photon_rows* rows,
                             sap_progress_state* progress, sap_scratch* scratch, uint8_t** open);

sap_status sap_photons_estimate_cpu(const sap_photons* map, const sap_points* points, const float* normals,
                                    const sap_photon_search* search, float* light);
// The same where map->sides are made and search->k is not 0; SAP_ERROR_UNSUPPORTED where it is 0 or above SAP_NEAR_MOST.
sap_status sap_photons_nearest_cpu(const sap_photons* map, const sap_points* points, const float* normals,
                                   const sap_photon_search* search, float* light);
sap_status sap_photons_estimate_cuda(const sap_photons* map, const sap_points* points, const float* normals,
                                     const sap_photon_search* search, float* light);
sap_status sap_lighting_add_cpu(sap_picture* picture);
sap_status sap_lighting_add_cuda(sap_picture* picture);

extern const sap_photon_ops sap_photon_ops_cpu, sap_photon_ops_cuda;

// Whether there are photons on a device.
static inline bool sap_photons_can(const sap_device* device) {
    return SAP_CAN(device, render, photons) && device->table->kind != SAP_GL;
}
static inline const sap_photon_ops* sap_photon_ops_of(const sap_device* device) {
    return device->rooms.render->photons;
}

// Whether a photon that has met a surface is followed further.
SAP_FN bool sap_photon_goes_on(const sap_photon_options* options, const sap_flight* flight, int32_t bounce) {
    return bounce < options->bounces &&
           (flight->kind != SAP_PHOTON_INDIRECT || (options->kinds & SAP_PHOTON_INDIRECT) != 0);
}

#ifdef __cplusplus
}
#endif
#endif
