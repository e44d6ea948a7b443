// Photons sent through a scene: batches of them, a bounce at a time, by the library's own rays.
#include "device/reserved.h"
#include "render/photons/swarm.h"

enum { MOST_BOUNCES = 64, DEFAULT_BOUNCES = 16, ALL_KINDS = 15 };

static sap_status send_batch(sap_swarm* s, const sap_photon_ops* ops, int64_t count) {
    s->live = count;
    s->heap->info.count = 0;
    sap_status status = ops->leave(s);
    for (s->bounce = 0; s->live && status == SAP_OK; s->bounce++) {
        const int64_t most = s->live * (s->options.bounces - s->bounce + 1);
        if (ops->follow && most <= ops->follow_most) {
            status = sap_photons_reserve(s->heap, s->heap->info.count + most);
            if (status == SAP_OK) status = ops->follow(s);
            break;
        }
        status = sap_trace(s->picture->tree, s->rays, s->live, s->hits);
        s->map->info.rays += s->live;
        if (status == SAP_OK) status = sap_photons_reserve(s->heap, s->heap->info.count + s->live);
        if (status == SAP_OK) status = ops->meet(s);
    }
    if (status == SAP_OK) status = sap_photons_reserve(s->map, s->map->info.count + s->heap->info.count);
    if (status == SAP_OK) status = ops->sort(s, count);
    if (status == SAP_OK) s->map->info.count += s->heap->info.count;
    return status;
}

static sap_status send_batches(sap_swarm* s, const sap_photon_ops* ops) {
    const int64_t end = s->options.count;
    sap_device* device = s->picture->device;
    sap_status status = SAP_OK;
    for (int64_t done = 0; done < end && status == SAP_OK;) {
        const int64_t count = end - done < s->batch ? end - done : s->batch;
        s->first = s->options.first + done;
        sap_progress_mute(true);
        status = send_batch(s, ops, count);
        sap_progress_mute(false);
        done += count;
        if (status == SAP_OK && !sap_progress_report(device, (double)done / (double)end))
            status = sap_fail(device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
    }
    return status;
}

static sap_status send_all(sap_swarm* s) {
    const sap_photon_options* o = &s->options;
    const sap_picture* p = s->picture;
    const sap_photon_ops* ops = sap_photon_ops_of(p->device);
    const int64_t total = o->total ? o->total : o->first + o->count;
    const sap_photon_aim* aim = &p->aims[o->kinds == SAP_PHOTON_CAUSTIC ? SAP_AIM_CAUSTICS : SAP_AIM_SCENE];
    for (int a = 0; a < 3; a++) s->map->info.power[a] = p->source_power[a];
    s->scene = p->scene;
    s->table = (sap_source_table){.sources = aim->sources,
                                  .count = aim->count,
                                  .middle = aim->middle,
                                  .radius = (float)aim->radius,
                                  .start = 2 * (float)p->radius,
                                  .share = (float)(1 / (double)(total > 0 ? total : 1)),
                                  .seed = sap_hash(o->seed ^ 0x5bd1e995u)};
    if (aim->count && p->file->mesh.triangle_count && o->count) {
        sap_status status = ops->begin(s, o->count);
        if (status == SAP_OK) status = send_batches(s, ops);
        const sap_status ended = ops->end(s);
        if (status == SAP_OK) status = ended;
        if (status != SAP_OK) return status;
    }
    for (int a = 0; a < 3; a++) s->map->info.emitted[a] = s->emitted[a];
    sap_progress_mute(true);
    const sap_status status = sap_photons_plant(s->map);
    sap_progress_mute(false);
    return status;
}

static sap_status check(const sap_device* device, const sap_photon_options* o) {
    if (o->first < 0 || o->count < 0 || o->total < 0)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "options.first, .count and .total: one is negative");
    if (o->first > INT32_MAX || o->count > INT32_MAX || o->first + o->count > INT32_MAX)
        return sap_fail(device, SAP_ERROR_RANGE, "options.first and .count: more than 2^31-1 photons");
    if (o->kinds & ~(uint32_t)ALL_KINDS) return sap_fail(device, SAP_ERROR_ARGUMENT, "options.kinds: an unknown kind");
    if (o->bounces > MOST_BOUNCES) return sap_fail(device, SAP_ERROR_ARGUMENT, "options.bounces: more than 64");
    return sap_reserved_check(device, o->reserved, "options");
}

sap_status sap_photons_send(sap_picture* picture, const sap_photon_options* options, sap_photons** photons) {
    sap_device* device = picture->device;
    sap_swarm s = {.picture = picture, .options = *options};
    if (s.options.kinds == 0) s.options.kinds = ALL_KINDS;
    if (s.options.bounces == 0) s.options.bounces = DEFAULT_BOUNCES;
    if (s.options.bounces < 0) s.options.bounces = 0;
    s.map = sap_photons_new(device);
    s.heap = sap_photons_new(device);
    sap_status status = s.map && s.heap ? send_all(&s) : sap_fail(device, SAP_ERROR_MEMORY, "no memory for photons");
    sap_photons_free(s.heap);
    if (status == SAP_OK)
        *photons = s.map;
    else
        sap_photons_free(s.map);
    return status;
}

sap_status sap_photons_trace(const sap_scene* scene, const sap_photon_options* options, sap_photons** photons) {
    if (!scene || !scene->tree) return SAP_ERROR_ARGUMENT;
    sap_device* device = scene->tree->device;
    if (!options || !photons)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "%s: is NULL", options ? "photons" : "options");
    sap_status status = check(device, options);
    if (status == SAP_OK && !sap_photons_can(device)) status = sap_unsupported(device, "trace photons");
    if (status != SAP_OK) return status;
    const sap_render_options plain = {.width = 1, .height = 1, .ambient = options->ambient, .flat = options->flat};
    sap_picture picture;
    sap_scratch memory[SAP_FILLED_ALL] = {{0}};
    status = sap_picture_prepare(&picture, device, scene, &plain);
    if (status == SAP_OK) status = sap_mesh_file_check(device, scene->file, scene->tree->shape.triangles);
    if (status == SAP_OK) {
        status = sap_picture_fill(&picture, scene, true, memory);
        if (status == SAP_OK) status = sap_photons_send(&picture, options, photons);
        sap_picture_empty(&picture, memory);
    }
    return status;
}
