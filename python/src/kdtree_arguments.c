// What SciPy's methods are asked for: points of any shape, norms, workers.
#include "kdtree.h"
#include "tree/limit.h"

#include <math.h>
#include <string.h>

// ---- Points

static void put(void* reals, int real_bits, Py_ssize_t at, double value) {
    if (real_bits == 64)
        ((double*)reals)[at] = value;
    else
        ((float*)reals)[at] = (float)value;
}

// One point in a list or tuple of numbers of Python's own. 0 if it is anything else.
static int take_sequence(const py_kdtree* kd, PyObject* object, py_kdtree_points* points) {
    const bool is_list = PyList_Check(object);
    if (!is_list && !PyTuple_Check(object)) return 0;
    const Py_ssize_t m = kd->tree.dims;
    if ((is_list ? PyList_Size(object) : PyTuple_Size(object)) != m) return 0;
    for (Py_ssize_t i = 0; i < m; i++) {
        PyObject* item = is_list ? PyList_GetItem(object, i) : PyTuple_GetItem(object, i);
        double value;
        if (PyFloat_Check(item))
            value = PyFloat_AsDouble(item);
        else if (PyLong_Check(item)) {
            value = PyLong_AsDouble(item);
            if (value == -1 && PyErr_Occurred()) {
                PyErr_Clear();
                return 0;
            }
        } else
            return 0;
        put(points->point, kd->tree.real_bits, i, value);
    }
    points->coords = points->point;
    points->count = 1;
    points->ndim = 1;
    return 1;
}

static bool is_native(const char* format, int real_bits) {
    const char last = real_bits == 64 ? 'd' : 'f';
    if (*format == '@' || *format == '=') format++;
    return format[0] == last && format[1] == '\0';
}

static bool is_contiguous(const Py_buffer* view) {
    Py_ssize_t step = view->itemsize;
    for (int axis = view->ndim - 1; axis >= 0; axis--) {
        if (view->shape[axis] != 1 && view->strides[axis] != step && view->len) return false;
        step *= view->shape[axis];
    }
    return true;
}

// An array whose memory can be read as it is. 0 if it cannot.
static int take_buffer(const py_kdtree* kd, PyObject* object, py_kdtree_points* points) {
    if (PyObject_GetBuffer(object, &points->view, PyBUF_RECORDS_RO) < 0) {
        PyErr_Clear();
        points->view.obj = NULL;
        return 0;
    }
    const Py_buffer* view = &points->view;
    if (view->ndim >= 1 && view->format && is_native(view->format, kd->tree.real_bits) && is_contiguous(view)) return 1;
    py_kdtree_points_release(points);
    points->view.obj = NULL;
    return 0;
}

// Whatever else NumPy makes an array of.
static int take_any(const py_kdtree* kd, PyObject* object, py_kdtree_points* points) {
    PyObject* array = PyObject_CallFunctionObjArgs(kd->tree.state->numpy_asarray, object, NULL);
    PyObject* made = NULL;
    if (array) {
        PyObject* dtype = PyObject_GetAttrString(array, "dtype");
        PyObject* kind = dtype ? PyObject_GetAttrString(dtype, "kind") : NULL;
        if (kind && PyUnicode_CompareWithASCIIString(kind, "c") == 0)
            PyErr_SetString(PyExc_TypeError, "KDTree does not work with complex data");
        else if (kind)
            made = PyObject_CallMethod(kd->tree.state->numpy, "ascontiguousarray", "Os", array,
                                       kd->tree.real_bits == 64 ? "f8" : "f4");
        Py_XDECREF(kind);
        Py_XDECREF(dtype);
        Py_DECREF(array);
    }
    if (!made) {
        py_value_error("points");
        return -1;
    }
    const int taken = PyObject_GetBuffer(made, &points->view, PyBUF_RECORDS_RO);
    Py_DECREF(made); // the view keeps it
    if (taken < 0) points->view.obj = NULL;
    return taken;
}

static int refuse_shape(py_kdtree_points* points, Py_ssize_t m) {
    PyObject* shape = PyTuple_New(points->view.ndim);
    for (int axis = 0; shape && axis < points->view.ndim; axis++)
        PyTuple_SetItem(shape, axis, PyLong_FromSsize_t(points->view.shape[axis]));
    if (shape) PyErr_Format(py_argument_error, "x must consist of vectors of length %zd but has shape %R", m, shape);
    Py_XDECREF(shape);
    py_kdtree_points_release(points);
    return -1;
}

int py_kdtree_points_take(py_kdtree* kd, PyObject* object, py_kdtree_points* points) {
    points->view.obj = NULL;
    points->shape = NULL;
    if (take_sequence(kd, object, points)) return 0;
    if (!(PyObject_CheckBuffer(object) && take_buffer(kd, object, points)) && take_any(kd, object, points) < 0)
        return -1;
    const Py_buffer* view = &points->view;
    const Py_ssize_t m = kd->tree.dims;
    if (view->ndim < 1 || view->shape[view->ndim - 1] != m) return refuse_shape(points, m);
    points->coords = view->buf;
    points->ndim = view->ndim;
    points->shape = view->shape;
    points->count = 1;
    for (int axis = 0; axis < view->ndim - 1; axis++) points->count *= view->shape[axis];
    return 0;
}

typedef struct examination {
    const void* reals;
    int real_bits;
    int found; // one that is not finite
} examination;

static void look(void* context, int64_t from, int64_t to, int32_t worker) {
    examination* f = context;
    (void)worker;
    bool all = true;
    if (f->real_bits == 64)
        for (int64_t i = from; i < to; i++) all &= fabs(((const double*)f->reals)[i]) <= DBL_MAX;
    else
        for (int64_t i = from; i < to; i++) all &= fabsf(((const float*)f->reals)[i]) <= FLT_MAX;
    if (!all) __atomic_store_n(&f->found, 1, __ATOMIC_RELAXED);
}

bool py_kdtree_all_finite(const void* reals, int real_bits, int64_t count, int32_t threads) {
    enum { GRAIN = 1 << 16 };
    examination f = {reals, real_bits, 0};
    if (count <= GRAIN)
        look(&f, 0, count, 0);
    else
        sap_team_loop(threads, count, GRAIN, look, &f);
    return !f.found;
}

PyObject* py_kdtree_not_finite(const char* name) {
    PyErr_Format(py_argument_error, "%s must be finite, check for nan or inf values", name);
    return NULL;
}

// ---- Norms

int py_kdtree_norm(PyObject* p, sap_search* search) {
    double value = 2;
    if (py_double(p, "p", &value) < 0) return -1;
    if (!(value >= 1)) {
        PyErr_SetString(py_argument_error, "Only p-norms with 1<=p<=infinity permitted");
        return -1;
    }
    if (value == 2) return 0;
    if (value > 1000 && !isinf(value)) {
        PyErr_SetString(py_argument_error, "p must be infinite or at most 1000");
        return -1;
    }
    search->metric = value == 1 ? SAP_METRIC_L1 : isinf(value) ? SAP_METRIC_LINF : SAP_METRIC_LP;
    if (search->metric == SAP_METRIC_LP) search->p = value;
    return 0;
}

int py_kdtree_eps(PyObject* eps, double* result) {
    *result = 0;
    if (py_double(eps, "eps", result) < 0) return -1;
    if (*result >= 0 && !isinf(*result)) return 0;
    PyErr_SetString(py_argument_error, "eps must be finite and not negative");
    return -1;
}

double py_kdtree_root(const sap_search* search, double distance2) {
    if (search->metric == SAP_METRIC_L2) return sqrt(distance2);
    return search->metric == SAP_METRIC_LP ? pow(distance2, 1 / search->p) : distance2;
}

// ---- Workers

static int32_t count_processors(void) {
    PyObject* os = PyImport_ImportModule("os");
    PyObject* count = os ? PyObject_CallMethod(os, "cpu_count", NULL) : NULL;
    Py_XDECREF(os);
    long number = -1;
    if (count == Py_None)
        PyErr_SetString(PyExc_NotImplementedError,
                        "Cannot determine the number of processors, because os.cpu_count() does not know it: workers "
                        "cannot be -1");
    else if (count)
        number = PyLong_AsLong(count);
    Py_XDECREF(count);
    if (number < 0 && PyErr_Occurred()) return -1;
    return number < 1 ? 1 : number > SAP_TEAM_MOST ? SAP_TEAM_MOST : (int32_t)number;
}

int py_kdtree_workers(PyObject* workers, int32_t* threads) {
    *threads = 1;
    if (!workers || workers == Py_None) return 0;
    PyObject* index = PyNumber_Index(workers);
    if (!index) return -1;
    int overflow;
    const long long number = PyLong_AsLongLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    if (overflow < 0 || (!overflow && number < 1 && number != -1)) {
        PyErr_Format(py_argument_error, "Invalid number of workers %S, must be -1 or > 0", workers);
        return -1;
    }
    if (!overflow && number == -1) {
        *threads = count_processors();
        return *threads < 0 ? -1 : 0;
    }
    *threads = overflow || number > SAP_TEAM_MOST ? SAP_TEAM_MOST : (int32_t)number;
    return 0;
}

// ---- Radii and weights

int py_kdtree_doubles(const py_kdtree* kd, PyObject* object, const char* name, Py_buffer* view) {
    PyObject* array =
        PyObject_CallFunctionObjArgs(kd->tree.state->numpy_asarray, object, kd->types.dtype_float64, NULL);
    PyObject* ndim = array ? PyObject_GetAttrString(array, "ndim") : NULL;
    // numpy.ascontiguousarray makes an axis where there is none; a number's memory has no gaps anyway.
    PyObject* made = NULL;
    if (ndim && PyLong_AsLong(ndim) == 0)
        made = Py_NewRef(array);
    else if (ndim)
        made = PyObject_CallMethod(kd->tree.state->numpy, "ascontiguousarray", "O", array);
    Py_XDECREF(ndim);
    Py_XDECREF(array);
    if (!made) {
        py_value_error(name);
        return -1;
    }
    const int taken = PyObject_GetBuffer(made, view, PyBUF_RECORDS_RO);
    Py_DECREF(made);
    if (taken < 0) view->obj = NULL;
    return taken;
}

// ---- Results

PyObject* py_kdtree_array(py_kdtree* kd, PyObject* dtype, int ndim, const Py_ssize_t* shape, Py_buffer* view) {
    PyObject* size;
    if (ndim == 1)
        size = PyLong_FromSsize_t(shape[0]);
    else {
        size = PyTuple_New(ndim);
        for (int axis = 0; size && axis < ndim; axis++) PyTuple_SetItem(size, axis, PyLong_FromSsize_t(shape[axis]));
    }
    PyObject* array = size ? PyObject_CallFunctionObjArgs(kd->tree.state->numpy_empty, size, dtype, NULL) : NULL;
    Py_XDECREF(size);
    if (array && PyObject_GetBuffer(array, view, PyBUF_WRITABLE) < 0) {
        Py_DECREF(array);
        return NULL;
    }
    return array;
}
