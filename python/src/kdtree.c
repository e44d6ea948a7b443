// The type under sapwood.cKDTree and sapwood.KDTree: what SciPy's trees say of themselves, and where their methods are.
#include "kdtree.h"

#include <string.h>

bool py_is_kdtree(const py_state* state, PyObject* object) { return PyObject_TypeCheck(object, state->kdtree_type); }

py_kdtree* py_kdtree_use(PyObject* self) {
    py_kdtree* kd = (py_kdtree*)self;
    if (!py_tree_use(self)) return NULL;
    if (kd->data && kd->built == kd->tree.tree && kd->view.len == kd->bytes) return kd;
    py_tree_done(&kd->tree);
    PyErr_SetString(py_argument_error, "this tree has not been built: its __init__ was not called, or failed");
    return NULL;
}

// ---- Building

static int make_types(py_kdtree* kd) {
    py_kdtree_types* t = &kd->types;
    PyObject* numpy = kd->tree.state->numpy;
    if (t->intp) return 0;
    PyObject* intp = PyObject_GetAttrString(numpy, "intp");
    if (intp) t->dtype_intp = PyObject_CallMethod(numpy, "dtype", "O", intp);
    t->dtype_int32 = PyObject_CallMethod(numpy, "dtype", "s", "i4");
    t->dtype_float64 = PyObject_CallMethod(numpy, "dtype", "s", "f8");
    t->dtype_object = PyObject_CallMethod(numpy, "dtype", "s", "O");
    if (t->dtype_intp && t->dtype_int32 && t->dtype_float64 && t->dtype_object) t->intp = intp;
    return t->intp ? 0 : -1;
}

// Points must lie within the box on the axes that it closes.
static const char* outside(const py_array* points, const double* box) {
    const int64_t n = points->shape[0], m = points->shape[1];
    bool below = false, above = false;
    for (int64_t i = 0; i < n; i++)
        for (int64_t axis = 0; axis < m; axis++) {
            const int64_t at = i * points->stride + axis;
            const double x =
                points->bytes == 8 ? ((const double*)points->data)[at] : (double)((const float*)points->data)[at];
            below |= box[axis] > 0 && x < 0;
            above |= box[axis] > 0 && x >= box[axis];
        }
    if (above) return "Some input data are greater than the size of the periodic box.";
    return below ? "Negative input data are outside of the periodic box." : NULL;
}

static int read_box(py_kdtree* kd, PyObject* boxsize, const py_array* points, sap_tree_options* options) {
    if (boxsize == Py_None) return 0;
    Py_buffer box;
    if (py_kdtree_doubles(kd, boxsize, "boxsize", &box) < 0) return -1;
    const int64_t m = points->shape[1];
    const char* wrong = NULL;
    if (box.len != m * (Py_ssize_t)sizeof(double) || m > SAP_MAX_DIMS)
        wrong = "boxsize must have one number for each axis";
    else
        wrong = outside(points, box.buf);
    for (int64_t axis = 0; !wrong && axis < m; axis++) {
        const double size = ((const double*)box.buf)[axis];
        if (size > 0) options->period[axis] = size; // anything else leaves the axis open
    }
    PyBuffer_Release(&box);
    if (wrong) PyErr_SetString(py_argument_error, wrong);
    return wrong ? -1 : 0;
}

static void forget(py_kdtree* kd) {
    py_kdtree_nodes_free(kd->nodes);
    kd->nodes = NULL;
    kd->built = NULL;
    if (kd->view.obj) PyBuffer_Release(&kd->view);
    Py_CLEAR(kd->data);
    Py_CLEAR(kd->boxsize);
    Py_CLEAR(kd->indices);
    Py_CLEAR(kd->root);
}

// The library's sentence names the first bad point, but SciPy's is what programs look for.
static void say_not_finite(const py_state* state, const py_array* points) {
    if (!PyErr_ExceptionMatches(state->errors[SAP_ERROR_NOT_FINITE])) return;
    if (py_kdtree_all_finite(points->data, points->bytes * 8, points->shape[0] * points->shape[1], 1)) return;
    PyErr_Clear();
    py_kdtree_not_finite("data");
}

static int build(py_kdtree* kd, const py_array* points, const sap_tree_options* options) {
    py_device* device = py_device_open(kd->tree.state, SAP_CPU, 0, 0, NULL, NULL);
    sap_tree* tree = device ? py_tree_build(kd->tree.state, device, points, options, NULL) : NULL;
    if (device && !tree) say_not_finite(kd->tree.state, points);
    const int result = tree ? py_tree_set(&kd->tree, device, tree, NULL) : -1;
    Py_XDECREF((PyObject*)device);
    return result;
}

// _begin(data, leafsize, compact_nodes, balanced_tree, boxsize, plain_ids): data is of (n, m) float64 or float32,
// C-contiguous; boxsize None or of (m,) float64.
static PyObject* begin(PyObject* self, PyObject* args) {
    py_kdtree* kd = (py_kdtree*)self;
    PyObject *data, *boxsize;
    long long leaf_size;
    int compact, balanced, plain_ids;
    if (!py_parse(args, "OLppOp", &data, &leaf_size, &compact, &balanced, &boxsize, &plain_ids)) return NULL;
    py_state* state = kd->tree.state;
    if (!py_numpy(state)) {
        PyErr_SetString(PyExc_ImportError, "KDTree needs NumPy");
        return NULL;
    }
    if (make_types(kd) < 0) return NULL;
    py_array points;
    if (py_array_take(state, data, "data", "f8f4", 2, 2, PY_EXACT, NULL, &points) < 0) return NULL;
    sap_tree_options options = {.leaf_size = 0};
    int result = read_box(kd, boxsize, &points, &options);
    if (result == 0) result = build(kd, &points, &options);
    py_array_release(&points);
    if (result < 0) return NULL;
    forget(kd);
    if (PyObject_GetBuffer(data, &kd->view, PyBUF_SIMPLE) < 0) {
        kd->view.obj = NULL;
        return NULL;
    }
    kd->data = Py_NewRef(data);
    kd->boxsize = Py_NewRef(boxsize);
    kd->leaf_size = leaf_size;
    kd->compact = compact;
    kd->balanced = balanced;
    kd->plain_ids = plain_ids;
    kd->built = kd->tree.tree;
    kd->bytes = (Py_ssize_t)(kd->tree.source_count * kd->tree.dims * (kd->tree.real_bits / 8));
    return Py_NewRef(Py_None);
}

// ---- Attributes

static PyObject* number_of(PyObject* self, void* which) {
    py_kdtree* kd = py_kdtree_use(self);
    if (!kd) return NULL;
    const char name = *(const char*)which;
    const int64_t value = name == 'n' ? py_kdtree_n(kd) : name == 'm' ? kd->tree.dims : kd->leaf_size;
    py_kdtree_done(kd);
    return PyLong_FromLongLong(value);
}

static PyObject* data_of(PyObject* self, void* unused) {
    (void)unused;
    py_kdtree* kd = py_kdtree_use(self);
    if (!kd) return NULL;
    py_kdtree_done(kd);
    return Py_NewRef(kd->data);
}

static PyObject* boxsize_of(PyObject* self, void* unused) {
    (void)unused;
    py_kdtree* kd = py_kdtree_use(self);
    if (!kd) return NULL;
    py_kdtree_done(kd);
    return Py_NewRef(kd->boxsize);
}

static PyObject* corner_of(PyObject* self, void* which) {
    py_kdtree* kd = py_kdtree_use(self);
    if (!kd) return NULL;
    sap_tree_info info = {.count = 0};
    py_tree_info(&kd->tree, &info);
    const Py_ssize_t m = kd->tree.dims;
    Py_buffer view;
    PyObject* array = py_kdtree_array(kd, kd->types.dtype_float64, 1, &m, &view);
    if (array) {
        const double* corner = *(const char*)which == 'l' ? info.lower : info.upper;
        for (Py_ssize_t axis = 0; axis < m; axis++) ((double*)view.buf)[axis] = info.count ? corner[axis] : 0;
        PyBuffer_Release(&view);
    }
    py_kdtree_done(kd);
    PyObject* done = array ? PyObject_CallMethod(array, "setflags", "O", Py_False) : NULL;
    if (!done) Py_CLEAR(array);
    Py_XDECREF(done);
    return array;
}

// _options: how the tree was built (leafsize, compact_nodes, balanced_tree, plain_ids).
static PyObject* options_of(PyObject* self, void* unused) {
    (void)unused;
    py_kdtree* kd = py_kdtree_use(self);
    if (!kd) return NULL;
    py_kdtree_done(kd);
    return Py_BuildValue("(LNN)", (long long)kd->leaf_size, PyBool_FromLong(kd->compact),
                         PyBool_FromLong(kd->balanced));
}

// _keep_root(root): what the tree keeps as its root: what it was first given.
static PyObject* keep_root(PyObject* self, PyObject* root) {
    py_kdtree* kd = py_kdtree_use(self);
    if (!kd) return NULL;
    py_kdtree_done(kd);
    if (!kd->root && root != Py_None) kd->root = Py_NewRef(root);
    return Py_NewRef(kd->root ? kd->root : Py_None);
}

// ---- The type

static int traverse(PyObject* self, visitproc visit, void* arg) {
    py_kdtree* kd = (py_kdtree*)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(kd->data);
    Py_VISIT(kd->root);
    return 0;
}

static int clear(PyObject* self) {
    Py_CLEAR(((py_kdtree*)self)->root);
    return 0;
}

static void dealloc(PyObject* self) {
    py_kdtree* kd = (py_kdtree*)self;
    PyObject_GC_UnTrack(self);
    const destructor base = (destructor)PyType_GetSlot(kd->tree.state->tree_type, Py_tp_dealloc);
    forget(kd);
    Py_CLEAR(kd->types.intp);
    Py_CLEAR(kd->types.dtype_intp);
    Py_CLEAR(kd->types.dtype_int32);
    Py_CLEAR(kd->types.dtype_float64);
    Py_CLEAR(kd->types.dtype_object);
    base(self);
}

PyDoc_STRVAR(
    query_doc,
    "query($self, /, x, k=1, eps=0.0, p=2.0, distance_upper_bound=1e999, workers=1)\n--\n\n"
    "The nearest neighbours of points.\n\n"
    "x: points of shape (..., m).\n"
    "k: how many neighbours, or which of them, from 1: a list gives these columns in its order.\n"
    "eps: the k-th neighbour may be up to 1 + eps times as far as the true one.\n"
    "p: the Minkowski norm, from 1 to infinity.\n"
    "distance_upper_bound: only neighbours nearer than this.\n"
    "workers: threads; -1: as many as there are processors.\n\n"
    "Returns distances and indices of shape (..., k), nearest first, of equal distances the smallest index first.\n"
    "Where k is 1 the last axis is left out. Missing neighbours have an infinite distance and the index n.\n\n"
    ">>> tree = sapwood.KDTree([[0.0, 0.0], [3.0, 4.0]])\n"
    ">>> tree.query([0.0, 0.0], k=2)\n"
    "(array([0., 5.]), array([0, 1]))\n");

PyDoc_STRVAR(
    ball_point_doc,
    "query_ball_point($self, /, x, r, p=2.0, eps=0.0, workers=1, return_sorted=None, return_length=False)\n--\n\n"
    "The indices of all points within a distance of points.\n\n"
    "x: points of shape (..., m).\n"
    "r: the distance, or one for each point: at it, points are found. Nothing is within a negative distance.\n"
    "p: the Minkowski norm. eps: accepted as SciPy accepts it; the answer is exact, which it allows.\n"
    "return_sorted: whether indices ascend; None: for many points, but not for a single one.\n"
    "return_length: only how many there are.\n\n"
    "Returns a list of ints for one point, an array of lists for many.\n\n"
    ">>> tree = sapwood.KDTree([[0.0, 0.0], [3.0, 4.0], [1.0, 0.0]])\n"
    ">>> tree.query_ball_point([[0.0, 0.0]], 1.0)\n"
    "array([list([0, 2])], dtype=object)\n");

PyDoc_STRVAR(ball_tree_doc,
             "query_ball_tree($self, /, other, r, p=2.0, eps=0.0)\n--\n\n"
             "For each point of this tree a list of the indices of all points of another within the distance r.\n\n"
             ">>> tree = sapwood.KDTree([[0.0], [3.0]])\n"
             ">>> tree.query_ball_tree(tree, 1.0)\n"
             "[[0], [1]]\n");

PyDoc_STRVAR(query_pairs_doc,
             "query_pairs($self, /, r, p=2.0, eps=0.0, output_type='set')\n--\n\n"
             "All pairs of points within the distance r: a set of (i, j) with i < j, or with output_type 'ndarray' an\n"
             "array of them. With eps, all pairs within r * (1 + eps).\n\n"
             ">>> sapwood.KDTree([[0.0], [1.0], [5.0]]).query_pairs(1.0)\n"
             "{(0, 1)}\n");

PyDoc_STRVAR(
    count_doc,
    "count_neighbors($self, /, other, r, p=2.0, weights=None, cumulative=True)\n--\n\n"
    "How many pairs of a point of this tree and a point of another are within distances.\n\n"
    "r: one distance, or an array: then all are counted in one walk through both trees (p=2).\n"
    "weights: numbers for the points, whose products are added up instead: an array, if the trees are one, or\n"
    "a tuple of two, of which one may be None.\n"
    "cumulative: False counts between edges instead: r[i-1] < distance <= r[i]. r must not fall then.\n\n"
    ">>> tree = sapwood.KDTree([[0.0], [1.0], [5.0]])\n"
    ">>> tree.count_neighbors(tree, [0.5, 1.5])\n"
    "array([3, 5])\n");

#define METHOD(name, function, doc)                                                                                    \
    { name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL | METH_KEYWORDS, doc }

static PyMethodDef methods[] = {
    METHOD("query", py_kdtree_query, query_doc),
    METHOD("query_ball_point", py_kdtree_query_ball_point, ball_point_doc),
    METHOD("query_ball_tree", py_kdtree_query_ball_tree, ball_tree_doc),
    METHOD("query_pairs", py_kdtree_query_pairs, query_pairs_doc),
    METHOD("count_neighbors", py_kdtree_count_neighbors, count_doc),
    METHOD("_distances", py_kdtree_distances, NULL),
    {"_begin", begin, METH_VARARGS, NULL},
    {"_keep_root", keep_root, METH_O, NULL},
    {"_node", py_kdtree_node, METH_O, NULL},
    {"_build_weights", py_kdtree_build_weights, METH_O,
     "_build_weights($self, weights, /)\n--\n\nThe sums of the points' weights below each node, in preorder."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"n", number_of, NULL, "How many points there are.", "n"},
    {"m", number_of, NULL, "How many coordinates a point has.", "m"},
    {"leafsize", number_of, NULL, "Points that a node of the tree that is shown may hold undivided.", "leafsize"},
    {"size", py_kdtree_size, NULL, "How many nodes the tree that is shown has.", NULL},
    {"data", data_of, NULL, "The points, read-only: the caller's own memory if that could be used.", NULL},
    {"maxes", corner_of, NULL, "The greatest coordinate on each axis.", "upper"},
    {"mins", corner_of, NULL, "The least coordinate on each axis.", "lower"},
    {"indices", py_kdtree_indices, NULL, "The points' indices in the order of the tree that is shown.", NULL},
    {"boxsize", boxsize_of, NULL, "The size of the periodic box, or None.", NULL},
    {"_options", options_of, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

int py_add_kdtree(PyObject* module, py_state* state) {
    PyType_Slot slots[] = {
        {Py_tp_doc, "What cKDTree and KDTree are made of."},
        {Py_tp_dealloc, dealloc},
        {Py_tp_traverse, traverse},
        {Py_tp_clear, clear},
        {Py_tp_methods, methods},
        {Py_tp_getset, attributes},
        {0, NULL},
    };
    PyType_Spec spec = {.name = "sapwood._sapwood.KDTreeBase",
                        .basicsize = sizeof(py_kdtree),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                        .slots = slots};
    PyObject* bases = PyTuple_Pack(1, (PyObject*)state->tree_type);
    if (!bases) return -1;
    state->kdtree_type = (PyTypeObject*)PyType_FromModuleAndSpec(module, &spec, bases);
    Py_DECREF(bases);
    return state->kdtree_type ? PyModule_AddType(module, state->kdtree_type) : -1;
}
