#include "device/cpu.h"
#include "base/team.h"

typedef struct cpu_state {
    sap_simd simd;
    const sap_cpu_kernels* kernels; // [2]: for 32 and 64 bits
} cpu_state;

static bool machine_has(sap_simd simd) {
#if defined(SAP_HAVE_AVX2) || defined(SAP_HAVE_AVX512)
    bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                    __builtin_cpu_supports("popcnt");
    if (simd == SAP_SIMD_AVX2) return has_avx2;
    if (simd == SAP_SIMD_AVX512)
        return has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
    return simd == SAP_SIMD_PORTABLE;
}

// The kernels for an instruction set, or NULL if the build or the machine lacks it.
static const sap_cpu_kernels* kernels_for(sap_simd simd) {
    return machine_has(simd) ? sap_cpu_kernels_built(simd) : NULL;
}

int32_t sap_cpu_threads(int32_t asked) {
#if defined(SAP_HAVE_THREADS)
    return asked ? asked : sap_team_most();
#else
    (void)asked;
    return 1;
#endif
}

sap_status sap_cpu_open(sap_device* device) {
    sap_simd simd = device->options.simd;
    if (simd == SAP_SIMD_AUTO)
        for (simd = SAP_SIMD_AVX512; simd > SAP_SIMD_PORTABLE && !kernels_for(simd);) simd = (sap_simd)(simd - 1);
    const sap_cpu_kernels* kernels = kernels_for(simd);
    if (!kernels)
        return sap_fail(device, SAP_ERROR_NO_DEVICE,
                        "options.simd: this machine or build lacks the vector instructions");
    cpu_state* state = sap_memory_allocate(device, sizeof *state);
    if (!state) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a device");
    *state = (cpu_state){simd, kernels};
    device->processor_state = state;
    device->options.threads = sap_cpu_threads(device->options.threads);
    return SAP_OK;
}

void sap_cpu_close(sap_device* device) { sap_memory_release(device, device->processor_state, sizeof(cpu_state)); }

sap_status sap_cpu_describe(const sap_device* device, sap_device_info* info) {
    const cpu_state* state = device->processor_state;
    info->processor = SAP_CPU;
    info->simd = state->simd;
    info->threads = device->options.threads;
    return SAP_OK;
}

const sap_cpu_kernels* sap_cpu_kernels_of(const sap_device* device, int32_t real_bits) {
    const cpu_state* state = device->processor_state;
    return &state->kernels[real_bits == 64];
}
