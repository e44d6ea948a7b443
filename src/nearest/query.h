// A prepared search: what a single call would find out anew each time.
#ifndef SAPWOOD_NEAREST_QUERY_H
#define SAPWOOD_NEAREST_QUERY_H

#include "nearest/next.h"
#include "nearest/walk_cpu.h"
#include "radius/ops.h"
#include "sapwood/query.h"
#include "tree/layout.h"

enum { SAP_QUERY_VIEW = 192 }; // room for a tree as the vector kernels see it

// Answers one query: ids[search.k] and distance2[search.k], which may be NULL. Returns how many neighbours there are.
typedef int32_t (*sap_query_answer)(const sap_query* query, const void* point, int32_t* ids, void* distance2);

// Finds the points within limit2 of one query: row->ids[capacity] and distance2[capacity] as far as they fit. Returns how
// many there are, or -1 without memory.
typedef int64_t (*sap_query_within_answer)(sap_query* query, const void* point, double limit2,
                                           const sap_radius_rows* row);

struct sap_query {
    _Alignas(SAP_ALIGNMENT) unsigned char view[SAP_QUERY_VIEW]; // of a balanced tree, by its kernels
    sap_query_answer answer;
    const sap_tree* tree;
    const unsigned char* arrays; // the tree's when the search was made ready …
    int64_t count;               // … and its number of points: a rebuilt tree has others, or looks as it did
    int32_t k;                   // neighbours that there can be: search.k, but no more than there are points
    sap_answer_function walk;    // the shared walks: what answers
    sap_search search;           // as the caller gave it
    double limit2;               // largest squared distance that counts
    void* keys;                  // k keys of 16 bytes for long lists, or NULL
    size_t keys_bytes;
    sap_query_within_answer within;
    double radius, radius2; // of the last call for a radius, and its limit: calls mostly ask for the same
    unsigned char* hits;    // memory that `within` collects in, or NULL
    size_t hits_bytes;
    sap_next next;          // sap_query_begin
    sap_query_answer plain; // a balanced tree with periods: what answers without them
};

// The kernels of an instruction set and precision for balanced trees.
typedef struct sap_one_kernels {
    // Makes a search ready for the tree as it is now: view and answer. There is at least one point.
    void (*prepare)(sap_query* query);
} sap_one_kernels;

// Makes a search on the CPU ready for its tree as it is now.
sap_status sap_query_prepare_cpu(sap_query* query);
// nearest/within_cpu.c
int64_t sap_query_within_cpu(sap_query* query, const void* point, double limit2, const sap_radius_rows* row);

#endif
