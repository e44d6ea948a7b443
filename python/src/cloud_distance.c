// How far clouds are from one another and from meshes.
#include "cloud.h"
#include "mesh.h"

static int read_options(PyObject* radius, PyObject* quantile, sap_distance_options* o) {
    if (py_above(radius, "radius", &o->radius) < 0 || py_double(quantile, "quantile", &o->quantile) < 0) return -1;
    if (o->quantile >= 0 && o->quantile <= 1) return 0;
    PyErr_Format(py_argument_error, "quantile must be from 0 to 1, not %S", quantile);
    return -1;
}

static PyObject* distances_of(const py_result* distances, const sap_distance_info* info) {
    return py_cloud_result("Distances", py_distance_parts(distances, info));
}

PyDoc_STRVAR(
    distance_doc,
    "distance($self, /, points, *, radius=None, quantile=None, distances=True, out=None, progress=None)\n--\n\n"
    "How far each of other points is from the nearest point of the tree, as Distances(distances, counted, mean,\n"
    "mean_square, bias, quantile, greatest, farthest): float64, and what they say together. greatest is the directed\n"
    "Hausdorff distance, found at row farthest.\n\n"
    "radius: points that lie farther off have no counterpart: their distance is infinite, and they do not count.\n"
    "quantile: 0 to 1: also the distance that this part of the points does not exceed.\n"
    "distances: False leaves the array out. out: an array that is written to. Of a tree on a GPU points may lie "
    "there;\n"
    "distances are on the host.\n\n"
    ">>> import sapwood\n"
    ">>> found = sapwood.Tree([[0.0], [1.0], [5.0]]).distance([[0.25], [9.0]])\n"
    ">>> found.distances, found.mean, found.farthest\n"
    "(array([0.25, 4.  ]), 2.125, 1)\n");

static PyObject* tree_distance(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    enum { POINTS, RADIUS, QUANTILE, DISTANCES, OUT, PROGRESS, ALL };
    static const char* const names[] = {"points", "radius", "quantile", "distances", "out", "progress", NULL};
    PyObject* given[ALL];
    sap_distance_options o = {0};
    bool wanted = true;
    if (py_arguments("distance", names, 1, 1, args, count, keywords, given) < 0 ||
        read_options(given[RADIUS], given[QUANTILE], &o) < 0 || py_bool(given[DISTANCES], "distances", &wanted) < 0)
        return NULL;
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    py_array points;
    py_result distances = {0};
    sap_distance_info info = {0};
    int result =
        py_array_take(self->state, given[POINTS], "points", py_tree_type(self), 2, 2, 0, self->device, &points);
    if (result == 0 && (wanted || py_given(given[OUT])))
        result = py_result_for(self->state, given[OUT], "out", 'f', 8, 1, points.shape, &distances);
    py_call call;
    if (result == 0) result = py_call_begin(&call, self->device, NULL, given[PROGRESS]);
    if (result == 0) {
        const sap_status status =
            self->real_bits == 32
                ? sap_cloud_distance(self->tree, py_points(&points), &o, distances.data, &info)
                : sap_cloud_distance_f64(self->tree, py_points_f64(&points), &o, distances.data, &info);
        result = py_call_end(&call, status);
    }
    PyObject* made = result == 0 ? distances_of(&distances, &info) : NULL;
    py_result_release(&distances);
    py_array_release(&points);
    py_tree_done(self);
    return made;
}

PyDoc_STRVAR(
    compare_doc,
    "compare($self, /, other, *, radius=None, quantile=None, distances=True, progress=None)\n--\n\n"
    "How far the points of this tree and those of another are apart, as Comparison(forth, back, hausdorff, quantile,\n"
    "chamfer, chamfer_square): forth are the Distances from this tree's points to the other's, back those the other\n"
    "way, with a row for each point that was given to the tree they come from. hausdorff and quantile are the greater "
    "of\n"
    "both ways, chamfer and chamfer_square the sums of the means and of the mean squares. Arguments: as distance(). "
    "The\n"
    "arrays are on the host.\n\n"
    ">>> import sapwood\n"
    ">>> found = sapwood.Tree([[0.0], [1.0]]).compare(sapwood.Tree([[0.0], [4.0]]))\n"
    ">>> found.hausdorff, found.chamfer, found.back.distances\n"
    "(3.0, 2.0, array([0., 3.]))\n");

static py_tree* use_other(const py_tree* self, PyObject* object) {
    if (py_is_tree(self->state, object)) return py_tree_use(object);
    PyErr_Format(PyExc_TypeError, "other must be a sapwood.Tree, not %R", (PyObject*)Py_TYPE(object));
    return NULL;
}

static PyObject* tree_compare(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    enum { OTHER, RADIUS, QUANTILE, DISTANCES, PROGRESS, ALL };
    static const char* const names[] = {"other", "radius", "quantile", "distances", "progress", NULL};
    PyObject* given[ALL];
    sap_distance_options o = {0};
    bool wanted = true;
    if (py_arguments("compare", names, 1, 1, args, count, keywords, given) < 0 ||
        read_options(given[RADIUS], given[QUANTILE], &o) < 0 || py_bool(given[DISTANCES], "distances", &wanted) < 0)
        return NULL;
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    py_tree* other = use_other(self, given[OTHER]);
    py_result forth = {0}, back = {0};
    sap_comparison found = {0};
    int result = other ? 0 : -1;
    if (result == 0 && wanted) result = py_result_for(self->state, NULL, NULL, 'f', 8, 1, &self->source_count, &forth);
    if (result == 0 && wanted) result = py_result_for(self->state, NULL, NULL, 'f', 8, 1, &other->source_count, &back);
    py_call call;
    if (result == 0) result = py_call_begin(&call, self->device, NULL, given[PROGRESS]);
    if (result == 0)
        result = py_call_end(&call, sap_cloud_compare(self->tree, other->tree, &o, forth.data, back.data, &found));
    PyObject* made = NULL;
    if (result == 0) {
        PyObject* there = distances_of(&forth, &found.forth);
        PyObject* here = there ? distances_of(&back, &found.back) : NULL;
        if (here)
            made = py_cloud_result("Comparison", Py_BuildValue("(NNdddd)", there, here, found.hausdorff, found.quantile,
                                                               found.chamfer, found.chamfer_square));
        else
            Py_XDECREF(there);
    }
    py_result_release(&forth);
    py_result_release(&back);
    if (other) py_tree_done(other);
    py_tree_done(self);
    return made;
}

// _distance(points, radius, quantile, signed, distances, out, progress): of points relative to the tree's origin.
PyObject* py_mesh_distance(PyObject* self, PyObject* args) {
    PyObject *object, *radius, *quantile, *out, *progress;
    int is_signed, wanted;
    sap_distance_options o = {0};
    if (!py_parse(args, "OOOppOO:distance", &object, &radius, &quantile, &is_signed, &wanted, &out, &progress) ||
        read_options(radius, quantile, &o) < 0)
        return NULL;
    o.is_signed = is_signed != 0;
    py_mesh_tree* tree = py_mesh_tree_use(self);
    if (!tree) return NULL;
    py_array points;
    py_result distances = {0};
    sap_distance_info info = {0};
    int result = py_array_take(tree->state, object, "points", "f4", 2, 2, 0, tree->device, &points);
    if (result == 0 && (wanted || py_given(out)))
        result = py_result_for(tree->state, out, "out", 'f', 8, 1, points.shape, &distances);
    py_call call;
    if (result == 0) result = py_call_begin(&call, tree->device, NULL, progress);
    if (result == 0)
        result = py_call_end(&call, sap_cloud_distance_mesh(tree->tree, py_points(&points), &o, distances.data, &info));
    PyObject* made = result == 0 ? distances_of(&distances, &info) : NULL;
    py_result_release(&distances);
    py_array_release(&points);
    py_mesh_tree_done(tree);
    return made;
}

PyMethodDef py_tree_distance_methods[] = {
    PY_METHOD("distance", tree_distance, distance_doc),
    PY_METHOD("compare", tree_compare, compare_doc),
    {NULL, NULL, 0, NULL},
};
