// What all C files of the Python module share.
//
// The module uses the limited API of Python 3.11, so one binary serves all later versions. It is imported by the main
// interpreter only. Whatever is said to be guarded by the GIL is touched with the GIL held.
//
// A method that works looks like this:
//
//     static PyObject* tree_verify(PyObject* self, PyObject* const* args, Py_ssize_t count,
//                                  PyObject* names) {
//         py_tree* tree = py_tree_use(self);         // an exception for half-initialised objects
//         if (!tree) return NULL;
//         py_call call;
//         py_call_begin(&call, tree->device, NULL, NULL);               // the GIL is released from here
//         const int result = py_call_end(&call, sap_tree_verify(tree->tree)); // to here
//         py_tree_done(tree);
//         return result < 0 ? NULL : Py_NewRef(Py_None);
//     }
#ifndef SAPWOOD_PYTHON_H
#define SAPWOOD_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <sapwood/sapwood.h>
#include <stdbool.h>
#include <stdint.h>

// ---- The module's state, which every object of the module points to

enum { PY_TORCH_OBJECTS = 13 + 2 * 7, PY_TORCH_STREAMS = 8 };

/** What is kept of torch, so that its tensors are read fast (torch.c). */
typedef struct py_torch {
    PyObject* objects[PY_TORCH_OBJECTS];
    int known; // 0: torch has not been met, -1: it is not as it is known here
    struct {
        void* stream;
        int ordinal;
    } streams[PY_TORCH_STREAMS]; // of torch's own, that were met last
    int next;                    // of them, to be replaced
} py_torch;

typedef struct py_state {
    PyObject* errors[SAP_ERROR_CANCELLED + 1];     // exception types by status; [0] is their base, sapwood.Error
    PyObject *numpy, *numpy_empty, *numpy_asarray; // NULL until py_numpy is first called; NULL where it fails
    bool numpy_missing;
    PyObject* gpu; // the module sapwood._gpu, when arrays on a GPU have been met
    py_torch torch;
    PyObject* devices; // list of py_device, the most recently used last
    PyTypeObject *device_type, *memory_type, *tree_type, *set_type, *kdtree_type, *mesh_tree_type;
    PyObject *neighbors_type, *rows_type; // sapwood.Neighbors, sapwood.Rows: named tuples
} py_state;

/** The state of the module that made a type or one of its bases. NULL and an exception if none did. */
py_state* py_state_of(PyTypeObject* type);

/** sapwood.ArgumentError, which is a ValueError: what every value raises that a call does not take. */
extern PyObject* py_argument_error;

/** Imports NumPy the first time. False, with no exception, where there is none. */
bool py_numpy(py_state* state);

// Each part of the module adds its types and functions to it. -1 with an exception on failure. module.c lists them.
int py_add_errors(PyObject* module, py_state* state);
int py_add_devices(PyObject* module, py_state* state);
int py_add_memory(PyObject* module, py_state* state);
int py_add_tree(PyObject* module, py_state* state);
int py_add_set(PyObject* module, py_state* state);
int py_add_kdtree(PyObject* module, py_state* state);
int py_add_mesh(PyObject* module, py_state* state);
int py_add_instances(PyObject* module, py_state* state);
int py_add_files(PyObject* module, py_state* state);
int py_add_stream(PyObject* module, py_state* state);
int py_add_surface(PyObject* module, py_state* state);
int py_add_render(PyObject* module, py_state* state);
int py_add_voronoi(PyObject* module, py_state* state);
int py_add_cloud(PyObject* module, py_state* state);
int py_add_command(PyObject* module, py_state* state);

// ---- Arguments

/**
 * Sorts the arguments of a METH_FASTCALL | METH_KEYWORDS call into values[], one for each of `names`, which end with
 * NULL; those not given are NULL. The first `required` must be given, the first `positional` may be given by position.
 * -1 and a TypeError as Python's own otherwise.
 */
int py_arguments(const char* function, const char* const* names, int required, int positional, PyObject* const* args,
                 Py_ssize_t count, PyObject* keywords, PyObject** values);
/** The same for tp_init and tp_new. */
int py_arguments_of(const char* function, const char* const* names, int required, int positional, PyObject* args,
                    PyObject* keywords, PyObject** values);

/** What Python or NumPy says of a value is said of the argument (NULL: of none): its ValueError becomes ArgumentError. */
void py_value_error(const char* name);
/** PyArg_ParseTuple, but numbers that C cannot hold are wrong values. */
int py_parse(PyObject* args, const char* format, ...);

// Values of arguments. `value` NULL or None leaves *result as it is. 0, or -1 and an exception that names the argument.
int py_bool(PyObject* value, const char* name, bool* result);
int py_int32(PyObject* value, const char* name, int64_t least, int64_t most, int32_t* result);
int py_int64(PyObject* value, const char* name, int64_t least, int64_t most, int64_t* result);
int py_double(PyObject* value, const char* name, double* result);
/** The same for an argument that None cannot stand for. */
int py_number(PyObject* value, const char* name, double* result);
/** One of the words of `words`, which end with NULL: *result is its number. */
int py_word(PyObject* value, const char* name, const char* const* words, int32_t* result);
extern const char* const py_splits[]; // by sap_split, NULL at the end
/** A path (str, bytes or os.PathLike) as bytes for the C library: a new reference to a bytes object. */
PyObject* py_path(PyObject* value);

// ---- Devices and calls

/** An open device. It stays open as long as an object refers to it. */
typedef struct py_device {
    PyObject_HEAD py_state* state;
    sap_device* device;
    sap_processor processor;  // SAP_CPU or SAP_CUDA
    int32_t ordinal, threads; // threads as asked for: 0 for all
    void* stream;             // SAP_CUDA: 1 is the legacy default stream, NULL the device's own
    PyObject* keeper;         // its library's object, with which `stream` lives; NULL: it lives for ever
    int32_t calls;            // that are at work, guarded by the GIL
    uint32_t forks;           // how often the process had been forked when it was opened
    bool busy_at_fork;        // another thread was at work on it when this process was forked off: it cannot be used
} py_device;

/**
 * The device for a processor, from those that are open or a new one: a new reference. NULL and an exception. `stream`
 * must live as long as `keeper` does, or for ever if that is NULL.
 */
py_device* py_device_open(py_state* state, sap_processor processor, int32_t ordinal, int32_t threads, void* stream,
                          PyObject* keeper);
/** Waits on the host for a stream that may end when the call returns. -1 and an exception. */
int py_stream_wait(py_state* state, int32_t ordinal, void* stream);
/** The name of a device: "cpu", "cuda:0". A new reference. */
PyObject* py_device_name(const py_device* device);
/** What a device is called by: 'cpu', 'cuda', 'cuda:1', or an object whose str() that is; NULL or None: SAP_AUTO. */
int py_device_parse(PyObject* value, sap_processor* processor, int32_t* ordinal);
struct py_array;
/**
 * The device for work on an array (NULL: on the host): the one asked for, NULL or None where the array lies; GPU arrays
 * in the stream where they are ready. A new reference. NULL and an exception.
 */
py_device* py_device_for(py_state* state, PyObject* asked, int32_t threads, const struct py_array* array);
/** Whether a device still works: after a fork, a child cannot use GPUs, nor what a thread of the parent was using. */
bool py_device_usable(const py_device* device);
/** 0, or -1 and an exception that says why the device cannot be used. */
int py_device_check(const py_device* device);
/** How often the process has been forked, counted in the children. */
uint32_t py_forks(void);
#define PY_LEGACY_STREAM ((void*)1) // CUDA's default stream, with which other streams wait for one another

/** One call of the library. */
typedef struct py_call {
    py_device* device;
    PyObject* progress;    // what the caller gave, or NULL
    PyThreadState* thread; // while the GIL is released
    int64_t next;          // when the GIL is next taken, in nanoseconds
    bool wait;             // for the GPU, before the call ends
    bool stopped;          // by a signal, or by what progress answered
    struct py_call* outer; // of this thread
} py_call;

/**
 * Begins a call on a device and releases the GIL. While it lasts, signals are handled, and progress (a callable that
 * takes a number from 0 to 1, or None, or NULL) is called now and then; if it returns False, or raises, the call ends.
 * `like` is the array on whose pattern results are made (py_array_new), or NULL: where they lie on a GPU, it tells
 * whether the call must wait for them.
 * An exception is set, and -1 returned with the GIL held, if the device cannot be used; then py_call_end must not be
 * called.
 */
int py_call_begin(py_call* call, py_device* device, const struct py_array* like, PyObject* progress);
/**
 * Has sapwood._gpu do what it can for the next call, where this one has queued its work and is to wait for it. If that
 * raises, the call does.
 */
void py_call_prepare(py_call* call);
/** Takes the GIL again. 0, or -1 and an exception if the status is a failure or the caller's progress raised. */
int py_call_end(py_call* call, sap_status status);

/** Raises the exception of a status with the last sentence that the library logged in this thread. Returns NULL. */
PyObject* py_raise(py_state* state, sap_status status);
/** A sentence of the library's with the names that things have in Python, in `size` bytes of `said`. */
void py_translate(const char* sentence, char* said, size_t size);

// ---- Arrays

/** An array that a caller gave, on the host or on a GPU. The last axis is contiguous. */
typedef struct py_array {
    void* data;
    int64_t shape[3];
    int64_t stride; // elements from one row to the next: of a 2-D array at least shape[1]; 3-D arrays are contiguous
    int32_t ndim;
    int32_t bytes; // of an element
    char kind;     // 'f', 'i', 'u' or 'b' as in NumPy
    bool readonly;
    bool on_gpu;    // CUDA memory, of GPU number `ordinal`; else host memory
    bool in_stream; // on_gpu: its library works in `stream` now, so results need no waiting
    int32_t ordinal;
    void* stream;     // on_gpu: where its data is ready
    PyObject* keeper; // with which the stream lives, or NULL
    PyObject* object; // what the caller gave
    PyObject* owner;  // what was made of it, or NULL
    void* tensor;     // DLPack's, or NULL
    bool versioned;   // what kind of tensor it is
    Py_buffer view;   // view.obj NULL: none
} py_array;

enum {
    PY_WRITABLE = 1, // its memory will be written: never converted
    PY_EXACT = 2,    // never converted, and contiguous
};

/**
 * Takes an array-like: an object with a buffer (NumPy), with DLPack or __cuda_array_interface__ (torch, CuPy, JAX), or
 * anything that numpy.asarray takes. `want` lists the types that may stay as they are, as NumPy abbreviates them:
 * "f4f8", "i4", "b1u1". Other types of numbers are converted to one of them if that can be done, on the host: float16
 * to float32, ints to float64 (if wanted, else to the first); whole numbers that do not fit raise. Rows may be apart;
 * what else cannot be used in place is copied. Never from a GPU to the host or back.
 * `on` is the device that will work on it, or NULL if it is not known yet: then a GPU array is ready in the stream in
 * which its library works now. An array on a GPU that `on` cannot read raises. 0, or -1 and an exception that names
 * the argument.
 */
int py_array_take(py_state* state, PyObject* object, const char* name, const char* want, int min_ndim, int max_ndim,
                  int flags, const py_device* on, py_array* array);
/** The module sapwood._gpu, which knows torch, CuPy and JAX: a borrowed reference, or NULL and an exception. */
PyObject* py_gpu(py_state* state);
/** Takes an array for results, of exactly this type and shape, contiguous and writable. */
int py_array_take_out(py_state* state, PyObject* object, const char* name, const char* want, int ndim,
                      const int64_t* shape, const py_device* on, py_array* array);
/** Gives back what was taken. Arrays that are all zero are passed over, so it may be called twice. */
void py_array_release(py_array* array);

/** 2-D arrays as points. A 1-D array is one point. */
static inline sap_points py_points(const py_array* a) {
    return a->ndim == 1 ? (sap_points){a->data, 1, (int32_t)a->shape[0], 0}
                        : (sap_points){a->data, a->shape[0], (int32_t)a->shape[1], a->stride};
}
static inline sap_points_f64 py_points_f64(const py_array* a) {
    return a->ndim == 1 ? (sap_points_f64){a->data, 1, (int32_t)a->shape[0], 0}
                        : (sap_points_f64){a->data, a->shape[0], (int32_t)a->shape[1], a->stride};
}

/**
 * A new array for results, C-contiguous: on the host (numpy.empty; a memoryview where there is no NumPy), or, where
 * `like` lies on a GPU, one of the same library on the same GPU. *data is its memory. A new reference, or NULL and an
 * exception.
 */
PyObject* py_array_new(py_state* state, const py_array* like, char kind, int bytes, int ndim, const int64_t* shape,
                       void** data);

/** What a new array is to be. */
typedef struct py_form {
    char kind;
    int bytes, ndim;
    int64_t shape[3];
} py_form;

/**
 * Several new arrays at once, as py_array_new makes each: JAX takes about as long for all of them as for one. 0, or -1
 * and an exception, and no arrays.
 */
int py_arrays_new(py_state* state, const py_array* like, int count, const py_form* forms, PyObject** arrays,
                  void** data);

/**
 * Memory that the library made as an array (NumPy's, or of the library of `like`, if that lies on a GPU), without a
 * copy. The array holds `owner` as long as it lives. `device` is where the memory lies if it is not the host's.
 */
PyObject* py_array_of(py_state* state, const py_array* like, void* data, char kind, int bytes, int ndim,
                      const int64_t* shape, PyObject* owner, const py_device* device);

/** sap_neighbors as sapwood.Rows(offsets, ids, distances2), without a copy. Takes the neighbours, also on failure. */
PyObject* py_rows(py_state* state, const py_array* like, sap_neighbors* found, const py_device* device);

/** An object with a buffer over `bytes` of new memory, aligned to 64 bytes. Others can only read it. */
PyObject* py_memory_new(py_state* state, int64_t bytes, void** data);

// ---- Trees

enum { PY_PREPARED = 8 };

/** A search that is ready, for one-point calls. */
typedef struct py_prepared {
    sap_query* query;
    sap_search search;
    uint32_t used;
} py_prepared;

/** sapwood.Tree. Types that derive from it in C begin with it. */
typedef struct py_tree {
    PyObject_HEAD py_state* state;
    sap_tree* tree; // NULL: __init__ has not been called, or failed
    py_device* device;
    PyObject* memory;     // bytes that the tree lies in, or NULL
    int64_t count;        // points in the tree
    int64_t source_count; // points given; ids are below this
    int32_t dims, real_bits;
    int32_t users; // calls at work on it; -1: it is being rebuilt. Guarded by the GIL
    bool periodic;
    PyObject* like; // an empty array on the GPU, of the library that gave the points, or NULL
    PyObject* weakrefs;
    uint32_t uses; // of prepared searches, ever
    py_prepared prepared[PY_PREPARED];
} py_tree;

/** Whether an object is a Tree. */
bool py_is_tree(const py_state* state, PyObject* object);
/**
 * The tree of an object that is known to be a Tree, for a call that reads it: py_tree_done must follow. NULL and an
 * exception if it is half-initialised, is being rebuilt by another thread, or cannot be used after a fork.
 */
py_tree* py_tree_use(PyObject* object);
void py_tree_done(py_tree* tree);
/**
 * Gives an object its tree, as __init__ does. Takes `tree`, and `memory` (a new reference or NULL), also on failure.
 * -1 and an exception if the object has a tree that another thread searches.
 */
int py_tree_set(py_tree* self, py_device* device, sap_tree* tree, PyObject* memory);
/** Builds over an array of "f4f8". NULL and an exception on failure. */
sap_tree* py_tree_build(py_state* state, py_device* device, const py_array* points, const sap_tree_options* options,
                        PyObject* progress);
/** Describes the tree, into info of zeros. */
static inline void py_tree_info(const py_tree* tree, sap_tree_info* info) { sap_tree_describe(tree->tree, info); }

/**
 * A prepared search of a tree on the CPU, which the tree keeps for the next time: search->k, radius, metric, p and eps
 * count, all else must be zero. To be used before the GIL is released, and before the next call of this function. NULL
 * and an exception on failure.
 */
sap_query* py_tree_query(py_tree* self, const sap_search* search);

#endif
