// Sums over the neighbours of queries.
#include "cloud.h"

static const char* const falloffs[] = {"none", "biweight", NULL};
static const char* const sums[] = {"counts", "weights", "offsets", "products", "attributes", NULL};
enum { COUNTS, WEIGHTS, OFFSETS, PRODUCTS, ATTRIBUTES, SUMS };

typedef struct told {
    sap_gather_options options;
    py_packed weights, attributes;
    py_result arrays[SUMS];
} told;

static void release(told* t) {
    py_packed_release(&t->weights);
    py_packed_release(&t->attributes);
    for (int i = 0; i < SUMS; i++) py_result_release(&t->arrays[i]);
}

enum { K, RADIUS, WEIGHTS_GIVEN, FALLOFF, ATTRIBUTES_GIVEN, ONLY, PROGRESS, GIVEN };
#define NAMES "k", "radius", "weights", "falloff", "attributes", "only", "progress"

static int read_options(const py_tree* self, PyObject* const* given, told* t) {
    sap_gather_options* o = &t->options;
    int32_t falloff = 0;
    if (py_int32(given[K], "k", 1, INT32_MAX, &o->k) < 0 || py_above(given[RADIUS], "radius", &o->radius) < 0 ||
        py_word(given[FALLOFF], "falloff", falloffs, &falloff) < 0 ||
        py_packed_take(self->state, given[WEIGHTS_GIVEN], "weights", "f4", 1, 1, self->source_count, 0, "points",
                       &t->weights) < 0 ||
        py_packed_take(self->state, given[ATTRIBUTES_GIVEN], "attributes", "f4", 1, 2, self->source_count, 0, "points",
                       &t->attributes) < 0)
        return -1;
    o->falloff = (sap_falloff)falloff;
    o->weights = t->weights.data;
    o->attributes = t->attributes.data;
    const py_array* a = &t->attributes.array;
    if (!o->attributes) return 0;
    if (a->ndim == 2 && (a->shape[1] < 1 || a->shape[1] > INT32_MAX)) {
        PyErr_SetString(py_argument_error, "attributes has no columns");
        return -1;
    }
    o->attribute_count = a->ndim == 2 ? (int32_t)a->shape[1] : 1;
    return 0;
}

// The arrays of results for so many queries; ndim 1: of one query that had no axis of its own.
static int want_sums(const py_tree* self, PyObject* only, int ndim, int64_t rows, told* t, py_wanted* wanted) {
    uint32_t bits;
    if (py_words(only, "only", sums, &bits) < 0) return -1;
    if (!t->options.attributes && py_given(only) && bits & 1U << ATTRIBUTES) {
        PyErr_SetString(py_argument_error, "only asks for attributes, and there are none: give them as attributes=");
        return -1;
    }
    if (!t->options.attributes) bits &= ~(1U << ATTRIBUTES);
    const int64_t dims = self->dims, columns[SUMS] = {0, 0, dims, dims * (dims + 1) / 2, t->options.attribute_count};
    const bool flat[SUMS] = {true, true, false, false, t->attributes.array.ndim == 1};
    for (int i = 0; i < SUMS; i++) {
        const int64_t shape[] = {rows, columns[i], 0};
        const int first = ndim == 1;
        wanted[i] = (py_wanted){.to = bits & 1U << i ? &t->arrays[i] : NULL,
                                .form = {i == COUNTS ? 'i' : 'f',
                                         i == COUNTS ? 4 : 8,
                                         (flat[i] ? 1 : 2) - first,
                                         {shape[first], shape[first + 1]}}};
    }
    return 0;
}

static sap_gathered gathered_of(const told* t) {
    return (sap_gathered){.counts = t->arrays[COUNTS].data,
                          .weights = t->arrays[WEIGHTS].data,
                          .offsets = t->arrays[OFFSETS].data,
                          .products = t->arrays[PRODUCTS].data,
                          .attributes = t->arrays[ATTRIBUTES].data};
}

static PyObject* result_of(const told* t) {
    PyObject* parts = PyTuple_New(SUMS);
    for (int i = 0; parts && i < SUMS; i++) PyTuple_SetItem(parts, i, py_part(&t->arrays[i]));
    return py_cloud_result("Gathered", parts);
}

PyDoc_STRVAR(
    gather_doc,
    "gather($self, /, queries, *, k=None, radius=None, weights=None, falloff=None, attributes=None, only=None,\n"
    "       progress=None)\n--\n\n"
    "Sums over the neighbours of each query, as Gathered(counts, weights, offsets, products, attributes). Neighbours\n"
    "are added up as they are found; lists of them are never made. Trees of up to three dimensions.\n"
    "On a GPU the sums lie there where the queries do; weights and attributes are on the host.\n\n"
    "counts: neighbours, int32. With their weights w and differences d = p - q to the query, as float64: weights, the\n"
    "sum of w; offsets, of w d, so that the mean of the neighbours is q + offsets / weights; products, of w d d^T, in "
    "the\n"
    "columns xx, xy, xz, yy, yz, zz (xx, xy, yy; xx); attributes, of w times each attribute.\n\n"
    "k, radius, weights, falloff: as in normals(), for the neighbours of queries.\n"
    "attributes: float32 numbers of the points, (n,) or (n, m).\n"
    "only: the names of sums that are wanted; others are None.\n\n"
    ">>> import sapwood\n"
    ">>> tree = sapwood.Tree([[0.0], [1.0], [5.0]])\n"
    ">>> found = tree.gather([[0.5], [9.0]], radius=1.0, attributes=[10, 20, 90])\n"
    ">>> found.counts, found.attributes\n"
    "(array([2, 0], dtype=int32), array([30.,  0.]))\n");

static PyObject* tree_gather(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    static const char* const names[] = {"queries", NAMES, NULL};
    PyObject* given[1 + GIVEN];
    if (py_arguments("gather", names, 1, 1, args, count, keywords, given) < 0) return NULL;
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    told t = {.options = {0}};
    py_wanted wanted[SUMS];
    py_array queries;
    int result = py_array_take(self->state, given[0], "queries", py_tree_type(self), 1, 2, 0, self->device, &queries);
    if (result == 0) result = read_options(self, given + 1, &t);
    if (result == 0)
        result = want_sums(self, given[1 + ONLY], queries.ndim, queries.ndim == 1 ? 1 : queries.shape[0], &t, wanted);
    py_call call;
    if (result == 0) result = py_cloud_begin(self, &queries, SUMS, wanted, given[1 + PROGRESS], &call);
    if (result == 0) {
        const sap_gathered to = gathered_of(&t);
        const sap_status status = self->real_bits == 32
                                      ? sap_gather(self->tree, py_points(&queries), &t.options, &to)
                                      : sap_gather_f64(self->tree, py_points_f64(&queries), &t.options, &to);
        result = py_call_end(&call, status);
    }
    PyObject* made = result == 0 ? result_of(&t) : NULL;
    release(&t);
    py_array_release(&queries);
    py_tree_done(self);
    return made;
}

PyDoc_STRVAR(gather_self_doc,
             "gather_self($self, /, *, k=None, radius=None, weights=None, falloff=None, attributes=None, only=None,\n"
             "            progress=None)\n--\n\n"
             "gather() for every point of the tree, a row for each that was given to it. Each is its own neighbour.\n\n"
             ">>> import sapwood\n"
             ">>> sapwood.Tree([[0.0], [1.0], [5.0]]).gather_self(radius=1.0, only=\"counts\").counts\n"
             "array([2, 2, 1], dtype=int32)\n");

static PyObject* tree_gather_self(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    static const char* const names[] = {NAMES, NULL};
    PyObject* given[GIVEN];
    if (py_arguments("gather_self", names, 0, 0, args, count, keywords, given) < 0) return NULL;
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    told t = {.options = {0}};
    py_wanted wanted[SUMS];
    py_array like = {0};
    int result = read_options(self, given, &t);
    if (result == 0) result = want_sums(self, given[ONLY], 2, self->source_count, &t, wanted);
    if (result == 0) result = py_tree_pattern(self, &like);
    py_call call;
    if (result == 0) result = py_cloud_begin(self, &like, SUMS, wanted, given[PROGRESS], &call);
    if (result == 0) {
        const sap_gathered to = gathered_of(&t);
        result = py_call_end(&call, sap_gather_self(self->tree, &t.options, &to));
    }
    PyObject* made = result == 0 ? result_of(&t) : NULL;
    release(&t);
    py_array_release(&like);
    py_tree_done(self);
    return made;
}

PyMethodDef py_tree_gather_methods[] = {
    PY_METHOD("gather", tree_gather, gather_doc),
    PY_METHOD("gather_self", tree_gather_self, gather_self_doc),
    {NULL, NULL, 0, NULL},
};
