// Which precision points are searched in: float unless that would move them beside one another.
#include "ranks.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static double coordinate(const sap_cli_points* points, int64_t i) {
    return points->real_bits == 64 ? ((const double*)points->coords)[i] : (double)((const float*)points->coords)[i];
}

double sap_cli_points_bounds(const sap_cli_points* points, double* lower, double* upper) {
    double extent = 0;
    for (int32_t a = 0; a < points->dims; a++) {
        lower[a] = HUGE_VAL;
        upper[a] = -HUGE_VAL;
        for (int64_t i = 0; i < points->count; i++) {
            double value = coordinate(points, i * points->dims + a);
            if (!isfinite(value)) continue;
            if (value < lower[a]) lower[a] = value;
            if (value > upper[a]) upper[a] = value;
        }
        extent = fmax(extent, upper[a] - lower[a]); // -inf without any
    }
    return extent;
}

double sap_cli_points_moved(const sap_cli_points* points) {
    double most = 0;
    for (int64_t i = 0; points->real_bits == 64 && i < points->count * points->dims; i++) {
        double value = ((const double*)points->coords)[i];
        if (isfinite(value)) most = fmax(most, fabs(value - (double)(float)value));
    }
    return most;
}

// Whether a file can be read from its start once more.
static bool can_be_read_again(const char* path) {
    struct stat status;
    if (strcmp(path, "-") != 0) return !stat(path, &status) && S_ISREG(status.st_mode);
    return !fstat(STDIN_FILENO, &status) && S_ISREG(status.st_mode) && lseek(STDIN_FILENO, 0, SEEK_CUR) == 0;
}

// Reads the points of the reference as doubles, or makes doubles of its floats if it cannot be read again.
static sap_cli_exit widen(sap_cli* cli, sap_cli_reference* reference) {
    const bool again = sap_cli_is_first(cli) && can_be_read_again(sap_cli_bytes_of(cli, reference->path));
    if (!(cli->ranks ? sap_cli_ranks_hear(cli, again) : (uint64_t)again))
        return sap_cli_points_convert(cli, &reference->points, 64);
    sap_cli_points_free(&reference->points);
    return sap_cli_points_read(cli, reference->path, 64, &reference->points);
}

sap_cli_exit sap_cli_align_dims(sap_cli* cli, const char* path, int32_t dims) {
    if (dims == 3) return SAP_EXIT_OK;
    return sap_cli_error(cli, "%s: its points have %d coordinates; clouds are aligned in 3%s",
                         strcmp(path, "-") != 0 ? path : "standard input", (int)dims,
                         sap_cli_is_tree(cli, path) ? "" : "; --columns chooses them");
}

static sap_cli_exit check_dims(sap_cli* cli, const char* path, const sap_cli_reference* reference, int32_t dims,
                               const sap_cli_points* queries) {
    if (queries->dims == dims) return SAP_EXIT_OK;
    if (cli->options->verb == SAP_VERB_ALIGN)
        return queries->dims != 3 ? sap_cli_align_dims(cli, path, queries->dims)
                                  : sap_cli_align_dims(cli, reference->path, dims);
    return sap_cli_error(cli, "%s: queries have %d coordinates, but the points of %s have %d; give as many", path,
                         (int)queries->dims, reference->path, (int)dims);
}

// Says that queries are rounded, and by how much if that matters.
static void tell_rounding(sap_cli* cli, const char* path, const sap_cli_reference* reference, double moved,
                          double extent) {
    char by[96] = "";
    if (moved > SAP_CLI_FLOAT_ERROR * extent) snprintf(by, sizeof by, ", which moves them by up to %.3g", moved);
    sap_cli_note(cli, "%s: float64 coordinates are rounded to the float32 of %s%s%s", path, reference->path, by,
                 !reference->saved ? "; --precision float64 keeps them"
                 : *by             ? "; a tree built with --precision float64 keeps them"
                                   : "");
}

// Of a saved tree, whose precision is what it is.
static sap_cli_exit read_for_tree(sap_cli* cli, const char* path, const sap_cli_reference* reference,
                                  sap_cli_points* queries) {
    const sap_tree_info* info = &reference->info;
    double extent = 0;
    for (int32_t a = 0; a < info->dims; a++) extent = fmax(extent, info->upper[a] - info->lower[a]);
    // Text is rounded once, to the tree's type; what a float32 tree makes of doubles should be known.
    const int32_t real_bits = info->real_bits == 64 ? 64 : cli->options->precision;
    sap_cli_exit result = sap_cli_points_read_beside(cli, path, real_bits, fmax(extent, DBL_MIN), queries);
    if (result == SAP_EXIT_OK) result = check_dims(cli, path, reference, info->dims, queries);
    if (result != SAP_EXIT_OK || queries->real_bits == info->real_bits) return result;
    tell_rounding(cli, path, reference, sap_cli_ranks_most_real(cli, sap_cli_points_moved(queries)), extent);
    return sap_cli_points_convert(cli, queries, info->real_bits);
}

sap_cli_exit sap_cli_queries_read(sap_cli* cli, const char* path, sap_cli_reference* reference,
                                  sap_cli_points* queries) {
    double lower[SAP_MAX_DIMS], upper[SAP_MAX_DIMS];
    if (reference->saved) return read_for_tree(cli, path, reference, queries);
    sap_cli_points* points = &reference->points;
    double extent = sap_cli_points_bounds(points, lower, upper);
    if (cli->ranks) extent = sap_cli_ranks_bounds(cli, points->dims, lower, upper);
    int32_t real_bits = points->real_bits == 64 ? 64 : cli->options->precision;
    sap_cli_exit result = sap_cli_points_read_beside(cli, path, real_bits, fmax(extent, DBL_MIN), queries);
    if (result == SAP_EXIT_OK) result = check_dims(cli, path, reference, points->dims, queries);
    if (result != SAP_EXIT_OK || queries->real_bits == points->real_bits) return result;
    double moved = sap_cli_ranks_most_real(cli, sap_cli_points_moved(queries));
    if (moved <= SAP_CLI_FLOAT_ERROR * extent) {
        tell_rounding(cli, path, reference, moved, extent);
        return sap_cli_points_convert(cli, queries, 32);
    }
    sap_cli_note(cli, "%s: float32 would move coordinates by up to %.3g, so it and %s are searched as float64", path,
                 moved, reference->path);
    return widen(cli, reference);
}
