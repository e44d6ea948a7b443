// The scans of the scene Cloud: samples of the knot of the scene Rays, or of files; thinned, cut in two, and turned.
#include "cloud.h"
#include "rays.h"
#include "table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct {
    cloud_scan scan[2]; // with y or z up, as they are
    int scans;
    double unit;
    double given, not_finite;
} file;

cloud_source cloud_from;

sap_status cloud_no_memory(void) { return page_fail(SAP_ERROR_MEMORY, "There is no memory here for so many points."); }

void cloud_scan_free(cloud_scan* scan) {
    free(scan->points);
    free(scan->axes);
    *scan = (cloud_scan){.count = 0};
}

// ---- Random numbers: those of splitmix64, the same on every visit.

static double uniform(uint64_t* state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

// Nearly a normal distribution, of deviation 1.
static double scatter(uint64_t* state) {
    double sum = -2;
    for (int i = 0; i < 4; i++) sum += uniform(state);
    return sum * 1.7320508075688772;
}

// ---- Scans

static bool make_room(cloud_scan* scan, int64_t count) {
    *scan = (cloud_scan){.count = count};
    scan->points = calloc((size_t)count * 3 + 3, sizeof(float));
    return scan->points != NULL;
}

// A knot that stands upright. For a scan that is to relax patches of it are sampled more thinly than others.
static bool make_knot(int64_t count, bool patches, cloud_scan* scan) {
    uint64_t state = 20;
    if (!make_room(scan, count)) return false;
    for (int64_t i = 0; i < count;) {
        double u = uniform(&state), v = uniform(&state), at[3];
        const double wave = sin(157.1 * u + 2 * sin(6.283185307179586 * v)) * sin(6.283185307179586 * v + 12.6 * u);
        if (uniform(&state) > (patches ? 0.08 + 0.92 * (0.5 + 0.5 * wave) * (0.5 + 0.5 * wave) : 1)) continue;
        rays_knot(u, v, at);
        float* to = scan->points + 3 * i++;
        to[0] = (float)at[2];
        to[1] = (float)at[0];
        to[2] = (float)at[1];
    }
    return true;
}

// At most `most` of the points, in their order.
static bool take_some(const cloud_scan* from, int64_t most, bool y_up, cloud_scan* to) {
    uint64_t state = 7;
    const int64_t count = from->count < most ? from->count : most;
    if (!make_room(to, count)) return false;
    for (int64_t i = 0, taken = 0; taken < count; i++) {
        if (uniform(&state) * (double)(from->count - i) >= (double)(count - taken)) continue;
        const float* p = from->points + 3 * i;
        float* q = to->points + 3 * taken++;
        for (int a = 0; a < 3; a++) q[a] = p[y_up ? (a + 2) % 3 : a];
    }
    return true;
}

static void find_box(const cloud_scan* scan, double lower[3], double upper[3]) {
    for (int64_t i = 0; i < 3 * scan->count; i++) {
        lower[i % 3] = fmin(lower[i % 3], (double)scan->points[i]);
        upper[i % 3] = fmax(upper[i % 3], (double)scan->points[i]);
    }
}

static int by_value(const void* a, const void* b) {
    const float x = *(const float*)a, y = *(const float*)b;
    return (x > y) - (x < y);
}

// Which way the normals of a scan point is easier to tell while it is whole.
static sap_status find_axes(cloud_scan* scan) {
    const sap_normals_options consistent = {.k = CLOUD_NORMAL_K, .orient = SAP_ORIENT_CONSISTENT};
    sap_tree* tree = NULL;
    scan->axes = malloc((size_t)scan->count * 12 + 12);
    if (!scan->axes || !page_cpu()) return cloud_no_memory();
    sap_status status = sap_tree_build(page_cpu(), (sap_points){scan->points, scan->count, 3, 0}, NULL, &tree);
    if (status == SAP_OK) status = sap_cloud_normals(tree, &consistent, scan->axes, NULL);
    sap_tree_free(tree);
    return status;
}

// Cuts a scan in two that overlap by two thirds of each, along its longest side; of every two points each gets one.
static bool cut(const cloud_scan* whole, cloud_scan halves[2]) {
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    int axis = 0;
    find_box(whole, lower, upper);
    for (int a = 1; a < 3; a++)
        if (upper[a] - lower[a] > upper[axis] - lower[axis]) axis = a;
    float* along = malloc((size_t)whole->count * 4 + 4);
    bool fits = along && make_room(&halves[0], whole->count) && make_room(&halves[1], whole->count);
    for (int s = 0; s < 2; s++) fits = fits && (halves[s].axes = malloc((size_t)whole->count * 12 + 12));
    if (fits) {
        for (int64_t i = 0; i < whole->count; i++) along[i] = whole->points[3 * i + axis];
        qsort(along, (size_t)whole->count, sizeof *along, by_value);
        const float from = along[whole->count / 4], to = along[whole->count * 3 / 4];
        halves[0].count = halves[1].count = 0;
        for (int64_t i = 0; i < whole->count; i++) {
            const float* p = whole->points + 3 * i;
            cloud_scan* half = &halves[i % 2];
            if (i % 2 ? p[axis] < from : p[axis] > to) continue;
            memcpy(half->points + 3 * half->count, p, 12);
            memcpy(half->axes + 3 * half->count++, whole->axes + 3 * i, 12);
        }
    }
    free(along);
    return fits;
}

// ---- Their places

// Both scans get the page's lengths. Returns how many of these one length of theirs is.
static double settle(cloud_scan scans[2]) {
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY}, diagonal2 = 0;
    for (int s = 0; s < 2; s++) find_box(&scans[s], lower, upper);
    for (int a = 0; a < 3; a++) diagonal2 += (upper[a] - lower[a]) * (upper[a] - lower[a]);
    const double scale = diagonal2 > 0 && isfinite(diagonal2) ? 2 / sqrt(diagonal2) : 1;
    for (int s = 0; s < 2; s++)
        for (int64_t i = 0; i < 3 * scans[s].count; i++)
            scans[s].points[i] =
                (float)(((double)scans[s].points[i] - 0.5 * lower[i % 3] - 0.5 * upper[i % 3]) * scale);
    return scale;
}

static void add_noise(cloud_scan* scan, double noise, uint64_t state) {
    for (int64_t i = 0; noise > 0 && i < 3 * scan->count; i++) scan->points[i] += (float)(noise * scatter(&state));
}

// Turns the scan out of its place, about an axis that is none of its own, and shifts it.
static void put_out_of_place(cloud_scan* scan, double degrees, double turn[9]) {
    static const double axis[3] = {0.36, 0.48, 0.8}, shift[3] = {0.12, -0.1, 0.16};
    const double angle = degrees * 0.017453292519943295, c = cos(angle), s = sin(angle);
    double move[16] = {[15] = 1};
    for (int r = 0; r < 3; r++) {
        for (int k = 0; k < 3; k++) {
            const double side = r == k ? 0 : (k - r + 3) % 3 == 1 ? -axis[3 - r - k] : axis[3 - r - k];
            move[4 * r + k] = axis[r] * axis[k] * (1 - c) + (r == k ? c : s * side);
            turn[3 * r + k] = move[4 * r + k];
        }
        move[4 * r + 3] = shift[r] * fmin(1, degrees / 20);
    }
    (void)sap_transform_points(move, (sap_points){scan->points, scan->count, 3, 0}, scan->points);
    for (int r = 0; r < 3; r++) move[4 * r + 3] = 0;
    if (scan->axes) (void)sap_transform_points(move, (sap_points){scan->axes, scan->count, 3, 0}, scan->axes);
}

// ---- Jobs

// What stands still and what moves, in lengths of their own; scans[0] stays empty for a scan that relaxes.
static sap_status choose(const double* number, cloud_scan scans[2]) {
    const bool aligns = number[CLOUD_MAKE_ALIGNS] != 0, of_file = number[CLOUD_MAKE_OF_FILE] != 0;
    const bool y_up = number[CLOUD_MAKE_Y_UP] != 0;
    const int64_t most = (int64_t)number[CLOUD_MAKE_POINTS];
    const int64_t count = aligns ? most * 8 / 3 : most; // of a scan that is cut three eighths go into each part
    if (of_file && !file.scans) return page_fail(SAP_ERROR_ARGUMENT, "The scan is gone: open its file again.");
    if (aligns && of_file && file.scans == 2)
        return take_some(&file.scan[1], most, y_up, &scans[0]) && take_some(&file.scan[0], most, y_up, &scans[1])
                   ? SAP_OK
                   : cloud_no_memory();
    cloud_scan whole = {.count = 0};
    const bool fits = of_file ? take_some(&file.scan[0], count, y_up, &whole) : make_knot(count, !aligns, &whole);
    if (!fits) return cloud_no_memory();
    if (!aligns) {
        scans[1] = whole;
        return SAP_OK;
    }
    sap_status status = find_axes(&whole);
    if (status == SAP_OK && !cut(&whole, scans)) status = cloud_no_memory();
    cloud_scan_free(&whole);
    return status;
}

// What the numbers of a cloud_make ask for.
static sap_status make(page_job* job) {
    const double* number = job->number;
    const bool aligns = number[CLOUD_MAKE_ALIGNS] != 0, of_file = number[CLOUD_MAKE_OF_FILE] != 0;
    cloud_scan scans[2] = {{.count = 0}, {.count = 0}};
    double turn[9];
    sap_status status = choose(number, scans);
    if (status != SAP_OK) {
        cloud_scan_free(&scans[0]);
        cloud_scan_free(&scans[1]);
        return status;
    }
    const double scale = settle(scans);
    cloud_from = of_file ? (cloud_source){file.unit * scale, file.given, file.not_finite} : (cloud_source){1, 0, 0};
    for (uint64_t s = 0; s < 2; s++) add_noise(&scans[s], number[CLOUD_MAKE_NOISE], s);
    if (aligns) put_out_of_place(&scans[1], number[CLOUD_MAKE_APART], turn);
    status = cloud_begin_work(scans[0], scans[1]);
    if (status != SAP_OK) return status;
    cloud_here.knows_place = aligns && !(of_file && file.scans == 2);
    if (cloud_here.knows_place) memcpy(cloud_here.out, turn, sizeof turn);
    return cloud_answer(job);
}

// A scan, or two (cloud_make; cloud_state).
PAGE_EXPORT sap_status job_cloud_make(page_job* job) { return make(job); }

// Takes the points of a file less a middle, leaving out those that are not finite.
static sap_status take(const sap_point_set* set, const double middle[3], double scale, cloud_scan* scan) {
    if (!make_room(scan, set->count)) return cloud_no_memory();
    scan->count = 0;
    for (int64_t i = 0; i < set->count; i++) {
        const double* p = set->coords_f64 + i * set->dims;
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2])) continue;
        float* to = scan->points + 3 * scan->count++;
        for (int a = 0; a < 3; a++) to[a] = (float)((p[a] - middle[a]) * scale);
    }
    return SAP_OK;
}

static sap_status check(const sap_point_set* set, double lower[3], double upper[3]) {
    int64_t finite = 0;
    if (set->dims != 3)
        return page_fail(SAP_ERROR_FORMAT, "Its points have %d coordinates; those of a scan have 3.", (int)set->dims);
    if (set->count > CLOUD_MOST)
        return page_fail(SAP_ERROR_RANGE, "It holds %lld points; the page takes up to %d.", (long long)set->count,
                         CLOUD_MOST);
    for (int64_t i = 0; i < set->count; i++) {
        const double* p = set->coords_f64 + 3 * i;
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2])) continue;
        finite++;
        for (int a = 0; a < 3; a++) {
            lower[a] = fmin(lower[a], p[a]);
            upper[a] = fmax(upper[a], p[a]);
        }
    }
    return finite >= 3 ? SAP_OK : page_fail(SAP_ERROR_FORMAT, "It holds fewer than three points.");
}

// Reads one scan, or two at once (cloud_make, page_file; cloud_state).
PAGE_EXPORT sap_status job_cloud_read(page_job* job) {
    enum { STRIDE = PAGE_FILE_NAME + 1 };
    const int scans = job->in[STRIDE] ? 2 : 1;
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    double middle[3], diagonal = 0, given = 0;
    sap_point_set* sets[2] = {NULL, NULL};
    cloud_scan read[2] = {{.count = 0}, {.count = 0}};
    sap_status status = SAP_OK;
    for (int s = 0; s < scans && status == SAP_OK; s++) {
        const int at = s * STRIDE;
        status = page_table_parse(job->in[at + PAGE_FILE_NAME], job->in[at + PAGE_FILE_BYTES],
                                  job->in_bytes[at + PAGE_FILE_BYTES], &sets[s]);
        if (status == SAP_OK) status = check(sets[s], lower, upper);
        if (status == SAP_OK) given += (double)sets[s]->count;
    }
    for (int a = 0; a < 3; a++) {
        middle[a] = 0.5 * lower[a] + 0.5 * upper[a];
        diagonal = fmax(diagonal, 0.5 * upper[a] - 0.5 * lower[a]);
    }
    const double scale = diagonal > 0 ? 1 / diagonal : 1;
    for (int s = 0; s < scans && status == SAP_OK; s++) status = take(sets[s], middle, scale, &read[s]);
    for (int s = 0; s < 2; s++) {
        sap_point_set_free(sets[s]);
        if (status != SAP_OK) cloud_scan_free(&read[s]);
    }
    if (status != SAP_OK) return status;
    for (int s = 0; s < 2; s++) {
        cloud_scan_free(&file.scan[s]);
        file.scan[s] = read[s];
    }
    file.scans = scans;
    file.unit = scale;
    file.given = given;
    file.not_finite = given - (double)(read[0].count + read[1].count);
    return make(job);
}
