// A device: one table of functions a processor, and what all of them share. Rooms check their arguments, then call
// through the table; a new processor is a new table and touches no room.
#ifndef SAPWOOD_DEVICE_DEVICE_H
#define SAPWOOD_DEVICE_DEVICE_H

#include "device/memory.h"
#include "sapwood/grid.h"
#include "sapwood/mesh.h"
#include "sapwood/points.h"

// Points or queries of either precision, as rooms pass them on. coords may be NULL when count is 0.
typedef struct sap_rows {
    const void* coords;
    int64_t count, stride; // stride in elements, never 0
    int32_t dims, real_bits;
} sap_rows;

// What a nearest-neighbour search is asked, checked and with its defaults filled in.
typedef struct sap_nearest_job {
    sap_rows queries;  // self: coords NULL, count = the tree's source_count
    sap_search search; // as the caller gave it
    double limit2;     // largest squared distance that counts, a value of the tree's precision
    bool self;         // the queries are the tree's own points
    int32_t* ids;      // [queries.count * k]
    void* distance2;   // [queries.count * k] or NULL
} sap_nearest_job;

// What a grid of queries is asked, checked and with its defaults filled in.
typedef struct sap_grid_job {
    const sap_grid* grid;
    int32_t k; // neighbours; 0: points within the limit are counted
    float limit2;
    int32_t* ids;     // [width * height * k]
    float* distance2; // [width * height * k] or NULL
    int64_t* counts;  // [width * height] when k is 0
} sap_grid_job;

// Rows in the caller's memory.
typedef struct sap_radius_rows {
    int64_t* offsets; // [queries.count + 1]
    int64_t capacity;
    int32_t* ids;    // [capacity]
    void* distance2; // real[capacity] or NULL
} sap_radius_rows;

// What a radius search is asked.
typedef struct sap_radius_job {
    sap_rows queries;            // self: coords NULL, count = the tree's source_count
    double limit2;               // as above
    bool self;                   // pairs: queries are the tree's own points; only greater ids are found
    int64_t* counts;             // count only: [queries.count], else NULL
    sap_neighbors** found;       // collect, else NULL
    const sap_radius_rows* into; // collect into the caller's memory, else NULL
} sap_radius_job;

// What a compaction is asked, checked.
typedef struct sap_compact_job {
    const void* items;   // [count * item_bytes]
    const uint8_t* keep; // [count]; NULL: the first of each run of equal items is kept
    int64_t count;       // 0: the arrays may be NULL
    size_t item_bytes;
    void* out;
    int64_t* out_count;
} sap_compact_job;

// What rays are asked, checked: first hits, all of them in order, or whether there is any.
typedef struct sap_ray_job {
    const sap_ray* rays;
    int64_t count;
    sap_hit* hits;     // [count], or [count * limit] where limit is not 0; NULL: occluded is asked for
    int32_t limit;     // all hits: how many of each ray; else 0
    int32_t* counts;   // all hits: [count] or NULL
    uint8_t* occluded; // [count], else NULL
    int32_t* visits;   // first hits: [count], else NULL
} sap_ray_job;

// What is asked about points and a mesh, checked.
typedef struct sap_closest_job {
    sap_rows points;      // 3-D floats
    sap_closest* closest; // [points.count]
} sap_closest_job;

typedef struct sap_inside_job {
    sap_rows points; // 3-D floats
    uint8_t* inside; // [points.count]
} sap_inside_job;

struct sap_surface_job;

// One processor. "(optional)" entries may be NULL: the room then answers SAP_ERROR_UNSUPPORTED.
typedef struct sap_processor_table {
    const char* name;
    sap_status (*open)(sap_device* device); // fills device->processor_state; the rest of the device is ready
    void (*close)(sap_device* device);      // undoes open
    sap_status (*describe)(const sap_device* device, sap_device_info* info);
    void (*trim)(sap_device* device);       // (optional) frees scratch memory of the processor's own
    sap_status (*wait)(sap_device* device); // (optional) sap_device_wait
    // (optional) Where tree->arrays is no host memory. `make` gives a tree that has device, options and shape its
    // arrays and fills them with shape.bytes bytes of host or device memory; `read` copies bytes [at, at + bytes) of
    // the arrays to host memory; `unmake` frees the arrays and all else that the processor keeps with the tree.
    sap_status (*make)(sap_tree* tree, const unsigned char* arrays);
    sap_status (*read)(const sap_tree* tree, size_t at, size_t bytes, void* to);
    void (*unmake)(sap_tree* tree);
    // (optional) Whether a tree is right; host code then names what is wrong with one that is not.
    sap_status (*verify)(const sap_tree* tree, bool* right);
    // Builds into tree, whose device and options are set and whose arrays are empty or of an earlier build.
    sap_status (*build)(sap_tree* tree, const sap_rows* points);
    sap_status (*nearest)(const sap_tree* tree, const sap_nearest_job* job);
    sap_status (*radius)(const sap_tree* tree, const sap_radius_job* job);
    sap_status (*compact)(sap_device* device, const sap_compact_job* job); // (optional)
    // (optional) See surface/surface.h.
    sap_status (*surface)(sap_device* device, const struct sap_surface_job* job);
    // (optional) The same as make, read (of all arrays) and unmake, for trees over triangles.
    sap_status (*mesh_make)(sap_mesh_tree* tree, const unsigned char* arrays);
    sap_status (*mesh_read)(const sap_mesh_tree* tree, void* to);
    void (*mesh_unmake)(sap_mesh_tree* tree);
    // (optional) As build, over triangles. On failure the tree is as it was.
    sap_status (*mesh_build)(sap_mesh_tree* tree, const sap_mesh* mesh);
    // (optional) Rays, and points about a mesh.
    sap_status (*trace)(const sap_mesh_tree* tree, const sap_ray_job* job);
    sap_status (*closest)(const sap_mesh_tree* tree, const sap_closest_job* job);
    sap_status (*inside)(const sap_mesh_tree* tree, const sap_inside_job* job);
    const struct sap_render_steps* render; // (where there is trace) pictures, see render/picture.h
    bool makes_from_host;                  // `make` takes host memory only
    sap_status (*grid)(const sap_tree* tree, const sap_grid_job* job); // (optional) else as rows of queries
    const struct sap_gl_functions* gl; // (optional) what only OpenGL can do, see device/opengl.h
} sap_processor_table;

extern const sap_processor_table sap_cpu_table;
// Host threads that a device uses, when so many were asked for (0: all).
int32_t sap_cpu_threads(int32_t asked);
#if defined(SAP_HAVE_CUDA)
extern const sap_processor_table sap_cuda_table;
#endif
#if defined(SAP_HAVE_GL)
extern const sap_processor_table sap_gl_table;
#endif

enum { SAP_SCRATCH_BLOCKS = 64 }; // idle scratch blocks that a device keeps at most

struct sap_device {
    const sap_processor_table* table;
    sap_device_options options; // defaults filled in; the allocator always set
    void* processor_state;      // owned by the table's processor
    int lock;                   // guards idle
    int muted;                  // calls that tell progress for those that they make
    sap_scratch idle[SAP_SCRATCH_BLOCKS];
};

// Logs one sentence (printf style) and returns status: `return sap_fail(device, SAP_ERROR_ARGUMENT, "…", …)`.
__attribute__((format(printf, 3, 4))) sap_status sap_fail(const sap_device* device, sap_status status,
                                                          const char* format, ...);
// Tells the progress callback; false if the call is to stop.
bool sap_progress_report(const sap_device* device, double done);
// A long call that is made of many others mutes their reports and tells of itself instead.
void sap_progress_mute(sap_device* device, bool muted);
bool sap_progress_tell(const sap_device* device, double done);

#endif
