// What tests look at inside trees.
#ifndef SAPWOOD_TESTS_TREES_H
#define SAPWOOD_TESTS_TREES_H

#include "tree/layout.h"
#include <string.h>

// Whether two trees are the same, byte for byte.
static inline bool trees_equal(const sap_tree* a, const sap_tree* b) {
    const sap_tree_shape *s = &a->shape, *t = &b->shape;
    bool sizes = s->count == t->count && s->source_count == t->source_count && s->dims == t->dims &&
                 s->real_bits == t->real_bits && s->nodes == t->nodes && s->leaves == t->leaves &&
                 s->slots == t->slots && s->depth == t->depth && s->capacity == t->capacity && s->bytes == t->bytes;
    return sizes && !memcmp(a->arrays, b->arrays, s->bytes);
}

#endif
