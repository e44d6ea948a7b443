// Searches of meshes: rays, nearest points, what lies inside. On the host rays and answers are put together and taken
// apart here, a part of the call at a time; what lies on a GPU comes and goes as the library's own records.
#include "rays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int py_progress_part(PyObject* progress, int64_t first, int64_t count) {
    if (progress == Py_None) return 0;
    PyObject* result = PyObject_CallMethod(progress, "part", "LL", (long long)first, (long long)count);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

// ---- Rays

void py_rays_release(py_rays* rays) {
    py_array_release(&rays->origins);
    py_array_release(&rays->directions);
    py_array_release(&rays->t_min);
    py_array_release(&rays->t_max);
}

static int64_t rows_of(const py_array* array) { return array->ndim == 2 ? array->shape[0] : 1; }

// A number for all rays, or an array of one for each.
static int take_limit(py_state* state, PyObject* value, const char* name, py_array* array, double* number) {
    if (PyFloat_Check(value) || PyLong_Check(value)) return py_double(value, name, number);
    return py_array_take(state, value, name, "f4f8", 1, 1, 0, NULL, array);
}

static int take_records(py_state* state, const py_device* device, PyObject* object, py_rays* rays) {
    py_array* records = &rays->origins;
    if (py_array_take(state, object, "rays", "f4", 2, 2, PY_EXACT, device, records) < 0) return -1;
    rays->count = records->shape[0];
    rays->are_records = true;
    if (records->shape[1] == 8) return 0;
    PyErr_Format(py_argument_error,
                 "rays must have the shape (n, 8): origin, tmin, direction, tmax of each; got (%lld, %lld)",
                 (long long)records->shape[0], (long long)records->shape[1]);
    return -1;
}

static int check_three(const py_array* array, const char* name) {
    if (array->on_gpu) {
        PyErr_Format(py_argument_error, "%s lie on a GPU, but other arguments do not", name);
        return -1;
    }
    if (array->shape[array->ndim - 1] == 3) return 0;
    PyErr_Format(py_argument_error, "%s must have the shape (n, 3), or (3,) for one; the last axis has %lld", name,
                 (long long)array->shape[array->ndim - 1]);
    return -1;
}

static int check_limit(const py_array* array, const char* name, int64_t count) {
    if (!array->data && !array->object) return 0;
    if (array->on_gpu) {
        PyErr_Format(py_argument_error, "%s lies on a GPU, but other arguments do not", name);
        return -1;
    }
    if (array->shape[0] == count) return 0;
    PyErr_Format(py_argument_error, "%s must be a number, or one for each of the %lld rays; got %lld", name,
                 (long long)count, (long long)array->shape[0]);
    return -1;
}

static int take_arrays(py_state* state, PyObject* origins, PyObject* directions, PyObject* t_min, PyObject* t_max,
                       py_rays* rays) {
    if (py_array_take(state, origins, "origins", "f4f8", 1, 2, 0, NULL, &rays->origins) < 0 ||
        py_array_take(state, directions, "directions", "f4f8", 1, 2, 0, NULL, &rays->directions) < 0 ||
        check_three(&rays->origins, "origins") < 0 || check_three(&rays->directions, "directions") < 0 ||
        take_limit(state, t_min, "tmin", &rays->t_min, &rays->least) < 0 ||
        take_limit(state, t_max, "tmax", &rays->t_max, &rays->most) < 0)
        return -1;
    const int64_t from = rows_of(&rays->origins), along = rows_of(&rays->directions);
    rays->count = from == 1 ? along : from;
    if (along != 1 && along != rays->count) {
        PyErr_Format(py_argument_error, "%lld origins and %lld directions: there must be as many, or one of either",
                     (long long)from, (long long)along);
        return -1;
    }
    if (check_limit(&rays->t_min, "tmin", rays->count) < 0 || check_limit(&rays->t_max, "tmax", rays->count) < 0)
        return -1;
    return 0;
}

int py_rays_take(py_state* state, const py_device* device, PyObject* origins, PyObject* directions, PyObject* t_min,
                 PyObject* t_max, py_rays* rays) {
    *rays = (py_rays){.least = 0, .most = INFINITY};
    const int result = directions == Py_None ? take_records(state, device, origins, rays)
                                             : take_arrays(state, origins, directions, t_min, t_max, rays);
    if (result < 0) py_rays_release(rays);
    return result;
}

static double number_at(const py_array* array, int64_t at) {
    return array->bytes == 8 ? ((const double*)array->data)[at] : (double)((const float*)array->data)[at];
}

// Row i of an array of three columns, or the only row.
static void place_at(const py_array* array, int64_t i, const double origin[3], float place[3]) {
    const int64_t row = array->ndim == 2 && array->shape[0] > 1 ? i * array->stride : 0;
    for (int a = 0; a < 3; a++) place[a] = (float)(number_at(array, row + a) - origin[a]);
}

static double limit_at(const py_array* array, int64_t i, double number) {
    return array->object ? number_at(array, i) : number;
}

void py_rays_fill(const py_rays* arrays, const double origin[3], int64_t first, int64_t count, sap_ray* rays) {
    static const double nowhere[3] = {0};
    for (int64_t i = 0; i < count; i++) {
        place_at(&arrays->origins, first + i, origin, rays[i].origin);
        place_at(&arrays->directions, first + i, nowhere, rays[i].direction);
        rays[i].t_min = (float)limit_at(&arrays->t_min, first + i, arrays->least);
        rays[i].t_max = (float)limit_at(&arrays->t_max, first + i, arrays->most);
    }
}

// ---- The first hit

// Where the answers of rays go: arrays of t, triangle, u and v.
typedef struct hit_arrays {
    PyObject *t, *triangle, *u, *v;
    float *at_t, *at_u, *at_v;
    int32_t* at_triangle;
} hit_arrays;

static void release_hits(hit_arrays* hits) {
    Py_CLEAR(hits->t);
    Py_CLEAR(hits->triangle);
    Py_CLEAR(hits->u);
    Py_CLEAR(hits->v);
}

static PyObject* new_array(py_state* state, char kind, int bytes, int64_t count, void* data) {
    return py_array_new(state, NULL, kind, bytes, 1, &count, data);
}

static int make_hits(py_state* state, int64_t count, hit_arrays* hits) {
    hits->t = new_array(state, 'f', 4, count, &hits->at_t);
    hits->triangle = hits->t ? new_array(state, 'i', 4, count, &hits->at_triangle) : NULL;
    hits->u = hits->triangle ? new_array(state, 'f', 4, count, &hits->at_u) : NULL;
    hits->v = hits->u ? new_array(state, 'f', 4, count, &hits->at_v) : NULL;
    if (hits->v) return 0;
    release_hits(hits);
    return -1;
}

static void fill_hits(const sap_hit* from, int64_t first, int64_t count, const hit_arrays* hits) {
    for (int64_t i = 0; i < count; i++) {
        hits->at_t[first + i] = from[i].t;
        hits->at_triangle[first + i] = from[i].triangle;
        hits->at_u[first + i] = from[i].u;
        hits->at_v[first + i] = from[i].v;
    }
}

void* py_part_scratch(int64_t count, size_t bytes) {
    void* scratch = malloc((size_t)py_part_of(count, 0) * bytes + 1);
    if (!scratch) PyErr_NoMemory();
    return scratch;
}

static int trace_parts(const py_mesh_tree* tree, const py_rays* arrays, PyObject* progress, const hit_arrays* hits) {
    sap_ray* rays = py_part_scratch(arrays->count, sizeof *rays);
    sap_hit* found = rays ? py_part_scratch(arrays->count, sizeof *found) : NULL;
    int result = found ? 0 : -1;
    for (int64_t first = 0; result == 0 && first < arrays->count; first += PY_PART) {
        const int64_t count = py_part_of(arrays->count, first);
        py_call call;
        result = py_progress_part(progress, first, count);
        if (result == 0) result = py_call_begin(&call, tree->device, NULL, progress);
        if (result < 0) break;
        py_rays_fill(arrays, tree->origin, first, count, rays);
        const sap_status status = sap_trace(tree->tree, rays, count, found);
        if (status == SAP_OK) fill_hits(found, first, count, hits);
        result = py_call_end(&call, status);
    }
    free(found);
    free(rays);
    return result;
}

// Rays as they lie, on the host or the GPU: the library's records, [n, 4].
static PyObject* trace_records(const py_mesh_tree* tree, const py_array* rays, PyObject* progress) {
    const int64_t shape[2] = {rays->shape[0], 4};
    void* hits;
    PyObject* result = py_array_new(tree->state, rays, 'f', 4, 2, shape, &hits);
    if (!result) return NULL;
    py_call call;
    int done = py_call_begin(&call, tree->device, rays, progress);
    if (done == 0) done = py_call_end(&call, sap_trace(tree->tree, rays->data, shape[0], hits));
    if (done < 0) Py_CLEAR(result);
    return result;
}

// The arguments of all three calls of rays.
static int parse_rays(PyObject* args, const char* format, py_mesh_tree** tree, PyObject* self, py_rays* rays,
                      PyObject** progress, int* limit) {
    PyObject *origins, *directions, *t_min, *t_max;
    if (!py_parse(args, format, &origins, &directions, &t_min, &t_max, progress, limit)) return -1;
    *tree = py_mesh_tree_use(self);
    if (!*tree) return -1;
    if (py_rays_take((*tree)->state, (*tree)->device, origins, directions, t_min, t_max, rays) == 0) return 0;
    py_mesh_tree_done(*tree);
    return -1;
}

// _trace(origins, directions, tmin, tmax, progress), directions None: origins are records of rays
PyObject* py_mesh_trace(PyObject* self, PyObject* args) {
    py_mesh_tree* tree;
    py_rays rays;
    PyObject *progress, *result = NULL;
    hit_arrays hits = {0};
    if (parse_rays(args, "OOOOO:_trace", &tree, self, &rays, &progress, NULL) < 0) return NULL;
    if (rays.are_records)
        result = trace_records(tree, &rays.origins, progress);
    else if (make_hits(tree->state, rays.count, &hits) == 0 && trace_parts(tree, &rays, progress, &hits) == 0)
        result = Py_BuildValue("(OOOO)", hits.t, hits.triangle, hits.u, hits.v);
    release_hits(&hits);
    py_rays_release(&rays);
    py_mesh_tree_done(tree);
    return result;
}

// _occluded(origins, directions, tmin, tmax, progress)
PyObject* py_mesh_occluded(PyObject* self, PyObject* args) {
    py_mesh_tree* tree;
    py_rays arrays;
    PyObject* progress;
    if (parse_rays(args, "OOOOO:_occluded", &tree, self, &arrays, &progress, NULL) < 0) return NULL;
    uint8_t* occluded;
    const py_array* like = arrays.are_records ? &arrays.origins : NULL;
    PyObject* result = py_array_new(tree->state, like, 'b', 1, 1, &arrays.count, (void**)&occluded);
    sap_ray* rays = arrays.are_records ? arrays.origins.data : py_part_scratch(arrays.count, sizeof *rays);
    const int64_t step = arrays.are_records ? arrays.count : PY_PART;
    int done = result && (rays || !arrays.count) ? 0 : -1;
    for (int64_t first = 0; done == 0 && first < arrays.count; first += step) {
        const int64_t count = arrays.count - first < step ? arrays.count - first : step;
        py_call call;
        done = py_progress_part(progress, first, count);
        if (done == 0) done = py_call_begin(&call, tree->device, like, progress);
        if (done < 0) break;
        if (!arrays.are_records) py_rays_fill(&arrays, tree->origin, first, count, rays);
        done = py_call_end(&call, sap_occluded(tree->tree, rays, count, occluded + first));
    }
    if (!arrays.are_records) free(rays);
    py_rays_release(&arrays);
    py_mesh_tree_done(tree);
    if (done < 0) Py_CLEAR(result);
    return result;
}

// ---- All hits

// Hits of rays one after the other, and of each ray how many: memory that grows.
typedef struct hit_list {
    sap_hit* hits;
    int64_t count, room;
    int64_t* offsets; // [rays + 1]
} hit_list;

// Keeps the hits of some rays, which stand `limit` places apart.
static sap_status add_hits(hit_list* list, const sap_hit* hits, const int32_t* counts, int64_t first, int64_t rays,
                           int64_t limit) {
    int64_t more = 0;
    for (int64_t i = 0; i < rays; i++) {
        list->offsets[first + i] = list->count + more;
        more += counts[i];
    }
    if (list->count + more > list->room) {
        const int64_t room = 2 * list->room > list->count + more ? 2 * list->room : list->count + more;
        sap_hit* longer = realloc(list->hits, (size_t)room * sizeof *longer);
        if (!longer) return SAP_ERROR_MEMORY;
        list->hits = longer;
        list->room = room;
    }
    for (int64_t i = 0; i < rays; i++) {
        if (counts[i]) memcpy(list->hits + list->count, hits + i * limit, (size_t)counts[i] * sizeof *hits);
        list->count += counts[i];
    }
    return SAP_OK;
}

// How many hits a ray has is not known before: some rays are traced at a time, with room for so many hits each, and
// traced again with more where that does not suffice.
static int trace_all_parts(const py_mesh_tree* tree, const py_rays* arrays, int32_t most, PyObject* progress,
                           hit_list* list) {
    enum { FIRST_ROOM = 16, HITS_AT_ONCE = 1 << 19 };
    int64_t limit = most < FIRST_ROOM ? most : FIRST_ROOM, room = 0;
    sap_ray* rays = py_part_scratch(arrays->count, sizeof *rays);
    sap_hit* hits = NULL;
    int32_t* counts = rays ? py_part_scratch(arrays->count, sizeof *counts) : NULL;
    int result = counts ? 0 : -1;
    for (int64_t first = 0; result == 0 && first < arrays->count;) {
        int64_t taken = limit < HITS_AT_ONCE ? HITS_AT_ONCE / limit : 1;
        if (taken > py_part_of(arrays->count, first)) taken = py_part_of(arrays->count, first);
        if (room < taken * limit) {
            free(hits);
            room = taken * limit;
            hits = malloc((size_t)room * sizeof *hits);
            if (!hits) {
                PyErr_NoMemory();
                result = -1;
                break;
            }
        }
        py_call call;
        result = py_progress_part(progress, first, taken);
        if (result == 0) result = py_call_begin(&call, tree->device, NULL, progress);
        if (result < 0) break;
        py_rays_fill(arrays, tree->origin, first, taken, rays);
        sap_status status = sap_trace_all(tree->tree, rays, taken, (int32_t)limit, hits, counts);
        int64_t found = 0;
        for (int64_t i = 0; status == SAP_OK && i < taken; i++) found = counts[i] > found ? counts[i] : found;
        if (status == SAP_OK && (found < limit || limit == most)) {
            status = add_hits(list, hits, counts, first, taken, limit);
            first += taken;
        }
        result = py_call_end(&call, status);
        limit = found < limit ? found + 1 : 2 * limit; // of the next rays, or of these again
        if (limit < FIRST_ROOM) limit = FIRST_ROOM;
        if (limit > most) limit = most;
    }
    free(counts);
    free(hits);
    free(rays);
    return result;
}

static PyObject* hits_as_arrays(py_state* state, const hit_list* list, PyObject* offsets) {
    hit_arrays hits = {0};
    if (make_hits(state, list->count, &hits) < 0) return NULL;
    fill_hits(list->hits, 0, list->count, &hits);
    PyObject* result = Py_BuildValue("(OOOOO)", offsets, hits.t, hits.triangle, hits.u, hits.v);
    release_hits(&hits);
    return result;
}

// The library's records, [n, limit, 4], and of each ray how many.
static PyObject* trace_all_records(const py_mesh_tree* tree, const py_array* rays, int32_t limit, PyObject* progress) {
    const int64_t shape[3] = {rays->shape[0], limit, 4};
    void *hits, *counts;
    PyObject* found = py_array_new(tree->state, rays, 'f', 4, 3, shape, &hits);
    PyObject* numbers = found ? py_array_new(tree->state, rays, 'i', 4, 1, shape, &counts) : NULL;
    int done = -1;
    py_call call;
    if (numbers && py_call_begin(&call, tree->device, rays, progress) == 0)
        done = py_call_end(&call, sap_trace_all(tree->tree, rays->data, shape[0], limit, hits, counts));
    PyObject* result = done == 0 ? Py_BuildValue("(OO)", found, numbers) : NULL;
    Py_XDECREF(found);
    Py_XDECREF(numbers);
    return result;
}

// _trace_all(origins, directions, tmin, tmax, progress, limit): (offsets, t, triangle, u, v)
PyObject* py_mesh_trace_all(PyObject* self, PyObject* args) {
    py_mesh_tree* tree;
    py_rays rays;
    PyObject *progress, *result = NULL;
    int limit;
    if (parse_rays(args, "OOOOOi:_trace_all", &tree, self, &rays, &progress, &limit) < 0) return NULL;
    if (limit < 1) {
        PyErr_Format(py_argument_error, "limit must be at least 1; got %d", limit);
    } else if (rays.are_records) {
        result = trace_all_records(tree, &rays.origins, limit, progress);
    } else {
        hit_list list = {0};
        PyObject* offsets = new_array(tree->state, 'i', 8, rays.count + 1, &list.offsets);
        if (offsets && trace_all_parts(tree, &rays, limit, progress, &list) == 0) {
            list.offsets[rays.count] = list.count;
            result = hits_as_arrays(tree->state, &list, offsets);
        }
        Py_XDECREF(offsets);
        free(list.hits);
    }
    py_rays_release(&rays);
    py_mesh_tree_done(tree);
    return result;
}

// ---- Points

static int take_points(py_mesh_tree* tree, PyObject* object, py_array* points) {
    if (py_array_take(tree->state, object, "points", "f4f8", 1, 2, 0, NULL, points) < 0) return -1;
    if (points->shape[points->ndim - 1] != 3)
        PyErr_Format(py_argument_error, "points must have the shape (n, 3), or (3,) for one; the last axis has %lld",
                     (long long)points->shape[points->ndim - 1]);
    else if (points->on_gpu && (points->bytes != 4 || tree->is_shifted))
        PyErr_SetString(py_argument_error, "points on a GPU must be float32, and the tree without an origin");
    else
        return 0;
    py_array_release(points);
    return -1;
}

// Some of the points as the tree takes them: in place where they can be used so, else copied to `scratch`.
static sap_points some_points(const py_mesh_tree* tree, const py_array* points, int64_t first, int64_t count,
                              float* scratch) {
    if (!scratch) {
        const float* data = points->data;
        return (sap_points){data + first * (points->ndim == 2 ? points->stride : 3), count, 3,
                            points->ndim == 2 && rows_of(points) > 1 ? points->stride : 0};
    }
    for (int64_t i = 0; i < count; i++) place_at(points, first + i, tree->origin, scratch + 3 * i);
    return (sap_points){scratch, count, 3, 0};
}

static bool needs_scratch(const py_mesh_tree* tree, const py_array* points) {
    return points->bytes == 8 || tree->is_shifted;
}

// The arrays of nearest points: places in float, or in double if the tree has an origin.
typedef struct near_arrays {
    PyObject *point, *distance, *triangle, *u, *v;
    void* at_point;
    float *at_distance, *at_u, *at_v;
    int32_t* at_triangle;
} near_arrays;

static void release_near(near_arrays* near) {
    Py_CLEAR(near->point);
    Py_CLEAR(near->distance);
    Py_CLEAR(near->triangle);
    Py_CLEAR(near->u);
    Py_CLEAR(near->v);
}

static int make_near(const py_mesh_tree* tree, int64_t count, near_arrays* near) {
    py_state* state = tree->state;
    const int64_t shape[2] = {count, 3};
    near->point = py_array_new(state, NULL, 'f', tree->is_shifted ? 8 : 4, 2, shape, &near->at_point);
    near->distance = near->point ? new_array(state, 'f', 4, count, &near->at_distance) : NULL;
    near->triangle = near->distance ? new_array(state, 'i', 4, count, &near->at_triangle) : NULL;
    near->u = near->triangle ? new_array(state, 'f', 4, count, &near->at_u) : NULL;
    near->v = near->u ? new_array(state, 'f', 4, count, &near->at_v) : NULL;
    if (near->v) return 0;
    release_near(near);
    return -1;
}

static void fill_near(const py_mesh_tree* tree, const sap_closest* found, int64_t first, int64_t count,
                      const near_arrays* near) {
    float* narrow = near->at_point;
    double* wide = near->at_point;
    for (int64_t i = 0; i < count; i++) {
        for (int a = 0; a < 3; a++) {
            const int64_t at = 3 * (first + i) + a;
            if (tree->is_shifted)
                wide[at] = (double)found[i].point[a] + tree->origin[a];
            else
                narrow[at] = found[i].point[a];
        }
        near->at_distance[first + i] = sqrtf(found[i].distance2);
        near->at_triangle[first + i] = found[i].triangle;
        near->at_u[first + i] = found[i].u;
        near->at_v[first + i] = found[i].v;
    }
}

// What is asked of points, a part at a time: the nearest of the mesh, whether they lie inside, or both.
typedef struct point_job {
    const py_mesh_tree* tree;
    const py_array* points;
    sap_closest* found; // [a part], or NULL
    uint8_t* inside;    // [a part, or all], or NULL
    bool keeps_inside;  // inside is that of all
} point_job;

static sap_status ask_part(const point_job* job, sap_points points, int64_t first) {
    sap_status status = SAP_OK;
    if (job->found) status = sap_closest_point(job->tree->tree, points, job->found);
    if (status == SAP_OK && job->inside)
        status = sap_inside(job->tree->tree, points, job->inside + (job->keeps_inside ? first : 0));
    return status;
}

// Asks all points; `fill` puts the answers of a part into their places.
static int ask_parts(const point_job* job, PyObject* progress,
                     void (*fill)(const point_job* job, int64_t first, int64_t count, void* arrays), void* arrays) {
    const int64_t all = rows_of(job->points);
    const bool scratched = needs_scratch(job->tree, job->points);
    float* scratch = scratched ? py_part_scratch(all, 3 * sizeof *scratch) : NULL;
    int result = scratch || !scratched ? 0 : -1;
    for (int64_t first = 0; result == 0 && first < all; first += PY_PART) {
        const int64_t count = py_part_of(all, first);
        py_call call;
        result = py_progress_part(progress, first, count);
        if (result == 0) result = py_call_begin(&call, job->tree->device, NULL, progress);
        if (result < 0) break;
        const sap_status status = ask_part(job, some_points(job->tree, job->points, first, count, scratch), first);
        if (status == SAP_OK && fill) fill(job, first, count, arrays);
        result = py_call_end(&call, status);
    }
    free(scratch);
    return result;
}

static void fill_closest(const point_job* job, int64_t first, int64_t count, void* arrays) {
    fill_near(job->tree, job->found, first, count, arrays);
}

// The library's records, [n, 7].
static PyObject* closest_records(const py_mesh_tree* tree, const py_array* points, PyObject* progress) {
    const int64_t shape[2] = {rows_of(points), 7};
    void* found;
    PyObject* result = py_array_new(tree->state, points, 'f', 4, 2, shape, &found);
    if (!result) return NULL;
    py_call call;
    int done = py_call_begin(&call, tree->device, points, progress);
    if (done == 0) done = py_call_end(&call, sap_closest_point(tree->tree, py_points(points), found));
    if (done < 0) Py_CLEAR(result);
    return result;
}

// The arguments of the calls of points.
static int parse_points(PyObject* args, const char* format, PyObject* self, py_mesh_tree** tree, py_array* points,
                        PyObject** progress) {
    PyObject* object;
    *points = (py_array){0};
    if (!py_parse(args, format, &object, progress)) return -1;
    *tree = py_mesh_tree_use(self);
    if (!*tree) return -1;
    if (take_points(*tree, object, points) == 0) return 0;
    py_mesh_tree_done(*tree);
    return -1;
}

// _closest(points, progress): (point, distance, triangle, u, v); of points on a GPU the records
PyObject* py_mesh_closest(PyObject* self, PyObject* args) {
    py_mesh_tree* tree;
    py_array points;
    PyObject *progress, *result = NULL;
    if (parse_points(args, "OO:_closest", self, &tree, &points, &progress) < 0) return NULL;
    if (points.on_gpu) {
        result = closest_records(tree, &points, progress);
    } else {
        near_arrays near = {0};
        point_job job = {.tree = tree, .points = &points};
        job.found = py_part_scratch(rows_of(&points), sizeof *job.found);
        if (job.found && make_near(tree, rows_of(&points), &near) == 0 &&
            ask_parts(&job, progress, fill_closest, &near) == 0)
            result = Py_BuildValue("(OOOOO)", near.point, near.distance, near.triangle, near.u, near.v);
        release_near(&near);
        free(job.found);
    }
    py_array_release(&points);
    py_mesh_tree_done(tree);
    return result;
}

// Points on a GPU, in one call.
static int inside_on_gpu(const py_mesh_tree* tree, const py_array* points, PyObject* progress, uint8_t* inside) {
    py_call call;
    const int result = py_call_begin(&call, tree->device, points, progress);
    return result < 0 ? result : py_call_end(&call, sap_inside(tree->tree, py_points(points), inside));
}

// _inside(points, progress): bools
PyObject* py_mesh_inside(PyObject* self, PyObject* args) {
    py_mesh_tree* tree;
    py_array points;
    PyObject* progress;
    if (parse_points(args, "OO:_inside", self, &tree, &points, &progress) < 0) return NULL;
    point_job job = {.tree = tree, .points = &points, .keeps_inside = true};
    const int64_t count = rows_of(&points);
    const py_array* like = points.on_gpu ? &points : NULL;
    PyObject* result = py_array_new(tree->state, like, 'b', 1, 1, &count, (void**)&job.inside);
    if (result) {
        const int done =
            points.on_gpu ? inside_on_gpu(tree, &points, progress, job.inside) : ask_parts(&job, progress, NULL, NULL);
        if (done < 0) Py_CLEAR(result);
    }
    py_array_release(&points);
    py_mesh_tree_done(tree);
    return result;
}

static void fill_distances(const point_job* job, int64_t first, int64_t count, void* distances) {
    float* to = distances;
    for (int64_t i = 0; i < count; i++) {
        const float distance = sqrtf(job->found[i].distance2);
        to[first + i] = job->inside[i] ? -distance : distance;
    }
}

// _signed_distance(points, progress), of points on the host: negative inside
PyObject* py_mesh_signed_distance(PyObject* self, PyObject* args) {
    py_mesh_tree* tree;
    py_array points;
    PyObject* progress;
    if (parse_points(args, "OO:_signed_distance", self, &tree, &points, &progress) < 0) return NULL;
    point_job job = {.tree = tree, .points = &points};
    const int64_t count = rows_of(&points);
    void* distances = NULL;
    PyObject* result = NULL;
    if (points.on_gpu)
        PyErr_SetString(py_argument_error, "points lie on a GPU");
    else
        result = new_array(tree->state, 'f', 4, count, &distances);
    if (result) {
        job.found = py_part_scratch(count, sizeof *job.found);
        job.inside = job.found ? py_part_scratch(count, sizeof *job.inside) : NULL;
        if (!job.inside || ask_parts(&job, progress, fill_distances, distances) < 0) Py_CLEAR(result);
        free(job.found);
        free(job.inside);
    }
    py_array_release(&points);
    py_mesh_tree_done(tree);
    return result;
}
