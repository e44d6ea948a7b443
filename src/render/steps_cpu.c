// The steps of a picture on the CPU: loops over paths, which threads share, around the shared texts.
#include "base/assert.h"
#include "render/picture.h"
#include "render/pixel.h"
#include "render/surface.h"

#include <string.h>

enum {
    TILE = 64,             // pixels a side at least: the paths of a thread should stay in its caches
    TILE_MOST = 4096,      // pixels a side at most
    THREAD_PATHS = 1 << 14 // paths of a wavefront for each thread: enough to share after some bounces too
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

static sap_status cpu_begin_paths(sap_picture* p) {
    sap_wavefront* w = &p->wavefront;
#pragma omp parallel for schedule(static) num_threads(p->threads)
    for (int64_t i = 0; i < w->live; i++) {
        w->paths[i] = sap_path_begin(&p->scene, &w->tile, (int32_t)i, &w->rays[i]);
        w->found[i] = sap_vector_make(0, 0, 0);
    }
    return SAP_OK;
}

static sap_status cpu_shade(sap_picture* p, int32_t bounce, bool last) {
    sap_wavefront* w = &p->wavefront;
#pragma omp parallel for schedule(dynamic, 256) num_threads(p->threads)
    for (int64_t i = 0; i < w->live; i++)
        w->goes_on[i] = sap_shade(&p->scene, &w->hits[i], bounce, last, &w->paths[i], &w->rays[i], &w->surfaces[i],
                                  &w->found[w->paths[i].slot]);
    return SAP_OK;
}

static sap_status cpu_sample_lamp(sap_picture* p, int32_t number, uint32_t purpose) {
    sap_wavefront* w = &p->wavefront;
    const sap_lamp* lamp = &p->scene.lamps[number];
    SAP_ASSERT(number >= 0 && number < p->lamp_count);
#pragma omp parallel for schedule(static) num_threads(p->threads)
    for (int64_t i = 0; i < w->live; i++)
        w->lit[i] = sap_lamp_reach(lamp, &w->surfaces[i], &w->paths[i], purpose, &w->shadows[i]);
    return SAP_OK;
}

static sap_status cpu_add_light(sap_picture* p) {
    sap_wavefront* w = &p->wavefront;
#pragma omp parallel for schedule(static) num_threads(p->threads)
    for (int64_t i = 0; i < w->live; i++) {
        SAP_ASSERT(w->paths[i].slot >= 0 && w->paths[i].slot < w->room);
        sap_vector* found = &w->found[w->paths[i].slot];
        if (!w->dark[i]) *found = sap_plus(*found, w->lit[i]);
    }
    return SAP_OK;
}

static sap_status cpu_add_visits(sap_picture* p) {
    for (int64_t i = 0; i < p->wavefront.live; i++) p->wavefront.found[i].x = (float)p->wavefront.visits[i];
    return SAP_OK;
}

static sap_status cpu_sum_pixels(sap_picture* p) {
    const sap_wavefront* w = &p->wavefront;
    const sap_tile* tile = &w->tile;
    SAP_ASSERT((int64_t)tile->width * tile->height * tile->samples <= w->room);
#pragma omp parallel for schedule(static) num_threads(p->threads)
    for (int32_t pixel = 0; pixel < tile->width * tile->height; pixel++)
        sap_pixel_add(&p->scene, w->found + (int64_t)pixel * tile->samples, tile->samples,
                      p->light + 3 * sap_pixel_place(&p->scene, tile, pixel));
    return SAP_OK;
}

static sap_status cpu_develop(sap_picture* p, uint8_t* pixels) {
    const int64_t count = (int64_t)p->scene.width * p->scene.height;
#pragma omp parallel for schedule(static) num_threads(p->threads)
    for (int64_t i = 0; i < count; i++) sap_pixel_develop(&p->scene, p->light + 3 * i, pixels + 3 * i);
    return SAP_OK;
}

static sap_status cpu_develop_heat(sap_picture* p, uint8_t* pixels, float* most) {
    const int64_t count = (int64_t)p->scene.width * p->scene.height;
    float sum = 0;
    for (int64_t i = 0; i < count; i++)
        if (p->light[3 * i] > sum) sum = p->light[3 * i];
    *most = sum / (float)p->scene.samples;
    const float full = sap_heat_full(p, *most);
#pragma omp parallel for schedule(static) num_threads(p->threads)
    for (int64_t i = 0; i < count; i++) sap_pixel_heat(&p->scene, p->light + 3 * i, full, pixels + 3 * i);
    return SAP_OK;
}

const sap_render_ops sap_render_ops_cpu = {.begin = cpu_begin,
                                           .end = cpu_end,
                                           .wait = cpu_wait,
                                           .begin_paths = cpu_begin_paths,
                                           .shade = cpu_shade,
                                           .sample_lamp = cpu_sample_lamp,
                                           .add_light = cpu_add_light,
                                           .add_visits = cpu_add_visits,
                                           .sum_pixels = cpu_sum_pixels,
                                           .develop = cpu_develop,
                                           .develop_heat = cpu_develop_heat};
