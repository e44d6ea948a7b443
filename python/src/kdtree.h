// What the C files of sapwood.cKDTree and sapwood.KDTree share: SciPy's k-d tree, on top of sapwood.Tree.
//
// The library is linked statically and three of its inner headers are used: a tree is searched by as many threads as
// `workers` says (tree/layout.h: a view of it by another device), results are converted by the same threads
// (base/team.h), and radii are raised to powers as the library raises them (tree/limit.h).
#ifndef SAPWOOD_PYTHON_KDTREE_H
#define SAPWOOD_PYTHON_KDTREE_H

#include "sapwood_python.h"

#include "base/team.h"
#include "tree/layout.h"

// What all trees of the module use of NumPy, made by the first tree.
typedef struct py_kdtree_types {
    PyObject *intp, *dtype_intp, *dtype_int32, *dtype_float64, *dtype_object;
} py_kdtree_types;

struct py_kdtree_nodes;

// A cKDTree: KDTree differs in Python only, and in what kind of number a single index is.
typedef struct py_kdtree {
    py_tree tree;
    py_kdtree_types types;
    const sap_tree* built; // whose points `data` are
    PyObject* data;        // read-only, (n, m), of the tree's precision, C-contiguous
    Py_buffer view;        // of data
    Py_ssize_t bytes;      // that the tree's points have
    PyObject* boxsize;     // as SciPy shows it
    int64_t leaf_size;
    bool compact, balanced;        // how the nodes are divided
    bool plain_ids;                // a single index is an int, not a numpy.intp
    struct py_kdtree_nodes* nodes; // NULL until they are asked for
    PyObject *indices, *root;      // the same
} py_kdtree;

// ---- kdtree.c

/** Adds the type to the module. */
int py_add_kdtree(PyObject* module, py_state* state);
/** The tree of `self`, for a call; py_kdtree_done must follow. NULL and an exception if it is half-initialised. */
py_kdtree* py_kdtree_use(PyObject* self);
static inline void py_kdtree_done(py_kdtree* kd) { py_tree_done(&kd->tree); }
/** Whether an object is a cKDTree. */
bool py_is_kdtree(const py_state* state, PyObject* object);

/** Points given, the index of neighbours that are missing. */
static inline int64_t py_kdtree_n(const py_kdtree* kd) { return kd->tree.source_count; }

// ---- kdtree_arguments.c

/** Points that a caller gave, of any shape (…, m), C-contiguous in the tree's precision. */
typedef struct py_kdtree_points {
    const void* coords;
    int64_t count;
    int ndim;                // of the array; 1: a single point
    const Py_ssize_t* shape; // of the array, NULL for a point from a list or tuple
    Py_buffer view;
    double point[SAP_MAX_DIMS]; // from a list or tuple, in the tree's precision
} py_kdtree_points;
int py_kdtree_points_take(py_kdtree* kd, PyObject* object, py_kdtree_points* points);
static inline void py_kdtree_points_release(py_kdtree_points* points) {
    if (points->view.obj) PyBuffer_Release(&points->view);
}
/** Whether all coordinates are finite, by `threads` threads; without the GIL. */
bool py_kdtree_all_finite(const void* reals, int real_bits, int64_t count, int32_t threads);
/** Raises what SciPy raises where they are not. Returns NULL. */
PyObject* py_kdtree_not_finite(const char* name);

/** Which norm: sets the metric and p. -1 and a ValueError for p < 1. NULL is 2. */
int py_kdtree_norm(PyObject* p, sap_search* search);
/** Not negative; NULL is 0. */
int py_kdtree_eps(PyObject* eps, double* result);
/** `workers`, NULL or None for one, as a number of threads. */
int py_kdtree_workers(PyObject* workers, int32_t* threads);
/** A device of so many threads. A new reference. */
static inline py_device* py_kdtree_device(const py_kdtree* kd, int32_t threads) {
    return py_device_open(kd->tree.state, SAP_CPU, 0, threads, NULL, NULL);
}
/** A tree that is another's, searched by another device. */
static inline const sap_tree* py_kdtree_view(const py_kdtree* kd, const py_device* device, sap_tree* view) {
    *view = *kd->tree.tree;
    view->device = device->device;
    return view;
}
/** Numbers as a contiguous float64 array, of no axis for a single number, which the view keeps. */
int py_kdtree_doubles(const py_kdtree* kd, PyObject* object, const char* name, Py_buffer* view);
/** numpy.empty; its memory is `view`, to be released. A new reference. NULL and an exception. */
PyObject* py_kdtree_array(py_kdtree* kd, PyObject* dtype, int ndim, const Py_ssize_t* shape, Py_buffer* view);
/** The distances of two points from what the library calls distance2, by the norm of `search`. */
double py_kdtree_root(const sap_search* search, double distance2);

// ---- kdtree_lists.c: rows of ids as lists of ints

/** Ints that are made once and shared by all lists. */
typedef struct py_kdtree_ints {
    PyObject** made; // [count], NULL until wanted; NULL: each is made anew
    int64_t count;
} py_kdtree_ints;
/** For so many uses of ints below `count`. */
void py_kdtree_ints_open(py_kdtree_ints* ints, int64_t count, int64_t uses);
void py_kdtree_ints_close(py_kdtree_ints* ints);
/** A new reference. */
PyObject* py_kdtree_int(py_kdtree_ints* ints, int64_t value);
PyObject* py_kdtree_list(py_kdtree_ints* ints, const int32_t* ids, int64_t count);
/** Sorts the ids of each row; without the GIL. The distances are left where they are. */
sap_status py_kdtree_sort(sap_neighbors* rows, int32_t threads);

// ---- kdtree_pairs.c

// Methods that have no `workers` answer on one thread, as SciPy's do.
enum { PY_KDTREE_THREADS = 1 };

/** Two trees, or one twice, for a call. */
typedef struct py_kdtree_two {
    py_kdtree *kd, *other;
    py_device* device;
    const sap_tree *a, *b; // as the device searches them
    sap_tree view_a, view_b;
} py_kdtree_two;
/**
 * `other` NULL: self. Checks dimensions, precision and periods. -1 and an exception; else py_kdtree_two_close must
 * follow.
 */
int py_kdtree_two_open(py_kdtree_two* two, PyObject* self, PyObject* other, const char* function);
void py_kdtree_two_close(py_kdtree_two* two);
/**
 * The points of b within search.radius of each point of a, by the norm of `search`: rows of a's points. Called without
 * the GIL. A radius that is negative or not a number finds nothing: *rows is then NULL.
 */
sap_status py_kdtree_pairs(const py_kdtree_two* two, const sap_search* search, sap_neighbors** rows);
/** Points `from` … `to` - 1 of a tree as queries. */
static inline sap_points_f64 py_kdtree_queries_f64(const py_kdtree* kd, int64_t from, int64_t to) {
    const int32_t m = kd->tree.dims;
    return (sap_points_f64){(const double*)kd->view.buf + from * m, to - from, m, m};
}
static inline sap_points py_kdtree_queries_f32(const py_kdtree* kd, int64_t from, int64_t to) {
    const int32_t m = kd->tree.dims;
    return (sap_points){(const float*)kd->view.buf + from * m, to - from, m, m};
}

// ---- The methods, METH_FASTCALL | METH_KEYWORDS

PyObject* py_kdtree_query(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names);
PyObject* py_kdtree_query_ball_point(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names);
PyObject* py_kdtree_query_ball_tree(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names);
PyObject* py_kdtree_query_pairs(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names);
PyObject* py_kdtree_count_neighbors(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names);
PyObject* py_kdtree_distances(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names);

// ---- kdtree_nodes.c: the tree that is shown, by SciPy's rules

void py_kdtree_nodes_free(struct py_kdtree_nodes* nodes);
PyObject* py_kdtree_size(PyObject* self, void* unused);
PyObject* py_kdtree_indices(PyObject* self, void* unused);
/** Node number `index`, in preorder: (level, split_dim, split, start, end, lesser, greater). */
PyObject* py_kdtree_node(PyObject* self, PyObject* index);
PyObject* py_kdtree_build_weights(PyObject* self, PyObject* weights);

#endif
