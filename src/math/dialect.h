// The dialect in which a text is written once and compiled as C17, as CUDA and as GLSL ES 3.00.
//
// Functions take values and give values. Five words differ between the three languages and are macros:
//   SAP_FN            before a function (in C and CUDA, SAP_FN_CALLED before one that need not become part of its callers)
//   SAP_STRUCT(name)  before `struct name {…};`, so that `name` alone is the type
//   SAP_UNROLL        before a loop whose list or vector has to stay in registers
//   SAP_TREE_PARAM    first among the parameters of a function that reads the tree
//   SAP_TREE          the same among the arguments of a call (both end with their comma)
// SAP_ASSERT(condition) states an invariant (base/assert.h); shaders do not check it.
// SAP_UNUSED(name) marks a parameter that one of several texts for the same role does not need.
// SAP_TABLE(type, name, count) begins a table of constants in a function, SAP_TABLE_END ends it.
// SAP_ROUNDED(product) is a product that must be rounded before it is added. GLSL and WGSL may fuse the two: there bits are
// changed between them by SAP_NOTHING, which is 0, as no compiler knows. WebGPU's shaders, whose uniforms must lie in
// blocks, define it before they include this; tree/forms/uniforms.h defines it anew after this.
// Two are types: SAP_REAL, the tree's precision, and SAP_BITS, 32 unsigned bits. docs/dialect.md has the rules.
#ifndef SAPWOOD_MATH_DIALECT_H
#define SAPWOOD_MATH_DIALECT_H

#ifdef GL_ES

#define SAP_FN
#define SAP_STRUCT(name)
#define SAP_UNROLL
#define SAP_TREE_PARAM
#define SAP_TREE
#define SAP_ASSERT(condition)
#define SAP_UNUSED(name)
#define SAP_BITS     uint
#define SAP_REAL     float
#define SAP_REAL_MAX 3.402823466e+38

#define SAP_TABLE(type, name, count) const type name[count] = type[count](
#define SAP_TABLE_END                )

#ifndef SAP_NOTHING
uniform highp uint nothing; // 0, since no program sets it
#define SAP_NOTHING nothing
#endif
// The value, hidden from the compiler. Macros instead of functions: compilers of browsers make variables of all
// parameters and results.
#define sap_opaque(value)    uintBitsToFloat(floatBitsToUint(value) ^ SAP_NOTHING)
#define SAP_ROUNDED(product) sap_opaque(product)

float sap_float_of_int(int value) { return float(value); }
float sap_square_root(float value) { return sqrt(value); }
float sap_float_of_bits(uint bits) { return uintBitsToFloat(bits); }
uint sap_bits_of_float(float value) { return floatBitsToUint(value); }

// ES 3.00 has no findLSB: the lowest set bit, as a float, has its position as exponent.
int sap_trailing_zeros(uint bits) { return (floatBitsToInt(float(bits & (~bits + 1u))) >> 23) - 127; }

// A value without the places in which `bits` ends with zeros: both are less than 2^31. SwiftShader shifts one pixel after the
// other, so halves of the value, which floats hold, are multiplied by a power of two instead.
uint sap_above_zeros(uint value, uint bits) {
    float part = uintBitsToFloat(0x7f000000u - floatBitsToUint(float(int(bits & (~bits + 1u)))));
    int lower = int(value & 0xffffu);
    return uint(int(float(int(value) - lower) * part) + int(float(lower) * part));
}

#else // not in shaders

#include "base/assert.h"
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define SAP_FN        static __host__ __device__ __forceinline__
#define SAP_FN_CALLED static __host__ __device__
#define SAP_UNROLL    _Pragma("unroll")
#else
#define SAP_FN        static inline __attribute__((always_inline))
#define SAP_FN_CALLED static inline
#ifdef __clang__
#define SAP_UNROLL
#else
#define SAP_UNROLL _Pragma("GCC unroll 16")
#endif
#endif

#ifdef __cplusplus
#define SAP_STRUCT(name)
#else
#define SAP_STRUCT(name) typedef struct name name;
#endif

#define SAP_TREE_PARAM               const sap_tree *tree,
#define SAP_TREE                     tree,
#define SAP_UNUSED(name)             (void)(name);
#define SAP_BITS                     uint32_t
#define SAP_TABLE(type, name, count) static const type name[count] = {
#define SAP_TABLE_END                }
#define SAP_ROUNDED(product)         (product)

SAP_FN float sap_float_of_int(int value) { return (float)value; }
SAP_FN float sap_square_root(float value) { return sqrtf(value); }

SAP_FN float sap_float_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

SAP_FN uint32_t sap_bits_of_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

SAP_FN double sap_double_of_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

SAP_FN int sap_trailing_zeros(uint32_t bits) {
    SAP_ASSERT(bits != 0);
#ifdef __CUDA_ARCH__
    return __ffs((int)bits) - 1;
#else
    return __builtin_ctz(bits);
#endif
}
SAP_FN uint32_t sap_above_zeros(uint32_t value, uint32_t bits) { return value >> sap_trailing_zeros(bits); }

#endif // in shaders

// The id of a place without a point: greater than every point's.
#define SAP_NO_ID 2147483647

#endif
