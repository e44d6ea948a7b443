// What devices and calls know of one another.
#ifndef SAPWOOD_PYTHON_CALL_H
#define SAPWOOD_PYTHON_CALL_H

#include "sapwood_python.h"
#include <string.h>

// The library's callbacks, for all devices.
void py_log(void* user, sap_status status, const char* sentence);
bool py_progress(void* user, double done);

/** Called when the interpreter is about to end. */
PyObject* py_at_exit(PyObject* module, PyObject* unused);

#endif
