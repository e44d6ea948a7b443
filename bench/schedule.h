// Which messages a build and a search over many ranks send, as docs/scale.md says: the calls one after the other, and what
// they come to in formulas. The points are spread evenly over a cube.
#ifndef SAPWOOD_BENCH_SCHEDULE_H
#define SAPWOOD_BENCH_SCHEDULE_H

#include "simulated.h"

typedef struct scale_task {
    double points; // of all ranks
    int32_t ranks, dims, real_bits, leaf_size;
    int32_t
        keys; // that tell points apart, from 1 on: as many coordinates as the points nearest a median may share, and one
    bool placed;    // each rank gives the points that it will hold, with ids; else they are dealt out at random
    int32_t k;      // neighbours of each point
    double queries; // of each rank, anywhere; 0: each asks for the points that it holds
    bool clustered; // coordinates are cubed: most points lie near a corner; formulas do not know that
} scale_task;

// What an exchange carries: to each other rank `bytes`; `count` items of `bytes` of each rank, to owners at random; or
// `bytes` for each pair of a point near a border and a rank beyond it.
typedef enum scale_pattern { SCALE_ALL, SCALE_RANDOM, SCALE_BORDERS } scale_pattern;

typedef struct scale_visit {
    void (*gather)(void* context, double bytes);
    void (*reduce)(void* context, double words);
    void (*exchange)(void* context, scale_pattern pattern, double count, double bytes);
    void* context;
} scale_visit;

// Calls of a build, of a search for the nearest neighbours. Collective calls of the library, in their order.
void scale_build(const scale_task* task, const scale_visit* visit);
void scale_nearest(const scale_task* task, const scale_visit* visit);

// Nodes that are split together, level by level; how many levels.
enum { SCALE_MOST_LEVELS = 40 };
int32_t scale_levels(const scale_task* task, int64_t nodes[SCALE_MOST_LEVELS]);
// Subtrees of all ranks.
int64_t scale_pieces(const scale_task* task);

// How ranks are placed in the cube, and what the points near borders ask for.
typedef struct scale_borders {
    int32_t grid[3];                 // ranks along each axis
    double reach;                    // mean distance of the k-th neighbour, in the cube's sides
    double pairs;                    // of a point and another rank that it asks, for each point
    double peers;                    // ranks that a rank asks
    double face[3], edge[3], corner; // pairs for each point of one neighbour: across axis a; across both axes but a
} scale_borders;
scale_borders scale_find_borders(const scale_task* task);

// What the formulas say: of reductions the most, since boxes may tell the first bits of keys.
typedef struct scale_sent {
    double calls, messages, bytes;
} scale_sent;
typedef struct scale_plan {
    scale_sent gather, exchange, reduce;
    double seconds;
} scale_plan;
scale_plan scale_plan_of(const scale_task* task, const ranks_network* network,
                         void (*schedule)(const scale_task*, const scale_visit*));

// ---- What happens: the library's own code, or its calls without data, over simulated ranks. False if there is no memory.
typedef struct scale_counts {
    ranks_counts build, nearest;
    int64_t memory; // bytes that a rank had lent at once in the build, the largest number of all ranks
} scale_counts;
bool scale_run(const scale_task* task, const ranks_network* network, scale_counts* counts);
bool scale_replay(const scale_task* task, const ranks_network* network, scale_counts* counts);

#endif
