// Fast point feature histograms on a GPU, in the two passes of cloud/global/features_cpu.c: a thread has a point. Both find
// the neighbours anew: lists of them are never made.
#include "cloud/show_cuda.cuh"

extern "C" {
#include "cloud/global/describe.h"
#include "cloud/ops.h"
}

// What both passes read. See cloud/show_cuda.cuh for what a sink is.
typedef struct features_given {
    const float* normals; // [3*source_count]
    float* histograms;    // [SAP_FEATURE_NUMBERS*source_count] each point's own
    float* features;      // the same of the results
    bool is_oriented;
} features_given;

template <typename real> struct features_count_sink {
    enum { NEEDS_PLACES = true, GOES_AROUND = false, IS_SHORT = false, CHOOSES_NODES = false };
    features_given given;

    struct state {
        sap_feature_counts counts;
        double own[3], normal[3];
        int id; // -1: it has no normal, and so no pairs
    };
    __device__ __forceinline__ void begin(state& s, int64_t row, const real (&own)[3]) const {
        memset((void*)&s.counts, 0, sizeof s.counts);
        for (int a = 0; a < 3; a++) s.own[a] = (double)own[a];
        s.id = row >= 0 && sap_feature_normal(given.normals, (int)row, s.normal) ? (int)row : -1;
    }
    __device__ __forceinline__ void look(state&, int, real) const {}
    __device__ __forceinline__ void take(state& s, int id, real, const real (&place)[3]) const {
        double normal[3], along[3];
        if (s.id < 0 || id == s.id || !sap_feature_normal(given.normals, id, normal)) return;
        for (int a = 0; a < 3; a++) along[a] = (double)place[a] - s.own[a];
        sap_feature_count(&s.counts, given.is_oriented, s.normal, normal, along);
    }
    __device__ __forceinline__ bool again(state&) const { return false; }
    __device__ __forceinline__ void finish(const state& s, int64_t, int64_t row, int) const {
        sap_feature_histogram(&s.counts, given.histograms + SAP_FEATURE_NUMBERS * row);
    }
};

template <typename real> struct features_mean_sink {
    enum { NEEDS_PLACES = false, GOES_AROUND = false, IS_SHORT = false, CHOOSES_NODES = false };
    features_given given;

    struct state {
        sap_feature_sums sums;
        double normal[3];
        int id; // -1: it has no normal
    };
    __device__ __forceinline__ void begin(state& s, int64_t row, const real (&)[3]) const {
        memset((void*)&s.sums, 0, sizeof s.sums);
        s.id = row >= 0 && sap_feature_normal(given.normals, (int)row, s.normal) ? (int)row : -1;
    }
    __device__ __forceinline__ void look(state&, int, real) const {}
    __device__ __forceinline__ void take(state& s, int id, real distance2, const real (&)[3]) const {
        double normal[3];
        if (s.id < 0 || id == s.id || !(distance2 > 0) || !sap_feature_normal(given.normals, id, normal)) return;
        sap_feature_add(&s.sums, given.histograms + SAP_FEATURE_NUMBERS * (int64_t)id,
                        !given.is_oriented && sap_feature_dot(s.normal, normal) < 0, (double)distance2);
    }
    __device__ __forceinline__ bool again(state&) const { return false; }
    __device__ __forceinline__ void finish(state& s, int64_t, int64_t row, int) const {
        sap_feature_finish(&s.sums, given.histograms + SAP_FEATURE_NUMBERS * row, given.is_oriented,
                           given.features + SAP_FEATURE_NUMBERS * row);
    }
};

// From rows, not from lists in registers: a sink with so many numbers leaves no registers to a list.
template <typename real, typename sink>
static void features_show(sap_cuda_call* call, const cloud_asking& asking, const real* points, const sink& to) {
    if (asking.k > 0)
        show_by_rows<real>(call, asking, show_task_of<real>(asking, points), to);
    else
        cloud_show_ball<real>(call, asking, to);
}

template <typename real>
static void find_features(sap_cuda_call* call, const sap_features_job* job, const features_given& given) {
    const cloud_asking asking = {job->tree, sap_cuda_queries_from(call, job->tree, job->tree), job->near.k, true,
                                 job->near.limit2};
    if (call->status != SAP_OK) return;
    const real* points = asking.k > 0 ? cloud_points<real>(call, job->tree, asking.queries) : NULL;
    if (call->status != SAP_OK) return;
    const features_count_sink<real> count = {given};
    const features_mean_sink<real> mean = {given};
    features_show<real>(call, asking, points, count);
    features_show<real>(call, asking, points, mean);
}

sap_status sap_cloud_features_cuda(const sap_features_job* job) {
    const sap_tree* tree = job->tree;
    const size_t n = (size_t)tree->shape.source_count, bytes = n * SAP_FEATURE_NUMBERS * sizeof(float);
    sap_cuda_call call;
    sap_status status = SAP_OK;
    if (n == 0) return SAP_OK;
    if (sap_cuda_begin(&call, tree->device) == SAP_OK) {
        features_given given = {NULL, (float*)sap_cuda_take(&call, bytes),
                                (float*)sap_cuda_out(&call, job->features, bytes), job->options.is_oriented};
        sap_cuda_fill(&call, given.histograms, 0, bytes);
        sap_cuda_fill(&call, given.features, 0, bytes); // points that are not in the tree have none
        if (job->options.normals) {
            given.normals = (const float*)sap_cuda_in(&call, job->options.normals, 3 * n * sizeof(float));
        } else if (tree->shape.count) {
            float* normals = (float*)sap_cuda_take(&call, 3 * n * sizeof(float));
            if (call.status == SAP_OK) status = sap_cloud_normals(tree, NULL, normals, NULL);
            given.normals = normals;
        }
        if (call.status == SAP_OK && status == SAP_OK && tree->shape.count)
            (tree->shape.real_bits == 64 ? find_features<double> : find_features<float>)(&call, job, given);
    }
    return sap_cuda_end(&call, status);
}
