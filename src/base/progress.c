#include "base/progress.h"
#if defined(_OPENMP)
#include <omp.h>
#endif

enum { REPORTS = 200 };

static bool on_calling_thread(void) {
#if defined(_OPENMP)
    return omp_get_thread_num() == 0;
#else
    return true;
#endif
}

bool sap_progress_add(sap_progress_state* p, int64_t amount) {
    int64_t done = __atomic_add_fetch(&p->done, amount, __ATOMIC_RELAXED);
    if (amount && on_calling_thread() && done < p->total && (done - p->reported) * REPORTS >= p->total) {
        p->reported = done;
        if (!sap_progress_report(p->device, (double)done / (double)p->total))
            __atomic_store_n(&p->cancelled, 1, __ATOMIC_RELAXED);
    }
    return !__atomic_load_n(&p->cancelled, __ATOMIC_RELAXED);
}

bool sap_progress_finish(sap_progress_state* p) {
    if (!p->cancelled && !sap_progress_report(p->device, 1)) p->cancelled = 1;
    return !p->cancelled;
}
