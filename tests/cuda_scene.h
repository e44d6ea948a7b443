// A CUDA device that is watched on both sides, and arrays on the GPU. For test programs only: needs test.h.
#ifndef SAPWOOD_TESTS_CUDA_SCENE_H
#define SAPWOOD_TESTS_CUDA_SCENE_H

#include "allocator.h"
#include "cases.h"
#include "cuda_tools.h"
#include "test.h"
#include "trees.h"

typedef struct scene {
    watch w;
    sap_device *gpu, *cpu;
    int64_t blocks, objects; // of the GPU, before
} scene;

static inline sap_device_options scene_options(watch* w) {
    sap_device_options options = watched(w);
    options.processor = SAP_CUDA;
    options.threads = 1;
    return options;
}

// False if there is no GPU to open.
static inline bool open_scene(scene* s, void* stream) {
    memset(s, 0, sizeof *s);
    cuda_tools_reset();
    s->blocks = cuda_tools.blocks;
    s->objects = cuda_tools.objects;
    sap_device_options options = scene_options(&s->w);
    options.stream = stream;
    sap_status status = cuda_tools_open(&options, &s->gpu);
    if (status == SAP_ERROR_NO_DEVICE) return false;
    CHECK_STATUS(status, SAP_OK);
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_CPU, .threads = 1}, &s->cpu), SAP_OK);
    return s->gpu && s->cpu;
}

// Nothing has leaked on either side.
static inline void close_scene(scene* s) {
    sap_device_close(s->gpu);
    sap_device_close(s->cpu);
    CHECK_EQUAL(cuda_tools.blocks, s->blocks);
    CHECK_EQUAL(cuda_tools.objects, s->objects);
    CHECK_EQUAL(s->w.blocks, 0);
    CHECK_EQUAL(s->w.wrong, 0);
    cuda_tools_reset();
}

#define OPEN_SCENE(s, stream)                                                                                          \
    do {                                                                                                               \
        if (!open_scene(s, stream)) SKIP("there is no NVIDIA GPU");                                                    \
    } while (0)

// Nothing fails any more but this: of the calls whose kind is in `kinds` (bits), number `at` (from 1; 0: none), and
// with `on` all later ones.
static inline void fail_calls(unsigned kinds, int64_t at, bool on, cuda_tools_error error) {
    cuda_tools_reset();
    cuda_tools.fail_kinds = kinds;
    cuda_tools.fail_at = at;
    cuda_tools.fail_on = on;
    cuda_tools.error = error;
}

// The GPU is lost at call number `at` of all kinds but releasing memory.
static inline void lose_gpu(int64_t at) {
    fail_calls((1u << CUDA_TOOLS_KINDS) - 1 - (1u << CUDA_TOOLS_RELEASE), at, true, CUDA_TOOLS_ILLEGAL_ADDRESS);
}

// A copy of host memory on the GPU.
static inline void* on_gpu(const void* host, size_t bytes) {
    void* memory = cuda_tools_allocate(bytes);
    if (host) cuda_tools_copy(memory, host, bytes);
    return memory;
}

static inline size_t cloud_bytes(const cloud* c) {
    return (size_t)c->count * (size_t)c->stride * (size_t)(c->real_bits / 8);
}

// The same points on the GPU; coords are to be released by cuda_tools_release.
static inline cloud cloud_on_gpu(const cloud* c) {
    cloud there = *c;
    there.coords = on_gpu(c->coords, cloud_bytes(c));
    return there;
}

#endif
