// Many clouds aligned with one another. Names, defaults and documentation are in sapwood/cloud.py.
#include "align.h"
#include <stdlib.h>
#include <string.h>

// ---- What is given

typedef struct told {
    sap_many_options options;
    int64_t count, pair_count; // clouds; pairs that are aligned
    py_array* arrays;          // [count]
    sap_points* clouds;        // [count]
    py_array starts;
    int32_t* pairs; // as they were given, or NULL
} told;

static void release(told* t) {
    for (int64_t i = 0; t->arrays && i < t->count; i++) py_array_release(&t->arrays[i]);
    py_array_release(&t->starts);
    free(t->arrays);
    free(t->clouds);
    free(t->pairs);
}

static int no_memory(void) {
    PyErr_NoMemory();
    return -1;
}

static int read_clouds(py_state* state, PyObject* value, told* t) {
    PyObject* several = PyUnicode_Check(value) || PyBytes_Check(value) ? NULL : PySequence_Tuple(value);
    if (!several) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "clouds must be a sequence of arrays, not %R", (PyObject*)Py_TYPE(value));
        return -1;
    }
    const int64_t count = PyTuple_Size(several);
    t->arrays = calloc((size_t)count + 1, sizeof *t->arrays);
    t->clouds = calloc((size_t)count + 1, sizeof *t->clouds);
    int result = t->arrays && t->clouds ? 0 : no_memory();
    for (; result == 0 && t->count < count; t->count++) {
        char name[40];
        PyOS_snprintf(name, sizeof name, "clouds[%lld]", (long long)t->count);
        py_array* cloud = &t->arrays[t->count];
        result = py_array_take(state, PyTuple_GetItem(several, t->count), name, "f4", 2, 2, 0, NULL, cloud);
        if (result < 0) break;
        t->clouds[t->count] = py_points(cloud);
        if (!cloud->on_gpu) continue;
        PyErr_Format(py_argument_error, "%s must be on the host", name);
        result = -1;
    }
    // What is taken holds its own memory.
    Py_DECREF(several);
    return result;
}

// starts: None, a matrix for each cloud, or 'global'.
static int read_starts(py_state* state, PyObject* value, told* t) {
    static const char* const words[] = {"global", NULL};
    int32_t word;
    if (!py_given(value)) return 0;
    if (PyUnicode_Check(value)) {
        t->options.global = true;
        return py_word(value, "starts", words, &word);
    }
    py_array* a = &t->starts;
    if (py_array_take(state, value, "starts", "f8", 3, 3, 0, NULL, a) < 0) return -1;
    t->options.starts = a->data;
    if (!a->on_gpu && a->shape[0] == t->count && a->shape[1] == 4 && a->shape[2] == 4) return 0;
    PyErr_Format(py_argument_error, "starts must be %lld matrices of 4 x 4, one for each cloud, on the host",
                 (long long)t->count);
    return -1;
}

// pairs: None, or rows of two.
static int read_pairs(py_state* state, PyObject* value, told* t) {
    t->pair_count = t->count * (t->count - 1) / 2;
    if (!py_given(value)) return 0;
    py_array a;
    if (py_array_take(state, value, "pairs", "i4", 1, 2, 0, NULL, &a) < 0) return -1;
    const bool is_empty = a.shape[0] == 0; // [] has one axis
    int result = 0;
    if (a.on_gpu || (!is_empty && (a.ndim != 2 || a.shape[1] != 2))) {
        PyErr_SetString(py_argument_error, "pairs must be rows of two numbers, source and target, on the host");
        result = -1;
    } else {
        t->pairs = malloc((size_t)a.shape[0] * 2 * sizeof *t->pairs + 1);
        if (!t->pairs) result = no_memory();
    }
    for (int64_t i = 0; result == 0 && i < a.shape[0]; i++)
        memcpy(t->pairs + 2 * i, (const int32_t*)a.data + i * a.stride, 2 * sizeof *t->pairs);
    t->options.pairs = t->pairs;
    t->options.pair_count = t->pair_count = a.shape[0];
    py_array_release(&a);
    return result;
}

// ---- What is found

static PyObject* pair_of(py_state* state, const sap_many_pair* pair) {
    PyObject* alignment = pair->found ? py_alignment(state, &pair->alignment, pair->rivals) : Py_NewRef(Py_None);
    if (!alignment) return NULL;
    return py_cloud_result("AlignedPair",
                           Py_BuildValue("(iiOOddN)", (int)pair->source, (int)pair->target,
                                         pair->found ? Py_True : Py_False, pair->kept ? Py_True : Py_False,
                                         pair->residual, pair->weight, alignment));
}

static PyObject* pairs_of(py_state* state, const told* t, const sap_many_pair* pairs) {
    PyObject* list = PyList_New((Py_ssize_t)t->pair_count);
    for (int64_t i = 0; list && i < t->pair_count; i++) {
        PyObject* pair = pair_of(state, &pairs[i]);
        if (!pair) Py_CLEAR(list);
        if (list) PyList_SetItem(list, (Py_ssize_t)i, pair);
    }
    return list;
}

// align_many(clouds, method, pairs, starts, iterations, tolerance, levels, max_distance, overlap, max_angle, one_to_one,
// kernel, kernel_scale, flatness, normals_k, least_overlap, scale, drop_nonfinite, threads, progress): (transforms,
// groups, pairs)
static PyObject* align_many(PyObject* module, PyObject* args) {
    py_state* state = PyModule_GetState(module);
    py_aligning given;
    PyObject *clouds, *pairs_given, *starts, *least_overlap, *scale, *progress;
    int threads;
    told t = {.options = {.pairs = NULL}};
    if (!py_parse(args, "OOOOOOOOOOOOOOOOOOiO:align_many", &clouds, &given.method, &pairs_given, &starts,
                  &given.iterations, &given.tolerance, &given.levels, &given.max_distance, &given.overlap,
                  &given.max_angle, &given.one_to_one, &given.kernel, &given.kernel_scale, &given.flatness,
                  &given.normals_k, &least_overlap, &scale, &given.drop_nonfinite, &threads, &progress) ||
        py_align_options(&given, &t.options.align) < 0 ||
        py_above(least_overlap, "least_overlap", &t.options.least_overlap) < 0 ||
        py_above(scale, "scale", &t.options.scale) < 0)
        return NULL;
    py_result groups = {0};
    double* transforms = NULL;
    sap_many_pair* pairs = NULL;
    py_device* device = NULL;
    int result = read_clouds(state, clouds, &t);
    if (result == 0) result = read_starts(state, starts, &t);
    if (result == 0) result = read_pairs(state, pairs_given, &t);
    if (result == 0) {
        device = py_device_for(state, Py_None, threads, NULL);
        transforms = malloc((size_t)t.count * 16 * sizeof *transforms + 1);
        pairs = calloc((size_t)t.pair_count + 1, sizeof *pairs);
        result = !device ? -1 : transforms && pairs ? 0 : no_memory();
    }
    if (result == 0) result = py_result_new(state, NULL, 'i', 4, 1, &t.count, &groups);
    const int32_t count = t.count < INT32_MAX ? (int32_t)t.count : INT32_MAX;
    py_call call;
    if (result == 0) result = py_call_begin(&call, device, NULL, progress);
    if (result == 0)
        result = py_call_end(
            &call, sap_cloud_align_many(device->device, t.clouds, count, &t.options, transforms, groups.data, pairs));
    PyObject* matrices = result == 0 ? py_matrices(state, transforms, 3, t.count, 4) : NULL;
    PyObject* list = matrices ? pairs_of(state, &t, pairs) : NULL;
    PyObject* made = list ? Py_BuildValue("(OOO)", matrices, groups.object, list) : NULL;
    Py_XDECREF(list);
    Py_XDECREF(matrices);
    py_result_release(&groups);
    free(transforms);
    free(pairs);
    release(&t);
    Py_XDECREF((PyObject*)device);
    return made;
}

int py_add_align(PyObject* module) {
    static PyMethodDef functions[] = {{"align_many", align_many, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
    return PyModule_AddFunctions(module, functions);
}
