// The steps of a picture on the CPU: loops over paths, which threads share, around the shared texts.
#include "base/assert.h"
#include "base/team.h"
#include "render/photons/swarm.h"
#include "render/picture.h"
#include "render/pixel.h"
#include "render/shine.h"

#include <string.h>

enum {
    TILE = 64,              // pixels a side at least: the paths of a thread should stay in its caches
    TILE_MOST = 4096,       // pixels a side at most
    THREAD_PATHS = 1 << 14, // paths of a wavefront for each thread: enough to share after some bounces too
    GRAIN = 1024,           // paths or pixels that are worth a thread
    SHADE_GRAIN = 256       // of paths whose surfaces are sampled
};

static sap_status cpu_begin(sap_picture* p) {
    const sap_render_options* o = &p->options;
    const size_t light_bytes = (size_t)o->width * (size_t)o->height * 3 * sizeof(float);
    for (int32_t side = TILE; side <= TILE_MOST; side *= 2) {
        sap_tiles_limit(p, side, side);
        if (p->wavefront.room >= (int64_t)p->threads * THREAD_PATHS) break;
    }
    if (!sap_scratch_take(p->device, sap_wavefront_layout(&p->wavefront, NULL), &p->scratch[0]) ||
        !sap_scratch_take(p->device, light_bytes, &p->scratch[1]))
        return sap_fail(p->device, SAP_ERROR_MEMORY, "no memory for a picture of %d x %d pixels", (int)o->width,
                        (int)o->height);
    const size_t used = sap_wavefront_layout(&p->wavefront, p->scratch[0].memory);
    SAP_ASSERT(used <= p->scratch[0].bytes);
    p->light = (float*)(void*)p->scratch[1].memory;
    memset(p->light, 0, light_bytes);
    return SAP_OK;
}

static sap_status cpu_end(sap_picture* p) {
    sap_scratch_give(p->device, &p->scratch[1]);
    sap_scratch_give(p->device, &p->scratch[0]);
    return SAP_OK;
}

static sap_status cpu_wait(sap_picture* p) {
    (void)p; // calls return when their work is done
    return SAP_OK;
}

// What a step's parts are told.
typedef struct step {
    sap_picture* picture;
    int32_t number; // of the bounce or the lamp
    bool last;
    uint32_t purpose;
    float full;
    uint8_t* pixels;
} step;

static void begin_range(void* context, int64_t from, int64_t to, int32_t worker) {
    const sap_picture* p = ((step*)context)->picture;
    const sap_wavefront* w = &p->wavefront;
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        w->paths[i] = sap_path_begin(&p->scene, &w->tile, (int32_t)i, &w->rays[i]);
        w->found[i] = sap_vector_make(0, 0, 0);
    }
}

static sap_status cpu_begin_paths(sap_picture* p) {
    step s = {.picture = p};
    sap_team_loop(p->threads, p->wavefront.live, GRAIN, begin_range, &s);
    return SAP_OK;
}

static void shade_range(void* context, int64_t from, int64_t to, int32_t worker) {
    const step* s = context;
    const sap_wavefront* w = &s->picture->wavefront;
    (void)worker;
    for (int64_t i = from; i < to; i++)
        w->goes_on[i] = sap_shade(&s->picture->scene, &w->hits[i], s->number, s->last, &w->paths[i], &w->rays[i],
                                  &w->surfaces[i], &w->found[w->paths[i].slot]);
}

static sap_status cpu_shade(sap_picture* p, int32_t bounce, bool last) {
    step s = {.picture = p, .number = bounce, .last = last};
    sap_team_loop(p->threads, p->wavefront.live, SHADE_GRAIN, shade_range, &s);
    return SAP_OK;
}

static void sample_range(void* context, int64_t from, int64_t to, int32_t worker) {
    const step* s = context;
    const sap_wavefront* w = &s->picture->wavefront;
    const sap_lamp* lamp = &s->picture->scene.lamps[s->number];
    (void)worker;
    for (int64_t i = from; i < to; i++)
        w->lit[i] = sap_lamp_reach(lamp, &w->surfaces[i], &w->paths[i], s->purpose, &w->shadows[i]);
}

static sap_status cpu_sample_lamp(sap_picture* p, int32_t number, uint32_t purpose) {
    step s = {.picture = p, .number = number, .purpose = purpose};
    SAP_ASSERT(number >= 0 && number < p->lamp_count);
    sap_team_loop(p->threads, p->wavefront.live, GRAIN, sample_range, &s);
    return SAP_OK;
}

static void shine_range(void* context, int64_t from, int64_t to, int32_t worker) {
    const step* s = context;
    const sap_wavefront* w = &s->picture->wavefront;
    (void)worker;
    for (int64_t i = from; i < to; i++)
        w->lit[i] = sap_shiner_reach(&s->picture->scene, &w->surfaces[i], &w->paths[i], s->purpose, &w->shadows[i]);
}

static sap_status cpu_sample_shiner(sap_picture* p, uint32_t purpose) {
    step s = {.picture = p, .purpose = purpose};
    sap_team_loop(p->threads, p->wavefront.live, SHADE_GRAIN, shine_range, &s);
    return SAP_OK;
}

static void add_range(void* context, int64_t from, int64_t to, int32_t worker) {
    const sap_wavefront* w = &((step*)context)->picture->wavefront;
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        SAP_ASSERT(w->paths[i].slot >= 0 && w->paths[i].slot < w->room);
        sap_vector* found = &w->found[w->paths[i].slot];
        if (!w->dark[i]) *found = sap_plus(*found, w->lit[i]);
    }
}

static sap_status cpu_add_light(sap_picture* p) {
    step s = {.picture = p};
    sap_team_loop(p->threads, p->wavefront.live, GRAIN, add_range, &s);
    return SAP_OK;
}

static sap_status cpu_add_visits(sap_picture* p) {
    for (int64_t i = 0; i < p->wavefront.live; i++) p->wavefront.found[i].x = (float)p->wavefront.visits[i];
    return SAP_OK;
}

static void sum_range(void* context, int64_t from, int64_t to, int32_t worker) {
    const sap_picture* p = ((step*)context)->picture;
    const sap_wavefront* w = &p->wavefront;
    const sap_tile* tile = &w->tile;
    (void)worker;
    for (int64_t pixel = from; pixel < to; pixel++)
        sap_pixel_add(&p->scene, w->found + pixel * tile->samples, tile->samples,
                      p->light + 3 * sap_pixel_place(&p->scene, tile, (int32_t)pixel));
}

static sap_status cpu_sum_pixels(sap_picture* p) {
    const sap_tile* tile = &p->wavefront.tile;
    step s = {.picture = p};
    SAP_ASSERT((int64_t)tile->width * tile->height * tile->samples <= p->wavefront.room);
    sap_team_loop(p->threads, (int64_t)tile->width * tile->height, GRAIN / tile->samples + 1, sum_range, &s);
    return SAP_OK;
}

static void develop_range(void* context, int64_t from, int64_t to, int32_t worker) {
    const step* s = context;
    const sap_picture* p = s->picture;
    (void)worker;
    for (int64_t i = from; i < to; i++) sap_pixel_develop(&p->scene, p->light + 3 * i, s->pixels + 3 * i);
}

static sap_status cpu_develop(sap_picture* p, uint8_t* pixels) {
    step s = {.picture = p, .pixels = pixels};
    sap_team_loop(p->threads, (int64_t)p->scene.width * p->scene.height, GRAIN, develop_range, &s);
    return SAP_OK;
}

static sap_status cpu_fetch(sap_picture* p, float* light) {
    memcpy(light, p->light, (size_t)p->scene.width * (size_t)p->scene.height * 3 * sizeof *light);
    return SAP_OK;
}

static void heat_range(void* context, int64_t from, int64_t to, int32_t worker) {
    const step* s = context;
    const sap_picture* p = s->picture;
    (void)worker;
    for (int64_t i = from; i < to; i++) sap_pixel_heat(&p->scene, p->light + 3 * i, s->full, s->pixels + 3 * i);
}

static sap_status cpu_develop_heat(sap_picture* p, uint8_t* pixels, float* most) {
    const int64_t count = (int64_t)p->scene.width * p->scene.height;
    float sum = 0;
    for (int64_t i = 0; i < count; i++)
        if (p->light[3 * i] > sum) sum = p->light[3 * i];
    *most = sum / (float)p->scene.samples;
    step s = {.picture = p, .full = sap_heat_full(p, *most), .pixels = pixels};
    sap_team_loop(p->threads, count, GRAIN, heat_range, &s);
    return SAP_OK;
}

const sap_render_ops sap_render_ops_cpu = {.begin = cpu_begin,
                                           .end = cpu_end,
                                           .wait = cpu_wait,
                                           .begin_paths = cpu_begin_paths,
                                           .shade = cpu_shade,
                                           .sample_lamp = cpu_sample_lamp,
                                           .sample_shiner = cpu_sample_shiner,
                                           .add_light = cpu_add_light,
                                           .add_visits = cpu_add_visits,
                                           .sum_pixels = cpu_sum_pixels,
                                           .develop = cpu_develop,
                                           .fetch = cpu_fetch,
                                           .photons = &sap_photon_ops_cpu,
                                           .develop_heat = cpu_develop_heat};
