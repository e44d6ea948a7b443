// Memory of the library, or of the module, as an object that other libraries read in place: by Python's buffers, by
// DLPack, and by __cuda_array_interface__.
#include "dlpack.h"
#include "sapwood_python.h"
#include "torch.h"
#include <stdlib.h>
#include <string.h>
#include <structmember.h>

enum { ALIGNMENT = 64 };

typedef struct memory {
    PyObject_HEAD void* data;
    char kind;
    int32_t bytes, ndim; // of an element; axes
    int64_t shape[3];
    Py_ssize_t extents[3], strides[3]; // for buffers
    PyObject* owner;                   // what the memory belongs to; NULL: this object, unless `found` is set
    sap_neighbors* found;              // what it belongs to otherwise
    py_device* device;                 // of GPU memory, and of `found`; else NULL
    bool on_gpu, readonly;
} memory;

static int64_t elements(const memory* m) {
    int64_t count = 1;
    for (int i = 0; i < m->ndim; i++) count *= m->shape[i];
    return count;
}

static void memory_dealloc(PyObject* object) {
    memory* self = (memory*)object;
    PyTypeObject* type = Py_TYPE(object);
    if (self->found) {
        if (py_device_usable(self->device)) sap_neighbors_free(self->found);
    } else if (!self->owner && !self->on_gpu) {
        free(self->data);
    }
    Py_XDECREF(self->owner);
    Py_XDECREF((PyObject*)self->device);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static memory* create(py_state* state) {
    allocfunc allocate = PyType_GetSlot(state->memory_type, Py_tp_alloc);
    return (memory*)allocate(state->memory_type, 0);
}

static void set_shape(memory* self, void* data, char kind, int bytes, int ndim, const int64_t* shape) {
    self->data = data;
    self->kind = kind;
    self->bytes = bytes;
    self->ndim = ndim;
    Py_ssize_t stride = bytes;
    for (int i = ndim; i-- > 0;) {
        self->shape[i] = self->extents[i] = (Py_ssize_t)shape[i];
        self->strides[i] = stride;
        stride *= (Py_ssize_t)shape[i];
    }
}

// ---- Buffers

static const char* format_of(char kind, int bytes) {
    if (kind == 'f') return bytes == 4 ? "f" : "d";
    if (kind == 'i' && bytes == 8) return sizeof(long) == 8 ? "l" : "q"; // what NumPy calls int64
    if (kind == 'i') return bytes == 1 ? "b" : bytes == 2 ? "h" : "i";
    if (kind == 'u') return bytes == 1 ? "B" : "H";
    return "?";
}

static int memory_buffer(PyObject* object, Py_buffer* view, int flags) {
    memory* self = (memory*)object;
    if (self->on_gpu) {
        PyErr_SetString(PyExc_BufferError, "this memory is on a GPU");
        view->obj = NULL;
        return -1;
    }
    if (self->readonly && flags & PyBUF_WRITABLE) {
        PyErr_SetString(PyExc_BufferError, "this memory can be read only");
        view->obj = NULL;
        return -1;
    }
    *view = (Py_buffer){
        .buf = self->data,
        .obj = Py_NewRef(object),
        .len = (Py_ssize_t)(elements(self) * self->bytes),
        .readonly = self->readonly,
        .itemsize = self->bytes,
        .ndim = self->ndim,
        .format = flags & PyBUF_FORMAT ? (char*)format_of(self->kind, self->bytes) : NULL,
        .shape = flags & PyBUF_ND ? self->extents : NULL,
        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? self->strides : NULL,
    };
    return 0;
}

// ---- DLPack

typedef struct exported {
    dlpack_managed managed; // one of the two
    dlpack_versioned versioned;
    int64_t shape[3], strides[3];
    PyObject* memory;
} exported;

static void release_exported(exported* e) {
    if (!Py_IsInitialized()) return; // Python is gone, and with it what there was to release
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF(e->memory);
    free(e);
    PyGILState_Release(gil);
}

static void delete_managed(dlpack_managed* managed) { release_exported(managed->context); }
static void delete_versioned(dlpack_versioned* versioned) { release_exported(versioned->context); }

// Of a capsule that nobody took.
static void delete_capsule(PyObject* capsule) {
    dlpack_managed* managed = PyCapsule_IsValid(capsule, "dltensor") ? PyCapsule_GetPointer(capsule, "dltensor") : NULL;
    if (managed) managed->deleter(managed);
    const char* name = "dltensor_versioned";
    dlpack_versioned* versioned = PyCapsule_IsValid(capsule, name) ? PyCapsule_GetPointer(capsule, name) : NULL;
    if (versioned) versioned->deleter(versioned);
}

static dlpack_tensor tensor_of(const memory* m, exported* e) {
    dlpack_tensor tensor = {.data = m->data, .ndim = m->ndim, .shape = e->shape, .strides = e->strides};
    tensor.device.type = m->on_gpu ? DLPACK_CUDA : DLPACK_CPU;
    tensor.device.id = m->on_gpu ? m->device->ordinal : 0;
    tensor.dtype.code = m->kind == 'f'   ? DLPACK_FLOAT
                        : m->kind == 'i' ? DLPACK_INT
                        : m->kind == 'b' ? DLPACK_BOOL
                                         : DLPACK_UINT;
    tensor.dtype.bits = (uint8_t)(m->bytes * 8);
    tensor.dtype.lanes = 1;
    for (int i = 0; i < m->ndim; i++) {
        e->shape[i] = m->shape[i];
        e->strides[i] = m->strides[i] / m->bytes;
    }
    return tensor;
}

// Makes the memory ready for work in a consumer's stream.
static int make_ready(const memory* self, PyObject* stream) {
    if (!self->on_gpu) return 0;
    void* theirs = PY_LEGACY_STREAM;
    if (stream && stream != Py_None) {
        const long long number = PyLong_AsLongLong(stream);
        if (number == -1 && PyErr_Occurred()) return -1;
        if (number == 0) {
            PyErr_SetString(py_argument_error, "stream 0 is ambiguous in DLPack: 1 is the legacy default stream");
            return -1;
        }
        if (number == -1) return 0; // the consumer wants no waiting
        theirs = (void*)(intptr_t)number;
    }
    if (theirs == self->device->stream) return 0;
    sap_status status;
    if (py_device_check(self->device) < 0) return -1;
    Py_BEGIN_ALLOW_THREADS status = sap_device_wait(self->device->device);
    Py_END_ALLOW_THREADS if (status == SAP_OK) return 0;
    py_raise(self->device->state, status);
    return -1;
}

static PyObject* memory_dlpack(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    static const char* const names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject* values[4];
    memory* self = (memory*)object;
    if (py_arguments("__dlpack__", names, 0, 1, args, count, keywords, values) < 0) return NULL;
    bool copy = false;
    if (py_bool(values[3], "copy", &copy) < 0) return NULL;
    int type = self->on_gpu ? DLPACK_CUDA : DLPACK_CPU, id = self->on_gpu ? self->device->ordinal : 0;
    const int own_type = type, own_id = id;
    if (values[2] && values[2] != Py_None && !py_parse(values[2], "ii", &type, &id)) return NULL;
    if (copy || type != own_type || id != own_id) {
        PyErr_SetString(PyExc_BufferError, "this memory is given as it is, where it is: copy=True and other devices "
                                           "are for the library that takes it");
        return NULL;
    }
    int major = 0, minor = 0;
    if (values[1] && values[1] != Py_None && !py_parse(values[1], "ii", &major, &minor)) return NULL;
    if (self->readonly && major < 1) {
        PyErr_SetString(PyExc_BufferError, "this memory can be read only, which DLPack says since version 1");
        return NULL;
    }
    if (make_ready(self, values[0]) < 0) return NULL;
    exported* e = calloc(1, sizeof *e);
    if (!e) return PyErr_NoMemory();
    PyObject* capsule;
    if (major >= 1) {
        e->versioned =
            (dlpack_versioned){{1, 0}, e, delete_versioned, self->readonly ? DLPACK_READ_ONLY : 0, tensor_of(self, e)};
        capsule = PyCapsule_New(&e->versioned, "dltensor_versioned", delete_capsule);
    } else {
        e->managed = (dlpack_managed){tensor_of(self, e), e, delete_managed};
        capsule = PyCapsule_New(&e->managed, "dltensor", delete_capsule);
    }
    if (capsule)
        e->memory = Py_NewRef(object);
    else
        free(e);
    return capsule;
}

static PyObject* memory_dlpack_device(PyObject* object, PyObject* unused) {
    (void)unused;
    const memory* self = (memory*)object;
    return self->on_gpu ? Py_BuildValue("ii", DLPACK_CUDA, (int)self->device->ordinal)
                        : Py_BuildValue("ii", DLPACK_CPU, 0);
}

static PyObject* memory_cuda_interface(PyObject* object, void* unused) {
    (void)unused;
    const memory* self = (memory*)object;
    if (!self->on_gpu) {
        PyErr_SetString(PyExc_AttributeError, "this memory is not on a GPU");
        return NULL;
    }
    PyObject* shape = PyTuple_New(self->ndim);
    for (int i = 0; shape && i < self->ndim; i++) PyTuple_SetItem(shape, i, PyLong_FromLongLong(self->shape[i]));
    if (!shape) return NULL;
    // Calls on a device with a stream of its own have waited for what they found.
    void* stream = self->device->stream;
    return Py_BuildValue("{s:N,s:N,s:(KO),s:i,s:N}", "shape", shape, "typestr",
                         PyUnicode_FromFormat(self->bytes == 1 ? "|%c%d" : "<%c%d", self->kind, (int)self->bytes),
                         "data", (unsigned long long)(uintptr_t)self->data, Py_False, "version", 3, "stream",
                         stream ? PyLong_FromVoidPtr(stream) : Py_NewRef(Py_None));
}

static PyMethodDef methods[] = {
    {"__dlpack__", (PyCFunction)(void (*)(void))memory_dlpack, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"__dlpack_device__", memory_dlpack_device, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"__cuda_array_interface__", memory_cuda_interface, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

// For tests: the address that the library would read an array at.
static PyObject* address(PyObject* module, PyObject* object) {
    py_array array;
    if (py_array_take(PyModule_GetState(module), object, "array", "f4f8", 0, 3, 0, NULL, &array) < 0) return NULL;
    PyObject* number = PyLong_FromVoidPtr(array.data);
    py_array_release(&array);
    return number;
}

int py_add_memory(PyObject* module, py_state* state) {
    static PyMethodDef functions[] = {{"_address", address, METH_O, NULL}, {NULL, NULL, 0, NULL}};
    PyType_Slot slots[] = {
        {Py_tp_doc, "Memory that arrays lie in: numpy.asarray, torch.from_dlpack and the like read it in place."},
        {Py_tp_dealloc, memory_dealloc},
        {Py_tp_methods, methods},
        {Py_tp_getset, attributes},
        {Py_bf_getbuffer, memory_buffer},
        {0, NULL},
    };
    PyType_Spec spec = {.name = "sapwood._sapwood.Memory",
                        .basicsize = sizeof(memory),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                        .slots = slots};
    state->memory_type = (PyTypeObject*)PyType_FromModuleAndSpec(module, &spec, NULL);
    return state->memory_type ? PyModule_AddFunctions(module, functions) : -1;
}

// ---- For the other parts of the module

static PyObject* allocate(py_state* state, char kind, int bytes, int ndim, const int64_t* shape, void** data) {
    memory* self = create(state);
    if (!self) return NULL;
    set_shape(self, NULL, kind, bytes, ndim, shape);
    const size_t needed = (size_t)elements(self) * (size_t)bytes;
    self->data = aligned_alloc(ALIGNMENT, (needed / ALIGNMENT + 1) * ALIGNMENT);
    if (!self->data) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    *data = self->data;
    return (PyObject*)self;
}

PyObject* py_memory_new(py_state* state, int64_t bytes, void** data) {
    PyObject* object = allocate(state, 'u', 1, 1, &bytes, data);
    if (object) ((memory*)object)->readonly = true;
    return object;
}

// An array of the library of `like`, or NumPy's, over the memory. Takes the reference.
static PyObject* adopt(py_state* state, const py_array* like, PyObject* object) {
    if (!object) return NULL;
    memory* self = (memory*)object;
    PyObject* array;
    if (self->on_gpu && like && like->on_gpu) {
        PyObject* gpu = py_gpu(state);
        array = gpu ? PyObject_CallMethod(gpu, "adopt", "OO", like->object, object) : NULL;
    } else if (self->on_gpu)
        return object; // there is nobody to hand it to: it speaks for itself
    else if (py_numpy(state))
        array = PyObject_CallFunctionObjArgs(state->numpy_asarray, object, NULL);
    else
        array = PyMemoryView_FromObject(object);
    Py_DECREF(object);
    return array;
}

static const char* type_name(char kind, int bytes, char* text) {
    text[0] = kind;
    text[1] = (char)('0' + bytes);
    text[2] = 0;
    return text;
}

static PyObject* extents_of(const py_form* form) {
    PyObject* extents = PyTuple_New(form->ndim);
    for (int i = 0; extents && i < form->ndim; i++)
        PyTuple_SetItem(extents, i, PyLong_FromLongLong(form->shape[i])); // also if it is NULL
    if (PyErr_Occurred()) Py_CLEAR(extents);
    return extents;
}

static PyObject* new_on_host(py_state* state, const py_form* form, void** data) {
    if (!py_numpy(state))
        return adopt(state, NULL, allocate(state, form->kind, form->bytes, form->ndim, form->shape, data));
    char text[3];
    PyObject* extents = extents_of(form);
    PyObject* array =
        extents ? PyObject_CallFunction(state->numpy_empty, "Os", extents, type_name(form->kind, form->bytes, text))
                : NULL;
    Py_XDECREF(extents);
    Py_buffer view;
    if (array && PyObject_GetBuffer(array, &view, PyBUF_WRITABLE) < 0) Py_CLEAR(array);
    if (!array) return NULL;
    *data = view.buf;
    PyBuffer_Release(&view);
    return array;
}

// Arrays of the library of `like`, where it lies: [(array, address), ...]
static PyObject* ask_library(py_state* state, PyObject* like, int count, const py_form* forms) {
    PyObject* wanted = PyTuple_New(count);
    for (int i = 0; wanted && i < count; i++) {
        char text[3];
        PyObject* extents = extents_of(&forms[i]);
        PyObject* form =
            extents ? Py_BuildValue("(Ns)", extents, type_name(forms[i].kind, forms[i].bytes, text)) : NULL;
        PyTuple_SetItem(wanted, i, form); // also if it is NULL
    }
    PyObject* gpu = PyErr_Occurred() ? NULL : py_gpu(state);
    PyObject* made = gpu ? PyObject_CallMethod(gpu, "empty", "OO", like, wanted) : NULL;
    Py_XDECREF(wanted);
    return made;
}

static int new_by_library(py_state* state, PyObject* like, int count, const py_form* forms, PyObject** arrays,
                          void** data) {
    PyObject* made = ask_library(state, like, count, forms);
    for (int i = 0; made && i < count; i++) {
        unsigned long long address;
        PyObject *array, *pair = PyList_GetItem(made, i);
        if (!pair || !py_parse(pair, "OK", &array, &address)) break;
        arrays[i] = Py_NewRef(array);
        data[i] = (void*)(uintptr_t)address;
    }
    Py_XDECREF(made);
    return PyErr_Occurred() ? -1 : 0;
}

// Tensors of torch. 0: they are of another library, and there are none.
static int new_by_torch(py_state* state, PyObject* like, int count, const py_form* forms, PyObject** arrays,
                        void** data) {
    for (int i = 0; i < count; i++) {
        PyObject* extents = extents_of(&forms[i]);
        arrays[i] = extents ? py_torch_new(state, like, forms[i].kind, forms[i].bytes, extents, &data[i]) : NULL;
        Py_XDECREF(extents);
        if (PyErr_Occurred()) return -1;
        if (arrays[i]) continue;
        for (; i > 0; i--) Py_CLEAR(arrays[i - 1]);
        return 0;
    }
    return 1;
}

int py_arrays_new(py_state* state, const py_array* like, int count, const py_form* forms, PyObject** arrays,
                  void** data) {
    int result = 0;
    for (int i = 0; i < count; i++) arrays[i] = NULL;
    if (like && like->on_gpu && count > 0) {
        result = new_by_torch(state, like->object, count, forms, arrays, data);
        if (result == 0) result = new_by_library(state, like->object, count, forms, arrays, data);
    } else {
        for (int i = 0; result == 0 && i < count; i++) {
            arrays[i] = new_on_host(state, &forms[i], &data[i]);
            if (!arrays[i]) result = -1;
        }
    }
    for (int i = 0; result < 0 && i < count; i++) Py_CLEAR(arrays[i]);
    return result < 0 ? -1 : 0;
}

PyObject* py_array_new(py_state* state, const py_array* like, char kind, int bytes, int ndim, const int64_t* shape,
                       void** data) {
    py_form form = {.kind = kind, .bytes = bytes, .ndim = ndim};
    PyObject* array;
    for (int i = 0; i < ndim; i++) form.shape[i] = shape[i];
    return py_arrays_new(state, like, 1, &form, &array, data) == 0 ? array : NULL;
}

PyObject* py_array_of(py_state* state, const py_array* like, void* data, char kind, int bytes, int ndim,
                      const int64_t* shape, PyObject* owner, const py_device* device) {
    memory* self = create(state);
    if (!self) return NULL;
    set_shape(self, data, kind, bytes, ndim, shape);
    self->owner = Py_NewRef(owner);
    self->device = (py_device*)Py_XNewRef((PyObject*)device);
    self->on_gpu = device && device->processor == SAP_CUDA;
    return adopt(state, like, (PyObject*)self);
}

// How many hits rows have. On a GPU the array of offsets is asked.
static int count_hits(const sap_neighbors* found, PyObject* offsets, int64_t* hits) {
    if (!found->on_device) {
        *hits = found->offsets[found->count];
        return 0;
    }
    PyObject* row = PyLong_FromLongLong(found->count);
    PyObject* last = row ? PyObject_GetItem(offsets, row) : NULL;
    PyObject* number = last ? PyNumber_Long(last) : NULL;
    *hits = number ? PyLong_AsLongLong(number) : -1;
    Py_XDECREF(number);
    Py_XDECREF(last);
    Py_XDECREF(row);
    return *hits < 0 ? -1 : 0;
}

PyObject* py_rows(py_state* state, const py_array* like, sap_neighbors* found, const py_device* device) {
    memory* owner = create(state);
    if (!owner) {
        sap_neighbors_free(found);
        return NULL;
    }
    owner->found = found;
    owner->device = (py_device*)Py_NewRef((PyObject*)device);
    const py_device* where = found->on_device ? device : NULL;
    const int64_t rows = found->count + 1;
    int64_t hits = 0;
    PyObject *offsets = NULL, *ids = NULL, *distances2 = NULL, *result = NULL;
    offsets = py_array_of(state, like, (void*)found->offsets, 'i', 8, 1, &rows, (PyObject*)owner, where);
    if (offsets && count_hits(found, offsets, &hits) == 0)
        ids = py_array_of(state, like, (void*)found->ids, 'i', 4, 1, &hits, (PyObject*)owner, where);
    if (ids && (found->distance2 || found->distance2_f64)) {
        const int bytes = found->distance2 ? 4 : 8;
        void* data = found->distance2 ? (void*)found->distance2 : (void*)found->distance2_f64;
        distances2 = py_array_of(state, like, data, 'f', bytes, 1, &hits, (PyObject*)owner, where);
    } else if (ids) {
        distances2 = Py_NewRef(Py_None);
    }
    if (distances2) result = PyObject_CallFunctionObjArgs(state->rows_type, offsets, ids, distances2, NULL);
    Py_XDECREF(offsets);
    Py_XDECREF(ids);
    Py_XDECREF(distances2);
    Py_DECREF(owner);
    return result;
}
