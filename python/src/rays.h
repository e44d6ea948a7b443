// Rays made of arrays, as the files that trace them see them.
#ifndef SAPWOOD_PYTHON_RAYS_H
#define SAPWOOD_PYTHON_RAYS_H

#include "mesh.h"

/** Rays or points that the library is asked at a time: enough for it to sort, and little memory. */
enum { PY_PART = 1 << 20 };

static inline int64_t py_part_of(int64_t count, int64_t first) {
    return count - first < PY_PART ? count - first : PY_PART;
}
/** Memory for a part of `count` items. NULL and an exception. */
void* py_part_scratch(int64_t count, size_t bytes);

/** Rays as the caller gave them. All zero can be released. */
typedef struct py_rays {
    py_array origins, directions, t_min, t_max;
    double least, most; // where t_min and t_max are numbers
    int64_t count;
    bool are_records; // origins are whole rays
} py_rays;

/** Takes the arguments of a search. `directions` None: origins are records of rays. 0, or -1 and an exception. */
int py_rays_take(py_state* state, const py_device* device, PyObject* origins, PyObject* directions, PyObject* t_min,
                 PyObject* t_max, py_rays* rays);
void py_rays_release(py_rays* rays);
/** Rays [first, first + count), of arrays that are no records, relative to an origin. */
void py_rays_fill(const py_rays* arrays, const double origin[3], int64_t first, int64_t count, sap_ray* rays);

#endif
