// Calls of the library: the GIL, signals, progress, and what to raise.
//
// The library's callbacks come on the calling thread, so what they must know of the call is in memory of the thread.
#include "call.h"
#include <time.h>

enum { MILLISECOND = 1000000, SENTENCE = 512, NOTES = 2048 };
static const int64_t between_signals = 50 * (int64_t)MILLISECOND; // taking the GIL may take 5 ms where others want it
static const int64_t between_reports = 20 * (int64_t)MILLISECOND;

static _Thread_local py_call* current;
static _Thread_local char last[SENTENCE]; // sentence of the library's log
static _Thread_local char notes[NOTES];   // what a call could do without, a line each

static int32_t inside; // threads that take the GIL in the midst of a call
static bool ending;    // no more of them may, because the interpreter ends

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 * MILLISECOND + time.tv_nsec;
}

void py_log(void* user, sap_status status, const char* sentence) {
    (void)user;
    const size_t used = strlen(notes);
    if (status != SAP_OK)
        PyOS_snprintf(last, sizeof last, "%s", sentence);
    else if (used + strlen(sentence) + 2 < sizeof notes)
        PyOS_snprintf(notes + used, sizeof notes - used, "%s%s", used ? "\n" : "", sentence);
}

// Warns of what the library said of a call that did what it should. -1 and an exception if warnings are errors.
static int warn(void) {
    int result = 0;
    PyObject* text = PyUnicode_DecodeUTF8(notes, (Py_ssize_t)strlen(notes), "replace");
    PyObject* lines = text ? PyUnicode_Splitlines(text, 0) : NULL;
    notes[0] = 0;
    for (Py_ssize_t i = 0; lines && result == 0 && i < PyList_Size(lines); i++)
        result = PyErr_WarnFormat(PyExc_UserWarning, 2, "%U", PyList_GetItem(lines, i));
    if (!lines) result = -1;
    Py_XDECREF(lines);
    Py_XDECREF(text);
    return result;
}

// Whether the call goes on. With the GIL held.
static bool report(py_call* call, double done) {
    if (PyErr_CheckSignals() < 0) return false;
    if (!call->progress) return true;
    PyObject* answer = PyObject_CallFunction(call->progress, "d", done);
    const bool go_on = answer && answer != Py_False;
    Py_XDECREF(answer);
    return go_on;
}

bool py_progress(void* user, double done) {
    (void)user;
    py_call* call = current;
    if (!call || !call->thread) return true;
    if (call->stopped) return false;
    const int64_t time = now();
    if (time < call->next && (done < 1 || !call->progress)) return true;
    // A thread that waits for the GIL when the interpreter ends is ended there, but the library's work must not be left.
    __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&ending, __ATOMIC_SEQ_CST)) {
        PyEval_RestoreThread(call->thread);
        current = NULL; // the callable may make calls of its own
        call->stopped = !report(call, done);
        current = call;
        call->thread = PyEval_SaveThread();
    }
    __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
    call->next = now() + (call->progress ? between_reports : between_signals);
    return !call->stopped;
}

PyObject* py_at_exit(PyObject* module, PyObject* unused) {
    (void)module;
    (void)unused;
    __atomic_store_n(&ending, true, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&inside, __ATOMIC_SEQ_CST) > 0) {
        Py_BEGIN_ALLOW_THREADS nanosleep(&(struct timespec){.tv_nsec = MILLISECOND}, NULL);
        Py_END_ALLOW_THREADS
    }
    Py_RETURN_NONE;
}

int py_call_begin(py_call* call, py_device* device, const py_array* like, PyObject* progress) {
    if (py_device_check(device) < 0) return -1;
    if (progress == Py_None) progress = NULL;
    if (progress && !PyCallable_Check(progress)) {
        PyErr_SetString(PyExc_TypeError, "progress must be a function that takes a number from 0 to 1");
        return -1;
    }
    *call = (py_call){.device = device, .progress = progress, .outer = current};
    call->wait = device->processor == SAP_CUDA && like && like->on_gpu && !like->in_stream;
    device->calls++;
    last[0] = notes[0] = 0;
    call->next = now() + (progress ? between_reports : between_signals);
    current = call;
    call->thread = PyEval_SaveThread();
    return 0;
}

void py_call_prepare(py_call* call) {
    py_state* state = call->device->state;
    if (!call->wait || !state->gpu) return;
    PyEval_RestoreThread(call->thread);
    current = NULL; // it may make calls of its own
    PyObject* done = PyErr_Occurred() ? NULL : PyObject_CallMethod(state->gpu, "prepare", NULL);
    Py_XDECREF(done);
    current = call;
    call->thread = PyEval_SaveThread();
}

int py_call_end(py_call* call, sap_status status) {
    if (status == SAP_OK && call->wait) status = sap_device_wait(call->device->device);
    PyThreadState* thread = call->thread;
    call->thread = NULL;
    PyEval_RestoreThread(thread);
    current = call->outer;
    if (call->device->calls > 0) call->device->calls--; // a child of a fork has begun to count anew
    if (PyErr_Occurred()) return -1;
    if (status == SAP_OK) return notes[0] ? warn() : 0;
    py_raise(call->device->state, status);
    return -1;
}

PyObject* py_raise(py_state* state, sap_status status) {
    if (PyErr_Occurred()) return NULL;
    const bool known = status > SAP_OK && status <= SAP_ERROR_CANCELLED;
    const char* text = last[0] ? last : sap_status_string(status);
    // What files are called, and say, stays as it is.
    char said[SENTENCE];
    if (known && status != SAP_ERROR_IO && status != SAP_ERROR_FORMAT) {
        py_translate(text, said, sizeof said);
        text = said;
    }
    PyObject* message = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace"); // it may quote a path
    if (message) PyErr_SetObject(state->errors[known ? status : 0], message);
    Py_XDECREF(message);
    last[0] = 0;
    return NULL;
}
