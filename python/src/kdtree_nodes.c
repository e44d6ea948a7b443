// The tree that is shown: cKDTree.tree, .indices and .size. It divides the points as SciPy's documentation says, by the
// median or the sliding midpoint, and no search uses it; so it is made when it is first asked for.
#include "kdtree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A leaf divides no axis (-1).
typedef struct node {
    int64_t start, end;      // of the indices
    int64_t lesser, greater; // numbers of nodes
    double split;            // points below it are the lesser ones
    int32_t axis, level;
} node;

struct py_kdtree_nodes {
    node* all; // in preorder
    int64_t count, room;
    int64_t* indices; // [n]
};

void py_kdtree_nodes_free(struct py_kdtree_nodes* nodes) {
    if (!nodes) return;
    free(nodes->all);
    free(nodes->indices);
    free(nodes);
}

// ---- Dividing

// A part of the points that is to become a node, and the cell in which it lies.
typedef struct part {
    int64_t start, end, parent; // parent -1: the root
    bool is_greater;
    int32_t level;
    double lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
} part;

typedef struct division {
    const py_kdtree* kd;
    struct py_kdtree_nodes* nodes;
    part* parts; // a stack
    int64_t waiting, room;
} division;

static double coordinate(const division* d, int64_t index, int32_t axis) {
    const py_kdtree* kd = d->kd;
    const int64_t at = index * kd->tree.dims + axis;
    return kd->tree.real_bits == 64 ? ((const double*)kd->view.buf)[at] : (double)((const float*)kd->view.buf)[at];
}

static void swap(int64_t* a, int64_t* b) {
    const int64_t old = *a;
    *a = *b;
    *b = old;
}

// Puts the points below `split` first; returns where the others begin.
static int64_t partition(const division* d, int64_t start, int64_t end, int32_t axis, double split) {
    int64_t* indices = d->nodes->indices;
    for (;;) {
        while (start < end && coordinate(d, indices[start], axis) < split) start++;
        while (start < end && !(coordinate(d, indices[end - 1], axis) < split)) end--;
        if (start >= end) return start;
        swap(&indices[start++], &indices[--end]);
    }
}

// The coordinate that would be at place `middle` if the points were sorted. They are moved.
static double select_coordinate(const division* d, int64_t start, int64_t end, int64_t middle, int32_t axis) {
    int64_t* indices = d->nodes->indices;
    uint64_t random = 0x9e3779b97f4a7c15u; // so that no order of points is a bad one by design
    for (;;) {
        SAP_ASSERT(middle >= start && middle < end);
        if (end - start <= 1) return coordinate(d, indices[start], axis);
        random = random * 6364136223846793005u + 1442695040888963407u;
        const double pivot = coordinate(d, indices[start + (int64_t)((random >> 33) % (uint64_t)(end - start))], axis);
        int64_t below = start, above = end;
        for (int64_t i = start; i < above;) {
            const double here = coordinate(d, indices[i], axis);
            if (here < pivot)
                swap(&indices[below++], &indices[i++]);
            else if (here > pivot)
                swap(&indices[i], &indices[--above]);
            else
                i++;
        }
        if (middle >= below && middle < above) return pivot;
        if (middle < below)
            end = below;
        else
            start = above;
    }
}

static void shrink_cell(const division* d, part* p) {
    const int32_t m = d->kd->tree.dims;
    for (int32_t axis = 0; axis < m; axis++) p->lower[axis] = (double)INFINITY, p->upper[axis] = -(double)INFINITY;
    for (int64_t i = p->start; i < p->end; i++)
        for (int32_t axis = 0; axis < m; axis++) {
            const double x = coordinate(d, d->nodes->indices[i], axis);
            if (x < p->lower[axis]) p->lower[axis] = x;
            if (x > p->upper[axis]) p->upper[axis] = x;
        }
}

static int32_t widest(const division* d, const part* p) {
    int32_t axis = 0;
    for (int32_t a = 1; a < d->kd->tree.dims; a++)
        if (p->upper[a] - p->lower[a] > p->upper[axis] - p->lower[axis]) axis = a;
    return axis;
}

static void extremes(const division* d, const part* p, int32_t axis, double* least, double* most) {
    *least = *most = coordinate(d, d->nodes->indices[p->start], axis);
    for (int64_t i = p->start + 1; i < p->end; i++) {
        const double x = coordinate(d, d->nodes->indices[i], axis);
        *least = fmin(*least, x);
        *most = fmax(*most, x);
    }
}

// Divides a part; false if all its points are equal on all axes. Equal coordinates are not divided. The cell of a part
// may be wider than its points: an axis on which these are all equal is then flattened, and another one is chosen.
static bool divide(const division* d, part* p, int32_t* axis, double* split, int64_t* middle) {
    if (d->kd->compact) shrink_cell(d, p);
    for (;;) {
        *axis = widest(d, p);
        if (!(p->upper[*axis] > p->lower[*axis])) return false;
        if (d->kd->balanced)
            *split = select_coordinate(d, p->start, p->end, p->start + (p->end - p->start) / 2, *axis);
        else
            *split = (p->upper[*axis] + p->lower[*axis]) / 2;
        *middle = partition(d, p->start, p->end, *axis, *split);
        if (*middle > p->start && *middle < p->end) return true;
        double least, most;
        extremes(d, p, *axis, &least, &most);
        if (most > least) {
            *split = *middle == p->start ? nextafter(least, (double)INFINITY) : most;
            *middle = partition(d, p->start, p->end, *axis, *split);
            return true;
        }
        p->lower[*axis] = p->upper[*axis] = least;
    }
}

static bool grow(void** memory, int64_t* room, size_t each) {
    const int64_t more = *room ? 2 * *room : 64;
    void* grown = realloc(*memory, (size_t)more * each);
    if (!grown) return false;
    *memory = grown;
    *room = more;
    return true;
}

// Makes the next node. False if there is no memory.
static bool make_node(division* d) {
    struct py_kdtree_nodes* nodes = d->nodes;
    void* all = nodes->all;
    if (nodes->count == nodes->room && !grow(&all, &nodes->room, sizeof *nodes->all)) return false;
    nodes->all = all;
    part p = d->parts[--d->waiting];
    const int64_t number = nodes->count++;
    if (p.parent >= 0 && p.is_greater) nodes->all[p.parent].greater = number;
    if (p.parent >= 0 && !p.is_greater) nodes->all[p.parent].lesser = number;
    node* made = &nodes->all[number];
    *made = (node){p.start, p.end, -1, -1, 0, -1, p.level};
    int32_t axis;
    double split;
    int64_t middle;
    if (p.end - p.start <= d->kd->leaf_size || !divide(d, &p, &axis, &split, &middle)) return true;
    made->axis = axis;
    made->split = split;
    void* parts = d->parts;
    if (d->waiting + 2 > d->room && !grow(&parts, &d->room, sizeof *d->parts)) return false;
    d->parts = parts;
    part* next = &d->parts[d->waiting];
    next[0] = next[1] = p;
    next[0].parent = next[1].parent = number;
    next[0].level = next[1].level = p.level + 1;
    next[0].is_greater = true;
    next[1].is_greater = false;
    next[0].start = next[1].end = middle;
    next[0].lower[axis] = next[1].upper[axis] = split;
    d->waiting += 2;
    return true;
}

static struct py_kdtree_nodes* make_nodes(const py_kdtree* kd) {
    const int64_t n = py_kdtree_n(kd);
    struct py_kdtree_nodes* nodes = calloc(1, sizeof *nodes);
    if (!nodes) return NULL;
    nodes->indices = malloc((size_t)n * sizeof *nodes->indices + 1);
    division d = {.kd = kd, .nodes = nodes};
    void* parts = NULL;
    bool made = nodes->indices && grow(&parts, &d.room, sizeof *d.parts);
    d.parts = parts;
    if (made) {
        for (int64_t i = 0; i < n; i++) nodes->indices[i] = i;
        part all = {.end = n, .parent = -1};
        if (n) shrink_cell(&d, &all);
        d.parts[d.waiting++] = all;
    }
    while (made && d.waiting) made = make_node(&d);
    free(d.parts);
    if (made) return nodes;
    py_kdtree_nodes_free(nodes);
    return NULL;
}

// ---- Showing them

static PyObject* make_indices(py_kdtree* kd, const struct py_kdtree_nodes* nodes) {
    const Py_ssize_t n = (Py_ssize_t)py_kdtree_n(kd);
    Py_buffer view;
    PyObject* array = py_kdtree_array(kd, kd->types.dtype_intp, 1, &n, &view);
    if (!array) return NULL;
    memcpy(view.buf, nodes->indices, (size_t)n * sizeof *nodes->indices);
    PyBuffer_Release(&view);
    PyObject* done = PyObject_CallMethod(array, "setflags", "O", Py_False);
    if (!done) Py_CLEAR(array);
    Py_XDECREF(done);
    return array;
}

// The nodes, made by whoever asks first; threads that ask at the same time make them, too, and the first are kept.
static py_kdtree* use_nodes(PyObject* self) {
    py_kdtree* kd = py_kdtree_use(self);
    if (!kd || kd->nodes) return kd;
    struct py_kdtree_nodes* nodes;
    Py_BEGIN_ALLOW_THREADS nodes = make_nodes(kd);
    Py_END_ALLOW_THREADS PyObject* indices = nodes ? make_indices(kd, nodes) : PyErr_NoMemory();
    if (!nodes || !indices) {
        py_kdtree_nodes_free(nodes);
        py_kdtree_done(kd);
        return NULL;
    }
    free(nodes->indices);
    nodes->indices = NULL;
    if (kd->nodes) {
        py_kdtree_nodes_free(nodes);
        Py_DECREF(indices);
    } else {
        kd->nodes = nodes;
        kd->indices = indices;
    }
    return kd;
}

PyObject* py_kdtree_size(PyObject* self, void* unused) {
    (void)unused;
    py_kdtree* kd = use_nodes(self);
    if (!kd) return NULL;
    PyObject* result = PyLong_FromLongLong(kd->nodes->count);
    py_kdtree_done(kd);
    return result;
}

PyObject* py_kdtree_indices(PyObject* self, void* unused) {
    (void)unused;
    py_kdtree* kd = use_nodes(self);
    if (!kd) return NULL;
    PyObject* result = Py_NewRef(kd->indices);
    py_kdtree_done(kd);
    return result;
}

PyObject* py_kdtree_node(PyObject* self, PyObject* index) {
    const int64_t number = PyLong_AsLongLong(index);
    if (number == -1 && PyErr_Occurred()) return NULL;
    py_kdtree* kd = use_nodes(self);
    if (!kd) return NULL;
    PyObject* result = NULL;
    if (number < 0 || number >= kd->nodes->count)
        PyErr_SetString(PyExc_IndexError, "the tree has no such node");
    else {
        const node* n = &kd->nodes->all[number];
        result = Py_BuildValue("(iidLLLL)", (int)n->level, (int)n->axis, n->split, (long long)n->start,
                               (long long)n->end, (long long)n->lesser, (long long)n->greater);
    }
    py_kdtree_done(kd);
    return result;
}

// ---- Weights of nodes

static PyObject* weigh_nodes(py_kdtree* kd, const Py_buffer* given) {
    const struct py_kdtree_nodes* nodes = kd->nodes;
    if (given->ndim != 1 || given->shape[0] != py_kdtree_n(kd)) {
        PyErr_SetString(py_argument_error, "Number of weights differ from the number of data points");
        return NULL;
    }
    Py_buffer order, view;
    if (PyObject_GetBuffer(kd->indices, &order, PyBUF_SIMPLE) < 0) return NULL;
    const Py_ssize_t count = (Py_ssize_t)nodes->count;
    PyObject* result = py_kdtree_array(kd, kd->types.dtype_float64, 1, &count, &view);
    if (result) {
        double* sums = view.buf;
        for (int64_t i = nodes->count; i-- > 0;) { // children come after their parents
            const node* n = &nodes->all[i];
            sums[i] = n->axis < 0 ? 0 : sums[n->lesser] + sums[n->greater];
            for (int64_t at = n->start; n->axis < 0 && at < n->end; at++)
                sums[i] += ((const double*)given->buf)[((const int64_t*)order.buf)[at]];
        }
        PyBuffer_Release(&view);
    }
    PyBuffer_Release(&order);
    return result;
}

PyObject* py_kdtree_build_weights(PyObject* self, PyObject* weights) {
    py_kdtree* kd = use_nodes(self);
    if (!kd) return NULL;
    PyObject* result = NULL;
    Py_buffer given;
    if (py_kdtree_doubles(kd, weights, "weights", &given) == 0) {
        result = weigh_nodes(kd, &given);
        PyBuffer_Release(&given);
    }
    py_kdtree_done(kd);
    return result;
}
