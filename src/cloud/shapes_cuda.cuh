// What the sums over the neighbours of a point say of it, on a GPU: siblings of what cloud/sums_simd.c and
// cloud/orient_cpu.c do with batches of points, a point a thread.
#ifndef SAPWOOD_CLOUD_SHAPES_CUDA_CUH
#define SAPWOOD_CLOUD_SHAPES_CUDA_CUH

#include "cloud/moments_cuda.cuh"
#include "cloud/show_cuda.cuh"

// ---- What walks leave to kernels of their own

// A walk needs its registers for what it has found, and what makes axes needs all of them for itself. So sums over
// neighbours are noted, for a part of the points at a time.
#ifdef SAP_CUDA_ON_CPU // little, so that tests need several parts
enum { CLOUD_PART = 256 };
#else
enum { CLOUD_PART = 1 << 21 };
#endif

// Number j of the part's point i is values[j * room + i].
typedef struct cloud_notes {
    double* values;
    int32_t* found;
    int64_t room;
} cloud_notes;

static cloud_notes cloud_notes_take(sap_cuda_call* call, int64_t points, int numbers) {
    const int64_t room = points < CLOUD_PART ? points : CLOUD_PART;
    const cloud_notes notes = {(double*)sap_cuda_take(call, (size_t)room * (size_t)numbers * sizeof(double)),
                               (int32_t*)sap_cuda_take(call, (size_t)room * sizeof(int32_t)), room};
    return notes;
}

// The part of a tree's own points that begins with `first`.
static cloud_asking cloud_part_of(const cloud_asking& all, int64_t first) {
    cloud_asking part = all;
    const int64_t left = all.queries.count - first, size = all.tree->shape.real_bits / 8;
    SAP_ASSERT(all.queries.rows);
    part.queries.count = left < CLOUD_PART ? left : CLOUD_PART;
    part.queries.rows += first;
    if (!all.queries.by_row)
        part.queries.coords = (const unsigned char*)all.queries.coords + first * all.queries.stride * size;
    return part;
}

enum { CLOUD_NOTED_WEIGHT = 6, CLOUD_NOTED_SCALE, CLOUD_NOTED_MORE };

static __device__ __forceinline__ void cloud_note(const cloud_notes& n, int64_t i, const sap_symmetric& c,
                                                  double weight, int found) {
    const double values[7] = {c.xx, c.xy, c.xz, c.yy, c.yz, c.zz, weight};
#pragma unroll
    for (int j = 0; j < 7; j++) n.values[j * n.room + i] = values[j];
    n.found[i] = found;
}
static __device__ __forceinline__ sap_symmetric cloud_noted(const cloud_notes& n, int64_t i) {
    double values[6];
    sap_symmetric c;
#pragma unroll
    for (int j = 0; j < 6; j++) values[j] = n.values[j * n.room + i];
    c.xx = values[0], c.xy = values[1], c.xz = values[2], c.yy = values[3], c.yz = values[4], c.zz = values[5];
    return c;
}

// ---- Kinds

#define CLOUD_SMALL_SCALE 0x1p-60 // a sum of 2^31 squares of the largest differences does not overflow

template <typename real>
static __device__ __forceinline__ sap_neighborhood cloud_kind(const sap_principal& p, const double (&own)[3],
                                                              double scale, double weight, int64_t found) {
    const double half_unit = sizeof(real) == 4 ? 0x1p-24 : 0x1p-53;
    const double noise = sap_noise_across(p, own[0] * scale, own[1] * scale, own[2] * scale, half_unit);
    if (found < 3 || !(weight > 0)) return SAP_NEIGHBORHOOD_FEW;
    if (!(p.greatest > 0)) return SAP_NEIGHBORHOOD_POINT;
    return p.middle <= noise ? SAP_NEIGHBORHOOD_LINE : SAP_NEIGHBORHOOD_SURFACE;
}

// ---- Directions

// Which way normals point; arrays lie on the GPU.
typedef struct cloud_views {
    sap_orient orient;
    double view[3];
    const double *views, *view_times, *point_times;
    int64_t count; // of views
} cloud_views;

static inline cloud_views cloud_views_of(sap_cuda_call* call, const sap_tree* tree, const sap_normals_options* o) {
    const size_t points = (size_t)tree->shape.source_count * sizeof(double);
    const size_t path = (size_t)o->view_count * sizeof(double);
    cloud_views v = {o->orient, {o->view[0], o->view[1], o->view[2]}, NULL, NULL, NULL, o->view_count};
    if (o->orient == SAP_ORIENT_VIEWS) v.views = (const double*)sap_cuda_in(call, o->views, 3 * points);
    if (o->orient == SAP_ORIENT_PATH) {
        v.views = (const double*)sap_cuda_in(call, o->views, 3 * path);
        v.view_times = (const double*)sap_cuda_in(call, o->view_times, path);
        v.point_times = (const double*)sap_cuda_in(call, o->point_times, points);
    }
    return v;
}

// Where the sensor was at a time.
static __device__ __forceinline__ void cloud_on_path(const cloud_views& v, double time, double (&view)[3]) {
    int64_t low = 0, high = v.count; // the first view after the time is among low … high
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (v.view_times[middle] > time)
            high = middle;
        else
            low = middle + 1;
    }
    const int64_t after = low < v.count ? low : v.count - 1, before = low > 0 ? low - 1 : 0;
    const double from = v.view_times[before], to = v.view_times[after];
    const double part = after > before ? (time - from) / (to - from) : 0;
#pragma unroll
    for (int a = 0; a < 3; a++) {
        const double x = v.views[3 * before + a], y = v.views[3 * after + a];
        view[a] = x + (y - x) * part;
    }
}

// Turns the normal of a point, which lies at `own`, as the views say.
static __device__ __forceinline__ void cloud_turn(const cloud_views& v, int64_t id, const double (&own)[3],
                                                  float (&normal)[3]) {
    double view[3] = {v.view[0], v.view[1], v.view[2]}, along = 0;
    if (v.orient == SAP_ORIENT_NONE || v.orient == SAP_ORIENT_CONSISTENT) return;
    if (v.orient == SAP_ORIENT_VIEWS)
        for (int a = 0; a < 3; a++) view[a] = v.views[3 * id + a];
    if (v.orient == SAP_ORIENT_PATH) cloud_on_path(v, v.point_times[id], view);
#pragma unroll
    for (int a = 0; a < 3; a++) along += (double)normal[a] * (view[a] - own[a]);
    if (!(along < 0)) return;
#pragma unroll
    for (int a = 0; a < 3; a++) normal[a] = normal[a] == 0 ? 0.0f : -normal[a];
}

// ---- Rows

static __device__ __forceinline__ void cloud_write_axis(float* to, sap_place3 axis, bool is_there) {
    to[0] = is_there ? (float)axis.x : 0.0f;
    to[1] = is_there ? (float)axis.y : 0.0f;
    to[2] = is_there ? (float)axis.z : 0.0f;
}

// Writes what is wanted of a point, with a covariance of differences that were scaled.
template <typename real>
static __device__ __forceinline__ void cloud_write_shape(const sap_cloud_axes& out, const cloud_views& views,
                                                         int64_t id, const double (&own)[3], const sap_symmetric& c,
                                                         double scale, double weight, int64_t found) {
    const double unscale = 1 / (scale * scale);
    if (out.counts) out.counts[id] = (int32_t)found;
    if (out.covariances) {
        const double matrix[6] = {c.xx, c.xy, c.xz, c.yy, c.yz, c.zz};
#pragma unroll
        for (int a = 0; a < 6; a++) out.covariances[6 * id + a] = (float)(matrix[a] * unscale);
    }
    if (!out.normals && !out.directions && !out.curvatures && !out.planarities && !out.linearities && !out.kinds &&
        !out.eigenvalues)
        return;
    const sap_principal p = sap_principal_of(c);
    const double greatest = p.greatest > 0 ? p.greatest : 0, least = p.least > 0 ? p.least : 0;
    const double middle = p.middle > least ? p.middle : least, sum = least + middle + greatest;
    const sap_neighborhood kind = cloud_kind<real>(p, own, scale, weight, found);
    if (out.normals) {
        float normal[3];
        cloud_write_axis(normal, p.least_axis, kind == SAP_NEIGHBORHOOD_SURFACE);
        cloud_turn(views, id, own, normal);
#pragma unroll
        for (int a = 0; a < 3; a++) out.normals[3 * id + a] = normal[a];
    }
    if (out.directions) cloud_write_axis(out.directions + 3 * id, p.greatest_axis, kind >= SAP_NEIGHBORHOOD_LINE);
    if (out.curvatures) out.curvatures[id] = sum > 0 ? (float)(least / sum) : 0.0f;
    if (out.planarities) out.planarities[id] = greatest > 0 ? (float)((middle - least) / greatest) : 0.0f;
    if (out.linearities) out.linearities[id] = greatest > middle ? (float)((greatest - middle) / greatest) : 0.0f;
    if (out.kinds) out.kinds[id] = (uint8_t)kind;
    if (!out.eigenvalues) return;
    out.eigenvalues[3 * id] = (float)(least * unscale);
    out.eigenvalues[3 * id + 1] = (float)(middle * unscale);
    out.eigenvalues[3 * id + 2] = (float)((greatest > middle ? greatest : middle) * unscale);
}

#endif
