// What the rooms do on CUDA GPUs. In C, whose initialisers name their entries.
#include "box/ops.h"
#include "cloud/ops.h"
#include "cluster/ops.h"
#include "compact/ops.h"
#include "device/cuda_device.h"
#include "instance/ops.h"
#include "mesh/ops.h"
#include "move/ops.h"
#include "nearest/ops.h"
#include "pairs/ops.h"
#include "processors/processors.h"
#include "radius/ops.h"
#include "ray/ops.h"
#include "render/ops.h"
#include "set/ops.h"
#include "surface/ops.h"
#include "tree/ops.h"

static const sap_tree_ops tree = {.build = sap_tree_build_cuda,
                                  .copy_in = sap_tree_copy_in_cuda,
                                  .copy_out = sap_tree_copy_out_cuda,
                                  .free_arrays = sap_tree_free_arrays_cuda,
                                  .is_periodic = true,
                                  .verify = sap_tree_verify_cuda};
static const sap_nearest_ops nearest = {.search = sap_nearest_cuda, .leaves_out = true, .is_told = true};
static const sap_radius_ops radius = {
    .search = sap_radius_cuda, .is_told = true, .cut_counts = sap_radius_cut_counts_cuda};
static const sap_box_ops box = {.search = sap_box_cuda};
static const sap_pairs_ops pairs = {.collect = sap_pairs_collect_cuda,
                                    .count = sap_pairs_count_cuda,
                                    .nearest = sap_tree_nearest_cuda,
                                    .shifts = sap_pairs_shifts_cuda};
static const sap_set_ops set = {.open = sap_set_open_cuda,
                                .close = sap_set_close_cuda,
                                .describe = sap_set_describe_cuda,
                                .insert = sap_set_insert_cuda,
                                .remove = sap_set_remove_cuda,
                                .trim = sap_set_trim_cuda,
                                .nearest = sap_set_nearest_cuda,
                                .radius = sap_set_radius_cuda};
static const sap_compact_ops compact = {.compact = sap_compact_cuda};
static const sap_cloud_ops cloud = {.axes = sap_cloud_axes_cuda,
                                    .gather = sap_cloud_gather_cuda,
                                    .orient = sap_cloud_orient_cuda,
                                    .relax = &sap_cloud_relax_cuda,
                                    .project = &sap_cloud_project_cuda,
                                    .density = sap_cloud_density_cuda,
                                    .outliers = sap_cloud_outliers_cuda,
                                    .clusters = sap_cloud_clusters_cuda,
                                    .sample = sap_cloud_sample_cuda,
                                    .align = sap_cloud_align_cuda,
                                    .features = sap_cloud_features_cuda,
                                    .global = sap_cloud_global_cuda,
                                    .voxels = sap_cloud_voxels_cuda};
static const sap_mesh_ops mesh = {.build = sap_mesh_build_cuda,
                                  .copy_in = sap_mesh_copy_in_cuda,
                                  .copy_out = sap_mesh_copy_out_cuda,
                                  .free_arrays = sap_mesh_free_arrays_cuda};
static const sap_ray_ops ray = {.trace = sap_trace_cuda, .closest = sap_closest_point_cuda, .inside = sap_inside_cuda};
static const sap_instance_ops instance = {
    .trace = sap_instance_trace_cuda, .keep = sap_instance_keep_cuda, .free_arrays = sap_instance_free_arrays_cuda};
static const sap_surface_ops surface = {.extract = sap_surface_cuda};
static const sap_move_ops move = {.skin = sap_skin_cuda,
                                  .subdivide = sap_subdivide_cuda,
                                  .fetch = sap_subdivision_fetch_cuda,
                                  .place = sap_subdivision_place_cuda,
                                  .remove = sap_subdivision_remove_cuda};

const sap_processor_table sap_cuda_table = {
    .kind = SAP_CUDA,
    .name = "CUDA",
    .automatic = true,
    .open = sap_cuda_open,
    .close = sap_cuda_close,
    .describe = sap_cuda_describe,
    .trim = sap_cuda_trim,
    .wait = sap_cuda_wait,
    .rooms =
        {
            .tree = &tree,
            .nearest = &nearest,
            .radius = &radius,
            .box = &box,
            .pairs = &pairs,
            .set = &set,
            .compact = &compact,
            .mesh = &mesh,
            .ray = &ray,
            .instance = &instance,
            .surface = &surface,
            .move = &move,
            .cloud = &cloud,
            .cluster = &sap_cluster_ops_cuda,
            .render = &sap_render_ops_cuda,
        },
};
