// The cut of one level, for the files that find it: in host memory (cut.c), or by counts that a device makes (cut_share.c).
#ifndef SAPWOOD_CLUSTER_LEVEL_H
#define SAPWOOD_CLUSTER_LEVEL_H

#include "cluster/cut.h"
#include "cluster/ops.h"

enum { SAP_CUT_TIE_BITS = 8 }; // of ranks, by which equal points are shared out

// How many low bits of a number hold all that are set.
static inline int32_t sap_cut_bits_of(uint64_t number) { return number ? 64 - __builtin_clzll(number) : 0; }

// A node of this level, while its median is looked for.
typedef struct sap_cut_search {
    sap_cut_node node;
    int64_t middle;
    int64_t left;     // points that still are to go left, of those in question
    int64_t tied_end; // tied[node.begin … tied_end - 1] are in question …
    bool is_all;      // … or all rows of the node, and `tied` holds at most what is kept of them
    int64_t kept_low,
        kept_high;  // bins, one of which the median is likely to be in: their rows are kept while they are counted
    int64_t take;   // of the tied ones of this rank, how many go left
    int32_t last;   // of the ranks before this one all do
    int64_t gone;   // of this rank's points, how many have gone left
    int64_t bin;    // that the median is in
    uint64_t first; // key, as far as it is looked for, that is guessed
    uint64_t key[SAP_MAX_DIMS + 1];
    int32_t axis, from, to; // keys [from, to) tell
    int32_t unknown;        // low bits of the key that is looked for
    int32_t differing;      // low bits of the first key in which the node's points differ
    bool goes_on;           // a key is looked for
    bool is_counted;        // bits of it now
    sap_cut_node* half[2];  // where they are kept
} sap_cut_search;

// What the searches of a level share.
typedef struct sap_cut_level {
    sap_comm* comm;
    sap_device* device;
    sap_cut* cut;
    sap_cut_search* searches;
    int32_t count;
    int32_t* tied;
    int32_t* moved;
    uint64_t* numbers; // boxes, histograms, counts
    int32_t id_bits;
    int32_t key, shift; // that are counted, of bits from `shift` on
    int64_t bins;
    bool is_guess;     // bins lie around a guess, but the first and the last one; else they are of all keys
    int32_t stretches; // of a node's rows, each of which a thread works on
    uint64_t *partial,
        *room;     // boxes and histograms of the stretches: the numbers, or if there are several a node, room
    int64_t* kept; // [nodes * stretches] rows of each that are tied, or go left
    // Of points on a device:
    uint64_t* box_of;     // [count][2 * dims] boxes, which outlive the level's numbers
    uint32_t* own;        // histograms of this rank
    sap_share_node* node; // [count]
    uint16_t* names;      // [2 * count] of the halves
    uint64_t largest_id;
} sap_cut_level;

// ---- cluster/cut.c
// The plane of an earlier cut that split the same node by the same axis, or NULL.
const sap_cut_plane* sap_cut_last_of(const sap_cut_level* l, const sap_cut_search* s);

// ---- cluster/cut_share.c
extern int64_t sap_cut_sampled_least; // points a rank: of fewer none is looked at before the others. Tests lower it.
// Memory that points on a device need besides: bytes, and its division among the level's arrays.
size_t sap_cut_share_bytes(int32_t ranks);
void sap_cut_share_open(sap_cut_level* l, unsigned char* at);
sap_status sap_cut_share_ids(sap_cut_level* l);
sap_status sap_cut_share_boxes(sap_cut_level* l);
sap_status sap_cut_share_keys(sap_cut_level* l);
sap_status sap_cut_share_divide(sap_cut_level* l);

#endif
