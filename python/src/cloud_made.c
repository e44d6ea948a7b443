// Clouds made of clouds: thinned, relaxed, projected, moved. Names, defaults and documentation are in sapwood/cloud.py.
#include "align.h"
#include "files.h"

// ---- Thinned by a grid

static void release_thinned(void* made) { sap_thinned_free(made); }

// An array over the memory of `owner`, or None where there is none. columns 0: of one axis.
static PyObject* part_of(py_state* state, const void* data, char kind, int bytes, int64_t rows, int64_t columns,
                         PyObject* owner) {
    const int64_t shape[] = {rows, columns};
    if (!data && rows) return Py_NewRef(Py_None);
    void* dummy;
    if (!data) return py_array_new(state, NULL, kind, bytes, columns ? 2 : 1, shape, &dummy);
    return py_array_of(state, NULL, (void*)(uintptr_t)data, kind, bytes, columns ? 2 : 1, shape, owner, NULL);
}

// (points, ids, counts, normals, attributes, cell_of)
static PyObject* thinned_parts(py_state* state, const sap_thinned* t, const py_array* points, bool with_normals,
                               int64_t attributes, PyObject* owner) {
    const int64_t rows = t->count, all = points->shape[0];
    const void* coords = points->bytes == 8 ? (const void*)t->coords_f64 : (const void*)t->coords;
    PyObject* parts = PyTuple_New(6);
    PyObject* made[6] = {0};
    if (parts) {
        made[0] = part_of(state, coords, 'f', points->bytes, rows, points->shape[1], owner);
        made[1] = part_of(state, t->ids, 'i', 4, rows, 0, owner);
        made[2] = part_of(state, t->counts, 'i', 4, rows, 0, owner);
        made[3] = with_normals ? part_of(state, t->normals, 'f', 4, rows, 3, owner) : Py_NewRef(Py_None);
        made[4] = attributes ? part_of(state, t->attributes, 'f', 4, rows, attributes, owner) : Py_NewRef(Py_None);
        made[5] = part_of(state, t->cell_of, 'i', 4, all, 0, owner);
    }
    bool whole = parts != NULL;
    for (int i = 0; parts && i < 6; i++) {
        whole &= made[i] != NULL;
        PyTuple_SetItem(parts, i, made[i]); // also if it is NULL
    }
    if (!whole) Py_CLEAR(parts);
    return parts;
}

// The numbers of an array of one element for each axis, or of one for all.
static int read_axes(py_state* state, PyObject* value, const char* name, int64_t dims, double* to) {
    py_array numbers;
    if (!py_given(value)) return 0;
    if (py_array_take(state, value, name, "f8", 0, 1, 0, NULL, &numbers) < 0) return -1;
    int result = 0;
    if (numbers.on_gpu || (numbers.ndim == 1 && numbers.shape[0] != dims)) {
        PyErr_Format(py_argument_error, "%s must be a number, or one number for each of the %lld axes", name,
                     (long long)dims);
        result = -1;
    }
    for (int i = 0; result == 0 && i < dims && i < SAP_MAX_DIMS; i++)
        to[i] = ((const double*)numbers.data)[numbers.ndim ? i : 0];
    py_array_release(&numbers);
    return result;
}

// voxels(points, size, origin, point, fewest, drop_nonfinite, normals, attributes): (points, ids, counts, normals,
// attributes, cell_of)
static PyObject* voxels(PyObject* module, PyObject* args) {
    static const char* const choices[] = {"centroid", "first", "nearest", NULL};
    py_state* state = PyModule_GetState(module);
    PyObject *object, *size, *origin, *point, *fewest, *normals_given, *attributes_given;
    int drop, result;
    int32_t choice = 0;
    sap_voxels_options o = {0};
    if (!py_parse(args, "OOOOOpOO:voxels", &object, &size, &origin, &point, &fewest, &drop, &normals_given,
                  &attributes_given) ||
        py_word(point, "point", choices, &choice) < 0 || py_int32(fewest, "fewest", 1, INT32_MAX, &o.fewest) < 0)
        return NULL;
    o.point = (sap_voxels_point)choice;
    o.drop_nonfinite = drop != 0;
    py_array points;
    py_packed normals = {0}, attributes = {0};
    if (py_array_take(state, object, "points", "f4f8", 2, 2, 0, NULL, &points) < 0) return NULL;
    py_device* device = py_device_for(state, Py_None, 0, &points);
    const int64_t rows = points.shape[0];
    result = device ? 0 : -1;
    if (result == 0 && points.on_gpu) {
        PyErr_SetString(py_argument_error, "points must be on the host");
        result = -1;
    }
    if (result == 0) result = read_axes(state, size, "size", points.shape[1], o.sizes);
    if (result == 0) result = read_axes(state, origin, "origin", points.shape[1], o.origin);
    if (result == 0) result = py_packed_take(state, normals_given, "normals", "f4", 2, 2, rows, 3, "points", &normals);
    if (result == 0)
        result = py_packed_take(state, attributes_given, "attributes", "f4", 2, 2, rows, 0, "points", &attributes);
    o.normals = normals.data;
    o.attributes = attributes.data;
    o.attribute_count = attributes.data ? (int32_t)attributes.array.shape[1] : 0;
    sap_thinned* thinned = NULL;
    py_call call;
    if (result == 0) result = py_call_begin(&call, device, NULL, NULL);
    if (result == 0) {
        const sap_status status = points.bytes == 4
                                      ? sap_cloud_voxels(device->device, py_points(&points), &o, &thinned)
                                      : sap_cloud_voxels_f64(device->device, py_points_f64(&points), &o, &thinned);
        result = py_call_end(&call, status);
        if (result < 0) sap_thinned_free(thinned);
    }
    PyObject* owner = result == 0 ? py_owner_new(device, thinned, release_thinned) : NULL;
    PyObject* made = NULL;
    if (owner) made = thinned_parts(state, thinned, &points, o.normals != NULL, o.attribute_count, owner);
    Py_XDECREF(owner);
    py_packed_release(&normals);
    py_packed_release(&attributes);
    Py_XDECREF((PyObject*)device);
    py_array_release(&points);
    return made;
}

// ---- Relaxed

// relax(points, k, radius, steps, step, tolerance, more, free, normals, device, threads, progress): (points, normals,
// steps, movement, range)
static PyObject* relax(PyObject* module, PyObject* args) {
    py_state* state = PyModule_GetState(module);
    PyObject *object, *k, *radius, *steps, *step, *tolerance, *more, *on, *progress;
    int is_free, with_normals, threads;
    sap_relax_options o = {0};
    if (!py_parse(args, "OOOOOOOppOiO:relax", &object, &k, &radius, &steps, &step, &tolerance, &more, &is_free,
                  &with_normals, &on, &threads, &progress) ||
        py_int32(k, "k", 1, INT32_MAX, &o.k) < 0 || py_above(radius, "radius", &o.radius) < 0 ||
        py_int32(steps, "steps", 1, INT32_MAX, &o.steps) < 0 || py_above(step, "step", &o.step) < 0 ||
        py_above(tolerance, "tolerance", &o.tolerance) < 0 || py_int64(more, "more", 0, INT32_MAX, &o.more) < 0)
        return NULL;
    o.is_free = is_free != 0;
    py_array points;
    if (py_array_take(state, object, "points", "f4", 2, 2, 0, NULL, &points) < 0) return NULL;
    py_device* device = py_device_for(state, on, threads, &points);
    const int64_t shape[] = {points.shape[0] + o.more, 3};
    py_result moved = {0}, normals = {0};
    sap_relax_info info = {0};
    int result = device ? 0 : -1;
    if (result == 0 && points.on_gpu) {
        PyErr_SetString(py_argument_error, "points must be on the host");
        result = -1;
    }
    if (result == 0) result = py_result_new(state, NULL, 'f', 4, 2, shape, &moved);
    if (result == 0 && with_normals) result = py_result_new(state, NULL, 'f', 4, 2, shape, &normals);
    py_call call;
    if (result == 0) result = py_call_begin(&call, device, NULL, progress);
    if (result == 0)
        result = py_call_end(&call,
                             sap_cloud_relax(device->device, py_points(&points), &o, moved.data, normals.data, &info));
    PyObject* made = NULL;
    if (result == 0)
        made = Py_BuildValue("(NNidd)", py_part(&moved), py_part(&normals), (int)info.steps, info.movement, info.range);
    py_result_release(&moved);
    py_result_release(&normals);
    Py_XDECREF((PyObject*)device);
    py_array_release(&points);
    return made;
}

// ---- Projected

// project(points, count, starts, radius, steps, push, tolerance, by_density, median, on, threads, progress): (points, steps, movement,
// radius)
static PyObject* project(PyObject* module, PyObject* args) {
    enum { POINTS_FOR_ONE = 20 };
    py_state* state = PyModule_GetState(module);
    PyObject *object, *count, *starts_given, *radius, *steps, *push, *tolerance, *on, *progress;
    int by_density, to_median, threads;
    sap_project_options o = {0};
    if (!py_parse(args, "OOOOOOOppOiO:project", &object, &count, &starts_given, &radius, &steps, &push, &tolerance,
                  &by_density, &to_median, &on, &threads, &progress) ||
        py_int64(count, "count", 1, INT32_MAX, &o.count) < 0 || py_above(radius, "radius", &o.radius) < 0 ||
        py_int32(steps, "steps", 1, INT32_MAX, &o.steps) < 0 || py_above(push, "push", &o.push) < 0 ||
        py_above(tolerance, "tolerance", &o.tolerance) < 0)
        return NULL;
    o.by_density = by_density != 0;
    o.to_median = to_median != 0;
    if (py_given(count) && py_given(starts_given)) {
        PyErr_SetString(py_argument_error, "count and starts: give one of them");
        return NULL;
    }
    py_array points;
    py_packed starts = {0};
    if (py_array_take(state, object, "points", "f4", 2, 2, 0, NULL, &points) < 0) return NULL;
    py_device* device = py_device_for(state, on, threads, &points);
    int result = device ? 0 : -1;
    if (result == 0 && points.on_gpu) {
        PyErr_SetString(py_argument_error, "points must be on the host");
        result = -1;
    }
    if (result == 0) result = py_packed_take(state, starts_given, "starts", "f4", 2, 2, -1, 3, "starts", &starts);
    o.starts = starts.data;
    if (o.starts) o.count = starts.array.shape[0];
    const int64_t part = (points.shape[0] + POINTS_FOR_ONE - 1) / POINTS_FOR_ONE;
    const int64_t shape[] = {o.count || o.starts ? o.count : part, 3};
    py_result made = {0};
    sap_project_info info = {0};
    if (result == 0 && o.count > points.shape[0] && !o.starts) {
        PyErr_Format(py_argument_error, "count: %lld, but there are %lld points", (long long)o.count,
                     (long long)points.shape[0]);
        result = -1;
    }
    if (result == 0) result = py_result_new(state, NULL, 'f', 4, 2, shape, &made);
    py_call call;
    if (result == 0) result = py_call_begin(&call, device, NULL, progress);
    if (result == 0)
        result = py_call_end(&call, sap_cloud_project(device->device, py_points(&points), &o, made.data, &info));
    PyObject* answer = NULL;
    if (result == 0) answer = Py_BuildValue("(Nidd)", py_part(&made), (int)info.steps, info.movement, info.radius);
    py_result_release(&made);
    py_packed_release(&starts);
    Py_XDECREF((PyObject*)device);
    py_array_release(&points);
    return answer;
}

// ---- Moved

// transform(points, matrix, out): points of float32 or float64, moved by a matrix of 4 x 4
static PyObject* transform(PyObject* module, PyObject* args) {
    py_state* state = PyModule_GetState(module);
    PyObject *object, *given, *out;
    if (!py_parse(args, "OOO:transform", &object, &given, &out)) return NULL;
    py_array points;
    py_packed matrix = {0};
    py_result moved = {0};
    if (py_array_take(state, object, "points", "f4f8", 1, 2, 0, NULL, &points) < 0) return NULL;
    py_device* device = py_device_for(state, Py_None, 1, NULL);
    int result = device ? 0 : -1;
    if (result == 0 && points.on_gpu) {
        PyErr_SetString(py_argument_error, "points must be on the host");
        result = -1;
    }
    if (result == 0 && given == Py_None) {
        PyErr_SetString(PyExc_TypeError, "matrix must be an array, not None");
        result = -1;
    }
    if (result == 0) result = py_matrix_take(state, given, "matrix", &matrix);
    if (result == 0) result = py_result_for(state, out, "out", 'f', points.bytes, points.ndim, points.shape, &moved);
    py_call call;
    if (result == 0) result = py_call_begin(&call, device, NULL, NULL);
    if (result == 0) {
        const sap_status status = points.bytes == 4
                                      ? sap_transform_points(matrix.data, py_points(&points), moved.data)
                                      : sap_transform_points_f64(matrix.data, py_points_f64(&points), moved.data);
        result = py_call_end(&call, status);
    }
    PyObject* made = result == 0 ? py_part(&moved) : NULL;
    py_result_release(&moved);
    py_packed_release(&matrix);
    Py_XDECREF((PyObject*)device);
    py_array_release(&points);
    return made;
}

int py_add_cloud(PyObject* module, py_state* state) {
    (void)state;
    static PyMethodDef functions[] = {{"voxels", voxels, METH_VARARGS, NULL},
                                      {"relax", relax, METH_VARARGS, NULL},
                                      {"project", project, METH_VARARGS, NULL},
                                      {"transform", transform, METH_VARARGS, NULL},
                                      {NULL, NULL, 0, NULL}};
    return PyModule_AddFunctions(module, functions) < 0 ? -1 : py_add_align(module);
}
