// Pictures of meshes. Names, defaults and documentation are in sapwood/render.py.
#include "files.h"

#include <stdlib.h>
#include <string.h>

// A camera as a tuple of eye, at, up and fov.
static int take_camera(PyObject* tuple, sap_camera* c) {
    *c = (sap_camera){0};
    if (!py_parse(tuple, "(fff)(fff)(fff)f:camera", &c->eye[0], &c->eye[1], &c->eye[2], &c->at[0], &c->at[1], &c->at[2],
                  &c->up[0], &c->up[1], &c->up[2], &c->fov))
        return -1;
    return 0;
}

static PyObject* camera_tuple(const sap_camera* c) {
    return Py_BuildValue("((fff)(fff)(fff)f)", c->eye[0], c->eye[1], c->eye[2], c->at[0], c->at[1], c->at[2], c->up[0],
                         c->up[1], c->up[2], c->fov);
}

// frame(tree, width, height, camera): the camera in its place
static PyObject* frame(PyObject* module, PyObject* args) {
    py_state* state = PyModule_GetState(module);
    PyObject *object, *tuple;
    int width, height;
    sap_camera camera;
    if (!py_parse(args, "O!iiO!:frame", state->mesh_tree_type, &object, &width, &height, &PyTuple_Type, &tuple) ||
        take_camera(tuple, &camera) < 0)
        return NULL;
    py_mesh_tree* tree = py_mesh_tree_use(object);
    if (!tree) return NULL;
    py_call call;
    int result = py_call_begin(&call, tree->device, NULL, NULL);
    if (result == 0) result = py_call_end(&call, sap_camera_frame(tree->tree, width, height, &camera));
    py_mesh_tree_done(tree);
    return result < 0 ? NULL : camera_tuple(&camera);
}

static int take_lights(PyObject* tuple, sap_light** lights, int32_t* count) {
    const Py_ssize_t size = PyTuple_Size(tuple);
    if (size < 0 || size > INT32_MAX) return -1;
    *lights = calloc((size_t)size + 1, sizeof **lights);
    if (!*lights) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        sap_light* l = &(*lights)[i];
        if (!py_parse(PyTuple_GetItem(tuple, i), "(fff)(fff)((fff)(fff)):light", &l->position[0], &l->position[1],
                      &l->position[2], &l->color[0], &l->color[1], &l->color[2], &l->side[0][0], &l->side[0][1],
                      &l->side[0][2], &l->side[1][0], &l->side[1][1], &l->side[1][2]))
            return -1;
    }
    *count = (int32_t)size;
    return 0;
}

// What is told of photons: (count, caustics, gather, progressive, k, radius, filter, seed).
static int take_photons(PyObject* tuple, sap_render_photons* to) {
    long long count, caustics;
    int gather, progressive, k, filter;
    unsigned seed;
    *to = (sap_render_photons){0};
    if (!py_parse(tuple, "LLppifiI:photons", &count, &caustics, &gather, &progressive, &k, &to->search.radius, &filter,
                  &seed))
        return -1;
    to->count = count;
    to->caustics = caustics;
    to->gather = gather != 0;
    to->progressive = progressive != 0;
    to->search.k = k;
    to->search.filter = (sap_photon_filter)filter;
    to->seed = seed;
    return 0;
}

// render(tree, mesh, camera, lights, width, height, samples, bounces, ambient, exposure, background, flat, heat,
// hottest, next_event, passes, until_error, tone, photons, progress): (pixels, what the picture took). lights None: the default one.
static PyObject* render(PyObject* module, PyObject* args) {
    py_state* state = PyModule_GetState(module);
    PyObject *object, *parts, *view, *lamps, *sky, *spray, *progress;
    int width, height, samples, bounces, flat, heat, next_event, passes, tone;
    sap_render_photons photons;
    sap_render_options options = {0};
    float background[3];
    if (!py_parse(args, "O!O!O!OiiiiffOppfpifiOO:render", state->mesh_tree_type, &object, &PyTuple_Type, &parts,
                  &PyTuple_Type, &view, &lamps, &width, &height, &samples, &bounces, &options.ambient,
                  &options.exposure, &sky, &flat, &heat, &options.hottest, &next_event, &passes, &options.until_error,
                  &tone, &spray, &progress))
        return NULL;
    options.width = width;
    options.height = height;
    options.samples = samples;
    options.bounces = bounces;
    options.flat = flat != 0;
    options.heat = heat != 0;
    options.next_event = next_event != 0;
    options.passes = passes;
    options.tone = (sap_tone)tone;
    if (spray != Py_None) {
        if (take_photons(spray, &photons) < 0) return NULL;
        options.photons = &photons;
    }
    if (sky != Py_None) {
        if (!py_parse(sky, "fff:background", &background[0], &background[1], &background[2])) return NULL;
        options.background = background;
    }
    sap_scene scene = {0};
    if (take_camera(view, &scene.camera) < 0) return NULL;
    py_mesh_tree* tree = py_mesh_tree_use(object);
    if (!tree) return NULL;
    sap_light* lights = NULL;
    py_mesh_file file = {0};
    PyObject *pixels = NULL, *result = NULL;
    void* data;
    bool ready = py_mesh_file_take(state, parts, &file) == 0;
    if (ready && lamps != Py_None) ready = take_lights(lamps, &lights, &scene.light_count) == 0;
    if (ready && (width < 1 || height < 1 || width > 65536 || height > 65536)) {
        PyErr_Format(py_argument_error, "width and height must be 1 to 65536 pixels, not %d and %d", width, height);
        ready = false;
    }
    const int64_t shape[3] = {height, width, 3};
    if (ready) pixels = py_array_new(state, NULL, 'u', 1, 3, shape, &data);
    scene.tree = tree->tree;
    scene.file = &file.file;
    scene.lights = lights;
    py_call call;
    if (pixels && py_call_begin(&call, tree->device, NULL, progress) == 0) {
        sap_render_info info = {0};
        if (py_call_end(&call, sap_render(&scene, &options, data, &info)) == 0)
            result = Py_BuildValue("(O{sLsfsdsdsLsdsisf})", pixels, "rays", (long long)info.rays, "hottest",
                                   info.hottest, "trace_seconds", info.trace_seconds, "shade_seconds",
                                   info.shade_seconds, "photons", (long long)info.photons, "photon_seconds",
                                   info.photon_seconds, "passes", info.passes, "error", info.error);
    }
    Py_XDECREF(pixels);
    free(lights);
    py_mesh_file_release(&file);
    py_mesh_tree_done(tree);
    return result;
}

int py_add_render(PyObject* module, py_state* state) {
    (void)state;
    static PyMethodDef functions[] = {
        {"frame", frame, METH_VARARGS, NULL}, {"render", render, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
    return PyModule_AddFunctions(module, functions);
}
