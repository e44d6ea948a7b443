// Devices, which calls share, and what happens to them when the process forks.
#include "call.h"
#include "sapwood_python.h"
#include <pthread.h>

enum { IDLE_DEVICES = 8 }; // open devices that nothing refers to

static uint32_t forks; // of the process, ever: written by a child before it has a second thread

static void count_fork(void) { forks++; }
uint32_t py_forks(void) { return forks; }

static void watch_forks(void) { pthread_atfork(NULL, NULL, count_fork); }

static void device_dealloc(PyObject* object) {
    py_device* self = (py_device*)object;
    PyTypeObject* type = Py_TYPE(object);
    // What a child has of its parent's GPU, or of memory that a thread of its parent was changing, is left alone.
    if (py_device_usable(self)) {
        sap_device* device = self->device;
        Py_BEGIN_ALLOW_THREADS sap_device_close(device); // which waits for what is in the stream
        Py_END_ALLOW_THREADS Py_XDECREF(self->keeper);
    }
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

bool py_device_usable(const py_device* device) {
    return device->forks == forks || (device->processor == SAP_CPU && !device->busy_at_fork);
}

int py_device_check(const py_device* device) {
    if (py_device_usable(device)) return 0;
    PyErr_SetString(PyExc_RuntimeError,
                    device->processor == SAP_CPU
                        ? "this process was forked while another thread was at work on this device: in the child, "
                          "what was made with it cannot be used"
                        : "this process was forked from one that used the GPU: CUDA does not work in such a child, "
                          "start it with multiprocessing's method 'spawn'");
    return -1;
}

// Called in the child after a fork, by the only thread there is.
static PyObject* after_fork(PyObject* module, PyObject* unused) {
    (void)unused;
    py_state* state = PyModule_GetState(module);
    const Py_ssize_t count = PyList_Size(state->devices);
    for (Py_ssize_t i = 0; i < count; i++) {
        py_device* device = (py_device*)PyList_GetItem(state->devices, i);
        if (device->calls > 0) device->busy_at_fork = true;
        device->calls = 0;
    }
    Py_RETURN_NONE;
}

// Closes the devices that nothing has used for longest, but for some.
static void close_idle(py_state* state) {
    int idle = 0;
    for (Py_ssize_t i = PyList_Size(state->devices); i-- > 0;) {
        if (i >= PyList_Size(state->devices)) continue; // what is closed may run Python
        PyObject* device = PyList_GetItem(state->devices, i);
        const bool usable = py_device_usable((py_device*)device);
        if (Py_REFCNT(device) > 1 || (usable && ++idle <= IDLE_DEVICES)) continue;
        if (PySequence_DelItem(state->devices, i) < 0) PyErr_Clear();
    }
}

py_device* py_device_open(py_state* state, sap_processor processor, int32_t ordinal, int32_t threads, void* stream,
                          PyObject* keeper) {
    for (Py_ssize_t i = PyList_Size(state->devices); i-- > 0;) {
        py_device* d = (py_device*)PyList_GetItem(state->devices, i);
        if (d->processor != processor || d->ordinal != ordinal || d->threads != threads || d->stream != stream ||
            !py_device_usable(d))
            continue;
        Py_INCREF((PyObject*)d);
        // The last of the list is the one used last.
        if (i + 1 < PyList_Size(state->devices) &&
            (PySequence_DelItem(state->devices, i) < 0 || PyList_Append(state->devices, (PyObject*)d) < 0)) {
            Py_DECREF(d);
            return NULL;
        }
        return d;
    }
    allocfunc allocate = PyType_GetSlot(state->device_type, Py_tp_alloc);
    py_device* self = (py_device*)allocate(state->device_type, 0);
    if (!self) return NULL;
    self->state = state;
    self->processor = processor;
    self->ordinal = ordinal;
    self->threads = threads;
    self->stream = stream;
    self->keeper = Py_XNewRef(keeper);
    self->forks = forks;
    const sap_device_options options = {
        .processor = processor,
        .ordinal = ordinal,
        .threads = threads,
        .stream = stream,
        .log = py_log,
        .progress = py_progress,
    };
    sap_status status;
    Py_BEGIN_ALLOW_THREADS // the first device on a GPU takes a while
        status = sap_device_open(&options, &self->device);
    Py_END_ALLOW_THREADS if (status != SAP_OK) {
        self->device = NULL;
        py_raise(state, status);
        Py_DECREF(self);
        return NULL;
    }
    close_idle(state);
    if (PyList_Append(state->devices, (PyObject*)self) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return self;
}

int py_stream_wait(py_state* state, int32_t ordinal, void* stream) {
    const sap_device_options options = {.processor = SAP_CUDA, .ordinal = ordinal, .stream = stream, .log = py_log};
    sap_device* device;
    sap_status status;
    Py_BEGIN_ALLOW_THREADS status = sap_device_open(&options, &device);
    if (status == SAP_OK) {
        status = sap_device_wait(device);
        sap_device_close(device);
    }
    Py_END_ALLOW_THREADS if (status == SAP_OK) return 0;
    py_raise(state, status);
    return -1;
}

PyObject* py_device_name(const py_device* device) {
    if (device->processor == SAP_CPU) return PyUnicode_FromString("cpu");
    return PyUnicode_FromFormat("cuda:%d", (int)device->ordinal);
}

int py_device_parse(PyObject* value, sap_processor* processor, int32_t* ordinal) {
    *processor = SAP_AUTO;
    *ordinal = 0;
    if (!value || value == Py_None) return 0;
    PyObject* text = PyObject_Str(value); // torch.device('cuda:1') is 'cuda:1' as well
    if (!text) return -1;
    int result = 0;
    Py_ssize_t length;
    const char* name = PyUnicode_AsUTF8AndSize(text, &length);
    if (!name) {
        Py_DECREF(text);
        return -1;
    }
    if (!strcmp(name, "cpu")) {
        *processor = SAP_CPU;
    } else if (!strcmp(name, "cuda")) {
        *processor = SAP_CUDA;
    } else if (!strncmp(name, "cuda:", 5) && length > 5 && length < 10 &&
               strspn(name + 5, "0123456789") == (size_t)length - 5) {
        *processor = SAP_CUDA;
        for (const char* digit = name + 5; *digit; digit++) *ordinal = *ordinal * 10 + (*digit - '0');
    } else {
        PyErr_Format(py_argument_error, "device must be 'cpu', 'cuda' or 'cuda:N', not %R", value);
        result = -1;
    }
    Py_DECREF(text);
    return result;
}

py_device* py_device_for(py_state* state, PyObject* asked, int32_t threads, const py_array* array) {
    sap_processor processor;
    int32_t ordinal;
    if (py_device_parse(asked, &processor, &ordinal) < 0) return NULL;
    if (array && array->on_gpu) {
        if (processor == SAP_CPU || (processor == SAP_CUDA && ordinal != array->ordinal)) {
            PyErr_Format(py_argument_error, "the array lies on cuda:%d, which %R cannot read: copy it there first",
                         (int)array->ordinal, asked);
            return NULL;
        }
        return py_device_open(state, SAP_CUDA, array->ordinal, threads, array->stream, array->keeper);
    }
    // In a stream of its own: then what has no queries on the GPU is found in host memory.
    if (processor == SAP_CUDA) return py_device_open(state, SAP_CUDA, ordinal, threads, NULL, NULL);
    return py_device_open(state, SAP_CPU, 0, threads, NULL, NULL);
}

// ---- Functions of the module

static PyObject* trim(PyObject* module, PyObject* unused) {
    (void)unused;
    py_state* state = PyModule_GetState(module);
    for (Py_ssize_t i = PyList_Size(state->devices); i-- > 0;) {
        const py_device* device = (py_device*)PyList_GetItem(state->devices, i);
        if (py_device_usable(device)) sap_device_trim(device->device);
    }
    return state->gpu ? PyObject_CallMethod(state->gpu, "trim", NULL) : Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
    {"trim", trim, METH_NOARGS,
     "trim()\n--\n\n"
     "Frees the memory that calls keep for the calls to come.\n\n"
     ">>> import sapwood\n>>> sapwood.trim()"},
    {"_after_fork", after_fork, METH_NOARGS, NULL},
    {"_at_exit", py_at_exit, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

// Asks a function of the standard library to call one of ours.
static int call_later(PyObject* module, const char* where, const char* how, const char* keyword, const char* function) {
    PyObject* from = PyImport_ImportModule(where);
    PyObject* with = from ? PyObject_GetAttrString(from, how) : NULL;
    PyObject* ours = with ? PyObject_GetAttrString(module, function) : NULL;
    PyObject* args = !ours ? NULL : keyword ? PyTuple_New(0) : PyTuple_Pack(1, ours);
    PyObject* keywords = args && keyword ? Py_BuildValue("{s:O}", keyword, ours) : NULL;
    PyObject* result = args && (keywords || !keyword) ? PyObject_Call(with, args, keywords) : NULL;
    const int failed = result ? 0 : -1;
    Py_XDECREF(result);
    Py_XDECREF(keywords);
    Py_XDECREF(args);
    Py_XDECREF(ours);
    Py_XDECREF(with);
    Py_XDECREF(from);
    return failed;
}

int py_add_devices(PyObject* module, py_state* state) {
    static pthread_once_t watched = PTHREAD_ONCE_INIT;
    PyType_Slot slots[] = {{Py_tp_dealloc, device_dealloc}, {0, NULL}};
    PyType_Spec spec = {.name = "sapwood._sapwood.Device",
                        .basicsize = sizeof(py_device),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                        .slots = slots};
    pthread_once(&watched, watch_forks);
    state->devices = PyList_New(0);
    state->device_type = (PyTypeObject*)PyType_FromModuleAndSpec(module, &spec, NULL);
    if (!state->devices || !state->device_type || PyModule_AddFunctions(module, functions) < 0) return -1;
    if (call_later(module, "atexit", "register", NULL, "_at_exit") < 0) return -1;
#if !defined(_WIN32)
    if (call_later(module, "os", "register_at_fork", "after_in_child", "_after_fork") < 0) return -1;
#endif
    return 0;
}
