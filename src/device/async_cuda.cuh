// Copies from global to shared memory that nobody waits for until it says so. A lane may read what it copied itself;
// before another lane reads it, the warp or the block must meet. GPUs before compute capability 8.0 copy at once.
#ifndef SAPWOOD_DEVICE_ASYNC_CUDA_CUH
#define SAPWOOD_DEVICE_ASYNC_CUDA_CUH

#include "base/assert.h"
#include "device/cuda.h"

#ifdef SAP_CUDA_ON_CPU
#define SAP_COPY_ASYNC(to, from, bytes)                                                                                \
    (SAP_ASSERT(((uintptr_t)(to) | (uintptr_t)(from)) % (bytes) == 0), (void)memcpy(to, from, bytes))
#define SAP_COPY_COMMIT()     ((void)0)
#define SAP_COPY_WAIT(groups) ((void)0)
#else
#include <cuda_pipeline.h>
#define SAP_COPY_ASYNC(to, from, bytes) __pipeline_memcpy_async(to, from, bytes) // 4, 8 or 16 bytes
#define SAP_COPY_COMMIT()               __pipeline_commit()                      // what was copied since is a group
#define SAP_COPY_WAIT(groups)           __pipeline_wait_prior(groups)            // until only so many are under way
#endif

#endif
