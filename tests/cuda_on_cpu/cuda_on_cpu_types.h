// Types, vectors and error numbers of the CUDA runtime, as far as the library uses them. Part of cuda_runtime.h.
#ifndef CUDA_ON_CPU_TYPES_H
#define CUDA_ON_CPU_TYPES_H

// ---- The runtime's own. Numbers are CUDA's.

typedef struct CUstream_st* cudaStream_t;
typedef struct CUmemPoolHandle_st* cudaMemPool_t;
typedef struct CUevent_st* cudaEvent_t;

typedef enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInitializationError = 3,
    cudaErrorCudartUnloading = 4,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidPitchValue = 12,
    cudaErrorInvalidSymbol = 13,
    cudaErrorInvalidDevicePointer = 17,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorInsufficientDriver = 35,
    cudaErrorDevicesUnavailable = 46,
    cudaErrorInvalidDeviceFunction = 98,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidKernelImage = 200,
    cudaErrorDeviceUninitialized = 201,
    cudaErrorNoKernelImageForDevice = 209,
    cudaErrorECCUncorrectable = 214,
    cudaErrorInvalidPtx = 218,
    cudaErrorUnsupportedPtxVersion = 222,
    cudaErrorOperatingSystem = 304,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorIllegalState = 401,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchOutOfResources = 701,
    cudaErrorLaunchTimeout = 702,
    cudaErrorContextIsDestroyed = 709,
    cudaErrorAssert = 710,
    cudaErrorHardwareStackError = 714,
    cudaErrorIllegalInstruction = 715,
    cudaErrorMisalignedAddress = 716,
    cudaErrorInvalidAddressSpace = 717,
    cudaErrorInvalidPc = 718,
    cudaErrorLaunchFailure = 719,
    cudaErrorCooperativeLaunchTooLarge = 720,
    cudaErrorNotPermitted = 800,
    cudaErrorNotSupported = 801,
    cudaErrorSystemNotReady = 802,
    cudaErrorSystemDriverMismatch = 803,
    cudaErrorCompatNotSupportedOnDevice = 804,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureWrongThread = 908,
    cudaErrorUnknown = 999
} cudaError_t;

const char* cudaGetErrorString(cudaError_t error);
const char* cudaGetErrorName(cudaError_t error);

typedef enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrConcurrentManagedAccess = 89,
    cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrMemoryPoolsSupported = 115
} cudaDeviceAttr;

// ---- Vectors.

#define CUDA_ON_CPU_VECTORS(type, name, bytes)                                                                         \
    typedef struct name##1 {                                                                                           \
        type x;                                                                                                        \
    }                                                                                                                  \
    name##1;                                                                                                           \
    typedef struct __align__(2 * bytes) name##2 {                                                                      \
        type x, y;                                                                                                     \
    }                                                                                                                  \
    name##2;                                                                                                           \
    typedef struct name##3 {                                                                                           \
        type x, y, z;                                                                                                  \
    }                                                                                                                  \
    name##3;                                                                                                           \
    typedef struct __align__(4 * bytes > 16 ? 16 : 4 * bytes) name##4 {                                                \
        type x, y, z, w;                                                                                               \
    }                                                                                                                  \
    name##4;                                                                                                           \
    static inline name##1 make_##name##1(type x) { return name##1 {x}; }                                               \
    static inline name##2 make_##name##2(type x, type y) { return name##2 {x, y}; }                                    \
    static inline name##3 make_##name##3(type x, type y, type z) { return name##3 {x, y, z}; }                         \
    static inline name##4 make_##name##4(type x, type y, type z, type w) { return name##4 {x, y, z, w}; }

CUDA_ON_CPU_VECTORS(signed char, char, 1)
CUDA_ON_CPU_VECTORS(unsigned char, uchar, 1)
CUDA_ON_CPU_VECTORS(short, short, 2)
CUDA_ON_CPU_VECTORS(unsigned short, ushort, 2)
CUDA_ON_CPU_VECTORS(int, int, 4)
CUDA_ON_CPU_VECTORS(unsigned, uint, 4)
CUDA_ON_CPU_VECTORS(float, float, 4)
CUDA_ON_CPU_VECTORS(long long, longlong, 8)
CUDA_ON_CPU_VECTORS(unsigned long long, ulonglong, 8)
CUDA_ON_CPU_VECTORS(double, double, 8)

typedef struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
} dim3;

#endif
