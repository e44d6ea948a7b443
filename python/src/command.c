// The command line in this process: python -m sapwood.
#include "sapwood_python.h"

#include <stdlib.h>

// The main of cli/main.c, under another name (python/CMakeLists.txt).
int sap_cli_main(int argc, char** argv);

PyDoc_STRVAR(command_doc, "_command(arguments, /)\n--\n\n"
                          "Runs the command line with a list of bytes, the first of them its name; returns its exit "
                          "status.\nFor once in a process that does nothing else: it changes how signals are handled.");

static PyObject* command(PyObject* module, PyObject* arguments) {
    (void)module;
    const Py_ssize_t count = PyList_Size(arguments);
    if (count < 0) return NULL;
    char** words = calloc((size_t)count + 1, sizeof *words);
    if (!words) return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count; i++) {
        words[i] = PyBytes_AsString(PyList_GetItem(arguments, i));
        if (!words[i]) {
            free(words);
            return NULL;
        }
    }
    PyThreadState* thread = PyEval_SaveThread();
    const int result = sap_cli_main((int)count, words);
    PyEval_RestoreThread(thread);
    free(words);
    return PyLong_FromLong(result);
}

int py_add_command(PyObject* module, py_state* state) {
    static PyMethodDef functions[] = {{"_command", command, METH_O, command_doc}, {0}};
    (void)state;
    return PyModule_AddFunctions(module, functions);
}
