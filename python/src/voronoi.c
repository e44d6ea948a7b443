// Pictures of the point nearest to each pixel, coloured as the command line colours them. Names, defaults and
// documentation are in sapwood/voronoi.py.
#include "../../cli/cells.h"
#include "sapwood_python.h"

#include <math.h>
#include <stdlib.h>

typedef struct picture {
    sap_grid grid;
    sap_cli_style style;
    int32_t dims;
    int32_t* ids;
    float* distance2;
    int32_t* leaves; // SAP_STYLE_DEPTH
    uint8_t* pixels;
} picture;

// The leaves that the walk without a stack looks at from each pixel.
static sap_status count_leaves(const sap_tree* tree, const picture* p) {
    const sap_grid* grid = &p->grid;
    sap_status status = SAP_OK;
    for (int64_t i = 0; status == SAP_OK && i < (int64_t)grid->width * grid->height; i++) {
        sap_search_stats stats = {0};
        int32_t id;
        const double x = (double)(i % grid->width) + 0.5, y = (double)(i / grid->width) + 0.5;
        const float query[3] = {(float)(grid->origin[0] + x * grid->right[0]),
                                (float)(grid->origin[1] + y * grid->down[1]), (float)grid->origin[2]};
        status = sap_nearest(tree, (sap_points){query, 1, p->dims, 0},
                             &(sap_search){.k = 1, .walk = SAP_WALK_STACKLESS, .stats = &stats}, &id, NULL);
        p->leaves[i] = (int32_t)stats.leaves;
    }
    return status;
}

static sap_status draw(sap_device* device, sap_points points, const sap_tree_options* options, const picture* p) {
    sap_tree* tree = NULL;
    sap_status status = sap_tree_build(device, points, options, &tree);
    if (status == SAP_OK) status = sap_nearest_grid(tree, p->grid, &(sap_search){.k = 1}, p->ids, p->distance2);
    if (status == SAP_OK && p->leaves) status = count_leaves(tree, p);
    if (status == SAP_OK) {
        const sap_cli_cells cells = {.width = p->grid.width,
                                     .height = p->grid.height,
                                     .dims = p->dims,
                                     .pixel_size = fmax(p->grid.right[0], -p->grid.down[1]),
                                     .ids = p->ids,
                                     .distance2 = p->distance2,
                                     .leaves = p->leaves,
                                     .style = p->style};
        sap_cli_cells_paint(&cells, p->pixels);
    }
    sap_tree_free(tree);
    return status;
}

static int check_points(const py_array* points, const sap_grid* grid) {
    if (points->on_gpu)
        PyErr_SetString(py_argument_error, "points must lie on the host");
    else if (points->shape[1] != 2 && points->shape[1] != 3)
        PyErr_Format(py_argument_error, "points must have two or three coordinates, not %lld",
                     (long long)points->shape[1]);
    else if (grid->width < 1 || grid->height < 1 || grid->width > 65536 || grid->height > 65536)
        PyErr_Format(py_argument_error, "width and height must be 1 to 65536 pixels, not %d and %d", grid->width,
                     grid->height);
    else
        return 0;
    return -1;
}

// voronoi(points, origin, right, down, width, height, style, leaf_size, device, threads, progress), points of float32,
// right of x and down of y: (ids, distances2, pixels)
static PyObject* voronoi(PyObject* module, PyObject* args) {
    py_state* state = PyModule_GetState(module);
    PyObject *object, *where, *progress, *result = NULL;
    picture p = {0};
    sap_tree_options options = {0};
    int style, leaf_size, threads;
    if (!py_parse(args, "O(ddd)ddiiiiOiO:voronoi", &object, &p.grid.origin[0], &p.grid.origin[1], &p.grid.origin[2],
                  &p.grid.right[0], &p.grid.down[1], &p.grid.width, &p.grid.height, &style, &leaf_size, &where,
                  &threads, &progress))
        return NULL;
    py_array points = {0};
    if (py_array_take(state, object, "points", "f4", 2, 2, 0, NULL, &points) < 0) return NULL;
    p.style = (sap_cli_style)style;
    p.dims = (int32_t)points.shape[1];
    options.leaf_size = leaf_size;
    const int64_t shape[3] = {p.grid.height, p.grid.width, 3};
    PyObject *ids = NULL, *distances = NULL, *pixels = NULL;
    void* data[3];
    if (check_points(&points, &p.grid) == 0) ids = py_array_new(state, NULL, 'i', 4, 2, shape, &data[0]);
    if (ids) distances = py_array_new(state, NULL, 'f', 4, 2, shape, &data[1]);
    if (distances) pixels = py_array_new(state, NULL, 'u', 1, 3, shape, &data[2]);
    bool ready = pixels != NULL;
    if (ready && p.style == SAP_STYLE_DEPTH) {
        p.leaves = malloc((size_t)(shape[0] * shape[1]) * sizeof *p.leaves);
        ready = p.leaves != NULL;
        if (!ready) PyErr_NoMemory();
    }
    py_device* device = ready ? py_device_for(state, where, threads, &points) : NULL;
    py_call call;
    if (device && py_call_begin(&call, device, NULL, progress) == 0) {
        p.ids = data[0];
        p.distance2 = data[1];
        p.pixels = data[2];
        if (py_call_end(&call, draw(device->device, py_points(&points), &options, &p)) == 0)
            result = PyTuple_Pack(3, ids, distances, pixels);
    }
    free(p.leaves);
    Py_XDECREF((PyObject*)device);
    Py_XDECREF(ids);
    Py_XDECREF(distances);
    Py_XDECREF(pixels);
    py_array_release(&points);
    return result;
}

int py_add_voronoi(PyObject* module, py_state* state) {
    (void)state;
    static PyMethodDef functions[] = {{"voronoi", voronoi, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
    return PyModule_AddFunctions(module, functions);
}
