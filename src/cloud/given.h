// What callers give for each point of a tree. That of points which the tree has left out may be anything: nobody reads it.
#ifndef SAPWOOD_CLOUD_GIVEN_H
#define SAPWOOD_CLOUD_GIVEN_H

#include "tree/layout.h"

// The first of the numbers from … count - 1 that is not as it should be, or count.
typedef int64_t sap_given_find(const void* values, int64_t from, int64_t count);
sap_given_find sap_given_not_finite_f32, sap_given_not_finite_f64;

// Of values[source_count][width] the first number that `find` finds in a row of a point of the tree: *bad, or -1.
sap_status sap_given_check(const sap_tree* tree, const void* values, int64_t width, sap_given_find* find, int64_t* bad);

// Refuses normals of which one is not finite, called `name` in the log. NULL: there are none.
sap_status sap_given_check_normals(const sap_tree* tree, const float* normals, const char* name);

#endif
