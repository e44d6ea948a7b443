// The exceptions: one for each status of the library, all of them sapwood.Error. And what they say.
#include "sapwood_python.h"
#include <ctype.h>
#include <string.h>

PyObject* py_argument_error;

typedef struct kind {
    sap_status status;
    const char* name; // with "sapwood." before it
    const char* base; // Python's own exception that it is as well
    const char* doc;
} kind;

static const kind kinds[] = {
    {SAP_ERROR_ARGUMENT, "sapwood.ArgumentError", "ValueError", "A value is not one that the call takes."},
    {SAP_ERROR_RANGE, "sapwood.RangeError", "ValueError", "More than 2**31 - 1 elements, or a size that overflows."},
    {SAP_ERROR_NOT_FINITE, "sapwood.NotFiniteError", "ValueError", "A coordinate is NaN, infinite or too large."},
    {SAP_ERROR_MEMORY, "sapwood.OutOfMemoryError", "MemoryError", "There is not enough memory."},
    {SAP_ERROR_DEVICE_MEMORY, "sapwood.DeviceMemoryError", "MemoryError", "The GPU's memory is exhausted."},
    {SAP_ERROR_NO_DEVICE, "sapwood.NoDeviceError", "RuntimeError", "This machine or this build has no such device."},
    {SAP_ERROR_DEVICE_LOST, "sapwood.DeviceLostError", "RuntimeError", "The GPU does not work any more."},
    {SAP_ERROR_UNSUPPORTED, "sapwood.UnsupportedError", "NotImplementedError", "This device or tree cannot do it."},
    {SAP_ERROR_IO, "sapwood.FileError", "OSError", "A file could not be opened, read or written."},
    {SAP_ERROR_FORMAT, "sapwood.FormatError", "ValueError", "Bytes are not what they claim to be."},
    {SAP_ERROR_CANCELLED, "sapwood.CancelledError", "Exception", "The progress function returned False."},
};

// ---- Sentences

// What the library calls things, and what Python does. Those that end with a dot are structures, whose members are
// arguments here.
static const struct {
    const char *c, *python;
} names[] = {
    {"options.processor", "device"},
    {"options.ordinal", "device"},
    {"options.cost", "heuristic"},
    {"options.real_bits", "dtype"},
    {"options.is_signed", "signed"},
    {"options.view_count", "views"},
    {"options.view_times", "view_times"},
    {"options.", ""},
    {"search.without_ids", "exclude"},
    {"search.radii", "radius"},
    {"search.", ""},
    {"scene.file", "mesh"},
    {"scene.", ""},
    {"volume.values", "volume"},
    {"volume.", ""},
    {"queries.dims", "queries.shape[-1]"},
    {"queries.count", "queries.shape[0]"},
    {"points.dims", "points.shape[-1]"},
    {"points.count", "points.shape[0]"},
    {"lower.dims", "lower.shape[-1]"},
    {"upper.dims", "upper.shape[-1]"},
    {"lower.count", "lower.shape[0]"},
    {"upper.count", "upper.shape[0]"},
    {"source.dims", "source.shape[-1]"},
    {"weights_a", "weights"},
    {"weights_b", "other_weights"},
    {"SAP_METRIC_LP", "the metric 'lp'"},
    {"SAP_WALK_AUTO", "the usual walk"},
    {"sap_", ""},
};

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

void py_translate(const char* sentence, char* said, size_t size) {
    size_t used = 0;
    for (const char* s = sentence; *s && used + 1 < size;) {
        const char* put = NULL;
        for (size_t i = 0; !put && (s == sentence || !in_word(s[-1])) && i < sizeof names / sizeof *names; i++) {
            const size_t length = strlen(names[i].c);
            const char last = names[i].c[length - 1];
            if (strncmp(s, names[i].c, length) || (last != '.' && last != '_' && in_word(s[length]))) continue;
            put = names[i].python;
            s += length;
        }
        if (put)
            used += (size_t)PyOS_snprintf(said + used, size - used, "%s", put);
        else
            said[used++] = *s++;
        if (used >= size) used = size - 1;
    }
    said[used] = 0;
}

// ---- Types

// Adds an exception type, which has its status as an attribute, to the module.
static PyObject* add(PyObject* module, const kind* k, PyObject* bases) {
    PyObject* attributes = Py_BuildValue("{s:i}", "status", (int)k->status);
    PyObject* type = attributes ? PyErr_NewExceptionWithDoc(k->name, k->doc, bases, attributes) : NULL;
    Py_XDECREF(attributes);
    if (type && PyModule_AddObjectRef(module, k->name + sizeof "sapwood." - 1, type) < 0) Py_CLEAR(type);
    return type;
}

int py_add_errors(PyObject* module, py_state* state) {
    const kind base = {SAP_OK, "sapwood.Error", "", "What the library says went wrong; status is its number."};
    state->errors[0] = add(module, &base, NULL);
    PyObject* builtins = state->errors[0] ? PyImport_ImportModule("builtins") : NULL;
    if (!builtins) return -1;
    int result = 0;
    for (size_t i = 0; !result && i < sizeof kinds / sizeof *kinds; i++) {
        PyObject* other = PyObject_GetAttrString(builtins, kinds[i].base);
        const bool own = kinds[i].status == SAP_ERROR_CANCELLED; // is nothing that Python has a name for
        PyObject* bases = !other ? NULL
                          : own  ? PyTuple_Pack(1, state->errors[0])
                                 : PyTuple_Pack(2, state->errors[0], other);
        state->errors[kinds[i].status] = bases ? add(module, &kinds[i], bases) : NULL;
        if (!state->errors[kinds[i].status]) result = -1;
        Py_XDECREF(bases);
        Py_XDECREF(other);
    }
    Py_DECREF(builtins);
    py_argument_error = state->errors[SAP_ERROR_ARGUMENT]; // which the state holds
    return result;
}
