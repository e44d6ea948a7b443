// A rank's handle of a communicator, and what the room says through it. Functions here are collective: all ranks call the
// same ones in the same order.
#ifndef SAPWOOD_CLUSTER_COMM_H
#define SAPWOOD_CLUSTER_COMM_H

#include "device/device.h"
#include "sapwood/cluster.h"

struct sap_comm {
    sap_comm_engine engine;
    void* state;
    int32_t rank, size;
    sap_allocator allocator;
    bool of_engine;                      // the handle lies in the engine's memory
    const struct sap_cluster_ops* there; // how that engine copies memory of a device
    sap_status failed;                   // of the engine; else SAP_OK
    sap_comm_info said;
};

// The allocator given, or the heap.
sap_allocator sap_comm_allocator(const sap_allocator* given);

// The engine's functions for host memory. If one fails, all ranks are told to stop. `device` is for the log.
sap_status sap_comm_gather(sap_comm* comm, const sap_device* device, const void* mine, int64_t bytes, void* all);
sap_status sap_comm_exchange(sap_comm* comm, const sap_device* device, const void* send, const int64_t* send_bytes,
                             void* receive, const int64_t* receive_bytes);
sap_status sap_comm_reduce(sap_comm* comm, const sap_device* device, sap_reduction how, uint64_t* values,
                           int64_t count);

// An exchange of buffers in the memory of the device: by the engine if it can, in a stream in which they are ready or once the caller
// has waited for another one, else through the host.
sap_status sap_comm_exchange_there(sap_comm* comm, sap_device* device, void* stream, const void* send,
                                   const int64_t* send_bytes, void* receive, const int64_t* receive_bytes);

// What sap_comm_agree sends. *any: whether that is so on this rank, and becomes whether it is so on any; NULL: nobody asks,
// on all ranks.
sap_status sap_comm_vote(sap_comm* comm, const sap_device* device, sap_status own, const uint64_t* values,
                         int32_t count, bool* any);

enum { SAP_AGREE_MOST = 12 };
// The ranks say how they fared, before any of them goes on. If all of them are well, and `count` values are the same on
// all ranks, SAP_OK; otherwise the same status everywhere: that of the lowest rank that failed, which has logged why.
static inline sap_status sap_comm_agree_any(sap_comm* comm, const sap_device* device, sap_status own,
                                            const uint64_t* values, int32_t count, bool* any) {
    const sap_status all = sap_comm_vote(comm, device, own, values, count, any);
    return all == SAP_OK ? own : all; // the same, unless an engine lost this rank's word
}
static inline sap_status sap_comm_agree(sap_comm* comm, const sap_device* device, sap_status own,
                                        const uint64_t* values, int32_t count) {
    return sap_comm_agree_any(comm, device, own, values, count, NULL);
}

#endif
