// What a processor does to find nearest neighbours, for rows of queries, for grids and for frames.
#ifndef SAPWOOD_NEAREST_OPS_H
#define SAPWOOD_NEAREST_OPS_H

#include "device/device.h"
#include "sapwood/grid.h"
#include "sapwood/points.h"
#include "sapwood/query.h"
#include "tree/told.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sap_gl_frame;          // sapwood/gl.h
struct sap_gl_frame_textures; // sapwood/gl.h
struct sap_rgba8_tree;        // sapwood/gl.h
struct sap_rgba8_search;      // sapwood/gl.h

// What a nearest-neighbour search is asked, checked and with its defaults filled in.
typedef struct sap_nearest_job {
    sap_rows queries;       // self and from: coords NULL, count = that tree's source_count
    const sap_tree* from;   // the queries are this tree's points, or NULL. CUDA only
    sap_search search;      // as the caller gave it
    double limit2;          // largest squared distance that counts, a value of the tree's precision
    bool self;              // the queries are the tree's own points
    int32_t* ids;           // [queries.count * k] or NULL
    void* distance2;        // the same; one of them is not NULL
    const sap_told* told;   // more than that, or NULL
    const int32_t* without; // [queries.count] an id that does not count for the query, negative: none; or NULL
} sap_nearest_job;

// Checks what is to be searched for. In nearest/nearest.c.
sap_status sap_search_check(const sap_tree* tree, const sap_search* search);
// Checks a search, completes a job whose queries, ids and distances are set, and runs it; `told` must live as long as
// the job. In nearest/nearest.c.
sap_status sap_nearest_run_job(const sap_tree* tree, const sap_search* search, sap_told* told, sap_nearest_job* job);

// What a grid of queries is asked, checked and with its defaults filled in.
typedef struct sap_grid_job {
    const sap_grid* grid;
    int32_t k; // neighbours; 0: points within the limit are counted
    float limit2;
    sap_walk walk;
    int32_t* ids;     // [width * height * k]
    float* distance2; // [width * height * k] or NULL
    int64_t* counts;  // [width * height] when k is 0
} sap_grid_job;

typedef struct sap_nearest_ops {
    sap_status (*search)(const sap_tree* tree, const sap_nearest_job* job);
    bool leaves_out; // search looks at job->without …
    bool is_told;    // … and at job->told, and job->ids may be NULL
    // (optional) Makes a prepared search ready for its tree as it is now (nearest/query.h).
    sap_status (*prepare)(sap_query* query);
    // (optional) Grids; without it they are searched as rows of queries.
    sap_status (*search_grid)(const sap_tree* tree, const sap_grid_job* job);
    // (optional) sap_gl_nearest_rgba8.
    sap_status (*search_rgba8)(sap_device* device, const struct sap_rgba8_tree* form, const sap_grid* grid,
                               const struct sap_rgba8_search* search, int32_t* ids, float* distances);
} sap_nearest_ops;

// Frames of OpenGL, by the names of sapwood/gl.h.
typedef struct sap_frame_ops {
    sap_status (*create)(const sap_tree* tree, const int32_t size[2], int32_t k, float limit2, sap_walk walk,
                         struct sap_gl_frame** frame);
    sap_status (*begin)(struct sap_gl_frame* frame, const sap_grid* grid);
    sap_status (*step)(struct sap_gl_frame* frame, int32_t leaves, bool* done);
    sap_status (*describe)(const struct sap_gl_frame* frame, struct sap_gl_frame_textures* textures);
    sap_status (*read)(const struct sap_gl_frame* frame, const int32_t rectangle[4], int32_t* ids, float* distance2);
    void (*free)(struct sap_gl_frame* frame);
} sap_frame_ops;

sap_status sap_nearest_cpu(const sap_tree* tree, const sap_nearest_job* job);
sap_status sap_nearest_cuda(const sap_tree* tree, const sap_nearest_job* job);
sap_status sap_nearest_gl(const sap_tree* tree, const sap_nearest_job* job);
sap_status sap_nearest_grid_gl(const sap_tree* tree, const sap_grid_job* job);
sap_status sap_nearest_rgba8_gl(sap_device* device, const struct sap_rgba8_tree* form, const sap_grid* grid,
                                const struct sap_rgba8_search* search, int32_t* ids, float* distances);

sap_status sap_frame_create_gl(const sap_tree* tree, const int32_t size[2], int32_t k, float limit2, sap_walk walk,
                               struct sap_gl_frame** frame);
sap_status sap_frame_begin_gl(struct sap_gl_frame* frame, const sap_grid* grid);
sap_status sap_frame_step_gl(struct sap_gl_frame* frame, int32_t leaves, bool* done);
sap_status sap_frame_describe_gl(const struct sap_gl_frame* frame, struct sap_gl_frame_textures* textures);
sap_status sap_frame_read_gl(const struct sap_gl_frame* frame, const int32_t rectangle[4], int32_t* ids,
                             float* distance2);
void sap_frame_free_gl(struct sap_gl_frame* frame);

#ifdef __cplusplus
}
#endif
#endif
