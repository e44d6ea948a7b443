// The photons that light a picture: what is told of them, and the maps of each pass.
#include "device/reserved.h"
#include "render/photons/map.h"

enum { MOST_PHOTON_BOUNCES = 64, DEFAULT_K = 50 };

static sap_status bad(const sap_picture* picture, const char* sentence) {
    return sap_fail(picture->device, SAP_ERROR_ARGUMENT, "options.photons: %s", sentence);
}

sap_status sap_lighting_prepare(sap_picture* picture) {
    sap_render_photons* l = &picture->lighting;
    const int32_t passes = picture->options.passes;
    if (!picture->options.photons) return SAP_OK;
    *l = *picture->options.photons;
    if (picture->options.heat) return bad(picture, "heat shows none");
    if (l->count < 0 || l->caustics < 0) return bad(picture, "a negative count");
    if (l->bounces > MOST_PHOTON_BOUNCES) return bad(picture, "bounces: more than 64");
    if (l->caustics == 0) l->caustics = l->count;
    if (l->count > INT32_MAX / passes || l->caustics > INT32_MAX / passes)
        return sap_fail(picture->device, SAP_ERROR_RANGE, "options.photons: more than 2^31-1 photons");
    if (l->search.shrink != 0) return bad(picture, "search.shrink: not 0; `progressive` sets it");
    if (l->search.k == 0 && l->search.radius == 0) l->search.k = DEFAULT_K;
    sap_status status = sap_reserved_check(picture->device, l->reserved, "options.photons");
    return status == SAP_OK ? sap_photon_search_check(picture->device, &l->search) : status;
}

// A map of the photons of some kinds that a pass sends out.
static sap_status send(sap_picture* picture, int32_t pass, int64_t count, uint32_t kinds, sap_photons** map) {
    const sap_render_photons* l = &picture->lighting;
    const sap_photon_options options = {
        .first = pass * count, .count = count, .total = count, .seed = l->seed, .kinds = kinds, .bounces = l->bounces};
    sap_status status = sap_photons_send(picture, &options, map);
    if (status != SAP_OK) return status;
    picture->rays += (*map)->info.rays;
    picture->photons += (*map)->info.count;
    return SAP_OK;
}

sap_status sap_lighting_begin(sap_picture* picture, int32_t pass, double from, double to) {
    sap_render_photons* l = &picture->lighting;
    const double radius = sap_photon_radius(1, pass);
    l->search.shrink = l->progressive ? (float)(radius * radius) : 1;
    const uint32_t kinds = l->gather ? 0 : SAP_PHOTON_INDIRECT; // 0: all
    sap_progress_mute(true);
    sap_progress_part(from, (from + to) / 2);
    sap_status status = send(picture, pass, l->caustics, SAP_PHOTON_CAUSTIC, &picture->caustics);
    sap_progress_part((from + to) / 2, to);
    if (status == SAP_OK) status = send(picture, pass, l->count, kinds, &picture->global);
    sap_progress_mute(false);
    return status;
}

void sap_lighting_end(sap_picture* picture) {
    sap_photons_free(picture->caustics);
    sap_photons_free(picture->global);
    picture->caustics = picture->global = NULL;
}
