// Which of the points given a tree is built over: those that its options do not drop.
#include "base/team.h"
#include "tree/layout.h"
#include <math.h>

enum { GRAIN = 4096 }; // rows that are worth a thread

typedef struct counting {
    const sap_rows* rows;
    int64_t not_finite;
} counting;

static bool is_finite(const sap_rows* rows, int64_t row) {
    const int64_t first = row * rows->stride;
    for (int32_t a = 0; a < rows->dims; a++)
        if (!(rows->real_bits == 64 ? isfinite(((const double*)rows->coords)[first + a])
                                    : isfinite(((const float*)rows->coords)[first + a])))
            return false;
    return true;
}

static void count_range(void* context, int64_t from, int64_t to, int32_t worker) {
    counting* c = context;
    int64_t found = 0;
    (void)worker;
    for (int64_t i = from; i < to; i++) found += !is_finite(c->rows, i);
    if (found) __atomic_fetch_add(&c->not_finite, found, __ATOMIC_RELAXED);
}

// Leaves out of `keep` what is not finite, and returns how many rows stay.
static int64_t keep_finite(const sap_rows* rows, int32_t* keep, int64_t count) {
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        const int32_t row = keep[i];
        if (is_finite(rows, row)) keep[kept++] = row;
    }
    return kept;
}

sap_status sap_kept_find_cpu(const sap_tree* tree, const sap_rows* points, sap_kept* kept) {
    sap_device* device = tree->device;
    const bool duplicates = tree->options.drop_duplicates;
    counting c = {points, 0};
    if (tree->options.drop_nonfinite) sap_team_loop(device->options.threads, points->count, GRAIN, count_range, &c);
    *kept = (sap_kept){.count = points->count, .not_finite = c.not_finite};
    if (!duplicates && !c.not_finite) return SAP_OK;
    if (!sap_scratch_take(device, (size_t)points->count * sizeof(int32_t) + 1, &kept->scratch))
        return sap_fail(device, SAP_ERROR_MEMORY, "no memory to choose among %lld points", (long long)points->count);
    int32_t* keep = (int32_t*)(void*)kept->scratch.memory;
    kept->rows = keep;
    for (int64_t i = 0; !duplicates && i < points->count; i++) keep[i] = (int32_t)i;
    const sap_status status = duplicates ? sap_duplicates_cpu(device, points, keep, &kept->count) : SAP_OK;
    if (status == SAP_OK && c.not_finite) kept->count = keep_finite(points, keep, kept->count);
    return status;
}
