// Arrays that callers give: by Python's buffers, by DLPack, by __cuda_array_interface__, or made arrays by NumPy.
//
// What can be used where it lies is used there: the first three say where that is. NumPy is asked for everything else.
#include "dlpack.h"
#include "sapwood_python.h"
#include "torch.h"
#include <string.h>

PyObject* py_gpu(py_state* state) {
    if (!state->gpu) state->gpu = PyImport_ImportModule("sapwood._gpu");
    return state->gpu;
}

void py_array_release(py_array* a) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace); // a deleter may run Python, which must not meet the exception of a failed call
    if (a->tensor && a->versioned) {
        dlpack_versioned* tensor = a->tensor;
        if (tensor->deleter) tensor->deleter(tensor);
    } else if (a->tensor) {
        dlpack_managed* tensor = a->tensor;
        if (tensor->deleter) tensor->deleter(tensor);
    }
    a->tensor = NULL;
    if (a->view.obj) PyBuffer_Release(&a->view);
    Py_CLEAR(a->owner);
    Py_CLEAR(a->keeper);
    PyErr_Restore(type, value, trace);
}

// ---- What an array is, and whether it can be used as it is

// What is known of an array before anything is decided. Strides in bytes; NULL: C-contiguous.
typedef struct layout {
    void* data;
    char kind;
    int64_t bytes, ndim;
    const int64_t *shape, *strides;
    bool readonly, foreign; // foreign: of the other byte order
} layout;

static bool wanted(const char* want, char kind, int64_t bytes) {
    for (; *want; want += 2)
        if (want[0] == kind && want[1] - '0' == bytes) return true;
    return false;
}

static int check_ndim(const char* name, int64_t ndim, int least, int most) {
    if (ndim >= least && ndim <= most) return 0;
    if (least == most)
        PyErr_Format(py_argument_error, "%s must have %d dimension%s, not %lld", name, least, least == 1 ? "" : "s",
                     (long long)ndim);
    else
        PyErr_Format(py_argument_error, "%s must have %d to %d dimensions, not %lld", name, least, most,
                     (long long)ndim);
    return -1;
}

// Whether the rows lie as the library reads them; *stride is from row to row, in elements.
static bool rows_fit(const layout* l, int64_t* stride) {
    const int64_t last = l->ndim ? l->shape[l->ndim - 1] : 1;
    *stride = last;
    if (!l->strides) return true;
    int64_t elements = 1, below = l->bytes;
    for (int i = 0; i < l->ndim; i++) elements *= l->shape[i];
    if (elements == 0) return true; // there is nothing to read
    for (int64_t i = l->ndim; i-- > 0;) {
        if (l->shape[i] == 1) continue;
        if (i == 0 && l->ndim == 2) { // rows may be apart
            if (l->strides[0] < below || l->strides[0] % l->bytes) return false;
            *stride = l->strides[0] / l->bytes;
        } else if (l->strides[i] != below) {
            return false;
        }
        below *= l->shape[i];
    }
    return true;
}

static bool usable(const layout* l, const char* want, int flags, int64_t* stride) {
    if (l->foreign || !wanted(want, l->kind, l->bytes) || (flags & PY_WRITABLE && l->readonly)) return false;
    if ((uintptr_t)l->data % (uintptr_t)l->bytes) return false;
    if (!rows_fit(l, stride)) return false;
    return !(flags & PY_EXACT) || l->ndim != 2 || *stride == l->shape[1];
}

static void fill(py_array* a, const layout* l, int64_t stride) {
    a->data = l->data;
    a->kind = l->kind;
    a->bytes = (int32_t)l->bytes;
    a->ndim = (int32_t)l->ndim;
    a->stride = stride;
    a->readonly = l->readonly;
    for (int i = 0; i < l->ndim; i++) a->shape[i] = l->shape[i];
}

// ---- Python's buffers

// Kind of an element by the letter of the struct module; 0: one that is no number here.
static char kind_of(const char* format, Py_ssize_t bytes, bool* foreign) {
    const uint16_t one = 1;
    const bool little = *(const uint8_t*)&one == 1;
    *foreign = false;
    if (!format) return 'u';
    if (*format == '>' || *format == '!') {
        *foreign = little && bytes > 1;
        format++;
    } else if (*format == '<') {
        *foreign = !little && bytes > 1;
        format++;
    } else if (*format == '@' || *format == '=') {
        format++;
    }
    if (!format[0] || format[1]) return 0;
    if (strchr("fd", *format)) return 'f';
    if (strchr("bhilqn", *format)) return 'i';
    if (strchr("BHILQN", *format)) return 'u';
    return *format == '?' ? 'b' : 0;
}

// 1: taken, 0: it has no buffer, NOT_USABLE: it has, but not as it is needed (in both cases nothing is held), -1: an
// exception.
enum { NOT_USABLE = 2 };

static int take_buffer(PyObject* object, const char* name, const char* want, int least, int most, int flags,
                       py_array* a) {
    const int request = flags & PY_WRITABLE ? PyBUF_RECORDS : PyBUF_RECORDS_RO;
    if (PyObject_GetBuffer(object, &a->view, request) < 0) {
        PyErr_Clear();
        a->view.obj = NULL;
        return 0;
    }
    const Py_buffer* v = &a->view;
    int64_t shape[3], strides[3], stride;
    bool foreign;
    layout l = {.data = v->buf,
                .bytes = v->itemsize,
                .ndim = v->ndim,
                .shape = shape,
                .strides = strides,
                .readonly = v->readonly};
    l.kind = kind_of(v->format, v->itemsize, &foreign);
    l.foreign = foreign;
    if (l.kind && check_ndim(name, v->ndim, least, most) < 0) {
        py_array_release(a);
        return -1;
    }
    if (!v->strides) l.strides = NULL; // ctypes
    for (int i = 0; l.kind && i < v->ndim; i++) {
        shape[i] = v->shape[i];
        if (v->strides) strides[i] = v->strides[i];
    }
    if (l.kind && usable(&l, want, flags, &stride)) {
        fill(a, &l, stride);
        return 1;
    }
    py_array_release(a);
    return NOT_USABLE;
}

// ---- DLPack

static char kind_of_code(int code) {
    switch (code) {
    case DLPACK_FLOAT: return 'f';
    case DLPACK_INT: return 'i';
    case DLPACK_UINT: return 'u';
    case DLPACK_BOOL: return 'b';
    default: return 0;
    }
}

// Asks for the capsule. `stream` as a number, or NULL on the host.
static PyObject* ask_for_capsule(PyObject* object, PyObject* stream) {
    PyObject* method = PyObject_GetAttrString(object, "__dlpack__");
    PyObject* none = method ? PyTuple_New(0) : NULL;
    PyObject* keywords = none ? PyDict_New() : NULL;
    PyObject* version = keywords ? Py_BuildValue("(ii)", 1, 0) : NULL;
    PyObject* capsule = NULL;
    if (version && PyDict_SetItemString(keywords, "max_version", version) == 0 &&
        (!stream || PyDict_SetItemString(keywords, "stream", stream) == 0)) {
        capsule = PyObject_Call(method, none, keywords);
        if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) { // older than versions
            PyErr_Clear();
            if (PyDict_DelItemString(keywords, "max_version") == 0) capsule = PyObject_Call(method, none, keywords);
        }
    }
    Py_XDECREF(version);
    Py_XDECREF(keywords);
    Py_XDECREF(none);
    Py_XDECREF(method);
    return capsule;
}

// Takes the tensor out of a capsule. NULL and an exception on failure.
static const dlpack_tensor* open_capsule(PyObject* capsule, const char* name, py_array* a) {
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        dlpack_versioned* v = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (v->version.major != 1) {
            PyErr_Format(PyExc_BufferError, "%s: DLPack %u is newer than what Sapwood knows", name, v->version.major);
            return NULL;
        }
        if (PyCapsule_SetName(capsule, "used_dltensor_versioned") < 0) return NULL;
        a->tensor = v;
        a->versioned = true;
        return &v->tensor;
    }
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        dlpack_managed* m = PyCapsule_GetPointer(capsule, "dltensor");
        if (PyCapsule_SetName(capsule, "used_dltensor") < 0) return NULL;
        a->tensor = m;
        a->versioned = false;
        return &m->tensor;
    }
    PyErr_Format(PyExc_TypeError, "%s: what __dlpack__() returned is no capsule with a tensor", name);
    return NULL;
}

// 1: taken, 0: not as it is needed, -1: an exception.
static int take_tensor(PyObject* capsule, const char* name, const char* want, int least, int most, int flags,
                       py_array* a) {
    const dlpack_tensor* t = open_capsule(capsule, name, a);
    if (!t) return -1;
    int64_t strides[3], stride;
    if (check_ndim(name, t->ndim, least, most) < 0) return -1;
    const int64_t bytes = t->dtype.bits / 8;
    if (!kind_of_code(t->dtype.code) || t->dtype.bits % 8 || !bytes || t->dtype.lanes != 1) {
        PyErr_Format(PyExc_TypeError,
                     "%s must be an array of real numbers, not of DLPack's type %d of %d bits, %d lanes", name,
                     (int)t->dtype.code, (int)t->dtype.bits, (int)t->dtype.lanes);
        return -1;
    }
    layout l = {.data = (char*)t->data + t->byte_offset,
                .kind = kind_of_code(t->dtype.code),
                .bytes = bytes,
                .ndim = t->ndim,
                .shape = t->shape};
    l.readonly = a->versioned && ((const dlpack_versioned*)a->tensor)->flags & DLPACK_READ_ONLY;
    if (t->strides) {
        for (int i = 0; i < t->ndim; i++) strides[i] = t->strides[i] * bytes;
        l.strides = strides;
    }
    if (usable(&l, want, flags, &stride)) {
        fill(a, &l, stride);
        return 1;
    }
    py_array_release(a);
    return 0;
}

// The types of `want` in words, in room for 100 characters.
static const char* list_types(const char* want, char* list) {
    list[0] = 0;
    for (; *want; want += 2) {
        const size_t used = strlen(list);
        const char* kind = *want == 'f' ? "float" : *want == 'i' ? "int" : *want == 'u' ? "uint" : "bool";
        if (*want == 'b')
            PyOS_snprintf(list + used, 100 - used, "%s%s", used ? " or " : "", kind);
        else
            PyOS_snprintf(list + used, 100 - used, "%s%s%d", used ? " or " : "", kind, (want[1] - '0') * 8);
    }
    return list;
}

// ---- GPUs

// Decides in which stream an array on a GPU will be ready, and whether that is where its library works. -1 and an
// exception if `on` cannot read it.
static int place(py_state* state, PyObject* object, const char* name, int ordinal, const py_device* on, py_array* a) {
    if (on && on->processor != SAP_CUDA) {
        PyErr_Format(py_argument_error, "%s lies on cuda:%d, and the work is done on the CPU: bring both to one device",
                     name, ordinal);
        return -1;
    }
    if (on && on->ordinal != ordinal) {
        PyErr_Format(py_argument_error, "%s lies on cuda:%d, and the work is done on cuda:%d: bring both to one device",
                     name, ordinal, (int)on->ordinal);
        return -1;
    }
    PyObject* gpu = py_gpu(state);
    PyObject* current = gpu ? PyObject_CallMethod(gpu, "current_stream", "Oi", object, ordinal) : NULL;
    if (!current) return -1;
    void* theirs = NULL; // unknown
    PyObject* keeper = NULL;
    if (current != Py_None) {
        theirs = PyLong_AsVoidPtr(PyTuple_GetItem(current, 0));
        keeper = PyTuple_GetItem(current, 1);
    }
    a->on_gpu = true;
    a->ordinal = ordinal;
    a->stream = on && on->stream ? on->stream : theirs ? theirs : PY_LEGACY_STREAM;
    a->in_stream = theirs && theirs == a->stream && !(on && on->stream != a->stream);
    a->keeper = Py_XNewRef(on && on->stream ? on->keeper : keeper);
    Py_DECREF(current);
    return PyErr_Occurred() ? -1 : 0;
}

// What cannot be used as it is on a GPU.
static int refuse_on_gpu(const char* name, const char* want, int flags) {
    char list[100];
    PyErr_Format(PyExc_TypeError, "%s, on a GPU, must be of %s, with its last axis contiguous%s", name,
                 list_types(want, list), flags & PY_WRITABLE ? ", and writable" : "");
    return -1;
}

static int take_from_gpu(py_state* state, PyObject* object, const char* name, const char* want, int least, int most,
                         int flags, int ordinal, const py_device* on, py_array* a) {
    if (place(state, object, name, ordinal, on, a) < 0) return -1;
    // A machine without this GPU says so here, before the object is asked for its memory.
    py_device* device = py_device_open(state, SAP_CUDA, ordinal, 0, a->stream, a->keeper);
    if (!device) return -1;
    PyObject* stream = PyLong_FromVoidPtr(a->stream);
    PyObject* capsule = stream ? ask_for_capsule(object, stream) : NULL;
    Py_XDECREF(stream);
    int taken = capsule ? take_tensor(capsule, name, want, least, most, flags, a) : -1;
    Py_XDECREF(capsule);
    if (taken == 0) taken = refuse_on_gpu(name, want, flags);
    if (taken > 0 && on && on->stream != a->stream) {
        py_call call;
        taken = py_call_begin(&call, device, NULL, NULL);
        if (taken == 0) taken = py_call_end(&call, sap_device_wait(device->device));
    }
    Py_DECREF(device);
    return taken < 0 ? -1 : 0;
}

// ---- __cuda_array_interface__

static int interface_layout(PyObject* interface, const char* name, layout* l, int64_t* shape, int64_t* strides) {
    PyObject* extents = PyDict_GetItemString(interface, "shape");
    PyObject* type = PyDict_GetItemString(interface, "typestr");
    PyObject* data = PyDict_GetItemString(interface, "data");
    PyObject* steps = PyDict_GetItemString(interface, "strides");
    PyObject* mask = PyDict_GetItemString(interface, "mask");
    const char* text = type && PyUnicode_Check(type) ? PyUnicode_AsUTF8AndSize(type, NULL) : NULL;
    const bool sound =
        extents && PyTuple_Check(extents) && text && strlen(text) >= 3 && data && PyTuple_Check(data) &&
        PyTuple_Size(data) == 2 && (!mask || mask == Py_None) &&
        (!steps || steps == Py_None || (PyTuple_Check(steps) && PyTuple_Size(steps) == PyTuple_Size(extents)));
    if (!sound) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "%s: its __cuda_array_interface__ is not what it should be, or has a mask",
                         name);
        return -1;
    }
    l->data = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
    l->readonly = PyObject_IsTrue(PyTuple_GetItem(data, 1)) != 0;
    l->kind = text[1];
    l->bytes = text[3] ? 0 : text[2] - '0';
    l->foreign = text[0] == '>';
    l->ndim = PyTuple_Size(extents);
    if (l->bytes < 1 || l->bytes > 8) l->kind = 0;
    if (l->ndim > 3) return PyErr_Occurred() ? -1 : 0;
    l->shape = shape;
    if (steps && steps != Py_None) l->strides = strides;
    for (int i = 0; i < l->ndim; i++) {
        shape[i] = PyLong_AsLongLong(PyTuple_GetItem(extents, i));
        if (l->strides) strides[i] = PyLong_AsLongLong(PyTuple_GetItem(steps, i));
    }
    return PyErr_Occurred() ? -1 : 0;
}

static int take_interface(py_state* state, PyObject* object, PyObject* interface, const char* name, const char* want,
                          int least, int most, int flags, const py_device* on, py_array* a) {
    int64_t shape[3], strides[3], stride;
    layout l = {0};
    if (!PyDict_Check(interface) || interface_layout(interface, name, &l, shape, strides) < 0) {
        if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "%s: its __cuda_array_interface__ is no dict", name);
        return -1;
    }
    if (check_ndim(name, l.ndim, least, most) < 0) return -1;
    // The interface does not say which GPU; a library that has several says it by DLPack.
    const int ordinal = on && on->processor == SAP_CUDA ? on->ordinal : 0;
    if (place(state, object, name, ordinal, on, a) < 0) return -1;
    PyObject* ready = PyDict_GetItemString(interface, "stream");
    void* theirs = NULL;
    if (ready && ready != Py_None) {
        theirs = PyLong_AsVoidPtr(ready);
        if (PyErr_Occurred()) return -1;
        if (!theirs) {
            PyErr_Format(py_argument_error, "%s: stream 0 is ambiguous in __cuda_array_interface__", name);
            return -1;
        }
    }
    py_device* device = py_device_open(state, SAP_CUDA, ordinal, 0, a->stream, a->keeper);
    if (!device) return -1;
    Py_DECREF(device);
    if (!l.kind || !usable(&l, want, flags, &stride)) return refuse_on_gpu(name, want, flags);
    fill(a, &l, stride);
    // Nobody says how long that stream lives.
    return theirs && theirs != (on ? on->stream : a->stream) ? py_stream_wait(state, ordinal, theirs) : 0;
}

// ---- NumPy

// The type to convert to: the first that fits of those wanted. Two letters of `want`, or NULL.
static const char* target_of(const char* want, char kind, int64_t bytes) {
    const char *found = NULL, *first_float = NULL, *first_int = NULL;
    for (const char* w = want; *w; w += 2) {
        if (w[0] == kind && w[1] - '0' == bytes) return w;
        if (w[0] == 'f' && !first_float) first_float = w;
        if (w[0] == 'i' && !first_int) first_int = w;
        if (w[0] == 'f' && w[1] == (kind == 'f' && bytes < 4 ? '4' : '8')) found = w;
    }
    if (found) return found;
    if (first_float) return first_float;
    return kind == 'i' || kind == 'u' ? first_int : NULL;
}

// Whether whole numbers that were converted are the same as before.
static int check_equal(PyObject* before, PyObject* after, const char* name, const char* type) {
    PyObject* equal = PyObject_RichCompare(before, after, Py_EQ);
    PyObject* all = equal ? PyObject_CallMethod(equal, "all", NULL) : NULL;
    const int truth = all ? PyObject_IsTrue(all) : -1;
    Py_XDECREF(all);
    Py_XDECREF(equal);
    if (truth == 0) PyErr_Format(py_argument_error, "%s has numbers that int%d cannot hold", name, (type[1] - '0') * 8);
    return truth > 0 ? 0 : -1;
}

static int dtype_of(PyObject* array, char* kind, int64_t* bytes) {
    PyObject* dtype = PyObject_GetAttrString(array, "dtype");
    PyObject* letter = dtype ? PyObject_GetAttrString(dtype, "kind") : NULL;
    PyObject* size = letter ? PyObject_GetAttrString(dtype, "itemsize") : NULL;
    const char* text = size ? PyUnicode_AsUTF8AndSize(letter, NULL) : NULL;
    if (text) *kind = text[0];
    if (text) *bytes = PyLong_AsLongLong(size);
    Py_XDECREF(size);
    Py_XDECREF(letter);
    Py_XDECREF(dtype);
    return text ? 0 : -1;
}

static int refuse_type(PyObject* array, const char* name, const char* want) {
    char list[100];
    const char* wanted = strchr(want, 'f') ? "real numbers" : list_types(want, list);
    PyObject* dtype = PyObject_GetAttrString(array, "dtype");
    if (dtype) PyErr_Format(PyExc_TypeError, "%s must be an array of %s, not of %S", name, wanted, dtype);
    Py_XDECREF(dtype);
    return -1;
}

// A C-contiguous array of a wanted type.
static PyObject* convert(py_state* state, PyObject* array, const char* name, const char* want) {
    char kind = 0;
    int64_t bytes = 0;
    if (dtype_of(array, &kind, &bytes) < 0) return NULL;
    PyObject* size = PyObject_GetAttrString(array, "size");
    const long long elements = size ? PyLong_AsLongLong(size) : -1;
    Py_XDECREF(size);
    if (elements < 0) return NULL;
    const bool plain = strchr("fiub", kind) != NULL, real = plain || kind == 'O';
    const char* to = real ? target_of(want, kind, bytes) : NULL;
    // [] is an array of float64, whatever it was to be; whether an object is a whole number is found out.
    if (real && !to && (elements == 0 || kind == 'O')) to = want;
    if (!to || (kind == 'O' && to[0] == 'b')) {
        refuse_type(array, name, want);
        return NULL;
    }
    const char dtype[3] = {to[0], to[1], 0};
    PyObject* copy = PyObject_CallMethod(state->numpy, "array", "Os", array, dtype);
    // Of a subclass, or in Fortran's order, array() keeps what it was.
    PyObject* contiguous = copy ? PyObject_CallMethod(state->numpy, "require", "Oss", copy, dtype, "CA") : NULL;
    Py_XDECREF(copy);
    const bool whole = to[0] == 'i' && (kind != 'i' || bytes > to[1] - '0');
    if (contiguous && whole && check_equal(array, contiguous, name, dtype) < 0) Py_CLEAR(contiguous);
    return contiguous;
}

static PyObject* as_numpy(py_state* state, PyObject* object) {
    const bool only_tensor = !PyObject_CheckBuffer(object) && !PyObject_HasAttrString(object, "__array__") &&
                             PyObject_HasAttrString(object, "__dlpack__");
    if (only_tensor) return PyObject_CallMethod(state->numpy, "from_dlpack", "O", object);
    return PyObject_CallFunctionObjArgs(state->numpy_asarray, object, NULL);
}

static int take_by_numpy(py_state* state, PyObject* object, const char* name, const char* want, int least, int most,
                         py_array* a) {
    if (!py_numpy(state)) {
        PyErr_Format(PyExc_TypeError,
                     "%s: without NumPy, only arrays with a buffer or with DLPack can be used, of a type "
                     "that fits and contiguous",
                     name);
        return -1;
    }
    PyObject* array = as_numpy(state, object);
    if (!array) py_value_error(name);
    PyObject* ndim = array ? PyObject_GetAttrString(array, "ndim") : NULL;
    const long long dimensions = ndim ? PyLong_AsLongLong(ndim) : -1;
    Py_XDECREF(ndim);
    char kind = 0;
    int64_t bytes = 0;
    int result = dimensions < 0 ? -1 : dtype_of(array, &kind, &bytes);
    // Anything but numbers is an array of no dimensions, of objects: its type is what is wrong with it.
    if (result == 0 && dimensions == 0 && least > 0 && !strchr("fiub", kind)) result = refuse_type(array, name, want);
    if (result == 0) result = check_ndim(name, dimensions, least, most);
    if (result == 0) {
        int taken = take_buffer(array, name, want, least, most, 0, a);
        if (taken == 0 || taken == NOT_USABLE) {
            a->owner = convert(state, array, name, want);
            if (!a->owner) py_value_error(name);
            taken = a->owner ? take_buffer(a->owner, name, want, least, most, 0, a) : -1;
        }
        if (taken != 1 && !PyErr_Occurred()) refuse_type(array, name, want);
        result = taken == 1 ? 0 : -1;
    }
    Py_XDECREF(array);
    return result;
}

// ---- All of them

// Arrays of JAX never change, whatever they say.
static int refuse_constant(py_state* state, PyObject* object, const char* name) {
    PyObject* gpu = py_gpu(state);
    PyObject* answer = gpu ? PyObject_CallMethod(gpu, "changes", "O", object) : NULL;
    const bool constant = answer == Py_False;
    Py_XDECREF(answer);
    if (constant) PyErr_Format(PyExc_TypeError, "%s must be writable, and arrays of JAX are not", name);
    return answer && !constant ? 0 : -1;
}

// A tensor of torch's that lies where the work is done, and is ready in the stream in which it is done. Whether it was
// taken; if not, nothing is held, and others say why.
static bool take_torch(py_state* state, PyObject* object, const char* want, int least, int most, int flags,
                       const py_device* on, py_array* a) {
    py_tensor t;
    if (!py_torch_read(state, object, &t) || t.ndim < least || t.ndim > most) return false;
    if (on && (on->processor != SAP_CUDA || on->ordinal != t.ordinal || on->stream != t.stream)) return false;
    const layout l = {
        .data = t.data, .kind = t.kind, .bytes = t.bytes, .ndim = t.ndim, .shape = t.shape, .strides = t.strides};
    int64_t stride;
    if (!usable(&l, want, flags, &stride)) return false;
    fill(a, &l, stride);
    a->on_gpu = a->in_stream = true;
    a->ordinal = t.ordinal;
    a->stream = t.stream;
    a->keeper = on ? Py_XNewRef(on->keeper) : NULL;
    a->owner = Py_NewRef(object);
    return true;
}

// An array that is not on the host, or that only DLPack can read. As take_buffer.
static int take_elsewhere(py_state* state, PyObject* object, const char* name, const char* want, int least, int most,
                          int flags, const py_device* on, py_array* a) {
    if (take_torch(state, object, want, least, most, flags, on, a)) return 1;
    PyObject* where = PyObject_HasAttrString(object, "__dlpack_device__")
                          ? PyObject_CallMethod(object, "__dlpack_device__", NULL)
                          : NULL;
    int type = 0, ordinal = 0;
    if (where) {
        const bool tuple = PyTuple_Check(where) && PyTuple_Size(where) == 2;
        PyObject* number = tuple ? PyNumber_Index(PyTuple_GetItem(where, 0)) : NULL; // an enum, perhaps
        type = number ? (int)PyLong_AsLong(number) : 0;
        Py_XDECREF(number);
        ordinal = number ? (int)PyLong_AsLong(PyTuple_GetItem(where, 1)) : 0;
        Py_DECREF(where);
    }
    PyErr_Clear();
    if (flags & PY_WRITABLE && type && refuse_constant(state, object, name) < 0) return -1;
    if (type == DLPACK_CUDA || type == DLPACK_CUDA_MANAGED)
        return take_from_gpu(state, object, name, want, least, most, flags, ordinal, on, a) < 0 ? -1 : 1;
    if (type == DLPACK_CPU || type == DLPACK_CUDA_HOST) {
        PyObject* capsule = ask_for_capsule(object, NULL);
        if (!capsule) {
            PyErr_Clear(); // NumPy may know how to read it
            return 0;
        }
        const int taken = take_tensor(capsule, name, want, least, most, flags, a);
        Py_DECREF(capsule);
        return taken;
    }
    if (type) {
        PyErr_Format(PyExc_TypeError, "%s lies on a device of a kind that Sapwood does not know (DLPack's number %d)",
                     name, type);
        return -1;
    }
    if (!PyObject_HasAttrString(object, "__cuda_array_interface__")) return 0;
    PyObject* interface = PyObject_GetAttrString(object, "__cuda_array_interface__");
    if (!interface) return -1;
    const int result = take_interface(state, object, interface, name, want, least, most, flags, on, a);
    Py_DECREF(interface);
    return result < 0 ? -1 : 1;
}

static int take(py_state* state, PyObject* object, const char* name, const char* want, int least, int most, int flags,
                const py_device* on, py_array* a) {
    int taken = PyObject_CheckBuffer(object) ? take_buffer(object, name, want, least, most, flags, a) : 0;
    if (taken == 0) taken = take_elsewhere(state, object, name, want, least, most, flags, on, a);
    if (taken == 1) return 0;
    if (taken < 0) return -1;
    if (flags & (PY_WRITABLE | PY_EXACT)) {
        PyErr_Format(PyExc_TypeError, "%s must be a contiguous%s array of the type %.2s", name,
                     flags & PY_WRITABLE ? ", writable" : "", want);
        return -1;
    }
    return take_by_numpy(state, object, name, want, least, most, a);
}

int py_array_take(py_state* state, PyObject* object, const char* name, const char* want, int min_ndim, int max_ndim,
                  int flags, const py_device* on, py_array* array) {
    memset(array, 0, sizeof *array);
    array->object = object;
    const int result = take(state, object, name, want, min_ndim, max_ndim, flags, on, array);
    if (result < 0) py_array_release(array);
    return result;
}

int py_array_take_out(py_state* state, PyObject* object, const char* name, const char* want, int ndim,
                      const int64_t* shape, const py_device* on, py_array* array) {
    if (py_array_take(state, object, name, want, ndim, ndim, PY_WRITABLE | PY_EXACT, on, array) < 0) return -1;
    for (int i = 0; i < ndim; i++) {
        if (array->shape[i] == shape[i]) continue;
        PyErr_Format(py_argument_error, "%s has %lld elements along axis %d, not %lld", name,
                     (long long)array->shape[i], i, (long long)shape[i]);
        py_array_release(array);
        return -1;
    }
    return 0;
}
