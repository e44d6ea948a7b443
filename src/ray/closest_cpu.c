// Nearest points on a mesh on the CPU: threads take queries in short runs.
#include "device/progress.h"
#include "ray/walk_cpu.h"

enum { RUN = 256 };

static sap_closest closest_to(const sap_mesh_tree* tree, const float* point) {
    const float infinite = __builtin_inff();
    sap_vector query = sap_vector_of(point);
    if (!sap_is_finite(query) || !tree->shape.triangles)
        return (sap_closest){{point[0], point[1], point[2]}, infinite, 0, 0, -1};
    sap_near_point best = sap_mesh_nearest(tree, query, sap_mesh_lower(tree), sap_mesh_upper(tree), infinite);
    return (sap_closest){{best.point.x, best.point.y, best.point.z}, best.distance2, best.u, best.v, best.triangle};
}

sap_status sap_closest_point_cpu(const sap_mesh_tree* tree, const sap_closest_job* job) {
    sap_progress_state progress = sap_progress_begin(tree->device, job->points.count);
    const float* points = job->points.coords;
    const int64_t count = job->points.count, stride = job->points.stride, runs = (count + RUN - 1) / RUN;
#pragma omp parallel for num_threads(tree->device->options.threads) schedule(dynamic) if (runs > 1)
    for (int64_t run = 0; run < runs; run++) {
        if (!sap_progress_add(&progress, 0)) continue;
        int64_t first = run * RUN, end = first + RUN < count ? first + RUN : count;
        for (int64_t i = first; i < end; i++) job->closest[i] = closest_to(tree, points + stride * i);
        sap_progress_add(&progress, end - first);
    }
    // Calls with few points report no progress.
    if (count > RUN && !sap_progress_finish(&progress))
        return sap_fail(tree->device, SAP_ERROR_CANCELLED, "the search was cancelled");
    return SAP_OK;
}
