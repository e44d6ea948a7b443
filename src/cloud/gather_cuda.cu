// Sums over neighbours on a GPU: each query's are added up as they are found.
#include "cloud/moments_cuda.cuh"
#include "cloud/show_cuda.cuh"

// What is made of the neighbours of a query: see cloud/show_cuda.cuh. Sums of attributes grow where they will stay.
template <typename real> struct gather_sink {
    enum { NEEDS_PLACES = true, GOES_AROUND = false, IS_SHORT = false, CHOOSES_NODES = false };
    cloud_near near;
    int dims, attribute_count;
    const float* attributes;
    sap_gathered out; // on the GPU

    struct state {
        cloud_moments sums;
        double own[3];
        double* attributes;
    };
    __device__ __forceinline__ void begin(state& s, int64_t row, const real (&own)[3]) const {
        for (int a = 0; a < 3; a++) s.own[a] = (double)own[a];
        s.attributes = out.attributes && row >= 0 ? out.attributes + row * attribute_count : NULL;
        cloud_clear(&s.sums);
    }
    __device__ __forceinline__ void look(state&, int, real) const {}
    __device__ __forceinline__ void take(state& s, int id, real distance2, const real (&place)[3]) const {
        const double weight = cloud_weight(near, id, (double)distance2, near.radius);
        double d[3];
        for (int a = 0; a < 3; a++) d[a] = (double)place[a] - s.own[a];
        cloud_add(&s.sums, d, weight);
        if (!s.attributes) return;
        const float* values = attributes + (int64_t)id * attribute_count;
        for (int a = 0; a < attribute_count; a++) s.attributes[a] += weight * (double)values[a];
    }
    __device__ __forceinline__ bool again(state&) const { return false; }
    __device__ __forceinline__ void finish(const state& s, int64_t, int64_t row, int found) const {
        const cloud_moments& m = s.sums;
        if (out.counts) out.counts[row] = found;
        if (out.weights) out.weights[row] = m.weight;
        for (int a = 0; out.offsets && a < 3; a++)
            if (a < dims) out.offsets[row * dims + a] = m.first[a];
        if (!out.products) return;
        double* to = out.products + row * (dims * (dims + 1) / 2);
        to[0] = m.squares[0];
        if (dims == 2) to[1] = m.products[0], to[2] = m.squares[1];
        if (dims == 3) {
            to[1] = m.products[0], to[2] = m.products[2], to[3] = m.squares[1];
            to[4] = m.products[1], to[5] = m.squares[2];
        }
    }
};

// Queries that have no neighbours, and points that are not in the tree, have sums of 0.
template <typename type> static type* gather_out(sap_cuda_call* call, type* wanted, int64_t rows, int64_t each) {
    const size_t bytes = (size_t)rows * (size_t)each * sizeof(type);
    type* there = (type*)sap_cuda_out(call, wanted, bytes);
    if (there) sap_cuda_fill(call, there, 0, bytes);
    return there;
}

template <typename real> static void gather_sums(sap_cuda_call* call, const sap_gather_job* job) {
    const sap_tree* tree = job->tree;
    const sap_tree_shape* s = &tree->shape;
    const sap_gathered* out = &job->out;
    const int64_t rows = job->queries ? job->queries->count : s->source_count;
    gather_sink<real> sink;
    memset((void*)&sink, 0, sizeof sink);
    sink.dims = s->dims;
    sink.out.counts = gather_out(call, out->counts, rows, 1);
    sink.out.weights = gather_out(call, out->weights, rows, 1);
    sink.out.offsets = gather_out(call, out->offsets, rows, s->dims);
    sink.out.products = gather_out(call, out->products, rows, s->dims * (s->dims + 1) / 2);
    if (rows == 0 || s->count == 0) {
        gather_out(call, out->attributes, rows, job->attribute_count);
        return;
    }
    sink.near = cloud_near_of(call, tree, &job->near);
    if (out->attributes) {
        const size_t bytes = (size_t)s->source_count * (size_t)job->attribute_count * sizeof(float);
        sink.attribute_count = job->attribute_count;
        sink.attributes = (const float*)sap_cuda_in(call, job->attributes, bytes);
        sink.out.attributes = gather_out(call, out->attributes, rows, job->attribute_count);
    }
    cloud_asking asking = {tree, {}, job->near.k, false, job->near.limit2};
    sap_cuda_queries own = {};
    if (!job->queries || asking.k > 0) own = sap_cuda_queries_from(call, tree, tree);
    if (job->queries) {
        const sap_rows there = sap_cuda_rows_in(call, job->queries);
        asking.queries = sap_cuda_queries_order(call, tree, &there, false);
    } else {
        asking.queries = own;
    }
    if (call->status != SAP_OK) return;
    cloud_show<real>(call, asking, asking.k > 0 ? cloud_points<real>(call, tree, own) : NULL, sink);
}

sap_status sap_cloud_gather_cuda(const sap_gather_job* job) {
    sap_cuda_call call;
    if (sap_cuda_begin(&call, job->tree->device) == SAP_OK)
        (job->tree->shape.real_bits == 64 ? gather_sums<double> : gather_sums<float>)(&call, job);
    return sap_cuda_end(&call, SAP_OK);
}
