// Both clouds of a global alignment, thinned alike: one point a cell of a grid, and what its neighbours look like.
#include "cloud/global/global.h"
#include "mesh/layout.h"
#include "tree/leaves.h"
#include <float.h>
#include <math.h>
#include <string.h>

#define NORMAL_RADIUS  2.5 // in units of the spacing
#define FEATURE_RADIUS 5.0

#define LEAST_SPACING 0x1p-50 // of what is scaled, about 1 long: the cells of a grid along an axis can be counted

enum {
    SAMPLES = 1 << 17, // points that stand for a mesh
    BEYOND = 4,        // times as many points as asked for may be left of one cloud, so that the other has enough
    ATTEMPTS = 16
};

// ---- All points of a cloud, one after another

// What is done with a point: its box first, then it is kept.
typedef struct visiting {
    double least[3], most[3];
    double scale;
    sap_global_cloud* cloud;
    bool keeps;
} visiting;

static void visit(visiting* v, const double point[3]) {
    sap_global_cloud* cloud = v->cloud;
    for (int c = 0; c < 3; c++) {
        if (v->keeps) {
            cloud->all[3 * cloud->all_count + c] = (float)((point[c] - cloud->middle[c]) * v->scale);
        } else {
            if (cloud->all_count == 0 || point[c] < v->least[c]) v->least[c] = point[c];
            if (cloud->all_count == 0 || point[c] > v->most[c]) v->most[c] = point[c];
        }
    }
    cloud->all_count++;
}

static double number_at(const void* numbers, int64_t i, int32_t real_bits) {
    return real_bits == 64 ? ((const double*)numbers)[i] : (double)((const float*)numbers)[i];
}

static sap_status visit_rows(const sap_globe* g, visiting* v, const sap_rows* rows) {
    for (int64_t i = 0; i < rows->count; i++) {
        double point[3];
        for (int c = 0; c < 3; c++) point[c] = number_at(rows->coords, i * rows->stride + c, rows->real_bits);
        int axis = 0;
        while (axis < 3 && isfinite(point[axis])) axis++;
        if (axis == 3)
            visit(v, point);
        else if (!g->job->options.drop_nonfinite)
            return sap_fail(g->device, SAP_ERROR_NOT_FINITE,
                            "source: coordinate %d of point %lld is not finite; leave such points out", axis,
                            (long long)i);
    }
    return SAP_OK;
}

static void visit_tree(visiting* v, const sap_tree* tree) {
    for (int64_t place = 0; tree->shape.count && place < sap_leaf_places(tree); place++) {
        const sap_leaf_block leaf = sap_leaf_block_at(tree, place);
        for (int32_t i = 0; i < leaf.count; i++) {
            double point[3];
            for (int c = 0; c < 3; c++)
                point[c] = number_at(leaf.coords, (int64_t)c * leaf.stride + i, tree->shape.real_bits);
            visit(v, point);
        }
    }
}

static double area_of(const float* corners) {
    double u[3], w[3];
    for (int c = 0; c < 3; c++) {
        u[c] = (double)corners[3 + c] - (double)corners[c];
        w[c] = (double)corners[6 + c] - (double)corners[c];
    }
    const double n[3] = {u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]};
    return sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 2;
}

// As many points of each triangle as its area asks for, spread by the multiples of two irrational numbers (Roberts 2018).
static void visit_mesh(visiting* v, const sap_mesh_tree* mesh) {
    const float* corners = sap_mesh_corners(mesh);
    const int64_t triangles = mesh->shape.triangles;
    double all = 0, before = 0;
    int64_t done = 0;
    for (int64_t t = 0; t < triangles; t++) all += area_of(corners + SAP_TRIANGLE_FLOATS * t);
    for (int64_t t = 0; t < triangles && all > 0; t++) {
        const float* p = corners + SAP_TRIANGLE_FLOATS * t;
        before += area_of(p);
        for (; ((double)done + 0.5) / SAMPLES * all < before; done++) {
            double a = 0.7548776662466927 * (double)done, b = 0.5698402909980532 * (double)done, point[3];
            a -= floor(a);
            b -= floor(b);
            if (a + b > 1) {
                a = 1 - a;
                b = 1 - b;
            }
            for (int c = 0; c < 3; c++)
                point[c] = (double)p[c] + a * ((double)p[3 + c] - (double)p[c]) + b * ((double)p[6 + c] - (double)p[c]);
            visit(v, point);
        }
    }
}

static sap_status visit_all(const sap_globe* g, visiting* v) {
    v->cloud->all_count = 0;
    if (v->cloud == &g->source) return visit_rows(g, v, &g->job->source);
    if (g->job->mesh)
        visit_mesh(v, g->job->mesh);
    else
        visit_tree(v, g->job->tree);
    return SAP_OK;
}

// Puts all points where the device works.
static sap_status bring(const sap_globe* g, sap_global_cloud* cloud) {
    const sap_relax_ops* memory = g->device->rooms.cloud->relax;
    const size_t bytes = (size_t)cloud->all_count * 3 * sizeof(float);
    if (!memory->is_apart || bytes == 0) return SAP_OK;
    if (!memory->take(g->device, bytes, &cloud->all_there))
        return sap_fail(g->device, SAP_ERROR_DEVICE_MEMORY, "no memory for %lld points", (long long)cloud->all_count);
    const sap_status status = memory->copy(g->device, cloud->all_there.memory, cloud->all, bytes);
    cloud->all = (float*)(void*)cloud->all_there.memory;
    sap_scratch_give(g->device, &cloud->all_here);
    return status;
}

static void give_all(const sap_globe* g, sap_global_cloud* cloud) {
    const sap_relax_ops* memory = g->device->rooms.cloud->relax;
    sap_scratch_give(g->device, &cloud->all_here);
    if (memory->is_apart) memory->give(g->device, &cloud->all_there);
}

sap_status sap_global_take(sap_globe* g) {
    sap_global_cloud* clouds[2] = {&g->source, &g->target};
    visiting v[2] = {{.cloud = clouds[0]}, {.cloud = clouds[1]}};
    double widest = 0;
    int exponent;
    for (int k = 0; k < 2; k++) {
        const sap_status status = visit_all(g, &v[k]);
        if (status != SAP_OK) return status;
        for (int c = 0; c < 3; c++) {
            clouds[k]->middle[c] = v[k].least[c] + (v[k].most[c] - v[k].least[c]) / 2;
            widest = fmax(widest, v[k].most[c] - v[k].least[c]);
        }
    }
    if (!isfinite(widest)) return sap_fail(g->device, SAP_ERROR_RANGE, "source: the extent of its points overflows");
    frexp(widest, &exponent);
    // A power of two: numbers keep their digits.
    g->scale = widest > 0 ? ldexp(1, exponent < -1000 ? 1000 : -exponent) : 1;
    for (int k = 0; k < 2; k++) {
        size_t bytes;
        if (!sap_size_multiply((uint64_t)clouds[k]->all_count, 3 * sizeof(float), &bytes) ||
            !sap_scratch_take(g->device, bytes + 1, &clouds[k]->all_here))
            return sap_fail(g->device, SAP_ERROR_MEMORY, "no memory for %lld points", (long long)clouds[k]->all_count);
        clouds[k]->all = (float*)(void*)clouds[k]->all_here.memory;
        v[k].scale = g->scale;
        v[k].keeps = true;
        sap_status status = visit_all(g, &v[k]);
        if (status == SAP_OK) status = bring(g, clouds[k]);
        if (status != SAP_OK) return status;
    }
    return SAP_OK;
}

// ---- The spacing

static sap_status thin(const sap_globe* g, const sap_global_cloud* cloud, double size, sap_thinned** cells) {
    const sap_voxels_options options = {.sizes = {size, size, size}};
    return sap_cloud_voxels(g->device, (sap_points){cloud->all, cloud->all_count, 3, 0}, &options, cells);
}

static sap_status count_cells(const sap_globe* g, const sap_global_cloud* cloud, double size, int64_t* count) {
    sap_thinned* cells = NULL;
    const sap_status status = thin(g, cloud, size, &cells);
    if (status == SAP_OK) *count = cells->count;
    sap_thinned_free(cells);
    return status;
}

// The spacing at which about as many points are left as are wanted, or half of those at different places; *is_least: half
// are fewer, and a smaller spacing would leave holes.
static sap_status find_spacing(const sap_globe* g, const sap_global_cloud* cloud, double* spacing, bool* is_least) {
    int64_t wanted = g->job->options.most, count = 0;
    double size = 0x1p-6;
    sap_status status = count_cells(g, cloud, 0x1p-22, &count);
    *is_least = count / 2 < wanted;
    wanted = *is_least ? count / 2 : wanted;
    if (wanted < 1) wanted = 1;
    for (int i = 0; status == SAP_OK && i < ATTEMPTS; i++) {
        status = count_cells(g, cloud, size, &count);
        const double ratio = (double)count / (double)wanted;
        if (ratio > 0.95 && ratio < 1.05) break;
        size = fmin(fmax(size * fmin(fmax(sqrt(ratio), 0.25), 4), 0x1p-20), 4);
    }
    *spacing = size;
    return status;
}

static sap_status choose_spacing(sap_globe* g) {
    double source, target;
    bool is_source_least, is_target_least;
    int64_t count;
    const double given = g->job->options.spacing;
    if (given > 0) {
        g->spacing = fmin(given * g->scale, DBL_MAX);
        return g->spacing >= LEAST_SPACING
                   ? SAP_OK
                   : sap_fail(g->device, SAP_ERROR_RANGE,
                              "options.spacing: %g is too small for the extent of the clouds", given);
    }
    sap_status status = find_spacing(g, &g->source, &source, &is_source_least);
    if (status == SAP_OK) status = find_spacing(g, &g->target, &target, &is_target_least);
    if (status != SAP_OK) return status;
    g->spacing = fmin(source, target);
    if (is_source_least) g->spacing = fmax(g->spacing, source);
    if (is_target_least) g->spacing = fmax(g->spacing, target);
    const sap_global_cloud* larger = source > target ? &g->source : &g->target;
    const double most = (double)BEYOND * g->job->options.most;
    for (int i = 0; i < ATTEMPTS; i++) {
        status = count_cells(g, larger, g->spacing, &count);
        if (status != SAP_OK || (double)count <= most) break;
        g->spacing *= 1.02 * sqrt((double)count / most);
    }
    return status;
}

// ---- What is left

// Points like all others, such as those of flat ground, lie well almost anywhere.
static void weigh(sap_global_cloud* cloud) {
    double mean[SAP_FEATURE_NUMBERS] = {0};
    for (int64_t i = 0; i < cloud->count; i++)
        for (int b = 0; b < SAP_FEATURE_NUMBERS; b++) mean[b] += (double)cloud->features[SAP_FEATURE_NUMBERS * i + b];
    for (int64_t i = 0; i < cloud->count; i++) {
        double squares = 0;
        for (int b = 0; b < SAP_FEATURE_NUMBERS; b++) {
            const double d = (double)cloud->features[SAP_FEATURE_NUMBERS * i + b] - mean[b] / (double)cloud->count;
            squares += d * d;
        }
        cloud->weights[i] = (float)squares;
    }
}

static sap_status find_features(sap_globe* g, sap_global_cloud* cloud) {
    const sap_normals_options normals = {.radius = NORMAL_RADIUS};
    const sap_features_options features = {.radius = FEATURE_RADIUS, .normals = cloud->normals};
    sap_status status = sap_tree_build(g->device, (sap_points){cloud->points, cloud->count, 3, 0}, NULL, &cloud->tree);
    const sap_cloud_axes axes = {.normals = cloud->normals, .eigenvalues = cloud->spreads};
    if (status == SAP_OK) status = sap_cloud_shapes(cloud->tree, &normals, &axes);
    if (status == SAP_OK) status = sap_cloud_features(cloud->tree, &features, cloud->features);
    if (status == SAP_OK) weigh(cloud);
    return status;
}

static sap_status thin_cloud(sap_globe* g, sap_global_cloud* cloud) {
    sap_thinned* cells = NULL;
    size_t bytes;
    sap_status status = thin(g, cloud, g->spacing, &cells);
    give_all(g, cloud);
    if (status != SAP_OK) return status;
    const uint64_t n = (uint64_t)cells->count;
    if (!sap_size_multiply(n, (10 + SAP_FEATURE_NUMBERS) * sizeof(float), &bytes) ||
        !sap_scratch_take(g->device, bytes + 1, &cloud->memory)) {
        sap_thinned_free(cells);
        return sap_fail(g->device, SAP_ERROR_MEMORY, "no memory for %lld points and their features", (long long)n);
    }
    cloud->count = (int64_t)n;
    cloud->points = (float*)(void*)cloud->memory.memory;
    cloud->normals = cloud->points + 3 * n;
    cloud->features = cloud->normals + 3 * n;
    cloud->weights = cloud->features + SAP_FEATURE_NUMBERS * n;
    cloud->spreads = cloud->weights + n;
    if (cells->on_device)
        status = g->device->rooms.cloud->relax->copy(g->device, cloud->points, cells->coords, 3 * n * sizeof(float));
    else
        memcpy(cloud->points, cells->coords, 3 * n * sizeof(float));
    sap_thinned_free(cells);
    for (uint64_t i = 0; i < 3 * n; i++) cloud->points[i] = (float)((double)cloud->points[i] / g->spacing);
    return status == SAP_OK ? find_features(g, cloud) : status;
}

sap_status sap_global_thin(sap_globe* g) {
    sap_status status = choose_spacing(g);
    if (status == SAP_OK) status = thin_cloud(g, &g->source);
    if (status == SAP_OK) status = thin_cloud(g, &g->target);
    return status;
}

void sap_global_cloud_free(sap_globe* g, sap_global_cloud* cloud) {
    sap_tree_free(cloud->tree);
    sap_scratch_give(g->device, &cloud->memory);
    give_all(g, cloud);
}
