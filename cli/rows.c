// Rows from pairs.
#include "rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sap_cli_rows_free(sap_cli_own_rows* rows) {
    free(rows->offsets);
    free(rows->ids);
    free(rows->distance2);
    *rows = (sap_cli_own_rows){0};
}

static void put(sap_cli_own_rows* rows, int64_t at, int32_t id, const sap_neighbors* pairs, int64_t pair) {
    rows->ids[at] = id;
    if (pairs->distance2_f64)
        ((double*)rows->distance2)[at] = pair < 0 ? 0 : pairs->distance2_f64[pair];
    else
        ((float*)rows->distance2)[at] = pair < 0 ? 0 : pairs->distance2[pair];
}

// offsets[i] becomes the first slot of row i.
static void lay_out(int64_t* offsets, const sap_neighbors* pairs, const bool* present) {
    memset(offsets, 0, ((size_t)pairs->count + 1) * sizeof *offsets);
    for (int64_t i = 0; i < pairs->count; i++) {
        offsets[i + 1] += pairs->offsets[i + 1] - pairs->offsets[i] + (present && present[i]);
        for (int64_t j = pairs->offsets[i]; j < pairs->offsets[i + 1]; j++) offsets[pairs->ids[j] + 1]++;
    }
    for (int64_t i = 0; i < pairs->count; i++) offsets[i + 1] += offsets[i];
}

// Rows ascend: first the smaller ids come, in order of their rows; then itself; then the greater ids, found by going
// through the smaller ids' entries again in order of the greater one.
static void fill(sap_cli_own_rows* rows, const sap_neighbors* pairs, const bool* present, int64_t* next,
                 int64_t* pair) {
    for (int64_t i = 0; i < pairs->count; i++) {
        for (int64_t j = pairs->offsets[i]; j < pairs->offsets[i + 1]; j++) {
            int64_t at = next[pairs->ids[j]]++;
            pair[at] = j;
            put(rows, at, (int32_t)i, pairs, j);
        }
    }
    for (int64_t i = 0; i < pairs->count; i++) {
        int64_t end = next[i];
        if (present && present[i]) put(rows, next[i]++, (int32_t)i, pairs, -1);
        for (int64_t at = rows->offsets[i]; at < end; at++)
            put(rows, next[rows->ids[at]]++, (int32_t)i, pairs, pair[at]);
    }
}

bool sap_cli_rows_of_pairs(sap_cli* cli, const sap_neighbors* pairs, const bool* present, sap_cli_own_rows* rows) {
    int64_t entries;
    *rows = (sap_cli_own_rows){0};
    rows->offsets = sap_cli_allocate(cli, pairs->count + 1, sizeof *rows->offsets);
    if (!rows->offsets) return false;
    lay_out(rows->offsets, pairs, present);
    entries = rows->offsets[pairs->count];
    rows->ids = sap_cli_allocate(cli, entries, sizeof *rows->ids);
    rows->distance2 = sap_cli_allocate(cli, entries, pairs->distance2_f64 ? sizeof(double) : sizeof(float));
    int64_t* next = sap_cli_allocate(cli, pairs->count + 1, sizeof *next);
    int64_t* pair = sap_cli_allocate(cli, entries, sizeof *pair);
    bool ready = rows->ids && rows->distance2 && next && pair;
    if (ready) {
        memcpy(next, rows->offsets, ((size_t)pairs->count + 1) * sizeof *next);
        fill(rows, pairs, present, next, pair);
    } else {
        sap_cli_rows_free(rows);
    }
    free(next);
    free(pair);
    return ready;
}

typedef struct entry {
    double distance2;
    int32_t id;
} entry;

static int compare_entries(const void* left, const void* right) {
    const entry *a = left, *b = right;
    if (a->distance2 != b->distance2) return a->distance2 < b->distance2 ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

bool sap_cli_rows_sort(sap_cli* cli, sap_cli_own_rows* rows, int64_t count, bool wide) {
    int64_t longest = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t length = rows->offsets[i + 1] - rows->offsets[i];
        if (length > longest) longest = length;
    }
    entry* entries = sap_cli_allocate(cli, longest, sizeof *entries);
    if (!entries) return false;
    float* narrow2 = wide ? NULL : rows->distance2;
    double* wide2 = wide ? rows->distance2 : NULL;
    for (int64_t i = 0; i < count; i++) {
        int64_t first = rows->offsets[i], length = rows->offsets[i + 1] - first;
        for (int64_t j = 0; j < length; j++)
            entries[j] = (entry){wide ? wide2[first + j] : (double)narrow2[first + j], rows->ids[first + j]};
        qsort(entries, (size_t)length, sizeof *entries, compare_entries);
        for (int64_t j = 0; j < length; j++) {
            rows->ids[first + j] = entries[j].id;
            if (wide)
                wide2[first + j] = entries[j].distance2;
            else
                narrow2[first + j] = (float)entries[j].distance2;
        }
    }
    free(entries);
    return true;
}

sap_cli_exit sap_cli_rows_print(sap_cli* cli, const sap_cli_rows* rows) {
    for (int64_t i = 0; i < rows->count && !ferror(stdout); i++) {
        for (int64_t j = rows->offsets[i]; j < rows->offsets[i + 1]; j++)
            printf("%s%d", j > rows->offsets[i] ? " " : "", (int)rows->ids[j]);
        putchar('\n');
    }
    return sap_cli_flush(cli);
}
