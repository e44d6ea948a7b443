// The module sapwood._sapwood: its state, and the parts that it is made of.
#include "sapwood_python.h"

static struct PyModuleDef definition;

py_state* py_state_of(PyTypeObject* type) {
    for (PyTypeObject* t = type; t; t = PyType_GetSlot(t, Py_tp_base)) {
        if (!(PyType_GetFlags(t) & Py_TPFLAGS_HEAPTYPE)) break; // of those under ours none is static
        PyObject* module = PyType_GetModule(t);
        if (module && PyModule_GetDef(module) == &definition) return PyModule_GetState(module);
        PyErr_Clear();
    }
    PyErr_SetString(PyExc_TypeError, "this is no type of Sapwood");
    return NULL;
}

bool py_numpy(py_state* state) {
    if (state->numpy) return true;
    if (state->numpy_missing) return false;
    PyObject* numpy = PyImport_ImportModule("numpy");
    PyObject* empty = numpy ? PyObject_GetAttrString(numpy, "empty") : NULL;
    PyObject* asarray = empty ? PyObject_GetAttrString(numpy, "asarray") : NULL;
    if (!asarray) {
        PyErr_Clear();
        state->numpy_missing = true;
        Py_XDECREF(numpy);
        Py_XDECREF(empty);
        return false;
    }
    state->numpy_empty = empty;
    state->numpy_asarray = asarray;
    state->numpy = numpy;
    return true;
}

static int fill(PyObject* module) {
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        PyErr_SetString(PyExc_ImportError, "sapwood works in the main interpreter only, not in sub-interpreters");
        return -1;
    }
    py_state* state = PyModule_GetState(module);
    if (PyModule_AddStringConstant(module, "__version__", sap_version()) < 0) return -1;
    int (*const parts[])(PyObject*, py_state*) = {
        py_add_errors,  py_add_devices, py_add_memory,    py_add_tree,  py_add_set,
        py_add_kdtree,  py_add_mesh,    py_add_instances, py_add_files, py_add_stream,
        py_add_surface, py_add_render,  py_add_voronoi,   py_add_cloud, py_add_command,
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i](module, state) < 0) return -1;
    return 0;
}

// Every object that the state refers to.
static int each(py_state* s, int (*visit)(PyObject**, void*), void* context) {
    PyObject** const objects[] = {
        &s->numpy,
        &s->numpy_empty,
        &s->numpy_asarray,
        &s->gpu,
        &s->devices,
        (PyObject**)&s->device_type,
        (PyObject**)&s->memory_type,
        (PyObject**)&s->tree_type,
        (PyObject**)&s->set_type,
        (PyObject**)&s->kdtree_type,
        (PyObject**)&s->mesh_tree_type,
        &s->neighbors_type,
        &s->rows_type,
        NULL,
    };
    int result = 0;
    for (size_t i = 0; !result && i <= SAP_ERROR_CANCELLED; i++) result = visit(&s->errors[i], context);
    for (size_t i = 0; !result && i < PY_TORCH_OBJECTS; i++) result = visit(&s->torch.objects[i], context);
    for (size_t i = 0; !result && objects[i]; i++) result = visit(objects[i], context);
    return result;
}

typedef struct visitor {
    visitproc visit;
    void* arg;
} visitor;

static int visit_one(PyObject** object, void* context) {
    const visitor* v = context;
    return *object ? v->visit(*object, v->arg) : 0;
}

static int clear_one(PyObject** object, void* context) {
    (void)context;
    Py_CLEAR(*object);
    return 0;
}

static int traverse(PyObject* module, visitproc visit, void* arg) {
    py_state* state = PyModule_GetState(module);
    return state ? each(state, visit_one, &(visitor){visit, arg}) : 0;
}

static int clear(PyObject* module) {
    py_state* state = PyModule_GetState(module);
    if (state) state->torch.known = -1;
    return state ? each(state, clear_one, NULL) : 0;
}

static void free_module(void* module) { clear(module); }

static PyModuleDef_Slot slots[] = {{Py_mod_exec, fill}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "sapwood._sapwood",
    .m_doc = "K-d trees over points and triangles: what sapwood is made of.",
    .m_size = sizeof(py_state),
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = free_module,
};

PyMODINIT_FUNC PyInit__sapwood(void);
PyMODINIT_FUNC PyInit__sapwood(void) { return PyModuleDef_Init(&definition); }
