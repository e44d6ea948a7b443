// sapwood.Tree: building, saving, copying, and what it says of itself. search.c has its searches.
#include "tree.h"
#include <stddef.h>
#include <string.h>
#include <structmember.h>

const char* const py_splits[] = {"median", "midpoint", "vvh", NULL};
static const char* const axes[] = {"widest", "cycle", NULL};

// ---- The object

bool py_is_tree(const py_state* state, PyObject* object) { return PyObject_TypeCheck(object, state->tree_type); }

static int check_ready(const py_tree* self) {
    if (self->tree) return 0;
    PyErr_SetString(py_argument_error, "this tree has not been built: its __init__ was not called, or failed");
    return -1;
}

py_tree* py_tree_use(PyObject* object) {
    py_tree* self = (py_tree*)object;
    if (check_ready(self) < 0 || py_device_check(self->device) < 0) return NULL;
    if (self->users < 0) {
        PyErr_SetString(PyExc_RuntimeError, "this tree is being rebuilt by another thread");
        return NULL;
    }
    self->users++;
    return self;
}

void py_tree_done(py_tree* tree) { tree->users--; }

static void close_prepared(py_tree* self) {
    for (int i = 0; i < PY_PREPARED; i++) {
        sap_query_close(self->prepared[i].query);
        self->prepared[i] = (py_prepared){0};
    }
}

static void drop(py_tree* self) {
    // What a child of a fork must not touch is left alone.
    if (self->tree && py_device_usable(self->device)) {
        close_prepared(self);
        sap_tree_free(self->tree);
    }
    self->tree = NULL;
    Py_CLEAR(self->memory);
    Py_CLEAR(self->like);
    PyObject* device = (PyObject*)self->device;
    self->device = NULL;
    Py_XDECREF(device);
}

int py_tree_set(py_tree* self, py_device* device, sap_tree* tree, PyObject* memory) {
    if (self->users) {
        PyErr_SetString(PyExc_RuntimeError, "this tree is being used by another thread");
        sap_tree_free(tree);
        Py_XDECREF(memory);
        return -1;
    }
    Py_INCREF((PyObject*)device);
    drop(self);
    self->device = device;
    self->tree = tree;
    self->memory = memory;
    py_tree_note(self);
    return 0;
}

void py_tree_note(py_tree* self) {
    sap_tree_info info = {0};
    py_tree_info(self, &info);
    self->count = info.count;
    self->source_count = info.source_count;
    self->dims = info.dims;
    self->real_bits = info.real_bits;
    self->periodic = false;
    for (int i = 0; i < SAP_MAX_DIMS; i++) self->periodic |= info.options.period[i] != 0;
}

PyObject* py_tree_of(PyTypeObject* class, py_device* device, sap_tree* tree, PyObject* memory) {
    py_state* state = py_state_of(class);
    // A cKDTree has the caller's points beside the tree, which a copy and a file lack.
    if (state && PyType_IsSubtype(class, state->kdtree_type)) class = state->tree_type;
    // Like unpickling: by __new__ alone, since __init__ builds.
    PyObject* object = PyObject_CallMethod((PyObject*)class, "__new__", "O", (PyObject*)class);
    if (object && state && !py_is_tree(state, object)) {
        PyErr_SetString(PyExc_TypeError, "__new__ of this class returned no Tree");
        Py_CLEAR(object);
    }
    if (!object || !state) {
        sap_tree_free(tree);
        Py_XDECREF(memory);
        Py_XDECREF(object);
        return NULL;
    }
    if (py_tree_set((py_tree*)object, device, tree, memory) < 0) Py_CLEAR(object);
    return object;
}

static PyObject* tree_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
    (void)args;
    (void)keywords;
    py_state* state = py_state_of(type);
    allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
    py_tree* self = state ? (py_tree*)allocate(type, 0) : NULL;
    if (self) self->state = state;
    return (PyObject*)self;
}

static void tree_dealloc(PyObject* object) {
    py_tree* self = (py_tree*)object;
    PyTypeObject* type = Py_TYPE(object);
    if (self->weakrefs) PyObject_ClearWeakRefs(object);
    drop(self);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

sap_query* py_tree_query(py_tree* self, const sap_search* search) {
    py_prepared* oldest = self->prepared;
    for (int i = 0; i < PY_PREPARED; i++) {
        py_prepared* p = &self->prepared[i];
        if (p->query && p->search.k == search->k && p->search.radius == search->radius &&
            p->search.metric == search->metric && p->search.p == search->p && p->search.eps == search->eps) {
            p->used = ++self->uses;
            return p->query;
        }
        if (!p->query || (oldest->query && p->used < oldest->used)) oldest = p;
    }
    if (check_ready(self) < 0 || py_device_check(self->device) < 0) return NULL;
    sap_query* query;
    const sap_status status = sap_query_open(self->tree, search, &query);
    if (status != SAP_OK) {
        py_raise(self->state, status);
        return NULL;
    }
    sap_query_close(oldest->query);
    *oldest = (py_prepared){query, *search, ++self->uses};
    return query;
}

// ---- Building

// period: None, a number for all axes, or one number an axis, in which 0 and infinity leave an axis open.
static int read_period(py_state* state, PyObject* value, int64_t dims, double* period) {
    if (!value || value == Py_None) return 0;
    py_array numbers;
    if (py_array_take(state, value, "period", "f8", 0, 1, 0, NULL, &numbers) < 0) return -1;
    int result = 0;
    if (numbers.on_gpu || (numbers.ndim == 1 && numbers.shape[0] != dims)) {
        PyErr_Format(py_argument_error, "period must be a number, or one number for each of the %lld axes",
                     (long long)dims);
        result = -1;
    }
    for (int i = 0; !result && i < dims && i < SAP_MAX_DIMS; i++) {
        const double given = ((const double*)numbers.data)[numbers.ndim ? i : 0];
        period[i] = given == (double)INFINITY ? 0 : given;
    }
    py_array_release(&numbers);
    return result;
}

sap_tree* py_tree_build(py_state* state, py_device* device, const py_array* points, const sap_tree_options* options,
                        PyObject* progress) {
    sap_tree* tree = NULL;
    py_call call;
    (void)state;
    if (py_call_begin(&call, device, NULL, progress) < 0) return NULL;
    sap_status status = points->bytes == 4 ? sap_tree_build(device->device, py_points(points), options, &tree)
                                           : sap_tree_build_f64(device->device, py_points_f64(points), options, &tree);
    // A GPU may find bad points after the call; here they are an exception of this one.
    if (status == SAP_OK && points->on_gpu) status = sap_device_wait(device->device);
    if (py_call_end(&call, status) == 0) return tree;
    sap_tree_free(tree);
    return NULL;
}

// An empty array of the library that the points on a GPU are of; where it is not known, memory of nobody's.
static PyObject* empty_like(py_state* state, const py_array* points, const py_device* device) {
    const int64_t none = 0;
    void* data;
    PyObject* gpu = py_gpu(state);
    PyObject* known = gpu ? PyObject_CallMethod(gpu, "knows", "O", points->object) : NULL;
    if (!known) return NULL;
    const bool is_known = known == Py_True;
    Py_DECREF(known);
    if (is_known) return py_array_new(state, points, 'f', 4, 1, &none, &data);
    return py_array_of(state, NULL, NULL, 'f', 4, 1, &none, Py_None, device);
}

static int tree_init(PyObject* object, PyObject* args, PyObject* keywords) {
    enum { POINTS, LEAF_SIZE, SPLIT, RADIUS, AXIS, PERIOD, DUPLICATES, NONFINITE, DEVICE, THREADS, PROGRESS, ALL };
    static const char* const names[] = {"points", "leaf_size", "split",           "query_radius",
                                        "axis",   "period",    "drop_duplicates", "drop_nonfinite",
                                        "device", "threads",   "progress",        NULL};
    PyObject* given[ALL];
    py_tree* self = (py_tree*)object;
    py_state* state = self->state;
    sap_tree_options options = {0};
    int32_t split = 0, axis = 0, threads = 0;
    if (py_arguments_of("Tree", names, 1, 1, args, keywords, given) < 0 ||
        py_int32(given[LEAF_SIZE], "leaf_size", 0, 1024, &options.leaf_size) < 0 ||
        py_word(given[SPLIT], "split", py_splits, &split) < 0 ||
        py_double(given[RADIUS], "query_radius", &options.query_radius) < 0 ||
        py_word(given[AXIS], "axis", axes, &axis) < 0 ||
        py_bool(given[DUPLICATES], "drop_duplicates", &options.drop_duplicates) < 0 ||
        py_bool(given[NONFINITE], "drop_nonfinite", &options.drop_nonfinite) < 0 ||
        py_int32(given[THREADS], "threads", 0, 1024, &threads) < 0)
        return -1;
    options.split = (sap_split)split;
    options.axis = (sap_axis)axis;
    py_array points;
    if (py_array_take(state, given[POINTS], "points", "f4f8", 2, 2, 0, NULL, &points) < 0) return -1;
    int result = read_period(state, given[PERIOD], points.shape[1], options.period);
    py_device* device = result < 0 ? NULL : py_device_for(state, given[DEVICE], threads, &points);
    sap_tree* tree = device ? py_tree_build(state, device, &points, &options, given[PROGRESS]) : NULL;
    result = tree ? py_tree_set(self, device, tree, NULL) : -1;
    if (result == 0 && points.on_gpu) {
        self->like = empty_like(state, &points, device);
        if (!self->like) result = -1;
    }
    Py_XDECREF((PyObject*)device);
    py_array_release(&points);
    return result;
}

int py_tree_pattern(const py_tree* self, py_array* like) {
    *like = (py_array){0};
    return self->like ? py_array_take(self->state, self->like, "points", "f4", 1, 1, 0, self->device, like) : 0;
}

// A tree that lies in somebody's bytes gets memory of its own.
static int own_memory(py_tree* self) {
    sap_tree_info info = {0};
    py_tree_info(self, &info);
    if (!info.mapped) return 0;
    sap_tree* copy = NULL;
    py_call call;
    if (py_call_begin(&call, self->device, NULL, NULL) < 0) return -1;
    int result = py_call_end(&call, sap_tree_copy(self->tree, self->device->device, &copy));
    if (result == 0 && self->users > 1) { // another thread has begun to use it meanwhile
        result = -1;
        PyErr_SetString(PyExc_RuntimeError, "this tree is being used by another thread");
    }
    if (result < 0) {
        sap_tree_free(copy);
        return -1;
    }
    close_prepared(self);
    sap_tree_free(self->tree);
    self->tree = copy;
    Py_CLEAR(self->memory);
    return 0;
}

PyDoc_STRVAR(rebuild_doc,
             "rebuild($self, /, points, *, progress=None)\n--\n\n"
             "Builds the tree anew over other points, with the same options and into the memory that it has.\n\n"
             "The points have the tree's dims and precision; there may be more or fewer than before. No other thread\n"
             "may be using the tree (RuntimeError). If this fails, the old tree stays.\n\n"
             ">>> import sapwood\n"
             ">>> tree = sapwood.Tree([[0.0, 0.0], [1.0, 1.0]])\n"
             ">>> tree.rebuild([[5.0, 5.0], [6.0, 6.0], [7.0, 7.0]])\n"
             ">>> tree.count\n"
             "3\n");

static PyObject* tree_rebuild(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    static const char* const names[] = {"points", "progress", NULL};
    PyObject* given[2];
    if (py_arguments("rebuild", names, 1, 1, args, count, keywords, given) < 0) return NULL;
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    const char* want = self->real_bits == 32 ? "f4" : "f8";
    py_array points;
    int result = py_array_take(self->state, given[0], "points", want, 2, 2, 0, self->device, &points);
    if (result == 0 && self->users > 1) {
        PyErr_SetString(PyExc_RuntimeError, "this tree is being used by another thread");
        result = -1;
    }
    if (result == 0) result = own_memory(self);
    if (result == 0) {
        self->users = -1;
        py_call call;
        result = py_call_begin(&call, self->device, NULL, given[1]);
        if (result == 0) {
            sap_status status = self->real_bits == 32 ? sap_tree_rebuild(self->tree, py_points(&points))
                                                      : sap_tree_rebuild_f64(self->tree, py_points_f64(&points));
            if (status == SAP_OK && points.on_gpu) status = sap_device_wait(self->device->device);
            result = py_call_end(&call, status);
        }
        self->users = 1;
        py_tree_note(self);
    }
    py_tree_done(self);
    py_array_release(&points);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

// ---- The type

static PyMethodDef build_methods[] = {
    PY_METHOD("rebuild", tree_rebuild, rebuild_doc),
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(
    tree_doc,
    "Tree(points, *, leaf_size=0, split='median', query_radius=0, axis='widest', period=None,\n"
    "     drop_duplicates=False, drop_nonfinite=False, device=None, threads=0, progress=None)\n--\n\n"
    "A k-d tree over points, for searches of many queries a call.\n\n"
    "points is an array of n rows and 1 to 16 columns. float32 stays float32 and float64 stays float64; ints become\n"
    "float64, and float16 float32. The tree holds a copy. Ids are the row numbers of the points.\n\n"
    "leaf_size: points a leaf should hold, 1 to 1024; 0: 32.\n"
    "split: 'median' makes a balanced tree, 'midpoint' cuts cells in the middle, 'vvh' where searches within\n"
    "query_radius look at the fewest points.\n"
    "axis: which axis a node divides, the 'widest' or each in turn ('cycle').\n"
    "period: the period of each axis, or of all; 0 leaves an axis open.\n"
    "drop_duplicates: of equal points keep the one with the smallest id.\n"
    "drop_nonfinite: leave out points that are NaN or infinite, which otherwise raise NotFiniteError.\n"
    "device: 'cpu', 'cuda' or 'cuda:1'; None: where the points lie.\n"
    "threads: how many a call may use; 0: all.\n"
    "progress: a function that is called with a number from 0 to 1 now and then; returning False ends the call.\n\n"
    "Arrays of torch, CuPy and JAX on a GPU are used where they lie, in the stream in which their library works, and\n"
    "what is found comes back as arrays of that library. What is called distances2 are squared distances. The same\n"
    "answers come from every device and number of threads, bit for bit; of equal distances the smallest id comes "
    "first.\n\n"
    ">>> import numpy, sapwood\n"
    ">>> points = numpy.array([[0, 0], [3, 0], [0, 4]], dtype=numpy.float32)\n"
    ">>> tree = sapwood.Tree(points)\n"
    ">>> tree\n"
    "<sapwood.Tree: 3 points, 2 dims, float32, cpu>\n"
    ">>> found = tree.nearest([[0, 1]], k=2)\n"
    ">>> found.ids\n"
    "array([[0, 2]], dtype=int32)\n"
    ">>> found.distances2\n"
    "array([[1., 9.]], dtype=float32)\n");

// All methods in one table, which the type copies.
static int gather(PyMethodDef* all, int most) {
    const PyMethodDef* const parts[] = {build_methods,           py_tree_file_methods,
                                        py_tree_search_methods,  py_tree_pairs_methods,
                                        py_tree_normals_methods, py_tree_gather_methods,
                                        py_tree_points_methods,  py_tree_distance_methods,
                                        py_tree_align_methods,   NULL};
    int count = 0;
    for (int i = 0; parts[i]; i++)
        for (const PyMethodDef* m = parts[i]; m->ml_name && count < most; m++) all[count++] = *m;
    all[count] = (PyMethodDef){NULL, NULL, 0, NULL};
    return count;
}

int py_add_tree(PyObject* module, py_state* state) {
    static PyMethodDef methods[64]; // a type refers to its table for as long as it lives
    static PyMemberDef members[] = {
        {"__weaklistoffset__", T_PYSSIZET, offsetof(py_tree, weakrefs), READONLY, NULL},
        {NULL, 0, 0, 0, NULL},
    };
    gather(methods, (int)(sizeof methods / sizeof *methods) - 1);
    PyType_Slot slots[] = {
        {Py_tp_doc, (void*)tree_doc},
        {Py_tp_new, tree_new},
        {Py_tp_init, tree_init},
        {Py_tp_dealloc, tree_dealloc},
        {Py_tp_repr, py_tree_repr},
        {Py_tp_methods, methods},
        {Py_tp_getset, py_tree_attributes},
        {Py_tp_members, members},
        {Py_sq_length, py_tree_length},
        {0, NULL},
    };
    PyType_Spec spec = {.name = "sapwood.Tree",
                        .basicsize = sizeof(py_tree),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                        .slots = slots};
    state->tree_type = (PyTypeObject*)PyType_FromModuleAndSpec(module, &spec, NULL);
    PyObject* results = PyImport_ImportModule("sapwood._results");
    if (!results) return -1;
    state->neighbors_type = PyObject_GetAttrString(results, "Neighbors");
    state->rows_type = PyObject_GetAttrString(results, "Rows");
    Py_DECREF(results);
    if (!state->neighbors_type || !state->rows_type) return -1;
    if (!state->tree_type || PyModule_AddObjectRef(module, "Tree", (PyObject*)state->tree_type) < 0) return -1;
    return py_add_pickles(module);
}
