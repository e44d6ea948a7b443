#include "device/progress.h"
#include "base/assert.h"

enum { REPORTS = 200 };

static _Thread_local char this_thread; // whose address is another in every thread

sap_progress_state sap_progress_begin(const sap_device* device, int64_t total) {
    return (sap_progress_state){.device = device, .total = total, .caller = &this_thread};
}

bool sap_progress_add(sap_progress_state* p, int64_t amount) {
    SAP_ASSERT(amount >= 0);
    int64_t done = __atomic_add_fetch(&p->done, amount, __ATOMIC_RELAXED);
    // Only the calling thread may look at what it has reported.
    const bool due =
        amount && p->caller == &this_thread && done < p->total && (done - p->reported) * REPORTS >= p->total;
    if (due && !__atomic_load_n(&p->cancelled, __ATOMIC_RELAXED)) {
        p->reported = done;
        if (!sap_progress_report(p->device, (double)done / (double)p->total))
            __atomic_store_n(&p->cancelled, 1, __ATOMIC_RELAXED);
    }
    return !__atomic_load_n(&p->cancelled, __ATOMIC_RELAXED);
}

bool sap_progress_poll(sap_progress_state* p) {
    const int64_t done = __atomic_load_n(&p->done, __ATOMIC_RELAXED);
    if (p->caller == &this_thread && !__atomic_load_n(&p->cancelled, __ATOMIC_RELAXED) &&
        !sap_progress_report(p->device, (double)done / (double)p->total))
        __atomic_store_n(&p->cancelled, 1, __ATOMIC_RELAXED);
    return !__atomic_load_n(&p->cancelled, __ATOMIC_RELAXED);
}

bool sap_progress_finish(sap_progress_state* p) {
    SAP_ASSERT(p->caller == &this_thread);
    if (!p->cancelled && !sap_progress_report(p->device, 1)) p->cancelled = 1;
    return !p->cancelled;
}
