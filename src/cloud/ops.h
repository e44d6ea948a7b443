// What a processor does with a cloud: the points of a tree that ask for their own neighbours.
#ifndef SAPWOOD_CLOUD_OPS_H
#define SAPWOOD_CLOUD_OPS_H

#include "device/progress.h"
#include "sapwood/align.h"
#include "sapwood/cloud.h"

#ifdef __cplusplus
extern "C" {
#endif

// Sums over all points go in blocks of SAP_SUM_BLOCK numbers: those SAP_SUM_LANES apart are added in their order, then the
// sums of a block, then those of all blocks. So they are the same whoever makes a block.
enum { SAP_SUM_BLOCK = 1024, SAP_SUM_LANES = 32 };

// Which neighbours are added up, and what each counts.
typedef struct sap_neighborhoods {
    int32_t k;     // the nearest, the point itself among them; 0: all within the radius
    double radius; // as given: 0 is any
    sap_falloff falloff;
    const float* weights; // [source_count] or NULL
    double limit2;        // largest squared distance that counts, a value of the tree's precision
} sap_neighborhoods;

// cloud/align.c: takes a start, a turn and a shift or all zero for none, to three rows whose turn is one exactly.
sap_status sap_cloud_check_start(const sap_device* device, const double given[16], double start[12]);

// cloud/cloud.c: checks what calls say of neighbours, and fills in k where nothing is said, and limit2.
sap_status sap_cloud_check_neighbors(const sap_tree* tree, sap_neighborhoods* near);

// Axes of sums over neighbours, checked and with defaults filled in.
typedef struct sap_axes_job {
    const sap_tree* tree;
    sap_normals_options options; // which way normals point
    sap_neighborhoods near;
    sap_cloud_axes out;
} sap_axes_job;

// Sums over the neighbours of queries, checked.
typedef struct sap_gather_job {
    const sap_tree* tree;
    const sap_rows* queries; // NULL: the tree's own points
    sap_neighborhoods near;
    const float* attributes; // [source_count][attribute_count]
    int32_t attribute_count;
    sap_gathered out;
} sap_gather_job;

// Normals to be turned.
typedef struct sap_orient_job {
    const sap_tree* tree;
    sap_normals_options options; // checked and with defaults filled in
    float* normals;
} sap_orient_job;

// A step of points that repel each other.
typedef struct sap_relax_job {
    const sap_tree* tree; // of the points that move
    sap_relax_options options;
    sap_neighborhoods near; // radius 0: that of the last of k neighbours
    float* moved;           // [3*count]
    float* normals;         // [3*count] of where they were, or NULL
} sap_relax_job;

// Points that have moved, to be put on the surface that those given sample.
typedef struct sap_relax_return {
    const sap_tree* given; // the tree of these
    sap_points points;     // these, on the host
    const float* surface;  // [3*points.count] their normals
    double reach;          // how far from the nearest of them a point may end
    const float* normals;  // [3*count] of those that have moved, where they were before
    float* at;             // [3*count] the points that have moved
    int64_t count;
    int32_t* ids;     // [count] room for the nearest of each
    float* distance2; // [count] beside them
} sap_relax_return;

// The steps of points that repel each other, and the memory that these points lie in.
typedef struct sap_relax_ops {
    bool is_apart; // from the host's memory
    bool (*take)(sap_device* device, size_t bytes, sap_scratch* memory);
    void (*give)(sap_device* device, sap_scratch* memory);
    // Copies between that memory and any other, and waits.
    sap_status (*copy)(sap_device* device, void* to, const void* from, size_t bytes);
    sap_status (*step)(const sap_relax_job* job);
    // The sum of the squares of the differences of all coordinates, in blocks.
    sap_status (*measure)(sap_device* device, const float* from, const float* to, int64_t coordinates, double* sum);
    sap_status (*put_back)(const sap_relax_return* job);
} sap_relax_ops;

typedef struct sap_density_job {
    const sap_tree* tree;
    sap_density_options options; // checked and with defaults filled in
    double* densities;
} sap_density_job;

typedef struct sap_outliers_job {
    const sap_tree* tree;
    sap_outliers_options options; // checked and with defaults filled in
    uint8_t* keep;
    sap_outliers_info info; // to be filled in
} sap_outliers_job;

typedef struct sap_clusters_job {
    const sap_tree* tree;
    sap_clusters_options options; // checked and with defaults filled in
    double limit2;                // a value of the tree's precision
    int32_t* labels;
    uint8_t* kinds; // or NULL
    int64_t count;  // to be filled in
} sap_clusters_job;

typedef struct sap_sample_job {
    const sap_tree* tree;
    sap_sample_options options; // checked
    double limit2;              // of SAP_SAMPLE_POISSON, a value of the tree's precision
    int32_t* ids;
    int64_t count; // to be filled in
} sap_sample_job;

// A step of points that are projected. Both trees are balanced and of floats; weights are by slot.
typedef struct sap_project_step {
    const sap_tree *given, *moving;
    const float* given_weights; // NULL: 1 each
    const float* moving_weights;
    double limit2; // a value of the trees' precision
    double push;
    bool to_median;
    float* moved; // [3*count]
} sap_project_step;

enum { SAP_PROJECT_SPARE = 16 }; // weights that may be read behind the last slot

// What is done between two builds of the tree of those that move, in the memory of sap_relax_ops. They add points that are
// done to the progress.
typedef struct sap_project_ops {
    // The points of `count` ranks that are evenly spread in the order of the leaves: to at[3*count].
    sap_status (*place)(const sap_tree* tree, int64_t count, float* at);
    // For each point of the tree the sum of t over the points around it, the point among them, or one over that: to
    // weights[slots + SAP_PROJECT_SPARE]. progress: NULL where it does not count.
    sap_status (*densities)(const sap_tree* tree, double limit2, bool inverse, float* weights,
                            sap_progress_state* progress);
    sap_status (*move)(const sap_project_step* step, sap_progress_state* progress);
} sap_project_ops;

typedef struct sap_align_job {
    const sap_tree* tree;      // the target, or
    const sap_mesh_tree* mesh; // the target
    sap_device* device;        // the target's
    sap_rows source;
    sap_align_options options; // checked and with defaults filled in, but for the lengths
    double start[12];          // three rows, the turn being one
    sap_alignment out;         // to be filled in
} sap_align_job;

// Points to be thinned by a grid; for any device.
typedef struct sap_voxels_job {
    sap_device* device;
    const struct sap_gridding* gridding; // cloud/voxels.h
    sap_thinned* voxels;                 // to be made
} sap_voxels_job;

typedef struct sap_features_job {
    const sap_tree* tree;
    sap_features_options options; // checked
    sap_neighborhoods near;
    float* features;
} sap_features_job;

typedef struct sap_global_job {
    const sap_tree* tree;      // the target, or
    const sap_mesh_tree* mesh; // the target
    sap_device* device;        // the target's
    sap_rows source;
    sap_global_options options; // checked and with defaults filled in
    double start[12];           // three rows, the turn being one
    sap_global_motion out;      // to be filled in
} sap_global_job;

typedef struct sap_cloud_ops {
    sap_status (*axes)(const sap_axes_job* job);
    sap_status (*gather)(const sap_gather_job* job);
    sap_status (*orient)(const sap_orient_job* job);
    const sap_relax_ops* relax;
    sap_status (*density)(const sap_density_job* job);
    sap_status (*outliers)(sap_outliers_job* job);
    sap_status (*clusters)(sap_clusters_job* job);
    sap_status (*sample)(sap_sample_job* job);
    const sap_project_ops* project; // beside relax
    sap_status (*align)(sap_align_job* job);
    sap_status (*features)(const sap_features_job* job);
    sap_status (*global)(sap_global_job* job);
    sap_status (*voxels)(sap_voxels_job* job); // NULL: the host's loops do it
} sap_cloud_ops;

sap_status sap_cloud_axes_cpu(const sap_axes_job* job);
sap_status sap_cloud_gather_cpu(const sap_gather_job* job);
sap_status sap_cloud_orient_cpu(const sap_orient_job* job);
extern const sap_relax_ops sap_cloud_relax_cpu, sap_cloud_relax_cuda;
sap_status sap_cloud_density_cpu(const sap_density_job* job);
sap_status sap_cloud_outliers_cpu(sap_outliers_job* job);
sap_status sap_cloud_clusters_cpu(sap_clusters_job* job);
sap_status sap_cloud_sample_cpu(sap_sample_job* job);
extern const sap_project_ops sap_cloud_project_cpu, sap_cloud_project_cuda;
sap_status sap_cloud_align_cpu(sap_align_job* job);
sap_status sap_cloud_features_cpu(const sap_features_job* job);
sap_status sap_cloud_global_cpu(sap_global_job* job);
sap_status sap_cloud_voxels_cpu(sap_voxels_job* job);
sap_status sap_cloud_axes_cuda(const sap_axes_job* job);
sap_status sap_cloud_gather_cuda(const sap_gather_job* job);
sap_status sap_cloud_orient_cuda(const sap_orient_job* job);
sap_status sap_cloud_density_cuda(const sap_density_job* job);
sap_status sap_cloud_outliers_cuda(sap_outliers_job* job);
sap_status sap_cloud_clusters_cuda(sap_clusters_job* job);
sap_status sap_cloud_sample_cuda(sap_sample_job* job);
sap_status sap_cloud_align_cuda(sap_align_job* job);
sap_status sap_cloud_features_cuda(const sap_features_job* job);
sap_status sap_cloud_global_cuda(sap_global_job* job);
sap_status sap_cloud_voxels_cuda(sap_voxels_job* job);
// The two kinds of samples.
sap_status sap_cloud_farthest_cpu(sap_sample_job* job);
sap_status sap_cloud_poisson_cpu(sap_sample_job* job);

#ifdef __cplusplus
}
#endif
#endif
