// Rays: what the files of this benchmark share.
#ifndef SAPWOOD_BENCH_RAYS_H
#define SAPWOOD_BENCH_RAYS_H

#include "bench.h"

enum {
    RAYS_SETS = 4,
    RAYS_LIMIT = 8 // hits of a ray, where all are asked for
};

// What the walks of a set's rays look at.
typedef struct rays_work {
    double nodes, tests; // leaves included; tests of triangles
} rays_work;

// ---- rays_scene.c: meshes, and rays about them.

typedef struct rays_set {
    const char* name;
    sap_ray* rays;
    int64_t count;
    bool is_shadow; // only asked whether they hit
} rays_set;

// What must be reached. 0: nothing.
typedef struct rays_targets {
    double rays[RAYS_SETS]; // of Embree's time over Sapwood's, by set
    double all;             // the same, for all hits of primary rays
    double references;      // a triangle at most, HIGH
} rays_targets;

typedef struct rays_scene {
    char name[48];
    sap_mesh mesh;
    rays_targets targets;
    sap_mesh_file* file; // that holds the mesh; NULL: made by a formula
    sap_device* device;  // one thread
    sap_mesh_tree *high, *fast;
    rays_set sets[RAYS_SETS];     // primary, shadow, bounce, leaving
    rays_work work[2][RAYS_SETS]; // in the high and in the fast tree
    sap_hit* hits[2];             // [RAYS_LIMIT] of each ray: Sapwood's, the rival's
    int32_t* counts[2];
    uint8_t* occluded[2];
} rays_scene;

// Reads a PLY file, or makes a bumpy torus if file is NULL. False with a sentence if it holds no triangles.
bool rays_scene_read(rays_scene* scene, const bench_file* file);
// Builds the trees, and makes side * side primary rays and those that start where they hit.
void rays_scene_prepare(rays_scene* scene, int side);
void rays_scene_close(rays_scene* scene);

// ---- rays_embree.c: the rival. One ray a call.

typedef struct rays_rival {
    // A scene with a copy of the mesh, not yet built. `high`: of its two qualities. `gathers`: to be asked for all
    // hits.
    void* (*open)(const sap_mesh* mesh, bool high, int threads, bool gathers);
    // Builds it, anew if it was built before.
    void (*build)(void* scene);
    void (*trace)(void* scene, const sap_ray* rays, int64_t count, sap_hit* hits);
    void (*occluded)(void* scene, const sap_ray* rays, int64_t count, uint8_t* occluded);
    // The first RAYS_LIMIT hits of each ray in order, by a filter function that gathers and sorts.
    void (*trace_all)(void* scene, const sap_ray* rays, int64_t count, sap_hit* hits, int32_t* counts);
    // The nearest point of the mesh for each point[3], by a point query and its callback.
    void (*closest)(void* scene, const sap_mesh* mesh, const float* points, int64_t count, sap_closest* closest);
    void (*release)(void* scene);
} rays_rival;

// Embree, or NULL.
extern const rays_rival* const rays_embree;

// ---- rays_check.c: answers beside the rival's, and beside brute force with the library's own text of the test.

typedef enum rays_question { RAYS_FIRST, RAYS_ANY, RAYS_ALL } rays_question;

typedef struct rays_verdict {
    int64_t unlike; // rays whose answers differ from the rival's
    int64_t asked;  // rays of which brute force was asked: these, and a sample
    int64_t wrong;  // and whose answers of Sapwood are not those of brute force, bit for bit
} rays_verdict;

// Compares what lies in scene->hits, counts and occluded.
rays_verdict rays_compare(const rays_scene* scene, const rays_set* set, rays_question question, bool has_rival);

// ---- rays_floor.c: what a walk must at least do, and how fast this machine does it.

typedef struct rays_rates {
    double nodes, tests; // a second: of 16 rays side by side, in cache
} rays_rates;

rays_work rays_count_work(const sap_mesh_tree* tree, const rays_set* set);
rays_rates rays_measure_rates(void);

// ---- The groups of rows.

typedef struct rays_run {
    bench_run bench;
    rays_rates rates;
} rays_run;

// Names of the columns beside Embree medium, in bench_options' order.
enum { RAYS_BESIDE_HIGH, RAYS_BESIDE_SINGLE, RAYS_BESIDE_FAST };

// A key of a scene's row; the text stands until the next call.
const char* rays_key(const rays_scene* scene, const char* row);

void rays_trace_group(const rays_run* run, rays_scene* scene);  // rays_trace.c: first hits, occlusion, all hits
void rays_single_group(const rays_run* run, rays_scene* scene); // rays_single.c: one ray or point a call
void rays_build_group(const rays_run* run, rays_scene* scene, const bench_file* file); // rays_build.c: builds
void rays_tree_group(const rays_run* run, rays_scene* scene);                          // and what trees are made of
// What a fresh process runs: one first build of the mesh in the file, "" for the torus.
int rays_first_build(const char* who, const char* path);

#endif
