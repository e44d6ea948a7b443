// Subdivisions in memory, and what they are made from. move/subdivide.h says what programs, masks and records are.
//
// **Levels.** Level l + 1 has the vertices of level l in their order, then one for each of its edges. Edge e becomes
// the edges 2e, at its start, and 2e + 1, at its end; behind them come the three edges inside each triangle, that which
// cuts off corner j being number 3t + j of them. Triangle t becomes 4t + j, which keeps corner j at place j, and 4t + 3
// in its middle, whose corner j is the vertex of side j. Side j of a triangle leads from corner j to the next one; the
// number 3t + j is that of a corner or of a side.
#ifndef SAPWOOD_MOVE_SUBDIVISION_H
#define SAPWOOD_MOVE_SUBDIVISION_H

#include "device/device.h"
#include "move/subdivide.h"
#include "sapwood/move.h"

#ifdef __cplusplus
extern "C" {
#endif

// How much there is of a level.
typedef struct sap_loop_counts {
    int64_t vertices, triangles, edges;
    int64_t creases, borders; // of the edges, those that are sharp: with two triangles, with one
    int64_t entries;          // of the list of programs
} sap_loop_counts;

// The user's pointer is to the first member.
typedef struct sap_subdivision_owned {
    sap_subdivision shown;
    sap_device* device;
    bool limit;
    sap_loop_counts counts[SAP_SUBDIVISION_MOST + 1];
    unsigned char* arrays; // of shown.bytes, where the device has them
    size_t record_at, table_at, triangle_at, list_at[SAP_SUBDIVISION_MOST + 1], quad_at[SAP_SUBDIVISION_MOST];
} sap_subdivision_owned;

static inline sap_loop_level sap_loop_level_of(const sap_subdivision_owned* s, int32_t level) {
    sap_loop_level of;
    of.records = (const uint32_t*)(const void*)(s->arrays + s->record_at);
    of.table = (const float*)(const void*)(s->arrays + s->table_at);
    of.list = (const int32_t*)(const void*)(s->arrays + s->list_at[level]);
    of.quads = level < s->shown.levels ? (const int32_t*)(const void*)(s->arrays + s->quad_at[level]) : NULL;
    of.vertices = s->counts[level].vertices;
    of.edges = s->counts[level].edges;
    return of;
}

// ---- Making

typedef struct sap_loop_edge {
    int32_t from, to;
    int32_t left;  // the side that leads from `from` to `to`
    int32_t right; // the one that leads back; -1: the edge is a border
} sap_loop_edge;

// A level while the next one is made from it.
typedef struct sap_loop_mesh {
    sap_loop_counts counts;
    unsigned char* memory; // of the arrays below but the last
    size_t bytes;
    int32_t* corners;    // [3*triangles] vertices
    int32_t* sides;      // [3*triangles] edges
    sap_loop_edge* edge; // [edges]
    uint8_t* sharp;      // [edges]
    int32_t* list;       // [entries] programs, with edges in the places of neighbours
    size_t list_bytes;
} sap_loop_mesh;

static inline int32_t sap_loop_next(int32_t corner) { return corner % 3 == 2 ? corner - 2 : corner + 1; }
static inline int32_t sap_loop_before(int32_t corner) { return corner % 3 == 0 ? corner + 2 : corner - 1; }
static inline int32_t sap_loop_across(sap_loop_edge edge, int32_t vertex) {
    return edge.from == vertex ? edge.to : edge.from;
}

// Room for a level's arrays but its list, and for that. False: there is no memory.
bool sap_loop_mesh_reserve(const sap_device* device, const sap_loop_counts* counts, sap_loop_mesh* mesh);
bool sap_loop_list_reserve(const sap_device* device, sap_loop_mesh* mesh);
void sap_loop_mesh_free(const sap_device* device, sap_loop_mesh* mesh);

// move/edges.c: finds the edges of `mesh`, whose corners are there, in the order of their lower and higher vertices,
// and which are sharp. `mesh` gets the memory.
sap_status sap_loop_edges(const sap_device* device, const int32_t* corners, int64_t triangles, int64_t vertices,
                          const sap_subdivision_options* options, sap_loop_mesh* mesh);

// Where the weights of vertices and sectors with so many neighbours are in the table.
typedef struct sap_loop_weights {
    int64_t most;               // neighbours
    uint32_t *of_ring, *of_fan; // [most + 1] of smooth vertices; of sectors beside creases; 0: none
    int64_t floats;             // of the table
    unsigned char* memory;
    size_t bytes;
} sap_loop_weights;
void sap_loop_weights_fill(const sap_loop_weights* weights, float* table);

// move/rings.c: programs of the first level. Counts what they need first, into mesh->counts.entries and `weights`, then
// fills mesh->list and the records.
typedef struct sap_loop_rings {
    const sap_loop_mesh* mesh;
    const sap_subdivision_options* options;
    unsigned char* memory;
    size_t bytes;
    int32_t *first, *around; // [vertices + 1], [3*triangles]: the corners of each vertex, in their order
    uint8_t *is_corner, *sharp,
        *seen;               // [vertices] as told; sharp edges, 3 at most; [3*triangles] corners of fans found
    int32_t *edges, *starts; // of the fans of a vertex: [2*most] their edges; [most + 1] where those of each begin
    uint8_t* closed;         // [most] whether each goes all round
} sap_loop_rings;
sap_status sap_loop_rings_open(const sap_device* device, sap_loop_mesh* mesh, const sap_subdivision_options* options,
                               sap_loop_rings* rings, sap_loop_weights* weights);
void sap_loop_rings_fill(sap_loop_rings* rings, const sap_loop_weights* weights, uint32_t* records, int32_t* list);
void sap_loop_rings_close(const sap_device* device, sap_loop_rings* rings);

// move/levels.c: how much the next level has of everything.
sap_loop_counts sap_loop_counts_next(const sap_loop_counts* counts);

// From one level to the next.
typedef struct sap_loop_step {
    const sap_loop_mesh* mesh;
    const sap_loop_weights* weights;
    uint32_t* records;   // of all vertices of the next level: those of the new ones are still to be made
    int32_t* quads;      // [4*edges] to be made, as are these of the next level:
    int32_t* corners;    // [3*triangles]
    int32_t* list;       // [entries]
    sap_loop_mesh* next; // all else; NULL: it is the last
    int32_t threads;
} sap_loop_step;
void sap_loop_step_make(sap_loop_step* step);

#ifdef __cplusplus
}
#endif
#endif
