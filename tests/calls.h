// The library's calls for clouds of either precision, and one device for each set of vector instructions.
#ifndef SAPWOOD_TESTS_CALLS_H
#define SAPWOOD_TESTS_CALLS_H

#include "families.h"
#include "sapwood/points.h"
#include <stdlib.h>

static inline sap_points cloud_f32(const cloud* c) {
    return (sap_points){.coords = c->coords, .count = c->count, .dims = c->dims, .stride = c->stride};
}

static inline sap_points_f64 cloud_f64(const cloud* c) {
    return (sap_points_f64){.coords = c->coords, .count = c->count, .dims = c->dims, .stride = c->stride};
}

static inline sap_status build(sap_device* device, const cloud* points, const sap_tree_options* options,
                               sap_tree** tree) {
    return points->real_bits == 64 ? sap_tree_build_f64(device, cloud_f64(points), options, tree)
                                   : sap_tree_build(device, cloud_f32(points), options, tree);
}

static inline sap_status rebuild(sap_tree* tree, const cloud* points) {
    return points->real_bits == 64 ? sap_tree_rebuild_f64(tree, cloud_f64(points))
                                   : sap_tree_rebuild(tree, cloud_f32(points));
}

static inline sap_status nearest(const sap_tree* tree, const cloud* queries, const sap_search* search, int32_t* ids,
                                 void* distance2) {
    return queries->real_bits == 64 ? sap_nearest_f64(tree, cloud_f64(queries), search, ids, distance2)
                                    : sap_nearest(tree, cloud_f32(queries), search, ids, distance2);
}

static inline sap_status nearest_self(const sap_tree* tree, int32_t real_bits, const sap_search* search, int32_t* ids,
                                      void* distance2) {
    return real_bits == 64 ? sap_nearest_self_f64(tree, search, ids, distance2)
                           : sap_nearest_self(tree, search, ids, distance2);
}

static inline sap_status radius_count(const sap_tree* tree, const cloud* queries, double radius, int64_t* counts) {
    return queries->real_bits == 64 ? sap_radius_count_f64(tree, cloud_f64(queries), radius, counts)
                                    : sap_radius_count(tree, cloud_f32(queries), radius, counts);
}

static inline sap_status radius_collect(const sap_tree* tree, const cloud* queries, double radius,
                                        sap_neighbors** found) {
    return queries->real_bits == 64 ? sap_radius_f64(tree, cloud_f64(queries), radius, found)
                                    : sap_radius(tree, cloud_f32(queries), radius, found);
}

static inline sap_status radius_into(const sap_tree* tree, const cloud* queries, double radius, int64_t capacity,
                                     int64_t* offsets, int32_t* ids, void* distance2) {
    return queries->real_bits == 64
               ? sap_radius_into_f64(tree, cloud_f64(queries), radius, capacity, offsets, ids, distance2)
               : sap_radius_into(tree, cloud_f32(queries), radius, capacity, offsets, ids, distance2);
}

static inline sap_status box_count(const sap_tree* tree, const cloud* lower, const cloud* upper, int64_t* counts) {
    return lower->real_bits == 64 ? sap_box_count_f64(tree, cloud_f64(lower), cloud_f64(upper), counts)
                                  : sap_box_count(tree, cloud_f32(lower), cloud_f32(upper), counts);
}

static inline sap_status box_search(const sap_tree* tree, const cloud* lower, const cloud* upper,
                                    sap_neighbors** found) {
    return lower->real_bits == 64 ? sap_box_search_f64(tree, cloud_f64(lower), cloud_f64(upper), found)
                                  : sap_box_search(tree, cloud_f32(lower), cloud_f32(upper), found);
}

static inline sap_status box_search_into(const sap_tree* tree, const cloud* lower, const cloud* upper, int64_t capacity,
                                         int64_t* offsets, int32_t* ids) {
    return lower->real_bits == 64
               ? sap_box_search_into_f64(tree, cloud_f64(lower), cloud_f64(upper), capacity, offsets, ids)
               : sap_box_search_into(tree, cloud_f32(lower), cloud_f32(upper), capacity, offsets, ids);
}

static inline sap_status radius_search(const sap_tree* tree, const cloud* queries, const sap_search* search,
                                       sap_neighbors** found) {
    return queries->real_bits == 64 ? sap_radius_search_f64(tree, cloud_f64(queries), search, found)
                                    : sap_radius_search(tree, cloud_f32(queries), search, found);
}

static inline sap_status radius_search_count(const sap_tree* tree, const cloud* queries, const sap_search* search,
                                             int64_t* counts) {
    return queries->real_bits == 64 ? sap_radius_search_count_f64(tree, cloud_f64(queries), search, counts)
                                    : sap_radius_search_count(tree, cloud_f32(queries), search, counts);
}

// A part of a cloud, in the same memory.
static inline cloud cloud_part(const cloud* whole, int64_t first, int64_t count) {
    cloud part = *whole;
    if (whole->coords) part.coords = (char*)whole->coords + first * whole->stride * (whole->real_bits / 8);
    part.count = count;
    return part;
}

// Where the CPU plays the GPU, one device is enough to compare with.
#if defined(SAP_EMULATED)
enum { CPUS = 1 };
#else
enum { CPUS = 3 };
#endif

// Devices of all vector instructions that this machine has, and after them its GPU.
typedef struct devices {
    sap_device* open[4];
    int count;
} devices;

static inline bool is_gpu(const sap_device* device) {
    sap_device_info info;
    return sap_device_describe(device, &info) == SAP_OK && info.processor == SAP_CUDA;
}

// threads 0: one, two and three threads in turn.
static inline devices devices_open(int32_t threads) {
    devices all = {{NULL, NULL, NULL, NULL}, 0};
    for (int i = 0; i < CPUS; i++) {
        sap_device_options options = {
            .processor = SAP_CPU, .simd = (sap_simd)(SAP_SIMD_PORTABLE + i), .threads = threads ? threads : 3 - i};
        if (sap_device_open(&options, &all.open[all.count]) == SAP_OK) all.count++;
    }
    sap_device_options gpu = {.processor = SAP_CUDA, .threads = threads ? threads : 2};
    if (sap_device_open(&gpu, &all.open[all.count]) == SAP_OK) all.count++;
    return all;
}

static inline void devices_close(devices* all) {
    for (int i = 0; i < all->count; i++) sap_device_close(all->open[i]);
    all->count = 0;
}

#endif
