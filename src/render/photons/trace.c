// Photons sent through a scene: batches of them, a bounce at a time, by the library's own rays.
#include "base/assert.h"
#include "base/team.h"
#include "device/reserved.h"
#include "render/photons/map.h"
#include "sapwood/stream.h"

#include <string.h>

enum { BATCH = 1 << 15, GRAIN = 512, MOST_BOUNCES = 64, ALL_KINDS = 15 };

// A batch on its way. Arrays hold BATCH entries.
typedef struct sap_swarm {
    sap_picture* picture;
    sap_source_table table;
    sap_photon_options options; // defaults filled in
    int64_t first, live;        // number of the batch's first photon
    int32_t bounce;
    sap_flight* flights;
    sap_ray* rays;
    sap_hit* hits;
    uint8_t* goes_on;
    sap_photon* met;  // by place among the living
    int32_t* slots;   // of these
    int32_t* numbers; // how many photons each slot has kept, then where its next one goes
    // All that the batch has kept, bounce by bounce, with its slots.
    sap_photons* heap;
    sap_photons* map;
    double emitted[3];
} sap_swarm;

static void begin_range(void* context, int64_t from, int64_t to, int32_t worker) {
    sap_swarm* s = context;
    (void)worker;
    for (int64_t i = from; i < to; i++)
        s->flights[i] =
            sap_photon_begin(&s->picture->scene, &s->table, (uint32_t)(s->first + i), (int32_t)i, &s->rays[i]);
}

static void meet_range(void* context, int64_t from, int64_t to, int32_t worker) {
    sap_swarm* s = context;
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        s->slots[i] = s->flights[i].slot;
        bool on = sap_photon_meet(&s->picture->scene, &s->table, &s->hits[i], s->bounce, &s->flights[i], &s->rays[i],
                                  &s->met[i]);
        if (s->flights[i].kind == SAP_PHOTON_INDIRECT && !(s->options.kinds & SAP_PHOTON_INDIRECT)) on = false;
        s->goes_on[i] = on && s->bounce < s->options.bounces;
    }
}

// Keeps what has been met, in the order of the living, which is that of their slots.
static sap_status keep_met(sap_swarm* s) {
    sap_photons* heap = s->heap;
    sap_status status = sap_photons_reserve(heap, heap->info.count + s->live);
    for (int64_t i = 0; i < s->live && status == SAP_OK; i++) {
        if (!(s->met[i].kind & s->options.kinds)) continue;
        heap->photons[heap->info.count++] = s->met[i];
        s->numbers[s->slots[i]]++;
    }
    return status;
}

static sap_status next_bounce(sap_swarm* s) {
    sap_device* device = s->picture->device;
    int64_t kept = 0, rays = 0;
    sap_status status = sap_compact(device, s->flights, s->live, sizeof *s->flights, s->goes_on, s->flights, &kept);
    if (status == SAP_OK) status = sap_compact(device, s->rays, s->live, sizeof *s->rays, s->goes_on, s->rays, &rays);
    s->live = kept;
    return status;
}

// Puts the photons of the batch in order of their numbers, and of bounces.
static sap_status sort_batch(sap_swarm* s, int64_t count) {
    sap_photons *map = s->map, *heap = s->heap;
    sap_status status = sap_photons_reserve(map, map->info.count + heap->info.count);
    if (status != SAP_OK) return status;
    int32_t at = 0;
    for (int64_t i = 0; i < count; i++) {
        int32_t number = s->numbers[i];
        s->numbers[i] = at;
        at += number;
    }
    for (int64_t i = 0; i < heap->info.count; i++) {
        int64_t slot = (int64_t)heap->photons[i].number - s->first;
        SAP_ASSERT(slot >= 0 && slot < count);
        map->photons[map->info.count + s->numbers[slot]++] = heap->photons[i];
    }
    map->info.count += heap->info.count;
    return SAP_OK;
}

static sap_status send_batch(sap_swarm* s, int64_t count) {
    s->live = count;
    s->heap->info.count = 0;
    memset(s->numbers, 0, (size_t)count * sizeof *s->numbers);
    sap_team_loop(s->picture->threads, count, GRAIN, begin_range, s);
    for (int64_t i = 0; i < count; i++) {
        s->emitted[0] += (double)s->flights[i].power.x;
        s->emitted[1] += (double)s->flights[i].power.y;
        s->emitted[2] += (double)s->flights[i].power.z;
    }
    sap_status status = SAP_OK;
    for (s->bounce = 0; s->live && status == SAP_OK; s->bounce++) {
        status = sap_trace(s->picture->tree, s->rays, s->live, s->hits);
        s->map->info.rays += s->live;
        if (status == SAP_OK) sap_team_loop(s->picture->threads, s->live, GRAIN, meet_range, s);
        if (status == SAP_OK) status = keep_met(s);
        if (status == SAP_OK) status = next_bounce(s);
    }
    return status == SAP_OK ? sort_batch(s, count) : status;
}

static size_t lay_out(sap_swarm* s, unsigned char* memory) {
    struct {
        void** array;
        size_t bytes;
    } arrays[] = {{(void**)&s->flights, sizeof *s->flights}, {(void**)&s->rays, sizeof *s->rays},
                  {(void**)&s->hits, sizeof *s->hits},       {(void**)&s->goes_on, sizeof *s->goes_on},
                  {(void**)&s->met, sizeof *s->met},         {(void**)&s->slots, sizeof *s->slots},
                  {(void**)&s->numbers, sizeof *s->numbers}};
    size_t at = 0;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        void* start = memory ? memory + at : NULL;
        memcpy(arrays[i].array, &start, sizeof start);
        at += sap_align(BATCH * arrays[i].bytes);
    }
    return at;
}

static sap_status send_all(sap_swarm* s) {
    const sap_photon_options* o = &s->options;
    sap_scratch memory = {0}, sources = {0};
    sap_device* device = s->picture->device;
    const int64_t total = o->total ? o->total : o->first + o->count;
    sap_status status = sap_sources_make(s->picture, total > 0 ? total : 1, &sources, &s->table, s->map->info.power);
    s->table.seed = sap_hash(o->seed ^ 0x5bd1e995u);
    if (status == SAP_OK && !sap_scratch_take(device, lay_out(s, NULL), &memory))
        status = sap_fail(device, SAP_ERROR_MEMORY, "no memory for photons on their way");
    if (status == SAP_OK) lay_out(s, memory.memory);
    const int64_t end = s->table.count && s->picture->file->mesh.triangle_count ? o->count : 0;
    for (int64_t done = 0; done < end && status == SAP_OK; done += BATCH) {
        s->first = o->first + done;
        sap_progress_mute(true);
        status = send_batch(s, end - done < BATCH ? end - done : BATCH);
        sap_progress_mute(false);
        if (status == SAP_OK &&
            !sap_progress_report(device, (double)(done + BATCH < end ? done + BATCH : end) / (double)end))
            status = sap_fail(device, SAP_ERROR_CANCELLED, "the progress callback asked to stop");
    }
    for (int a = 0; a < 3; a++) s->map->info.emitted[a] = s->emitted[a];
    sap_scratch_give(device, &memory);
    sap_scratch_give(device, &sources);
    if (status != SAP_OK) return status;
    sap_progress_mute(true);
    status = sap_photons_plant(s->map);
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
    if (s.options.bounces == 0) s.options.bounces = 16;
    if (s.options.bounces < 0) s.options.bounces = 0;
    s.map = sap_photons_new(device);
    s.heap = sap_photons_new(device);
    sap_status status = SAP_ERROR_MEMORY;
    if (s.map && s.heap) {
        status = send_all(&s);
    } else {
        sap_fail(device, status, "no memory for photons");
    }
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
    if (status == SAP_OK && device->table->kind != SAP_CPU) status = sap_unsupported(device, "trace photons");
    if (status != SAP_OK) return status;
    const sap_render_options plain = {.width = 1, .height = 1, .ambient = options->ambient, .flat = options->flat};
    sap_picture picture;
    sap_scratch memory[3] = {{0}};
    status = sap_picture_prepare(&picture, device, scene, &plain);
    if (status == SAP_OK) status = sap_mesh_file_check(device, scene->file, scene->tree->shape.triangles);
    if (status == SAP_OK) {
        status = sap_picture_fill(&picture, scene, memory);
        if (status == SAP_OK) status = sap_photons_send(&picture, options, photons);
        sap_scratch_give(device, &memory[1]);
        sap_scratch_give(device, &memory[0]);
    }
    return status;
}
