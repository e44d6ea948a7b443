// The CPU as a processor: threads, and the inner loops that suit its vector instructions.
#include "device/cpu.h"
#include "nearest/nearest_cpu.h"
#include "radius/radius_cpu.h"
#include "render/picture.h"
#include "tree/layout.h"
#if defined(_OPENMP)
#include <omp.h>
#endif

typedef struct cpu_state {
    sap_simd simd;
    const sap_cpu_kernels* kernels[2]; // for 32 and 64 bits
} cpu_state;

// SAP_POINTS_ONLY: trees over points and compaction are all that the device can do, and the rest need not be linked.
#if defined(SAP_POINTS_ONLY)
#define MESH_KERNELS(simd) .mesh = NULL
#else
#define MESH_KERNELS(simd)                                                                                             \
    .mesh = &sap_mesh_kernels_##simd, .ray = &sap_ray_kernels_##simd, .surface = &sap_surface_kernels_##simd
#endif
#define KERNELS(simd, bits)                                                                                            \
    {                                                                                                                  \
        .build = &sap_build_kernels_##simd##_f##bits, .nearest = &sap_nearest_kernels_##simd##_f##bits,                \
        .radius = &sap_radius_kernels_##simd##_f##bits, .compact = &sap_compact_kernels_##simd##_f##bits,              \
        MESH_KERNELS(simd)                                                                                             \
    }
static const sap_cpu_kernels portable[2] = {KERNELS(portable, 32), KERNELS(portable, 64)};
#if defined(SAP_HAVE_AVX2)
static const sap_cpu_kernels avx2[2] = {KERNELS(avx2, 32), KERNELS(avx2, 64)};
#endif
#if defined(SAP_HAVE_AVX512)
static const sap_cpu_kernels avx512[2] = {KERNELS(avx512, 32), KERNELS(avx512, 64)};
#endif

// The kernels for an instruction set, or NULL if the build or the machine lacks it.
static const sap_cpu_kernels* kernels_for(sap_simd simd) {
    if (simd == SAP_SIMD_PORTABLE) return portable;
#if defined(SAP_HAVE_AVX2) || defined(SAP_HAVE_AVX512)
    bool has_bits = __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
#endif
#if defined(SAP_HAVE_AVX2)
    if (simd == SAP_SIMD_AVX2 && has_bits && __builtin_cpu_supports("avx2")) return avx2;
#endif
#if defined(SAP_HAVE_AVX512)
    if (simd == SAP_SIMD_AVX512 && has_bits && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return avx512;
#endif
    return NULL;
}

int32_t sap_cpu_threads(int32_t asked) {
#if defined(_OPENMP)
    return asked ? asked : omp_get_max_threads();
#else
    (void)asked;
    return 1;
#endif
}

static sap_status cpu_open(sap_device* device) {
    sap_simd simd = device->options.simd;
    if (simd == SAP_SIMD_AUTO)
        for (simd = SAP_SIMD_AVX512; simd > SAP_SIMD_PORTABLE && !kernels_for(simd);) simd = (sap_simd)(simd - 1);
    const sap_cpu_kernels* kernels = kernels_for(simd);
    if (!kernels)
        return sap_fail(device, SAP_ERROR_NO_DEVICE,
                        "options.simd: this machine or build lacks the vector instructions");
    cpu_state* state = sap_memory_allocate(device, sizeof *state);
    if (!state) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a device");
    *state = (cpu_state){simd, {&kernels[0], &kernels[1]}};
    device->processor_state = state;
    device->options.threads = sap_cpu_threads(device->options.threads);
    return SAP_OK;
}

static void cpu_close(sap_device* device) { sap_memory_release(device, device->processor_state, sizeof(cpu_state)); }

static sap_status cpu_describe(const sap_device* device, sap_device_info* info) {
    const cpu_state* state = device->processor_state;
    info->processor = SAP_CPU;
    info->simd = state->simd;
    info->threads = device->options.threads;
    return SAP_OK;
}

const sap_cpu_kernels* sap_cpu_kernels_of(const sap_device* device, int32_t real_bits) {
    const cpu_state* state = device->processor_state;
    return state->kernels[real_bits == 64];
}

const sap_processor_table sap_cpu_table = {.name = "cpu",
                                           .open = cpu_open,
                                           .close = cpu_close,
                                           .describe = cpu_describe,
                                           .build = sap_tree_build_cpu,
                                           .nearest = sap_nearest_cpu,
                                           .radius = sap_radius_cpu,
#if !defined(SAP_POINTS_ONLY)
                                           .surface = sap_surface_cpu,
                                           .mesh_build = sap_mesh_build_cpu,
                                           .trace = sap_trace_cpu,
                                           .closest = sap_closest_point_cpu,
                                           .inside = sap_inside_cpu,
                                           .render = &sap_render_steps_cpu,
#endif
                                           .compact = sap_compact_cpu};
