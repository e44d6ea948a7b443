// Finds equal points with a hash table of ids.
#include "input.h"

#include <stdlib.h>
#include <string.h>

static double coordinate(const sap_cli_points* points, int64_t point, int32_t axis) {
    int64_t at = point * points->dims + axis;
    return points->real_bits == 64 ? ((const double*)points->coords)[at] : (double)((const float*)points->coords)[at];
}

// A hash of a point's coordinates in which -0 is 0; false if one is NaN.
static bool hash_point(const sap_cli_points* points, int64_t point, uint64_t* hash) {
    *hash = 0;
    for (int32_t a = 0; a < points->dims; a++) {
        double value = coordinate(points, point, a) + 0.0;
        uint64_t bits;
        if (value != value) return false;
        memcpy(&bits, &value, sizeof bits);
        *hash = (*hash ^ bits) * 0x9e3779b97f4a7c15u;
        *hash ^= *hash >> 32;
    }
    *hash *= 0xd6e8feb86659fd93u;
    *hash ^= *hash >> 29;
    return true;
}

static bool same_point(const sap_cli_points* points, int64_t a, int64_t b) {
    for (int32_t axis = 0; axis < points->dims; axis++)
        if (coordinate(points, a, axis) != coordinate(points, b, axis)) return false;
    return true;
}

int64_t sap_cli_duplicates(sap_cli* cli, const sap_cli_points* points, bool* repeated) {
    uint64_t slots = 16;
    while (slots < 2 * (uint64_t)points->count) slots *= 2;
    int32_t* table = sap_cli_allocate(cli, (int64_t)slots, sizeof *table);
    if (!table) return -1;
    memset(table, 0xff, slots * sizeof *table);
    int64_t found = 0;
    for (int64_t i = 0; i < points->count; i++) {
        uint64_t hash;
        if (repeated) repeated[i] = false;
        if (!hash_point(points, i, &hash)) continue;
        uint64_t slot = hash & (slots - 1);
        while (table[slot] >= 0 && !same_point(points, table[slot], i)) slot = (slot + 1) & (slots - 1);
        if (table[slot] < 0) {
            table[slot] = (int32_t)i;
            continue;
        }
        found++;
        if (repeated) repeated[i] = true;
    }
    free(table);
    return found;
}
