// The steps of a picture on the CPU: the shared texts in loops over paths, dealt out to threads.
#include "render/picture.h"
#include "render/pixel.h"
#include "render/surface.h"

#include <string.h>

enum {
    TILE = 64,             // pixels a side at least: the paths of a thread should stay in its caches
    TILE_MOST = 4096,      // pixels a side at most
    THREAD_PATHS = 1 << 14 // of a batch: enough for a thread, after some bounces too
};

static sap_status cpu_begin(sap_picture* p) {
    const sap_render_options* o = &p->options;
    const size_t light_bytes = (size_t)o->width * (size_t)o->height * 3 * sizeof(float);
    for (int32_t side = TILE; side <= TILE_MOST; side *= 2) {
        sap_tiles_set(p, side, side);
        if (p->batch.room >= (int64_t)p->threads * THREAD_PATHS) break;
    }
    if (!sap_scratch_take(p->device, sap_batch_places(&p->batch, NULL), &p->scratch[0]) ||
        !sap_scratch_take(p->device, light_bytes, &p->scratch[1]))
        return sap_fail(p->device, SAP_ERROR_MEMORY, "no memory for a picture of %d x %d pixels", (int)o->width,
                        (int)o->height);
    sap_batch_places(&p->batch, p->scratch[0].memory);
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

static sap_status cpu_send(sap_picture* p) {
    sap_batch* b = &p->batch;
#pragma omp parallel for schedule(static) num_threads(p->threads)
    for (int64_t i = 0; i < b->live; i++) {
        b->paths[i] = sap_path_begin(&p->view, &b->tile, (int32_t)i, &b->rays[i]);
        b->found[i] = sap_vector_make(0, 0, 0);
    }
    return SAP_OK;
}

static sap_status cpu_shade(sap_picture* p, int32_t bounce, bool last) {
    sap_batch* b = &p->batch;
#pragma omp parallel for schedule(dynamic, 256) num_threads(p->threads)
    for (int64_t i = 0; i < b->live; i++)
        b->goes_on[i] = sap_shade(&p->view, &b->hits[i], bounce, last, &b->paths[i], &b->rays[i], &b->surfaces[i],
                                  &b->found[b->paths[i].slot]);
    return SAP_OK;
}

static sap_status cpu_ask_lamp(sap_picture* p, int32_t number, uint32_t purpose) {
    sap_batch* b = &p->batch;
    const sap_lamp* lamp = &p->view.lamps[number];
#pragma omp parallel for schedule(static) num_threads(p->threads)
    for (int64_t i = 0; i < b->live; i++)
        b->lit[i] = sap_lamp_reach(lamp, &b->surfaces[i], &b->paths[i], purpose, &b->shadows[i]);
    return SAP_OK;
}

static sap_status cpu_take_light(sap_picture* p) {
    sap_batch* b = &p->batch;
#pragma omp parallel for schedule(static) num_threads(p->threads)
    for (int64_t i = 0; i < b->live; i++) {
        sap_vector* found = &b->found[b->paths[i].slot];
        if (!b->dark[i]) *found = sap_plus(*found, b->lit[i]);
    }
    return SAP_OK;
}

static sap_status cpu_take_visits(sap_picture* p) {
    for (int64_t i = 0; i < p->batch.live; i++) p->batch.found[i].x = (float)p->batch.visits[i];
    return SAP_OK;
}

static sap_status cpu_gather(sap_picture* p) {
    const sap_batch* b = &p->batch;
    const sap_tile* tile = &b->tile;
#pragma omp parallel for schedule(static) num_threads(p->threads)
    for (int32_t pixel = 0; pixel < tile->width * tile->height; pixel++)
        sap_pixel_add(&p->view, b->found + (int64_t)pixel * tile->samples, tile->samples,
                      p->light + 3 * sap_pixel_place(&p->view, tile, pixel));
    return SAP_OK;
}

static sap_status cpu_develop(sap_picture* p, uint8_t* pixels) {
    const int64_t count = (int64_t)p->view.width * p->view.height;
#pragma omp parallel for schedule(static) num_threads(p->threads)
    for (int64_t i = 0; i < count; i++) sap_pixel_develop(&p->view, p->light + 3 * i, pixels + 3 * i);
    return SAP_OK;
}

static sap_status cpu_develop_heat(sap_picture* p, uint8_t* pixels, float* most) {
    const int64_t count = (int64_t)p->view.width * p->view.height;
    float sum = 0;
    for (int64_t i = 0; i < count; i++)
        if (p->light[3 * i] > sum) sum = p->light[3 * i];
    *most = sum / (float)p->view.samples;
    const float full = sap_heat_full(p, *most);
#pragma omp parallel for schedule(static) num_threads(p->threads)
    for (int64_t i = 0; i < count; i++) sap_pixel_heat(&p->view, p->light + 3 * i, full, pixels + 3 * i);
    return SAP_OK;
}

const sap_render_ops sap_render_ops_cpu = {.begin = cpu_begin,
                                           .end = cpu_end,
                                           .wait = cpu_wait,
                                           .send = cpu_send,
                                           .shade = cpu_shade,
                                           .ask_lamp = cpu_ask_lamp,
                                           .take_light = cpu_take_light,
                                           .take_visits = cpu_take_visits,
                                           .gather = cpu_gather,
                                           .develop = cpu_develop,
                                           .develop_heat = cpu_develop_heat};
