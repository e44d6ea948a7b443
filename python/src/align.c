// Alignment of clouds. Of MeshTree, names, defaults and documentation are in sapwood/mesh.py.
#include "align.h"
#include "mesh.h"
#include <string.h>

static const char* const methods[] = {"point", "plane", "generalised", NULL};
static const char* const kernels[] = {"none", "huber", "tukey", "cauchy", NULL};

// ---- What is given

enum {
    SOURCE,
    METHOD,
    START,
    ITERATIONS,
    TOLERANCE,
    LEVELS,
    MAX_DISTANCE,
    OVERLAP,
    MAX_ANGLE,
    ONE_TO_ONE,
    KERNEL,
    KERNEL_SCALE,
    FLATNESS,
    NORMALS_K,
    SOURCE_NORMALS,
    NORMALS,
    DROP_NONFINITE,
    PROGRESS,
    GIVEN
};

typedef struct told {
    sap_align_options options;
    bool is_global; // where the source lies at first is found out
    py_array source;
    py_packed start, source_normals, normals;
} told;

static void release(told* t) {
    py_array_release(&t->source);
    py_packed_release(&t->start);
    py_packed_release(&t->source_normals);
    py_packed_release(&t->normals);
}

// start: None, a matrix, or 'global'.
static int read_start(py_state* state, PyObject* value, told* t) {
    static const char* const words[] = {"global", NULL};
    int32_t word;
    if (!py_given(value) || !PyUnicode_Check(value)) return py_matrix_take(state, value, "start", &t->start);
    t->is_global = true;
    return py_word(value, "start", words, &word);
}

// overlap: None, a number, or 'find'.
static int read_overlap(PyObject* value, sap_align_options* o) {
    static const char* const words[] = {"find", NULL};
    int32_t word;
    if (!py_given(value)) return 0;
    if (!PyUnicode_Check(value)) return py_above(value, "overlap", &o->overlap);
    o->find_overlap = true;
    return py_word(value, "overlap", words, &word);
}

int py_align_options(const py_aligning* given, sap_align_options* o) {
    int32_t method = 0, kernel = 0;
    if (py_word(given->method, "method", methods, &method) < 0 ||
        py_int32(given->iterations, "iterations", 1, INT32_MAX, &o->iterations) < 0 ||
        py_above(given->tolerance, "tolerance", &o->tolerance) < 0 ||
        py_int32(given->levels, "levels", 1, 8, &o->levels) < 0 ||
        py_above(given->max_distance, "max_distance", &o->max_distance) < 0 || read_overlap(given->overlap, o) < 0 ||
        py_above(given->max_angle, "max_angle", &o->max_angle) < 0 ||
        py_bool(given->one_to_one, "one_to_one", &o->one_to_one) < 0 ||
        py_word(given->kernel, "kernel", kernels, &kernel) < 0 ||
        py_above(given->kernel_scale, "kernel_scale", &o->kernel_scale) < 0 ||
        py_above(given->flatness, "flatness", &o->flatness) < 0 ||
        py_int32(given->normals_k, "normals_k", 3, INT32_MAX, &o->normals_k) < 0 ||
        py_bool(given->drop_nonfinite, "drop_nonfinite", &o->drop_nonfinite) < 0)
        return -1;
    o->method = (sap_align_method)method;
    o->kernel = (sap_align_kernel)kernel;
    if (!py_given(given->kernel_scale) || kernel) return 0;
    PyErr_SetString(py_argument_error, "kernel_scale is for a kernel");
    return -1;
}

// `target_rows`: the points that normals are of; -1: a mesh, which has its own.
static int read_told(py_state* state, PyObject* const* given, const char* type, const py_device* device,
                     int64_t target_rows, told* t) {
    const py_aligning aligning = {.method = given[METHOD],
                                  .iterations = given[ITERATIONS],
                                  .tolerance = given[TOLERANCE],
                                  .levels = given[LEVELS],
                                  .max_distance = given[MAX_DISTANCE],
                                  .overlap = given[OVERLAP],
                                  .max_angle = given[MAX_ANGLE],
                                  .one_to_one = given[ONE_TO_ONE],
                                  .kernel = given[KERNEL],
                                  .kernel_scale = given[KERNEL_SCALE],
                                  .flatness = given[FLATNESS],
                                  .normals_k = given[NORMALS_K],
                                  .drop_nonfinite = given[DROP_NONFINITE]};
    sap_align_options* o = &t->options;
    if (py_align_options(&aligning, o) < 0 ||
        py_array_take(state, given[SOURCE], "source", type, 2, 2, 0, device, &t->source) < 0 ||
        read_start(state, given[START], t) < 0 ||
        py_packed_take(state, given[SOURCE_NORMALS], "source_normals", "f4", 2, 2, t->source.shape[0], 3,
                       "points of the source", &t->source_normals) < 0 ||
        (target_rows >= 0 && py_packed_take(state, given[NORMALS], "normals", "f4", 2, 2, target_rows, 3,
                                            "points in the tree", &t->normals) < 0))
        return -1;
    if (t->source.on_gpu && target_rows < 0) {
        PyErr_SetString(py_argument_error, "source must be on the host");
        return -1;
    }
    if (t->start.data) memcpy(o->start, t->start.data, sizeof o->start);
    o->source_normals = t->source_normals.data;
    o->target_normals = t->normals.data;
    return 0;
}

// ---- What is found

// Begins where a motion puts the source; false if it lies nowhere, which is what is found then.
static bool begin_at(told* t, const sap_global_motion* motion, sap_alignment* found) {
    sap_align_options* o = &t->options;
    memcpy(o->start, motion->transform, sizeof o->start);
    if (!(o->max_distance > 0) && !(o->overlap > 0)) o->find_overlap = true;
    if (motion->found) return true;
    memcpy(found->transform, motion->transform, sizeof found->transform);
    found->reason = SAP_ALIGN_NO_PAIRS;
    found->undetermined = 6;
    for (int i = 0; i < 6; i++) found->directions[7 * i] = 1;
    return false;
}

PyObject* py_matrices(py_state* state, const double* numbers, int ndim, int64_t count, int64_t side) {
    const int64_t shape[] = {count, side, side};
    const int64_t elements = ndim == 3 ? count * side * side : ndim == 2 ? side * side : side;
    py_result result;
    if (py_result_new(state, NULL, 'f', 8, ndim, ndim == 3 ? shape : shape + 1, &result) < 0) return NULL;
    if (elements) memcpy(result.data, numbers, (size_t)elements * sizeof *numbers);
    return result.object;
}

PyObject* py_alignment(py_state* state, const sap_alignment* a, int64_t rivals) {
    static const char* const reasons[] = {"converged", "iterations", "no pairs"};
    PyObject* arrays[5] = {py_matrices(state, a->transform, 2, 1, 4)};
    if (arrays[0]) arrays[1] = py_matrices(state, a->center, 1, 1, 3);
    if (arrays[1]) arrays[2] = py_matrices(state, a->information, 2, 1, 6);
    if (arrays[2]) arrays[3] = py_matrices(state, a->strengths, 1, 1, 6);
    if (arrays[3]) arrays[4] = py_matrices(state, a->directions, 2, 1, 6);
    PyObject* parts = NULL;
    if (arrays[4])
        parts = Py_BuildValue("(OOsiLddddOOiOOL)", arrays[0], a->converged ? Py_True : Py_False, reasons[a->reason],
                              (int)a->iterations, (long long)a->pairs, a->fitness, a->rmse, a->overlap, a->kernel_scale,
                              arrays[1], arrays[2], (int)a->undetermined, arrays[3], arrays[4], (long long)rivals);
    for (int i = 0; i < 5; i++) Py_XDECREF(arrays[i]);
    return py_cloud_result("Alignment", parts);
}

// ---- The calls

PyDoc_STRVAR(
    align_doc,
    "align($self, /, source, method='point', *, start=None, iterations=None, tolerance=None, levels=None,\n"
    "      max_distance=None, overlap=None, max_angle=None, one_to_one=False, kernel=None, kernel_scale=None,\n"
    "      flatness=None, normals_k=None, source_normals=None, normals=None, drop_nonfinite=False, progress=None)\n"
    "--\n\n"
    "The turn and shift that take source, an array of points, onto the points of the tree, as an Alignment: "
    "transform,\n"
    "a matrix of 4 x 4, and how good it is. By iterative closest points: each point is paired with the nearest of the\n"
    "tree, the motion that suits the pairs best is found, and so on. Points of three dimensions. On a GPU\n"
    "the source may lie there; normals are on the host, and start is not 'global'.\n\n"
    "method: 'point': the distances of pairs become small; 'plane': those to the tree's tangent planes; "
    "'generalised':\n"
    "    those between tangent planes of both, whose variance across is flatness (1e-3) of that along.\n"
    "start: a matrix of 4 x 4, where the source is at first; 'global': that is found by the shapes of both, however\n"
    "    far apart they are, and overlap is 'find' unless it or max_distance is given. Where nothing is found reason "
    "is\n"
    "    'no pairs'. Of what looks alike from several sides one of the motions that fit is found: rivals is not 0 "
    "then.\n"
    "iterations: at most so many steps on each level (100). tolerance: stop when a step moves no corner of the\n"
    "    source's box by more than this part of its diagonal (1e-6). levels: the first of so many works on every\n"
    "    4**(levels - 1)-th point (1).\n"
    "max_distance, max_angle (radians, of normals): pairs beyond do not count. overlap: the part of the points whose\n"
    "    pairs count, the nearest; 'find': it is found. one_to_one: of points with the same nearest one only the "
    "nearest\n"
    "    counts.\n"
    "kernel: 'huber', 'tukey' or 'cauchy': pairs that are far apart beside kernel_scale count less; None: that is "
    "found.\n"
    "normals_k: neighbours for normals that are needed (16). source_normals, normals: those of the source and of the\n"
    "    tree's points; give the latter where several clouds are aligned with one.\n"
    "drop_nonfinite: leave out points of the source that are not finite, instead of failing.\n\n"
    ">>> import numpy, sapwood\n"
    ">>> points = numpy.random.default_rng(1).random((500, 3))\n"
    ">>> found = sapwood.Tree(points).align(points + [0.01, 0.02, 0.0])\n"
    ">>> found.converged, found.transform.round(6)[:3, 3] + 0.0\n"
    "(True, array([-0.01, -0.02,  0.  ]))\n");

static PyObject* tree_align(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    static const char* const names[] = {"source",  "method",         "start",    "iterations", "tolerance",
                                        "levels",  "max_distance",   "overlap",  "max_angle",  "one_to_one",
                                        "kernel",  "kernel_scale",   "flatness", "normals_k",  "source_normals",
                                        "normals", "drop_nonfinite", "progress", NULL};
    PyObject* given[GIVEN];
    if (py_arguments("align", names, 1, 2, args, count, keywords, given) < 0) return NULL;
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    told t = {.options = {0}};
    sap_alignment found = {0};
    sap_global_motion motion = {.found = true};
    int result = read_told(self->state, given, py_tree_type(self), self->device, self->source_count, &t);
    py_call call;
    if (result == 0) result = py_call_begin(&call, self->device, NULL, given[PROGRESS]);
    if (result == 0) {
        const bool wide = self->real_bits == 64;
        const sap_global_options how = {.drop_nonfinite = t.options.drop_nonfinite};
        sap_status status = SAP_OK;
        if (t.is_global)
            status = wide ? sap_cloud_align_global_f64(self->tree, py_points_f64(&t.source), &how, &motion)
                          : sap_cloud_align_global(self->tree, py_points(&t.source), &how, &motion);
        if (status == SAP_OK && (!t.is_global || begin_at(&t, &motion, &found)))
            status = wide ? sap_cloud_align_f64(self->tree, py_points_f64(&t.source), &t.options, &found)
                          : sap_cloud_align(self->tree, py_points(&t.source), &t.options, &found);
        result = py_call_end(&call, status);
    }
    PyObject* made = result == 0 ? py_alignment(self->state, &found, motion.rivals) : NULL;
    release(&t);
    py_tree_done(self);
    return made;
}

// _align(source, …), in the order of Tree.align without its normals; the source is relative to the tree's origin.
PyObject* py_mesh_align(PyObject* self, PyObject* args) {
    PyObject* given[GIVEN] = {0};
    const Py_ssize_t count = PyTuple_Size(args);
    if (count != GIVEN - 1) {
        PyErr_SetString(PyExc_TypeError, "_align() takes what MeshTree.align() gives it");
        return NULL;
    }
    for (int i = 0, from = 0; i < GIVEN; i++)
        if (i != NORMALS) given[i] = PyTuple_GetItem(args, from++);
    py_mesh_tree* tree = py_mesh_tree_use(self);
    if (!tree) return NULL;
    told t = {.options = {0}};
    sap_alignment found = {0};
    sap_global_motion motion = {.found = true};
    int result = read_told(tree->state, given, "f4", tree->device, -1, &t);
    py_call call;
    if (result == 0) result = py_call_begin(&call, tree->device, NULL, given[PROGRESS]);
    if (result == 0) {
        const sap_global_options how = {.drop_nonfinite = t.options.drop_nonfinite};
        sap_status status = SAP_OK;
        if (t.is_global) status = sap_cloud_align_global_mesh(tree->tree, py_points(&t.source), &how, &motion);
        if (status == SAP_OK && (!t.is_global || begin_at(&t, &motion, &found)))
            status = sap_cloud_align_mesh(tree->tree, py_points(&t.source), &t.options, &found);
        result = py_call_end(&call, status);
    }
    PyObject* made = result == 0 ? py_alignment(tree->state, &found, motion.rivals) : NULL;
    release(&t);
    py_mesh_tree_done(tree);
    return made;
}

PyMethodDef py_tree_align_methods[] = {
    PY_METHOD("align", tree_align, align_doc),
    {NULL, NULL, 0, NULL},
};
