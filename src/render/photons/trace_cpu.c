// Photons on the CPU: their memory, and loops over those of a batch, which threads share, around the shared texts.
#include "base/assert.h"
#include "base/team.h"
#include "render/photons/swarm.h"
#include "sapwood/stream.h"

#include <string.h>

enum { BATCH = 1 << 15, GRAIN = 512 };

// Arrays hold an entry for each photon of a batch.
typedef struct batch {
    sap_swarm* swarm;
    sap_flight* flights;
    uint8_t* goes_on;
    sap_photon* met;               // by place among the living
    int32_t* slots;                // of these
    int32_t* numbers;              // how many photons each slot has kept, then where its first one goes
    int32_t places[BATCH / GRAIN]; // how many photons each part of the living keeps, then where its first one goes
    sap_scratch memory;
} batch;

static batch* batch_of(const sap_swarm* s) { return s->state; }

// ---- Memory

static void release(sap_photons* map) {
    sap_memory_release(map->device, map->photons, (size_t)map->room * sizeof *map->photons);
}

static sap_status make_room(sap_photons* map, int64_t room) {
    size_t bytes;
    sap_photon* photons = NULL;
    if (sap_size_multiply((uint64_t)room, sizeof *photons, &bytes)) photons = sap_memory_allocate(map->device, bytes);
    if (!photons) return sap_fail(map->device, SAP_ERROR_MEMORY, "no memory for %lld photons", (long long)room);
    if (map->info.count) memcpy(photons, map->photons, (size_t)map->info.count * sizeof *photons);
    release(map);
    map->photons = photons;
    return SAP_OK;
}

static void free_photons(sap_photons* map) {
    sap_sides_free(map);
    release(map);
}

static sap_status copy(const sap_photons* map, sap_photon* to, const sap_photon* from, int64_t count) {
    (void)map;
    if (count) memcpy(to, from, (size_t)count * sizeof *to);
    return SAP_OK;
}

static size_t lay_out(sap_swarm* s, unsigned char* memory) {
    batch* b = batch_of(s);
    struct {
        void** array;
        size_t bytes;
    } arrays[] = {{(void**)&b->flights, sizeof *b->flights}, {(void**)&s->rays, sizeof *s->rays},
                  {(void**)&s->hits, sizeof *s->hits},       {(void**)&b->goes_on, sizeof *b->goes_on},
                  {(void**)&b->met, sizeof *b->met},         {(void**)&b->slots, sizeof *b->slots},
                  {(void**)&b->numbers, sizeof *b->numbers}};
    size_t at = 0;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        void* start = memory ? memory + at : NULL;
        memcpy(arrays[i].array, &start, sizeof start);
        at += sap_align((size_t)s->batch * arrays[i].bytes);
    }
    return at;
}

static sap_status begin(sap_swarm* s, int64_t most) {
    sap_device* device = s->picture->device;
    batch* b = sap_memory_allocate_zero(device, sizeof *b);
    s->state = b;
    s->batch = most < BATCH ? (most + SAP_LEAVING_BLOCK - 1) / SAP_LEAVING_BLOCK * SAP_LEAVING_BLOCK : BATCH;
    if (!b || !sap_scratch_take(device, lay_out(s, NULL), &b->memory))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory for photons on their way");
    b->swarm = s;
    lay_out(s, b->memory.memory);
    return SAP_OK;
}

static sap_status end(sap_swarm* s) {
    batch* b = batch_of(s);
    if (b) sap_scratch_give(s->picture->device, &b->memory);
    sap_memory_release(s->picture->device, b, sizeof *b);
    return SAP_OK;
}

// ---- Steps

static void leave_range(void* context, int64_t from, int64_t to, int32_t worker) {
    const batch* b = context;
    const sap_swarm* s = b->swarm;
    (void)worker;
    for (int64_t i = from; i < to; i++)
        b->flights[i] = sap_photon_begin(&s->scene, &s->table, (uint32_t)(s->first + i), (int32_t)i, &s->rays[i]);
}

static void add_leaving(sap_swarm* s, const sap_flight* flights, int64_t count) {
    double lanes[SAP_LEAVING_LANES][3] = {{0}}, sum[3] = {0};
    for (int64_t i = 0; i < count; i++) {
        double* lane = lanes[i % SAP_LEAVING_LANES];
        lane[0] += (double)flights[i].power.x;
        lane[1] += (double)flights[i].power.y;
        lane[2] += (double)flights[i].power.z;
    }
    for (int l = 0; l < SAP_LEAVING_LANES; l++)
        for (int a = 0; a < 3; a++) sum[a] += lanes[l][a];
    for (int a = 0; a < 3; a++) s->emitted[a] += sum[a];
}

static sap_status leave(sap_swarm* s) {
    batch* b = batch_of(s);
    memset(b->numbers, 0, (size_t)s->live * sizeof *b->numbers);
    sap_team_loop(s->picture->threads, s->live, GRAIN, leave_range, b);
    for (int64_t i = 0; i < s->live; i += SAP_LEAVING_BLOCK)
        add_leaving(s, b->flights + i, s->live - i < SAP_LEAVING_BLOCK ? s->live - i : SAP_LEAVING_BLOCK);
    return SAP_OK;
}

static bool is_kept(const batch* b, int64_t i) { return (b->met[i].kind & b->swarm->options.kinds) != 0; }

static void meet_range(void* context, int64_t from, int64_t to, int32_t worker) {
    batch* b = context;
    const sap_swarm* s = b->swarm;
    int32_t kept = 0;
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        b->slots[i] = b->flights[i].slot;
        const bool on =
            sap_photon_meet(&s->scene, &s->table, &s->hits[i], s->bounce, &b->flights[i], &s->rays[i], &b->met[i]);
        b->goes_on[i] = on && sap_photon_goes_on(&s->options, &b->flights[i], s->bounce);
        kept += is_kept(b, i);
    }
    b->places[from / GRAIN] = kept;
}

// In the heap the upper byte of `bounce` says how many photons its slot has kept before: of a slot at most one flies.
static void keep_range(void* context, int64_t from, int64_t to, int32_t worker) {
    const batch* b = context;
    const sap_photons* heap = b->swarm->heap;
    sap_photon* kept = heap->photons + heap->info.count + b->places[from / GRAIN];
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        if (!is_kept(b, i)) continue;
        *kept = b->met[i];
        kept->bounce = (uint16_t)(kept->bounce + 256 * b->numbers[b->slots[i]]++);
        kept++;
    }
}

// Keeps what has been met, in the order of the living.
static void keep_met(sap_swarm* s) {
    batch* b = batch_of(s);
    int32_t all = 0;
    for (int64_t part = 0; part * GRAIN < s->live; part++) {
        const int32_t here = b->places[part];
        b->places[part] = all;
        all += here;
    }
    if (all) sap_team_loop(s->picture->threads, s->live, GRAIN, keep_range, b);
    s->heap->info.count += all;
}

static sap_status meet(sap_swarm* s) {
    const batch* b = batch_of(s);
    sap_device* device = s->picture->device;
    int64_t kept = 0, rays = 0;
    sap_team_loop(s->picture->threads, s->live, GRAIN, meet_range, s->state);
    keep_met(s);
    sap_status status = sap_compact(device, b->flights, s->live, sizeof *b->flights, b->goes_on, b->flights, &kept);
    if (status == SAP_OK) status = sap_compact(device, s->rays, s->live, sizeof *s->rays, b->goes_on, s->rays, &rays);
    s->live = kept;
    return status;
}

static void sort_range(void* context, int64_t from, int64_t to, int32_t worker) {
    const batch* b = context;
    const sap_swarm* s = b->swarm;
    sap_photon* sorted = s->map->photons + s->map->info.count;
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        sap_photon photon = s->heap->photons[i];
        const int64_t slot = (int64_t)photon.number - s->first;
        SAP_ASSERT(slot >= 0 && slot < s->batch);
        const int64_t place = b->numbers[slot] + photon.bounce / 256;
        photon.bounce %= 256;
        sorted[place] = photon;
    }
}

static sap_status sort(sap_swarm* s, int64_t count) {
    batch* b = batch_of(s);
    int32_t at = 0;
    for (int64_t i = 0; i < count; i++) {
        const int32_t number = b->numbers[i];
        b->numbers[i] = at;
        at += number;
    }
    sap_team_loop(s->picture->threads, s->heap->info.count, GRAIN, sort_range, b);
    return SAP_OK;
}

const sap_photon_ops sap_photon_ops_cpu = {.make_room = make_room,
                                           .free_photons = free_photons,
                                           .planted = sap_sides_make,
                                           .copy = copy,
                                           .begin = begin,
                                           .end = end,
                                           .leave = leave,
                                           .meet = meet,
                                           .sort = sort,
#if defined(__EMSCRIPTEN__) // where code is downloaded, and draws no pictures
                                           .estimate = sap_photons_nearest_cpu};
#else
                                           .estimate = sap_photons_estimate_cpu,
                                           .add_light = sap_lighting_add_cpu};
#endif
