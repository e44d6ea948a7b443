// What the rooms do in contexts of OpenGL ES.
#include "compact/ops.h"
#include "device/gl_device.h"
#include "mesh/ops.h"
#include "nearest/ops.h"
#include "processors/processors.h"
#include "radius/ops.h"
#include "ray/ops.h"
#include "render/ops.h"
#include "surface/ops.h"
#include "tree/ops.h"

static const sap_tree_ops tree = {.build = sap_tree_build_gl,
                                  .copy_in = sap_tree_copy_in_gl,
                                  .copy_out = sap_tree_copy_out_gl,
                                  .free_arrays = sap_tree_free_arrays_gl,
                                  .copies_host_only = true,
                                  .describe_textures = sap_tree_describe_textures_gl,
                                  .update_textures = sap_tree_update_textures_gl};
static const sap_nearest_ops nearest = {
    .search = sap_nearest_gl, .search_grid = sap_nearest_grid_gl, .search_rgba8 = sap_nearest_rgba8_gl};
static const sap_frame_ops frame = {.create = sap_frame_create_gl,
                                    .begin = sap_frame_begin_gl,
                                    .step = sap_frame_step_gl,
                                    .describe = sap_frame_describe_gl,
                                    .read = sap_frame_read_gl,
                                    .free = sap_frame_free_gl};
static const sap_compact_ops compact = {.compact = sap_compact_gl};
static const sap_pyramid_ops pyramid = {.create = sap_pyramid_create_gl,
                                        .compact = sap_pyramid_compact_gl,
                                        .total = sap_pyramid_total_gl,
                                        .sums = sap_pyramid_sums_gl,
                                        .free = sap_pyramid_free_gl};
static const sap_mesh_ops mesh = {
    .build = sap_mesh_build_gl, .copy_in = sap_mesh_copy_in_gl, .free_arrays = sap_mesh_free_arrays_gl};
static const sap_ray_ops ray = {.trace = sap_trace_gl};
static const sap_surface_ops surface = {.extract = sap_surface_gl};
static const sap_zpyramid_ops zpyramid = {.create = sap_zpyramid_create_gl,
                                          .compact = sap_zpyramid_compact_gl,
                                          .total = sap_zpyramid_total_gl,
                                          .free = sap_zpyramid_free_gl};
#ifndef SAP_PAGE // which shows none of these, and is to stay light
static const sap_radius_ops radius = {.search = sap_radius_gl};
static const sap_resident_ops resident = {.create = sap_resident_create_gl,
                                          .load = sap_resident_load_gl,
                                          .extract = sap_resident_extract_gl,
                                          .draw = sap_resident_draw_gl,
                                          .count = sap_resident_count_gl,
                                          .read = sap_resident_read_gl,
                                          .free = sap_resident_free_gl};
#endif
static const sap_view_ops view = {.create = sap_view_create_gl,
                                  .begin = sap_view_begin_gl,
                                  .step = sap_view_step_gl,
                                  .show = sap_view_show_gl,
                                  .read = sap_view_read_gl,
                                  .describe = sap_view_describe_gl,
                                  .free = sap_view_free_gl};

const sap_processor_table sap_gl_table = {
    .kind = SAP_GL,
    .name = "OpenGL",
    .open = sap_gl_open,
    .close = sap_gl_close,
    .describe = sap_gl_describe_device,
    .trim = sap_gl_trim,
    .wait = sap_gl_wait,
    .describe_gl = sap_gl_describe_context,
    .rooms =
        {
            .tree = &tree,
            .nearest = &nearest,
            .frame = &frame,
            .compact = &compact,
            .pyramid = &pyramid,
            .mesh = &mesh,
            .ray = &ray,
            .surface = &surface,
            .zpyramid = &zpyramid,
#ifndef SAP_PAGE
            .radius = &radius,
            .resident = &resident,
            .render = &sap_render_ops_cpu,
#endif
            .view = &view,
        },
};
