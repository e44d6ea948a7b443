// sapwood.Set: points that come and go.
#include "results.h"
#include "told.h"
#include "tree.h"
#include <string.h>
#include <structmember.h>

typedef struct set {
    PyObject_HEAD py_state* state;
    sap_set* set; // NULL: __init__ has not been called, or failed
    py_device* device;
    int32_t dims, real_bits;
    int32_t users; // searches at work on it; -1: it is being changed. Guarded by the GIL
    bool background;
    uint32_t forks; // of the process when it was created: a child lacks the thread that moves points
    PyObject* weakrefs;
} set;

// ---- Who may use it

static set* use(PyObject* object) {
    set* self = (set*)object;
    if (!self->set) {
        PyErr_SetString(py_argument_error, "this set has not been created: its __init__ was not called, or failed");
        return NULL;
    }
    if (py_device_check(self->device) < 0) return NULL;
    if (self->background && self->forks != py_forks()) {
        PyErr_SetString(PyExc_RuntimeError,
                        "this process was forked: a set with background=True cannot be used in the child");
        return NULL;
    }
    if (self->users < 0) {
        PyErr_SetString(PyExc_RuntimeError, "this set is being changed by another thread");
        return NULL;
    }
    self->users++;
    return self;
}

static void done(set* self) { self->users--; }

// Turns the use into one that nobody shares. done_changing ends it.
static int begin_changing(set* self) {
    if (self->users > 1) {
        PyErr_SetString(PyExc_RuntimeError, "this set is being used by another thread");
        return -1;
    }
    self->users = -1;
    return 0;
}

static void done_changing(set* self) { self->users = 1; }

static const char* type_of(const set* self) { return self->real_bits == 32 ? "f4" : "f8"; }

static int64_t rows_of(const py_array* queries) { return queries->ndim == 1 ? 1 : queries->shape[0]; }

// ---- The object

static void drop(set* self) {
    if (self->set && py_device_usable(self->device) && !(self->background && self->forks != py_forks()))
        sap_set_free(self->set);
    self->set = NULL;
    Py_CLEAR(self->device);
}

static PyObject* set_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
    (void)args;
    (void)keywords;
    py_state* state = py_state_of(type);
    allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
    set* self = state ? (set*)allocate(type, 0) : NULL;
    if (self) self->state = state;
    return (PyObject*)self;
}

static void set_dealloc(PyObject* object) {
    set* self = (set*)object;
    PyTypeObject* type = Py_TYPE(object);
    if (self->weakrefs) PyObject_ClearWeakRefs(object);
    drop(self);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

// dtype: anything whose str() or __name__ says so: 'float32', numpy.float64, numpy.dtype('float32').
static int read_dtype(PyObject* value, int32_t* bits) {
    if (!value || value == Py_None) return 0;
    PyObject* name =
        PyObject_HasAttrString(value, "__name__") ? PyObject_GetAttrString(value, "__name__") : PyObject_Str(value);
    const char* text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    const bool single = text && (!strcmp(text, "float32") || !strcmp(text, "f4"));
    const bool wide = text && (!strcmp(text, "float64") || !strcmp(text, "f8") || !strcmp(text, "float"));
    Py_XDECREF(name);
    if (!single && !wide) {
        if (!PyErr_Occurred()) PyErr_Format(py_argument_error, "dtype must be float32 or float64, not %R", value);
        return -1;
    }
    *bits = single ? 32 : 64;
    return 0;
}

static int set_init(PyObject* object, PyObject* args, PyObject* keywords) {
    enum { DIMS, DTYPE, BACKGROUND, DEVICE, THREADS, ALL };
    static const char* const names[] = {"dims", "dtype", "background", "device", "threads", NULL};
    PyObject* given[ALL];
    set* self = (set*)object;
    int32_t dims = 0, threads = 0;
    sap_set_options options = {.real_bits = 32};
    if (py_arguments_of("Set", names, 1, 1, args, keywords, given) < 0 ||
        py_int32(given[DIMS], "dims", 1, SAP_MAX_DIMS, &dims) < 0 || read_dtype(given[DTYPE], &options.real_bits) < 0 ||
        py_bool(given[BACKGROUND], "background", &options.background) < 0 ||
        py_int32(given[THREADS], "threads", 0, 1024, &threads) < 0)
        return -1;
    py_device* device = py_device_for(self->state, given[DEVICE], threads, NULL);
    if (!device) return -1;
    sap_set* made = NULL;
    py_call call;
    int result = py_call_begin(&call, device, NULL, NULL);
    if (result == 0) result = py_call_end(&call, sap_set_create(device->device, dims, &options, &made));
    if (result == 0 && self->users) {
        PyErr_SetString(PyExc_RuntimeError, "this set is being used by another thread");
        result = -1;
    }
    if (result < 0) {
        sap_set_free(made);
        Py_DECREF(device);
        return -1;
    }
    drop(self);
    self->set = made;
    self->device = device;
    self->dims = dims;
    self->real_bits = options.real_bits;
    self->background = options.background;
    self->forks = py_forks();
    return 0;
}

// ---- Changes

PyDoc_STRVAR(insert_doc,
             "insert($self, /, points, ids=None)\n--\n\n"
             "Inserts copies of points, and returns their ids as int32. Without ids the set counts, and gives no id\n"
             "twice; ids that are given must not be in the set.\n\n"
             ">>> import sapwood\n"
             ">>> points = sapwood.Set(2)\n"
             ">>> points.insert([[0, 0], [1, 1]])\n"
             "array([0, 1], dtype=int32)\n"
             ">>> points.insert([[2, 2]], ids=[7])\n"
             "array([7], dtype=int32)\n");

static PyObject* set_insert(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    static const char* const names[] = {"points", "ids", NULL};
    PyObject* given[2];
    if (py_arguments("insert", names, 1, 2, args, count, keywords, given) < 0) return NULL;
    set* self = use(object);
    if (!self) return NULL;
    py_array points, ids = {0};
    py_result out = {0};
    int result = py_array_take(self->state, given[0], "points", type_of(self), 1, 2, 0, self->device, &points);
    const int64_t rows = result == 0 ? rows_of(&points) : 0;
    if (result == 0 && given[1] && given[1] != Py_None) {
        result = py_array_take(self->state, given[1], "ids", "i4", 1, 1, 0, self->device, &ids);
        if (result == 0 && ids.shape[0] != rows) {
            PyErr_Format(py_argument_error, "ids has %lld elements, and there are %lld points", (long long)ids.shape[0],
                         (long long)rows);
            result = -1;
        }
    }
    if (result == 0) result = py_result_new(self->state, &points, 'i', 4, 1, &rows, &out);
    if (result == 0) result = begin_changing(self);
    if (result == 0) {
        py_call call;
        result = py_call_begin(&call, self->device, &points, NULL);
        if (result == 0) {
            const sap_status status = self->real_bits == 32
                                          ? sap_set_insert(self->set, py_points(&points), ids.data, out.data)
                                          : sap_set_insert_f64(self->set, py_points_f64(&points), ids.data, out.data);
            result = py_call_end(&call, status);
        }
        done_changing(self);
    }
    py_array_release(&points);
    py_array_release(&ids);
    done(self);
    if (result < 0) py_result_release(&out);
    return out.object;
}

PyDoc_STRVAR(remove_doc,
             "remove($self, ids, /)\n--\n\n"
             "Removes points by their ids, and returns how many there were. Ids that are not in the set are passed\n"
             "over.\n\n"
             ">>> import sapwood\n"
             ">>> points = sapwood.Set(1)\n"
             ">>> ids = points.insert([[0], [1], [2]])\n"
             ">>> points.remove([1, 99])\n"
             "1\n");

static PyObject* set_remove(PyObject* object, PyObject* value) {
    set* self = use(object);
    if (!self) return NULL;
    py_array ids;
    int64_t removed = 0;
    int result = py_array_take(self->state, value, "ids", "i4", 0, 1, 0, self->device, &ids);
    if (result == 0) result = begin_changing(self);
    if (result == 0) {
        py_call call;
        result = py_call_begin(&call, self->device, NULL, NULL);
        if (result == 0)
            result = py_call_end(&call, sap_set_remove(self->set, ids.data, ids.ndim ? ids.shape[0] : 1, &removed));
        done_changing(self);
    }
    py_array_release(&ids);
    done(self);
    return result < 0 ? NULL : PyLong_FromLongLong(removed);
}

PyDoc_STRVAR(keep_box_doc, "keep_box($self, /, lower, upper)\n--\n\n"
                           "Removes every point outside a box, whose sides belong to it, and returns how many went.\n\n"
                           ">>> import sapwood\n"
                           ">>> points = sapwood.Set(1)\n"
                           ">>> ids = points.insert([[0], [1], [2]])\n"
                           ">>> points.keep_box([1], [9])\n"
                           "1\n");
PyDoc_STRVAR(cut_box_doc,
             "cut_box($self, /, lower, upper)\n--\n\nRemoves every point inside a box, and returns how many went.\n");

static int take_corner(const set* self, PyObject* value, const char* name, py_array* corner) {
    if (py_array_take(self->state, value, name, "f8", 1, 1, 0, NULL, corner) < 0) return -1;
    if (!corner->on_gpu && corner->shape[0] == self->dims) return 0;
    PyErr_Format(py_argument_error, "%s must be on the host, one number for each of the %d axes", name,
                 (int)self->dims);
    return -1;
}

static PyObject* change_by_box(PyObject* object, const char* function, PyObject* const* args, Py_ssize_t count,
                               PyObject* keywords,
                               sap_status (*change)(sap_set*, const double*, const double*, int64_t*)) {
    static const char* const names[] = {"lower", "upper", NULL};
    PyObject* given[2];
    if (py_arguments(function, names, 2, 2, args, count, keywords, given) < 0) return NULL;
    set* self = use(object);
    if (!self) return NULL;
    py_array lower = {0}, upper = {0};
    int64_t removed = 0;
    int result = take_corner(self, given[0], "lower", &lower);
    if (result == 0) result = take_corner(self, given[1], "upper", &upper);
    if (result == 0) result = begin_changing(self);
    if (result == 0) {
        py_call call;
        result = py_call_begin(&call, self->device, NULL, NULL);
        if (result == 0) result = py_call_end(&call, change(self->set, lower.data, upper.data, &removed));
        done_changing(self);
    }
    py_array_release(&lower);
    py_array_release(&upper);
    done(self);
    return result < 0 ? NULL : PyLong_FromLongLong(removed);
}

static PyObject* set_keep_box(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    return change_by_box(object, "keep_box", args, count, keywords, sap_set_keep_box);
}

static PyObject* set_cut_box(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    return change_by_box(object, "cut_box", args, count, keywords, sap_set_cut_box);
}

// ---- Searches

PyDoc_STRVAR(nearest_doc, "nearest($self, /, queries, k=1, *, radius=None, progress=None)\n--\n\n"
                          "The k nearest points of each query, as Tree.nearest gives them.\n\n"
                          ">>> import sapwood\n"
                          ">>> points = sapwood.Set(1)\n"
                          ">>> ids = points.insert([[0], [1], [5]])\n"
                          ">>> points.nearest([[4]]).ids\n"
                          "array([[2]], dtype=int32)\n");

static PyObject* set_nearest(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    static const char* const names[] = {"queries", "k", "radius", "progress", NULL};
    PyObject* given[4];
    if (py_arguments("nearest", names, 1, 2, args, count, keywords, given) < 0) return NULL;
    set* self = use(object);
    if (!self) return NULL;
    const py_telling telling = {.k = given[1], .radius = given[2]};
    py_array queries;
    py_told told = {0};
    py_result ids = {0}, distances2 = {0};
    PyObject* found = NULL;
    int result = py_array_take(self->state, given[0], "queries", type_of(self), 1, 2, 0, self->device, &queries);
    if (result == 0) {
        const int64_t rows = rows_of(&queries);
        result = py_told_read(self->state, self->device, &telling, self->dims, rows, 0, false, &told);
        if (result == 0)
            result = py_results_of_neighbors(self->state, &queries, queries.ndim, rows, told.search.k, self->real_bits,
                                             &ids, &distances2);
    }
    py_call call;
    if (result == 0) result = py_call_begin(&call, self->device, &queries, given[3]);
    if (result == 0) {
        const sap_status status =
            self->real_bits == 32
                ? sap_set_nearest(self->set, py_points(&queries), &told.search, ids.data, distances2.data)
                : sap_set_nearest_f64(self->set, py_points_f64(&queries), &told.search, ids.data, distances2.data);
        result = py_call_end(&call, status);
    }
    if (result == 0)
        found = PyObject_CallFunctionObjArgs(self->state->neighbors_type, ids.object, distances2.object, NULL);
    py_result_release(&ids);
    py_result_release(&distances2);
    py_told_release(&told);
    py_array_release(&queries);
    done(self);
    return found;
}

PyDoc_STRVAR(within_doc,
             "within($self, /, queries, radius, *, progress=None)\n--\n\n"
             "All points within a radius of each query, as Rows(offsets, ids, distances2); each row ascends by\n"
             "(distance, id).\n");
PyDoc_STRVAR(count_within_doc, "count_within($self, /, queries, radius, *, progress=None)\n--\n\n"
                               "How many points lie within a radius of each query, as int64.\n");

static PyObject* rows_within(set* self, const py_array* queries, double radius, PyObject* progress) {
    sap_neighbors* found = NULL;
    py_call call;
    if (py_call_begin(&call, self->device, queries, progress) < 0) return NULL;
    const sap_status status = self->real_bits == 32
                                  ? sap_set_radius(self->set, py_points(queries), radius, &found)
                                  : sap_set_radius_f64(self->set, py_points_f64(queries), radius, &found);
    if (py_call_end(&call, status) == 0) return py_rows(self->state, queries, found, self->device);
    sap_neighbors_free(found);
    return NULL;
}

static PyObject* counts_within(set* self, const py_array* queries, double radius, PyObject* progress) {
    const int64_t rows = rows_of(queries);
    py_result counts;
    if (py_result_new(self->state, queries, 'i', 8, 1, &rows, &counts) < 0) return NULL;
    py_call call;
    int result = py_call_begin(&call, self->device, queries, progress);
    if (result == 0) {
        const sap_status status =
            self->real_bits == 32 ? sap_set_radius_count(self->set, py_points(queries), radius, counts.data)
                                  : sap_set_radius_count_f64(self->set, py_points_f64(queries), radius, counts.data);
        result = py_call_end(&call, status);
    }
    if (result < 0) py_result_release(&counts);
    return counts.object;
}

static PyObject* within(PyObject* object, const char* function, PyObject* const* args, Py_ssize_t count,
                        PyObject* keywords, bool count_only) {
    static const char* const names[] = {"queries", "radius", "progress", NULL};
    PyObject* given[3];
    double radius = 0;
    if (py_arguments(function, names, 2, 2, args, count, keywords, given) < 0 ||
        py_number(given[1], "radius", &radius) < 0)
        return NULL;
    set* self = use(object);
    if (!self) return NULL;
    py_array queries;
    PyObject* found = NULL;
    if (py_array_take(self->state, given[0], "queries", type_of(self), 1, 2, 0, self->device, &queries) == 0) {
        found = count_only ? counts_within(self, &queries, radius, given[2])
                           : rows_within(self, &queries, radius, given[2]);
        py_array_release(&queries);
    }
    done(self);
    return found;
}

static PyObject* set_within(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    return within(object, "within", args, count, keywords, false);
}

static PyObject* set_count_within(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    return within(object, "count_within", args, count, keywords, true);
}

// ---- What it says of itself

enum { COUNT, NEXT_ID, REMOVED, DIMS, DTYPE, DEVICE, TREES, MOVING, BYTES };

static int describe(set* self, sap_set_info* info) {
    const sap_status status = sap_set_describe(self->set, info);
    if (status == SAP_OK) return 0;
    py_raise(self->state, status);
    return -1;
}

static PyObject* attribute(PyObject* object, void* which) {
    set* self = use(object);
    if (!self) return NULL;
    sap_set_info info = {0};
    const int result = describe(self, &info);
    done(self);
    if (result < 0) return NULL;
    switch ((intptr_t)which) {
    case COUNT: return PyLong_FromLongLong(info.count);
    case NEXT_ID: return PyLong_FromLongLong(info.next_id);
    case REMOVED: return PyLong_FromLongLong(info.removed);
    case DIMS: return PyLong_FromLong(info.dims);
    case DTYPE: return py_dtype(self->state, info.real_bits);
    case DEVICE: return py_device_name(self->device);
    case TREES: return PyLong_FromLong(info.trees);
    case MOVING: return PyBool_FromLong(info.moving);
    default: return PyLong_FromSize_t(info.bytes);
    }
}

static PyGetSetDef attributes[] = {
    {"count", attribute, NULL, "Points in the set.", (void*)COUNT},
    {"next_id", attribute, NULL, "The id that the next point gets if the set counts.", (void*)NEXT_ID},
    {"removed", attribute, NULL, "Removed points that still take memory.", (void*)REMOVED},
    {"dims", attribute, NULL, "Coordinates a point.", (void*)DIMS},
    {"dtype", attribute, NULL, "float32 or float64.", (void*)DTYPE},
    {"device", attribute, NULL, "Where the set lies: 'cpu' or 'cuda:0'.", (void*)DEVICE},
    {"trees", attribute, NULL, "Trees that a search goes through.", (void*)TREES},
    {"moving", attribute, NULL, "Whether points are being moved in the background.", (void*)MOVING},
    {"bytes", attribute, NULL, "Memory that the set holds.", (void*)BYTES},
    {NULL, NULL, NULL, NULL, NULL},
};

static Py_ssize_t set_length(PyObject* object) {
    set* self = use(object);
    if (!self) return -1;
    sap_set_info info = {0};
    const int result = describe(self, &info);
    done(self);
    return result < 0 ? -1 : (Py_ssize_t)info.count;
}

static PyObject* set_repr(PyObject* object) {
    set* self = (set*)object;
    PyObject* name = PyType_GetQualName(Py_TYPE(object));
    PyObject* text = NULL;
    sap_set_info info = {0};
    if (name && !self->set)
        text = PyUnicode_FromFormat("<sapwood.%U: not created>", name);
    else if (name && self->users < 0)
        text = PyUnicode_FromFormat("<sapwood.%U: being changed>", name);
    else if (name && describe(self, &info) == 0)
        text = PyUnicode_FromFormat("<sapwood.%U: %lld point%s, %d dim%s, float%d>", name, (long long)info.count,
                                    info.count == 1 ? "" : "s", (int)info.dims, info.dims == 1 ? "" : "s",
                                    (int)info.real_bits);
    Py_XDECREF(name);
    return text;
}

static PyMethodDef methods[] = {
    PY_METHOD("insert", set_insert, insert_doc),
    {"remove", set_remove, METH_O, remove_doc},
    PY_METHOD("keep_box", set_keep_box, keep_box_doc),
    PY_METHOD("cut_box", set_cut_box, cut_box_doc),
    PY_METHOD("nearest", set_nearest, nearest_doc),
    PY_METHOD("within", set_within, within_doc),
    PY_METHOD("count_within", set_count_within, count_within_doc),
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(
    set_doc,
    "Set(dims, *, dtype='float32', background=False, device=None, threads=0)\n--\n\n"
    "Points that come and go: inserted, removed by id, trimmed to a box, and searched at any time. The answers are\n"
    "those of a Tree over the points that the set then holds.\n\n"
    "background: moves of many points are done by a thread of their own, so that no insert takes long.\n\n"
    "Any number of threads may search a set at once; a change raises RuntimeError while others use it.\n\n"
    ">>> import sapwood\n"
    ">>> points = sapwood.Set(2)\n"
    ">>> points.insert([[0, 0], [3, 3]])\n"
    "array([0, 1], dtype=int32)\n"
    ">>> points\n"
    "<sapwood.Set: 2 points, 2 dims, float32>\n");

int py_add_set(PyObject* module, py_state* state) {
    static PyMemberDef members[] = {
        {"__weaklistoffset__", T_PYSSIZET, offsetof(set, weakrefs), READONLY, NULL},
        {NULL, 0, 0, 0, NULL},
    };
    PyType_Slot slots[] = {
        {Py_tp_doc, (void*)set_doc}, {Py_tp_new, set_new},
        {Py_tp_init, set_init},      {Py_tp_dealloc, set_dealloc},
        {Py_tp_repr, set_repr},      {Py_tp_methods, methods},
        {Py_tp_getset, attributes},  {Py_tp_members, members},
        {Py_sq_length, set_length},  {0, NULL},
    };
    PyType_Spec spec = {.name = "sapwood.Set",
                        .basicsize = sizeof(set),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                        .slots = slots};
    state->set_type = (PyTypeObject*)PyType_FromModuleAndSpec(module, &spec, NULL);
    if (!state->set_type) return -1;
    return PyModule_AddObjectRef(module, "Set", (PyObject*)state->set_type);
}
