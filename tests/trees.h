// What tests look at inside trees.
#ifndef SAPWOOD_TESTS_TREES_H
#define SAPWOOD_TESTS_TREES_H

#include "tree/host_view.h"
#include <string.h>

// Whether two trees are the same, byte for byte, wherever they lie.
static inline bool trees_equal(const sap_tree* a, const sap_tree* b) {
    const sap_tree_shape *s = &a->shape, *t = &b->shape;
    bool sizes = s->count == t->count && s->source_count == t->source_count && s->not_finite == t->not_finite &&
                 s->dims == t->dims && s->real_bits == t->real_bits && s->nodes == t->nodes && s->leaves == t->leaves &&
                 s->slots == t->slots && s->depth == t->depth && s->capacity == t->capacity && s->bytes == t->bytes;
    sap_host_view x, y;
    if (!sizes || sap_host_view_open(a, &x) != SAP_OK) return false;
    bool equal = sap_host_view_open(b, &y) == SAP_OK;
    if (equal) {
        equal = !memcmp(x.tree.arrays, y.tree.arrays, s->bytes);
        sap_host_view_close(&y);
    }
    sap_host_view_close(&x);
    return equal;
}

#endif
