// Trees against trees, and what is asked of all points of a tree at once.
#include "results.h"
#include "told.h"
#include "tree.h"
#include <string.h>

// Another tree, which is used with this one. NULL and an exception.
static py_tree* use_other(const py_tree* self, PyObject* object) {
    if (!py_is_tree(self->state, object)) {
        PyObject* type = PyType_GetName(Py_TYPE(object));
        if (type) PyErr_Format(PyExc_TypeError, "other must be a sapwood.Tree, not %U", type);
        Py_XDECREF(type);
        return NULL;
    }
    return py_tree_use(object);
}

// ---- Pairs

PyDoc_STRVAR(
    pairs_doc,
    "pairs($self, /, radius, *, shifts=False, progress=None)\n--\n\n"
    "All pairs of points within a radius of one another, each once, as Rows(offsets, ids, distances2): row i\n"
    "holds the ids above i. With shifts, on a tree with periods, (rows, shifts): int8, a row for each pair that\n"
    "says on each axis by how many periods the point of ids must be moved to be near the other one.\n\n"
    ">>> import sapwood\n"
    ">>> rows = sapwood.Tree([[0.0], [1.0], [5.0]]).pairs(1.0)\n"
    ">>> rows.pairs()\n"
    "array([[0, 1]])\n");

// The shifts of pairs that were found, on the host.
static PyObject* shifts_of(py_tree* self, const sap_neighbors* found) {
    if (found->on_device) {
        PyErr_SetString(py_argument_error, "shifts are for trees on the CPU: copy('cpu') makes one");
        return NULL;
    }
    const int64_t shape[] = {found->offsets[found->count], self->dims};
    void* data;
    PyObject* shifts = py_array_new(self->state, NULL, 'i', 1, 2, shape, &data);
    py_call call;
    if (!shifts) return NULL;
    int result = py_call_begin(&call, self->device, NULL, NULL);
    if (result == 0) result = py_call_end(&call, sap_pairs_shifts(self->tree, found, data));
    if (result < 0) Py_CLEAR(shifts);
    return shifts;
}

static PyObject* tree_pairs(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    static const char* const names[] = {"radius", "shifts", "progress", NULL};
    PyObject* given[3];
    double radius = 0;
    bool with_shifts = false;
    if (py_arguments("pairs", names, 1, 1, args, count, keywords, given) < 0 ||
        py_number(given[0], "radius", &radius) < 0 || py_bool(given[1], "shifts", &with_shifts) < 0)
        return NULL;
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    sap_neighbors* found = NULL;
    PyObject *shifts = NULL, *rows = NULL;
    py_array like;
    py_call call;
    int result = py_tree_pattern(self, &like);
    if (result == 0) result = py_call_begin(&call, self->device, &like, given[2]);
    if (result == 0) result = py_call_end(&call, sap_pairs(self->tree, radius, &found));
    if (result == 0 && with_shifts) {
        shifts = shifts_of(self, found);
        result = shifts ? 0 : -1;
    }
    if (result == 0)
        rows = py_rows(self->state, &like, found, self->device);
    else
        sap_neighbors_free(found);
    py_array_release(&like);
    py_tree_done(self);
    if (!shifts || !rows) {
        Py_XDECREF(shifts);
        return rows;
    }
    return Py_BuildValue("NN", rows, shifts);
}

PyDoc_STRVAR(pairs_with_doc,
             "pairs_with($self, /, other, radius, *, progress=None)\n--\n\n"
             "All pairs of a point of this tree and a point of another within a radius of one another, as\n"
             "Rows(offsets, ids, distances2): row i holds the ids of the other tree's points near point i.\n\n"
             ">>> import sapwood\n"
             ">>> a, b = sapwood.Tree([[0.0], [5.0]]), sapwood.Tree([[4.5], [0.1], [0.2]])\n"
             ">>> a.pairs_with(b, 1.0).offsets\n"
             "array([0, 2, 3])\n");

static PyObject* tree_pairs_with(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    static const char* const names[] = {"other", "radius", "progress", NULL};
    PyObject* given[3];
    double radius = 0;
    if (py_arguments("pairs_with", names, 2, 2, args, count, keywords, given) < 0 ||
        py_number(given[1], "radius", &radius) < 0)
        return NULL;
    py_tree* self = py_tree_use(object);
    py_tree* other = self ? use_other(self, given[0]) : NULL;
    PyObject* rows = NULL;
    if (other) {
        sap_neighbors* found = NULL;
        py_array like;
        py_call call;
        int result = py_tree_pattern(self, &like);
        if (result == 0) result = py_call_begin(&call, self->device, &like, given[2]);
        if (result == 0) result = py_call_end(&call, sap_tree_pairs(self->tree, other->tree, radius, &found));
        if (result == 0)
            rows = py_rows(self->state, &like, found, self->device);
        else
            sap_neighbors_free(found);
        py_array_release(&like);
        py_tree_done(other);
    }
    if (self) py_tree_done(self);
    return rows;
}

// ---- Counts of pairs

PyDoc_STRVAR(
    count_pairs_doc,
    "count_pairs($self, /, other, radii, *, weights=None, other_weights=None, cumulative=True, progress=None)\n--\n\n"
    "How many pairs of a point of this tree and a point of the other lie within each of the radii, which must\n"
    "not fall; not cumulative: within a radius but not the one before. int64, or with weights the sums of their\n"
    "products as float64. Of a tree with itself both (i, j) and (j, i) count, and each point with itself.\n\n"
    ">>> import sapwood\n"
    ">>> tree = sapwood.Tree([[0.0], [1.0], [5.0]])\n"
    ">>> tree.count_pairs(tree, [0.5, 1.0, 9.0])\n"
    "array([3, 5, 9])\n");

// A weight for each point that was given to the tree. NULL: 1 each.
static int take_weights(const py_tree* tree, PyObject* value, const char* name, py_array* weights) {
    if (!value || value == Py_None) return 0;
    if (py_array_take(tree->state, value, name, "f8", 1, 1, 0, NULL, weights) < 0) return -1;
    if (!weights->on_gpu && weights->shape[0] == tree->source_count) return 0;
    PyErr_Format(py_argument_error, "%s must be on the host, one for each of the %lld points", name,
                 (long long)tree->source_count);
    return -1;
}

static PyObject* tree_count_pairs(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    enum { OTHER, RADII, WEIGHTS, OTHER_WEIGHTS, CUMULATIVE, PROGRESS, ALL };
    static const char* const names[] = {"other", "radii", "weights", "other_weights", "cumulative", "progress", NULL};
    PyObject* given[ALL];
    bool cumulative = true;
    if (py_arguments("count_pairs", names, 2, 2, args, count, keywords, given) < 0 ||
        py_bool(given[CUMULATIVE], "cumulative", &cumulative) < 0)
        return NULL;
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    py_tree* other = use_other(self, given[OTHER]);
    py_array radii = {0}, weights = {0}, other_weights = {0};
    py_result counts = {0};
    int result = other ? py_array_take(self->state, given[RADII], "radii", "f8", 0, 1, 0, NULL, &radii) : -1;
    if (result == 0 && radii.on_gpu) {
        PyErr_SetString(py_argument_error, "radii must be on the host");
        result = -1;
    }
    if (result == 0) result = take_weights(self, given[WEIGHTS], "weights", &weights);
    if (result == 0) result = take_weights(other, given[OTHER_WEIGHTS], "other_weights", &other_weights);
    const int64_t several = radii.ndim ? radii.shape[0] : 1;
    const bool weighed = weights.data || other_weights.data;
    if (result == 0 && several > INT32_MAX) {
        PyErr_SetString(py_argument_error, "radii has more than 2**31 - 1 elements");
        result = -1;
    }
    if (result == 0)
        result = py_result_new(self->state, NULL, weighed ? 'f' : 'i', 8, radii.ndim, radii.shape, &counts);
    py_call call;
    if (result == 0) result = py_call_begin(&call, self->device, NULL, given[PROGRESS]);
    if (result == 0) {
        double* numbers = counts.data;
        const sap_status status = sap_tree_count_pairs(self->tree, other->tree, radii.data, (int32_t)several,
                                                       weights.data, other_weights.data, cumulative, numbers);
        // Where each double is, the whole number that it holds.
        for (int64_t i = 0; status == SAP_OK && !weighed && i < several; i++) {
            const int64_t whole = (int64_t)numbers[i];
            memcpy(&numbers[i], &whole, sizeof whole);
        }
        result = py_call_end(&call, status);
    }
    py_array_release(&radii);
    py_array_release(&weights);
    py_array_release(&other_weights);
    if (other) py_tree_done(other);
    py_tree_done(self);
    if (result < 0) py_result_release(&counts);
    return counts.object;
}

// ---- Neighbours of all points

PyDoc_STRVAR(nearest_self_doc,
             "nearest_self($self, /, k=1, *, radius=None, metric='l2', p=None, weights=None, keep=None, eps=0.0,\n"
             "             with_self=False, progress=None)\n--\n\n"
             "nearest() for every point of the tree: row i is that of the point with id i, itself left out unless\n"
             "with_self.\n\n"
             ">>> import sapwood\n"
             ">>> sapwood.Tree([[0.0], [1.0], [5.0]]).nearest_self().ids.tolist()\n"
             "[[1], [0], [1]]\n");

PyDoc_STRVAR(
    nearest_for_doc,
    "nearest_for($self, /, other, k=1, *, radius=None, metric='l2', p=None, weights=None, keep=None, eps=0.0,\n"
    "            exclude=None, progress=None)\n--\n\n"
    "nearest() for every point of another tree: row i is that of the other's point with id i.\n\n"
    ">>> import sapwood\n"
    ">>> sapwood.Tree([[0.0], [1.0], [5.0]]).nearest_for(sapwood.Tree([[4.0], [0.2]])).ids.tolist()\n"
    "[[2], [0]]\n");

enum { RADIUS, METRIC, P, WEIGHTS, KEEP, EPS, NEAREST_TOLD };

// The nearest points of `self` for the points of `other`, or of itself (NULL).
static PyObject* nearest_of_points(py_tree* self, py_tree* other, PyObject* k, PyObject* const* given,
                                   PyObject* exclude, bool with_self, PyObject* progress) {
    const py_telling telling = {.k = k,
                                .radius = given[RADIUS],
                                .metric = given[METRIC],
                                .p = given[P],
                                .weights = given[WEIGHTS],
                                .keep = given[KEEP],
                                .eps = given[EPS],
                                .exclude = exclude};
    const int64_t rows = other ? other->source_count : self->source_count;
    py_told told;
    py_array like = {0};
    py_result ids = {0}, distances2 = {0};
    PyObject* found = NULL;
    int result = py_told_read(self->state, self->device, &telling, self->dims, rows, self->source_count, false, &told);
    if (result == 0) result = py_tree_pattern(self, &like);
    told.search.with_self = with_self;
    if (result == 0)
        result =
            py_results_of_neighbors(self->state, &like, 2, rows, told.search.k, self->real_bits, &ids, &distances2);
    py_call call;
    if (result == 0) result = py_call_begin(&call, self->device, &like, progress);
    if (result == 0) {
        sap_status status;
        if (self->real_bits == 32)
            status = other ? sap_tree_nearest(other->tree, self->tree, &told.search, ids.data, distances2.data)
                           : sap_nearest_self(self->tree, &told.search, ids.data, distances2.data);
        else
            status = other ? sap_tree_nearest_f64(other->tree, self->tree, &told.search, ids.data, distances2.data)
                           : sap_nearest_self_f64(self->tree, &told.search, ids.data, distances2.data);
        result = py_call_end(&call, status);
    }
    if (result == 0)
        found = PyObject_CallFunctionObjArgs(self->state->neighbors_type, ids.object, distances2.object, NULL);
    py_result_release(&ids);
    py_result_release(&distances2);
    py_told_release(&told);
    py_array_release(&like);
    return found;
}

static PyObject* tree_nearest_self(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    static const char* const names[] = {"k",    "radius", "metric",    "p",        "weights",
                                        "keep", "eps",    "with_self", "progress", NULL};
    PyObject* given[9];
    bool with_self = false;
    if (py_arguments("nearest_self", names, 0, 1, args, count, keywords, given) < 0 ||
        py_bool(given[7], "with_self", &with_self) < 0)
        return NULL;
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    PyObject* found = nearest_of_points(self, NULL, given[0], given + 1, NULL, with_self, given[8]);
    py_tree_done(self);
    return found;
}

static PyObject* tree_nearest_for(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    static const char* const names[] = {"other", "k",   "radius",  "metric",   "p", "weights",
                                        "keep",  "eps", "exclude", "progress", NULL};
    PyObject* given[10];
    if (py_arguments("nearest_for", names, 1, 2, args, count, keywords, given) < 0) return NULL;
    py_tree* self = py_tree_use(object);
    py_tree* other = self ? use_other(self, given[0]) : NULL;
    PyObject* found = NULL;
    // The call knows one precision: that of the function called.
    if (other && other->real_bits != self->real_bits)
        PyErr_SetString(py_argument_error, "other must have the same dtype as this tree");
    else if (other)
        found = nearest_of_points(self, other, given[1], given + 2, given[8], false, given[9]);
    if (other) py_tree_done(other);
    if (self) py_tree_done(self);
    return found;
}

// ---- The tree itself

PyDoc_STRVAR(verify_doc, "verify($self)\n--\n\n"
                         "Checks everything about the tree; FormatError names what is wrong first.\n\n"
                         ">>> import sapwood\n"
                         ">>> sapwood.Tree([[0.0], [1.0]]).verify()\n");

static PyObject* tree_verify(PyObject* object, PyObject* unused) {
    (void)unused;
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    py_call call;
    int result = py_call_begin(&call, self->device, NULL, NULL);
    if (result == 0) result = py_call_end(&call, sap_tree_verify(self->tree));
    py_tree_done(self);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(nodes_doc,
             "nodes($self)\n--\n\n"
             "The points as a classical balanced k-d tree of linked nodes in preorder, the root first: int32, a row\n"
             "for each node, with the columns point (its id), axis (that it divides), less and greater (the rows of\n"
             "the nodes below it, or -1).\n\n"
             ">>> import sapwood\n"
             ">>> sapwood.Tree([[5.0], [1.0], [9.0]]).nodes().tolist()\n"
             "[[0, 0, 1, 2], [1, 0, -1, -1], [2, 0, -1, -1]]\n");

static PyObject* tree_nodes(PyObject* object, PyObject* unused) {
    (void)unused;
    _Static_assert(sizeof(sap_tree_node) == 4 * sizeof(int32_t), "a node is a row of an array");
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    const int64_t shape[] = {self->count, 4};
    void* data;
    PyObject* nodes = py_array_new(self->state, NULL, 'i', 4, 2, shape, &data);
    py_call call;
    int result = nodes ? py_call_begin(&call, self->device, NULL, NULL) : -1;
    if (result == 0) result = py_call_end(&call, sap_tree_nodes(self->tree, data));
    py_tree_done(self);
    if (result < 0) Py_CLEAR(nodes);
    return nodes;
}

PyMethodDef py_tree_pairs_methods[] = {
    PY_METHOD("pairs", tree_pairs, pairs_doc),
    PY_METHOD("pairs_with", tree_pairs_with, pairs_with_doc),
    PY_METHOD("count_pairs", tree_count_pairs, count_pairs_doc),
    PY_METHOD("nearest_self", tree_nearest_self, nearest_self_doc),
    PY_METHOD("nearest_for", tree_nearest_for, nearest_for_doc),
    {"verify", tree_verify, METH_NOARGS, verify_doc},
    {"nodes", tree_nodes, METH_NOARGS, nodes_doc},
    {NULL, NULL, 0, NULL},
};
