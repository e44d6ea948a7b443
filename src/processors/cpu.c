// What the rooms do on a CPU, and the inner loops of each instruction set.
#include "device/cpu.h"
#include "compact/compact.h"
#include "compact/ops.h"
#include "mesh/build.h"
#include "mesh/ops.h"
#include "nearest/nearest.h"
#include "nearest/ops.h"
#include "processors/processors.h"
#include "radius/ops.h"
#include "radius/radius.h"
#include "ray/ops.h"
#include "ray/ray.h"
#include "render/ops.h"
#include "surface/ops.h"
#include "surface/surface.h"
#include "tree/balanced/build.h"
#include "tree/ops.h"
#include "tree/queries.h"

// SAP_POINTS_ONLY: trees over points and compaction are all that the device can do, and the rest need not be linked.

#define DECLARE(simd, bits)                                                                                            \
    extern const sap_build_kernels sap_build_kernels_##simd##_f##bits;                                                 \
    extern const sap_query_kernels sap_query_kernels_##simd##_f##bits;                                                 \
    extern const sap_nearest_kernels sap_nearest_kernels_##simd##_f##bits;                                             \
    extern const sap_radius_kernels sap_radius_kernels_##simd##_f##bits;                                               \
    extern const sap_compact_kernels sap_compact_kernels_##simd##_f##bits;
#define DECLARE_MESH(simd)                                                                                             \
    extern const sap_mesh_kernels sap_mesh_kernels_##simd;                                                             \
    extern const sap_ray_kernels sap_ray_kernels_##simd;                                                               \
    extern const sap_surface_kernels sap_surface_kernels_##simd;
#if defined(SAP_POINTS_ONLY)
#define MESH_KERNELS(simd) .mesh = NULL
#else
#define MESH_KERNELS(simd)                                                                                             \
    .mesh = &sap_mesh_kernels_##simd, .ray = &sap_ray_kernels_##simd, .surface = &sap_surface_kernels_##simd
#endif
#define KERNELS(simd, bits)                                                                                            \
    {                                                                                                                  \
        .build = &sap_build_kernels_##simd##_f##bits, .query = &sap_query_kernels_##simd##_f##bits,                    \
        .nearest = &sap_nearest_kernels_##simd##_f##bits, .radius = &sap_radius_kernels_##simd##_f##bits,              \
        .compact = &sap_compact_kernels_##simd##_f##bits, MESH_KERNELS(simd)                                           \
    }
#define INSTRUCTION_SET(simd)                                                                                          \
    DECLARE(simd, 32)                                                                                                  \
    DECLARE(simd, 64)                                                                                                  \
    DECLARE_MESH(simd)                                                                                                 \
    static const sap_cpu_kernels simd[2] = {KERNELS(simd, 32), KERNELS(simd, 64)};

INSTRUCTION_SET(portable)
#if defined(SAP_HAVE_AVX2)
INSTRUCTION_SET(avx2)
#endif
#if defined(SAP_HAVE_AVX512)
INSTRUCTION_SET(avx512)
#endif

const sap_cpu_kernels* sap_cpu_kernels_built(sap_simd simd) {
#if defined(SAP_HAVE_AVX2)
    if (simd == SAP_SIMD_AVX2) return avx2;
#endif
#if defined(SAP_HAVE_AVX512)
    if (simd == SAP_SIMD_AVX512) return avx512;
#endif
    return simd == SAP_SIMD_PORTABLE ? portable : NULL;
}

static const sap_tree_ops tree = {.build = sap_tree_build_cpu};
static const sap_nearest_ops nearest = {.search = sap_nearest_cpu};
static const sap_radius_ops radius = {.search = sap_radius_cpu};
static const sap_compact_ops compact = {.compact = sap_compact_cpu};
#if !defined(SAP_POINTS_ONLY)
static const sap_mesh_ops mesh = {.build = sap_mesh_build_cpu};
static const sap_ray_ops ray = {.trace = sap_trace_cpu, .closest = sap_closest_point_cpu, .inside = sap_inside_cpu};
static const sap_surface_ops surface = {.extract = sap_surface_cpu};
#endif

const sap_processor_table sap_cpu_table = {
    .kind = SAP_CPU,
    .name = "CPU",
    .automatic = true,
    .open = sap_cpu_open,
    .close = sap_cpu_close,
    .describe = sap_cpu_describe,
    .rooms =
        {
            .tree = &tree,
            .nearest = &nearest,
            .radius = &radius,
            .compact = &compact,
#if !defined(SAP_POINTS_ONLY)
            .mesh = &mesh,
            .ray = &ray,
            .surface = &surface,
            .render = &sap_render_ops_cpu,
#endif
        },
};
