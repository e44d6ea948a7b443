// What sapwood.MeshTree derives from: building, saving, loading and describing trees over triangles. Names, defaults
// and documentation are in sapwood/mesh.py.
#include "mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Arrays of meshes

// Rows of three floats, contiguous, less the origin. Host memory only.
static float* make_floats(const py_array* rows, const double origin[3]) {
    const int64_t count = rows->shape[0];
    float* made = malloc((size_t)count * 3 * sizeof *made + 1);
    if (!made) return NULL;
    for (int64_t i = 0; i < count; i++)
        for (int a = 0; a < 3; a++) {
            const int64_t at = i * rows->stride + a;
            const double value = rows->bytes == 8 ? ((const double*)rows->data)[at] : ((const float*)rows->data)[at];
            made[3 * i + a] = (float)(value - origin[a]);
        }
    return made;
}

// Whether an array is a table of three columns, or holds nothing at all, as an empty list does.
static bool is_table(const py_array* array) {
    return array->ndim == 2 ? array->shape[1] == 3 : array->ndim == 1 && array->shape[0] == 0;
}

static int check_shapes(const py_mesh* mesh) {
    const py_array *vertices = &mesh->vertices, *triangles = &mesh->triangles;
    if (!is_table(vertices))
        PyErr_SetString(py_argument_error, "vertices must have the shape (n, 3): x, y, z of each");
    else if (!is_table(triangles))
        PyErr_SetString(py_argument_error, "triangles must have the shape (m, 3): the vertices at their corners");
    else if (vertices->on_gpu != triangles->on_gpu)
        PyErr_SetString(py_argument_error, "vertices and triangles must both lie on the host or both on the GPU");
    else
        return 0;
    return -1;
}

int py_mesh_take(py_state* state, PyObject* vertices, PyObject* triangles, const double* origin, const py_device* on,
                 py_mesh* mesh) {
    static const double nowhere[3] = {0};
    *mesh = (py_mesh){0};
    if (py_array_take(state, vertices, "vertices", "f4f8", 1, 2, 0, on, &mesh->vertices) < 0 ||
        py_array_take(state, triangles, "triangles", "i4", 1, 2, 0, on, &mesh->triangles) < 0 ||
        check_shapes(mesh) < 0) {
        py_mesh_release(mesh);
        return -1;
    }
    const py_array *places = &mesh->vertices, *corners = &mesh->triangles;
    const bool shifted = origin && (origin[0] != 0 || origin[1] != 0 || origin[2] != 0);
    const bool apart = places->shape[0] > 1 && places->stride != 3;
    if ((corners->shape[0] > 1 && corners->stride != 3) ||
        (places->on_gpu && (apart || places->bytes == 8 || shifted))) {
        PyErr_Format(py_argument_error, "%s must be contiguous%s",
                     places->on_gpu ? "vertices and triangles on a GPU" : "triangles",
                     places->on_gpu ? ", vertices float32 and without an origin" : "");
        py_mesh_release(mesh);
        return -1;
    }
    if (places->shape[0] && (apart || places->bytes == 8 || shifted)) {
        mesh->made = make_floats(places, shifted ? origin : nowhere);
        if (!mesh->made) {
            py_mesh_release(mesh);
            PyErr_NoMemory();
            return -1;
        }
    }
    mesh->mesh = (sap_mesh){mesh->made ? mesh->made : places->data, places->shape[0], corners->data, corners->shape[0]};
    return 0;
}

void py_mesh_release(py_mesh* mesh) {
    free(mesh->made);
    py_array_release(&mesh->vertices);
    py_array_release(&mesh->triangles);
    *mesh = (py_mesh){0};
}

// ---- The object

static py_mesh_tree* mesh_tree_of(PyObject* self) { return (py_mesh_tree*)self; }

py_mesh_tree* py_mesh_tree_use(PyObject* object) {
    py_mesh_tree* self = mesh_tree_of(object);
    if (!self->tree)
        PyErr_SetString(py_argument_error, "this MeshTree has not been built: its __init__ was not called, or failed");
    else if (self->users < 0)
        PyErr_SetString(PyExc_RuntimeError, "this MeshTree is being rebuilt by another thread");
    else {
        self->users++;
        return self;
    }
    return NULL;
}

void py_mesh_tree_done(py_mesh_tree* tree) { tree->users--; }

// What a child of a fork has of its parent's GPU is left alone.
static void free_tree(py_mesh_tree* self) {
    if (self->tree && py_device_usable(self->device)) sap_mesh_tree_free(self->tree);
    Py_XDECREF(self->memory);
    Py_XDECREF((PyObject*)self->device);
}

// Gives the object another tree, and the memory in which it lies. Takes all three, also on failure.
static int set_tree(py_mesh_tree* self, py_device* device, sap_mesh_tree* tree, PyObject* memory) {
    if (self->users) {
        PyErr_SetString(PyExc_RuntimeError, "this MeshTree is being searched by another thread");
        sap_mesh_tree_free(tree);
        Py_XDECREF(memory);
        Py_DECREF((PyObject*)device);
        return -1;
    }
    free_tree(self);
    self->version++;
    self->tree = tree;
    self->memory = memory;
    self->device = device;
    return 0;
}

static void set_origin(py_mesh_tree* self, const double origin[3]) {
    memcpy(self->origin, origin, sizeof self->origin);
    self->is_shifted = origin[0] != 0 || origin[1] != 0 || origin[2] != 0;
}

static PyObject* mesh_tree_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
    (void)args, (void)keywords;
    py_state* state = py_state_of(type);
    if (!state) return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject* self = allocate(type, 0);
    if (self) mesh_tree_of(self)->state = state;
    return self;
}

static void mesh_tree_dealloc(PyObject* object) {
    py_mesh_tree* self = mesh_tree_of(object);
    PyTypeObject* type = Py_TYPE(object);
    free_tree(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

// ---- Building

// _build(vertices, triangles, subtracted, origin, options, device, threads, progress): what is subtracted from vertices
// is the origin, unless they are relative to it already.
static PyObject* mesh_tree_build(PyObject* object, PyObject* args) {
    py_mesh_tree* self = mesh_tree_of(object);
    PyObject *vertices, *triangles, *where, *progress;
    double subtracted[3], origin[3];
    int quality, cost, small_node, depth, threads;
    sap_mesh_tree_options options = {0};
    Py_ssize_t memory;
    if (!py_parse(args, "OO(ddd)(ddd)(iiffffiin)OiO:_build", &vertices, &triangles, &subtracted[0], &subtracted[1],
                  &subtracted[2], &origin[0], &origin[1], &origin[2], &quality, &cost, &options.radius,
                  &options.traversal_cost, &options.intersection_cost, &options.empty_space, &small_node, &depth,
                  &memory, &where, &threads, &progress))
        return NULL;
    options.quality = (sap_quality)quality;
    options.cost = (sap_cost)cost;
    options.small_node = small_node;
    options.depth = depth;
    options.memory = (size_t)memory;
    py_mesh mesh;
    if (py_mesh_take(self->state, vertices, triangles, subtracted, NULL, &mesh) < 0) return NULL;
    sap_mesh_tree* tree = NULL;
    py_device* device = py_device_for(self->state, where, threads, &mesh.vertices);
    py_call call;
    int result = device ? py_call_begin(&call, device, &mesh.vertices, progress) : -1;
    if (result == 0) {
        const sap_status status = sap_mesh_tree_build(device->device, mesh.mesh, &options, &tree);
        result = py_call_end(&call, status);
        if (result < 0) sap_mesh_tree_free(tree);
    }
    py_mesh_release(&mesh);
    if (result < 0) {
        Py_XDECREF((PyObject*)device);
        return NULL;
    }
    if (set_tree(self, device, tree, NULL) < 0) return NULL;
    set_origin(self, origin);
    return Py_NewRef(Py_None);
}

// Makes a tree one over another mesh. loss: NULL to build it anew, else of a refit.
static PyObject* change(PyObject* object, PyObject* args, const char* format, double* loss) {
    PyObject *vertices, *triangles, *progress;
    double subtracted[3];
    if (!py_parse(args, format, &vertices, &triangles, &subtracted[0], &subtracted[1], &subtracted[2], &progress))
        return NULL;
    py_mesh_tree* self = py_mesh_tree_use(object);
    if (!self) return NULL;
    py_mesh_tree_done(self);
    py_mesh mesh;
    if (py_mesh_take(self->state, vertices, triangles, subtracted, self->device, &mesh) < 0) return NULL;
    int result = -1;
    py_call call;
    if (self->users) { // taking arrays may have run Python code
        PyErr_SetString(PyExc_RuntimeError, "this MeshTree is being searched or rebuilt by another thread");
    } else {
        self->users = -1;
        self->version++;
        result = py_call_begin(&call, self->device, &mesh.vertices, progress);
        if (result == 0)
            result = py_call_end(&call, loss ? sap_mesh_tree_refit(self->tree, mesh.mesh, loss)
                                             : sap_mesh_tree_rebuild(self->tree, mesh.mesh));
        self->users = 0;
    }
    py_mesh_release(&mesh);
    if (result < 0) return NULL;
    return loss ? PyFloat_FromDouble(*loss) : Py_NewRef(Py_None);
}

// _rebuild(vertices, triangles, subtracted, progress)
static PyObject* mesh_tree_rebuild(PyObject* object, PyObject* args) {
    return change(object, args, "OO(ddd)O:_rebuild", NULL);
}

// _refit(vertices, triangles, subtracted, progress) -> loss
static PyObject* mesh_tree_refit(PyObject* object, PyObject* args) {
    double loss = 1;
    return change(object, args, "OO(ddd)O:_refit", &loss);
}

// ---- Saved trees

// save(path)
static PyObject* mesh_tree_save(PyObject* object, PyObject* where) {
    py_mesh_tree* self = py_mesh_tree_use(object);
    if (!self) return NULL;
    PyObject* path = py_path(where);
    int result = -1;
    py_call call;
    if (path && py_call_begin(&call, self->device, NULL, NULL) == 0)
        result = py_call_end(&call, sap_mesh_tree_save(self->tree, PyBytes_AsString(path)));
    Py_XDECREF(path);
    py_mesh_tree_done(self);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

// _bytes(): the saved tree
static PyObject* mesh_tree_bytes(PyObject* object, PyObject* nothing) {
    (void)nothing;
    py_mesh_tree* self = py_mesh_tree_use(object);
    if (!self) return NULL;
    int64_t size = 0;
    void* data = NULL;
    sap_status status = sap_mesh_tree_saved_size(self->tree, &size);
    PyObject* memory = status == SAP_OK ? py_memory_new(self->state, size, &data) : py_raise(self->state, status);
    int result = -1;
    py_call call;
    if (memory && py_call_begin(&call, self->device, NULL, NULL) == 0)
        result = py_call_end(&call, sap_mesh_tree_save_memory(self->tree, data, size));
    py_mesh_tree_done(self);
    if (result < 0) Py_CLEAR(memory);
    return memory;
}

static PyObject* load(py_mesh_tree* self, PyObject* source, const double origin[3], int trust, PyObject* where,
                      int threads, bool from_memory) {
    const sap_load_options options = {.trust = trust != 0};
    py_device* device = py_device_for(self->state, where, threads, NULL);
    if (!device) return NULL;
    PyObject *path = NULL, *memory = NULL;
    Py_buffer view = {0};
    void* data = NULL;
    bool ready;
    if (from_memory) {
        ready = PyObject_GetBuffer(source, &view, PyBUF_SIMPLE) == 0;
        memory = ready ? py_memory_new(self->state, view.len, &data) : NULL;
        ready = memory != NULL;
        if (ready && view.len) memcpy(data, view.buf, (size_t)view.len);
    } else {
        path = py_path(source);
        ready = path != NULL;
    }
    sap_mesh_tree* tree = NULL;
    int result = -1;
    py_call call;
    if (ready && py_call_begin(&call, device, NULL, NULL) == 0) {
        const sap_status status = from_memory
                                      ? sap_mesh_tree_load_memory(device->device, data, view.len, &options, &tree)
                                      : sap_mesh_tree_load(device->device, PyBytes_AsString(path), &options, &tree);
        result = py_call_end(&call, status);
        if (result < 0) sap_mesh_tree_free(tree);
    }
    Py_XDECREF(path);
    if (view.obj) PyBuffer_Release(&view);
    if (result < 0) {
        Py_XDECREF(memory);
        Py_DECREF((PyObject*)device);
        return NULL;
    }
    if (set_tree(self, device, tree, memory) < 0) return NULL;
    set_origin(self, origin);
    return Py_NewRef(Py_None);
}

// _load(source, origin, trust, device, threads, from_memory)
static PyObject* mesh_tree_load(PyObject* object, PyObject* args) {
    PyObject *source, *where;
    double origin[3];
    int trust, threads, from_memory;
    if (!py_parse(args, "O(ddd)pOip:_load", &source, &origin[0], &origin[1], &origin[2], &trust, &where, &threads,
                  &from_memory))
        return NULL;
    return load(mesh_tree_of(object), source, origin, trust, where, threads, from_memory != 0);
}

// _copy(new, device, threads): gives `new`, of a type that derives from this one, a copy of the tree.
static PyObject* mesh_tree_copy(PyObject* object, PyObject* args) {
    PyObject *target, *where;
    int threads;
    py_state* state = mesh_tree_of(object)->state;
    if (!py_parse(args, "O!Oi:_copy", state->mesh_tree_type, &target, &where, &threads)) return NULL;
    py_mesh_tree* self = py_mesh_tree_use(object);
    if (!self) return NULL;
    py_device* device =
        where == Py_None ? (py_device*)Py_NewRef((PyObject*)self->device) : py_device_for(state, where, threads, NULL);
    sap_mesh_tree* copy = NULL;
    int result = -1;
    py_call call;
    if (device && py_call_begin(&call, device, NULL, NULL) == 0) {
        result = py_call_end(&call, sap_mesh_tree_copy(self->tree, device->device, &copy));
        if (result < 0) sap_mesh_tree_free(copy);
    }
    py_mesh_tree_done(self);
    if (result < 0) {
        Py_XDECREF((PyObject*)device);
        return NULL;
    }
    if (set_tree(mesh_tree_of(target), device, copy, NULL) < 0) return NULL;
    set_origin(mesh_tree_of(target), self->origin);
    return Py_NewRef(target);
}

// ---- What it is

static PyObject* mesh_tree_verify(PyObject* object, PyObject* nothing) {
    (void)nothing;
    py_mesh_tree* self = py_mesh_tree_use(object);
    if (!self) return NULL;
    py_call call;
    int result = py_call_begin(&call, self->device, NULL, NULL);
    if (result == 0) result = py_call_end(&call, sap_mesh_tree_verify(self->tree));
    py_mesh_tree_done(self);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject* mesh_tree_describe(PyObject* object, PyObject* nothing) {
    (void)nothing;
    py_mesh_tree* self = py_mesh_tree_use(object);
    if (!self) return NULL;
    sap_mesh_tree_info info = {0};
    const sap_status status = sap_mesh_tree_describe(self->tree, &info);
    py_mesh_tree_done(self);
    if (status != SAP_OK) return py_raise(self->state, status);
    PyObject* device = py_device_name(self->device);
    if (!device) return NULL;
    const float *lower = info.lower, *upper = info.upper;
    return Py_BuildValue(
        "{s:L,s:L,s:L,s:L,s:L,s:i,s:i,s:d,s:n,s:n,s:N,s:((ddd)(ddd)),s:(ddd),s:i,s:i,s:N,s:i}", "triangle_count",
        (long long)info.triangles, "nodes", (long long)info.nodes, "leaves", (long long)info.leaves, "empty_leaves",
        (long long)info.empty_leaves, "references", (long long)info.references, "depth", (int)info.depth,
        "largest_leaf", (int)info.largest_leaf, "cost", info.cost, "bytes", (Py_ssize_t)info.bytes, "structure_bytes",
        (Py_ssize_t)info.structure_bytes, "mapped", PyBool_FromLong(info.mapped), "bounds",
        (double)lower[0] + self->origin[0], (double)lower[1] + self->origin[1], (double)lower[2] + self->origin[2],
        (double)upper[0] + self->origin[0], (double)upper[1] + self->origin[1], (double)upper[2] + self->origin[2],
        "origin", self->origin[0], self->origin[1], self->origin[2], "quality", (int)info.options.quality, "heuristic",
        (int)info.options.cost, "device", device, "threads", (int)self->device->threads);
}

static PyMethodDef mesh_tree_methods[] = {
    {"_build", mesh_tree_build, METH_VARARGS, NULL},
    {"_rebuild", mesh_tree_rebuild, METH_VARARGS, NULL},
    {"_refit", mesh_tree_refit, METH_VARARGS, NULL},
    {"_save", mesh_tree_save, METH_O, NULL},
    {"_bytes", mesh_tree_bytes, METH_NOARGS, NULL},
    {"_load", mesh_tree_load, METH_VARARGS, NULL},
    {"_copy", mesh_tree_copy, METH_VARARGS, NULL},
    {"_verify", mesh_tree_verify, METH_NOARGS, NULL},
    {"_describe", mesh_tree_describe, METH_NOARGS, NULL},
    {"_trace", py_mesh_trace, METH_VARARGS, NULL},
    {"_occluded", py_mesh_occluded, METH_VARARGS, NULL},
    {"_trace_all", py_mesh_trace_all, METH_VARARGS, NULL},
    {"_closest", py_mesh_closest, METH_VARARGS, NULL},
    {"_inside", py_mesh_inside, METH_VARARGS, NULL},
    {"_signed_distance", py_mesh_signed_distance, METH_VARARGS, NULL},
    {"_distance", py_mesh_distance, METH_VARARGS, NULL},
    {"_align", py_mesh_align, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

int py_add_mesh(PyObject* module, py_state* state) {
    PyType_Slot slots[] = {
        {Py_tp_new, (void*)mesh_tree_new},
        {Py_tp_dealloc, (void*)mesh_tree_dealloc},
        {Py_tp_methods, (void*)mesh_tree_methods},
        {0, NULL},
    };
    PyType_Spec spec = {.name = "sapwood._sapwood.MeshTree",
                        .basicsize = sizeof(py_mesh_tree),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                        .slots = slots};
    PyObject* type = PyType_FromModuleAndSpec(module, &spec, NULL);
    if (!type) return -1;
    state->mesh_tree_type = (PyTypeObject*)type;
    return PyModule_AddObjectRef(module, "MeshTree", type);
}
