// torch's tensors on a GPU, read and made without Python code. Whatever is not plain about one is left to DLPack, which
// is right for all of them and takes ten times as long.
#include "torch.h"

enum {
    TENSOR,
    RAW_STREAM,
    STRIDED,
    IS_CUDA,
    GRADIENT,
    LAYOUT,
    DTYPE,
    SHAPE,
    IS_NEG,
    GET_DEVICE,
    STRIDE,
    DATA_PTR,
    NEW_EMPTY,
    TYPES
};

static const struct {
    const char* name;
    char kind;
    int bytes;
} types[] = {{"float32", 'f', 4}, {"float64", 'f', 8}, {"int32", 'i', 4}, {"int64", 'i', 8},
             {"int8", 'i', 1},    {"uint8", 'u', 1},   {"bool", 'b', 1}};
enum { TYPE_COUNT = sizeof types / sizeof *types };
// From TYPES on, objects are torch's types, and after them the keywords that ask for each.
_Static_assert((int)TYPES + 2 * (int)TYPE_COUNT == (int)PY_TORCH_OBJECTS, "there is room for each object");

// ---- What is known of torch

static bool keep(py_torch* torch, int which, PyObject* object) {
    torch->objects[which] = object;
    return object != NULL;
}

static bool learn_types(py_torch* torch, PyObject* module) {
    for (int i = 0; i < TYPE_COUNT; i++) {
        if (!keep(torch, TYPES + i, PyObject_GetAttrString(module, types[i].name)) ||
            !keep(torch, TYPES + TYPE_COUNT + i, Py_BuildValue("{s:O}", "dtype", torch->objects[TYPES + i])))
            return false;
    }
    return true;
}

static bool learn_names(py_torch* torch) {
    static const char* const names[] = {"is_cuda", "requires_grad", "layout", "dtype",    "shape",
                                        "is_neg",  "get_device",    "stride", "data_ptr", "new_empty"};
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (!keep(torch, IS_CUDA + i, PyUnicode_InternFromString(names[i]))) return false;
    return true;
}

// Looks once at the torch that is imported.
static void learn(py_torch* torch, PyObject* module) {
    PyObject* inner = PyObject_GetAttrString(module, "_C");
    torch->known = inner && keep(torch, TENSOR, PyObject_GetAttrString(module, "Tensor")) &&
                           PyType_Check(torch->objects[TENSOR]) &&
                           keep(torch, RAW_STREAM, PyObject_GetAttrString(inner, "_cuda_getCurrentRawStream")) &&
                           keep(torch, STRIDED, PyObject_GetAttrString(module, "strided")) && learn_names(torch) &&
                           learn_types(torch, module)
                       ? 1
                       : -1;
    Py_XDECREF(inner);
    PyErr_Clear(); // another torch than is known here
}

static bool is_tensor(py_torch* torch, PyObject* object) {
    if (torch->known == 0) {
        PyObject* name = PyUnicode_FromString("torch");
        PyObject* module = name ? PyImport_GetModule(name) : NULL;
        if (module && PyObject_HasAttrString(module, "cuda")) learn(torch, module);
        Py_XDECREF(module);
        Py_XDECREF(name);
        PyErr_Clear();
    }
    // Classes that derive from it may have attributes of their own.
    return torch->known > 0 && (PyObject*)Py_TYPE(object) == torch->objects[TENSOR];
}

// ---- Streams

// Whether a stream is one of torch's, which live for ever. Looked up with torch's own objects the first time.
static bool lives(py_state* state, PyObject* object, int ordinal, void* stream) {
    py_torch* torch = &state->torch;
    for (int i = 0; i < PY_TORCH_STREAMS; i++)
        if (torch->streams[i].stream == stream && torch->streams[i].ordinal == ordinal) return true;
    PyObject* gpu = py_gpu(state);
    PyObject* current = gpu ? PyObject_CallMethod(gpu, "current_stream", "Oi", object, ordinal) : NULL;
    const bool own = current && PyTuple_Check(current) && PyLong_AsVoidPtr(PyTuple_GetItem(current, 0)) == stream;
    Py_XDECREF(current);
    if (PyErr_Occurred() || !own) return false;
    torch->streams[torch->next].ordinal = ordinal;
    torch->streams[torch->next].stream = stream;
    torch->next = (torch->next + 1) % PY_TORCH_STREAMS;
    return true;
}

// The stream in which torch works on a GPU now. False, perhaps with an exception, where it is not known or not torch's.
static bool current_stream(py_state* state, PyObject* object, int ordinal, void** stream) {
    PyObject* number = PyLong_FromLong(ordinal);
    PyObject* raw = number ? PyObject_CallFunctionObjArgs(state->torch.objects[RAW_STREAM], number, NULL) : NULL;
    Py_XDECREF(number);
    if (!raw) return false;
    *stream = PyLong_AsVoidPtr(raw);
    Py_DECREF(raw);
    if (PyErr_Occurred()) return false;
    if (*stream) return lives(state, object, ordinal, *stream);
    *stream = PY_LEGACY_STREAM;
    return true;
}

// ---- Tensors

static bool is_true(PyObject* object, PyObject* name) {
    PyObject* value = PyObject_GetAttr(object, name);
    const bool truth = value == Py_True;
    Py_XDECREF(value);
    return truth;
}

static bool is_same(PyObject* object, PyObject* name, const PyObject* wanted) {
    PyObject* value = PyObject_GetAttr(object, name);
    Py_XDECREF(value);
    return value && value == wanted;
}

static int type_of(const py_torch* torch, PyObject* object) {
    PyObject* type = PyObject_GetAttr(object, torch->objects[DTYPE]);
    int found = -1;
    for (int i = 0; type && found < 0 && i < TYPE_COUNT; i++)
        if (type == torch->objects[TYPES + i]) found = i;
    Py_XDECREF(type);
    return found;
}

// The numbers of a tuple. How many; -1: not a tuple of at most three numbers.
static int numbers_of(PyObject* tuple, int64_t* numbers) {
    int count = -1;
    if (tuple && PyTuple_Check(tuple) && PyTuple_Size(tuple) <= 3) {
        count = (int)PyTuple_Size(tuple);
        for (int i = 0; i < count; i++) numbers[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
    }
    Py_XDECREF(tuple);
    return PyErr_Occurred() ? -1 : count;
}

static bool address_of(const py_torch* torch, PyObject* object, void** data) {
    PyObject* number = PyObject_CallMethodObjArgs(object, torch->objects[DATA_PTR], NULL);
    if (!number) return false;
    *data = PyLong_AsVoidPtr(number);
    Py_DECREF(number);
    return !PyErr_Occurred();
}

// A plain tensor of numbers on a GPU. False, perhaps with an exception.
static bool describe(const py_torch* torch, PyObject* object, py_tensor* t) {
    PyObject* const* o = torch->objects;
    if (!is_true(object, o[IS_CUDA]) || is_true(object, o[GRADIENT]) || !is_same(object, o[LAYOUT], o[STRIDED]))
        return false;
    const int type = type_of(torch, object);
    if (type < 0) return false;
    PyObject* negative = PyObject_CallMethodObjArgs(object, o[IS_NEG], NULL);
    const bool plain = negative == Py_False;
    Py_XDECREF(negative);
    PyObject* ordinal = plain ? PyObject_CallMethodObjArgs(object, o[GET_DEVICE], NULL) : NULL;
    if (!ordinal) return false;
    t->ordinal = (int)PyLong_AsLong(ordinal);
    Py_DECREF(ordinal);
    t->kind = types[type].kind;
    t->bytes = types[type].bytes;
    t->ndim = numbers_of(PyObject_GetAttr(object, o[SHAPE]), t->shape);
    if (t->ndim < 0 || numbers_of(PyObject_CallMethodObjArgs(object, o[STRIDE], NULL), t->strides) != t->ndim)
        return false;
    for (int i = 0; i < t->ndim; i++) t->strides[i] *= t->bytes;
    return address_of(torch, object, &t->data);
}

bool py_torch_read(py_state* state, PyObject* object, py_tensor* tensor) {
    if (!is_tensor(&state->torch, object)) return false;
    const bool read = describe(&state->torch, object, tensor) &&
                      current_stream(state, object, tensor->ordinal, &tensor->stream) && !PyErr_Occurred();
    PyErr_Clear(); // DLPack will say what is wrong
    return read;
}

PyObject* py_torch_new(py_state* state, PyObject* like, char kind, int bytes, PyObject* extents, void** data) {
    py_torch* torch = &state->torch;
    if (!is_tensor(torch, like)) return NULL;
    int type = 0;
    while (type < TYPE_COUNT && (types[type].kind != kind || types[type].bytes != bytes)) type++;
    if (type == TYPE_COUNT) return NULL;
    PyObject* method = PyObject_GetAttr(like, torch->objects[NEW_EMPTY]);
    PyObject* args = method ? PyTuple_Pack(1, extents) : NULL;
    PyObject* made = args ? PyObject_Call(method, args, torch->objects[TYPES + TYPE_COUNT + type]) : NULL;
    Py_XDECREF(args);
    Py_XDECREF(method);
    if (made && !address_of(torch, made, data)) Py_CLEAR(made);
    return made;
}
