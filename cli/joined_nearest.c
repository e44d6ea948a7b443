// The nearest points of this rank's queries, or of its rows of the reference.
#include "ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static sap_cli_exit allocate(sap_cli* cli, bool wide, bool measured, sap_cli_answers* answers) {
    answers->ids = sap_cli_allocate_neighbors(cli, answers->rows, sizeof *answers->ids);
    if (answers->ids && measured)
        answers->distance2 = sap_cli_allocate_neighbors(cli, answers->rows, wide ? sizeof(double) : sizeof(float));
    return sap_cli_agree(cli, answers->ids && (answers->distance2 || !measured) ? SAP_EXIT_OK : SAP_EXIT_FAILED);
}

static sap_cli_exit ask(sap_cli* cli, const sap_cli_reference* reference, const sap_cli_points* queries,
                        const sap_search* search, sap_cli_answers* answers) {
    const sap_status status =
        queries->real_bits == 64
            ? sap_cluster_nearest_f64(reference->cluster, sap_cli_f64(queries), search, answers->ids,
                                      answers->distance2)
            : sap_cluster_nearest(reference->cluster, sap_cli_f32(queries), search, answers->ids, answers->distance2);
    return sap_cli_agree(cli, status == SAP_OK ? SAP_EXIT_OK : sap_cli_nearest_failed(cli, status));
}

// ---- Where the points ask, answers are where the points are in the tree. They go to the ranks that have their rows.

typedef struct journey {
    int64_t *sends, *comes;     // bytes, for and from each rank
    int64_t *counts, *received; // rows
    int64_t *order, *targets;   // the rows in the order of their ranks; where those that come belong
    int64_t here, coming;
} journey;

static void free_journey(journey* j) {
    free(j->counts);
    free(j->order);
    free(j->targets);
}

static sap_cli_exit plan(sap_cli* cli, const int64_t* points, int64_t all, journey* j) {
    const int32_t size = cli->ranks->size;
    j->counts = sap_cli_allocate(cli, 4 * (int64_t)size, sizeof *j->counts);
    j->order = j->counts ? sap_cli_allocate(cli, 2 * j->here, sizeof *j->order) : NULL;
    sap_cli_exit result = sap_cli_agree(cli, j->order ? SAP_EXIT_OK : SAP_EXIT_FAILED);
    if (result != SAP_EXIT_OK) return result;
    j->received = j->counts + size;
    j->sends = j->received + size;
    j->comes = j->sends + size;
    memset(j->counts, 0, (size_t)size * sizeof *j->counts);
    for (int64_t i = 0; i < j->here; i++) j->counts[sap_cli_share_owner(cli, all, points[i])]++;
    int64_t at = 0;
    for (int32_t r = 0; r < size; r++) {
        j->sends[r] = at; // where its rows begin, for now
        at += j->counts[r];
    }
    for (int64_t i = 0; i < j->here; i++) j->order[j->sends[sap_cli_share_owner(cli, all, points[i])]++] = i;
    for (int32_t r = 0; r < size; r++) j->sends[r] = j->comes[r] = sizeof *j->counts;
    sap_comm_all_to_all(cli->ranks->comm, j->counts, j->sends, j->received, j->comes);
    for (int32_t r = 0; r < size; r++) j->coming += j->received[r];
    // The rows' numbers go first.
    int64_t* numbers = j->order + j->here;
    for (int64_t i = 0; i < j->here; i++) numbers[i] = points[j->order[i]];
    j->targets = sap_cli_allocate(cli, j->coming, sizeof *j->targets);
    result = sap_cli_agree(cli, j->targets ? SAP_EXIT_OK : SAP_EXIT_FAILED);
    if (result != SAP_EXIT_OK) return result;
    for (int32_t r = 0; r < size; r++) {
        j->sends[r] = j->counts[r] * (int64_t)sizeof *numbers;
        j->comes[r] = j->received[r] * (int64_t)sizeof *numbers;
    }
    sap_comm_all_to_all(cli->ranks->comm, numbers, j->sends, j->targets, j->comes);
    return SAP_EXIT_OK;
}

// Sends rows of so many bytes to where they belong, from row `first` on.
static sap_cli_exit travel(sap_cli* cli, const journey* j, const void* from, void* to, int64_t first, size_t row) {
    unsigned char* packed = sap_cli_allocate(cli, j->here, row);
    unsigned char* came = packed ? sap_cli_allocate(cli, j->coming, row) : NULL;
    const sap_cli_exit result = sap_cli_agree(cli, came ? SAP_EXIT_OK : SAP_EXIT_FAILED);
    if (result == SAP_EXIT_OK) {
        for (int64_t i = 0; i < j->here; i++)
            memcpy(packed + (size_t)i * row, (const unsigned char*)from + (size_t)j->order[i] * row, row);
        for (int32_t r = 0; r < cli->ranks->size; r++) {
            j->sends[r] = j->counts[r] * (int64_t)row;
            j->comes[r] = j->received[r] * (int64_t)row;
        }
        sap_comm_all_to_all(cli->ranks->comm, packed, j->sends, came, j->comes);
        for (int64_t i = 0; i < j->coming; i++)
            memcpy((unsigned char*)to + (size_t)(j->targets[i] - first) * row, came + (size_t)i * row, row);
    }
    free(packed);
    free(came);
    return result;
}

// Points that are left out are in no tree, and find nothing.
static void find_nothing(sap_cli_answers* answers, bool wide, int64_t k) {
    for (int64_t i = 0; i < answers->rows * k; i++) {
        answers->ids[i] = -1;
        if (answers->distance2 && wide) ((double*)answers->distance2)[i] = HUGE_VAL;
        if (answers->distance2 && !wide) ((float*)answers->distance2)[i] = HUGE_VALF;
    }
}

static sap_status search_self(const sap_cli_reference* reference, const sap_search* search, int64_t* points,
                              sap_cli_answers* answers) {
    const sap_cluster_tree* tree = reference->cluster;
    if (reference->info.real_bits == 64) {
        const sap_status status = sap_cluster_nearest_self_f64(tree, search, answers->ids, answers->distance2);
        return status == SAP_OK ? sap_cluster_points_f64(tree, points, NULL) : status;
    }
    const sap_status status = sap_cluster_nearest_self(tree, search, answers->ids, answers->distance2);
    return status == SAP_OK ? sap_cluster_points(tree, points, NULL) : status;
}

static sap_cli_exit ask_self(sap_cli* cli, const sap_cli_reference* reference, const sap_search* search,
                             sap_cli_answers* answers) {
    const bool wide = reference->info.real_bits == 64, measured = answers->distance2 != NULL;
    const int64_t all = reference->info.source_count;
    sap_cluster_info info;
    sap_cluster_describe(reference->cluster, &info);
    sap_cli_answers held = {.rows = info.count_here};
    journey j = {.here = info.count_here};
    sap_cli_exit result = allocate(cli, wide, measured, &held);
    int64_t* points = result == SAP_EXIT_OK ? sap_cli_allocate(cli, info.count_here, sizeof *points) : NULL;
    if (result == SAP_EXIT_OK) result = sap_cli_agree(cli, points ? SAP_EXIT_OK : SAP_EXIT_FAILED);
    if (result == SAP_EXIT_OK) {
        const sap_status status = search_self(reference, search, points, &held);
        result = sap_cli_agree(cli, status == SAP_OK ? SAP_EXIT_OK : sap_cli_nearest_failed(cli, status));
    }
    const size_t k = (size_t)search->k;
    find_nothing(answers, wide, search->k);
    if (result == SAP_EXIT_OK) result = plan(cli, points, all, &j);
    if (result == SAP_EXIT_OK) result = travel(cli, &j, held.ids, answers->ids, answers->first, k * sizeof *held.ids);
    if (result == SAP_EXIT_OK && measured)
        result = travel(cli, &j, held.distance2, answers->distance2, answers->first,
                        k * (wide ? sizeof(double) : sizeof(float)));
    free(points);
    free_journey(&j);
    sap_cli_answers_free(&held);
    return result;
}

sap_cli_exit sap_cli_joined_nearest(sap_cli* cli, const sap_cli_reference* reference, const sap_cli_points* queries,
                                    const sap_search* search, bool measured, sap_cli_answers* answers) {
    const sap_cli_points* asking = queries ? queries : &reference->points;
    *answers = (sap_cli_answers){.first = asking->first, .rows = asking->count, .all = asking->all};
    const sap_cli_exit result = allocate(cli, reference->info.real_bits == 64, measured, answers);
    if (result != SAP_EXIT_OK) return result;
    return queries ? ask(cli, reference, queries, search, answers) : ask_self(cli, reference, search, answers);
}

void sap_cli_answers_free(sap_cli_answers* answers) {
    free(answers->ids);
    free(answers->distance2);
    *answers = (sap_cli_answers){.ids = NULL};
}
