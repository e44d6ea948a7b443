// Communicators whose ranks are threads of a test: the engine of threads, or, where RANKS_BY_NCCL is defined, NCCL on a GPU
// for each rank. Where the CPU plays GPUs, its stand-in for NCCL (tests/nccl_on_cpu) plays, too.
#ifndef SAPWOOD_TESTS_ENGINES_H
#define SAPWOOD_TESTS_ENGINES_H

#include "cluster/comm.h"
#include "test.h"
#include <pthread.h>

#if defined(RANKS_BY_NCCL)
#include "cuda_tools.h"
#if defined(SAP_EMULATED)
#include "nccl_on_cpu/nccl_on_cpu.h"
#include <dlfcn.h>
static const char* const nccl_library = NCCL_ON_CPU_LIBRARY;
enum { FEW_RANKS = 3, SLOW_TO_OPEN = 0 };
#else
static const char* const nccl_library = NULL;
enum { FEW_RANKS = 2, SLOW_TO_OPEN = 1 }; // a communicator takes NCCL a second
#endif

typedef struct opened_rank {
    pthread_t thread;
    sap_device* device;
    sap_nccl_id id;
    int32_t rank, size;
    sap_comm* comm;
} opened_rank;

enum { MOST_OPENED = 16 };
static opened_rank opened_ranks[MOST_OPENED]; // of the communicator that is open

static inline sap_nccl_options nccl_options(void) {
    return (sap_nccl_options){.library = nccl_library, .patience = 60};
}

#if defined(SAP_EMULATED)
static nccl_on_cpu_state* nccl_stand_in(void) {
    nccl_on_cpu_function* find = NULL;
    void* address = dlsym(dlopen(nccl_library, RTLD_NOW | RTLD_LOCAL), "nccl_on_cpu");
    memcpy(&find, &address, sizeof find);
    return find();
}
#endif

// How many ranks there can be; fewer than two: there are not so many GPUs, or there is no NCCL.
static inline int32_t most_ranks(void) {
    static int32_t found = -1;
    if (found >= 0) return found;
    const sap_device_options options = {.processor = SAP_CUDA};
    const sap_nccl_options where = nccl_options();
    sap_device* device = NULL;
    sap_nccl_id id;
    found = cuda_tools_gpus(2);
    if (found > MOST_OPENED) found = MOST_OPENED;
    if (!found || sap_device_open(&options, &device) != SAP_OK || sap_comm_nccl_id(device, &where, &id) != SAP_OK)
        found = 0;
    sap_device_close(device);
#if defined(SAP_EMULATED) // whose stand-in lets ranks share a GPU
    nccl_stand_in()->lies_on = cuda_tools_lies_on;
    if (found) found = MOST_OPENED;
#endif
    return found;
}

static inline void* open_rank(void* argument) {
    opened_rank* r = argument;
    const sap_nccl_options where = nccl_options();
    CHECK_STATUS(sap_comm_open_nccl(r->device, &r->id, r->rank, r->size, &where, &r->comm), SAP_OK);
    return NULL;
}

// False if there are not so many GPUs.
static inline bool open_ranks(int32_t size, sap_comm** comms) {
    const sap_nccl_options where = nccl_options();
    sap_nccl_id id;
    bool opened = true;
    if (size > most_ranks()) return false;
    const int gpus = cuda_tools_gpus(2);
    for (int32_t r = 0; r < size; r++) {
        const sap_device_options options = {.processor = SAP_CUDA, .ordinal = r % gpus};
        if (!CHECK_STATUS(sap_device_open(&options, &opened_ranks[r].device), SAP_OK)) return false;
        if (!r && !CHECK_STATUS(sap_comm_nccl_id(opened_ranks[0].device, &where, &id), SAP_OK)) return false;
        opened_ranks[r] = (opened_rank){.device = opened_ranks[r].device, .id = id, .rank = r, .size = size};
        CHECK(!pthread_create(&opened_ranks[r].thread, NULL, open_rank, &opened_ranks[r]));
    }
    for (int32_t r = 0; r < size; r++) pthread_join(opened_ranks[r].thread, NULL);
    for (int32_t r = 0; r < size; r++) opened = opened && opened_ranks[r].comm;
    for (int32_t r = 0; r < size; r++) comms[r] = opened_ranks[r].comm;
    return CHECK(opened);
}

static inline void* close_rank(void* comm) {
    sap_comm_close(comm);
    return NULL;
}

// Closes handles of the communicator that was opened last, or of others over them.
static inline void close_ranks(int32_t size, sap_comm** comms) {
    for (int32_t r = 0; r < size; r++) CHECK(!pthread_create(&opened_ranks[r].thread, NULL, close_rank, comms[r]));
    for (int32_t r = 0; r < size; r++) pthread_join(opened_ranks[r].thread, NULL);
    for (int32_t r = 0; r < size; r++) sap_device_close(opened_ranks[r].device);
#if defined(SAP_EMULATED)
    CHECK_EQUAL(nccl_stand_in()->comms, 0);
#endif
}

#define NEEDS_RANKS                                                                                                    \
    if (most_ranks() < 2) SKIP("there are not two GPUs, or there is no NCCL")

#else

enum { FEW_RANKS = 3, SLOW_TO_OPEN = 0 };

#if defined(SAP_HAVE_THREADS)
#define NEEDS_RANKS
#else
#define NEEDS_RANKS SKIP("built without threads: there is one rank")
#endif

static inline int32_t most_ranks(void) { return 1024; }

static inline bool open_ranks(int32_t size, sap_comm** comms) {
    return CHECK_STATUS(sap_comm_open_threads(size, NULL, comms), SAP_OK);
}

static inline void close_ranks(int32_t size, sap_comm** comms) {
    for (int32_t r = 0; r < size; r++) sap_comm_close(comms[r]);
}

#endif

// The next fault to try, each of them or ever fewer.
static inline int64_t next_fault(int64_t n) { return SLOW_TO_OPEN ? n + 1 + n / 2 : n + 1; }

#endif
