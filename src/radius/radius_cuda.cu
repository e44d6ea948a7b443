// The radius search on a CUDA device: which kernel, over which queries.
#include "radius/hits_cuda.h"
#include "radius/radius_kernels_cuda.cuh"

typedef struct radius_search {
    sap_hits_cuda hits; // first: passes are handed this member
    const sap_radius_job* job;
    bool is_told; // then one of these:
    sap_cuda_told<float> told;
    sap_cuda_told<double> told_f64;
} radius_search;

// ---- Passes

template <typename real, int dims> static void run_plain(radius_search* r, bool collect) {
    sap_hits_cuda* h = &r->hits;
    sap_radius_launch<real, dims, SAP_RADIUS_PLAIN>(&h->call, h->tree, h->pass, sap_radius_no_more(), collect);
}

template <typename real, int dims, int measure>
static void run_by(radius_search* r, const sap_cuda_told<real>& told, bool collect) {
    sap_hits_cuda* h = &r->hits;
    sap_radius_launch<real, dims, measure>(&h->call, h->tree, h->pass, told, collect);
}

static void run_told_f32(radius_search* r, bool collect) {
    const sap_cuda_told<float>& told = r->told;
    const int32_t dims = r->hits.tree->shape.dims;
    if (dims == 3) {
        switch (told.measure) {
        case SAP_CUDA_L2: run_by<float, 3, SAP_CUDA_L2>(r, told, collect); return;
        case SAP_CUDA_L1: run_by<float, 3, SAP_CUDA_L1>(r, told, collect); return;
        case SAP_CUDA_LINF: run_by<float, 3, SAP_CUDA_LINF>(r, told, collect); return;
        case SAP_CUDA_AROUND: run_by<float, 3, SAP_CUDA_AROUND>(r, told, collect); return;
        default: run_by<float, 3, SAP_CUDA_ANY>(r, told, collect); return;
        }
    }
    if (dims == 2 && told.measure == SAP_CUDA_L2)
        run_by<float, 2, SAP_CUDA_L2>(r, told, collect);
    else if (dims == 2 && told.measure == SAP_CUDA_AROUND)
        run_by<float, 2, SAP_CUDA_AROUND>(r, told, collect);
    else
        run_by<float, 0, SAP_CUDA_ANY>(r, told, collect);
}

static void run_told_f64(radius_search* r, bool collect) {
    if (r->hits.tree->shape.dims == 3 && r->told_f64.measure == SAP_CUDA_AROUND)
        run_by<double, 3, SAP_CUDA_AROUND>(r, r->told_f64, collect);
    else
        run_by<double, 0, SAP_CUDA_ANY>(r, r->told_f64, collect);
}

static void run_pass(sap_hits_cuda* hits, bool collect) {
    radius_search* r = (radius_search*)(void*)hits;
    const sap_tree_shape* shape = &hits->tree->shape;
    const bool is_wide = shape->real_bits == 64;
    if (r->is_told) {
        (is_wide ? run_told_f64 : run_told_f32)(r, collect);
    } else if (is_wide) {
        (shape->dims == 3 ? run_plain<double, 3> : run_plain<double, 0>)(r, collect);
    } else {
        switch (shape->dims) {
        case 2: run_plain<float, 2>(r, collect); break;
        case 3: run_plain<float, 3>(r, collect); break;
        case 4: run_plain<float, 4>(r, collect); break;
        case 8: run_plain<float, 8>(r, collect); break;
        default: run_plain<float, 0>(r, collect); break;
        }
    }
}

// Sets up the queries and what both passes share.
static void prepare(radius_search* r) {
    sap_hits_cuda* h = &r->hits;
    const sap_tree* tree = h->tree;
    const sap_tree_shape* shape = &tree->shape;
    const sap_cuda_tree* beside = sap_cuda_tree_of(tree);
    sap_radius_pass* pass = &h->pass;
    h->last = &h->call.cuda->radius_hits;
    if (shape->count == 0 || pass->all_rows == 0) return; // no query is answered
    sap_cuda_queries queries;
    const sap_tree* from = pass->self ? tree : r->job->from;
    if (from)
        queries = sap_cuda_queries_from(&h->call, from, tree);
    else {
        const sap_rows rows = sap_cuda_rows_within(&h->call, tree, &r->job->queries);
        queries = sap_cuda_queries_order(&h->call, tree, &rows, false);
    }
    pass->queries = queries.coords;
    pass->rows = queries.rows;
    pass->by_row = queries.by_row;
    pass->count = queries.count;
    pass->stride = queries.stride;
    r->is_told = r->job->told || sap_is_periodic(&tree->options);
    if (r->is_told && shape->real_bits == 64)
        r->told_f64 = sap_cuda_told_of<double>(&h->call, tree, r->job->told, r->job->queries.count);
    else if (r->is_told)
        r->told = sap_cuda_told_of<float>(&h->call, tree, r->job->told, r->job->queries.count);
    pass->boxes = beside->boxes;
    pass->bad = beside->bad;
    sap_radius_spread(&h->call, shape, pass);
}

sap_status sap_radius_cuda(const sap_tree* tree, const sap_radius_job* job) {
    radius_search r = {};
    sap_hits_cuda* h = &r.hits;
    r.job = job;
    h->tree = tree;
    h->run = run_pass;
    h->has_distance2 = true;
    h->counts_all = !job->self && !job->from && tree->shape.count > 0;
    h->pass.limit2 = job->limit2;
    h->pass.self = job->self;
    h->pass.all_rows = job->queries.count;
    h->pass.share = 1;
    if (sap_cuda_begin(&h->call, tree->device) == SAP_OK) prepare(&r);
    if (job->into) return sap_hits_collect_into_cuda(h, job->into);
    if (!job->found) return sap_hits_count_cuda(h, job->counts);
    h->on_device =
        job->self || job->from ? h->call.cuda->caller_stream : sap_cuda_on_device(&h->call, job->queries.coords);
    return sap_hits_collect_cuda(h, job->found);
}
