// Reading and writing files. Names, defaults and documentation are in sapwood/files.py.
#include "files.h"

#include <stdlib.h>
#include <string.h>

// ---- What the library made

typedef struct made_thing {
    py_device* device;
    void* made;
    void (*release)(void* made);
} made_thing;

static void release_made(PyObject* capsule) {
    made_thing* thing = PyCapsule_GetPointer(capsule, NULL);
    if (!thing) return;
    if (py_device_usable(thing->device)) thing->release(thing->made);
    Py_DECREF((PyObject*)thing->device);
    free(thing);
}

PyObject* py_owner_new(py_device* device, void* made, void (*release)(void* made)) {
    made_thing* thing = malloc(sizeof *thing);
    PyObject* owner = NULL;
    if (thing) {
        *thing = (made_thing){device, made, release};
        owner = PyCapsule_New(thing, NULL, release_made);
    } else {
        PyErr_NoMemory();
    }
    if (owner) {
        Py_INCREF((PyObject*)device);
        return owner;
    }
    free(thing);
    release(made);
    return NULL;
}

static void release_points(void* made) { sap_point_set_free(made); }
static void release_mesh(void* made) { sap_mesh_file_free(made); }
static void release_volume(void* made) { sap_volume_file_free(made); }

// An array of two axes over memory that `owner` holds.
static PyObject* rows_of(py_state* state, const void* data, char kind, int bytes, int64_t rows, int64_t columns,
                         PyObject* owner) {
    const int64_t shape[2] = {rows, columns};
    return py_array_of(state, NULL, (void*)(uintptr_t)data, kind, bytes, 2, shape, owner, NULL);
}

// ---- Where bytes come from

// A file, or bytes in memory. All zero can be released.
typedef struct source {
    PyObject* path; // bytes
    Py_buffer view;
    const void* data;
    size_t size;
} source;

// `from_memory` says which of the two an object is.
static int take_source(PyObject* object, bool from_memory, source* from) {
    *from = (source){0};
    if (from_memory) {
        if (PyObject_GetBuffer(object, &from->view, PyBUF_SIMPLE) < 0) return -1;
        from->data = from->view.len ? from->view.buf : "";
        from->size = (size_t)from->view.len;
        return 0;
    }
    from->path = py_path(object);
    return from->path ? 0 : -1;
}

static void release_source(source* from) {
    Py_CLEAR(from->path);
    if (from->view.obj) PyBuffer_Release(&from->view);
}

static const char* path_of(const source* from) { return PyBytes_AsString(from->path); }

// ---- Reading points

// read_points(source, from_memory, format, bits, columns, member, float_error, extent, unpack_limit)
static PyObject* read_points(PyObject* module, PyObject* args) {
    py_state* state = PyModule_GetState(module);
    PyObject* object;
    int from_memory, format, bits;
    sap_points_read_options options = {0};
    long long unpack_limit;
    if (!py_parse(args, "OpiizzddL:read_points", &object, &from_memory, &format, &bits, &options.columns,
                  &options.member, &options.float_error, &options.extent, &unpack_limit))
        return NULL;
    options.unpack_limit = unpack_limit;
    source from;
    py_device* device = py_device_for(state, Py_None, 0, NULL);
    if (!device) return NULL;
    sap_point_set* set = NULL;
    PyObject *owner = NULL, *result = NULL;
    py_call call;
    if (take_source(object, from_memory != 0, &from) == 0 && py_call_begin(&call, device, NULL, NULL) == 0) {
        const sap_status status =
            from_memory
                ? sap_points_parse_with(device->device, from.data, from.size, (sap_format)format, bits, &options, &set)
                : sap_points_read_with(device->device, path_of(&from), (sap_format)format, bits, &options, &set);
        if (py_call_end(&call, status) == 0)
            owner = py_owner_new(device, set, release_points);
        else
            sap_point_set_free(set);
    }
    if (owner)
        result = rows_of(state, set->real_bits == 64 ? (const void*)set->coords_f64 : set->coords, 'f',
                         set->real_bits / 8, set->count, set->dims, owner);
    Py_XDECREF(owner);
    release_source(&from);
    Py_DECREF((PyObject*)device);
    return result;
}

// ---- Reading meshes

static PyObject* material_tuple(const sap_material* m) {
    PyObject* name = PyUnicode_DecodeUTF8(m->name, (Py_ssize_t)strlen(m->name), "surrogateescape");
    if (!name) return NULL;
    return Py_BuildValue("(N(fff)(fff)(fff)fffi(fff))", name, m->diffuse[0], m->diffuse[1], m->diffuse[2],
                         m->specular[0], m->specular[1], m->specular[2], m->emission[0], m->emission[1], m->emission[2],
                         m->shininess, m->opacity, m->refraction, (int)m->illum, m->absorption[0], m->absorption[1],
                         m->absorption[2]);
}

static PyObject* material_list(const sap_mesh_file* file) {
    PyObject* list = PyList_New(0);
    for (int32_t i = 0; list && i < file->material_count; i++) {
        PyObject* material = material_tuple(&file->materials[i]);
        if (!material || PyList_Append(list, material) < 0) Py_CLEAR(list);
        Py_XDECREF(material);
    }
    return list;
}

// (vertices, triangles, colors, material_ids, materials, None, origin)
static PyObject* mesh_tuple(py_state* state, const sap_mesh_file* file, PyObject* owner) {
    const sap_mesh* mesh = &file->mesh;
    const int64_t triangles = mesh->triangle_count;
    PyObject* parts[5] = {rows_of(state, mesh->vertices, 'f', 4, mesh->vertex_count, 3, owner), NULL};
    if (parts[0]) parts[1] = rows_of(state, mesh->triangles, 'i', 4, triangles, 3, owner);
    if (parts[1])
        parts[2] =
            file->colors ? rows_of(state, file->colors, 'f', 4, mesh->vertex_count, 3, owner) : Py_NewRef(Py_None);
    if (parts[2])
        parts[3] = file->material_ids ? py_array_of(state, NULL, (void*)(uintptr_t)file->material_ids, 'i', 4, 1,
                                                    &triangles, owner, NULL)
                                      : Py_NewRef(Py_None);
    if (parts[3]) parts[4] = material_list(file);
    PyObject* result = NULL;
    if (parts[4])
        result = Py_BuildValue("(OOOOOO(ddd))", parts[0], parts[1], parts[2], parts[3], parts[4], Py_None,
                               file->origin[0], file->origin[1], file->origin[2]);
    for (int i = 0; i < 5; i++) Py_XDECREF(parts[i]);
    return result;
}

// read_mesh(source, from_memory, format, keep_apart, materials, unpack_limit, origin, find_origin)
static PyObject* read_mesh(PyObject* module, PyObject* args) {
    py_state* state = PyModule_GetState(module);
    PyObject* object;
    int from_memory, format, keep_apart, find_origin;
    sap_mesh_read_options options = {0};
    Py_ssize_t materials_size = 0;
    long long unpack_limit;
    if (!py_parse(args, "Opipz#L(ddd)p:read_mesh", &object, &from_memory, &format, &keep_apart, &options.materials,
                  &materials_size, &unpack_limit, &options.origin[0], &options.origin[1], &options.origin[2],
                  &find_origin))
        return NULL;
    options.keep_apart = keep_apart != 0;
    options.materials_size = (size_t)materials_size;
    options.unpack_limit = unpack_limit;
    options.find_origin = find_origin != 0;
    source from;
    py_device* device = py_device_for(state, Py_None, 0, NULL);
    if (!device) return NULL;
    sap_mesh_file* file = NULL;
    PyObject *owner = NULL, *result = NULL;
    py_call call;
    if (take_source(object, from_memory != 0, &from) == 0 && py_call_begin(&call, device, NULL, NULL) == 0) {
        const sap_status status =
            from_memory ? sap_mesh_parse(device->device, from.data, from.size, (sap_format)format, &options, &file)
                        : sap_mesh_read(device->device, path_of(&from), (sap_format)format, &options, &file);
        if (py_call_end(&call, status) == 0)
            owner = py_owner_new(device, file, release_mesh);
        else
            sap_mesh_file_free(file);
    }
    if (owner) result = mesh_tuple(state, file, owner);
    Py_XDECREF(owner);
    release_source(&from);
    Py_DECREF((PyObject*)device);
    return result;
}

// ---- Reading volumes

// read_volume(source, from_memory, size, type, big_endian, skip, spacing, order, member, unpack_limit):
// (values, spacing, origin)
static PyObject* read_volume(PyObject* module, PyObject* args) {
    static const char kinds[] = {'f', 'u', 'i', 'u'};
    static const int widths[] = {4, 1, 2, 2};
    py_state* state = PyModule_GetState(module);
    PyObject* object;
    int from_memory, type, big_endian, order;
    long long size[3], skip, unpack_limit;
    sap_volume_read_options options = {0};
    if (!py_parse(args, "Op(LLL)ipL(fff)izL:read_volume", &object, &from_memory, &size[0], &size[1], &size[2], &type,
                  &big_endian, &skip, &options.spacing[0], &options.spacing[1], &options.spacing[2], &order,
                  &options.member, &unpack_limit))
        return NULL;
    for (int a = 0; a < 3; a++) options.size[a] = size[a];
    options.type = (sap_voxel)type;
    options.big_endian = big_endian != 0;
    options.skip = skip;
    options.order = (sap_axis_order)order;
    options.unpack_limit = unpack_limit;
    source from;
    py_device* device = py_device_for(state, Py_None, 0, NULL);
    if (!device) return NULL;
    sap_volume_file* file = NULL;
    PyObject *owner = NULL, *values = NULL;
    py_call call;
    if (take_source(object, from_memory != 0, &from) == 0 && py_call_begin(&call, device, NULL, NULL) == 0) {
        const sap_status status = from_memory ? sap_volume_parse(device->device, from.data, from.size, &options, &file)
                                              : sap_volume_read(device->device, path_of(&from), &options, &file);
        if (py_call_end(&call, status) == 0)
            owner = py_owner_new(device, file, release_volume);
        else
            sap_volume_file_free(file);
    }
    PyObject* result = NULL;
    if (owner) {
        const sap_volume* v = &file->volume;
        const int64_t shape[3] = {v->size[2], v->size[1], v->size[0]};
        values = py_array_of(state, NULL, (void*)(uintptr_t)v->values, kinds[v->type], widths[v->type], 3, shape, owner,
                             NULL);
        if (values)
            result = Py_BuildValue("(N(fff)(fff))", values, v->spacing[0], v->spacing[1], v->spacing[2], v->origin[0],
                                   v->origin[1], v->origin[2]);
    }
    Py_XDECREF(owner);
    release_source(&from);
    Py_DECREF((PyObject*)device);
    return result;
}

// ---- Meshes made of Python's values

static int take_optional(py_state* state, PyObject* object, const char* name, const char* want, int ndim, int64_t rows,
                         const char* of, py_array* array, const void** data) {
    if (object == Py_None) return 0;
    if (py_array_take(state, object, name, want, ndim, ndim, 0, NULL, array) < 0) return -1;
    const bool fits = array->shape[0] == rows && (ndim == 1 || array->shape[1] == 3);
    if (fits && !array->on_gpu && (ndim == 1 || rows < 2 || array->stride == 3)) {
        *data = array->data;
        return 0;
    }
    PyErr_Format(py_argument_error, "%s must be contiguous, on the host, and of the shape (%lld%s): one for each %s",
                 name, (long long)rows, ndim == 1 ? "," : ", 3", of);
    return -1;
}

static int take_material(PyObject* tuple, sap_material* m) {
    int illum;
    if (!PyTuple_Check(tuple)) {
        PyErr_SetString(PyExc_TypeError, "materials must be sapwood.Material");
        return -1;
    }
    if (!py_parse(tuple, "s(fff)(fff)(fff)fffi(fff):Material", &m->name, &m->diffuse[0], &m->diffuse[1], &m->diffuse[2],
                  &m->specular[0], &m->specular[1], &m->specular[2], &m->emission[0], &m->emission[1], &m->emission[2],
                  &m->shininess, &m->opacity, &m->refraction, &illum, &m->absorption[0], &m->absorption[1],
                  &m->absorption[2]))
        return -1;
    m->illum = illum;
    return 0;
}

static int take_materials(PyObject* list, py_mesh_file* file) {
    const Py_ssize_t count = PyTuple_Size(list);
    if (count < 0) return -1;
    if (count > INT32_MAX) {
        PyErr_SetString(py_argument_error, "more materials than 2^31-1");
        return -1;
    }
    file->materials = calloc((size_t)count + 1, sizeof *file->materials);
    if (!file->materials) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (take_material(PyTuple_GetItem(list, i), &file->materials[i]) < 0) return -1;
    file->file.materials = file->materials;
    file->file.material_count = (int32_t)count;
    return 0;
}

int py_mesh_file_take(py_state* state, PyObject* parts, py_mesh_file* file) {
    *file = (py_mesh_file){0};
    PyObject *vertices, *triangles, *colors, *ids, *materials, *normals;
    double* origin = file->file.origin;
    if (!py_parse(parts, "OOOOO!O(ddd):Mesh", &vertices, &triangles, &colors, &ids, &PyTuple_Type, &materials, &normals,
                  &origin[0], &origin[1], &origin[2]))
        return -1;
    if (py_mesh_take(state, vertices, triangles, NULL, NULL, &file->mesh) < 0) return -1;
    sap_mesh_file* made = &file->file;
    made->mesh = file->mesh.mesh;
    const int64_t places = made->mesh.vertex_count, corners = made->mesh.triangle_count;
    if (file->mesh.vertices.on_gpu) {
        PyErr_SetString(py_argument_error, "this takes meshes on the host; vertices and triangles lie on a GPU");
    } else if (take_optional(state, colors, "colors", "f4", 2, places, "vertex", &file->colors,
                             (const void**)&made->colors) == 0 &&
               take_optional(state, ids, "material_ids", "i4", 1, corners, "triangle", &file->material_ids,
                             (const void**)&made->material_ids) == 0 &&
               take_optional(state, normals, "normals", "f4", 2, places, "vertex", &file->normals,
                             (const void**)&made->normals) == 0 &&
               take_materials(materials, file) == 0) {
        return 0;
    }
    py_mesh_file_release(file);
    return -1;
}

void py_mesh_file_release(py_mesh_file* file) {
    free(file->materials);
    py_array_release(&file->colors);
    py_array_release(&file->material_ids);
    py_array_release(&file->normals);
    py_mesh_release(&file->mesh);
    *file = (py_mesh_file){0};
}

// ---- Writing

// write_mesh(path, format, parts, text), parts as py_mesh_file_take takes them
static PyObject* write_mesh(PyObject* module, PyObject* args) {
    py_state* state = PyModule_GetState(module);
    PyObject *where, *parts;
    int format, text;
    if (!py_parse(args, "OiO!p:write_mesh", &where, &format, &PyTuple_Type, &parts, &text)) return NULL;
    const sap_mesh_write_options options = {.text = text != 0};
    PyObject* path = py_path(where);
    py_device* device = path ? py_device_for(state, Py_None, 0, NULL) : NULL;
    py_mesh_file file = {0};
    py_call call;
    int result = -1;
    if (device && py_mesh_file_take(state, parts, &file) == 0 && py_call_begin(&call, device, NULL, NULL) == 0)
        result = py_call_end(
            &call, sap_mesh_write(device->device, PyBytes_AsString(path), (sap_format)format, &file.file, &options));
    py_mesh_file_release(&file);
    Py_XDECREF((PyObject*)device);
    Py_XDECREF(path);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

static sap_number number_of(const py_array* array) {
    if (array->kind == 'f') return array->bytes == 8 ? SAP_FLOAT64 : SAP_FLOAT32;
    return array->bytes == 8 ? SAP_INT64 : SAP_INT32;
}

// The names of columns, a tuple of strings: new memory that holds pointers into them.
static int take_names(PyObject* tuple, int64_t columns, const char*** names) {
    const Py_ssize_t count = PyTuple_Size(tuple);
    if (count < 0) return -1;
    if (count != (columns ? columns : 1)) {
        PyErr_Format(py_argument_error, "names must be as many as the columns, %lld; got %zd",
                     (long long)(columns ? columns : 1), count);
        return -1;
    }
    *names = calloc((size_t)count + 1, sizeof **names);
    if (!*names) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject* name = PyTuple_GetItem(tuple, i);
        (*names)[i] = PyUnicode_AsUTF8AndSize(name, NULL);
        if (!(*names)[i]) return -1;
    }
    return 0;
}

// write_table(path, format, array, names)
static PyObject* write_table(PyObject* module, PyObject* args) {
    py_state* state = PyModule_GetState(module);
    PyObject *where, *object, *titles;
    int format;
    if (!py_parse(args, "OiOO:write_table", &where, &format, &object, &titles)) return NULL;
    py_array array = {0};
    if (py_array_take(state, object, "data", "f4f8i4i8", 1, 2, 0, NULL, &array) < 0) return NULL;
    const int64_t columns = array.ndim == 2 ? array.shape[1] : 0;
    const char** names = NULL;
    PyObject* path = NULL;
    py_device* device = NULL;
    int result = -1;
    py_call call;
    if (array.on_gpu || (array.ndim == 2 && array.shape[0] > 1 && array.stride != columns))
        PyErr_SetString(py_argument_error, "data must be contiguous and on the host to be written");
    else if (array.ndim == 2 && !columns)
        PyErr_SetString(py_argument_error, "data has no columns");
    else if (titles == Py_None || take_names(titles, columns, &names) == 0)
        path = py_path(where);
    if (path) device = py_device_for(state, Py_None, 0, NULL);
    const sap_table table = {array.data, array.shape[0], columns, number_of(&array), names};
    if (device && py_call_begin(&call, device, NULL, NULL) == 0)
        result = py_call_end(&call, sap_table_write(device->device, PyBytes_AsString(path), (sap_format)format, table));
    Py_XDECREF((PyObject*)device);
    Py_XDECREF(path);
    free(names);
    py_array_release(&array);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

// format_of(path): the number of the format that a suffix names, 0: none
static PyObject* format_of(PyObject* module, PyObject* object) {
    (void)module;
    PyObject* path = py_path(object);
    if (!path) return NULL;
    const sap_format format = sap_format_of(PyBytes_AsString(path));
    Py_DECREF(path);
    return PyLong_FromLong((long)format);
}

int py_add_files(PyObject* module, py_state* state) {
    (void)state;
    static PyMethodDef functions[] = {
        {"read_points", read_points, METH_VARARGS, NULL},
        {"read_mesh", read_mesh, METH_VARARGS, NULL},
        {"read_volume", read_volume, METH_VARARGS, NULL},
        {"write_mesh", write_mesh, METH_VARARGS, NULL},
        {"write_table", write_table, METH_VARARGS, NULL},
        {"format_of", format_of, METH_O, NULL},
        {NULL, NULL, 0, NULL},
    };
    return PyModule_AddFunctions(module, functions);
}
