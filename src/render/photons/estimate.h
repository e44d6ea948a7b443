// The light of a row of photons, the nearest first. C and CUDA share this text.
#ifndef SAPWOOD_RENDER_PHOTONS_ESTIMATE_H
#define SAPWOOD_RENDER_PHOTONS_ESTIMATE_H

#include "render/photons/photon.h"

// Rows of photons near points.
typedef struct sap_photon_rows {
    const sap_photon* photons; // of the map
    sap_photon_search search;
    const float* normals; // of all points
    float* light;         // of all points, 0
    const int32_t* which; // the points of rows; NULL: those from `from` on
    int64_t from;
    int64_t want;           // photons in a row
    bool all;               // rows hold all photons that may count
    const int64_t* offsets; // of rows; NULL: each has `want`
    const int32_t* ids;     // below 0 where a row ends early
    const float* distance2;
} sap_photon_rows;

SAP_FN double sap_photon_part(const sap_photon_search* search) {
    return search->shrink > 0 ? (double)search->shrink : 1;
}

// Photons beyond it do not count; those at the edge are told apart by their squared distances.
SAP_FN double sap_photon_reach(const sap_photon_search* search) {
    const double part = sap_photon_part(search), radius = (double)search->radius;
    return part < 1 ? radius * sqrt(part) * (1 + 0x1p-20) : radius;
}

// Whether any photon may count there.
SAP_FN bool sap_photon_can_light(const float* normal) {
    const float all = normal[0] + normal[1] + normal[2];
    return all - all == 0 ? normal[0] != 0 || normal[1] != 0 || normal[2] != 0
                          : isfinite(normal[0]) && isfinite(normal[1]) && isfinite(normal[2]);
}

// The squared radius of an estimate, of which `farthest` is the last distance that counts, or, if `full`, the next one.
SAP_FN double sap_photon_radius2(const sap_photon_search* search, bool full, double farthest) {
    const float given = search->radius * search->radius;
    return (full || search->radius == 0 || !isfinite(given) ? farthest : (double)given) * sap_photon_part(search);
}

// The light at the point of a row; false if a longer row is needed to know it.
SAP_FN bool sap_photon_row(const sap_photon_rows* l, int64_t row) {
    const int64_t point = l->which ? l->which[row] : l->from + row, from = l->offsets ? l->offsets[row] : row * l->want,
                  end = l->offsets ? l->offsets[row + 1] : from + l->want;
    const float* normal = l->normals + 3 * point;
    const int32_t k = l->search.k;
    int64_t counted = 0, last;
    double farthest = 0;
    bool full = false;
    if (!sap_photon_can_light(normal)) return true;
    for (last = from; last < end && l->ids[last] >= 0; last++) {
        if (!sap_photon_counts(&l->photons[l->ids[last]], normal)) continue;
        farthest = (double)l->distance2[last];
        if (k && counted == k) {
            full = true;
            break;
        }
        counted++;
    }
    if (!full && last == end && !l->all) return false;
    const double radius2 = sap_photon_radius2(&l->search, full, farthest);
    if (!(radius2 > 0)) return true;
    double sum[3] = {0, 0, 0};
    for (int64_t i = from; i < last; i++) {
        const sap_photon* photon = &l->photons[l->ids[i]];
        if ((double)l->distance2[i] > radius2) break;
        if (!sap_photon_counts(photon, normal)) continue;
        const double weight = sap_photon_weight((int)l->search.filter, (double)l->distance2[i], radius2);
        for (int a = 0; a < 3; a++) sum[a] += weight * (double)photon->power[a];
    }
    for (int a = 0; a < 3; a++) l->light[3 * point + a] = (float)(sum[a] / (SAP_PI * radius2));
    return true;
}

#endif
