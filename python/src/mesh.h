// sapwood.MeshTree, as the C files that search it see it.
#ifndef SAPWOOD_PYTHON_MESH_H
#define SAPWOOD_PYTHON_MESH_H

#include "sapwood_python.h"

/** What sapwood.MeshTree derives from. */
typedef struct py_mesh_tree {
    PyObject_HEAD py_state* state;
    sap_mesh_tree* tree; // NULL: it has not been built
    py_device* device;
    PyObject* memory; // bytes that the tree lies in, or NULL
    double origin[3]; // of the coordinates that the tree holds: the caller's are further away by this
    bool is_shifted;  // the origin is not 0, 0, 0
    int32_t users;    // calls at work on it; -1: it is being rebuilt. Guarded by the GIL
    uint64_t version; // another one whenever the tree is another, or was rebuilt
} py_mesh_tree;

/**
 * The tree of an object that is known to be a MeshTree, for a call that reads it: py_mesh_tree_done must follow. NULL
 * and an exception if it has not been built, or if another thread rebuilds it.
 */
py_mesh_tree* py_mesh_tree_use(PyObject* object);
void py_mesh_tree_done(py_mesh_tree* tree);

/** A mesh made of arrays. All zero can be released. */
typedef struct py_mesh {
    sap_mesh mesh;
    py_array vertices, triangles;
    float* made; // vertices that had to be converted
} py_mesh;

/**
 * Takes arrays of vertices [n, 3] and triangles [m, 3], host memory or that of a GPU. The origin, or NULL, is
 * subtracted from vertices of the host, in double. 0, or -1 and an exception.
 */
int py_mesh_take(py_state* state, PyObject* vertices, PyObject* triangles, const double* origin, const py_device* on,
                 py_mesh* mesh);
void py_mesh_release(py_mesh* mesh);

/**
 * Tells `progress`, which is None or has a method part(first, count), that a call made of several is at these of its
 * items now. 0, or -1 and an exception.
 */
int py_progress_part(PyObject* progress, int64_t first, int64_t count);

// ---- rays.c: the methods that search, which mesh.c puts into the type.
PyObject* py_mesh_trace(PyObject* self, PyObject* args);
PyObject* py_mesh_occluded(PyObject* self, PyObject* args);
PyObject* py_mesh_trace_all(PyObject* self, PyObject* args);
PyObject* py_mesh_closest(PyObject* self, PyObject* args);
PyObject* py_mesh_inside(PyObject* self, PyObject* args);
PyObject* py_mesh_signed_distance(PyObject* self, PyObject* args);
// ---- cloud_distance.c and align.c
PyObject* py_mesh_distance(PyObject* self, PyObject* args);
PyObject* py_mesh_align(PyObject* self, PyObject* args);

#endif
