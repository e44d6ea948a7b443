// Meshes with their colours and materials, as files hold them, made of Python's values.
#ifndef SAPWOOD_PYTHON_FILES_H
#define SAPWOOD_PYTHON_FILES_H

#include "mesh.h"

/** All zero can be released. */
typedef struct py_mesh_file {
    sap_mesh_file file;
    py_mesh mesh;
    py_array colors, material_ids, normals;
    sap_material* materials;
} py_mesh_file;

/**
 * Takes a tuple (vertices, triangles, colors, material_ids, materials, normals, origin), which must stay meanwhile:
 * arrays on the host, or None for what is not there; materials are tuples in the order of sap_material's fields. 0, or
 * -1 and an exception.
 */
int py_mesh_file_take(py_state* state, PyObject* parts, py_mesh_file* file);
void py_mesh_file_release(py_mesh_file* file);

/**
 * Something that the library made on a device, which is given back with `release` before the device goes: an owner for
 * py_array_of. Takes `made`, also on failure.
 */
PyObject* py_owner_new(py_device* device, void* made, void (*release)(void* made));

#endif
