// Sites in the worker: made, read from files, moved and edited; their tree built anew after each change.
#include "scenes/table.h"
#include "scenes/voronoi.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct {
    float* still;   // [2*count] where sites are at the time 0
    float* moved;   // [2*count] where they are now
    int32_t* orbit; // [count] a number of each site's own, of which its motion follows
    int32_t orbits; // numbers given out
    int64_t count;
    int64_t room;   // sites that all have room for
    double aspect;  // of the field [0, aspect] x [0, 1]
    double seconds; // of the animation
    sap_tree* tree;
    int32_t leaf; // of the tree
} field;

// ---- Chance: splitmix64, so that a seed gives the same sites everywhere.

static uint64_t mixed(uint64_t value) {
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}
static double part(uint64_t* state) { return (double)(mixed(++*state) >> 11) * 0x1p-53; }
static double normal(uint64_t* state) {
    double radius = sqrt(-2 * log(1 - part(state)));
    return radius * cos(6.283185307179586 * part(state));
}

static void put(int64_t i, double x, double y) {
    field.still[2 * i] = (float)x;
    field.still[2 * i + 1] = (float)y;
}

static bool make_room(int64_t count) {
    if (count <= field.room) return true;
    size_t bytes = (size_t)count * 8;
    float* still = realloc(field.still, bytes);
    if (still) field.still = still;
    float* moved = still ? realloc(field.moved, bytes) : NULL;
    if (moved) field.moved = moved;
    int32_t* orbit = moved ? realloc(field.orbit, (size_t)count * 4) : NULL;
    if (orbit) field.orbit = orbit;
    if (orbit) field.room = count;
    return orbit != NULL;
}

static void put_clusters(uint64_t* chance) {
    enum { CLUSTER_COUNT = 14 };
    double center[CLUSTER_COUNT][3];
    for (int i = 0; i < CLUSTER_COUNT; i++) {
        center[i][0] = field.aspect * (0.1 + 0.8 * part(chance));
        center[i][1] = 0.1 + 0.8 * part(chance);
        center[i][2] = 0.012 + 0.09 * part(chance) * part(chance);
    }
    for (int64_t i = 0; i < field.count; i++) {
        const double* c = center[(int)(part(chance) * CLUSTER_COUNT)];
        double x = c[0] + c[2] * normal(chance);
        put(i, x, c[1] + c[2] * normal(chance));
    }
}

static void put_family(enum voronoi_family which, uint64_t seed) {
    uint64_t chance = mixed(seed) + (uint64_t)which;
    const int64_t columns = (int64_t)fmax(1, ceil(sqrt((double)field.count * field.aspect)));
    const int64_t rows = (field.count + columns - 1) / columns;
    if (which == VORONOI_FAMILY_CLUSTERS) {
        put_clusters(&chance);
        return;
    }
    for (int64_t i = 0; i < field.count; i++) {
        double x = field.aspect * part(&chance), y = part(&chance);
        if (which == VORONOI_FAMILY_CIRCLE) {
            double angle = 6.283185307179586 * (double)i / (double)field.count;
            double radius = 0.4 * fmin(1, field.aspect);
            x = 0.5 * field.aspect + radius * cos(angle);
            y = 0.5 + radius * sin(angle);
        } else if (which == VORONOI_FAMILY_GRID) {
            x = field.aspect * ((double)(i % columns) + 0.5) / (double)columns;
            y = ((double)(i / columns) + 0.5) / (double)rows;
        }
        put(i, x, y);
        if (which == VORONOI_FAMILY_DUPLICATES && i >= (field.count + 7) / 8) { // every place eight times
            int64_t first = i % ((field.count + 7) / 8);
            put(i, (double)field.still[2 * first], (double)field.still[2 * first + 1]);
        }
    }
}

static void number_orbits(void) {
    for (int64_t i = 0; i < field.count; i++) field.orbit[i] = (int32_t)i;
    field.orbits = (int32_t)field.count;
}

// Sites go round in circles, each at its own pace, from where they are at the time 0.
static void displacement(int64_t i, double by[2]) {
    uint64_t bits = mixed((uint64_t)field.orbit[i]);
    double angle = (double)(bits & 0xffff) * 9.587379924285257e-5; // 2 pi / 65536
    double turned = angle + field.seconds * (0.35 + (double)((bits >> 16) & 0xffff) * 1e-5) * (bits >> 63 ? 1 : -1);
    double radius = 1.6 * sqrt(field.aspect / (double)(field.count > 0 ? field.count : 1));
    if (radius > 0.08) radius = 0.08;
    by[0] = radius * (cos(turned) - cos(angle));
    by[1] = radius * (sin(turned) - sin(angle));
}

static void move_all(void) {
    if (field.seconds == 0) {
        memcpy(field.moved, field.still, (size_t)field.count * 8);
        return;
    }
    for (int64_t i = 0; i < field.count; i++) {
        double by[2];
        displacement(i, by);
        for (int a = 0; a < 2; a++) field.moved[2 * i + a] = (float)((double)field.still[2 * i + a] + by[a]);
    }
}

// ---- Answers

// The tree in four bytes a node, of the square about the field.
static sap_status answer_form(page_job* job) {
    const double side = fmax(1, field.aspect) * 1.1;
    const double lower[2] = {0.5 * field.aspect - 0.5 * side, 0.5 - 0.5 * side};
    sap_rgba8_tree* form = NULL;
    sap_status status = sap_rgba8_tree_build(field.tree, lower, side, &form);
    if (status != SAP_OK) return status;
    size_t bytes = (size_t)form->width * (size_t)form->height * 4;
    void* nodes = page_answer(job, bytes);
    void* ids = nodes ? page_answer(job, bytes) : NULL;
    if (ids) {
        memcpy(nodes, form->nodes, bytes);
        memcpy(ids, form->ids, bytes);
        job->number[VORONOI_BUILT_FORM_WIDTH] = form->width;
        job->number[VORONOI_BUILT_FORM_HEIGHT] = form->height;
        job->number[VORONOI_BUILT_FORM_LOWER_X] = form->lower[0];
        job->number[VORONOI_BUILT_FORM_LOWER_Y] = form->lower[1];
        job->number[VORONOI_BUILT_FORM_SCALE] = form->scale;
    }
    sap_rgba8_tree_free(form);
    return ids ? SAP_OK : SAP_ERROR_MEMORY;
}

static sap_status answer_tree(page_job* job) {
    int64_t size = 0;
    sap_status status = sap_tree_saved_size(field.tree, &size);
    if (status != SAP_OK) return status;
    void* bytes = page_answer(job, (size_t)size);
    return bytes ? sap_tree_save_memory(field.tree, bytes, size) : SAP_ERROR_MEMORY;
}

// Moves the sites to the time that is asked for, builds, and answers: the sites, and the tree or its compact form
// (voronoi_ask; voronoi_built, voronoi_tree_buffer, voronoi_form_buffer).
static sap_status answer(page_job* job) {
    const bool compact = job->number[VORONOI_ASK_COMPACT] != 0;
    sap_device* cpu = page_cpu();
    if (!cpu) return page_fail(SAP_ERROR_MEMORY, "There is no memory here.");
    field.seconds = job->number[VORONOI_ASK_SECONDS];
    move_all();
    const sap_points sites = {field.moved, field.count, 2, 0};
    const sap_tree_options options = {.leaf_size = compact ? 1 : field.count < VORONOI_FEW ? 2 : VORONOI_LEAF};
    double begun = emscripten_get_now();
    sap_status status = SAP_OK;
    if (field.tree && field.leaf == options.leaf_size) {
        status = sap_tree_rebuild(field.tree, sites);
    } else {
        sap_tree_free(field.tree);
        field.tree = NULL;
        status = sap_tree_build(cpu, sites, &options, &field.tree);
        field.leaf = options.leaf_size;
    }
    job->number[VORONOI_BUILT_MILLISECONDS] = emscripten_get_now() - begun;
    job->number[VORONOI_BUILT_SITES] = (double)field.count;
    float* copy = status == SAP_OK ? page_answer(job, (size_t)field.count * 8) : NULL;
    if (status != SAP_OK) return status;
    if (!copy) return SAP_ERROR_MEMORY;
    memcpy(copy, field.moved, (size_t)field.count * 8);
    if (compact && field.count == 0) return SAP_OK;
    return compact ? answer_form(job) : answer_tree(job);
}

// ---- Jobs (voronoi_fields.h).

PAGE_EXPORT sap_status job_voronoi_move(page_job* job) { return answer(job); }

PAGE_EXPORT sap_status job_voronoi_make(page_job* job) {
    const double* number = job->number;
    int64_t count = (int64_t)number[VORONOI_MAKE_SITES];
    if (!make_room(count))
        return page_fail(SAP_ERROR_MEMORY, "There is no memory here for %lld sites.", (long long)count);
    field.count = count;
    field.aspect = number[VORONOI_MAKE_ASPECT];
    put_family((enum voronoi_family)number[VORONOI_MAKE_FAMILY], (uint64_t)number[VORONOI_MAKE_SEED]);
    number_orbits();
    return answer(job);
}

PAGE_EXPORT sap_status job_voronoi_edit(page_job* job) {
    const double* number = job->number;
    const enum voronoi_change change = (enum voronoi_change)number[VORONOI_EDIT_CHANGE];
    const bool adds = change == VORONOI_CHANGE_ADD;
    int64_t id = adds ? field.count : (int64_t)number[VORONOI_EDIT_SITE];
    if (adds && field.count == VORONOI_MOST)
        return page_fail(SAP_ERROR_RANGE, "There are %d sites already, as many as the page takes.", VORONOI_MOST);
    if (adds && !make_room(field.count + 1 + field.count / 8))
        return page_fail(SAP_ERROR_MEMORY, "There is no memory here for another site.");
    if (id < 0 || (!adds && id >= field.count))
        return page_fail(SAP_ERROR_ARGUMENT, "There is no site %lld.", (long long)number[VORONOI_EDIT_SITE]);
    if (adds) field.orbit[field.count++] = field.orbits++;
    if (change == VORONOI_CHANGE_DELETE) {
        const size_t behind = (size_t)(field.count - id - 1);
        memmove(field.still + 2 * id, field.still + 2 * id + 2, behind * 8);
        memmove(field.orbit + id, field.orbit + id + 1, behind * 4);
        field.count--;
    } else {
        double by[2];
        field.seconds = number[VORONOI_ASK_SECONDS];
        displacement(id, by);
        put(id, number[VORONOI_EDIT_X] - by[0], number[VORONOI_EDIT_Y] - by[1]);
    }
    return answer(job);
}

// How a file's points come to lie in the field: as large as fits, y upwards.
static sap_status take_points(const sap_point_set* set) {
    double lower[2] = {INFINITY, INFINITY}, upper[2] = {-INFINITY, -INFINITY};
    if (set->count > VORONOI_MOST)
        return page_fail(SAP_ERROR_RANGE, "It holds %lld points; the page takes up to %d.", (long long)set->count,
                         VORONOI_MOST);
    if (set->count == 0) return page_fail(SAP_ERROR_FORMAT, "It holds no points.");
    if (set->dims < 2) return page_fail(SAP_ERROR_FORMAT, "It has one column; sites have two coordinates.");
    for (int64_t i = 0; i < set->count; i++)
        for (int a = 0; a < 2; a++) {
            double value = set->coords_f64[i * set->dims + a];
            if (!isfinite(value)) return page_fail(SAP_ERROR_NOT_FINITE, "Point %lld is not a number.", (long long)i);
            lower[a] = fmin(lower[a], value);
            upper[a] = fmax(upper[a], value);
        }
    if (!make_room(set->count)) return page_fail(SAP_ERROR_MEMORY, "There is no memory here for so many points.");
    double step = fmax((upper[0] - lower[0]) / field.aspect, upper[1] - lower[1]) * 1.06;
    if (!(step > 0) || !isfinite(step)) step = 1;
    field.count = set->count;
    number_orbits();
    for (int64_t i = 0; i < set->count; i++) {
        const double* row = set->coords_f64 + i * set->dims;
        put(i, 0.5 * field.aspect + (row[0] - 0.5 * (lower[0] + upper[0])) / step,
            0.5 - (row[1] - 0.5 * (lower[1] + upper[1])) / step);
    }
    return SAP_OK;
}

// Reads points from a file (page_file, voronoi_read).
PAGE_EXPORT sap_status job_voronoi_read(page_job* job) {
    sap_point_set* set = NULL;
    sap_status status =
        page_table_parse(job->in[PAGE_FILE_NAME], job->in[PAGE_FILE_BYTES], job->in_bytes[PAGE_FILE_BYTES], &set);
    if (status != SAP_OK) return status;
    double before = field.aspect;
    field.aspect = job->number[VORONOI_READ_ASPECT];
    status = take_points(set);
    sap_point_set_free(set);
    if (status != SAP_OK) {
        field.aspect = before;
        return status;
    }
    return answer(job);
}

// Brute force over the sites as they are now: places [2*n] and ids that a GPU gave for them [n] (voronoi_sample,
// voronoi_check; voronoi_checked).
PAGE_EXPORT sap_status job_voronoi_check(page_job* job) {
    const float* places = job->in[VORONOI_SAMPLE_PLACES];
    const int32_t* ids = job->in[VORONOI_SAMPLE_IDS];
    const int64_t count = job->in_bytes[VORONOI_SAMPLE_IDS] / 4;
    const double allowed = job->number[VORONOI_CHECK_ALLOWED];
    double right = 0, near = 0, worst = 0;
    for (int64_t i = 0; i < count; i++) {
        float best2 = INFINITY;
        int64_t best = -1;
        const float x = places[2 * i], y = places[2 * i + 1];
        for (int64_t s = 0; s < field.count; s++) {
            float dx = x - field.moved[2 * s], dy = y - field.moved[2 * s + 1], d2 = dx * dx + dy * dy;
            if (d2 < best2) {
                best2 = d2;
                best = s;
            }
        }
        right += ids[i] == best;
        if (ids[i] == best) continue;
        double far = INFINITY;
        if (ids[i] >= 0 && ids[i] < field.count) {
            double dx = (double)x - (double)field.moved[2 * ids[i]],
                   dy = (double)y - (double)field.moved[2 * ids[i] + 1];
            far = sqrt(dx * dx + dy * dy) - sqrt((double)best2);
        }
        if (far <= allowed) near++;
        worst = fmax(worst, far);
    }
    job->number[VORONOI_CHECKED_RIGHT] = right;
    job->number[VORONOI_CHECKED_NEAR] = near;
    job->number[VORONOI_CHECKED_PLACES] = (double)count;
    job->number[VORONOI_CHECKED_WORST] = worst;
    return SAP_OK;
}
