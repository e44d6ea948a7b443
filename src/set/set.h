// Points that come and go, in memory.
//
// The newest points lie in one block, in order of their ids, and are looked at one by one. All others are in levels:
// balanced trees that are private to the set, each with its points' ids and places, in order of the ids. New points that
// find no room in the block go, with the block's and with the levels that are not larger, into one new level: so there
// is about one level for each fourfold of size, and a point is moved twice or so for each.
//
// A point is removed by writing +infinity, which pads leaves anyway, over its first coordinate: no search finds it, and
// none asks. The boxes and smallest ids above it stay as they are and still bound what is left. Leaves hold the set's
// ids, so one list of candidates goes through all levels, and its last entry bounds what each level is searched for:
// what is found does not depend on which point is in which level.
//
// A merge of many points is done by a thread beside the calls. Its levels stay where they are, searched as ever; what is
// removed from them meanwhile is removed from the new level when it takes their place, at the next change of the set.
#ifndef SAPWOOD_SET_SET_H
#define SAPWOOD_SET_SET_H

#include "set/ops.h"
#include "tree/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SAP_SET_FLAT = 512,      // points in the block
    SAP_SET_SMALLEST = 2048, // levels below so many points are of size 0
    SAP_SET_GROWTH_BITS = 2, // levels of each further size have up to four times as many points
    SAP_SET_SIZES = 12,      // up to 2^31 points
    SAP_SET_LEVELS = 64,     // at most
    SAP_SET_CROWDED = 40,    // levels at which a merge under way is waited for
    SAP_SET_SPARES = 4,      // levels without points that are kept
    SAP_SET_PLACE_BITS = 6,  // of a place: the slot in the leaf; above: the leaf
    SAP_SET_BESIDE = 1 << 16 // from so many points on a merge is done beside the calls
};

// A point of a level.
typedef struct sap_set_row {
    int32_t id;
    uint32_t place; // SAP_SET_GONE: it was removed by its id; the thread beside reads that at any time
} sap_set_row;

#define SAP_SET_GONE UINT32_MAX
static inline uint32_t sap_set_place(const sap_set_row* row) { return __atomic_load_n(&row->place, __ATOMIC_RELAXED); }

typedef struct sap_set_level {
    sap_tree tree;
    sap_set_row* rows;   // [tree.shape.count], ids ascending, removed points included
    int64_t first, last; // ids in them
    sap_scratch memory;  // of the rows
    int64_t live;        // points that are not removed
    bool is_trimmed;     // points went with a box: rows do not tell
    bool is_merging;     // the thread beside reads it
} sap_set_level;

// The newest points: a leaf of SAP_SET_FLAT slots. Free slots have the first coordinate +infinity.
typedef struct sap_set_flat {
    unsigned char* block;
    int32_t* ids; // within the block, ascending
    int32_t count, live;
} sap_set_flat;

struct sap_set {
    sap_device* device;
    int32_t dims, real_bits;
    bool in_background;
    int32_t users;   // calls that search, or a negative number: one that changes the set
    int64_t next_id; // above all ids that the set has had
    int64_t live;
    bool is_thin;      // a level may be: nobody looks at all of them after each removal
    void* kept;        // by another processor than the CPU, which has all that follows
    sap_device quiet;  // the device without log and progress, and with scratch memory of the set's own: for building
    sap_device beside; // the same with one thread: for the thread beside
    sap_set_flat flat;
    int32_t levels, spares;
    sap_set_level* level[SAP_SET_LEVELS]; // the largest first
    sap_set_level* spare[SAP_SET_SPARES];
    struct sap_set_worker* worker; // a merge under way, or NULL
};

// New points, in order of their ids.
typedef struct sap_set_batch {
    sap_rows rows;
    const int32_t* order; // rows by ascending id; NULL: as they come
    const int32_t* ids;   // [rows.count]; NULL: first, first + 1, …
    int64_t first;
} sap_set_batch;

static inline int64_t sap_set_batch_row(const sap_set_batch* b, int64_t i) { return b->order ? b->order[i] : i; }
static inline int32_t sap_set_batch_id(const sap_set_batch* b, int64_t i) {
    const int64_t row = sap_set_batch_row(b, i);
    return b->ids ? b->ids[row] : (int32_t)(b->first + row);
}

// ---- set/batch.c

// Checks the ids of a batch, and puts it in order: in `scratch`, to be given back.
sap_status sap_set_batch_take(sap_set* set, sap_set_batch* batch, sap_scratch* scratch);
// Counts a batch that is in the set now.
void sap_set_batch_taken(sap_set* set, const sap_set_batch* batch);

// One of the lists that a merge goes through: a level's, the block's or a batch's.
typedef struct sap_set_source {
    const sap_set_level* level;
    const sap_set_flat* flat;
    const sap_set_batch* batch;
    int64_t at, end;
} sap_set_source;

typedef struct sap_set_merge {
    sap_set_source source[SAP_SET_LEVELS + 2];
    int32_t sources;
    int32_t dims, real_bits;
    int64_t points;    // in all sources; removed ones are not counted
    sap_set_row* rows; // of the level that is made
} sap_set_merge;

// ---- set/merge_cpu.c

void sap_set_merge_begin(const sap_set* set, sap_set_merge* merge);
void sap_set_merge_level(sap_set_merge* merge, const sap_set_level* level);
// Builds a level from a merge; the level itself may be one of the sources. It is as it was if this fails, in silence.
sap_status sap_set_level_build(sap_device* device, sap_set_level* level, sap_set_merge* merge);
// A level without points: a spare one, or NULL where there is no memory.
sap_set_level* sap_set_level_create(sap_set* set);
// Keeps a level for later, or frees it.
void sap_set_level_give(sap_set* set, sap_set_level* level);
void sap_set_level_free(const sap_set* set, sap_set_level* level);
// Makes a level one of the set's.
void sap_set_level_add(sap_set* set, sap_set_level* level);
// Takes a merge's levels out of the set, but for `kept`, and gives them back.
void sap_set_levels_drop(sap_set* set, const sap_set_merge* merged, const sap_set_level* kept);
// Which size a level of so many points is of.
int32_t sap_set_size_of(int64_t points);
// Whether more than a third of a level is removed.
static inline bool sap_set_level_is_thin(const sap_set_level* level) {
    return level->live < level->tree.shape.count - level->tree.shape.count / 3;
}
// Rebuilds levels that are thin, where there is memory for it and none of them is being merged.
void sap_set_tidy(sap_set* set);

// ---- set/worker.c

// Begins to merge beside the calls. False: there is no thread or no memory for it, and nothing has happened.
bool sap_set_worker_begin(sap_set* set, const sap_set_merge* merge);
// Puts the new level in its sources' place, if it is ready; waits for it if asked to.
void sap_set_worker_end(sap_set* set, bool waits);
// Notes what goes from a level that is being merged. Room for ids is made before any goes: that may end the merge.
void sap_set_worker_expect(sap_set* set, int64_t ids);
void sap_set_worker_note(sap_set* set, int32_t id);
void sap_set_worker_note_box(sap_set* set, const sap_set_box* box);

// ---- set/remove_cpu.c

// Where an id is among a level's rows, or -1.
int64_t sap_set_find(const sap_set_level* level, int32_t id);
// Whether the set holds a point with this id.
bool sap_set_holds(const sap_set* set, int32_t id);
// Removes a level's point. False if it was removed before.
bool sap_set_level_remove(sap_set_level* level, int32_t id);

// ---- set/points_cpu.c: what depends on the precision

// Copies the points of a source with ids below `until` to the columns, from entry `at` on; where the next one goes.
int64_t sap_set_copy(const sap_set_merge* merge, sap_set_source* source, int64_t until, void* coords, int32_t* ids,
                     int64_t pitch, int64_t at);
// The first row with a coordinate that no tree takes, or -1.
int64_t sap_set_bad_row(const sap_rows* rows);
// Puts a batch into the block, which has room for it.
void sap_set_flat_put(sap_set* set, const sap_set_batch* batch);
// Empties the block; drops the removed points from it.
void sap_set_flat_clear(sap_set* set);
void sap_set_flat_pack(sap_set* set);
// Removes the point in a slot of a block. False if there is none.
bool sap_set_block_remove(unsigned char* block, int64_t slot, int32_t real_bits);
// The same without a look, which would be a wait for memory.
void sap_set_block_clear(unsigned char* block, int64_t slot, int32_t real_bits);
// Removes what a box takes away; how many points.
int64_t sap_set_level_trim(sap_set_level* level, const sap_set_box* box);
int64_t sap_set_flat_trim(sap_set* set, const sap_set_box* box);
// The block's points within limit2 of a query: how many; their ids and squared distances, if not NULL.
int64_t sap_set_flat_hits(const sap_set* set, const void* query, double limit2, int32_t* ids, void* distance2);

static inline unsigned char* sap_set_leaf(const sap_set_level* level, int64_t leaf) {
    return sap_block(&level->tree, leaf * level->tree.shape.stride);
}

#ifdef __cplusplus
}
#endif

#endif
