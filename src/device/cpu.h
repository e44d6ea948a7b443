// The inner loops of the CPU: one set per instruction set and precision, compiled from the files called *_simd.c.
#ifndef SAPWOOD_DEVICE_CPU_H
#define SAPWOOD_DEVICE_CPU_H

#include "compact/compact.h"
#include "mesh/build.h"
#include "nearest/nearest.h"
#include "radius/radius.h"
#include "ray/ray.h"
#include "surface/surface.h"
#include "tree/balanced/build.h"

typedef struct sap_cpu_kernels {
    const sap_build_kernels* build;
    const sap_nearest_kernels* nearest;
    const sap_radius_kernels* radius;
    const sap_compact_kernels* compact;
    const sap_mesh_kernels* mesh; // of floats, whatever the precision
    const sap_ray_kernels* ray;   // likewise
    const sap_surface_kernels* surface;
} sap_cpu_kernels;

// The kernels that a CPU device uses for reals of 32 or 64 bits.
const sap_cpu_kernels* sap_cpu_kernels_of(const sap_device* device, int32_t real_bits);

#define SAP_DECLARE_KERNELS(simd, bits)                                                                                \
    extern const sap_build_kernels sap_build_kernels_##simd##_f##bits;                                                 \
    extern const sap_nearest_kernels sap_nearest_kernels_##simd##_f##bits;                                             \
    extern const sap_radius_kernels sap_radius_kernels_##simd##_f##bits;                                               \
    extern const sap_compact_kernels sap_compact_kernels_##simd##_f##bits;
SAP_DECLARE_KERNELS(portable, 32)
SAP_DECLARE_KERNELS(portable, 64)
SAP_DECLARE_KERNELS(avx2, 32)
SAP_DECLARE_KERNELS(avx2, 64)
SAP_DECLARE_KERNELS(avx512, 32)
SAP_DECLARE_KERNELS(avx512, 64)
extern const sap_mesh_kernels sap_mesh_kernels_portable, sap_mesh_kernels_avx2, sap_mesh_kernels_avx512;
extern const sap_ray_kernels sap_ray_kernels_portable, sap_ray_kernels_avx2, sap_ray_kernels_avx512;
extern const sap_surface_kernels sap_surface_kernels_portable, sap_surface_kernels_avx2, sap_surface_kernels_avx512;

#endif
