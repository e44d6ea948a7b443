/**
 * @file base.h
 * Status codes, devices, and the hooks through which the library meets its host: allocator, log and progress.
 *
 * Every function that can fail returns a ::sap_status and gives its result through its last pointer. On failure the
 * outputs are untouched and nothing leaks. The library keeps no global state; it never aborts, prints or reads the
 * environment.
 */
#ifndef SAPWOOD_BASE_H
#define SAPWOOD_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* On Windows: SAPWOOD_STATIC is for users of the static library, SAPWOOD_BUILDING for the library itself; the CMake
   package and pkg-config --static define the first. */
#if defined(_WIN32) && defined(SAPWOOD_STATIC)
#define SAP_API
#elif defined(_WIN32) && defined(SAPWOOD_BUILDING)
#define SAP_API __declspec(dllexport)
#elif defined(_WIN32)
#define SAP_API __declspec(dllimport)
#else
#define SAP_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define SAP_VERSION_MAJOR 0 /**< of these headers; ::sap_version tells the library's */
#define SAP_VERSION_MINOR 2 /**< see SAP_VERSION_MAJOR */
#define SAP_VERSION_PATCH 0 /**< see SAP_VERSION_MAJOR */

/** The outcome of a call. The numbers never change; new ones are added at the end. */
typedef enum sap_status {
    SAP_OK = 0,
    SAP_ERROR_ARGUMENT = 1,      /**< a NULL, an unknown option, dims outside 1…16, k < 1, a negative radius … */
    SAP_ERROR_RANGE = 2,         /**< more than 2^31-1 elements, or a size that overflows */
    SAP_ERROR_NOT_FINITE = 3,    /**< a coordinate is NaN, infinite, or so large that squared distances overflow */
    SAP_ERROR_MEMORY = 4,        /**< the allocator returned NULL */
    SAP_ERROR_DEVICE_MEMORY = 5, /**< the device's memory is exhausted; the device stays usable */
    SAP_ERROR_NO_DEVICE = 6,     /**< the processor asked for is not on this machine or not in this build */
    SAP_ERROR_DEVICE_LOST = 7,   /**< the device no longer works; close it */
    SAP_ERROR_UNSUPPORTED = 8,   /**< a valid request that this processor or tree cannot serve */
    SAP_ERROR_IO = 9,            /**< a file could not be opened, read or written */
    SAP_ERROR_FORMAT = 10,       /**< a file's bytes are not what they claim to be */
    SAP_ERROR_CANCELLED = 11     /**< the progress callback returned false */
} sap_status;

/** A short English phrase for a status, never NULL; static storage. */
SAP_API const char* sap_status_string(sap_status status);

/** The version of the library that is running, as "major.minor.patch"; static storage. */
SAP_API const char* sap_version(void);

/** Which kind of machine does the work. */
typedef enum sap_processor {
    SAP_AUTO = 0, /**< the best that this build and this machine have */
    SAP_CPU = 1,  /**< host threads */
    SAP_CUDA = 2, /**< one NVIDIA GPU */
    SAP_GL = 3    /**< one OpenGL ES 3.0 context; only when asked for by name */
} sap_processor;

/** The vector instructions that a CPU device uses. All of them give the same answers, bit for bit. */
typedef enum sap_simd {
    SAP_SIMD_AUTO = 0,     /**< the widest that the machine has */
    SAP_SIMD_PORTABLE = 1, /**< 16-byte vectors of the compiler: SSE2 on x86-64, NEON on AArch64 */
    SAP_SIMD_AVX2 = 2,     /**< 32-byte vectors */
    SAP_SIMD_AVX512 = 3    /**< 64-byte vectors with masks and compression (AVX-512 F, BW, DQ, VL) */
} sap_simd;

/**
 * Where host memory comes from. Either both functions are given or neither (then the C library's heap is used). They
 * may call Sapwood, with the same device too, unless that closes it or frees what the running call uses; but calls that
 * work in an OpenGL context answer SAP_ERROR_ARGUMENT there.
 */
typedef struct sap_allocator {
    /** Returns `bytes` (> 0) of memory aligned to `alignment` (a power of two, at most 4096), or NULL. Any thread. */
    void* (*allocate)(void* user, size_t bytes, size_t alignment);
    /** Frees what `allocate` returned; `bytes` is the size that was passed to it. Never called with NULL. Any thread.
     */
    void (*release)(void* user, void* memory, size_t bytes);
    void* user; /**< passed to both */
} sap_allocator;

/**
 * Receives one English sentence about why a call failed, before that call returns; with SAP_OK, about something that
 * the call could do without. Called on the calling thread. It may call Sapwood as a sap_allocator may.
 */
typedef void (*sap_log)(void* user, sap_status status, const char* sentence);

/**
 * Receives how much of a long call is done, from 0 to at most 1, a few hundred times a call at most, on the calling
 * thread. Returning false asks the call to stop; it then returns SAP_ERROR_CANCELLED and the caller's output arrays
 * hold unspecified values (handles are still not created).
 */
typedef bool (*sap_progress)(void* user, double done);

/** How to open a device. All zero is the default for each field. */
typedef struct sap_device_options {
    sap_processor processor; /**< default SAP_AUTO */
    int32_t ordinal;         /**< which GPU, counted from 0; SAP_GL: which of EGL's devices, 0: the first that can */
    int32_t threads;         /**< CPU threads a call may use; 0: OMP_NUM_THREADS if that is set, else as many as
                                  there are processors for this process; at most 1024 */
    void* stream;            /**< a CUDA stream (cudaStream_t) to work in; NULL: the device's own. See ::sap_device */
    sap_simd simd;           /**< default SAP_SIMD_AUTO */
    sap_allocator allocator; /**< host memory of the device and of everything made with it */
    sap_allocator device_allocator; /**< CUDA: GPU memory (256-byte alignment is asked for); default: a pool that the
                                       device keeps. Memory is released once the GPU no longer uses it */
    sap_log log;                    /**< NULL: silent */
    void* log_user;                 /**< handed to log */
    sap_progress progress;          /**< NULL: none */
    void* progress_user;            /**< handed to progress */
    bool current_context; /**< SAP_GL: work in the caller's context instead of one of the device's own: the context that
                             is current on the calling thread now, and must be current in every call. In a browser a
                             device without this flag uses the current context, WebGL 2 or 1, and does not restore its
                             state; if no context is current it creates one of WebGL 2 */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_device_options;

/**
 * Where work runs, with the memory that calls reuse. Any number of devices may be open. Trees keep a pointer to their
 * device: close it last. Queries of one or many trees may run on one device from several threads at once.
 *
 * **CUDA.** All arrays that calls take may lie in host memory or on the device's GPU; the library finds out which. A
 * call returns when its results are ready, with one exception: on a device that works in the caller's stream, a call
 * whose arrays all lie on the GPU only queues its work in the stream. What the GPU finds out later, such as a point
 * that is not finite, is then reported by ::sap_device_wait; until then such a tree answers "no neighbour". Calls on a
 * GPU do not call the progress callback, except for ::sap_render, whose arrays are all in host memory.
 *
 * **Graphs.** On a device that works in the caller's stream, these calls may be captured into a CUDA graph, which may
 * be launched any number of times: ::sap_tree_rebuild (balanced, duplicates kept), ::sap_nearest and ::sap_nearest_self
 * (without statistics), ::sap_radius_count, ::sap_radius_into, ::sap_compact and ::sap_unique, with all arrays, and the
 * count, on the GPU.
 * Each launch reads what the arrays hold at that time. The same calls must have been made once before the capture, with
 * as many points and queries, because memory cannot be allocated during a capture. A call that would have to allocate
 * or to wait returns SAP_ERROR_UNSUPPORTED; the graph cannot be used then. A graph uses the device's scratch memory and
 * the tree: launch it in the device's stream, and never after ::sap_device_trim, after the tree was freed, or after it
 * was rebuilt from another number of points.
 *
 * **OpenGL ES.** A context of the device's own, from EGL and without a window, or the caller's: see
 * ::sap_device_options and gl.h. Calls take host memory. A context serves one call at a time: calls from several
 * threads wait for one another. A context that was lost (a driver that was reset, a browser that took it away) returns
 * SAP_ERROR_DEVICE_LOST from then on; trees that were built in it can still be copied to another device.
 *
 * Arrays of 4 MB and more in pageable host memory are copied through up to 16 MB of page-locked memory by all threads
 * that the device may use. That memory is allocated through CUDA when it is first needed, and kept until
 * ::sap_device_trim. Copies are faster still if the caller's arrays are page-locked.
 */
typedef struct sap_device sap_device;

/**
 * Opens a device. `options` may be NULL (all defaults).
 * Errors: SAP_ERROR_ARGUMENT (device NULL, unknown option, half an allocator), SAP_ERROR_NO_DEVICE (processor or vector
 * instructions not present), SAP_ERROR_MEMORY.
 */
SAP_API sap_status sap_device_open(const sap_device_options* options, sap_device** device);

/** Closes a device and frees its scratch memory. NULL is allowed. Everything made with it must have been freed. */
SAP_API void sap_device_close(sap_device* device);

/** Frees the scratch memory that the device keeps for later calls. NULL is allowed. */
SAP_API void sap_device_trim(sap_device* device);

/**
 * Waits until all work of a device is done, and reports what went wrong since the last report in calls that did not
 * wait. On a CPU there is nothing to wait for. Errors: SAP_ERROR_ARGUMENT (NULL), SAP_ERROR_NOT_FINITE (a tree's
 * points), SAP_ERROR_DEVICE_LOST.
 */
SAP_API sap_status sap_device_wait(sap_device* device);

/** What a device turned out to be. */
typedef struct sap_device_info {
    sap_processor processor; /**< never SAP_AUTO */
    sap_simd simd;           /**< never SAP_SIMD_AUTO on a CPU device */
    int32_t threads;         /**< what a call may use */
    size_t scratch_bytes;    /**< memory kept for the next calls, on the host and on the GPU */
    int32_t ordinal;         /**< which GPU; 0 on a CPU */
    char name[64];           /**< the GPU's or the renderer's, as its maker calls it; "" on a CPU */
    uint64_t reserved[4];    /**< for later versions: zero */
} sap_device_info;

/** Describes an open device. Errors: SAP_ERROR_ARGUMENT (a NULL). */
SAP_API sap_status sap_device_describe(const sap_device* device, sap_device_info* info);

/** How to load a saved tree. All zero is the default for each field; NULL means all defaults. */
typedef struct sap_load_options {
    bool trust;           /**< checks the checksum and the sizes only. For bytes that you saved yourself: searches of a
                             tree that somebody made to harm may read or write anywhere. Default: all is checked */
    uint64_t reserved[4]; /**< for later versions: zero */
} sap_load_options;

#ifdef __cplusplus
}
#endif
#endif
