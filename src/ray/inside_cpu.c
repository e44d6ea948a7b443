// Whether points lie inside a closed mesh, on the CPU: threads take queries in short runs.
#include "device/progress.h"
#include "ray/walk_cpu.h"

#include "ray/inside.h"

enum { RUN = 256 };

sap_status sap_inside_cpu(const sap_mesh_tree* tree, const sap_inside_job* job) {
    sap_progress_state progress = sap_progress_begin(tree->device, job->points.count);
    const float* points = job->points.coords;
    const int64_t count = job->points.count, stride = job->points.stride, runs = (count + RUN - 1) / RUN;
    float magnitude = sap_mesh_magnitude(tree);
#pragma omp parallel for num_threads(tree->device->options.threads) schedule(dynamic) if (runs > 1)
    for (int64_t run = 0; run < runs; run++) {
        if (!sap_progress_add(&progress, 0)) continue;
        int64_t first = run * RUN, end = first + RUN < count ? first + RUN : count;
        for (int64_t i = first; i < end; i++)
            job->inside[i] = sap_is_inside(tree, sap_vector_of(points + stride * i), magnitude);
        sap_progress_add(&progress, end - first);
    }
    // Calls with few points report no progress.
    if (count > RUN && !sap_progress_finish(&progress))
        return sap_fail(tree->device, SAP_ERROR_CANCELLED, "the search was cancelled");
    return SAP_OK;
}
