// Stream compaction. Names, defaults and documentation are in sapwood/stream.py, which also makes room for the results:
// items are any bytes here.
#include "sapwood_python.h"

static py_device* host_device(py_state* state, PyObject* where, int threads) {
    return py_device_for(state, where, threads, NULL);
}

static void release_buffers(Py_buffer* buffers, int count) {
    for (int i = 0; i < count; i++)
        if (buffers[i].obj) PyBuffer_Release(&buffers[i]);
}

// How many items a buffer holds, or -1 and an exception.
static int64_t items_in(const Py_buffer* items, Py_ssize_t bytes) {
    if (bytes > 0 && items->len % bytes == 0) return items->len / bytes;
    PyErr_SetString(py_argument_error, "the array is not a whole number of items");
    return -1;
}

// kept(keep): how many flags are not 0
static PyObject* count_kept(PyObject* module, PyObject* object) {
    (void)module;
    Py_buffer keep = {0};
    int64_t count = 0;
    if (PyObject_GetBuffer(object, &keep, PyBUF_SIMPLE) < 0) return NULL;
    const uint8_t* flags = keep.buf;
    Py_BEGIN_ALLOW_THREADS for (Py_ssize_t i = 0; i < keep.len; i++) count += flags[i] != 0;
    Py_END_ALLOW_THREADS PyBuffer_Release(&keep);
    return PyLong_FromLongLong(count);
}

// compact(items, item_bytes, keep, out, device, threads, progress): buffers; out has room for the items that are kept.
static PyObject* compact(PyObject* module, PyObject* args) {
    py_state* state = PyModule_GetState(module);
    PyObject *objects[3], *where, *progress;
    Py_ssize_t bytes;
    int threads;
    if (!py_parse(args, "OnOOOiO:compact", &objects[0], &bytes, &objects[1], &objects[2], &where, &threads, &progress))
        return NULL;
    Py_buffer buffers[3] = {0};
    bool taken = true;
    for (int i = 0; taken && i < 3; i++)
        taken = PyObject_GetBuffer(objects[i], &buffers[i], i == 2 ? PyBUF_WRITABLE : PyBUF_SIMPLE) == 0;
    int64_t count = taken ? items_in(&buffers[0], bytes) : -1, kept = 0;
    if (count >= 0 && buffers[1].len != count) {
        PyErr_Format(py_argument_error, "keep must have one flag for each of the %lld items; it has %zd",
                     (long long)count, buffers[1].len);
        count = -1;
    }
    const uint8_t* flags = buffers[1].buf;
    for (int64_t i = 0; i < count; i++) kept += flags[i] != 0; // another thread may have changed them since
    if (count >= 0 && buffers[2].len < kept * bytes) {
        PyErr_SetString(py_argument_error, "keep was changed during the call");
        count = -1;
    }
    py_device* device = count >= 0 ? host_device(state, where, threads) : NULL;
    py_call call;
    int result = device ? py_call_begin(&call, device, NULL, progress) : -1;
    if (result == 0)
        result = py_call_end(
            &call, sap_compact(device->device, buffers[0].buf, count, (size_t)bytes, flags, buffers[2].buf, &kept));
    Py_XDECREF((PyObject*)device);
    release_buffers(buffers, 3);
    return result < 0 ? NULL : PyLong_FromLongLong(kept);
}

// unique(items, item_bytes, out, device, threads, progress): buffers, out as large as items
static PyObject* unique(PyObject* module, PyObject* args) {
    py_state* state = PyModule_GetState(module);
    PyObject *objects[2], *where, *progress;
    Py_ssize_t bytes;
    int threads;
    if (!py_parse(args, "OnOOiO:unique", &objects[0], &bytes, &objects[1], &where, &threads, &progress)) return NULL;
    Py_buffer buffers[2] = {0};
    bool taken = PyObject_GetBuffer(objects[0], &buffers[0], PyBUF_SIMPLE) == 0 &&
                 PyObject_GetBuffer(objects[1], &buffers[1], PyBUF_WRITABLE) == 0;
    int64_t count = taken ? items_in(&buffers[0], bytes) : -1, kept = 0;
    if (count >= 0 && buffers[1].len < buffers[0].len) {
        PyErr_SetString(py_argument_error, "out is too small");
        count = -1;
    }
    py_device* device = count >= 0 ? host_device(state, where, threads) : NULL;
    py_call call;
    int result = device ? py_call_begin(&call, device, NULL, progress) : -1;
    if (result == 0)
        result =
            py_call_end(&call, sap_unique(device->device, buffers[0].buf, count, (size_t)bytes, buffers[1].buf, &kept));
    Py_XDECREF((PyObject*)device);
    release_buffers(buffers, 2);
    return result < 0 ? NULL : PyLong_FromLongLong(kept);
}

// ---- On a GPU

static const char numbers[] = "f4f8i4i8i1u1b1";

static int64_t row_bytes(const py_array* items) {
    int64_t bytes = items->bytes;
    for (int i = 1; i < items->ndim; i++) bytes *= items->shape[i];
    return bytes;
}

// compact_gpu(items, keep, kept, threads): arrays on a GPU, of which `kept` flags are not 0
static PyObject* compact_gpu(PyObject* module, PyObject* args) {
    py_state* state = PyModule_GetState(module);
    PyObject *object, *mask;
    long long kept;
    int threads;
    if (!py_parse(args, "OOLi:compact_gpu", &object, &mask, &kept, &threads)) return NULL;
    py_array items = {0}, keep = {0};
    py_device* device = NULL;
    PyObject* result = NULL;
    void* out;
    int done = -1;
    if (py_array_take(state, object, "array", numbers, 1, 3, PY_EXACT, NULL, &items) == 0)
        device = py_device_for(state, NULL, threads, &items);
    if (device && py_array_take(state, mask, "keep", "b1u1", 1, 1, PY_EXACT, device, &keep) == 0) {
        const int64_t shape[3] = {kept, items.shape[1], items.shape[2]};
        if (keep.shape[0] != items.shape[0] || keep.on_gpu != items.on_gpu)
            PyErr_SetString(py_argument_error, "keep must have one flag for each item, where the array lies");
        else
            result = py_array_new(state, &items, items.kind, items.bytes, items.ndim, shape, &out);
    }
    py_call call;
    if (result && py_call_begin(&call, device, &items, NULL) == 0) {
        int64_t count;
        done = py_call_end(&call, sap_compact(device->device, items.data, items.shape[0], (size_t)row_bytes(&items),
                                              keep.data, out, &count));
    }
    py_array_release(&keep);
    py_array_release(&items);
    Py_XDECREF((PyObject*)device);
    if (done < 0) Py_CLEAR(result);
    return result;
}

// unique_gpu(items, threads): (an array of as many items, how many of them count)
static PyObject* unique_gpu(PyObject* module, PyObject* args) {
    py_state* state = PyModule_GetState(module);
    PyObject* object;
    int threads;
    if (!py_parse(args, "Oi:unique_gpu", &object, &threads)) return NULL;
    py_array items = {0};
    if (py_array_take(state, object, "array", numbers, 1, 3, PY_EXACT, NULL, &items) < 0) return NULL;
    void* out;
    int64_t count = 0;
    int done = -1;
    py_device* device = py_device_for(state, NULL, threads, &items);
    PyObject* array =
        device ? py_array_new(state, &items, items.kind, items.bytes, items.ndim, items.shape, &out) : NULL;
    py_call call;
    if (array && py_call_begin(&call, device, &items, NULL) == 0)
        done = py_call_end(
            &call, sap_unique(device->device, items.data, items.shape[0], (size_t)row_bytes(&items), out, &count));
    PyObject* result = done == 0 ? Py_BuildValue("(OL)", array, (long long)count) : NULL;
    Py_XDECREF(array);
    Py_XDECREF((PyObject*)device);
    py_array_release(&items);
    return result;
}

int py_add_stream(PyObject* module, py_state* state) {
    (void)state;
    static PyMethodDef functions[] = {
        {"kept", count_kept, METH_O, NULL},
        {"compact", compact, METH_VARARGS, NULL},
        {"unique", unique, METH_VARARGS, NULL},
        {"compact_gpu", compact_gpu, METH_VARARGS, NULL},
        {"unique_gpu", unique_gpu, METH_VARARGS, NULL},
        {NULL, NULL, 0, NULL},
    };
    return PyModule_AddFunctions(module, functions);
}
