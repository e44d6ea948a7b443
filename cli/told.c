// Searches by other metrics, with weights, masks, boxes and radii.
#include "told.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A number that takes up the text up to `end`.
static bool read_number(const char* text, const char* end, double* number) {
    char* stop;
    if (text == end || *text == ' ' || *text == '\t' || *text == '\n') return false;
    *number = strtod(text, &stop);
    return stop == end;
}

static sap_cli_exit read_metric(sap_cli* cli, sap_cli_told* told) {
    static const struct {
        const char* name;
        sap_metric metric;
        double power;
    } metrics[] = {{"l2", SAP_METRIC_L2, 2}, {"l1", SAP_METRIC_L1, 1}, {"linf", SAP_METRIC_LINF, HUGE_VAL}};
    const char* text = cli->options->metric;
    told->power = 2;
    if (!text) return SAP_EXIT_OK;
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        if (strcmp(text, metrics[i].name)) continue;
        told->search.metric = metrics[i].metric;
        told->power = metrics[i].power;
        return SAP_EXIT_OK;
    }
    if (!read_number(text, text + strlen(text), &told->power) || !(told->power >= 1) ||
        (told->power > 1000 && !isinf(told->power)))
        return sap_cli_usage(cli, "'%s' is not a value for --metric; it takes l2, l1, linf or a number from 1 to 1000",
                             text);
    told->search.metric = SAP_METRIC_LP;
    told->search.p = told->power;
    return SAP_EXIT_OK;
}

static sap_cli_exit read_weights(sap_cli* cli, sap_cli_told* told) {
    const char* text = cli->options->weights;
    while (text) {
        const char* end = text + strcspn(text, ",");
        double* weight = &told->weights[told->weight_count];
        if (told->weight_count == SAP_MAX_DIMS || !read_number(text, end, weight) || !(*weight >= 0) || isinf(*weight))
            return sap_cli_usage(
                cli,
                "'%s' is not a value for --weights; it takes a number for each axis, separated by commas, not "
                "negative",
                cli->options->weights);
        told->weight_count++;
        text = *end ? end + 1 : NULL;
    }
    if (told->weight_count) told->search.weights = told->weights;
    return SAP_EXIT_OK;
}

sap_cli_exit sap_cli_told_check(sap_cli* cli, sap_cli_told* told) {
    const sap_cli_options* options = cli->options;
    sap_cli_exit result = read_metric(cli, told);
    if (result == SAP_EXIT_OK) result = read_weights(cli, told);
    if (result != SAP_EXIT_OK) return result;
    if (options->eps > 0 && options->verify)
        return sap_cli_usage(cli, "--verify is for exact answers; --eps allows others");
    if (options->radii && options->radius >= 0)
        return sap_cli_usage(cli, "--radii has a radius for each query; --radius cannot be given, too");
    told->search.eps = options->eps;
    told->is_told = told->search.metric != SAP_METRIC_L2 || told->search.weights || options->mask ||
                    options->box.count || options->radii || options->eps > 0;
    return SAP_EXIT_OK;
}

// A file of one number for each of so many points or queries, whichever `what` is. NULL after saying what is wrong.
static double* read_column(sap_cli* cli, const char* option, const char* path, int64_t rows, const char* what) {
    sap_point_set* set = NULL;
    const sap_status status = sap_points_read(cli->device, path, SAP_FORMAT_AUTO, 64, &set);
    if (status != SAP_OK) {
        sap_cli_failed(cli, status, path);
        return NULL;
    }
    double* values = NULL;
    if (set->dims != 1)
        sap_cli_error(cli, "--%s: %s has %d numbers a row; one is needed", option, path, (int)set->dims);
    else if (set->count != rows)
        sap_cli_error(cli, "--%s: %s has %lld rows; one for each of the %lld %s is needed", option, path,
                      (long long)set->count, (long long)rows, what);
    else
        values = sap_cli_allocate(cli, rows, sizeof *values);
    if (values && rows) memcpy(values, set->coords_f64, (size_t)rows * sizeof *values);
    sap_point_set_free(set);
    return values;
}

static sap_cli_exit read_mask(sap_cli* cli, const sap_cli_reference* reference, sap_cli_told* told) {
    const char* path = cli->options->mask;
    const int64_t count = reference->info.source_count;
    if (!path) return SAP_EXIT_OK;
    double* values = read_column(cli, "mask", path, count, "points");
    told->keep = values ? sap_cli_allocate(cli, count, 1) : NULL;
    for (int64_t i = 0; told->keep && i < count; i++) told->keep[i] = values[i] != 0;
    free(values);
    told->search.keep = told->keep;
    return told->keep ? SAP_EXIT_OK : SAP_EXIT_FAILED;
}

// The points in a box, in the precision of the tree.
static sap_status search_box(const sap_cli_reference* reference, const double* box, sap_neighbors** found) {
    const int32_t dims = reference->info.dims;
    float narrow[2 * SAP_MAX_DIMS];
    for (int32_t i = 0; i < 2 * dims; i++) narrow[i] = (float)box[i];
    if (reference->info.real_bits == 64)
        return sap_box_search_f64(reference->tree, (sap_points_f64){box, 1, dims, 0},
                                  (sap_points_f64){box + dims, 1, dims, 0}, found);
    return sap_box_search(reference->tree, (sap_points){narrow, 1, dims, 0}, (sap_points){narrow + dims, 1, dims, 0},
                          found);
}

static sap_cli_exit find_in_box(sap_cli* cli, const sap_cli_reference* reference, sap_cli_told* told) {
    const sap_cli_numbers* box = &cli->options->box;
    const int64_t count = reference->info.source_count;
    sap_neighbors* found = NULL;
    if (!box->count) return SAP_EXIT_OK;
    if (box->count != 2 * reference->info.dims)
        return sap_cli_usage(cli, "--box has %d numbers; a box about points of %d coordinates has %d", (int)box->count,
                             (int)reference->info.dims, 2 * (int)reference->info.dims);
    told->in_box = sap_cli_allocate(cli, count, 1);
    if (!told->in_box) return SAP_EXIT_FAILED;
    const sap_status status = search_box(reference, box->at, &found);
    if (status != SAP_OK) return sap_cli_failed(cli, status, NULL);
    if (count) memset(told->in_box, 0, (size_t)count);
    for (int64_t i = 0; i < found->offsets[1]; i++)
        told->in_box[found->ids[i]] = !told->keep || told->keep[found->ids[i]];
    sap_neighbors_free(found);
    told->box = box->at;
    told->search.keep = told->in_box;
    return SAP_EXIT_OK;
}

static sap_cli_exit read_radii(sap_cli* cli, int64_t queries, sap_cli_told* told) {
    if (!cli->options->radii) return SAP_EXIT_OK;
    told->radii = read_column(cli, "radii", cli->options->radii, queries, "queries");
    told->search.radii = told->radii;
    return told->radii ? SAP_EXIT_OK : SAP_EXIT_FAILED;
}

sap_cli_exit sap_cli_told_read(sap_cli* cli, const sap_cli_reference* reference, int64_t queries, sap_cli_told* told) {
    if (told->weight_count && told->weight_count != reference->info.dims)
        return sap_cli_usage(cli, "--weights has %d numbers; the points have %d coordinates", (int)told->weight_count,
                             (int)reference->info.dims);
    sap_cli_exit result = read_mask(cli, reference, told);
    if (result == SAP_EXIT_OK) result = find_in_box(cli, reference, told);
    return result == SAP_EXIT_OK ? read_radii(cli, queries, told) : result;
}

void sap_cli_told_free(sap_cli_told* told) {
    free(told->keep);
    free(told->in_box);
    free(told->radii);
}

// ---- Points and distances for --verify.

static double coordinate(const void* values, int64_t at, int32_t real_bits) {
    return real_bits == 64 ? ((const double*)values)[at] : (double)((const float*)values)[at];
}

bool sap_cli_told_allows(const sap_cli_told* told, int32_t dims, int32_t real_bits, const void* points, int64_t id) {
    bool allows = !told->keep || told->keep[id];
    for (int32_t a = 0; told->box && a < dims; a++) {
        const double lower = told->box[a], upper = told->box[dims + a],
                     x = coordinate(points, id * dims + a, real_bits);
        allows = allows && x >= (real_bits == 64 ? lower : (double)(float)lower);
        allows = allows && x <= (real_bits == 64 ? upper : (double)(float)upper);
    }
    return allows;
}

#define RAISE(name, real, root_of)                                                                                     \
    static real name(real weight, real length, double power) {                                                         \
        real term = weight * length;                                                                                   \
        const int whole = isinf(power) ? 1 : (int)power;                                                               \
        double fraction = isinf(power) ? 0 : power - whole;                                                            \
        for (int i = 1; i < whole; i++) term = term * length;                                                          \
        while (fraction > 0) {                                                                                         \
            fraction *= 2;                                                                                             \
            length = root_of(length);                                                                                  \
            if (fraction >= 1) {                                                                                       \
                term = term * length;                                                                                  \
                fraction--;                                                                                            \
            }                                                                                                          \
        }                                                                                                              \
        return term;                                                                                                   \
    }
RAISE(raise_f32, float, sqrtf)
RAISE(raise_f64, double, sqrt)

double sap_cli_told_limit(const sap_cli_told* told, double radius, int32_t real_bits) {
    const double limit = raise_f64(1, radius, told->power);
    return real_bits == 64 ? limit : (double)(float)limit;
}

double sap_cli_told_distance(const sap_cli_told* told, int32_t dims, int32_t real_bits, const void* a, const void* b) {
    const bool is_largest = isinf(told->power), is_wide = real_bits == 64;
    double total = 0;
    for (int32_t axis = 0; axis < dims; axis++) {
        const double x = coordinate(a, axis, real_bits), y = coordinate(b, axis, real_bits);
        if (!isfinite(x) || !isfinite(y)) return HUGE_VAL;
        const double weight = told->weight_count ? told->weights[axis] : 1;
        const double term = is_wide ? raise_f64(weight, fabs(x - y), told->power)
                                    : (double)raise_f32((float)weight, fabsf((float)x - (float)y), told->power);
        if (is_largest)
            total = term > total ? term : total;
        else
            total = is_wide ? total + term : (double)((float)total + (float)term);
    }
    return total;
}
