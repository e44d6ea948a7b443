// Progress of a call that several threads work on.
#ifndef SAPWOOD_DEVICE_PROGRESS_H
#define SAPWOOD_DEVICE_PROGRESS_H

#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sap_progress_state {
    const sap_device* device;
    int64_t total, done, reported;
    int cancelled;
    const void* caller; // stands for the calling thread
} sap_progress_state;

// To be called by the thread that the host called.
sap_progress_state sap_progress_begin(const sap_device* device, int64_t total);
// Any thread adds `amount` to what is done; the calling thread of the job reports it now and then. False once the host
// asked to stop.
bool sap_progress_add(sap_progress_state* progress, int64_t amount);
// In the midst of long work: the calling thread reports what is done, which may be what it reported before, so that the
// host can ask to stop. False once it did.
bool sap_progress_poll(sap_progress_state* progress);
// The calling thread reports that all is done. False if the host asked to stop, now or before.
bool sap_progress_finish(sap_progress_state* progress);

#ifdef __cplusplus
}
#endif
#endif
