#include "device/progress.h"
#include "base/assert.h"
#include "base/threads.h"

enum { REPORTS = 200 };

sap_progress_state sap_progress_begin(const sap_device* device, int64_t total) {
    return (sap_progress_state){.device = device, .total = total, .level = sap_thread_level()};
}

// In the job's own parallel work that is thread 0; the host may call from a parallel region of its own.
static bool on_calling_thread(const sap_progress_state* p) {
    return sap_thread_level() == p->level || sap_thread_number() == 0;
}

bool sap_progress_add(sap_progress_state* p, int64_t amount) {
    SAP_ASSERT(amount >= 0);
    int64_t done = __atomic_add_fetch(&p->done, amount, __ATOMIC_RELAXED);
    if (amount && on_calling_thread(p) && done < p->total && (done - p->reported) * REPORTS >= p->total) {
        p->reported = done;
        if (!sap_progress_report(p->device, (double)done / (double)p->total))
            __atomic_store_n(&p->cancelled, 1, __ATOMIC_RELAXED);
    }
    return !__atomic_load_n(&p->cancelled, __ATOMIC_RELAXED);
}

bool sap_progress_finish(sap_progress_state* p) {
    SAP_ASSERT(sap_thread_level() == p->level);
    if (!p->cancelled && !sap_progress_report(p->device, 1)) p->cancelled = 1;
    return !p->cancelled;
}
