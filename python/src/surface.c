// Surfaces of volumes. Names, defaults and documentation are in sapwood/surface.py.
#include "files.h"

static void release_surface(void* made) { sap_isosurface_free(made); }

static sap_voxel voxel_of(const py_array* values) {
    if (values->kind == 'f') return SAP_VOXEL_F32;
    if (values->bytes == 1) return SAP_VOXEL_U8;
    return values->kind == 'i' ? SAP_VOXEL_I16 : SAP_VOXEL_U16;
}

// Arrays over the memory of a surface.
static PyObject* surface_arrays(py_state* state, const py_array* values, const sap_isosurface* surface, PyObject* owner,
                                const py_device* device) {
    const sap_mesh* mesh = &surface->mesh;
    const int64_t places[2] = {mesh->vertex_count, 3}, corners[2] = {mesh->triangle_count, 3};
    const py_array* like = surface->on_device ? values : NULL;
    const py_device* where = surface->on_device ? device : NULL;
    PyObject* parts[3] = {py_array_of(state, like, (void*)(uintptr_t)mesh->vertices, 'f', 4, 2, places, owner, where),
                          NULL};
    if (parts[0])
        parts[1] = py_array_of(state, like, (void*)(uintptr_t)mesh->triangles, 'i', 4, 2, corners, owner, where);
    if (parts[1])
        parts[2] = py_array_of(state, like, (void*)(uintptr_t)surface->normals, 'f', 4, 2, places, owner, where);
    PyObject* result = parts[2] ? PyTuple_Pack(3, parts[0], parts[1], parts[2]) : NULL;
    for (int i = 0; i < 3; i++) Py_XDECREF(parts[i]);
    return result;
}

// isosurface(values, level, low_inside, spacing, origin, device, threads, progress), values [z, y, x] of f4, u1, i2 or
// u2: (vertices, triangles, normals)
static PyObject* isosurface(PyObject* module, PyObject* args) {
    py_state* state = PyModule_GetState(module);
    PyObject *object, *where, *progress;
    sap_volume volume = {0};
    sap_isosurface_options options = {0};
    int low_inside, threads;
    if (!py_parse(args, "Ofp(fff)(fff)OiO:isosurface", &object, &options.level, &low_inside, &volume.spacing[0],
                  &volume.spacing[1], &volume.spacing[2], &volume.origin[0], &volume.origin[1], &volume.origin[2],
                  &where, &threads, &progress))
        return NULL;
    options.low_inside = low_inside != 0;
    py_array values = {0};
    if (py_array_take(state, object, "volume", "f4u1i2u2", 3, 3, 0, NULL, &values) < 0) return NULL;
    volume.values = values.data;
    volume.type = voxel_of(&values);
    for (int a = 0; a < 3; a++) volume.size[a] = values.shape[2 - a];
    sap_isosurface* surface = NULL;
    py_device* device = py_device_for(state, where, threads, &values);
    PyObject *owner = NULL, *result = NULL;
    py_call call;
    if (device && py_call_begin(&call, device, &values, progress) == 0) {
        const sap_status status = sap_isosurface_extract(device->device, volume, &options, &surface);
        if (py_call_end(&call, status) == 0)
            owner = py_owner_new(device, surface, release_surface);
        else
            sap_isosurface_free(surface);
    }
    if (owner) result = surface_arrays(state, &values, surface, owner, device);
    Py_XDECREF(owner);
    Py_XDECREF((PyObject*)device);
    py_array_release(&values);
    return result;
}

int py_add_surface(PyObject* module, py_state* state) {
    (void)state;
    static PyMethodDef functions[] = {{"isosurface", isosurface, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
    return PyModule_AddFunctions(module, functions);
}
