// The steps of a picture on CUDA devices: each thread runs the shared texts for a path or a pixel. One call of the
// device is open from `begin` to `end` and holds all memory; traces and compactions are calls of their own in between,
// in the same stream.

#include "render/scene_cuda.cuh"

extern "C" {
#include "base/assert.h"
#include "render/photons/swarm.h"
#include "render/pixel.h"
#include "render/shine.h"
}

enum {
    PATH_THREADS = 128,
    PATHS_MOST = 1 << 22, // in a wavefront
    PATHS_LEAST = 1 << 12 // where memory is short
};

// What is kept from `begin` to `end`.
typedef struct drawing {
    sap_cuda_call call;
    uint8_t* pixels;
    unsigned* most; // the bits of the largest light of a pixel
} drawing;

static drawing* drawing_of(const sap_picture* p) { return (drawing*)p->state; }

// ---- Kernels

static __device__ __forceinline__ int64_t thread_number(void) {
    return (int64_t)blockIdx.x * PATH_THREADS + threadIdx.x;
}

static __global__ void __launch_bounds__(PATH_THREADS)
    begin_all_paths(const __grid_constant__ sap_scene_data scene, const __grid_constant__ sap_wavefront w) {
    const int64_t i = thread_number();
    if (i >= w.live) return;
    w.paths[i] = sap_path_begin(&scene, &w.tile, (int32_t)i, &w.rays[i]);
    w.found[i] = sap_vector_make(0, 0, 0);
}

static __global__ void __launch_bounds__(PATH_THREADS)
    shade_paths(const __grid_constant__ sap_scene_data scene, const __grid_constant__ sap_wavefront w, int32_t bounce,
                bool last) {
    const int64_t i = thread_number();
    if (i >= w.live) return;
    sap_path path = w.paths[i];
    SAP_ASSERT(path.slot >= 0 && path.slot < w.room);
    w.goes_on[i] = sap_shade(&scene, &w.hits[i], bounce, last, &path, &w.rays[i], &w.surfaces[i], &w.found[path.slot]);
    w.paths[i] = path;
}

static __global__ void __launch_bounds__(PATH_THREADS)
    sample_lamp(const __grid_constant__ sap_scene_data scene, const __grid_constant__ sap_wavefront w, int32_t number,
                uint32_t purpose) {
    const int64_t i = thread_number();
    if (i >= w.live) return;
    w.lit[i] = sap_lamp_reach(&scene.lamps[number], &w.surfaces[i], &w.paths[i], purpose, &w.shadows[i]);
}

static __global__ void __launch_bounds__(PATH_THREADS)
    sample_shiner(const __grid_constant__ sap_scene_data scene, const __grid_constant__ sap_wavefront w,
                  uint32_t purpose) {
    const int64_t i = thread_number();
    if (i >= w.live) return;
    w.lit[i] = sap_shiner_reach(&scene, &w.surfaces[i], &w.paths[i], purpose, &w.shadows[i]);
}

static __global__ void __launch_bounds__(PATH_THREADS) add_light(const __grid_constant__ sap_wavefront w) {
    const int64_t i = thread_number();
    if (i >= w.live || w.dark[i]) return;
    SAP_ASSERT(w.paths[i].slot >= 0 && w.paths[i].slot < w.room);
    sap_vector* found = &w.found[w.paths[i].slot];
    *found = sap_plus(*found, w.lit[i]);
}

static __global__ void __launch_bounds__(PATH_THREADS) add_visits(const __grid_constant__ sap_wavefront w) {
    const int64_t i = thread_number();
    if (i < w.live) w.found[i].x = (float)w.visits[i];
}

static __global__ void __launch_bounds__(PATH_THREADS)
    sum_all_pixels(const __grid_constant__ sap_scene_data scene, const __grid_constant__ sap_wavefront w,
                   float* light) {
    const int64_t pixel = thread_number();
    if (pixel >= (int64_t)w.tile.width * w.tile.height) return;
    sap_pixel_add(&scene, w.found + pixel * w.tile.samples, w.tile.samples,
                  light + 3 * sap_pixel_place(&scene, &w.tile, (int32_t)pixel));
}

static __global__ void __launch_bounds__(PATH_THREADS)
    develop_pixels(const __grid_constant__ sap_scene_data scene, const float* light, uint8_t* pixels) {
    const int64_t i = thread_number();
    if (i < (int64_t)scene.width * scene.height) sap_pixel_develop(&scene, light + 3 * i, pixels + 3 * i);
}

// Light is never negative, so its bits have its order.
static __global__ void __launch_bounds__(PATH_THREADS) find_most(const float* light, int64_t count, unsigned* most) {
    const int64_t i = thread_number();
    if (i < count) atomicMax(most, sap_bits_of_float(light[3 * i]));
}

static __global__ void __launch_bounds__(PATH_THREADS)
    develop_heat(const __grid_constant__ sap_scene_data scene, const float* light, float full, uint8_t* pixels) {
    const int64_t i = thread_number();
    if (i < (int64_t)scene.width * scene.height) sap_pixel_heat(&scene, light + 3 * i, full, pixels + 3 * i);
}

// ---- Memory

// Memory for as many paths as there is.
static void take_wavefront(sap_cuda_call* call, sap_picture* p) {
    unsigned char* memory = NULL;
    for (int64_t paths = PATHS_MOST; !memory && call->status == SAP_OK; paths /= 2) {
        const int64_t pass = p->options.samples < SAP_PASS ? p->options.samples : SAP_PASS;
        const int64_t width = paths / pass < p->options.width ? paths / pass : p->options.width;
        sap_tiles_limit(p, (int32_t)width, (int32_t)(paths / pass / width));
        call->quiet = paths > PATHS_LEAST;
        memory = (unsigned char*)sap_cuda_take(call, sap_wavefront_layout(&p->wavefront, NULL));
        if (call->status == SAP_ERROR_DEVICE_MEMORY && call->quiet) call->status = SAP_OK;
    }
    call->quiet = false;
    (void)sap_wavefront_layout(&p->wavefront, memory);
}

static sap_status begin(sap_picture* p) {
    const size_t pixels = (size_t)p->options.width * (size_t)p->options.height;
    SAP_ASSERT(!p->state); // begun once
    drawing* d = (drawing*)sap_memory_allocate_zero(p->device, sizeof *d);
    if (!d) return sap_fail(p->device, SAP_ERROR_MEMORY, "no memory for a picture");
    p->state = d;
    sap_cuda_begin(&d->call, p->device);
    d->call.waits = true;
    scene_in(&d->call, p, &p->scene);
    p->light = (float*)sap_cuda_take(&d->call, pixels * 3 * sizeof(float));
    sap_cuda_fill(&d->call, p->light, 0, pixels * 3 * sizeof(float));
    d->pixels = (uint8_t*)sap_cuda_take(&d->call, pixels * 3);
    d->most = (unsigned*)sap_cuda_take(&d->call, sizeof *d->most);
    take_wavefront(&d->call, p);
    return d->call.status;
}

static sap_status end(sap_picture* p) {
    drawing* d = drawing_of(p);
    if (!d) return SAP_OK;
    const sap_status status = sap_cuda_end(&d->call, SAP_OK);
    sap_memory_release(p->device, d, sizeof *d);
    p->state = NULL;
    return status;
}

// ---- Steps

// Waits before a trace, so that the trace is timed alone.
static sap_status finish(sap_cuda_call* call) {
    if (call->status == SAP_OK) sap_cuda_expect(call, call->cuda->calls->wait(call->cuda->stream), "drawing");
    return call->status;
}

// Rays on the caller's stream do not wait.
static sap_status wait_for_rays(sap_picture* p) { return finish(&drawing_of(p)->call); }

static sap_cuda_grid grid_of(int64_t items) { return sap_cuda_grid_for(items, PATH_THREADS); }

static int64_t pixels_of(const sap_picture* p) { return (int64_t)p->scene.width * p->scene.height; }

static sap_status begin_paths(sap_picture* p) {
    sap_cuda_call* call = &drawing_of(p)->call;
    sap_cuda_launch(call, begin_all_paths, grid_of(p->wavefront.live), p->scene, p->wavefront);
    return finish(call);
}

static sap_status shade(sap_picture* p, int32_t bounce, bool last) {
    sap_cuda_call* call = &drawing_of(p)->call;
    sap_cuda_launch(call, shade_paths, grid_of(p->wavefront.live), p->scene, p->wavefront, bounce, last);
    return call->status;
}

static sap_status lamp_rays(sap_picture* p, int32_t number, uint32_t purpose) {
    sap_cuda_call* call = &drawing_of(p)->call;
    sap_cuda_launch(call, sample_lamp, grid_of(p->wavefront.live), p->scene, p->wavefront, number, purpose);
    return finish(call);
}

static sap_status shiner_rays(sap_picture* p, uint32_t purpose) {
    sap_cuda_call* call = &drawing_of(p)->call;
    sap_cuda_launch(call, sample_shiner, grid_of(p->wavefront.live), p->scene, p->wavefront, purpose);
    return finish(call);
}

static sap_status light(sap_picture* p) {
    sap_cuda_call* call = &drawing_of(p)->call;
    sap_cuda_launch(call, add_light, grid_of(p->wavefront.live), p->wavefront);
    return call->status;
}

static sap_status visits(sap_picture* p) {
    sap_cuda_call* call = &drawing_of(p)->call;
    sap_cuda_launch(call, add_visits, grid_of(p->wavefront.live), p->wavefront);
    return call->status;
}

static sap_status sum_pixels(sap_picture* p) {
    sap_cuda_call* call = &drawing_of(p)->call;
    const int64_t pixels = (int64_t)p->wavefront.tile.width * p->wavefront.tile.height;
    sap_cuda_launch(call, sum_all_pixels, grid_of(pixels), p->scene, p->wavefront, p->light);
    return call->status;
}

static sap_status develop(sap_picture* p, uint8_t* pixels) {
    drawing* d = drawing_of(p);
    sap_cuda_launch(&d->call, develop_pixels, grid_of(pixels_of(p)), p->scene, p->light, d->pixels);
    sap_cuda_fetch(&d->call, pixels, d->pixels, (size_t)pixels_of(p) * 3);
    return d->call.status;
}

static sap_status fetch_light(sap_picture* p, float* to) {
    sap_cuda_call* call = &drawing_of(p)->call;
    sap_cuda_fetch(call, to, p->light, (size_t)pixels_of(p) * 3 * sizeof *to);
    return call->status;
}

static sap_status heat(sap_picture* p, uint8_t* pixels, float* most) {
    drawing* d = drawing_of(p);
    unsigned bits = 0;
    sap_cuda_fill(&d->call, d->most, 0, sizeof *d->most);
    sap_cuda_launch(&d->call, find_most, grid_of(pixels_of(p)), p->light, pixels_of(p), d->most);
    sap_cuda_fetch(&d->call, &bits, d->most, sizeof bits);
    *most = sap_float_of_bits(bits) / (float)p->scene.samples;
    sap_cuda_launch(&d->call, develop_heat, grid_of(pixels_of(p)), p->scene, p->light, sap_heat_full(p, *most),
                    d->pixels);
    sap_cuda_fetch(&d->call, pixels, d->pixels, (size_t)pixels_of(p) * 3);
    return d->call.status;
}

// C++17 has no initialisers that name their entries.
static constexpr sap_render_ops render_ops(void) {
    sap_render_ops ops = {};
    ops.begin = begin;
    ops.end = end;
    ops.wait = wait_for_rays;
    ops.begin_paths = begin_paths;
    ops.shade = shade;
    ops.sample_lamp = lamp_rays;
    ops.sample_shiner = shiner_rays;
    ops.add_light = light;
    ops.add_visits = visits;
    ops.sum_pixels = sum_pixels;
    ops.develop = develop;
    ops.fetch = fetch_light;
    ops.develop_heat = heat;
    ops.photons = &sap_photon_ops_cuda;
    return ops;
}

extern "C" const sap_render_ops sap_render_ops_cuda = render_ops();
