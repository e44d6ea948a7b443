// What a processor does to compact streams, and to build histopyramids.
#ifndef SAPWOOD_COMPACT_OPS_H
#define SAPWOOD_COMPACT_OPS_H

#include "device/device.h"
#include "sapwood/gl.h"
#include "sapwood/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

// What a compaction is asked, checked.
typedef struct sap_compact_job {
    const void* items;   // [count * item_bytes]
    const uint8_t* keep; // [count]; NULL: the first of each run of equal items is kept
    int64_t count;       // 0: the arrays may be NULL
    size_t item_bytes;
    void* out;
    int64_t* out_count;
} sap_compact_job;

typedef struct sap_compact_ops {
    sap_status (*compact)(sap_device* device, const sap_compact_job* job);
} sap_compact_ops;

// Histopyramids of OpenGL. The struct has its sizes; `create` makes its textures and `free` frees them.
typedef struct sap_pyramid_ops {
    sap_status (*create)(sap_gl_pyramid* pyramid);
    sap_status (*compact)(sap_gl_pyramid* pyramid, uint32_t base, sap_gl_list* list, int64_t* total);
    sap_status (*total)(sap_gl_pyramid* pyramid, int64_t* total);
    sap_status (*sums)(sap_gl_pyramid* pyramid, int32_t level, uint32_t* sums);
    void (*free)(sap_gl_pyramid* pyramid);
} sap_pyramid_ops;

// The same in Z order.
typedef struct sap_zpyramid_ops {
    sap_status (*create)(sap_gl_zpyramid* pyramid);
    sap_status (*compact)(sap_gl_zpyramid* pyramid, uint32_t base, uint32_t payload, sap_gl_list* list, int64_t* total);
    sap_status (*total)(sap_gl_zpyramid* pyramid, int64_t* total);
    void (*free)(sap_gl_zpyramid* pyramid);
} sap_zpyramid_ops;

sap_status sap_compact_cpu(sap_device* device, const sap_compact_job* job);
sap_status sap_compact_cuda(sap_device* device, const sap_compact_job* job);
sap_status sap_compact_gl(sap_device* device, const sap_compact_job* job);

sap_status sap_pyramid_create_gl(sap_gl_pyramid* pyramid);
sap_status sap_pyramid_compact_gl(sap_gl_pyramid* pyramid, uint32_t base, sap_gl_list* list, int64_t* total);
sap_status sap_pyramid_total_gl(sap_gl_pyramid* pyramid, int64_t* total);
sap_status sap_pyramid_sums_gl(sap_gl_pyramid* pyramid, int32_t level, uint32_t* sums);
void sap_pyramid_free_gl(sap_gl_pyramid* pyramid);

sap_status sap_zpyramid_create_gl(sap_gl_zpyramid* pyramid);
sap_status sap_zpyramid_compact_gl(sap_gl_zpyramid* pyramid, uint32_t base, uint32_t payload, sap_gl_list* list,
                                   int64_t* total);
sap_status sap_zpyramid_total_gl(sap_gl_zpyramid* pyramid, int64_t* total);
void sap_zpyramid_free_gl(sap_gl_zpyramid* pyramid);

#ifdef __cplusplus
}
#endif
#endif
