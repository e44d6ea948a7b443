// Sums over the neighbours of queries, written as they are.
#include "cloud/moments_simd.h"

// How many products of pairs of axes there are, and which, in the order in which they are written.
INLINE void write_products(const moments* m, int32_t dims, double* to) {
    to[0] = m->squares[0];
    if (dims == 2) to[1] = m->products[0], to[2] = m->squares[1];
    if (dims == 3) {
        to[1] = m->products[0], to[2] = m->products[2], to[3] = m->squares[1];
        to[4] = m->products[1], to[5] = m->squares[2];
    }
}

static void gather_moments(const sap_gather_job* job, const real* points, const sap_cloud_rows* rows, int64_t i,
                           const bool weighted) {
    const int32_t dims = job->tree->shape.dims;
    const int64_t row = rows->ids[i];
    const sap_gathered* out = &job->out;
    double at[4] = {0, 0, 0, 0};
    four own;
    moments m;
    for (int32_t a = 0; a < dims; a++) at[a] = (double)((const real*)rows->coords)[i * dims + a];
    memcpy(&own, at, sizeof own);
    add_moments(&job->near, points, rows, i, &own, weighted, 1, &m);
    if (out->weights) out->weights[row] = m.weight;
    for (int32_t a = 0; out->offsets && a < dims; a++) out->offsets[row * dims + a] = m.first[a];
    if (out->products) write_products(&m, dims, out->products + row * (dims * (dims + 1) / 2));
}

static void gather_attributes(const sap_gather_job* job, const sap_cloud_rows* rows, int64_t i, const bool weighted) {
    const int32_t width = job->attribute_count;
    const int32_t* ids = rows->neighbors + rows->starts[i];
    const real* distance2 = (const real*)rows->distance2 + rows->starts[i];
    double* sums = job->out.attributes + (int64_t)rows->ids[i] * width;
    for (int64_t j = 0; j < rows->found[i]; j++) {
        const double w = weighted ? weight_of(&job->near, ids[j], (double)distance2[j]) : 1;
        const float* values = job->attributes + (int64_t)ids[j] * width;
        for (int32_t a = 0; a < width; a++) sums[a] += w * (double)values[a];
    }
}

static void gather(const sap_gather_job* job, const void* points, const sap_cloud_rows* rows) {
    const bool weighted = is_weighted(&job->near);
    const sap_gathered* out = &job->out;
    for (int64_t i = 0; i < rows->count; i++) {
        if (out->counts) out->counts[rows->ids[i]] = (int32_t)rows->found[i];
        if (!rows->neighbors) continue;
        if (out->weights || out->offsets || out->products) gather_moments(job, points, rows, i, weighted);
        if (out->attributes) gather_attributes(job, rows, i, weighted);
    }
}

const sap_gather_kernels SAP_KERNEL(gather_kernels) = {gather};
