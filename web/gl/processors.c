// The processors of this module: a CPU that holds saved trees and does nothing with them, and of OpenGL what the package
// offers. Whatever else the library can do need not be downloaded.
#include "processors/processors.h"
#include "compact/ops.h"
#include "device/cpu.h"
#include "device/gl_device.h"
#include "mesh/ops.h"
#include "nearest/ops.h"
#include "tree/ops.h"

const sap_cpu_kernels* sap_cpu_kernels_built(sap_simd simd) {
    static const sap_cpu_kernels none[2];
    return simd == SAP_SIMD_PORTABLE ? none : NULL;
}

static const sap_mesh_ops held; // trees over triangles can lie there

const sap_processor_table sap_cpu_table = {.kind = SAP_CPU,
                                           .name = "CPU",
                                           .automatic = true,
                                           .open = sap_cpu_open,
                                           .close = sap_cpu_close,
                                           .describe = sap_cpu_describe,
                                           .rooms = {.mesh = &held}};

static const sap_tree_ops tree = {.copy_in = sap_tree_copy_in_gl,
                                  .copy_out = sap_tree_copy_out_gl,
                                  .free_arrays = sap_tree_free_arrays_gl,
                                  .copies_host_only = true,
                                  .describe_textures = sap_tree_describe_textures_gl,
                                  .update_textures = sap_tree_update_textures_gl};
static const sap_nearest_ops nearest = {.search_rgba8 = sap_nearest_rgba8_gl};
static const sap_frame_ops frame = {.create = sap_frame_create_gl,
                                    .begin = sap_frame_begin_gl,
                                    .step = sap_frame_step_gl,
                                    .describe = sap_frame_describe_gl,
                                    .read = sap_frame_read_gl,
                                    .free = sap_frame_free_gl};
static const sap_pyramid_ops pyramid = {.create = sap_pyramid_create_gl,
                                        .compact = sap_pyramid_compact_gl,
                                        .total = sap_pyramid_total_gl,
                                        .sums = sap_pyramid_sums_gl,
                                        .free = sap_pyramid_free_gl};
static const sap_mesh_ops mesh = {.copy_in = sap_mesh_copy_in_gl, .free_arrays = sap_mesh_free_arrays_gl};

const sap_processor_table sap_gl_table = {
    .kind = SAP_GL,
    .name = "OpenGL",
    .open = sap_gl_open,
    .close = sap_gl_close,
    .describe = sap_gl_describe_device,
    .trim = sap_gl_trim,
    .wait = sap_gl_wait,
    .describe_gl = sap_gl_describe_context,
    .rooms = {.tree = &tree, .nearest = &nearest, .frame = &frame, .pyramid = &pyramid, .mesh = &mesh}};

const sap_processor_table* const sap_processors[] = {&sap_gl_table, &sap_cpu_table, NULL};
