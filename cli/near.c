// Points as floats from an origin near most of them, for calls that take floats alone.
#include "near.h"

#include <math.h>
#include <stdlib.h>

// Puts the value of this rank, counted from 0, into its place, none greater before it and none less behind it.
static double select_rank(double* values, int64_t count, int64_t rank) {
    int64_t first = 0, last = count - 1;
    while (first < last) {
        const double pivot = values[first + (last - first) / 2];
        int64_t i = first, j = last;
        while (i <= j) {
            while (values[i] < pivot) i++;
            while (values[j] > pivot) j--;
            if (i > j) break;
            const double value = values[i];
            values[i++] = values[j];
            values[j--] = value;
        }
        if (rank <= j)
            last = j;
        else if (rank >= i)
            first = i;
        else
            break;
    }
    return values[rank];
}

sap_cli_exit sap_cli_near_origin(sap_cli* cli, const sap_cli_points* points, double origin[3]) {
    for (int a = 0; a < 3; a++) origin[a] = 0;
    if (points->real_bits == 32) return SAP_EXIT_OK;
    double* values = sap_cli_allocate(cli, points->count, sizeof *values);
    if (!values) return SAP_EXIT_FAILED;
    for (int a = 0; a < 3; a++) {
        int64_t count = 0;
        for (int64_t i = 0; i < points->count; i++) {
            const double value = sap_cli_number_at(points, 3 * i + a);
            if (isfinite(value)) values[count++] = value;
        }
        if (count) origin[a] = select_rank(values, count, count / 2);
    }
    free(values);
    return SAP_EXIT_OK;
}

float* sap_cli_near_floats(sap_cli* cli, const char* path, const sap_cli_points* points, const double origin[3]) {
    float* floats = sap_cli_allocate(cli, points->count, 3 * sizeof *floats);
    for (int64_t i = 0; floats && i < 3 * points->count; i++) {
        const double value = sap_cli_number_at(points, i);
        floats[i] = (float)(value - origin[i % 3]);
        if (!isfinite(value) || isfinite(floats[i])) continue;
        sap_cli_error(cli, "%s: coordinate %d of point %lld, %g, lies beyond all floats, in which points move", path,
                      (int)(i % 3), (long long)(i / 3), value);
        free(floats);
        return NULL;
    }
    return floats;
}

static double moved2(const sap_cli_points* points, const double origin[3], const float* floats, int64_t row) {
    double sum = 0;
    for (int a = 0; a < 3; a++) {
        const double by = (double)floats[3 * row + a] + origin[a] - sap_cli_number_at(points, 3 * row + a);
        sum += by * by;
    }
    return sum;
}

// The squared distance of each point to its nearest other one.
static sap_status find_nearest(sap_cli* cli, const sap_cli_points* points, int32_t* ids, double* distance2) {
    sap_tree* tree = NULL;
    sap_status status = sap_tree_build_f64(cli->device, sap_cli_f64(points), NULL, &tree);
    if (status == SAP_OK) status = sap_nearest_self_f64(tree, &(sap_search){.k = 1}, ids, distance2);
    sap_tree_free(tree);
    return status;
}

sap_cli_exit sap_cli_near_check(sap_cli* cli, const char* path, const sap_cli_points* points, const double origin[3],
                                const float* floats) {
    const double part = 0.1; // of the way to the nearest other point: what does no harm
    int64_t moved = 0;
    for (int64_t i = 0; i < points->count && !moved; i++) moved += moved2(points, origin, floats, i) != 0;
    if (!moved) return SAP_EXIT_OK;
    double* distance2 = sap_cli_allocate(cli, points->count, sizeof *distance2);
    int32_t* ids = distance2 ? sap_cli_allocate(cli, points->count, sizeof *ids) : NULL;
    const sap_status status = ids ? find_nearest(cli, points, ids, distance2) : SAP_ERROR_MEMORY;
    moved = 0;
    for (int64_t i = 0; status == SAP_OK && i < points->count; i++)
        moved += distance2[i] > 0 && moved2(points, origin, floats, i) > part * part * distance2[i];
    sap_cli_exit result = status == SAP_OK ? SAP_EXIT_OK : SAP_EXIT_FAILED;
    if (status != SAP_OK && ids) sap_cli_failed(cli, status, path);
    if (moved > points->count / 2)
        result = sap_cli_error(cli,
                               "%s: lies too far apart for floats, in which points move: from %.9g,%.9g,%.9g they take "
                               "%lld of %lld points over a tenth of the way to the nearest other one",
                               path, origin[0], origin[1], origin[2], (long long)moved, (long long)points->count);
    else if (moved)
        sap_cli_note(cli,
                     "%s: points move as floats, which take %lld of %lld over a tenth of the way to the nearest other "
                     "one",
                     path, (long long)moved, (long long)points->count);
    free(ids);
    free(distance2);
    return result;
}
