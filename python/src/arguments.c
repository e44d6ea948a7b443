// Arguments of calls: which is which, and what simple ones say.
#include "sapwood_python.h"
#include <string.h>

// Puts one keyword argument in its place. Borrowed references.
static int place(const char* function, const char* const* names, PyObject* name, PyObject* value, PyObject** values) {
    for (int i = 0; names[i]; i++) {
        if (PyUnicode_CompareWithASCIIString(name, names[i]) != 0) continue;
        if (values[i]) {
            PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%s'", function, names[i]);
            return -1;
        }
        values[i] = value;
        return 0;
    }
    PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", function, name);
    return -1;
}

static int check_count(const char* function, Py_ssize_t count, int positional) {
    if (count <= positional) return 0;
    PyErr_Format(PyExc_TypeError, "%s() takes %d positional argument%s but %zd were given", function, positional,
                 positional == 1 ? "" : "s", count);
    return -1;
}

static int check_required(const char* function, const char* const* names, int required, PyObject* const* values) {
    for (int i = 0; i < required; i++) {
        if (values[i]) continue;
        PyErr_Format(PyExc_TypeError, "%s() missing required argument '%s'", function, names[i]);
        return -1;
    }
    return 0;
}

int py_arguments(const char* function, const char* const* names, int required, int positional, PyObject* const* args,
                 Py_ssize_t count, PyObject* keywords, PyObject** values) {
    for (int i = 0; names[i]; i++) values[i] = i < count && i < positional ? args[i] : NULL;
    if (check_count(function, count, positional) < 0) return -1;
    const Py_ssize_t named = keywords ? PyTuple_Size(keywords) : 0;
    for (Py_ssize_t i = 0; i < named; i++)
        if (place(function, names, PyTuple_GetItem(keywords, i), args[count + i], values) < 0) return -1;
    return check_required(function, names, required, values);
}

int py_arguments_of(const char* function, const char* const* names, int required, int positional, PyObject* args,
                    PyObject* keywords, PyObject** values) {
    const Py_ssize_t count = PyTuple_Size(args);
    if (check_count(function, count, positional) < 0) return -1;
    for (int i = 0; names[i]; i++) values[i] = i < count ? PyTuple_GetItem(args, i) : NULL;
    PyObject *name, *value;
    Py_ssize_t position = 0;
    while (keywords && PyDict_Next(keywords, &position, &name, &value))
        if (place(function, names, name, value, values) < 0) return -1;
    return check_required(function, names, required, values);
}

void py_value_error(const char* name) {
    const bool value = PyErr_ExceptionMatches(PyExc_ValueError) || PyErr_ExceptionMatches(PyExc_OverflowError);
    if (!value || PyErr_ExceptionMatches(py_argument_error)) return;
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    if (name)
        PyErr_Format(py_argument_error, "%s: %S", name, error ? error : type);
    else
        PyErr_Format(py_argument_error, "%S", error ? error : type);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
}

int py_parse(PyObject* args, const char* format, ...) {
    va_list list;
    va_start(list, format);
    const int parsed = PyArg_VaParse(args, format, list);
    va_end(list);
    if (!parsed) py_value_error(NULL);
    return parsed;
}

static bool given(PyObject* value) { return value && value != Py_None; }

// A TypeError that says what an argument must be and what it is.
static int refuse(const char* name, const char* wanted, PyObject* value) {
    PyObject* type = PyType_GetName(Py_TYPE(value));
    if (type) PyErr_Format(PyExc_TypeError, "%s must be %s, not %U", name, wanted, type);
    Py_XDECREF(type);
    return -1;
}

int py_bool(PyObject* value, const char* name, bool* result) {
    if (!given(value)) return 0;
    const int truth = PyObject_IsTrue(value);
    if (truth < 0) {
        PyErr_Clear();
        return refuse(name, "True or False", value);
    }
    *result = truth;
    return 0;
}

int py_int64(PyObject* value, const char* name, int64_t least, int64_t most, int64_t* result) {
    if (!given(value)) return 0;
    PyObject* index = PyNumber_Index(value);
    if (!index) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
        PyErr_Clear();
        return refuse(name, "an integer", value);
    }
    int overflow;
    const long long number = PyLong_AsLongLongAndOverflow(index, &overflow);
    if (overflow || number < least || number > most) {
        PyErr_Format(py_argument_error, "%s must be from %lld to %lld, not %S", name, (long long)least, (long long)most,
                     index);
        Py_DECREF(index);
        return -1;
    }
    Py_DECREF(index);
    *result = number;
    return 0;
}

int py_int32(PyObject* value, const char* name, int64_t least, int64_t most, int32_t* result) {
    int64_t number = *result;
    if (py_int64(value, name, least, most, &number) < 0) return -1;
    *result = (int32_t)number;
    return 0;
}

int py_double(PyObject* value, const char* name, double* result) {
    if (!given(value)) return 0;
    const double number = PyFloat_AsDouble(value);
    if (number == -1 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            return refuse(name, "a number", value);
        }
        py_value_error(name);
        return -1;
    }
    *result = number;
    return 0;
}

int py_number(PyObject* value, const char* name, double* result) {
    return given(value) ? py_double(value, name, result) : refuse(name, "a number", value);
}

int py_word(PyObject* value, const char* name, const char* const* words, int32_t* result) {
    if (!given(value)) return 0;
    if (!PyUnicode_Check(value)) return refuse(name, "a string", value);
    char list[200] = "";
    for (int i = 0; words[i]; i++) {
        if (PyUnicode_CompareWithASCIIString(value, words[i]) == 0) {
            *result = i;
            return 0;
        }
        const size_t used = strlen(list);
        PyOS_snprintf(list + used, sizeof list - used, "%s'%s'", i ? ", " : "", words[i]);
    }
    PyErr_Format(py_argument_error, "%s must be one of %s, not %R", name, list, value);
    return -1;
}

PyObject* py_path(PyObject* value) {
    PyObject* bytes = NULL;
    if (PyUnicode_FSConverter(value, &bytes)) return bytes;
    py_value_error("path");
    return NULL;
}
