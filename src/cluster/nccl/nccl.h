// NCCL's documented interface in C, as far as the engine uses it, found in the shared library when it is wanted. So neither
// its header nor the library is needed to build Sapwood.
#ifndef SAPWOOD_CLUSTER_NCCL_NCCL_H
#define SAPWOOD_CLUSTER_NCCL_NCCL_H

#include "device/device.h"
#include "sapwood/cluster.h"

// Numbers are NCCL's.
enum { SAP_NCCL_SUCCESS = 0, SAP_NCCL_INVALID_ARGUMENT = 4, SAP_NCCL_INVALID_USAGE = 5, SAP_NCCL_IN_PROGRESS = 7 };
enum { SAP_NCCL_BYTES = 1, SAP_NCCL_UINT64 = 5 };
enum { SAP_NCCL_SUM = 0, SAP_NCCL_MAX = 2, SAP_NCCL_MIN = 3 };
enum { SAP_NCCL_OLDEST = 21400 }; // the first version whose communicators need not block

typedef struct sap_nccl_comm sap_nccl_comm; // ncclComm

// The beginning of ncclConfig_t, as it was in that version. `size` tells NCCL where it ends.
typedef struct sap_nccl_config {
    size_t size;
    unsigned int magic, version;
    int blocking;
} sap_nccl_config;

#define SAP_NCCL_EACH(F)                                                                                               \
    F(int, GetVersion, (int* version))                                                                                 \
    F(int, GetUniqueId, (sap_nccl_id * id))                                                                            \
    F(const char*, GetErrorString, (int result))                                                                       \
    F(int, CommInitRankConfig, (sap_nccl_comm * *comm, int size, sap_nccl_id id, int rank, sap_nccl_config* config))   \
    F(int, CommGetAsyncError, (sap_nccl_comm * comm, int* result))                                                     \
    F(int, CommFinalize, (sap_nccl_comm * comm))                                                                       \
    F(int, CommDestroy, (sap_nccl_comm * comm))                                                                        \
    F(int, CommAbort, (sap_nccl_comm * comm))                                                                          \
    F(int, GroupStart, (void))                                                                                         \
    F(int, GroupEnd, (void))                                                                                           \
    F(int, Send, (const void* buffer, size_t count, int type, int peer, sap_nccl_comm* comm, void* stream))            \
    F(int, Recv, (void* buffer, size_t count, int type, int peer, sap_nccl_comm* comm, void* stream))                  \
    F(int, AllGather, (const void* send, void* receive, size_t count, int type, sap_nccl_comm* comm, void* stream))    \
    F(int, AllReduce,                                                                                                  \
      (const void* send, void* receive, size_t count, int type, int operation, sap_nccl_comm* comm, void* stream))

typedef struct sap_nccl_calls {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration takes none
#define SAP_NCCL_DECLARE(type, name, parameters) type(*name) parameters;
    SAP_NCCL_EACH(SAP_NCCL_DECLARE)
#undef SAP_NCCL_DECLARE
} sap_nccl_calls;

// Finds NCCL. SAP_ERROR_UNSUPPORTED, and a sentence in the device's log, if it is not there, too old, or something else.
sap_status sap_nccl_load(const sap_device* device, const sap_nccl_options* options, sap_nccl_calls* calls);

#endif
