// What the rooms do on a CPU, and the inner loops of each instruction set.
#include "device/cpu.h"
#include "box/box.h"
#include "box/ops.h"
#include "cloud/align.h"
#include "cloud/cloud.h"
#include "cloud/clusters.h"
#include "cloud/farthest.h"
#include "cloud/global/global.h"
#include "cloud/ops.h"
#include "cloud/project.h"
#include "compact/compact.h"
#include "compact/ops.h"
#include "instance/bundle.h"
#include "mesh/build.h"
#include "mesh/ops.h"
#include "mesh/refit/plan.h"
#include "move/ops.h"
#include "nearest/nearest.h"
#include "nearest/ops.h"
#include "nearest/query.h"
#include "pairs/ops.h"
#include "pairs/pairs.h"
#include "processors/processors.h"
#include "radius/ops.h"
#include "radius/radius.h"
#include "ray/ops.h"
#include "ray/query.h"
#include "ray/ray.h"
#include "render/ops.h"
#include "render/photons/near.h"
#include "render/photons/swarm.h"
#include "set/ops.h"
#include "set/search.h"
#include "surface/ops.h"
#include "surface/surface.h"
#include "tree/balanced/accept.h"
#include "tree/balanced/build.h"
#include "tree/explicit/groups.h"
#include "tree/ops.h"
#include "tree/queries.h"

// In WebAssembly nothing exports prepared searches (sapwood/query.h), trees against trees, sets, clouds, instances, moved meshes or
// pictures, and saved trees come from the same page as a rule: the code of these and of quick checks need not be downloaded. Nor is vector code for what
// searches are told and for periods, which the shared walks know.
// SAP_PAGE: of clouds what the page shows, meshes that follow bones, and photons with the first hits of rays, of pictures nothing
// else; but neither radii nor boxes, and trees in single precision only.
// SAP_POINTS_ONLY: trees over points and compaction are all that the device can do, and the rest need not be linked.

#define DECLARE(simd, bits)                                                                                            \
    extern const sap_build_kernels sap_build_kernels_##simd##_f##bits;                                                 \
    extern const sap_accept_kernels sap_accept_kernels_##simd##_f##bits;                                               \
    extern const sap_query_kernels sap_query_kernels_##simd##_f##bits;                                                 \
    extern const sap_nearest_kernels sap_nearest_kernels_##simd##_f##bits;                                             \
    extern const sap_nearest_kernels sap_nearest_self_kernels_##simd##_f##bits;                                        \
    extern const sap_groups_kernels sap_groups_kernels_##simd##_f##bits;                                               \
    extern const sap_nearest_kernels sap_nearest_explicit_kernels_##simd##_f##bits;                                    \
    extern const sap_one_kernels sap_one_kernels_##simd##_f##bits;                                                     \
    extern const sap_radius_kernels sap_radius_kernels_##simd##_f##bits, sap_radius_explicit_kernels_##simd##_f##bits; \
    DECLARE_TOLD(simd##_f##bits)                                                                                       \
    DECLARE_PERIODIC(simd##_f##bits)                                                                                   \
    extern const sap_box_kernels sap_box_kernels_##simd##_f##bits, sap_box_explicit_kernels_##simd##_f##bits;          \
    extern const sap_pairs_kernels sap_pairs_kernels_##simd##_f##bits;                                                 \
    extern const sap_pair_walks sap_pair_walks_periodic_##simd##_f##bits;                                              \
    extern const sap_set_kernels sap_set_kernels_##simd##_f##bits;                                                     \
    extern const sap_farthest_kernels sap_farthest_kernels_##simd##_f##bits;                                           \
    extern const sap_clusters_kernels sap_clusters_kernels_##simd##_f##bits, sap_clusters_periodic_##simd##_f##bits;   \
    extern const sap_cloud_kernels sap_cloud_kernels_##simd##_f##bits;                                                 \
    extern const sap_align_kernels sap_align_kernels_##simd##_f##bits;                                                 \
    extern const sap_gather_kernels sap_gather_kernels_##simd##_f##bits;                                               \
    extern const sap_compact_kernels sap_compact_kernels_##simd##_f##bits;
#define DECLARE_TOLD(kind)                                                                                             \
    extern const sap_nearest_kernels sap_nearest_told_##kind, sap_nearest_l1_##kind, sap_nearest_linf_##kind;          \
    extern const sap_radius_kernels sap_radius_told_##kind, sap_radius_l1_##kind, sap_radius_linf_##kind;
#define DECLARE_PERIODIC(kind)                                                                                         \
    extern const sap_nearest_kernels sap_nearest_periodic_told_##kind, sap_nearest_periodic_l1_##kind,                 \
        sap_nearest_periodic_linf_##kind, sap_nearest_explicit_periodic_##kind;                                        \
    extern const sap_radius_kernels sap_radius_periodic_told_##kind, sap_radius_periodic_l1_##kind,                    \
        sap_radius_periodic_linf_##kind;
#define DECLARE_MESH(simd)                                                                                             \
    extern const sap_mesh_kernels sap_mesh_kernels_##simd;                                                             \
    extern const sap_refit_kernels sap_refit_kernels_##simd;                                                           \
    extern const sap_ray_kernels sap_ray_kernels_##simd;                                                               \
    extern const sap_mesh_query_kernels sap_mesh_query_kernels_##simd;                                                 \
    extern const sap_feature_kernels sap_feature_kernels_##simd;                                                       \
    extern const sap_project_kernels sap_project_kernels_##simd;                                                       \
    extern const sap_near_kernels sap_near_kernels_##simd;                                                             \
    extern const sap_closest_kernels sap_closest_kernels_##simd;                                                       \
    extern const sap_instance_kernels sap_instance_kernels_##simd;                                                     \
    extern const sap_surface_kernels sap_surface_kernels_##simd;
#if defined(SAP_PAGE)
#define BOXES(kernels) NULL
#define DOUBLES(simd)                                                                                                  \
    { .compact = &sap_compact_kernels_##simd##_f64 }
#else
#define BOXES(kernels) (&(kernels))
#define DOUBLES(simd)  KERNELS(simd, 64)
#endif
#if defined(SAP_POINTS_ONLY)
#define MESH_KERNELS(simd) .mesh = NULL
#elif defined(SAP_PAGE)
#define MESH_KERNELS(simd) .mesh = &sap_mesh_kernels_##simd, .surface = &sap_surface_kernels_##simd
#else
#define MESH_KERNELS(simd)                                                                                             \
    .mesh = &sap_mesh_kernels_##simd, .ray = &sap_ray_kernels_##simd, .surface = &sap_surface_kernels_##simd,          \
    .mesh_query = NATIVE(sap_mesh_query_kernels_##simd), .closest = &sap_closest_kernels_##simd,                       \
    .instance = NATIVE(sap_instance_kernels_##simd), .refit = NATIVE(sap_refit_kernels_##simd)
#endif
#if defined(__EMSCRIPTEN__)
#define NATIVE(kernels) NULL
#define TOLD_KERNELS(room, kind)                                                                                       \
    { NULL, NULL, NULL }
#define PERIODIC_KERNELS(room, kind)                                                                                   \
    { &sap_##room##_periodic_walk, NULL, NULL }
#if defined(SAP_PAGE)
#define SHOWN(kernels) (&(kernels))
#else
#define SHOWN(kernels) NULL
#endif
#else
#define SHOWN(kernels)  (&(kernels))
#define NATIVE(kernels) (&(kernels))
#define TOLD_KERNELS(room, kind)                                                                                       \
    { &sap_##room##_told_##kind, &sap_##room##_l1_##kind, &sap_##room##_linf_##kind }
#define PERIODIC_KERNELS(room, kind) TOLD_KERNELS(room##_periodic, kind)
#endif
#define KERNELS(simd, bits)                                                                                            \
    {                                                                                                                  \
        .build = &sap_build_kernels_##simd##_f##bits, .accept = NATIVE(sap_accept_kernels_##simd##_f##bits),           \
        .query = &sap_query_kernels_##simd##_f##bits, .nearest = &sap_nearest_kernels_##simd##_f##bits,                \
        .nearest_self = NATIVE(sap_nearest_self_kernels_##simd##_f##bits),                                             \
        .groups = NATIVE(sap_groups_kernels_##simd##_f##bits),                                                         \
        .nearest_explicit = NATIVE(sap_nearest_explicit_kernels_##simd##_f##bits),                                     \
        .one = NATIVE(sap_one_kernels_##simd##_f##bits), .radius = &sap_radius_kernels_##simd##_f##bits,               \
        .nearest_told = TOLD_KERNELS(nearest, simd##_f##bits), .radius_told = TOLD_KERNELS(radius, simd##_f##bits),    \
        .nearest_periodic = PERIODIC_KERNELS(nearest, simd##_f##bits),                                                 \
        .radius_explicit = NATIVE(sap_radius_explicit_kernels_##simd##_f##bits),                                       \
        .box_explicit = NATIVE(sap_box_explicit_kernels_##simd##_f##bits),                                             \
        .radius_periodic = PERIODIC_KERNELS(radius, simd##_f##bits),                                                   \
        .nearest_explicit_periodic = NATIVE(sap_nearest_explicit_periodic_##simd##_f##bits),                           \
        .box = BOXES(sap_box_kernels_##simd##_f##bits), .pairs = NATIVE(sap_pairs_kernels_##simd##_f##bits),           \
        .pairs_periodic = NATIVE(sap_pair_walks_periodic_##simd##_f##bits),                                            \
        .set = NATIVE(sap_set_kernels_##simd##_f##bits), .cloud = SHOWN(sap_cloud_kernels_##simd##_f##bits),           \
        .gather = NATIVE(sap_gather_kernels_##simd##_f##bits),                                                         \
        .clusters = NATIVE(sap_clusters_kernels_##simd##_f##bits),                                                     \
        .farthest = NATIVE(sap_farthest_kernels_##simd##_f##bits), .align = SHOWN(sap_align_kernels_##simd##_f##bits), \
        .feature = NATIVE(sap_feature_kernels_##simd), .project = NATIVE(sap_project_kernels_##simd),                  \
        .clusters_periodic = NATIVE(sap_clusters_periodic_##simd##_f##bits), .near = SHOWN(sap_near_kernels_##simd),   \
        .compact = &sap_compact_kernels_##simd##_f##bits, MESH_KERNELS(simd)                                           \
    }
#define INSTRUCTION_SET(simd)                                                                                          \
    DECLARE(simd, 32)                                                                                                  \
    DECLARE(simd, 64)                                                                                                  \
    DECLARE_MESH(simd)                                                                                                 \
    static const sap_cpu_kernels simd[2] = {KERNELS(simd, 32), DOUBLES(simd)};

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

#if defined(SAP_PAGE)
static sap_status build_floats(sap_tree* tree, const sap_rows* points) {
    if (points->real_bits == 64) return sap_unsupported(tree->device, "build trees in double precision");
    return sap_tree_build_cpu(tree, points);
}
#define BUILD build_floats
#else
#define BUILD sap_tree_build_cpu
#endif
static const sap_tree_ops tree = {
    .build = BUILD,
    .free_arrays = sap_tree_free_arrays_cpu,
    .complete = sap_groups_make,
    .is_periodic = true,
};
static const sap_nearest_ops nearest = {
    .search = sap_nearest_cpu,
    .leaves_out = true,
    .is_told = true,
#if !defined(__EMSCRIPTEN__)
    .prepare = sap_query_prepare_cpu,
#endif
};
#if !defined(SAP_PAGE)
static const sap_radius_ops radius = {.search = sap_radius_cpu, .is_told = true};
static const sap_box_ops box = {.search = sap_box_cpu};
#endif
#if !defined(__EMSCRIPTEN__)
static const sap_pairs_ops pairs = {.collect = sap_pairs_collect_cpu,
                                    .count = sap_pairs_count_cpu,
                                    .nearest = sap_tree_nearest_cpu,
                                    .shifts = sap_pairs_shifts_cpu};
static const sap_set_ops set = {.open = sap_set_open_cpu,
                                .close = sap_set_close_cpu,
                                .describe = sap_set_describe_cpu,
                                .insert = sap_set_insert_cpu,
                                .remove = sap_set_remove_cpu,
                                .trim = sap_set_trim_cpu,
                                .nearest = sap_set_nearest_cpu,
                                .radius = sap_set_radius_cpu};
static const sap_instance_ops instance = {
    .trace = sap_instance_trace_cpu, .keep = sap_instance_keep_cpu, .free_arrays = sap_instance_free_arrays_cpu};
static const sap_move_ops move = {.skin = sap_skin_cpu, .subdivide = sap_subdivide_cpu};
static const sap_cloud_ops cloud = {.axes = sap_cloud_axes_cpu,
                                    .orient = sap_cloud_orient_cpu,
                                    .gather = sap_cloud_gather_cpu,
                                    .relax = &sap_cloud_relax_cpu,
                                    .density = sap_cloud_density_cpu,
                                    .outliers = sap_cloud_outliers_cpu,
                                    .clusters = sap_cloud_clusters_cpu,
                                    .sample = sap_cloud_sample_cpu,
                                    .project = &sap_cloud_project_cpu,
                                    .align = sap_cloud_align_cpu,
                                    .features = sap_cloud_features_cpu,
                                    .global = sap_cloud_global_cpu};
#elif defined(SAP_PAGE)
static const sap_move_ops move = {.skin = sap_skin_cpu};
static const sap_cloud_ops cloud = {.axes = sap_cloud_axes_cpu,
                                    .orient = sap_cloud_orient_cpu,
                                    .relax = &sap_cloud_relax_cpu,
                                    .density = sap_cloud_density_cpu,
                                    .align = sap_cloud_align_cpu};
#endif
static const sap_compact_ops compact = {.compact = sap_compact_cpu};
#if !defined(SAP_POINTS_ONLY)
static const sap_mesh_ops mesh = {
    .build = sap_mesh_build_cpu,
#if !defined(__EMSCRIPTEN__)
    .refit = sap_mesh_refit_cpu,
#endif
};
static const sap_ray_ops ray = {
#if defined(SAP_PAGE)
    .trace = sap_trace_first_cpu,
#else
    .trace = sap_trace_cpu,
    .closest = sap_closest_point_cpu,
    .inside = sap_inside_cpu,
#endif
#if !defined(__EMSCRIPTEN__)
    .prepare = sap_mesh_query_prepare_cpu,
#endif
};
#if defined(SAP_PAGE)
static const sap_render_ops render = {.photons = &sap_photon_ops_cpu};
#endif
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
#if !defined(SAP_PAGE)
            .radius = &radius,
            .box = &box,
#endif
#if !defined(__EMSCRIPTEN__)
            .pairs = &pairs,
            .set = &set,
            .instance = &instance,
#endif
#if !defined(__EMSCRIPTEN__) || defined(SAP_PAGE)
            .move = &move,
            .cloud = &cloud,
#endif
            .compact = &compact,
#if !defined(SAP_POINTS_ONLY)
            .mesh = &mesh,
            .surface = &surface,
            .ray = &ray,
#endif
#if !defined(__EMSCRIPTEN__)
            .render = &sap_render_ops_cpu,
#elif defined(SAP_PAGE)
            .render = &render,
#endif
        },
};
