// Trees as bytes: files, copies on other devices, and pickles.
#include "tree.h"
#include <string.h>

// ---- Files

PyDoc_STRVAR(save_doc, "save($self, path, /)\n--\n\n"
                       "Writes the tree to a file, which replaces an older one only when it is complete.\n\n"
                       ">>> import os, sapwood, tempfile\n"
                       ">>> path = os.path.join(tempfile.mkdtemp(), 'points.sapwood')\n"
                       ">>> sapwood.Tree([[0.0, 0.0], [1.0, 1.0]]).save(path)\n"
                       ">>> sapwood.Tree.load(path).count\n"
                       "2\n");

static PyObject* tree_save(PyObject* object, PyObject* path) {
    PyObject* bytes = py_path(path);
    py_tree* self = bytes ? py_tree_use(object) : NULL;
    int result = -1;
    if (self) {
        const char* text = PyBytes_AsString(bytes);
        py_call call;
        result = text ? py_call_begin(&call, self->device, NULL, NULL) : -1;
        if (result == 0) result = py_call_end(&call, sap_tree_save(self->tree, text));
        py_tree_done(self);
    }
    Py_XDECREF(bytes);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(load_doc,
             "load($type, /, path, *, trust=False, device=None, threads=0)\n--\n\n"
             "The tree of a file that save() has written. On the CPU the file is mapped, not read, and must not\n"
             "be changed while the tree lives.\n\n"
             "All of it is checked, unless trust is true: then only its checksum and sizes are, which is for\n"
             "files of one's own.\n");

static PyObject* tree_load(PyObject* class, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    static const char* const names[] = {"path", "trust", "device", "threads", NULL};
    PyObject* given[4];
    py_state* state = py_state_of((PyTypeObject*)class);
    sap_load_options options = {0};
    int32_t threads = 0;
    if (py_arguments("load", names, 1, 1, args, count, keywords, given) < 0 ||
        py_bool(given[1], "trust", &options.trust) < 0 || py_int32(given[3], "threads", 0, 1024, &threads) < 0)
        return NULL;
    PyObject* path = py_path(given[0]);
    py_device* device = path ? py_device_for(state, given[2], threads, NULL) : NULL;
    sap_tree* tree = NULL;
    py_call call;
    int result = device ? py_call_begin(&call, device, NULL, NULL) : -1;
    if (result == 0)
        result = py_call_end(&call, sap_tree_load(device->device, PyBytes_AsString(path), &options, &tree));
    if (result < 0) sap_tree_free(tree);
    PyObject* object = result == 0 ? py_tree_of((PyTypeObject*)class, device, tree, NULL) : NULL;
    Py_XDECREF((PyObject*)device);
    Py_XDECREF(path);
    return object;
}

// ---- Bytes

PyDoc_STRVAR(to_bytes_doc, "to_bytes($self)\n--\n\n"
                           "What save() would write, in memory that can be read only.\n\n"
                           ">>> import sapwood\n"
                           ">>> saved = sapwood.Tree([[0.0, 0.0], [1.0, 1.0]]).to_bytes()\n"
                           ">>> sapwood.Tree.from_bytes(saved).count\n"
                           "2\n");

// The bytes as an object with a buffer.
static PyObject* save_bytes(py_tree* self) {
    int64_t size = 0;
    void* bytes;
    if (sap_tree_saved_size(self->tree, &size) != SAP_OK) return py_raise(self->state, SAP_ERROR_ARGUMENT);
    PyObject* memory = py_memory_new(self->state, size, &bytes);
    py_call call;
    if (!memory) return NULL;
    int result = py_call_begin(&call, self->device, NULL, NULL);
    if (result == 0) result = py_call_end(&call, sap_tree_save_memory(self->tree, bytes, size));
    if (result < 0) Py_CLEAR(memory);
    return memory;
}

static PyObject* tree_to_bytes(PyObject* object, PyObject* unused) {
    (void)unused;
    py_tree* self = py_tree_use(object);
    PyObject* memory = self ? save_bytes(self) : NULL;
    if (self) py_tree_done(self);
    PyObject* view = memory ? PyMemoryView_FromObject(memory) : NULL;
    Py_XDECREF(memory);
    return view;
}

// A tree of a class over saved bytes. They are used in place if nobody can change them and they lie as they must.
static PyObject* load_bytes(py_state* state, PyTypeObject* class, PyObject* bytes, bool trust, py_device* device) {
    Py_buffer view;
    if (PyObject_GetBuffer(bytes, &view, PyBUF_SIMPLE) < 0) return NULL;
    const void* data = view.buf;
    PyObject* memory;
    if (view.readonly && (uintptr_t)view.buf % 64 == 0) {
        memory = PyMemoryView_FromObject(bytes);
    } else {
        void* copy;
        memory = py_memory_new(state, view.len, &copy);
        if (memory) memcpy(copy, view.buf, (size_t)view.len);
        if (memory) data = copy;
    }
    sap_tree* tree = NULL;
    const sap_load_options options = {.trust = trust};
    py_call call;
    int result = memory ? py_call_begin(&call, device, NULL, NULL) : -1;
    if (result == 0) result = py_call_end(&call, sap_tree_load_memory(device->device, data, view.len, &options, &tree));
    PyBuffer_Release(&view);
    if (result == 0) return py_tree_of(class, device, tree, memory);
    sap_tree_free(tree);
    Py_XDECREF(memory);
    return NULL;
}

PyDoc_STRVAR(from_bytes_doc,
             "from_bytes($type, /, bytes, *, trust=False, device=None, threads=0)\n--\n\n"
             "The tree whose to_bytes() these are. All of them are checked; with trust only their checksum and\n"
             "sizes are. Bytes that nobody can change, and that are aligned to 64 bytes, are used in place.\n");

static PyObject* tree_from_bytes(PyObject* class, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    static const char* const names[] = {"bytes", "trust", "device", "threads", NULL};
    PyObject* given[4];
    py_state* state = py_state_of((PyTypeObject*)class);
    bool trust = false;
    int32_t threads = 0;
    if (py_arguments("from_bytes", names, 1, 1, args, count, keywords, given) < 0 ||
        py_bool(given[1], "trust", &trust) < 0 || py_int32(given[3], "threads", 0, 1024, &threads) < 0)
        return NULL;
    py_device* device = py_device_for(state, given[2], threads, NULL);
    PyObject* object = device ? load_bytes(state, (PyTypeObject*)class, given[0], trust, device) : NULL;
    Py_XDECREF((PyObject*)device);
    return object;
}

// ---- Pickles

// What makes a pickled tree anew: a function, and (class, bytes, device, threads). With protocol 5 the bytes may travel
// beside the pickle, without a copy.
static PyObject* tree_reduce(PyObject* object, PyObject* protocol) {
    int32_t number = 0;
    if (py_int32(protocol, "protocol", 0, INT32_MAX, &number) < 0) return NULL;
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    PyObject* memory = save_bytes(self);
    PyObject* device = py_device_name(self->device);
    const int threads = self->device->threads;
    py_tree_done(self);
    PyObject* module = memory ? PyImport_ImportModule(number >= 5 ? "pickle" : "builtins") : NULL;
    PyObject* bytes = module ? PyObject_CallMethod(module, number >= 5 ? "PickleBuffer" : "bytes", "O", memory) : NULL;
    PyObject* ours = bytes ? PyImport_ImportModule("sapwood._sapwood") : NULL;
    PyObject* function = ours ? PyObject_GetAttrString(ours, "_unpickle") : NULL;
    PyObject* members = NULL;
    if (function && PyObject_HasAttrString(object, "__dict__")) members = PyObject_GetAttrString(object, "__dict__");
    PyObject* result = NULL;
    if (function && device && !PyErr_Occurred())
        result = Py_BuildValue("O(OOOi)O", function, (PyObject*)Py_TYPE(object), bytes, device, threads,
                               members ? members : Py_None);
    Py_XDECREF(members);
    Py_XDECREF(function);
    Py_XDECREF(ours);
    Py_XDECREF(bytes);
    Py_XDECREF(module);
    Py_XDECREF(device);
    Py_XDECREF(memory);
    return result;
}

static PyObject* unpickle(PyObject* module, PyObject* args) {
    PyObject* class, *bytes, *name;
    int threads;
    py_state* state = PyModule_GetState(module);
    if (!py_parse(args, "OOOi", &class, &bytes, &name, &threads)) return NULL;
    const int is_class = PyType_Check(class) ? PyObject_IsSubclass(class, (PyObject*)state->tree_type) : 0;
    if (is_class < 0) return NULL;
    if (!is_class || threads < 0 || threads > 1024) {
        PyErr_SetString(py_argument_error, "these are not the parts of a pickled tree");
        return NULL;
    }
    py_device* device = py_device_for(state, name, threads, NULL);
    PyObject* object = device ? load_bytes(state, (PyTypeObject*)class, bytes, false, device) : NULL;
    Py_XDECREF((PyObject*)device);
    return object;
}

int py_add_pickles(PyObject* module) {
    static PyMethodDef functions[] = {{"_unpickle", unpickle, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
    return PyModule_AddFunctions(module, functions);
}

// ---- Copies

PyDoc_STRVAR(copy_doc, "copy($self, /, device=None, *, threads=None)\n--\n\n"
                       "A copy of the tree, on another device if one is given.\n\n"
                       ">>> import sapwood\n"
                       ">>> sapwood.Tree([[0.0, 0.0], [1.0, 1.0]]).copy('cpu')\n"
                       "<sapwood.Tree: 2 points, 2 dims, float64, cpu>\n");

static PyObject* tree_copy(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    static const char* const names[] = {"device", "threads", NULL};
    PyObject* given[2];
    if (py_arguments("copy", names, 0, 1, args, count, keywords, given) < 0) return NULL;
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    int32_t threads = self->device->threads;
    py_device* target = NULL;
    if (py_int32(given[1], "threads", 0, 1024, &threads) == 0) {
        const bool elsewhere = (given[0] && given[0] != Py_None) || threads != self->device->threads;
        if (!elsewhere)
            target = (py_device*)Py_NewRef((PyObject*)self->device);
        else if (given[0] && given[0] != Py_None)
            target = py_device_for(self->state, given[0], threads, NULL);
        else
            target = py_device_open(self->state, self->device->processor, self->device->ordinal, threads,
                                    self->device->stream, self->device->keeper);
    }
    sap_tree* copy = NULL;
    py_call call;
    int result = target ? py_call_begin(&call, target, NULL, NULL) : -1;
    if (result == 0) result = py_call_end(&call, sap_tree_copy(self->tree, target->device, &copy));
    if (result < 0) sap_tree_free(copy);
    PyObject* made = result == 0 ? py_tree_of(Py_TYPE(object), target, copy, NULL) : NULL;
    if (made && target->processor == SAP_CUDA && target->ordinal == self->device->ordinal)
        ((py_tree*)made)->like = Py_XNewRef(self->like);
    py_tree_done(self);
    Py_XDECREF((PyObject*)target);
    if (made && Py_TYPE(made) == Py_TYPE(object) && PyObject_HasAttrString(object, "__dict__")) {
        PyObject* from = PyObject_GetAttrString(object, "__dict__");
        PyObject* to = from ? PyObject_GetAttrString(made, "__dict__") : NULL;
        if (!to || PyDict_Update(to, from) < 0) Py_CLEAR(made);
        Py_XDECREF(to);
        Py_XDECREF(from);
    }
    return made;
}

PyMethodDef py_tree_file_methods[] = {
    {"save", tree_save, METH_O, save_doc},
    {"load", (PyCFunction)(void (*)(void))tree_load, METH_CLASS | METH_FASTCALL | METH_KEYWORDS, load_doc},
    {"to_bytes", tree_to_bytes, METH_NOARGS, to_bytes_doc},
    {"from_bytes", (PyCFunction)(void (*)(void))tree_from_bytes, METH_CLASS | METH_FASTCALL | METH_KEYWORDS,
     from_bytes_doc},
    {"__reduce_ex__", tree_reduce, METH_O, NULL},
    PY_METHOD("copy", tree_copy, copy_doc),
    {NULL, NULL, 0, NULL},
};
