// Photons near points, found and added up at once: the inner loop of the CPU, one for each instruction set.
#ifndef SAPWOOD_RENDER_PHOTONS_NEAR_H
#define SAPWOOD_RENDER_PHOTONS_NEAR_H

#include "render/photons/estimate.h"
#include "render/photons/map.h"
#include "tree/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SAP_NEAR_MOST = 1024, // photons near a point that a run can keep
    SAP_NEAR_FEW = 256    // points that a thread takes at a time; calls with no more report no progress
};

// What the photons below each box of a group have in common: from which number to which one the ways that they flew go
// along each axis, and then their normals.
enum { SAP_TURN_AXES = 6, SAP_TURN_FLOATS = SAP_TURN_AXES * 2 * SAP_GROUP }; // lower[16], upper[16] for each axis

// Where a level's groups begin in sap_photons.sides; of the level behind the last, how long it is.
static inline int64_t sap_turns_at(const sap_tree_shape* s, int32_t level) {
    int64_t at = s->slots * 8;
    for (int32_t j = 0; j < level; j++) at += sap_level_groups(s, j) * SAP_TURN_FLOATS;
    return at;
}

// A run of points for one thread, each near the one before it as a rule.
typedef struct sap_near_run {
    const sap_tree* tree;
    const float* sides;          // see sap_photons
    const sap_photon_rows* rows; // the photons, what is asked, normals, and the light that is found
    const float* coords;         // [3*count]
    const int32_t* points;       // [count] which of all points they are
    int64_t count;
    float limit2;  // largest squared distance that counts
    uint8_t* open; // [all points] set where there are too many photons to keep: only without k
} sap_near_run;

typedef struct sap_near_kernels {
    void (*estimate)(const sap_near_run* run);
} sap_near_kernels;

#ifdef __cplusplus
}
#endif
#endif
