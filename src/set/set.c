// The public functions for sets: arguments are checked here.
#include "set/set.h"
#include "device/reserved.h"
#include "tree/queries.h"
#include "tree/told.h"
#include <math.h>
#include <string.h>

// ---- Who uses a set

#if defined(SAP_ASSERTIONS)
enum { CHANGING = -(1 << 30) };

// Several calls may search at once; one that changes the set is alone.
static void enter(const sap_set* set, bool changes) {
    int32_t* users = (int32_t*)(uintptr_t)&set->users;
    const int32_t before = __atomic_fetch_add(users, changes ? CHANGING : 1, __ATOMIC_ACQUIRE);
    SAP_ASSERT(changes ? before == 0 : before >= 0); // else two threads use a set while one changes it
}

static void leave(const sap_set* set, bool changes) {
    __atomic_fetch_add((int32_t*)(uintptr_t)&set->users, changes ? -CHANGING : -1, __ATOMIC_RELEASE);
}
#else
static void enter(const sap_set* set, bool changes) { (void)set, (void)changes; }

static void leave(const sap_set* set, bool changes) { (void)set, (void)changes; }
#endif

// ---- Creating, describing, freeing

static sap_status make(sap_device* device, int32_t dims, const sap_set_options* options, sap_set** set) {
    sap_set* made = sap_memory_allocate_zero(device, sizeof *made);
    if (!made) return sap_fail(device, SAP_ERROR_MEMORY, "no memory for a set");
    made->device = device;
    made->dims = dims;
    made->real_bits = options && options->real_bits ? options->real_bits : 32;
    made->in_background = options && options->background;
    const sap_status status = device->rooms.set->open(made);
    if (status == SAP_OK)
        *set = made;
    else
        sap_memory_release(device, made, sizeof *made);
    return status;
}

sap_status sap_set_create(sap_device* device, int32_t dims, const sap_set_options* options, sap_set** set) {
    if (!device) return SAP_ERROR_ARGUMENT;
    if (!set) return sap_fail(device, SAP_ERROR_ARGUMENT, "set: is NULL");
    if (dims < 1 || dims > SAP_MAX_DIMS)
        return sap_fail(device, SAP_ERROR_ARGUMENT, "dims: %d is not in 1…%d", (int)dims, SAP_MAX_DIMS);
    if (options) {
        const sap_status status = sap_reserved_check(device, options->reserved, "options");
        if (status != SAP_OK) return status;
        if (options->real_bits != 0 && options->real_bits != 32 && options->real_bits != 64)
            return sap_fail(device, SAP_ERROR_ARGUMENT, "options.real_bits: %d is neither 32 nor 64",
                            (int)options->real_bits);
    }
    if (!SAP_CAN(device, set, insert)) return sap_unsupported(device, "keep a set of points");
    return make(device, dims, options, set);
}

void sap_set_free(sap_set* set) {
    if (!set) return;
    sap_device* device = set->device;
    enter(set, true);
    device->rooms.set->close(set);
    sap_memory_release(device, set, sizeof *set);
}

sap_status sap_set_describe(const sap_set* set, sap_set_info* info) {
    if (!set) return SAP_ERROR_ARGUMENT;
    if (!info) return sap_fail(set->device, SAP_ERROR_ARGUMENT, "info: is NULL");
    enter(set, false);
    *info = (sap_set_info){.count = set->live,
                           .next_id = set->next_id,
                           .dims = set->dims,
                           .real_bits = set->real_bits,
                           .bytes = sizeof *set};
    set->device->rooms.set->describe(set, info);
    leave(set, false);
    return SAP_OK;
}

// ---- Changes

static sap_status check_rows(const sap_set* set, const sap_rows* rows, const char* name) {
    const sap_status status = sap_rows_check(set->device, rows, name);
    if (status != SAP_OK) return status;
    if (rows->real_bits != set->real_bits)
        return sap_fail(set->device, SAP_ERROR_ARGUMENT, "%s: the set holds %d-bit points", name, (int)set->real_bits);
    if (rows->dims != set->dims)
        return sap_fail(set->device, SAP_ERROR_ARGUMENT, "%s.dims: is %d, but the set's points have %d", name,
                        (int)rows->dims, (int)set->dims);
    return SAP_OK;
}

static sap_status insert(sap_set* set, const sap_rows* points, const int32_t* ids, int32_t* given) {
    if (!set) return SAP_ERROR_ARGUMENT;
    sap_status status = check_rows(set, points, "points");
    if (status != SAP_OK || points->count == 0) return status;
    enter(set, true);
    status = set->device->rooms.set->insert(set, points, ids, given);
    leave(set, true);
    return status;
}

sap_status sap_set_insert(sap_set* set, sap_points points, const int32_t* ids, int32_t* given) {
    const sap_rows rows = sap_rows_f32(points);
    return insert(set, &rows, ids, given);
}

sap_status sap_set_insert_f64(sap_set* set, sap_points_f64 points, const int32_t* ids, int32_t* given) {
    const sap_rows rows = sap_rows_f64(points);
    return insert(set, &rows, ids, given);
}

sap_status sap_set_remove(sap_set* set, const int32_t* ids, int64_t count, int64_t* removed) {
    if (!set) return SAP_ERROR_ARGUMENT;
    if (count < 0) return sap_fail(set->device, SAP_ERROR_ARGUMENT, "count: %lld is negative", (long long)count);
    if (!ids && count) return sap_fail(set->device, SAP_ERROR_ARGUMENT, "ids: is NULL");
    enter(set, true);
    int64_t gone = 0;
    const sap_status status = set->device->rooms.set->remove(set, ids, count, &gone);
    leave(set, true);
    if (status == SAP_OK && removed) *removed = gone;
    return status;
}

static sap_status trim(sap_set* set, const double* lower, const double* upper, bool cuts, int64_t* removed) {
    if (!set) return SAP_ERROR_ARGUMENT;
    if (!lower || !upper) return sap_fail(set->device, SAP_ERROR_ARGUMENT, "%s: is NULL", lower ? "upper" : "lower");
    sap_set_box box = {.cuts = cuts};
    for (int32_t axis = 0; axis < set->dims; axis++) {
        if (isnan(lower[axis]) || isnan(upper[axis]))
            return sap_fail(set->device, SAP_ERROR_ARGUMENT, "%s: coordinate %d is not a number",
                            isnan(lower[axis]) ? "lower" : "upper", (int)axis);
        box.lower[axis] = lower[axis];
        box.upper[axis] = upper[axis];
    }
    enter(set, true);
    int64_t gone = 0;
    const sap_status status = set->device->rooms.set->trim(set, &box, &gone);
    leave(set, true);
    if (status == SAP_OK && removed) *removed = gone;
    return status;
}

sap_status sap_set_keep_box(sap_set* set, const double* lower, const double* upper, int64_t* removed) {
    return trim(set, lower, upper, false, removed);
}

sap_status sap_set_cut_box(sap_set* set, const double* lower, const double* upper, int64_t* removed) {
    return trim(set, lower, upper, true, removed);
}

// ---- Searches

// A tree without points, of the set's kind, for the checks that searches of trees make.
static sap_tree stand_in(const sap_set* set) {
    return (sap_tree){.device = set->device, .shape = {.dims = set->dims, .real_bits = set->real_bits}};
}

static sap_status nearest(const sap_set* set, const sap_rows* queries, const sap_search* search, int32_t* ids,
                          void* distance2) {
    if (!set) return SAP_ERROR_ARGUMENT;
    const sap_tree like = stand_in(set);
    sap_status status = check_rows(set, queries, "queries");
    if (status == SAP_OK) status = sap_search_check(&like, search);
    if (status == SAP_OK) status = sap_told_refuse(&like, search, "sets");
    if (status != SAP_OK) return status;
    int64_t answers;
    if (__builtin_mul_overflow(queries->count, (int64_t)search->k, &answers) || answers > PTRDIFF_MAX / 8)
        return sap_fail(set->device, SAP_ERROR_RANGE, "search.k: queries.count * k overflows");
    if (!ids && answers) return sap_fail(set->device, SAP_ERROR_ARGUMENT, "ids: is NULL");
    if (search->walk != SAP_WALK_AUTO)
        return sap_fail(set->device, SAP_ERROR_UNSUPPORTED, "search.walk: sets are searched with SAP_WALK_AUTO only");
    if (search->without_ids && queries->count && !set->device->rooms.nearest->leaves_out)
        return sap_unsupported(set->device, "leave points out by search.without_ids");
    const sap_nearest_job job = {.queries = *queries,
                                 .search = *search,
                                 .limit2 = sap_limit2(&like, search->radius > 0 ? search->radius : (double)INFINITY),
                                 .ids = ids,
                                 .distance2 = distance2,
                                 .without = search->without_ids};
    enter(set, false);
    status = set->device->rooms.set->nearest(set, &job);
    leave(set, false);
    return status;
}

sap_status sap_set_nearest(const sap_set* set, sap_points queries, const sap_search* search, int32_t* ids,
                           float* distance2) {
    const sap_rows rows = sap_rows_f32(queries);
    return nearest(set, &rows, search, ids, distance2);
}

sap_status sap_set_nearest_f64(const sap_set* set, sap_points_f64 queries, const sap_search* search, int32_t* ids,
                               double* distance2) {
    const sap_rows rows = sap_rows_f64(queries);
    return nearest(set, &rows, search, ids, distance2);
}

static sap_status radius_search(const sap_set* set, const sap_rows* queries, double radius, sap_radius_job* job) {
    const sap_tree like = stand_in(set);
    sap_status status = check_rows(set, queries, "queries");
    if (status != SAP_OK) return status;
    if (!(radius >= 0))
        return sap_fail(set->device, SAP_ERROR_ARGUMENT, "radius: %g is negative or not a number", radius);
    job->queries = *queries;
    job->limit2 = sap_limit2(&like, radius);
    enter(set, false);
    status = set->device->rooms.set->radius(set, job);
    leave(set, false);
    return status;
}

static sap_status radius_count(const sap_set* set, const sap_rows* queries, double radius, int64_t* counts) {
    if (!set) return SAP_ERROR_ARGUMENT;
    if (!counts && queries->count > 0) return sap_fail(set->device, SAP_ERROR_ARGUMENT, "counts: is NULL");
    return radius_search(set, queries, radius, &(sap_radius_job){.counts = counts});
}

static sap_status radius_collect(const sap_set* set, const sap_rows* queries, double radius, sap_neighbors** found) {
    if (!set) return SAP_ERROR_ARGUMENT;
    if (!found) return sap_fail(set->device, SAP_ERROR_ARGUMENT, "found: is NULL");
    return radius_search(set, queries, radius, &(sap_radius_job){.found = found});
}

sap_status sap_set_radius_count(const sap_set* set, sap_points queries, double radius, int64_t* counts) {
    const sap_rows rows = sap_rows_f32(queries);
    return radius_count(set, &rows, radius, counts);
}

sap_status sap_set_radius_count_f64(const sap_set* set, sap_points_f64 queries, double radius, int64_t* counts) {
    const sap_rows rows = sap_rows_f64(queries);
    return radius_count(set, &rows, radius, counts);
}

sap_status sap_set_radius(const sap_set* set, sap_points queries, double radius, sap_neighbors** found) {
    const sap_rows rows = sap_rows_f32(queries);
    return radius_collect(set, &rows, radius, found);
}

sap_status sap_set_radius_f64(const sap_set* set, sap_points_f64 queries, double radius, sap_neighbors** found) {
    const sap_rows rows = sap_rows_f64(queries);
    return radius_collect(set, &rows, radius, found);
}
