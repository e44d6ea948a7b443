// The exceptions: one for each status of the library, all of them sapwood.Error.
#include "sapwood_python.h"

typedef struct kind {
    sap_status status;
    const char* name; // with "sapwood." before it
    const char* base; // Python's own exception that it is as well
    const char* doc;
} kind;

static const kind kinds[] = {
    {SAP_ERROR_ARGUMENT, "sapwood.ArgumentError", "ValueError", "An argument is not what the call takes."},
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
    return result;
}
