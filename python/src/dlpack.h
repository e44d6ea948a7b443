// The structs of DLPack, through which libraries of arrays hand their memory to one another: https://dmlc.github.io/dlpack.
// Their layout is the same in all versions of major number 1.
#ifndef SAPWOOD_PYTHON_DLPACK_H
#define SAPWOOD_PYTHON_DLPACK_H

#include <stdint.h>

enum { DLPACK_CPU = 1, DLPACK_CUDA = 2, DLPACK_CUDA_HOST = 3, DLPACK_CUDA_MANAGED = 13 }; // kinds of devices
enum { DLPACK_INT = 0, DLPACK_UINT = 1, DLPACK_FLOAT = 2, DLPACK_BOOL = 6 };              // kinds of elements
enum { DLPACK_READ_ONLY = 1 };                                                            // flags

typedef struct dlpack_tensor {
    void* data;
    struct {
        int32_t type, id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t* shape;
    int64_t* strides; // in elements; NULL: C-contiguous
    uint64_t byte_offset;
} dlpack_tensor;

/** What a capsule named "dltensor" holds. */
typedef struct dlpack_managed {
    dlpack_tensor tensor;
    void* context;
    void (*deleter)(struct dlpack_managed* self);
} dlpack_managed;

/** What a capsule named "dltensor_versioned" holds. */
typedef struct dlpack_versioned {
    struct {
        uint32_t major, minor;
    } version;
    void* context;
    void (*deleter)(struct dlpack_versioned* self);
    uint64_t flags;
    dlpack_tensor tensor;
} dlpack_versioned;

#endif
