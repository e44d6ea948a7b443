// Clusters on the CPU: sets of points that any number of threads join, and the kernels that find what is to be joined.
#ifndef SAPWOOD_CLOUD_CLUSTERS_H
#define SAPWOOD_CLOUD_CLUSTERS_H

#include "pairs/boxed.h"

// What is known of the core points below a node.
enum { SAP_CLUSTERS_ANY = -1, SAP_CLUSTERS_NONE = -2 }; // nothing; there are none

typedef struct sap_clusters {
    const sap_boxed* boxed;
    double limit2;    // a value of the tree's precision
    int64_t fewest;   // points within the limit that make a core point, itself among them
    uint8_t* core;    // by id: 0 for points that are no core points; NULL: all are
    int32_t* links;   // by id: the point that a point hangs from, which is never greater; a root hangs from itself
    int32_t* one_set; // by node: a core point below, if they are known to be in one set; SAP_CLUSTERS_ANY, …_NONE
    int32_t* labels;  // by id; for the search for border points: of core points 0 or above
} sap_clusters;

typedef struct sap_clusters_kernels {
    // Says which points of a leaf are core points. Many threads.
    void (*mark_cores)(sap_clusters* clusters, uint32_t leaf);
    // Joins the core points below nodes that are no wider than the radius, and says so of them in one_set. One thread.
    void (*join_small)(sap_clusters* clusters);
    // Joins the core points of a leaf with one another, and says in one_set whether that makes them one set. Many threads.
    void (*join_own)(sap_clusters* clusters, uint32_t leaf);
    // Joins the core points of a leaf with those of leaves that come after it. Many threads, after all own ones are joined.
    void (*join_leaf)(sap_clusters* clusters, uint32_t leaf);
    // Gives the points of a leaf that are no core points the label of the nearest core point. Many threads, after all
    // core points have labels.
    void (*label_border)(sap_clusters* clusters, uint32_t leaf);
} sap_clusters_kernels;

// ---- Sets that threads join without locks: a root is hung from a smaller one by one exchange, which fails if it is no
// root any more.

static inline int32_t sap_clusters_root(int32_t* links, int32_t point) {
    int32_t link = __atomic_load_n(&links[point], __ATOMIC_RELAXED);
    while (link != point) {
        const int32_t above = __atomic_load_n(&links[link], __ATOMIC_RELAXED);
        // Paths are halved; another thread may have done so, or more, meanwhile: any of it leads to the root.
        if (above != link) __atomic_store_n(&links[point], above, __ATOMIC_RELAXED);
        point = link;
        link = above;
    }
    return point;
}

// Returns the root of both.
static inline int32_t sap_clusters_join(int32_t* links, int32_t a, int32_t b) {
    for (;;) {
        a = sap_clusters_root(links, a);
        b = sap_clusters_root(links, b);
        if (a == b) return a;
        if (a > b) {
            const int32_t other = a;
            a = b;
            b = other;
        }
        int32_t expected = b;
        if (__atomic_compare_exchange_n(&links[b], &expected, a, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return a;
    }
}

#endif
