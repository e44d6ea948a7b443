// What sapwood.Instances derives from: trees over meshes' trees that are moved by transforms, and rays about them. Names,
// defaults and documentation are in sapwood/instances.py. Hits come as the library's records, [n, 5].
#include "rays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HIT_FLOATS = sizeof(sap_instance_hit) / sizeof(float) };

typedef struct py_instances {
    PyObject_HEAD py_state* state;
    sap_instance_tree* tree; // NULL: it has not been built
    py_device* device;
    py_mesh_tree** meshes; // [mesh_count]
    uint64_t* versions;    // [mesh_count] of the meshes' trees when this one was built
    int64_t mesh_count;
    int32_t users; // calls at work on it; -1: it is being rebuilt. Guarded by the GIL
} py_instances;

static py_instances* instances_of(PyObject* self) { return (py_instances*)self; }

// ---- The meshes' trees: kept, and not rebuilt while a call reads them

static void release_meshes(py_mesh_tree** meshes, uint64_t* versions, int64_t count) {
    for (int64_t i = 0; i < count; i++) Py_DECREF((PyObject*)meshes[i]);
    free(meshes);
    free(versions);
}

static void meshes_done(py_mesh_tree* const* meshes, int64_t count) {
    for (int64_t i = 0; i < count; i++) py_mesh_tree_done(meshes[i]);
}

static int meshes_use(py_mesh_tree* const* meshes, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (!py_mesh_tree_use((PyObject*)meshes[i])) {
            meshes_done(meshes, i);
            return -1;
        }
    return 0;
}

// 0, or -1 and an exception if there is no tree now.
static int check_built(const py_instances* self) {
    if (!self->tree)
        PyErr_SetString(py_argument_error, "these Instances have not been built: __init__ was not called, or failed");
    else if (self->users < 0)
        PyErr_SetString(PyExc_RuntimeError, "these Instances are being rebuilt by another thread");
    else
        return 0;
    return -1;
}

// For a call that reads it: instances_done must follow. NULL and an exception if it cannot be searched.
static py_instances* instances_use(PyObject* object) {
    py_instances* self = instances_of(object);
    if (check_built(self) < 0) return NULL;
    for (int64_t i = 0; i < self->mesh_count; i++)
        if (self->meshes[i]->version != self->versions[i]) {
            PyErr_Format(PyExc_RuntimeError, "tree %lld was rebuilt: call rebuild() of its Instances, too",
                         (long long)i);
            return NULL;
        }
    if (meshes_use(self->meshes, self->mesh_count) < 0) return NULL;
    self->users++;
    return self;
}

static void instances_done(py_instances* self) {
    meshes_done(self->meshes, self->mesh_count);
    self->users--;
}

// ---- The object

static void free_tree(py_instances* self) {
    if (self->tree && py_device_usable(self->device)) sap_instance_tree_free(self->tree);
    self->tree = NULL;
    release_meshes(self->meshes, self->versions, self->mesh_count);
    self->meshes = NULL;
    self->versions = NULL;
    self->mesh_count = 0;
    Py_CLEAR(self->device);
}

static PyObject* instances_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
    (void)args, (void)keywords;
    py_state* state = py_state_of(type);
    if (!state) return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject* self = allocate(type, 0);
    if (self) instances_of(self)->state = state;
    return self;
}

static void instances_dealloc(PyObject* object) {
    PyTypeObject* type = Py_TYPE(object);
    free_tree(instances_of(object));
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

// ---- Building

// What a build is given. All zero can be released.
typedef struct build_arguments {
    py_mesh_tree** meshes;
    uint64_t* versions;
    int64_t mesh_count, count;
    py_array transforms, which;
    sap_instance* instances; // [count]
} build_arguments;

static void release_arguments(build_arguments* b) {
    release_meshes(b->meshes, b->versions, b->mesh_count);
    py_array_release(&b->transforms);
    py_array_release(&b->which);
    free(b->instances);
}

// The trees of a list that is known to hold trees.
static int take_meshes(py_state* state, PyObject* list, build_arguments* b) {
    const Py_ssize_t count = PyList_Size(list);
    b->meshes = calloc((size_t)count + 1, sizeof(void*));
    b->versions = calloc((size_t)count + 1, sizeof *b->versions);
    if (!b->meshes || !b->versions) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject* tree = PyList_GetItem(list, i);
        if (!PyObject_TypeCheck(tree, state->mesh_tree_type)) {
            PyErr_SetString(PyExc_TypeError, "trees must be MeshTrees");
            return -1;
        }
        b->meshes[b->mesh_count++] = (py_mesh_tree*)Py_NewRef(tree);
    }
    return 0;
}

// An instance by its transform in double, [3][4]; a tree with an origin stands there.
static void place(const double* m, const py_mesh_tree* mesh, sap_instance* instance) {
    instance->tree = mesh->tree;
    for (int r = 0; r < 3; r++, m += 4) {
        const double* o = mesh->origin;
        for (int c = 0; c < 3; c++) instance->transform[4 * r + c] = (float)m[c];
        instance->transform[4 * r + 3] = (float)(m[3] + (m[0] * o[0] + m[1] * o[1] + m[2] * o[2]));
    }
}

static int take_instances(py_state* state, PyObject* transforms, PyObject* which, build_arguments* b) {
    if (py_array_take(state, transforms, "transforms", "f8", 3, 3, 0, NULL, &b->transforms) < 0 ||
        py_array_take(state, which, "which", "i4", 1, 1, 0, NULL, &b->which) < 0)
        return -1;
    const int64_t* shape = b->transforms.shape;
    if (b->transforms.on_gpu || b->which.on_gpu || shape[1] < 3 || shape[1] > 4 || shape[2] != 4 ||
        b->which.shape[0] != shape[0]) {
        PyErr_SetString(py_argument_error, "transforms must have the shape (n, 3, 4) or (n, 4, 4), which (n,)");
        return -1;
    }
    b->count = shape[0];
    b->instances = calloc((size_t)b->count + 1, sizeof *b->instances);
    if (!b->instances) {
        PyErr_NoMemory();
        return -1;
    }
    const double* m = b->transforms.data;
    const int32_t* number = b->which.data;
    for (int64_t i = 0; i < b->count; i++) {
        if (number[i] < 0 || number[i] >= b->mesh_count) {
            PyErr_Format(py_argument_error, "which: instance %lld is of tree %d, but there are %lld trees",
                         (long long)i, (int)number[i], (long long)b->mesh_count);
            return -1;
        }
        place(m + i * shape[1] * 4, b->meshes[number[i]], &b->instances[i]);
    }
    return 0;
}

// Builds, or rebuilds the tree if the object has one on the same device. The meshes' trees are in use.
static int build(py_instances* self, build_arguments* b, PyObject* progress) {
    sap_instance_tree* tree = self->tree;
    py_device* device = b->meshes[0]->device;
    const bool anew = !tree || device != self->device;
    py_call call;
    if (self->users) {
        PyErr_SetString(PyExc_RuntimeError, "these Instances are being searched or rebuilt by another thread");
        return -1;
    }
    if (anew) tree = NULL;
    self->users = -1;
    if (py_call_begin(&call, device, NULL, progress) < 0) {
        self->users = 0;
        return -1;
    }
    const sap_status status = anew ? sap_instance_tree_build(device->device, b->instances, b->count, &tree)
                                   : sap_instance_tree_rebuild(tree, b->instances, b->count);
    const int result = py_call_end(&call, status);
    self->users = 0;
    if (status != SAP_OK) return -1;
    if (!anew) self->tree = NULL; // kept
    free_tree(self);
    self->tree = tree;
    self->device = (py_device*)Py_NewRef((PyObject*)device);
    self->meshes = b->meshes;
    self->versions = b->versions;
    self->mesh_count = b->mesh_count;
    for (int64_t i = 0; i < self->mesh_count; i++) self->versions[i] = self->meshes[i]->version;
    b->meshes = NULL;
    b->versions = NULL;
    b->mesh_count = 0;
    return result; // the caller's progress may have raised at last
}

// _build(trees, transforms, which, progress)
static PyObject* instances_build(PyObject* object, PyObject* args) {
    py_instances* self = instances_of(object);
    PyObject *trees, *transforms, *which, *progress;
    if (!py_parse(args, "O!OOO:_build", &PyList_Type, &trees, &transforms, &which, &progress)) return NULL;
    build_arguments b = {0};
    int result = take_meshes(self->state, trees, &b);
    if (result == 0 && b.mesh_count == 0) {
        PyErr_SetString(py_argument_error, "trees: there must be at least one");
        result = -1;
    }
    if (result == 0) {
        py_mesh_tree** meshes = b.meshes;
        const int64_t count = b.mesh_count;
        result = meshes_use(meshes, count);
        if (result == 0) {
            result = take_instances(self->state, transforms, which, &b);
            if (result == 0) result = build(self, &b, progress);
            meshes_done(meshes, count); // which b or the object still holds
        }
    }
    release_arguments(&b);
    return result < 0 ? NULL : Py_NewRef(Py_None);
}

// ---- Rays

// Rays as they lie, on the host or the GPU.
static PyObject* trace_records(const py_instances* self, const py_array* rays, PyObject* progress) {
    const int64_t shape[2] = {rays->shape[0], HIT_FLOATS};
    void* hits;
    PyObject* result = py_array_new(self->state, rays, 'f', 4, 2, shape, &hits);
    if (!result) return NULL;
    py_call call;
    int done = py_call_begin(&call, self->device, rays, progress);
    if (done == 0) done = py_call_end(&call, sap_instance_trace(self->tree, rays->data, shape[0], hits));
    if (done < 0) Py_CLEAR(result);
    return result;
}

static const double nowhere[3] = {0};

// Asks a part of the rays at a time: for first hits, or whether there is any.
static int ask_parts(const py_instances* self, const py_rays* arrays, PyObject* progress, sap_instance_hit* hits,
                     uint8_t* occluded) {
    sap_ray* rays = py_part_scratch(arrays->count, sizeof *rays);
    int result = rays ? 0 : -1;
    for (int64_t first = 0; result == 0 && first < arrays->count; first += PY_PART) {
        const int64_t count = py_part_of(arrays->count, first);
        py_call call;
        result = py_progress_part(progress, first, count);
        if (result == 0) result = py_call_begin(&call, self->device, NULL, progress);
        if (result < 0) break;
        py_rays_fill(arrays, nowhere, first, count, rays);
        result = py_call_end(&call, hits ? sap_instance_trace(self->tree, rays, count, hits + first)
                                         : sap_instance_occluded(self->tree, rays, count, occluded + first));
    }
    free(rays);
    return result;
}

// The arguments of all three calls of rays.
static int parse_rays(PyObject* args, const char* format, py_instances** self, PyObject* object, py_rays* rays,
                      PyObject** progress, int* limit) {
    PyObject *origins, *directions, *t_min, *t_max;
    if (!py_parse(args, format, &origins, &directions, &t_min, &t_max, progress, limit)) return -1;
    *self = instances_use(object);
    if (!*self) return -1;
    if (py_rays_take((*self)->state, (*self)->device, origins, directions, t_min, t_max, rays) == 0) return 0;
    instances_done(*self);
    return -1;
}

// _trace(origins, directions, tmin, tmax, progress), directions None: origins are records of rays
static PyObject* instances_trace(PyObject* object, PyObject* args) {
    py_instances* self;
    py_rays rays;
    PyObject *progress, *result = NULL;
    if (parse_rays(args, "OOOOO:_trace", &self, object, &rays, &progress, NULL) < 0) return NULL;
    if (rays.are_records) {
        result = trace_records(self, &rays.origins, progress);
    } else {
        const int64_t shape[2] = {rays.count, HIT_FLOATS};
        void* hits;
        result = py_array_new(self->state, NULL, 'f', 4, 2, shape, &hits);
        if (result && ask_parts(self, &rays, progress, hits, NULL) < 0) Py_CLEAR(result);
    }
    py_rays_release(&rays);
    instances_done(self);
    return result;
}

// _occluded(origins, directions, tmin, tmax, progress)
static PyObject* instances_occluded(PyObject* object, PyObject* args) {
    py_instances* self;
    py_rays rays;
    PyObject* progress;
    void* occluded;
    if (parse_rays(args, "OOOOO:_occluded", &self, object, &rays, &progress, NULL) < 0) return NULL;
    const py_array* like = rays.are_records ? &rays.origins : NULL;
    PyObject* result = py_array_new(self->state, like, 'b', 1, 1, &rays.count, &occluded);
    int done = result ? 0 : -1;
    py_call call;
    if (result && !like) {
        done = ask_parts(self, &rays, progress, NULL, occluded);
    } else if (result) {
        done = py_call_begin(&call, self->device, like, progress);
        if (done == 0) done = py_call_end(&call, sap_instance_occluded(self->tree, like->data, rays.count, occluded));
    }
    if (done < 0) Py_CLEAR(result);
    py_rays_release(&rays);
    instances_done(self);
    return result;
}

// ---- All hits

// Hits of rays one after the other, and where those of each ray begin: memory that grows.
typedef struct hit_list {
    sap_instance_hit* hits;
    int64_t count, room;
    int64_t* offsets; // [rays + 1]
} hit_list;

// Keeps the hits of some rays, which stand `limit` places apart.
static sap_status add_hits(hit_list* list, const sap_instance_hit* hits, const int32_t* counts, int64_t first,
                           int64_t rays, int64_t limit) {
    for (int64_t i = 0; i < rays; i++) {
        list->offsets[first + i] = list->count;
        if (list->count + counts[i] > list->room) {
            const int64_t room = 2 * (list->count + counts[i]);
            sap_instance_hit* longer = realloc(list->hits, (size_t)room * sizeof *longer);
            if (!longer) return SAP_ERROR_MEMORY;
            list->hits = longer;
            list->room = room;
        }
        if (counts[i]) memcpy(list->hits + list->count, hits + i * limit, (size_t)counts[i] * sizeof *hits);
        list->count += counts[i];
    }
    return SAP_OK;
}

// Room for the hits of some rays; *taken becomes fewer rays if they would take much.
static sap_instance_hit* make_room(int64_t limit, int64_t* taken) {
    enum { HITS_AT_ONCE = 1 << 19 };
    const int64_t most = limit < HITS_AT_ONCE ? HITS_AT_ONCE / limit : 1;
    if (*taken > most) *taken = most;
    sap_instance_hit* hits = malloc((size_t)(*taken * limit) * sizeof *hits);
    if (!hits) PyErr_NoMemory();
    return hits;
}

// How many hits a ray has is not known before: some rays are traced at a time, with room for so many hits each, and
// traced again with more where that does not suffice.
static int trace_all_parts(const py_instances* self, const py_rays* arrays, int32_t most, PyObject* progress,
                           hit_list* list) {
    enum { FIRST_ROOM = 16 };
    int64_t limit = most < FIRST_ROOM ? most : FIRST_ROOM;
    sap_ray* rays = py_part_scratch(arrays->count, sizeof *rays);
    int32_t* counts = rays ? py_part_scratch(arrays->count, sizeof *counts) : NULL;
    int result = counts ? 0 : -1;
    for (int64_t first = 0; result == 0 && first < arrays->count;) {
        int64_t taken = py_part_of(arrays->count, first), found = 0;
        sap_instance_hit* hits = make_room(limit, &taken);
        py_call call;
        result = hits ? py_progress_part(progress, first, taken) : -1;
        if (result == 0) result = py_call_begin(&call, self->device, NULL, progress);
        if (result == 0) {
            py_rays_fill(arrays, nowhere, first, taken, rays);
            sap_status status = sap_instance_trace_all(self->tree, rays, taken, (int32_t)limit, hits, counts);
            for (int64_t i = 0; status == SAP_OK && i < taken; i++) found = counts[i] > found ? counts[i] : found;
            if (status == SAP_OK && (found < limit || limit == most)) {
                status = add_hits(list, hits, counts, first, taken, limit);
                first += taken;
            }
            result = py_call_end(&call, status);
        }
        free(hits);
        limit = found < limit ? found + 1 : 2 * limit; // of the next rays, or of these again
        if (limit < FIRST_ROOM) limit = FIRST_ROOM;
        if (limit > most) limit = most;
    }
    free(counts);
    free(rays);
    return result;
}

static PyObject* trace_all_lists(const py_instances* self, const py_rays* rays, int32_t most, PyObject* progress) {
    const int64_t ends = rays->count + 1;
    hit_list list = {0};
    PyObject *hits = NULL, *result = NULL;
    PyObject* offsets = py_array_new(self->state, NULL, 'i', 8, 1, &ends, (void**)&list.offsets);
    if (offsets && trace_all_parts(self, rays, most, progress, &list) == 0) {
        const int64_t shape[2] = {list.count, HIT_FLOATS};
        void* data;
        list.offsets[rays->count] = list.count;
        hits = py_array_new(self->state, NULL, 'f', 4, 2, shape, &data);
        if (hits && list.count) memcpy(data, list.hits, (size_t)list.count * sizeof *list.hits);
    }
    if (hits) result = Py_BuildValue("(OO)", offsets, hits);
    Py_XDECREF(hits);
    Py_XDECREF(offsets);
    free(list.hits);
    return result;
}

// The library's records, [n * limit, 5], and of each ray how many.
static PyObject* trace_all_records(const py_instances* self, const py_array* rays, int32_t limit, PyObject* progress) {
    const int64_t shape[3] = {rays->shape[0], limit, HIT_FLOATS};
    void *hits, *counts;
    PyObject* found = py_array_new(self->state, rays, 'f', 4, 3, shape, &hits);
    PyObject* numbers = found ? py_array_new(self->state, rays, 'i', 4, 1, shape, &counts) : NULL;
    int done = -1;
    py_call call;
    if (numbers && py_call_begin(&call, self->device, rays, progress) == 0)
        done = py_call_end(&call, sap_instance_trace_all(self->tree, rays->data, shape[0], limit, hits, counts));
    PyObject* result = done == 0 ? Py_BuildValue("(OO)", found, numbers) : NULL;
    Py_XDECREF(found);
    Py_XDECREF(numbers);
    return result;
}

// _trace_all(origins, directions, tmin, tmax, progress, limit): (offsets, hits); of records (hits, counts)
static PyObject* instances_trace_all(PyObject* object, PyObject* args) {
    py_instances* self;
    py_rays rays;
    PyObject *progress, *result = NULL;
    int limit;
    if (parse_rays(args, "OOOOOi:_trace_all", &self, object, &rays, &progress, &limit) < 0) return NULL;
    if (limit < 1)
        PyErr_Format(py_argument_error, "limit must be at least 1; got %d", limit);
    else if (rays.are_records)
        result = trace_all_records(self, &rays.origins, limit, progress);
    else
        result = trace_all_lists(self, &rays, limit, progress);
    py_rays_release(&rays);
    instances_done(self);
    return result;
}

// ---- What it is

static PyObject* instances_describe(PyObject* object, PyObject* nothing) {
    (void)nothing;
    py_instances* self = instances_of(object);
    if (check_built(self) < 0) return NULL;
    sap_instance_tree_info info = {0};
    const sap_status status = sap_instance_tree_describe(self->tree, &info);
    if (status != SAP_OK) return py_raise(self->state, status);
    PyObject* device = py_device_name(self->device);
    if (!device) return NULL;
    const float *lower = info.lower, *upper = info.upper;
    return Py_BuildValue("{s:L,s:i,s:n,s:((ddd)(ddd)),s:L,s:N}", "count", (long long)info.instances, "depth",
                         (int)info.depth, "bytes", (Py_ssize_t)info.bytes, "bounds", (double)lower[0], (double)lower[1],
                         (double)lower[2], (double)upper[0], (double)upper[1], (double)upper[2], "trees",
                         (long long)self->mesh_count, "device", device);
}

int py_add_instances(PyObject* module, py_state* state) {
    (void)state;
    static PyMethodDef methods[] = {
        {"_build", instances_build, METH_VARARGS, NULL},       {"_trace", instances_trace, METH_VARARGS, NULL},
        {"_occluded", instances_occluded, METH_VARARGS, NULL}, {"_trace_all", instances_trace_all, METH_VARARGS, NULL},
        {"_describe", instances_describe, METH_NOARGS, NULL},  {NULL, NULL, 0, NULL},
    };
    PyType_Slot slots[] = {
        {Py_tp_new, (void*)instances_new},
        {Py_tp_dealloc, (void*)instances_dealloc},
        {Py_tp_methods, (void*)methods},
        {0, NULL},
    };
    PyType_Spec spec = {.name = "sapwood._sapwood.Instances",
                        .basicsize = sizeof(py_instances),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                        .slots = slots};
    PyObject* type = PyType_FromModuleAndSpec(module, &spec, NULL);
    if (!type) return -1;
    const int result = PyModule_AddObjectRef(module, "Instances", type);
    Py_DECREF(type);
    return result;
}
