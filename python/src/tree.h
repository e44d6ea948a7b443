// What the files about sapwood.Tree know of one another.
#ifndef SAPWOOD_PYTHON_TREE_H
#define SAPWOOD_PYTHON_TREE_H

#include "sapwood_python.h"

/** Takes down what a tree is, after it was built. */
void py_tree_note(py_tree* self);

// How PyMethodDef wants methods that know their class and take keywords.
#define PY_METHOD(name, function, doc)                                                                                 \
    { name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL | METH_KEYWORDS, doc }

// Parts of a type: methods of several files are added to it one after another.
extern PyMethodDef py_tree_file_methods[];     // tree_file.c
extern PyMethodDef py_tree_search_methods[];   // search.c
extern PyMethodDef py_tree_pairs_methods[];    // tree_pairs.c
extern PyMethodDef py_tree_normals_methods[];  // cloud_normals.c
extern PyMethodDef py_tree_gather_methods[];   // cloud_gather.c
extern PyMethodDef py_tree_points_methods[];   // cloud_points.c
extern PyMethodDef py_tree_distance_methods[]; // cloud_distance.c
extern PyMethodDef py_tree_align_methods[];    // align.c
extern PyGetSetDef py_tree_attributes[];       // tree_info.c
PyObject* py_tree_repr(PyObject* object);
Py_ssize_t py_tree_length(PyObject* object);
/** Adds the functions that pickles need. */
int py_add_pickles(PyObject* module);

/** float32 or float64, of NumPy where that is. */
PyObject* py_dtype(py_state* state, int real_bits);

/**
 * What results of a call without queries are like: where the tree lies on a GPU because its points did, there, and written
 * after all that their library has asked for by now; else all zero, for arrays on the host. -1 and an exception.
 */
int py_tree_pattern(const py_tree* self, py_array* like);

/** A tree in a new object of a class, which may derive from Tree. Takes the tree and `memory`, also on failure. */
PyObject* py_tree_of(PyTypeObject* class, py_device* device, sap_tree* tree, PyObject* memory);

#endif
