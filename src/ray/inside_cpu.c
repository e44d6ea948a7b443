// Whether points lie inside a closed mesh, on the CPU: threads take queries in short runs.
#include "base/team.h"
#include "device/progress.h"
#include "ray/walk_cpu.h"

#include "ray/inside.h"

enum { RUN = 256 };

typedef struct inside_call {
    const sap_mesh_tree* tree;
    const sap_inside_job* job;
    float magnitude;
    sap_progress_state progress;
} inside_call;

static void answer_range(void* context, int64_t from, int64_t to, int32_t worker) {
    inside_call* call = context;
    const float* points = call->job->points.coords;
    const int64_t stride = call->job->points.stride;
    (void)worker;
    if (!sap_progress_add(&call->progress, 0)) return;
    for (int64_t i = from; i < to; i++)
        call->job->inside[i] = sap_is_inside(call->tree, sap_vector_of(points + stride * i), call->magnitude);
    sap_progress_add(&call->progress, to - from);
}

sap_status sap_inside_cpu(const sap_mesh_tree* tree, const sap_inside_job* job) {
    const int64_t count = job->points.count;
    inside_call call = {tree, job, sap_mesh_magnitude(tree), sap_progress_begin(tree->device, count)};
    sap_team_loop(tree->device->options.threads, count, RUN, answer_range, &call);
    // Calls with few points report no progress.
    if (count > RUN && !sap_progress_finish(&call.progress))
        return sap_fail(tree->device, SAP_ERROR_CANCELLED, "the search was cancelled");
    return SAP_OK;
}
