// Covariances and axes on a GPU: the neighbours of each point are added up as they are found.
#include "cloud/orient.h"
#include "cloud/shapes_cuda.cuh"

// What is made of the neighbours of a point: see cloud/show_cuda.cuh.
template <typename real> struct axes_sink {
    enum { NEEDS_PLACES = true, GOES_AROUND = false, IS_SHORT = false, CHOOSES_NODES = false };
    cloud_near near;
    cloud_notes notes;

    struct state {
        cloud_moments sums;
        sap_symmetric covariance;
        double own[3], scale; // scale: of differences, where squares of doubles would overflow
    };
    __device__ __forceinline__ void begin(state& s, int64_t, const real (&own)[3]) const {
        for (int a = 0; a < 3; a++) s.own[a] = (double)own[a];
        s.scale = 1;
        cloud_clear(&s.sums);
    }
    __device__ __forceinline__ void look(state&, int, real) const {}
    __device__ __forceinline__ void take(state& s, int id, real distance2, const real (&place)[3]) const {
        double d[3];
        for (int a = 0; a < 3; a++) d[a] = ((double)place[a] - s.own[a]) * s.scale;
        cloud_add(&s.sums, d, cloud_weight(near, id, (double)distance2, near.radius));
    }
    __device__ __forceinline__ bool again(state& s) const {
        s.covariance = cloud_covariance(s.sums);
        if (sizeof(real) == 4 || s.scale < 1) return false;
        const double trace = s.covariance.xx + s.covariance.yy + s.covariance.zz;
        if (trace < 1e300) return false;
        s.scale = CLOUD_SMALL_SCALE;
        cloud_clear(&s.sums);
        return true;
    }
    __device__ __forceinline__ void finish(const state& s, int64_t i, int64_t, int found) const {
        cloud_note(notes, i, s.covariance, s.sums.weight, found);
        if (sizeof(real) == 8) notes.values[CLOUD_NOTED_SCALE * notes.room + i] = s.scale;
    }
};

template <typename real>
static __global__ void __launch_bounds__(SHOW_THREADS)
    write_axes(const __grid_constant__ nearest_task<real> task, const __grid_constant__ cloud_views views,
               const __grid_constant__ cloud_notes notes, const __grid_constant__ sap_cloud_axes out) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i >= task.count || *task.tree.bad != INT64_MAX || task.rows[i] < 0) return;
    const int64_t row = task.rows[i];
    real place[3];
    show_place(task, i, row, place);
    const double own[3] = {(double)place[0], (double)place[1], (double)place[2]};
    const double scale = sizeof(real) == 8 ? notes.values[CLOUD_NOTED_SCALE * notes.room + i] : 1;
    cloud_write_shape<real>(out, views, row, own, cloud_noted(notes, i), scale,
                            notes.values[CLOUD_NOTED_WEIGHT * notes.room + i], notes.found[i]);
}

template <typename type>
static type* axes_out(sap_cuda_call* call, const sap_axes_job* job, type* wanted, size_t each) {
    const sap_tree_shape* s = &job->tree->shape;
    const size_t bytes = (size_t)s->source_count * each * sizeof(type);
    type* there = (type*)sap_cuda_out(call, wanted, bytes);
    // Points that are not in the tree have rows of zeros; so have all if the tree turns out not to have been built.
    if (there && (s->count < s->source_count || call->cuda->caller_stream)) sap_cuda_fill(call, there, 0, bytes);
    return there;
}

template <typename real> static void find_axes(sap_cuda_call* call, const sap_axes_job* job) {
    const sap_cloud_axes* wanted = &job->out;
    axes_sink<real> sink;
    sap_cloud_axes out;
    cloud_views views;
    memset((void*)&views, 0, sizeof views);
    sink.near = cloud_near_of(call, job->tree, &job->near);
    if (wanted->normals) views = cloud_views_of(call, job->tree, &job->options);
    out.normals = axes_out(call, job, wanted->normals, 3);
    out.directions = axes_out(call, job, wanted->directions, 3);
    out.covariances = axes_out(call, job, wanted->covariances, 6);
    out.eigenvalues = axes_out(call, job, wanted->eigenvalues, 3);
    out.curvatures = axes_out(call, job, wanted->curvatures, 1);
    out.planarities = axes_out(call, job, wanted->planarities, 1);
    out.linearities = axes_out(call, job, wanted->linearities, 1);
    out.counts = axes_out(call, job, wanted->counts, 1);
    out.kinds = axes_out(call, job, wanted->kinds, 1);
    if (job->tree->shape.count == 0) return;
    const cloud_asking all = {job->tree, sap_cuda_queries_from(call, job->tree, job->tree), job->near.k, false,
                              job->near.limit2};
    const int64_t count = all.queries.count;
    if (call->status != SAP_OK) return;
    sink.notes = cloud_notes_take(call, count, CLOUD_NOTED_MORE);
    const real* points = all.k > 0 ? cloud_points<real>(call, job->tree, all.queries) : NULL;
    for (int64_t first = 0; call->status == SAP_OK && first < count; first += CLOUD_PART) {
        const cloud_asking part = cloud_part_of(all, first);
        cloud_show<real>(call, part, points, sink);
        sap_cuda_launch(call, write_axes<real>, sap_cuda_grid_for(part.queries.count, SHOW_THREADS),
                        show_task_of<real>(part, NULL).nearest, views, sink.notes, out);
    }
}

// Turns normals as those of their neighbours: the host has to have them meanwhile.
static sap_status turn_alike(const sap_tree* tree, const sap_normals_options* options, float* normals) {
    sap_device* device = tree->device;
    const size_t bytes = (size_t)tree->shape.source_count * 3 * sizeof(float);
    sap_scratch here = {NULL, 0};
    sap_cuda_call call;
    sap_cuda_begin(&call, device);
    int64_t bad = INT64_MAX;
    sap_cuda_fetch(&call, &bad, sap_cuda_tree_of(tree)->bad, sizeof bad);
    if (call.status != SAP_OK || bad != INT64_MAX) return sap_cuda_end(&call, SAP_OK); // there are no leaves to be read
    const bool is_apart = sap_cuda_on_device(&call, normals);
    if (is_apart && call.status == SAP_OK && !sap_scratch_take(device, bytes + 1, &here))
        call.status = sap_fail(device, SAP_ERROR_MEMORY, "no memory for %lld normals on the host",
                               (long long)tree->shape.source_count);
    float* const at = is_apart ? (float*)(void*)here.memory : normals;
    if (is_apart) sap_cuda_fetch(&call, at, normals, bytes);
    const sap_orient_job job = {tree, *options, at};
    sap_status status = call.status;
    if (status == SAP_OK) status = sap_orient_alike_apart(&job);
    if (is_apart && status == SAP_OK) sap_cuda_copy(&call, normals, at, bytes);
    call.waits = true; // the host's copy is read
    status = sap_cuda_end(&call, status);
    sap_scratch_give(device, &here);
    return status;
}

sap_status sap_cloud_axes_cuda(const sap_axes_job* job) {
    sap_cuda_call call;
    if (sap_cuda_begin(&call, job->tree->device) == SAP_OK)
        (job->tree->shape.real_bits == 64 ? find_axes<double> : find_axes<float>)(&call, job);
    const sap_status status = sap_cuda_end(&call, SAP_OK);
    if (status != SAP_OK || !job->out.normals || job->options.orient != SAP_ORIENT_CONSISTENT ||
        job->tree->shape.count == 0)
        return status;
    return turn_alike(job->tree, &job->options, job->out.normals);
}

// ---- Normals that one has

template <typename real>
static __global__ void __launch_bounds__(SHOW_THREADS)
    turn_normals(const __grid_constant__ nearest_task<real> task, const __grid_constant__ cloud_views views,
                 float* normals) {
    const int64_t i = (int64_t)blockIdx.x * SHOW_THREADS + threadIdx.x;
    if (i >= task.count || *task.tree.bad != INT64_MAX || task.rows[i] < 0) return;
    const int64_t id = task.rows[i];
    real place[3];
    show_place(task, i, id, place);
    const double own[3] = {(double)place[0], (double)place[1], (double)place[2]};
    float normal[3] = {normals[3 * id], normals[3 * id + 1], normals[3 * id + 2]};
    cloud_turn(views, id, own, normal);
    for (int a = 0; a < 3; a++) normals[3 * id + a] = normal[a];
}

template <typename real>
static void launch_turn(sap_cuda_call* call, const cloud_asking& asking, const cloud_views& views, float* normals) {
    const show_task<real> task = show_task_of<real>(asking, NULL);
    sap_cuda_launch(call, turn_normals<real>, sap_cuda_grid_for(task.nearest.count, SHOW_THREADS), task.nearest, views,
                    normals);
}

sap_status sap_cloud_orient_cuda(const sap_orient_job* job) {
    const sap_tree* tree = job->tree;
    const size_t bytes = (size_t)tree->shape.source_count * 3 * sizeof(float);
    sap_cuda_call call;
    if (tree->shape.count == 0 || job->options.orient == SAP_ORIENT_NONE) return SAP_OK;
    if (job->options.orient == SAP_ORIENT_CONSISTENT) return turn_alike(tree, &job->options, job->normals);
    if (sap_cuda_begin(&call, tree->device) == SAP_OK) {
        float* normals = (float*)sap_cuda_out(&call, job->normals, bytes);
        if (normals != job->normals) sap_cuda_copy(&call, normals, job->normals, bytes);
        const cloud_views views = cloud_views_of(&call, tree, &job->options);
        const cloud_asking asking = {tree, sap_cuda_queries_from(&call, tree, tree), 0, false, 0};
        if (call.status == SAP_OK)
            (tree->shape.real_bits == 64 ? launch_turn<double> : launch_turn<float>)(&call, asking, views, normals);
    }
    return sap_cuda_end(&call, SAP_OK);
}
