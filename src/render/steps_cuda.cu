// The steps of a picture on CUDA devices: the shared texts, a path or a pixel a thread. One call of the device is open
// from `begin` to `end` and holds all memory; rays and compactions are calls of their own in between, in the same
// stream.

#include "device/cuda.h"

extern "C" {
#include "render/picture.h"
#include "render/pixel.h"
#include "render/surface.h"
}

enum {
    PATH_THREADS = 128,
    PATHS_MOST = 1 << 22, // in a batch
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
    send_paths(const __grid_constant__ sap_view view, const __grid_constant__ sap_batch b) {
    const int64_t i = thread_number();
    if (i >= b.live) return;
    b.paths[i] = sap_path_begin(&view, &b.tile, (int32_t)i, &b.rays[i]);
    b.found[i] = sap_vector_make(0, 0, 0);
}

static __global__ void __launch_bounds__(PATH_THREADS)
    shade_paths(const __grid_constant__ sap_view view, const __grid_constant__ sap_batch b, int32_t bounce, bool last) {
    const int64_t i = thread_number();
    if (i >= b.live) return;
    sap_path path = b.paths[i];
    b.goes_on[i] = sap_shade(&view, &b.hits[i], bounce, last, &path, &b.rays[i], &b.surfaces[i], &b.found[path.slot]);
    b.paths[i] = path;
}

static __global__ void __launch_bounds__(PATH_THREADS)
    ask_lamp(const __grid_constant__ sap_view view, const __grid_constant__ sap_batch b, int32_t number,
             uint32_t purpose) {
    const int64_t i = thread_number();
    if (i >= b.live) return;
    b.lit[i] = sap_lamp_reach(&view.lamps[number], &b.surfaces[i], &b.paths[i], purpose, &b.shadows[i]);
}

static __global__ void __launch_bounds__(PATH_THREADS) take_light(const __grid_constant__ sap_batch b) {
    const int64_t i = thread_number();
    if (i >= b.live || b.dark[i]) return;
    sap_vector* found = &b.found[b.paths[i].slot];
    *found = sap_plus(*found, b.lit[i]);
}

static __global__ void __launch_bounds__(PATH_THREADS) take_visits(const __grid_constant__ sap_batch b) {
    const int64_t i = thread_number();
    if (i < b.live) b.found[i].x = (float)b.visits[i];
}

static __global__ void __launch_bounds__(PATH_THREADS)
    gather_pixels(const __grid_constant__ sap_view view, const __grid_constant__ sap_batch b, float* light) {
    const int64_t pixel = thread_number();
    if (pixel >= (int64_t)b.tile.width * b.tile.height) return;
    sap_pixel_add(&view, b.found + pixel * b.tile.samples, b.tile.samples,
                  light + 3 * sap_pixel_place(&view, &b.tile, (int32_t)pixel));
}

static __global__ void __launch_bounds__(PATH_THREADS)
    develop_pixels(const __grid_constant__ sap_view view, const float* light, uint8_t* pixels) {
    const int64_t i = thread_number();
    if (i < (int64_t)view.width * view.height) sap_pixel_develop(&view, light + 3 * i, pixels + 3 * i);
}

// Light is never negative, so its bits have its order.
static __global__ void __launch_bounds__(PATH_THREADS) find_most(const float* light, int64_t count, unsigned* most) {
    const int64_t i = thread_number();
    if (i < count) atomicMax(most, sap_bits_of_float(light[3 * i]));
}

static __global__ void __launch_bounds__(PATH_THREADS)
    develop_heat(const __grid_constant__ sap_view view, const float* light, float full, uint8_t* pixels) {
    const int64_t i = thread_number();
    if (i < (int64_t)view.width * view.height) sap_pixel_heat(&view, light + 3 * i, full, pixels + 3 * i);
}

// ---- Memory

static const void* bring(sap_cuda_call* call, const void* memory, int64_t count, size_t bytes) {
    return memory ? sap_cuda_in(call, memory, (size_t)count * bytes) : NULL;
}

static void bring_view(sap_cuda_call* call, sap_picture* p) {
    const sap_mesh* mesh = &p->file->mesh;
    const size_t vector = 3 * sizeof(float);
    sap_view* v = &p->view;
    v->vertices = (const float*)bring(call, v->vertices, mesh->vertex_count, vector);
    v->triangles = (const int32_t*)bring(call, v->triangles, mesh->triangle_count, 3 * sizeof(int32_t));
    v->normals = (const float*)bring(call, v->normals, mesh->vertex_count, vector);
    v->colors = (const float*)bring(call, v->colors, mesh->vertex_count, vector);
    v->material_ids = (const int32_t*)bring(call, v->material_ids, mesh->triangle_count, sizeof(int32_t));
    v->materials = (const sap_material*)bring(call, v->materials, p->file->material_count, sizeof(sap_material));
    v->lamps = (const sap_lamp*)bring(call, v->lamps, p->lamp_count, sizeof(sap_lamp));
}

// As many paths as there is memory for.
static void take_batch(sap_cuda_call* call, sap_picture* p) {
    unsigned char* memory = NULL;
    for (int64_t paths = PATHS_MOST; !memory && call->status == SAP_OK; paths /= 2) {
        const int64_t pass = p->options.samples < SAP_PASS ? p->options.samples : SAP_PASS;
        const int64_t width = paths / pass < p->options.width ? paths / pass : p->options.width;
        sap_tiles_set(p, (int32_t)width, (int32_t)(paths / pass / width));
        call->quiet = paths > PATHS_LEAST;
        memory = (unsigned char*)sap_cuda_take(call, sap_batch_places(&p->batch, NULL));
        if (call->status == SAP_ERROR_DEVICE_MEMORY && call->quiet) call->status = SAP_OK;
    }
    call->quiet = false;
    (void)sap_batch_places(&p->batch, memory);
}

static sap_status begin(sap_picture* p) {
    const size_t pixels = (size_t)p->options.width * (size_t)p->options.height;
    drawing* d = (drawing*)sap_memory_allocate_zero(p->device, sizeof *d);
    if (!d) return sap_fail(p->device, SAP_ERROR_MEMORY, "no memory for a picture");
    p->state = d;
    sap_cuda_begin(&d->call, p->tree->device);
    d->call.waits = true;
    bring_view(&d->call, p);
    p->light = (float*)sap_cuda_take(&d->call, pixels * 3 * sizeof(float));
    sap_cuda_fill(&d->call, p->light, 0, pixels * 3 * sizeof(float));
    d->pixels = (uint8_t*)sap_cuda_take(&d->call, pixels * 3);
    d->most = (unsigned*)sap_cuda_take(&d->call, sizeof *d->most);
    take_batch(&d->call, p);
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

// Waits: ahead of rays, so that their time is theirs alone.
static sap_status finish(sap_cuda_call* call) {
    if (call->status == SAP_OK) sap_cuda_expect(call, call->cuda->calls->wait(call->cuda->stream), "drawing");
    return call->status;
}

// Rays on the caller's stream do not wait.
static sap_status wait_for_rays(sap_picture* p) { return finish(&drawing_of(p)->call); }

static sap_cuda_grid grid_of(int64_t items) { return sap_cuda_grid_for(items, PATH_THREADS); }

static int64_t pixels_of(const sap_picture* p) { return (int64_t)p->view.width * p->view.height; }

static sap_status send(sap_picture* p) {
    sap_cuda_call* call = &drawing_of(p)->call;
    sap_cuda_launch(call, send_paths, grid_of(p->batch.live), p->view, p->batch);
    return finish(call);
}

static sap_status shade(sap_picture* p, int32_t bounce, bool last) {
    sap_cuda_call* call = &drawing_of(p)->call;
    sap_cuda_launch(call, shade_paths, grid_of(p->batch.live), p->view, p->batch, bounce, last);
    return call->status;
}

static sap_status ask(sap_picture* p, int32_t number, uint32_t purpose) {
    sap_cuda_call* call = &drawing_of(p)->call;
    sap_cuda_launch(call, ask_lamp, grid_of(p->batch.live), p->view, p->batch, number, purpose);
    return finish(call);
}

static sap_status light(sap_picture* p) {
    sap_cuda_call* call = &drawing_of(p)->call;
    sap_cuda_launch(call, take_light, grid_of(p->batch.live), p->batch);
    return call->status;
}

static sap_status visits(sap_picture* p) {
    sap_cuda_call* call = &drawing_of(p)->call;
    sap_cuda_launch(call, take_visits, grid_of(p->batch.live), p->batch);
    return call->status;
}

static sap_status gather(sap_picture* p) {
    sap_cuda_call* call = &drawing_of(p)->call;
    const int64_t pixels = (int64_t)p->batch.tile.width * p->batch.tile.height;
    sap_cuda_launch(call, gather_pixels, grid_of(pixels), p->view, p->batch, p->light);
    return call->status;
}

static sap_status develop(sap_picture* p, uint8_t* pixels) {
    drawing* d = drawing_of(p);
    sap_cuda_launch(&d->call, develop_pixels, grid_of(pixels_of(p)), p->view, p->light, d->pixels);
    sap_cuda_fetch(&d->call, pixels, d->pixels, (size_t)pixels_of(p) * 3);
    return d->call.status;
}

static sap_status heat(sap_picture* p, uint8_t* pixels, float* most) {
    drawing* d = drawing_of(p);
    unsigned bits = 0;
    sap_cuda_fill(&d->call, d->most, 0, sizeof *d->most);
    sap_cuda_launch(&d->call, find_most, grid_of(pixels_of(p)), p->light, pixels_of(p), d->most);
    sap_cuda_fetch(&d->call, &bits, d->most, sizeof bits);
    *most = sap_float_of_bits(bits) / (float)p->view.samples;
    sap_cuda_launch(&d->call, develop_heat, grid_of(pixels_of(p)), p->view, p->light, sap_heat_full(p, *most),
                    d->pixels);
    sap_cuda_fetch(&d->call, pixels, d->pixels, (size_t)pixels_of(p) * 3);
    return d->call.status;
}

extern "C" const sap_render_ops sap_render_ops_cuda = {begin, end,    wait_for_rays, send,    shade, ask,
                                                       light, visits, gather,        develop, heat};
