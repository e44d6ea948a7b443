// Which points lie alone, which lie together, and which stand for others: density, outliers, clusters, samples.
#include "cloud.h"
#include <stdlib.h>
#include <string.h>

// ---- Density

PyDoc_STRVAR(
    density_doc,
    "density($self, /, kind='count', *, radius=None, k=None, dims=None, out=None, progress=None)\n--\n\n"
    "The density about each point: float64, one for each point that was given to the tree, and where these lay.\n\n"
    "kind: 'count': how many other points lie within the radius. 'distance': how far the k-th nearest other point is\n"
    "    (k: 1); infinite where there are fewer. 'kernel': an estimate of the points in a unit of volume within the\n"
    "    radius, in so many dims (the tree's; 2 for points on surfaces).\n"
    "out: an array that is written to.\n\n"
    ">>> import sapwood\n"
    ">>> tree = sapwood.Tree([[0.0], [1.0], [5.0]])\n"
    ">>> tree.density(radius=1.5), tree.density('distance')\n"
    "(array([1., 1., 0.]), array([1., 1., 4.]))\n");

static PyObject* tree_density(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    enum { KIND, RADIUS, K, DIMS, OUT, PROGRESS, ALL };
    static const char* const names[] = {"kind", "radius", "k", "dims", "out", "progress", NULL};
    static const char* const kinds[] = {"count", "distance", "kernel", NULL};
    PyObject* given[ALL];
    int32_t kind = 0;
    sap_density_options o = {0};
    if (py_arguments("density", names, 0, 1, args, count, keywords, given) < 0 ||
        py_word(given[KIND], "kind", kinds, &kind) < 0 || py_above(given[RADIUS], "radius", &o.radius) < 0 ||
        py_int32(given[K], "k", 1, INT32_MAX, &o.k) < 0 || py_int32(given[DIMS], "dims", 1, SAP_MAX_DIMS, &o.dims) < 0)
        return NULL;
    o.kind = (sap_density)kind;
    const bool far = kind == SAP_DENSITY_DISTANCE;
    if (far ? py_given(given[RADIUS]) : py_given(given[K]) || !py_given(given[RADIUS])) {
        PyErr_Format(py_argument_error,
                     far ? "kind='distance' takes k, and no radius" : "kind='%s' takes a radius, and no k",
                     kinds[kind]);
        return NULL;
    }
    if (py_given(given[DIMS]) && kind != SAP_DENSITY_KERNEL) {
        PyErr_SetString(py_argument_error, "dims is for kind='kernel'");
        return NULL;
    }
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    py_result densities = {0};
    const py_wanted wanted = {&densities, given[OUT], "out", {'f', 8, 1, {self->source_count}}};
    py_array like;
    int result = py_tree_pattern(self, &like);
    py_call call;
    if (result == 0) result = py_cloud_begin(self, &like, 1, &wanted, given[PROGRESS], &call);
    if (result == 0) result = py_call_end(&call, sap_cloud_density(self->tree, &o, densities.data));
    PyObject* made = result == 0 ? py_part(&densities) : NULL;
    py_result_release(&densities);
    py_array_release(&like);
    py_tree_done(self);
    return made;
}

// ---- Outliers

PyDoc_STRVAR(
    outliers_doc,
    "outliers($self, /, kind=None, *, k=None, ratio=None, radius=None, out=None, progress=None)\n--\n\n"
    "Which points are no outliers, as Outliers(keep, kept, mean, deviation, limit): keep is an array of bool, True\n"
    "for those, kept how many they are.\n\n"
    "kind: 'statistical': outliers are those whose mean distance to their k (20) nearest others is above the mean of\n"
    "    all these by more than `ratio` (2) standard deviations; mean, deviation and limit are of these distances.\n"
    "    'radius': those with fewer than k (1) others within the radius. None: what is given says which.\n"
    "out: an array of bool or uint8 that is written to.\n\n"
    ">>> import sapwood\n"
    ">>> tree = sapwood.Tree([[0.0], [1.0], [2.0], [50.0]])\n"
    ">>> tree.outliers(radius=1.5).keep\n"
    "array([ True,  True,  True, False])\n");

// The caller's mask, of bool or uint8. The call waits for the GPU.
static int take_mask(const py_tree* self, PyObject* out, py_result* keep) {
    if (py_array_take_out(self->state, out, "out", "b1u1", 1, &self->source_count, self->device, &keep->given) < 0)
        return -1;
    keep->object = Py_NewRef(out);
    keep->data = keep->given.data;
    return 0;
}

static PyObject* tree_outliers(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    enum { KIND, K, RATIO, RADIUS, OUT, PROGRESS, ALL };
    static const char* const names[] = {"kind", "k", "ratio", "radius", "out", "progress", NULL};
    static const char* const kinds[] = {"statistical", "radius", NULL};
    PyObject* given[ALL];
    sap_outliers_options o = {0};
    if (py_arguments("outliers", names, 0, 1, args, count, keywords, given) < 0) return NULL;
    int32_t kind = py_given(given[RADIUS]) ? SAP_OUTLIERS_RADIUS : SAP_OUTLIERS_STATISTICAL;
    if (py_word(given[KIND], "kind", kinds, &kind) < 0 || py_int32(given[K], "k", 1, INT32_MAX, &o.k) < 0 ||
        py_above(given[RATIO], "ratio", &o.ratio) < 0 || py_above(given[RADIUS], "radius", &o.radius) < 0)
        return NULL;
    o.kind = (sap_outliers)kind;
    const bool near = kind == SAP_OUTLIERS_RADIUS;
    if (near ? !py_given(given[RADIUS]) || py_given(given[RATIO]) : py_given(given[RADIUS])) {
        PyErr_SetString(py_argument_error, near ? "kind='radius' takes a radius and k, and no ratio"
                                                : "kind='statistical' takes k and ratio, and no radius");
        return NULL;
    }
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    py_result keep = {0};
    sap_outliers_info info = {0};
    py_array like;
    int result = py_tree_pattern(self, &like);
    const bool own = !py_given(given[OUT]);
    if (result == 0 && !own) result = take_mask(self, given[OUT], &keep);
    const py_wanted wanted = {own ? &keep : NULL, NULL, NULL, {'b', 1, 1, {self->source_count}}};
    py_call call;
    if (result == 0) result = py_cloud_begin(self, &like, 1, &wanted, given[PROGRESS], &call);
    if (result == 0) result = py_call_end(&call, sap_cloud_outliers(self->tree, &o, keep.data, &info));
    PyObject* made = NULL;
    if (result == 0)
        made = py_cloud_result("Outliers", Py_BuildValue("(NLddd)", py_part(&keep), (long long)info.kept, info.mean,
                                                         info.deviation, info.limit));
    py_result_release(&keep);
    py_array_release(&like);
    py_tree_done(self);
    return made;
}

// ---- Clusters

PyDoc_STRVAR(
    clusters_doc,
    "clusters($self, /, radius, *, fewest=1, least=1, out=None, progress=None)\n--\n\n"
    "Clusters of points that lie within a radius of one another, or are joined by others that do, as Clusters(labels,\n"
    "kinds, cluster_count): labels, int32, are numbers from 0 in the order of the smallest ids, -1 for noise; kinds, "
    "uint8: 0 "
    "noise,\n"
    "1 a border point, 2 a core point.\n\n"
    "fewest: DBSCAN: only points with so many within the radius, themselves among them, are core points, which join\n"
    "    others; border points belong to the nearest core point. 1: all are core points (friends of friends).\n"
    "least: clusters of fewer points are noise.\n"
    "out: (labels, kinds), arrays that are written to; kinds may be None.\n\n"
    ">>> import sapwood\n"
    ">>> found = sapwood.Tree([[0.0], [1.0], [5.0], [9.0], [9.5]]).clusters(1.0, least=2)\n"
    ">>> found.labels, found.cluster_count\n"
    "(array([ 0,  0, -1,  1,  1], dtype=int32), 2)\n");

static PyObject* tree_clusters(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    enum { RADIUS, FEWEST, LEAST, OUT, PROGRESS, ALL };
    static const char* const names[] = {"radius", "fewest", "least", "out", "progress", NULL};
    PyObject* given[ALL];
    sap_clusters_options o = {0};
    if (py_arguments("clusters", names, 1, 1, args, count, keywords, given) < 0 ||
        py_number(given[RADIUS], "radius", &o.radius) < 0 ||
        py_int32(given[FEWEST], "fewest", 1, INT32_MAX, &o.fewest) < 0 ||
        py_int64(given[LEAST], "least", 1, INT32_MAX, &o.least) < 0)
        return NULL;
    PyObject *out = given[OUT], *first = NULL, *second = NULL;
    if (py_given(out)) {
        first = py_out_element(out, 2, 0);
        second = first ? py_out_element(out, 2, 1) : NULL;
        if (!second) return NULL;
    }
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    py_result labels = {0}, kinds = {0};
    int64_t found = 0;
    const py_wanted wanted[] = {
        {&labels, first, "out[0]", {'i', 4, 1, {self->source_count}}},
        {second != Py_None ? &kinds : NULL, second, "out[1]", {'u', 1, 1, {self->source_count}}}};
    py_array like;
    int result = py_tree_pattern(self, &like);
    py_call call;
    if (result == 0) result = py_cloud_begin(self, &like, 2, wanted, given[PROGRESS], &call);
    if (result == 0) result = py_call_end(&call, sap_cloud_clusters(self->tree, &o, labels.data, kinds.data, &found));
    PyObject* made = NULL;
    if (result == 0)
        made = py_cloud_result("Clusters", Py_BuildValue("(NNL)", py_part(&labels), py_part(&kinds), (long long)found));
    py_result_release(&labels);
    py_result_release(&kinds);
    py_array_release(&like);
    py_tree_done(self);
    return made;
}

// ---- Samples

PyDoc_STRVAR(sample_doc, "sample($self, /, count=None, *, radius=None, start=None, seed=None, progress=None)\n--\n\n"
                         "The ids of points that cover all evenly, int32.\n\n"
                         "count: so many points (or all, if there are fewer), each the one farthest from those before "
                         "it, in this order; the\n"
                         "    first is the one with the id start, or the next greater one (0).\n"
                         "radius: points of which none lies within the radius of another, while every point lies "
                         "within that of one of them\n"
                         "    (Poisson disks), ascending; seed chooses the order in which they are tried (0).\n\n"
                         ">>> import sapwood\n"
                         ">>> tree = sapwood.Tree([[0.0], [1.0], [2.0], [9.0]])\n"
                         ">>> tree.sample(3)\n"
                         "array([0, 3, 2], dtype=int32)\n"
                         ">>> tree.sample(radius=100.0).shape\n"
                         "(1,)\n");

// The first `count` ids: on the host a copy without those that are not there, on a GPU a slice.
static PyObject* first_ids(const py_tree* self, const py_result* ids, int64_t count) {
    if (ids->object) {
        PyObject* end = PyLong_FromLongLong(count);
        PyObject* slice = end ? PySlice_New(NULL, end, NULL) : NULL;
        PyObject* some = slice ? PyObject_GetItem(ids->object, slice) : NULL;
        Py_XDECREF(slice);
        Py_XDECREF(end);
        return some;
    }
    py_result some;
    if (py_result_new(self->state, NULL, 'i', 4, 1, &count, &some) < 0) return NULL;
    if (count) memcpy(some.data, ids->data, (size_t)count * sizeof(int32_t));
    return some.object;
}

static PyObject* tree_sample(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    enum { COUNT, RADIUS, START, SEED, PROGRESS, ALL };
    static const char* const names[] = {"count", "radius", "start", "seed", "progress", NULL};
    PyObject* given[ALL];
    sap_sample_options o = {0};
    int64_t seed = 0;
    if (py_arguments("sample", names, 0, 1, args, count, keywords, given) < 0 ||
        py_int64(given[COUNT], "count", 1, INT64_MAX, &o.most) < 0 ||
        py_above(given[RADIUS], "radius", &o.radius) < 0 ||
        py_int32(given[START], "start", 0, INT32_MAX, &o.start) < 0 ||
        py_int64(given[SEED], "seed", 0, INT64_MAX, &seed) < 0)
        return NULL;
    const bool disks = py_given(given[RADIUS]);
    if (disks == py_given(given[COUNT]) || (disks ? py_given(given[START]) : py_given(given[SEED]))) {
        PyErr_SetString(py_argument_error, "sample() takes either count, and start, or a radius, and seed");
        return NULL;
    }
    o.kind = disks ? SAP_SAMPLE_POISSON : SAP_SAMPLE_FARTHEST;
    o.seed = (uint64_t)seed;
    py_tree* self = py_tree_use(object);
    if (!self) return NULL;
    // More than there are cannot be chosen.
    const int64_t room = disks || o.most > self->source_count ? self->source_count : o.most;
    if (!disks && room > 0) o.most = room;
    int64_t found = 0;
    py_result ids = {0};
    py_array like;
    int result = py_tree_pattern(self, &like);
    const bool there = result == 0 && like.on_gpu;
    if (there) {
        result = py_result_new(self->state, &like, 'i', 4, 1, &room, &ids);
    } else if (result == 0) {
        ids.data = malloc((size_t)room * sizeof(int32_t) + sizeof(int32_t));
        if (!ids.data) PyErr_NoMemory();
        result = ids.data ? 0 : -1;
    }
    py_call call;
    if (result == 0) result = py_call_begin(&call, self->device, &like, given[PROGRESS]);
    if (result == 0) result = py_call_end(&call, sap_cloud_sample(self->tree, &o, ids.data, &found));
    PyObject* made = result == 0 ? first_ids(self, &ids, found) : NULL;
    if (!there) free(ids.data);
    py_result_release(&ids);
    py_array_release(&like);
    py_tree_done(self);
    return made;
}

PyMethodDef py_tree_points_methods[] = {
    PY_METHOD("density", tree_density, density_doc),
    PY_METHOD("outliers", tree_outliers, outliers_doc),
    PY_METHOD("clusters", tree_clusters, clusters_doc),
    PY_METHOD("sample", tree_sample, sample_doc),
    {NULL, NULL, 0, NULL},
};
