// Normals, covariances and shapes of what lies around each point of a tree.
#include "cloud.h"
#include <string.h>

static const char* const falloffs[] = {"none", "biweight", NULL};
static const char* const ways[] = {"axis", "view", "views", "path", "consistent", NULL};

// ---- Which neighbours, and which way

enum { K, RADIUS, WEIGHTS, FALLOFF, NEAR_ALL };
#define NEAR_NAMES "k", "radius", "weights", "falloff"
enum { ORIENT, VIEW, VIEWS, VIEW_TIMES, POINT_TIMES, GRAPH_K, WAY_ALL };
#define WAY_NAMES "orient", "view", "views", "view_times", "point_times", "graph_k"

typedef struct told {
    sap_normals_options options;
    py_packed weights, views, view_times, point_times;
} told;

static void release(told* t) {
    py_packed_release(&t->weights);
    py_packed_release(&t->views);
    py_packed_release(&t->view_times);
    py_packed_release(&t->point_times);
}

static int read_near(const py_tree* self, PyObject* const* given, told* t) {
    sap_normals_options* o = &t->options;
    int32_t falloff = 0;
    if (py_int32(given[K], "k", 1, INT32_MAX, &o->k) < 0 || py_above(given[RADIUS], "radius", &o->radius) < 0 ||
        py_word(given[FALLOFF], "falloff", falloffs, &falloff) < 0 ||
        py_packed_take(self->state, given[WEIGHTS], "weights", "f4", 1, 1, self->source_count, 0, "points",
                       &t->weights) < 0)
        return -1;
    o->falloff = (sap_falloff)falloff;
    o->weights = t->weights.data;
    return 0;
}

static int read_view(const py_tree* self, PyObject* value, sap_normals_options* o) {
    py_packed view;
    if (py_packed_take(self->state, value, "view", "f8", 1, 1, 3, 0, "axes", &view) < 0) return -1;
    memcpy(o->view, view.data, sizeof o->view);
    py_packed_release(&view);
    return 0;
}

// Views along a path: as many as there are, with a time each, and one for each point.
static int read_path(const py_tree* self, PyObject* const* given, told* t) {
    py_array* views = &t->views.array;
    if (!py_given(given[VIEWS]) || !py_given(given[VIEW_TIMES]) || !py_given(given[POINT_TIMES])) {
        PyErr_SetString(py_argument_error, "orient='path' needs views, view_times and point_times");
        return -1;
    }
    py_state* state = self->state;
    if (py_array_take(state, given[VIEW_TIMES], "view_times", "f8", 1, 1, 0, NULL, views) < 0) return -1;
    const int64_t count = views->shape[0];
    py_array_release(views);
    t->options.view_count = count;
    return py_packed_take(state, given[VIEWS], "views", "f8", 2, 2, count, 3, "view_times", &t->views) < 0 ||
                   py_packed_take(state, given[VIEW_TIMES], "view_times", "f8", 1, 1, count, 0, "views",
                                  &t->view_times) < 0 ||
                   py_packed_take(state, given[POINT_TIMES], "point_times", "f8", 1, 1, self->source_count, 0, "points",
                                  &t->point_times) < 0
               ? -1
               : 0;
}

// Without orient, what else is given says which way.
static sap_orient way_of(PyObject* const* given) {
    if (py_given(given[VIEW_TIMES]) || py_given(given[POINT_TIMES])) return SAP_ORIENT_PATH;
    if (py_given(given[VIEWS])) return SAP_ORIENT_VIEWS;
    return py_given(given[VIEW]) ? SAP_ORIENT_VIEW : SAP_ORIENT_NONE;
}

// An argument that the way has no use for is a mistake.
static int check_way(sap_orient way, PyObject* const* given) {
    static const struct {
        int argument;
        const char* name;
        uint32_t ways;
    } uses[] = {{VIEW, "view", 1U << SAP_ORIENT_VIEW},
                {VIEWS, "views", 1U << SAP_ORIENT_VIEWS | 1U << SAP_ORIENT_PATH},
                {VIEW_TIMES, "view_times", 1U << SAP_ORIENT_PATH},
                {POINT_TIMES, "point_times", 1U << SAP_ORIENT_PATH},
                {GRAPH_K, "graph_k", 1U << SAP_ORIENT_CONSISTENT}};
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        if (!py_given(given[uses[i].argument]) || uses[i].ways & 1U << way) continue;
        PyErr_Format(py_argument_error, "%s is not for orient='%s'", uses[i].name, ways[way]);
        return -1;
    }
    return 0;
}

static int read_way(const py_tree* self, PyObject* const* given, told* t) {
    sap_normals_options* o = &t->options;
    int32_t way = (int32_t)way_of(given);
    if (py_word(given[ORIENT], "orient", ways, &way) < 0 || check_way((sap_orient)way, given) < 0 ||
        py_int32(given[GRAPH_K], "graph_k", 1, INT32_MAX, &o->graph_k) < 0)
        return -1;
    o->orient = (sap_orient)way;
    int result = 0;
    if (way == SAP_ORIENT_VIEW || way == SAP_ORIENT_VIEWS) {
        const int needed = way == SAP_ORIENT_VIEW ? VIEW : VIEWS;
        if (!py_given(given[needed])) {
            PyErr_Format(py_argument_error, "orient='%s' needs %s", ways[way], ways[way]);
            return -1;
        }
        result = way == SAP_ORIENT_VIEW ? read_view(self, given[VIEW], o)
                                        : py_packed_take(self->state, given[VIEWS], "views", "f8", 2, 2,
                                                         self->source_count, 3, "points", &t->views);
    } else if (way == SAP_ORIENT_PATH) {
        result = read_path(self, given, t);
    }
    o->views = t->views.data;
    o->view_times = t->view_times.data;
    o->point_times = t->point_times.data;
    return result;
}

// ---- Normals

PyDoc_STRVAR(
    normals_doc,
    "normals($self, /, *, k=None, radius=None, weights=None, falloff=None, orient=None, view=None, views=None,\n"
    "        view_times=None, point_times=None, graph_k=None, curvatures=True, out=None, progress=None)\n--\n\n"
    "The normal of each point, as Normals(normals, curvatures): float32, a row for each point that was given to the\n"
    "tree. It is the axis along which the neighbours spread least, of length 1; the curvature is the part of their\n"
    "variance along it: 0 for a plane, at most 1/3. A point with fewer than 3 neighbours (itself among them), or "
    "whose\n"
    "neighbours lie on a line, has the normal 0, 0, 0; never NaN. Trees of three dimensions.\n\n"
    "k: the nearest points, the point itself among them; radius: only points this near. Neither: the 16 nearest; "
    "radius\n"
    "    alone: all within it.\n"
    "weights: how much each point counts, not negative.\n"
    "falloff: 'biweight': neighbours count (1 - d*d/r/r)**2 at the distance d, within a radius r; 'none'.\n"
    "orient: which of its two directions a normal takes; None: what follows from other arguments.\n"
    "    'axis': that in which its largest coordinate is positive. 'view': towards the place view. 'views': towards "
    "the\n"
    "    row of views that is the point's own. 'path': towards where a sensor was at the time of the point's entry of\n"
    "    point_times; it was at views at the view_times. 'consistent': as its neighbours, over a graph of the graph_k "
    "(10)\n"
    "    nearest; the highest point of each part has a normal that points up.\n"
    "curvatures: False leaves them out. out: (normals, curvatures), arrays that are written to; either may be None.\n\n"
    "Of a tree on a GPU the results are arrays of the library that its points were of, there; out may lie there or on "
    "the\n"
    "host, and what tells how to do it (weights, views, times) is on the host.\n\n"
    ">>> import numpy, sapwood\n"
    ">>> x, y = numpy.mgrid[0:5, 0:5]\n"
    ">>> plane = numpy.stack([x, y, 2.0 * x], -1).reshape(-1, 3)\n"
    ">>> normals, curvatures = sapwood.Tree(plane).normals(k=9, view=[0, 0, 100])\n"
    ">>> normals[12]\n"
    "array([-0.8944272,  0.       ,  0.4472136], dtype=float32)\n"
    ">>> float(curvatures.max()) < 1e-12\n"
    "True\n");

static PyObject* tree_normals(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    static const char* const names[] = {NEAR_NAMES, WAY_NAMES, "curvatures", "out", "progress", NULL};
    PyObject* given[NEAR_ALL + WAY_ALL + 3];
    bool with_curvatures = true;
    if (py_arguments("normals", names, 0, 0, args, count, keywords, given) < 0) return NULL;
    PyObject* const* last = given + NEAR_ALL + WAY_ALL;
    if (py_bool(last[0], "curvatures", &with_curvatures) < 0) return NULL;
    PyObject *out = last[1], *first = NULL, *second = NULL;
    if (py_given(out)) {
        first = py_out_element(out, 2, 0);
        second = first ? py_out_element(out, 2, 1) : NULL;
        if (!second) return NULL;
        with_curvatures = second != Py_None;
    }
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    told t = {.options = {0}};
    py_array like = {0};
    py_result normals = {0}, curvatures = {0};
    int result = read_near(self, given, &t);
    if (result == 0) result = read_way(self, given + NEAR_ALL, &t);
    if (result == 0) result = py_tree_pattern(self, &like);
    const py_wanted wanted[] = {
        {&normals, first, "out[0]", {'f', 4, 2, {self->source_count, 3}}},
        {with_curvatures ? &curvatures : NULL, second, "out[1]", {'f', 4, 1, {self->source_count}}}};
    py_call call;
    if (result == 0) result = py_cloud_begin(self, &like, 2, wanted, last[2], &call);
    if (result == 0)
        result = py_call_end(&call, sap_cloud_normals(self->tree, &t.options, normals.data, curvatures.data));
    PyObject* made =
        result == 0 ? py_cloud_result("Normals", Py_BuildValue("(NN)", py_part(&normals), py_part(&curvatures))) : NULL;
    py_result_release(&normals);
    py_result_release(&curvatures);
    py_array_release(&like);
    release(&t);
    py_tree_done(self);
    return made;
}

// ---- Covariances

PyDoc_STRVAR(covariances_doc,
             "covariances($self, /, *, k=None, radius=None, weights=None, falloff=None, eigenvalues=True, out=None,\n"
             "            progress=None)\n--\n\n"
             "The covariance of the neighbours of each point, as Covariances(covariances, eigenvalues): float32, six "
             "columns xx,\n"
             "xy, xz, yy, yz, zz, and three that ascend. Arguments: as normals().\n\n"
             ">>> import sapwood\n"
             ">>> line = sapwood.Tree([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]])\n"
             ">>> line.covariances(k=3).covariances[:, 0]\n"
             "array([0.6666667, 0.6666667, 0.6666667], dtype=float32)\n");

static PyObject* tree_covariances(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    static const char* const names[] = {NEAR_NAMES, "eigenvalues", "out", "progress", NULL};
    PyObject* given[NEAR_ALL + 3];
    bool with_values = true;
    if (py_arguments("covariances", names, 0, 0, args, count, keywords, given) < 0) return NULL;
    PyObject* const* last = given + NEAR_ALL;
    if (py_bool(last[0], "eigenvalues", &with_values) < 0) return NULL;
    PyObject *out = last[1], *first = NULL, *second = NULL;
    if (py_given(out)) {
        first = py_out_element(out, 2, 0);
        second = first ? py_out_element(out, 2, 1) : NULL;
        if (!second) return NULL;
        with_values = second != Py_None;
    }
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    told t = {.options = {0}};
    py_array like = {0};
    py_result covariances = {0}, values = {0};
    int result = read_near(self, given, &t);
    if (result == 0) result = py_tree_pattern(self, &like);
    const py_wanted wanted[] = {{&covariances, first, "out[0]", {'f', 4, 2, {self->source_count, 6}}},
                                {with_values ? &values : NULL, second, "out[1]", {'f', 4, 2, {self->source_count, 3}}}};
    py_call call;
    if (result == 0) result = py_cloud_begin(self, &like, 2, wanted, last[2], &call);
    if (result == 0)
        result = py_call_end(&call, sap_cloud_covariances(self->tree, &t.options, covariances.data, values.data));
    PyObject* made =
        result == 0 ? py_cloud_result("Covariances", Py_BuildValue("(NN)", py_part(&covariances), py_part(&values)))
                    : NULL;
    py_result_release(&covariances);
    py_result_release(&values);
    py_array_release(&like);
    release(&t);
    py_tree_done(self);
    return made;
}

// ---- Shapes

static const char* const shapes[] = {"normals",     "directions",  "covariances", "eigenvalues", "curvatures",
                                     "planarities", "linearities", "counts",      "kinds",       NULL};
enum { NORMALS, DIRECTIONS, COVARIANCES, EIGENVALUES, CURVATURES, PLANARITIES, LINEARITIES, COUNTS, KINDS, SHAPES };

PyDoc_STRVAR(shapes_doc,
             "shapes($self, /, only=None, *, k=None, radius=None, weights=None, falloff=None, orient=None, view=None,\n"
             "       views=None, view_times=None, point_times=None, graph_k=None, progress=None)\n--\n\n"
             "What the neighbours of each point look like, in one pass, as Shapes(normals, directions, covariances,\n"
             "eigenvalues, curvatures, planarities, linearities, counts, kinds).\n\n"
             "only: the names of those that are wanted; others are None. All else: as normals().\n\n"
             "With the eigenvalues l0 <= l1 <= l2 of the covariance, planarities are (l1 - l0) / l2 and linearities\n"
             "(l2 - l1) / l2; directions are the axes of l2. counts: neighbours, the point itself among them. kinds, "
             "uint8: 0 too\n"
             "few neighbours, 1 all at one place, 2 on a line, 3 a surface, which has a normal.\n\n"
             ">>> import sapwood\n"
             ">>> line = sapwood.Tree([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]])\n"
             ">>> found = line.shapes([\"directions\", \"linearities\", \"kinds\"], k=3)\n"
             ">>> found.directions[0], found.kinds, found.normals\n"
             "(array([1., 0., 0.], dtype=float32), array([2, 2, 2], dtype=uint8), None)\n");

static void want_shapes(const py_tree* self, uint32_t bits, py_result* arrays, py_wanted* wanted) {
    static const struct {
        char kind;
        int8_t bytes, columns; // 0: one number a point, and no axis for it
    } forms[SHAPES] = {{'f', 4, 3}, {'f', 4, 3}, {'f', 4, 6}, {'f', 4, 3}, {'f', 4, 0},
                       {'f', 4, 0}, {'f', 4, 0}, {'i', 4, 0}, {'u', 1, 0}};
    for (int i = 0; i < SHAPES; i++)
        wanted[i] = (py_wanted){
            .to = bits & 1U << i ? &arrays[i] : NULL,
            .form = {forms[i].kind, forms[i].bytes, forms[i].columns ? 2 : 1, {self->source_count, forms[i].columns}}};
}

static PyObject* parts_of(const py_result* arrays, int count) {
    PyObject* parts = PyTuple_New(count);
    for (int i = 0; parts && i < count; i++) PyTuple_SetItem(parts, i, py_part(&arrays[i]));
    return parts;
}

static PyObject* tree_shapes(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    static const char* const names[] = {"only", NEAR_NAMES, WAY_NAMES, "progress", NULL};
    PyObject* given[NEAR_ALL + WAY_ALL + 2];
    uint32_t bits;
    if (py_arguments("shapes", names, 0, 1, args, count, keywords, given) < 0 ||
        py_words(given[0], "only", shapes, &bits) < 0)
        return NULL;
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    told t = {.options = {0}};
    py_array like = {0};
    py_result arrays[SHAPES] = {{0}};
    py_wanted wanted[SHAPES];
    int result = read_near(self, given + 1, &t);
    if (result == 0) result = read_way(self, given + 1 + NEAR_ALL, &t);
    if (result == 0) result = py_tree_pattern(self, &like);
    want_shapes(self, bits, arrays, wanted);
    py_call call;
    if (result == 0) result = py_cloud_begin(self, &like, SHAPES, wanted, given[1 + NEAR_ALL + WAY_ALL], &call);
    if (result == 0) {
        const sap_cloud_axes axes = {.normals = arrays[NORMALS].data,
                                     .directions = arrays[DIRECTIONS].data,
                                     .covariances = arrays[COVARIANCES].data,
                                     .eigenvalues = arrays[EIGENVALUES].data,
                                     .curvatures = arrays[CURVATURES].data,
                                     .planarities = arrays[PLANARITIES].data,
                                     .linearities = arrays[LINEARITIES].data,
                                     .counts = arrays[COUNTS].data,
                                     .kinds = arrays[KINDS].data};
        result = py_call_end(&call, sap_cloud_shapes(self->tree, &t.options, &axes));
    }
    PyObject* made = result == 0 ? py_cloud_result("Shapes", parts_of(arrays, SHAPES)) : NULL;
    for (int i = 0; i < SHAPES; i++) py_result_release(&arrays[i]);
    py_array_release(&like);
    release(&t);
    py_tree_done(self);
    return made;
}

// ---- Which way normals point

PyDoc_STRVAR(orient_doc,
             "orient($self, /, normals, orient=None, *, view=None, views=None, view_times=None, point_times=None,\n"
             "       graph_k=None, out=None, progress=None)\n--\n\n"
             "Normals that one has, float32 and one for each point that was given to the tree, turned as normals()\n"
             "turns its own: each keeps its direction or takes the opposite one. A new array, or out, which may be\n"
             "normals itself; on the host, also where the tree is on a GPU.\n\n"
             ">>> import sapwood\n"
             ">>> tree = sapwood.Tree([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])\n"
             ">>> tree.orient([[0, 0, 1], [0, 0, -1], [0, 0, 1]], view=[0, 0, -5])[:, 2]\n"
             "array([-1., -1., -1.], dtype=float32)\n");

static PyObject* tree_orient(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    static const char* const names[] = {"normals", WAY_NAMES, "out", "progress", NULL};
    PyObject* given[WAY_ALL + 3];
    if (py_arguments("orient", names, 1, 2, args, count, keywords, given) < 0) return NULL;
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    told t = {.options = {0}};
    py_packed normals = {0};
    py_result turned = {0};
    const int64_t shape[] = {self->source_count, 3};
    int result = read_way(self, given + 1, &t);
    if (result == 0 && given[0] == Py_None) {
        PyErr_SetString(PyExc_TypeError, "normals must be an array, not None");
        result = -1;
    }
    if (result == 0)
        result =
            py_packed_take(self->state, given[0], "normals", "f4", 2, 2, self->source_count, 3, "points", &normals);
    if (result == 0) result = py_result_for(self->state, given[1 + WAY_ALL], "out", 'f', 4, 2, shape, &turned);
    if (result == 0 && shape[0]) memmove(turned.data, normals.data, (size_t)shape[0] * 3 * sizeof(float));
    py_call call;
    if (result == 0) result = py_call_begin(&call, self->device, NULL, given[2 + WAY_ALL]);
    if (result == 0) result = py_call_end(&call, sap_cloud_orient(self->tree, &t.options, turned.data));
    PyObject* made = result == 0 ? py_part(&turned) : NULL;
    py_result_release(&turned);
    py_packed_release(&normals);
    release(&t);
    py_tree_done(self);
    return made;
}

// ---- What surfaces look like

PyDoc_STRVAR(
    features_doc,
    "features($self, /, *, k=None, radius=None, normals=None, oriented=False, out=None, progress=None)\n--\n\n"
    "What the surface about each point looks like, whichever way it lies: fast point feature histograms (Rusu\n"
    "and others 2009), float32, 33 numbers a row. Points at the same place of a surface in two scans have\n"
    "rows that are near each other.\n\n"
    "k: so many neighbours (32); radius: all within it, or of those at most k. normals: float32, those of the\n"
    "points; None: found by 16 neighbours. oriented: the normals given point to one side of the surface, here and\n"
    "in what is compared with it. Trees on the CPU.\n\n"
    ">>> import numpy, sapwood\n"
    ">>> points = numpy.random.default_rng(1).random((500, 3))\n"
    ">>> features = sapwood.Tree(points).features()\n"
    ">>> turned = sapwood.Tree(points[:, [1, 2, 0]]).features()\n"
    ">>> features.shape, bool(abs(features - turned).max() < 1e-3)\n"
    "((500, 33), True)\n");

static PyObject* tree_features(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    static const char* const names[] = {"k", "radius", "normals", "oriented", "out", "progress", NULL};
    PyObject* given[6];
    if (py_arguments("features", names, 0, 0, args, count, keywords, given) < 0) return NULL;
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    sap_features_options o = {0};
    py_packed normals = {0};
    py_result features = {0};
    const int64_t shape[] = {self->source_count, SAP_FEATURE_NUMBERS};
    int result = py_int32(given[0], "k", 1, INT32_MAX, &o.k);
    if (result == 0) result = py_above(given[1], "radius", &o.radius);
    if (result == 0) result = py_bool(given[3], "oriented", &o.is_oriented);
    if (result == 0)
        result =
            py_packed_take(self->state, given[2], "normals", "f4", 2, 2, self->source_count, 3, "points", &normals);
    if (result == 0) result = py_result_for(self->state, given[4], "out", 'f', 4, 2, shape, &features);
    o.normals = normals.data;
    py_call call;
    if (result == 0) result = py_call_begin(&call, self->device, NULL, given[5]);
    if (result == 0) result = py_call_end(&call, sap_cloud_features(self->tree, &o, features.data));
    PyObject* made = result == 0 ? py_part(&features) : NULL;
    py_result_release(&features);
    py_packed_release(&normals);
    py_tree_done(self);
    return made;
}

PyMethodDef py_tree_normals_methods[] = {
    PY_METHOD("normals", tree_normals, normals_doc),    PY_METHOD("covariances", tree_covariances, covariances_doc),
    PY_METHOD("shapes", tree_shapes, shapes_doc),       PY_METHOD("orient", tree_orient, orient_doc),
    PY_METHOD("features", tree_features, features_doc), {NULL, NULL, 0, NULL},
};
