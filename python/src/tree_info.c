// What a tree says of itself.
#include "tree.h"
#include <string.h>

enum {
    COUNT,
    SOURCE_COUNT,
    DIMS,
    DTYPE,
    DEVICE,
    THREADS,
    DEPTH,
    LEAVES,
    LARGEST_LEAF,
    BYTES,
    BOUNDS,
    PERIOD,
    LEAF_SIZE,
    SPLIT,
    DUPLICATES,
    NOT_FINITE,
    MAPPED,
};

PyObject* py_dtype(py_state* state, int real_bits) {
    const char* name = real_bits == 32 ? "float32" : "float64";
    return py_numpy(state) ? PyObject_CallMethod(state->numpy, "dtype", "s", name) : PyUnicode_FromString(name);
}

static PyObject* numbers(py_state* state, const double* values, int64_t count) {
    void* data;
    PyObject* array = py_array_new(state, NULL, 'f', 8, 1, &count, &data);
    if (array) memcpy(data, values, (size_t)count * sizeof *values);
    return array;
}

static PyObject* attribute(PyObject* object, void* which) {
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    sap_tree_info info = {0};
    py_tree_info(self, &info);
    const py_device* device = self->device;
    py_tree_done(self);
    switch ((intptr_t)which) {
    case COUNT: return PyLong_FromLongLong(info.count);
    case SOURCE_COUNT: return PyLong_FromLongLong(info.source_count);
    case DIMS: return PyLong_FromLong(info.dims);
    case DTYPE: return py_dtype(self->state, info.real_bits);
    case DEVICE: return py_device_name(device);
    case DEPTH: return PyLong_FromLong(info.depth);
    case LEAVES: return PyLong_FromLongLong(info.leaves);
    case LARGEST_LEAF: return PyLong_FromLong(info.largest_leaf);
    case BYTES: return PyLong_FromSize_t(info.bytes);
    case LEAF_SIZE: return PyLong_FromLong(info.options.leaf_size);
    case SPLIT: return PyUnicode_FromString(py_splits[info.options.split]);
    case DUPLICATES: return PyLong_FromLongLong(info.duplicates);
    case NOT_FINITE: return PyLong_FromLongLong(info.not_finite);
    case MAPPED: return PyBool_FromLong(info.mapped);
    case PERIOD: return self->periodic ? numbers(self->state, info.options.period, info.dims) : Py_NewRef(Py_None);
    case BOUNDS: {
        PyObject* lower = numbers(self->state, info.lower, info.dims);
        PyObject* upper = lower ? numbers(self->state, info.upper, info.dims) : NULL;
        PyObject* both = upper ? PyTuple_Pack(2, lower, upper) : NULL;
        Py_XDECREF(upper);
        Py_XDECREF(lower);
        return both;
    }
    default: break;
    }
    sap_device_info about = {0};
    const sap_status status = sap_device_describe(device->device, &about);
    return status == SAP_OK ? PyLong_FromLong(about.threads) : py_raise(self->state, status);
}

PyGetSetDef py_tree_attributes[] = {
    {"count", attribute, NULL, "Points in the tree.", (void*)COUNT},
    {"source_count", attribute, NULL, "Points given; ids are below this.", (void*)SOURCE_COUNT},
    {"dims", attribute, NULL, "Coordinates a point.", (void*)DIMS},
    {"dtype", attribute, NULL, "float32 or float64.", (void*)DTYPE},
    {"device", attribute, NULL, "Where the tree lies: 'cpu' or 'cuda:0'.", (void*)DEVICE},
    {"threads", attribute, NULL, "How many threads a call may use.", (void*)THREADS},
    {"depth", attribute, NULL, "Inner nodes from the root to the deepest leaf.", (void*)DEPTH},
    {"leaves", attribute, NULL, "How many leaves there are.", (void*)LEAVES},
    {"largest_leaf", attribute, NULL, "Points in the fullest leaf.", (void*)LARGEST_LEAF},
    {"bytes", attribute, NULL, "Of the tree's arrays, the copies of the points included.", (void*)BYTES},
    {"bounds", attribute, NULL, "The tight box of the points: (lower, upper).", (void*)BOUNDS},
    {"period", attribute, NULL, "The period of each axis, 0 where it is open; or None.", (void*)PERIOD},
    {"leaf_size", attribute, NULL, "Points that a leaf should hold.", (void*)LEAF_SIZE},
    {"split", attribute, NULL, "'median', 'midpoint' or 'vvh'.", (void*)SPLIT},
    {"duplicates", attribute, NULL, "Points that were dropped as duplicates.", (void*)DUPLICATES},
    {"not_finite", attribute, NULL, "Points that were left out because they are not finite.", (void*)NOT_FINITE},
    {"mapped", attribute, NULL, "Whether the tree lies as it was saved: in a mapped file, or in bytes.", (void*)MAPPED},
    {NULL, NULL, NULL, NULL, NULL},
};

PyObject* py_tree_repr(PyObject* object) {
    const py_tree* self = (py_tree*)object;
    PyObject* name = PyType_GetQualName(Py_TYPE(object));
    PyObject* device = name && self->tree ? py_device_name(self->device) : NULL;
    PyObject* text = NULL;
    if (device)
        text = PyUnicode_FromFormat("<sapwood.%U: %lld point%s, %d dim%s, float%d, %U>", name, (long long)self->count,
                                    self->count == 1 ? "" : "s", (int)self->dims, self->dims == 1 ? "" : "s",
                                    (int)self->real_bits, device);
    else if (name && !self->tree)
        text = PyUnicode_FromFormat("<sapwood.%U: not built>", name);
    Py_XDECREF(device);
    Py_XDECREF(name);
    return text;
}

Py_ssize_t py_tree_length(PyObject* object) {
    py_tree* self = py_tree_use(object);
    if (!self) return -1;
    py_tree_done(self);
    return (Py_ssize_t)self->count;
}
